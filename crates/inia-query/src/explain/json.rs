//! EXPLAIN FORMAT=JSON, in MySQL's members: what is sorted, grouped or freed of duplicates is a
//! member around the tables that are joined, and each table has its estimates.
//!
//! ```text
//!   "query_block": { "select_id": 1, "cost_info": { "query_cost": "26.65" },
//!     "ordering_operation": { "using_filesort": true,
//!       "nested_loop": [ { "table": { "table_name": "a", … } }, { "table": { … } } ] } }
//! ```
//! Costs are texts of microseconds. Beside MySQL's members a table has `rejected_indexes`: the
//! indexes that were not chosen, and why.

use super::estimate::{Estimate, Estimator, computed, scan};
use super::grouped::is_skipped;
use super::line::{Line, each_subquery, request_of, table_line};
use super::materialized::lookup_line;
use super::numbers::Numbers;
use crate::access::{EvalSettings, RejectedIndex, is_switched_off, rejected_indexes};
use crate::optimize::path_cost;
use crate::plan::batches::BatchSource;
use crate::plan::dedup::{DedupSource, DedupStrategy};
use crate::plan::{
    Body, GroupStrategy, JoinMethod, JoinPlan, JoinType, NestShown, QueryPlan, RowSource,
    SelectPlan, SetPlan, StatementPlan, TableSource,
};
use inia_expr::print::print;
use inia_expr::{Environment, Expr, SessionHost};
use inia_parser::ast::SetOp;
use std::fmt::Write;

/// A JSON value whose members keep their order.
pub(super) enum Json {
    Text(String),
    Number(u64),
    Flag(bool),
    List(Vec<Json>),
    Object(Object),
}

pub(super) type Object = Vec<(&'static str, Json)>;

pub(super) fn text(text: impl Into<String>) -> Json {
    Json::Text(text.into())
}

/// A cost, or a percentage, with two digits.
pub(super) fn digits(number: f64) -> Json {
    Json::Text(format!("{number:.2}"))
}

/// The whole plan, whose constants were evaluated with these settings and variables.
pub fn print_json(plan: &StatementPlan, env: &Environment, host: &dyn SessionHost) -> String {
    let settings = EvalSettings { env, host };
    let estimator = Estimator::new(plan);
    let mut printer = Printer {
        plan,
        estimator,
        settings,
        numbers: Numbers::of(plan),
        shown: Vec::new(),
        batches: None,
    };
    let block = printer.query(&plan.root);
    let mut out = String::new();
    write(&Json::Object(vec![("query_block", Json::Object(block))]), 0, &mut out);
    out
}

/// Lines as JSON, of a statement that changes rows.
pub fn print_json_lines(lines: &[Line]) -> String {
    let table = |line: &Line| ("table", Json::Object(line_members(line)));
    let of_tables = |lines: &[Line]| match lines {
        [one] => vec![table(one)],
        lines => {
            let tables = lines.iter().map(|line| Json::Object(vec![table(line)]));
            vec![("nested_loop", Json::List(tables.collect()))]
        }
    };
    let mut block: Object = vec![("select_id", Json::Number(1))];
    match lines.split_first() {
        Some((target, source)) if is_target_of_rows(target) => {
            block.push(table(target));
            if !source.is_empty() {
                block.push(("insert_from", Json::Object(of_tables(source))));
            }
        }
        _ => block.extend(of_tables(lines)),
    }
    let mut out = String::new();
    write(&Json::Object(vec![("query_block", Json::Object(block))]), 0, &mut out);
    out
}

fn is_target_of_rows(line: &Line) -> bool {
    matches!(line.select_type.as_str(), "INSERT" | "REPLACE")
}

/// How a table is read.
fn line_members(line: &Line) -> Object {
    let mut members = Object::new();
    let mut add = |name, value: Option<&str>| {
        members.extend(value.map(|value| (name, text(value))));
    };
    let flag = match line.select_type.as_str() {
        "INSERT" => Some("insert"),
        "REPLACE" => Some("replace"),
        "UPDATE" => Some("update"),
        "DELETE" => Some("delete"),
        _ => None,
    };
    add("table_name", line.table.as_deref());
    let listed = |list: &String| Json::List(list.split(',').map(text).collect());
    members.extend(line.partitions.as_ref().map(|list| ("partitions", listed(list))));
    let mut add = |name, value: Option<&str>| {
        members.extend(value.map(|value| (name, text(value))));
    };
    add("access_type", line.access);
    let names = |list: &str| Json::List(list.split(',').map(text).collect());
    members.extend(line.possible_keys.as_deref().map(|keys| ("possible_keys", names(keys))));
    let key = line.merge.as_deref().or(line.key.as_deref());
    members.extend(key.map(|key| ("key", text(key))));
    if !line.key_parts.is_empty() && line.merge.is_none() {
        let parts = line.key_parts.iter().map(text).collect();
        members.push(("used_key_parts", Json::List(parts)));
    }
    members.extend(line.key_len.as_deref().map(|length| ("key_length", text(length))));
    members.extend(line.reference.as_deref().map(|list| ("ref", names(list))));
    members.extend(line.rows.map(|rows| ("rows_examined_per_scan", Json::Number(rows))));
    if let Some(flag) = flag {
        members.insert(0, (flag, Json::Flag(true)));
        members.extend(line.filtered.map(|filtered| ("filtered", digits(filtered))));
    }
    members
}

/// The join whose right side a table is, and its estimate.
type Joined<'j> = (&'j JoinPlan, Estimate);

