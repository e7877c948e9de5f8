//! Hash joins of batches whose right side outgrows memory.
//!
//! Both sides go into partitions by the hash of their keys, so that a partition of the left side
//! meets only that of the right side with the same number. A right partition that still does not
//! fit is split again by other bits of the hash, with its left one. After a few splits few keys
//! must have too many rows: the right side is then taken in pieces, with one pass over the left
//! side for each. ([`crate::exec::join`] does the same for single rows.)
//!
//! Records have the columns that go on from the join, and behind the slots of a row a column for
//! each key, so that no key is evaluated twice. Where rows must keep their order the left ones have
//! their number as well, and what comes out is sorted by it:
//!
//! ```text
//!   row of 5 slots, two keys      left record  0 3 | 5 6 | 7      right record  4 | 5 6
//! ```

mod pieces;

use super::batch::{Batch, BatchBuilder, Rows, places};
use super::column::NO_ROW;
use super::conditions::Filters;
use super::hash::{HashBuild, HashPlan, Probe};
use super::index::RowIndex;
use super::join_keys::{KeyColumns, Keys, add_right, key_slots};
use super::keys::Dictionary;
use super::operators::Operators;
use super::pairs::gathered;
use super::records::{number_column, read_rows, write_rows};
use super::scan::Collector;
use super::sideways::KeyFilters;
use super::source::{BatchVisitor, Flow};
use crate::exec::sort::Sorter;
use crate::exec::{Result, damaged_row};
use crate::plan::JoinType;
use crate::plan::batches::{BatchSlot, HashBatches};
use crate::plan::vector::{NumberKind, VectorForm};
use crate::spill::{
    FANOUT, Grant, Partitions, Purpose, Stream, StreamReader, Tuple, Workspace, decode_tuple,
    encode_tuple, place_of,
};
use inia_base::value::Value;
use inia_expr::EvalContext;
use std::sync::Arc;

/// How often a partition is split again.
const MAX_LEVELS: u32 = 4;
/// Rows in memory that are put into partitions at once.
const CHUNK: usize = 8192;

/// The right side of a join in partitions.
pub(super) struct SpilledBuild<'w> {
    streams: Vec<Arc<Stream<'w>>>,
    /// The slots of a record.
    slots: Vec<BatchSlot>,
}

/// The right side of a join on its way into partitions.
pub(super) struct SpillingBuild<'w> {
    partitions: Partitions<'w>,
    /// The slot of the first key.
    first: usize,
    slots: Vec<BatchSlot>,
    /// That of the partitions' blocks.
    _memory: Grant<'w>,
}

/// One partition of both sides.
struct Pair<'w> {
    left: Arc<Stream<'w>>,
    right: Arc<Stream<'w>>,
    level: u32,
}

/// A join of two sides in partitions.
struct Spilled<'p, 'w> {
    plan: HashPlan<'p>,
    workspace: Workspace<'w>,
    right: &'p SpilledBuild<'w>,
    /// The slots of a left record.
    left_slots: Vec<BatchSlot>,
    /// Those of the keys, in both sides.
    keys: Vec<BatchSlot>,
    /// The slots that go on, and the number of the left row where the order counts.
    out: Vec<BatchSlot>,
    /// The slot of the left row's number.
    number: Option<BatchSlot>,
}

/// Rows of the right side that are in memory.
struct Loaded<'w> {
    build: HashBuild<'w>,
    /// Those are all.
    all: bool,
}

