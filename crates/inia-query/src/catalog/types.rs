//! The byte form of column types in catalog records.

use super::codec::{RecordReader, Writer};
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, GeometryKind, IntWidth, LobSize};

const WIDTHS: [IntWidth; 5] =
    [IntWidth::Tiny, IntWidth::Small, IntWidth::Medium, IntWidth::Int, IntWidth::Big];
const SIZES: [LobSize; 4] = [LobSize::Tiny, LobSize::Normal, LobSize::Medium, LobSize::Long];

fn put_all(w: &mut Writer, words: &[u64]) {
    words.iter().for_each(|word| w.int(*word));
}

/// Appends a type: its number and its parameters.
pub(super) fn put_type(w: &mut Writer, data_type: &DataType) {
    let flag = u64::from;
    let place = |size: &LobSize| SIZES.iter().position(|s| s == size).unwrap_or_default() as u64;
    // The numbers are part of the record format, and so are the positions in WIDTHS and SIZES.
    match data_type {
        DataType::Null => w.int(0),
        DataType::Int { width, unsigned } => {
            let width = WIDTHS.iter().position(|w| w == width).unwrap_or_default();
            put_all(w, &[1, width as u64, flag(*unsigned)]);
        }
        DataType::Bit(bits) => put_all(w, &[2, u64::from(*bits)]),
        DataType::Decimal { precision, scale, unsigned } => {
            put_all(w, &[3, u64::from(*precision), u64::from(*scale), flag(*unsigned)]);
        }
        DataType::Float { decimals, unsigned } => {
            put_all(w, &[4, flag(*unsigned)]);
            w.option(*decimals, |w, d| w.int(u64::from(d)));
        }
        DataType::Double { decimals, unsigned } => {
            put_all(w, &[5, flag(*unsigned)]);
            w.option(*decimals, |w, d| w.int(u64::from(d)));
        }
        DataType::Char { chars, collation } => {
            put_all(w, &[6, u64::from(*chars), u64::from(collation.0)]);
        }
        DataType::VarChar { chars, collation } => {
            put_all(w, &[7, u64::from(*chars), u64::from(collation.0)]);
        }
        DataType::Text { size, collation } => {
            put_all(w, &[8, place(size), u64::from(collation.0)]);
        }
        DataType::Binary(bytes) => put_all(w, &[9, u64::from(*bytes)]),
        DataType::VarBinary(bytes) => put_all(w, &[10, u64::from(*bytes)]),
        DataType::Blob(size) => put_all(w, &[11, place(size)]),
        DataType::Date => w.int(12),
        DataType::Time { fsp } => put_all(w, &[13, u64::from(*fsp)]),
        DataType::DateTime { fsp } => put_all(w, &[14, u64::from(*fsp)]),
        DataType::Timestamp { fsp } => put_all(w, &[15, u64::from(*fsp)]),
        DataType::Year => w.int(16),
        DataType::Enum { members, collation } => {
            put_all(w, &[17, u64::from(collation.0)]);
            w.list(members, |w, member| w.text(member));
        }
        DataType::Set { members, collation } => {
            put_all(w, &[18, u64::from(collation.0)]);
            w.list(members, |w, member| w.text(member));
        }
        DataType::Json => w.int(19),
        DataType::Geometry { kind, srid } => {
            put_all(w, &[20, *kind as u64]);
            w.option(*srid, |w, srid| w.int(u64::from(srid)));
        }
    }
}

/// Reads what [`put_type`] wrote; `None` for a type that no column can have.
pub(super) fn type_(r: &mut RecordReader<'_>) -> Option<DataType> {
    let data_type = any_type(r)?;
    let possible = match data_type {
        DataType::Bit(bits) => (1..=64).contains(&bits),
        DataType::Decimal { precision, scale, .. } => {
            (1..=65).contains(&precision) && scale <= precision.min(30)
        }
        DataType::Time { fsp } | DataType::DateTime { fsp } | DataType::Timestamp { fsp } => {
            fsp <= 6
        }
        DataType::Float { decimals: Some(decimals), .. }
        | DataType::Double { decimals: Some(decimals), .. } => decimals <= 30,
        _ => true,
    };
    possible.then_some(data_type)
}

fn any_type(r: &mut RecordReader<'_>) -> Option<DataType> {
    let size = |r: &mut RecordReader<'_>| SIZES.get(r.small::<usize>()?).copied();
    let collation = |r: &mut RecordReader<'_>| Some(Collation(r.small()?));
    Some(match r.int()? {
        0 => DataType::Null,
        1 => DataType::Int { width: *WIDTHS.get(r.small::<usize>()?)?, unsigned: r.bool()? },
        2 => DataType::Bit(r.small()?),
        3 => DataType::Decimal { precision: r.small()?, scale: r.small()?, unsigned: r.bool()? },
        4 => {
            let unsigned = r.bool()?;
            DataType::Float { decimals: r.option(RecordReader::small)?, unsigned }
        }
        5 => {
            let unsigned = r.bool()?;
            DataType::Double { decimals: r.option(RecordReader::small)?, unsigned }
        }
        6 => DataType::Char { chars: r.small()?, collation: collation(r)? },
        7 => DataType::VarChar { chars: r.small()?, collation: collation(r)? },
        8 => DataType::Text { size: size(r)?, collation: collation(r)? },
        9 => DataType::Binary(r.small()?),
        10 => DataType::VarBinary(r.small()?),
        11 => DataType::Blob(size(r)?),
        12 => DataType::Date,
        13 => DataType::Time { fsp: r.small()? },
        14 => DataType::DateTime { fsp: r.small()? },
        15 => DataType::Timestamp { fsp: r.small()? },
        16 => DataType::Year,
        17 => {
            let collation = collation(r)?;
            DataType::Enum { members: r.list(RecordReader::text)?.into(), collation }
        }
        18 => {
            let collation = collation(r)?;
            DataType::Set { members: r.list(RecordReader::text)?.into(), collation }
        }
        19 => DataType::Json,
        20 => {
            let kind = GeometryKind::of_wkb(r.small()?)?;
            DataType::Geometry { kind, srid: r.option(RecordReader::small)? }
        }
        _ => return None,
    })
}
