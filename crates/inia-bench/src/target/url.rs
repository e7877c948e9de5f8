//! The addresses of targets.
//!
//! ```text
//! mysql://user:password@host:3306/database      %2F and the like stand for themselves
//! mysql://user@%2Frun%2Fmysqld.sock/database    a Unix socket
//! mysql://user@host:3306/database?wait=poll     waits as MySQL's client library does
//! postgres://user@host:5432/database
//! sqlite:FILE
//! duckdb:FILE
//! inia:DIRECTORY                                embedded, in this process
//! ```

use super::{Class, Failure, Result};

/// A server's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPlace {
    /// Account.
    pub user: String,
    /// Password, or empty.
    pub password: String,
    /// Host and port, or the path of a Unix socket.
    pub host: Host,
    /// Database; `inia_lab` unless given.
    pub database: String,
    /// Wait for replies as MySQL's client library does: try to read, poll, read. A system call
    /// or two more than needed, for comparisons with programs that use this library.
    pub poll: bool,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// TCP.
    Tcp(String, u16),
    /// A Unix socket.
    Unix(String),
}

/// A target's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Url {
    /// Inia, MySQL, MariaDB.
    MySql(ServerPlace),
    /// PostgreSQL.
    Postgres(ServerPlace),
    /// A file.
    Sqlite(String),
    /// Another file.
    DuckDb(String),
    /// A directory.
    Embedded(String),
}

/// The database that the lab works in unless another is named.
pub const DATABASE: &str = "inia_lab";

/// Splits `label=url`; the label is absent if what stands before the `=` is part of a URL.
pub fn split_label(text: &str) -> (Option<&str>, &str) {
    match text.split_once('=') {
        Some((label, url)) if !label.is_empty() && !label.contains([':', '/']) => {
            (Some(label), url)
        }
        _ => (None, text),
    }
}

impl Url {
    /// Reads an address.
    pub fn parse(text: &str) -> Result<Url> {
        let wrong = |what: String| Failure::new(Class::Usage, what);
        let known = "use mysql://, postgres://, sqlite:FILE, duckdb:FILE or inia:DIRECTORY";
        let Some((scheme, rest)) = text.split_once(':') else {
            return Err(wrong(format!("'{text}' is not a target: {known}")));
        };
        if rest.trim_start_matches('/').is_empty() {
            return Err(wrong(format!("'{text}' names no place: {known}")));
        }
        match scheme {
            "mysql" | "mariadb" => Ok(Url::MySql(place(rest, 3306, "root")?)),
            "postgres" | "postgresql" => Ok(Url::Postgres(place(rest, 5432, "postgres")?)),
            "sqlite" => Ok(Url::Sqlite(rest.to_owned())),
            "duckdb" => Ok(Url::DuckDb(rest.to_owned())),
            "inia" => Ok(Url::Embedded(rest.to_owned())),
            _ => Err(wrong(format!("unknown kind of target '{scheme}': {known}"))),
        }
    }
}

fn place(rest: &str, port: u16, user: &str) -> Result<ServerPlace> {
    let rest = rest.trim_start_matches("//");
    let (login, at) = rest.rsplit_once('@').unwrap_or((user, rest));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let (at, option) = at.split_once('?').unwrap_or((at, ""));
    let poll = match option {
        "" => false,
        "wait=poll" => true,
        other => {
            let message = format!("unknown option '{other}' of a target: use wait=poll");
            return Err(Failure::new(Class::Usage, message));
        }
    };
    let (host, database) = at.split_once('/').unwrap_or((at, ""));
    let host = if host.to_ascii_lowercase().starts_with("%2f") {
        Host::Unix(decode(host))
    } else {
        tcp(host, port)?
    };
    let database = if database.is_empty() { DATABASE.to_owned() } else { decode(database) };
    Ok(ServerPlace { user: decode(user), password: decode(password), host, database, poll })
}

fn tcp(host: &str, port: u16) -> Result<Host> {
    let (host, port) = match host.rsplit_once(':') {
        Some((host, text)) if !text.contains(']') => {
            let bad = || Failure::new(Class::Usage, format!("'{text}' is not a port"));
            (host, text.parse().map_err(|_| bad())?)
        }
        _ => (host, port),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Ok(Host::Tcp(if host.is_empty() { "127.0.0.1".to_owned() } else { decode(host) }, port))
}

/// Replaces `%2F` and the like.
fn decode(text: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&byte, tail)) = rest.split_first() {
        let hex = |i: usize| tail.get(i).and_then(|&b| char::from(b).to_digit(16));
        match (byte, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high << 4 | low) as u8);
                rest = &tail[2..];
            }
            _ => {
                out.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests;
