//! INSERT and REPLACE.
//!
//! A row is completed (defaults, AUTO_INCREMENT, generated columns, constraints), then written;
//! a duplicate key ends the statement, or is skipped (IGNORE), replaces the old row (REPLACE), or
//! changes it (ON DUPLICATE KEY UPDATE).

mod run;

pub(super) use run::{assign, touch};

use super::fill::Fills;
use super::scope::TableScope;
use super::view::Guard;
use crate::catalog::{Table, View};
use crate::expr::{Binder, Expr, ExprKind, Scope};
use crate::plan::StatementPlan;
use crate::session::core::Core;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast;
use std::sync::Arc;

/// A planned INSERT or REPLACE.
pub(crate) struct InsertPlan {
    pub(crate) table: Arc<Table>,
    /// The columns that each row gives, in the order of its values.
    targets: Vec<usize>,
    /// The rows of VALUES; `None` stands for DEFAULT.
    rows: Vec<Vec<Option<Expr>>>,
    fills: Fills,
    replace: bool,
    ignore: bool,
    on_duplicate: Vec<(usize, Option<Expr>)>,
    /// Number of deprecated VALUES() calls, each a warning.
    values_calls: usize,
    /// INSERT … SELECT's query.
    source: Option<StatementPlan>,
    /// There is one row by the statement's text, so nothing is told of how many there were.
    single: bool,
    /// The views that it inserts through and reads.
    pub(crate) views: Vec<Arc<View>>,
}

impl InsertPlan {
    /// Takes in what the view that rows are inserted through demands.
    pub(crate) fn guard(&mut self, core: &Core, guard: Guard) -> Result<(), SqlError> {
        guard.bind(core, &self.table.def, &mut self.fills)?;
        self.views.extend(guard.views);
        Ok(())
    }
}

/// Whether one row is written out, so that the reply does not tell how many there were.
fn is_single(insert: &ast::Insert) -> bool {
    matches!(&insert.source, ast::InsertSource::Values(rows) if rows.len() == 1)
}

/// Plans INSERT and REPLACE; `source` is the plan of its query, where it has one.
pub(crate) fn plan_insert(
    core: &Core,
    insert: &ast::Insert,
    source: Option<StatementPlan>,
) -> Result<InsertPlan, SqlError> {
    let table = core.open_table(insert.table.db.as_deref(), &insert.table.name)?;
    read_once(&table, source.as_ref())?;
    let mut scope = TableScope::new(&table, None);
    let targets = targets(&table, &scope, insert)?;
    let fills = Fills::compile(&table.def, &core.env, &core.host)?;
    if source.as_ref().is_some_and(|source| source.root.columns.len() != targets.len()) {
        return Err(SqlError::new(ErrorCode::WrongValueCountOnRow, &[&1]));
    }
    let given: &[Vec<ast::Expr>] = match (&insert.source, &source) {
        (ast::InsertSource::Values(rows), None) => rows,
        _ => &[],
    };
    let mut rows = Vec::with_capacity(given.len());
    for (number, values) in given.iter().enumerate() {
        let empty = values.is_empty() && insert.columns.is_empty();
        if values.len() != targets.len() && !empty {
            return Err(SqlError::new(ErrorCode::WrongValueCountOnRow, &[&(number + 1)]));
        }
        let mut row = Vec::with_capacity(values.len());
        for (value, target) in values.iter().zip(&targets) {
            row.push(match value {
                ast::Expr::Default => None,
                value => {
                    refuse_generated(&fills, &table, *target)?;
                    Some(bind_plain(core, &mut scope, value)?)
                }
            });
        }
        rows.push(row);
    }
    let mut on_duplicate = Vec::with_capacity(insert.on_duplicate.len());
    let mut values_calls = 0;
    for assignment in &insert.on_duplicate {
        let target = scope.position(&assignment.column)?;
        on_duplicate.push(match &assignment.value {
            ast::Expr::Default => (target, None),
            value => {
                refuse_generated(&fills, &table, target)?;
                let alias = insert.row_alias.as_ref();
                let mut scope = DuplicateScope { inner: &mut scope, alias, table: &table };
                let bound = bind_plain(core, &mut scope, value)?;
                bound.walk(&mut |node| {
                    let call = matches!(node.kind, ExprKind::InsertValue(_)) && alias.is_none();
                    values_calls += usize::from(call);
                });
                (target, Some(bound))
            }
        });
    }
    let views = source.as_ref().map_or_else(Vec::new, |source| source.views.clone());
    let none = source.is_none() && rows.iter().all(Vec::is_empty);
    Ok(InsertPlan {
        table: table.clone(),
        targets: if none { Vec::new() } else { targets },
        rows,
        fills,
        replace: insert.replace,
        ignore: insert.ignore,
        on_duplicate,
        values_calls,
        source,
        single: is_single(insert),
        views,
    })
}

