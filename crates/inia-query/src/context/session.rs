//! What a session keeps between statements; a statement borrows the parts separately.

use super::handlers::Handlers;
use super::host::Host;
use super::programs::{Inside, ProgramRunner};
use super::reply::ReplyWait;
use super::statement_txn::{RowLocks, StatementTxns};
use super::table_locks::TableLocks;
use super::xa::{SessionBranch, XaStage};
use crate::account::meter::Meter;
use crate::catalog::mdl::{MdlGuard, MdlName, MdlSession};
use crate::catalog::temporary::TemporaryTables;
use crate::catalog::{CatalogVersion, Table, TableId, View};
use crate::clock::clock_micros;
use crate::database::{ClientInfo, Database, SettingsId};
use crate::error::StorageResult;
use crate::interrupt::Interrupt;
use crate::status::Executed;
use inia_base::collation::Collation;
use inia_base::column::status;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_base::value::Value;
use inia_expr::{Environment, EvalContext, Level, SubqueryRunner, Warnings};
use inia_storage::{Isolation, LockMode, LockRequest, Savepoint, StorageError, Txn, WaitPolicy};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// What SAVEPOINT has made.
pub struct NamedSavepoint {
    /// The name it was given.
    pub name: String,
    /// The transaction had used tables.
    pub used: bool,
    /// What rolls back to it.
    pub point: Savepoint,
    /// How many metadata locks the transaction had.
    pub locks: usize,
}

/// The transaction's state as SQL sees it.
///
/// Wide: one field for each thing that SET TRANSACTION and autocommit decide.
pub struct TxnState {
    /// The storage transaction is open.
    pub open: bool,
    /// BEGIN has opened the transaction: autocommit waits for COMMIT.
    pub explicit: bool,
    pub autocommit: bool,
    pub read_only: bool,
    /// The session's level and access mode, and those of the next transaction only.
    pub isolation: Isolation,
    pub default_read_only: bool,
    pub next_isolation: Option<Isolation>,
    pub next_read_only: Option<bool>,
    /// What the open transaction took of these two.
    pub(super) taken: (Option<Isolation>, Option<bool>),
    /// The open transaction's level.
    pub current: Isolation,
    pub savepoints: Vec<NamedSavepoint>,
    /// `lock_wait_timeout`: how long to wait for metadata locks.
    pub mdl_timeout: Duration,
    pub reply: ReplyWait,
    /// The transaction is a branch of a distributed one.
    pub branch: SessionBranch,
}

/// A session's parts.
///
/// Wide: its parts are borrowed separately while a statement runs.
pub struct SessionContext {
    /// What all sessions share.
    pub db: Arc<Database>,
    /// Who is connected, and what the client wishes.
    pub client: ClientInfo,
    /// The session's transaction.
    pub txn: RefCell<Txn>,
    /// Transactions of single statements beside it.
    pub statement_txns: StatementTxns,
    pub(crate) row_locks: RowLocks,
    /// Metadata locks.
    pub mdl: MdlSession,
    /// What expressions are evaluated in.
    pub env: Environment,
    /// What functions need of the session.
    pub host: Host,
    /// Warnings and errors of the statement before.
    pub diagnostics: Warnings,
    /// The transaction as SQL sees it.
    pub state: TxnState,
    /// The client counts rows that an UPDATE found, not those that it changed.
    pub client_found_rows: bool,
    /// 1 where the running statement is killed, 3 where the connection is.
    pub killed: Arc<AtomicU8>,
    /// Seconds that the session may be idle.
    pub wait_timeout: u64,
    /// MAX_EXECUTION_TIME of the running statement's hints, in milliseconds.
    pub hinted_time: Option<u64>,
    /// The SET_VAR hints of the running statement that took effect, as EXPLAIN shows them.
    pub hinted_values: Vec<String>,
    /// CREATE TEMPORARY TABLE.
    pub temporary: TemporaryTables,
    /// Those that programs inside the running statement have left, where they changed them.
    pub(super) changed_temporary: RefCell<Option<TemporaryTables>>,
    /// Counts changes of settings that bound statements depend on.
    pub settings: u64,
    /// The number that [`SessionContext::settings_id`] gave last, and the count of that moment.
    pub(super) known_settings: Cell<(u64, Option<SettingsId>)>,
    /// The collation that SET NAMES … COLLATE gave results, where one was given.
    pub results: Option<Collation>,
    /// LOCK TABLES.
    pub(crate) table_locks: TableLocks,
    /// FLUSH TABLES WITH READ LOCK.
    pub(crate) read_lock: Option<[MdlGuard; 2]>,
    /// HANDLER … OPEN.
    pub handlers: Handlers,
    /// What the account's sessions may still do; `None` where nothing limits them.
    pub meter: Option<Arc<Meter>>,
    /// What the running statement changed in the session.
    pub changes: Vec<inia_base::column::SessionChange>,
    /// What runs stored programs.
    pub programs: Option<Arc<dyn ProgramRunner>>,
    /// An error that is listed behind one with this code.
    pub(super) listed_behind: Option<(ErrorCode, SqlError)>,
    /// Whether definitions of stored programs have been locked since the last end of a statement.
    pub(super) locked_programs: Cell<bool>,
    /// Whether the context works for a program inside a statement.
    pub inside: Inside,
    /// Tables whose rows the statements around this one change.
    pub used: Vec<TableId>,
    /// The table that a CREATE TABLE … SELECT around this is making.
    pub creating: Option<String>,
}

