//! `LOCK_DATA`: a record's key as MySQL's storage engine prints it.
//!
//! An index's own columns come first, then those of the primary key that are not among them, or
//! the hidden row id. Integers and strings are readable; other values are the bytes that MySQL
//! keeps them in, in hexadecimal.

use crate::catalog::{Table, TableDef};
use crate::row::Cell;
use inia_base::datatype::DataType;
use inia_base::temporal::{DateTime, Time};
use std::fmt::Write;

/// What is behind the last record.
pub(super) const SUPREMUM: &str = "supremum pseudo-record";

/// The key of a record of an index, or of the rows of a table without a primary key.
pub(super) fn lock_data(
    table: &Table,
    index: Option<usize>,
    (key, value): (&[u8], &[u8]),
) -> String {
    let own = index.filter(|index| !table.def.indexes[*index].kind.has_elements());
    let Some(index) = own else { return hidden_id(key) };
    columns(table, index, (key, value)).unwrap_or_else(|| hexadecimal(key))
}

fn columns(table: &Table, index: usize, (key, value): (&[u8], &[u8])) -> Option<String> {
    let def = &table.def;
    let own = &def.indexes[index];
    let codec = &table.indexes[index].codec;
    let cell_of = |column: usize| match own.clustered {
        true => table.layout.cell(value, column).ok(),
        false => codec.cell(key, value, column).ok(),
    };
    let mut texts = Vec::new();
    for (at, part) in own.parts.iter().enumerate() {
        let read = codec.key_part(key, at).ok().filter(|_| value.is_empty());
        let cell = read.or_else(|| cell_of(part.column)).or_else(|| codec.key_part(key, at).ok());
        texts.push(text(&cell?, def, part.column));
    }
    if own.clustered {
        return Some(texts.join(", "));
    }
    match def.clustered_index() {
        Some(primary) => {
            let more = primary.parts.iter().map(|part| part.column);
            for column in more.filter(|column| own.parts.iter().all(|part| part.column != *column))
            {
                texts.push(text(&cell_of(column)?, def, column));
            }
        }
        None => texts.push(hidden_id(codec.primary_key(key, value).ok()?)),
    }
    Some(texts.join(", "))
}

/// MySQL has six bytes for it.
fn hidden_id(key: &[u8]) -> String {
    hexadecimal(&key[key.len().saturating_sub(6)..])
}

fn text(cell: &Cell<'_>, def: &TableDef, column: usize) -> String {
    let data_type = &def.columns[column].data_type;
    let bytes = |bytes: &[u8]| hexadecimal(bytes);
    match cell {
        Cell::Null => String::from("NULL"),
        Cell::Int(number) => number.to_string(),
        Cell::UInt(number) => match data_type {
            DataType::Bit(bits) => {
                let length = usize::from(*bits).div_ceil(8);
                bytes(&number.to_be_bytes()[8 - length..])
            }
            DataType::Year => number.saturating_sub(1900).to_string(),
            _ => number.to_string(),
        },
        Cell::Text(text) => match data_type {
            DataType::Char { chars, .. } => quoted(&format!("{text:<0$}", *chars as usize)),
            _ => quoted(text),
        },
        Cell::Bytes(binary) => bytes(binary),
        Cell::Float(number) => bytes(&number.to_le_bytes()),
        Cell::Double(number) => bytes(&number.to_le_bytes()),
        Cell::Decimal(number) => match data_type {
            DataType::Decimal { precision, scale, .. } => {
                bytes(&decimal_bytes(&number.to_string(), *precision - *scale, *scale))
            }
            _ => number.to_string(),
        },
        Cell::Date(date) => {
            let months = u32::from(date.year) * 16 + u32::from(date.month);
            (months * 32 + u32::from(date.day)).to_string()
        }
        Cell::Time(time) => bytes(&time_bytes(*time, fraction_digits(data_type))),
        Cell::DateTime(moment) => bytes(&moment_bytes(*moment, false, fraction_digits(data_type))),
        Cell::Timestamp(moment) => bytes(&moment_bytes(*moment, true, fraction_digits(data_type))),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn fraction_digits(data_type: &DataType) -> u8 {
    match data_type {
        DataType::Time { fsp } | DataType::DateTime { fsp } | DataType::Timestamp { fsp } => *fsp,
        _ => 0,
    }
}

/// A fraction of a second takes a byte for each two digits.
fn fraction(micros: u32, digits: u8) -> Vec<u8> {
    let length = usize::from(digits.div_ceil(2));
    let unit = 10u32.pow(6 - 2 * length as u32);
    (micros / unit).to_be_bytes()[4 - length..].to_vec()
}

fn moment_bytes(moment: DateTime, stamp: bool, digits: u8) -> Vec<u8> {
    let mut bytes = match stamp {
        true => (moment.to_unix() as u32).to_be_bytes().to_vec(),
        false => {
            let months = u64::from(moment.date.year) * 13 + u64::from(moment.date.month);
            let days = months << 5 | u64::from(moment.date.day);
            let clock = u64::from(moment.hour) << 12 | u64::from(moment.minute) << 6;
            let packed = (days << 17 | clock | u64::from(moment.second)) + (1 << 39);
            packed.to_be_bytes()[3..].to_vec()
        }
    };
    bytes.extend(fraction(moment.micros, digits));
    bytes
}

fn time_bytes(time: Time, digits: u8) -> Vec<u8> {
    let length = usize::from(digits.div_ceil(2));
    let micros = time.micros.unsigned_abs();
    let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
    let clock = (seconds / 3600) << 12 | (seconds / 60 % 60) << 6 | (seconds % 60);
    let part = rest / 10u64.pow(6 - 2 * length as u32);
    let packed = (clock << (8 * length) | part) as i64;
    let signed = if time.is_negative() { -packed } else { packed };
    let stored = (0x80_0000i64 << (8 * length)) + signed;
    stored.to_be_bytes()[8 - 3 - length..].to_vec()
}

/// Nine digits take four bytes, fewer take less; the sign is the first bit.
fn decimal_bytes(number: &str, whole: u8, scale: u8) -> Vec<u8> {
    const LENGTHS: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];
    let (negative, number) = match number.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, number),
    };
    let (left, right) = number.split_once('.').unwrap_or((number, ""));
    let left = format!("{:0>1$}", left.trim_start_matches('0'), usize::from(whole));
    let right = format!("{right:0<0$}", usize::from(scale));
    let (first, groups) = left.split_at(left.len() % 9);
    let mut bytes = Vec::new();
    let mut put = |digits: &str| {
        let number: u32 = digits.parse().unwrap_or(0);
        bytes.extend(&number.to_be_bytes()[4 - LENGTHS[digits.len()]..]);
    };
    put(first);
    for part in [groups, &right] {
        part.as_bytes().chunks(9).for_each(|group| put(&String::from_utf8_lossy(group)));
    }
    if let Some(first) = bytes.first_mut() {
        *first ^= 0x80;
    }
    if negative {
        bytes.iter_mut().for_each(|byte: &mut u8| *byte = !*byte);
    }
    bytes
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::from("0x"), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02X}");
        text
    })
}
