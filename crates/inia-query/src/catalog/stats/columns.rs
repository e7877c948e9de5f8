//! How the values of a column are distributed, from the rows of sampled leaves.
//!
//! Values are kept as key parts: bytes that `memcmp` orders as SQL orders the column, so that one
//! code serves all types. Frequent values are listed one by one; the others fill buckets of about
//! equal numbers of rows:
//!
//! ```text
//!   rows      1 1 1 1 1 1 2 3 4 4 5 7 9 9 20 31
//!   frequent  1: 6/16
//!   buckets   ..4: 4/16 of 3 values    ..9: 4/16 of 3 values    ..31: 2/16 of 2 values
//! ```
//!
//! The number of distinct values is estimated by Haas and Stokes's estimator Duj1 ("Estimating the
//! number of classes in a finite population", JASA 1998), applied to the leaves that a value is
//! seen in and not to its rows: rows of one leaf often have equal values because they were made
//! together.

use super::keys::sampled_leaves;
use crate::catalog::Table;
use crate::error::Damaged;
use crate::row::{Cell, PartCodec};
use crate::table_def::{Histogram, IndexPart};
use inia_base::datatype::DataType;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use std::ops::Range;

/// Leaves that a sample reads. A tree of that many is read whole.
const LEAVES: usize = 64;
/// Characters of a text, or bytes of a binary string, that count, as many as in MySQL's histograms.
pub(super) const LONGEST: u32 = 42;
/// Bytes of rows on overflow pages that are read for a leaf; other such rows are left out.
pub(super) const MAX_OVERFLOW: usize = 64 << 10;
/// Values that are listed one by one.
const MAX_COMMON: usize = 100;
/// Buckets of the others.
const BUCKETS: usize = 64;
/// Texts that are kept to match patterns against, and how many of their characters.
const TEXTS: usize = 400;
const TEXT_CHARS: usize = 256;

/// What is known of a column's values. Shares are of all rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ColumnStats {
    /// The share of NULLs.
    pub(crate) null_share: f64,
    /// Distinct values, NULL not counted.
    pub(crate) distinct: f64,
    /// The least value that was seen; empty where there was none.
    pub(crate) least: Vec<u8>,
    /// The greatest value that was seen.
    pub(crate) greatest: Vec<u8>,
    /// Frequent values with their shares, in ascending order.
    pub(crate) most_common: Vec<(Vec<u8>, f64)>,
    /// The other values, in ascending order.
    pub(crate) histogram: Vec<Bucket>,
    /// Some of the values, where they are texts.
    pub(crate) texts: Vec<Box<str>>,
    /// All rows were read.
    pub(crate) whole: bool,
    /// How many rows were read.
    pub(crate) rows: f64,
}

/// Neighbouring values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bucket {
    /// The greatest.
    pub(crate) upper: Vec<u8>,
    /// Their share of all rows.
    pub(crate) share: f64,
    /// How many they are.
    pub(crate) distinct: f64,
}

/// How values of a column become bytes; `None` for types that have no order of their own.
pub(crate) fn value_codec(table: &Table, column: usize) -> Option<PartCodec> {
    let data_type = &table.def.columns[column].data_type;
    let prefix = match data_type {
        DataType::Json => return None,
        DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. } => Some(LONGEST),
        DataType::Binary(_) | DataType::VarBinary(_) | DataType::Blob(_) => Some(LONGEST),
        _ => None,
    };
    Some(PartCodec::new(&IndexPart { column, prefix, descending: false }, data_type, false))
}

/// Takes a sample of a column; `None` where it has no statistics or cannot be read.
pub(super) fn sample(table: &Table, column: usize) -> Option<ColumnStats> {
    let codec = value_codec(table, column)?;
    let mut values = Values::default();
    let (mut damaged, mut all) = (false, true);
    let (stored, each) = sampled_leaves(table);
    let (mut whole, mut leaves) = (each <= 1.0, 0.0);
    let most = (LEAVES / stored.len().max(1)).max(2);
    for stored in stored {
        let sampled = stored.store.sample_leaves(&stored.clustered, most, &mut |leaf| {
            values.leaves += 1;
            all &= leaf.records(MAX_OVERFLOW, |_, row| {
                let cell = table.layout.cell(row, column);
                damaged |= cell.and_then(|cell| values.take(&codec, &cell)).is_err();
            })?;
            Ok(())
        });
        let sampled = sampled.ok().filter(|_| !damaged)?;
        whole &= sampled.whole;
        leaves += sampled.leaves * each;
    }
    let share = match whole {
        true => 1.0,
        false => (values.leaves as f64 / leaves).min(1.0),
    };
    Some(values.finish(whole && all, share))
}

/// The values of a sample.
#[derive(Default)]
struct Values {
    leaves: u32,
    rows: u64,
    /// The values' bytes, one after the other.
    bytes: Vec<u8>,
    /// Each value's place in them and its leaf.
    items: Vec<(Range<u32>, u32)>,
    texts: Vec<Box<str>>,
}

