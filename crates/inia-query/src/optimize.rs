//! From bound FROM and WHERE to sources: where each condition is checked, in which order tables
//! are joined, how each is read.
//!
//! 1. Conditions are rewritten ([`rewrite`]): conjuncts that all branches of an OR share are taken
//!    out of it.
//! 2. Outer joins whose inner side WHERE cannot accept as NULL become inner joins.
//! 3. One cost-based search orders the joins and chooses their methods ([`search`]).
//! 4. Each condition is checked as soon as its slots are filled; first by an access path, else by
//!    the member's filter or by a join.
//!
//! Example: `FROM a JOIN b ON b.id = a.b_id WHERE a.x = 3` with an index on `a.x` and the primary
//! key on `b.id`: a few rows of `a` by its index, each with one lookup in `b`, cost less than a
//! scan of `b`.

mod cells;
mod direct;
mod order;
mod outer;
mod price;
mod rewrite;
mod search;
mod size;
mod skip;
mod vector;

pub(crate) use cells::group_strategy;
pub(crate) use direct::direct;
pub(crate) use order::{Key as OrderKey, UNKNOWN_LIMIT, Wanted};
pub(crate) use order::{keeps_together, order_by_index, path_in_order};
pub(crate) use outer::{simplify, strict_slots};
pub(crate) use price::{Once, Prices, price_of};
pub(crate) use rewrite::matches_once;
pub(crate) use search::is_natural;
pub(crate) use search::relation::path_cost;
pub(crate) use search::{has_small_tables, small_cost};
pub(crate) use size::{
    UNKNOWN_ROWS, derived_rows, expected_rows, of_body, of_filtered, of_grouped, of_select,
    of_source, recursive_rows,
};
pub(crate) use vector::ParallelSettings;

use crate::access::{EvalSettings, HintedIndexes};
use crate::catalog::Table;
use crate::plan::json_table::JsonRows;
use crate::plan::{JoinType, RowSource, SelectPlan, VirtualTable};
use inia_expr::{Expr, SlotSet, slots_of};
use inia_parser::ast::HintKind;
use inia_storage::LockRequest;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// FROM as bound, before planning.
#[derive(Clone, Debug)]
pub(crate) enum FromTree {
    /// A single member.
    Leaf(Leaf),
    /// A join.
    Join(Box<FromJoin>),
}

/// A join as bound.
#[derive(Clone, Debug)]
pub(crate) struct FromJoin {
    /// Which rows of the left side come out; of a semi or an anti join the left side's slots only
    /// are filled behind it.
    pub(crate) kind: JoinType,
    /// The left side must be read first (STRAIGHT_JOIN).
    pub(crate) straight: bool,
    /// Left side.
    pub(crate) left: FromTree,
    /// Right side.
    pub(crate) right: FromTree,
    /// Conditions of ON, USING or NATURAL.
    pub(crate) on: Vec<Expr>,
    /// What is known of the subquery that the right side of a semi or an anti join was.
    pub(crate) nest: NestRules,
}

/// What is known of a subquery that has become a join.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NestRules {
    /// The strategies that may be taken.
    pub(crate) allowed: Strategies,
    /// The number of its SELECT; 0 where it is not known.
    pub(crate) number: usize,
}

/// Strategies of semi joins, as hints and `optimizer_switch` leave them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Strategies {
    /// FirstMatch.
    pub(crate) first_match: bool,
    /// LooseScan.
    pub(crate) loose_scan: bool,
    /// Materialization.
    pub(crate) materialization: bool,
    /// Duplicate Weedout, which is taken where no other may be.
    pub(crate) weedout: bool,
}

/// A single member of FROM.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// Its slots.
    pub(crate) slots: Range<usize>,
    /// The name it goes by.
    pub(crate) alias: String,
    /// What it is.
    pub(crate) kind: LeafKind,
    /// What hints say of it.
    pub(crate) hints: LeafHints,
}

/// What hints say of a member of FROM.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeafHints {
    /// The query block whose FROM it is in, where that has hints.
    pub(crate) block: Option<String>,
    /// Whether its rows may go into a hash table; `None` leaves that to `optimizer_switch`.
    pub(crate) hash: Option<bool>,
    /// Whether conditions may be moved into it; `None` leaves that to `optimizer_switch`.
    pub(crate) push_down: Option<bool>,
}

/// An order of members that a hint demands.
#[derive(Clone, Debug)]
pub(crate) struct JoinOrder {
    /// JOIN_PREFIX, JOIN_ORDER or JOIN_SUFFIX.
    pub(crate) kind: HintKind,
    /// The first slot of each member, in order.
    pub(crate) members: Vec<usize>,
}

/// What a member of FROM is.
#[derive(Clone, Debug)]
pub(crate) enum LeafKind {
    /// A stored table.
    Table {
        /// The table.
        table: Arc<Table>,
        /// FOR UPDATE, FOR SHARE.
        lock: Option<LockRequest>,
        /// Indexes that hints leave; `None` for all.
        hinted: Option<Arc<HintedIndexes>>,
    },
    /// A derived table, view or common table expression.
    Subplan {
        /// Its number.
        id: usize,
        /// LATERAL: it reads the members before it.
        lateral: bool,
        /// How many enclosing rows it sees, counted from the outermost query.
        level: usize,
        /// Rows that it is expected to have.
        rows: f64,
        /// It was a subquery in an expression.
        unnested: bool,
    },
    /// A computed table.
    Virtual(Arc<dyn VirtualTable>),
    /// JSON_TABLE.
    JsonTable {
        /// The document; it may read the members before it.
        document: Expr,
        /// Its rows.
        rows: JsonRows,
    },
}