impl<'w> SpillingBuild<'w> {
    /// The slots that go on (`kept`) and the keys of rows of so many slots.
    pub(super) fn new(
        plan: &HashBatches,
        kept: &[BatchSlot],
        width: usize,
        workspace: Workspace<'w>,
    ) -> SpillingBuild<'w> {
        let slots = kept.iter().copied().chain(key_slots(plan, width)).collect();
        let partitions = Partitions::new(workspace, Purpose::File, 0);
        let _memory = blocks(workspace);
        SpillingBuild { partitions, first: width, slots, _memory }
    }

    /// Adds rows with their keys; those without a key match nothing.
    pub(super) fn add(&mut self, batch: &mut Batch, keys: KeyColumns) -> Result<()> {
        let KeyColumns { columns, hashes, absent } = keys;
        for (at, column) in columns.into_iter().enumerate() {
            batch.put(self.first + at, column);
        }
        let present = |place: &u32| absent.get(*place as usize) != Some(&true);
        for start in (0..batch.rows()).step_by(CHUNK) {
            let end = (start + CHUNK).min(batch.rows());
            let chosen: Vec<u32> = (start as u32..end as u32).filter(present).collect();
            let rows = (&*batch, &chosen[..], &hashes[..]);
            spread(rows, &self.slots, (&mut self.partitions, 0))?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<SpilledBuild<'w>> {
        let (streams, _) = self.partitions.into_streams()?;
        let streams = streams.into_iter().map(Arc::new).collect();
        Ok(SpilledBuild { streams, slots: self.slots })
    }
}

