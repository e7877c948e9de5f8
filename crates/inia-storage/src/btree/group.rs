//! Lookups of several keys at once.
//!
//! A lookup in a large tree waits for memory again and again: for the leaf's header, its slots, the
//! record. Each step runs for a whole group of keys before the next one, and prefetches what the
//! next step reads, so that the waits overlap:
//!
//! ```text
//!   every key:  inner nodes → leaf            prefetches the leaf's header
//!   every key:  header → range of slots       prefetches those slots
//!   every key:  slots → record                prefetches the record
//!   every key:  copies the record, validates its leaf
//! ```

use super::descend::Stop;
use super::{BTree, Seek};
use crate::Result;
use crate::buffer::OptimisticPage;
use crate::node::{self, HEADER_LEN, RecordHeader, SLOT_OVERFLOW, SLOT_SIZE, SLOTS, is_node_of};
use crate::page::CACHE_LINE;
use crate::store::Store;
use std::ops::Range;

/// Keys that are looked up together: about as many as a core can wait for at a time.
pub(crate) const GROUP: usize = 16;

/// What a lookup in a group found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// No record.
    Absent,
    /// The newest version, its payload's place in the output.
    Record(RecordHeader, Range<usize>),
    /// A writer got in between, or the record needs more than its leaf: look up this key singly.
    Single,
}

/// How far a key's lookup has come.
#[derive(Clone, Copy)]
enum Step<'s> {
    Leaf(OptimisticPage<'s>),
    Record(OptimisticPage<'s>, node::Slot),
    Absent,
    Single,
}

impl BTree {
    /// Looks up to [`GROUP`] keys up and appends the payloads found to `out`.
    pub(crate) fn get_group(
        &self,
        store: &Store,
        keys: &[&[u8]],
        out: &mut Vec<u8>,
    ) -> Result<[Lookup; GROUP]> {
        debug_assert!(keys.len() <= GROUP);
        let mut steps = [Step::Single; GROUP];
        for (step, key) in steps.iter_mut().zip(keys) {
            *step = self.approach(store, key)?;
        }
        for (step, key) in steps.iter().zip(keys) {
            if let Step::Leaf(leaf) = step {
                let (low, high) = node::likely_slots(leaf, key);
                leaf.prefetch(SLOTS + low * SLOT_SIZE);
                leaf.prefetch(SLOTS + high * SLOT_SIZE);
            }
        }
        for (step, key) in steps.iter_mut().zip(keys) {
            if let Step::Leaf(leaf) = *step {
                *step = self.locate(leaf, key);
            }
        }
        let mut found = [const { Lookup::Single }; GROUP];
        for (step, found) in steps[..keys.len()].iter().zip(&mut found) {
            *found = take(step, out);
        }
        Ok(found)
    }

    /// Finds a key's leaf and prefetches its header.
    fn approach<'s>(&self, store: &'s Store, key: &[u8]) -> Result<Step<'s>> {
        let parent = match self.descend(store, Seek::Covering(key), 1) {
            Ok(Some(parent)) => parent.page,
            Ok(None) | Err(Stop::Restart) => return Ok(Step::Single),
            Err(Stop::Failed(error)) => return Err(error),
        };
        let child = node::child(&parent, node::child_slot(&parent, key));
        if parent.validate().is_err() {
            return Ok(Step::Single);
        }
        let leaf = store.optimistic(child)?;
        if parent.validate().is_err() {
            return Ok(Step::Single);
        }
        for at in (0..SLOTS).step_by(CACHE_LINE) {
            leaf.prefetch(at);
        }
        Ok(Step::Leaf(leaf))
    }

    /// Finds the key's slot and prefetches its record.
    fn locate<'s>(&self, leaf: OptimisticPage<'s>, key: &[u8]) -> Step<'s> {
        if !is_node_of(&leaf, self.root) || node::level(&leaf) != 0 {
            return Step::Single;
        }
        let found = node::search(&leaf, key);
        let slot = found.map(|i| node::slot(&leaf, i));
        if leaf.validate().is_err() {
            return Step::Single;
        }
        let Ok(slot) = slot else { return Step::Absent };
        let (start, end) = (slot.value_at(), slot.value_at() + slot.value_len);
        for at in (start & !(CACHE_LINE - 1)..end).step_by(CACHE_LINE) {
            leaf.prefetch(at);
        }
        Step::Record(leaf, slot)
    }
}

/// Copies a record that was found.
fn take(step: &Step<'_>, out: &mut Vec<u8>) -> Lookup {
    let (leaf, slot) = match step {
        Step::Record(leaf, slot) => (leaf, slot),
        Step::Absent => return Lookup::Absent,
        Step::Leaf(_) | Step::Single => return Lookup::Single,
    };
    if slot.flags & SLOT_OVERFLOW != 0 {
        return Lookup::Single;
    }
    let start = out.len();
    let header = node::header_at(leaf, slot.value_at());
    node::append_to(leaf, slot.value_at() + HEADER_LEN, slot.payload_len(), out);
    if leaf.validate().is_err() {
        out.truncate(start);
        return Lookup::Single;
    }
    Lookup::Record(header, start..out.len())
}
