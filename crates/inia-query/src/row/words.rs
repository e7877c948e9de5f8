//! Entries of FULLTEXT indexes: one for each word of a row.
//!
//! ```text
//! key     the word's key, 0, primary key
//! value   [length of the primary key], characters of the word, positions
//! ```
//!
//! A word's key is its sort key, which holds no zero byte. The length (u16) is left out where it
//! never varies. The characters are one byte. Words are numbered from 0 over all columns, stopwords
//! too; a position is the number of the word times the number of columns, plus the column. Each is
//! stored as its difference to the one before, as LEB128.
//!
//! Example: with the primary key 7 the texts `red apple`, `red` have the entries
//! `red 7: 3 chars, 0 +5` and `apple 7: 5 chars, 2`.

use super::cell::Cell;
use super::part::PartCodec;
use crate::error::Damaged;
use crate::fulltext::{TextParser, each_word};
use crate::table_def::{IndexDef, IndexPart, TableDef};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use std::collections::BTreeMap;

/// What ends a word's key.
const END: u8 = 0;
/// Bytes of a hidden row id.
const ROW_ID: usize = 8;
/// The characters of an ngram.
const NGRAM: usize = 2;

/// Builds and takes apart the entries of one FULLTEXT index.
pub struct WordsCodec {
    columns: Vec<usize>,
    parser: TextParser,
    collation: Collation,
    primary_len: Option<usize>,
}

/// Entries in the order of their keys: key and value.
type WordEntries = BTreeMap<Vec<u8>, Vec<u8>>;

/// An entry, taken apart.
pub(crate) struct WordEntry<'e> {
    /// The word's key.
    pub(crate) word: &'e [u8],
    /// The row's clustered key.
    pub(crate) primary: &'e [u8],
    /// How many characters the word has.
    pub(crate) chars: usize,
    positions: &'e [u8],
}

impl WordsCodec {
    /// The codec of `def.indexes[index]`, where that is a FULLTEXT index.
    pub fn of(def: &TableDef, index: usize) -> Option<WordsCodec> {
        let index = &def.indexes[index];
        if !index.kind.has_words() {
            return None;
        }
        let primary = |part: &IndexPart| {
            let column = &def.columns[part.column];
            PartCodec::new(part, &column.data_type, column.nullable).constant_len()
        };
        let primary_len = match def.clustered_index() {
            Some(key) => key.parts.iter().map(primary).sum(),
            None => Some(ROW_ID),
        };
        let columns: Vec<usize> = index.parts.iter().map(|part| part.column).collect();
        let collation = columns.first().map(|column| collation_of(&def.columns[*column].data_type));
        Some(WordsCodec {
            columns,
            parser: parser_of(index),
            collation: collation.unwrap_or(Collation::DEFAULT),
            primary_len,
        })
    }

    /// The columns whose texts it has, in the index's order.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// How texts are cut into words.
    pub(crate) fn parser(&self) -> TextParser {
        self.parser
    }

    /// What makes words equal.
    pub(crate) fn collation(&self) -> Collation {
        self.collation
    }

    /// The entries of a row.
    pub fn entries<'v>(
        &self,
        cell: impl Fn(usize) -> Result<Cell<'v>, Damaged>,
        primary: &[u8],
    ) -> Result<WordEntries, Damaged> {
        let mut texts = Vec::with_capacity(self.columns.len());
        for &column in &self.columns {
            texts.push(match cell(column)? {
                Cell::Null => None,
                Cell::Text(text) => Some(text),
                _ => return Err(Damaged),
            });
        }
        let mut words: BTreeMap<Vec<u8>, (usize, Vec<u32>)> = BTreeMap::new();
        each_word((self.parser, self.collation), &texts, |key, chars, position| {
            words.entry(key).or_insert_with(|| (chars, Vec::new())).1.push(position);
        });
        let length = match self.primary_len {
            Some(_) => None,
            None => Some(u16::try_from(primary.len()).map_err(|_| Damaged)?),
        };
        let entry = |(mut key, (chars, positions)): (Vec<u8>, (usize, Vec<u32>))| {
            key.push(END);
            key.extend_from_slice(primary);
            let mut value = Vec::with_capacity(4 + positions.len());
            value.extend(length.iter().flat_map(|length| length.to_le_bytes()));
            value.push(u8::try_from(chars).unwrap_or(u8::MAX));
            let mut before = 0;
            for position in positions {
                put_leb128(position - before, &mut value);
                before = position;
            }
            (key, value)
        };
        Ok(words.into_iter().map(entry).collect())
    }

    /// Takes an entry apart.
    pub(crate) fn entry<'e>(
        &self,
        key: &'e [u8],
        value: &'e [u8],
    ) -> Result<WordEntry<'e>, Damaged> {
        let (length, value) = match self.primary_len {
            Some(length) => (length, value),
            None => {
                let (length, rest) = value.split_first_chunk::<2>().ok_or(Damaged)?;
                (usize::from(u16::from_le_bytes(*length)), rest)
            }
        };
        let start = key.len().checked_sub(length).ok_or(Damaged)?;
        let (word, primary) = key.split_at(start);
        let word = word.strip_suffix(&[END]).ok_or(Damaged)?;
        let (&chars, positions) = value.split_first().ok_or(Damaged)?;
        Ok(WordEntry { word, primary, chars: usize::from(chars), positions })
    }

    /// The clustered key that an entry leads to.
    pub fn primary_key<'e>(&self, key: &'e [u8], value: &'e [u8]) -> Result<&'e [u8], Damaged> {
        Ok(self.entry(key, value)?.primary)
    }

    /// What the keys of a word's entries begin with.
    pub(crate) fn word_prefix(word: &[u8]) -> Vec<u8> {
        let mut prefix = word.to_vec();
        prefix.push(END);
        prefix
    }
}

impl WordEntry<'_> {
    /// Where the word is.
    pub(crate) fn positions(&self) -> Result<Vec<u32>, Damaged> {
        let mut rest = self.positions;
        let mut positions = Vec::with_capacity(rest.len());
        let mut last = 0u32;
        while !rest.is_empty() {
            last = last.checked_add(take_leb128(&mut rest)?).ok_or(Damaged)?;
            positions.push(last);
        }
        Ok(positions)
    }

    /// How often the word is there.
    pub(crate) fn frequency(&self) -> u32 {
        self.positions.iter().filter(|byte| **byte < 0x80).count() as u32
    }
}

fn collation_of(data_type: &DataType) -> Collation {
    match data_type {
        DataType::Char { collation, .. }
        | DataType::VarChar { collation, .. }
        | DataType::Text { collation, .. } => *collation,
        _ => Collation::DEFAULT,
    }
}

fn parser_of(index: &IndexDef) -> TextParser {
    if index.ngrams { TextParser::Ngrams(NGRAM) } else { TextParser::Words }
}

fn put_leb128(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take_leb128(rest: &mut &[u8]) -> Result<u32, Damaged> {
    let mut value = 0u32;
    for shift in (0..32).step_by(7) {
        let (&byte, after) = rest.split_first().ok_or(Damaged)?;
        *rest = after;
        value |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Damaged)
}
