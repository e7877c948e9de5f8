//! Conditions of a SELECT that are checked inside its derived tables.
//!
//! - A condition of WHERE, of an inner join, or of the join whose right side the derived table is,
//!   moves into it when it reads nothing else.
//! - `s.c = c.id AND c.id = 7` says `s.c = 7` besides; a copy of that moves.
//! - In a SELECT it becomes a part of WHERE, where what it reads is there for each row: everything
//!   where rows are not grouped, keys of GROUP BY where they are, those of PARTITION BY where
//!   functions over windows are computed. In a set operation it moves into each operand.
//! - Above a grouping, DISTINCT and UNION it must hold alike for values that these hold equal.

use super::super::QueryBinder;
use super::super::from::BoundFrom;
use super::super::select::Clauses;
use super::{BoundBlock, BoundSelect, BoundSet, is_same_for_equals};
use crate::access::is_stable;
use crate::optimize::{FromTree, Leaf, LeafKind, is_natural, simplify};
use crate::plan::JoinType;
use inia_base::datatype::DataType;
use inia_expr::tree::Compare;
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet, conjuncts, slots_of};
use std::ops::Range;

/// Whether a condition reads these slots, nothing else, and no subquery.
fn is_about(condition: &Expr, slots: &Range<usize>) -> bool {
    let mut movable = is_stable(condition);
    condition.walk(&mut |node| movable &= !is_of_others(node));
    let reads = slots_of(condition).slots;
    movable && reads != SlotSet::default() && reads.is_subset(&SlotSet::of_range(slots.clone()))
}

/// Whether an expression is computed from more than a row of FROM.
fn is_of_others(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::OuterColumn { .. }
            | ExprKind::Subquery(_)
            | ExprKind::Aggregate(_)
            | ExprKind::Window(_)
            | ExprKind::InsertValue(_)
    )
}

/// The column that an expression is.
fn column(expr: &Expr) -> Option<usize> {
    match expr.kind {
        ExprKind::Column { index, .. } => Some(index),
        _ => None,
    }
}

impl BoundBlock {
    /// Whether a condition on its columns, the first of which is in slot `first`, can be checked
    /// inside.
    fn accepts(&self, condition: &Expr, first: usize) -> bool {
        match self {
            BoundBlock::Select(select) => select.accepts(condition, first),
            BoundBlock::Set(set) => set.accepts(condition, first),
        }
    }

    /// Adds a condition that it accepts; whether that is a new one.
    fn push(&mut self, condition: &Expr, first: usize) -> bool {
        match self {
            BoundBlock::Select(select) => select.push(condition, first),
            BoundBlock::Set(set) => {
                let push = |operand: &mut BoundBlock| operand.push(condition, first);
                set.operands.iter_mut().map(push).fold(false, |any, one| any | one)
            }
        }
    }
}

impl BoundSelect {
    fn item(&self, slot: usize, first: usize) -> Option<&Expr> {
        let item = self.clauses.items.get(slot.checked_sub(first)?)?;
        Some(&item.expr)
    }

    fn accepts(&self, condition: &Expr, first: usize) -> bool {
        let Clauses { group, windows, aggregates, .. } = &self.clauses;
        let grouped = !group.is_empty() || !aggregates.is_empty();
        let mut row_wise = true;
        let mut among_keys = true;
        condition.walk(&mut |node| {
            let Some(slot) = column(node) else { return };
            let Some(item) = self.item(slot, first) else { return row_wise = false };
            item.walk(&mut |part| row_wise &= !is_of_others(part));
            let is_key = |keys: &[Expr]| keys.iter().any(|key| key.same(item));
            among_keys &= !grouped || is_key(group);
            among_keys &= windows.iter().all(|window| is_key(&window.partition));
        });
        let merges = grouped || !windows.is_empty() || self.select.options.distinct;
        let is_column = |expr: &Expr| column(expr).is_some();
        row_wise && among_keys && (!merges || is_same_for_equals(condition, &is_column))
    }

    fn push(&mut self, condition: &Expr, first: usize) -> bool {
        let mut own = condition.clone();
        own.walk_mut(&mut |node| {
            if let Some(item) = column(node).and_then(|slot| self.item(slot, first)) {
                *node = item.clone();
            }
        });
        let known = &mut self.clauses.conditions;
        let before = known.len();
        let mut all = Vec::new();
        conjuncts(own, &mut all);
        for condition in all {
            if !known.iter().any(|other| other.same(&condition)) {
                known.push(condition);
            }
        }
        known.len() > before
    }
}

