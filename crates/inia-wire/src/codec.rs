//! The protocol's basic encodings: little-endian integers, length-encoded integers and strings.

use crate::error::WireError;

/// The longest string whose length takes one byte.
pub(crate) const SHORT: u8 = 0xfa;

/// Reads the protocol's encodings from a packet's payload; never reads past its end.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

const ENDS_EARLY: WireError = WireError::Malformed("the packet ends early");

impl<'a> Reader<'a> {
    /// A reader over a whole payload.
    pub fn new(payload: &'a [u8]) -> Reader<'a> {
        Reader { rest: payload }
    }

    /// Whether everything has been read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The next byte, left in place.
    pub fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// The next `n` bytes.
    #[inline]
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8], WireError> {
        if n > self.rest.len() {
            return Err(ENDS_EARLY);
        }
        let (head, tail) = self.rest.split_at(n);
        self.rest = tail;
        Ok(head)
    }

    /// The next `N` bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let Some((head, tail)) = self.rest.split_first_chunk::<N>() else { return Err(ENDS_EARLY) };
        self.rest = tail;
        Ok(*head)
    }

    /// Checks that everything has been read.
    #[inline]
    pub fn finish(self) -> Result<(), WireError> {
        if self.rest.is_empty() { Ok(()) } else { Err(WireError::Malformed("the packet goes on")) }
    }

    /// Everything that is left.
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, WireError> {
        Ok(self.array::<1>()?[0])
    }

    /// Two bytes.
    pub fn u16(&mut self) -> Result<u16, WireError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Three bytes.
    fn u24(&mut self) -> Result<u32, WireError> {
        let [a, b, c] = self.array()?;
        Ok(u32::from_le_bytes([a, b, c, 0]))
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Result<u32, WireError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> Result<u64, WireError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A length-encoded integer.
    pub fn lenenc(&mut self) -> Result<u64, WireError> {
        match self.u8()? {
            n @ 0..=0xfa => Ok(u64::from(n)),
            0xfc => Ok(u64::from(self.u16()?)),
            0xfd => Ok(u64::from(self.u24()?)),
            0xfe => self.u64(),
            _ => Err(WireError::Malformed("a length starts with 0xfb or 0xff")),
        }
    }

    /// A length-encoded string.
    pub fn lenenc_bytes(&mut self) -> Result<&'a [u8], WireError> {
        let len = self.lenenc()?;
        self.bytes(usize::try_from(len).map_err(|_| ENDS_EARLY)?)
    }

    /// A length-encoded string, or `None` for the NULL marker of text rows.
    pub fn lenenc_or_null(&mut self) -> Result<Option<&'a [u8]>, WireError> {
        if self.peek() == Some(0xfb) {
            self.u8()?;
            return Ok(None);
        }
        self.lenenc_bytes().map(Some)
    }

    /// A string that ends with a zero byte, which is taken but not returned.
    pub fn nul_bytes(&mut self) -> Result<&'a [u8], WireError> {
        let end = self.rest.iter().position(|&b| b == 0).ok_or(ENDS_EARLY)?;
        let text = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Ok(text)
    }

    /// Like [`Reader::nul_bytes`], but the zero byte may be missing at the end of the packet.
    pub fn nul_or_rest(&mut self) -> &'a [u8] {
        self.nul_bytes().unwrap_or_else(|_| self.take_rest())
    }
}

/// Appends two bytes.
pub fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends three bytes.
pub fn put_u24(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes()[..3]);
}

/// Appends four bytes.
pub fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends eight bytes.
pub fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a length-encoded integer.
#[inline]
pub fn put_lenenc(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=0xfa => out.push(value as u8),
        0xfb..=0xffff => {
            out.push(0xfc);
            put_u16(out, value as u16);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            put_u24(out, value as u32);
        }
        _ => {
            out.push(0xfe);
            put_u64(out, value);
        }
    }
}

/// Appends a length-encoded string.
#[inline]
pub fn put_lenenc_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    match u8::try_from(bytes.len()) {
        Ok(len @ ..=SHORT) => out.push(len),
        _ => put_lenenc(out, bytes.len() as u64),
    }
    out.extend_from_slice(bytes);
}

/// Appends a string and a zero byte; the string is cut at a zero byte of its own.
pub fn put_nul_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    out.extend_from_slice(&bytes[..end]);
    out.push(0);
}
