//! How grouping, aggregates and conditions are executed.
//!
//! Everything here is chosen when the plan is made; execution runs what it finds. Where data can
//! still get in the way (groups outgrow memory, bounds turn out not to be exact) the strategy says
//! what is run instead, and EXPLAIN FORMAT=TREE names both.

use super::vector::VectorGroups;
use crate::access::AccessPath;
use crate::catalog::Table;
use inia_base::collation::Collation;
use inia_expr::tree::CmpOp;
use inia_expr::{Expr, ExprType};
use std::sync::Arc;

/// A way from stored bytes to the client, of a query of one table.
#[derive(Debug)]
pub struct Direct {
    /// What is made of the rows.
    pub shape: DirectShape,
    /// Runs of rows are taken whole: the access path answers every condition, and no row is
    /// locked. Rows are tested one by one where its bounds turn out not to be exact.
    pub whole_runs: bool,
    /// The columns that conditions beside those of the access path read.
    pub tested: Vec<usize>,
    /// The other columns that the conditions of the access path read.
    pub bounded: Vec<usize>,
}

/// What direct execution makes of the rows of a table.
#[derive(Debug)]
pub enum DirectShape {
    /// Aggregates over all rows, each added up from stored cells.
    Totals(Vec<CellTotal>),
    /// These columns of the table, in the order in which rows are read.
    Rows(Vec<usize>),
    /// These columns of the table, sorted.
    Sorted(Vec<usize>),
}

/// How the groups of a SELECT are made.
#[derive(Debug)]
pub enum GroupStrategy {
    /// Groups are in a hash table; those that outgrow memory are made in further passes. Without
    /// GROUP BY there is one group.
    Hash,
    /// Rows are sorted by their groups, whose states may grow with every row: one group at a time
    /// is in memory.
    Sort,
    /// Rows of a group come one after the other: one group at a time is in memory, and is given
    /// when the next one begins.
    InOrder,
    /// Each aggregate is found at an end of an index, or is a kept number of rows; `Hash` where a
    /// bound turns out not to be exact, or a table does not know its number of rows.
    Extrema(Vec<IndexExtremum>),
    /// One table is grouped by one integer column, from stored cells; `Hash` where groups outgrow
    /// memory or the path's bounds turn out not to be exact.
    IntGroups(IntGroups),
    /// Groups and aggregates are computed over column vectors; `Hash` where groups outgrow memory,
    /// numbers outgrow 128 bits or their type, or a constant is NULL.
    Vectors(Box<VectorGroups>),
    /// Counts and sums over a hash join by one integer column, from stored cells; `Hash`, over
    /// joined rows, where the right side outgrows memory or bounds turn out not to be exact.
    JoinTotals(JoinTotals),
}

/// An aggregate's value without reading rows.
#[derive(Debug)]
pub enum IndexExtremum {
    /// It is a column of the path's first row.
    First {
        /// Leads to the row.
        path: AccessPath,
        /// The column.
        column: usize,
    },
    /// It is how many rows these tables have between them, which keep the numbers.
    Rows(Vec<Arc<Table>>),
}

/// Groups of one table by one integer column.
#[derive(Debug)]
pub struct IntGroups {
    /// The column that groups.
    pub by: IntColumn,
    /// The aggregates of each group, in the order of their calls.
    pub totals: Vec<CellTotal>,
}

/// Counts and sums over an inner join of two tables by one integer column of each.
#[derive(Debug)]
pub struct JoinTotals {
    /// The left side's column.
    pub left_key: IntColumn,
    /// The right side's column.
    pub right_key: IntColumn,
    /// The aggregates, in the order of their calls.
    pub factors: Vec<Factor>,
}

/// What one aggregate over a join adds up.
#[derive(Clone, Copy, Debug)]
pub enum Factor {
    /// Joined rows.
    Rows,
    /// COUNT or SUM of a column of the left side.
    Left(usize),
    /// COUNT or SUM of a column of the right side, whose sums stand at this place of a key's.
    Right(usize, usize),
}

/// An integer column of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntColumn {
    /// Its position in the table.
    pub column: usize,
    /// UNSIGNED.
    pub unsigned: bool,
}

/// What one aggregate adds up of a table's stored cells.
#[derive(Clone, Copy, Debug)]
pub enum CellTotal {
    /// Rows.
    Rows,
    /// COUNT of a column that may be NULL.
    Values(usize),
    /// SUM of an integer column.
    Sum(usize),
    /// MIN or MAX of a column whose values are numbers in their order.
    MinMax {
        /// The column.
        column: usize,
        /// MAX.
        greatest: bool,
        /// What the numbers are.
        kind: Ordered,
    },
    /// Anything else of one column, by its values.
    Other(usize),
}

impl CellTotal {
    /// The column that is read, where one is.
    pub(crate) fn column(self) -> Option<usize> {
        match self {
            CellTotal::Rows => None,
            CellTotal::Values(column)
            | CellTotal::Sum(column)
            | CellTotal::MinMax { column, .. }
            | CellTotal::Other(column) => Some(column),
        }
    }
}

/// Column types whose values are 64-bit numbers in their order.
#[derive(Clone, Copy, Debug)]
pub enum Ordered {
    /// A signed integer.
    Int,
    /// With the sign bit flipped.
    UInt,
    /// DATE.
    Date,
    /// TIME.
    Time,
}

impl Ordered {
    /// How values of the type are ordered, where numbers do that.
    pub(crate) fn of(ty: &ExprType) -> Option<Ordered> {
        use inia_base::datatype::DataType;
        Some(match ty.data_type {
            DataType::Int { .. } if ty.is_unsigned() => Ordered::UInt,
            DataType::Int { .. } => Ordered::Int,
            DataType::Date => Ordered::Date,
            DataType::Time { .. } => Ordered::Time,
            _ => return None,
        })
    }
}

/// A condition `column op constant` that stored cells answer.
#[derive(Debug)]
pub struct CellCheck {
    /// The column.
    pub column: usize,
    /// The operator, the column being on its left.
    pub op: CmpOp,
    /// A literal or a parameter. The general way is taken where its value is NULL.
    pub constant: Expr,
    /// As what cells and the constant compare.
    pub kind: CellKind,
}

/// As what a cell is compared with a constant.
#[derive(Clone, Copy, Debug)]
pub enum CellKind {
    /// As integers.
    Int {
        /// The column is UNSIGNED.
        unsigned: bool,
    },
    /// As texts of a collation.
    Text(Collation),
}
