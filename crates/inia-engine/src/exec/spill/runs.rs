//! Sorted runs and their merge.

use super::stream::Scratch;
use super::{Purpose, Reader, Result, Stream, Workspace, keyed, split_keyed};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

/// The runs of one sorter, in one file.
pub(crate) struct Runs<'w> {
    scratch: Rc<Scratch<'w>>,
    streams: Vec<Stream<'w>>,
}

impl<'w> Runs<'w> {
    pub(crate) fn new(workspace: Workspace<'w>) -> Runs<'w> {
        Runs { scratch: Scratch::new(workspace, Purpose::File), streams: Vec::new() }
    }

    /// Appends a run.
    pub(crate) fn write<'r>(
        &mut self,
        sorted: impl Iterator<Item = (&'r [u8], &'r [u8])>,
    ) -> Result<()> {
        let mut stream = Stream::within(&self.scratch);
        for (key, row) in sorted {
            stream.push(|out| {
                keyed(key, out);
                out.extend_from_slice(row);
            })?;
        }
        stream.rest()?;
        self.streams.push(stream);
        Ok(())
    }

    /// Merges all runs; rows of equal keys come in the order of their runs.
    pub(crate) fn merge(
        self,
        distinct: bool,
        mut visit: impl FnMut(&[u8]) -> Result<bool>,
    ) -> Result<()> {
        let mut last: Option<Vec<u8>> = None;
        let streams: Vec<&Stream<'_>> = self.streams.iter().collect();
        merge(&streams, |key, row| {
            if distinct {
                if last.as_deref() == Some(key) {
                    return Ok(true);
                }
                last = Some(key.to_vec());
            }
            visit(row)
        })
    }
}

/// Merges sorted streams of keyed records; equal keys come in the order of the streams. `visit`
/// says whether it wants more.
pub(super) fn merge(
    streams: &[&Stream<'_>],
    mut visit: impl FnMut(&[u8], &[u8]) -> Result<bool>,
) -> Result<()> {
    let mut merge = Merge::new(streams)?;
    while let Some((key, row)) = merge.next()? {
        if !visit(key, row)? {
            break;
        }
    }
    Ok(())
}

/// A merge under way.
pub(super) struct Merge<'r, 'w> {
    readers: Vec<Reader<'r, 'w>>,
    heap: BinaryHeap<Reverse<(Vec<u8>, usize, Vec<u8>)>>,
    /// The record that was given last.
    current: Option<(Vec<u8>, usize, Vec<u8>)>,
}

impl<'r, 'w> Merge<'r, 'w> {
    pub(super) fn new(streams: &[&'r Stream<'w>]) -> Result<Merge<'r, 'w>> {
        let mut readers: Vec<_> = streams.iter().map(|stream| stream.reader()).collect();
        let mut heap = BinaryHeap::with_capacity(readers.len());
        for (number, reader) in readers.iter_mut().enumerate() {
            if let Some(record) = reader.next()? {
                let (key, row) = split_keyed(record)?;
                heap.push(Reverse((key.to_vec(), number, row.to_vec())));
            }
        }
        Ok(Merge { readers, heap, current: None })
    }

    /// The next record's key and row.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if let Some((mut key, number, mut row)) = self.current.take()
            && let Some(record) = self.readers[number].next()?
        {
            let (next_key, next_row) = split_keyed(record)?;
            key.clear();
            key.extend_from_slice(next_key);
            row.clear();
            row.extend_from_slice(next_row);
            self.heap.push(Reverse((key, number, row)));
        }
        self.current = self.heap.pop().map(|Reverse(record)| record);
        Ok(self.current.as_ref().map(|(key, _, row)| (&key[..], &row[..])))
    }
}
