//! What a table's own foreign keys need: columns that they may change, and a parent with columns
//! like them.

use super::starts_with;
use super::types::compatible;
use crate::ddl::table_builder::{ForeignKeyDraft, IndexDraft, TableBuilder};
use inia_base::error::{ErrorCode, SqlError};
use inia_query::catalog::{
    ColumnDef, IndexKind, ReferentialAction, TRANSACTIONAL, TableDef, same_name,
};
use inia_query::context::SessionContext;
use inia_query::referenced::columns_of_text;

type Done = Result<(), SqlError>;

fn error(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Done {
    Err(SqlError::new(code, args))
}

/// Whether an action, of an update or a deletion of the parent, writes the child's columns.
fn writes(action: ReferentialAction) -> bool {
    use ReferentialAction as A;
    matches!(action, A::SetNull | A::SetDefault)
}

/// Checks all foreign keys of a definition, and spells the parents' columns of new ones as the
/// parents do.
pub(in crate::ddl) fn check_child(session: &SessionContext, builder: &mut TableBuilder) -> Done {
    if builder.engine != TRANSACTIONAL {
        return Ok(());
    }
    for at in 0..builder.foreign_keys.len() {
        let key = builder.foreign_keys[at].clone();
        check_columns(builder, &key)?;
        if key.added {
            check_name(session, builder, &key)?;
        }
        let names = check_parent(session, builder, &key)?;
        if key.added {
            builder.foreign_keys[at].def.ref_columns = names;
        }
    }
    check_conditions(builder)
}

/// Errors 3104, 3733 and 1830 of the columns that refer.
pub(in crate::ddl) fn check_columns(builder: &TableBuilder, key: &ForeignKeyDraft) -> Done {
    use ReferentialAction::{Cascade, SetNull};
    let (update, delete) = (key.def.on_update, key.def.on_delete);
    let columns = || {
        let at = key.columns.iter().filter_map(|name| builder.column(name));
        at.map(|at| &builder.columns[at].def)
    };
    for generated in columns().filter_map(|column| column.generated.as_ref()) {
        let clause = match (delete, update) {
            (SetNull, _) => "ON DELETE SET NULL",
            (_, SetNull) => "ON UPDATE SET NULL",
            (_, Cascade) => "ON UPDATE CASCADE",
            _ if generated.stored => continue,
            _ => break,
        };
        return error(ErrorCode::WrongFkOptionForGeneratedColumn, &[&clause]);
    }
    if let Some(column) = columns().find(|column| column.is_virtual()) {
        return error(ErrorCode::FkCannotUseVirtualColumn, &[&key.def.name, &column.name]);
    }
    let in_primary = |column: &ColumnDef| {
        let primary = builder.indexes.iter().filter(|i| i.kind == IndexKind::Primary);
        primary.flat_map(|index| &index.parts).any(|part| same_name(&part.column, &column.name))
    };
    if (update == SetNull || delete == SetNull)
        && let Some(column) = columns().find(|column| !column.nullable || in_primary(column))
    {
        return error(ErrorCode::FkColumnNotNull, &[&column.name, &key.def.name]);
    }
    Ok(())
}

/// Error 1826 where another table of the database has a foreign key of this name.
fn check_name(session: &SessionContext, builder: &TableBuilder, key: &ForeignKeyDraft) -> Done {
    let catalog = session.db.catalog().current();
    let Some(schema) = catalog.schemas.get(&builder.schema) else { return Ok(()) };
    let others = schema.tables.values().filter(|table| table.def.id != builder.id);
    let taken = others
        .flat_map(|table| &table.def.foreign_keys)
        .any(|other| same_name(&other.name, &key.def.name));
    match taken {
        true => error(ErrorCode::FkDupName, &[&key.def.name]),
        false => Ok(()),
    }
}

/// Errors 3734, 1822, 3733 and 3780 of the columns that are referred to; how they are spelled.
fn check_parent(
    session: &SessionContext,
    builder: &TableBuilder,
    key: &ForeignKeyDraft,
) -> Result<Vec<String>, SqlError> {
    let (schema, table) = (&key.def.ref_schema, &key.def.ref_table);
    let itself = *schema == builder.schema && *table == builder.name;
    let other = session.db.catalog().table(schema, table).filter(|_| !itself);
    // For the table itself the catalog has the old definition, or none.
    let find = |name: &str| match (&other, itself) {
        (_, true) => builder.column(name).map(|at| &builder.columns[at].def),
        (Some(parent), _) => parent.def.column(name).map(|at| &parent.def.columns[at]),
        (None, _) => None,
    };
    let mut names = Vec::with_capacity(key.columns.len());
    for (name, parent_name) in key.columns.iter().zip(&key.def.ref_columns) {
        let Some(parent) = find(parent_name) else {
            // Another parent, or its column, is missing only if foreign_key_checks is or was off.
            if itself {
                let args: [&dyn std::fmt::Display; 3] = [parent_name, &key.def.name, table];
                error(ErrorCode::FkNoColumnParent, &args)?;
            }
            names.push(parent_name.clone());
            continue;
        };
        names.push(parent.name.clone());
        if parent.is_virtual() {
            error(ErrorCode::FkCannotUseVirtualColumn, &[&key.def.name, parent_name])?;
        }
        let Some(at) = builder.column(name) else { continue };
        if !compatible(&builder.columns[at].def.data_type, &parent.data_type) {
            let args: [&dyn std::fmt::Display; 3] = [name, parent_name, &key.def.name];
            error(ErrorCode::FkIncompatibleColumns, &args)?;
        }
    }
    let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
    // Only a new key asks for an index: `check_children` guards the indexes of existing keys.
    let served = match &other {
        Some(parent) => {
            !session.flag("foreign_key_checks")
                || TableBuilder::from_table(&parent.def).has_index_for(&wanted)
        }
        None => !itself || builder.has_index_for(&wanted),
    };
    if key.added && !served {
        error(ErrorCode::FkNoIndexParent, &[&key.def.name, table])?;
    }
    Ok(names)
}

/// Error 3823: a condition must not read what a foreign key's action writes, as actions do not
/// check conditions.
fn check_conditions(builder: &TableBuilder) -> Done {
    use ReferentialAction::Cascade;
    for check in &builder.checks {
        let read = columns_of_text(&check.expression);
        for key in &builder.foreign_keys {
            let (update, delete) = (key.def.on_update, key.def.on_delete);
            if !(update == Cascade || writes(update) || writes(delete)) {
                continue;
            }
            let written = |name: &&String| key.columns.iter().any(|c| same_name(c, name));
            if let Some(column) = read.iter().find(written) {
                let args: [&dyn std::fmt::Display; 3] = [column, &check.name, &key.def.name];
                return error(ErrorCode::CheckConstraintClauseUsingFkReferActionColumn, &args);
            }
        }
    }
    Ok(())
}

/// Error 1215 where a foreign key's action would change a column that a stored generated column is
/// computed from; error 3192 if the table's rows are not `written` again. An action updates index
/// entries and virtual columns, but no stored generated columns.
pub(in crate::ddl) fn check_bases(def: &TableDef, written: bool) -> Done {
    use ReferentialAction::{Cascade, SetNull};
    let acts = |action: ReferentialAction| matches!(action, Cascade | SetNull);
    let mut keys = def.foreign_keys.iter().filter(|k| acts(k.on_update) || acts(k.on_delete));
    let Some(first) = keys.next() else { return Ok(()) };
    let mut bases = vec![false; def.columns.len()];
    // A virtual column reads only generated columns before it.
    for (at, column) in def.columns.iter().enumerate().rev() {
        let Some(generated) = &column.generated else { continue };
        if generated.stored || bases[at] {
            let read = columns_of_text(&generated.expression);
            read.iter().filter_map(|name| def.column(name)).for_each(|at| bases[at] = true);
        }
    }
    match std::iter::once(first).chain(keys).flat_map(|key| &key.columns).any(|at| bases[*at]) {
        true if written => error(ErrorCode::CannotAddForeign, &[]),
        true => error(ErrorCode::CannotAddForeignBaseColStored, &[]),
        false => Ok(()),
    }
}

impl TableBuilder {
    /// Whether some index finds rows by these columns; a secondary index goes on with the columns
    /// of the primary key.
    pub(super) fn has_index_for(&self, columns: &[&str]) -> bool {
        self.indexes.iter().any(|index| self.index_serves(index, columns))
    }

    /// Whether this index does.
    pub(super) fn index_serves(&self, index: &IndexDraft, columns: &[&str]) -> bool {
        use IndexKind as K;
        let primary = self.indexes.iter().find(|index| index.kind == K::Primary);
        let whole = index.parts.iter().take_while(|part| part.prefix.is_none());
        let mut parts: Vec<&str> = whole.map(|part| part.column.as_str()).collect();
        if parts.len() == index.parts.len() {
            let suffix = primary.into_iter().flat_map(|primary| &primary.parts);
            let absent = |name: &&str| !index.parts.iter().any(|p| same_name(&p.column, name));
            parts.extend(suffix.map(|part| part.column.as_str()).filter(absent));
        }
        index.kind.has_keys() && starts_with(&parts, columns)
    }
}
