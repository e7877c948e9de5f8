//! EXPLAIN FORMAT=TREE: what runs inside what, the outermost first.
//!
//! Each node names the strategy by which the plan executes it, in MySQL's words where MySQL has the
//! same, and what runs instead where data may get in the way. EXPLAIN ANALYZE makes rows of values
//! at each node to count them, so its tree has no cells that go to the client as they are stored.

use super::estimate::{Estimate, Estimator, computed, scan};
use super::grouped::{is_skipped, wanted_rows};
use super::line::{Line, each_subquery, is_never};
use super::merged::{MergedNode, merge_text, merged_nodes};
use super::skipped::skip_text;
use crate::access::kept_by_all;
use crate::plan::batches::BatchSource;
use crate::plan::dedup::{DedupSource, DedupStrategy};
use crate::plan::trace::{Node, Trace};
use crate::plan::{
    Aggregation, Body, Direct, DirectShape, FirstSort, GroupStrategy, JoinMethod, JoinPlan,
    JoinType, LimitPlan, QueryPlan, RowKey, RowSource, SelectPlan, StatementPlan, TableSource,
};
use inia_base::value::Value;
use inia_expr::Expr;
use inia_expr::print::print;
use inia_expr::tree::{RowLookup, SubqueryKind};
use inia_parser::ast::AggregateFunc;
use std::fmt::Write;

/// A node that reads no table.
const FETCHED: &str = "Rows fetched before execution";
/// A node below which nothing runs.
const NEVER: &str = "Zero rows (Impossible WHERE)";
/// One group of no rows.
const NO_INPUT: &str = "Zero input rows (Impossible WHERE), aggregated into one output row";

/// The whole plan as indented text, with what a run of it has shown.
pub fn print_tree(plan: &StatementPlan, trace: Option<&Trace>) -> String {
    let (estimator, out) = (Estimator::new(plan), String::new());
    let mut printer = Printer { plan, estimator, trace, seen: None, batches: None, out };
    printer.query(&plan.root, 0);
    printer.out
}

struct Printer<'p> {
    plan: &'p StatementPlan,
    estimator: Estimator<'p>,
    trace: Option<&'p Trace>,
    /// What was seen of the node that is printed next.
    seen: Option<String>,
    /// How the SELECT that is printed is executed over batches, where it is.
    batches: Option<(&'p RowSource, &'p BatchSource)>,
    out: String,
}

impl<'p> Printer<'p> {
    fn node(&mut self, depth: usize, text: &str, estimate: Estimate) {
        let seen = self.seen.take().unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{:indent$}-> {text}  {estimate}{seen}", "", indent = depth * 4);
    }

    /// A node whose rows are there before the first one is asked for.
    fn fetched(&mut self, depth: usize, text: &str, rows: usize) {
        let seen = self.seen.take().unwrap_or_default();
        let indent = depth * 4;
        let _ = writeln!(self.out, "{:indent$}-> {text}  (cost=0.00..0.00 rows={rows}){seen}", "");
    }

    /// A node that gives no rows of its own.
    fn heading(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{:indent$}-> {text}", "", indent = depth * 4);
    }

    /// The parts of a merge.
    fn merged(&mut self, table: &TableSource, depth: usize) {
        let Some(merge) = table.access.merge() else { return };
        let mut at = depth;
        for node in merged_nodes(table, merge) {
            match node {
                MergedNode::Apart => {
                    self.heading(depth, "Clustered primary key (scanned separately)");
                    at = depth + 1;
                }
                MergedNode::Part(text, estimate) => self.node(at, &text, estimate),
            }
        }
    }

    /// The next node printed is this one.
    fn enter(&mut self, node: Node) {
        self.seen = self.trace.map(|trace| trace.describe(node));
    }

