//! Which members of FROM are read by several threads.
//!
//! Threads beside the statement's own see neither the session nor its subqueries, and evaluate in
//! no order that can be seen. What they run must be values of rows, constants and parameters alone.

use crate::plan::RowSource;
use crate::plan::batches::{BatchNode, leftmost};
use crate::plan::vector::VectorTotal;
use crate::plan::{Aggregation, TableSource};
use crate::workers::processors;
use inia_base::value::Value;
use inia_expr::{Expr, ExprKind, SessionHost, VarScope};

/// Tables of fewer rows are not worth a second thread, where the session does not say.
const WORTH_ROWS: f64 = 100_000.0;

/// What the session says of threads.
#[derive(Clone, Copy)]
pub(super) struct ParallelSettings {
    /// At most how many work on a statement (`inia_parallel_workers`).
    threads: usize,
    /// How many rows of a table are worth them (`inia_parallel_rows`).
    rows: f64,
}

impl ParallelSettings {
    pub(super) fn of(host: &dyn SessionHost) -> ParallelSettings {
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

    /// How many threads make the batches of a source.
    pub(super) fn threads(self, source: &RowSource, node: &BatchNode) -> usize {
        let worth =
            |table: &TableSource| table.rows >= self.rows && table.table.def.is_transactional();
        let wanted = self.threads > 1 && leftmost(source).is_some_and(worth);
        if wanted && is_divisible(source, node) { self.threads } else { 1 }
    }
}

/// Whether rows of the leftmost table can be read anywhere: what else is read for them is shared,
/// and nothing needs the statement's own thread.
fn is_divisible(source: &RowSource, node: &BatchNode) -> bool {
    match (source, node) {
        (RowSource::Table(table), BatchNode::Table(_)) => {
            let path = &table.access;
            let read_in_order = !path.point && !path.backward && path.search.is_none();
            read_in_order && are_pure(&table.filter) && are_pure(&table.bound_filter)
        }
        _ => false,
    }
}

/// Whether several threads may group rows: what each has of a group adds up.
pub(super) fn is_mergeable(aggregation: &Aggregation, totals: &[VectorTotal]) -> bool {
    let args = aggregation.calls.iter().flat_map(|call| &call.args);
    totals.iter().all(|total| !matches!(total, VectorTotal::Each(_)))
        && aggregation.group.iter().chain(args).all(is_pure)
}

fn are_pure(exprs: &[Expr]) -> bool {
    exprs.iter().all(is_pure)
}

/// Whether an expression is a value of its row, constants and parameters alone.
pub(super) fn is_pure(expr: &Expr) -> bool {
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
            | E::Subquery(_)
            | E::Stored(_) => false,
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
