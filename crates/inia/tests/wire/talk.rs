//! One connection of a script: sends the script's bytes, and describes what comes back.

use super::script::Step;
use inia_wire::auth::CACHING_SHA2;
use inia_wire::caps::Capabilities;
use inia_wire::column::ColumnDef;
use inia_wire::command::code;
use inia_wire::handshake::{Greeting, Login};
use inia_wire::packet::MAX_FRAME;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// A database that no server has.
const SENTINEL: &str = "sentinel_database";
/// A reply's packet is shown up to so many bytes.
const SHOWN: usize = 80;

pub(crate) struct Talk {
    stream: TcpStream,
    /// Received but not yet described.
    buffer: Vec<u8>,
    /// Of the next packet received, if all is well.
    sequence: u8,
    logged_in: bool,
    closed: bool,
    asked: bool,
    /// The command that was sent last.
    command: u8,
    /// The columns of a result end with a packet of their own.
    ends_columns: bool,
    result: ReplyPart,
}

/// How far a result has been received.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReplyPart {
    /// There is none.
    None,
    Columns,
    Rows,
}

impl Talk {
    pub(crate) fn connect(address: &str) -> Talk {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
        Talk {
            stream,
            buffer: Vec::new(),
            sequence: 0,
            logged_in: false,
            closed: false,
            asked: false,
            command: 0,
            ends_columns: true,
            result: ReplyPart::None,
        }
    }

    pub(crate) fn perform(&mut self, step: &Step) {
        match step {
            Step::Case(_) | Step::Greet => {}
            Step::Login { caps, user, database } => self.log_in(*caps, user, database.clone()),
            Step::Send(payload) => self.send(0, payload),
            Step::Next(payload) => self.send(self.sequence, payload),
            Step::Frame(sequence, payload) => self.send(*sequence, payload),
            // A server that has closed already does not take them.
            Step::Raw(bytes) => drop(self.stream.write_all(bytes)),
            Step::Shut => drop(self.stream.shutdown(Shutdown::Write)),
            Step::Alive => {
                self.asked = true;
                self.send(0, format!("\x02{SENTINEL}").as_bytes());
            }
        }
    }

    fn log_in(&mut self, capabilities: Capabilities, user: &str, database: Option<String>) {
        let patience = Duration::from_secs(10);
        let greeting = self.packet(patience).expect("a greeting").1;
        let greeting = Greeting::decode(&greeting).unwrap();
        let login = Login {
            capabilities: capabilities.common(greeting.capabilities),
            max_packet: 1 << 24,
            collation: 255,
            user: user.to_owned(),
            database,
            plugin: Some(CACHING_SHA2.to_owned()),
            ..Login::default()
        };
        self.ends_columns = !login.capabilities.has(Capabilities::DEPRECATE_EOF);
        let mut payload = Vec::new();
        login.encode(&mut payload);
        self.send(1, &payload);
        let reply = self.packet(patience).expect("an answer to the login").1;
        assert_eq!(reply[0], 0, "the login failed: {}", String::from_utf8_lossy(&reply));
        self.logged_in = true;
    }

    /// Sends a packet, in several frames if it is long.
    fn send(&mut self, mut sequence: u8, payload: &[u8]) {
        if self.logged_in {
            self.command = payload.first().copied().unwrap_or(0);
            self.result = match self.command {
                code::STMT_FETCH => ReplyPart::Rows,
                _ => ReplyPart::None,
            };
        }
        let mut rest = payload;
        loop {
            let (frame, tail) = rest.split_at(rest.len().min(MAX_FRAME));
            let header = (frame.len() as u32 | u32::from(sequence) << 24).to_le_bytes();
            let bytes = [&header, frame].concat();
            sequence = sequence.wrapping_add(1);
            self.sequence = sequence;
            if self.stream.write_all(&bytes).is_err() || frame.len() < MAX_FRAME {
                return;
            }
            rest = tail;
        }
    }

    /// The next so many packets, described.
    pub(crate) fn answers(&mut self, count: usize, patience: Duration) -> Vec<String> {
        let mut answers = Vec::new();
        while answers.len() < count {
            let answer = self.answer(patience);
            let end = answer.is_none() || self.closed;
            answers.push(answer.unwrap_or_else(|| "nothing".to_owned()));
            if end {
                break;
            }
        }
        answers
    }

    /// All packets that come before a silence, described.
    pub(crate) fn answers_until_silence(&mut self, silence: Duration) -> Vec<String> {
        let mut answers = Vec::new();
        while !self.closed || self.asked {
            match self.answer(silence) {
                Some(answer) => answers.push(answer),
                None => break,
            }
        }
        answers
    }

