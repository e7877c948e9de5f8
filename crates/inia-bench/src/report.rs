//! What a reader sees of kept results: lines of targets, sections of workloads, points of rounds.
//!
//! ```text
//! Report
//! ├── Series: a target with one version and one set of settings; a colour all over the page
//! └── Section: a workload with one set of parameters
//!     └── Point: one series with one number of clients (and processors, and offered rate)
//!         └── rounds: records, of which medians and extremes are shown
//! ```

pub(crate) mod format;
pub mod html;
mod query_times;

pub use query_times::{QueryTime, QueryTimes};

use crate::histogram::Histogram;
use crate::record::{Outcome, Record, TargetInfo, WorkloadInfo};
use format::{count, number};
use std::collections::{BTreeMap, BTreeSet};

/// Products that run in the lab's own process.
const EMBEDDED: [&str; 3] = ["inia-embedded", "sqlite", "duckdb"];

/// Everything that was measured, in the order in which it is shown.
#[derive(Debug)]
pub struct Report<'a> {
    /// All records.
    pub records: &'a [Record],
    /// Targets.
    pub series: Vec<Series<'a>>,
    /// Workloads.
    pub sections: Vec<Section<'a>>,
}

/// A target with one version and one set of settings.
#[derive(Debug)]
pub struct Series<'a> {
    /// What it is called: its label, with its version or a number where labels repeat.
    pub name: String,
    /// Its target.
    pub target: &'a TargetInfo,
    /// Its place in the palette.
    pub colour: usize,
}

/// A workload with one set of parameters.
#[derive(Debug)]
pub struct Section<'a> {
    /// The workload.
    pub workload: &'a WorkloadInfo,
    /// Whether transactions were started at a given rate rather than one after the other.
    pub open: bool,
    /// What was measured, by processors, clients or offered rate, and series.
    pub points: Vec<Point<'a>>,
}

/// The rounds that may be averaged.
#[derive(Debug)]
pub struct Point<'a> {
    /// Place in [`Report::series`].
    pub series: usize,
    /// Number of clients.
    pub clients: usize,
    /// Processors that the server was bound to, or 0 for all.
    pub cpus: usize,
    /// Transactions started per second, or 0 in a closed loop.
    pub offered: f64,
    /// The rounds.
    pub rounds: Vec<&'a Record>,
}

/// The middle value.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let high = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { high } else { (values[middle - 1] + high) / 2.0 })
}

/// The geometric mean of positive values; none where there are no values.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: f64 = values.iter().map(|value| value.max(1e-6).ln()).sum();
    (!values.is_empty()).then(|| (logarithms / values.len() as f64).exp())
}

/// What rounds count for: those that the user ended early do not, unless there are no others.
pub fn counted<'a>(rounds: impl Iterator<Item = &'a Record>) -> Vec<&'a Outcome> {
    let all: Vec<&Outcome> = rounds.filter_map(|record| record.outcome.as_ref()).collect();
    let whole: Vec<&Outcome> = all.iter().copied().filter(|o| !o.interrupted).collect();
    if whole.is_empty() { all } else { whole }
}

/// A figure over several rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stat {
    /// The middle one.
    pub median: f64,
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// How many.
    pub rounds: usize,
}

impl Stat {
    /// Of these values, if there are any.
    pub fn of(values: Vec<f64>) -> Option<Stat> {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let rounds = values.len();
        Some(Stat { median: median(values)?, low, high, rounds })
    }

    /// Half the distance between the extremes as a share of the median; none of a single round.
    pub fn spread(&self) -> Option<f64> {
        (self.rounds > 1 && self.median > 0.0).then(|| (self.high - self.low) / 2.0 / self.median)
    }
}

impl Point<'_> {
    /// Where it stands on the section's axis: its offered rate, or its number of clients.
    pub fn x(&self, open: bool) -> f64 {
        if open { self.offered } else { self.clients as f64 }
    }

    /// The server's processors; those of the machine if it had all.
    pub fn processors(&self) -> usize {
        match (self.cpus, self.rounds.first()) {
            (0, Some(record)) => record.machine.cores,
            (cpus, _) => cpus,
        }
    }

    /// What was measured.
    pub fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        counted(self.rounds.iter().copied()).into_iter()
    }

    /// A figure over the rounds that have it.
    pub fn stat(&self, of: impl Fn(&Outcome) -> Option<f64>) -> Option<Stat> {
        Stat::of(self.outcomes().filter_map(of).collect())
    }

    /// The round whose rate is the median, or the nearest below it.
    pub fn typical(&self) -> Option<&Outcome> {
        let mut outcomes: Vec<&Outcome> = self.outcomes().collect();
        outcomes.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        outcomes.get(outcomes.len().saturating_sub(1) / 2).copied()
    }

    /// The latencies of all rounds together.
    pub fn latencies(&self) -> Histogram {
        let buckets = self.outcomes().flat_map(|outcome| &outcome.histogram);
        Histogram::from_buckets(buckets.map(|&(us, n)| ((us * 1000.0).round() as u64, n)))
    }

    /// Why a round failed, and how many did.
    pub fn failures(&self) -> Option<(&str, usize)> {
        let mut errors = self.rounds.iter().filter_map(|record| record.error.as_deref());
        let first = errors.next()?;
        Some((first, 1 + errors.count()))
    }
}

