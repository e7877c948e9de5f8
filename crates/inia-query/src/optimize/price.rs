//! What executing a planned query costs, in the unit of the join search: nanoseconds.
//!
//! The search compares joins of one FROM. Here whole plans are compared that differ in what a
//! subquery has become: one counts a subquery as often as it runs, the other the groups that are
//! made once.
//!
//! Example: `SELECT id FROM o WHERE x < (SELECT AVG(d) FROM l WHERE l.k = o.k)` with 1,000 rows in
//! `o` and 100,000 in `l`. With an index on `l.k` the subquery is 1,000 lookups of 100 rows each;
//! without one it is 1,000 scans of `l`, and one scan with its groups costs less.

use super::search::cost::{self, BUILD, HASH_SETUP, OUTPUT, PAIR};
use super::search::relation::path_cost;
use super::size::{expected_rows, of_filtered, of_source};
use crate::plan::{
    Aggregation, Body, GroupStrategy, JoinMethod, JoinPlan, JoinType, QueryPlan, RowSource,
    SelectPlan, Subplan, TableSource,
};
use inia_expr::tree::SubqueryKind;
use inia_expr::{Expr, ExprKind};
use std::cell::RefCell;

/// Running a subquery for one row, besides what it reads.
const RUN: f64 = 2_000.0;
/// Looking one row's value up among the rows of a subquery.
const SOUGHT: f64 = 150.0;
/// Adding a row to its group, by a hash table and by column vectors or stored cells.
const GROUP: f64 = 300.0;
const GROUP_CELLS: f64 = 30.0;
/// Subqueries that are in one another deeper than this count no more.
const MAX_DEPTH: usize = 8;

/// What a query costs whose subqueries and derived tables are `subplans`; `limit` is how many rows
/// are read of it.
pub(crate) fn price_of(query: &QueryPlan, subplans: &[Option<Subplan>], limit: Option<u64>) -> f64 {
    let once = RefCell::default();
    let subplan = |id: usize| subplans.get(id).and_then(Option::as_ref);
    let prices = Prices { subplans: &subplan, depth: 0, once: &once };
    let price = prices.query(query, limit.map(|limit| limit as f64));
    price + once.into_inner().price
}

/// The subqueries whose rows are kept in a hash table.
#[derive(Default)]
pub(crate) struct Once {
    known: Vec<usize>,
    /// What making their rows costs.
    price: f64,
}

/// Prices inside some subqueries.
#[derive(Clone, Copy)]
pub(crate) struct Prices<'p> {
    /// Subqueries and derived tables by number; `None` for one that is being bound.
    subplans: &'p dyn Fn(usize) -> Option<&'p Subplan>,
    depth: usize,
    once: &'p RefCell<Once>,
}

