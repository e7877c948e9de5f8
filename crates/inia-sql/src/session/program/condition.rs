//! Conditions: which handler one goes to, and what SIGNAL makes.

use super::code::{CompiledProgram, HandlerCode};
use inia_base::error::{ErrorCode, Signalled, SqlError};
use inia_expr::{Level, Warning};
use inia_parser::ast::HandlerCondition;

/// How well a handler fits; the smaller the better.
fn rank(handled: &HandlerCondition, raised: &Warning) -> Option<u8> {
    let state = raised.sqlstate();
    let class = &state[..2];
    match handled {
        HandlerCondition::Number(number) => (*number == raised.number()).then_some(0),
        HandlerCondition::SqlState(wanted) => (wanted == state).then_some(1),
        HandlerCondition::Warning => (class == "01" || raised.level == Level::Warning).then_some(2),
        HandlerCondition::NotFound => (class == "02").then_some(3),
        HandlerCondition::Exception => {
            let exception = !matches!(class, "00" | "01" | "02");
            (exception && raised.level == Level::Error).then_some(4)
        }
    }
}

/// The handler for a condition raised at `at`: of the innermost block that has one, the most
/// specific.
pub(super) fn handler_for<'c>(
    code: &'c CompiledProgram,
    at: usize,
    raised: &Warning,
) -> Option<&'c HandlerCode> {
    let covering = code.handlers.iter().filter(|handler| handler.covers.contains(&at));
    let fits = |handler: &&'c HandlerCode| {
        let rank = handler.conditions.iter().filter_map(|handled| rank(handled, raised)).min()?;
        Some((std::cmp::Reverse(handler.depth), rank))
    };
    let ranked = covering.filter_map(|handler| Some((fits(&handler)?, handler)));
    ranked.min_by_key(|(fit, _)| *fit).map(|(_, handler)| handler)
}

/// Whether no handler may stop an error.
pub(super) fn is_final(error: &SqlError) -> bool {
    matches!(error.code, ErrorCode::QueryInterrupted | ErrorCode::QueryTimeout)
}

/// The longest text of an item, in characters.
fn limit(item: &str) -> usize {
    if item == "MESSAGE_TEXT" { 128 } else { 64 }
}

/// What a SIGNAL or RESIGNAL raises: the condition before, with what SET says of it.
pub(super) fn signal_error(
    before: Option<&SqlError>,
    sqlstate: Option<&str>,
    items: &[(String, Option<String>)],
    strict: bool,
) -> Result<SqlError, SqlError> {
    let state = sqlstate.or(before.map(SqlError::sqlstate)).unwrap_or("45000").to_owned();
    let code = match &state[..2] {
        "01" => ErrorCode::SignalWarn,
        "02" => ErrorCode::SignalNotFound,
        _ => ErrorCode::SignalException,
    };
    let keeps = sqlstate.is_none();
    let mut error = match before {
        Some(before) if keeps => before.clone(),
        // Another condition keeps the text and the items of the one that was handled.
        Some(before) => SqlError::with_message(code, &before.message),
        None => SqlError::new(code, &[]),
    };
    error.signalled = None;
    let mut chosen = match before.and_then(|before| before.signalled.as_deref()) {
        Some(chosen) => chosen.clone(),
        None => Signalled { number: error.number(), sqlstate: state.clone(), items: Vec::new() },
    };
    if !keeps {
        chosen.number = error.number();
    }
    chosen.sqlstate = state;
    for (item, text) in items {
        let Some(text) = text else {
            let args: [&dyn std::fmt::Display; 2] = [item, &"NULL"];
            return Err(SqlError::new(ErrorCode::WrongValueForVar, &args));
        };
        if item == "MYSQL_ERRNO" {
            let number = text.parse::<u64>().ok().and_then(|number| u16::try_from(number).ok());
            match number.filter(|number| *number > 0) {
                Some(number) => chosen.number = number,
                None => {
                    return Err(SqlError::new(ErrorCode::WrongValueForVar, &[item, text]));
                }
            }
            continue;
        }
        if text.chars().count() > limit(item) && strict {
            return Err(SqlError::new(ErrorCode::CondItemTooLong, &[item]));
        }
        let text: String = text.chars().take(limit(item)).collect();
        match item.as_str() {
            "MESSAGE_TEXT" => error.message = text,
            _ => {
                chosen.items.retain(|(known, _)| known != item);
                chosen.items.push((item.clone(), text));
            }
        }
    }
    error.signalled = Some(Box::new(chosen));
    Ok(error)
}
