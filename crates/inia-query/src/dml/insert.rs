//! INSERT and REPLACE.
//!
//! A row is completed (defaults, AUTO_INCREMENT, generated columns, constraints), then written;
//! a duplicate key ends the statement, or is skipped (IGNORE), replaces the old row (REPLACE), or
//! changes it (ON DUPLICATE KEY UPDATE).

mod given;
mod literals;
mod load;
mod run;
mod targets;

use literals::Literals;
pub use load::{LoadRun, LoadedLine, field_value};
use targets::Targets;

use super::assign::Nulls;
use super::fill::Fills;
use super::joined::has_subquery;
use super::returning::{Returning, over_table};
use super::view::Guard;
use crate::bind::table_scope::TableScope;
use crate::bind::{self, BesideSource, BoundInsert, InsertSource, InsertedNames};
use crate::catalog::Table;
use crate::context::SessionContext;
use crate::plan::{OutputColumn, StatementPlan, ViewUse};
use crate::planner::plan_insert_queries;
use crate::referenced::ReferencedObjects;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::narrow::note_stored;
use inia_expr::{Binder, Expr, ExprKind, Scope};
use inia_parser::ast;
use std::sync::Arc;

/// A planned INSERT or REPLACE.
///
/// Wide: one field for each clause of the statement, and what planning found out once.
pub struct InsertPlan {
    /// The table that gets rows.
    pub table: Arc<Table>,
    /// The columns that each row gives, in the order of its values.
    targets: Targets,
    /// The rows of VALUES; `None` stands for DEFAULT.
    rows: Vec<Vec<Option<Expr>>>,
    /// Further rows of VALUES, in place of `rows`.
    literals: Option<Literals>,
    fills: Fills,
    /// Expressions read columns of the row that they are about to fill.
    row_is_read: bool,
    replace: bool,
    ignore: bool,
    on_duplicate: Vec<(usize, Option<Expr>)>,
    /// Number of deprecated VALUES() calls, each a warning.
    values_calls: usize,
    /// INSERT … SELECT's query, and every subquery of the statement.
    source: Option<StatementPlan>,
    /// Rows come from the source.
    selects: bool,
    /// The source reads the target.
    reads_target: bool,
    /// The statement's text has one row, so the reply has no text about the number of rows.
    single: bool,
    /// What becomes of NULL that rows give NOT NULL columns.
    nulls: Nulls,
    /// The same for ON DUPLICATE KEY UPDATE.
    nulls_on_duplicate: Nulls,
    /// The views that it inserts through and reads.
    pub views: Vec<ViewUse>,
    /// RETURNING.
    returning: Option<Box<Returning>>,
}

impl InsertPlan {
    /// Whether it may change rows that are there.
    #[inline]
    pub fn overwrites(&self) -> bool {
        self.replace || !self.on_duplicate.is_empty()
    }

    /// What it gives back of its rows.
    #[inline]
    pub fn returning(&self) -> Option<&Returning> {
        self.returning.as_deref()
    }

    /// Adds what the view that rows are inserted through demands.
    pub fn guard(&mut self, session: &SessionContext, guard: Guard) -> Result<(), SqlError> {
        guard.bind(session, &self.table.def, &mut self.fills)?;
        self.views.extend(guard.views);
        Ok(())
    }
}

/// The rows that are written out.
fn written(insert: &ast::Insert) -> Option<&[Vec<ast::Expr>]> {
    match &insert.source {
        ast::InsertSource::Values(rows) => Some(rows),
        ast::InsertSource::Rows(_) => Some(&[]),
        ast::InsertSource::Query(query) => match &query.body {
            ast::QueryBody::Values(rows) if query.order_by.is_empty() && query.limit.is_none() => {
                Some(rows)
            }
            _ => None,
        },
    }
}

