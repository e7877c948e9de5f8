//! What a Parquet column holds, and the texts of its values.

use inia_base::temporal::{Date, DateTime};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as PhysicalType};
use parquet::schema::types::ColumnDescriptor;

/// Digits of a DECIMAL, and those behind its point.
const MAX_DIGITS: i32 = 65;
const MAX_SCALE: i32 = 30;
/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// The meaning of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellType {
    /// True or false.
    Boolean,
    /// An integer of so many bits.
    Integer { bits: i8, signed: bool },
    /// An unscaled number with so many digits, some of them behind the point.
    Decimal { digits: i32, scale: i32 },
    /// A floating-point number.
    Float,
    /// The same of double precision.
    Double,
    /// Days since 1970.
    Date,
    /// Time of day, so many a microsecond or so many microseconds.
    Time(Ticks),
    /// Moments since 1970; in UTC or without a time zone.
    Moment { ticks: Ticks, utc: bool },
    /// UTF-8.
    Text,
    /// UTF-8 of a document.
    Json,
    /// 16 bytes of a UUID.
    Uuid,
    /// Bytes.
    Bytes,
}

/// The unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ticks {
    /// Thousandths of a second.
    Milli,
    /// Millionths.
    Micro,
    /// Billionths.
    Nano,
}

impl Ticks {
    fn of(unit: &TimeUnit) -> Ticks {
        match unit {
            TimeUnit::MILLIS => Ticks::Milli,
            TimeUnit::MICROS => Ticks::Micro,
            TimeUnit::NANOS => Ticks::Nano,
        }
    }

    /// Rounded to microseconds.
    fn micros(self, value: i64) -> Option<i64> {
        match self {
            Ticks::Milli => value.checked_mul(1000),
            Ticks::Micro => Some(value),
            Ticks::Nano => Some(value.div_euclid(1000) + i64::from(value.rem_euclid(1000) >= 500)),
        }
    }

    fn digits(self) -> u8 {
        if self == Ticks::Milli { 3 } else { 6 }
    }
}

impl CellType {
    /// The type of a column; none where it has a meaning that is not known here.
    pub(super) fn of(column: &ColumnDescriptor) -> Option<CellType> {
        if let Some(logical) = column.logical_type_ref() {
            return CellType::logical(logical);
        }
        let decimal =
            CellType::Decimal { digits: column.type_precision(), scale: column.type_scale() };
        Some(match (column.converted_type(), column.physical_type()) {
            (ConvertedType::DECIMAL, _) => decimal,
            (ConvertedType::UTF8 | ConvertedType::ENUM, _) => CellType::Text,
            (ConvertedType::JSON, _) => CellType::Json,
            (ConvertedType::DATE, _) => CellType::Date,
            (ConvertedType::TIME_MILLIS, _) => CellType::Time(Ticks::Milli),
            (ConvertedType::TIME_MICROS, _) => CellType::Time(Ticks::Micro),
            (ConvertedType::TIMESTAMP_MILLIS, _) => {
                CellType::Moment { ticks: Ticks::Milli, utc: true }
            }
            (ConvertedType::TIMESTAMP_MICROS, _) => {
                CellType::Moment { ticks: Ticks::Micro, utc: true }
            }
            (ConvertedType::INT_8, _) => CellType::Integer { bits: 8, signed: true },
            (ConvertedType::INT_16, _) => CellType::Integer { bits: 16, signed: true },
            (ConvertedType::UINT_8, _) => CellType::Integer { bits: 8, signed: false },
            (ConvertedType::UINT_16, _) => CellType::Integer { bits: 16, signed: false },
            (ConvertedType::UINT_32, _) => CellType::Integer { bits: 32, signed: false },
            (ConvertedType::UINT_64, _) => CellType::Integer { bits: 64, signed: false },
            (_, PhysicalType::BOOLEAN) => CellType::Boolean,
            (_, PhysicalType::INT32) => CellType::Integer { bits: 32, signed: true },
            (_, PhysicalType::INT64) => CellType::Integer { bits: 64, signed: true },
            (_, PhysicalType::INT96) => CellType::Moment { ticks: Ticks::Micro, utc: false },
            (_, PhysicalType::FLOAT) => CellType::Float,
            (_, PhysicalType::DOUBLE) => CellType::Double,
            (ConvertedType::INTERVAL, _) => return None,
            (_, PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY) => CellType::Bytes,
        })
    }

