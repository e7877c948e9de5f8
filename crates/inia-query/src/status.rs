//! Status counters, as SHOW STATUS lists them.
//!
//! Every session counts for itself, so that counting shares no memory among sessions; totals are
//! made when they are asked for. A session that ends leaves its counts behind.

mod handler_reads;
mod plan_counts;

use crate::observe::{Account, History, SessionErrors, SessionTransactions};
pub use handler_reads::HandlerReads;
use inia_parser::ast::{
    CreateRoutine, Delete, DeleteTarget, GrantWhat, HandlerAction, Insert, InsertSource,
    MaintenanceKind, PurgeLogs, RoutineDetail, RoutineKind, ShowKind, Statement, TableRef, Update,
    Xa,
};
use inia_storage::{COUNTED, ThreadCounts, take_thread_counts};
use parking_lot::Mutex;
pub use plan_counts::{PlanCounts, SortInput};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

macro_rules! commands {
    (
        statements { $($name:literal => $pattern:pat $(if $guard:expr)?,)* }
        shows { $($show:literal => $kind:pat,)* }
    ) => {
        /// The kinds of statements that are counted.
        const COMMANDS: &[&str] = &[$($name,)* $($show),*];

        /// Which kind a statement is, by position.
        fn command(statement: &Statement) -> Option<usize> {
            Some(match statement {
                $($pattern $(if $guard)? => const { position($name) },)*
                Statement::Describe(_) => const { position("show_fields") },
                Statement::Show(show) => return show_command(&show.kind),
                _ => return None,
            })
        }

        /// The kind of a statement, as `Com_…` names it; "error" for those that are not counted.
        pub fn command_name(statement: &Statement) -> &'static str {
            command(statement).map_or("error", |at| COMMANDS[at])
        }

        /// Which kind a SHOW is.
        fn show_command(kind: &ShowKind) -> Option<usize> {
            Some(match kind {
                $($kind => const { position($show) },)*
                _ => return None,
            })
        }
    };
}

fn from_query(insert: &Insert) -> bool {
    matches!(insert.source, InsertSource::Query(_))
}

fn kind_of(create: &CreateRoutine) -> RoutineKind {
    match create.detail {
        RoutineDetail::Procedure { .. } => RoutineKind::Procedure,
        RoutineDetail::Function { .. } => RoutineKind::Function,
        RoutineDetail::Trigger { .. } => RoutineKind::Trigger,
        RoutineDetail::Event { .. } => RoutineKind::Event,
    }
}

fn is_of_roles(what: &GrantWhat) -> bool {
    matches!(what, GrantWhat::Roles(_))
}

fn has_several_targets(delete: &Delete) -> bool {
    matches!(delete.target, DeleteTarget::Multi { .. })
}

fn has_several_tables(update: &Update) -> bool {
    !matches!(update.tables[..], [TableRef::Table(..)])
}

