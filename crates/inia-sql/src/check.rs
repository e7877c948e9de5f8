//! Whether the tables of a database at rest make sense: pages, rows, and rows against index
//! entries.
//!
//! The storage engine checks pages and trees. Above that, each row must fit its table's definition,
//! and each secondary index must hold exactly one entry per row:
//!
//! ```text
//! row (1, 'ab')   (2, 'cd')      index on the second column: ('ab', 1) ('cd', 2)
//! ```
//!
//! An entry is right when it is the one that its row would be given. Entries have different keys,
//! so right entries belong to different rows; as many of them as rows leave no row without one.
//! All of a table is read in one snapshot, so that others may go on changing it.
//! Only where the numbers differ is each row's entry looked up, to name the rows that lack it.

mod several;

use inia_base::ids::TreeId;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_query::catalog::{Table, TableIndex, row_count};
use inia_query::database::Database;
use inia_query::error::Damaged;
use inia_query::error::OpenError;
use inia_storage::{Direction, Isolation, KeyBound, ReadMode, StorageError, Tree, Txn};
use std::fmt::Write;
use std::sync::Arc;

/// So many problems of one tree are named; the others are counted.
const MAX_NAMED: u64 = 20;

/// Checks every page of every table, every row, and every index against its rows. What is wrong,
/// in words; nothing when all is well. There must be no sessions.
pub fn check_database(db: &Database) -> Result<Vec<String>, OpenError> {
    let catalog = db.catalog.current();
    let tables: Vec<&Arc<Table>> =
        catalog.schemas.values().flat_map(|schema| schema.tables.values()).collect();
    let trees = |volatile: bool| -> Vec<TreeId> {
        let there = tables.iter().filter(|table| table.def.is_volatile() == volatile);
        there.flat_map(|table| table.def.all_trees()).collect()
    };
    let mut problems = db.engine.check(&trees(false))?;
    if let Some(volatile) = db.catalog.volatile_store() {
        problems.extend(volatile.check(&trees(true))?);
    }
    for table in tables {
        check_table(table, &mut problems);
    }
    Ok(problems)
}

/// The problems of one tree, under one name.
struct Report<'r> {
    name: String,
    found: u64,
    problems: &'r mut Vec<String>,
}

impl Report<'_> {
    fn problem(&mut self, what: &dyn std::fmt::Display) {
        self.found += 1;
        if self.found <= MAX_NAMED {
            self.problems.push(format!("{}: {what}", self.name));
        }
    }

    fn finish(self) {
        if self.found > MAX_NAMED {
            let more = self.found - MAX_NAMED;
            self.problems.push(format!("{}: {more} more problems", self.name));
        }
    }
}

/// The problems of one table whose definition is locked meanwhile.
pub(crate) fn problems_of(table: &Table) -> Vec<String> {
    let mut problems = Vec::new();
    check_table(table, &mut problems);
    problems
}

fn check_table(table: &Table, problems: &mut Vec<String>) {
    let name = format!("table {}.{}", table.def.schema, table.def.name);
    let (Some(partitions), Some(by)) = (&table.partitions, &table.def.partitioning) else {
        return check_trees(table, name, problems);
    };
    for (number, leaf) in partitions.leaves().iter().enumerate() {
        let name = format!("{name}, partition {}", by.shown(number));
        check_places(table, number, &name, problems);
        check_trees(leaf, name, problems);
    }
}

/// Whether each row of a partition belongs there.
fn check_places(table: &Table, number: usize, name: &str, problems: &mut Vec<String>) {
    let Some(partitions) = &table.partitions else { return };
    let mut report = Report { name: name.to_owned(), found: 0, problems };
    let mut txn = table.store.attach();
    txn.begin(Isolation::RepeatableRead);
    let checked = scan(&mut txn, &partitions.leaf(number).clustered, |_, key, row| {
        let leaf = partitions.leaf_of(|column| table.layout.cell(row, column));
        if leaf != Ok(number) {
            report.problem(&format_args!("row {} belongs to another partition", hex(key)));
        }
        Ok(())
    });
    if let Err(error) = checked.and_then(|_| txn.commit()) {
        report.problem(&error);
    }
    report.finish();
}

