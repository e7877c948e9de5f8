//! What a table with FULLTEXT indexes must be like, with MySQL's errors.
//!
//! InnoDB numbers the documents of such a table in a column `FTS_DOC_ID`, which a table may declare
//! itself. Here rows are found by their keys, and the column is one like others; its declaration is
//! checked all the same, so that definitions are good in both.

use super::table_builder::TableBuilder;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::error::{ErrorCode, SqlError};
use inia_query::catalog::{
    ColumnDef, IndexDef, IndexKind, STOPWORDS, Stopwords, TRANSACTIONAL, Table, TableDef,
    same_name, words_listed,
};
use inia_query::context::SessionContext;
use inia_query::information_schema::search::note_written;
use inia_storage::Isolation;

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
    let number = |ty: &DataType| matches!(ty, DataType::Int { width: IntWidth::Big, .. });
    for column in builder.columns.iter().map(|column| &column.def) {
        let named = same_name(&column.name, DOCUMENT_ID);
        let right = column.name == DOCUMENT_ID && number(&column.data_type) && !column.nullable;
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
    table: &Table,
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
    if added > 0 {
        // The new index has the rows that are there.
        note_written(table);
    }
    let indexed = table.def.indexes.iter().any(|index| index.kind.has_words());
    if added > 0 && !indexed && new.column(DOCUMENT_ID).is_none() {
        session.warn(ErrorCode::FtsDocIdAdded, &[]);
    }
    Ok(())
}

/// Whether a definition has a FULLTEXT index that `old` has not.
fn adds(def: &TableDef, old: Option<&TableDef>) -> bool {
    let is_in = |old: &TableDef, name: &str| {
        old.indexes.iter().any(|index| index.kind.has_words() && index.name == name)
    };
    let mut own = def.indexes.iter().filter(|index| index.kind.has_words());
    own.any(|index| old.is_none_or(|old| !is_in(old, &index.name)))
}

/// Keeps the stopwords of the session in a table's definition where it gets a FULLTEXT index that
/// `old` has not.
pub(super) fn keep_stopwords(
    session: &SessionContext,
    def: &mut TableDef,
    old: Option<&TableDef>,
) -> Result<(), SqlError> {
    if !def.indexes.iter().any(|index| index.kind.has_words()) {
        def.options.retain(|(name, _)| name != STOPWORDS);
    } else if adds(def, old) {
        let stopwords = stopwords_of(session)?.encode();
        def.options.retain(|(name, _)| name != STOPWORDS);
        def.options.push((STOPWORDS.to_owned(), stopwords));
    }
    Ok(())
}

fn stopwords_of(session: &SessionContext) -> Result<Stopwords, SqlError> {
    if !session.flag("innodb_ft_enable_stopword") {
        return Ok(Stopwords::None);
    }
    for variable in ["innodb_ft_user_stopword_table", "innodb_ft_server_stopword_table"] {
        let Some(name) = session.var(variable) else { continue };
        let Some((schema, table)) = name.split_once('/') else { continue };
        if let Some(table) = session.table(schema, table) {
            let mut txn = table.store.attach();
            txn.begin(Isolation::RepeatableRead);
            let words = words_listed(&table, &mut txn)?;
            return Ok(Stopwords::Of { table: name, words });
        }
    }
    Ok(Stopwords::Default)
}
