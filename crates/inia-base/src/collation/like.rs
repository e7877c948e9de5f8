//! LIKE and substring search under a collation.

use super::weighted::next_char;
use super::{Collation, Engine};
use std::cmp::Ordering;

/// What one pattern character stands for.
#[derive(Clone, Copy)]
enum Step {
    /// `%`.
    Any,
    /// `_`.
    One,
    /// The character itself.
    Char(u32),
}

/// Reads characters or bytes, as the collation has them.
#[derive(Clone, Copy)]
struct Matcher {
    engine: Engine,
    escape: Option<u32>,
}

impl Matcher {
    #[inline]
    fn next(self, text: &[u8], at: &mut usize) -> u32 {
        if let Engine::Bytes = self.engine {
            *at += 1;
            return text[*at - 1].into();
        }
        next_char(text, at)
    }

    /// The pattern's step at `at`, moving past it. An escape at the very end stands for itself.
    fn step(self, pattern: &[u8], at: &mut usize) -> Step {
        let char = self.next(pattern, at);
        if Some(char) == self.escape {
            return Step::Char(if *at < pattern.len() { self.next(pattern, at) } else { char });
        }
        match char {
            0x25 => Step::Any,
            0x5F => Step::One,
            _ => Step::Char(char),
        }
    }

    #[inline]
    fn same(self, a: u32, b: u32) -> bool {
        match self.engine {
            Engine::Bytes | Engine::Utf8 { .. } => a == b,
            Engine::Weighted(weighted) => weighted.same_char(a, b),
            Engine::Sortable(sortable) => sortable.same_char(a, b),
        }
    }

    /// The first place from `from` on where the text may go on as the pattern at `behind`: ASCII
    /// characters are passed over until one is the pattern's.
    #[inline]
    fn skip(self, text: &[u8], from: usize, pattern: &[u8], behind: usize) -> usize {
        let mut after = behind;
        let Step::Char(wanted @ 0..0x80) = self.step(pattern, &mut after) else { return from };
        let other = |byte: &u8| *byte < 0x80 && !self.same(u32::from(*byte), wanted);
        let passed = text[from..].iter().position(|byte| !other(byte));
        passed.map_or(text.len(), |passed| from + passed)
    }

    /// Matches greedily; on a mismatch the last `%` takes one more character.
    fn matches(self, text: &[u8], pattern: &[u8]) -> bool {
        let (mut at, mut in_pattern) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let mut after = in_pattern;
            let step = (in_pattern < pattern.len()).then(|| self.step(pattern, &mut after));
            match step {
                Some(Step::Any) => {
                    if after == pattern.len() {
                        return true;
                    }
                    retry = Some((at, after));
                    in_pattern = after;
                    continue;
                }
                None if at == text.len() => return true,
                Some(step) if at < text.len() => {
                    let mut next = at;
                    let char = self.next(text, &mut next);
                    let same = match step {
                        Step::Char(wanted) => self.same(char, wanted),
                        Step::One | Step::Any => true,
                    };
                    if same {
                        (at, in_pattern) = (next, after);
                        continue;
                    }
                }
                Some(_) | None => {}
            }
            let Some((mut from, behind)) = retry else { return false };
            if from >= text.len() {
                return false;
            }
            self.next(text, &mut from);
            from = self.skip(text, from, pattern, behind);
            retry = Some((from, behind));
            (at, in_pattern) = (from, behind);
        }
    }
}

impl Collation {
    /// Whether `text` LIKE `pattern`. Characters are compared one by one, without padding.
    pub fn like(self, text: &[u8], pattern: &[u8], escape: Option<char>) -> bool {
        let matcher = Matcher { engine: self.engine(), escape: escape.map(u32::from) };
        matcher.matches(text, pattern)
    }

    /// Byte position, from `from` on, of the first part of `text` that equals `needle` and has as
    /// many bytes (INSTR, LOCATE, REPLACE). An empty needle is found at once.
    pub fn find(self, text: &[u8], needle: &[u8], from: usize) -> Option<usize> {
        let last = text.len().checked_sub(needle.len())?;
        let engine = self.engine();
        if let Engine::Bytes = engine {
            return (from..=last).find(|&at| &text[at..at + needle.len()] == needle);
        }
        let boundary =
            |at: usize| at == text.len() || text.get(at).is_some_and(|byte| byte & 0xC0 != 0x80);
        (from..=last).find(|&at| {
            let end = at + needle.len();
            boundary(at) && boundary(end) && self.compare(&text[at..end], needle) == Ordering::Equal
        })
    }
}
