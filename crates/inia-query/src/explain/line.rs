//! The lines of EXPLAIN's table.

use super::constants::{hide_conditions, show_constants};
use super::converted::{converted_keys, is_converted};
use super::filtered::filtered;
use super::grouped::{GroupedColumns, show_limit, show_order, show_windows};
use super::joined::{show_behind, show_joins, show_possible, show_sought};
use super::materialized;
use super::merged::merge_line;
use super::numbers::Numbers;
use super::single::{
    checked_line, counts_all, json_table_line, search_line, seeks_columns, show_distinct,
    sorts_joined,
};
use super::skipped::{add_skipping, skip_line};
use crate::access::{
    AccessPath, EqualPart, EvalSettings, HintedIndexes, MergeRules, RejectedIndex, Request,
    branch_indexes, is_switched_off, partitions, rejected_indexes,
};
use crate::catalog::{IndexDef, TableDef};
use crate::optimize::{derived_rows, recursive_rows};
use crate::plan::dedup::{DedupSource, DedupStrategy};
use crate::plan::{
    Body, JoinMethod, JoinPlan, JoinType, QueryPlan, RowSource, SelectPlan, SetPlan, StatementPlan,
    TableSource,
};
use inia_base::value::Value;
use inia_expr::tree::{Subquery, SubqueryKind};
use inia_expr::{CmpOp, Environment, Expr, ExprKind, SessionHost, SlotSet, slots_of};
use inia_parser::ast::SetOp;
use std::cmp::Reverse;

/// What EXPLAIN shows of one member of FROM; `None` prints as NULL.
///
/// Wide: one field for each column of the table.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Number of the query block.
    pub id: Option<usize>,
    /// Kind of the query block.
    pub select_type: String,
    /// The table's alias, or what stands for one.
    pub table: Option<String>,
    /// The partitions that are read, of a table that has some.
    pub partitions: Option<String>,
    /// Access path, as column `type` names it.
    pub access: Option<&'static str>,
    /// Indexes that could serve.
    pub possible_keys: Option<String>,
    /// Those of them that only a conversion keeps from serving.
    pub converted: Vec<String>,
    /// The index that is used.
    pub key: Option<String>,
    /// The columns of the index's parts that are used.
    pub key_parts: Vec<String>,
    /// Bytes of the index's parts that are used.
    pub key_len: Option<String>,
    /// What the index's parts are compared with.
    pub reference: Option<String>,
    /// Estimated rows.
    pub rows: Option<u64>,
    /// Estimated percentage of the rows that conditions leave.
    pub filtered: Option<f64>,
    /// How several indexes are merged: `union(a,b)`.
    pub merge: Option<String>,
    /// Further parts of column `Extra`.
    pub extra: Vec<&'static str>,
    /// The table to which a semi join goes back once it has found a match.
    pub first_match: Option<String>,
    /// Indexes by which ranges are looked for with each row before it: `index map: 0x2`.
    pub checked: Option<String>,
}

impl Line {
    /// Column `Extra`; `None` where it is empty.
    pub fn extra_text(&self) -> Option<String> {
        let merged = self.merge.iter().map(|merge| format!("Using {merge}"));
        let text = |part: &&str| match &self.first_match {
            Some(table) if *part == FIRST_MATCH => format!("{part}({table})"),
            _ => (*part).to_owned(),
        };
        let checked = self.checked.iter();
        let checked = checked.map(|map| format!("Range checked for each record ({map})"));
        let parts: Vec<String> = merged.chain(checked).chain(self.extra.iter().map(text)).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// All lines of a statement.
pub fn describe(plan: &StatementPlan, env: &Environment, host: &dyn SessionHost) -> Vec<Line> {
    let settings = EvalSettings { env, host };
    let mut describer = Describer {
        plan,
        settings,
        lines: Vec::new(),
        numbers: Numbers::of(plan),
        ids: Vec::new(),
        materialized: Vec::new(),
        renamed: Vec::new(),
        sought: Vec::new(),
    };
    describer.query(&plan.root, "PRIMARY");
    if is_switched_off(settings, "condition_fanout_filter") {
        describer.lines.iter_mut().for_each(|line| line.filtered = line.filtered.map(|_| 100.0));
    }
    // Subqueries that have become joins are no query blocks.
    if describer.lines.iter().all(|line| ["PRIMARY", MATERIALIZED].contains(&&*line.select_type)) {
        let outer = describer.lines.iter_mut().filter(|line| line.select_type == "PRIMARY");
        outer.for_each(|line| line.select_type = "SIMPLE".to_owned());
    }
    describer.lines
}

/// A subquery of a semi join whose rows are kept.
const MATERIALIZED: &str = "MATERIALIZED";

/// The tables of a materialized subquery.
struct Below<'p> {
    source: &'p RowSource,
    /// It is looked up by an anti join.
    anti: bool,
}

struct Describer<'p> {
    plan: &'p StatementPlan,
    settings: EvalSettings<'p>,
    lines: Vec<Line>,
    numbers: Numbers,
    /// Parts that have lines, and the number of their first SELECT.
    ids: Vec<(usize, usize)>,
    /// Materialized subqueries that come below, with their numbers.
    materialized: Vec<(Below<'p>, usize)>,
    /// Subplans whose values a comparison could look for.
    sought: Vec<usize>,
    /// What columns of materialized subqueries that are read first are called.
    renamed: Vec<(String, String)>,
}

impl<'p> Describer<'p> {
    fn query(&mut self, query: &'p QueryPlan, select_type: &str) -> usize {
        self.body(&query.body, select_type, Some(query))
    }

