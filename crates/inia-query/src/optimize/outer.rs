//! Outer joins that WHERE turns into inner joins.
//!
//! `a LEFT JOIN b … WHERE b.x = 1` cannot keep a row in which `b` is all NULL, so it is an inner
//! join, which may be read in either order.

use super::FromTree;
use crate::plan::JoinType;
use inia_expr::SlotSet;
use inia_expr::{CmpOp, Expr, ExprKind};

/// Turns outer joins into inner joins where `conditions` reject NULLs of the inner side.
pub(crate) fn simplify(tree: &mut FromTree, conditions: &[Expr]) {
    let mut rejecting = SlotSet::default();
    for condition in conditions {
        if let Some(slots) = null_rejecting(condition) {
            rejecting = rejecting.union(&slots);
        }
    }
    visit(tree, &rejecting);
}

fn visit(tree: &mut FromTree, rejecting: &SlotSet) {
    let FromTree::Join(join) = tree else { return };
    if join.kind == JoinType::Left && join.right.slots().intersects(rejecting) {
        join.kind = JoinType::Inner;
    }
    let mut matching = SlotSet::default();
    for slots in join.on.iter().filter_map(null_rejecting) {
        matching = matching.union(&slots);
    }
    // The join's conditions restrict left rows that must match, but not those that may go without
    // a match.
    match join.kind {
        JoinType::Left => visit(&mut join.left, rejecting),
        JoinType::Inner | JoinType::Semi => {
            let all = rejecting.union(&matching);
            visit(&mut join.left, &all);
            visit(&mut join.right, &all);
        }
        JoinType::Anti => {
            visit(&mut join.left, rejecting);
            visit(&mut join.right, &matching);
        }
    }
}

/// The slots of which a NULL makes the condition not true; `None` where that is not known.
fn null_rejecting(condition: &Expr) -> Option<SlotSet> {
    match &condition.kind {
        ExprKind::Compare(compare) if compare.op != CmpOp::NullSafeEq => {
            Some(strict_slots(&compare.left).union(&strict_slots(&compare.right)))
        }
        ExprKind::Between(between) if !between.negated => Some(strict_slots(&between.value)),
        ExprKind::In(list) if !list.negated => Some(strict_slots(&list.value)),
        ExprKind::Like(like) if !like.negated => Some(strict_slots(&like.value)),
        ExprKind::IsNull(inner, true) => Some(strict_slots(inner)),
        ExprKind::And(items) => {
            let all = items.iter().filter_map(null_rejecting);
            all.reduce(|rejecting, slots| rejecting.union(&slots))
        }
        // Each branch rejects the NULL.
        ExprKind::Or(items) => {
            let mut all = items.iter().map(null_rejecting);
            let first = all.next()??;
            all.try_fold(first, |rejecting, slots| Some(rejecting.intersection(&slots?)))
        }
        _ => None,
    }
}

/// The slots of which a NULL makes the expression NULL.
pub(crate) fn strict_slots(expr: &Expr) -> SlotSet {
    match &expr.kind {
        ExprKind::Column { index, .. } => SlotSet::of_range(*index..*index + 1),
        ExprKind::Cast(inner, _) | ExprKind::Collate(inner) | ExprKind::Neg(inner, _) => {
            strict_slots(inner)
        }
        ExprKind::Arith(arith) => strict_slots(&arith.left).union(&strict_slots(&arith.right)),
        _ => SlotSet::default(),
    }
}