    fn query(&mut self, query: &'p QueryPlan, mut depth: usize) {
        self.enter(Node::Query(query));
        if matches!(&query.body, Body::Select(select) if is_empty(select)) {
            return self.body(&query.body, depth);
        }
        let limit = query.limit.as_ref();
        if limit.and_then(|limit| limit.count.as_literal()).is_some_and(is_zero) {
            return self.fetched(depth, "Zero rows (Zero limit)", 0);
        }
        if let Some(limit) = &query.limit {
            let offset = limit.offset.as_ref().map(|offset| format!(", offset {}", print(offset)));
            let count = print(&limit.count);
            let text = format!("Limit: {count} row(s){}", offset.unwrap_or_default());
            self.node(depth, &text, self.estimator.query(query));
            depth += 1;
        }
        if !query.order.is_empty() && !query.presorted {
            let name = |key: &crate::plan::SortKey| {
                let text = match &query.body {
                    Body::Select(select) => print(&select.output[key.index]).replace('`', ""),
                    _ => format!("column {}", key.index + 1),
                };
                if key.descending { format!("{text} DESC") } else { text }
            };
            let keys: Vec<String> = query.order.iter().map(name).collect();
            let sort = match self.direct(query).map(|direct| &direct.shape) {
                Some(DirectShape::Sorted(_)) if removes_duplicates(query) => {
                    "Sort with duplicate removal, rows as stored"
                }
                Some(DirectShape::Sorted(_)) => "Sort rows as stored",
                _ => "Sort",
            };
            let limited = query.limit.as_ref().filter(|_| !sort.contains("duplicate"));
            let limited = limited.map(limit_input).unwrap_or_default();
            if query.limit.is_some() {
                self.enter(Node::Sorted(query));
            }
            let text = format!("{sort}: {}{limited}", keys.join(", "));
            self.node(depth, &text, self.estimator.sorted(query));
            depth += 1;
        }
        self.body(&query.body, depth);
    }

    /// How the outermost query is sent; a query that is traced is not.
    fn direct(&self, query: &QueryPlan) -> Option<&Direct> {
        let sent = std::ptr::eq(query, &self.plan.root) && self.trace.is_none();
        self.plan.direct.as_ref().filter(|_| sent)
    }

    fn body(&mut self, body: &'p Body, depth: usize) {
        match body {
            Body::Select(select) => self.select(select, depth),
            Body::Nested(query) => self.query(query, depth),
            Body::Values(values) => {
                self.fetched(depth, FETCHED, values.rows.len());
            }
            Body::SetOperation(set) => {
                let heading = match set.counted {
                    0 => "Append".to_owned(),
                    counted if counted == set.rest.len() => {
                        "Combine operands using temporary table".to_owned()
                    }
                    counted => format!(
                        "Append to the first {} operands, combined using temporary table",
                        counted + 1
                    ),
                };
                self.node(depth, &heading, self.estimator.body(body));
                self.body(&set.first, depth + 1);
                for step in &set.rest {
                    let all = if step.all { " all" } else { "" };
                    self.heading(depth + 1, &format!("{:?}{all}", step.op));
                    self.body(&step.body, depth + 2);
                }
            }
        }
    }

    fn select(&mut self, select: &'p SelectPlan, mut depth: usize) {
        self.enter(Node::Select(select));
        if is_empty(select) {
            match &select.aggregation {
                Some(aggregation) if aggregation.group.is_empty() => {
                    self.fetched(depth, NO_INPUT, 1);
                }
                _ => self.fetched(depth, NEVER, 0),
            }
            return self.subqueries(select, depth);
        }
        let direct = match &self.plan.root.body {
            Body::Select(root) if std::ptr::eq(&**root, select) => self.direct(&self.plan.root),
            _ => None,
        };
        let estimates = self.estimator.select(select);
        let shape = direct.map(|direct| &direct.shape);
        let in_sort = matches!(shape, Some(DirectShape::Sorted(_)));
        let totals = matches!(shape, Some(DirectShape::Totals(_)));
        // What is read by groups is no more than the groups.
        let skips = is_skipped(&select.source) && select.aggregation.is_none();
        if select.distinct && !in_sort && !skips {
            self.node(depth, "Remove duplicates", estimates.whole);
            depth += 1;
        }
        if let Some(having) = &select.having {
            if self.seen.is_none() {
                self.enter(Node::Having(select));
            }
            let text = format!("Filter: {}", print(having).replace('`', ""));
            self.node(depth, &text, estimates.whole);
            depth += 1;
        }
        let outer = depth;
        let reads = match &select.aggregation {
            Some(aggregation) => self.grouping(select, (aggregation, totals), &mut depth),
            None => true,
        };
        if reads {
            let conditions: Vec<&Expr> = select.once.iter().chain(&select.filter).collect();
            if self.seen.is_none() && !select.filter.is_empty() {
                self.enter(Node::Filtered(select));
            }
            self.filtered(&conditions, estimates.filtered, &mut depth);
            let batches = select.batches.as_ref().map(|plan| (&select.source, &plan.source));
            let around = std::mem::replace(&mut self.batches, batches);
            self.source(&select.source, depth);
            self.batches = around;
        }
        self.subqueries(select, outer);
    }

