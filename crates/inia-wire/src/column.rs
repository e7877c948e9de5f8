//! Column definition packets: MySQL's type codes, collation ids, lengths and flags.

use crate::codec::{Reader, put_lenenc_bytes};
use crate::error::WireError;
use crate::handshake::text;
use crate::rows::NOT_FIXED;
use inia_base::collation::{Charset, Collation};
use inia_base::column::{ResultColumn, flags};
use inia_base::datatype::{DataType, IntWidth, LobSize};

/// The protocol's type codes.
pub mod type_code {
    #![allow(missing_docs)]
    pub const DECIMAL: u8 = 0;
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const VARCHAR: u8 = 15;
    pub const BIT: u8 = 16;
    pub const JSON: u8 = 245;
    pub const NEWDECIMAL: u8 = 246;
    pub const ENUM: u8 = 247;
    pub const SET: u8 = 248;
    pub const TINY_BLOB: u8 = 249;
    pub const MEDIUM_BLOB: u8 = 250;
    pub const LONG_BLOB: u8 = 251;
    pub const BLOB: u8 = 252;
    pub const VAR_STRING: u8 = 253;
    pub const STRING: u8 = 254;
    pub const GEOMETRY: u8 = 255;
}

use type_code as ty;

/// Whether a string is a value that no table has: its decimals are not fixed.
fn is_computed(column: &ResultColumn) -> bool {
    let text = matches!(column.data_type, DataType::Text { .. });
    column.org_name.is_empty() || (text && column.decimals == NOT_FIXED)
}

/// The type code that a column is described with: a computed MEDIUMTEXT or LONGTEXT shows its size,
/// but for one that has a whole column's length, such as MAX of that column.
fn sent_type(column: &ResultColumn) -> u8 {
    const WHOLE_MEDIUM: u32 = 16_777_215;
    let computed = is_computed(column);
    match &column.data_type {
        DataType::Text { size: LobSize::Medium, collation }
            if computed && column.length < WHOLE_MEDIUM * longest(*collation) =>
        {
            ty::MEDIUM_BLOB
        }
        DataType::Blob(LobSize::Medium) if computed && column.length < WHOLE_MEDIUM => {
            ty::MEDIUM_BLOB
        }
        DataType::Text { size: LobSize::Long, .. } | DataType::Blob(LobSize::Long)
            if computed && (column.length < u32::MAX || column.flags & flags::CHOSEN == 0) =>
        {
            ty::LONG_BLOB
        }
        data_type => type_code_of(data_type),
    }
}

/// The type code that a result column of this type is sent with. All sizes of TEXT and BLOB are
/// BLOB, and ENUM and SET are STRING with a flag.
pub fn type_code_of(data_type: &DataType) -> u8 {
    match data_type {
        DataType::Null => ty::NULL,
        DataType::Int { width, .. } => match width {
            IntWidth::Tiny => ty::TINY,
            IntWidth::Small => ty::SHORT,
            IntWidth::Medium => ty::INT24,
            IntWidth::Int => ty::LONG,
            IntWidth::Big => ty::LONGLONG,
        },
        DataType::Bit(_) => ty::BIT,
        DataType::Decimal { .. } => ty::NEWDECIMAL,
        DataType::Float { .. } => ty::FLOAT,
        DataType::Double { .. } => ty::DOUBLE,
        DataType::Char { .. } | DataType::Binary(_) => ty::STRING,
        DataType::Enum { .. } | DataType::Set { .. } => ty::STRING,
        DataType::VarChar { .. } | DataType::VarBinary(_) => ty::VAR_STRING,
        DataType::Text { .. } | DataType::Blob(_) => ty::BLOB,
        DataType::Date => ty::DATE,
        DataType::Time { .. } => ty::TIME,
        DataType::DateTime { .. } => ty::DATETIME,
        DataType::Timestamp { .. } => ty::TIMESTAMP,
        DataType::Year => ty::YEAR,
        DataType::Json => ty::JSON,
        DataType::Geometry { .. } => ty::GEOMETRY,
    }
}

