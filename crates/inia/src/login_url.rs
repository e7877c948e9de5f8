//! Where the client commands connect, and as whom.

use inia_wire::client::{Client, LoginOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

/// A stream that is read and written.
pub(crate) trait Duplex: Read + Write {}
impl<T: Read + Write> Duplex for T {}

/// A connection over any stream.
pub(crate) type Connection = Client<Box<dyn Duplex>>;

/// Where to connect, and as whom.
#[derive(Debug, PartialEq)]
pub(crate) struct LoginUrl {
    place: ServerAddress,
    user: String,
    password: String,
    database: Option<String>,
}

#[derive(Debug, PartialEq)]
enum ServerAddress {
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

    pub(crate) fn connect(&self) -> Result<Connection, String> {
        let stream: Box<dyn Duplex> = match &self.place {
            ServerAddress::Tcp(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port))
                    .map_err(|error| format!("cannot connect to {host}:{port}: {error}"))?;
                let _ = stream.set_nodelay(true);
                Box::new(stream)
            }
            ServerAddress::Unix(path) => Box::new(
                UnixStream::connect(path)
                    .map_err(|error| format!("cannot connect to {path}: {error}"))?,
            ),
        };
        let options = LoginOptions {
            user: self.user.clone(),
            password: self.password.clone(),
            database: self.database.clone(),
            ..LoginOptions::default()
        };
        Client::connect(stream, &options).map_err(|error| error.to_string())
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
