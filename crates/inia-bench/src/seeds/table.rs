//! A report's tables made again from what was measured, with the published ones below.
//!
//! A cell is `-` where nothing was measured, and the median where there are several rounds: a round
//! in which nothing ended counts with a rate of 0, one that was ended early does not count.

use super::{Scale, Shape, Table};
use crate::record::{Outcome, Record};
use crate::report::{counted, median};
use crate::workload::{Figure, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// Counted transactions are shown as the seconds for so many.
const TIMES: f64 = 10_000.0;

/// Letters of a line, if it has more than one column.
const WIDTH: usize = 110;

type Cells = Vec<Vec<String>>;

/// What was measured, and what the tables need besides.
pub struct Results<'a> {
    /// All rounds.
    pub records: &'a [Record],
    /// The scale they ran at.
    pub scale: Scale,
    /// The machine's processors.
    pub processors: usize,
    /// The targets, in the order of their columns.
    pub labels: Vec<String>,
    /// What the user says each target's system costs.
    pub prices: BTreeMap<String, f64>,
}

/// One run: its rounds have all of this in common.
#[derive(Clone, Copy)]
struct Run<'a> {
    workload: &'a str,
    distribution: &'a str,
    clients: usize,
    processors: usize,
    label: &'a str,
}

impl Results<'_> {
    fn outcomes(&self, run: Run<'_>) -> Vec<&Outcome> {
        let all = self.processors;
        let of = move |record: &&Record| {
            let bound = record.method.server_cpus.len();
            record.workload.name == run.workload
                && record.workload.distribution == run.distribution
                && record.method.clients == run.clients
                && (if bound == 0 { all } else { bound }) == run.processors
                && record.target.label == run.label
        };
        counted(self.records.iter().filter(of))
    }

    fn rate(&self, run: Run<'_>) -> Option<f64> {
        median(self.outcomes(run).into_iter().map(|outcome| outcome.rate).collect())
    }

    /// The median over the rounds of each kind's seconds, as `1.5` or `0.2 + 0.1`; a kind that
    /// this server does not report is `unknown`.
    fn seconds(&self, run: Run<'_>) -> Option<String> {
        let outcomes = self.outcomes(run);
        let kinds = outcomes.iter().map(|outcome| outcome.kinds.len()).max()?;
        let all = || median(outcomes.iter().filter_map(|o| o.took(|l| l.p50)).collect());
        if kinds == 0 {
            return Some(number(all()? / 1e6));
        }
        all()?;
        let one = |kind: usize| {
            let kinds = outcomes.iter().filter_map(|outcome| outcome.kinds.get(kind));
            let ended = kinds.filter(|kind| kind.transactions > 0);
            let seconds = median(ended.map(|kind| kind.latency.p50 / 1e6).collect());
            seconds.map_or("unknown".to_owned(), number)
        };
        Some((0..kinds).map(one).collect::<Vec<_>>().join(" + "))
    }

    /// The server's processor seconds for each transaction, all its kinds together.
    fn server_seconds(&self, run: Run<'_>) -> Option<f64> {
        let of = |outcome: &Outcome| {
            let times = outcome.kinds.first().map_or(outcome.transactions, |k| k.transactions);
            (times > 0).then_some(outcome.cpu.server_seconds? / times as f64)
        };
        median(self.outcomes(run).into_iter().filter_map(of).collect())
    }
}

/// What a table of this report and these results shows.
struct View<'a> {
    table: &'a Table,
    results: &'a Results<'a>,
}

impl<'a> View<'a> {
    fn clients(&self) -> Vec<usize> {
        self.results.scale.clients(self.table)
    }

    /// The number of processors of a table that has only one.
    fn processors(&self) -> usize {
        self.table.processors(self.results.processors).last().copied().unwrap_or(0)
    }

    fn rates(&self, workload: &dyn Workload, label: &str, processors: usize) -> Vec<f64> {
        let mut rates = Vec::new();
        for distribution in self.table.distributions(workload) {
            for clients in self.clients() {
                let run = Run {
                    workload: workload.name(),
                    distribution: &distribution.to_string(),
                    clients,
                    processors,
                    label,
                };
                rates.extend(self.results.rate(run));
            }
        }
        rates
    }