    /// Describes a body; returns its first SELECT's number.
    fn body(&mut self, body: &'p Body, select_type: &str, query: Option<&'p QueryPlan>) -> usize {
        match body {
            Body::Select(select) => self.select(select, select_type, query),
            Body::Nested(query) => self.query(query, select_type),
            Body::Values(_) => {
                let id = self.numbers.id(0);
                self.lines.push(Line {
                    id: Some(id),
                    select_type: select_type.to_owned(),
                    extra: vec!["No tables used"],
                    ..Line::default()
                });
                id
            }
            Body::SetOperation(set) => self.set_operation(set, select_type, query),
        }
    }

    fn set_operation(
        &mut self,
        set: &'p SetPlan,
        select_type: &str,
        query: Option<&'p QueryPlan>,
    ) -> usize {
        let first = self.body(&set.first, select_type, None);
        let mut ids = vec![first];
        let (mut name, mut result) = ("UNION", "UNION RESULT");
        for step in &set.rest {
            (name, result) = match step.op {
                SetOp::Union => ("UNION", "UNION RESULT"),
                SetOp::Intersect => ("INTERSECT", "INTERSECT RESULT"),
                SetOp::Except => ("EXCEPT", "EXCEPT RESULT"),
            };
            ids.push(self.body(&step.body, name, None));
        }
        let sorted = query.is_some_and(|query| !query.order.is_empty());
        if sorted || set.rest.iter().any(|step| step.op != SetOp::Union || !step.all) {
            let numbers: Vec<String> = ids.iter().map(usize::to_string).collect();
            let mut extra = vec!["Using temporary"];
            if sorted {
                extra.push("Using filesort");
            }
            let id = self.numbers.id(set.number);
            self.lines.push(Line {
                id: Some(id),
                select_type: result.to_owned(),
                table: Some(format!("<{}{}>", name.to_lowercase(), numbers.join(","))),
                access: Some("ALL"),
                extra,
                ..Line::default()
            });
        }
        first
    }

    fn select(
        &mut self,
        select: &'p SelectPlan,
        select_type: &str,
        query: Option<&'p QueryPlan>,
    ) -> usize {
        let id = self.numbers.id(select.number);
        let blank = Line { id: Some(id), select_type: select_type.to_owned(), ..Line::default() };
        let at = self.lines.len();
        let mut subplans = Vec::new();
        // A SELECT that reads no table has one line, whose Extra says why.
        let never = select.once.iter().any(|e| e.as_literal().is_some_and(is_never));
        let unwanted = select.having.as_ref().and_then(Expr::as_literal).is_some_and(is_never);
        let limit = query.filter(|query| !query.count_found_rows);
        let limit = limit.and_then(|query| query.limit.as_ref());
        let none = limit.and_then(|limit| limit.count.as_literal()).is_some_and(is_never);
        if unwanted || none && !never {
            let reason = if unwanted { "Impossible HAVING" } else { "Zero limit" };
            self.lines.push(Line { extra: vec![reason], ..blank });
        } else if never {
            self.lines.push(Line { extra: vec!["Impossible WHERE"], ..blank });
        } else if select.extrema().is_some() {
            self.lines.push(Line { extra: vec!["Select tables optimized away"], ..blank });
        } else if matches!(select.source, RowSource::One) {
            self.lines.push(Line { extra: vec!["No tables used"], ..blank });
        } else {
            self.source(&select.source, &blank, None, &mut subplans);
            self.show_above(select, query, at);
        }
        each_subquery(select, &mut |sub, _| {
            let equal =
                matches!(sub.kind, SubqueryKind::Quantified { op: CmpOp::Eq | CmpOp::Ne, .. });
            // MySQL asks with each row where nothing has to be read.
            let unread = match &self.plan.subplans[sub.id].query.body {
                Body::Select(select) => select.extrema().is_some(),
                _ => false,
            };
            let kind = if equal && unread && !sub.correlated { "DEPENDENT " } else { "" };
            if !subplans.iter().any(|(id, _)| *id == sub.id) {
                subplans.push((sub.id, format!("{kind}SUBQUERY")));
            }
            if equal && !sub.correlated {
                self.sought.push(sub.id);
            }
        });
        // Subplans come below the SELECT's own lines. Their numbers are known only then and replace
        // the placeholders in those lines.
        self.materialized_below(select, &mut subplans);
        // The last ones in the text come first.
        subplans.sort_by_key(|(id, _)| {
            Reverse(self.numbers.of_first(&self.plan.subplans[*id].query.body))
        });
        for (subplan, kind) in subplans {
            self.subplan(subplan, &kind, at);
        }
        id
    }

