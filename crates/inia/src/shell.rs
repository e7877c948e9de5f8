//! `inia sql`: statements in, tables out, over the protocol.
//!
//! Statements end at a semicolon (or what DELIMITER says) outside quotes and comments; `\G` ends
//! one and prints its rows as lines. On a terminal lines are edited and remembered.

mod print;
mod split;

use inia_wire::client::{Client, ClientError, LoginOptions, ResultSet};
use print::Layout;
use rustyline::error::ReadlineError;
use split::{Ending, Piece, Splitter};
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

trait Duplex: Read + Write {}
impl<T: Read + Write> Duplex for T {}

type Connection = Client<Box<dyn Duplex>>;

/// Runs the shell; `statements` instead of standard input if given.
pub(crate) fn run(url: &str, statements: Option<&str>, table: bool) -> Result<(), String> {
    let target = Target::parse(url)?;
    let connection = target.connect()?;
    let interactive =
        statements.is_none() && io::stdin().is_terminal() && io::stdout().is_terminal();
    let layout = if interactive || table { Layout::Table } else { Layout::Tabs };
    let mut shell = Shell { connection, layout, interactive };
    match statements {
        Some(text) => shell.run_text(text),
        None if interactive => shell.run_terminal(),
        None => shell.run_lines(io::stdin().lock()),
    }
}

/// Where to connect, and as whom.
#[derive(Debug, PartialEq)]
struct Target {
    place: Place,
    user: String,
    password: String,
    database: Option<String>,
}

#[derive(Debug, PartialEq)]
enum Place {
    Tcp(String, u16),
    Unix(String),
}

impl Target {
    /// Reads `mysql://user:password@host:port/database`; all parts may be left out. A host that
    /// starts with `/` (written `%2F`) is a Unix socket.
    fn parse(url: &str) -> Result<Target, String> {
        let rest = match url.split_once("://") {
            Some(("mysql" | "inia", rest)) => rest,
            Some((scheme, _)) => return Err(format!("unknown scheme '{scheme}' in {url}")),
            None => url,
        };
        let (login, place) = rest.rsplit_once('@').unwrap_or(("root", rest));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (place, database) = place.split_once('/').unwrap_or((place, ""));
        let place = if place.to_ascii_lowercase().starts_with("%2f") {
            Place::Unix(decode(place))
        } else {
            let (host, port) = match place.rsplit_once(':') {
                Some((host, port)) if !port.contains(']') => {
                    (host, port.parse().map_err(|_| format!("bad port '{port}' in {url}"))?)
                }
                _ => (place, 3306),
            };
            let host = host.trim_start_matches('[').trim_end_matches(']');
            Place::Tcp(if host.is_empty() { "127.0.0.1".to_owned() } else { decode(host) }, port)
        };
        let database = database.split('?').next().unwrap_or_default();
        Ok(Target {
            place,
            user: decode(user),
            password: decode(password),
            database: (!database.is_empty()).then(|| decode(database)),
        })
    }

    fn connect(&self) -> Result<Connection, String> {
        let stream: Box<dyn Duplex> = match &self.place {
            Place::Tcp(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port))
                    .map_err(|error| format!("cannot connect to {host}:{port}: {error}"))?;
                let _ = stream.set_nodelay(true);
                Box::new(stream)
            }
            Place::Unix(path) => Box::new(
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

struct Shell {
    connection: Connection,
    layout: Layout,
    interactive: bool,
}

impl Shell {
    /// Runs a text whole; its last statement needs no semicolon.
    fn run_text(&mut self, text: &str) -> Result<(), String> {
        self.run_lines(text.as_bytes())
    }

    fn run_lines(&mut self, mut lines: impl BufRead) -> Result<(), String> {
        let mut splitter = Splitter::default();
        let mut line = String::new();
        loop {
            line.clear();
            if lines.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
                break;
            }
            for piece in splitter.feed(&line) {
                self.run_piece(&piece)?;
            }
        }
        match splitter.rest() {
            Some(piece) => self.run_piece(&piece),
            None => Ok(()),
        }
    }

    fn run_terminal(&mut self) -> Result<(), String> {
        let greeting = self.connection.greeting();
        println!("Connected to {} (connection {}).", greeting.version, greeting.connection_id);
        println!("Statements end with ; or \\G. Type quit to leave.\n");
        let mut editor =
            rustyline::DefaultEditor::new().map_err(|error| format!("no terminal: {error}"))?;
        let history = history_file();
        if let Some(path) = &history {
            let _ = editor.load_history(path);
        }
        let mut splitter = Splitter::default();
        loop {
            let prompt = if splitter.is_inside() { "   -> " } else { "inia> " };
            match editor.readline(prompt) {
                Ok(line) => {
                    if !line.trim().is_empty() {
                        let _ = editor.add_history_entry(line.as_str());
                    }
                    if !splitter.is_inside() && is_quit(&line) {
                        break;
                    }
                    for piece in splitter.feed(&format!("{line}\n")) {
                        self.run_piece(&piece)?;
                    }
                }
                Err(ReadlineError::Interrupted) => splitter = Splitter::default(),
                Err(_) => break,
            }
        }
        if let Some(path) = &history {
            let _ = editor.save_history(path);
        }
        Ok(())
    }

    /// Runs one statement and prints its results. Server errors end a batch, not a session.
    fn run_piece(&mut self, piece: &Piece) -> Result<(), String> {
        let started = Instant::now();
        match self.run_statement(piece, started) {
            Ok(()) => Ok(()),
            Err(ClientError::Server(error)) if self.interactive => {
                println!("{error}\n");
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    fn run_statement(&mut self, piece: &Piece, started: Instant) -> Result<(), ClientError> {
        let layout = match piece.ending {
            Ending::Vertical => Layout::Vertical,
            Ending::Plain => self.layout,
        };
        self.connection.start_query(&piece.sql)?;
        while let Some(result) = self.connection.next_result()? {
            let mut text = Vec::new();
            if !result.columns.is_empty() {
                print::rows(&mut text, &result, layout);
            }
            if self.interactive {
                summary(&mut text, &result, started.elapsed());
            }
            // A closed pipe ends the program at its next write, as it should.
            let _ = io::stdout().write_all(&text);
        }
        Ok(())
    }
}

fn summary(out: &mut Vec<u8>, result: &ResultSet, elapsed: Duration) {
    let rows = |n: u64| if n == 1 { "1 row".to_owned() } else { format!("{n} rows") };
    let what = if result.columns.is_empty() {
        format!("Query OK, {} affected", rows(result.completion.affected_rows))
    } else if result.rows.is_empty() {
        "Empty set".to_owned()
    } else {
        format!("{} in set", rows(result.rows.len() as u64))
    };
    let warnings = match result.completion.warnings {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        n => format!(", {n} warnings"),
    };
    out.extend_from_slice(
        format!("{what}{warnings} ({:.3} s)\n", elapsed.as_secs_f64()).as_bytes(),
    );
    if !result.completion.info.is_empty() {
        out.extend_from_slice(format!("{}\n", result.completion.info).as_bytes());
    }
    out.push(b'\n');
}

fn is_quit(line: &str) -> bool {
    let word = line.trim().trim_end_matches(';').to_ascii_lowercase();
    matches!(word.as_str(), "quit" | "exit" | "\\q")
}

fn history_file() -> Option<PathBuf> {
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".inia_history"))
}

#[cfg(test)]
mod tests;
