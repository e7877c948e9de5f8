//! Inia's server, MySQL and MariaDB: one blocking connection, one write and one read a request.

use super::dial;
use super::url::{Host, ServerPlace};
use super::{
    Answer, BulkFormat, Class, Connection, Dialect, Durability, Facts, Failure, Param, Prepared,
    Product, Result, Stopper, Target,
};
use crate::machine;
use inia_wire::caps::Capabilities;
use inia_wire::client::{Client, ClientError, LoginOptions, Outcome, Visitor};
use inia_wire::codec::{put_lenenc_bytes, put_u16};
use inia_wire::column::type_code as ty;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

/// Settings that decide durability, memory and the number of clients.
const SETTINGS: &[&str] = &[
    "innodb_flush_log_at_trx_commit",
    "sync_binlog",
    "log_bin",
    "innodb_doublewrite",
    "innodb_buffer_pool_size",
    "innodb_flush_method",
    "performance_schema",
    "transaction_isolation",
    "tx_isolation",
    "sql_mode",
    "max_connections",
    "datadir",
];

/// A server that speaks MySQL's protocol.
pub struct MySqlTarget {
    label: String,
    place: ServerPlace,
}

impl MySqlTarget {
    /// The server at this place.
    pub fn new(label: String, place: ServerPlace) -> MySqlTarget {
        MySqlTarget { label, place }
    }

    fn copy(&self) -> MySqlTarget {
        MySqlTarget { label: self.label.clone(), place: self.place.clone() }
    }

    fn client(&self, database: Option<&str>, patience: Duration) -> Result<Client<Stream>> {
        let unreachable = |what: String| {
            Failure::new(Class::Unreachable, format!("{}: cannot connect: {what}", self.label))
        };
        let stream = Stream::connect(&self.place, patience);
        let stream = stream.map_err(|error| unreachable(error.to_string()))?;
        let options = LoginOptions {
            user: self.place.user.clone(),
            password: self.place.password.clone(),
            database: database.map(str::to_owned),
            // A connection of the lab runs one statement at a time and tracks nothing. As
            // sysbench's, it gets an EOF packet behind the definitions of columns.
            capabilities: Capabilities::CLIENT
                .with(Capabilities::FOUND_ROWS)
                .with(Capabilities::LOCAL_FILES)
                .without(Capabilities::DEPRECATE_EOF)
                .without(Capabilities::SESSION_TRACK)
                .without(Capabilities::MULTI_STATEMENTS),
            // utf8mb4_general_ci, which servers before 8.0 know too.
            collation: 45,
            ..LoginOptions::default()
        };
        let mut client = Client::connect(stream, &options).map_err(|error| match error {
            ClientError::Io(error) if dial::timed_out(&error) => {
                unreachable(dial::silent(patience, "MySQL"))
            }
            error => failure(error).during(&self.label),
        })?;
        let waits = client.stream().wait_at_most(None);
        waits.map_err(|error| unreachable(error.to_string()))?;
        Ok(client)
    }

    fn is_floor(client: &Client<Stream>) -> bool {
        client.greeting().version.ends_with("-floor")
    }
}

impl Target for MySqlTarget {
    fn label(&self) -> &str {
        &self.label
    }

    fn dialect(&self) -> Dialect {
        Dialect::MySql
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        let client = self.client(Some(&self.place.database), dial::CROWD)?;
        let killer = Arc::new(self.copy());
        Ok(Box::new(MySql { client, killer, statements: Vec::new(), takes_files: None }))
    }

    fn create_database(&self) -> Result<()> {
        let mut client = self.client(None, dial::PATIENCE)?;
        if !MySqlTarget::is_floor(&client) {
            let name = self.place.database.replace('`', "``");
            client.query(&format!("CREATE DATABASE IF NOT EXISTS `{name}`")).map_err(failure)?;
        }
        Ok(())
    }

    fn facts(&self) -> Result<Facts> {
        let mut client = self.client(None, dial::PATIENCE)?;
        let pid = machine::listening_process(&self.place.host);
        if MySqlTarget::is_floor(&client) {
            return Ok(Facts {
                product: Product::Floor,
                version: client.greeting().version.clone(),
                settings: BTreeMap::new(),
                durability: Durability::Unknown,
                max_clients: None,
                pid,
                data_dir: None,
            });
        }
        let version = text(&mut client, "SELECT VERSION()")?.unwrap_or_default();
        let mut settings = BTreeMap::new();
        for name in SETTINGS {
            // Not every server knows every setting.
            if let Ok(Some(value)) = text(&mut client, &format!("SELECT @@GLOBAL.{name}")) {
                settings.insert((*name).to_owned(), value);
            }
        }
        let product = match &version {
            version if version.contains("inia") => Product::Inia,
            version if version.contains("MariaDB") => Product::MariaDb,
            _ => Product::MySql,
        };
        Ok(Facts {
            product,
            durability: durability(&settings),
            max_clients: settings.get("max_connections").and_then(|value| value.parse().ok()),
            data_dir: settings.remove("datadir").filter(|_| pid.is_some()),
            version,
            settings,
            pid,
        })
    }
}

