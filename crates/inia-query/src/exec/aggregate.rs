//! GROUP BY: a hash table of groups, each with its first row and its aggregates' states.
//!
//! WITH ROLLUP adds every row to the groups of all prefixes of the group expressions as well: for
//! `GROUP BY a, b` a row (1, 2) goes to groups (1, 2), (1, –) and (–, –), in which `–` reads as
//! NULL. The expressions above the grouping then read the group's values, and whether each is
//! rolled up, from slots behind the row's own: for a row of width 5 those are slots 5, 6 and 7, 8.
//!
//! Where the state of a group may grow with every row (GROUP_CONCAT, the JSON aggregates, MIN of
//! long texts) the rows are sorted by their groups, so that one group at a time is in memory.
//!
//! When memory is used up, rows of groups that are not in the table are put aside and grouped in
//! further passes ([`super::spill`]). The same holds for new values of DISTINCT aggregates, of
//! which all groups together have one set.

use super::hash::KeyHash;
use super::keys::encode_key;
use super::sort::{SortSize, Sorter};
use super::{Project, Result, Tuple, damaged_row};
use crate::plan::{Aggregation, GroupStrategy};
use crate::spill::{Distinct, ENTRY, Grant, Partitions, Purpose, Stream, Workspace, held};
use crate::spill::{decode_tuple, encode_tuple};
use inia_base::value::Value;
use inia_expr::aggregate::distinct_key;
use inia_expr::{Accumulator, Aggregate, EvalContext, ExprKind};
use std::collections::HashMap;

/// Sorts rolled-up values behind all others.
const ROLLED_UP: u8 = 0xff;
const PRESENT: u8 = 0;

struct Group {
    /// The group's first row: what expressions outside aggregates read.
    row: Vec<Value>,
    states: Vec<Accumulator>,
}

/// Takes a finished group's key and row, its aggregates in the context.
type GroupVisitor<'v> = dyn FnMut(&mut EvalContext<'_>, &[u8], &[Value]) -> Result<bool> + 'v;

/// The groups of one SELECT, or those of one pass over rows that were put aside.
pub(super) struct Groups<'p, 'w> {
    plan: &'p Aggregation,
    workspace: Workspace<'w>,
    level: u32,
    positions: HashMap<Vec<u8>, usize, KeyHash>,
    groups: Vec<Group>,
    key: Vec<u8>,
    /// The last row's key and group: rows often come sorted.
    last: Option<(Vec<u8>, usize)>,
    /// Bytes that groups hold.
    used: usize,
    memory: Grant<'w>,
    /// Rows of other groups.
    aside: Option<Partitions<'w>>,
    /// The values that DISTINCT aggregates have, where there are such.
    distinct: Option<Distinct<'w>>,
    /// All rows by their groups' keys, where groups may grow.
    sorted: Option<Sorter<'w>>,
}

impl<'p, 'w> Groups<'p, 'w> {
    pub(super) fn new(plan: &'p Aggregation, workspace: Workspace<'w>) -> Groups<'p, 'w> {
        let sorts = matches!(plan.strategy, GroupStrategy::Sort);
        let sorted = sorts.then(|| {
            let size = SortSize::by(plan.group.iter().map(|key| &key.ty));
            Sorter::with_ties(usize::MAX, Some(size), workspace)
        });
        Groups { sorted, ..Groups::at_level(plan, workspace, 0) }
    }

    fn at_level(plan: &'p Aggregation, workspace: Workspace<'w>, level: u32) -> Groups<'p, 'w> {
        let distinct = plan.calls.iter().any(|call| call.distinct);
        Groups {
            plan,
            workspace,
            level,
            positions: HashMap::default(),
            groups: Vec::new(),
            key: Vec::new(),
            last: None,
            used: 0,
            memory: Grant::new(workspace),
            aside: None,
            distinct: distinct.then(|| Distinct::new(workspace)),
            sorted: None,
        }
    }

    /// Adds a row to its group, with ROLLUP also to the groups above it.
    pub(super) fn add(&mut self, ctx: &mut EvalContext<'_>, row: &[Value]) -> Result<()> {
        let parts = self.plan.group.len();
        if !self.plan.rollup && self.sorted.is_none() {
            return self.add_plainly(ctx, row);
        }
        let values: Vec<Value> =
            self.plan.group.iter().map(|expr| expr.eval(ctx, row)).collect::<Result<_>>()?;
        let least = if self.plan.rollup { 0 } else { parts };
        for kept in (least..=parts).rev() {
            match &mut self.sorted {
                Some(sorter) => {
                    let key = |out: &mut Vec<u8>| {
                        encode_group(self.plan, &values, kept, out);
                        Ok(())
                    };
                    sorter.push(key, |out| {
                        encode_row(row, &values, kept, out);
                        Ok(())
                    })?;
                }
                None => self.add_to(ctx, row, &values, kept)?,
            }
        }
        Ok(())
    }

