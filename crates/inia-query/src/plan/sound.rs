//! What holds for every plan, whatever the statement; debug builds check each plan before its use.
//!
//! - A subplan's number is below the number of subplans.
//! - A source fills slots of its SELECT's row only; the sources of one SELECT fill different ones.
//! - An expression reads slots that are filled where it is evaluated: a join's right side sees the
//!   left one only in a nested loop ([`source`]). A column that is read is decoded.
//! - An aggregate's or a window function's number is below the number of them, and neither is used
//!   before it is computed ([`expr`], [`window`]).
//! - An access path names an index of its table, and no more parts than the index has; an index
//!   that covers has every column that is read ([`path`]).
//! - What only ORDER BY reads comes behind the visible values of a tuple.

mod batches;
mod expr;
mod path;
mod source;
mod strategy;
mod window;

use super::{
    Aggregation, Body, Direct, DirectShape, IndexExtremum, LimitPlan, QueryPlan, RowSource,
};
use super::{SelectPlan, SetPlan, StatementPlan, TableSource};
use expr::Readable;
use inia_expr::SlotSet;
use inia_parser::ast::AggregateFunc;

impl StatementPlan {
    /// Checks the plan, in debug builds.
    pub(crate) fn debug_check(&self) {
        if !cfg!(debug_assertions) {
            return;
        }
        debug_assert_eq!(self.columns.len(), self.root.columns.len(), "each column is described");
        debug_assert!(self.updates.is_empty() || self.exclusive, "only FOR UPDATE locks to update");
        self.check_query(&self.root);
        for subplan in &self.subplans {
            self.check_query(&subplan.query);
            if let Some(recursive) = &subplan.recursive {
                self.check_query(&recursive.step);
                let width = subplan.query.columns.len();
                debug_assert_eq!(recursive.step.columns.len(), width, "a step adds to its seed");
                self.check_limit(recursive.limit.as_ref());
            }
        }
        if let Some(direct) = &self.direct {
            self.check_direct(direct);
        }
    }

    /// Checks that stored cells can take the way `direct` to the client.
    fn check_direct(&self, direct: &Direct) {
        let Body::Select(select) = &self.root.body else {
            debug_assert!(false, "stored cells are those of a SELECT");
            return;
        };
        let table = table_of(&select.source);
        debug_assert!(table.is_some(), "stored cells are sent of one table");
        debug_assert!(select.having.is_none(), "HAVING reads values");
        debug_assert!(select.windows.is_empty(), "functions over windows read values");
        let grouped = select.aggregation.is_some();
        let slots = table.map_or(0, |source| source.needed.len());
        let mut read = direct.tested.iter().chain(&direct.bounded);
        debug_assert!(read.all(|column| *column < slots), "conditions read columns of the table");
        let tested = table.is_some_and(|source| {
            source.lock.is_some() || !source.filter.is_empty() || !select.filter.is_empty()
        });
        debug_assert!(!(direct.whole_runs && tested), "rows of a whole run are not tested");
        match &direct.shape {
            DirectShape::Totals(_) => debug_assert!(grouped, "totals are those of a group"),
            DirectShape::Rows(columns) | DirectShape::Sorted(columns) => {
                debug_assert!(!grouped, "a group is no stored row");
                debug_assert_eq!(columns.len(), select.output.len(), "the tuple has columns only");
                debug_assert!(columns.iter().all(|column| *column < slots), "a slot of the table");
                let sorted = matches!(direct.shape, DirectShape::Sorted(_));
                debug_assert_eq!(sorted, !self.root.order.is_empty(), "ORDER BY sorts");
            }
        }
    }

    fn check_query(&self, query: &QueryPlan) {
        let visible = query.columns.len();
        let tuple = match &query.body {
            Body::Select(select) => {
                self.check_select(select);
                // An INSERT's DISTINCT leaves out values that belong to the assignments.
                let hides = select.distinct && select.visible < visible;
                debug_assert!(select.visible == visible || hides, "visible values are columns");
                debug_assert!(visible <= select.output.len(), "a column is a value of the tuple");
                debug_assert!(query.computed.is_empty(), "a SELECT computes in its output");
                select.output.len()
            }
            Body::Values(values) => {
                let width = values.types.len();
                debug_assert_eq!(width, visible, "a column of VALUES has a type");
                debug_assert!(values.rows.iter().all(|row| row.len() == width), "rows are alike");
                values.rows.iter().flatten().for_each(|expr| self.check_without_row(expr));
                visible + query.computed.len()
            }
            Body::SetOperation(set) => {
                debug_assert_eq!(set.types.len(), visible, "operands have columns");
                self.check_operands(set);
                visible + query.computed.len()
            }
            Body::Nested(inner) => {
                self.check_query(inner);
                debug_assert_eq!(inner.columns.len(), visible, "a query in parentheses");
                visible + query.computed.len()
            }
        };
        let columns = Readable::of(self, SlotSet::of_range(0..visible));
        query.computed.iter().for_each(|expr| columns.check(expr));
        let in_tuple = query.order.iter().all(|key| key.index < tuple);
        debug_assert!(in_tuple, "ORDER BY reads the tuple");
        self.check_limit(query.limit.as_ref());
    }

