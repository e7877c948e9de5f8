//! LIKE patterns, analysed once.
//!
//! LIKE compares character by character, unlike `=`: `'ae'` does not match `'æ'`, but in a
//! case-insensitive collation `a` matches `Ä`.

mod ascii;

use ascii::AsciiPattern;
use inia_base::collation::Collation;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    escape: Option<char>,
    collation: Collation,
    /// What the pattern starts with before its first wildcard, escapes undone.
    prefix: String,
    shape: Shape,
    /// The pattern as it is matched with most texts.
    ascii: Option<AsciiPattern>,
}

/// Where the wildcards are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Nowhere.
    Exact,
    /// One `%` at the end.
    Prefix,
    /// Anywhere else.
    General,
}

impl Pattern {
    /// Analyses a pattern. In binary strings each byte is given as the character of its number.
    pub fn compile(pattern: &str, escape: Option<char>, collation: Collation) -> Pattern {
        let bytes = collation == Collation::BINARY;
        let collation = if bytes { Collation::UTF8MB4_BIN } else { collation };
        let mut prefix = String::new();
        let mut shape = Shape::Exact;
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            if Some(c) == escape {
                prefix.push(chars.next().unwrap_or(c));
            } else if c == '%' || c == '_' {
                let last = c == '%' && chars.as_str().chars().all(|c| c == '%');
                shape = if last { Shape::Prefix } else { Shape::General };
                break;
            } else {
                prefix.push(c);
            }
        }
        // Binary collations know the other shapes themselves.
        let general = shape == Shape::General || !collation.is_binary();
        let ascii = general.then(|| AsciiPattern::compile(pattern, escape, collation)).flatten();
        Pattern { text: pattern.to_owned(), escape, collation, prefix, shape, ascii }
    }

    /// What every match starts with, in the collation's sense.
    #[inline]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether the pattern has no wildcard.
    #[inline]
    pub fn is_exact(&self) -> bool {
        self.shape == Shape::Exact
    }

    /// Whether `text` matches.
    #[inline]
    pub fn matches(&self, text: &str) -> bool {
        if self.collation.is_binary() {
            match self.shape {
                Shape::Exact => return text == self.prefix,
                Shape::Prefix => return text.starts_with(&self.prefix),
                Shape::General => {}
            }
        }
        let known = self.ascii.as_ref().and_then(|ascii| ascii.matches(text.as_bytes()));
        known.unwrap_or_else(|| self.matches_by_characters(text))
    }

    fn matches_by_characters(&self, text: &str) -> bool {
        self.collation.like(text.as_bytes(), self.text.as_bytes(), self.escape)
    }
}

#[cfg(test)]
mod tests {
    //! What is matched byte by byte is matched as by characters.

    use super::Pattern;
    use inia_base::collation::Collation;

    #[test]
    fn patterns_match_as_by_characters() {
        let letters = ["a", "A", "b", "ab", "-", " ", ".", "%", "\\", "\u{1}", "ä", "ß"];
        let steps = ["a", "B", "ab", "%", "%", "%", "_", "-", " ", "\\%", "\\a", "ä", "."];
        let names =
            ["utf8mb4_0900_ai_ci", "utf8mb4_bin", "latin1_swedish_ci", "utf8mb4_0900_as_cs"];
        let collations = names.map(|name| Collation::from_name(name).unwrap());
        let mut state = 1980u64;
        let mut below = move |bound: usize| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            (state >> 33) as usize % bound
        };
        let (mut found, mut bytewise) = (0, 0);
        for _ in 0..20_000 {
            let text: String = (0..below(9)).map(|_| letters[below(letters.len())]).collect();
            let pattern: String = (0..below(6)).map(|_| steps[below(steps.len())]).collect();
            let compiled = Pattern::compile(&pattern, Some('\\'), collations[below(4)]);
            let expected = compiled.matches_by_characters(&text);
            assert_eq!(compiled.matches(&text), expected, "{text:?} LIKE {pattern:?}");
            found += u32::from(expected);
            bytewise += u32::from(compiled.ascii.is_some());
        }
        assert!(found > 1000 && bytewise > 3000, "{found} matches, {bytewise} of bytes");
    }
}