    /// Whether a row is of another group than the rows before it.
    pub(super) fn is_followed_by(
        &mut self,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<bool> {
        self.key.clear();
        for expr in &self.plan.group {
            self.key.push(PRESENT);
            encode_key(&*expr.eval_ref(ctx, row)?, &expr.ty, false, &mut self.key);
        }
        Ok(self.last.as_ref().is_some_and(|(last, _)| *last != self.key))
    }

    /// Makes a row the one that is read of the only group.
    pub(super) fn show(&mut self, row: &[Value]) {
        debug_assert!(self.groups.len() == 1 && !self.plan.rollup, "there is one group");
        if let Some(group) = self.groups.last_mut() {
            group.row.clone_from_slice(row);
        }
    }

    /// Gives the groups to `project`; false where that wants no more.
    pub(super) fn give(self, ctx: &mut EvalContext<'_>, project: &mut Project<'_>) -> Result<bool> {
        self.emit(ctx, &mut |ctx, _, row| project(ctx, row))
    }

    /// Adds a row to its group, without ROLLUP.
    fn add_plainly(&mut self, ctx: &mut EvalContext<'_>, row: &[Value]) -> Result<()> {
        self.key.clear();
        for expr in &self.plan.group {
            self.key.push(PRESENT);
            encode_key(&*expr.eval_ref(ctx, row)?, &expr.ty, false, &mut self.key);
        }
        let last = self.last.as_ref().filter(|(key, _)| *key == self.key);
        if let Some(&(_, position)) = last {
            return self.count_in(position, ctx, row);
        }
        let position = match self.positions.get(&self.key).copied() {
            Some(position) => position,
            None if self.is_full() => {
                let group = &self.plan.group;
                let values: Vec<Value> =
                    group.iter().map(|expr| expr.eval(ctx, row)).collect::<Result<_>>()?;
                return self.put_aside(row, &values, values.len());
            }
            None => self.start(row, &[], 0),
        };
        let (key, at) = self.last.get_or_insert_default();
        key.clone_from(&self.key);
        *at = position;
        self.count_in(position, ctx, row)
    }

    /// Adds a row to the group of the first `kept` of its group values.
    fn add_to(
        &mut self,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
        values: &[Value],
        kept: usize,
    ) -> Result<()> {
        self.key.clear();
        debug_assert!(kept <= values.len(), "a group has a prefix of the group values");
        encode_group(self.plan, values, kept, &mut self.key);
        let position = match self.positions.get(&self.key).copied() {
            Some(position) => position,
            None if self.is_full() => return self.put_aside(row, values, kept),
            None => self.start(row, values, kept),
        };
        self.count_in(position, ctx, row)
    }

    /// Adds a row to the aggregates of a group.
    fn count_in(
        &mut self,
        position: usize,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<()> {
        debug_assert_eq!(self.groups[position].states.len(), self.plan.calls.len());
        let so_far = self.used;
        for (index, call) in self.plan.calls.iter().enumerate() {
            let state = &mut self.groups[position].states[index];
            let before = state.held();
            match &mut self.distinct {
                Some(distinct) if call.distinct => {
                    let Some(inputs) = call.inputs(ctx, row)? else { continue };
                    let place = (position, index);
                    if offer(distinct, place, call, &inputs, row)? {
                        state.add_values(call, inputs, ctx, row)?;
                    }
                }
                _ => state.add(call, ctx, row)?,
            }
            self.used = (self.used + state.held()).saturating_sub(before);
        }
        // A group that grows cannot be put aside. Where none does, the next new one is.
        if self.used > so_far { self.memory.require(self.used) } else { Ok(()) }
    }

    fn is_full(&mut self) -> bool {
        self.aside.is_some() || (!self.memory.allows(self.used) && !self.groups.is_empty())
    }

    fn put_aside(&mut self, row: &[Value], values: &[Value], kept: usize) -> Result<()> {
        let (workspace, level) = (self.workspace, self.level);
        let table = || Partitions::new(workspace, Purpose::Table, level);
        let aside = self.aside.get_or_insert_with(table);
        aside.push(&self.key, |out| encode_row(row, values, kept, out))
    }

    /// A new group of the current key; it starts with `row`.
    fn start(&mut self, row: &[Value], values: &[Value], kept: usize) -> usize {
        let mut row = row.to_vec();
        if self.plan.rollup {
            // Queries inside read the group's columns where rows have them.
            for group in &self.plan.group[kept..] {
                if let ExprKind::Column { index, .. } = group.kind {
                    row[index] = Value::Null;
                }
            }
            row.extend_from_slice(&values[..kept]);
            row.resize(row.len() + values.len() - kept, Value::Null);
            row.extend((0..values.len()).map(|index| Value::Int(i64::from(index >= kept))));
        }
        let calls = &self.plan.calls;
        let states: Vec<Accumulator> = calls.iter().map(Aggregate::start_plain).collect();
        self.used += held(&row) + self.key.len() + ENTRY + size_of_val(&states[..]);
        self.groups.push(Group { row, states });
        self.positions.insert(self.key.clone(), self.groups.len() - 1);
        debug_assert_eq!(self.positions.len(), self.groups.len(), "each group has its key");
        self.groups.len() - 1
    }

    /// Gives each group's row to `project`, its aggregates in the context. Without GROUP BY there
    /// is one group even where there were no rows.
    pub(super) fn finish(
        mut self,
        ctx: &mut EvalContext<'_>,
        width: usize,
        project: &mut Project<'_>,
    ) -> Result<()> {
        if let Some(sorter) = self.sorted.take() {
            return self.finish_one_by_one(sorter, ctx, project);
        }
        if self.groups.is_empty() && self.plan.group.is_empty() {
            self.key.clear();
            self.start(&vec![Value::Null; width], &[], 0);
        }
        if self.plan.rollup && self.aside.is_some() {
            return self.finish_sorted(ctx, project);
        }
        self.each(ctx, &mut |ctx, _, row| project(ctx, row))
    }

    /// As [`Groups::finish`], for rows that were sorted by their groups.
    fn finish_one_by_one(
        self,
        sorter: Sorter<'w>,
        ctx: &mut EvalContext<'_>,
        project: &mut Project<'_>,
    ) -> Result<()> {
        let (plan, workspace) = (self.plan, self.workspace);
        let (mut group, mut last) = (self, None::<Vec<u8>>);
        let (mut wanted, mut tuple) = (true, Tuple::new());
        sorter.finish_keyed(false, |key, record| {
            if last.as_deref().is_some_and(|last| last != key) {
                let done = std::mem::replace(&mut group, Groups::at_level(plan, workspace, 0));
                wanted = done.emit(ctx, &mut |ctx, _, row| project(ctx, row))?;
                if !wanted {
                    return Ok(false);
                }
            }
            let last = last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
            group.add_record(record, &mut tuple, ctx).map(|()| true)
        })?;
        if wanted && last.is_some() {
            group.emit(ctx, &mut |ctx, _, row| project(ctx, row))?;
        }
        Ok(())
    }

    /// As [`Groups::finish`], for the groups of many passes in the order of their keys.
    fn finish_sorted(self, ctx: &mut EvalContext<'_>, project: &mut Project<'_>) -> Result<()> {
        let calls = self.plan.calls.len();
        let mut sorter = Sorter::new(usize::MAX, self.workspace);
        self.each(ctx, &mut |ctx, key, row| {
            let put_key = |out: &mut Vec<u8>| {
                out.extend_from_slice(key);
                Ok(())
            };
            sorter.push(put_key, |out| {
                encode_tuple(row, out);
                encode_tuple(&ctx.aggregates, out);
                Ok(())
            })?;
            Ok(true)
        })?;
        let mut row = Tuple::new();
        sorter.finish(false, |bytes| {
            decode_tuple(bytes, &mut row).ok_or_else(damaged_row)?;
            let own = row.len().checked_sub(calls).ok_or_else(damaged_row)?;
            ctx.aggregates = row.split_off(own);
            project(ctx, &row)
        })
    }

    /// Gives the groups to `visit`, then those of rows that were put aside.
    fn each(self, ctx: &mut EvalContext<'_>, visit: &mut GroupVisitor<'_>) -> Result<()> {
        let (plan, workspace) = (self.plan, self.workspace);
        let mut queue: Vec<(Stream<'w>, u32)> = Vec::new();
        let mut pass = self;
        loop {
            let aside = pass.aside.take();
            if !pass.emit(ctx, visit)? {
                return Ok(());
            }
            if let Some(aside) = aside {
                let (streams, level) = aside.into_streams()?;
                queue.extend(streams.into_iter().map(|stream| (stream, level + 1)));
            }
            let Some((stream, level)) = queue.pop() else { return Ok(()) };
            pass = Groups::at_level(plan, workspace, level);
            pass.take_in(&stream, ctx)?;
        }
    }

    /// Adds the rows of a stream.
    fn take_in(&mut self, stream: &Stream<'w>, ctx: &mut EvalContext<'_>) -> Result<()> {
        let (mut reader, mut tuple) = (stream.reader(), Tuple::new());
        while let Some(record) = reader.next()? {
            self.add_record(record, &mut tuple, ctx)?;
        }
        Ok(())
    }

    /// Adds a row that [`encode_row`] wrote.
    fn add_record(
        &mut self,
        record: &[u8],
        tuple: &mut Tuple,
        ctx: &mut EvalContext<'_>,
    ) -> Result<()> {
        let first = 1 + self.plan.group.len();
        decode_tuple(record, tuple).ok_or_else(damaged_row)?;
        let Some(Value::UInt(kept)) = tuple.first() else { return Err(damaged_row()) };
        let row = tuple.get(first..).ok_or_else(damaged_row)?;
        self.add_to(ctx, row, &tuple[1..first], (*kept as usize).min(first - 1))
    }

    /// Gives the groups of this pass to `visit`; false where that wants no more.
    fn emit(mut self, ctx: &mut EvalContext<'_>, visit: &mut GroupVisitor<'_>) -> Result<bool> {
        self.add_distinct(ctx)?;
        let mut keys = vec![&[][..]; self.groups.len()];
        self.positions.iter().for_each(|(key, &position)| keys[position] = key);
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        if self.plan.rollup {
            order.sort_by_key(|&position| keys[position]);
        }
        for position in order {
            self.workspace.check()?;
            let group = &mut self.groups[position];
            ctx.aggregates.clear();
            for (state, call) in group.states.drain(..).zip(&self.plan.calls) {
                let value = state.finish(call, ctx)?;
                ctx.aggregates.push(value);
            }
            debug_assert_eq!(ctx.aggregates.len(), self.plan.calls.len(), "each call has a value");
            for &(number, slot) in &self.plan.shown {
                group.row[slot].clone_from(&ctx.aggregates[number]);
            }
            if !visit(ctx, keys[position], &group.row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds the values of DISTINCT aggregates that were put aside.
    fn add_distinct(&mut self, ctx: &mut EvalContext<'_>) -> Result<()> {
        let Some(distinct) = self.distinct.take() else { return Ok(()) };
        let (calls, groups) = (&self.plan.calls, &mut self.groups);
        let mut tuple = Tuple::new();
        distinct.rest(&mut |payload| {
            decode_tuple(payload, &mut tuple).ok_or_else(damaged_row)?;
            let [Value::UInt(position), Value::UInt(index), ..] = tuple[..] else {
                return Err(damaged_row());
            };
            let call = calls.get(index as usize).ok_or_else(damaged_row)?;
            let group = groups.get_mut(position as usize).ok_or_else(damaged_row)?;
            let (inputs, row) =
                tuple[2..].split_at_checked(call.args.len()).ok_or_else(damaged_row)?;
            let state = &mut group.states[index as usize];
            state.add_values(call, inputs.to_vec(), ctx, row)?;
            Ok(true)
        })
    }
}

/// Appends the key of the group of the first `kept` of the group values.
fn encode_group(plan: &Aggregation, values: &[Value], kept: usize, out: &mut Vec<u8>) {
    for (index, (value, expr)) in values.iter().zip(&plan.group).enumerate() {
        if index < kept {
            out.push(PRESENT);
            encode_key(value, &expr.ty, false, out);
        } else {
            out.push(ROLLED_UP);
        }
    }
}

/// Appends a row that waits for its group.
fn encode_row(row: &[Value], values: &[Value], kept: usize, out: &mut Vec<u8>) {
    encode_tuple(&[Value::UInt(kept as u64)], out);
    encode_tuple(values, out);
    encode_tuple(row, out);
}

/// Offers a DISTINCT aggregate's arguments; true where they are new to the group.
fn offer(
    distinct: &mut Distinct<'_>,
    (position, index): (usize, usize),
    call: &Aggregate,
    inputs: &[Value],
    row: &[Value],
) -> Result<bool> {
    let mut key = Vec::with_capacity(32);
    key.extend_from_slice(&(position as u64).to_le_bytes());
    key.extend_from_slice(&(index as u32).to_le_bytes());
    key.extend(distinct_key(inputs.iter().zip(call.args.iter().map(|arg| &arg.ty))));
    distinct.offer(&key, |out| {
        encode_tuple(&[Value::UInt(position as u64), Value::UInt(index as u64)], out);
        encode_tuple(inputs, out);
        // GROUP_CONCAT's ORDER BY reads the row.
        if !call.order_by.is_empty() {
            encode_tuple(row, out);
        }
    })
}
