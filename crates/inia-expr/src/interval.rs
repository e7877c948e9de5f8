//! `date ± INTERVAL amount unit`.

use crate::context::{EvalContext, Level};
use crate::convert;
use crate::tree::{DateArith, Expr};
use crate::ty::{ExprType, TypeClass};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::{DateRules, DateTime, Interval, IntervalUnit};
use inia_base::value::Value;

/// The type of `date ± INTERVAL amount unit`.
pub(crate) fn result_type(date: &ExprType, amount: &ExprType, unit: IntervalUnit) -> ExprType {
    let fraction = match unit {
        _ if unit.has_micros() => 6,
        IntervalUnit::Second if amount.class() != TypeClass::Int => amount.decimals.min(6),
        _ => 0,
    };
    let fsp = date.fsp().max(fraction);
    let data_type = match date.data_type {
        DataType::Date if !unit.has_time() => DataType::Date,
        DataType::Date => DataType::DateTime { fsp: fraction },
        DataType::DateTime { .. } | DataType::Timestamp { .. } => DataType::DateTime { fsp },
        DataType::Time { .. } if keeps_time(unit) => DataType::Time { fsp },
        DataType::Time { .. } => DataType::DateTime { fsp },
        _ => {
            let collation = inia_base::collation::Collation::DEFAULT;
            return ExprType::computed(DataType::Char { chars: 29, collation }, true);
        }
    };
    ExprType::computed(data_type, true)
}

/// Whether a TIME with an interval of this unit is a TIME. In MySQL those that begin with a day
/// make a moment of it, but for `DAY_MICROSECOND`.
fn keeps_time(unit: IntervalUnit) -> bool {
    use IntervalUnit as U;
    unit.has_time() && !matches!(unit, U::DayHour | U::DayMinute | U::DaySecond)
}

/// The span that an amount of a unit means; `None` where the amount is NULL.
pub fn span(
    amount: &Value,
    ty: &ExprType,
    unit: IntervalUnit,
    ctx: &mut EvalContext<'_>,
) -> Result<Option<Interval>, SqlError> {
    if *amount == Value::Null {
        return Ok(None);
    }
    if unit.is_composite() {
        return Ok(Interval::parse(unit, &convert::to_text(amount, ty)));
    }
    if unit == IntervalUnit::Second && !matches!(amount, Value::Int(_) | Value::UInt(_)) {
        let seconds = convert::to_decimal(amount, ty, ctx)?;
        return Ok(Some(Interval::of_seconds(seconds)));
    }
    Ok(Some(Interval::of(unit, convert::to_int(amount, ty, ctx)?)))
}

/// Computes the node.
pub(crate) fn eval(
    whole: &Expr,
    node: &DateArith,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Value, SqlError> {
    let date = node.date.eval_ref(ctx, row)?;
    let amount = node.amount.eval_ref(ctx, row)?;
    if *date == Value::Null || *amount == Value::Null {
        return Ok(Value::Null);
    }
    let from = &node.date.ty;
    // A TIME stays one under some units of time only; other units count from the current day.
    if let (Value::Time(time), DataType::Time { .. }) = (&*date, &whole.ty.data_type) {
        let Some(span) = span(&amount, &node.amount.ty, node.unit, ctx)? else {
            return Ok(Value::Null);
        };
        let span = if node.subtract { span.neg() } else { span };
        return match time.add_interval(span) {
            Some(time) => Ok(Value::Time(time)),
            None => overflow("time", ctx),
        };
    }
    let text = matches!(whole.ty.data_type, DataType::Char { .. });
    let (moment, has_time) = match &*date {
        Value::Text(source) if text => match DateTime::parse(source, DateRules::ZEROS) {
            Ok(parsed) if parsed.truncated => {
                ctx.warn(ErrorCode::TruncatedWrongValue, &[&"datetime", source])?;
                (parsed.value, parsed.has_time)
            }
            Ok(parsed) => (parsed.value, parsed.has_time),
            Err(_) => {
                ctx.raise(Level::Warning, convert::incorrect("datetime", source))?;
                return Ok(Value::Null);
            }
        },
        other => {
            let Some(moment) = convert::to_datetime(other, from, ctx)? else {
                return Ok(Value::Null);
            };
            let number = text && moment.date.at_midnight() == moment;
            (moment, !number && from.data_type != DataType::Date)
        }
    };
    // A date with zero parts has no successor; MySQL warns of texts and numbers only.
    if moment.date.month == 0 || moment.date.day == 0 {
        if matches!(*date, Value::Date(_) | Value::DateTime(_)) {
            return Ok(Value::Null);
        }
        let shown = convert::to_text(&date, from);
        ctx.raise(Level::Warning, convert::incorrect("datetime", &shown))?;
        return Ok(Value::Null);
    }
    let Some(span) = span(&amount, &node.amount.ty, node.unit, ctx)? else {
        return Ok(Value::Null);
    };
    let span = if node.subtract { span.neg() } else { span };
    let Some(moment) = moment.add_interval(span) else { return overflow("datetime", ctx) };
    Ok(match &whole.ty.data_type {
        DataType::Date => Value::Date(moment.date),
        DataType::Char { .. } if !has_time && !node.unit.has_time() => {
            let mut out = Vec::new();
            moment.date.write_text(&mut out);
            Value::Text(String::from_utf8(out).unwrap_or_default())
        }
        DataType::Char { .. } => Value::Text(moment.text(if moment.micros > 0 { 6 } else { 0 })),
        _ => Value::DateTime(moment),
    })
}

/// NULL with warning 1441.
pub(crate) fn overflow(kind: &str, ctx: &mut EvalContext<'_>) -> Result<Value, SqlError> {
    ctx.warn(ErrorCode::DatetimeFunctionOverflow, &[&kind])?;
    Ok(Value::Null)
}
