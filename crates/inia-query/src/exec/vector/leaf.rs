//! The rows of one leaf, or of one batch of look-ups, as conditions see them: columns are read
//! when they are asked for. Rows of several leaves whose columns are kept are seen the same way.

use super::batch::{BatchBuilder, Rows};
use super::column::{ColumnBuilder, NullableVec};
use super::conditions::Truth;
use super::kept::{KeptRows, not_kept};
use super::numbers::Numbers;
use super::packed::SlotComparison;
use super::sideways::KeyFilter;
use crate::access::{FoundRow, FoundRun};
use crate::exec::Result;
use crate::exec::select::holds;
use crate::plan::TableSource;
use crate::plan::vector::{NumberKind, NumberOp, Program, VectorForm};
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr};
use std::sync::Arc;

/// Where rows are read.
pub(super) enum LeafSource<'r, 's> {
    Run(&'r mut FoundRun<'s>),
    Kept(&'r KeptRows),
}

impl LeafSource<'_, '_> {
    fn rows(&self) -> usize {
        match self {
            LeafSource::Run(run) => run.len(),
            LeafSource::Kept(kept) => kept.rows(),
        }
    }

    fn is_kept(&self) -> bool {
        matches!(self, LeafSource::Kept(_))
    }

    /// The value of a column of one row.
    fn value(
        &mut self,
        (row, column): (usize, usize),
        source: &TableSource,
        zone: &TimeZone,
    ) -> Result<Value> {
        match self {
            LeafSource::Run(run) => Ok(found(run, row).value(&source.table, column, zone)?),
            LeafSource::Kept(kept) => kept.value(row, column, source),
        }
    }

    /// A column of all rows as numbers; `None` where it cannot be read so.
    fn numbers(
        &self,
        source: &TableSource,
        column: usize,
        kind: NumberKind,
    ) -> Result<Option<Numbers>> {
        if NumberKind::of(source.table.layout.data_type(column)) != Some(kind) {
            return Ok(None);
        }
        match self {
            LeafSource::Run(run) => numbers(run, source, column, kind),
            LeafSource::Kept(kept) => Ok(kept.numbers(column)),
        }
    }
}

/// Rows of a table at hand.
pub(super) struct LeafRows<'r, 's> {
    pub(super) from: LeafSource<'r, 's>,
    source: &'r TableSource,
    zone: &'r TimeZone,
    /// The columns that conditions read as numbers.
    loaded: Vec<(usize, NumberKind, Arc<Numbers>)>,
}

impl<'r, 's> LeafRows<'r, 's> {
    /// Rows with the columns that a program reads; those in `packed` only where rows are not
    /// kept.
    pub(super) fn load(
        from: LeafSource<'r, 's>,
        source: &'r TableSource,
        zone: &'r TimeZone,
        (program, packed): (&Program, &[usize]),
    ) -> Result<LeafRows<'r, 's>> {
        let mut loaded = Vec::new();
        for step in &program.steps {
            if let NumberOp::Slot(slot) = step.op
                && !(from.is_kept() && packed.contains(&slot))
                && let Some(column) = slot.checked_sub(source.base)
                && let Some(numbers) = from.numbers(source, column, step.kind)?
            {
                loaded.push((slot, step.kind, Arc::new(numbers)));
            }
        }
        Ok(LeafRows { from, source, zone, loaded })
    }

    /// Adds the chosen rows to a batch; `None` for all rows.
    pub(super) fn add_to(
        &mut self,
        batch: &mut BatchBuilder,
        chosen: Option<&[bool]>,
    ) -> Result<()> {
        let rows = self.rows();
        let places = chosen.map(places_of);
        let picked = places.as_ref().map_or(rows, Vec::len);
        let places = places.as_deref().filter(|places| places.len() < rows);
        for (slot, builder) in &mut batch.columns {
            let column = slot.slot - self.source.base;
            let known = self.loaded.iter().find(|(loaded, ..)| *loaded == slot.slot);
            match (known, slot.form, &self.from) {
                (Some((.., numbers)), VectorForm::Numbers(_), _) => {
                    builder.push_chosen(numbers, places);
                }
                (None, VectorForm::Numbers(_) | VectorForm::Texts, LeafSource::Kept(kept)) => {
                    kept.add_to(column, places, builder);
                }
                (None, VectorForm::Numbers(kind), LeafSource::Run(run))
                    if read_numbers(run, self.source, (column, kind), chosen, builder)? => {}
                (None, VectorForm::Texts, LeafSource::Run(run))
                    if read_texts(run, self.source, column, chosen, builder)? => {}
                _ => {
                    for row in 0..rows {
                        if chosen.is_none_or(|chosen| chosen[row]) {
                            let place = (row, column);
                            builder.push(&self.from.value(place, self.source, self.zone)?)?;
                        }
                    }
                }
            }
        }
        batch.added(picked);
        Ok(())
    }