    /// How groups are made; whether that reads rows.
    fn grouping(
        &mut self,
        select: &SelectPlan,
        (aggregation, totals): (&Aggregation, bool),
        depth: &mut usize,
    ) -> bool {
        let grouped = !aggregation.group.is_empty();
        let estimates = self.estimator.select(select);
        if is_read_by_groups(select, aggregation) {
            return true;
        }
        if self.seen.is_none() {
            self.enter(Node::Grouped(select));
        }
        let text = match &aggregation.strategy {
            // Values at the ends of indexes take no scan, so there is no node below.
            GroupStrategy::Extrema(_) => {
                let text = format!("{FETCHED}{}", or_hash(select));
                self.fetched(*depth, &text, 1);
                return false;
            }
            _ if totals => "Aggregate stored cells",
            GroupStrategy::IntGroups(_) => {
                "Aggregate stored cells by an integer, or using temporary table where groups \
                 outgrow memory"
            }
            GroupStrategy::Vectors(_) if !grouped => {
                "Aggregate column vectors, or rows where numbers outgrow their type"
            }
            GroupStrategy::Vectors(groups) if groups.in_order => {
                "Aggregate column vectors in the order of their groups"
            }
            GroupStrategy::Vectors(_) => {
                "Aggregate column vectors, or rows using temporary table where numbers outgrow \
                 their type"
            }
            GroupStrategy::JoinTotals(_) => {
                "Aggregate stored cells of both sides, or joined rows where the right side \
                 outgrows memory"
            }
            GroupStrategy::Hash if !grouped => "Aggregate",
            GroupStrategy::Hash if aggregation.rollup => "Group aggregate with rollup",
            GroupStrategy::Hash => "Aggregate using temporary table",
            GroupStrategy::Sort if aggregation.rollup => "Group aggregate with rollup",
            GroupStrategy::Sort | GroupStrategy::InOrder => "Group aggregate",
        };
        // Strategies over stored cells evaluate no conditions: general execution replaces them
        // where the bounds of a path are not exact.
        let by_cells = matches!(
            aggregation.strategy,
            GroupStrategy::IntGroups(_) | GroupStrategy::JoinTotals(_)
        );
        let text = format!("{text}{}", if by_cells { or_inexact(select) } else { "" });
        self.node(*depth, &text, estimates.grouped);
        *depth += 1;
        // The sort feeds the aggregation, so it is a node below.
        if let GroupStrategy::Sort = aggregation.strategy {
            let keys = aggregation.group.iter().map(|key| print(key).replace('`', ""));
            let text = format!("Sort: {}", keys.collect::<Vec<_>>().join(", "));
            self.node(*depth, &text, estimates.filtered);
            *depth += 1;
        }
        true
    }

