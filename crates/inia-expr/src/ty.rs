//! The static type of an expression: what binding decides and result metadata reports.

use crate::charset;
use inia_base::collation::Collation;
use inia_base::column::{ResultColumn, flags};
use inia_base::datatype::{DataType, GeometryKind, IntWidth, LobSize};
use inia_base::decimal::{MAX_DIGITS, MAX_PRECISION, MAX_SCALE};

/// How strongly an expression insists on its collation; smaller is stronger. MySQL's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coercibility {
    /// `expr COLLATE x`.
    Explicit = 0,
    /// Two columns of different collations were mixed.
    NoCollation = 1,
    /// A column.
    Implicit = 2,
    /// `USER()`, `VERSION()` and their like.
    SysConst = 3,
    /// A literal or a function of literals.
    Coercible = 4,
    /// A number or a temporal value.
    Numeric = 5,
    /// NULL.
    Ignorable = 6,
}

/// `decimals` of values that have no fixed number of digits after the point.
pub(crate) const NOT_FIXED: u8 = 31;
/// Display length of a double without a fixed number of digits that is no column's.
const COMPUTED_DOUBLE: u32 = 23;
/// Longest string that is still VARCHAR in result metadata, in bytes.
const MAX_VARCHAR_BYTES: u64 = 65_535;

/// The type of one bound expression.
///
/// Wide: one field for each property that coercions ask for.
#[derive(Clone, Debug, PartialEq)]
pub struct ExprType {
    /// The SQL type of the values.
    pub data_type: DataType,
    /// Whether NULL can come out.
    pub nullable: bool,
    /// Strength of the collation.
    pub coercibility: Coercibility,
    /// Display length: characters for strings, digits with sign and point for numbers.
    pub length: u32,
    /// Digits after the point; [`NOT_FIXED`] for floating point and strings.
    pub decimals: u8,
    /// Declared ZEROFILL: text conversion pads to `length`.
    pub zerofill: bool,
    /// A column's own values: as numbers, their texts are warned of less than computed ones.
    pub stored: bool,
    /// A hexadecimal or bit literal: bytes that a numeric column takes as a number.
    pub hex: bool,
    /// What an aggregate computes, itself: an AVG becomes an integer by way of a double. Of a MIN
    /// or MAX the text counts as a number, that of ENUM and SET too, and nothing is said of one
    /// that is none.
    pub of_group: bool,
}

/// The broad classes that MySQL's coercion rules speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeClass {
    /// NULL.
    Null,
    /// Integers, BIT and YEAR.
    Int,
    /// DECIMAL.
    Decimal,
    /// FLOAT and DOUBLE.
    Real,
    /// Character and binary strings, ENUM and SET.
    String,
    /// DATE, DATETIME, TIMESTAMP.
    Dated,
    /// TIME.
    Time,
    /// JSON.
    Json,
}

impl ExprType {
    /// The type of values of a column declared as `data_type`.
    pub fn of_column(data_type: DataType, nullable: bool) -> ExprType {
        let length = display_length(&data_type);
        let decimals = display_decimals(&data_type);
        let coercibility = match class_of(&data_type) {
            TypeClass::String | TypeClass::Json => Coercibility::Implicit,
            TypeClass::Null => Coercibility::Ignorable,
            _ => Coercibility::Numeric,
        };
        ExprType {
            data_type,
            nullable,
            coercibility,
            length,
            decimals,
            zerofill: false,
            stored: true,
            hex: false,
            of_group: false,
        }
    }

    /// A computed value of `data_type`; strings are coercible.
    pub fn computed(data_type: DataType, nullable: bool) -> ExprType {
        let mut ty = ExprType::of_column(data_type, nullable).into_computed();
        if let DataType::Double { decimals: None, .. } = ty.data_type {
            ty.length = COMPUTED_DOUBLE;
        }
        if ty.coercibility == Coercibility::Implicit {
            ty.coercibility = Coercibility::Coercible;
        }
        ty
    }

    /// The literal NULL.
    pub fn null() -> ExprType {
        ExprType::computed(DataType::Null, true)
    }

