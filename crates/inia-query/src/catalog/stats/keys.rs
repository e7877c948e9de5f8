//! Distinct keys of each prefix of an index, from its leaves.
//!
//! Entries are sorted, so that the number of distinct keys is one more than the number of
//! neighbours that differ. A sample of leaves shows the share of neighbours that do:
//!
//! ```text
//!   leaf   (1,a) (1,b) (1,b) (2,a) (2,a)      neighbours: 4 pairs
//!   part 1   =     =     ≠     =              1 of 4 differs: 250 distinct of 1,000 entries
//!   part 2   ≠     =     ≠     =              2 of 4 differ:  500 distinct
//! ```
//! Where few keys are expected a sample rarely meets the place where one ends and the next begins.
//! They are counted instead, by a search for the next key after each.

mod parts;

pub(super) use parts::sampled_leaves;

use crate::catalog::Table;
use crate::clock::clock_micros;
use crate::error::Damaged;
use crate::row::{IndexCodec, prefix_successor};
use inia_storage::{SampledTree, Tree};
use std::sync::atomic::Ordering;

/// Leaves that a sample reads. A tree of that many is read whole.
const LEAVES: usize = 48;
/// Distinct keys that are counted one by one.
const COUNTED: usize = 64;

/// What is known of the keys of an index.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeyStats {
    /// Entries.
    pub(crate) entries: f64,
    /// By number of leading parts, from 1.
    pub(crate) prefixes: Vec<PrefixStats>,
    /// What of the tree was read.
    pub(crate) tree: SampledTree,
    /// Leaves that were read.
    pub(crate) sampled: u64,
    /// When, in seconds since 1970.
    pub(crate) taken: u64,
}

/// What is known of the first parts of an index's keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PrefixStats {
    /// Distinct values without a NULL.
    pub(crate) distinct: f64,
    /// Distinct values with one, where NULL equals NULL.
    pub(crate) distinct_nulls: f64,
    /// Entries with a NULL.
    pub(crate) nulls: f64,
}

/// Takes a sample of an index; `None` where it has no entries or they cannot be read.
pub(super) fn sample(table: &Table, index: usize) -> Option<KeyStats> {
    if !table.def.indexes[index].kind.has_keys() {
        return None;
    }
    if table.partitions.is_some() {
        return parts::sample_all(table, Some(index));
    }
    let (tree, codec) = (&table.indexes[index].tree, &table.indexes[index].codec);
    let mut counter = Counter::new(codec, table.def.indexes[index].parts.len());
    let sampled = table.store.sample_leaves(tree, LEAVES, &mut |leaf| {
        counter.begin_leaf();
        leaf.keys(|key| counter.take(key));
        Ok(())
    });
    let sampled = sampled.ok().filter(|_| !counter.damaged)?;
    let mut stats = counter.finish(sampled);
    // Changes that were rolled back have moved the estimate away from the rows that there are.
    if sampled.whole && table.def.indexes[index].clustered {
        table.shared.row_estimate.store(stats.entries as i64, Ordering::Relaxed);
    }
    if !sampled.whole {
        for parts in 1..=stats.prefixes.len() {
            let prefix = &mut stats.prefixes[parts - 1];
            if prefix.distinct + prefix.distinct_nulls > COUNTED as f64 {
                break;
            }
            if let Some((distinct, nulls)) = count(table, tree, codec, parts) {
                (prefix.distinct, prefix.distinct_nulls) = (distinct as f64, nulls as f64);
            }
        }
    }
    Some(stats)
}

/// The size of the tree of rows, where no index is clustered.
pub(super) fn sample_rows(table: &Table) -> Option<KeyStats> {
    if table.partitions.is_some() {
        return parts::sample_all(table, None);
    }
    let (mut leaves, mut records) = (0, 0u64);
    let sampled = table.store.sample_leaves(&table.clustered, LEAVES, &mut |leaf| {
        leaves += 1;
        leaf.keys(|_| records += 1);
        Ok(())
    });
    let tree = sampled.ok()?;
    let entries = records as f64 / f64::max(leaves as f64, 1.0) * tree.leaves;
    let taken = clock_micros().unsigned_abs() / 1_000_000;
    Some(KeyStats { entries, prefixes: Vec::new(), tree, sampled: leaves, taken })
}