/// Durable is a server that syncs its log, and its binary log if it has one, at each commit.
fn durability(settings: &BTreeMap<String, String>) -> Durability {
    let setting = |name: &str| settings.get(name).map(String::as_str);
    let binary_log = matches!(setting("log_bin"), Some("1" | "ON"));
    match (setting("innodb_flush_log_at_trx_commit"), setting("sync_binlog")) {
        (Some("1"), Some("1")) => Durability::Durable,
        (Some("1"), _) if !binary_log => Durability::Durable,
        (None, _) => Durability::Unknown,
        _ => Durability::Relaxed,
    }
}

fn text(client: &mut Client<Stream>, sql: &str) -> Result<Option<String>> {
    let mut answer = Answer::new();
    client.query_visit(sql, &mut Cells(&mut answer)).map_err(failure)?;
    Ok(answer.text(0, 0))
}

/// A failure from MySQL's error number.
fn failure(error: ClientError) -> Failure {
    let message = error.to_string();
    let Some(code) = error.code() else {
        return Failure::new(Class::Lost, message);
    };
    Failure { class: class_of(code), code: code.to_string(), message }
}

/// What one of MySQL's error numbers means for the caller.
pub fn class_of(code: u16) -> Class {
    match code {
        1213 | 1205 | 1020 | 3572 => Class::Retry,
        1062 => Class::Duplicate,
        1045 | 1698 | 1862 => Class::Refused,
        1044 | 1142 | 1143 | 1227 | 1370 => Class::Privilege,
        1040 | 1203 | 1226 => Class::TooManyClients,
        1021 | 1114 => Class::DiskFull,
        1053 | 1927 | 3169 => Class::Lost,
        _ => Class::Statement,
    }
}

enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

struct Stream {
    socket: Socket,
    /// See [`ServerPlace::poll`].
    poll: bool,
}

impl Stream {
    /// Connects; reads wait that long until [`Stream::wait_at_most`] says otherwise.
    fn connect(place: &ServerPlace, patience: Duration) -> io::Result<Stream> {
        let socket = match &place.host {
            Host::Tcp(host, port) => Socket::Tcp(dial::tcp(host, *port, patience)?),
            Host::Unix(path) => Socket::Unix(UnixStream::connect(path)?),
        };
        let stream = Stream { socket, poll: place.poll };
        stream.wait_at_most(Some(patience))?;
        Ok(stream)
    }

    fn wait_at_most(&self, time: Option<Duration>) -> io::Result<()> {
        match &self.socket {
            Socket::Tcp(stream) => stream.set_read_timeout(time),
            Socket::Unix(stream) => stream.set_read_timeout(time),
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Unix(stream) => stream.as_fd(),
        }
    }

