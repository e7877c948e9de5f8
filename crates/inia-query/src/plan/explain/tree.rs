//! EXPLAIN FORMAT=TREE: what runs inside what, the outermost first.

use super::line::Line;
use super::line::describe;
use crate::plan::trace::{Node, Trace};
use crate::plan::{
    Body, JoinMethod, JoinType, QueryPlan, RowSource, SelectPlan, StatementPlan, TableSource,
};
use inia_expr::Expr;
use inia_expr::print::print;
use std::fmt::Write;

/// The whole plan as indented text, with what a run of it has shown.
pub fn print_tree(plan: &StatementPlan, trace: Option<&Trace>) -> String {
    let mut printer = Printer { plan, trace, seen: None, out: String::new() };
    printer.query(&plan.root, 0);
    printer.out
}

struct Printer<'p> {
    plan: &'p StatementPlan,
    trace: Option<&'p Trace>,
    /// What was seen of the node that is printed next.
    seen: Option<String>,
    out: String,
}

impl Printer<'_> {
    fn node(&mut self, depth: usize, text: &str) {
        let seen = self.seen.take().unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{:indent$}-> {text}{seen}", "", indent = depth * 4);
    }

    /// The next node printed is the outermost of this one.
    fn enter(&mut self, node: Node) {
        self.seen = self.trace.map(|trace| format!(" {}", trace.describe(node)));
    }

    fn query(&mut self, query: &QueryPlan, mut depth: usize) {
        self.enter(Node::Query(query));
        if let Some(limit) = &query.limit {
            let offset = limit.offset.as_ref().map(|offset| format!(", offset {}", print(offset)));
            let count = print(&limit.count);
            self.node(depth, &format!("Limit: {count} row(s){}", offset.unwrap_or_default()));
            depth += 1;
        }
        if !query.order.is_empty() {
            let name = |key: &crate::plan::SortKey| {
                let text = match &query.body {
                    Body::Select(select) => print(&select.output[key.index]).replace('`', ""),
                    _ => format!("column {}", key.index + 1),
                };
                if key.descending { format!("{text} DESC") } else { text }
            };
            let keys: Vec<String> = query.order.iter().map(name).collect();
            self.node(depth, &format!("Sort: {}", keys.join(", ")));
            depth += 1;
        }
        self.body(&query.body, depth);
    }

    fn body(&mut self, body: &Body, depth: usize) {
        match body {
            Body::Select(select) => self.select(select, depth),
            Body::Nested(query) => self.query(query, depth),
            Body::Values(values) => {
                self.node(depth, &format!("Rows fetched: {}", values.rows.len()));
            }
            Body::SetOperation(set) => {
                self.node(depth, "Combine operands");
                self.body(&set.first, depth + 1);
                for step in &set.rest {
                    let all = if step.all { " all" } else { "" };
                    self.node(depth + 1, &format!("{:?}{all}", step.op));
                    self.body(&step.body, depth + 2);
                }
            }
        }
    }

    fn select(&mut self, select: &SelectPlan, mut depth: usize) {
        self.enter(Node::Select(select));
        if select.distinct {
            self.node(depth, "Remove duplicates");
            depth += 1;
        }
        if let Some(having) = &select.having {
            self.node(depth, &format!("Filter: {}", print(having).replace('`', "")));
            depth += 1;
        }
        if select.extrema.is_some() {
            self.node(depth, "Rows fetched before execution");
            return;
        }
        if let Some(aggregation) = &select.aggregation {
            let text = match (aggregation.group.is_empty(), aggregation.rollup) {
                (true, _) => "Aggregate",
                (false, false) => "Aggregate using temporary table",
                (false, true) => "Group aggregate with rollup",
            };
            self.node(depth, text);
            depth += 1;
        }
        let conditions: Vec<&Expr> = select.once.iter().chain(&select.filter).collect();
        self.filtered(&conditions, &mut depth);
        self.source(&select.source, depth);
    }

    fn filtered(&mut self, conditions: &[&Expr], depth: &mut usize) {
        if !conditions.is_empty() {
            let texts: Vec<String> =
                conditions.iter().map(|condition| print(condition).replace('`', "")).collect();
            self.node(*depth, &format!("Filter: {}", texts.join(" and ")));
            *depth += 1;
        }
    }

    fn source(&mut self, source: &RowSource, mut depth: usize) {
        self.enter(Node::Source(source));
        match source {
            RowSource::One => self.node(depth, "Rows fetched before execution"),
            RowSource::Nothing => self.node(depth, "Zero rows (Impossible WHERE)"),
            RowSource::Table(table) => {
                self.filtered(&table.filter.iter().collect::<Vec<_>>(), &mut depth);
                self.seen = self.trace.map(|t| format!(" {}", t.describe_scan(source, table)));
                let text = table_text(table);
                self.node(depth, &text);
            }
            RowSource::Subplan { id, alias, filter, .. } => {
                self.filtered(&filter.iter().collect::<Vec<_>>(), &mut depth);
                self.node(depth, &format!("Table scan on {alias}"));
                let subplan = &self.plan.subplans[*id];
                let text =
                    if subplan.correlated { "Materialize (for each row)" } else { "Materialize" };
                self.node(depth + 1, text);
                let query: &QueryPlan = &self.plan.subplans[*id].query;
                self.query(query, depth + 2);
            }
            RowSource::Virtual(table) => {
                self.filtered(&table.filter.iter().collect::<Vec<_>>(), &mut depth);
                self.node(depth, &format!("Table scan on {}", table.alias));
            }
            RowSource::JsonTable(table) => {
                self.filtered(&table.filter.iter().collect::<Vec<_>>(), &mut depth);
                self.node(depth, &format!("Materialize table function on {}", table.alias));
            }
            RowSource::Join(join) => {
                let kind = match (join.kind, &join.method) {
                    (JoinType::Inner, JoinMethod::NestedLoop) => "Nested loop inner join",
                    (JoinType::Left, JoinMethod::NestedLoop) => "Nested loop left join",
                    (JoinType::Inner, JoinMethod::Hash(_)) => "Inner hash join",
                    (JoinType::Left, JoinMethod::Hash(_)) => "Left hash join",
                };
                let mut on: Vec<String> = join.on.iter().map(print).collect();
                if let JoinMethod::Hash(keys) = &join.method {
                    let equality = |key: &crate::plan::HashKey| {
                        format!("{} = {}", print(&key.left), print(&key.right))
                    };
                    on.splice(0..0, keys.iter().map(equality));
                }
                let on = on.join(" and ").replace('`', "");
                let on = if on.is_empty() { on } else { format!(" ({on})") };
                self.node(depth, &format!("{kind}{on}"));
                self.source(&join.left, depth + 1);
                self.source(&join.right, depth + 1);
            }
        }
    }
}

