//! Upper and lower case, one character to one character, as MySQL maps them.
//!
//! A stored map has two lists, to upper and to lower case. Each is a varint count of runs; a run is
//! the distance of its first character from the last run's, `length << 1 | every_second`, and the
//! zigzag distance from each character to its counterpart.

use super::bytes::ByteSet;
use super::code_set::CodeSet;
use std::sync::LazyLock;

/// Which map a collation uses.
#[derive(Clone, Copy)]
pub(super) enum Casing {
    /// Bytes have no case.
    NoCase,
    /// ASCII letters only.
    AsciiCase,
    /// The tables of an 8-bit set.
    Bytes(&'static LazyLock<ByteSet>),
    /// The tables of a set of several bytes.
    Codes(&'static LazyLock<CodeSet>),
    /// As [`Casing::Unicode300`], but i and I are letters apart, each with and without a dot.
    Turkish,
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

impl Casing {
    /// Whether ASCII letters have their usual counterparts.
    #[inline]
    pub(super) fn is_usual_in_ascii(self) -> bool {
        match self {
            Casing::NoCase | Casing::Turkish => false,
            Casing::Bytes(set) => set.is_usual_in_ascii,
            _ => true,
        }
    }

    /// The upper-case counterpart.
    pub(super) fn upper(self, char: char) -> char {
        match self {
            Casing::NoCase => char,
            Casing::Turkish if char == 'i' => 'İ',
            Casing::Bytes(set) => set.upper(char),
            _ if char.is_ascii() => char.to_ascii_uppercase(),
            Casing::AsciiCase => char,
            Casing::Codes(set) => set.upper(char),
            Casing::Unicode300 | Casing::Turkish => find(&UNICODE_300.upper, char),
            Casing::Unicode520 => find(&UNICODE_520.upper, char),
            Casing::Unicode900 => find(&UNICODE_900.upper, char),
        }
    }

    /// The lower-case counterpart.
    pub(super) fn lower(self, char: char) -> char {
        match self {
            Casing::NoCase => char,
            Casing::Turkish if char == 'I' => 'ı',
            Casing::Bytes(set) => set.lower(char),
            _ if char.is_ascii() => char.to_ascii_lowercase(),
            Casing::AsciiCase => char,
            Casing::Codes(set) => set.lower(char),
            Casing::Unicode300 | Casing::Turkish => find(&UNICODE_300.lower, char),
            Casing::Unicode520 => find(&UNICODE_520.lower, char),
            Casing::Unicode900 => find(&UNICODE_900.lower, char),
        }
    }
}
