//! How leaves that a scan reads come to be kept: their columns are collected until they are a
//! segment.
//!
//! ```text
//!   read        leaf 1, leaf 2, leaf 3 ..         a segment from its 2,048th row on
//!   known       leaves 1 to 20 with column a      read for b: the same leaves, a and b
//!   changed     1 to 9 | 10 changed | 11 to 20    10 is read: 1 to 9 stay, 10 to 20 become one
//! ```
//!
//! Leaves that are known become part of a new segment where they are few: many small segments would
//! be as slow as leaves.

use super::column::NullableVec;
use crate::access::FoundRun;
use crate::catalog::Table;
use crate::columns::{
    CachedColumn, ColumnCache, PackedNumbers, PackedTexts, Place, SEGMENT_ROWS, Segment,
};
use crate::exec::Result;
use crate::plan::vector::{NumberKind, VectorForm};
use inia_base::ids::PageId;
use inia_storage::KnownLeaf;
use std::ops::Range;
use std::sync::Arc;

/// Leaves of a segment with fewer rows are few.
const SMALL_SEGMENT_THRESHOLD: usize = SEGMENT_ROWS / 2;

/// Leaves of one segment.
type Piece = (Arc<Segment>, Range<usize>);

/// Collects leaves that follow one another.
pub(super) struct Keeper<'e> {
    cache: &'e Arc<ColumnCache>,
    table: &'e Arc<Table>,
    /// The columns that the scan reads, and what is collected of each.
    columns: Vec<(usize, Collected)>,
    leaves: Vec<KnownLeaf>,
    rows: usize,
    /// Leaves of a segment of other columns, which are the collected ones.
    along: Option<Piece>,
    /// A few known leaves right before the next one, if nothing is collected.
    few: Option<Piece>,
    /// The cache has no room.
    is_full: bool,
}

/// A column of the leaves that are collected.
enum Collected {
    Numbers(NullableVec<i64>),
    Texts {
        bytes: Vec<u8>,
        /// Where the text of each row ends, and whether it is NULL.
        ends: Vec<(usize, bool)>,
    },
}

impl<'e> Keeper<'e> {
    pub(super) fn new(
        cache: &'e Arc<ColumnCache>,
        table: &'e Arc<Table>,
        columns: &[usize],
    ) -> Keeper<'e> {
        Keeper {
            cache,
            table,
            columns: columns.iter().map(|&at| (at, Collected::of(table, at))).collect(),
            leaves: Vec::new(),
            rows: 0,
            along: None,
            few: None,
            is_full: false,
        }
    }

    /// The scan has read all rows of a leaf.
    pub(super) fn read(&mut self, run: &FoundRun<'_>, leaf: KnownLeaf) -> Result<()> {
        if self.is_full {
            return Ok(());
        }
        let place = self.table.columns.find(leaf.state());
        if !self.is_next(leaf.state().page) || !self.is_along(place.as_ref()) {
            self.finish();
        }
        if self.leaves.is_empty() {
            let few = self.few.take().filter(|few| place.is_none() && is_before(few, &leaf));
            if let Some(few) = few {
                self.absorb(&few);
            }
        }
        self.few = None;
        let mut fits = true;
        for (column, collected) in &mut self.columns {
            fits = fits && collected.read(run, self.table, *column)?;
        }
        if !fits {
            let rows = self.rows;
            self.columns.iter_mut().for_each(|(_, collected)| collected.truncate(rows));
            self.finish();
            return Ok(());
        }
        let is_last = place.map(|(segment, at)| {
            let start = self.along.as_ref().map_or(at, |(_, leaves)| leaves.start);
            let is_last = at + 1 == segment.leaves().len();
            self.along = Some((segment, start..at + 1));
            is_last
        });
        self.add(leaf);
        if is_last.unwrap_or(self.rows >= SEGMENT_ROWS) {
            self.finish();
        }
        Ok(())
    }

    /// The scan has passed leaves that are kept.
    pub(super) fn pass(&mut self, segment: &Arc<Segment>, leaves: Range<usize>) {
        if self.is_full {
            return;
        }
        let is_few = segment.rows_of(leaves.clone()).len() < SMALL_SEGMENT_THRESHOLD;
        let piece = (segment.clone(), leaves);
        let first = &piece.0.leaves()[piece.1.start];
        if !is_few || self.along.is_some() || !self.is_next(first.state().page) {
            self.finish();
        }
        let before = self.few.take();
        if !is_few {
            return;
        }
        if let Some(before) = before.filter(|before| is_before(before, first)) {
            self.absorb(&before);
        }
        match self.leaves.is_empty() {
            true => self.few = Some(piece),
            false => self.absorb(&piece),
        }
        if self.rows >= SEGMENT_ROWS {
            self.finish();
        }
    }

    /// Keeps what is collected.
    pub(super) fn finish(&mut self) {
        self.rows = 0;
        let along = self.along.take();
        if self.leaves.is_empty() {
            return;
        }
        let leaves = std::mem::take(&mut self.leaves);
        let columns = self.columns.iter_mut();
        let mut columns: Vec<_> =
            columns.map(|(column, all)| (*column, Arc::new(all.pack()))).collect();
        if let Some((segment, along)) = along {
            let known: Vec<usize> = columns.iter().map(|(column, _)| *column).collect();
            columns.extend(segment.columns_of(along).filter(|(column, _)| !known.contains(column)));
        }
        // Where there is no room for these leaves, there is none for the next ones.
        self.is_full = !self.cache.keep(&self.table.columns, Segment::new(leaves, columns));
    }

    /// Whether a page is the one behind the leaves that are collected, if any are.
    fn is_next(&self, page: PageId) -> bool {
        self.leaves.last().is_none_or(|last| last.next() == Some(page))
    }

    /// Whether the segment of other columns at this place, or that there is none, is what goes
    /// with the leaves that are collected.
    fn is_along(&self, place: Option<&Place>) -> bool {
        match (&self.along, place) {
            _ if self.leaves.is_empty() => true,
            (None, None) => true,
            (Some((segment, leaves)), Some((other, at))) => {
                Arc::ptr_eq(segment, other) && leaves.end == *at
            }
            _ => false,
        }
    }

    /// Collects leaves that are kept already.
    fn absorb(&mut self, (segment, leaves): &Piece) {
        let rows = segment.rows_of(leaves.clone());
        for (column, collected) in &mut self.columns {
            match segment.column(*column) {
                Some(kept) => collected.copy(kept, rows.clone()),
                None => debug_assert!(false, "a scan knows leaves by its columns"),
            }
        }
        for leaf in &segment.leaves()[leaves.clone()] {
            self.add(leaf.clone());
        }
    }

    /// One more leaf is collected.
    fn add(&mut self, leaf: KnownLeaf) {
        self.rows += leaf.state().records;
        self.leaves.push(leaf);
    }
}

