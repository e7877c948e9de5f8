//! Compressed packets: the stream of ordinary packets cut into pieces, each with a header of its
//! own, and deflated (zlib) or compressed by zstd where that pays.
//!
//! ```text
//! 19 00 00  00  64 00 00   …25 bytes that unpack to 100…
//! 05 00 00  00  00 00 00   …5 bytes as they are: short pieces are not compressed
//! ```
//! The header is the length on the wire, a sequence number that starts at 0 with each request,
//! and the length unpacked, which is 0 for a piece that was left as it is.

use crate::caps::Capabilities;
use crate::codec::put_u24;
use crate::error::WireError;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use std::io::{self, Read, Write};

const HEADER: usize = 7;
/// Shorter pieces are sent as they are.
const MIN_LENGTH: usize = 50;
const MAX_PIECE: usize = 0xff_ffff;
/// Bigger buffers are given back when they are empty.
const KEEP_BUFFER: usize = 1 << 20;
const BAD: WireError = WireError::Malformed("a compressed packet");

/// The way pieces are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Deflate with zlib's frame.
    Zlib,
    /// zstd with this level.
    Zstd(i32),
}

impl Method {
    /// The name that status variables show, and the level.
    pub fn name_and_level(self) -> (&'static str, i32) {
        match self {
            Method::Zlib => ("zlib", 6),
            Method::Zstd(level) => ("zstd", level),
        }
    }

    /// The method that both sides agreed on in the login.
    pub fn agreed(caps: Capabilities, zstd_level: u8) -> Option<Method> {
        if caps.has(Capabilities::COMPRESS) {
            Some(Method::Zlib)
        } else if caps.has(Capabilities::ZSTD_COMPRESSION) {
            Some(Method::Zstd(i32::from(zstd_level.clamp(1, 22))))
        } else {
            None
        }
    }
}

/// One side of a compressed connection.
pub struct Compressor {
    method: Method,
    deflate: Compress,
    inflate: Decompress,
    /// Received bytes that are not a whole piece yet.
    received: Vec<u8>,
    /// Unpacked bytes; those before `taken` have been read.
    unpacked: Vec<u8>,
    taken: usize,
    packed: Vec<u8>,
    /// Sequence number of the next piece.
    sequence: u8,
    max_packet: usize,
}

impl Compressor {
    /// A side that starts after the login. Pieces that unpack to much more than `max_packet` are
    /// refused.
    pub fn new(method: Method, max_packet: usize) -> Compressor {
        Compressor {
            method,
            deflate: Compress::new(Compression::new(6), true),
            inflate: Decompress::new(true),
            received: Vec::new(),
            unpacked: Vec::new(),
            taken: 0,
            packed: Vec::new(),
            sequence: 0,
            max_packet,
        }
    }

    /// The next bytes sent belong to a new request (for clients).
    pub fn start_request(&mut self) {
        self.sequence = 0;
    }

    /// Adds received bytes.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    /// Takes unpacked bytes into `buf`; 0 when more must be received first. One piece is unpacked
    /// at a time, so that a few bytes cannot fill the memory.
    pub fn read(&mut self, buf: &mut [u8]) -> Result<usize, WireError> {
        while self.taken == self.unpacked.len() {
            if !self.unpack_next()? {
                return Ok(0);
            }
        }
        let rest = &self.unpacked[self.taken..];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.taken += n;
        if self.taken == self.unpacked.len() && self.unpacked.capacity() > KEEP_BUFFER {
            (self.unpacked, self.taken) = (Vec::new(), 0);
        }
        Ok(n)
    }

    /// Unpacks the next piece in place of the last one; false if it is not there yet.
    fn unpack_next(&mut self) -> Result<bool, WireError> {
        self.unpacked.clear();
        self.taken = 0;
        let Some(&[a, b, c, sequence, d, e, f]) = self.received.first_chunk::<HEADER>() else {
            return Ok(false);
        };
        let len = u32::from_le_bytes([a, b, c, 0]) as usize;
        let full = u32::from_le_bytes([d, e, f, 0]) as usize;
        if full > self.max_packet.saturating_add(1 << 16) {
            return Err(WireError::PacketTooLarge);
        }
        let end = HEADER + len;
        let Some(piece) = self.received.get(HEADER..end) else { return Ok(false) };
        self.sequence = sequence.wrapping_add(1);
        if full > max_unpacked(self.method, len) {
            return Err(BAD);
        }
        if full == 0 {
            self.unpacked.extend_from_slice(piece);
        } else {
            unpack(self.method, &mut self.inflate, piece, full, &mut self.unpacked)?;
        }
        self.received.drain(..end);
        if self.received.is_empty() && self.received.capacity() > KEEP_BUFFER {
            self.received = Vec::new();
        }
        Ok(true)
    }

    /// What was packed has been sent.
    pub fn sent(&mut self) {
        self.packed.clear();
        if self.packed.capacity() > KEEP_BUFFER {
            self.packed = Vec::new();
        }
    }

    /// Bytes of memory in use.
    #[cfg(test)]
    fn held(&self) -> usize {
        self.received.capacity() + self.unpacked.capacity() + self.packed.capacity()
    }

