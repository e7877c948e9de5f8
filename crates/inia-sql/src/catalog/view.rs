//! Views: a query under a name.
//!
//! A view is kept as the text of its query with every name resolved, so that it means the same in
//! every database and under every `sql_mode`; it is parsed once, when it enters the catalog.
//! Whether its tables still fit is found out when it is used (error 1356), as in MySQL.

use super::ColumnDef;
use super::codec::{RecordReader, Writer, column, put_column};
use super::mdl::MdlName;
use crate::catalog::AccountName;
use inia_parser::ast;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const FORMAT: u64 = 1;

/// ALGORITHM, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewAlgorithm {
    Undefined,
    Merge,
    TempTable,
}

impl ViewAlgorithm {
    /// As SHOW CREATE VIEW prints it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ViewAlgorithm::Undefined => "UNDEFINED",
            ViewAlgorithm::Merge => "MERGE",
            ViewAlgorithm::TempTable => "TEMPTABLE",
        }
    }
}

/// WITH CHECK OPTION.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewCheck {
    None,
    Local,
    Cascaded,
}

impl ViewCheck {
    /// `CHECK_OPTION` in information_schema.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ViewCheck::None => "NONE",
            ViewCheck::Local => "LOCAL",
            ViewCheck::Cascaded => "CASCADED",
        }
    }
}

/// A view's durable definition.
///
/// Wide: one field for each attribute that a view has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ViewDef {
    pub(crate) schema: String,
    pub(crate) name: String,
    /// Its columns as they were when it was made.
    pub(crate) columns: Vec<ColumnDef>,
    /// Names of columns were written out.
    pub(crate) named: bool,
    /// The query with all names resolved.
    pub(crate) query: String,
    pub(crate) algorithm: ViewAlgorithm,
    pub(crate) definer: AccountName,
    /// SQL SECURITY INVOKER.
    pub(crate) invoker: bool,
    pub(crate) check: ViewCheck,
    /// Rows can be changed through it.
    pub(crate) updatable: bool,
    /// The settings of the session that made it.
    pub(crate) charset_client: String,
    pub(crate) collation_connection: String,
    /// Seconds since 1970.
    pub(crate) created: u64,
}

/// A view at run time.
pub(crate) struct View {
    pub(crate) def: Arc<ViewDef>,
    /// `None` where the text no longer parses.
    pub(crate) query: Option<ast::Query>,
    pub(crate) mdl: Arc<MdlName>,
    stale: AtomicBool,
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "View({}.{})", self.def.schema, self.def.name)
    }
}

impl View {
    pub(crate) fn new(def: ViewDef, mdl: Arc<MdlName>) -> View {
        let query = parse(&def.query);
        View { def: Arc::new(def), query, mdl, stale: AtomicBool::new(false) }
    }

    /// Whether DDL has put something else in its place.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Acquire)
    }

    pub(super) fn make_stale(&self) {
        self.stale.store(true, Ordering::Release);
    }
}

/// The query that a text holds.
pub(crate) fn parse(text: &str) -> Option<ast::Query> {
    match inia_parser::parse(text, inia_parser::SqlMode::empty()) {
        Ok(ast::Statement::Select(query)) => Some(*query),
        _ => None,
    }
}

/// The record of a view.
pub(super) fn put_view(def: &ViewDef) -> Vec<u8> {
    let mut w = Writer::default();
    w.int(FORMAT);
    w.text(&def.schema);
    w.text(&def.name);
    w.list(&def.columns, put_column);
    w.bool(def.named);
    w.text(&def.query);
    w.int(def.algorithm as u64);
    w.text(&def.definer.user);
    w.text(&def.definer.host);
    w.bool(def.invoker);
    w.int(def.check as u64);
    w.bool(def.updatable);
    w.text(&def.charset_client);
    w.text(&def.collation_connection);
    w.int(def.created);
    w.0
}

/// Reads [`put_view`]'s record.
pub(super) fn view(bytes: &[u8]) -> Option<ViewDef> {
    let mut r = RecordReader(bytes);
    if r.int()? != FORMAT {
        return None;
    }
    Some(ViewDef {
        schema: r.text()?,
        name: r.text()?,
        columns: r.list(column)?,
        named: r.bool()?,
        query: r.text()?,
        algorithm: match r.int()? {
            0 => ViewAlgorithm::Undefined,
            1 => ViewAlgorithm::Merge,
            2 => ViewAlgorithm::TempTable,
            _ => return None,
        },
        definer: AccountName { user: r.text()?, host: r.text()? },
        invoker: r.bool()?,
        check: match r.int()? {
            0 => ViewCheck::None,
            1 => ViewCheck::Local,
            2 => ViewCheck::Cascaded,
            _ => return None,
        },
        updatable: r.bool()?,
        charset_client: r.text()?,
        collation_connection: r.text()?,
        created: r.int()?,
    })
}
