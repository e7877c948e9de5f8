//! Indexes that have several entries for a row against the rows: each word or element of a row has
//! its entry, and no entry is without its row.

use super::{Report, hex, scan};
use inia_query::catalog::{Table, TableIndex};
use inia_storage::{StorageError, Txn};

/// Compares each entry with its row, and their numbers.
pub(super) fn check_several(
    txn: &mut Txn,
    table: &Table,
    index: &TableIndex,
    report: &mut Report<'_>,
) -> Result<(), StorageError> {
    let Some(codec) = &index.several else { return Ok(()) };
    let mut expected = 0;
    scan(txn, &table.clustered, |txn, primary, row| {
        // A row that cannot be decoded has been reported.
        let cell = |column: usize| table.layout.cell(row, column);
        let Ok(entries) = codec.entries(cell, primary) else { return Ok(()) };
        expected += entries.len() as u64;
        for (key, value) in &entries {
            match txn.get(&index.tree, key, |stored| stored == &value[..])? {
                Some(true) => {}
                Some(false) => {
                    report.problem(&format_args!("entry {} differs from its row", hex(key)));
                }
                None => report.problem(&format_args!("row {} lacks an entry", hex(primary))),
            }
        }
        Ok(())
    })?;
    let entries = scan(txn, &index.tree, |txn, key, value| {
        let Ok(primary) = codec.primary_key(key, value) else {
            report.problem(&format_args!("entry {} has no primary key", hex(key)));
            return Ok(());
        };
        if txn.get(&table.clustered, primary, |_| ())?.is_none() {
            report.problem(&format_args!("entry {} has no row", hex(key)));
        }
        Ok(())
    })?;
    if entries != expected {
        report.problem(&format_args!("{entries} entries in place of {expected}"));
    }
    Ok(())
}
