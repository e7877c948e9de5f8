//! Storage engines: their names, what stands in for one that is not there, and what each refuses.
//!
//! All tables live in trees of one engine. What MySQL's engines refuse is refused here, too, so
//! that a definition that is accepted can be used there.

use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_query::catalog::{
    ColumnDef, ColumnDefault, DISCARDING, IndexDef, IndexKind, MERGED, TRANSACTIONAL, TableDef,
};
use inia_query::context::SessionContext;

/// Names that statements may write, and the engines' own.
const ENGINES: [(&str, &str); 9] = [
    ("INNODB", TRANSACTIONAL),
    ("MYISAM", "MyISAM"),
    ("MEMORY", "MEMORY"),
    ("HEAP", "MEMORY"),
    ("ARCHIVE", "ARCHIVE"),
    ("CSV", "CSV"),
    ("BLACKHOLE", DISCARDING),
    ("MERGE", MERGED),
    ("MRG_MYISAM", MERGED),
];

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// The engine of this name.
pub(crate) fn known(name: &str) -> Option<&'static str> {
    let upper = name.to_ascii_uppercase();
    ENGINES.iter().find(|(known, _)| *known == upper).map(|(_, engine)| *engine)
}

/// The engine that a statement names. Without NO_ENGINE_SUBSTITUTION one that is not there is
/// warned of and gives none, else it is error 1286.
pub(super) fn named(
    session: &mut SessionContext,
    name: &str,
) -> Result<Option<&'static str>, SqlError> {
    let found = known(name);
    if found.is_none() {
        let unknown = SqlError::new(ErrorCode::UnknownStorageEngine, &[&name]);
        if session.env.sql_mode.has(SqlMode::NO_ENGINE_SUBSTITUTION) {
            return Err(unknown);
        }
        session.push_warning(&unknown);
    }
    Ok(found)
}

/// Errors 3106, 1464, 1164, 1178, 1069, 1121 and 1030 of definitions that an engine refuses.
pub(super) fn check(session: &mut SessionContext, def: &TableDef) -> Result<(), SqlError> {
    if def.is_merged() && def.columns.iter().any(ColumnDef::is_hidden) {
        let what = "Index on virtual generated column";
        return error(ErrorCode::IllegalHaCreateOption, &[&MERGED, &what]);
    }
    let generates = def.columns.iter().any(|column| column.generated.is_some());
    if generates && matches!(def.engine.as_str(), "CSV" | "ARCHIVE" | DISCARDING | MERGED) {
        let engine = "Specified storage engine";
        return error(ErrorCode::UnsupportedActionOnGeneratedColumn, &[&engine]);
    }
    let spatial = def.indexes.iter().any(|index| index.kind == IndexKind::Spatial);
    if spatial && !matches!(def.engine.as_str(), TRANSACTIONAL | "MyISAM") {
        return error(ErrorCode::TableCantHandleSpkeys, &[]);
    }
    match def.engine.as_str() {
        "CSV" => check_csv(session, def),
        "ARCHIVE" => check_archive(def),
        MERGED => check_merged(def),
        TRANSACTIONAL => Ok(()),
        _ => check_order(def),
    }
}

/// Error 1178: InnoDB alone has indexes in descending order.
fn check_order(def: &TableDef) -> Result<(), SqlError> {
    let mut parts = def.indexes.iter().flat_map(|index| &index.parts);
    match parts.any(|part| part.descending) {
        true => error(ErrorCode::CheckNotImplemented, &[&"descending indexes"]),
        false => Ok(()),
    }
}

/// CSV has neither keys nor numbers of its own, nor NULL.
fn check_csv(session: &mut SessionContext, def: &TableDef) -> Result<(), SqlError> {
    if def.auto_increment_column().is_some() {
        return error(ErrorCode::TableCantHandleAutoIncrement, &[]);
    }
    if !def.indexes.is_empty() {
        return error(ErrorCode::TooManyKeys, &[&0]);
    }
    if def.columns.iter().any(|column| column.nullable) {
        let behind = SqlError::new(ErrorCode::UnsupportedExtension, &[&def.name]);
        session.list_behind(ErrorCode::CheckNotImplemented, behind);
        return error(ErrorCode::CheckNotImplemented, &[&"nullable columns"]);
    }
    Ok(())
}

/// MERGE has no defaults that are expressions, and keys in ascending order.
fn check_merged(def: &TableDef) -> Result<(), SqlError> {
    let computes = |column: &ColumnDef| matches!(column.default, ColumnDefault::Expression(_));
    if def.columns.iter().any(computes) {
        let engine = "Specified storage engine";
        return error(ErrorCode::UnsupportedActionOnDefaultValGenerated, &[&engine]);
    }
    check_order(def)
}

/// ARCHIVE has one key at most, of the column that numbers rows.
fn check_archive(def: &TableDef) -> Result<(), SqlError> {
    if def.indexes.len() > 1 {
        return error(ErrorCode::TooManyKeys, &[&1]);
    }
    let Some(index) = def.indexes.first() else { return Ok(()) };
    let columns = |index: &IndexDef| -> Vec<&ColumnDef> {
        index.parts.iter().map(|part| &def.columns[part.column]).collect()
    };
    let columns = columns(index);
    if let Some(column) = columns.iter().find(|column| column.nullable) {
        return error(ErrorCode::NullColumnInIndex, &[&column.name]);
    }
    match columns[..] {
        [column] if column.auto_increment => Ok(()),
        _ => error(ErrorCode::GetErrno, &[&-1, &"Unknown error -1"]),
    }
}
