//! One query expression or SELECT after the other, what is inside first.

use super::Rewriter;
use super::condition::{all_of, conjuncts, normal, truth};
use super::constant::ConstantTables;
use super::equal::{Known, Places};
use super::joins::{
    Joined, each_on_mut, each_table, each_table_mut, from_of, key_of, keys_of, list_of, simplify,
};
use super::merge::{Merged, substitute, substitute_select};
use inia_parser::ast::*;

impl Rewriter<'_> {
    pub(super) fn query(&mut self, query: &mut Query) {
        let with = query.with.take();
        let around = std::mem::take(&mut self.printed);
        match &mut query.body {
            QueryBody::Select(select) => self.select(select, &mut query.order_by),
            body => self.body(body),
        }
        let inside = std::mem::replace(&mut self.printed, around);
        query.with = self.with_of(with, inside);
    }

    /// The WITH of a query: of its expressions those that are computed as they stand.
    pub(super) fn with_of(&mut self, with: Option<With>, inside: Vec<Cte>) -> Option<With> {
        let own = |cte: &Cte| {
            with.as_ref().is_some_and(|with| with.ctes.iter().any(|one| one.name == cte.name))
        };
        let (mut printed, others): (Vec<Cte>, Vec<Cte>) = inside.into_iter().partition(own);
        for cte in others {
            self.print_cte(cte);
        }
        let with = with?;
        let place = |cte: &Cte| with.ctes.iter().position(|one| one.name == cte.name);
        printed.sort_by_key(place);
        (!printed.is_empty()).then_some(With { recursive: with.recursive, ctes: printed })
    }

    fn print_cte(&mut self, cte: Cte) {
        if !self.printed.iter().any(|known| known.name == cte.name) {
            self.printed.push(cte);
        }
    }

    fn body(&mut self, body: &mut QueryBody) {
        match body {
            QueryBody::Select(select) => self.select(select, &mut []),
            QueryBody::Nested(query) => self.query(query),
            QueryBody::SetOperation { first, rest } => {
                self.body(first);
                rest.iter_mut().for_each(|term| self.body(&mut term.body));
            }
            QueryBody::Values(rows) => {
                rows.iter_mut().flatten().for_each(|expr| self.subqueries(expr, false));
            }
            QueryBody::Table(_) => {}
        }
    }

    fn select(&mut self, select: &mut Select, order_by: &mut [OrderItem]) {
        let mut merged = Vec::new();
        self.merge_from(select, &mut merged);
        self.substitute(select, order_by, &merged);
        let list = list_of(std::mem::take(&mut select.from));
        let (list, condition, constants) = self.found(list, select.where_.take());
        select.from = from_of(list);
        select.where_ = condition;
        self.other_clauses(select, order_by, &constants);
    }

    fn substitute(&self, select: &mut Select, order_by: &mut [OrderItem], merged: &[Merged]) {
        substitute_select(select, merged);
        for merged in merged.iter().rev() {
            order_by.iter_mut().for_each(|item| substitute(&mut item.expr, merged));
        }
    }

    /// Rewrites FROM and WHERE.
    pub(super) fn found(
        &mut self,
        mut list: Vec<Joined>,
        condition: Option<Expr>,
    ) -> (Vec<Joined>, Option<Expr>, ConstantTables) {
        self.add_tables(&list);
        let condition = condition.map(|condition| self.decided(normal(condition)));
        let mut condition = condition.filter(|condition| *condition != truth(true));
        self.push_down(&mut list, &mut condition);
        self.derived_tables(&mut list);
        if condition == Some(truth(false)) {
            let mut none = None;
            return (simplify(list, &mut none), condition, ConstantTables::default());
        }
        self.unnest(&mut list, &mut condition, true);
        self.note_nullable(&list);
        let list = simplify(list, &mut condition);
        condition.iter_mut().for_each(|condition| self.subqueries(condition, true));
        let mut list = list;
        let written = condition.clone();
        let found = self.optimized(&mut list, condition);
        if let Some(written) = &written {
            self.note_unusable(written, &found.2, true);
        }
        found
    }

    /// Notes which tables rows of NULLs may stand for, as the statement was written.
    fn note_nullable(&mut self, list: &[Joined]) {
        self.nullable.clear();
        for joined in list.iter().filter(|joined| joined.kind == JoinKind::Left) {
            let mut keys = Vec::new();
            each_table(std::slice::from_ref(joined), &mut |table| keys.push(key_of(table)));
            self.nullable.extend(keys);
        }
    }

    /// What is equal, constant tables, and constants.
    fn optimized(
        &mut self,
        list: &mut Vec<Joined>,
        condition: Option<Expr>,
    ) -> (Vec<Joined>, Option<Expr>, ConstantTables) {
        let tables = keys_of(list);
        let places = Places { places: self.order.places(&tables), tables };
        let outer =
            list.iter().any(|joined| matches!(joined.kind, JoinKind::Left | JoinKind::Anti));
        let none = ConstantTables::default();
        let known = Known { around: Vec::new(), places: &places, constants: &none };
        let (shown, constants, around) = match condition {
            None => (outer.then(|| truth(true)), ConstantTables::default(), Vec::new()),
            Some(Expr::Or(operands)) => {
                let folded = self.decided(self.folded(Expr::Or(operands)));
                let shown = self.equated(folded, &known);
                (Some(self.decided(shown)), ConstantTables::default(), Vec::new())
            }
            Some(condition) => self.all_hold(list, condition, &places),
        };
        let inside = Known { around, places: &places, constants: &none };
        each_on_mut(list, &mut |on| {
            self.subqueries(on, true);
            let condition = self.decided(std::mem::replace(on, Expr::null()));
            *on = self.decided(self.equated(condition, &inside));
        });
        (std::mem::take(list), shown, constants)
    }

    /// Conditions that all hold.
    fn all_hold(
        &self,
        list: &[Joined],
        condition: Expr,
        places: &Places,
    ) -> (Option<Expr>, ConstantTables, Vec<super::equal::Equal>) {
        let none = ConstantTables::default();
        let Some((mut equal, rest)) = self.equalities(condition) else {
            self.no_rows.set(Some("Impossible WHERE"));
            return (Some(truth(false)), none, Vec::new());
        };
        let written = equal.clone();
        let constants = self.constant_tables(list, &mut equal, &rest);
        const NOTICED: &str = "Impossible WHERE noticed after reading const tables";
        if constants.empty {
            self.no_rows.set(Some("no matching row in const table"));
            let mut shown = self.of_no_row(written, rest);
            constants.put(&mut shown);
            return (Some(shown), constants, Vec::new());
        }
        let reads = !constants.is_empty();
        self.found.borrow_mut().extend(constants.values());
        if self.contradicts(&constants, &equal) {
            self.no_rows.set(reads.then_some(NOTICED));
            return (Some(truth(false)), constants, Vec::new());
        }
        let rest = match self.decided_by(&constants, rest) {
            Ok(rest) => rest,
            Err(left) => {
                self.no_rows.set(reads.then_some(NOTICED));
                return (Some(left), constants, Vec::new());
            }
        };
        let known = Known { around: Vec::new(), places, constants: &constants };
        let mut shown = self.written(equal.clone(), rest, &known);
        constants.put(&mut shown);
        let shown = self.decided(shown);
        (Some(shown), constants, equal)
    }

    /// Registers the stored tables of a list.
    pub(super) fn add_tables(&mut self, list: &[Joined]) {
        let mut tables = Vec::new();
        each_table(list, &mut |table| {
            if let TableRef::Table(factor) = table
                && let Some(schema) = &factor.name.db
            {
                tables.push((key_of(table), schema.clone(), factor.name.name.clone()));
            }
        });
        for ((db, alias), schema, name) in tables {
            let schema = self.catalog.schemas.get(&schema);
            if let Some(table) = schema.and_then(|schema| schema.tables.get(&name)) {
                self.types.add(&db, &alias, table);
            }
        }
    }

    /// Rewrites the derived tables that stay, and notes common table expressions.
    fn derived_tables(&mut self, list: &mut [Joined]) {
        each_table_mut(list, &mut |table| {
            let TableRef::Derived(derived) = table else { return };
            self.query(&mut derived.query);
            if let Some(name) = &derived.common
                && derived.query.body != QueryBody::Values(Vec::new())
            {
                let (name, columns) = (name.clone(), derived.columns.clone());
                self.print_cte(Cte { name, columns, query: derived.query.clone() });
            }
        });
    }

    /// Select list, GROUP BY, HAVING, windows and ORDER BY.
    fn other_clauses(
        &mut self,
        select: &mut Select,
        order_by: &mut [OrderItem],
        constants: &ConstantTables,
    ) {
        let mut finish = |expr: &mut Expr| {
            self.subqueries(expr, false);
            constants.put(expr);
        };
        for item in &mut select.items {
            if let SelectItem::Expr { expr, .. } = item {
                finish(expr);
            }
        }
        select.group_by.iter_mut().for_each(&mut finish);
        for (_, window) in &mut select.windows {
            window.for_each_expr_mut(&mut finish);
        }
        order_by.iter_mut().for_each(|item| finish(&mut item.expr));
        if let Some(having) = select.having.take() {
            let mut having = normal(having);
            self.subqueries(&mut having, true);
            constants.put(&mut having);
            let conditions = conjuncts(self.decided(having)).into_iter();
            let cached = conditions.map(super::fold::cached);
            select.having = all_of(cached.collect());
        }
        if select.rollup {
            super::rollup::mark(select);
        }
        drop_needless_distinct(select);
    }
}

/// DISTINCT of groups by columns that are all selected says nothing.
fn drop_needless_distinct(select: &mut Select) {
    let selected = |group: &Expr| item_exprs(&select.items).any(|item| item == group);
    if select.options.distinct
        && !select.group_by.is_empty()
        && !select.rollup
        && select.group_by.iter().all(selected)
    {
        select.options.distinct = false;
    }
}
