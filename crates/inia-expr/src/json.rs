//! JSON documents: parsed, ordered and printed as MySQL does it.
//!
//! An object's keys are ordered by length, then by bytes, and the last of equal keys wins:
//! `{"bb":1,"a":2,"a":3}` prints as `{"a": 3, "bb": 1}`.

pub(crate) mod binary;
mod element;
mod fit;
pub mod key;
pub mod order;
mod parse;
pub mod path;
pub(crate) mod schema;
pub(crate) mod to_number;

pub use element::{ElementType, element_value};
pub use fit::fitted;
pub use parse::{ParseError, parse};

use crate::collate;
use crate::convert;
use crate::number;
use crate::ty::{ExprType, TypeClass};
use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::json as carried;
use inia_base::temporal::{Date, DateTime, Time};
use inia_base::value::Value;
use std::fmt::{self, Write};

/// The protocol's number of BIT.
const BIT: u8 = 16;
/// The largest integer that a text gives as INTEGER; larger ones are UNSIGNED INTEGER.
const MAX_PLAIN_INTEGER: i64 = u32::MAX as i64;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// null
    Null,
    /// true, false
    Bool(bool),
    /// INTEGER.
    Int(i64),
    /// UNSIGNED INTEGER.
    UInt(u64),
    /// DOUBLE.
    Double(f64),
    /// DECIMAL, which only SQL gives.
    Decimal(Decimal),
    /// DATE, which only SQL gives.
    Date(Date),
    /// TIME, which only SQL gives.
    Time(Time),
    /// DATETIME, which only SQL gives; also a TIMESTAMP.
    DateTime(DateTime),
    /// A binary string or BIT: the number of its type in the protocol, and its bytes.
    Opaque(u8, Vec<u8>),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, in key order.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Puts `value` under `key`, replacing an earlier one.
    pub fn insert(members: &mut Vec<(String, Json)>, key: String, value: Json) {
        match members.binary_search_by(|(other, _)| key_order(other, &key)) {
            Ok(at) => members[at].1 = value,
            Err(at) => members.insert(at, (key, value)),
        }
    }

    /// The member of an object.
    pub fn member(&self, key: &str) -> Option<&Json> {
        let Json::Object(members) = self else { return None };
        let at = members.binary_search_by(|(other, _)| key_order(other, key)).ok()?;
        Some(&members[at].1)
    }

    /// What JSON_TYPE says.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "NULL",
            Json::Bool(_) => "BOOLEAN",
            Json::Int(_) => "INTEGER",
            Json::UInt(_) => "UNSIGNED INTEGER",
            Json::Double(_) => "DOUBLE",
            Json::Decimal(_) => "DECIMAL",
            Json::Date(_) => "DATE",
            Json::Time(_) => "TIME",
            Json::DateTime(_) => "DATETIME",
            Json::Opaque(BIT, _) => "BIT",
            Json::Opaque(..) => "BLOB",
            Json::String(_) => "STRING",
            Json::Array(_) => "ARRAY",
            Json::Object(_) => "OBJECT",
        }
    }

    /// Depth: 1 for scalars and empty containers.
    pub fn depth(&self) -> usize {
        match self {
            Json::Array(items) => 1 + items.iter().map(Json::depth).max().unwrap_or(0),
            Json::Object(members) => 1 + members.iter().map(|(_, v)| v.depth()).max().unwrap_or(0),
            _ => 1,
        }
    }

    /// Elements of an array, members of an object, 1 for scalars.
    pub fn length(&self) -> usize {
        match self {
            Json::Array(items) => items.len(),
            Json::Object(members) => members.len(),
            _ => 1,
        }
    }

    /// The text that carries the document, see [`inia_base::json`].
    pub fn carried(&self) -> String {
        let mut out = String::new();
        write(self, true, &mut out).expect("a string takes all text");
        out
    }

    /// The printed form over several lines, two spaces a level.
    pub fn pretty(&self) -> String {
        let mut out = String::new();
        pretty(self, 0, &mut out);
        out
    }
}

/// The order of an object's keys.
pub(crate) fn key_order(left: &str, right: &str) -> std::cmp::Ordering {
    left.len().cmp(&right.len()).then_with(|| left.as_bytes().cmp(right.as_bytes()))
}

impl fmt::Display for Json {
    /// As MySQL prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self, false, f)
    }
}

