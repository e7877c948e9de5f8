//! Frames, page table and latches: all memory that threads share without a lock, in one module.
//!
//! The idea is vmcache's page-state protocol over a fixed arena. The page table maps a page id to
//! one [`Word`]: the page's frame, latch state and version. A reader does not latch:
//!
//! ```text
//!   word = entry            state is not "locked"
//!   read bytes of the frame    (they may be changing: every value is a guess)
//!   entry still has word's frame and version, and is not locked?  then what was read is true
//! ```
//!
//! Invariants:
//! - a frame belongs to exactly one of: the unused rest of the arena, a [`FreeFrame`], one page's
//!   entry;
//! - bytes of a frame are written only by the owner of its `FreeFrame` or exclusive latch;
//! - the arena is never unmapped while the pool lives, so a stale frame is garbage, not a fault;
//! - a page's version grows before its bytes can be seen changed in state "unlocked".
//!
//! What Rust says about it: a racing plain write and atomic read are formally undefined. Readers
//! use relaxed atomic loads only and never form a reference to racing bytes; writers hold a `&mut`
//! under the exclusive latch. Making every store of a writer atomic would cost too much; as
//! seqlocks elsewhere do, we rely on atomic loads not being torn, invented or repeated, and on
//! validation.
#![allow(unsafe_code)]

use super::entry::{EntryState, MAX_FRAMES, Word};
use super::wait::{Attempt, Intent, WaitTable};
use crate::Result;
use crate::error::StorageError;
use crate::page::{PAGE_SIZE, PageBytes, lsn_of};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use inia_base::ids::{Lsn, PageId};
use std::cell::UnsafeCell;
use std::io;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;

/// Pages that the table can name: 4 TiB of data.
pub(crate) const MAX_PAGES: u32 = 1 << 28;
/// Most frames that are backed with memory ahead of their use.
const MAX_READY: u32 = 1024;
/// Frames taken between two checks of those ahead.
const READY_STEP: u32 = 128;
/// In [`FrameMeta::page`]: none.
const NO_PAGE: u32 = u32::MAX;

/// Types that may start as zero memory and need no drop.
///
/// # Safety
/// All-zero bytes are a valid value, the type has no destructor and may be shared between threads.
unsafe trait Zeroed {}

// SAFETY: an atomic integer; zero is valid.
unsafe impl Zeroed for AtomicU64 {}
// SAFETY: plain bytes; zero is valid. Sharing is governed by the page table's latches.
unsafe impl Zeroed for Frame {}
// SAFETY: atomic integers only.
unsafe impl Zeroed for FrameMeta {}

/// An array in its own lazily backed mapping.
struct Mapping<T> {
    base: NonNull<T>,
    len: usize,
}

// SAFETY: the mapping is owned memory; `Zeroed` promises that its items may be shared.
unsafe impl<T: Zeroed> Send for Mapping<T> {}
// SAFETY: as above.
unsafe impl<T: Zeroed> Sync for Mapping<T> {}

impl<T: Zeroed> Mapping<T> {
    fn new(len: usize) -> io::Result<Mapping<T>> {
        const { assert!(align_of::<T>() <= 4096) };
        let bytes = len * size_of::<T>();
        // SAFETY: asks for fresh private memory at an address of the kernel's choice.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast::<T>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping { base, len })
    }

    fn prefer_huge_pages(&self) {
        // SAFETY: advice on a mapping that this value owns. A refusal changes nothing.
        unsafe {
            libc::madvise(
                self.base.as_ptr().cast(),
                self.len * size_of::<T>(),
                libc::MADV_HUGEPAGE,
            );
        }
    }

    /// Asks the system to back some items with memory now instead of at their first use. Their
    /// contents stay.
    fn make_ready(&self, items: Range<usize>) {
        let items = items.start.min(self.len)..items.end.min(self.len);
        if items.is_empty() {
            return;
        }
        // SAFETY: in bounds of a mapping that this value owns, whose bytes stay as they are. A
        // refusal changes nothing.
        unsafe {
            libc::madvise(
                self.base.add(items.start).as_ptr().cast(),
                items.len() * size_of::<T>(),
                libc::MADV_POPULATE_WRITE,
            );
        }
    }

