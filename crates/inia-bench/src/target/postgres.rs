//! PostgreSQL: its protocol of version 3, blocking, one write and (mostly) one read a request.
//!
//! A prepared statement runs as Bind, Execute, Sync in one write; values travel as text.

use super::dial;
use super::scram::{Scram, md5_answer};
use super::url::{Host, ServerPlace};
use super::{
    Answer, BulkFormat, Class, Connection, Dialect, Durability, Facts, Failure, Param, Prepared,
    Product, Result, Stopper, Target,
};
use crate::machine;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

const READ: usize = 16 << 10;
const VERSION: i32 = 3 << 16;
const CANCEL: i32 = 80_877_102;
/// A database that every server has.
const COMMON: &str = "postgres";

const SETTINGS: &[&str] = &[
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "shared_buffers",
    "max_connections",
    "data_directory",
];

/// A PostgreSQL server.
pub struct PostgresTarget {
    label: String,
    place: ServerPlace,
}

impl PostgresTarget {
    /// The server at this place.
    pub fn new(label: String, place: ServerPlace) -> PostgresTarget {
        PostgresTarget { label, place }
    }

    fn open(&self, database: &str, patience: Duration) -> Result<Postgres> {
        let unreachable = |what: String| {
            Failure::new(Class::Unreachable, format!("{}: cannot connect: {what}", self.label))
        };
        let connected = dial_to(&self.place.host, patience).and_then(|stream| {
            stream.wait_at_most(Some(patience))?;
            Ok(stream)
        });
        let stream = connected.map_err(|error| unreachable(error.to_string()))?;
        let mut connection = Postgres::over(stream, self.place.host.clone());
        connection.login(&self.place, database).map_err(|failure| match failure.class {
            Class::Unreachable => unreachable(dial::silent(patience, "PostgreSQL")),
            Class::Lost => {
                let message =
                    format!("{}: is it a server of PostgreSQL's protocol?", failure.message);
                Failure { message, ..failure }.during(&self.label)
            }
            _ => failure.during(&self.label),
        })?;
        let waits = connection.stream.wait_at_most(None);
        waits.map_err(|error| unreachable(error.to_string()))?;
        Ok(connection)
    }
}

impl Target for PostgresTarget {
    fn label(&self) -> &str {
        &self.label
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        let mut connection = self.open(&self.place.database, dial::CROWD)?;
        // Notices such as "table does not exist, skipping" are of no use here.
        connection.query("SET client_min_messages = warning", &mut Answer::new())?;
        Ok(Box::new(connection))
    }

    fn create_database(&self) -> Result<()> {
        let mut connection = self.open(COMMON, dial::PATIENCE)?;
        let name = &self.place.database;
        match connection.query(&format!("CREATE DATABASE \"{name}\""), &mut Answer::new()) {
            // It is there, or is being made.
            Err(failure) if failure.code == "42P04" || failure.code == "23505" => Ok(()),
            other => other,
        }
    }

    fn facts(&self) -> Result<Facts> {
        let mut connection = self.open(COMMON, dial::PATIENCE)?;
        let mut answer = Answer::new();
        connection.query("SHOW server_version", &mut answer)?;
        let version = answer.text(0, 0).unwrap_or_default();
        let mut settings = BTreeMap::new();
        for name in SETTINGS {
            // Some are for superusers only.
            if connection.query(&format!("SHOW {name}"), &mut answer).is_ok() {
                settings.insert((*name).to_owned(), answer.text(0, 0).unwrap_or_default());
            }
        }
        let is = |name: &str, value: &str| settings.get(name).is_some_and(|held| held == value);
        let off = is("fsync", "off") || is("synchronous_commit", "off");
        let durability = if off { Durability::Relaxed } else { Durability::Durable };
        let pid = machine::listening_process(&self.place.host);
        Ok(Facts {
            product: Product::Postgres,
            version,
            durability,
            max_clients: settings.get("max_connections").and_then(|value| value.parse().ok()),
            data_dir: settings.remove("data_directory").filter(|_| pid.is_some()),
            settings,
            pid,
        })
    }
}

trait Duplex: Read + Write + Send {
    /// How long a read waits; for ever if none.
    fn wait_at_most(&self, time: Option<Duration>) -> io::Result<()>;
}

impl Duplex for TcpStream {
    fn wait_at_most(&self, time: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(time)
    }
}

impl Duplex for UnixStream {
    fn wait_at_most(&self, time: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(time)
    }
}

/// Invariant: `buf[start..end]` are received bytes not yet looked at.
struct Postgres {
    stream: Box<dyn Duplex>,
    host: Host,
    /// Process and secret that a request to cancel names.
    key: Vec<u8>,
    out: Vec<u8>,
    buf: Vec<u8>,
    start: usize,
    end: usize,
    prepared: u32,
}

fn lost(error: &io::Error) -> Failure {
    if dial::timed_out(error) {
        return Failure::new(Class::Unreachable, "no answer");
    }
    Failure::new(Class::Lost, format!("connection lost: {error}"))
}

fn malformed() -> Failure {
    Failure::new(Class::Lost, "the server's bytes make no sense")
}