impl Default for TxnState {
    /// The built-in defaults: the login applies the global variables afterwards.
    fn default() -> TxnState {
        TxnState {
            open: false,
            explicit: false,
            autocommit: true,
            read_only: false,
            isolation: Isolation::RepeatableRead,
            default_read_only: false,
            next_isolation: None,
            next_read_only: None,
            taken: (None, None),
            current: Isolation::RepeatableRead,
            savepoints: Vec::new(),
            mdl_timeout: Duration::from_secs(31_536_000),
            reply: ReplyWait::default(),
            branch: SessionBranch::default(),
        }
    }
}

impl TxnState {
    /// Whether locks of rows that did not match are given back.
    pub(crate) fn releases_unmatched(&self) -> bool {
        matches!(self.current, Isolation::ReadCommitted | Isolation::ReadUncommitted)
    }

    /// Forgets what SET TRANSACTION has set for the next transaction.
    fn forget_next(&mut self) {
        (self.next_isolation, self.next_read_only) = (None, None);
    }

    /// A statement that used no table was not the transaction that SET TRANSACTION is about.
    fn give_back_once(&mut self) {
        let (isolation, read_only) = std::mem::take(&mut self.taken);
        self.next_isolation = self.next_isolation.or(isolation);
        self.next_read_only = self.next_read_only.or(read_only);
    }
}

impl SessionContext {
    /// What a client's session begins with.
    pub fn new(db: Arc<Database>, client: ClientInfo) -> SessionContext {
        let mut txn = db.engine.attach();
        txn.set_label(u64::from(client.connection_id));
        let txn = RefCell::new(txn);
        let statement_txns = StatementTxns::new(client.connection_id);
        // KILL sets one flag, which metadata locks, functions and the statement's loops all read.
        let killed: Arc<AtomicU8> = Arc::default();
        let mdl = db.catalog().mdl().session(killed.clone());
        mdl.set_label(u64::from(client.connection_id));
        let env = Environment {
            user: format!("{}@{}", client.user, client.host),
            current_user: format!("{}@{}", client.account_user, client.account_host),
            connection_id: u64::from(client.connection_id),
            version: String::from(crate::sysvar::VERSION),
            ..Environment::default()
        };
        let host = Host::new(db.clone(), &client, killed.clone());
        host.connection_id.set(u64::from(client.connection_id));
        // `pseudo_thread_id` starts as the connection's id, but SET may change it.
        let thread = client.connection_id.to_string();
        host.vars.borrow_mut().values.insert("pseudo_thread_id", thread);
        let diagnostics = Warnings { limit: env.max_error_count, ..Warnings::default() };
        let state = TxnState::default();
        let client_found_rows = client.found_rows;
        let meter = db.meter(&client);
        SessionContext {
            db,
            client,
            txn,
            statement_txns,
            row_locks: RowLocks::default(),
            mdl,
            env,
            host,
            diagnostics,
            state,
            client_found_rows,
            settings: 0,
            known_settings: Cell::default(),
            results: None,
            table_locks: TableLocks::default(),
            read_lock: None,
            handlers: Handlers::default(),
            meter,
            changes: Vec::new(),
            killed,
            wait_timeout: 28_800,
            hinted_time: None,
            hinted_values: Vec::new(),
            temporary: TemporaryTables::default(),
            changed_temporary: RefCell::default(),
            programs: None,
            listed_behind: None,
            locked_programs: Cell::default(),
            inside: Inside::Nothing,
            used: Vec::new(),
            creating: None,
        }
    }

