//! Parameters that are converted to a character set with fewer characters than Unicode has.
//!
//! `WHERE l = ?` of a latin1 column compares texts of latin1. As in MySQL it is error 3988 if the
//! parameter's text has other characters. Such parameters are noted while a plan is made, with the
//! collation that they are converted to, and each run of the plan checks their values.

use crate::bind::derive_stored;
use crate::collate;
use crate::compare::CmpClass;
use crate::context::SessionHost;
use crate::tree::{Expr, ExprKind, SubqueryKind};
use crate::ty::Coercibility;
use inia_base::collation::{Charset, Collation};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

/// A parameter, from 0, and the collation that it is converted to.
pub type NarrowParam = (usize, Collation);

/// Notes the parameters in an expression that meet texts of other character sets.
pub fn note_params(expr: &Expr, host: &dyn SessionHost) {
    expr.walk(&mut |node| note(node, host));
}

/// Notes a parameter that is stored in a column of this type, and gives it that type.
pub fn note_stored(value: &Expr, column: &DataType, host: &dyn SessionHost) {
    derive_stored(value, column, host);
    if let DataType::Char { collation, .. }
    | DataType::VarChar { collation, .. }
    | DataType::Text { collation, .. } = column
    {
        note_operand(value, *collation, host);
    }
}

/// Notes the operands of one node that are parameters.
pub(crate) fn note(node: &Expr, host: &dyn SessionHost) {
    let compared = |operand: &Expr, class: &CmpClass| {
        if let CmpClass::Text(collation) = class {
            note_operand(operand, *collation, host);
        }
    };
    match &node.kind {
        ExprKind::Compare(compare) => {
            compared(&compare.left, &compare.class);
            compared(&compare.right, &compare.class);
        }
        ExprKind::CompareRows(_, pairs) => {
            for pair in pairs {
                compared(&pair.left, &pair.class);
                compared(&pair.right, &pair.class);
            }
        }
        ExprKind::In(list) => {
            for (class, item) in &list.items {
                compared(&list.value, class);
                compared(item, class);
            }
        }
        ExprKind::Between(between) => {
            compared(&between.value, &between.classes.0);
            compared(&between.low, &between.classes.0);
            compared(&between.high, &between.classes.1);
        }
        ExprKind::Like(like) => {
            note_operand(&like.value, like.collation, host);
            note_operand(&like.pattern, like.collation, host);
        }
        ExprKind::Subquery(subquery) => {
            if let SubqueryKind::Quantified { left, classes, .. } = &subquery.kind {
                left.iter().zip(classes).for_each(|(operand, class)| compared(operand, class));
            }
        }
        ExprKind::Case(case) if node.ty.is_text() => {
            let results = case.whens.iter().map(|(_, result)| result).chain(&case.otherwise);
            results.for_each(|result| note_operand(result, node.ty.collation(), host));
        }
        ExprKind::Call(call) => {
            let collation = match call.name {
                "if" | "greatest" | "least" if node.ty.is_text() => Some(node.ty.collation()),
                "strcmp" | "field" => {
                    let types: Vec<_> = call.args.iter().map(|arg| &arg.ty).collect();
                    collate::aggregate(&types, call.name).ok().map(|found| found.0)
                }
                _ => None,
            };
            if let Some(collation) = collation {
                call.args.iter().for_each(|arg| note_operand(arg, collation, host));
            }
        }
        _ => {}
    }
}

/// The variables of stored programs are parameters of their statements too, but no constants.
fn note_operand(operand: &Expr, collation: Collation, host: &dyn SessionHost) {
    let charset = collation.charset();
    let whole =
        matches!(charset, Charset::Utf8mb4 | Charset::Utf16 | Charset::Utf16le | Charset::Utf32);
    if let ExprKind::Param(index) = operand.kind
        && operand.ty.is_text()
        && operand.ty.coercibility == Coercibility::Coercible
        && !whole
        && collation != Collation::BINARY
    {
        host.note_narrow_param(index, collation);
    }
}

/// Error 3988 where a parameter's text has characters that it loses; `own` is its collation.
pub fn check_params(
    narrow: &[NarrowParam],
    params: &[Value],
    own: Collation,
) -> Result<(), SqlError> {
    for (index, collation) in narrow {
        if let Some(Value::Text(text)) = params.get(*index)
            && collate::lacks(collation.charset(), text)
        {
            let known = !collate::lacks(own.charset(), text);
            let from = if known { own } else { Collation::DEFAULT };
            let args: [&dyn std::fmt::Display; 3] = [&from.name(), &collation.name(), &"parameter"];
            return Err(SqlError::new(ErrorCode::ImpossibleStringConversion, &args));
        }
    }
    Ok(())
}
