//! JSON_STORAGE_SIZE: how many bytes MySQL's binary form of a document has.
//!
//! A container is its number of elements, its size, an entry for each key and each value, the
//! keys, and the values that do not fit into their entries. Offsets and sizes have two bytes, in
//! containers of 64 KiB and more four.

use super::Json;
use inia_base::decimal::Decimal;

/// The size of a whole document: its type's byte and its value.
pub(crate) fn size(json: &Json) -> usize {
    1 + value(json)
}

/// The size of a value without its type's byte.
fn value(json: &Json) -> usize {
    match json {
        Json::Null | Json::Bool(_) => 1,
        Json::Int(number) if i16::try_from(*number).is_ok() => 2,
        Json::Int(number) if i32::try_from(*number).is_ok() => 4,
        Json::UInt(number) if u16::try_from(*number).is_ok() => 2,
        Json::UInt(number) if u32::try_from(*number).is_ok() => 4,
        Json::Int(_) | Json::UInt(_) | Json::Double(_) => 8,
        Json::String(text) => with_length(text.len()),
        Json::Opaque(_, bytes) => 1 + with_length(bytes.len()),
        Json::Date(_) | Json::Time(_) | Json::DateTime(_) => 1 + with_length(8),
        Json::Decimal(number) => 1 + with_length(2 + decimal(number)),
        Json::Array(items) => either(|wide| array(items, wide)),
        Json::Object(members) => either(|wide| object(members, wide)),
    }
}

/// A length in groups of seven bits, and as many bytes.
fn with_length(bytes: usize) -> usize {
    let groups = (usize::BITS - bytes.leading_zeros()).div_ceil(7).max(1);
    groups as usize + bytes
}

/// Bytes of a decimal as columns store it: nine digits in four bytes on both sides of the point.
fn decimal(number: &Decimal) -> usize {
    const REST: [usize; 9] = [0, 1, 1, 2, 2, 3, 3, 4, 4];
    let side = |digits: usize| digits / 9 * 4 + REST[digits % 9];
    let scale = usize::from(number.scale());
    side(usize::from(number.precision()).saturating_sub(scale)) + side(scale)
}

/// The small form of a container, or the large one where it does not fit.
fn either(size: impl Fn(bool) -> usize) -> usize {
    match size(false) {
        small if small < 1 << 16 => small,
        _ => size(true),
    }
}

/// A value's entry, and its bytes where they are not in there.
fn entry(json: &Json, wide: bool) -> usize {
    let room = if wide { 4 } else { 2 };
    let own = value(json);
    let scalar = matches!(json, Json::Null | Json::Bool(_) | Json::Int(_) | Json::UInt(_));
    1 + room + if scalar && own <= room { 0 } else { own }
}

fn array(items: &[Json], wide: bool) -> usize {
    let head = if wide { 8 } else { 4 };
    head + items.iter().map(|item| entry(item, wide)).sum::<usize>()
}

fn object(members: &[(String, Json)], wide: bool) -> usize {
    let (head, key) = if wide { (8, 6) } else { (4, 4) };
    let entries = members.iter().map(|(name, item)| key + name.len() + entry(item, wide));
    head + entries.sum::<usize>()
}