impl<'p> Prices<'p> {
    /// Prices in a plan with these subplans.
    pub(crate) fn of(
        subplans: &'p dyn Fn(usize) -> Option<&'p Subplan>,
        once: &'p RefCell<Once>,
    ) -> Prices<'p> {
        Prices { subplans, depth: 0, once }
    }

    /// What a query costs.
    pub(crate) fn query(self, query: &QueryPlan, limit: Option<f64>) -> f64 {
        let sorts = !query.order.is_empty();
        let price = self.body(&query.body, limit.filter(|_| !sorts));
        price + if sorts { cost::sort(expected_rows(query).max(1.0)) } else { 0.0 }
    }

    /// What a body costs.
    pub(crate) fn body(self, body: &Body, limit: Option<f64>) -> f64 {
        match body {
            Body::Select(select) => self.select(select, limit),
            Body::Values(values) => values.rows.len() as f64 * OUTPUT,
            Body::SetOperation(set) => {
                let rest = set.rest.iter().map(|step| self.body(&step.body, None));
                self.body(&set.first, None) + rest.sum::<f64>()
            }
            Body::Nested(query) => self.query(query, limit),
        }
    }

    /// What a SELECT costs.
    pub(crate) fn select(self, select: &SelectPlan, limit: Option<f64>) -> f64 {
        let rows = of_filtered(select).max(1.0);
        let streams = select.aggregation.is_none() && select.windows.is_empty();
        let share = match limit {
            Some(limit) if streams && !select.distinct => (limit / rows).min(1.0),
            _ => 1.0,
        };
        let source = self.filtered(select);
        let grouped = select.aggregation.as_ref().map_or(0.0, |groups| self.groups(groups, rows));
        let groups = match &select.aggregation {
            Some(aggregation) if aggregation.group.is_empty() => 1.0,
            Some(_) => (rows / 10.0).max(1.0),
            None => rows,
        };
        let output = groups * (OUTPUT + self.exprs(select.output.iter().chain(&select.having)));
        share * (source + grouped + output)
    }

    /// What the rows of a SELECT cost for which WHERE holds.
    pub(crate) fn filtered(self, select: &SelectPlan) -> f64 {
        let read = of_source(&select.source);
        self.source(&select.source) + read * self.exprs(&select.filter)
    }

    /// What grouping so many rows costs.
    pub(crate) fn groups(self, aggregation: &Aggregation, rows: f64) -> f64 {
        let each = match aggregation.strategy {
            GroupStrategy::Hash | GroupStrategy::InOrder => GROUP,
            GroupStrategy::Sort => 2.0 * GROUP,
            GroupStrategy::Vectors(_)
            | GroupStrategy::IntGroups(_)
            | GroupStrategy::JoinTotals(_) => GROUP_CELLS,
            // Rows are not read.
            GroupStrategy::Extrema(_) => return 0.0,
        };
        let args = aggregation.calls.iter().flat_map(|call| &call.args);
        rows * (each + self.exprs(args.chain(&aggregation.group)))
    }

    /// What a member of FROM or a join costs.
    pub(crate) fn source(self, source: &RowSource) -> f64 {
        match source {
            RowSource::One | RowSource::Nothing => 0.0,
            RowSource::Table(table) => self.table(table),
            RowSource::Subplan { id, filter, .. } => {
                let made = match (self.subplans)(*id) {
                    Some(subplan) if self.depth < MAX_DEPTH => {
                        self.inside().query(&subplan.query, None)
                    }
                    _ => 0.0,
                };
                let rows = (self.subplans)(*id);
                let rows = rows.map_or(0.0, |subplan| expected_rows(&subplan.query));
                made + cost::computed(rows) + rows * self.exprs(filter)
            }
            RowSource::Virtual(_) | RowSource::JsonTable(_) => cost::computed(of_source(source)),
            RowSource::Dedup(dedup) => self.source(&dedup.source),
            RowSource::Join(join) => self.join(join),
        }
    }

    fn table(self, table: &TableSource) -> f64 {
        path_cost(&table.table, &table.access, table.rows) + table.rows * self.exprs(&table.filter)
    }

    fn join(self, join: &JoinPlan) -> f64 {
        let (left, rows) = (self.source(&join.left), of_source(&join.left).max(1.0));
        let (right, built) = (self.source(&join.right), of_source(&join.right));
        let pairs = join.rows.max(1.0);
        let on = self.exprs(&join.on);
        match &join.method {
            JoinMethod::NestedLoop => {
                let first = matches!(join.kind, JoinType::Semi | JoinType::Anti);
                let each = if first { right / 2.0 } else { right };
                let checked = if join.on.is_empty() { 0.0 } else { built.max(1.0) * (PAIR + on) };
                left + rows * (each + checked) + pairs * OUTPUT
            }
            JoinMethod::Hash(keys) => {
                let each = if keys.is_empty() { built * PAIR } else { cost::probe(built) };
                left + right + HASH_SETUP + built * BUILD + rows * each + pairs * (OUTPUT + on)
            }
        }
    }

    /// What the subqueries in expressions cost that run for each row.
    fn exprs<'e>(self, exprs: impl IntoIterator<Item = &'e Expr>) -> f64 {
        exprs.into_iter().map(|expr| self.expr(expr)).sum()
    }

    fn expr(self, expr: &Expr) -> f64 {
        let mut price = 0.0;
        expr.walk(&mut |node| {
            let ExprKind::Subquery(sub) = &node.kind else { return };
            let subplan = (self.subplans)(sub.id);
            let Some(subplan) = subplan.filter(|_| self.depth < MAX_DEPTH) else { return };
            if sub.correlated {
                price += RUN + self.inside().query(&subplan.query, None);
            } else if matches!(sub.kind, SubqueryKind::Quantified { .. }) {
                price += SOUGHT;
                if !self.once.borrow().known.contains(&sub.id) {
                    self.once.borrow_mut().known.push(sub.id);
                    let made = self.inside().query(&subplan.query, None);
                    let rows = expected_rows(&subplan.query);
                    self.once.borrow_mut().price += made + rows * BUILD;
                }
            }
        });
        price
    }

    fn inside(self) -> Self {
        Prices { depth: self.depth + 1, ..self }
    }
}
