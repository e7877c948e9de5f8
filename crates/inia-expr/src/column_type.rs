//! Column types: from what was written to a checked [`DataType`].

use crate::charset;
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, GeometryKind, IntWidth, LobSize};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{TypeKind, TypeSpec};
use std::fmt::Display;

/// The largest row, and with it the largest VARCHAR, in bytes.
const MAX_ROW_BYTES: u64 = 65_535;
const MAX_CHAR: u64 = 255;
const MAX_DISPLAY_WIDTH: u64 = 255;
/// Characters in a member of an ENUM or SET.
const MAX_MEMBER: usize = 255;

const UNSIGNED_FRACTION: &str = "UNSIGNED for decimal and floating point data types is deprecated \
                                 and support for it will be removed in a future release.";
const ZEROFILL: &str = "The ZEROFILL attribute is deprecated and will be removed in a future \
                        release. Use the LPAD function to zero-pad numbers, or store the \
                        formatted numbers in a CHAR column.";
const DISPLAY_WIDTH: &str =
    "Integer display width is deprecated and will be removed in a future release.";
const FLOAT_DIGITS: &str = "Specifying number of digits for floating point data types is \
                            deprecated and will be removed in a future release.";

/// A checked column type with its display attributes.
pub struct ColumnType {
    /// The type proper.
    pub data_type: DataType,
    /// The display width, where SHOW prints it.
    pub display_width: Option<u8>,
    /// ZEROFILL.
    pub zerofill: bool,
    /// Character set or collation were written with the column.
    pub explicit_collation: bool,
    /// What MySQL warns about, in order.
    pub deprecated: Vec<SqlError>,
}

/// Warning 1681.
fn dropped(text: &'static str) -> SqlError {
    SqlError::with_message(ErrorCode::WarnDeprecatedSyntaxNoReplacement, text)
}

/// Warning 1287.
fn replaced(old: &str, new: &str) -> SqlError {
    SqlError::new(ErrorCode::WarnDeprecatedSyntax, &[&old, &new])
}

fn error(code: ErrorCode, args: &[&dyn Display]) -> SqlError {
    SqlError::new(code, args)
}

/// What MySQL warns about where a column's type comes from a query.
pub fn deprecated_in(data_type: &DataType, zerofill: bool) -> Vec<SqlError> {
    let (digits, unsigned) = match data_type {
        DataType::Float { decimals, unsigned } | DataType::Double { decimals, unsigned } => {
            (decimals.is_some(), *unsigned)
        }
        DataType::Decimal { unsigned, .. } => (false, *unsigned),
        _ => (false, false),
    };
    let mut found = Vec::new();
    if digits {
        found.push(dropped(FLOAT_DIGITS));
    }
    match (zerofill, unsigned) {
        (true, _) => found.push(dropped(ZEROFILL)),
        (false, true) => found.push(dropped(UNSIGNED_FRACTION)),
        (false, false) => {}
    }
    found
}

