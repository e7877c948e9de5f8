//! SHOW statements as queries over computed tables, as MySQL itself does them.
//!
//! Example: `SHOW TABLES LIKE 'a%'` in `test` becomes
//! `SELECT * FROM (SELECT TABLE_NAME AS … FROM information_schema.TABLES WHERE TABLE_SCHEMA =
//! 'test') AS TABLES WHERE … LIKE 'a%'`. What LIKE and WHERE mean then needs no code here.

mod fixed;
mod widths;

pub(crate) use fixed::{Fixed, column, deprecated, fixed};
use inia_query::information::Focus;
use inia_query::information_schema;
pub(crate) use widths::of_text;

use inia_base::error::SqlError;
use inia_parser::ast::{self, Expr, Query, QueryBody, RoutineKind, ShowFilter, ShowKind};
use inia_parser::{quote_name, quote_string};

/// A SHOW statement as a query.
pub(crate) struct Rewritten {
    pub(crate) query: Query,
    pub(crate) focus: Focus,
}

/// A SELECT over one computed table.
struct Template {
    table: &'static str,
    /// What comes out, as (expression, name).
    columns: Vec<(String, String)>,
    /// Which rows.
    condition: Option<String>,
    /// The column that LIKE is about, by position.
    like: usize,
    order: bool,
    focus: Focus,
}

fn template(table: &'static str, columns: &[(&str, &str)]) -> Template {
    let own = |text: &&str| (*text).to_owned();
    Template {
        table,
        columns: columns.iter().map(|(from, to)| (own(from), own(to))).collect(),
        condition: None,
        like: 0,
        order: false,
        focus: Focus::default(),
    }
}

impl Template {
    fn of_schema(mut self, column: &str, schema: &str) -> Template {
        self.condition = Some(format!("{column} = {}", quote_string(schema)));
        self.focus.schema = Some(schema.to_owned());
        self
    }

    fn of_table(mut self, schema: &str, table: &str) -> Template {
        // Names of tables that the server computes are found in any case.
        let computed = information_schema::find(schema, table).map(|table| table.definition());
        let known = computed.as_ref().map(|def| (def.schema.as_str(), def.name.as_str()));
        let (schema, table) = known.unwrap_or((schema, table));
        let (own, named) = (quote_string(schema), quote_string(table));
        self.condition = Some(format!("TABLE_SCHEMA = {own} AND TABLE_NAME = {named}"));
        self.focus = Focus {
            schema: Some(schema.to_owned()),
            table: Some(table.to_owned()),
            names_only: false,
            for_show: false,
            hidden: false,
        };
        self
    }

    fn extended(mut self, extended: bool) -> Template {
        self.focus.hidden = extended;
        self
    }

    /// The query with the statement's own filter in it.
    fn query(self, filter: Option<&ShowFilter>) -> Result<Rewritten, SqlError> {
        let list: Vec<String> =
            self.columns.iter().map(|(from, to)| format!("{from} AS {}", quote_name(to))).collect();
        let condition = self.condition.map_or(String::new(), |text| format!(" WHERE {text}"));
        let order = if self.order { " ORDER BY 1" } else { "" };
        let alias = match self.table.rsplit('.').next().unwrap_or_default() {
            "STATISTICS" => "SHOW_STATISTICS",
            name => name,
        };
        let text = format!(
            "SELECT * FROM (SELECT {} FROM {}{condition}) AS {alias}{order}",
            list.join(", "),
            self.table,
        );
        let parsed = inia_parser::parse(&text, inia_parser::SqlMode::empty());
        let statement = parsed.map_err(inia_query::error::parse_error)?;
        let ast::Statement::Select(mut query) = statement else {
            unreachable!("the text above is a SELECT")
        };
        if let QueryBody::Select(select) = &mut query.body {
            select.where_ = filter.map(|filter| match filter {
                ShowFilter::Where(expr) => expr.clone(),
                ShowFilter::Like(pattern) => Expr::Like {
                    expr: Box::new(Expr::column(self.columns[self.like].1.as_str())),
                    pattern: Box::new(Expr::string(pattern.as_str())),
                    escape: None,
                    negated: false,
                },
            });
        }
        Ok(Rewritten { query: *query, focus: self.focus })
    }
}

