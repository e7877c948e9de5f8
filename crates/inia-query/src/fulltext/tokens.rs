//! The words of texts, and which of them are equal.
//!
//! A word is a run of letters, digits, marks and underscores: `don't` is two words. With the ngram
//! parser each `n` characters of such a run, one after the other, are a word.

use inia_base::collation::Collation;
use regex::Regex;
use std::sync::OnceLock;

/// Longer words are in no index.
const MAX_WORD_CHARS: usize = 84;
/// Bytes of the longest key of a word in an index.
const MAX_KEY_BYTES: usize = 1024;

/// How texts are cut into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextParser {
    /// At characters that belong to no word.
    Words,
    /// Into all runs of so many characters.
    Ngrams(usize),
}

/// Runs of characters that belong to words. As in MySQL none is beyond U+FFFF.
fn runs() -> &'static Regex {
    static RUNS: OnceLock<Regex> = OnceLock::new();
    RUNS.get_or_init(|| {
        let pattern = r"[[\p{L}\p{M}\p{N}_]&&[\u{0}-\u{FFFF}]]+";
        Regex::new(pattern).expect("the pattern is a regular expression")
    })
}

impl TextParser {
    /// Gives the words of a text to `visit`, in their order.
    pub(crate) fn each<'t>(self, text: &'t str, mut visit: impl FnMut(&'t str)) {
        for run in runs().find_iter(text) {
            match self {
                TextParser::Words => visit(run.as_str()),
                TextParser::Ngrams(size) => each_ngram(run.as_str(), size, &mut visit),
            }
        }
    }
}

fn each_ngram<'t>(run: &'t str, size: usize, visit: &mut impl FnMut(&'t str)) {
    let ends = run.char_indices().map(|(at, char)| at + char.len_utf8());
    for (start, end) in run.char_indices().zip(ends.skip(size - 1)) {
        visit(&run[start.0..end]);
    }
}

/// The key of a word, which equal words share and no two others; `None` for words that are too
/// long for an index. Case counts in binary collations only.
///
/// It is the word's sort key. Where accents count, sort keys have several levels, and that of a
/// word does not begin with that of its beginning: the word in lower case is its key.
pub(crate) fn word_key(collation: Collation, word: &str) -> Option<Vec<u8>> {
    if word.chars().nth(MAX_WORD_CHARS).is_some() {
        return None;
    }
    let mut key = Vec::with_capacity(word.len() * 2);
    if collation.is_binary() {
        collation.sort_key(word.as_bytes(), &mut key);
    } else if collation.name().contains("_as_") {
        key.extend_from_slice(collation.lower(word).as_bytes());
    } else {
        collation.sort_key(collation.lower(word).as_bytes(), &mut key);
    }
    (key.len() <= MAX_KEY_BYTES).then_some(key)
}

/// What the keys of words begin with that begin with the word of this key.
pub(crate) fn key_prefix(collation: Collation, key: &[u8]) -> &[u8] {
    // Where trailing spaces do not count a byte stands for them behind the word.
    let end = if collation.pads_space() { key.len().saturating_sub(1) } else { key.len() };
    &key[..end]
}
