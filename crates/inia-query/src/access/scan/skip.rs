//! Entries of an index, group by group.
//!
//! A cursor finds the first entry of the next group; further ones find what is wanted of the group,
//! where that is not the first entry itself. Afterwards the least key above all of the group's is
//! where the next group is looked for:
//!
//! ```text
//!   key (a, b), MIN(b) where b > 3     seek -∞      1,1   the first group
//!                                      seek 1,>3    1,4   given
//!                                      seek >1      2,2   the next group
//! ```

use super::{KeyRange, KeyStream, Result, Standing, State, TableScan};
use crate::access::bounds::{self, Keys, Within};
use crate::access::run::FoundRun;
use crate::access::{Given, SkipPath};
use crate::catalog::Table;
use crate::error::{Damaged, StorageResult};
use crate::row::{IndexCodec, prefix_successor};
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::{Cursor, Direction, KeyBound, ReadMode, RecordRef, Tree, Txn};
use std::sync::Arc;

/// The entries of a path that goes from group to group.
pub(super) struct SkipReader {
    /// So many first parts of the key make a group.
    parts: usize,
    given: Given,
    /// Entries of a group are passed one by one.
    scans: bool,
    /// The ranges in which groups are looked for; the first one begins behind the last group.
    ranges: std::vec::IntoIter<KeyRange>,
    range: Option<KeyRange>,
    /// What is read of each group, as keys behind its first parts.
    within: Vec<Within>,
    /// The first parts of the group's keys.
    group: Vec<u8>,
    /// The key of the group's first entry, while the cursor stands there.
    first: Option<Vec<u8>>,
    /// How far the group has been read.
    next: Next,
    cursor: Option<Cursor>,
    begun: bool,
}

/// What is looked at next.
#[derive(Clone, Copy)]
enum Next {
    Group,
    /// A range of the group, by the number of its bounds and its own.
    Range(usize, usize),
    /// The further entries of that range.
    Rest(usize, usize),
    /// The greatest key within these bounds.
    Last(usize),
}

