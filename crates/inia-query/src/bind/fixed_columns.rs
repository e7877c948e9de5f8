//! Which columns of FROM have one value where others have one.
//!
//! A unique key without NULLs fixes the columns of its table, a key of a derived table what the
//! derived table computes for it, and an equality one of its sides where the other is fixed.
//!
//! ```text
//!   FROM o JOIN c ON c.id = o.c GROUP BY o.id
//!   -- o.id is o's key and fixes o.c, that fixes c.id, and c.id is c's key
//! ```
//!
//! The condition of an outer join fixes columns of its inner side only, and only where all that it
//! reads of the other side is fixed: else the same row may have a match or none.

use super::determined::DerivedColumns;
use crate::catalog::{Table, TableDef};
use inia_expr::tree::Compare;
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet, slots_of};
use std::ops::Range;
use std::sync::Arc;

/// What FROM and WHERE say of columns.
#[derive(Default)]
pub(super) struct Members<'t> {
    pub(super) tables: Vec<Keyed>,
    /// Conditions that hold for all rows.
    pub(super) conditions: Vec<&'t Expr>,
    /// Those of outer joins, with the slots of the inner side.
    pub(super) outer: Vec<(&'t [Expr], SlotSet)>,
}

impl Members<'_> {
    /// Adds all slots that the fixed ones fix.
    pub(super) fn close(&self, fixed: &mut SlotSet) {
        loop {
            let before = fixed.clone();
            self.conditions.iter().for_each(|condition| spread(condition, fixed));
            self.outer.iter().for_each(|(on, inner)| spread_inwards(on, inner, fixed));
            self.tables.iter().for_each(|keyed| keyed.spread(fixed));
            if *fixed == before {
                return;
            }
        }
    }
}

/// A member of FROM whose columns may determine others, with its slots.
pub(super) struct Keyed {
    pub(super) member: Member,
    pub(super) slots: Range<usize>,
}

pub(super) enum Member {
    /// A stored table: its keys do.
    Stored(Arc<Table>),
    /// A derived table.
    Derived(Arc<DerivedColumns>),
}

impl Keyed {
    /// Adds the slots that the fixed ones determine.
    fn spread(&self, fixed: &mut SlotSet) {
        let base = self.slots.start;
        match &self.member {
            Member::Stored(table) if fixes_a_key(&table.def, base, fixed) => {
                *fixed = fixed.union(&SlotSet::of_range(self.slots.clone()));
            }
            Member::Stored(_) => {}
            Member::Derived(columns) => {
                let more = columns.determined_by(&|column| fixed.contains(base + column));
                more.into_iter().for_each(|column| fixed.insert(base + column));
            }
        }
    }
}

/// What the condition of an outer join fixes of its inner side.
fn spread_inwards(on: &[Expr], inner: &SlotSet, fixed: &mut SlotSet) {
    let outside = |condition: &Expr| slots_of(condition).slots.minus(inner).is_subset(fixed);
    if on.iter().all(outside) {
        let mut more = fixed.clone();
        on.iter().for_each(|condition| spread(condition, &mut more));
        *fixed = fixed.union(&more.intersection(inner));
    }
}

/// `a = constant` fixes `a`; `a = b` fixes one where the other is fixed. Equal rows are equal
/// columns.
fn spread(condition: &Expr, fixed: &mut SlotSet) {
    match &condition.kind {
        ExprKind::Compare(compare) => spread_equal(compare, fixed),
        ExprKind::CompareRows(CmpOp::Eq, pairs) => {
            pairs.iter().for_each(|pair| spread_equal(pair, fixed));
        }
        ExprKind::In(list) if !list.negated && list.items.len() == 1 => {
            if let ExprKind::Column { index, .. } = list.value.kind
                && is_constant_here(&list.items[0].1)
            {
                fixed.insert(index);
            }
        }
        _ => {}
    }
}

fn spread_equal(compare: &Compare, fixed: &mut SlotSet) {
    if compare.op != CmpOp::Eq {
        return;
    }
    let column = |expr: &Expr| match expr.kind {
        ExprKind::Column { index, .. } => Some(index),
        _ => None,
    };
    match (column(&compare.left), column(&compare.right)) {
        (Some(a), Some(b)) if fixed.contains(a) || fixed.contains(b) => {
            fixed.insert(a);
            fixed.insert(b);
        }
        (Some(a), None) if is_constant_here(&compare.right) => fixed.insert(a),
        (None, Some(b)) if is_constant_here(&compare.left) => fixed.insert(b),
        _ => {}
    }
}

/// Whether an expression has one value while the SELECT runs: columns of enclosing rows have.
fn is_constant_here(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::OuterColumn { .. }) || expr.is_constant_in_statement()
}

/// Whether some unique key without NULLs lies wholly in the fixed slots.
fn fixes_a_key(def: &TableDef, base: usize, fixed: &SlotSet) -> bool {
    def.indexes.iter().any(|index| {
        index.unique()
            && index.parts.iter().all(|part| {
                let column = &def.columns[part.column];
                !column.nullable && part.prefix.is_none() && fixed.contains(base + part.column)
            })
    })
}
