//! Strings: cutting, joining, searching. Units are characters, or bytes for binary strings.

use super::types::{
    MAX_BLOB_CHARS, UNKNOWN_CHARS, constant_int, int, joined, string_like_first, string_of,
};
use super::{Function, MANY, f, ft};
use crate::collate;
use crate::context::Environment;
use crate::eval::{Args, FnResult, Stop};
use crate::tree::Expr;
use crate::ty::{ExprType, TypeClass};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::value::Value;

type Ty = Result<ExprType, SqlError>;

pub(super) const TABLE: &[Function] = &[
    f("concat", 1, MANY, |args, env| joined(args, 1, env, "concat"), concat),
    f(
        "concat_ws",
        2,
        MANY,
        |args, env| joined(args, args.len() as u64 - 2, env, "concat_ws"),
        concat_ws,
    ),
    f("substring", 2, 3, substring_type, substring),
    f("substr", 2, 3, substring_type, substring),
    f("mid", 3, 3, substring_type, substring),
    f(
        "left",
        2,
        2,
        |args, env| counted(args, env, "left"),
        |a| {
            let (text, count) = (a.units(0)?, a.clamped(1)?);
            let cut: String = text.chars().take(count.max(0) as usize).collect();
            a.string(cut)
        },
    ),
    f(
        "right",
        2,
        2,
        |args, env| counted(args, env, "right"),
        |a| {
            let (text, count) = (a.units(0)?, a.clamped(1)?);
            let skip = text.chars().count().saturating_sub(count.max(0) as usize);
            let cut: String = text.chars().skip(skip).collect();
            a.string(cut)
        },
    ),
    f(
        "substring_index",
        3,
        3,
        |args, env| string_like_first(args, u64::from(args[0].ty.length), env),
        substring_index,
    ),
    ft("lpad", 3, 3, pad_type, pad, 0),
    ft("rpad", 3, 3, pad_type, pad, 1),
    ft("trim", 1, 2, trim_type, trim, 3),
    ft("trim_leading", 1, 2, trim_type, trim, 1),
    ft("trim_trailing", 1, 2, trim_type, trim, 2),
    ft("ltrim", 1, 1, trim_type, trim, 1),
    ft("rtrim", 1, 1, trim_type, trim, 2),
    f("upper", 1, 1, same, |a| recase(a, Collation::upper)),
    f("ucase", 1, 1, same, |a| recase(a, Collation::upper)),
    f("lower", 1, 1, same, |a| recase(a, Collation::lower)),
    f("lcase", 1, 1, same, |a| recase(a, Collation::lower)),
    f(
        "replace",
        3,
        3,
        |args, env| {
            let own = u64::from(args[0].ty.length);
            let to = args[2].ty.length_in(string_like_first(args, own, env)?.collation());
            let length = own.saturating_mul(to.saturating_sub(2).saturating_add(1));
            string_like_first(args, length.min(u64::from(u32::MAX)), env)
        },
        |a| {
            let (text, from, to) = (a.units(0)?, a.converted(1)?, a.converted(2)?);
            if from.is_empty() {
                return a.string(text.into_owned());
            }
            a.string(text.replace(from.as_ref(), &to))
        },
    ),
    f("reverse", 1, 1, same, |a| {
        let reversed: String = a.units(0)?.chars().rev().collect();
        a.string(reversed)
    }),
    f(
        "repeat",
        2,
        2,
        |args, env| {
            let length = match constant_int(&args[1]) {
                Some(count) => {
                    let count = count.max(0) as u64;
                    u64::from(args[0].ty.length).saturating_mul(count).min(MAX_BLOB_CHARS)
                }
                None => UNKNOWN_CHARS,
            };
            string_of(&args[..1], length, true, env, "repeat")
        },
        |a| {
            let (text, count) = (a.units(0)?, a.clamped(1)?.max(0) as usize);
            let limit = a.ctx.env.max_allowed_packet;
            if text.len().saturating_mul(count) > limit {
                return a.too_long();
            }
            a.string(text.repeat(count))
        },
    ),
    f(
        "space",
        1,
        1,
        |args, env| {
            let count = match constant_int(&args[0]) {
                Some(count) => (count.max(0) as u64).min(MAX_BLOB_CHARS),
                None if args[0].ty.data_type == DataType::Null => 0,
                None => UNKNOWN_CHARS,
            };
            Ok(ExprType::text(count, env.collation, true))
        },
        |a| {
            let count = a.clamped(0)?.max(0) as usize;
            if count > a.ctx.env.max_allowed_packet {
                return a.too_long();
            }
            a.string(" ".repeat(count))
        },
    ),
    f(
        "insert",
        4,
        4,
        |args, env| {
            let own = u64::from(args[0].ty.length);
            let new = args[3].ty.length_in(string_like_first(args, own, env)?.collation());
            string_like_first(args, own + new, env)
        },
        insert,
    ),
    ft("instr", 2, 2, int::<11>, find, 0),
    ft("locate", 2, 3, int::<11>, find, 1),
    ft("position", 2, 2, int::<11>, find, 1),
    f("length", 1, 1, int::<10>, |a| Ok(Value::Int(a.bytes(0)?.len() as i64))),
    f("octet_length", 1, 1, int::<10>, |a| Ok(Value::Int(a.bytes(0)?.len() as i64))),
    f("bit_length", 1, 1, int::<10>, |a| Ok(Value::Int(a.bytes(0)?.len() as i64 * 8))),
    f("char_length", 1, 1, int::<10>, char_length),
    f("character_length", 1, 1, int::<10>, char_length),
];

