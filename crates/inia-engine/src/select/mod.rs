//! SELECT from one table (or none) without grouping, without an operator tree.
//!
//! Plain columns go from the stored bytes to the sink; everything else is evaluated per row. What
//! this module does not take ([`plan`] answers `None`) is the general planner's.

mod output;
mod run;

use crate::access::{self, AccessPath};
use crate::catalog::{IndexKind, Table, same_name};
use crate::dml::scope::{TableScope, column_type};
use crate::expr::{
    Aggregate, EvalContext, Expr, ExprKind, NoSubqueries, Scope, prepare,
};
use crate::session::core::Core;
use inia_base::column::ResultColumn;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast;
use inia_storage::{LockMode, LockRequest, WaitPolicy};
use std::sync::Arc;

/// A planned SELECT.
pub(crate) struct SelectPlan {
    pub(crate) table: Option<Arc<Table>>,
    pub(crate) columns: Vec<ResultColumn>,
    path: Option<AccessPath>,
    /// The condition of a SELECT without a table.
    condition: Option<Expr>,
    /// The select list; for aggregates, in terms of their results.
    items: Vec<Expr>,
    /// The select list as plain columns, where it is nothing else.
    plain: Option<Vec<usize>>,
    aggregates: Vec<Aggregate>,
    order: Vec<(Expr, bool)>,
    /// The scan gives the order by itself, in this direction.
    backward: bool,
    distinct: bool,
    limit: Option<(Option<Expr>, Expr)>,
    /// Columns to decode where rows are evaluated.
    read: Vec<bool>,
    pub(crate) lock: Option<LockRequest>,
}

/// What a SELECT reports besides its rows.
pub(crate) struct Found {
    pub(crate) rows: u64,
}

/// Names of a one-table SELECT, and its aggregates.
struct SelectScope<'t> {
    table: Option<TableScope<'t>>,
    aggregates: Vec<Aggregate>,
    allow_aggregates: bool,
    inside: bool,
    clause: &'static str,
}

impl Scope for SelectScope<'_> {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        match &mut self.table {
            Some(table) => {
                table.clause = self.clause;
                table.column(name)
            }
            None => {
                let full = match &name.table {
                    Some(table) => format!("{table}.{}", name.name),
                    None => name.name.clone(),
                };
                Err(SqlError::new(ErrorCode::UnknownColumn, &[&full, &self.clause]))
            }
        }
    }

    fn default_of(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        match &mut self.table {
            Some(table) => table.default_of(name),
            None => self.column(name),
        }
    }

    fn enter_aggregate(&mut self) -> Result<(), SqlError> {
        if !self.allow_aggregates || self.inside {
            return Err(SqlError::new(ErrorCode::InvalidGroupFuncUse, &[]));
        }
        self.inside = true;
        Ok(())
    }

    fn aggregate(&mut self, call: Aggregate) -> Result<Expr, SqlError> {
        self.inside = false;
        let ty = call.ty.clone();
        self.aggregates.push(call);
        Ok(Expr { kind: ExprKind::Aggregate(self.aggregates.len() - 1), ty })
    }
}

/// Plans a query; `None` where it is not of this module's shape.
pub(crate) fn plan(core: &Core, query: &ast::Query) -> Result<Option<SelectPlan>, SqlError> {
    let Some(select) = shape(query) else { return Ok(None) };
    let factor = match select.from.as_slice() {
        [] => None,
        [ast::TableRef::Table(factor)] => Some(factor),
        _ => return Ok(None),
    };
    let table = match factor {
        Some(factor) => {
            Some(core.open_table(factor.name.db.as_deref(), &factor.name.name)?)
        }
        None => None,
    };
    let alias = factor.and_then(|factor| factor.alias.as_deref());
    let mut scope = SelectScope {
        table: table.as_deref().map(|table| TableScope::new(table, alias)),
        aggregates: Vec::new(),
        allow_aggregates: true,
        inside: false,
        clause: "field list",
    };
    let Some(list) = output::list(core, select, table.as_deref(), alias, &mut scope)? else {
        return Ok(None);
    };
    scope.allow_aggregates = false;
    scope.clause = "where clause";
    let condition = select.where_.as_ref().map(|c| bind(core, &mut scope, c)).transpose()?;
    scope.clause = "order clause";
    let order = order(core, &mut scope, query, select, &list)?;
    let limit = limit(core, &mut scope, query)?;
    let aggregates = std::mem::take(&mut scope.aggregates);
    drop(scope);
    if !aggregates.is_empty() && list.items.iter().any(reads_columns) {
        return Ok(None);
    }
    let columns = table.as_deref().map_or(0, |table| table.def.columns.len());
    let mut read = vec![false; columns];
    list.items.iter().for_each(|item| access::mark_columns(item, &mut read));
    order.iter().for_each(|(key, _)| access::mark_columns(key, &mut read));
    for aggregate in &aggregates {
        aggregate.args.iter().for_each(|arg| access::mark_columns(arg, &mut read));
        aggregate.order_by.iter().for_each(|key| access::mark_columns(&key.0, &mut read));
    }
    let hints = factor.map_or(&[][..], |factor| factor.hints.as_slice());
    let mut path = None;
    let mut rest = condition;
    if let Some(table) = &table {
        let allowed = allowed_indexes(table, hints)?;
        path = Some(access::choose(table, rest.take(), &read, &|at| allowed[at]));
        if let Some(filter) = path.as_ref().and_then(|path| path.filter.as_ref()) {
            access::mark_columns(filter, &mut read);
        }
    }
    let plain = list.items.iter().map(|item| match item.kind {
        ExprKind::Column { index, .. } => Some(index),
        _ => None,
    });
    let mut plan = SelectPlan {
        plain: plain.collect(),
        table,
        columns: list.columns,
        path,
        condition: rest,
        items: list.items,
        aggregates,
        order,
        backward: false,
        distinct: select.options.distinct,
        limit,
        read,
        lock: lock(query),
    };
    plan.use_index_order();
    Ok(Some(plan))
}

