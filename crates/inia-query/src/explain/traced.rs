//! What the optimizer decided, as a trace in MySQL's frame (`information_schema.OPTIMIZER_TRACE`).
//!
//! A trace has the query with its names resolved, what became of its condition, and for each table
//! of the outermost SELECT, in the order in which they are read, the paths that were considered:
//!
//! ```text
//!   { "steps": [ { "join_preparation": { "select#": 1, "steps": [ { "expanded_query": "…" } ] } },
//!     { "join_optimization": { "select#": 1, "steps": [ { "condition_processing": { … } },
//!       { "considered_execution_plans": [ { "table": "`t`", "best_access_path": { … } } ] } ] } },
//!     { "join_execution": { "select#": 1, "steps": [] } } ] }
//! ```

use super::estimate::{Estimate, Estimator, scan};
use super::json::{Json, Object, conditions, digits, text, write, write_line};
use super::line::{Line, request_of, table_line};
use crate::access::{AccessPath, EvalSettings, rejected_indexes};
use crate::optimize::path_cost;
use crate::plan::{Body, RowSource, StatementPlan, TableSource};
use inia_expr::{Environment, Expr, SessionHost};
use inia_parser::quote_name;

/// What the trace of a statement shows beside its plan.
#[derive(Clone, Debug, Default)]
pub struct TracedTexts {
    /// The statement with its names resolved.
    pub expanded: Option<String>,
    /// WHERE as it was written, with its names resolved.
    pub condition: Option<String>,
    /// WHERE as it was rewritten.
    pub rewritten: Option<String>,
}

/// The trace of a query, or of the query that finds a change's rows; without a plan nothing was
/// decided. `one_line` writes it without line breaks.
pub fn print_trace(
    plan: Option<&StatementPlan>,
    texts: &TracedTexts,
    (env, host): (&Environment, &dyn SessionHost),
    one_line: bool,
) -> String {
    let step = |name, steps: Vec<Json>| {
        let members = vec![("select#", Json::Number(1)), ("steps", Json::List(steps))];
        Json::Object(vec![(name, Json::Object(members))])
    };
    let mut steps = Vec::new();
    if let Some(plan) = plan {
        let expanded = texts.expanded.iter();
        let expanded = expanded.map(|query| Json::Object(vec![("expanded_query", text(query))]));
        steps.push(step("join_preparation", expanded.collect()));
        steps.push(step("join_optimization", decisions(plan, texts, EvalSettings { env, host })));
        steps.push(step("join_execution", Vec::new()));
    }
    let trace = Json::Object(vec![("steps", Json::List(steps))]);
    let mut out = String::new();
    match one_line {
        true => write_line(&trace, &mut out),
        false => write(&trace, 0, &mut out),
    }
    out
}

fn decisions(plan: &StatementPlan, texts: &TracedTexts, settings: EvalSettings<'_>) -> Vec<Json> {
    let mut steps = Vec::new();
    if let Some(condition) = &texts.condition {
        let mut done = Vec::new();
        if let Some(rewritten) = &texts.rewritten {
            done.push(Json::Object(vec![
                ("transformation", text("trivial_condition_removal")),
                ("resulting_condition", text(rewritten)),
            ]));
        }
        let members = vec![
            ("condition", text("WHERE")),
            ("original_condition", text(condition)),
            ("steps", Json::List(done)),
        ];
        steps.push(Json::Object(vec![("condition_processing", Json::Object(members))]));
    }
    let Body::Select(select) = &plan.root.body else { return steps };
    let mut tables = Vec::new();
    leaves(&select.source, &mut tables);
    if tables.is_empty() {
        return steps;
    }
    let mut list = |name, show: &dyn Fn(&RowSource) -> Option<Object>| {
        let shown = tables.iter().filter_map(|source| show(source)).map(Json::Object);
        steps.push(Json::Object(vec![(name, Json::List(shown.collect()))]));
    };
    let named = |source: &RowSource| Some(vec![("table", text(name_of(source)?))]);
    list("table_dependencies", &named);
    list("rows_estimation", &|source| {
        let mut members = named(source)?;
        if let RowSource::Table(table) = source {
            members.push(("table_scan", whole(table)));
        }
        Some(members)
    });
    let estimator = Estimator::new(plan);
    list("considered_execution_plans", &|source| {
        let mut members = named(source)?;
        let kept = estimator.source(source);
        if let RowSource::Table(table) = source {
            let paths = Json::List(considered(table, settings));
            let best = vec![("considered_access_paths", paths)];
            members.push(("best_access_path", Json::Object(best)));
        }
        members.push(("rows_for_plan", Json::Number(kept.shown_rows())));
        members.push(("cost_for_plan", digits(kept.shown_cost())));
        members.push(("chosen", Json::Flag(true)));
        Some(members)
    });
    list("attaching_conditions_to_tables", &|source| {
        let mut members = named(source)?;
        if let RowSource::Table(table) = source {
            let all = attached(table);
            if !all.is_empty() {
                members.push(("attached", text(conditions(&all))));
            }
        }
        Some(members)
    });
    steps
}