fn same(args: &mut [Expr], env: &Environment) -> Ty {
    string_of(args, u64::from(args[0].ty.length), true, env, "")
}

fn concat(a: &mut Args<'_, '_>) -> FnResult {
    let mut out = String::new();
    for i in 0..a.len() {
        let part = a.units(i)?;
        out.push_str(&part);
    }
    a.string(out)
}

fn concat_ws(a: &mut Args<'_, '_>) -> FnResult {
    let separator = a.units(0)?;
    let mut parts = Vec::new();
    for i in 1..a.len() {
        match a.units(i) {
            Ok(part) => parts.push(part),
            Err(Stop::Null) => {}
            Err(error) => return Err(error),
        }
    }
    a.string(parts.join(separator.as_ref()))
}

/// LEFT and RIGHT: as long as the count, where that is constant.
fn counted(args: &mut [Expr], env: &Environment, name: &str) -> Ty {
    let own = u64::from(args[0].ty.length);
    let length = constant_int(&args[1]).map_or(own, |count| own.min(count.max(0) as u64));
    string_of(&args[..1], length, true, env, name)
}

fn substring_type(args: &mut [Expr], env: &Environment) -> Ty {
    let own = i64::from(args[0].ty.length);
    let mut length = own;
    if let Some(start) = constant_int(&args[1]) {
        length = match start {
            0 => 0,
            1.. => (own - start + 1).max(0),
            _ if start.saturating_neg() > own => 0,
            _ => -start,
        };
    }
    if let Some(count) = args.get(2).and_then(constant_int) {
        length = length.min(count.max(0));
    }
    string_of(&args[..1], length as u64, true, env, "substr")
}

fn substring(a: &mut Args<'_, '_>) -> FnResult {
    let text = a.units(0)?;
    let start = a.clamped(1)?;
    let count = if a.len() > 2 { a.clamped(2)? } else { i64::MAX };
    let length = text.chars().count() as i64;
    let start = match start {
        0 => return a.string(String::new()),
        1.. => start - 1,
        _ => length + start,
    };
    if start < 0 || start >= length || count <= 0 {
        return a.string(String::new());
    }
    let cut: String = text.chars().skip(start as usize).take(count as usize).collect();
    a.string(cut)
}

fn substring_index(a: &mut Args<'_, '_>) -> FnResult {
    let (text, separator, count) = (a.units(0)?, a.converted(1)?, a.clamped(2)?);
    if separator.is_empty() || count == 0 || text.is_empty() {
        return a.string(String::new());
    }
    let places: Vec<usize> = match count > 0 {
        true => text.match_indices(separator.as_ref()).map(|(at, _)| at).collect(),
        false => text.rmatch_indices(separator.as_ref()).map(|(at, _)| at).collect(),
    };
    let wanted = usize::try_from(count.unsigned_abs() - 1).unwrap_or(usize::MAX);
    let cut = match places.get(wanted) {
        None => text.as_ref(),
        Some(at) if count > 0 => &text[..*at],
        Some(at) => &text[at + separator.len()..],
    };
    let cut = cut.to_owned();
    a.string(cut)
}

fn pad_type(args: &mut [Expr], env: &Environment) -> Ty {
    let length = match constant_int(&args[1]) {
        // A negative length counts as the longest.
        Some(length) => u64::try_from(length).unwrap_or(u64::MAX).min(MAX_BLOB_CHARS),
        None => UNKNOWN_CHARS,
    };
    string_like_first(args, length, env)
}

