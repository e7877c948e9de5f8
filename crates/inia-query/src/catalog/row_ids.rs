//! Hidden row ids: the clustered keys of rows that no index is clustered by.
//!
//! A new row gets the next number, so that a scan gives rows in the order in which they came.
//! MyISAM and MEMORY put a new row where the row was that was deleted last, and so do the ids of
//! their tables:
//!
//! ```text
//! insert a, b, c      ids 1, 2, 3
//! delete a, delete b  vacated: 1, 2
//! insert d, e, f      d gets 2, e gets 1, f gets 4: a scan gives e, d, c, f
//! ```
//!
//! Vacated ids are a guess: a statement that is rolled back brings its rows back. A writer that
//! finds an id taken forgets all of them.

use super::table::TableShared;
use crate::table_def::TableDef;
use std::sync::atomic::Ordering;

/// How many vacated ids a table keeps at most.
const MAX_VACATED: usize = 1 << 16;

impl TableShared {
    /// The hidden id of a new row.
    pub(crate) fn take_row_id(&self, def: &TableDef) -> u64 {
        let vacated = if def.refills_places() { self.vacated.lock().pop() } else { None };
        vacated.unwrap_or_else(|| self.next_row_id.fetch_add(1, Ordering::Relaxed))
    }

    /// Notes that a row is deleted, whose clustered key is `key`.
    pub(crate) fn vacate(&self, def: &TableDef, key: &[u8]) {
        if !def.refills_places() {
            return;
        }
        if let Some(id) = row_id(key) {
            let mut vacated = self.vacated.lock();
            if vacated.len() < MAX_VACATED {
                vacated.push(id);
            }
        }
    }

    /// Forgets which ids were vacated; false where there are none.
    pub(crate) fn forget_vacated(&self) -> bool {
        let mut vacated = self.vacated.lock();
        let had = !vacated.is_empty();
        vacated.clear();
        had
    }

    /// Has the next id computed again at its next use: the rows have new ids.
    pub fn forget_row_ids(&self) {
        self.forget_vacated();
        self.next_row_id.store(0, Ordering::Relaxed);
    }
}

impl TableDef {
    /// Whether a new row takes the place of a deleted one.
    fn refills_places(&self) -> bool {
        matches!(self.engine.as_str(), "MyISAM" | "MEMORY")
    }
}

/// The id that a clustered key is.
pub(crate) fn row_id(key: &[u8]) -> Option<u64> {
    key.try_into().ok().map(u64::from_be_bytes)
}
