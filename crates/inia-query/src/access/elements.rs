//! Finding rows by multi-valued indexes.
//!
//! Conditions on the array itself bound its part of the key, as `bind/arrays.rs` leaves them: the
//! other operand is a JSON constant of the elements' type.
//!
//! ```text
//!   7 MEMBER OF (array)            one key
//!   JSON_CONTAINS(array, [7, 9])   the keys of 7: the reader looks for 9
//!   JSON_OVERLAPS(array, [7, 9])   the keys of 7 and of 9, each row once
//!   7 MEMBER OF (array) OR …       the keys of all branches, where each has some
//! ```
//!
//! No empty candidate is looked for: rows with an empty array have no entry.

use super::{EqualPart, KeyInterval};
use inia_base::datatype::DataType;
use inia_base::value::Value;
use inia_expr::json::{self, Json};
use inia_expr::{Expr, ExprKind, ExprType};

/// How a condition bounds an array's part of a key.
pub(super) enum Sought {
    /// By one element.
    One(EqualPart),
    /// By any of these.
    Any(Vec<KeyInterval>),
}

/// The elements that a row must have for one of the conditions to be true.
pub(super) fn sought(
    conditions: &[Expr],
    element: &DataType,
    is_array: impl Fn(&Expr) -> bool,
) -> Option<Sought> {
    most_narrow(conditions.iter().filter_map(|condition| of(condition, element, &is_array)))
}

/// One element keeps fewer rows than any of several.
fn most_narrow(found: impl Iterator<Item = Sought>) -> Option<Sought> {
    let mut any = None;
    for sought in found {
        match sought {
            Sought::One(_) => return Some(sought),
            Sought::Any(_) => any = any.or(Some(sought)),
        }
    }
    any
}

/// What one condition asks for: under OR one of what each branch does.
fn of(condition: &Expr, element: &DataType, is_array: &dyn Fn(&Expr) -> bool) -> Option<Sought> {
    let call = match &condition.kind {
        ExprKind::Call(call) => call,
        ExprKind::And(parts) => {
            return most_narrow(parts.iter().filter_map(|part| of(part, element, is_array)));
        }
        ExprKind::Or(parts) => {
            let mut points: Vec<KeyInterval> = Vec::new();
            for part in parts {
                let more = match of(part, element, is_array)? {
                    Sought::One(EqualPart::Value(value)) => vec![KeyInterval::point(&value)],
                    Sought::One(_) => return None,
                    Sought::Any(more) => more,
                };
                points.extend(more);
            }
            return Some(Sought::Any(points));
        }
        _ => return None,
    };
    let [first, second] = call.args.as_slice() else { return None };
    let value = |item: Json| {
        let value = json::element_value(item, element)?;
        Some(Expr::literal(value, ExprType::computed(element.clone(), false)))
    };
    let point = |item| Some(KeyInterval::point(&value(item)?));
    match (call.name, is_array(first), is_array(second)) {
        ("member_of", false, true) => Some(Sought::One(EqualPart::Value(value(constant(first)?)?))),
        ("json_contains", true, false) => {
            let candidate = elements(constant(second)?).into_iter().next()?;
            Some(Sought::Any(vec![point(candidate)?]))
        }
        ("json_overlaps", true, false) | ("json_overlaps", false, true) => {
            let other = if is_array(first) { second } else { first };
            let items = elements(constant(other)?);
            let points: Vec<_> = items.into_iter().map(point).collect::<Option<_>>()?;
            (!points.is_empty()).then_some(Sought::Any(points))
        }
        _ => None,
    }
}

/// A document that is known.
fn constant(expr: &Expr) -> Option<Json> {
    match expr.as_literal()? {
        Value::Json(text) => Some(json::stored(text)),
        _ => None,
    }
}

/// What an array may hold of a document's elements.
fn elements(document: Json) -> Vec<Json> {
    match document {
        Json::Array(items) => items.into_iter().filter(|item| *item != Json::Null).collect(),
        Json::Null => Vec::new(),
        scalar => vec![scalar],
    }
}
