//! The seam by which SQL statements see and stop the server's connections.

/// One connection, as SHOW PROCESSLIST shows it.
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

/// What the server has counted since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCounts {
    /// Threads made for connections.
    pub threads_created: u64,
    /// The most connections that there were at once.
    pub most_connections: u64,
    /// When there were so many, in seconds since 1970.
    pub most_connections_at: u64,
    /// Connections that ended without a goodbye.
    pub aborted_clients: u64,
    /// Logins that failed.
    pub aborted_connects: u64,
    /// Connections that were one too many.
    pub refused: u64,
    /// Logins to accounts that are locked.
    pub locked: u64,
    /// Connections that could not be accepted.
    pub accept_errors: u64,
    /// Connections that got no thread.
    pub internal_errors: u64,
    /// Connections that started TLS.
    pub tls_accepts: u64,
    /// Bytes sent and received.
    pub traffic: (u64, u64),
}

/// What KILL ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillTarget {
    /// The whole connection: the client sees it closed at once, without an answer.
    Connection,
    /// The connection once the running statement has its answer: that of the asking session.
    ConnectionAfterReply,
    /// Only the running statement.
    Query,
}

/// The server's connections. The server implements it; an embedded database has none.
pub trait Processes: Send + Sync {
    /// All connections in the order of their ids.
    fn list(&self) -> Vec<ProcessEntry>;
    /// How many connections run a statement.
    fn running(&self) -> usize {
        self.list().iter().filter(|entry| entry.command != "Sleep").count()
    }
    /// Ends a connection or its statement; false if there is no such connection.
    fn kill(&self, id: u64, target: KillTarget) -> bool;
    /// A number for a thread that is listed beside the connections.
    fn new_id(&self) -> u64 {
        0
    }
    /// What the server has counted.
    fn counts(&self) -> ServerCounts {
        ServerCounts::default()
    }
    /// Bytes that a connection has sent to its client, and received.
    fn traffic(&self, id: u64) -> (u64, u64) {
        let _ = id;
        (0, 0)
    }
    /// Begins the server's shutdown; false where nobody would carry it out.
    fn shut_down(&self) -> bool {
        false
    }
    /// FLUSH ERROR LOGS: closes the error log's file, and opens what now has its name.
    fn reopen_error_log(&self) {}
    /// Reads the certificate anew for the connections to come; why that fails.
    fn reload_tls(&self) -> Result<(), String> {
        Ok(())
    }
    /// The public key for passwords without TLS, in PEM, once there is one.
    fn password_key(&self) -> Option<String> {
        None
    }
}
