//! Subqueries: those that become semi and anti joins, and what the others are executed as.
//!
//! A condition `x IN (SELECT y FROM u WHERE c)` is `… semi join (u) where x = y and c`, where the
//! plan has joined it. One that stays is looked up in a table of its rows, `<in_optimizer>(x, x in
//! ( <materialize> (…) …))`, or asked with each row where it reads that row, `<exists>(…)`.

use super::Rewriter;
use super::condition::{binary, conjuncts, each_column, internal, normal, truth};
use super::joins::{Joined, Member, keys_of, list_of, table_of};
use super::note;
use super::order::Key;
use crate::catalog::IndexKind;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::*;

/// A subquery that becomes a join.
struct Unnested {
    kind: JoinKind,
    list: Vec<Joined>,
    conditions: Vec<Expr>,
    correlated: bool,
    number: usize,
    items: Vec<(Expr, String)>,
}

/// A subquery that is joined and materialized.
pub(super) struct Made {
    pub(super) tables: Vec<Key>,
    number: usize,
    /// What its rows are compared by, and the names of that.
    items: Vec<(Expr, String)>,
}

impl Made {
    /// The column of the materialized table that has an expression's values.
    pub(super) fn column(&self, expr: &Expr) -> Option<ColumnName> {
        let (_, name) = self.items.iter().find(|(item, _)| item == expr)?;
        let table = Some(format!("<subquery{}>", self.number));
        Some(ColumnName { db: None, table, name: name.clone() })
    }

    pub(super) fn has(&self, column: &ColumnName) -> bool {
        self.tables.contains(&table_of(column))
    }
}

/// What a condition on a subquery tests.
struct Tested<'q> {
    left: Option<&'q Expr>,
    query: &'q Query,
    negated: bool,
}

fn tested(condition: &Expr) -> Option<Tested<'_>> {
    match condition {
        Expr::InSubquery { expr, query, negated } => {
            Some(Tested { left: Some(expr), query, negated: *negated })
        }
        Expr::Exists(query) => Some(Tested { left: None, query, negated: false }),
        Expr::Unary { op: UnaryOp::Not, expr } => match &**expr {
            Expr::Exists(query) => Some(Tested { left: None, query, negated: true }),
            _ => None,
        },
        _ => None,
    }
}

/// Calls `visit` with the tables that a query names and does not have.
fn free_tables(query: &Query, own: &mut Vec<Key>, visit: &mut dyn FnMut(&ColumnName)) {
    fn expr(one: &Expr, own: &mut Vec<Key>, visit: &mut dyn FnMut(&ColumnName)) {
        match one {
            Expr::Column(name) => {
                if name.table.is_some() && !own.contains(&table_of(name)) {
                    visit(name);
                }
            }
            Expr::Subquery(query)
            | Expr::Exists(query)
            | Expr::InSubquery { query, .. }
            | Expr::Quantified { query, .. } => free_tables(query, own, visit),
            _ => {}
        }
        one.for_each_child(&mut |child| expr(child, own, visit));
    }
    fn table(one: &TableRef, own: &mut Vec<Key>, visit: &mut dyn FnMut(&ColumnName)) {
        match one {
            TableRef::Derived(derived) => free_tables(&derived.query, own, visit),
            TableRef::Join(join) => {
                table(&join.left, own, visit);
                table(&join.right, own, visit);
                if let JoinConstraint::On(on) = &join.constraint {
                    expr(on, own, visit);
                }
            }
            TableRef::List(list) => list.iter().for_each(|member| table(member, own, visit)),
            TableRef::JsonTable(json) => expr(&json.doc, own, visit),
            TableRef::Table(_) => {}
        }
    }
    fn body(one: &QueryBody, own: &mut Vec<Key>, visit: &mut dyn FnMut(&ColumnName)) {
        match one {
            QueryBody::Select(select) => {
                let outer = own.len();
                for member in &select.from {
                    own.extend(keys_of(&list_of(vec![member.clone()])));
                }
                select.from.iter().for_each(|member| table(member, own, visit));
                let exprs = item_exprs(&select.items);
                let clauses = select.where_.iter().chain(&select.group_by).chain(&select.having);
                exprs.chain(clauses).for_each(|one| expr(one, own, visit));
                own.truncate(outer);
            }
            QueryBody::Nested(query) => free_tables(query, own, visit),
            QueryBody::SetOperation { first, rest } => {
                body(first, own, visit);
                rest.iter().for_each(|term| body(&term.body, own, visit));
            }
            QueryBody::Values(_) | QueryBody::Table(_) => {}
        }
    }
    body(&query.body, own, visit);
}

