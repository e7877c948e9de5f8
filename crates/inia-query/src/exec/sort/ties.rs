//! The order in which MySQL gives rows of equal keys.
//!
//! SQL leaves it open, but programs and their tests see one: `ORDER BY k LIMIT 10` of rows with few
//! different keys. It follows from how MySQL sorts:
//!
//! - where a LIMIT wants less than a third of the expected rows, a bounded queue keeps one row more
//!   than are wanted: each new row takes the place of the greatest one, and sinks from there;
//! - where it wants less than half of the rows, these are first selected by partitioning;
//! - up to 100 rows, and all rows with keys of varying length, are then sorted by partitioning
//!   around medians of three, with insertion for parts of up to 16 rows; others by a stable sort.
//!
//! Worked example of the queue, LIMIT 1 of the rows `b1 a2 a3`: it has room for two rows. `b1` and
//! `a2` fill it, with `b1` on top; `a3` takes its place, and `a3 a2` are left in their places.
//! Their keys are equal, so the row that comes out is `a3`.

use crate::catalog::SMALL_TABLE;

/// Up to so many rows are sorted by partitioning.
const UNSTABLE: usize = 100;
/// Parts of up to so many rows are left to insertion.
const SHORT: usize = 16;

/// What decides how MySQL sorts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortSize {
    /// How many rows are expected.
    pub(in crate::exec) expected: f64,
    /// How many rows of full length its buffer has room for.
    pub(in crate::exec) room: usize,
    /// The sort knows of the LIMIT.
    pub(in crate::exec) limited: bool,
    /// Its keys have their own lengths.
    pub(in crate::exec) varying: bool,
}

impl SortSize {
    /// Whether a queue keeps the rows that are wanted.
    fn takes_queue(self, wanted: usize) -> bool {
        match self.expected < self.room as f64 {
            true => 3.0 * (wanted as f64) < self.expected.round(),
            false => wanted + 1 < self.room,
        }
    }
}

/// The places of `count` rows in the order in which they come out, where only the first `wanted`
/// are asked for; `less` says whether one row's key is less than another's.
pub(super) fn in_order(
    count: usize,
    wanted: usize,
    size: SortSize,
    less: &dyn Fn(u32, u32) -> bool,
) -> Vec<u32> {
    debug_assert!(count < SMALL_TABLE as usize, "many rows are sorted otherwise");
    let wanted = if size.limited { wanted } else { count };
    let mut rows: Vec<u32> = (0..count as u32).collect();
    if wanted < count && size.takes_queue(wanted) {
        rows = queue(rows, wanted + 1, less);
    }
    let mut sort = Sort { rows: &mut rows, less };
    let mut end = sort.rows.len();
    if wanted > 0 && wanted < end / 2 {
        sort.select(wanted - 1);
        end = wanted;
    }
    // The number of rows decides, not that of the selected ones.
    match sort.rows.len() > UNSTABLE && !size.varying {
        true => sort.rows[..end].sort_by(|a, b| match (less(*a, *b), less(*b, *a)) {
            (true, _) => std::cmp::Ordering::Less,
            (_, true) => std::cmp::Ordering::Greater,
            _ => std::cmp::Ordering::Equal,
        }),
        false => sort.unstable(end),
    }
    rows.truncate(end);
    rows
}

/// The rows that a queue of so many places keeps, in the order of the places.
fn queue(rows: Vec<u32>, places: usize, less: &dyn Fn(u32, u32) -> bool) -> Vec<u32> {
    let mut kept: Vec<u32> = Vec::with_capacity(places);
    let mut heap: Vec<usize> = Vec::with_capacity(places);
    for row in rows {
        if heap.len() == places {
            kept[heap[0]] = row;
            sink(&mut heap, &|a, b| less(kept[a], kept[b]));
            continue;
        }
        kept.push(row);
        heap.push(heap.len());
        let mut at = heap.len() - 1;
        while at > 0 && !less(kept[heap[at]], kept[heap[(at - 1) / 2]]) {
            heap.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }
    kept
}

/// Moves the top of a heap to its place.
fn sink(heap: &mut [usize], less: &dyn Fn(usize, usize) -> bool) {
    let mut at = 0;
    loop {
        let (left, right) = (2 * at + 1, 2 * at + 2);
        let mut greatest = at;
        if left < heap.len() && less(heap[greatest], heap[left]) {
            greatest = left;
        }
        if right < heap.len() && less(heap[greatest], heap[right]) {
            greatest = right;
        }
        if greatest == at {
            return;
        }
        heap.swap(at, greatest);
        at = greatest;
    }
}

/// Rows that are being sorted in place.
struct Sort<'s> {
    rows: &'s mut [u32],
    less: &'s dyn Fn(u32, u32) -> bool,
}

