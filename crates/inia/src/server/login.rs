//! The connection phase: greeting, TLS if the client wants it, and the proof of who it is.

use super::auth::{Claim, Exchange, LoginError, random_nonce};
use super::backend::ClientInfo;
use super::registry::{KillReason, Slot};
use super::stream::{Socket, Stream};
use super::{Shared, VERSION, charset};
use crate::log;
use inia_base::column::status;
use inia_sql::LoginAccount;
use inia_wire::auth::{CACHING_SHA2, NATIVE, NONCE};
use inia_wire::caps::Capabilities;
use inia_wire::compress::Method;
use inia_wire::error::ServerError;
use inia_wire::handshake::{FirstPacket, Greeting, Login};
use inia_wire::reply::put_err;
use inia_wire::{PacketReader, PacketWriter, WireError};
use std::sync::Arc;

/// Before a login, no packet may be longer.
pub(crate) const MAX_LOGIN_PACKET: usize = 64 * 1024;

/// The error of a login to an account that is locked.
const LOCKED: u16 = 3118;

/// A client that has proven who it is.
pub(crate) struct LoggedIn {
    pub(crate) caps: Capabilities,
    pub(crate) nonce: [u8; NONCE],
    pub(crate) client: ClientInfo,
    pub(crate) database: Option<String>,
    /// What to do with everything after the login's OK.
    pub(crate) compression: Option<Method>,
}

/// The packets of a connection that is not, or no longer, in the command phase.
pub(crate) struct Talk<'a> {
    pub(crate) stream: &'a mut Stream,
    pub(crate) reader: &'a mut PacketReader,
    pub(crate) out: &'a mut PacketWriter,
    /// The socket cannot be read by others.
    pub(crate) local: bool,
}

impl Exchange for Talk<'_> {
    fn send(&mut self, payload: &[u8]) -> Result<(), LoginError> {
        self.out.clear();
        self.out.set_sequence(self.reader.next_sequence());
        self.out.put(payload);
        self.reader.expect_sequence(self.out.sequence());
        let sent = self.stream.write_all(self.out.bytes());
        self.out.clear();
        sent.map_err(|_| LoginError::Gone)
    }

    fn receive(&mut self) -> Result<Vec<u8>, LoginError> {
        loop {
            if let Some(packet) = self.reader.next_packet()? {
                return Ok(self.reader.payload(packet).to_vec());
            }
            match self.stream.read(self.reader.space()) {
                Ok(0) | Err(_) => return Err(LoginError::Gone),
                Ok(n) => self.reader.received(n),
            }
        }
    }

    fn is_secure(&self) -> bool {
        self.local || self.stream.is_tls()
    }

    fn is_tls(&self) -> bool {
        self.stream.is_tls()
    }
}

/// Greets a new client and lets it log in; `None` if it is refused (the error has been sent).
pub(crate) fn log_in(
    shared: &Shared,
    slot: &Slot,
    socket: &Arc<Socket>,
    stream: &mut Stream,
    reader: &mut PacketReader,
    out: &mut PacketWriter,
) -> Option<LoggedIn> {
    let mut talk = Talk { stream, reader, out, local: socket.is_local() };
    match try_log_in(shared, slot, socket, &mut talk) {
        Ok(logged_in) => Some(logged_in),
        Err(LoginError::Gone) if slot.kill_reason() == KillReason::Shutdown => {
            refuse(
                shared,
                &mut talk,
                &ServerError::new(1053, "08S01", "Server shutdown in progress"),
            );
            None
        }
        Err(LoginError::Gone) => {
            if slot.kill_reason() == KillReason::SlowLogin {
                log::warning(format_args!("connection {}: the login took too long", slot.id()));
            } else if !talk.stream.is_tls() {
                refuse(shared, &mut talk, &WireError::ReadError.server_error());
            }
            None
        }
        Err(LoginError::Refused(error)) => {
            refuse(shared, &mut talk, &error);
            None
        }
    }
}

fn refuse(shared: &Shared, talk: &mut Talk<'_>, error: &ServerError) {
    shared.backend.note_refusal(error.code);
    if error.code == LOCKED {
        shared.registry.statistics().note_locked();
    }
    let mut packet = Vec::new();
    put_err(&mut packet, error, Capabilities::PROTOCOL_41);
    // The connection ends, whether or not the client hears why.
    let _ = talk.send(&packet);
}

