//! Keys of hash joins as conditions of the scans below.
//!
//! A row whose key is not among those of the join's right side comes to nothing in an inner or a
//! semi join. Where the key is a column of the table that is scanned on the left side, the scan
//! looks it up before it reads the row's other columns ("sideways information passing").
//!
//! ```text
//!   Hash on l.part = p.id          p.id in {3, 8}
//!   ├─ Table l                     rows of other parts are left out here
//!   └─ Table p, p.size = 4
//! ```
//!
//! Of a join by several keys each is a filter of its own. What leaves out few rows is not asked any
//! longer.

use super::index::{RowIndex, WordBits};
use super::numbers::{Numbers, Values};
use crate::plan::vector::NumberKind;
use std::cell::Cell;

/// Rows after which a filter must have left out some.
const TRIED: u64 = 4096;

/// What a word is looked up in.
pub(super) enum KnownWords<'b> {
    /// The only key of a join.
    Rows(&'b RowIndex),
    /// One of several keys.
    Bits(&'b WordBits),
}

/// A key of one join, and the column that has it.
pub(super) struct KeyFilter<'b> {
    /// The column's slot.
    pub(super) slot: usize,
    /// What its numbers are.
    pub(super) kind: NumberKind,
    /// The key's words in the rows of the right side.
    pub(super) words: KnownWords<'b>,
    /// Rows that were looked up, and those of them that were left.
    pub(super) seen: Cell<(u64, u64)>,
}

/// The filters of the joins above, the nearest last.
pub(super) type KeyFilters<'b> = [&'b KeyFilter<'b>];

impl KeyFilter<'_> {
    /// Whether it leaves out at least a quarter of the rows.
    pub(super) fn is_worth(&self) -> bool {
        let (seen, left) = self.seen.get();
        seen < TRIED || left < seen / 4 * 3
    }

    /// Leaves the chosen rows whose numbers are keys.
    pub(super) fn keep(&self, numbers: &Numbers, chosen: &mut [bool]) {
        match self.words {
            KnownWords::Rows(rows) => self.keep_known(numbers, chosen, |it| rows.contains_word(it)),
            KnownWords::Bits(bits) => self.keep_known(numbers, chosen, |it| bits.may_have(it)),
        }
    }

    #[inline]
    fn keep_known(&self, numbers: &Numbers, chosen: &mut [bool], is_known: impl Fn(i64) -> bool) {
        let (mut seen, mut left) = self.seen.get();
        if let (Values::Small(values), true) = (&numbers.values, numbers.nulls.is_empty()) {
            for (value, chosen) in values.iter().zip(chosen).filter(|(_, chosen)| **chosen) {
                *chosen = is_known(*value);
                seen += 1;
                left += u64::from(*chosen);
            }
            self.seen.set((seen, left));
            return;
        }
        for (row, chosen) in chosen.iter_mut().enumerate().filter(|(_, chosen)| **chosen) {
            let word = (!numbers.is_null(row)).then(|| i64::try_from(numbers.get(row)).ok());
            *chosen = word.flatten().is_some_and(&is_known);
            seen += 1;
            left += u64::from(*chosen);
        }
        self.seen.set((seen, left));
    }
}
