//! Binary parameters: what COM_STMT_EXECUTE binds, and query attributes.
//!
//! ```text
//! 23 | id | flags | 1 | null bitmap (n+7)/8 | types follow? | n × (type, unsigned) | values …
//! ```
//! The types come with the first execution and after a re-bind; later executions leave them out,
//! so a statement remembers them. Parameters sent by SEND_LONG_DATA have no value in the packet.

use crate::caps::Capabilities;
use crate::codec::{Reader, put_lenenc, put_lenenc_bytes, put_u16, put_u32};
use crate::column::type_code as ty;
use crate::command::execute_flags::PARAMETER_COUNT_AVAILABLE;
use crate::error::WireError;
use crate::handshake::text;
use inia_base::collation::Charset;
use inia_base::decimal::{Decimal, MAX_PRECISION, MAX_SCALE};
use inia_base::temporal::{Date, DateTime, Time};
use inia_base::value::Value;

/// A named value that comes with a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Value,
}

const EXECUTE: &str = "mysqld_stmt_execute";

/// What a connection remembers of a prepared statement's parameters.
#[derive(Debug, Default)]
pub struct Params {
    count: usize,
    /// Type code, and 0x8000 for unsigned; empty until the first execution.
    types: Vec<u16>,
    /// Parameters sent by SEND_LONG_DATA; empty when none was.
    long: Vec<Option<Vec<u8>>>,
    /// What was wrong with a piece; every execution fails with it until a reset.
    long_error: Option<WireError>,
}

impl Params {
    /// State for a statement with `count` parameters.
    pub fn new(count: usize) -> Params {
        Params { count, ..Params::default() }
    }

    /// Number of the statement's parameters.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Appends a piece of parameter `param`, which may grow to `limit` bytes, as long as all that
    /// the connection's statements hold stays within `room`. Errors wait for the next execution, as
    /// the command has no reply.
    pub fn add_long_data(&mut self, param: u16, data: &[u8], limit: usize, room: usize) {
        let param = usize::from(param);
        if param >= self.count {
            self.long_error = Some(WireError::WrongArguments("mysql_stmt_precheck"));
            return;
        }
        self.long.resize(self.count, None);
        let value = self.long[param].get_or_insert_default();
        if value.len() + data.len() > limit || data.len() > room {
            self.long_error = Some(WireError::LongDataTooLong);
            return;
        }
        value.extend_from_slice(data);
    }

    /// A piece could not be taken; the executions fail with this until a reset.
    pub fn refuse_long_data(&mut self, error: WireError) {
        self.long_error = Some(error);
    }

    /// How many bytes SEND_LONG_DATA has brought.
    pub fn long_data(&self) -> usize {
        self.long.iter().flatten().map(Vec::len).sum()
    }

    /// Drops what SEND_LONG_DATA brought.
    pub fn reset(&mut self) {
        self.long.clear();
        self.long_error = None;
    }

    /// Reads an execution's parameters into `values`, whose strings are reused. Texts are in the
    /// client's character set.
    pub fn decode(
        &mut self,
        body: &[u8],
        flags: u8,
        caps: Capabilities,
        charset: Charset,
        values: &mut Vec<Value>,
    ) -> Result<(), WireError> {
        values.resize(self.count, Value::Null);
        // With query attributes the packet has its own count: the parameters, then the attributes.
        let attributes = caps.has(Capabilities::QUERY_ATTRIBUTES);
        let counted = attributes && (self.count > 0 || flags & PARAMETER_COUNT_AVAILABLE != 0);
        if self.count == 0 && !counted {
            return Ok(());
        }
        // SEND_LONG_DATA has no reply: its error is the execution's.
        if let Some(error) = &self.long_error {
            self.long.clear();
            return Err(error.clone());
        }
        let mut from = Reader::new(body);
        let sent = if counted { from.lenenc()? as usize } else { self.count };
        if sent < self.count {
            return Err(WireError::WrongArguments("COM_STMT_EXECUTE"));
        }
        if sent == 0 {
            return Ok(());
        }
        let nulls = from.bytes(sent.div_ceil(8))?;
        if from.u8()? != 0 {
            self.types.clear();
            for _ in 0..sent {
                let kind = from.u16()?;
                if !is_param_type(kind as u8) {
                    // Wrong types must not be remembered for the next execution.
                    self.types.clear();
                    return Err(WireError::WrongArguments(EXECUTE));
                }
                self.types.push(kind);
                if attributes {
                    from.lenenc_bytes()?;
                }
            }
        }
        // The values of attributes stand behind those of the parameters and are not read.
        for (i, slot) in values.iter_mut().enumerate() {
            let long = self.long.get_mut(i).and_then(Option::take);
            let kind = self.types.get(i).copied();
            let code = kind.unwrap_or_default() as u8;
            if let Some(bytes) = long {
                set_bytes(slot, &bytes, code);
            } else if nulls[i / 8] >> (i % 8) & 1 == 1 {
                *slot = Value::Null;
            } else {
                let kind = kind.ok_or(WireError::Malformed("parameters without types"))?;
                decode_value(&mut from, kind, slot)?;
            }
            if charset.is_recoded() && !is_binary(code) {
                decode_text(slot, charset);
            }
        }
        self.long.clear();
        Ok(())
    }
}