    fn read_or_poll(&self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match recv(self.fd().as_raw_fd(), buf, MsgFlags::MSG_DONTWAIT) {
                Err(Errno::EAGAIN) => {
                    let mut wanted = [PollFd::new(self.fd(), PollFlags::POLLIN)];
                    match poll(&mut wanted, PollTimeout::NONE) {
                        Ok(_) | Err(Errno::EINTR) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                Err(Errno::EINTR) => {}
                done => return done.map_err(io::Error::from),
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.poll {
            return self.read_or_poll(buf);
        }
        match &mut self.socket {
            Socket::Tcp(stream) => stream.read(buf),
            Socket::Unix(stream) => stream.read(buf),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match &mut self.socket {
            Socket::Tcp(stream) => stream.write(buf),
            Socket::Unix(stream) => stream.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Cells<'a>(&'a mut Answer);

impl Visitor for Cells<'_> {
    fn columns(&mut self, count: usize) {
        self.0.clear();
        self.0.set_columns(count);
    }

    fn null(&mut self) {
        self.0.push_null();
    }

    fn int(&mut self, value: i64) {
        self.0.push_int(value);
    }

    fn double(&mut self, value: f64) {
        self.0.push_double(value);
    }

    fn bytes(&mut self, text: &[u8]) {
        self.0.push_text(text);
    }
}

/// A prepared statement, and the types that the server knows its parameters to have.
struct Known {
    id: u32,
    types: Vec<u8>,
}

struct MySql {
    client: Client<Stream>,
    /// The server that a statement of KILL goes to.
    killer: Arc<MySqlTarget>,
    statements: Vec<Known>,
    /// Whether the server allows LOAD DATA LOCAL, once it was asked.
    takes_files: Option<bool>,
}

/// KILL from a connection of its own, and the end of the connection's socket.
struct Killer {
    target: Arc<MySqlTarget>,
    connection: u32,
    socket: Socket,
}

impl Stopper for Killer {
    fn stop(&self) -> Result<()> {
        let mut client = self.target.client(None, dial::PATIENCE)?;
        client.query(&format!("KILL QUERY {}", self.connection)).map(drop).map_err(failure)
    }

    fn sever(&self) {
        if let Ok(mut client) = self.target.client(None, dial::PATIENCE) {
            // It may have ended meanwhile.
            let _ = client.query(&format!("KILL {}", self.connection));
        }
        // A socket that is closed already needs no more.
        let _ = match &self.socket {
            Socket::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Socket::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Connection for MySql {
    fn stopper(&mut self) -> Result<Option<Box<dyn Stopper>>> {
        let copied = match &self.client.stream().socket {
            Socket::Tcp(stream) => stream.try_clone().map(Socket::Tcp),
            Socket::Unix(stream) => stream.try_clone().map(Socket::Unix),
        };
        let socket = copied.map_err(|error| Failure::new(Class::Usage, error.to_string()))?;
        let connection = self.client.greeting().connection_id;
        Ok(Some(Box::new(Killer { target: self.killer.clone(), connection, socket })))
    }

    fn query(&mut self, sql: &str, answer: &mut Answer) -> Result<()> {
        answer.clear();
        let done = self.client.query_visit(sql, &mut Cells(answer)).map_err(failure)?;
        finish(answer, done);
        Ok(())
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        let id = self.client.prepare(sql).map_err(failure)?.id;
        self.statements.push(Known { id, types: Vec::new() });
        Ok(Prepared(self.statements.len() as u32 - 1))
    }

    fn execute(
        &mut self,
        statement: Prepared,
        params: &[Param<'_>],
        answer: &mut Answer,
    ) -> Result<()> {
        answer.clear();
        let known = self.statements.get_mut(statement.0 as usize);
        let known = known.ok_or_else(|| Failure::wrong("a statement of another connection"))?;
        let (id, types) = (known.id, &mut known.types);
        let body = |out: &mut Vec<u8>| encode(out, params, types);
        let done = self.client.execute_visit(id, body, &mut Cells(answer));
        finish(answer, done.map_err(failure)?);
        Ok(())
    }

    /// The text of LOAD DATA where the server takes it.
    fn bulk_format(&mut self) -> BulkFormat {
        let client = &mut self.client;
        let takes = *self.takes_files.get_or_insert_with(
            || matches!(text(client, "SELECT @@GLOBAL.local_infile"), Ok(Some(on)) if on == "1"),
        );
        if takes { BulkFormat::Copy } else { BulkFormat::Values }
    }

    fn bulk(&mut self, table: &str, columns: &str, rows: &str, answer: &mut Answer) -> Result<()> {
        if self.takes_files != Some(true) {
            let insert = format!("INSERT INTO {table} ({columns}) VALUES {rows}");
            return self.query(&insert, answer);
        }
        let sql = load_statement(table, columns);
        let done = self.client.load_local(&sql, rows.as_bytes()).map_err(failure)?;
        answer.clear();
        answer.set_affected(done.affected_rows, done.last_insert_id);
        if done.warnings == 0 {
            return Ok(());
        }
        // LOCAL makes warnings of errors: rows were changed or left out.
        self.query("SHOW WARNINGS LIMIT 1", answer)?;
        let (code, message) = (answer.text(0, 1), answer.text(0, 2));
        let code = code.unwrap_or_default();
        let class = class_of(code.parse().unwrap_or_default());
        Err(Failure { class, code, message: message.unwrap_or_default() })
    }
}

/// LOAD DATA LOCAL of rows in [`BulkFormat::Copy`].
pub fn load_statement(table: &str, columns: &str) -> String {
    format!(
        "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET utf8mb4 \
         FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' ({columns})"
    )
}

fn finish(answer: &mut Answer, done: Outcome) {
    answer.set_affected(done.affected_rows, done.last_insert_id);
}

fn type_of(param: &Param<'_>) -> u8 {
    match param {
        Param::Null => ty::NULL,
        Param::Int(_) => ty::LONGLONG,
        Param::Double(_) => ty::DOUBLE,
        Param::Text(_) => ty::VAR_STRING,
    }
}

/// The body of COM_STMT_EXECUTE: null bits, types where the server does not know them, values.
/// Types are sent once, as the usual client libraries do.
fn encode(out: &mut Vec<u8>, params: &[Param<'_>], known: &mut Vec<u8>) {
    if params.is_empty() {
        return;
    }
    let nulls = out.len();
    out.resize(nulls + params.len().div_ceil(8), 0);
    for (i, _) in params.iter().enumerate().filter(|(_, param)| **param == Param::Null) {
        out[nulls + i / 8] |= 1 << (i % 8);
    }
    // What is NULL fits every type.
    let fits = |(param, &known): (&Param<'_>, &u8)| {
        let wanted = type_of(param);
        wanted == known || wanted == ty::NULL
    };
    if known.len() == params.len() && params.iter().zip(known.iter()).all(fits) {
        out.push(0);
    } else {
        known.clear();
        known.extend(params.iter().map(type_of));
        out.push(1);
        known.iter().for_each(|&kind| put_u16(out, u16::from(kind)));
    }
    for param in params {
        match param {
            Param::Null => {}
            Param::Int(value) => out.extend_from_slice(&value.to_le_bytes()),
            Param::Double(value) => out.extend_from_slice(&value.to_le_bytes()),
            Param::Text(text) => put_lenenc_bytes(out, text.as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests;