    /// A context of the same session that has no transaction yet, see [`SessionContext::lend`].
    pub(super) fn beside(outer: &SessionContext) -> SessionContext {
        let limit = outer.env.max_error_count;
        SessionContext {
            db: outer.db.clone(),
            client: outer.client.clone(),
            txn: RefCell::new(outer.db.engine.attach()),
            statement_txns: StatementTxns::new(outer.client.connection_id),
            row_locks: RowLocks::default(),
            mdl: outer.mdl.share(),
            env: outer.env.clone(),
            host: outer.host.inner(),
            diagnostics: Warnings { limit, ..Warnings::default() },
            state: TxnState::default(),
            client_found_rows: outer.client_found_rows,
            settings: outer.settings,
            known_settings: Cell::default(),
            results: outer.results,
            table_locks: TableLocks::default(),
            read_lock: None,
            handlers: Handlers::default(),
            meter: None,
            changes: Vec::new(),
            killed: outer.killed.clone(),
            wait_timeout: outer.wait_timeout,
            hinted_time: None,
            hinted_values: Vec::new(),
            temporary: TemporaryTables::default(),
            changed_temporary: RefCell::default(),
            programs: outer.programs.clone(),
            listed_behind: None,
            locked_programs: Cell::default(),
            inside: outer.inside,
            used: outer.used.clone(),
            creating: outer.creating.clone(),
        }
    }

