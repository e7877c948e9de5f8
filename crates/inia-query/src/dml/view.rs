//! Changes of rows through views: the statement is rewritten to one on the view's table.
//!
//! The view's columns are replaced by what they stand for, its WHERE is added, and rows that it
//! would not show are refused where it has WITH CHECK OPTION.
//!
//! Example: with `v` for `SELECT id, x AS y FROM t WHERE x > 3`, the statement `UPDATE v SET y = 5
//! WHERE id = 7` becomes `UPDATE t AS v SET v.x = 5 WHERE v.x > 3 AND v.id = 7`. Changing a view
//! over a join changes that one of its tables whose columns are assigned.

use super::fill::Fills;
use crate::account::{AccountName, Privileges};
use crate::bind::plainly;
use crate::catalog::{ColumnDefault, TableDef, View, ViewCheck, same_name};
use crate::context::SessionContext;
use crate::plan::ViewUse;
use crate::referenced::{ReferencedObjects, named_tables};
use crate::view::{Resolver, reads_itself, simple_select};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, Expr, TableRef};
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

type Result<T> = std::result::Result<T, SqlError>;

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T> {
    Err(SqlError::new(code, args))
}

/// What a change through a view has to keep in mind.
#[derive(Default)]
pub struct Guard {
    /// The view and those inside it.
    pub views: Vec<ViewUse>,
    /// Its database and name.
    name: (String, String),
    /// WITH CHECK OPTION: what changed rows must satisfy.
    checks: Vec<Expr>,
}

impl Guard {
    /// Adds the checks to those of the table.
    pub(crate) fn bind(
        &self,
        session: &SessionContext,
        def: &TableDef,
        fills: &mut Fills,
    ) -> Result<()> {
        let (schema, name) = &self.name;
        let refused = SqlError::new(ErrorCode::ViewCheckFailed, &[schema, name]);
        for check in &self.checks {
            fills.add_view_check(check, &refused, def, &session.env, &session.host)?;
        }
        Ok(())
    }
}

/// A statement as it is carried out, and what its view demands.
pub(crate) type Through<'s, S> = (Cow<'s, S>, Guard);

/// A view as the target of a change.
struct ViewTarget {
    /// The tables of its FROM, under the names that `columns` and `condition` use.
    from: Vec<TableRef>,
    /// Its columns by name.
    columns: Vec<(String, Expr)>,
    condition: Vec<Expr>,
    checks: Vec<Expr>,
    views: Vec<ViewUse>,
    /// The statement's WITH.
    with: Option<ast::With>,
    /// The statement or the view reads columns of what is changed.
    reads: Cell<bool>,
}

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

/// Writes every column that an expression reads in another way.
fn replace_columns(expr: &mut Expr, with: &dyn Fn(&ast::ColumnName) -> Option<Expr>) {
    expr.walk_mut(&mut |node| match node {
        Expr::Column(name) => {
            if let Some(new) = with(name) {
                *node = new;
            }
        }
        Expr::InsertValue(name) | Expr::DefaultOf(name) => {
            if let Some(Expr::Column(new)) = with(name) {
                *name = ast::ColumnName::bare(new.name);
            }
        }
        Expr::JsonExtract { column, .. } => {
            if let Some(Expr::Column(new)) = with(column) {
                *column = new;
            }
        }
        _ => {}
    });
}

