//! Views: a query under a name.
//!
//! A view is kept as the text of its query with every name resolved, so that it means the same in
//! every database and under every `sql_mode`; it is parsed once, when it enters the catalog.
//! Whether its tables still fit is found out when it is used (error 1356), as in MySQL.

use super::codec::{RecordReader, Writer, column, put_column};
use super::mdl::MdlName;
use super::{CatalogVersion, ColumnDef};
use crate::catalog::AccountName;
use inia_expr::sequence_of;
use inia_parser::ast::{self, Expr, FunctionCall};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const FORMAT: u64 = 1;

/// ALGORITHM, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewAlgorithm {
    /// UNDEFINED: merged where it can be.
    Undefined,
    /// MERGE.
    Merge,
    /// TEMPTABLE.
    TempTable,
}

impl ViewAlgorithm {
    /// As SHOW CREATE VIEW prints it.
    pub fn name(self) -> &'static str {
        match self {
            ViewAlgorithm::Undefined => "UNDEFINED",
            ViewAlgorithm::Merge => "MERGE",
            ViewAlgorithm::TempTable => "TEMPTABLE",
        }
    }
}

/// WITH CHECK OPTION.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewCheck {
    /// Rows that the view does not show may be written.
    None,
    /// LOCAL.
    Local,
    /// CASCADED.
    Cascaded,
}

impl ViewCheck {
    /// `CHECK_OPTION` in information_schema.
    pub fn name(self) -> &'static str {
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
pub struct ViewDef {
    /// The schema that holds it.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its columns as they were when it was made.
    pub columns: Vec<ColumnDef>,
    /// Names of columns were written out.
    pub named: bool,
    /// The query with all names resolved.
    pub query: String,
    /// ALGORITHM.
    pub algorithm: ViewAlgorithm,
    /// DEFINER.
    pub definer: AccountName,
    /// SQL SECURITY INVOKER.
    pub invoker: bool,
    /// WITH CHECK OPTION.
    pub check: ViewCheck,
    /// Rows can be changed through it.
    pub updatable: bool,
    /// The settings of the session that made it.
    pub charset_client: String,
    /// The collation of its literals.
    pub collation_connection: String,
    /// Seconds since 1970.
    pub created: u64,
}

/// A view at run time.
pub struct View {
    /// The definition.
    pub def: Arc<ViewDef>,
    /// `None` where the text no longer parses.
    pub query: Option<ast::Query>,
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
        let mut query = parse(&def.query);
        if let Some(query) = &mut query {
            // A stored function that is called without a database is of the view's own.
            let mut own = |call: &mut FunctionCall| call.db = Some(def.schema.clone());
            query.for_each_expr_mut(&mut |expr| stored_calls(expr, &mut own));
        }
        View { def: Arc::new(def), query, mdl, stale: AtomicBool::new(false) }
    }

    /// Whether DDL has put something else in its place.
    #[inline]
    pub fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Acquire)
    }

    pub(super) fn make_stale(&self) {
        self.stale.store(true, Ordering::Release);
    }
}

impl CatalogVersion {
    /// This version with other columns of one view.
    pub fn with_view_columns(&self, view: &View, columns: Vec<ColumnDef>) -> CatalogVersion {
        let mut version = self.clone();
        if let Some(schema) = version.schemas.get_mut(&view.def.schema) {
            let def = ViewDef { columns, ..ViewDef::clone(&view.def) };
            let shown = Arc::new(View::new(def, view.mdl.clone()));
            Arc::make_mut(schema).views.insert(view.def.name.clone(), shown);
        }
        version
    }
}

/// Gives each call of a stored function without a database to `visit`.
fn stored_calls(expr: &mut Expr, visit: &mut dyn FnMut(&mut FunctionCall)) {
    match expr {
        Expr::Function(call)
            if call.db.is_none()
                && call.name != "grouping"
                && sequence_of(call).is_none()
                && !inia_expr::is_native_function(&call.name) =>
        {
            visit(call);
        }
        Expr::Subquery(query)
        | Expr::Exists(query)
        | Expr::InSubquery { query, .. }
        | Expr::Quantified { query, .. } => {
            query.for_each_expr_mut(&mut |expr| stored_calls(expr, visit));
        }
        _ => {}
    }
    expr.for_each_child_mut(&mut |child| stored_calls(child, visit));
}

/// Has the names of stored functions printed in backticks.
pub fn quote_functions(query: &mut ast::Query) {
    query.for_each_expr_mut(&mut |expr| stored_calls(expr, &mut |call| call.written.apart = true));
}

/// The query that a text holds.
pub fn parse(text: &str) -> Option<ast::Query> {
    match inia_parser::parse(text, inia_parser::SqlMode::empty()) {
        Ok(ast::Statement::Select(query)) => Some(*query),
        _ => None,
    }
}

/// The record of a view.
pub fn put_view(def: &ViewDef) -> Vec<u8> {
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
pub fn view(bytes: &[u8]) -> Option<ViewDef> {
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
