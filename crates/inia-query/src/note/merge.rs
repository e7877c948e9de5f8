//! Derived tables that go into the SELECT around them.
//!
//! A derived table's FROM takes its place, its WHERE becomes conditions of the SELECT around it, or
//! of ON on the inner side of an outer join, and its select list stands where its columns were
//! named.

use super::Rewriter;
use super::condition::and;
use inia_parser::TWIN;
use inia_parser::ast::*;

/// A derived table that was merged: its name, and what its columns are.
pub(super) struct Merged {
    pub(super) alias: String,
    pub(super) columns: Vec<(String, Expr)>,
}

/// Whether the query of a derived table or view goes into the SELECT around it.
pub(super) fn mergeable(query: &Query, nullable: bool) -> bool {
    let plain = query.with.is_none() && query.order_by.is_empty() && query.limit.is_none();
    let select = match &query.body {
        QueryBody::Select(select) if plain => select,
        QueryBody::Nested(inner) if plain => return mergeable(inner, nullable),
        _ => return false,
    };
    let options = select.options;
    let simple = !(options.distinct || options.straight_join || options.calc_found_rows)
        && select.group_by.is_empty()
        && select.having.is_none()
        && select.windows.is_empty()
        && !select.from.is_empty();
    let plain = |item: &SelectItem| match item {
        SelectItem::Wildcard | SelectItem::TableWildcard(_) => true,
        SelectItem::Expr { expr: Expr::Column(_), .. } => true,
        SelectItem::Expr { expr, .. } => !nullable && is_row_wise(expr),
    };
    simple && select.from.iter().all(is_stored) && select.items.iter().all(plain)
}

fn is_stored(table: &TableRef) -> bool {
    match table {
        TableRef::Table(factor) => {
            let schema = factor.name.db.as_deref();
            schema.is_none_or(|schema| !crate::computed::is_computed(schema, &factor.name.name))
        }
        TableRef::Derived(_) => true,
        TableRef::Join(join) => is_stored(&join.left) && is_stored(&join.right),
        TableRef::List(list) => list.iter().all(is_stored),
        TableRef::JsonTable(_) => false,
    }
}

/// Whether an expression depends on one row alone, and has one value however often it is computed.
fn is_row_wise(expr: &Expr) -> bool {
    let mut fits = match expr {
        Expr::Aggregate(_) | Expr::Window(_) | Expr::AssignVar { .. } | Expr::UserVar(_) => false,
        Expr::Subquery(_) | Expr::Exists(_) | Expr::InSubquery { .. } | Expr::Quantified { .. } => {
            false
        }
        Expr::Function(call) => call.db.is_none() && !crate::bind::is_varying(&call.name),
        _ => true,
    };
    expr.for_each_child(&mut |child| fits = fits && is_row_wise(child));
    fits
}

fn plain_select(query: Query) -> Option<Box<Select>> {
    match query.body {
        QueryBody::Select(select) => Some(select),
        QueryBody::Nested(inner) => plain_select(*inner),
        _ => None,
    }
}