/// The query that a SHOW statement stands for; `None` for those that are no query. `schema` is
/// the database that it is about.
pub(crate) fn rewrite(
    show: &ast::Show,
    schema: &dyn Fn(Option<&str>) -> Result<String, SqlError>,
) -> Result<Option<Rewritten>, SqlError> {
    let filter = show.filter.as_ref();
    let found = match &show.kind {
        ShowKind::Databases => Some(databases(filter)),
        ShowKind::Tables { full, db, .. } => Some(tables(&schema(db.as_deref())?, *full, filter)),
        ShowKind::Columns { full, table, extended } => {
            let template = columns(&schema(table.db.as_deref())?, &table.name, *full);
            Some(template.extended(*extended))
        }
        ShowKind::Index { table, extended } => {
            let template = index(&schema(table.db.as_deref())?, &table.name);
            Some(template.extended(*extended))
        }
        ShowKind::TableStatus(db) => Some(table_status(&schema(db.as_deref())?)),
        ShowKind::OpenTables(db) => {
            let mut template = open_tables();
            if let Some(db) = db {
                template = template.of_schema("TABLE_SCHEMA", db);
            }
            template.focus.names_only = true;
            Some(template)
        }
        ShowKind::Triggers(db) => Some(triggers(&schema(db.as_deref())?)),
        ShowKind::Events(db) => Some(events(&schema(db.as_deref())?)),
        ShowKind::RoutineStatus(kind) => Some(routines(*kind)),
        kind => server(kind),
    };
    found.map(|template| template.query(filter)).transpose()
}

/// The column's name in SHOW DATABASES and SHOW TABLES has the pattern.
fn with_pattern(name: &str, filter: Option<&ShowFilter>) -> String {
    match filter {
        Some(ShowFilter::Like(pattern)) => format!("{name} ({pattern})"),
        _ => name.to_owned(),
    }
}

fn databases(filter: Option<&ShowFilter>) -> Template {
    let name = with_pattern("Database", filter);
    let columns = [("SCHEMA_NAME", name.as_str())];
    Template { order: true, ..template("information_schema.SCHEMATA", &columns) }
}

fn tables(schema: &str, full: bool, filter: Option<&ShowFilter>) -> Template {
    let name = with_pattern(&format!("Tables_in_{schema}"), filter);
    let columns = [("TABLE_NAME", name.as_str()), ("TABLE_TYPE", "Table_type")];
    let columns = &columns[..if full { 2 } else { 1 }];
    let mut found =
        template("information_schema.TABLES", columns).of_schema("TABLE_SCHEMA", schema);
    found.focus.names_only = true;
    found.order = true;
    found
}

fn columns(schema: &str, table: &str, full: bool) -> Template {
    let all = [
        ("COLUMN_NAME", "Field"),
        ("COLUMN_TYPE", "Type"),
        ("COLLATION_NAME", "Collation"),
        ("IS_NULLABLE", "Null"),
        ("COLUMN_KEY", "Key"),
        ("COLUMN_DEFAULT", "Default"),
        ("EXTRA", "Extra"),
        ("PRIVILEGES", "Privileges"),
        ("COLUMN_COMMENT", "Comment"),
    ];
    let only_full = ["Collation", "Privileges", "Comment"];
    let columns: Vec<(&str, &str)> =
        all.into_iter().filter(|(_, name)| full || !only_full.contains(name)).collect();
    template("information_schema.COLUMNS", &columns).of_table(schema, table)
}