impl BoundSet {
    fn accepts(&self, condition: &Expr, first: usize) -> bool {
        let mut alike = true;
        condition.walk(&mut |node| {
            if let Some(slot) = column(node) {
                let at = slot.wrapping_sub(first);
                alike &= self.operands.iter().all(|operand| operand.has_type(at, &self.types));
            }
        });
        let is_column = |expr: &Expr| column(expr).is_some();
        alike
            && (self.all || is_same_for_equals(condition, &is_column))
            && self.operands.iter().all(|operand| operand.accepts(condition, first))
    }
}

impl BoundBlock {
    /// Whether values of a column are those of the set operation's column, without a conversion.
    fn has_type(&self, at: usize, types: &[inia_expr::ExprType]) -> bool {
        use DataType::{Int, VarChar};
        let own = match self {
            BoundBlock::Select(select) => select.clauses.items.get(at).map(|item| &item.expr.ty),
            BoundBlock::Set(set) => set.types.get(at),
        };
        let (Some(own), Some(common)) = (own, types.get(at)) else { return false };
        match (&own.data_type, &common.data_type) {
            (Int { unsigned: a, .. }, Int { unsigned: b, .. }) => a == b,
            (VarChar { collation: a, .. }, VarChar { collation: b, .. }) => a == b,
            (DataType::Decimal { .. }, _) => false,
            (own, common) => own == common,
        }
    }
}

/// The condition on column `to` that an equality with the column of `about` makes of it; `about`
/// compares that column with constants.
fn carried(about: &Expr, equal: &Compare, slots: &Range<usize>) -> Option<Expr> {
    let (l, r) = (column(&equal.left)?, column(&equal.right)?);
    let (to, from) = match (slots.contains(&l), slots.contains(&r)) {
        (true, false) => (&equal.left, r),
        (false, true) => (&equal.right, l),
        _ => return None,
    };
    if !is_natural(&equal.left, &equal.class) || !is_natural(&equal.right, &equal.class) {
        return None;
    }
    let ExprKind::Compare(compare) = &about.kind else { return None };
    let constant = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_));
    let is_from = |expr: &Expr| column(expr) == Some(from);
    let fits = compare.op != CmpOp::NullSafeEq
        && compare.class == equal.class
        && is_natural(&compare.left, &equal.class)
        && is_natural(&compare.right, &equal.class)
        && (is_from(&compare.left) && constant(&compare.right)
            || is_from(&compare.right) && constant(&compare.left));
    if !fits {
        return None;
    }
    let mut made = about.clone();
    made.walk_mut(&mut |node| {
        if is_from(node) {
            *node = to.clone();
        }
    });
    Some(made)
}

/// Derived tables that were given conditions.
type Changed = Vec<usize>;

