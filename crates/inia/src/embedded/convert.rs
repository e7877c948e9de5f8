//! Cells and rows as Rust's types, and Rust's values as parameters.

use super::error::{Error, Result};
use super::row::{Row, ValueRef};
use inia_base::decimal::Decimal;
use inia_base::temporal::{Date, DateTime, Time};
use inia_base::value::Value;

/// A type that a cell can become.
///
/// Integers take integers that fit, and a DECIMAL without fraction, which is what SUM() gives.
/// Floating-point types take every number. `String` takes texts, JSON, decimals and times as the
/// server writes them; `Vec<u8>` takes texts and binary strings. `Option` takes NULL.
pub trait FromValue: Sized {
    /// The value of a cell; an error says why there is none.
    fn from_value(value: ValueRef<'_>) -> Result<Self>;
}

/// A type that a row can become: a tuple of up to twelve values, one value, `Vec<Value>` for any
/// row, or a type of the program.
///
/// ```
/// struct Person {
///     name: String,
///     born: Option<i32>,
/// }
///
/// impl inia::FromRow for Person {
///     fn from_row(row: &inia::Row<'_>) -> inia::Result<Person> {
///         Ok(Person { name: row.get("name")?, born: row.get("born")? })
///     }
/// }
///
/// # fn main() -> inia::Result<()> {
/// let connection = inia::Database::in_memory()?.connect()?;
/// let ada: Person = connection.query_one("SELECT 'Ada' AS name, 1815 AS born", ())?;
/// assert_eq!((ada.name.as_str(), ada.born), ("Ada", Some(1815)));
/// # Ok(())
/// # }
/// ```
pub trait FromRow: Sized {
    /// The value of a row; an error says why there is none.
    fn from_row(row: &Row<'_>) -> Result<Self>;
}

/// A value that a statement's parameter can have.
pub trait ToValue {
    /// The parameter.
    fn to_value(&self) -> Value;
}

fn misfit(value: ValueRef<'_>, wanted: &str) -> Error {
    match value {
        ValueRef::Null => Error::conversion(format!("it is NULL; use Option<{wanted}>")),
        other => Error::conversion(format!("{} does not fit {wanted}", other.kind())),
    }
}

fn out_of_range(number: impl std::fmt::Display, wanted: &str) -> Error {
    Error::conversion(format!("{number} does not fit {wanted}"))
}

/// The integer that a cell is.
fn integer(value: ValueRef<'_>, wanted: &str) -> Result<i128> {
    match value {
        ValueRef::Int(number) => Ok(i128::from(number)),
        ValueRef::UInt(number) => Ok(i128::from(number)),
        ValueRef::Decimal(digits) => {
            let whole = match digits.split_once('.') {
                Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
                Some(_) => return Err(out_of_range(digits, wanted)),
                None => digits,
            };
            whole.parse().map_err(|_| out_of_range(digits, wanted))
        }
        other => Err(misfit(other, wanted)),
    }
}

macro_rules! integers {
    ($($type:ident as $variant:ident),*) => {$(
        impl FromValue for $type {
            #[inline]
            fn from_value(value: ValueRef<'_>) -> Result<$type> {
                if let ValueRef::Int(number) = value
                    && let Ok(number) = $type::try_from(number)
                {
                    return Ok(number);
                }
                let wanted = stringify!($type);
                let number = integer(value, wanted)?;
                $type::try_from(number).map_err(|_| out_of_range(number, wanted))
            }
        }

        impl ToValue for $type {
            fn to_value(&self) -> Value {
                Value::$variant((*self).into())
            }
        }
    )*};
}

integers!(i8 as Int, i16 as Int, i32 as Int, i64 as Int);
integers!(u8 as UInt, u16 as UInt, u32 as UInt, u64 as UInt);

impl FromValue for bool {
    fn from_value(value: ValueRef<'_>) -> Result<bool> {
        Ok(integer(value, "bool")? != 0)
    }
}

impl FromValue for f64 {
    fn from_value(value: ValueRef<'_>) -> Result<f64> {
        match value {
            ValueRef::Double(number) => Ok(number),
            ValueRef::Int(number) => Ok(number as f64),
            ValueRef::UInt(number) => Ok(number as f64),
            ValueRef::Decimal(digits) => digits.parse().map_err(|_| out_of_range(digits, "f64")),
            other => Err(misfit(other, "f64")),
        }
    }
}

impl FromValue for f32 {
    fn from_value(value: ValueRef<'_>) -> Result<f32> {
        f64::from_value(value).map(|number| number as f32)
    }
}

impl FromValue for String {
    fn from_value(value: ValueRef<'_>) -> Result<String> {
        match value {
            ValueRef::Text(text) | ValueRef::Json(text) | ValueRef::Decimal(text) => {
                Ok(text.to_owned())
            }
            ValueRef::Time(time, digits) => Ok(time.text(digits)),
            ValueRef::DateTime(moment, digits) => Ok(moment.text(digits)),
            ValueRef::Date(date) => {
                let mut text = Vec::new();
                date.write_text(&mut text);
                String::from_utf8(text).map_err(|_| Error::conversion("a date is not text"))
            }
            other => Err(misfit(other, "String")),
        }
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: ValueRef<'_>) -> Result<Vec<u8>> {
        match value {
            ValueRef::Bytes(bytes) => Ok(bytes.to_vec()),
            ValueRef::Text(text) | ValueRef::Json(text) => Ok(text.as_bytes().to_vec()),
            other => Err(misfit(other, "Vec<u8>")),
        }
    }
}

impl FromValue for Decimal {
    fn from_value(value: ValueRef<'_>) -> Result<Decimal> {
        match value {
            ValueRef::Decimal(digits) => {
                digits.parse().map_err(|_| out_of_range(digits, "Decimal"))
            }
            ValueRef::Int(number) => Ok(Decimal::from(number)),
            ValueRef::UInt(number) => Ok(Decimal::from(number)),
            other => Err(misfit(other, "Decimal")),
        }
    }
}

macro_rules! times {
    ($($type:ident: $pattern:pat => $value:expr;)*) => {$(
        impl FromValue for $type {
            fn from_value(value: ValueRef<'_>) -> Result<$type> {
                match value {
                    $pattern => Ok($value),
                    other => Err(misfit(other, stringify!($type))),
                }
            }
        }
    )*};
}

times! {
    Date: ValueRef::Date(date) => date;
    Time: ValueRef::Time(time, _) => time;
    DateTime: ValueRef::DateTime(moment, _) => moment;
}

impl FromValue for Value {
    fn from_value(value: ValueRef<'_>) -> Result<Value> {
        Ok(value.to_value())
    }
}

impl<T: FromValue> FromValue for Option<T> {
    #[inline]
    fn from_value(value: ValueRef<'_>) -> Result<Option<T>> {
        match value {
            ValueRef::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl<T: FromValue> FromRow for T {
    #[inline]
    fn from_row(row: &Row<'_>) -> Result<T> {
        check_width(row, 1)?;
        row.get(0)
    }
}

/// Any row.
impl FromRow for Vec<Value> {
    fn from_row(row: &Row<'_>) -> Result<Vec<Value>> {
        (0..row.len()).map(|column| row.get(column)).collect()
    }
}

fn check_width(row: &Row<'_>, wanted: usize) -> Result<()> {
    let count = row.len();
    if count == wanted {
        return Ok(());
    }
    Err(Error::conversion(format!("the row has {count} columns, {wanted} were asked for")))
}

macro_rules! rows {
    ($($count:literal: $($type:ident $at:literal),*;)*) => {$(
        impl<$($type: FromValue),*> FromRow for ($($type,)*) {
            #[inline]
            fn from_row(row: &Row<'_>) -> Result<Self> {
                check_width(row, $count)?;
                Ok(($(row.get::<$type>($at)?,)*))
            }
        }
    )*};
}

rows! {
    1: A 0;
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
    6: A 0, B 1, C 2, D 3, E 4, F 5;
    7: A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    8: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
    9: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8;
    10: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9;
    11: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10;
    12: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11;
}

macro_rules! parameters {
    ($($type:ty => $make:expr;)*) => {$(
        impl ToValue for $type {
            fn to_value(&self) -> Value {
                let make: fn(&$type) -> Value = $make;
                make(self)
            }
        }
    )*};
}

parameters! {
    bool => |value| Value::Int(i64::from(*value));
    f32 => |value| Value::Double(f64::from(*value));
    f64 => |value| Value::Double(*value);
    str => |value| Value::Text(value.to_owned());
    String => |value| Value::Text(value.clone());
    [u8] => |value| Value::Bytes(value.to_vec());
    Vec<u8> => |value| Value::Bytes(value.clone());
    Decimal => |value| Value::Decimal(*value);
    Date => |value| Value::Date(*value);
    Time => |value| Value::Time(*value);
    DateTime => |value| Value::DateTime(*value);
    Value => Clone::clone;
}

impl<const N: usize> ToValue for [u8; N] {
    fn to_value(&self) -> Value {
        Value::Bytes(self.to_vec())
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, ToValue::to_value)
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    #[inline]
    fn to_value(&self) -> Value {
        (**self).to_value()
    }
}
