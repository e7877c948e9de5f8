//! Tables that the server computes: `information_schema`, and the parts of `performance_schema`
//! and `mysql` that clients read.
//!
//! Their columns are declared in `tables.txt`; a table of that file has the rows that its function
//! in [`FILLS`] makes, or none. Rows show only what the session's account may see.

mod charsets;
mod columns;
mod dictionary;
mod engine;
mod extended;
mod grants;
mod histograms;
mod innodb;
mod keys;
mod logs;
mod performance;
mod programs;
mod roles;
pub mod search;
mod sequences;
mod server;
mod spatial;
mod status;
mod tables;
mod tablespaces;
mod views;

use crate::bind::VirtualTables;
use crate::catalog::{ColumnDef, IndexDef, IndexKind, IndexPart, TABLESPACE, TableDef, TableId};
use crate::computed::{self, Declared, definitions};
use crate::information::Information;
use crate::plan::VirtualTable;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::ids::TreeId;
use inia_base::value::Value;
use inia_expr::ExprType;
use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};

/// Rows under construction.
type Rows = Vec<Vec<Value>>;
/// Makes a table's rows.
type Fill = fn(&Information<'_>, &mut Rows);

/// One row; NULL is `Value::Null`.
macro_rules! row {
    ($($value:expr),* $(,)?) => { vec![$(inia_base::value::Value::from($value)),*] };
}
pub use engine::metric_names;
use row;
pub use server::is_plugin;
pub use tables::row_format;
pub(crate) use tables::shown_error;

/// An expression as the dictionary keeps it: behind backslashes where a literal would have them.
fn escaped(text: &str) -> Cow<'_, str> {
    match text.contains(['\'', '\\']) {
        true => text.replace('\\', "\\\\").replace('\'', "\\'").into(),
        false => text.into(),
    }
}

/// A value or NULL.
fn or_null<T: Into<Value>>(value: Option<T>) -> Value {
    value.map_or(Value::Null, Into::into)
}

fn yes_no(yes: bool) -> &'static str {
    if yes { "YES" } else { "NO" }
}

