//! A view as the target of a change: the base tables behind it, and what its columns stand for.
//!
//! Views in the view's FROM are replaced by their own tables, from any depth. Each table gets a
//! name of its own, which the columns and conditions are written with.
//!
//! Example: with `v` for `SELECT id, x AS y FROM t WHERE x > 3` and `w` for `SELECT v.y, u.n FROM v
//! JOIN u ON v.id = u.id`, the target `w` is over `t, u`; its columns are `y` for `t.x` and `n` for
//! `u.n`, its FROM is `t JOIN u ON t.id = u.id`, and its condition is `t.x > 3`.

use super::columns::{column_of, reads_members, replace_columns, replace_in_query};
use super::{Result, error, named_tables, only_table, open_view};
use crate::account::{AccountName, Privileges};
use crate::bind::item_name;
use crate::catalog::{View, ViewAlgorithm, ViewCheck, same_name};
use crate::context::SessionContext;
use crate::dml::joined::has_subquery;
use crate::dml::returning::refuse_several;
use crate::plan::ViewUse;
use crate::referenced::ReferencedObjects;
use crate::view::{
    ReadTable, Resolver, conditions_read, has_outer_join, list_reads_itself, simple_select,
};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, Expr, JoinConstraint, TableRef};
use std::cell::Cell;
use std::sync::Arc;

/// How a member of FROM is written before its columns: a database, and a name or alias.
pub(super) type Qualifier = (Option<String>, String);

/// How a base table is reached: each view on the way, by its place in the list of views, with the
/// member of it that leads there.
type Path = Vec<(usize, ast::ObjectName)>;

/// A view as the target of a change.
pub(super) struct ViewTarget {
    /// The tables of its FROM, under the names that `columns` and `condition` use.
    pub(super) from: Vec<TableRef>,
    /// Its columns by name.
    pub(super) columns: Vec<(String, Expr)>,
    pub(super) condition: Vec<Expr>,
    pub(super) checks: Vec<Expr>,
    pub(super) views: Vec<ViewUse>,
    /// The statement's WITH.
    pub(super) with: Option<ast::With>,
    /// The statement or the view reads columns of what is changed.
    pub(super) reads: Cell<bool>,
    /// All its tables are base tables and its select list reads none of them in a subquery, so that
    /// INSERT can put rows into one.
    pub(super) insertable: bool,
    /// A select list reads, in a subquery, the table that rows are changed in.
    pub(super) list_reads: bool,
    /// The tables that its conditions read in subqueries.
    condition_reads: Vec<ReadTable>,
    paths: Vec<BasePath>,
}

/// A base table of a view.
struct BasePath {
    /// How it is called here.
    name: String,
    /// How the view that names it calls it.
    written: String,
    path: Path,
}

/// The names that tables have been given.
pub(super) struct TableNames(Vec<String>);

impl TableNames {
    /// Some names are taken already.
    pub(super) fn taken(names: Vec<String>) -> TableNames {
        TableNames(names)
    }

    /// A name that no other table has: the wanted one, if it is free.
    fn take(&mut self, wanted: &str) -> String {
        let free = |name: &String| !self.0.iter().any(|taken| same_name(taken, name));
        let numbered = (2..).map(|number| format!("{wanted}#{number}"));
        let name = std::iter::once(wanted.to_owned()).chain(numbered).find(free);
        let name = name.unwrap_or_default();
        self.0.push(name.clone());
        name
    }
}

/// What a member of a view's FROM becomes.
enum Member {
    /// A table, or rows that are only read, under another name.
    Renamed(String),
    /// A view that gives way to its own tables.
    View(Box<ViewTarget>),
}

/// What the views around demand of one inside them.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// The account that the enclosing view acts for.
    acts_for: Option<&'a AccountName>,
    /// WITH CASCADED CHECK OPTION of an enclosing view.
    cascaded: bool,
}

/// How the columns of a named table are written.
pub(super) fn qualifier_of(factor: &ast::TableFactor) -> Qualifier {
    match &factor.alias {
        Some(alias) => (None, alias.clone()),
        None => (factor.name.db.clone(), factor.name.name.clone()),
    }
}

/// Whether a column is of the member with this qualifier.
pub(super) fn is_of(name: &ast::ColumnName, (db, table): &Qualifier) -> bool {
    name.table.as_ref() == Some(table) && name.db == *db
}

/// A list of tables as one member of FROM.
pub(super) fn nested(mut from: Vec<TableRef>) -> TableRef {
    match from.len() {
        1 => from.remove(0),
        _ => TableRef::List(from),
    }
}

