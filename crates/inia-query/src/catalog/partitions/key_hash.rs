//! The hash of PARTITION BY KEY, as MySQL computes it: which partition a row is in shows.
//!
//! Each column's bytes, in the form in which MySQL keeps them in a row, go through the hash of its
//! collation. Two numbers, at first 1 and 4, go from column to column; the first one's lower half
//! is the hash. Numbers and times count as texts in latin1_swedish_ci, which is why spaces (0x20)
//! at their end do not count. ALGORITHM = 1 takes the bytes of numbers as they are.

use crate::error::Damaged;
use crate::row::Cell;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use inia_base::temporal::{DateTime, Time};

/// FNV-1a's start and factor.
const FNV_START: u64 = 14_695_981_039_346_656_037;
const FNV_FACTOR: u64 = 1_099_511_628_211;

struct Hash {
    first: u64,
    second: u64,
}

impl Hash {
    fn byte(&mut self, byte: u8) {
        let mixed = ((self.first & 63) + self.second).wrapping_mul(u64::from(byte));
        self.first ^= mixed.wrapping_add(self.first << 8);
        self.second = self.second.wrapping_add(3);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.byte(*byte));
    }

    /// Bytes as text in latin1_swedish_ci.
    fn latin1(&mut self, bytes: &[u8]) {
        trimmed(bytes).iter().for_each(|byte| self.byte(swedish(*byte)));
    }

    fn text(&mut self, text: &[u8], collation: Collation) {
        let mut weights = Vec::new();
        if collation == Collation::BINARY {
            self.bytes(text);
        } else if collation.is_binary() {
            self.bytes(if collation.pads_space() { trimmed(text) } else { text });
        } else if collation.pads_space() {
            collation.weight_string(trimmed(text), &mut weights);
            for pair in weights.chunks(2) {
                pair.iter().rev().for_each(|byte| self.byte(*byte));
            }
        } else {
            collation.weight_string(text, &mut weights);
            let mut hash = self.first ^ FNV_START;
            for pair in weights.chunks(2) {
                let weight = pair.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
                hash = (hash ^ weight).wrapping_mul(FNV_FACTOR);
            }
            self.first = hash;
        }
    }
}

/// The hash of columns in order.
pub(super) fn hash_columns<'v>(
    columns: impl Iterator<Item = Result<(Cell<'v>, &'v DataType), Damaged>>,
    old: bool,
) -> Result<u32, Damaged> {
    let mut hash = Hash { first: 1, second: 4 };
    for column in columns {
        let (cell, data_type) = column?;
        if cell == Cell::Null {
            hash.first ^= hash.first << 1 | 1;
            continue;
        }
        match (cell, data_type) {
            (Cell::Text(text), DataType::Char { chars, collation }) => {
                // A row has room for the longest text, and spaces fill it.
                let width = inia_expr::charset::max_bytes(*collation) * chars;
                let mut padded = text.as_bytes().to_vec();
                padded.resize(padded.len().max(width as usize), b' ');
                hash.text(&padded, *collation);
            }
            (
                Cell::Text(text),
                DataType::VarChar { collation, .. } | DataType::Text { collation, .. },
            ) => hash.text(text.as_bytes(), *collation),
            (Cell::Bytes(bytes), DataType::Binary(width)) => {
                let mut padded = bytes.to_vec();
                padded.resize(padded.len().max(*width as usize), 0);
                hash.bytes(&padded);
            }
            (Cell::Bytes(bytes), _) => hash.bytes(bytes),
            (Cell::UInt(value), DataType::Bit(_)) => hash.bytes(&value.to_be_bytes()),
            (Cell::UInt(value), DataType::Enum { members, .. }) => {
                let width = if members.len() < 256 { 1 } else { 2 };
                number(&mut hash, &value.to_le_bytes()[..width], !old);
            }
            (Cell::UInt(value), DataType::Set { members, .. }) => {
                let width = match members.len().div_ceil(8) {
                    width @ ..=4 => width,
                    _ => 8,
                };
                number(&mut hash, &value.to_le_bytes()[..width], !old);
            }
            (cell, data_type) => {
                let timed = matches!(cell, Cell::DateTime(_) | Cell::Timestamp(_) | Cell::Time(_));
                number(&mut hash, &stored(cell, data_type)?, old || timed);
            }
        }
    }
    Ok(hash.first as u32)
}

fn number(hash: &mut Hash, bytes: &[u8], plain: bool) {
    match plain {
        true => hash.bytes(bytes),
        false => hash.latin1(bytes),
    }
}

