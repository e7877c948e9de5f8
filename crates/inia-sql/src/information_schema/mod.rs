//! Tables that the server computes: `information_schema`, and the parts of `performance_schema`
//! and `mysql` that clients read.
//!
//! Their columns are declared in `tables.txt`; a table of that file has the rows that its function
//! in [`FILLS`] makes, or none. Rows show only what the session's account may see.

mod charsets;
mod columns;
mod declare;
mod grants;
mod keys;
mod server;
mod tables;
mod views;

use crate::account::{Access, Privileges};
use crate::bind::VirtualTables;
use crate::catalog::{
    CatalogVersion, ColumnDef, IndexDef, IndexKind, IndexPart, TableDef, TableId,
};
use crate::database::Database;
use crate::plan::VirtualTable;
use crate::show::Focus;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::ids::TreeId;
use inia_base::temporal::{DateTime, TimeZone};
use inia_base::value::Value;
use inia_expr::{ExprType, VarScope};
use std::sync::{Arc, LazyLock};

/// Names and values of variables or counters.
pub(crate) type NamedValues = Vec<(String, String)>;

/// What rows are made from: the database as one session sees it.
pub(crate) struct Information<'h> {
    pub(crate) db: &'h Database,
    pub(crate) catalog: Arc<CatalogVersion>,
    pub(crate) access: Arc<Access>,
    pub(crate) zone: TimeZone,
    /// The part that is asked for.
    pub(crate) focus: Focus,
    /// System variables of a scope.
    pub(crate) variables: Box<dyn Fn(VarScope) -> NamedValues + 'h>,
    /// Status counters of a scope.
    pub(crate) status: Box<dyn Fn(VarScope) -> NamedValues + 'h>,
}

impl Information<'_> {
    /// Whether a table's rows are asked for and may be seen.
    fn shows(&self, schema: &str, table: &str) -> bool {
        self.focus.schema.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(schema))
            && self.focus.table.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(table))
            && (self.access.sees_table(schema, table) || self.is_temporary(schema, table))
    }

    /// Whether a column of a table whose rows are asked for may be seen.
    fn shows_column(&self, def: &TableDef, column: usize) -> bool {
        def.temporary
            || self.access.sees_column(&def.schema, &def.name, &def.columns[column].name)
            || self.access.on_some_column(&def.schema, &def.name) == Privileges::NONE
    }

    /// Whether the table is a temporary one of the session.
    fn is_temporary(&self, schema: &str, table: &str) -> bool {
        let schema = self.catalog.schemas.get(schema);
        let found = schema.and_then(|schema| schema.tables.get(table));
        found.is_some_and(|table| table.def.temporary)
    }

    /// Seconds since 1970 in the session's time zone; NULL for 0.
    fn moment(&self, seconds: u64) -> Value {
        if seconds == 0 {
            return Value::Null;
        }
        let utc = DateTime::from_unix(seconds as i64, 0).unwrap_or(DateTime::ZERO);
        Value::DateTime(self.zone.from_utc(utc).unwrap_or(utc))
    }
}

/// Rows under construction.
type Rows = Vec<Vec<Value>>;
/// Makes a table's rows.
type Fill = fn(&Information<'_>, &mut Rows);

/// One row; NULL is `Value::Null`.
macro_rules! row {
    ($($value:expr),* $(,)?) => { vec![$(inia_base::value::Value::from($value)),*] };
}
use row;

/// A value or NULL.
fn or_null<T: Into<Value>>(value: Option<T>) -> Value {
    value.map_or(Value::Null, Into::into)
}

/// Whether a table of information_schema is none of its views.
pub(crate) fn is_no_view(table: &str) -> bool {
    const TABLES: [&str; 15] = [
        "APPLICABLE_ROLES",
        "COLUMN_PRIVILEGES",
        "ENABLED_ROLES",
        "ENGINES",
        "OPTIMIZER_TRACE",
        "PLUGINS",
        "PROCESSLIST",
        "PROFILING",
        "ROLE_COLUMN_GRANTS",
        "ROLE_ROUTINE_GRANTS",
        "ROLE_TABLE_GRANTS",
        "SCHEMA_PRIVILEGES",
        "TABLESPACES",
        "TABLE_PRIVILEGES",
        "USER_PRIVILEGES",
    ];
    const VIEWS: [&str; 5] = [
        "INNODB_DATAFILES",
        "INNODB_FIELDS",
        "INNODB_FOREIGN",
        "INNODB_FOREIGN_COLS",
        "INNODB_TABLESPACES_BRIEF",
    ];
    TABLES.contains(&table) || (table.starts_with("INNODB_") && !VIEWS.contains(&table))
}

fn yes_no(yes: bool) -> &'static str {
    if yes { "YES" } else { "NO" }
}

