//! Indexes that are added to rows which stay as they are.
//!
//! The rows are scanned once for all new indexes, by several threads where they are many. Each
//! thread takes one part of the table's tree after the other, encodes the entries, sorts what it
//! has gathered and gives it to the statement's own thread, which merges it into the trees:
//!
//! ```text
//!   parts of the rows   0 1 2 3 4 5 …
//!   own thread          0   2     5      entries, sorted ──────────────┐
//!   helper                1   3 4        entries, sorted ─► channel ───┴► merged ─► tree
//! ```

use super::RebuildPlan;
use super::filler::{Duplicate, Filler};
use inia_base::error::SqlError;
use inia_base::ids::TreeId;
use inia_base::temporal::TimeZone;
use inia_query::catalog::{Table, TableDef};
use inia_query::context::SessionContext;
use inia_query::dml::write::duplicate_error;
use inia_query::error::StorageResult;
use inia_query::interrupt::Interrupt;
use inia_query::row::{IndexCodec, SeveralCodec};
use inia_query::spill::{RecordChunk, Workspace};
use inia_storage::{Direction, KeyBound, ReadMode, Txn};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Expected rows of a part of a large table.
const PART_ROWS: u64 = 32_768;
/// At most so many parts.
const MAX_PARTS: u64 = 4096;
/// A thread gathers at most so many bytes of an index's entries before it gives them on.
const MAX_CHUNK: usize = 8 << 20;

/// Entries of the new index at this position, sorted.
type Gathered = (usize, RecordChunk);

/// A scan of a table's rows for the entries of new indexes, divided among threads.
///
/// Invariant: parts below `next` were taken, each by one thread.
struct EntryScan<'s> {
    table: &'s Table,
    codecs: &'s [IndexCodec],
    /// Those of indexes that have several entries for a row.
    several: &'s [Option<SeveralCodec>],
    /// The keys that cut the rows into parts, ascending.
    cuts: Vec<Vec<u8>>,
    next: AtomicUsize,
    /// A thread has failed: no part is worth reading any more.
    stopped: AtomicBool,
    interrupt: Interrupt<'s>,
    /// Bytes of an index's entries that a thread gathers before it gives them on.
    chunk: usize,
}

impl EntryScan<'_> {
    /// The keys between which the next part that nobody has taken lies.
    fn take(&self) -> Option<(KeyBound<'_>, KeyBound<'_>)> {
        let part = self.next.fetch_add(1, Ordering::Relaxed);
        if part > self.cuts.len() || self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let below = part.checked_sub(1).map(|at| KeyBound::Included(&self.cuts[at][..]));
        let above = self.cuts.get(part).map(|key| KeyBound::Excluded(&key[..]));
        Some((below.unwrap_or(KeyBound::Unbounded), above.unwrap_or(KeyBound::Unbounded)))
    }

    /// Reads parts until none is left, and gives sorted entries to `give`.
    fn run(
        &self,
        txn: &mut Txn,
        give: &mut dyn FnMut(Gathered) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let done = self.gather(txn, give);
        if done.is_err() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        done
    }

    fn gather(
        &self,
        txn: &mut Txn,
        give: &mut dyn FnMut(Gathered) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let mut chunks: Vec<RecordChunk> = Vec::new();
        chunks.resize_with(self.codecs.len(), RecordChunk::default);
        let (mut key, mut value) = (Vec::new(), Vec::new());
        while let Some((low, high)) = self.take() {
            let (tree, forward) = (&self.table.clustered, Direction::Forward);
            let mut cursor = txn.cursor(tree, low, high, forward, ReadMode::Snapshot);
            while let Some(record) = cursor.next(txn).sql()? {
                self.interrupt.check()?;
                let cell = |column| self.table.layout.cell(record.value, column);
                for (slot, codec) in self.codecs.iter().enumerate() {
                    let chunk = &mut chunks[slot];
                    if let Some(several) = &self.several[slot] {
                        let entries = several.entries(cell, record.key)?;
                        entries.iter().for_each(|(key, value)| chunk.push(key, value));
                    } else {
                        key.clear();
                        value.clear();
                        codec.put_entry(cell, record.key, &mut key, &mut value)?;
                        chunk.push(&key, &value);
                    }
                    if chunk.size() >= self.chunk {
                        let mut full = std::mem::take(chunk);
                        full.sort();
                        give((slot, full))?;
                    }
                }
            }
        }
        for (slot, mut chunk) in chunks.into_iter().enumerate() {
            chunk.sort();
            give((slot, chunk))?;
        }
        Ok(())
    }
}