/// The error of a view inside, as that of the view around it.
fn invalid_through(view: &View, inner: SqlError) -> SqlError {
    match inner.code {
        ErrorCode::ViewInvalid => {
            SqlError::new(ErrorCode::ViewInvalid, &[&view.def.schema, &view.def.name])
        }
        _ => inner,
    }
}

/// Whether an item of the select list has a subquery and is not the same for all rows. MySQL makes
/// a temporary table of such a view, unless its definition says MERGE.
fn computes_subqueries(select: &ast::Select) -> bool {
    let own: Vec<Qualifier> = named_tables(&select.from).into_iter().map(qualifier_of).collect();
    let mut items = ast::item_exprs(&select.items);
    items.any(|item| has_subquery(item) && reads_members(item, &own))
}

impl ViewTarget {
    /// What a view changes; `None` where it cannot be changed. The table goes by `alias`, or those
    /// of a join by their own names as far as `names` has them free.
    pub(super) fn of(
        session: &SessionContext,
        view: &Arc<View>,
        alias: Option<&str>,
        names: &mut TableNames,
    ) -> Result<Option<ViewTarget>> {
        let around = Around { acts_for: None, cascaded: false };
        ViewTarget::inside(session, view, alias, names, around)
    }

    fn inside(
        session: &SessionContext,
        view: &Arc<View>,
        alias: Option<&str>,
        names: &mut TableNames,
        around: Around<'_>,
    ) -> Result<Option<ViewTarget>> {
        refuse_hidden(session, view)?;
        let acts_for = if view.def.invoker { around.acts_for } else { Some(&view.def.definer) };
        let select = view.query.as_ref().and_then(simple_select);
        let merges = view.def.algorithm != ViewAlgorithm::TempTable;
        let Some(select) = select.filter(|_| merges) else { return Ok(None) };
        if has_outer_join(&select.from) {
            return Ok(None);
        }
        if view.def.algorithm == ViewAlgorithm::Undefined && computes_subqueries(select) {
            return Ok(None);
        }
        let cascaded = around.cascaded || view.def.check == ViewCheck::Cascaded;
        let inward = Around { acts_for, cascaded };
        let mut target = ViewTarget::written(view, select, acts_for);
        let sole = only_table(&select.from).is_some();
        let mut members = Vec::new();
        for factor in named_tables(&select.from) {
            let alias = alias.filter(|_| sole);
            let member = target.member(session, (view, factor), alias, names, inward)?;
            let Some(member) = member else { return Ok(None) };
            members.push((qualifier_of(factor), member));
        }
        if target.paths.is_empty() {
            return Ok(None);
        }
        target.list_reads |= list_reads_itself(session, select, true);
        target.condition_reads.extend(conditions_read(session, select));
        target.insertable &= !target.list_reads;
        let checked = cascaded || view.def.check != ViewCheck::None;
        target.close(&select.from, members, (checked, cascaded));
        Ok(Some(target))
    }

    /// The view as it is written.
    fn written(
        view: &Arc<View>,
        select: &ast::Select,
        acts_for: Option<&AccountName>,
    ) -> ViewTarget {
        let names = view.def.columns.iter().map(|column| column.name.clone());
        let exprs = select.items.iter().filter_map(|item| match item {
            ast::SelectItem::Expr { expr, .. } => Some(expr.clone()),
            _ => None,
        });
        ViewTarget {
            from: select.from.clone(),
            columns: names.zip(exprs).collect(),
            condition: select.where_.iter().cloned().collect(),
            checks: Vec::new(),
            views: vec![ViewUse::new(view.clone(), acts_for.cloned())],
            with: None,
            reads: Cell::new(select.where_.is_some()),
            insertable: !has_derived(&select.from),
            list_reads: false,
            condition_reads: Vec::new(),
            paths: Vec::new(),
        }
    }