/// Checks the type of column `name` in a table whose default collation is `table`.
pub fn column_type(
    name: &str,
    spec: &TypeSpec,
    table: Collation,
    strict: bool,
) -> Result<ColumnType, SqlError> {
    let longest = u64::from(u32::MAX);
    if spec.length.is_some_and(|length| length > longest) && !number_or_time(spec.kind) {
        return Err(error(ErrorCode::TooBigDisplaywidth, &[&name, &longest]));
    }
    let mut out = ColumnType {
        data_type: DataType::Null,
        display_width: None,
        zerofill: spec.zerofill,
        explicit_collation: false,
        deprecated: Vec::new(),
    };
    if is_bytes(spec.kind) {
        charset::resolve(Some("binary"), spec.collation.as_deref())?;
    }
    out.data_type = match spec.kind {
        TypeKind::Bool
        | TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt
        | TypeKind::Serial => integer(name, spec, &mut out)?,
        TypeKind::Bit => bit(name, spec)?,
        TypeKind::Decimal => decimal(name, spec, &mut out)?,
        TypeKind::Float | TypeKind::Double => real(name, spec, &mut out)?,
        TypeKind::Date => DataType::Date,
        TypeKind::Time => DataType::Time { fsp: fsp(name, spec)? },
        TypeKind::DateTime => DataType::DateTime { fsp: fsp(name, spec)? },
        TypeKind::Timestamp => DataType::Timestamp { fsp: fsp(name, spec)? },
        TypeKind::Year => match spec.length {
            None => DataType::Year,
            Some(4) => {
                out.deprecated.push(replaced("YEAR(4)", "YEAR"));
                DataType::Year
            }
            Some(_) => return Err(error(ErrorCode::InvalidYearColumnLength, &[])),
        },
        TypeKind::Json => DataType::Json,
        TypeKind::Binary => DataType::Binary(char_length(name, spec)?),
        TypeKind::VarBinary => {
            let bytes = spec.length.unwrap_or(1);
            if bytes > MAX_ROW_BYTES {
                return too_long(name, MAX_ROW_BYTES);
            }
            DataType::VarBinary(bytes as u32)
        }
        TypeKind::TinyBlob => DataType::Blob(LobSize::Tiny),
        TypeKind::Blob => DataType::Blob(lob_size(spec.length)),
        TypeKind::MediumBlob => DataType::Blob(LobSize::Medium),
        TypeKind::LongBlob => DataType::Blob(LobSize::Long),
        kind => match geometry_kind(kind) {
            Some(kind) => DataType::Geometry { kind, srid: None },
            None => string(name, spec, table, strict, &mut out)?,
        },
    };
    Ok(out)
}

/// Which geometries a spatial type takes; `None` for other types.
fn geometry_kind(kind: TypeKind) -> Option<GeometryKind> {
    Some(match kind {
        TypeKind::Geometry => GeometryKind::Geometry,
        TypeKind::Point => GeometryKind::Point,
        TypeKind::LineString => GeometryKind::LineString,
        TypeKind::Polygon => GeometryKind::Polygon,
        TypeKind::MultiPoint => GeometryKind::MultiPoint,
        TypeKind::MultiLineString => GeometryKind::MultiLineString,
        TypeKind::MultiPolygon => GeometryKind::MultiPolygon,
        TypeKind::GeometryCollection => GeometryKind::Collection,
        _ => return None,
    })
}

/// Types whose values are bytes to COLLATE.
fn is_bytes(kind: TypeKind) -> bool {
    use TypeKind as T;
    if geometry_kind(kind).is_some() {
        return true;
    }
    matches!(kind, T::Binary | T::VarBinary | T::Json)
        || matches!(kind, T::TinyBlob | T::Blob | T::MediumBlob | T::LongBlob)
}

/// Types whose length has a narrower limit of its own.
fn number_or_time(kind: TypeKind) -> bool {
    use TypeKind as T;
    let integer = matches!(
        kind,
        T::Bool | T::TinyInt | T::SmallInt | T::MediumInt | T::Int | T::BigInt | T::Serial
    );
    integer
        || matches!(
            kind,
            T::Bit | T::Decimal | T::Float | T::Double | T::Date | T::Time | T::DateTime
        )
        || matches!(kind, T::Timestamp | T::Year)
}

fn too_long<T>(name: &str, max: u64) -> Result<T, SqlError> {
    Err(error(ErrorCode::TooBigFieldlength, &[&name, &max]))
}

fn integer(name: &str, spec: &TypeSpec, out: &mut ColumnType) -> Result<DataType, SqlError> {
    let unsigned = spec.unsigned || spec.zerofill || spec.kind == TypeKind::Serial;
    let (width, digits) = match (spec.kind, unsigned) {
        (TypeKind::Bool | TypeKind::TinyInt, _) => (IntWidth::Tiny, 3),
        (TypeKind::SmallInt, _) => (IntWidth::Small, 5),
        (TypeKind::MediumInt, _) => (IntWidth::Medium, 8),
        (TypeKind::Int, _) => (IntWidth::Int, 10),
        _ => (IntWidth::Big, 20),
    };
    if let Some(length) = spec.length
        && length > MAX_DISPLAY_WIDTH
    {
        return Err(error(ErrorCode::TooBigDisplaywidth, &[&name, &MAX_DISPLAY_WIDTH]));
    }
    if spec.zerofill {
        out.display_width = Some(spec.length.unwrap_or(digits) as u8);
        out.deprecated.push(dropped(ZEROFILL));
    }
    let one = spec.kind == TypeKind::Bool || spec.length == Some(1);
    if width == IntWidth::Tiny && one && !unsigned {
        out.display_width = Some(1);
    }
    if spec.length.is_some() {
        out.deprecated.push(dropped(DISPLAY_WIDTH));
    }
    Ok(DataType::Int { width, unsigned })
}

