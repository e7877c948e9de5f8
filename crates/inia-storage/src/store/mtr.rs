//! Mini-transactions: changes of several pages that reach the log as one group, all or nothing.
//!
//! A mini-transaction latches pages, changes them in place while it encodes the same changes for
//! the log, and commits: one append, the group's end becomes the pages' LSN, the latches go. As
//! long as the latches are held nobody sees the changes, and the write-back cannot take them; after
//! the append they are in the log before any later change of the same pages is.
//!
//! Rules for callers:
//! - take nothing else that blocks (row locks, another `Mtr`) between [`Store::mtr`] and the
//!   commit;
//! - latch pages in one order (tree: parent before child, left before right);
//! - do what can fail (latch, allocate, free) before the first change: a mini-transaction with
//!   changes cannot be taken back.

use super::Store;
use crate::Result;
use crate::buffer::{ExclusivePage, OptimisticPage, Restart};
use crate::error::StorageError;
use crate::ops::PageOp;
use crate::ops::run::{Mark, OpenRun, RecordChange, apply_marks, put_marks};
use crate::page::file::is_bit_set;
use crate::page::file::{GROUP_PAGES, GROUPS_AT, HEADER_PAGE, bit_of, is_pinned, map_of};
use crate::page::{PageBytes, page_id, page_lsn, page_type, set_page_lsn};
use crate::wal::record::LogRecord;
use crate::wal::{GROUP_HEADER, begin_group, finish_group};
use inia_base::ids::{Lsn, PageId, TxnId};
use smallvec::SmallVec;
use std::cell::Cell;

/// Pages that a mini-transaction holds without a heap allocation.
const INLINE_PAGES: usize = 6;
/// A redo buffer that grew beyond this is not kept for the thread's next mini-transaction.
const REDO_KEPT: usize = 256 << 10;

/// A page that a mini-transaction has latched exclusively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Latched(u32);

struct Slot<'s> {
    page: ExclusivePage<'s>,
    changed: bool,
    /// Allocated by this mini-transaction.
    fresh: bool,
}

/// A mini-transaction. Dropped without changes it unlatches and gives allocated pages back; dropped
/// with changes it aborts the process, because pages would differ from the log.
pub(crate) struct Mtr<'s> {
    store: &'s Store,
    slots: SmallVec<[Option<Slot<'s>>; INLINE_PAGES]>,
    redo: Vec<u8>,
    /// The operation at the end of `redo`, while changes of records may join it.
    run: Option<OpenRun>,
    /// Something was logged that is not just the making of an allocated page.
    changed: bool,
    freed: SmallVec<[PageId; 2]>,
    /// It rolls changes back, and may use the space that is kept for that.
    for_rollback: bool,
    done: bool,
}

