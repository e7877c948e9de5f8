//! One SELECT: FROM, WHERE, select list, GROUP BY, HAVING, ORDER BY, then planning.

mod bits;
mod deferred;
mod full_group;
mod grouped;
mod implied;
mod item_name;
mod list;

pub(in crate::bind) use deferred::Ungrouped;
pub(crate) use item_name::item_name;

use super::described;
use super::dictionary;
use super::from::BoundFrom;
use super::functional::hidden_keys;
use super::having::check_early;
use super::hints::keeps_order;
use super::is_null::{self, Never};
use super::kept;
use super::nesting::{MAX_TABLES, too_many_tables};
use super::rollup::{above_rollup, asks_grouping, reads_rolled_up};
use super::scope::{BlockScope, Clause, ScopeItem};
use super::window::{check_named, has_window};
use super::{FromTable, Level, Namespace, QueryBinder, QueryUse, Result};
use crate::access::EvalSettings;
use crate::optimize::{FromTree, OrderKey, QueryBlock, choose_strategies, plan_from};
use crate::plan::window::WindowPlan;
use crate::plan::{Aggregation, Body, GroupStrategy, Origin, OutputColumn, QueryPlan};
use crate::plan::{RowSource, SelectPlan, SortKey};
use inia_base::column::flags;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_expr::aggregate::Aggregate;
use inia_expr::bind::Binder;
use inia_expr::{Expr, ExprKind, TypeClass, wrong_date};
use inia_expr::{SlotSet, conjuncts, slots_of};
use inia_parser::ast;
use std::cell::Cell;

/// A SELECT's bound clauses, before planning.
#[derive(Clone, Default)]
pub(super) struct Clauses {
    pub(super) items: Vec<ScopeItem>,
    columns: Vec<OutputColumn>,
    pub(super) conditions: Vec<Expr>,
    pub(super) group: Vec<Expr>,
    pub(super) having: Option<Expr>,
    pub(super) aggregates: Vec<Aggregate>,
    /// Those that queries inside read, and their first slot.
    shown: Vec<usize>,
    shown_at: usize,
    order: Vec<SortKey>,
    pub(super) windows: Vec<WindowPlan>,
    /// Expressions that only ORDER BY needs; they follow the select list in the tuple.
    hidden: Vec<Expr>,
}

impl Clauses {
    /// Clauses of which WHERE alone is known.
    pub(super) fn of_conditions(conditions: Vec<Expr>) -> Clauses {
        Clauses { conditions, ..Clauses::default() }
    }

    /// Whether nothing but MIN and MAX of all rows is read.
    fn reads_extremes(&self) -> bool {
        let extreme = |call: &Aggregate| {
            matches!(call.func, ast::AggregateFunc::Min | ast::AggregateFunc::Max)
        };
        self.group.is_empty() && !self.aggregates.is_empty() && self.aggregates.iter().all(extreme)
    }

