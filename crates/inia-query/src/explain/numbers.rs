//! The numbers of SELECTs: those that they have in the statement's text. A SELECT that is not in
//! it, of a view or made of a subquery, has the next one behind them.

use crate::plan::{Body, RowSource, StatementPlan};

/// Gives numbers.
pub(super) struct Numbers {
    next: usize,
    /// What is added to the numbers inside a statement that is no SELECT, which has the first.
    shift: usize,
    /// How many SELECTs stand in WITH before the statement's first one, which comes first all the
    /// same.
    before: usize,
    begun: bool,
}

/// The number of a body's first SELECT, where it has one.
fn first(body: &Body) -> usize {
    match body {
        Body::Select(select) => select.number,
        Body::SetOperation(set) => first(&set.first),
        Body::Nested(query) => first(&query.body),
        Body::Values(_) => 0,
    }
}

fn largest(body: &Body) -> usize {
    match body {
        Body::Select(select) => select.number,
        Body::SetOperation(set) => {
            let steps = set.rest.iter().map(|step| largest(&step.body));
            steps.chain([set.number, largest(&set.first)]).max().unwrap_or(0)
        }
        Body::Nested(query) => largest(&query.body),
        Body::Values(_) => 0,
    }
}

impl Numbers {
    pub(super) fn of(plan: &StatementPlan) -> Numbers {
        let shift = usize::from(first(&plan.root.body) == 0);
        let mut most = largest(&plan.root.body);
        let inside = plan.subplans.iter().map(|subplan| &subplan.query);
        for query in inside.chain([&plan.root]) {
            most = most.max(largest(&query.body));
            query.for_each_source(&mut |source| {
                if let RowSource::Join(join) = source
                    && let Some(nest) = join.nest
                {
                    most = most.max(nest.number);
                }
            });
        }
        let before = first(&plan.root.body).saturating_sub(1);
        Numbers { next: most + shift + 1, shift, before, begun: false }
    }

    /// The number of a SELECT which has this one in the statement's text; the first one that asks
    /// is the statement itself.
    pub(super) fn id(&mut self, number: usize) -> usize {
        let begun = std::mem::replace(&mut self.begun, true);
        match number {
            0 if !begun && self.shift == 1 => 1,
            0 => {
                self.next += 1;
                self.next - 1
            }
            number => self.shown(number),
        }
    }

    fn shown(&self, number: usize) -> usize {
        match number {
            number if number == self.before + 1 => 1 + self.shift,
            number if number <= self.before => number + 1 + self.shift,
            number => number + self.shift,
        }
    }

    /// The number that the first SELECT of a body will have.
    pub(super) fn of_first(&self, body: &Body) -> usize {
        match first(body) {
            0 => self.next,
            number => self.shown(number),
        }
    }
}
