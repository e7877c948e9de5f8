//! STATISTICS and the tables of constraints.

use super::tables::{row_estimate, visible};
use super::{Information, Rows, listed, or_null, row, yes_no};
use crate::catalog::{IndexDef, IndexKind, ReferentialAction, SYSTEM_SCHEMA, TableDef, same_name};
use inia_base::value::Value;
use std::sync::Arc;

/// The definitions of all tables that the session may see.
fn definitions(info: &Information<'_>) -> Vec<Arc<TableDef>> {
    let computed = listed(info).map(|table| table.definition());
    computed.chain(visible(info).map(|table| table.def.clone())).collect()
}

pub(super) fn statistics(info: &Information<'_>, rows: &mut Rows) {
    for table in listed(info) {
        let def = table.definition();
        for index in &def.indexes {
            // Nothing is counted in what is computed.
            let distinct = (def.schema == SYSTEM_SCHEMA).then_some(0);
            (0..index.parts.len()).for_each(|at| statistic(&def, index, at, distinct, rows));
        }
    }
    for table in visible(info) {
        let count = row_estimate(table);
        let hidden = info.focus.hidden && table.def.is_transactional();
        if hidden && table.def.clustered_index().is_none() {
            super::extended::row_id_index(&table.def, rows);
        }
        for (number, index) in table.def.indexes.iter().enumerate() {
            let keys = table.stats().keys(number);
            for at in 0..index.parts.len() {
                // Only the last part of a unique index completes a key that no two rows share.
                let whole = index.unique() && at + 1 == index.parts.len();
                let prefix = keys.as_ref().filter(|_| !whole).and_then(|k| k.prefixes.get(at));
                let distinct = prefix.map(|prefix| prefix.distinct + prefix.distinct_nulls);
                let distinct = distinct.map_or(count, |values| (values.round() as u64).min(count));
                statistic(&table.def, index, at, Some(distinct), rows);
            }
            if hidden {
                super::extended::hidden_parts(&table.def, index, rows);
            }
        }
    }
}

fn statistic(def: &TableDef, index: &IndexDef, at: usize, distinct: Option<u64>, rows: &mut Rows) {
    let part = &index.parts[at];
    let column = &def.columns[part.column];
    // A functional key part has an expression in place of a column.
    let (name, expression) = match &column.generated {
        Some(generated) if column.is_hidden() => {
            (Value::Null, Value::from(&*super::escaped(&generated.expression)))
        }
        _ => (Value::from(column.name.as_str()), Value::Null),
    };
    // Collation is the order of the part: an index of MEMORY is a hash index, which has none,
    // unless BTREE was written.
    let (collation, kind) = match index.kind {
        IndexKind::FullText => (Value::Null, "FULLTEXT"),
        IndexKind::Spatial => ("A".into(), "SPATIAL"),
        _ if def.engine == "PERFORMANCE_SCHEMA" => (Value::Null, "HASH"),
        _ if def.engine == "MEMORY" && index.using.as_deref() != Some("BTREE") => {
            (Value::Null, "HASH")
        }
        _ => (if part.descending { "D" } else { "A" }.into(), "BTREE"),
    };
    rows.push(row![
        "def",
        def.schema.as_str(),
        def.name.as_str(),
        i64::from(!index.kind.is_unique()),
        def.schema.as_str(),
        index.name.as_str(),
        at as u64 + 1,
        name,
        collation,
        or_null(distinct.map(|distinct| distinct as i64)),
        or_null(part.prefix.map(i64::from)),
        Value::Null,
        if column.nullable { "YES" } else { "" },
        kind,
        "",
        index.comment.as_str(),
        yes_no(index.visible),
        expression,
    ]);
}

