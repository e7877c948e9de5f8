//! Regular expressions. The pattern language is close to MySQL's (ICU's). No pattern can take long:
//! one without back-references and look-around is matched in linear time, and others give up after
//! a number of steps.

mod engine;
mod translate;

use super::types::{any_null, string_of};
use super::{Function, f};
use crate::collate;
use crate::eval::{Args, FnResult, Stop};
use crate::tree::{Expr, ExprKind};
use crate::ty::{ExprType, TypeClass};
use engine::{Engine, Groups};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Compiled patterns that a thread keeps.
const CACHED: usize = 32;

pub(super) const TABLE: &[Function] = &[
    f(
        "regexp_like",
        2,
        3,
        |args, _| {
            check_sets(&args[..2], "regexp_like")?;
            Ok(ExprType::bool(any_null(args)))
        },
        |a| {
            let text = characters(a, 0)?;
            let regex = pattern(a, 2)?;
            Ok(Value::Int(regex.is_match(&text)?.into()))
        },
    ),
    f(
        "regexp_instr",
        2,
        6,
        |args, _| {
            check_sets(&args[..2], "regexp_instr")?;
            Ok(ExprType::int(21, any_null(args)))
        },
        instr,
    ),
    f(
        "regexp_substr",
        2,
        5,
        |args, env| {
            check_sets(&args[..2], "regexp_substr")?;
            string_of(&args[..2], u64::from(args[0].ty.length), true, env, "regexp_substr")
        },
        substr,
    ),
    f(
        "regexp_replace",
        3,
        6,
        |args, env| {
            check_sets(&args[..3], "regexp_replace")?;
            string_of(&args[..2], 4_194_304, true, env, "regexp_replace")
        },
        replace,
    ),
];

fn error(code: ErrorCode) -> Stop {
    Stop::Error(SqlError::new(code, &[]))
}

/// Error 3995: text does not mix with VARBINARY, which all strings of bytes are that functions and
/// literals make. BINARY, BLOB and BIT mix with either.
fn check_sets(args: &[Expr], name: &str) -> Result<(), SqlError> {
    let kind = |expr: &Expr| match &expr.ty.data_type {
        _ if matches!(expr.kind, ExprKind::Param(_)) => None,
        DataType::VarBinary(_) => Some(false),
        _ if expr.ty.is_text() => Some(true),
        _ => None,
    };
    let mut kinds = args.iter().filter_map(|arg| kind(arg).map(|kind| (arg, kind)));
    let Some((_, first)) = kinds.next() else { return Ok(()) };
    match kinds.find(|(_, kind)| *kind != first) {
        Some((other, _)) => {
            let set = |operand: &Expr| operand.ty.collation().name();
            let args: [&dyn std::fmt::Display; 3] = [&set(&args[0]), &set(other), &name];
            Err(SqlError::new(ErrorCode::CharacterSetMismatch, &args))
        }
        None => Ok(()),
    }
}

/// A string that takes part in a match: each byte of one of bytes counts as a character.
fn characters<'a>(a: &mut Args<'a, '_>, i: usize) -> Result<Cow<'a, str>, Stop> {
    let ty = a.arg_type(i);
    let of_bytes = match ty.data_type {
        DataType::Bit(_) => true,
        _ => ty.class() == TypeClass::String && !ty.is_text(),
    };
    if !of_bytes {
        return a.text(i);
    }
    Ok(Cow::Owned(a.bytes(i)?.iter().map(|byte| char::from(*byte)).collect()))
}

