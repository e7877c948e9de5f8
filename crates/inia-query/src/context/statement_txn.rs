//! Statement transactions: for tables whose engine has no transactions (MyISAM, MEMORY), where a
//! statement's changes stand whatever becomes of the session's transaction.
//!
//! Such tables are stored in trees like all others. A statement reads and changes them in a storage
//! transaction of its own, beside the session's; MEMORY tables have a second one, since their trees
//! are in the volatile store (`Catalog::store`). A statement transaction sees what is committed
//! when the statement begins. It commits when the statement ends, also when the statement fails:
//! only the row that failed is rolled back. After a crash the statement has happened wholly or not
//! at all.
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
//! | use       | `rows`      | `inserts`   | goes together with               |
//! |-----------|-------------|-------------|----------------------------------|
//! | `Reads`   | `Read`      |             | `Reads`, `Adds`                  |
//! | `Adds`    | `Write`     | `WriteLock` | `Reads`: whose snapshot is older |
//! | `Changes` | `WriteLock` |             | nothing                          |

use super::SessionContext;
use crate::catalog::mdl::{MdlGuard, MdlKind, MdlName};
use crate::catalog::{Table, TableDef, heap, row_count};
use crate::error::StorageResult;
use crate::plan::StatementPlan;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::ids::TreeId;
use inia_storage::{Engine, Interrupter, Isolation, Savepoint, Txn};
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What a statement does with a table that has no transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
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

/// What a statement knows of the number of a table's rows.
struct Growth {
    tree: TreeId,
    /// The number before the statement, once somebody asked for it.
    before: Option<Option<u64>>,
    /// How many rows have come since.
    rows: i64,
}

/// The present statement's transaction in one store.
///
/// Invariant: it is open only while a statement runs, and only where the statement used a table
/// without transactions in that store.
#[derive(Default)]
pub(crate) struct StatementTxn {
    /// Made at the first use: most sessions never need it.
    txn: OnceCell<(Arc<Engine>, RefCell<Txn>)>,
    interrupter: Arc<OnceLock<Interrupter>>,
    is_open: Cell<bool>,
    /// Behind the last row that was written in full.
    complete: Cell<Option<Savepoint>>,
    /// Of the rows that were.
    growth: RefCell<Vec<Growth>>,
}

/// The present statement's transactions for tables without transactions.
pub struct StatementTxns {
    connection: u32,
    /// For tables beside all others, and for those that are not logged.
    txns: [StatementTxn; 2],
    /// A statement of the session's transaction has changed such a table.
    pub changed: bool,
}

impl StatementTxn {
    /// The transaction, which begins with its first use by a statement.
    fn open(&self, store: &Arc<Engine>, label: u32, isolation: Isolation) -> &RefCell<Txn> {
        let (_, txn) = self.txn.get_or_init(|| {
            let mut txn = store.attach();
            txn.set_label(u64::from(label));
            // Such tables have no locks that are given up.
            txn.set_lock_wait_timeout(Duration::from_secs(31_536_000));
            self.interrupter.get_or_init(|| txn.interrupter());
            (store.clone(), RefCell::new(txn))
        });
        if !self.is_open.replace(true) {
            debug_assert!(self.growth.borrow().is_empty(), "a statement begins with no growth");
            debug_assert!(self.complete.get().is_none(), "a statement begins with no row");
            let mut txn = txn.borrow_mut();
            txn.begin(isolation);
            txn.begin_statement();
        }
        txn
    }

    /// Looks at, or changes, what is known of a tree's number of rows.
    fn growth<R>(&self, tree: TreeId, act: impl FnOnce(&mut Growth) -> R) -> R {
        let mut all = self.growth.borrow_mut();
        let at = all.iter().position(|known| known.tree == tree).unwrap_or_else(|| {
            all.push(Growth { tree, before: None, rows: 0 });
            all.len() - 1
        });
        act(&mut all[at])
    }

    /// A row of a tree is written in full, which made it this much longer.
    fn row_done(&self, tree: TreeId, rows: i64) {
        self.complete.set(self.txn.get().map(|(_, txn)| txn.borrow().savepoint()));
        if rows != 0 {
            self.growth(tree, |growth| growth.rows += rows);
        }
    }