/// Begins to read a path; whether all bounds are exact.
pub(super) fn open(
    (table, index): (&Arc<Table>, usize),
    path: &SkipPath,
    mode: ReadMode,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<(State, bool)> {
    let bounds = bounds::compute(table, &path.groups, ctx, row)?;
    let Keys::Ranges(ranges) = bounds.keys else { return Err(SqlError::from(Damaged)) };
    let (within, exact) = bounds::within_groups(table, (index, path), ctx, row)?;
    let nothing = within.iter().all(|own| own.values.is_empty() && own.nulls.is_none());
    let ranges = if nothing { Vec::new() } else { ranges };
    // Entries that conditions refuse may not stand for others.
    let is_safe = exact || !path.leaves_rows_out();
    if !is_safe || mode != ReadMode::Snapshot {
        debug_assert!(mode == ReadMode::Snapshot, "locked rows are read one by one");
        return Ok((State::of_ranges(ranges), false));
    }
    let reader = SkipReader {
        parts: path.parts,
        given: path.given,
        scans: path.scans,
        ranges: ranges.into_iter(),
        range: None,
        within,
        group: Vec::new(),
        first: None,
        next: Next::Group,
        cursor: None,
        begun: false,
    };
    let state = State::Keys(KeyStream::Skipping(Box::new(reader)));
    Ok((state, exact && bounds.exact))
}

impl SkipReader {
    /// Whether nothing was read.
    pub(super) fn is_unread(&self) -> bool {
        !self.begun
    }

    /// The entry that the last move went to.
    pub(super) fn current(&self) -> Option<RecordRef<'_>> {
        self.cursor.as_ref()?.current()
    }

    /// The cursor of a range whose entries are all given.
    fn in_range(&mut self) -> Option<&mut Cursor> {
        self.cursor.as_mut().filter(|_| matches!(self.next, Next::Rest(..)))
    }

    /// The reader of the last run ends the scan before its last `rows`.
    pub(super) fn stop_before(&mut self, rows: u64) {
        if let Some(cursor) = &mut self.cursor {
            cursor.uncount(rows);
        }
    }

    /// Moves to the next entry that is given.
    fn advance(&mut self, (tree, codec): (&Tree, &IndexCodec), txn: &mut Txn) -> Result<bool> {
        self.begun = true;
        loop {
            let found = match self.next {
                Next::Group => {
                    if !self.find_group((tree, codec), txn)? {
                        return Ok(false);
                    }
                    self.next = Next::Range(0, 0);
                    false
                }
                Next::Range(bounds, range) => self.look((bounds, range), tree, txn)?,
                Next::Rest(bounds, range) => {
                    let more = self.move_on(txn)?;
                    if !more {
                        self.next = Next::Range(bounds, range + 1);
                    }
                    more
                }
                Next::Last(bounds) => {
                    self.next = Next::Range(bounds + 1, 0);
                    self.seek_last(bounds, tree, txn)?
                }
            };
            if found {
                return Ok(true);
            }
        }
    }

    /// Moves to the first entry of the next group; false where there is none.
    fn find_group(&mut self, (tree, codec): (&Tree, &IndexCodec), txn: &mut Txn) -> Result<bool> {
        loop {
            let begun = self.range.is_some();
            let Some(range) = self.range.take().or_else(|| self.ranges.next()) else {
                self.cursor = None;
                return Ok(false);
            };
            let is_empty = range.end.as_ref().is_some_and(|end| *end <= range.start);
            let found = match begun && self.scans {
                true => self.pass_group(txn)?,
                false => !is_empty && self.seek(tree, &range, Direction::Forward, txn)?,
            };
            if !found {
                continue;
            }
            let Some(record) = self.current() else { continue };
            let mut length = 0;
            for part in 0..self.parts {
                let rest = record.key.get(length..).ok_or(Damaged)?;
                length += codec.part_len(part, rest)?.0;
            }
            let key = record.key.to_vec();
            self.group.clear();
            self.group.extend_from_slice(key.get(..length).ok_or(Damaged)?);
            let mut start = self.group.clone();
            if prefix_successor(&mut start) {
                self.range = Some(KeyRange { start, ..range });
            }
            self.first = Some(key);
            return Ok(true);
        }
    }

    /// Moves behind the entries of the group, one by one; false where the range ends with it.
    fn pass_group(&mut self, txn: &mut Txn) -> Result<bool> {
        while self.move_on(txn)? {
            let is_same = |record: RecordRef<'_>| record.key.starts_with(&self.group);
            if !self.current().is_some_and(is_same) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A range behind the group's first parts as one of whole keys.
    fn whole(&self, range: &KeyRange) -> KeyRange {
        let start = [&self.group[..], &range.start].concat();
        let end = match &range.end {
            Some(end) => Some([&self.group[..], end].concat()),
            None => {
                let mut end = self.group.clone();
                prefix_successor(&mut end).then_some(end)
            }
        };
        KeyRange { start, end, last: None }
    }

    /// Looks at a range of the group; behind the last one follows what else is wanted.
    fn look(&mut self, (at, number): (usize, usize), tree: &Tree, txn: &mut Txn) -> Result<bool> {
        let Some(within) = self.within.get(at) else {
            self.next = Next::Group;
            return Ok(false);
        };
        let values = within.values.len();
        let backward = matches!(self.given, Given::Ends { least: false, .. });
        let range = match number < values {
            true if backward => &within.values[values - 1 - number],
            true => &within.values[number],
            false => match &within.nulls {
                Some(nulls) if number == values => nulls,
                _ => {
                    self.next = Next::Range(at + 1, 0);
                    return Ok(false);
                }
            },
        };
        let range = self.whole(range);
        let direction = match backward && number < values {
            true => Direction::Backward,
            false => Direction::Forward,
        };
        let stands = direction == Direction::Forward
            && self.first.as_ref().is_some_and(|first| range.holds(first));
        let found = stands || self.seek(tree, &range, direction, txn)?;
        self.next = match (found, self.given) {
            (false, _) => Next::Range(at, number + 1),
            (true, Given::All) if stands => {
                // The cursor's range does not end where this one does.
                self.seek(tree, &range, direction, txn)?;
                Next::Rest(at, number)
            }
            (true, Given::All) => Next::Rest(at, number),
            (true, Given::First) => Next::Group,
            (true, Given::Ends { least: true, greatest: true }) if number < values => {
                Next::Last(at)
            }
            (true, Given::Ends { .. }) => Next::Range(at + 1, 0),
        };
        Ok(found)
    }

    /// Moves to the entry with the greatest key of these bounds, which have one.
    fn seek_last(&mut self, at: usize, tree: &Tree, txn: &mut Txn) -> Result<bool> {
        for number in (0..self.within[at].values.len()).rev() {
            let range = self.whole(&self.within[at].values[number]);
            if self.seek(tree, &range, Direction::Backward, txn)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves to the first entry of a range, in this direction.
    fn seek(
        &mut self,
        tree: &Tree,
        range: &KeyRange,
        direction: Direction,
        txn: &mut Txn,
    ) -> Result<bool> {
        let lower = match range.start.as_slice() {
            [] => KeyBound::Unbounded,
            start => KeyBound::Included(start),
        };
        let upper = range.end.as_deref().map_or(KeyBound::Unbounded, KeyBound::Excluded);
        self.first = None;
        // The last cursor's memory serves the next one.
        self.cursor = None;
        let cursor = txn.cursor(tree, lower, upper, direction, ReadMode::Snapshot);
        let cursor = self.cursor.insert(cursor);
        cursor.count_as_ordered();
        cursor.advance(txn).sql()
    }

    /// Moves to the entry that follows in the range.
    fn move_on(&mut self, txn: &mut Txn) -> Result<bool> {
        match &mut self.cursor {
            Some(cursor) => cursor.advance(txn).sql(),
            None => Ok(false),
        }
    }
}

impl TableScan {
    /// Moves over entries at hand of the range that is read, and gives them.
    pub(super) fn run_of_groups(&mut self, txn: &mut Txn) -> Result<Option<FoundRun<'_>>> {
        let entries = self.secondary();
        let State::Keys(KeyStream::Skipping(reader)) = &mut self.state else { return Ok(None) };
        let Some(cursor) = reader.in_range() else { return Ok(None) };
        let Some(records) = cursor.run(txn).sql()? else { return Ok(None) };
        Ok(Some(FoundRun::of_records(records, entries, &mut self.key)))
    }

    /// Moves to the next entry of a path that goes from group to group.
    pub(super) fn next_of_groups(&mut self, txn: &mut Txn) -> Result<bool> {
        let secondary = self.secondary();
        self.standing = secondary.map_or(Standing::Record, Standing::Entry);
        let (Some(index), State::Keys(KeyStream::Skipping(reader))) =
            (self.path.index, &mut self.state)
        else {
            return Ok(false);
        };
        let tree = match secondary {
            Some(index) => &self.table.indexes[index].tree,
            None => &self.table.clustered,
        };
        reader.advance((tree, &self.table.indexes[index].codec), txn)
    }
}
