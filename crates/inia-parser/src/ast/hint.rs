//! Optimizer hints, sorted by the query blocks that they are about.
//!
//! A hint may stand in the comment of one SELECT and be about the FROM of another, whose block it
//! names: `SELECT /*+ JOIN_ORDER(@inner b, a) */ … WHERE x IN (SELECT /*+ QB_NAME(inner) */ …)`.
//! So the hints of a statement are kept in one list, which is complete once the statement has been
//! read, and each SELECT that has some knows its place in it.

use std::sync::{Arc, OnceLock};

/// A query block with hints: a SELECT, or an UPDATE or DELETE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintedBlock {
    pub(crate) statement: Arc<OnceLock<Vec<BlockHints>>>,
    pub(crate) place: usize,
}

impl HintedBlock {
    /// Its hints; `None` in a statement that takes none (CREATE VIEW).
    pub fn hints(&self) -> Option<&BlockHints> {
        self.statement.get()?.get(self.place)
    }

    /// The statement's hints without a block of its own.
    #[must_use]
    pub fn elsewhere(self) -> HintedBlock {
        HintedBlock { place: usize::MAX, ..self }
    }

    /// The hints of all blocks of its statement.
    pub fn of_statement(&self) -> &[BlockHints] {
        self.statement.get().map_or(&[], Vec::as_slice)
    }
}

/// What hints say of one query block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockHints {
    /// QB_NAME, else `select#` and its number.
    pub name: String,
    /// Hints for the whole block; each kind is given once.
    pub given: Vec<GivenHint>,
    /// JOIN_PREFIX, JOIN_ORDER and JOIN_SUFFIX.
    pub orders: Vec<OrderHint>,
    /// The strategies that SEMIJOIN or NO_SEMIJOIN name.
    pub semijoins: Vec<String>,
    /// The strategy of SUBQUERY.
    pub subquery: Option<SubqueryStrategy>,
    /// Tables that hints name.
    pub tables: Vec<TableHints>,
}

impl BlockHints {
    /// Whether a hint for the whole block is given, and is not one that begins with NO_.
    pub fn switch(&self, kind: HintKind) -> Option<bool> {
        switch(&self.given, kind)
    }

    /// What hints say of a table; names of tables are compared as they are.
    pub fn table(&self, name: &str) -> Option<&TableHints> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// What a hint for the table, or else one for the whole block, says.
    pub fn table_switch(&self, table: &str, kind: HintKind) -> Option<bool> {
        let own = self.table(table).and_then(|hints| switch(&hints.given, kind));
        own.or_else(|| self.switch(kind))
    }
}

fn switch(given: &[GivenHint], kind: HintKind) -> Option<bool> {
    given.iter().find(|hint| hint.kind == kind).map(|hint| hint.on)
}

/// A hint without its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GivenHint {
    /// Which.
    pub kind: HintKind,
    /// False for one that begins with NO_.
    pub on: bool,
}

/// What hints say of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableHints {
    /// Its name in FROM.
    pub name: String,
    /// Hints for the table.
    pub given: Vec<GivenHint>,
    /// Hints for single indexes, such as MRR.
    pub keys: Vec<(String, Vec<GivenHint>)>,
    /// Hints for sets of indexes, such as INDEX; each kind is given once.
    pub indexes: Vec<IndexesHint>,
}

impl TableHints {
    /// The indexes that a hint of this kind names, and whether they are to be used.
    pub fn indexes(&self, kind: HintKind) -> Option<&IndexesHint> {
        self.indexes.iter().find(|hint| hint.kind == kind)
    }
}

/// A hint for a set of indexes of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexesHint {
    /// Which.
    pub kind: HintKind,
    /// False for one that begins with NO_.
    pub on: bool,
    /// The indexes; empty for all.
    pub names: Vec<String>,
}

/// JOIN_PREFIX, JOIN_ORDER or JOIN_SUFFIX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderHint {
    /// Which.
    pub kind: HintKind,
    /// The tables, in order.
    pub tables: Vec<HintedTable>,
}