impl<'a> Section<'a> {
    /// Numbers of processors that servers were bound to, 0 being all.
    pub fn cpus(&self) -> Vec<usize> {
        sorted(self.points.iter().map(|point| point.cpus as f64)).map(|n| n as usize).collect()
    }

    /// The same with all written as the machine's number of them, for a chart.
    pub fn processors(&self) -> impl Iterator<Item = usize> {
        sorted(self.points.iter().map(|point| point.processors() as f64)).map(|n| n as usize)
    }

    /// What the workload was run with.
    pub fn parameters(&self) -> String {
        let info = self.workload;
        let mut parts = vec![count(info.rows as usize, "row")];
        if info.scale > 1 {
            parts.push(format!("scale {}", number(info.scale as f64)));
        }
        parts.extend((info.distribution != "own").then(|| info.distribution.clone()));
        parts.push(if info.prepared { "prepared" } else { "text" }.to_owned());
        parts.extend(info.options.iter().map(|(name, value)| format!("{name}={value}")));
        if self.open {
            parts.push("open loop".to_owned());
        }
        parts.join(", ")
    }

    /// The points of the charts over clients: those with the most processors.
    pub fn widest(&self) -> impl Iterator<Item = &Point<'a>> {
        let all = self.cpus();
        let widest = if all.first() == Some(&0) { 0 } else { all.last().copied().unwrap_or(0) };
        self.points.iter().filter(move |point| point.cpus == widest)
    }

    /// Numbers of clients, or offered rates, of [`Section::widest`].
    pub fn xs(&self) -> Vec<f64> {
        sorted(self.widest().map(|point| point.x(self.open))).collect()
    }

    /// Whether less is better: the figure of single statements is their time.
    pub fn by_time(&self) -> bool {
        self.workload.figure == "time"
    }

    /// The best figure of a series over everything measured: rate, or median latency in
    /// microseconds; and the point it was reached at.
    pub fn best(&self, series: usize) -> Option<(f64, &Point<'a>)> {
        let figure = |point: &Point<'_>| {
            let stat = point.stat(|o| match self.by_time() {
                true => o.took(|latency| latency.p50),
                false => Some(o.rate),
            });
            stat.map(|stat| stat.median)
        };
        let points = self.points.iter().filter(|point| point.series == series);
        let figures = points.filter_map(|point| Some((figure(point)?, point)));
        let sign = if self.by_time() { -1.0 } else { 1.0 };
        figures.max_by(|a, b| (a.0 * sign).total_cmp(&(b.0 * sign)))
    }

    /// The floor's processor time per transaction under the same circumstances.
    pub fn floor_cpu(&self, report: &Report<'_>, like: &Point<'_>) -> Option<f64> {
        let floor = self.points.iter().find(|point| {
            report.series[point.series].target.product == "floor"
                && point.clients == like.clients
                && point.cpus == like.cpus
                && point.offered == like.offered
        });
        Some(floor?.stat(|outcome| outcome.cpu.server)?.median)
    }
}

/// Distinct values in order.
fn sorted(values: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values.into_iter()
}

