//! Packet framing. A packet is a payload cut into frames of at most 16,777,215 bytes, each with a
//! header of three bytes length and one byte sequence number; a full frame says that more follow.
//!
//! ```text
//! 05 00 00  00   03 'D' 'O' ' ' '1'        one packet: length 5, sequence 0, COM_QUERY "DO 1"
//! ff ff ff  00   …16,777,215 bytes…
//! 00 00 00  01                             a payload of exactly 16,777,215 bytes: two frames
//! ```
//!
//! Neither type does input or output: [`PacketReader`] is fed by the owner of the stream, and
//! [`PacketWriter`] collects the packets of a whole reply so that one write sends them.

use crate::error::WireError;
use std::io;

/// The longest payload of one frame.
pub const MAX_FRAME: usize = 0xff_ffff;
/// Bytes of a frame's header.
pub const HEADER: usize = 4;
/// A reply's buffer is sent early when it grows beyond this.
pub const FLUSH_AT: usize = 1 << 20;
/// The receive buffer's usual size; requests that fit need one read each.
const READ_BUFFER: usize = 8 * 1024;
/// Buffers that grew beyond this are given back between requests.
const KEEP_BUFFER: usize = 256 * 1024;

/// Sends what a reply has collected so far. Must leave the buffer empty.
pub trait Flush {
    /// Writes all of `bytes` to the client and clears it.
    fn flush(&mut self, bytes: &mut Vec<u8>) -> io::Result<()>;

    /// Reads what the client sends in the midst of a command; 0 bytes where it has gone.
    fn receive(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let _ = buf;
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A flusher for replies that must stay whole in memory.
pub struct KeepAll;

impl Flush for KeepAll {
    fn flush(&mut self, _bytes: &mut Vec<u8>) -> io::Result<()> {
        Ok(())
    }
}

/// Cuts received bytes into packets.
///
/// Invariants: `start ≤ end ≤ buf.len()`; `buf[start..end]` are received bytes not yet returned.
pub struct PacketReader {
    buf: Vec<u8>,
    start: usize,
    end: usize,
    /// Payload of earlier full frames of the current packet.
    joined: Vec<u8>,
    in_joined: bool,
    sequence: u8,
    max_packet: usize,
    /// The buffer's usual size.
    usual: usize,
}

/// Where a received packet's payload lies; see [`PacketReader::payload`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    start: usize,
    end: usize,
    joined: bool,
}

impl PacketReader {
    /// A reader that refuses packets longer than `max_packet`.
    pub fn new(max_packet: usize) -> PacketReader {
        PacketReader {
            buf: Vec::new(),
            start: 0,
            end: 0,
            joined: Vec::new(),
            in_joined: false,
            sequence: 0,
            max_packet,
            usual: READ_BUFFER,
        }
    }

    /// Reads up to so many bytes at once from now on: for clients, which receive more than they
    /// send.
    pub fn read_ahead(&mut self, bytes: usize) {
        self.usual = bytes.clamp(HEADER, KEEP_BUFFER);
    }

    /// Changes the limit on a packet's length.
    pub fn set_max_packet(&mut self, max_packet: usize) {
        self.max_packet = max_packet;
    }

    /// The sequence number that the next frame must have.
    pub fn expect_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The sequence number of the next frame of this exchange, which is also the reply's first.
    pub fn next_sequence(&self) -> u8 {
        self.sequence
    }

    /// Received bytes that are not part of a returned packet.
    pub fn pending(&self) -> &[u8] {
        &self.buf[self.start..self.end]
    }

    /// Takes the bytes not yet returned, for a stream that changes its nature (TLS).
    pub fn take_pending(&mut self) -> Vec<u8> {
        let bytes = self.pending().to_vec();
        self.start = 0;
        self.end = 0;
        bytes
    }

    /// Whether a packet has been received in part.
    pub fn is_partial(&self) -> bool {
        self.start < self.end || self.in_joined
    }

