//! One part of an index key: bytes that `memcmp` orders as SQL orders the column.
//!
//! A nullable part starts with a marker, 0 for NULL (which sorts first) and 1 for a value. Integers
//! are big-endian with the sign flipped; strings are their collation's sort key (or their bytes),
//! in which a zero byte becomes `00 FF`, ended by `00 00`. DESC inverts every byte of the part.

use super::cell::Cell;
use super::fixed::{self, FixedKind};
use crate::error::Damaged;
use crate::table_def::IndexPart;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_geometry::cells::{Grid, KEY_BYTES};

/// What a NULL's part consists of.
pub(super) const NULL: u8 = 0;
const PRESENT: u8 = 1;
/// The longest fixed-size part: DECIMAL(65, 30).
const MAX_FIXED: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartKind {
    Fixed(FixedKind),
    Text(Collation),
    Bytes,
    /// The cell of a geometry's box, see [`inia_geometry::cells`].
    Cell(Grid),
}

/// Encodes, skips and decodes one part.
#[derive(Clone, Debug)]
pub(crate) struct PartCodec {
    pub(crate) column: usize,
    pub(crate) nullable: bool,
    pub(super) descending: bool,
    prefix: Option<u32>,
    kind: PartKind,
}

impl PartCodec {
    pub(crate) fn new(part: &IndexPart, data_type: &DataType, nullable: bool) -> PartCodec {
        let kind = match data_type {
            DataType::Char { collation, .. }
            | DataType::VarChar { collation, .. }
            | DataType::Text { collation, .. } => PartKind::Text(*collation),
            DataType::Json => PartKind::Text(Collation::UTF8MB4_BIN),
            other => FixedKind::of(other).map_or(PartKind::Bytes, PartKind::Fixed),
        };
        let (column, descending, prefix) = (part.column, part.descending, part.prefix);
        PartCodec { column, nullable, descending, prefix, kind }
    }

    /// The part of a spatial index.
    pub(crate) fn spatial(part: &IndexPart, srid: Option<u32>) -> PartCodec {
        let kind = PartKind::Cell(Grid::of(srid));
        PartCodec {
            column: part.column,
            nullable: false,
            descending: false,
            prefix: part.prefix,
            kind,
        }
    }

    /// How a spatial index orders places.
    pub(crate) fn grid(&self) -> Option<Grid> {
        match self.kind {
            PartKind::Cell(grid) => Some(grid),
            _ => None,
        }
    }

    /// Whether the column's value can be read back from the key.
    pub(crate) fn reversible(&self) -> bool {
        matches!(self.kind, PartKind::Fixed(_))
    }

    /// Whether the part holds the whole value, so that equal parts mean equal values.
    pub(crate) fn whole(&self) -> bool {
        self.prefix.is_none()
    }

    /// How its numbers are stored, where it holds numbers as [`super::many`] means them. (YEAR,
    /// ENUM and SET differ by the column's type only.)
    pub(super) fn number(&self) -> Option<FixedKind> {
        match self.kind {
            PartKind::Fixed(
                kind @ (FixedKind::Int(_)
                | FixedKind::UInt(_)
                | FixedKind::Date
                | FixedKind::DateTime),
            ) if self.whole() => Some(kind),
            _ => None,
        }
    }

    /// Bytes of the part where that does not depend on the value.
    pub(crate) fn constant_len(&self) -> Option<usize> {
        match self.kind {
            PartKind::Fixed(kind) if !self.nullable => Some(kind.len()),
            PartKind::Cell(_) => Some(KEY_BYTES),
            _ => None,
        }
    }