/// The members of FROM, in the order in which they are read.
fn leaves<'s>(source: &'s RowSource, found: &mut Vec<&'s RowSource>) {
    match source {
        RowSource::One | RowSource::Nothing => {}
        RowSource::Dedup(dedup) => leaves(&dedup.source, found),
        RowSource::Join(join) => {
            leaves(&join.left, found);
            leaves(&join.right, found);
        }
        other => found.push(other),
    }
}

fn name_of(source: &RowSource) -> Option<String> {
    let alias = match source {
        RowSource::Table(table) => &table.alias,
        RowSource::Subplan { alias, .. } => alias,
        RowSource::Virtual(table) => &table.alias,
        RowSource::JsonTable(table) => &table.alias,
        RowSource::One | RowSource::Nothing | RowSource::Dedup(_) | RowSource::Join(_) => {
            return None;
        }
    };
    Some(quote_name(alias))
}

fn attached(table: &TableSource) -> Vec<Expr> {
    table.bound_filter.iter().chain(&table.filter).cloned().collect()
}

/// What reading the whole table would give and cost.
fn whole(table: &TableSource) -> Json {
    let rows = table.table.rows() as f64;
    let path = AccessPath::all(table.table.def.clustered_index().is_some());
    let estimate = Estimate { rows, cost: path_cost(&table.table, &path, rows) };
    Json::Object(vec![
        ("rows", Json::Number(estimate.shown_rows())),
        ("cost", digits(estimate.shown_cost())),
    ])
}

/// The path that was chosen, and those by the other indexes.
fn considered(table: &TableSource, settings: EvalSettings<'_>) -> Vec<Json> {
    let line = table_line(table, &Line::default(), None, Some(settings));
    let read = scan(table);
    let mut chosen = vec![("access_type", text(line.access.unwrap_or_default()))];
    chosen.extend(line.key.map(|key| ("index", text(key))));
    chosen.push(("rows", Json::Number(read.shown_rows())));
    chosen.push(("cost", digits(read.shown_cost())));
    chosen.push(("chosen", Json::Flag(true)));
    let all = attached(table);
    let (request, filled) = request_of(table, &all, Some(settings));
    let rejected = rejected_indexes(&request, &all, &filled, &table.access);
    let mut paths = vec![Json::Object(chosen)];
    for other in rejected {
        let mut members = vec![("index", text(other.key))];
        if let Some((path, rows)) = &other.path {
            let estimate = Estimate { rows: *rows, cost: path_cost(&table.table, path, *rows) };
            members.push(("rows", Json::Number(estimate.shown_rows())));
            members.push(("cost", digits(estimate.shown_cost())));
        }
        members.push(("chosen", Json::Flag(false)));
        members.push(("cause", text(other.cause)));
        paths.push(Json::Object(members));
    }
    paths
}
