//! What aggregates have added up for each group.

use super::numbers::{Numbers, Values};
use super::program::Program;
use crate::exec::Result;
use crate::plan::vector::{NumberKind, VectorTotal};
use crate::row::unpack_date;
use inia_base::decimal::Decimal;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_expr::aggregate::{Accumulator, Aggregate};
use inia_parser::ast::AggregateFunc;

/// One aggregate's numbers of one group.
#[derive(Clone, Copy, Default)]
struct Total {
    /// Rows, or numbers that are not NULL.
    count: i64,
    /// Their sum, or the least or greatest of them.
    number: i128,
}

/// The totals of all groups.
pub(super) struct Totals<'p> {
    plan: &'p [VectorTotal],
    /// One group after the other for each aggregate.
    totals: Vec<Vec<Total>>,
}

impl<'p> Totals<'p> {
    pub(super) fn new(plan: &'p [VectorTotal]) -> Totals<'p> {
        Totals { plan, totals: vec![Vec::new(); plan.len()] }
    }

    /// Begins a group; returns how many bytes it takes.
    pub(super) fn begin(&mut self) -> usize {
        self.totals.iter_mut().for_each(|totals| totals.push(Total::default()));
        self.plan.len() * size_of::<Total>()
    }

    /// Takes a batch of `rows` rows in, each of the group in its place; without groups all belong
    /// to the first. False where a sum outgrows 128 bits.
    pub(super) fn add(&mut self, program: &Program<'_>, groups: &[usize], rows: usize) -> bool {
        let step = |total: &VectorTotal| match *total {
            VectorTotal::Rows => None,
            VectorTotal::Count(step) | VectorTotal::Sum(step) => Some(step),
            VectorTotal::MinMax { step, .. } => Some(step),
        };
        self.plan.iter().zip(&mut self.totals).all(|(plan, totals)| {
            let batch = Batch { vector: step(plan).map(|step| program.vector(step)), groups, rows };
            match plan {
                VectorTotal::Rows | VectorTotal::Count(_) => batch.count(totals),
                VectorTotal::Sum(_) => return batch.sum(totals),
                VectorTotal::MinMax { greatest, .. } => batch.min_max(*greatest, totals),
            }
            true
        })
    }

    /// The value of an aggregate for a group.
    pub(super) fn value(
        &self,
        (aggregate, group): (usize, usize),
        call: &Aggregate,
        program: &Program<'_>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Value> {
        let Total { count, number } = self.totals[aggregate][group];
        let state = match self.plan[aggregate] {
            VectorTotal::Rows | VectorTotal::Count(_) => return Ok(Value::Int(count)),
            VectorTotal::Sum(step) => match program.kind(step) {
                NumberKind::Decimal(scale) => {
                    Accumulator::of_decimals(Decimal::from_i128(number, scale), count)
                }
                NumberKind::Int { .. } | NumberKind::Date => {
                    Accumulator::of_integers(number, count)
                }
            },
            VectorTotal::MinMax { .. } if count == 0 => Accumulator::of_extreme(Value::Null),
            VectorTotal::MinMax { step, .. } => Accumulator::of_extreme(match program.kind(step) {
                NumberKind::Int { unsigned: true } => Value::UInt(number as u64),
                NumberKind::Int { unsigned: false } => Value::Int(number as i64),
                NumberKind::Decimal(scale) => Value::Decimal(Decimal::from_i128(number, scale)),
                NumberKind::Date => Value::Date(unpack_date(number as u32)),
            }),
        };
        debug_assert!(call.func != AggregateFunc::Count, "a number of rows has been returned");
        state.finish(call, ctx)
    }
}

/// A vector and the groups of its rows.
struct Batch<'b> {
    vector: Option<&'b Numbers>,
    groups: &'b [usize],
    rows: usize,
}

impl Batch<'_> {
    /// Gives the place in the groups and the number of each row that is not NULL to `take`.
    #[inline]
    fn each(&self, vector: &Numbers, mut take: impl FnMut(usize, i128)) {
        for row in 0..self.rows {
            if !vector.is_null(row) {
                take(self.groups.get(row).copied().unwrap_or_default(), vector.get(row));
            }
        }
    }

    fn count(&self, totals: &mut [Total]) {
        match (self.vector.filter(|vector| !vector.nulls.is_empty()), totals) {
            (None, [only]) if self.groups.is_empty() => only.count += self.rows as i64,
            (None, totals) => self.groups.iter().for_each(|&group| totals[group].count += 1),
            (Some(vector), totals) => self.each(vector, |group, _| totals[group].count += 1),
        }
    }

    fn sum(&self, totals: &mut [Total]) -> bool {
        let Some(vector) = self.vector else { return false };
        match (&vector.values, self.groups.is_empty()) {
            // Numbers of 64 bits need a check for each sum, not for each number.
            (Values::Small(values), true) if vector.nulls.is_empty() => {
                let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
                let Some(number) = totals[0].number.checked_add(sum) else { return false };
                totals[0] = Total { count: totals[0].count + self.rows as i64, number };
                true
            }
            _ => {
                let mut fits = true;
                self.each(vector, |group, number| {
                    let total = &mut totals[group];
                    match total.number.checked_add(number) {
                        Some(sum) => *total = Total { count: total.count + 1, number: sum },
                        None => fits = false,
                    }
                });
                fits
            }
        }
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
