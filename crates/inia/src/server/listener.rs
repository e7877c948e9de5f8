//! Starting, accepting and stopping.

use super::Shared;
use super::auth::{AccountLookup, Authenticator};
use super::backend::Backend;
use super::connection::{serve, turn_away};
use super::registry::Registry;
use super::stream::Socket;
use super::tls::{Certificate, PasswordKeys};
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::log;
use inia_base::io::lengthen_queue;
use inia_base::process::Processes;
use inia_wire::error::ServerError;
use std::fmt;
use std::fs::Permissions;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What a connection's thread needs besides the warm stacks that requests are carried out on.
const STACK: usize = 128 << 10;
/// How many clients may wait to be accepted.
const QUEUE: i32 = 4096;
/// Mode of the Unix socket: every user who may enter its directory may connect, as with MySQL.
const SOCKET_MODE: u32 = 0o777;
/// How long a shutdown waits for connections.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(10);

/// Why a server does not start, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError(pub String);

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for StartError {}

impl From<String> for StartError {
    fn from(text: String) -> StartError {
        StartError(text)
    }
}

/// A database and its accounts.
pub struct Opened {
    /// Where sessions run.
    pub backend: Arc<dyn Backend>,
    /// Who may log in.
    pub accounts: Arc<dyn AccountLookup>,
}

/// A running server.
pub struct Server {
    shared: Arc<Shared>,
    /// None where nobody may connect by TCP.
    address: Option<SocketAddr>,
    socket: Option<PathBuf>,
    acceptors: Vec<JoinHandle<()>>,
    helpers: Vec<JoinHandle<()>>,
    /// Held until the database is closed.
    _data: Arc<DataDir>,
}

impl Server {
    /// Takes the data directory, opens the database by `open`, and listens. `open` receives the
    /// directory and the process list. A start that is refused leaves no new database behind.
    pub fn start(
        config: &Config,
        open: impl FnOnce(&DataDir, Arc<dyn Processes>) -> Result<Opened, String>,
    ) -> Result<Server, StartError> {
        // The directory is locked before anything in it is opened.
        let data = match config.in_memory {
            true => DataDir::in_memory(),
            false => DataDir::take(&config.data)?,
        };
        let data = Arc::new(data);
        Server::start_in(config, &data, open).inspect_err(|_| data.discard())
    }

    fn start_in(
        config: &Config,
        data: &Arc<DataDir>,
        open: impl FnOnce(&DataDir, Arc<dyn Processes>) -> Result<Opened, String>,
    ) -> Result<Server, StartError> {
        let registry = registry_of(config);
        let opened = open(data, registry.clone())?;
        if data.is_open_to_others() {
            log::warning(format_args!(
                "other users may enter the data directory {}; chmod 750 closes it",
                data.path().display()
            ));
        }
        let backend = opened.backend.clone();
        Server::run(config, data.clone(), opened, registry).inspect_err(|_| {
            // The error of the start is the one to report.
            let _ = backend.close();
        })
    }

    /// Serves an open database: to the network, or to this process where the host is empty.
    pub(crate) fn run(
        config: &Config,
        data: Arc<DataDir>,
        opened: Opened,
        registry: Arc<Registry>,
    ) -> Result<Server, StartError> {
        let certificate = Arc::new(Certificate::open(data.disk())?);
        let keys = Arc::new(PasswordKeys::new(data.disk()));
        let authenticator = Authenticator::new(opened.accounts, keys.clone());
        // The accounts are known here: an open root account allows loopback addresses only.
        let local_only = config.host.is_empty();
        let listener = match local_only {
            true => None,
            false => Some(listen(config, &authenticator)?),
        };
        let address = listener.as_ref().map(TcpListener::local_addr).transpose();
        let address = address.map_err(|error| StartError(error.to_string()))?;
        if let Some(address) = address {
            opened.backend.announce(address);
        }
        let unix = config.socket.as_deref().map(listen_unix).transpose()?;
        registry.set_keys(certificate.clone(), keys.clone());
        let shared = Arc::new(Shared {
            backend: opened.backend,
            registry: registry.clone(),
            authenticator,
            tls: certificate,
            max_allowed_packet: config.max_allowed_packet,
        });
        let mut acceptors = Vec::new();
        if let Some(listener) = listener {
            acceptors.push(spawn_acceptor("accept-tcp", shared.clone(), move || {
                listener.accept().map(|(stream, _)| stream.into())
            })?);
        }
        if let Some(unix) = unix {
            acceptors.push(spawn_acceptor("accept-unix", shared.clone(), move || {
                unix.accept().map(|(stream, _)| stream.into())
            })?);
        }
        let mut helpers = vec![spawn("ticker", move || registry.tick_until_stopped())?];
        if !local_only {
            // Making the RSA key takes time, which the start does not wait for.
            let key_maker = spawn("rsa-key", move || {
                if let Err(error) = keys.get() {
                    log::warning(format_args!("no RSA key for logins without TLS: {error}"));
                }
            })?;
            // Nor does the end, where no file has to be written.
            helpers.extend((!data.is_in_memory()).then_some(key_maker));
        }
        // A shell on a directory looks at it: events run where clients are served.
        if !local_only || config.socket.is_some() {
            shared.backend.begin()?;
        }
        Ok(Server {
            shared,
            address,
            socket: config.socket.clone(),
            acceptors,
            helpers,
            _data: data,
        })
    }

