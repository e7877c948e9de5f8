//! A search: what is looked for, and how its parts are combined.

use super::tokens::{TextParser, key_prefix, word_key};
use inia_base::collation::Collation;
use std::collections::HashSet;
use std::sync::Arc;

/// How a part of a search adds to what the parts before it have found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    /// What has it is found.
    Any,
    /// `+`: only what has it is found.
    Required,
    /// `-`: what has it is not found.
    Excluded,
    /// `>`: what has it is found, and ranks higher.
    Raised,
    /// `<`: what has it is found, and ranks lower.
    Lowered,
    /// `~`: what has it ranks lower where it is found by another part.
    Negated,
}

/// A part of a search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SearchPart {
    pub(super) operator: Operator,
    pub(super) item: Item,
}

/// What a part looks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// A word, or (`*`) all words that begin with it.
    Word { word: usize, begins: bool },
    /// Words one after the other; those that count for the rank.
    Phrase { words: Vec<usize>, ranked: Vec<usize> },
    /// Words that are all among so many.
    Near { words: Vec<usize>, distance: u32 },
    /// A term of several words, each with the part's operator.
    Several(Vec<Item>),
    /// `(…)`.
    Group(Vec<SearchPart>),
}

/// A word of a search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SearchWord {
    /// Its key.
    pub(crate) key: Vec<u8>,
    /// Its number of characters is one that is searched for, and it is no stopword.
    pub(crate) is_searched: bool,
}

/// What is searched for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Search {
    pub(super) parts: Vec<SearchPart>,
    /// Its words, each once.
    pub(crate) words: Vec<SearchWord>,
    /// A list is combined as a whole, and not up to each group by itself.
    pub(super) whole_lists: bool,
}

/// Which words are searched for, and which are equal.
#[derive(Clone, Debug)]
pub(crate) struct WordRules {
    /// How texts are cut into words.
    pub(crate) parser: TextParser,
    /// What makes words equal.
    pub(crate) collation: Collation,
    /// Characters of the shortest word.
    pub(crate) min_chars: usize,
    /// Characters of the longest word.
    pub(crate) max_chars: usize,
    /// The keys of words that are not searched for.
    pub(crate) stopwords: Arc<HashSet<Vec<u8>>>,
    /// They are the default ones, which are compared without case in all collations.
    pub(crate) any_case: bool,
}

impl WordRules {
    /// Whether a word of this key and so many characters is searched for.
    pub(crate) fn admits(&self, key: &[u8], chars: usize) -> bool {
        let lower = (self.any_case && self.collation.is_binary()).then(|| self.lower(key));
        let key = lower.as_deref().unwrap_or(key);
        match self.parser {
            TextParser::Words => {
                chars >= self.min_chars && chars <= self.max_chars && !self.stopwords.contains(key)
            }
            TextParser::Ngrams(_) => !self.has_stopword(key),
        }
    }

    /// The key of a word in lower case, of a binary collation, whose keys are bytes moved up.
    fn lower(&self, key: &[u8]) -> Vec<u8> {
        let first = |word| word_key(self.collation, word).map_or(0, |key| key[0]);
        let (upper, lower) = (first("A")..=first("Z"), first("a") - first("A"));
        key.iter().map(|byte| if upper.contains(byte) { byte + lower } else { *byte }).collect()
    }

    /// Whether an ngram has a stopword in it.
    fn has_stopword(&self, key: &[u8]) -> bool {
        let collation = self.collation;
        let key = key_prefix(collation, key);
        // Weights of one collation are all as wide as this one.
        let one = word_key(collation, "b").unwrap_or_default();
        let width = key_prefix(collation, &one).len().max(1);
        self.stopwords.iter().map(|stopword| key_prefix(collation, stopword)).any(|stopword| {
            let mut starts = (0..key.len()).step_by(width);
            !stopword.is_empty() && starts.any(|start| key[start..].starts_with(stopword))
        })
    }
}

impl Search {
    /// The number of a word, which joins the search where it is new to it.
    pub(crate) fn word(&mut self, text: &str, rules: &WordRules) -> usize {
        // A word that no index has is found nowhere.
        let (key, is_searched) = match word_key(rules.collation, text) {
            Some(key) => {
                let is_searched = rules.admits(&key, text.chars().count());
                (key, is_searched)
            }
            None => (Vec::new(), false),
        };
        self.keyed(SearchWord { key, is_searched })
    }

    /// Words one after the other. Those before the first that is searched for do not count; those
    /// behind it must be there, whatever they are.
    pub(super) fn phrase(&self, words: Vec<usize>) -> Item {
        let is_searched = |word: &usize| self.words[*word].is_searched;
        let first = words.iter().position(is_searched).unwrap_or(words.len());
        let words = words[first..].to_vec();
        let ranked = words.iter().copied().filter(is_searched).collect();
        match words[..] {
            [word] => Item::Word { word, begins: false },
            _ => Item::Phrase { words, ranked },
        }
    }

    fn keyed(&mut self, word: SearchWord) -> usize {
        let known = self.words.iter().position(|other| other.key == word.key);
        known.unwrap_or_else(|| {
            self.words.push(word);
            self.words.len() - 1
        })
    }

    /// Whether it asks where words are.
    pub(crate) fn reads_positions(&self) -> bool {
        fn reads(item: &Item) -> bool {
            match item {
                Item::Word { .. } => false,
                Item::Phrase { .. } | Item::Near { .. } => true,
                Item::Several(items) => items.iter().any(reads),
                Item::Group(parts) => parts.iter().any(|part| reads(&part.item)),
            }
        }
        self.parts.iter().any(|part| reads(&part.item))
    }

    /// Adds a word that is found wherever it is, by its key.
    pub(crate) fn expand(&mut self, key: Vec<u8>) {
        if self.words.iter().all(|word| word.key != key) {
            let word = self.keyed(SearchWord { key, is_searched: true });
            let item = Item::Word { word, begins: false };
            self.parts.push(SearchPart { operator: Operator::Any, item });
        }
    }
}