/// Fills the index trees that are new from the rows as they are.
pub(super) fn add_indexes(
    session: &SessionContext,
    table: &Table,
    new: &TableDef,
    plan: &RebuildPlan,
) -> Result<(), SqlError> {
    let added: Vec<usize> = (0..new.indexes.len())
        .filter(|at| plan.kept[*at].is_none() && !new.indexes[*at].clustered)
        .collect();
    // Without new trees there is no reason to scan the rows.
    if added.is_empty() {
        return Ok(());
    }
    let (disk, killed) = (session.db.scratch.clone(), session.killed.clone());
    let codecs: Vec<IndexCodec> = added.iter().map(|at| IndexCodec::new(new, *at)).collect();
    let several: Vec<_> = added.iter().map(|at| SeveralCodec::of(new, *at)).collect();
    let trees: Vec<TreeId> = added.iter().map(|at| new.indexes[*at].tree).collect();
    let interrupt = Interrupt::new(&killed, None);
    let within = Workspace::within(&*disk, session.db.build_memory).until(interrupt);
    let work = (within.from(&session.host.memory), &*table.store);
    let mut fillers = Filler::of(work, &new.name, &trees);
    let txn = &mut *session.tree_txn(new).borrow_mut();
    let rows = table.store.estimate_rows(&table.clustered).sql()?;
    let helpers = session.host.helpers_for(rows);
    let scan = EntryScan {
        table,
        codecs: &codecs,
        several: &several,
        cuts: cuts(table, rows, helpers.count())?,
        next: AtomicUsize::new(0),
        stopped: AtomicBool::new(false),
        interrupt,
        // What waits between threads is a part of the memory for building.
        chunk: (within.budget / (4 * trees.len() * (1 + helpers.count()))).min(MAX_CHUNK),
    };
    scan_rows(&scan, txn, helpers.count(), &mut fillers)?;
    // Duplicate keys show when the entries are sorted: uniqueness is checked here.
    for (slot, filler) in fillers.into_iter().enumerate() {
        if let Some(duplicate) = filler.finish(txn, interrupt)? {
            let error = duplicate_entry(txn, new, added[slot], &codecs[slot], &duplicate, table)?;
            return Err(error);
        }
    }
    Ok(())
}

/// Keys that cut a table's rows into parts for a statement with so many helpers.
fn cuts(table: &Table, rows: u64, helpers: usize) -> Result<Vec<Vec<u8>>, SqlError> {
    if helpers == 0 {
        return Ok(Vec::new());
    }
    let wanted = (rows / PART_ROWS).clamp(1, MAX_PARTS) as usize;
    table.store.separators(&table.clustered, (&[], None), wanted).sql()
}

/// Reads all rows, with helpers, and gives their entries to the fillers.
fn scan_rows(
    scan: &EntryScan<'_>,
    txn: &mut Txn,
    helpers: usize,
    fillers: &mut [Filler<'_>],
) -> Result<(), SqlError> {
    let readers = (0..helpers).map(|_| txn.reader().sql()).collect::<Result<Vec<_>, _>>()?;
    let (sender, receiver) = sync_channel(2 * fillers.len() * (1 + helpers));
    std::thread::scope(|threads| {
        let started: Vec<_> = readers
            .into_iter()
            .map(|reader| (reader, sender.clone()))
            .map(|(reader, sender)| threads.spawn(|| help(scan, reader, sender)))
            .collect();
        drop(sender);
        let own = merge(scan, txn, receiver, fillers);
        // The receiver is gone: helpers that wait for it end, and their errors come second.
        let of_helpers = started.into_iter().try_for_each(|helper| match helper.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        own.and(of_helpers)
    })
}

/// A helper's part of the scan. Its entries have no taker any more where the statement has failed.
fn help(
    scan: &EntryScan<'_>,
    mut reader: Txn,
    sender: SyncSender<Gathered>,
) -> Result<(), SqlError> {
    scan.run(&mut reader, &mut |gathered| {
        if sender.send(gathered).is_err() {
            scan.stopped.store(true, Ordering::Relaxed);
        }
        Ok(())
    })
}

/// The statement's own part of the scan; entries of the helpers are taken between its own.
fn merge(
    scan: &EntryScan<'_>,
    txn: &mut Txn,
    receiver: Receiver<Gathered>,
    fillers: &mut [Filler<'_>],
) -> Result<(), SqlError> {
    let mut take = |(slot, chunk): Gathered| fillers[slot].push_sorted(chunk);
    scan.run(txn, &mut |own| {
        take(own)?;
        receiver.try_iter().try_for_each(&mut take)
    })?;
    receiver.iter().try_for_each(take)
}

/// Error 1062 for a duplicate met while filling a secondary index of `table`'s rows.
fn duplicate_entry(
    txn: &mut Txn,
    new: &TableDef,
    index: usize,
    codec: &IndexCodec,
    duplicate: &Duplicate,
    table: &Table,
) -> Result<SqlError, SqlError> {
    let primary = codec.primary_key(&duplicate.0, &duplicate.1)?;
    let read = |row: &[u8]| {
        let mut values = Vec::new();
        table.layout.decode(row, &TimeZone::utc(), &mut values).map(|()| values)
    };
    let row = txn.get(&table.clustered, primary, read).sql()?;
    let row = row.ok_or(inia_query::error::Damaged)??;
    Ok(duplicate_error(new, index, &row))
}
