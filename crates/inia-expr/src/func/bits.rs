//! Bit operations: on 64-bit integers, and byte by byte on binary strings of equal length.

use super::types::any_null;
use super::{Function, f, ft};
use crate::bind::numeric;
use crate::context::Environment;
use crate::eval::{Args, FnResult};
use crate::tree::{Expr, ExprKind};
use crate::ty::{ExprType, TypeClass};
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

pub(super) const TABLE: &[Function] = &[
    ft("|", 2, 2, pair, bitwise, 0),
    ft("&", 2, 2, pair, bitwise, 1),
    ft("^", 2, 2, pair, bitwise, 2),
    ft("<<", 2, 2, shifted, shift, 0),
    ft(">>", 2, 2, shifted, shift, 1),
    f("~", 1, 1, shifted, |a| {
        if a.is_binary_call() {
            return Ok(Value::Bytes(a.bytes(0)?.iter().map(|b| !b).collect()));
        }
        Ok(Value::UInt(!a.bits(0)?))
    }),
    f(
        "bit_count",
        1,
        1,
        |args, _| {
            if !is_bytes(&args[0]) {
                to_numbers(args);
            }
            Ok(ExprType::int(21, any_null(args)))
        },
        |a| {
            if a.arg_type(0).class() == TypeClass::String && !a.arg_type(0).is_text() {
                let ones: u32 = a.bytes(0)?.iter().map(|b| b.count_ones()).sum();
                return Ok(Value::Int(ones.into()));
            }
            Ok(Value::Int(a.bits(0)?.count_ones().into()))
        },
    ),
];

fn is_bytes(arg: &Expr) -> bool {
    arg.ty.class() == TypeClass::String
        && arg.ty.collation() == Collation::BINARY
        && !matches!(arg.kind, ExprKind::HexLiteral(_))
}

fn to_numbers(args: &mut [Expr]) {
    for arg in args {
        let own = std::mem::replace(arg, Expr::null());
        *arg = numeric(own);
    }
}

/// Both operands binary strings, at least one of them not a bare hexadecimal literal.
fn pair(args: &mut [Expr], _: &Environment) -> Result<ExprType, SqlError> {
    let binary = |arg: &Expr| is_bytes(arg) || matches!(arg.kind, ExprKind::HexLiteral(_));
    let nullable = any_null(args);
    if args.iter().all(binary) && args.iter().any(is_bytes) {
        return Ok(ExprType::binary(u64::from(args[0].ty.length), nullable));
    }
    to_numbers(args);
    Ok(ExprType::uint(21, nullable))
}

fn shifted(args: &mut [Expr], _: &Environment) -> Result<ExprType, SqlError> {
    let nullable = any_null(args);
    if is_bytes(&args[0]) {
        return Ok(ExprType::binary(u64::from(args[0].ty.length), nullable));
    }
    to_numbers(args);
    Ok(ExprType::uint(21, nullable))
}

impl Args<'_, '_> {
    fn is_binary_call(&self) -> bool {
        self.ty.class() == TypeClass::String
    }
}

fn bitwise(a: &mut Args<'_, '_>) -> FnResult {
    let tag = a.call.tag;
    if a.is_binary_call() {
        let (left, right) = (a.bytes(0)?, a.bytes(1)?);
        if left.len() != right.len() {
            return Err(SqlError::new(ErrorCode::InvalidBitwiseOperandsSize, &[]).into());
        }
        let pairs = left.iter().zip(right.iter());
        let bytes = pairs.map(|(l, r)| match tag {
            0 => l | r,
            1 => l & r,
            _ => l ^ r,
        });
        return Ok(Value::Bytes(bytes.collect()));
    }
    let (left, right) = (a.bits(0), a.bits(1));
    let (left, right) = (left?, right?);
    Ok(Value::UInt(match tag {
        0 => left | right,
        1 => left & right,
        _ => left ^ right,
    }))
}

fn shift(a: &mut Args<'_, '_>) -> FnResult {
    let left_shift = a.call.tag == 0;
    if a.is_binary_call() {
        let (bytes, count) = (a.bytes(0)?, a.bits(1)?);
        return Ok(Value::Bytes(shift_bytes(&bytes, count, left_shift)));
    }
    let (value, count) = (a.bits(0)?, a.bits(1)?);
    let count = u32::try_from(count).unwrap_or(64);
    let shifted = if left_shift { value.checked_shl(count) } else { value.checked_shr(count) };
    Ok(Value::UInt(shifted.unwrap_or(0)))
}

fn shift_bytes(bytes: &[u8], count: u64, left: bool) -> Vec<u8> {
    let bit = |at: i128| {
        let index = usize::try_from(at / 8).ok().filter(|_| at >= 0);
        let byte = index.and_then(|index| bytes.get(index)).copied().unwrap_or(0);
        byte >> (7 - at.rem_euclid(8)) & 1
    };
    let offset = i128::from(count) * if left { 1 } else { -1 };
    let byte =
        |index: usize| (0..8).fold(0, |byte, i| byte << 1 | bit(index as i128 * 8 + i + offset));
    (0..bytes.len()).map(byte).collect()
}
