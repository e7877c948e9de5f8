//! How many rows a planned query is expected to have, for the queries that read it.

use super::search::rows::distinct_of;
use crate::access::{self, Guess};
use crate::catalog::SMALL_TABLE;
use crate::plan::{Body, QueryPlan, RowSource, SelectPlan, TableSource};
use inia_base::value::Value;
use inia_expr::{Expr, ExprKind};

/// Rows that are expected of a subplan or a computed table of which nothing is known.
pub(crate) const UNKNOWN_ROWS: f64 = 100.0;
/// The share of rows that a condition is taken to keep.
const FILTER_KEEPS: f64 = 0.33;
/// How many rows are taken to be in a group.
const ROWS_IN_GROUP: f64 = 10.0;

/// Rows that a query is expected to have.
pub(crate) fn expected_rows(query: &QueryPlan) -> f64 {
    let rows = of_body(&query.body);
    match query.limit.as_ref().and_then(|limit| number(&limit.count)) {
        Some(limit) => rows.min(limit),
        None => rows,
    }
}

/// Rows that a derived table is expected to have: of small tables as many as MySQL expects, which
/// takes each row for a group, and all of them for those that HAVING wants.
pub(crate) fn derived_rows(query: &QueryPlan) -> f64 {
    let rows = of_derived(&query.body);
    match query.limit.as_ref().and_then(|limit| number(&limit.count)) {
        Some(limit) => rows.min(limit),
        None => rows,
    }
}

/// Rows that a recursive common table expression is expected to have: those of its first part, and
/// those of one more round, which reads two rows.
pub(crate) fn recursive_rows(first: &QueryPlan, step: &QueryPlan) -> f64 {
    let mut round = 2.0;
    step.for_each_source(&mut |source| {
        if let RowSource::Table(table) = source {
            round *= table.rows.max(1.0);
        }
    });
    derived_rows(first) + round
}

fn of_derived(body: &Body) -> f64 {
    match body {
        Body::Select(select) => match &select.source {
            RowSource::Table(_) | RowSource::Join(_) if is_small(&select.source) => {
                let skips = |table: &TableSource| table.access.skip().is_some();
                match (&select.aggregation, &select.source) {
                    (Some(groups), _) if groups.group.is_empty() => 1.0,
                    (_, RowSource::Table(table)) if skips(table) => table.rows,
                    (_, RowSource::Table(table)) => {
                        let sought = Vec::new();
                        let guess = Guess { table: &table.table, base: table.base, sought };
                        let kept = table.filter.iter().map(|condition| guess.kept(condition));
                        table.rows * kept.product::<f64>().max(guess.least())
                    }
                    (_, source) => of_source(source),
                }
            }
            _ => of_select(select),
        },
        Body::Values(_) => of_body(body),
        Body::SetOperation(set) => {
            of_derived(&set.first) + set.rest.iter().map(|step| of_derived(&step.body)).sum::<f64>()
        }
        Body::Nested(query) => derived_rows(query),
    }
}

fn number(expr: &Expr) -> Option<f64> {
    match expr.as_literal() {
        Some(Value::Int(n)) => Some(*n as f64),
        Some(Value::UInt(n)) => Some(*n as f64),
        _ => None,
    }
}

/// Rows of a body.
pub(crate) fn of_body(body: &Body) -> f64 {
    match body {
        Body::Select(select) => of_select(select),
        Body::Values(values) => values.rows.len() as f64,
        Body::SetOperation(set) => {
            of_body(&set.first) + set.rest.iter().map(|step| of_body(&step.body)).sum::<f64>()
        }
        Body::Nested(query) => expected_rows(query),
    }
}

/// Rows of a SELECT.
pub(crate) fn of_select(select: &SelectPlan) -> f64 {
    let rows = of_grouped(select);
    let rows = match &select.aggregation {
        None if select.distinct => groups(&select.source, &select.output[..select.visible], rows),
        _ => rows,
    };
    rows * kept(usize::from(select.having.is_some()))
}

/// Rows of a SELECT before HAVING and DISTINCT.
pub(crate) fn of_grouped(select: &SelectPlan) -> f64 {
    let rows = of_filtered(select);
    match &select.aggregation {
        Some(aggregation) if aggregation.group.is_empty() => 1.0,
        Some(aggregation) => groups(&select.source, &aggregation.group, rows),
        None => rows,
    }
}

/// Rows of a SELECT for which WHERE holds.
pub(crate) fn of_filtered(select: &SelectPlan) -> f64 {
    of_source(&select.source) * kept(select.filter.len())
}

/// How many combinations of values the keys have in so many rows.
fn groups(source: &RowSource, keys: &[Expr], rows: f64) -> f64 {
    let guessed = (rows / ROWS_IN_GROUP).max(rows.min(ROWS_IN_GROUP));
    let mut tables: Vec<(&TableSource, Vec<usize>)> = Vec::new();
    for key in keys {
        let ExprKind::Column { index, .. } = key.kind else { return guessed };
        let Some(table) = table_of(source, index) else { return guessed };
        let column = index - table.base;
        match tables.iter_mut().find(|(known, _)| std::ptr::eq(*known, table)) {
            Some((_, columns)) => columns.push(column),
            None => tables.push((table, vec![column])),
        }
    }
    let values = tables.iter().map(|(table, columns)| distinct_of(&table.table, columns).0);
    values.product::<f64>().min(rows)
}

/// The table whose column fills a slot.
fn table_of(source: &RowSource, slot: usize) -> Option<&TableSource> {
    match source {
        RowSource::Table(table) => {
            let columns = table.base..table.base + table.table.def.columns.len();
            columns.contains(&slot).then_some(table)
        }
        RowSource::Join(join) => table_of(&join.left, slot).or_else(|| table_of(&join.right, slot)),
        _ => None,
    }
}

/// Rows of a member of FROM or a join, after its conditions.
pub(crate) fn of_source(source: &RowSource) -> f64 {
    match source {
        RowSource::One => 1.0,
        RowSource::Nothing => 0.0,
        RowSource::Table(source) => {
            source.rows * access::kept_by_all(&source.filter, &source.table, source.base)
        }
        RowSource::Subplan { .. } | RowSource::Virtual(_) | RowSource::JsonTable(_) => UNKNOWN_ROWS,
        RowSource::Dedup(dedup) => dedup.rows,
        // Conditions that are checked behind a join.
        RowSource::Join(join) if matches!(join.right, RowSource::One) => {
            of_source(&join.left) * kept(join.on.len())
        }
        RowSource::Join(join) => join.rows,
    }
}

/// Whether all tables of a source have few rows.
pub(crate) fn is_small(source: &RowSource) -> bool {
    match source {
        RowSource::Table(table) => table.table.is_small(),
        RowSource::Join(join) => is_small(&join.left) && is_small(&join.right),
        RowSource::Dedup(dedup) => is_small(&dedup.source),
        other => of_source(other) < SMALL_TABLE as f64,
    }
}

/// The share of rows that so many conditions keep.
fn kept(conditions: usize) -> f64 {
    FILTER_KEEPS.powi(i32::try_from(conditions).unwrap_or(i32::MAX))
}
