//! The seam between connections and the SQL engine, so that tests can serve canned sessions.

use inia_base::collation::Charset;
use inia_base::column::RowSink;
use inia_base::error::SqlError;
use inia_base::io::Disk;
use inia_base::memory::MemoryBudget;
use inia_base::value::Value;
pub use inia_sql::{ClientInfo, HandleUse, OnDurable, Prepared};
use std::net::SocketAddr;
use std::sync::Arc;

/// Interrupts a session from another thread.
pub trait Interrupt: Send + Sync {
    /// Ends the running statement with error 1317; `connection` says that no other will follow.
    fn interrupt(&self, connection: bool);
    /// What the running statement waits for, as the process list names it.
    fn waits_for(&self) -> Option<&'static str> {
        None
    }
}

/// One client's session.
pub trait ClientSession: Send {
    /// Starts a command, before the process list shows it: KILL QUERY asked until now for the end
    /// of those before.
    fn begin_command(&mut self) {}
    /// Runs all statements of a text in the client's character set.
    fn execute(&mut self, sql: &[u8], sink: &mut dyn RowSink) -> Result<(), SqlError>;
    /// Prepares one statement.
    fn prepare(&mut self, sql: &[u8]) -> Result<Prepared, SqlError>;
    /// Runs a prepared statement.
    fn execute_prepared(
        &mut self,
        id: u32,
        params: &[Value],
        sink: &mut dyn RowSink,
    ) -> Result<(), SqlError>;
    /// Forgets a prepared statement.
    fn close_prepared(&mut self, id: u32);
    /// Changes the default database.
    fn use_database(&mut self, name: &str) -> Result<(), SqlError>;
    /// The default database.
    fn current_database(&self) -> Option<&str>;
    /// Rolls back and returns to the state after login.
    fn reset(&mut self) -> Result<(), SqlError>;
    /// As [`ClientSession::reset`], for another client.
    fn change_user(&mut self, client: ClientInfo) -> Result<(), SqlError>;
    /// Counts what the connection does with a handle by itself.
    fn count_handle(&mut self, used: HandleUse) {
        let _ = used;
    }
    /// Notes a command that is no statement in the general log.
    fn note_command(&self, name: &str, argument: &str) {
        let _ = (name, argument);
    }
    /// COM_REFRESH; the number of warnings.
    fn refresh(&mut self, parts: u8) -> Result<u16, SqlError> {
        let _ = parts;
        Ok(0)
    }
    /// Turns multi-statements on or off.
    fn set_multi_statements(&mut self, on: bool);
    /// The protocol's status flags.
    fn status_flags(&self) -> u16;
    /// The character set of statements and parameters.
    fn client_charset(&self) -> Charset;
    /// The collation id that result columns are described with; 0 for each column's own.
    fn result_collation(&self) -> u16;
    /// Seconds that the client may be idle; `None` where the server's setting counts.
    fn wait_timeout(&self) -> Option<u64> {
        None
    }
    /// The password has expired, and was not changed yet.
    fn must_change_password(&self) -> bool {
        false
    }
    /// Bytes of a cursor's rows that may be held in memory.
    fn result_memory(&self) -> usize {
        usize::MAX
    }
    /// What the memory of all sessions is counted by; `None` where nothing limits it.
    fn memory(&self) -> Option<Arc<MemoryBudget>> {
        None
    }
    /// The disk whose scratch files take the others; `None` where there is none.
    fn scratch(&self) -> Option<Arc<dyn Disk>> {
        None
    }
    /// Whether the results of the last call may be sent: they are durable.
    fn is_settled(&self) -> bool {
        true
    }
    /// Waits until they are. An error takes their place.
    fn settle(&mut self) -> Result<(), SqlError> {
        Ok(())
    }
    /// Has `sender` called when they are; false says that they are already, and that `sender` is
    /// not called. An error takes their place.
    fn when_settled(&mut self, sender: &Arc<dyn OnDurable>) -> Result<bool, SqlError> {
        let _ = sender;
        Ok(false)
    }
    /// A handle for other threads.
    fn interrupter(&self) -> Arc<dyn Interrupt>;
}

/// A database that sessions can be opened on.
pub trait Backend: Send + Sync {
    /// Starts a session.
    fn session(&self, client: ClientInfo) -> Box<dyn ClientSession>;
    /// A limit that can be set while the server runs; `None` where the configuration counts.
    fn setting(&self, name: &str) -> Option<u64> {
        let _ = name;
        None
    }
    /// A client has got this error in place of a session.
    fn note_refusal(&self, number: u16) {
        let _ = number;
    }
    /// Says where the server listens, to those who ask by statements.
    fn announce(&self, address: SocketAddr) {
        let _ = address;
    }
    /// The server has started, and takes connections.
    fn begin(&self) -> Result<(), String> {
        Ok(())
    }
    /// Writes everything back; there will be no more statements.
    fn close(&self) -> Result<(), String>;
}