    /// BIGINT that displays in `length` characters.
    pub fn int(length: u32, nullable: bool) -> ExprType {
        ExprType { length, ..ExprType::computed(bigint(false), nullable) }
    }

    /// BIGINT UNSIGNED that displays in `length` characters.
    pub fn uint(length: u32, nullable: bool) -> ExprType {
        ExprType { length, ..ExprType::computed(bigint(true), nullable) }
    }

    /// The type of a BIT's number; any other type stays as it is.
    #[must_use]
    pub fn into_number(mut self) -> ExprType {
        if matches!(self.data_type, DataType::Bit(_)) {
            self.data_type = bigint(true);
        }
        self
    }

    /// The result of a predicate.
    pub fn bool(nullable: bool) -> ExprType {
        ExprType::int(1, nullable)
    }

    /// DOUBLE without a fixed number of decimals.
    pub fn double(nullable: bool) -> ExprType {
        ExprType::computed(DataType::Double { decimals: None, unsigned: false }, nullable)
    }

    /// A computed decimal, which may have more digits than a column.
    pub fn decimal(precision: u32, scale: u32, unsigned: bool, nullable: bool) -> ExprType {
        let scale = scale.min(u32::from(MAX_DIGITS));
        let precision = precision.clamp(scale.max(1), 200);
        let (precision, scale) = (precision as u8, scale as u8);
        ExprType::computed(DataType::Decimal { precision, scale, unsigned }, nullable)
    }

    /// A decimal with no more digits than a column can have.
    pub fn column_decimal(precision: u32, scale: u32, unsigned: bool, nullable: bool) -> ExprType {
        let precision = precision.min(MAX_PRECISION.into());
        ExprType::decimal(precision, scale.min(MAX_SCALE.into()), unsigned, nullable)
    }

    /// The type of a column that takes values of this type: a decimal loses the digits that a
    /// column has no room for, those after the point first.
    pub fn fitted_to_column(self) -> ExprType {
        let DataType::Decimal { precision, scale, unsigned } = self.data_type else { return self };
        if precision <= MAX_PRECISION && scale <= MAX_SCALE {
            return self;
        }
        let whole = u32::from(precision.saturating_sub(scale).max(1));
        let scale = u32::from(scale.min(MAX_SCALE));
        let ty = ExprType::column_decimal(whole + scale, scale, unsigned, self.nullable);
        ExprType { stored: self.stored, ..ty }
    }

    /// A character string of up to `chars` characters; TEXT types where VARCHAR cannot hold it.
    pub fn text(chars: u64, collation: Collation, nullable: bool) -> ExprType {
        if collation == Collation::BINARY {
            return ExprType::binary(chars, nullable);
        }
        let data_type = match chars * u64::from(charset::max_bytes(collation)) {
            0..=MAX_VARCHAR_BYTES => DataType::VarChar { chars: chars as u32, collation },
            65_536..=16_777_215 => DataType::Text { size: LobSize::Medium, collation },
            _ => DataType::Text { size: LobSize::Long, collation },
        };
        let length = chars.min(u64::from(u32::MAX) / 4) as u32;
        ExprType { length, ..ExprType::computed(data_type, nullable) }
    }

    /// A binary string of up to `bytes` bytes.
    pub fn binary(bytes: u64, nullable: bool) -> ExprType {
        let data_type = match bytes {
            0..=MAX_VARCHAR_BYTES => DataType::VarBinary(bytes as u32),
            65_536..=16_777_215 => DataType::Blob(LobSize::Medium),
            _ => DataType::Blob(LobSize::Long),
        };
        let length = bytes.min(u64::from(u32::MAX)) as u32;
        ExprType { length, ..ExprType::computed(data_type, nullable) }
    }

    /// JSON.
    pub fn json(nullable: bool) -> ExprType {
        ExprType::computed(DataType::Json, nullable)
    }

    /// A geometry that may be NULL.
    pub fn geometry(kind: GeometryKind) -> ExprType {
        ExprType::computed(DataType::Geometry { kind, srid: None }, true)
    }

    /// Whether values are geometries.
    #[inline]
    pub fn is_geometry(&self) -> bool {
        matches!(self.data_type, DataType::Geometry { .. })
    }

