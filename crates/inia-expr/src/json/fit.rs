//! JSON values as values of SQL types, where they fit.

use super::Json;
use crate::context::{EvalContext, Strictness};
use crate::store::store_value;
use crate::ty::ExprType;
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::error::SqlError;
use inia_base::value::Value;

/// A JSON value as a value of a type; an error where it is none or too large. Arrays and objects
/// convert as the text of their documents. Errors call the value `name`.
pub fn fitted(
    json: Json,
    data_type: &DataType,
    name: &str,
    ctx: &mut EvalContext<'_>,
) -> Result<Value, SqlError> {
    let integer = |unsigned| DataType::Int { width: IntWidth::Big, unsigned };
    let computed = |data_type| ExprType::computed(data_type, false);
    let text = || ExprType::text(65_535, Collation::DEFAULT, false);
    let into_text = matches!(
        data_type,
        DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. }
    );
    // String columns take booleans, doubles and dates in JSON's spelling, so the arms with
    // `into_text` precede those that give numbers and dates.
    let (value, from) = match json {
        json if *data_type == DataType::Json => return super::value(json.carried()),
        Json::Null => return Ok(Value::Null),
        Json::String(value) => (Value::Text(value), text()),
        json @ (Json::Array(_) | Json::Object(_)) => (Value::Text(json.to_string()), text()),
        json @ (Json::Bool(_) | Json::Double(_)) if into_text => {
            (Value::Text(json.to_string()), text())
        }
        Json::Bool(value) => (Value::Int(value.into()), computed(integer(false))),
        Json::Int(value) => (Value::Int(value), computed(integer(false))),
        Json::UInt(value) => (Value::UInt(value), computed(integer(true))),
        Json::Double(value) => (Value::Double(value), ExprType::double(false)),
        json @ Json::Opaque(..) => (Value::Text(super::unquoted(&json)), text()),
        json @ (Json::Date(_) | Json::Time(_) | Json::DateTime(_)) if into_text => {
            (Value::Text(super::unquoted(&json)), text())
        }
        Json::Date(value) => (Value::Date(value), computed(DataType::Date)),
        Json::Time(value) => (Value::Time(value), computed(DataType::Time { fsp: 6 })),
        Json::DateTime(value) => (Value::DateTime(value), computed(DataType::DateTime { fsp: 6 })),
        Json::Decimal(value) => {
            let (precision, scale) = (u32::from(value.precision()), u32::from(value.scale()));
            (Value::Decimal(value), ExprType::decimal(precision, scale, false, false))
        }
    };
    // A value that does not fit is an error in every SQL mode: ON ERROR of the caller answers it.
    let strictness = std::mem::replace(&mut ctx.strictness, Strictness::Strict);
    // Old delimiters of dates in documents are not warned of.
    let temporal =
        matches!(data_type, DataType::Date | DataType::Time { .. } | DataType::DateTime { .. });
    let mark = temporal.then(|| ctx.mark_warnings());
    let stored = store_value(value, &from, data_type, ctx, name);
    if let Some(mark) = mark {
        ctx.forget_warnings(mark);
    }
    ctx.strictness = strictness;
    stored
}
