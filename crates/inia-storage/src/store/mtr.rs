//! Mini-transactions: changes of several pages that reach the log as one group, all or nothing.

use crate::Result;
use crate::buffer::{OptimisticPage, Restart};
use crate::page::{PageBytes, PageOp};
use crate::wal::record::LogRecord;
use inia_base::ids::{Lsn, PageId};
use std::marker::PhantomData;

/// A page that a mini-transaction has latched exclusively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Latched(u32);

/// A mini-transaction. Dropped without changes it unlatches; dropped with changes it aborts the
/// process, because pages would differ from the log.
pub(crate) struct Mtr<'s>(PhantomData<&'s ()>);

impl<'s> Mtr<'s> {
    /// Latches a page exclusively, waiting for it. Latching a page twice is a deadlock.
    pub(crate) fn latch(&mut self, _id: PageId) -> Result<Latched> {
        todo!()
    }

    /// Latches a page exclusively, provided that it did not change since the optimistic read began.
    pub(crate) fn upgrade(
        &mut self,
        _page: OptimisticPage<'s>,
    ) -> std::result::Result<Latched, Restart> {
        todo!()
    }

    /// The latched page's id.
    pub(crate) fn id(&self, _page: Latched) -> PageId {
        todo!()
    }

    /// The latched page's bytes.
    pub(crate) fn page(&self, _page: Latched) -> &PageBytes {
        todo!()
    }

    /// Changes the page and notes the change for the log.
    pub(crate) fn apply(&mut self, _page: Latched, _op: &PageOp<'_>) {
        todo!()
    }

    /// A free page, latched and initialised as an empty one of this type, if possible close to `near`.
    pub(crate) fn allocate(&mut self, _near: PageId, _page_type: u8) -> Result<Latched> {
        todo!()
    }

    /// Gives the page back; others may get it once this mini-transaction has committed.
    pub(crate) fn free(&mut self, _page: Latched) -> Result<()> {
        todo!()
    }

    /// Adds a record to the group.
    pub(crate) fn log(&mut self, _record: &LogRecord<'_>) {
        todo!()
    }

    /// Releases a page that was not changed.
    pub(crate) fn unlatch(&mut self, _page: Latched) {
        todo!()
    }

    /// Appends the group to the log, gives the changed pages its end as their LSN and unlatches all.
    pub(crate) fn commit(self) -> Lsn {
        self.commit_with(|_| ())
    }

    /// As [`Mtr::commit`]; `publish` runs as in [`Wal::append_with`](crate::wal::Wal::append_with).
    pub(crate) fn commit_with(self, _publish: impl FnOnce(Lsn)) -> Lsn {
        todo!()
    }
}
