//! A server in a directory of its own, with sessions whose statements are a few fixed words.

use inia::config::Config;
use inia::data_dir::DataDir;
use inia::server::auth::AccountLookup;
use inia::server::backend::{Backend, ClientInfo, ClientSession, Interrupt, Prepared};
use inia::server::{Opened, Server};
use inia_base::collation::Charset;
use inia_base::collation::Collation;
use inia_base::column::{Completion, ResultColumn, RowSink, SessionChange, status};
use inia_base::datatype::{DataType, IntWidth};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::process::Processes;
use inia_base::rt::WaitCell;
use inia_base::value::Value;
use inia_sql::{LoginAccount, LoginRequirement};
use inia_wire::auth;
use inia_wire::client::{Client, ClientError, LoginOptions};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::collections::HashMap;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// A directory that is removed at the end.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    pub(crate) fn new() -> TempDir {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("inia-test-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        TempDir(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Accounts beside root: by plugin, and two that may not log in.
pub(crate) struct Accounts;

impl AccountLookup for Accounts {
    fn account(&self, user: &str, host: &str) -> Option<LoginAccount> {
        let (plugin, auth_string) = match user {
            "root" => (auth::CACHING_SHA2, Vec::new()),
            "native" => (auth::NATIVE, auth::native_stored(b"secret")),
            "sha256" => {
                let salt = b"twenty bytes of salt";
                (auth::SHA256, inia_base::password::sha256_stored(b"secret", salt))
            }
            "sha2" | "locked" | "expired" => {
                (auth::CACHING_SHA2, auth::sha2_stored(b"secret", b"twenty bytes of salt"))
            }
            _ => return None,
        };
        Some(LoginAccount {
            user: user.to_owned(),
            host: host.to_owned(),
            plugin: plugin.to_owned(),
            auth_string,
            second_password: Vec::new(),
            locked: user == "locked",
            expired: user == "expired",
            max_connections: 0,
            administers: false,
            requires: LoginRequirement::Nothing,
        })
    }
}

/// An RSA key for all servers; making one takes long in unoptimised code.
fn key() -> &'static str {
    static KEY: OnceLock<String> = OnceLock::new();
    KEY.get_or_init(|| auth::KeyPair::generate().unwrap().to_pem().unwrap())
}

/// A client's side of TLS.
pub(crate) type TlsStream = rustls::StreamOwned<rustls::ClientConnection, TcpStream>;

/// A running server.
pub(crate) struct TestServer {
    server: Option<Server>,
    pub(crate) config: Config,
    pub(crate) closed: Arc<AtomicBool>,
    _dir: TempDir,
}

impl TestServer {
    pub(crate) fn start() -> TestServer {
        TestServer::start_with(|_| {})
    }

    pub(crate) fn start_with(change: impl FnOnce(&mut Config)) -> TestServer {
        let dir = TempDir::new();
        let mut config = Config { data: dir.path().join("data"), port: 0, ..Config::default() };
        change(&mut config);
        std::fs::create_dir_all(&config.data).unwrap();
        std::fs::write(config.data.join("private_key.pem"), key()).unwrap();
        let closed = Arc::new(AtomicBool::new(false));
        let server = start(&config, closed.clone()).unwrap();
        TestServer { server: Some(server), config, closed, _dir: dir }
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    pub(crate) fn port(&self) -> u16 {
        self.server().address().port()
    }

    pub(crate) fn stream(&self) -> TcpStream {
        TcpStream::connect(self.server().address()).unwrap()
    }

    pub(crate) fn log_in(&self, options: &LoginOptions) -> Result<Client<TcpStream>, ClientError> {
        Client::connect(self.stream(), options)
    }

    /// Logs in over TLS, trusting the server's own certificate: the client, and the socket below.
    pub(crate) fn log_in_tls(&self, options: &LoginOptions) -> (Client<TlsStream>, TcpStream) {
        connect_tls(self.stream(), &self.config.data, options)
    }

    pub(crate) fn client(&self) -> Client<TcpStream> {
        self.log_in(&LoginOptions::default()).unwrap()
    }

    pub(crate) fn shutdown(&mut self) {
        self.server.take().unwrap().shutdown().unwrap();
    }
}

/// Logs in over TLS on an open stream, trusting the certificate in `data`: the client, and the
/// socket below.
pub(crate) fn connect_tls(
    stream: TcpStream,
    data: &Path,
    options: &LoginOptions,
) -> (Client<TlsStream>, TcpStream) {
    let certificate = data.join("server-cert.pem");
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let upgrade = |stream| {
        let name = ServerName::try_from("localhost").unwrap();
        let connection = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
        Ok(rustls::StreamOwned::new(connection, stream))
    };
    let below = stream.try_clone().unwrap();
    (Client::connect_tls(stream, options, upgrade).unwrap(), below)
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.shutdown().unwrap();
        }
    }
}