fn dial_to(host: &Host, patience: Duration) -> io::Result<Box<dyn Duplex>> {
    match host {
        Host::Tcp(host, port) => {
            dial::tcp(host, *port, patience).map(|s| Box::new(s) as Box<dyn Duplex>)
        }
        Host::Unix(path) => UnixStream::connect(path).map(|s| Box::new(s) as Box<dyn Duplex>),
    }
}

/// The protocol's request to cancel, over a connection of its own.
struct Canceller {
    host: Host,
    key: Vec<u8>,
}

impl Stopper for Canceller {
    fn stop(&self) -> Result<()> {
        let mut stream = dial_to(&self.host, dial::PATIENCE).map_err(|error| lost(&error))?;
        let length = 8 + self.key.len() as i32;
        let request = [&length.to_be_bytes()[..], &CANCEL.to_be_bytes(), &self.key].concat();
        stream.write_all(&request).map_err(|error| lost(&error))?;
        // The server closes the connection when it has passed the request on.
        let _ = stream.read(&mut [0]);
        Ok(())
    }
}

impl Postgres {
    fn over(stream: Box<dyn Duplex>, host: Host) -> Postgres {
        let (out, key, buf) = (Vec::new(), Vec::new(), vec![0; READ]);
        Postgres { stream, host, key, out, buf, start: 0, end: 0, prepared: 0 }
    }

