//! Constants in comparisons and conditions: converted for each row, but warned of only once.
//!
//! `c_int < 'abc'` over a thousand rows warns once that 'abc' is no number. A text constant beside
//! a date must be a date, otherwise the statement fails; a constant beside a TIME column that is no
//! time compares as text, a number as a number.

use crate::collate;
use crate::compare::{self, CmpClass};
use crate::context::EvalContext;
use crate::convert;
use crate::tree::{Expr, ExprKind};
use crate::ty::{ExprType, TypeClass};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::{DateTime, Time};
use inia_base::value::Value;
use std::cmp::Ordering;

type Result<T> = std::result::Result<T, SqlError>;

fn is_constant(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_))
}

fn is_string(value: &Value) -> bool {
    matches!(value, Value::Text(_) | Value::Bytes(_))
}

/// Whether rows of the statement can make the value differ.
fn reads_rows(expr: &Expr) -> bool {
    let mut reads = false;
    expr.walk(&mut |node| {
        reads |= match &node.kind {
            ExprKind::Column { .. }
            | ExprKind::OuterColumn { .. }
            | ExprKind::Aggregate(_)
            | ExprKind::Window(_)
            | ExprKind::InsertValue(_) => true,
            ExprKind::Subquery(subquery) => subquery.correlated,
            _ => false,
        };
    });
    reads
}

/// The truth of a member of a condition.
pub(crate) fn truth(expr: &Expr, ctx: &mut EvalContext<'_>, row: &[Value]) -> Result<Option<bool>> {
    match &expr.kind {
        ExprKind::Literal(Value::Text(_) | Value::Bytes(_)) => {
            ctx.once(expr, |ctx| expr.eval_bool(ctx, row))
        }
        _ => expr.eval_bool(ctx, row),
    }
}

/// The moment that a constant text is beside dates; `None` where it is none, or where taking it for
/// one is warned of.
pub fn date_constant(constant: &Expr, text: &Value, ctx: &mut EvalContext<'_>) -> Option<DateTime> {
    let Value::Text(characters) = text else { return None };
    convert::check_date_constant(characters, &constant.ty).ok()?;
    let (warned, count) = (ctx.mark_warnings(), ctx.warnings.count);
    let moment = convert::to_datetime_for_compare(text, &constant.ty, ctx).ok();
    let silent = ctx.warnings.count == count;
    ctx.forget_warnings(warned);
    moment.filter(|_| silent)
}

/// A value as a DOUBLE; a constant that is no number warns once a statement.
pub(crate) fn real(expr: &Expr, value: &Value, ctx: &mut EvalContext<'_>) -> Result<f64> {
    match is_constant(expr) && is_string(value) {
        true => ctx.once(expr, |ctx| convert::to_real(value, &expr.ty, ctx)),
        false => convert::to_real(value, &expr.ty, ctx),
    }
}

