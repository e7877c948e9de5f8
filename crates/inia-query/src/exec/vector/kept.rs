//! A scan's leaves whose columns are kept in memory ([`crate::columns`]): which the scan need not
//! read, their rows as columns, and how those of other leaves come to be kept.

use super::column::{ColumnBuilder, NullableVec, value_of};
use super::conditions::Truth;
use super::numbers::{Numbers, Values};
use crate::access::{FoundRun, TableScan};
use crate::catalog::Table;
use crate::columns::{
    CachedColumn, LeafColumns, MAX_COLUMNS, NearLeaves, PackedNumbers, PackedTexts,
};
use crate::context::ColumnUse;
use crate::exec::Result;
use crate::plan::TableSource;
use crate::plan::vector::{NumberKind, VectorForm};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_storage::LeafState;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The leaves of one scan that are known, of which some wait until they are a batch.
pub(super) struct KeptLeaves<'e> {
    used: ColumnUse<'e>,
    table: &'e Arc<Table>,
    /// The columns that the scan reads.
    columns: Vec<usize>,
    near: NearLeaves,
    /// What is kept of the leaf that was asked for last.
    found: Option<Arc<LeafColumns>>,
    waiting: KeptRows,
    /// Whether columns of leaves that are read are to be kept.
    keeps: bool,
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
        Some(KeptLeaves {
            used,
            table,
            columns: columns.to_vec(),
            near: NearLeaves::default(),
            found: None,
            waiting: KeptRows::default(),
            keeps: used.is_eager || table.columns.has_read(rows as u64),
            hits: 0,
            read: 0,
        })
    }

    /// Whether the rows of a leaf in this state need not be read.
    pub(super) fn knows(&mut self, state: LeafState) -> bool {
        self.found = self.table.columns.find(&mut self.near, state, &self.columns);
        self.found.is_some()
    }

    /// Lets the leaf that is known wait, unless `is_empty` says that none of its rows is wanted;
    /// returns how many rows it has.
    pub(super) fn wait(&mut self, is_empty: impl FnOnce(&LeafColumns) -> bool) -> u64 {
        let Some(leaf) = self.found.take() else { return 0 };
        let rows = leaf.rows() as u64;
        self.hits += 1;
        if !is_empty(&leaf) {
            self.waiting.push(leaf);
        }
        rows
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
    pub(super) fn keep(&mut self, run: &FoundRun<'_>, state: LeafState) -> Result<()> {
        self.read += run.len() as u64;
        if !self.keeps {
            return Ok(());
        }
        let mut packed = Vec::with_capacity(self.columns.len());
        for &column in &self.columns {
            match pack(run, self.table, column)? {
                Some(kept) => packed.push((column, kept)),
                None => return Ok(()),
            }
        }
        // Where there is no room for this leaf, there is none for the next ones.
        self.keeps = self.used.cache.keep(&self.table.columns, state, packed);
        Ok(())
    }
}

impl Drop for KeptLeaves<'_> {
    fn drop(&mut self) {
        self.used.cache.note_hits(self.hits);
        if self.read > 0 {
            self.table.columns.note_read(self.read);
        }
    }
}

/// Packs a column of a leaf's rows; `None` where it has numbers of more than 64 bits.
fn pack(run: &FoundRun<'_>, table: &Table, column: usize) -> Result<Option<CachedColumn>> {
    let rows = 0..run.len();
    let mut fits = true;
    let mut numbers = NullableVec::default();
    let given = match VectorForm::of(table.layout.data_type(column)) {
        VectorForm::Numbers(NumberKind::Decimal(_)) => {
            run.decimals(table, column, rows, |value| {
                let small = value.map(i64::try_from);
                fits &= !matches!(small, Some(Err(_)));
                numbers.push(small.map(|small| small.unwrap_or_default()));
            })?
        }
        VectorForm::Numbers(kind) => run.numbers(table, column, rows, |bits| {
            let is_unsigned = kind == NumberKind::Int { unsigned: true };
            fits &= !(is_unsigned && bits.is_some_and(|bits| bits >> 63 == 1));
            numbers.push(bits.map(|bits| bits as i64));
        })?,
        VectorForm::Texts => {
            let mut texts = Vec::with_capacity(run.len());
            let given = run.bytes(table, column, rows, |text| texts.push(text))?;
            return Ok(given.then(|| CachedColumn::Texts(PackedTexts::new(&texts))));
        }
        VectorForm::Values => false,
    };
    let packed = || CachedColumn::Numbers(PackedNumbers::new(&numbers.values, &numbers.nulls));
    Ok((given && fits).then(packed))
}

