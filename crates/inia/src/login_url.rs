//! Where the client commands connect, and as whom.

use inia_wire::client::{Client, LoginOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A stream that is read and written.
pub(crate) trait Duplex: Read + Write {}
impl<T: Read + Write> Duplex for T {}

/// A connection over any stream.
pub(crate) type Connection = Client<Box<dyn Duplex>>;

/// Where to connect, and as whom.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoginUrl {
    pub(crate) place: ServerAddress,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) database: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ServerAddress {
    Tcp(String, u16),
    Unix(String),
}

impl LoginUrl {
    /// Reads `mysql://user:password@host:port/database`; all parts may be left out. A host that
    /// starts with `/` (written `%2F`) is a Unix socket.
    pub(crate) fn parse(url: &str) -> Result<LoginUrl, String> {
        let rest = match url.split_once("://") {
            Some(("mysql" | "inia", rest)) => rest,
            Some((scheme, _)) => return Err(format!("unknown scheme '{scheme}' in {url}")),
            None => url,
        };
        let (login, place) = rest.rsplit_once('@').unwrap_or(("root", rest));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (place, database) = place.split_once('/').unwrap_or((place, ""));
        let place = if place.to_ascii_lowercase().starts_with("%2f") {
            ServerAddress::Unix(decode(place))
        } else {
            let (host, port) = match place.rsplit_once(':') {
                Some((host, port)) if !port.contains(']') => {
                    (host, port.parse().map_err(|_| format!("bad port '{port}' in {url}"))?)
                }
                _ => (place, 3306),
            };
            let host = host.trim_start_matches('[').trim_end_matches(']');
            ServerAddress::Tcp(
                if host.is_empty() { "127.0.0.1".to_owned() } else { decode(host) },
                port,
            )
        };
        let database = database.split('?').next().unwrap_or_default();
        Ok(LoginUrl {
            place,
            user: decode(user),
            password: decode(password),
            database: (!database.is_empty()).then(|| decode(database)),
        })
    }

    /// Connects; an error has the text that `mysql` prints.
    pub(crate) fn connect(&self) -> Result<Connection, String> {
        self.log_in(self.place.open(None)?)
    }

    /// Logs in over an open stream.
    pub(crate) fn log_in(&self, stream: Box<dyn Duplex>) -> Result<Connection, String> {
        self.log_in_by(stream, &self.options())
    }

    /// Connects with these options.
    pub(crate) fn connect_by(&self, options: &LoginOptions) -> Result<Connection, String> {
        self.log_in_by(self.place.open(None)?, options)
    }

    /// Logs in over an open stream with these options.
    pub(crate) fn log_in_by(
        &self,
        stream: Box<dyn Duplex>,
        options: &LoginOptions,
    ) -> Result<Connection, String> {
        Client::connect(stream, options).map_err(|error| error.to_string())
    }
}

impl LoginUrl {
    /// How to log in.
    pub(crate) fn options(&self) -> LoginOptions {
        LoginOptions {
            user: self.user.clone(),
            password: self.password.clone(),
            database: self.database.clone(),
            ..LoginOptions::default()
        }
    }
}

impl ServerAddress {
    /// A stream to the server, whose reads fail after `patience`.
    pub(crate) fn open(&self, patience: Option<Duration>) -> Result<Box<dyn Duplex>, String> {
        let number = |error: &std::io::Error| {
            let code = error.raw_os_error();
            code.map_or_else(|| error.to_string(), |code| code.to_string())
        };
        match self {
            ServerAddress::Tcp(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port)).map_err(|error| {
                    let number = number(&error);
                    format!(
                        "ERROR 2003 (HY000): Can't connect to MySQL server on '{host}:{port}' \
                         ({number})"
                    )
                })?;
                let _ = stream.set_nodelay(true);
                stream.set_read_timeout(patience).map_err(|error| error.to_string())?;
                Ok(Box::new(stream))
            }
            ServerAddress::Unix(path) => {
                let stream = UnixStream::connect(path).map_err(|error| {
                    let number = number(&error);
                    format!(
                        "ERROR 2002 (HY000): Can't connect to local MySQL server through socket \
                         '{path}' ({number})"
                    )
                })?;
                stream.set_read_timeout(patience).map_err(|error| error.to_string())?;
                Ok(Box::new(stream))
            }
        }
    }
}

/// Replaces `%2F` and the like.
fn decode(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let hex = |byte: Option<u8>| byte.and_then(|b| char::from(b).to_digit(16));
        match (byte, hex(ahead.next()), hex(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                out.push((high << 4 | low) as u8);
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests;
