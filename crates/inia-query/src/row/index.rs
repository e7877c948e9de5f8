//! Index keys and entries.
//!
//! ```text
//! clustered     key = parts of the primary key (or the hidden row id)   value = the row
//! plain index   key = parts, primary key     value = [length of the primary key], kept columns
//! unique index  key = parts                  value = [length], primary key, kept columns
//! ```
//!
//! A unique entry with a NULL part has the primary key at the end of its key too, because NULLs do
//! not collide. The length (u16) is left out where the primary key's length never varies. Kept
//! columns are those that cannot be read back from the key (collated strings); they form a small
//! row of their own, so that an index can answer without the clustered row.
//!
//! A multi-valued index has such entries, too, one for each element of the row's array
//! ([`super::elements`]): an element stands where the array would, and no column is read from them.

use super::cell::Cell;
use super::layout::RowLayout;
use super::part::PartCodec;
use crate::error::Damaged;
use crate::table_def::{IndexDef, IndexKind, IndexPart, TableDef};
use inia_base::datatype::DataType;
use inia_geometry::cells::Grid;

/// Bytes of a hidden row id.
const ROW_ID: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnSource {
    /// Not in the index.
    Absent,
    /// Part of the declared key.
    Key(usize),
    /// Part of the primary key.
    Primary(usize),
    /// Kept in the value.
    Kept(usize),
}

/// Builds and takes apart the keys and values of one index.
pub struct IndexCodec {
    clustered: bool,
    /// Entries keep others of the same parts out.
    pub(super) unique: bool,
    pub(super) parts: Vec<PartCodec>,
    /// Where each declared part begins in a key, where that is the same for all rows.
    pub(super) starts: Vec<Option<usize>>,
    pub(super) primary: Vec<PartCodec>,
    /// Length of the primary key where it is the same for all rows.
    pub(super) primary_len: Option<usize>,
    kept: Vec<usize>,
    pub(super) kept_layout: RowLayout,
    pub(super) sources: Vec<ColumnSource>,
}

impl IndexCodec {
    /// The codec of `def.indexes[index]`.
    pub fn new(def: &TableDef, index: usize) -> IndexCodec {
        let index = &def.indexes[index];
        let parts = match (index.kind, index.parts.as_slice()) {
            (IndexKind::Spatial, [part]) => vec![PartCodec::spatial(part, srid_of(def, part))],
            _ => part_codecs(def, index),
        };
        let primary = def.clustered_index().map(|p| part_codecs(def, p)).unwrap_or_default();
        let primary_len = if primary.is_empty() {
            Some(ROW_ID)
        } else {
            primary.iter().map(PartCodec::constant_len).sum()
        };
        let mut sources = vec![ColumnSource::Absent; def.columns.len()];
        let mut kept = Vec::new();
        if !index.clustered && !index.kind.has_elements() {
            let all = parts.iter().map(|p| (p, true)).chain(primary.iter().map(|p| (p, false)));
            let (mut key, mut suffix) = (0, 0);
            for (part, declared) in all {
                let number = if declared { &mut key } else { &mut suffix };
                if sources[part.column] == ColumnSource::Absent && part.whole() {
                    sources[part.column] = match (part.reversible(), declared) {
                        (true, true) => ColumnSource::Key(*number),
                        (true, false) => ColumnSource::Primary(*number),
                        (false, _) => {
                            kept.push(part.column);
                            ColumnSource::Kept(kept.len() - 1)
                        }
                    };
                }
                *number += 1;
            }
        }
        let columns = kept.iter().map(|c| (&def.columns[*c].data_type, def.columns[*c].nullable));
        let kept_layout = RowLayout::new(columns);
        let starts = starts(&parts);
        let (clustered, unique) = (index.clustered, index.refuses());
        debug_assert_eq!(starts.len(), parts.len(), "each part has a start, known or not");
        debug_assert_eq!(kept.len(), kept_layout.len(), "the value holds what is kept");
        IndexCodec {
            clustered,
            unique,
            parts,
            starts,
            primary,
            primary_len,
            kept,
            kept_layout,
            sources,
        }
    }

    /// How the index orders places, where it is a spatial one.
    pub(crate) fn grid(&self) -> Option<Grid> {
        self.parts.first().and_then(PartCodec::grid)
    }

    /// Whether a column's value can be read from this index's entries.
    pub(crate) fn covers(&self, column: usize) -> bool {
        self.sources.get(column).is_some_and(|source| *source != ColumnSource::Absent)
    }

    /// Whether keys have the whole value of a column, so that equal ones mean the same value.
    pub(crate) fn is_read_from_key(&self, column: usize) -> bool {
        let mut parts = self.parts.iter().chain(&self.primary);
        parts.any(|part| part.column == column && part.whole() && part.reversible())
    }

    /// Appends one part to a key or bound under construction.
    pub(crate) fn put_part(
        &self,
        part: usize,
        cell: &Cell<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Damaged> {
        self.part(part).put(cell, out)
    }

    /// A declared part, or one of the primary key that an entry's key goes on with.
    fn part(&self, part: usize) -> &PartCodec {
        self.parts.get(part).unwrap_or_else(|| &self.primary[part - self.parts.len()])
    }

    /// The bytes that a part takes at the start of `key`, and whether it is NULL.
    pub(crate) fn part_len(&self, part: usize, key: &[u8]) -> Result<(usize, bool), Damaged> {
        let part = self.part(part);
        Ok((part.skip(key)?, part.is_null(key)))
    }

    /// Appends the clustered key of a row; only for the clustered index's codec.
    pub fn put_clustered_key<'v>(
        &self,
        cell: impl Fn(usize) -> Result<Cell<'v>, Damaged>,
        out: &mut Vec<u8>,
    ) -> Result<(), Damaged> {
        debug_assert!(self.clustered, "rows are clustered by the index");
        self.parts.iter().try_for_each(|part| part.put(&cell(part.column)?, out))
    }

