//! STATISTICS and the tables of constraints.

use super::tables::{row_estimate, visible};
use super::{Information, Rows, or_null, row, yes_no};
use crate::catalog::{IndexDef, IndexKind, ReferentialAction, Table, TableDef, same_name};
use inia_base::value::Value;

/// The primary keys of the tables that MySQL keeps accounts and help in.
pub(super) const PRIMARY_KEYS: [(&str, &str); 30] = [
    ("columns_priv", "Host,User,Db,Table_name,Column_name"),
    ("component", "component_id"),
    ("db", "Host,User,Db"),
    ("default_roles", "HOST,USER,DEFAULT_ROLE_HOST,DEFAULT_ROLE_USER"),
    ("engine_cost", "cost_name,engine_name,device_type"),
    ("func", "name"),
    ("global_grants", "USER,HOST,PRIV"),
    ("gtid_executed", "source_uuid,interval_start"),
    ("help_category", "help_category_id"),
    ("help_keyword", "help_keyword_id"),
    ("help_relation", "help_keyword_id,help_topic_id"),
    ("help_topic", "help_topic_id"),
    ("innodb_index_stats", "database_name,table_name,index_name,stat_name"),
    ("innodb_table_stats", "database_name,table_name"),
    ("password_history", "Host,User,Password_timestamp"),
    ("plugin", "name"),
    ("procs_priv", "Host,User,Db,Routine_name,Routine_type"),
    ("proxies_priv", "Host,User,Proxied_host,Proxied_user"),
    ("role_edges", "FROM_HOST,FROM_USER,TO_HOST,TO_USER"),
    ("server_cost", "cost_name"),
    ("servers", "Server_name"),
    ("slave_master_info", "Channel_name"),
    ("slave_relay_log_info", "Channel_name"),
    ("tables_priv", "Host,User,Db,Table_name"),
    ("time_zone", "Time_zone_id"),
    ("time_zone_leap_second", "Transition_time"),
    ("time_zone_name", "Name"),
    ("time_zone_transition", "Time_zone_id,Transition_time"),
    ("time_zone_transition_type", "Time_zone_id,Transition_type_id"),
    ("user", "Host,User"),
];

pub(super) fn statistics(info: &Information<'_>, rows: &mut Rows) {
    for table in visible(info) {
        let count = row_estimate(table);
        for (number, index) in table.def.indexes.iter().enumerate() {
            let keys = table.stats().keys(number);
            for at in 0..index.parts.len() {
                // Only the last part of a unique index completes a key that no two rows share.
                let whole = index.unique() && at + 1 == index.parts.len();
                let prefix = keys.as_ref().filter(|_| !whole).and_then(|k| k.prefixes.get(at));
                let distinct = prefix.map(|prefix| prefix.distinct + prefix.distinct_nulls);
                let distinct = distinct.map_or(count, |values| (values.round() as u64).min(count));
                statistic(table, index, at, distinct, rows);
            }
        }
    }
}

fn statistic(table: &Table, index: &IndexDef, at: usize, distinct: u64, rows: &mut Rows) {
    let (def, part) = (&table.def, &index.parts[at]);
    let column = &def.columns[part.column];
    // A functional key part has an expression in place of a column.
    let (name, expression) = match &column.generated {
        Some(generated) if column.is_hidden() => {
            (Value::Null, Value::from(generated.expression.as_str()))
        }
        _ => (Value::from(column.name.as_str()), Value::Null),
    };
    // Collation is the order of the part: an index of MEMORY is a hash index, which has none,
    // unless BTREE was written.
    let (collation, kind) = match index.kind {
        IndexKind::FullText => (Value::Null, "FULLTEXT"),
        IndexKind::Spatial => ("A".into(), "SPATIAL"),
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
        distinct as i64,
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
    for table in visible(info) {
        let def = &table.def;
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
    for table in visible(info) {
        let def = &table.def;
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

pub(super) fn check_constraints(info: &Information<'_>, rows: &mut Rows) {
    for table in visible(info) {
        for check in &table.def.checks {
            let schema = table.def.schema.as_str();
            rows.push(row!["def", schema, check.name.as_str(), check.expression.as_str()]);
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
