//! An open database: the storage engine, the catalog and what all sessions share.

mod events;
mod statements;

use crate::account::meter::Meter;
use crate::account::password::has_expired;
use crate::account::{AccountName, Accounts, LoginAccount, LoginBlock};
use crate::catalog::Catalog;
use crate::clock::clock_seconds;
use crate::columns::ColumnCache;
use crate::error::OpenError;
use crate::events::EventWatch;
use crate::lock_history::LockHistory;
use crate::observe::{Level, Observer};
use crate::status::{Counters, SessionCounters};
use crate::sysvar::{self, GlobalVars};
use crate::user_locks::UserLocks;
use crate::workers::{Helpers, Machine, WorkerPool, processors};
use crate::xa::XaBranches;
use inia_base::error::SqlError;
use inia_base::io::Disk;
use inia_base::memory::MemoryBudget;
use inia_base::process::Processes;
use inia_storage::{Engine, EngineOptions, EngineSizes};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

pub use statements::{SettingsId, SharedStatements, StatementKey};

/// How a database is opened.
#[derive(Clone, Debug)]
pub struct DatabaseOptions {
    /// Bytes of page frames; memory is taken as pages are used.
    pub buffer_pool_size: u64,
    /// Whether background threads run; tests that drive the engine by hand switch them off.
    pub background: bool,
}

impl Default for DatabaseOptions {
    fn default() -> DatabaseOptions {
        DatabaseOptions { buffer_pool_size: 128 << 20, background: true }
    }
}

/// Who a session belongs to, and what its client asked for at login.
///
/// Wide: one field for each thing that a login says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientInfo {
    /// The number that CONNECTION_ID() and KILL use.
    pub connection_id: u32,
    /// Account name as given at login.
    pub user: String,
    /// Client host name or address.
    pub host: String,
    /// Name of the account that matched, for CURRENT_USER().
    pub account_user: String,
    /// Host pattern of the account that matched.
    pub account_host: String,
    /// Collation number of the connection; 0 for the server's default.
    pub collation: u16,
    /// Affected rows count matched rows (CLIENT_FOUND_ROWS).
    pub found_rows: bool,
    /// Several statements in one text are allowed (CLIENT_MULTI_STATEMENTS).
    pub multi_statements: bool,
    /// `sql_mode` starts with IGNORE_SPACE.
    pub ignore_space: bool,
    /// `interactive_timeout` takes the place of `wait_timeout`.
    pub interactive: bool,
    /// The password has expired: the session may only change it.
    pub expired: bool,
    /// Protocol and cipher of TLS.
    pub tls: Option<(String, String)>,
    /// Algorithm and level of the protocol's compression.
    pub compression: Option<(&'static str, i32)>,
    /// Connection attributes.
    pub attributes: Vec<(String, String)>,
}

impl Default for ClientInfo {
    /// An embedded session of root.
    fn default() -> ClientInfo {
        ClientInfo {
            connection_id: 1,
            user: String::from("root"),
            host: String::from("localhost"),
            account_user: String::from("root"),
            account_host: String::from("localhost"),
            collation: 0,
            found_rows: false,
            multi_statements: false,
            ignore_space: false,
            interactive: false,
            expired: false,
            tls: None,
            compression: None,
            attributes: Vec::new(),
        }
    }
}

/// An open database, shared by all its sessions.
///
/// Wide: one field for each service that all sessions share.
pub struct Database {
    /// Where statements put what they cannot keep in memory.
    pub scratch: Arc<dyn Disk>,
    /// Bytes that building the indexes of one table may hold.
    pub build_memory: usize,
    /// The storage engine.
    pub engine: Arc<Engine>,
    /// Definitions of schemas, tables and views.
    pub catalog: Catalog,
    /// Accounts and roles.
    pub accounts: Accounts,
    processes: OnceLock<Arc<dyn Processes>>,
    /// 1 for `read_only`, 2 for `super_read_only`.
    pub(crate) read_only: AtomicU8,
    started: u64,
    /// Seconds since 1970 of the last FLUSH STATUS, or of the opening.
    status_flushed: AtomicU64,
    pub(crate) counters: Counters,
    /// Global variables.
    pub globals: GlobalVars,
    /// Locks of GET_LOCK().
    pub user_locks: Arc<UserLocks>,
    /// Prepared statements of all sessions.
    pub prepared: Arc<AtomicU64>,
    /// Statements that sessions share.
    pub statements: SharedStatements,
    /// Memory for the work of all sessions.
    pub memory: Arc<MemoryBudget>,
    workers: WorkerPool,
    /// Columns of leaves in memory.
    pub columns: Arc<ColumnCache>,
    /// Branches of distributed transactions.
    pub xa: Arc<XaBranches>,
    /// Where the scheduler of events waits.
    pub events: EventWatch,
    /// Logs of statements and sums over them.
    pub observer: Observer,
    /// Waits for records that failed.
    pub lock_history: LockHistory,
}

