//! Documents as memory-comparable bytes: equal where documents are equal, ordered as ORDER BY
//! orders them.
//!
//! A document is its kind's rank and then its value. Numbers of all kinds are in one order:
//!
//! ```text
//! 0       sign 1
//! 12.50   sign 2, exponent 2 (of 0.125 × 10²), digits 1 2 5, end 0
//! -12.50  sign 0 and the complement of what follows for 12.50
//! ```
//!
//! Objects and arrays are ordered by their number of members, then by these.

use super::{Json, order};

/// Appends the key of a document.
pub fn write(json: &Json, out: &mut Vec<u8>) {
    out.push(order::rank(json));
    match json {
        Json::Null => {}
        Json::Bool(value) => out.push((*value).into()),
        Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_) => number(json, out),
        Json::String(text) => bytes(text.as_bytes(), out),
        Json::Date(date) => out.extend_from_slice(&date.at_midnight().pack().to_be_bytes()),
        Json::DateTime(moment) => out.extend_from_slice(&moment.pack().to_be_bytes()),
        Json::Time(time) => {
            out.extend_from_slice(&(time.micros as u64 ^ 1 << 63).to_be_bytes());
        }
        Json::Opaque(kind, content) => {
            bytes(content, out);
            out.push(*kind);
        }
        Json::Array(items) => {
            out.extend_from_slice(&(items.len() as u32).to_be_bytes());
            items.iter().for_each(|item| write(item, out));
        }
        Json::Object(members) => {
            out.extend_from_slice(&(members.len() as u32).to_be_bytes());
            for (key, value) in members {
                out.extend_from_slice(&(key.len() as u32).to_be_bytes());
                bytes(key.as_bytes(), out);
                write(value, out);
            }
        }
    }
}

/// Bytes with `00 FF` for a zero byte, ended by `00 00`.
fn bytes(content: &[u8], out: &mut Vec<u8>) {
    for byte in content {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

fn number(json: &Json, out: &mut Vec<u8>) {
    // Digits with the point behind the first, then the exponent: 1.25e1.
    let text = match order::exact(json) {
        Some(exact) => exact.to_string(),
        None => format!("{:e}", order::real(json)),
    };
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text.as_str()),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let zeros = digits.len() - digits.trim_start_matches('0').len();
    let digits = digits.trim_matches('0');
    if digits.is_empty() {
        return out.push(1);
    }
    let start = out.len() + 1;
    out.push(if negative { 0 } else { 2 });
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let exponent = exponent + whole.len() as i32 - zeros as i32;
    out.extend_from_slice(&((exponent + (1 << 15)) as u16).to_be_bytes());
    out.extend(digits.bytes().map(|digit| digit - b'0' + 1));
    out.push(0);
    if negative {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}