    /// How many rows the open transaction sees in a tree.
    pub(crate) fn row_count(&self, tree: TreeId) -> Result<Option<u64>, SqlError> {
        let (before, grown) = self.growth(tree, |growth| (growth.before, growth.rows));
        let before = match (before, self.txn.get()) {
            (Some(before), _) => before,
            (None, Some((store, txn))) => {
                let before = row_count::read(store, &mut txn.borrow_mut(), tree).sql()?;
                self.growth(tree, |growth| growth.before = Some(before));
                before
            }
            (None, None) => None,
        };
        Ok(before.map(|before| before.saturating_add_signed(grown)))
    }

    /// The statement ends: its changes stand, without those of a row that it failed in, or `none`
    /// of them. Whether there were any.
    fn end(&mut self, failed: bool, none: bool) -> Result<bool, SqlError> {
        let complete = self.complete.take();
        if !self.is_open.replace(false) {
            self.growth.get_mut().clear();
            return Ok(false);
        }
        let growth = std::mem::take(self.growth.get_mut());
        let Some((store, txn)) = self.txn.get_mut() else { return Ok(false) };
        let txn = txn.get_mut();
        let kept = match complete.filter(|_| failed && !none) {
            Some(complete) => txn.rollback_to(complete),
            None if failed => return txn.rollback().sql().map(|()| false),
            None => Ok(()),
        };
        let changed = txn.has_written();
        let counted = |txn: &mut Txn| {
            let mut grown = growth.iter().filter(|grown| grown.rows != 0);
            grown.try_for_each(|grown| row_count::add(store, txn, grown.tree, grown.rows))
        };
        let ended = kept.and_then(|()| counted(txn)).and_then(|()| txn.commit());
        if ended.is_err() && txn.is_open() {
            // The error of the commit is the one to report.
            let _ = txn.rollback();
        }
        ended.sql().map(|()| changed)
    }
}

impl StatementTxns {
    pub(crate) fn new(connection: u32) -> StatementTxns {
        StatementTxns { connection, txns: Default::default(), changed: false }
    }

    pub(crate) fn txn(&self, def: &TableDef) -> &StatementTxn {
        &self.txns[usize::from(def.is_volatile())]
    }

    /// The transaction for a table, which begins with its first use by a statement.
    pub(crate) fn open(
        &self,
        def: &TableDef,
        store: &Arc<Engine>,
        isolation: Isolation,
    ) -> &RefCell<Txn> {
        self.txn(def).open(store, self.connection, isolation)
    }

    pub(crate) fn settle(&self) -> Result<(), SqlError> {
        for txn in self.txns.iter().filter(|txn| txn.is_open.get()) {
            if let Some((_, txn)) = txn.txn.get() {
                txn.borrow_mut().settle().sql()?;
            }
        }
        Ok(())
    }

    /// Ends the waits of the transactions, once they are there.
    pub fn interrupters(&self) -> [Arc<OnceLock<Interrupter>>; 2] {
        [0, 1].map(|at| self.txns[at].interrupter.clone())
    }

    pub(crate) fn clear_interrupt(&mut self) {
        for txn in &mut self.txns {
            if let Some((_, txn)) = txn.txn.get_mut() {
                txn.get_mut().clear_interrupt();
            }
        }
    }

    fn end(&mut self, failed: bool, none: bool) -> Result<(), SqlError> {
        let mut ended = Ok(());
        for txn in &mut self.txns {
            match txn.end(failed, none) {
                Ok(changed) => self.changed |= changed,
                Err(error) => ended = Err(error),
            }
        }
        ended
    }
}