impl ViewTarget {
    /// What a view under the name `alias` changes; `None` where it cannot be changed. `around` is
    /// the account that the enclosing view acts for.
    fn of(
        session: &SessionContext,
        view: &Arc<View>,
        alias: &str,
        around: Option<&AccountName>,
    ) -> Result<Option<ViewTarget>> {
        refuse_hidden(session, view)?;
        let acts_for = if view.def.invoker { around } else { Some(&view.def.definer) };
        let select = view.query.as_ref().and_then(simple_select);
        let Some(select) = select.filter(|_| view.def.updatable) else { return Ok(None) };
        if reads_itself(session, select, true) {
            return Ok(None);
        }
        let names = view.def.columns.iter().map(|column| column.name.clone());
        let exprs = select.items.iter().filter_map(|item| match item {
            ast::SelectItem::Expr { expr, .. } => Some(expr.clone()),
            _ => None,
        });
        let mut target = ViewTarget {
            from: select.from.clone(),
            columns: names.zip(exprs).collect(),
            condition: select.where_.iter().cloned().collect(),
            checks: Vec::new(),
            views: vec![ViewUse::new(view.clone(), acts_for.cloned())],
            with: None,
            reads: Cell::new(select.where_.is_some()),
        };
        let Some(factor) = only_table(&select.from) else {
            if view.def.check != ViewCheck::None {
                return error(ErrorCode::NotSupportedYet, &[&"CHECK OPTION of a view over a join"]);
            }
            return Ok(Some(target));
        };
        let written = match &factor.alias {
            Some(alias) => (None, alias.clone()),
            None => (factor.name.db.clone(), factor.name.name.clone()),
        };
        let own = |name: &ast::ColumnName| {
            name.table.as_ref() == Some(&written.1) && name.db == written.0
        };
        target.views[0].change = Some((factor.name.clone(), Privileges::NONE));
        let Some(inner) = open_view(session, &factor.name)? else {
            let schema = factor.name.db.as_deref().unwrap_or_default();
            if session.db.catalog().table(schema, &factor.name.name).is_none() {
                return error(ErrorCode::ViewInvalid, &[&view.def.schema, &view.def.name]);
            }
            target.rename(&own, alias);
            let mut table = ast::TableFactor::clone(factor);
            table.alias = Some(alias.to_owned());
            target.from = vec![TableRef::Table(Box::new(table))];
            target.close(view, &[]);
            return Ok(Some(target));
        };
        let inner =
            ViewTarget::of(session, &inner, alias, acts_for).map_err(|error| match error.code {
                ErrorCode::ViewInvalid => {
                    SqlError::new(ErrorCode::ViewInvalid, &[&view.def.schema, &view.def.name])
                }
                _ => error,
            });
        let Some(inner) = inner? else { return Ok(None) };
        // `inner` is over base tables already, so one replacement leads there from any depth.
        target.stand_on(&own, &inner);
        target.views.extend(inner.views.iter().cloned());
        target.reads = Cell::new(target.reads.get() || inner.reads.get());
        target.checks.clone_from(&inner.checks);
        target.from.clone_from(&inner.from);
        target.close(view, &inner.condition);
        Ok(Some(target))
    }

    /// Puts the table's columns under `alias`.
    fn rename(&mut self, own: &dyn Fn(&ast::ColumnName) -> bool, alias: &str) {
        let with = |name: &ast::ColumnName| {
            own(name).then(|| {
                let (table, name) = (Some(alias.to_owned()), name.name.clone());
                Expr::Column(ast::ColumnName { db: None, table, name })
            })
        };
        self.exprs_mut().for_each(|expr| replace_columns(expr, &with));
    }

    /// Replaces the columns of the view it is on.
    fn stand_on(&mut self, own: &dyn Fn(&ast::ColumnName) -> bool, inner: &ViewTarget) {
        let with = |name: &ast::ColumnName| {
            if own(name) { inner.column(&name.name).map(|(_, expr)| expr.clone()) } else { None }
        };
        self.exprs_mut().for_each(|expr| replace_columns(expr, &with));
    }

    fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.columns.iter_mut().map(|(_, expr)| expr).chain(&mut self.condition)
    }

    /// Adds what the view inside demands, and decides what is checked.
    fn close(&mut self, view: &View, inner: &[Expr]) {
        let own = self.condition.clone();
        match view.def.check {
            ViewCheck::None => {}
            ViewCheck::Local => self.checks.extend(own),
            ViewCheck::Cascaded => self.checks = inner.iter().cloned().chain(own).collect(),
        }
        self.condition.extend(inner.iter().cloned());
    }

    fn column(&self, name: &str) -> Option<&(String, Expr)> {
        self.columns.iter().find(|(column, _)| same_name(column, name))
    }

    /// The table's column that a view's column is; errors 1054 and 1348.
    fn base_column(&self, alias: &str, name: &ast::ColumnName) -> Result<ast::ColumnName> {
        let here = name.table.as_deref().is_none_or(|table| table == alias);
        let Some((column, expr)) = self.column(&name.name).filter(|_| here) else {
            let full = match &name.table {
                Some(table) => format!("{table}.{}", name.name),
                None => name.name.clone(),
            };
            return error(ErrorCode::UnknownColumn, &[&full, &"field list"]);
        };
        match expr {
            Expr::Column(base) => Ok(base.clone()),
            _ => error(ErrorCode::NonupdateableColumn, &[column]),
        }
    }

    /// An expression of the statement, over the view's tables.
    fn translate(
        &self,
        session: &SessionContext,
        alias: &str,
        expr: &Expr,
        clause: &str,
    ) -> Result<Expr> {
        let catalog = session.catalog_view();
        let mut resolver = Resolver::new(&catalog, session.env.database.as_deref());
        resolver.with(self.with.as_ref());
        let names: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let mut out = expr.clone();
        resolver.over(alias, &names, &mut out);
        let mut unknown = None;
        find_unresolved(&out, &mut unknown);
        if let Some(name) = unknown {
            return error(ErrorCode::UnknownColumn, &[&name, &clause]);
        }
        replace_columns(&mut out, &|name| {
            let own = name.db.is_none() && name.table.as_deref() == Some(alias);
            self.reads.set(self.reads.get() || own);
            if own { self.column(&name.name).map(|(_, expr)| expr.clone()) } else { None }
        });
        Ok(out)
    }

    /// The view's condition and one more.
    fn restricted(&self, more: Option<Expr>) -> Option<Expr> {
        let mut all = self.condition.clone();
        all.extend(more);
        match all.len() {
            0 => None,
            1 => all.pop(),
            _ => Some(Expr::And(all)),
        }
    }

    /// Makes a statement's condition and order those over the base tables.
    fn narrow(
        &self,
        session: &SessionContext,
        alias: &str,
        condition: &mut Option<Expr>,
        order_by: &mut [ast::OrderItem],
    ) -> Result<()> {
        let given = condition.as_ref();
        let given =
            given.map(|expr| self.translate(session, alias, expr, "where clause")).transpose()?;
        *condition = self.restricted(given.map(plainly));
        for item in order_by {
            item.expr = self.translate(session, alias, &item.expr, "order clause")?;
        }
        Ok(())
    }

    /// What the statement demands; it does `wanted` to what is changed.
    fn guard(mut self, view: &View, mut wanted: Privileges) -> Guard {
        if self.reads.get() {
            wanted |= Privileges::SELECT;
        }
        for change in self.views.iter_mut().filter_map(|used| used.change.as_mut()) {
            change.1 = wanted;
        }
        let name = (view.def.schema.clone(), view.def.name.clone());
        Guard { views: self.views, name, checks: self.checks }
    }
}

