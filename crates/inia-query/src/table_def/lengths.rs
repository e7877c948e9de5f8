//! How long keys and rows are in MySQL's row format.

use super::{IndexDef, TableDef};
use inia_base::datatype::DataType;

impl TableDef {
    /// Bytes of the first `parts` parts of an index, in MySQL's row format.
    pub fn key_length(&self, index: &IndexDef, parts: usize) -> u32 {
        let length = |at: usize| {
            let part = self.key_part(index, at)?;
            let (fixed, varies) = part_length(&self.key_type(index, at), part.prefix);
            Some(fixed + 2 * u32::from(varies) + u32::from(self.columns[part.column].nullable))
        };
        (0..parts).map_while(length).sum()
    }

    /// Bytes of a row in MySQL's buffer of rows.
    pub(crate) fn row_length(&self) -> u64 {
        let nullable = self.columns.iter().filter(|column| column.nullable).count() as u64;
        let length = |data_type: &DataType| -> u64 {
            match data_type {
                DataType::Text { .. } | DataType::Blob(_) => 10,
                DataType::Json | DataType::Geometry { .. } => 12,
                other => {
                    let (fixed, varies) = part_length(other, None);
                    let prefix = if fixed > 255 { 2 } else { 1 };
                    u64::from(fixed) + if varies { prefix } else { 0 }
                }
            }
        };
        let columns: u64 = self.columns.iter().map(|column| length(&column.data_type)).sum();
        (columns + (nullable + 1).div_ceil(8) + 1).next_multiple_of(8)
    }
}

/// Bytes of a column in a key, and whether its length is kept beside it.
fn part_length(data_type: &DataType, prefix: Option<u32>) -> (u32, bool) {
    use inia_base::datatype::IntWidth as W;
    let fraction = |fsp: u8| u32::from(fsp.div_ceil(2));
    match data_type {
        DataType::Int { width, .. } => {
            let bytes = match width {
                W::Tiny => 1,
                W::Small => 2,
                W::Medium => 3,
                W::Int => 4,
                W::Big => 8,
            };
            (bytes, false)
        }
        // A prefix of a text counts characters, and each takes the most bytes of its character set.
        DataType::Char { chars, collation } => {
            (prefix.unwrap_or(*chars) * u32::from(collation.charset().max_bytes()), false)
        }
        DataType::VarChar { chars, collation } => {
            (prefix.unwrap_or(*chars) * u32::from(collation.charset().max_bytes()), true)
        }
        DataType::Text { collation, .. } => {
            (prefix.unwrap_or(0) * u32::from(collation.charset().max_bytes()), true)
        }
        DataType::Binary(n) => (prefix.unwrap_or(*n), false),
        DataType::VarBinary(n) => (prefix.unwrap_or(*n), true),
        DataType::Blob(_) => (prefix.unwrap_or(0), true),
        // The bounds of a box: four numbers, and a length.
        DataType::Geometry { .. } => (prefix.unwrap_or(32), true),
        DataType::Float { .. } => (4, false),
        DataType::Double { .. } | DataType::Json | DataType::Null => (8, false),
        DataType::Decimal { precision, scale, .. } => {
            let digits = |n: u8| u32::from(n / 9) * 4 + u32::from((n % 9).div_ceil(2));
            (digits(precision - scale) + digits(*scale), false)
        }
        DataType::Bit(bits) => (u32::from(bits.div_ceil(8)), false),
        DataType::Date => (3, false),
        DataType::Time { fsp } => (3 + fraction(*fsp), false),
        DataType::DateTime { fsp } => (5 + fraction(*fsp), false),
        DataType::Timestamp { fsp } => (4 + fraction(*fsp), false),
        DataType::Year => (1, false),
        DataType::Enum { members, .. } => (if members.len() > 255 { 2 } else { 1 }, false),
        DataType::Set { members, .. } => (members.len().div_ceil(8) as u32, false),
    }
}