/// The SELECT inside a query of this module's shape.
fn shape(query: &ast::Query) -> Option<&ast::Select> {
    let ast::QueryBody::Select(select) = &query.body else { return None };
    let grouped = !select.group_by.is_empty() || select.having.is_some();
    let windows = !select.windows.is_empty() || select.rollup;
    let outside = query.with.is_some() || query.into.is_some() || query.locking.len() > 1;
    let rest = grouped || windows || outside || select.options.calc_found_rows;
    let mut subquery = false;
    let exprs = select.items.iter().filter_map(|item| match item {
        ast::SelectItem::Expr { expr, .. } => Some(expr),
        _ => None,
    });
    let orders = query.order_by.iter().map(|item| &item.expr);
    for expr in exprs.chain(select.where_.as_ref()).chain(orders) {
        subquery |= output::has_subquery(expr);
    }
    (!rest && !subquery).then_some(select)
}

fn lock(query: &ast::Query) -> Option<LockRequest> {
    let locking = query.locking.first()?;
    let mode = match locking.strength {
        ast::LockStrength::Update => LockMode::Exclusive,
        ast::LockStrength::Share => LockMode::Shared,
    };
    let wait = match locking.wait {
        ast::LockWait::Wait => WaitPolicy::Wait,
        ast::LockWait::NoWait => WaitPolicy::NoWait,
        ast::LockWait::SkipLocked => WaitPolicy::SkipLocked,
    };
    Some(LockRequest { mode, wait })
}

fn reads_columns(expr: &Expr) -> bool {
    let mut reads = false;
    expr.walk(&mut |node| reads |= matches!(node.kind, ExprKind::Column { .. }));
    reads
}

/// Binds and prepares an expression.
fn bind(core: &Core, scope: &mut dyn Scope, expr: &ast::Expr) -> Result<Expr, SqlError> {
    let mut bound = crate::dml::insert::bind_plain(core, scope, expr)?;
    let mut ctx = core.context(&[], &NoSubqueries);
    prepare(&mut bound, &mut ctx);
    Ok(bound)
}

fn order(
    core: &Core,
    scope: &mut SelectScope<'_>,
    query: &ast::Query,
    select: &ast::Select,
    list: &output::List,
) -> Result<Vec<(Expr, bool)>, SqlError> {
    let mut out = Vec::with_capacity(query.order_by.len());
    for item in &query.order_by {
        let key = match &item.expr {
            ast::Expr::Literal(ast::Literal::Int(position)) => {
                let at = usize::try_from(*position).unwrap_or(usize::MAX).wrapping_sub(1);
                let unknown = || SqlError::new(ErrorCode::UnknownColumn, &[position, &"order clause"]);
                list.items.get(at).cloned().ok_or_else(unknown)?
            }
            ast::Expr::Column(name) if name.table.is_none() => {
                let alias = |item: &ast::SelectItem| {
                    matches!(item, ast::SelectItem::Expr { alias: Some(alias), .. }
                        if same_name(alias, &name.name))
                };
                match select.items.iter().any(alias) {
                    true => {
                        let at = list.columns.iter().position(|c| same_name(&c.name, &name.name));
                        list.items[at.unwrap_or_default()].clone()
                    }
                    false => bind(core, scope, &item.expr)?,
                }
            }
            expr => bind(core, scope, expr)?,
        };
        if !key.is_constant() {
            out.push((key, item.desc));
        }
    }
    Ok(out)
}

