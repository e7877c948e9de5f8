//! Aggregates over whole numbers, from stored cells and without values in between.
//!
//! The plan chooses one of two shapes:
//! - one table grouped by one integer column ([`IntGroups`]);
//! - COUNT and SUM over an inner hash join of two tables by one integer column ([`JoinTotals`]).
//!   The right side's rows are added up by their key first; each left row then counts as often as
//!   its key did.
//!
//! Example of the second: `SELECT COUNT(*), SUM(b.y) FROM a JOIN b ON b.x = a.x` with the rows
//! `b(x, y) = (1, 10), (1, 20), (2, 5)` and `a(x) = 1, 1, 3`: the table holds `1 → 2 rows, 30` and
//! `2 → 1 row, 5`; the rows of `a` add `(2, 30)` twice and nothing once: 4 rows, 60.
//!
//! If groups outgrow the operator's memory, or the values of a path's bounds make them inexact, no
//! row has been sent yet and general execution starts from the beginning.

use super::direct::{Total, integer};
use super::hash::KeyHash;
use super::{Project, Result, Runner};
use crate::access::{FoundRow, FoundRun, TableScan};
use crate::plan::{Factor, IntColumn, IntGroups, JoinTotals, RowSource, SelectPlan, TableSource};
use crate::row::Cell;
use crate::spill::Grant;
use inia_base::value::Value;
use inia_expr::{Aggregate, EvalContext};
use inia_parser::ast::AggregateFunc;
use inia_storage::ReadMode;
use std::collections::HashMap;

/// About how many bytes a hash table takes for each key besides its totals.
const KEY_SIZE: usize = 64;

impl IntColumn {
    /// The number that the cell holds, as its bits.
    #[inline]
    fn bits(self, found: &FoundRow<'_>, source: &TableSource) -> Result<Option<u64>> {
        Ok(match found.cell(&source.table, self.column)? {
            Cell::Int(value) => Some(value as u64),
            Cell::UInt(value) => Some(value),
            _ => None,
        })
    }

    fn value(self, bits: Option<u64>) -> Value {
        match bits {
            None => Value::Null,
            Some(bits) if self.unsigned => Value::UInt(bits),
            Some(bits) => Value::Int(bits as i64),
        }
    }
}

/// Keys by number: by their distance from the first while they lie close together, as ids do, then
/// by hash.
#[derive(Default)]
struct Positions {
    len: usize,
    /// How far keys may lie apart at first.
    spread: usize,
    /// The key that `close` begins with.
    base: u64,
    close: Vec<u32>,
    hashed: Option<HashMap<u64, u32, KeyHash>>,
}

/// No key at this distance.
const NONE: u32 = u32::MAX;
/// How far keys may lie apart for each one that is there or expected.
const SPREAD: usize = 8;
/// How far they may in any case, and how far for expectations alone.
const MIN_SPREAD: usize = 1 << 15;
const MAX_EXPECTED: usize = 1 << 21;

impl Positions {
    /// An empty map for about `keys` keys in `budget` bytes.
    fn expecting(keys: f64, budget: usize) -> Positions {
        let spread = (SPREAD as f64 * keys) as usize;
        let most = (budget / size_of::<u32>()).clamp(MIN_SPREAD, MAX_EXPECTED);
        Positions { spread: spread.clamp(MIN_SPREAD, most), ..Positions::default() }
    }

    #[inline]
    fn get(&self, key: u64) -> Option<usize> {
        if self.hashed.is_some() {
            return self.get_hashed(key);
        }
        let position = *self.close.get(key.wrapping_sub(self.base) as usize)?;
        (position != NONE).then_some(position as usize)
    }

    #[inline(never)]
    fn get_hashed(&self, key: u64) -> Option<usize> {
        Some(*self.hashed.as_ref()?.get(&key)? as usize)
    }

    /// Adds a key that is not there yet.
    fn insert(&mut self, key: u64, position: usize) {
        if self.len == 0 {
            self.base = key.wrapping_sub(self.spread as u64 / 2);
        }
        self.len += 1;
        let distance = key.wrapping_sub(self.base);
        if let Some(hashed) = &mut self.hashed {
            hashed.insert(key, position as u32);
        } else if distance < (self.spread + SPREAD * self.len) as u64 {
            let distance = distance as usize;
            if distance >= self.close.len() {
                self.close.resize(distance + 1, NONE);
            }
            self.close[distance] = position as u32;
        } else {
            let close = std::mem::take(&mut self.close).into_iter().enumerate();
            let keys = close.filter(|(_, position)| *position != NONE);
            let base = self.base;
            let keyed = keys.map(|(distance, at)| (base.wrapping_add(distance as u64), at));
            let mut hashed: HashMap<u64, u32, KeyHash> = keyed.collect();
            hashed.insert(key, position as u32);
            self.hashed = Some(hashed);
        }
    }
}

/// Groups by one integer column, in the order in which they began.
struct Groups<'p> {
    positions: Positions,
    null: Option<usize>,
    keys: Vec<Option<u64>>,
    /// The aggregates of each group, one group after the other.
    totals: Vec<Total<'p>>,
}

