//! A copy of a table must not change the values of columns in foreign keys unseen.

use super::parent::referring;
use crate::ddl::algorithm::Alteration;
use inia_base::error::{ErrorCode, SqlError};
use inia_query::catalog::ForeignKeyDef;
use inia_query::context::SessionContext;

/// What becomes of a column.
enum Fate {
    Same,
    Converted,
    Renamed,
}

/// Errors 1833 and 1832 for columns in foreign keys that ALTER TABLE gives other types, and 1846
/// for those that it gives other names, where it copies the table.
pub(in crate::ddl) fn check_copy(
    session: &SessionContext,
    way: &Alteration<'_>,
) -> Result<(), SqlError> {
    let checked = session.flag("foreign_key_checks");
    let old = way.old;
    for (child, keys) in referring(session, &(old.schema.clone(), old.name.clone())) {
        for key in &keys {
            for name in &key.ref_columns {
                let Some(at) = old.column(name) else { continue };
                let table = format!("{}.{}", child.def.schema, child.def.name);
                let args: [&dyn std::fmt::Display; 3] = [name, &key.name, &table];
                match fate(way, at) {
                    Fate::Converted if checked => {
                        return Err(SqlError::new(ErrorCode::FkColumnCannotChangeChild, &args));
                    }
                    Fate::Renamed => return Err(renamed()),
                    _ => {}
                }
            }
        }
    }
    let kept = |key: &&ForeignKeyDef| way.new.foreign_keys.iter().any(|new| new.name == key.name);
    for key in old.foreign_keys.iter().filter(kept) {
        for at in &key.columns {
            let args: [&dyn std::fmt::Display; 2] = [&old.columns[*at].name, &key.name];
            match fate(way, *at) {
                Fate::Converted if checked => {
                    return Err(SqlError::new(ErrorCode::FkColumnCannotChange, &args));
                }
                Fate::Renamed => return Err(renamed()),
                _ => {}
            }
        }
    }
    Ok(())
}

fn fate(way: &Alteration<'_>, at: usize) -> Fate {
    let Some(now) = way.columns.iter().position(|origin| *origin == Some(at)) else {
        return Fate::Same;
    };
    let (old, new) = (&way.old.columns[at], &way.new.columns[now]);
    match () {
        () if way.changes_type(old, new) || (old.nullable && !new.nullable) => Fate::Converted,
        () if !inia_query::catalog::same_name(&old.name, &new.name) => Fate::Renamed,
        () => Fate::Same,
    }
}

fn renamed() -> SqlError {
    let reason = "Columns participating in a foreign key are renamed";
    let args: [&dyn std::fmt::Display; 3] = [&"ALGORITHM=COPY", &reason, &"ALGORITHM=INPLACE"];
    SqlError::new(ErrorCode::AlterOperationNotSupportedReason, &args)
}