type Limit = Option<(Option<Expr>, Expr)>;

fn limit(
    core: &Core,
    scope: &mut SelectScope<'_>,
    query: &ast::Query,
) -> Result<Limit, SqlError> {
    let Some(limit) = &query.limit else { return Ok(None) };
    let offset = limit.offset.as_ref().map(|offset| bind(core, scope, offset)).transpose()?;
    Ok(Some((offset, bind(core, scope, &limit.count)?)))
}

/// A number of LIMIT.
pub(crate) fn row_count(limit: &Expr, ctx: &mut EvalContext<'_>) -> Result<u64, SqlError> {
    match limit.eval(ctx, &[])? {
        Value::UInt(count) => Ok(count),
        Value::Int(count) if count >= 0 => Ok(count as u64),
        Value::Text(text) if text.bytes().all(|b| b.is_ascii_digit()) => {
            text.parse().map_err(|_| SqlError::new(ErrorCode::WrongArguments, &[&"LIMIT"]))
        }
        _ => Err(SqlError::new(ErrorCode::WrongArguments, &[&"LIMIT"])),
    }
}

/// Which indexes USE, FORCE and IGNORE INDEX leave; error 1176.
pub(crate) fn allowed_indexes(
    table: &Table,
    hints: &[ast::IndexHint],
) -> Result<Vec<bool>, SqlError> {
    let mut allowed = vec![true; table.def.indexes.len()];
    let mut used = false;
    for hint in hints {
        let mut named = Vec::new();
        for name in &hint.indexes {
            let unknown =
                || SqlError::new(ErrorCode::KeyDoesNotExist, &[name, &table.def.name]);
            named.push(table.def.index(name).ok_or_else(unknown)?);
        }
        if hint.kind == ast::IndexHintKind::Ignore {
            named.into_iter().for_each(|at| allowed[at] = false);
            continue;
        }
        if !used {
            allowed.fill(false);
            used = true;
        }
        named.into_iter().for_each(|at| allowed[at] = true);
    }
    Ok(allowed)
}

impl SelectPlan {
    /// Drops ORDER BY where the scan gives rows in that order anyway: the keys are the parts of
    /// the scanned index that follow its single values.
    fn use_index_order(&mut self) {
        let (Some(table), Some(path)) = (&self.table, &self.path) else { return };
        if self.order.is_empty() || self.distinct || !self.aggregates.is_empty() {
            return;
        }
        let primary = table.def.primary().map(|_| 0);
        let Some(index) = path.index.or(primary) else { return };
        let def = &table.def.indexes[index];
        let mut parts: Vec<(usize, bool)> = def
            .parts
            .iter()
            .map_while(|part| part.prefix.is_none().then_some((part.column, part.descending)))
            .collect();
        if parts.len() == def.parts.len() && def.kind == IndexKind::Plain {
            let suffix = table.def.primary().map(|p| p.parts.as_slice()).unwrap_or_default();
            parts.extend(suffix.iter().map(|part| (part.column, part.descending)));
        }
        let fixed = path.fixed_parts();
        let backward = self.order[0].1;
        let mut at = 0;
        for (key, descending) in &self.order {
            let ExprKind::Column { index, .. } = key.kind else { return };
            while at < fixed && parts.get(at).is_some_and(|part| part.0 != index) {
                at += 1;
            }
            let Some((column, down)) = parts.get(at) else { return };
            if *column != index || (*down != *descending) != (self.order[0].1 != parts_down(&parts, &self.order)) {
                return;
            }
            at += 1;
        }
        let down = parts_down(&parts, &self.order);
        self.backward = backward != down;
        self.order.clear();
    }

    /// Whether DDL has replaced what the plan was made for.
    pub(crate) fn is_stale(&self) -> bool {
        self.table.as_ref().is_some_and(|table| table.is_stale())
    }
}

/// Whether the index part that the first key names is descending.
fn parts_down(parts: &[(usize, bool)], order: &[(Expr, bool)]) -> bool {
    let ExprKind::Column { index, .. } = order[0].0.kind else { return false };
    parts.iter().find(|part| part.0 == index).is_some_and(|part| part.1)
}

/// The type of a column as the select list shows it.
fn item_type(table: &Table, index: usize) -> crate::expr::ExprType {
    column_type(table, index)
}