impl Rewriter<'_> {
    /// Merges the derived tables of a FROM; the conditions of those that are not on the inner side
    /// of an outer join go to `conditions`.
    pub(super) fn merge_from(&self, select: &mut Select, merged: &mut Vec<Merged>) {
        let mut conditions = Vec::new();
        for member in &mut select.from {
            conditions.extend(self.merge_member(member, false, merged));
        }
        for condition in conditions {
            select.where_ = Some(match select.where_.take() {
                Some(own) => and(own, condition),
                None => condition,
            });
        }
    }

    /// Merges what is in a member; returns conditions that the enclosing ON or WHERE gets.
    pub(super) fn merge_member(
        &self,
        member: &mut TableRef,
        nullable: bool,
        merged: &mut Vec<Merged>,
    ) -> Vec<Expr> {
        match member {
            TableRef::Derived(derived)
                if !derived.lateral
                    && mergeable(&derived.query, nullable)
                    && !self.keeps_tables(&derived.alias) =>
            {
                let (alias, columns) = (derived.alias.clone(), derived.columns.clone());
                let query = std::mem::replace(
                    &mut derived.query,
                    Query::new(QueryBody::Values(Vec::new())),
                );
                let Some(mut select) = plain_select(query) else { return Vec::new() };
                let mut inside = Vec::new();
                let mut conditions = Vec::new();
                for member in &mut select.from {
                    conditions.extend(self.merge_member(member, nullable, &mut inside));
                }
                let mut select = *select;
                substitute_select(&mut select, &inside);
                self.distinguish(&mut select);
                inside.iter().for_each(|merged| {
                    conditions.iter_mut().for_each(|expr| substitute(expr, merged));
                });
                let named = select.items.into_iter().enumerate().filter_map(|(at, item)| {
                    let SelectItem::Expr { expr, alias, .. } = item else { return None };
                    let own = alias.unwrap_or_default();
                    Some((columns.get(at).cloned().unwrap_or(own), expr))
                });
                merged.push(Merged { alias, columns: named.collect() });
                *member = TableRef::List(select.from);
                select.where_.into_iter().chain(conditions).collect()
            }
            TableRef::List(list) => list
                .iter_mut()
                .flat_map(|member| self.merge_member(member, nullable, merged))
                .collect(),
            TableRef::Join(join) => self.merge_join(join, nullable, merged),
            _ => Vec::new(),
        }
    }

    /// Gives the tables of a merged SELECT aliases that no other one has.
    fn distinguish(&self, select: &mut Select) {
        let mut twins = Vec::new();
        let mut seen = self.merged.borrow_mut();
        for member in &mut select.from {
            name_anew(member, &mut |factor| {
                let alias = factor.alias.clone().unwrap_or_else(|| factor.name.name.clone());
                let number = seen.iter().filter(|known| **known == alias).count();
                seen.push(alias.clone());
                let own = format!("{alias}{TWIN}{number}");
                twins.push(((factor.name.db.clone(), alias), own.clone()));
                factor.alias = Some(own);
            });
        }
        let rename = &mut |expr: &mut Expr| rename(expr, &twins);
        for item in &mut select.items {
            if let SelectItem::Expr { expr, .. } = item {
                rename(expr);
            }
        }
        select.where_.iter_mut().for_each(rename);
        let Select { from, .. } = select;
        from.iter_mut()
            .for_each(|member| each_on(member, &mut |on| super::merge::rename(on, &twins)));
    }

    fn merge_join(&self, join: &mut Join, nullable: bool, merged: &mut Vec<Merged>) -> Vec<Expr> {
        let (left, right) = (join.kind == JoinKind::Left, join.kind == JoinKind::Right);
        let mut of_left = self.merge_member(&mut join.left, nullable || right, merged);
        let mut of_right = self.merge_member(&mut join.right, nullable || left, merged);
        let inner = match join.kind {
            JoinKind::Left => std::mem::take(&mut of_right),
            JoinKind::Right => std::mem::take(&mut of_left),
            _ => Vec::new(),
        };
        for condition in inner {
            join.constraint = match std::mem::replace(&mut join.constraint, JoinConstraint::None) {
                JoinConstraint::On(on) => JoinConstraint::On(and(on, condition)),
                _ => JoinConstraint::On(condition),
            };
        }
        of_left.append(&mut of_right);
        of_left
    }

    /// Whether hints keep a derived table as it is.
    fn keeps_tables(&self, alias: &str) -> bool {
        self.order.materializes(alias)
    }
}

/// A table's database and alias, and its new alias.
type Twin = ((Option<String>, String), String);

fn name_anew(member: &mut TableRef, name: &mut dyn FnMut(&mut TableFactor)) {
    match member {
        TableRef::Table(factor) => {
            let alias = factor.alias.as_deref().unwrap_or_default();
            if !alias.contains(TWIN) {
                name(factor);
            }
        }
        TableRef::List(list) => list.iter_mut().for_each(|member| name_anew(member, name)),
        TableRef::Join(join) => {
            name_anew(&mut join.left, name);
            name_anew(&mut join.right, name);
        }
        TableRef::Derived(_) | TableRef::JsonTable(_) => {}
    }
}

