//! Where the rows with a key are: chains of places by the words of their keys.
//!
//! Words of one key that lie close together are places of an array themselves; others are hashed.
//!
//! ```text
//!   words 12, 10, 12      array from 10: [1, -, 0]      next [2, -, -]
//! ```

use super::join_keys::Words;
use crate::exec::hash::word_hash;

/// No row.
const NONE: u32 = u32::MAX;
/// An array may have so many times the places of rows.
const SPARSE: i128 = 4;

/// Places of rows by the words of their keys.
pub(super) struct RowIndex {
    /// The words of each key, of all rows.
    words: Vec<Vec<i64>>,
    /// The first row of each chain.
    heads: Vec<u32>,
    /// The next row of each row's chain.
    next: Vec<u32>,
    /// The word of the first place of the array; `None` where words are hashed.
    array_from: Option<i64>,
}

/// The words of one key of several, as bits: a word without its bit belongs to no row.
///
/// ```text
///   words 12, 10, 12      bits from 10: 1 0 1
/// ```
/// Words that lie far apart are hashed, and a word may have the bit of another.
pub(super) struct WordBits {
    bits: Vec<u64>,
    /// The word of the first bit; `None` where words are hashed.
    from: Option<i64>,
}

/// Bits for each row: in a range of words at most, and of hashed words at least.
const RANGE_BITS: i128 = 64;
const HASHED_BITS: usize = 16;
/// More rows have no bits: those would not stay in the processor's cache.
const MAX_BIT_ROWS: usize = 1 << 20;

impl WordBits {
    fn of(words: &[i64]) -> WordBits {
        let least = words.iter().copied().min().unwrap_or_default();
        let greatest = words.iter().copied().max().unwrap_or_default();
        let range = i128::from(greatest) - i128::from(least) + 1;
        let is_range = range <= RANGE_BITS * words.len().max(1) as i128;
        let bits = if is_range { range as usize } else { words.len() * HASHED_BITS };
        let bits = bits.next_power_of_two().max(64);
        let mut made = WordBits { bits: vec![0; bits / 64], from: is_range.then_some(least) };
        for &word in words {
            if let Some(at) = made.bit(word) {
                made.bits[at / 64] |= 1 << (at % 64);
            }
        }
        made
    }

    /// The place of a word's bit; `None` outside the range.
    #[inline]
    fn bit(&self, word: i64) -> Option<usize> {
        let count = self.bits.len() * 64;
        match self.from {
            Some(from) => {
                let at = word.checked_sub(from).and_then(|at| usize::try_from(at).ok());
                at.filter(|at| *at < count)
            }
            None => Some(word_hash(std::iter::once(word)) as usize & (count - 1)),
        }
    }

    /// False where no row has the word.
    #[inline]
    pub(super) fn may_have(&self, word: i64) -> bool {
        self.bit(word).is_some_and(|at| self.bits[at / 64] >> (at % 64) & 1 != 0)
    }
}

impl RowIndex {
    pub(super) fn new(keys: usize) -> RowIndex {
        let words = vec![Vec::new(); keys];
        RowIndex { words, heads: Vec::new(), next: Vec::new(), array_from: None }
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.next.len()
    }

    /// The words of each key, of all rows.
    pub(super) fn words(&self) -> &[Vec<i64>] {
        &self.words
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next.is_empty()
    }

    /// About how many bytes it takes, and will take.
    pub(super) fn held(&self) -> usize {
        let key = self.words.len() * size_of::<i64>();
        self.rows() * (key + size_of::<u32>() * (1 + SPARSE as usize))
    }

    /// The words of one key as bits, where there are several keys and few rows.
    pub(super) fn bits_of(&self, key: usize) -> Option<WordBits> {
        let fits = self.words.len() > 1 && self.rows() <= MAX_BIT_ROWS;
        fits.then(|| WordBits::of(&self.words[key]))
    }

    /// Adds the rows whose keys are present.
    pub(super) fn add(&mut self, words: &Words) {
        debug_assert!(self.heads.is_empty(), "rows come before look-ups");
        for (all, added) in self.words.iter_mut().zip(&words.words) {
            all.extend_from_slice(added);
        }
        self.next.resize(self.next.len() + words.rows, NONE);
    }

    /// Makes the rows ready to be looked up.
    pub(super) fn seal(&mut self) {
        if self.is_empty() {
            return;
        }
        let rows = self.rows();
        let dense = match &self.words[..] {
            [only] => {
                let least = only.iter().copied().min().unwrap_or_default();
                let greatest = only.iter().copied().max().unwrap_or_default();
                let places = i128::from(greatest) - i128::from(least) + 1;
                (places <= SPARSE * rows as i128).then_some((least, places as usize))
            }
            _ => None,
        };
        self.array_from = dense.map(|(least, _)| least);
        self.heads = match dense {
            Some((_, places)) => vec![NONE; places],
            None => vec![NONE; (rows * 2).next_power_of_two()],
        };
        // Backwards, so that chains are in the order of the rows.
        for row in (0..rows).rev() {
            let head = match self.array_from {
                Some(from) => self.words[0][row].wrapping_sub(from) as usize,
                None => {
                    word_hash(self.words.iter().map(|words| words[row])) as usize
                        & (self.heads.len() - 1)
                }
            };
            self.next[row] = std::mem::replace(&mut self.heads[head], row as u32);
        }
    }

    /// The first row of the chain of a key.
    #[inline]
    fn head(&self, words: &Words, place: usize) -> u32 {
        match self.array_from {
            Some(from) => {
                let at = words.words[0][place].checked_sub(from);
                let at = at.and_then(|at| usize::try_from(at).ok());
                at.and_then(|at| self.heads.get(at)).copied().unwrap_or(NONE)
            }
            None if self.heads.is_empty() => NONE,
            None => {
                let hash = word_hash(words.words.iter().map(|words| words[place]));
                self.heads[hash as usize & (self.heads.len() - 1)]
            }
        }
    }

    /// Whether there is a row with a key of this one word.
    #[inline]
    pub(super) fn contains_word(&self, word: i64) -> bool {
        if let Some(from) = self.array_from {
            let at = word.checked_sub(from).and_then(|at| usize::try_from(at).ok());
            return at.and_then(|at| self.heads.get(at)).is_some_and(|head| *head != NONE);
        }
        let hash = word_hash(std::iter::once(word)) as usize;
        let mut row = match self.heads.len().checked_sub(1) {
            Some(mask) => self.heads[hash & mask],
            None => NONE,
        };
        while row != NONE && self.words[0][row as usize] != word {
            row = self.next[row as usize];
        }
        row != NONE
    }

    #[inline]
    fn holds(&self, row: u32, words: &Words, place: usize) -> bool {
        let mut keys = self.words.iter().zip(&words.words);
        self.array_from.is_some() || keys.all(|(own, key)| own[row as usize] == key[place])
    }

    /// Gives the rows with the key at `place` to `take`, in their order.
    #[inline]
    pub(super) fn each(&self, words: &Words, place: usize, take: &mut impl FnMut(u32)) {
        let mut row = self.head(words, place);
        while row != NONE {
            if self.holds(row, words, place) {
                take(row);
            }
            row = self.next[row as usize];
        }
    }

    /// Whether there is a row with the key at `place`.
    pub(super) fn contains(&self, words: &Words, place: usize) -> bool {
        let mut row = self.head(words, place);
        while row != NONE {
            if self.holds(row, words, place) {
                return true;
            }
            row = self.next[row as usize];
        }
        false
    }
}
