//! Strings: character codes, numerals, quoting, encodings.

use super::types::{int, string_of, text_null};
use super::{Function, MANY, f};
use crate::collate;
use crate::context::Environment;
use crate::eval::{Args, FnResult, Stop};
use crate::tree::Expr;
use crate::ty::{ExprType, TypeClass};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

type Ty = Result<ExprType, SqlError>;

pub(super) const TABLE: &[Function] = &[
    f("ascii", 1, 1, int::<3>, |a| {
        Ok(Value::Int(a.bytes(0)?.first().copied().unwrap_or(0).into()))
    }),
    f("ord", 1, 1, int::<21>, ord),
    f("char", 1, MANY, |args, _| Ok(ExprType::binary(args.len() as u64 * 4, true)), char_of),
    f("hex", 1, 1, hex_type, hex),
    f(
        "unhex",
        1,
        1,
        |args, _| {
            let bytes = u64::from(args[0].ty.length) * if args[0].ty.is_text() { 4 } else { 1 };
            Ok(ExprType::binary(bytes.div_ceil(2), true))
        },
        unhex,
    ),
    f("bin", 1, 1, text_null::<65>, |a| super::numeric::converted(a, 10, 2)),
    f("oct", 1, 1, text_null::<65>, |a| super::numeric::converted(a, 10, 8)),
    f(
        "quote",
        1,
        1,
        |args, env| string_of(args, u64::from(args[0].ty.length) * 2 + 2, true, env, "quote"),
        quote,
    ),
    f(
        "soundex",
        1,
        1,
        |args, env| string_of(args, u64::from(args[0].ty.length).max(4), true, env, "soundex"),
        soundex,
    ),
    f(
        "to_base64",
        1,
        1,
        |args, env| {
            let bytes = u64::from(args[0].ty.length) * if args[0].ty.is_text() { 4 } else { 1 };
            let chars = bytes.div_ceil(3) * 4;
            Ok(ExprType::text(chars + chars.saturating_sub(1) / 76, env.collation, true))
        },
        to_base64,
    ),
    f(
        "from_base64",
        1,
        1,
        |args, _| Ok(ExprType::binary(u64::from(args[0].ty.length) * 3, true)),
        from_base64,
    ),
    f(
        "weight_string",
        1,
        1,
        |args, _| Ok(ExprType::binary(weights(&args[0].ty), true)),
        |a| {
            let collation = a.arg_type(0).collation();
            if !a.arg_type(0).is_text() {
                return Ok(Value::Bytes(a.bytes(0)?.into_owned()));
            }
            let mut out = Vec::new();
            collation.weight_string(a.text(0)?.as_bytes(), &mut out);
            Ok(Value::Bytes(out))
        },
    ),
];

/// How long MySQL says that the weights of a string are.
fn weights(ty: &ExprType) -> u64 {
    let length = u64::from(ty.length);
    if !ty.is_text() {
        return length * u64::from(ty.collation().sort_len().max(1));
    }
    let collation = ty.collation();
    let bytes = u64::from(collation.charset().max_bytes());
    let name = collation.name();
    match collation.sort_len() {
        1 if name == "utf8mb4_0900_bin" || name.starts_with("gb18030") => length * bytes * 4,
        1 if bytes == 4 && collation.is_binary() => length * bytes * 3,
        1 if name.starts_with("utf16") => length * bytes * 4,
        1 if name.starts_with("utf") => length * bytes * 2,
        1 => length * bytes * bytes,
        8 => length * bytes * 8 * bytes,
        2 if name.starts_with("gb18030") => length * bytes * 8,
        4 if name == "latin2_czech_cs" => length * 4 + 4,
        length_of_key @ (2 | 4) => length * bytes * u64::from(length_of_key),
        _ => {
            let levels = levels(name);
            let scripts = u64::from(name.split('_').nth(1).is_some_and(puts_scripts_first));
            length * bytes * 16 * (levels + scripts) + 2 * (levels - 1)
        }
    }
}

/// How many levels of weights a collation of UCA 9.0.0 compares.
fn levels(name: &str) -> u64 {
    match name.rsplit_once('_') {
        Some((_, "ks")) => 4,
        Some((_, "cs")) => 3,
        _ if name.ends_with("as_ci") => 2,
        _ => 1,
    }
}

/// Whether a language's collations order its own script before others.
fn puts_scripts_first(language: &str) -> bool {
    ["bg", "bs", "hr", "ja", "mn", "ru", "sr", "zh"].contains(&language)
}

