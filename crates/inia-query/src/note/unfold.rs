//! What stands behind names: common table expressions and merged views in the place of their
//! names, and the numbers of SELECTs.
//!
//! A common table expression becomes a derived table at each place that reads it, with numbers of
//! its own each time; in its recursive operand it is a derived table without a query. SELECTs are
//! numbered in the order select list, FROM, WHERE, and so on, each with those inside it before the
//! next.

use super::merge::mergeable;
use super::note;
use super::order::ReadOrder;
use super::remarks::Remarks;
use crate::bind::item_name;
use crate::catalog::{CatalogVersion, View, ViewAlgorithm};
use crate::context::SessionContext;
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::ExprType;
use inia_expr::convert::to_text;
use inia_parser::ast::*;
use std::collections::HashMap;

/// A common table expression in scope.
#[derive(Clone)]
struct Scoped {
    cte: Cte,
    /// Of WITH RECURSIVE.
    recursive: bool,
    /// How many expressions are in scope where it is defined.
    below: usize,
    /// Its own operands are being unfolded.
    open: bool,
}

pub(super) struct Unfolder<'u> {
    session: &'u SessionContext,
    catalog: &'u CatalogVersion,
    scope: Vec<Scoped>,
    numbers: usize,
    order: &'u ReadOrder,
    params: &'u [Value],
    /// Some block of the statement with hints: it has those of all blocks.
    hints: Option<HintedBlock>,
    /// How often each common table expression is read.
    pub(super) uses: HashMap<String, usize>,
    pub(super) said: Remarks,
}