    /// The same type, with NULL possible or not.
    pub fn with_nullable(mut self, nullable: bool) -> ExprType {
        self.nullable = nullable;
        self
    }

    /// The same type, for values that are computed: no such number is filled with zeros.
    pub(crate) fn into_computed(mut self) -> ExprType {
        self.stored = false;
        self.zerofill = false;
        self.hex = false;
        self.of_group = false;
        self
    }

    /// The same type with another collation strength.
    pub(crate) fn with_coercibility(mut self, coercibility: Coercibility) -> ExprType {
        self.coercibility = coercibility;
        self
    }

    /// The broad class.
    #[inline]
    pub fn class(&self) -> TypeClass {
        class_of(&self.data_type)
    }

    /// The collation values compare by; `binary` for everything that is not a character string.
    pub fn collation(&self) -> Collation {
        match &self.data_type {
            DataType::Char { collation, .. }
            | DataType::VarChar { collation, .. }
            | DataType::Text { collation, .. }
            | DataType::Enum { collation, .. }
            | DataType::Set { collation, .. } => *collation,
            DataType::Json => Collation::UTF8MB4_BIN,
            _ => Collation::BINARY,
        }
    }

    /// The longest value in a string of `collation`: characters, or bytes in a binary string.
    pub(crate) fn length_in(&self, collation: Collation) -> u64 {
        let bytes = match collation == Collation::BINARY && self.is_text() {
            true => charset::max_bytes(self.collation()),
            false => 1,
        };
        u64::from(self.length) * u64::from(bytes)
    }

    /// Whether values are character strings (not binary strings).
    #[inline]
    pub fn is_text(&self) -> bool {
        self.class() == TypeClass::String && self.collation() != Collation::BINARY
    }

    /// Whether values are numbers that cannot be negative.
    #[inline]
    pub fn is_unsigned(&self) -> bool {
        match self.data_type {
            DataType::Int { unsigned, .. }
            | DataType::Decimal { unsigned, .. }
            | DataType::Float { unsigned, .. }
            | DataType::Double { unsigned, .. } => unsigned,
            DataType::Bit(_) | DataType::Year => true,
            _ => false,
        }
    }

    /// Digits that an exact numeric of this type can have, as decimal arithmetic counts them.
    pub fn precision(&self) -> u32 {
        match &self.data_type {
            DataType::Decimal { precision, .. } => u32::from(*precision),
            DataType::Int { unsigned, .. } => self.length.saturating_sub(u32::from(!unsigned)),
            DataType::Year => 4,
            DataType::Date => 8,
            DataType::Time { fsp } => 7 + u32::from(*fsp),
            DataType::DateTime { fsp } | DataType::Timestamp { fsp } => 14 + u32::from(*fsp),
            _ => self.length,
        }
        .clamp(1, 81)
    }

    /// Fractional second digits of a temporal type, else the digits after the point up to six.
    #[inline]
    pub fn fsp(&self) -> u8 {
        match self.data_type {
            DataType::Time { fsp } | DataType::DateTime { fsp } | DataType::Timestamp { fsp } => {
                fsp
            }
            DataType::Date | DataType::Null => 0,
            _ => self.decimals.min(6),
        }
    }

    /// The description of a result column that is this expression and no base column.
    pub fn result_column(&self, name: &str) -> ResultColumn {
        let mut bits = 0;
        if !self.nullable {
            bits |= flags::NOT_NULL;
        }
        if self.is_unsigned() && self.data_type != DataType::Year {
            bits |= flags::UNSIGNED;
        }
        if self.zerofill {
            bits |= flags::ZEROFILL;
        }
        match &self.data_type {
            DataType::Json => bits |= flags::BINARY,
            DataType::Enum { .. } => bits |= flags::ENUM,
            DataType::Set { .. } => bits |= flags::SET,
            DataType::Timestamp { .. } => bits |= flags::TIMESTAMP,
            _ => {}
        }
        if self.collation() == Collation::BINARY {
            bits |= flags::BINARY;
        }
        let length = match self.data_type {
            DataType::Json => u32::MAX,
            _ if self.is_text() => {
                let bytes = charset::max_bytes(self.collation());
                self.length.saturating_mul(bytes)
            }
            _ => self.length,
        };
        ResultColumn {
            schema: String::new(),
            table: String::new(),
            org_table: String::new(),
            name: name.to_owned(),
            org_name: String::new(),
            data_type: self.data_type.clone(),
            flags: bits,
            length,
            decimals: self.decimals,
        }
    }
}