fn bit(name: &str, spec: &TypeSpec) -> Result<DataType, SqlError> {
    match spec.length.unwrap_or(1) {
        0 => Err(error(ErrorCode::InvalidFieldSize, &[&name])),
        bits @ 1..=64 => Ok(DataType::Bit(bits as u8)),
        _ => Err(error(ErrorCode::TooBigDisplaywidth, &[&name, &64])),
    }
}

fn decimal(name: &str, spec: &TypeSpec, out: &mut ColumnType) -> Result<DataType, SqlError> {
    let scale = spec.decimals.unwrap_or(0);
    if scale > 30 {
        return Err(error(ErrorCode::TooBigScale, &[&scale, &name, &30]));
    }
    let precision = spec.length.filter(|p| *p > 0).unwrap_or(10);
    if precision > 65 {
        return Err(error(ErrorCode::TooBigPrecision, &[&precision, &name, &65]));
    }
    if precision < scale {
        return Err(error(ErrorCode::MBiggerThanD, &[&name]));
    }
    note_unsigned(spec, UNSIGNED_FRACTION, out);
    let unsigned = spec.unsigned || spec.zerofill;
    if spec.zerofill {
        // The point has a place of its own.
        out.display_width = Some(precision as u8 + u8::from(scale > 0));
    }
    Ok(DataType::Decimal { precision: precision as u8, scale: scale as u8, unsigned })
}

fn note_unsigned(spec: &TypeSpec, text: &'static str, out: &mut ColumnType) {
    if spec.zerofill {
        out.deprecated.push(dropped(ZEROFILL));
    }
    if spec.unsigned {
        out.deprecated.push(dropped(text));
    }
}

fn real(name: &str, spec: &TypeSpec, out: &mut ColumnType) -> Result<DataType, SqlError> {
    let unsigned = spec.unsigned || spec.zerofill;
    if spec.decimals.is_none() {
        note_unsigned(spec, UNSIGNED_FRACTION, out);
    } else if spec.zerofill {
        out.deprecated.push(dropped(ZEROFILL));
    }
    let float = spec.kind == TypeKind::Float;
    let Some(decimals) = spec.decimals else {
        return match spec.length {
            Some(54..) if float => Err(error(ErrorCode::WrongFieldSpec, &[&name])),
            Some(25..) if float => Ok(DataType::Double { decimals: None, unsigned }),
            _ if float => Ok(DataType::Float { decimals: None, unsigned }),
            _ => Ok(DataType::Double { decimals: None, unsigned }),
        };
    };
    let width = spec.length.unwrap_or(0);
    if decimals > 30 {
        return Err(error(ErrorCode::TooBigScale, &[&decimals, &name, &30]));
    }
    if width > MAX_DISPLAY_WIDTH {
        return Err(error(ErrorCode::TooBigDisplaywidth, &[&name, &MAX_DISPLAY_WIDTH]));
    }
    if width < decimals {
        return Err(error(ErrorCode::MBiggerThanD, &[&name]));
    }
    out.deprecated.push(dropped(FLOAT_DIGITS));
    if spec.unsigned {
        out.deprecated.push(dropped(UNSIGNED_FRACTION));
    }
    out.display_width = Some(width as u8);
    let decimals = Some(decimals as u8);
    Ok(if float {
        DataType::Float { decimals, unsigned }
    } else {
        DataType::Double { decimals, unsigned }
    })
}

