//! Collations that go by weights: comparing, keys, hashes.

use super::charset::Charset;
use super::codes::{Codes, SPACE_STEP};
use super::tailoring::{Contractions, Tailored};
use super::weights::{CharWeights, Weights};
use std::cmp::Ordering;

/// One level of comparison: later levels decide where the earlier ones find no difference.
pub(super) struct Level {
    pub(super) weights: Weights,
    codes: Codes,
}

/// A collation with weights.
pub(super) struct Weighted {
    levels: Vec<Level>,
    contractions: Option<Contractions>,
    /// Whether the shorter text counts as padded with spaces.
    pad: bool,
    /// For each ASCII character the first one that weighs the same.
    ascii: [u8; ASCII],
}

/// How many ASCII characters there are.
const ASCII: usize = 128;

/// Decodes the character at `at` and moves past it. Bytes that are not UTF-8 count as U+FFFD.
#[inline]
pub(super) fn next_char(text: &[u8], at: &mut usize) -> u32 {
    let first = text[*at];
    if first < 0x80 {
        *at += 1;
        return first.into();
    }
    let len = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    };
    let Some(rest) = text.get(*at + 1..*at + len) else {
        *at += 1;
        return 0xFFFD;
    };
    let mut char = u32::from(first) & (0x7F >> len);
    for &byte in rest {
        if byte & 0xC0 != 0x80 {
            *at += 1;
            return 0xFFFD;
        }
        char = char << 6 | u32::from(byte & 0x3F);
    }
    *at += len;
    if len == 1 { 0xFFFD } else { char }
}

/// The weights of a text, one after the other.
struct WeightIter<'a> {
    weights: &'a Weights,
    text: &'a [u8],
    at: usize,
    pending: CharWeights,
    taken: usize,
    /// Contractions, and the level whose weights of them are taken.
    contractions: Option<(&'a Contractions, usize)>,
}

impl<'a> WeightIter<'a> {
    fn new(
        weights: &'a Weights,
        text: &'a [u8],
        contractions: Option<(&'a Contractions, usize)>,
    ) -> WeightIter<'a> {
        WeightIter { weights, text, at: 0, pending: CharWeights::EMPTY, taken: 0, contractions }
    }

    /// Takes the contraction that `first`, the character just read, begins.
    #[cold]
    fn contract(&mut self, first: u32) -> bool {
        let Some((contractions, level)) = self.contractions else { return false };
        if !contractions.has(first) {
            return false;
        }
        let Some((weights, end)) = contractions.longest(first, self.text, self.at, level) else {
            return false;
        };
        self.at = end;
        self.pending = CharWeights::EMPTY;
        weights.iter().for_each(|&weight| self.pending.push(weight));
        self.taken = 0;
        true
    }
}

impl Iterator for WeightIter<'_> {
    type Item = u16;

    #[inline]
    fn next(&mut self) -> Option<u16> {
        loop {
            if let Some(&weight) = self.pending.as_slice().get(self.taken) {
                self.taken += 1;
                return Some(weight);
            }
            if self.at >= self.text.len() {
                return None;
            }
            let char = next_char(self.text, &mut self.at);
            if self.contractions.is_some() && self.contract(char) {
                continue;
            }
            if let Some(weight) = self.weights.single(char) {
                return Some(weight);
            }
            self.pending = self.weights.of(char);
            self.taken = 0;
        }
    }
}

impl Level {
    pub(super) fn new(weights: Weights, pad: bool) -> Level {
        let codes = Codes::new(&weights, pad);
        Level { weights, codes }
    }

    /// Compares at this level only.
    fn compare(&self, a: &[u8], b: &[u8], pad: bool) -> Ordering {
        let common = a.len().min(b.len());
        let mut at = 0;
        while at + 8 <= common && a[at..at + 8] == b[at..at + 8] {
            at += 8;
        }
        while at < common {
            let (x, y) = (a[at], b[at]);
            if x != y {
                if (x | y) >= 0x80 {
                    return self.compare_from(a, b, at, pad);
                }
                let (x, y) = (self.codes.ascii[usize::from(x)], self.codes.ascii[usize::from(y)]);
                if x == 0 || y == 0 {
                    return self.compare_from(a, b, at, pad);
                }
                if x != y {
                    return x.cmp(&y);
                }
            }
            at += 1;
        }
        if a.len() == b.len() { Ordering::Equal } else { self.compare_from(a, b, at, pad) }
    }

