//! What a run of a plan adds to status counters, counted once when the plan is made.
//!
//! MySQL counts how each SELECT reads its first table that is not found by constants
//! (`Select_scan`, `Select_range`), and how it reads the others (`Select_full_join`,
//! `Select_full_range_join`).

use super::{Body, QueryPlan, RowSource, SelectPlan, Subplan, TableSource};
use crate::access::EqualPart;
use crate::status::{PlanCounts, SortInput};

/// How a table is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    Whole,
    Range,
    Key,
    Constant,
}

/// The counts of a query and the queries inside it; `None` where all are 0.
pub(crate) fn counts_of(root: &QueryPlan, subplans: &[Subplan]) -> Option<PlanCounts> {
    let mut counter = Counter(PlanCounts::default());
    counter.query(root);
    for subplan in subplans {
        counter.query(&subplan.query);
        if let Some(recursive) = &subplan.recursive {
            counter.query(&recursive.step);
        }
    }
    let Counter(mut counts) = counter;
    if !root.order.is_empty() {
        let range = counts.range > 0 && counts.scan == 0;
        counts.sorts = Some(if range { SortInput::Range } else { SortInput::Scan });
    }
    (counts != PlanCounts::default()).then_some(counts)
}

struct Counter(PlanCounts);

impl Counter {
    fn query(&mut self, query: &QueryPlan) {
        self.body(&query.body);
    }

    fn body(&mut self, body: &Body) {
        match body {
            Body::Select(select) => self.select(select),
            Body::Values(_) => {}
            Body::SetOperation(set) => {
                self.body(&set.first);
                set.rest.iter().for_each(|step| self.body(&step.body));
                // The table of distinct rows is read, too.
                self.0.scan += u64::from(set.counted > 0);
            }
            Body::Nested(query) => self.query(query),
        }
    }

    fn select(&mut self, select: &SelectPlan) {
        if select.extrema().is_some() {
            return;
        }
        let mut reads = Vec::new();
        sources(&select.source, &mut reads);
        let mut reads = reads.into_iter().skip_while(|read| *read == Read::Constant);
        match reads.next() {
            Some(Read::Whole) => self.0.scan += 1,
            Some(Read::Range) => self.0.range += 1,
            _ => {}
        }
        for read in reads {
            match read {
                Read::Whole => self.0.full_join += 1,
                Read::Range => self.0.full_range_join += 1,
                Read::Key | Read::Constant => {}
            }
        }
    }
}

/// How the members of FROM are read, in the order of the plan.
fn sources(source: &RowSource, reads: &mut Vec<Read>) {
    match source {
        RowSource::One | RowSource::Nothing => {}
        RowSource::Table(table) => reads.push(read_of(table)),
        RowSource::Subplan { .. } | RowSource::Virtual(_) | RowSource::JsonTable(_) => {
            reads.push(Read::Whole);
        }
        RowSource::Dedup(dedup) => sources(&dedup.source, reads),
        RowSource::Join(join) => join.in_order().into_iter().for_each(|side| sources(side, reads)),
    }
}

fn read_of(table: &TableSource) -> Read {
    let path = &table.access;
    let listed = path.equal.iter().any(|part| matches!(part, EqualPart::AnyOf(_)));
    let ranges = path.merge().is_some() || path.ranges().is_some() || path.skip().is_some();
    if !path.intervals.is_empty() || listed || ranges {
        return Read::Range;
    }
    match (path.is_unbounded(), path.point) {
        (true, _) => Read::Whole,
        (false, true) if path.own_exprs().all(|expr| expr.is_constant_in_statement()) => {
            Read::Constant
        }
        _ => Read::Key,
    }
}