/// Whether a query reads rows of those around it.
fn is_correlated(query: &Query) -> bool {
    let mut found = false;
    free_tables(query, &mut Vec::new(), &mut |_| found = true);
    found
}

impl Rewriter<'_> {
    /// Turns conditions on subqueries into joins, where the plan has; they go behind `list`.
    pub(super) fn unnest(
        &mut self,
        list: &mut Vec<Joined>,
        condition: &mut Option<Expr>,
        outermost: bool,
    ) {
        let Some(whole) = condition.take() else { return };
        let outer = keys_of(list);
        let (mut kept, mut unnested): (Vec<Expr>, Vec<Unnested>) = (Vec::new(), Vec::new());
        for one in conjuncts(whole) {
            match self.unnested(&one, &outer) {
                Some(joined) => unnested.push(joined),
                None => kept.push(one),
            }
        }
        // Those that read rows around them come first, then those of most tables.
        unnested.sort_by_key(|one| std::cmp::Reverse((one.correlated, keys_of(&one.list).len())));
        for Unnested { kind, list: mut inner, conditions, number, items, .. } in unnested {
            let mut pulled = Vec::new();
            if kind == JoinKind::Semi {
                pulled = self.pulled_out(&mut inner, &conditions, &outer);
            }
            let tables = keys_of(&inner);
            if outermost && self.order.makes(&tables) {
                self.made.push(Made { tables, number, items });
            }
            if kind == JoinKind::Anti {
                let on = super::condition::all_of(conditions).unwrap_or(truth(true));
                list.push(Joined { kind, member: Member::Nest(inner), on: Some(on) });
                continue;
            }
            kept.extend(conditions);
            list.splice(0..0, pulled);
            if !inner.is_empty() && !outermost {
                list.extend(inner);
            } else if !inner.is_empty() {
                list.push(Joined { kind, member: Member::Nest(inner), on: None });
            }
        }
        *condition = super::condition::all_of(kept);
    }

    fn unnested(&mut self, condition: &Expr, outer: &[Key]) -> Option<Unnested> {
        let Tested { left, query, negated } = tested(condition)?;
        let plain = query.limit.is_none() && query.with.is_none();
        let QueryBody::Select(select) = &query.body else { return None };
        let mut aggregates = false;
        item_exprs(&select.items).chain(&select.having).for_each(|e| aggregates |= aggregated(e));
        if !plain || select.having.is_some() || aggregates || !select.windows.is_empty() {
            return None;
        }
        let correlated = is_correlated(query);
        let mut select = (**select).clone();
        let mut merged = Vec::new();
        self.merge_from(&mut select, &mut merged);
        super::merge::substitute_select(&mut select, &merged);
        let mut list = list_of(std::mem::take(&mut select.from));
        if list.is_empty() || !self.order.joins(outer, &keys_of(&list)) {
            return None;
        }
        self.add_tables(&list);
        let mut inner = select.where_.take().map(|condition| self.decided(normal(condition)));
        inner = inner.filter(|condition| *condition != truth(true));
        self.unnest(&mut list, &mut inner, false);
        let (number, mut items) = (select.number, Vec::new());
        let mut conditions: Vec<Expr> = Vec::new();
        if let Some(left) = left {
            items = named_items(&select.items);
            let lefts = match left {
                Expr::Row(items) => items.clone(),
                one => vec![one.clone()],
            };
            for (left, right) in lefts.into_iter().zip(item_exprs(&select.items)) {
                let mut equal = binary(left.clone(), BinaryOp::Eq, right.clone());
                if negated && (self.may_be_null(&left) || self.may_be_null(right)) {
                    let expr = Box::new(equal);
                    equal = Expr::IsTruth { expr, truth: Truth::False, negated: true };
                }
                conditions.push(equal);
            }
        }
        let own = keys_of(&list);
        let (mut on, mut beside) = (Vec::new(), Vec::new());
        for condition in inner.map(conjuncts).unwrap_or_default() {
            match condition {
                // EXISTS compares with rows around it as IN does: those come last.
                Expr::Binary { op: BinaryOp::Eq, left: l, right: r } if left.is_none() => {
                    match (is_of(&l, &own), is_of(&r, &own)) {
                        (Some(true), Some(false)) => {
                            items.push(named(&l));
                            beside.push(binary(*r, BinaryOp::Eq, *l));
                        }
                        (Some(false), Some(true)) => {
                            items.push(named(&r));
                            beside.push(binary(*l, BinaryOp::Eq, *r));
                        }
                        _ => on.push(binary(*l, BinaryOp::Eq, *r)),
                    }
                }
                other => on.push(other),
            }
        }
        conditions.splice(0..0, on.into_iter().chain(beside));
        let kind = if negated { JoinKind::Anti } else { JoinKind::Semi };
        let mut rest = super::condition::all_of(conditions);
        let list = super::joins::simplify(list, &mut rest);
        let conditions = rest.map(conjuncts).unwrap_or_default();
        Some(Unnested { kind, list, conditions, correlated, number, items })
    }

    fn may_be_null(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Column(name) => self.types.column(name).is_none_or(|column| column.nullable),
            Expr::Literal(literal) => *literal == Literal::Null,
            _ => true,
        }
    }

    /// Takes the tables out of a subquery of which a unique key finds one row for each row around.
    fn pulled_out(
        &self,
        inner: &mut Vec<Joined>,
        conditions: &[Expr],
        outer: &[Key],
    ) -> Vec<Joined> {
        let (mut known, mut pulled) = (outer.to_vec(), Vec::new());
        let needed = |inner: &[Joined]| inner.iter().any(|one| one.kind != JoinKind::Inner);
        while !needed(inner) {
            let found = inner.iter().position(|one| match one {
                Joined { member: Member::One(table), kind: JoinKind::Inner, .. } => {
                    self.found_by_key(&super::joins::key_of(table), conditions, &known)
                }
                _ => false,
            });
            let Some(found) = found else { break };
            let one = inner.remove(found);
            known.extend(keys_of(std::slice::from_ref(&one)));
            pulled.push(one);
        }
        pulled
    }

    /// Whether a unique key finds one row of a table for each row of those that are known.
    fn found_by_key(&self, key: &Key, conditions: &[Expr], known: &[Key]) -> bool {
        let Some(def) = self.types.table(&key.0, &key.1) else { return false };
        let all = super::condition::all_of(conditions.to_vec());
        let equal = all.and_then(|all| self.equalities(all)).map_or(Vec::new(), |(equal, _)| equal);
        let fixed = |column: usize| {
            let name = &def.def.columns[column].name;
            let is = |column: &ColumnName| table_of(column) == *key && column.name == *name;
            let own = |expr: &Expr| matches!(expr, Expr::Column(column) if is(column));
            let given = |expr: &Expr| {
                let mut given = true;
                each_column(expr, &mut |column| given &= known.contains(&table_of(column)));
                given && !super::condition::has_query(expr)
            };
            let stated = conditions.iter().any(|condition| match condition {
                Expr::Binary { op: BinaryOp::Eq, left, right } => {
                    (own(left) && given(right)) || (own(right) && given(left))
                }
                _ => false,
            });
            let follows = |set: &super::equal::Equal| {
                let others = set.columns.iter().any(|column| known.contains(&table_of(column)));
                set.columns.iter().any(is) && (others || set.constant.is_some())
            };
            stated || equal.iter().any(follows)
        };
        let mut indexes = def.def.indexes.iter();
        indexes.any(|index| {
            let whole = index.kind != IndexKind::Spatial && index.unique();
            whole && index.parts.iter().all(|part| part.prefix.is_none() && fixed(part.column))
        })
    }

    /// Rewrites the subqueries of an expression. `decides` where unknown is as good as false.
    pub(super) fn subqueries(&mut self, expr: &mut Expr, decides: bool) {
        match expr {
            Expr::And(list) | Expr::Or(list) => {
                return list.iter_mut().for_each(|one| self.subqueries(one, decides));
            }
            Expr::Subquery(query) | Expr::Exists(query) => return self.query(query),
            Expr::InSubquery { .. } | Expr::Quantified { .. } => {
                let whole = std::mem::replace(expr, Expr::null());
                *expr = self.membership(normal(whole), decides);
                return;
            }
            _ => {}
        }
        expr.for_each_child_mut(&mut |child| self.subqueries(child, false));
    }

    fn membership(&mut self, condition: Expr, decides: bool) -> Expr {
        match condition {
            Expr::InSubquery { expr, query, negated } => {
                let asked = self.within(&expr, *query, decides && !negated);
                let asked = match negated {
                    true => {
                        let (expr, truth) = (Box::new(asked), Truth::False);
                        Expr::IsTruth { expr, truth, negated: false }
                    }
                    false => asked,
                };
                internal("<in_optimizer>", vec![*expr, asked])
            }
            Expr::Quantified { left, op, quantifier, mut query } => {
                if is_correlated(&query) || !matches!(query.body, QueryBody::Select(_)) {
                    self.query(&mut query);
                    return Expr::Quantified { left, op, quantifier, query };
                }
                self.query(&mut query);
                self.quantified(*left, (op, quantifier), *query)
            }
            other => other,
        }
    }

    /// A comparison with the least or greatest of a subquery's values.
    fn quantified(
        &mut self,
        left: Expr,
        (op, quantifier): (BinaryOp, Quantifier),
        mut query: Query,
    ) -> Expr {
        use BinaryOp::*;
        let any = quantifier == Quantifier::Any;
        let greatest = matches!(op, Gt | Ge) != any;
        let QueryBody::Select(select) = &mut query.body else { return left };
        let nullable = item_exprs(&select.items).any(|item| self.may_be_null(item));
        let grouped = !select.group_by.is_empty() || select.having.is_some();
        let right = if (any || !nullable) && !grouped {
            if let Some(SelectItem::Expr { expr, .. }) = select.items.first_mut() {
                let args = vec![std::mem::replace(expr, Expr::null())];
                let func = if greatest { AggregateFunc::Max } else { AggregateFunc::Min };
                let (order_by, separator, over) = (Vec::new(), None, None);
                let call = AggregateCall { func, distinct: false, args, order_by, separator, over };
                *expr = Expr::Aggregate(Box::new(call));
            }
            Expr::Subquery(Box::new(query))
        } else {
            let name = if greatest { "<max>" } else { "<min>" };
            internal(name, vec![Expr::Subquery(Box::new(query))])
        };
        if any {
            return internal("<nop>", vec![binary(left, op, right)]);
        }
        let op = match op {
            Gt => Le,
            Ge => Lt,
            Lt => Ge,
            Le => Gt,
            other => other,
        };
        internal("<not>", vec![binary(left, op, right)])
    }

    /// How `left IN (query)` is asked.
    fn within(&mut self, left: &Expr, mut query: Query, decides: bool) -> Expr {
        let single = matches!(query.body, QueryBody::Select(_)) && !matches!(left, Expr::Row(_));
        let (mut aggregates, mut tables) = (false, Vec::new());
        if let QueryBody::Select(select) = &query.body {
            item_exprs(&select.items).for_each(|item| aggregates |= aggregated(item));
            aggregates |= !select.group_by.is_empty();
            tables = keys_of(&list_of(select.from.clone()));
        }
        let asks = self.order.asks(&tables);
        if let Some(Some(lookup)) = asks {
            return self.looked_up(left, query, lookup);
        }
        let unread = aggregates && self.order.reads_none(&tables);
        if single && asks.is_none() && !unread && !is_correlated(&query) {
            let nullable = self.nullable_item(&query);
            self.query(&mut query);
            if let QueryBody::Select(select) = &mut query.body {
                // What was asked for leaves nothing behind.
                if !aggregates {
                    select.where_.get_or_insert(truth(true));
                }
                if aggregates || (!decides && nullable) {
                    select.having.get_or_insert(truth(true));
                }
            }
            let column = Expr::string(item_name(&query));
            let query = Expr::Subquery(Box::new(query));
            return internal("<materialize>", vec![left.clone(), query, column]);
        }
        if !matches!(left, Expr::Row(_)) {
            self.ask(left, &mut query.body, decides);
        }
        self.query(&mut query);
        internal("<exists>", vec![Expr::Subquery(Box::new(query))])
    }

    /// A subquery of a single table, whose rows an index finds by what they are asked for.
    fn looked_up(&mut self, left: &Expr, mut query: Query, lookup: super::order::Lookup) -> Expr {
        let lefts = match left {
            Expr::Row(items) => items.clone(),
            one => vec![one.clone()],
        };
        if let QueryBody::Select(select) = &mut query.body {
            let items: Vec<Expr> = item_exprs(&select.items).cloned().collect();
            for (left, item) in lefts.iter().zip(items).skip(lookup.parts) {
                let cached = internal("<cache>", vec![left.clone()]);
                super::joins::add(&mut select.where_, binary(cached, BinaryOp::Eq, item));
            }
        }
        self.query(&mut query);
        let name = if lookup.unique { "<primary_index_lookup>" } else { "<index_lookup>" };
        let (table, index) = (Expr::string(lookup.table), Expr::string(lookup.index));
        let mut args = vec![lefts.into_iter().next().unwrap_or_else(Expr::null), table, index];
        if let QueryBody::Select(select) = query.body {
            args.extend(select.where_);
        }
        internal("<exists>", vec![internal(name, args)])
    }

    fn nullable_item(&mut self, query: &Query) -> bool {
        let QueryBody::Select(select) = &query.body else { return true };
        self.add_tables(&list_of(select.from.clone()));
        item_exprs(&select.items).any(|item| self.may_be_null(item))
    }

    /// Asks a subquery for a row that is equal to `left`.
    fn ask(&mut self, left: &Expr, body: &mut QueryBody, decides: bool) {
        match body {
            QueryBody::Select(select) => {
                let Some(item) = item_exprs(&select.items).next().cloned() else { return };
                self.add_tables(&list_of(select.from.clone()));
                let cached = internal("<cache>", vec![left.clone()]);
                if aggregated(&item) {
                    let item = internal("<ref_null_helper>", vec![item]);
                    super::joins::add(&mut select.having, binary(cached, BinaryOp::Eq, item));
                    return;
                }
                let mut equal = binary(cached, BinaryOp::Eq, item.clone());
                if !decides && self.may_be_null(&item) {
                    let (expr, negated) = (Box::new(item.clone()), false);
                    equal = Expr::Or(vec![equal, Expr::IsNull { expr, negated }]);
                    let known = internal("<is_not_null_test>", vec![item]);
                    let known = match self.may_be_null(left) {
                        true => internal("<if>", vec![known]),
                        false => known,
                    };
                    super::joins::add(&mut select.having, known);
                }
                if !decides && self.may_be_null(left) {
                    equal = internal("<if>", vec![equal]);
                }
                super::joins::add(&mut select.where_, equal);
            }
            QueryBody::Nested(query) => self.ask(left, &mut query.body, decides),
            QueryBody::SetOperation { first, rest } => {
                self.ask(left, first, decides);
                rest.iter_mut().for_each(|term| self.ask(left, &mut term.body, decides));
            }
            QueryBody::Values(_) | QueryBody::Table(_) => {}
        }
    }

    /// Note 1276 of each column that a SELECT reads of one around it.
    pub(super) fn outer_references(&mut self, query: &Query) {
        let mut levels = Vec::new();
        self.references_of(query, &mut levels);
    }

    fn references_of(&mut self, query: &Query, levels: &mut Vec<(usize, Vec<Key>)>) {
        self.references_in_body(&query.body, levels);
        if let QueryBody::Select(select) = &query.body {
            levels.push((select.number, keys_of(&list_of(select.from.clone()))));
            // What repeats an item of the select list is looked at once.
            let own = |item: &&OrderItem| !item_exprs(&select.items).any(|one| *one == item.expr);
            for item in query.order_by.iter().filter(own) {
                self.references_in(&item.expr, levels);
            }
            levels.pop();
        }
    }

    fn references_in_body(&mut self, body: &QueryBody, levels: &mut Vec<(usize, Vec<Key>)>) {
        match body {
            QueryBody::Select(select) => {
                levels.push((select.number, keys_of(&list_of(select.from.clone()))));
                select.from.iter().for_each(|member| self.references_in_table(member, levels));
                let clauses = select.where_.iter().chain(&select.group_by).chain(&select.having);
                for one in item_exprs(&select.items).chain(clauses) {
                    self.references_in(one, levels);
                }
                levels.pop();
            }
            QueryBody::Nested(query) => self.references_of(query, levels),
            QueryBody::SetOperation { first, rest } => {
                self.references_in_body(first, levels);
                rest.iter().for_each(|term| self.references_in_body(&term.body, levels));
            }
            QueryBody::Values(_) | QueryBody::Table(_) => {}
        }
    }

    fn references_in_table(&mut self, table: &TableRef, levels: &mut Vec<(usize, Vec<Key>)>) {
        match table {
            TableRef::Derived(derived) => self.references_of(&derived.query, levels),
            TableRef::Join(join) => {
                self.references_in_table(&join.left, levels);
                self.references_in_table(&join.right, levels);
                if let JoinConstraint::On(on) = &join.constraint {
                    self.references_in(on, levels);
                }
            }
            TableRef::List(list) => {
                list.iter().for_each(|member| self.references_in_table(member, levels));
            }
            TableRef::Table(_) | TableRef::JsonTable(_) => {}
        }
    }

    fn references_in(&mut self, expr: &Expr, levels: &mut Vec<(usize, Vec<Key>)>) {
        match expr {
            Expr::Column(name) => {
                let key = table_of(name);
                let at = levels.iter().rposition(|(_, keys)| keys.contains(&key));
                if let (Some(at), Some((inner, _))) = (at, levels.last())
                    && at + 1 < levels.len()
                {
                    let dot = if name.db.is_some() { "." } else { "" };
                    let db = name.db.clone().unwrap_or_default();
                    let table = name.table.clone().unwrap_or_default();
                    let error = SqlError::new(
                        ErrorCode::WarnFieldResolved,
                        &[&db, &dot, &table, &".", &name.name, inner, &levels[at].0],
                    );
                    self.said.resolved(note(ErrorCode::WarnFieldResolved, error.message));
                }
            }
            Expr::Subquery(query)
            | Expr::Exists(query)
            | Expr::InSubquery { query, .. }
            | Expr::Quantified { query, .. } => self.references_of(query, levels),
            _ => {}
        }
        expr.for_each_child(&mut |child| self.references_in(child, levels));
    }
}

