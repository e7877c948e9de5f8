//! Tuples in the order in which they came: derived tables, common table expressions, rows that a
//! statement must have read before it changes any.

use super::Tuple;
use super::stream::split_record;
use super::values::{decode_tuple, encode_tuple};
use super::{Grant, Purpose, Result, Stream, Workspace, damaged, held};
use inia_base::value::Value;

/// A list of tuples: the first ones in memory, the others in a file.
pub(crate) struct TupleList<'w> {
    workspace: Workspace<'w>,
    kept: Vec<Tuple>,
    used: usize,
    memory: Grant<'w>,
    rest: Option<Stream<'w>>,
    /// The number of the first tuple in each extent of `rest`.
    firsts: Vec<u64>,
}

/// Where a reader of single tuples is: those near the last one are found at once.
pub(crate) struct TuplePosition {
    /// The extent in `block`.
    extent: usize,
    block: Vec<u8>,
    /// Where tuple `next` of the file begins in the block.
    at: usize,
    next: u64,
    /// The one before it.
    tuple: Tuple,
}

impl Default for TuplePosition {
    fn default() -> TuplePosition {
        TuplePosition { extent: usize::MAX, block: Vec::new(), at: 0, next: 0, tuple: Tuple::new() }
    }
}

impl<'w> TupleList<'w> {
    /// An empty list.
    pub(crate) fn new(workspace: Workspace<'w>) -> TupleList<'w> {
        TupleList {
            workspace,
            kept: Vec::new(),
            used: 0,
            memory: Grant::new(workspace),
            rest: None,
            firsts: Vec::new(),
        }
    }

    /// How many tuples there are.
    pub(crate) fn len(&self) -> u64 {
        self.kept.len() as u64 + self.rest.as_ref().map_or(0, Stream::records)
    }

    /// Appends a tuple.
    pub(crate) fn push(&mut self, tuple: &[Value]) -> Result<()> {
        let used = self.used + held(tuple) + size_of::<Tuple>();
        if self.rest.is_none() && self.memory.allows(used) {
            self.used = used;
            self.kept.push(tuple.to_vec());
            return Ok(());
        }
        let workspace = self.workspace;
        let rest = self.rest.get_or_insert_with(|| Stream::new(workspace, Purpose::Table));
        let number = rest.records();
        if rest.push(|out| encode_tuple(tuple, out))? {
            debug_assert!(self.firsts.last().is_none_or(|last| *last < number), "extents ascend");
            self.firsts.push(number);
        }
        Ok(())
    }

    /// The tuple with this number. Each reader has a place of its own, for one list.
    pub(crate) fn get<'l>(
        &'l self,
        number: u64,
        place: &'l mut TuplePosition,
    ) -> Result<&'l [Value]> {
        self.workspace.check()?;
        let Some(number) = number.checked_sub(self.kept.len() as u64) else {
            return Ok(&self.kept[number as usize]);
        };
        let rest = self.rest.as_ref().ok_or_else(damaged)?;
        if place.extent != usize::MAX && place.next == number + 1 {
            return Ok(&place.tuple);
        }
        let after = self.firsts.partition_point(|first| *first <= number);
        let extent = after.checked_sub(1).ok_or_else(damaged)?;
        if place.extent != extent || place.next > number {
            place.extent = usize::MAX;
            rest.load(extent, &mut place.block)?;
            (place.extent, place.at, place.next) = (extent, 0, self.firsts[extent]);
        }
        loop {
            let left = &place.block[place.at..];
            let (record, behind) = split_record(left).ok_or_else(damaged)?;
            place.at = place.block.len() - behind.len();
            place.next += 1;
            debug_assert!(place.next <= number + 1, "a reader does not pass its tuple");
            if place.next == number + 1 {
                decode_tuple(record, &mut place.tuple).ok_or_else(damaged)?;
                return Ok(&place.tuple);
            }
        }
    }

    /// Gives the tuples in order to `visit` until that wants no more.
    pub(crate) fn each(&self, mut visit: impl FnMut(&[Value]) -> Result<bool>) -> Result<()> {
        for tuple in &self.kept {
            self.workspace.check()?;
            if !visit(tuple)? {
                return Ok(());
            }
        }
        let Some(rest) = &self.rest else { return Ok(()) };
        let (mut reader, mut tuple) = (rest.reader(), Tuple::new());
        while let Some(record) = reader.next()? {
            decode_tuple(record, &mut tuple).ok_or_else(damaged)?;
            if !visit(&tuple)? {
                return Ok(());
            }
        }
        Ok(())
    }
}
