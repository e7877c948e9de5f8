//! A crash at every change of the disk, seen through SQL; and every call to the disk failing.
//!
//! A workload runs on a simulated disk that shows, at each changing call, what the machine's stop
//! there would leave. Each such image is opened by another thread while the workload goes on:
//!
//! ```text
//!   statements   | acknowledged | acknowledged | under way ...
//!   disk calls     w w s   w s     w s   w w s   w ↯ image
//!   allowed in the image: the tables before the statement, or after it, and nothing else
//! ```
//!
//! For a definition in an open transaction the tables in between are allowed, too: the transaction
//! is committed first. In each image every index must fit its table, every page must have an owner,
//! and work must go on. Of every other image the recovery is stopped, too, and begun again.

mod faults;
mod images;
mod model;
mod run;
mod several;
mod workload;

use crate::session::Session;
use crate::session::tests::TestSession;
use inia_query::database::{ClientInfo, Database, DatabaseOptions};
use inia_query::error::OpenError;
use inia_storage::EngineSizes;
use inia_testkit::SimDisk;
use std::sync::Arc;

/// Few page frames, so that pages are evicted, and a short log, so that it goes round.
fn open(disk: &SimDisk) -> Result<Arc<Database>, OpenError> {
    let options = DatabaseOptions { buffer_pool_size: 40 * (16 << 10), background: false };
    let sizes =
        EngineSizes { log_capacity: 256 << 10, segment_size: 64 << 10, undo_memory: 8 << 10 };
    Database::open_sized(Arc::new(disk.clone()), options, sizes)
}

fn session(db: &Arc<Database>) -> TestSession {
    let mut session = TestSession(Session::new(db, ClientInfo::default()));
    session.run("USE test");
    // Locks are waited for in vain only where a transaction cannot be rolled back.
    session.run("SET innodb_lock_wait_timeout = 1");
    session
}

/// How much more than usual is tried: the environment variable `INIA_CRASH_SEEDS`, or 1.
fn seeds() -> u64 {
    std::env::var("INIA_CRASH_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}