/// Position of a kind's name.
const fn position(name: &str) -> usize {
    let mut at = 0;
    while !same(COMMANDS[at].as_bytes(), name.as_bytes()) {
        at += 1;
    }
    at
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

commands! {
    statements {
        "alter_db" => Statement::AlterDatabase(_),
        "alter_instance" => Statement::ReloadTls,
        "alter_table" => Statement::AlterTable(_),
        "alter_user" => Statement::AlterUser(_),
        "alter_event" => Statement::AlterRoutine(alter) if alter.kind == RoutineKind::Event,
        "alter_function" => Statement::AlterRoutine(alter) if alter.kind == RoutineKind::Function,
        "alter_procedure" => Statement::AlterRoutine(_),
        "alter_user_default_role" => Statement::SetDefaultRole { .. },
        "analyze" => Statement::TableMaintenance(work) if work.kind == MaintenanceKind::Analyze,
        "begin" => Statement::Begin(_),
        "binlog" => Statement::Binlog(_),
        "call_procedure" => Statement::Call(_),
        "change_db" => Statement::Use(_),
        "check" => Statement::TableMaintenance(work) if work.kind == MaintenanceKind::Check,
        "checksum" => Statement::TableMaintenance(work) if work.kind == MaintenanceKind::Checksum,
        "commit" => Statement::Commit(_),
        "create_db" => Statement::CreateDatabase(_),
        "create_event" => Statement::CreateRoutine(create) if kind_of(create) == RoutineKind::Event,
        "create_function" => Statement::CreateRoutine(create)
            if kind_of(create) == RoutineKind::Function,
        "create_trigger" => Statement::CreateRoutine(create)
            if kind_of(create) == RoutineKind::Trigger,
        "create_procedure" => Statement::CreateRoutine(_),
        "create_index" => Statement::CreateIndex(_),
        "create_role" => Statement::CreateRole { .. },
        "create_table" => Statement::CreateTable(_),
        "create_user" => Statement::CreateUser(_),
        "create_view" => Statement::CreateView(_),
        "dealloc_sql" => Statement::Deallocate(_),
        "delete" => Statement::Delete(delete) if !has_several_targets(delete),
        "delete_multi" => Statement::Delete(_),
        "do" => Statement::Do(_),
        "drop_db" => Statement::DropDatabase { .. },
        "drop_event" => Statement::DropRoutine(drop) if drop.kind == RoutineKind::Event,
        "drop_function" => Statement::DropRoutine(drop) if drop.kind == RoutineKind::Function,
        "drop_trigger" => Statement::DropRoutine(drop) if drop.kind == RoutineKind::Trigger,
        "drop_procedure" => Statement::DropRoutine(_),
        "drop_index" => Statement::DropIndex(_),
        "drop_role" => Statement::DropRole { .. },
        "drop_table" => Statement::DropTable(_),
        "drop_user" => Statement::DropUser { .. },
        "drop_view" => Statement::DropView(_),
        "empty_query" => Statement::Empty,
        "execute_sql" => Statement::Execute { .. },
        "flush" => Statement::Flush(_),
        "get_diagnostics" => Statement::GetDiagnostics(_),
        "grant_roles" => Statement::Grant(grant) if is_of_roles(&grant.what),
        "grant" => Statement::Grant(_),
        "ha_open" => Statement::Handler(handler)
            if matches!(handler.action, HandlerAction::Open(_)),
        "ha_close" => Statement::Handler(handler)
            if matches!(handler.action, HandlerAction::Close),
        "ha_read" => Statement::Handler(_),
        "help" => Statement::Help(_),
        "insert" => Statement::Insert(insert) if !insert.replace && !from_query(insert),
        "insert_select" => Statement::Insert(insert) if !insert.replace,
        "install_component" => Statement::InstallComponent(_),
        "install_plugin" => Statement::InstallPlugin { .. },
        "kill" => Statement::Kill { .. },
        "load" => Statement::LoadData(_),
        "lock_instance" => Statement::LockInstance,
        "lock_tables" => Statement::LockTables(_),
        "optimize" => Statement::TableMaintenance(work) if work.kind == MaintenanceKind::Optimize,
        "prepare_sql" => Statement::Prepare { .. },
        "purge" => Statement::PurgeLogs(PurgeLogs::To(_)),
        "purge_before_date" => Statement::PurgeLogs(_),
        "release_savepoint" => Statement::ReleaseSavepoint(_),
        "rename_table" => Statement::RenameTable(_),
        "rename_user" => Statement::RenameUser(_),
        "repair" => Statement::TableMaintenance(_),
        "replace" => Statement::Insert(insert) if !from_query(insert),
        "replace_select" => Statement::Insert(_),
        "reset" => Statement::Reset(_),
        "resignal" => Statement::Resignal(_),
        "restart" => Statement::Restart,
        "revoke_all" => Statement::Revoke(revoke) if revoke.what == GrantWhat::Everything,
        "revoke_roles" => Statement::Revoke(revoke) if is_of_roles(&revoke.what),
        "revoke" => Statement::Revoke(_),
        "rollback" => Statement::Rollback(_),
        "rollback_to_savepoint" => Statement::RollbackTo(_),
        "savepoint" => Statement::Savepoint(_),
        "select" => Statement::Select(_),
        "set_option" => Statement::Set(_),
        "set_password" => Statement::SetPassword(_),
        "set_role" => Statement::SetRole(_),
        "shutdown" => Statement::Shutdown,
        "signal" => Statement::Signal(_),
        "truncate" => Statement::Truncate(_),
        "uninstall_component" => Statement::UninstallComponent(_),
        "uninstall_plugin" => Statement::UninstallPlugin(_),
        "unlock_instance" => Statement::UnlockInstance,
        "unlock_tables" => Statement::UnlockTables,
        "update" => Statement::Update(update) if !has_several_tables(update),
        "update_multi" => Statement::Update(_),
        "xa_commit" => Statement::Xa(Xa::Commit { .. }),
        "xa_end" => Statement::Xa(Xa::End { .. }),
        "xa_prepare" => Statement::Xa(Xa::Prepare(_)),
        "xa_recover" => Statement::Xa(Xa::Recover { .. }),
        "xa_rollback" => Statement::Xa(Xa::Rollback(_)),
        "xa_start" => Statement::Xa(Xa::Start { .. }),
    }
    shows {
        "show_binlogs" => ShowKind::BinaryLogs,
        "show_binlog_events" => ShowKind::BinlogEvents { relay: false, .. },
        "show_relaylog_events" => ShowKind::BinlogEvents { .. },
        "show_charsets" => ShowKind::Charset,
        "show_collations" => ShowKind::Collation,
        "show_create_db" => ShowKind::CreateDatabase { .. },
        "show_create_event" => ShowKind::CreateRoutine(RoutineKind::Event, _),
        "show_create_func" => ShowKind::CreateRoutine(RoutineKind::Function, _),
        "show_create_proc" => ShowKind::CreateRoutine(RoutineKind::Procedure, _),
        "show_create_trigger" => ShowKind::CreateRoutine(RoutineKind::Trigger, _),
        "show_create_table" => ShowKind::CreateTable(_) | ShowKind::CreateView(_),
        "show_create_user" => ShowKind::CreateUser(_),
        "show_databases" => ShowKind::Databases,
        "show_engine_status" => ShowKind::Engine { .. },
        "show_function_code" => ShowKind::RoutineCode(RoutineKind::Function, _),
        "show_function_status" => ShowKind::RoutineStatus(RoutineKind::Function),
        "show_procedure_code" => ShowKind::RoutineCode(_, _),
        "show_procedure_status" => ShowKind::RoutineStatus(_),
        "show_errors" => ShowKind::Errors { .. },
        "show_events" => ShowKind::Events(_),
        "show_grants" => ShowKind::Grants { .. },
        "show_keys" => ShowKind::Index { .. },
        "show_master_status" => ShowKind::BinaryLogStatus,
        "show_open_tables" => ShowKind::OpenTables(_),
        "show_plugins" => ShowKind::Plugins,
        "show_privileges" => ShowKind::Privileges,
        "show_processlist" => ShowKind::Processlist { .. },
        "show_profile" => ShowKind::Profile(_),
        "show_profiles" => ShowKind::Profiles,
        "show_replica_status" => ShowKind::ReplicaStatus { .. },
        "show_replicas" => ShowKind::Replicas { .. },
        "show_status" => ShowKind::Status { .. },
        "show_storage_engines" => ShowKind::Engines,
        "show_table_status" => ShowKind::TableStatus(_),
        "show_tables" => ShowKind::Tables { .. },
        "show_triggers" => ShowKind::Triggers(_),
        "show_variables" => ShowKind::Variables { .. },
        "show_warnings" => ShowKind::Warnings { .. },
        "show_fields" => ShowKind::Columns { .. },
    }
}

/// The kinds of statements, as `Com_…` names them, and those that are not counted.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().copied().chain(["error"])
}

