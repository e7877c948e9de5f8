//! Mathematics.

use super::types::{constant_int, double, double_null, int, number_like_first, text_null, uint};
use super::{Function, f, ft, node, r, v};
use crate::bind::{arithmetic_node, double_like, num_class, numeric};
use crate::context::Environment;
use crate::convert;
use crate::eval::{Args, FnResult, Stop};
use crate::tree::{ArithOp, Expr, NumClass};
use crate::ty::{ExprType, TypeClass};
use inia_base::datatype::DataType;
use inia_base::decimal::{Decimal, MAX_SCALE};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use std::borrow::Cow;

pub(super) const TABLE: &[Function] = &[
    f("abs", 1, 1, abs_type, abs),
    f("ceil", 1, 1, integral, |a| to_integral(a, f64::ceil, |d| d.ceil())),
    f("ceiling", 1, 1, integral, |a| to_integral(a, f64::ceil, |d| d.ceil())),
    f("floor", 1, 1, integral, |a| to_integral(a, f64::floor, |d| d.floor())),
    ft("round", 1, 2, rounded, round, 0),
    ft("truncate", 2, 2, truncated, round, 1),
    f("sign", 1, 1, int::<21>, sign),
    r("mod", 2, 2, |args, env| {
        let mut args = args.into_iter();
        match (args.next(), args.next()) {
            (Some(left), Some(right)) => Ok(arithmetic_node(ArithOp::Mod, left, right, env)),
            _ => Err(SqlError::new(ErrorCode::WrongParamcountToNativeFct, &[&"mod"])),
        }
    }),
    f("pow", 2, 2, double_null, pow),
    r("power", 2, 2, |args, env| Ok(node("pow", double_null(&mut [], env)?, pow, args, 0))),
    f("sqrt", 1, 1, double_null, |a| match a.real(0)? {
        x if x < 0.0 => Err(Stop::Null),
        x => Ok(Value::Double(x.sqrt())),
    }),
    f("exp", 1, 1, double_null, |a| {
        let x = a.real(0)?;
        a.finite(x.exp())
    }),
    f("ln", 1, 1, double_null, |a| logarithm(a, f64::ln)),
    f("log", 1, 2, double_null, log),
    f("log2", 1, 1, double_null, |a| logarithm(a, f64::log2)),
    f("log10", 1, 1, double_null, |a| logarithm(a, f64::log10)),
    f("sin", 1, 1, double_null, |a| Ok(Value::Double(a.real(0)?.sin()))),
    f("cos", 1, 1, double_null, |a| Ok(Value::Double(a.real(0)?.cos()))),
    f("tan", 1, 1, double_null, |a| Ok(Value::Double(a.real(0)?.tan()))),
    f("cot", 1, 1, double_null, |a| {
        let x = a.real(0)?.tan();
        a.finite(1.0 / x)
    }),
    f("asin", 1, 1, double_null, |a| arc(a, f64::asin)),
    f("acos", 1, 1, double_null, |a| arc(a, f64::acos)),
    f("atan", 1, 2, double_null, atan),
    f("atan2", 1, 2, double_null, atan),
    f(
        "pi",
        0,
        0,
        |_, _| {
            let ty = ExprType::double(false);
            Ok(ExprType {
                data_type: DataType::Double { decimals: Some(6), unsigned: false },
                length: 8,
                decimals: 6,
                ..ty
            })
        },
        |_| Ok(Value::Double(std::f64::consts::PI)),
    ),
    f("degrees", 1, 1, double, |a| {
        let x = a.real(0)?;
        a.finite(x * (180.0 / std::f64::consts::PI))
    }),
    f("radians", 1, 1, double, |a| Ok(Value::Double(a.real(0)? * (std::f64::consts::PI / 180.0)))),
    v("rand", 0, 1, double, rand),
    f("conv", 3, 3, text_null::<65>, conv),
    f("crc32", 1, 1, uint::<10>, |a| Ok(Value::UInt(crc32(&a.bytes(0)?).into()))),
    f("format", 2, 3, format_type, format),
];

