//! Point reads of many rows of one table at once.

use super::bounds::{self, Keys};
use super::run::FoundRun;
use super::AccessPath;
use crate::catalog::{IndexKind, Table};
use crate::error::StorageResult;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::Txn;
use std::ops::Range;
use std::sync::Arc;

type Result<T> = std::result::Result<T, SqlError>;

/// Keys of the clustered tree that are looked up together, and the rows that were found.
pub(crate) struct Lookups {
    table: Arc<Table>,
    keys: Vec<u8>,
    /// Where each key is.
    places: Vec<Range<usize>>,
    rows: Vec<u8>,
    /// Where the row of each key is, if there is one.
    found: Vec<Option<Range<usize>>>,
}

impl Lookups {
    /// `None` where the path leads to no single row of the clustered tree.
    pub(crate) fn of(table: &Arc<Table>, path: &AccessPath) -> Option<Lookups> {
        let kind = |index: usize| table.def.indexes[index].kind;
        let clustered = path.index.is_some_and(|index| kind(index) == IndexKind::Primary);
        (path.point && clustered).then(|| Lookups {
            table: table.clone(),
            keys: Vec::new(),
            places: Vec::new(),
            rows: Vec::new(),
            found: Vec::new(),
        })
    }

    /// Adds the key of `row`. `None`, with nothing added, where no key can hold its values and the
    /// rows must be read in another way; false where nothing can match.
    pub(crate) fn add(
        &mut self,
        path: &AccessPath,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<Option<bool>> {
        let bounds = bounds::compute(&self.table, path, ctx, row)?;
        Ok(match bounds.keys {
            Keys::Point(key) => {
                let start = self.keys.len();
                self.keys.extend_from_slice(&key);
                self.places.push(start..self.keys.len());
                Some(true)
            }
            Keys::Ranges(ranges) if ranges.is_empty() => Some(false),
            Keys::Ranges(_) => None,
        })
    }

    /// Reads the rows of all keys. Their number is that of the keys that were added since the last
    /// time, of which [`Lookups::is_found`] says which have one.
    pub(crate) fn read(&mut self, txn: &mut Txn) -> Result<()> {
        self.rows.clear();
        self.found.clear();
        self.found.resize(self.places.len(), None);
        let keys: Vec<&[u8]> = self.places.iter().map(|place| &self.keys[place.clone()]).collect();
        let (rows, found) = (&mut self.rows, &mut self.found);
        txn.get_batch(&self.table.clustered, &keys, rows, |i, row| found[i] = row).sql()?;
        self.keys.clear();
        self.places.clear();
        Ok(())
    }

    /// Whether there is a row of the key that was added at this position.
    pub(crate) fn is_found(&self, position: usize) -> bool {
        self.found[position].is_some()
    }

    /// The rows that were found, in the order of their keys. `key` is memory.
    pub(crate) fn found<'r>(&'r self, key: &'r mut Vec<u8>) -> FoundRun<'r> {
        let rows = self.found.iter().flatten().map(|row| &self.rows[row.clone()]);
        FoundRun::of_rows(rows.collect(), key)
    }
}
