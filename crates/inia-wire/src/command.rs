//! The command phase: which request a packet is.

use crate::caps::Capabilities;
use crate::codec::{Reader, put_u16, put_u32};
use crate::error::WireError;
use crate::handshake::{decode_attributes, text};
use crate::params::{self, Attribute};

/// Command bytes.
pub mod code {
    /// COM_QUIT.
    pub const QUIT: u8 = 1;
    /// COM_INIT_DB.
    pub const INIT_DB: u8 = 2;
    /// COM_QUERY.
    pub const QUERY: u8 = 3;
    /// COM_FIELD_LIST.
    pub const FIELD_LIST: u8 = 4;
    /// COM_REFRESH.
    pub const REFRESH: u8 = 7;
    /// COM_STATISTICS.
    pub const STATISTICS: u8 = 9;
    /// COM_PROCESS_INFO.
    pub const PROCESS_INFO: u8 = 10;
    /// Not sent: a connection that is logging in.
    pub const CONNECT: u8 = 11;
    /// COM_PROCESS_KILL.
    pub const PROCESS_KILL: u8 = 12;
    /// COM_DEBUG.
    pub const DEBUG: u8 = 13;
    /// COM_PING.
    pub const PING: u8 = 14;
    /// COM_CHANGE_USER.
    pub const CHANGE_USER: u8 = 17;
    /// COM_STMT_PREPARE.
    pub const STMT_PREPARE: u8 = 22;
    /// COM_STMT_EXECUTE.
    pub const STMT_EXECUTE: u8 = 23;
    /// COM_STMT_SEND_LONG_DATA.
    pub const STMT_SEND_LONG_DATA: u8 = 24;
    /// COM_STMT_CLOSE.
    pub const STMT_CLOSE: u8 = 25;
    /// COM_STMT_RESET.
    pub const STMT_RESET: u8 = 26;
    /// COM_SET_OPTION.
    pub const SET_OPTION: u8 = 27;
    /// COM_STMT_FETCH.
    pub const STMT_FETCH: u8 = 28;
    /// COM_RESET_CONNECTION.
    pub const RESET_CONNECTION: u8 = 31;
}

/// Bits of COM_STMT_EXECUTE's flags.
pub mod execute_flags {
    /// Open a read-only cursor instead of sending the rows.
    pub const CURSOR_READ_ONLY: u8 = 1;
    /// The number of parameters is in the packet (query attributes may follow the parameters).
    pub const PARAMETER_COUNT_AVAILABLE: u8 = 8;
}

/// The login data of COM_CHANGE_USER.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ChangeUser {
    /// Account name.
    pub user: String,
    /// Reply to the nonce of the greeting.
    pub auth: Vec<u8>,
    /// Default database.
    pub database: Option<String>,
    /// Collation of the connection, if given.
    pub collation: Option<u16>,
    /// The plugin that `auth` was made with.
    pub plugin: Option<String>,
    /// Connection attributes.
    pub attributes: Vec<(String, String)>,
}

