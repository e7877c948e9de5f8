//! Values on their way into a column: what INSERT and UPDATE do to a value that is not of the
//! column's type.
//!
//! In strict mode a wrong value is an error; otherwise it becomes the nearest right one, with a
//! warning. The texts of both are MySQL's, and they differ: a bad date is error 1292
//! "Incorrect date value" but warning 1265 "Data truncated".

mod numbers;
mod strings;
mod temporal;

pub use numbers::{plain_integer, signed_range};
pub use strings::bad_bytes;

use crate::context::{EvalContext, Level, Strictness};
use crate::json;
use crate::ty::ExprType;
use inia_base::datatype::{DataType, GeometryKind};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

type Result<T> = std::result::Result<T, SqlError>;

/// The column a value goes to, as errors name it.
pub(crate) struct StoreTarget<'t> {
    column: &'t DataType,
    name: &'t str,
    row: u64,
}

impl StoreTarget<'_> {
    fn error(&self, code: ErrorCode) -> SqlError {
        SqlError::new(code, &[&self.name, &self.row])
    }

    /// Error 1366 "Incorrect … value".
    fn incorrect(&self, kind: &str, value: &str) -> SqlError {
        let code = ErrorCode::TruncatedWrongValueForField;
        SqlError::new(code, &[&kind, &value, &self.name, &self.row])
    }

    /// Error 1292 "Incorrect … value" with the column's name.
    fn incorrect_temporal(&self, kind: &str, value: &str) -> SqlError {
        let message = format!(
            "Incorrect {kind} value: '{value}' for column '{}' at row {}",
            self.name, self.row
        );
        SqlError::with_message(ErrorCode::TruncatedWrongValue, message)
    }

    /// Warns, or fails in strict mode.
    fn warn(&self, error: SqlError, ctx: &mut EvalContext<'_>) -> Result<()> {
        if ctx.strictness == Strictness::Strict {
            return Err(error);
        }
        ctx.raise(Level::Warning, error)
    }

    /// Warns with `lenient`, or fails with `strict`.
    fn warn_or(
        &self,
        strict: SqlError,
        lenient: SqlError,
        ctx: &mut EvalContext<'_>,
    ) -> Result<()> {
        if ctx.strictness == Strictness::Strict {
            return Err(strict);
        }
        ctx.raise(Level::Warning, lenient)
    }

    fn out_of_range(&self, ctx: &mut EvalContext<'_>) -> Result<()> {
        self.warn(self.error(ErrorCode::WarnDataOutOfRange), ctx)
    }

    fn truncated(&self, ctx: &mut EvalContext<'_>) -> Result<()> {
        self.warn(self.error(ErrorCode::WarnDataTruncated), ctx)
    }

    /// Note 1265: harmless digits or spaces were lost.
    fn note(&self, ctx: &mut EvalContext<'_>) {
        let (name, row) = (self.name, self.row);
        ctx.note(ErrorCode::WarnDataTruncated, &[&name, &row]);
    }
}