/// Which tables have rows.
const FILLS: &[(&str, &str, Fill)] = &[
    ("information_schema", "ADMINISTRABLE_ROLE_AUTHORIZATIONS", roles::administrable_roles),
    ("information_schema", "APPLICABLE_ROLES", roles::applicable_roles),
    ("information_schema", "CHARACTER_SETS", charsets::character_sets),
    ("information_schema", "CHECK_CONSTRAINTS", keys::check_constraints),
    ("information_schema", "COLLATIONS", charsets::collations),
    ("information_schema", "COLLATION_CHARACTER_SET_APPLICABILITY", charsets::applicability),
    ("information_schema", "COLUMNS", columns::columns),
    ("information_schema", "COLUMNS_EXTENSIONS", columns::columns_extensions),
    ("information_schema", "COLUMN_PRIVILEGES", grants::column_privileges),
    ("information_schema", "COLUMN_STATISTICS", histograms::column_statistics),
    ("information_schema", "ENABLED_ROLES", grants::enabled_roles),
    ("information_schema", "ENGINES", server::engines),
    ("information_schema", "EVENTS", programs::events),
    ("information_schema", "FILES", tablespaces::files),
    ("information_schema", "INNODB_BUFFER_POOL_STATS", engine::buffer_pool_stats),
    ("information_schema", "INNODB_CMP", engine::compression),
    ("information_schema", "INNODB_CMPMEM", engine::compression),
    ("information_schema", "INNODB_CMPMEM_RESET", engine::compression),
    ("information_schema", "INNODB_CMP_RESET", engine::compression),
    ("information_schema", "INNODB_COLUMNS", dictionary::table_columns),
    ("information_schema", "INNODB_DATAFILES", tablespaces::datafiles),
    ("information_schema", "INNODB_FIELDS", dictionary::fields),
    ("information_schema", "INNODB_FOREIGN", dictionary::foreign),
    ("information_schema", "INNODB_FOREIGN_COLS", dictionary::foreign_columns),
    ("information_schema", "INNODB_FT_CONFIG", search::config),
    ("information_schema", "INNODB_FT_DEFAULT_STOPWORD", server::default_stopwords),
    ("information_schema", "INNODB_FT_INDEX_CACHE", search::index_cache),
    ("information_schema", "INNODB_FT_INDEX_TABLE", search::index_table),
    ("information_schema", "INNODB_INDEXES", dictionary::table_indexes),
    ("information_schema", "INNODB_METRICS", engine::metrics),
    ("information_schema", "INNODB_TABLES", dictionary::tables),
    ("information_schema", "INNODB_TABLESPACES", tablespaces::tablespaces),
    ("information_schema", "INNODB_TABLESPACES_BRIEF", tablespaces::brief),
    ("information_schema", "INNODB_TABLESTATS", dictionary::statistics),
    ("information_schema", "INNODB_TRX", server::transactions),
    ("information_schema", "KEYWORDS", server::keywords),
    ("information_schema", "KEY_COLUMN_USAGE", keys::key_column_usage),
    ("information_schema", "OPTIMIZER_TRACE", server::optimizer_trace),
    ("information_schema", "PARAMETERS", programs::parameters),
    ("information_schema", "PARTITIONS", tables::partitions),
    ("information_schema", "PLUGINS", server::plugins),
    ("information_schema", "PROCESSLIST", server::processlist),
    ("information_schema", "PROFILING", server::profiling),
    ("information_schema", "REFERENTIAL_CONSTRAINTS", keys::referential_constraints),
    ("information_schema", "RESOURCE_GROUPS", server::resource_groups),
    ("information_schema", "ROLE_COLUMN_GRANTS", roles::column_grants),
    ("information_schema", "ROLE_ROUTINE_GRANTS", roles::routine_grants),
    ("information_schema", "ROLE_TABLE_GRANTS", roles::table_grants),
    ("information_schema", "ROUTINES", programs::routines),
    ("information_schema", "SCHEMATA", tables::schemata),
    ("information_schema", "SCHEMATA_EXTENSIONS", tables::schemata_extensions),
    ("information_schema", "SCHEMA_PRIVILEGES", grants::schema_privileges),
    ("information_schema", "STATISTICS", keys::statistics),
    ("information_schema", "ST_GEOMETRY_COLUMNS", spatial::geometry_columns),
    ("information_schema", "ST_SPATIAL_REFERENCE_SYSTEMS", spatial::reference_systems),
    ("information_schema", "ST_UNITS_OF_MEASURE", spatial::units),
    ("information_schema", "TABLES", tables::tables),
    ("information_schema", "TABLESPACES_EXTENSIONS", tablespaces::extensions),
    ("information_schema", "TABLES_EXTENSIONS", tables::tables_extensions),
    ("information_schema", "TABLE_CONSTRAINTS", keys::table_constraints),
    ("information_schema", "TABLE_CONSTRAINTS_EXTENSIONS", keys::table_constraints_extensions),
    ("information_schema", "TABLE_PRIVILEGES", grants::table_privileges),
    ("information_schema", "TRIGGERS", programs::triggers),
    ("information_schema", "USER_ATTRIBUTES", grants::user_attributes),
    ("information_schema", "USER_PRIVILEGES", grants::user_privileges),
    ("information_schema", "VIEWS", views::views),
    ("information_schema", "VIEW_ROUTINE_USAGE", views::routine_usage),
    ("information_schema", "VIEW_TABLE_USAGE", views::table_usage),
    ("mysql", "columns_priv", grants::mysql_columns_priv),
    ("mysql", "db", grants::mysql_db),
    ("mysql", "default_roles", grants::mysql_default_roles),
    ("mysql", "engine_cost", engine::engine_cost),
    ("mysql", "general_log", logs::general_log),
    ("mysql", "global_grants", grants::mysql_global_grants),
    ("mysql", "innodb_index_stats", innodb::index_stats),
    ("mysql", "innodb_table_stats", innodb::table_stats),
    ("mysql", "password_history", grants::mysql_password_history),
    ("mysql", "role_edges", grants::mysql_role_edges),
    ("mysql", "procs_priv", grants::mysql_procs_priv),
    ("mysql", "proxies_priv", grants::mysql_proxies_priv),
    ("mysql", "server_cost", engine::server_cost),
    ("mysql", "servers", server::foreign_servers),
    ("mysql", "slow_log", logs::slow_log),
    ("mysql", "tables_priv", grants::mysql_tables_priv),
    ("mysql", "user", grants::mysql_user),
    ("performance_schema", "accounts", performance::accounts),
    ("performance_schema", "data_lock_waits", performance::locks::data_lock_waits),
    ("performance_schema", "data_locks", performance::locks::data_locks),
    ("performance_schema", "error_log", performance::error_log),
    (
        "performance_schema",
        "events_errors_summary_by_account_by_error",
        performance::errors::by_account,
    ),
    ("performance_schema", "events_errors_summary_by_host_by_error", performance::errors::by_host),
    (
        "performance_schema",
        "events_errors_summary_by_thread_by_error",
        performance::errors::by_thread,
    ),
    ("performance_schema", "events_errors_summary_by_user_by_error", performance::errors::by_user),
    ("performance_schema", "events_errors_summary_global_by_error", performance::errors::global),
    ("performance_schema", "events_statements_current", performance::statements::current),
    ("performance_schema", "events_statements_history", performance::statements::history),
    ("performance_schema", "events_statements_history_long", performance::statements::history),
    (
        "performance_schema",
        "events_statements_summary_by_account_by_event_name",
        performance::statements::by_account,
    ),
    (
        "performance_schema",
        "events_statements_summary_by_digest",
        performance::statements::by_digest,
    ),
    (
        "performance_schema",
        "events_statements_summary_by_host_by_event_name",
        performance::statements::by_host,
    ),
    (
        "performance_schema",
        "events_statements_summary_by_thread_by_event_name",
        performance::statements::by_thread,
    ),
    (
        "performance_schema",
        "events_statements_summary_by_user_by_event_name",
        performance::statements::by_user,
    ),
    (
        "performance_schema",
        "events_statements_summary_global_by_event_name",
        performance::statements::global,
    ),
    ("performance_schema", "events_transactions_current", performance::transactions::current),
    ("performance_schema", "events_transactions_history", performance::transactions::history),
    (
        "performance_schema",
        "events_transactions_summary_by_account_by_event_name",
        performance::transactions::by_account,
    ),
    (
        "performance_schema",
        "events_transactions_summary_by_host_by_event_name",
        performance::transactions::by_host,
    ),
    (
        "performance_schema",
        "events_transactions_summary_by_thread_by_event_name",
        performance::transactions::by_thread,
    ),
    (
        "performance_schema",
        "events_transactions_summary_by_user_by_event_name",
        performance::transactions::by_user,
    ),
    (
        "performance_schema",
        "events_transactions_summary_global_by_event_name",
        performance::transactions::global,
    ),
    (
        "performance_schema",
        "events_waits_summary_by_account_by_event_name",
        performance::files::waits_by_account,
    ),
    (
        "performance_schema",
        "events_waits_summary_by_host_by_event_name",
        performance::files::waits_by_host,
    ),
    (
        "performance_schema",
        "events_waits_summary_by_user_by_event_name",
        performance::files::waits_by_user,
    ),
    ("performance_schema", "events_waits_summary_global_by_event_name", performance::files::waits),
    ("performance_schema", "file_instances", performance::files::instances),
    ("performance_schema", "file_summary_by_event_name", performance::files::by_event),
    ("performance_schema", "file_summary_by_instance", performance::files::by_instance),
    ("performance_schema", "global_status", server::global_status),
    ("performance_schema", "global_variables", server::global_variables),
    ("performance_schema", "hosts", performance::hosts),
    ("performance_schema", "inia_lock_history", performance::lock_history::lock_history),
    ("performance_schema", "log_status", performance::log_status),
    ("performance_schema", "memory_summary_global_by_event_name", performance::memory_global),
    ("performance_schema", "metadata_locks", performance::locks::metadata_locks),
    ("performance_schema", "performance_timers", performance::performance_timers),
    ("performance_schema", "persisted_variables", server::persisted_variables),
    ("performance_schema", "prepared_statements_instances", performance::statements::prepared),
    ("performance_schema", "processlist", performance::processlist),
    ("performance_schema", "session_account_connect_attrs", server::session_account_connect_attrs),
    ("performance_schema", "session_connect_attrs", server::session_connect_attrs),
    ("performance_schema", "session_status", server::session_status),
    ("performance_schema", "session_variables", server::session_variables),
    ("performance_schema", "setup_actors", performance::setup_actors),
    ("performance_schema", "setup_consumers", performance::setup_consumers),
    ("performance_schema", "setup_instruments", performance::setup_instruments),
    ("performance_schema", "setup_objects", performance::setup_objects),
    ("performance_schema", "setup_threads", performance::setup_threads),
    ("performance_schema", "status_by_account", performance::status_by_account),
    ("performance_schema", "status_by_host", performance::status_by_host),
    ("performance_schema", "status_by_thread", performance::status_by_thread),
    ("performance_schema", "status_by_user", performance::status_by_user),
    (
        "performance_schema",
        "table_io_waits_summary_by_index_usage",
        performance::table_io::by_index,
    ),
    ("performance_schema", "table_io_waits_summary_by_table", performance::table_io::by_table),
    ("performance_schema", "threads", performance::threads),
    ("performance_schema", "users", performance::users),
    ("performance_schema", "variables_by_thread", performance::variables_by_thread),
    ("performance_schema", "variables_info", performance::variables_info),
];