impl Groups<'_> {
    fn position(&self, key: Option<u64>) -> Option<usize> {
        match key {
            Some(key) => self.positions.get(key),
            None => self.null,
        }
    }

    fn begin(&mut self, key: Option<u64>) -> usize {
        let position = self.keys.len();
        self.keys.push(key);
        match key {
            Some(key) => self.positions.insert(key, position),
            None => self.null = Some(position),
        }
        position
    }

    fn used(&self) -> usize {
        self.keys.len() * KEY_SIZE + size_of_val(&self.totals[..])
    }
}

/// Rows or values, and their sum.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: i64,
    sum: i128,
}

impl Sum {
    #[inline]
    fn add_cell(&mut self, cell: &Cell<'_>, times: i64) {
        if matches!(cell, Cell::Null) {
            return;
        }
        self.count += times;
        self.sum += integer(cell).unwrap_or_default() * i128::from(times);
    }
}

/// The right side of a join, added up by key.
#[derive(Default)]
struct Summed {
    positions: Positions,
    /// The rows of each key.
    rows: Vec<i64>,
    /// The sums of each key, one for each factor of the right side.
    sums: Vec<Sum>,
}

impl Runner<'_> {
    /// Gives the groups of one table to `project`; false, with nothing given, where they must be
    /// made in another way.
    pub(super) fn int_groups(
        &self,
        (select, plan): (&SelectPlan, &IntGroups),
        calls: &[Aggregate],
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
        project: &mut Project<'_>,
    ) -> Result<bool> {
        let RowSource::Table(source) = &select.source else { return Ok(false) };
        let IntGroups { by, totals } = plan;
        let slot = source.base + by.column;
        let columns: Vec<usize> = totals.iter().filter_map(|total| total.column()).collect();
        let width = totals.len();
        let mut groups = Groups {
            positions: Positions::expecting(source.rows, self.exec.workspace.budget),
            null: None,
            keys: Vec::new(),
            totals: Vec::new(),
        };
        let mut memory = Grant::new(self.exec.workspace);
        let mut last: Option<(Option<u64>, usize)> = None;
        // A row with the key of the row before it needs no lookup. No row has gone to `project`
        // yet, so general execution can start over where groups outgrow memory.
        let done = self.each_keyed(source, &columns, *by, ctx, &mut |ctx, key, row| {
            let position = match last {
                Some((of, position)) if of == key => position,
                _ => match groups.position(key) {
                    Some(position) => position,
                    None if !memory.allows(groups.used()) => return Ok(false),
                    None => {
                        let start = totals.iter().zip(calls);
                        groups.totals.extend(start.map(|(total, call)| Total::start(*total, call)));
                        groups.begin(key)
                    }
                },
            };
            last = Some((key, position));
            for total in &mut groups.totals[position * width..(position + 1) * width] {
                match total {
                    Total::Rows(count) => *count += 1,
                    total => total.add(&row.found(), source, ctx)?,
                }
            }
            Ok(true)
        })?;
        if !done {
            return Ok(false);
        }
        // Groups come out in the order in which they began. The plan makes sure that nothing behind
        // them reads a slot other than the key's.
        let mut totals = groups.totals.into_iter();
        for key in groups.keys {
            ctx.aggregates.clear();
            for total in totals.by_ref().take(width) {
                let value = total.finish(ctx)?;
                ctx.aggregates.push(value);
            }
            row[slot] = by.value(key);
            if !project(ctx, row)? {
                break;
            }
        }
        Ok(true)
    }

    /// Gives the one group of a join to `project`; false, with nothing given, where it must be
    /// made in another way.
    pub(super) fn join_totals(
        &self,
        (select, plan): (&SelectPlan, &JoinTotals),
        calls: &[Aggregate],
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
        project: &mut Project<'_>,
    ) -> Result<bool> {
        let RowSource::Join(join) = &select.source else { return Ok(false) };
        let (RowSource::Table(left), RowSource::Table(right)) = (&join.left, &join.right) else {
            return Ok(false);
        };
        let factors = &plan.factors;
        // The right side is read first, so that a left row needs one lookup for all rows it joins.
        let Some(summed) = self.summed(right, plan.right_key, factors, ctx)? else {
            return Ok(false);
        };
        let wide = summed.sums.len() / summed.rows.len().max(1);
        let mut sums = vec![Sum::default(); factors.len()];
        let read = factors.iter().filter_map(|factor| match factor {
            Factor::Left(column) => Some(*column),
            _ => None,
        });
        let read: Vec<usize> = read.collect();
        let done = self.each_keyed(left, &read, plan.left_key, ctx, &mut |_, key, row| {
            let Some(key) = key else { return Ok(true) };
            let Some(at) = summed.positions.get(key) else { return Ok(true) };
            // A left value counts once for each right row of its key; a right sum holds all those
            // rows.
            let times = summed.rows[at];
            for (sum, factor) in sums.iter_mut().zip(factors) {
                match factor {
                    Factor::Rows => sum.count += times,
                    Factor::Left(column) => {
                        sum.add_cell(&row.found().cell(&left.table, *column)?, times);
                    }
                    Factor::Right(_, place) => {
                        let of_key = summed.sums[at * wide + place];
                        sum.count += of_key.count;
                        sum.sum += of_key.sum;
                    }
                }
            }
            Ok(true)
        })?;
        if !done {
            return Ok(false);
        }
        // Without GROUP BY there is one group, even if no rows join.
        ctx.aggregates.clear();
        for (Sum { count, sum }, call) in sums.into_iter().zip(calls) {
            let total = match call.func {
                AggregateFunc::Sum => Total::Sum { column: 0, sum, any: count > 0, call },
                _ => Total::Rows(count),
            };
            let value = total.finish(ctx)?;
            ctx.aggregates.push(value);
        }
        project(ctx, row)?;
        Ok(true)
    }

    /// A join's right side by key; `None` where it outgrows memory or its bounds are not exact.
    fn summed(
        &self,
        source: &TableSource,
        key: IntColumn,
        factors: &[Factor],
        ctx: &mut EvalContext<'_>,
    ) -> Result<Option<Summed>> {
        let columns: Vec<usize> = factors
            .iter()
            .filter_map(|factor| match factor {
                Factor::Right(column, _) => Some(*column),
                _ => None,
            })
            .collect();
        let of_key = KEY_SIZE + columns.len() * size_of::<Sum>();
        let mut memory = Grant::new(self.exec.workspace);
        let positions = Positions::expecting(source.rows, self.exec.workspace.budget);
        let mut summed = Summed { positions, ..Summed::default() };
        let done = self.each_keyed(source, &columns, key, ctx, &mut |_, bits, row| {
            let Some(bits) = bits else { return Ok(true) };
            let at = match summed.positions.get(bits) {
                Some(at) => at,
                None if !memory.allows(summed.rows.len() * of_key) => return Ok(false),
                None => {
                    summed.positions.insert(bits, summed.rows.len());
                    summed.rows.push(0);
                    summed.sums.resize(summed.sums.len() + columns.len(), Sum::default());
                    summed.rows.len() - 1
                }
            };
            summed.rows[at] += 1;
            let sums = &mut summed.sums[at * columns.len()..];
            for (sum, &column) in sums.iter_mut().zip(&columns) {
                sum.add_cell(&row.found().cell(&source.table, column)?, 1);
            }
            Ok(true)
        })?;
        Ok(done.then_some(summed))
    }

    /// Gives every row of a plain source to `add`, with the number in its column `by`, until `add`
    /// returns false. It may read `columns` and `by` only. False where `add` returned false, or
    /// where the path's bounds are not exact.
    fn each_keyed(
        &self,
        source: &TableSource,
        columns: &[usize],
        by: IntColumn,
        ctx: &mut EvalContext<'_>,
        add: &mut impl FnMut(&mut EvalContext<'_>, Option<u64>, &mut Row<'_, '_>) -> Result<bool>,
    ) -> Result<bool> {
        let mut scan =
            TableScan::open(&source.table, &source.access, ReadMode::Snapshot, ctx, &[])?;
        // No condition is evaluated for a row here, so the bounds must stand for all of them.
        if !scan.is_exact() && !source.bound_filter.is_empty() {
            return Ok(false);
        }
        scan.narrow_to(columns.iter().chain([&by.column]).copied());
        let mut txn = self.txn_of(&source.table).borrow_mut();
        // Rows at hand come in runs, whose keys are read together. Where no run can be given the
        // scan moves by one row.
        let mut keys = Vec::new();
        loop {
            while let Some(mut run) = scan.run(&mut txn)? {
                self.check_killed()?;
                keys.clear();
                let all = 0..run.len();
                if !run.numbers(&source.table, by.column, all, |key| keys.push(key))? {
                    for i in 0..run.len() {
                        let found = FoundRow { clustered_key: &[], data: run.data(i) };
                        keys.push(by.bits(&found, source)?);
                    }
                }
                for (i, &key) in keys.iter().enumerate() {
                    if !add(ctx, key, &mut Row::OfRun(&mut run, i))? {
                        return Ok(false);
                    }
                }
            }
            let Some(found) = scan.next(&mut txn)? else { return Ok(true) };
            self.check_killed()?;
            let key = by.bits(&found, source)?;
            if !add(ctx, key, &mut Row::Single(&found))? {
                return Ok(false);
            }
        }
    }
}

/// A row of which no cell has been read yet.
enum Row<'r, 's> {
    OfRun(&'r mut FoundRun<'s>, usize),
    Single(&'r FoundRow<'r>),
}

impl Row<'_, '_> {
    #[inline]
    fn found(&mut self) -> FoundRow<'_> {
        match self {
            Row::OfRun(run, i) => FoundRow { clustered_key: &[], data: run.data(*i) },
            Row::Single(found) => **found,
        }
    }
}

#[cfg(test)]
mod tests;
