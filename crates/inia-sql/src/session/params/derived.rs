//! The values of an execution as values of the types that PREPARE has derived.
//!
//! A string for a BIGINT is an integer, and a decimal where it is one beyond that; a decimal or a
//! double changes the parameter's type, for later executions as well. Example: `SELECT ? + 1` has
//! 6 for `'5'`, and 6.7 for `'5.7'`, behind which 5 is a decimal, too.
//!
//! Values are converted before the statement runs: they warn once where MySQL warns for each row,
//! and where MySQL needs no value at all. What no rule is for goes to the statement as it is.

use super::ParamKind;
use crate::session::evaluate::evaluate;
use inia_base::decimal::Decimal;
use inia_base::error::SqlError;
use inia_base::number::integer_prefix;
use inia_base::temporal::{DateRules, DateTime, Time};
use inia_base::value::Value;
use inia_expr::derive::{DerivedParam, ParamType, ParamUse};
use inia_expr::{Binder, EmptyScope, Strictness};
use inia_parser::ast::{self, CastType, Statement};
use inia_query::context::SessionContext;

/// What wrong values are in a statement: errors where it changes rows in strict mode.
pub(in crate::session) fn strictness(
    session: &SessionContext,
    statement: &Statement,
) -> Strictness {
    let ignore = match statement {
        Statement::Insert(insert) => insert.ignore,
        Statement::Update(update) => update.ignore,
        Statement::Delete(delete) => delete.ignore,
        _ => return Strictness::Query,
    };
    match session.env.sql_mode.is_strict() && !ignore {
        true => Strictness::Strict,
        false => Strictness::Lenient,
    }
}

/// The kind that a plan has of values of a type; `None` where they stay as they are given.
pub(super) fn kind(param: &DerivedParam) -> Option<ParamKind> {
    match param.used {
        ParamUse::AsGiven => return None,
        ParamUse::Counted => return Some(ParamKind::Count),
        ParamUse::Converted | ParamUse::Compared => {}
    }
    Some(match param.ty {
        ParamType::Int => ParamKind::Int,
        ParamType::UInt => ParamKind::UInt,
        ParamType::Decimal => ParamKind::Decimal,
        ParamType::Double => ParamKind::Double,
        ParamType::Date => ParamKind::Date,
        ParamType::DateTime => ParamKind::AnyDateTime,
        ParamType::Time => ParamKind::AnyTime,
        ParamType::Bytes => ParamKind::Bytes,
        _ => return None,
    })
}

/// Parameters that nothing says more about are what their values are from now on, if there is a
/// number for a text.
pub(super) fn loosen(types: &mut [DerivedParam], values: &[Value]) {
    let number = |value: &Value| {
        matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_))
    };
    let is_text = |at: usize| {
        types.get(at).is_none_or(|param: &DerivedParam| matches!(param.ty, ParamType::Text(_)))
    };
    if values.iter().enumerate().any(|(at, value)| is_text(at) && number(value)) {
        for (param, value) in types.iter_mut().zip(values) {
            if param.loose && number(value) {
                param.used = ParamUse::AsGiven;
            }
        }
    }
}

/// A value as one of its parameter's type, which it may change.
pub(super) fn take(
    session: &mut SessionContext,
    strictness: Strictness,
    param: &mut DerivedParam,
    value: &Value,
) -> Result<Value, SqlError> {
    let mut cast = |target: CastType| cast(session, strictness, target, value);
    Ok(match (param.used, param.ty) {
        (ParamUse::AsGiven, _) => value.clone(),
        (ParamUse::Counted, _) => match value {
            Value::Text(text) => Value::UInt(counted(text)),
            _ => value.clone(),
        },
        (_, ParamType::Int | ParamType::UInt) => match value {
            Value::Double(_) | Value::Decimal(_) => {
                param.ty = of_number(value);
                value.clone()
            }
            Value::Text(_) | Value::Bytes(_) => match integer(param.ty, bytes_of(value)) {
                Ok(integer) => integer,
                Err(Some(decimal)) => {
                    param.ty = ParamType::Decimal;
                    Value::Decimal(decimal)
                }
                // Strings that are no numbers are errors of those rows that they meet.
                Err(None) if strictness == Strictness::Strict => value.clone(),
                Err(None) => cast(CastType::Signed)?,
            },
            _ => value.clone(),
        },
        (_, ParamType::Decimal) => match value {
            Value::Int(number) => widened(Decimal::from_i128((*number).into(), 0)),
            Value::UInt(number) => widened(Decimal::from_i128((*number).into(), 0)),
            Value::Double(_) => {
                param.ty = ParamType::Double;
                value.clone()
            }
            Value::Text(_) | Value::Bytes(_) => match decimal(bytes_of(value)) {
                Some(decimal) => widened(decimal),
                None if strictness == Strictness::Strict => value.clone(),
                None => cast(CastType::Decimal { precision: Some(65), scale: Some(30) })?,
            },
            _ => value.clone(),
        },
        (_, ParamType::Double) => double(session, strictness, value)?,
        (_, ParamType::Bytes) => match value {
            Value::Text(text) => Value::Bytes(text.clone().into_bytes()),
            _ => value.clone(),
        },
        (used, ParamType::Date | ParamType::DateTime | ParamType::Time) => {
            match moment(param, value) {
                Some(moment) => moment,
                None if used == ParamUse::Compared && strictness != Strictness::Strict => {
                    cast(target(param.ty))?
                }
                None => value.clone(),
            }
        }
        _ => value.clone(),
    })
}

