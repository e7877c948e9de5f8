//! Changes of rows through views: the statement is rewritten to one on the view's table.
//!
//! The view's columns are replaced by what they stand for, its WHERE is added, and rows that it
//! would not show are refused where it has WITH CHECK OPTION.
//!
//! Example: with `v` for `SELECT id, x AS y FROM t WHERE x > 3`, the statement `UPDATE v SET y = 5
//! WHERE id = 7` becomes `UPDATE t AS v SET v.x = 5 WHERE v.x > 3 AND v.id = 7`. Changing a view
//! over a join changes that one of its tables whose columns are assigned.

mod columns;
mod joined;
mod target;

use super::fill::Fills;
use super::joined::has_subquery;
use crate::account::Privileges;
use crate::bind::plainly;
use crate::catalog::{TableDef, View, same_name};
use crate::context::SessionContext;
use crate::plan::ViewUse;
use crate::referenced::{ReferencedObjects, named_tables};
use columns::{rename_column, replace_columns};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, Expr, TableRef};
use std::borrow::Cow;
use std::sync::Arc;
use target::{TableNames, ViewTarget};

type Result<T> = std::result::Result<T, SqlError>;

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T> {
    Err(SqlError::new(code, args))
}

/// A condition that changed rows of a table must satisfy.
pub(crate) struct RowCheck {
    /// How the statement calls the table.
    pub(crate) table: String,
    /// The condition; INSERT sees columns of other tables as NULL.
    pub(crate) condition: Expr,
    /// The error where a row does not satisfy it.
    pub(crate) refused: SqlError,
}

/// What a change through a view has to keep in mind.
#[derive(Default)]
pub struct Guard {
    /// The view and those inside it.
    pub views: Vec<ViewUse>,
    /// The statement was written anew.
    through: bool,
    /// WITH CHECK OPTION: what changed rows must satisfy.
    checks: Vec<RowCheck>,
    /// The error of an INSERT that gives a column without default no value.
    unfilled: Option<SqlError>,
}

impl Guard {
    /// Whether rows are changed through a view.
    pub fn is_through(&self) -> bool {
        self.through
    }

    /// Whether a condition of WITH CHECK OPTION has a subquery.
    pub fn has_subqueries(&self) -> bool {
        self.checks.iter().any(|check| has_subquery(&check.condition))
    }

    /// What changed rows must satisfy.
    pub(crate) fn checks(&self) -> &[RowCheck] {
        &self.checks
    }

    /// Adds what a view demands whose tables change.
    fn add(&mut self, view: &View, target: ViewTarget, changed: &[String]) {
        let def = &view.def;
        let refused = SqlError::new(ErrorCode::ViewCheckFailed, &[&def.schema, &def.name]);
        let own = changed.iter().filter(|table| target.table(table).is_some());
        for table in own {
            self.checks.extend(target.checks.iter().map(|condition| RowCheck {
                table: table.clone(),
                condition: condition.clone(),
                refused: refused.clone(),
            }));
        }
        self.views.extend(target.views);
    }

    /// Adds the checks without subqueries to those of the table.
    pub(crate) fn bind(
        &self,
        session: &SessionContext,
        def: &TableDef,
        fills: &mut Fills,
    ) -> Result<()> {
        for check in self.checks.iter().filter(|check| !has_subquery(&check.condition)) {
            let (env, host) = (&session.env, &session.host);
            fills.add_view_check(&check.condition, &check.refused, def, env, host)?;
        }
        fills.unfilled.clone_from(&self.unfilled);
        Ok(())
    }

    /// As [`Guard::bind`]; the conditions with subqueries were bound before, one in each list.
    pub(crate) fn bind_all(
        &self,
        session: &SessionContext,
        def: &TableDef,
        fills: &mut Fills,
        lists: &mut dyn Iterator<Item = Vec<inia_expr::Expr>>,
    ) -> Result<()> {
        self.bind(session, def, fills)?;
        for check in self.checks.iter().filter(|check| has_subquery(&check.condition)) {
            let bound = lists.next().into_iter().flatten();
            bound.for_each(|expr| fills.add_bound_check(expr, check.refused.clone()));
        }
        Ok(())
    }
}

/// A statement as it is carried out, and what its view demands.
pub(crate) type Through<'s, S> = (Cow<'s, S>, Guard);

/// The only table of a FROM.
fn only_table(from: &[TableRef]) -> Option<&ast::TableFactor> {
    match from {
        [TableRef::Table(factor)] => Some(factor),
        _ => None,
    }
}

