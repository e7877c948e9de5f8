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

use super::{BindContext, QueryBinder, Result};
use crate::catalog::same_name;
use crate::expr::{Expr, ExprKind, ExprType};
use crate::plan::{Body, OutputColumn, QueryPlan, SelectPlan, StatementPlan};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, ColumnName};

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

/// INSERT's queries, bound.
pub(crate) struct BoundInsert {
    /// The source, and the subqueries of all expressions.
    pub(crate) plan: StatementPlan,
    /// How many of the plan's tables, from the first on, the source reads.
    pub(crate) read: usize,
    /// For each list of expressions beside the source the bound expressions.
    pub(crate) beside: Vec<Vec<Expr>>,
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

/// Binds INSERT's queries. `names` tells the inserted row's names once the source's columns are
/// known; the first `values` of the lists do not see them.
pub(crate) fn bind_insert(
    source: Option<&ast::Query>,
    beside: &[ast::Query],
    values: usize,
    names: &dyn Fn(&[OutputColumn]) -> InsertedNames,
    context: &BindContext<'_>,
) -> Result<BoundInsert> {
    let mut binder = QueryBinder::new(context);
    let root = match source {
        Some(query) => binder.query(query)?,
        None => QueryPlan {
            columns: Vec::new(),
            body: Body::Values(Vec::new()),
            computed: Vec::new(),
            order: Vec::new(),
            limit: None,
            count_found_rows: false,
        },
    };
    let read = binder.tables.len();
    let mut bound = Vec::with_capacity(beside.len());
    for (number, query) in beside.iter().enumerate() {
        if number == values {
            binder.inserted = Some(names(&root.columns));
        }
        // The target is not read by this, and may be a temporary table that the source has read.
        binder.temporary.clear();
        bound.push(match binder.query(query)?.body {
            Body::Select(select) => {
                refuse_computed_over_rows(&select)?;
                select.output
            }
            _ => Vec::new(),
        });
    }
    Ok(BoundInsert { plan: binder.finish(root, false), read, beside: bound })
}