impl<'a> Report<'a> {
    /// Sorts records into series, sections and points.
    pub fn new(records: &'a [Record]) -> Report<'a> {
        let mut targets: Vec<&TargetInfo> = Vec::new();
        let mut sections: Vec<(String, Section<'a>)> = Vec::new();
        for record in records {
            let series = targets.iter().position(|&known| same(known, &record.target));
            let series = series.unwrap_or_else(|| {
                targets.push(&record.target);
                targets.len() - 1
            });
            let open = record.method.rate.is_some();
            let key = section_key(&record.workload, open);
            let at = sections.iter().position(|(known, _)| *known == key);
            let at = at.unwrap_or_else(|| {
                let section = Section { workload: &record.workload, open, points: Vec::new() };
                sections.push((key, section));
                sections.len() - 1
            });
            place(&mut sections[at].1, series, record);
        }
        let mut sections: Vec<Section<'a>> = sections.into_iter().map(|(_, one)| one).collect();
        let order = |a: &Point<'_>, b: &Point<'_>| {
            let key = |p: &Point<'_>| (p.cpus as f64, p.offered, p.clients as f64, p.series as f64);
            key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
        };
        sections.iter_mut().for_each(|section| section.points.sort_by(order));
        Report { records, series: name(&targets), sections }
    }

    /// The first of Inia's series.
    pub fn own(&self) -> Option<usize> {
        self.series.iter().position(|series| series.target.product.starts_with("inia"))
    }

    /// How much better the first of Inia's series is than the best rival: the best server if it
    /// is a server, the best embedded database if it is one, where there is such a rival.
    pub fn advantage(&self, section: &Section<'_>) -> Option<f64> {
        let at = self.own()?;
        let (own, _) = section.best(at)?;
        let inside = |series: &Series<'_>| EMBEDDED.contains(&series.target.product.as_str());
        let alike = inside(&self.series[at]);
        let rivals = self.series.iter().enumerate().filter(|(_, series)| {
            series.target.product != "floor" && !series.target.product.starts_with("inia")
        });
        let figures = rivals.filter_map(|(at, rival)| Some((inside(rival), section.best(at)?.0)));
        let ratio = |figure: f64| if section.by_time() { figure / own } else { own / figure };
        let ratios = figures.map(|(inside, figure)| (inside, ratio(figure)));
        // What runs in the client's process has no network to pay for: a rival of its own kind
        // comes first.
        let (like, unlike): (Vec<_>, Vec<_>) = ratios.partition(|(inside, _)| *inside == alike);
        let chosen = if like.is_empty() { unlike } else { like };
        chosen
            .into_iter()
            .map(|(_, ratio)| ratio)
            .min_by(f64::total_cmp)
            .filter(|ratio| ratio.is_finite())
    }

    /// Says so if rounds stand together that are no repetitions of one another.
    pub fn mixed(&self) -> Option<String> {
        let several = |point: &&Point<'_>| {
            let hashes: BTreeSet<&str> = point.rounds.iter().map(|r| r.hash.as_str()).collect();
            hashes.len() > 1
        };
        let points = self.sections.iter().flat_map(|section| &section.points);
        let mixed = points.filter(several).count();
        (mixed > 0).then(|| {
            format!(
                "{} of rounds that differ in machine, time, seed or processors",
                count(mixed, "median")
            )
        })
    }

    /// Warnings of rounds, equal but for their figures, with the places they belong to.
    pub fn warnings(&self) -> Vec<(String, Vec<String>)> {
        let mut found: Vec<(String, String, Vec<String>)> = Vec::new();
        for record in self.records {
            let clients = record.method.clients;
            let many = if clients == 1 { "client" } else { "clients" };
            let (workload, label) = (&record.workload.name, &record.target.label);
            let place = format!("{workload} on {label}, {clients} {many}");
            let failed = record.error.iter().map(|error| format!("a round failed: {error}"));
            for text in record.warnings.iter().cloned().chain(failed) {
                let key = text.replace(|letter: char| letter.is_ascii_digit(), "");
                match found.iter_mut().find(|(known, ..)| *known == key) {
                    Some((.., places)) => places.push(place.clone()),
                    None => found.push((key, text, vec![place.clone()])),
                }
            }
        }
        found.into_iter().map(|(_, text, places)| (text, places)).collect()
    }
}

fn same(a: &TargetInfo, b: &TargetInfo) -> bool {
    a.label == b.label && a.version == b.version && a.settings == b.settings
}

fn section_key(workload: &WorkloadInfo, open: bool) -> String {
    let parts = (
        (&workload.name, workload.rows, workload.scale, &workload.distribution),
        (workload.prepared, &workload.options, open),
    );
    format!("{parts:?}")
}

fn place<'a>(section: &mut Section<'a>, series: usize, record: &'a Record) {
    let method = &record.method;
    let offered = method.rate.unwrap_or(0.0);
    let (clients, cpus) = (method.clients, method.server_cpus.len());
    let known = section.points.iter_mut().find(|point| {
        let is = (point.series, point.clients, point.cpus, point.offered);
        is == (series, clients, cpus, offered)
    });
    match known {
        Some(point) => point.rounds.push(record),
        None => {
            let rounds = vec![record];
            section.points.push(Point { series, clients, cpus, offered, rounds });
        }
    }
}

/// Colours by product, so that a product looks the same on every page; the second of a colour takes
/// the next free one.
fn name<'a>(targets: &[&'a TargetInfo]) -> Vec<Series<'a>> {
    let preferred = |product: &str| match product {
        "floor" => Some(html::FLOOR_COLOUR),
        "inia" => Some(0),
        "mysql" => Some(1),
        "mariadb" => Some(2),
        "postgres" => Some(3),
        "sqlite" => Some(4),
        "inia-embedded" => Some(5),
        _ => None,
    };
    let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
    targets.iter().for_each(|target| *labels.entry(&target.label).or_default() += 1);
    let mut taken: Vec<usize> = Vec::new();
    let mut series: Vec<Series<'a>> = Vec::new();
    for &target in targets {
        let wanted = preferred(&target.product).filter(|colour| !taken.contains(colour));
        let free = || (0..html::FLOOR_COLOUR).rev().find(|colour| !taken.contains(colour));
        let colour = wanted.or_else(free).unwrap_or(series.len() % html::FLOOR_COLOUR);
        taken.push(colour);
        let mut name = short_label(&target.label);
        if labels.get(target.label.as_str()).is_some_and(|&n| n > 1) {
            name = format!("{name} {}", target.version);
        }
        let (first, mut n) = (name.clone(), 2);
        while series.iter().any(|known| known.name == name) {
            name = format!("{first} ({n})");
            n += 1;
        }
        series.push(Series { name, target, colour });
    }
    series
}

/// A label that is a URL, without the user and what every URL has.
fn short_label(label: &str) -> String {
    let Some((scheme, rest)) = label.split_once("://") else { return label.to_owned() };
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    format!("{scheme} {}", place.trim_end_matches('/'))
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
