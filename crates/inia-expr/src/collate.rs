//! Collations of expressions: which one wins where several meet.

use crate::tree::Expr;
use crate::ty::{Coercibility, ExprType, TypeClass};
use inia_base::collation::{Charset, Collation};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Display;

/// The strength's name in error texts.
fn strength(coercibility: Coercibility) -> &'static str {
    match coercibility {
        Coercibility::Explicit => "EXPLICIT",
        Coercibility::NoCollation => "NONE",
        Coercibility::Implicit => "IMPLICIT",
        Coercibility::SysConst => "SYSCONST",
        Coercibility::Coercible => "COERCIBLE",
        Coercibility::Numeric => "NUMERIC",
        Coercibility::Ignorable => "IGNORABLE",
    }
}

type Pair = (Collation, Coercibility);

/// The collation and strength of one operand of a string operation.
pub(crate) fn own(ty: &ExprType, connection: Collation) -> Pair {
    match ty.class() {
        TypeClass::String => (ty.collation(), ty.coercibility),
        TypeClass::Json => (Collation::UTF8MB4_BIN, ty.coercibility),
        TypeClass::Null => (Collation::BINARY, Coercibility::Ignorable),
        TypeClass::Int if matches!(ty.data_type, inia_base::datatype::DataType::Bit(_)) => {
            (Collation::BINARY, Coercibility::Implicit)
        }
        _ => (connection, Coercibility::Numeric),
    }
}

/// The stronger of two; an error value where neither is.
fn stronger(left: Pair, right: Pair) -> Result<Pair, ()> {
    let ((lc, ls), (rc, rs)) = (left, right);
    if lc == rc {
        return Ok((lc, ls.min(rs)));
    }
    if ls == Coercibility::Explicit && rs == Coercibility::Explicit {
        return Err(());
    }
    if !same_charset(lc, rc) {
        if lc == Collation::BINARY {
            return Ok(if ls <= rs { left } else { right });
        }
        if rc == Collation::BINARY {
            return Ok(if rs <= ls { right } else { left });
        }
        if is_superset(left, right) {
            return Ok(left);
        }
        if is_superset(right, left) {
            return Ok(right);
        }
        if ls < rs && rs >= Coercibility::SysConst {
            return Ok(left);
        }
        if rs < ls && ls >= Coercibility::SysConst {
            return Ok(right);
        }
        return Err(());
    }
    match ls.cmp(&rs) {
        Ordering::Less => Ok(left),
        Ordering::Greater => Ok(right),
        Ordering::Equal if ls == Coercibility::Explicit => Err(()),
        Ordering::Equal if is_bytewise(lc) => Ok(left),
        Ordering::Equal if is_bytewise(rc) => Ok(right),
        Ordering::Equal => Ok((binary_of(lc), Coercibility::NoCollation)),
    }
}

/// Unicode takes in other character sets at equal strength, and utf8mb4 its other sets.
fn is_superset(left: Pair, right: Pair) -> bool {
    let ((lc, ls), (rc, rs)) = (left, right);
    let (left, right) = (lc.charset(), rc.charset());
    // All other sets have the characters of ASCII.
    if right == Charset::Ascii && left != Charset::Ascii && ls == rs {
        return true;
    }
    let wider = !right.is_unicode() || left == Charset::Utf8mb4;
    left.is_unicode() && (ls < rs || (ls == rs && wider))
}

/// The collation of a string made of all operands, for CONCAT, CASE and the like.
pub fn aggregate(
    types: &[&ExprType],
    operation: &str,
) -> Result<(Collation, Coercibility), SqlError> {
    aggregate_with(types, operation, Collation::DEFAULT)
}

/// As [`aggregate`], with the connection's collation for numbers.
pub(crate) fn aggregate_with(
    types: &[&ExprType],
    operation: &str,
    connection: Collation,
) -> Result<(Collation, Coercibility), SqlError> {
    let mut operands = types.iter().map(|ty| own(ty, connection));
    let Some(mut best) = operands.next() else {
        return Ok((connection, Coercibility::Coercible));
    };
    for operand in operands {
        best = stronger(best, operand).map_err(|()| mix_error(types, connection, operation))?;
    }
    if best.1 == Coercibility::Ignorable {
        return Ok(best);
    }
    if best.1 == Coercibility::Numeric {
        best.1 = Coercibility::Coercible;
    }
    Ok(best)
}

/// As [`aggregate_with`], of a function's arguments: error 1267, too, where a literal among them
/// has characters that the result's character set lacks.
pub(crate) fn aggregate_arguments(
    args: &[Expr],
    operation: &str,
    connection: Collation,
) -> Result<(Collation, Coercibility), SqlError> {
    let types: Vec<&ExprType> = args.iter().map(|arg| &arg.ty).collect();
    let best = aggregate_with(&types, operation, connection)?;
    match has_literals(args.iter(), best.0) {
        true => Ok(best),
        false => Err(mix_error(&types, connection, operation)),
    }
}

/// The collation that values of these types compare by; error 1267 where there is none.
pub(crate) fn aggregate_for_comparison(
    types: &[&ExprType],
    op: &str,
) -> Result<Collation, SqlError> {
    match aggregate(types, op) {
        Ok((collation, coercibility)) if coercibility != Coercibility::NoCollation => Ok(collation),
        // MySQL names what numbers that are compared have by themselves.
        _ => Err(mix_error(types, Charset::Latin1.default_collation(), op)),
    }
}

