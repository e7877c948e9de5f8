//! The end of a string, found several bytes at a time.

/// Bytes that are looked at together.
const CHUNK: usize = 16;
const WORD: usize = 8;

/// Where the first of two bytes is.
#[inline]
pub(crate) fn find_either(bytes: &[u8], a: u8, b: u8) -> Option<usize> {
    let mut at = 0;
    let (chunks, _) = bytes.as_chunks::<CHUNK>();
    for chunk in chunks {
        // No early end: so it takes a few instructions.
        if chunk.iter().fold(false, |found, byte| found | (*byte == a) | (*byte == b)) {
            break;
        }
        at += CHUNK;
    }
    while let Some(word) = bytes[at..].first_chunk::<WORD>() {
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ repeated(a)) | zeros(word ^ repeated(b));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += WORD;
    }
    bytes[at..].iter().position(|byte| *byte == a || *byte == b).map(|found| at + found)
}

fn repeated(byte: u8) -> u64 {
    u64::from(byte) * 0x0101_0101_0101_0101
}

/// The highest bit of the lowest byte that is zero, and maybe of others above it.
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
}