fn fsp(name: &str, spec: &TypeSpec) -> Result<u8, SqlError> {
    match spec.length.unwrap_or(0) {
        digits @ 0..=6 => Ok(digits as u8),
        digits => Err(error(ErrorCode::TooBigPrecision, &[&digits, &name, &6])),
    }
}

fn char_length(name: &str, spec: &TypeSpec) -> Result<u32, SqlError> {
    match spec.length.unwrap_or(1) {
        chars @ 0..=MAX_CHAR => Ok(chars as u32),
        _ => too_long(name, MAX_CHAR),
    }
}

/// The TEXT or BLOB type that holds `bytes`.
fn lob_size(bytes: Option<u64>) -> LobSize {
    match bytes {
        None => LobSize::Normal,
        Some(0..=255) => LobSize::Tiny,
        Some(256..=65_535) => LobSize::Normal,
        Some(65_536..=16_777_215) => LobSize::Medium,
        Some(_) => LobSize::Long,
    }
}

fn collation_of(spec: &TypeSpec, table: Collation) -> Result<(Collation, bool), SqlError> {
    let written = charset::resolve(spec.charset.as_deref(), spec.collation.as_deref())?;
    let collation = written.unwrap_or(table);
    if spec.binary && spec.collation.is_none() {
        return Ok((charset::binary_collation(collation), true));
    }
    Ok((collation, written.is_some()))
}

fn string(
    name: &str,
    spec: &TypeSpec,
    table: Collation,
    strict: bool,
    out: &mut ColumnType,
) -> Result<DataType, SqlError> {
    let (collation, explicit) = collation_of(spec, table)?;
    out.explicit_collation = explicit;
    if spec.national {
        out.deprecated.push(error(ErrorCode::DeprecatedNational, &[]));
    }
    if let Some(word) = spec.charset_word {
        out.deprecated.push(replaced(word, "CHARACTER SET charset_name"));
    }
    if spec.binary {
        let new = "a CHARACTER SET clause with _bin collation";
        out.deprecated.push(replaced("BINARY as attribute of a type", new));
    }
    // Lengths are in characters, the limits of rows and of TEXT types in bytes of the widest one.
    let bytes = u64::from(charset::max_bytes(collation));
    let binary = collation == Collation::BINARY;
    // The character set `binary` makes string types their binary counterparts.
    let text = |size| match binary {
        true => DataType::Blob(size),
        false => DataType::Text { size, collation },
    };
    Ok(match spec.kind {
        TypeKind::Char if binary => DataType::Binary(char_length(name, spec)?),
        TypeKind::Char => DataType::Char { chars: char_length(name, spec)?, collation },
        TypeKind::VarChar => {
            let chars = spec.length.unwrap_or(1);
            let max = MAX_ROW_BYTES / bytes;
            // Outside strict mode, a VARCHAR that is too long becomes the TEXT type that holds it.
            match chars > max {
                true if strict => return too_long(name, max),
                true => text(lob_size(Some(chars * bytes))),
                false if binary => DataType::VarBinary(chars as u32),
                false => DataType::VarChar { chars: chars as u32, collation },
            }
        }
        TypeKind::TinyText => text(LobSize::Tiny),
        TypeKind::MediumText => text(LobSize::Medium),
        TypeKind::LongText => text(LobSize::Long),
        TypeKind::Enum => {
            DataType::Enum { members: members(name, spec, collation, "ENUM")?, collation }
        }
        TypeKind::Set => {
            let members = members(name, spec, collation, "SET")?;
            // A comma separates members in a SET's text, and each member is one of 64 bits.
            if let Some(wrong) = members.iter().find(|member| member.contains(',')) {
                return Err(error(ErrorCode::IllegalValueForType, &[&"set", wrong]));
            }
            if members.len() > 64 {
                return Err(error(ErrorCode::TooBigSet, &[&name]));
            }
            DataType::Set { members, collation }
        }
        _ => text(lob_size(spec.length.map(|chars| chars.saturating_mul(bytes)))),
    })
}

