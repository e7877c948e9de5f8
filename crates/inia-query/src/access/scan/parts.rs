//! A scan of several partitions: one after the other, or merged in the order of an index.
//!
//! The scan is always that of one partition; behind it are the partitions that follow, or those
//! that are read beside it. A move that finds no row goes on in the next partition. To merge, each
//! partition has a scan of its own that stands on its next row, and the one with the least key
//! changes places with the scan.
//!
//! The children of a merged table are read in the same ways. They may have the same keys, of which
//! those of the first child come first; of a key of a unique index that is looked for one row is
//! given, although several children may have it.

use super::{Batch, FIRST_BATCH, FoundRow, LastMove, Path, Result, Standing, State, TableScan};
use crate::access::bounds::{self, KeyRange, Keys};
use crate::access::{AccessPath, partitions};
use crate::catalog::Table;
use crate::error::Damaged;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::{Direction, ReadMode, Txn};
use std::sync::Arc;

/// The other partitions of a scan.
pub(super) struct Parts {
    /// The table.
    whole: Arc<Table>,
    /// The leaves that follow.
    rest: std::vec::IntoIter<usize>,
    /// What is read of each.
    keys: Keys,
    /// The scans beside this one, each with the key of its next row; `None` where partitions
    /// follow one another.
    beside: Option<Vec<(TableScan, Vec<u8>)>>,
    /// Before the first move of a merge.
    begun: bool,
    /// The key of the row that the scan stands on, followed by its leaf's number.
    located: Vec<u8>,
    /// Of a unique index of a merged table: the key of the last row that was given.
    single: Option<Vec<u8>>,
    /// Whole keys are looked for, not ranges of them.
    whole_keys: bool,
}

impl Parts {
    /// Whether several partitions are merged.
    pub(super) fn merges(&self) -> bool {
        self.beside.is_some()
    }
}