/// Finds the view of that name and holds it still.
fn open_view(session: &SessionContext, name: &ast::ObjectName) -> Result<Option<Arc<View>>> {
    let Some(schema) = name.db.as_deref().or(session.env.database.as_deref()) else {
        return Ok(None);
    };
    if session.temporary.get(schema, &name.name).is_some() {
        return Ok(None);
    }
    loop {
        let Some(view) = session.db.catalog().view(schema, &name.name) else { return Ok(None) };
        if session.hold_view(&view)? {
            return Ok(Some(view));
        }
    }
}

fn not_updatable<T>(alias: &str, statement: &str) -> Result<T> {
    error(ErrorCode::NonUpdatableTable, &[&alias, &statement])
}

/// Whether a name is one of WITH's.
fn is_cte(with: Option<&ast::With>, name: &ast::ObjectName) -> bool {
    name.db.is_none() && with.iter().flat_map(|w| &w.ctes).any(|cte| cte.name == name.name)
}

/// The view that the only table of a statement is, with the name it goes by.
fn sole_view<'f>(
    session: &SessionContext,
    with: Option<&ast::With>,
    factor: &'f ast::TableFactor,
) -> Result<Option<(Arc<View>, &'f str)>> {
    if is_cte(with, &factor.name) {
        return Ok(None);
    }
    let alias = factor.alias.as_deref().unwrap_or(&factor.name.name);
    Ok(open_view(session, &factor.name)?.map(|view| (view, alias)))
}

/// The view's condition and one more.
fn restricted(target: &ViewTarget, more: Option<Expr>) -> Option<Expr> {
    let mut all = target.condition.clone();
    all.extend(more);
    match all.len() {
        0 | 1 => all.pop(),
        _ => Some(Expr::And(all)),
    }
}

/// Makes a statement's condition and order those over the base tables.
fn narrow(
    target: &ViewTarget,
    session: &SessionContext,
    alias: &str,
    condition: &mut Option<Expr>,
    order_by: &mut [ast::OrderItem],
) -> Result<()> {
    let given = condition.as_ref();
    let given =
        given.map(|expr| target.translate(session, alias, expr, "where clause")).transpose()?;
    *condition = restricted(target, given.map(plainly));
    for item in order_by {
        item.expr = target.translate(session, alias, &item.expr, "order clause")?;
    }
    Ok(())
}

/// Names that tables in subqueries have, which must not hide the view's tables.
fn names_inside<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> TableNames {
    let mut reads = ReferencedObjects::default();
    reads.exprs(exprs);
    TableNames::taken(reads.aliases.iter().flatten().map(|alias| (*alias).to_owned()).collect())
}

/// UPDATE of a view.
pub fn update_through<'s>(
    session: &SessionContext,
    update: &'s ast::Update,
) -> Result<Through<'s, ast::Update>> {
    let plain = (Cow::Borrowed(update), Guard::default());
    let Some(factor) = only_table(&update.tables) else {
        return joined::update_members(session, update);
    };
    let Some((view, alias)) = sole_view(session, update.with.as_ref(), factor)? else {
        return Ok(plain);
    };
    let values = update.assignments.iter().map(|assignment| &assignment.value);
    let mut names = names_inside(values.chain(&update.where_));
    let Some(mut target) = ViewTarget::of(session, &view, Some(alias), &mut names)? else {
        return not_updatable(alias, "UPDATE");
    };
    refuse_order(&target, update)?;
    target.with.clone_from(&update.with);
    let mut out = update.clone();
    out.tables.clone_from(&target.from);
    for assignment in &mut out.assignments {
        assignment.column = target.base_column(alias, &assignment.column)?;
        if assignment.value != Expr::Default {
            assignment.value = target.translate(session, alias, &assignment.value, "field list")?;
        }
    }
    let tables: Vec<_> = out.assignments.iter().filter_map(|a| a.column.table.clone()).collect();
    if tables.iter().any(|table| *table != tables[0]) {
        let def = &view.def;
        return error(ErrorCode::ViewMultiupdate, &[&def.schema, &def.name]);
    }
    let changed = tables.into_iter().take(1).collect::<Vec<_>>();
    if changed.iter().any(|table| !target.can_change(table)) {
        return not_updatable(alias, "UPDATE");
    }
    narrow(&target, session, alias, &mut out.where_, &mut out.order_by)?;
    out.returning = target.returning(session, alias, &update.returning)?;
    let mut guard = Guard { through: true, ..Guard::default() };
    changed.iter().for_each(|table| target.changes(table, Privileges::UPDATE));
    guard.add(&view, target, &changed);
    Ok((Cow::Owned(out), guard))
}

/// Error 1221: rows of a join have no order to be changed in.
fn refuse_order(target: &ViewTarget, update: &ast::Update) -> Result<()> {
    if only_table(&target.from).is_some() {
        return Ok(());
    }
    match (update.order_by.is_empty(), &update.limit) {
        (false, _) => error(ErrorCode::WrongUsage, &[&"UPDATE", &"ORDER BY"]),
        (true, Some(_)) => error(ErrorCode::WrongUsage, &[&"UPDATE", &"LIMIT"]),
        (true, None) => Ok(()),
    }
}