/// A table that a hint names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintedTable {
    /// Its name in FROM.
    pub name: String,
    /// The query block of that FROM, where written.
    pub block: Option<String>,
}

/// What SUBQUERY asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SubqueryStrategy {
    IntoExists,
    Materialization,
}

/// The kinds of hints, in the order in which MySQL complains about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum HintKind {
    Bka,
    Bnl,
    Icp,
    Mrr,
    RangeOptimization,
    QbName,
    Semijoin,
    Subquery,
    Merge,
    JoinPrefix,
    JoinSuffix,
    JoinOrder,
    JoinFixedOrder,
    IndexMerge,
    SkipScan,
    HashJoin,
    Index,
    JoinIndex,
    GroupIndex,
    OrderIndex,
    DerivedConditionPushdown,
}

impl HintKind {
    /// All kinds.
    pub const ALL: [HintKind; 21] = [
        HintKind::Bka,
        HintKind::Bnl,
        HintKind::Icp,
        HintKind::Mrr,
        HintKind::RangeOptimization,
        HintKind::QbName,
        HintKind::Semijoin,
        HintKind::Subquery,
        HintKind::Merge,
        HintKind::JoinPrefix,
        HintKind::JoinSuffix,
        HintKind::JoinOrder,
        HintKind::JoinFixedOrder,
        HintKind::IndexMerge,
        HintKind::SkipScan,
        HintKind::HashJoin,
        HintKind::Index,
        HintKind::JoinIndex,
        HintKind::GroupIndex,
        HintKind::OrderIndex,
        HintKind::DerivedConditionPushdown,
    ];

    /// Its name without NO_.
    pub fn name(self) -> &'static str {
        match self {
            HintKind::Bka => "BKA",
            HintKind::Bnl => "BNL",
            HintKind::Icp => "ICP",
            HintKind::Mrr => "MRR",
            HintKind::RangeOptimization => "RANGE_OPTIMIZATION",
            HintKind::QbName => "QB_NAME",
            HintKind::Semijoin => "SEMIJOIN",
            HintKind::Subquery => "SUBQUERY",
            HintKind::Merge => "MERGE",
            HintKind::JoinPrefix => "JOIN_PREFIX",
            HintKind::JoinSuffix => "JOIN_SUFFIX",
            HintKind::JoinOrder => "JOIN_ORDER",
            HintKind::JoinFixedOrder => "JOIN_FIXED_ORDER",
            HintKind::IndexMerge => "INDEX_MERGE",
            HintKind::SkipScan => "SKIP_SCAN",
            HintKind::HashJoin => "HASH_JOIN",
            HintKind::Index => "INDEX",
            HintKind::JoinIndex => "JOIN_INDEX",
            HintKind::GroupIndex => "GROUP_INDEX",
            HintKind::OrderIndex => "ORDER_INDEX",
            HintKind::DerivedConditionPushdown => "DERIVED_CONDITION_PUSHDOWN",
        }
    }

    /// Which of its two forms, with and without NO_, exist.
    fn forms(self) -> (bool, bool) {
        match self {
            HintKind::Icp | HintKind::RangeOptimization => (false, true),
            HintKind::QbName
            | HintKind::Subquery
            | HintKind::JoinPrefix
            | HintKind::JoinSuffix
            | HintKind::JoinOrder
            | HintKind::JoinFixedOrder => (true, false),
            _ => (true, true),
        }
    }

    /// The hint of that name, in upper case.
    pub fn of_name(name: &str) -> Option<GivenHint> {
        let (on, bare) = match name.strip_prefix("NO_") {
            Some(bare) => (false, bare),
            None => (true, name),
        };
        let kind = HintKind::ALL.into_iter().find(|kind| kind.name() == bare)?;
        let (with, without) = kind.forms();
        (if on { with } else { without }).then_some(GivenHint { kind, on })
    }
}

impl std::fmt::Display for GivenHint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.on { "" } else { "NO_" }, self.kind.name())
    }
}