fn table_text(table: &TableSource) -> String {
    let line: Line = super::line::table_line(table, &Line::default(), None);
    let (alias, key) = (&table.alias, line.key.unwrap_or_default());
    let covering = if table.access.covering { "Covering i" } else { "I" };
    let reverse = if table.access.backward { " (reverse)" } else { "" };
    let text = match line.access {
        Some("const" | "eq_ref") => format!("Single-row index lookup on {alias} using {key}"),
        Some("ref") => format!("{covering}ndex lookup on {alias} using {key}{reverse}"),
        Some("range") => format!("{covering}ndex range scan on {alias} using {key}{reverse}"),
        Some("index") => format!("{covering}ndex scan on {alias} using {key}{reverse}"),
        _ => format!("Table scan on {alias}"),
    };
    format!("{text}  (rows={})", line.rows.unwrap_or(0))
}

/// EXPLAIN FORMAT=JSON: the lines as nested members.
pub fn print_json(plan: &StatementPlan) -> String {
    print_json_lines(&describe(plan))
}

/// Lines as JSON.
pub fn print_json_lines(lines: &[Line]) -> String {
    let mut out = String::from("{\n  \"query_block\": {\n    \"select_id\": 1,\n    \"tables\": [");
    for (number, line) in lines.iter().enumerate() {
        let mut fields = vec![format!("\"select_type\": \"{}\"", line.select_type)];
        let mut text = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                fields.push(format!("\"{name}\": \"{}\"", value.replace('"', "\\\"")));
            }
        };
        text("table_name", line.table.as_deref());
        text("access_type", line.access);
        text("key", line.key.as_deref());
        text("key_length", line.key_len.as_deref());
        text("ref", line.reference.as_deref());
        text("extra", Some(line.extra.join("; ").as_str()).filter(|extra| !extra.is_empty()));
        if let Some(rows) = line.rows {
            fields.push(format!("\"rows_examined_per_scan\": {rows}"));
        }
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(out, "{comma}\n      {{ {} }}", fields.join(", "));
    }
    out.push_str("\n    ]\n  }\n}");
    out
}
