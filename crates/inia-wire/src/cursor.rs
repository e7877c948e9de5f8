//! Server-side cursors: the rows of one execution, kept as packets and handed out in pieces.

use crate::caps::Capabilities;
use crate::packet::{HEADER, MAX_FRAME, PacketWriter};
use crate::reply::{EOF, ERR, OK, put_eof, put_ok};
use inia_base::column::{Completion, status};

/// Rows that wait to be fetched.
#[derive(Debug, Default)]
pub struct Cursor {
    /// Row packets as they were encoded.
    packets: Vec<u8>,
    /// Where the next row to fetch starts.
    next: usize,
}

impl Cursor {
    /// Takes a whole binary reply apart: column packets go to `out`, followed by an end packet
    /// that tells of the cursor; the rows stay here. A reply without rows, or with several results,
    /// goes to `out` as it is.
    pub fn open(
        reply: &[u8],
        caps: Capabilities,
        session_status: u16,
        out: &mut PacketWriter,
    ) -> Option<Cursor> {
        let first = packet_at(reply, 0)?;
        let columns = match first.payload(reply).first().copied() {
            Some(OK | ERR | EOF) | None => {
                copy_all(reply, out);
                return None;
            }
            Some(_) => column_count(first.payload(reply)),
        };
        let mut at = first.end;
        out.put(first.payload(reply));
        for _ in 0..columns {
            let packet = packet_at(reply, at)?;
            out.put(packet.payload(reply));
            at = packet.end;
        }
        if !caps.has(Capabilities::DEPRECATE_EOF) {
            at = packet_at(reply, at)?.end;
        }
        put_end(out, caps, session_status | status::CURSOR_EXISTS);
        let rows_end = last_packet_start(reply, at);
        Some(Cursor { packets: reply[at..rows_end].to_vec(), next: 0 })
    }

    /// Appends up to `rows` rows and an end packet. Returns false when the cursor is exhausted.
    pub fn fetch(
        &mut self,
        rows: u32,
        caps: Capabilities,
        session_status: u16,
        out: &mut PacketWriter,
    ) -> bool {
        for _ in 0..rows {
            let Some(end) = copy_packet(&self.packets, self.next, out) else { break };
            self.next = end;
        }
        let more = self.next < self.packets.len();
        let bits = if more { status::CURSOR_EXISTS } else { status::LAST_ROW_SENT };
        put_end(out, caps, session_status | bits);
        more
    }
}

struct Packet {
    start: usize,
    end: usize,
}

impl Packet {
    fn payload<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start..self.end]
    }
}

/// The frame at `at`.
fn packet_at(bytes: &[u8], at: usize) -> Option<Packet> {
    let [a, b, c, _] = *bytes.get(at..)?.first_chunk::<HEADER>()?;
    let start = at + HEADER;
    let end = start + u32::from_le_bytes([a, b, c, 0]) as usize;
    (end <= bytes.len()).then_some(Packet { start, end })
}

/// Copies the packet at `at`, all its frames, and returns where the next one starts.
fn copy_packet(bytes: &[u8], mut at: usize, out: &mut PacketWriter) -> Option<usize> {
    let mut frame = packet_at(bytes, at)?;
    let payload = out.begin();
    loop {
        payload.extend_from_slice(frame.payload(bytes));
        at = frame.end;
        if frame.end - frame.start < MAX_FRAME {
            break;
        }
        frame = packet_at(bytes, at)?;
    }
    out.end();
    Some(at)
}

fn copy_all(bytes: &[u8], out: &mut PacketWriter) {
    let mut at = 0;
    while let Some(end) = copy_packet(bytes, at, out) {
        at = end;
    }
}

fn last_packet_start(bytes: &[u8], mut at: usize) -> usize {
    let mut last = at;
    while let Some(frame) = packet_at(bytes, at) {
        last = at;
        at = frame.end;
    }
    last
}

fn column_count(payload: &[u8]) -> u64 {
    crate::codec::Reader::new(payload).lenenc().unwrap_or(0)
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