/// The first bare column outside of subqueries: the view has none of that name.
fn find_unresolved(expr: &Expr, found: &mut Option<String>) {
    if let Expr::Column(ast::ColumnName { table: None, name, .. }) = expr {
        found.get_or_insert_with(|| name.clone());
    }
    expr.for_each_child(&mut |child| find_unresolved(child, found));
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

/// UPDATE of a view.
pub fn update_through<'s>(
    session: &SessionContext,
    update: &'s ast::Update,
) -> Result<Through<'s, ast::Update>> {
    let plain = (Cow::Borrowed(update), Guard::default());
    let Some(factor) = only_table(&update.tables) else { return Ok(plain) };
    let Some((view, alias)) = sole_view(session, update.with.as_ref(), factor)? else {
        return Ok(plain);
    };
    let Some(mut target) = ViewTarget::of(session, &view, alias, None)? else {
        return not_updatable(alias, "UPDATE");
    };
    target.with.clone_from(&update.with);
    let mut out = update.clone();
    out.tables.clone_from(&target.from);
    for assignment in &mut out.assignments {
        assignment.column = target.base_column(alias, &assignment.column)?;
        if assignment.value != Expr::Default {
            assignment.value = target.translate(session, alias, &assignment.value, "field list")?;
        }
    }
    let tables: Vec<_> = out.assignments.iter().map(|a| a.column.table.clone()).collect();
    if tables.iter().any(|table| *table != tables[0]) {
        let def = &view.def;
        return error(ErrorCode::ViewMultiupdate, &[&def.schema, &def.name]);
    }
    target.narrow(session, alias, &mut out.where_, &mut out.order_by)?;
    if target.views[0].change.is_none() {
        // Of a join, that table is changed whose columns are assigned.
        let changed = tables.first().and_then(Option::as_ref);
        let factor = named_tables(&target.from).into_iter().find(|factor| {
            changed.is_some_and(|name| factor.alias.as_ref().unwrap_or(&factor.name.name) == name)
        });
        target.views[0].change = factor.map(|factor| (factor.name.clone(), Privileges::NONE));
    }
    Ok((Cow::Owned(out), target.guard(&view, Privileges::UPDATE)))
}

/// DELETE from a view.
pub fn delete_through<'s>(
    session: &SessionContext,
    delete: &'s ast::Delete,
) -> Result<Through<'s, ast::Delete>> {
    let plain = (Cow::Borrowed(delete), Guard::default());
    let ast::DeleteTarget::Single(factor) = &delete.target else { return Ok(plain) };
    let Some((view, alias)) = sole_view(session, delete.with.as_ref(), factor)? else {
        return Ok(plain);
    };
    let Some(mut target) = ViewTarget::of(session, &view, alias, None)? else {
        return not_updatable(alias, "DELETE");
    };
    target.with.clone_from(&delete.with);
    let Some(table) = only_table(&target.from) else {
        return error(ErrorCode::ViewDeleteMergeView, &[&view.def.schema, &view.def.name]);
    };
    let mut out = delete.clone();
    out.target = ast::DeleteTarget::Single(Box::new(table.clone()));
    target.narrow(session, alias, &mut out.where_, &mut out.order_by)?;
    Ok((Cow::Owned(out), target.guard(&view, Privileges::DELETE)))
}