/// A computed table.
pub struct SystemTable {
    declared: &'static Declared,
    fill: Option<Fill>,
    definition: OnceLock<Arc<TableDef>>,
}

static TABLES: LazyLock<Vec<Arc<SystemTable>>> = LazyLock::new(|| {
    let tables = computed::tables().iter().map(|declared| {
        let fill = FILLS
            .iter()
            .find(|(schema, name, _)| *schema == declared.schema && *name == declared.name)
            .map(|(_, _, fill)| *fill);
        Arc::new(SystemTable { declared, fill, definition: OnceLock::new() })
    });
    tables.collect()
});

/// The computed tables that a question about tables is about. Tables that MySQL does not have are
/// left out where none is named: who lists a schema finds what MySQL has.
fn listed(info: &Information<'_>) -> impl Iterator<Item = &'static Arc<SystemTable>> {
    let named = info.focus.table.is_some();
    TABLES.iter().filter(move |table| {
        let Declared { schema, name, .. } = table.declared;
        info.shows(schema, name) && (named || !name.starts_with("inia_"))
    })
}

/// The computed table of that name.
pub fn find(schema: &str, name: &str) -> Option<Arc<SystemTable>> {
    computed::position(schema, name).map(|at| TABLES[at].clone())
}

/// Finds computed tables for the binder.
pub(crate) struct SystemTables;

impl VirtualTables for SystemTables {
    fn find(&self, schema: &str, name: &str) -> Option<Arc<dyn VirtualTable>> {
        find(schema, name).map(|table| table as Arc<dyn VirtualTable>)
    }
}

impl SystemTable {
    /// Its columns' names, each with whether `*` leaves it out: none is.
    pub(crate) fn column_names(&self) -> Vec<(String, bool)> {
        self.declared.columns.iter().map(|(name, _)| (name.clone(), false)).collect()
    }

    /// The definition that SHOW CREATE TABLE shows.
    pub fn definition(&self) -> Arc<TableDef> {
        self.definition.get_or_init(|| Arc::new(self.define())).clone()
    }

    fn define(&self) -> TableDef {
        let (schema, name) = (self.declared.schema.as_str(), self.declared.name.as_str());
        let declared = definitions::of(schema, name);
        let column = |(name, ty): &(String, ExprType)| {
            let mut column = ColumnDef::new(name, ty.data_type.clone(), ty.nullable);
            if let Some(declared) = declared {
                declared.complete(&mut column);
            }
            column
        };
        let columns: Vec<ColumnDef> = self.declared.columns.iter().map(column).collect();
        let keys = declared.map_or(&[][..], |declared| &declared.keys);
        let indexes = keys.iter().map(|key| index_of(key, &columns)).collect();
        let is_view = schema == "information_schema";
        let engine = declared.map_or("", |declared| declared.engine);
        let mut def = TableDef {
            id: TableId(0),
            schema: schema.to_owned(),
            name: name.to_owned(),
            indexes,
            columns,
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            clustered: TreeId(0),
            engine: if is_view { memory_or_disk(&self.declared.columns) } else { engine }
                .to_owned(),
            collation: declared.map_or(Collation::SYSTEM, |declared| declared.collation),
            comment: declared.map_or("", |declared| declared.comment).to_owned(),
            auto_increment: 0,
            options: Vec::new(),
            created: 0,
            // MySQL prints these as CREATE TEMPORARY TABLE.
            temporary: is_view,
            histograms: Vec::new(),
            partitioning: None,
            union: None,
        };
        if schema == "mysql" && engine == "InnoDB" {
            let options = [(TABLESPACE, "mysql"), ("STATS_PERSISTENT", "0")];
            let format = [("ROW_FORMAT", "DYNAMIC")];
            let persistent = declared.is_some_and(|d| d.options.contains("stats_persistent"));
            let shown = options.into_iter().filter(|(name, _)| persistent || *name == TABLESPACE);
            def.options = shown.chain(format).map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
        }
        def
    }

    /// `Table_type` in SHOW FULL TABLES.
    fn kind(&self) -> &'static str {
        if self.declared.schema == "information_schema" { "SYSTEM VIEW" } else { "BASE TABLE" }
    }
}