pub(crate) fn decode_query_attributes(from: &mut Reader<'_>) -> Result<Vec<Attribute>, WireError> {
    let count = from.lenenc()? as usize;
    from.lenenc()?;
    if count == 0 {
        return Ok(Vec::new());
    }
    if count > from.remaining() {
        return Err(WireError::Malformed("more query attributes than bytes"));
    }
    let nulls = from.bytes(count.div_ceil(8))?;
    if from.u8()? != 1 {
        return Err(WireError::Malformed("query attributes without types"));
    }
    let mut attributes = Vec::new();
    let mut types = Vec::new();
    for _ in 0..count {
        types.push(from.u16()?);
        let name = text(from.lenenc_bytes()?);
        attributes.push(Attribute { name, value: Value::Null });
    }
    for (i, attribute) in attributes.iter_mut().enumerate() {
        if nulls[i / 8] >> (i % 8) & 1 == 0 {
            decode_value(from, types[i], &mut attribute.value)?;
        }
    }
    Ok(attributes)
}

/// Reads one binary value of the given type (with 0x8000 for unsigned) into `slot`.
#[inline]
pub(crate) fn decode_value(
    from: &mut Reader<'_>,
    kind: u16,
    slot: &mut Value,
) -> Result<(), WireError> {
    let unsigned = kind & 0x8000 != 0;
    *slot = match kind as u8 {
        ty::LONGLONG => match from.u64()? {
            n if unsigned => Value::UInt(n),
            n => Value::Int(n as i64),
        },
        ty::LONG | ty::INT24 => match from.u32()? {
            n if unsigned => Value::UInt(u64::from(n)),
            n => Value::Int(i64::from(n as i32)),
        },
        ty::SHORT | ty::YEAR => match from.u16()? {
            n if unsigned => Value::UInt(u64::from(n)),
            n => Value::Int(i64::from(n as i16)),
        },
        ty::TINY => match from.u8()? {
            n if unsigned => Value::UInt(u64::from(n)),
            n => Value::Int(i64::from(n as i8)),
        },
        ty::FLOAT => finite(f64::from(f32::from_le_bytes(from.array()?))),
        ty::DOUBLE => finite(f64::from_le_bytes(from.array()?)),
        ty::DATE => Value::Date(decode_datetime(from)?.date),
        ty::DATETIME | ty::TIMESTAMP => Value::DateTime(decode_datetime(from)?),
        ty::TIME => Value::Time(decode_time(from)?),
        ty::NULL => Value::Null,
        ty::NEWDECIMAL | ty::DECIMAL => decode_decimal(from.lenenc_bytes()?)?,
        kind => {
            let bytes = from.lenenc_bytes()?;
            set_bytes(slot, bytes, kind);
            return Ok(());
        }
    };
    Ok(())
}

/// Whether parameters may have this type.
fn is_param_type(kind: u8) -> bool {
    !matches!(kind, ty::YEAR | ty::BIT | ty::ENUM | ty::SET | 14 | 17..=0xf4)
}

/// SQL knows neither infinities nor NaN; MySQL takes them for zero.
fn finite(number: f64) -> Value {
    Value::Double(if number.is_finite() { number } else { 0.0 })
}