/// Writes a document, with marks where it is to be carried.
fn write(json: &Json, marks: bool, out: &mut dyn Write) -> fmt::Result {
    if let Some(mark) = mark(json).filter(|_| marks) {
        out.write_char(char::from(mark))?;
    }
    match json {
        Json::Null => out.write_str("null"),
        Json::Bool(value) => write!(out, "{value}"),
        Json::Int(value) => write!(out, "{value}"),
        Json::UInt(value) => write!(out, "{value}"),
        Json::Double(value) => {
            let text = number::double_text(*value);
            let whole = text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
            out.write_str(&text)?;
            if whole { out.write_str(".0") } else { Ok(()) }
        }
        Json::Decimal(value) => write!(out, "{value}"),
        Json::Date(_) | Json::Time(_) | Json::DateTime(_) | Json::Opaque(..) => {
            out.write_str(&quote(&unquoted(json)))
        }
        Json::String(value) => out.write_str(&quote(value)),
        Json::Array(items) => {
            out.write_char('[')?;
            for (i, item) in items.iter().enumerate() {
                out.write_str(if i > 0 { ", " } else { "" })?;
                write(item, marks, out)?;
            }
            out.write_char(']')
        }
        Json::Object(members) => {
            out.write_char('{')?;
            for (i, (key, value)) in members.iter().enumerate() {
                out.write_str(if i > 0 { ", " } else { "" })?;
                write!(out, "{}: ", quote(key))?;
                write(value, marks, out)?;
            }
            out.write_char('}')
        }
    }
}

/// The mark of a scalar whose printed form does not show its type.
fn mark(json: &Json) -> Option<u8> {
    match json {
        Json::Int(value) if *value > MAX_PLAIN_INTEGER => Some(carried::SIGNED),
        Json::UInt(value) if *value <= MAX_PLAIN_INTEGER as u64 => Some(carried::UNSIGNED),
        Json::Decimal(_) => Some(carried::DECIMAL),
        Json::Date(_) => Some(carried::DATE),
        Json::Time(_) => Some(carried::TIME),
        Json::DateTime(_) => Some(carried::DATETIME),
        Json::Opaque(..) => Some(carried::OPAQUE),
        _ => None,
    }
}

fn pretty(json: &Json, level: usize, out: &mut String) {
    let indent = |out: &mut String, level: usize| {
        out.push('\n');
        (0..level * 2).for_each(|_| out.push(' '));
    };
    match json {
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                indent(out, level + 1);
                pretty(item, level + 1, out);
            }
            indent(out, level);
            out.push(']');
        }
        Json::Object(members) if !members.is_empty() => {
            out.push('{');
            for (i, (key, value)) in members.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                indent(out, level + 1);
                out.push_str(&quote(key));
                out.push_str(": ");
                pretty(value, level + 1, out);
            }
            indent(out, level);
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// A document with another merged in, by RFC 7396: null removes, objects merge, everything else
/// replaces.
pub fn merge_patch(target: Json, change: Json) -> Json {
    let Json::Object(changes) = change else { return change };
    let mut members = match target {
        Json::Object(members) => members,
        _ => Vec::new(),
    };
    for (key, value) in changes {
        let at = members.iter().position(|(own, _)| *own == key);
        if value == Json::Null {
            members.retain(|(own, _)| *own != key);
            continue;
        }
        let own = at.map_or(Json::Null, |at| members[at].1.clone());
        let merged = merge_patch(own, value);
        Json::insert(&mut members, key, merged);
    }
    Json::Object(members)
}

/// A JSON string literal.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// What a carried document prints, a string without its quotes.
pub fn unquote(text: &str) -> String {
    unquoted(&stored(text))
}

/// What a document prints, a string without its quotes.
pub fn unquoted(json: &Json) -> String {
    match json {
        Json::String(text) => text.clone(),
        Json::Date(date) => date.to_string(),
        Json::Time(time) => time.text(6),
        Json::DateTime(moment) => moment.text(6),
        Json::Opaque(kind, bytes) => format!("base64:type{kind}:{}", collate::base64(bytes)),
        other => other.to_string(),
    }
}

/// The value of a document's text; error 3157 where it nests too deeply.
pub fn value(text: String) -> Result<Value, SqlError> {
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth > parse::MAX_DEPTH {
            return Err(SqlError::new(ErrorCode::JsonDocumentTooDeep, &[]));
        }
    }
    Ok(Value::Json(text))
}

