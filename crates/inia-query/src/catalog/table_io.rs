//! What statements have read and written of a table, by the index that they used.
//!
//! It is kept while sums over statements are, see `observe`.

use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Counts of one index, or of no index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexIo {
    /// Rows read.
    pub fetched: u64,
    /// Rows put in.
    pub inserted: u64,
    /// Rows changed.
    pub updated: u64,
    /// Rows deleted.
    pub deleted: u64,
}

impl IndexIo {
    fn add(&mut self, more: IndexIo) {
        self.fetched += more.fetched;
        self.inserted += more.inserted;
        self.updated += more.updated;
        self.deleted += more.deleted;
    }
}

/// Counts of a table by the names of indexes; `None` stands for reads of the whole table.
#[derive(Default)]
pub struct TableIo(Mutex<BTreeMap<Option<String>, IndexIo>>);

impl TableIo {
    /// Adds what a statement did.
    pub fn add(&self, index: Option<&str>, more: IndexIo) {
        self.0.lock().entry(index.map(str::to_owned)).or_default().add(more);
    }

    /// The counts of one index.
    pub(crate) fn of_index(&self, index: Option<&str>) -> IndexIo {
        self.0.lock().get(&index.map(str::to_owned)).copied().unwrap_or_default()
    }

    /// The counts of all.
    pub(crate) fn whole(&self) -> IndexIo {
        let mut sum = IndexIo::default();
        self.0.lock().values().for_each(|more| sum.add(*more));
        sum
    }

    /// Begins anew.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}
