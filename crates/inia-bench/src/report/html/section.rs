//! One workload: its charts, then its tables.

use super::bars::{self, Bar};
use super::chart::{BOTTOM, Frame, LEFT, Line, RIGHT, Stop, TOP};
use super::scale::{Scale, ScaleKind};
use super::{heat, table};
use crate::record::Latency;
use crate::report::format::{count, deviation, escape, number, short, short_time, time};
use crate::report::{Point, Report, Section, Stat};
use crate::workload;

/// A figure to draw over clients.
struct Measure<'m> {
    title: &'static str,
    note: String,
    unit: &'static str,
    log: bool,
    written: fn(f64) -> String,
    of: &'m dyn Fn(&Point<'_>) -> Option<Stat>,
}

/// The section as HTML.
pub(super) fn html(report: &Report<'_>, section: &Section<'_>, id: &str) -> String {
    let info = section.workload;
    let about = workload::find(&info.name).map_or("", |workload| workload.about());
    let mut out = format!(
        "<section id={id} class=workload>\n<h2>{}</h2>\n<p class=about>{}</p>\n\
         <div class=charts>\n",
        escape(&info.name),
        escape(&format!("{about}. {}.", section.parameters()))
    );
    out.push_str(&charts(report, section));
    out.push_str("</div>\n");
    let heats = heats(report, section);
    if !heats.is_empty() {
        let clients = section.widest().map(|point| point.clients).max().unwrap_or(0);
        out.push_str(&format!(
            "<h3>Latency over time</h3>\n<p class=about>The median round with {}. A cell is the \
             stronger, the more of its second's transactions took so long.</p>\n\
             <div class=charts>\n{heats}</div>\n",
            count(clients, "client")
        ));
    }
    out.push_str(&table::figures(report, section));
    out.push_str(&table::kinds(report, section));
    out.push_str("</section>\n");
    out
}

fn charts(report: &Report<'_>, section: &Section<'_>) -> String {
    let rate = |point: &Point<'_>| point.stat(|outcome| Some(outcome.rate));
    let throughput = Measure {
        title: "Throughput",
        note: String::new(),
        unit: "per second",
        log: false,
        written: short,
        of: &rate,
    };
    let several = section.xs().len() > 1;
    let mut out = String::new();
    if several {
        out.push_str(&over_clients(report, section, &throughput));
    } else {
        out.push_str(&as_bars(report, section, &throughput));
    }
    out.push_str(&latencies(report, section, several));
    let above = |point: &Point<'_>| above_floor(report, section, point);
    let floors = section.widest().any(|point| section.floor_cpu(report, point).is_some());
    let cpu = Measure {
        title: if floors { "Server CPU above the floor" } else { "Server CPU" },
        note: if floors { "floor itself in full" } else { "" }.to_owned(),
        unit: "µs per transaction",
        log: false,
        written: short,
        of: &above,
    };
    if section.widest().any(|point| above(point).is_some()) {
        out.push_str(&if several {
            over_clients(report, section, &cpu)
        } else {
            as_bars(report, section, &cpu)
        });
    }
    out.push_str(&scaling(report, section));
    out.push_str(&distribution(report, section));
    out
}

