//! JSON_SCHEMA_VALID and JSON_SCHEMA_VALIDATION_REPORT, and what a CHECK constraint by the former
//! says of a row that it refuses.

use super::json::done;
use super::types::boolean;
use super::{Function, f};
use crate::context::{Environment, EvalContext};
use crate::eval::{Args, Stop};
use crate::json::schema::{Failure, validate};
use crate::json::{self as doc, Json};
use crate::tree::{Call, Expr, ExprKind};
use crate::ty::{ExprType, TypeClass};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

pub(super) const TABLE: &[Function] = &[
    f(VALID, 2, 2, boolean, |a| Ok(Value::Int(failure(a)?.is_none().into()))),
    f("json_schema_validation_report", 2, 2, report_type, |a| {
        let valid = || Json::Object(vec![("valid".to_owned(), Json::Bool(true))]);
        done(failure(a)?.map_or_else(valid, Failure::report))
    }),
];

/// JSON; of a NULL that is written as the schema the NULL.
fn report_type(args: &mut [Expr], _: &Environment) -> Result<ExprType, SqlError> {
    match args[0].ty.class() {
        TypeClass::Null => Ok(ExprType::null()),
        _ => Ok(ExprType::json(true)),
    }
}

const VALID: &str = "json_schema_valid";

/// What the second argument fails of the first.
fn failure(a: &mut Args<'_, '_>) -> Result<Option<Failure>, Stop> {
    let schema = a.json(0)?;
    require_object(&schema, a.call.name)?;
    Ok(validate(&schema, &a.json(1)?)?)
}

/// Error 3853 for a schema that is no object.
fn require_object(schema: &Json, function: &str) -> Result<(), SqlError> {
    match schema {
        Json::Object(_) => Ok(()),
        _ => Err(SqlError::new(ErrorCode::InvalidJsonType, &[&1, &function, &"object"])),
    }
}

/// The errors 3934 of a condition that a row does not fulfil: one for each schema that a document
/// of the row fails.
pub fn schema_failures(
    condition: &Expr,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Vec<SqlError> {
    let mut calls = Vec::new();
    condition.walk(&mut |node| {
        if let ExprKind::Call(call) = &node.kind
            && call.name == VALID
        {
            calls.push(call);
        }
    });
    let failures = calls.into_iter().filter_map(|call| failure_of(call, ctx, row).ok().flatten());
    let code = ErrorCode::JsonSchemaValidationErrorWithDetailedReport;
    failures.map(|failure| SqlError::new(code, &[&failure.reason()])).collect()
}

fn failure_of(
    call: &Call,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Option<Failure>, SqlError> {
    let mut document = |at: usize| -> Result<Option<Json>, SqlError> {
        let value = call.args[at].eval(ctx, row)?;
        match value {
            Value::Null => Ok(None),
            value => doc::document(&value, &call.args[at].ty, at + 1, VALID).map(Some),
        }
    };
    match (document(0)?, document(1)?) {
        (Some(schema), Some(document)) => validate(&schema, &document),
        _ => Ok(None),
    }
}
