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
//! ```
//!
//! The tables hold what MySQL 8.0's `WEIGHT_STRING` gives for each code point (for the levels
//! after the first, the part between its zero separators). In memory a table is 4,352 page numbers
//! and pages of 256 entries; pages of one and the same content are shared.

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

    fn push(&mut self, weight: u16) {
        if usize::from(self.len) < MAX_WEIGHTS {
            self.weights[usize::from(self.len)] = weight;
            self.len += 1;
        }
    }
}

/// Reads varints; what is missing at the end reads as 0, which ends the expansion.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    last: u32,
}

impl Reader<'_> {
    fn number(&mut self) -> u32 {
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

    fn value(&mut self) -> u16 {
        let coded = self.number();
        let half = coded >> 1;
        let difference = if coded & 1 == 0 { half } else { !half };
        self.last = self.last.wrapping_add(difference);
        self.last as u16
    }
}

/// Collects entries in code point order into shared pages.
struct Builder {
    table: Weights,
    page: Vec<u32>,
}

impl Builder {
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

    /// Stores a list of weights and returns its entry.
    fn list(&mut self, weights: &[u16]) -> u32 {
        let start = self.table.lists.len() as u32;
        self.table.lists.extend_from_slice(weights);
        LIST | (weights.len() as u32) << 24 | start
    }
}

impl Weights {
    /// Expands a stored table.
    pub(super) fn expand(stored: &[u8]) -> Weights {
        let table = Weights { page_of: Vec::new(), pages: Vec::new(), lists: Vec::new() };
        let mut builder = Builder { table, page: Vec::with_capacity(PAGE) };
        let mut reader = Reader { bytes: stored, at: 0, last: 0 };
        while reader.at < stored.len() {
            let head = reader.number();
            expand_run(&mut reader, &mut builder, head & 15, head >> 4);
        }
        if !builder.page.is_empty() {
            builder.flush();
        }
        builder.table
    }

    /// A table of 8-bit weights for an 8-bit character set: `weights[i]` is that of `chars[i]`.
    /// All other characters weigh as a question mark, which stands for them.
    pub(super) fn of_bytes(chars: &[u16], weights: &[u8]) -> Weights {
        let other = u32::from(weights.get(usize::from(b'?')).copied().unwrap_or(0));
        let mut pages = vec![[other; PAGE]];
        let mut page_of = vec![0u16; CODE_POINTS as usize / PAGE];
        for (&char, &weight) in chars.iter().zip(weights) {
            let slot = &mut page_of[usize::from(char) / PAGE];
            if *slot == 0 {
                *slot = pages.len() as u16;
                pages.push([other; PAGE]);
            }
            pages[usize::from(*slot)][usize::from(char) % PAGE] = weight.into();
        }
        Weights { page_of, pages, lists: Vec::new() }
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
            let (start, len) = ((entry & 0xFF_FFFF) as usize, (entry >> 24 & 0x7F) as usize);
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
                result.push(0xFB00);
                result.push((char.wrapping_sub(0x1_7000) | 0x8000) as u16);
            }
            base => {
                let base = BASES.get(base as usize).copied().unwrap_or(BASES[0]);
                result.push((base + (char >> 15)) as u16);
                result.push((char & 0x7FFF | 0x8000) as u16);
            }
        }
    }
}

fn expand_run(reader: &mut Reader<'_>, builder: &mut Builder, op: u32, count: u32) {
    let count = count.min(CODE_POINTS);
    match op {
        0..=2 => (0..count).for_each(|_| builder.push(IMPLICIT | op)),
        4 => (0..count).for_each(|_| builder.push(IMPLICIT | TANGUT)),
        5 => (0..count).for_each(|_| builder.push(IMPLICIT | HANGUL)),
        6 => {
            for _ in 0..count {
                let weight = reader.value();
                builder.push(weight.into());
            }
        }
        7 => {
            let weight = reader.value();
            (0..count).for_each(|_| builder.push(weight.into()));
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
                let entry = builder.list(&weights);
                builder.push(entry);
            }
        }
        _ => (0..count).for_each(|_| builder.push(LIST)),
    }
}
