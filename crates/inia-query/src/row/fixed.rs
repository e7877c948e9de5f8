//! Columns of a fixed size in a row.

use super::cell::Cell;
use crate::error::Damaged;
use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use inia_base::temporal::{Date, DateTime, Time};

/// How a fixed-size column is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FixedKind {
    /// A little-endian two's complement integer of so many bytes.
    Int(u8),
    /// A little-endian integer of so many bytes.
    UInt(u8),
    Float,
    Double,
    /// DECIMAL(precision, scale).
    Decimal(u8, u8),
    Date,
    Time,
    DateTime,
    Timestamp,
}

impl FixedKind {
    /// The kind of a column type; `None` for types of variable size.
    pub(crate) fn of(data_type: &DataType) -> Option<FixedKind> {
        Some(match data_type {
            DataType::Int { width, unsigned } => {
                let size = width.bytes();
                if *unsigned { FixedKind::UInt(size) } else { FixedKind::Int(size) }
            }
            DataType::Bit(bits) => FixedKind::UInt(bits.div_ceil(8)),
            DataType::Decimal { precision, scale, .. } => FixedKind::Decimal(*precision, *scale),
            DataType::Float { .. } => FixedKind::Float,
            DataType::Double { .. } => FixedKind::Double,
            DataType::Date => FixedKind::Date,
            DataType::Time { .. } => FixedKind::Time,
            DataType::DateTime { .. } => FixedKind::DateTime,
            DataType::Timestamp { .. } => FixedKind::Timestamp,
            DataType::Year => FixedKind::UInt(2),
            DataType::Enum { .. } => FixedKind::UInt(2),
            DataType::Set { members, .. } => {
                FixedKind::UInt(members.len().div_ceil(8).clamp(1, 8) as u8)
            }
            _ => return None,
        })
    }

    /// Bytes in the row.
    pub(crate) fn len(self) -> usize {
        match self {
            FixedKind::Int(size) | FixedKind::UInt(size) => usize::from(size),
            FixedKind::Float => 4,
            FixedKind::Date => 3,
            FixedKind::Decimal(precision, _) => Decimal::storage_size(precision),
            FixedKind::Double | FixedKind::Time | FixedKind::DateTime | FixedKind::Timestamp => 8,
        }
    }
}

/// Writes a cell; NULL leaves the zeros that are there.
pub(crate) fn put(kind: FixedKind, cell: &Cell<'_>, out: &mut [u8]) -> Result<(), Damaged> {
    let size = out.len();
    let word = match (kind, cell) {
        (_, Cell::Null) => {
            out.fill(0);
            return Ok(());
        }
        (FixedKind::Int(_) | FixedKind::UInt(_), Cell::Int(v)) => *v as u64,
        (FixedKind::Int(_) | FixedKind::UInt(_), Cell::UInt(v)) => *v,
        (FixedKind::Float, Cell::Float(v)) => u64::from(v.to_bits()),
        (FixedKind::Double, Cell::Double(v)) => v.to_bits(),
        (FixedKind::Date, Cell::Date(v)) => u64::from(pack_date(*v)),
        (FixedKind::Time, Cell::Time(v)) => v.micros as u64,
        (FixedKind::DateTime, Cell::DateTime(v)) => pack_datetime(*v),
        (FixedKind::Timestamp, Cell::Timestamp(v)) => pack_datetime(*v),
        (FixedKind::Decimal(precision, scale), Cell::Decimal(v)) => {
            let mut bytes = Vec::with_capacity(size);
            v.encode(precision, scale, &mut bytes);
            out.copy_from_slice(&bytes);
            return Ok(());
        }
        _ => return Err(Damaged),
    };
    out.copy_from_slice(&word.to_le_bytes()[..size]);
    Ok(())
}

/// Reads a cell from exactly `kind.len()` bytes.
#[inline]
pub(crate) fn get<'a>(kind: FixedKind, bytes: &[u8]) -> Result<Cell<'a>, Damaged> {
    if let FixedKind::Decimal(precision, scale) = kind {
        return Decimal::decode(bytes, precision, scale).map(Cell::Decimal).ok_or(Damaged);
    }
    let word = match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c] => u64::from(u32::from_le_bytes([a, b, c, 0])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => {
            let mut word = [0; 8];
            word.get_mut(..bytes.len()).ok_or(Damaged)?.copy_from_slice(bytes);
            u64::from_le_bytes(word)
        }
    };
    Ok(match kind {
        FixedKind::Int(size) => {
            let shift = 64 - 8 * u32::from(size);
            Cell::Int((word << shift) as i64 >> shift)
        }
        FixedKind::UInt(_) => Cell::UInt(word),
        FixedKind::Float => Cell::Float(f32::from_bits(word as u32)),
        FixedKind::Double => Cell::Double(f64::from_bits(word)),
        FixedKind::Date => Cell::Date(sound_date(unpack_date(word as u32))?),
        FixedKind::Time => {
            let (time, beyond) = Time::clamped(word as i64);
            if beyond {
                return Err(Damaged);
            }
            Cell::Time(time)
        }
        FixedKind::DateTime => Cell::DateTime(sound_datetime(unpack_datetime(word))?),
        FixedKind::Timestamp => Cell::Timestamp(sound_datetime(unpack_datetime(word))?),
        FixedKind::Decimal(..) => return Err(Damaged),
    })
}

/// What every reader of dates may rely on: parts that can be printed and counted with.
pub(super) fn sound_date(date: Date) -> Result<Date, Damaged> {
    if date.year > 9999 || date.month > 12 { Err(Damaged) } else { Ok(date) }
}

pub(super) fn sound_datetime(moment: DateTime) -> Result<DateTime, Damaged> {
    let clock = moment.hour < 24 && moment.minute < 60 && moment.second < 60;
    if !clock || moment.micros > 999_999 {
        return Err(Damaged);
    }
    sound_date(moment.date)?;
    Ok(moment)
}

/// year (15 bits), month (4), day (5): ordered as dates are.
pub(crate) fn pack_date(date: Date) -> u32 {
    u32::from(date.year) << 9 | u32::from(date.month) << 5 | u32::from(date.day)
}

pub(crate) fn unpack_date(word: u32) -> Date {
    Date { year: (word >> 9) as u16, month: (word >> 5 & 15) as u8, day: (word & 31) as u8 }
}

/// Bits of a packed moment below its date.
pub(crate) const BELOW_DATE: u32 = 37;

/// date (24 bits), hour (5), minute (6), second (6), microsecond (20): ordered as times are.
pub(crate) fn pack_datetime(v: DateTime) -> u64 {
    let clock = u64::from(v.hour) << 32 | u64::from(v.minute) << 26 | u64::from(v.second) << 20;
    u64::from(pack_date(v.date)) << BELOW_DATE | clock | u64::from(v.micros)
}

/// The moment of a word that [`pack_datetime`] gave.
pub(crate) fn unpack_datetime(word: u64) -> DateTime {
    DateTime {
        date: unpack_date((word >> BELOW_DATE) as u32),
        hour: (word >> 32 & 31) as u8,
        minute: (word >> 26 & 63) as u8,
        second: (word >> 20 & 63) as u8,
        micros: (word & 0xf_ffff) as u32,
    }
}