struct Printer<'p> {
    plan: &'p StatementPlan,
    estimator: Estimator<'p>,
    settings: EvalSettings<'p>,
    numbers: Numbers,
    /// Subplans that have been shown, and the number of their query block.
    shown: Vec<(usize, usize)>,
    /// How the SELECT that is shown is executed over batches, where it is.
    batches: Option<(&'p RowSource, &'p BatchSource)>,
}

impl<'p> Printer<'p> {
    /// The members of a query block.
    fn query(&mut self, query: &'p QueryPlan) -> Object {
        match &query.body {
            Body::Select(select) => self.select(select, Some(query)),
            Body::Nested(inner) if query.order.is_empty() => self.query(inner),
            body => {
                let rows = self.estimator.query(query);
                let mut members = vec![("cost_info", query_cost(rows))];
                let inner = self.body(body);
                match query.order.is_empty() {
                    true => members.extend(inner),
                    false => {
                        let mut sort = vec![("using_filesort", Json::Flag(true))];
                        sort.extend(inner);
                        members.push(("ordering_operation", Json::Object(sort)));
                    }
                }
                members
            }
        }
    }

    fn body(&mut self, body: &'p Body) -> Object {
        match body {
            Body::Select(select) => self.select(select, None),
            Body::Nested(query) => self.query(query),
            Body::Values(_) => vec![
                ("select_id", Json::Number(self.numbers.id(0) as u64)),
                ("message", text("No tables used")),
            ],
            Body::SetOperation(set) => self.set_operation(set),
        }
    }

    fn set_operation(&mut self, set: &'p SetPlan) -> Object {
        let name = match set.rest.first().map(|step| step.op) {
            Some(SetOp::Intersect) => "intersect_result",
            Some(SetOp::Except) => "except_result",
            _ => "union_result",
        };
        let mut operands = Vec::new();
        let bodies = std::iter::once(&set.first).chain(set.rest.iter().map(|step| &step.body));
        for body in bodies {
            let block = Json::Object(self.body(body));
            operands.push(Json::Object(vec![("query_block", block)]));
        }
        let result = vec![
            ("using_temporary_table", Json::Flag(set.counted > 0)),
            ("query_specifications", Json::List(operands)),
        ];
        vec![(name, Json::Object(result))]
    }

