//! Conditions that move into derived tables: behind GROUP BY to HAVING, else to WHERE.

use super::Rewriter;
use super::condition::{all_of, conjuncts, each_column, has_query, normal};
use super::joins::{Joined, Member, add, table_of};
use super::merge::{Merged, mergeable, substitute};
use inia_parser::ast::*;

impl Rewriter<'_> {
    /// Moves conditions on one derived table into it.
    pub(super) fn push_down(&self, list: &mut [Joined], condition: &mut Option<Expr>) {
        let Some(whole) = condition.take() else { return };
        let mut kept = Vec::new();
        for one in conjuncts(whole) {
            let mut tables = Vec::new();
            each_column(&one, &mut |column| tables.push(table_of(column)));
            let alone = tables.first().filter(|first| tables.iter().all(|table| table == *first));
            let pushed = match alone {
                Some(table) if !has_query(&one) => list.iter_mut().any(|joined| {
                    joined.kind == JoinKind::Inner && self.push_into(joined, table, &one)
                }),
                _ => false,
            };
            if !pushed {
                kept.push(one);
            }
        }
        *condition = all_of(kept);
    }

    fn push_into(&self, joined: &mut Joined, table: &(String, String), condition: &Expr) -> bool {
        let Member::One(member) = &mut joined.member else { return false };
        match member {
            TableRef::Derived(derived)
                if table.0.is_empty() && derived.alias == table.1 && !derived.lateral =>
            {
                let shared = derived
                    .common
                    .as_ref()
                    .is_some_and(|name| self.uses.get(name).is_some_and(|uses| *uses > 1));
                !shared && push(&mut derived.query, &derived.columns, condition)
            }
            // A view is shown by its name, whatever it gets.
            TableRef::Table(factor) => {
                let alias = factor.alias.as_ref().unwrap_or(&factor.name.name);
                let Some(schema) = factor.name.db.as_ref().filter(|db| **db == table.0) else {
                    return false;
                };
                let schema = self.catalog.schemas.get(schema);
                let view = schema.and_then(|schema| schema.views.get(&factor.name.name));
                let Some(view) = view.filter(|_| *alias == table.1) else { return false };
                let takes = |query: &Query| !mergeable(query, false) && is_open(query);
                view.query.as_ref().is_some_and(takes)
            }
            _ => false,
        }
    }
}

/// Whether a query takes conditions: it has no LIMIT, and no windows.
fn is_open(query: &Query) -> bool {
    fn body(one: &QueryBody) -> bool {
        match one {
            QueryBody::Select(select) => select.windows.is_empty() && !select.rollup,
            QueryBody::Nested(query) => is_open(query),
            QueryBody::SetOperation { first, rest } => {
                body(first) && rest.iter().all(|term| body(&term.body))
            }
            QueryBody::Values(_) | QueryBody::Table(_) => false,
        }
    }
    query.limit.is_none() && body(&query.body)
}

fn push(query: &mut Query, columns: &[String], condition: &Expr) -> bool {
    let names = names_of(&query.body);
    let names: Vec<String> =
        names.iter().enumerate().map(|(at, own)| columns.get(at).unwrap_or(own).clone()).collect();
    if !is_open(query) || !fits(&query.body) {
        return false;
    }
    push_into_body(&mut query.body, &names, condition);
    true
}

fn names_of(body: &QueryBody) -> Vec<String> {
    match body {
        QueryBody::Select(select) => {
            let name = |item: &SelectItem| match item {
                SelectItem::Expr { alias, .. } => alias.clone().unwrap_or_default(),
                _ => String::new(),
            };
            select.items.iter().map(name).collect()
        }
        QueryBody::Nested(query) => names_of(&query.body),
        QueryBody::SetOperation { first, .. } => names_of(first),
        QueryBody::Values(_) | QueryBody::Table(_) => Vec::new(),
    }
}

/// Whether no function over a window or subquery is in the select lists, and no operand reads the
/// query itself.
fn fits(body: &QueryBody) -> bool {
    fn windowed(expr: &Expr) -> bool {
        let mut found = match expr {
            Expr::Window(_) => true,
            Expr::Aggregate(call) => call.over.is_some(),
            _ => false,
        };
        expr.for_each_child(&mut |child| found = found || windowed(child));
        found
    }
    let recurs = |table: &TableRef| match table {
        TableRef::Derived(derived) => derived.query.body == QueryBody::Values(Vec::new()),
        TableRef::Join(_) => true,
        _ => false,
    };
    match body {
        QueryBody::Select(select) => {
            let plain = |expr: &Expr| !windowed(expr) && !has_query(expr);
            let recursive = select
                .from
                .iter()
                .any(|table| matches!(table, TableRef::Derived(_)) && recurs(table));
            item_exprs(&select.items).all(plain) && !recursive
        }
        QueryBody::Nested(query) => fits(&query.body),
        QueryBody::SetOperation { first, rest } => {
            let set = rest.iter().all(|term| term.op == SetOp::Union);
            set && fits(first) && rest.iter().all(|term| fits(&term.body))
        }
        QueryBody::Values(_) | QueryBody::Table(_) => false,
    }
}

fn push_into_body(body: &mut QueryBody, names: &[String], condition: &Expr) {
    match body {
        QueryBody::Select(select) => {
            let items: Vec<Expr> = item_exprs(&select.items).cloned().collect();
            let mut alias = String::new();
            each_column(condition, &mut |column| {
                alias = column.table.clone().unwrap_or_default();
            });
            let columns = names.iter().cloned().zip(items).collect();
            let merged = Merged { alias, columns };
            let mut own = condition.clone();
            substitute(&mut own, &merged);
            match after_groups(&own, select) {
                true => {
                    let mut having = select.having.take().map(normal);
                    add(&mut having, own);
                    select.having = having;
                }
                false => {
                    let mut condition = select.where_.take().map(normal);
                    add(&mut condition, own);
                    select.where_ = condition;
                }
            }
        }
        QueryBody::Nested(query) => push_into_body(&mut query.body, names, condition),
        QueryBody::SetOperation { first, rest } => {
            push_into_body(first, names, condition);
            for term in rest {
                push_into_body(&mut term.body, names, condition);
            }
        }
        QueryBody::Values(_) | QueryBody::Table(_) => {}
    }
}

/// Whether a condition can be tested on groups only.
fn after_groups(condition: &Expr, select: &Select) -> bool {
    fn aggregated(expr: &Expr) -> bool {
        let mut found = matches!(expr, Expr::Aggregate(_));
        expr.for_each_child(&mut |child| found = found || aggregated(child));
        found
    }
    let one_group = select.group_by.is_empty() && item_exprs(&select.items).any(aggregated);
    let mut outside = false;
    if !select.group_by.is_empty() {
        each_column(condition, &mut |column| {
            let is = |group: &Expr| matches!(group, Expr::Column(name) if name == column);
            outside |= !select.group_by.iter().any(is);
        });
    }
    one_group || outside || aggregated(condition)
}
