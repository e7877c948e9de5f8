//! What the optimizer knows about a table's contents: how many rows share a key, and how the
//! values of a column are distributed.
//!
//! Statistics are taken from a bounded number of leaves when they are first asked for, and again
//! when a tenth of the rows has come or gone since. They belong to the table's handle in memory:
//! DDL that puts another definition in its place begins anew.
//!
//! Who asks while another session samples gets the former figures; only the first sample is waited
//! for.
//!
//! A column with a histogram of ANALYZE TABLE … UPDATE HISTOGRAM has the distribution that this
//! shows, until the statement is repeated: only the texts that patterns are matched against are
//! sampled.

mod buckets;
mod build;
mod columns;
mod keys;

pub use build::HistogramRequest;
pub(crate) use columns::{ColumnStats, value_codec};
pub(crate) use keys::{KeyStats, PrefixStats};

use super::{IndexDef, Table};
use inia_storage::StorageError;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A sample is taken anew when one row in so many has changed.
const STALE_AFTER: u64 = 10;

/// The statistics of one table's handle.
#[derive(Default)]
pub(crate) struct TableStats {
    /// By position of the index in the definition.
    keys: Mutex<Vec<Slot<KeyStats>>>,
    /// By position of the column.
    columns: Mutex<Vec<Slot<ColumnStats>>>,
    /// What histograms show, by position of the column.
    shown: Mutex<Vec<Option<Arc<ColumnStats>>>>,
    /// Held while a sample is taken.
    sampling: Mutex<()>,
}

/// A sample, `None` inside where none could be taken, and the table's age at that time.
struct Slot<T>(Option<(Option<Arc<T>>, Age)>);

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot(None)
    }
}

/// How far a table's rows have come.
#[derive(Clone, Copy)]
struct Age {
    rows: u64,
    updates: u64,
}

impl Age {
    fn of(table: &Table) -> Age {
        Age { rows: table.rows(), updates: table.shared.updates.load(Ordering::Relaxed) }
    }

    /// Whether what was known then is still good at the age of `now`.
    fn is_near(self, now: Age) -> bool {
        // Another session's sample may be younger than `now`.
        let updated = now.updates.abs_diff(self.updates);
        let changed = now.rows.abs_diff(self.rows).saturating_add(updated);
        changed.saturating_mul(STALE_AFTER) <= self.rows
    }
}

/// A table's statistics, by the table.
#[derive(Clone, Copy)]
pub(crate) struct Statistics<'t> {
    table: &'t Table,
}

impl Table {
    /// What is known about the table's contents.
    pub(crate) fn stats(&self) -> Statistics<'_> {
        let base = self.partitions.as_ref().and_then(|partitions| partitions.base());
        Statistics { table: base.map_or(self, |base| base) }
    }

    /// Estimates the number of rows anew, and forgets all samples: the next question takes them.
    pub fn refresh_statistics(&self) -> Result<(), StorageError> {
        let rows = self.estimated_rows()?;
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        self.shared.row_estimate.store(rows, Ordering::Relaxed);
        self.shared.estimate_known.store(true, Ordering::Relaxed);
        self.stats.keys.lock().clear();
        self.stats.columns.lock().clear();
        Ok(())
    }
}