    fn select(&mut self, select: &'p SelectPlan, query: Option<&'p QueryPlan>) -> Object {
        let mut members = vec![("select_id", Json::Number(self.numbers.id(select.number) as u64))];
        let whole = match query {
            Some(query) => self.estimator.query(query),
            None => self.estimator.select(select).whole,
        };
        let message = match &select.source {
            _ if select.extrema().is_some() => Some("Select tables optimized away"),
            RowSource::One => Some("No tables used"),
            RowSource::Nothing => Some("Impossible WHERE"),
            _ => None,
        };
        if let Some(message) = message {
            members.push(("message", text(message)));
        } else {
            members.push(("cost_info", query_cost(whole)));
        }
        let batches = select.batches.as_ref().map(|plan| (&select.source, &plan.source));
        let around = std::mem::replace(&mut self.batches, batches);
        let mut inner = match message {
            Some(_) => Object::new(),
            None => self.tables(&select.source),
        };
        self.batches = around;
        if !select.filter.is_empty() {
            inner.push(("attached_condition", text(conditions(&select.filter))));
        }
        if let Some(aggregation) = select.aggregation.as_ref().filter(|a| !a.group.is_empty()) {
            let sorts = matches!(aggregation.strategy, GroupStrategy::Sort);
            let mut group = vec![("using_filesort", Json::Flag(sorts))];
            if !matches!(aggregation.strategy, GroupStrategy::InOrder) {
                group.insert(0, ("using_temporary_table", Json::Flag(!sorts)));
            }
            group.append(&mut inner);
            inner = vec![("grouping_operation", Json::Object(group))];
        }
        if select.distinct {
            let skips = is_skipped(&select.source) && select.aggregation.is_none();
            let mut distinct = match skips {
                true => vec![("using_filesort", Json::Flag(false))],
                false => vec![("using_temporary_table", Json::Flag(true))],
            };
            distinct.append(&mut inner);
            inner = vec![("duplicates_removal", Json::Object(distinct))];
        }
        if let Some(query) = query.filter(|query| !query.order.is_empty()) {
            let sort = self.estimator.sorted(query).cost - self.estimator.body(&query.body).cost;
            let cost = Estimate { rows: 0.0, cost: sort }.shown_cost();
            let info = Json::Object(vec![("sort_cost", digits(cost))]);
            let mut order = vec![("using_filesort", Json::Flag(true)), ("cost_info", info)];
            order.append(&mut inner);
            inner = vec![("ordering_operation", Json::Object(order))];
        }
        members.append(&mut inner);
        members.extend(self.subqueries(select));
        members
    }