/// The distinct keys of a prefix, without NULL and with one; `None` where they are too many.
fn count(table: &Table, tree: &Tree, codec: &IndexCodec, parts: usize) -> Option<(usize, usize)> {
    let (mut from, mut key) = (Vec::new(), Vec::new());
    let mut ends = Vec::new();
    let (mut distinct, mut nulls) = (0, 0);
    // Twice as many are counted as an estimate may have expected.
    while distinct + nulls <= 2 * COUNTED {
        if !table.store.key_from(tree, &from, &mut key).ok()? {
            return Some((distinct, nulls));
        }
        let null = codec.part_ends(&key, parts, &mut ends).ok()?;
        if null.is_some() {
            nulls += 1
        } else {
            distinct += 1
        }
        key.truncate(*ends.last()?);
        std::mem::swap(&mut from, &mut key);
        if !prefix_successor(&mut from) {
            return Some((distinct, nulls));
        }
    }
    None
}

/// Counts groups of equal keys in leaves that come in the keys' order.
struct Counter<'c> {
    codec: &'c IndexCodec,
    records: u64,
    leaves: u64,
    /// Neighbours inside one leaf.
    pairs: u64,
    /// The last key.
    previous: Vec<u8>,
    /// The last key was in the same leaf.
    has_neighbour: bool,
    prefixes: Vec<Groups>,
    ends: Vec<usize>,
    damaged: bool,
}

/// What was seen of one prefix; NULL and other keys apart.
#[derive(Clone, Copy, Default)]
struct Groups {
    /// Keys unlike the one seen before.
    seen: u64,
    seen_nulls: u64,
    /// Keys unlike their neighbour in the leaf.
    begin: u64,
    begin_nulls: u64,
    /// Entries with a NULL.
    nulls: u64,
}

impl<'c> Counter<'c> {
    fn new(codec: &'c IndexCodec, parts: usize) -> Counter<'c> {
        Counter {
            codec,
            records: 0,
            leaves: 0,
            pairs: 0,
            previous: Vec::new(),
            has_neighbour: false,
            prefixes: vec![Groups::default(); parts],
            ends: Vec::new(),
            damaged: false,
        }
    }

    fn begin_leaf(&mut self) {
        self.leaves += 1;
        self.has_neighbour = false;
    }

    fn take(&mut self, key: &[u8]) {
        let parts = self.prefixes.len();
        let Ok(null) = self.codec.part_ends(key, parts, &mut self.ends) else {
            self.damaged = true;
            return;
        };
        let same = match self.records {
            0 => 0,
            _ => self.previous.iter().zip(key).take_while(|(a, b)| a == b).count(),
        };
        let first = self.records == 0;
        for (number, (groups, end)) in self.prefixes.iter_mut().zip(&self.ends).enumerate() {
            let is_null = null.is_some_and(|at| at <= number);
            groups.nulls += u64::from(is_null);
            if !first && same >= *end {
                continue;
            }
            let (seen, begin) = match is_null {
                true => (&mut groups.seen_nulls, &mut groups.begin_nulls),
                false => (&mut groups.seen, &mut groups.begin),
            };
            *seen += 1;
            *begin += u64::from(self.has_neighbour);
        }
        self.records += 1;
        self.pairs += u64::from(self.has_neighbour);
        self.has_neighbour = true;
        self.previous.truncate(same);
        self.previous.extend_from_slice(&key[same..]);
    }

    fn finish(&self, tree: SampledTree) -> KeyStats {
        let records = self.records as f64;
        let entries = match tree.whole {
            true => records,
            false => records / self.leaves.max(1) as f64 * tree.leaves,
        };
        let all = |seen: u64, begin: u64| match (tree.whole, self.pairs) {
            (true, _) => seen as f64,
            (false, 0) => entries * seen as f64 / records.max(1.0),
            (false, pairs) => {
                (begin as f64 / pairs as f64 * entries).clamp(seen as f64, entries.max(seen as f64))
            }
        };
        let prefix = |groups: &Groups| PrefixStats {
            distinct: all(groups.seen, groups.begin),
            distinct_nulls: all(groups.seen_nulls, groups.begin_nulls),
            nulls: groups.nulls as f64 / records.max(1.0) * entries,
        };
        let prefixes = self.prefixes.iter().map(prefix).collect();
        let taken = clock_micros().unsigned_abs() / 1_000_000;
        KeyStats { entries, prefixes, tree, sampled: self.leaves, taken }
    }
}

impl IndexCodec {
    /// Puts where each of the first `parts` parts ends in `ends`. Returns the first part that is
    /// NULL.
    pub(crate) fn part_ends(
        &self,
        key: &[u8],
        parts: usize,
        ends: &mut Vec<usize>,
    ) -> Result<Option<usize>, Damaged> {
        ends.clear();
        let (mut at, mut null) = (0, None);
        for part in 0..parts {
            let rest = key.get(at..).ok_or(Damaged)?;
            let (len, is_null) = self.part_len(part, rest)?;
            if is_null && null.is_none() {
                null = Some(part);
            }
            at += len;
            ends.push(at);
        }
        if at > key.len() { Err(Damaged) } else { Ok(null) }
    }
}
