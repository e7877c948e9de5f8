//! What each command does: decoded request in, reply packets out. Prepared statements and their
//! cursors are in [`statements`].

mod field_list;
mod statements;

use self::statements::Statements;
use super::Shared;
use super::backend::{ClientInfo, ClientSession, OnDurable};
use super::deferred::MAX_DEFERRED;
use super::registry::{KillReason, Slot};
use super::stream::Stream;
use inia_base::collation::{Charset, Collation};
use inia_base::column::Completion;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::memory::{MemoryBudget, MemoryShare};
use inia_base::warm::WarmPool;
use inia_wire::auth::NONCE;
use inia_wire::binary::BinaryLayout;
use inia_wire::caps::Capabilities;
use inia_wire::error::ServerError;
use inia_wire::packet::{FLUSH_AT, first_sequence};
use inia_wire::reply::{EOF, OK, put_eof, put_err_in, put_ok};
use inia_wire::rows::Reply;
use inia_wire::text::TextLayout;
use inia_wire::{Command, PacketWriter, TextRows, WireError};
use std::sync::Arc;

/// What follows a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Send the reply, if there is one, and take the next request.
    Continue,
    /// Close the connection.
    Close,
}

type Outcome = Result<(), ServerError>;

/// Memory that no reply uses.
static WARM_BUFFERS: WarmPool<Vec<u8>> = WarmPool::new(16);

/// A connection's state in the command phase, without its receive buffer.
///
/// Wide: what a connection keeps between commands, each used by several of them.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    slot: Arc<Slot>,
    stream: Stream,
    out: PacketWriter,
    caps: Capabilities,
    nonce: [u8; NONCE],
    client: ClientInfo,
    session: Box<dyn ClientSession>,
    /// `max_allowed_packet` as it was at the login.
    max_packet: usize,
    statements: Statements,
    /// Bytes of parameters that wait for executions, and what they take of the server's memory.
    long_data: usize,
    long_share: MemoryShare,
    text: TextLayout,
    binary: BinaryLayout,
    /// The default database as the process list shows it.
    database: Option<String>,
    /// A send failed in the middle of a reply.
    broken: bool,
}

impl Worker {
    pub(crate) fn new(
        shared: Arc<Shared>,
        slot: Arc<Slot>,
        stream: Stream,
        out: PacketWriter,
        (caps, nonce): (Capabilities, [u8; NONCE]),
        client: ClientInfo,
    ) -> Worker {
        let session = shared.backend.session(client.clone());
        let set = shared.backend.setting("max_allowed_packet").and_then(|set| set.try_into().ok());
        let max_packet = set.unwrap_or(shared.max_allowed_packet);
        slot.set_interrupt(session.interrupter());
        let long_share = MemoryShare::of(session.memory());
        Worker {
            shared,
            slot,
            stream,
            out,
            caps,
            nonce,
            client,
            session,
            max_packet,
            statements: Statements::default(),
            long_data: 0,
            long_share,
            text: TextLayout::default(),
            binary: BinaryLayout::default(),
            database: None,
            broken: false,
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }

    pub(crate) fn client(&self) -> &ClientInfo {
        &self.client
    }

    pub(crate) fn caps(&self) -> Capabilities {
        self.caps
    }

    pub(crate) fn memory(&self) -> Option<Arc<MemoryBudget>> {
        self.session.memory()
    }

    /// The longest packet that the client may send, or get as one row.
    pub(crate) fn max_packet(&self) -> usize {
        self.max_packet
    }

    pub(crate) fn nonce(&self) -> [u8; NONCE] {
        self.nonce
    }

    #[inline]
    pub(crate) fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    pub(crate) fn stream_and_out(&mut self) -> (&mut Stream, &mut PacketWriter) {
        (&mut self.stream, &mut self.out)
    }

    #[inline]
    pub(crate) fn kill_reason(&self) -> KillReason {
        self.slot.kill_reason()
    }

    /// Empties the reply of the last request.
    #[inline]
    pub(crate) fn start_reply(&mut self) {
        self.out.clear();
    }

    /// Memory for the reply.
    #[inline]
    pub(crate) fn take_reply_buffer(&mut self) {
        self.out.set_buffer(WARM_BUFFERS.take().unwrap_or_default());
    }

    /// The reply has been sent, and others may use its memory.
    #[inline]
    pub(crate) fn put_reply_buffer(&mut self) {
        let buffer = self.out.take_buffer();
        if buffer.capacity() <= 2 * FLUSH_AT {
            WARM_BUFFERS.put(buffer);
        }
    }

    #[inline]
    pub(crate) fn set_sequence(&mut self, sequence: u8) {
        self.out.set_sequence(sequence);
    }

    /// Sends the reply, if there is one.
    #[inline]
    pub(crate) fn send(&mut self) -> std::io::Result<()> {
        self.out.flush(&mut self.stream)
    }

    /// Sends the reply when it may leave: what it says is durable. Another thread may send it, and
    /// this one goes on to the next request.
    #[inline]
    pub(crate) fn reply(&mut self) -> std::io::Result<()> {
        if self.session.is_settled() { self.send() } else { self.reply_when_settled() }
    }

    fn reply_when_settled(&mut self) -> std::io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        let short = self.out.len() <= MAX_DEFERRED;
        let deferred = if short { self.stream.deferred(self.caps) } else { None };
        let settled = match deferred {
            None => self.session.settle(),
            Some(deferred) => {
                deferred.hold(self.out.bytes());
                let sender: Arc<dyn OnDurable> = deferred.clone();
                let later = self.session.when_settled(&sender);
                if let Ok(true) = later {
                    self.out.clear();
                    return Ok(());
                }
                deferred.take_back();
                later.map(|_| ())
            }
        };
        if let Err(error) = settled {
            let sequence = first_sequence(self.out.bytes());
            self.out.clear();
            self.out.set_sequence(sequence);
            self.put_error(&ServerError::from(&error));
        }
        self.send()
    }

