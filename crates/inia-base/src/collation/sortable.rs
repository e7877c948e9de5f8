//! Collations that turn a whole text into bytes to compare: Thai, and the Czech ones of 8-bit sets.
//!
//! ```text
//! thai         a vowel written before its consonant changes places with it; tone marks go to the
//!              end, with a number that falls with each letter before them
//! cp1250 czech the letters of all characters, then their accents and cases; ch is one letter
//! latin2 czech per word the letters and the accents of its characters, then of all characters the
//!              cases, then all marks; ch is one letter. 2 ends a word, 1 what is last, 0 the text
//! ```

use super::bytes::ByteSet;
use super::tables::{CP1250_SET, LATIN2_SET, TIS620_SET};
use super::weights::{Reader, Weights};
use std::cmp::Ordering;
use std::sync::LazyLock;

/// Such a collation.
pub(super) struct Sortable {
    set: &'static LazyLock<ByteSet>,
    transform: fn(&[u8]) -> Vec<u8>,
    /// Whether what is compared is padded with spaces; else spaces at a text's end go first.
    pad: bool,
}

pub(super) static THAI: Sortable = Sortable { set: &TIS620_SET, transform: thai, pad: true };
pub(super) static CP1250_CZECH: Sortable =
    Sortable { set: &CP1250_SET, transform: cp1250_czech, pad: false };
pub(super) static LATIN2_CZECH: Sortable =
    Sortable { set: &LATIN2_SET, transform: latin2_czech, pad: false };

impl Sortable {
    /// The bytes of WEIGHT_STRING: Thai text counts as spaces from a zero byte on.
    pub(super) fn weight_string(&self, text: &[u8]) -> Vec<u8> {
        let mut weights = self.weights(text);
        if self.pad
            && let Some(end) = weights.iter().position(|&byte| byte == 0)
        {
            weights[end..].fill(b' ');
        }
        weights
    }

    /// What a text is turned into.
    fn weights(&self, text: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(text);
        let bytes: Vec<u8> = text.chars().map(|c| self.set.byte(c).unwrap_or(b'?')).collect();
        (self.transform)(&bytes)
    }

    /// The bytes that texts compare by.
    fn compared(&self, text: &[u8]) -> Vec<u8> {
        match self.pad {
            true => self.weights(text),
            false => self.weights(super::trim_spaces(text)),
        }
    }

    pub(super) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let (a, b) = (self.compared(a), self.compared(b));
        if self.pad { super::compare_padded(&a, &b) } else { a.cmp(&b) }
    }

    pub(super) fn same_char(&self, a: u32, b: u32) -> bool {
        let text = |code: u32| char::from_u32(code).unwrap_or('\u{FFFD}').to_string();
        a == b || self.weights(text(a).as_bytes()) == self.weights(text(b).as_bytes())
    }

    /// Appends a key without zero bytes that orders as the texts do.
    pub(super) fn sort_key(&self, text: &[u8], out: &mut Vec<u8>) {
        const ESCAPE: u8 = 0xF0;
        let own = self.compared(text);
        let mut padded = Vec::new();
        // High bytes take two, so that all are low enough to be moved up.
        let escaped = own.iter().flat_map(|&byte| match byte {
            ESCAPE.. => [Some(ESCAPE), Some(byte - ESCAPE + b'0')],
            _ => [Some(byte), None],
        });
        let escaped: Vec<u8> = escaped.flatten().collect();
        match self.pad {
            true => super::padded_key(&escaped, &mut padded),
            false => padded.extend(escaped.iter().map(|byte| byte + 1)),
        }
        out.append(&mut padded);
    }
}

const CONSONANTS: std::ops::RangeInclusive<u8> = 0xA1..=0xCE;

/// The place of a mark above a consonant among such marks.
fn thai_mark(byte: u8) -> Option<u8> {
    match byte {
        0xEC => Some(1),
        0xE7..=0xEB => Some(byte - 0xE5),
        _ => None,
    }
}

