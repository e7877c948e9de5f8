//! GET DIAGNOSTICS.

use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{ExprType, UserVar, Warning};

/// The conditions that GET DIAGNOSTICS reports on, and ROW_COUNT.
pub(super) struct Area<'d> {
    pub(super) list: &'d [Warning],
    pub(super) row_count: i64,
}

fn number(value: i64) -> UserVar {
    UserVar { value: Value::Int(value), ty: ExprType::int(21, false) }
}

fn count(value: u64) -> UserVar {
    UserVar { value: Value::UInt(value), ty: ExprType::uint(21, false) }
}

fn text(text: &str) -> UserVar {
    let value = Value::Text(text.to_owned());
    UserVar { value, ty: ExprType::text(512, Collation::DEFAULT, true) }
}

/// The values of the items, in order; `condition` is the number of the condition, if they are of
/// one. Error 1758 where there is none with that number.
pub(super) fn get_diagnostics(
    area: &Area<'_>,
    condition: Option<&Value>,
    items: &[&str],
) -> Result<Vec<UserVar>, SqlError> {
    let Some(condition) = condition else {
        let value = |item: &&str| match *item {
            "NUMBER" => count(area.list.len() as u64),
            _ => number(area.row_count),
        };
        return Ok(items.iter().map(value).collect());
    };
    let at = match condition {
        Value::Int(at) => usize::try_from(*at).ok(),
        Value::UInt(at) => usize::try_from(*at).ok(),
        Value::Text(text) => text.trim().parse().ok(),
        Value::Double(at) => Some(*at as usize),
        Value::Decimal(at) => at.to_string().parse::<f64>().ok().map(|at| at as usize),
        _ => None,
    };
    let found = at.and_then(|at| at.checked_sub(1)).and_then(|at| area.list.get(at));
    let Some(found) = found else {
        return Err(SqlError::new(ErrorCode::DaInvalidConditionNumber, &[]));
    };
    Ok(items.iter().map(|item| item_of(found, item)).collect())
}

fn item_of(condition: &Warning, item: &str) -> UserVar {
    let state = condition.sqlstate();
    let set = condition.signalled.as_ref().and_then(|signalled| {
        signalled.items.iter().find(|(known, _)| known == item).map(|(_, text)| text)
    });
    if let Some(set) = set {
        return text(set);
    }
    match item {
        "MYSQL_ERRNO" => count(u64::from(condition.number())),
        "RETURNED_SQLSTATE" => text(state),
        "MESSAGE_TEXT" => text(&condition.message),
        "CLASS_ORIGIN" | "SUBCLASS_ORIGIN" => text(origin(condition, item)),
        _ => text(""),
    }
}

/// Classes and subclasses of the standard are its own, all others MySQL's. What a program signals
/// has none.
fn origin(condition: &Warning, item: &str) -> &'static str {
    if condition.signalled.is_some() {
        return "";
    }
    let state = condition.sqlstate().as_bytes();
    let standard = |byte: u8| matches!(byte, b'0'..=b'4' | b'A'..=b'H');
    let standard_at = |at: usize| state.get(at).copied().is_some_and(standard);
    match item {
        "SUBCLASS_ORIGIN" if standard_at(0) && standard_at(2) => "ISO 9075",
        "CLASS_ORIGIN" if standard_at(0) => "ISO 9075",
        _ => "MySQL",
    }
}
