//! Tables: what the charts show and more, in figures.

use super::section::above_floor;
use crate::record::{Latency, Outcome};
use crate::report::format::{count, deviation, escape, number};
use crate::report::{Point, Report, Section};

/// A table under construction.
struct Table {
    out: String,
    columns: usize,
}

impl Table {
    /// With these columns; those whose name starts with `<` hold words.
    fn new(caption: &str, head: &[String]) -> Table {
        let mut out = format!(
            "<div class=scroll tabindex=0 role=region aria-label=\"{0}\"><table>\n\
             <caption>{0}</caption>\n<thead><tr>",
            escape(caption)
        );
        for name in head {
            let (class, name) = name.strip_prefix('<').map_or(("", &**name), |n| (" class=l", n));
            out.push_str(&format!("<th scope=col{class}>{}</th>", escape(name)));
        }
        out.push_str("</tr></thead>\n");
        Table { out, columns: head.len() }
    }

    fn end(mut self) -> String {
        self.out.push_str("</table></div>\n");
        self.out
    }
}

/// A series' mark and name, for a cell.
pub(super) fn named(report: &Report<'_>, series: usize) -> String {
    let one = &report.series[series];
    let shape = super::chart::mark(one.colour, 6.0, 6.0);
    format!(
        "<svg class=\"key c{}\" viewBox=\"0 0 12 12\" aria-hidden=true>{shape}</svg>{}",
        one.colour,
        escape(&one.name)
    )
}

fn cell(value: Option<f64>) -> String {
    format!("<td>{}</td>", value.map_or("–".to_owned(), number))
}

/// Medians of every point of a section.
pub(super) fn figures(report: &Report<'_>, section: &Section<'_>) -> String {
    let slow = section.points.iter().filter_map(|p| Some(p.stat(|o| o.took(|l| l.p50))?.median));
    let milli = slow.fold(0.0, f64::max) >= 2000.0;
    let unit = if milli { "ms" } else { "µs" };
    let (bound, retried) = (section.cpus().len() > 1, has(section, |o| o.retries > 0));
    let mut head: Vec<String> = vec!["clients".into()];
    if section.open {
        head.push("offered /s".into());
    }
    if bound {
        head.push("CPUs".into());
    }
    head.extend(["<target", "per second", "spread"].map(str::to_owned));
    head.extend(["p50", "p95", "p99", "max"].map(|name| format!("{name} {unit}")));
    let floor = section.points.iter().any(|point| section.floor_cpu(report, point).is_some());
    head.push("server CPU µs".into());
    head.extend(floor.then(|| "above floor".to_owned()));
    head.extend(["client CPU µs", "RSS MiB"].map(str::to_owned));
    if retried {
        head.push("retries".into());
    }
    let loaded = has(section, |o| o.load_seconds.is_some());
    if loaded {
        head.push("load s".into());
    }
    head.extend(extras(section));
    head.extend(["rounds", "<configuration"].map(str::to_owned));
    let caption = format!("{}: medians of the rounds", section.workload.name);
    let mut table = Table::new(&caption, &head);
    let mut rest = section.points.as_slice();
    while let Some(first) = rest.first() {
        let group = |point: &Point<'_>| (point.clients, point.cpus, point.offered);
        let end = rest.iter().position(|point| group(point) != group(first)).unwrap_or(rest.len());
        table.out.push_str("<tbody>\n");
        for (row, point) in rest[..end].iter().enumerate() {
            table.out.push_str("<tr>");
            if row == 0 {
                let mut keys = vec![number(point.clients as f64)];
                keys.extend(section.open.then(|| number(point.offered)));
                keys.extend(bound.then(|| match point.cpus {
                    0 => "all".to_owned(),
                    n => n.to_string(),
                }));
                for key in keys {
                    table.out.push_str(&format!("<th scope=rowgroup rowspan={end}>{key}</th>"));
                }
            }
            let columns = table.columns;
            let line = Row { report, section, point, milli, floor, retried, loaded, columns };
            table.out.push_str(&line.html());
            table.out.push_str("</tr>\n");
        }
        table.out.push_str("</tbody>\n");
        rest = &rest[end..];
    }
    table.end()
}

fn has(section: &Section<'_>, what: impl Fn(&Outcome) -> bool) -> bool {
    section.points.iter().flat_map(|point| point.outcomes()).any(what)
}