fn try_log_in(
    shared: &Shared,
    slot: &Slot,
    socket: &Arc<Socket>,
    talk: &mut Talk<'_>,
) -> Result<LoggedIn, LoginError> {
    let offered = Capabilities::SERVER.with(Capabilities::SSL);
    let nonce = random_nonce();
    greet(slot.id(), offered, nonce, talk)?;
    let mut first = FirstPacket::decode(&talk.receive()?, offered)?;
    if first == FirstPacket::SslRequest {
        start_tls(shared, socket, talk)?;
        // A second upgrade inside TLS is not offered.
        first = FirstPacket::decode(&talk.receive()?, offered.without(Capabilities::SSL))?;
    }
    let FirstPacket::Login(login) = first else {
        return Err(WireError::BadHandshake.into());
    };
    check_compression(&login)?;
    charset::check(u16::from(login.collation)).map_err(LoginError::Refused)?;
    // The refusal precedes authentication, which may ask for the password.
    if shared.backend.setting("require_secure_transport") == Some(1) && !talk.is_secure() {
        let text = "Connections using insecure transport are prohibited while \
                    --require_secure_transport=ON.";
        return Err(LoginError::Refused(ServerError::new(3159, "HY000", text)));
    }
    let host = socket.host();
    let plugin = login_plugin(&login);
    let claim = Claim {
        user: &login.user,
        host: &host,
        plugin: plugin.as_deref(),
        can_switch: login.capabilities.has(Capabilities::PLUGIN_AUTH),
        reply: login.auth.clone(),
        nonce,
        may_be_expired: login.capabilities.has(Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS),
    };
    let account = shared.authenticator.check(claim, talk)?;
    // Only a client that has proven its identity counts towards the account's limits.
    let limits = shared.limits();
    shared.registry.take_place(slot, &account, limits).map_err(LoginError::Refused)?;
    shared.authenticator.note_connection(&account)?;
    let caps = login.capabilities;
    let compression = Method::agreed(caps, login.zstd_level);
    Ok(LoggedIn {
        caps,
        nonce,
        database: login.database.clone(),
        compression,
        client: ClientInfo {
            tls: talk.stream.tls_names(),
            compression: compression.map(Method::name_and_level),
            ..client_info(slot.id(), *login, host, account)
        },
    })
}

/// Levels of zstd are 1 to 22; clients that ask for zlib, too, get that.
fn check_compression(login: &Login) -> Result<(), LoginError> {
    let has = |flag| login.capabilities.has(flag);
    let zstd = has(Capabilities::ZSTD_COMPRESSION) && !has(Capabilities::COMPRESS);
    if zstd && !(1..=22).contains(&login.zstd_level) {
        let text = "Invalid zstd compression level for algorithm 'zstd'.";
        return Err(LoginError::Refused(ServerError::new(3923, "HY000", text)));
    }
    Ok(())
}

fn greet(
    connection_id: u32,
    capabilities: Capabilities,
    nonce: [u8; NONCE],
    talk: &mut Talk<'_>,
) -> Result<(), LoginError> {
    let greeting = Greeting {
        version: VERSION.to_owned(),
        connection_id,
        nonce,
        capabilities,
        collation: 255,
        status: status::AUTOCOMMIT,
        plugin: CACHING_SHA2.to_owned(),
    };
    let mut packet = Vec::new();
    greeting.encode(&mut packet);
    talk.send(&packet)
}

fn start_tls(shared: &Shared, socket: &Arc<Socket>, talk: &mut Talk<'_>) -> Result<(), LoginError> {
    let config = shared.tls.config();
    let early = talk.reader.take_pending();
    *talk.stream = Stream::tls(socket.clone(), early, config).map_err(|_| LoginError::Gone)?;
    shared.registry.statistics().note_tls();
    Ok(())
}

/// The plugin that a login's reply was made with. Clients that know 20-byte scrambles but no
/// plugins mean the native one.
fn login_plugin(login: &Login) -> Option<String> {
    let native = login.capabilities.has(Capabilities::SECURE_CONNECTION) && login.auth.len() == 20;
    match &login.plugin {
        Some(plugin) => Some(plugin.clone()),
        None if login.capabilities.has(Capabilities::PLUGIN_AUTH) => Some(String::new()),
        None => native.then(|| NATIVE.to_owned()),
    }
}

fn client_info(
    connection_id: u32,
    login: Login,
    host: String,
    account: LoginAccount,
) -> ClientInfo {
    let has = |flag| login.capabilities.has(flag);
    ClientInfo {
        connection_id,
        host,
        account_user: account.user,
        account_host: account.host,
        collation: u16::from(login.collation),
        found_rows: has(Capabilities::FOUND_ROWS),
        multi_statements: has(Capabilities::MULTI_STATEMENTS),
        ignore_space: has(Capabilities::IGNORE_SPACE),
        interactive: has(Capabilities::INTERACTIVE),
        expired: account.expired,
        tls: None,
        compression: None,
        user: login.user,
        attributes: login.attributes,
    }
}