    #[inline]
    fn get(&self, index: usize) -> Option<&T> {
        if index >= self.len {
            return None;
        }
        // SAFETY: in bounds of the mapping, aligned (the base is page-aligned), zero is a valid T.
        Some(unsafe { self.base.add(index).as_ref() })
    }
}

impl<T> Drop for Mapping<T> {
    fn drop(&mut self) {
        // SAFETY: unmaps exactly what `new` mapped; every borrow of it has ended.
        unsafe {
            libc::munmap(self.base.as_ptr().cast(), self.len * size_of::<T>());
        }
    }
}

/// Memory of one page.
#[repr(C, align(4096))]
struct Frame(UnsafeCell<PageBytes>);

const _: () = assert!(size_of::<Frame>() == PAGE_SIZE);

/// What is known of a frame besides its bytes. Changed under the page's latch, read by sweeps.
#[repr(C, align(32))]
pub(super) struct FrameMeta {
    page: AtomicU32,
    /// 1 while a copy of the page is on its way to the disk.
    pub(super) writing: AtomicU32,
    /// Start of the log that the copy on disk lacks; 0 when it lacks none.
    pub(super) rec_lsn: AtomicU64,
    /// Log position at which the page was made anew since it was read in, or 0.
    pub(super) init_lsn: AtomicU64,
}

impl FrameMeta {
    /// The page in the frame.
    pub(super) fn page(&self) -> Option<PageId> {
        match self.page.load(Ordering::Acquire) {
            NO_PAGE => None,
            id => Some(PageId(id)),
        }
    }

    /// Whether the disk has everything.
    pub(super) fn is_clean(&self) -> bool {
        self.rec_lsn.load(Ordering::Relaxed) == 0 && self.writing.load(Ordering::Acquire) == 0
    }
}

/// Ownership of a frame that holds no page.
#[derive(Debug)]
pub(super) struct FreeFrame(u32);

/// What the clock found in a frame.
pub(super) enum Visit<'s> {
    /// Nothing to take here now.
    Skip,
    /// A clean page not used since the last visit, latched.
    Victim(ExclusivePage<'s>),
    /// A page not used since the last visit that must be written first.
    Dirty,
}

/// Page table, arena and frame descriptions of one pool.
pub(super) struct Frames {
    entries: Mapping<AtomicU64>,
    arena: Mapping<Frame>,
    metas: Mapping<FrameMeta>,
    waits: WaitTable,
    /// Frames below were used at least once.
    used: AtomicU32,
    /// The memory of frames below is there.
    ready: AtomicU32,
}

impl Frames {
    /// A pool of `count` frames (clamped to what a word can name).
    pub(super) fn new(count: u64) -> io::Result<Frames> {
        let count = usize::try_from(count.clamp(8, MAX_FRAMES.into()))
            .expect("invariant: at most 2^24 frames");
        let arena = Mapping::new(count)?;
        arena.prefer_huge_pages();
        Ok(Frames {
            entries: Mapping::new(MAX_PAGES as usize)?,
            arena,
            metas: Mapping::new(count)?,
            waits: WaitTable::new(),
            used: AtomicU32::new(0),
            ready: AtomicU32::new(0),
        })
    }

    /// All frames.
    pub(super) fn count(&self) -> u32 {
        self.arena.len as u32
    }

    /// Frames that were ever used: sweeps stop here.
    pub(super) fn used(&self) -> u32 {
        self.used.load(Ordering::Acquire).min(self.count())
    }

    /// Backs the frames that will be used next with memory: a quarter of those in use, at most
    /// [`MAX_READY`].
    pub(super) fn make_ready(&self) {
        let used = self.used();
        let end = used.saturating_add((used / 4).min(MAX_READY)).min(self.count());
        let ready = self.ready.load(Ordering::Relaxed).max(used);
        debug_assert!(used <= self.count(), "frames in use lie in the arena");
        if ready < end {
            self.arena.make_ready(ready as usize..end as usize);
            self.ready.store(end, Ordering::Relaxed);
        }
    }

    /// Whether taking this frame makes it time to back more of them.
    pub(super) fn wants_ready(&self, taken: &FreeFrame) -> bool {
        taken.0.is_multiple_of(READY_STEP)
    }

