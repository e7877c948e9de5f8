//! Tables whose engine has no transactions (MyISAM, MEMORY): what a statement does to them stands.
//!
//! They live in the same trees as all others, so a statement reads and changes them in a storage
//! transaction of its own, beside the session's. That one sees what is committed when the statement
//! begins, and is committed when the statement ends, also where it fails: only the row that it
//! failed in is taken back. A crash finds the statement whole or not at all.
//!
//! Example: `INSERT INTO m VALUES (1), (2), (1)` puts two rows in, notes after each that it is
//! complete, and fails at the third, of which an index may have an entry already. The end rolls
//! back to behind the second row, adds two to the number of rows that the catalog keeps of `m`
//! (`catalog/row_count.rs`), and commits.
//!
//! Before its first row a statement locks all such tables that it names, in one order, and keeps
//! them to its end ([`Use`]); so no two statements wait for each other here. The locks are metadata
//! locks on two names that each table has besides its own:
//!
//! | use       | `rows`  | `inserts` | goes together with                  |
//! |-----------|---------|-----------|-------------------------------------|
//! | `Reads`   | `Read`  |           | `Reads`, `Adds`                     |
//! | `Adds`    | `Write` | `Alone`   | `Reads`: whose snapshot is older    |
//! | `Changes` | `Alone` |           | nothing                             |

use super::core::Core;
use crate::catalog::mdl::{Kind, MdlGuard, MdlName};
use crate::catalog::{Table, row_count};
use crate::database::{ClientInfo, Database};
use crate::ddl;
use crate::error::StorageResult;
use crate::plan::StatementPlan;
use inia_base::error::SqlError;
use inia_base::ids::TreeId;
use inia_parser::ast::ObjectName;
use inia_storage::{
    Direction, Engine, Interrupter, Isolation, KeyBound, ReadMode, Savepoint, StorageError, Txn,
};
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What a statement does with a table that has no transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    /// Reads rows.
    Reads,
    /// Puts rows in, which readers need not mind.
    Adds,
    /// Changes rows in any way.
    Changes,
}

/// The tables that are locked until the statement's end.
#[derive(Default)]
pub(crate) struct RowLocks {
    guards: RefCell<Vec<MdlGuard>>,
    /// What the session's slot holds.
    weak: RefCell<Vec<Arc<MdlName>>>,
}

/// By how much a statement has changed the number of a table's rows.
struct Growth {
    tree: TreeId,
    rows: i64,
}

/// The present statement's transaction for tables without transactions.
///
/// Invariant: it is open only while a statement runs, and only where the statement used such a
/// table.
pub(crate) struct Alone {
    engine: Arc<Engine>,
    connection: u32,
    /// Made at the first use: most sessions never need it.
    txn: OnceCell<RefCell<Txn>>,
    interrupter: Arc<OnceLock<Interrupter>>,
    is_open: Cell<bool>,
    /// Behind the last row that was written in full.
    complete: Cell<Option<Savepoint>>,
    /// Of the rows that were.
    growth: RefCell<Vec<Growth>>,
    /// A statement of the session's transaction has changed such a table.
    pub(crate) changed: bool,
}

impl Alone {
    pub(super) fn new(db: &Database, connection: u32) -> Alone {
        Alone {
            engine: db.engine.clone(),
            connection,
            txn: OnceCell::new(),
            interrupter: Arc::default(),
            is_open: Cell::new(false),
            complete: Cell::new(None),
            growth: RefCell::default(),
            changed: false,
        }
    }

    /// The transaction, which begins with its first use by a statement.
    pub(super) fn open(&self, isolation: Isolation) -> &RefCell<Txn> {
        let txn = self.txn.get_or_init(|| {
            let mut txn = self.engine.attach();
            txn.set_label(u64::from(self.connection));
            // Such tables have no locks that are given up.
            txn.set_lock_wait_timeout(Duration::from_secs(31_536_000));
            self.interrupter.get_or_init(|| txn.interrupter());
            RefCell::new(txn)
        });
        if !self.is_open.replace(true) {
            let mut txn = txn.borrow_mut();
            txn.begin(isolation);
            txn.begin_statement();
        }
        txn
    }

    /// A row of a tree is written in full, which made it this much longer.
    fn row_done(&self, tree: TreeId, rows: i64) {
        self.complete.set(self.txn.get().map(|txn| txn.borrow().savepoint()));
        if rows == 0 {
            return;
        }
        let mut growth = self.growth.borrow_mut();
        match growth.iter_mut().find(|known| known.tree == tree) {
            Some(known) => known.rows += rows,
            None => growth.push(Growth { tree, rows }),
        }
    }

    /// How much longer the statement has made a tree.
    fn grown(&self, tree: TreeId) -> i64 {
        let growth = self.growth.borrow();
        growth.iter().find(|known| known.tree == tree).map_or(0, |known| known.rows)
    }

    pub(super) fn settle(&self) -> Result<(), SqlError> {
        match self.txn.get().filter(|_| self.is_open.get()) {
            Some(txn) => txn.borrow_mut().settle().sql(),
            None => Ok(()),
        }
    }

    /// Ends the waits of the transaction, once there is one.
    pub(super) fn interrupter(&self) -> Arc<OnceLock<Interrupter>> {
        self.interrupter.clone()
    }

    pub(super) fn clear_interrupt(&mut self) {
        if let Some(txn) = self.txn.get_mut() {
            txn.get_mut().clear_interrupt();
        }
    }

