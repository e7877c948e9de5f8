//! Readers: handles by which other threads read what a transaction reads.
//!
//! A query on several threads has one read view. Each thread gets a handle of its own with the
//! transaction's snapshot, and with its id, so that the transaction's own changes are visible:
//!
//! ```text
//!   T9: snapshot {low water 98, horizon 700, end 102}, own changes
//!       ├─ reader, thread 1: the same snapshot, own id 9
//!       └─ reader, thread 2: the same snapshot, own id 9
//! ```
//!
//! A reader announces the snapshot in a session of its own. It must end before the transaction
//! does: until then the transaction's announcement stands, which purge may have met before it met
//! the reader's. An interrupt of the transaction ends its readers' scans, too.

use super::handle::Txn;
use crate::Result;
use crate::request::Isolation;
use std::sync::Arc;

impl Txn {
    /// A handle on which another thread reads what this one does. It only reads, and it is dropped
    /// before this transaction ends.
    pub fn reader(&mut self) -> Result<Txn> {
        debug_assert!(self.open, "a reader of an open transaction");
        self.has_read = true;
        // Without a read view the newest versions are read.
        let snapshot = match self.isolation {
            Isolation::ReadUncommitted => self.snapshot,
            _ => Some(self.snapshot()?),
        };
        let mut reader = Txn::new(Arc::clone(&self.core));
        reader.open = true;
        reader.isolation = self.isolation;
        reader.own = self.own;
        reader.owner = Arc::clone(&self.owner);
        if let Some(snapshot) = snapshot {
            reader.snapshot = Some(reader.session.announce(snapshot.horizon, || snapshot));
        }
        Ok(reader)
    }
}
