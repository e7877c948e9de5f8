//! What holds for batches: each place reads slots that the batches there have.

use crate::plan::batches::{BatchKey, BatchNode, BatchPlan, BatchSlot, BatchSource, LoopRight};
use crate::plan::vector::{NumberOp, Program, VectorFilters};
use crate::plan::{JoinMethod, RowSource, SelectPlan};

/// Checks the batches of a SELECT.
pub(super) fn check(plan: &BatchPlan, select: &SelectPlan) {
    check_source(&plan.source, &select.source);
    check_filters(&plan.filters, select.filter.len(), &numbers(&plan.source.slots));
}

/// Checks that slots are among those `given`.
pub(super) fn check_slots(slots: &[usize], given: &[usize]) {
    let all = slots.iter().all(|slot| given.contains(slot));
    debug_assert!(all, "a slot that is read is in the batch: {slots:?} of {given:?}");
}

/// Checks that steps read slots that are given, and steps before them.
pub(super) fn check_program(program: &Program, given: &[usize]) {
    for (at, step) in program.steps.iter().enumerate() {
        match &step.op {
            NumberOp::Slot(slot) => check_slots(&[*slot], given),
            NumberOp::Constant(_) => {}
            NumberOp::Arith(_, left, right) => {
                debug_assert!(*left < at && *right < at, "operands are earlier steps");
            }
            NumberOp::Negate(inner)
            | NumberOp::Midnight(inner)
            | NumberOp::Field { of: inner, .. } => {
                debug_assert!(*inner < at, "an operand is an earlier step");
            }
            NumberOp::Case { whens, otherwise } => {
                let mut results =
                    whens.iter().filter_map(|(_, result)| result.as_ref()).chain(otherwise);
                debug_assert!(results.all(|result| *result < at), "results are earlier steps");
            }
            NumberOp::Evaluated { slots, .. } => check_slots(slots, given),
        }
    }
}

fn check_filters(filters: &VectorFilters, conditions: usize, given: &[usize]) {
    debug_assert_eq!(filters.filters.len(), conditions, "a filter is a condition's");
    check_program(&filters.program, given);
    filters.filters.iter().for_each(|filter| check_slots(&filter.slots, given));
}

fn numbers(slots: &[BatchSlot]) -> Vec<usize> {
    slots.iter().map(|slot| slot.slot).collect()
}

fn check_source(plan: &BatchSource, source: &RowSource) {
    match (&plan.node, source) {
        (BatchNode::Table(filters), RowSource::Table(table)) => {
            debug_assert!(table.lock.is_none(), "no row of a batch is locked");
            let needed = (0..table.needed.len()).filter(|&column| table.needed[column]);
            let columns: Vec<usize> = needed.map(|column| table.base + column).collect();
            check_filters(filters, table.filter.len(), &columns);
            check_slots(&numbers(&plan.slots), &columns);
        }
        (BatchNode::Hash(hash), RowSource::Join(join)) => {
            check_source(&hash.left, &join.left);
            check_source(&hash.right, &join.right);
            let (left, right) = (numbers(&hash.left.slots), numbers(&hash.right.slots));
            check_program(&hash.left_program, &left);
            check_program(&hash.right_program, &right);
            let JoinMethod::Hash(keys) = &join.method else {
                debug_assert!(false, "a hash join has keys");
                return;
            };
            debug_assert_eq!(hash.keys.len(), keys.len(), "a key is an equality's");
            for key in &hash.keys {
                match key {
                    BatchKey::Numbers { left, right, .. } => {
                        debug_assert!(*left < hash.left_program.steps.len(), "a step of the left");
                        debug_assert!(*right < hash.right_program.steps.len(), "one of the right");
                    }
                    BatchKey::Texts { left: l, right: r, .. } => {
                        check_slots(&[*l], &left);
                        check_slots(&[*r], &right);
                    }
                    BatchKey::Values { left: l, right: r } => {
                        check_slots(l, &left);
                        check_slots(r, &right);
                    }
                }
            }
            let both = [left, right].concat();
            check_filters(&hash.on, join.on.len(), &numbers(&hash.on_slots));
            check_slots(&numbers(&hash.on_slots), &both);
            check_slots(&numbers(&plan.slots), &both);
        }
        (BatchNode::Loop(looped), RowSource::Join(join)) => {
            check_source(&looped.left, &join.left);
            let left = numbers(&looped.left.slots);
            check_slots(&looped.bound, &left);
            let conditions = match (&join.right, looped.right) {
                (_, LoopRight::Rows) => 0,
                (RowSource::Table(table), _) => {
                    table.filter.len() + table.bound_filter.len() + join.on.len()
                }
                _ => join.on.len(),
            };
            check_filters(&looped.on, conditions, &numbers(&looped.on_slots));
            let both = [left, numbers(&looped.right_slots)].concat();
            check_slots(&numbers(&looped.on_slots), &both);
            check_slots(&numbers(&plan.slots), &both);
        }
        (BatchNode::Rows, _) => {}
        _ => debug_assert!(false, "batches are made as rows are"),
    }
}