/// Begins a scan of the partitions that a path reads.
#[cold]
pub(super) fn open(
    table: &Arc<Table>,
    path: &AccessPath,
    mode: ReadMode,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<TableScan> {
    let leaves = partitions::leaves_of(table, path, ctx, row)?;
    let bounds = bounds::compute(table, path, ctx, row)?;
    let mut keys = bounds.keys;
    if let Keys::Ranges(ranges) = &mut keys
        && path.backward
    {
        ranges.reverse();
    }
    let way = Path {
        index: path.index,
        covering: path.covering && !super::is_exclusive(mode) && has_same_entries(table, path),
        direction: if path.backward { Direction::Backward } else { Direction::Forward },
        exact: bounds.exact,
    };
    let ordered = path.partitions.as_ref().is_some_and(|paths| paths.ordered);
    let mut scan = by_leaves(table, (way, mode), keys, leaves, ordered)?;
    if let (Some(parts), Some(index)) = (&mut scan.parts, path.index) {
        parts.whole_keys = path.equal.len() >= table.def.indexes[index].parts.len();
    }
    Ok(scan)
}

/// Whether the leaves' entries of a path's index are of the form that the table's index says: a
/// child of a merged table may have a unique index where the table's is not, or the other way.
fn has_same_entries(table: &Table, path: &AccessPath) -> bool {
    let (Some(index), true) = (path.index, table.united().is_some()) else { return true };
    let refuses = table.def.indexes[index].refuses();
    table.stored().into_iter().all(|leaf| leaf.def.indexes[index].refuses() == refuses)
}

/// A consistent read of one range of an index in all partitions, in the index's order.
pub(super) fn merged(table: &Arc<Table>, way: Path, range: KeyRange) -> Result<TableScan> {
    let partitions = table.partitions.as_ref().ok_or(Damaged)?;
    let leaves = (0..partitions.leaves().len()).filter(|leaf| partitions.is_selected(*leaf));
    let keys = Keys::Ranges(vec![range]);
    by_leaves(table, (way, ReadMode::Snapshot), keys, leaves.collect(), true)
}

fn by_leaves(
    table: &Arc<Table>,
    (way, mode): (Path, ReadMode),
    mut keys: Keys,
    leaves: Vec<usize>,
    mut ordered: bool,
) -> Result<TableScan> {
    let partitions = table.partitions.as_ref().ok_or(Damaged)?;
    let mut single = None;
    if let (Some(index), Some(_)) = (way.index, partitions.united()) {
        ordered = true;
        single = table.def.indexes[index].unique().then(Vec::new);
        if let Keys::Point(key) = keys {
            keys = Keys::Ranges(vec![KeyRange::prefix(key)]);
        }
    }
    let several = leaves.len() > 1 || single.is_some();
    let mut rest = leaves.into_iter();
    let (first, state) = match rest.next() {
        Some(leaf) => (leaf, state(&keys)),
        None => (0, State::of_ranges(Vec::new())),
    };
    let first = partitions.leaves().get(first).unwrap_or(table);
    let mut scan = TableScan::by(first, way, mode, state);
    scan.parts = Some(Box::new(Parts {
        whole: table.clone(),
        rest,
        keys,
        beside: (ordered && several).then(Vec::new),
        begun: false,
        located: Vec::new(),
        single,
        whole_keys: false,
    }));
    Ok(scan)
}

fn state(keys: &Keys) -> State {
    match keys {
        Keys::Point(key) => State::Point(Some(key.clone())),
        Keys::Ranges(ranges) => State::of_ranges(ranges.clone()),
        Keys::Once(ranges) => State::once(ranges.clone()),
    }
}

impl TableScan {
    /// Whether several partitions are merged: then rows come one by one.
    pub(super) fn merges(&self) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.merges())
    }

    /// Moves to the next row of any partition.
    #[cold]
    pub(super) fn step_parts(&mut self, txn: &mut Txn) -> Result<bool> {
        let moved = match self.merges() {
            true => loop {
                let moved = self.step_merged(txn)?;
                if !moved || !self.is_repeated()? {
                    break moved;
                }
            },
            false => loop {
                if self.step_own(txn)? {
                    break true;
                }
                if self.last.paused || !self.open_next_part() {
                    break false;
                }
            },
        };
        if moved {
            self.locate()?;
        }
        Ok(moved)
    }

    /// Goes on in the partition that follows; false where there is none.
    fn open_next_part(&mut self) -> bool {
        let Some(parts) = &mut self.parts else { return false };
        let Some(leaf) = parts.rest.next() else { return false };
        let Some(partitions) = &parts.whole.partitions else { return false };
        self.table = partitions.leaf(leaf).clone();
        self.state = state(&parts.keys);
        self.standing = Standing::Record;
        self.batch = Batch { size: FIRST_BATCH, ..Batch::default() };
        self.last = LastMove::default();
        true
    }

    /// Notes where the row is that the scan stands on.
    fn locate(&mut self) -> Result<()> {
        let mut located = match &mut self.parts {
            Some(parts) => std::mem::take(&mut parts.located),
            None => return Ok(()),
        };
        located.clear();
        if let Some(found) = self.own_row()? {
            located.extend_from_slice(found.clustered_key);
        }
        located.extend_from_slice(&(self.table.leaf as u32).to_be_bytes());
        if let Some(parts) = &mut self.parts {
            parts.located = located;
        }
        Ok(())
    }

    /// The row that the last move went to, with its leaf's number behind its key.
    #[cold]
    pub(super) fn located_row(&self) -> Result<Option<FoundRow<'_>>> {
        let found = self.own_row()?;
        let Some(parts) = &self.parts else { return Ok(found) };
        Ok(found.map(|found| FoundRow { clustered_key: &parts.located, ..found }))
    }

    fn step_merged(&mut self, txn: &mut Txn) -> Result<bool> {
        let Some(mut parts) = self.parts.take() else { return Ok(false) };
        let moved = self.merge(&mut parts, txn);
        self.parts = Some(parts);
        moved
    }

    fn merge(&mut self, parts: &mut Parts, txn: &mut Txn) -> Result<bool> {
        let Parts { whole, rest, keys, beside: Some(beside), begun, .. } = parts else {
            return Ok(false);
        };
        let united = whole.united().is_some();
        if !std::mem::replace(begun, true) {
            let partitions = whole.partitions.as_ref().ok_or(Damaged)?;
            for leaf in rest {
                let mut scan =
                    TableScan::by(partitions.leaf(leaf), self.path, self.mode, state(keys));
                (scan.narrow, scan.locks) = (self.narrow, self.locks);
                if scan.step_own(txn)? {
                    let key = scan.order_key(united)?;
                    beside.push((scan, key));
                }
            }
        }
        let own = self.step_own(txn)?;
        let key = if own { Some(self.order_key(united)?) } else { None };
        let backward = self.path.is_backward();
        let first = beside.iter().enumerate().reduce(|best, next| {
            match (next.1.1 < best.1.1) != backward && next.1.1 != best.1.1 {
                true => next,
                false => best,
            }
        });
        let Some((at, (_, least))) = first else { return Ok(own) };
        match &key {
            Some(key) if key == least || (key < least) != backward => Ok(true),
            Some(_) => {
                std::mem::swap(self, &mut beside[at].0);
                beside[at].1 = key.unwrap_or_default();
                Ok(true)
            }
            None => {
                let (scan, _) = beside.swap_remove(at);
                *self = scan;
                Ok(true)
            }
        }
    }

    /// The key by which partitions are merged, of the row that the scan stands on. Where children
    /// of a merged table are `united`, rows of one key follow each other in the order of children.
    fn order_key(&self, united: bool) -> Result<Vec<u8>> {
        if united {
            let (mut key, _) = self.declared_key()?;
            key.extend_from_slice(&(self.table.leaf as u32).to_be_bytes());
            return Ok(key);
        }
        self.entry_key()
    }

    fn entry_key(&self) -> Result<Vec<u8>> {
        let Some(found) = self.own_row()? else { return Err(SqlError::from(Damaged)) };
        let Some(index) = self.secondary() else { return Ok(found.clustered_key.to_vec()) };
        let codec = &self.table.indexes[index].codec;
        let mut key = Vec::new();
        match found.data {
            super::RowData::Entry { key, .. } => return Ok(key.to_vec()),
            super::RowData::Row(row) => {
                let cell = |column| self.table.layout.cell(row, column);
                codec.put_entry_key(cell, found.clustered_key, &mut key)?;
            }
        }
        Ok(key)
    }

    /// The declared parts of the key that the scan stands on, and whether one of them is NULL.
    fn declared_key(&self) -> Result<(Vec<u8>, bool)> {
        let (mut key, mut ends) = (self.entry_key()?, Vec::new());
        let Some(index) = self.secondary() else { return Ok((key, false)) };
        let parts = self.table.def.indexes[index].parts.len();
        let null = self.table.indexes[index].codec.part_ends(&key, parts, &mut ends)?;
        key.truncate(ends.last().copied().unwrap_or(0));
        Ok((key, null.is_some()))
    }

    /// Whether the row has the key of the one before it, where one row of the key is looked for.
    fn is_repeated(&mut self) -> Result<bool> {
        if self.parts.as_ref().is_none_or(|parts| parts.single.is_none()) {
            return Ok(false);
        }
        let (key, null) = self.declared_key()?;
        let Some(parts) = &mut self.parts else { return Ok(false) };
        let is_key = |range: &KeyRange| range.start == key && range.is_equality();
        let looked_for = match &parts.keys {
            Keys::Ranges(ranges) => parts.whole_keys || ranges.iter().any(is_key),
            _ => false,
        } && !null;
        let repeated = looked_for && parts.single.as_ref() == Some(&key);
        parts.single = Some(key);
        Ok(repeated)
    }
}
