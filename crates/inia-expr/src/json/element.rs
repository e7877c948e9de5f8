//! Elements of the arrays that CAST(… AS type ARRAY) makes, which multi-valued indexes hold.
//!
//! An element is a value of the array's type, or an error that names the index:
//!
//! ```text
//!   UNSIGNED       7, 7.4, true, "7"            "x": 3903    -1: 3752    1e300: 3904
//!   DECIMAL(6,2)   1.5, "1.5", 1.239 (a note)   "x": 3903    123456.7: 3752
//!   CHAR(5)        "abc", 12, true              "too long": 3907
//!   DATE           "2024-1-5", 20240105         "x": 3751
//! ```
//!
//! `null` and what is no scalar are of no type (3903, 3908). In the array, which is JSON again, a
//! date is a JSON date and a binary string an opaque value: each element is read back as it was.

use super::{Json, fitted, of_value, order, unquoted};
use crate::context::{EvalContext, Level, Warning};
use crate::ty::ExprType;
use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::DateTime;
use inia_base::value::Value;
use std::cmp::Ordering;

/// The least double above all 64-bit integers, and all unsigned ones.
const SIGNED_END: f64 = 9_223_372_036_854_775_808.0;
const UNSIGNED_END: f64 = 18_446_744_073_709_551_616.0;

/// The type of an array's elements and the index that has them, for errors.
#[derive(Clone, Copy, Debug)]
pub struct ElementType<'i> {
    /// The elements' type.
    pub data_type: &'i DataType,
    /// The index's name.
    pub index: &'i str,
}