    /// The statement ends: its changes stand, without those of a row that it failed in.
    fn end(&mut self, failed: bool) -> Result<(), SqlError> {
        let complete = self.complete.take();
        let growth = std::mem::take(self.growth.get_mut());
        if !self.is_open.replace(false) {
            return Ok(());
        }
        let Some(txn) = self.txn.get_mut().map(RefCell::get_mut) else { return Ok(()) };
        let kept = match (failed, complete) {
            (true, Some(complete)) => txn.rollback_to(complete),
            (true, None) => return txn.rollback().sql(),
            (false, _) => Ok(()),
        };
        let changed = txn.has_written();
        let counted = |txn: &mut Txn| -> Result<(), StorageError> {
            let grown = growth.iter().filter(|grown| grown.rows != 0);
            grown
                .into_iter()
                .try_for_each(|grown| row_count::add(&self.engine, txn, grown.tree, grown.rows))
        };
        let ended = kept.and_then(|()| counted(txn)).and_then(|()| txn.commit());
        if ended.is_err() && txn.is_open() {
            // The error of the commit is the one to tell.
            let _ = txn.rollback();
        }
        self.changed |= changed;
        ended.sql()
    }
}

impl Core {
    /// Locks those of the tables that have no transactions until the statement ends.
    pub(crate) fn lock_rows(&self, mut uses: Vec<(&Table, Use)>) -> Result<(), SqlError> {
        uses.retain(|(table, _)| !table.def.is_transactional() && !table.def.temporary);
        // The strongest use of a table first: the others are in it.
        uses.sort_by(|(a, x), (b, y)| {
            let names = (&a.def.schema, &a.def.name).cmp(&(&b.def.schema, &b.def.name));
            names.then(y.cmp(x))
        });
        uses.dedup_by_key(|(table, _)| table.def.id);
        let limit = self.state.mdl_timeout;
        for (table, how) in uses {
            let (rows, inserts) = (&table.shared.rows_lock, &table.shared.inserts_lock);
            let weak = |kind| {
                self.row_locks.weak.borrow_mut().push(rows.clone());
                self.mdl.lock_for_statement(rows, kind, limit)
            };
            let strong = |name| {
                let guard = self.mdl.lock_strong(name, Kind::Alone, limit)?;
                self.row_locks.guards.borrow_mut().push(guard);
                Ok(())
            };
            match how {
                Use::Reads => weak(Kind::Read)?,
                Use::Adds => strong(inserts).and_then(|()| weak(Kind::Write))?,
                Use::Changes => strong(rows)?,
            }
        }
        Ok(())
    }

    /// Locks what a query reads, see [`Core::lock_rows`].
    pub(crate) fn lock_read(&self, plan: &StatementPlan) -> Result<(), SqlError> {
        self.lock_rows(uses_of(plan))
    }

    /// How INSERT uses a table.
    pub(crate) fn use_of_insert(&self, table: &Table, overwrites: bool) -> Use {
        let alone = || self.var("concurrent_insert").as_deref() == Some("NEVER");
        match overwrites || table.def.is_fleeting() || alone() {
            true => Use::Changes,
            false => Use::Adds,
        }
    }

    /// A row is written in full, and with it the table has so many rows more: without transactions
    /// it stays whatever follows.
    pub(crate) fn row_done(&self, table: &Table, rows: i64) {
        if !table.def.is_transactional() {
            self.alone.row_done(table.clustered.id(), rows);
        }
    }

    /// How many rows the statement sees in a table without transactions, where that is known
    /// without counting them.
    pub(crate) fn row_count(&self, table: &Table) -> Result<Option<u64>, SqlError> {
        let mut txn = self.txn_of(table).borrow_mut();
        let kept = row_count::read(&table.store, &mut txn, table.clustered.id()).sql()?;
        Ok(kept.map(|rows| rows.saturating_add_signed(self.alone.grown(table.clustered.id()))))
    }

    /// Ends what the statement did to tables without transactions, and gives up its locks on them.
    pub(crate) fn end_alone(&mut self, failed: bool) -> Result<(), SqlError> {
        let ended = self.alone.end(failed);
        self.row_locks.guards.get_mut().clear();
        let weak = std::mem::take(self.row_locks.weak.get_mut());
        weak.iter().for_each(|name| self.mdl.give_back(name));
        ended
    }
}

/// How a query uses its tables.
pub(crate) fn uses_of(plan: &StatementPlan) -> Vec<(&Table, Use)> {
    let read = plan.tables.iter().map(|table| (&**table, Use::Reads));
    read.chain(plan.updates.iter().map(|table| (&**table, Use::Changes))).collect()
}

/// Empties the tables whose rows do not outlive the server, after a start. Their changes are logged
/// as all others are, so that pages and indexes stay sound; what is new is that the rows go.
pub(crate) fn empty_fleeting(db: &Arc<Database>) {
    let catalog = db.catalog().current();
    let all = catalog.schemas.values().flat_map(|schema| schema.tables.values());
    let filled: Vec<ObjectName> = all
        .filter(|table| table.def.is_fleeting() && has_been_filled(db, table))
        .map(|table| ObjectName {
            db: Some(table.def.schema.clone()),
            name: table.def.name.clone(),
        })
        .collect();
    if filled.is_empty() {
        return;
    }
    let mut core = Core::new(db.clone(), ClientInfo::default());
    for name in filled {
        // What cannot be emptied now, for want of space or for damage, is at the next start.
        let _ = ddl::truncate(&mut core, &name);
        let _ = core.rollback();
    }
}

fn has_been_filled(db: &Database, table: &Table) -> bool {
    let mut txn = db.engine.attach();
    txn.begin(Isolation::ReadCommitted);
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let mode = ReadMode::Snapshot;
    let mut cursor = txn.cursor(&table.clustered, low, high, Direction::Forward, mode);
    let first = cursor.next(&mut txn);
    !matches!(first, Ok(None)) || table.def.auto_increment > 0
}
