//! INSERT's queries: the one whose rows are inserted, and the expressions that are evaluated over a
//! row of the target (VALUES, ON DUPLICATE KEY UPDATE) where those have subqueries of their own.
//!
//! All are bound together, so that one runner runs every subquery of the statement. An expression
//! beside the source is bound as the select list of `SELECT … FROM target`: its columns are the
//! target's, by their positions, and the query itself is never run.
//!
//! Example: `INSERT INTO t SELECT a, b FROM u ON DUPLICATE KEY UPDATE n = n + u.c` selects
//! `a, b, u.c`; the third value follows those of the target's columns in the inserted row, where
//! the name `u.c` finds it.

use super::{BindContext, QueryBinder, QueryUse, Result};
use crate::catalog::same_name;
use crate::plan::{Body, OutputColumn, QueryPlan, SelectPlan, StatementPlan, ValuesPlan};
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::{Expr, ExprKind, ExprType};
use inia_parser::ast::{self, ColumnName, QueryBody};

/// Names of the row that was to be inserted.
#[derive(Clone, Debug, Default)]
pub(crate) struct InsertedNames {
    /// The row's alias, and for each of its columns the name, the place in the row and the type.
    pub(crate) alias: Option<(String, Vec<(String, usize, ExprType)>)>,
    /// Columns of INSERT … SELECT's tables.
    pub(crate) selected: Vec<(ColumnName, usize, ExprType)>,
}

impl InsertedNames {
    /// The value that a name stands for; error 1052 where a bare name is the target's too.
    pub(crate) fn find(&self, name: &ColumnName, of_target: bool) -> Result<Option<Expr>> {
        if let Some((_, index, ty)) = self.selected.iter().find(|(known, ..)| known == name) {
            return Ok(Some(inserted_value(*index, ty)));
        }
        let Some((alias, columns)) = &self.alias else { return Ok(None) };
        if name.db.is_some() || name.table.as_ref().is_some_and(|table| table != alias) {
            return Ok(None);
        }
        let found = columns.iter().find(|(column, ..)| same_name(column, &name.name));
        match found {
            Some(_) if name.table.is_none() && of_target => {
                Err(SqlError::new(ErrorCode::NonUniqueColumn, &[&name.name, &"field list"]))
            }
            Some((_, index, ty)) => Ok(Some(inserted_value(*index, ty))),
            None => Ok(None),
        }
    }
}

fn inserted_value(index: usize, ty: &ExprType) -> Expr {
    Expr { kind: ExprKind::InsertValue(index), ty: ty.clone().with_nullable(true) }
}

/// INSERT … SELECT's query.
pub(crate) struct InsertSource {
    query: ast::Query,
    /// How many columns at its end are for ON DUPLICATE KEY UPDATE alone.
    beside: usize,
    /// Names of the target that its tables must not know.
    shared: Vec<ColumnName>,
}

impl InsertSource {
    /// The query, selecting some more columns of its tables.
    pub(crate) fn new(
        mut query: ast::Query,
        selected: &[ColumnName],
        shared: Vec<ColumnName>,
    ) -> InsertSource {
        if let Some(select) = plain_select(&mut query) {
            select.items.extend(selected.iter().map(item));
        }
        InsertSource { query, beside: selected.len(), shared }
    }

    /// Error 1052: a name of the target that the query's tables know, too.
    fn refuse_shared(&self, context: &BindContext<'_>) -> Result<()> {
        for name in &self.shared {
            let mut query = self.query.clone();
            unordered(&mut query);
            let Some(select) = plain_select(&mut query) else { continue };
            *select = ast::Select {
                items: vec![item(name)],
                from: std::mem::take(&mut select.from),
                ..ast::Select::default()
            };
            let known = match QueryBinder::new(context).query(&query, QueryUse::default()) {
                Ok(_) => true,
                Err(error) => error.code == ErrorCode::NonUniqueColumn,
            };
            if known {
                let full = super::namespace::full_name(name);
                return Err(SqlError::new(ErrorCode::NonUniqueColumn, &[&full, &"field list"]));
            }
        }
        Ok(())
    }
}

/// Takes away what follows a query's body.
fn unordered(query: &mut ast::Query) {
    query.order_by.clear();
    query.limit = None;
    query.locking.clear();
    if let QueryBody::Nested(inner) = &mut query.body {
        unordered(inner);
    }
}

fn item(name: &ColumnName) -> ast::SelectItem {
    let expr = ast::Expr::Column(name.clone());
    ast::SelectItem::Expr { expr, alias: None, text: String::new() }
}

