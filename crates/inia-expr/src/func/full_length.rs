//! Columns as the SQL mode `PAD_CHAR_TO_FULL_LENGTH` reads them.

use crate::eval::{Args, FnResult};
use crate::tree::{Call, Expr, ExprKind};
use inia_base::datatype::DataType;
use inia_base::value::Value;

/// The name of the call; it is printed as its argument.
pub(crate) const FULL_LENGTH: &str = "full length";

/// A column of CHAR(n) with spaces up to n characters; other expressions stay as they are.
pub fn full_length(column: Expr) -> Expr {
    let DataType::Char { chars, .. } = column.ty.data_type else { return column };
    let ty = column.ty.clone();
    let call = Call {
        name: FULL_LENGTH,
        eval: fill,
        args: vec![column],
        tag: i64::from(chars),
        deterministic: true,
    };
    Expr { kind: ExprKind::Call(Box::new(call)), ty }
}

fn fill(a: &mut Args<'_, '_>) -> FnResult {
    let value = a.value(0)?.into_owned();
    Ok(match value {
        Value::Text(mut text) => {
            let lacking = (a.call.tag as usize).saturating_sub(text.chars().count());
            text.extend(std::iter::repeat_n(' ', lacking));
            Value::Text(text)
        }
        value => value,
    })
}
