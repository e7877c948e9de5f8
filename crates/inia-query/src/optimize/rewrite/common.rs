//! Conjuncts that all branches of an OR share are taken out of it.
//!
//! `(a.id = b.id AND a.x = 1) OR (a.id = b.id AND b.y = 2)` becomes
//! `a.id = b.id AND (a.x = 1 OR b.y = 2)`, whose first conjunct is a join's key. Where a branch
//! consists of the shared conjuncts alone, the OR is those conjuncts. Both hold for NULL as well:
//! AND distributes over OR, and absorbs it, in three-valued logic.

use super::all_of;
use crate::access::is_stable;
use inia_expr::{Expr, ExprKind, conjuncts};

/// Takes shared conjuncts out of each OR of the list.
pub(super) fn take_out(conditions: &mut Vec<Expr>) {
    for condition in std::mem::take(conditions) {
        factor(condition, conditions);
    }
}

/// Adds the condition to `list`, factored.
fn factor(condition: Expr, list: &mut Vec<Expr>) {
    let Expr { kind: ExprKind::Or(items), ty } = condition else { return list.push(condition) };
    let mut branches = Vec::with_capacity(items.len());
    disjuncts(items, &mut branches);
    let (first, others) = branches.split_first().expect("an OR has operands");
    let shared = |ours: &&Expr| {
        is_stable(ours) && others.iter().all(|branch| branch.iter().any(|theirs| theirs.same(ours)))
    };
    let common: Vec<Expr> = first.iter().filter(shared).cloned().collect();
    for branch in &mut branches {
        branch.retain(|conjunct| !common.iter().any(|shared| shared.same(conjunct)));
    }
    list.extend(common);
    if !branches.iter().any(Vec::is_empty) {
        list.push(Expr { kind: ExprKind::Or(branches.into_iter().map(all_of).collect()), ty });
    }
}

/// The conjuncts of each branch of nested ORs.
fn disjuncts(items: Vec<Expr>, branches: &mut Vec<Vec<Expr>>) {
    for item in items {
        if let ExprKind::Or(inner) = item.kind {
            disjuncts(inner, branches);
            continue;
        }
        let (mut operands, mut branch) = (Vec::new(), Vec::new());
        conjuncts(item, &mut operands);
        operands.into_iter().for_each(|operand| factor(operand, &mut branch));
        branches.push(branch);
    }
}