fn thai(text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    let (mut at, mut left) = (0, out.len());
    let mut number = 0xF8u8;
    while left > 0 {
        let byte = out[at];
        if byte < 0x80 || CONSONANTS.contains(&byte) {
            number = number.wrapping_sub(8);
        }
        if byte < 0x80 {
            out[at] = byte.to_ascii_lowercase();
        } else if matches!(byte, 0xE0..=0xE4) && left > 1 && CONSONANTS.contains(&out[at + 1]) {
            out.swap(at, at + 1);
            at += 1;
            left -= 1;
        } else if let Some(mark) = thai_mark(byte) {
            out.copy_within(at + 1..at + left, at);
            let last = out.len() - 1;
            out[last] = number.wrapping_add(mark);
            left -= 1;
            continue;
        }
        at += 1;
        left -= 1;
    }
    out
}

/// The weights of each byte at each level.
static CP1250_WEIGHTS: LazyLock<Vec<Vec<u16>>> =
    LazyLock::new(|| levels(include_bytes!("data/cp1250_czech.bin"), 1).remove(0));
static LATIN2_WEIGHTS: LazyLock<Vec<Vec<Vec<u16>>>> =
    LazyLock::new(|| levels(include_bytes!("data/latin2_czech.bin"), 4));

fn levels(stored: &[u8], count: usize) -> Vec<Vec<Vec<u16>>> {
    let mut reader = Reader::new(stored);
    let level = |_| {
        let size = reader.number() as usize;
        let table = Weights::expand(reader.take(size));
        (0..256).map(|byte| table.of(byte).as_slice().to_vec()).collect()
    };
    (0..count).map(level).collect()
}

/// Which case ch has at the front of a text, if it begins with that letter.
fn ch(text: &[u8]) -> Option<u8> {
    match *text.get(..2)? {
        [b'c', b'h'] => Some(0),
        [b'C', b'h'] => Some(1),
        [b'C', b'H'] => Some(2),
        _ => None,
    }
}

fn cp1250_czech(text: &[u8]) -> Vec<u8> {
    const CH: u8 = 0xAD;
    let (mut letters, mut others) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < text.len() {
        if let Some(case) = ch(&text[at..]) {
            letters.push(CH);
            others.push(3 - case);
            at += 2;
            continue;
        }
        let weights = &CP1250_WEIGHTS[usize::from(text[at])];
        letters.extend(weights.first().map(|&weight| weight as u8));
        others.extend(weights.get(1).map(|&weight| weight as u8));
        at += 1;
    }
    letters.append(&mut others);
    letters
}

/// A letter's weights at the four levels; of a blank none.
type CzechLetter = Option<[Vec<u8>; 4]>;

fn czech_letters(text: &[u8]) -> Vec<CzechLetter> {
    let mut letters = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if let Some(case) = ch(&text[at..]) {
            letters.push(Some([vec![0x0C], vec![0x19], vec![0x2F + case], vec![0x2F + case]]));
            at += 2;
            continue;
        }
        let byte = text[at];
        let level = |level: usize| {
            let own = &LATIN2_WEIGHTS[level][usize::from(byte)];
            own.iter().map(|&weight| weight as u8).collect()
        };
        letters.push((!matches!(byte, b' ' | b'\t')).then(|| std::array::from_fn(level)));
        at += 1;
    }
    let end = letters.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    letters.truncate(end);
    letters
}

fn latin2_czech(text: &[u8]) -> Vec<u8> {
    const WORD: u8 = 2;
    const LEVEL: u8 = 1;
    let letters = czech_letters(text);
    let mut out = Vec::new();
    let runs: Vec<&[CzechLetter]> = letters.chunk_by(|a, b| a.is_some() == b.is_some()).collect();
    let is_word = |run: &&&[CzechLetter]| run.first().is_some_and(Option::is_some);
    let mut words: Vec<&[CzechLetter]> = runs.iter().filter(is_word).copied().collect();
    if words.len() == runs.len() / 2 {
        // A text that begins with blanks begins with an empty word, and one of nothing is one.
        words.insert(0, &[]);
    }
    for (index, word) in words.iter().enumerate() {
        let end = if index + 1 == words.len() { LEVEL } else { WORD };
        for level in 0..2 {
            out.extend(word.iter().flatten().flat_map(|own| &own[level]));
            out.push(end);
        }
    }
    for run in runs {
        match run.first() {
            Some(None) => out.push(WORD),
            _ => out.extend(run.iter().flatten().flat_map(|own| &own[2])),
        }
    }
    out.push(LEVEL);
    for letter in &letters {
        match letter {
            None => out.push(WORD),
            Some(own) => out.extend_from_slice(&own[3]),
        }
    }
    out.push(0);
    out
}