    /// What a table or view in its FROM becomes; `None` where a view of that alone cannot be
    /// changed.
    fn member(
        &mut self,
        session: &SessionContext,
        (view, factor): (&Arc<View>, &ast::TableFactor),
        alias: Option<&str>,
        names: &mut TableNames,
        around: Around<'_>,
    ) -> Result<Option<Member>> {
        let own = factor.alias.as_ref().unwrap_or(&factor.name.name);
        let sole = only_table(&self.from).is_some();
        let Some(inner) = open_view(session, &factor.name)? else {
            let schema = factor.name.db.as_deref().unwrap_or_default();
            if session.db.catalog().table(schema, &factor.name.name).is_none() {
                return error(ErrorCode::ViewInvalid, &[&view.def.schema, &view.def.name]);
            }
            let name = alias.map_or_else(|| names.take(own), str::to_owned);
            let (written, path) = (own.clone(), vec![(0, factor.name.clone())]);
            self.paths.push(BasePath { name: name.clone(), written, path });
            return Ok(Some(Member::Renamed(name)));
        };
        let found = ViewTarget::inside(session, &inner, alias, names, around);
        let Some(inner) = found.map_err(|inner| invalid_through(view, inner))? else {
            // In a join it is read beside the tables that change.
            self.insertable = false;
            let renamed = |names: &mut TableNames| Member::Renamed(names.take(own));
            return Ok(if sole { None } else { Some(renamed(names)) });
        };
        let offset = self.views.len();
        self.views.extend(inner.views.iter().cloned());
        self.reads = Cell::new(self.reads.get() || inner.reads.get());
        self.insertable &= inner.insertable;
        self.list_reads |= inner.list_reads;
        self.condition_reads.extend(inner.condition_reads.iter().cloned());
        for base in &inner.paths {
            let further = base.path.iter().map(|(at, member)| (at + offset, member.clone()));
            let path = std::iter::once((0, factor.name.clone())).chain(further).collect();
            let (name, written) = (base.name.clone(), base.written.clone());
            self.paths.push(BasePath { name, written, path });
        }
        Ok(Some(Member::View(Box::new(inner))))
    }

    /// Puts everything over the base tables, adds what the views inside demand, and decides what
    /// is checked.
    ///
    /// As in MySQL, a checked view demands its WHERE and the ON of its tables; ON before a view
    /// inside belongs to that view.
    fn close(
        &mut self,
        written: &[TableRef],
        members: Vec<(Qualifier, Member)>,
        (checked, cascaded): (bool, bool),
    ) {
        let with = |name: &ast::ColumnName| {
            let (_, member) = members.iter().find(|(qualifier, _)| is_of(name, qualifier))?;
            match member {
                Member::Renamed(table) => Some(column_of(table, &name.name)),
                Member::View(inner) => inner.column(&name.name).map(|(_, expr)| expr.clone()),
            }
        };
        let columns = self.columns.iter_mut().map(|(_, expr)| expr);
        columns.chain(&mut self.condition).for_each(|expr| replace_columns(expr, &with));
        if checked {
            self.checks.extend(self.condition.iter().cloned());
        }
        let mut conditions = Vec::new();
        written.iter().for_each(|table| attached(table, &mut conditions));
        for (factor, on) in conditions {
            let is = |(own, _): &&(Qualifier, Member)| {
                factor.is_some_and(|factor| *own == qualifier_of(factor))
            };
            let demanded = match members.iter().find(is) {
                Some((_, Member::View(inner))) => {
                    cascaded || inner.views[0].view.def.check != ViewCheck::None
                }
                _ => checked,
            };
            if demanded {
                let mut on = on.clone();
                replace_columns(&mut on, &with);
                self.checks.push(on);
            }
        }
        let mut given = members.iter().map(|(_, member)| member);
        for table in &mut self.from {
            replace_tables(table, &mut given, &with);
        }
        for (_, member) in &members {
            if let Member::View(inner) = member {
                self.checks.extend(inner.checks.iter().cloned());
                self.condition.extend(inner.condition.iter().cloned());
            }
        }
    }

    pub(super) fn column(&self, name: &str) -> Option<&(String, Expr)> {
        self.columns.iter().find(|(column, _)| same_name(column, name))
    }

    /// The base table that goes by this name.
    pub(super) fn table(&self, alias: &str) -> Option<&ast::TableFactor> {
        let own = |factor: &&ast::TableFactor| {
            factor.alias.as_ref().unwrap_or(&factor.name.name) == alias
        };
        let found = named_tables(&self.from).into_iter().find(own);
        found.filter(|_| self.paths.iter().any(|base| base.name == alias))
    }

    /// Whether rows of its base table of this name can be changed: no condition reads the table in
    /// a subquery.
    pub(super) fn can_change(&self, alias: &str) -> bool {
        let read = |table: &ast::TableFactor| {
            self.condition_reads.iter().any(|read| read.name == table.name)
        };
        self.table(alias).is_some_and(|table| !read(table))
    }

    /// Whether a condition reads a base table in a subquery, by the name that the view has for it.
    pub(super) fn reads_by_name(&self, alias: &str) -> bool {
        let (Some(table), Some(base)) =
            (self.table(alias), self.paths.iter().find(|base| base.name == alias))
        else {
            return false;
        };
        let same = |read: &ReadTable| read.name == table.name && read.alias == base.written;
        self.condition_reads.iter().any(same)
    }

