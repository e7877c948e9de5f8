//! A call's arguments, evaluated and converted on demand.

use crate::charset;
use crate::collate;
use crate::context::Level;
use crate::convert;
use crate::eval::{Args, FnResult, Stop};
use crate::json::{self, Json};
use crate::print;
use crate::tree::{Call, Expr, ExprKind};
use crate::ty::{ExprType, TypeClass};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::{DateRules, DateTime, Time};
use inia_base::value::Value;
use std::borrow::Cow;
use std::fmt::Display;

/// NULL ends the function.
fn some<T>(found: Option<T>) -> Result<T, Stop> {
    found.ok_or(Stop::Null)
}

impl<'a> Args<'a, '_> {
    /// How many arguments there are.
    pub(crate) fn len(&self) -> usize {
        self.call.args.len()
    }

    /// The type of an argument.
    pub(crate) fn arg_type(&self, i: usize) -> &'a ExprType {
        &self.call.args[i].ty
    }

    /// An argument's expression.
    pub(crate) fn expr(&self, i: usize) -> &'a Expr {
        &self.call.args[i]
    }

    /// An argument as it is; NULL ends the function.
    pub(crate) fn value(&mut self, i: usize) -> Result<Cow<'a, Value>, Stop> {
        let call: &'a Call = self.call;
        let value = call.args[i].eval_ref(self.ctx, self.row)?;
        if *value == Value::Null { Err(Stop::Null) } else { Ok(value) }
    }

    /// An argument as it is, NULL too.
    pub(crate) fn nullable(&mut self, i: usize) -> Result<Cow<'a, Value>, Stop> {
        let call: &'a Call = self.call;
        Ok(call.args[i].eval_ref(self.ctx, self.row)?)
    }

    /// An integer wide enough for signed and unsigned ones.
    pub(crate) fn wide(&mut self, i: usize) -> Result<i128, Stop> {
        let value = self.value(i)?;
        Ok(convert::to_wide(&value, self.arg_type(i), self.ctx)?)
    }

    /// A signed integer; larger unsigned ones wrap.
    pub(crate) fn int(&mut self, i: usize) -> Result<i64, Stop> {
        let value = self.value(i)?;
        Ok(convert::to_int(&value, self.arg_type(i), self.ctx)?)
    }

    /// A signed integer; larger unsigned ones become the largest.
    pub(crate) fn clamped(&mut self, i: usize) -> Result<i64, Stop> {
        Ok(i64::try_from(self.wide(i)?).unwrap_or(i64::MAX))
    }

    /// The bits of an integer.
    pub(crate) fn bits(&mut self, i: usize) -> Result<u64, Stop> {
        let value = self.value(i)?;
        Ok(convert::to_wide(&value, self.arg_type(i), self.ctx)? as u64)
    }

    /// A double.
    pub(crate) fn real(&mut self, i: usize) -> Result<f64, Stop> {
        let value = self.value(i)?;
        Ok(convert::to_real(&value, self.arg_type(i), self.ctx)?)
    }

    /// An exact decimal.
    pub(crate) fn decimal(&mut self, i: usize) -> Result<Decimal, Stop> {
        let value = self.value(i)?;
        Ok(convert::to_decimal(&value, self.arg_type(i), self.ctx)?)
    }

    /// Truth.
    pub(crate) fn truth(&mut self, i: usize) -> Result<Option<bool>, Stop> {
        let call: &'a Call = self.call;
        Ok(call.args[i].eval_choice(self.ctx, self.row)?)
    }

    /// Characters.
    pub(crate) fn text(&mut self, i: usize) -> Result<Cow<'a, str>, Stop> {
        let ty = self.arg_type(i);
        Ok(match self.value(i)? {
            Cow::Borrowed(value) => convert::to_text(value, ty),
            Cow::Owned(Value::Text(text)) => Cow::Owned(text),
            Cow::Owned(value) => Cow::Owned(convert::to_text(&value, ty).into_owned()),
        })
    }

    /// Bytes of the string in its own character set.
    pub(crate) fn bytes(&mut self, i: usize) -> Result<Cow<'a, [u8]>, Stop> {
        let ty = self.arg_type(i);
        let value = self.value(i)?;
        if ty.is_text() && !collate::is_utf8(ty.collation()) {
            return Ok(Cow::Owned(collate::encode(ty.collation(), &convert::to_text(&value, ty))));
        }
        Ok(match value {
            Cow::Borrowed(value) => convert::to_bytes(value, ty),
            Cow::Owned(Value::Bytes(bytes)) => Cow::Owned(bytes),
            Cow::Owned(value) => Cow::Owned(convert::to_bytes(&value, ty).into_owned()),
        })
    }

    /// Whether the result is a binary string, so that a string's units are bytes.
    pub(crate) fn is_binary(&self) -> bool {
        self.ty.collation() == Collation::BINARY
    }

    /// The units of a string: characters, or for a binary result its bytes as the first 256
    /// characters. [`Args::string`] turns such units back.
    pub(crate) fn units(&mut self, i: usize) -> Result<Cow<'a, str>, Stop> {
        if self.is_binary() {
            let bytes = self.bytes(i)?;
            return Ok(Cow::Owned(bytes.iter().map(|b| char::from(*b)).collect()));
        }
        self.text(i)
    }

    /// As [`Args::units`], for an argument that is converted to the result's character set: error
    /// 3854 where it has characters or bytes that the set has not.
    pub(crate) fn converted(&mut self, i: usize) -> Result<Cow<'a, str>, Stop> {
        if self.is_binary() {
            return self.units(i);
        }
        let (ty, charset) = (self.arg_type(i), self.ty.collation().charset());
        let from_bytes = ty.class() == TypeClass::String && ty.collation() == Collation::BINARY;
        if from_bytes {
            let bytes = self.bytes(i)?;
            return match charset.decode(&bytes) {
                Ok(text) => Ok(Cow::Owned(text.into_owned())),
                Err(_) => Err(cannot_convert(&bytes, "binary", self.ty).into()),
            };
        }
        let text = self.text(i)?;
        if charset.first_missing(&text).is_none() {
            return Ok(text);
        }
        let own = match ty.is_text() {
            true => ty.collation(),
            false => self.ctx.env.collation,
        };
        let bytes = collate::encode(own, &text);
        Err(cannot_convert(&bytes, charset::charset_name(own), self.ty).into())
    }

    /// A string result made of [`Args::units`]; NULL with warning 1301 where it is too long.
    pub(crate) fn string(&mut self, units: String) -> FnResult {
        let limit = self.ctx.env.max_allowed_packet;
        if units.len() > limit {
            return self.too_long();
        }
        if self.is_binary() {
            return Ok(Value::Bytes(units.chars().map(|c| c as u32 as u8).collect()));
        }
        Ok(Value::Text(units))
    }

    /// NULL with warning 1301.
    pub(crate) fn too_long(&mut self) -> FnResult {
        let (name, limit) = (self.call.name, self.ctx.env.max_allowed_packet);
        self.warn(ErrorCode::WarnAllowedPacketOverflowed, &[&name, &limit])?;
        Err(Stop::Null)
    }

    /// Whether an argument's values are numbers: ENUM, SET and BIT are strings, and dates are too.
    pub(crate) fn is_number(&self, i: usize) -> bool {
        let ty = self.arg_type(i);
        let class = matches!(ty.class(), TypeClass::Int | TypeClass::Decimal | TypeClass::Real);
        class && !matches!(ty.data_type, DataType::Bit(_))
    }

    /// A date and time, zero parts welcome; a wrong one is NULL with a warning.
    pub(crate) fn datetime(&mut self, i: usize) -> Result<DateTime, Stop> {
        let value = self.value(i)?;
        let zero = match &*value {
            Value::Int(0) | Value::UInt(0) => true,
            Value::Double(number) => number.trunc() == 0.0,
            Value::Decimal(number) => number.truncate(0).is_zero(),
            _ => false,
        };
        let rules = match zero && self.is_number(i) {
            true => DateRules::ZEROS,
            false => DateRules { no_zero_in_date: false, ..self.ctx.env.date_rules() },
        };
        some(convert::to_datetime_with(&value, self.arg_type(i), rules, self.ctx)?)
    }

    /// A date and time without zero parts; a wrong one is NULL with a warning.
    pub(crate) fn real_datetime(&mut self, i: usize) -> Result<DateTime, Stop> {
        let value = self.value(i)?;
        let rules = DateRules::STRICT;
        // What is a date already is NULL without a warning.
        let date = match &*value {
            Value::Date(date) => Some(*date),
            Value::DateTime(moment) => Some(moment.date),
            _ => None,
        };
        if date.is_some_and(|date| date.check(rules).is_err()) {
            return Err(Stop::Null);
        }
        some(convert::to_datetime_with(&value, self.arg_type(i), rules, self.ctx)?)
    }

    /// A time.
    pub(crate) fn time(&mut self, i: usize) -> Result<Time, Stop> {
        let value = self.value(i)?;
        some(convert::to_time(&value, self.arg_type(i), self.ctx)?)
    }

    /// A JSON document given as JSON or as text; error 3141 or 3146 otherwise.
    pub(crate) fn json(&mut self, i: usize) -> Result<Json, Stop> {
        let value = self.value(i)?;
        Ok(json::document(&value, self.arg_type(i), i + 1, self.call.name)?)
    }

    /// Raises a warning.
    pub(crate) fn warn(&mut self, code: ErrorCode, args: &[&dyn Display]) -> Result<(), Stop> {
        Ok(self.ctx.warn(code, args)?)
    }

    /// Raises a finished warning.
    pub(crate) fn raise(&mut self, error: SqlError) -> Result<(), Stop> {
        Ok(self.ctx.raise(Level::Warning, error)?)
    }

    /// Error 1690 for this call.
    pub(crate) fn out_of_range(&self, kind: &str) -> Stop {
        let whole = Expr { kind: ExprKind::Call(Box::new(self.call.clone())), ty: self.ty.clone() };
        let text = print::print(&whole);
        Stop::Error(SqlError::new(ErrorCode::DataOutOfRange, &[&kind, &text]))
    }

    /// A finite double, or error 1690.
    pub(crate) fn finite(&self, value: f64) -> FnResult {
        if value.is_finite() { Ok(Value::Double(value)) } else { Err(self.out_of_range("DOUBLE")) }
    }
}

/// Error 3854: a string has characters that the character set of `to` has not.
fn cannot_convert(bytes: &[u8], from: &str, to: &ExprType) -> SqlError {
    let shown: String = bytes
        .iter()
        .map(|byte| match byte {
            b' '..=b'~' => char::from(*byte).to_string(),
            _ => format!("\\x{byte:02X}"),
        })
        .collect();
    let to = charset::charset_name(to.collation());
    SqlError::new(ErrorCode::CannotConvertString, &[&shown, &from, &to])
}
