//! Numbers for groups: each key gives a word for each row, and the words of a row find its group.
//!
//! A number is its own word. A text's word is the number of its collation key: texts that are equal
//! have one.

use crate::exec::hash::{KeyHash, MULTIPLIER, word_hash};
use std::collections::HashMap;

/// Keys that have come, and their words.
#[derive(Default)]
pub(super) struct Dictionary {
    /// The texts of those keys, as they came: short ones as a number.
    short: HashMap<u64, u64, KeyHash>,
    by_bytes: HashMap<Vec<u8>, u64, KeyHash>,
    by_key: HashMap<Vec<u8>, u64, KeyHash>,
}

/// Places for short texts that came last.
const RECENT: usize = 64;
/// The number of no text: its length would be 255.
const NO_TEXT: u64 = u64::MAX;

/// Short texts that came last, as numbers, and their words.
pub(super) struct RecentTexts([(u64, u64); RECENT]);

impl Default for RecentTexts {
    fn default() -> RecentTexts {
        RecentTexts([(NO_TEXT, 0); RECENT])
    }
}

impl Dictionary {
    /// The word of a text that came before.
    #[inline]
    pub(super) fn get(&self, bytes: &[u8], recent: &mut RecentTexts) -> Option<u64> {
        let Some(short) = packed(bytes) else { return self.by_bytes.get(bytes).copied() };
        let place = short.wrapping_mul(MULTIPLIER) >> (64 - RECENT.ilog2());
        let recent = &mut recent.0[place as usize];
        if recent.0 != short {
            *recent = (short, *self.short.get(&short)?);
        }
        Some(recent.1)
    }

    /// The keys that have come, in the order of their words.
    pub(super) fn keys_in_order(&self) -> Vec<&[u8]> {
        let mut all: Vec<&[u8]> = vec![&[]; self.by_key.len()];
        self.by_key.iter().for_each(|(key, word)| all[*word as usize] = key);
        all
    }

    /// The word of a key that came before.
    pub(super) fn of_key(&self, key: &[u8]) -> Option<u64> {
        self.by_key.get(key).copied()
    }

    /// Adds a text with its collation key. Returns its word and how many bytes are kept for it.
    pub(super) fn add(&mut self, bytes: &[u8], key: Vec<u8>) -> (u64, usize) {
        let (word, kept) = self.add_key(key);
        match packed(bytes) {
            Some(short) => _ = self.short.insert(short, word),
            None => _ = self.by_bytes.insert(bytes.to_vec(), word),
        }
        (word, kept + KEPT + bytes.len())
    }

    /// As [`Dictionary::add`], for a key alone.
    pub(super) fn add_key(&mut self, key: Vec<u8>) -> (u64, usize) {
        let (next, kept) = (self.by_key.len() as u64, KEPT + key.len());
        (*self.by_key.entry(key).or_insert(next), kept)
    }
}

/// A text of up to seven bytes and its length as one number.
#[inline]
fn packed(bytes: &[u8]) -> Option<u64> {
    let mut word = [0; 8];
    word.get_mut(..bytes.len()).filter(|word| word.len() < 8)?.copy_from_slice(bytes);
    word[7] = bytes.len() as u8;
    Some(u64::from_le_bytes(word))
}

/// About what a hash table takes for an entry.
const KEPT: usize = 64;

/// The words of one key for the rows of a batch.
#[derive(Default)]
pub(super) struct KeyWords {
    words: Vec<u64>,
    /// Which are NULL; empty where none is.
    nulls: Vec<bool>,
}

impl KeyWords {
    pub(super) fn with_capacity(rows: usize) -> KeyWords {
        KeyWords { words: Vec::with_capacity(rows), nulls: Vec::new() }
    }

    #[inline]
    pub(super) fn push(&mut self, word: Option<u64>) {
        if word.is_none() {
            self.nulls.resize(self.words.len() + 1, false);
            self.nulls[self.words.len()] = true;
        }
        self.words.push(word.unwrap_or_default());
    }

    #[inline]
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.nulls.get(row) == Some(&true)
    }

    /// The word of a row; 0 of NULL.
    #[inline]
    pub(super) fn get(&self, row: usize) -> u64 {
        self.words[row]
    }
}

/// No group.
const NONE: u32 = u32::MAX;

/// Groups by the words of their keys: a hash table with linear probing.
pub(super) struct GroupNumbers {
    keys: usize,
    /// The words of one group after the other; behind those of each group which are NULL.
    words: Vec<u64>,
    groups: usize,
    /// Groups by their hash.
    buckets: Vec<u32>,
    /// The words of the row that is looked up.
    row: Vec<u64>,
    /// The group of the last row: rows often come sorted.
    last: u32,
}

