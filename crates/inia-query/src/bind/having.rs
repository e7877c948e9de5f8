//! Conditions of HAVING that WHERE can check.
//!
//! `SELECT k, SUM(x) FROM t GROUP BY k HAVING k > 3 AND SUM(x) > 9` makes no groups of `k <= 3`
//! when `k > 3` is a condition of WHERE: it has one value for all rows of a group. Where nothing is
//! grouped, HAVING is a second WHERE.

use super::derived::is_same_for_equals;
use super::select::Clauses;
use crate::access::is_stable;
use inia_expr::{Expr, ExprKind, ExprType, SlotSet, conjuncts, slots_of};

/// Moves conditions of HAVING to WHERE, of a SELECT without ROLLUP.
pub(super) fn check_early(clauses: &mut Clauses) {
    let Some(having) = clauses.having.take() else { return };
    let grouped = !clauses.group.is_empty() || !clauses.aggregates.is_empty();
    let mut all = Vec::new();
    conjuncts(having, &mut all);
    let group = &clauses.group;
    let is_key = |expr: &Expr| group.iter().any(|key| key.same(expr));
    let (early, mut late): (Vec<Expr>, Vec<Expr>) = all.into_iter().partition(|condition| {
        let mut movable = is_stable(condition);
        condition.walk(&mut |node| movable &= !matches!(node.kind, ExprKind::Subquery(_)));
        movable
            && slots_of(condition).slots != SlotSet::default()
            && (!grouped || is_same_for_equals(condition, &is_key))
    });
    clauses.conditions.extend(early);
    clauses.having = match late.len() {
        0 => None,
        1 => late.pop(),
        _ => {
            let nullable = late.iter().any(|condition| condition.ty.nullable);
            Some(Expr { kind: ExprKind::And(late), ty: ExprType::bool(nullable) })
        }
    };
}
