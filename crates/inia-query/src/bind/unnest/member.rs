//! IN over rows that are the same for all rows around, as an inner join with the distinct ones.
//!
//! A semi join reads its left side first. `SELECT … FROM o WHERE o.id IN (SELECT k FROM l GROUP BY
//! k HAVING SUM(q) > 300)` with few such groups is cheaper the other way round: each value of `k`
//! finds its row of `o` by the primary key. Once the subquery's rows are distinct an inner join
//! gives each row of `o` once at most, and the join search chooses which side comes first.
//!
//! Values are distinct exactly where IN holds them different: the comparison's class is that of the
//! subquery's own columns. NULL is equal to nothing in both.

use super::super::QueryBinder;
use super::super::from::BoundFrom;
use super::super::nesting::MAX_TABLES;
use super::super::select::Clauses;
use super::{Tested, is_movable};
use crate::optimize::{FromTree, Leaf, LeafHints, LeafKind, group_strategy, is_natural};
use crate::plan::{Aggregation, Body, JoinType, QueryPlan, RowSource, SelectPlan};
use inia_expr::compare::{CmpClass, hashable};
use inia_expr::tree::{Compare, RowLookup, SubqueryKind};
use inia_expr::{CmpOp, Expr, ExprKind, ExprType, SlotSet, slots_of};
use std::ops::Range;

/// `left IN (subquery)` where the subquery reads no row around it.
pub(in crate::bind) struct Membership {
    /// The subquery's number.
    pub(super) id: usize,
    left: Vec<Expr>,
    classes: Vec<CmpClass>,
    /// The slots of the semi join's right side that it has become; `None` where it is a condition.
    joined: Option<Range<usize>>,
}

impl Membership {
    /// The one that a condition is.
    pub(super) fn of_condition(condition: &Expr) -> Option<Membership> {
        let tested = Tested::of(condition).filter(|tested| !tested.negated)?;
        let SubqueryKind::Quantified { left, classes, lookup, .. } = &tested.sub.kind else {
            return None;
        };
        let reads_row = |expr: &Expr| slots_of(expr).slots != SlotSet::default();
        let fits = left.len() == classes.len()
            && left.iter().all(is_movable)
            && left.iter().any(reads_row);
        let kept = *lookup == RowLookup::HashTable && !tested.sub.correlated;
        let (left, classes, id) = (left.clone(), classes.clone(), tested.sub.id);
        (fits && kept).then_some(Membership { id, left, classes, joined: None })
    }

    /// The one that a condition was which has become a semi join.
    pub(super) fn of_join(condition: &Expr, right: &FromTree) -> Option<Membership> {
        let joined = Some(right.slot_range());
        Membership::of_condition(condition).map(|found| Membership { joined, ..found })
    }
}

impl QueryBinder<'_> {
    /// Joins the rows of a subquery as if they were distinct.
    pub(super) fn join_members(
        &mut self,
        members: &Membership,
        from: &mut BoundFrom,
        clauses: &mut Clauses,
    ) -> bool {
        let subplan = self.subplans[members.id].as_ref().filter(|_| from.tables < MAX_TABLES);
        let Some(subplan) = subplan.filter(|subplan| can_be_distinct(&subplan.query)) else {
            return false;
        };
        let slots = from.width..from.width + members.left.len();
        let mut on = Vec::with_capacity(members.left.len());
        let columns = slots.clone().zip(&subplan.query.columns);
        let sides = members.left.iter().zip(&members.classes);
        for ((slot, column), (left, class)) in columns.zip(sides) {
            let name = format!("<subquery {}>.{}", members.id + 2, column.result.name);
            let right = Expr::column(slot, column.ty.clone(), name);
            if !is_natural(&right, class) || !hashable(class, &left.ty, &right.ty) {
                return false;
            }
            let ty = ExprType::bool(left.ty.nullable || right.ty.nullable);
            let (op, class, left) = (CmpOp::Eq, class.clone(), left.clone());
            let kind = ExprKind::Compare(Box::new(Compare { op, class, left, right }));
            on.push(Expr { kind, ty });
        }
        let (id, level, rows) = (members.id, self.levels.len(), self.subplan_rows(members.id));
        let kind = LeafKind::Subplan { id, lateral: false, level, rows, unnested: true };
        let (alias, hints) = (format!("<subquery {}>", id + 2), LeafHints::default());
        let leaf = Leaf { slots: slots.clone(), alias, kind, hints };
        match &members.joined {
            None => {
                let other = |c: &Expr| Tested::of(c).is_none_or(|tested| tested.sub.id != id);
                clauses.conditions.retain(other);
                from.join(JoinType::Inner, leaf, on);
            }
            Some(joined) => {
                let Some(tree) = &mut from.tree else { return false };
                let mut leaf = Some((leaf, on));
                replace(tree, joined, &mut leaf);
                if leaf.is_some() {
                    return false;
                }
            }
        }
        (from.width, from.tables) = (slots.end, from.tables + 1);
        true
    }

    /// Whether MySQL reads the subquery's rows first, each of which finds its row of a small table
    /// by a unique key, or reads the table and looks its rows up; `None` where it may do otherwise.
    pub(super) fn scans_members(&self, members: &Membership, from: &BoundFrom) -> Option<bool> {
        let leaf = match from.tree.as_ref()? {
            FromTree::Leaf(leaf) => leaf,
            FromTree::Join(join) if join.kind == JoinType::Semi => match &join.left {
                FromTree::Leaf(leaf) => leaf,
                FromTree::Join(_) => return None,
            },
            FromTree::Join(_) => return None,
        };
        let LeafKind::Table { table, .. } = &leaf.kind else { return None };
        let [Expr { kind: ExprKind::Column { index, .. }, .. }] = &members.left[..] else {
            return None;
        };
        let column = index.checked_sub(leaf.slots.start)?;
        let mut indexes = table.def.indexes.iter();
        let by_key = indexes.any(|index| {
            index.unique() && index.parts.len() == 1 && index.parts[0].column == column
        });
        let query = &self.subplans[members.id].as_ref()?.query;
        if !table.is_small() || !by_key || finds_by_index(query) {
            return None;
        }
        let (rows, found) = (table.rows() as f64, self.subplan_rows(members.id));
        Some(found * (ROW + LOOKUP) < PAGE + 2.0 * rows * ROW)
    }

    /// Makes a subquery's rows distinct.
    pub(super) fn make_distinct(&mut self, members: &Membership) {
        if let Some(subplan) = &mut self.subplans[members.id] {
            make_distinct(&mut subplan.query);
        }
    }
}