/// Converts `value` (of type `from`) to a value of `column`, for the column called `name`. NULL
/// passes: the caller checks whether the column takes it. Errors name the row
/// [`EvalContext::row_number`]; [`EvalContext::strictness`] makes wrong values errors or warnings.
pub fn store_value(
    value: Value,
    from: &ExprType,
    column: &DataType,
    ctx: &mut EvalContext<'_>,
    name: &str,
) -> Result<Value> {
    let target = StoreTarget { column, name, row: ctx.row_number };
    // NULL, and values that fit as they are, leave here without a conversion.
    if let Some(same) = already_right(&value, from, column) {
        return if same { Ok(value) } else { Ok(Value::Null) };
    }
    if from.stored
        && let Some(number) = copied_number(&value, from, column)
    {
        let ty = ExprType::int(20, false);
        return store_value(number, &ty, column, ctx, name);
    }
    // A hexadecimal literal is a number to a numeric column and a string to all others.
    if from.hex
        && let Value::Bytes(bytes) = &value
        && let Some(number) = numbers::of_hex(bytes, column)
    {
        return store_value(number, &ExprType::uint(20, false), column, ctx, name);
    }
    match column {
        DataType::Int { width, unsigned } => {
            numbers::int(&value, from, *width, *unsigned, &target, ctx)
        }
        DataType::Bit(bits) => numbers::bit(&value, from, *bits, &target, ctx),
        DataType::Year => numbers::year(&value, from, &target, ctx),
        DataType::Decimal { precision, scale, unsigned } => {
            let shape = (*precision, *scale, *unsigned);
            numbers::decimal(&value, from, shape, &target, ctx)
        }
        DataType::Float { decimals, unsigned } => {
            numbers::real(&value, from, (true, *decimals, *unsigned), &target, ctx)
        }
        DataType::Double { decimals, unsigned } => {
            numbers::real(&value, from, (false, *decimals, *unsigned), &target, ctx)
        }
        DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. } => {
            temporal::datetime(&value, from, &target, ctx)
        }
        DataType::Time { fsp } => temporal::time(&value, from, *fsp, &target, ctx),
        DataType::Enum { members, collation } => {
            strings::enumeration(&value, from, members, *collation, &target, ctx)
        }
        DataType::Set { members, collation } => {
            strings::set(&value, from, members, *collation, &target, ctx)
        }
        DataType::Json => store_json(&value, from, &target, ctx),
        DataType::Geometry { kind, srid } => store_geometry(value, *kind, *srid, &target),
        DataType::Null => Ok(Value::Null),
        _ => strings::string(value, from, &target, ctx),
    }
}

/// The number that MySQL copies from a column to one of another type, where it copies another one
/// than an expression of that value gives: a DATE goes to an integer with its time, dates and times
/// to a YEAR with all their digits, and BIT to all strings but BLOB as its decimal digits.
fn copied_number(value: &Value, from: &ExprType, column: &DataType) -> Option<Value> {
    use DataType::{Binary, Char, Int, VarBinary, VarChar, Year};
    match (value, column) {
        (Value::Date(date), Int { .. } | Year | DataType::Bit(_)) => {
            Some(Value::Int(date.at_midnight().to_number() as i64))
        }
        (Value::DateTime(moment), Year) => Some(Value::Int(moment.to_number() as i64)),
        (Value::Time(time), Year) => Some(Value::Int(time.to_number())),
        (Value::UInt(bits), column) if matches!(from.data_type, DataType::Bit(_)) => {
            let dated = matches!(column, DataType::Date | DataType::DateTime { .. });
            let text = matches!(column, Char { .. } | VarChar { .. } | Binary(_) | VarBinary(_));
            (dated || text).then_some(Value::Int(*bits as i64))
        }
        _ => None,
    }
}

/// The common case: the value needs no conversion (`Some(true)`), or is NULL (`Some(false)`).
fn already_right(value: &Value, from: &ExprType, column: &DataType) -> Option<bool> {
    match (value, column) {
        (Value::Null, _) => Some(false),
        (Value::Int(v), DataType::Int { width, unsigned: false }) => {
            signed_range(*width).contains(v).then_some(true)
        }
        (Value::Double(_), DataType::Double { decimals: None, unsigned: false }) => Some(true),
        // What was no member of one enumeration is none of another.
        (Value::UInt(0), DataType::Enum { .. }) => {
            matches!(from.data_type, DataType::Enum { .. }).then_some(true)
        }
        (Value::UInt(_), DataType::Enum { .. } | DataType::Set { .. } | DataType::Year) => {
            (from.data_type == *column).then_some(true)
        }
        (Value::Date(date), DataType::Date) => (date.month > 0 && date.day > 0).then_some(true),
        (Value::Json(_), DataType::Json) => Some(true),
        _ => None,
    }
}