    /// Appends a message; its length is filled in.
    fn message(&mut self, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
        self.out.push(kind);
        let at = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        body(&mut self.out);
        let length = (self.out.len() - at) as i32;
        self.out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn send(&mut self) -> Result<()> {
        let sent = self.stream.write_all(&self.out);
        self.out.clear();
        sent.map_err(|error| lost(&error))
    }

    /// The next message: its kind, and where its body lies in the buffer.
    fn receive(&mut self) -> Result<(u8, std::ops::Range<usize>)> {
        loop {
            let held = &self.buf[self.start..self.end];
            if let Some(&[kind, a, b, c, d]) = held.first_chunk::<5>() {
                let length = u32::from_be_bytes([a, b, c, d]) as usize;
                if !(4..1 << 30).contains(&length) {
                    return Err(malformed());
                }
                if held.len() > length {
                    let body = self.start + 5..self.start + 1 + length;
                    self.start = body.end;
                    return Ok((kind, body));
                }
                self.make_room(length + 1);
            } else {
                self.make_room(READ / 4);
            }
            match self.stream.read(&mut self.buf[self.end..]) {
                Ok(0) => return Err(lost(&io::ErrorKind::UnexpectedEof.into())),
                Ok(n) => self.end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(lost(&error)),
            }
        }
    }

    /// Room for `needed` bytes from `start` on.
    fn make_room(&mut self, needed: usize) {
        if self.start == self.end || self.buf.len() - self.start < needed {
            self.buf.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buf.len() < needed {
            self.buf.resize(needed.next_power_of_two(), 0);
        }
    }

    fn login(&mut self, place: &ServerPlace, database: &str) -> Result<()> {
        self.out.extend_from_slice(&[0; 4]);
        self.out.extend_from_slice(&VERSION.to_be_bytes());
        for text in ["user", &place.user, "database", database, "client_encoding", "UTF8"] {
            self.out.extend_from_slice(text.as_bytes());
            self.out.push(0);
        }
        self.out.push(0);
        let length = self.out.len() as i32;
        self.out[..4].copy_from_slice(&length.to_be_bytes());
        self.send()?;
        let mut nonce = [0u8; 18];
        getrandom::fill(&mut nonce)
            .map_err(|error| Failure::new(Class::Usage, format!("no random bytes: {error}")))?;
        let mut scram = Scram::new(&place.password, super::scram::to_base64(&nonce));
        loop {
            let (kind, body) = self.receive()?;
            let body = self.buf[body].to_vec();
            match kind {
                b'R' => self.authenticate(&body, place, &mut scram)?,
                b'E' => return Err(failure(&body)),
                b'K' => self.key = body,
                b'Z' => return Ok(()),
                _ => {}
            }
        }
    }

    fn authenticate(&mut self, body: &[u8], place: &ServerPlace, scram: &mut Scram) -> Result<()> {
        let refused = |what: &str| Failure::new(Class::Refused, what.to_owned());
        let (code, rest) = body.split_first_chunk::<4>().ok_or_else(malformed)?;
        let text = || String::from_utf8_lossy(rest).into_owned();
        let answer: Vec<u8> = match u32::from_be_bytes(*code) {
            0 => return Ok(()),
            3 => [place.password.as_bytes(), &[0]].concat(),
            5 => {
                let answer = md5_answer(&place.user, &place.password, rest);
                [answer.as_bytes(), &[0]].concat()
            }
            10 => {
                let first = scram.first();
                let length = (first.len() as i32).to_be_bytes();
                [b"SCRAM-SHA-256\0", &length[..], first.as_bytes()].concat()
            }
            11 => scram.answer(&text()).ok_or_else(malformed)?.into_bytes(),
            12 if scram.accepts(&text()) => return Ok(()),
            12 => return Err(refused("the server does not know the password")),
            other => return Err(refused(&format!("authentication method {other} is not known"))),
        };
        self.message(b'p', |out| out.extend_from_slice(&answer));
        self.send()
    }

    /// Reads the replies up to ReadyForQuery; the first error is returned then.
    fn replies(&mut self, answer: &mut Answer) -> Result<()> {
        answer.clear();
        let mut outcome = Ok(());
        loop {
            let (kind, body) = self.receive()?;
            let body = &self.buf[body];
            match kind {
                b'D' => row(body, answer).ok_or_else(malformed)?,
                b'C' => answer.set_affected(affected(body), 0),
                b'E' if outcome.is_ok() => outcome = Err(failure(body)),
                // COPY waits for its rows.
                b'G' | b'Z' => return outcome,
                _ => {}
            }
        }
    }
}

fn row(body: &[u8], answer: &mut Answer) -> Option<()> {
    let (count, mut rest) = body.split_first_chunk::<2>()?;
    let count = usize::from(u16::from_be_bytes(*count));
    answer.set_columns(count);
    for _ in 0..count {
        let (length, tail) = rest.split_first_chunk::<4>()?;
        rest = tail;
        match usize::try_from(i32::from_be_bytes(*length)) {
            Err(_) => answer.push_null(),
            Ok(length) => {
                answer.push_text(rest.get(..length)?);
                rest = &rest[length..];
            }
        }
    }
    Some(())
}

/// The number at the end of `UPDATE 5`.
fn affected(body: &[u8]) -> u64 {
    let text = std::str::from_utf8(body).unwrap_or_default().trim_end_matches('\0');
    text.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn failure(body: &[u8]) -> Failure {
    let fields = body.split(|&byte| byte == 0);
    let field = |name: u8| {
        let found = fields.clone().find(|field| field.first() == Some(&name));
        found.map(|field| String::from_utf8_lossy(&field[1..]).into_owned()).unwrap_or_default()
    };
    let (code, message) = (field(b'C'), field(b'M'));
    let class = match code.as_str() {
        "40001" | "40P01" | "55P03" => Class::Retry,
        "23505" => Class::Duplicate,
        "42501" => Class::Privilege,
        "53300" => Class::TooManyClients,
        "53100" => Class::DiskFull,
        "57P01" | "57P02" | "57P03" => Class::Lost,
        code if code.starts_with("28") => Class::Refused,
        _ => Class::Statement,
    };
    Failure { class, message: format!("ERROR {code}: {message}"), code }
}

impl Connection for Postgres {
    fn stopper(&mut self) -> Result<Option<Box<dyn Stopper>>> {
        Ok(Some(Box::new(Canceller { host: self.host.clone(), key: self.key.clone() })))
    }

    fn query(&mut self, sql: &str, answer: &mut Answer) -> Result<()> {
        self.message(b'Q', |out| {
            out.extend_from_slice(sql.as_bytes());
            out.push(0);
        });
        self.send()?;
        self.replies(answer)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        self.prepared += 1;
        let name = format!("s{}\0", self.prepared);
        self.message(b'P', |out| {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(sql.as_bytes());
            out.extend_from_slice(&[0, 0, 0]);
        });
        self.message(b'S', |_| {});
        self.send()?;
        self.replies(&mut Answer::new())?;
        Ok(Prepared(self.prepared))
    }

    fn execute(
        &mut self,
        statement: Prepared,
        params: &[Param<'_>],
        answer: &mut Answer,
    ) -> Result<()> {
        self.message(b'B', |out| bind(out, statement, params));
        self.message(b'E', |out| out.extend_from_slice(&[0; 5]));
        self.message(b'S', |_| {});
        self.send()?;
        self.replies(answer)
    }

    fn bulk_format(&mut self) -> BulkFormat {
        BulkFormat::Copy
    }

    fn bulk(&mut self, table: &str, columns: &str, rows: &str, answer: &mut Answer) -> Result<()> {
        self.query(&format!("COPY {table} ({columns}) FROM STDIN"), answer)?;
        self.message(b'd', |out| out.extend_from_slice(rows.as_bytes()));
        self.message(b'c', |_| {});
        self.send()?;
        self.replies(answer)
    }
}

/// Body of Bind: the unnamed portal, the statement, all parameters and results as text.
fn bind(out: &mut Vec<u8>, statement: Prepared, params: &[Param<'_>]) {
    let mut text = format!("\0s{}\0", statement.0);
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(&(params.len() as u16).to_be_bytes());
    for param in params {
        text.clear();
        // Writing to a string cannot fail.
        let _ = match param {
            Param::Null => {
                out.extend_from_slice(&(-1i32).to_be_bytes());
                continue;
            }
            Param::Int(value) => write!(text, "{value}"),
            Param::Double(value) => write!(text, "{value:?}"),
            Param::Text(value) => text.write_str(value),
        };
        out.extend_from_slice(&(text.len() as i32).to_be_bytes());
        out.extend_from_slice(text.as_bytes());
    }
    out.extend_from_slice(&[0, 0]);
}