    fn logical(logical: &LogicalType) -> Option<CellType> {
        Some(match logical {
            LogicalType::String | LogicalType::Enum => CellType::Text,
            LogicalType::Json => CellType::Json,
            LogicalType::Bson => CellType::Bytes,
            LogicalType::Uuid => CellType::Uuid,
            LogicalType::Date => CellType::Date,
            LogicalType::Decimal(ty) => CellType::Decimal { digits: ty.precision, scale: ty.scale },
            LogicalType::Integer(ty) => {
                CellType::Integer { bits: ty.bit_width, signed: ty.is_signed }
            }
            LogicalType::Time(ty) => CellType::Time(Ticks::of(&ty.unit)),
            LogicalType::Timestamp(ty) => {
                CellType::Moment { ticks: Ticks::of(&ty.unit), utc: ty.is_adjusted_to_u_t_c }
            }
            _ => return None,
        })
    }

    /// The type of a column of SQL; none of a text, whose values say how long it must be.
    pub(super) fn sql(self) -> Option<String> {
        Some(match self {
            CellType::Boolean => "BOOLEAN".to_owned(),
            CellType::Integer { bits, signed } => {
                let name = match bits {
                    8 => "TINYINT",
                    16 => "SMALLINT",
                    32 => "INT",
                    _ => "BIGINT",
                };
                if signed { name.to_owned() } else { format!("{name} UNSIGNED") }
            }
            CellType::Decimal { digits, scale } if digits <= MAX_DIGITS && scale <= MAX_SCALE => {
                format!("DECIMAL({digits},{scale})")
            }
            CellType::Decimal { .. } | CellType::Text => return None,
            CellType::Float => "FLOAT".to_owned(),
            CellType::Double => "DOUBLE".to_owned(),
            CellType::Date => "DATE".to_owned(),
            CellType::Time(ticks) => format!("TIME({})", ticks.digits()),
            CellType::Moment { ticks, .. } => format!("DATETIME({})", ticks.digits()),
            CellType::Json => "JSON".to_owned(),
            CellType::Uuid => "CHAR(36)".to_owned(),
            CellType::Bytes => "LONGBLOB".to_owned(),
        })
    }

    /// A stored integer of so many bits as the number that it stands for.
    pub(super) fn widened(self, value: i64, stored: u32) -> i128 {
        match self {
            CellType::Integer { signed: false, .. } => {
                i128::from(value as u64 & (u64::MAX >> (64 - stored)))
            }
            _ => i128::from(value),
        }
    }

    /// The text of a value that is stored as an integer.
    pub(super) fn integer(self, value: i128) -> Vec<u8> {
        let text = match self {
            CellType::Decimal { scale, .. } => with_point(value.to_string(), scale),
            CellType::Date => i64::try_from(value)
                .ok()
                .and_then(|days| moment(days.checked_mul(DAY)?))
                .map_or_else(|| value.to_string(), |text| text[..10].to_owned()),
            CellType::Time(ticks) => time(ticks, value as i64),
            CellType::Moment { ticks, utc } => {
                // What no DATETIME can hold stays a number, which the server refuses.
                let found = ticks.micros(value as i64).and_then(moment);
                let offset = if utc { "+00:00" } else { "" };
                found.map_or_else(|| value.to_string(), |text| text + offset)
            }
            _ => value.to_string(),
        };
        text.into_bytes()
    }

