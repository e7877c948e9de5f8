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
    /// GEOMETRY, POINT and the others.
    Geometry {
        /// Which geometries the column takes.
        kind: GeometryKind,
        /// The SRID attribute: the reference system of all values.
        srid: Option<u32>,
    },
}

impl DataType {
    /// Whether a value takes as many bytes as it needs, in place of as many as the type says.
    pub fn has_variable_length(&self) -> bool {
        use DataType::{Blob, Geometry, Json, Text, VarBinary, VarChar};
        let text = matches!(self, VarChar { .. } | VarBinary(_) | Text { .. } | Blob(_));
        text || matches!(self, Json | Geometry { .. })
    }
}

/// Sorts of geometry, with their numbers in WKB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GeometryKind {
    /// GEOMETRY: a column takes all sorts. No value is one.
    Geometry = 0,
    /// POINT.
    Point = 1,
    /// LINESTRING.
    LineString = 2,
    /// POLYGON.
    Polygon = 3,
    /// MULTIPOINT.
    MultiPoint = 4,
    /// MULTILINESTRING.
    MultiLineString = 5,
    /// MULTIPOLYGON.
    MultiPolygon = 6,
    /// GEOMETRYCOLLECTION.
    Collection = 7,
}

impl GeometryKind {
    /// All sorts, by their numbers.
    pub const ALL: [GeometryKind; 8] = [
        GeometryKind::Geometry,
        GeometryKind::Point,
        GeometryKind::LineString,
        GeometryKind::Polygon,
        GeometryKind::MultiPoint,
        GeometryKind::MultiLineString,
        GeometryKind::MultiPolygon,
        GeometryKind::Collection,
    ];

    /// The sort of a number in WKB.
    pub fn of_wkb(number: u32) -> Option<GeometryKind> {
        GeometryKind::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// The name in upper case, as error messages have it.
    pub fn name(self) -> &'static str {
        match self {
            GeometryKind::Geometry => "GEOMETRY",
            GeometryKind::Point => "POINT",
            GeometryKind::LineString => "LINESTRING",
            GeometryKind::Polygon => "POLYGON",
            GeometryKind::MultiPoint => "MULTIPOINT",
            GeometryKind::MultiLineString => "MULTILINESTRING",
            GeometryKind::MultiPolygon => "MULTIPOLYGON",
            GeometryKind::Collection => "GEOMCOLLECTION",
        }
    }
}