    /// Gives every expression to `visit`, to be changed in place.
    pub(super) fn for_each_expr_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.items.iter_mut().for_each(|item| visit(&mut item.expr));
        let Clauses { conditions, group, having, aggregates, windows, hidden, .. } = self;
        conditions.iter_mut().chain(group).chain(having).chain(hidden).for_each(&mut *visit);
        for call in aggregates {
            call.args.iter_mut().for_each(&mut *visit);
            call.order_by.iter_mut().for_each(|(expr, _)| visit(expr));
        }
        windows.iter_mut().for_each(|window| window.for_each_expr_mut(visit));
    }

    /// The select list, and what only ORDER BY reads.
    pub(super) fn output(&self) -> Vec<Expr> {
        let items = self.items.iter().map(|item| &item.expr);
        items.chain(&self.hidden).cloned().collect()
    }

    /// As [`Clauses::output`], taken out of the clauses.
    fn take_output(&mut self) -> Vec<Expr> {
        let items = std::mem::take(&mut self.items).into_iter().map(|item| item.expr);
        items.chain(std::mem::take(&mut self.hidden)).collect()
    }

    /// Whether there is an ORDER BY.
    pub(super) fn sorts(&self) -> bool {
        !self.order.is_empty()
    }

    /// Drops ORDER BY.
    pub(super) fn drop_order(&mut self) {
        self.order.clear();
        self.hidden.clear();
    }

    /// Makes the keys of GROUP BY, or of ORDER BY where there are no groups, read what functional
    /// key parts hold.
    fn read_hidden_keys(
        &mut self,
        tree: Option<&FromTree>,
        distinct: bool,
        EvalSettings { env, host }: EvalSettings<'_>,
    ) {
        let Some(tree) = tree else { return };
        if !self.group.is_empty() {
            let keys: Vec<&Expr> = self.group.iter().collect();
            if let Some(group) = hidden_keys(tree, &keys, env, host) {
                self.group = group;
            }
            return;
        }
        if self.order.is_empty() || distinct || !self.windows.is_empty() {
            return;
        }
        let Clauses { items, hidden, order, .. } = self;
        let exprs: Vec<&Expr> = items.iter().map(|item| &item.expr).chain(&*hidden).collect();
        let keys: Vec<&Expr> = order.iter().map(|key| exprs[key.index]).collect();
        let Some(keys) = hidden_keys(tree, &keys, env, host) else { return };
        // The select list keeps its expressions.
        let visible = items.len();
        for (key, read) in order.iter_mut().zip(&keys) {
            key.index = visible + hidden.len();
            key.ty = read.ty.clone();
            hidden.push(read.clone());
        }
    }

    /// Drops keys of ORDER BY that are there twice, and those of which `determined` says that the
    /// keys before them leave one value.
    pub(super) fn reduce_order(&mut self, determined: impl Fn(&Expr, &[&Expr]) -> bool) {
        let Clauses { items, hidden, order, .. } = self;
        let exprs: Vec<&Expr> = items.iter().map(|item| &item.expr).chain(&*hidden).collect();
        let (mut before, mut kept) = (Vec::new(), Vec::with_capacity(order.len()));
        for key in order.drain(..) {
            let expr = exprs[key.index];
            let known = before.iter().any(|before: &&Expr| before.same(expr));
            let fixed = matches!(expr.kind, ExprKind::Literal(_)) || determined(expr, &before);
            let twice = known && crate::access::is_stable(expr);
            if !fixed && !twice {
                before.push(expr);
                kept.push(key);
            }
        }
        *order = kept;
        if order.is_empty() {
            hidden.clear();
        }
    }

    /// Whether ORDER BY reads an item of the select list.
    pub(super) fn sorts_by(&self, item: usize) -> bool {
        self.order.iter().any(|key| key.index == item)
    }

    /// Whether the same rows always give the same result.
    pub(super) fn is_stable(&self) -> bool {
        let mut stable = true;
        self.clone().for_each_expr_mut(&mut |expr| {
            // Of aggregates and functions over windows the arguments count.
            expr.walk_mut(&mut |node| {
                if matches!(node.kind, ExprKind::Aggregate(_) | ExprKind::Window(_)) {
                    *node = Expr::null();
                }
            });
            stable &= crate::access::is_stable(expr);
        });
        stable
    }

    /// Whether queries inside read aggregates of it.
    pub(super) fn shows_aggregates(&self) -> bool {
        !self.shown.is_empty()
    }

    /// Adds a column that is known inside the statement only.
    pub(super) fn push_unnamed(&mut self, expr: Expr) {
        let (name, ty, origin) = (String::new(), expr.ty.clone(), Origin::Function);
        let result = ty.result_column(&name);
        self.columns.push(OutputColumn { result, ty, origin });
        self.items.push(ScopeItem { name, expr, column: None });
    }

    /// Whether GROUP BY does no more than to leave out equal rows.
    fn groups_only(&self, select: &ast::Select) -> bool {
        let computes = !self.aggregates.is_empty() || !self.windows.is_empty();
        !computes && self.having.is_none() && !select.rollup
    }

    /// Whether MySQL keeps the rows in a temporary table: for windows, DISTINCT, and groups that no
    /// index has in order.
    fn takes_temporary_table(&self, select: &ast::Select, names: &Namespace) -> bool {
        let sorts_at_random = self.hidden.iter().any(|key| !crate::access::is_stable(key));
        if select.options.distinct || !self.windows.is_empty() || sorts_at_random {
            return true;
        }
        let in_order = match &self.group[..] {
            [] => true,
            [Expr { kind: ExprKind::Column { index, .. }, .. }] => {
                const KEYS: u32 = flags::PRI_KEY | flags::UNIQUE_KEY | flags::MULTIPLE_KEY;
                let mut columns = names.tables.iter().flat_map(|table| &table.columns);
                let is_key =
                    columns.any(|column| column.slot == *index && column.result.flags & KEYS != 0);
                is_key && names.tables.len() == 1
            }
            _ => false,
        };
        !select.rollup && !in_order
    }

    /// A view of the dictionary whose rows are sorted in a temporary table. Views of one table
    /// are sorted as that table is.
    fn sorted_view<'n>(&self, names: &'n Namespace) -> Option<&'n str> {
        const OF_ONE_TABLE: [&str; 2] = ["COLUMN_STATISTICS", "USER_ATTRIBUTES"];
        if self.order.is_empty() {
            return None;
        }
        let of_dictionary = |table: &&FromTable| table.schema == "information_schema";
        let first = names.tables.iter().filter(of_dictionary).filter_map(|t| t.columns.first());
        let mut views = first.map(|column| column.result.org_table.as_str());
        views.find(|view| !OF_ONE_TABLE.contains(view))
    }

    /// Where no temporary table keeps the groups, a MIN or MAX counts as a number by its text, that
    /// of ENUM or SET too.
    fn read_members_as_texts(&mut self) {
        let Clauses { items, having, hidden, .. } = self;
        let parts = items.iter_mut().map(|item| &mut item.expr).chain(hidden);
        let read = |expr: &mut Expr| {
            expr.walk_mut(&mut |node| {
                let text = node.ty.class() == TypeClass::String;
                node.ty.of_group |= text && matches!(node.kind, ExprKind::Aggregate(_));
            });
        };
        parts.for_each(|expr| expr.children_mut(&mut |child| read(child)));
        having.iter_mut().for_each(read);
    }

    /// Describes the columns by what is done to the rows.
    fn describe(&mut self, select: &ast::Select, names: &Namespace) {
        let distinct = select.options.distinct;
        let sorted = self.sorted_view(names);
        let takes_table = self.takes_temporary_table(select, names);
        // The view of triggers is a temporary table itself.
        let materialized = takes_table || sorted.is_some_and(|view| view != "TRIGGERS");
        let Clauses { items, columns, group, aggregates, .. } = self;
        let one_group = group.is_empty() && !aggregates.is_empty();
        let many = distinct || group.iter().any(|key| !key.is_constant_in_statement());
        for (item, column) in items.iter().zip(columns) {
            if one_group {
                described::of_one_group(column, &item.expr);
            }
            if many {
                described::of_groups(column, &item.expr);
            }
            described::as_chosen(column, &item.expr, aggregates, materialized);
            described::as_unsigned(column, &item.expr, aggregates);
            if takes_table || sorted.is_some() {
                dictionary::as_kept_of_view(column);
            }
            if materialized {
                described::as_materialized(column, &item.expr);
            }
        }
    }

    /// Makes the expressions above WITH ROLLUP read the group's values.
    fn read_rolled_up(&mut self, width: usize) -> Result<()> {
        let Clauses { items, columns, group, having, order, hidden, windows, .. } = self;
        for (item, column) in items.iter_mut().zip(columns) {
            above_rollup(&mut item.expr, group, width)?;
            if item.column.is_some() && reads_rolled_up(&item.expr, width, group.len()) {
                column.result = item.expr.ty.result_column(&item.name);
            }
            if item.expr.ty.nullable || reads_rolled_up(&item.expr, width, group.len()) {
                column.ty.nullable = true;
                column.result.flags &= !inia_base::column::flags::NOT_NULL;
            }
        }
        for expr in hidden.iter_mut().chain(having) {
            above_rollup(expr, group, width)?;
        }
        let mut outcome = Ok(());
        for window in windows {
            window.for_each_expr_mut(&mut |expr| {
                if outcome.is_ok() {
                    outcome = above_rollup(expr, group, width);
                }
            });
        }
        outcome?;
        for key in order {
            let visible = items.len();
            let expr = match key.index.checked_sub(visible) {
                None => &items[key.index].expr,
                Some(at) => &hidden[at],
            };
            key.ty = expr.ty.clone();
        }
        Ok(())
    }

    fn asks_grouping(&self) -> bool {
        let items = self.items.iter().map(|item| &item.expr);
        items.chain(&self.hidden).chain(&self.having).any(asks_grouping)
    }
}