    /// A frame that was never used before.
    pub(super) fn take_unused(&self) -> Option<FreeFrame> {
        let mut next = self.used.load(Ordering::Relaxed);
        while next < self.count() {
            match self.used.compare_exchange_weak(
                next,
                next + 1,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    self.meta(next).page.store(NO_PAGE, Ordering::Release);
                    return Some(FreeFrame(next));
                }
                Err(now) => next = now,
            }
        }
        None
    }

    /// The description of a frame below [`Frames::count`].
    pub(super) fn meta(&self, frame: u32) -> &FrameMeta {
        self.metas.get(frame as usize).expect("invariant: frame numbers lie in the arena")
    }

    #[inline]
    pub(super) fn entry(&self, id: PageId) -> Result<&AtomicU64> {
        match self.entries.get(id.0 as usize) {
            Some(entry) => Ok(entry),
            None => Err(StorageError::Corrupt(id, "page number out of range")),
        }
    }

    #[inline]
    fn data(&self, frame: u32) -> NonNull<PageBytes> {
        let frame = self.arena.get(frame as usize).expect("invariant: frames lie in the arena");
        NonNull::new(frame.0.get()).expect("invariant: the arena is not at address zero")
    }

    /// Starts an optimistic read. `touch` clears the clock's mark.
    #[inline]
    pub(super) fn read(&self, id: PageId, touch: bool) -> Result<Attempt<OptimisticPage<'_>>> {
        let entry = self.entry(id)?;
        let word = Word::load(entry);
        match word.state() {
            EntryState::Locked => return Ok(Attempt::Blocked),
            EntryState::Evicted => return Ok(Attempt::Absent),
            EntryState::Marked if touch => {
                // Losing the race means that another thread touched it.
                let _ = entry.compare_exchange(
                    word.0,
                    word.unlocked().0,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
            }
            _ => {}
        }
        let data = self.data(word.frame()).cast::<u8>();
        Ok(Attempt::Got(OptimisticPage { frames: self, entry, word, data, id }))
    }

    /// Tries to latch for reading.
    pub(super) fn try_shared(&self, id: PageId) -> Result<Attempt<SharedPage<'_>>> {
        let entry = self.entry(id)?;
        loop {
            let word = Word(entry.load(Ordering::Relaxed));
            if word.state() == EntryState::Evicted {
                return Ok(Attempt::Absent);
            }
            if word.refuses_shared() {
                return Ok(Attempt::Blocked);
            }
            if word.share(entry) {
                debug_assert_eq!(self.meta(word.frame()).page(), Some(id), "frame and entry agree");
                return Ok(Attempt::Got(SharedPage { frames: self, id, word, cold: false }));
            }
        }
    }

    /// Tries to latch for writing.
    pub(super) fn try_exclusive(&self, id: PageId) -> Result<Attempt<ExclusivePage<'_>>> {
        let entry = self.entry(id)?;
        loop {
            let word = Word(entry.load(Ordering::Relaxed));
            if word.state() == EntryState::Evicted {
                return Ok(Attempt::Absent);
            }
            if word.is_latched() {
                return Ok(Attempt::Blocked);
            }
            if let Some(page) = self.lock(entry, id, word) {
                return Ok(Attempt::Got(page));
            }
        }
    }

    /// The one way from unlocked or marked to locked.
    pub(super) fn lock(
        &self,
        entry: &AtomicU64,
        id: PageId,
        word: Word,
    ) -> Option<ExclusivePage<'_>> {
        // Only who has locked the page may have a guard: dropping it unlocks.
        word.lock(entry).then(|| {
            debug_assert_eq!(self.meta(word.frame()).page(), Some(id), "frame and entry agree");
            ExclusivePage { frames: self, id, word, changed: false, cold: false }
        })
    }

    /// Claims an absent page, to read it in or to make it. `None` when it is not absent any more.
    pub(super) fn begin_load(&self, id: PageId) -> Result<Option<LoadingPage<'_>>> {
        let entry = self.entry(id)?;
        let word = Word(entry.load(Ordering::Relaxed));
        if word.state() != EntryState::Evicted {
            return Ok(None);
        }
        // Only who has claimed the page may have this: dropping it makes the page absent.
        Ok(word.claim(entry).then(|| LoadingPage { frames: self, id, word }))
    }

    /// Waits for a chance to do what `intent` says.
    #[cold]
    pub(super) fn wait(&self, id: PageId, intent: Intent) {
        if let Ok(entry) = self.entry(id) {
            self.waits.wait(id, entry, intent);
        }
    }

    /// Whether the page has kept its state since `version`. `None`: it was out of memory meanwhile,
    /// its LSN must decide.
    pub(super) fn is_current(&self, id: PageId, version: PageVersion) -> Option<bool> {
        let Ok(entry) = self.entry(id) else { return Some(false) };
        let word = Word::load(entry);
        if word.is_locked() {
            return Some(false);
        }
        let same = word.version() == version.word && word.state() != EntryState::Evicted;
        same.then_some(true)
    }

    /// The clock's visit: marks a page, or offers one that is still marked since the last visit.
    pub(super) fn visit(&self, frame: u32) -> Visit<'_> {
        let meta = self.meta(frame);
        let Some(id) = meta.page() else { return Visit::Skip };
        let Ok(entry) = self.entry(id) else { return Visit::Skip };
        let word = Word(entry.load(Ordering::Relaxed));
        match word.state() {
            EntryState::Unlocked if word.frame() == frame => {
                // Losing the race means that the page is in use.
                let _ = entry.compare_exchange(
                    word.0,
                    word.marked().0,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                Visit::Skip
            }
            EntryState::Marked if word.frame() == frame => {
                if !meta.is_clean() {
                    return Visit::Dirty;
                }
                let Some(mut page) = self.lock(entry, id, word) else { return Visit::Skip };
                if meta.is_clean() {
                    return Visit::Victim(page);
                }
                page.cold = true;
                Visit::Dirty
            }
            _ => Visit::Skip,
        }
    }

    /// Ends an exclusive latch: `next` without wait bit becomes the word.
    fn publish(&self, id: PageId, next: Word) {
        let entry = self.entry(id).expect("invariant: a latched page has an entry");
        if next.unlock(entry).has_waiters() {
            self.waits.wake(id, entry);
        }
    }
}