    /// Room to receive into; call [`PacketReader::received`] with the number of bytes read.
    pub fn space(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.buf.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let wanted = match self.buf.get(..self.end) {
            Some([a, b, c, ..]) => HEADER + u32::from_le_bytes([*a, *b, *c, 0]) as usize,
            _ => HEADER,
        };
        // Grows with what really arrived, so that a lying header costs nothing.
        let size = wanted.min(2 * self.end).max(self.usual);
        if self.buf.len() < size {
            self.buf.resize(size, 0);
        }
        if self.end == self.buf.len() {
            self.buf.resize(2 * self.end, 0);
        }
        &mut self.buf[self.end..]
    }

    /// Says that `n` bytes were read into [`PacketReader::space`].
    pub fn received(&mut self, n: usize) {
        self.end = (self.end + n).min(self.buf.len());
    }

    /// The next whole packet, or `None` when more bytes are needed.
    #[inline]
    pub fn next_packet(&mut self) -> Result<Option<Received>, WireError> {
        loop {
            let Some(&[a, b, c, sequence]) = self.buf[self.start..self.end].first_chunk::<HEADER>()
            else {
                return Ok(None);
            };
            let len = u32::from_le_bytes([a, b, c, 0]) as usize;
            if sequence != self.sequence {
                return Err(WireError::OutOfOrder);
            }
            if len + self.joined_len() > self.max_packet {
                return Err(WireError::PacketTooLarge);
            }
            let payload = self.start + HEADER;
            if self.end - payload < len {
                return Ok(None);
            }
            self.sequence = self.sequence.wrapping_add(1);
            self.start = payload + len;
            if !self.in_joined && len < MAX_FRAME {
                return Ok(Some(Received { start: payload, end: payload + len, joined: false }));
            }
            if !self.in_joined {
                self.joined.clear();
                self.in_joined = true;
            }
            self.joined.extend_from_slice(&self.buf[payload..payload + len]);
            if len < MAX_FRAME {
                self.in_joined = false;
                return Ok(Some(Received { start: 0, end: self.joined.len(), joined: true }));
            }
        }
    }

    fn joined_len(&self) -> usize {
        if self.in_joined { self.joined.len() } else { 0 }
    }

    /// The payload of the packet that [`PacketReader::next_packet`] returned last.
    #[inline]
    pub fn payload(&self, packet: Received) -> &[u8] {
        let from = if packet.joined { &self.joined } else { &self.buf };
        from.get(packet.start..packet.end).unwrap_or_default()
    }

    /// Bytes that the buffers take.
    #[inline]
    pub fn held(&self) -> usize {
        self.buf.len() + self.joined.capacity()
    }

    /// Gives big buffers back. Call between requests.
    pub fn shrink(&mut self) {
        if self.joined.capacity() > KEEP_BUFFER {
            self.joined = Vec::new();
        }
        if self.buf.len() > KEEP_BUFFER && self.start == self.end {
            self.buf = Vec::new();
            self.start = 0;
            self.end = 0;
        }
    }
}

/// The sequence number of the first of some packets; 0 where there is none.
pub fn first_sequence(packets: &[u8]) -> u8 {
    packets.get(HEADER - 1).copied().unwrap_or_default()
}

/// Collects the packets of a reply.
///
/// Invariant: `buf[..open]` are finished frames; `buf[open..]` is the packet being written, with
/// four bytes left for its header.
pub struct PacketWriter {
    buf: Vec<u8>,
    open: usize,
    sequence: u8,
}

impl Default for PacketWriter {
    fn default() -> Self {
        PacketWriter::new()
    }
}

impl PacketWriter {
    /// An empty buffer; the first packet gets sequence number 0.
    pub fn new() -> PacketWriter {
        PacketWriter { buf: Vec::new(), open: 0, sequence: 0 }
    }

    /// Sets the sequence number of the next packet.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The sequence number of the next packet.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Starts a packet; its payload is then appended to the returned buffer.
    #[inline]
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.open = self.buf.len();
        self.buf.extend_from_slice(&[0; HEADER]);
        &mut self.buf
    }

