//! The right side of a semi or an anti join, where it is a join itself.
//!
//! It is read in one of two ways. By a nested loop it runs anew for each left row, and its members
//! are looked up by that row. By a hash table it is read once, by its own conditions only, and the
//! equalities with the left side are the keys. The hash table is taken where the right side would
//! be read as a whole for each left row, or where many look-ups cost more than one reading.
//!
//! Example: `o ⋉ (l ⋈ p ON p.id = l.p_id) ON l.k = o.k` with an index on `l.k`: for ten rows of `o`
//! `l` is looked up by `o.k` ten times; for a million `l ⋈ p` is read once, keyed by `l.k`.

use super::group::{MANY_LOOKUPS, ROWS_FOR_LOOKUP, hash_key, plan, rows_of};
use super::{FromTree, QueryBlock};
use crate::plan::{HashKey, JoinMethod, RowSource};
use inia_expr::{Expr, SlotSet, slots_of};

/// Plans the right side of a join with `left`: its source, what the join must check, and the join's
/// method. `filled` are the slots of the left side and of what is around both.
pub(super) fn right_side(
    tree: FromTree,
    conditions: Vec<Expr>,
    filled: &SlotSet,
    block: &QueryBlock<'_>,
    left: Option<&RowSource>,
) -> (RowSource, Vec<Expr>, JoinMethod) {
    let own = SlotSet::of_range(tree.slot_range());
    let looked_up = {
        let mut conditions = conditions.clone();
        let source = plan(tree.clone(), &mut conditions, filled, block);
        (source, conditions, JoinMethod::NestedLoop)
    };
    let Some(left) = left.filter(|_| is_independent(&tree, &own)) else { return looked_up };
    let Some(split) = Split::of(conditions, &own) else { return looked_up };
    let mut on = split.own;
    let once = plan(tree, &mut on, &SlotSet::default(), block);
    let rows = rows_of(left);
    let many = rows >= MANY_LOOKUPS || !reads_slots(&looked_up.0, filled);
    if many && rows_read(&once) <= rows * ROWS_FOR_LOOKUP * rows_read(&looked_up.0) {
        on.extend(split.rest);
        return (once, on, JoinMethod::Hash(split.keys));
    }
    looked_up
}

/// Conditions of a join, by what they read.
struct Split {
    own: Vec<Expr>,
    keys: Vec<HashKey>,
    rest: Vec<Expr>,
}

impl Split {
    /// `None` where no condition is an equality with the left side.
    fn of(conditions: Vec<Expr>, own: &SlotSet) -> Option<Split> {
        let mut split = Split { own: Vec::new(), keys: Vec::new(), rest: Vec::new() };
        for condition in conditions {
            let needs = slots_of(&condition);
            if needs.slots.is_subset(own) && !needs.whole_row {
                split.own.push(condition);
                continue;
            }
            match hash_key(condition, own) {
                Ok(key) => split.keys.push(key),
                Err(condition) => split.rest.push(condition),
            }
        }
        (!split.keys.is_empty()).then_some(split)
    }
}

/// Whether no condition inside a tree reads what is around it.
fn is_independent(tree: &FromTree, own: &SlotSet) -> bool {
    let mut independent = true;
    tree.for_each_expr(&mut |expr| {
        let needs = slots_of(expr);
        independent &= !needs.whole_row && needs.slots.is_subset(own);
    });
    independent
}

/// Whether a source's paths are bounded by `slots`.
fn reads_slots(source: &RowSource, slots: &SlotSet) -> bool {
    match source {
        RowSource::Table(table) => {
            table.access.exprs().any(|expr| slots_of(expr).slots.intersects(slots))
        }
        RowSource::Join(join) => reads_slots(&join.left, slots) || reads_slots(&join.right, slots),
        _ => false,
    }
}

/// The rows of tables that one run of a source is expected to read.
fn rows_read(source: &RowSource) -> f64 {
    match source {
        RowSource::Join(join) => {
            let left = rows_read(&join.left);
            match &join.method {
                JoinMethod::NestedLoop => left + rows_of(&join.left) * rows_read(&join.right),
                JoinMethod::Hash(_) => left + rows_read(&join.right),
            }
        }
        RowSource::Table(table) => table.rows,
        source => rows_of(source),
    }
}
