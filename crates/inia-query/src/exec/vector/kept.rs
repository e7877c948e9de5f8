//! A scan's leaves whose columns are kept in memory ([`crate::columns`]): which the scan need not
//! read, and their rows as columns.

use super::column::{ColumnBuilder, value_of};
use super::conditions::Truth;
use super::keeper::Keeper;
use super::numbers::{Numbers, Values};
use crate::access::{FoundRun, TableScan};
use crate::catalog::Table;
use crate::columns::{CachedColumn, MAX_COLUMNS, Place, Segment};
use crate::context::ColumnUse;
use crate::exec::Result;
use crate::plan::TableSource;
use crate::plan::vector::{NumberKind, VectorForm};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::ids::PageId;
use inia_base::value::Value;
use inia_storage::{KnownLeaf, KnownLeaves};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The leaves of one scan that are known, of which some wait until they are a batch.
pub(super) struct KeptLeaves<'e> {
    used: ColumnUse<'e>,
    table: &'e Arc<Table>,
    /// The columns that the scan reads.
    columns: Vec<usize>,
    /// Where the page that was asked for last is kept.
    found: Option<Place>,
    waiting: KeptRows,
    /// What keeps leaves that are read, where they are to be kept.
    keeper: Option<Keeper<'e>>,
    hits: u64,
    read: u64,
}

impl<'e> KeptLeaves<'e> {
    /// `None` where a column is neither of numbers nor of texts, or the scan must see its rows.
    pub(super) fn of(
        used: Option<ColumnUse<'e>>,
        source: &'e TableSource,
        scan: &TableScan,
        columns: &[usize],
    ) -> Option<KeptLeaves<'e>> {
        let (used, table) = (used.filter(|_| scan.shows_leaves())?, &source.table);
        let fits = |column: &usize| {
            let form = VectorForm::of(table.layout.data_type(*column));
            form != VectorForm::Values && *column < MAX_COLUMNS
        };
        if columns.is_empty() || !columns.iter().all(fits) {
            return None;
        }
        used.cache.begin_scan(&table.columns);
        // A report has read about all of them before.
        let rows = table.shared.row_estimate.load(Ordering::Relaxed).max(0) / 2;
        let keeps = used.is_eager || table.columns.has_read(rows as u64);
        Some(KeptLeaves {
            used,
            table,
            columns: columns.to_vec(),
            found: None,
            waiting: KeptRows::default(),
            keeper: keeps.then(|| Keeper::new(used.cache, table, columns)),
            hits: 0,
            read: 0,
        })
    }

    /// Lets the first of the leaves that were named last wait, unless `is_empty` says that none of
    /// their rows is wanted; returns how many rows they have.
    pub(super) fn wait(&mut self, leaves: usize, is_empty: impl FnOnce(&Segment) -> bool) -> u64 {
        let Some((segment, at)) = self.found.take() else { return 0 };
        let leaves = at..at + leaves;
        self.hits += leaves.len() as u64;
        if let Some(keeper) = &mut self.keeper {
            keeper.pass(&segment, leaves.clone());
        }
        let rows = segment.rows_of(leaves);
        let count = rows.len() as u64;
        if !is_empty(&segment) {
            self.waiting.push(segment, rows);
        }
        count
    }

    /// How many rows wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.rows()
    }

    /// The rows that wait; none do afterwards.
    pub(super) fn take(&mut self) -> KeptRows {
        std::mem::take(&mut self.waiting)
    }

    /// Keeps the columns of a leaf's rows, if all of them can be packed.
    pub(super) fn keep(&mut self, run: &FoundRun<'_>, leaf: KnownLeaf) -> Result<()> {
        self.read += run.len() as u64;
        match &mut self.keeper {
            Some(keeper) => keeper.read(run, leaf),
            None => Ok(()),
        }
    }
}

impl KnownLeaves for KeptLeaves<'_> {
    fn leaves_from(&mut self, page: PageId) -> &[KnownLeaf] {
        let place = self.table.columns.place(page);
        self.found = place.filter(|(segment, _)| segment.has(&self.columns));
        self.found.as_ref().map_or(&[], |(segment, at)| &segment.leaves()[*at..])
    }
}

impl Drop for KeptLeaves<'_> {
    fn drop(&mut self) {
        if let Some(keeper) = &mut self.keeper {
            keeper.finish();
        }
        self.used.cache.note_hits(self.hits);
        if self.read > 0 {
            self.table.columns.note_read(self.read);
        }
    }
}

/// Rows of segments, one behind the other.
#[derive(Default)]
pub(super) struct KeptRows {
    parts: Vec<(Arc<Segment>, Range<usize>)>,
    /// How many rows there are up to the end of each part.
    ends: Vec<usize>,
}

