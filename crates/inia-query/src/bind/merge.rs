//! Views and derived tables as members of FROM, merged into the query where that is possible.
//!
//! A simple SELECT (tables and a WHERE, nothing that needs all rows at once) does not become a
//! subplan: its tables get slots of the enclosing SELECT, its WHERE becomes one more
//! condition there, and its columns are names for expressions over those slots. The plan is then
//! the one of the query with the SELECT written out.
//!
//! Example: with `v` for `SELECT id, x + 1 AS y FROM t WHERE x > 3`, the query `SELECT y FROM v
//! WHERE id = 7` reads slots of `t`: its conditions are `t.x > 3` and `t.id = 7`, its output is
//! `t.x + 1`; the primary key of `t` finds the row.

use super::described;
use super::from::{BoundMember, FromContext, SubplanRef, inner, subplan_member};
use super::hints::{hints_of, keeps_order};
use super::namespace::{FromColumn, FromTable, Namespace};
use super::scope::Clause;
use super::{QueryBinder, QueryUse, Result};
use crate::catalog::{View, ViewAlgorithm, same_name};
use crate::plan::ViewUse;
use inia_base::column::ResultColumn;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::conjuncts;
use inia_expr::{Expr, ExprKind};
use inia_parser::ast::{self, QueryBody, SelectItem, TableRef};
use inia_storage::LockRequest;
use std::sync::Arc;

/// Where a merged SELECT comes from.
pub(super) struct Origin<'o> {
    /// The name it goes by.
    pub(super) alias: &'o str,
    /// The view; `None` for a derived table.
    pub(super) view: Option<&'o View>,
    /// Names of its columns, where they are not the query's own.
    pub(super) names: &'o [String],
    /// The lock that reading its tables takes.
    pub(super) lock: Option<LockRequest>,
}

