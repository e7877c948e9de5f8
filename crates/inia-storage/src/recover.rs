//! Recovery: from what a crash left on disk to a consistent store.
//!
//! 1. *Doublewrite*: a page torn in its place is restored from its copy ([`restore_torn_pages`]).
//!    A data file from before the last checkpoint is refused ([`check_checkpoint_number`]).
//! 2. *Redo*: one walk along the log from the checkpoint. Each whole group is applied to those of
//!    its pages whose LSN is older; other records go to the observer ([`redo`]).
//! 3. An unfinished group at the log's end is dropped, and the log is opened for appending as a new
//!    epoch.
//! 4. Rolling back unfinished transactions is the observer's business, after the store is open.
//!
//! What a file shows need not be durable: a killed program leaves unsynced bytes in the system's
//! cache, and a failed sync drops them. Recovery therefore relies on nothing that it has only read.
//! The control block and the end of the log are written once more, and every page that the log has
//! changes of is written back before a checkpoint releases that log.
//!
//! Recovery is idempotent. Step 1 writes only over damaged pages, and the doublewrite file keeps
//! its copies until the next batch; step 2 compares LSNs; step 3 writes a new epoch number before
//! anything is appended. A crash in the middle of recovery leaves a state that the same steps bring
//! to the same end.
//!
//! A page that cannot be read (torn while the doublewrite file was rightly skipped, or never
//! written) is no error as long as a later record starts it anew. Such records need no reading at
//! all. The same goes for a page that a change does not fit: it is not the page that the change was
//! made to, and it stays as it is, with its LSN.

use crate::Result;
use crate::buffer::{BufferPool, ExclusivePage, WRITE_BATCH, page_offset};
use crate::codec::ByteReader;
use crate::error::StorageError;
use crate::files::CONTROL_FILE;
use crate::files::DATA_FILE;
use crate::ops::FIRST_PAGE_TAG;
use crate::ops::PageOp;
use crate::page::file::CHECKPOINT_AT;
use crate::page::file::GROUP_PAGES;
use crate::page::file::GROUPS_AT;
use crate::page::file::HEADER_PAGE;
use crate::page::{
    PAGE_SIZE, PageBuf, PageBytes, PageRead, page_id, page_lsn, set_page_lsn, verify,
};
use crate::wal::reader::LogReader;
use crate::wal::record::LogRecord;
use crate::wal::{GROUP_HEADER, Wal};
use inia_base::ids::{Lsn, PageId};
use inia_base::io::DiskFile;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

#[cfg(test)]
mod tests;

/// Takes what recovery finds in the log apart from page changes.
pub(crate) trait LogObserver {
    /// The state that [`CheckpointSource::state`](crate::store::CheckpointSource::state) gave at
    /// the checkpoint recovery starts from. Called once, first, unless the store is new.
    fn checkpoint(&mut self, state: &[u8]) -> Result<()>;
    /// A record, in log order; `lsn` is the end of its group.
    fn record(&mut self, lsn: Lsn, record: &LogRecord<'_>) -> Result<()>;
}

/// Puts intact copies in the place of damaged pages. Only what a crash can have torn is restored: a
/// page that was being written has changes from after the checkpoint. Copies without such changes
/// are left from earlier batches, and the log no longer has what came after them.
pub(crate) fn restore_torn_pages(
    data: &dyn DiskFile,
    doublewrite: &dyn DiskFile,
    checkpoint: Lsn,
) -> Result<()> {
    let slots = (doublewrite.len()? / PAGE_SIZE as u64).min(WRITE_BATCH as u64);
    let mut copy = PageBuf::new();
    // Of several copies of a page, left from batches of different size, the newest counts.
    // The header, which is numbered without a change of its LSN, is always the first of its batch.
    let mut newest: HashMap<PageId, (Lsn, Reverse<u64>)> = HashMap::new();
    for slot in 0..slots {
        doublewrite.read_at(&mut copy.bytes, slot * PAGE_SIZE as u64)?;
        let id = page_id(&copy.bytes);
        let recent = page_lsn(&copy.bytes) > checkpoint || id == HEADER_PAGE;
        if recent && verify(&copy.bytes, id).is_ok() {
            let found = (page_lsn(&copy.bytes), Reverse(slot));
            let known = newest.entry(id).or_insert(found);
            *known = found.max(*known);
        }
    }
    let has_recent_copies = !newest.is_empty();
    let mut place = PageBuf::new();
    for (id, (_, Reverse(slot))) in newest {
        if page_offset(id) + PAGE_SIZE as u64 > data.len()? {
            continue;
        }
        data.read_at(&mut place.bytes, page_offset(id))?;
        if verify(&place.bytes, id).is_err() {
            doublewrite.read_at(&mut place.bytes, slot * PAGE_SIZE as u64)?;
        }
        // A page that is whole may be so in the operating system's memory only: the program was
        // killed before it had synced the file, or the sync has failed. It is written again, as
        // what a failed sync has left out no later one writes, and the next batch takes the copies'
        // place.
        data.write_at(&place.bytes, page_offset(id))?;
    }
    if has_recent_copies {
        data.sync()?;
    }
    Ok(())
}

/// Refuses a data file from before the last checkpoint, whose changes the log has no longer. A
/// header that cannot be read is reported by the code that needs it.
pub(crate) fn check_checkpoint_number(data: &dyn DiskFile, checkpoints: u64) -> Result<()> {
    let mut header = PageBuf::new();
    if data.len()? < PAGE_SIZE as u64 {
        return Ok(());
    }
    data.read_at(&mut header.bytes, page_offset(HEADER_PAGE))?;
    let number = header.bytes.u64_at(CHECKPOINT_AT);
    if verify(&header.bytes, HEADER_PAGE).is_ok() && number < checkpoints {
        return Err(StorageError::Unopenable(format!(
            "{DATA_FILE} is from earlier than {CONTROL_FILE} and lacks what was written to it since"
        )));
    }
    Ok(())
}

/// What redo finds out about pages.
#[derive(Default)]
struct Found {
    /// Damaged pages that the log has not started anew so far, with what is wrong with them.
    damaged: BTreeMap<PageId, &'static str>,
    /// Pages that have changes of the log already, and where those begin.
    written: BTreeMap<PageId, Lsn>,
}

/// Applies the log from the reader's position on.
pub(crate) fn redo(
    reader: &mut LogReader,
    wal: &Wal,
    pool: &BufferPool,
    observer: &mut dyn LogObserver,
) -> Result<()> {
    let mut found = Found::default();
    while let Some((end, group)) = reader.next_group()? {
        let start = Lsn(end.0 - group.len() as u64);
        debug_assert!(start >= wal.closed_lsn(), "groups follow one another");
        // The group was read from the disk: pages that carry its LSN may be written from now on.
        wal.recovered_to(end);
        let mut changes = decode_group(group, end, observer)?;
        changes.sort_by_key(|&(page, _)| page);
        for of_page in changes.chunk_by(|a, b| a.0 == b.0) {
            redo_page(of_page, start, end, pool, &mut found)?;
        }
    }
    if let Some((&page, what)) = found.damaged.first_key_value() {
        return Err(StorageError::Corrupt(page, what));
    }
    for (id, from) in found.written {
        let page = pool.exclusive(id)?;
        if page_lsn(&page) > wal.closed_lsn() {
            return Err(StorageError::Corrupt(id, "newer than the log"));
        }
        pool.note_unsynced(&page, from);
    }
    Ok(())
}

/// The page changes of a group; its other records go to the observer.
fn decode_group<'a>(
    group: &'a [u8],
    end: Lsn,
    observer: &mut dyn LogObserver,
) -> Result<Vec<(PageId, PageOp<'a>)>> {
    let senseless =
        || StorageError::Unopenable(format!("the log has a senseless record before {end}"));
    let mut changes = Vec::new();
    let mut reader = ByteReader::new(group.get(GROUP_HEADER..).ok_or_else(senseless)?);
    while let Some(tag) = reader.u8() {
        if tag >= FIRST_PAGE_TAG {
            changes.push(PageOp::decode(tag, &mut reader).ok_or_else(senseless)?);
        } else {
            let record = LogRecord::decode(tag, &mut reader).ok_or_else(senseless)?;
            observer.record(end, &record)?;
        }
    }
    Ok(changes)
}

