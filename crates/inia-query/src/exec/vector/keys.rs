//! Numbers for groups: each key column gives a word for each row, and the words of a row find its
//! group.
//!
//! A number is its own word. A text's word is the number of its collation key: texts that are equal
//! have one. The bytes that came last in a column are remembered, since they often come again.

use crate::access::FoundRun;
use crate::exec::Result;
use crate::exec::hash::KeyHash;
use crate::plan::TableSource;
use crate::plan::vector::VectorKey;
use std::collections::HashMap;

/// The texts of one column that have come, and their words.
#[derive(Default)]
pub(super) struct Dictionary {
    by_bytes: HashMap<Vec<u8>, u64, KeyHash>,
    by_key: HashMap<Vec<u8>, u64, KeyHash>,
}

impl Dictionary {
    /// The word of a text that came before.
    pub(super) fn get(&self, bytes: &[u8]) -> Option<u64> {
        self.by_bytes.get(bytes).copied()
    }

    /// Adds a text with its collation key. Returns its word and how many bytes are kept for it.
    pub(super) fn add(&mut self, bytes: &[u8], key: Vec<u8>) -> (u64, usize) {
        let next = self.by_key.len() as u64;
        let kept = 2 * KEPT + bytes.len() + key.len();
        let word = *self.by_key.entry(key).or_insert(next);
        self.by_bytes.insert(bytes.to_vec(), word);
        (word, kept)
    }
}

/// About what a hash table takes for an entry.
const KEPT: usize = 64;

/// Groups by the words of their keys.
#[derive(Default)]
pub(super) struct GroupNumbers {
    /// For each text column its texts.
    pub(super) dictionaries: Vec<Dictionary>,
    numbers: HashMap<Box<[u8]>, usize, KeyHash>,
    key: Vec<u8>,
    /// The words of the last row and its group: rows often come sorted.
    last: Option<(Vec<Option<u64>>, usize)>,
}

impl GroupNumbers {
    pub(super) fn new(columns: usize) -> GroupNumbers {
        let dictionaries = (0..columns).map(|_| Dictionary::default()).collect();
        GroupNumbers { dictionaries, ..GroupNumbers::default() }
    }

    /// The group of a row's words, where it has begun; else the next group, which begins.
    pub(super) fn number(&mut self, words: &[Option<u64>]) -> (usize, bool) {
        if let Some((last, number)) = &self.last
            && last == words
        {
            return (*number, false);
        }
        let (number, begins) = self.find(words);
        let (last, of_last) = self.last.get_or_insert_default();
        words.clone_into(last);
        *of_last = number;
        (number, begins)
    }

    fn find(&mut self, words: &[Option<u64>]) -> (usize, bool) {
        self.key.clear();
        for word in words {
            self.key.push(u8::from(word.is_some()));
            self.key.extend_from_slice(&word.unwrap_or_default().to_le_bytes());
        }
        if let Some(&number) = self.numbers.get(&self.key[..]) {
            return (number, false);
        }
        let number = self.numbers.len();
        self.numbers.insert(self.key.as_slice().into(), number);
        (number, true)
    }

    /// Groups that have begun.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// About how many bytes each group takes here.
    pub(super) fn held(&self) -> usize {
        self.numbers.len() * (KEPT + self.key.len())
    }
}

/// The words of one key column for the chosen rows; `None` for texts that have not come yet.
pub(super) enum Words<'s> {
    /// NULL or a number.
    Numbers(Vec<Option<u64>>),
    /// NULL or a text.
    Texts(Vec<Option<&'s [u8]>>),
}

impl Words<'_> {
    /// Reads a column; `None` where it cannot be read for a whole run.
    pub(super) fn read<'s>(
        run: &FoundRun<'s>,
        source: &TableSource,
        key: VectorKey,
        chosen: &[bool],
    ) -> Result<Option<Words<'s>>> {
        let (table, all) = (&source.table, 0..run.len());
        let mut chosen = chosen.iter();
        let mut is_chosen = || chosen.next().copied().unwrap_or_default();
        Ok(match key.bytes {
            true => {
                let mut texts = Vec::with_capacity(run.len());
                let given = run.bytes(table, key.column, all, |text| {
                    if is_chosen() {
                        texts.push(text);
                    }
                })?;
                given.then_some(Words::Texts(texts))
            }
            false => {
                let mut numbers = Vec::with_capacity(run.len());
                let given = run.numbers(table, key.column, all, |number| {
                    if is_chosen() {
                        numbers.push(number);
                    }
                })?;
                given.then_some(Words::Numbers(numbers))
            }
        })
    }
}
