//! Runs: neighbouring records of a leaf, given out together.

use crate::btree::{KnownLeaf, LeafCopy};
use crate::request::Direction;
use std::ops::Range;

/// Neighbouring records of one leaf that a scan shows as they are, in the order of the scan.
pub struct Run<'c> {
    leaf: &'c LeafCopy,
    range: Range<usize>,
    direction: Direction,
}

/// What a scan shows of a leaf at once.
pub enum LeafRun<'c> {
    /// These records.
    Records(Run<'c>),
    /// All records of so many leaves, from the page that the caller was asked for last.
    Known(usize),
}

impl<'c> Run<'c> {
    /// Records of a copied leaf by their numbers, at least one.
    pub(in crate::txn) fn new(
        leaf: &'c LeafCopy,
        range: Range<usize>,
        direction: Direction,
    ) -> Run<'c> {
        debug_assert!(!range.is_empty() && range.end <= leaf.len(), "a run of records of the leaf");
        Run { leaf, range, direction }
    }

    /// The leaf, where these are all of its records in ascending order.
    pub fn whole_leaf(&self) -> Option<KnownLeaf> {
        let whole = self.range == (0..self.leaf.len()) && self.direction == Direction::Forward;
        if whole { KnownLeaf::of(self.leaf) } else { None }
    }

    /// Number of records, at least one.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a run is never empty")]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    #[inline]
    fn number(&self, i: usize) -> usize {
        match self.direction {
            Direction::Forward => self.range.start + i,
            Direction::Backward => self.range.end - 1 - i,
        }
    }

    /// The bytes that all keys of the run begin with.
    #[inline]
    pub fn key_prefix(&self) -> &'c [u8] {
        self.leaf.key_prefix()
    }

    /// What follows the prefix in record `i`'s key.
    #[inline]
    pub fn key_suffix(&self, i: usize) -> &'c [u8] {
        self.leaf.key_suffix(self.number(i))
    }

    /// Record `i`'s value.
    #[inline]
    pub fn value(&self, i: usize) -> &'c [u8] {
        self.leaf.inline_payload(self.number(i))
    }
}
