//! ORDER BY: sorts tuples by memory-comparable keys; with a LIMIT only the first rows are kept.

use super::keys::encode_key;
use super::{Result, Tuple};
use crate::expr::EvalContext;
use crate::plan::SortKey;
use inia_base::value::Value;

/// A tuple with its encoded sort key. Ties keep the order of arrival.
struct Entry {
    key: Vec<u8>,
    number: u64,
    tuple: Tuple,
}

/// Collects tuples and gives them back in order.
pub(super) struct Sorter<'p> {
    order: &'p [SortKey],
    needed: usize,
    entries: Vec<Entry>,
    total: u64,
    /// When set, the key of the last row that can still come out.
    threshold: Option<Vec<u8>>,
}

/// Below this many needed rows the buffer is cut back whenever it has doubled.
const MAX_KEPT_ROWS: usize = 1 << 20;

impl<'p> Sorter<'p> {
    /// A sorter of which only the first `needed` rows are asked.
    pub(super) fn new(order: &'p [SortKey], needed: usize) -> Sorter<'p> {
        Sorter { order, needed, entries: Vec::new(), total: 0, threshold: None }
    }

    /// Takes one tuple; always wants more.
    pub(super) fn push(&mut self, _ctx: &mut EvalContext<'_>, tuple: &[Value]) -> Result<bool> {
        self.total += 1;
        let mut key = Vec::with_capacity(32);
        for part in self.order {
            encode_key(&tuple[part.index], &part.ty, part.descending, &mut key);
        }
        if self.threshold.as_ref().is_some_and(|last| key >= *last) {
            return Ok(true);
        }
        self.entries.push(Entry { key, number: self.total, tuple: tuple.to_vec() });
        if self.needed < MAX_KEPT_ROWS && self.entries.len() >= 2 * self.needed.max(64) {
            self.cut();
        }
        Ok(true)
    }

    /// How many tuples were pushed.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The needed tuples in order.
    pub(super) fn finish(mut self) -> impl Iterator<Item = Tuple> {
        self.sort();
        self.entries.truncate(self.needed);
        self.entries.into_iter().map(|entry| entry.tuple)
    }

    fn sort(&mut self) {
        self.entries.sort_unstable_by(|a, b| a.key.cmp(&b.key).then(a.number.cmp(&b.number)));
    }

    fn cut(&mut self) {
        self.sort();
        self.entries.truncate(self.needed);
        self.threshold = self.entries.last().map(|entry| entry.key.clone());
    }
}