/// Names and units of the workload's further figures.
fn extras(section: &Section<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for outcome in section.points.iter().flat_map(|point| point.outcomes()) {
        for extra in &outcome.extras {
            let name = format!("{} {}", extra.name, extra.unit);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

struct Row<'r, 'a> {
    report: &'r Report<'a>,
    section: &'r Section<'a>,
    point: &'r Point<'a>,
    milli: bool,
    floor: bool,
    retried: bool,
    loaded: bool,
    columns: usize,
}

impl Row<'_, '_> {
    fn html(&self) -> String {
        let (point, report) = (self.point, self.report);
        let warned = point.rounds.iter().flat_map(|record| &record.warnings).next();
        let sign = warned.map_or(String::new(), |text| {
            format!(" <abbr class=warn title=\"{}\">▲</abbr>", escape(text))
        });
        let mut out = format!("<th scope=row class=l>{}{sign}</th>", named(report, point.series));
        let median = |of: &dyn Fn(&Outcome) -> Option<f64>| point.stat(of).map(|s| s.median);
        let Some(rate) = point.stat(|outcome| Some(outcome.rate)) else {
            let text = point.failures().map_or("nothing was measured", |(text, _)| text);
            let span = self.columns;
            out.push_str(&format!("<td class=\"l failed\" colspan={span}>failed: "));
            return out + &escape(text) + "</td>";
        };
        out.push_str(&cell(Some(rate.median)));
        let spread = rate.spread().map_or("–".to_owned(), deviation);
        out.push_str(&format!("<td>{spread}</td>"));
        let divide = if self.milli { 1000.0 } else { 1.0 };
        let quantiles: [fn(&Latency) -> f64; 4] = [|l| l.p50, |l| l.p95, |l| l.p99, |l| l.max];
        for of in quantiles {
            out.push_str(&cell(median(&|o| Some(o.took(of)? / divide))));
        }
        out.push_str(&cell(median(&|o| o.cpu.server)));
        let floor = self.section.floor_cpu(report, point);
        let above = above_floor(report, self.section, point).filter(|_| {
            floor.is_some()
                && report.series[point.series].target.product != "floor"
                && !point.outcomes().any(|outcome| outcome.cpu.in_process)
        });
        if self.floor {
            out.push_str(&cell(above.map(|stat| stat.median)));
        }
        out.push_str(&cell(median(&|o| o.cpu.client)));
        out.push_str(&cell(median(&|o| o.rss.map(|bytes| bytes as f64 / 1_048_576.0))));
        if self.retried {
            let sum: u64 = point.outcomes().map(|outcome| outcome.retries).sum();
            out.push_str(&cell(Some(sum as f64)));
        }
        if self.loaded {
            out.push_str(&cell(median(&|o| o.load_seconds)));
        }
        for name in extras(self.section) {
            out.push_str(&cell(median(&|o| {
                let found = o.extras.iter().find(|e| format!("{} {}", e.name, e.unit) == name);
                found.map(|extra| extra.value)
            })));
        }
        let failed = point.failures().map_or(String::new(), |(text, n)| {
            format!(" <abbr class=warn title=\"{}\">{n} failed</abbr>", escape(text))
        });
        let hash = point.rounds.first().map_or("", |record| &record.hash);
        out + &format!("<td>{}{failed}</td><td class=\"l hash\">{hash}</td>", rate.rounds)
    }
}

/// What kinds of transactions a workload has, with the most clients.
pub(super) fn kinds(report: &Report<'_>, section: &Section<'_>) -> String {
    let most = section.xs().last().copied().unwrap_or(0.0);
    let points = || section.widest().filter(|point| point.x(section.open) == most);
    if !points().any(|point| point.typical().is_some_and(|outcome| !outcome.kinds.is_empty())) {
        return String::new();
    }
    let caption = format!("{}: kinds of transactions, median round", section.workload.name);
    let caption = format!("{caption} with {}", count(most as usize, "client"));
    let head = ["<kind", "<target", "per second", "p50 µs", "p95 µs", "p99 µs", "max µs"];
    let mut table = Table::new(&caption, &head.map(str::to_owned));
    let mut names: Vec<&str> = Vec::new();
    for kind in points().filter_map(|point| point.typical()).flat_map(|outcome| &outcome.kinds) {
        if !names.contains(&kind.name.as_str()) {
            names.push(&kind.name);
        }
    }
    for name in names {
        table.out.push_str("<tbody>\n");
        for point in points() {
            let Some(outcome) = point.typical() else { continue };
            let Some(kind) = outcome.kinds.iter().find(|kind| kind.name == name) else { continue };
            let rate = kind.transactions as f64 / outcome.seconds.max(1e-9);
            let latency = &kind.latency;
            let times = [latency.p50, latency.p95, latency.p99, latency.max];
            let times = times.map(|time| (kind.transactions > 0).then_some(time));
            let cells: String = cell(Some(rate)) + &times.map(cell).concat();
            table.out.push_str(&format!(
                "<tr><th scope=row class=l>{}</th><td class=l>{}</td>{cells}</tr>\n",
                escape(name),
                named(report, point.series)
            ));
        }
        table.out.push_str("</tbody>\n");
    }
    table.end()
}
