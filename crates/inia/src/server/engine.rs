//! The SQL engine behind the server: its sessions as connections use them.

use super::auth::AccountLookup;
use super::backend::{
    Backend, ClientInfo, ClientSession, HandleUse, Interrupt, OnDurable, Prepared,
};
use crate::config::{Config, MIN_WORK_MEMORY};
use crate::data_dir::DataDir;
use inia_base::collation::Charset;
use inia_base::column::RowSink;
use inia_base::error::SqlError;
use inia_base::io::Disk;
use inia_base::memory::MemoryBudget;
use inia_base::value::Value;
use inia_sql::{Database, DatabaseOptions, KillHandle, LoginAccount, Session};
use inia_wire::error::ServerError;
use std::path::Path;
use std::sync::Arc;

/// The least memory for pages that is taken unless asked otherwise.
const MIN_POOL: u64 = 64 << 20;
/// With less than this no database works.
const SMALLEST_POOL: u64 = 5 << 20;

/// Opens the database in a directory.
pub fn open(data: &DataDir, config: &Config, background: bool) -> Result<Arc<Database>, String> {
    let dir = data.path();
    let buffer_pool_size = pool_size(config.buffer_pool_size, machine_memory())?;
    let options = DatabaseOptions { buffer_pool_size, background };
    let database = Database::open(data.disk(), options)
        .map_err(|error| format!("cannot open the database in {}: {error}", dir.display()))?;
    let memory = config.work_memory.or_else(|| machine_memory().map(|memory| memory / 4));
    database.memory().set_limit(memory.unwrap_or(0).max(MIN_WORK_MEMORY));
    let place = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    database.announce(&[
        ("innodb_buffer_pool_size", buffer_pool_size.to_string()),
        ("max_connections", config.max_connections.to_string()),
        ("wait_timeout", config.wait_timeout.to_string()),
        ("secure_file_priv", config.secure_file_priv.clone().unwrap_or_else(|| "NULL".into())),
        ("datadir", format!("{}/", place.display())),
    ]);
    Ok(database)
}

/// The pool's size: what is asked for, or a quarter of the machine's memory, in bytes, where that
/// is known. An error says when what is asked for is too little, or more than there is.
fn pool_size(asked: Option<u64>, memory: Option<u64>) -> Result<u64, String> {
    match (asked, memory) {
        (Some(asked), _) if asked < SMALLEST_POOL => Err(format!(
            "a buffer pool of {asked} bytes is too small; --buffer-pool-size takes {} MB or more",
            SMALLEST_POOL >> 20
        )),
        (Some(asked), Some(memory)) if asked > memory => Err(format!(
            "a buffer pool of {} MB does not fit into this machine's memory of {} MB; \
             give a smaller --buffer-pool-size, or none for a quarter of the memory",
            asked >> 20,
            memory >> 20
        )),
        (Some(asked), _) => Ok(asked),
        (None, memory) => Ok((memory.unwrap_or(0) / 4).max(MIN_POOL)),
    }
}

/// Bytes of memory that this process may have: the machine's, or less where its control group is
/// limited.
fn machine_memory() -> Option<u64> {
    [physical_memory(), group_memory()].into_iter().flatten().min()
}

/// The least limit of the process's control group and those above it.
fn group_memory() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    groups.lines().filter_map(least_limit).min()
}

/// The limit by one line of `/proc/self/cgroup`: number, controllers and path, between colons. The
/// second version has no controllers.
fn least_limit(line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        _ => return None,
    };
    let inner = Path::new(path.trim_start_matches('/'));
    let limits = inner.ancestors().filter_map(|group| {
        let text = std::fs::read_to_string(Path::new(root).join(group).join(file)).ok()?;
        text.trim().parse::<u64>().ok()
    });
    limits.min()
}

fn physical_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = info
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024)
}

/// A database's accounts, for logins.
pub struct DatabaseAccounts {
    database: Arc<Database>,
}

impl DatabaseAccounts {
    /// The accounts of this database.
    pub fn new(database: Arc<Database>) -> DatabaseAccounts {
        DatabaseAccounts { database }
    }
}

impl AccountLookup for DatabaseAccounts {
    fn account(&self, user: &str, host: &str) -> Option<LoginAccount> {
        self.database.login_account(user, host)
    }