/// A state of a page, to ask later whether the page is still in it. Not kept across a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageVersion {
    /// The version in the page table: equal means unchanged.
    word: u32,
    /// Equal means unchanged too, though the page may have been out of memory.
    pub(super) lsn: Lsn,
}

impl PageVersion {
    /// A state by its version in the page table and its LSN.
    pub(crate) fn of(word: u32, lsn: Lsn) -> PageVersion {
        PageVersion { word, lsn }
    }

    /// The version in the page table.
    pub(crate) fn word(self) -> u32 {
        self.word
    }

    /// The state that follows this one by a single change, which ends in the log at `lsn`.
    pub(crate) fn after(self, lsn: Lsn) -> PageVersion {
        PageVersion { word: self.word.wrapping_add(1), lsn }
    }
}

/// An optimistic read met a writer: what was read may be garbage, begin again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Restart;

/// A racing read of a page: nothing is locked, every value is a guess until validated.
#[derive(Clone, Copy)]
pub(crate) struct OptimisticPage<'s> {
    frames: &'s Frames,
    entry: &'s AtomicU64,
    word: Word,
    data: NonNull<u8>,
    id: PageId,
}

impl<'s> OptimisticPage<'s> {
    /// Whether everything read so far was one consistent state of the page.
    #[inline]
    pub(crate) fn validate(&self) -> std::result::Result<(), Restart> {
        if self.word.is_still(self.entry) { Ok(()) } else { Err(Restart) }
    }

    /// The state being read. If the page has left it already, no page is ever in the one returned.
    pub(crate) fn version(&self) -> PageVersion {
        let lsn = lsn_of(self);
        let lsn = self.validate().map_or(Lsn(u64::MAX), |()| lsn);
        PageVersion { word: self.word.version(), lsn }
    }

