//! What running a plan needs of its session, and no more.

use super::SessionContext;
use super::host::Host;
use super::statement_txn::StatementTxns;
use super::table_locks::TableLocks;
use crate::catalog::{Table, row_count};
use crate::columns::ColumnCache;
use crate::error::StorageResult;
use crate::information::Information;
use crate::interrupt::Interrupt;
use crate::spill::Workspace;
use crate::workers::Helpers;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::{SessionHost, VarScope};
use inia_storage::{Isolation, Txn};
use std::cell::RefCell;
use std::sync::Arc;

/// The transactions in which a statement reads, what ends it early, and where it puts what it
/// cannot keep in memory.
#[derive(Clone, Copy)]
pub struct ExecContext<'s> {
    transactions: Transactions<'s>,
    host: &'s Host,
    /// What ends the statement before it is done.
    pub(crate) interrupt: Interrupt<'s>,
    /// Where operators put what they cannot keep in memory.
    pub(crate) workspace: Workspace<'s>,
}

/// The session's transaction, and those of the statement alone.
#[derive(Clone, Copy)]
pub(crate) struct Transactions<'s> {
    txn: &'s RefCell<Txn>,
    statement_txns: &'s StatementTxns,
    table_locks: &'s TableLocks,
    /// The level of the open transaction.
    isolation: Isolation,
}

impl<'s> Transactions<'s> {
    /// The transaction in which a table is read and changed: the session's, or the statement's
    /// alone where the table's engine has no transactions.
    pub(crate) fn txn_of(self, table: &Table) -> &'s RefCell<Txn> {
        match table.def.is_transactional() {
            true => self.txn,
            false => {
                self.table_locks.local(table).unwrap_or_else(|| self.open_statement_txn(table))
            }
        }
    }

    fn open_statement_txn(self, table: &Table) -> &'s RefCell<Txn> {
        self.statement_txns.open(&table.def, &table.store, self.isolation)
    }

    /// Waits until what was read of other transactions is durable.
    pub(crate) fn settle(self) -> Result<(), SqlError> {
        self.txn.borrow_mut().settle().sql()?;
        self.statement_txns.settle()
    }

    /// How many rows the statement sees in a table without transactions, where that is known
    /// without counting them.
    pub(crate) fn row_count(self, table: &Table) -> Result<Option<u64>, SqlError> {
        if table.united().is_some() {
            let mut all = Some(0);
            for child in table.stored() {
                let rows = self.row_count(child)?;
                all = all.zip(rows).map(|(all, rows)| all + rows);
            }
            return Ok(all);
        }
        let tree = table.clustered.id();
        if let Some(txn) = self.table_locks.local(table) {
            return row_count::read(&table.store, &mut txn.borrow_mut(), tree).sql();
        }
        self.txn_of(table);
        self.statement_txns.txn(&table.def).row_count(tree)
    }
}

/// The column cache, as a statement uses it.
#[derive(Clone, Copy)]
pub(crate) struct ColumnUse<'s> {
    pub(crate) cache: &'s Arc<ColumnCache>,
    /// Columns are kept when they are read first; else of tables that reports read again.
    pub(crate) is_eager: bool,
}

impl<'s> ExecContext<'s> {
    /// The column cache; `None` where `inia_column_cache` is OFF.
    pub(crate) fn columns(&self) -> Option<ColumnUse<'s>> {
        let is_eager = match self.host.sysvar(VarScope::Session, "inia_column_cache") {
            Ok((Value::Text(word), _)) if word == "EAGER" => true,
            Ok((Value::Text(word), _)) if word == "OFF" => return None,
            _ => false,
        };
        Some(ColumnUse { cache: &self.host.db.columns, is_eager })
    }

    /// As [`Transactions::txn_of`].
    #[inline]
    pub(crate) fn txn_of(&self, table: &Table) -> &'s RefCell<Txn> {
        self.transactions.txn_of(table)
    }

    /// As [`Transactions::settle`].
    #[inline]
    pub(crate) fn settle(&self) -> Result<(), SqlError> {
        self.transactions.settle()
    }

    /// As [`Transactions::row_count`].
    pub(crate) fn row_count(&self, table: &Table) -> Result<Option<u64>, SqlError> {
        self.transactions.row_count(table)
    }

    /// Threads that may help the statement, which may have so many with its own.
    pub(crate) fn helpers(&self, threads: usize) -> Helpers<'s> {
        self.host.helpers(threads)
    }

    /// What the rows of computed tables are made from.
    pub(crate) fn information(&self) -> Information<'s> {
        self.host.information()
    }
}

impl SessionContext {
    /// What running a plan needs.
    #[inline]
    pub fn exec_context(&self) -> ExecContext<'_> {
        ExecContext {
            transactions: self.transactions(),
            host: &self.host,
            interrupt: self.interrupt(),
            workspace: self.workspace(),
        }
    }

    fn transactions(&self) -> Transactions<'_> {
        Transactions {
            txn: &self.txn,
            statement_txns: &self.statement_txns,
            table_locks: &self.table_locks,
            isolation: self.state.current,
        }
    }

    /// As [`Transactions::txn_of`].
    pub(crate) fn txn_of(&self, table: &Table) -> &RefCell<Txn> {
        self.transactions().txn_of(table)
    }

    /// As [`Transactions::row_count`].
    pub(crate) fn row_count(&self, table: &Table) -> Result<Option<u64>, SqlError> {
        self.transactions().row_count(table)
    }
}
