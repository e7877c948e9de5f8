//! Row and gap locks, waits and deadlocks.
//!
//! A transaction that writes a record puts its id in the record's header: that *is* its exclusive
//! lock, and costs nothing here. This module keeps what the header cannot say:
//!
//! - **Record locks** ([`record`]): shared or exclusive, named by a hash of tree and key, first
//!   come first served, but that a few who run may go before a waiter that is about to wake. Names
//!   do not depend on pages, so splits and merges never move a lock.
//! - **Gap locks** ([`gap`]): intervals of keys per tree. They conflict with nothing but the insert
//!   of a key inside them, and an insert asks only when the tree has any.
//! - **Waits** ([`wait`]): a transaction that must wait registers under the detector's mutex, and
//!   the wait-for graph is searched at once for a cycle through it.
//!
//! Worked example, keys 10 and 20 in a tree, REPEATABLE READ:
//!
//! 1. A locks 15 for update; it is absent, so A takes the gap `(10, 20]`.
//! 2. B does the same; gaps never conflict, so B holds `(10, 20]` too.
//! 3. A inserts 15: inside B's gap, so A waits for B.
//! 4. B inserts 16: inside A's gap, so B would wait for A. The search finds A → B → A; the lighter
//!    of the two, or the newcomer B when they are equal, gets [`StorageError::Deadlock`].
//!
//! A queue does not know whether a record has changed: after every grant the caller looks at the
//! record again, and a caller that locks before it reads validates the leaf afterwards.
//!
//! [`StorageError::Deadlock`]: crate::StorageError::Deadlock

pub(crate) mod gap;
pub(crate) mod owner;
pub(crate) mod record;
pub(crate) mod wait;

#[cfg(test)]
mod tests;

pub(crate) use gap::{Edge, Gaps};
pub(crate) use owner::Owner;
pub(crate) use record::Grant;
pub(crate) use wait::{LockSystem, RecordRequest};
