//! Conditions, grouping and aggregates over column vectors.
//!
//! A batch is some rows, each column of them a vector ([`super::batches`]). Each step of a program
//! computes one vector of numbers for all rows of a batch, from the vectors of earlier steps:
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
use inia_base::datatype::DataType;
use inia_expr::Expr;
use inia_expr::like::Pattern;
use inia_expr::tree::{ArithOp, CmpOp};

/// Digits of a coefficient that always fits 128 bits.
const MAX_DIGITS: u8 = 38;

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
    /// Moments, packed so that numbers are ordered as moments are.
    Moment,
}

impl NumberKind {
    /// Digits after the point.
    pub(crate) fn scale(self) -> u8 {
        match self {
            NumberKind::Decimal(scale) => scale,
            NumberKind::Int { .. } | NumberKind::Date | NumberKind::Moment => 0,
        }
    }

    /// Whether its numbers stand for dates or moments, which are not computed with.
    pub(crate) fn is_dated(self) -> bool {
        matches!(self, NumberKind::Date | NumberKind::Moment)
    }

    /// The numbers that values of a type are.
    pub(crate) fn of(data_type: &DataType) -> Option<NumberKind> {
        match data_type {
            DataType::Int { unsigned, .. } => Some(NumberKind::Int { unsigned: *unsigned }),
            DataType::Decimal { precision, scale, .. } if *precision <= MAX_DIGITS => {
                Some(NumberKind::Decimal(*scale))
            }
            DataType::Date => Some(NumberKind::Date),
            DataType::DateTime { .. } => Some(NumberKind::Moment),
            _ => None,
        }
    }
}

/// What a vector holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorForm {
    /// Numbers.
    Numbers(NumberKind),
    /// Texts, by their bytes.
    Texts,
    /// Values of any other type.
    Values,
}

impl VectorForm {
    /// What a vector of a type holds.
    pub(crate) fn of(data_type: &DataType) -> VectorForm {
        match (NumberKind::of(data_type), data_type) {
            (Some(kind), _) => VectorForm::Numbers(kind),
            (_, DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. }) => {
                VectorForm::Texts
            }
            _ => VectorForm::Values,
        }
    }
}

/// Vectors that are computed of each batch, in order.
#[derive(Debug, Default)]
pub struct Program {
    /// The vectors of numbers.
    pub steps: Vec<NumberStep>,
    /// The constants that texts are compared with. Each compares as NULL where it is NULL.
    pub texts: Vec<Expr>,
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
    /// The batch's vector of this slot.
    Slot(usize),
    /// One value for all rows.
    Constant(Expr),
    /// Addition, subtraction or multiplication.
    Arith(ArithOp, usize, usize),
    /// Negation.
    Negate(usize),
    /// Some bits of a date or a moment: one of its fields, or the date of a moment.
    Field {
        /// The step of the date.
        of: usize,
        /// Bits below the field.
        shift: u32,
        /// The field's bits.
        mask: i64,
    },
    /// The beginning of a day.
    Midnight(usize),
    /// CASE: the number of the first condition that is true.
    Case {
        /// Conditions, and the steps of their results; `None` for NULL.
        whens: Vec<(VectorCondition, Option<usize>)>,
        /// The step of ELSE; NULL where absent.
        otherwise: Option<usize>,
    },
    /// An expression without a vector form is evaluated for each row.
    Evaluated {
        /// The expression.
        expr: Expr,
        /// The slots that it reads.
        slots: Vec<usize>,
    },
}

/// A condition with a truth value for each row of a batch.
#[derive(Debug)]
pub enum VectorCondition {
    /// A comparison of two steps.
    Compare(CmpOp, usize, usize),
    /// A comparison of a slot's text with a constant.
    Text {
        /// The slot.
        slot: usize,
        /// The operator, the slot being on its left.
        op: CmpOp,
        /// The constant's place among the texts of the program.
        constant: usize,
        /// How texts compare.
        collation: Collation,
    },
    /// LIKE of a slot's text with a constant pattern.
    Like(usize, Box<Pattern>),
    /// IS NULL of a step; the flag means NOT.
    IsNull(usize, bool),
    /// The same of a slot's text.
    NoText(usize, bool),
    /// AND of all.
    And(Vec<VectorCondition>),
    /// OR of all.
    Or(Vec<VectorCondition>),
    /// NOT.
    Not(Box<VectorCondition>),
}

/// Conditions in the order in which they are checked.
#[derive(Debug, Default)]
pub struct VectorFilters {
    /// What they read.
    pub program: Program,
    /// For each condition of the list that this is made of how it is checked.
    pub filters: Vec<VectorFilter>,
}

/// How one condition is checked.
#[derive(Debug)]
pub struct VectorFilter {
    /// For a batch at once, where it has this form. Otherwise, and where numbers outgrow their
    /// type, its expression is evaluated for each row that is left.
    pub vector: Option<VectorCondition>,
    /// The slots that its expression reads.
    pub slots: Vec<usize>,
}

/// What finds the group of a row.
#[derive(Debug)]
pub enum VectorKey {
    /// The number of a step.
    Number(usize),
    /// A slot's text.
    Text(usize),
    /// The value of the group's expression, which reads these slots.
    Value(Vec<usize>),
}

/// What one aggregate does with each group's rows.
#[derive(Debug)]
pub enum VectorTotal {
    /// Counts rows.
    Rows,
    /// Counts a step's numbers that are not NULL.
    Count(usize),
    /// Counts a slot's texts or values that are not NULL.
    Present(usize),
    /// Adds up a step's numbers, for SUM and AVG.
    Sum(usize),
    /// The least or the greatest number of a step.
    MinMax {
        /// The step.
        step: usize,
        /// MAX.
        greatest: bool,
    },
    /// What one of the others makes of the different values of some keys in each group.
    Distinct {
        /// The keys, in the order of the aggregate's arguments.
        keys: Vec<VectorKey>,
        /// Counts rows, or adds numbers up.
        total: Box<VectorTotal>,
    },
    /// Anything else, row by row; the slots that the aggregate reads.
    Each(Vec<usize>),
}

/// A condition of HAVING on the number of an aggregate.
#[derive(Debug)]
pub struct GroupCheck {
    /// The aggregate.
    pub total: usize,
    /// The operator, the aggregate being on its left.
    pub op: CmpOp,
    /// A constant number.
    pub constant: Expr,
}

/// A SELECT whose groups are made from batches.
#[derive(Debug)]
pub struct VectorGroups {
    /// What keys and aggregates read.
    pub program: Program,
    /// What finds the group of a row; without any there is one group.
    pub keys: Vec<VectorKey>,
    /// The slots of a group's first row that anything behind the grouping reads.
    pub kept: Vec<usize>,
    /// The aggregates, in the order of their calls.
    pub totals: Vec<VectorTotal>,
    /// Conditions that HAVING has among others: groups that do not fulfil them need no values.
    pub checks: Vec<GroupCheck>,
    /// Rows of a group come one after the other, and every number fits: a group is given when the
    /// next one has begun, so that any number of groups takes little memory.
    pub in_order: bool,
    /// Several threads may group rows, each by itself: what they have can be put together.
    pub mergeable: bool,
}