/// The collation id that a column is sent with: strings are sent in the connection's result
/// character set (0 means "as declared"), everything else is binary.
fn collation_of(column: &ResultColumn, results: u16) -> u16 {
    match &column.data_type {
        DataType::Char { collation, .. }
        | DataType::VarChar { collation, .. }
        | DataType::Text { collation, .. }
        | DataType::Enum { collation, .. }
        | DataType::Set { collation, .. } => {
            if *collation == Collation::BINARY || results == 0 {
                collation.0
            } else {
                results
            }
        }
        // A JSON column is binary, that of a temporary table too; a computed document is text.
        DataType::Json if column.flags & flags::CHOSEN != 0 && results != 0 => results,
        DataType::Json if column.decimals == NOT_FIXED && results != 0 => results,
        DataType::Json if column.decimals == NOT_FIXED => Collation::UTF8MB4_BIN.0,
        DataType::Date
        | DataType::Time { .. }
        | DataType::DateTime { .. }
        | DataType::Timestamp { .. }
            if column.flags & flags::CHOSEN != 0 && results != 0 =>
        {
            results
        }
        _ => Collation::BINARY.0,
    }
}

/// Bytes of the longest character.
fn longest(collation: Collation) -> u32 {
    collation.charset().max_bytes().into()
}

/// The length that a column is sent with: as many of the longest characters of the result character
/// set as the column has in its own. A TEXT counts a character for each of its bytes. Nothing is
/// converted where there is no result character set.
fn sent_length(column: &ResultColumn, results: u16) -> u32 {
    let own = match column.data_type {
        _ if results == 0 => return column.length,
        DataType::Char { collation, .. }
        | DataType::VarChar { collation, .. }
        | DataType::Text { collation, .. }
        | DataType::Enum { collation, .. }
        | DataType::Set { collation, .. } => collation,
        DataType::Json if column.decimals == NOT_FIXED => Collation::UTF8MB4_BIN,
        _ => return column.length,
    };
    let per_character = match column.data_type {
        _ if own == Collation::BINARY => return column.length,
        DataType::Text { .. } => own.charset().min_bytes().into(),
        _ if own.0 == results => return column.length,
        _ => longest(own),
    };
    (column.length / per_character).saturating_mul(longest(Collation(results)))
}

/// What becomes of a column's strings before they are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recoding {
    /// They are UTF-8 in memory and sent in another character set.
    Charset(Charset),
    /// A ZEROFILL column's decimals get zeros before them, up to so many characters.
    Zeros(u8),
}

/// How a column's strings are recoded, where that takes more than sending what is in memory.
pub(crate) fn recoding(column: &ResultColumn, results: u16) -> Option<Recoding> {
    if let DataType::Decimal { .. } = column.data_type
        && column.flags & flags::ZEROFILL != 0
    {
        return Some(Recoding::Zeros(column.length.min(250) as u8));
    }
    // A client that wants bytes gets those of the column's own character set.
    let results = if results == Collation::BINARY.0 { 0 } else { results };
    let charset = Collation(collation_of(column, results)).charset();
    let recodes = !matches!(charset, Charset::Utf8mb4 | Charset::Binary);
    recodes.then_some(Recoding::Charset(charset))
}

/// Appends a string as a column's strings are sent.
#[cold]
pub(crate) fn put_recoded(out: &mut Vec<u8>, value: &[u8], recoding: Recoding) {
    let charset = match recoding {
        Recoding::Charset(charset) => charset,
        Recoding::Zeros(width) => {
            let zeros = usize::from(width).saturating_sub(value.len());
            return put_lenenc_bytes(out, &[vec![b'0'; zeros].as_slice(), value].concat());
        }
    };
    match std::str::from_utf8(value) {
        Ok(text) => put_lenenc_bytes(out, &charset.encode(text)),
        Err(_) => put_lenenc_bytes(out, value),
    }
}