impl QueryBinder<'_> {
    /// A view as a member of FROM.
    pub(super) fn view_member(
        &mut self,
        view: &Arc<View>,
        alias: &str,
        context: &mut FromContext<'_>,
    ) -> Result<BoundMember> {
        if self.open_views.iter().any(|open| Arc::ptr_eq(open, view)) {
            let code = ErrorCode::ViewRecursive;
            return Err(SqlError::new(code, &[&view.def.schema, &view.def.name]));
        }
        let opened = self.open_views.iter().chain([view]);
        let acts_for = opened.rev().find(|view| !view.def.invoker).map(|view| &view.def.definer);
        if !self.views.iter().any(|known| known.is(view, acts_for)) {
            self.views.push(ViewUse::new(view.clone(), acts_for.cloned()));
        }
        // What surrounds the view's name means nothing inside it.
        let ctes = std::mem::take(&mut self.ctes);
        let open: Vec<bool> = self.levels.iter_mut().map(|l| std::mem::take(&mut l.open)).collect();
        self.open_views.push(view.clone());
        let bound = self.view_inside(view, alias, context);
        self.open_views.pop();
        self.levels.iter_mut().zip(open).for_each(|(level, open)| level.open = open);
        self.ctes = ctes;
        bound.map_err(|error| invalid(view, error))
    }

    fn view_inside(
        &mut self,
        view: &View,
        alias: &str,
        context: &mut FromContext<'_>,
    ) -> Result<BoundMember> {
        let missing = || SqlError::new(ErrorCode::ViewInvalid, &[&view.def.schema, &view.def.name]);
        let query = view.query.as_ref().ok_or_else(missing)?;
        let names: Vec<String> = view.def.columns.iter().map(|c| c.name.clone()).collect();
        let lock = self.lock_of(alias, context);
        if view.def.algorithm != ViewAlgorithm::TempTable
            && let Some(select) = self.mergeable(query, context.nullable)
            && self.fits(select, context.tables)
            && (view.def.algorithm == ViewAlgorithm::Merge || self.may_merge(context.hints, alias))
        {
            let origin = Origin { alias, view: Some(view), names: &names, lock };
            if let Some(bound) = self.merge(select, &origin, context)? {
                return Ok(bound);
            }
        }
        let (id, _) = self.subplan(query, QueryUse::derived())?;
        self.keep_block_of(id);
        let merges = view.def.algorithm != ViewAlgorithm::TempTable
            && self.mergeable(query, false).is_some();
        self.keep_determined_of(id, merges);
        if self.subplan_columns(id).len() != names.len() {
            return Err(missing());
        }
        let columns = self.derived_columns(id, &names)?;
        let bound = self.subplan_columns(id);
        let inner: Vec<ResultColumn> = bound.iter().map(|column| column.result.clone()).collect();
        let rows = self.subplan_rows(id);
        let subplan = SubplanRef { id, lateral: false, level: self.levels.len(), rows };
        let mut member = subplan_member(subplan, alias, &columns, context);
        let table = &mut member.names.tables[0];
        table.schema.clone_from(&view.def.schema);
        for (column, inner) in table.columns.iter_mut().zip(inner) {
            described::as_derived(&mut column.result, &inner);
            column.result.schema.clone_from(&view.def.schema);
            let base = if inner.org_table.is_empty() { &view.def.name } else { &inner.org_table };
            column.result.org_table.clone_from(base);
        }
        Ok(member)
    }

    /// The SELECT of a query that can be merged. On the inner side of an outer join (`nullable`)
    /// every column must become NULL with its table's row.
    pub(super) fn mergeable<'q>(
        &self,
        query: &'q ast::Query,
        nullable: bool,
    ) -> Option<&'q ast::Select> {
        let plain = query.with.is_none()
            && query.order_by.is_empty()
            && query.limit.is_none()
            && query.locking.is_empty()
            && query.into.is_none();
        let select = match &query.body {
            QueryBody::Select(select) if plain => select,
            QueryBody::Nested(inner) if plain => return self.mergeable(inner, nullable),
            _ => return None,
        };
        let options = select.options;
        let simple = !(options.distinct || keeps_order(select) || options.calc_found_rows)
            && select.group_by.is_empty()
            && select.having.is_none()
            && select.windows.is_empty();
        let plain = |item: &SelectItem| match item {
            SelectItem::Wildcard | SelectItem::TableWildcard(_) => true,
            SelectItem::Expr { expr: ast::Expr::Column(_), .. } => true,
            SelectItem::Expr { expr, .. } => !nullable && is_row_wise(expr),
        };
        let stored = |table: &TableRef| self.is_stored(table);
        let from = !select.from.is_empty() && select.from.iter().all(stored);
        (simple && from && select.items.iter().all(plain)).then_some(select)
    }

    /// Whether no table of a FROM is computed by the server.
    fn is_stored(&self, table: &TableRef) -> bool {
        match table {
            TableRef::Table(factor) => {
                let schema = factor.name.db.as_deref().or(self.context.database);
                schema.is_none_or(|schema| !crate::computed::is_computed(schema, &factor.name.name))
            }
            TableRef::Derived(_) => true,
            TableRef::Join(join) => self.is_stored(&join.left) && self.is_stored(&join.right),
            TableRef::List(list) => list.iter().all(|table| self.is_stored(table)),
            TableRef::JsonTable(_) => false,
        }
    }

    /// Binds a SELECT in the innermost level's row; `None` where that turns out to be wrong: on
    /// the inner side of an outer join, a name that an enclosing query's row answers would keep
    /// its value in rows that are all NULL.
    pub(super) fn merge(
        &mut self,
        select: &ast::Select,
        origin: &Origin<'_>,
        context: &mut FromContext<'_>,
    ) -> Result<Option<BoundMember>> {
        let level = self.levels.len() - 1;
        let before = (self.subplans.len(), self.tables.len(), self.temporary.len());
        let (width, reached) = (context.width, self.reached);
        let outer = std::mem::take(&mut self.levels[level].namespace);
        let open = std::mem::replace(&mut self.levels[level].open, true);
        let bound = self.one_deeper(|binder| binder.merge_inside(select, origin, context));
        self.levels[level].namespace = outer;
        self.levels[level].open = open;
        let bound = bound?;
        let mut columns = bound.names.tables.iter().flat_map(|table| &table.columns);
        if !context.nullable || columns.all(|column| column.merged.is_none()) {
            return Ok(Some(bound));
        }
        self.subplans.truncate(before.0);
        self.tables.truncate(before.1);
        self.temporary.truncate(before.2);
        (context.width, self.reached) = (width, reached);
        Ok(None)
    }

    fn merge_inside(
        &mut self,
        select: &ast::Select,
        origin: &Origin<'_>,
        context: &mut FromContext<'_>,
    ) -> Result<BoundMember> {
        // The members take the next slots of the enclosing row. They all get the origin's lock,
        // since the locking clauses of the query know no names inside it.
        let mut inside = FromContext {
            width: context.width,
            tables: context.tables,
            locking: &[],
            forced: Some(origin.lock),
            nullable: context.nullable,
            hints: hints_of(select),
        };
        let (mut tree, mut conditions) = (None, Vec::new());
        for member in &select.from {
            let bound = self.table_ref(member, &mut inside)?;
            self.names_mut().append(bound.names)?;
            conditions.extend(bound.conditions);
            tree = Some(match tree {
                None => bound.tree,
                Some(left) => inner(left, bound.tree),
            });
        }
        (context.width, context.tables) = (inside.width, inside.tables);
        self.check_hints(inside.hints);
        let mut columns: Vec<FromColumn> = Vec::new();
        for item in &select.items {
            self.merged_item(item, origin, &mut columns)?;
        }
        // WHERE becomes conditions of the enclosing query: of its WHERE, or of ON where the members
        // are the inner side of an outer join.
        if let Some(condition) = &select.where_ {
            let meant = self.meant(condition, origin.view.is_some());
            let condition = meant.as_ref().unwrap_or(condition);
            let condition = self.expression(condition, Clause::Where, &[])?;
            conjuncts(condition, &mut conditions);
        }
        if !origin.names.is_empty() && origin.names.len() != columns.len() {
            return Err(SqlError::new(ErrorCode::ViewWrongList, &[]));
        }
        // A column list can give equal items different names, so names are compared after renaming.
        for at in 1..columns.len() {
            let (before, name) = (&columns[..at], &columns[at].result.name);
            if before.iter().any(|column| same_name(&column.result.name, name)) {
                return Err(SqlError::new(ErrorCode::DupFieldname, &[name]));
            }
        }
        let schema = origin.view.map(|view| view.def.schema.clone()).unwrap_or_default();
        let alias = origin.alias.to_owned();
        let table = FromTable { schema, alias, columns, stored: false, materialized: false };
        let tree = tree.ok_or_else(|| SqlError::new(ErrorCode::NoTablesUsed, &[]))?;
        Ok(BoundMember { tree, names: Namespace::of(table), conditions })
    }

    fn merged_item(
        &mut self,
        item: &SelectItem,
        origin: &Origin<'_>,
        columns: &mut Vec<FromColumn>,
    ) -> Result<()> {
        match item {
            SelectItem::Wildcard => {
                let names = self.names_mut();
                let all: Vec<_> = names.visible.iter().map(|at| names.column(*at)).collect();
                all.into_iter().for_each(|column| push(column.clone(), None, origin, columns));
            }
            SelectItem::TableWildcard(table) => {
                let names = self.names_mut();
                for at in names.columns_of(table.db.as_deref(), &table.name)? {
                    push(names.column(at).clone(), None, origin, columns);
                }
            }
            SelectItem::Expr { expr, alias, text } => {
                let bound = self.expression(expr, Clause::FieldList, &[])?;
                let name = super::select::item_name(expr, alias.as_ref(), text);
                let own = match expr {
                    ast::Expr::Column(name) => {
                        let names = self.names_mut();
                        names.find(name, Clause::FieldList.name())?.map(|at| names.column(at))
                    }
                    _ => None,
                };
                let column = match own {
                    Some(column) => column.clone(),
                    None => computed(bound),
                };
                push(column, Some(name), origin, columns);
            }
        }
        Ok(())
    }
}

