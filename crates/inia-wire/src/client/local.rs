//! LOAD DATA LOCAL with bytes that the caller holds.
//!
//! A server names the file that it wants. This client opens no file: it gives what it was handed to
//! the one statement that it was handed for, whatever the name is, and refuses every other request.

use super::{Client, ClientError, Result};
use crate::command::Command;
use crate::reply::{OK, decode_ok};
use inia_base::column::Completion;
use std::io::{Read, Write};

/// The first byte of the server's request for a file.
pub(super) const LOCAL_FILE: u8 = 0xfb;
/// Bytes of one packet of the file: less than the least `max_allowed_packet` in use.
const PIECE: usize = 256 << 10;

impl<S: Read + Write> Client<S> {
    /// Runs one LOAD DATA LOCAL, whose file is `content`. The client needs the capability
    /// [`LOCAL_FILES`](crate::caps::Capabilities::LOCAL_FILES).
    pub fn load_local(&mut self, sql: &str, content: &[u8]) -> Result<Completion> {
        self.send_command(&Command::Query { sql: sql.as_bytes(), attributes: Vec::new() })?;
        let packet = self.read_checked()?;
        let payload = self.reader.payload(packet);
        match payload.first() {
            Some(&LOCAL_FILE) => {}
            Some(&OK) => return Ok(decode_ok(payload, self.caps)?),
            _ => return Err(ClientError::Unsupported("rows of LOAD DATA".to_owned())),
        }
        self.writer.set_sequence(self.reader.next_sequence());
        for piece in content.chunks(PIECE) {
            self.writer.put(piece);
            self.send()?;
        }
        self.writer.put(b"");
        self.send()?;
        self.reader.expect_sequence(self.writer.sequence());
        self.read_ok()
    }
}