fn index(schema: &str, table: &str) -> Template {
    let columns = [
        ("TABLE_NAME", "Table"),
        ("NON_UNIQUE", "Non_unique"),
        ("INDEX_NAME", "Key_name"),
        ("SEQ_IN_INDEX", "Seq_in_index"),
        ("COLUMN_NAME", "Column_name"),
        ("COLLATION", "Collation"),
        ("CARDINALITY", "Cardinality"),
        ("SUB_PART", "Sub_part"),
        ("NULL", "Packed"),
        ("NULLABLE", "Null"),
        ("INDEX_TYPE", "Index_type"),
        ("COMMENT", "Comment"),
        ("INDEX_COMMENT", "Index_comment"),
        ("IS_VISIBLE", "Visible"),
        ("EXPRESSION", "Expression"),
    ];
    template("information_schema.STATISTICS", &columns).of_table(schema, table)
}

fn table_status(schema: &str) -> Template {
    let columns = [
        ("TABLE_NAME", "Name"),
        ("ENGINE", "Engine"),
        ("VERSION", "Version"),
        ("ROW_FORMAT", "Row_format"),
        ("TABLE_ROWS", "Rows"),
        ("AVG_ROW_LENGTH", "Avg_row_length"),
        ("DATA_LENGTH", "Data_length"),
        ("MAX_DATA_LENGTH", "Max_data_length"),
        ("INDEX_LENGTH", "Index_length"),
        ("DATA_FREE", "Data_free"),
        ("AUTO_INCREMENT", "Auto_increment"),
        ("CREATE_TIME", "Create_time"),
        ("UPDATE_TIME", "Update_time"),
        ("CHECK_TIME", "Check_time"),
        ("TABLE_COLLATION", "Collation"),
        ("CHECKSUM", "Checksum"),
        ("CREATE_OPTIONS", "Create_options"),
        ("TABLE_COMMENT", "Comment"),
    ];
    let found = template("information_schema.TABLES", &columns);
    Template { order: true, ..found.of_schema("TABLE_SCHEMA", schema) }
}

/// All tables of the catalog are open all the time.
fn open_tables() -> Template {
    let columns = [
        ("TABLE_SCHEMA", "Database"),
        ("TABLE_NAME", "Table"),
        ("CAST(0 AS SIGNED)", "In_use"),
        ("CAST(0 AS SIGNED)", "Name_locked"),
    ];
    Template { like: 1, ..template("information_schema.TABLES", &columns) }
}

fn triggers(schema: &str) -> Template {
    let columns = [
        ("TRIGGER_NAME", "Trigger"),
        ("EVENT_MANIPULATION", "Event"),
        ("EVENT_OBJECT_TABLE", "Table"),
        ("ACTION_STATEMENT", "Statement"),
        ("ACTION_TIMING", "Timing"),
        ("CREATED", "Created"),
        ("SQL_MODE", "sql_mode"),
        ("DEFINER", "Definer"),
        ("CHARACTER_SET_CLIENT", "character_set_client"),
        ("COLLATION_CONNECTION", "collation_connection"),
        ("DATABASE_COLLATION", "Database Collation"),
    ];
    let found = Template { like: 2, ..template("information_schema.TRIGGERS", &columns) };
    found.of_schema("TRIGGER_SCHEMA", schema)
}

fn events(schema: &str) -> Template {
    let columns = [
        ("EVENT_SCHEMA", "Db"),
        ("EVENT_NAME", "Name"),
        ("DEFINER", "Definer"),
        ("TIME_ZONE", "Time zone"),
        ("EVENT_TYPE", "Type"),
        ("EXECUTE_AT", "Execute at"),
        ("INTERVAL_VALUE", "Interval value"),
        ("INTERVAL_FIELD", "Interval field"),
        ("STARTS", "Starts"),
        ("ENDS", "Ends"),
        ("STATUS", "Status"),
        ("ORIGINATOR", "Originator"),
        ("CHARACTER_SET_CLIENT", "character_set_client"),
        ("COLLATION_CONNECTION", "collation_connection"),
        ("DATABASE_COLLATION", "Database Collation"),
    ];
    let found = Template { like: 1, ..template("information_schema.EVENTS", &columns) };
    found.of_schema("EVENT_SCHEMA", schema)
}

