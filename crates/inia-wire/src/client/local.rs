//! LOAD DATA LOCAL with bytes that the caller gives.
//!
//! A server names the file that it wants. This client opens no file: it gives what it was handed
//! for the one statement, or asks its caller by [`Head::LocalFile`](super::Head::LocalFile).

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
        let mut content = content;
        // Bytes in memory can be read.
        let _ = self.send_file(&mut content)?;
        self.read_ok()
    }

    /// Sends what the server has asked for by [`Head::LocalFile`](super::Head::LocalFile). Where
    /// reading fails the server gets what came until then; inside is the error of reading.
    pub fn send_file(&mut self, content: &mut dyn Read) -> Result<std::io::Result<()>> {
        self.writer.set_sequence(self.reader.next_sequence());
        let mut piece = vec![0; PIECE];
        let read = loop {
            match content.read(&mut piece) {
                Ok(0) => break Ok(()),
                Ok(count) => {
                    self.writer.put(&piece[..count]);
                    self.send()?;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        self.writer.put(b"");
        self.send()?;
        self.reader.expect_sequence(self.writer.sequence());
        Ok(read)
    }
}
