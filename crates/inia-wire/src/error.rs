//! What can be wrong with a packet, and the MySQL error each case is reported as.

use std::fmt;

/// A request that cannot be understood or allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireError {
    /// A packet ends early or holds impossible values; the text says which part.
    Malformed(&'static str),
    /// A packet is bigger than the limit.
    PacketTooLarge,
    /// The server has no memory for a packet.
    OutOfMemory,
    /// The server has no memory for a parameter of so many bytes.
    NoMemoryFor(u64),
    /// A packet's sequence number is not the expected one.
    OutOfOrder,
    /// The command byte is unknown or not supported.
    UnknownCommand,
    /// No such prepared statement: its id and the function that was asked for.
    UnknownStatement(u32, &'static str),
    /// Bound parameters do not fit the statement.
    WrongArguments(&'static str),
    /// A fetch without an open cursor.
    NoCursor(u32),
    /// A parameter sent in pieces is longer than a packet may be.
    LongDataTooLong,
    /// The client left in the middle of a packet.
    ReadError,
    /// The first packet is not a login.
    BadHandshake,
    /// The client cannot authenticate as the account demands.
    UnsupportedAuth,
    /// A statement's text is not valid UTF-8; holds the offending part in hexadecimal.
    InvalidText(String),
}

/// An error as it is sent: number, SQLSTATE, message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    /// MySQL's error number.
    pub code: u16,
    /// Five characters.
    pub state: String,
    /// The message.
    pub message: String,
}

impl ServerError {
    /// An error from its parts.
    pub fn new(code: u16, state: &str, message: impl Into<String>) -> ServerError {
        ServerError { code, state: state.to_owned(), message: message.into() }
    }
}

impl From<&inia_base::error::SqlError> for ServerError {
    fn from(error: &inia_base::error::SqlError) -> ServerError {
        ServerError::new(error.number(), error.sqlstate(), error.message.clone())
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code, self.state, self.message)
    }
}

impl std::error::Error for ServerError {}

impl WireError {
    /// The error that the client gets.
    pub fn server_error(&self) -> ServerError {
        match self {
            WireError::Malformed(_) => {
                ServerError::new(1835, "HY000", "Malformed communication packet.")
            }
            WireError::PacketTooLarge => ServerError::new(
                1153,
                "08S01",
                "Got a packet bigger than 'max_allowed_packet' bytes",
            ),
            WireError::OutOfMemory => ServerError::new(
                1041,
                "HY000",
                "Out of memory; check if mysqld or some other process uses all available memory; \
                 if not, you may have to use 'ulimit' to allow mysqld to use more memory or you \
                 can add more swap space",
            ),
            WireError::NoMemoryFor(bytes) => ServerError::new(
                1037,
                "HY001",
                format!("Out of memory; restart server and try again (needed {bytes} bytes)"),
            ),
            WireError::OutOfOrder => ServerError::new(1156, "08S01", "Got packets out of order"),
            WireError::UnknownCommand => ServerError::new(1047, "08S01", "Unknown command"),
            WireError::UnknownStatement(id, function) => ServerError::new(
                1243,
                "HY000",
                format!("Unknown prepared statement handler ({id}) given to {function}"),
            ),
            WireError::WrongArguments(function) => {
                ServerError::new(1210, "HY000", format!("Incorrect arguments to {function}"))
            }
            WireError::NoCursor(id) => {
                ServerError::new(1421, "HY000", format!("The statement ({id}) has no open cursor."))
            }
            WireError::LongDataTooLong => ServerError::new(
                1105,
                "HY000",
                "Parameter of prepared statement which is set through mysql_send_long_data() is \
                 longer than 'max_allowed_packet' bytes",
            ),
            WireError::ReadError => {
                ServerError::new(1158, "08S01", "Got an error reading communication packets")
            }
            WireError::BadHandshake => ServerError::new(1043, "08S01", "Bad handshake"),
            WireError::UnsupportedAuth => ServerError::new(
                1251,
                "08004",
                "Client does not support authentication protocol requested by server; \
                 consider upgrading MySQL client",
            ),
            WireError::InvalidText(part) => ServerError::new(
                1300,
                "HY000",
                format!("Invalid utf8mb4 character string: '{part}'"),
            ),
        }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Malformed(part) => write!(f, "malformed packet: {part}"),
            other => other.server_error().message.fmt(f),
        }
    }
}

impl std::error::Error for WireError {}