    fn note_login(&self, account: &LoginAccount, proven: bool) -> Option<String> {
        let block = self.database.note_login(&account.user, &account.host, proven)?;
        let (days, left) = match block.days {
            Some((days, left)) => (days.to_string(), left.to_string()),
            None => (String::from("unlimited"), String::from("unlimited")),
        };
        let failures = block.failures;
        Some(format!(
            "blocked for {days} day(s) ({left} day(s) remaining) due to {failures} consecutive \
             failed logins."
        ))
    }

    fn note_connection(&self, account: &LoginAccount) -> Result<(), ServerError> {
        let noted = self.database.note_connection(&account.user, &account.host);
        noted.map_err(|error| ServerError::from(&error))
    }
}

/// An open database as the server's back end.
pub struct EngineBackend {
    database: Arc<Database>,
}

impl EngineBackend {
    /// Serves this database.
    pub fn new(database: Arc<Database>) -> EngineBackend {
        EngineBackend { database }
    }
}

impl Backend for EngineBackend {
    fn session(&self, client: ClientInfo) -> Box<dyn ClientSession> {
        let mut session = Session::new(&self.database, client);
        session.defer_commits();
        Box::new(EngineSession { session })
    }

    fn setting(&self, name: &str) -> Option<u64> {
        Some(self.database.global_number(name))
    }

    fn close(&self) -> Result<(), String> {
        self.database.close().map_err(|error| error.to_string())
    }
}

struct EngineSession {
    session: Session,
}

struct Kill(KillHandle);

impl Interrupt for Kill {
    fn interrupt(&self, connection: bool) {
        if connection {
            self.0.kill_connection();
        } else {
            self.0.kill_query();
        }
    }

    fn waits_for(&self) -> Option<&'static str> {
        self.0.waits_for()
    }
}

impl ClientSession for EngineSession {
    fn execute(&mut self, sql: &[u8], sink: &mut dyn RowSink) -> Result<(), SqlError> {
        self.session.execute_bytes(sql, sink)
    }

    fn prepare(&mut self, sql: &[u8]) -> Result<Prepared, SqlError> {
        self.session.prepare_bytes(sql)
    }

    fn execute_prepared(
        &mut self,
        id: u32,
        params: &[Value],
        sink: &mut dyn RowSink,
    ) -> Result<(), SqlError> {
        self.session.execute_prepared(id, params, sink)
    }

    fn close_prepared(&mut self, id: u32) {
        self.session.close_prepared(id);
    }

    fn use_database(&mut self, name: &str) -> Result<(), SqlError> {
        self.session.use_database(name)
    }

    fn current_database(&self) -> Option<&str> {
        self.session.current_database()
    }

    fn reset(&mut self) -> Result<(), SqlError> {
        self.session.reset()
    }

    fn change_user(&mut self, client: ClientInfo) -> Result<(), SqlError> {
        self.session.change_user(client)
    }

    fn count_handle(&mut self, used: HandleUse) {
        self.session.count_handle(used);
    }

    fn refresh(&mut self, parts: u8) -> Result<u16, SqlError> {
        self.session.refresh(parts)
    }

    fn set_multi_statements(&mut self, on: bool) {
        self.session.set_multi_statements(on);
    }

    fn status_flags(&self) -> u16 {
        self.session.status_flags()
    }

    fn client_charset(&self) -> Charset {
        self.session.client_charset()
    }

    fn result_collation(&self) -> u16 {
        self.session.result_collation()
    }

    fn wait_timeout(&self) -> Option<u64> {
        Some(self.session.wait_timeout())
    }

    fn result_memory(&self) -> usize {
        self.session.result_memory()
    }

    fn memory(&self) -> Option<Arc<MemoryBudget>> {
        Some(self.session.memory())
    }

    fn scratch(&self) -> Option<Arc<dyn Disk>> {
        Some(self.session.scratch())
    }

    fn must_change_password(&self) -> bool {
        self.session.must_change_password()
    }

    fn is_settled(&self) -> bool {
        self.session.is_settled()
    }

    fn settle(&mut self) -> Result<(), SqlError> {
        self.session.settle()
    }

    fn when_settled(&mut self, sender: &Arc<dyn OnDurable>) -> Result<bool, SqlError> {
        self.session.when_settled(sender)
    }

    fn interrupter(&self) -> Arc<dyn Interrupt> {
        Arc::new(Kill(self.session.kill_handle()))
    }
}

#[cfg(test)]
mod tests;
