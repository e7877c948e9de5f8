//! The executable form of a query.
//!
//! A query block works on one *row*: a slice of values in which every member of FROM owns a run of
//! slots. Sources fill slots, joins nest sources, conditions read slots. What leaves the block is a
//! *tuple*: the select list's values, followed by hidden values that only ORDER BY needs.
//!
//! Example: `SELECT a.x FROM a JOIN b ON b.id = a.id ORDER BY b.y` over `a(id, x)` and `b(id, y)`:
//! slots 0-1 belong to `a`, slots 2-3 to `b`; the tuple is `(slot 1, slot 3)` with one visible
//! value, sorted by its second value.

pub(crate) mod batches;
mod counts;
pub(crate) mod dedup;
pub(crate) mod json_table;
pub(crate) mod outer_reads;
pub(crate) mod reads;
pub(crate) mod search;
mod sound;
mod strategy;
pub mod trace;
pub(crate) mod vector;
pub(crate) mod view_use;
mod walk;
pub(crate) mod window;

pub use reads::TableRead;
pub use strategy::{
    CellCheck, CellKind, CellTotal, Direct, DirectShape, Factor, GroupStrategy, IndexExtremum,
    IntColumn, IntGroups, JoinTotals, Ordered,
};
pub use view_use::ViewUse;

use crate::access::{AccessPath, HintedIndexes};
use crate::catalog::Table;
use crate::information::Information;
pub(crate) use counts::counts_of;
use inia_base::column::ResultColumn;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::aggregate::Aggregate;
use inia_expr::compare::CmpClass;
use inia_expr::{EvalContext, Expr, ExprKind, ExprType, Warning};
use inia_storage::LockRequest;
use std::ops::Range;
use std::sync::Arc;

/// A whole statement's query with every subquery and derived table in it.
#[derive(Debug)]
pub struct StatementPlan {
    /// The outermost query.
    pub root: QueryPlan,
    /// Its columns, as the client gets them described.
    pub columns: Vec<ResultColumn>,
    /// How it is sent, where values need not come in between.
    pub direct: Option<Direct>,
    /// Subqueries, derived tables and common table expressions, by number.
    pub subplans: Vec<Subplan>,
    /// Full-text searches, by number.
    pub searches: Vec<search::SearchPlan>,
    /// The tables it reads.
    pub tables: Vec<Arc<Table>>,
    /// The views it reads.
    pub views: Vec<ViewUse>,
    /// Whether it is FOR UPDATE, which a READ ONLY transaction refuses.
    pub exclusive: bool,
    /// The tables that FOR UPDATE is about.
    pub updates: Vec<Arc<Table>>,
    /// What is said of it each time it runs.
    pub said: Said,
    /// What each run counts, if anything.
    pub counts: Option<crate::status::PlanCounts>,
}

/// What binding found to be said of a statement when it runs.
#[derive(Debug, Default)]
pub struct Said {
    /// Its warnings.
    pub warnings: Vec<Warning>,
    /// Error 1525, whatever rows there are.
    pub wrong: Option<SqlError>,
}

impl StatementPlan {
    /// Raises the statement's own warnings in a run of it.
    #[inline]
    pub fn warn(&self, ctx: &mut EvalContext<'_>) {
        self.said.warnings.iter().for_each(|warning| ctx.warnings.push(warning.clone()));
    }

    /// Whether the select list computes something beside aggregates: it is not made of values that
    /// are there when a row has been found.
    pub fn computes_items(&self) -> bool {
        let found = |item: &Expr| {
            matches!(
                item.kind,
                ExprKind::Column { .. }
                    | ExprKind::Literal(_)
                    | ExprKind::Param(_)
                    | ExprKind::Aggregate(_)
            )
        };
        match &self.root.body {
            Body::Select(select) => !select.output.iter().take(self.root.columns.len()).all(found),
            _ => true,
        }
    }

    /// Error 1525 where the query compares a date with a constant that is none.
    #[inline]
    pub fn refuse_wrong(&self) -> Result<(), SqlError> {
        self.said.wrong.clone().map_or(Ok(()), Err)
    }
}

/// VALUES.
#[derive(Debug)]
pub struct ValuesPlan {
    /// The rows.
    pub rows: Vec<Vec<Expr>>,
    /// What all rows' values have in common, column by column.
    pub types: Vec<ExprType>,
    /// A client gets the rows: their numbers stay as they are written.
    pub as_written: bool,
}

impl QueryPlan {
    /// Whether it has one row whatever the tables hold: it reads none and leaves nothing out.
    pub(crate) fn is_certain(&self) -> bool {
        let all = |condition: &Expr| matches!(condition.as_literal(), Some(Value::Int(1..)));
        self.limit.is_none()
            && match &self.body {
                Body::Select(select) => {
                    matches!(select.source, RowSource::One)
                        && select.once.iter().all(all)
                        && select.filter.is_empty()
                        && select.having.is_none()
                }
                Body::Values(values) => values.rows.len() == 1,
                Body::SetOperation(_) | Body::Nested(_) => false,
            }
    }
}