    /// A command begins.
    #[inline]
    pub(crate) fn begin(&self, code: u8) {
        self.slot.begin(code);
    }

    /// Notes a login in the general log.
    fn note_login(&self, command: &str, database: Option<&str>) {
        let (user, host) = (&self.client.user, &self.client.host);
        let way = match (&self.client.tls, host.as_str()) {
            (Some(_), _) => "SSL/TLS",
            (None, "localhost") => "Socket",
            _ => "TCP/IP",
        };
        let database = database.unwrap_or_default();
        self.session.note_command(command, &format!("{user}@{host} on {database} using {way}"));
    }

    /// Takes the default database and says OK to a login.
    pub(crate) fn finish_login(&mut self, database: Option<&str>) -> Next {
        self.note_login("Connect", database);
        let outcome = database.map_or(Ok(()), |name| self.use_database(name));
        let next = if outcome.is_ok() { Next::Continue } else { Next::Close };
        let ended = self.end_with(outcome);
        if self.send().is_err() || ended == Next::Close { Next::Close } else { next }
    }

    /// Says OK, or what went wrong, and ends the command.
    pub(crate) fn end_with(&mut self, outcome: Outcome) -> Next {
        match outcome {
            Ok(()) => self.put_ok(),
            Err(error) => self.put_error(&error),
        }
        self.rest();
        Next::Continue
    }

    /// The command has ended: the client may be idle for as long as its session says.
    #[inline]
    fn rest(&mut self) {
        if let Some(seconds) = self.session.wait_timeout() {
            self.slot.set_wait_timeout(seconds);
        }
        self.slot.end();
    }

    /// Sends the error for which the server ends the connection, where MySQL sends one.
    pub(crate) fn say_goodbye(&mut self) {
        let error = match self.slot.kill_reason() {
            KillReason::None | KillReason::SlowLogin | KillReason::Killed => return,
            KillReason::Idle => ServerError::new(
                4031,
                "HY000",
                "The client was disconnected by the server because of inactivity. \
                 See wait_timeout and interactive_timeout for configuring this behavior.",
            ),
            KillReason::Shutdown => ServerError::new(1053, "08S01", "Server shutdown in progress"),
        };
        self.out.clear();
        self.out.set_sequence(0);
        self.put_error(&error);
        // The client may have left already.
        let _ = self.send();
    }

    /// Ends a session that has panicked: drops what it had written and sends the error.
    pub(crate) fn fail_internally(&mut self) {
        self.out.abort();
        self.put_error(&ServerError::new(1105, "HY000", "Internal error; the connection ends"));
        let _ = self.send();
    }

    /// Carries out one request.
    #[inline]
    pub(crate) fn handle(&mut self, payload: &[u8]) -> Next {
        let command = match Command::decode(payload, self.caps) {
            Ok(command) => command,
            Err(error) => {
                self.put_error(&error.server_error());
                return Next::Continue;
            }
        };
        self.session.begin_command();
        self.slot.begin(payload.first().copied().unwrap_or_default());
        let outcome = match command {
            Command::Execute { id, flags, body } => self.execute(id, flags, body),
            Command::Query { sql, .. } => self.query(sql),
            Command::CloseStatement(id) => {
                self.close_statement(id);
                Ok(())
            }
            Command::Prepare(sql) => self.prepare(sql),
            Command::Quit => {
                self.session.note_command("Quit", "");
                return Next::Close;
            }
            other => self.handle_rare(other),
        };
        if let Err(error) = outcome {
            self.out.abort();
            self.put_error(&error);
        }
        self.rest();
        if self.broken { Next::Close } else { Next::Continue }
    }

    /// Error 1820: an expired password allows only statements, which check it themselves.
    pub(crate) fn check_password(&self) -> Outcome {
        match self.session.must_change_password() {
            true => Err(ServerError::from(&SqlError::new(ErrorCode::MustChangePassword, &[]))),
            false => Ok(()),
        }
    }

