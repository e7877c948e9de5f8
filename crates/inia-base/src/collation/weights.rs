//! Weight tables: which 16-bit weights each code point has in one level of a collation.
//!
//! A table is stored as runs over all code points from 0 to 0x10FFFF. All numbers are LEB128
//! varints. A run starts with `count << 4 | op`; "value" below is a weight written as the zigzag
//! difference from the last weight written.
//!
//! ```text
//! op 0, 1, 2   implicit weights with base FBC0, FB40, FB80: base + (cp >> 15), cp & 7FFF | 8000
//! op 3         no weights: the characters are ignored
//! op 4         Tangut: FB00, (cp - 17000) | 8000
//! op 5         Hangul syllables: the weights of their letters
//! op 6         `count` values: one weight each
//! op 7         one value: all have this weight
//! op 8         one value: the first has this weight, each next one more
//! op 9         a number n, then count × n values: n weights each
//! op 10        what the base table has (in tailorings only)
//! op 11        `count` weights of two bytes, the higher first
//! ```
//!
//! `scripts/collation-tables` makes the tables. They hold what MySQL 8.0's `WEIGHT_STRING` gives
//! for each code point (for the levels after the first, the part between its zero separators). In
//! memory a table is 4,352 page numbers and pages of 256 entries; pages of one content are shared.

use super::tailoring::Moved;
use std::collections::HashMap;

/// Number of code points.
const CODE_POINTS: u32 = 0x11_0000;
const PAGE: usize = 256;

/// Entry kinds: a plain number below 2^16 is a single weight.
const LIST: u32 = 1 << 31;
const IMPLICIT: u32 = 1 << 30;
const TANGUT: u32 = 3;
const HANGUL: u32 = 4;
const BASES: [u32; 3] = [0xFBC0, 0xFB40, 0xFB80];

/// The most weights that one code point has.
const MAX_WEIGHTS: usize = 16;

/// The weights of one level.
pub(super) struct Weights {
    page_of: Vec<u16>,
    pages: Vec<[u32; PAGE]>,
    lists: Vec<u16>,
    /// What a tailoring moved: it applies to computed weights too.
    moved: Vec<Moved>,
}

/// The weights of one code point.
#[derive(Clone, Copy)]
pub(super) struct CharWeights {
    weights: [u16; MAX_WEIGHTS],
    len: u8,
}

impl CharWeights {
    pub(super) const EMPTY: CharWeights = CharWeights { weights: [0; MAX_WEIGHTS], len: 0 };

    pub(super) fn as_slice(&self) -> &[u16] {
        &self.weights[..usize::from(self.len)]
    }

    pub(super) fn push(&mut self, weight: u16) {
        if usize::from(self.len) < MAX_WEIGHTS {
            self.weights[usize::from(self.len)] = weight;
            self.len += 1;
        }
    }
}

/// Reads varints; what is missing at the end reads as 0, which ends the expansion.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    last: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0, last: 0 }
    }

    /// The next bytes as they are.
    pub(super) fn take(&mut self, size: usize) -> &'a [u8] {
        let end = self.at.saturating_add(size).min(self.bytes.len());
        let taken = &self.bytes[self.at..end];
        self.at = end;
        taken
    }

    /// All that was not read yet.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        self.take(self.bytes.len())
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub(super) fn number(&mut self) -> u32 {
        let mut value = 0;
        let mut shift = 0;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            value |= u32::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }

    /// A number that may be negative, in two's complement.
    pub(super) fn difference(&mut self) -> u32 {
        let coded = self.number();
        let half = coded >> 1;
        if coded & 1 == 0 { half } else { !half }
    }

    fn value(&mut self) -> u16 {
        let difference = self.difference();
        self.last = self.last.wrapping_add(difference);
        self.last as u16
    }
}

/// Collects entries in code point order into shared pages.
struct Builder<'a> {
    table: Weights,
    page: Vec<u32>,
    base: Option<&'a Weights>,
    /// New numbers of the base table's pages that are kept.
    kept: HashMap<u16, u16>,
}

