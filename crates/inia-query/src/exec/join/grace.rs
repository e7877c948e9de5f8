//! Hash joins of which the right side does not fit into memory.
//!
//! Both sides go into partitions by the hash of their keys, so that partition *i* of the left side
//! meets only partition *i* of the right. A right partition that still does not fit is partitioned
//! again, both sides of it, unless that was done a few times already: then few keys have too many
//! rows, and the right side is taken in pieces, with one pass over the left side for each. Which
//! left rows have matched in some piece is kept in one bit each, for all joins but inner ones.
//!
//! Left rows are numbered as they come. Where the join must keep their order, its rows are sorted
//! by those numbers at the end.

use super::{JoinPlan, JoinTable, JoinType, encode, probe};
use crate::exec::sort::Sorter;
use crate::exec::source::clear;
use crate::exec::{Result, RowVisitor, Runner, Tuple, damaged_row};
use crate::plan::{HashKey, RowSource};
use crate::spill::{
    Grant, Partitions, Purpose, Stream, StreamReader, Workspace, keyed, split_keyed,
};
use crate::spill::{decode_tuple, encode_tuple};
use inia_base::value::Value;
use inia_expr::EvalContext;

/// Takes rows with the number of their left row; returns whether it wants more.
type NumberedVisitor<'v> =
    dyn FnMut(u64, &mut EvalContext<'_>, &mut Vec<Value>) -> Result<bool> + 'v;

/// How often a partition is partitioned again.
const MAX_LEVELS: u32 = 4;

/// Both sides of a join, in partitions.
pub(super) struct Spilled<'p, 'w> {
    join: &'p JoinPlan,
    workspace: Workspace<'w>,
    right: Partitions<'w>,
    left: Partitions<'w>,
    /// The slots that the left side fills.
    slots: Vec<usize>,
    /// Those that the right side fills.
    right_slots: Vec<usize>,
}

/// One partition of both sides.
struct Pair<'w> {
    left: Stream<'w>,
    right: Stream<'w>,
    level: u32,
}

impl<'p, 'w> Spilled<'p, 'w> {
    /// Puts the right rows so far into partitions.
    pub(super) fn of(
        runner: &Runner<'w>,
        join: &'p JoinPlan,
        table: JoinTable,
        right_slots: &[usize],
    ) -> Result<Self> {
        let workspace = runner.exec.workspace;
        let partitions = || Partitions::new(workspace, Purpose::File, 0);
        let mut slots = Vec::new();
        runner.filled(&join.left, &mut slots);
        let (right, left, right_slots) = (partitions(), partitions(), right_slots.to_vec());
        let mut spilled = Spilled { join, workspace, right, left, slots, right_slots };
        for (key, values) in table.rows() {
            spilled.push_right(key, values)?;
        }
        Ok(spilled)
    }

    pub(super) fn push_right(&mut self, key: &[u8], values: &[Value]) -> Result<()> {
        self.right.push(key, |out| {
            keyed(key, out);
            encode_tuple(values, out);
        })
    }

    fn push_left(&mut self, key: &[u8], number: u64, row: &[Value]) -> Result<()> {
        let slots = &self.slots;
        self.left.push(key, |out| {
            keyed(key, out);
            encode_tuple(&[Value::UInt(number)], out);
            for &slot in slots {
                encode_tuple(&row[slot..=slot], out);
            }
        })
    }
}

fn pairs<'w>(left: Partitions<'w>, right: Partitions<'w>) -> Result<Vec<Pair<'w>>> {
    let ((left, level), (right, _)) = (left.into_streams()?, right.into_streams()?);
    debug_assert_eq!(left.len(), right.len(), "each partition has two sides");
    let both = left.into_iter().zip(right);
    Ok(both.map(|(left, right)| Pair { left, right, level: level + 1 }).collect())
}

impl<'s> Runner<'s> {
    /// The slots that a source fills.
    pub(super) fn filled(&self, source: &RowSource, slots: &mut Vec<usize>) {
        match source {
            RowSource::One | RowSource::Nothing => {}
            RowSource::Table(table) => {
                let read = table.needed.iter().enumerate().filter(|(_, needed)| **needed);
                slots.extend(read.map(|(column, _)| table.base + column));
                slots.extend(table.row_id);
            }
            RowSource::Subplan { id, base, .. } => {
                slots.extend(*base..base + self.plan.subplans[*id].query.columns.len());
            }
            RowSource::Virtual(table) => {
                slots.extend(table.base..table.base + table.table.columns().len());
            }
            RowSource::JsonTable(table) => {
                slots.extend(table.base..table.base + table.rows.width());
            }
            RowSource::Dedup(dedup) => self.filled(&dedup.source, slots),
            RowSource::Join(join) => {
                self.filled(&join.left, slots);
                if join.kind.gives_right() {
                    self.filled(&join.right, slots);
                }
            }
        }
    }

