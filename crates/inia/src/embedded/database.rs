//! An open database, and how it is opened.

use super::connection::Connection;
use super::error::{Error, ErrorKind, Result};
use super::processes::ProcessList;
use crate::config::Config;
use crate::data_dir::{DataDir, holds_database};
use crate::open;
use inia_sql::{ClientInfo, Session};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a database is opened.
///
/// ```no_run
/// # fn main() -> inia::Result<()> {
/// let database = inia::Options::new()
///     .buffer_pool_size(256 << 20)
///     .work_memory(64 << 20)
///     .open("inia-data")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    config: Config,
    must_exist: bool,
}

impl Options {
    /// As the server has them by default.
    pub fn new() -> Options {
        Options::default()
    }

    /// Bytes of memory for pages, which are taken as pages are used; without it a quarter of the
    /// machine's memory.
    #[must_use]
    pub fn buffer_pool_size(mut self, bytes: u64) -> Options {
        self.config.buffer_pool_size = Some(bytes);
        self
    }

    /// Bytes of memory that the statements of all connections may hold; without it a quarter of
    /// the machine's memory. What needs more uses the disk, or fails.
    #[must_use]
    pub fn work_memory(mut self, bytes: u64) -> Options {
        self.config.work_memory = Some(bytes);
        self
    }

    /// The directory that LOAD DATA reads from and INTO OUTFILE writes to; without it there is
    /// none.
    #[must_use]
    pub fn secure_file_priv(mut self, dir: impl Into<PathBuf>) -> Options {
        self.config.secure_file_priv = Some(dir.into().display().to_string());
        self
    }

    /// Refuses to make a database where there is none.
    #[must_use]
    pub fn must_exist(mut self) -> Options {
        self.must_exist = true;
        self
    }

    /// Opens the database in a directory, which is made where it is missing.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Database> {
        let path = path.as_ref();
        if self.must_exist && !holds_database(path).unwrap_or(false) {
            return Err(fails(format!("{} holds no database", path.display())));
        }
        self.check()?;
        let data = DataDir::take(path).map_err(fails)?;
        self.open_in(data)
    }

    /// Makes a database in memory, which ends with its last connection.
    pub fn in_memory(mut self) -> Result<Database> {
        self.config.in_memory = true;
        self.check()?;
        self.open_in(DataDir::in_memory())
    }

    fn check(&self) -> Result<()> {
        self.config.validate().map_err(fails)
    }

    fn open_in(self, data: DataDir) -> Result<Database> {
        let database = open::open(&data, &self.config, true).map_err(fails)?;
        let processes = Arc::new(ProcessList::new());
        database.set_processes(processes.clone());
        let (config, data) = (self.config, Arc::new(data));
        let shared = Arc::new(Shared { database, processes, config, data });
        Ok(Database { shared })
    }
}

pub(super) fn fails(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Database, message)
}

/// What a database, its connections and its server share. The last of them closes it.
pub(super) struct Shared {
    pub(super) database: Arc<inia_sql::Database>,
    pub(super) processes: Arc<ProcessList>,
    #[cfg_attr(not(feature = "server"), allow(dead_code))]
    pub(super) config: Config,
    /// Held until the database is closed.
    pub(super) data: Arc<DataDir>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Without a clean end the next opening recovers.
        let _ = self.database.close();
    }
}

/// An open database. Clones are the same database; it is closed when the last of them, the last
/// connection and the last server are gone.
///
/// A directory belongs to one process at a time. Another one that opens it gets an error that
/// names the owner; it can connect to a server that the owner starts.
#[derive(Clone)]
pub struct Database {
    pub(super) shared: Arc<Shared>,
}

impl Database {
    /// Opens the database in a directory, which is made where it is missing, and recovers it where
    /// it was not closed.
    pub fn open(path: impl AsRef<Path>) -> Result<Database> {
        Options::new().open(path)
    }

    /// Makes a database in memory.
    pub fn in_memory() -> Result<Database> {
        Options::new().in_memory()
    }

    /// A new connection, without a default database.
    pub fn connect(&self) -> Result<Connection> {
        let processes = &self.shared.processes;
        let id = processes.next_id();
        let client = ClientInfo { connection_id: id, ..ClientInfo::default() };
        let session = Session::new(&self.shared.database, client);
        let entry = processes.add(id, session.kill_handle());
        Ok(Connection::new(self.shared.clone(), session, entry))
    }

    /// A new connection with a default database.
    pub fn connect_to(&self, database: &str) -> Result<Connection> {
        let connection = self.connect()?;
        connection.use_database(database)?;
        Ok(connection)
    }

    /// Where the database is; `None` in memory.
    pub fn path(&self) -> Option<&Path> {
        let data = &self.shared.data;
        (!data.is_in_memory()).then(|| data.path())
    }

    /// Writes everything back and closes the database. Error where a connection, a clone or a
    /// server still uses it.
    pub fn close(self) -> Result<()> {
        let Some(shared) = Arc::into_inner(self.shared) else {
            return Err(fails("the database is in use; it closes with its last connection"));
        };
        shared.database.close().map_err(|error| fails(error.to_string()))
    }
}

/// A closed database in memory, of which copies are opened: what each test of a suite begins with.
/// A copy shares memory with the template until it writes.
///
/// ```
/// # fn main() -> inia::Result<()> {
/// let database = inia::Database::in_memory()?;
/// let connection = database.connect()?;
/// connection.execute_batch("CREATE DATABASE shop; CREATE TABLE shop.goods (id INT)")?;
/// drop(connection);
/// let template = database.into_template()?;
/// let test = template.open()?.connect_to("shop")?;
/// test.execute("INSERT INTO goods VALUES (1)", ())?;
/// let other = template.open()?.connect_to("shop")?;
/// assert_eq!(other.query_one::<i64>("SELECT COUNT(*) FROM goods", ())?, 0);
/// # Ok(())
/// # }
/// ```
pub struct Template {
    data: DataDir,
    options: Options,
}

impl Template {
    /// A database with what the template holds.
    pub fn open(&self) -> Result<Database> {
        let data = self.data.fork().ok_or_else(not_in_memory)?;
        self.options.clone().open_in(data)
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template").finish_non_exhaustive()
    }
}

fn not_in_memory() -> Error {
    fails("only a database in memory can be a template")
}

impl Database {
    /// Closes a database in memory and keeps it as a template. Error where it is in use, or in a
    /// directory.
    pub fn into_template(self) -> Result<Template> {
        let (data, config) = (self.shared.data.clone(), self.shared.config.clone());
        if !data.is_in_memory() {
            return Err(not_in_memory());
        }
        self.close()?;
        let data = data.fork().ok_or_else(not_in_memory)?;
        Ok(Template { data, options: Options { config, must_exist: false } })
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("path", &self.path()).finish_non_exhaustive()
    }
}
