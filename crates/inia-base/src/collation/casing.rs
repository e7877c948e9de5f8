//! Upper and lower case, one character to one character, as MySQL maps them.
//!
//! A stored map has two lists, to upper and to lower case. Each is a varint count of runs; a run is
//! the distance of its first character from the last run's, `length << 1 | every_second`, and the
//! zigzag distance from each character to its counterpart.

use super::charset::{LATIN1_CHARS, latin1_table, to_latin1};
use std::sync::LazyLock;

/// Which map a collation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Casing {
    /// Bytes have no case.
    None,
    /// ASCII letters only.
    Ascii,
    /// The table of latin1.
    Latin1,
    /// Unicode 3.0: general and unicode collations.
    Unicode300,
    /// Unicode 5.2.
    Unicode520,
    /// Unicode 9.0.
    Unicode900,
}

/// A map as sorted pairs, per direction.
struct CaseMap {
    upper: Vec<(u32, u32)>,
    lower: Vec<(u32, u32)>,
}

static UNICODE_300: LazyLock<CaseMap> =
    LazyLock::new(|| CaseMap::expand(include_bytes!("data/case300.bin")));
static UNICODE_520: LazyLock<CaseMap> =
    LazyLock::new(|| CaseMap::expand(include_bytes!("data/case520.bin")));
static UNICODE_900: LazyLock<CaseMap> =
    LazyLock::new(|| CaseMap::expand(include_bytes!("data/case900.bin")));

fn varint(bytes: &mut &[u8]) -> u32 {
    let mut value = 0;
    let mut shift = 0;
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        value |= u32::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

impl CaseMap {
    fn expand(mut stored: &[u8]) -> CaseMap {
        let mut list = || {
            let mut pairs = Vec::new();
            let mut first = 0;
            for _ in 0..varint(&mut stored) {
                first += varint(&mut stored);
                let shape = varint(&mut stored);
                let coded = varint(&mut stored);
                let distance = if coded & 1 == 0 { coded >> 1 } else { !(coded >> 1) };
                for index in 0..shape >> 1 {
                    let from = first + index * ((shape & 1) + 1);
                    pairs.push((from, from.wrapping_add(distance)));
                }
            }
            pairs.sort_unstable();
            pairs
        };
        CaseMap { upper: list(), lower: list() }
    }
}

fn find(pairs: &[(u32, u32)], char: char) -> char {
    let found = pairs.binary_search_by_key(&u32::from(char), |pair| pair.0);
    found.ok().and_then(|index| char::from_u32(pairs[index].1)).unwrap_or(char)
}

fn latin1(char: char, table: usize) -> char {
    let Some(byte) = to_latin1(char) else { return char };
    let mapped = latin1_table(table)[usize::from(byte)];
    char::from_u32(LATIN1_CHARS[usize::from(mapped)].into()).unwrap_or(char)
}

impl Casing {
    /// The upper-case counterpart.
    pub(super) fn upper(self, char: char) -> char {
        match self {
            Casing::None => char,
            _ if char.is_ascii() => char.to_ascii_uppercase(),
            Casing::Ascii => char,
            Casing::Latin1 => latin1(char, 3),
            Casing::Unicode300 => find(&UNICODE_300.upper, char),
            Casing::Unicode520 => find(&UNICODE_520.upper, char),
            Casing::Unicode900 => find(&UNICODE_900.upper, char),
        }
    }

    /// The lower-case counterpart.
    pub(super) fn lower(self, char: char) -> char {
        match self {
            Casing::None => char,
            _ if char.is_ascii() => char.to_ascii_lowercase(),
            Casing::Ascii => char,
            Casing::Latin1 => latin1(char, 4),
            Casing::Unicode300 => find(&UNICODE_300.lower, char),
            Casing::Unicode520 => find(&UNICODE_520.lower, char),
            Casing::Unicode900 => find(&UNICODE_900.lower, char),
        }
    }
}
