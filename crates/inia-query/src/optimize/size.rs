//! How many rows a planned query is expected to have, for the queries that read it.

use crate::access;
use crate::plan::{Body, QueryPlan, RowSource, SelectPlan};
use inia_base::value::Value;
use inia_expr::Expr;

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

fn number(expr: &Expr) -> Option<f64> {
    match expr.as_literal() {
        Some(Value::Int(n)) => Some(*n as f64),
        Some(Value::UInt(n)) => Some(*n as f64),
        _ => None,
    }
}

fn of_body(body: &Body) -> f64 {
    match body {
        Body::Select(select) => of_select(select),
        Body::Values(values) => values.rows.len() as f64,
        Body::SetOperation(set) => {
            of_body(&set.first) + set.rest.iter().map(|step| of_body(&step.body)).sum::<f64>()
        }
        Body::Nested(query) => expected_rows(query),
    }
}

fn of_select(select: &SelectPlan) -> f64 {
    let rows = of_source(&select.source) * kept(select.filter.len());
    let groups = (rows / ROWS_IN_GROUP).max(rows.min(ROWS_IN_GROUP));
    let rows = match &select.aggregation {
        Some(aggregation) if aggregation.group.is_empty() => 1.0,
        Some(_) => groups,
        None if select.distinct => groups,
        None => rows,
    };
    rows * kept(usize::from(select.having.is_some()))
}

fn of_source(source: &RowSource) -> f64 {
    match source {
        RowSource::One => 1.0,
        RowSource::Nothing => 0.0,
        RowSource::Table(source) => {
            source.rows * access::kept_by_all(&source.filter, &source.table, source.base)
        }
        RowSource::Subplan { .. } | RowSource::Virtual(_) | RowSource::JsonTable(_) => UNKNOWN_ROWS,
        RowSource::Join(join) => join.rows,
    }
}

/// The share of rows that so many conditions keep.
fn kept(conditions: usize) -> f64 {
    FILTER_KEEPS.powi(i32::try_from(conditions).unwrap_or(i32::MAX))
}