impl LeafKind {
    /// The document of JSON_TABLE.
    pub(crate) fn document(&self) -> Option<&Expr> {
        match self {
            LeafKind::JsonTable { document, .. } => Some(document),
            _ => None,
        }
    }

    /// Whether it reads the members before it.
    pub(crate) fn is_lateral(&self) -> bool {
        match self {
            LeafKind::Subplan { lateral, .. } => *lateral,
            LeafKind::JsonTable { document, .. } => {
                let reads = slots_of(document);
                reads.whole_row || reads.slots != SlotSet::default()
            }
            LeafKind::Table { .. } | LeafKind::Virtual(_) => false,
        }
    }
}

/// What planning knows of the whole block.
///
/// Wide: one flag for each clause that decides how FROM is read.
pub(crate) struct QueryBlock<'b> {
    /// Every slot that anything in the block reads.
    pub(crate) needed: &'b SlotSet,
    /// SELECT STRAIGHT_JOIN: keep the order of FROM.
    pub(crate) straight: bool,
    /// Orders that hints demand; one that cannot be, or contradicts one before it, has no effect.
    pub(crate) orders: &'b [JoinOrder],
    /// Every row of the join is needed before the first result.
    pub(crate) reads_all: bool,
    /// MIN and MAX of all rows are read alone, which the ends of a range of an index give.
    pub(crate) extremes: bool,
    /// The columns of ORDER BY, where it has nothing else.
    pub(crate) order: &'b [OrderKey],
    /// There is an ORDER BY.
    pub(crate) sorts: bool,
    /// No more rows are read than LIMIT asks for, unless they are sorted.
    pub(crate) limit: Option<f64>,
    /// Hash joins may be used where hints say nothing (`optimizer_switch`).
    pub(crate) hash_joins: bool,
    /// The first slot of the row that nothing fills.
    pub(crate) spare: &'b Cell<usize>,
    /// What constants are evaluated with.
    pub(crate) settings: EvalSettings<'b>,
}

/// Plans FROM with WHERE's conditions. Conditions that no source could take come back.
pub(crate) fn plan_from(
    tree: Option<FromTree>,
    mut conditions: Vec<Expr>,
    block: &QueryBlock<'_>,
) -> (RowSource, Vec<Expr>) {
    let Some(mut tree) = tree else {
        return (RowSource::One, conditions);
    };
    // Small tables are taken out of subqueries where orders are searched.
    if !search::executes_nests(&tree, block) {
        rewrite::join_unique(&mut tree);
    }
    rewrite::rewrite(&mut tree, &mut conditions);
    outer::simplify(&mut tree, &conditions);
    search::plan(tree, conditions, block)
}

/// Chooses how a SELECT whose source is planned is executed.
pub(crate) fn choose_strategies(plan: &mut SelectPlan, block: &QueryBlock<'_>) {
    if skip::skip_between_groups(plan, block) {
        return;
    }
    order::read_groups_in_order(plan);
    // Rows that nobody waits for are read in batches.
    if block.reads_all || block.sorts || block.limit.is_none() {
        plan.batches = vector::batch_plan(plan, block.settings.host).map(Box::new);
    }
    // Groups are made of what there is then.
    let strategy = cells::group_strategy(plan);
    if let (Some(aggregation), Some(strategy)) = (&mut plan.aggregation, strategy) {
        aggregation.strategy = strategy;
    }
}

impl FromTree {
    /// The slots of all members that are filled behind it.
    pub(crate) fn slots(&self) -> SlotSet {
        match self {
            FromTree::Leaf(leaf) => SlotSet::of_range(leaf.slots.clone()),
            FromTree::Join(join) if !join.kind.gives_right() => join.left.slots(),
            FromTree::Join(join) => join.left.slots().union(&join.right.slots()),
        }
    }

    /// Gives every expression in it to `visit`: conditions of joins, and documents.
    pub(crate) fn for_each_expr(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            FromTree::Leaf(leaf) => {
                if let LeafKind::JsonTable { document, .. } = &leaf.kind {
                    visit(document);
                }
            }
            FromTree::Join(join) => {
                join.on.iter().for_each(&mut *visit);
                join.left.for_each_expr(visit);
                join.right.for_each_expr(visit);
            }
        }
    }

    /// The first slot of the member that goes by this name in a query block with hints.
    pub(crate) fn hinted(&self, alias: &str, block: &str) -> Option<usize> {
        match self {
            FromTree::Leaf(leaf) => {
                let own =
                    leaf.hints.block.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(block));
                (own && leaf.alias == alias).then_some(leaf.slots.start)
            }
            FromTree::Join(join) => {
                join.left.hinted(alias, block).or_else(|| join.right.hinted(alias, block))
            }
        }
    }

    /// The smallest range that holds the slots of all members.
    pub(crate) fn slot_range(&self) -> Range<usize> {
        match self {
            FromTree::Leaf(leaf) => leaf.slots.clone(),
            FromTree::Join(join) => {
                let (left, right) = (join.left.slot_range(), join.right.slot_range());
                left.start.min(right.start)..left.end.max(right.end)
            }
        }
    }
}