    fn answer(&mut self, patience: Duration) -> Option<String> {
        if self.closed {
            self.asked = false;
            return Some("closed".to_owned());
        }
        let Some((sequence, payload)) = self.packet(patience) else {
            self.asked &= !self.closed;
            return self.closed.then(|| "closed".to_owned());
        };
        let mut text = self.describe(&payload);
        if sequence != self.sequence {
            text.push_str(&format!(" (sequence {sequence})"));
        }
        self.sequence = sequence.wrapping_add(1);
        Some(text)
    }

    /// The next packet with its sequence number; `None` if none comes, or the server closes.
    fn packet(&mut self, patience: Duration) -> Option<(u8, Vec<u8>)> {
        self.stream.set_read_timeout(Some(patience)).unwrap();
        loop {
            if let Some(&[a, b, c, sequence]) = self.buffer.first_chunk::<4>() {
                let len = u32::from_le_bytes([a, b, c, 0]) as usize;
                if self.buffer.len() >= 4 + len {
                    let payload = self.buffer[4..4 + len].to_vec();
                    self.buffer.drain(..4 + len);
                    return Some((sequence, payload));
                }
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece) {
                Ok(0) => self.closed = true,
                Ok(n) => self.buffer.extend_from_slice(&piece[..n]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return None,
                Err(_) => self.closed = true,
            }
            if self.closed {
                return None;
            }
        }
    }

    fn describe(&mut self, payload: &[u8]) -> String {
        let rest = payload.get(1..).unwrap_or_default();
        match payload.first() {
            None => "empty".to_owned(),
            Some(0xff) => self.describe_error(rest),
            Some(0xfe) if !self.logged_in || self.command == 0x11 => {
                format!("switch to {}", printable(rest.split(|&b| b == 0).next().unwrap_or(rest)))
            }
            Some(0xfe) if payload.len() < 9 => {
                self.result = match self.result {
                    ReplyPart::Columns if self.ends_columns => ReplyPart::Rows,
                    _ => ReplyPart::None,
                };
                format!("EOF {}", warnings(payload))
            }
            Some(3) if payload.starts_with(b"\x03def") => {
                self.result = ReplyPart::Columns;
                column_name(payload)
            }
            Some(_) if self.in_rows() => format!("row {}", printable(payload)),
            Some(10) if !self.logged_in => "greeting".to_owned(),
            Some(1) if !self.logged_in => format!("more {:02x}", rest.first().unwrap_or(&0)),
            Some(0) if self.command == 0x16 && payload.len() == 12 => {
                let number = |at| u16::from_le_bytes([payload[at], payload[at + 1]]);
                format!("prepared, {} columns, {} parameters", number(5), number(7))
            }
            Some(0) if payload.len() >= 7 && !self.asked => {
                self.logged_in = true;
                format!("OK {}", printable(&payload[1..3]))
            }
            Some(_) => printable(payload),
        }
    }

    /// Whether what comes is a row: behind the columns of a query or an execution, or fetched.
    fn in_rows(&self) -> bool {
        match self.result {
            ReplyPart::None => false,
            ReplyPart::Columns => {
                !self.ends_columns && matches!(self.command, code::QUERY | code::STMT_EXECUTE)
            }
            ReplyPart::Rows => true,
        }
    }

    fn describe_error(&mut self, rest: &[u8]) -> String {
        let code = u16::from_le_bytes([rest[0], rest[1]]);
        let (state, message) = match rest.get(2) {
            Some(b'#') => (printable(&rest[3..8]), &rest[8..]),
            _ => ("-".to_owned(), &rest[2..]),
        };
        let message = String::from_utf8_lossy(message).into_owned();
        if code == 1049 && message.contains(SENTINEL) {
            self.asked = false;
            return "open".to_owned();
        }
        format!("ERR {code} {state} {message}")
    }
}

/// A column's definition is a matter of its own; here its name will do.
fn column_name(payload: &[u8]) -> String {
    match ColumnDef::decode(payload) {
        Ok(column) => format!("column {}", printable(column.name.as_bytes())),
        Err(_) => printable(payload),
    }
}

fn warnings(payload: &[u8]) -> u16 {
    match payload {
        [_, a, b, ..] => u16::from_le_bytes([*a, *b]),
        _ => 0,
    }
}

/// Bytes as text where they are text.
fn printable(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(SHOWN)];
    let mut text: String = shown
        .iter()
        .map(|&byte| match byte {
            b' '..=b'~' => char::from(byte).to_string(),
            _ => format!("\\x{byte:02x}"),
        })
        .collect();
    if shown.len() < bytes.len() {
        text.push_str(&format!("… {} bytes", bytes.len()));
    }
    text
}