thread_local! {
    static REDO: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl<'s> Mtr<'s> {
    pub(super) fn new(store: &'s Store, for_rollback: bool) -> Mtr<'s> {
        let mut redo = REDO.take();
        begin_group(&mut redo);
        Mtr {
            store,
            slots: SmallVec::new(),
            redo,
            run: None,
            changed: false,
            freed: SmallVec::new(),
            for_rollback,
            done: false,
        }
    }

    fn hold(&mut self, page: ExclusivePage<'s>, fresh: bool) -> Latched {
        debug_assert!(!self.holds(page.id()), "a mini-transaction latches a page once");
        self.slots.push(Some(Slot { page, changed: false, fresh }));
        Latched(self.slots.len() as u32 - 1)
    }

    fn slot(&self, page: Latched) -> &Slot<'s> {
        let slot = self.slots.get(page.0 as usize).and_then(Option::as_ref);
        slot.expect("invariant: a latched page is used by its own mini-transaction until unlatched")
    }

    /// Latches a page exclusively, waiting for it. A page that this mini-transaction holds already
    /// is `Corrupt`: the tree refers to it twice.
    pub(crate) fn latch(&mut self, id: PageId) -> Result<Latched> {
        if self.holds(id) {
            return Err(StorageError::Corrupt(id, "page reached twice"));
        }
        let page = self.store.pool.exclusive(id)?;
        Ok(self.hold(page, false))
    }

    /// Whether this mini-transaction has the page latched.
    pub(crate) fn holds(&self, id: PageId) -> bool {
        self.slots.iter().flatten().any(|slot| slot.page.id() == id)
    }

    /// Latches a page exclusively, provided that it did not change since the optimistic read began.
    pub(crate) fn upgrade(
        &mut self,
        page: OptimisticPage<'s>,
    ) -> std::result::Result<Latched, Restart> {
        let page = self.store.pool.upgrade(page)?;
        Ok(self.hold(page, false))
    }

    /// The latched page's id.
    pub(crate) fn id(&self, page: Latched) -> PageId {
        self.slot(page).page.id()
    }

    /// The latched page's bytes.
    #[inline]
    pub(crate) fn page(&self, page: Latched) -> &PageBytes {
        &self.slot(page).page
    }

    /// Changes the page and notes the change for the log.
    pub(crate) fn apply(&mut self, page: Latched, op: &PageOp<'_>) {
        self.changed = true;
        debug_assert!(!self.done, "a committed mini-transaction changes nothing");
        self.change(page, op);
    }

    fn change(&mut self, page: Latched, op: &PageOp<'_>) {
        self.run = None;
        let slot = changed_slot(self.store, &mut self.slots, page, op.starts_page());
        op.encode(slot.page.id(), &mut self.redo);
        op.apply(&mut slot.page);
    }

    /// Changes a record of a leaf and notes the change for the log, together with the one before
    /// where they go together.
    pub(crate) fn change_record(&mut self, page: Latched, change: &RecordChange<'_>) {
        self.changed = true;
        let slot = changed_slot(self.store, &mut self.slots, page, false);
        let (id, redo) = (slot.page.id(), &mut self.redo);
        if !self.run.as_mut().is_some_and(|run| run.extend(id, change, redo)) {
            self.run = Some(OpenRun::begin(id, change, redo));
        }
        // As with `PageOp::apply`: a damaged page stays as it is, here and when the log is
        // replayed.
        let _ = change.try_apply(&mut slot.page);
    }

    /// Marks records of a leaf as deleted and notes that for the log, as one operation.
    pub(crate) fn mark_records(&mut self, page: Latched, txn: TxnId, marks: &[Mark]) {
        self.changed = true;
        self.run = None;
        let slot = changed_slot(self.store, &mut self.slots, page, false);
        put_marks(slot.page.id(), txn, marks, &mut self.redo);
        apply_marks(&mut slot.page, txn, marks);
    }

    /// A free page, latched and initialised as an empty one of this type, if possible close after
    /// `near`. Fails with `DiskFull` when the file cannot grow.
    pub(crate) fn allocate(&mut self, near: PageId, page_type: u8) -> Result<Latched> {
        let store = self.store;
        let id = store.reserve_page(near, self.for_rollback)?;
        // A stale reader may hold the latch for a moment; another page saves waiting under latches.
        let page = match store.pool.try_exclusive_blank(id) {
            Ok(Some(page)) => page,
            Ok(None) => {
                let other = self.allocate(id, page_type);
                store.space.release(id);
                return other;
            }
            Err(error) => {
                store.space.release(id);
                return Err(error);
            }
        };
        let latched = self.hold(page, true);
        self.change(latched, &PageOp::Init { page_type });
        Ok(latched)
    }

    /// Gives the page back; others may get it once this mini-transaction has committed. A page that
    /// is not in use is `Corrupt`, and nothing is changed.
    pub(crate) fn free(&mut self, page: Latched) -> Result<()> {
        self.free_all(&[page])
    }

    /// As [`Mtr::free`], for all of the pages or, after an error, none.
    pub(crate) fn free_all(&mut self, pages: &[Latched]) -> Result<()> {
        for &page in pages {
            let id = self.id(page);
            if !self.store.space.is_used(id) || is_pinned(id) || self.freed.contains(&id) {
                return Err(StorageError::Corrupt(id, "freed, but not in use"));
            }
        }
        for &page in pages {
            self.freed.push(self.id(page));
            self.apply(page, &PageOp::Init { page_type: page_type::FREE });
        }
        Ok(())
    }

    /// Adds a record to the group.
    pub(crate) fn log(&mut self, record: &LogRecord<'_>) {
        self.changed = true;
        self.run = None;
        record.encode(&mut self.redo);
    }

    /// Releases a page that was not changed.
    pub(crate) fn unlatch(&mut self, page: Latched) {
        assert!(!self.slot(page).changed, "invariant: changed pages stay latched until commit");
        self.slots[page.0 as usize] = None;
    }

    /// Appends the group to the log, gives the changed pages its end as their LSN and unlatches
    /// all. The group's end; without changes, the log's.
    pub(crate) fn commit(self) -> Lsn {
        self.commit_with(|_| ())
    }

    /// As [`Mtr::commit`]; `publish` runs as in [`Wal::append_with`](crate::wal::Wal::append_with),
    /// if there is anything to append.
    fn commit_with(mut self, publish: impl FnOnce(Lsn)) -> Lsn {
        if !self.changed {
            return self.store.wal.closed_lsn();
        }
        self.write_space_maps();
        finish_group(&mut self.redo);
        debug_assert!(self.redo.len() > GROUP_HEADER, "a group has a record");
        let end = self.store.wal.append_group(&self.redo, publish);
        self.done = true;
        for slot in self.slots.iter_mut().flatten().filter(|slot| slot.changed) {
            debug_assert!(page_lsn(&slot.page) < end, "a page's LSN grows with each change");
            debug_assert_eq!(page_id(&slot.page), slot.page.id(), "a page keeps its number");
            set_page_lsn(&mut slot.page, end);
        }
        self.slots.clear();
        for &id in &self.freed {
            self.store.space.release(id);
        }
        end
    }

    /// Sets and clears the bits of allocated and freed pages. No latch is taken after the maps',
    /// and nothing is waited for under them.
    fn write_space_maps(&mut self) {
        let allocated = self.slots.iter().flatten().filter(|slot| slot.fresh);
        let kept = allocated.map(|slot| slot.page.id()).filter(|id| !self.freed.contains(id));
        let mut bits: SmallVec<[(PageId, bool); 4]> = kept.map(|id| (id, true)).collect();
        bits.extend(self.freed.iter().map(|&id| (id, false)));
        if bits.is_empty() {
            return;
        }
        bits.sort_unstable();
        let mut map: Option<Latched> = None;
        for (page, used) in bits {
            let id = map_of(page);
            let latched = match map {
                Some(latched) if self.id(latched) == id => latched,
                _ => self.latch(id).expect("invariant: space maps stay in memory"),
            };
            map = Some(latched);
            let was_used = is_bit_set(self.page(latched), bit_of(page));
            debug_assert!(!(used && was_used), "a page has one owner");
            self.apply(latched, &PageOp::SpaceBit { bit: bit_of(page), used });
        }
    }
}

/// A latched page that is about to be changed; the buffer pool knows of it from the first change
/// on.
fn changed_slot<'a, 's>(
    store: &Store,
    slots: &'a mut [Option<Slot<'s>>],
    page: Latched,
    starts: bool,
) -> &'a mut Slot<'s> {
    let slot = slots.get_mut(page.0 as usize).and_then(Option::as_mut);
    let slot = slot.expect("invariant: a changed page is latched");
    if !slot.changed || starts {
        slot.changed = true;
        // Read before the group's place in the log is taken, so it is not after the group.
        let now = store.wal.closed_lsn();
        store.pool.note_change(&slot.page, now, starts);
    }
    slot
}