/// A query inside another.
#[derive(Debug)]
pub struct Subplan {
    /// The query.
    pub query: QueryPlan,
    /// Whether it reads rows of enclosing queries, so that its result cannot be kept.
    pub correlated: bool,
    /// The common table expression's recursive operand, where it has one.
    pub recursive: Option<RecursivePlan>,
    /// It was IN, and is asked with each row for one that is equal.
    pub asked: bool,
}

/// The recursive part of a common table expression.
#[derive(Debug)]
pub struct RecursivePlan {
    /// Runs over the rows that the previous round added.
    pub step: QueryPlan,
    /// UNION DISTINCT: rows seen before are dropped.
    pub distinct: bool,
    /// LIMIT of the whole: no more rounds once there are so many rows.
    pub limit: Option<LimitPlan>,
    /// The names of the expression's columns, for errors.
    pub names: Vec<String>,
}

impl Body {
    /// The types of its visible columns.
    pub(crate) fn types(&self) -> Vec<ExprType> {
        match self {
            Body::Select(select) => {
                select.output[..select.visible].iter().map(|expr| expr.ty.clone()).collect()
            }
            Body::Values(values) => values.types.clone(),
            Body::SetOperation(set) => set.types.clone(),
            Body::Nested(query) => query.columns.iter().map(|column| column.ty.clone()).collect(),
        }
    }
}

/// One query expression.
#[derive(Debug)]
pub struct QueryPlan {
    /// Its visible columns.
    pub columns: Vec<OutputColumn>,
    /// Where tuples come from.
    pub body: Body,
    /// Values that only ORDER BY of a set operation needs, over its columns; they follow those.
    pub computed: Vec<Expr>,
    /// ORDER BY, as positions in the tuple.
    pub order: Vec<SortKey>,
    /// LIMIT.
    pub limit: Option<LimitPlan>,
    /// SQL_CALC_FOUND_ROWS.
    pub count_found_rows: bool,
    /// The first table of its join is sorted, so that rows come in order.
    pub presorted: bool,
    /// The select list gives variables values, which it does for the sorted rows.
    pub late: bool,
}

/// A visible column of a query.
#[derive(Clone, Debug)]
pub struct OutputColumn {
    /// The metadata that the client gets.
    pub result: ResultColumn,
    /// What enclosing queries see.
    pub ty: ExprType,
    /// Where its values come from.
    pub origin: Origin,
}

/// Where an output column's values come from: a table that is made of them has columns of other
/// types for the same values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A column, or what several queries have in common.
    Column,
    /// A column of a merged derived table.
    Merged,
    /// A constant.
    Literal,
    /// An aggregate.
    Aggregate,
    /// IFNULL, which keeps its arguments' kind of number.
    IfNull,
    /// A function over a window.
    Window,
    /// A subquery in an expression.
    Subquery,
    /// `@name := value`.
    Variable,
    /// A function that keeps its argument's type, strings of a fixed length aside.
    Varying,
    /// Any other computed value.
    Function,
}

/// The columns' metadata for the client.
pub(crate) fn result_columns(columns: &[OutputColumn]) -> Vec<ResultColumn> {
    columns.iter().map(|column| column.result.clone()).collect()
}

/// One key of ORDER BY.
#[derive(Clone, Debug)]
pub struct SortKey {
    /// Position in the tuple.
    pub index: usize,
    /// The value's type.
    pub ty: ExprType,
    /// DESC.
    pub descending: bool,
}

/// LIMIT.
#[derive(Clone, Debug)]
pub struct LimitPlan {
    /// Rows to skip.
    pub offset: Option<Expr>,
    /// Rows to return.
    pub count: Expr,
}

/// What makes a query's tuples.
#[derive(Debug)]
pub enum Body {
    /// SELECT.
    Select(Box<SelectPlan>),
    /// VALUES.
    Values(ValuesPlan),
    /// UNION, INTERSECT, EXCEPT.
    SetOperation(Box<SetPlan>),
    /// A parenthesised query with an ORDER BY or LIMIT of its own.
    Nested(Box<QueryPlan>),
}

/// `first op rest[0] op rest[1] …`.
#[derive(Debug)]
pub struct SetPlan {
    /// Its number in the statement's text; 0 where it is not of that.
    pub number: usize,
    /// The leftmost operand.
    pub first: Body,
    /// The other operands.
    pub rest: Vec<SetStep>,
    /// How many of those are combined with the first in a table of distinct tuples, each with how
    /// often it is there; the others are UNION ALL, and their tuples follow as they come.
    pub counted: usize,
    /// The columns' common types; every operand's values are converted to them.
    pub types: Vec<ExprType>,
}