/// p50, p95 and p99: a chart each on one scale, or marks on lines.
fn latencies(report: &Report<'_>, section: &Section<'_>, several: bool) -> String {
    let quantiles: [(&'static str, fn(&Latency) -> f64); 3] = [
        ("Latency, median", |latency| latency.p50),
        ("Latency, 95th percentile", |latency| latency.p95),
        ("Latency, 99th percentile", |latency| latency.p99),
    ];
    if several {
        let chart = |(title, of): (&'static str, fn(&Latency) -> f64)| {
            let of = |point: &Point<'_>| point.stat(|outcome| outcome.took(of));
            let measure = Measure {
                title,
                note: String::new(),
                unit: "log scale",
                log: true,
                written: time,
                of: &of,
            };
            over_clients(report, section, &measure)
        };
        return quantiles.into_iter().map(chart).collect();
    }
    let bars = section.widest().filter_map(|point| {
        let [p50, p95, p99] = quantiles.map(|(_, of)| point.stat(|outcome| outcome.took(of)));
        let (p50, p95, p99) = (p50?.median, p95?.median, p99?.median);
        let series = &report.series[point.series];
        Some(Bar {
            series: point.series,
            colour: series.colour,
            name: series.name.clone(),
            value: [p50; 3],
            beyond: vec![p95, p99],
            text: format!("{} · {} · {}", time(p50), time(p95), time(p99)),
        })
    });
    let bars: Vec<Bar> = bars.collect();
    if bars.is_empty() {
        return String::new();
    }
    bars::figure("Latency", "p50 · p95 · p99, log scale", &bars, Some(short_time))
}

/// The server's processor time less the floor's; the floor's and embedded databases' own in full.
pub(super) fn above_floor(
    report: &Report<'_>,
    section: &Section<'_>,
    point: &Point<'_>,
) -> Option<Stat> {
    let stat = point.stat(|outcome| outcome.cpu.server)?;
    let alone = point.outcomes().any(|outcome| outcome.cpu.in_process)
        || report.series[point.series].target.product == "floor";
    let floor = section.floor_cpu(report, point).filter(|_| !alone).unwrap_or(0.0);
    let less = |value: f64| (value - floor).max(0.0);
    let (median, low, high) = (less(stat.median), less(stat.low), less(stat.high));
    Some(Stat { median, low, high, ..stat })
}

fn over_clients(report: &Report<'_>, section: &Section<'_>, measure: &Measure<'_>) -> String {
    let mut lines: Vec<Line> = Vec::new();
    let mut stops: Vec<Stop> = Vec::new();
    let xs = section.xs();
    let x = Scale::of_values(ScaleKind::Log, &xs, 22.0, LEFT + 10.0, RIGHT - 8.0);
    let (across, noun) =
        if section.open { ("offered per second", "per second") } else { ("clients", "clients") };
    for &value in &xs {
        let head = format!("{} {noun}", number(value));
        let head = if value == 1.0 { head.trim_end_matches('s').to_owned() } else { head };
        stops.push(Stop { x: (x.at(value) * 10.0).round() / 10.0, h: head, r: Vec::new() });
    }
    for point in section.widest() {
        let Some(stat) = (measure.of)(point) else { continue };
        let at = point.x(section.open);
        let colour = report.series[point.series].colour;
        let known = lines.iter().position(|line| line.series == point.series);
        let known = known.unwrap_or_else(|| {
            lines.push(Line { series: point.series, colour, points: Vec::new(), marks: true });
            lines.len() - 1
        });
        lines[known].points.push([at, stat.median, stat.low, stat.high]);
        let text = (measure.written)(stat.median);
        let text = if measure.log { text } else { number(stat.median) };
        let spread = stat.spread().map_or(String::new(), |s| format!(" {}", deviation(s)));
        if let Some(stop) = xs.iter().position(|&x| x == at).and_then(|i| stops.get_mut(i)) {
            stop.r.push((point.series as i32, text + &spread));
        }
    }
    let y = vertical(&lines, measure.log);
    let frame = Frame {
        title: measure.title.to_owned(),
        note: measure.note.clone(),
        unit: measure.unit,
        across: across.to_owned(),
        x: (x, short),
        y: (y, if measure.log { short_time } else { short }),
        summary: summary(report, &stops),
        stops,
    };
    let drawn: String = lines.iter().rev().map(|line| frame.line(line)).collect();
    frame.figure(&drawn)
}

fn vertical(lines: &[Line], log: bool) -> Scale {
    let all = || lines.iter().flat_map(|line| line.points.iter());
    let high = all().map(|&[.., high]| high).fold(0.0, f64::max);
    if log {
        let low = all().map(|&[_, _, low, _]| low).fold(f64::INFINITY, f64::min);
        return Scale::log(low, high, BOTTOM, TOP);
    }
    Scale::from_zero(high, BOTTOM, TOP)
}

/// The last stop in words.
fn summary(report: &Report<'_>, stops: &[Stop]) -> String {
    let Some(last) = stops.last() else { return String::new() };
    let figures = last.r.iter().filter_map(|(series, text)| {
        let series = report.series.get(usize::try_from(*series).ok()?)?;
        Some(format!("{} {text}", series.name))
    });
    format!("At {}: {}", last.h, figures.collect::<Vec<_>>().join(", "))
}

fn as_bars(report: &Report<'_>, section: &Section<'_>, measure: &Measure<'_>) -> String {
    let bars = section.widest().filter_map(|point| {
        let stat = (measure.of)(point)?;
        let series = &report.series[point.series];
        let spread = stat.spread().map_or(String::new(), |s| format!(" {}", deviation(s)));
        Some(Bar {
            series: point.series,
            colour: series.colour,
            name: series.name.clone(),
            value: [stat.median, stat.low, stat.high],
            beyond: Vec::new(),
            text: number(stat.median) + &spread,
        })
    });
    let bars: Vec<Bar> = bars.collect();
    if bars.is_empty() {
        return String::new();
    }
    let note = if measure.note.is_empty() {
        measure.unit.to_owned()
    } else {
        format!("{}; {}", measure.unit, measure.note)
    };
    bars::figure(measure.title, &note, &bars, None)
}

/// The best rate by the number of the server's processors, with what equal growth would give.
fn scaling(report: &Report<'_>, section: &Section<'_>) -> String {
    let counts: Vec<f64> = section.processors().map(|n| n as f64).collect();
    if counts.len() < 2 {
        return String::new();
    }
    let x = Scale::of_values(ScaleKind::Linear, &counts, 18.0, LEFT + 10.0, RIGHT - 8.0);
    let (mut lines, mut stops) = (Vec::new(), Vec::new());
    for &cpus in &counts {
        let head = count(cpus as usize, "processor");
        stops.push(Stop { x: (x.at(cpus) * 10.0).round() / 10.0, h: head, r: Vec::new() });
    }
    for (number_of, series) in report.series.iter().enumerate() {
        let mut points: Vec<[f64; 4]> = Vec::new();
        for (cpus, stop) in counts.iter().zip(&mut stops) {
            let here = section
                .points
                .iter()
                .filter(|point| point.series == number_of && point.processors() as f64 == *cpus);
            let stats = here.filter_map(|point| point.stat(|outcome| Some(outcome.rate)));
            let Some(best) = stats.max_by(|a, b| a.median.total_cmp(&b.median)) else { continue };
            let factor = points.first().map_or(1.0, |first| best.median / first[1]);
            let text = format!("{}, ×{factor:.2}", number(best.median));
            stop.r.push((number_of as i32, text));
            points.push([*cpus, best.median, best.low, best.high]);
        }
        if !points.is_empty() {
            lines.push(Line { series: number_of, colour: series.colour, points, marks: true });
        }
    }
    let ideal = |line: &Line| Some(line.points.first()?[1] / line.points.first()?[0]);
    let last = counts.last().copied().unwrap_or(1.0);
    let most = lines.iter().flat_map(|line| line.points.iter().map(|p| p[3])).fold(0.0, f64::max);
    let frame = Frame {
        title: "Scaling with processors".to_owned(),
        note: "best over all clients; dashed: in proportion to the first".to_owned(),
        unit: "per second",
        across: "the server's processors".to_owned(),
        x: (x, short),
        y: (Scale::from_zero(most, BOTTOM, TOP), short),
        summary: summary(report, &stops),
        stops,
    };
    let mut drawn = String::new();
    for line in &lines {
        if let Some(each) = ideal(line) {
            let ends = [counts[0], (most / each).min(last)];
            let points = ends.map(|cpus| [cpus, cpus * each, cpus * each, cpus * each]).to_vec();
            let ideal = frame.line(&Line { points, marks: false, ..*line });
            drawn.push_str(&ideal.replacen("class=line", "class=\"line ideal\"", 1));
        }
        drawn.push_str(&frame.line(line));
    }
    frame.figure(&drawn)
}

/// Shares of transactions that are at most so slow, to the far tail.
const SHARES: [f64; 13] =
    [0.5, 0.6, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999, 0.999999];

/// Latency by percentile with the most clients; each nine is as wide as the one before.
fn distribution(report: &Report<'_>, section: &Section<'_>) -> String {
    let Some(&most) = section.xs().last() else { return String::new() };
    let points = || section.widest().filter(|point| point.x(section.open) == most);
    let counted = |point: &Point<'_>| point.latencies().count();
    // Beyond the second slowest of all there is nothing to see.
    let tail = points().map(counted).max().map_or(0.0, |n| 1.0 - 2.0 / n.max(4) as f64);
    let shares: Vec<f64> = SHARES.into_iter().filter(|&share| share <= tail).collect();
    let nines: Vec<f64> = shares.iter().map(|share| 1.0 / (1.0 - share)).collect();
    let round = |place: f64| (place.log10() - place.log10().round()).abs() < 1e-6 || place == 2.0;
    let marks: Vec<f64> = nines.iter().copied().filter(|&place| round(place)).collect();
    let x = Scale::of_values(ScaleKind::Log, &nines, 0.0, LEFT + 6.0, RIGHT - 14.0).marked(marks);
    let mut stops: Vec<Stop> = Vec::new();
    for (&share, &place) in shares.iter().zip(&nines) {
        let head = format!("{} are at most", percent(share));
        stops.push(Stop { x: (x.at(place) * 10.0).round() / 10.0, h: head, r: Vec::new() });
    }
    let mut lines: Vec<Line> = Vec::new();
    for point in points() {
        let histogram = point.latencies();
        let own = 1.0 - 2.0 / histogram.count().max(4) as f64;
        let mut course = Vec::new();
        for ((&share, &place), stop) in shares.iter().zip(&nines).zip(&mut stops) {
            if share <= own && histogram.count() > 0 {
                let micros = histogram.quantile(share) as f64 / 1000.0;
                course.push([place, micros, micros, micros]);
                stop.r.push((point.series as i32, time(micros)));
            }
        }
        if !course.is_empty() {
            let colour = report.series[point.series].colour;
            lines.push(Line { series: point.series, colour, points: course, marks: true });
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let noun = if section.open { "per second" } else { "clients" };
    let frame = Frame {
        title: "Latency by percentile".to_owned(),
        note: format!("at {} {noun}, all rounds", number(most)),
        unit: "log scale",
        across: "per cent of transactions".to_owned(),
        x: (x, |nines| percent(1.0 - 1.0 / nines).replace(" %", "")),
        y: (vertical(&lines, true), short_time),
        summary: summary(report, &stops),
        stops,
    };
    let drawn: String = lines.iter().rev().map(|line| frame.line(line)).collect();
    frame.figure(&drawn)
}

fn percent(share: f64) -> String {
    let text = format!("{:.4}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

fn heats(report: &Report<'_>, section: &Section<'_>) -> String {
    let Some(&most) = section.xs().last() else { return String::new() };
    let points = section.widest().filter(|point| point.x(section.open) == most);
    let runs: Vec<heat::Run<'_>> = points
        .filter_map(|point| {
            let series = &report.series[point.series];
            let run = point.typical()?;
            heat::Run::new(&series.name, series.colour, point.series, &run.series)
        })
        .collect();
    heat::figures(&runs)
}
