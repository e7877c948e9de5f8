//! What holds for every bound expression; debug builds check each expression of a plan.
//!
//! - An operator has its operands, and rows that are compared have equally many columns.
//! - A predicate's value is an integer: 0, 1 or NULL.
//! - A literal's value is of its node's type, and NULL only where the type says so.
//! - A decimal type has at least as many digits as digits after the point.

use crate::tree::{Expr, ExprKind, Subquery, SubqueryKind};
use crate::ty::{Coercibility, ExprType, NOT_FIXED, TypeClass};
use inia_base::datatype::DataType;
use inia_base::decimal::MAX_DIGITS;
use inia_base::value::Value;

/// The most digits of a decimal that is computed.
const MAX_COMPUTED: u8 = 200;

impl Expr {
    /// Checks the expression with all that is below it, in debug builds.
    pub fn debug_check(&self) {
        if cfg!(debug_assertions) {
            self.walk(&mut |node| {
                node.ty.debug_check();
                check_operands(node);
                check_result(node);
            });
        }
    }
}

fn check_operands(node: &Expr) {
    match &node.kind {
        ExprKind::And(items) | ExprKind::Or(items) => {
            debug_assert!(items.len() > 1, "AND and OR have two operands");
        }
        ExprKind::Row(items) => debug_assert!(items.len() > 1, "a row has two columns"),
        ExprKind::CompareRows(op, parts) => {
            debug_assert!(parts.len() > 1, "rows have two columns");
            debug_assert!(parts.iter().all(|part| part.op == *op), "one operator compares rows");
        }
        ExprKind::Case(case) => debug_assert!(!case.whens.is_empty(), "CASE has a condition"),
        ExprKind::In(list) => {
            debug_assert!(!list.items.is_empty(), "IN has a list");
            let literals = list.items.iter().all(|(_, item)| item.as_literal().is_some());
            debug_assert!(list.set.is_none() || literals, "a set is one of constants");
        }
        ExprKind::Like(like) => {
            let constant = like.pattern.as_literal().is_some();
            debug_assert!(like.compiled.is_none() || constant, "a constant pattern is compiled");
        }
        ExprKind::Call(call) => {
            let upper = call.name.bytes().any(|byte| byte.is_ascii_uppercase());
            debug_assert!(!upper, "a function has a name in lower case");
        }
        ExprKind::Subquery(sub) => check_quantified(sub),
        _ => {}
    }
}

fn check_quantified(sub: &Subquery) {
    let SubqueryKind::Quantified { left, classes, types, .. } = &sub.kind else { return };
    debug_assert_eq!(classes.len(), types.len(), "each column compares in a class");
    // A subquery's only row is one operand, whatever columns it has.
    let row = matches!(&left[..], [Expr { kind: ExprKind::Subquery(_), .. }]);
    debug_assert!(row || left.len() == types.len(), "both sides have as many columns");
}

fn check_result(node: &Expr) {
    match &node.kind {
        ExprKind::Literal(value) => {
            debug_assert!(is_of(value, &node.ty), "{value:?} is a literal of {:?}", node.ty);
        }
        ExprKind::Compare(_)
        | ExprKind::CompareRows(..)
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Xor(..)
        | ExprKind::Not(_)
        | ExprKind::IsNull(..)
        | ExprKind::IsTruth(..)
        | ExprKind::In(_)
        | ExprKind::Between(_)
        | ExprKind::Like(_) => {
            debug_assert_eq!(node.ty.class(), TypeClass::Int, "a truth value is an integer");
        }
        ExprKind::Collate(_) => {
            debug_assert_eq!(node.ty.class(), TypeClass::String, "strings have a collation");
        }
        _ => {}
    }
    let never = matches!(node.kind, ExprKind::IsNull(..) | ExprKind::IsTruth(..));
    debug_assert!(!never || !node.ty.nullable, "a test of NULL is never NULL");
}

/// Whether the value is one of the type's.
pub(crate) fn is_of(value: &Value, ty: &ExprType) -> bool {
    match (value, ty.class()) {
        (Value::Null, _) => ty.nullable,
        (Value::Int(_) | Value::UInt(_), TypeClass::Int)
        | (Value::Decimal(_), TypeClass::Decimal)
        | (Value::Double(_), TypeClass::Real)
        | (Value::Date(_) | Value::DateTime(_), TypeClass::Dated)
        | (Value::Time(_), TypeClass::Time)
        | (Value::Json(_), TypeClass::Json)
        | (Value::Text(_) | Value::Bytes(_) | Value::UInt(_), TypeClass::String) => true,
        _ => false,
    }
}

impl ExprType {
    /// Checks what holds for the type of every expression, in debug builds.
    pub(crate) fn debug_check(&self) {
        let exact = matches!(self.data_type, DataType::Decimal { .. });
        debug_assert!(exact || self.decimals <= NOT_FIXED, "only a decimal has so many digits");
        match &self.data_type {
            DataType::Decimal { precision, scale, .. } => {
                debug_assert!(*precision > 0 && *precision <= MAX_COMPUTED, "a decimal has digits");
                debug_assert!(scale <= precision, "digits after the point are digits");
                debug_assert!(*scale <= MAX_DIGITS, "a decimal has room for its scale");
            }
            DataType::Time { fsp } | DataType::DateTime { fsp } | DataType::Timestamp { fsp } => {
                debug_assert!(*fsp <= 6, "a second has a million parts");
            }
            DataType::Null => debug_assert!(self.nullable, "NULL is NULL"),
            DataType::Enum { members, .. } => {
                debug_assert!(!members.is_empty(), "an ENUM has a member");
            }
            DataType::Set { members, .. } => {
                debug_assert!((1..=64).contains(&members.len()), "each member of a SET has a bit");
            }
            _ => {}
        }
        let named = self.class() == TypeClass::String;
        let explicit = self.coercibility == Coercibility::Explicit;
        debug_assert!(named || !explicit, "COLLATE makes a string");
    }
}