    /// Compares weight by weight from the character that byte `at` belongs to; the bytes before
    /// it weigh the same on both sides.
    #[cold]
    fn compare_from(&self, a: &[u8], b: &[u8], mut at: usize, pad: bool) -> Ordering {
        let inside = |text: &[u8], at: usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
        while at > 0 && (inside(a, at) || inside(b, at)) {
            at -= 1;
        }
        self.compare_weights(&a[at..], &b[at..], pad, None)
    }

    /// Compares weight by weight.
    fn compare_weights(
        &self,
        a: &[u8],
        b: &[u8],
        pad: bool,
        contractions: Option<(&Contractions, usize)>,
    ) -> Ordering {
        let mut a = WeightIter::new(&self.weights, a, contractions);
        let mut b = WeightIter::new(&self.weights, b, contractions);
        let end = pad.then_some(self.codes.space);
        loop {
            let order = match (a.next(), b.next()) {
                (None, None) => return Ordering::Equal,
                (x, y) => x.or(end).cmp(&y.or(end)),
            };
            if order != Ordering::Equal {
                return order;
            }
            // A pad that equals a real weight goes on until the longer text ends.
        }
    }

    /// Appends the codes of the ASCII characters that `text` begins with, as far as each is one
    /// byte; how many they are. One pass writes them all, without a look at each.
    fn put_ascii(&self, text: &[u8], out: &mut Vec<u8>) -> usize {
        let start = out.len();
        let code = |byte: &u8| self.codes.ascii.get(usize::from(*byte)).copied().unwrap_or(0);
        out.extend(text.iter().map(code));
        if !out[start..].contains(&0) {
            return text.len();
        }
        let done = out[start..].iter().position(|code| *code == 0).unwrap_or(text.len());
        out.truncate(start + done);
        done
    }

    /// Writes the level's codes of `text` to `push`.
    #[inline]
    fn emit(
        &self,
        text: &[u8],
        pad: bool,
        contractions: Option<(&Contractions, usize)>,
        mut push: impl FnMut(u8),
    ) {
        if pad {
            return self.emit_padded(text, contractions, push);
        }
        if contractions.is_some() {
            let weights = WeightIter::new(&self.weights, text, contractions);
            return weights.for_each(|weight| self.codes.emit(weight, &mut push));
        }
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            if byte < 0x80 {
                let code = self.codes.ascii[usize::from(byte)];
                if code != 0 {
                    push(code);
                    at += 1;
                    continue;
                }
            }
            let char = next_char(text, &mut at);
            match self.weights.single(char) {
                Some(weight) => self.codes.emit(weight, &mut push),
                None => {
                    for &weight in self.weights.of(char).as_slice() {
                        self.codes.emit(weight, &mut push);
                    }
                }
            }
        }
    }

    fn emit_padded(
        &self,
        text: &[u8],
        contractions: Option<(&Contractions, usize)>,
        mut push: impl FnMut(u8),
    ) {
        let space = self.codes.space;
        let middle = self.codes.space_code();
        let mut spaces = 0usize;
        for weight in WeightIter::new(&self.weights, text, contractions) {
            if weight == space {
                spaces += 1;
                continue;
            }
            let code = if weight < space { middle - SPACE_STEP } else { middle + SPACE_STEP };
            for _ in 0..spaces {
                push(code);
            }
            spaces = 0;
            self.codes.emit(weight, &mut push);
        }
        push(middle);
    }
}

impl Weighted {
    pub(super) fn new(tables: Tailored, pad: bool) -> Weighted {
        let levels = tables.levels.into_iter().map(|weights| Level::new(weights, pad)).collect();
        let contractions = tables.contractions;
        let mut weighted = Weighted { levels, contractions, pad, ascii: [0; ASCII] };
        let alike = |char: usize| (0..char).find(|&at| weighted.weighs(char as u32, at as u32));
        weighted.ascii = std::array::from_fn(|char| alike(char).unwrap_or(char) as u8);
        weighted
    }