impl Drop for Mtr<'_> {
    fn drop(&mut self) {
        if !self.done && self.changed {
            eprintln!(
                "inia: a mini-transaction with changes was dropped; the log must repair the pages"
            );
            std::process::abort();
        }
        for slot in self.slots.drain(..).flatten() {
            if slot.fresh {
                let id = slot.page.id();
                self.store.pool.discard(slot.page);
                self.store.space.release(id);
            }
        }
        if self.redo.capacity() <= REDO_KEPT {
            REDO.set(std::mem::take(&mut self.redo));
        }
    }
}

impl Store {
    /// Sets a free page aside, adding a group of pages when all are full.
    fn reserve_page(&self, near: PageId, for_rollback: bool) -> Result<PageId> {
        let data = &**self.pool.data();
        loop {
            if let Some(id) = self.space.reserve(near, for_rollback, data)? {
                return Ok(id);
            }
            let _one_at_a_time = self.growth.lock();
            // Another thread may have added a group meanwhile.
            if let Some(id) = self.space.reserve(near, for_rollback, data)? {
                return Ok(id);
            }
            self.add_group()?;
        }
    }

    /// Adds a group of pages in a mini-transaction of its own, which takes only latches that are
    /// never held while waiting.
    fn add_group(&self) -> Result<()> {
        let map = self.space.next_map(&**self.pool.data())?;
        let mut mtr = Mtr::new(self, false);
        let header = mtr.latch(HEADER_PAGE)?;
        let Some(page) = self.pool.try_exclusive_blank(map)? else { return Ok(()) };
        let latched = mtr.hold(page, false);
        mtr.apply(latched, &PageOp::Init { page_type: page_type::SPACE_MAP });
        mtr.apply(latched, &PageOp::SpaceBit { bit: bit_of(map), used: true });
        let mut groups = SmallVec::<[u8; 4]>::new();
        groups.extend_from_slice(&(map.0 / GROUP_PAGES + 1).to_le_bytes());
        mtr.apply(header, &PageOp::SetBytes { offset: GROUPS_AT as u16, bytes: &groups });
        self.space.add_group(mtr.page(latched));
        mtr.commit();
        Ok(())
    }
}
