//! Grouping and aggregates over column vectors.
//!
//! A batch is the rows of one leaf. Each step of a program computes one vector of numbers for all
//! rows of a batch, from the vectors of earlier steps:
//!
//! ```text
//!   SUM(price * (1 - discount)), SUM(price)      DECIMAL(15, 2) both
//!
//!   step 0  column price       scale 2           step 3  1 - discount      scale 2
//!   step 1  constant 1         scale 0           step 4  price * step 3    scale 4
//!   step 2  column discount    scale 2           sums of steps 4 and 0
//! ```
//!
//! A decimal is its coefficient: the scale belongs to the step. A date is the number that orders
//! it.

use inia_base::collation::Collation;
use inia_expr::Expr;
use inia_expr::tree::{ArithOp, CmpOp};

/// What the numbers of a step are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// Integers of at most 64 bits.
    Int {
        /// UNSIGNED.
        unsigned: bool,
    },
    /// Coefficients of decimals with so many digits after the point.
    Decimal(u8),
    /// Days, packed so that numbers are ordered as dates are.
    Date,
}

impl NumberKind {
    /// Digits after the point.
    pub(crate) fn scale(self) -> u8 {
        match self {
            NumberKind::Decimal(scale) => scale,
            NumberKind::Int { .. } | NumberKind::Date => 0,
        }
    }
}

/// One vector of a program.
#[derive(Debug)]
pub struct NumberStep {
    /// How it is computed.
    pub op: NumberOp,
    /// What its numbers are.
    pub kind: NumberKind,
}

/// How a vector is computed. Operands are numbers of earlier steps.
#[derive(Debug)]
pub enum NumberOp {
    /// The table's column at this position.
    Column(usize),
    /// One value for all rows. The general way is taken where it is NULL.
    Constant(Expr),
    /// Addition, subtraction or multiplication.
    Arith(ArithOp, usize, usize),
    /// Negation.
    Negate(usize),
}

/// A condition with a truth value for each row of a batch.
#[derive(Debug)]
pub enum VectorCondition {
    /// A comparison of two steps.
    Compare(CmpOp, usize, usize),
    /// A comparison of a column's text with a constant.
    Text {
        /// The column.
        column: usize,
        /// The operator, the column being on its left.
        op: CmpOp,
        /// The constant. The general way is taken where it is NULL.
        constant: Expr,
        /// How texts compare.
        collation: Collation,
    },
    /// IS NULL of a step; the flag means NOT.
    IsNull(usize, bool),
    /// AND of all.
    And(Vec<VectorCondition>),
    /// OR of all.
    Or(Vec<VectorCondition>),
    /// NOT.
    Not(Box<VectorCondition>),
}

/// A column that groups.
#[derive(Clone, Copy, Debug)]
pub struct VectorKey {
    /// Its position in the table.
    pub column: usize,
    /// It is read as bytes; else as numbers.
    pub bytes: bool,
}

/// What one aggregate does with each group's numbers.
#[derive(Clone, Copy, Debug)]
pub enum VectorTotal {
    /// Counts rows.
    Rows,
    /// Counts a step's numbers that are not NULL.
    Count(usize),
    /// Adds up a step's numbers, for SUM and AVG.
    Sum(usize),
    /// The least or the greatest number of a step.
    MinMax {
        /// The step.
        step: usize,
        /// MAX.
        greatest: bool,
    },
}

/// A SELECT of one table whose groups are made from vectors.
#[derive(Debug)]
pub struct VectorGroups {
    /// What conditions read, of all rows.
    pub tested: Vec<NumberStep>,
    /// The table's conditions, each in its place.
    pub conditions: Vec<VectorFilter>,
    /// The columns that group; without any there is one group.
    pub keys: Vec<VectorKey>,
    /// The slots of a group's first row that anything behind the grouping reads.
    pub kept: Vec<usize>,
    /// What aggregates read, of the rows that fulfil the conditions.
    pub computed: Vec<NumberStep>,
    /// The aggregates, in the order of their calls.
    pub totals: Vec<VectorTotal>,
}

/// How one condition of the table is checked.
#[derive(Debug)]
pub enum VectorFilter {
    /// For a batch at once.
    Vector(VectorCondition),
    /// By its expression, the table's condition at this place, for each row that is left.
    Row(usize),
}