    /// Latches exclusively, provided that the page did not change since the read began.
    pub(super) fn upgrade(self) -> std::result::Result<ExclusivePage<'s>, Restart> {
        let word = Word(self.entry.load(Ordering::Relaxed));
        let ready = matches!(word.state(), EntryState::Unlocked | EntryState::Marked);
        if !ready || !word.same_page_state(self.word) {
            return Err(Restart);
        }
        self.frames.lock(self.entry, self.id, word).ok_or(Restart)
    }

    /// Asks the processor for the cache line that holds byte `offset`.
    #[inline]
    pub(crate) fn prefetch(&self, offset: usize) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a hint that reads nothing; the masked offset is in the frame.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.data.add(offset & (PAGE_SIZE - 1)).as_ptr().cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = offset;
    }

    /// Copies the bytes of the page from `offset` on; all that `out` has room for must lie in the
    /// page. They are read in pieces of up to 16 bytes.
    #[inline]
    pub(super) fn copy_bytes(&self, offset: usize, out: &mut [u8]) {
        assert!(offset <= PAGE_SIZE && out.len() <= PAGE_SIZE - offset, "bytes of the page");
        #[cfg(target_arch = "x86_64")]
        let done = self.copy_blocks(offset, out);
        #[cfg(not(target_arch = "x86_64"))]
        let done = 0;
        let (at, rest) = (offset + done, &mut out[done..]);
        let head = (at.wrapping_neg() % 8).min(rest.len());
        let (start, rest) = rest.split_at_mut(head);
        self.copy_some(at, start);
        let (words, end) = rest.as_chunks_mut::<8>();
        let at = at + head;
        for (i, word) in words.iter_mut().enumerate() {
            *word = self.word(at + 8 * i).to_le_bytes();
        }
        self.copy_some(at + 8 * words.len(), end);
    }

    /// Copies fewer than 8 bytes, all of them of one aligned word.
    #[inline]
    fn copy_some(&self, at: usize, out: &mut [u8]) {
        if !out.is_empty() {
            let word = self.word(at) >> (8 * (at % 8));
            for (i, byte) in out.iter_mut().enumerate() {
                *byte = (word >> (8 * i)) as u8;
            }
        }
    }

    /// Copies whole blocks of 64 bytes from `offset` on; returns how many bytes that were. The
    /// caller has checked that all of `out` is to come out of the page.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn copy_blocks(&self, offset: usize, out: &mut [u8]) -> usize {
        let blocks = out.len() / 64;
        if blocks == 0 {
            return 0;
        }
        // A program in assembly language races as the atomic loads of `word` do: what it reads may
        // be old or new, or halves of both, and stays a guess until validated.
        // SAFETY: the frame has `blocks` blocks from `offset` on, as the caller promises, and `out`
        // has room for them; nothing else is read or written.
        unsafe {
            std::arch::asm!(
                "2:",
                "movdqu {a}, [{from}]",
                "movdqu {b}, [{from} + 16]",
                "movdqu {c}, [{from} + 32]",
                "movdqu {d}, [{from} + 48]",
                "movdqu [{to}], {a}",
                "movdqu [{to} + 16], {b}",
                "movdqu [{to} + 32], {c}",
                "movdqu [{to} + 48], {d}",
                "add {from}, 64",
                "add {to}, 64",
                "dec {left}",
                "jnz 2b",
                from = inout(reg) self.data.as_ptr().cast_const().add(offset) => _,
                to = inout(reg) out.as_mut_ptr() => _,
                left = inout(reg) blocks => _,
                a = out(xmm_reg) _,
                b = out(xmm_reg) _,
                c = out(xmm_reg) _,
                d = out(xmm_reg) _,
                options(nostack),
            );
        }
        blocks * 64
    }

    /// The aligned word that holds byte `offset`, which must be in the page.
    #[inline]
    pub(super) fn word(&self, offset: usize) -> u64 {
        debug_assert!(offset < PAGE_SIZE);
        // SAFETY: `data` points at a frame of the never-unmapped arena and the masked offset is
        // below its size and a multiple of 8 (frames are aligned to 4096). The load is atomic; see
        // the module's head for what a racing plain write means.
        let raw = unsafe {
            AtomicU64::from_ptr(self.data.add(offset & (PAGE_SIZE - 8)).as_ptr().cast())
                .load(Ordering::Relaxed)
        };
        u64::from_le(raw)
    }
}

/// A page under a shared latch.
pub(crate) struct SharedPage<'s> {
    frames: &'s Frames,
    id: PageId,
    word: Word,
    /// Leave the page marked for the clock.
    pub(super) cold: bool,
}

