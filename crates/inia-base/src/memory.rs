//! The server's memory for the work of statements, beside the buffer pool.
//!
//! [`MemoryBudget`] is one for the server, [`SessionMemory`] one for each session: what its
//! statement and its variables hold. Both count what is *taken*; takers take in large pieces and
//! hold little things for free, so that a point select touches neither.
//!
//! Invariants:
//! - the budget's `taken` is the sum of what all sessions have taken
//! - `taken` ≤ `limit`, for the server and for each session

use crate::error::{ErrorCode, SqlError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One session may take this part of the server's budget.
const SESSION_PART: u64 = 4;
/// A session may take so much, however small the server's budget is.
const MIN_SESSION: u64 = 8 << 20;

/// What all sessions may take together.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: AtomicU64,
    taken: AtomicU64,
    /// Files that took what did not fit, of intermediate tables and others.
    files: [AtomicU64; 2],
}

impl Default for MemoryBudget {
    /// A budget without a limit.
    fn default() -> MemoryBudget {
        MemoryBudget { limit: AtomicU64::new(u64::MAX), ..MemoryBudget::empty() }
    }
}

impl MemoryBudget {
    const fn empty() -> MemoryBudget {
        let files = [AtomicU64::new(0), AtomicU64::new(0)];
        MemoryBudget { limit: AtomicU64::new(0), taken: AtomicU64::new(0), files }
    }

    /// How many files took what did not fit: of intermediate tables, and all.
    pub fn files(&self) -> (u64, u64) {
        let [tables, others] = [0, 1].map(|kind: usize| self.files[kind].load(Ordering::Relaxed));
        (tables, tables + others)
    }

    /// Sets how many bytes there are. What has been taken stays taken.
    pub fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// How many bytes there are.
    pub fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// How many bytes are taken.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// How many bytes one session may have of it.
    pub fn part(&self) -> u64 {
        (self.limit() / SESSION_PART).max(MIN_SESSION)
    }

    /// Takes bytes; false where so many are not left.
    pub fn take(&self, bytes: u64) -> bool {
        let limit = self.limit();
        let fits = |taken: u64| taken.checked_add(bytes).filter(|sum| *sum <= limit);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    /// Gives taken bytes back.
    pub fn give(&self, bytes: u64) {
        let before = self.taken.fetch_sub(bytes, Ordering::Relaxed);
        debug_assert!(before >= bytes, "only what was taken is given back");
    }
}

/// What one session has taken of the server's budget, on all threads that work for it.
#[derive(Debug, Default)]
pub struct SessionMemory {
    budget: Arc<MemoryBudget>,
    taken: AtomicU64,
}

impl SessionMemory {
    /// A session that has taken nothing.
    pub fn new(budget: Arc<MemoryBudget>) -> SessionMemory {
        SessionMemory { budget, taken: AtomicU64::new(0) }
    }

    /// What this session has taken is counted for the other, and the other way round.
    pub fn swap(&self, other: &SessionMemory) {
        let own = self.taken.load(Ordering::Relaxed);
        self.taken.store(other.taken.swap(own, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Takes bytes; false where the session has its part or the server has no more.
    pub fn take(&self, bytes: u64) -> bool {
        let part = self.budget.part();
        let fits = |taken: u64| taken.checked_add(bytes).filter(|sum| *sum <= part);
        if self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_err() {
            return false;
        }
        let given = self.budget.take(bytes);
        if !given {
            self.taken.fetch_sub(bytes, Ordering::Relaxed);
        }
        given
    }

    /// Takes bytes for what cannot be kept anywhere else; error 3170 where there are not so many.
    pub fn demand(&self, bytes: u64, whose: &str) -> Result<(), SqlError> {
        if self.take(bytes) {
            return Ok(());
        }
        let limit = self.budget.part().min(self.budget.limit());
        let why = "The statement needs more memory than the server has for it.";
        Err(SqlError::new(ErrorCode::CapacityExceeded, &[&limit, &whose, &why]))
    }

    /// Counts a file that takes what did not fit.
    pub fn note_file(&self, of_table: bool) {
        self.budget.files[usize::from(!of_table)].fetch_add(1, Ordering::Relaxed);
    }

    /// Gives taken bytes back.
    pub fn give(&self, bytes: u64) {
        let before = self.taken.fetch_sub(bytes, Ordering::Relaxed);
        debug_assert!(before >= bytes, "only what was taken is given back");
        self.budget.give(bytes);
    }

    /// How many bytes the session has taken.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Drop for SessionMemory {
    fn drop(&mut self) {
        self.budget.give(self.taken());
    }
}

/// What something has taken of the server's budget that belongs to no statement: a request's
/// packets, a cursor's rows, syntax trees, prepared statements and parameters that wait for them.
#[derive(Debug, Default)]
pub struct MemoryShare {
    budget: Option<Arc<MemoryBudget>>,
    taken: u64,
}

/// A share holds so much without counting it.
const UNCOUNTED: u64 = 256 << 10;

impl MemoryShare {
    /// A share of this budget; without one there is no limit.
    pub fn of(budget: Option<Arc<MemoryBudget>>) -> MemoryShare {
        MemoryShare { budget, taken: 0 }
    }

    /// Sees to it that so many bytes may be held; false where they are not left.
    #[inline]
    pub fn covers(&mut self, bytes: u64) -> bool {
        bytes <= UNCOUNTED + self.taken || self.grow(bytes - UNCOUNTED)
    }

    #[cold]
    fn grow(&mut self, bytes: u64) -> bool {
        let Some(budget) = &self.budget else { return true };
        let ample = bytes.saturating_add(bytes / 2);
        let fits = [ample, bytes].into_iter().find(|wanted| budget.take(wanted - self.taken));
        self.taken = fits.unwrap_or(self.taken);
        fits.is_some()
    }

    /// As [`MemoryShare::covers`], and gives back what so many bytes do not need.
    pub fn resize(&mut self, bytes: u64) -> bool {
        let wanted = bytes.saturating_sub(UNCOUNTED);
        if let Some(budget) = self.budget.as_ref().filter(|_| self.taken / 2 > wanted) {
            budget.give(self.taken - wanted);
            self.taken = wanted;
        }
        self.covers(bytes)
    }

    /// Gives everything back.
    #[inline]
    pub fn release(&mut self) {
        if let Some(budget) = self.budget.as_ref().filter(|_| self.taken > 0) {
            budget.give(std::mem::take(&mut self.taken));
        }
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests;
