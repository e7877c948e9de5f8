//! One session's temporary tables: they stand in front of the stored tables of the same name.
//!
//! Their rows are in trees like all others and belong to the session's transactions; their
//! definitions are seen by the session alone. Each also has a record in the catalog tree, which
//! names for the next start what to drop if this process ends without dropping them.
//!
//! A table that is dropped within an open transaction may have changes that a rollback still has
//! to undo, so its trees wait in `doomed` until the transaction has ended.

use super::partitions::MergeView;
use super::{Catalog, CatalogVersion, Change, FullName, Table, TableDef, drop_trees};
use crate::error::StorageResult;
use inia_base::error::SqlError;
use inia_base::ids::TreeId;
use inia_storage::{Isolation, Txn};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The temporary tables of a session.
#[derive(Default)]
pub struct TemporaryTables {
    tables: BTreeMap<FullName, Arc<Table>>,
    doomed: Vec<Arc<Table>>,
    /// The catalog with the temporary tables in it, and the version it was made of.
    overlaid: RefCell<Option<(u64, Arc<CatalogVersion>)>>,
    /// What the open transaction did that a rollback does not undo.
    pub created: bool,
    pub dropped: bool,
}

impl TemporaryTables {
    /// The temporary table of that name.
    pub fn get(&self, schema: &str, name: &str) -> Option<&Arc<Table>> {
        if self.tables.is_empty() {
            return None;
        }
        self.tables.get(&(schema.to_owned(), name.to_owned()))
    }

    /// The same tables for a program inside a statement.
    pub(crate) fn share(&self) -> TemporaryTables {
        TemporaryTables { tables: self.tables.clone(), ..TemporaryTables::default() }
    }

    /// Gives the tables back that [`TemporaryTables::share`] gave, if the program made or dropped
    /// some.
    pub(crate) fn give_back(&mut self) -> Option<TemporaryTables> {
        self.overlaid.take();
        let back = std::mem::take(self);
        (back.created || back.dropped).then_some(back)
    }

    /// Takes in what a program inside the statement made and dropped.
    pub(crate) fn adopt(&mut self, back: TemporaryTables) {
        self.overlaid.take();
        self.tables = back.tables;
        self.doomed.extend(back.doomed);
        self.created |= back.created;
        self.dropped |= back.dropped;
    }

    /// Whether there is nothing to look at and nothing to clear away.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.doomed.is_empty()
    }

    /// The catalog as the session sees it.
    pub(crate) fn over(&self, current: Arc<CatalogVersion>) -> Arc<CatalogVersion> {
        if self.tables.is_empty() {
            return current;
        }
        let mut overlaid = self.overlaid.borrow_mut();
        if let Some((number, version)) = &*overlaid
            && *number == current.number
        {
            return version.clone();
        }
        let mut version = CatalogVersion::clone(&current);
        for ((schema, name), table) in &self.tables {
            if let Some(schema) = version.schemas.get_mut(schema) {
                let schema = Arc::make_mut(schema);
                schema.tables.insert(name.clone(), table.clone());
                schema.views.remove(name);
            }
        }
        self.open_merged(&mut version);
        let version = Arc::new(version);
        *overlaid = Some((current.number, version.clone()));
        version
    }

    /// Merged tables have temporary tables among their children, or are temporary themselves.
    fn open_merged(&self, version: &mut CatalogVersion) {
        let own = self.tables.iter().filter(|(_, table)| table.def.union.is_some());
        let own = own.map(|(name, _)| name).filter(|name| !version.merged.contains(name));
        let own: Vec<FullName> = own.cloned().collect();
        if own.is_empty() && version.merged.is_empty() {
            return;
        }
        version.merged = version.merged.iter().cloned().chain(own).collect();
        version.open_merged(MergeView::Own);
    }

    /// Takes in what a committed change did.
    pub fn apply(&mut self, catalog: &Catalog, change: Change) {
        self.overlaid.take();
        match change {
            Change::PutTable(def) => {
                let name = (def.schema.clone(), def.name.clone());
                let table = Arc::new(runtime(catalog, def));
                let old = self.tables.insert(name, table);
                old.iter().for_each(|table| table.make_stale());
            }
            Change::DropTemporary { schema, name, .. } => {
                let old = self.tables.remove(&(schema, name));
                old.iter().for_each(|table| table.make_stale());
            }
            _ => {}
        }
    }

    /// Takes a table out of sight; its trees go when the transaction has ended.
    pub fn doom(&mut self, schema: &str, name: &str) {
        self.overlaid.take();
        if let Some(table) = self.tables.remove(&(schema.to_owned(), name.to_owned())) {
            table.make_stale();
            self.doomed.push(table);
        }
    }

    /// Drops the trees of doomed tables, and of all others where the session ends.
    pub fn bury(&mut self, catalog: &Catalog, all: bool) -> Result<(), SqlError> {
        if all {
            self.overlaid.take();
            self.doomed.extend(std::mem::take(&mut self.tables).into_values());
        }
        if self.doomed.is_empty() {
            return Ok(());
        }
        let doomed = std::mem::take(&mut self.doomed);
        let mut txn = catalog.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        for table in &doomed {
            drop_table(catalog, &mut txn, &table.def)?;
        }
        txn.commit().sql()?;
        doomed.iter().for_each(|table| catalog.forget(table.def.id));
        Ok(())
    }
}

/// The runtime handle of a temporary table; no other session can lock it.
fn runtime(catalog: &Catalog, def: TableDef) -> Table {
    let shared = catalog.shared(def.id);
    let store = catalog.store(&def).clone();
    Table::new(Arc::new(def), &store, Arc::default(), shared)
}

/// Drops a temporary table's trees and its record.
pub(super) fn drop_table(catalog: &Catalog, txn: &mut Txn, def: &TableDef) -> Result<(), SqlError> {
    if !def.is_volatile() {
        drop_trees(&catalog.engine, txn, def).sql()?;
    } else if def.clustered != TreeId(0) {
        let store = catalog.store(def);
        let mut own = store.attach();
        own.begin(Isolation::RepeatableRead);
        drop_trees(store, &mut own, def).and_then(|()| own.commit()).sql()?;
    }
    let (schema, name) = (def.schema.clone(), def.name.clone());
    catalog.write(txn, &Change::DropTemporary { schema, name, id: def.id })
}