/// Equal values of a sample.
struct Group<'v> {
    value: &'v [u8],
    rows: u64,
}

impl Values {
    fn take(&mut self, codec: &PartCodec, cell: &Cell<'_>) -> Result<(), Damaged> {
        self.rows += 1;
        if *cell == Cell::Null {
            return Ok(());
        }
        if let Cell::Text(text) = cell {
            self.take_text(text);
        }
        let start = self.bytes.len() as u32;
        codec.put(cell, &mut self.bytes)?;
        self.items.push((start..self.bytes.len() as u32, self.leaves));
        Ok(())
    }

    /// Keeps each text with the same probability (Vitter's algorithm R, with the same numbers in
    /// each run).
    fn take_text(&mut self, text: &str) {
        let number = self.items.len() as u64;
        let end = text.char_indices().nth(TEXT_CHARS).map_or(text.len(), |(end, _)| end);
        let text = &text[..end];
        if self.texts.len() < TEXTS {
            self.texts.push(text.into());
            return;
        }
        let random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        if let Some(place) = self.texts.get_mut((random % (number + 1)) as usize) {
            *place = text.into();
        }
    }

    fn value(&self, range: &Range<u32>) -> &[u8] {
        &self.bytes[range.start as usize..range.end as usize]
    }

    /// The statistics of a table of which `share` of the leaves was read; `whole` where all rows
    /// were.
    fn finish(mut self, whole: bool, share: f64) -> ColumnStats {
        let texts = std::mem::take(&mut self.texts);
        let mut items = std::mem::take(&mut self.items);
        items.sort_unstable_by(|(a, leaf), (b, other)| {
            self.value(a).cmp(self.value(b)).then(leaf.cmp(other))
        });
        let mut groups: Vec<Group<'_>> = Vec::new();
        // In how many leaves each value is, summed, and how many values are in one leaf only.
        let (mut incidences, mut single, mut in_leaves, mut last) = (0u64, 0u64, 0u64, 0);
        for (range, leaf) in &items {
            let value = self.value(range);
            match groups.last_mut().filter(|group| group.value == value) {
                Some(group) => {
                    group.rows += 1;
                    in_leaves += u64::from(last != *leaf);
                }
                None => {
                    single += u64::from(in_leaves == 1);
                    incidences += in_leaves;
                    in_leaves = 1;
                    groups.push(Group { value, rows: 1 });
                }
            }
            last = *leaf;
        }
        single += u64::from(in_leaves == 1);
        incidences += in_leaves;
        let (seen, present) = (groups.len() as f64, items.len() as f64);
        let distinct = match whole {
            true => seen,
            false => duj1(seen, incidences as f64, single as f64, share),
        };
        let rows = (self.rows as f64).max(1.0);
        let mut stats = ColumnStats {
            null_share: (self.rows as f64 - present) / rows,
            distinct: distinct.clamp(seen, (present / share).max(seen)),
            least: groups.first().map(|group| group.value.to_vec()).unwrap_or_default(),
            greatest: groups.last().map(|group| group.value.to_vec()).unwrap_or_default(),
            texts,
            whole,
            rows: self.rows as f64,
            ..ColumnStats::default()
        };
        // No value was met in one leaf only: all that the table has were seen.
        let complete = whole || single == 0;
        stats.fill(&groups, complete, rows);
        stats
    }
}

/// Distinct values of a population of which `share` was drawn: `seen` distinct in `drawn`, `single`
/// of them once.
fn duj1(seen: f64, drawn: f64, single: f64, share: f64) -> f64 {
    let rest = drawn - single + single * share;
    if rest > 0.0 { drawn * seen / rest } else { seen }
}

impl ColumnStats {
    /// What a histogram shows; `None` where its values are not of the column's type.
    pub(super) fn of_histogram(
        table: &Table,
        column: usize,
        histogram: &Histogram,
    ) -> Option<ColumnStats> {
        let codec = value_codec(table, column)?;
        let (data_type, zone) = (&table.def.columns[column].data_type, TimeZone::utc());
        let key = |value: &Value| {
            let mut key = Vec::new();
            codec.put(&Cell::of(value, data_type, &zone), &mut key).ok().map(|()| key)
        };
        let mut stats = ColumnStats {
            null_share: histogram.null_share,
            rows: table.rows() as f64,
            ..ColumnStats::default()
        };
        let mut before = 0.0;
        for bucket in &histogram.buckets {
            let upper = key(&bucket.upper)?;
            if stats.distinct == 0.0 {
                stats.least = key(&bucket.lower)?;
            }
            stats.greatest.clone_from(&upper);
            let (share, distinct) = (bucket.cumulative - before, bucket.distinct as f64);
            before = bucket.cumulative;
            stats.distinct += distinct;
            match bucket.distinct {
                1 => stats.most_common.push((upper, share)),
                _ => stats.histogram.push(Bucket { upper, share, distinct }),
            }
        }
        Some(stats)
    }