    /// Adds what is done with rows to the lines of a SELECT's tables, which begin at a place.
    fn show_above(&mut self, select: &SelectPlan, query: Option<&QueryPlan>, at: usize) {
        let grouped = select.aggregation.as_ref().is_some_and(|a| !a.group.is_empty());
        let columns = GroupedColumns::of(select);
        let in_order = columns.as_ref().is_some_and(|columns| columns.come_in_order(select));
        let in_order = in_order && (grouped || !matches!(select.source, RowSource::Join(_)));
        let sorted = query.is_some_and(|query| !query.order.is_empty());
        // MySQL notes temporary tables and sorting on the first table of the join.
        show_behind(&select.source, &select.filter, &mut self.lines[at..]);
        let constants = show_constants(&select.source, &mut self.lines[at..]);
        let first = if at + constants < self.lines.len() { at + constants } else { at };
        if let Some(line) = self.lines.get_mut(first) {
            // MySQL sorts groups in a table, and keeps different rows there beside a LIMIT.
            let limited = query.is_some_and(|query| query.limit.is_some()) && !select.ordered;
            let kept = sorted || limited && select.distinct;
            let members = line.select_type == MATERIALIZED;
            let by_table = sorted && !grouped && !select.distinct && sorts_joined(select, query);
            let strategy = take_strategy(line);
            // Rows are sorted for WITH ROLLUP, those of the first table before they are joined.
            let rolled = select.aggregation.as_ref().is_some_and(|groups| groups.rollup);
            let sorts_rows = rolled && !in_order && !members;
            let first_single = sorts_rows && !sorted && is_first(columns.as_ref(), select);
            let collects = (grouped || select.distinct) && (!in_order || kept) && !members;
            if collects && !first_single || by_table {
                line.extra.push("Using temporary");
            }
            if !select.windows.is_empty() {
                show_windows(select, line);
            }
            let begins = || columns.as_ref().is_some_and(|columns| columns.begin_the_key());
            show_order(select, line, grouped && in_order && begins());
            let limit = query.and_then(|query| query.limit.as_ref());
            let covers = || matches!(&select.source, RowSource::Table(t) if t.access.covering);
            if select.ordered && !select.distinct && (!grouped || covers()) {
                show_limit(select, limit, line, self.settings);
            }
            if (sorted || sorts_rows) && !line.extra.contains(&"Using filesort") {
                line.extra.push("Using filesort");
            }
            line.extra.extend(strategy);
        }
        if select.distinct && !grouped {
            show_distinct(select, &mut self.lines[at..]);
        }
        show_joins(&select.source, &mut self.lines[at..]);
        hide_conditions(&mut self.lines[at..at + constants]);
        if counts_all(select) {
            let lines = self.lines[at..].iter_mut();
            lines.for_each(|line| line.extra.retain(|part| *part != JOIN_BUFFER));
        }
        if let RowSource::Table(table) = &select.source
            && columns.is_none()
            && table.access.is_unbounded()
            && let Some(line) = self.lines.get_mut(at)
        {
            add_skipping(line, table, Some(self.settings));
        }
        if let Some(columns) = columns {
            columns.add_keys(&mut self.lines[at..]);
        }
    }

    /// Describes a subplan once, below the SELECT that uses it first.
    fn subplan(&mut self, id: usize, kind: &str, from: usize) {
        let known = self.ids.iter().find(|(subplan, _)| *subplan == id).map(|(_, number)| *number);
        let number = known.unwrap_or_else(|| {
            let subplan = &self.plan.subplans[id];
            let kind = match (subplan.correlated, kind) {
                (true, kind) => format!("DEPENDENT {kind}"),
                (false, kind) => kind.to_owned(),
            };
            self.ids.push((id, self.numbers.of_first(&subplan.query.body)));
            let at = self.lines.len();
            let number = self.query(&subplan.query, &kind);
            if subplan.asked
                && let Body::Select(select) = &subplan.query.body
            {
                show_asked(select, &mut self.lines[at..]);
            }
            if self.sought.contains(&id)
                && let Body::Select(select) = &subplan.query.body
                && select.aggregation.is_none()
            {
                show_sought(select, &mut self.lines[at..]);
            }
            if let Some(recursive) = &subplan.recursive {
                let at = self.lines.len();
                self.query(&recursive.step, "UNION");
                if let Some(line) = self.lines.get_mut(at) {
                    line.extra.insert(0, "Recursive");
                }
            }
            number
        });
        let placeholder = format!("<subplan{id}>");
        let name = if kind == MATERIALIZED { "subquery" } else { "derived" };
        for line in self.lines[from..].iter_mut() {
            if line.table.as_ref() == Some(&placeholder) {
                line.table = Some(format!("<{name}{number}>"));
            }
            if let Some(reference) = &mut line.reference {
                let own = format!("<subquery {}>", id + 2);
                *reference = reference.replace(&own, &format!("<{name}{number}>"));
            }
        }
    }

