//! Columns of derived tables that nothing reads are not computed.
//!
//! Their place in the row stays, with NULL in it. Only what can neither fail nor warn is left out:
//! columns, and aggregates of numbers that are columns.

use super::super::QueryBinder;
use super::super::select::Clauses;
use super::push::note;
use super::{BoundBlock, BoundSelect};
use crate::optimize::FromTree;
use inia_base::value::Value;
use inia_expr::{Aggregate, Expr, ExprKind, SlotSet, TypeClass};
use inia_parser::ast::AggregateFunc;

impl QueryBinder<'_> {
    /// Every slot that something of a SELECT reads.
    pub(super) fn needed_of(&self, tree: &FromTree, clauses: &Clauses) -> SlotSet {
        self.needed(&clauses.output(), clauses, Some(tree))
    }

    /// Leaves out what is not `needed` of the tree's derived tables.
    pub(super) fn leave_out(
        &mut self,
        tree: &FromTree,
        needed: &SlotSet,
        changed: &mut Vec<usize>,
    ) {
        match tree {
            FromTree::Leaf(leaf) => {
                let Some(id) = self.block_of(leaf) else { return };
                let Some(block) = self.blocks.get_mut(&id) else { return };
                let unread = leaf.slots.clone().filter(|slot| !needed.contains(*slot));
                let columns: Vec<usize> = unread.map(|slot| slot - leaf.slots.start).collect();
                note(changed, id, block.leave_out(&columns));
            }
            FromTree::Join(join) => {
                self.leave_out(&join.left, needed, changed);
                self.leave_out(&join.right, needed, changed);
            }
        }
    }
}

impl BoundBlock {
    /// Leaves out columns; whether anything has changed.
    fn leave_out(&mut self, columns: &[usize]) -> bool {
        match self {
            BoundBlock::Select(select) => select.leave_out(columns),
            // Rows that differ in nothing but an unread column are distinct all the same.
            BoundBlock::Set(set) if !set.all => false,
            BoundBlock::Set(set) => {
                let left_out = |operand: &mut BoundBlock| operand.leave_out(columns);
                set.operands.iter_mut().map(left_out).fold(false, |any, one| any | one)
            }
        }
    }
}

impl BoundSelect {
    fn leave_out(&mut self, columns: &[usize]) -> bool {
        if self.select.options.distinct {
            return false;
        }
        let mut changed = false;
        for &column in columns {
            if self.clauses.sorts_by(column) {
                continue;
            }
            let calls = &self.clauses.aggregates;
            let Some(item) = self.clauses.items.get_mut(column) else { continue };
            if is_quiet(&item.expr, calls) {
                item.expr.kind = ExprKind::Literal(Value::Null);
                item.expr.ty.nullable = true;
                changed = true;
            }
        }
        if changed {
            drop_unread_calls(&mut self.clauses);
        }
        changed
    }
}

/// Whether nothing is missed when an expression is not evaluated.
fn is_quiet(expr: &Expr, calls: &[Aggregate]) -> bool {
    match expr.kind {
        ExprKind::Column { .. } => true,
        ExprKind::Aggregate(number) => calls.get(number).is_some_and(is_quiet_call),
        _ => false,
    }
}

fn is_quiet_call(call: &Aggregate) -> bool {
    use AggregateFunc::{Avg, Count, CountStar, Max, Min, Sum};
    let is_column = |arg: &Expr| matches!(arg.kind, ExprKind::Column { .. });
    let is_number = |arg: &Expr| matches!(arg.ty.class(), TypeClass::Int | TypeClass::Decimal);
    let columns = call.args.iter().all(is_column);
    match call.func {
        CountStar => true,
        Count | Min | Max => columns,
        Sum | Avg => columns && call.args.iter().all(is_number),
        _ => false,
    }
}

/// Drops aggregates that no expression reads any more. One stays where they alone make a group.
fn drop_unread_calls(clauses: &mut Clauses) {
    let mut read = vec![false; clauses.aggregates.len()];
    clauses.for_each_expr_mut(&mut |expr| {
        expr.walk(&mut |node| {
            if let ExprKind::Aggregate(number) = node.kind {
                read[number] = true;
            }
        });
    });
    if clauses.group.is_empty()
        && !read.contains(&true)
        && let Some(first) = read.first_mut()
    {
        *first = true;
    }
    let kept = |number: usize| read[..number].iter().filter(|read| **read).count();
    clauses.for_each_expr_mut(&mut |expr| {
        expr.walk_mut(&mut |node| {
            if let ExprKind::Aggregate(number) = &mut node.kind {
                *number = kept(*number);
            }
        });
    });
    let mut number = 0;
    clauses.aggregates.retain(|_| {
        number += 1;
        read[number - 1]
    });
}