/// A number or a string as a double.
fn double(
    session: &mut SessionContext,
    strictness: Strictness,
    value: &Value,
) -> Result<Value, SqlError> {
    match value {
        Value::Text(_) | Value::Bytes(_)
            if strictness == Strictness::Strict && decimal(bytes_of(value)).is_none() =>
        {
            Ok(value.clone())
        }
        Value::Double(_) | Value::Null => Ok(value.clone()),
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Text(_) | Value::Bytes(_) => {
            cast(session, strictness, CastType::Double, value)
        }
        _ => Ok(value.clone()),
    }
}

/// The bytes of a string.
fn bytes_of(value: &Value) -> &[u8] {
    match value {
        Value::Text(text) => text.as_bytes(),
        Value::Bytes(bytes) => bytes,
        _ => &[],
    }
}

/// The type of a parameter that has a number of another type.
fn of_number(value: &Value) -> ParamType {
    match value {
        Value::Double(_) => ParamType::Double,
        _ => ParamType::Decimal,
    }
}

/// A string as an integer; the decimal that it is where it is a number of another kind, as one with
/// a sign is for MySQL.
fn integer(ty: ParamType, text: &[u8]) -> Result<Value, Option<Decimal>> {
    let read = integer_prefix(text);
    let value = match ty {
        ParamType::UInt => u64::try_from(read.value).ok().map(Value::UInt),
        _ => i64::try_from(read.value).ok().map(Value::Int),
    };
    match value {
        Some(value) if !read.truncated && !read.overflow && read.value >= 0 => Ok(value),
        _ => Err(decimal(text)),
    }
}

/// A string that is a number as a whole.
fn decimal(text: &[u8]) -> Option<Decimal> {
    let read = Decimal::parse_prefix(text);
    let rest = text.get(read.consumed..)?;
    let whole = read.consumed > 0 && rest.iter().all(u8::is_ascii_whitespace);
    (whole && !read.overflow).then_some(read.value)
}

/// A decimal with as many digits after the point as the type has.
fn widened(decimal: Decimal) -> Value {
    Value::Decimal(decimal.with_scale(30).unwrap_or(decimal))
}

/// How many rows a text lets through.
fn counted(text: &str) -> u64 {
    u64::try_from(integer_prefix(text.as_bytes()).value).unwrap_or(u64::MAX)
}

fn target(ty: ParamType) -> CastType {
    match ty {
        ParamType::Date => CastType::Date,
        ParamType::Time => CastType::Time(Some(6)),
        _ => CastType::DateTime(Some(6)),
    }
}

/// A moment of the parameter's type; a DATE becomes a DATETIME where there is a time of day.
fn moment(param: &mut DerivedParam, value: &Value) -> Option<Value> {
    match (param.ty, value) {
        (ParamType::Time, Value::Text(text)) => {
            let read = Time::parse(text).ok()?;
            (!read.truncated).then_some(Value::Time(read.value))
        }
        (ParamType::Time, _) => None,
        (_, Value::Text(text)) => {
            let read = DateTime::parse(text, DateRules::STRICT).ok()?;
            if read.truncated || read.offset_minutes.is_some() {
                return None;
            }
            if read.has_time {
                param.ty = ParamType::DateTime;
            }
            Some(of_type(param.ty, read.value))
        }
        (ParamType::Date, Value::DateTime(moment)) => {
            param.ty = ParamType::DateTime;
            Some(Value::DateTime(*moment))
        }
        (_, Value::Int(number)) if *number > 0 => {
            let (moment, has_time) = DateTime::from_number(*number, DateRules::STRICT).ok()?;
            if has_time {
                param.ty = ParamType::DateTime;
            }
            Some(of_type(param.ty, moment))
        }
        (_, Value::Date(date)) => Some(of_type(param.ty, date.at_midnight())),
        _ => None,
    }
}

fn of_type(ty: ParamType, moment: DateTime) -> Value {
    match ty {
        ParamType::Date => Value::Date(moment.date),
        _ => Value::DateTime(moment),
    }
}

/// CAST(value AS target).
pub(super) fn cast(
    session: &mut SessionContext,
    strictness: Strictness,
    target: CastType,
    value: &Value,
) -> Result<Value, SqlError> {
    let expr = Box::new(ast::Expr::Param(0));
    let cast = ast::Expr::Cast { expr, ty: target, array: false };
    let mut scope = EmptyScope;
    let bound = Binder { scope: &mut scope, env: &session.env, host: session }.scalar(&cast)?;
    evaluate(session, std::slice::from_ref(value), |_, ctx| {
        ctx.strictness = strictness;
        bound.eval(ctx, &[])
    })
}