/// Applies one group's changes of one page, unless the page has them.
fn redo_page(
    changes: &[(PageId, PageOp<'_>)],
    start: Lsn,
    end: Lsn,
    pool: &BufferPool,
    found: &mut Found,
) -> Result<()> {
    let Some(&(id, _)) = changes.first() else { return Ok(()) };
    debug_assert!(changes.iter().all(|(page, _)| *page == id), "changes of one page");
    let fresh_from = changes.iter().rposition(|(_, op)| op.starts_page());
    let mut page = match fresh_from {
        Some(_) => blank_page(id, pool)?,
        None if found.damaged.contains_key(&id) => return Ok(()),
        None => match pool.exclusive(id) {
            Ok(page) => page,
            Err(StorageError::Corrupt(..)) => {
                found.damaged.insert(id, "unreadable, and the log cannot rebuild it");
                return Ok(());
            }
            Err(error) => return Err(error),
        },
    };
    found.damaged.remove(&id);
    if page_lsn(&page) >= end {
        found.written.entry(id).or_insert(start);
        return Ok(());
    }
    let changes = &changes[fresh_from.unwrap_or(0)..];
    if !apply_all(changes, &mut page) {
        found.damaged.insert(id, "a change in the log does not fit it");
        return Ok(());
    }
    pool.note_change(&page, start, fresh_from.is_some());
    set_page_lsn(&mut page, end);
    Ok(())
}

/// Makes all changes of the page, or none.
fn apply_all(changes: &[(PageId, PageOp<'_>)], page: &mut PageBytes) -> bool {
    if let [(_, only)] = changes {
        return only.apply(page);
    }
    let mut before = PageBuf::new();
    before.bytes = *page;
    let fit = changes.iter().all(|(_, op)| op.apply(page));
    if !fit {
        *page = before.bytes;
    }
    fit
}

/// A page about to be rebuilt, not read; the file is made long enough for it.
fn blank_page(id: PageId, pool: &BufferPool) -> Result<ExclusivePage<'_>> {
    let len = page_offset(id) + PAGE_SIZE as u64;
    if pool.data().len()? < len {
        // The log has the page's group before the page.
        let groups = pool.shared(HEADER_PAGE)?.u32_at(GROUPS_AT);
        if id.0 / GROUP_PAGES >= groups {
            return Err(StorageError::Corrupt(id, "made by the log, but in no group of pages"));
        }
        pool.data().set_len(len)?;
    }
    let page = pool.try_exclusive_blank(id)?;
    Ok(page.expect("invariant: recovery is the only user of its pool"))
}