    /// Joins with a right side in partitions; in the order of the left side's rows where the plan
    /// asks for it.
    pub(super) fn spilled_join(
        &self,
        spilled: Spilled<'_, 's>,
        keys: &[HashKey],
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        if !spilled.join.ordered {
            return self.partitioned(spilled, keys, ctx, row, &mut |_, ctx, row| visit(ctx, row));
        }
        let mut slots = spilled.slots.clone();
        slots.extend(&spilled.right_slots);
        // Only the right side of an outer join has all slots of its range to itself.
        let (right, keeps) =
            (spilled.join.right_slots.clone(), spilled.join.kind.keeps_unmatched());
        let mut sorter = Sorter::new(usize::MAX, self.exec.workspace);
        let mut bytes = Vec::new();
        self.partitioned(spilled, keys, ctx, row, &mut |number, _, row| {
            bytes.clear();
            slots.iter().for_each(|&slot| encode_tuple(&row[slot..=slot], &mut bytes));
            sorter.push_bytes(&number.to_be_bytes(), &bytes)?;
            Ok(true)
        })?;
        let (mut tuple, mut wanted) = (Tuple::new(), true);
        sorter.finish(false, |bytes| {
            self.check_killed()?;
            decode_tuple(bytes, &mut tuple).ok_or_else(damaged_row)?;
            if keeps {
                clear(&mut row[right.clone()]);
            }
            debug_assert_eq!(tuple.len(), slots.len(), "each value of a row has a slot");
            for (slot, value) in slots.iter().zip(tuple.drain(..)) {
                row[*slot] = value;
            }
            wanted = visit(ctx, row)?;
            Ok(wanted)
        })?;
        Ok(wanted)
    }