    fn source(
        &mut self,
        source: &'p RowSource,
        blank: &Line,
        join: Option<&JoinPlan>,
        subplans: &mut Vec<(usize, String)>,
    ) {
        match source {
            RowSource::One | RowSource::Nothing => {}
            RowSource::Table(table) => {
                self.lines.push(table_line(table, blank, join, Some(self.settings)));
            }
            // The subplan has no number yet: `subplan` replaces the placeholder.
            RowSource::Subplan { id, .. } if self.is_members(source) => {
                self.lines.push(materialized::members_line((*id, source), join, blank));
                subplans.push((*id, MATERIALIZED.to_owned()));
            }
            RowSource::Subplan { id, .. } => {
                let line = self.derived_line((*id, source), blank, join);
                self.lines.push(line);
                subplans.push((*id, "DERIVED".to_owned()));
            }
            RowSource::Virtual(table) => self.lines.push(Line {
                table: Some(table.alias.clone()),
                access: Some("ALL"),
                extra: if table.filter.is_empty() { vec![] } else { vec!["Using where"] },
                ..blank.clone()
            }),
            RowSource::JsonTable(table) => self.lines.push(json_table_line(table, blank)),
            RowSource::Dedup(dedup) => self.dedup(dedup, blank, join, subplans),
            // A join's method and conditions are shown on the line of its right member.
            RowSource::Join(inner) => {
                let [first, second] = inner.in_order();
                let from = self.lines.len();
                self.source(first, blank, join, subplans);
                if matches!(second, RowSource::One) {
                    return show_behind(first, &inner.on, &mut self.lines[from..]);
                }
                let at = self.lines.len();
                // The joins of a materialized subquery are one.
                let outer = blank.select_type != MATERIALIZED;
                if outer && inner.keeps_rows() {
                    let id = self.numbers.id(inner.nest.map_or(0, |nest| nest.number));
                    let anti = inner.kind == JoinType::Anti;
                    self.materialized.push((Below { source: &inner.right, anti }, id));
                    self.lines.push(materialized::lookup_line(inner, id, blank));
                    return;
                }
                self.source(second, blank, Some(inner), subplans);
                if inner.kind == JoinType::Left {
                    // What ON says leaves all rows to MySQL.
                    let lines = &mut self.lines[at..];
                    lines.iter_mut().for_each(|line| line.filtered = line.filtered.map(|_| 100.0));
                }
                let shown = inner.nest.is_some_and(|nest| nest.first_match);
                if inner.kind == JoinType::Semi && (outer || shown) {
                    self.show_first_match(at);
                }
                self.rename(at);
            }
        }
    }

    /// The line of a derived table. It has no number yet: [`Describer::subplan`] replaces what
    /// stands for it.
    fn derived_line(
        &self,
        (id, source): (usize, &RowSource),
        blank: &Line,
        join: Option<&JoinPlan>,
    ) -> Line {
        let RowSource::Subplan { filter, width, .. } = source else { return blank.clone() };
        let subplan = &self.plan.subplans[id];
        let rows = match &subplan.recursive {
            Some(recursive) => recursive_rows(&subplan.query, &recursive.step),
            None => derived_rows(&subplan.query),
        };
        let right = |join: &&JoinPlan| join.keyed && std::ptr::eq(&raw const join.right, source);
        let mut line = match join.filter(right) {
            Some(join) => {
                let distinct = materialized::is_distinct(subplan, join, *width);
                materialized::keyed_line(join, (rows, *width), distinct, blank)
            }
            None => materialized::scanned_derived(rows, (filter, join), blank),
        };
        if !filter.is_empty()
            && line.access != Some("system")
            && !line.extra.contains(&"Using where")
        {
            line.extra.insert(0, "Using where");
        }
        Line { table: Some(format!("<subplan{id}>")), ..line }
    }

    /// Whether a source has the rows of a semi join's subquery, made distinct.
    fn is_members(&self, source: &RowSource) -> bool {
        let RowSource::Subplan { id, unnested: true, .. } = source else { return false };
        match &self.plan.subplans[*id].query.body {
            Body::Select(select) => select.aggregation.is_none(),
            _ => false,
        }
    }