/// Buckets of an empty table.
const FIRST_BUCKETS: usize = 64;

impl GroupNumbers {
    pub(super) fn new(keys: usize) -> GroupNumbers {
        let buckets = vec![NONE; FIRST_BUCKETS];
        GroupNumbers { keys, words: Vec::new(), groups: 0, buckets, row: Vec::new(), last: NONE }
    }

    /// The group of a row, where it has begun; else the next group, which begins.
    #[inline]
    pub(super) fn number(&mut self, columns: &[KeyWords], row: usize) -> (u32, bool) {
        self.set_row(columns, row);
        if self.last != NONE && self.is_row(self.last) {
            return (self.last, false);
        }
        let (number, begins) = self.find();
        self.last = number;
        (number, begins)
    }

    /// The group of a row, where it has begun.
    pub(super) fn known(&mut self, columns: &[KeyWords], row: usize) -> Option<u32> {
        self.set_row(columns, row);
        if self.last != NONE && self.is_row(self.last) {
            return Some(self.last);
        }
        let number = self.buckets[self.bucket()];
        self.last = number;
        (number != NONE).then_some(number)
    }

    #[inline]
    fn set_row(&mut self, columns: &[KeyWords], row: usize) {
        debug_assert_eq!(columns.len(), self.keys, "each key has its words");
        self.row.clear();
        let mut nulls = 0;
        for (at, column) in columns.iter().enumerate() {
            self.row.push(column.words[row]);
            nulls |= u64::from(column.is_null(row)) << at;
        }
        self.row.push(nulls);
    }

    /// As [`GroupNumbers::number`], for the words of a group elsewhere.
    pub(super) fn number_of(&mut self, words: &[u64]) -> (u32, bool) {
        debug_assert_eq!(words.len(), self.keys + 1, "each key has its word");
        self.row.clear();
        self.row.extend_from_slice(words);
        self.last = NONE;
        self.find()
    }

    /// The words of a group, behind them which of its keys are NULL.
    pub(super) fn of(&self, group: u32) -> &[u64] {
        let width = self.keys + 1;
        &self.words[group as usize * width..][..width]
    }

    /// Whether a group has the words of the row. Keys are few: words are compared one by one.
    #[inline]
    fn is_row(&self, group: u32) -> bool {
        self.of(group).iter().zip(&self.row).all(|(word, own)| word == own)
    }

    /// The bucket of the row's group, or the empty one where it belongs.
    #[inline]
    fn bucket(&self) -> usize {
        let mask = self.buckets.len() - 1;
        let mut at = hash(&self.row) & mask;
        while self.buckets[at] != NONE && !self.is_row(self.buckets[at]) {
            at = (at + 1) & mask;
        }
        at
    }

    fn find(&mut self) -> (u32, bool) {
        let at = self.bucket();
        if self.buckets[at] != NONE {
            return (self.buckets[at], false);
        }
        let number = self.groups as u32;
        self.buckets[at] = number;
        self.words.extend_from_slice(&self.row);
        self.groups += 1;
        if self.groups * 2 > self.buckets.len() {
            self.grow();
        }
        (number, true)
    }

    fn grow(&mut self) {
        let mask = self.buckets.len() * 4 - 1;
        let mut buckets = vec![NONE; mask + 1];
        for group in 0..self.groups as u32 {
            let mut at = hash(self.of(group)) & mask;
            while buckets[at] != NONE {
                at = (at + 1) & mask;
            }
            buckets[at] = group;
        }
        self.buckets = buckets;
    }

    /// Forgets all groups but the last, which becomes the first.
    pub(super) fn leave_last(&mut self) {
        let Some(last) = self.groups.checked_sub(1) else { return };
        let width = self.keys + 1;
        self.words.drain(..last * width);
        self.groups = 1;
        self.buckets.fill(NONE);
        let at = hash(self.of(0)) & (self.buckets.len() - 1);
        self.buckets[at] = 0;
        self.last = 0;
    }

    /// Groups that have begun.
    pub(super) fn len(&self) -> usize {
        self.groups
    }

    /// About how many bytes the groups take here.
    pub(super) fn held(&self) -> usize {
        size_of_val(&self.words[..]) + size_of_val(&self.buckets[..])
    }
}

#[inline]
fn hash(words: &[u64]) -> usize {
    word_hash(words.iter().map(|&word| word as i64)) as usize
}