/// The queries of an INSERT, and what is bound from them.
struct Queries<'i> {
    insert: &'i ast::Insert,
    table: &'i Arc<Table>,
    targets: &'i [usize],
    /// Names in ON DUPLICATE KEY UPDATE that are columns of the source's tables.
    selected: Vec<ast::ColumnName>,
    /// Those that are columns of the target, and must not be of the source's tables, too.
    shared: Vec<ast::ColumnName>,
}

impl<'i> Queries<'i> {
    /// `through_view` is where names were written anew for the table of a view.
    fn new(
        insert: &'i ast::Insert,
        table: &'i Arc<Table>,
        targets: &'i [usize],
        through_view: bool,
    ) -> Queries<'i> {
        let (mut selected, mut shared) = (Vec::new(), Vec::new());
        if !insert.on_duplicate.is_empty()
            && let ast::InsertSource::Query(query) = &insert.source
            && written(insert).is_none()
            && bind::plain_select(&mut query.clone()).is_some()
        {
            let mut reads = ReferencedObjects::default();
            reads.exprs(insert.on_duplicate.iter().map(|assignment| &assignment.value));
            let own = reads.aliases.iter().zip(&reads.tables);
            let own: Vec<&str> = own.map(|(a, name)| a.unwrap_or(name.name.as_str())).collect();
            for name in reads.columns {
                let (of_target, hidden) = match &name.table {
                    Some(of) => (*of == table.def.name, own.contains(&of.as_str())),
                    None => (table.def.column(&name.name).is_some(), !own.is_empty()),
                };
                let list = if of_target { &mut shared } else { &mut selected };
                let rewritten = of_target && through_view && name.table.is_some();
                if !hidden && !rewritten && !list.contains(name) {
                    list.push(name.clone());
                }
            }
        }
        Queries { insert, table, targets, selected, shared }
    }

    /// The query whose rows are inserted, with what ON DUPLICATE KEY UPDATE reads of its tables.
    fn source(&self) -> Option<InsertSource> {
        let ast::InsertSource::Query(query) = &self.insert.source else { return None };
        if written(self.insert).is_some() {
            return None;
        }
        let query = (**query).clone();
        Some(InsertSource::new(query, &self.selected, self.shared.clone()))
    }

    /// What the inserted row's values are called.
    fn names(&self, source: &[OutputColumn]) -> InsertedNames {
        let all = self.table.def.columns.len();
        let first = source.len().saturating_sub(self.selected.len());
        let selected = self.selected.iter().zip(source.iter().skip(first)).enumerate();
        let selected = selected.map(|(at, (n, column))| (n.clone(), all + at, column.ty.clone()));
        let columns = |alias: &ast::RowAlias| {
            let named = |(at, target): (usize, &usize)| {
                let own = &self.table.def.columns[*target].name;
                let name = alias.columns.get(at).unwrap_or(own).clone();
                (name, *target, crate::bind::table_scope::column_type(self.table, *target))
            };
            self.targets.iter().enumerate().map(named).collect()
        };
        let alias = self.insert.row_alias.as_ref();
        InsertedNames {
            alias: alias.map(|alias| (alias.name.clone(), columns(alias))),
            selected: selected.collect(),
        }
    }

    /// The lists of expressions that have subqueries: the conditions of a view's CHECK OPTION,
    /// those of VALUES by row, then that of ON DUPLICATE KEY UPDATE; and RETURNING.
    fn lists(&self, guard: &Guard) -> BesideSource {
        let checks = guard.checks().iter().map(|check| vec![&check.condition]);
        let rows = self.given().iter().map(|row| plain(row));
        let before = checks.chain(rows).filter(|row| deep(row));
        let mut lists: Vec<ast::Query> =
            before.map(|row| beside(&self.insert.table, row)).collect();
        let values = lists.len();
        let updates = self.updates();
        if deep(&updates) {
            lists.push(beside(&self.insert.table, updates));
        }
        let returning = over_table(&self.insert.returning, &self.insert.table, None);
        BesideSource { lists, values, sets_variables: false, returning }
    }

    fn given(&self) -> &'i [Vec<ast::Expr>] {
        written(self.insert).unwrap_or(&[])
    }

    /// The new values of ON DUPLICATE KEY UPDATE that are not DEFAULT.
    fn updates(&self) -> Vec<&'i ast::Expr> {
        self.insert.on_duplicate.iter().map(|a| &a.value).filter(not_default).collect()
    }

    /// The rows of VALUES; those with subqueries were bound before and come from `lists`.
    fn rows(
        &self,
        session: &SessionContext,
        scope: &mut TableScope<'_>,
        lists: &mut dyn Iterator<Item = Vec<Expr>>,
    ) -> Result<Vec<Vec<Option<Expr>>>, SqlError> {
        let mut rows = Vec::with_capacity(self.given().len());
        for row in self.given() {
            let mut exprs = bound_list(session, scope, plain(row), lists)?.into_iter();
            let mut value = |expr| if not_default(&expr) { exprs.next() } else { None };
            let row: Vec<Option<Expr>> = row.iter().map(&mut value).collect();
            for (target, value) in self.targets.iter().zip(&row) {
                let column = &self.table.def.columns[*target];
                value.iter().for_each(|v| note_stored(v, &column.data_type, session));
            }
            rows.push(row);
        }
        Ok(rows)
    }

    /// The assignments of ON DUPLICATE KEY UPDATE.
    fn on_duplicate(
        &self,
        session: &SessionContext,
        scope: &mut DuplicateScope<'_, '_>,
        lists: &mut dyn Iterator<Item = Vec<Expr>>,
        fills: &Fills,
    ) -> Result<Vec<(usize, Option<Expr>)>, SqlError> {
        let mut exprs = bound_list(session, scope, self.updates(), lists)?.into_iter();
        let mut assignments = Vec::with_capacity(self.insert.on_duplicate.len());
        for assignment in &self.insert.on_duplicate {
            let target = scope.inner.position(&assignment.column)?;
            let value = match not_default(&&assignment.value) {
                true => {
                    refuse_generated(fills, self.table, target)?;
                    exprs.next()
                }
                false => None,
            };
            let column = &self.table.def.columns[target];
            value.iter().for_each(|v| note_stored(v, &column.data_type, session));
            assignments.push((target, value));
        }
        Ok(assignments)
    }
}

