//! The first record of each key.

use super::{ENTRY, Grant, Partitions, Purpose, Result, Workspace, keyed, split_keyed};
use std::collections::HashSet;

/// Knows the keys that came first while memory lasted; records of other keys are put aside.
pub(crate) struct Distinct<'w> {
    workspace: Workspace<'w>,
    seen: HashSet<Box<[u8]>>,
    used: usize,
    memory: Grant<'w>,
    level: u32,
    aside: Option<Partitions<'w>>,
}

impl<'w> Distinct<'w> {
    pub(crate) fn new(workspace: Workspace<'w>) -> Distinct<'w> {
        Distinct::at_level(workspace, 0)
    }

    fn at_level(workspace: Workspace<'w>, level: u32) -> Distinct<'w> {
        let memory = Grant::new(workspace);
        Distinct { workspace, seen: HashSet::new(), used: 0, memory, level, aside: None }
    }

    /// True where the key is seen for the first time. False where it was seen before, or where
    /// that will be known later: then the payload comes out of [`Distinct::rest`].
    pub(crate) fn offer(&mut self, key: &[u8], payload: impl FnOnce(&mut Vec<u8>)) -> Result<bool> {
        if self.seen.contains(key) {
            return Ok(false);
        }
        let used = self.used + key.len() + ENTRY;
        if self.aside.is_none() && (self.memory.allows(used) || self.seen.is_empty()) {
            self.used = used;
            self.seen.insert(key.into());
            return Ok(true);
        }
        let (workspace, level) = (self.workspace, self.level);
        let table = || Partitions::new(workspace, Purpose::Table, level);
        self.aside.get_or_insert_with(table).push(key, |out| {
            keyed(key, out);
            payload(out);
        })?;
        Ok(false)
    }

    /// Gives the payloads of the keys that are left to `visit` until that wants no more.
    pub(crate) fn rest(self, visit: &mut dyn FnMut(&[u8]) -> Result<bool>) -> Result<()> {
        let Distinct { workspace, aside, .. } = self;
        let mut queue = Vec::new();
        if let Some(aside) = aside {
            let (streams, level) = aside.into_streams()?;
            queue.extend(streams.into_iter().map(|stream| (stream, level + 1)));
        }
        while let Some((stream, level)) = queue.pop() {
            let mut pass = Distinct::at_level(workspace, level);
            let mut reader = stream.reader();
            while let Some(record) = reader.next()? {
                let (key, payload) = split_keyed(record)?;
                if pass.offer(key, |out| out.extend_from_slice(payload))? && !visit(payload)? {
                    return Ok(());
                }
            }
            if let Some(aside) = pass.aside {
                let (streams, level) = aside.into_streams()?;
                queue.extend(streams.into_iter().map(|stream| (stream, level + 1)));
            }
        }
        Ok(())
    }
}
