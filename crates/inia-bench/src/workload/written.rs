//! What clients wrote last to some of the rows, so that a write is found that was acknowledged and
//! is not there.
//!
//! When all is over a row holds what one of the clients wrote to it last: a later client
//! has overwritten the others. Of large tables every n-th row is looked at.

use crate::session::Session;
use crate::target::{Failure, Result};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of all tables together that are looked at, at most.
const ROWS: u64 = 1_000;
/// Keys of one question.
const BATCH: usize = 100;

/// A table's number and a row's key.
type Place = (u64, i64);

/// What the clients of a round have handed over.
pub(super) struct Written {
    every: u64,
    last: Mutex<HashMap<Place, Vec<u64>>>,
}

/// What one client has written.
pub(super) struct Notes {
    written: Arc<Written>,
    /// In this transaction.
    open: Vec<(Place, u64)>,
    last: HashMap<Place, u64>,
}

fn digest(value: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    // Fixed columns come with the spaces that fill them, or without.
    value.trim_end().hash(&mut hasher);
    hasher.finish()
}

impl Written {
    /// For so many rows of all tables together.
    pub(super) fn new(rows: u64) -> Arc<Written> {
        Arc::new(Written { every: rows.div_ceil(ROWS).max(1), last: Mutex::default() })
    }

    /// A client's notes.
    pub(super) fn notes(self: &Arc<Written>) -> Notes {
        Notes { written: self.clone(), open: Vec::new(), last: HashMap::new() }
    }

    /// Compares rows with what was written to them; `query` makes, of a table's number and a list
    /// of keys, a query for keys and values.
    pub(super) fn check(
        &self,
        session: &mut Session,
        query: impl Fn(u64, &str) -> String,
    ) -> Result<()> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut places: Vec<&Place> = last.keys().collect();
        places.sort_unstable();
        for table in places.chunk_by(|a, b| a.0 == b.0) {
            for batch in table.chunks(BATCH) {
                let keys: Vec<String> = batch.iter().map(|(_, key)| key.to_string()).collect();
                let answer = session.query(&query(batch[0].0, &keys.join(", ")))?;
                let row = |row| Some((answer.int(row, 0)?, digest(&answer.text(row, 1)?)));
                let held: HashMap<i64, u64> = (0..answer.rows()).filter_map(row).collect();
                for place in batch {
                    let found = held.get(&place.1);
                    if !found.is_some_and(|found| last[place].contains(found)) {
                        let key = place.1;
                        let message = format!("row {key} does not hold what was written last");
                        return Err(Failure::wrong(message));
                    }
                }
            }
        }
        Ok(())
    }
}

impl Notes {
    /// A transaction begins; what was written in one that did not end is forgotten.
    pub(super) fn begin(&mut self) {
        self.open.clear();
    }

    /// A value was written.
    pub(super) fn write(&mut self, table: u64, key: i64, value: &str) {
        if (key as u64).is_multiple_of(self.written.every) {
            self.open.push(((table, key), digest(value)));
        }
    }

    /// The transaction was committed.
    pub(super) fn commit(&mut self) {
        self.last.extend(self.open.drain(..));
    }

    /// The client is done.
    pub(super) fn hand_over(&self) {
        let mut last = self.written.last.lock().unwrap_or_else(PoisonError::into_inner);
        for (&place, &value) in &self.last {
            last.entry(place).or_default().push(value);
        }
    }
}