    /// The text of a value that is stored as bytes.
    pub(super) fn bytes(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            CellType::Decimal { scale, .. } => with_point(digits(bytes), scale).into_bytes(),
            CellType::Uuid => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let at = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
                let parts = [at(0, 8), at(8, 12), at(12, 16), at(16, 20), at(20, 32)];
                parts.join("-").into_bytes()
            }
            _ => bytes.to_vec(),
        }
    }
}

/// A moment as `2024-02-29 10:20:30.000000`.
fn moment(micros: i64) -> Option<String> {
    let epoch: DateTime = Date::new(1970, 1, 1).at_midnight();
    let mut text = Vec::new();
    epoch.add_micros(micros)?.write_text(6, &mut text);
    String::from_utf8(text).ok()
}

fn time(ticks: Ticks, value: i64) -> String {
    let micros = ticks.micros(value).unwrap_or(value);
    let (seconds, fraction) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}.{fraction:06}", seconds % 60)
}

/// Puts the point into the digits of an unscaled number.
fn with_point(digits: String, scale: i32) -> String {
    let Ok(scale @ 1..) = usize::try_from(scale) else { return digits };
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits.as_str()),
    };
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// The decimal digits of a number in two's complement, highest byte first.
fn digits(bytes: &[u8]) -> String {
    let negative = bytes.first().is_some_and(|byte| *byte >= 0x80);
    let mut magnitude = bytes.to_vec();
    if negative {
        magnitude.iter_mut().for_each(|byte| *byte = !*byte);
        for byte in magnitude.iter_mut().rev() {
            let (sum, carried) = byte.overflowing_add(1);
            *byte = sum;
            if !carried {
                break;
            }
        }
    }
    // Long division by ten, the lowest digit first.
    let mut digits = Vec::new();
    while magnitude.iter().any(|byte| *byte != 0) || digits.is_empty() {
        let mut rest = 0u32;
        for byte in &mut magnitude {
            let value = rest << 8 | u32::from(*byte);
            *byte = (value / 10) as u8;
            rest = value % 10;
        }
        digits.push(char::from(b'0' + rest as u8));
    }
    let sign = if negative { "-" } else { "" };
    sign.chars().chain(digits.into_iter().rev()).collect()
}

#[cfg(test)]
mod tests {
    //! Texts of stored values.

    use super::*;

    #[test]
    fn decimals_of_any_width() {
        assert_eq!(digits(&[0]), "0");
        assert_eq!(digits(&[0x80]), "-128");
        assert_eq!(digits(&[0xff; 20]), "-1");
        assert_eq!(digits(&i128::MIN.to_be_bytes()), i128::MIN.to_string());
        assert_eq!(with_point("-5".to_owned(), 2), "-0.05");
        assert_eq!(with_point("1234".to_owned(), 2), "12.34");
        assert_eq!(with_point("7".to_owned(), 0), "7");
    }

    #[test]
    fn moments_and_what_is_none() {
        let utc = CellType::Moment { ticks: Ticks::Nano, utc: true };
        assert_eq!(utc.integer(1_500), b"1970-01-01 00:00:00.000002+00:00");
        assert_eq!(utc.integer(-1), b"1970-01-01 00:00:00.000000+00:00");
        let local = CellType::Moment { ticks: Ticks::Milli, utc: false };
        assert_eq!(local.integer(-1), b"1969-12-31 23:59:59.999000");
        assert_eq!(local.integer(i128::from(i64::MAX)), i64::MAX.to_string().as_bytes());
        assert_eq!(CellType::Date.integer(19_782), b"2024-02-29");
        assert_eq!(CellType::Time(Ticks::Micro).integer(3_661_000_001), b"01:01:01.000001");
    }

    #[test]
    fn unsigned_integers_use_all_bits() {
        let ty = CellType::Integer { bits: 32, signed: false };
        assert_eq!(ty.widened(-1, 32), i128::from(u32::MAX));
        let ty = CellType::Integer { bits: 64, signed: false };
        assert_eq!(ty.widened(-1, 64), i128::from(u64::MAX));
    }
}