/// Whether an expression names columns of these tables only, or of others only.
fn is_of(expr: &Expr, tables: &[Key]) -> Option<bool> {
    let (mut own, mut other) = (false, false);
    each_column(expr, &mut |column| match tables.contains(&table_of(column)) {
        true => own = true,
        false => other = true,
    });
    (own != other && !super::condition::has_query(expr)).then_some(own)
}

/// Whether an expression has an aggregate function.
fn aggregated(expr: &Expr) -> bool {
    let mut found = matches!(expr, Expr::Aggregate(_));
    expr.for_each_child(&mut |child| found = found || aggregated(child));
    found
}

/// The items of a select list with their names.
fn named_items(items: &[SelectItem]) -> Vec<(Expr, String)> {
    let named = |(at, item): (usize, &SelectItem)| match item {
        SelectItem::Expr { expr, .. } => Some((expr.clone(), name_of_item(items, at))),
        _ => None,
    };
    items.iter().enumerate().filter_map(named).collect()
}

/// The name of a query's first column.
fn item_name(query: &Query) -> String {
    match &query.body {
        QueryBody::Select(select) => name_of_item(&select.items, 0),
        _ => String::new(),
    }
}

/// The name of an item of a select list.
fn name_of_item(items: &[SelectItem], at: usize) -> String {
    match items.get(at) {
        Some(SelectItem::Expr { alias: Some(alias), .. }) => alias.clone(),
        Some(SelectItem::Expr { expr: Expr::Column(name), .. }) => name.name.clone(),
        Some(SelectItem::Expr { text, .. }) => text.clone(),
        _ => String::new(),
    }
}

/// An expression with the name of its column in a materialized subquery.
fn named(expr: &Expr) -> (Expr, String) {
    let name = match expr {
        Expr::Column(column) => column.name.clone(),
        _ => String::new(),
    };
    (expr.clone(), name)
}