impl Statistics<'_> {
    /// How many rows have the same values in the first `parts` parts of an index, on average over
    /// the values that are there, NULL not counted; at least 1. `None` where it cannot be known.
    pub(crate) fn rows_per_key(self, index: usize, parts: usize) -> Option<f64> {
        let def = &self.table.def.indexes[index];
        if def.unique() && parts == def.parts.len() {
            return Some(1.0);
        }
        let keys = self.keys(index)?;
        let prefix = keys.prefixes.get(parts.checked_sub(1)?)?;
        Some(((keys.entries - prefix.nulls) / prefix.distinct.max(1.0)).max(1.0))
    }

    /// How many rows have the same values in the first `parts` parts of an index as MySQL counts
    /// them, NULL being equal to NULL.
    pub(crate) fn rows_per_group(self, index: usize, parts: usize) -> Option<f64> {
        let def = &self.table.def.indexes[index];
        if def.unique() && parts == def.parts.len() {
            return Some(1.0);
        }
        let keys = self.keys(index)?;
        let prefix = keys.prefixes.get(parts.checked_sub(1)?)?;
        Some((keys.entries / (prefix.distinct + prefix.distinct_nulls).max(1.0)).max(1.0))
    }

    /// How many values a column has, NULL not counted; `None` where it is not known. An index that
    /// begins with the column knows it better than a sample of rows.
    pub(crate) fn distinct(self, column: usize) -> Option<f64> {
        let def = &self.table.def;
        let is_key = |index: &IndexDef| {
            index.unique() && index.parts.len() == 1 && index.parts[0].column == column
        };
        if !def.columns[column].nullable && def.indexes.iter().any(is_key) {
            return Some(self.table.rows() as f64);
        }
        let distinct = match self.leading(column) {
            Some((_, prefix)) => prefix.distinct,
            None => self.column(column)?.distinct,
        };
        Some(distinct.max(1.0))
    }

    /// The share of the rows in which a column is NULL; `None` where it is not known.
    pub(crate) fn null_share(self, column: usize) -> Option<f64> {
        if !self.table.def.columns[column].nullable {
            return Some(0.0);
        }
        match self.leading(column) {
            Some((keys, prefix)) => Some(prefix.nulls / keys.entries.max(1.0)),
            None => Some(self.column(column)?.null_share),
        }
    }

    /// The statistics of an index that begins with a column.
    fn leading(self, column: usize) -> Option<(Arc<KeyStats>, PrefixStats)> {
        let leads = |index: &IndexDef| {
            let part = &index.parts[0];
            index.kind.has_keys() && part.column == column && part.prefix.is_none()
        };
        let index = self.table.def.indexes.iter().position(leads)?;
        let keys = self.keys(index)?;
        let prefix = *keys.prefixes.first()?;
        Some((keys, prefix))
    }

    /// The statistics of an index; `None` where it has none, or its tree cannot be read.
    pub(crate) fn keys(self, index: usize) -> Option<Arc<KeyStats>> {
        self.sampled(&self.table.stats.keys, index, keys::sample)
    }

    /// The statistics of the tree of rows, whether it is an index or not.
    pub(crate) fn clustered(self) -> Option<Arc<KeyStats>> {
        match self.table.def.clustered_index() {
            Some(_) => self.keys(0),
            None => keys::sample_rows(self.table).map(Arc::new),
        }
    }

    /// The statistics of a column; `None` where its type has none, or the rows cannot be read.
    pub(crate) fn column(self, column: usize) -> Option<Arc<ColumnStats>> {
        self.shown(column).or_else(|| self.sample(column))
    }

    /// A sample of a column, whether it has a histogram or not.
    pub(crate) fn sample(self, column: usize) -> Option<Arc<ColumnStats>> {
        self.sampled(&self.table.stats.columns, column, columns::sample)
    }

    /// What a column's histogram shows.
    fn shown(self, column: usize) -> Option<Arc<ColumnStats>> {
        let histogram = self.table.def.histogram(column)?;
        let mut shown = self.table.stats.shown.lock();
        if shown.len() <= column {
            shown.resize(column + 1, None);
        }
        if shown[column].is_none() {
            shown[column] = ColumnStats::of_histogram(self.table, column, histogram).map(Arc::new);
        }
        shown[column].clone()
    }

    /// What is in a slot, sampled anew where that is due.
    fn sampled<T>(
        self,
        slots: &Mutex<Vec<Slot<T>>>,
        at: usize,
        sample: fn(&Table, usize) -> Option<T>,
    ) -> Option<Arc<T>> {
        let now = Age::of(self.table);
        let known = || match slots.lock().get(at) {
            Some(Slot(Some((taken, then)))) => (Some(taken.clone()), then.is_near(now)),
            _ => (None, false),
        };
        let (old, good) = known();
        if good {
            return old?;
        }
        // Another session's sample is waited for only where nothing is known yet.
        let sampling = match old {
            Some(_) => self.table.stats.sampling.try_lock(),
            None => Some(self.table.stats.sampling.lock()),
        };
        if sampling.is_none() {
            return old?;
        }
        let (newer, good) = known();
        if good {
            return newer?;
        }
        let taken = sample(self.table, at).map(Arc::new);
        let mut slots = slots.lock();
        if slots.len() <= at {
            slots.resize_with(at + 1, Slot::default);
        }
        slots[at] = Slot(Some((taken.clone(), now)));
        taken
    }
}

#[cfg(test)]
mod tests;
