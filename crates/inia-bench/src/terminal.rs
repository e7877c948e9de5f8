//! Tables and progress for people at a terminal.

use crate::compare::Watcher;
use crate::record::{Outcome, Record};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Shows a line of progress with the time left, and keeps each record as it comes.
pub struct Progress {
    begun: Instant,
    shown: bool,
    state: Mutex<State>,
}

struct State {
    last: Option<Instant>,
    file: Option<File>,
    failed: Option<String>,
}

impl Progress {
    /// Progress on standard error if that is a terminal; records go to the file, if any.
    pub fn new(file: Option<File>) -> Progress {
        let state = State { last: None, file, failed: None };
        let shown = std::io::stderr().is_terminal();
        Progress { begun: Instant::now(), shown, state: Mutex::new(state) }
    }

    /// Removes the line; the error is of a record that could not be kept.
    pub fn end(&self) -> Result<(), String> {
        self.erase();
        self.state.lock().expect("no watcher panics").failed.take().map_or(Ok(()), Err)
    }

    /// Removes the line, before something else is printed.
    pub fn erase(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }

    /// Tells something that does not end the run.
    pub fn note(&self, message: &str) {
        self.erase();
        eprintln!("{message}");
    }
}

impl Watcher for Progress {
    fn progress(&self, what: &str, share: f64) {
        let mut state = self.state.lock().expect("no watcher panics");
        let soon = |last: Instant| last.elapsed() < Duration::from_millis(200);
        if !self.shown || state.last.is_some_and(soon) {
            return;
        }
        state.last = Some(Instant::now());
        let left = self.begun.elapsed().as_secs_f64() * (1.0 - share) / share.max(1e-3);
        let filled = (share * 20.0) as usize;
        let (done, open) = ("#".repeat(filled.min(20)), ".".repeat(20 - filled.min(20)));
        eprint!("\r\x1b[K[{done}{open}] {what}, {} left", duration(left));
        let _ = std::io::stderr().flush();
    }

    fn finished(&self, record: &Record) {
        let mut state = self.state.lock().expect("no watcher panics");
        if let Some(file) = &mut state.file
            && let Err(error) = writeln!(file, "{}", record.line())
        {
            state.failed = Some(format!("cannot write the results: {error}"));
        }
    }
}

fn duration(seconds: f64) -> String {
    let seconds = seconds as u64;
    if seconds >= 60 {
        format!("{} min {} s", seconds / 60, seconds % 60)
    } else {
        format!("{seconds} s")
    }
}

const HEAD: [&str; 11] = [
    "workload",
    "clients",
    "target",
    "rate",
    "spread",
    "p50",
    "p99",
    "server CPU",
    "client CPU",
    "RSS MiB",
    "retries",
];

/// The medians of a comparison: one line per workload, number of clients and target.
pub fn table(records: &[Record]) -> String {
    let mut lines: Vec<Vec<String>> = vec![HEAD.iter().map(|&name| name.to_owned()).collect()];
    let mut keys: Vec<_> = Vec::new();
    for record in records {
        let key = key(record);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    for wanted in keys {
        let rounds: Vec<&Record> = records.iter().filter(|r| key(r) == wanted).collect();
        lines.push(line(&rounds));
    }
    let mut out = align(&lines);
    out.push_str("rate per second, latency and CPU per transaction in microseconds\n");
    out
}

/// What a sweep over numbers of processors is run for: per workload and target the best rate on
/// each number of them, and by what it has grown from the first.
pub fn factors(records: &[Record]) -> String {
    let mut best: BTreeMap<(&str, &str), Vec<(usize, f64)>> = BTreeMap::new();
    for record in records {
        let Some(outcome) = &record.outcome else { continue };
        let key = (record.workload.name.as_str(), record.target.label.as_str());
        let (peaks, count) = (best.entry(key).or_default(), record.method.server_cpus.len());
        match peaks.iter_mut().find(|(known, _)| *known == count) {
            Some((_, peak)) => *peak = peak.max(outcome.rate),
            None => peaks.push((count, outcome.rate)),
        }
    }
    let mut out = String::new();
    for ((workload, label), peaks) in best {
        let first = peaks.first().map_or(0.0, |(_, peak)| *peak);
        for (count, peak) in peaks {
            let factor = if first > 0.0 { peak / first } else { 0.0 };
            let rate = number(peak);
            out.push_str(&format!(
                "{workload} on {label}, {count} processors: peak {rate}, factor {factor:.2}\n"
            ));
        }
    }
    out
}

fn key(record: &Record) -> (&str, usize, &str) {
    (&record.workload.name, record.method.clients, &record.target.label)
}

fn line(rounds: &[&Record]) -> Vec<String> {
    let (name, clients, label) = key(rounds[0]);
    let mut cells = vec![name.to_owned(), clients.to_string(), label.to_owned()];
    let good: Vec<&Outcome> = rounds.iter().filter_map(|record| record.outcome.as_ref()).collect();
    if good.is_empty() {
        let error = rounds.iter().find_map(|record| record.error.as_deref());
        cells.push(format!("FAILED: {}", error.unwrap_or("nothing measured")));
        return cells;
    }
    let figure = |of: &dyn Fn(&Outcome) -> Option<f64>| {
        median(good.iter().filter_map(|outcome| of(outcome)).collect())
    };
    let shown = |value: Option<f64>| value.map_or("-".to_owned(), number);
    cells.push(shown(figure(&|o| Some(o.rate))));
    cells.push(spread(&good));
    cells.push(shown(figure(&|o| Some(o.latency.p50))));
    cells.push(shown(figure(&|o| Some(o.latency.p99))));
    cells.push(shown(figure(&|o| o.cpu.server)));
    cells.push(shown(figure(&|o| o.cpu.client)));
    cells.push(shown(figure(&|o| o.rss.map(|bytes| (bytes >> 20) as f64))));
    cells.push(good.iter().map(|outcome| outcome.retries).sum::<u64>().to_string());
    if good.len() < rounds.len() {
        cells.push(format!("{} of {} rounds failed", rounds.len() - good.len(), rounds.len()));
    }
    cells
}

/// Half the distance between the fastest and the slowest round, in per cent of the median.
fn spread(outcomes: &[&Outcome]) -> String {
    let rates: Vec<f64> = outcomes.iter().map(|outcome| outcome.rate).collect();
    let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let high = rates.iter().copied().fold(0.0, f64::max);
    match median(rates) {
        Some(middle) if middle > 0.0 && outcomes.len() > 1 => {
            format!("±{:.1} %", (high - low) / 2.0 / middle * 100.0)
        }
        _ => "-".to_owned(),
    }
}

/// The middle value.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let high = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { high } else { (values[middle - 1] + high) / 2.0 })
}

fn number(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// Columns of equal width; the first three hold words, the others figures.
fn align(lines: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.filter(|cell| !cell.starts_with("FAILED")).map(|cell| cell.chars().count()).max()
    };
    let mut out = String::new();
    for line in lines {
        let mut text = String::new();
        for (column, cell) in line.iter().enumerate() {
            let width = width(column).unwrap_or(0);
            if column == 0 || column == 2 || column >= HEAD.len() {
                text.push_str(&format!("{cell:<width$}  "));
            } else {
                text.push_str(&format!("{cell:>width$}  "));
            }
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests;