/// What is done with prepared statements by their handles, as `Com_stmt_…` counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandleUse {
    /// COM_STMT_CLOSE, DEALLOCATE.
    Close,
    /// COM_STMT_EXECUTE, EXECUTE.
    Execute,
    /// COM_STMT_FETCH.
    Fetch,
    /// COM_STMT_PREPARE, PREPARE.
    Prepare,
    /// COM_STMT_RESET.
    Reset,
    /// COM_STMT_SEND_LONG_DATA.
    SendLongData,
}

const HANDLE_USES: [&str; 6] = ["close", "execute", "fetch", "prepare", "reset", "send_long_data"];

/// Rows that statements changed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChangedRows {
    pub(crate) inserted: u64,
    pub(crate) updated: u64,
    pub(crate) deleted: u64,
}

/// What statements do beside reading, as `Handler_…`, `Select_…` and `Sort_…` count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Executed {
    /// Rows that were to be inserted.
    Write,
    /// Rows that were changed in their place.
    Update,
    /// Rows that were deleted.
    Delete,
    /// Ends of statements, and of transactions, that stand.
    Commit,
    /// Those that do not.
    Rollback,
    /// Locks of tables by statements, and their releases.
    ExternalLock,
    /// SELECTs that read their first table whole.
    SelectScan,
    /// SELECTs that read it by ranges.
    SelectRange,
    /// Joined tables that are read whole.
    SelectFullJoin,
    /// Joined tables that are read by ranges.
    SelectFullRangeJoin,
    /// Rows that came out of sorts.
    SortRows,
    /// Sorts of what was read whole.
    SortScan,
    /// Sorts of what was read by ranges.
    SortRange,
    /// Savepoints of transactions that had used tables.
    Savepoint,
    /// Rollbacks to those.
    SavepointRollback,
    /// Branches that were prepared.
    Prepare,
    /// Queries that had a limit of time.
    TimeSet,
    /// Queries that this limit ended.
    TimeExceeded,
}