fn int_value(wide: i128, a: &Args<'_, '_>) -> FnResult {
    if a.ty.is_unsigned() {
        return match u64::try_from(wide) {
            Ok(v) => Ok(Value::UInt(v)),
            Err(_) => Err(a.out_of_range("BIGINT UNSIGNED")),
        };
    }
    i64::try_from(wide).map(Value::Int).map_err(|_| a.out_of_range("BIGINT"))
}

fn abs_type(args: &mut [Expr], env: &Environment) -> Result<ExprType, SqlError> {
    let like = number_like_first(args, env)?;
    if num_class(&like) != NumClass::Real {
        return Ok(like);
    }
    let mut ty = double_like(&args[0].ty);
    if args[0].ty.hex {
        ty.data_type = DataType::Double { decimals: Some(0), unsigned: true };
    }
    if args[0].ty.class() == TypeClass::Null {
        ty.decimals = 0;
    }
    Ok(ty)
}

fn abs(a: &mut Args<'_, '_>) -> FnResult {
    match num_class(a.ty) {
        NumClass::Int => {
            let wide = a.wide(0)?;
            int_value(wide.abs(), a)
        }
        NumClass::Decimal => Ok(Value::Decimal(a.decimal(0)?.abs())),
        NumClass::Real => Ok(Value::Double(a.real(0)?.abs())),
    }
}

/// BIGINT where the whole digits fit it, else DECIMAL; DOUBLE for doubles.
fn integral(args: &mut [Expr], env: &Environment) -> Result<ExprType, SqlError> {
    let like = number_like_first(args, env)?;
    let nullable = like.nullable;
    Ok(match num_class(&like) {
        NumClass::Real => ExprType::double(nullable),
        NumClass::Int if like.is_unsigned() => ExprType::uint(21, nullable),
        NumClass::Int => ExprType::int(21, nullable),
        NumClass::Decimal => {
            let whole = like.precision().saturating_sub(u32::from(like.decimals));
            match whole {
                0..18 => ExprType::int(21, nullable),
                _ => ExprType::decimal(whole + 1, 0, false, nullable),
            }
        }
    })
}

fn to_integral(
    a: &mut Args<'_, '_>,
    real: fn(f64) -> f64,
    exact: fn(Decimal) -> Result<Decimal, inia_base::decimal::DecimalError>,
) -> FnResult {
    match num_class(a.ty) {
        NumClass::Real => Ok(Value::Double(real(a.real(0)?))),
        NumClass::Int if num_class(a.arg_type(0)) == NumClass::Int => {
            let wide = a.wide(0)?;
            int_value(wide, a)
        }
        class => {
            let value = a.decimal(0)?;
            let whole = exact(value).map_err(|_| a.out_of_range("DECIMAL"))?;
            if class == NumClass::Decimal {
                return Ok(Value::Decimal(whole));
            }
            whole.to_i64().map(Value::Int).map_err(|_| a.out_of_range("BIGINT"))
        }
    }
}

fn rounded(args: &mut [Expr], env: &Environment) -> Result<ExprType, SqlError> {
    round_type(args, env, 1)
}

fn truncated(args: &mut [Expr], env: &Environment) -> Result<ExprType, SqlError> {
    round_type(args, env, 0)
}

/// Rounding up may bring one digit more (`carry`).
fn round_type(args: &mut [Expr], env: &Environment, carry: u32) -> Result<ExprType, SqlError> {
    let like = number_like_first(args, env)?;
    let nullable = super::types::any_null(args);
    let places = match args.get(1) {
        None => Some(0),
        Some(arg) => constant_int(arg),
    };
    Ok(match num_class(&like) {
        NumClass::Real => ExprType::double(nullable),
        NumClass::Int if like.is_unsigned() => ExprType::uint(21, nullable),
        NumClass::Int => ExprType::int(21, nullable),
        NumClass::Decimal => {
            let scale = i64::from(like.decimals);
            let places = match args.get(1) {
                Some(arg) if arg.ty.class() == TypeClass::Null => 0,
                _ => places.unwrap_or(scale).clamp(0, scale).min(MAX_SCALE.into()),
            };
            let grow = if places < scale || args.len() < 2 { carry } else { 0 };
            let precision = like.precision() - (scale - places) as u32 + grow;
            ExprType::decimal(precision.max(1), places as u32, false, nullable)
        }
    })
}

