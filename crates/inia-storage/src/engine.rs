//! The facade of the storage engine.

use crate::Result;
use crate::btree::{BTree, SampledLeaf, SampledTree};
use crate::buffer::PoolStats;
use crate::counts::FileCounts;
use crate::error::StorageError;
use crate::files::UNDO_FILE;
use crate::lock::LockSystem;
use crate::lock::wait::LockWait;
use crate::page::file::is_pinned;
use crate::store::{EngineSizes, Store, StoreOptions, volatile_disk};
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use crate::txn::handle::Txn;
use crate::txn::held_locks::{HeldLocks, TreeLocks};
use crate::txn::horizon::{CheckpointView, Roots};
use crate::txn::log::TxnRecord;
use crate::txn::prepared::PreparedTxn;
use crate::txn::recover::{self, Analysis};
use crate::txn::rollback::{StuckRollback, Unfinished};
use crate::txn::session::ActiveTxn;
use crate::txn::shared::EngineShared;
use crate::txn::status::{STATUS_SLOTS, StatusTable};
use crate::txn::trees::{Tree, Trees};
use crate::txn::undo::UndoStore;
use inia_base::ids::{Lsn, PageId, TreeId, TxnId};
use inia_base::io::Disk;
use inia_base::rt::WaitCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// How long background purge sleeps when there was nothing to do.
const PURGE_PAUSE: Duration = Duration::from_millis(50);

/// Bytes of page frames of a store that does not outlive the process; all pages are in memory.
const VOLATILE_POOL: u64 = 16 << 20;

/// How an engine is opened.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Bytes of page frames; memory is taken as pages are used.
    pub buffer_pool_size: u64,
    /// Whether background threads run; without them the caller drives [`Engine::background_step`]
    /// (deterministic tests).
    pub background: bool,
}

/// An open store. Shared by all sessions; dropped after the last one.
pub struct Engine {
    pub(crate) core: Arc<EngineShared>,
    purger: Mutex<Option<Purger>>,
    /// Those that were prepared when the last run ended, until the layer above takes them.
    prepared: Mutex<Vec<PreparedTxn>>,
    /// Its files are in memory.
    in_memory: bool,
}

struct Purger {
    thread: JoinHandle<()>,
    stop: Arc<AtomicBool>,
}

/// Counters and gauges of an engine, at one moment: a flat list, each shown under a name of its
/// own.
///
/// Wide: one field for each counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Lock waits so far.
    pub lock_waits: u64,
    /// Time spent in them.
    pub lock_wait_micros: u64,
    /// Time of the longest one.
    pub lock_wait_max_micros: u64,
    /// Sessions that wait at the moment.
    pub lock_waiters: u64,
    /// Deadlocks so far.
    pub deadlocks: u64,
    /// Lock waits that ended by timeout.
    pub lock_timeouts: u64,
    /// Bytes of memory that undo takes.
    pub undo_bytes: u64,
    /// Bytes of undo in its temporary file.
    pub undo_spilled_bytes: u64,
    /// Finished transactions that wait for purge.
    pub history_length: u64,
    /// Transactions that wait for their rollback in the background.
    pub unfinished: u64,
    /// Those among them whose rollback fails.
    pub stuck: u64,
    /// The id that the next writing transaction will get.
    pub next_txn: TxnId,
    /// Every smaller id is finished and durable.
    pub low_water: TxnId,
    /// Every snapshot sees the commits up to here.
    pub purge_horizon: Lsn,
    /// The log is durable up to here.
    pub durable_lsn: Lsn,
    /// The pages on disk have all changes up to here.
    pub clean_lsn: Lsn,
    /// What was written to the log since the start.
    pub log_written: FileCounts,
}

impl Engine {
    /// Opens the store in `disk`, creating it when the disk is empty, recovering it when it was
    /// not closed.
    pub fn open(disk: Arc<dyn Disk>, options: EngineOptions) -> Result<Arc<Engine>> {
        Engine::open_with(disk, StoreOptions::new(options.buffer_pool_size, options.background))
    }

    /// As [`Engine::open`], with other sizes than the usual ones.
    pub fn open_sized(
        disk: Arc<dyn Disk>,
        options: EngineOptions,
        sizes: EngineSizes,
    ) -> Result<Arc<Engine>> {
        let (pool, background) = (options.buffer_pool_size, options.background);
        Engine::open_with(disk, StoreOptions::sized(pool, background, sizes))
    }

