//! A column of a Parquet file: its type, and the values that wait to be written.

use super::super::bits;
use inia_base::column::flags;
use inia_base::temporal::{Date, DateRules};
use inia_base::value::Value;
use inia_wire::column::{ColumnDef, type_code as ty};
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::data_type::{
    ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::Type;

/// The collation of bytes.
const BINARY: u16 = 63;
/// The most digits that fit into 4 and into 8 bytes.
const DIGITS_OF_4: i32 = 9;
const DIGITS_OF_8: i32 = 18;

/// What a column is stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// An integer of so many bits.
    Integer { bits: i8, signed: bool },
    /// An unscaled number.
    Decimal { digits: i32, scale: i32 },
    /// Single precision.
    Float,
    /// Double precision.
    Double,
    /// Days.
    Date,
    /// Microseconds.
    Moment,
    /// The number that bits are.
    Bits,
    /// UTF-8, of one of these meanings.
    Text(TextKind),
    /// Bytes.
    Bytes,
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    /// Any text.
    String,
    /// A document.
    Json,
    /// A member of an ENUM.
    Enum,
}

impl Stored {
    /// What a result's column is stored as.
    pub(super) fn of(column: &ColumnDef) -> Stored {
        let signed = column.flags & flags::UNSIGNED == 0;
        match column.type_code {
            ty::TINY => Stored::Integer { bits: 8, signed },
            ty::SHORT => Stored::Integer { bits: 16, signed },
            ty::YEAR => Stored::Integer { bits: 16, signed: false },
            ty::LONG | ty::INT24 => Stored::Integer { bits: 32, signed },
            ty::LONGLONG => Stored::Integer { bits: 64, signed },
            ty::DECIMAL | ty::NEWDECIMAL => Stored::decimal(column, signed),
            ty::FLOAT => Stored::Float,
            ty::DOUBLE => Stored::Double,
            ty::DATE => Stored::Date,
            ty::DATETIME | ty::TIMESTAMP => Stored::Moment,
            ty::BIT => Stored::Bits,
            ty::JSON => Stored::Text(TextKind::Json),
            _ if column.flags & flags::ENUM != 0 => Stored::Text(TextKind::Enum),
            _ if column.flags & flags::SET != 0 => Stored::Text(TextKind::String),
            ty::TINY_BLOB..=ty::STRING | ty::VARCHAR if column.collation == BINARY => Stored::Bytes,
            _ => Stored::Text(TextKind::String),
        }
    }

    /// A decimal's length counts its sign and its point.
    fn decimal(column: &ColumnDef, signed: bool) -> Stored {
        let scale = i32::from(column.decimals);
        let beside = i32::from(signed) + i32::from(scale > 0);
        let digits = (column.length as i32 - beside).clamp(scale.max(1), 65);
        Stored::Decimal { digits, scale }
    }

    fn physical(self) -> PhysicalType {
        match self {
            Stored::Integer { bits: 64, .. } | Stored::Moment | Stored::Bits => PhysicalType::INT64,
            Stored::Integer { .. } | Stored::Date => PhysicalType::INT32,
            Stored::Decimal { digits, .. } if digits <= DIGITS_OF_4 => PhysicalType::INT32,
            Stored::Decimal { digits, .. } if digits <= DIGITS_OF_8 => PhysicalType::INT64,
            Stored::Decimal { .. } => PhysicalType::FIXED_LEN_BYTE_ARRAY,
            Stored::Float => PhysicalType::FLOAT,
            Stored::Double => PhysicalType::DOUBLE,
            Stored::Text(_) | Stored::Bytes => PhysicalType::BYTE_ARRAY,
        }
    }

