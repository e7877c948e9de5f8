//! What the shell talks to: a server, or a data directory that it opens itself.
//!
//! A directory is served to this process over a pair of sockets, so that the shell works with it
//! as with every server, Ctrl-C included.

use super::tls::ClientTls;
use crate::embedded::{Database, Options, RunningServer};
use crate::login_url::{Connection, LoginUrl, ServerAddress};
use inia_wire::caps::Capabilities;
use std::path::Path;

/// What the shell talks to.
pub(super) struct Target {
    login: LoginUrl,
    tls: ClientTls,
    /// LOAD DATA LOCAL is allowed.
    local_files: bool,
    /// The server of the directory that this process has open.
    own: Option<(RunningServer, Database, String)>,
}

impl Target {
    /// A server.
    pub(super) fn server(login: LoginUrl, tls: ClientTls) -> Target {
        Target { login, tls, local_files: false, own: None }
    }

    /// A data directory that no server has open.
    pub(super) fn directory(dir: &str, login: LoginUrl) -> Result<Target, String> {
        let database = Options::new().must_exist().open(Path::new(dir));
        let database = database.map_err(|error| error.to_string())?;
        let server = database.serve_here().map_err(|error| error.to_string())?;
        let tls = ClientTls::new(Some("DISABLED"), None)?;
        Ok(Target { login, tls, local_files: false, own: Some((server, database, dir.to_owned())) })
    }

    /// Lets statements read files of this machine.
    pub(super) fn with_local_files(mut self, on: bool) -> Target {
        self.local_files = on;
        self
    }

    /// A new connection.
    pub(super) fn connect(&self) -> Result<Connection, String> {
        let mut options = self.login.options();
        if self.local_files {
            options.capabilities = options.capabilities.with(Capabilities::LOCAL_FILES);
        }
        match &self.own {
            None => self.tls.connect(&self.login, &options),
            Some((server, ..)) => {
                let stream = server.connect().map_err(|error| error.to_string())?;
                self.login.log_in_by(Box::new(stream), &options)
            }
        }
    }

    /// A new connection to a database.
    pub(super) fn connect_to(&self, database: Option<&str>) -> Result<Connection, String> {
        let mut connection = self.connect()?;
        if let Some(name) = database {
            connection.use_database(name).map_err(|error| error.to_string())?;
        }
        Ok(connection)
    }

    /// Closes the directory, where one is open.
    pub(super) fn close(self) -> Result<(), String> {
        let Some((server, database, _)) = self.own else { return Ok(()) };
        server.stop().map_err(|error| error.to_string())?;
        database.close().map_err(|error| error.to_string())
    }

    pub(super) fn user(&self) -> &str {
        &self.login.user
    }

    /// The host, as the prompt shows it.
    pub(super) fn host(&self) -> &str {
        match (&self.own, &self.login.place) {
            (Some((.., dir)), _) => dir,
            (None, ServerAddress::Tcp(host, _)) => host,
            (None, ServerAddress::Unix(_)) => "localhost",
        }
    }

    /// The port or socket, as the prompt shows it.
    pub(super) fn port(&self) -> String {
        match (&self.own, &self.login.place) {
            (Some((.., dir)), _) => dir.clone(),
            (None, ServerAddress::Tcp(_, port)) => port.to_string(),
            (None, ServerAddress::Unix(path)) => path.clone(),
        }
    }

    /// How the connection is made, and where to: for `status`.
    pub(super) fn describe(&self) -> (String, String) {
        match (&self.own, &self.login.place) {
            (Some((.., dir)), _) => {
                ("In this process".to_owned(), format!("Data directory:\t\t{dir}"))
            }
            (None, ServerAddress::Tcp(host, port)) => {
                (format!("{host} via TCP/IP"), format!("TCP port:\t\t{port}"))
            }
            (None, ServerAddress::Unix(path)) => {
                ("Localhost via UNIX socket".to_owned(), format!("UNIX socket:\t\t{path}"))
            }
        }
    }
}