/// Starts a server with canned sessions.
pub(crate) fn start(config: &Config, closed: Arc<AtomicBool>) -> Result<Server, String> {
    let open = |_: &DataDir, processes| {
        let backend = Arc::new(Canned { processes, closed });
        Ok(Opened { backend, accounts: Arc::new(Accounts) })
    };
    Server::start(config, open).map_err(|error| error.to_string())
}

struct Canned {
    processes: Arc<dyn Processes>,
    closed: Arc<AtomicBool>,
}

impl Backend for Canned {
    fn session(&self, client: ClientInfo) -> Box<dyn ClientSession> {
        Box::new(Session {
            client,
            processes: self.processes.clone(),
            database: None,
            prepared: HashMap::new(),
            next_id: 1,
            stop: Arc::default(),
        })
    }

    fn close(&self) -> Result<(), String> {
        self.closed.store(true, Ordering::SeqCst);
        Ok(())
    }
}

#[derive(Default)]
struct Stop(WaitCell);

impl Interrupt for Stop {
    fn interrupt(&self, _connection: bool) {
        self.0.wake();
    }
}

struct Session {
    client: ClientInfo,
    processes: Arc<dyn Processes>,
    database: Option<String>,
    prepared: HashMap<u32, String>,
    next_id: u32,
    stop: Arc<Stop>,
}

fn column(name: &str, data_type: DataType) -> ResultColumn {
    ResultColumn {
        schema: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: name.to_owned(),
        org_name: String::new(),
        data_type,
        flags: 0,
        length: 255,
        decimals: 31,
    }
}

fn int(name: &str) -> ResultColumn {
    column(name, DataType::Int { width: IntWidth::Big, unsigned: false })
}

fn text(name: &str) -> ResultColumn {
    column(name, DataType::VarChar { chars: 255, collation: Collation::DEFAULT })
}

fn error(message: &str) -> SqlError {
    SqlError::new(ErrorCode::UnknownError, &[&message])
}

fn done() -> Completion {
    Completion { status: status::AUTOCOMMIT, ..Completion::default() }
}