/// MySQL's costs of a page, of a row that is read from memory, and of a lookup by a unique key.
const PAGE: f64 = 0.25;
const ROW: f64 = 0.1;
const LOOKUP: f64 = 0.35;

/// Whether an index finds the rows of the subquery with one value of its first column.
fn finds_by_index(query: &QueryPlan) -> bool {
    let Body::Select(select) = &query.body else { return false };
    let RowSource::Table(source) = &select.source else { return false };
    let ExprKind::Column { index: slot, .. } = select.output[0].kind else { return false };
    let column = slot.checked_sub(source.base);
    source.table.def.indexes.iter().any(|index| Some(index.parts[0].column) == column)
}

/// Puts a derived table in the place of a semi join's right side.
fn replace(tree: &mut FromTree, joined: &Range<usize>, leaf: &mut Option<(Leaf, Vec<Expr>)>) {
    let FromTree::Join(join) = tree else { return };
    if join.kind == JoinType::Semi && join.right.slot_range() == *joined {
        if let Some((leaf, on)) = leaf.take() {
            (join.kind, join.right, join.on) = (JoinType::Inner, FromTree::Leaf(leaf), on);
        }
        return;
    }
    replace(&mut join.left, joined, leaf);
}

/// Whether a query's rows can be made distinct, and none of them is locked.
fn can_be_distinct(query: &QueryPlan) -> bool {
    let body = match &query.body {
        Body::Select(select) => !locks(&select.source),
        Body::SetOperation(set) => {
            let unlocked = |body: &Body| match body {
                Body::Select(select) => !locks(&select.source),
                _ => false,
            };
            unlocked(&set.first) && set.rest.iter().all(|step| !step.all && unlocked(&step.body))
        }
        Body::Nested(inner) => can_be_distinct(inner),
        Body::Values(_) => false,
    };
    body && query.limit.is_none()
}

/// Whether reading a source locks rows.
fn locks(source: &RowSource) -> bool {
    match source {
        RowSource::Table(table) => table.lock.is_some(),
        RowSource::Join(join) => locks(&join.left) || locks(&join.right),
        _ => false,
    }
}

fn make_distinct(query: &mut QueryPlan) {
    match &mut query.body {
        Body::Select(select) => {
            if !is_distinct(select) {
                select.distinct = true;
                let strategy = group_strategy(select);
                if let (Some(aggregation), Some(strategy)) = (&mut select.aggregation, strategy) {
                    aggregation.strategy = strategy;
                }
            }
        }
        Body::Nested(inner) => make_distinct(inner),
        Body::SetOperation(_) | Body::Values(_) => {}
    }
}

/// Whether its rows are groups that the select list identifies.
fn is_distinct(select: &SelectPlan) -> bool {
    let selects = |key: &Expr| select.output[..select.visible].iter().any(|item| item.same(key));
    let identified = |groups: &Aggregation| !groups.rollup && groups.group.iter().all(selects);
    select.distinct || select.aggregation.as_ref().is_some_and(identified)
}