/// Error 1267 of two operands, 1270 of three, 1271 of more.
fn mix_error(types: &[&ExprType], connection: Collation, operation: &str) -> SqlError {
    let side = |ty: &&ExprType| {
        let (collation, coercibility) = own(ty, connection);
        (name(collation), strength(coercibility))
    };
    let sides: Vec<(&str, &str)> = types.iter().map(side).collect();
    match sides[..] {
        [(l, ls), (r, rs)] => {
            let args: [&dyn Display; 5] = [&l, &ls, &r, &rs, &operation];
            SqlError::new(ErrorCode::CantAggregate2collations, &args)
        }
        [(l, ls), (m, ms), (r, rs)] => {
            let args: [&dyn Display; 7] = [&l, &ls, &m, &ms, &r, &rs, &operation];
            SqlError::new(ErrorCode::CantAggregate3collations, &args)
        }
        _ => SqlError::new(ErrorCode::CantAggregateNcollations, &[&operation]),
    }
}

/// The error of [`operands_collation`] where all operands are strings.
pub(crate) fn check_strings(operands: &[&Expr], op: &str) -> Result<(), SqlError> {
    match operands.iter().all(|operand| operand.ty.class() == TypeClass::String) {
        true => operands_collation(operands, op).map(|_| ()),
        false => Ok(()),
    }
}

/// The collation that operands compare by; error 1267 where there is none, and where a literal has
/// characters that its character set lacks.
pub(crate) fn operands_collation(operands: &[&Expr], op: &str) -> Result<Collation, SqlError> {
    let types: Vec<&ExprType> = operands.iter().map(|operand| &operand.ty).collect();
    let collation = aggregate_for_comparison(&types, op)?;
    match has_literals(operands.iter().copied(), collation) {
        true => Ok(collation),
        false => Err(mix_error(&types, Collation::DEFAULT, op)),
    }
}

/// Whether the collation's character set has all characters of literals of other character sets.
fn has_literals<'e>(mut operands: impl Iterator<Item = &'e Expr>, collation: Collation) -> bool {
    let charset = collation.charset();
    let foreign = |operand: &Expr| match operand.as_literal() {
        Some(Value::Text(text)) => {
            operand.ty.collation().charset() != charset && lacks(charset, text)
        }
        _ => false,
    };
    !operands.any(foreign)
}

/// Whether a text has characters that the character set lacks.
pub(crate) fn lacks(charset: Charset, text: &str) -> bool {
    match charset {
        Charset::Utf8mb3 => text.chars().any(|char| char > '\u{ffff}'),
        _ => charset.first_missing(text).is_some(),
    }
}

/// A collation by name; error 1273.
pub fn find(name: &str) -> Result<Collation, SqlError> {
    Collation::from_name(name).ok_or_else(|| SqlError::new(ErrorCode::UnknownCollation, &[&name]))
}

/// The default collation of a character set by name; error 1115.
pub fn charset_default(name: &str) -> Result<Collation, SqlError> {
    Charset::from_name(name)
        .map(Charset::default_collation)
        .ok_or_else(|| SqlError::new(ErrorCode::UnknownCharacterSet, &[&name]))
}

/// The name of the collation's character set.
pub fn charset_name(collation: Collation) -> &'static str {
    collation.charset().name()
}

/// The collation's name.
pub fn name(collation: Collation) -> &'static str {
    collation.name()
}

/// Whether two collations are of one character set.
pub fn same_charset(left: Collation, right: Collation) -> bool {
    left.charset() == right.charset()
}

/// Whether text of the character set is UTF-8, as all text is in memory.
pub fn is_utf8(collation: Collation) -> bool {
    collation.charset().is_utf8()
}

fn is_bytewise(collation: Collation) -> bool {
    collation.is_binary()
}

fn binary_of(collation: Collation) -> Collation {
    Collation::binary_of(collation.charset())
}

/// Orders two texts.
#[inline]
pub fn compare(collation: Collation, left: &str, right: &str) -> Ordering {
    collation.compare(left.as_bytes(), right.as_bytes())
}

/// A key whose bytes order as the collation does.
#[inline]
pub fn sort_key(collation: Collation, text: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(text.len() + 1);
    collation.sort_key(text.as_bytes(), &mut key);
    key
}

/// The bytes of a text in the collation's character set.
#[inline]
pub fn encode(collation: Collation, text: &str) -> Vec<u8> {
    collation.charset().encode(text).into_owned()
}

/// The text that bytes are in the collation's character set.
#[inline]
pub fn decode(collation: Collation, bytes: &[u8]) -> Option<String> {
    collation.charset().decode(bytes).ok().map(Cow::into_owned)
}

/// The text with `?` for every character that the collation's character set lacks.
pub(crate) fn into_repertoire(collation: Collation, text: Cow<'_, str>) -> String {
    match collation.charset().replace_missing(&text) {
        Cow::Borrowed(_) => text.into_owned(),
        Cow::Owned(replaced) => replaced,
    }
}

/// Base64 in lines of 76 digits, as MySQL writes it.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LINE_BYTES: usize = 57;
    let lines: Vec<String> = bytes.chunks(LINE_BYTES).map(base64_line).collect();
    lines.join("\n")
}

fn base64_line(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - group.len()));
        for digit in 0..4 {
            if digit <= group.len() {
                out.push(char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// Bytes from base64 with blanks anywhere.
pub fn from_base64(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
    if !digits.len().is_multiple_of(4) {
        return None;
    }
    let value = |b: u8| {
        Some(match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        })
    };
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    let groups = digits.len() / 4;
    for (i, group) in digits.chunks(4).enumerate() {
        let padding = group.iter().rev().take_while(|b| **b == b'=').count();
        if padding > 2 || (padding > 0 && i + 1 < groups) {
            return None;
        }
        let mut bits = 0u32;
        for b in &group[..4 - padding] {
            bits = bits << 6 | u32::from(value(*b)?);
        }
        bits <<= 6 * padding;
        out.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    }
    Some(out)
}
