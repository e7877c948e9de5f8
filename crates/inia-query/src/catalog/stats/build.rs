//! Making the histograms that ANALYZE TABLE … UPDATE HISTOGRAM asks for.
//!
//! All rows are read where their values are expected to fit into
//! `histogram_generation_max_mem_size`, by the widths of the columns' types; else as large a share
//! of the leaves as does. Where the values take more than was expected, half of the share is read
//! instead.

use super::columns::{LONGEST, value_codec};
use super::{buckets, columns};
use crate::catalog::Table;
use crate::clock::clock_micros;
use crate::error::{Damaged, StorageResult};
use crate::interrupt::Interrupt;
use crate::row::{Cell, PartCodec};
use crate::table_def::{Histogram, HistogramBucket};
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_storage::{Direction, Isolation, KeyBound, ReadMode};
use std::collections::BTreeMap;
use std::mem::size_of;

/// Leaves from which their number is estimated.
const PROBED_LEAVES: usize = 8;
/// The shortest share of the leaves that is tried.
const MIN_RATE: f64 = 1e-6;
/// Bytes that a value takes beside its own: a node of the tree of values, and allocations.
const VALUE_OVERHEAD: usize = size_of::<(Box<[u8]>, Count)>() + 32;

/// Which histograms are to be made, and with what.
pub struct HistogramRequest<'r> {
    /// Positions of the columns.
    pub columns: &'r [usize],
    /// How many buckets each histogram may have.
    pub buckets: u16,
    /// How much memory the values may take, in bytes.
    pub memory: u64,
    /// The time zone in which TIMESTAMPs are shown.
    pub zone: &'r TimeZone,
    /// What ends the work early.
    pub interrupt: Interrupt<'r>,
}

/// How often a value was read, and its first writing.
struct Count {
    rows: u64,
    value: Value,
}

/// The values of one column.
struct ColumnValues<'t> {
    column: usize,
    data_type: &'t DataType,
    codec: PartCodec,
    /// By their bytes as part of a key.
    counts: BTreeMap<Box<[u8]>, Count>,
    nulls: u64,
}

/// The values of all columns that a histogram is made for.
struct Values<'t> {
    table: &'t Table,
    zone: &'t TimeZone,
    columns: Vec<ColumnValues<'t>>,
    /// Bytes that are taken.
    taken: usize,
    /// Bytes that may be taken.
    limit: usize,
    key: Vec<u8>,
}

impl Table {
    /// Makes histograms of columns, in the order in which they are named. Only types that have an
    /// order may be asked for.
    pub fn histograms(&self, request: &HistogramRequest<'_>) -> Result<Vec<Histogram>, SqlError> {
        let types = request.columns.iter().map(|column| &self.def.columns[*column].data_type);
        let row: u64 = types.map(expected_bytes).sum();
        let rows = self.estimated_rows().sql()?.max(1);
        let mut rate = (request.memory as f64 / (rows as f64 * row as f64)).min(1.0);
        loop {
            let mut values = Values::new(self, request)?;
            let read = match rate >= 1.0 {
                true => values.read_all(request.interrupt)?.then_some(1.0),
                false => values.read_leaves(rate, request.interrupt)?,
            };
            if let Some(share) = read {
                return Ok(values.finish(request.buckets, share));
            }
            rate = rate.min(1.0) / 2.0;
        }
    }
}

/// What a value of a type takes in MySQL's collection of values, by which MySQL chooses how much of
/// a table it reads.
fn expected_bytes(data_type: &DataType) -> u64 {
    const LONGEST_BYTES: u64 = LONGEST as u64 * 4;
    let string = |bytes: u64| 104 + bytes.min(LONGEST_BYTES);
    match data_type {
        DataType::Decimal { .. } => 168,
        DataType::Date
        | DataType::Time { .. }
        | DataType::DateTime { .. }
        | DataType::Timestamp { .. } => 136,
        DataType::Char { chars, .. } | DataType::VarChar { chars, .. } => {
            string(u64::from(*chars) * 4)
        }
        DataType::Binary(bytes) | DataType::VarBinary(bytes) => string(u64::from(*bytes)),
        DataType::Text { .. } | DataType::Blob(_) => string(LONGEST_BYTES),
        _ => 56,
    }
}