/// The value that a column of this type has without any other default: 0, '', the first member.
/// INSERT without strict mode and multi-row INSERT of NULL take it.
pub fn implicit_default(column: &DataType) -> Value {
    use inia_base::decimal::Decimal;
    use inia_base::temporal::{Date, DateTime, Time};
    match column {
        DataType::Null => Value::Null,
        DataType::Int { unsigned: false, .. } => Value::Int(0),
        DataType::Int { .. } | DataType::Bit(_) | DataType::Year | DataType::Set { .. } => {
            Value::UInt(0)
        }
        DataType::Enum { .. } => Value::UInt(1),
        DataType::Decimal { scale, .. } => Value::Decimal(Decimal::from_i128(0, *scale)),
        DataType::Float { .. } | DataType::Double { .. } => Value::Double(0.0),
        DataType::Date => Value::Date(Date::ZERO),
        DataType::Time { .. } => Value::Time(Time::ZERO),
        DataType::DateTime { .. } | DataType::Timestamp { .. } => Value::DateTime(DateTime::ZERO),
        DataType::Binary(length) => Value::Bytes(vec![0; *length as usize]),
        DataType::VarBinary(_) | DataType::Blob(_) | DataType::Geometry { .. } => {
            Value::Bytes(Vec::new())
        }
        DataType::Json => Value::Json(String::from("null")),
        _ => Value::Text(String::new()),
    }
}

/// What NULL becomes in a column that takes none, where that is no error: as [`implicit_default`],
/// but for ENUM, where it is no member.
pub fn instead_of_null(column: &DataType) -> Value {
    match column {
        DataType::Enum { .. } => Value::UInt(0),
        column => implicit_default(column),
    }
}

/// Errors 1416 and 3643: the bytes are no geometry of the column's sort, or not in its system.
fn store_geometry(
    value: Value,
    kind: GeometryKind,
    srid: Option<u32>,
    target: &StoreTarget<'_>,
) -> Result<Value> {
    let found = match &value {
        Value::Bytes(bytes) => inia_geometry::from_internal(bytes),
        _ => None,
    };
    let takes = |shape: &inia_geometry::Shape| {
        let several = matches!(
            shape.kind(),
            GeometryKind::MultiPoint | GeometryKind::MultiLineString | GeometryKind::MultiPolygon
        );
        kind == GeometryKind::Geometry
            || shape.kind() == kind
            || kind == GeometryKind::Collection && several
    };
    let Some(found) = found.filter(|found| takes(&found.shape)) else {
        return Err(SqlError::new(ErrorCode::CantCreateGeometryObject, &[]));
    };
    match srid {
        Some(wanted) if wanted != found.srid => {
            let args: [&dyn std::fmt::Display; 3] = [&target.name, &found.srid, &wanted];
            Err(SqlError::new(ErrorCode::WrongSridForColumn, &args))
        }
        _ => Ok(value),
    }
}

fn store_json(
    value: &Value,
    from: &ExprType,
    target: &StoreTarget<'_>,
    ctx: &EvalContext<'_>,
) -> Result<Value> {
    let column = match ctx.target_table.as_str() {
        "" => target.name.to_owned(),
        table => format!("{table}.{}", target.name),
    };
    let invalid = |text: &str, position: usize| {
        let args: [&dyn std::fmt::Display; 3] = [&text, &position, &column];
        SqlError::new(ErrorCode::InvalidJsonText, &args)
    };
    match value {
        Value::Json(text) => Ok(Value::Json(text.clone())),
        Value::Text(text) => match json::parse(text) {
            Ok(document) => Ok(Value::Json(document.carried())),
            Err(error) if error.is_depth() => {
                Err(SqlError::new(ErrorCode::JsonDocumentTooDeep, &[]))
            }
            Err(error) => Err(invalid(error.text, error.position)),
        },
        Value::Bytes(_) => Err(SqlError::new(ErrorCode::InvalidJsonCharset, &[&"binary"])),
        Value::UInt(_) if from.is_text() => {
            let text = crate::convert::to_text(value, from).into_owned();
            store_json(&Value::Text(text), from, target, ctx)
        }
        _ => Err(invalid("not a JSON text, may need CAST", 0)),
    }
}
