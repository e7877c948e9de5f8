//! Merged tables: what statements about their definitions need to know of their children.

use super::FullName;
use inia_query::catalog::TableDef;
use inia_query::context::SessionContext;

/// The name of a table, and those of its children where it is a merged one.
pub(super) fn with_children(session: &SessionContext, name: &FullName) -> Vec<FullName> {
    let table = session.table(&name.0, &name.1);
    let def = table.as_ref().map(|table| &*table.def);
    std::iter::once(name.clone()).chain(def.into_iter().flat_map(children_of)).collect()
}

/// The names of the children of a merged table.
pub(super) fn children_of(def: &TableDef) -> Vec<FullName> {
    let union = def.union.as_deref();
    let own = (def.schema.clone(), def.name.clone());
    let tables = union.into_iter().flat_map(|union| &union.tables);
    tables.filter(|name| **name != own).cloned().collect()
}
