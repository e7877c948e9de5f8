//! UUIDs, network addresses, random bytes, amounts in units, files of the server.

use super::string_codes::{from_hex, hex_text};
use super::types::{boolean, int, system_text_null, text_null, uint_null};
use super::{Function, f, v};
use crate::eval::{Args, FnResult, Stop};
use crate::print;
use crate::ty::{ExprType, TypeClass};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) const TABLE: &[Function] = &[
    v("uuid", 0, 0, system_text_null::<36>, uuid),
    v(
        "uuid_short",
        0,
        0,
        |_, _| Ok(ExprType::uint(21, false)),
        |a| {
            static COUNTER: AtomicU64 = AtomicU64::new(0);
            let seconds = (a.ctx.host.clock_micros() / 1_000_000) as u64;
            let low = COUNTER.fetch_add(1, Ordering::Relaxed) & 0xFF_FFFF;
            Ok(Value::UInt(1 << 56 | (seconds & 0xFFFF_FFFF) << 24 | low))
        },
    ),
    f(
        "is_uuid",
        1,
        1,
        |_, _| Ok(ExprType::bool(true)),
        |a| Ok(Value::Int(parse_uuid(&a.text(0)?).is_some().into())),
    ),
    f(
        "uuid_to_bin",
        1,
        2,
        |_, _| Ok(ExprType::binary(16, true)),
        |a| {
            let text = a.text(0)?;
            let Some(bytes) = parse_uuid(&text) else {
                let args: [&dyn std::fmt::Display; 3] = [&"string", &text, &"uuid_to_bin"];
                return Err(SqlError::new(ErrorCode::WrongValueForType, &args).into());
            };
            if a.len() > 1 && a.truth(1)? == Some(true) {
                return Ok(Value::Bytes(
                    [&bytes[6..8], &bytes[4..6], &bytes[..4], &bytes[8..]].concat(),
                ));
            }
            Ok(Value::Bytes(bytes))
        },
    ),
    f("bin_to_uuid", 1, 2, text_null::<36>, |a| {
        let mut bytes = a.bytes(0)?.into_owned();
        if bytes.len() != 16 {
            let shown = crate::convert::error_text(&bytes);
            let args: [&dyn std::fmt::Display; 3] = [&"string", &shown, &"bin_to_uuid"];
            return Err(SqlError::new(ErrorCode::WrongValueForType, &args).into());
        }
        if a.len() > 1 && a.truth(1)? == Some(true) {
            bytes = [&bytes[4..8], &bytes[2..4], &bytes[..2], &bytes[8..]].concat();
        }
        Ok(Value::Text(uuid_text(&bytes)))
    }),
    v(
        "random_bytes",
        1,
        1,
        |_, _| Ok(ExprType::binary(1024, true)),
        |a| {
            let count = a.clamped(0)?;
            if !(1..=1024).contains(&count) {
                let args: [&dyn std::fmt::Display; 2] = [&"length", &"random_bytes"];
                return Err(SqlError::new(ErrorCode::DataOutOfRange, &args).into());
            }
            let mut bytes = vec![0; count as usize];
            // Programs make keys of them.
            let failed = |error| SqlError::new(ErrorCode::UnknownError, &[&format!("{error}")]);
            getrandom::fill(&mut bytes).map_err(failed)?;
            Ok(Value::Bytes(bytes))
        },
    ),
    f("format_bytes", 1, 1, system_text_null::<11>, |a| Ok(in_units(a.real(0)?, BYTES))),
    f("format_pico_time", 1, 1, system_text_null::<11>, |a| Ok(in_units(a.real(0)?, PICOSECONDS))),
    f(
        "validate_password_strength",
        1,
        1,
        |_, _| Ok(ExprType::int(10, true)),
        // What it says where no component that knows rules is installed.
        |a| a.bytes(0).map(|_| Value::Int(0)),
    ),
    f("json_storage_free", 1, 1, int::<10>, |a| a.json(0).map(|_| Value::Int(0))),
    v(
        "load_file",
        1,
        1,
        |_, _| Ok(ExprType::binary(1 << 24, true)),
        |a| {
            let path = a.text(0)?;
            let limit = a.ctx.env.max_allowed_packet;
            let bytes = a.ctx.host.read_file(&path, limit.saturating_add(1)).ok_or(Stop::Null)?;
            if bytes.len() > limit {
                return a.too_long();
            }
            Ok(Value::Bytes(bytes))
        },
    ),
    f("inet_aton", 1, 1, uint_null::<21>, inet_aton),
    f("inet_ntoa", 1, 1, text_null::<31>, |a| {
        let number = a.wide(0)?;
        let Ok(number) = u32::try_from(number) else {
            let shown = crate::print::print(a.expr(0));
            a.warn(ErrorCode::WrongValueForType, &[&"integer", &shown, &"inet_ntoa"])?;
            return Err(Stop::Null);
        };
        Ok(Value::Text(Ipv4Addr::from(number).to_string()))
    }),
    f(
        "inet6_aton",
        1,
        1,
        |_, _| Ok(ExprType::binary(16, true)),
        |a| {
            let text = a.text(0)?;
            if let Some(v4) = parse_v4(&text) {
                return Ok(Value::Bytes(v4.octets().to_vec()));
            }
            match text.parse::<Ipv6Addr>() {
                Ok(v6) => Ok(Value::Bytes(v6.octets().to_vec())),
                Err(_) => wrong_address(a),
            }
        },
    ),
    f("inet6_ntoa", 1, 1, text_null::<39>, |a| {
        let bytes = a.bytes(0)?;
        if let Ok(v4) = <[u8; 4]>::try_from(bytes.as_ref()) {
            return Ok(Value::Text(Ipv4Addr::from(v4).to_string()));
        }
        match <[u8; 16]>::try_from(bytes.as_ref()) {
            Ok(v6) => Ok(Value::Text(v6_text(Ipv6Addr::from(v6)))),
            Err(_) => wrong_address(a),
        }
    }),
    f("is_ipv4", 1, 1, boolean, |a| is_address(a, |text| parse_v4(&text_of(text)).is_some())),
    f("is_ipv6", 1, 1, boolean, |a| {
        is_address(a, |text| text_of(text).parse::<Ipv6Addr>().is_ok())
    }),
    f("is_ipv4_compat", 1, 1, boolean, |a| {
        is_address(a, |bytes| {
            let small = bytes.len() == 16 && bytes[..12].iter().all(|b| *b == 0);
            small && bytes[12..] > [0, 0, 0, 1][..]
        })
    }),
    f("is_ipv4_mapped", 1, 1, boolean, |a| {
        is_address(a, |bytes| {
            let zeros = bytes.len() == 16 && bytes[..10].iter().all(|b| *b == 0);
            zeros && bytes[10..12] == [255, 255]
        })
    }),
];

fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Whether the argument's string is such an address. No number is one, not even NULL.
fn is_address(a: &mut Args<'_, '_>, check: fn(&[u8]) -> bool) -> FnResult {
    let numeric =
        matches!(a.arg_type(0).class(), TypeClass::Int | TypeClass::Decimal | TypeClass::Real);
    if numeric {
        return Ok(Value::Int(0));
    }
    Ok(Value::Int(check(&a.bytes(0)?).into()))
}

/// NULL with a warning that shows the argument as it is written.
fn wrong_address(a: &mut Args<'_, '_>) -> FnResult {
    let (shown, name) = (print::print(a.expr(0)), a.call.name);
    a.warn(ErrorCode::WrongValueForType, &[&"string", &shown, &name])?;
    Err(Stop::Null)
}

/// An address as INET6_NTOA prints it: the first of the longest gaps of zero words is `::`, also
/// one of a single word, and what may be an IPv4 address behind it is printed as one.
fn v6_text(address: Ipv6Addr) -> String {
    let words = address.segments();
    let mut gap = (0, 0);
    let mut at = 0;
    while at < words.len() {
        let length = words[at..].iter().take_while(|word| **word == 0).count();
        if length > gap.1 {
            gap = (at, length);
        }
        at += length.max(1);
    }
    let (start, length) = gap;
    let hex = |words: &[u16]| {
        let words: Vec<String> = words.iter().map(|word| format!("{word:x}")).collect();
        words.join(":")
    };
    if length == 0 {
        return hex(&words);
    }
    let octets = address.octets();
    let v4 = Ipv4Addr::new(octets[12], octets[13], octets[14], octets[15]);
    match (start, length) {
        (0, 6) => format!("::{v4}"),
        (0, 5) if words[5] == 0xffff => format!("::ffff:{v4}"),
        _ => format!("{}::{}", hex(&words[..start]), hex(&words[start + length..])),
    }
}

