//! The part of the Python package that is Rust: databases, connections and results, and values
//! between the two languages. `python/inia/` makes a PEP 249 module of it.
//!
//! - `convert` makes Python's values of cells, and parameters of Python's values.
//! - `arrow` makes columns of rows, as Arrow lays them out, in `bytes` objects.
//!
//! Statements run without the interpreter's lock. What holds a lock of this module never waits for
//! the interpreter's: a result that another thread reads is an error, not a wait.

mod arrow;
mod convert;
mod errors;
mod results;

use convert::Converter;
use errors::raise;
use inia::{Fetch, SharedConnection};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use results::Results;
use std::path::PathBuf;

#[pymodule]
fn _inia(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Database>()?;
    module.add_class::<Template>()?;
    module.add_class::<Server>()?;
    module.add_class::<Connection>()?;
    module.add_class::<Results>()
}

/// An open database.
#[pyclass(frozen, module = "inia._inia")]
struct Database {
    /// None once it is closed.
    database: Mutex<Option<inia::Database>>,
}

impl Database {
    fn of(database: inia::Database) -> Database {
        Database { database: Mutex::new(Some(database)) }
    }

    fn get(&self, py: Python<'_>) -> PyResult<inia::Database> {
        let database = self.database.lock().clone();
        database.ok_or_else(|| errors::interface(py, "the database is closed"))
    }
}

#[pymethods]
impl Database {
    /// Opens a directory, or makes a database in memory for ":memory:".
    #[staticmethod]
    #[pyo3(signature = (
        path, *, buffer_pool_size=None, work_memory=None, secure_file_priv=None, must_exist=false
    ))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        buffer_pool_size: Option<u64>,
        work_memory: Option<u64>,
        secure_file_priv: Option<PathBuf>,
        must_exist: bool,
    ) -> PyResult<Database> {
        let mut options = inia::Options::new();
        if let Some(bytes) = buffer_pool_size {
            options = options.buffer_pool_size(bytes);
        }
        if let Some(bytes) = work_memory {
            options = options.work_memory(bytes);
        }
        if let Some(dir) = secure_file_priv {
            options = options.secure_file_priv(dir);
        }
        if must_exist {
            options = options.must_exist();
        }
        let opened = py.detach(|| match path.as_os_str() == ":memory:" {
            true => options.in_memory(),
            false => options.open(&path),
        });
        opened.map(Database::of).map_err(|error| raise(py, &error))
    }

    /// A connection.
    #[pyo3(signature = (schema=None))]
    fn connect(&self, py: Python<'_>, schema: Option<&str>) -> PyResult<Connection> {
        let database = self.get(py)?;
        let connected = py.detach(|| match schema {
            Some(schema) => database.connect_to(schema),
            None => database.connect(),
        });
        let connection = connected.map_err(|error| raise(py, &error))?;
        Ok(Connection { shared: SharedConnection::new(connection) })
    }

    /// Opens the database to MySQL clients.
    fn serve(&self, py: Python<'_>, address: &str) -> PyResult<Server> {
        let database = self.get(py)?;
        let started = py.detach(|| match address.strip_prefix("unix:") {
            Some(path) => database.serve_unix(path),
            None => database.serve(address),
        });
        let server = started.map_err(|error| raise(py, &error))?;
        Ok(Server { url: server.url(), server: Mutex::new(Some(server)) })
    }

    /// Closes a database in memory and keeps it as a template.
    #[pyo3(name = "into_template")]
    fn make_template(&self, py: Python<'_>) -> PyResult<Template> {
        let database = self.database.lock().take();
        let database = database.ok_or_else(|| errors::interface(py, "the database is closed"))?;
        let template = py.detach(|| database.into_template());
        Ok(Template { template: template.map_err(|error| raise(py, &error))? })
    }

    /// Closes the database; it stays open until its last connection is closed.
    fn close(&self, py: Python<'_>) {
        let database = self.database.lock().take();
        py.detach(|| drop(database));
    }
}