/// Whether an expression has a subquery.
fn deep(exprs: &[&ast::Expr]) -> bool {
    exprs.iter().any(|expr| has_subquery(expr))
}

/// Binds expressions, or takes them from `lists` where they have subqueries.
fn bound_list(
    session: &SessionContext,
    scope: &mut dyn Scope,
    exprs: Vec<&ast::Expr>,
    lists: &mut dyn Iterator<Item = Vec<Expr>>,
) -> Result<Vec<Expr>, SqlError> {
    if deep(&exprs) {
        return Ok(lists.next().unwrap_or_default());
    }
    exprs.into_iter().map(|expr| bind_plain(session, scope, expr)).collect()
}

/// `SELECT exprs FROM target`, see [`crate::bind::bind_insert`].
fn beside(target: &ast::ObjectName, exprs: Vec<&ast::Expr>) -> ast::Query {
    let item = |expr: &ast::Expr| ast::SelectItem::Expr {
        expr: expr.clone(),
        alias: None,
        text: String::new(),
    };
    let name = target.clone();
    let factor = ast::TableFactor { name, partitions: Vec::new(), alias: None, hints: Vec::new() };
    let select = ast::Select {
        items: exprs.into_iter().map(item).collect(),
        from: vec![ast::TableRef::Table(Box::new(factor))],
        ..ast::Select::default()
    };
    ast::Query::new(ast::QueryBody::Select(Box::new(select)))
}

/// Plans INSERT and REPLACE; `guard` is what the view demands that rows are inserted through.
pub fn plan_insert(
    session: &SessionContext,
    insert: &ast::Insert,
    guard: Guard,
) -> Result<InsertPlan, SqlError> {
    match literals::with_subqueries(insert) {
        Some(written) => planned(session, &written, guard),
        None => planned(session, insert, guard),
    }
}