impl<'a> Builder<'a> {
    fn new(table: Weights, base: Option<&'a Weights>) -> Builder<'a> {
        Builder { table, page: Vec::with_capacity(PAGE), base, kept: HashMap::new() }
    }

    fn push(&mut self, entry: u32) {
        self.page.push(entry);
        if self.page.len() == PAGE {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let mut page = [LIST; PAGE];
        page[..self.page.len()].copy_from_slice(&self.page);
        self.page.clear();
        let pages = &mut self.table.pages;
        // Equal pages are runs of implicit weights: looking at the last few finds them.
        let recent = pages.len().saturating_sub(8);
        let known = pages[recent..].iter().position(|old| *old == page);
        let number = match known {
            Some(index) => recent + index,
            None => {
                pages.push(page);
                pages.len() - 1
            }
        };
        self.table.page_of.push(number as u16);
    }

    /// The code point that the next entry is for.
    fn next_char(&self) -> u32 {
        (self.table.page_of.len() * PAGE + self.page.len()) as u32
    }

    /// One entry for `count` code points.
    fn repeat(&mut self, entry: u32, mut count: u32) {
        while count > 0 {
            let filled = self.page.len();
            let some = (count as usize).min(PAGE - filled);
            self.page.resize(filled + some, entry);
            count -= some as u32;
            if self.page.len() == PAGE {
                self.flush();
            }
        }
    }

    /// Takes the entries of `count` code points from the base table, by whole pages where it can.
    fn keep(&mut self, mut count: u32) {
        let Some(base) = self.base else { return self.repeat(LIST, count) };
        while count > 0 {
            let filled = self.page.len();
            let some = (count as usize).min(PAGE - filled);
            let number = base.page_of.get(self.table.page_of.len()).copied().unwrap_or(0);
            let page = &base.pages[usize::from(number)];
            if some == PAGE {
                let pages = &mut self.table.pages;
                let kept = *self.kept.entry(number).or_insert_with(|| {
                    pages.push(*page);
                    (pages.len() - 1) as u16
                });
                self.table.page_of.push(kept);
            } else {
                self.page.extend_from_slice(&page[filled..filled + some]);
                if self.page.len() == PAGE {
                    self.flush();
                }
            }
            count -= some as u32;
        }
    }

    fn runs(&mut self, stored: &[u8]) {
        let mut reader = Reader::new(stored);
        while reader.at < stored.len() {
            let head = reader.number();
            expand_run(&mut reader, self, head & 15, head >> 4);
        }
    }
}

/// Stores a list of weights and returns its entry.
fn store_list(lists: &mut Vec<u16>, weights: &[u16]) -> u32 {
    let start = lists.len() as u32;
    lists.extend_from_slice(weights);
    LIST | (weights.len() as u32) << 24 | start
}

impl Weights {
    /// Expands a stored table.
    pub(super) fn expand(stored: &[u8]) -> Weights {
        let table = Weights::empty();
        let mut builder = Builder::new(table, None);
        builder.runs(stored);
        if !builder.page.is_empty() {
            builder.flush();
        }
        builder.table
    }

    fn empty() -> Weights {
        let (page_of, pages) = (Vec::new(), Vec::new());
        Weights { page_of, pages, lists: Vec::new(), moved: Vec::new() }
    }

    /// This table with the changes of a tailoring: weights that move, then runs of what single
    /// characters weigh.
    pub(super) fn tailored(mut self, moved: Vec<Moved>, runs: &[u8]) -> Weights {
        if !moved.is_empty() {
            self.move_weights(moved);
        }
        let table =
            Weights { lists: self.lists.clone(), moved: self.moved.clone(), ..Weights::empty() };
        let mut builder = Builder::new(table, Some(&self));
        builder.runs(runs);
        builder.keep(CODE_POINTS.saturating_sub(builder.next_char()));
        builder.table
    }

    fn move_weights(&mut self, moved: Vec<Moved>) {
        self.moved = moved;
        let (old_lists, mut pages) =
            (std::mem::take(&mut self.lists), std::mem::take(&mut self.pages));
        let mut lists = Vec::new();
        for entry in pages.iter_mut().flatten() {
            let mut result = CharWeights::EMPTY;
            if *entry & LIST != 0 {
                let (start, len) = list_of(*entry);
                for &weight in &old_lists[start..start + len] {
                    self.push_moved(weight, &mut result);
                }
                *entry = store_list(&mut lists, result.as_slice());
            } else if *entry & IMPLICIT == 0 {
                self.push_moved(*entry as u16, &mut result);
                *entry = match *result.as_slice() {
                    [weight] => weight.into(),
                    ref several => store_list(&mut lists, several),
                };
            }
        }
        (self.lists, self.pages) = (lists, pages);
    }

    /// Writes a weight of the base table as the tailoring has it.
    fn push_moved(&self, weight: u16, result: &mut CharWeights) {
        let range = self.moved.iter().find(|own| (own.first..=own.last).contains(&weight));
        let Some(range) = range else { return result.push(weight) };
        if range.before != 0 {
            result.push(range.before);
        }
        result.push(weight.wrapping_add(range.distance));
    }

    /// A table of the characters of a set. All others weigh as a question mark, which stands for
    /// them.
    pub(super) fn of_chars(
        chars: impl Iterator<Item = (char, Vec<u16>)>,
        question_mark: &[u16],
    ) -> Weights {
        let mut table = Weights::empty();
        let entry = |lists: &mut Vec<u16>, weights: &[u16]| match *weights {
            [weight] => u32::from(weight),
            ref several => store_list(lists, several),
        };
        let other = entry(&mut table.lists, question_mark);
        table.pages.push([other; PAGE]);
        table.page_of = vec![0u16; CODE_POINTS as usize / PAGE];
        for (char, weights) in chars {
            let char = u32::from(char) as usize;
            let slot = &mut table.page_of[char / PAGE];
            if *slot == 0 {
                *slot = table.pages.len() as u16;
                table.pages.push([other; PAGE]);
            }
            table.pages[usize::from(*slot)][char % PAGE] = entry(&mut table.lists, &weights);
        }
        table
    }

    #[inline]
    fn entry(&self, char: u32) -> u32 {
        let page = self.page_of.get(char as usize / PAGE).copied().unwrap_or(0);
        self.pages[usize::from(page)][char as usize % PAGE]
    }

    /// The weight of a character that has exactly one.
    #[inline]
    pub(super) fn single(&self, char: u32) -> Option<u16> {
        u16::try_from(self.entry(char)).ok()
    }

    /// All weights of a character.
    pub(super) fn of(&self, char: u32) -> CharWeights {
        let mut result = CharWeights::EMPTY;
        self.append(char, &mut result);
        result
    }

    fn append(&self, char: u32, result: &mut CharWeights) {
        let entry = self.entry(char);
        if entry & LIST != 0 {
            let (start, len) = list_of(entry);
            for &weight in &self.lists[start..start + len] {
                result.push(weight);
            }
        } else if entry & IMPLICIT == 0 {
            result.push(entry as u16);
        } else {
            self.append_computed(char, entry & !IMPLICIT, result);
        }
    }

    fn append_computed(&self, char: u32, rule: u32, result: &mut CharWeights) {
        match rule {
            HANGUL => {
                let syllable = char.wrapping_sub(0xAC00);
                self.append(0x1100 + syllable / 588, result);
                self.append(0x1161 + syllable % 588 / 28, result);
                if !syllable.is_multiple_of(28) {
                    self.append(0x11A7 + syllable % 28, result);
                }
            }
            TANGUT => {
                self.push_moved(0xFB00, result);
                self.push_moved((char.wrapping_sub(0x1_7000) | 0x8000) as u16, result);
            }
            base => {
                let base = BASES.get(base as usize).copied().unwrap_or(BASES[0]);
                self.push_moved((base + (char >> 15)) as u16, result);
                self.push_moved((char & 0x7FFF | 0x8000) as u16, result);
            }
        }
    }
}

/// Start and length of a stored list.
fn list_of(entry: u32) -> (usize, usize) {
    ((entry & 0xFF_FFFF) as usize, (entry >> 24 & 0x7F) as usize)
}

fn expand_run(reader: &mut Reader<'_>, builder: &mut Builder<'_>, op: u32, count: u32) {
    let count = count.min(CODE_POINTS);
    match op {
        0..=2 => builder.repeat(IMPLICIT | op, count),
        4 => builder.repeat(IMPLICIT | TANGUT, count),
        5 => builder.repeat(IMPLICIT | HANGUL, count),
        6 => {
            for _ in 0..count {
                let weight = reader.value();
                builder.push(weight.into());
            }
        }
        7 => {
            let weight = reader.value();
            builder.repeat(weight.into(), count);
        }
        8 => {
            let first = u32::from(reader.value());
            (0..count).for_each(|step| builder.push((first + step) & 0xFFFF));
            reader.last = reader.last.wrapping_add(count.saturating_sub(1));
        }
        9 => {
            let each = reader.number().min(MAX_WEIGHTS as u32);
            for _ in 0..count {
                let weights: Vec<u16> = (0..each).map(|_| reader.value()).collect();
                let entry = store_list(&mut builder.table.lists, &weights);
                builder.push(entry);
            }
        }
        10 => builder.keep(count),
        11 => {
            for _ in 0..count {
                let weight = reader.take(2);
                builder.push(weight.iter().fold(0, |value, &byte| value << 8 | u32::from(byte)));
            }
        }
        _ => builder.repeat(LIST, count),
    }
}