/// Takes the memory of partitions' blocks, where there is still some.
fn blocks(workspace: Workspace<'_>) -> Grant<'_> {
    let mut memory = Grant::new(workspace);
    memory.grant(Partitions::held());
    memory
}

/// Puts chosen rows into the partitions of a level.
pub(super) fn spread(
    (batch, chosen, hashes): (&Batch, &[u32], &[u64]),
    slots: &[BatchSlot],
    (partitions, level): (&mut Partitions<'_>, u32),
) -> Result<()> {
    let mut parts = vec![Vec::new(); FANOUT];
    for &place in chosen {
        parts[place_of(hashes[place as usize], level)].push(place);
    }
    for (part, places) in parts.iter().enumerate().filter(|(_, places)| !places.is_empty()) {
        partitions.push_to(part, |out| write_rows((batch, places), slots, 0, out))?;
    }
    Ok(())
}

impl<'e> Operators<'e> {
    /// Gives the rows of a join whose right side is in partitions to `visit`.
    pub(super) fn spilled_batches(
        &self,
        plan: HashPlan<'_>,
        (right, above): (&SpilledBuild<'_>, &KeyFilters<'_>),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let (join, _, batches, out) = plan;
        let width = row.len();
        let keys: Vec<BatchSlot> = key_slots(batches, width).collect();
        let form = VectorForm::Numbers(NumberKind::Int { unsigned: false });
        let number =
            (join.ordered || self.ordered).then_some(BatchSlot { slot: width + keys.len(), form });
        let is_kept = |slot: &&BatchSlot| out.contains(slot) || batches.on_slots.contains(slot);
        let kept = batches.left.slots.iter().filter(is_kept).copied();
        let left_slots = kept.chain(keys.iter().copied()).chain(number).collect();
        let out = out.iter().copied().chain(number).collect();
        let workspace = self.workspace;
        let spilled = Spilled { plan, workspace, right, left_slots, keys, out, number };
        let Some(number) = number else {
            return self.joined_pairs(&spilled, above, ctx, row, visit);
        };
        // What comes out is sorted by the numbers of the left rows.
        let mut sorter = Sorter::new(usize::MAX, self.workspace);
        let (slots, mut values) = (&plan.3, vec![Value::Null; width + keys_and_number(&spilled)]);
        let filled: Vec<usize> = slots.iter().map(|slot| slot.slot).collect();
        let mut bytes = Vec::new();
        let flow = self.joined_pairs(&spilled, above, ctx, row, &mut |_, _, batch| {
            for at in 0..batch.rows() {
                batch.fill(at, &filled, &mut values)?;
                batch.fill(at, &[number.slot], &mut values)?;
                let Value::Int(number) = values[number.slot] else { return Err(damaged_row()) };
                bytes.clear();
                filled.iter().for_each(|&slot| encode_tuple(&values[slot..=slot], &mut bytes));
                sorter.push_bytes(&number.to_be_bytes(), &bytes)?;
            }
            Ok(Flow::More)
        })?;
        if flow != Flow::More {
            return Ok(flow);
        }
        self.sorted_batches((sorter, slots), ctx, row, visit)
    }

    /// Gives rows that were sorted to `visit`.
    fn sorted_batches(
        &self,
        (sorter, slots): (Sorter<'_>, &[BatchSlot]),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let (mut collected, mut tuple, mut flow) =
            (Collector::new(slots), Tuple::new(), Flow::More);
        let mut values = vec![Value::Null; row.len()];
        sorter.finish(false, |bytes| {
            decode_tuple(bytes, &mut tuple).ok_or_else(damaged_row)?;
            for (slot, value) in slots.iter().zip(tuple.drain(..)) {
                values[slot.slot] = value;
            }
            collected.rows.push_row(&values)?;
            flow = collected.give(false, ctx, row, visit)?;
            Ok(flow == Flow::More)
        })?;
        match flow {
            Flow::More => collected.give(true, ctx, row, visit),
            flow => Ok(flow),
        }
    }

    /// Reads the left side into partitions and joins these, in no order.
    fn joined_pairs(
        &self,
        spilled: &Spilled<'_, '_>,
        above: &KeyFilters<'_>,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let mut left = Partitions::new(self.workspace, Purpose::File, 0);
        let memory = blocks(self.workspace);
        let flow = self.read_left(spilled, (above, &mut left), ctx, row, visit)?;
        if flow != Flow::More {
            return Ok(flow);
        }
        let (left, _) = left.into_streams()?;
        drop(memory);
        let pairs = left.into_iter().map(Arc::new).zip(spilled.right.streams.iter().cloned());
        let mut queue: Vec<Pair<'_>> =
            pairs.map(|(left, right)| Pair { left, right, level: 1 }).collect();
        while let Some(pair) = queue.pop() {
            // Every row of the join has a left row, so right rows alone give nothing.
            if pair.left.records() == 0 {
                continue;
            }
            let mut reader = pair.right.reader();
            let loaded = spilled.load(&mut reader)?;
            if !loaded.all && pair.level < MAX_LEVELS {
                drop(loaded);
                queue.extend(spilled.split(&pair)?);
                continue;
            }
            match spilled.join_pair(&pair.left, (loaded, &mut reader), ctx, row, visit)? {
                Flow::More => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::More)
    }

    /// Puts the left side into partitions. Rows that can match nothing go to no file: an outer or
    /// an anti join gives them at once.
    fn read_left(
        &self,
        spilled: &Spilled<'_, '_>,
        (above, partitions): (&KeyFilters<'_>, &mut Partitions<'_>),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let (join, exprs, plan, _) = spilled.plan;
        let Some(mut keys) = Keys::of_left(exprs, plan, &[], ctx) else { return Ok(Flow::Unfit) };
        let nothing = BatchBuilder::new(spilled.right_slots()).take();
        let mut number = 0;
        let mut take = |ctx: &mut EvalContext<'_>, row: &mut Vec<Value>, batch: &mut Batch| {
            let found = keys.columns(batch, ctx, row)?;
            debug_assert!(found.is_some(), "the left side always has keys");
            let Some(found) = found else { return Ok(Flow::Unfit) };
            let KeyColumns { columns, hashes, absent } = found;
            for (slot, column) in spilled.keys.iter().zip(columns) {
                batch.put(slot.slot, column);
            }
            let rows = batch.rows();
            if let Some(slot) = spilled.number {
                batch.put(slot.slot, number_column((number..number + rows as i64).collect()));
                number += rows as i64;
            }
            let can_match = |row: usize| {
                let part = &spilled.right.streams[place_of(hashes[row], 0)];
                absent.get(row) != Some(&true) && part.records() > 0
            };
            let chosen: Vec<bool> = (0..rows).map(can_match).collect();
            let there = places(&chosen);
            spread((&*batch, &there, &hashes), &spilled.left_slots, (partitions, 0))?;
            if there.len() == rows || matches!(join.kind, JoinType::Inner | JoinType::Semi) {
                return Ok(Flow::More);
            }
            let alone: Vec<bool> = chosen.iter().map(|chosen| !chosen).collect();
            spilled.give_unmatched((batch, &nothing, &alone), ctx, row, visit)
        };
        let from = (&join.left, &plan.left);
        let operators = self.of_side(spilled.number.is_some());
        if self.threads > 1 {
            let divided = (from.0, from.1, self.threads);
            if let Some(flow) = operators.batches_of_threads(divided, ctx, row, &mut take)? {
                return Ok(flow);
            }
        }
        operators.batches(from, above, ctx, row, &mut take)
    }
}

/// The slots of a row behind its own.
fn keys_and_number(spilled: &Spilled<'_, '_>) -> usize {
    spilled.keys.len() + usize::from(spilled.number.is_some())
}

impl<'p, 'w> Spilled<'p, 'w> {
    /// The slots of the right side that go on.
    fn right_slots(&self) -> &[BatchSlot] {
        &self.right.slots[..self.right.slots.len() - self.keys.len()]
    }

    /// Reads rows of the right side until memory is used up.
    fn load(&self, reader: &mut StreamReader<'_, '_>) -> Result<Loaded<'w>> {
        let mut rows = BatchBuilder::new(self.right_slots());
        let mut index = RowIndex::new(self.keys.len());
        let mut dictionaries: Vec<_> = self.keys.iter().map(|_| Dictionary::default()).collect();
        let (mut memory, mut held) = (Grant::new(self.workspace), 0);
        let mut all = false;
        // At least one record is taken, so there is an end to the pieces.
        while index.is_empty()
            || (memory.allows(rows.held() + index.held() + held)
                && rows.rows() < NO_ROW as usize / 2)
        {
            let Some(record) = reader.next()? else {
                all = true;
                break;
            };
            let (batch, _) = read_rows(record, &self.right.slots)?;
            let (words, added) = add_right(&batch, &self.keys, &mut dictionaries);
            rows.append(&batch)?;
            index.add(&words);
            held += added;
        }
        index.seal();
        let bits = self.keys.iter().map(|_| None).collect();
        let build = HashBuild::new((rows.take(), index), bits, dictionaries, memory);
        Ok(Loaded { build, all })
    }

    /// Splits a partition of both sides.
    fn split(&self, pair: &Pair<'w>) -> Result<Vec<Pair<'w>>> {
        let side = |stream: &Stream<'_>, slots: &[BatchSlot]| -> Result<Vec<Stream<'w>>> {
            let mut partitions = Partitions::new(self.workspace, Purpose::File, pair.level);
            let _memory = blocks(self.workspace);
            let mut reader = stream.reader();
            while let Some(record) = reader.next()? {
                let (batch, _) = read_rows(record, slots)?;
                let all: Vec<u32> = (0..batch.rows() as u32).collect();
                let hashes = hashes(&batch, &self.keys);
                spread((&batch, &all, &hashes), slots, (&mut partitions, pair.level))?;
            }
            Ok(partitions.into_streams()?.0)
        };
        let left = side(&pair.left, &self.left_slots)?.into_iter().map(Arc::new);
        let right = side(&pair.right, &self.right.slots)?.into_iter().map(Arc::new);
        let level = pair.level + 1;
        Ok(left.zip(right).map(|(left, right)| Pair { left, right, level }).collect())
    }

    /// What looks rows up in those that are loaded.
    fn probe<'q>(&'q self, build: &'q HashBuild<'_>, ctx: &mut EvalContext<'_>) -> Probe<'q> {
        let (join, _, plan, _) = self.plan;
        let filters = Filters::new(&plan.on, &join.on, ctx);
        Probe::new((join.kind, plan, &self.out), build, filters)
    }

    /// Gives the chosen left rows, which have no match, to `visit`.
    fn give_unmatched(
        &self,
        (batch, right, chosen): (&Batch, &Batch, &[bool]),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let lefts = places(chosen);
        if lefts.is_empty() {
            return Ok(Flow::More);
        }
        let rights = vec![NO_ROW; lefts.len()];
        let mut joined = match self.plan.0.kind {
            JoinType::Left => gathered((batch, right, &self.out), (&lefts, &rights)),
            _ => gathered((batch, &Batch::default(), &self.out), (&lefts, &rights)),
        };
        visit(ctx, row, &mut joined)
    }
}

/// The hashes of keys that are columns of a batch.
fn hashes(batch: &Batch, keys: &[BatchSlot]) -> Vec<u64> {
    KeyColumns::hashes_of(keys.iter().filter_map(|key| batch.column(key.slot)), batch.rows())
}
