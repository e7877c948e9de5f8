//! The SQL engine behind the server: its sessions as connections use them.

use super::auth::AccountLookup;
use super::backend::{
    Backend, ClientInfo, ClientSession, HandleUse, Interrupt, OnDurable, Prepared,
};
use crate::log;
use inia_base::collation::Charset;
use inia_base::column::RowSink;
use inia_base::error::SqlError;
use inia_base::io::Disk;
use inia_base::memory::MemoryBudget;
use inia_base::value::Value;
use inia_sql::{
    Database, EventScheduler, KillHandle, Level, LoginAccount, Session, SystemEventClock,
};
use inia_wire::error::ServerError;
use parking_lot::Mutex;
use std::fmt::Arguments;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

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

/// Writes what an event says to the error log.
fn note_event(level: Level, text: Arguments<'_>) {
    match level {
        Level::Note => log::note(text),
        Level::Warning => log::warning(text),
        Level::Error => log::error(text),
    }
}

/// An open database as the server's back end.
pub struct EngineBackend {
    database: Arc<Database>,
    /// The program around uses the database, too, and closes it.
    lent: bool,
    /// It runs from the server's start to its end.
    events: Mutex<Option<EventScheduler>>,
    /// Makes the schema `sys`, for which sessions wait.
    sys: Mutex<Option<JoinHandle<()>>>,
}

impl EngineBackend {
    /// Serves this database.
    pub fn new(database: Arc<Database>) -> EngineBackend {
        EngineBackend { database, lent: false, events: Mutex::default(), sys: Mutex::default() }
    }

    /// As [`EngineBackend::new`], for a database without the schema `sys`: a thread makes it, so
    /// that the server listens meanwhile.
    pub(crate) fn making_sys(database: Arc<Database>) -> EngineBackend {
        let making = database.clone();
        let thread = std::thread::Builder::new().name("sys".into());
        let thread = thread.spawn(move || make_sys(&making)).ok();
        if thread.is_none() {
            make_sys(&database);
        }
        EngineBackend { sys: Mutex::new(thread), ..EngineBackend::new(database) }
    }

    fn wait_for_sys(&self) {
        if let Some(thread) = self.sys.lock().take() {
            // The thread has reported its error.
            let _ = thread.join();
        }
    }

    /// Serves a database that stays open when the server ends.
    pub(crate) fn lent(database: Arc<Database>) -> EngineBackend {
        EngineBackend { lent: true, ..EngineBackend::new(database) }
    }
}

/// Makes the schema `sys`. A server without it is of use, too.
pub(crate) fn make_sys(database: &Arc<Database>) {
    if let Err(error) = inia_sql::make_sys(database) {
        log::warning(format_args!("the schema sys cannot be made: {error}"));
    }
}

impl Backend for EngineBackend {
    fn session(&self, client: ClientInfo) -> Box<dyn ClientSession> {
        self.wait_for_sys();
        let mut session = Session::new(&self.database, client);
        session.defer_commits();
        Box::new(EngineSession { session })
    }

    fn setting(&self, name: &str) -> Option<u64> {
        Some(self.database.global_number(name))
    }

    fn note_refusal(&self, number: u16) {
        self.database.note_refusal(number);
    }

    fn announce(&self, address: SocketAddr) {
        let port = ("port", address.port().to_string());
        self.database.announce(&[("bind_address", address.ip().to_string()), port]);
    }

    fn begin(&self) -> Result<(), String> {
        let clock = Arc::new(SystemEventClock);
        let scheduler = EventScheduler::start(&self.database, clock, note_event)
            .map_err(|error| format!("cannot start the scheduler of events: {error}"))?;
        *self.events.lock() = Some(scheduler);
        Ok(())
    }

    fn close(&self) -> Result<(), String> {
        drop(self.events.lock().take());
        self.wait_for_sys();
        if self.lent {
            return Ok(());
        }
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

    #[inline]
    fn begin_command(&mut self) {
        self.session.begin_command();
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

    #[inline]
    fn note_command(&self, name: &str, argument: &str) {
        self.session.note_command(name, argument);
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
