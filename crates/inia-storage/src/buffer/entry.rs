//! The page table's word: translation, latch state and version of one page in 64 bits.
//!
//! ```text
//!  63            32 31        8   7    6      0
//!  +---------------+-----------+------+--------+
//!  | version       | frame     | wait | state  |
//!  +---------------+-----------+------+--------+
//! ```
//! `version` grows at every exclusive unlock that changed the page and at every eviction. `wait` is
//! set while threads are parked for the page. The all-zero word is an absent page, so that the
//! table can be untouched zero memory.

use crate::sync::{AtomicU64, Ordering, fence};

const STATE: u64 = 0x7f;
const WAITERS: u64 = 0x80;
const FRAME_SHIFT: u32 = 8;
const FRAME: u64 = 0x00ff_ffff << FRAME_SHIFT;
const VERSION_SHIFT: u32 = 32;
const VERSION: u64 = 0xffff_ffff << VERSION_SHIFT;

/// Most frames that a word can name.
pub(super) const MAX_FRAMES: u32 = 1 << 24;

const EVICTED: u64 = 0;
const UNLOCKED: u64 = 1;
const MARKED: u64 = 2;
const LOCKED: u64 = 3;
const SHARED_BASE: u64 = 3;
const SHARED_MAX: u64 = STATE;

/// One value of a page table word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

/// A word's latch state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryState {
    /// Not in memory.
    Evicted,
    /// In memory, no latch held.
    Unlocked,
    /// As unlocked; evicted by the clock's next visit unless used before.
    Marked,
    /// Latched exclusively, or being read in.
    Locked,
    /// Latched by this many readers.
    Shared(u64),
}

impl Word {
    /// The latch state.
    #[inline]
    pub(super) fn state(self) -> EntryState {
        match self.0 & STATE {
            EVICTED => EntryState::Evicted,
            UNLOCKED => EntryState::Unlocked,
            MARKED => EntryState::Marked,
            LOCKED => EntryState::Locked,
            shared => EntryState::Shared(shared - SHARED_BASE),
        }
    }

    #[inline]
    fn with_state(self, state: u64) -> Word {
        Word((self.0 & !STATE) | state)
    }

    /// Whether threads are parked.
    #[inline]
    pub(super) fn has_waiters(self) -> bool {
        self.0 & WAITERS != 0
    }

    /// The frame, meaningful unless evicted.
    #[inline]
    pub(super) fn frame(self) -> u32 {
        ((self.0 & FRAME) >> FRAME_SHIFT) as u32
    }

    /// The version.
    #[inline]
    pub(super) fn version(self) -> u32 {
        (self.0 >> VERSION_SHIFT) as u32
    }

    /// Whether both words translate to the same frame at the same version.
    #[inline]
    pub(super) fn same_page_state(self, other: Word) -> bool {
        (self.0 ^ other.0) & (FRAME | VERSION) == 0
    }

    /// Whether readers must wait.
    #[inline]
    pub(super) fn is_locked(self) -> bool {
        self.0 & STATE == LOCKED
    }

    /// Whether a writer must wait; an absent page is not waited for.
    #[inline]
    pub(super) fn is_latched(self) -> bool {
        self.0 & STATE >= LOCKED
    }

    /// Whether one more reader must wait.
    #[inline]
    pub(super) fn refuses_shared(self) -> bool {
        matches!(self.0 & STATE, LOCKED | SHARED_MAX)
    }

    pub(super) fn with_waiters(self) -> Word {
        Word(self.0 | WAITERS)
    }

    pub(super) fn without_waiters(self) -> Word {
        Word(self.0 & !WAITERS)
    }

    pub(super) fn locked(self) -> Word {
        self.with_state(LOCKED)
    }

    pub(super) fn unlocked(self) -> Word {
        self.with_state(UNLOCKED)
    }

    pub(super) fn marked(self) -> Word {
        self.with_state(MARKED)
    }

    /// One more reader, from unlocked, marked or shared.
    fn with_reader(self) -> Word {
        debug_assert!(self.state() != EntryState::Evicted, "an absent page has no readers");
        debug_assert!(!self.refuses_shared(), "readers and a writer exclude each other");
        match self.0 & STATE {
            UNLOCKED | MARKED => self.with_state(SHARED_BASE + 1),
            shared => self.with_state(shared + 1),
        }
    }

    /// One reader less.
    fn without_reader(self) -> Word {
        debug_assert!(self.0 & STATE > SHARED_BASE, "only a shared latch has readers");
        match self.0 & STATE {
            shared if shared == SHARED_BASE + 1 => self.with_state(UNLOCKED),
            shared => self.with_state(shared - 1),
        }
    }

