//! Rules for result types, shared by the function families.

use crate::bind::unary_class;
use crate::collate;
use crate::context::Environment;
use crate::tree::{Expr, NumClass};
use crate::ty::ExprType;
use inia_base::collation::Collation;
use inia_base::error::SqlError;

type Ty = Result<ExprType, SqlError>;

/// Whether NULL can come from the arguments.
pub(crate) fn any_null(args: &[Expr]) -> bool {
    args.iter().any(|arg| arg.ty.nullable)
}

/// BIGINT of `N` characters, NULL as the arguments.
pub(crate) fn int<const N: u32>(args: &mut [Expr], _: &Environment) -> Ty {
    Ok(ExprType::int(N, any_null(args)))
}

/// BIGINT of `N` characters, NULL possible.
pub(crate) fn int_null<const N: u32>(_: &mut [Expr], _: &Environment) -> Ty {
    Ok(ExprType::int(N, true))
}

/// BIGINT UNSIGNED of `N` characters, NULL as the arguments.
pub(crate) fn uint<const N: u32>(args: &mut [Expr], _: &Environment) -> Ty {
    Ok(ExprType::uint(N, any_null(args)))
}

/// BIGINT UNSIGNED, NULL possible.
pub(crate) fn uint_null<const N: u32>(_: &mut [Expr], _: &Environment) -> Ty {
    Ok(ExprType::uint(N, true))
}

/// A predicate, NULL as the arguments.
pub(crate) fn boolean(args: &mut [Expr], _: &Environment) -> Ty {
    Ok(ExprType::bool(any_null(args)))
}

/// DOUBLE, NULL as the arguments.
pub(crate) fn double(args: &mut [Expr], _: &Environment) -> Ty {
    Ok(ExprType::double(any_null(args)))
}

/// DOUBLE, NULL possible.
pub(crate) fn double_null(_: &mut [Expr], _: &Environment) -> Ty {
    Ok(ExprType::double(true))
}

/// A string in the connection's collation of `N` characters, NULL possible.
pub(crate) fn text_null<const N: u64>(_: &mut [Expr], env: &Environment) -> Ty {
    Ok(ExprType::text(N, env.collation, true))
}

/// Text of `N` characters in the character set of names, NULL possible.
pub(crate) fn system_text_null<const N: u64>(_: &mut [Expr], _: &Environment) -> Ty {
    Ok(ExprType::text(N, Collation::SYSTEM, true))
}

/// JSON, NULL possible.
pub(crate) fn json(_: &mut [Expr], _: &Environment) -> Ty {
    Ok(ExprType::json(true))
}

/// A string of up to `chars` characters in the collation of `args` together.
pub(crate) fn string_of(
    args: &[Expr],
    chars: u64,
    nullable: bool,
    env: &Environment,
    name: &str,
) -> Ty {
    let (collation, coercibility) = collate::aggregate_arguments(args, name, env.collation)?;
    let wide = collation == Collation::BINARY && args.iter().any(|arg| arg.ty.is_text());
    let units = if wide { chars.saturating_mul(4) } else { chars };
    Ok(ExprType::text(units, collation, nullable).with_coercibility(coercibility))
}

/// A string of up to `chars` characters in the first argument's collation, to whose character set
/// [`Args::converted`] brings the others.
///
/// [`Args::converted`]: crate::eval::Args::converted
pub(crate) fn string_like_first(args: &[Expr], chars: u64, env: &Environment) -> Ty {
    let (collation, coercibility) = collate::aggregate_with(&[&args[0].ty], "", env.collation)?;
    Ok(ExprType::text(chars, collation, true).with_coercibility(coercibility))
}

/// The longest string that CONCAT's type admits.
pub(crate) const MAX_BLOB_CHARS: u64 = 4_194_304;

/// The length of a string whose number of characters is not known before it is computed.
pub(crate) const UNKNOWN_CHARS: u64 = 16_777_216;

/// A string that the arguments make up between them, the first of which comes `first` times.
pub(crate) fn joined(args: &[Expr], first: u64, env: &Environment, name: &str) -> Ty {
    let types: Vec<&ExprType> = args.iter().map(|arg| &arg.ty).collect();
    let (collation, coercibility) = collate::aggregate_arguments(args, name, env.collation)?;
    let rest: u64 = types[1..].iter().map(|ty| ty.length_in(collation)).sum();
    let length = types[0].length_in(collation).saturating_mul(first).saturating_add(rest);
    Ok(ExprType::text(length.min(MAX_BLOB_CHARS), collation, true).with_coercibility(coercibility))
}

/// The constant integer value of an argument.
pub(crate) fn constant_int(arg: &Expr) -> Option<i64> {
    use inia_base::value::Value;
    match arg.as_literal()? {
        Value::Int(v) => Some(*v),
        Value::UInt(v) => i64::try_from(*v).ok(),
        Value::Decimal(v) => v.to_i64().ok(),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// Number of the same class as the first argument: ABS, CEILING and their like. Dates, times and
/// hexadecimal literals are strings to them, and so become doubles.
pub(crate) fn number_like_first(args: &mut [Expr], _: &Environment) -> Ty {
    let ty = &args[0].ty;
    Ok(match unary_class(ty) {
        NumClass::Int => {
            let length = ty.length;
            match ty.is_unsigned() {
                true => ExprType::uint(length, ty.nullable),
                false => ExprType::int(length, ty.nullable),
            }
        }
        NumClass::Decimal => ty.clone().into_computed(),
        NumClass::Real => ExprType::double(ty.nullable),
    })
}
