//! Which members of FROM are read by several threads.
//!
//! Threads beside the statement's own do not see the session, run no subqueries, and evaluate in no
//! order that can be seen. What they run must be values of rows, constants, parameters, and of
//! subqueries that the statement's own thread has run.

use crate::plan::RowSource;
use crate::plan::batches::{BatchNode, LoopRight, leftmost};
use crate::plan::vector::VectorTotal;
use crate::plan::{Aggregation, JoinMethod, TableSource};
use crate::workers::processors;
use inia_base::value::Value;
use inia_expr::tree::Subquery;
use inia_expr::{Expr, ExprKind, SessionHost, VarScope};

/// Pipelines of fewer rows are not worth a second thread, where the session does not say.
const WORTH_ROWS: f64 = 100_000.0;
/// A row that is looked up in a table takes as long as so many that are scanned.
const LOOKUP: f64 = 8.0;

/// What the session says of threads.
#[derive(Clone, Copy)]
pub(crate) struct ParallelSettings {
    /// At most how many work on a statement (`inia_parallel_workers`).
    threads: usize,
    /// How many rows of a pipeline are worth them (`inia_parallel_rows`).
    rows: f64,
}

impl ParallelSettings {
    /// Of a session.
    pub(crate) fn of(host: &dyn SessionHost) -> ParallelSettings {
        let number = |name: &str| match host.sysvar(VarScope::Session, name) {
            Ok((Value::UInt(number), _)) => Some(number),
            Ok((Value::Int(number), _)) => u64::try_from(number).ok(),
            _ => None,
        };
        let threads = match number("inia_parallel_workers") {
            Some(0) => processors(),
            Some(threads) => threads as usize,
            None => 1,
        };
        let rows = number("inia_parallel_rows").map_or(WORTH_ROWS, |rows| rows as f64);
        ParallelSettings { threads, rows }
    }

    /// How many threads are worth a scan of so many rows.
    pub(crate) fn threads_for(self, rows: u64) -> usize {
        if self.is_worth(rows as f64) { self.threads } else { 1 }
    }

    /// Whether so many rows of a table are many.
    pub(super) fn is_worth(self, rows: f64) -> bool {
        rows >= self.rows
    }

    /// How many threads make the batches of a source.
    pub(super) fn threads(self, source: &RowSource, node: &BatchNode) -> usize {
        let readable = |table: &TableSource| table.table.def.is_transactional();
        let wanted = self.threads > 1
            && pipeline_rows(source) >= self.rows
            && leftmost(source).is_some_and(readable);
        if wanted && is_divisible(source, node) { self.threads } else { 1 }
    }
}

/// The rows that a pipeline scans and looks up, as so many that are scanned.
fn pipeline_rows(source: &RowSource) -> f64 {
    match source {
        RowSource::Table(table) => {
            // A secondary index that does not cover leads to rows, one by one.
            let path = &table.access;
            let leads = path.index.is_some_and(|at| !table.table.def.indexes[at].clustered);
            let each = if leads && !path.covering { LOOKUP } else { 1.0 };
            each * table.rows
        }
        RowSource::Join(join) => {
            let each = match (&join.method, &join.right) {
                (JoinMethod::Hash(_), _) => 1.0,
                (JoinMethod::NestedLoop, RowSource::One) => 0.0,
                (JoinMethod::NestedLoop, _) => LOOKUP,
            };
            pipeline_rows(&join.left) + each * join.rows
        }
        _ => 0.0,
    }
}

/// Whether rows of the leftmost table can be read anywhere: what else is read for them is shared,
/// and nothing needs the statement's own thread.
fn is_divisible(source: &RowSource, node: &BatchNode) -> bool {
    match (source, node) {
        (RowSource::Table(table), BatchNode::Table(_)) => {
            let path = &table.access;
            let read_in_order = !path.point && !path.backward && path.found_by.is_none();
            read_in_order && are_shareable(&table.filter) && are_shareable(&table.bound_filter)
        }
        (RowSource::Join(join), BatchNode::Hash(hash)) => {
            let JoinMethod::Hash(keys) = &join.method else { return false };
            keys.iter().all(|key| is_shareable(&key.left))
                && are_shareable(&join.on)
                && is_divisible(&join.left, &hash.left.node)
        }
        (RowSource::Join(join), BatchNode::Loop(looped)) => {
            let right = match (&join.right, looped.right) {
                (_, LoopRight::Nothing) => true,
                (RowSource::Table(table), LoopRight::Table) => is_looked_up(table),
                _ => false,
            };
            right && are_shareable(&join.on) && is_divisible(&join.left, &looped.left.node)
        }
        _ => false,
    }
}

/// Whether any thread can look rows of a table up.
fn is_looked_up(table: &TableSource) -> bool {
    let conditions = table.filter.iter().chain(&table.bound_filter);
    conditions.chain(table.access.exprs()).all(is_shareable) && table.table.def.is_transactional()
}

/// Whether several threads may group rows: what each has of a group adds up.
pub(super) fn is_mergeable(aggregation: &Aggregation, totals: &[VectorTotal]) -> bool {
    let args = aggregation.calls.iter().flat_map(|call| &call.args);
    let alone =
        |total: &VectorTotal| matches!(total, VectorTotal::Each(_) | VectorTotal::Distinct { .. });
    !totals.iter().any(alone) && aggregation.group.iter().chain(args).all(is_pure)
}

fn are_shareable(exprs: &[Expr]) -> bool {
    exprs.iter().all(is_shareable)
}

/// As [`is_pure`], or of the values of subqueries, which threads get when they begin.
fn is_shareable(expr: &Expr) -> bool {
    is_value(expr, Subquery::is_run_once_value)
}

/// Whether an expression is a value of its row, constants and parameters alone.
pub(super) fn is_pure(expr: &Expr) -> bool {
    is_value(expr, |_| false)
}

/// Whether an expression is a value of its row, constants, parameters, and such subqueries alone.
fn is_value(expr: &Expr, subqueries: impl Fn(&Subquery) -> bool) -> bool {
    use ExprKind as E;
    let mut pure = true;
    expr.walk(&mut |node| {
        pure &= match &node.kind {
            E::UserVar(_)
            | E::AssignUserVar(..)
            | E::SysVar(..)
            | E::Aggregate(_)
            | E::Window(_)
            | E::InsertValue(_)
            | E::Match(_)
            | E::Stored(_) => false,
            E::Subquery(sub) => subqueries(sub),
            E::Call(call) => call.deterministic,
            E::Literal(_)
            | E::HexLiteral(_)
            | E::Column { .. }
            | E::OuterColumn { .. }
            | E::Param(_)
            | E::Compare(_)
            | E::CompareRows(..)
            | E::And(_)
            | E::Or(_)
            | E::Xor(..)
            | E::Not(_)
            | E::IsNull(..)
            | E::IsTruth(..)
            | E::Arith(_)
            | E::Neg(..)
            | E::Case(_)
            | E::In(_)
            | E::Between(_)
            | E::Like(_)
            | E::Cast(..)
            | E::Collate(_)
            | E::Row(_)
            | E::DateArith(_) => true,
        };
    });
    pure
}