impl Database {
    /// Opens the database in `disk`, creating it when the disk is empty and recovering it when it
    /// was not closed.
    pub fn open(disk: Arc<dyn Disk>, options: DatabaseOptions) -> Result<Arc<Database>, OpenError> {
        let sizes = EngineSizes::new(options.buffer_pool_size);
        Database::open_sized(disk, options, sizes)
    }

    /// As [`Database::open`], with other sizes than the usual ones.
    pub fn open_sized(
        disk: Arc<dyn Disk>,
        options: DatabaseOptions,
        sizes: EngineSizes,
    ) -> Result<Arc<Database>, OpenError> {
        let engine_options = EngineOptions {
            buffer_pool_size: options.buffer_pool_size,
            background: options.background,
        };
        let engine = Engine::open_sized(disk.clone(), engine_options, sizes)?;
        let catalog = Catalog::load(&engine)?;
        let accounts = Accounts::load(&engine)?;
        let xa = Arc::new(XaBranches::load(&engine, &catalog));
        let globals = GlobalVars::default();
        for (name, value) in catalog.persisted() {
            if let Ok(def) = sysvar::find(&name) {
                globals.set(def.name, value);
            }
        }
        globals.set("server_uuid", catalog.server_uuid()?);
        let read_only = match globals.is_on("super_read_only") {
            true => 2,
            false => u8::from(globals.is_on("read_only")),
        };
        let started = clock_seconds();
        let observer = Observer::new(&disk);
        // The data directory is not known yet: logs in files begin with `announce`.
        let _ = observer.configure(&globals);
        Ok(Arc::new(Database {
            observer,
            lock_history: LockHistory::default(),
            scratch: disk,
            build_memory: (options.buffer_pool_size / 8).clamp(64 << 10, 256 << 20) as usize,
            engine,
            catalog,
            accounts,
            counters: Counters::default(),
            globals,
            user_locks: Arc::default(),
            prepared: Arc::default(),
            statements: SharedStatements::default(),
            memory: Arc::default(),
            workers: WorkerPool::default(),
            columns: Arc::new(ColumnCache::new((options.buffer_pool_size / 4) as usize)),
            xa,
            events: EventWatch::default(),
            processes: OnceLock::new(),
            read_only: AtomicU8::new(read_only),
            started,
            status_flushed: AtomicU64::new(started),
        }))
    }

    /// FLUSH STATUS: the session counts anew; what it has counted stays in the server's totals.
    pub fn flush_status(&self, own: &SessionCounters) {
        self.counters.flush(own);
        self.status_flushed.store(clock_seconds(), Ordering::Relaxed);
    }

    /// Memory for the work of all sessions; without a limit until one is set.
    pub fn memory(&self) -> &Arc<MemoryBudget> {
        &self.memory
    }

    /// Writes everything back and closes cleanly; later statements fail.
    pub fn close(&self) -> Result<(), OpenError> {
        if let Some(volatile) = self.catalog.volatile_store() {
            volatile.close()?;
        }
        Ok(self.engine.close()?)
    }

    /// The account that `user` from `host` logs in to.
    pub fn login_account(&self, user: &str, host: &str) -> Option<LoginAccount> {
        let now = clock_seconds();
        let lifetime = self.global_number("default_password_lifetime");
        self.accounts.current().login(user, host).map(|def| LoginAccount {
            expired: has_expired(def, lifetime, now),
            ..LoginAccount::from(def.as_ref())
        })
    }

    /// Notes a login with a right or wrong password to an account; the refusal where there were
    /// too many wrong ones.
    pub fn note_login(&self, user: &str, host: &str, proven: bool) -> Option<LoginBlock> {
        let accounts = self.accounts.current();
        let def = accounts.get(&AccountName::new(user, host))?;
        self.accounts.tries.note(def, proven, SystemTime::now())
    }

    /// Counts a login to an account against its limit by the hour; error 1226.
    pub fn note_connection(&self, user: &str, host: &str) -> Result<(), SqlError> {
        let name = AccountName::new(user, host);
        match self.meter_of(&name) {
            Some(meter) => meter.connection(SystemTime::now()),
            None => Ok(()),
        }
    }

    /// What counts the statements of a client's sessions, where they are limited.
    pub(crate) fn meter(&self, client: &ClientInfo) -> Option<Arc<Meter>> {
        self.meter_of(&AccountName::new(&client.account_user, &client.account_host))
    }

    fn meter_of(&self, name: &AccountName) -> Option<Arc<Meter>> {
        let accounts = self.accounts.current();
        let anybody = self.global_number("max_user_connections") > 0;
        self.accounts.meters.of(accounts.get(name)?, anybody, SystemTime::now())
    }

    /// Counts an error that a client got in place of a session.
    pub fn note_refusal(&self, number: u16) {
        self.observer.raised.note_login(number);
    }