/// A column that is an expression.
fn computed(expr: Expr) -> FromColumn {
    let (ty, result) = (expr.ty.clone(), expr.ty.result_column(""));
    FromColumn { slot: usize::MAX, ty, result, hidden: false, merged: Some(Arc::new(expr)) }
}

/// Adds a column under the name that the enclosing SELECT knows it by.
fn push(
    mut column: FromColumn,
    name: Option<String>,
    origin: &Origin<'_>,
    columns: &mut Vec<FromColumn>,
) {
    let own = name.unwrap_or_else(|| column.result.name.clone());
    let name = origin.names.get(columns.len()).cloned().unwrap_or(own);
    let result: &mut ResultColumn = &mut column.result;
    result.table = origin.alias.to_owned();
    if let Some(view) = origin.view {
        result.org_table.clone_from(&view.def.name);
    }
    result.org_name.clone_from(&name);
    result.name = name;
    column.hidden = false;
    columns.push(column);
}

/// Functions whose value may differ from call to call, or that do something.
const VARYING: [&str; 11] = [
    "rand",
    "uuid",
    "uuid_short",
    "random_bytes",
    "sleep",
    "benchmark",
    "get_lock",
    "release_lock",
    "last_insert_id",
    "row_count",
    "found_rows",
];

/// Whether a function's value may differ from call to call, or it does something.
pub(crate) fn is_varying(name: &str) -> bool {
    VARYING.contains(&name)
}