    /// The subqueries in a SELECT's expressions, each once.
    fn subqueries(&mut self, select: &'p SelectPlan, depth: usize) {
        let mut found: Vec<(usize, String)> = Vec::new();
        each_subquery(select, &mut |sub, selected| {
            let how = match (&sub.kind, sub.correlated) {
                (SubqueryKind::Quantified { lookup: RowLookup::HashTable, left, .. }, _) => {
                    match left.len() {
                        0..=1 => "run only once; rows in a hash table",
                        _ => {
                            "run only once; rows in a hash table, or compared one by one where \
                             one has a NULL"
                        }
                    }
                }
                (_, true) => "dependent",
                (_, false) => "run only once",
            };
            let place = if selected { "projection" } else { "condition" };
            if !found.iter().any(|(id, _)| *id == sub.id) {
                found.push((sub.id, format!("subquery in {place}; {how}")));
            }
        });
        for (id, text) in found {
            self.heading(depth, &format!("Select #{} ({text})", id + 2));
            let plan = self.plan;
            self.query(&plan.subplans[id].query, depth + 1);
        }
    }

    fn filtered(&mut self, conditions: &[&Expr], estimate: Estimate, depth: &mut usize) {
        self.conditions("Filter", (conditions, estimate), depth);
    }

    fn conditions(
        &mut self,
        name: &str,
        (conditions, estimate): (&[&Expr], Estimate),
        depth: &mut usize,
    ) {
        if !conditions.is_empty() {
            let texts: Vec<String> =
                conditions.iter().map(|condition| print(condition).replace('`', "")).collect();
            self.node(*depth, &format!("{name}: {}", texts.join(" and ")), estimate);
            *depth += 1;
        }
    }

    /// The conditions of a table: those that stored cells answer are checked first.
    fn table_filter(&mut self, table: &TableSource, depth: &mut usize) {
        let (cells, others) = table.filter.split_at(table.checks.len());
        let others: Vec<&Expr> = others.iter().collect();
        self.filtered(&others, filtered(table, &table.filter), depth);
        let checked = (&cells.iter().collect::<Vec<_>>()[..], filtered(table, cells));
        self.conditions("Filter stored cells", checked, depth);
    }

    /// Whether the outermost query reads the table and nothing else.
    fn is_root(&self, table: &TableSource) -> bool {
        let Body::Select(root) = &self.plan.root.body else { return false };
        matches!(&root.source, RowSource::Table(own) if std::ptr::eq(&**own, table))
    }

    fn source(&mut self, source: &'p RowSource, mut depth: usize) {
        self.enter(Node::Source(source));
        let estimate = self.estimator.source(source);
        match source {
            RowSource::One => self.fetched(depth, FETCHED, 1),
            RowSource::Nothing => self.fetched(depth, NEVER, 0),
            RowSource::Table(table) => {
                // Filters run over the scan and stand above it. The first node printed takes what
                // was seen of the source, so the scan gets its own.
                if let Some(sort) = &table.sorted {
                    self.node(depth, &sort_text(sort), estimate);
                    depth += 1;
                }
                self.table_filter(table, &mut depth);
                self.seen = self.trace.map(|trace| trace.describe_scan(source, table));
                let direct = self.direct(&self.plan.root).filter(|_| self.is_root(table));
                let mut text = table_text(table, direct.map_or("", how_taken));
                let batches = self.batches;
                if let Some((from, plan)) = batches
                    && plan.threads_of(from, table) > 1
                {
                    let _ = write!(text, " (up to {} threads)", plan.threads_of(from, table));
                }
                self.node(depth, &text, scan(table));
                self.merged(table, depth + 1);
            }
            RowSource::Subplan { id, alias, filter, .. } => {
                self.filtered(&filter.iter().collect::<Vec<_>>(), estimate, &mut depth);
                self.node(depth, &format!("Table scan on {alias}"), self.estimator.subplan(*id));
                let subplan = &self.plan.subplans[*id];
                let text =
                    if subplan.correlated { "Materialize (for each row)" } else { "Materialize" };
                let query: &QueryPlan = &self.plan.subplans[*id].query;
                self.node(depth + 1, text, self.estimator.query(query));
                self.query(query, depth + 2);
            }
            RowSource::Virtual(table) => {
                self.filtered(&table.filter.iter().collect::<Vec<_>>(), estimate, &mut depth);
                self.node(depth, &format!("Table scan on {}", table.alias), computed());
            }
            RowSource::JsonTable(table) => {
                self.filtered(&table.filter.iter().collect::<Vec<_>>(), estimate, &mut depth);
                let text = format!("Materialize table function on {}", table.alias);
                self.node(depth, &text, computed());
            }
            RowSource::Dedup(dedup) => {
                self.node(depth, &dedup_text(dedup), estimate);
                self.source(&dedup.source, depth + 1);
            }
            RowSource::Join(join) if matches!(join.right, RowSource::One) => {
                self.filtered(&join.on.iter().collect::<Vec<_>>(), estimate, &mut depth);
                self.source(&join.left, depth);
            }
            RowSource::Join(join) => {
                let batches = if self.batches.is_some() { " of batches" } else { "" };
                self.node(depth, &join_text(join, batches), estimate);
                self.source(&join.left, depth + 1);
                let mut below = depth + 1;
                if let (JoinMethod::Hash(_), Some(trace)) = (&join.method, self.trace) {
                    self.seen = Some(trace.describe_build(join));
                    self.node(below, "Hash", self.estimator.source(&join.right));
                    below += 1;
                }
                self.source(&join.right, below);
            }
        }
    }
}

