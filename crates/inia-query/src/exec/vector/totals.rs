//! What aggregates have added up for each group.

use super::batch::{Batch, Rows};
use super::column::{number_of, value_of};
use super::distinct::DistinctValues;
use super::numbers::{Numbers, Values};
use super::program::Execution;
use crate::exec::Result;
use crate::plan::vector::{GroupCheck, NumberKind, VectorTotal};
use crate::spill::Workspace;
use inia_base::decimal::Decimal;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::CmpOp;
use inia_expr::EvalContext;
use inia_expr::aggregate::{Accumulator, Aggregate};
use std::collections::HashMap;

/// One aggregate's numbers of one group.
#[derive(Clone, Copy, Default)]
struct Total {
    /// Rows, or numbers that are not NULL.
    count: i64,
    /// Their sum, or the least or greatest of them.
    number: i128,
}

/// Sums of a group that have outgrown 128 bits together, by the numbers of their aggregate and
/// their group. The total goes on from the last one.
type Carried = HashMap<(usize, usize), Vec<i128>>;

/// Conditions on the numbers of aggregates, with their constants: the aggregate, the operator, a
/// number and its digits after the point.
pub(super) struct GroupChecks(Vec<(usize, CmpOp, i128, u8)>);

impl GroupChecks {
    /// The conditions whose constants are numbers; the others are checked where all values are.
    pub(super) fn new(checks: &[GroupCheck], ctx: &mut EvalContext<'_>) -> GroupChecks {
        let all = checks.iter().filter_map(|check| {
            let kind = NumberKind::of(&check.constant.ty.data_type)?;
            let value = check.constant.eval(ctx, &[]).ok()?;
            let number = number_of(&value, kind).filter(|_| !kind.is_dated())?;
            Some((check.total, check.op, number, kind.scale()))
        });
        GroupChecks(all.collect())
    }
}

/// The totals of all groups.
pub(super) struct Totals<'p, 'w> {
    plan: &'p [VectorTotal],
    calls: &'p [Aggregate],
    /// One group after the other for each aggregate of numbers.
    totals: Vec<Vec<Total>>,
    /// The same for each aggregate that takes rows one by one.
    states: Vec<Vec<Option<Accumulator>>>,
    carried: Carried,
    /// The values of each aggregate that has DISTINCT.
    distinct: Vec<Option<DistinctValues<'p, 'w>>>,
}

impl<'p, 'w> Totals<'p, 'w> {
    /// No groups yet. The program says what numbers are added up.
    pub(super) fn new(
        plan: &'p [VectorTotal],
        calls: &'p [Aggregate],
        program: &Execution<'_>,
        workspace: Workspace<'w>,
    ) -> Totals<'p, 'w> {
        debug_assert_eq!(plan.len(), calls.len(), "each call has a total");
        let (totals, states) = (vec![Vec::new(); plan.len()], plan.iter().map(|_| Vec::new()));
        let distinct = plan.iter().zip(calls).map(|(total, call)| match total {
            VectorTotal::Distinct { keys, total } => {
                let number = match **total {
                    VectorTotal::Sum(step) => Some(program.kind(step)),
                    _ => None,
                };
                Some(DistinctValues::new((keys, &call.args), number, workspace))
            }
            _ => None,
        });
        let (states, distinct) = (states.collect(), distinct.collect());
        Totals { plan, calls, totals, states, carried: Carried::new(), distinct }
    }

    /// Begins a group; returns how many bytes it takes.
    pub(super) fn begin(&mut self) -> usize {
        let mut used = 0;
        for (at, plan) in self.plan.iter().enumerate() {
            match plan {
                VectorTotal::Each(_) => {
                    self.states[at].push(Some(self.calls[at].start_plain()));
                    used += size_of::<Accumulator>();
                }
                _ => {
                    self.totals[at].push(Total::default());
                    used += size_of::<Total>();
                }
            }
        }
        used
    }