    fn logical(self) -> Option<LogicalType> {
        Some(match self {
            Stored::Integer { bits, signed } => LogicalType::integer(bits, signed),
            Stored::Bits => LogicalType::integer(64, false),
            Stored::Decimal { digits, scale } => LogicalType::decimal(scale, digits),
            Stored::Date => LogicalType::Date,
            Stored::Moment => LogicalType::timestamp(false, TimeUnit::MICROS),
            Stored::Text(TextKind::String) => LogicalType::String,
            Stored::Text(TextKind::Json) => LogicalType::Json,
            Stored::Text(TextKind::Enum) => LogicalType::Enum,
            Stored::Float | Stored::Double | Stored::Bytes => return None,
        })
    }

    /// The column's place in the schema. Every column may be NULL: whether an expression can be is
    /// not always known.
    pub(super) fn field(self, name: &str) -> Result<Type, ParquetError> {
        let builder = Type::primitive_type_builder(name, self.physical())
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(self.logical());
        match self {
            Stored::Decimal { digits, scale } => {
                let length = if digits > DIGITS_OF_8 { bytes_of(digits) as i32 } else { -1 };
                builder.with_precision(digits).with_scale(scale).with_length(length).build()
            }
            _ => builder.build(),
        }
    }
}

/// Bytes that hold every number of so many digits, and its sign.
fn bytes_of(digits: i32) -> usize {
    (f64::from(digits) * std::f64::consts::LOG2_10 / 8.0 + 0.125).ceil() as usize
}

/// Values of one physical type.
#[derive(Debug)]
enum Values {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

/// A column's values that wait for their row group.
#[derive(Debug)]
pub(super) struct ColumnBuffer {
    name: String,
    stored: Stored,
    values: Values,
    /// 1 for each value and 0 for each NULL.
    levels: Vec<i16>,
}

impl ColumnBuffer {
    /// No values yet.
    pub(super) fn new(name: String, stored: Stored) -> ColumnBuffer {
        let values = match stored.physical() {
            PhysicalType::INT32 => Values::Int32(Vec::new()),
            PhysicalType::INT64 => Values::Int64(Vec::new()),
            PhysicalType::FLOAT => Values::Float(Vec::new()),
            PhysicalType::DOUBLE => Values::Double(Vec::new()),
            PhysicalType::FIXED_LEN_BYTE_ARRAY => Values::Fixed(Vec::new()),
            _ => Values::Bytes(Vec::new()),
        };
        ColumnBuffer { name, stored, values, levels: Vec::new() }
    }

    /// Takes a value as a server writes it; an error where the column's type has no such value.
    pub(super) fn push(&mut self, value: &Value) -> Result<(), String> {
        if value.is_null() {
            self.levels.push(0);
            return Ok(());
        }
        self.levels.push(1);
        let bytes = value.as_bytes().unwrap_or_default();
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        let name = &self.name;
        let wrong = || format!("column {name}: Parquet has no value for '{text}'");
        match &mut self.values {
            Values::Bytes(values) => values.push(ByteArray::from(bytes.to_vec())),
            Values::Float(values) => values.push(text.parse().map_err(|_| wrong())?),
            Values::Double(values) => values.push(text.parse().map_err(|_| wrong())?),
            Values::Int32(values) => {
                let number = integer(self.stored, text, value).ok_or_else(wrong)?;
                // An unsigned value keeps its bits.
                let fits = i32::try_from(number).ok();
                let bits = u32::try_from(number).ok().map(|number| number as i32);
                values.push(fits.or(bits).ok_or_else(wrong)?);
            }
            Values::Int64(values) => {
                let number = integer(self.stored, text, value).ok_or_else(wrong)?;
                let fits = i64::try_from(number).ok();
                let bits = u64::try_from(number).ok().map(|number| number as i64);
                values.push(fits.or(bits).ok_or_else(wrong)?);
            }
            Values::Fixed(values) => {
                let Stored::Decimal { digits, scale } = self.stored else { return Err(wrong()) };
                let bytes = unscaled_bytes(text, scale, bytes_of(digits)).ok_or_else(wrong)?;
                values.push(FixedLenByteArray::from(bytes));
            }
        }
        Ok(())
    }

