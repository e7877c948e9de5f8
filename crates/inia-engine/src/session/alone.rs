//! Tables whose engine has no transactions (MyISAM, MEMORY): what a statement does to them stands.
//!
//! They live in the same trees as all others, so a statement reads and changes them in a storage
//! transaction of its own, beside the session's. That one sees what is committed when the statement
//! begins, and is committed when the statement ends, also where it fails: only the row that it
//! failed in is taken back. A crash finds the statement whole or not at all.
//!
//! Statements that change such a table take turns: the table is theirs until they end. Readers do
//! not wait, they see the table as it was before. Locks on several tables are taken in one order,
//! before the first change, so no two statements wait for each other here.
//!
//! Example: `INSERT INTO m VALUES (1), (2), (1)` puts two rows in, notes after each that it is
//! complete, and fails at the third, of which an index may have an entry already. The end rolls
//! back to behind the second row, and commits.

use super::core::Core;
use crate::catalog::Table;
use crate::catalog::mdl::{Kind, MdlGuard};
use crate::database::{ClientInfo, Database};
use crate::ddl;
use crate::error::StorageResult;
use inia_base::error::SqlError;
use inia_parser::ast::ObjectName;
use inia_storage::{Direction, Engine, Interrupter, Isolation, KeyBound, ReadMode, Savepoint, Txn};
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What makes the name of a table the name of its rows. No table's name has this.
const ROWS: &str = "\0rows";

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
    /// The tables that are the statement's own.
    locks: RefCell<Vec<MdlGuard>>,
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
            locks: RefCell::default(),
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

    pub(super) fn row_done(&self) {
        self.complete.set(self.txn.get().map(|txn| txn.borrow().savepoint()));
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
    pub(crate) fn end(&mut self, failed: bool) -> Result<(), SqlError> {
        let _locks = std::mem::take(self.locks.get_mut());
        let complete = self.complete.take();
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
        let ended = kept.and_then(|()| txn.commit());
        if ended.is_err() && txn.is_open() {
            // The error of the commit is the one to tell.
            let _ = txn.rollback();
        }
        self.changed |= changed;
        ended.sql()
    }
}

impl Core {
    /// Waits until no other statement changes those of the tables that have no transactions, and
    /// keeps others out until this one ends.
    pub(crate) fn lock_alone(&self, tables: &[&Table]) -> Result<(), SqlError> {
        let alone = |table: &&&Table| !table.def.is_transactional() && !table.def.temporary;
        let manager = self.db.catalog().mdl();
        let mut names: Vec<(&str, String)> = (tables.iter().filter(alone))
            .map(|table| (table.def.schema.as_str(), format!("{}{ROWS}", table.def.name)))
            .collect();
        names.sort();
        names.dedup();
        for (schema, rows) in names {
            let name = manager.name(schema, &rows);
            let lock = self.mdl.lock_strong(&name, Kind::Alone, self.mdl_limit())?;
            self.alone.locks.borrow_mut().push(lock);
        }
        Ok(())
    }
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
