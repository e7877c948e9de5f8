//! What a table is to the foreign keys that refer to it: they keep it from changing some things,
//! and follow other changes.

use super::types::compatible;
use crate::ddl::FullName;
use crate::ddl::table_builder::{ForeignKeyDraft, TableBuilder};
use inia_base::error::{ErrorCode, SqlError};
use inia_query::catalog::{Change, ForeignKeyDef, Table, TableDef, same_name};
use inia_query::context::SessionContext;
use std::sync::Arc;

type Done = Result<(), SqlError>;

fn error(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Done {
    Err(SqlError::new(code, args))
}

/// The tables that refer to a name, with the foreign keys that do.
pub(super) fn referring(
    session: &SessionContext,
    name: &FullName,
) -> Vec<(Arc<Table>, Vec<ForeignKeyDef>)> {
    let catalog = session.db.catalog().current();
    let children = catalog.references.get(name).into_iter().flatten();
    let tables =
        children.filter_map(|(schema, child)| catalog.schemas.get(schema)?.tables.get(child));
    let keys = |table: &Arc<Table>| {
        let keys = table.def.foreign_keys.iter();
        keys.filter(|key| key.ref_schema == name.0 && key.ref_table == name.1).cloned().collect()
    };
    tables.map(|table| (table.clone(), keys(table))).collect()
}

/// Errors 1829, 3780 and 1553 where ALTER TABLE takes from the foreign keys of other tables what
/// they refer to.
pub(in crate::ddl) fn check_children(
    session: &SessionContext,
    old: &TableDef,
    builder: &TableBuilder,
) -> Done {
    if old.temporary {
        return Ok(());
    }
    for (child, keys) in referring(session, &(old.schema.clone(), old.name.clone())) {
        let known = |key: &ForeignKeyDef| {
            let same = |own: &ForeignKeyDraft| !own.added && same_name(&own.def.name, &key.name);
            builder.foreign_keys.iter().any(same)
        };
        for key in keys.iter().filter(|key| child.def.id != old.id || known(key)) {
            check_child_key(old, builder, &child, key)?;
        }
    }
    Ok(())
}

fn check_child_key(
    old: &TableDef,
    builder: &TableBuilder,
    child: &Table,
    key: &ForeignKeyDef,
) -> Done {
    let mut names = Vec::with_capacity(key.columns.len());
    for (own, name) in key.columns.iter().zip(&key.ref_columns) {
        // A key that was made without a look at its parent may name what is not there.
        let Some(at) = old.column(name) else { return Ok(()) };
        let Some(now) = builder.columns.iter().find(|column| column.origin == Some(at)) else {
            let args: [&dyn std::fmt::Display; 3] = [name, &key.name, &child.def.name];
            return error(ErrorCode::FkColumnCannotDropChild, &args);
        };
        let own = &child.def.columns[*own];
        // Of a table that refers to itself both columns may have changed.
        if child.def.id != old.id && !compatible(&own.data_type, &now.def.data_type) {
            let args: [&dyn std::fmt::Display; 3] = [&own.name, &now.def.name, &key.name];
            return error(ErrorCode::FkIncompatibleColumns, &args);
        }
        names.push(now.def.name.as_str());
    }
    if builder.has_index_for(&names) {
        return Ok(());
    }
    let before = TableBuilder::from_table(old);
    let known: Vec<&str> = key.ref_columns.iter().map(String::as_str).collect();
    let lost = before.indexes.iter().find(|index| before.index_serves(index, &known));
    match lost.and_then(|index| index.name.as_ref()) {
        Some(index) => error(ErrorCode::DropIndexFk, &[index]),
        None => Ok(()),
    }
}

/// Errors 3734, 3733, 3780 and 1822 where a new table has the name of one that foreign keys refer
/// to already, and does not suit them.
pub(in crate::ddl) fn check_adopted(session: &SessionContext, builder: &TableBuilder) -> Done {
    if builder.temporary {
        return Ok(());
    }
    for (child, keys) in referring(session, &(builder.schema.clone(), builder.name.clone())) {
        for key in &keys {
            let mut names = Vec::with_capacity(key.columns.len());
            for (own, name) in key.columns.iter().zip(&key.ref_columns) {
                let Some(at) = builder.column(name) else {
                    let args: [&dyn std::fmt::Display; 3] = [name, &key.name, &builder.name];
                    return error(ErrorCode::FkNoColumnParent, &args);
                };
                let (own, column) = (&child.def.columns[*own], &builder.columns[at].def);
                if column.is_virtual() {
                    return error(ErrorCode::FkCannotUseVirtualColumn, &[&key.name, name]);
                }
                if !compatible(&own.data_type, &column.data_type) {
                    let args: [&dyn std::fmt::Display; 3] = [&own.name, name, &key.name];
                    return error(ErrorCode::FkIncompatibleColumns, &args);
                }
                names.push(name.as_str());
            }
            if !builder.has_index_for(&names) {
                return error(ErrorCode::FkNoIndexParent, &[&key.name, &builder.name]);
            }
        }
    }
    Ok(())
}

/// A table that goes from one name to another, and its columns that get other names.
pub(in crate::ddl) struct Moved {
    pub(in crate::ddl) from: FullName,
    pub(in crate::ddl) to: FullName,
    pub(in crate::ddl) columns: Vec<(String, String)>,
}

impl Moved {
    /// A table that gets another name.
    pub(in crate::ddl) fn table(from: &FullName, to: &FullName) -> Moved {
        Moved { from: from.clone(), to: to.clone(), columns: Vec::new() }
    }

    /// What ALTER TABLE moves, where each new column has its old position in `origins`.
    pub(in crate::ddl) fn between(
        old: &TableDef,
        new: &TableDef,
        origins: &[Option<usize>],
    ) -> Moved {
        let names = new.columns.iter().zip(origins).filter_map(|(column, origin)| {
            let before = &old.columns[(*origin)?].name;
            (*before != column.name).then(|| (before.clone(), column.name.clone()))
        });
        Moved {
            from: (old.schema.clone(), old.name.clone()),
            to: (new.schema.clone(), new.name.clone()),
            columns: names.collect(),
        }
    }
}

/// Lets a table's foreign keys follow what they refer to, move by move.
pub(in crate::ddl) fn follow_all(def: &mut TableDef, moves: &[Moved]) {
    for key in &mut def.foreign_keys {
        for moved in moves {
            if key.ref_schema != moved.from.0 || key.ref_table != moved.from.1 {
                continue;
            }
            (key.ref_schema, key.ref_table) = moved.to.clone();
            for name in &mut key.ref_columns {
                let known = moved.columns.iter().find(|(from, _)| same_name(from, name));
                if let Some((_, to)) = known {
                    name.clone_from(to);
                }
            }
        }
    }
}

/// Foreign keys of all other tables follow the tables and columns that they refer to.
pub(in crate::ddl) fn retarget(session: &SessionContext, moves: &[Moved]) -> Vec<Change> {
    let catalog = session.db.catalog().current();
    let all = catalog.schemas.values().flat_map(|schema| schema.tables.values());
    let own = |table: &&Arc<Table>| {
        let name = (&table.def.schema, &table.def.name);
        moves.iter().any(|moved| name == (&moved.from.0, &moved.from.1))
    };
    let mut changes = Vec::new();
    for child in all.filter(|table| !table.def.foreign_keys.is_empty() && !own(table)) {
        let mut def = TableDef::clone(&child.def);
        follow_all(&mut def, moves);
        if def != *child.def {
            changes.push(Change::PutTable(def));
        }
    }
    changes
}