/// Four decimal numbers up to 255, none longer than three digits.
fn parse_v4(text: &str) -> Option<Ipv4Addr> {
    let mut octets = [0u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        let digits = (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        *octet = part.parse().ok().filter(|_| digits)?;
    }
    parts.next().is_none().then_some(Ipv4Addr::from(octets))
}

/// `a.b.c.d` and the shorter forms: `a.d` means a.0.0.d.
fn inet_aton(a: &mut Args<'_, '_>) -> FnResult {
    let text = a.text(0)?;
    let parts: Option<Vec<u64>> = text
        .split('.')
        .map(|part| {
            let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            part.parse().ok().filter(|value| digits && *value <= 255)
        })
        .collect();
    match parts {
        Some(parts) if parts.len() <= 4 => {
            let (last, first) = parts.split_last().ok_or(Stop::Null)?;
            let high = first.iter().enumerate().map(|(i, part)| part << (24 - 8 * i));
            Ok(Value::UInt(high.sum::<u64>() + last))
        }
        _ => wrong_address(a),
    }
}

/// Random bits from the process's seeded hasher and a counter.
pub(super) fn random_u64() -> u64 {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(COUNTER.fetch_add(1, Ordering::Relaxed));
    hasher.finish()
}

/// Version 1: time, clock sequence, node.
fn uuid(a: &mut Args<'_, '_>) -> FnResult {
    Ok(Value::Text(new_uuid(a.ctx.host.clock_micros())))
}

/// A UUID of the time, which no other call gets, and of this process.
pub fn new_uuid(micros: i64) -> String {
    const EPOCH: u64 = 0x01B2_1DD2_1381_4000;
    static LAST: AtomicU64 = AtomicU64::new(0);
    static NODE: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let ticks = (micros as u64).wrapping_mul(10).wrapping_add(EPOCH);
    let last = LAST.fetch_max(ticks, Ordering::Relaxed);
    let time = if ticks > last { ticks } else { LAST.fetch_add(1, Ordering::Relaxed) + 1 };
    let node = *NODE.get_or_init(random_u64);
    let mut bytes = Vec::with_capacity(16);
    bytes.extend_from_slice(&(time as u32).to_be_bytes());
    bytes.extend_from_slice(&((time >> 32) as u16).to_be_bytes());
    bytes.extend_from_slice(&((time >> 48) as u16 & 0x0FFF | 0x1000).to_be_bytes());
    bytes.extend_from_slice(&((node >> 48) as u16 & 0x3FFF | 0x8000).to_be_bytes());
    bytes.extend_from_slice(&node.to_be_bytes()[2..]);
    bytes[10] |= 1;
    uuid_text(&bytes)
}

fn uuid_text(bytes: &[u8]) -> String {
    let hex = hex_text(bytes).to_lowercase();
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    parts.join("-")
}

/// 32 digits, with dashes at the usual places or none, perhaps in braces.
fn parse_uuid(text: &str) -> Option<Vec<u8>> {
    let inner = match text.len() {
        38 => text.strip_prefix('{')?.strip_suffix('}')?,
        _ => text,
    };
    let dashed = inner.len() == 36;
    if dashed && [8, 13, 18, 23].iter().any(|at| inner.as_bytes()[*at] != b'-') {
        return None;
    }
    let digits: String =
        if dashed { inner.chars().filter(|c| *c != '-').collect() } else { inner.to_owned() };
    (digits.len() == 32).then(|| from_hex(&digits)).flatten()
}

/// Units from the smallest on, each with its size.
type Units = &'static [(f64, &'static str)];

const BYTES: Units = &[
    (1.0, "bytes"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
    (1_125_899_906_842_624.0, "PiB"),
    (1_152_921_504_606_846_976.0, "EiB"),
];

const PICOSECONDS: Units = &[
    (1.0, "ps"),
    (1e3, "ns"),
    (1e6, "us"),
    (1e9, "ms"),
    (1e12, "s"),
    (6e13, "min"),
    (3.6e15, "h"),
    (8.64e16, "d"),
];

/// A number in the largest unit that it reaches: `1.46 KiB`.
fn in_units(number: f64, units: Units) -> Value {
    let found = units.iter().rposition(|(size, _)| number.abs() >= *size).unwrap_or(0);
    let (size, unit) = units[found];
    let width = if unit == "bytes" { 4 } else { 3 };
    let amount = number / size;
    Value::Text(match found {
        0 => format!("{:>width$} {unit}", number.trunc() as i64),
        _ if amount.abs() < 100_000.0 => format!("{amount:.2} {unit}"),
        _ => {
            let text = format!("{amount:.2e}");
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            format!("{digits}e+{exponent:0>2} {unit}")
        }
    })
}
