//! Full-text search: words of texts, searches for words, and how relevant a text is to a search.
//!
//! ```text
//!   texts    1: 'red red apple'   2: 'green apple'   3: 'blue sky'
//!   search   'red apple'          two words: red is in one text, apple in two, of three texts
//!   weight   red 1 · log10(3/1)², apple log10(3/2)², each as often as the word is in the text
//!   ranks    1: 2 · 0.2276 + 0.0310 = 0.4863      2: 0.0310      3: not found
//! ```
//!
//! [`TextParser`] cuts texts into words and [`word_key`] says which words are equal.
//! [`parse_boolean`] and [`parse_natural`] make a [`Search`] of what AGAINST is given;
//! [`Search::evaluate`] finds its documents with a [`WordSource`], which is an index or one text.
//!
//! The rules are those of MySQL 8.0's InnoDB, errors of its syntax included.

mod evaluate;
mod grammar;
mod lexer;
mod ngram_grammar;
mod search;
mod stopwords;
mod text;
mod tokens;

pub(crate) use evaluate::{Found, Posting, Postings, WordSource, rank_of, weight, words_found};
pub(crate) use grammar::{parse_boolean, parse_natural};
pub(crate) use search::{Search, WordRules};
pub(crate) use stopwords::DEFAULT_STOPWORDS;
pub(crate) use text::{TextSource, each_word};
pub(crate) use tokens::{TextParser, key_prefix, word_key};

#[cfg(test)]
mod tests;