    /// An empty store in memory beside this one, for what does not outlive the process: nothing of
    /// it is logged.
    pub fn open_volatile(&self) -> Result<Arc<Engine>> {
        let background = self.purger.lock().is_some();
        let options = EngineOptions { buffer_pool_size: VOLATILE_POOL, background };
        Engine::open(Arc::new(volatile_disk()), options)
    }

    /// Why nothing can be written until the next start, if that is so.
    pub fn failure(&self) -> Option<StorageError> {
        self.core.store.wal().failure()
    }

    pub(crate) fn open_with(disk: Arc<dyn Disk>, options: StoreOptions) -> Result<Arc<Engine>> {
        // Left over from a crash just when it was made: nobody needs it after that.
        if disk.list()?.iter().any(|name| name == UNDO_FILE) {
            disk.remove(UNDO_FILE)?;
        }
        // Undo is there before the store: recovery puts the records of losers back into it.
        let in_memory = disk.is_memory();
        let undo = Arc::new(UndoStore::new(Arc::clone(&disk), options.undo_memory));
        let mut analysis = Analysis::new(Arc::clone(&undo));
        let store = Store::open(disk, options.clone(), &mut analysis)?;
        undo.set_reserve(store.reserve());
        let roots = match analysis.roots() {
            Some(roots) => roots,
            None => bootstrap(&store)?,
        };
        let boundary = analysis.next_id();
        let core = Arc::new(EngineShared {
            status: Arc::new(StatusTable::new(boundary, STATUS_SLOTS)),
            sessions: Arc::default(),
            locks: LockSystem::new(),
            undo,
            unfinished: Mutex::default(),
            rollbacks_left: AtomicU64::new(0),
            trees: Trees::default(),
            roots,
            boundary,
            horizon: AtomicU64::new(0),
            least_end: AtomicU64::new(boundary.0),
            dead: Mutex::default(),
            relog_age: options.log_capacity / 2,
            relogging: Mutex::default(),
            garbage_waits: AtomicBool::new(true),
            collecting: Mutex::new(()),
            purger: WaitCell::new(),
            reported_failure: Mutex::default(),
            store,
        });
        core.store.set_checkpoint_source(Arc::new(CheckpointView {
            store: Arc::downgrade(&core.store),
            sessions: Arc::clone(&core.sessions),
            status: Arc::clone(&core.status),
            roots,
        }));
        // From here on checkpoints keep what rollbacks need, so the losers may be rolled back.
        let prepared = Mutex::new(recover::resume(&core, &analysis.into_losers())?);
        let purger = Mutex::new(options.background.then(|| start_purger(&core)));
        Ok(Arc::new(Engine { core, purger, prepared, in_memory }))
    }

    /// Writes everything back and closes cleanly. Later writes fail.
    pub fn close(&self) -> Result<()> {
        self.stop_purger();
        self.core.store.close()
    }

    /// A session's transaction handle, idle. One per connection, reused for all its transactions.
    pub fn attach(self: &Arc<Engine>) -> Txn {
        Txn::new(Arc::clone(&self.core))
    }

    /// The transactions that were prepared when the last run ended. They are given out once, and
    /// stay prepared where they are not taken or are dropped.
    pub fn take_prepared(&self) -> Vec<PreparedTxn> {
        std::mem::take(&mut *self.prepared.lock())
    }

    /// The names of those that nobody has taken.
    #[cfg(test)]
    pub(crate) fn prepared_for_tests(&self) -> Vec<String> {
        let all = self.prepared.lock();
        all.iter().map(|one| String::from_utf8_lossy(one.name()).into_owned()).collect()
    }

    /// The tree that the SQL layer keeps its catalog in; it is there from the first open.
    pub fn catalog_tree(&self) -> Tree {
        self.core.trees.get(self.core.roots.catalog)
    }

    /// A handle on the tree with this id.
    pub fn tree(&self, id: TreeId) -> Tree {
        self.core.trees.get(id)
    }

    /// Waits until the log is durable up to `lsn`.
    pub fn wait_durable(&self, lsn: Lsn) -> Result<()> {
        let wal = self.core.store.wal();
        if wal.durable_lsn() < lsn {
            wal.wait_durable(lsn)?;
        }
        self.core.status.advance(wal.durable_lsn());
        Ok(())
    }

    /// Waits until everything that has been committed so far is durable, so that a snapshot taken
    /// from here on shows it.
    pub fn wait_for_commits(&self) -> Result<()> {
        self.wait_durable(self.core.store.wal().closed_lsn())
    }

    /// One step of background work (page writing, checkpoint, purge); true when there was some.
    pub fn background_step(&self) -> Result<bool> {
        let purged = self.core.purge_step();
        let written = self.core.store.background_step();
        Ok(purged? | written?)
    }