impl QueryBinder<'_> {
    /// Binds and plans one SELECT.
    pub(super) fn select(
        &mut self,
        (select, usage): (&ast::Select, QueryUse),
        order_by: &[ast::OrderItem],
        locking: &[ast::Locking],
    ) -> Result<QueryPlan> {
        let named_windows = select.windows.clone();
        let QueryUse { keeps_digits, .. } = usage;
        let (number, rollup) = (self.next_number(), select.rollup);
        let level = Level { number, named_windows, keeps_digits, rollup, ..Level::default() };
        self.levels.push(Level { open: true, ..level });
        let bound =
            self.one_deeper(|binder| binder.select_in_level((select, usage), order_by, locking));
        self.levels.pop();
        bound
    }

    /// The number of the next SELECT or set operation; 0 in a view, whose text is another one.
    pub(super) fn next_number(&mut self) -> usize {
        if !self.open_views.is_empty() {
            return 0;
        }
        self.numbers += 1;
        self.numbers
    }

    /// Binds FROM and the clauses behind it.
    fn bind_clauses(
        &mut self,
        (select, usage): (&ast::Select, QueryUse),
        order_by: &[ast::OrderItem],
        locking: &[ast::Locking],
    ) -> Result<(BoundFrom, Clauses)> {
        check_named(&select.windows)?;
        // The select list stands before FROM.
        let (before, listed) = (self.numbers, in_list(select));
        self.numbers += listed;
        let mut from = self.from(select, locking)?;
        let behind = std::mem::replace(&mut self.numbers, before);
        if from.tables > MAX_TABLES {
            return Err(too_many_tables());
        }
        let mut clauses = Clauses::default();
        self.level().width = from.width;
        clauses.conditions = std::mem::take(&mut from.conditions);
        // What fails in the list is reported before what fails in the conditions.
        self.select_list(select, &mut clauses)?;
        self.numbers = behind;
        if let Some(condition) = &select.where_ {
            let meant = self.meant(condition, false);
            let condition = meant.as_ref().unwrap_or(condition);
            let condition = self.expression(condition, Clause::Where, &[])?;
            conjuncts(condition, &mut clauses.conditions);
        }
        if let Some(tree) = &from.tree {
            let (env, host) = (self.context.env, self.context.host);
            super::functional::read_hidden_of(tree, &mut clauses.conditions, env, host);
        }
        self.group_by(select, &mut clauses)?;
        self.order_by((order_by, select.options.distinct), &mut clauses)?;
        if usage.tested {
            // Which values there are does not depend on their order.
            clauses.order.clear();
            clauses.hidden.clear();
        }
        Ok((from, clauses))
    }

    fn select_in_level(
        &mut self,
        (select, usage): (&ast::Select, QueryUse),
        order_by: &[ast::OrderItem],
        locking: &[ast::Locking],
    ) -> Result<QueryPlan> {
        let (mut from, mut clauses) = self.bind_clauses((select, usage), order_by, locking)?;
        clauses.windows = self.take_windows();
        if !clauses.windows.is_empty() {
            let items = clauses.items.iter().zip(&mut clauses.columns);
            let computed = items.filter(|(item, _)| !item.expr.is_constant_in_statement());
            computed.for_each(|(item, column)| {
                described::as_materialized(column, &item.expr);
                described::as_kept(column);
            });
        }
        clauses.aggregates = std::mem::take(&mut self.level().aggregates);
        clauses.shown = std::mem::take(&mut self.level().shown);
        self.describe_beside_groups(&mut clauses);
        clauses.describe(select, self.names());
        let sorts_groups = !clauses.group.is_empty() && !clauses.order.is_empty();
        if !sorts_groups && !clauses.takes_temporary_table(select, self.names()) {
            clauses.read_members_as_texts();
        }
        clauses.shown_at = from.width;
        from.width += clauses.shown.len();
        if clauses.group.is_empty() && !clauses.aggregates.is_empty() {
            // There is one row at most.
            clauses.order.clear();
            clauses.hidden.clear();
        }
        if usage.tested && clauses.groups_only(select) {
            clauses.group.clear();
        }
        if self.context.env.sql_mode.has(SqlMode::ONLY_FULL_GROUP_BY) {
            let checked = self.check_full_group(select, &from, &clauses);
            self.defer(checked)?;
        }
        if usage.derived || self.insides > 0 {
            self.keep_determined(select, &from, &clauses);
        }
        self.rewrite((select, usage), (&mut from, &mut clauses));
        if select.rollup {
            clauses.read_rolled_up(from.width)?;
            self.prepare_rolled_up(&mut clauses);
        } else if clauses.asks_grouping() {
            return Err(SqlError::new(ErrorCode::InvalidGroupFuncUse, &[]));
        }
        let width = self.level().width;
        if usage.sent && select.options.distinct {
            clauses.sort_bits_as_numbers(&from);
        }
        let mut plan = self.plan(select, from, clauses, usage.limit);
        if self.levels.len() == 1 && !usage.derived {
            kept::describe(&mut plan, self.names(), width);
        }
        Ok(plan)
    }

    /// Where an item reads the row from a subquery of one group, MySQL describes that row's columns
    /// as those of a group, which may be NULL.
    fn describe_beside_groups(&self, clauses: &mut Clauses) {
        let one_group = |id: usize| {
            let subplan = self.subplans[id].as_ref();
            subplan.is_some_and(|subplan| match &subplan.query.body {
                Body::Select(select) => {
                    let groups = select.aggregation.as_ref();
                    matches!(select.source, RowSource::Table(_))
                        && groups.is_some_and(|groups| groups.group.is_empty())
                }
                _ => false,
            })
        };
        let mut found = false;
        for item in clauses.items.iter().filter(|_| clauses.group.is_empty()) {
            item.expr.walk(&mut |node| {
                found |= matches!(&node.kind, ExprKind::Subquery(sub)
                    if sub.correlated && one_group(sub.id));
            });
        }
        for (item, column) in clauses.items.iter().zip(&mut clauses.columns) {
            if found && matches!(item.expr.kind, ExprKind::Column { .. }) {
                column.result.flags &= !flags::NOT_NULL;
            }
        }
    }

    /// Binds GROUP BY and HAVING.
    fn group_by(&mut self, select: &ast::Select, clauses: &mut Clauses) -> Result<()> {
        for item in &select.group_by {
            let expr = self.group_item(item, clauses)?;
            clauses.group.push(expr);
        }
        if let Some(having) = &select.having {
            clauses.having = Some(self.later(having, Clause::Having, clauses)?);
        }
        match clauses.having.as_ref().is_some_and(has_window) {
            true => Err(having_window(&clauses.items)),
            false => Ok(()),
        }
    }

    /// Rewrites a SELECT by all that is known of it, and keeps it for the query around it.
    fn rewrite(
        &mut self,
        (select, usage): (&ast::Select, QueryUse),
        (from, clauses): (&mut BoundFrom, &mut Clauses),
    ) {
        if !select.rollup {
            check_early(clauses);
        }
        let members = self.unnest(select, from, &mut clauses.conditions);
        self.check_orders(select, from.tree.as_ref());
        self.derive_subqueries((select, usage), (from, clauses), members);
        self.ask_members(from, clauses);
        self.push_down(from, clauses);
        self.keep_nested((select, usage), from, clauses);
        if usage.derived {
            self.keep_block(select, from, clauses);
        }
    }

    /// Binds an expression that may not name select items and collects no aggregates.
    pub(super) fn expression(
        &mut self,
        expr: &ast::Expr,
        clause: Clause,
        items: &[ScopeItem],
    ) -> Result<Expr> {
        self.bind_in(expr, clause, items, &[])
    }

    fn bind_in(
        &mut self,
        expr: &ast::Expr,
        clause: Clause,
        items: &[ScopeItem],
        group: &[Expr],
    ) -> Result<Expr> {
        let (env, host) = (self.context.env, self.context.host);
        let enclosing = self.level().takes_aggregates;
        self.level().takes_aggregates = clause.allows_aggregates();
        let known = self.level().aggregates.len();
        let deferred = self.ungrouped.deferred();
        let mut scope = BlockScope { binder: self, clause, items, group, in_aggregates: 0 };
        let bound = Binder { scope: &mut scope, env, host }.scalar(expr);
        self.level().takes_aggregates = enclosing;
        let mut bound = bound?;
        self.warn_of_documents(&bound, clause.is_condition());
        self.note_loose_reads(&bound, known);
        if !self.level().rollup || !clause.is_after_from() {
            let keeps_digits = clause == Clause::FieldList && self.level().keeps_digits;
            self.prepare(&mut bound, keeps_digits);
        }
        self.settle(deferred, &bound, clause)?;
        if self.wrong.is_none() {
            self.wrong = wrong_date(&bound);
        }
        Ok(bound)
    }

    /// Computes what is constant above WITH ROLLUP, now that all reads the group's values.
    fn prepare_rolled_up(&mut self, clauses: &mut Clauses) {
        let keeps_digits = self.level().keeps_digits;
        for item in &mut clauses.items {
            self.prepare(&mut item.expr, keeps_digits);
        }
        let Clauses { hidden, having, group, .. } = clauses;
        hidden.iter_mut().chain(having).chain(group).for_each(|expr| self.prepare(expr, false));
    }

    /// Binds an expression of GROUP BY, HAVING or ORDER BY, which may name select items.
    fn later(&mut self, expr: &ast::Expr, clause: Clause, clauses: &mut Clauses) -> Result<Expr> {
        let Clauses { items, group, .. } = clauses;
        self.bind_in(expr, clause, items, group)
    }

    pub(super) fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("a SELECT is being bound")
    }

    fn names(&self) -> &Namespace {
        &self.levels.last().expect("a SELECT is being bound").namespace
    }

    /// The condition that replaces one of WHERE or of a view's WHERE ([`is_null`]), if one does.
    pub(super) fn meant(&self, condition: &ast::Expr, of_view: bool) -> Option<ast::Expr> {
        let never = |name: &ast::ColumnName| self.never_null(name);
        is_null::meant(condition, self.context.env, of_view, &never)
    }

    /// What a column is that is declared NOT NULL.
    fn never_null(&self, name: &ast::ColumnName) -> Option<Never> {
        let names = self.names();
        let at = names.find(name, Clause::Where.name()).ok()??;
        let (table, column) = (&names.tables[at.0], names.column(at));
        if table.materialized && !column.ty.nullable {
            return Never::of(&column.ty.data_type, false, false);
        }
        if !table.stored {
            return None;
        }
        let result = &column.result;
        let schema = self.context.catalog.schemas.get(&result.schema);
        let table = schema.and_then(|schema| schema.tables.get(&result.org_table));
        let def = table
            .and_then(|table| table.def.columns.iter().find(|def| def.name == result.org_name));
        let outer = column.ty.nullable;
        if outer && def.is_none_or(|def| def.nullable) {
            return None;
        }
        let numbered = result.flags & flags::AUTO_INCREMENT != 0 && table.is_some();
        Never::of(&column.ty.data_type, numbered, outer)
    }

    /// Every slot that anything in the block reads. A slot that is not needed stays unfilled, so
    /// every clause counts, and so do queries inside.
    pub(super) fn needed(
        &self,
        output: &[Expr],
        clauses: &Clauses,
        tree: Option<&FromTree>,
    ) -> SlotSet {
        let level = self.levels.last().expect("a SELECT is being bound");
        let mut needed = level.read_by_parts.clone();
        let mut need = |expr: &Expr| needed = needed.union(&slots_of(expr).slots);
        output.iter().chain(&clauses.conditions).chain(&clauses.group).for_each(&mut need);
        clauses.having.iter().for_each(&mut need);
        clauses.windows.iter().for_each(|window| window.for_each_expr(&mut need));
        for aggregate in &clauses.aggregates {
            aggregate.args.iter().for_each(&mut need);
            aggregate.order_by.iter().for_each(|(expr, _)| need(expr));
        }
        if let Some(tree) = tree {
            tree.for_each_expr(&mut need);
        }
        needed
    }

    pub(super) fn plan(
        &self,
        select: &ast::Select,
        mut from: BoundFrom,
        mut clauses: Clauses,
        limit: Option<u64>,
    ) -> QueryPlan {
        let distinct = self.reduce(select, &mut from, &mut clauses);
        let settings = EvalSettings { env: self.context.env, host: self.context.host };
        clauses.read_hidden_keys(from.tree.as_ref(), distinct, settings);
        clauses.complete_order(from.tree.as_ref(), distinct, select.rollup);
        let visible = clauses.items.len();
        let grouped = !clauses.group.is_empty() || !clauses.aggregates.is_empty();
        let extremes = clauses.reads_extremes();
        // Sort keys are positions that count on from the select list into the hidden expressions.
        let output = clauses.take_output();
        let needed = self.needed(&output, &clauses, from.tree.as_ref());
        // Conditions that need no row are checked once, before anything is read.
        let (once, conditions) = clauses.conditions.into_iter().partition(needs_no_row);
        let order = columns_of_order(&clauses.order, &output);
        let plain = !grouped && !distinct && clauses.windows.is_empty();
        let late = plain && assigns_late(select, &clauses.order, &output[..visible], &output);
        let orders = from.tree.as_ref().map(|tree| self.join_orders(select, tree));
        let spare = Cell::new(from.width);
        let block = QueryBlock {
            needed: &needed,
            straight: keeps_order(select),
            orders: orders.as_deref().unwrap_or_default(),
            reads_all: grouped || !clauses.windows.is_empty(),
            extremes,
            order: order.as_deref().unwrap_or_default(),
            sorts: !clauses.order.is_empty(),
            limit: limit.filter(|_| !counts(select, distinct)).map(|limit| limit as f64),
            hash_joins: self.hash_joins(from.tree.as_ref()),
            spare: &spare,
            settings,
        };
        let (source, filter) = plan_from(from.tree, conditions, &block);
        // Aggregates that queries inside read have slots behind those of FROM.
        let shown = clauses.shown.into_iter().zip(clauses.shown_at..).collect();
        let (group, calls, rollup) = (clauses.group, clauses.aggregates, select.rollup);
        let strategy = GroupStrategy::Hash;
        let aggregation = grouped.then_some(Aggregation { group, calls, rollup, shown, strategy });
        let mut plan = SelectPlan {
            number: self.levels.last().map_or(0, |level| level.number),
            width: spare.get(),
            source,
            batches: None,
            once,
            filter,
            aggregation,
            having: clauses.having,
            windows: clauses.windows,
            output,
            visible,
            distinct,
            ordered: false,
        };
        choose_strategies(&mut plan, &block);
        QueryPlan {
            columns: clauses.columns,
            body: Body::Select(Box::new(plan)),
            computed: Vec::new(),
            order: clauses.order,
            limit: None,
            count_found_rows: select.options.calc_found_rows,
            presorted: false,
            late,
        }
    }
}