    /// Leaves the chosen rows for which conditions that read these slots are true.
    pub(super) fn keep(
        &mut self,
        conditions: &[Expr],
        slots: &[usize],
        chosen: &mut Option<Vec<bool>>,
        ctx: &mut EvalContext<'_>,
        values: &mut [Value],
    ) -> Result<()> {
        let rows = self.rows();
        for (row, chosen) in chosen.get_or_insert_with(|| vec![true; rows]).iter_mut().enumerate() {
            if *chosen {
                self.fill(row, slots, values)?;
                *chosen = holds(conditions, ctx, values)?;
            }
        }
        Ok(())
    }

    /// Leaves the chosen rows whose keys are among those of a join.
    pub(super) fn keep_keys(
        &mut self,
        filter: &KeyFilter<'_>,
        chosen: &mut Option<Vec<bool>>,
    ) -> Result<()> {
        if self.numbers(filter.slot, filter.kind).is_none() {
            let column = filter.slot - self.source.base;
            let Some(read) = self.from.numbers(self.source, column, filter.kind)? else {
                return Ok(());
            };
            self.loaded.push((filter.slot, filter.kind, Arc::new(read)));
        }
        let rows = self.rows();
        if let Some(numbers) = self.numbers(filter.slot, filter.kind) {
            filter.keep(numbers, chosen.get_or_insert_with(|| vec![true; rows]));
        }
        Ok(())
    }
}

/// Flags that are looked at together: where few rows are chosen, most stretches have none.
const STRETCH: usize = 32;

/// The numbers of the rows that are chosen.
fn places_of(chosen: &[bool]) -> Vec<u32> {
    let mut places = Vec::new();
    for (start, flags) in (0..).step_by(STRETCH).zip(chosen.chunks(STRETCH)) {
        if !flags.iter().fold(false, |any, flag| any | flag) {
            continue;
        }
        // No choice for each row: its number is written, and stands if the row is chosen.
        let (mut found, mut count) = ([0; STRETCH], 0);
        for (row, flag) in (start..).zip(flags) {
            found[count % STRETCH] = row;
            count += usize::from(*flag);
        }
        places.extend_from_slice(&found[..count]);
    }
    places
}

fn found<'a>(run: &'a mut FoundRun<'_>, row: usize) -> FoundRow<'a> {
    FoundRow { clustered_key: &[], data: run.data(row) }
}

/// A column of all rows as numbers; `None` where it cannot be read so.
fn numbers(
    run: &FoundRun<'_>,
    source: &TableSource,
    column: usize,
    kind: NumberKind,
) -> Result<Option<Numbers>> {
    let (rows, table) = (0..run.len(), &source.table);
    if let NumberKind::Decimal(_) = kind {
        let mut all = NullableVec::default();
        let given = run.decimals(table, column, rows, |value| all.push(value))?;
        return Ok(given.then(|| Numbers::wide(all.values, all.nulls)));
    }
    let large = |bits: u64| matches!(kind, NumberKind::Int { unsigned: true }) && bits >> 63 == 1;
    let (mut all, mut any_large) = (NullableVec::default(), false);
    let given = run.numbers(table, column, rows.clone(), |bits| {
        any_large |= bits.is_some_and(large);
        all.push(bits.map(|bits| bits as i64));
    })?;
    if !given || !any_large {
        return Ok(given.then(|| Numbers::small(all.values, all.nulls)));
    }
    let mut all = NullableVec::default();
    let given = run.numbers(table, column, rows, |bits| all.push(bits.map(i128::from)))?;
    Ok(given.then(|| Numbers::wide(all.values, all.nulls)))
}

/// Adds the numbers of chosen rows; false, with nothing added, where they cannot be read.
fn read_numbers(
    run: &FoundRun<'_>,
    source: &TableSource,
    (column, kind): (usize, NumberKind),
    chosen: Option<&[bool]>,
    builder: &mut ColumnBuilder,
) -> Result<bool> {
    let (rows, table) = (0..run.len(), &source.table);
    let mut flags = chosen.map(<[bool]>::iter);
    let mut is_chosen = move || match &mut flags {
        Some(flags) => flags.next().copied().unwrap_or_default(),
        None => true,
    };
    match kind {
        NumberKind::Decimal(_) => run.decimals(table, column, rows, |value| {
            if is_chosen() {
                builder.push_wide(value);
            }
        }),
        NumberKind::Int { unsigned: true } => run.numbers(table, column, rows, |bits| {
            if is_chosen() {
                builder.push_wide(bits.map(i128::from));
            }
        }),
        NumberKind::Int { unsigned: false } | NumberKind::Date | NumberKind::Moment => {
            run.numbers(table, column, rows, |bits| {
                if is_chosen() {
                    builder.push_small(bits.map(|bits| bits as i64));
                }
            })
        }
    }
}

/// As [`read_numbers`], for texts.
fn read_texts(
    run: &FoundRun<'_>,
    source: &TableSource,
    column: usize,
    chosen: Option<&[bool]>,
    builder: &mut ColumnBuilder,
) -> Result<bool> {
    let mut flags = chosen.map(<[bool]>::iter);
    run.bytes(&source.table, column, 0..run.len(), |text| {
        let is_chosen = match &mut flags {
            Some(flags) => flags.next().copied().unwrap_or_default(),
            None => true,
        };
        if is_chosen {
            builder.push_text(text);
        }
    })
}

impl Rows for LeafRows<'_, '_> {
    fn rows(&self) -> usize {
        self.from.rows()
    }