/// ROUND, and TRUNCATE with tag 1.
fn round(a: &mut Args<'_, '_>) -> FnResult {
    let truncate = a.call.tag == 1;
    let class = num_class(a.ty);
    let value = a.value(0)?;
    let places = if a.len() > 1 { a.clamped(1)? } else { 0 };
    match class {
        NumClass::Int => {
            let wide = convert::to_wide(&value, a.arg_type(0), a.ctx)?;
            let Some(digits) = u32::try_from(places.saturating_neg()).ok().filter(|d| *d > 0)
            else {
                return int_value(wide, a);
            };
            if digits > 20 {
                return int_value(0, a);
            }
            let unit = 10i128.pow(digits);
            let half = if truncate { 0 } else { unit / 2 * wide.signum() };
            int_value((wide + half) / unit * unit, a)
        }
        NumClass::Decimal => {
            let value = convert::to_decimal(&value, a.arg_type(0), a.ctx)?;
            let scale = i64::from(a.ty.decimals);
            let places = places.clamp(-66, scale) as i32;
            if truncate {
                return Ok(Value::Decimal(value.truncate(places)));
            }
            value.round(places).map(Value::Decimal).map_err(|_| a.out_of_range("DECIMAL"))
        }
        NumClass::Real => {
            let value = convert::to_real(&value, a.arg_type(0), a.ctx)?;
            Ok(Value::Double(round_real(value, places, truncate)))
        }
    }
}

/// Rounds half to even at a decimal place, as MySQL rounds doubles.
fn round_real(value: f64, places: i64, truncate: bool) -> f64 {
    let places = places.clamp(-400, 400) as i32;
    let unit: f64 = format!("1e{}", places.abs()).parse().unwrap_or(f64::INFINITY);
    let cut = |x: f64| if truncate { x.trunc() } else { x.round_ties_even() };
    if places < 0 && unit.is_infinite() {
        return 0.0;
    }
    let scaled = if places < 0 { value / unit } else { value * unit };
    if places >= 0 && (!unit.is_finite() || !scaled.is_finite()) {
        return value;
    }
    if places < 0 { cut(scaled) * unit } else { cut(scaled) / unit }
}

fn sign(a: &mut Args<'_, '_>) -> FnResult {
    let sign = match num_class(a.arg_type(0)) {
        NumClass::Decimal => {
            let value = a.decimal(0)?;
            if value.is_zero() {
                0
            } else if value.is_negative() {
                -1
            } else {
                1
            }
        }
        NumClass::Int => a.wide(0)?.signum() as i64,
        NumClass::Real => match a.real(0)? {
            x if x > 0.0 => 1,
            x if x < 0.0 => -1,
            _ => 0,
        },
    };
    Ok(Value::Int(sign))
}

fn pow(a: &mut Args<'_, '_>) -> FnResult {
    let (x, y) = (a.real(0)?, a.real(1)?);
    a.finite(x.powf(y))
}

fn bad_logarithm(a: &mut Args<'_, '_>) -> FnResult {
    a.warn(ErrorCode::InvalidArgumentForLogarithm, &[])?;
    Err(Stop::Null)
}

fn logarithm(a: &mut Args<'_, '_>, log: fn(f64) -> f64) -> FnResult {
    match a.real(0)? {
        x if x <= 0.0 => bad_logarithm(a),
        x => Ok(Value::Double(log(x))),
    }
}

fn log(a: &mut Args<'_, '_>) -> FnResult {
    if a.len() == 1 {
        return logarithm(a, f64::ln);
    }
    let (base, x) = (a.real(0)?, a.real(1)?);
    if base <= 0.0 || x <= 0.0 || base == 1.0 {
        return bad_logarithm(a);
    }
    a.finite(x.ln() / base.ln())
}

