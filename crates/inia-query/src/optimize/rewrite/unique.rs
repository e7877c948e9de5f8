//! A semi join with a table of which one row matches at most is an inner join.
//!
//! `SELECT … FROM items i WHERE EXISTS (SELECT 1 FROM orders o WHERE o.id = i.order_id AND o.day =
//! 3)` gives each item once whichever way it is joined: `o.id` is a unique key. As an inner join it
//! may be read from either side.

use crate::access::is_stable;
use crate::catalog::IndexDef;
use crate::optimize::{FromTree, Leaf, LeafKind, is_natural};
use crate::plan::JoinType;
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet, slots_of};

/// Makes inner joins of semi joins with unique keys.
pub(in crate::optimize) fn join_unique(tree: &mut FromTree) {
    let FromTree::Join(join) = tree else { return };
    join_unique(&mut join.left);
    join_unique(&mut join.right);
    if join.kind == JoinType::Semi
        && let FromTree::Leaf(leaf) = &join.right
        && matches_once(leaf, &join.on)
    {
        join.kind = JoinType::Inner;
    }
}

/// Whether the conditions give each part of a unique key one value for each row of other members.
pub(crate) fn matches_once(leaf: &Leaf, on: &[Expr]) -> bool {
    let LeafKind::Table { table, lock: None, .. } = &leaf.kind else { return false };
    let fixed = |index: &IndexDef| {
        index.parts.iter().all(|part| {
            let slot = leaf.slots.start + part.column;
            part.prefix.is_none() && on.iter().any(|condition| fixes(condition, slot, leaf))
        })
    };
    table.def.indexes.iter().any(|index| index.unique() && fixed(index))
}

/// Whether a condition makes a column of the member equal to what the member does not fill, by the
/// comparison that its unique key knows.
fn fixes(condition: &Expr, slot: usize, leaf: &Leaf) -> bool {
    let ExprKind::Compare(compare) = &condition.kind else { return false };
    if compare.op != CmpOp::Eq {
        return false;
    }
    let own = SlotSet::of_range(leaf.slots.clone());
    let fixed = |column: &Expr, value: &Expr| {
        let needs = slots_of(value);
        matches!(column.kind, ExprKind::Column { index, .. } if index == slot)
            && is_natural(column, &compare.class)
            && !needs.whole_row
            && !needs.slots.intersects(&own)
            && is_stable(value)
    };
    fixed(&compare.left, &compare.right) || fixed(&compare.right, &compare.left)
}
