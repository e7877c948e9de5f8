//! Comparisons of kept columns with constants, while the columns stay packed.
//!
//! A kept column has for each row what its number is above the segment's least one. A constant is
//! moved instead of the numbers, and bytes are compared with a byte:
//!
//! ```text
//!   l_quantity < 24       kept: 1 + [16, 35, 7, ..]       [16, 35, 7, ..] < 23
//! ```
//!
//! A column that conditions read in no other way is not unpacked for them at all.

use super::conditions::Truth;
use super::kept::{KeptPart, KeptRows};
use super::numbers::{Numbers, Values};
use super::program::Execution;
use crate::columns::CachedColumn;
use crate::plan::vector::{NumberKind, NumberOp, Program, VectorCondition, VectorFilter};
use inia_expr::tree::CmpOp;

/// A comparison of a slot with a constant that has as many digits after the point.
#[derive(Clone, Copy)]
pub(super) struct SlotComparison {
    pub(super) slot: usize,
    pub(super) op: CmpOp,
    pub(super) constant: i128,
}

impl Execution<'_> {
    /// The comparison of two steps as one of a slot with a constant that is not NULL, if it is one.
    pub(super) fn slot_comparison(
        &self,
        op: CmpOp,
        left: usize,
        right: usize,
    ) -> Option<SlotComparison> {
        let steps = &self.program.steps;
        let (op, slot, constant) = match (&steps[left].op, &steps[right].op) {
            (NumberOp::Slot(_), NumberOp::Constant(_)) => (op, left, right),
            (NumberOp::Constant(_), NumberOp::Slot(_)) => (op.swapped(), right, left),
            _ => return None,
        };
        let digits = self.kind(slot).scale().checked_sub(self.kind(constant).scale())?;
        let NumberOp::Slot(slot) = steps[slot].op else { return None };
        let constant: &Numbers = self.constants[constant].as_deref()?;
        let Values::One(number) = constant.values else { return None };
        if !constant.nulls.is_empty() {
            return None;
        }
        let constant = number.checked_mul(10i128.checked_pow(digits.into())?)?;
        Some(SlotComparison { slot, op, constant })
    }

    /// The slots of which the conditions want nothing but such comparisons. `kind_of` says what
    /// the numbers of a slot are in its table.
    pub(super) fn slots_compared_only(
        &self,
        filters: &[VectorFilter],
        kind_of: &dyn Fn(usize) -> Option<NumberKind>,
    ) -> Vec<usize> {
        let mut read = vec![false; self.program.steps.len()];
        note_operands(self.program, &mut read);
        let conditions = filters.iter().filter_map(|filter| filter.vector.as_ref());
        conditions.for_each(|condition| {
            note_read(condition, &mut read, &|op, left, right| {
                self.slot_comparison(op, left, right).is_some()
            });
        });
        let steps = self.program.steps.iter().zip(read).filter(|(_, read)| !read);
        let slots = steps.filter_map(|(step, _)| match step.op {
            NumberOp::Slot(slot) if kind_of(slot) == Some(step.kind) => Some(slot),
            _ => None,
        });
        slots.collect()
    }
}

/// Notes the steps that other steps are computed from.
fn note_operands(program: &Program, read: &mut [bool]) {
    let mut note = |step: usize| read[step] = true;
    for step in &program.steps {
        match &step.op {
            NumberOp::Slot(_) | NumberOp::Constant(_) | NumberOp::Evaluated { .. } => {}
            NumberOp::Arith(_, left, right) => [*left, *right].into_iter().for_each(&mut note),
            NumberOp::Negate(of) | NumberOp::Field { of, .. } | NumberOp::Midnight(of) => note(*of),
            NumberOp::Case { whens, otherwise } => {
                let results = whens.iter().filter_map(|(_, result)| *result).chain(*otherwise);
                results.for_each(&mut note);
            }
        }
    }
    for step in &program.steps {
        if let NumberOp::Case { whens, .. } = &step.op {
            whens.iter().for_each(|(when, _)| note_read(when, read, &|_, _, _| false));
        }
    }
}

/// Notes the steps that a condition reads but in comparisons that `is_packed` takes.
fn note_read(
    condition: &VectorCondition,
    read: &mut [bool],
    is_packed: &dyn Fn(CmpOp, usize, usize) -> bool,
) {
    match condition {
        VectorCondition::Compare(op, left, right) => {
            if !is_packed(*op, *left, *right) {
                read[*left] = true;
                read[*right] = true;
            }
        }
        VectorCondition::IsNull(step, _) => read[*step] = true,
        VectorCondition::And(all) | VectorCondition::Or(all) => {
            all.iter().for_each(|one| note_read(one, read, is_packed));
        }
        VectorCondition::Not(inner) => note_read(inner, read, is_packed),
        VectorCondition::Text { .. } | VectorCondition::Like(..) | VectorCondition::NoText(..) => {}
    }
}

impl KeptRows {
    /// The truth of a comparison for each row; `None` where the column has texts.
    pub(super) fn compare(&self, column: usize, comparison: SlotComparison) -> Option<Vec<Truth>> {
        let mut truth = Vec::with_capacity(self.rows());
        let SlotComparison { op, constant, .. } = comparison;
        for KeptPart { start, column, rows } in self.parts(column) {
            let CachedColumn::Numbers(numbers) = column else { return None };
            numbers.compare(rows.clone(), (op, constant), Truth::of, &mut truth);
            let nulls = truth[start..].iter_mut().zip(numbers.nulls_of(rows));
            nulls.filter(|(_, null)| **null).for_each(|(truth, _)| *truth = Truth::Null);
        }
        Some(truth)
    }
}