    /// Locked, with this frame.
    pub(super) fn loading_into(self, frame: u32) -> Word {
        debug_assert!(frame < MAX_FRAMES, "a frame number fits its bits");
        Word((self.0 & !FRAME) | (u64::from(frame) << FRAME_SHIFT)).locked()
    }

    /// Absent, no frame.
    pub(super) fn evicted(self) -> Word {
        Word(self.0 & VERSION)
    }

    /// The version after this one.
    pub(super) fn next_version(self) -> Word {
        Word(self.0.wrapping_add(1 << VERSION_SHIFT))
    }

    /// An entry's word; what is read of the page afterwards is at least as new.
    #[inline]
    pub(super) fn load(entry: &AtomicU64) -> Word {
        Word(entry.load(Ordering::Acquire))
    }

    /// Goes from unlocked, marked or shared to one reader more, if the entry still is in this
    /// state.
    #[inline]
    pub(super) fn share(self, entry: &AtomicU64) -> bool {
        let shared = self.with_reader().0;
        entry.compare_exchange_weak(self.0, shared, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Ends a shared latch. The last reader leaves the page marked if it is `cold`, and takes the
    /// wait bit away; true when it was set.
    pub(super) fn unshare(entry: &AtomicU64, cold: bool) -> bool {
        let mut word = Word(entry.load(Ordering::Relaxed));
        loop {
            let mut next = word.without_reader();
            let last = next.state() == EntryState::Unlocked;
            if last {
                let end = if cold { next.marked() } else { next };
                next = end.without_waiters();
            }
            let (now, old) = (next.0, word.0);
            match entry.compare_exchange_weak(old, now, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return last && word.has_waiters(),
                Err(now) => word = Word(now),
            }
        }
    }

    /// Goes from absent to locked, if the entry still is in this state.
    pub(super) fn claim(self, entry: &AtomicU64) -> bool {
        debug_assert!(self.state() == EntryState::Evicted, "only an absent page is read in");
        let locked = self.locked().0;
        entry.compare_exchange(self.0, locked, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives a claimed page, absent before in this state, its frame; the word without wait bit.
    pub(super) fn attach(self, entry: &AtomicU64, frame: u32) -> Word {
        let word = self.loading_into(frame);
        // Only the wait bit can have changed since the claim; it must survive.
        let mut now = entry.load(Ordering::Relaxed);
        debug_assert!(Word(now).is_locked(), "a claimed page stays locked until it is attached");
        while let Err(changed) = entry.compare_exchange_weak(
            now,
            word.0 | (now & WAITERS),
            Ordering::Relaxed,
            Ordering::Relaxed,
        ) {
            now = changed;
        }
        // A thread that sees the frame's new bytes sees that its former page has left it.
        fence(Ordering::Release);
        word
    }

    /// Goes from unlocked or marked to locked, if the entry still is in this state.
    #[inline]
    pub(super) fn lock(self, entry: &AtomicU64) -> bool {
        debug_assert!(!self.is_latched(), "the exclusive latch waits for all others");
        debug_assert!(
            self.state() != EntryState::Evicted,
            "an absent page is claimed, not latched"
        );
        let locked =
            entry.compare_exchange(self.0, self.locked().0, Ordering::Acquire, Ordering::Relaxed);
        // Later writes of the page must not be seen before the lock.
        fence(Ordering::Release);
        locked.is_ok()
    }

    /// Ends an exclusive latch: this, without wait bit, becomes the entry. The entry before.
    #[inline]
    pub(super) fn unlock(self, entry: &AtomicU64) -> Word {
        debug_assert!(
            !self.is_latched() && !self.has_waiters(),
            "the new word is an unlatched one"
        );
        let before = Word(entry.swap(self.0, Ordering::Release));
        debug_assert!(before.is_locked(), "only the holder of the exclusive latch ends it");
        before
    }

    /// Whether everything read since the entry was in this state is one consistent state of the
    /// page.
    #[inline]
    pub(super) fn is_still(self, entry: &AtomicU64) -> bool {
        // Keeps the reads before it from being done after the check.
        fence(Ordering::Acquire);
        let now = Word(entry.load(Ordering::Relaxed));
        now.same_page_state(self) && !now.is_locked()
    }

    /// The bit that says that threads are parked.
    pub(super) const WAITERS_BIT: u64 = WAITERS;
}