    /// The buffer, to append to the packet begun last.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.buf
    }

    /// Ends the packet: fills in its header, and splits it where it is too long for one frame.
    #[inline]
    pub fn end(&mut self) {
        let len = self.buf.len() - self.open - HEADER;
        if len >= MAX_FRAME {
            return self.end_long();
        }
        let header = self.header(len);
        self.buf[self.open..self.open + HEADER].copy_from_slice(&header);
        self.open = self.buf.len();
    }

    /// The header of the next frame.
    #[inline]
    fn header(&mut self, len: usize) -> [u8; HEADER] {
        let header = (len as u32 | u32::from(self.sequence) << 24).to_le_bytes();
        self.sequence = self.sequence.wrapping_add(1);
        header
    }

    /// Puts a packet of two parts that fits one frame; the first has at most four bytes.
    #[inline]
    pub fn put_parts<const N: usize>(&mut self, head: [u8; N], tail: &[u8]) {
        let len = N + tail.len();
        debug_assert!(len < MAX_FRAME, "a packet of one frame");
        let mut start = [0; 2 * HEADER];
        start[..HEADER].copy_from_slice(&self.header(len));
        start[HEADER..HEADER + N].copy_from_slice(&head);
        self.buf.reserve(HEADER + len);
        self.buf.extend_from_slice(&start[..HEADER + N]);
        self.buf.extend_from_slice(tail);
        self.open = self.buf.len();
    }

    /// Puts `count` packets of `len` bytes each, all zero; returns their frames, headers in front.
    /// `len` is less than a frame can hold.
    pub fn put_equal(&mut self, count: usize, len: usize) -> &mut [u8] {
        debug_assert!(len < MAX_FRAME, "packets of one frame");
        let start = self.buf.len();
        self.buf.resize(start + count * (HEADER + len), 0);
        self.open = self.buf.len();
        for frame in self.buf[start..].chunks_exact_mut(HEADER + len) {
            let header = (len as u32 | u32::from(self.sequence) << 24).to_le_bytes();
            frame[..HEADER].copy_from_slice(&header);
            self.sequence = self.sequence.wrapping_add(1);
        }
        &mut self.buf[start..]
    }

    #[cold]
    fn end_long(&mut self) {
        let payload = self.buf.split_off(self.open + HEADER);
        self.buf.truncate(self.open);
        let mut rest = payload.as_slice();
        loop {
            let (frame, tail) = rest.split_at(rest.len().min(MAX_FRAME));
            let header = self.header(frame.len());
            self.buf.extend_from_slice(&header);
            self.buf.extend_from_slice(frame);
            rest = tail;
            if frame.len() < MAX_FRAME {
                break;
            }
        }
        self.open = self.buf.len();
    }

    /// Drops the packet begun last, if it has not ended.
    pub fn abort(&mut self) {
        self.buf.truncate(self.open);
    }

    /// A whole packet at once.
    pub fn put(&mut self, payload: &[u8]) {
        self.begin().extend_from_slice(payload);
        self.end();
    }

    /// Whether nothing waits to be sent.
    pub fn is_empty(&self) -> bool {
        self.buf.is_empty()
    }

    /// Bytes that wait to be sent.
    pub fn len(&self) -> usize {
        self.buf.len()
    }

    /// The finished packets.
    pub fn bytes(&self) -> &[u8] {
        &self.buf
    }

    /// Sends everything collected through `flush`.
    pub fn flush(&mut self, flush: &mut dyn Flush) -> io::Result<()> {
        if self.buf.is_empty() {
            return Ok(());
        }
        let result = flush.flush(&mut self.buf);
        self.open = self.buf.len();
        result
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.buf.clear();
        self.open = 0;
    }

    /// Drops everything and collects in this buffer from now on.
    pub fn set_buffer(&mut self, buffer: Vec<u8>) {
        self.buf = buffer;
        self.clear();
    }

    /// Drops everything and takes the buffer away.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        self.clear();
        std::mem::take(&mut self.buf)
    }
}

#[cfg(test)]
mod tests;
