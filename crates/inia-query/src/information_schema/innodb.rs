//! `mysql.innodb_table_stats` and `mysql.innodb_index_stats`: what the optimizer knows of tables.
//!
//! MySQL keeps these rows and lets them be changed; here they are computed when they are read.

use super::tables::{row_estimate, visible};
use super::{Information, Rows, row};
use crate::catalog::stats::KeyStats;
use crate::catalog::{IndexDef, Table};
use inia_base::value::Value;
use std::sync::Arc;

/// The stored tables whose statistics MySQL would keep.
pub(super) fn kept<'i>(info: &'i Information<'_>) -> impl Iterator<Item = &'i Arc<Table>> {
    visible(info).filter(|table| table.def.engine == "InnoDB" && !table.def.temporary)
}

pub(super) fn table_stats(info: &Information<'_>, rows: &mut Rows) {
    for table in kept(info) {
        let Some(clustered) = table.stats().clustered() else { continue };
        let others = (0..table.def.indexes.len())
            .filter(|index| table.def.indexes[*index].has_entries())
            .filter_map(|index| table.stats().keys(index))
            .map(|keys| pages(&keys));
        rows.push(row![
            table.def.schema.as_str(),
            table.def.name.as_str(),
            info.moment(clustered.taken),
            row_estimate(table),
            pages(&clustered),
            others.sum::<u64>(),
        ]);
    }
}

/// The nodes of an index's tree.
pub(super) fn pages(keys: &KeyStats) -> u64 {
    (keys.tree.leaves + keys.tree.inner).round() as u64
}

pub(super) fn index_stats(info: &Information<'_>, rows: &mut Rows) {
    for table in kept(info) {
        if table.def.clustered_index().is_none()
            && let Some(keys) = table.stats().clustered()
        {
            let distinct = [(String::from("DB_ROW_ID"), row_estimate(table))];
            push(info, table, ("GEN_CLUST_INDEX", &keys, &distinct), rows);
        }
        for (number, index) in table.def.indexes.iter().enumerate() {
            let Some(keys) = table.stats().keys(number) else { continue };
            let distinct = distinct(table, index, &keys);
            push(info, table, (index.name.as_str(), &keys, &distinct), rows);
        }
    }
}

/// The distinct values of each prefix of an index, with the names of its columns. An entry that is
/// not unique ends with the primary key.
fn distinct(table: &Table, index: &IndexDef, keys: &KeyStats) -> Vec<(String, u64)> {
    let name = |column: &usize| table.def.columns[*column].name.as_str();
    let columns: Vec<usize> = index.parts.iter().map(|part| part.column).collect();
    let mut names: Vec<&str> = columns.iter().map(name).collect();
    match table.def.clustered_index().filter(|_| !index.unique()) {
        Some(primary) => {
            let more: Vec<usize> = primary.parts.iter().map(|part| part.column).collect();
            names.extend(more.iter().filter(|column| !columns.contains(column)).map(name));
        }
        None if !index.unique() => names.push("DB_ROW_ID"),
        None => {}
    }
    let count = |parts: usize| match keys.prefixes.get(parts - 1) {
        Some(prefix) => (prefix.distinct + prefix.distinct_nulls).round() as u64,
        None => keys.entries.round() as u64,
    };
    (1..=names.len()).map(|parts| (names[..parts].join(","), count(parts))).collect()
}

fn push(
    info: &Information<'_>,
    table: &Table,
    (index, keys, distinct): (&str, &KeyStats, &[(String, u64)]),
    rows: &mut Rows,
) {
    let sampled = keys.sampled;
    let mut add = |name: String, value: u64, sample: Value, description: &str| {
        rows.push(row![
            table.def.schema.as_str(),
            table.def.name.as_str(),
            index,
            info.moment(keys.taken),
            name.as_str(),
            value,
            sample,
            description,
        ]);
    };
    for (number, (columns, value)) in distinct.iter().enumerate() {
        add(format!("n_diff_pfx{:02}", number + 1), *value, Value::UInt(sampled), columns);
    }
    let leaves = keys.tree.leaves.round() as u64;
    let text = "Number of leaf pages in the index";
    add("n_leaf_pages".into(), leaves, Value::Null, text);
    add("size".into(), pages(keys), Value::Null, "Number of pages in the index");
}
