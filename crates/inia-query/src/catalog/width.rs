//! Bytes of values in MySQL's own rows, in which its limits of rows and tables are given. Rows here
//! are laid out otherwise: see `row/fixed.rs`.

use inia_base::datatype::{DataType, LobSize};

/// Bytes that any value of the type takes: the longest for texts, the pointer for BLOBs.
pub fn row_bytes(data_type: &DataType) -> u64 {
    let fraction = |fsp: u8| u64::from(fsp.div_ceil(2));
    let counted = |bytes: u64| bytes + if bytes > 255 { 2 } else { 1 };
    match data_type {
        DataType::Null => 0,
        DataType::Int { width, .. } => u64::from(width.bytes()),
        DataType::Bit(bits) => u64::from(bits.div_ceil(8)),
        DataType::Decimal { precision, scale, .. } => {
            digits(precision.saturating_sub(*scale)) + digits(*scale)
        }
        DataType::Float { .. } => 4,
        DataType::Double { .. } => 8,
        DataType::Char { chars, collation } => {
            u64::from(*chars) * u64::from(collation.charset().max_bytes())
        }
        DataType::VarChar { chars, collation } => {
            counted(u64::from(*chars) * u64::from(collation.charset().max_bytes()))
        }
        DataType::Binary(bytes) => u64::from(*bytes),
        DataType::VarBinary(bytes) => counted(u64::from(*bytes)),
        DataType::Text { size, .. } | DataType::Blob(size) => match size {
            LobSize::Tiny => 9,
            LobSize::Normal => 10,
            LobSize::Medium => 11,
            LobSize::Long => 12,
        },
        DataType::Json | DataType::Geometry { .. } => 12,
        DataType::Date => 3,
        DataType::Time { fsp } => 3 + fraction(*fsp),
        DataType::DateTime { fsp } => 5 + fraction(*fsp),
        DataType::Timestamp { fsp } => 4 + fraction(*fsp),
        DataType::Year => 1,
        DataType::Enum { members, .. } => 1 + u64::from(members.len() > 255),
        DataType::Set { members, .. } => match members.len().div_ceil(8) {
            bytes @ 0..=4 => bytes as u64,
            _ => 8,
        },
    }
}

/// Bytes of so many decimal digits on one side of the point: four for nine, fewer for the rest.
fn digits(count: u8) -> u64 {
    u64::from(count / 9) * 4 + u64::from(count % 9).div_ceil(2)
}