/// DELETE from a view.
pub fn delete_through<'s>(
    session: &SessionContext,
    delete: &'s ast::Delete,
) -> Result<Through<'s, ast::Delete>> {
    let plain = (Cow::Borrowed(delete), Guard::default());
    let ast::DeleteTarget::Single(factor) = &delete.target else {
        return joined::delete_members(session, delete);
    };
    let Some((view, alias)) = sole_view(session, delete.with.as_ref(), factor)? else {
        return Ok(plain);
    };
    let mut names = names_inside(&delete.where_);
    let Some(mut target) = ViewTarget::of(session, &view, Some(alias), &mut names)? else {
        return not_updatable(alias, "DELETE");
    };
    target.with.clone_from(&delete.with);
    let Some(table) = only_table(&target.from) else {
        return error(ErrorCode::ViewDeleteMergeView, &[&view.def.schema, &view.def.name]);
    };
    if target.list_reads || !target.can_change(alias) {
        return not_updatable(alias, "DELETE");
    }
    let mut out = delete.clone();
    out.target = ast::DeleteTarget::Single(Box::new(table.clone()));
    narrow(&target, session, alias, &mut out.where_, &mut out.order_by)?;
    out.returning = target.returning(session, alias, &delete.returning)?;
    target.changes(alias, Privileges::DELETE);
    let guard = Guard { through: true, views: target.views, ..Guard::default() };
    Ok((Cow::Owned(out), guard))
}

/// INSERT and REPLACE into a view.
pub fn insert_through<'s>(
    session: &SessionContext,
    insert: &'s ast::Insert,
) -> Result<Through<'s, ast::Insert>> {
    let Some(view) = open_view(session, &insert.table)? else {
        return Ok((Cow::Borrowed(insert), Guard::default()));
    };
    let (def, alias) = (&view.def, view.def.name.as_str());
    let no = || error(ErrorCode::NonInsertableTable, &[&alias, &"INSERT"]);
    let mut names = names_inside(insert.on_duplicate.iter().map(|assignment| &assignment.value));
    let Some(target) = ViewTarget::of(session, &view, None, &mut names)? else { return no() };
    let joins = only_table(&target.from).is_none();
    if joins && target.insertable {
        if insert.columns.is_empty() {
            return error(ErrorCode::ViewNoInsertFieldList, &[&def.schema, &def.name]);
        }
        if insert.replace {
            return error(ErrorCode::ViewDeleteMergeView, &[&def.schema, &def.name]);
        }
    }
    let several = || error(ErrorCode::ViewMultiupdate, &[&def.schema, &def.name]);
    let mut out = insert.clone();
    let listed: Vec<ast::ColumnName> = match insert.columns.is_empty() {
        true => def.columns.iter().map(|c| ast::ColumnName::bare(&c.name)).collect(),
        false => insert.columns.clone(),
    };
    out.columns.clear();
    let mut table: Option<String> = None;
    for name in &listed {
        let base = target.base_column(alias, name)?;
        if table.is_some() && table != base.table {
            return several();
        }
        table = base.table;
        out.columns.push(ast::ColumnName::bare(base.name));
    }
    let Some(factor) = table.as_deref().and_then(|table| target.table(table)).cloned() else {
        return no();
    };
    let table = table.unwrap_or_default();
    let values = !matches!(insert.source, ast::InsertSource::Query(_));
    let reads_itself = values && target.reads_by_name(&table);
    if !target.insertable || reads_itself || has_repeated_columns(&target) {
        return no();
    }
    for assignment in &mut out.on_duplicate {
        let base = target.base_column(alias, &assignment.column)?;
        if base.table.as_ref() != Some(&table) {
            return several();
        }
        assignment.column = ast::ColumnName::bare(base.name);
        if assignment.value != Expr::Default {
            assignment.value = target.translate(session, alias, &assignment.value, "field list")?;
            if reads_others(&target, &table, &assignment.value) {
                return several();
            }
            rename_column(&mut assignment.value, &table, &factor.name.name);
        }
    }
    out.table = factor.name.clone();
    out.returning = target.returning(session, alias, &insert.returning)?;
    for item in &mut out.returning {
        if let ast::SelectItem::Expr { expr, .. } = item {
            rename_column(expr, &table, &factor.name.name);
        }
    }
    let guard = into_base(&view, target, (&table, &factor.name.name), needed_to_insert(insert));
    Ok((Cow::Owned(out), guard))
}

