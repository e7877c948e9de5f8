//! Pairs of columns of rows that are compared, and how.
//!
//! In a list of two rows or more the left row says how: in `(n, t) IN (('1.6', 1), …)` an integer
//! `n` is compared with 1, and a text `t` with `'1'`. In `(n, t) = (…)`, and in a list of one row,
//! both operands say it, as they do where no rows are.

use super::converted;
use super::years::beside_years;
use crate::collate;
use crate::compare;
use crate::constant;
use crate::tree::{CmpOp, Compare, Expr, ExprKind};
use crate::ty::{ExprType, TypeClass, bigint};
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::temporal::Date;
use inia_base::value::Value;

/// What two rows are parts of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// An operator's operands.
    Operands,
    /// The operand of IN and the only row of its list.
    OneOfList,
    /// The operand of IN and a row of its list.
    OfList,
}

impl Rows {
    /// The comparison of a column of the left row with one of the right row.
    pub(super) fn pair(self, op: CmpOp, left: Expr, right: Expr) -> Result<Compare, SqlError> {
        let (left, right) = match self {
            Rows::Operands => beside_years(left, right),
            Rows::OneOfList => (left, right),
            Rows::OfList => {
                let right = as_left(&left, right);
                (left, right)
            }
        };
        let class = match self {
            Rows::OfList if is_text_beside_text(&left, &right) => {
                compare::text_class(left.ty.collation())
            }
            _ => compare::choose(&left, &right, op.symbol())?,
        };
        Ok(Compare { op, class, left, right })
    }
}

/// Whether both are texts of one character set: the left one's collation holds then.
fn is_text_beside_text(left: &Expr, right: &Expr) -> bool {
    let texts = left.ty.class() == TypeClass::String && right.ty.class() == TypeClass::String;
    texts && collate::same_charset(left.ty.collation(), right.ty.collation())
}

/// The right operand in the kind of the left one.
fn as_left(left: &Expr, right: Expr) -> Expr {
    use TypeClass as T;
    let integral = matches!(right.kind, ExprKind::HexLiteral(_))
        || matches!(right.ty.data_type, DataType::Enum { .. } | DataType::Set { .. });
    match (left.ty.class(), right.ty.class()) {
        (T::Int, T::Decimal | T::Real | T::String) if !integral => {
            let ty = ExprType::computed(bigint(false), right.ty.nullable);
            converted(right, &ty)
        }
        (T::String, T::Int | T::Decimal | T::Real | T::Dated | T::Time)
            if !matches!(right.ty.data_type, DataType::Bit(_)) =>
        {
            let (chars, collation) = (right.ty.length.into(), left.ty.collation());
            let ty = ExprType::text(chars, collation, right.ty.nullable);
            converted(right, &ty)
        }
        // A constant that is no date counts as the zero date.
        (T::Dated, T::String) if constant::is_no_date(&right) => {
            Expr::literal(Value::Date(Date::ZERO), ExprType::computed(DataType::Date, false))
        }
        _ => right,
    }
}
