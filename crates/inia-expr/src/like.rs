//! LIKE patterns, analysed once.
//!
//! LIKE compares character by character, unlike `=`: `'ae'` does not match `'æ'`, but in a
//! case-insensitive collation `a` matches `Ä`.

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
        Pattern { text: pattern.to_owned(), escape, collation, prefix, shape }
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
        self.collation.like(text.as_bytes(), self.text.as_bytes(), self.escape)
    }
}
