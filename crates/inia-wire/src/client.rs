//! The client's side of the protocol over any stream: for the shell, the lab and the tests.

use crate::auth::{self, CACHING_SHA2, NATIVE, NONCE, SHA256};
use crate::caps::Capabilities;
use crate::codec::Reader;
use crate::column::{ColumnDef, type_code as ty};
use crate::command::Command;
use crate::compress::{Channel, Method};
use crate::error::{ServerError, WireError};
use crate::handshake::{Greeting, Login, decode_auth_switch};
use crate::packet::{PacketReader, PacketWriter, Received};
use crate::params::{decode_value, encode_execute};
use crate::reply::{EOF, ERR, OK, decode_eof, decode_err, decode_ok};
use inia_base::column::{Completion, flags};
use inia_base::value::Value;
use std::fmt;
use std::io::{self, Read, Write};

mod local;
mod stream;
mod visit;
pub use stream::{Head, Step};
pub use visit::{Outcome, Visitor};

/// Replies may have packets of any size.
const MAX_REPLY: usize = 1 << 30;
const ZSTD_LEVEL: u8 = 3;
/// A reply of a hundred rows should need one read.
const READ_AHEAD: usize = 32 << 10;

/// Why a call failed.
#[derive(Debug)]
pub enum ClientError {
    /// The stream failed or ended.
    Io(io::Error),
    /// The server's bytes make no sense.
    Wire(WireError),
    /// The server reports an error.
    Server(ServerError),
    /// Something this client does not do.
    Unsupported(String),
}

impl ClientError {
    /// The server's error number, if it is one.
    pub fn code(&self) -> Option<u16> {
        match self {
            ClientError::Server(error) => Some(error.code),
            _ => None,
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::Io(error) => write!(f, "connection lost: {error}"),
            ClientError::Wire(error) => error.fmt(f),
            ClientError::Server(error) => error.fmt(f),
            ClientError::Unsupported(what) => write!(f, "not supported: {what}"),
        }
    }
}

impl std::error::Error for ClientError {}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> ClientError {
        ClientError::Io(error)
    }
}

impl From<WireError> for ClientError {
    fn from(error: WireError) -> ClientError {
        ClientError::Wire(error)
    }
}

type Result<T> = std::result::Result<T, ClientError>;

/// How to log in.
#[derive(Clone, Debug)]
pub struct LoginOptions {
    /// Account name.
    pub user: String,
    /// Password; empty for none.
    pub password: String,
    /// Default database.
    pub database: Option<String>,
    /// What to ask the server for.
    pub capabilities: Capabilities,
    /// Collation of the connection.
    pub collation: u8,
    /// The plugin to start with instead of the server's default.
    pub plugin: Option<String>,
    /// Connection attributes.
    pub attributes: Vec<(String, String)>,
}

impl Default for LoginOptions {
    fn default() -> LoginOptions {
        LoginOptions {
            user: "root".to_owned(),
            password: String::new(),
            database: None,
            capabilities: Capabilities::CLIENT,
            collation: 255,
            plugin: None,
            attributes: vec![("_client_name".to_owned(), "inia".to_owned())],
        }
    }
}

/// One result of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultSet {
    /// Columns; empty for a statement without rows.
    pub columns: Vec<ColumnDef>,
    /// Rows; cells of the text protocol are `Text`, `Bytes` or `Null`.
    pub rows: Vec<Vec<Value>>,
    /// How it ended.
    pub completion: Completion,
}

/// A prepared statement on the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// Its id.
    pub id: u32,
    /// Number of parameters.
    pub params: usize,
    /// Its result's columns.
    pub columns: Vec<ColumnDef>,
    /// Warnings of the preparation.
    pub warnings: u16,
}