/// Rows of leaves whose columns are kept, one leaf behind the other.
#[derive(Default)]
pub(super) struct KeptRows {
    leaves: Vec<Arc<LeafColumns>>,
    /// How many rows there are up to the end of each leaf.
    ends: Vec<usize>,
}

impl KeptRows {
    fn push(&mut self, leaf: Arc<LeafColumns>) {
        self.ends.push(self.rows() + leaf.rows());
        self.leaves.push(leaf);
    }

    pub(super) fn rows(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// A column of each leaf, with the number of its first row.
    pub(super) fn columns(&self, column: usize) -> impl Iterator<Item = (usize, &CachedColumn)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        self.leaves.iter().zip(starts).filter_map(move |(leaf, start)| {
            debug_assert!(leaf.column(column).is_some(), "a scan knows leaves by its columns");
            leaf.column(column).map(|kept| (start, kept))
        })
    }

    /// A column as numbers; `None` where it has texts.
    pub(super) fn numbers(&self, column: usize) -> Option<Numbers> {
        let (mut values, mut nulls) = (Vec::with_capacity(self.rows()), Vec::new());
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for (_, kept) in self.columns(column) {
            let CachedColumn::Numbers(packed) = kept else { return None };
            let start = values.len();
            packed.append_to(&mut values);
            if !packed.nulls().is_empty() || !nulls.is_empty() {
                nulls.resize(start, false);
                nulls.extend_from_slice(packed.nulls());
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
        for ((start, kept), leaf) in self.columns(column).zip(&self.leaves) {
            let CachedColumn::Texts(texts) = kept else { return false };
            let mut known = vec![None; texts.codes().map_or(0, |_| texts.entries().count())];
            truth.extend((0..leaf.rows()).map(|row| {
                let Some(text) = texts.get(row).filter(|_| wanted[start + row]) else {
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

    /// Adds the chosen rows of a column; `None` for all rows.
    pub(super) fn add_to(
        &self,
        column: usize,
        chosen: Option<&[bool]>,
        builder: &mut ColumnBuilder,
    ) {
        for ((start, kept), leaf) in self.columns(column).zip(&self.leaves) {
            let chosen = chosen.map(|chosen| &chosen[start..start + leaf.rows()]);
            match chosen.filter(|chosen| !chosen.iter().all(|chosen| *chosen)) {
                None if builder.push_all(kept) => {}
                None => builder.push_packed(kept, 0..leaf.rows()),
                Some(chosen) => {
                    builder.push_packed(kept, (0..leaf.rows()).filter(|row| chosen[*row]));
                }
            }
        }
    }

    /// The value of one row.
    pub(super) fn value(&self, row: usize, column: usize, source: &TableSource) -> Result<Value> {
        let at = self.ends.partition_point(|end| *end <= row);
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let kept = self.leaves.get(at).and_then(|leaf| leaf.column(column));
        let kind = NumberKind::of(source.table.layout.data_type(column));
        Ok(match (kept, kind) {
            (Some(CachedColumn::Numbers(numbers)), Some(kind)) => {
                let at = row - start;
                if numbers.is_null(at) {
                    Value::Null
                } else {
                    value_of(numbers.get(at).into(), kind)
                }
            }
            (Some(CachedColumn::Texts(texts)), _) => match texts.get(row - start) {
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