/// What a view demands of rows that come into one of its tables, `table`, which the statement
/// calls `name`.
fn into_base(
    view: &View,
    mut target: ViewTarget,
    (table, name): (&str, &str),
    wanted: Privileges,
) -> Guard {
    let def = &view.def;
    target.inserts(wanted);
    let other = |column: &ast::ColumnName| {
        let of_other = column.table.as_deref() != Some(table)
            && column.table.as_deref().is_some_and(|of| target.table(of).is_some());
        of_other.then_some(Expr::Literal(ast::Literal::Null))
    };
    let mut checks = target.checks.clone();
    for check in &mut checks {
        replace_columns(check, &other);
        rename_column(check, table, name);
    }
    let refused = SqlError::new(ErrorCode::ViewCheckFailed, &[&def.schema, &def.name]);
    let checks = checks.into_iter().map(|condition| RowCheck {
        table: name.to_owned(),
        condition,
        refused: refused.clone(),
    });
    let unfilled = SqlError::new(ErrorCode::NoDefaultForViewField, &[&def.schema, &def.name]);
    Guard { checks: checks.collect(), through: true, unfilled: Some(unfilled), views: target.views }
}

/// Whether an expression reads a table of the view beside this one.
fn reads_others(target: &ViewTarget, table: &str, expr: &Expr) -> bool {
    let mut reads = ReferencedObjects::default();
    reads.expr(expr);
    let mut tables = reads.columns.iter().filter_map(|name| name.table.as_deref());
    tables.any(|of| of != table && target.table(of).is_some())
}

/// Whether a column of the view is no column of its tables, or the same one as another.
fn has_repeated_columns(target: &ViewTarget) -> bool {
    let plain = |(_, expr): &'_ (String, Expr)| match expr {
        Expr::Column(name) => Some(name.clone()),
        _ => None,
    };
    let bases: Vec<ast::ColumnName> = target.columns.iter().filter_map(plain).collect();
    let same = |a: &ast::ColumnName, b: &ast::ColumnName| {
        a.table == b.table && same_name(&a.name, &b.name)
    };
    let repeats = (1..bases.len()).any(|at| bases[..at].iter().any(|b| same(b, &bases[at])));
    bases.len() != target.columns.len() || repeats
}

/// What INSERT and REPLACE do to rows.
pub fn needed_to_insert(insert: &ast::Insert) -> Privileges {
    let mut needed = Privileges::INSERT;
    if insert.replace {
        needed |= Privileges::DELETE;
    }
    if !insert.on_duplicate.is_empty() {
        needed |= Privileges::UPDATE;
    }
    needed
}

/// LOAD DATA into a view.
pub fn load_through<'s>(
    session: &SessionContext,
    load: &'s ast::LoadData,
) -> Result<Through<'s, ast::LoadData>> {
    let Some(view) = open_view(session, &load.table)? else {
        return Ok((Cow::Borrowed(load), Guard::default()));
    };
    let alias = view.def.name.as_str();
    let mut names = names_inside(load.assignments.iter().map(|assignment| &assignment.value));
    let Some(target) = ViewTarget::of(session, &view, Some(alias), &mut names)? else {
        return not_updatable(alias, "LOAD");
    };
    let Some(factor) = only_table(&target.from).cloned() else {
        return not_updatable(alias, "LOAD");
    };
    if target.list_reads || !target.can_change(alias) {
        return error(ErrorCode::UpdateTableUsed, &[&alias]);
    }
    // Expressions of SET know the table by its own name.
    let mut out = load.clone();
    out.table = factor.name.clone();
    if out.targets.is_empty() {
        let names = view.def.columns.iter().map(|column| ast::ColumnName::bare(&column.name));
        out.targets = names.map(ast::LoadTarget::Column).collect();
    }
    for place in &mut out.targets {
        if let ast::LoadTarget::Column(name) = place {
            *name = ast::ColumnName::bare(target.base_column(alias, name)?.name);
        }
    }
    for assignment in &mut out.assignments {
        let base = target.base_column(alias, &assignment.column)?;
        assignment.column = ast::ColumnName::bare(base.name);
        if assignment.value != Expr::Default {
            assignment.value = target.translate(session, alias, &assignment.value, "field list")?;
            rename_column(&mut assignment.value, alias, &factor.name.name);
        }
    }
    let mut guard = into_base(&view, target, (alias, &factor.name.name), needed_to_load(load));
    guard.unfilled = None;
    Ok((Cow::Owned(out), guard))
}

/// What LOAD DATA does to rows.
pub fn needed_to_load(load: &ast::LoadData) -> Privileges {
    match load.on_duplicate {
        ast::LoadDuplicate::Replace => Privileges::INSERT | Privileges::DELETE,
        ast::LoadDuplicate::Default | ast::LoadDuplicate::Ignore => Privileges::INSERT,
    }
}
