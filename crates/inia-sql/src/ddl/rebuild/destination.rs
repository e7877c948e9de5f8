//! Where copied rows go: the trees of a table, or those of its partitions.

use super::new_trees::NewTrees;
use inia_base::error::SqlError;
use inia_base::io::Disk;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_query::catalog::{Table, TableDef};
use inia_query::context::SessionContext;
use inia_query::interrupt::Interrupt;
use inia_query::row::Cell;
use inia_storage::Txn;
use std::sync::Arc;

/// A new definition's handle, which finds the partitions of rows.
pub(in super::super) struct NewTable {
    table: Table,
    defs: Vec<TableDef>,
}

impl NewTable {
    /// Of a definition that has its trees.
    pub(in super::super) fn of(session: &SessionContext, def: &TableDef) -> NewTable {
        let store = session.db.catalog().store(def);
        let defs = match &def.partitioning {
            Some(by) => by.leaves().map(|leaf| def.of_leaf(leaf)).collect(),
            None => vec![def.clone()],
        };
        let table = Table::new(Arc::new(def.clone()), store, Arc::default(), Arc::default());
        NewTable { table, defs }
    }
}

/// New trees, those of each partition by its number.
pub(in super::super) struct Destination<'n> {
    new: &'n NewTable,
    zone: &'n TimeZone,
    /// `None` for partitions that stay as they are.
    trees: Vec<Option<NewTrees<'n>>>,
}

impl<'n> Destination<'n> {
    /// Trees without rows of these partitions; records are sorted on `disk`.
    pub(in super::super) fn new(
        session: &'n SessionContext,
        new: &'n NewTable,
        zone: &'n TimeZone,
        (disk, interrupt): (&'n dyn Disk, Interrupt<'n>),
        is_fresh: impl Fn(usize) -> bool,
    ) -> Destination<'n> {
        let share = (0..new.defs.len()).filter(|leaf| is_fresh(*leaf)).count().max(1);
        let trees = |(leaf, def): (usize, &'n TableDef)| {
            let made = || NewTrees::new(session, def, zone, (disk, interrupt), share);
            is_fresh(leaf).then(made)
        };
        Destination { new, zone, trees: new.defs.iter().enumerate().map(trees).collect() }
    }

    /// Adds a row; error 1526 where no partition takes it.
    pub(in super::super) fn push(
        &mut self,
        row: &[Value],
        kept: Option<&[u8]>,
    ) -> Result<(), SqlError> {
        let mut leaf = 0;
        if let Some(partitions) = &self.new.table.partitions {
            let types = &self.new.table.def.columns;
            let cell = |c: usize| Ok(Cell::of(&row[c], &types[c].data_type, self.zone));
            leaf = partitions.leaf_of(cell)?;
        }
        match &mut self.trees[leaf] {
            Some(trees) => trees.push(row, kept),
            None => Err(inia_query::error::Damaged.into()),
        }
    }

    /// Fills the trees.
    pub(in super::super) fn finish(
        self,
        txn: &mut Txn,
        interrupt: Interrupt<'_>,
    ) -> Result<(), SqlError> {
        self.trees.into_iter().flatten().try_for_each(|trees| trees.finish(txn, interrupt))
    }
}
