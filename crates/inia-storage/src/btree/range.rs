//! Short ranges of keys, read from one leaf without a copy of it.
//!
//! A cursor copies a leaf and stands on the copy. For the few records of one order or one customer
//! that copy is most of the work, so these are copied alone: the records between two keys are read
//! from the page itself, which is validated afterwards.

use super::descend::Stop;
use super::{BTree, Seek};
use crate::Result;
use crate::node::{self, HEADER_LEN, RecordHeader, SLOT_OVERFLOW};
use crate::store::Store;
use std::ops::Range;

/// Longer ranges are better copied with their leaf.
const MAX_RECORDS: usize = 64;

/// A record of a short range: its newest version, and where its key and payload are in the output.
#[derive(Clone, Debug)]
pub(crate) struct RangeEntry {
    pub(crate) header: RecordHeader,
    pub(crate) key: Range<usize>,
    pub(crate) payload: Range<usize>,
}

impl BTree {
    /// Reads the records from `start` to before `end`, and appends their keys and payloads to
    /// `out`. False, with nothing added, where they are not all in one leaf, too many, or not whole
    /// there, or where a writer came in between.
    pub(crate) fn get_range(
        &self,
        store: &Store,
        (start, end): (&[u8], &[u8]),
        out: &mut Vec<u8>,
        entries: &mut Vec<RangeEntry>,
    ) -> Result<bool> {
        let before = (out.len(), entries.len());
        let read = match self.try_range(store, (start, end), out, entries) {
            Ok(read) => read,
            Err(Stop::Restart) => false,
            Err(Stop::Failed(error)) => return Err(error),
        };
        if !read {
            out.truncate(before.0);
            entries.truncate(before.1);
        }
        Ok(read)
    }

    fn try_range(
        &self,
        store: &Store,
        (start, end): (&[u8], &[u8]),
        out: &mut Vec<u8>,
        entries: &mut Vec<RangeEntry>,
    ) -> std::result::Result<bool, Stop> {
        let Some(leaf) = self.descend(store, Seek::Covering(start), 0)? else { return Ok(false) };
        let page = &leaf.page;
        let (Ok(from) | Err(from)) = node::search(page, start);
        // A key that does not begin as all keys of the leaf is above them: it is above `start`.
        let prefix = node::prefix_len(page);
        let to = match start.get(..prefix).is_some_and(|prefix| end.starts_with(prefix)) {
            true => node::search(page, end).unwrap_or_else(|to| to),
            false => node::count(page),
        };
        let ends_here = to < node::count(page) || node::below_upper(page, end);
        if !ends_here || to > from + MAX_RECORDS {
            return Ok(false);
        }
        for i in from..to {
            let slot = node::slot(page, i);
            if slot.flags & SLOT_OVERFLOW != 0 {
                return Ok(false);
            }
            let key = out.len();
            node::append_to(page, page_lower(page), prefix, out);
            node::append_to(page, slot.offset, slot.key_len, out);
            let payload = out.len();
            node::append_to(page, slot.value_at() + HEADER_LEN, slot.payload_len(), out);
            entries.push(RangeEntry {
                header: node::header_at(page, slot.value_at()),
                key: key..payload,
                payload: payload..out.len(),
            });
        }
        page.validate()?;
        Ok(true)
    }
}

/// Where the bytes that all keys begin with are.
fn page_lower(page: &impl crate::page::PageRead) -> usize {
    page.u16_at(node::LOWER_OFF).into()
}
