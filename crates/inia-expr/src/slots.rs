//! Conditions as lists of conjuncts, and the slots they read.

use crate::{CmpOp, Expr, ExprKind};
use std::ops::Range;

/// A set of slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotSet {
    words: Vec<u64>,
}

impl SlotSet {
    /// All slots of a range.
    pub fn of_range(range: Range<usize>) -> SlotSet {
        let mut set = SlotSet::default();
        range.for_each(|slot| set.insert(slot));
        set
    }

    /// Adds a slot.
    pub fn insert(&mut self, slot: usize) {
        if self.words.len() <= slot / 64 {
            self.words.resize(slot / 64 + 1, 0);
        }
        self.words[slot / 64] |= 1 << (slot % 64);
    }

    /// Whether the slot is in the set.
    pub fn contains(&self, slot: usize) -> bool {
        self.words.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// The slots, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words.len() * 64).filter(|&slot| self.contains(slot))
    }

    /// Slots of this set that are not in `other`.
    pub fn without(&self, other: &SlotSet) -> SlotSet {
        let others = other.words.iter().copied().chain(std::iter::repeat(0));
        SlotSet::trimmed(self.words.iter().zip(others).map(|(word, other)| word & !other).collect())
    }

    /// Slots of either.
    pub fn union(&self, other: &SlotSet) -> SlotSet {
        let (mut long, short) = if self.words.len() >= other.words.len() {
            (self.clone(), other)
        } else {
            (other.clone(), self)
        };
        long.words.iter_mut().zip(&short.words).for_each(|(a, b)| *a |= b);
        long
    }

    /// Slots of both.
    pub fn intersection(&self, other: &SlotSet) -> SlotSet {
        SlotSet::trimmed(self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect())
    }

    /// Equal sets have equal words: none behind the last that is not zero.
    fn trimmed(mut words: Vec<u64>) -> SlotSet {
        let used = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        words.truncate(used);
        SlotSet { words }
    }

    /// Slots that are not in `other`.
    pub fn minus(&self, other: &SlotSet) -> SlotSet {
        let mut set = self.clone();
        set.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= !b);
        let used = set.words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        set.words.truncate(used);
        set
    }

    /// Whether every slot is in `other` too.
    pub fn is_subset(&self, other: &SlotSet) -> bool {
        self.words
            .iter()
            .enumerate()
            .all(|(i, word)| word & !other.words.get(i).copied().unwrap_or_default() == 0)
    }

    /// Whether some slot is in both.
    pub fn intersects(&self, other: &SlotSet) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }
}

/// What a condition needs before it can be checked.
pub struct Needs {
    /// Slots it reads by itself.
    pub slots: SlotSet,
    /// It runs a subquery that reads this block's row, in slots that are not listed here.
    pub whole_row: bool,
}

/// What an expression reads of the row.
pub fn slots_of(expr: &Expr) -> Needs {
    let mut needs = Needs { slots: SlotSet::default(), whole_row: false };
    expr.walk(&mut |node| match &node.kind {
        ExprKind::Column { index, .. } => needs.slots.insert(*index),
        ExprKind::Subquery(sub) => needs.whole_row |= sub.correlated,
        _ => {}
    });
    needs
}

/// The operands of nested ANDs, as a list.
pub fn conjuncts(expr: Expr, list: &mut Vec<Expr>) {
    match expr.kind {
        ExprKind::And(items) => items.into_iter().for_each(|item| conjuncts(item, list)),
        // Rows are equal where all their columns are.
        ExprKind::CompareRows(CmpOp::Eq, parts) => {
            list.extend(parts.into_iter().map(Expr::compares));
        }
        _ => list.push(expr),
    }
}

/// Takes the conditions out of `from` that can be checked with the `available` slots.
pub fn take_ready(from: &mut Vec<Expr>, available: &SlotSet, all: bool) -> Vec<Expr> {
    let ready = |condition: &mut Expr| {
        let needs = slots_of(condition);
        needs.slots.is_subset(available) && (all || !needs.whole_row)
    };
    from.extract_if(.., ready).collect()
}