/// A connection to a server.
pub struct Client<S> {
    channel: Channel<S>,
    reader: PacketReader,
    writer: PacketWriter,
    greeting: Greeting,
    caps: Capabilities,
    /// More results of the last command wait to be read.
    more: Option<Rows>,
    /// Types of the columns that [`Client::execute_visit`] is reading.
    kinds: Vec<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rows {
    Text,
    Binary,
}

impl<S: Read + Write> Client<S> {
    /// Logs in over an open stream without TLS.
    pub fn connect(stream: S, options: &LoginOptions) -> Result<Client<S>> {
        let mut client = Client::greet(stream, options)?;
        client.login(options, 1, false)?;
        Ok(client)
    }

    /// Logs in over TLS, which `upgrade` starts on the raw stream.
    pub fn connect_tls<T: Read + Write>(
        stream: S,
        options: &LoginOptions,
        upgrade: impl FnOnce(S) -> io::Result<T>,
    ) -> Result<Client<T>> {
        let mut options = options.clone();
        options.capabilities = options.capabilities.with(Capabilities::SSL);
        let mut plain = Client::greet(stream, &options)?;
        if !plain.caps.has(Capabilities::SSL) {
            return Err(ClientError::Unsupported("the server offers no TLS".to_owned()));
        }
        plain.writer.set_sequence(1);
        let login = plain.login_packet(&options, Vec::new());
        login.encode_ssl_request(plain.writer.begin());
        plain.writer.end();
        plain.send()?;
        let mut client = Client {
            channel: Channel::new(upgrade(plain.channel.into_stream())?),
            reader: PacketReader::new(MAX_REPLY),
            writer: PacketWriter::new(),
            greeting: plain.greeting,
            caps: plain.caps,
            more: None,
            kinds: Vec::new(),
        };
        client.login(&options, 2, true)?;
        Ok(client)
    }

    fn greet(stream: S, options: &LoginOptions) -> Result<Client<S>> {
        let mut channel = Channel::new(stream);
        let mut reader = PacketReader::new(MAX_REPLY);
        let packet = read_packet(&mut reader, &mut channel)?;
        let payload = reader.payload(packet);
        if payload.first() == Some(&ERR) {
            return Err(ClientError::Server(decode_err(payload)?));
        }
        let greeting = Greeting::decode(payload)?;
        let mut caps = options.capabilities;
        if options.database.is_some() {
            caps = caps.with(Capabilities::CONNECT_WITH_DB);
        }
        let caps = caps.common(greeting.capabilities);
        let (writer, kinds) = (PacketWriter::new(), Vec::new());
        Ok(Client { channel, reader, writer, greeting, caps, more: None, kinds })
    }

    fn login_packet(&self, options: &LoginOptions, auth: Vec<u8>) -> Login {
        Login {
            capabilities: self.caps,
            max_packet: MAX_REPLY as u32,
            collation: options.collation,
            user: options.user.clone(),
            auth,
            database: options.database.clone(),
            plugin: Some(self.first_plugin(options)),
            attributes: options.attributes.clone(),
            zstd_level: ZSTD_LEVEL,
        }
    }

    fn first_plugin(&self, options: &LoginOptions) -> String {
        options.plugin.clone().unwrap_or_else(|| match self.greeting.plugin.as_str() {
            NATIVE => NATIVE.to_owned(),
            _ => CACHING_SHA2.to_owned(),
        })
    }

    fn login(&mut self, options: &LoginOptions, sequence: u8, secure: bool) -> Result<()> {
        let plugin = self.first_plugin(options);
        let auth = scramble(&plugin, &options.password, &self.greeting.nonce, secure)?;
        self.writer.set_sequence(sequence);
        self.reader.expect_sequence(sequence + 1);
        self.login_packet(options, auth).encode(self.writer.begin());
        self.writer.end();
        self.send()?;
        let nonce = self.greeting.nonce;
        self.authenticate(&options.password, nonce.to_vec(), secure)?;
        if let Some(method) = Method::agreed(self.caps, ZSTD_LEVEL) {
            self.channel.compress(method, MAX_REPLY);
        }
        self.reader.read_ahead(READ_AHEAD);
        Ok(())
    }