    /// Lists frequent values and puts the others into buckets.
    fn fill(&mut self, groups: &[Group<'_>], complete: bool, rows: f64) {
        let present: u64 = groups.iter().map(|group| group.rows).sum();
        let average = present as f64 / groups.len().max(1) as f64;
        let all = complete && groups.len() <= MAX_COMMON;
        let mut by_rows: Vec<usize> = (0..groups.len()).collect();
        by_rows.sort_by_key(|i| std::cmp::Reverse(groups[*i].rows));
        let frequent = |i: &usize| {
            let count = groups[*i].rows;
            all || (count >= 3 && count as f64 > average * 1.25)
        };
        let mut common: Vec<usize> =
            by_rows.into_iter().take(MAX_COMMON).take_while(frequent).collect();
        common.sort_unstable();
        let share = |count: u64| count as f64 / rows;
        self.most_common =
            common.iter().map(|i| (groups[*i].value.to_vec(), share(groups[*i].rows))).collect();
        let mut is_common = common.into_iter().peekable();
        let others: Vec<&Group<'_>> = (0..groups.len())
            .filter(|i| is_common.next_if_eq(i).is_none())
            .map(|i| &groups[i])
            .collect();
        let count: u64 = others.iter().map(|group| group.rows).sum();
        let scale = (self.distinct - self.most_common.len() as f64) / others.len().max(1) as f64;
        let mut bucket = (0, 0.0);
        for (number, group) in others.iter().enumerate() {
            bucket = (bucket.0 + group.rows, bucket.1 + 1.0);
            if bucket.0 * BUCKETS as u64 >= count || number + 1 == others.len() {
                self.histogram.push(Bucket {
                    upper: group.value.to_vec(),
                    share: share(bucket.0),
                    distinct: (bucket.1 * scale).max(1.0),
                });
                bucket = (0, 0.0);
            }
        }
    }

    /// The share of the rows whose value equals `value`.
    pub(crate) fn equal_share(&self, value: &[u8]) -> f64 {
        if let Ok(found) = self.most_common.binary_search_by(|(common, _)| common[..].cmp(value)) {
            return self.most_common[found].1;
        }
        let outside = value < &self.least[..] || value > &self.greatest[..];
        let bucket = self.histogram.iter().find(|bucket| value <= &bucket.upper[..]);
        match bucket {
            Some(bucket) if !outside => bucket.share / bucket.distinct,
            _ => self.unseen(),
        }
    }

    /// The share of the rows whose value is below `value`, or equals it where that counts.
    pub(crate) fn below_share(&self, value: &[u8], equal: bool) -> f64 {
        let is_below = |other: &[u8]| if equal { other <= value } else { other < value };
        let common = self.most_common.iter().filter(|(common, _)| is_below(common));
        let mut share: f64 = common.map(|(_, share)| share).sum();
        let mut lower = &self.least[..];
        for bucket in &self.histogram {
            if !is_below(&bucket.upper) {
                share += bucket.share * position(lower, &bucket.upper, value);
                break;
            }
            share += bucket.share;
            lower = &bucket.upper;
        }
        share.min(1.0 - self.null_share)
    }

    /// The share of the rows from `lower` to `upper`, each with whether the end is inside.
    pub(crate) fn range_share(
        &self,
        lower: Option<(&[u8], bool)>,
        upper: Option<(&[u8], bool)>,
    ) -> f64 {
        let below = match upper {
            Some((value, inside)) => self.below_share(value, inside),
            None => 1.0 - self.null_share,
        };
        let before = lower.map_or(0.0, |(value, inside)| self.below_share(value, !inside));
        (below - before).max(self.unseen())
    }

    /// The share that is expected of what was not seen: none where all was.
    fn unseen(&self) -> f64 {
        if self.whole { 0.0 } else { 0.5 / self.rows.max(1.0) }
    }
}

/// Where `value` is between two others, as a part of the way.
fn position(lower: &[u8], upper: &[u8], value: &[u8]) -> f64 {
    let same = lower.iter().zip(upper).take_while(|(a, b)| a == b).count();
    let word = |bytes: &[u8]| {
        let rest = bytes.get(same..).unwrap_or_default();
        let byte = |i: usize| u64::from(rest.get(i).copied().unwrap_or_default());
        (0..8).fold(0, |word, i| word << 8 | byte(i)) as f64
    };
    if value <= lower {
        return 0.0;
    }
    let (lower, upper, value) = (word(lower), word(upper), word(value));
    if upper > lower { ((value - lower) / (upper - lower)).clamp(0.0, 1.0) } else { 0.5 }
}
