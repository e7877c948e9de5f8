//! Merged tables at run time: their leaves are their children.
//!
//! A merged table is read and written by a handle that has its children as leaves, each as the
//! handle of that child's trees, so that rows are found, locked and counted where the child keeps
//! them. The handle is made anew when a child comes, changes or goes: for tables that all sessions
//! see with the catalog's version, for temporary ones with the session's view of that version.

use super::{LeafRule, PartitionSet, Partitions};
use crate::catalog::{CatalogVersion, MergeInsert, Table, TableId};
use inia_base::error::{ErrorCode, SqlError};
use std::sync::Arc;

/// What is known of a merged table's children.
pub(crate) struct United {
    /// The leaf that takes new rows.
    insert: Option<usize>,
    /// The children's own handles.
    children: Vec<Arc<Table>>,
    /// The first child that is not there or has another form, as CHECK TABLE names it.
    misfit: Option<String>,
    /// The handle of which this one is the opened form.
    unopened: Arc<Table>,
}

/// Whose view of the catalog a version is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::catalog) enum View {
    /// That of all sessions.
    Shared,
    /// That of a session with temporary tables.
    Own,
}

impl United {
    /// The leaf that takes new rows; error 1036 where none does.
    pub(crate) fn insert(&self, table: &Table) -> Result<usize, SqlError> {
        let refused = || SqlError::new(ErrorCode::OpenAsReadonly, &[&table.def.name]);
        self.insert.ok_or_else(refused)
    }

    /// Whether the table or a child has been replaced since.
    pub(crate) fn is_stale(&self) -> bool {
        self.unopened.is_stale() || self.children.iter().any(|child| child.is_stale())
    }

    /// Whether the children are those that a version has.
    fn is_of(&self, children: &[Option<&Arc<Table>>]) -> bool {
        let known = self.children.iter().map(Some).chain(std::iter::repeat(None));
        let same = |(a, b): (&Option<&Arc<Table>>, Option<&Arc<Table>>)| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        self.misfit.is_none() && children.iter().zip(known).all(same)
    }
}

impl Table {
    /// What is known of its children, of a merged table.
    pub(crate) fn united(&self) -> Option<&United> {
        self.partitions.as_ref().and_then(|partitions| partitions.united())
    }

    /// The children whose rows a merged table has.
    pub fn children(&self) -> &[Arc<Table>] {
        self.united().map_or(&[], |united| &united.children)
    }

    /// Whether rows of the one table are rows of the other, too.
    pub(crate) fn shares_rows(&self, other: &Table) -> bool {
        let ids = |table: &'_ Table| -> Vec<TableId> {
            table.children().iter().map(|child| child.def.id).collect()
        };
        if self.def.id == other.def.id {
            return true;
        }
        if self.united().is_none() && other.united().is_none() {
            return false;
        }
        let (own, others) = (ids(self), ids(other));
        own.contains(&other.def.id)
            || others.contains(&self.def.id)
            || own.iter().any(|child| others.contains(child))
    }

    /// The temporary child of one of two tables that the other is, or has as a child, too.
    pub(crate) fn shared_temporary(&self, other: &Table) -> Option<&str> {
        let own = std::iter::once(self).chain(self.children().iter().map(|child| &**child));
        let mut own = own.filter(|table| table.def.temporary);
        let is_read = |table: &Table| {
            let mut others = other.children().iter();
            other.def.id == table.def.id || others.any(|child| child.def.id == table.def.id)
        };
        own.find(|table| is_read(table)).map(|table| table.def.name.as_str())
    }

    /// Error 1168 where a merged table has a child that does not fit.
    #[inline]
    pub fn check_children(&self) -> Result<(), SqlError> {
        match self.def.union.is_some() {
            true => self.check_united(),
            false => Ok(()),
        }
    }

    #[cold]
    fn check_united(&self) -> Result<(), SqlError> {
        match self.misfit() {
            Some(_) => Err(SqlError::new(ErrorCode::WrongMrgTable, &[])),
            None => Ok(()),
        }
    }

    /// The first child of a merged table that does not fit.
    pub fn misfit(&self) -> Option<&str> {
        self.united()?.misfit.as_deref()
    }

    /// The handle that reads and writes the children of a merged table; `None` where the present
    /// one does so already, or the table is not a merged one.
    pub(in crate::catalog) fn opened(
        self: &Arc<Table>,
        version: &CatalogVersion,
        view: View,
    ) -> Option<Arc<Table>> {
        let union = self.def.union.as_deref()?;
        let child = |(schema, name): &(String, String)| {
            let found = version.schemas.get(schema).and_then(|schema| schema.tables.get(name));
            found.filter(|child| self.def.unites(&child.def))
        };
        let found: Vec<Option<&Arc<Table>>> = union.tables.iter().map(child).collect();
        if self.united().is_some_and(|united| united.is_of(&found)) {
            return None;
        }
        let misfit = found.iter().position(Option::is_none).map(|at| {
            let (schema, name) = &union.tables[at];
            format!("{schema}.{name}")
        });
        let children: Vec<Arc<Table>> = match misfit {
            Some(_) => Vec::new(),
            None => found.into_iter().flatten().cloned().collect(),
        };
        let leaf = |(number, child): (usize, &Arc<Table>)| {
            let (mdl, shared) = (child.mdl.clone(), child.shared.clone());
            let leaf = Table::new(child.def.clone(), &child.store, mdl, shared);
            Arc::new(leaf.with_leaf(number))
        };
        let leaves: Vec<Arc<Table>> = children.iter().enumerate().map(leaf).collect();
        let insert = match union.insert {
            MergeInsert::No => None,
            MergeInsert::First => leaves.first().map(|_| 0),
            MergeInsert::Last => leaves.len().checked_sub(1),
        };
        let unopened = match (self.united(), view) {
            (Some(united), View::Shared) => united.unopened.clone(),
            _ => self.clone(),
        };
        let rule = LeafRule::United(United { insert, children, misfit, unopened });
        let set = Arc::new(PartitionSet { leaves, rule });
        let partitions = Partitions { set, selected: None, base: None };
        Some(Arc::new(self.with_partitions(partitions)))
    }
}