    /// The protocol's status bits, without MORE_RESULTS.
    #[inline]
    pub fn status(&self) -> u16 {
        let mut bits = 0;
        if self.state.explicit || (self.state.open && !self.state.autocommit) {
            bits |= status::IN_TRANS;
            if self.state.read_only {
                bits |= status::IN_TRANS_READONLY;
            }
        }
        if self.state.autocommit {
            bits |= status::AUTOCOMMIT;
        }
        if self.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES) {
            bits |= status::NO_BACKSLASH_ESCAPES;
        }
        bits
    }

    /// Starts a statement: its time stands still from here on.
    #[inline]
    pub fn begin_statement(&mut self) {
        if !self.state.reply.is_over() {
            // The session's snapshots are to show its own commits. A log that has stopped fails
            // the statement where it matters.
            let _ = self.settle_reply();
        }
        if self.host.deadline.take().is_some() {
            self.txn.get_mut().set_deadline(None);
        }
        self.hinted_time = None;
        self.env.now_micros = self.host.fixed_now().unwrap_or_else(clock_micros);
        self.host.previous_insert_id.set(self.env.last_insert_id);
        let errors = self.diagnostics.list.iter().filter(|w| w.level == Level::Error).count();
        self.host.condition_counts.set((self.diagnostics.count, errors as u64));
    }

    /// Starts a command of the client: KILL QUERY of the commands before has had its time. The
    /// process list shows the command only after this, so that a KILL of what it shows is not lost.
    #[inline]
    pub fn begin_command(&mut self) {
        if self.killed.load(Ordering::Relaxed) & 1 != 0 {
            self.forget_kill();
        }
    }

    #[cold]
    fn forget_kill(&mut self) {
        let _latch = self.host.kill_latch.lock();
        self.killed.fetch_and(!1, Ordering::Relaxed);
        self.txn.get_mut().clear_interrupt();
        self.statement_txns.clear_interrupt();
    }

    /// Starts a statement of a stored program. KILL still ends the statement that called it, and
    /// inside a statement the time stands still.
    pub fn begin_embedded(&mut self) {
        if self.inside == Inside::Nothing {
            if !self.state.reply.is_over() {
                // A log that has stopped fails the statement where it matters.
                let _ = self.settle_reply();
            }
            self.env.now_micros = self.host.fixed_now().unwrap_or_else(clock_micros);
        }
        self.host.previous_insert_id.set(self.env.last_insert_id);
        let errors = self.diagnostics.list.iter().filter(|w| w.level == Level::Error).count();
        self.host.condition_counts.set((self.diagnostics.count, errors as u64));
    }

    /// Keeps LAST_INSERT_ID() as a failed statement leaves it: a number that the statement gave a
    /// row, or said, stays.
    pub fn keep_insert_id(&mut self) {
        if let Some(id) = self.host.last_insert_id.take() {
            self.env.last_insert_id = id;
        }
    }

    /// Opens the storage transaction where none is open, and the statement in it.
    #[inline]
    pub fn enter(&mut self) {
        if self.inside != Inside::Nothing {
            return;
        }
        let txn = self.txn.get_mut();
        if !self.state.open {
            self.state.open = true;
            self.state.taken = (self.state.next_isolation, self.state.next_read_only);
            self.state.current = self.state.next_isolation.take().unwrap_or(self.state.isolation);
            self.state.read_only =
                self.state.next_read_only.take().unwrap_or(self.state.default_read_only);
            txn.begin(self.state.current);
        }
        txn.begin_statement();
    }

    /// Error 1792 in a READ ONLY transaction.
    #[inline]
    pub fn check_writable(&self) -> Result<(), SqlError> {
        let read_only = match self.state.open {
            true => self.state.read_only,
            false => self.state.next_read_only.unwrap_or(self.state.default_read_only),
        };
        if read_only {
            return Err(SqlError::new(ErrorCode::CantExecuteInReadOnlyTransaction, &[]));
        }
        Ok(())
    }

    /// Begins a change of what is not this session's alone, which ends with the statement: waits
    /// for others' FLUSH TABLES WITH READ LOCK; error 1223 under this session's own.
    pub fn begin_change(&self) -> Result<(), SqlError> {
        self.mdl.begin_change(self.mdl_limit())
    }

    /// Takes the locks on definitions that a statement needs. One that has none from before gives
    /// up those it got where it would close a cycle of waiters, and tries again: a session that
    /// waited for them goes first.
    pub fn back_off_and_retry<T>(
        &self,
        take: impl Fn(&SessionContext) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let fresh = self.mdl.holds_nothing();
        loop {
            match take(self) {
                Err(error) if fresh && error.code == ErrorCode::Deadlock => {
                    self.mdl.release_all();
                    self.mdl.end_change();
                }
                done => return done,
            }
        }
    }

    /// Where statements put what they cannot keep in memory.
    #[inline]
    pub fn workspace(&self) -> crate::spill::Workspace<'_> {
        let disk = self.db.scratch.as_ref();
        let size = self.env.tmp_table_size;
        crate::spill::Workspace::new(disk, size).until(self.interrupt()).from(&self.host.memory)
    }

    /// Begins a query's time for `max_execution_time`: it ends its waits and its loops.
    #[inline]
    pub fn begin_query(&mut self) {
        let limit = self.hinted_time.filter(|limit| *limit > 0);
        let limit = Duration::from_millis(limit.unwrap_or(self.env.max_execution_time));
        if limit.is_zero() {
            return;
        }
        self.host.counters.count_executed(Executed::TimeSet, 1);
        let deadline = Instant::now().checked_add(limit);
        self.host.deadline.set(deadline);
        self.txn.get_mut().set_deadline(deadline);
    }

    /// How long to wait for locks on definitions.
    #[inline]
    pub fn mdl_limit(&self) -> Duration {
        let limit = self.state.mdl_timeout;
        match self.host.deadline.get() {
            Some(deadline) => limit.min(deadline.saturating_duration_since(Instant::now())),
            None => limit,
        }
    }

    /// What a query's wait for a lock ended by, if it was the query's time: error 3024.
    pub fn timed<T>(&self, result: Result<T, SqlError>) -> Result<T, SqlError> {
        let up = |deadline: Instant| Instant::now() >= deadline;
        result.map_err(|error| match error.code {
            ErrorCode::LockWaitTimeout if self.host.deadline.get().is_some_and(up) => {
                SqlError::new(ErrorCode::QueryTimeout, &[])
            }
            _ => error,
        })
    }

    /// What ends the running statement before it is done.
    pub(crate) fn interrupt(&self) -> Interrupt<'_> {
        self.host.interrupt()
    }

    /// Whether statements end their transaction themselves.
    #[inline]
    pub fn autocommits(&self) -> bool {
        self.state.autocommit && !self.state.explicit
    }

    /// Commits the open transaction, if any, and ends it. Where none is, this is the one that SET
    /// TRANSACTION was about.
    pub fn commit(&mut self) -> Result<(), SqlError> {
        if matches!(self.state.branch.stage(), XaStage::Active | XaStage::Idle) {
            debug_assert!(false, "a branch ends by statements of XA only");
            return self.refuse_in_branch();
        }
        if !self.state.open {
            self.state.forget_next();
        }
        self.end_statement_txns(false)?;
        let result = match self.state.open {
            true => self.wait_to_commit().and_then(|()| self.commit_txn()),
            false => Ok(()),
        };
        if result.is_err() && self.txn.get_mut().is_open() {
            // The error of the commit is the one to report.
            let _ = self.txn.get_mut().rollback();
        }
        self.mdl.end_commit();
        self.ended();
        result
    }

    /// Waits while another session reads everything alone, if there is something to commit; error
    /// 1290 where the server has become read-only.
    pub(super) fn wait_to_commit(&mut self) -> Result<(), SqlError> {
        let changed = self.txn.get_mut().has_written() && self.mdl.holds_to_write();
        self.refuse_read_only(|| changed)?;
        if !changed || self.mdl.reads_everything() {
            return Ok(());
        }
        self.mdl.begin_commit(self.mdl_limit())
    }

    /// Rolls the open transaction back, if any, and ends it, as [`SessionContext::commit`].
    pub fn rollback(&mut self) -> Result<(), SqlError> {
        if !self.state.open {
            self.state.forget_next();
        }
        self.end_statement_txns(true)?;
        let result = match self.state.open {
            true => self.txn.get_mut().rollback().sql(),
            false => Ok(()),
        };
        self.ended();
        if self.state.branch.stage() != XaStage::None {
            self.fail_branch(ErrorCode::XaRbrollback);
        }
        result
    }

    pub(super) fn ended(&mut self) {
        self.state.open = false;
        self.state.explicit = false;
        self.state.read_only = false;
        self.state.savepoints.clear();
        self.statement_txns.changed = false;
        self.mdl.release_all();
        (self.temporary.created, self.temporary.dropped) = (false, false);
        // What cannot be dropped now is dropped at the next start.
        let _ = self.temporary.bury(&self.db.catalog, false);
    }

    /// Ends a statement that worked in the transaction: commits in autocommit mode; after an
    /// error undoes the statement, or the transaction where the error says so. What the statement
    /// has read of other transactions is durable then, so its reply may show it.
    pub fn leave(&mut self, start: Savepoint, error: Option<&SqlError>) -> Result<(), SqlError> {
        if let Some(changed) = self.changed_temporary.get_mut().take() {
            self.temporary.adopt(changed);
        }
        if self.inside != Inside::Nothing {
            return self.leave_inner(start, error);
        }
        let autocommits = self.autocommits();
        self.end_statement_txns(error.is_some())?;
        let unused = autocommits && !self.txn.get_mut().was_used();
        let result = self.end_statement(start, error, autocommits);
        if unused {
            self.state.give_back_once();
        }
        result
    }

    /// Keeps a wait for a record that has ended the statement, for the history of locks.
    #[cold]
    fn note_failed_wait(&mut self, error: &SqlError) {
        let is_deadlock = error.code == ErrorCode::Deadlock;
        if (is_deadlock || error.code == ErrorCode::LockWaitTimeout)
            && let Some(wait) = self.txn.get_mut().take_failed_wait()
        {
            let server = (&*self.db.engine, self.db.processes());
            let waiter = (*wait, self.env.connection_id);
            self.db.lock_history.note(server, waiter, is_deadlock);
        }
    }

    /// Ends a statement of a program inside another statement. A deadlock ends the transaction,
    /// which is left to the statement around it. A failed wait is noted here, where the program may
    /// handle its error.
    fn leave_inner(&mut self, start: Savepoint, error: Option<&SqlError>) -> Result<(), SqlError> {
        self.end_statement_txns(error.is_some())?;
        if let Some(error) = error {
            self.note_failed_wait(error);
        }
        match error {
            Some(error) if error.code != ErrorCode::Deadlock => {
                self.txn.get_mut().rollback_statement(start).sql()
            }
            _ => Ok(()),
        }
    }

    fn end_statement(
        &mut self,
        start: Savepoint,
        error: Option<&SqlError>,
        autocommits: bool,
    ) -> Result<(), SqlError> {
        match error {
            None if autocommits => return self.commit(),
            None => {}
            Some(error) if error.code == ErrorCode::Deadlock => {
                self.note_failed_wait(error);
                self.fail_branch(error.code);
                self.rollback()?;
            }
            Some(error) => {
                self.note_failed_wait(error);
                if autocommits {
                    self.rollback()?;
                    return self.settle_statement();
                }
                let undone = self.txn.get_mut().rollback_statement(start);
                self.whole_or_nothing(undone)?;
            }
        }
        self.settle_statement()
    }

    /// Rolls the transaction back where a part of it could not be undone: a client must not commit
    /// half a statement. The background goes on with what cannot be undone at present.
    pub fn whole_or_nothing(&mut self, undone: Result<(), StorageError>) -> Result<(), SqlError> {
        if undone.is_err() {
            // The first error says why.
            let _ = self.rollback();
        }
        undone.sql()
    }

    /// The lock that plain reads take: SERIALIZABLE locks, except for autocommitted SELECTs.
    #[inline]
    pub fn plain_lock(&self) -> Option<LockRequest> {
        let locks = self.state.current == Isolation::Serializable && !self.autocommits();
        locks.then_some(LockRequest { mode: LockMode::Shared, wait: WaitPolicy::Wait })
    }

    /// Whether the next statement may run by a plan that was kept, and its plan be kept. The locks
    /// that reads take are part of a plan, so kept plans are those of the session's own level: a
    /// transaction for which SET TRANSACTION chose another level plans for itself. SERIALIZABLE
    /// keeps no plans, since autocommitted reads lock nothing there and all others do.
    #[inline]
    pub fn keeps_plans(&self) -> bool {
        let state = &self.state;
        let level = match state.open {
            true => state.current,
            false => state.next_isolation.unwrap_or(state.isolation),
        };
        level == state.isolation && level != Isolation::Serializable
    }

    /// The current database; error 1046.
    pub fn database(&self) -> Result<&str, SqlError> {
        let missing = || SqlError::new(ErrorCode::NoDatabaseSelected, &[]);
        self.env.database.as_deref().ok_or_else(missing)
    }

    /// The newest version of a table; a temporary one comes first.
    pub fn table(&self, schema: &str, name: &str) -> Option<Arc<Table>> {
        self.own_table(schema, name).or_else(|| self.db.catalog().table(schema, name))
    }

    /// The session's own form of a table: a temporary one, or one that merges such.
    pub(crate) fn own_table(&self, schema: &str, name: &str) -> Option<Arc<Table>> {
        if self.temporary.is_empty() {
            return None;
        }
        let temporary = self.temporary.get(schema, name);
        if temporary.is_some_and(|table| table.def.union.is_none()) {
            return temporary.cloned();
        }
        let version = self.catalog_view();
        let found = version.schemas.get(schema)?.tables.get(name)?;
        (temporary.is_some() || found.def.union.is_some()).then(|| found.clone())
    }

    /// The catalog with the session's temporary tables.
    pub fn catalog_view(&self) -> Arc<CatalogVersion> {
        self.temporary.over(self.db.catalog().current())
    }

    /// A table for use in the present transaction: found, and its definition held still by a
    /// metadata lock. A temporary table comes first.
    pub fn open_table(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, SqlError> {
        let schema = match schema {
            Some(schema) => schema,
            None => self.database()?,
        };
        let Some(table) = self.own_table(schema, name) else {
            return self.open_stored(schema, name);
        };
        self.check_branch_table(table.def.temporary)?;
        if table.def.union.is_some() {
            table.check_children()?;
            self.hold(&table)?;
        }
        Ok(table)
    }

    /// As [`SessionContext::open_table`], for one that only looks at the definition.
    pub fn open_definition(&self, schema: &str, name: &str) -> Result<Arc<Table>, SqlError> {
        let limit = self.mdl_limit();
        self.check_branch_table(false)?;
        match self.own_table(schema, name) {
            Some(table) => Ok(table),
            None => self.open_by(schema, name, |name| self.mdl.lock_definition(name, limit)),
        }
    }

    /// A table that all sessions see, for use in the present transaction.
    pub(crate) fn open_stored(&self, schema: &str, name: &str) -> Result<Arc<Table>, SqlError> {
        let table =
            self.open_by(schema, name, |name| self.mdl.lock_shared(name, self.mdl_limit()))?;
        table.check_children()?;
        Ok(table)
    }

    fn open_by(
        &self,
        schema: &str,
        name: &str,
        lock: impl Fn(&Arc<MdlName>) -> Result<(), SqlError>,
    ) -> Result<Arc<Table>, SqlError> {
        self.check_branch_table(false)?;
        loop {
            let Some(table) = self.db.catalog().table(schema, name) else {
                if self.db.catalog().schema(schema).is_none() {
                    return Err(SqlError::new(ErrorCode::UnknownDatabase, &[&schema]));
                }
                if self.db.catalog().view(schema, name).is_some() {
                    let args: [&dyn std::fmt::Display; 3] = [&schema, &name, &"BASE TABLE"];
                    return Err(SqlError::new(ErrorCode::WrongObject, &args));
                }
                return Err(SqlError::new(ErrorCode::NoSuchTable, &[&schema, &name]));
            };
            lock(&table.mdl)?;
            table.children().iter().try_for_each(|child| lock(&child.mdl))?;
            if !table.is_stale() {
                return Ok(table);
            }
        }
    }

    /// Holds a found table's definition still; false where DDL has replaced it meanwhile.
    #[inline]
    pub fn hold(&self, table: &Table) -> Result<bool, SqlError> {
        self.check_branch_table(table.def.temporary)?;
        self.mdl.lock_shared(&table.mdl, self.mdl_limit())?;
        match table.partitions {
            Some(_) => self.hold_children(table),
            None => Ok(!table.is_replaced()),
        }
    }

    /// As [`SessionContext::hold`], for the children of a merged table, too.
    #[cold]
    fn hold_children(&self, table: &Table) -> Result<bool, SqlError> {
        for child in table.children() {
            self.mdl.lock_shared(&child.mdl, self.mdl_limit())?;
        }
        Ok(!table.is_stale())
    }

    /// Whether a name stands for a view.
    pub fn is_view(&self, schema: &str, name: &str) -> bool {
        self.temporary.get(schema, name).is_none() && self.db.catalog().view(schema, name).is_some()
    }

    /// The same for a view.
    #[inline]
    pub fn hold_view(&self, view: &View) -> Result<bool, SqlError> {
        self.mdl.lock_shared(&view.mdl, self.mdl_limit())?;
        Ok(!view.is_stale())
    }

    /// A system variable's text.
    pub fn var(&self, name: &str) -> Option<String> {
        let def = crate::sysvar::find(name).ok()?;
        let vars = self.host.vars.borrow();
        Some(crate::sysvar::text(&self.db.globals, &vars, inia_expr::VarScope::Any, def))
    }

    /// Whether a variable is ON.
    pub fn flag(&self, name: &str) -> bool {
        self.var(name).as_deref() == Some("ON")
    }

    /// What a statement is evaluated and executed with.
    #[inline]
    pub fn context<'s>(
        &'s self,
        params: &'s [Value],
        subqueries: &'s dyn SubqueryRunner,
    ) -> EvalContext<'s> {
        EvalContext::new(&self.env, self, subqueries, params)
    }

    /// Error 1317 after KILL QUERY or KILL.
    pub fn check_killed(&self) -> Result<(), SqlError> {
        if self.killed.load(Ordering::Relaxed) != 0 {
            return Err(SqlError::new(ErrorCode::QueryInterrupted, &[]));
        }
        Ok(())
    }
}

impl SessionContext {
    /// `sql_mode` as the parser knows it.
    #[inline]
    pub fn parser_mode(&self) -> SqlMode {
        self.env.sql_mode.parsing()
    }
}

impl Drop for SessionContext {
    fn drop(&mut self) {
        if !self.temporary.is_empty() {
            // Where the disk fails, the next start clears the tables away.
            let _ = self.rollback();
            let _ = self.temporary.bury(&self.db.catalog, true);
        }
    }
}