/// A column of some rows of one segment.
pub(super) struct KeptPart<'k> {
    /// The number of the first of them.
    pub(super) start: usize,
    pub(super) column: &'k CachedColumn,
    /// Which of the segment's rows they are.
    pub(super) rows: Range<usize>,
}

impl KeptRows {
    fn push(&mut self, segment: Arc<Segment>, rows: Range<usize>) {
        self.ends.push(self.rows() + rows.len());
        self.parts.push((segment, rows));
    }

    pub(super) fn rows(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// A column, in parts.
    pub(super) fn parts(&self, column: usize) -> impl Iterator<Item = KeptPart<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        self.parts.iter().zip(starts).filter_map(move |((segment, rows), start)| {
            debug_assert!(segment.column(column).is_some(), "a scan knows leaves by its columns");
            let column = segment.column(column)?;
            Some(KeptPart { start, column, rows: rows.clone() })
        })
    }

    /// A column as numbers; `None` where it has texts.
    pub(super) fn numbers(&self, column: usize) -> Option<Numbers> {
        let (mut values, mut nulls) = (Vec::with_capacity(self.rows()), Vec::new());
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for KeptPart { start, column, rows } in self.parts(column) {
            let CachedColumn::Numbers(packed) = column else { return None };
            packed.append_to(rows.clone(), &mut values);
            if packed.has_nulls() || !nulls.is_empty() {
                nulls.resize(start, false);
                nulls.extend_from_slice(packed.nulls_of(rows));
                nulls.resize(values.len(), false);
            }
            let bounds = packed.bounds();
            (low, high) = (low.min(bounds.0), high.max(bounds.1));
        }
        let (low, high) = (low.into(), high.into());
        Some(Numbers { values: Values::Small(values), nulls, low, high })
    }

    /// Adds what `test` says of each text that is wanted to `truth`, [`Truth::Null`] of others;
    /// false where the column has numbers.
    pub(super) fn test_texts(
        &self,
        column: usize,
        wanted: &[bool],
        test: &mut dyn FnMut(&[u8]) -> Truth,
        truth: &mut Vec<Truth>,
    ) -> bool {
        for KeptPart { start, column, rows } in self.parts(column) {
            let CachedColumn::Texts(texts) = column else { return false };
            let mut known = vec![None; texts.codes().map_or(0, |_| texts.entries().count())];
            truth.extend(rows.zip(&wanted[start..]).map(|(row, wanted)| {
                let Some(text) = texts.get(row).filter(|_| *wanted) else {
                    return Truth::Null;
                };
                match texts.codes() {
                    None => test(text),
                    Some(codes) => {
                        *known[usize::from(codes[row])].get_or_insert_with(|| test(text))
                    }
                }
            }));
        }
        true
    }

    /// Adds the rows at these ascending places of a column; `None` for all rows.
    pub(super) fn add_to(
        &self,
        column: usize,
        places: Option<&[u32]>,
        builder: &mut ColumnBuilder,
    ) {
        let mut rest = places;
        for KeptPart { start, column, rows } in self.parts(column) {
            let Some(places) = rest else {
                if !builder.push_all(column, rows.clone()) {
                    builder.push_packed(column, rows);
                }
                continue;
            };
            let end = start + rows.len();
            let (here, behind) = places.split_at(places.partition_point(|at| (*at as usize) < end));
            builder.push_packed(column, here.iter().map(|at| rows.start + *at as usize - start));
            rest = Some(behind);
        }
    }

    /// The value of one row.
    pub(super) fn value(&self, row: usize, column: usize, source: &TableSource) -> Result<Value> {
        let at = self.ends.partition_point(|end| *end <= row);
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let kind = NumberKind::of(source.table.layout.data_type(column));
        let Some((segment, rows)) = self.parts.get(at) else { return Err(not_kept("no row")) };
        let row = rows.start + row - start;
        Ok(match (segment.column(column), kind) {
            (Some(CachedColumn::Numbers(numbers)), Some(_)) if numbers.is_null(row) => Value::Null,
            (Some(CachedColumn::Numbers(numbers)), Some(kind)) => {
                value_of(numbers.get(row).into(), kind)
            }
            (Some(CachedColumn::Texts(texts)), _) => match texts.get(row) {
                None => Value::Null,
                Some(text) => Value::Text(std::str::from_utf8(text).map_err(not_kept)?.to_owned()),
            },
            _ => return Err(not_kept("no column")),
        })
    }
}

pub(super) fn not_kept(what: impl std::fmt::Display) -> SqlError {
    SqlError::new(ErrorCode::InternalError, &[&format!("a kept column cannot be read: {what}")])
}