impl Sort<'_> {
    fn less(&self, a: usize, b: usize) -> bool {
        (self.less)(self.rows[a], self.rows[b])
    }

    /// Sorts the rows before `end`.
    fn unstable(&mut self, end: usize) {
        if end > 0 {
            self.part(0, end, 2 * end.ilog2());
            self.insert(0, end);
        }
    }

    /// Sorts all but short parts of `from..to`; after `depth` unlucky partitions a heap does.
    fn part(&mut self, from: usize, mut to: usize, mut depth: u32) {
        while to - from > SHORT {
            if depth == 0 {
                self.heap_select(from, to, to);
                for last in (from + 1..to).rev() {
                    self.pop_heap(from, last, last);
                }
                return;
            }
            depth -= 1;
            let cut = self.partition(from, to);
            self.part(cut, to, depth);
            to = cut;
        }
    }

    /// Brings the row that belongs at `nth` there, smaller ones before it.
    fn select(&mut self, nth: usize) {
        let (mut from, mut to) = (0, self.rows.len());
        let mut depth = 2 * to.ilog2();
        while to - from > 3 {
            if depth == 0 {
                self.heap_select(from, nth + 1, to);
                self.rows.swap(from, nth);
                return;
            }
            depth -= 1;
            let cut = self.partition(from, to);
            if cut <= nth { from = cut } else { to = cut }
        }
        self.insert(from, to);
    }

    /// Parts the rows around the median of three, and gives where the greater ones begin.
    fn partition(&mut self, from: usize, to: usize) -> usize {
        let median = self.median(from + 1, from + (to - from) / 2, to - 1);
        self.rows.swap(from, median);
        let (mut low, mut high) = (from + 1, to);
        loop {
            while self.less(low, from) {
                low += 1;
            }
            high -= 1;
            while self.less(from, high) {
                high -= 1;
            }
            if low >= high {
                return low;
            }
            self.rows.swap(low, high);
            low += 1;
        }
    }

    fn median(&self, a: usize, b: usize, c: usize) -> usize {
        if self.less(a, b) {
            return match (self.less(b, c), self.less(a, c)) {
                (true, _) => b,
                (false, true) => c,
                (false, false) => a,
            };
        }
        match (self.less(a, c), self.less(b, c)) {
            (true, _) => a,
            (false, true) => c,
            (false, false) => b,
        }
    }

    fn insert(&mut self, from: usize, to: usize) {
        for at in from + 1..to {
            let mut place = at;
            while place > from && (self.less)(self.rows[at], self.rows[place - 1]) {
                place -= 1;
            }
            self.rows[place..=at].rotate_right(1);
        }
    }

    /// Makes a heap of `from..middle` and puts the smallest rows of `from..to` into it.
    fn heap_select(&mut self, from: usize, middle: usize, to: usize) {
        let count = middle - from;
        for hole in (0..count / 2).rev() {
            let row = self.rows[from + hole];
            self.fill(from, hole, count, row);
        }
        for at in middle..to {
            if self.less(at, from) {
                self.pop_heap(from, middle, at);
            }
        }
    }

    /// Puts the top of the heap `from..to` at `out`, and what was there into the heap.
    fn pop_heap(&mut self, from: usize, to: usize, out: usize) {
        let row = self.rows[out];
        self.rows[out] = self.rows[from];
        self.fill(from, 0, to - from, row);
    }

    /// Fills the hole of a heap of `count` rows: greater children go up to the leaves, then `row`
    /// goes up from there.
    fn fill(&mut self, from: usize, hole: usize, count: usize, row: u32) {
        let mut at = hole;
        while 2 * at + 1 < count {
            let mut child = 2 * at + 2;
            if child == count || self.less(from + child, from + child - 1) {
                child -= 1;
            }
            self.rows[from + at] = self.rows[from + child];
            at = child;
        }
        while at > hole && (self.less)(self.rows[from + (at - 1) / 2], row) {
            self.rows[from + at] = self.rows[from + (at - 1) / 2];
            at = (at - 1) / 2;
        }
        self.rows[from + at] = row;
    }
}