    /// Packs `bytes`, cut into pieces where they are long, and returns what to send.
    pub fn pack(&mut self, bytes: &[u8]) -> Result<&[u8], WireError> {
        self.packed.clear();
        for piece in bytes.chunks(MAX_PIECE) {
            let head = self.packed.len();
            self.packed.extend_from_slice(&[0; HEADER]);
            let pays = piece.len() >= MIN_LENGTH && self.pack_piece(piece)?;
            if !pays {
                self.packed.truncate(head + HEADER);
                self.packed.extend_from_slice(piece);
            }
            let len = self.packed.len() - head - HEADER;
            let mut header = Vec::with_capacity(HEADER);
            put_u24(&mut header, len as u32);
            header.push(self.sequence);
            put_u24(&mut header, if pays { piece.len() as u32 } else { 0 });
            self.packed[head..head + HEADER].copy_from_slice(&header);
            self.sequence = self.sequence.wrapping_add(1);
        }
        Ok(&self.packed)
    }

    /// Appends the piece compressed; false if that does not make it shorter.
    fn pack_piece(&mut self, piece: &[u8]) -> Result<bool, WireError> {
        let start = self.packed.len();
        match self.method {
            Method::Zlib => {
                self.deflate.reset();
                self.packed.reserve(piece.len() + piece.len() / 1000 + 64);
                let status = self
                    .deflate
                    .compress_vec(piece, &mut self.packed, FlushCompress::Finish)
                    .map_err(|_| BAD)?;
                if status != Status::StreamEnd {
                    return Ok(false);
                }
            }
            Method::Zstd(level) => {
                let packed = zstd::bulk::compress(piece, level).map_err(|_| BAD)?;
                self.packed.extend_from_slice(&packed);
            }
        }
        Ok(self.packed.len() - start < piece.len())
    }
}

/// A stream that is compressed from some moment on, or never.
pub struct Channel<S> {
    stream: S,
    compressor: Option<Box<Compressor>>,
    raw: Vec<u8>,
}

impl<S: Read + Write> Channel<S> {
    /// A channel that is not compressed yet.
    pub fn new(stream: S) -> Channel<S> {
        Channel { stream, compressor: None, raw: Vec::new() }
    }

    /// Everything from here on is compressed, both ways.
    pub fn compress(&mut self, method: Method, max_packet: usize) {
        self.compressor = Some(Box::new(Compressor::new(method, max_packet)));
        self.raw.resize(8 * 1024, 0);
    }

    /// Whether bytes are compressed from here on.
    pub fn is_compressed(&self) -> bool {
        self.compressor.is_some()
    }

    /// The stream below.
    pub fn stream(&mut self) -> &mut S {
        &mut self.stream
    }

    /// The stream below, to look at.
    pub fn stream_ref(&self) -> &S {
        &self.stream
    }

    /// The stream below, for another use.
    pub fn into_stream(self) -> S {
        self.stream
    }

    /// The next bytes sent belong to a new request (for clients).
    pub fn start_request(&mut self) {
        if let Some(compressor) = &mut self.compressor {
            compressor.start_request();
        }
    }

    /// Reads what is there; blocks only while there is nothing.
    #[inline]
    pub fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let Some(compressor) = &mut self.compressor else {
            return read_some(&mut self.stream, buf);
        };
        loop {
            let n = compressor.read(buf).map_err(io::Error::other)?;
            if n > 0 {
                return Ok(n);
            }
            match read_some(&mut self.stream, &mut self.raw)? {
                0 => return Ok(0),
                n => compressor.receive(&self.raw[..n]),
            }
        }
    }

    /// Writes everything, normally by one call of the stream.
    #[inline]
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.compressor {
            None => self.stream.write_all(bytes)?,
            Some(compressor) => {
                let packed = compressor.pack(bytes).map_err(io::Error::other)?;
                self.stream.write_all(packed)?;
                compressor.sent();
            }
        }
        self.stream.flush()
    }
}

#[inline]
fn read_some(stream: &mut impl Read, buf: &mut [u8]) -> io::Result<usize> {
    loop {
        match stream.read(buf) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// The most that so many bytes can unpack to, so that memory is taken for no claim beyond that: the
/// shortest codes of deflate stand for 258 bytes in two bits, a block of zstd's for 128 KiB in four
/// bytes.
fn max_unpacked(method: Method, len: usize) -> usize {
    match method {
        Method::Zlib => len.saturating_mul(4 * 258),
        Method::Zstd(_) => (len / 4 + 1) << 17,
    }
}

/// Appends exactly `full` bytes unpacked from `piece`.
fn unpack(
    method: Method,
    inflate: &mut Decompress,
    piece: &[u8],
    full: usize,
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    let start = out.len();
    match method {
        Method::Zlib => {
            inflate.reset(true);
            out.resize(start + full, 0);
            let status = inflate
                .decompress(piece, &mut out[start..], FlushDecompress::Finish)
                .map_err(|_| BAD)?;
            let whole = status == Status::StreamEnd && inflate.total_out() == full as u64;
            if whole { Ok(()) } else { Err(BAD) }
        }
        Method::Zstd(_) => {
            let unpacked = zstd::bulk::decompress(piece, full).map_err(|_| BAD)?;
            out.extend_from_slice(&unpacked);
            if unpacked.len() == full { Ok(()) } else { Err(BAD) }
        }
    }
}

#[cfg(test)]
mod tests;