/// ENUM's or SET's members without trailing spaces, each once.
fn members(
    name: &str,
    spec: &TypeSpec,
    collation: Collation,
    kind: &'static str,
) -> Result<std::sync::Arc<[String]>, SqlError> {
    let members: Vec<String> =
        spec.values.iter().map(|member| member.trim_end_matches(' ').to_owned()).collect();
    let mut seen = std::collections::HashMap::new();
    for member in &members {
        if member.chars().count() > MAX_MEMBER {
            return Err(error(ErrorCode::TooLongSetEnumValue, &[&name]));
        }
        let mut key = Vec::new();
        collation.sort_key(member.as_bytes(), &mut key);
        if let Some(first) = seen.insert(key, member) {
            return Err(error(ErrorCode::DuplicatedValueInType, &[&name, first, &kind]));
        }
    }
    Ok(members.into())
}

/// The type as SHOW CREATE TABLE and information_schema print it, without charset.
pub fn type_text(data_type: &DataType, width: Option<u8>, zerofill: bool) -> String {
    let with_fsp = |name: &str, fsp: u8| match fsp {
        0 => name.to_owned(),
        fsp => format!("{name}({fsp})"),
    };
    let members = |name: &str, members: &[String]| {
        let quoted: Vec<String> =
            members.iter().map(|m| format!("'{}'", m.replace('\'', "''"))).collect();
        format!("{name}({})", quoted.join(","))
    };
    let lob = |size: &LobSize, name: &str| match size {
        LobSize::Tiny => format!("tiny{name}"),
        LobSize::Normal => name.to_owned(),
        LobSize::Medium => format!("medium{name}"),
        LobSize::Long => format!("long{name}"),
    };
    let real = |name: &str, decimals: &Option<u8>| match (width, decimals) {
        (Some(width), Some(decimals)) => format!("{name}({width},{decimals})"),
        _ => name.to_owned(),
    };
    let (mut text, unsigned) = match data_type {
        DataType::Null => (String::from("null"), false),
        DataType::Int { width: size, unsigned } => {
            let name = match size {
                IntWidth::Tiny => "tinyint",
                IntWidth::Small => "smallint",
                IntWidth::Medium => "mediumint",
                IntWidth::Int => "int",
                IntWidth::Big => "bigint",
            };
            (width.map_or(name.to_owned(), |width| format!("{name}({width})")), *unsigned)
        }
        DataType::Bit(bits) => (format!("bit({bits})"), false),
        DataType::Decimal { precision, scale, unsigned } => {
            (format!("decimal({precision},{scale})"), *unsigned)
        }
        DataType::Float { decimals, unsigned } => (real("float", decimals), *unsigned),
        DataType::Double { decimals, unsigned } => (real("double", decimals), *unsigned),
        DataType::Char { chars, .. } => (format!("char({chars})"), false),
        DataType::VarChar { chars, .. } => (format!("varchar({chars})"), false),
        DataType::Text { size, .. } => (lob(size, "text"), false),
        DataType::Binary(bytes) => (format!("binary({bytes})"), false),
        DataType::VarBinary(bytes) => (format!("varbinary({bytes})"), false),
        DataType::Blob(size) => (lob(size, "blob"), false),
        DataType::Date => (String::from("date"), false),
        DataType::Time { fsp } => (with_fsp("time", *fsp), false),
        DataType::DateTime { fsp } => (with_fsp("datetime", *fsp), false),
        DataType::Timestamp { fsp } => (with_fsp("timestamp", *fsp), false),
        DataType::Year => (String::from("year"), false),
        DataType::Enum { members: list, .. } => (members("enum", list), false),
        DataType::Set { members: list, .. } => (members("set", list), false),
        DataType::Json => (String::from("json"), false),
        DataType::Geometry { kind, .. } => (kind.name().to_lowercase(), false),
    };
    if unsigned {
        text.push_str(" unsigned");
    }
    // ZEROFILL implies UNSIGNED, and MySQL prints it last.
    if zerofill {
        text.push_str(" zerofill");
    }
    text
}