    /// The table's column that a view's column is; errors 1054 and 1348.
    pub(super) fn base_column(
        &self,
        alias: &str,
        name: &ast::ColumnName,
    ) -> Result<ast::ColumnName> {
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
    pub(super) fn translate(
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

    /// RETURNING over the view's tables; error 1235 where there are several.
    pub(super) fn returning(
        &self,
        session: &SessionContext,
        alias: &str,
        items: &[ast::SelectItem],
    ) -> Result<Vec<ast::SelectItem>> {
        if !items.is_empty() && only_table(&self.from).is_none() {
            return refuse_several();
        }
        let mut out = Vec::new();
        for item in items {
            match item {
                ast::SelectItem::Expr { expr, alias: name, text } => {
                    let name = item_name(expr, name.as_ref(), text);
                    let expr = self.translate(session, alias, expr, "field list")?;
                    out.push(ast::SelectItem::Expr { expr, alias: Some(name), text: text.clone() });
                }
                ast::SelectItem::TableWildcard(of) if of.name != alias => {
                    return error(ErrorCode::UnknownTable, &[&of.name]);
                }
                _ => {
                    self.reads.set(true);
                    out.extend(self.columns.iter().map(|(name, expr)| ast::SelectItem::Expr {
                        expr: expr.clone(),
                        alias: Some(name.clone()),
                        text: String::new(),
                    }));
                }
            }
        }
        Ok(out)
    }

    /// Notes which of its tables the statement changes, and the privileges that this needs.
    pub(super) fn changes(&mut self, table: &str, mut wanted: Privileges) {
        if self.reads.get() {
            wanted |= Privileges::SELECT;
        }
        let found = self.paths.iter().find(|base| base.name == table);
        for (at, member) in found.into_iter().flat_map(|base| &base.path) {
            self.views[*at].changes.push((member.clone(), wanted));
        }
    }

    /// As [`ViewTarget::changes`] for INSERT, which needs its privileges on all tables.
    pub(super) fn inserts(&mut self, wanted: Privileges) {
        let tables: Vec<String> = self.paths.iter().map(|base| base.name.clone()).collect();
        tables.iter().for_each(|table| self.changes(table, wanted));
    }
}

/// The conditions of joins, each with the table that it stands behind; `None` for several tables.
fn attached<'t>(table: &'t TableRef, found: &mut Vec<(Option<&'t ast::TableFactor>, &'t Expr)>) {
    match table {
        TableRef::List(list) => list.iter().for_each(|table| attached(table, found)),
        TableRef::Join(join) => {
            attached(&join.left, found);
            attached(&join.right, found);
            if let JoinConstraint::On(on) = &join.constraint {
                let behind = match &join.right {
                    TableRef::Table(factor) => Some(&**factor),
                    _ => None,
                };
                found.push((behind, on));
            }
        }
        _ => {}
    }
}

/// Puts what named tables become in their places, and writes the conditions between them anew.
fn replace_tables<'m>(
    table: &mut TableRef,
    members: &mut dyn Iterator<Item = &'m Member>,
    with: &dyn Fn(&ast::ColumnName) -> Option<Expr>,
) {
    match table {
        TableRef::Table(factor) => match members.next() {
            Some(Member::Renamed(name)) => factor.alias = Some(name.clone()),
            Some(Member::View(inner)) => *table = nested(inner.from.clone()),
            None => {}
        },
        TableRef::Join(join) => {
            replace_tables(&mut join.left, members, with);
            replace_tables(&mut join.right, members, with);
            if let JoinConstraint::On(on) = &mut join.constraint {
                replace_columns(on, with);
            }
        }
        TableRef::List(list) => {
            list.iter_mut().for_each(|table| replace_tables(table, members, with));
        }
        TableRef::Derived(derived) if derived.lateral => {
            replace_in_query(&mut derived.query, with);
        }
        TableRef::JsonTable(table) => replace_columns(&mut table.doc, with),
        TableRef::Derived(_) => {}
    }
}

/// Whether FROM has members that are no named tables.
fn has_derived(from: &[TableRef]) -> bool {
    from.iter().any(|table| match table {
        TableRef::Table(_) => false,
        TableRef::Derived(_) | TableRef::JsonTable(_) => true,
        TableRef::List(list) => has_derived(list),
        TableRef::Join(join) => {
            has_derived(std::slice::from_ref(&join.left))
                || has_derived(std::slice::from_ref(&join.right))
        }
    })
}

/// The first bare column outside of subqueries: the view has none of that name.
fn find_unresolved(expr: &Expr, found: &mut Option<String>) {
    if let Expr::Column(ast::ColumnName { table: None, name, .. }) = expr {
        found.get_or_insert_with(|| name.clone());
    }
    expr.for_each_child(&mut |child| find_unresolved(child, found));
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