impl<'t> Values<'t> {
    fn new(table: &'t Table, request: &HistogramRequest<'t>) -> Result<Values<'t>, SqlError> {
        let of_column = |column: &usize| {
            let codec = value_codec(table, *column).ok_or(Damaged)?;
            let data_type = &table.def.columns[*column].data_type;
            let counts = BTreeMap::new();
            Ok(ColumnValues { column: *column, data_type, codec, counts, nulls: 0 })
        };
        let columns = request.columns.iter().map(of_column).collect::<Result<_, Damaged>>()?;
        // The expected bytes are fewer than those that are counted here.
        let limit = usize::try_from(request.memory.saturating_mul(2)).unwrap_or(usize::MAX);
        Ok(Values { table, zone: request.zone, columns, taken: 0, limit, key: Vec::new() })
    }

    /// Reads all rows; false where the values take too much memory.
    fn read_all(&mut self, interrupt: Interrupt<'_>) -> Result<bool, SqlError> {
        let mut txn = self.table.store.attach();
        txn.begin(Isolation::RepeatableRead);
        for stored in self.table.stored() {
            let (tree, low, high) = (&stored.clustered, KeyBound::Unbounded, KeyBound::Unbounded);
            let mut cursor = txn.cursor(tree, low, high, Direction::Forward, ReadMode::Snapshot);
            while let Some(record) = cursor.next(&mut txn).sql()? {
                interrupt.check()?;
                self.take_row(record.value)?;
                if self.taken > self.limit {
                    return Ok(false);
                }
            }
        }
        txn.commit().sql()?;
        Ok(true)
    }

    /// Reads the rows of a share of the leaves. Returns which share it was; `None` where the values
    /// take too much memory.
    fn read_leaves(
        &mut self,
        rate: f64,
        interrupt: Interrupt<'_>,
    ) -> Result<Option<f64>, SqlError> {
        // Of partitions the largest stands for all.
        let size = |stored: &&Table| stored.store.estimate_rows(&stored.clustered).unwrap_or(0);
        let stored = self.table.stored().into_iter().max_by_key(size);
        let (store, tree) =
            (&self.table.store, stored.map_or(&self.table.clustered, |s| &s.clustered));
        let probe = store.sample_leaves(tree, PROBED_LEAVES, &mut |_| Ok(())).sql()?;
        let wanted = ((probe.leaves * rate).ceil() as usize).max(1);
        let (mut read, mut failed) = (0.0, None);
        let sampled = store.sample_leaves(tree, wanted, &mut |leaf| {
            let full = self.taken > self.limit && wanted > 1 && rate > MIN_RATE;
            if failed.is_some() || full {
                return Ok(());
            }
            if let Err(error) = interrupt.check() {
                failed = Some(error);
                return Ok(());
            }
            read += 1.0;
            leaf.records(columns::MAX_OVERFLOW, |_, row| {
                if let Err(error) = self.take_row(row) {
                    failed = Some(error.into());
                }
            })?;
            Ok(())
        });
        let sampled = sampled.sql()?;
        match failed {
            Some(error) => Err(error),
            None if read < wanted as f64 && !sampled.whole => Ok(None),
            None => Ok(Some((read / sampled.leaves).clamp(f64::MIN_POSITIVE, 1.0))),
        }
    }

    fn take_row(&mut self, row: &[u8]) -> Result<(), Damaged> {
        for values in &mut self.columns {
            let cell = self.table.layout.cell(row, values.column)?;
            if cell == Cell::Null {
                values.nulls += 1;
                continue;
            }
            self.key.clear();
            values.codec.put(&cell, &mut self.key)?;
            match values.counts.get_mut(&self.key[..]) {
                Some(count) => count.rows += 1,
                None => {
                    let value = shortened(cell).value(values.data_type, self.zone);
                    self.taken += VALUE_OVERHEAD + self.key.len() + string_len(&value);
                    values.counts.insert(self.key[..].into(), Count { rows: 1, value });
                }
            }
        }
        Ok(())
    }

    fn finish(self, wanted: u16, rate: f64) -> Vec<Histogram> {
        let updated = clock_micros();
        let (table, columns) = (self.table, self.columns);
        let finish = |values: ColumnValues<'_>| {
            let column = table.def.columns[values.column].name.clone();
            let counts: Vec<Count> = values.counts.into_values().collect();
            let present: u64 = counts.iter().map(|count| count.rows).sum();
            let rows = ((present + values.nulls) as f64).max(1.0);
            let equi_height = counts.len() > usize::from(wanted);
            let null_share = values.nulls as f64 / rows;
            let buckets = buckets_of(&counts, wanted, (rows, rate));
            let sampling_rate = rate;
            Histogram { column, null_share, sampling_rate, updated, wanted, equi_height, buckets }
        };
        columns.into_iter().map(finish).collect()
    }
}

/// The buckets of values of a table from which `rows` rows were read, a share of `rate`.
fn buckets_of(counts: &[Count], wanted: u16, (rows, rate): (f64, f64)) -> Vec<HistogramBucket> {
    let numbers: Vec<u64> = counts.iter().map(|count| count.rows).collect();
    let mut below = 0;
    let bucket = |range: std::ops::Range<usize>| {
        below += numbers[range.clone()].iter().sum::<u64>();
        let once = numbers[range.clone()].iter().filter(|rows| **rows == 1).count() as u64;
        HistogramBucket {
            lower: counts[range.start].value.clone(),
            upper: counts[range.end - 1].value.clone(),
            cumulative: below as f64 / rows,
            distinct: estimated_distinct(range.len() as u64, once, rate),
        }
    };
    buckets::fill(&numbers, usize::from(wanted)).into_iter().map(bucket).collect()
}

/// How many values a bucket has, of which `seen` were met in a share of `rate` of the rows, `once`
/// of them once: the Guaranteed Error Estimator of Charikar et al., "Towards estimation error
/// guarantees for distinct values" (PODS 2000).
fn estimated_distinct(seen: u64, once: u64, rate: f64) -> u64 {
    match seen {
        1 => 1,
        _ => ((1.0 / rate).sqrt() * once as f64).round() as u64 + seen - once,
    }
}

/// The part of a string that counts.
fn shortened(cell: Cell<'_>) -> Cell<'_> {
    let longest = LONGEST as usize;
    match cell {
        Cell::Text(text) => {
            let end = text.char_indices().nth(longest).map_or(text.len(), |(end, _)| end);
            Cell::Text(&text[..end])
        }
        Cell::Bytes(bytes) => Cell::Bytes(&bytes[..bytes.len().min(longest)]),
        other => other,
    }
}

fn string_len(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}