    /// Follows the server's wishes until it says OK.
    fn authenticate(&mut self, password: &str, mut nonce: Vec<u8>, secure: bool) -> Result<()> {
        loop {
            let payload = self.read_payload()?;
            let reply = match payload.split_first() {
                Some((&OK, _)) => return Ok(()),
                Some((&ERR, _)) => return Err(ClientError::Server(decode_err(&payload)?)),
                Some((&EOF, rest)) => {
                    let (plugin, fresh) = decode_auth_switch(rest)?;
                    nonce = fresh;
                    nonce.truncate(NONCE);
                    scramble(&plugin, password, &nonce, secure)?
                }
                Some((1, [auth::FAST_AUTH_OK])) => continue,
                Some((1, [auth::FULL_AUTH])) if secure => [password.as_bytes(), &[0]].concat(),
                Some((1, [auth::FULL_AUTH])) => vec![auth::REQUEST_PUBLIC_KEY],
                Some((1, key)) => {
                    let pem = String::from_utf8_lossy(key);
                    auth::encrypt_password(&pem, password.as_bytes(), &nonce)?
                }
                _ => return Err(WireError::BadHandshake.into()),
            };
            self.writer.set_sequence(self.reader.next_sequence());
            self.writer.put(&reply);
            self.send()?;
            self.reader.expect_sequence(self.writer.sequence());
        }
    }

    /// The server's greeting.
    pub fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    /// Capabilities in use.
    pub fn capabilities(&self) -> Capabilities {
        self.caps
    }

    /// The stream below, for tests that misbehave on it.
    pub fn stream(&mut self) -> &mut S {
        self.channel.stream()
    }

    /// Says which sequence number the next packet has, after bytes that were sent past the client.
    pub fn expect_sequence(&mut self, sequence: u8) {
        self.reader.expect_sequence(sequence);
    }

    fn send(&mut self) -> Result<()> {
        self.channel.write_all(self.writer.bytes())?;
        self.writer.clear();
        Ok(())
    }

    /// Sends a request; what it replies is read by other calls.
    pub fn send_command(&mut self, command: &Command<'_>) -> Result<()> {
        self.start_request();
        let payload = self.writer.begin();
        if let (Command::Query { sql, .. }, true) =
            (command, self.caps.has(Capabilities::QUERY_ATTRIBUTES))
        {
            payload.extend_from_slice(&[crate::command::code::QUERY, 0, 1]);
            payload.extend_from_slice(sql);
        } else {
            command.encode(payload);
        }
        self.writer.end();
        self.reader.expect_sequence(self.writer.sequence());
        self.send()
    }

    /// Sends any payload as a request.
    pub fn send_payload(&mut self, payload: &[u8]) -> Result<()> {
        self.start_request();
        self.writer.put(payload);
        self.reader.expect_sequence(self.writer.sequence());
        self.send()
    }

    fn start_request(&mut self) {
        self.more = None;
        self.channel.start_request();
        self.writer.clear();
        self.writer.set_sequence(0);
        self.reader.shrink();
    }

    /// The next packet's payload, whatever it is.
    pub fn read_payload(&mut self) -> Result<Vec<u8>> {
        let packet = read_packet(&mut self.reader, &mut self.channel)?;
        Ok(self.reader.payload(packet).to_vec())
    }

    /// The next packet's payload; an ERR packet becomes an error.
    fn read_checked(&mut self) -> Result<Received> {
        let packet = read_packet(&mut self.reader, &mut self.channel)?;
        let payload = self.reader.payload(packet);
        if payload.first() == Some(&ERR) {
            self.more = None;
            return Err(ClientError::Server(decode_err(payload)?));
        }
        Ok(packet)
    }

    /// Reads one reply of OK or EOF.
    pub fn read_ok(&mut self) -> Result<Completion> {
        let packet = self.read_checked()?;
        let payload = self.reader.payload(packet);
        let eof = payload.first() == Some(&EOF) && payload.len() == 5;
        Ok(if eof { decode_eof(payload)? } else { decode_ok(payload, self.caps)? })
    }

