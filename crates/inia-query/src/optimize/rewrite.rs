//! Conditions are rewritten before joins are ordered, each by a rule of its own.
//!
//! Every rule gives conditions that are true for the same rows of the join. A rule may give a
//! condition that others imply already, where that condition can be checked earlier.

mod common;
mod restrict;
mod unique;

pub(super) use restrict::drop_implied;
pub(super) use unique::join_unique;
pub(crate) use unique::matches_once;

use super::{FromTree, Leaf};
use crate::plan::JoinType;
use inia_expr::{Expr, ExprKind, ExprType};

/// Rewrites WHERE's conditions and those of each join's ON.
pub(super) fn rewrite(tree: &mut FromTree, conditions: &mut Vec<Expr>) {
    rewrite_on(tree);
    let mut members = Vec::new();
    leaves(tree, &mut members);
    rewrite_list(conditions, &members);
}

fn rewrite_on(tree: &mut FromTree) {
    let FromTree::Join(join) = tree else { return };
    rewrite_on(&mut join.left);
    rewrite_on(&mut join.right);
    // The condition of an outer join or an anti join leaves out no row of the left side.
    let mut members = Vec::new();
    if matches!(join.kind, JoinType::Inner | JoinType::Semi) {
        leaves(&join.left, &mut members);
    }
    leaves(&join.right, &mut members);
    rewrite_list(&mut join.on, &members);
}

/// Rewrites one list of conjuncts, of which restrictions may be checked at these members.
fn rewrite_list(conditions: &mut Vec<Expr>, members: &[&Leaf]) {
    if conditions.iter().any(|condition| matches!(condition.kind, ExprKind::Or(_))) {
        common::take_out(conditions);
        restrict::restrict(conditions, members);
    }
}

fn leaves<'t>(tree: &'t FromTree, list: &mut Vec<&'t Leaf>) {
    match tree {
        FromTree::Leaf(leaf) => list.push(leaf),
        FromTree::Join(join) => {
            leaves(&join.left, list);
            leaves(&join.right, list);
        }
    }
}

/// The conjunction of conditions; there is at least one.
fn all_of(mut conditions: Vec<Expr>) -> Expr {
    debug_assert!(!conditions.is_empty(), "a branch has conjuncts");
    match conditions.len() {
        1 => conditions.remove(0),
        _ => {
            let nullable = conditions.iter().any(|condition| condition.ty.nullable);
            Expr { kind: ExprKind::And(conditions), ty: ExprType::bool(nullable) }
        }
    }
}