impl SharedPage<'_> {
    /// The state being read.
    pub(crate) fn version(&self) -> PageVersion {
        PageVersion { word: self.word.version(), lsn: lsn_of(&**self) }
    }

    /// The frame's description.
    pub(super) fn meta(&self) -> &FrameMeta {
        self.frames.meta(self.word.frame())
    }

    /// The frame.
    pub(super) fn frame(&self) -> u32 {
        self.word.frame()
    }
}

impl Deref for SharedPage<'_> {
    type Target = PageBytes;

    fn deref(&self) -> &PageBytes {
        // SAFETY: the shared latch keeps writers out for as long as `self` lives.
        unsafe { self.frames.data(self.word.frame()).as_ref() }
    }
}

impl Drop for SharedPage<'_> {
    fn drop(&mut self) {
        let entry = self.frames.entry(self.id).expect("invariant: a latched page has an entry");
        if Word::unshare(entry, self.cold) {
            self.frames.waits.wake(self.id, entry);
        }
    }
}

/// A page under the exclusive latch. Its version grows at the end if its bytes were borrowed
/// mutably.
pub(crate) struct ExclusivePage<'s> {
    frames: &'s Frames,
    id: PageId,
    /// The word before the latch: frame and version.
    word: Word,
    changed: bool,
    /// Leave the page marked for the clock.
    pub(super) cold: bool,
}

impl<'s> ExclusivePage<'s> {
    /// The page's id.
    pub(crate) fn id(&self) -> PageId {
        self.id
    }

    /// The frame's description.
    pub(super) fn meta(&self) -> &'s FrameMeta {
        self.frames.meta(self.word.frame())
    }

    /// The frame.
    pub(super) fn frame(&self) -> u32 {
        self.word.frame()
    }

    /// Throws the page out of memory and takes its frame. What the disk lacks is lost.
    pub(super) fn evict(self) -> FreeFrame {
        let this = ManuallyDrop::new(self);
        let meta = this.meta();
        debug_assert_eq!(meta.page(), Some(this.id), "frame and entry agree");
        meta.page.store(NO_PAGE, Ordering::Release);
        meta.rec_lsn.store(0, Ordering::Relaxed);
        this.frames.publish(this.id, this.word.next_version().evicted());
        FreeFrame(this.word.frame())
    }
}

impl Deref for ExclusivePage<'_> {
    type Target = PageBytes;

    fn deref(&self) -> &PageBytes {
        // SAFETY: the exclusive latch keeps all other writers out for as long as `self` lives.
        unsafe { self.frames.data(self.word.frame()).as_ref() }
    }
}

impl DerefMut for ExclusivePage<'_> {
    fn deref_mut(&mut self) -> &mut PageBytes {
        self.changed = true;
        // SAFETY: as in `deref`; no shared latch coexists with the exclusive one, and optimistic
        // readers hold no reference (see the module's head).
        unsafe { self.frames.data(self.word.frame()).as_mut() }
    }
}

impl Drop for ExclusivePage<'_> {
    fn drop(&mut self) {
        let word = if self.changed { self.word.next_version() } else { self.word };
        let word = if self.cold { word.marked() } else { word.unlocked() };
        self.frames.publish(self.id, word.without_waiters());
    }
}

/// An absent page that this thread is bringing in. Dropped, it is absent again.
pub(super) struct LoadingPage<'s> {
    frames: &'s Frames,
    id: PageId,
    word: Word,
}

impl<'s> LoadingPage<'s> {
    /// Gives the page a frame, whose bytes are arbitrary.
    pub(super) fn attach(self, frame: FreeFrame) -> ExclusivePage<'s> {
        let this = ManuallyDrop::new(self);
        let meta = this.frames.meta(frame.0);
        assert!(meta.page().is_none(), "a frame holds one page");
        meta.rec_lsn.store(0, Ordering::Relaxed);
        meta.init_lsn.store(0, Ordering::Relaxed);
        meta.writing.store(0, Ordering::Relaxed);
        meta.page.store(this.id.0, Ordering::Release);
        let entry = this.frames.entry(this.id).expect("invariant: a claimed page has an entry");
        let word = this.word.attach(entry, frame.0);
        ExclusivePage { frames: this.frames, id: this.id, word, changed: false, cold: false }
    }
}

impl Drop for LoadingPage<'_> {
    fn drop(&mut self) {
        self.frames.publish(self.id, self.word.evicted());
    }
}
