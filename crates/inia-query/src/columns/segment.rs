//! Segments: what is kept of leaves that follow one another.

use super::{CachedColumn, MAX_COLUMNS};
use inia_storage::KnownLeaf;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that a leaf takes beside its columns: itself, its end and its place.
const LEAF_BYTES: usize = size_of::<KnownLeaf>() + 48;

/// Columns of leaves that follow one another.
#[derive(Debug)]
pub(crate) struct Segment {
    leaves: Box<[KnownLeaf]>,
    /// How many rows there are up to the end of each leaf.
    ends: Box<[usize]>,
    /// The positions in the table of the columns that are kept, as bits.
    kept: u128,
    /// The columns, by their positions.
    columns: Box<[Arc<CachedColumn>]>,
    bytes: usize,
    /// How many of its leaves are found in it.
    found: AtomicUsize,
}

impl Segment {
    /// A segment of some leaves, at least one, and columns by their positions, all of as many rows.
    pub(crate) fn new(
        leaves: Vec<KnownLeaf>,
        mut columns: Vec<(usize, Arc<CachedColumn>)>,
    ) -> Segment {
        debug_assert!(columns.iter().all(|(at, _)| *at < MAX_COLUMNS), "a column has a bit");
        let follows = |two: &[KnownLeaf]| two[0].next() == Some(two[1].state().page);
        debug_assert!(!leaves.is_empty(), "a segment has a leaf");
        debug_assert!(leaves.windows(2).all(follows), "each leaf names the next one");
        columns.sort_by_key(|(at, _)| *at);
        let kept = columns.iter().fold(0, |kept, (at, _)| kept | 1 << at);
        let mut rows = 0;
        let end = |leaf: &KnownLeaf| {
            rows += leaf.state().records;
            rows
        };
        let ends = leaves.iter().map(end).collect();
        let columns: Box<[_]> = columns.into_iter().map(|(_, column)| column).collect();
        let bytes = columns.iter().map(|column| column.bytes()).sum::<usize>();
        Segment {
            bytes: size_of::<Segment>() + leaves.len() * LEAF_BYTES + bytes,
            found: AtomicUsize::new(leaves.len()),
            leaves: leaves.into(),
            ends,
            kept,
            columns,
        }
    }

    /// The leaves, each behind the one before.
    pub(crate) fn leaves(&self) -> &[KnownLeaf] {
        &self.leaves
    }

    /// The numbers of the rows of some leaves.
    pub(crate) fn rows_of(&self, leaves: Range<usize>) -> Range<usize> {
        let end_before = |at: usize| at.checked_sub(1).map_or(0, |before| self.ends[before]);
        end_before(leaves.start)..end_before(leaves.end)
    }

    /// A column of the leaves' rows, if it is kept.
    pub(crate) fn column(&self, column: usize) -> Option<&CachedColumn> {
        let bit = 1u128.checked_shl(column as u32)?;
        let at = (self.kept & (bit - 1)).count_ones() as usize;
        self.columns.get(at).filter(|_| self.kept & bit != 0).map(|column| &**column)
    }

    /// Whether all of these columns are kept.
    pub(crate) fn has(&self, columns: &[usize]) -> bool {
        columns.iter().all(|&column| self.column(column).is_some())
    }

    /// The columns of some leaves, by their positions.
    pub(crate) fn columns_of(
        &self,
        leaves: Range<usize>,
    ) -> impl Iterator<Item = (usize, Arc<CachedColumn>)> {
        let is_whole = leaves == (0..self.leaves.len());
        let rows = self.rows_of(leaves);
        self.positions().zip(&self.columns).map(move |(at, column)| {
            let part = if is_whole { column.clone() } else { column.slice(rows.clone()).into() };
            (at, part)
        })
    }

    fn positions(&self) -> impl Iterator<Item = usize> {
        let kept = self.kept;
        (0..MAX_COLUMNS).filter(move |column| kept >> column & 1 == 1)
    }

    /// Changes the count of each column that is kept.
    pub(super) fn count(&self, counts: &mut Vec<u64>, mut change: impl FnMut(&mut u64)) {
        for at in self.positions() {
            if counts.len() <= at {
                counts.resize(at + 1, 0);
            }
            change(&mut counts[at]);
        }
    }

    /// One leaf less is found in it; true where that was the last.
    pub(super) fn lose_leaf(&self) -> bool {
        self.found.fetch_sub(1, Ordering::Relaxed) == 1
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
