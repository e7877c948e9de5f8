//! The seam by which SQL statements see and stop the server's connections.

/// One connection, as SHOW PROCESSLIST tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessEntry {
    /// Connection id, as CONNECTION_ID() gives it.
    pub id: u64,
    /// Name given at login.
    pub user: String,
    /// Name and host pattern of the account; none before the login is done.
    pub account: Option<(String, String)>,
    /// Client's address, with the port for TCP.
    pub host: String,
    /// Default database.
    pub db: Option<String>,
    /// "Sleep", "Query", "Execute", ...
    pub command: &'static str,
    /// Seconds in the current state.
    pub time: u64,
    /// What the statement is doing.
    pub state: &'static str,
    /// Text of the running statement.
    pub info: Option<String>,
}

/// What KILL ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillTarget {
    /// The whole connection: the client sees it closed at once, without an answer.
    Connection,
    /// The connection once the running statement has its answer: that of whoever asks.
    ConnectionAfterReply,
    /// Only the running statement.
    Query,
}

/// The server's connections. The server implements it; an embedded database has none.
pub trait Processes: Send + Sync {
    /// All connections in the order of their ids.
    fn list(&self) -> Vec<ProcessEntry>;
    /// Ends a connection or its statement; false if there is no such connection.
    fn kill(&self, id: u64, target: KillTarget) -> bool;
    /// Begins the server's shutdown; false where nobody would carry it out.
    fn shut_down(&self) -> bool {
        false
    }
    /// Reads the certificate anew for the connections to come; why that fails.
    fn reload_tls(&self) -> Result<(), String> {
        Ok(())
    }
}