fn routines(kind: RoutineKind) -> Template {
    let columns = [
        ("ROUTINE_SCHEMA", "Db"),
        ("ROUTINE_NAME", "Name"),
        ("ROUTINE_TYPE", "Type"),
        ("DEFINER", "Definer"),
        ("LAST_ALTERED", "Modified"),
        ("CREATED", "Created"),
        ("SECURITY_TYPE", "Security_type"),
        ("ROUTINE_COMMENT", "Comment"),
        ("CHARACTER_SET_CLIENT", "character_set_client"),
        ("COLLATION_CONNECTION", "collation_connection"),
        ("DATABASE_COLLATION", "Database Collation"),
    ];
    let kind = if kind == RoutineKind::Function { "FUNCTION" } else { "PROCEDURE" };
    Template {
        like: 1,
        condition: Some(format!("ROUTINE_TYPE = '{kind}'")),
        ..template("information_schema.ROUTINES", &columns)
    }
}

const NAMED: &[(&str, &str)] = &[("VARIABLE_NAME", "Variable_name"), ("VARIABLE_VALUE", "Value")];

/// SHOW of names and values, of a session or global.
fn named(global: bool, tables: [&'static str; 2]) -> Template {
    let mut template = template(tables[usize::from(global)], NAMED);
    template.focus.for_show = true;
    template
}

/// SHOW statements about the server, not about a database.
fn server(kind: &ShowKind) -> Option<Template> {
    Some(match kind {
        ShowKind::Variables { global } => named(
            *global,
            ["performance_schema.session_variables", "performance_schema.global_variables"],
        ),
        ShowKind::Status { global } => named(
            *global,
            ["performance_schema.session_status", "performance_schema.global_status"],
        ),
        ShowKind::Processlist { full } => template(
            "information_schema.PROCESSLIST",
            &[
                ("ID", "Id"),
                ("USER", "User"),
                ("HOST", "Host"),
                ("DB", "db"),
                ("COMMAND", "Command"),
                ("TIME", "Time"),
                ("STATE", "State"),
                (if *full { "INFO" } else { "LEFT(INFO, 100)" }, "Info"),
            ],
        ),
        ShowKind::Engines => template(
            "information_schema.ENGINES",
            &[
                ("ENGINE", "Engine"),
                ("SUPPORT", "Support"),
                ("COMMENT", "Comment"),
                ("TRANSACTIONS", "Transactions"),
                ("XA", "XA"),
                ("SAVEPOINTS", "Savepoints"),
            ],
        ),
        ShowKind::Charset => {
            let columns = [
                ("CHARACTER_SET_NAME", "Charset"),
                ("DESCRIPTION", "Description"),
                ("DEFAULT_COLLATE_NAME", "Default collation"),
                ("MAXLEN", "Maxlen"),
            ];
            Template { order: true, ..template("information_schema.CHARACTER_SETS", &columns) }
        }
        ShowKind::Collation => {
            let columns = [
                ("COLLATION_NAME", "Collation"),
                ("CHARACTER_SET_NAME", "Charset"),
                ("ID", "Id"),
                ("IS_DEFAULT", "Default"),
                ("IS_COMPILED", "Compiled"),
                ("SORTLEN", "Sortlen"),
                ("PAD_ATTRIBUTE", "Pad_attribute"),
            ];
            Template { order: true, ..template("information_schema.COLLATIONS", &columns) }
        }
        ShowKind::Plugins => template(
            "information_schema.PLUGINS",
            &[
                ("PLUGIN_NAME", "Name"),
                ("PLUGIN_STATUS", "Status"),
                ("PLUGIN_TYPE", "Type"),
                ("PLUGIN_LIBRARY", "Library"),
                ("PLUGIN_LICENSE", "License"),
            ],
        ),
        _ => return None,
    })
}
