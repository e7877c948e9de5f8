//! Indexes of texts that conditions compare with values of other kinds. MySQL lists them among the
//! possible keys, though the comparison is of numbers and finds nothing in them.

use crate::catalog::IndexDef;
use crate::plan::TableSource;
use inia_expr::tree::ExprKind;
use inia_expr::{Expr, TypeClass};

/// Whether a condition compares the first part of an index as another kind of value.
pub(super) fn is_converted(source: &TableSource, index: &IndexDef, conditions: &[Expr]) -> bool {
    let Some(first) = index.parts.first() else { return false };
    if index.kind.has_words() {
        return false;
    }
    let slot = source.base + first.column;
    let mut found = false;
    for condition in conditions {
        condition.walk(&mut |node| found = found || compares(node, slot));
    }
    found
}

/// The names of a table's indexes that are such.
pub(super) fn converted_keys(source: &TableSource) -> Vec<String> {
    let conditions: Vec<Expr> = source.bound_filter.iter().chain(&source.filter).cloned().collect();
    let indexes = source.table.def.indexes.iter();
    let found = indexes.filter(|index| is_converted(source, index, &conditions));
    found.map(|index| index.name.clone()).collect()
}

/// Whether a node compares the text in a slot with constants that are none.
fn compares(node: &Expr, slot: usize) -> bool {
    let sides: Vec<&Expr> = match &node.kind {
        ExprKind::Compare(compare) => vec![&compare.left, &compare.right],
        ExprKind::In(list) => {
            std::iter::once(&list.value).chain(list.items.iter().map(|(_, item)| item)).collect()
        }
        ExprKind::Between(between) => vec![&between.value, &between.low, &between.high],
        _ => return false,
    };
    let is_text = |side: &Expr| {
        matches!(side.kind, ExprKind::Column { index, .. } if index == slot)
            && side.ty.class() == TypeClass::String
    };
    let is_other = |side: &Expr| {
        let class = side.ty.class();
        side.is_constant_in_statement() && class != TypeClass::String && class != TypeClass::Null
    };
    let texts = sides.iter().filter(|side| is_text(side)).count();
    texts == 1 && sides.iter().all(|side| is_text(side) || is_other(side))
}
