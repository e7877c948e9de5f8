//! Tables for people at a terminal of 80 columns.

use crate::progress::clip;
use crate::record::{Outcome, Record};
use crate::report::format::{deviation, number};
use crate::report::{Point, QueryTime, QueryTimes, Report, Section};
use std::collections::BTreeMap;

/// Letters of a line.
const LINE: usize = 80;
/// A target's name is not cut below this.
const NAME: usize = 8;

/// The medians of a comparison: a table per workload, a line per number of clients and target.
pub fn table(records: &[Record]) -> String {
    let report = Report::new(records);
    let mut out = String::new();
    for section in &report.sections {
        let heading = format!("{}: {}", section.workload.name, section.parameters());
        out.push_str(&format!("{}\n{}\n", clip(&heading, LINE), rows(&report, section)));
        let tables = QueryTimes::all(section);
        if tables.is_empty() {
            out.push_str(&further(&report, section));
        }
        tables.iter().for_each(|table| out.push_str(&query_times(&report, table)));
    }
    if !records.is_empty() {
        out.push_str("rate per second, latency and CPU per transaction in µs, RSS in MiB\n");
    }
    out
}

/// What a sweep over numbers of processors is run for: per workload and target the best median rate
/// on each number of them, and by what it has grown from the first.
pub fn factors(records: &[Record]) -> String {
    let report = Report::new(records);
    let mut out = String::new();
    for section in &report.sections {
        for (at, series) in report.series.iter().enumerate() {
            let mut peaks: BTreeMap<usize, f64> = BTreeMap::new();
            for point in section.points.iter().filter(|point| point.series == at) {
                let Some(rate) = point.stat(|outcome| Some(outcome.rate)) else { continue };
                let peak = peaks.entry(point.processors()).or_default();
                *peak = peak.max(rate.median);
            }
            let first = peaks.values().next().copied().unwrap_or(0.0);
            for (count, peak) in peaks {
                let factor = if first > 0.0 { peak / first } else { 0.0 };
                let (workload, rate) = (&section.workload.name, plain(peak));
                out.push_str(&format!(
                    "{workload} on {}, {count} processors: peak {rate}, factor {factor:.2}\n",
                    series.name
                ));
            }
        }
    }
    out
}

