//! JSON_VALUE: one value of a document as one of a SQL type, with an answer to each thing that may
//! be wrong.
//!
//! The call's arguments are the document, the path, and the answers to an empty and to a wrong
//! place; bits of the tag say which of these are errors.

use crate::context::Level;
use crate::eval::{Args, FnResult, Stop};
use crate::json::path::JsonPath;
use crate::json::{self, Json};
use crate::store::store_value;
use crate::tree::{Call, Expr, ExprKind};
use crate::ty::ExprType;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};

const NAME: &str = "json_value";
const ON_EMPTY: usize = 2;
const ON_ERROR: usize = 3;

/// A call of JSON_VALUE; an answer is `None` for an error. `ty` is what it returns.
pub(crate) fn json_value(
    document: Expr,
    path: Expr,
    (on_empty, on_error): (Option<Expr>, Option<Expr>),
    ty: ExprType,
) -> Expr {
    let bit = |answer: &Option<Expr>, place: usize| i64::from(answer.is_none()) << place;
    let tag = bit(&on_empty, ON_EMPTY) | bit(&on_error, ON_ERROR);
    let or_null = |answer: Option<Expr>| answer.unwrap_or_else(Expr::null);
    let args = vec![document, path, or_null(on_empty), or_null(on_error)];
    let call = Call { name: NAME, eval, args, tag, deterministic: true };
    Expr { kind: ExprKind::Call(Box::new(call)), ty }
}

fn eval(a: &mut Args<'_, '_>) -> FnResult {
    let path = JsonPath::parse(&a.text(1)?)?;
    match a.json(0) {
        Ok(document) => value_at(a, &path, &document),
        Err(Stop::Null) => Err(Stop::Null),
        Err(Stop::Error(error))
            if matches!(
                error.code,
                ErrorCode::InvalidTypeForJson | ErrorCode::InvalidJsonCharset
            ) =>
        {
            Err(Stop::Error(error))
        }
        Err(Stop::Error(error)) => {
            a.ctx.raise(Level::Warning, error.clone())?;
            answer(a, ON_ERROR, error)
        }
    }
}

fn value_at(a: &mut Args<'_, '_>, path: &JsonPath, document: &Json) -> FnResult {
    let found = path.find(document);
    let only = match found[..] {
        [] => return answer(a, ON_EMPTY, SqlError::new(ErrorCode::MissingJsonValue, &[&NAME])),
        [only] => only,
        _ => {
            let error = SqlError::new(ErrorCode::MultipleJsonValues, &[&NAME]);
            return answer(a, ON_ERROR, error);
        }
    };
    let target = &a.ty.data_type;
    json::fitted(only.clone(), target, NAME, a.ctx).or_else(|_| {
        let error = SqlError::new(ErrorCode::DataOutOfRange, &[&type_name(target), &NAME]);
        answer(a, ON_ERROR, error)
    })
}

/// The answer in argument `place`, or the error where that was asked for.
fn answer(a: &mut Args<'_, '_>, place: usize, error: SqlError) -> FnResult {
    if a.call.tag >> place & 1 == 1 {
        return Err(Stop::Error(error));
    }
    let value = a.value(place)?.into_owned();
    let from = a.arg_type(place);
    Ok(store_value(value, from, &a.ty.data_type, a.ctx, NAME)?)
}

fn type_name(target: &DataType) -> &'static str {
    match target {
        DataType::Int { unsigned: false, .. } => "SIGNED",
        DataType::Int { .. } => "UNSIGNED",
        DataType::Decimal { .. } => "DECIMAL",
        DataType::Float { .. } => "FLOAT",
        DataType::Double { .. } => "DOUBLE",
        DataType::Date => "DATE",
        DataType::Time { .. } => "TIME",
        DataType::DateTime { .. } | DataType::Timestamp { .. } => "DATETIME",
        DataType::Year => "YEAR",
        _ => "CHAR",
    }
}