/// One set operator and its right operand.
#[derive(Debug)]
pub struct SetStep {
    /// Which operator.
    pub op: inia_parser::ast::SetOp,
    /// ALL.
    pub all: bool,
    /// The right operand.
    pub body: Body,
}

/// One SELECT.
///
/// Wide: one field for each clause.
#[derive(Debug)]
pub struct SelectPlan {
    /// Its number in the statement's text; 0 where it is not of that.
    pub number: usize,
    /// Slots of its row.
    pub width: usize,
    /// FROM.
    pub source: RowSource,
    /// How FROM and WHERE are executed over batches; `None` where they are over rows.
    pub batches: Option<Box<batches::BatchPlan>>,
    /// Conditions that need no row: where one is not true, nothing is read.
    pub once: Vec<Expr>,
    /// What is left of WHERE after sources and joins took their parts.
    pub filter: Vec<Expr>,
    /// GROUP BY and aggregate functions.
    pub aggregation: Option<Aggregation>,
    /// HAVING.
    pub having: Option<Expr>,
    /// Functions over windows, by their number in the output's expressions.
    pub windows: Vec<window::WindowPlan>,
    /// The tuple: visible values, then hidden ones.
    pub output: Vec<Expr>,
    /// How many values are visible.
    pub visible: usize,
    /// DISTINCT over the visible values.
    pub distinct: bool,
    /// Rows must come out in the order in which the leftmost table is read.
    pub ordered: bool,
}

impl SelectPlan {
    /// Where each aggregate is found without reading rows, if that is how they are.
    pub(crate) fn extrema(&self) -> Option<&[IndexExtremum]> {
        match &self.aggregation.as_ref()?.strategy {
            GroupStrategy::Extrema(extrema) => Some(extrema),
            _ => None,
        }
    }
}

/// GROUP BY and aggregate functions.
#[derive(Debug)]
pub struct Aggregation {
    /// Group expressions.
    pub group: Vec<Expr>,
    /// Aggregate calls, by their number in the row's expressions.
    pub calls: Vec<Aggregate>,
    /// WITH ROLLUP.
    pub rollup: bool,
    /// Aggregates that queries inside read, by number, and the slots where they find them.
    pub shown: Vec<(usize, usize)>,
    /// How groups are made.
    pub strategy: GroupStrategy,
}

/// A member of FROM.
#[derive(Debug)]
pub enum RowSource {
    /// No FROM: one row without slots.
    One,
    /// A condition that is never true: no rows.
    Nothing,
    /// A stored table.
    Table(Box<TableSource>),
    /// A derived table, view or common table expression: subplan `id`, its columns from slot
    /// `base`.
    Subplan {
        /// Number of the subplan.
        id: usize,
        /// First slot.
        base: usize,
        /// How many columns it has.
        width: usize,
        /// How many enclosing rows it sees, counted from the outermost query.
        level: usize,
        /// Its name, for EXPLAIN.
        alias: String,
        /// It was a subquery in an expression.
        unnested: bool,
        /// Conditions on its columns.
        filter: Vec<Expr>,
    },
    /// Rows that the server computes (information_schema).
    Virtual(Box<VirtualSource>),
    /// JSON_TABLE.
    JsonTable(Box<json_table::JsonTableSource>),
    /// A source without repetitions.
    Dedup(Box<dedup::DedupSource>),
    /// Two sources.
    Join(Box<JoinPlan>),
}

/// A stored table in FROM.
///
/// Wide: one field for each part of how the table is read.
#[derive(Debug)]
pub struct TableSource {
    /// The table.
    pub table: Arc<Table>,
    /// The name it goes by.
    pub alias: String,
    /// First slot.
    pub base: usize,
    /// Which columns anything reads.
    pub needed: Vec<bool>,
    /// In which order the needed columns are read.
    pub read_order: ReadOrder,
    /// How rows are found.
    pub access: AccessPath,
    /// Rows that the path is expected to yield.
    pub rows: f64,
    /// Conditions that need only this table's slots and those filled before it.
    pub filter: Vec<Expr>,
    /// The first of those, where stored cells answer them: for all rows of a leaf at once.
    pub checks: Vec<CellCheck>,
    /// Conditions that the access path stands for; checked only where its bounds are not exact.
    pub bound_filter: Vec<Expr>,
    /// FOR UPDATE, FOR SHARE.
    pub lock: Option<LockRequest>,
    /// Indexes that hints leave; `None` for all.
    pub(crate) hinted: Option<Arc<HintedIndexes>>,
    /// The slot that takes the key of each row in the table's tree.
    pub(crate) row_id: Option<usize>,
    /// How the rows are sorted before they are joined; `None` for the order of the path.
    pub(crate) sorted: Option<Box<FirstSort>>,
}