/// Whether the leaves come right before another one.
fn is_before((segment, leaves): &Piece, leaf: &KnownLeaf) -> bool {
    segment.leaves()[leaves.end - 1].next() == Some(leaf.state().page)
}

impl Collected {
    fn of(table: &Table, column: usize) -> Collected {
        match VectorForm::of(table.layout.data_type(column)) {
            VectorForm::Texts => Collected::Texts { bytes: Vec::new(), ends: Vec::new() },
            _ => Collected::Numbers(NullableVec::default()),
        }
    }

    /// Adds a column of a leaf's rows; false where it has numbers of more than 64 bits.
    fn read(&mut self, run: &FoundRun<'_>, table: &Table, column: usize) -> Result<bool> {
        let rows = 0..run.len();
        let numbers = match self {
            Collected::Texts { bytes, ends } => {
                return run.bytes(table, column, rows, |text| {
                    bytes.extend_from_slice(text.unwrap_or_default());
                    ends.push((bytes.len(), text.is_none()));
                });
            }
            Collected::Numbers(numbers) => numbers,
        };
        let mut fits = true;
        let kind = NumberKind::of(table.layout.data_type(column));
        let given = match kind {
            Some(NumberKind::Decimal(_)) => run.decimals(table, column, rows, |value| {
                let small = value.map(i64::try_from);
                fits &= !matches!(small, Some(Err(_)));
                numbers.push(small.map(|small| small.unwrap_or_default()));
            })?,
            Some(kind) => run.numbers(table, column, rows, |bits| {
                let is_unsigned = kind == NumberKind::Int { unsigned: true };
                fits &= !(is_unsigned && bits.is_some_and(|bits| bits >> 63 == 1));
                numbers.push(bits.map(|bits| bits as i64));
            })?,
            None => false,
        };
        Ok(given && fits)
    }

    /// Adds some rows of a column that is kept.
    fn copy(&mut self, kept: &CachedColumn, rows: Range<usize>) {
        match (self, kept) {
            (Collected::Numbers(numbers), CachedColumn::Numbers(kept)) => {
                let value = |row| (!kept.is_null(row)).then(|| kept.get(row));
                rows.for_each(|row| numbers.push(value(row)));
            }
            (Collected::Texts { bytes, ends }, CachedColumn::Texts(kept)) => rows.for_each(|row| {
                bytes.extend_from_slice(kept.get(row).unwrap_or_default());
                ends.push((bytes.len(), kept.get(row).is_none()));
            }),
            _ => debug_assert!(false, "a column has one form"),
        }
    }

    /// Takes away all but the first rows.
    fn truncate(&mut self, rows: usize) {
        match self {
            Collected::Numbers(numbers) => {
                numbers.values.truncate(rows);
                numbers.nulls.truncate(rows);
            }
            Collected::Texts { bytes, ends } => {
                ends.truncate(rows);
                bytes.truncate(ends.last().map_or(0, |(end, _)| *end));
            }
        }
    }

    /// The column packed; nothing is collected afterwards.
    fn pack(&mut self) -> CachedColumn {
        match self {
            Collected::Numbers(numbers) => {
                let NullableVec { values, nulls } = std::mem::take(numbers);
                CachedColumn::Numbers(PackedNumbers::new(&values, &nulls))
            }
            Collected::Texts { bytes, ends } => {
                let starts = std::iter::once(0).chain(ends.iter().map(|(end, _)| *end));
                let text = |(&(end, is_null), start): (&(usize, bool), usize)| {
                    (!is_null).then_some(&bytes[start..end])
                };
                let texts: Vec<_> = ends.iter().zip(starts).map(text).collect();
                let packed = PackedTexts::new(&texts);
                (*bytes, *ends) = (Vec::new(), Vec::new());
                CachedColumn::Texts(packed)
            }
        }
    }
}
