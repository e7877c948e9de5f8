//! Inia's server, MySQL and MariaDB: one blocking connection, one write and one read a request.

use super::url::{Host, Place};
use super::{
    Answer, Class, Connection, Dialect, Durability, Facts, Failure, Param, Prepared, Product,
    Result, Target,
};
use crate::machine;
use inia_wire::caps::Capabilities;
use inia_wire::client::{Client, ClientError, LoginOptions, Outcome, Visitor};
use inia_wire::codec::{put_lenenc_bytes, put_u16};
use inia_wire::column::type_code as ty;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

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
    place: Place,
}

impl MySqlTarget {
    /// The server at this place.
    pub fn new(label: String, place: Place) -> MySqlTarget {
        MySqlTarget { label, place }
    }

    fn client(&self, database: Option<&str>) -> Result<Client<Stream>> {
        let stream = Stream::connect(&self.place.host).map_err(|error| {
            let message = format!("{}: cannot connect: {error}", self.label);
            Failure::new(Class::Unreachable, message)
        })?;
        let options = LoginOptions {
            user: self.place.user.clone(),
            password: self.place.password.clone(),
            database: database.map(str::to_owned),
            // A connection of the lab runs one statement at a time and tracks nothing.
            capabilities: Capabilities::CLIENT
                .with(Capabilities::FOUND_ROWS)
                .without(Capabilities::SESSION_TRACK)
                .without(Capabilities::MULTI_STATEMENTS),
            // utf8mb4_general_ci, which servers before 8.0 know too.
            collation: 45,
            ..LoginOptions::default()
        };
        Client::connect(stream, &options).map_err(|error| failure(error).during(&self.label))
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
        Ok(Box::new(MySql { client: self.client(Some(&self.place.database))? }))
    }

    fn create_database(&self) -> Result<()> {
        let mut client = self.client(None)?;
        if !MySqlTarget::is_floor(&client) {
            let name = self.place.database.replace('`', "``");
            client.query(&format!("CREATE DATABASE IF NOT EXISTS `{name}`")).map_err(failure)?;
        }
        Ok(())
    }

    fn facts(&self) -> Result<Facts> {
        let mut client = self.client(None)?;
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

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn connect(host: &Host) -> io::Result<Stream> {
        match host {
            Host::Tcp(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port))?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
            Host::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buf),
            Stream::Unix(stream) => stream.read(buf),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(buf),
            Stream::Unix(stream) => stream.write(buf),
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

struct MySql {
    client: Client<Stream>,
}

impl Connection for MySql {
    fn query(&mut self, sql: &str, answer: &mut Answer) -> Result<()> {
        answer.clear();
        let done = self.client.query_visit(sql, &mut Cells(answer)).map_err(failure)?;
        finish(answer, done);
        Ok(())
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        Ok(Prepared(self.client.prepare(sql).map_err(failure)?.id))
    }

    fn execute(
        &mut self,
        statement: Prepared,
        params: &[Param<'_>],
        answer: &mut Answer,
    ) -> Result<()> {
        answer.clear();
        let body = |out: &mut Vec<u8>| encode(out, params);
        let done = self.client.execute_visit(statement.0, body, &mut Cells(answer));
        finish(answer, done.map_err(failure)?);
        Ok(())
    }
}

fn finish(answer: &mut Answer, done: Outcome) {
    answer.set_affected(done.affected_rows, done.last_insert_id);
}

/// The body of COM_STMT_EXECUTE: null bits, types, values.
fn encode(out: &mut Vec<u8>, params: &[Param<'_>]) {
    if params.is_empty() {
        return;
    }
    let nulls = out.len();
    out.resize(nulls + params.len().div_ceil(8), 0);
    out.push(1);
    for (i, param) in params.iter().enumerate() {
        let kind = match param {
            Param::Null => {
                out[nulls + i / 8] |= 1 << (i % 8);
                ty::NULL
            }
            Param::Int(_) => ty::LONGLONG,
            Param::Double(_) => ty::DOUBLE,
            Param::Text(_) => ty::VAR_STRING,
        };
        put_u16(out, u16::from(kind));
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
