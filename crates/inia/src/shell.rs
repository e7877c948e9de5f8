//! `inia sql`: statements in, tables out, over the protocol.
//!
//! Statements end at a semicolon (or what DELIMITER says) outside quotes and comments; `\G` ends
//! one and prints its rows as lines. On a terminal lines are edited and remembered. Rows are
//! printed as they are received; Ctrl-C ends the running statement, at the prompt it clears the
//! line.

mod interrupt;
mod print;
mod split;

use inia_base::column::Completion;
use inia_wire::client::{Client, ClientError, Head, LoginOptions, Step};
use inia_wire::column::ColumnDef;
use interrupt::Interrupts;
use print::{Layout, Printer};
use rustyline::error::ReadlineError;
use split::{Ending, Piece, Splitter};
use std::io::{self, BufRead, BufWriter, IsTerminal, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

trait Duplex: Read + Write {}
impl<T: Read + Write> Duplex for T {}

type Connection = Client<Box<dyn Duplex>>;

/// Runs the shell; `statements` instead of standard input if given.
pub(crate) fn run(url: &str, statements: Option<&str>, table: bool) -> Result<(), String> {
    let target = LoginUrl::parse(url)?;
    let connection = target.connect()?;
    let interactive =
        statements.is_none() && io::stdin().is_terminal() && io::stdout().is_terminal();
    let layout = if interactive || table { Layout::Table } else { Layout::Tabs };
    let id = connection.greeting().connection_id;
    let interrupts = Interrupts::watch(target, id, interactive)?;
    let mut shell = Shell { connection, layout, interactive, interrupts };
    let ended = match statements {
        Some(text) => shell.run_text(text),
        None if interactive => shell.run_terminal(),
        None => shell.run_lines(io::stdin().lock()),
    };
    match ended {
        Ok(()) => Ok(()),
        // The reader has closed the pipe, as with `| head`.
        Err(ShellError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(ShellError::Output(error)) => Err(format!("cannot write: {error}")),
        Err(ShellError::Input(text)) => Err(text),
        Err(ShellError::Client(error)) => Err(error.to_string()),
    }
}

/// Why the shell ends before its input does.
#[derive(Debug)]
enum ShellError {
    /// The server reports an error, or is gone.
    Client(ClientError),
    /// What is printed cannot be written.
    Output(io::Error),
    /// Statements cannot be read, or somebody interrupted them.
    Input(String),
}

impl From<ClientError> for ShellError {
    fn from(error: ClientError) -> ShellError {
        ShellError::Client(error)
    }
}

impl From<io::Error> for ShellError {
    fn from(error: io::Error) -> ShellError {
        ShellError::Output(error)
    }
}

/// Where to connect, and as whom.
#[derive(Debug, PartialEq)]
struct LoginUrl {
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
    fn parse(url: &str) -> Result<LoginUrl, String> {
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

    fn connect(&self) -> Result<Connection, String> {
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

struct Shell {
    connection: Connection,
    layout: Layout,
    interactive: bool,
    interrupts: Interrupts,
}

impl Shell {
    /// Runs a text whole; its last statement needs no semicolon.
    fn run_text(&mut self, text: &str) -> Result<(), ShellError> {
        self.run_lines(text.as_bytes())
    }

    fn run_lines(&mut self, mut lines: impl BufRead) -> Result<(), ShellError> {
        let mut splitter = Splitter::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = lines.read_until(b'\n', &mut line);
            if read.map_err(|error| ShellError::Input(error.to_string()))? == 0 {
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

    fn run_terminal(&mut self) -> Result<(), ShellError> {
        let greeting = self.connection.greeting();
        println!("Connected to {} (connection {}).", greeting.version, greeting.connection_id);
        println!("Statements end with ; or \\G. Type quit to leave.\n");
        let mut editor = rustyline::DefaultEditor::new()
            .map_err(|error| ShellError::Input(format!("no terminal: {error}")))?;
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
                    for piece in splitter.feed(format!("{line}\n").as_bytes()) {
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

    /// Runs one statement and prints its results. A server's error, or Ctrl-C, ends a batch, not a
    /// session.
    fn run_piece(&mut self, piece: &Piece) -> Result<(), ShellError> {
        self.interrupts.begin();
        let ended = self.run_statement(piece, Instant::now());
        let interrupted = self.interrupts.end();
        match ended {
            Err(ShellError::Client(ClientError::Server(error))) if self.interactive => {
                println!("{error}\n");
                Ok(())
            }
            Ok(()) if interrupted && !self.interactive => {
                Err(ShellError::Input("interrupted".to_owned()))
            }
            ended => ended,
        }
    }

    fn run_statement(&mut self, piece: &Piece, started: Instant) -> Result<(), ShellError> {
        let mut out = BufWriter::new(io::stdout().lock());
        self.connection.start_query_bytes(&piece.sql)?;
        while let Some(head) = self.connection.next_head()? {
            let (rows, end) = match head {
                Head::Done(end) => (None, end),
                Head::Rows(columns) => {
                    let (rows, end) = self.print_rows(piece.ending, &columns, &mut out)?;
                    (Some(rows), end)
                }
            };
            if self.interactive {
                summary(&mut out, rows, &end, started.elapsed())?;
            }
            out.flush()?;
        }
        Ok(())
    }

    /// Prints rows as they are received; how many there were, and how they ended.
    fn print_rows(
        &mut self,
        ending: Ending,
        columns: &[ColumnDef],
        out: &mut dyn Write,
    ) -> Result<(u64, Completion), ShellError> {
        let layout = match ending {
            Ending::Vertical => Layout::Vertical,
            Ending::Plain => self.layout,
        };
        let mut printer = Printer::new(out, layout, columns)?;
        loop {
            match self.connection.next_row(columns) {
                // Of a long result, what is under way when somebody interrupts it is not shown.
                Ok(Step::Row(_)) if printer.is_long() && self.interrupts.is_interrupted() => {}
                Ok(Step::Row(row)) => printer.row(&row)?,
                Ok(Step::End(end)) => return Ok((printer.finish()?, end)),
                Err(error) => {
                    printer.finish()?;
                    return Err(error.into());
                }
            }
        }
    }
}

/// Prints how a statement ended; `rows` is how many it had, if it was one with rows.
fn summary(
    out: &mut dyn Write,
    rows: Option<u64>,
    end: &Completion,
    elapsed: Duration,
) -> io::Result<()> {
    let count = |n: u64| if n == 1 { "1 row".to_owned() } else { format!("{n} rows") };
    let what = match rows {
        None => format!("Query OK, {} affected", count(end.affected_rows)),
        Some(0) => "Empty set".to_owned(),
        Some(rows) => format!("{} in set", count(rows)),
    };
    let warnings = match end.warnings {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        n => format!(", {n} warnings"),
    };
    writeln!(out, "{what}{warnings} ({:.3} s)", elapsed.as_secs_f64())?;
    if !end.info.is_empty() {
        writeln!(out, "{}", end.info)?;
    }
    writeln!(out)
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