    /// Registers the server's connections with the database, once.
    pub fn set_processes(&self, processes: Arc<dyn Processes>) {
        // A second server on the same database changes nothing.
        let _ = self.processes.set(processes);
    }

    /// Sets what variables show of the program around: limits and places that it was started
    /// with. Names that are no variables are left out.
    pub fn announce(&self, settings: &[(&str, String)]) {
        let kept = self.catalog.persisted();
        for (name, value) in settings {
            if let Ok(def) = sysvar::find(name) {
                // What SET PERSIST said stands above what the program would say.
                let fixed = matches!(def.home, sysvar::Home::ReadOnly);
                if !fixed && kept.iter().any(|(own, _)| own == def.name) {
                    continue;
                }
                self.globals.set(def.name, value.clone());
            }
        }
        if let Err(error) = self.observer.configure(&self.globals) {
            inia_storage::report_error(format_args!("a log file cannot be written: {error}"));
        }
    }

    /// Counters begin anew, before the first client's session.
    pub fn begin_counts(&self) {
        self.counters.begin_anew();
        self.observer.raised.levels.clear();
        self.observer.transactions.clear();
        self.observer.statements.kinds.clear();
    }

    /// TRUNCATE of a computed table: whether it is one that can be emptied.
    pub fn empty_computed(&self, schema: &str, table: &str) -> std::io::Result<bool> {
        let table = &*table.to_ascii_lowercase();
        if table.starts_with("table_io_waits_summary_by_") {
            let current = self.catalog.current();
            let tables = current.schemas.values().flat_map(|schema| schema.tables.values());
            tables.for_each(|table| table.shared.io.clear());
        }
        if table.starts_with("file_summary_by_") || table.starts_with("events_waits_summary_") {
            self.scratch.clear_requests();
            self.observer.clear_log_files();
        }
        let live = self.counters.live();
        if table.starts_with("events_errors_summary_")
            && let Some(level) = Level::of(table)
        {
            let own = live.iter().map(|session| (session.account(), &session.errors));
            self.observer.raised.empty(level, own);
        }
        if table.starts_with("events_transactions_") {
            self.empty_transactions(table, &live);
        }
        self.observer.empty(
            (schema, table),
            live.iter().map(|session| (session.account(), &session.history)),
        )
    }

    fn empty_transactions(&self, table: &str, live: &[Arc<SessionCounters>]) {
        match Level::of(table) {
            Some(level) => {
                let own = live.iter();
                let own = own.map(|session| (session.account(), session.transactions.take_sums()));
                self.observer.transactions.empty(level, own);
            }
            None => live.iter().for_each(|session| session.transactions.forget()),
        }
    }

    /// A global setting that is a number or a switch; 0 where the name is none.
    pub fn global_number(&self, name: &str) -> u64 {
        let Ok(def) = sysvar::find(name) else { return 0 };
        let globals = self.globals.all();
        let text = globals.get(def.name).map_or(def.default, String::as_str);
        if text == "ON" { 1 } else { text.parse().unwrap_or(0) }
    }

    /// The server's connections; none for an embedded database.
    pub fn processes(&self) -> Option<&Arc<dyn Processes>> {
        self.processes.get()
    }

    /// Helpers for a statement that may have so many threads with its own.
    pub(crate) fn helpers(&self, threads: usize) -> Helpers<'_> {
        let set = self.global_number("inia_parallel_workers") as usize;
        let machine = Machine { processors: processors().max(set), processes: self.processes() };
        self.workers.take(threads, machine)
    }

    /// Seconds since the opening.
    pub(crate) fn uptime(&self) -> u64 {
        clock_seconds().saturating_sub(self.started)
    }

    /// Seconds since the last FLUSH STATUS, or since the opening.
    pub(crate) fn uptime_since_flush_status(&self) -> u64 {
        clock_seconds().saturating_sub(self.status_flushed.load(Ordering::Relaxed))
    }

    /// Seconds since 1970 of the opening.
    pub(crate) fn started(&self) -> u64 {
        self.started
    }

    /// The catalog of databases and tables.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Puts a connection's session into a resource group; whether there is one.
    pub fn enter_resource_group(&self, connection: u64, group: &str) -> bool {
        let live = self.counters.live();
        let found = live.iter().find(|session| session.connection.id == connection);
        if let Some(session) = found {
            *session.resource_group.lock() = Some(group.to_owned());
        }
        found.is_some()
    }

    /// Whether a session is in a resource group.
    pub fn uses_resource_group(&self, group: &str) -> bool {
        let in_it = |held: Option<&String>| held.is_some_and(|held| held == group);
        self.counters.live().iter().any(|session| in_it(session.resource_group.lock().as_ref()))
    }

    /// Puts all sessions of a resource group back into the default one.
    pub fn leave_resource_group(&self, group: &str) {
        for session in self.counters.live() {
            session.resource_group.lock().take_if(|held| held == group);
        }
    }
}
