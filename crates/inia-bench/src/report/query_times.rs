//! Sets of queries beside each other: the time of each query on each target.

use super::{Point, Section, geometric_mean, median};
use crate::record::{FAILED, STOPPED, UNANSWERED};

/// What became of a query on one target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueryTime {
    /// The median of its time in milliseconds.
    Answered(f64),
    /// It was stopped after so many milliseconds.
    Stopped(f64),
    /// The target answered with an error.
    Failed,
    /// It was not run.
    Unknown,
}

/// The times of a set of queries that so many clients ran.
#[derive(Debug)]
pub struct QueryTimes<'a> {
    /// Number of clients.
    pub clients: usize,
    /// Places of the targets in the report's series.
    pub series: Vec<usize>,
    /// Names of the queries with their times, in the order of the targets.
    pub queries: Vec<(&'a str, Vec<QueryTime>)>,
}

impl<'a> QueryTimes<'a> {
    /// The tables of a section, one for each number of clients; none without a set of queries.
    pub fn all(section: &'a Section<'_>) -> Vec<QueryTimes<'a>> {
        if section.workload.unit != crate::record::QUERIES {
            return Vec::new();
        }
        let mut tables: Vec<QueryTimes<'a>> = Vec::new();
        let mut rest = section.points.as_slice();
        while let Some(first) = rest.first() {
            let same = |point: &&Point<'_>| point.clients == first.clients;
            let points: Vec<&Point<'_>> = rest.iter().take_while(same).collect();
            rest = &rest[points.len()..];
            tables.extend(QueryTimes::of(first.clients, &points));
        }
        tables
    }

    fn of(clients: usize, points: &[&'a Point<'_>]) -> Option<QueryTimes<'a>> {
        let kinds =
            points.iter().find_map(|point| point.outcomes().next()).map(|one| &one.kinds)?;
        let names = kinds.iter().map(|kind| kind.name.as_str()).filter(|name| *name != UNANSWERED);
        let times = |name: &str| points.iter().map(|point| time(point, name)).collect();
        let queries: Vec<(&str, Vec<QueryTime>)> = names.map(|name| (name, times(name))).collect();
        let known = |(_, times): &(&str, Vec<QueryTime>)| {
            times.iter().any(|time| *time != QueryTime::Unknown)
        };
        let queries: Vec<_> = queries.into_iter().filter(known).collect();
        let series = points.iter().map(|point| point.series).collect();
        (!queries.is_empty()).then_some(QueryTimes { clients, series, queries })
    }

    /// The queries that every target has answered.
    pub fn answered_by_all(&self) -> impl Iterator<Item = &[QueryTime]> {
        let lines = self.queries.iter().map(|(_, times)| times.as_slice());
        lines.filter(|times| times.iter().all(|time| matches!(time, QueryTime::Answered(_))))
    }

    /// Sum and geometric mean of a target's times over [`QueryTimes::answered_by_all`].
    pub fn totals(&self, target: usize) -> Option<(f64, f64)> {
        let of = |times: &[QueryTime]| match times.get(target) {
            Some(QueryTime::Answered(time)) => Some(*time),
            _ => None,
        };
        let times: Vec<f64> = self.answered_by_all().filter_map(of).collect();
        Some((times.iter().sum(), geometric_mean(&times)?))
    }
}

/// A query's median over the rounds. One that a round did not answer has no time.
fn time(point: &Point<'_>, name: &str) -> QueryTime {
    let extra = |end: &str| {
        let mut extras = point.outcomes().flat_map(|outcome| &outcome.extras);
        extras.find(|extra| extra.name.strip_suffix(end) == Some(name)).map(|extra| extra.value)
    };
    if let Some(seconds) = extra(STOPPED) {
        return QueryTime::Stopped(seconds * 1000.0);
    }
    if extra(FAILED).is_some() {
        return QueryTime::Failed;
    }
    let kinds = point.outcomes().flat_map(|outcome| &outcome.kinds);
    let run = kinds.filter(|kind| kind.name == name && kind.transactions > 0);
    let times = run.map(|kind| kind.latency.p50 / 1000.0).collect();
    median(times).map_or(QueryTime::Unknown, QueryTime::Answered)
}

#[cfg(test)]
mod tests;
