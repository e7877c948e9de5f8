//! The order of JSON values: by kind first, then by value.

use super::Json;
use inia_base::decimal::Decimal;
use std::cmp::Ordering;

/// Kinds from low to high.
pub(super) fn rank(json: &Json) -> u8 {
    match json {
        Json::Null => 0,
        Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_) => 1,
        Json::String(_) => 2,
        Json::Object(_) => 3,
        Json::Array(_) => 4,
        Json::Bool(_) => 5,
        Json::Date(_) => 6,
        Json::Time(_) => 7,
        Json::DateTime(_) => 8,
        Json::Opaque(..) => 9,
    }
}

/// A number's exact value; of a double, where a decimal has room for it, that of its digits.
pub(super) fn exact(json: &Json) -> Option<Decimal> {
    match json {
        Json::Int(v) => Some(Decimal::from_i128(i128::from(*v), 0)),
        Json::UInt(v) => Some(Decimal::from_i128(i128::from(*v), 0)),
        Json::Decimal(v) => Some(*v),
        Json::Double(v) if v.abs() >= 1e-10 || *v == 0.0 => Decimal::from_f64(*v).ok(),
        _ => None,
    }
}

pub(super) fn real(json: &Json) -> f64 {
    match json {
        Json::Double(v) => *v,
        other => exact(other).map_or(0.0, Decimal::to_f64),
    }
}

/// Orders two JSON values.
pub fn compare(left: &Json, right: &Json) -> Ordering {
    let by_kind = rank(left).cmp(&rank(right));
    if by_kind.is_ne() {
        return by_kind;
    }
    match (left, right) {
        (Json::String(l), Json::String(r)) => l.as_bytes().cmp(r.as_bytes()),
        (Json::Bool(l), Json::Bool(r)) => l.cmp(r),
        (Json::Array(l), Json::Array(r)) => {
            let pairs = l.iter().zip(r).map(|(l, r)| compare(l, r));
            let first = pairs.into_iter().find(|order| order.is_ne());
            first.unwrap_or_else(|| l.len().cmp(&r.len()))
        }
        (Json::Object(l), Json::Object(r)) => l.len().cmp(&r.len()).then_with(|| {
            let pairs = l
                .iter()
                .zip(r)
                .map(|((lk, lv), (rk, rv))| super::key_order(lk, rk).then_with(|| compare(lv, rv)));
            pairs.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }),
        (Json::Null, Json::Null) => Ordering::Equal,
        (Json::Double(l), Json::Double(r)) => l.partial_cmp(r).unwrap_or(Ordering::Equal),
        (Json::Date(l), Json::Date(r)) => l.cmp(r),
        (Json::Time(l), Json::Time(r)) => l.cmp(r),
        (Json::DateTime(l), Json::DateTime(r)) => l.cmp(r),
        (Json::Opaque(lk, l), Json::Opaque(rk, r)) => l.cmp(r).then(lk.cmp(rk)),
        _ => match (exact(left), exact(right)) {
            (Some(l), Some(r)) => l.cmp(&r),
            _ => real(left).partial_cmp(&real(right)).unwrap_or(Ordering::Equal),
        },
    }
}