    fn handle_rare(&mut self, command: Command<'_>) -> Outcome {
        // MySQL answers a ping even if the password has expired; SEND_LONG_DATA has no reply.
        if !matches!(command, Command::Ping | Command::SendLongData { .. }) {
            self.check_password()?;
        }
        match command {
            Command::Ping => self.put_ok(),
            Command::InitDb(name) => {
                let name = valid_part(name);
                if name.is_empty() {
                    return Err(ServerError::new(1046, "3D000", "No database selected"));
                }
                self.use_database(name)?;
                self.session.note_command("Init DB", name);
                self.put_ok();
            }
            Command::Fetch { id, rows } => self.fetch(id, rows)?,
            Command::ResetStatement(id) => {
                self.reset_statement(id)?;
                self.put_ok();
            }
            Command::SendLongData { id, param, data } => {
                self.send_long_data(id, param, data);
            }
            Command::ResetConnection => self.reset()?,
            Command::SetOption(on) => {
                self.session.set_multi_statements(on);
                self.put_end(&Completion::default());
            }
            Command::Debug => self.put_end(&Completion::default()),
            Command::Refresh(parts) => {
                let warnings = self.session.refresh(parts);
                let warnings = warnings.map_err(|error| ServerError::from(&error))?;
                self.put_completion(Completion { warnings, ..Completion::default() });
            }
            Command::Statistics => self.put_statistics(),
            // The statement applies the account's privileges.
            Command::ProcessInfo => return self.query(b"SHOW PROCESSLIST"),
            Command::ProcessKill(id) => self.kill(id)?,
            Command::FieldList { table, pattern } => self.field_list(table, pattern)?,
            _ => return Err(WireError::UnknownCommand.server_error()),
        }
        Ok(())
    }

    fn query(&mut self, sql: &[u8]) -> Outcome {
        self.slot.set_text(sql);
        let status = self.session.status_flags();
        let collation = self.session.result_collation();
        let reply = Reply::new(&mut self.out, &mut self.stream, self.caps, collation, status)
            .with_max_packet(self.max_packet);
        let mut rows = TextRows::new(reply, &mut self.text);
        let result = self.session.execute(sql, &mut rows);
        self.broken |= rows.is_broken();
        if self.session.current_database() != self.database.as_deref() {
            self.note_database();
        }
        result.map_err(|error| ServerError::from(&error))
    }

    fn use_database(&mut self, name: &str) -> Outcome {
        self.session.use_database(name).map_err(|error| ServerError::from(&error))?;
        self.note_database();
        Ok(())
    }

    /// Shows the session's default database in the process list.
    #[cold]
    fn note_database(&mut self) {
        self.database = self.session.current_database().map(str::to_owned);
        self.slot.set_database(self.database.as_deref());
    }

    fn reset(&mut self) -> Outcome {
        self.forget_statements();
        self.session.reset().map_err(|error| ServerError::from(&error))?;
        self.slot.set_interrupt(self.session.interrupter());
        self.note_database();
        self.put_ok();
        Ok(())
    }

    /// Another client takes over the connection.
    pub(crate) fn change_user(&mut self, client: ClientInfo, database: Option<&str>) -> Outcome {
        self.forget_statements();
        let changed = self.session.change_user(client.clone());
        changed.map_err(|error| ServerError::from(&error))?;
        self.slot.set_interrupt(self.session.interrupter());
        self.client = client;
        self.note_login("Change user", database);
        self.note_database();
        database.map_or(Ok(()), |name| self.use_database(name))
    }

    /// COM_PROCESS_KILL needs the privileges of KILL.
    fn kill(&mut self, id: u32) -> Outcome {
        self.query(format!("KILL {id}").as_bytes())
    }

    fn put_statistics(&mut self) {
        let counts = self.shared.registry.counts();
        let per_second = counts.questions as f64 / counts.uptime.max(1) as f64;
        let line = format!(
            "Uptime: {}  Threads: {}  Questions: {}  Slow queries: 0  Opens: 0  \
             Flush tables: 0  Open tables: 0  Queries per second avg: {per_second:.3}",
            counts.uptime, counts.threads, counts.questions
        );
        self.out.put(line.as_bytes());
    }

    fn put_ok(&mut self) {
        self.put_completion(Completion::default());
    }

    fn put_completion(&mut self, completion: Completion) {
        let completion = Completion { status: self.session.status_flags(), ..completion };
        put_ok(self.out.begin(), OK, &completion, false, self.caps);
        self.out.end();
    }

    /// An EOF packet, or the OK packet in its place.
    fn put_end(&mut self, completion: &Completion) {
        let completion = Completion { status: self.session.status_flags(), ..completion.clone() };
        let out = self.out.begin();
        if self.caps.has(Capabilities::DEPRECATE_EOF) {
            put_ok(out, EOF, &completion, false, self.caps);
        } else {
            put_eof(out, &completion, false);
        }
        self.out.end();
    }

    pub(crate) fn put_error(&mut self, error: &ServerError) {
        let results = Collation(self.session.result_collation());
        let charset = if results.0 == 0 { Charset::Utf8mb4 } else { results.charset() };
        put_err_in(self.out.begin(), error, self.caps, charset);
        self.out.end();
    }
}

/// A name up to the first byte that is no UTF-8.
fn valid_part(bytes: &[u8]) -> &str {
    match bytes.utf8_chunks().next() {
        Some(chunk) => chunk.valid(),
        None => "",
    }
}
