//! Look-ups of many rows of one table at once: single keys, and short ranges of keys.

use super::AccessPath;
use super::bounds::{self, Keys};
use super::run::FoundRun;
use crate::catalog::Table;
use crate::error::StorageResult;
use crate::table_def::ColumnDef;
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::{ShortRanges, Txn};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

type Result<T> = std::result::Result<T, SqlError>;

/// Look-ups for the rows of a batch, and the rows that they found.
pub(crate) struct Lookups {
    table: Arc<Table>,
    /// The secondary index whose entries lead to the rows.
    secondary: Option<usize>,
    /// Records of short ranges: rows, or entries of the secondary index.
    ranges: ShortRanges,
    /// Keys of the clustered tree, and where each is.
    keys: Vec<u8>,
    places: Vec<Range<usize>>,
    /// The rows of those keys, and where the row of each is, if there is one.
    rows: Vec<u8>,
    found: Vec<Option<Range<usize>>>,
    /// For each key or record the row that it was looked up for.
    wanted_by: Vec<u32>,
    /// For how many rows it was looked up.
    runs: u64,
    /// How many keys are looked up together.
    most: usize,
}

/// Keys that are looked up together where rows may hold documents, which are read whole.
const MAX_DOCUMENTS: usize = 64;
/// Records of short ranges are read before there are more bytes of them.
const MAX_BYTES: usize = 1 << 20;

impl Lookups {
    /// `None` where rows are not looked up by values of a key.
    pub(crate) fn of(table: &Arc<Table>, path: &AccessPath) -> Option<Lookups> {
        let index = path.index?;
        let secondary = !table.def.indexes[index].clustered;
        let by_value = !path.equal.is_empty() && path.intervals.is_empty() && !path.backward;
        let is_document = |column: &ColumnDef| {
            use DataType as T;
            matches!(column.data_type, T::Text { .. } | T::Blob(_) | T::Json)
        };
        let documents = table.def.columns.iter().any(is_document);
        let usable =
            by_value && table.partitions.is_none() && !path.covering && !(path.point && secondary);
        usable.then(|| Lookups {
            table: table.clone(),
            secondary: secondary.then_some(index),
            ranges: ShortRanges::default(),
            keys: Vec::new(),
            places: Vec::new(),
            rows: Vec::new(),
            found: Vec::new(),
            wanted_by: Vec::new(),
            runs: 0,
            most: if documents { MAX_DOCUMENTS } else { usize::MAX },
        })
    }

    /// For how many rows it was looked up.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// Whether what is found may take so much memory that no more is to be added.
    pub(crate) fn is_large(&self) -> bool {
        self.pending() >= self.most || self.ranges.held() >= MAX_BYTES
    }

    /// How many rows may be found.
    pub(crate) fn pending(&self) -> usize {
        self.wanted_by.len()
    }

    /// Forgets what was looked up.
    pub(crate) fn clear(&mut self) {
        self.runs = 0;
        self.ranges.clear();
        self.keys.clear();
        self.places.clear();
        self.wanted_by.clear();
    }

    /// Looks up for `row`, which has this number. False, with nothing added, where what it leads to
    /// must be read in another way.
    pub(crate) fn add(
        &mut self,
        path: &AccessPath,
        number: u32,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
        txn: &RefCell<Txn>,
    ) -> Result<bool> {
        let bounds = bounds::compute(&self.table, path, ctx, row)?;
        let ranges = match bounds.keys {
            Keys::Point(key) => {
                let start = self.keys.len();
                self.keys.extend_from_slice(&key);
                self.places.push(start..self.keys.len());
                self.wanted_by.push(number);
                self.runs += 1;
                return Ok(true);
            }
            // Values that no key can hold are looked for in another way.
            Keys::Ranges(ranges) if path.point && !ranges.is_empty() => return Ok(false),
            Keys::Once(_) => return Ok(false),
            Keys::Ranges(ranges) => ranges,
        };
        let tree = match self.secondary {
            Some(index) => &self.table.indexes[index].tree,
            None => &self.table.clustered,
        };
        let before = self.ranges.len();
        for range in ranges {
            let read = match &range.end {
                Some(end) => {
                    let keys = (&range.start[..], &end[..]);
                    txn.borrow_mut().get_range(tree, keys, &mut self.ranges).sql()?
                }
                None => false,
            };
            if !read {
                self.ranges.truncate(before);
                return Ok(false);
            }
        }
        let added = self.ranges.len() - before;
        self.wanted_by.resize(self.wanted_by.len() + added, number);
        self.runs += 1;
        Ok(true)
    }

    /// Reads the rows that keys lead to. Returns for each row found the number of the row that it
    /// was looked up for.
    pub(crate) fn read(&mut self, txn: &RefCell<Txn>) -> Result<Vec<u32>> {
        if let Some(index) = self.secondary {
            let ranges = std::mem::take(&mut self.ranges);
            let codec = &self.table.indexes[index].codec;
            for i in 0..ranges.len() {
                let primary = codec.primary_key(ranges.key(i), ranges.value(i))?;
                let start = self.keys.len();
                self.keys.extend_from_slice(primary);
                self.places.push(start..self.keys.len());
            }
            self.ranges = ranges;
        } else if self.places.is_empty() {
            return Ok(std::mem::take(&mut self.wanted_by));
        }
        debug_assert_eq!(self.places.len(), self.wanted_by.len(), "each key is wanted by a row");
        self.rows.clear();
        self.found.clear();
        self.found.resize(self.places.len(), None);
        let keys: Vec<&[u8]> = self.places.iter().map(|place| &self.keys[place.clone()]).collect();
        let (rows, found) = (&mut self.rows, &mut self.found);
        let mut txn = txn.borrow_mut();
        txn.get_batch(&self.table.clustered, &keys, rows, |i, row| found[i] = row).sql()?;
        let mut found = self.found.iter();
        self.wanted_by.retain(|_| found.next().is_some_and(Option::is_some));
        Ok(std::mem::take(&mut self.wanted_by))
    }

    /// The rows that were found, in the order in which they were looked up. `key` is memory.
    pub(crate) fn found<'r>(&'r self, key: &'r mut Vec<u8>) -> FoundRun<'r> {
        let rows = match self.places.is_empty() {
            true => (0..self.ranges.len()).map(|i| self.ranges.value(i)).collect(),
            false => self.found.iter().flatten().map(|row| &self.rows[row.clone()]).collect(),
        };
        FoundRun::of_rows(rows, key)
    }
}
