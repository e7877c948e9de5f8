//! Arithmetic with MySQL's rules: integers never wrap (error 1690), exact numbers divide with
//! extra digits, division by zero is NULL.

use crate::cast;
use crate::context::EvalContext;
use crate::convert;
use crate::print;
use crate::tree::{Arith, ArithOp, Expr, NumClass};
use inia_base::decimal::{Decimal, DecimalError};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_base::value::Value;

/// Computes one arithmetic node.
pub(crate) fn eval(
    whole: &Expr,
    node: &Arith,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Value, SqlError> {
    let left = node.left.eval_ref(ctx, row)?;
    let right = node.right.eval_ref(ctx, row)?;
    let (lt, rt) = (&node.left.ty, &node.right.ty);
    // NULL is the result, but DOUBLE arithmetic still converts the other operand: MySQL warns of
    // a text that is no number.
    if *left == Value::Null || *right == Value::Null {
        if node.class == NumClass::Real {
            convert::to_real(&left, lt, ctx)?;
            convert::to_real(&right, rt, ctx)?;
        }
        return Ok(Value::Null);
    }
    match node.class {
        NumClass::Int => {
            // Signed operands without overflow are the common case. A division by zero has no
            // small result either and is found below.
            if let (Value::Int(l), Value::Int(r)) = (&*left, &*right)
                && let Some(result) = small_int(node.op, *l, *r)
                && !whole.ty.is_unsigned()
            {
                return Ok(Value::Int(result));
            }
            let l = convert::to_wide(&left, lt, ctx)?;
            let r = convert::to_wide(&right, rt, ctx)?;
            if r == 0 && matches!(node.op, ArithOp::IntDiv | ArithOp::Mod) {
                return division_by_zero(ctx);
            }
            int_result(int(node.op, l, r), whole)
        }
        NumClass::Real => {
            let l = convert::to_real(&left, lt, ctx)?;
            let r = convert::to_real(&right, rt, ctx)?;
            if r == 0.0 && matches!(node.op, ArithOp::Div | ArithOp::IntDiv | ArithOp::Mod) {
                return division_by_zero(ctx);
            }
            let result = real(node.op, l, r);
            if !result.is_finite() {
                return Err(out_of_range("DOUBLE", whole));
            }
            Ok(Value::Double(result))
        }
        NumClass::Decimal => {
            let l = convert::to_decimal(&left, lt, ctx)?;
            let r = convert::to_decimal(&right, rt, ctx)?;
            // DIV of decimals has an integer result, with the range of its BIGINT type.
            if node.op == ArithOp::IntDiv {
                return int_div(l, r, whole, ctx);
            }
            match decimal(node.op, l, r, ctx.env.div_precision_increment) {
                Ok(result) if ctx.keeps_scale => Ok(Value::Decimal(result)),
                Ok(result) => Ok(cast::padded(Value::Decimal(result), &whole.ty)),
                Err(DecimalError::DivideByZero) => division_by_zero(ctx),
                Err(DecimalError::Overflow) => Err(out_of_range("DECIMAL", whole)),
            }
        }
    }
}

#[inline]
fn small_int(op: ArithOp, l: i64, r: i64) -> Option<i64> {
    match op {
        ArithOp::Add => l.checked_add(r),
        ArithOp::Sub => l.checked_sub(r),
        ArithOp::Mul => l.checked_mul(r),
        ArithOp::Mod => l.checked_rem(r),
        ArithOp::IntDiv => l.checked_div(r),
        ArithOp::Div => None,
    }
}

fn int(op: ArithOp, l: i128, r: i128) -> Option<i128> {
    match op {
        ArithOp::Add => l.checked_add(r),
        ArithOp::Sub => l.checked_sub(r),
        ArithOp::Mul => l.checked_mul(r),
        ArithOp::Mod => l.checked_rem(r),
        ArithOp::IntDiv | ArithOp::Div => l.checked_div(r),
    }
}

fn int_result(result: Option<i128>, whole: &Expr) -> Result<Value, SqlError> {
    let unsigned = whole.ty.is_unsigned();
    let fitted = result.and_then(|wide| {
        if unsigned {
            u64::try_from(wide).ok().map(Value::UInt)
        } else {
            i64::try_from(wide).ok().map(Value::Int)
        }
    });
    fitted.ok_or_else(|| out_of_range(int_name(unsigned), whole))
}

fn int_name(unsigned: bool) -> &'static str {
    if unsigned { "BIGINT UNSIGNED" } else { "BIGINT" }
}

fn real(op: ArithOp, l: f64, r: f64) -> f64 {
    match op {
        ArithOp::Add => l + r,
        ArithOp::Sub => l - r,
        ArithOp::Mul => l * r,
        ArithOp::Div => l / r,
        ArithOp::IntDiv => (l / r).trunc(),
        ArithOp::Mod => l % r,
    }
}

fn decimal(op: ArithOp, l: Decimal, r: Decimal, increment: u8) -> Result<Decimal, DecimalError> {
    match op {
        ArithOp::Add => l.add(r),
        ArithOp::Sub => l.sub(r),
        ArithOp::Mul => l.mul(r),
        ArithOp::Div => l.div(r, increment),
        ArithOp::IntDiv => l.div_integer(r),
        ArithOp::Mod => l.rem(r),
    }
}

fn int_div(
    l: Decimal,
    r: Decimal,
    whole: &Expr,
    ctx: &mut EvalContext<'_>,
) -> Result<Value, SqlError> {
    let unsigned = whole.ty.is_unsigned();
    let error = || out_of_range(int_name(unsigned), whole);
    match l.div_integer(r) {
        Err(DecimalError::DivideByZero) => division_by_zero(ctx),
        Err(DecimalError::Overflow) => Err(error()),
        Ok(quotient) if unsigned => quotient.to_u64().map(Value::UInt).map_err(|_| error()),
        Ok(quotient) => quotient.to_i64().map(Value::Int).map_err(|_| error()),
    }
}

/// NULL, with warning 1365 where the mode asks for it.
fn division_by_zero(ctx: &mut EvalContext<'_>) -> Result<Value, SqlError> {
    if ctx.mode().has(SqlMode::ERROR_FOR_DIVISION_BY_ZERO) {
        ctx.warn(ErrorCode::DivisionByZero, &[])?;
    }
    Ok(Value::Null)
}

/// Unary minus.
pub(crate) fn negate(
    whole: &Expr,
    inner: &Expr,
    class: NumClass,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Value, SqlError> {
    let value = inner.eval_ref(ctx, row)?;
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    match class {
        NumClass::Int => {
            let wide = convert::to_wide(&value, &inner.ty, ctx)?;
            int_result(wide.checked_neg(), whole)
        }
        NumClass::Real => Ok(Value::Double(-convert::to_real(&value, &inner.ty, ctx)?)),
        NumClass::Decimal => Ok(Value::Decimal(convert::to_decimal(&value, &inner.ty, ctx)?.neg())),
    }
}

/// Error 1690 for an expression.
pub(crate) fn out_of_range(kind: &str, whole: &Expr) -> SqlError {
    SqlError::new(ErrorCode::DataOutOfRange, &[&kind, &print::print(whole)])
}