/// LPAD, and RPAD with tag 1.
fn pad(a: &mut Args<'_, '_>) -> FnResult {
    let (text, length, fill) = (a.units(0)?, a.clamped(1)?, a.converted(2)?);
    let length = usize::try_from(length).map_err(|_| Stop::Null)?;
    let own = text.chars().count();
    if length <= own {
        let cut: String = text.chars().take(length).collect();
        return a.string(cut);
    }
    if length > a.ctx.env.max_allowed_packet {
        return a.too_long();
    }
    if fill.is_empty() {
        return a.string(String::new());
    }
    let padding: String = fill.chars().cycle().take(length - own).collect();
    let right = a.call.tag == 1;
    a.string(if right { format!("{text}{padding}") } else { format!("{padding}{text}") })
}

fn trim_type(args: &mut [Expr], env: &Environment) -> Ty {
    string_like_first(args, u64::from(args[0].ty.length), env)
}

/// Tag bit 0: at the start; bit 1: at the end.
fn trim(a: &mut Args<'_, '_>) -> FnResult {
    let text = a.units(0)?;
    let what = match a.len() {
        1 => " ".into(),
        _ => a.converted(1)?,
    };
    let mut rest = text.as_ref();
    if !what.is_empty() {
        while a.call.tag & 1 != 0
            && let Some(shorter) = rest.strip_prefix(what.as_ref())
        {
            rest = shorter;
        }
        while a.call.tag & 2 != 0
            && let Some(shorter) = rest.strip_suffix(what.as_ref())
        {
            rest = shorter;
        }
    }
    let rest = rest.to_owned();
    a.string(rest)
}

fn recase(a: &mut Args<'_, '_>, change: fn(Collation, &str) -> String) -> FnResult {
    if a.is_binary() {
        return Ok(Value::Bytes(a.bytes(0)?.into_owned()));
    }
    let text = a.text(0)?;
    Ok(Value::Text(change(a.ty.collation(), &text)))
}

fn insert(a: &mut Args<'_, '_>) -> FnResult {
    let (text, start, count, new) = (a.units(0)?, a.clamped(1)?, a.clamped(2)?, a.converted(3)?);
    let length = text.chars().count() as i64;
    // A start is looked for among the bytes first: one right behind the last character is at the
    // end where that character has several.
    let bytes = match a.is_binary() {
        true => length,
        false => a.ty.collation().charset().encode(&text).len() as i64,
    };
    if start < 1 || start > length + 1 || start > bytes {
        return a.string(text.into_owned());
    }
    let count = if count < 0 { length } else { count };
    let head: String = text.chars().take(start as usize - 1).collect();
    let end = (start - 1).saturating_add(count).min(length) as usize;
    let tail: String = text.chars().skip(end).collect();
    a.string(format!("{head}{new}{tail}"))
}

/// INSTR(text, part), and LOCATE(part, text[, start]) with tag 1: a place in units from 1. The
/// text's collation decides, whatever the part's is.
fn find(a: &mut Args<'_, '_>) -> FnResult {
    let (text_at, part_at) = if a.call.tag == 1 { (1, 0) } else { (0, 1) };
    let collation = collate::own(a.arg_type(text_at), a.ctx.env.collation).0;
    let start = if a.len() > 2 { a.clamped(2)? } else { 1 };
    if collation == Collation::BINARY {
        let (text, part) = (a.bytes(text_at)?, a.bytes(part_at)?);
        let from = usize::try_from(start.saturating_sub(1)).unwrap_or(usize::MAX);
        if from > text.len() {
            return Ok(Value::Int(0));
        }
        let found = collation.find(&text, &part, from);
        return Ok(Value::Int(found.map_or(0, |at| at as i64 + 1)));
    }
    let (text, part) = (a.text(text_at)?, a.text(part_at)?);
    let skip = usize::try_from(start.saturating_sub(1)).unwrap_or(usize::MAX);
    let from = match text.char_indices().map(|(at, _)| at).nth(skip) {
        Some(at) => at,
        None if skip == text.chars().count() => text.len(),
        None => return Ok(Value::Int(0)),
    };
    if part.is_empty() {
        // The empty string is at a byte.
        return Ok(Value::Int(collation.charset().encode(&text[..from]).len() as i64 + 1));
    }
    let found = collation.find(text.as_bytes(), part.as_bytes(), from);
    Ok(Value::Int(found.map_or(0, |at| text[..at].chars().count() as i64 + 1)))
}

fn char_length(a: &mut Args<'_, '_>) -> FnResult {
    let ty = a.arg_type(0);
    if ty.class() == TypeClass::String && !ty.is_text() {
        return Ok(Value::Int(a.bytes(0)?.len() as i64));
    }
    Ok(Value::Int(a.text(0)?.chars().count() as i64))
}
