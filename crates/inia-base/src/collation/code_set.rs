//! Character sets of several bytes a character: which character each code is, its other case, and
//! what it weighs.
//!
//! A code is a number: of one to three bytes as they stand, of four bytes (`gb18030`) the place
//! among all such codes, from 0x1000000 on. ASCII is the same in all sets and not stored. Many
//! codes of one set are those of another, so a stored set says what differs from that one. All
//! numbers are LEB128 varints, and lists begin with their size in bytes:
//!
//! ```text
//! codes         blocks: count << 1 | rising, distance of the first code from the last block's end,
//!               zigzag distances of the characters, or of the first where each is one more
//! missing       their number; each: distance of the first code from the last, how many more
//! upper, lower  blocks as for codes, of characters and their counterparts
//! weights       runs as in `weights.rs`: operation 10 stands for characters that weigh their code
//! ```
//!
//! In `gb18030_chinese_ci` a weight by sound is stored as its lower half, another weight of four
//! bytes as two numbers, and one of fewer bytes as zero and itself.

use super::weights::{Reader, Weights};

/// First code of four bytes.
const FOUR_BYTES: u32 = 0x100_0000;
/// Upper half of the weights by sound.
const BY_SOUND: u16 = 0xFFA0;
/// Upper half of the weights of codes of four bytes, to which the upper half of its place is added.
const BY_PLACE: u32 = 0xFF00_0000;

/// Neighbouring codes of neighbouring characters.
#[derive(Clone, Copy)]
struct Stretch {
    code: u32,
    char: u32,
    len: u32,
}

/// A set of codes.
pub(super) struct CodeSet {
    /// By code.
    codes: Vec<Stretch>,
    /// By character.
    chars: Vec<Stretch>,
    upper: Vec<(u32, u32)>,
    lower: Vec<(u32, u32)>,
    /// What characters weigh that do not weigh their code.
    weights: Vec<(u32, Vec<u16>)>,
}

fn blocks(reader: &mut Reader<'_>) -> Vec<Stretch> {
    let size = reader.number() as usize;
    let mut reader = Reader::new(reader.take(size));
    let mut found: Vec<Stretch> = Vec::new();
    let (mut code, mut char) = (0u32, 0u32);
    while !reader.is_at_end() {
        let head = reader.number();
        let (count, rising) = (head >> 1, head & 1 == 1);
        code += reader.number();
        if rising {
            char = char.wrapping_add(reader.difference());
            found.push(Stretch { code, char, len: count });
            char += count - 1;
        } else {
            for place in 0..count {
                char = char.wrapping_add(reader.difference());
                found.push(Stretch { code: code + place, char, len: 1 });
            }
        }
        code += count;
    }
    found
}

fn pairs(reader: &mut Reader<'_>) -> Vec<(u32, u32)> {
    let each = |own: Stretch| (0..own.len).map(move |at| (own.code + at, own.char + at));
    blocks(reader).into_iter().flat_map(each).collect()
}

fn find(pairs: &[(u32, u32)], char: char) -> char {
    let found = pairs.binary_search_by_key(&u32::from(char), |pair| pair.0);
    found.ok().and_then(|at| char::from_u32(pairs[at].1)).unwrap_or(char)
}

impl CodeSet {
    pub(super) fn expand(stored: &[u8], base: Option<&CodeSet>) -> CodeSet {
        let mut reader = Reader::new(stored);
        let mut codes = blocks(&mut reader);
        let mut end = 0;
        let missing: Vec<(u32, u32)> = (0..reader.number())
            .map(|_| {
                let first = end + reader.number();
                end = first + reader.number();
                (first, end)
            })
            .collect();
        if let Some(base) = base {
            let own: Vec<u32> = codes.iter().map(|own| own.code).collect();
            let kept = |code: u32| {
                let gone = missing.iter().any(|&(first, last)| (first..=last).contains(&code));
                !gone && own.binary_search(&code).is_err()
            };
            let each = |own: &Stretch| {
                let Stretch { code, char, len } = *own;
                (0..len).map(move |at| Stretch { code: code + at, char: char + at, len: 1 })
            };
            codes.extend(base.codes.iter().flat_map(each).filter(|own| kept(own.code)));
        }
        codes.sort_unstable_by_key(|own| own.code);
        let mut chars = codes.clone();
        chars.sort_unstable_by_key(|own| own.char);
        let (upper, lower) = (pairs(&mut reader), pairs(&mut reader));
        let weights = reader.rest();
        let table = (!weights.is_empty()).then(|| Weights::expand(weights));
        let weights = table.map_or(Vec::new(), |table| {
            let listed = |char: u32| Some((char, table.of(char).as_slice().to_vec()));
            (0..=0x10_FFFF).filter_map(listed).filter(|(_, own)| !own.is_empty()).collect()
        });
        CodeSet { codes, chars, upper, lower, weights }
    }

    /// The code of a character.
    pub(super) fn code(&self, char: char) -> Option<u32> {
        let char = u32::from(char);
        // The backslash of sjis has a code of two bytes; all other ASCII characters are not stored.
        if char < 0x80 && self.chars.first().is_none_or(|own| own.char != char) {
            return Some(char);
        }
        let after = self.chars.partition_point(|own| own.char <= char);
        let own = self.chars.get(after.checked_sub(1)?)?;
        (char < own.char + own.len).then(|| own.code + (char - own.char))
    }