const EXECUTED: usize = Executed::TimeExceeded as usize + 1;

/// What a session's client has reported of itself.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// Its number.
    pub(crate) id: u64,
    /// Name given at login.
    pub(crate) user: String,
    /// Client host name or address.
    pub(crate) host: String,
    /// Protocol and cipher of TLS.
    pub(crate) tls: Option<(String, String)>,
    /// Algorithm and level of the protocol's compression.
    pub(crate) compression: Option<(&'static str, i32)>,
    /// Connection attributes.
    pub(crate) attributes: Vec<(String, String)>,
}

/// One session's counts. Only their session writes them.
///
/// Wide: one field for each thing that is counted.
#[derive(Debug)]
pub struct SessionCounters {
    /// Whose session it is.
    pub(crate) connection: Connection,
    commands: Vec<AtomicU64>,
    handles: [AtomicU64; 6],
    questions: AtomicU64,
    inserted: AtomicU64,
    updated: AtomicU64,
    deleted: AtomicU64,
    /// Slow statements.
    slow: AtomicU64,
    /// The fields of [`ThreadCounts`].
    reads: [AtomicU64; COUNTED],
    executed: [AtomicU64; EXECUTED],
    /// SET RESOURCE GROUP.
    pub(crate) resource_group: Mutex<Option<String>>,
    /// What it has noted of its statements.
    pub history: History,
    /// What it has noted of its transactions.
    pub transactions: SessionTransactions,
    /// What it has raised.
    pub errors: SessionErrors,
}

impl SessionCounters {
    fn new() -> SessionCounters {
        SessionCounters {
            connection: Connection::default(),
            commands: COMMANDS.iter().map(|_| AtomicU64::new(0)).collect(),
            handles: Default::default(),
            questions: AtomicU64::new(0),
            inserted: AtomicU64::new(0),
            updated: AtomicU64::new(0),
            deleted: AtomicU64::new(0),
            slow: AtomicU64::new(0),
            reads: Default::default(),
            executed: Default::default(),
            resource_group: Mutex::default(),
            history: History::default(),
            transactions: SessionTransactions::default(),
            errors: SessionErrors::default(),
        }
    }

