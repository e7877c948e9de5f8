//! Patterns of printable ASCII characters and `%`, matched byte by byte.
//!
//! Between two `%` stands a part whose characters each equal at most two ASCII characters, the
//! letter in both cases. Parts are searched for from left to right by Horspool's algorithm (1980):
//! the byte under a part's end says how far the part can move on.
//!
//! ```text
//!   %special%requests%      parts "special", "requests", neither at an end
//! ```
//!
//! A text with any other character is not for this search: it is matched character by character.

use inia_base::collation::Collation;
use std::sync::{Arc, Mutex, PoisonError};

/// Printable ASCII characters.
const PRINTABLE: std::ops::RangeInclusive<u8> = 0x20..=0x7e;

/// What stands between two `%`.
#[derive(Clone, Debug)]
struct PatternPart {
    /// Each character in both cases.
    bytes: Vec<[u8; 2]>,
    /// How far the part moves on from a byte under its end.
    shifts: Box<[u8; 256]>,
}

/// A pattern of such parts.
#[derive(Clone, Debug)]
pub(super) struct AsciiPattern {
    parts: Vec<PatternPart>,
    /// A match begins with the first part.
    at_start: bool,
    /// A match ends with the last part.
    at_end: bool,
}

/// For each printable character the two that equal it, the same one twice where only itself does;
/// `None` where more do.
type Equal = [Option<[u8; 2]>; 128];

/// What equals what under a collation. That is found out once.
fn equal_characters(collation: Collation) -> Arc<Equal> {
    static KNOWN: Mutex<Vec<(Collation, Arc<Equal>)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, equal)) = known.iter().find(|(of, _)| *of == collation) {
        return equal.clone();
    }
    let mut all: Equal = [None; 128];
    for byte in PRINTABLE {
        let equal = |other: &u8| collation.like(&[*other], &[b'\\', byte], Some('\\'));
        let mut equal = PRINTABLE.filter(equal);
        let first = equal.next().unwrap_or(byte);
        let second = equal.next().unwrap_or(first);
        all[usize::from(byte)] = equal.next().is_none().then_some([first, second]);
    }
    let all = Arc::new(all);
    known.push((collation, all.clone()));
    all
}

impl PatternPart {
    fn new(characters: &[u8], equal: &Equal) -> Option<PatternPart> {
        let bytes = characters.iter().map(|byte| equal[usize::from(*byte)]);
        let bytes = bytes.collect::<Option<Vec<_>>>()?;
        let length = u8::try_from(bytes.len()).ok()?;
        let mut shifts = Box::new([length; 256]);
        for (at, both) in bytes.iter().enumerate().take(bytes.len().saturating_sub(1)) {
            both.iter().for_each(|byte| shifts[usize::from(*byte)] = length - 1 - at as u8);
        }
        Some(PatternPart { bytes, shifts })
    }

    fn is_at(&self, text: &[u8]) -> bool {
        let pairs = || text.iter().zip(&self.bytes);
        text.len() >= self.bytes.len() && pairs().all(|(byte, both)| both.contains(byte))
    }

    /// Where the part comes first.
    fn find(&self, text: &[u8]) -> Option<usize> {
        let (length, mut at) = (self.bytes.len(), 0);
        while at + length <= text.len() {
            if self.is_at(&text[at..at + length]) {
                return Some(at);
            }
            at += usize::from(self.shifts[usize::from(text[at + length - 1])]);
        }
        None
    }
}

impl AsciiPattern {
    /// `None` where the pattern has other characters.
    pub(super) fn compile(
        pattern: &str,
        escape: Option<char>,
        collation: Collation,
    ) -> Option<AsciiPattern> {
        let mut parts: Vec<Vec<u8>> = vec![Vec::new()];
        let mut chars = pattern.chars();
        while let Some(char) = chars.next() {
            let literal = match char {
                _ if Some(char) == escape => chars.next().unwrap_or(char),
                '%' => {
                    parts.push(Vec::new());
                    continue;
                }
                '_' => return None,
                char => char,
            };
            let byte = u8::try_from(literal).ok().filter(|byte| PRINTABLE.contains(byte))?;
            parts.last_mut()?.push(byte);
        }
        let is_filled = |part: Option<&Vec<u8>>| part.is_some_and(|part| !part.is_empty());
        let wild = parts.len() > 1;
        let (at_start, at_end) = (is_filled(parts.first()), is_filled(parts.last()));
        if !wild {
            return None;
        }
        let filled = parts.iter().filter(|part| !part.is_empty());
        let equal = equal_characters(collation);
        let parts = filled.map(|part| PatternPart::new(part, &equal)).collect::<Option<_>>()?;
        Some(AsciiPattern { parts, at_start, at_end })
    }

    /// Whether a text matches; `None` where it has other characters.
    pub(super) fn matches(&self, text: &[u8]) -> Option<bool> {
        // Without a jump for each byte.
        let strange = text.iter().fold(false, |any, byte| any | !PRINTABLE.contains(byte));
        (!strange).then(|| self.finds(text))
    }

    fn finds(&self, mut text: &[u8]) -> bool {
        let mut parts = &self.parts[..];
        if let (true, Some((first, rest))) = (self.at_start, parts.split_first()) {
            if !first.is_at(text) {
                return false;
            }
            (text, parts) = (&text[first.bytes.len()..], rest);
        }
        if let (true, Some((last, rest))) = (self.at_end, parts.split_last()) {
            let Some(start) = text.len().checked_sub(last.bytes.len()) else { return false };
            if !last.is_at(&text[start..]) {
                return false;
            }
            (text, parts) = (&text[..start], rest);
        }
        parts.iter().all(|part| match part.find(text) {
            Some(at) => {
                text = &text[at + part.bytes.len()..];
                true
            }
            None => false,
        })
    }
}
