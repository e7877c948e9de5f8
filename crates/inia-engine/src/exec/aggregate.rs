//! GROUP BY: a hash table of groups, each with its first row and its aggregates' states.
//!
//! WITH ROLLUP adds every row to the groups of all prefixes of the group expressions as well: for
//! `GROUP BY a, b` a row (1, 2) goes to groups (1, 2), (1, –) and (–, –), in which `–` reads as NULL.
//! The expressions above the grouping then read the group's values, and whether each is rolled up,
//! from slots behind the row's own: for a row of width 5 those are slots 5, 6 and 7, 8.

use super::Result;
use super::keys::encode_key;
use crate::expr::{Accumulator, Aggregate, EvalContext};
use crate::plan::Aggregation;
use inia_base::value::Value;
use std::collections::HashMap;

/// Sorts rolled-up values behind all others.
const ROLLED_UP: u8 = 0xff;
const PRESENT: u8 = 0;

struct Group {
    /// The group's first row: what expressions outside aggregates read.
    row: Vec<Value>,
    states: Vec<Accumulator>,
}

/// The groups of one SELECT.
pub(super) struct Groups<'p> {
    plan: &'p Aggregation,
    positions: HashMap<Vec<u8>, usize>,
    groups: Vec<Group>,
    key: Vec<u8>,
}

impl<'p> Groups<'p> {
    pub(super) fn new(plan: &'p Aggregation) -> Groups<'p> {
        Groups { plan, positions: HashMap::new(), groups: Vec::new(), key: Vec::new() }
    }

    /// Adds a row to its group, with ROLLUP also to the groups above it.
    pub(super) fn add(&mut self, ctx: &mut EvalContext<'_>, row: &[Value]) -> Result<()> {
        let parts = self.plan.group.len();
        let values: Vec<Value> =
            self.plan.group.iter().map(|expr| expr.eval(ctx, row)).collect::<Result<_>>()?;
        let shortest = if self.plan.rollup { 0 } else { parts };
        for kept in (shortest..=parts).rev() {
            self.key.clear();
            for (index, (value, expr)) in values.iter().zip(&self.plan.group).enumerate() {
                if index < kept {
                    self.key.push(PRESENT);
                    encode_key(value, &expr.ty, false, &mut self.key);
                } else {
                    self.key.push(ROLLED_UP);
                }
            }
            let position = self.position(row, &values, kept);
            let group = &mut self.groups[position];
            for (state, call) in group.states.iter_mut().zip(&self.plan.calls) {
                state.add(call, ctx, row)?;
            }
        }
        Ok(())
    }

    /// The group of the current key; it starts with `row`.
    fn position(&mut self, row: &[Value], values: &[Value], kept: usize) -> usize {
        if let Some(&position) = self.positions.get(&self.key) {
            return position;
        }
        let mut row = row.to_vec();
        if self.plan.rollup {
            row.extend_from_slice(&values[..kept]);
            row.resize(row.len() + values.len() - kept, Value::Null);
            row.extend((0..values.len()).map(|index| Value::Int(i64::from(index >= kept))));
        }
        let states = self.plan.calls.iter().map(Aggregate::start).collect();
        self.groups.push(Group { row, states });
        self.positions.insert(self.key.clone(), self.groups.len() - 1);
        self.groups.len() - 1
    }

    /// Gives each group's row to `project`, its aggregates in the context. Without GROUP BY there
    /// is one group even where there were no rows.
    pub(super) fn finish(
        mut self,
        ctx: &mut EvalContext<'_>,
        width: usize,
        project: &mut dyn FnMut(&mut EvalContext<'_>, &[Value]) -> Result<bool>,
    ) -> Result<()> {
        if self.groups.is_empty() && self.plan.group.is_empty() {
            self.position(&vec![Value::Null; width], &[], 0);
        }
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        if self.plan.rollup {
            let mut keys = vec![&[][..]; self.groups.len()];
            self.positions.iter().for_each(|(key, &position)| keys[position] = key);
            order.sort_by_key(|&position| keys[position]);
        }
        for position in order {
            let group = &mut self.groups[position];
            ctx.aggregates.clear();
            for (state, call) in group.states.drain(..).zip(&self.plan.calls) {
                let value = state.finish(call, ctx)?;
                ctx.aggregates.push(value);
            }
            if !project(ctx, &group.row)? {
                break;
            }
        }
        Ok(())
    }
}