    /// Whose session it is.
    pub(crate) fn account(&self) -> Account {
        Some((self.connection.user.clone(), self.connection.host.clone()))
    }

    /// Counts a slow statement.
    pub fn count_slow(&self) {
        increase(&self.slow, 1);
    }

    /// How many slow statements there were.
    pub(crate) fn slow(&self) -> u64 {
        self.slow.load(Ordering::Relaxed)
    }

    /// Counts what the running thread has read.
    #[inline]
    pub fn take_reads(&self) {
        take_thread_counts(|at, count| increase(&self.reads[at], count));
    }

    /// What statements have read.
    pub fn reads(&self) -> ThreadCounts {
        let counts = self.reads.each_ref().map(|counter| counter.load(Ordering::Relaxed));
        let [keys, first, last, seeks, scanned, next, prev, lock_micros, ..] = counts;
        let [.., ends, stopped_next, stopped_prev] = counts;
        ThreadCounts {
            keys,
            first,
            last,
            seeks,
            scanned,
            next,
            prev,
            lock_micros,
            ends,
            stopped_next,
            stopped_prev,
        }
    }

    /// Counts something that statements do.
    #[inline]
    pub fn count_executed(&self, what: Executed, times: u64) {
        increase(&self.executed[what as usize], times);
    }

    /// How often statements did something.
    pub fn executed(&self, what: Executed) -> u64 {
        self.executed[what as usize].load(Ordering::Relaxed)
    }

    /// Counts a run of a query that gave so many rows.
    #[inline(never)]
    pub fn count_plan(&self, counts: &PlanCounts, rows: u64) {
        self.count_executed(Executed::SelectScan, counts.scan);
        self.count_executed(Executed::SelectRange, counts.range);
        self.count_executed(Executed::SelectFullJoin, counts.full_join);
        self.count_executed(Executed::SelectFullRangeJoin, counts.full_range_join);
        if let Some(sorted) = counts.sorts {
            self.count_executed(Executed::SortRows, rows);
            let input = match sorted {
                SortInput::Scan => Executed::SortScan,
                SortInput::Range => Executed::SortRange,
            };
            self.count_executed(input, 1);
        }
    }

    /// Counts what is done with a handle.
    #[inline]
    pub fn count_handle(&self, used: HandleUse) {
        increase(&self.handles[used as usize], 1);
    }

    /// Counts rows that a statement has changed.
    #[inline]
    pub fn count_rows(&self, statement: &Statement, affected: u64) {
        match statement {
            Statement::Insert(_) | Statement::LoadData(_) | Statement::CreateTable(_) => {
                increase(&self.inserted, affected);
            }
            Statement::Update(_) => increase(&self.updated, affected),
            Statement::Delete(_) => increase(&self.deleted, affected),
            _ => {}
        }
    }

    /// Rows that statements have changed.
    pub(crate) fn changed_rows(&self) -> ChangedRows {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ChangedRows {
            inserted: load(&self.inserted),
            updated: load(&self.updated),
            deleted: load(&self.deleted),
        }
    }

    /// Counts a statement.
    pub fn count(&self, statement: &Statement) {
        increase(&self.questions, 1);
        if let Some(at) = command(statement) {
            increase(&self.commands[at], 1);
        }
    }

    /// How many statements there were, of all kinds.
    pub(crate) fn questions(&self) -> u64 {
        self.questions.load(Ordering::Relaxed)
    }