    fn simple(&mut self, command: &Command<'_>) -> Result<Completion> {
        self.send_command(command)?;
        self.read_ok()
    }

    /// COM_PING.
    pub fn ping(&mut self) -> Result<()> {
        self.simple(&Command::Ping).map(drop)
    }

    /// COM_INIT_DB.
    pub fn use_database(&mut self, name: &str) -> Result<()> {
        self.simple(&Command::InitDb(name.as_bytes())).map(drop)
    }

    /// COM_RESET_CONNECTION.
    pub fn reset(&mut self) -> Result<()> {
        self.simple(&Command::ResetConnection).map(drop)
    }

    /// COM_QUIT; does not wait for the server.
    pub fn quit(&mut self) -> Result<()> {
        self.send_command(&Command::Quit)
    }

    /// Runs statements as text and collects their results.
    pub fn query(&mut self, sql: &str) -> Result<Vec<ResultSet>> {
        self.start_query(sql)?;
        let mut results = Vec::new();
        while let Some(result) = self.next_result()? {
            results.push(result);
        }
        Ok(results)
    }

    /// Runs one statement and returns its (first) rows.
    pub fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Value>>> {
        Ok(self.query(sql)?.into_iter().next().unwrap_or_default().rows)
    }

    /// Sends statements as text; [`Client::next_result`] reads their results one by one.
    pub fn start_query(&mut self, sql: &str) -> Result<()> {
        self.start_query_bytes(sql.as_bytes())
    }

    /// As [`Client::start_query`], in any character set.
    pub fn start_query_bytes(&mut self, sql: &[u8]) -> Result<()> {
        self.send_command(&Command::Query { sql, attributes: Vec::new() })?;
        self.more = Some(Rows::Text);
        Ok(())
    }

    fn read_columns(&mut self, count: usize) -> Result<Vec<ColumnDef>> {
        let mut columns = Vec::new();
        for _ in 0..count {
            let packet = self.read_checked()?;
            columns.push(ColumnDef::decode(self.reader.payload(packet))?);
        }
        if count > 0 && !self.caps.has(Capabilities::DEPRECATE_EOF) {
            self.read_checked()?;
        }
        Ok(columns)
    }

    /// COM_STMT_PREPARE.
    pub fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        self.send_command(&Command::Prepare(sql.as_bytes()))?;
        let packet = self.read_checked()?;
        let mut from = Reader::new(self.reader.payload(packet));
        from.u8()?;
        let id = from.u32()?;
        let (columns, params) = (from.u16()?, from.u16()?);
        from.u8()?;
        let warnings = from.u16()?;
        self.read_columns(usize::from(params))?;
        let columns = self.read_columns(usize::from(columns))?;
        Ok(Prepared { id, params: usize::from(params), columns, warnings })
    }

    /// COM_STMT_EXECUTE; returns the first result.
    pub fn execute(&mut self, id: u32, params: &[Value]) -> Result<ResultSet> {
        self.execute_with_flags(id, params, 0)
    }

    /// COM_STMT_EXECUTE with flags (see [`crate::command::execute_flags`]). With a cursor, the
    /// result has columns only, and [`Client::fetch`] gets the rows.
    pub fn execute_with_flags(
        &mut self,
        id: u32,
        params: &[Value],
        flags: u8,
    ) -> Result<ResultSet> {
        let mut body = Vec::new();
        encode_execute(&mut body, params, self.caps);
        self.send_command(&Command::Execute { id, flags, body: &body })?;
        self.more = Some(Rows::Binary);
        if flags == 0 {
            return Ok(self.next_result()?.unwrap_or_default());
        }
        let packet = self.read_checked()?;
        let payload = self.reader.payload(packet);
        if payload.first() == Some(&OK) {
            let completion = decode_ok(payload, self.caps)?;
            return Ok(ResultSet { completion, ..ResultSet::default() });
        }
        let columns = Reader::new(payload).lenenc()? as usize;
        let mut defs = Vec::new();
        for _ in 0..columns {
            let packet = self.read_checked()?;
            defs.push(ColumnDef::decode(self.reader.payload(packet))?);
        }
        let completion = self.read_ok()?;
        Ok(ResultSet { columns: defs, rows: Vec::new(), completion })
    }

