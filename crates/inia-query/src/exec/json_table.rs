//! JSON_TABLE's rows.
//!
//! Every match of the row path is a row. Paths nested in it multiply that row: first by the matches
//! of the first nested path, then by those of the second, the columns of the others NULL; where no
//! nested path matches anything the row comes out once.
//!
//! Example: over `{"a": 1, "b": [2, 3], "c": [4]}` the paths `$.b[*]` and `$.c[*]` nested in `$`
//! with a column `$.a` give (1, 2, NULL), (1, 3, NULL) and (1, NULL, 4).

use super::select::holds;
use super::{Result, RowVisitor, Runner};
use crate::plan::json_table::{JsonColumn, JsonResponse, JsonRows, JsonShows, JsonTableSource};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_expr::json::{self, Json};

/// Takes a finished row; false where no more are wanted.
type Emit<'e> = dyn FnMut(&mut EvalContext<'_>, &[Value]) -> Result<bool> + 'e;

impl Runner<'_> {
    pub(super) fn json_table(
        &self,
        source: &JsonTableSource,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        let value = source.document.eval(ctx, row)?;
        if value == Value::Null {
            return Ok(true);
        }
        let document = json::document(&value, &source.document.ty, 1, "json_table")?;
        let mut columns = vec![Value::Null; source.rows.width()];
        rows(&source.rows, &document, &mut columns, ctx, &mut |ctx, columns| {
            self.check_killed()?;
            row[source.base..source.base + columns.len()].clone_from_slice(columns);
            Ok(!holds(&source.filter, ctx, row)? || visit(ctx, row)?)
        })
        .map(|(_, wanted)| wanted)
    }
}

/// Gives the rows of a path in a value; returns whether there was one and whether more are wanted.
fn rows(
    rows_of: &JsonRows,
    value: &Json,
    columns: &mut [Value],
    ctx: &mut EvalContext<'_>,
    emit: &mut Emit<'_>,
) -> Result<(bool, bool)> {
    let mut any = false;
    for (number, found) in (1..).zip(rows_of.path.find(value)) {
        any = true;
        for column in &rows_of.columns {
            columns[column.at] = shown(column, found, number, ctx)?;
        }
        let mut multiplied = false;
        for nested in &rows_of.nested {
            let (some, wanted) = rows(nested, found, columns, ctx, emit)?;
            if !wanted {
                return Ok((true, false));
            }
            clear(nested, columns);
            multiplied |= some;
        }
        if !multiplied && !emit(ctx, columns)? {
            return Ok((true, false));
        }
    }
    Ok((any, true))
}

/// NULL in all columns of a path.
fn clear(rows: &JsonRows, columns: &mut [Value]) {
    rows.columns.iter().for_each(|column| columns[column.at] = Value::Null);
    rows.nested.iter().for_each(|nested| clear(nested, columns));
}

fn shown(
    column: &JsonColumn,
    found: &Json,
    number: i64,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    // ON EMPTY and ON ERROR belong to columns that show a value.
    let (path, data_type, on_empty, on_error) = match &column.shows {
        JsonShows::Number => return Ok(Value::Int(number)),
        JsonShows::Exists(path, data_type) => {
            let exists = Json::Int(i64::from(!path.find(found).is_empty()));
            return stored(column, exists, data_type, ctx);
        }
        JsonShows::Value { path, data_type, on_empty, on_error } => {
            (path, data_type, on_empty, on_error)
        }
    };
    let mut matches = path.find(found);
    let stored_value = match (matches.pop(), matches.is_empty()) {
        (None, _) => {
            // What ON EMPTY gives is final: ON ERROR does not apply to it.
            return match on_empty {
                JsonResponse::Null => Ok(Value::Null),
                JsonResponse::Default(json) => stored(column, json.clone(), data_type, ctx),
                JsonResponse::Error => {
                    Err(SqlError::new(ErrorCode::MissingJsonTableValue, &[&column.name]))
                }
            };
        }
        // Several matches are an array in a JSON column and an error in any other.
        (Some(last), false) if *data_type == DataType::Json => {
            let all = matches.into_iter().chain([last]).cloned().collect();
            stored(column, Json::Array(all), data_type, ctx)
        }
        (Some(_), false) => Err(SqlError::new(ErrorCode::WrongJsonTableValue, &[&column.name])),
        (Some(only), true) => stored(column, only.clone(), data_type, ctx),
    };
    // ON ERROR covers several matches and values that do not fit the type alike.
    match (stored_value, on_error) {
        (Err(_), JsonResponse::Null) => Ok(Value::Null),
        (Err(_), JsonResponse::Default(json)) => stored(column, json.clone(), data_type, ctx),
        (stored_value, _) => stored_value,
    }
}

/// A JSON value as one of the column's type.
fn stored(
    column: &JsonColumn,
    json: Json,
    data_type: &DataType,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    if json == Json::Null {
        return Ok(Value::Null);
    }
    if *data_type != DataType::Json && matches!(json, Json::Array(_) | Json::Object(_)) {
        return Err(SqlError::new(ErrorCode::WrongJsonTableValue, &[&column.name]));
    }
    let fitted = json::fitted(json, data_type, &column.name, ctx);
    fitted.map_err(|error| misfit(column, data_type, error))
}

/// Error 3669 where a value is too large, 3156 where it is none of the type.
fn misfit(column: &JsonColumn, data_type: &DataType, error: SqlError) -> SqlError {
    if matches!(error.code, ErrorCode::WarnDataOutOfRange | ErrorCode::DataTooLong) {
        return SqlError::new(ErrorCode::JtValueOutOfRange, &[&column.name]);
    }
    let kind = match data_type {
        DataType::Int { .. } | DataType::Bit(_) | DataType::Year => "INTEGER",
        DataType::Decimal { .. } => "DECIMAL",
        DataType::Float { .. } | DataType::Double { .. } => "DOUBLE",
        DataType::Date => "DATE",
        DataType::Time { .. } => "TIME",
        DataType::DateTime { .. } | DataType::Timestamp { .. } => "DATETIME",
        _ => "CHAR",
    };
    SqlError::new(ErrorCode::InvalidJsonValueForCast, &[&kind, &"", &column.name, &1])
}