    /// Writes what waits, and forgets it.
    pub(super) fn write(
        &mut self,
        writer: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        let levels = Some(&self.levels[..]);
        match &mut self.values {
            Values::Int32(values) => {
                writer.typed::<Int32Type>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Int64(values) => {
                writer.typed::<Int64Type>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Float(values) => {
                writer.typed::<FloatType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Double(values) => {
                writer.typed::<DoubleType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Bytes(values) => {
                writer.typed::<ByteArrayType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Fixed(values) => {
                writer.typed::<FixedLenByteArrayType>().write_batch(values, levels, None)?;
                values.clear();
            }
        }
        self.levels.clear();
        Ok(())
    }
}

/// The integer that a value is stored as.
fn integer(stored: Stored, text: &str, value: &Value) -> Option<i128> {
    match stored {
        Stored::Bits => Some(i128::from(bits(value))),
        Stored::Date => day(text).map(i128::from),
        Stored::Moment => {
            let (date, time) = text.split_once(' ')?;
            let micros = day(date)?.checked_mul(86_400_000_000)?;
            Some(i128::from(micros + micros_of_day(time)?))
        }
        Stored::Decimal { scale, .. } => unscaled(text, scale)?.parse().ok(),
        _ => text.parse().ok(),
    }
}

/// Days from 1970-01-01 to a date of the calendar.
fn day(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, '-');
    let year = parts.next()?.parse().ok()?;
    let (month, day) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let date = Date::new(year, month, day);
    date.check(DateRules::STRICT).ok()?;
    let epoch = Date::new(1970, 1, 1).at_midnight();
    Some(date.at_midnight().micros_since(epoch) / 86_400_000_000)
}

fn micros_of_day(text: &str) -> Option<i64> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut seconds = 0;
    for part in clock.split(':') {
        seconds = seconds * 60 + part.parse::<i64>().ok()?;
    }
    let micros: i64 = format!("{fraction:0<6}").parse().ok()?;
    Some(seconds * 1_000_000 + micros)
}

/// The digits of a decimal without its point, with `scale` digits behind it.
fn unscaled(text: &str, scale: i32) -> Option<String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let scale = usize::try_from(scale).ok()?;
    (fraction.len() <= scale).then(|| format!("{whole}{fraction:0<scale$}"))
}

/// The same in two's complement, highest byte first.
fn unscaled_bytes(text: &str, scale: i32, length: usize) -> Option<Vec<u8>> {
    let digits = unscaled(text, scale)?;
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits.as_str()),
    };
    let mut bytes = vec![0u8; length];
    for digit in digits.chars() {
        let mut carry = digit.to_digit(10)?;
        for byte in bytes.iter_mut().rev() {
            let value = u32::from(*byte) * 10 + carry;
            *byte = value as u8;
            carry = value >> 8;
        }
    }
    if negative {
        bytes.iter_mut().for_each(|byte| *byte = !*byte);
        for byte in bytes.iter_mut().rev() {
            let (sum, carried) = byte.overflowing_add(1);
            *byte = sum;
            if !carried {
                break;
            }
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    //! Numbers as Parquet stores them.

    use super::*;

    #[test]
    fn decimals_have_room_for_all_their_digits() {
        for digits in 19..=65 {
            let (most, bytes) = ("9".repeat(digits), bytes_of(digits as i32));
            let stored = unscaled_bytes(&most, 0, bytes).unwrap();
            assert!(stored[0] < 0x80, "{digits} digits need {bytes} bytes and a sign");
        }
        assert_eq!(unscaled_bytes("-0.05", 2, 9).unwrap(), (-5i128).to_be_bytes()[7..]);
        assert_eq!(unscaled("12.5", 2).unwrap(), "1250");
    }

    #[test]
    fn dates_of_no_calendar_are_refused() {
        assert_eq!(day("1970-01-02"), Some(1));
        assert_eq!(day("2024-02-29"), Some(19_782));
        assert_eq!(day("0000-00-00"), None);
        assert_eq!(integer(Stored::Moment, "1969-12-31 23:59:59.5", &Value::Null), Some(-500_000));
    }
}
