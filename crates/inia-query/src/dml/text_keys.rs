//! Joins that look numbers up by texts. In strict mode a text that is no number is error 1292 where
//! it is compared with a number; where the number begins a key, the text is only looked for in
//! that key, and finds nothing.

use crate::catalog::TableDef;
use crate::plan::{JoinMethod, RowSource};
use inia_expr::{CmpOp, Expr, ExprKind, TypeClass};

/// A table of a join and its first slot.
type Member<'p> = (&'p TableDef, usize);

fn members<'p>(source: &'p RowSource, found: &mut Vec<Member<'p>>) {
    match source {
        RowSource::Table(table) => found.push((&table.table.def, table.base)),
        RowSource::Join(join) => {
            members(&join.left, found);
            members(&join.right, found);
        }
        _ => {}
    }
}

/// Whether an expression is a column of numbers with which a key begins.
fn is_number_key(expr: &Expr, members: &[Member<'_>]) -> bool {
    let ExprKind::Column { index: slot, .. } = expr.kind else { return false };
    let number = matches!(expr.ty.class(), TypeClass::Int | TypeClass::Decimal | TypeClass::Real);
    number
        && members.iter().any(|(def, base)| {
            let begins = |column: usize| {
                def.indexes.iter().any(|index| {
                    (index.clustered || index.has_entries())
                        && index.parts.first().is_some_and(|part| part.column == column)
                })
            };
            slot.checked_sub(*base)
                .is_some_and(|column| column < def.columns.len() && begins(column))
        })
}

/// Whether tables of a source are joined by a text that a key of numbers is asked for.
pub(super) fn asks_keys_for_texts(source: &RowSource) -> bool {
    let mut tables = Vec::new();
    members(source, &mut tables);
    let is_text = |expr: &Expr| {
        matches!(expr.kind, ExprKind::Column { .. }) && expr.ty.class() == TypeClass::String
    };
    let asks = |key: &Expr, text: &Expr| is_number_key(key, &tables) && is_text(text);
    any_equality(source, &|a, b| asks(a, b) || asks(b, a))
}

/// Whether `test` holds for the sides of an equality of two tables.
fn any_equality(source: &RowSource, test: &dyn Fn(&Expr, &Expr) -> bool) -> bool {
    let equality = |condition: &Expr| match &condition.kind {
        ExprKind::Compare(compare) if compare.op == CmpOp::Eq => {
            test(&compare.left, &compare.right)
        }
        _ => false,
    };
    match source {
        RowSource::Table(table) => table.filter.iter().chain(&table.bound_filter).any(equality),
        RowSource::Join(join) => {
            let hashed = match &join.method {
                JoinMethod::Hash(keys) => keys.iter().any(|key| test(&key.left, &key.right)),
                JoinMethod::NestedLoop => false,
            };
            hashed
                || join.on.iter().any(equality)
                || any_equality(&join.left, test)
                || any_equality(&join.right, test)
        }
        _ => false,
    }
}