fn arc(a: &mut Args<'_, '_>, arc: fn(f64) -> f64) -> FnResult {
    match a.real(0)? {
        x if !(-1.0..=1.0).contains(&x) => Err(Stop::Null),
        x => Ok(Value::Double(arc(x))),
    }
}

fn atan(a: &mut Args<'_, '_>) -> FnResult {
    let y = a.real(0)?;
    if a.len() == 1 {
        return Ok(Value::Double(y.atan()));
    }
    Ok(Value::Double(y.atan2(a.real(1)?)))
}

/// MySQL's generator: two linear congruences that feed each other.
fn rand(a: &mut Args<'_, '_>) -> FnResult {
    const MODULUS: u64 = 0x3FFF_FFFF;
    let step = |(one, two): (u64, u64)| {
        let one = one.wrapping_mul(3).wrapping_add(two) % MODULUS;
        let two = one.wrapping_add(two).wrapping_add(33) % MODULUS;
        (one, two)
    };
    let value = |(one, _): (u64, u64)| Value::Double(one as f64 / MODULUS as f64);
    let seeded = |seed: u32| {
        let first = seed.wrapping_mul(0x10001).wrapping_add(55_555_555);
        let second = seed.wrapping_mul(0x1000_0001);
        (u64::from(first) % MODULUS, u64::from(second) % MODULUS)
    };
    if a.len() == 0 {
        let start = a.ctx.host.rand_state().unwrap_or_else(|| {
            let random = super::misc::random_u64();
            ((random >> 32) % MODULUS, (random & 0xFFFF_FFFF) % MODULUS)
        });
        let state = step(start);
        a.ctx.host.set_rand_state(state);
        return Ok(value(state));
    }
    let known = a.expr(0).is_constant_in_statement();
    let key = std::ptr::from_ref(a.call) as usize;
    let seed = match a.nullable(0)?.as_ref() {
        Value::Null => 0,
        value => convert::to_int(value, a.arg_type(0), a.ctx)? as u32,
    };
    if !known {
        return Ok(value(step(seeded(seed))));
    }
    let state = step(*a.ctx.seeded_rand.entry(key).or_insert_with(|| seeded(seed)));
    a.ctx.seeded_rand.insert(key, state);
    Ok(value(state))
}

fn conv(a: &mut Args<'_, '_>) -> FnResult {
    let (from, to) = (a.clamped(1)?, a.clamped(2)?);
    if !(2..=36).contains(&from.unsigned_abs()) || !(2..=36).contains(&to.unsigned_abs()) {
        return Err(Stop::Null);
    }
    converted(a, from, to)
}

/// The first argument's digits of one base in another, as far as its text has some.
pub(super) fn converted(a: &mut Args<'_, '_>, from: i64, to: i64) -> FnResult {
    let ty = a.arg_type(0);
    let text = match ty.hex || matches!(ty.data_type, DataType::Bit(_)) {
        true => Cow::Owned(a.bits(0)?.to_string()),
        false => a.text(0)?,
    };
    if text.is_empty() {
        return Err(Stop::Null);
    }
    let trimmed = text.trim_start();
    let (negative, digits) = match trimmed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let radix = from.unsigned_abs() as u32;
    let valid = digits.chars().take_while(|c| c.is_digit(radix)).count();
    let (mut value, mut overflow): (u64, bool) = (0, false);
    for c in digits[..valid].chars() {
        let digit = u64::from(c.to_digit(radix).unwrap_or(0));
        let next = value.checked_mul(u64::from(radix)).and_then(|v| v.checked_add(digit));
        overflow |= next.is_none();
        value = next.unwrap_or(u64::MAX);
    }
    if (valid == 0 || overflow) && ty.class() == TypeClass::String {
        let shown = convert::error_text(text.as_bytes());
        a.warn(ErrorCode::TruncatedWrongValue, &[&"DECIMAL", &shown])?;
    }
    let value = if negative { value.wrapping_neg() } else { value };
    Ok(Value::Text(in_base(value, to)))
}