/// A number or time as MySQL keeps it in a row.
fn stored(cell: Cell<'_>, data_type: &DataType) -> Result<Vec<u8>, Damaged> {
    let fsp = match data_type {
        DataType::Time { fsp } | DataType::DateTime { fsp } | DataType::Timestamp { fsp } => *fsp,
        _ => 0,
    };
    Ok(match (cell, data_type) {
        (Cell::UInt(0), DataType::Year) => vec![0],
        (Cell::UInt(year), DataType::Year) => vec![(year - 1900) as u8],
        (Cell::Int(value), DataType::Int { width, .. }) => {
            value.to_le_bytes()[..usize::from(width.bytes())].to_vec()
        }
        (Cell::UInt(value), DataType::Int { width, .. }) => {
            value.to_le_bytes()[..usize::from(width.bytes())].to_vec()
        }
        (Cell::Float(value), _) => value.to_le_bytes().to_vec(),
        (Cell::Double(value), _) => value.to_le_bytes().to_vec(),
        (Cell::Decimal(value), DataType::Decimal { precision, scale, .. }) => {
            decimal_bytes(value, usize::from(*precision), usize::from(*scale))
        }
        (Cell::Date(date), _) => {
            let packed =
                u32::from(date.year) << 9 | u32::from(date.month) << 5 | u32::from(date.day);
            packed.to_le_bytes()[..3].to_vec()
        }
        (Cell::DateTime(moment), _) => {
            let packed = day_and_time(moment) + (1 << 39);
            let mut bytes = packed.to_be_bytes()[3..].to_vec();
            fraction(moment.micros, fsp, &mut bytes);
            bytes
        }
        (Cell::Timestamp(moment), _) => {
            let mut bytes = (moment.to_unix() as u32).to_be_bytes().to_vec();
            fraction(moment.micros, fsp, &mut bytes);
            bytes
        }
        (Cell::Time(time), _) => time_bytes(time, fsp),
        _ => return Err(Damaged),
    })
}

/// Nine digits are four bytes; fewer digits at either end take fewer. A negative number's bits are
/// inverted, and the first one of all numbers.
fn decimal_bytes(value: Decimal, precision: usize, scale: usize) -> Vec<u8> {
    const BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];
    let mut text = Vec::new();
    value.rescale(precision as u8, scale as u8).value.write_text(&mut text);
    let text = String::from_utf8(text).unwrap_or_default();
    let digits = text.trim_start_matches('-');
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = format!("{:0>width$}", whole.trim_start_matches('0'), width = precision - scale);
    let part = format!("{part:0<scale$}");
    let mut out = Vec::new();
    let mut put = |digits: &str| {
        let number: u32 = digits.parse().unwrap_or(0);
        out.extend_from_slice(&number.to_be_bytes()[4 - BYTES[digits.len()]..]);
    };
    let (first, groups) = whole.split_at(whole.len() % 9);
    put(first);
    (0..groups.len() / 9).for_each(|group| put(&groups[group * 9..group * 9 + 9]));
    let (groups, last) = part.split_at(part.len() / 9 * 9);
    (0..groups.len() / 9).for_each(|group| put(&groups[group * 9..group * 9 + 9]));
    put(last);
    if text.starts_with('-') {
        out.iter_mut().for_each(|byte| *byte = !*byte);
    }
    out.iter_mut().take(1).for_each(|byte| *byte ^= 0x80);
    out
}

fn day_and_time(moment: DateTime) -> u64 {
    let date = moment.date;
    let month = u64::from(date.year) * 13 + u64::from(date.month);
    let day = month << 5 | u64::from(date.day);
    let clock =
        u64::from(moment.hour) << 12 | u64::from(moment.minute) << 6 | u64::from(moment.second);
    day << 17 | clock
}

fn fraction(micros: u32, fsp: u8, out: &mut Vec<u8>) {
    match fsp {
        0 => {}
        1 | 2 => out.push((micros / 10_000) as u8),
        3 | 4 => out.extend_from_slice(&((micros / 100) as u16).to_be_bytes()),
        _ => out.extend_from_slice(&micros.to_be_bytes()[1..]),
    }
}

/// The packed time: sign, hours, minutes, seconds and a fraction as one number.
fn time_bytes(time: Time, fsp: u8) -> Vec<u8> {
    let (micros, negative) = (time.micros.unsigned_abs(), time.micros < 0);
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let clock = (seconds / 3600) << 12 | (seconds / 60 % 60) << 6 | (seconds % 60);
    let bytes = usize::from(fsp.div_ceil(2));
    let unit = [1_000_000, 10_000, 100, 1][bytes.min(3)];
    let bits = 8 * bytes as u32;
    let packed = (clock << bits | if bytes == 0 { 0 } else { fraction / unit }) as i64;
    let packed = if negative { -packed } else { packed } + (1 << (23 + bits));
    packed.to_be_bytes()[8 - 3 - bytes..].to_vec()
}

fn trimmed(mut bytes: &[u8]) -> &[u8] {
    while let Some((b' ', rest)) = bytes.split_last() {
        bytes = rest;
    }
    bytes
}

/// The weight of a byte in latin1_swedish_ci.
fn swedish(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => byte - 32,
        0xc0..=0xc3 | 0xe0..=0xe3 => b'A',
        0xc4 | 0xc6 | 0xe4 | 0xe6 => 92,
        0xc5 | 0xe5 => 91,
        0xc7 | 0xe7 => b'C',
        0xc8..=0xcb | 0xe8..=0xeb => b'E',
        0xcc..=0xcf | 0xec..=0xef => b'I',
        0xd0 | 0xf0 => b'D',
        0xd1 | 0xf1 => b'N',
        0xd2..=0xd5 | 0xf2..=0xf5 => b'O',
        0xd6 | 0xf6 => 93,
        0xf8 => 216,
        0xd9..=0xdb | 0xf9..=0xfb => b'U',
        0xdc | 0xdd | 0xfc | 0xfd => b'Y',
        0xfe => 222,
        _ => byte,
    }
}
