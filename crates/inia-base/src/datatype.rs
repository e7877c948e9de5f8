//! Declared SQL types.

use crate::collation::Collation;
use std::sync::Arc;

/// The width of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntWidth {
    /// TINYINT, BOOL: 1 byte.
    Tiny,
    /// SMALLINT: 2 bytes.
    Small,
    /// MEDIUMINT: 3 bytes.
    Medium,
    /// INT: 4 bytes.
    Int,
    /// BIGINT: 8 bytes.
    Big,
}

impl IntWidth {
    /// Bytes of a value.
    pub fn bytes(self) -> u8 {
        match self {
            IntWidth::Tiny => 1,
            IntWidth::Small => 2,
            IntWidth::Medium => 3,
            IntWidth::Int => 4,
            IntWidth::Big => 8,
        }
    }

    /// Bits of a value.
    pub fn bits(self) -> u32 {
        u32::from(self.bytes()) * 8
    }
}

/// The four sizes of TEXT and BLOB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LobSize {
    /// Up to 255 bytes.
    Tiny,
    /// Up to 65,535 bytes.
    Normal,
    /// Up to 16,777,215 bytes.
    Medium,
    /// Up to 4,294,967,295 bytes.
    Long,
}

/// A MySQL data type with everything that changes how its values are stored, compared or sent.
/// Display attributes (display width, ZEROFILL) belong to the column definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DataType {
    /// The type of the literal NULL.
    Null,
    /// TINYINT … BIGINT.
    Int {
        /// Size in storage.
        width: IntWidth,
        /// Declared UNSIGNED.
        unsigned: bool,
    },
    /// BIT(n), 1 ≤ n ≤ 64.
    Bit(u8),
    /// DECIMAL(precision, scale).
    Decimal {
        /// Digits in all, 1 to 65.
        precision: u8,
        /// Digits after the point, 0 to 30.
        scale: u8,
        /// Declared UNSIGNED.
        unsigned: bool,
    },
    /// FLOAT; `decimals` is set for FLOAT(M,D).
    Float {
        /// Digits after the point where declared.
        decimals: Option<u8>,
        /// Declared UNSIGNED.
        unsigned: bool,
    },
    /// DOUBLE; `decimals` is set for DOUBLE(M,D).
    Double {
        /// Digits after the point where declared.
        decimals: Option<u8>,
        /// Declared UNSIGNED.
        unsigned: bool,
    },
    /// CHAR(n): length in characters, trailing spaces are not stored.
    Char {
        /// Length in characters.
        chars: u32,
        /// Collation (its charset is the column's charset).
        collation: Collation,
    },
    /// VARCHAR(n), and the type of computed strings.
    VarChar {
        /// Length in characters.
        chars: u32,
        /// Collation (its charset is the column's charset).
        collation: Collation,
    },
    /// TINYTEXT … LONGTEXT.
    Text {
        /// Which of the four sizes.
        size: LobSize,
        /// Collation (its charset is the column's charset).
        collation: Collation,
    },
    /// BINARY(n), padded with zero bytes.
    Binary(u32),
    /// VARBINARY(n), and the type of computed binary strings.
    VarBinary(u32),
    /// TINYBLOB … LONGBLOB.
    Blob(LobSize),
    /// DATE.
    Date,
    /// TIME(fsp).
    Time {
        /// Fractional second digits, 0 to 6.
        fsp: u8,
    },
    /// DATETIME(fsp).
    DateTime {
        /// Fractional second digits, 0 to 6.
        fsp: u8,
    },
    /// TIMESTAMP(fsp), stored in UTC.
    Timestamp {
        /// Fractional second digits, 0 to 6.
        fsp: u8,
    },
    /// YEAR.
    Year,
    /// ENUM('a', 'b', …).
    Enum {
        /// Members in order; the value is the index from 1.
        members: Arc<[String]>,
        /// Collation of the members.
        collation: Collation,
    },
    /// SET('a', 'b', …), at most 64 members.
    Set {
        /// Members in order; member i is bit i.
        members: Arc<[String]>,
        /// Collation of the members.
        collation: Collation,
    },
    /// JSON.
    Json,
}
