//! A run's latencies over its seconds: the stronger a cell, the more of that second's transactions.

use super::chart::{BOTTOM, Frame, LEFT, RIGHT, Stop, TOP};
use super::scale::{Scale, ScaleKind};
use crate::record::Second;
use crate::report::format::{count, px, short, short_time, time};

/// Shades of a cell.
const LEVELS: usize = 6;
/// A run must be so many seconds long to be worth a picture.
const SHORTEST: usize = 3;
/// More columns than this cannot be distinguished: seconds are put together.
const COLUMNS: usize = 120;

/// One or several seconds put together.
struct Column {
    from: u64,
    seconds: u64,
    /// p50, p95, p99, max.
    quantiles: [f64; 4],
    transactions: u64,
    /// Bucket's greatest latency and count.
    buckets: Vec<(f64, f64)>,
}

/// A run to draw.
pub(super) struct Run<'r> {
    name: &'r str,
    colour: usize,
    series: usize,
    columns: Vec<Column>,
}

impl<'r> Run<'r> {
    /// A series' run, if it is long enough and its seconds were kept.
    pub(super) fn new(
        name: &'r str,
        colour: usize,
        series: usize,
        seconds: &[Second],
    ) -> Option<Run<'r>> {
        if seconds.len() < SHORTEST || seconds.iter().all(|s| s.histogram.is_empty()) {
            return None;
        }
        Some(Run { name, colour, series, columns: columns(seconds) })
    }

    fn buckets(&self) -> impl Iterator<Item = f64> {
        self.columns.iter().flat_map(|column| column.buckets.iter()).map(|&(top, _)| top)
    }
}