    /// Appends the part.
    pub(crate) fn put(&self, cell: &Cell<'_>, out: &mut Vec<u8>) -> Result<(), Damaged> {
        let start = out.len();
        if self.nullable {
            out.push(if *cell == Cell::Null { NULL } else { PRESENT });
        }
        match (self.kind, cell) {
            (_, Cell::Null) if self.nullable => {}
            (PartKind::Fixed(kind), cell) => put_fixed(kind, cell, out)?,
            (PartKind::Text(collation), Cell::Text(text)) => {
                let text = match self.prefix {
                    Some(chars) => first_chars(text, chars as usize),
                    None => text,
                };
                let mut key = Vec::with_capacity(text.len() * 2);
                collation.sort_key(text.as_bytes(), &mut key);
                put_escaped(&key, out);
            }
            (PartKind::Bytes, Cell::Bytes(bytes)) => {
                let limit = self.prefix.map_or(bytes.len(), |n| bytes.len().min(n as usize));
                put_escaped(&bytes[..limit], out);
            }
            (PartKind::Cell(grid), Cell::Bytes(bytes)) => {
                let (_, bounds) = inia_geometry::internal_bounds(bytes).ok_or(Damaged)?;
                out.extend_from_slice(&grid.key(bounds.as_ref()));
            }
            _ => return Err(Damaged),
        }
        if self.descending {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
        Ok(())
    }

    /// Whether the part at the start of `key` is NULL.
    pub(crate) fn is_null(&self, key: &[u8]) -> bool {
        let flip = if self.descending { 0xff } else { 0 };
        self.nullable && key.first().is_some_and(|first| first ^ flip == NULL)
    }

    /// Bytes that this part takes at the start of `key`.
    pub(crate) fn skip(&self, key: &[u8]) -> Result<usize, Damaged> {
        let flip = if self.descending { 0xff } else { 0 };
        let mut at = 0;
        if self.nullable {
            at = 1;
            if key.first().ok_or(Damaged)? ^ flip == NULL {
                return Ok(at);
            }
        }
        match self.kind {
            PartKind::Fixed(kind) => return Ok(at + kind.len()),
            PartKind::Cell(_) => return Ok(at + KEY_BYTES),
            _ => {}
        }
        loop {
            if key.get(at).ok_or(Damaged)? ^ flip != 0 {
                at += 1;
                continue;
            }
            let escaped = key.get(at + 1).ok_or(Damaged)? ^ flip != 0;
            at += 2;
            if !escaped {
                return Ok(at);
            }
        }
    }

    /// Reads the value at the start of `key`; only for reversible parts.
    #[inline]
    pub(crate) fn get<'a>(&self, key: &[u8]) -> Result<Cell<'a>, Damaged> {
        let PartKind::Fixed(kind) = self.kind else { return Err(Damaged) };
        let flip = if self.descending { 0xff } else { 0 };
        let mut at = 0;
        if self.nullable {
            at = 1;
            if key.first().ok_or(Damaged)? ^ flip == NULL {
                return Ok(Cell::Null);
            }
        }
        let bytes = key.get(at..at + kind.len()).ok_or(Damaged)?;
        if let FixedKind::Int(size) | FixedKind::UInt(size) = kind {
            let number = bytes.iter().fold(0, |word, byte| word << 8 | u64::from(byte ^ flip));
            // The sign stands flipped in the key.
            let shift = 64 - 8 * u32::from(size);
            return Ok(match kind {
                FixedKind::Int(_) => Cell::Int(((number << shift) ^ 1 << 63) as i64 >> shift),
                _ => Cell::UInt(number),
            });
        }
        let mut plain = [0; MAX_FIXED];
        let plain = plain.get_mut(..bytes.len()).ok_or(Damaged)?;
        for (to, from) in plain.iter_mut().zip(bytes) {
            *to = from ^ flip;
        }
        get_fixed(kind, plain)
    }
}

fn put_fixed(kind: FixedKind, cell: &Cell<'_>, out: &mut Vec<u8>) -> Result<(), Damaged> {
    let word = match (kind, cell) {
        (FixedKind::Int(_), Cell::Int(v)) => *v as u64,
        (FixedKind::Int(_) | FixedKind::UInt(_), Cell::UInt(v)) => *v,
        (FixedKind::UInt(_), Cell::Int(v)) => *v as u64,
        (FixedKind::Float, Cell::Float(v)) => u64::from(order_f32(*v)),
        (FixedKind::Double, Cell::Double(v)) => order_f64(*v),
        (FixedKind::Date, Cell::Date(v)) => u64::from(fixed::pack_date(*v)),
        (FixedKind::DateTime, Cell::DateTime(v)) => fixed::pack_datetime(*v),
        (FixedKind::Time, Cell::Time(v)) => v.micros as u64,
        (FixedKind::Timestamp, Cell::Timestamp(v)) => fixed::pack_datetime(*v),
        (FixedKind::Decimal(precision, scale), Cell::Decimal(v)) => {
            v.encode(precision, scale, out);
            return Ok(());
        }
        _ => return Err(Damaged),
    };
    let size = kind.len();
    let start = out.len();
    out.extend_from_slice(&word.to_be_bytes()[8 - size..]);
    if signed(kind) {
        out[start] ^= 0x80;
    }
    Ok(())
}

fn get_fixed<'a>(kind: FixedKind, bytes: &mut [u8]) -> Result<Cell<'a>, Damaged> {
    match kind {
        FixedKind::Decimal(..) => return fixed::get(kind, bytes),
        FixedKind::Float => {
            let word: [u8; 4] = (&*bytes).try_into().map_err(|_| Damaged)?;
            return Ok(Cell::Float(unorder_f32(u32::from_be_bytes(word))));
        }
        FixedKind::Double => {
            let word: [u8; 8] = (&*bytes).try_into().map_err(|_| Damaged)?;
            return Ok(Cell::Double(unorder_f64(u64::from_be_bytes(word))));
        }
        _ => {}
    }
    if signed(kind) {
        bytes[0] ^= 0x80;
    }
    bytes.reverse();
    fixed::get(kind, bytes)
}

fn signed(kind: FixedKind) -> bool {
    matches!(kind, FixedKind::Int(_) | FixedKind::Time)
}

fn order_f64(value: f64) -> u64 {
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn unorder_f64(word: u64) -> f64 {
    f64::from_bits(if word >> 63 == 1 { word & !(1 << 63) } else { !word })
}

fn order_f32(value: f32) -> u32 {
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

fn unorder_f32(word: u32) -> f32 {
    f32::from_bits(if word >> 31 == 1 { word & !(1 << 31) } else { !word })
}

fn put_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

fn first_chars(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(at, _)| &text[..at])
}