/// The rows of a table behind some of its conditions.
fn filtered(table: &TableSource, conditions: &[Expr]) -> Estimate {
    let read = scan(table);
    Estimate { rows: read.rows * kept_by_all(conditions, &table.table, table.base), ..read }
}

/// A join's kind, method and conditions; `batches` says that it joins those.
fn join_text(join: &JoinPlan, batches: &str) -> String {
    let kind = match (join.kind, &join.method) {
        (JoinType::Inner, JoinMethod::NestedLoop) => "Nested loop inner join",
        (JoinType::Left, JoinMethod::NestedLoop) => "Nested loop left join",
        (JoinType::Semi, JoinMethod::NestedLoop) => "Nested loop semijoin",
        (JoinType::Anti, JoinMethod::NestedLoop) => "Nested loop antijoin",
        (JoinType::Inner, JoinMethod::Hash(_)) => "Inner hash join",
        (JoinType::Left, JoinMethod::Hash(_)) => "Left hash join",
        (JoinType::Semi, JoinMethod::Hash(_)) => "Hash semijoin",
        (JoinType::Anti, JoinMethod::Hash(_)) => "Hash antijoin",
    };
    let mut on: Vec<String> = join.on.iter().map(print).collect();
    // Hash keys come before other conditions, which are checked for rows of equal keys only.
    if let JoinMethod::Hash(keys) = &join.method {
        let equality =
            |key: &crate::plan::HashKey| format!("{} = {}", print(&key.left), print(&key.right));
        on.splice(0..0, keys.iter().map(equality));
    }
    let on = on.join(" and ").replace('`', "");
    match (on.is_empty(), &join.method) {
        (false, _) => format!("{kind}{batches} ({on})"),
        (true, JoinMethod::Hash(_)) => format!("{kind}{batches} (no condition)"),
        (true, JoinMethod::NestedLoop) => format!("{kind}{batches}"),
    }
}

/// How rows come once each.
fn dedup_text(dedup: &DedupSource) -> String {
    let mut names = Vec::new();
    dedup.source.each(&mut |source| {
        if let RowSource::Table(table) = source
            && (table.row_id.is_some() || dedup.strategy == DedupStrategy::LooseScan)
        {
            names.push((table.alias.as_str(), table));
        }
    });
    match dedup.strategy {
        DedupStrategy::Weedout(_) => {
            let names: Vec<&str> = names.iter().map(|(alias, _)| *alias).collect();
            let names = match &names[..] {
                [one] => (*one).to_owned(),
                names => format!("({})", names.join(", ")),
            };
            format!("Remove duplicate {names} rows using temporary table (weedout)")
        }
        DedupStrategy::LooseScan => {
            let index = names.first().and_then(|(_, table)| {
                Some(table.table.def.indexes[table.access.index?].name.as_str())
            });
            format!("Remove duplicates from input sorted on {}", index.unwrap_or_default())
        }
        DedupStrategy::FirstMatch => "Limit: 1 row(s)".to_owned(),
        DedupStrategy::Materialize(_) => "Materialize with deduplication".to_owned(),
    }
}