/// The compiled pattern of argument 1 with the flags of argument `flags`.
fn pattern(a: &mut Args<'_, '_>, flags: usize) -> Result<Rc<Engine>, Stop> {
    let operands = [a.expr(0), a.expr(1)];
    let collation = collate::operands_collation(&operands, a.call.name)?;
    let pattern = characters(a, 1)?;
    let name = collation.name();
    let mut options =
        Options { ignore_case: name.contains("_ci") || name.contains("_ai"), ..Options::default() };
    if a.len() > flags {
        for flag in a.text(flags)?.chars() {
            match flag {
                'c' => options.ignore_case = false,
                'i' => options.ignore_case = true,
                'm' => options.multi_line = true,
                'n' => options.dot_newline = true,
                'u' => {}
                _ => {
                    return Err(SqlError::new(ErrorCode::WrongArguments, &[&a.call.name]).into());
                }
            }
        }
    }
    compile(&pattern, options)
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Options {
    ignore_case: bool,
    multi_line: bool,
    dot_newline: bool,
}

fn compile(pattern: &str, options: Options) -> Result<Rc<Engine>, Stop> {
    thread_local! {
        static CACHE: RefCell<HashMap<(String, Options), Rc<Engine>>> = RefCell::default();
    }
    if pattern.is_empty() {
        return Err(error(ErrorCode::RegexpIllegalArgument));
    }
    let key = (pattern.to_owned(), options);
    if let Some(found) = CACHE.with_borrow(|cache| cache.get(&key).cloned()) {
        return Ok(found);
    }
    let regex = Rc::new(Engine::compile(pattern, options)?);
    CACHE.with_borrow_mut(|cache| {
        if cache.len() >= CACHED {
            cache.clear();
        }
        cache.insert(key, Rc::clone(&regex));
    });
    Ok(regex)
}

/// The byte position of the character that argument `i` names, from 1.
fn start(a: &mut Args<'_, '_>, i: usize, text: &str) -> Result<usize, Stop> {
    if a.len() <= i {
        return Ok(0);
    }
    let position = a.clamped(i)?;
    if position < 1 && a.call.name != "regexp_instr" {
        let name = a.call.name;
        return Err(SqlError::new(ErrorCode::WrongParametersToNativeFct, &[&name]).into());
    }
    let skip = usize::try_from(position.saturating_sub(1))
        .map_err(|_| error(ErrorCode::RegexpIndexOutofboundsError))?;
    match text.char_indices().map(|(at, _)| at).nth(skip) {
        Some(at) => Ok(at),
        None if skip == text.chars().count() => Ok(text.len()),
        None => Err(error(ErrorCode::RegexpIndexOutofboundsError)),
    }
}

fn occurrence(a: &mut Args<'_, '_>, i: usize) -> Result<usize, Stop> {
    let count = if a.len() > i { a.clamped(i)? } else { 1 };
    Ok(count.max(1) as usize)
}

fn instr(a: &mut Args<'_, '_>) -> FnResult {
    let text = characters(a, 0)?;
    let regex = pattern(a, 5)?;
    let from = start(a, 2, &text)?;
    let nth = occurrence(a, 3)?;
    let option = if a.len() > 4 { a.clamped(4)? } else { 0 };
    if !(0..=1).contains(&option) {
        let text = "Incorrect arguments to regexp_instr: return_option must be 1 or 0.";
        return Err(SqlError::with_message(ErrorCode::WrongArguments, text).into());
    }
    let end = option == 1;
    let found = regex.find(&text[from..], nth - 1)?;
    Ok(Value::Int(found.map_or(0, |found| {
        let at = from + if end { found.end } else { found.start };
        text[..at].chars().count() as i64 + 1
    })))
}

fn substr(a: &mut Args<'_, '_>) -> FnResult {
    let text = characters(a, 0)?;
    let regex = pattern(a, 4)?;
    let from = start(a, 2, &text)?;
    let nth = occurrence(a, 3)?;
    let found = regex.find(&text[from..], nth - 1)?.ok_or(Stop::Null)?;
    a.string(text[from..][found].to_owned())
}

fn replace(a: &mut Args<'_, '_>) -> FnResult {
    let text = characters(a, 0)?;
    let regex = pattern(a, 5)?;
    let replacement = characters(a, 2)?;
    let from = start(a, 3, &text)?;
    let which = if a.len() > 4 { a.clamped(4)?.max(0) as usize } else { 0 };
    let mut out = String::from(&text[..from]);
    let mut last = from;
    let tail = &text[from..];
    let mut number = 0;
    regex.each(tail, &mut |groups| {
        number += 1;
        if let Some(Some(whole)) = groups.first()
            && (which == 0 || number == which)
        {
            out.push_str(&text[last..from + whole.start]);
            expand(&replacement, groups, tail, &mut out)?;
            last = from + whole.end;
        }
        Ok(())
    })?;
    out.push_str(&text[last..]);
    a.string(out)
}

/// `$1` is a group, `\$` a dollar sign.
fn expand(template: &str, groups: &Groups, text: &str, out: &mut String) -> Result<(), Stop> {
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            '$' => {
                let digit = chars.peek().and_then(|c| c.to_digit(10));
                let digit = digit.ok_or_else(|| error(ErrorCode::RegexpIllegalArgument))?;
                chars.next();
                let group = groups.get(digit as usize);
                let group = group.ok_or_else(|| error(ErrorCode::RegexpIndexOutofboundsError))?;
                out.push_str(group.clone().map_or("", |range| &text[range]));
            }
            c => out.push(c),
        }
    }
    Ok(())
}