/// A database in memory of which copies are opened.
#[pyclass(frozen, module = "inia._inia")]
struct Template {
    template: inia::Template,
}

#[pymethods]
impl Template {
    /// A copy.
    fn open(&self, py: Python<'_>) -> PyResult<Database> {
        let opened = py.detach(|| self.template.open());
        opened.map(Database::of).map_err(|error| raise(py, &error))
    }
}

/// A server for a database.
#[pyclass(frozen, module = "inia._inia")]
struct Server {
    url: String,
    server: Mutex<Option<inia::RunningServer>>,
}

#[pymethods]
impl Server {
    /// How root connects.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// Ends the clients' connections.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let server = self.server.lock().take();
        let stopped = py.detach(|| server.map_or(Ok(()), inia::RunningServer::stop));
        stopped.map_err(|error| raise(py, &error))
    }
}

/// A connection.
#[pyclass(frozen, module = "inia._inia")]
struct Connection {
    shared: SharedConnection,
}

#[pymethods]
impl Connection {
    /// Runs a statement with parameters, or statements without.
    #[pyo3(signature = (sql, params=None, stream=false))]
    fn run(
        &self,
        py: Python<'_>,
        sql: &str,
        params: Option<&Bound<'_, PyTuple>>,
        stream: bool,
    ) -> PyResult<Results> {
        let params = match params {
            Some(params) => Converter::get(py)?.parameters(params)?,
            None => Vec::new(),
        };
        let fetch = if stream { Fetch::Streamed } else { Fetch::Held };
        let results = py.detach(|| self.shared.run(sql, &params, fetch));
        results.map(Results::of).map_err(|error| raise(py, &error))
    }

    /// Runs a statement once for each tuple of parameters. Gives the rows that were changed, and
    /// the first id that the last run made.
    fn run_many(
        &self,
        py: Python<'_>,
        sql: &str,
        params: &Bound<'_, PyList>,
    ) -> PyResult<(u64, u64)> {
        let converter = Converter::get(py)?;
        let rows: Vec<_> = params
            .iter()
            .map(|row| converter.parameters(row.cast::<PyTuple>()?))
            .collect::<PyResult<_>>()?;
        let done = py.detach(|| {
            self.shared.with(|connection| {
                let statement = connection.prepare(sql)?;
                let mut changed = (0, 0);
                for row in &rows {
                    let outcome = statement.execute(row)?;
                    changed = (changed.0 + outcome.affected_rows, outcome.last_insert_id);
                }
                Ok(changed)
            })
        });
        done.map_err(|error| raise(py, &error))
    }

    /// Ends the statement that runs.
    fn interrupt(&self) {
        self.shared.interrupt();
    }

    /// Returns to the state of a new connection.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.shared.reset()).map_err(|error| raise(py, &error))
    }

    /// Ends the connection.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.shared.close()).map_err(|error| raise(py, &error))
    }

    /// Whether a transaction is open.
    fn in_transaction(&self, py: Python<'_>) -> PyResult<bool> {
        let open = py.detach(|| self.shared.with(|connection| Ok(connection.in_transaction())));
        open.map_err(|error| raise(py, &error))
    }

    /// The default database.
    fn current_database(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let name = py.detach(|| self.shared.with(|connection| Ok(connection.current_database())));
        name.map_err(|error| raise(py, &error))
    }

    /// Conditions of the last statement: level, number and text.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, u16, String)>> {
        let warnings = py.detach(|| self.shared.with(|connection| Ok(connection.warnings())));
        let warnings = warnings.map_err(|error| raise(py, &error))?;
        Ok(warnings.into_iter().map(|it| (it.level, it.code, it.message)).collect())
    }

    /// The number that CONNECTION_ID() gives.
    #[getter]
    fn id(&self) -> u32 {
        self.shared.id()
    }
}