/// Whether the select list gives user variables values once the rows are sorted. As in MySQL, which
/// keeps the rows in a temporary table first where several tables are joined or ORDER BY reads such
/// a value or a subquery: `SELECT @n := @n + 1, name FROM t ORDER BY name` numbers the sorted rows.
fn assigns_late(select: &ast::Select, order: &[SortKey], items: &[Expr], output: &[Expr]) -> bool {
    let contains = |expr: &Expr, wanted: fn(&ExprKind) -> bool| {
        let mut found = false;
        expr.walk(&mut |node| found |= wanted(&node.kind));
        found
    };
    let assigns = |expr: &Expr| contains(expr, |kind| matches!(kind, ExprKind::AssignUserVar(..)));
    let varies = |expr: &Expr| {
        let inside = |kind: &ExprKind| {
            matches!(
                kind,
                ExprKind::AssignUserVar(..) | ExprKind::UserVar(_) | ExprKind::Subquery(_)
            )
        };
        contains(expr, inside)
    };
    !order.is_empty()
        && items.iter().any(assigns)
        && !order.iter().any(|key| varies(&output[key.index]))
        && select.from.iter().map(members_with_rows).sum::<usize>() == 1
}

/// How many members of FROM have rows of tables.
fn members_with_rows(table: &ast::TableRef) -> usize {
    match table {
        ast::TableRef::Derived(derived) => match &derived.query.body {
            ast::QueryBody::Select(select) => usize::from(!select.from.is_empty()),
            _ => 1,
        },
        ast::TableRef::Join(join) => members_with_rows(&join.left) + members_with_rows(&join.right),
        ast::TableRef::List(list) => list.iter().map(members_with_rows).sum(),
        ast::TableRef::Table(_) | ast::TableRef::JsonTable(_) => 1,
    }
}