    fn check_operands(&self, set: &SetPlan) {
        debug_assert!(!set.rest.is_empty(), "a set operation has two operands");
        for body in std::iter::once(&set.first).chain(set.rest.iter().map(|step| &step.body)) {
            debug_assert_eq!(body.types().len(), set.types.len(), "operands have as many columns");
            match body {
                Body::Select(select) => self.check_select(select),
                Body::SetOperation(set) => self.check_operands(set),
                Body::Nested(query) => self.check_query(query),
                Body::Values(values) => {
                    values.rows.iter().flatten().for_each(|expr| self.check_without_row(expr));
                }
            }
        }
    }

    fn check_limit(&self, limit: Option<&LimitPlan>) {
        let Some(limit) = limit else { return };
        self.check_without_row(&limit.count);
        limit.offset.iter().for_each(|offset| self.check_without_row(offset));
    }

    /// Checks an expression that is evaluated before there is a row.
    fn check_without_row(&self, expr: &inia_expr::Expr) {
        Readable::of(self, SlotSet::default()).check(expr);
    }

    fn check_select(&self, select: &SelectPlan) {
        debug_assert!(select.visible <= select.output.len(), "hidden values follow visible ones");
        let filled = self.check_source(&select.source, &SlotSet::default(), select.width);
        let rows = Readable::of(self, filled);
        select.once.iter().for_each(|condition| self.check_without_row(condition));
        select.filter.iter().for_each(|condition| rows.check(condition));
        let groups = match &select.aggregation {
            Some(aggregation) => check_aggregation(aggregation, rows, select.width),
            None => rows,
        };
        window::check_all(&select.windows, &groups);
        select.having.iter().for_each(|having| groups.check(having));
        let results = Readable { windows: select.windows.len(), ..groups };
        select.output.iter().for_each(|expr| results.check(expr));
        strategy::check(select);
        if let Some(plan) = &select.batches {
            batches::check(plan, select);
        }
        if let Some(extrema) = select.extrema() {
            self.check_extrema(select, extrema);
        }
    }

    /// Checks that aggregates are found at ends of indexes of the only table.
    fn check_extrema(&self, select: &SelectPlan, extrema: &[IndexExtremum]) {
        let calls = select.aggregation.as_ref().map_or(&[][..], |aggregation| &aggregation.calls);
        debug_assert_eq!(extrema.len(), calls.len(), "each aggregate is at an end of an index");
        let grouped = select.aggregation.as_ref().is_some_and(|all| !all.group.is_empty());
        debug_assert!(!grouped, "an index ends once, whatever groups there are");
        for (extremum, call) in extrema.iter().zip(calls) {
            let IndexExtremum::First { path, column } = extremum else {
                let counts = matches!(call.func, AggregateFunc::Count | AggregateFunc::CountStar);
                debug_assert!(counts, "a table keeps how many rows it has");
                continue;
            };
            let ends = matches!(call.func, AggregateFunc::Min | AggregateFunc::Max);
            debug_assert!(ends, "an index ends with its least and its greatest value");
            let Some(source) = table_of(&select.source) else {
                debug_assert!(false, "an index belongs to the only table");
                continue;
            };
            let def = &source.table.def;
            debug_assert!(path.index.is_some_and(|at| at < def.indexes.len()), "an index has ends");
            debug_assert!(*column < def.columns.len(), "an end has a column's value");
            path.exprs().for_each(|expr| self.check_without_row(expr));
        }
    }
}

/// Checks GROUP BY and aggregates over `rows`; returns what expressions above them read.
fn check_aggregation<'p>(
    aggregation: &Aggregation,
    rows: Readable<'p>,
    width: usize,
) -> Readable<'p> {
    let (calls, groups) = (aggregation.calls.len(), aggregation.group.len());
    debug_assert!(!aggregation.rollup || groups > 0, "ROLLUP groups");
    aggregation.group.iter().for_each(|expr| rows.check(expr));
    for call in &aggregation.calls {
        call.args.iter().chain(call.order_by.iter().map(|(expr, _)| expr)).for_each(|expr| {
            rows.check(expr);
        });
    }
    let mut slots = rows.slots.clone();
    for (call, slot) in &aggregation.shown {
        debug_assert!(*call < calls, "an aggregate that is read inside is computed");
        debug_assert!(*slot < width, "an aggregate that is read inside has a slot");
        debug_assert!(!slots.contains(*slot), "the slot is no column's");
        slots.insert(*slot);
    }
    if aggregation.rollup {
        slots = slots.union(&SlotSet::of_range(width..width + 2 * groups));
    }
    Readable { slots, calls, ..rows }
}

fn table_of(source: &RowSource) -> Option<&TableSource> {
    match source {
        RowSource::Table(table) => Some(table),
        _ => None,
    }
}
