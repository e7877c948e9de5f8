//! JSON documents: parsed, ordered and printed as MySQL does it.
//!
//! An object's keys are ordered by length, then by bytes, and the last of equal keys wins:
//! `{"bb":1,"a":2,"a":3}` prints as `{"a": 3, "bb": 1}`.

mod fit;
pub mod order;
mod parse;
pub mod path;
pub(crate) mod to_number;

pub use fit::fitted;
pub use parse::{ParseError, parse};

use crate::collate;
use crate::convert;
use crate::number;
use crate::ty::{ExprType, TypeClass};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use std::borrow::Cow;
use std::fmt;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// null
    Null,
    /// true, false
    Bool(bool),
    /// An integer that fits 64 signed bits.
    Int(i64),
    /// A larger integer.
    UInt(u64),
    /// Any other number.
    Double(f64),
    /// An exact number that came from SQL.
    Decimal(inia_base::decimal::Decimal),
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
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Int(value) => write!(f, "{value}"),
            Json::UInt(value) => write!(f, "{value}"),
            Json::Double(value) => {
                let text = number::double_text(*value);
                let whole = text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
                f.write_str(&text)?;
                if whole { f.write_str(".0") } else { Ok(()) }
            }
            Json::Decimal(value) => write!(f, "{value}"),
            Json::String(value) => f.write_str(&quote(value)),
            Json::Array(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_str("]")
            }
            Json::Object(members) => {
                f.write_str("{")?;
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{}: {value}", quote(key))?;
                }
                f.write_str("}")
            }
        }
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

/// A document's text with the quotes of a string taken off.
pub fn unquote(text: &str) -> String {
    match parse(text) {
        Ok(Json::String(inner)) => inner,
        _ => text.to_owned(),
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

/// A document's text with numbers written so that equal documents have equal texts.
pub fn identity(text: &str) -> Cow<'_, str> {
    if !text.contains('.') {
        return Cow::Borrowed(text);
    }
    let mut document = stored(text);
    simplify(&mut document);
    Cow::Owned(document.to_string())
}

/// Makes numbers integers or doubles where these are the same.
fn simplify(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(simplify),
        Json::Object(members) => members.iter_mut().for_each(|(_, value)| simplify(value)),
        Json::Double(value) if value.fract() == 0.0 && value.abs() < 9e15 => {
            *json = Json::Int(*value as i64);
        }
        Json::Decimal(value) => {
            let digits = value.to_string();
            if !digits.contains('.') {
                return;
            }
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            if let Ok(short) = parse::parse_printed(digits) {
                *json = short;
            }
        }
        _ => {}
    }
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
pub(crate) fn of_value(value: &Value, ty: &ExprType) -> Result<Json, SqlError> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Int(v) if is_boolean(ty) => Json::Bool(*v != 0),
        Value::Int(v) => Json::Int(*v),
        Value::UInt(_) if matches!(ty.class(), TypeClass::String) => {
            Json::String(convert::to_text(value, ty).into_owned())
        }
        Value::UInt(_) if matches!(ty.data_type, DataType::Bit(_)) => binary(value, ty),
        Value::UInt(v) => i64::try_from(*v).map_or(Json::UInt(*v), Json::Int),
        Value::Double(v) => Json::Double(*v),
        Value::Decimal(v) => Json::Decimal(*v),
        Value::Json(text) => stored(text),
        Value::Bytes(_) => binary(value, ty),
        Value::Text(text) => Json::String(text.clone()),
        Value::Date(_) => Json::String(convert::to_text(value, ty).into_owned()),
        Value::Time(time) => Json::String(time.text(6)),
        Value::DateTime(moment) => Json::String(moment.text(6)),
    })
}

/// Predicates and TRUE/FALSE are the integers of display length 1.
fn is_boolean(ty: &ExprType) -> bool {
    ty.length == 1 && matches!(ty.data_type, DataType::Int { .. })
}

fn binary(value: &Value, ty: &ExprType) -> Json {
    let kind = match ty.data_type {
        DataType::Bit(_) => 16,
        DataType::Blob(_) => 252,
        DataType::Binary(_) => 254,
        _ => 15,
    };
    let bytes = convert::to_bytes(value, ty);
    Json::String(format!("base64:type{kind}:{}", collate::base64(&bytes)))
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
