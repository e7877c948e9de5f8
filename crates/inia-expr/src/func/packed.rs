//! COMPRESS and its inverse: the length in four bytes (low byte first), then a zlib stream. A
//! stream that ends with a space gets a point, so that CHAR columns do not shorten it.

use super::types::any_null;
use super::{Function, f};
use crate::eval::{Args, FnResult, Stop};
use crate::ty::ExprType;
use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use inia_base::error::ErrorCode;
use inia_base::value::Value;
use std::io::Read;

pub(super) const TABLE: &[Function] = &[
    f(
        "compress",
        1,
        1,
        |args, _| {
            let ty = &args[0].ty;
            let bytes = u64::from(ty.length) * if ty.is_text() { 4 } else { 1 };
            Ok(ExprType::binary(bytes + (bytes >> 12) + (bytes >> 14) + OVERHEAD, true))
        },
        compress,
    ),
    f("uncompress", 1, 1, |_, _| Ok(ExprType::binary(1 << 24, true)), uncompress),
    f(
        "uncompressed_length",
        1,
        1,
        |args, _| Ok(ExprType::int(10, any_null(args))),
        |a| {
            let bytes = a.bytes(0)?;
            Ok(Value::Int(match length(&bytes) {
                Some(length) => length as i64,
                None => {
                    if !bytes.is_empty() {
                        a.warn(ErrorCode::ZlibZDataError, &[])?;
                    }
                    0
                }
            }))
        },
    ),
];

/// The most bytes that a short text grows by.
const OVERHEAD: u64 = 18;

/// The length of what was compressed; nothing is shorter than its four bytes and one more.
fn length(bytes: &[u8]) -> Option<usize> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    (!rest.is_empty()).then(|| (u32::from_le_bytes(*head) & 0x3FFF_FFFF) as usize)
}

fn compress(a: &mut Args<'_, '_>) -> FnResult {
    let bytes = a.bytes(0)?;
    let mut out = Vec::new();
    if bytes.is_empty() {
        return Ok(Value::Bytes(out));
    }
    out.extend((bytes.len() as u32).to_le_bytes());
    let packed = ZlibEncoder::new(&bytes[..], Compression::default()).read_to_end(&mut out);
    if packed.is_err() {
        a.warn(ErrorCode::ZlibZMemError, &[])?;
        return Err(Stop::Null);
    }
    if out.last() == Some(&b' ') {
        out.push(b'.');
    }
    Ok(Value::Bytes(out))
}

fn uncompress(a: &mut Args<'_, '_>) -> FnResult {
    let bytes = a.bytes(0)?;
    if bytes.is_empty() {
        return Ok(Value::Bytes(Vec::new()));
    }
    let Some(length) = length(&bytes) else {
        a.warn(ErrorCode::ZlibZDataError, &[])?;
        return Err(Stop::Null);
    };
    let most = a.ctx.env.max_allowed_packet;
    if length > most {
        a.warn(ErrorCode::TooBigForUncompress, &[&most])?;
        return Err(Stop::Null);
    }
    let mut out = Vec::new();
    // Reading one byte more than there should be shows whether there is one.
    let read = ZlibDecoder::new(&bytes[4..]).take(length as u64 + 1).read_to_end(&mut out);
    let problem = match read {
        Err(_) => ErrorCode::ZlibZDataError,
        Ok(read) if read > length => ErrorCode::ZlibZBufError,
        Ok(_) => return Ok(Value::Bytes(out)),
    };
    a.warn(problem, &[])?;
    Err(Stop::Null)
}