/// INSERT and REPLACE into a view.
pub fn insert_through<'s>(
    session: &SessionContext,
    insert: &'s ast::Insert,
) -> Result<Through<'s, ast::Insert>> {
    let Some(view) = open_view(session, &insert.table)? else {
        return Ok((Cow::Borrowed(insert), Guard::default()));
    };
    let alias = view.def.name.as_str();
    let no = || error(ErrorCode::NonInsertableTable, &[&alias, &"INSERT"]);
    // Expressions of ON DUPLICATE KEY UPDATE know the table by its own name.
    let Some(mut target) = ViewTarget::of(session, &view, alias, None)? else { return no() };
    let Some(factor) = only_table(&target.from).cloned() else {
        let def = &view.def;
        return match insert.columns.is_empty() {
            true => error(ErrorCode::ViewNoInsertFieldList, &[&def.schema, &def.name]),
            false => error(ErrorCode::NotSupportedYet, &[&"inserting into a view over a join"]),
        };
    };
    let own = |name: &ast::ColumnName| name.table.as_deref() == Some(alias);
    target.rename(&own, &factor.name.name);
    let mut out = insert.clone();
    out.table = factor.name.clone();
    let listed: Vec<ast::ColumnName> = match insert.columns.is_empty() {
        true => view.def.columns.iter().map(|c| ast::ColumnName::bare(&c.name)).collect(),
        false => insert.columns.clone(),
    };
    out.columns.clear();
    for name in &listed {
        out.columns.push(ast::ColumnName::bare(target.base_column(alias, name)?.name));
    }
    let bases: Vec<&str> = target.columns.iter().filter_map(|(_, expr)| plain_name(expr)).collect();
    let repeats = (1..bases.len()).any(|at| bases[..at].iter().any(|b| same_name(b, bases[at])));
    if bases.len() != target.columns.len() || repeats {
        return no();
    }
    check_defaults(session, &view, &factor, &bases)?;
    for assignment in &mut out.on_duplicate {
        let base = target.base_column(alias, &assignment.column)?;
        assignment.column = ast::ColumnName::bare(base.name);
        if assignment.value != Expr::Default {
            assignment.value = target.translate(session, alias, &assignment.value, "field list")?;
        }
    }
    Ok((Cow::Owned(out), target.guard(&view, needed_to_insert(insert))))
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

/// A statement on a view becomes one on the names of its tables, which must not mean the session's
/// temporary tables.
fn refuse_hidden(session: &SessionContext, view: &View) -> Result<()> {
    if session.temporary.is_empty() {
        return Ok(());
    }
    let mut reads = ReferencedObjects::default();
    view.query.iter().for_each(|query| reads.query(query));
    let hidden = |name: &&ast::ObjectName| {
        session.temporary.get(name.db.as_deref().unwrap_or_default(), &name.name).is_some()
    };
    match reads.tables.iter().any(hidden) {
        true => error(
            ErrorCode::NotSupportedYet,
            &[&"changing a view of a table that a temporary table hides"],
        ),
        false => Ok(()),
    }
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
    let Some(mut target) = ViewTarget::of(session, &view, alias, None)? else {
        return not_updatable(alias, "LOAD");
    };
    let Some(factor) = only_table(&target.from).cloned() else {
        return not_updatable(alias, "LOAD");
    };
    // Expressions of SET know the table by its own name.
    let own = |name: &ast::ColumnName| name.table.as_deref() == Some(alias);
    target.rename(&own, &factor.name.name);
    let mut out = load.clone();
    out.table = factor.name;
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
        }
    }
    Ok((Cow::Owned(out), target.guard(&view, needed_to_load(load))))
}

/// What LOAD DATA does to rows.
pub fn needed_to_load(load: &ast::LoadData) -> Privileges {
    match load.on_duplicate {
        ast::LoadDuplicate::Replace => Privileges::INSERT | Privileges::DELETE,
        ast::LoadDuplicate::Default | ast::LoadDuplicate::Ignore => Privileges::INSERT,
    }
}

fn plain_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Column(name) => Some(&name.name),
        _ => None,
    }
}

/// Error 1423: a column that the view does not show needs a value.
fn check_defaults(
    session: &SessionContext,
    view: &View,
    factor: &ast::TableFactor,
    shown: &[&str],
) -> Result<()> {
    let table = session.open_table(factor.name.db.as_deref(), &factor.name.name)?;
    let needed = |column: &&crate::catalog::ColumnDef| {
        let none = matches!(column.default, ColumnDefault::None | ColumnDefault::Absent);
        none && !column.nullable && !column.auto_increment && column.generated.is_none()
    };
    let hidden = |column: &crate::catalog::ColumnDef| {
        !shown.iter().any(|name| same_name(name, &column.name))
    };
    if session.env.sql_mode.is_strict() && table.def.columns.iter().filter(needed).any(hidden) {
        let (schema, name) = (&view.def.schema, &view.def.name);
        return error(ErrorCode::NoDefaultForViewField, &[schema, name]);
    }
    Ok(())
}