/// Whether the entries that are read are the groups, and their aggregates values of those.
fn is_read_by_groups(select: &SelectPlan, aggregation: &Aggregation) -> bool {
    let distinct = aggregation
        .calls
        .iter()
        .any(|call| call.distinct && !matches!(call.func, AggregateFunc::Min | AggregateFunc::Max));
    matches!(aggregation.strategy, GroupStrategy::InOrder)
        && is_skipped(&select.source)
        && !distinct
}

/// Whether a query's rows are those of SELECT DISTINCT.
fn removes_duplicates(query: &QueryPlan) -> bool {
    matches!(&query.body, Body::Select(select) if select.distinct)
}

/// How many of the first rows a sort keeps.
fn limit_input(limit: &LimitPlan) -> String {
    match wanted_rows(limit) {
        Some(rows) => format!(", limit input to {rows} row(s) per chunk"),
        None => ", limit input to the rows of LIMIT".to_owned(),
    }
}

/// What is added where the values of a path's bounds may make them inexact.
fn or_inexact(select: &SelectPlan) -> &'static str {
    fn inexact(source: &RowSource) -> bool {
        match source {
            RowSource::Table(table) => !table.bound_filter.is_empty(),
            RowSource::Join(join) => inexact(&join.left) || inexact(&join.right),
            _ => false,
        }
    }
    if inexact(&select.source) { " or bounds are inexact" } else { "" }
}

/// What is run instead of looking at the ends of indexes.
fn or_hash(select: &SelectPlan) -> &'static str {
    match or_inexact(select) {
        "" => "",
        _ => ", or aggregated where bounds are inexact",
    }
}

/// How direct execution takes the rows of its table.
fn how_taken(direct: &Direct) -> &'static str {
    match (&direct.shape, direct.whole_runs) {
        (DirectShape::Rows(_), true) => ", runs of rows sent as stored",
        (DirectShape::Rows(_), false) => ", rows sent as stored",
        (DirectShape::Totals(_) | DirectShape::Sorted(_), true) => ", runs of rows taken whole",
        (DirectShape::Totals(_) | DirectShape::Sorted(_), false) => "",
    }
}

/// How a table is sorted before it is joined.
fn sort_text(sort: &FirstSort) -> String {
    let key = |key: &RowKey| {
        let direction = if key.descending { " DESC" } else { "" };
        format!("{}{direction}", print(&key.expr).replace('`', ""))
    };
    let limited = sort.limit.as_ref().map(limit_input).unwrap_or_default();
    format!("Sort: {}{limited}", sort.keys.iter().map(key).collect::<Vec<_>>().join(", "))
}

fn table_text(table: &TableSource, sent: &str) -> String {
    let line: Line = super::line::table_line(table, &Line::default(), None, None);
    let (alias, key) = (&table.alias, line.key.unwrap_or_default());
    let covering = if table.access.covering { "Covering i" } else { "I" };
    let reverse = if table.access.backward { " (reverse)" } else { "" };
    let text = match line.access {
        Some("const" | "eq_ref") => format!("Single-row index lookup on {alias} using {key}"),
        Some("ref") => format!("{covering}ndex lookup on {alias} using {key}{reverse}"),
        Some("range") if table.access.skip().is_none() => {
            format!("{covering}ndex range scan on {alias} using {key}{reverse}")
        }
        _ if let Some(skip) = table.access.skip() => skip_text(table, skip, &key),
        _ if let Some(merge) = table.access.merge() => merge_text(merge).to_owned(),
        Some("fulltext") => format!("Full-text index search on {alias} using {key}"),
        Some("index") => format!("{covering}ndex scan on {alias} using {key}{reverse}"),
        _ => format!("Table scan on {alias}"),
    };
    format!("{text}{sent}")
}

/// Whether a LIMIT's value asks for no rows.
fn is_zero(value: &Value) -> bool {
    matches!(value, Value::Int(0) | Value::UInt(0))
}

/// Whether a condition that needs no row is never true.
fn is_empty(select: &SelectPlan) -> bool {
    select.once.iter().any(|condition| condition.as_literal().is_some_and(is_never))
}
