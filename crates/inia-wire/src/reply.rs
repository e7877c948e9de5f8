//! OK, ERR and EOF packets, and how a client reads them.

use crate::caps::Capabilities;
use crate::codec::{Reader, put_lenenc, put_lenenc_bytes, put_u16};
use crate::error::{ServerError, WireError};
use crate::handshake::text;
use inia_base::collation::Charset;
use inia_base::column::{Completion, SessionChange, status};

/// First byte of an OK packet.
pub const OK: u8 = 0x00;
/// First byte of an EOF packet, and of the OK packet that stands in its place.
pub const EOF: u8 = 0xfe;
/// First byte of an ERR packet.
pub const ERR: u8 = 0xff;

/// Appends an OK packet's payload; `header` is [`OK`], or [`EOF`] at the end of rows.
pub fn put_ok(
    out: &mut Vec<u8>,
    header: u8,
    completion: &Completion,
    more: bool,
    caps: Capabilities,
) {
    let tracked = caps.has(Capabilities::SESSION_TRACK) && !completion.changes.is_empty();
    out.push(header);
    put_lenenc(out, completion.affected_rows);
    put_lenenc(out, completion.last_insert_id);
    put_u16(out, status_bits(completion, more, tracked));
    put_u16(out, completion.warnings);
    if tracked || !completion.info.is_empty() {
        put_lenenc_bytes(out, completion.info.as_bytes());
    }
    if tracked {
        let mut changes = Vec::new();
        completion.changes.iter().for_each(|change| put_change(&mut changes, change));
        put_lenenc_bytes(out, &changes);
    }
}

/// Appends an EOF packet's payload.
pub fn put_eof(out: &mut Vec<u8>, completion: &Completion, more: bool) {
    out.push(EOF);
    put_u16(out, completion.warnings);
    put_u16(out, status_bits(completion, more, false));
}

fn status_bits(completion: &Completion, more: bool, tracked: bool) -> u16 {
    let mut bits = completion.status;
    if more {
        bits |= status::MORE_RESULTS_EXISTS;
    }
    if tracked {
        bits |= status::SESSION_STATE_CHANGED;
    }
    bits
}

fn put_change(out: &mut Vec<u8>, change: &SessionChange) {
    let mut data = Vec::new();
    let kind = match change {
        SessionChange::Variable { name, value } => {
            put_lenenc_bytes(&mut data, name.as_bytes());
            put_lenenc_bytes(&mut data, value.as_bytes());
            0
        }
        SessionChange::Schema(name) => {
            put_lenenc_bytes(&mut data, name.as_bytes());
            1
        }
        SessionChange::State => {
            put_lenenc_bytes(&mut data, b"1");
            2
        }
        SessionChange::TransactionCharacteristics(sql) => {
            put_lenenc_bytes(&mut data, sql.as_bytes());
            4
        }
        SessionChange::TransactionState(letters) => {
            put_lenenc_bytes(&mut data, letters.as_bytes());
            5
        }
    };
    out.push(kind);
    put_lenenc_bytes(out, &data);
}

/// Appends an ERR packet's payload.
pub fn put_err(out: &mut Vec<u8>, error: &ServerError, caps: Capabilities) {
    put_err_in(out, error, caps, Charset::Utf8mb4);
}

/// Appends an ERR packet's payload, its message in a character set.
pub fn put_err_in(out: &mut Vec<u8>, error: &ServerError, caps: Capabilities, charset: Charset) {
    out.push(ERR);
    put_u16(out, error.code);
    if caps.has(Capabilities::PROTOCOL_41) {
        out.push(b'#');
        out.extend_from_slice(error.state.as_bytes());
    }
    // MySQL's messages have at most 512 bytes.
    let end = error.message.floor_char_boundary(511);
    out.extend_from_slice(&charset.encode(&error.message[..end]));
}

/// Reads an OK packet's payload, whatever its first byte.
pub fn decode_ok(payload: &[u8], caps: Capabilities) -> Result<Completion, WireError> {
    let mut from = Reader::new(payload);
    from.u8()?;
    let mut completion = Completion {
        affected_rows: from.lenenc()?,
        last_insert_id: from.lenenc()?,
        status: from.u16()?,
        warnings: from.u16()?,
        ..Completion::default()
    };
    if !from.is_empty() {
        completion.info = text(from.lenenc_bytes()?);
    }
    let tracked = completion.status & status::SESSION_STATE_CHANGED != 0;
    if tracked && caps.has(Capabilities::SESSION_TRACK) && !from.is_empty() {
        let mut changes = Reader::new(from.lenenc_bytes()?);
        while !changes.is_empty() {
            completion.changes.extend(decode_change(&mut changes)?);
        }
    }
    Ok(completion)
}

fn decode_change(from: &mut Reader<'_>) -> Result<Option<SessionChange>, WireError> {
    let kind = from.u8()?;
    let mut data = Reader::new(from.lenenc_bytes()?);
    Ok(match kind {
        0 => Some(SessionChange::Variable {
            name: text(data.lenenc_bytes()?),
            value: text(data.lenenc_bytes()?),
        }),
        1 => Some(SessionChange::Schema(text(data.lenenc_bytes()?))),
        2 => Some(SessionChange::State),
        4 => Some(SessionChange::TransactionCharacteristics(text(data.lenenc_bytes()?))),
        5 => Some(SessionChange::TransactionState(text(data.lenenc_bytes()?))),
        _ => None,
    })
}

/// Reads an EOF packet's payload.
pub fn decode_eof(payload: &[u8]) -> Result<Completion, WireError> {
    let mut from = Reader::new(payload);
    from.u8()?;
    let (warnings, status) = (from.u16()?, from.u16()?);
    Ok(Completion { warnings, status, ..Completion::default() })
}

/// Reads an ERR packet's payload.
pub fn decode_err(payload: &[u8]) -> Result<ServerError, WireError> {
    let mut from = Reader::new(payload);
    from.u8()?;
    let code = from.u16()?;
    let mut state = "HY000".to_owned();
    if from.peek() == Some(b'#') {
        from.u8()?;
        state = text(from.bytes(5)?);
    }
    Ok(ServerError { code, state, message: text(from.take_rest()) })
}

#[cfg(test)]
mod tests;