    fn numbers(&self, slot: usize, kind: NumberKind) -> Option<&Arc<Numbers>> {
        let known = self.loaded.iter().find(|(loaded, of, _)| *loaded == slot && *of == kind);
        known.map(|(.., numbers)| numbers)
    }

    fn is_packed(&self) -> bool {
        self.from.is_kept()
    }

    fn compare(&self, comparison: SlotComparison) -> Result<Option<Vec<Truth>>> {
        let LeafSource::Kept(kept) = &self.from else { return Ok(None) };
        let Some(column) = comparison.slot.checked_sub(self.source.base) else { return Ok(None) };
        let truth = kept.compare(column, comparison);
        truth.map(Some).ok_or_else(|| not_kept("no numbers"))
    }

    fn test_texts(
        &self,
        slot: usize,
        wanted: &[bool],
        test: &mut dyn FnMut(&[u8]) -> Truth,
    ) -> Result<Option<Vec<Truth>>> {
        let Some(column) = slot.checked_sub(self.source.base) else { return Ok(None) };
        let mut truth = Vec::with_capacity(self.rows());
        let given = match &self.from {
            LeafSource::Run(run) => {
                run.bytes(&self.source.table, column, 0..run.len(), |text| {
                    truth.push(match text {
                        Some(text) if wanted[truth.len()] => test(text),
                        _ => Truth::Null,
                    });
                })?
            }
            LeafSource::Kept(kept) => kept.test_texts(column, wanted, test, &mut truth),
        };
        Ok(given.then_some(truth))
    }

    fn fill(&mut self, row: usize, slots: &[usize], values: &mut [Value]) -> Result<()> {
        let (source, zone) = (self.source, self.zone);
        let base = source.base;
        match &mut self.from {
            LeafSource::Run(run) => {
                let found = found(run, row);
                let columns = &mut values[base..base + source.needed.len()];
                for &slot in slots {
                    found.fill(&source.table, &[slot - base], zone, columns)?;
                }
            }
            LeafSource::Kept(kept) => {
                for &slot in slots {
                    values[slot] = kept.value(row, slot - base, source)?;
                }
            }
        }
        Ok(())
    }
}
