//! Values of functional key parts, whose errors and warnings are the index's.
//!
//! Example: `INSERT INTO t VALUES ('abc')` with `KEY i ((CAST(s AS UNSIGNED)))` is error 3751,
//! which names `i`, in place of 1292, which shows the text. A JSON document that has no value of
//! the part's type is only warned of (3903), in strict mode, too.

use crate::table_def::HIDDEN;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{EvalContext, Strictness, Warning};

type Result<T> = std::result::Result<T, SqlError>;

/// The index that a hidden column is a part of.
pub(super) fn index_of(column: &str) -> Option<&str> {
    // The name ends with the numbers of the part and of the column.
    column.strip_prefix(HIDDEN)?.rsplitn(3, '!').nth(2)
}

/// Computes a part's value with the index's errors and warnings.
pub(super) fn compute_part(
    index: &str,
    ctx: &mut EvalContext<'_>,
    compute: &mut dyn FnMut(&mut EvalContext<'_>) -> Result<Value>,
) -> Result<Value> {
    let raised = ctx.warnings.list.len();
    let mut computed = compute(ctx);
    let is_no_value = |error: &SqlError| error.code == ErrorCode::InvalidJsonValueForCast;
    if computed.as_ref().is_err_and(is_no_value) {
        let strictness = std::mem::replace(&mut ctx.strictness, Strictness::Lenient);
        computed = compute(ctx);
        ctx.strictness = strictness;
    }
    let row = ctx.row_number;
    for warning in ctx.warnings.list.iter_mut().skip(raised) {
        if let Some(own) = of_index(warning.code, index, row) {
            *warning = Warning::of(warning.level, own);
        }
    }
    computed.map_err(|error| of_index(error.code, index, row).unwrap_or(error))
}

/// What an error about a value is, as one of the index.
fn of_index(code: ErrorCode, index: &str, row: u64) -> Option<SqlError> {
    Some(match code {
        ErrorCode::TruncatedWrongValue | ErrorCode::WarnDataTruncated => {
            SqlError::new(ErrorCode::WarnDataTruncatedFunctionalIndex, &[&index, &row])
        }
        ErrorCode::WarnDataOutOfRange => {
            SqlError::new(ErrorCode::WarnDataOutOfRangeFunctionalIndex, &[&index, &row])
        }
        ErrorCode::DataTooLong => SqlError::new(ErrorCode::FunctionalIndexDataIsTooLong, &[&index]),
        ErrorCode::InvalidJsonValueForCast => {
            SqlError::new(ErrorCode::InvalidJsonValueForFuncIndex, &[&index])
        }
        _ => return None,
    })
}
