//! What the lab measures: servers and embedded databases behind one seam.
//!
//! A [`Target`] is one of them, a [`Connection`] one client's connection to it. Statements are
//! written in the target's own dialect; what differs is each workload's to know, in one place.

mod answer;
mod dial;
#[cfg(feature = "duckdb")]
pub mod duckdb;
pub mod mysql;
pub mod postgres;
mod scram;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod url;

pub use answer::{Answer, Param};

use std::collections::BTreeMap;
use std::fmt;

/// Why something did not work.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What it means for the caller.
    pub class: Class,
    /// The server's code (`1213`, `40001`), or empty.
    pub code: String,
    /// For people.
    pub message: String,
}

/// What a failure means for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Deadlock, serialization failure or lock timeout: roll back and run the transaction again.
    Retry,
    /// A key exists already.
    Duplicate,
    /// The server is not there.
    Unreachable,
    /// Wrong user or password.
    Refused,
    /// The account may not do this.
    Privilege,
    /// The server takes no more connections.
    TooManyClients,
    /// No room on the disk.
    DiskFull,
    /// The server answered, but wrongly: the run is void.
    Wrong,
    /// The connection broke.
    Lost,
    /// The target lacks something that the workload needs.
    Unsupported,
    /// The lab was used wrongly.
    Usage,
    /// Any other error of a statement.
    Statement,
}

/// The outcome of most calls here.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure of this class.
    pub fn new(class: Class, message: impl Into<String>) -> Failure {
        Failure { class, code: String::new(), message: message.into() }
    }

    /// An answer that cannot be right.
    pub fn wrong(message: impl Into<String>) -> Failure {
        Failure::new(Class::Wrong, message)
    }

    /// One line, with what to do where that is known.
    pub fn explained(&self) -> String {
        let hint = match self.class {
            Class::Privilege => {
                " (the lab needs CREATE, DROP, INDEX, INSERT, SELECT, UPDATE, DELETE)"
            }
            Class::TooManyClients => " (the server takes fewer connections than --clients)",
            _ => "",
        };
        format!("{}{hint}", self.message)
    }

    /// The same failure, with what was being done in front.
    #[must_use]
    pub fn during(mut self, what: &str) -> Failure {
        self.message = format!("{what}: {}", self.message);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// The SQL that a target speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Inia, MySQL and MariaDB.
    MySql,
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
    /// DuckDB.
    DuckDb,
}

impl Dialect {
    /// ` FOR UPDATE` where rows can be locked; SQLite locks the whole database, and of DuckDB's
    /// writers the later one fails.
    pub fn for_update(self) -> &'static str {
        match self {
            Dialect::MySql | Dialect::Postgres => " FOR UPDATE",
            Dialect::Sqlite | Dialect::DuckDb => "",
        }
    }

    /// What closes CREATE TABLE.
    pub fn table_options(self) -> &'static str {
        if self == Dialect::MySql { " ENGINE=InnoDB" } else { "" }
    }

    /// Statements that bring the statistics of loaded tables up to date.
    pub fn analyze(self, tables: &[&str]) -> Vec<String> {
        match self {
            Dialect::MySql => vec![format!("ANALYZE TABLE {}", tables.join(", "))],
            Dialect::Sqlite => vec!["ANALYZE".to_owned()],
            // The loader does it for every data set.
            Dialect::Postgres => Vec::new(),
            Dialect::DuckDb => vec!["ANALYZE".to_owned()],
        }
    }

    /// Type of a date with time of day.
    pub fn datetime(self) -> &'static str {
        match self {
            Dialect::MySql => "DATETIME",
            Dialect::Postgres | Dialect::DuckDb => "TIMESTAMP",
            Dialect::Sqlite => "TEXT",
        }
    }

    /// Type of a double-precision number.
    pub fn double(self) -> &'static str {
        match self {
            Dialect::MySql | Dialect::DuckDb => "DOUBLE",
            Dialect::Postgres => "DOUBLE PRECISION",
            Dialect::Sqlite => "REAL",
        }
    }

    /// Column `name` as an INTEGER primary key that counts by itself, key clause included.
    pub fn counting_key(self, name: &str) -> String {
        match self {
            Dialect::MySql => format!("{name} INTEGER NOT NULL AUTO_INCREMENT PRIMARY KEY"),
            Dialect::Postgres => format!("{name} SERIAL PRIMARY KEY"),
            Dialect::Sqlite | Dialect::DuckDb => format!("{name} INTEGER PRIMARY KEY"),
        }
    }
}