    /// Reads the left side into partitions and joins these.
    fn partitioned(
        &self,
        mut spilled: Spilled<'_, 's>,
        keys: &[HashKey],
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut NumberedVisitor<'_>,
    ) -> Result<bool> {
        let join = spilled.join;
        let (mut bytes, mut number) = (Vec::new(), 0);
        let wanted = self.source(&join.left, ctx, row, &mut |ctx, row| {
            number += 1;
            let found = encode(keys, |key| &key.left, ctx, row, &mut bytes)?;
            // A left row that can match nothing goes to no file: an outer join gives it at once.
            match found && !spilled.right.lacks(&bytes) {
                true => spilled.push_left(&bytes, number, row).map(|()| true),
                false if join.kind.keeps_unmatched() => {
                    clear(&mut row[join.right_slots.clone()]);
                    visit(number, ctx, row)
                }
                false => Ok(true),
            }
        })?;
        if !wanted {
            return Ok(false);
        }
        let Spilled { workspace, right, left, slots, right_slots, .. } = spilled;
        let mut queue = pairs(left, right)?;
        while let Some(pair) = queue.pop() {
            // Every row of the join has a left row, so right rows alone give nothing.
            if pair.left.records() == 0 {
                continue;
            }
            let mut rows = pair.right.reader();
            let mut table = JoinTable::new(right_slots.len());
            let mut memory = Grant::new(workspace);
            let all = load(&mut rows, &mut memory, &mut table)?;
            // A right side that does not fit is split by other bits of the hash. After a few splits
            // few keys must have too many rows, and it is taken in pieces.
            if !all && pair.level < MAX_LEVELS {
                drop(table);
                let again = (split(&pair.left, workspace, pair.level)?, &pair.right);
                queue.extend(pairs(again.0, split(again.1, workspace, pair.level)?)?);
                continue;
            }
            let mut pieces = Pieces { rows, table, memory, all, slots: &right_slots };
            let left = Left { rows: &pair.left, slots: &slots };
            if !self.join_pair(join, (left, &mut pieces), ctx, row, visit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Joins the left rows with one piece of the right side after another.
    fn join_pair(
        &self,
        join: &JoinPlan,
        (left, pieces): (Left<'_>, &mut Pieces<'_, '_>),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut NumberedVisitor<'_>,
    ) -> Result<bool> {
        // A left row may match in any piece, so one bit for each says whether it has.
        let counted = join.kind != JoinType::Inner;
        let once = !join.kind.gives_right();
        let mut matched =
            vec![0u64; (left.rows.records() as usize).div_ceil(64) * usize::from(counted)];
        loop {
            let wanted = self.each_left(left, row, &mut |(place, number), key, row| {
                if once && matched[place / 64] >> (place % 64) & 1 == 1 {
                    return Ok(true);
                }
                let table = (&pieces.table, pieces.slots);
                let visit =
                    &mut |ctx: &mut EvalContext<'_>, row: &mut Vec<Value>| visit(number, ctx, row);
                let (found, wanted) = probe(join, table, Some(key), ctx, row, visit)?;
                if counted && found {
                    matched[place / 64] |= 1 << (place % 64);
                }
                Ok(wanted)
            })?;
            if !wanted {
                return Ok(false);
            }
            if pieces.all {
                break;
            }
            // The next piece replaces this one and costs one more pass over the left rows.
            pieces.table = JoinTable::new(pieces.slots.len());
            pieces.all = load(&mut pieces.rows, &mut pieces.memory, &mut pieces.table)?;
        }
        if !join.kind.keeps_unmatched() {
            return Ok(true);
        }
        // Which left rows have no match is known only after the last piece.
        self.each_left(left, row, &mut |(place, number), _, row| {
            if matched[place / 64] >> (place % 64) & 1 == 1 {
                return Ok(true);
            }
            clear(&mut row[join.right_slots.clone()]);
            visit(number, ctx, row)
        })
    }

    /// Puts each left row into its slots and gives it to `visit` with its place in the partition,
    /// its number and its key.
    fn each_left(
        &self,
        left: Left<'_>,
        row: &mut Vec<Value>,
        visit: &mut dyn FnMut((usize, u64), &[u8], &mut Vec<Value>) -> Result<bool>,
    ) -> Result<bool> {
        let (mut reader, mut tuple, mut place) = (left.rows.reader(), Tuple::new(), 0);
        while let Some(record) = reader.next()? {
            self.check_killed()?;
            let (key, payload) = split_keyed(record)?;
            decode_tuple(payload, &mut tuple).ok_or_else(damaged_row)?;
            let mut values = tuple.drain(..);
            let Some(Value::UInt(number)) = values.next() else { return Err(damaged_row()) };
            debug_assert_eq!(values.len(), left.slots.len(), "each value of a left row has a slot");
            for (slot, value) in left.slots.iter().zip(values) {
                row[*slot] = value;
            }
            if !visit((place, number), key, row)? {
                return Ok(false);
            }
            place += 1;
        }
        Ok(true)
    }
}

/// A left partition, and the slots that its rows fill.
#[derive(Clone, Copy)]
struct Left<'r> {
    rows: &'r Stream<'r>,
    slots: &'r [usize],
}

/// A right partition, a piece of it in a table.
struct Pieces<'r, 'w> {
    rows: StreamReader<'r, 'w>,
    table: JoinTable,
    memory: Grant<'w>,
    /// Nothing is left in `rows`.
    all: bool,
    /// The slots of the table's values.
    slots: &'r [usize],
}

/// Reads rows into the table until it is full; true where that was all.
fn load(
    rows: &mut StreamReader<'_, '_>,
    memory: &mut Grant<'_>,
    table: &mut JoinTable,
) -> Result<bool> {
    let mut tuple = Tuple::new();
    let mut all = false;
    while table.is_empty() || (memory.allows(table.used) && !table.is_full()) {
        let Some(record) = rows.next()? else {
            all = true;
            break;
        };
        let (key, payload) = split_keyed(record)?;
        decode_tuple(payload, &mut tuple).ok_or_else(damaged_row)?;
        table.add(key, tuple.drain(..));
    }
    table.seal();
    Ok(all)
}

/// Partitions a stream by other bits of the keys' hashes.
fn split<'w>(stream: &Stream<'w>, workspace: Workspace<'w>, level: u32) -> Result<Partitions<'w>> {
    let mut partitions = Partitions::new(workspace, Purpose::File, level);
    let mut reader = stream.reader();
    while let Some(record) = reader.next()? {
        let (key, _) = split_keyed(record)?;
        partitions.push(key, |out| out.extend_from_slice(record))?;
    }
    Ok(partitions)
}