impl<'u> Unfolder<'u> {
    pub(super) fn new(
        session: &'u SessionContext,
        catalog: &'u CatalogVersion,
        order: &'u ReadOrder,
        params: &'u [Value],
    ) -> Unfolder<'u> {
        let (uses, scope, said) = (HashMap::new(), Vec::new(), Remarks::default());
        Unfolder { session, catalog, scope, numbers: 0, order, params, hints: None, uses, said }
    }

    /// Brings the expressions of a WITH into scope.
    pub(super) fn with(&mut self, with: Option<&With>) {
        let Some(with) = with else { return };
        for cte in &with.ctes {
            let below = self.scope.len();
            let (cte, recursive) = (cte.clone(), with.recursive);
            self.scope.push(Scoped { cte, recursive, below, open: false });
        }
    }

    pub(super) fn query(&mut self, query: &mut Query, depth: usize) {
        let around = self.scope.len();
        self.with(query.with.as_ref());
        self.body(&mut query.body, depth);
        query.order_by.iter_mut().for_each(|item| self.expr(&mut item.expr, depth));
        if let Some(limit) = &mut query.limit {
            let counts = limit.offset.iter_mut().chain([&mut limit.count]);
            counts.for_each(|count| self.expr(count, depth));
        }
        query.locking.clear();
        self.scope.truncate(around);
    }

    /// Gives the first SELECT the hints of the statement.
    pub(super) fn give_hints(&mut self, body: &mut QueryBody) {
        match body {
            QueryBody::Select(select) if select.hints.is_none() => {
                select.hints = self.hints.take().map(HintedBlock::elsewhere);
            }
            QueryBody::SetOperation { first, .. } => self.give_hints(first),
            QueryBody::Nested(query) => self.give_hints(&mut query.body),
            _ => {}
        }
    }

    fn body(&mut self, body: &mut QueryBody, depth: usize) {
        match body {
            QueryBody::Select(select) => self.select(select, depth),
            QueryBody::Nested(query) => self.query(query, depth),
            QueryBody::Table(name) => {
                let (name, partitions, hints) = (name.clone(), Vec::new(), Vec::new());
                let factor = TableFactor { name, partitions, alias: None, hints };
                let mut select = Select {
                    items: vec![SelectItem::Wildcard],
                    from: vec![TableRef::Table(Box::new(factor))],
                    ..Select::default()
                };
                self.select(&mut select, depth);
                *body = QueryBody::Select(Box::new(select));
            }
            QueryBody::Values(rows) => {
                self.numbers += 1;
                rows.iter_mut().flatten().for_each(|expr| self.expr(expr, depth));
            }
            QueryBody::SetOperation { first, rest } => {
                self.body(first, depth);
                rest.iter_mut().for_each(|term| self.body(&mut term.body, depth));
            }
        }
    }

    pub(super) fn select(&mut self, select: &mut Select, depth: usize) {
        self.numbers += 1;
        select.number = self.numbers;
        if self.hints.is_none() {
            self.hints.clone_from(&select.hints);
        }
        self.said.select(select);
        for item in &mut select.items {
            if let SelectItem::Expr { expr, alias, text } = item {
                let query = matches!(expr, Expr::Subquery(_));
                let name = query.then(|| item_name(expr, alias.as_ref(), text));
                self.expr(expr, depth);
                // What a subquery was reduced to keeps its name.
                if alias.is_none() && !matches!(expr, Expr::Subquery(_)) {
                    *alias = name;
                }
                if *expr == Expr::null() && alias.is_none() {
                    *alias = Some("NULL".to_owned());
                }
            }
        }
        select.from.iter_mut().for_each(|member| self.table_ref(member, false, depth));
        let Select { where_, group_by, having, windows, .. } = select;
        where_.iter_mut().chain(group_by).chain(having).for_each(|expr| self.expr(expr, depth));
        for (_, window) in windows {
            window.for_each_expr_mut(&mut |expr| self.expr(expr, depth));
        }
    }

    pub(super) fn expr(&mut self, expr: &mut Expr, depth: usize) {
        expr.for_each_child_mut(&mut |child| self.expr(child, depth));
        match expr {
            Expr::Param(number) => {
                if let Some(value) = self.params.get(*number as usize) {
                    *expr = literal(value);
                }
            }
            Expr::Subquery(query)
            | Expr::Exists(query)
            | Expr::InSubquery { query, .. }
            | Expr::Quantified { query, .. } => self.query(query, depth + 1),
            Expr::Function(call) if call.db.is_none() => self.said.function(&call.name),
            _ => {}
        }
        self.reduce(expr);
    }

    /// A subquery without tables is its value, and IN of one is a comparison.
    fn reduce(&mut self, expr: &mut Expr) {
        let (Expr::Subquery(query) | Expr::InSubquery { query, .. }) = expr else { return };
        let Some((number, value)) = sole_value(query) else { return };
        match std::mem::replace(expr, Expr::null()) {
            Expr::InSubquery { expr: left, negated, .. } => {
                let op = if negated { BinaryOp::Ne } else { BinaryOp::Eq };
                *expr = Expr::Binary { op, left, right: Box::new(value) };
            }
            _ => *expr = value,
        }
        let error = SqlError::new(ErrorCode::SelectReduced, &[&number]);
        self.said.resolved(note(ErrorCode::SelectReduced, error.message));
    }

    /// A member of FROM; `nullable` on the inner side of an outer join.
    pub(super) fn table_ref(&mut self, table: &mut TableRef, nullable: bool, depth: usize) {
        match table {
            TableRef::Table(factor) => {
                if let Some(unfolded) = self.named(factor, nullable, depth) {
                    *table = unfolded;
                }
            }
            TableRef::Derived(derived) => self.query(&mut derived.query, depth + 1),
            TableRef::List(list) => {
                list.iter_mut().for_each(|member| self.table_ref(member, nullable, depth));
            }
            TableRef::Join(join) => {
                let (left, right) = (join.kind == JoinKind::Left, join.kind == JoinKind::Right);
                self.table_ref(&mut join.left, nullable || right, depth);
                self.table_ref(&mut join.right, nullable || left, depth);
                if let JoinConstraint::On(on) = &mut join.constraint {
                    self.expr(on, depth);
                }
            }
            TableRef::JsonTable(table) => self.expr(&mut table.doc, depth),
        }
    }

    /// What stands behind a table's name; `None` for a table.
    fn named(
        &mut self,
        factor: &mut TableFactor,
        nullable: bool,
        depth: usize,
    ) -> Option<TableRef> {
        let alias = factor.alias.clone().unwrap_or_else(|| factor.name.name.clone());
        if factor.name.db.is_none()
            && let Some(at) = self.scope.iter().rposition(|s| s.cte.name == factor.name.name)
        {
            return Some(self.common(at, alias, depth));
        }
        if factor.name.db.is_none() {
            factor.name.db.clone_from(&self.session.env.database);
        }
        let schema = self.catalog.schemas.get(factor.name.db.as_ref()?)?;
        let view = schema.views.get(&factor.name.name)?.clone();
        self.merged_view(&view, alias, nullable, depth)
    }

    fn common(&mut self, at: usize, alias: String, depth: usize) -> TableRef {
        let Scoped { cte, recursive, below, open } = self.scope[at].clone();
        *self.uses.entry(cte.name.clone()).or_default() += 1;
        let (columns, common) = (cte.columns, Some(cte.name));
        let mut query = cte.query;
        if open {
            query = Query::new(QueryBody::Values(Vec::new()));
        } else {
            // It knows the expressions before it, and itself where WITH is RECURSIVE.
            let hidden = self.scope.split_off(below + usize::from(recursive));
            if recursive {
                self.scope[at].open = true;
            }
            self.query(&mut query, depth + 1);
            if recursive {
                self.scope[at].open = false;
            }
            self.scope.extend(hidden);
        }
        TableRef::Derived(Box::new(DerivedTable { lateral: false, query, alias, columns, common }))
    }

    /// The query of a view that is merged, as a derived table.
    fn merged_view(
        &mut self,
        view: &View,
        alias: String,
        nullable: bool,
        depth: usize,
    ) -> Option<TableRef> {
        let mut query = view.query.clone()?;
        let kept =
            view.def.algorithm == ViewAlgorithm::TempTable || self.order.materializes(&alias);
        if kept || !mergeable(&query, nullable) {
            return None;
        }
        let scope = std::mem::take(&mut self.scope);
        self.query(&mut query, depth + 1);
        self.scope = scope;
        let columns = view.def.columns.iter().map(|column| column.name.clone()).collect();
        let (lateral, common) = (false, None);
        Some(TableRef::Derived(Box::new(DerivedTable { lateral, query, alias, columns, common })))
    }
}