/// The SELECT whose tables ON DUPLICATE KEY UPDATE knows: one without groups, and no operand of a
/// set operation.
pub(crate) fn plain_select(query: &mut ast::Query) -> Option<&mut ast::Select> {
    if let QueryBody::Table(name) = &query.body {
        query.body = QueryBody::Select(Box::new(super::query::select_all(name)));
    }
    match &mut query.body {
        QueryBody::Nested(inner) => plain_select(inner),
        QueryBody::Select(select) => {
            let items = select.items.iter().filter_map(|item| match item {
                ast::SelectItem::Expr { expr, .. } => Some(expr),
                _ => None,
            });
            let order = query.order_by.iter().map(|item| &item.expr);
            let mut exprs = items.chain(&select.having).chain(order);
            let grouped = !select.group_by.is_empty() || exprs.any(aggregates);
            (!grouped).then_some(select)
        }
        _ => None,
    }
}

/// Whether an expression calls an aggregate function for the query it is in.
fn aggregates(expr: &ast::Expr) -> bool {
    let mut found = matches!(expr, ast::Expr::Aggregate(call) if call.over.is_none());
    expr.for_each_child(&mut |child| found = found || aggregates(child));
    found
}

/// INSERT's queries, bound.
pub(crate) struct BoundInsert {
    /// The source, and the subqueries of all expressions.
    pub(crate) plan: StatementPlan,
    /// How many of the plan's tables, from the first on, the source reads.
    pub(crate) read: usize,
    /// For each list of expressions beside the source the bound expressions.
    pub(crate) beside: Vec<Vec<Expr>>,
    /// What RETURNING gives, and how its columns are described.
    pub(crate) returning: Option<(Vec<Expr>, Vec<OutputColumn>)>,
}

/// Expressions over a row of the target, as queries `SELECT exprs FROM target`.
#[derive(Default)]
pub(crate) struct BesideSource {
    /// Lists of expressions.
    pub(crate) lists: Vec<ast::Query>,
    /// So many of them, the first, do not see the inserted row's names.
    pub(crate) values: usize,
    /// User variables get other values for each row.
    pub(crate) sets_variables: bool,
    /// What RETURNING gives of a row that was written.
    pub(crate) returning: Option<ast::Query>,
}

impl BesideSource {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.returning.is_none()
    }
}

/// Errors 1111 and 3593: there are no rows that a function could aggregate.
fn refuse_computed_over_rows(select: &SelectPlan) -> Result<()> {
    if select.aggregation.is_some() {
        return Err(SqlError::new(ErrorCode::InvalidGroupFuncUse, &[]));
    }
    match select.windows.first() {
        Some(window) => {
            let code = ErrorCode::WindowInvalidWindowFuncUse;
            Err(SqlError::new(code, &[&window.call.name()]))
        }
        None => Ok(()),
    }
}

/// Binds INSERT's queries. `names` gives the inserted row's names once the source's columns are
/// known.
pub(crate) fn bind_insert(
    source: Option<&InsertSource>,
    beside: &BesideSource,
    names: &dyn Fn(&[OutputColumn]) -> InsertedNames,
    context: &BindContext<'_>,
) -> Result<BoundInsert> {
    let mut binder = QueryBinder::new(context);
    binder.sets_variables = beside.sets_variables;
    let root = match source {
        Some(source) => {
            let mut root = binder.query(&source.query, QueryUse::default())?;
            source.refuse_shared(context)?;
            // DISTINCT is about the rows that are inserted.
            if let Body::Select(select) = &mut root.body
                && select.distinct
            {
                select.visible -= source.beside;
            }
            root
        }
        None => QueryPlan {
            columns: Vec::new(),
            body: Body::Values(ValuesPlan {
                rows: Vec::new(),
                types: Vec::new(),
                as_written: true,
            }),
            computed: Vec::new(),
            order: Vec::new(),
            limit: None,
            count_found_rows: false,
            presorted: false,
            late: false,
        },
    };
    let read = binder.tables.len();
    let mut bound = Vec::with_capacity(beside.lists.len());
    for (number, query) in beside.lists.iter().enumerate() {
        if number == beside.values {
            binder.inserted = Some(names(&root.columns));
        }
        // The target is not read by this, and may be a temporary table that the source has read.
        binder.temporary.clear();
        bound.push(match binder.query(query, QueryUse::default())?.body {
            Body::Select(select) => {
                refuse_computed_over_rows(&select)?;
                select.output
            }
            _ => Vec::new(),
        });
    }
    binder.inserted = None;
    let returning = match &beside.returning {
        Some(query) => Some(bind_returning(&mut binder, query)?),
        None => None,
    };
    let plan = binder.finish(root, false);
    plan.debug_check();
    debug_assert!(read <= plan.tables.len(), "the source's tables are the plan's first");
    Ok(BoundInsert { plan, read, beside: bound, returning })
}

fn bind_returning(
    binder: &mut QueryBinder<'_>,
    query: &ast::Query,
) -> Result<(Vec<Expr>, Vec<OutputColumn>)> {
    binder.temporary.clear();
    let bound = binder.query(query, QueryUse::default())?;
    match bound.body {
        Body::Select(select) => {
            refuse_computed_over_rows(&select)?;
            Ok((select.output, bound.columns))
        }
        _ => Ok((Vec::new(), Vec::new())),
    }
}