/// The engine of the temporary table that MySQL computes rows in.
fn memory_or_disk(columns: &[(String, ExprType)]) -> &'static str {
    let long = |(_, ty): &(String, ExprType)| {
        matches!(ty.data_type, DataType::Text { .. } | DataType::Blob(_) | DataType::Json)
    };
    if columns.iter().any(long) { "InnoDB" } else { "MEMORY" }
}

fn index_of(key: &definitions::Key, columns: &[ColumnDef]) -> IndexDef {
    let kind = match key.kind {
        "P" => IndexKind::Primary,
        "U" => IndexKind::Unique,
        _ => IndexKind::Plain,
    };
    let part = |name: &&str| {
        let (name, descending) = match name.strip_suffix(" DESC") {
            Some(name) => (name, true),
            None => (*name, false),
        };
        let column = columns.iter().position(|column| column.name == name)?;
        Some(IndexPart { column, prefix: None, descending })
    };
    IndexDef {
        name: key.name.to_owned(),
        kind,
        parts: key.columns.iter().filter_map(part).collect(),
        comment: String::new(),
        visible: true,
        using: None,
        for_foreign_key: false,
        ngrams: false,
        element: None,
        clustered: kind == IndexKind::Primary,
        tree: TreeId(0),
    }
}

impl std::fmt::Debug for SystemTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SystemTable({}.{})", self.declared.schema, self.declared.name)
    }
}