/// Orders two values that are not NULL; either may be a constant.
pub(crate) fn compare(
    class: &CmpClass,
    (left, l): (&Expr, &Value),
    (right, r): (&Expr, &Value),
    ctx: &mut EvalContext<'_>,
) -> Result<Ordering> {
    let sides = ((l, &left.ty), (r, &right.ty));
    match class {
        CmpClass::Text(_) | CmpClass::Binary | CmpClass::Int | CmpClass::Json => {
            compare::compare(class, sides.0, sides.1, ctx)
        }
        CmpClass::Real | CmpClass::Decimal => {
            // A constant that is no number warns once a statement. Beside a DECIMAL column it
            // warns as a decimal: only the warnings of its first conversion count.
            for (constant, value, other) in [(left, l, &right.ty), (right, r, &left.ty)] {
                if is_constant(constant) && is_string(value) {
                    if other.stored && other.class() == TypeClass::Decimal {
                        ctx.once(constant, |ctx| convert::to_decimal(value, &constant.ty, ctx))?;
                    }
                    return ctx
                        .once(constant, |ctx| compare::compare(class, sides.0, sides.1, ctx));
                }
            }
            compare::compare(class, sides.0, sides.1, ctx)
        }
        CmpClass::Dates => {
            for (constant, value, other) in [(left, l, right), (right, r, left)] {
                // A text that is no date is error 1525; such a number compares as a number.
                if let (true, Value::Text(text)) = (is_constant(constant), value) {
                    convert::check_date_constant(text, &other.ty)?;
                }
                if is_constant(constant) && is_number(value) {
                    let dated =
                        ctx.once(constant, |ctx| means_date(value, constant, other, ctx))?;
                    if !dated {
                        return compare::compare(&CmpClass::Decimal, sides.0, sides.1, ctx);
                    }
                }
            }
            compare::compare(class, sides.0, sides.1, ctx)
        }
        CmpClass::Times => {
            // A number that is no time compares as a number, anything else as a text.
            for (constant, value, other) in [(left, l, right), (right, r, left)] {
                if is_constant(constant)
                    && is_number(value)
                    && !number_is_time(value, &constant.ty, ctx)?
                {
                    ctx.once(constant, |ctx| wrong_time(value, &constant.ty, other, ctx))?;
                    return compare::compare(&CmpClass::Decimal, sides.0, sides.1, ctx);
                }
                if is_constant(constant) && !is_time(value) {
                    ctx.once(constant, |ctx| wrong_time(value, &constant.ty, other, ctx))?;
                    let (l, r) = (convert::to_text(l, &left.ty), convert::to_text(r, &right.ty));
                    return Ok(collate::compare(ctx.env.collation, &l, &r));
                }
            }
            compare::compare(class, sides.0, sides.1, ctx)
        }
    }
}

/// As [`compare`] for an item of a list of several: a constant that is no date beside a date counts
/// as the zero date, with a warning.
pub(crate) fn compare_listed(
    class: &CmpClass,
    (value, v): (&Expr, &Value),
    (item, i): (&Expr, &Value),
    ctx: &mut EvalContext<'_>,
) -> Result<Ordering> {
    if let (CmpClass::Dates, true, Value::Text(text)) = (class, is_constant(item), i)
        && convert::check_date_constant(text, &value.ty).is_err()
    {
        ctx.once(item, |ctx| warn_of_date(i, &item.ty, value, 1, ctx))?;
        let moment = convert::to_datetime_for_compare(v, &value.ty, ctx)?;
        return Ok(moment.cmp(&DateTime::ZERO));
    }
    compare(class, (value, v), (item, i), ctx)
}

/// Whether this is a text literal that is no date.
pub(crate) fn is_no_date(expr: &Expr) -> bool {
    let ExprKind::Literal(Value::Text(text)) = &expr.kind else { return false };
    convert::check_date_constant(text, &expr.ty).is_err()
}

/// Error 1525 where a date is compared with a constant that is none, whatever rows there are.
pub fn wrong_date(expr: &Expr) -> Option<SqlError> {
    let mut wrong = None;
    expr.walk(&mut |node| {
        // A list of one item is an `=`.
        let (class, sides) = match &node.kind {
            ExprKind::Compare(node) => (&node.class, [&node.left, &node.right]),
            ExprKind::In(list) => match &list.items[..] {
                [(class, item)] => (class, [&list.value, item]),
                _ => return,
            },
            _ => return,
        };
        if *class != CmpClass::Dates {
            return;
        }
        for (constant, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            if let (None, ExprKind::Literal(Value::Text(text))) = (&wrong, &constant.kind) {
                wrong = convert::check_date_constant(text, &other.ty).err();
            }
        }
    });
    wrong
}