/// A parameter's value as it is written.
fn literal(value: &Value) -> Expr {
    Expr::Literal(match value {
        Value::Null => Literal::Null,
        Value::Int(value) => match u64::try_from(*value) {
            Ok(value) => Literal::Int(value),
            Err(_) => Literal::Decimal(value.to_string()),
        },
        Value::UInt(value) => Literal::Int(*value),
        Value::Double(value) => Literal::Float(*value),
        Value::Decimal(value) => Literal::Decimal(value.to_string()),
        Value::Bytes(bytes) => Literal::Hex { charset: None, bytes: bytes.to_vec() },
        Value::Text(text) => Literal::String { charset: None, value: text.to_string() },
        other => {
            let ty = ExprType::text(255, Collation::DEFAULT, true);
            Literal::String { charset: None, value: to_text(other, &ty).into_owned() }
        }
    })
}

/// The number and the value of a query of one value that reads no table.
fn sole_value(query: &Query) -> Option<(usize, Expr)> {
    fn plain(expr: &Expr) -> bool {
        let mut fits = !matches!(expr, Expr::Aggregate(_) | Expr::Window(_));
        expr.for_each_child(&mut |child| fits = fits && plain(child));
        fits
    }
    if query.with.is_some() || query.limit.is_some() {
        return None;
    }
    let QueryBody::Select(select) = &query.body else { return None };
    let bare = select.from.is_empty()
        && select.where_.is_none()
        && select.having.is_none()
        && select.group_by.is_empty();
    match &select.items[..] {
        [SelectItem::Expr { expr, .. }] if bare && plain(expr) => {
            Some((select.number, expr.clone()))
        }
        _ => None,
    }
}