/// The digits of a number; a negative base reads the number as signed.
pub(super) fn in_base(value: u64, base: i64) -> String {
    let radix = base.unsigned_abs();
    let negative = base < 0 && (value as i64) < 0;
    let mut rest = if negative { (value as i64).unsigned_abs() } else { value };
    let mut digits = Vec::new();
    loop {
        let digit = std::char::from_digit((rest % radix) as u32, radix as u32).unwrap_or('0');
        digits.push(digit.to_ascii_uppercase());
        rest /= radix;
        if rest == 0 {
            break;
        }
    }
    if negative {
        digits.push('-');
    }
    digits.iter().rev().collect()
}

/// The checksum of ZIP and PNG.
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn format_type(args: &mut [Expr], env: &Environment) -> Result<ExprType, SqlError> {
    let own = std::mem::replace(&mut args[0], Expr::null());
    args[0] = numeric(own);
    let length = u64::from(args[0].ty.length);
    let length = length + length / 3 + 2 + 30;
    Ok(ExprType::text(length, env.collation, true))
}

fn format(a: &mut Args<'_, '_>) -> FnResult {
    let places = a.clamped(1)?.clamp(0, 30) as u8;
    let style = match a.len() {
        3 => number_style(&a.text(2)?),
        _ => number_style("en_us"),
    };
    let text = match num_class(a.arg_type(0)) {
        NumClass::Real => {
            let value = a.real(0)?;
            crate::number::fixed_text(round_real(value, places.into(), false), places)
        }
        _ => {
            let value = a.decimal(0)?;
            let rounded = value.round(places.into()).map_err(|_| a.out_of_range("DECIMAL"))?;
            rounded.with_scale(places).unwrap_or(rounded).to_string()
        }
    };
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.as_str()),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut out = String::from(sign);
    for (i, c) in whole.chars().enumerate() {
        let left = whole.len() - i;
        if i > 0 && left >= 3 && (left - 3).is_multiple_of(style.others) {
            out.push_str(style.separator);
        }
        out.push(c);
    }
    if places > 0 {
        out.push(style.point);
        out.push_str(fraction);
    }
    Ok(Value::Text(out))
}

/// How a locale writes numbers.
struct NumberStyle {
    point: char,
    separator: &'static str,
    /// Digits of a group; the rightmost one always has three.
    others: usize,
}

/// The locales that do not write `1,234.5`, by how they do.
const POINTS: &str = "\
    be_by da_dk de_be de_de de_lu es_ar es_bo es_cl es_co es_ec es_es es_py es_uy es_ve \
    fo_fo hu_hu id_id is_is lt_lt mn_mn nb_no no_no ro_ro ru_ua sq_al tr_tr uk_ua vi_vn";
const NOTHING: &str = "\
    ca_es de_at el_gr eu_es fr_be fr_ca fr_ch fr_fr fr_lu gl_es hr_hr it_it nl_be nl_nl \
    pl_pl pt_br pt_pt sl_si";
const SPACES: &str = "\
    cs_cz es_cr et_ee fi_fi lv_lv mk_mk ru_ru sk_sk sv_fi sv_se";

fn number_style(name: &str) -> NumberStyle {
    let name = name.to_lowercase();
    let among = |names: &str| names.split(' ').any(|other| other == name);
    let (point, separator, others) = match name.as_str() {
        "ar_sa" | "sr_rs" => ('.', "", 3),
        // MySQL's separator is a zero byte.
        "bg_bg" => (',', "\0", 3),
        "de_ch" => ('.', "'", 3),
        "it_ch" | "rm_ch" => (',', "'", 3),
        "en_in" | "ta_in" | "te_in" => ('.', ",", 2),
        _ if among(POINTS) => (',', ".", 3),
        _ if among(NOTHING) => (',', "", 3),
        _ if among(SPACES) => (',', " ", 3),
        _ => ('.', ",", 3),
    };
    NumberStyle { point, separator, others }
}
