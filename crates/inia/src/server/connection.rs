//! One client: login, then requests one after another. The top of every statement's way.
//!
//! The connection's thread waits for requests; what is done for them runs on a warm stack.

use super::Shared;
use super::auth::{Claim, Exchange, LoginError};
use super::backend::ClientInfo;
use super::charset;
use super::dispatch::{Next, Worker};
use super::login::{LoggedIn, MAX_LOGIN_PACKET, Talk, log_in};
use super::registry::{KillReason, Slot};
use super::statistics::Statistics;
use super::stream::{Socket, Stream};
use crate::log;
use inia_base::memory::MemoryShare;
use inia_base::stack::on_warm_stack;
use inia_wire::caps::Capabilities;
use inia_wire::command::{ChangeUser, Command, code};
use inia_wire::error::ServerError;
use inia_wire::packet::{HEADER, Received};
use inia_wire::reply::put_err;
use inia_wire::{PacketReader, PacketWriter, WireError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A client that has logged in.
pub(crate) struct Connection {
    reader: PacketReader,
    socket: Arc<Socket>,
    worker: Worker,
    /// What the request takes of the server's memory.
    share: MemoryShare,
}

/// Requests up to so many bytes are not counted.
const LONG_REQUEST: usize = 256 << 10;
/// A long request takes so many times its length: its packets, its text and its syntax tree.
const REQUEST_COST: u64 = 4;

/// Serves one client from greeting to goodbye. A panic ends only this connection.
pub(crate) fn serve(shared: &Arc<Shared>, slot: &Arc<Slot>, socket: Arc<Socket>) {
    let opened = catch_unwind(AssertUnwindSafe(|| {
        on_warm_stack(|| open(shared, slot, socket.clone()).map(Box::new))
    }));
    let Ok(Some(mut connection)) = opened else {
        return shared.registry.statistics().note_aborted_connect();
    };
    if catch_unwind(AssertUnwindSafe(|| connection.run())).is_err() {
        log::error(format_args!("connection {} ended by an internal error", slot.id()));
        connection.worker.fail_internally();
    }
    // Dropping the session rolls back, which may meet the same trouble again.
    let _ = catch_unwind(AssertUnwindSafe(|| on_warm_stack(|| drop(connection))));
}

/// Logs the client in and starts its session.
fn open(shared: &Arc<Shared>, slot: &Arc<Slot>, socket: Arc<Socket>) -> Option<Connection> {
    let mut stream = Stream::plain(socket.clone());
    let mut reader = PacketReader::new(MAX_LOGIN_PACKET);
    let mut out = PacketWriter::new();
    let logged_in = log_in(shared, slot, &socket, &mut stream, &mut reader, &mut out)?;
    let LoggedIn { caps, nonce, client, database, compression } = logged_in;
    set_identity(slot, &client, &socket);
    out.set_sequence(reader.next_sequence());
    let worker = Worker::new(shared.clone(), slot.clone(), stream, out, (caps, nonce), client);
    reader.set_max_packet(worker.max_packet());
    let share = MemoryShare::of(worker.memory());
    let mut connection = Connection { reader, socket, worker, share };
    let stays = connection.worker.finish_login(database.as_deref());
    if let Some(method) = compression {
        let max_packet = connection.worker.max_packet();
        connection.worker.stream().compress(method, max_packet);
    }
    (stays == Next::Continue).then_some(connection)
}

fn set_identity(slot: &Slot, client: &ClientInfo, socket: &Socket) {
    match socket.port() {
        Some(port) => slot.set_identity(&client.user, &format!("{}:{port}", client.host)),
        None => slot.set_identity(&client.user, &client.host),
    }
}

impl Connection {
    /// Request, reply, request, reply: one read and one write each.
    fn run(&mut self) {
        loop {
            self.worker.start_reply();
            self.reader.shrink();
            self.share.release();
            self.reader.expect_sequence(0);
            let packet = match self.receive() {
                Ok(Some(packet)) => packet,
                Ok(None) => return self.abort(),
                Err(error) => {
                    self.statistics().note_aborted_client();
                    return self.refuse(&error);
                }
            };
            if !on_warm_stack(|| self.answer(packet)) {
                return;
            }
            if self.worker.kill_reason() != KillReason::None {
                return self.worker.say_goodbye();
            }
        }
    }

    /// Does what a request asks for and sends the reply; false when the connection is to be closed.
    fn answer(&mut self, packet: Received) -> bool {
        let payload = self.reader.payload(packet);
        self.worker.set_sequence(self.reader.next_sequence());
        self.worker.take_reply_buffer();
        let next = if payload.first() == Some(&code::CHANGE_USER) {
            self.change_user(packet)
        } else {
            self.worker.handle(payload)
        };
        let goes_on = next == Next::Continue && self.worker.reply().is_ok();
        self.worker.put_reply_buffer();
        goes_on
    }

    /// The client is gone without saying so, or must leave.
    fn abort(&mut self) {
        self.statistics().note_aborted_client();
        match self.left_in_a_packet() {
            true => self.refuse(&WireError::ReadError),
            false => self.worker.say_goodbye(),
        }
    }

    fn statistics(&self) -> &Statistics {
        self.worker.shared().registry.statistics()
    }

    fn left_in_a_packet(&self) -> bool {
        self.reader.is_partial() && self.worker.kill_reason() == KillReason::None
    }

    /// The next request, or `None` when there will be no more.
    #[inline]
    fn receive(&mut self) -> Result<Option<Received>, WireError> {
        loop {
            if let Some(packet) = self.reader.next_packet()? {
                return Ok(Some(packet));
            }
            match self.worker.stream().read(self.reader.space()) {
                Ok(0) | Err(_) => return Ok(None),
                Ok(n) => self.reader.received(n),
            }
            let held = self.reader.held();
            if held > LONG_REQUEST && !self.share.covers(held as u64 * REQUEST_COST) {
                return Err(WireError::OutOfMemory);
            }
        }
    }

    /// The bytes cannot be understood any more: says why, and lets the client hear it before the
    /// connection closes.
    fn refuse(&mut self, error: &WireError) {
        // A header that was taken counts.
        let taken = match error {
            WireError::ReadError => self.reader.pending().len() >= HEADER,
            error => matches!(error, WireError::PacketTooLarge | WireError::OutOfMemory),
        };
        let sequence = self.reader.next_sequence().wrapping_add(u8::from(taken));
        self.worker.set_sequence(sequence);
        self.worker.put_error(&error.server_error());
        if self.worker.send().is_ok() {
            self.socket.linger();
        }
    }

    fn change_user(&mut self, packet: Received) -> Next {
        let payload = self.reader.payload(packet);
        self.worker.begin(code::CHANGE_USER);
        if let Err(error) = self.worker.check_password() {
            return self.worker.end_with(Err(error));
        }
        let login = match Command::decode(payload, self.worker.caps()) {
            Ok(Command::ChangeUser(login)) => *login,
            Ok(_) => return Next::Close,
            Err(error) => {
                self.worker.end_with(Err(error.server_error()));
                let _ = self.worker.send();
                return Next::Close;
            }
        };
        match self.try_change_user(login) {
            Ok(()) => self.worker.end_with(Ok(())),
            Err(LoginError::Gone) => Next::Close,
            Err(LoginError::Refused(error)) => {
                self.worker.shared().backend.note_refusal(error.code);
                self.worker.set_sequence(self.reader.next_sequence());
                self.worker.put_error(&error);
                let _ = self.worker.send();
                Next::Close
            }
        }
    }

    fn try_change_user(&mut self, login: ChangeUser) -> Result<(), LoginError> {
        if let Some(collation) = login.collation {
            charset::check(collation).map_err(LoginError::Refused)?;
        }
        let nonce = self.worker.nonce();
        let host = self.socket.host();
        let shared = self.worker.shared().clone();
        let can_switch = self.worker.caps().has(Capabilities::PLUGIN_AUTH);
        let may_be_expired = self.worker.caps().has(Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS);
        let (stream, out) = self.worker.stream_and_out();
        let mut talk =
            Talk { stream, reader: &mut self.reader, out, local: self.socket.is_local() };
        let claim = Claim {
            user: &login.user,
            host: &host,
            plugin: login.plugin.as_deref(),
            can_switch,
            reply: login.auth,
            nonce,
            may_be_expired,
        };
        let account = shared.authenticator.check(claim, &mut talk)?;
        self.worker.set_sequence(self.reader.next_sequence());
        let taken = shared.registry.take_place(self.worker.slot(), &account, shared.limits());
        taken.map_err(LoginError::Refused)?;
        shared.authenticator.note_connection(&account)?;
        let client = ClientInfo {
            user: login.user,
            host,
            account_user: account.user,
            account_host: account.host,
            expired: account.expired,
            collation: login.collation.unwrap_or(self.worker.client().collation),
            attributes: login.attributes,
            ..self.worker.client().clone()
        };
        set_identity(self.worker.slot(), &client, &self.socket);
        self.worker.change_user(client, login.database.as_deref()).map_err(LoginError::Refused)
    }
}

/// Sends the error to a client that was not admitted, without a login.
pub(crate) fn turn_away(socket: &Arc<Socket>, error: &ServerError) {
    let mut stream = Stream::plain(socket.clone());
    let mut reader = PacketReader::new(MAX_LOGIN_PACKET);
    let mut out = PacketWriter::new();
    let mut packet = Vec::new();
    // Before a login clients expect the old form, without an SQLSTATE.
    put_err(&mut packet, error, Capabilities::default());
    let local = socket.is_local();
    let mut talk = Talk { stream: &mut stream, reader: &mut reader, out: &mut out, local };
    let _ = talk.send(&packet);
}
