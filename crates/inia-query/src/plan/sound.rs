//! What holds for every plan, whatever the statement; debug builds check each plan before its use.
//!
//! - A subplan's number is below the number of subplans.
//! - A source fills slots of its SELECT's row only; both sides of a join fill different ones.
//! - An access path names an index of its table, and no more parts than the index has.
//! - What only ORDER BY reads comes behind the visible values of a tuple.

use super::{Body, Direct, JoinMethod, JoinPlan, QueryPlan, RowSource, SelectPlan, StatementPlan};
use super::{IndexExtremum, TableSource};

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
            }
        }
        if let Some(Direct::Rows(columns) | Direct::Sorted(columns)) = &self.direct {
            let table = match &self.root.body {
                Body::Select(select) => table_of(&select.source),
                _ => None,
            };
            debug_assert!(table.is_some(), "stored cells are sent of one table");
            let slots = table.map_or(0, |source| source.needed.len());
            debug_assert!(columns.iter().all(|column| *column < slots), "a slot of the table");
        }
    }

    fn check_query(&self, query: &QueryPlan) {
        let tuple = match &query.body {
            Body::Select(select) => {
                self.check_select(select);
                debug_assert_eq!(select.visible, query.columns.len(), "visible values are columns");
                debug_assert!(query.computed.is_empty(), "a SELECT computes in its output");
                select.output.len()
            }
            Body::Values(values) => {
                let width = values.types.len();
                debug_assert!(values.rows.iter().all(|row| row.len() == width), "rows are alike");
                query.columns.len() + query.computed.len()
            }
            Body::SetOperation(set) => {
                debug_assert_eq!(set.types.len(), query.columns.len(), "operands have columns");
                debug_assert!(!set.rest.is_empty(), "a set operation has two operands");
                query.columns.len() + query.computed.len()
            }
            Body::Nested(inner) => {
                self.check_query(inner);
                debug_assert_eq!(
                    inner.columns.len(),
                    query.columns.len(),
                    "a query in parentheses"
                );
                query.columns.len() + query.computed.len()
            }
        };
        let in_tuple = query.order.iter().all(|key| key.index < tuple);
        debug_assert!(in_tuple, "ORDER BY reads the tuple");
    }

    fn check_select(&self, select: &SelectPlan) {
        debug_assert!(select.visible <= select.output.len(), "hidden values follow visible ones");
        let calls = select.aggregation.as_ref().map_or(0, |aggregation| aggregation.calls.len());
        if let Some(aggregation) = &select.aggregation {
            let shown = aggregation.shown.iter();
            let inside = shown.clone().all(|(call, slot)| *call < calls && *slot < select.width);
            debug_assert!(inside, "an aggregate that is read inside has a slot");
            debug_assert!(!aggregation.rollup || !aggregation.group.is_empty(), "ROLLUP groups");
        }
        if let Some(extrema) = select.extrema() {
            debug_assert_eq!(extrema.len(), calls, "each aggregate is at an end of an index");
            for extremum in extrema {
                if let (IndexExtremum::First { path, .. }, Some(source)) =
                    (extremum, table_of(&select.source))
                {
                    let indexes = source.table.def.indexes.len();
                    debug_assert!(path.index.is_some_and(|at| at < indexes), "an index has ends");
                }
            }
        }
        self.check_source(&select.source, select.width);
    }

    fn check_source(&self, source: &RowSource, width: usize) {
        match source {
            RowSource::One | RowSource::Nothing | RowSource::JsonTable(_) => {}
            RowSource::Table(table) => check_table(table, width),
            RowSource::Subplan { id, base, .. } => {
                debug_assert!(*id < self.subplans.len(), "a subplan has a number");
                let columns = self.subplans[*id].query.columns.len();
                debug_assert!(base + columns <= width, "a subplan fills slots of its row");
            }
            RowSource::Virtual(table) => {
                let end = table.base + table.table.columns().len();
                debug_assert!(end <= width, "a computed table fills slots of its row");
            }
            RowSource::Join(join) => {
                self.check_source(&join.left, width);
                self.check_source(&join.right, width);
                check_join(join, width);
            }
        }
    }
}

fn check_join(join: &JoinPlan, width: usize) {
    debug_assert!(join.right_slots.end <= width, "an outer join sets slots of its row to NULL");
    if let JoinMethod::Hash(keys) = &join.method {
        debug_assert!(!keys.is_empty(), "a hash join has keys");
    }
}

fn check_table(source: &TableSource, width: usize) {
    let (def, path) = (&source.table.def, &source.access);
    // A changed table without a primary key gives its row id, too.
    let row_id = usize::from(source.needed.len() > def.columns.len() && def.primary().is_none());
    let slots = def.columns.len() + row_id;
    debug_assert_eq!(source.needed.len(), slots, "each column is read or not");
    debug_assert!(source.base + slots <= width, "a table fills slots of its row");
    let Some(index) = path.index else {
        debug_assert!(path.is_unbounded(), "bounds are those of an index");
        return;
    };
    debug_assert!(index < def.indexes.len(), "a path names an index of its table");
    let parts = def.indexes[index].parts.len();
    debug_assert!(path.equal.len() <= parts, "a path bounds parts that there are");
    debug_assert!(path.intervals.is_empty() || path.equal.len() < parts, "a part has intervals");
    if path.point {
        debug_assert!(def.indexes[index].unique(), "one row is found by a unique key");
        debug_assert_eq!(path.equal.len(), parts, "one row is found by a whole key");
    }
}

fn table_of(source: &RowSource) -> Option<&TableSource> {
    match source {
        RowSource::Table(table) => Some(table),
        _ => None,
    }
}