/// The table that rows go into, or those of its partitions that the statement names.
fn target(session: &SessionContext, insert: &ast::Insert) -> Result<Arc<Table>, SqlError> {
    let table = session.open_table(insert.table.db.as_deref(), &insert.table.name)?;
    table.selecting(&insert.partitions)
}

fn planned(
    session: &SessionContext,
    insert: &ast::Insert,
    guard: Guard,
) -> Result<InsertPlan, SqlError> {
    let table = target(session, insert)?;
    let mut scope = TableScope::new(&table, None);
    let targets = targets(&table, &scope, insert)?;
    let mut fills = Fills::compile(&table.def, &session.env, &session.host)?;
    check_alias(insert, targets.len())?;
    let given = written(insert).unwrap_or(&[]);
    check_rows(insert, given, &targets, &fills, &table)?;
    literals::check(insert, &targets, &fills, &table)?;
    let queries = Queries::new(insert, &table, &targets, guard.is_through());
    let source = queries.source();
    let beside = queries.lists(&guard);
    let names = |columns: &[OutputColumn]| queries.names(columns);
    // Queries are bound first: ON DUPLICATE KEY UPDATE may name columns of the source.
    let mut bound = match source.is_some() || !beside.is_empty() {
        true => {
            let bound = plan_insert_queries(session, source.as_ref(), &beside, &names)?;
            check_source(&bound, source.is_some(), &queries, &fills)?;
            Some(bound)
        }
        false => None,
    };
    let returning = bound.as_mut().and_then(Returning::of);
    let (source_plan, read, lists) = match bound {
        Some(bound) => (Some(bound.plan), bound.read, bound.beside),
        None => (None, 0, Vec::new()),
    };
    let mut lists = lists.into_iter();
    guard.bind_all(session, &table.def, &mut fills, &mut lists)?;
    let rows = queries.rows(session, &mut scope, &mut lists)?;
    let literals = Literals::bind(session, insert, &mut scope)?;
    let names = names(source_plan.as_ref().map_or(&[][..], |plan| &plan.root.columns));
    let mut scope = DuplicateScope { inner: &mut scope, names: &names, table: &table };
    let on_duplicate = queries.on_duplicate(session, &mut scope, &mut lists, &fills)?;
    let mut views = source_plan.as_ref().map_or_else(Vec::new, |plan| plan.views.clone());
    views.extend(guard.views);
    let selects = source.is_some();
    let read = source_plan.iter().flat_map(|plan| plan.tables.iter().take(read));
    let reads_target = read.into_iter().any(|read| read.shares_rows(&table));
    // Rows of `VALUES ()` give nothing, so that each column gets its default.
    let none = !selects && literals.is_none() && rows.iter().all(Vec::is_empty);
    let single = !selects && given.len() == 1;

    Ok(InsertPlan {
        table: table.clone(),
        targets: Targets::new(if none { Vec::new() } else { targets.clone() }, &table),
        row_is_read: fills.has_late()
            || rows.iter().flatten().flatten().any(reads_columns)
            || literals.as_ref().is_some_and(Literals::reads_columns),
        rows,
        literals,
        fills,
        replace: insert.replace,
        ignore: insert.ignore,
        values_calls: values_calls(insert, &on_duplicate, &table),
        on_duplicate,
        source: source_plan,
        selects,
        reads_target,
        single,
        nulls: nulls_of(insert, single),
        nulls_on_duplicate: nulls_of(insert, single || selects),
        views,
        returning,
    })
}

/// What NULL for a NOT NULL column does: it is an error where the statement gives a single row.
fn nulls_of(insert: &ast::Insert, single_row: bool) -> Nulls {
    match single_row {
        true if insert.ignore => Nulls::Warned,
        true => Nulls::Refused,
        false => Nulls::WarnedOnce,
    }
}

fn not_default(expr: &&ast::Expr) -> bool {
    **expr != ast::Expr::Default
}