    /// About how many records the tree has (deleted ones that are not purged yet included).
    pub fn estimate_rows(&self, tree: &Tree) -> Result<u64> {
        tree.btree().estimate_records(&self.core.store)
    }

    /// About how many records have keys in `lower ≤ key < upper`; exact when one leaf holds them.
    pub fn estimate_range(
        &self,
        tree: &Tree,
        lower: Option<&[u8]>,
        upper: Option<&[u8]>,
    ) -> Result<u64> {
        tree.btree().estimate_range(&self.core.store, lower, upper)
    }

    /// Keys that cut the range from one key to before another into parts of about equal size:
    /// about `wanted` of them, ascending, where the tree is large enough, fewer where it is not.
    pub fn separators(
        &self,
        tree: &Tree,
        range: (&[u8], Option<&[u8]>),
        wanted: usize,
    ) -> Result<Vec<Vec<u8>>> {
        tree.btree().separators(&self.core.store, range, wanted)
    }

    /// Gives leaves of the tree to `take` in the order of their keys, for statistics: all, where
    /// there are at most `most`, else about that many from all over the tree. The newest versions
    /// of the records are shown, whether committed or not.
    pub fn sample_leaves(
        &self,
        tree: &Tree,
        most: usize,
        take: &mut dyn FnMut(&SampledLeaf<'_>) -> Result<()>,
    ) -> Result<SampledTree> {
        tree.btree().sample_leaves(&self.core.store, most, take)
    }

    /// Puts the first key from `from` on in `out`, whether committed or not; false at the tree's
    /// end. After a long run of deleted records it is the key of one.
    pub fn key_from(&self, tree: &Tree, from: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        tree.btree().key_from(&self.core.store, from, out)
    }

    /// The tree's counter as it was kept last; 0 = never. To be read after the greatest number of
    /// the tree's records: one that is not there any more is below what is kept then.
    pub fn kept_counter(&self, tree: &Tree) -> Result<u64> {
        self.core.kept_counter(tree)
    }

    /// Forgets the counter, what was kept of it, too. Nobody else may use the tree.
    pub fn forget_counter(&self, tree: &Tree) -> Result<()> {
        self.core.forget_counter(tree)
    }

    /// The greatest key of the tree, those of records included that are deleted but may come back:
    /// no record that any transaction sees, or will see by a rollback, has a greater one.
    pub fn greatest_key(&self, tree: &Tree) -> Result<Option<Vec<u8>>> {
        tree.btree().greatest_key(&self.core.store)
    }

    /// The transactions that have written or locked something.
    pub fn active_transactions(&self) -> Vec<ActiveTxn> {
        let sessions = self.core.sessions.list();
        let describe = || sessions.iter().filter_map(|session| session.describe()).collect();
        self.core.locks.at_rest(describe)
    }

    /// The transactions whose rollback fails.
    pub fn stuck_rollbacks(&self) -> Vec<StuckRollback> {
        self.core.unfinished.lock().iter().filter_map(Unfinished::stuck).collect()
    }

    /// Who waits for whom.
    pub fn lock_waits(&self) -> Vec<LockWait> {
        let sessions = self.core.sessions.list();
        sessions.iter().filter_map(|session| self.core.locks.wait_of(&session.owner)).collect()
    }

    /// The newest version's value of a record, whether committed or not; `None` where there is no
    /// record.
    pub fn newest_value(&self, tree: &Tree, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        let found = tree.btree().get(&self.core.store, key, &mut value)?;
        Ok(found.map(|_| value))
    }

    /// What is locked now.
    pub fn held_locks(&self) -> HeldLocks {
        self.core.held_locks()
    }

    /// The locks on records of a tree. Where `writes` is set, records that a transaction has
    /// changed or deleted count as locked by it, those that it has inserted do not. Only the tree's
    /// first records are looked at, about `most`.
    pub fn locks_of_tree(
        &self,
        held: &HeldLocks,
        tree: &Tree,
        writes: bool,
        most: usize,
    ) -> Result<TreeLocks> {
        self.core.locks_of_tree(held, tree, writes, most)
    }

    /// Checks every page of the engine's own trees and of `trees`, which must be all others. The
    /// engine must be at rest. What is wrong, in words; nothing when all is well.
    pub fn check(&self, trees: &[TreeId]) -> Result<Vec<String>> {
        let stuck = self.core.roll_back_all();
        let mut report: Vec<String> = stuck.iter().map(ToString::to_string).collect();
        let roots = self.core.roots;
        let mut owners: HashMap<PageId, TreeId> = HashMap::new();
        for id in [roots.garbage, roots.catalog].into_iter().chain(trees.iter().copied()) {
            let mut problems = Vec::new();
            let pages = self.tree(id).btree().check(&self.core.store, &mut problems);
            for problem in problems {
                report.push(format!("tree {id}, page {}: {}", problem.page, problem.what));
            }
            for page in pages {
                if let Some(other) = owners.insert(page, id) {
                    report.push(format!("page {page} belongs to tree {other} and tree {id}"));
                }
                if !self.core.store.is_page_used(page) {
                    report.push(format!("tree {id}: page {page} is marked as free"));
                }
            }
        }
        self.find_leaks(&owners, &mut report)?;
        Ok(report)
    }

    /// Reports pages that are in use but belong to nobody. Dropped trees still have theirs.
    fn find_leaks(&self, owners: &HashMap<PageId, TreeId>, report: &mut Vec<String>) -> Result<()> {
        if self.estimate_rows(&self.tree(self.core.roots.garbage))? > 0 {
            return Ok(());
        }
        let store = &self.core.store;
        let mut left = store.used_pages();
        for page in (0..u32::MAX).map(PageId) {
            if left == 0 {
                break;
            }
            if store.is_page_used(page) {
                left -= 1;
                if !is_pinned(page) && !owners.contains_key(&page) {
                    report.push(format!("page {page} is in use but belongs to no tree"));
                }
            }
        }
        Ok(())
    }

    /// Counters and gauges.
    pub fn stats(&self) -> EngineStats {
        let (core, counters) = (&self.core, &self.core.locks.counters);
        let stuck = self.stuck_rollbacks().len() as u64;
        let sessions = core.sessions.list();
        let history = sessions.iter().map(|s| s.history.lock().len() as u64).sum();
        let waiters = sessions.iter().filter(|s| core.locks.is_waiting(&s.owner)).count();
        EngineStats {
            lock_waits: counters.waits.load(Ordering::Relaxed),
            lock_wait_micros: counters.wait_micros.load(Ordering::Relaxed),
            lock_wait_max_micros: counters.max_wait_micros.load(Ordering::Relaxed),
            lock_waiters: waiters as u64,
            deadlocks: counters.deadlocks.load(Ordering::Relaxed),
            lock_timeouts: counters.timeouts.load(Ordering::Relaxed),
            undo_bytes: core.undo.bytes(),
            undo_spilled_bytes: core.undo.spilled_bytes(),
            history_length: history,
            unfinished: core.unfinished.lock().len() as u64,
            stuck,
            next_txn: core.status.next_id(),
            low_water: core.status.low_water(),
            purge_horizon: core.purge_horizon(),
            durable_lsn: core.store.wal().durable_lsn(),
            clean_lsn: core.store.clean_to(),
            log_written: core.store.wal().written(),
        }
    }

    /// How full the buffer pool is; looks at every frame of it.
    pub fn pool_stats(&self) -> PoolStats {
        self.core.store.pool_stats()
    }

    /// Bytes of pages that are read without waiting for a disk: those that the buffer pool has room
    /// for, any where the files are in memory.
    pub fn resident_bytes(&self) -> u64 {
        if self.in_memory { u64::MAX } else { self.core.store.pool_bytes() }
    }

    pub(crate) fn stop_purger(&self) {
        if let Some(purger) = self.purger.lock().take() {
            purger.stop.store(true, Ordering::Release);
            self.core.purger.wake();
            // A purge that panicked has nothing more to say.
            let _ = purger.thread.join();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop_purger();
        self.core.store.stop_background();
    }
}

/// Makes the engine's own trees in a new store.
fn bootstrap(store: &Store) -> Result<Roots> {
    let mut mtr = store.mtr()?;
    let garbage = BTree::create(store, &mut mtr)?.id();
    let catalog = BTree::create(store, &mut mtr)?.id();
    let roots = Roots { garbage, catalog };
    mtr.log(&TxnRecord::Bootstrapped(roots).encode(&mut Vec::new()));
    let end = mtr.commit();
    store.wal().wait_durable(end)?;
    Ok(roots)
}

fn start_purger(core: &Arc<EngineShared>) -> Purger {
    let stop = Arc::new(AtomicBool::new(false));
    let (core, stopped) = (Arc::clone(core), Arc::clone(&stop));
    let thread = std::thread::spawn(move || {
        while !stopped.load(Ordering::Acquire) {
            // A failure has been reported; what failed is tried again.
            if !core.purge_round().some {
                core.purger.wait(Some(PURGE_PAUSE));
            }
        }
    });
    Purger { thread, stop }
}