    /// The best rate over all numbers of clients and all distributions.
    fn peak(&self, workload: &dyn Workload, label: &str, processors: usize) -> Option<f64> {
        self.rates(workload, label, processors).into_iter().reduce(f64::max)
    }

    /// Columns of targets, and of distributions or workloads where there are several.
    fn columns(&self) -> Vec<(&'a str, &'static dyn Workload, String)> {
        let labels = self.results.labels.iter();
        let mut columns = Vec::new();
        for label in labels {
            for workload in self.table.runs() {
                for distribution in self.table.distributions(workload) {
                    columns.push((label.as_str(), workload, distribution.to_string()));
                }
            }
        }
        columns
    }

    fn by_clients(&self) -> Cells {
        let columns = self.columns();
        let several = self.table.distributions.len() > 1;
        let name = |(label, _, distribution): &(&str, _, String)| match several {
            true => format!("{label}, {distribution}"),
            false => (*label).to_owned(),
        };
        let mut cells = vec![head("clients", columns.iter().map(name))];
        for clients in self.clients() {
            let rates = columns.iter().map(|(label, workload, distribution)| {
                shown(self.results.rate(Run {
                    workload: workload.name(),
                    distribution,
                    clients,
                    processors: self.processors(),
                    label,
                }))
            });
            cells.push(head(&clients.to_string(), rates));
        }
        cells
    }

    fn by_workload(&self) -> Cells {
        let labels = &self.results.labels;
        let mut cells = vec![head("", labels.iter().cloned())];
        for workload in self.table.runs() {
            let best = labels.iter().map(|l| shown(self.peak(workload, l, self.processors())));
            cells.push(head(workload.name(), best));
        }
        cells
    }

    fn by_seconds(&self) -> Cells {
        let labels = self.results.labels.iter();
        let names = labels.flat_map(|label| [format!("{label}, seconds"), format!("{label}, CPU")]);
        let mut cells = vec![head("", names)];
        for workload in self.table.runs() {
            let counted = workload.figure() == Figure::Rate;
            let about = if counted { format!(", {TIMES} times") } else { String::new() };
            let mut line = vec![format!("{}{about}", workload.name())];
            for label in &self.results.labels {
                let run = Run {
                    workload: workload.name(),
                    distribution: &workload.defaults().distribution.to_string(),
                    clients: 1,
                    processors: self.processors(),
                    label,
                };
                let (wall, times) = if counted {
                    (self.results.rate(run).map(|rate| number(TIMES / rate)), TIMES)
                } else {
                    (self.results.seconds(run), 1.0)
                };
                line.push(wall.unwrap_or_else(|| "-".to_owned()));
                line.push(shown(self.results.server_seconds(run).map(|each| each * times)));
            }
            cells.push(line);
        }
        cells
    }

    /// Peaks by processors, as they are or divided by the peak of as many as `base` makes of them.
    fn by_processors(&self, base: Option<fn(usize) -> Option<usize>>) -> Cells {
        let workloads: Vec<_> = self.table.runs().collect();
        let mut names = Vec::new();
        let mut peaks: Vec<Vec<Option<f64>>> = Vec::new();
        let counts = self.table.processors(self.results.processors);
        for label in &self.results.labels {
            for &workload in &workloads {
                let several = workloads.len() > 1;
                let name =
                    if several { format!("{label}, {}", workload.name()) } else { label.clone() };
                names.push(name);
                let peak = |&count: &usize| self.peak(workload, label, count);
                peaks.push(counts.iter().map(peak).collect());
            }
        }
        let mut cells = vec![head("processors", names)];
        for (row, count) in counts.iter().enumerate() {
            let cell = |column: &Vec<Option<f64>>| match base {
                None => shown(column[row]),
                Some(base) => {
                    let other = counts.iter().position(|&other| Some(other) == base(*count));
                    shown(quotient(column[row], other.and_then(|other| column[other])))
                }
            };
            if base.is_none() || row > 0 {
                cells.push(head(&count.to_string(), peaks.iter().map(cell)));
            }
        }
        cells
    }

