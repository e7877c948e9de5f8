//! Columns of texts: entries, and which of them each row has.
//!
//! Rows may share an entry. Then what is made of texts is made once for each entry, and a row that
//! goes on to another batch takes the number of its entry along, not its bytes:
//!
//! ```text
//!   entries  AIR | MAIL      codes  0 0 1 0 NULL 1
//! ```

use super::column::NO_ROW;
use crate::columns::PackedTexts;
use std::collections::HashSet;
use std::sync::Arc;

/// Texts one behind the other.
#[derive(Debug, Default)]
pub(super) struct TextEntries {
    bytes: Vec<u8>,
    /// Where each text ends.
    ends: Vec<usize>,
    /// Bytes of the longest.
    longest: usize,
}

/// Entries of texts that were counted, by their addresses.
#[derive(Debug, Default)]
pub(super) struct CountedTexts(HashSet<usize>);

impl TextEntries {
    fn push(&mut self, text: &[u8]) -> u32 {
        // Short texts are copied without a call.
        match text {
            [only] => self.bytes.push(*only),
            text => self.bytes.extend_from_slice(text),
        }
        self.ends.push(self.bytes.len());
        self.longest = self.longest.max(text.len());
        self.ends.len() as u32 - 1
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    fn get(&self, at: u32) -> &[u8] {
        let at = at as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    fn held(&self) -> usize {
        self.bytes.len() + size_of_val(&self.ends[..])
    }
}

/// A text or NULL for each row.
#[derive(Debug)]
pub(super) struct TextColumn {
    entries: Arc<TextEntries>,
    /// The entry of each row; [`NO_ROW`] for NULL.
    codes: Vec<u32>,
}

impl TextColumn {
    /// Rows of these entries.
    pub(super) fn of(entries: &[&[u8]], codes: impl Iterator<Item = u32>) -> TextColumn {
        let mut all = TextEntries::default();
        entries.iter().for_each(|entry| _ = all.push(entry));
        TextColumn { entries: Arc::new(all), codes: codes.collect() }
    }

    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<&[u8]> {
        match self.codes[row] {
            NO_ROW => None,
            code => Some(self.entries.get(code)),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        (0..self.codes.len()).map(|row| self.get(row))
    }

    pub(super) fn rows(&self) -> usize {
        self.codes.len()
    }

    /// The rows at these places, NULL for [`NO_ROW`].
    pub(super) fn gather(&self, places: &[u32]) -> TextColumn {
        let code = |place: &u32| self.codes.get(*place as usize).copied().unwrap_or(NO_ROW);
        let codes = places.iter().map(code).collect();
        TextColumn { entries: self.entries.clone(), codes }
    }

    /// About how many bytes it takes, without entries that were counted already.
    pub(super) fn held(&self, counted: &mut CountedTexts) -> usize {
        let is_new = counted.0.insert(Arc::as_ptr(&self.entries).addr());
        let entries = if is_new { self.entries.held() } else { 0 };
        entries + size_of_val(&self.codes[..])
    }

    /// At most how many bytes a row takes.
    pub(super) fn longest(&self) -> usize {
        size_of::<u32>() + self.entries.longest
    }

    /// Gives what `make` makes of the text of each row that is wanted to `take`, with the row's
    /// number; `None` of NULL. Rows of one entry may share what is made once.
    #[inline]
    pub(super) fn each<T: Copy>(
        &self,
        is_wanted: impl Fn(usize) -> bool,
        mut make: impl FnMut(&[u8]) -> T,
        mut take: impl FnMut(usize, Option<T>),
    ) {
        // A memory for each entry pays where several rows have one.
        let shared = self.entries.len() * 2 <= self.codes.len();
        let mut made = vec![None; if shared { self.entries.len() } else { 0 }];
        for (row, &code) in self.codes.iter().enumerate().filter(|(row, _)| is_wanted(*row)) {
            if code == NO_ROW {
                take(row, None);
                continue;
            }
            let value = match made.get_mut(code as usize) {
                None => make(self.entries.get(code)),
                Some(Some(known)) => *known,
                Some(unknown) => *unknown.insert(make(self.entries.get(code))),
            };
            take(row, Some(value));
        }
    }
}

/// A column of texts that grows.
#[derive(Debug, Default)]
pub(super) struct TextBuilder {
    entries: TextEntries,
    codes: Vec<u32>,
}

impl TextBuilder {
    /// A column with room for so many rows.
    pub(super) fn with_capacity(rows: usize) -> TextBuilder {
        TextBuilder { entries: TextEntries::default(), codes: Vec::with_capacity(rows) }
    }

    #[inline]
    pub(super) fn push(&mut self, text: Option<&[u8]>) {
        let code = text.map_or(NO_ROW, |text| self.entries.push(text));
        self.codes.push(code);
    }

    /// Adds some rows of packed texts.
    pub(super) fn push_packed(&mut self, texts: &PackedTexts, rows: impl Iterator<Item = usize>) {
        let Some(codes) = texts.codes() else {
            rows.for_each(|row| self.push(texts.get(row)));
            return;
        };
        let base = self.entries.len() as u32;
        texts.entries().for_each(|entry| _ = self.entries.push(entry));
        self.codes.extend(rows.map(|row| match codes[row] {
            PackedTexts::NULL_CODE => NO_ROW,
            code => base + u32::from(code),
        }));
    }

    pub(super) fn len(&self) -> usize {
        self.codes.len()
    }

    /// About how many bytes it takes.
    pub(super) fn held(&self) -> usize {
        self.entries.held() + size_of_val(&self.codes[..])
    }

    pub(super) fn finish(self) -> TextColumn {
        TextColumn { entries: Arc::new(self.entries), codes: self.codes }
    }
}