    /// The subqueries in a SELECT's expressions.
    fn subqueries(&mut self, select: &SelectPlan) -> Object {
        let (mut selected, mut attached) = (Vec::new(), Vec::new());
        each_subquery(select, &mut |sub, is_selected| {
            let list: &mut Vec<(usize, bool)> =
                if is_selected { &mut selected } else { &mut attached };
            if !list.iter().any(|(id, _)| *id == sub.id) {
                list.push((sub.id, sub.correlated));
            }
        });
        attached.retain(|sub| !selected.contains(sub));
        let lists = [("select_list_subqueries", selected), ("attached_subqueries", attached)];
        let mut members = Object::new();
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            let mut shown = Vec::new();
            for (id, dependent) in list {
                let plan = self.plan;
                let block = Json::Object(self.query(&plan.subplans[id].query));
                shown.push(Json::Object(vec![
                    ("dependent", Json::Flag(dependent)),
                    ("cacheable", Json::Flag(!dependent)),
                    ("query_block", block),
                ]));
            }
            members.push((name, Json::List(shown)));
        }
        members
    }

    /// The tables of a source: one, or several that are joined.
    fn tables(&mut self, source: &RowSource) -> Object {
        let mut found = Vec::new();
        self.joined(source, (None, 0.0), &mut found);
        listed(found)
    }

    /// Adds the tables of a source. `join` is the one whose right side it is; `before` what all
    /// that is read before it costs.
    fn joined(
        &mut self,
        source: &RowSource,
        (join, before): (Option<Joined<'_>>, f64),
        found: &mut Vec<(&'static str, Object)>,
    ) {
        match source {
            RowSource::One | RowSource::Nothing => {}
            RowSource::Join(inner) if matches!(inner.right, RowSource::One) => {
                self.joined(&inner.left, (join, before), found);
                if let Some((_, last)) = found.last_mut() {
                    last.push(("joined_condition", text(conditions(&inner.on))));
                }
            }
            RowSource::Join(inner) => {
                let [first, second] = inner.in_order();
                self.joined(first, (join, before), found);
                if inner.keeps_rows() {
                    let line = lookup_line(inner, 0, &Line::default());
                    found.push(("table", self.kept(line_members(&line), &inner.right, inner.nest)));
                    return;
                }
                let read = self.estimator.source(first).cost;
                let joined = Some((&**inner, self.estimator.source(source)));
                let before_it = found.last().and_then(|(_, last)| name_of(last));
                self.joined(second, (joined, before + read), found);
                if inner.kind == JoinType::Semi
                    && let (Some((_, last)), Some(name)) = (found.last_mut(), before_it)
                {
                    add_behind(last, "filtered", ("first_match", text(name)));
                }
            }
            RowSource::Dedup(dedup) => self.dedup(dedup, (join, before), found),
            RowSource::Table(table) => {
                found.push(("table", self.table(source, table, (join, before))));
            }
            other => found.push(("table", self.computed(other, join, before))),
        }
    }

    /// Joins that give each row once.
    fn dedup(
        &mut self,
        dedup: &DedupSource,
        around: (Option<Joined<'_>>, f64),
        found: &mut Vec<(&'static str, Object)>,
    ) {
        let at = found.len();
        match dedup.strategy {
            DedupStrategy::Materialize(number) => {
                let members = vec![("access_type", text("ALL"))];
                let nest = NestShown { first_match: false, number };
                found.push(("table", self.kept(members, &dedup.source, Some(nest))));
            }
            DedupStrategy::Weedout(begins) => {
                self.joined(&dedup.source, around, found);
                let begins = (at + begins).min(found.len());
                let mut members = vec![("using_temporary_table", Json::Flag(true))];
                members.append(&mut listed(found.split_off(begins)));
                found.push(("duplicates_removal", members));
            }
            DedupStrategy::LooseScan | DedupStrategy::FirstMatch => {
                self.joined(&dedup.source, around, found);
                let name = match dedup.strategy {
                    DedupStrategy::LooseScan => "loosescan",
                    _ => "first_match",
                };
                if let Some((_, first)) = found.get_mut(at) {
                    add_behind(first, "filtered", (name, Json::Flag(true)));
                }
            }
        }
    }

    /// The table of a materialized subquery.
    fn kept(&mut self, read: Object, source: &RowSource, nest: Option<NestShown>) -> Object {
        let number = self.numbers.id(nest.map_or(0, |nest| nest.number));
        let mut members = vec![("table_name", text(format!("<subquery{number}>")))];
        let hidden = ["table_name", "possible_keys", "used_key_parts", "filtered"];
        members.extend(read.into_iter().filter(|(name, _)| !hidden.contains(name)));
        let inner = Json::Object(vec![
            ("using_temporary_table", Json::Flag(true)),
            ("query_block", Json::Object(self.tables(source))),
        ]);
        members.push(("materialized_from_subquery", inner));
        members
    }

    fn table(
        &self,
        source: &RowSource,
        table: &TableSource,
        (join, before): (Option<Joined<'_>>, f64),
    ) -> Object {
        let (read, kept) = (scan(table), self.estimator.source(source));
        let mut members =
            line_members(&table_line(table, &Line::default(), None, Some(self.settings)));
        let length = table.table.def.row_length();
        self.add_estimates((read, kept), (join, before), Some(length), &mut members);
        match table.access.skip() {
            Some(skip) if skip.leaves_rows_out() => {
                let how = if skip.scans { text("scanning") } else { Json::Flag(true) };
                members.push(("using_index_for_group_by", how));
            }
            Some(_) => members.push(("using_index_for_skip_scan", Json::Flag(true))),
            None if table.access.covering => members.push(("using_index", Json::Flag(true))),
            None => {}
        }
        if table.access.backward {
            members.push(("backward_index_scan", Json::Flag(true)));
        }
        if let Some((from, plan)) = self.batches
            && plan.threads_of(from, table) > 1
        {
            members.push(("threads", Json::Number(plan.threads_of(from, table) as u64)));
        }
        add_join(join, &mut members);
        let columns = &table.table.def.columns;
        let used = columns.iter().zip(&table.needed).filter(|(_, needed)| **needed);
        let used: Vec<Json> = used.map(|(column, _)| text(column.shown_name())).collect();
        if !used.is_empty() {
            members.push(("used_columns", Json::List(used)));
        }
        let all: Vec<Expr> = table.bound_filter.iter().chain(&table.filter).cloned().collect();
        if !all.is_empty() {
            members.push(("attached_condition", text(conditions(&all))));
        }
        let rejected = self.rejected(table, &all);
        if !rejected.is_empty() {
            members.push(("rejected_indexes", Json::List(rejected)));
        }
        members
    }

    /// The indexes that a table is not read by.
    fn rejected(&self, table: &TableSource, conditions: &[Expr]) -> Vec<Json> {
        let (request, filled) = request_of(table, conditions, Some(self.settings));
        let show = |rejected: RejectedIndex| {
            let mut members = vec![("key", text(rejected.key)), ("cause", text(rejected.cause))];
            if let Some((path, rows)) = &rejected.path {
                let cost = path_cost(&table.table, path, *rows);
                let estimate = Estimate { rows: *rows, cost };
                members.push(("rows", Json::Number(estimate.shown_rows())));
                members.push(("cost", digits(estimate.shown_cost())));
            }
            Json::Object(members)
        };
        let all = rejected_indexes(&request, conditions, &filled, &table.access);
        all.into_iter().map(show).collect()
    }

    /// A member that is no stored table.
    fn computed(&mut self, source: &RowSource, join: Option<Joined<'_>>, before: f64) -> Object {
        let (name, read, subplan) = match source {
            RowSource::Subplan { id, alias, .. } => {
                (alias.clone(), self.estimator.subplan(*id), Some(*id))
            }
            RowSource::Virtual(table) => (table.alias.clone(), computed(), None),
            RowSource::JsonTable(table) => (table.alias.clone(), computed(), None),
            _ => (String::new(), computed(), None),
        };
        let rows = Json::Number(read.shown_rows());
        let mut members = vec![
            ("table_name", text(name)),
            ("access_type", text("ALL")),
            ("rows_examined_per_scan", rows),
        ];
        let kept = self.estimator.source(source);
        self.add_estimates((read, kept), (join, before), None, &mut members);
        add_join(join, &mut members);
        let filter = match source {
            RowSource::Subplan { filter, .. } => filter.as_slice(),
            RowSource::Virtual(table) => &table.filter,
            RowSource::JsonTable(table) => &table.filter,
            _ => &[],
        };
        if matches!(source, RowSource::JsonTable(_)) {
            members.push(("table_function", text("json_table")));
        }
        if !filter.is_empty() {
            members.push(("attached_condition", text(conditions(filter))));
        }
        members.extend(subplan.map(|id| ("materialized_from_subquery", self.materialized(id))));
        members
    }

    fn materialized(&mut self, id: usize) -> Json {
        if let Some((_, number)) = self.shown.iter().find(|(shown, _)| *shown == id) {
            let number = Json::Number(*number as u64);
            return Json::Object(vec![(
                "sharing_temporary_table_with",
                Json::Object(vec![("select_id", number)]),
            )]);
        }
        self.shown.push((id, self.numbers.of_first(&self.plan.subplans[id].query.body)));
        let plan = self.plan;
        let block = Json::Object(self.query(&plan.subplans[id].query));
        Json::Object(vec![
            ("using_temporary_table", Json::Flag(true)),
            ("dependent", Json::Flag(plan.subplans[id].correlated)),
            ("cacheable", Json::Flag(!plan.subplans[id].correlated)),
            ("query_block", block),
        ])
    }

    /// What reading a member is expected to give and to cost: `read` before its conditions and
    /// `kept` behind them. `length` is that of its rows, where it is a table.
    fn add_estimates(
        &self,
        (read, kept): (Estimate, Estimate),
        (join, before): (Option<Joined<'_>>, f64),
        length: Option<u64>,
        members: &mut Object,
    ) {
        let (rows, prefix) = match join {
            Some((_, joined)) => (joined, joined.cost.max(before)),
            None => (kept, kept.cost),
        };
        let known = !is_switched_off(self.settings, "condition_fanout_filter") && read.rows > 0.0;
        let share = if known { kept.rows / read.rows * 100.0 } else { 100.0 };
        members.push(("rows_produced_per_join", Json::Number(rows.shown_rows())));
        members.push(("filtered", digits(share.min(100.0))));
        let shown = |cost| digits(Estimate { rows: 0.0, cost }.shown_cost());
        let mut costs = vec![
            ("read_cost", shown(read.cost)),
            ("eval_cost", shown((prefix - before - read.cost).max(0.0))),
            ("prefix_cost", shown(prefix)),
        ];
        let data = length.map(|length| bytes(rows.rows * length as f64));
        costs.extend(data.map(|data| ("data_read_per_join", text(data))));
        members.push(("cost_info", Json::Object(costs)));
    }
}

/// A number of bytes in the largest unit of which there is one.
fn bytes(number: f64) -> String {
    let (mut number, mut unit) = (number as u64, 0);
    while number >= 1024 && unit < 4 {
        (number, unit) = (number / 1024, unit + 1);
    }
    format!("{number}{}", ["", "K", "M", "G", "T"][unit])
}

fn query_cost(estimate: Estimate) -> Json {
    Json::Object(vec![("query_cost", digits(estimate.shown_cost()))])
}

/// Tables that are joined, or a single one.
fn listed(mut found: Vec<(&'static str, Object)>) -> Object {
    let one = |(name, members)| (name, Json::Object(members));
    match found.len() {
        1 => vec![one(found.remove(0))],
        _ => {
            let all = found.into_iter().map(|found| Json::Object(vec![one(found)]));
            vec![("nested_loop", Json::List(all.collect()))]
        }
    }
}

/// The name of a table, by its members.
fn name_of(members: &Object) -> Option<String> {
    members.iter().find_map(|(name, value)| match value {
        Json::Text(value) if *name == "table_name" => Some(value.clone()),
        _ => None,
    })
}

/// Adds a member behind another one.
fn add_behind(members: &mut Object, other: &str, member: (&'static str, Json)) {
    let place = members.iter().position(|(name, _)| *name == other);
    members.insert(place.map_or(members.len(), |place| place + 1), member);
}

/// How a table is joined to those before it.
fn add_join(join: Option<Joined<'_>>, members: &mut Object) {
    let Some((join, _)) = join else { return };
    if let JoinMethod::Hash(_) = &join.method {
        members.push(("using_join_buffer", text("hash join")));
    }
    match join.kind {
        JoinType::Anti => members.push(("not_exists", Json::Flag(true))),
        JoinType::Inner | JoinType::Left | JoinType::Semi => {}
    }
    let mut on: Vec<String> = join.on.iter().map(print).collect();
    if let JoinMethod::Hash(keys) = &join.method {
        on.extend(keys.iter().map(|key| format!("({} = {})", print(&key.left), print(&key.right))));
    }
    if !on.is_empty() {
        members.push(("join_condition", text(on.join(" and "))));
    }
}

pub(super) fn conditions(all: &[Expr]) -> String {
    match all {
        [one] => print(one),
        all => format!("({})", all.iter().map(print).collect::<Vec<_>>().join(" and ")),
    }
}

/// Writes a value, each member and item on a line of its own.
pub(super) fn write(value: &Json, depth: usize, out: &mut String) {
    let line = |out: &mut String, depth: usize| {
        let _ = write!(out, "\n{:indent$}", "", indent = depth * 2);
    };
    match value {
        Json::Text(text) => quote(text, out),
        Json::Number(number) => out.push_str(&number.to_string()),
        Json::Flag(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Json::List(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                out.push_str(if number == 0 { "" } else { "," });
                line(out, depth + 1);
                write(item, depth + 1, out);
            }
            line(out, depth);
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (number, (name, member)) in members.iter().enumerate() {
                out.push_str(if number == 0 { "" } else { "," });
                line(out, depth + 1);
                quote(name, out);
                out.push_str(": ");
                write(member, depth + 1, out);
            }
            line(out, depth);
            out.push('}');
        }
    }
}

/// Writes a value in one line.
pub(super) fn write_line(value: &Json, out: &mut String) {
    match value {
        Json::List(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                out.push_str(if number == 0 { "" } else { "," });
                write_line(item, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (number, (name, member)) in members.iter().enumerate() {
                out.push_str(if number == 0 { "" } else { "," });
                quote(name, out);
                out.push_str(": ");
                write_line(member, out);
            }
            out.push('}');
        }
        leaf => write(leaf, 0, out),
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            letter if u32::from(letter) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
}
