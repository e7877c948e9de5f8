//! Comparison: which operand class two expressions compare as, and how.
//!
//! MySQL's rules in short: two strings compare by collation, a date with anything compares as
//! dates, integers exactly, decimals exactly, everything else as doubles.

use crate::collate;
use crate::context::EvalContext;
use crate::convert;
use crate::json;
use crate::tree::{Expr, ExprKind};
use crate::ty::{ExprType, TypeClass};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::temporal::Time;
use inia_base::value::Value;
use std::cmp::Ordering;
use std::collections::HashSet;

/// The class in which two operands compare.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CmpClass {
    /// Integers, signed and unsigned mixed.
    Int,
    /// Exact decimals.
    Decimal,
    /// Doubles.
    Real,
    /// Character strings by a collation.
    Text(Collation),
    /// Bytes.
    Binary,
    /// DATE, DATETIME, TIMESTAMP.
    Dates,
    /// TIME.
    Times,
    /// JSON values.
    Json,
}

/// The class in which `left op right` compares. `op` is for the error text only.
pub fn choose(left: &Expr, right: &Expr, op: &str) -> Result<CmpClass, SqlError> {
    use TypeClass as T;
    let (l, r) = (left.ty.class(), right.ty.class());
    Ok(match (l, r) {
        (T::Null, T::Null) => CmpClass::Binary,
        (T::Json, _) | (_, T::Json) => CmpClass::Json,
        (T::Null, other) => natural(other, &right.ty),
        (other, T::Null) => natural(other, &left.ty),
        (T::String, T::String) => text(left, right, op)?,
        (T::Time, T::Dated) if time_against_constant(left, right) => CmpClass::Times,
        (T::Dated, T::Time) if time_against_constant(right, left) => CmpClass::Times,
        (T::Dated, T::Dated | T::String | T::Time) | (T::String | T::Time, T::Dated) => {
            CmpClass::Dates
        }
        (T::Time, T::Time) => CmpClass::Times,
        (T::Time, T::String) if time_against_constant(left, right) => CmpClass::Times,
        (T::String, T::Time) if time_against_constant(right, left) => CmpClass::Times,
        (T::Time, T::String) | (T::String, T::Time) => text(left, right, op)?,
        (T::Dated, _) if is_column(left) && is_literal(right) => CmpClass::Dates,
        (_, T::Dated) if is_column(right) && is_literal(left) => CmpClass::Dates,
        (T::Time, _) if is_column(left) && is_literal(right) => CmpClass::Times,
        (_, T::Time) if is_column(right) && is_literal(left) => CmpClass::Times,
        (T::Int, T::Int) => CmpClass::Int,
        (T::Int | T::Decimal, T::Int | T::Decimal) => CmpClass::Decimal,
        (T::Int, T::String) if is_integral(right) => CmpClass::Int,
        (T::String, T::Int) if is_integral(left) => CmpClass::Int,
        _ => CmpClass::Real,
    })
}

/// The class in which values of one type compare among themselves.
pub fn natural_class(ty: &ExprType) -> CmpClass {
    natural(ty.class(), ty)
}

fn natural(class: TypeClass, ty: &ExprType) -> CmpClass {
    match class {
        TypeClass::Int => CmpClass::Int,
        TypeClass::Decimal => CmpClass::Decimal,
        TypeClass::Real => CmpClass::Real,
        TypeClass::Dated => CmpClass::Dates,
        TypeClass::Time => CmpClass::Times,
        TypeClass::Json => CmpClass::Json,
        TypeClass::String | TypeClass::Null if ty.is_text() => CmpClass::Text(ty.collation()),
        TypeClass::String | TypeClass::Null => CmpClass::Binary,
    }
}

fn text(left: &Expr, right: &Expr, op: &str) -> Result<CmpClass, SqlError> {
    Ok(text_class(collate::operands_collation(&[left, right], op)?))
}

/// The class of strings of one collation.
pub(crate) fn text_class(collation: Collation) -> CmpClass {
    if collation == Collation::BINARY { CmpClass::Binary } else { CmpClass::Text(collation) }
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column { .. } | ExprKind::OuterColumn { .. })
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_))
}

/// Whether a TIME column stands beside an expression that needs no row: MySQL compares times then.
fn time_against_constant(time: &Expr, other: &Expr) -> bool {
    is_column(time) && (is_literal(other) || other.is_constant())
}

/// The class in which an operand compares with a subquery's column. Texts beside a column that the
/// subquery computes, and texts that are no time, compare as texts with a TIME.
pub(crate) fn choose_beside_subquery(
    operand: &Expr,
    ty: &ExprType,
    op: &str,
) -> Result<CmpClass, SqlError> {
    let column = Expr::column(0, ty.clone(), "");
    let is_time = operand.as_literal().is_none_or(crate::constant::is_time);
    let as_text = !ty.stored || !is_literal(operand) || !is_time;
    match (operand.ty.class(), ty.class()) {
        (TypeClass::String, TypeClass::Time) if as_text => text(operand, &column, op),
        _ => choose(operand, &column, op),
    }
}

/// Strings that are integers in numeric context: hexadecimal literals, ENUM and SET.
fn is_integral(expr: &Expr) -> bool {
    use inia_base::datatype::DataType;
    matches!(expr.kind, ExprKind::HexLiteral(_))
        || matches!(expr.ty.data_type, DataType::Enum { .. } | DataType::Set { .. })
}