/// A decimal number, which travels as text; one of more than 65 digits before the point becomes the
/// nearest that there is, as in MySQL.
fn decode_decimal(bytes: &[u8]) -> Result<Value, WireError> {
    let bytes = bytes.trim_ascii_end();
    match Decimal::parse_prefix(bytes) {
        parsed if parsed.consumed > 0 && parsed.consumed == bytes.len() => {
            Ok(Value::Decimal(bounded(parsed.value)))
        }
        _ => Err(WireError::WrongArguments(EXECUTE)),
    }
}

/// A decimal as a DECIMAL of 65 digits at most, 30 of them after the point, can hold it.
fn bounded(value: Decimal) -> Decimal {
    let whole = value.truncate(0).precision();
    if whole > MAX_PRECISION {
        return Decimal::bound(MAX_PRECISION, 0, value.is_negative());
    }
    let scale = value.scale().min(MAX_SCALE).min(MAX_PRECISION - whole);
    if scale == value.scale() { value } else { value.rescale(MAX_PRECISION, scale).value }
}

/// Whether strings sent as this type are bytes without characters.
fn is_binary(kind: u8) -> bool {
    matches!(
        kind,
        ty::TINY_BLOB | ty::MEDIUM_BLOB | ty::LONG_BLOB | ty::BLOB | ty::BIT | ty::GEOMETRY
    )
}

/// Reads a text again that was taken for UTF-8.
fn decode_text(slot: &mut Value, charset: Charset) {
    let bytes = match slot {
        Value::Text(text) => text.as_bytes(),
        Value::Bytes(bytes) => bytes,
        _ => return,
    };
    if let Ok(text) = charset.decode(bytes) {
        *slot = Value::Text(text.into_owned());
    }
}

/// Sets a string value, reusing the slot's memory. BLOB and BIT parameters, and text that is not
/// UTF-8, become byte strings.
fn set_bytes(slot: &mut Value, bytes: &[u8], kind: u8) {
    let binary = is_binary(kind);
    match (std::str::from_utf8(bytes), slot) {
        (Ok(text), Value::Text(old)) if !binary => {
            old.clear();
            old.push_str(text);
        }
        (Ok(text), slot) if !binary => *slot = Value::Text(text.to_owned()),
        (_, Value::Bytes(old)) => {
            old.clear();
            old.extend_from_slice(bytes);
        }
        (_, slot) => *slot = Value::Bytes(bytes.to_vec()),
    }
}

fn decode_datetime(from: &mut Reader<'_>) -> Result<DateTime, WireError> {
    let zero = Date { year: 0, month: 0, day: 0 };
    let mut value = DateTime { date: zero, hour: 0, minute: 0, second: 0, micros: 0 };
    let len = from.u8()?;
    if !matches!(len, 0 | 4 | 7 | 11) {
        return Err(WireError::Malformed("length of a date"));
    }
    if len >= 4 {
        value.date = Date { year: from.u16()?, month: from.u8()?, day: from.u8()? };
    }
    if len >= 7 {
        (value.hour, value.minute, value.second) = (from.u8()?, from.u8()?, from.u8()?);
    }
    if len == 11 {
        value.micros = from.u32()?;
    }
    let in_range = value.date.year <= 9999
        && value.date.month <= 12
        && value.date.day <= 31
        && value.hour <= 23
        && value.minute <= 59
        && value.second <= 59
        && value.micros <= 999_999;
    if in_range { Ok(value) } else { Err(WireError::WrongArguments(EXECUTE)) }
}

fn decode_time(from: &mut Reader<'_>) -> Result<Time, WireError> {
    let len = from.u8()?;
    if len == 0 {
        return Ok(Time { micros: 0 });
    }
    if !matches!(len, 8 | 12) {
        return Err(WireError::Malformed("length of a time"));
    }
    let negative = from.u8()? != 0;
    let days = i64::from(from.u32()?);
    let (hour, minute, second) = (from.u8()?, from.u8()?, from.u8()?);
    let micros = if len == 12 { from.u32()? } else { 0 };
    if days > 34 || hour > 23 || minute > 59 || second > 59 || micros > 999_999 {
        return Err(WireError::WrongArguments(EXECUTE));
    }
    let seconds = ((days * 24 + i64::from(hour)) * 60 + i64::from(minute)) * 60 + i64::from(second);
    let total = seconds * 1_000_000 + i64::from(micros);
    Ok(Time { micros: if negative { -total } else { total } })
}