    fn sag(&self) -> Cells {
        let columns = self.columns();
        let most = self.clients().last().copied().unwrap_or(1);
        let names =
            columns.iter().map(|(label, _, distribution)| format!("{label}, {distribution}"));
        let mut cells = vec![head("clients", names)];
        let (mut peaks, mut lasts, mut sags) = (Vec::new(), Vec::new(), Vec::new());
        for (label, workload, distribution) in &columns {
            let rate = |clients: usize| {
                let processors = self.processors();
                let workload = workload.name();
                self.results.rate(Run { workload, distribution, clients, processors, label })
            };
            let peak = self.clients().into_iter().filter_map(rate).reduce(f64::max);
            let last = rate(most);
            peaks.push(shown(peak));
            lasts.push(shown(last));
            sags.push(shown(quotient(last, peak).map(|share| (1.0 - share) * 100.0)));
        }
        cells.push(head("peak", peaks));
        cells.push(head(&most.to_string(), lasts));
        cells.push(head("sag, %", sags));
        cells
    }

    fn prices(&self) -> Cells {
        let names = ["operations per second", "price", "per operation and second"];
        let mut cells = vec![head("", names.map(str::to_owned))];
        for label in &self.results.labels {
            let rate = self.table.runs().find_map(|run| self.peak(run, label, self.processors()));
            let price = self.results.prices.get(label).copied();
            cells.push(head(label, [shown(rate), shown(price), shown(quotient(price, rate))]));
        }
        cells
    }

    /// The sizes that its workloads were run with.
    fn sizes(&self) -> String {
        let size = |workload| {
            let parameters = self.results.scale.parameters(workload);
            format!("{} rows x {}", parameters.rows, parameters.scale)
        };
        let sizes: BTreeSet<String> = self.table.runs().map(size).collect();
        sizes.into_iter().collect::<Vec<_>>().join(", ")
    }

    fn cells(&self) -> Cells {
        match self.table.shape {
            Shape::Clients => self.by_clients(),
            Shape::Workloads => self.by_workload(),
            Shape::Seconds => self.by_seconds(),
            Shape::Peaks => self.by_processors(None),
            Shape::FactorToOne => self.by_processors(Some(|_| Some(1))),
            Shape::FactorToHalf => {
                self.by_processors(Some(|n| n.is_multiple_of(2).then_some(n / 2)))
            }
            Shape::Sag => self.sag(),
            Shape::Price => self.prices(),
        }
    }
}

/// One table: its title, what was measured, and what the report printed.
pub fn render(table: &Table, results: &Results<'_>) -> String {
    let view = View { table, results };
    let mut out = format!("{} ({})\n", table.title, view.sizes());
    if table.processors(results.processors).is_empty() {
        let (share, all) = (table.share, results.processors);
        out.push_str(&format!("  not run: one in {share} of {all} processors is none\n"));
    } else {
        out.push_str(&align(&view.cells()));
    }
    if table.shape == Shape::Price && results.prices.is_empty() {
        out.push_str("  (what a system costs is yours to say: --price LABEL=AMOUNT)\n");
    }
    if !table.published.is_empty() {
        out.push_str("  as the report printed it, of its own machine and servers:\n");
        let owned = |line: Vec<&str>| line.into_iter().map(str::to_owned).collect();
        let published: Cells = table.published_cells().into_iter().map(owned).collect();
        out.push_str(&align(&published));
    }
    out
}

fn head(first: &str, rest: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(rest).collect()
}

fn quotient(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? / b.filter(|&b| b > 0.0)?)
}

fn shown(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), number)
}

fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 1.0 => format!("{value:.2}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.4}"),
    }
}

/// Columns of equal width, the first flush left; indented, and in several parts below each other
/// where a line would be too long.
fn align(lines: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for line in lines {
        widths.resize(widths.len().max(line.len()), 0);
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let (mut out, mut from) = (String::new(), 1);
    while from == 1 || from < widths.len() {
        let first = widths.first().copied().unwrap_or(0);
        let (mut to, mut room) = (from, WIDTH.saturating_sub(first));
        while to < widths.len() && (to == from || widths[to] + 2 <= room) {
            room = room.saturating_sub(widths[to] + 2);
            to += 1;
        }
        for line in lines {
            let name = line.first().map_or("", String::as_str);
            let mut text = format!("    {name:<first$}");
            for (cell, width) in line.iter().zip(&widths).take(to).skip(from) {
                text.push_str(&format!("  {cell:>width$}"));
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
        from = to.max(from + 1);
    }
    out
}

#[cfg(test)]
mod tests;