    /// COM_STMT_FETCH: up to `rows` rows of an open cursor with these columns.
    pub fn fetch(
        &mut self,
        id: u32,
        rows: u32,
        columns: &[ColumnDef],
    ) -> Result<(Vec<Vec<Value>>, Completion)> {
        self.send_command(&Command::Fetch { id, rows })?;
        let mut fetched = Vec::new();
        loop {
            let packet = self.read_checked()?;
            let payload = self.reader.payload(packet);
            if payload.first() == Some(&EOF) {
                let new = self.caps.has(Capabilities::DEPRECATE_EOF);
                let end = if new { decode_ok(payload, self.caps)? } else { decode_eof(payload)? };
                return Ok((fetched, end));
            }
            fetched.push(decode_binary_row(payload, columns)?);
        }
    }

    /// COM_STMT_CLOSE; has no reply.
    pub fn close_statement(&mut self, id: u32) -> Result<()> {
        self.send_command(&Command::CloseStatement(id))
    }
}

fn read_packet<S: Read + Write>(
    reader: &mut PacketReader,
    channel: &mut Channel<S>,
) -> Result<Received> {
    loop {
        if let Some(packet) = reader.next_packet()? {
            return Ok(packet);
        }
        match channel.read(reader.space())? {
            0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            n => reader.received(n),
        }
    }
}

/// The reply to a nonce; `secure` where the password itself may be sent.
fn scramble(plugin: &str, password: &str, nonce: &[u8], secure: bool) -> Result<Vec<u8>> {
    match plugin {
        SHA256 if password.is_empty() => Ok(vec![0]),
        SHA256 if secure => Ok([password.as_bytes(), &[0]].concat()),
        SHA256 => Ok(vec![auth::SHA256_REQUEST_PUBLIC_KEY]),
        NATIVE => Ok(auth::native_scramble(password.as_bytes(), nonce)),
        CACHING_SHA2 => Ok(auth::sha2_scramble(password.as_bytes(), nonce)),
        _ if password.is_empty() => Ok(Vec::new()),
        other => Err(ClientError::Unsupported(format!("authentication plugin {other}"))),
    }
}

fn text_value(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::Text(text.to_owned()),
        Err(_) => Value::Bytes(bytes.to_vec()),
    }
}

fn decode_text_row(payload: &[u8], columns: usize) -> std::result::Result<Vec<Value>, WireError> {
    let mut from = Reader::new(payload);
    let mut row = Vec::with_capacity(columns.min(payload.len()));
    for _ in 0..columns {
        row.push(from.lenenc_or_null()?.map_or(Value::Null, text_value));
    }
    from.finish()?;
    Ok(row)
}

fn decode_binary_row(
    payload: &[u8],
    columns: &[ColumnDef],
) -> std::result::Result<Vec<Value>, WireError> {
    let mut from = Reader::new(payload);
    from.u8()?;
    let nulls = from.bytes((columns.len() + 9) / 8)?;
    let mut row = Vec::with_capacity(columns.len());
    for (i, column) in columns.iter().enumerate() {
        let mut value = Value::Null;
        if nulls[(i + 2) / 8] >> ((i + 2) % 8) & 1 == 0 {
            let unsigned = if column.flags & flags::UNSIGNED != 0 { 0x8000 } else { 0 };
            // Text columns share BLOB's code and differ by their collation.
            let kind = match column.type_code {
                ty::TINY_BLOB..=ty::BLOB if column.collation != 63 => ty::VAR_STRING,
                code => code,
            };
            decode_value(&mut from, u16::from(kind) | unsigned, &mut value)?;
        }
        row.push(value);
    }
    from.finish()?;
    Ok(row)
}