/// Appends the body of an execution that binds `values` with their types. Where query attributes
/// are in use, the parameters are counted and have (empty) names.
pub fn encode_execute(out: &mut Vec<u8>, values: &[Value], caps: Capabilities) {
    if values.is_empty() {
        return;
    }
    let attributes = caps.has(Capabilities::QUERY_ATTRIBUTES);
    if attributes {
        put_lenenc(out, values.len() as u64);
    }
    let nulls = out.len();
    out.resize(nulls + values.len().div_ceil(8), 0);
    out.push(1);
    for (i, value) in values.iter().enumerate() {
        if *value == Value::Null {
            out[nulls + i / 8] |= 1 << (i % 8);
        }
        put_u16(out, param_type(value));
        if attributes {
            put_lenenc(out, 0);
        }
    }
    values.iter().for_each(|value| encode_value(out, value));
}

fn param_type(value: &Value) -> u16 {
    match value {
        Value::Null => u16::from(ty::NULL),
        Value::Int(_) => u16::from(ty::LONGLONG),
        Value::UInt(_) => u16::from(ty::LONGLONG) | 0x8000,
        Value::Double(_) => u16::from(ty::DOUBLE),
        Value::Decimal(_) => u16::from(ty::NEWDECIMAL),
        Value::Text(_) | Value::Json(_) => u16::from(ty::VAR_STRING),
        Value::Bytes(_) => u16::from(ty::BLOB),
        Value::Date(_) => u16::from(ty::DATE),
        Value::Time(_) => u16::from(ty::TIME),
        Value::DateTime(_) => u16::from(ty::DATETIME),
    }
}

fn encode_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => {}
        Value::Int(n) => out.extend_from_slice(&n.to_le_bytes()),
        Value::UInt(n) => out.extend_from_slice(&n.to_le_bytes()),
        Value::Double(x) => out.extend_from_slice(&x.to_le_bytes()),
        Value::Decimal(number) => put_lenenc_bytes(out, number.to_string().as_bytes()),
        Value::Text(text) | Value::Json(text) => put_lenenc_bytes(out, text.as_bytes()),
        Value::Bytes(bytes) => put_lenenc_bytes(out, bytes),
        Value::Date(date) => {
            put_datetime(out, &DateTime { date: *date, hour: 0, minute: 0, second: 0, micros: 0 })
        }
        Value::DateTime(value) => put_datetime(out, value),
        Value::Time(value) => put_time(out, *value),
    }
}

/// Appends a binary DATE or DATETIME in its shortest form.
pub(crate) fn put_datetime(out: &mut Vec<u8>, value: &DateTime) {
    let date = value.date;
    let has_time = value.hour != 0 || value.minute != 0 || value.second != 0;
    let len = match () {
        () if value.micros != 0 => 11,
        () if has_time => 7,
        () if date.year != 0 || date.month != 0 || date.day != 0 => 4,
        () => 0,
    };
    out.push(len);
    if len >= 4 {
        put_u16(out, date.year);
        out.extend_from_slice(&[date.month, date.day]);
    }
    if len >= 7 {
        out.extend_from_slice(&[value.hour, value.minute, value.second]);
    }
    if len == 11 {
        put_u32(out, value.micros);
    }
}

/// Appends a binary TIME in its shortest form.
pub(crate) fn put_time(out: &mut Vec<u8>, value: Time) {
    if value.micros == 0 {
        out.push(0);
        return;
    }
    let total = value.micros.unsigned_abs();
    let (seconds, micros) = (total / 1_000_000, (total % 1_000_000) as u32);
    out.push(if micros == 0 { 8 } else { 12 });
    out.push(u8::from(value.micros < 0));
    put_u32(out, (seconds / 86_400) as u32);
    let clock = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60];
    out.extend_from_slice(&clock.map(|part| part as u8));
    if micros != 0 {
        put_u32(out, micros);
    }
}

#[cfg(test)]
mod tests;