    /// Names and counts of the kinds of statements.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.commands.iter().map(|counter| counter.load(Ordering::Relaxed));
        COMMANDS.iter().copied().zip(counts)
    }

    /// Names and counts of what was done with handles.
    pub(crate) fn handles(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.handles.iter().map(|counter| counter.load(Ordering::Relaxed));
        HANDLE_USES.into_iter().zip(counts)
    }

    fn all(&self) -> impl Iterator<Item = &AtomicU64> {
        let single = [&self.questions, &self.inserted, &self.updated, &self.deleted, &self.slow];
        let several = self.commands.iter().chain(&self.handles).chain(&self.reads);
        several.chain(&self.executed).chain(single)
    }

    fn clear(&self) {
        self.all().for_each(|counter| counter.store(0, Ordering::Relaxed));
    }

    fn add_to(&self, total: &SessionCounters) {
        for (own, total) in self.all().zip(total.all()) {
            increase(total, own.load(Ordering::Relaxed));
        }
    }
}

/// One writer needs no atomic addition.
fn increase(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
}

/// The counts of all sessions.
pub(crate) struct Counters {
    state: Mutex<State>,
}

struct State {
    live: Vec<Weak<SessionCounters>>,
    /// Of sessions that have ended.
    ended: SessionCounters,
    connections: u64,
    /// All sessions there were, by user and host.
    accounts: BTreeMap<(String, String), u64>,
}

/// Accounts whose sessions are counted.
const MAX_ACCOUNTS: usize = 10_000;

impl Default for Counters {
    fn default() -> Counters {
        let state = State {
            live: Vec::new(),
            ended: SessionCounters::new(),
            connections: 0,
            accounts: BTreeMap::new(),
        };
        Counters { state: Mutex::new(state) }
    }
}

impl Counters {
    /// The counters of the sessions that there are.
    pub(crate) fn live(&self) -> Vec<Arc<SessionCounters>> {
        self.state.lock().live.iter().filter_map(Weak::upgrade).collect()
    }

    /// Counters for a new session of a connection.
    pub(crate) fn session(&self, connection: Connection) -> Arc<SessionCounters> {
        let counters = Arc::new(SessionCounters { connection, ..SessionCounters::new() });
        let mut state = self.state.lock();
        state.live.retain(|other| other.strong_count() > 0);
        state.live.push(Arc::downgrade(&counters));
        state.connections += 1;
        let account = (counters.connection.user.clone(), counters.connection.host.clone());
        if state.accounts.len() < MAX_ACCOUNTS || state.accounts.contains_key(&account) {
            *state.accounts.entry(account).or_default() += 1;
        }
        counters
    }

    /// Present sessions, and all there were, by user and host.
    pub(crate) fn accounts(&self) -> BTreeMap<(String, String), (u64, u64)> {
        let state = self.state.lock();
        let all = state.accounts.iter().map(|(account, total)| (account.clone(), (0, *total)));
        let mut found: BTreeMap<(String, String), (u64, u64)> = all.collect();
        for live in state.live.iter().filter_map(Weak::upgrade) {
            let account = (live.connection.user.clone(), live.connection.host.clone());
            if let Some((current, _)) = found.get_mut(&account) {
                *current += 1;
            }
        }
        found
    }

    /// Keeps the counts of a session that ends.
    pub(crate) fn end(&self, counters: &Arc<SessionCounters>) {
        let mut state = self.state.lock();
        counters.add_to(&state.ended);
        state.live.retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(counters)));
    }

    /// FLUSH STATUS: a session counts anew, and what it has counted stays in the total.
    pub(crate) fn flush(&self, own: &SessionCounters) {
        let state = self.state.lock();
        own.add_to(&state.ended);
        own.clear();
    }

    /// Forgets all counts: what the program did for itself is nobody's session.
    pub(crate) fn begin_anew(&self) {
        let mut state = self.state.lock();
        state.ended = SessionCounters::new();
        state.connections = 0;
        state.accounts.clear();
    }

    /// The counts of all sessions together, and how many sessions there were.
    pub(crate) fn total(&self) -> (SessionCounters, u64) {
        let state = self.state.lock();
        let total = SessionCounters::new();
        state.ended.add_to(&total);
        state.live.iter().filter_map(Weak::upgrade).for_each(|live| live.add_to(&total));
        (total, state.connections)
    }
}
