//! Triggers of tables that are dropped and renamed.

use inia_base::error::{ErrorCode, SqlError};
use inia_query::catalog::{Change, FullName, ProgramKind, Table, TableDef};
use inia_query::context::SessionContext;

/// The triggers of a table go with it.
pub(super) fn dropped(table: &Table, changes: &mut Vec<Change>) {
    for trigger in table.triggers.all() {
        let (schema, name) = (trigger.def.schema.clone(), trigger.def.name.clone());
        changes.push(Change::DropProgram { kind: ProgramKind::Trigger, schema, name });
    }
}

/// As [`renamed`], for one table; a temporary one has no triggers.
pub(super) fn moved(
    session: &SessionContext,
    def: &TableDef,
    (from, to): (&FullName, &FullName),
) -> Result<Vec<Change>, SqlError> {
    match def.temporary {
        true => Ok(Vec::new()),
        false => renamed(session, &[(from.clone(), to.clone())]),
    }
}

/// Triggers follow their tables through renames, one after another: error 1435 where a table would
/// leave the database of its triggers.
pub(super) fn renamed(
    session: &SessionContext,
    moves: &[(FullName, FullName)],
) -> Result<Vec<Change>, SqlError> {
    let mut changes = Vec::new();
    let mut seen: Vec<&FullName> = Vec::new();
    for (from, _) in moves {
        let Some(table) = session.db.catalog().table(&from.0, &from.1) else { continue };
        if table.triggers.is_empty() || seen.contains(&from) {
            continue;
        }
        seen.push(from);
        let mut now = from;
        for (old, new) in moves {
            if old == now {
                now = new;
            }
        }
        if now == from {
            continue;
        }
        if now.0 != from.0 {
            return Err(SqlError::new(ErrorCode::TrgInWrongSchema, &[]));
        }
        for trigger in table.triggers.all() {
            let mut def = trigger.def.clone();
            if let Some(head) = &mut def.trigger {
                head.table.clone_from(&now.1);
            }
            changes.push(Change::PutProgram(Box::new(def)));
        }
    }
    Ok(changes)
}
