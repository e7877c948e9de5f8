//! Server-side cursors: the rows of one execution, kept as packets and handed out in pieces.
//!
//! The reply of the execution is written as any other, but its bytes go to a [`Kept`] and not to
//! the client. Of `head c1 c2 row row row end` the client gets `head c1 c2` and an end packet that
//! announces the cursor; the rows are read again, some at a time, as they are fetched.

use crate::caps::Capabilities;
use crate::packet::{Flush, HEADER, MAX_FRAME, PacketWriter};
use crate::reply::{EOF, ERR, OK, put_eof, put_ok};
use inia_base::column::{Completion, status};
use std::io;

/// So many bytes are read at once of what is kept.
const BLOCK: usize = 32 << 10;

/// The bytes of a reply that waits, whole packets all of them.
pub trait Kept: Flush {
    /// How many bytes there are.
    fn len(&self) -> u64;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Fills `buf` with those from `at` on.
    fn read(&self, at: u64, buf: &mut [u8]) -> io::Result<()>;
}

/// Rows that wait to be fetched.
#[derive(Debug)]
pub struct Cursor<K> {
    kept: K,
    /// Where the part of `kept` begins that comes after `block`.
    next: u64,
    /// Where the rows end.
    end: u64,
    block: Vec<u8>,
    /// How much of the block was taken.
    taken: usize,
}

impl<K: Kept> Cursor<K> {
    /// Takes a whole binary reply apart, of which `last` is the part that was not flushed to
    /// `kept` yet: column packets go to `out`, followed by an end packet that announces the cursor;
    /// the rows stay here. A reply without rows goes to `out` as it is.
    pub fn open(
        mut kept: K,
        last: &mut PacketWriter,
        caps: Capabilities,
        session_status: u16,
        out: &mut PacketWriter,
    ) -> io::Result<Option<Cursor<K>>> {
        let start = last_packet_start(last.bytes());
        let end = kept.len() + start as u64;
        last.flush(&mut kept)?;
        let whole = kept.len();
        let mut cursor = Cursor { kept, next: 0, end: whole, block: Vec::new(), taken: 0 };
        let mut head = Vec::new();
        cursor.packet(&mut head)?;
        if let Some(OK | ERR | EOF) | None = head.first().copied() {
            out.put(&head);
            while cursor.next_row(out)? {}
            return Ok(None);
        }
        out.put(&head);
        for _ in 0..crate::codec::Reader::new(&head).lenenc().unwrap_or(0) {
            cursor.next_row(out)?;
        }
        if !caps.has(Capabilities::DEPRECATE_EOF) {
            cursor.packet(&mut Vec::new())?;
        }
        cursor.end = end;
        put_end(out, caps, session_status | status::CURSOR_EXISTS);
        Ok(Some(cursor))
    }

    /// Appends the next row; false where there is none.
    pub fn next_row(&mut self, out: &mut PacketWriter) -> io::Result<bool> {
        if self.is_exhausted() {
            return Ok(false);
        }
        self.packet(out.begin())?;
        out.end();
        Ok(true)
    }

    /// Whether all rows were fetched.
    pub fn is_exhausted(&self) -> bool {
        self.position() >= self.end
    }

    /// Appends the packet that ends a fetch.
    pub fn end_fetch(&self, caps: Capabilities, session_status: u16, out: &mut PacketWriter) {
        let last = self.is_exhausted();
        let bits = if last { status::LAST_ROW_SENT } else { status::CURSOR_EXISTS };
        put_end(out, caps, session_status | bits);
    }

    fn position(&self) -> u64 {
        self.next - (self.block.len() - self.taken) as u64
    }

    /// Appends the next packet's payload, of all its frames.
    fn packet(&mut self, payload: &mut Vec<u8>) -> io::Result<()> {
        loop {
            let mut header = Vec::with_capacity(HEADER);
            self.take(HEADER, &mut header)?;
            let [a, b, c, _] = header[..] else { return Err(io::ErrorKind::UnexpectedEof.into()) };
            let len = u32::from_le_bytes([a, b, c, 0]) as usize;
            self.take(len, payload)?;
            if len < MAX_FRAME {
                return Ok(());
            }
        }
    }

    /// Appends the next `left` bytes.
    fn take(&mut self, mut left: usize, to: &mut Vec<u8>) -> io::Result<()> {
        while left > 0 {
            if self.taken == self.block.len() {
                let rest = self.kept.len().saturating_sub(self.next);
                let len = rest.min(BLOCK as u64) as usize;
                if len == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                // What could not be read is not there to be taken.
                let mut block = std::mem::take(&mut self.block);
                (block, self.taken) = (resized(block, len), 0);
                self.kept.read(self.next, &mut block)?;
                (self.block, self.next) = (block, self.next + len as u64);
            }
            let part = left.min(self.block.len() - self.taken);
            to.extend_from_slice(&self.block[self.taken..self.taken + part]);
            (self.taken, left) = (self.taken + part, left - part);
        }
        Ok(())
    }
}

fn resized(mut block: Vec<u8>, len: usize) -> Vec<u8> {
    block.resize(len, 0);
    block
}

/// Where the last packet of some whole ones begins.
fn last_packet_start(bytes: &[u8]) -> usize {
    let (mut at, mut last, mut goes_on) = (0, 0, false);
    while let Some(&[a, b, c, _]) = bytes.get(at..).and_then(|rest| rest.first_chunk::<HEADER>()) {
        let len = u32::from_le_bytes([a, b, c, 0]) as usize;
        if !goes_on {
            last = at;
        }
        (at, goes_on) = (at + HEADER + len, len == MAX_FRAME);
    }
    last
}

fn put_end(out: &mut PacketWriter, caps: Capabilities, bits: u16) {
    let completion = Completion { status: bits, ..Completion::default() };
    let payload = out.begin();
    if caps.has(Capabilities::DEPRECATE_EOF) {
        put_ok(payload, EOF, &completion, false, caps);
    } else {
        put_eof(payload, &completion, false);
    }
    out.end();
}