/// Which tables have rows.
const FILLS: &[(&str, &str, Fill)] = &[
    ("information_schema", "APPLICABLE_ROLES", grants::applicable_roles),
    ("information_schema", "CHARACTER_SETS", charsets::character_sets),
    ("information_schema", "CHECK_CONSTRAINTS", keys::check_constraints),
    ("information_schema", "COLLATIONS", charsets::collations),
    ("information_schema", "COLLATION_CHARACTER_SET_APPLICABILITY", charsets::applicability),
    ("information_schema", "COLUMNS", columns::columns),
    ("information_schema", "COLUMN_PRIVILEGES", grants::column_privileges),
    ("information_schema", "ENABLED_ROLES", grants::enabled_roles),
    ("information_schema", "ENGINES", server::engines),
    ("information_schema", "INNODB_TRX", server::transactions),
    ("information_schema", "KEYWORDS", server::keywords),
    ("information_schema", "KEY_COLUMN_USAGE", keys::key_column_usage),
    ("information_schema", "PARTITIONS", tables::partitions),
    ("information_schema", "PLUGINS", server::plugins),
    ("information_schema", "PROCESSLIST", server::processlist),
    ("information_schema", "REFERENTIAL_CONSTRAINTS", keys::referential_constraints),
    ("information_schema", "SCHEMATA", tables::schemata),
    ("information_schema", "SCHEMA_PRIVILEGES", grants::schema_privileges),
    ("information_schema", "STATISTICS", keys::statistics),
    ("information_schema", "TABLES", tables::tables),
    ("information_schema", "TABLE_CONSTRAINTS", keys::table_constraints),
    ("information_schema", "TABLE_PRIVILEGES", grants::table_privileges),
    ("information_schema", "USER_ATTRIBUTES", grants::user_attributes),
    ("information_schema", "USER_PRIVILEGES", grants::user_privileges),
    ("information_schema", "VIEWS", views::views),
    ("information_schema", "VIEW_TABLE_USAGE", views::table_usage),
    ("mysql", "columns_priv", grants::mysql_columns_priv),
    ("mysql", "db", grants::mysql_db),
    ("mysql", "default_roles", grants::mysql_default_roles),
    ("mysql", "global_grants", grants::mysql_global_grants),
    ("mysql", "password_history", grants::mysql_password_history),
    ("mysql", "role_edges", grants::mysql_role_edges),
    ("mysql", "tables_priv", grants::mysql_tables_priv),
    ("mysql", "user", grants::mysql_user),
    ("performance_schema", "global_status", server::global_status),
    ("performance_schema", "global_variables", server::global_variables),
    ("performance_schema", "persisted_variables", server::persisted_variables),
    ("performance_schema", "processlist", server::processlist),
    ("performance_schema", "session_status", server::session_status),
    ("performance_schema", "session_variables", server::session_variables),
];

/// A computed table.
pub(crate) struct SystemTable {
    schema: String,
    name: String,
    columns: Vec<(String, ExprType)>,
    fill: Option<Fill>,
}

static TABLES: LazyLock<Vec<Arc<SystemTable>>> = LazyLock::new(|| {
    let tables = declare::tables().into_iter().map(|table| {
        let fill = FILLS
            .iter()
            .find(|(schema, name, _)| *schema == table.schema && *name == table.name)
            .map(|(_, _, fill)| *fill);
        let declare::Declared { schema, name, columns } = table;
        Arc::new(SystemTable { schema, name, columns, fill })
    });
    tables.collect()
});

/// The computed databases, and whether their tables' names ignore case.
const SCHEMAS: &[(&str, bool)] =
    &[("information_schema", true), ("mysql", false), ("performance_schema", true)];

/// The computed database of that name, spelt as it is listed.
pub(crate) fn schema(name: &str) -> Option<&'static str> {
    let found = SCHEMAS.iter().find(|(schema, any_case)| match any_case {
        true => schema.eq_ignore_ascii_case(name),
        false => *schema == name,
    });
    found.map(|(schema, _)| *schema)
}

/// The computed table of that name.
pub(crate) fn find(schema_name: &str, name: &str) -> Option<Arc<SystemTable>> {
    let schema = schema(schema_name)?;
    let any_case = schema != "mysql";
    let found = TABLES.iter().find(|table| {
        table.schema == schema
            && match any_case {
                true => table.name.eq_ignore_ascii_case(name),
                false => table.name == name,
            }
    });
    found.cloned()
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
        self.columns.iter().map(|(name, _)| (name.clone(), false)).collect()
    }

    /// The definition by which SHOW CREATE TABLE tells of it.
    pub(crate) fn definition(&self) -> TableDef {
        let column = |(name, ty): &(String, ExprType)| {
            ColumnDef::new(name, ty.data_type.clone(), ty.nullable)
        };
        let columns: Vec<ColumnDef> = self.columns.iter().map(column).collect();
        let stored = self.schema == "mysql";
        let key = keys::PRIMARY_KEYS.iter().find(|(table, _)| stored && *table == self.name);
        let position = |name: &str| columns.iter().position(|column| column.name == name);
        let part =
            |name| Some(IndexPart { column: position(name)?, prefix: None, descending: false });
        let index = |parts: Vec<IndexPart>| IndexDef {
            name: String::from("PRIMARY"),
            kind: IndexKind::Primary,
            parts,
            comment: String::new(),
            visible: true,
            using: None,
            for_foreign_key: false,
            tree: TreeId(0),
        };
        let indexes = key.map(|(_, names)| index(names.split(',').filter_map(part).collect()));
        TableDef {
            id: TableId(0),
            schema: self.schema.clone(),
            name: self.name.clone(),
            indexes: indexes.into_iter().collect(),
            columns,
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            clustered: TreeId(0),
            engine: String::from("InnoDB"),
            collation: Collation::SYSTEM,
            comment: String::new(),
            auto_increment: 0,
            options: Vec::new(),
            created: 0,
            temporary: self.schema == "information_schema",
        }
    }

    /// `Table_type` in SHOW FULL TABLES.
    fn kind(&self) -> &'static str {
        if self.schema == "information_schema" { "SYSTEM VIEW" } else { "BASE TABLE" }
    }
}

impl std::fmt::Debug for SystemTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SystemTable({}.{})", self.schema, self.name)
    }
}

impl VirtualTable for SystemTable {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> &[(String, ExprType)] {
        &self.columns
    }

    fn rows(&self, information: &Information<'_>) -> Vec<Vec<Value>> {
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
        for (value, (_, ty)) in row.iter_mut().zip(&self.columns) {
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