/// BIGINT.
pub fn bigint(unsigned: bool) -> DataType {
    DataType::Int { width: IntWidth::Big, unsigned }
}

/// The broad class of a declared type.
pub(crate) fn class_of(data_type: &DataType) -> TypeClass {
    match data_type {
        DataType::Null => TypeClass::Null,
        DataType::Int { .. } | DataType::Bit(_) | DataType::Year => TypeClass::Int,
        DataType::Decimal { .. } => TypeClass::Decimal,
        DataType::Float { .. } | DataType::Double { .. } => TypeClass::Real,
        DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. } => TypeClass::Dated,
        DataType::Time { .. } => TypeClass::Time,
        DataType::Json => TypeClass::Json,
        _ => TypeClass::String,
    }
}

/// The display length MySQL gives a column of this type, in characters.
pub(crate) fn display_length(data_type: &DataType) -> u32 {
    let with_fsp = |base: u32, fsp: u8| base + if fsp > 0 { u32::from(fsp) + 1 } else { 0 };
    match data_type {
        DataType::Null => 0,
        DataType::Int { width, unsigned } => match (width, unsigned) {
            (IntWidth::Tiny, false) => 4,
            (IntWidth::Tiny, true) => 3,
            (IntWidth::Small, false) => 6,
            (IntWidth::Small, true) => 5,
            (IntWidth::Medium, false) => 9,
            (IntWidth::Medium, true) => 8,
            (IntWidth::Int, false) => 11,
            (IntWidth::Int, true) => 10,
            (IntWidth::Big, _) => 20,
        },
        DataType::Bit(n) => u32::from(*n),
        DataType::Decimal { precision, scale, unsigned } => {
            u32::from(*precision) + u32::from(*scale > 0) + u32::from(!unsigned)
        }
        DataType::Float { .. } => 12,
        DataType::Double { .. } => 22,
        DataType::Char { chars, .. } | DataType::VarChar { chars, .. } => *chars,
        // MySQL counts each byte as a character.
        DataType::Text { size, .. } => lob_bytes(*size),
        DataType::Binary(n) | DataType::VarBinary(n) => *n,
        DataType::Blob(size) => lob_bytes(*size),
        DataType::Date => 10,
        DataType::Time { fsp } => with_fsp(10, *fsp),
        DataType::DateTime { fsp } | DataType::Timestamp { fsp } => with_fsp(19, *fsp),
        DataType::Year => 4,
        DataType::Enum { members, .. } => {
            members.iter().map(|m| m.chars().count() as u32).max().unwrap_or(0)
        }
        DataType::Set { members, .. } => {
            let letters: u32 = members.iter().map(|m| m.chars().count() as u32).sum();
            letters + (members.len() as u32).saturating_sub(1)
        }
        DataType::Json => u32::MAX / 4,
        DataType::Geometry { .. } => u32::MAX,
    }
}

/// The `decimals` MySQL reports for a column of this type.
fn display_decimals(data_type: &DataType) -> u8 {
    match data_type {
        DataType::Decimal { scale, .. } => *scale,
        DataType::Float { decimals, .. } | DataType::Double { decimals, .. } => {
            decimals.unwrap_or(NOT_FIXED)
        }
        DataType::Time { fsp } | DataType::DateTime { fsp } | DataType::Timestamp { fsp } => *fsp,
        DataType::Geometry { .. } => 0,
        _ if matches!(class_of(data_type), TypeClass::String | TypeClass::Json) => NOT_FIXED,
        _ => 0,
    }
}

/// The greatest number of bytes of a TEXT or BLOB.
pub fn lob_bytes(size: LobSize) -> u32 {
    match size {
        LobSize::Tiny => 255,
        LobSize::Normal => 65_535,
        LobSize::Medium => 16_777_215,
        LobSize::Long => u32::MAX,
    }
}