/// Error 1137: a temporary table is not read where it is written.
fn read_once(table: &Arc<Table>, source: Option<&StatementPlan>) -> Result<(), SqlError> {
    let read = |source: &StatementPlan| source.tables.iter().any(|t| Arc::ptr_eq(t, table));
    if table.def.temporary && source.is_some_and(read) {
        return Err(SqlError::new(ErrorCode::CantReopenTable, &[&table.def.name]));
    }
    Ok(())
}

/// The query whose rows are inserted: INSERT … SELECT's own, or one made of VALUES that has
/// subqueries; `None` where VALUES is evaluated row by row.
pub(crate) fn source_query(insert: &ast::Insert) -> Option<std::borrow::Cow<'_, ast::Query>> {
    use std::borrow::Cow;
    let rows = match &insert.source {
        ast::InsertSource::Query(query) => return Some(Cow::Borrowed(query)),
        ast::InsertSource::Values(rows) => rows,
    };
    let subquery = rows.iter().flatten().any(super::joined::has_subquery);
    if !subquery || rows.iter().flatten().any(|value| *value == ast::Expr::Default) {
        return None;
    }
    let select = |row: &Vec<ast::Expr>| {
        let item = |expr: &ast::Expr| ast::SelectItem::Expr {
            expr: expr.clone(),
            alias: None,
            text: String::new(),
        };
        let items = row.iter().map(item).collect();
        ast::QueryBody::Select(Box::new(ast::Select { items, ..ast::Select::default() }))
    };
    let (first, rest) = rows.split_first()?;
    let term = |row| ast::SetTerm { op: ast::SetOp::Union, all: true, body: select(row) };
    let body = match rest.is_empty() {
        true => select(first),
        false => ast::QueryBody::SetOperation {
            first: Box::new(select(first)),
            rest: rest.iter().map(term).collect(),
        },
    };
    Some(Cow::Owned(ast::Query::new(body)))
}

/// Binds an expression of a statement without subqueries.
pub(crate) fn bind_plain(
    core: &Core,
    scope: &mut dyn Scope,
    expr: &ast::Expr,
) -> Result<Expr, SqlError> {
    Binder { scope, env: &core.env, host: &core.host }.scalar(expr)
}

fn targets(
    table: &Table,
    scope: &TableScope<'_>,
    insert: &ast::Insert,
) -> Result<Vec<usize>, SqlError> {
    if insert.columns.is_empty() {
        let columns = table.def.columns.iter().enumerate();
        return Ok(columns.filter(|(_, c)| !c.invisible).map(|(i, _)| i).collect());
    }
    let mut out = Vec::with_capacity(insert.columns.len());
    for name in &insert.columns {
        let target = scope.position(name)?;
        if out.contains(&target) {
            return Err(SqlError::new(ErrorCode::FieldSpecifiedTwice, &[&name.name]));
        }
        out.push(target);
    }
    Ok(out)
}

/// Error 3105: generated columns take no value but DEFAULT.
fn refuse_generated(fills: &Fills, table: &Table, column: usize) -> Result<(), SqlError> {
    if !fills.is_generated(column) {
        return Ok(());
    }
    let name = &table.def.columns[column].name;
    Err(SqlError::new(ErrorCode::NonDefaultValueForGeneratedColumn, &[name, &table.def.name]))
}

/// Names in ON DUPLICATE KEY UPDATE: the table's, and the new row's alias.
struct DuplicateScope<'s, 't> {
    inner: &'s mut TableScope<'t>,
    alias: Option<&'s ast::RowAlias>,
    table: &'t Table,
}

impl Scope for DuplicateScope<'_, '_> {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        if let Some(alias) = self.alias
            && name.db.is_none()
            && name.table.as_deref().is_none_or(|table| table == alias.name)
        {
            let same = |n: &String| crate::catalog::same_name(n, &name.name);
            let index = match alias.columns.iter().position(same) {
                Some(index) => Some(index),
                None if alias.columns.is_empty() && name.table.is_some() => {
                    self.table.def.column(&name.name)
                }
                None => None,
            };
            if let Some(index) = index {
                let ty = super::scope::column_type(self.table, index).with_nullable(true);
                return Ok(Expr { kind: ExprKind::InsertValue(index), ty });
            }
        }
        self.inner.column(name)
    }

    fn insert_value(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        self.inner.insert_value(name)
    }

    fn default_of(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        self.inner.default_of(name)
    }
}