/// Flags that follow from the type alone, added to those the engine reports.
pub(crate) fn type_flags(column: &ResultColumn) -> u32 {
    let by_collation = |collation: &Collation| match collation.is_binary() {
        true => flags::BINARY,
        false => 0,
    };
    // What is computed is no BLOB, however long.
    let blob = if is_computed(column) { 0 } else { flags::BLOB };
    match &column.data_type {
        DataType::Enum { collation, .. } => flags::ENUM | by_collation(collation),
        DataType::Set { collation, .. } => flags::SET | by_collation(collation),
        DataType::Text { collation, .. } => blob | by_collation(collation),
        DataType::Char { collation, .. } | DataType::VarChar { collation, .. } => {
            by_collation(collation)
        }
        DataType::Json if column.decimals == NOT_FIXED => flags::BINARY,
        DataType::Blob(_) | DataType::Json | DataType::Geometry { .. } => blob | flags::BINARY,
        DataType::Int { unsigned: true, .. }
        | DataType::Decimal { unsigned: true, .. }
        | DataType::Float { unsigned: true, .. }
        | DataType::Double { unsigned: true, .. }
        | DataType::Bit(_) => flags::UNSIGNED,
        DataType::Int { .. }
        | DataType::Decimal { .. }
        | DataType::Float { .. }
        | DataType::Double { .. } => 0,
        DataType::Year if column.org_table.is_empty() => 0,
        DataType::Year => flags::UNSIGNED | flags::ZEROFILL,
        DataType::Null
        | DataType::Binary(_)
        | DataType::VarBinary(_)
        | DataType::Timestamp { .. } => flags::BINARY,
        DataType::Date | DataType::Time { .. } | DataType::DateTime { .. } => {
            if column.flags & flags::CHOSEN != 0 { 0 } else { flags::BINARY }
        }
    }
}

/// The catalog, which all columns are of.
const CATALOG: &[u8] = b"\x03def";
/// Bytes of a column definition behind its names and this number.
const FIXED_LEN: u8 = 12;

/// Appends a column definition's payload; `results` is the collation id of the connection's
/// result character set.
pub fn put_column(out: &mut Vec<u8>, column: &ResultColumn, results: u16) {
    let names = [&column.schema, &column.table, &column.org_table, &column.name, &column.org_name];
    // One growth of the buffer, where the names are as long as they are in memory.
    let named: usize = names.iter().map(|name| name.len() + 1).sum();
    out.reserve(CATALOG.len() + named + 1 + usize::from(FIXED_LEN));
    out.extend_from_slice(CATALOG);
    let charset = if results == 0 { Charset::Utf8mb4 } else { Collation(results).charset() };
    for name in names {
        match charset {
            Charset::Utf8mb4 => put_lenenc_bytes(out, name.as_bytes()),
            other => put_lenenc_bytes(out, &other.encode(name)),
        }
    }
    let [collation0, collation1] = collation_of(column, results).to_le_bytes();
    let [length0, length1, length2, length3] = sent_length(column, results).to_le_bytes();
    // CHOSEN is beyond the bits of the protocol.
    let [flags0, flags1] = ((column.flags | type_flags(column)) as u16).to_le_bytes();
    let (kind, decimals) = (sent_type(column), column.decimals);
    #[rustfmt::skip]
    out.extend_from_slice(&[
        FIXED_LEN, collation0, collation1, length0, length1, length2, length3,
        kind, flags0, flags1, decimals, 0, 0,
    ]);
}

/// A column definition as a client reads it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ColumnDef {
    /// Database of the base table.
    pub schema: String,
    /// Table alias.
    pub table: String,
    /// Base table.
    pub org_table: String,
    /// Column alias.
    pub name: String,
    /// Base column.
    pub org_name: String,
    /// Collation id.
    pub collation: u16,
    /// Display length in bytes.
    pub length: u32,
    /// See [`type_code`].
    pub type_code: u8,
    /// See [`inia_base::column::flags`].
    pub flags: u32,
    /// Digits after the point, or 31.
    pub decimals: u8,
}

impl ColumnDef {
    /// Reads a column definition's payload.
    pub fn decode(payload: &[u8]) -> Result<ColumnDef, WireError> {
        let mut from = Reader::new(payload);
        from.lenenc_bytes()?;
        let schema = text(from.lenenc_bytes()?);
        let table = text(from.lenenc_bytes()?);
        let org_table = text(from.lenenc_bytes()?);
        let name = text(from.lenenc_bytes()?);
        let org_name = text(from.lenenc_bytes()?);
        from.lenenc()?;
        Ok(ColumnDef {
            schema,
            table,
            org_table,
            name,
            org_name,
            collation: from.u16()?,
            length: from.u32()?,
            type_code: from.u8()?,
            flags: from.u16()?.into(),
            decimals: from.u8()?,
        })
    }
}

#[cfg(test)]
mod tests;