impl VirtualTable for SystemTable {
    fn name(&self) -> &str {
        &self.declared.name
    }

    fn columns(&self) -> &[(String, ExprType)] {
        &self.declared.columns
    }

    fn rows(&self, information: &Information<'_>) -> Vec<Vec<Value>> {
        let observer = &information.db.observer;
        if self.declared.name.starts_with("setup_")
            && let Some(rows) = observer.setup.rows(&self.declared.name, observer.wants())
        {
            return rows;
        }
        let mut rows = Rows::new();
        if let Some(fill) = self.fill {
            fill(information, &mut rows);
        }
        rows.iter_mut().for_each(|row| self.to_declared(row));
        rows
    }
}

impl SystemTable {
    /// Members of ENUM and SET columns are written as text; their values are numbers.
    fn to_declared(&self, row: &mut [Value]) {
        for (value, (_, ty)) in row.iter_mut().zip(&self.declared.columns) {
            let Value::Text(text) = value else { continue };
            match &ty.data_type {
                DataType::Enum { members, .. } => {
                    let position = members.iter().position(|m| m.eq_ignore_ascii_case(text));
                    *value = position.map_or(Value::Null, |at| Value::UInt(at as u64 + 1));
                }
                DataType::Set { members, .. } => {
                    let mut bits = 0;
                    for word in text.split(',') {
                        let at = members.iter().position(|m| m.eq_ignore_ascii_case(word));
                        bits |= at.map_or(0, |at| 1 << at);
                    }
                    *value = Value::UInt(bits);
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
