//! Constants beside a column of years: `y = 2` asks for 2002, as a stored 2 would be.
//!
//! What could not be stored as a year compares as the number that it is. Lists of IN are left as
//! they are, unless they are of one value or of strings; so are CASE y WHEN ….

use crate::number;
use crate::tree::{CastKind, Expr, ExprKind};
use crate::ty::TypeClass;
use inia_base::datatype::DataType;
use inia_base::value::Value;

/// Both operands of a comparison, a constant beside a column of years as a year.
pub(crate) fn beside_years(left: Expr, right: Expr) -> (Expr, Expr) {
    if is_years(&left) {
        let right = as_year(right);
        (left, right)
    } else if is_years(&right) {
        (as_year(left), right)
    } else {
        (left, right)
    }
}

/// Whether the expression is a column of years.
pub(super) fn is_years(expr: &Expr) -> bool {
    expr.ty.data_type == DataType::Year
        && matches!(expr.kind, ExprKind::Column { .. } | ExprKind::OuterColumn { .. })
}

/// A constant as the year that it means.
pub(super) fn as_year(constant: Expr) -> Expr {
    use TypeClass as T;
    let means_years = matches!(constant.ty.class(), T::Int | T::Decimal | T::Real | T::String)
        && constant.ty.data_type != DataType::Year
        && !matches!(constant.kind, ExprKind::HexLiteral(_));
    if !means_years || !constant.is_constant_in_statement() {
        return constant;
    }
    let ty = constant.ty.clone();
    Expr { kind: ExprKind::Cast(Box::new(constant), CastKind::Year), ty }
}

/// The year that a number or a string means, in the form it has; itself where it means none.
pub(crate) fn year_meant(value: &Value) -> Value {
    let year = match value {
        Value::Int(number) => meant(*number),
        Value::UInt(number) => i64::try_from(*number).ok().and_then(meant),
        Value::Decimal(decimal) => decimal.to_i64().ok().and_then(meant),
        Value::Double(double) => meant(double.round_ties_even() as i64),
        Value::Text(text) => text_meant(text),
        _ => None,
    };
    let Some(year) = year else { return value.clone() };
    match value {
        Value::Double(_) => Value::Double(year as f64),
        Value::Decimal(_) => Value::Decimal(year.into()),
        Value::Text(_) => Value::Text(format!("{year:04}")),
        Value::UInt(_) => Value::UInt(year as u64),
        _ => Value::Int(year),
    }
}

fn meant(number: i64) -> Option<i64> {
    match number {
        0 | 1901..=2155 => Some(number),
        1..=69 => Some(number + 2000),
        70..=99 => Some(number + 1900),
        _ => None,
    }
}

/// A zero of other than four digits is the year 2000.
fn text_meant(text: &str) -> Option<i64> {
    let parsed = number::parse_int(text.as_bytes());
    let number = i64::try_from(parsed.value).ok().filter(|_| parsed.found)?;
    if number == 0 && text.trim().len() != 4 { Some(2000) } else { meant(number) }
}
