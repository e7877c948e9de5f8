//! Rows of a source without repetitions, where semi joins are executed as joins that repeat rows.

use super::RowSource;
use inia_expr::Expr;
use inia_expr::compare::CmpClass;

/// A source of which rows that repeat others are left out.
#[derive(Debug)]
pub struct DedupSource {
    /// What gives the rows.
    pub source: RowSource,
    /// Which rows repeat others.
    pub by: DedupKey,
    /// What EXPLAIN calls it.
    pub strategy: DedupStrategy,
    /// Rows that are expected to be left.
    pub rows: f64,
}

/// What rows are compared by.
#[derive(Debug)]
pub enum DedupKey {
    /// The slots of the row ids of some tables.
    RowIds(Vec<usize>),
    /// These values; a row in which one is NULL is left out, too, since it would match nothing.
    Values(Vec<(CmpClass, Expr)>),
}

/// Why rows are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DedupStrategy {
    /// Duplicate Weedout, whose range begins at this one of the members that the source joins.
    Weedout(usize),
    /// FirstMatch without tables before it: one row suffices.
    FirstMatch,
    /// LooseScan: rows that are equal come one after the other.
    LooseScan,
    /// The rows of a materialized subquery, of the SELECT with this number.
    Materialize(usize),
}

impl DedupSource {
    /// Its values, where it compares such.
    pub(crate) fn values(&self) -> &[(CmpClass, Expr)] {
        match &self.by {
            DedupKey::RowIds(_) => &[],
            DedupKey::Values(values) => values,
        }
    }
}
