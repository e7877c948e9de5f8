//! The protocols between threads, in every interleaving that has a few preemptions: page latches,
//! row and gap locks, group commit. They show lost wakes, missed deadlocks and broken exclusion.
//! Memory orderings have small programs of their own (`buffer.rs`); the locks' and the log's are
//! under mutexes.
//!
//! The modules under test are the ones of the library, compiled here once more with another
//! [`sync`]: the model checker's locks and atomics in place of the real ones. A wait that nobody
//! ends is a failure; waits have no time limits here.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "the library uses all of these modules, as its own"
)]

#[path = "../src/counts.rs"]
mod counts;
#[path = "../src/error.rs"]
mod error;
#[path = "../src/request.rs"]
mod request;

mod buffer;
mod lock;
mod sync;
mod wal;

use error::StorageError;

type Result<T> = std::result::Result<T, StorageError>;

/// Runs `body` in every interleaving with at most so many preemptions.
fn explore(preemptions: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 100_000;
    builder.check(body);
}