/// How the first table of a join is sorted.
#[derive(Debug)]
pub(crate) struct FirstSort {
    /// By what.
    pub(crate) keys: Vec<RowKey>,
    /// The query's LIMIT, where every row of the table comes out.
    pub(crate) limit: Option<LimitPlan>,
}

/// A key by which rows are sorted.
#[derive(Clone, Debug)]
pub(crate) struct RowKey {
    /// Its value.
    pub(crate) expr: Expr,
    /// The type as which values are compared.
    pub(crate) ty: ExprType,
    /// DESC.
    pub(crate) descending: bool,
}

/// The needed columns of a table in two parts, so that rows that fail are not read whole.
#[derive(Debug)]
pub struct ReadOrder {
    /// Those that the table's conditions read.
    pub tested: Vec<usize>,
    /// The other ones, of rows that fulfil the conditions.
    pub rest: Vec<usize>,
}

/// A table whose rows are computed when it is read.
#[derive(Debug)]
pub struct VirtualSource {
    /// The name it goes by.
    pub alias: String,
    /// First slot.
    pub base: usize,
    /// Which one.
    pub table: Arc<dyn VirtualTable>,
    /// Conditions on its columns.
    pub filter: Vec<Expr>,
}

/// A table whose rows are computed when it is read.
pub trait VirtualTable: std::fmt::Debug + Send + Sync {
    /// Its name.
    fn name(&self) -> &str;
    /// Its columns: name and type.
    fn columns(&self) -> &[(String, ExprType)];
    /// All rows, as the session may see them now.
    fn rows(&self, information: &Information<'_>) -> Vec<Vec<Value>>;
}

/// Two sources and how they meet.
#[derive(Debug)]
pub struct JoinPlan {
    /// Which rows of the left side come out.
    pub kind: JoinType,
    /// Runs first.
    pub left: RowSource,
    /// Runs for each row of the left side, or is read once into a hash table.
    pub right: RowSource,
    /// The right side's slots, set to NULL where an outer join finds no match.
    pub right_slots: Range<usize>,
    /// The join condition, without what `method` checks.
    pub on: Vec<Expr>,
    /// How matches are found.
    pub method: JoinMethod,
    /// Rows must come out in the order of the left side's.
    pub ordered: bool,
    /// The right side of a hash join was to come first in the order of the members, and is read
    /// first.
    pub right_first: bool,
    /// Rows that are expected to come out.
    pub rows: f64,
    /// What a semi or an anti join of small tables is called.
    pub(crate) nest: Option<NestShown>,
    /// The right side is a derived table, whose rows MySQL looks up by an index that it makes.
    pub(crate) keyed: bool,
}

/// What a semi or an anti join is called by EXPLAIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NestShown {
    /// FirstMatch; else its subquery is materialized.
    pub(crate) first_match: bool,
    /// The number of the subquery's SELECT; 0 where it is not known.
    pub(crate) number: usize,
}

impl JoinPlan {
    /// Whether the right side of a semi or an anti join is a table of its rows.
    pub(crate) fn keeps_rows(&self) -> bool {
        let JoinMethod::Hash(keys) = &self.method else { return false };
        match self.nest {
            Some(nest) => !nest.first_match,
            None => !self.kind.gives_right() && !keys.is_empty(),
        }
    }

    /// Both sides in the order of the members that the search has chosen.
    pub(crate) fn in_order(&self) -> [&RowSource; 2] {
        match self.right_first {
            true => [&self.right, &self.left],
            false => [&self.left, &self.right],
        }
    }
}

/// The kinds of joins that are executed; right joins are left joins with their sides swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinType {
    /// Every pair that matches.
    Inner,
    /// And left rows without a match.
    Left,
    /// Left rows that match, each once; the right side's slots mean nothing behind the join.
    Semi,
    /// Left rows that match nothing.
    Anti,
}

impl JoinType {
    /// Whether what is behind the join reads the right side's slots.
    pub(crate) fn gives_right(self) -> bool {
        matches!(self, JoinType::Inner | JoinType::Left)
    }

    /// Whether left rows without a match come out.
    pub(crate) fn keeps_unmatched(self) -> bool {
        matches!(self, JoinType::Left | JoinType::Anti)
    }
}

/// How a join finds matches.
#[derive(Debug)]
pub enum JoinMethod {
    /// The right side is run anew for each left row; its access path may use that row.
    NestedLoop,
    /// The right side is read once into a hash table; without keys all rows of it are looked
    /// through.
    Hash(Vec<HashKey>),
}

/// One equality of a hash join.
#[derive(Debug)]
pub struct HashKey {
    /// As what the sides compare.
    pub class: CmpClass,
    /// Over the left side's slots.
    pub left: Expr,
    /// Over the right side's slots.
    pub right: Expr,
}
