//! What a SELECT says without need is left out of its plan.
//!
//! - DISTINCT where the select list determines the row, or the group.
//! - Keys of GROUP BY and ORDER BY that the other keys, or those before them, determine.
//! - Left joins with a unique key of a table of which nothing else is read: every left row comes
//!   out once whatever the table holds.

use super::QueryBinder;
use super::dependent::Dependencies;
use super::from::BoundFrom;
use super::select::Clauses;
use crate::access::is_stable;
use crate::optimize::{FromJoin, FromTree, matches_once};
use crate::plan::JoinType;
use inia_expr::{Expr, ExprKind, SlotSet, slots_of};
use inia_parser::ast;

/// The column that an expression is.
fn column(expr: &Expr) -> Option<usize> {
    match expr.kind {
        ExprKind::Column { index, .. } => Some(index),
        _ => None,
    }
}

impl QueryBinder<'_> {
    /// Reduces a SELECT; whether its rows must be made distinct.
    pub(super) fn reduce(
        &self,
        select: &ast::Select,
        from: &mut BoundFrom,
        clauses: &mut Clauses,
    ) -> bool {
        let distinct = select.options.distinct;
        if let Some(FromTree::Join(join)) = &from.tree
            && has_left(join)
        {
            let read = self.needed(&clauses.output(), clauses, None);
            from.tree = from.tree.take().map(|tree| without_unread(tree, &read));
        }
        let keys = clauses.group.len() > 1 || clauses.sorts();
        let Some(tree) = from.tree.as_ref().filter(|_| !select.rollup && (keys || distinct)) else {
            return distinct;
        };
        let dependencies = Dependencies::of(tree, &clauses.conditions);
        let distinct = distinct && !is_distinct(clauses, &dependencies);
        reduce_group(&mut clauses.group, &dependencies);
        clauses.reduce_order(|expr, before| {
            let columns = before.iter().filter_map(|before| column(before));
            column(expr).is_some_and(|slot| dependencies.determined_by(columns).contains(slot))
        });
        distinct
    }
}

/// Whether the rows of the select list differ.
pub(super) fn is_distinct(clauses: &Clauses, dependencies: &Dependencies) -> bool {
    let items = || clauses.items.iter().map(|item| &item.expr);
    if !clauses.windows.is_empty() {
        return false;
    }
    if clauses.group.is_empty() && clauses.aggregates.is_empty() {
        return dependencies.determine_rows(items().filter_map(column));
    }
    clauses.group.iter().all(|key| items().any(|item| item.same(key)))
}

/// Drops keys that the other ones determine, all but one.
fn reduce_group(group: &mut Vec<Expr>, dependencies: &Dependencies) {
    let mut at = 0;
    while at < group.len() && group.len() > 1 {
        let others = group.iter().enumerate().filter(|(other, _)| *other != at);
        let others = others.filter_map(|(_, key)| column(key));
        let known = dependencies.determined_by(others);
        match column(&group[at]).is_some_and(|slot| known.contains(slot)) {
            true => drop(group.remove(at)),
            false => at += 1,
        }
    }
}

fn has_left(join: &FromJoin) -> bool {
    let inside = |tree: &FromTree| matches!(tree, FromTree::Join(join) if has_left(join));
    join.kind == JoinType::Left || inside(&join.left) || inside(&join.right)
}

/// A tree without the left joins that change nothing, where slots of `read` are read outside.
fn without_unread(tree: FromTree, read: &SlotSet) -> FromTree {
    let FromTree::Join(mut join) = tree else { return tree };
    if join.kind == JoinType::Left
        && let FromTree::Leaf(leaf) = &join.right
        && !SlotSet::of_range(leaf.slots.clone()).intersects(read)
        && join.on.iter().all(is_plain)
        && matches_once(leaf, &join.on)
    {
        return without_unread(join.left, read);
    }
    let mut here = read.clone();
    join.on.iter().for_each(|condition| here = here.union(&slots_of(condition).slots));
    let (left, right) = (here.union(&reads(&join.right)), here.union(&reads(&join.left)));
    join.left = without_unread(join.left, &left);
    join.right = without_unread(join.right, &right);
    FromTree::Join(join)
}

/// The slots that the tree's own conditions and documents read.
fn reads(tree: &FromTree) -> SlotSet {
    let mut read = SlotSet::default();
    tree.for_each_expr(&mut |expr| read = read.union(&slots_of(expr).slots));
    read
}

/// Whether nothing is missed when a condition is not evaluated.
fn is_plain(condition: &Expr) -> bool {
    let mut plain = is_stable(condition);
    condition.walk(&mut |node| plain &= !matches!(node.kind, ExprKind::Subquery(_)));
    plain
}
