//! What the optimizer knows about a table's contents: how many rows share a key, and how the
//! values of a column are distributed.
//!
//! Statistics are taken from a bounded number of leaves when they are first asked for, and again
//! when a tenth of the rows has come or gone since. They belong to the table's handle in memory:
//! DDL that puts another definition in its place begins anew.
//!
//! Who asks while another session samples gets the former figures; only the first sample is waited
//! for.

mod keys;

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
    /// Held while a sample is taken.
    sampling: Mutex<()>,
}

/// One sample and the number of rows when it was taken.
struct Slot<T> {
    taken: Option<(Arc<T>, u64)>,
}

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot { taken: None }
    }
}

impl<T> Slot<T> {
    /// The sample, where there is one, and whether it is still good for a table of `rows` rows.
    fn get(&self, rows: u64) -> (Option<Arc<T>>, bool) {
        match &self.taken {
            None => (None, false),
            Some((taken, then)) => {
                let good = rows.abs_diff(*then).saturating_mul(STALE_AFTER) <= *then;
                (Some(taken.clone()), good)
            }
        }
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
        Statistics { table: self }
    }

    /// Estimates the number of rows anew, and forgets all samples: the next question takes them.
    pub fn refresh_statistics(&self) -> Result<(), StorageError> {
        let rows = self.store.estimate_rows(&self.clustered)?;
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        self.shared.row_estimate.store(rows, Ordering::Relaxed);
        self.shared.estimate_known.store(true, Ordering::Relaxed);
        self.stats.keys.lock().clear();
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

    /// How many values a column has, NULL not counted; `None` where it is not known.
    pub(crate) fn distinct(self, column: usize) -> Option<f64> {
        Some(self.leading(column)?.1.distinct.max(1.0))
    }

    /// The share of the rows in which a column is NULL; `None` where it is not known.
    pub(crate) fn null_share(self, column: usize) -> Option<f64> {
        if !self.table.def.columns[column].nullable {
            return Some(0.0);
        }
        let (keys, prefix) = self.leading(column)?;
        Some(prefix.nulls / keys.entries.max(1.0))
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
        let stats = &self.table.stats;
        let rows = self.table.rows();
        let (known, good) = stats.keys.lock().get(index).map_or((None, false), |s| s.get(rows));
        if good {
            return known;
        }
        // Only where nothing is known yet is another session's sample waited for.
        let sampling = match known {
            Some(_) => stats.sampling.try_lock(),
            None => Some(stats.sampling.lock()),
        };
        if sampling.is_none() {
            return known;
        }
        let (newer, good) = stats.keys.lock().get(index).map_or((None, false), |s| s.get(rows));
        if good {
            return newer;
        }
        let Some(taken) = keys::sample(self.table, index) else { return newer };
        let taken = Arc::new(taken);
        let mut slots = stats.keys.lock();
        if slots.len() <= index {
            slots.resize_with(self.table.def.indexes.len(), Slot::default);
        }
        slots[index].taken = Some((taken.clone(), rows));
        Some(taken)
    }
}

#[cfg(test)]
mod tests;