    /// Describes joins that give each row once.
    fn dedup(
        &mut self,
        dedup: &'p DedupSource,
        blank: &Line,
        join: Option<&JoinPlan>,
        subplans: &mut Vec<(usize, String)>,
    ) {
        let at = self.lines.len();
        if let DedupStrategy::Materialize(number) = dedup.strategy {
            let id = self.numbers.id(number);
            self.lines.push(materialized::scanned_line(id, join, blank));
            self.materialized.push((Below { source: &dedup.source, anti: false }, id));
            for (_, value) in dedup.values() {
                if let ExprKind::Column { name, .. } = &value.kind {
                    let name = name.replace('`', "");
                    let column = name.rsplit('.').next().unwrap_or(&name);
                    self.renamed.push((name.clone(), format!("<subquery{id}>.{column}")));
                }
            }
            return;
        }
        self.source(&dedup.source, blank, join, subplans);
        let first = match dedup.strategy {
            DedupStrategy::Weedout(begins) => at + begins,
            _ => at,
        };
        let (first, last) = (self.lines.get(first).map(|_| first), self.lines.len() - 1);
        let Some(first) = first else { return };
        match dedup.strategy {
            DedupStrategy::Weedout(_) => {
                add_strategy(&mut self.lines[first], "Start temporary");
                add_strategy(&mut self.lines[last], "End temporary");
            }
            DedupStrategy::LooseScan => {
                let line = &mut self.lines[first];
                add_strategy(line, "LooseScan");
                let share = dedup.rows / line.rows.unwrap_or(1).max(1) as f64;
                line.filtered = line.filtered.map(|filtered| filtered * share.min(1.0));
            }
            _ => add_strategy(&mut self.lines[last], FIRST_MATCH),
        }
    }

    /// Calls columns of materialized subqueries what they are called, in the lines from a place on.
    fn rename(&mut self, at: usize) {
        for line in &mut self.lines[at..] {
            let Some(reference) = &mut line.reference else { continue };
            let parts = reference.split(',').map(|part| {
                let known = self.renamed.iter().find(|(name, _)| name == part);
                known.map_or(part, |(_, name)| name)
            });
            *reference = parts.collect::<Vec<_>>().join(",");
        }
    }

    /// Describes materialized subqueries below the lines of the SELECT.
    fn materialized_below(&mut self, select: &'p SelectPlan, subplans: &mut Vec<(usize, String)>) {
        self.renamed.clear();
        for (Below { source, anti }, id) in std::mem::take(&mut self.materialized) {
            let select_type = MATERIALIZED.to_owned();
            let blank = Line { id: Some(id), select_type, ..Line::default() };
            let at = self.lines.len();
            self.source(source, &blank, None, subplans);
            if !anti {
                show_joins(source, &mut self.lines[at..]);
            }
            show_possible(&select.source, &mut self.lines[at..]);
            if anti {
                self.lines[at..].iter_mut().for_each(|line| line.filtered = Some(100.0));
            }
        }
    }

    /// Notes a semi join, whose right side has the lines from a place on, on the last of them.
    fn show_first_match(&mut self, at: usize) {
        let table = at.checked_sub(1).and_then(|before| self.lines[before].table.clone());
        let Some(line) = self.lines[at..].last_mut() else { return };
        add_strategy(line, FIRST_MATCH);
        // The number of a derived table is not known yet.
        line.first_match = table.filter(|name| !name.starts_with("<subplan"));
    }
}

/// Whether groups are those of the table that is read first.
fn is_first(columns: Option<&GroupedColumns<'_>>, select: &SelectPlan) -> bool {
    columns.is_some_and(|columns| columns.are_of_first(select))
}

/// Adds how a semi join is executed, which stands before how rows are buffered.
pub(super) fn add_strategy(line: &mut Line, strategy: &'static str) {
    let buffer = line.extra.iter().position(|part| *part == JOIN_BUFFER);
    line.extra.insert(buffer.unwrap_or(line.extra.len()), strategy);
}

/// Calls the lookup of a single table by the values of IN what MySQL calls it.
fn show_asked(select: &SelectPlan, lines: &mut [Line]) {
    let (RowSource::Table(_), Some(line)) = (&select.source, lines.first_mut()) else { return };
    let parts = || line.reference.iter().flat_map(|reference| reference.split(','));
    // Index lookups by what the subquery itself reads around it are none of IN.
    if parts().any(|part| part != "func" && part != "const") || !parts().any(|part| part == "func")
    {
        return;
    }
    line.access = match line.access {
        Some("eq_ref") => Some("unique_subquery"),
        Some("ref") => Some("index_subquery"),
        other => other,
    };
}

/// Takes off a line how a semi join begins there.
pub(super) fn take_strategy(line: &mut Line) -> Vec<&'static str> {
    const STRATEGIES: [&str; 4] = ["Start temporary", "End temporary", "LooseScan", FIRST_MATCH];
    line.extra.extract_if(.., |part| STRATEGIES.contains(part)).collect()
}