/// The figures of several runs, on one scale.
pub(super) fn figures(runs: &[Run<'_>]) -> String {
    let buckets = || runs.iter().flat_map(Run::buckets);
    let low = buckets().map(floor).fold(f64::INFINITY, f64::min);
    let high = buckets().fold(0.0, f64::max);
    let y = Scale::log(low, high, BOTTOM, TOP);
    runs.iter().map(|run| figure(run, &y)).collect()
}

fn figure(run: &Run<'_>, y: &Scale) -> String {
    let columns = &run.columns;
    let end = columns.last().map_or(1, |column| column.from + column.seconds);
    let width = (RIGHT - LEFT) / end as f64;
    let marks: Vec<f64> = Scale::from_zero(end as f64, 0.0, 1.0).ticks().to_vec();
    let marks: Vec<f64> = marks.into_iter().filter(|mark| *mark <= end as f64).collect();
    let x = Scale::of_values(ScaleKind::Linear, &with_end(&marks, end as f64), 18.0, LEFT, RIGHT);
    let frame = Frame {
        title: run.name.to_owned(),
        note: String::new(),
        unit: "latency, log scale; lines: p50, p99 (dashed)",
        across: "seconds".to_owned(),
        x: (x, short),
        y: (y.clone(), short_time),
        summary: summary(columns),
        stops: columns.iter().map(|column| stop(column, width)).collect(),
    };
    let mut out = format!("<g class=\"heat c{}\">", run.colour);
    for level in 1..=LEVELS {
        let cells = cells(columns, level, width, y);
        if !cells.is_empty() {
            out.push_str(&format!("<path class=h{level} d=\"{cells}\"/>"));
        }
    }
    out.push_str("</g>\n");
    for (quantile, class) in [(0, "p50"), (2, "p99")] {
        let filled = columns.iter().filter(|column| column.transactions > 0);
        let points = filled.map(|column| {
            let x = LEFT + (column.from as f64 + column.seconds as f64 / 2.0) * width;
            format!("{} {}", px(x), px(y.at(column.quantiles[quantile])))
        });
        let course = points.collect::<Vec<_>>().join("L");
        out.push_str(&format!(
            "<path class=halo d=\"M{course}\"/><path class={class} d=\"M{course}\"/>\n"
        ));
    }
    let class = format!("<figure class=chart data-s={}>", run.series);
    frame.figure(&out).replacen("<figure class=chart>", &class, 1)
}

/// The marks of the time axis and its end.
fn with_end(marks: &[f64], end: f64) -> Vec<f64> {
    let mut all = marks.to_vec();
    if all.last() != Some(&end) {
        all.push(end);
    }
    all
}

fn columns(series: &[Second]) -> Vec<Column> {
    let together = series.len().div_ceil(COLUMNS);
    series.chunks(together).map(column).collect()
}

fn column(seconds: &[Second]) -> Column {
    let most = |of: fn(&Second) -> f64| seconds.iter().map(of).fold(0.0, f64::max);
    let mut buckets: Vec<(f64, f64)> = Vec::new();
    for &(top, n) in seconds.iter().flat_map(|second| &second.histogram) {
        match buckets.iter_mut().find(|(known, _)| *known == top) {
            Some((_, sum)) => *sum += f64::from(n),
            None => buckets.push((top, f64::from(n))),
        }
    }
    Column {
        from: seconds.first().map_or(0, |second| second.second),
        seconds: seconds.len() as u64,
        quantiles: [most(|s| s.p50), most(|s| s.p95), most(|s| s.p99), most(|s| s.max)],
        transactions: seconds.iter().map(|second| second.transactions).sum(),
        buckets,
    }
}

/// The least latency of a coarse bucket, which is an eighth of a power of two wide.
fn floor(top: f64) -> f64 {
    let nanos = (top * 1000.0).round() as u64;
    let width = (1u64 << (63 - nanos.max(128).leading_zeros())) / 8;
    ((nanos + 1).saturating_sub(width)).max(1) as f64 / 1000.0
}

/// Shares of a second's transactions from which on a cell has the next shade.
const SHADES: [f64; LEVELS - 1] = [0.0005, 0.003, 0.015, 0.05, 0.15];

fn level(count: f64, all: u64) -> usize {
    let share = count / (all.max(1) as f64);
    1 + SHADES.iter().filter(|&&from| share >= from).count()
}

fn cells(columns: &[Column], wanted: usize, width: f64, y: &Scale) -> String {
    let mut out = String::new();
    for column in columns {
        let x = LEFT + column.from as f64 * width;
        for &(top, count) in &column.buckets {
            if level(count, column.transactions) == wanted {
                let (upper, lower) = (y.at(top), y.at(floor(top)));
                let wide = px(column.seconds as f64 * width);
                out.push_str(&format!(
                    "M{} {}h{wide}v{}h-{wide}z",
                    px(x),
                    px(upper),
                    px(lower - upper)
                ));
            }
        }
    }
    out
}

fn stop(column: &Column, width: f64) -> Stop {
    let [p50, p95, p99, max] = column.quantiles;
    let head = match column.seconds {
        1 => format!("second {}", column.from + 1),
        n => format!("seconds {} to {}", column.from + 1, column.from + n),
    };
    let texts = [
        count(column.transactions as usize, "transaction"),
        format!("p50 {}, p95 {}", time(p50), time(p95)),
        format!("p99 {}, most {}", time(p99), time(max)),
    ];
    let x = LEFT + (column.from as f64 + column.seconds as f64 / 2.0) * width;
    Stop {
        x: (x * 10.0).round() / 10.0,
        h: head,
        r: texts.into_iter().map(|text| (-1, text)).collect(),
    }
}

fn summary(columns: &[Column]) -> String {
    let over = |quantile: usize| {
        let all = || columns.iter().filter(|c| c.transactions > 0).map(|c| c.quantiles[quantile]);
        (time(all().fold(f64::INFINITY, f64::min)), time(all().fold(0.0, f64::max)))
    };
    let ((low, high), (low99, high99)) = (over(0), over(2));
    format!("Median latency by second between {low} and {high}, p99 between {low99} and {high99}")
}