    /// A connection from this process, without the network.
    pub(crate) fn connect(&self) -> io::Result<UnixStream> {
        let (own, theirs) = UnixStream::pair()?;
        start_connection(&self.shared, theirs.into());
        Ok(own)
    }

    /// Where the server listens for TCP; port 0 where it does not.
    pub fn address(&self) -> SocketAddr {
        self.address.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)))
    }

    /// The process list.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.shared.registry
    }

    /// Stops accepting, ends all connections (open transactions roll back), closes the database.
    pub fn shutdown(mut self) -> Result<(), String> {
        let left = self.shared.registry.stop(SHUTDOWN_LIMIT);
        if left > 0 {
            log::warning(format_args!("{left} connections did not end in time"));
        }
        // The acceptors see that the server stops when they wake up.
        if let Some(address) = self.address {
            let _ = TcpStream::connect_timeout(&wake_address(address), Duration::from_secs(1));
        }
        if let Some(path) = &self.socket {
            let _ = UnixStream::connect(path);
        }
        let threads = self.acceptors.drain(..).chain(self.helpers.drain(..));
        for thread in threads {
            if thread.join().is_err() {
                log::error(format_args!("a server thread ended by an internal error"));
            }
        }
        if let Some(path) = &self.socket {
            let _ = std::fs::remove_file(path);
        }
        self.shared.backend.close()
    }
}

/// An empty process list with the limits of a configuration.
pub(crate) fn registry_of(config: &Config) -> Arc<Registry> {
    let Config { max_connections, connect_timeout, wait_timeout, .. } = *config;
    Arc::new(Registry::new(max_connections, connect_timeout, wait_timeout))
}

/// Where a connection reaches a listener on this address.
fn wake_address(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

fn listen(config: &Config, authenticator: &Authenticator) -> Result<TcpListener, StartError> {
    let (host, port) = (config.host.as_str(), config.port);
    let addresses: Vec<SocketAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|error| format!("cannot resolve host '{host}': {error}"))?
        .collect();
    let loopback = addresses.iter().all(|address| address.ip().is_loopback());
    if !loopback && authenticator.root_is_open() {
        return Err(StartError(format!(
            "refusing to listen on {host}: the account root has no password. Start on 127.0.0.1, \
             set one by ALTER USER root@localhost IDENTIFIED BY '...', and start again"
        )));
    }
    let listener = TcpListener::bind(&*addresses).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            StartError(format!("port {port} on {host} is in use; choose another by --port"))
        }
        _ => StartError(format!("cannot listen on {host}:{port}: {error}")),
    })?;
    // A shorter queue serves as well while fewer clients connect at once.
    let _ = lengthen_queue(&listener, QUEUE);
    Ok(listener)
}

/// Listens on a path, taking the place of a socket that no server listens on any more.
fn listen_unix(path: &Path) -> Result<UnixListener, StartError> {
    let fail =
        |error: io::Error| StartError(format!("cannot listen on {}: {error}", path.display()));
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            if UnixStream::connect(path).is_ok() {
                return Err(StartError(format!(
                    "socket {} is in use by another server",
                    path.display()
                )));
            }
            std::fs::remove_file(path).map_err(fail)?;
            UnixListener::bind(path).map_err(fail)?
        }
        other => other.map_err(fail)?,
    };
    std::fs::set_permissions(path, Permissions::from_mode(SOCKET_MODE)).map_err(fail)?;
    Ok(listener)
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StartError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(|error| StartError(format!("cannot start a thread: {error}")))
}

fn spawn_acceptor(
    name: &str,
    shared: Arc<Shared>,
    accept: impl Fn() -> io::Result<Socket> + Send + 'static,
) -> Result<JoinHandle<()>, StartError> {
    spawn(name, move || {
        while !shared.registry.is_stopping() {
            match accept() {
                Ok(socket) if !shared.registry.is_stopping() => start_connection(&shared, socket),
                Ok(_) => return,
                Err(error) => {
                    // Out of file descriptors, most likely: connections that end give some back.
                    shared.registry.statistics().note_accept_error();
                    log::warning(format_args!("cannot accept a connection: {error}"));
                    thread::sleep(Duration::from_millis(100));
                }
            }
        }
    })
}

fn start_connection(shared: &Arc<Shared>, socket: Socket) {
    if socket.prepare().is_err() {
        return;
    }
    let socket = Arc::new(socket);
    let Some(slot) = shared.registry.admit(socket.clone(), shared.limits().connections) else {
        shared.registry.statistics().note_refused();
        shared.backend.note_refusal(1040);
        return turn_away(&socket, &ServerError::new(1040, "08004", "Too many connections"));
    };
    let id = slot.id();
    let (their_shared, their_socket) = (shared.clone(), socket.clone());
    let started =
        thread::Builder::new().name(format!("client-{id}")).stack_size(STACK).spawn(move || {
            serve(&their_shared, &slot, their_socket);
            // A stopping server relies on this order: a slot leaves the registry only after its
            // thread has dropped what it shares.
            let registry = their_shared.registry.clone();
            drop((their_shared, slot));
            registry.remove(id);
        });
    if let Err(error) = started {
        shared.registry.remove(id);
        shared.registry.statistics().note_internal_error();
        shared.backend.note_refusal(1135);
        log::warning(format_args!("cannot start a thread for a connection: {error}"));
        turn_away(
            &socket,
            &ServerError::new(
                1135,
                "HY000",
                "Can't create a new thread; if you are not out of available memory, you can \
                 consult the manual for a possible OS-dependent bug",
            ),
        );
    }
}