/// One request; borrows its texts from the packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Command<'a> {
    /// End of the connection; no reply.
    Quit,
    /// Change the default database.
    InitDb(&'a [u8]),
    /// Statements as text.
    Query {
        /// The text.
        sql: &'a [u8],
        /// Query attributes.
        attributes: Vec<Attribute>,
    },
    /// Columns of a table.
    FieldList {
        /// The table.
        table: &'a [u8],
        /// A LIKE pattern for the columns, or empty.
        pattern: &'a [u8],
    },
    /// What FLUSH does, by bits.
    Refresh(u8),
    /// A line of server statistics.
    Statistics,
    /// The process list.
    ProcessInfo,
    /// Kill a connection.
    ProcessKill(u32),
    /// Dump debug information: a no-op with an EOF reply.
    Debug,
    /// Is the server alive?
    Ping,
    /// Log in as another user.
    ChangeUser(Box<ChangeUser>),
    /// Reset the session's state.
    ResetConnection,
    /// Turn multi-statements on (true) or off.
    SetOption(bool),
    /// Prepare a statement.
    Prepare(&'a [u8]),
    /// Execute a prepared statement.
    Execute {
        /// The statement.
        id: u32,
        /// See [`execute_flags`].
        flags: u8,
        /// The parameters, for [`params::Params::decode`].
        body: &'a [u8],
    },
    /// A piece of a long parameter; no reply.
    SendLongData {
        /// The statement.
        id: u32,
        /// The parameter's position from 0.
        param: u16,
        /// Bytes to append.
        data: &'a [u8],
    },
    /// Close a prepared statement; no reply.
    CloseStatement(u32),
    /// Drop long data and close the cursor of a prepared statement.
    ResetStatement(u32),
    /// Rows from a cursor.
    Fetch {
        /// The statement.
        id: u32,
        /// At most so many rows.
        rows: u32,
    },
}

impl<'a> Command<'a> {
    /// Reads a request's payload.
    #[inline]
    pub fn decode(payload: &'a [u8], caps: Capabilities) -> Result<Command<'a>, WireError> {
        let mut from = Reader::new(payload);
        let command = match from.u8().map_err(|_| WireError::UnknownCommand)? {
            code::STMT_EXECUTE => {
                let (id, flags) = (from.u32()?, from.u8()?);
                from.u32()?;
                Command::Execute { id, flags, body: from.take_rest() }
            }
            code::QUERY => {
                let attributes = if caps.has(Capabilities::QUERY_ATTRIBUTES) {
                    params::decode_query_attributes(&mut from)?
                } else {
                    Vec::new()
                };
                Command::Query { sql: trim_nul(from.take_rest()), attributes }
            }
            code::STMT_CLOSE => Command::CloseStatement(from.u32()?),
            code::PING => Command::Ping,
            code::STMT_PREPARE => Command::Prepare(trim_nul(from.take_rest())),
            code::QUIT => Command::Quit,
            other => return Command::decode_rare(other, from, caps),
        };
        Ok(command)
    }

    fn decode_rare(
        code: u8,
        mut from: Reader<'a>,
        caps: Capabilities,
    ) -> Result<Command<'a>, WireError> {
        Ok(match code {
            code::INIT_DB => Command::InitDb(from.nul_or_rest()),
            code::FIELD_LIST => {
                let table = from.nul_bytes()?;
                Command::FieldList { table, pattern: trim_nul(from.take_rest()) }
            }
            code::REFRESH => Command::Refresh(from.u8()?),
            code::STATISTICS => Command::Statistics,
            code::PROCESS_INFO => Command::ProcessInfo,
            code::PROCESS_KILL => Command::ProcessKill(from.u32()?),
            code::DEBUG => Command::Debug,
            code::CHANGE_USER => {
                let login = decode_change_user(&mut from, caps);
                // MySQL calls it unknown rather than malformed, and closes.
                Command::ChangeUser(Box::new(login.map_err(|_| WireError::UnknownCommand)?))
            }
            code::RESET_CONNECTION => Command::ResetConnection,
            code::SET_OPTION => match from.u16()? {
                0 => Command::SetOption(true),
                1 => Command::SetOption(false),
                _ => return Err(WireError::UnknownCommand),
            },
            code::STMT_SEND_LONG_DATA => {
                let (id, param) = (from.u32()?, from.u16()?);
                Command::SendLongData { id, param, data: from.take_rest() }
            }
            code::STMT_RESET => Command::ResetStatement(from.u32()?),
            code::STMT_FETCH => Command::Fetch { id: from.u32()?, rows: from.u32()? },
            _ => return Err(WireError::UnknownCommand),
        })
    }

    /// Appends the request's payload. Query attributes are not written, so it is for connections
    /// without that capability.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Command::Quit => out.push(code::QUIT),
            Command::InitDb(name) => put_text(out, code::INIT_DB, name),
            Command::Query { sql, .. } => put_text(out, code::QUERY, sql),
            Command::FieldList { table, pattern } => {
                put_text(out, code::FIELD_LIST, table);
                out.push(0);
                out.extend_from_slice(pattern);
            }
            Command::Refresh(parts) => out.extend_from_slice(&[code::REFRESH, parts]),
            Command::Statistics => out.push(code::STATISTICS),
            Command::ProcessInfo => out.push(code::PROCESS_INFO),
            Command::ProcessKill(id) => put_id(out, code::PROCESS_KILL, id),
            Command::Debug => out.push(code::DEBUG),
            Command::Ping => out.push(code::PING),
            Command::ChangeUser(ref login) => encode_change_user(out, login),
            Command::ResetConnection => out.push(code::RESET_CONNECTION),
            Command::SetOption(on) => {
                out.push(code::SET_OPTION);
                put_u16(out, u16::from(!on));
            }
            Command::Prepare(sql) => put_text(out, code::STMT_PREPARE, sql),
            Command::Execute { id, flags, body } => {
                put_id(out, code::STMT_EXECUTE, id);
                out.push(flags);
                // The protocol's iteration count is always 1.
                put_u32(out, 1);
                out.extend_from_slice(body);
            }
            Command::SendLongData { id, param, data } => {
                put_id(out, code::STMT_SEND_LONG_DATA, id);
                put_u16(out, param);
                out.extend_from_slice(data);
            }
            Command::CloseStatement(id) => put_id(out, code::STMT_CLOSE, id),
            Command::ResetStatement(id) => put_id(out, code::STMT_RESET, id),
            Command::Fetch { id, rows } => {
                put_id(out, code::STMT_FETCH, id);
                put_u32(out, rows);
            }
        }
    }
}