/// Orders two values that are not NULL. Values that are no date or time count as zero in
/// comparisons of dates and of times.
pub fn compare(
    class: &CmpClass,
    left: (&Value, &ExprType),
    right: (&Value, &ExprType),
    ctx: &mut EvalContext<'_>,
) -> Result<Ordering, SqlError> {
    let ((l, lt), (r, rt)) = (left, right);
    // In each class, values of its own kind compare as they are; only others are converted.
    Ok(match class {
        CmpClass::Int => match (l, r) {
            (Value::Int(l), Value::Int(r)) => l.cmp(r),
            _ => convert::to_wide(l, lt, ctx)?.cmp(&convert::to_wide(r, rt, ctx)?),
        },
        CmpClass::Decimal => {
            convert::to_decimal(l, lt, ctx)?.cmp(&convert::to_decimal(r, rt, ctx)?)
        }
        CmpClass::Real => {
            let (l, r) = (convert::to_real(l, lt, ctx)?, convert::to_real(r, rt, ctx)?);
            l.partial_cmp(&r).unwrap_or(Ordering::Equal)
        }
        CmpClass::Text(collation) => match (l, r) {
            (Value::Text(l), Value::Text(r)) => collate::compare(*collation, l, r),
            _ => {
                let text = |value, ty| convert::to_text_of(value, ty, *collation);
                collate::compare(*collation, &text(l, lt), &text(r, rt))
            }
        },
        CmpClass::Binary => match (l, r) {
            (Value::Bytes(l), Value::Bytes(r)) => l.cmp(r),
            _ => convert::to_bytes(l, lt).cmp(&convert::to_bytes(r, rt)),
        },
        CmpClass::Dates => {
            let l = convert::to_datetime_for_compare(l, lt, ctx)?;
            l.cmp(&convert::to_datetime_for_compare(r, rt, ctx)?)
        }
        CmpClass::Times => {
            let l = convert::to_time(l, lt, ctx)?.unwrap_or(Time::ZERO);
            l.cmp(&convert::to_time(r, rt, ctx)?.unwrap_or(Time::ZERO))
        }
        CmpClass::Json => {
            let (l, r) = (json::scalar_or_document(l, lt)?, json::scalar_or_document(r, rt)?);
            json::order::compare(&l, &r)
        }
    })
}

/// Orders two values of one type for sorting and MIN/MAX; NULL comes first.
pub fn order(
    class: &CmpClass,
    ty: &ExprType,
    left: &Value,
    right: &Value,
    ctx: &mut EvalContext<'_>,
) -> Result<Ordering, SqlError> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(Ordering::Equal),
        (Value::Null, _) => Ok(Ordering::Less),
        (_, Value::Null) => Ok(Ordering::Greater),
        _ => compare(class, (left, ty), (right, ty), ctx),
    }
}

/// A constant IN list as a set.
#[derive(Debug)]
pub struct InSet {
    keys: Keys,
    /// NULL is in the list.
    pub has_null: bool,
}

#[derive(Debug)]
enum Keys {
    Ints(HashSet<i128>),
    Texts(Collation, HashSet<Vec<u8>>),
    Bytes(HashSet<Vec<u8>>),
}

impl InSet {
    /// The set of `items`, where all compare in the same class and are values of that class.
    pub fn build(class: &CmpClass, items: &[&Value]) -> Option<InSet> {
        let mut has_null = false;
        let mut keys = match class {
            CmpClass::Int => Keys::Ints(HashSet::new()),
            CmpClass::Text(collation) => Keys::Texts(*collation, HashSet::new()),
            CmpClass::Binary => Keys::Bytes(HashSet::new()),
            _ => return None,
        };
        for item in items {
            match (&mut keys, item) {
                (_, Value::Null) => has_null = true,
                (Keys::Ints(set), Value::Int(v)) => drop(set.insert(i128::from(*v))),
                (Keys::Ints(set), Value::UInt(v)) => drop(set.insert(i128::from(*v))),
                (Keys::Texts(collation, set), Value::Text(v)) => {
                    set.insert(collate::sort_key(*collation, v));
                }
                (Keys::Bytes(set), Value::Bytes(v)) => drop(set.insert(v.clone())),
                _ => return None,
            }
        }
        Some(InSet { keys, has_null })
    }

    /// Whether a value is in the set; `None` where it is not of the set's kind.
    pub fn contains(&self, value: &Value) -> Option<bool> {
        match (&self.keys, value) {
            (Keys::Ints(set), Value::Int(v)) => Some(set.contains(&i128::from(*v))),
            (Keys::Ints(set), Value::UInt(v)) => Some(set.contains(&i128::from(*v))),
            (Keys::Texts(collation, set), Value::Text(v)) => {
                Some(set.contains(&collate::sort_key(*collation, v)))
            }
            (Keys::Bytes(set), Value::Bytes(v)) => Some(set.contains(v)),
            _ => None,
        }
    }
}

/// Whether values of both types can be compared in `class` by the bytes of a common sort key.
pub fn hashable(class: &CmpClass, left: &ExprType, right: &ExprType) -> bool {
    use TypeClass as T;
    let both = |wanted: &dyn Fn(&ExprType) -> bool| wanted(left) && wanted(right);
    match class {
        CmpClass::Int => both(&|ty| ty.class() == T::Int),
        CmpClass::Decimal => both(&|ty| matches!(ty.class(), T::Int | T::Decimal)),
        CmpClass::Real => both(&|ty| matches!(ty.class(), T::Int | T::Decimal | T::Real)),
        CmpClass::Text(_) => both(&|ty| ty.is_text() && !is_listed(ty)),
        CmpClass::Binary => both(&|ty| ty.class() == T::String && !ty.is_text() && !is_listed(ty)),
        CmpClass::Dates => both(&|ty| ty.class() == T::Dated),
        CmpClass::Times => both(&|ty| ty.class() == T::Time),
        CmpClass::Json => false,
    }
}

/// Whether values are members of a list, carried as numbers.
fn is_listed(ty: &ExprType) -> bool {
    matches!(ty.data_type, DataType::Enum { .. } | DataType::Set { .. })
}
