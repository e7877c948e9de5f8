//! What an OR over several members of a join says of one of them alone.
//!
//! `(n1.name = 'A' AND n2.name = 'B') OR (n1.name = 'B' AND n2.name = 'A')` can be checked only
//! when both members are joined. It implies `n1.name = 'A' OR n1.name = 'B'`, which filters `n1`
//! while it is read, or is the range of an index; `n2` likewise. Where the OR itself turns out to
//! be checked at the same place, its restriction is dropped again.

use super::super::Leaf;
use super::all_of;
use crate::access::is_stable;
use inia_expr::{Expr, ExprKind, ExprType, SlotSet, conjuncts, slots_of};

/// Branches of an OR whose restrictions are worth to be evaluated beside it.
const MAX_BRANCHES: usize = 64;

/// Adds the restrictions that the list's ORs imply.
pub(super) fn restrict(conditions: &mut Vec<Expr>, members: &[&Leaf]) {
    let mut implied = Vec::new();
    for condition in &*conditions {
        let ExprKind::Or(branches) = &condition.kind else { continue };
        let reads = slots_of(condition).slots;
        if branches.len() > MAX_BRANCHES {
            continue;
        }
        for member in members {
            let own = SlotSet::of_range(member.slots.clone());
            if reads.intersects(&own) && !reads.is_subset(&own) {
                implied.extend(of_member(branches, &own));
            }
        }
    }
    conditions.append(&mut implied);
}

/// Drops the restrictions among conditions that are checked together with the ORs that imply them.
pub(in crate::optimize) fn drop_implied(conditions: &mut Vec<Expr>) {
    let ors = conditions.iter().filter(|condition| matches!(condition.kind, ExprKind::Or(_)));
    if ors.count() < 2 {
        return;
    }
    let mut at = 0;
    while at < conditions.len() {
        let others = conditions.iter().enumerate().filter(|(other, _)| *other != at);
        match others.into_iter().any(|(_, other)| implies(other, &conditions[at])) {
            true => drop(conditions.remove(at)),
            false => at += 1,
        }
    }
}

/// Whether each branch of one OR has all conjuncts of the other's branch in its place.
fn implies(whole: &Expr, restriction: &Expr) -> bool {
    let (ExprKind::Or(whole), ExprKind::Or(parts)) = (&whole.kind, &restriction.kind) else {
        return false;
    };
    let operands = |branch: &Expr| match &branch.kind {
        ExprKind::And(operands) => operands.clone(),
        _ => vec![branch.clone()],
    };
    whole.len() == parts.len()
        && whole.iter().zip(parts).all(|(branch, part)| {
            let branch = operands(branch);
            operands(part).iter().all(|wanted| branch.iter().any(|has| has.same(wanted)))
        })
}

/// What the branches say of the member with these slots; nothing where one says nothing.
fn of_member(branches: &[Expr], own: &SlotSet) -> Option<Expr> {
    let restriction = |branch: &Expr| {
        let mut operands = Vec::new();
        conjuncts(branch.clone(), &mut operands);
        operands.retain(|operand| reads_only(operand, own));
        (!operands.is_empty()).then(|| all_of(operands))
    };
    let restrictions: Vec<Expr> = branches.iter().map(restriction).collect::<Option<_>>()?;
    let nullable = restrictions.iter().any(|restriction| restriction.ty.nullable);
    Some(Expr { kind: ExprKind::Or(restrictions), ty: ExprType::bool(nullable) })
}

/// Whether the condition reads slots of `own` and nothing else, and has no subquery, which would
/// run twice.
fn reads_only(condition: &Expr, own: &SlotSet) -> bool {
    let mut subquery = false;
    condition.walk(&mut |node| subquery |= matches!(node.kind, ExprKind::Subquery(_)));
    let reads = slots_of(condition).slots;
    !subquery && reads != SlotSet::default() && reads.is_subset(own) && is_stable(condition)
}