impl SessionContext {
    /// Locks those of the tables that have no transactions until the statement ends; of a merged
    /// table its children.
    pub fn lock_rows(&self, mut uses: Vec<(&Table, Use)>) -> Result<(), SqlError> {
        if uses.iter().any(|(table, _)| table.united().is_some()) {
            let all = uses.into_iter();
            uses = all.flat_map(|(t, how)| t.stored().into_iter().map(move |c| (c, how))).collect();
            // A child that others have locked by LOCK TABLES … READ is not changed meanwhile.
            for (child, _) in uses.iter().filter(|(_, how)| *how > Use::Reads) {
                self.mdl.lock_write(&child.mdl, self.mdl_limit())?;
            }
        }
        uses.retain(|(table, _)| !table.def.is_transactional() && !table.def.temporary);
        // The strongest use of a table first: the others are in it.
        uses.sort_by(|(a, x), (b, y)| {
            let names = (&a.def.schema, &a.def.name).cmp(&(&b.def.schema, &b.def.name));
            names.then(y.cmp(x))
        });
        uses.dedup_by_key(|(table, _)| table.def.id);
        let limit = self.mdl_limit();
        for (table, how) in uses {
            let (rows, inserts) = (&table.shared.rows_lock, &table.shared.inserts_lock);
            let weak = |kind| {
                self.row_locks.weak.borrow_mut().push(rows.clone());
                self.mdl.lock_for_statement(rows, kind, limit)
            };
            let strong = |name| {
                let guard = self.mdl.lock_strong(name, MdlKind::WriteLock, limit)?;
                self.row_locks.guards.borrow_mut().push(guard);
                Ok(())
            };
            match how {
                Use::Reads => weak(MdlKind::Read)?,
                Use::Adds => strong(inserts).and_then(|()| weak(MdlKind::Write))?,
                Use::Changes => strong(rows)?,
            }
        }
        Ok(())
    }

    /// Locks what a query reads, see [`SessionContext::lock_rows`].
    pub fn lock_read(&self, plan: &StatementPlan) -> Result<(), SqlError> {
        self.lock_rows(uses_of(plan))
    }

    /// How INSERT uses a table.
    pub fn use_of_insert(&self, table: &Table, overwrites: bool) -> Use {
        let never = || self.var("concurrent_insert").as_deref() == Some("NEVER");
        match overwrites || table.def.is_volatile() || never() {
            true => Use::Changes,
            false => Use::Adds,
        }
    }

    /// A row is written in full, and with it the table has so many rows more: without transactions
    /// it stays whatever follows.
    pub(crate) fn row_done(&self, table: &Table, rows: i64) {
        if !table.def.is_transactional() {
            self.statement_txns.txn(&table.def).row_done(table.clustered.id(), rows);
        }
    }

    /// Error 1114 where a MEMORY table has as many rows as it may.
    pub(crate) fn check_room(&self, table: &Table) -> Result<(), SqlError> {
        if !table.def.is_volatile() {
            return Ok(());
        }
        let rows = self.row_count(table)?.unwrap_or_default();
        match rows < self.max_rows(&table.def) {
            true => Ok(()),
            false => Err(SqlError::new(ErrorCode::RecordFileFull, &[&table.def.name])),
        }
    }

    /// How many rows a table may have. That of a MEMORY table follows from what
    /// `max_heap_table_size` was when its trees were made.
    pub fn max_rows(&self, def: &TableDef) -> u64 {
        if !def.is_volatile() {
            return u64::MAX;
        }
        let size = match self.db.catalog().shared(def.id).heap_size.load(Ordering::Relaxed) {
            0 => self.db.global_number("max_heap_table_size"),
            size => size,
        };
        heap::max_rows(def, size)
    }

    /// The transaction that makes and drops a table's trees.
    pub fn tree_txn(&self, def: &TableDef) -> &RefCell<Txn> {
        match def.is_volatile() {
            true => self.statement_txns.open(
                def,
                self.db.catalog().store(def),
                Isolation::RepeatableRead,
            ),
            false => &self.txn,
        }
    }

    /// As [`SessionContext::end_statement_txns`], for a statement of which nothing stays.
    pub fn abandon_statement_txns(&mut self) -> Result<(), SqlError> {
        let ended = self.statement_txns.end(true, true);
        self.unlock_rows();
        ended
    }

    /// Ends what the statement did to tables without transactions, and gives up its locks on them.
    pub fn end_statement_txns(&mut self, failed: bool) -> Result<(), SqlError> {
        let ended = self.statement_txns.end(failed, false);
        self.unlock_rows();
        ended
    }

    fn unlock_rows(&mut self) {
        self.row_locks.guards.get_mut().clear();
        let weak = std::mem::take(self.row_locks.weak.get_mut());
        weak.iter().for_each(|name| self.mdl.give_back(name));
    }
}

/// How a query uses its tables.
pub fn uses_of(plan: &StatementPlan) -> Vec<(&Table, Use)> {
    let read = plan.tables.iter().map(|table| (&**table, Use::Reads));
    read.chain(plan.updates.iter().map(|table| (&**table, Use::Changes))).collect()
}