/// The values of a row that are not DEFAULT.
fn plain(row: &[ast::Expr]) -> Vec<&ast::Expr> {
    row.iter().filter(not_default).collect()
}

/// The deprecated calls of VALUES() in a statement.
fn values_calls(
    insert: &ast::Insert,
    on_duplicate: &[(usize, Option<Expr>)],
    table: &Table,
) -> usize {
    match insert.row_alias {
        Some(_) => 0,
        None => on_duplicate.iter().flat_map(|(_, e)| e).map(|e| calls(e, table)).sum(),
    }
}

/// The calls of VALUES() in an expression.
fn calls(expr: &Expr, table: &Table) -> usize {
    let mut calls = 0;
    let columns = table.def.columns.len();
    expr.walk(&mut |node| {
        calls += usize::from(matches!(node.kind, ExprKind::InsertValue(at) if at < columns));
    });
    calls
}

/// Whether an expression reads a column.
fn reads_columns(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |node| found |= matches!(node.kind, ExprKind::Column { .. }));
    found
}

/// Error 1353: the row alias names as many columns as the row has.
fn check_alias(insert: &ast::Insert, targets: usize) -> Result<(), SqlError> {
    match &insert.row_alias {
        Some(alias) if !alias.columns.is_empty() && alias.columns.len() != targets => {
            Err(SqlError::new(ErrorCode::ViewWrongList, &[]))
        }
        _ => Ok(()),
    }
}

/// Errors 1136 and 3105 of rows that are written out.
fn check_rows(
    insert: &ast::Insert,
    given: &[Vec<ast::Expr>],
    targets: &[usize],
    fills: &Fills,
    table: &Table,
) -> Result<(), SqlError> {
    for (number, values) in given.iter().enumerate() {
        let empty = values.is_empty() && insert.columns.is_empty();
        if (values.len() != targets.len() && !empty) || values.len() != given[0].len() {
            return Err(SqlError::new(ErrorCode::WrongValueCountOnRow, &[&(number + 1)]));
        }
        for (value, target) in values.iter().zip(targets) {
            if not_default(&value) {
                refuse_generated(fills, table, *target)?;
            }
        }
    }
    Ok(())
}

/// Errors 1136, 1137, 3105 of INSERT … SELECT.
fn check_source(
    bound: &BoundInsert,
    selects: bool,
    queries: &Queries<'_>,
    fills: &Fills,
) -> Result<(), SqlError> {
    let (table, targets) = (queries.table, queries.targets);
    if !selects {
        return Ok(());
    }
    let mut read = bound.plan.tables[..bound.read].iter().filter(|_| table.def.temporary);
    if let Some(again) = read.find_map(|read| table.shared_temporary(read)) {
        return Err(SqlError::new(ErrorCode::CantReopenTable, &[&again]));
    }
    if bound.plan.root.columns.len() != targets.len() + queries.selected.len() {
        return Err(SqlError::new(ErrorCode::WrongValueCountOnRow, &[&1]));
    }
    targets.iter().try_for_each(|target| refuse_generated(fills, table, *target))
}

/// Binds an expression of a statement without subqueries.
pub fn bind_plain(
    session: &SessionContext,
    scope: &mut dyn Scope,
    expr: &ast::Expr,
) -> Result<Expr, SqlError> {
    Binder { scope, env: &session.env, host: session }.scalar(expr)
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

/// Names in ON DUPLICATE KEY UPDATE: the table's, and those of the inserted row.
struct DuplicateScope<'s, 't> {
    inner: &'s mut TableScope<'t>,
    names: &'s InsertedNames,
    table: &'t Table,
}

impl Scope for DuplicateScope<'_, '_> {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        let of_target = self.table.def.column(&name.name).is_some();
        match self.names.find(name, of_target)? {
            Some(value) => Ok(value),
            None => self.inner.column(name),
        }
    }

    fn insert_value(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        self.inner.insert_value(name)
    }

    fn default_of(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        self.inner.default_of(name)
    }
}
