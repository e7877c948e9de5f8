//! BIT columns by which DISTINCT sorts.

use super::Clauses;
use crate::bind::dependent::Dependencies;
use crate::bind::from::BoundFrom;
use crate::bind::{described, reduce};
use crate::optimize::{FromTree, Leaf, LeafKind};
use inia_base::datatype::DataType;
use inia_expr::{Expr, ExprKind};

impl Clauses {
    /// Makes the BIT columns by which DISTINCT sorts numbers, as they are in the temporary table
    /// from which MySQL sends them: where it reads one table, and no index has the rows in order.
    pub(super) fn sort_bits_as_numbers(&mut self, from: &BoundFrom) {
        let Some(tree @ FromTree::Leaf(leaf)) = &from.tree else { return };
        let is_bits = |at: &usize| match self.items.get(*at).map(|item| &item.expr) {
            Some(Expr { kind: ExprKind::Column { .. }, ty }) => {
                matches!(ty.data_type, DataType::Bit(_))
            }
            _ => false,
        };
        let bits: Vec<usize> = self.order.iter().map(|key| key.index).filter(is_bits).collect();
        if bits.is_empty() || !self.group.is_empty() {
            return;
        }
        let dependencies = Dependencies::of(tree, &self.conditions);
        if reduce::is_distinct(self, &dependencies) || self.has_index(leaf, &dependencies) {
            return;
        }
        for at in bits {
            described::as_sorted(&mut self.columns[at], &mut self.items[at].expr);
        }
    }

    /// Whether an index of the table has all items that differ.
    fn has_index(&self, leaf: &Leaf, dependencies: &Dependencies) -> bool {
        let LeafKind::Table { table, .. } = &leaf.kind else { return false };
        let fixed = dependencies.determined_by(std::iter::empty());
        table.def.indexes.iter().any(|index| {
            self.items.iter().all(|item| {
                let ExprKind::Column { index: slot, .. } = item.expr.kind else { return false };
                let column = slot.checked_sub(leaf.slots.start);
                let mut parts = index.parts.iter();
                fixed.contains(slot) || parts.any(|part| Some(part.column) == column)
            })
        })
    }
}