    /// Appends a secondary entry's key and value. Returns whether the entry must be unique: the
    /// index is unique and no part is NULL.
    pub fn put_entry<'v>(
        &self,
        cell: impl Fn(usize) -> Result<Cell<'v>, Damaged>,
        primary_key: &[u8],
        key: &mut Vec<u8>,
        value: &mut Vec<u8>,
    ) -> Result<bool, Damaged> {
        let collides = self.put_entry_key(&cell, primary_key, key)?;
        if self.primary_len.is_none() {
            let length = u16::try_from(primary_key.len()).map_err(|_| Damaged)?;
            value.extend_from_slice(&length.to_le_bytes());
        }
        if self.unique {
            value.extend_from_slice(primary_key);
        }
        if !self.kept.is_empty() {
            self.kept_layout.encode(|i| cell(self.kept[i]), value)?;
        }
        Ok(collides)
    }

    /// As [`IndexCodec::put_entry`], of the key alone.
    pub(crate) fn put_entry_key<'v>(
        &self,
        cell: impl Fn(usize) -> Result<Cell<'v>, Damaged>,
        primary_key: &[u8],
        key: &mut Vec<u8>,
    ) -> Result<bool, Damaged> {
        debug_assert!(!self.clustered, "a clustered record is no entry");
        let mut null = false;
        for part in &self.parts {
            let cell = cell(part.column)?;
            null |= cell == Cell::Null;
            part.put(&cell, key)?;
        }
        let collides = self.unique && !null;
        if !collides {
            key.extend_from_slice(primary_key);
        }
        Ok(collides)
    }

    /// Splits an entry into its primary key and its kept columns.
    #[inline]
    fn split<'a>(&self, key: &'a [u8], value: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), Damaged> {
        let (length, value) = match self.primary_len {
            Some(length) => (length, value),
            None => {
                let (length, rest) = value.split_first_chunk::<2>().ok_or(Damaged)?;
                (usize::from(u16::from_le_bytes(*length)), rest)
            }
        };
        if self.unique {
            return value.split_at_checked(length).ok_or(Damaged);
        }
        let start = key.len().checked_sub(length).ok_or(Damaged)?;
        Ok((&key[start..], value))
    }

    /// The clustered key that a secondary entry points to.
    #[inline]
    pub fn primary_key<'a>(&self, key: &'a [u8], value: &'a [u8]) -> Result<&'a [u8], Damaged> {
        Ok(self.split(key, value)?.0)
    }

    /// The value of the key's part with this number, of any index.
    pub(crate) fn key_part<'a>(&self, key: &'a [u8], number: usize) -> Result<Cell<'a>, Damaged> {
        nth(&self.parts, number, key)
    }

    /// A covered column's value, from a secondary entry.
    #[inline]
    pub(crate) fn cell<'a>(
        &self,
        key: &'a [u8],
        value: &'a [u8],
        column: usize,
    ) -> Result<Cell<'a>, Damaged> {
        match self.sources[column] {
            ColumnSource::Absent => Err(Damaged),
            ColumnSource::Key(part) => match self.starts[part] {
                Some(start) => self.parts[part].get(key.get(start..).ok_or(Damaged)?),
                None => nth(&self.parts, part, key),
            },
            ColumnSource::Primary(part) => nth(&self.primary, part, self.split(key, value)?.0),
            ColumnSource::Kept(index) => self.kept_layout.cell(self.split(key, value)?.1, index),
        }
    }
}

/// The SRID attribute of a spatial index's column.
fn srid_of(def: &TableDef, part: &IndexPart) -> Option<u32> {
    match def.columns[part.column].data_type {
        DataType::Geometry { srid, .. } => srid,
        _ => None,
    }
}

fn part_codecs(def: &TableDef, index: &IndexDef) -> Vec<PartCodec> {
    let codec = |(at, part): (usize, &IndexPart)| {
        PartCodec::new(part, &def.key_type(index, at), def.columns[part.column].nullable)
    };
    index.parts.iter().enumerate().map(codec).collect()
}

/// Where parts begin that follow only parts of constant length.
fn starts(parts: &[PartCodec]) -> Vec<Option<usize>> {
    let mut next = Some(0);
    let begin = |part: &PartCodec| {
        let start = next;
        next = start.and_then(|at| Some(at + part.constant_len()?));
        start
    };
    parts.iter().map(begin).collect()
}

fn nth<'a>(parts: &[PartCodec], part: usize, mut key: &[u8]) -> Result<Cell<'a>, Damaged> {
    for skipped in &parts[..part] {
        key = key.get(skipped.skip(key)?..).ok_or(Damaged)?;
    }
    parts[part].get(key)
}

/// Turns a key prefix into the least key above all keys that start with it; false when there is
/// none (the range is unbounded).
pub(crate) fn prefix_successor(prefix: &mut Vec<u8>) -> bool {
    while let Some(last) = prefix.last_mut() {
        if *last != 0xff {
            *last += 1;
            return true;
        }
        prefix.pop();
    }
    false
}
