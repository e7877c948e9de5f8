//! Types of user variables that have no value yet.
//!
//! MySQL treats a variable that was never set as a parameter: it takes the type of the operands
//! beside it, as the widest of its kind. `IFNULL(@n, 0)` is a BIGINT, `@n + 1.5` a decimal with 30
//! digits behind the point. Where nothing says a type the variable is a text. One that the
//! statement assigns to, before the place where it is read, is a text of any length.

use super::derive::Beside;
use super::{Binder, VARIABLE_CHARS};
use crate::context::SessionHost;
use crate::derive::ParamType;
use crate::tree::{Expr, ExprKind};
use crate::ty::{Coercibility, ExprType};

/// Characters of a variable that has no value, as an operand.
const UNSET_CHARS: u64 = 16_383;
/// Bytes of such a variable as an item of a list of columns.
const UNSET_BYTES: u64 = 65_532;

/// Whether an operand is a variable, so that it may have no value.
pub(super) fn is_variable(operand: &Expr) -> bool {
    matches!(operand.kind, ExprKind::UserVar(_))
}

/// The type that clients see where an item of a list of columns is a variable without a value.
pub fn unset_item(item: &Expr, host: &dyn SessionHost) -> Option<ExprType> {
    is_unset(item, host).then(|| ExprType::binary(UNSET_BYTES, true))
}

/// Whether an operand is a variable that has no value, and gets none before it in the statement.
fn is_unset(operand: &Expr, host: &dyn SessionHost) -> bool {
    let ExprKind::UserVar(name) = &operand.kind else { return false };
    host.user_var(name).is_none() && !host.is_assigned(name)
}

impl Binder<'_> {
    /// A variable without a value, where nothing is beside it.
    pub(super) fn unset_variable(&self, name: &str) -> Expr {
        let chars = if self.host.is_assigned(name) { VARIABLE_CHARS } else { UNSET_CHARS };
        let text = ExprType::text(chars, self.env.collation, true);
        let ty = ExprType { coercibility: Coercibility::Implicit, ..text };
        Expr { kind: ExprKind::UserVar(name.into()), ty }
    }

    /// Gives variables without a value the type of the first other operand.
    pub(super) fn settle_unset<'e>(
        &self,
        operands: impl Iterator<Item = &'e mut Expr>,
        beside: Beside,
    ) {
        let (unset, others): (Vec<_>, Vec<_>) =
            operands.partition(|operand| is_unset(operand, self.host));
        let ty = match (others.first(), beside) {
            _ if unset.is_empty() => return,
            (None, Beside::Numbers) => ExprType::double(true),
            (None, _) => return,
            (Some(other), _) => self.unset_type(&other.ty, beside),
        };
        unset.into_iter().for_each(|operand| operand.ty = ty.clone());
    }

    /// The type of a variable without a value beside an operand of this type.
    fn unset_type(&self, other: &ExprType, beside: Beside) -> ExprType {
        let connection = self.env.collation;
        let text = |chars| ExprType::text(chars, connection, true);
        match ParamType::beside(other, connection) {
            ParamType::Text(_) | ParamType::LongText if matches!(beside, Beside::Numbers) => {
                ExprType::double(true)
            }
            ParamType::Text(_) => text(UNSET_CHARS),
            ParamType::Date => text(10),
            ParamType::DateTime => text(26),
            ParamType::Time => text(15),
            ty => ty.described(connection),
        }
    }
}