    #[inline]
    pub(super) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        if let Some(contractions) = &self.contractions {
            return self.compare_contracted(a, b, contractions);
        }
        let mut order = Ordering::Equal;
        for level in &self.levels {
            order = level.compare(a, b, self.pad);
            if order != Ordering::Equal {
                break;
            }
        }
        order
    }

    /// Contractions may begin before the first difference, so comparing starts behind the last
    /// equal character that no contraction has.
    #[cold]
    fn compare_contracted(&self, a: &[u8], b: &[u8], contractions: &Contractions) -> Ordering {
        let mut from = 0;
        let mut at = 0;
        while at < a.len().min(b.len()) {
            let (start, char) = (at, next_char(a, &mut at));
            if a[start..at] != b[start..at.min(b.len())] {
                break;
            }
            if !contractions.has(char) {
                from = at;
            }
        }
        for (index, level) in self.levels.iter().enumerate() {
            let contractions = Some((contractions, index));
            let order = level.compare_weights(&a[from..], &b[from..], self.pad, contractions);
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }

    /// The contractions as a level takes them.
    #[inline]
    fn at_level(&self, index: usize) -> Option<(&Contractions, usize)> {
        self.contractions.as_ref().map(|contractions| (contractions, index))
    }

    pub(super) fn sort_key(&self, text: &[u8], out: &mut Vec<u8>) {
        out.reserve(text.len() + 1);
        for (index, level) in self.levels.iter().enumerate() {
            if index > 0 {
                out.push(1);
            }
            let plain = !self.pad && self.contractions.is_none();
            let done = if plain { level.put_ascii(text, out) } else { 0 };
            level.emit(&text[done..], self.pad, self.at_level(index), |code| out.push(code));
        }
    }

    /// Equal texts have equal hashes: only the first level counts.
    pub(super) fn hash(&self, text: &[u8]) -> u64 {
        let mut hasher = super::ByteHash::new();
        if let Some(level) = self.levels.first() {
            level.emit(text, self.pad, self.at_level(0), |code| hasher.push(code));
        }
        hasher.finish()
    }

    /// Whether two single characters weigh the same at every level.
    #[inline]
    pub(super) fn same_char(&self, a: u32, b: u32) -> bool {
        match (self.ascii.get(a as usize), self.ascii.get(b as usize)) {
            (Some(a), Some(b)) => a == b,
            _ => self.weighs(a, b),
        }
    }

    fn weighs(&self, a: u32, b: u32) -> bool {
        a == b
            || self.levels.iter().all(|level| {
                match (level.weights.single(a), level.weights.single(b)) {
                    (Some(a), Some(b)) => a == b,
                    (None, None) => {
                        level.weights.of(a).as_slice() == level.weights.of(b).as_slice()
                    }
                    (Some(_), None) | (None, Some(_)) => false,
                }
            })
    }

    /// The weights of a text at each level, for WEIGHT_STRING. A fourth level that is empty is left
    /// out.
    pub(super) fn weight_string(&self, text: &[u8], out: &mut Vec<u8>) {
        for (index, level) in self.levels.iter().enumerate() {
            let weights = WeightIter::new(&level.weights, text, self.at_level(index));
            let mut weights = weights.peekable();
            if index > 2 && weights.peek().is_none() {
                return;
            }
            if index > 0 {
                out.extend_from_slice(&[0, 0]);
            }
            for weight in weights {
                out.extend_from_slice(&weight.to_be_bytes());
            }
        }
    }

    /// As [`Weighted::weight_string`] where weights are bytes of codes: one of a set of single
    /// bytes each, and elsewhere as many as a code has, which for a single byte are not two.
    pub(super) fn byte_weights(&self, text: &[u8], charset: Charset, out: &mut Vec<u8>) {
        let Some(level) = self.levels.first() else { return };
        let mut at = 0;
        while at < text.len() {
            let char = next_char(text, &mut at);
            let single = char::from_u32(char).is_none_or(|char| {
                // The backslash of sjis weighs as its code of two bytes.
                charset.bytes_of(char) == 1 && (charset, char) != (Charset::Sjis, '\\')
            });
            let weights = level.weights.of(char);
            match *weights.as_slice() {
                ref own if charset.max_bytes() == 1 => {
                    out.extend(own.iter().map(|weight| *weight as u8));
                }
                [weight @ 0..0x100] => out.push(weight as u8),
                [weight] if single => out.push((weight >> 8) as u8),
                ref own => {
                    let bytes = own.iter().flat_map(|weight| weight.to_be_bytes());
                    let third = charset.max_bytes() == 3 && own.len() == 2;
                    out.extend(bytes.take(if third { 3 } else { 4 }));
                }
            }
        }
    }
}