pub(super) fn key_column_usage(info: &Information<'_>, rows: &mut Rows) {
    for def in &definitions(info) {
        let (schema, name) = (def.schema.as_str(), def.name.as_str());
        for index in def.indexes.iter().filter(|index| index.kind.is_unique()) {
            for (at, part) in index.parts.iter().enumerate() {
                let functional = def.columns[part.column].is_hidden();
                if functional || !info.shows_column(def, part.column) {
                    continue;
                }
                let mut row = row![
                    "def",
                    schema,
                    index.name.as_str(),
                    "def",
                    schema,
                    name,
                    def.columns[part.column].name.as_str(),
                    at as u64 + 1,
                ];
                // A unique key refers to nothing: the columns about a parent are NULL.
                row.extend(std::iter::repeat_n(Value::Null, 4));
                rows.push(row);
            }
        }
        for key in &def.foreign_keys {
            // Columns are paired with the parent's by position, so both positions are the same.
            for (at, (column, parent)) in key.columns.iter().zip(&key.ref_columns).enumerate() {
                if !info.shows_column(def, *column) {
                    continue;
                }
                rows.push(row![
                    "def",
                    schema,
                    key.name.as_str(),
                    "def",
                    schema,
                    name,
                    def.columns[*column].name.as_str(),
                    at as u64 + 1,
                    at as u64 + 1,
                    key.ref_schema.as_str(),
                    key.ref_table.as_str(),
                    parent.as_str(),
                ]);
            }
        }
    }
}

pub(super) fn table_constraints(info: &Information<'_>, rows: &mut Rows) {
    for def in &definitions(info) {
        let mut push = |constraint: &str, kind: &str, enforced: bool| {
            let (schema, name) = (def.schema.as_str(), def.name.as_str());
            rows.push(row!["def", schema, constraint, schema, name, kind, yes_no(enforced)]);
        };
        for index in def.indexes.iter().filter(|index| index.kind.is_unique()) {
            let primary = index.kind == IndexKind::Primary;
            push(&index.name, if primary { "PRIMARY KEY" } else { "UNIQUE" }, true);
        }
        def.foreign_keys.iter().for_each(|key| push(&key.name, "FOREIGN KEY", true));
        def.checks.iter().for_each(|check| push(&check.name, "CHECK", check.enforced));
    }
}

/// TABLE_CONSTRAINTS_EXTENSIONS: no index has attributes for an engine.
pub(super) fn table_constraints_extensions(info: &Information<'_>, rows: &mut Rows) {
    for def in &definitions(info) {
        for index in &def.indexes {
            let (schema, table) = (def.schema.as_str(), def.name.as_str());
            let name = index.name.as_str();
            rows.push(row!["def", schema, name, table, Value::Null, Value::Null]);
        }
    }
}

pub(super) fn check_constraints(info: &Information<'_>, rows: &mut Rows) {
    for table in visible(info) {
        for check in &table.def.checks {
            let schema = table.def.schema.as_str();
            let clause = super::escaped(&check.expression);
            rows.push(row!["def", schema, check.name.as_str(), &*clause]);
        }
    }
}

pub(super) fn referential_constraints(info: &Information<'_>, rows: &mut Rows) {
    for table in visible(info) {
        let def = &table.def;
        for key in &def.foreign_keys {
            let parent = info.catalog.schemas.get(&key.ref_schema);
            let parent = parent.and_then(|schema| schema.tables.get(&key.ref_table));
            let unique = parent.and_then(|parent| parent_key(&parent.def, &key.ref_columns));
            rows.push(row![
                "def",
                def.schema.as_str(),
                key.name.as_str(),
                "def",
                key.ref_schema.as_str(),
                or_null(unique),
                "NONE",
                action(key.on_update),
                action(key.on_delete),
                def.name.as_str(),
                key.ref_table.as_str(),
            ]);
        }
    }
}

/// The unique index that starts with the referenced columns.
fn parent_key<'d>(parent: &'d TableDef, columns: &[String]) -> Option<&'d str> {
    let fits = |index: &&IndexDef| {
        index.unique()
            && index.parts.len() >= columns.len()
            && index
                .parts
                .iter()
                .zip(columns)
                .all(|(part, column)| same_name(&parent.columns[part.column].name, column))
    };
    parent.indexes.iter().find(fits).map(|index| index.name.as_str())
}

fn action(action: ReferentialAction) -> &'static str {
    match action {
        ReferentialAction::NoAction => "NO ACTION",
        ReferentialAction::Restrict => "RESTRICT",
        ReferentialAction::Cascade => "CASCADE",
        ReferentialAction::SetNull => "SET NULL",
        ReferentialAction::SetDefault => "SET DEFAULT",
    }
}