/// Whether an expression depends on one row alone, and has one value however often it is computed.
fn is_row_wise(expr: &ast::Expr) -> bool {
    use ast::Expr as E;
    let mut fits = match expr {
        E::Aggregate(_) | E::Window(_) | E::AssignVar { .. } | E::UserVar(_) => false,
        E::Subquery(_) | E::Exists(_) | E::InSubquery { .. } | E::Quantified { .. } => false,
        E::Function(call) => call.db.is_none() && !is_varying(&call.name),
        _ => true,
    };
    expr.for_each_child(&mut |child| fits = fits && is_row_wise(child));
    fits
}

/// Error 1356 in place of what is wrong inside a view.
fn invalid(view: &View, error: SqlError) -> SqlError {
    let hidden = matches!(
        error.code,
        ErrorCode::NoSuchTable
            | ErrorCode::UnknownColumn
            | ErrorCode::UnknownDatabase
            | ErrorCode::SpDoesNotExist
            | ErrorCode::ViewInvalid
            | ErrorCode::ViewWrongList
    );
    match hidden {
        true => SqlError::new(ErrorCode::ViewInvalid, &[&view.def.schema, &view.def.name]),
        false => error,
    }
}

impl FromColumn {
    /// The column as queries inside the SELECT see it, `depth` levels further in; reports the
    /// slots it reads.
    pub(super) fn outer(&self, depth: usize, reads: &mut dyn FnMut(Option<usize>)) -> Expr {
        let mut expr = self.expr();
        expr.walk_mut(&mut |node| match &mut node.kind {
            ExprKind::Column { index, name } => {
                reads(Some(*index));
                let (index, name) = (*index, name.clone());
                node.kind = ExprKind::OuterColumn { depth, index, name };
            }
            ExprKind::OuterColumn { depth: further, .. } => {
                *further += depth;
                reads(None);
            }
            _ => {}
        });
        expr
    }
}