    /// The character of a code.
    fn char(&self, code: u32) -> Option<char> {
        let after = self.codes.partition_point(|own| own.code <= code);
        let own = self.codes.get(after.checked_sub(1)?)?;
        let char = (code < own.code + own.len).then(|| own.char + (code - own.code))?;
        char::from_u32(char)
    }

    /// Appends a character's bytes, a question mark where it has none. ASCII characters are
    /// themselves: sjis has two codes of the backslash, and clients send that of one byte.
    pub(super) fn encode(&self, char: char, out: &mut Vec<u8>) {
        match self.code(char).filter(|_| !char.is_ascii()) {
            None if char.is_ascii() => out.push(char as u8),
            None => out.push(b'?'),
            Some(code) => out.extend_from_slice(&bytes_of(code).1[4 - bytes_of(code).0..]),
        }
    }

    /// The character at the front of some bytes, and how many it takes.
    pub(super) fn decode(&self, bytes: &[u8]) -> Option<(char, usize)> {
        let first = *bytes.first()?;
        if first < 0x80 {
            return Some((first.into(), 1));
        }
        if let Some(char) = self.char(first.into()) {
            return Some((char, 1));
        }
        let number = |size: usize| {
            let own = bytes.get(..size)?;
            Some(own.iter().fold(0, |code, &byte| code << 8 | u32::from(byte)))
        };
        if let Some(char) = number(2).and_then(|code| self.char(code)) {
            return Some((char, 2));
        }
        if first == 0x8F
            && let Some(char) = number(3).and_then(|code| self.char(code))
        {
            return Some((char, 3));
        }
        let [a @ 0x81..=0xFE, b @ 0x30..=0x39, c @ 0x81..=0xFE, d @ 0x30..=0x39] =
            *bytes.get(..4)?
        else {
            return None;
        };
        let digit = |byte: u8, first: u8| u32::from(byte - first);
        let place = ((digit(a, 0x81) * 10 + digit(b, 0x30)) * 126 + digit(c, 0x81)) * 10;
        Some((self.char(FOUR_BYTES + place + digit(d, 0x30))?, 4))
    }

    /// The upper-case counterpart.
    pub(super) fn upper(&self, char: char) -> char {
        find(&self.upper, char)
    }

    /// The lower-case counterpart.
    pub(super) fn lower(&self, char: char) -> char {
        find(&self.lower, char)
    }

    /// The weights of its characters: the codes, or those of its collation that ignores case.
    /// `by_code` takes codes for the weights of all but ASCII.
    pub(super) fn weights(&self, ignores_case: bool, by_code: bool) -> Weights {
        let stored = |char: char| {
            let found = self.weights.binary_search_by_key(&u32::from(char), |own| own.0);
            let taken = ignores_case && (!by_code || char.is_ascii());
            found.ok().filter(|_| taken).map(|at| &self.weights[at].1[..])
        };
        let ascii = (0..0x80u8).map(char::from).map(|char| {
            let folded = if ignores_case { char.to_ascii_uppercase() } else { char };
            (char, stored(char).map_or_else(|| vec![folded as u16], <[u16]>::to_vec))
        });
        let others = self.codes.iter().flat_map(|own| {
            (0..own.len).filter_map(|at| Some((char::from_u32(own.char + at)?, own.code + at)))
        });
        let others = others.map(|(char, code)| {
            let weights = match stored(char) {
                Some([0, weight]) => vec![*weight],
                Some([weight]) if self.codes_of_four() => vec![BY_SOUND, *weight],
                Some(weights) => weights.to_vec(),
                None if code >= FOUR_BYTES && ignores_case => {
                    let weight = BY_PLACE + (code - FOUR_BYTES);
                    vec![(weight >> 16) as u16, weight as u16]
                }
                None => units(code),
            };
            (char, weights)
        });
        Weights::of_chars(ascii.chain(others), &[b'?'.into()])
    }

    fn codes_of_four(&self) -> bool {
        self.codes.last().is_some_and(|own| own.code >= FOUR_BYTES)
    }
}

/// How many bytes a code has, and the bytes at the end of four.
fn bytes_of(code: u32) -> (usize, [u8; 4]) {
    let Some(place) = code.checked_sub(FOUR_BYTES) else {
        let size = if code < 0x100 { 1 } else { 2 + usize::from(code > 0xFFFF) };
        return (size, code.to_be_bytes());
    };
    let digits = [place / 12600, place / 1260 % 10, place / 10 % 126, place % 10];
    let firsts = [0x81, 0x30, 0x81, 0x30];
    (4, std::array::from_fn(|at| firsts[at] + digits[at] as u8))
}

/// A code as weights: its bytes in pairs, the last filled up with zero. Such weights order as the
/// bytes do, since no ASCII character begins a longer code.
fn units(code: u32) -> Vec<u16> {
    let (size, bytes) = bytes_of(code);
    let own = &bytes[4 - size..];
    own.chunks(2).map(|pair| u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)])).collect()
}
