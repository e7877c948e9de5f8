//! What the rows of computed tables are made from.

use crate::account::{Access, Privileges};
use crate::catalog::{CatalogVersion, TableDef};
use crate::database::Database;
use crate::status::SessionCounters;
use inia_base::temporal::{DateTime, TimeZone};
use inia_base::value::Value;
use inia_expr::VarScope;
use std::sync::Arc;

/// The part of the computed tables that a statement reads; the rest need not be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// The only schema that is read.
    pub schema: Option<String>,
    /// The only table that is read.
    pub table: Option<String>,
    /// Sizes of tables are not asked for.
    pub names_only: bool,
    /// SHOW asks: it lists counters of statements among the others.
    pub for_show: bool,
    /// SHOW EXTENDED asks: what the engine adds to a table is listed, too.
    pub hidden: bool,
}

/// The trace of one statement.
#[derive(Clone, Debug)]
pub struct TracedStatement {
    /// The statement's text.
    pub query: String,
    /// The trace, as JSON, as much as there is room for.
    pub trace: String,
    /// Bytes that there was no room for.
    pub missing: usize,
    /// The account may not look into a view that it reads.
    pub unprivileged: bool,
}

/// A statement's profile.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its number in the session, from 1.
    pub id: u64,
    /// The statement, as much of it as is kept.
    pub text: String,
    /// Its stages, each with its nanoseconds.
    pub stages: Vec<(&'static str, u64)>,
}

impl Profile {
    /// Nanoseconds of all stages.
    pub fn total(&self) -> u64 {
        self.stages.iter().map(|(_, nanos)| nanos).sum()
    }

    /// The time of a stage in seconds with six digits, rounded up.
    pub fn seconds(nanos: u64) -> String {
        let micros = nanos.div_ceil(1000);
        format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
    }
}

/// Names and values of variables or counters.
pub(crate) type NamedValues = Vec<(String, String)>;

/// What rows are made from: the database as one session sees it.
pub struct Information<'h> {
    /// The database.
    pub(crate) db: &'h Database,
    /// The catalog that is shown.
    pub(crate) catalog: Arc<CatalogVersion>,
    /// What the session may see.
    pub(crate) access: Arc<Access>,
    /// `time_zone`.
    pub(crate) zone: TimeZone,
    /// The part that is asked for.
    pub(crate) focus: Focus,
    /// System variables of a scope.
    pub(crate) variables: Box<dyn Fn(VarScope) -> NamedValues + 'h>,
    /// What the session counts.
    pub(crate) counters: &'h SessionCounters,
    /// Traces of the session's statements: query, trace, missing bytes and missing privileges.
    pub(crate) traces: Vec<TracedStatement>,
    /// Profiles of the session's statements.
    pub(crate) profiles: Vec<Profile>,
}

impl Information<'_> {
    /// Whether a table's rows are asked for and may be seen.
    pub(crate) fn shows(&self, schema: &str, table: &str) -> bool {
        self.focus.schema.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(schema))
            && self.focus.table.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(table))
            && (self.access.sees_table(schema, table) || self.is_temporary(schema, table))
    }

    /// Whether a column of a table whose rows are asked for may be seen.
    pub(crate) fn shows_column(&self, def: &TableDef, column: usize) -> bool {
        def.temporary
            || self.access.sees_column(&def.schema, &def.name, &def.columns[column].name)
            || self.access.on_some_column(&def.schema, &def.name) == Privileges::NONE
    }

    /// Whether the table is a temporary one of the session.
    pub(crate) fn is_temporary(&self, schema: &str, table: &str) -> bool {
        let schema = self.catalog.schemas.get(schema);
        let found = schema.and_then(|schema| schema.tables.get(table));
        found.is_some_and(|table| table.def.temporary)
    }

    /// Seconds since 1970 in the session's time zone; NULL for 0.
    pub(crate) fn moment(&self, seconds: u64) -> Value {
        if seconds == 0 {
            return Value::Null;
        }
        let utc = DateTime::from_unix(seconds as i64, 0).unwrap_or(DateTime::ZERO);
        Value::DateTime(self.zone.from_utc(utc).unwrap_or(utc))
    }
}