fn ord(a: &mut Args<'_, '_>) -> FnResult {
    let ty = a.arg_type(0);
    let bytes = a.bytes(0)?;
    if !ty.is_text() {
        return Ok(Value::Int(bytes.first().copied().unwrap_or(0).into()));
    }
    let text = a.text(0)?;
    let first = text.chars().next().map_or(0, char::len_utf8);
    let code = collate::encode(ty.collation(), &text[..first])
        .iter()
        .fold(0i64, |code, b| code << 8 | i64::from(*b));
    Ok(Value::Int(code))
}

fn char_of(a: &mut Args<'_, '_>) -> FnResult {
    let mut out = Vec::new();
    for i in 0..a.len() {
        let code = match a.int(i) {
            Ok(code) => code as u32,
            Err(Stop::Null) => continue,
            Err(error) => return Err(error),
        };
        let bytes = code.to_be_bytes();
        let start = bytes.iter().position(|b| *b != 0).unwrap_or(3);
        out.extend_from_slice(&bytes[start..]);
    }
    Ok(Value::Bytes(out))
}

fn hex_type(args: &mut [Expr], env: &Environment) -> Ty {
    let ty = &args[0].ty;
    let length = match ty.class() {
        TypeClass::Int | TypeClass::Decimal | TypeClass::Real => 16,
        _ if ty.is_text() => {
            let width = ty.collation().charset().max_bytes();
            u64::from(ty.length) * u64::from(width) * 2
        }
        _ => u64::from(ty.length) * 2,
    };
    // Whole columns alone have the greatest length: clients get another type for those.
    const MAX_CHARS: u64 = u32::MAX as u64 / 16;
    Ok(ExprType::text(length.min(MAX_CHARS), env.collation, true))
}

fn hex(a: &mut Args<'_, '_>) -> FnResult {
    let ty = a.arg_type(0);
    if let TypeClass::Int | TypeClass::Decimal | TypeClass::Real = ty.class() {
        return Ok(Value::Text(super::numeric::in_base(a.bits(0)?, 16)));
    }
    let bytes = a.bytes(0)?;
    Ok(Value::Text(hex_text(&bytes)))
}

/// Upper-case hexadecimal digits.
pub(super) fn hex_text(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02X}")).collect()
}

/// Bytes of hexadecimal digits; an odd first digit is a byte of its own.
pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits?;
    let (head, pairs) = digits.split_at(digits.len() % 2);
    let pairs = pairs.chunks(2).map(|pair| pair[0] << 4 | pair[1]);
    Some(head.iter().copied().chain(pairs).collect())
}

fn unhex(a: &mut Args<'_, '_>) -> FnResult {
    let text = a.text(0)?;
    match from_hex(&text) {
        Some(bytes) => Ok(Value::Bytes(bytes)),
        None => {
            let shown = format!("'{text}'");
            a.warn(ErrorCode::WrongValueForType, &[&"string", &shown, &"unhex"])?;
            Err(Stop::Null)
        }
    }
}

fn quote(a: &mut Args<'_, '_>) -> FnResult {
    let text = match a.units(0) {
        Err(Stop::Null) => return a.string(String::from("NULL")),
        other => other?,
    };
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\0' => out.push_str("\\0"),
            '\u{1a}' => out.push_str("\\Z"),
            c => out.push(c),
        }
    }
    out.push('\'');
    a.string(out)
}

fn soundex(a: &mut Args<'_, '_>) -> FnResult {
    let code = |c: char| match c {
        'B' | 'F' | 'P' | 'V' => '1',
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => '2',
        'D' | 'T' => '3',
        'L' => '4',
        'M' | 'N' => '5',
        'R' => '6',
        _ => '0',
    };
    let text = a.units(0)?;
    // Beyond ASCII all characters of a text count as letters.
    let binary = a.is_binary();
    let letter = |c: &char| c.is_ascii_alphabetic() || (!binary && *c >= '\u{c0}');
    let mut letters = text.chars().filter(letter).map(|c| c.to_ascii_uppercase());
    let Some(first) = letters.next() else { return a.string(String::new()) };
    let mut out = String::from(first);
    let mut last = code(first);
    for c in letters {
        let own = code(c);
        if own != '0' && own != last {
            out.push(own);
            last = own;
        }
    }
    while out.chars().count() < 4 {
        out.push('0');
    }
    a.string(out)
}

fn to_base64(a: &mut Args<'_, '_>) -> FnResult {
    Ok(Value::Text(collate::base64(&a.bytes(0)?)))
}

fn from_base64(a: &mut Args<'_, '_>) -> FnResult {
    Ok(Value::Bytes(collate::from_base64(&a.bytes(0)?).ok_or(Stop::Null)?))
}