    /// Takes a batch in, each row of the group in its place; without groups all belong to the
    /// first. False where the batch lacks a column.
    pub(super) fn add(
        &mut self,
        (program, batch): (&Execution<'_>, &mut Batch),
        groups: &[u32],
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<bool> {
        for (at, plan) in self.plan.iter().enumerate() {
            let totals = &mut self.totals[at];
            let vector = |step: usize| Grouped {
                vector: Some(program.vector(step)),
                groups,
                rows: batch.rows(),
            };
            match plan {
                VectorTotal::Rows => {
                    Grouped { vector: None, groups, rows: batch.rows() }.count(totals);
                }
                VectorTotal::Count(step) => vector(*step).count(totals),
                VectorTotal::Sum(step) => {
                    let carried = &mut self.carried;
                    vector(*step).sum(totals, &mut |group, sum| {
                        carried.entry((at, group)).or_default().push(sum);
                    });
                }
                VectorTotal::MinMax { step, greatest } => vector(*step).min_max(*greatest, totals),
                VectorTotal::Present(slot) => {
                    let Some(column) = batch.column(*slot) else { return Ok(false) };
                    for i in (0..batch.rows()).filter(|&i| !column.is_null(i)) {
                        totals[group_of(groups, i)].count += 1;
                    }
                }
                VectorTotal::Distinct { total, .. } => {
                    let Some(distinct) = &mut self.distinct[at] else { return Ok(false) };
                    let number = match **total {
                        VectorTotal::Sum(step) => Some(program.shared_vector(step, batch.rows())),
                        _ => None,
                    };
                    let of = |row: usize| groups.get(row).copied().unwrap_or_default();
                    let new = distinct.add((program, batch), &of, number.as_ref(), ctx, row)?;
                    let Some(new) = new else { return Ok(false) };
                    let groups: Vec<u32> = new.iter().map(|row| of(*row as usize)).collect();
                    let number = number.map(|number| number.gather(&new));
                    let carried = (&mut self.carried, at);
                    add_distinct((totals, carried), &groups, number.as_ref());
                }
                VectorTotal::Each(slots) => {
                    for i in 0..batch.rows() {
                        batch.fill(i, slots, row)?;
                        if let Some(state) = &mut self.states[at][group_of(groups, i)] {
                            state.add(&self.calls[at], ctx, row)?;
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    /// Adds what another thread has of a group `from` to the group `into`.
    pub(super) fn merge(&mut self, into: usize, other: &Totals<'_, '_>, from: usize) {
        for (at, plan) in self.plan.iter().enumerate() {
            let alone = matches!(plan, VectorTotal::Each(_) | VectorTotal::Distinct { .. });
            debug_assert!(!alone, "the plan merges neither states of single rows nor values");
            let (Some(own), Some(&theirs)) =
                (self.totals[at].get_mut(into), other.totals[at].get(from))
            else {
                continue;
            };
            match plan {
                VectorTotal::Sum(_) => {
                    let mut sums = other.carried.get(&(at, from)).cloned().unwrap_or_default();
                    if let Some(sum) = add_to(&mut own.number, theirs.number) {
                        sums.push(sum);
                    }
                    if !sums.is_empty() {
                        self.carried.entry((at, into)).or_default().append(&mut sums);
                    }
                }
                VectorTotal::MinMax { greatest, .. } if theirs.count > 0 => {
                    let better = match greatest {
                        true => theirs.number > own.number,
                        false => theirs.number < own.number,
                    };
                    if own.count == 0 || better {
                        own.number = theirs.number;
                    }
                }
                _ => {}
            }
            own.count += theirs.count;
        }
    }

    /// About how many bytes values take.
    pub(super) fn held(&self) -> usize {
        self.distinct.iter().flatten().map(DistinctValues::held).sum()
    }

    /// Takes no more values into memory.
    pub(super) fn freeze(&mut self) {
        self.distinct.iter_mut().flatten().for_each(DistinctValues::freeze);
    }

    /// Adds the values that have waited.
    pub(super) fn complete(&mut self) -> Result<()> {
        for (at, distinct) in self.distinct.iter_mut().enumerate() {
            let Some(distinct) = distinct else { continue };
            let (totals, carried) = (&mut self.totals[at], &mut self.carried);
            distinct.complete(&mut |groups, number| {
                add_distinct((totals, (carried, at)), groups, number);
            })?;
        }
        Ok(())
    }

    /// False where a group does not fulfil the conditions.
    pub(super) fn may_hold(
        &self,
        group: usize,
        checks: &GroupChecks,
        program: &Execution<'_>,
    ) -> bool {
        if !self.carried.is_empty() {
            return true;
        }
        checks.0.iter().all(|&(at, op, constant, digits)| {
            let total = self.totals[at][group];
            let (number, scale) = match self.plan[at] {
                VectorTotal::Sum(step) | VectorTotal::MinMax { step, .. } => {
                    // NULL compares as NULL.
                    if total.count == 0 {
                        return false;
                    }
                    (total.number, program.kind(step).scale())
                }
                _ => (total.count.into(), 0),
            };
            let scaled = |number: i128, own: u8| {
                number.checked_mul(10i128.checked_pow(u32::from(scale.max(digits) - own))?)
            };
            match (scaled(number, scale), scaled(constant, digits)) {
                (Some(number), Some(constant)) => op.holds(number.cmp(&constant)),
                _ => true,
            }
        })
    }

    /// Forgets all groups but the last, which becomes the first.
    pub(super) fn leave_last(&mut self) {
        debug_assert!(self.carried.is_empty(), "sums of groups in order fit");
        self.totals.iter_mut().for_each(|totals| _ = totals.drain(..totals.len().max(1) - 1));
        self.states.iter_mut().for_each(|states| _ = states.drain(..states.len().max(1) - 1));
    }

    /// The value of an aggregate for a group. It is asked for once.
    pub(super) fn value(
        &mut self,
        (aggregate, group): (usize, usize),
        program: &Execution<'_>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value> {
        let call = &self.calls[aggregate];
        let total = |totals: &[Vec<Total>]| totals[aggregate][group];
        let plan = match &self.plan[aggregate] {
            VectorTotal::Distinct { total, .. } => total,
            plan => plan,
        };
        let state = match *plan {
            VectorTotal::Rows | VectorTotal::Count(_) | VectorTotal::Present(_) => {
                return Ok(Value::Int(total(&self.totals).count));
            }
            VectorTotal::Distinct { .. } => call.start_plain(),
            VectorTotal::Each(_) => {
                let state = self.states[aggregate][group].take();
                debug_assert!(state.is_some(), "a value is asked for once");
                state.unwrap_or_else(|| call.start_plain())
            }
            VectorTotal::Sum(step) => {
                let Total { count, number } = total(&self.totals);
                let carried = self.carried.get(&(aggregate, group));
                match program.kind(step) {
                    NumberKind::Decimal(scale) => {
                        let all = carried.into_iter().flatten().chain([&number]);
                        let mut sum = Decimal::ZERO;
                        for &carried in all {
                            let next = Decimal::from_i128(carried, scale);
                            sum = sum.add(next).map_err(|_| overflow())?;
                        }
                        Accumulator::of_decimals(sum, count)
                    }
                    NumberKind::Int { .. } | NumberKind::Date | NumberKind::Moment => {
                        Accumulator::of_integers(number, count)
                    }
                }
            }
            VectorTotal::MinMax { step, .. } => {
                Accumulator::of_extreme(match total(&self.totals) {
                    Total { count: 0, .. } => Value::Null,
                    Total { number, .. } => value_of(number, program.kind(step)),
                })
            }
        };
        state.finish(call, ctx)
    }
}

/// Adds rows up that have new values, each of its group.
fn add_distinct(
    (totals, (carried, at)): (&mut [Total], (&mut Carried, usize)),
    groups: &[u32],
    number: Option<&Numbers>,
) {
    let grouped = Grouped { vector: number, groups, rows: groups.len() };
    match number {
        _ if groups.is_empty() => {}
        None => grouped.count(totals),
        Some(_) => grouped.sum(totals, &mut |group, sum| {
            carried.entry((at, group)).or_default().push(sum);
        }),
    }
}

/// The group of row `i`.#[inline]
fn group_of(groups: &[u32], i: usize) -> usize {
    groups.get(i).copied().unwrap_or_default() as usize
}

/// A sum of more digits than decimals have.
fn overflow() -> SqlError {
    SqlError::new(ErrorCode::DataOutOfRange, &[&"DECIMAL", &"sum"])
}

/// Adds a number to a sum. Where the result outgrows 128 bits the sum becomes the number, and what
/// it was is returned.
#[inline]
fn add_to(sum: &mut i128, number: i128) -> Option<i128> {
    match sum.checked_add(number) {
        Some(result) => {
            *sum = result;
            None
        }
        None => Some(std::mem::replace(sum, number)),
    }
}

/// A vector and the groups of its rows.
struct Grouped<'b> {
    vector: Option<&'b Numbers>,
    groups: &'b [u32],
    rows: usize,
}

impl Grouped<'_> {
    /// Gives the place in the groups and the number of each row that is not NULL to `take`.
    #[inline]
    fn each(&self, vector: &Numbers, mut take: impl FnMut(usize, i128)) {
        for row in 0..self.rows {
            if !vector.is_null(row) {
                take(group_of(self.groups, row), vector.get(row));
            }
        }
    }

    fn count(&self, totals: &mut [Total]) {
        match (self.vector.filter(|vector| !vector.nulls.is_empty()), totals) {
            (None, [only]) if self.groups.is_empty() => only.count += self.rows as i64,
            (None, totals) => self.groups.iter().for_each(|&g| totals[g as usize].count += 1),
            (Some(vector), totals) => self.each(vector, |group, _| totals[group].count += 1),
        }
    }

    /// Adds the numbers up. A sum that outgrows 128 bits goes to `carry` with its group, and the
    /// total begins anew.
    fn sum(&self, totals: &mut [Total], carry: &mut dyn FnMut(usize, i128)) {
        let Some(vector) = self.vector else { return };
        let mut add = |group: usize, total: &mut Total, number: i128| {
            if let Some(sum) = add_to(&mut total.number, number) {
                carry(group, sum);
            }
        };
        match (&vector.values, self.groups.is_empty()) {
            // Numbers of 64 bits need a check for each sum, not for each number.
            (Values::Small(values), true) if vector.nulls.is_empty() => {
                let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
                totals[0].count += self.rows as i64;
                add(0, &mut totals[0], sum);
            }
            (Values::Small(values), false)
                if vector.nulls.is_empty()
                    && totals.len() <= values.len()
                    && self.fits_word(vector) =>
            {
                // The sums of one batch fit 64 bits.
                let mut sums: Vec<(i64, i64)> = vec![(0, 0); totals.len()];
                for (&group, value) in self.groups.iter().zip(values) {
                    let (count, sum) = &mut sums[group as usize];
                    *count += 1;
                    *sum += value;
                }
                for (group, (total, (count, sum))) in totals.iter_mut().zip(sums).enumerate() {
                    total.count += count;
                    add(group, total, sum.into());
                }
            }
            _ => self.each(vector, |group, number| {
                let total = &mut totals[group];
                total.count += 1;
                add(group, total, number);
            }),
        }
    }

    /// Whether a sum of all rows cannot outgrow 64 bits.
    fn fits_word(&self, vector: &Numbers) -> bool {
        let most = vector.low.unsigned_abs().max(vector.high.unsigned_abs());
        most.checked_mul(self.rows as u128).is_some_and(|most| most <= i64::MAX as u128)
    }

    fn min_max(&self, greatest: bool, totals: &mut [Total]) {
        let Some(vector) = self.vector else { return };
        self.each(vector, |group, number| {
            let total = &mut totals[group];
            let better = match greatest {
                true => number > total.number,
                false => number < total.number,
            };
            if total.count == 0 || better {
                total.number = number;
            }
            total.count += 1;
        });
    }
}