impl ElementType<'_> {
    /// The elements of a document, ascending and each once, as a JSON array; a scalar is an array
    /// of itself. Error 1235 for an object, and those of [`ElementType::element`].
    pub fn array(&self, document: Json, ctx: &mut EvalContext<'_>) -> Result<Json, SqlError> {
        let items = match document {
            Json::Object(_) => {
                let what = "CAST-ing JSON OBJECT type to array";
                return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&what]));
            }
            Json::Array(items) => items,
            scalar => vec![scalar],
        };
        let items = items.into_iter().map(|item| self.element(item, ctx));
        let mut items = items.collect::<Result<Vec<_>, _>>()?;
        items.sort_by(order::compare);
        items.dedup_by(|a, b| order::compare(a, b) == Ordering::Equal);
        Ok(Json::Array(items))
    }

    /// A JSON value as an element.
    pub fn element(&self, item: Json, ctx: &mut EvalContext<'_>) -> Result<Json, SqlError> {
        let value = match (&item, self.data_type) {
            (Json::Null, _) => return Err(self.invalid()),
            (Json::Array(_) | Json::Object(_), _) => {
                return Err(SqlError::new(ErrorCode::WrongMviValue, &[&self.index]));
            }
            (_, DataType::Int { unsigned, .. }) => self.integer(&item, *unsigned, ctx)?,
            (_, DataType::Decimal { .. }) => self.decimal(item, ctx)?,
            _ => self.stored(item, ctx)?,
        };
        of_value(&value, &ExprType::computed(self.data_type.clone(), false))
    }

    fn integer(
        &self,
        item: &Json,
        unsigned: bool,
        ctx: &EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        // As in MySQL a negative number that is rounded, or read from a string, wraps around.
        let wrapped = |number: i64| match unsigned {
            true => Value::UInt(number as u64),
            false => Value::Int(number),
        };
        match item {
            Json::Bool(value) => Ok(wrapped(i64::from(*value))),
            Json::Int(number) if unsigned && *number < 0 => Err(self.out_of_range(ctx)),
            Json::Int(number) => Ok(wrapped(*number)),
            Json::UInt(number) if unsigned => Ok(Value::UInt(*number)),
            Json::UInt(number) => match i64::try_from(*number) {
                Ok(number) => Ok(Value::Int(number)),
                Err(_) => Err(self.out_of_range(ctx)),
            },
            Json::Double(number) => {
                let number = number.round_ties_even();
                if (-SIGNED_END..SIGNED_END).contains(&number) {
                    return Ok(wrapped(number as i64));
                }
                match unsigned && (0.0..UNSIGNED_END).contains(&number) {
                    true => Ok(Value::UInt(number as u64)),
                    false => Err(self.too_large()),
                }
            }
            Json::Decimal(number) => match (number.to_i64(), number.to_u64()) {
                (Ok(number), _) => Ok(wrapped(number)),
                (Err(_), Ok(number)) if unsigned => Ok(Value::UInt(number)),
                _ => Err(self.too_large()),
            },
            Json::String(text) => {
                let number: i128 = text.trim_start().parse().map_err(|_| self.invalid())?;
                match (i64::try_from(number), u64::try_from(number)) {
                    (Ok(number), _) => Ok(wrapped(number)),
                    (Err(_), Ok(number)) if unsigned => Ok(Value::UInt(number)),
                    _ => Err(self.too_large()),
                }
            }
            _ => Err(self.invalid()),
        }
    }

    fn decimal(&self, item: Json, ctx: &mut EvalContext<'_>) -> Result<Value, SqlError> {
        let &DataType::Decimal { precision, scale, .. } = self.data_type else {
            return Err(self.invalid());
        };
        let number = match item {
            Json::Bool(value) => Decimal::from(i64::from(value)),
            Json::Int(number) => Decimal::from(number),
            Json::UInt(number) => Decimal::from(number),
            Json::Double(number) => Decimal::from_f64(number).map_err(|_| self.truncated(ctx))?,
            Json::Decimal(number) => number,
            Json::String(text) => text.trim().parse().map_err(|_| self.invalid())?,
            _ => return Err(self.invalid()),
        };
        let scaled = number.rescale(precision, scale);
        if scaled.overflow {
            return Err(self.out_of_range(ctx));
        }
        if scaled.rounded {
            self.note_truncated(ctx);
        }
        Ok(Value::Decimal(scaled.value))
    }

    /// Strings and moments are stored as in a column.
    fn stored(&self, item: Json, ctx: &mut EvalContext<'_>) -> Result<Value, SqlError> {
        use DataType as T;
        let moment = matches!(self.data_type, T::Date | T::Time { .. } | T::DateTime { .. });
        match (&item, self.data_type) {
            (Json::Bool(_) | Json::Opaque(..), _) if moment => return Err(self.truncated(ctx)),
            (Json::Time(_), T::Date | T::DateTime { .. }) | (Json::Date(_), T::Time { .. }) => {
                return Err(self.truncated(ctx));
            }
            (Json::DateTime(DateTime { hour, minute, second, micros, .. }), T::Date)
                if (*hour, *minute, *second, *micros) != (0, 0, 0, 0) =>
            {
                return Err(self.out_of_range(ctx));
            }
            _ => {}
        }
        let item = match item {
            // The bytes of a binary string, not their printed form.
            Json::Opaque(_, bytes) => Json::String(String::from_utf8_lossy(&bytes).into_owned()),
            other if matches!(self.data_type, T::VarBinary(_)) => Json::String(unquoted(&other)),
            other => other,
        };
        let chars = |text: &str| text.chars().count();
        let cut = match (&item, self.data_type) {
            (Json::String(text), T::VarChar { chars: most, .. }) => chars(text) > *most as usize,
            _ => false,
        };
        let mark = ctx.mark_warnings();
        let fitted = fitted(item, self.data_type, self.index, ctx);
        // What a column would say of the value is said of the index.
        ctx.forget_warnings(mark);
        let value = fitted.map_err(|error| match (moment, error.code) {
            (true, ErrorCode::WarnDataOutOfRange) => self.out_of_range(ctx),
            (true, _) => self.truncated(ctx),
            (false, _) => SqlError::new(ErrorCode::FunctionalIndexDataIsTooLong, &[&self.index]),
        })?;
        if cut {
            self.note_truncated(ctx);
        }
        Ok(value)
    }

    fn note_truncated(&self, ctx: &mut EvalContext<'_>) {
        let note = Warning::of(Level::Note, self.truncated(ctx));
        ctx.warnings.push(note);
    }

    fn invalid(&self) -> SqlError {
        SqlError::new(ErrorCode::InvalidJsonValueForFuncIndex, &[&self.index])
    }

    fn too_large(&self) -> SqlError {
        SqlError::new(ErrorCode::JsonValueOutOfRangeForFuncIndex, &[&self.index])
    }

    fn out_of_range(&self, ctx: &EvalContext<'_>) -> SqlError {
        let args: [&dyn std::fmt::Display; 2] = [&self.index, &ctx.row_number];
        SqlError::new(ErrorCode::WarnDataOutOfRangeFunctionalIndex, &args)
    }

    fn truncated(&self, ctx: &EvalContext<'_>) -> SqlError {
        let args: [&dyn std::fmt::Display; 2] = [&self.index, &ctx.row_number];
        SqlError::new(ErrorCode::WarnDataTruncatedFunctionalIndex, &args)
    }
}

/// The value of an array's element; `None` where no array of such elements has it.
pub fn element_value(item: Json, data_type: &DataType) -> Option<Value> {
    use DataType as T;
    Some(match (item, data_type) {
        (Json::Int(number), T::Int { unsigned: false, .. }) => Value::Int(number),
        (Json::Int(number), T::Int { unsigned: true, .. }) => {
            Value::UInt(u64::try_from(number).ok()?)
        }
        (Json::UInt(number), T::Int { unsigned: true, .. }) => Value::UInt(number),
        (Json::UInt(number), T::Int { unsigned: false, .. }) => {
            Value::Int(i64::try_from(number).ok()?)
        }
        (Json::Decimal(number), T::Decimal { .. }) => Value::Decimal(number),
        (Json::String(text), T::VarChar { .. }) => Value::Text(text),
        (Json::Opaque(_, bytes), T::VarBinary(_)) => Value::Bytes(bytes),
        (Json::Date(date), T::Date) => Value::Date(date),
        (Json::Time(time), T::Time { .. }) => Value::Time(time),
        (Json::DateTime(moment), T::DateTime { .. }) => Value::DateTime(moment),
        _ => return None,
    })
}
