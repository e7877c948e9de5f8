//! A server for the database that a program has open.

use super::database::{Database, Shared, fails};
use super::error::Result;
use crate::config::Config;
use crate::server::engine::{DatabaseAccounts, EngineBackend};
use crate::server::{Opened, Server, registry_of};
use std::fmt;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

/// A server that runs until it is stopped or dropped. See [`Database::serve`].
pub struct RunningServer {
    /// None once it has stopped.
    server: Option<Server>,
    shared: Arc<Shared>,
}

impl Database {
    /// Opens the database to MySQL clients at an address, `127.0.0.1:0` for any free port, while
    /// the program goes on to use it. Accounts and passwords count for clients; an address beyond
    /// this machine is refused while root has no password. A database has one server at a time.
    ///
    /// ```
    /// # fn main() -> inia::Result<()> {
    /// let database = inia::Database::in_memory()?;
    /// let server = database.serve("127.0.0.1:0")?;
    /// println!("connect by: inia sql {}", server.url());
    /// server.stop()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn serve(&self, address: &str) -> Result<RunningServer> {
        let wrong = || fails(format!("'{address}' is not of the form host:port"));
        let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = port.parse().map_err(|_| wrong())?;
        if host.is_empty() {
            return Err(wrong());
        }
        self.start(Config { host, port, ..self.shared.config.clone() })
    }

    /// As [`Database::serve`], at the path of a Unix socket.
    pub fn serve_unix(&self, path: impl AsRef<Path>) -> Result<RunningServer> {
        let socket = Some(path.as_ref().to_owned());
        self.start(Config { host: String::new(), socket, ..self.shared.config.clone() })
    }

    /// A server that only this process reaches, by [`RunningServer::connect`].
    #[cfg_attr(not(feature = "program"), allow(dead_code))]
    pub(crate) fn serve_here(&self) -> Result<RunningServer> {
        self.start(Config { host: String::new(), socket: None, ..self.shared.config.clone() })
    }

    fn start(&self, config: Config) -> Result<RunningServer> {
        let shared = self.shared.clone();
        let registry = registry_of(&config);
        if !shared.processes.set_server(Some(registry.clone())) {
            return Err(fails("the database has a server already"));
        }
        let database = shared.database.clone();
        let accounts = Arc::new(DatabaseAccounts::new(database.clone()));
        let opened = Opened { backend: Arc::new(EngineBackend::lent(database)), accounts };
        let started = Server::run(&config, shared.data.clone(), opened, registry);
        match started {
            Ok(server) => Ok(RunningServer { server: Some(server), shared }),
            Err(error) => {
                shared.processes.set_server(None);
                Err(fails(error.to_string()))
            }
        }
    }
}

impl RunningServer {
    /// Where it listens; port 0 where it does not listen for TCP.
    pub fn address(&self) -> SocketAddr {
        let address = self.server.as_ref().map(Server::address);
        address.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)))
    }

    /// How root connects.
    pub fn url(&self) -> String {
        format!("mysql://root@{}/", self.address())
    }

    /// A client's stream from this process.
    #[cfg_attr(not(feature = "program"), allow(dead_code))]
    pub(crate) fn connect(&self) -> std::io::Result<UnixStream> {
        match &self.server {
            Some(server) => server.connect(),
            None => Err(std::io::Error::other("the server has stopped")),
        }
    }

    /// Ends all clients' connections, whose transactions roll back. The database stays open.
    pub fn stop(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        let Some(server) = self.server.take() else { return Ok(()) };
        let ended = server.shutdown();
        self.shared.processes.set_server(None);
        ended.map_err(fails)
    }
}

impl fmt::Debug for RunningServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningServer").field("address", &self.address()).finish_non_exhaustive()
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // What goes wrong at the end concerns clients only.
        let _ = self.end();
    }
}