/// A semi join that is executed as a join.
const FIRST_MATCH: &str = "FirstMatch";
/// A hash join.
pub(super) const JOIN_BUFFER: &str = "Using join buffer (hash join)";

/// Gives each subquery of a SELECT's expressions to `visit`, and whether it is part of what is
/// selected.
pub(super) fn each_subquery(select: &SelectPlan, visit: &mut dyn FnMut(&Subquery, bool)) {
    let mut visit = |expr: &Expr, selected: bool| {
        expr.walk(&mut |node| {
            if let ExprKind::Subquery(sub) = &node.kind {
                visit(sub, selected);
            }
        });
    };
    select.output.iter().for_each(|expr| visit(expr, true));
    let mut condition = |expr: &Expr| visit(expr, false);
    select.once.iter().chain(&select.filter).for_each(&mut condition);
    select.having.iter().for_each(&mut condition);
    if let Some(aggregation) = &select.aggregation {
        aggregation.group.iter().for_each(&mut condition);
        aggregation.calls.iter().flat_map(|call| &call.args).for_each(&mut condition);
    }
    each_condition(&select.source, &mut condition);
}

/// Whether a condition with this value is never true.
pub(super) fn is_never(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Int(0) | Value::UInt(0))
}

fn each_condition(source: &RowSource, visit: &mut dyn FnMut(&Expr)) {
    match source {
        RowSource::One | RowSource::Nothing => {}
        RowSource::Table(table) => {
            table.filter.iter().chain(&table.bound_filter).for_each(&mut *visit);
        }
        RowSource::Subplan { filter, .. } => filter.iter().for_each(&mut *visit),
        RowSource::Virtual(table) => table.filter.iter().for_each(&mut *visit),
        RowSource::JsonTable(table) => {
            visit(&table.document);
            table.filter.iter().for_each(&mut *visit);
        }
        RowSource::Dedup(dedup) => {
            dedup.values().iter().for_each(|(_, value)| visit(value));
            each_condition(&dedup.source, visit);
        }
        RowSource::Join(join) => {
            each_condition(&join.left, visit);
            each_condition(&join.right, visit);
            join.on.iter().for_each(&mut *visit);
        }
    }
}

/// Adds what a join means for its right member, in MySQL's order.
pub(super) fn join_extra(join: Option<&JoinPlan>, extra: &mut Vec<&'static str>) {
    let Some(join) = join else { return };
    let keys = match &join.method {
        JoinMethod::Hash(keys) => keys.len(),
        JoinMethod::NestedLoop => 0,
    };
    let mut conditions = usize::from(extra.first() == Some(&"Using index condition"));
    let checks = keys > 0 || !join.on.is_empty() || join.kind == JoinType::Anti;
    if checks && !extra.contains(&"Using where") {
        extra.insert(conditions, "Using where");
    }
    conditions += usize::from(extra.get(conditions) == Some(&"Using where"));
    if join.kind == JoinType::Anti {
        extra.insert(conditions, "Not exists");
    }
    if matches!(join.method, JoinMethod::Hash(_)) {
        extra.push(JOIN_BUFFER);
    }
}

pub(super) fn table_line(
    source: &TableSource,
    blank: &Line,
    join: Option<&JoinPlan>,
    settings: Option<EvalSettings<'_>>,
) -> Line {
    let def = &source.table.def;
    let path = &source.access;
    let bounded = !path.is_unbounded();
    if let Some(search) = path.search() {
        return search_line(source, search, blank, join, settings);
    }
    if let Some(merge) = path.merge() {
        return merge_line(source, merge, blank, join, settings);
    }
    if let Some(skip) = path.skip() {
        return skip_line(source, skip, blank, join, settings);
    }
    if source.table.is_small() && seeks_columns(path) {
        return checked_line(source, blank, join, settings);
    }
    let index = path.index.map(|index| &def.indexes[index]);
    let secondary = index.is_some_and(|index| !index.clustered);
    // A scan that reads key columns alone is one of the index in MySQL.
    let shown = |index: &&IndexDef| secondary || path.backward || has_all(index, source);
    let named = index.filter(|index| bounded || shown(index));
    let range = is_range(path);
    // In MySQL what reads a functional key part reads the columns of its expression.
    let computes = reads_hidden(source);
    let covering = path.covering && !computes;
    let mut extra = Vec::new();
    let pushed = |condition: &Expr| named.is_some() && is_pushed(source, condition);
    let by_entries = secondary && bounded && !path.covering && !computes;
    let of_entries = by_entries
        && index.is_some_and(|index| index.kind.has_keys())
        && checks_entries(source, settings);
    if of_entries && (range || seeks_null(path) || source.filter.iter().any(pushed)) {
        extra.push("Using index condition");
    } else if range || ((computes || by_entries) && seeks_null(path)) {
        extra.push("Using where");
    }
    let checked = source.filter.iter().any(|condition| !of_entries || !pushed(condition));
    if checked && !extra.contains(&"Using where") {
        extra.push("Using where");
    }
    // A computed value is compared again.
    if !checked && join.is_some() && !covering && computes_key(path) {
        extra.push(if by_entries { "Using index condition" } else { "Using where" });
    }
    extra.extend(path.backward.then_some("Backward index scan"));
    if covering || named.is_some_and(|index| has_all(index, source)) {
        extra.push("Using index");
    }
    join_extra(join, &mut extra);
    Line {
        table: Some(source.alias.clone()),
        partitions: settings.and_then(|settings| partitions_read(source, settings)),
        access: Some(access_name(path, index, named.is_some())),
        possible_keys: possible_keys(source, named.filter(|_| bounded), settings),
        converted: converted_keys(source),
        key: named.map(|index| index.name.clone()),
        key_parts: named.map_or_else(Vec::new, |index| used_parts(path, index, def)),
        key_len: named.map(|index| def.key_length(index, used(path, index)).to_string()),
        reference: reference(path).filter(|_| !range),
        rows: Some(source.rows.max(1.0) as u64),
        filtered: Some(filtered(source, join, settings)),
        extra,
        ..blank.clone()
    }
}