/// The workload's further figures: a line for each number of clients, target and figure.
fn further(report: &Report<'_>, section: &Section<'_>) -> String {
    let mut lines = Vec::new();
    for point in &section.points {
        let mut seen: Vec<&str> = Vec::new();
        for extra in point.outcomes().flat_map(|outcome| &outcome.extras) {
            if seen.contains(&extra.name.as_str()) {
                continue;
            }
            seen.push(&extra.name);
            let of = |outcome: &Outcome| {
                let found = outcome.extras.iter().find(|one| one.name == extra.name);
                found.map(|one| one.value)
            };
            let Some(stat) = point.stat(of) else { continue };
            let target = report.series[point.series].name.clone();
            let what = format!("{} {}", extra.name, extra.unit);
            lines.push(vec![point.clients.to_string(), target, plain(stat.median), what]);
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let head = ["clients", "target", "median", "further figure"].map(str::to_owned).to_vec();
    lines.insert(0, head);
    align(lines, 1) + "\n"
}

/// A set of queries: a line per query, and its time on each target.
fn query_times(report: &Report<'_>, table: &QueryTimes<'_>) -> String {
    let mut head = vec!["ms".to_owned()];
    head.extend(table.series.iter().map(|&at| report.series[at].name.clone()));
    let mut lines = vec![head];
    for (name, times) in &table.queries {
        let cell = |time: &QueryTime| match time {
            QueryTime::Answered(time) => plain(*time),
            QueryTime::Stopped(limit) => format!(">{limit:.0}"),
            QueryTime::Failed => "error".to_owned(),
            QueryTime::Unknown => "-".to_owned(),
        };
        lines.push(std::iter::once((*name).to_owned()).chain(times.iter().map(cell)).collect());
    }
    let totals: Vec<_> = (0..table.series.len()).map(|target| table.totals(target)).collect();
    for (name, part) in [("sum", 0), ("mean", 1)] {
        let cell = |total: &Option<(f64, f64)>| {
            total.map_or("-".to_owned(), |(sum, mean)| plain(if part == 0 { sum } else { mean }))
        };
        lines.push(std::iter::once(name.to_owned()).chain(totals.iter().map(cell)).collect());
    }
    let clients = table.clients;
    let many = if clients == 1 { "client" } else { "clients" };
    let answered = table.answered_by_all().count();
    format!(
        "{}{clients} {many}; sum and geometric mean are of the {answered} queries that all \
         answered\n\n",
        align(lines, 0)
    )
}

fn rows(report: &Report<'_>, section: &Section<'_>) -> String {
    let outcomes = || section.points.iter().flat_map(|point| point.outcomes());
    let retried = outcomes().any(|outcome| outcome.retries > 0);
    let bound = section.cpus().len() > 1;
    let mut head = vec!["clients"];
    head.extend(bound.then_some("CPUs"));
    head.extend(section.open.then_some("offered"));
    let words = head.len();
    head.extend(["target", "rate", "spread", "p50", "p99", "CPU", "client", "RSS"]);
    head.extend(retried.then_some("retries"));
    let mut lines: Vec<Vec<String>> = vec![head.into_iter().map(str::to_owned).collect()];
    for point in &section.points {
        let mut cells = vec![point.clients.to_string()];
        cells.extend(bound.then(|| point.processors().to_string()));
        cells.extend(section.open.then(|| number(point.offered)));
        cells.push(report.series[point.series].name.clone());
        cells.extend(figures(point, retried));
        lines.push(cells);
    }
    align(lines, words)
}

fn figures(point: &Point<'_>, retried: bool) -> Vec<String> {
    let failed = point.failures();
    let Some(rate) = point.stat(|outcome| Some(outcome.rate)) else {
        let error = failed.map_or("nothing measured", |(error, _)| error);
        return vec![format!("FAILED: {error}")];
    };
    let median = |of: &dyn Fn(&Outcome) -> Option<f64>| {
        point.stat(of).map_or("-".to_owned(), |stat| plain(stat.median))
    };
    let mut cells = vec![
        plain(rate.median),
        rate.spread().map_or("-".to_owned(), deviation),
        median(&|o| o.took(|latency| latency.p50)),
        median(&|o| o.took(|latency| latency.p99)),
        median(&|o| o.cpu.server),
        median(&|o| o.cpu.client),
        median(&|o| o.rss.map(|bytes| (bytes >> 20) as f64)),
    ];
    if retried {
        cells.push(point.outcomes().map(|outcome| outcome.retries).sum::<u64>().to_string());
    }
    if let Some((_, count)) = failed {
        cells.push(format!("{count} of {} rounds failed", point.rounds.len()));
    }
    cells
}

/// A figure without commas, which programs read too.
fn plain(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// Columns of equal width, closer together and with shorter names where a line would be too long;
/// the column `words` and what stands behind the last head are words, the others figures.
fn align(mut lines: Vec<Vec<String>>, words: usize) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let mut widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            let cells = cells.filter(|cell| !cell.starts_with("FAILED"));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let total = |widths: &[usize], gap: usize| widths.iter().sum::<usize>() + gap * (columns - 1);
    let gap = if total(&widths, 2) <= LINE { 2 } else { 1 };
    let over = total(&widths, gap).saturating_sub(LINE);
    if let Some(width) = widths.get_mut(words) {
        *width = width.saturating_sub(over).max(NAME.min(*width));
        for line in &mut lines {
            line[words] = clip(&line[words], *width);
        }
    }
    let mut out = String::new();
    for line in lines {
        let mut text = String::new();
        for (column, cell) in line.iter().enumerate() {
            let width = widths.get(column).copied().unwrap_or(0);
            match column {
                _ if column == words || column >= columns => {
                    text.push_str(&format!("{cell:<width$}"));
                }
                _ => text.push_str(&format!("{cell:>width$}")),
            }
            text.push_str(&" ".repeat(gap));
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests;