/// As [`compare`] for an operator: beside a DATE that differs from row to row only the date counts
/// of a text that is no constant.
pub(crate) fn compare_operands(
    class: &CmpClass,
    (left, l): (&Expr, &Value),
    (right, r): (&Expr, &Value),
    ctx: &mut EvalContext<'_>,
) -> Result<Ordering> {
    let date = |expr: &Expr| expr.ty.data_type == DataType::Date && reads_rows(expr);
    let text = |expr: &Expr| expr.ty.class() == TypeClass::String && !is_constant(expr);
    if *class != CmpClass::Dates || !(date(left) && text(right) || text(left) && date(right)) {
        return compare(class, (left, l), (right, r), ctx);
    }
    let l = convert::to_datetime_for_compare(l, &left.ty, ctx)?;
    let r = convert::to_datetime_for_compare(r, &right.ty, ctx)?;
    Ok(l.date.cmp(&r.date))
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_))
}

/// Whether a number beside a date is a date. A number that is none brings a warning and compares
/// with the date's number, so that 99 is no zero date.
fn means_date(
    value: &Value,
    constant: &Expr,
    beside: &Expr,
    ctx: &mut EvalContext<'_>,
) -> Result<bool> {
    let mut scratch = EvalContext::new(ctx.env, ctx.host, ctx.subqueries, &[]);
    let is_date = convert::to_datetime(value, &constant.ty, &mut scratch)?.is_some();
    if !is_date {
        warn_of_date(value, &constant.ty, beside, 1, ctx)?;
    }
    Ok(is_date)
}

/// Whether a number beside a TIME column is a time.
fn number_is_time(value: &Value, ty: &ExprType, ctx: &EvalContext<'_>) -> Result<bool> {
    let mut scratch = EvalContext::new(ctx.env, ctx.host, ctx.subqueries, &[]);
    Ok(convert::to_time(value, ty, &mut scratch)?.is_some())
}

/// Whether a constant beside a TIME column is a time; dates have a time of day.
/// Whether a constant is a time, or no text.
pub(crate) fn is_time(value: &Value) -> bool {
    match value {
        Value::Text(text) => {
            Time::parse(text).is_ok_and(|parsed| !parsed.truncated && !parsed.out_of_range)
        }
        _ => true,
    }
}

fn wrong_time(
    value: &Value,
    ty: &ExprType,
    column: &Expr,
    ctx: &mut EvalContext<'_>,
) -> Result<()> {
    let (text, name) = (convert::to_text(value, ty), item_name(column));
    let shown = convert::error_text(text.as_bytes());
    let message = format!("Incorrect time value: '{shown}' for column '{name}' at row 1");
    let error = SqlError::with_message(ErrorCode::TruncatedWrongValue, message);
    ctx.raise(crate::context::Level::Warning, error)
}

/// An operand's name in warnings: a column's bare name, else the operand as it is printed.
pub(crate) fn item_name(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Column { name, .. } | ExprKind::OuterColumn { name, .. } => {
            let last = name.rsplit('.').next().unwrap_or_default();
            last.trim_matches('`').to_owned()
        }
        _ => crate::print::print(expr),
    }
}

/// A value among dates; what is no date is zero, with a warning that names the date `beside`.
pub(crate) fn date_beside(
    value: &Value,
    ty: &ExprType,
    beside: &Expr,
    ctx: &mut EvalContext<'_>,
) -> Result<inia_base::temporal::DateTime> {
    let mut scratch = EvalContext::new(ctx.env, ctx.host, ctx.subqueries, &[]);
    let found = convert::to_datetime_for_compare(value, ty, &mut scratch)?;
    if scratch.warnings.count > 0 {
        warn_of_date(value, ty, beside, ctx.scanned, ctx)?;
    }
    Ok(found)
}

fn warn_of_date(
    value: &Value,
    ty: &ExprType,
    beside: &Expr,
    row: u64,
    ctx: &mut EvalContext<'_>,
) -> Result<()> {
    let kind = if beside.ty.data_type == DataType::Date { "date" } else { "datetime" };
    let text = convert::to_text(value, ty);
    let (shown, name) = (convert::error_text(text.as_bytes()), item_name(beside));
    let message = format!("Incorrect {kind} value: '{shown}' for column '{name}' at row {row}");
    let error = SqlError::with_message(ErrorCode::TruncatedWrongValue, message);
    ctx.raise(crate::context::Level::Warning, error)
}