/// Whether rows are read beyond those that LIMIT asks for.
fn counts(select: &ast::Select, distinct: bool) -> bool {
    distinct || select.options.calc_found_rows
}

/// How many SELECTs the select list has, where FROM has others.
fn in_list(select: &ast::Select) -> usize {
    fn derives(table: &ast::TableRef) -> bool {
        match table {
            ast::TableRef::Derived(_) => true,
            ast::TableRef::Join(join) => derives(&join.left) || derives(&join.right),
            ast::TableRef::List(list) => list.iter().any(derives),
            ast::TableRef::Table(_) | ast::TableRef::JsonTable(_) => false,
        }
    }
    fn selects(expr: &ast::Expr) -> usize {
        let own = matches!(
            expr,
            ast::Expr::Subquery(_)
                | ast::Expr::Exists(_)
                | ast::Expr::InSubquery { .. }
                | ast::Expr::Quantified { .. }
        );
        let mut count = usize::from(own);
        expr.for_each_child(&mut |child| count += selects(child));
        count
    }
    match select.from.iter().any(derives) {
        true => ast::item_exprs(&select.items).map(selects).sum(),
        false => 0,
    }
}

/// Whether a condition has one truth value for the whole run of its SELECT.
fn needs_no_row(condition: &Expr) -> bool {
    let needs = slots_of(condition);
    !needs.whole_row && needs.slots == SlotSet::default() && crate::access::is_stable(condition)
}

/// Error 3594: HAVING names a select item with a function over a window.
fn having_window(items: &[ScopeItem]) -> SqlError {
    let name = items.iter().find(|item| has_window(&item.expr)).map_or("", |item| &item.name);
    SqlError::new(ErrorCode::WindowInvalidWindowFuncAliasUse, &[&name])
}

/// The columns that ORDER BY sorts by; `None` where it sorts by anything else.
fn columns_of_order(order: &[SortKey], output: &[Expr]) -> Option<Vec<OrderKey>> {
    let column = |key: &SortKey| match output[key.index].kind {
        ExprKind::Column { index, .. } => Some((index, key.descending)),
        _ => None,
    };
    order.iter().map(column).collect()
}