/// Whether conditions on entries of the index are checked before rows are looked up, as far as
/// NO_ICP and `optimizer_switch` say.
fn checks_entries(source: &TableSource, settings: Option<EvalSettings<'_>>) -> bool {
    let index = source.access.index.unwrap_or_default();
    let hinted = source.hinted.as_ref();
    if source.table.def.is_merged() {
        return false;
    }
    let off = |settings| is_switched_off(settings, "index_condition_pushdown");
    !hinted.is_some_and(|hinted| hinted.no_pushdown.contains(&index)) && !settings.is_some_and(off)
}

/// The names of the partitions that are read, as far as constants say.
pub(super) fn partitions_read(source: &TableSource, settings: EvalSettings<'_>) -> Option<String> {
    let by = source.table.def.partitioning.as_ref()?;
    let EvalSettings { env, host } = settings;
    let leaves = partitions::leaves_of_constants(&source.table, &source.access, env, host);
    let names: Vec<String> = leaves.into_iter().map(|leaf| by.shown(leaf)).collect();
    Some(names.join(",")).filter(|names| !names.is_empty())
}

/// Whether entries of the path's index have all columns that a condition reads, so that rows for
/// which it is false are not looked up.
fn is_pushed(source: &TableSource, condition: &Expr) -> bool {
    let Some(index) = source.access.index else { return false };
    let codec = &source.table.indexes[index].codec;
    let own = source.base..source.base + source.needed.len();
    let mut simple = true;
    condition.walk(&mut |node| {
        simple &= !matches!(node.kind, ExprKind::Subquery(_) | ExprKind::Stored(_));
    });
    let slots = slots_of(condition).slots;
    let mut read = slots.iter().filter(|slot| own.contains(slot)).peekable();
    simple && read.peek().is_some() && read.all(|slot| codec.covers(slot - source.base))
}

/// Whether the key of the clustered index has all that is read.
fn has_all(index: &IndexDef, source: &TableSource) -> bool {
    let has = |column: usize| index.parts.iter().any(|part| part.column == column);
    let mut needed = source.needed.iter().enumerate();
    index.clustered && needed.all(|(column, needed)| !needed || has(column))
}

/// Whether the statement reads a hidden column.
fn reads_hidden(source: &TableSource) -> bool {
    let columns = source.table.def.columns.iter().zip(&source.needed);
    columns.into_iter().any(|(column, needed)| *needed && column.is_hidden())
}

/// Whether a part of the key is to be NULL.
fn seeks_null(path: &AccessPath) -> bool {
    let null = |part: &EqualPart| match part {
        EqualPart::NullSafe(value) => value.as_literal() == Some(&Value::Null),
        EqualPart::Value(_) | EqualPart::AnyOf(_) => false,
    };
    path.equal.iter().any(null)
}

/// Whether a part of the key equals what is computed from columns of other tables, or NULL as well.
fn computes_key(path: &AccessPath) -> bool {
    let reads = |value: &Expr| slots_of(value).slots != SlotSet::default();
    path.equal.iter().any(|part| match part {
        EqualPart::Value(value) => reads(value) && !matches!(value.kind, ExprKind::Column { .. }),
        EqualPart::NullSafe(value) => reads(value),
        EqualPart::AnyOf(_) => false,
    })
}

fn is_range(path: &AccessPath) -> bool {
    let any_of = |part: &EqualPart| matches!(part, EqualPart::AnyOf(_));
    !path.intervals.is_empty() || path.ranges().is_some() || path.equal.iter().any(any_of)
}

