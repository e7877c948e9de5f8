//! Damaged inputs: sensible bytes and texts, changed a little, from a seed.
//!
//! A decoder that is fed pure noise stops at its first check. What was valid and is nearly so still
//! comes far in, so mutations start from valid inputs. `INIA_MUTATIONS=50` gives fifty times the
//! rounds and other seeds than the usual run's.

use crate::random::Random;

/// How many rounds a test takes: `usual` ones, or as many times more as `INIA_MUTATIONS` says.
pub fn rounds(usual: u64) -> u64 {
    let times = std::env::var("INIA_MUTATIONS").ok().and_then(|times| times.parse().ok());
    usual * times.unwrap_or(1)
}

/// Numbers at which lengths and counts go wrong.
const EDGES: [u64; 10] =
    [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX];

/// Changes bytes in a few places: bits, bytes, numbers at their edges, pieces lost, doubled, moved
/// or taken from `other`.
pub fn bytes(random: &mut Random, input: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..1 + random.skewed(8) {
        let at = random.index(input.len());
        let end = at + random.skewed((input.len() - at) as u64 + 1) as usize;
        match random.below(8) {
            0 if !input.is_empty() => input[at] ^= 1 << random.below(8),
            1 if !input.is_empty() => input[at] = random.next_u64() as u8,
            2 => {
                let edge = random.pick(&EDGES).wrapping_add(random.below(3)).wrapping_sub(1);
                let width = (1usize << random.below(4)).min(input.len() - at);
                input[at..at + width].copy_from_slice(&edge.to_le_bytes()[..width]);
            }
            3 => drop(input.drain(at..end)),
            4 => input.truncate(at),
            5 => {
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
            6 => {
                let from = random.index(other.len());
                let to = from + random.skewed((other.len() - from) as u64 + 1) as usize;
                input.splice(at..at, other[from..to].iter().copied());
            }
            _ => input.insert(at, random.next_u64() as u8),
        }
    }
}

/// Pieces of statements, documents, dates and numbers that matter to their readers.
const PIECES: &[&str] = &[
    "",
    " ",
    "0",
    "-1",
    "1e308",
    "1e-400",
    "99999999999999999999",
    "9223372036854775808",
    ".5",
    "5.",
    "0x",
    "b'1'",
    "NULL",
    "''",
    "'\\",
    "\"",
    "`",
    "(",
    ")",
    "((",
    ",",
    ";",
    ".",
    "..",
    "%",
    "_",
    "\\",
    "*",
    "**",
    "[",
    "]",
    "[last]",
    "$",
    "$.",
    "{",
    "}",
    ":",
    "::",
    "-",
    "--",
    "/*",
    "*/",
    "\0",
    "é",
    "ß",
    "漢",
    "😀",
    "\u{301}",
    "{9999}",
    "(?",
    "[^",
    "|",
    "+",
    "?",
    "{1,",
    "00",
    "-00:00",
    "+14:00",
    "T",
    "0000-00-00",
    "9999-12-31",
    "23:59:59.9999995",
    "838:59:59",
    "@",
    "@@",
    ":=",
    "<=>",
    "DISTINCT",
];

/// Changes a text in a few places, at the boundaries of its characters or of its words.
pub fn text(random: &mut Random, input: &str, other: &str) -> String {
    let mut text = input.to_owned();
    for _ in 0..1 + random.skewed(6) {
        let (at, end) = span(random, &text);
        match random.below(7) {
            0 => text.insert_str(at, random.pick::<&str>(PIECES)),
            1 => text.replace_range(at..end, random.pick::<&str>(PIECES)),
            2 => text.replace_range(at..end, ""),
            3 => {
                let piece = text[at..end].to_owned();
                text.insert_str(at, &piece);
            }
            4 => {
                let (from, to) = span(random, other);
                text.replace_range(at..end, &other[from..to]);
            }
            5 => text.truncate(at),
            _ => {
                let repeated = random.pick::<&str>(PIECES).repeat(1 + random.index(40));
                text.insert_str(at, &repeated);
            }
        }
    }
    text
}

/// A piece of a text: one word, or anything between two characters.
fn span(random: &mut Random, text: &str) -> (usize, usize) {
    if random.chance(2, 3) {
        let words: Vec<&str> = text.split(' ').collect();
        let word = *random.pick(&words);
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        return (start, start + word.len());
    }
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let from = random.index(places.len());
    let to = (from + random.skewed(8) as usize).min(places.len() - 1);
    (places[from], places[to])
}

#[cfg(test)]
mod tests;