/// A document stored or computed as JSON; such texts are well-formed.
pub fn stored(text: &str) -> Json {
    parse::parse_printed(text).unwrap_or(Json::Null)
}

/// Whether a stored document is the number 0, the only one that is not true as a condition.
pub fn is_zero(text: &str) -> bool {
    order::compare(&stored(text), &Json::Int(0)).is_eq()
}

/// A function's JSON argument: JSON itself, or a string that is parsed.
pub fn document(
    value: &Value,
    ty: &ExprType,
    position: usize,
    function: &str,
) -> Result<Json, SqlError> {
    match value {
        Value::Json(text) => Ok(stored(text)),
        Value::Text(_) => {
            let text = convert::to_text(value, ty);
            parse(&text).map_err(|error| {
                if error.is_depth() {
                    return SqlError::new(ErrorCode::JsonDocumentTooDeep, &[]);
                }
                // The operator has a name of two words.
                let function = if function == "member_of" { "member of" } else { function };
                let args: [&dyn fmt::Display; 5] =
                    [&position, &function, &error.text, &error.position, &""];
                SqlError::new(ErrorCode::InvalidJsonTextInParam, &args)
            })
        }
        Value::Bytes(_) => Err(SqlError::new(ErrorCode::InvalidJsonCharset, &[&"binary"])),
        _ => {
            let args: [&dyn fmt::Display; 2] = [&position, &function];
            Err(SqlError::new(ErrorCode::InvalidTypeForJson, &args))
        }
    }
}

/// A SQL value as a JSON value inside a document: strings become JSON strings.
pub fn of_value(value: &Value, ty: &ExprType) -> Result<Json, SqlError> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Int(v) if is_boolean(ty) => Json::Bool(*v != 0),
        Value::Int(v) => Json::Int(*v),
        Value::UInt(_) if matches!(ty.class(), TypeClass::String) => {
            Json::String(convert::to_text(value, ty).into_owned())
        }
        Value::UInt(_) if matches!(ty.data_type, DataType::Bit(_)) => binary(value, ty),
        Value::UInt(v) if ty.data_type == DataType::Year => Json::Int(*v as i64),
        Value::UInt(v) => Json::UInt(*v),
        Value::Double(v) => Json::Double(*v),
        Value::Decimal(v) => Json::Decimal(*v),
        Value::Json(text) => stored(text),
        Value::Bytes(bytes) if ty.is_geometry() => match inia_geometry::from_internal(bytes) {
            Some(geometry) => crate::func::geometry::to_json(&geometry.shape, i64::from(i32::MAX)),
            None => binary(value, ty),
        },
        Value::Bytes(_) => binary(value, ty),
        Value::Text(text) => Json::String(text.clone()),
        Value::Date(date) => Json::Date(*date),
        Value::Time(time) => Json::Time(*time),
        Value::DateTime(moment) => Json::DateTime(*moment),
    })
}

/// Predicates and TRUE/FALSE are the integers of display length 1.
fn is_boolean(ty: &ExprType) -> bool {
    ty.length == 1 && matches!(ty.data_type, DataType::Int { .. })
}

fn binary(value: &Value, ty: &ExprType) -> Json {
    let kind = match ty.data_type {
        DataType::Bit(_) => BIT,
        DataType::Blob(_) => 252,
        DataType::Geometry { .. } => 255,
        DataType::Binary(_) => 254,
        _ => 15,
    };
    Json::Opaque(kind, convert::to_bytes(value, ty).into_owned())
}

/// CAST(value AS JSON).
pub fn cast(value: &Value, ty: &ExprType) -> Result<Json, SqlError> {
    match value {
        Value::Text(text) if matches!(ty.class(), TypeClass::String) => {
            parse(text).map_err(|error| {
                if error.is_depth() {
                    return SqlError::new(ErrorCode::JsonDocumentTooDeep, &[]);
                }
                let args: [&dyn fmt::Display; 5] =
                    [&1, &"cast_as_json", &error.text, &error.position, &""];
                SqlError::new(ErrorCode::InvalidJsonTextInParam, &args)
            })
        }
        _ => of_value(value, ty),
    }
}

/// An operand of a comparison with JSON: documents as they are, everything else as a scalar.
pub(crate) fn scalar_or_document(value: &Value, ty: &ExprType) -> Result<Json, SqlError> {
    of_value(value, ty)
}