fn each_on(member: &mut TableRef, visit: &mut dyn FnMut(&mut Expr)) {
    match member {
        TableRef::List(list) => list.iter_mut().for_each(|member| each_on(member, visit)),
        TableRef::Join(join) => {
            each_on(&mut join.left, visit);
            each_on(&mut join.right, visit);
            if let JoinConstraint::On(on) = &mut join.constraint {
                visit(on);
            }
        }
        _ => {}
    }
}

fn rename(expr: &mut Expr, twins: &[Twin]) {
    if let Expr::Column(name) = expr {
        let own = |twin: &&Twin| twin.0.0 == name.db && Some(&twin.0.1) == name.table.as_ref();
        if let Some((_, alias)) = twins.iter().find(own) {
            name.table = Some(alias.clone());
        }
        return;
    }
    if let Expr::Subquery(query)
    | Expr::Exists(query)
    | Expr::InSubquery { query, .. }
    | Expr::Quantified { query, .. } = expr
    {
        super::constant::each_expr_of(query, &mut |inside| rename(inside, twins));
    }
    expr.for_each_child_mut(&mut |child| rename(child, twins));
}

/// Puts merged columns into all expressions of a SELECT.
pub(super) fn substitute_select(select: &mut Select, merged: &[Merged]) {
    for merged in merged.iter().rev() {
        let mut put = |expr: &mut Expr| substitute(expr, merged);
        for item in &mut select.items {
            if let SelectItem::Expr { expr, .. } = item {
                put(expr);
            }
        }
        let Select { where_, group_by, having, windows, from, .. } = select;
        where_.iter_mut().chain(group_by).chain(having).for_each(&mut put);
        for (_, window) in windows {
            window.for_each_expr_mut(&mut put);
        }
        from.iter_mut().for_each(|member| substitute_table(member, merged));
    }
}

fn substitute_table(member: &mut TableRef, merged: &Merged) {
    match member {
        TableRef::Join(join) => {
            substitute_table(&mut join.left, merged);
            substitute_table(&mut join.right, merged);
            if let JoinConstraint::On(on) = &mut join.constraint {
                substitute(on, merged);
            }
        }
        TableRef::List(list) => list.iter_mut().for_each(|m| substitute_table(m, merged)),
        TableRef::Derived(derived) if derived.lateral => {
            substitute_query(&mut derived.query, merged);
        }
        TableRef::JsonTable(table) => substitute(&mut table.doc, merged),
        _ => {}
    }
}

/// Puts merged columns into all expressions of a query.
pub(super) fn substitute_query(query: &mut Query, merged: &Merged) {
    fn body(one: &mut QueryBody, merged: &Merged) {
        match one {
            QueryBody::Select(select) => {
                let merged =
                    Merged { alias: merged.alias.clone(), columns: merged.columns.clone() };
                substitute_select(select, &[merged]);
            }
            QueryBody::Nested(query) => substitute_query(query, merged),
            QueryBody::SetOperation { first, rest } => {
                body(first, merged);
                rest.iter_mut().for_each(|term| body(&mut term.body, merged));
            }
            QueryBody::Values(_) | QueryBody::Table(_) => {}
        }
    }
    body(&mut query.body, merged);
    query.order_by.iter_mut().for_each(|item| substitute(&mut item.expr, merged));
}

/// Puts merged columns into an expression, and into its queries.
pub(super) fn substitute(expr: &mut Expr, merged: &Merged) {
    if let Expr::Column(name) = expr {
        if name.db.is_none() && name.table.as_ref() == Some(&merged.alias) {
            let same = |column: &&(String, Expr)| column.0.eq_ignore_ascii_case(&name.name);
            if let Some((_, meant)) = merged.columns.iter().find(same) {
                *expr = meant.clone();
            }
        }
        return;
    }
    match expr {
        Expr::Subquery(query)
        | Expr::Exists(query)
        | Expr::InSubquery { query, .. }
        | Expr::Quantified { query, .. } => substitute_query(query, merged),
        _ => {}
    }
    expr.for_each_child_mut(&mut |child| substitute(child, merged));
}
