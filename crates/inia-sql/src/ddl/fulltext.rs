//! What a table with FULLTEXT indexes must be like, with MySQL's errors.
//!
//! InnoDB numbers the documents of such a table in a column `FTS_DOC_ID`, which a table may declare
//! itself. Here rows are found by their keys, and the column is one like others; its declaration is
//! checked all the same, so that definitions are good in both.

use super::table_builder::TableBuilder;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::error::{ErrorCode, SqlError};
use inia_query::catalog::{ColumnDef, IndexDef, IndexKind, TRANSACTIONAL, TableDef, same_name};
use inia_query::context::SessionContext;

const DOCUMENT_ID: &str = "FTS_DOC_ID";
const DOCUMENT_ID_INDEX: &str = "FTS_DOC_ID_INDEX";

fn refuse(code: ErrorCode, name: &str) -> Result<(), SqlError> {
    Err(SqlError::new(code, &[&name]))
}

/// Error 1283: all columns of an index have the collation of the first.
pub(super) fn check_collations(first: &ColumnDef, column: &ColumnDef) -> Result<(), SqlError> {
    match collation(first) == collation(column) {
        true => Ok(()),
        false => refuse(ErrorCode::BadFtColumn, &column.name),
    }
}

fn collation(column: &ColumnDef) -> Option<inia_base::collation::Collation> {
    match &column.data_type {
        DataType::Char { collation, .. }
        | DataType::VarChar { collation, .. }
        | DataType::Text { collation, .. } => Some(*collation),
        _ => None,
    }
}

/// Error 1214 of a FULLTEXT index in a table whose engine has none.
pub(super) fn check_engine(builder: &TableBuilder) -> Result<(), SqlError> {
    let has = builder.indexes.iter().any(|index| index.kind == IndexKind::FullText);
    match has && !matches!(builder.engine.as_str(), TRANSACTIONAL | "MyISAM") {
        true => Err(SqlError::new(ErrorCode::TableCantHandleFt, &[])),
        false => Ok(()),
    }
}

/// Errors 1796, 1797 and 1798 of a table that has a FULLTEXT index.
pub(super) fn check_table(
    builder: &TableBuilder,
    indexes: &[(IndexDef, Option<usize>)],
) -> Result<(), SqlError> {
    if indexes.iter().all(|(index, _)| index.kind != IndexKind::FullText) {
        return Ok(());
    }
    if builder.engine != TRANSACTIONAL {
        return Ok(());
    }
    if builder.temporary {
        return Err(SqlError::new(ErrorCode::InnodbNoFtTempTable, &[]));
    }
    let number = DataType::Int { width: IntWidth::Big, unsigned: true };
    for column in builder.columns.iter().map(|column| &column.def) {
        let named = same_name(&column.name, DOCUMENT_ID);
        let right = column.name == DOCUMENT_ID && column.data_type == number && !column.nullable;
        if named && !right {
            return refuse(ErrorCode::InnodbFtWrongDocidColumn, &column.name);
        }
    }
    for (index, _) in indexes.iter().filter(|(index, _)| same_name(&index.name, DOCUMENT_ID_INDEX))
    {
        let is_number = |column: usize| builder.columns[column].def.name == DOCUMENT_ID;
        let own = index.parts.len() == 1 && is_number(index.parts[0].column);
        if index.kind != IndexKind::Unique || !own {
            return refuse(ErrorCode::InnodbFtWrongDocidIndex, &index.name);
        }
    }
    Ok(())
}

/// Error 1795 where InnoDB would add several FULLTEXT indexes without copying the table, and
/// warning 124 where it would add the column that numbers documents. `origins` are those of the
/// new definition's indexes.
pub(super) fn check_added(
    session: &mut SessionContext,
    copied: bool,
    old: &TableDef,
    (new, origins): (&TableDef, &[Option<usize>]),
) -> Result<(), SqlError> {
    if copied || !new.is_transactional() {
        return Ok(());
    }
    let pairs = new.indexes.iter().zip(origins);
    let added = pairs.filter(|(index, origin)| index.kind.has_words() && origin.is_none()).count();
    if added > 1 {
        return Err(SqlError::new(ErrorCode::InnodbFtLimit, &[]));
    }
    let indexed = old.indexes.iter().any(|index| index.kind.has_words());
    if added > 0 && !indexed && new.column(DOCUMENT_ID).is_none() {
        session.warn(ErrorCode::FtsDocIdAdded, &[]);
    }
    Ok(())
}
