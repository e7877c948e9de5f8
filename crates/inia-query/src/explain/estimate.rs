//! What each node of a plan is expected to give and to cost.
//!
//! The rows are those by which the optimizer sizes queries, the costs those by which it compares
//! plans. A node's cost is that of one run of it with all that is below it, and the right side of a
//! nested loop runs once for each row of the left side:
//!
//! ```text
//!   -> Nested loop inner join  (cost=11.92 rows=10)            2.10 + 10 * 0.94 + rows handed on
//!       -> Index lookup on a using i  (cost=2.10 rows=10)
//!       -> Single-row index lookup on b using PRIMARY  (cost=0.94 rows=1)
//! ```

use crate::optimize::{
    Once, Prices, UNKNOWN_ROWS, expected_rows, of_body, of_filtered, of_grouped, of_select,
    of_source, path_cost,
};
use crate::plan::{Body, QueryPlan, RowSource, SelectPlan, StatementPlan, Subplan, TableSource};
use std::cell::RefCell;
use std::fmt;

/// Costs are computed in nanoseconds and shown in microseconds.
const NANOSECONDS: f64 = 1000.0;

/// What a node is expected to give and to cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Estimate {
    /// Rows of one run.
    pub(super) rows: f64,
    /// Nanoseconds of one run.
    pub(super) cost: f64,
}

impl Estimate {
    /// The cost as it is shown.
    pub(super) fn shown_cost(self) -> f64 {
        self.cost / NANOSECONDS
    }

    /// The rows as they are shown: where any are expected, at least one.
    pub(super) fn shown_rows(self) -> u64 {
        let least = if self.rows > 0.0 { 1.0 } else { 0.0 };
        self.rows.round().max(least) as u64
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(cost={:.2} rows={})", self.shown_cost(), self.shown_rows())
    }
}

/// The estimates of a SELECT, from its source up.
#[derive(Clone, Copy, Debug)]
pub(super) struct SelectEstimates {
    /// After WHERE.
    pub(super) filtered: Estimate,
    /// After grouping.
    pub(super) grouped: Estimate,
    /// After HAVING and DISTINCT.
    pub(super) whole: Estimate,
}

/// Estimates the nodes of a plan.
#[derive(Clone, Copy)]
pub(super) struct Estimator<'p> {
    plan: &'p StatementPlan,
}

impl<'p> Estimator<'p> {
    pub(super) fn new(plan: &'p StatementPlan) -> Estimator<'p> {
        Estimator { plan }
    }

    fn priced(self, price: impl FnOnce(Prices<'_>) -> f64) -> f64 {
        let subplan = |id: usize| -> Option<&Subplan> { self.plan.subplans.get(id) };
        let once: RefCell<Once> = RefCell::default();
        price(Prices::of(&subplan, &once))
    }

    /// A whole query.
    pub(super) fn query(self, query: &QueryPlan) -> Estimate {
        let cost = self.priced(|prices| prices.query(query, None));
        Estimate { rows: expected_rows(query), cost }
    }

    /// A query before its LIMIT.
    pub(super) fn sorted(self, query: &QueryPlan) -> Estimate {
        Estimate { rows: of_body(&query.body), ..self.query(query) }
    }

    /// A body.
    pub(super) fn body(self, body: &Body) -> Estimate {
        Estimate { rows: of_body(body), cost: self.priced(|prices| prices.body(body, None)) }
    }

    /// A SELECT.
    pub(super) fn select(self, select: &SelectPlan) -> SelectEstimates {
        let (rows, read) = (of_filtered(select), self.priced(|prices| prices.filtered(select)));
        let filtered = Estimate { rows, cost: read };
        let groups = select.aggregation.as_ref();
        let groups = groups.map_or(0.0, |groups| self.priced(|prices| prices.groups(groups, rows)));
        let grouped = Estimate { rows: of_grouped(select), cost: read + groups };
        let cost = self.priced(|prices| prices.select(select, None));
        SelectEstimates { filtered, grouped, whole: Estimate { rows: of_select(select), cost } }
    }

    /// A member of FROM or a join, after its conditions.
    pub(super) fn source(self, source: &RowSource) -> Estimate {
        let rows = match source {
            RowSource::Subplan { id, filter, .. } if filter.is_empty() => self.subplan(*id).rows,
            source => of_source(source),
        };
        Estimate { rows, cost: self.priced(|prices| prices.source(source)) }
    }

    /// The rows of a subplan.
    pub(super) fn subplan(self, id: usize) -> Estimate {
        self.query(&self.plan.subplans[id].query)
    }
}

/// A table's rows by its access path, before its other conditions.
pub(super) fn scan(table: &TableSource) -> Estimate {
    let cost = path_cost(&table.table, &table.access, table.rows);
    Estimate { rows: table.rows, cost }
}

/// The rows of a computed table.
pub(super) fn computed() -> Estimate {
    Estimate { rows: UNKNOWN_ROWS, cost: 0.0 }
}
