//! One document's words, from its texts.

use super::evaluate::{Posting, Postings, WordSource};
use super::search::WordRules;
use super::tokens::{TextParser, key_prefix, word_key};
use inia_base::collation::Collation;
use inia_base::error::SqlError;

/// The words of one document, whose number is 0.
pub(crate) struct TextSource<'t> {
    rules: &'t WordRules,
    columns: u32,
    /// The key of each word, how many characters it has, and its position.
    words: Vec<(Vec<u8>, usize, u32)>,
}

impl<'t> TextSource<'t> {
    /// Cuts the texts of a document's columns into words.
    pub(crate) fn new(rules: &'t WordRules, texts: &[Option<&str>]) -> TextSource<'t> {
        let columns = texts.len() as u32;
        let mut words = Vec::new();
        each_word((rules.parser, rules.collation), texts, |key, chars, position| {
            words.push((key, chars, position))
        });
        words.sort_unstable();
        TextSource { rules, columns, words }
    }

    /// The keys of its words that are searched for.
    pub(crate) fn keys(self) -> impl Iterator<Item = Vec<u8>> {
        let rules = self.rules;
        self.words
            .into_iter()
            .filter(move |(key, chars, _)| rules.admits(key, *chars))
            .map(|(key, ..)| key)
    }
}

/// Gives each word of a document's columns to `visit`: key, characters and position
/// ([`Posting::positions`]).
pub(crate) fn each_word(
    (parser, collation): (TextParser, Collation),
    texts: &[Option<&str>],
    mut visit: impl FnMut(Vec<u8>, usize, u32),
) {
    let columns = texts.len() as u32;
    let mut number = 0;
    for (column, text) in (0..).zip(texts) {
        parser.each(text.unwrap_or_default(), |word| {
            if let Some(key) = word_key(collation, word) {
                visit(key, word.chars().count(), number * columns + column);
            }
            number += 1;
        });
    }
}

impl WordSource for TextSource<'_> {
    fn columns(&self) -> u32 {
        self.columns
    }

    fn postings(&mut self, key: &[u8], begins: bool) -> Result<Postings, SqlError> {
        let rules = self.rules;
        let prefix = key_prefix(rules.collation, key);
        let matches = |(word, chars, _): &&(Vec<u8>, usize, u32)| match begins {
            true => word.starts_with(prefix) && rules.admits(word, *chars),
            false => word == key,
        };
        let mut positions = Vec::new();
        let mut documents = 0;
        let mut last: Option<&[u8]> = None;
        for (word, _, position) in self.words.iter().filter(matches) {
            // Of several words the last one counts.
            if last != Some(word) {
                documents += 1;
                positions.clear();
            }
            last = Some(word);
            positions.push(*position);
        }
        if positions.is_empty() {
            return Ok(Postings::default());
        }
        let frequency = positions.len() as u32;
        Ok(Postings { list: vec![Posting { document: 0, frequency, positions }], documents })
    }
}