/// The problems of the trees of a table or partition.
fn check_trees(table: &Table, name: String, problems: &mut Vec<String>) {
    let mut report = Report { name: name.clone(), found: 0, problems };
    let mut txn = table.store.attach();
    txn.begin(Isolation::RepeatableRead);
    let rows = match check_rows(&mut txn, table, &mut report) {
        Ok(rows) => Some(rows),
        Err(error) => {
            report.problem(&error);
            None
        }
    };
    match row_count::read(&table.store, &mut txn, table.clustered.id()) {
        Ok(Some(kept)) if rows.is_some_and(|rows| rows != kept) => {
            report.problem(&format_args!("it is said to have {kept} rows"));
        }
        Ok(_) => {}
        Err(error) => report.problem(&error),
    }
    report.finish();
    for (index, def) in table.indexes.iter().zip(&table.def.indexes) {
        let name = format!("{name}, index {}", def.name);
        let mut report = Report { name, found: 0, problems };
        let checked = match (&index.several, def.has_entries()) {
            (Some(_), _) => several::check_several(&mut txn, table, index, &mut report),
            (None, true) => check_index(&mut txn, table, index, rows, &mut report),
            (None, false) => Ok(()),
        };
        if let Err(error) = checked {
            report.problem(&error);
        }
        report.finish();
    }
    if let Err(error) = txn.commit() {
        problems.push(format!("{name}: {error}"));
    }
}

/// Calls `visit` with each record of a tree.
fn scan(
    txn: &mut Txn,
    tree: &Tree,
    mut visit: impl FnMut(&mut Txn, &[u8], &[u8]) -> Result<(), StorageError>,
) -> Result<u64, StorageError> {
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let mut cursor = txn.cursor(tree, low, high, Direction::Forward, ReadMode::Snapshot);
    let mut count = 0;
    let (mut key, mut value) = (Vec::new(), Vec::new());
    while let Some(record) = cursor.next(txn)? {
        key.clear();
        key.extend_from_slice(record.key);
        value.clear();
        value.extend_from_slice(record.value);
        visit(txn, &key, &value)?;
        count += 1;
    }
    Ok(count)
}

/// Decodes every row; the number of rows.
fn check_rows(txn: &mut Txn, table: &Table, report: &mut Report<'_>) -> Result<u64, StorageError> {
    let mut values: Vec<Value> = Vec::new();
    let mut key_of_row = Vec::new();
    scan(txn, &table.clustered, |_, key, row| {
        values.clear();
        if table.layout.decode(row, &TimeZone::utc(), &mut values).is_err() {
            report.problem(&format_args!("row {} does not fit the definition", hex(key)));
        } else if table.def.clustered_index().is_some() {
            key_of_row.clear();
            let cell = |column: usize| table.layout.cell(row, column);
            let codec = &table.indexes[0].codec;
            let built = codec.put_clustered_key(cell, &mut key_of_row);
            if built.is_err() || key_of_row != key {
                report.problem(&format_args!("row {} has another clustered key", hex(key)));
            }
        }
        Ok(())
    })
}

/// Compares each entry with its row, and their numbers.
fn check_index(
    txn: &mut Txn,
    table: &Table,
    index: &TableIndex,
    rows: Option<u64>,
    report: &mut Report<'_>,
) -> Result<(), StorageError> {
    let mut row = Vec::new();
    let entries = scan(txn, &index.tree, |txn, key, value| {
        let Ok(primary) = index.codec.primary_key(key, value) else {
            report.problem(&format_args!("entry {} has no clustered key", hex(key)));
            return Ok(());
        };
        let found = txn.get(&table.clustered, primary, |bytes| {
            row.clear();
            row.extend_from_slice(bytes);
        })?;
        if found.is_none() {
            report.problem(&format_args!("entry {} has no row", hex(key)));
        } else if !entry(table, index, primary, &row).is_ok_and(|(k, v)| k == key && v == value) {
            report.problem(&format_args!("entry {} differs from its row", hex(key)));
        }
        Ok(())
    })?;
    match rows {
        Some(rows) if rows != entries => {
            report.problem(&format_args!("{entries} entries for {rows} rows"));
            find_missing(txn, table, index, report)
        }
        _ => Ok(()),
    }
}

/// Names the rows that the index lacks.
fn find_missing(
    txn: &mut Txn,
    table: &Table,
    index: &TableIndex,
    report: &mut Report<'_>,
) -> Result<(), StorageError> {
    scan(txn, &table.clustered, |txn, primary, row| {
        // A row that cannot be decoded has been reported.
        let Ok((key, _)) = entry(table, index, primary, row) else { return Ok(()) };
        if txn.get(&index.tree, &key, |_| ())?.is_none() {
            report.problem(&format_args!("row {} has no entry", hex(primary)));
        }
        Ok(())
    })
    .map(drop)
}

/// The entry that a row has in an index.
fn entry(
    table: &Table,
    index: &TableIndex,
    primary: &[u8],
    row: &[u8],
) -> Result<(Vec<u8>, Vec<u8>), Damaged> {
    let (mut key, mut value) = (Vec::new(), Vec::new());
    let cell = |column: usize| table.layout.cell(row, column);
    index.codec.put_entry(cell, primary, &mut key, &mut value)?;
    Ok((key, value))
}

/// A key as it is stored, shortened.
fn hex(key: &[u8]) -> String {
    const SHOWN: usize = 32;
    let mut text = String::with_capacity(2 * SHOWN + 3);
    for byte in key.iter().take(SHOWN) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    if key.len() > SHOWN {
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests;