/// Which program a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Inia as a server.
    Inia,
    /// Inia in this process.
    Embedded,
    /// MySQL.
    MySql,
    /// MariaDB.
    MariaDb,
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
    /// DuckDB.
    DuckDb,
    /// The null server.
    Floor,
}

impl Product {
    /// Its name in tables and results.
    pub fn name(self) -> &'static str {
        match self {
            Product::Inia => "inia",
            Product::Embedded => "inia-embedded",
            Product::MySql => "mysql",
            Product::MariaDb => "mariadb",
            Product::Postgres => "postgres",
            Product::Sqlite => "sqlite",
            Product::DuckDb => "duckdb",
            Product::Floor => "floor",
        }
    }
}

/// Whether a commit that was acknowledged survives a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It does.
    Durable,
    /// It may not.
    Relaxed,
    /// Not known.
    Unknown,
}

/// What a target says about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Which program.
    pub product: Product,
    /// Its version.
    pub version: String,
    /// Settings that matter for durability and memory, by their own names.
    pub settings: BTreeMap<String, String>,
    /// What those settings mean for commits.
    pub durability: Durability,
    /// Most connections at once, if there is a limit.
    pub max_clients: Option<u64>,
    /// The server's process on this machine; this process if the target is embedded.
    pub pid: Option<u32>,
    /// Where its data lies on this machine, if known.
    pub data_dir: Option<String>,
}

/// A prepared statement of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared(pub u32);

/// How rows are written for [`Connection::bulk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkFormat {
    /// `(1,'a'),(2,'b')`: the rest of an INSERT.
    Values,
    /// PostgreSQL's text format of COPY, which is that of LOAD DATA too.
    Copy,
}

/// Stops what one connection runs; used from another thread.
pub trait Stopper: Send {
    /// Asks for the running statement to be ended; the connection stays.
    fn stop(&self) -> Result<()>;

    /// Ends the connection, where asking did not help.
    fn sever(&self) {}
}

/// One client's connection.
pub trait Connection: Send {
    /// Runs one statement as text.
    fn query(&mut self, sql: &str, answer: &mut Answer) -> Result<()>;

    /// Prepares a statement with `?` (`$1` in PostgreSQL) for its parameters.
    fn prepare(&mut self, sql: &str) -> Result<Prepared>;

    /// Runs a prepared statement.
    fn execute(
        &mut self,
        statement: Prepared,
        params: &[Param<'_>],
        answer: &mut Answer,
    ) -> Result<()>;

    /// Starts a transaction.
    fn begin(&mut self, answer: &mut Answer) -> Result<()> {
        self.query("BEGIN", answer)
    }

    /// Commits.
    fn commit(&mut self, answer: &mut Answer) -> Result<()> {
        self.query("COMMIT", answer)
    }

    /// Rolls back.
    fn rollback(&mut self, answer: &mut Answer) -> Result<()> {
        self.query("ROLLBACK", answer)
    }

    /// How [`Connection::bulk`] wants its rows.
    fn bulk_format(&mut self) -> BulkFormat {
        BulkFormat::Values
    }

    /// What stops this connection's statements from another thread, where that can be done.
    fn stopper(&mut self) -> Result<Option<Box<dyn Stopper>>> {
        Ok(None)
    }

    /// Loads many rows into a table. `columns` is the list as it stands in parentheses.
    fn bulk(&mut self, table: &str, columns: &str, rows: &str, answer: &mut Answer) -> Result<()> {
        self.query(&format!("INSERT INTO {table} ({columns}) VALUES {rows}"), answer)
    }
}

/// A server or an embedded database.
pub trait Target: Send + Sync {
    /// The name it was given in the comparison, or its URL without the password.
    fn label(&self) -> &str;

    /// The SQL it speaks.
    fn dialect(&self) -> Dialect;

    /// Opens a connection, in the lab's database.
    fn connect(&self) -> Result<Box<dyn Connection>>;

    /// Makes the lab's database if it is not there.
    fn create_database(&self) -> Result<()>;

    /// Asks for version, settings and process.
    fn facts(&self) -> Result<Facts>;

    /// How many connections may load in parallel.
    fn loaders(&self) -> usize {
        std::thread::available_parallelism().map_or(1, |n| n.get().min(8))
    }
}