impl QueryBinder<'_> {
    /// Moves conditions into the SELECT's derived tables, and leaves out what is not read of them.
    pub(in crate::bind) fn push_down(&mut self, from: &mut BoundFrom, clauses: &mut Clauses) {
        let Some(tree) = &mut from.tree else { return };
        if self.blocks.is_empty() || !self.has_block(tree) {
            return;
        }
        let mut changed = Vec::new();
        if self.pushes_into_any(tree) {
            simplify(tree, &clauses.conditions);
            self.carry(tree, &clauses.conditions, &mut changed);
            self.push_conditions(tree, &mut clauses.conditions, &mut changed);
        }
        self.drop_orders(tree, clauses, &mut changed);
        let needed = self.needed_of(tree, clauses);
        self.leave_out(tree, &needed, &mut changed);
        for id in changed {
            let Some(mut block) = self.blocks.remove(&id) else { continue };
            if let Some(mut subplan) = self.subplans[id].take() {
                self.plan_again(&mut subplan.query, &mut block);
                self.subplans[id] = Some(subplan);
            }
            self.blocks.insert(id, block);
        }
        let Some(tree) = &mut from.tree else { return };
        self.expect_again(tree);
    }

    fn has_block(&self, tree: &FromTree) -> bool {
        match tree {
            FromTree::Leaf(leaf) => self.block_of(leaf).is_some(),
            FromTree::Join(join) => self.has_block(&join.left) || self.has_block(&join.right),
        }
    }

    /// The number of a member's bound form.
    pub(super) fn block_of(&self, leaf: &Leaf) -> Option<usize> {
        match leaf.kind {
            LeafKind::Subplan { id, lateral: false, .. } => {
                self.blocks.contains_key(&id).then_some(id)
            }
            _ => None,
        }
    }

    /// The number of a member's bound form, where conditions may be moved into it.
    fn pushes_into(&self, leaf: &Leaf) -> Option<usize> {
        let said = leaf.hints.push_down;
        let on = || said.unwrap_or_else(|| self.switched_on("derived_condition_pushdown"));
        self.block_of(leaf).filter(|_| on())
    }

    fn pushes_into_any(&self, tree: &FromTree) -> bool {
        match tree {
            FromTree::Leaf(leaf) => self.pushes_into(leaf).is_some(),
            FromTree::Join(join) => {
                self.pushes_into_any(&join.left) || self.pushes_into_any(&join.right)
            }
        }
    }

    /// Moves those of the conditions on the tree's rows that are about one derived table.
    fn push_conditions(
        &mut self,
        tree: &mut FromTree,
        conditions: &mut Vec<Expr>,
        changed: &mut Changed,
    ) {
        match tree {
            FromTree::Leaf(leaf) => {
                let Some(id) = self.pushes_into(leaf) else { return };
                let Some(block) = self.blocks.get_mut(&id) else { return };
                let first = leaf.slots.start;
                let fits = |c: &mut Expr| is_about(c, &leaf.slots) && block.accepts(c, first);
                let pushed: Vec<Expr> = conditions.extract_if(.., fits).collect();
                for condition in &pushed {
                    note(changed, id, block.push(condition, first));
                }
            }
            FromTree::Join(join) => {
                self.push_conditions(&mut join.left, conditions, changed);
                if join.kind == JoinType::Inner {
                    self.push_conditions(&mut join.right, conditions, changed);
                    self.push_conditions(&mut join.left, &mut join.on, changed);
                }
                self.push_conditions(&mut join.right, &mut join.on, changed);
            }
        }
    }

    /// Adds conditions that follow by equalities from `known` ones, which hold for all rows of the
    /// tree that are wanted.
    fn carry(&mut self, tree: &FromTree, known: &[Expr], changed: &mut Changed) {
        match tree {
            FromTree::Leaf(leaf) => {
                let Some(id) = self.pushes_into(leaf) else { return };
                let Some(block) = self.blocks.get_mut(&id) else { return };
                for equal in known.iter().filter_map(equality) {
                    for about in known {
                        let Some(made) = carried(about, equal, &leaf.slots) else { continue };
                        if block.accepts(&made, leaf.slots.start) {
                            note(changed, id, block.push(&made, leaf.slots.start));
                        }
                    }
                }
            }
            FromTree::Join(join) => {
                let all: Vec<Expr> = known.iter().chain(&join.on).cloned().collect();
                let left = if join.kind == JoinType::Inner { &all } else { known };
                self.carry(&join.left, left, changed);
                self.carry(&join.right, &all, changed);
            }
        }
    }

    /// Estimates anew how many rows the derived tables have.
    fn expect_again(&self, tree: &mut FromTree) {
        match tree {
            FromTree::Leaf(leaf) => {
                if let Some(id) = self.block_of(leaf)
                    && let LeafKind::Subplan { rows, .. } = &mut leaf.kind
                {
                    *rows = self.subplan_rows(id);
                }
            }
            FromTree::Join(join) => {
                self.expect_again(&mut join.left);
                self.expect_again(&mut join.right);
            }
        }
    }
}

fn equality(condition: &Expr) -> Option<&Compare> {
    match &condition.kind {
        ExprKind::Compare(compare) if compare.op == CmpOp::Eq => Some(compare),
        _ => None,
    }
}

/// Notes a derived table that is to be planned again.
pub(super) fn note(changed: &mut Changed, id: usize, is_changed: bool) {
    if is_changed && !changed.contains(&id) {
        changed.push(id);
    }
}