/// A command's name in the process list, by its byte; 0 is an idle connection.
pub fn name_of(code: u8) -> &'static str {
    match code {
        0 => "Sleep",
        code::QUIT => "Quit",
        code::INIT_DB => "Init DB",
        code::QUERY => "Query",
        code::FIELD_LIST => "Field List",
        code::STATISTICS => "Statistics",
        code::PROCESS_INFO => "Processlist",
        code::CONNECT => "Connect",
        code::PROCESS_KILL => "Kill",
        code::DEBUG => "Debug",
        code::PING => "Ping",
        code::CHANGE_USER => "Change user",
        code::STMT_PREPARE => "Prepare",
        code::STMT_EXECUTE => "Execute",
        code::STMT_SEND_LONG_DATA => "Long Data",
        code::STMT_CLOSE => "Close stmt",
        code::STMT_RESET => "Reset stmt",
        code::SET_OPTION => "Set option",
        code::STMT_FETCH => "Fetch",
        code::RESET_CONNECTION => "Reset Connection",
        _ => "Error",
    }
}

/// Some clients end statements with a zero byte; MySQL drops it.
fn trim_nul(mut text: &[u8]) -> &[u8] {
    while let Some(shorter) = text.strip_suffix(&[0]) {
        text = shorter;
    }
    text
}

fn put_text(out: &mut Vec<u8>, code: u8, text: &[u8]) {
    out.push(code);
    out.extend_from_slice(text);
}

fn put_id(out: &mut Vec<u8>, code: u8, id: u32) {
    out.push(code);
    put_u32(out, id);
}

fn decode_change_user(from: &mut Reader<'_>, caps: Capabilities) -> Result<ChangeUser, WireError> {
    let user = text(from.nul_bytes()?);
    let auth = if caps.has(Capabilities::SECURE_CONNECTION) {
        let len = from.u8()?;
        from.bytes(usize::from(len))?.to_vec()
    } else {
        from.nul_bytes()?.to_vec()
    };
    let database = text(from.nul_bytes()?);
    let mut login = ChangeUser {
        user,
        auth,
        database: (!database.is_empty()).then_some(database),
        ..ChangeUser::default()
    };
    if from.remaining() >= 2 {
        login.collation = Some(from.u16()?);
    }
    if caps.has(Capabilities::PLUGIN_AUTH) && !from.is_empty() {
        login.plugin = Some(text(from.nul_or_rest()));
    }
    if caps.has(Capabilities::CONNECT_ATTRS) && !from.is_empty() {
        login.attributes = decode_attributes(from)?;
    }
    Ok(login)
}

fn encode_change_user(out: &mut Vec<u8>, login: &ChangeUser) {
    put_text(out, code::CHANGE_USER, login.user.as_bytes());
    out.push(0);
    let auth = &login.auth[..login.auth.len().min(255)];
    out.push(auth.len() as u8);
    out.extend_from_slice(auth);
    out.extend_from_slice(login.database.as_deref().unwrap_or_default().as_bytes());
    out.push(0);
    put_u16(out, login.collation.unwrap_or(255));
    if let Some(plugin) = &login.plugin {
        out.extend_from_slice(plugin.as_bytes());
        out.push(0);
    }
}

#[cfg(test)]
mod tests;