fn access_name(path: &AccessPath, index: Option<&IndexDef>, by_index: bool) -> &'static str {
    let constant = path.own_exprs().all(Expr::is_constant_in_statement);
    let whole = index.is_some_and(|i| i.unique() && i.parts.len() == path.equal.len());
    match (path.equal.is_empty(), whole && path.point) {
        _ if is_range(path) => "range",
        (false, true) if constant => "const",
        (false, true) => "eq_ref",
        (false, false) => "ref",
        (true, _) if by_index => "index",
        (true, _) => "ALL",
    }
}

/// What the equal parts are compared with.
fn reference(path: &AccessPath) -> Option<String> {
    if path.equal.is_empty() {
        return None;
    }
    let name = |part: &EqualPart| match part {
        EqualPart::Value(expr) | EqualPart::NullSafe(expr) => compared_with(expr),
        EqualPart::AnyOf(_) => "const".to_owned(),
    };
    let names: Vec<String> = path.equal.iter().map(name).collect();
    Some(names.join(","))
}

/// What a part of an index is compared with, as column `ref` names it.
pub(super) fn compared_with(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::OuterColumn { name, .. } if name.starts_with("<cache>") => "func".to_owned(),
        ExprKind::Column { name, .. } | ExprKind::OuterColumn { name, .. } => name.replace('`', ""),
        ExprKind::Subquery(sub) if !sub.correlated => "const".to_owned(),
        _ if expr.is_constant_in_statement() => "const".to_owned(),
        _ => "func".to_owned(),
    }
}

/// The indexes that conditions of the table bound, in the order of their definition.
pub(super) fn possible_keys(
    source: &TableSource,
    chosen: Option<&IndexDef>,
    settings: Option<EvalSettings<'_>>,
) -> Option<String> {
    let conditions: Vec<Expr> = source.bound_filter.iter().chain(&source.filter).cloned().collect();
    let (request, filled) = request_of(source, &conditions, settings);
    // Those that hints let be read by no ranges are possible, too.
    let hinted = source.hinted.as_deref().cloned();
    let hinted = hinted.map(|hinted| HintedIndexes { no_ranges: Vec::new(), ..hinted });
    let request = Request { hinted: hinted.as_ref(), ..request };
    let mut names: Vec<&str> = Vec::new();
    // So is the index whose rows are all read.
    let read = match source.access.is_unbounded() {
        true => AccessPath::all(false),
        false => source.access.clone(),
    };
    let rejected = rejected_indexes(&request, &conditions, &filled, &read);
    let mut branches = branch_indexes(&request, &conditions, &filled);
    let merged = source.access.merge().into_iter().flat_map(|merge| &merge.parts);
    branches.extend(merged.filter_map(|part| part.index));
    for (position, index) in source.table.def.indexes.iter().enumerate() {
        let bounds = |other: &RejectedIndex| {
            other.key == index.name
                && other.path.as_ref().is_some_and(|(path, _)| !path.is_unbounded())
        };
        let is_chosen = chosen.is_some_and(|chosen| chosen.name == index.name);
        let bounded = branches.contains(&position) || rejected.iter().any(bounds);
        if is_chosen || bounded || is_converted(source, index, &conditions) {
            names.push(&index.name);
        }
    }
    (!names.is_empty()).then(|| names.join(","))
}

/// How a table's indexes are looked at beside those conditions, and the slots that are filled
/// before it.
pub(super) fn request_of<'r>(
    source: &'r TableSource,
    conditions: &[Expr],
    settings: Option<EvalSettings<'r>>,
) -> (Request<'r>, SlotSet) {
    let request = Request {
        table: &source.table,
        base: source.base,
        needed: source.needed.clone(),
        allowed: source.hinted.as_ref().and_then(|hinted| hinted.lookup.as_ref()),
        hinted: source.hinted.as_deref(),
        measure: settings,
        scan_cost: 1.0,
        extremes: false,
        merging: MergeRules::default(),
    };
    // The conditions of a table read slots that are filled before it, and its own.
    let mut filled = SlotSet::default();
    for condition in conditions {
        filled = filled.union(&slots_of(condition).slots);
    }
    let own = source.base..source.base + source.needed.len();
    (request, filled.minus(&SlotSet::of_range(own)))
}

/// The columns of the index's parts that the path uses.
pub(super) fn used_parts(path: &AccessPath, index: &IndexDef, def: &TableDef) -> Vec<String> {
    let parts = (0..used(path, index)).map_while(|at| def.key_part(index, at));
    parts.map(|part| def.columns[part.column].shown_name().to_owned()).collect()
}

/// How many parts of the index the path uses.
pub(super) fn used(path: &AccessPath, index: &IndexDef) -> usize {
    if let Some(paths) = path.ranges() {
        return paths.iter().map(|path| used(path, index)).max().unwrap_or_default();
    }
    if let Some(skip) = path.skip() {
        return skip.used();
    }
    let bounded = path.equal.len() + usize::from(!path.intervals.is_empty());
    if bounded == 0 { index.parts.len() } else { bounded }
}
