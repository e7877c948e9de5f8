//! Tables that the server computes: their names and columns, declared in `tables.txt`.

pub(crate) mod definitions;
pub(crate) mod views;

use crate::catalog::SYSTEM_SCHEMA;
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, IntWidth, LobSize};
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::ExprType;
use std::sync::LazyLock;

/// A declared table.
pub(crate) struct Declared {
    /// Its database.
    pub(crate) schema: String,
    /// Its name.
    pub(crate) name: String,
    /// Name and type of each column.
    pub(crate) columns: Vec<(String, ExprType)>,
}

static TABLES: LazyLock<Vec<Declared>> = LazyLock::new(read);

/// All declared tables in the order of the file.
pub(crate) fn tables() -> &'static [Declared] {
    &TABLES
}

/// The computed databases, and whether their tables' names ignore case.
pub(crate) const SCHEMAS: &[(&str, bool)] =
    &[("information_schema", true), (SYSTEM_SCHEMA, false), ("performance_schema", true)];

/// The computed database of that name, spelt as it is listed.
pub fn schema(name: &str) -> Option<&'static str> {
    let found = SCHEMAS.iter().find(|(schema, any_case)| match any_case {
        true => schema.eq_ignore_ascii_case(name),
        false => *schema == name,
    });
    found.map(|(schema, _)| *schema)
}

/// The position of the computed table of that name in [`tables`].
pub(crate) fn position(schema_name: &str, name: &str) -> Option<usize> {
    let schema = schema(schema_name)?;
    let any_case = schema != SYSTEM_SCHEMA;
    TABLES.iter().position(|table| {
        table.schema == schema
            && match any_case {
                true => table.name.eq_ignore_ascii_case(name),
                false => table.name == name,
            }
    })
}

/// Tables of MySQL's data dictionary, which nobody opens.
const DICTIONARY: [&str; 30] = [
    "catalogs",
    "character_sets",
    "check_constraints",
    "collations",
    "column_statistics",
    "column_type_elements",
    "columns",
    "dd_properties",
    "events",
    "foreign_key_column_usage",
    "foreign_keys",
    "index_column_usage",
    "index_partitions",
    "index_stats",
    "indexes",
    "parameter_type_elements",
    "parameters",
    "resource_groups",
    "routines",
    "schemata",
    "st_spatial_reference_systems",
    "table_partition_values",
    "table_partitions",
    "table_stats",
    "tables",
    "tablespace_files",
    "tablespaces",
    "triggers",
    "view_routine_usage",
    "view_table_usage",
];

/// Whether the server computes the table of that name, or all tables of its database. Schema
/// [`SYSTEM_SCHEMA`] has stored ones, too.
pub fn is_computed(schema_name: &str, table: &str) -> bool {
    match schema(schema_name) {
        Some(SYSTEM_SCHEMA) => position(schema_name, table).is_some(),
        other => other.is_some(),
    }
}

/// Error 3554 for the tables of MySQL's data dictionary.
pub fn check_dictionary(schema_name: &str, table: &str) -> Result<(), SqlError> {
    const LOGS: [&str; 2] = ["innodb_ddl_log", "innodb_dynamic_metadata"];
    let kind = match table {
        _ if schema_name != SYSTEM_SCHEMA => return Ok(()),
        table if DICTIONARY.contains(&table) => "data dictionary table",
        table if LOGS.contains(&table) => "system table",
        _ => return Ok(()),
    };
    Err(SqlError::new(ErrorCode::NoSystemTableAccess, &[&kind, &schema_name, &table]))
}

/// Whether a table of information_schema is none of its views, or one of rows that MySQL computes
/// first.
pub(crate) fn is_no_view(table: &str) -> bool {
    const TABLES: [&str; 16] = [
        "APPLICABLE_ROLES",
        "COLLATIONS",
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

fn read() -> Vec<Declared> {
    let mut tables: Vec<Declared> = Vec::new();
    for line in include_str!("computed/tables.txt").lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some((schema, name)) = line.split_once('.').filter(|_| !line.starts_with(' ')) {
            let (schema, name) = (schema.to_owned(), name.to_owned());
            tables.push(Declared { schema, name, columns: Vec::new() });
            continue;
        }
        let mut words = line.trim_start().splitn(4, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (name, null, collation, text) = (word(), word(), word(), word());
        let collation = Collation::from_name(collation).unwrap_or(Collation::SYSTEM);
        let mut ty = ExprType::of_column(data_type(text, collation), null == "null");
        if ty.data_type == DataType::Json {
            ty.decimals = 0;
        }
        if let Some(table) = tables.last_mut() {
            table.columns.push((name.to_owned(), ty));
        }
    }
    tables
}

/// The type that COLUMN_TYPE describes.
fn data_type(text: &str, collation: Collation) -> DataType {
    let (name, rest) = match text.find(['(', ' ']) {
        Some(end) => text.split_at(end),
        None => (text, ""),
    };
    // The last parenthesis ends the list: a member of ENUM or SET may contain another one.
    let inner =
        rest.strip_prefix('(').and_then(|rest| rest.rsplit_once(')')).map(|(inner, _)| inner);
    let number = |position: usize| {
        let list = inner.unwrap_or_default();
        list.split(',').nth(position).and_then(|digits| digits.parse::<u32>().ok()).unwrap_or(0)
    };
    let (chars, fsp) = (number(0), number(0) as u8);
    let unsigned = rest.ends_with("unsigned");
    let int = |width| DataType::Int { width, unsigned };
    let text_of = |size| DataType::Text { size, collation };
    let members = || {
        let list = inner.unwrap_or_default();
        let list = list.strip_prefix('\'').and_then(|list| list.strip_suffix('\''));
        let list = list.unwrap_or_default().split("','").map(str::to_owned);
        list.collect::<Vec<String>>().into()
    };
    // `tables.txt` is compiled in, so an unknown name is no error: it falls back to VARCHAR(64).
    match name {
        "tinyint" => int(IntWidth::Tiny),
        "smallint" => int(IntWidth::Small),
        "mediumint" => int(IntWidth::Medium),
        "int" => int(IntWidth::Int),
        "bigint" => int(IntWidth::Big),
        "float" => DataType::Float { decimals: None, unsigned },
        "double" => DataType::Double { decimals: None, unsigned },
        "decimal" => DataType::Decimal { precision: chars as u8, scale: number(1) as u8, unsigned },
        "char" => DataType::Char { chars, collation },
        "varchar" => DataType::VarChar { chars, collation },
        "binary" => DataType::Binary(chars),
        "varbinary" => DataType::VarBinary(chars),
        "tinytext" => text_of(LobSize::Tiny),
        "text" => text_of(LobSize::Normal),
        "mediumtext" => text_of(LobSize::Medium),
        "longtext" => text_of(LobSize::Long),
        "blob" => DataType::Blob(LobSize::Normal),
        "mediumblob" => DataType::Blob(LobSize::Medium),
        "longblob" => DataType::Blob(LobSize::Long),
        "date" => DataType::Date,
        "time" => DataType::Time { fsp },
        "datetime" => DataType::DateTime { fsp },
        "timestamp" => DataType::Timestamp { fsp },
        "year" => DataType::Year,
        "enum" => DataType::Enum { members: members(), collation },
        "set" => DataType::Set { members: members(), collation },
        "json" => DataType::Json,
        _ => DataType::VarChar { chars: 64, collation },
    }
}