impl Session {
    /// One statement of the fixed words.
    fn statement(
        &mut self,
        sql: &str,
        params: &[Value],
        sink: &mut dyn RowSink,
        more: bool,
    ) -> Result<(), SqlError> {
        let mut words = sql.split_whitespace();
        let (verb, object) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let n = || object.parse::<u64>().unwrap_or(0);
        match verb {
            "DO" => {}
            "USE" => {
                self.use_database(object)?;
                let changes = vec![SessionChange::Schema(object.to_owned())];
                return sink.complete(&Completion { changes, ..done() }, more);
            }
            "WHO" => {
                let client = &self.client;
                let who = format!("{}@{} {}", client.user, client.host, client.connection_id);
                one_text(sink, who.as_bytes())?;
            }
            "PARAMS" => one_text(sink, format!("{params:?}").as_bytes())?,
            "BIG" => one_text(sink, &vec![b'x'; n() as usize])?,
            "LENGTH" => one_text(sink, sql.len().to_string().as_bytes())?,
            "SELECT" => {
                // COM_FIELD_LIST asks for "SELECT * FROM `t` LIMIT 0".
                sink.columns(&[int("id"), text("name")])?;
            }
            "ROWS" => {
                sink.columns(&[int("id"), text("name")])?;
                for i in 0..n() {
                    sink.begin_row();
                    sink.int(i as i64);
                    if i % 2 == 0 {
                        sink.null()
                    } else {
                        sink.bytes(b"odd")
                    }
                    sink.end_row()?;
                }
            }
            "PROCESSES" => {
                sink.columns(&[text("line")])?;
                for p in self.processes.list() {
                    sink.begin_row();
                    let line = format!("{} {:?} {} {:?}", p.user, p.db, p.command, p.info);
                    sink.bytes(line.as_bytes());
                    sink.end_row()?;
                }
            }
            "PARTIAL" => {
                sink.columns(&[int("id")])?;
                sink.begin_row();
                return Err(error("half a row"));
            }
            "WAIT" => {
                self.stop.0.wait(None);
                return Err(error("interrupted"));
            }
            "PANIC" => panic!("a statement panics on purpose"),
            _ => return Err(error("no such word")),
        }
        sink.complete(&done(), more)
    }
}

fn one_text(sink: &mut dyn RowSink, value: &[u8]) -> Result<(), SqlError> {
    sink.columns(&[text("value")])?;
    sink.begin_row();
    sink.bytes(value);
    sink.end_row()
}

impl ClientSession for Session {
    fn execute(&mut self, sql: &[u8], sink: &mut dyn RowSink) -> Result<(), SqlError> {
        let sql = std::str::from_utf8(sql).unwrap();
        let statements: Vec<&str> = sql.split(';').filter(|s| !s.trim().is_empty()).collect();
        for (i, statement) in statements.iter().enumerate() {
            self.statement(statement, &[], sink, i + 1 < statements.len())?;
        }
        Ok(())
    }

    fn prepare(&mut self, sql: &[u8]) -> Result<Prepared, SqlError> {
        let sql = std::str::from_utf8(sql).unwrap();
        let id = self.next_id;
        self.next_id += 1;
        self.prepared.insert(id, sql.to_owned());
        let params = sql.matches('?').map(|_| text("?")).collect();
        let columns = if sql.starts_with("ROWS") { vec![int("id"), text("name")] } else { vec![] };
        Ok(Prepared { id, params, columns, warnings: 0 })
    }

    fn execute_prepared(
        &mut self,
        id: u32,
        params: &[Value],
        sink: &mut dyn RowSink,
    ) -> Result<(), SqlError> {
        let sql = self.prepared.get(&id).cloned().unwrap_or_default();
        self.statement(&sql, params, sink, false)
    }

    fn close_prepared(&mut self, id: u32) {
        self.prepared.remove(&id);
    }

    fn use_database(&mut self, name: &str) -> Result<(), SqlError> {
        if name == "nosuch" {
            return Err(SqlError::new(ErrorCode::UnknownDatabase, &[&name]));
        }
        self.database = Some(name.to_owned());
        Ok(())
    }

    fn current_database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    fn reset(&mut self) -> Result<(), SqlError> {
        self.prepared.clear();
        Ok(())
    }

    fn change_user(&mut self, client: ClientInfo) -> Result<(), SqlError> {
        self.client = client;
        self.database = None;
        Ok(())
    }

    fn set_multi_statements(&mut self, _on: bool) {}

    fn status_flags(&self) -> u16 {
        status::AUTOCOMMIT
    }

    fn client_charset(&self) -> Charset {
        Charset::Utf8mb4
    }

    fn result_collation(&self) -> u16 {
        self.client.collation
    }

    fn interrupter(&self) -> Arc<dyn Interrupt> {
        self.stop.clone()
    }
}

/// The first cell of the first row, as text.
pub(crate) fn cell(rows: &[Vec<Value>]) -> String {
    match &rows[0][0] {
        Value::Text(text) => text.clone(),
        other => format!("{other:?}"),
    }
}
