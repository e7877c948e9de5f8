//! Status counters, as SHOW STATUS lists them.
//!
//! Every session counts for itself, so that counting shares no memory among sessions; totals are
//! made when they are asked for. A session that ends leaves its counts behind.

use inia_parser::ast::{Insert, InsertSource, Statement};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

macro_rules! commands {
    ($($name:literal => $pattern:pat $(if $guard:expr)?,)*) => {
        /// The kinds of statements that are counted.
        const COMMANDS: &[&str] = &[$($name),*];

        /// Which kind a statement is, by position.
        fn command(statement: &Statement) -> Option<usize> {
            Some(match statement {
                $($pattern $(if $guard)? => const { position($name) },)*
                _ => return None,
            })
        }
    };
}

fn from_query(insert: &Insert) -> bool {
    matches!(insert.source, InsertSource::Query(_))
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
    "alter_db" => Statement::AlterDatabase(_),
    "alter_table" => Statement::AlterTable(_),
    "alter_user" => Statement::AlterUser(_),
    "begin" => Statement::Begin(_),
    "call_procedure" => Statement::Call(_),
    "change_db" => Statement::Use(_),
    "commit" => Statement::Commit(_),
    "create_db" => Statement::CreateDatabase(_),
    "create_index" => Statement::CreateIndex(_),
    "create_role" => Statement::CreateRole { .. },
    "create_table" => Statement::CreateTable(_),
    "create_user" => Statement::CreateUser(_),
    "create_view" => Statement::CreateView(_),
    "dealloc_sql" => Statement::Deallocate(_),
    "delete" => Statement::Delete(_),
    "do" => Statement::Do(_),
    "drop_db" => Statement::DropDatabase { .. },
    "drop_index" => Statement::DropIndex(_),
    "drop_role" => Statement::DropRole { .. },
    "drop_table" => Statement::DropTable(_),
    "drop_user" => Statement::DropUser { .. },
    "drop_view" => Statement::DropView(_),
    "empty_query" => Statement::Empty,
    "execute_sql" => Statement::Execute { .. },
    "flush" => Statement::Flush(_),
    "grant" => Statement::Grant(_),
    "help" => Statement::Help(_),
    "insert" => Statement::Insert(insert) if !insert.replace && !from_query(insert),
    "insert_select" => Statement::Insert(insert) if !insert.replace,
    "kill" => Statement::Kill { .. },
    "load" => Statement::LoadData(_),
    "lock_tables" => Statement::LockTables(_),
    "prepare_sql" => Statement::Prepare { .. },
    "release_savepoint" => Statement::ReleaseSavepoint(_),
    "rename_table" => Statement::RenameTable(_),
    "rename_user" => Statement::RenameUser(_),
    "replace" => Statement::Insert(insert) if !from_query(insert),
    "replace_select" => Statement::Insert(_),
    "revoke" => Statement::Revoke(_),
    "rollback" => Statement::Rollback(_),
    "rollback_to_savepoint" => Statement::RollbackTo(_),
    "savepoint" => Statement::Savepoint(_),
    "select" => Statement::Select(_),
    "set_option" => Statement::Set(_),
    "set_password" => Statement::SetPassword(_),
    "show_fields" => Statement::Describe(_),
    "truncate" => Statement::Truncate(_),
    "unlock_tables" => Statement::UnlockTables,
    "update" => Statement::Update(_),
}

/// One session's counts. Only their session writes them.
#[derive(Debug)]
pub(crate) struct SessionCounters {
    commands: Vec<AtomicU64>,
    questions: AtomicU64,
}

impl SessionCounters {
    fn new() -> SessionCounters {
        let commands = COMMANDS.iter().map(|_| AtomicU64::new(0)).collect();
        SessionCounters { commands, questions: AtomicU64::new(0) }
    }

    /// Counts a statement.
    pub(crate) fn count(&self, statement: &Statement) {
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

    fn add_to(&self, total: &SessionCounters) {
        increase(&total.questions, self.questions.load(Ordering::Relaxed));
        for (own, total) in self.commands.iter().zip(&total.commands) {
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
}

impl Default for Counters {
    fn default() -> Counters {
        let state = State { live: Vec::new(), ended: SessionCounters::new(), connections: 0 };
        Counters { state: Mutex::new(state) }
    }
}

impl Counters {
    /// Counters for a new session.
    pub(crate) fn session(&self) -> Arc<SessionCounters> {
        let counters = Arc::new(SessionCounters::new());
        let mut state = self.state.lock();
        state.live.retain(|other| other.strong_count() > 0);
        state.live.push(Arc::downgrade(&counters));
        state.connections += 1;
        counters
    }

    /// Keeps the counts of a session that ends.
    pub(crate) fn end(&self, counters: &Arc<SessionCounters>) {
        let mut state = self.state.lock();
        counters.add_to(&state.ended);
        state.live.retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(counters)));
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
