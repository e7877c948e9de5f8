//! Fills a tree with records that come in any order.

use inia_base::error::SqlError;
use inia_base::ids::TreeId;
use inia_query::error::StorageResult;
use inia_query::interrupt::Interrupt;
use inia_query::spill::{RecordChunk, RecordSorter, Workspace};
use inia_storage::{Engine, Tree, Txn};

/// Sorts a tree's records in little memory, and fills the tree from the bottom up.
pub(super) struct Filler<'w> {
    /// The table's name.
    table: &'w str,
    pub(super) tree: Tree,
    sorter: RecordSorter<'w>,
}

/// A key that two records share: the value of the second.
pub(super) struct Duplicate(pub(super) Vec<u8>, pub(super) Vec<u8>);

impl<'w> Filler<'w> {
    /// Fillers of these trees, which share the memory for building.
    pub(super) fn of(
        (workspace, store): (Workspace<'w>, &Engine),
        table: &'w str,
        trees: &[TreeId],
    ) -> Vec<Filler<'w>> {
        let budget = workspace.budget / trees.len().max(1);
        let filler = |tree: &TreeId| Filler {
            table,
            tree: store.tree(*tree),
            sorter: RecordSorter::new(workspace.with_budget(budget)),
        };
        trees.iter().map(filler).collect()
    }

    /// Takes a record.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), SqlError> {
        self.sorter.push(key, value)
    }

    /// Takes records that are sorted.
    pub(super) fn push_sorted(&mut self, chunk: RecordChunk) -> Result<(), SqlError> {
        self.sorter.push_sorted(chunk)
    }

    /// Fills the tree, up to the second record of a key if there is one. A partial fill cannot be
    /// rolled back, only the creation of its tree.
    pub(super) fn finish(
        self,
        txn: &mut Txn,
        interrupt: Interrupt<'_>,
    ) -> Result<Option<Duplicate>, SqlError> {
        let Filler { table, tree, sorter } = self;
        sorter.finish(|sorted| {
            let mut load = txn.bulk_load(&tree).sql_for(table)?;
            let mut last: Option<Vec<u8>> = None;
            while let Some((key, value)) = sorted.next()? {
                interrupt.check()?;
                if last.as_deref() == Some(key) {
                    return Ok(Some(Duplicate(key.to_vec(), value.to_vec())));
                }
                let last = last.get_or_insert_default();
                last.clear();
                last.extend_from_slice(key);
                load.push(key, value).sql_for(table)?;
            }
            load.finish().sql_for(table)?;
            Ok(None)
        })
    }
}
