//! A line chart as SVG: one line per series, a band from the least to the greatest round.

use super::scale::Scale;
use crate::report::format::{escape, px};
use serde::Serialize;

/// Size of every chart in its own coordinates; the page scales it to the column.
pub(super) const WIDTH: f64 = 380.0;
/// As [`WIDTH`].
const HEIGHT: f64 = 232.0;
/// Left and right end of the plot.
pub(super) const LEFT: f64 = 50.0;
/// Right end.
pub(super) const RIGHT: f64 = WIDTH - 12.0;
/// Upper end.
pub(super) const TOP: f64 = 22.0;
/// Lower end.
pub(super) const BOTTOM: f64 = HEIGHT - 36.0;

/// A chart with its frame; what is in it is drawn by its owner.
pub(super) struct Frame {
    /// Heading.
    pub(super) title: String,
    /// A remark below the heading.
    pub(super) note: String,
    /// What the vertical axis counts.
    pub(super) unit: &'static str,
    /// What the horizontal axis counts.
    pub(super) across: String,
    /// The horizontal axis, and how its values are written.
    pub(super) x: (Scale, fn(f64) -> String),
    /// The vertical axis.
    pub(super) y: (Scale, fn(f64) -> String),
    /// For those who cannot see it.
    pub(super) summary: String,
    /// What is shown at places along the horizontal axis.
    pub(super) stops: Vec<Stop>,
}

/// A place along the horizontal axis and what is there.
#[derive(Serialize)]
pub(super) struct Stop {
    /// Where.
    pub(super) x: f64,
    /// What place that is.
    pub(super) h: String,
    /// Series (or -1) and text.
    pub(super) r: Vec<(i32, String)>,
}

/// A line.
pub(super) struct Line {
    /// Place in the report's series.
    pub(super) series: usize,
    /// Place in the palette.
    pub(super) colour: usize,
    /// x, y, least and greatest y.
    pub(super) points: Vec<[f64; 4]>,
    /// Whether each point gets a mark.
    pub(super) marks: bool,
}

impl Frame {
    /// The figure with this in its plot.
    pub(super) fn figure(&self, inside: &str) -> String {
        let title = escape(&self.title);
        let stops = serde_json::to_string(&self.stops).unwrap_or_default();
        let mut out = format!(
            "<figure class=chart><figcaption><b>{title}</b>{}</figcaption>\n\
             <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=img tabindex=0 aria-label=\"{title}. {}\" \
             data-stops=\"{}\">\n<text class=unit x=2 y=10>{}</text>\n",
            if self.note.is_empty() {
                String::new()
            } else {
                format!(" <span>{}</span>", escape(&self.note))
            },
            escape(&self.summary),
            escape(&stops),
            escape(self.unit),
        );
        out.push_str(&self.grid());
        out.push_str(inside);
        out.push_str(&format!(
            "<line class=cross x1=0 x2=0 y1={TOP} y2={BOTTOM} visibility=hidden />\n\
             </svg></figure>\n"
        ));
        out
    }

    fn grid(&self) -> String {
        let mut out = String::new();
        for &tick in self.y.0.ticks() {
            let y = self.y.0.at(tick);
            out.push_str(&format!(
                "<path class=grid d=\"M{LEFT} {}H{RIGHT}\"/><text class=y x={} y={}>{}</text>\n",
                px(y),
                LEFT - 6.0,
                px(y + 3.5),
                escape(&(self.y.1)(tick)),
            ));
        }
        out.push_str(&format!("<path class=axis d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/>\n"));
        for &tick in self.x.0.ticks() {
            let x = self.x.0.at(tick);
            out.push_str(&format!(
                "<path class=axis d=\"M{0} {BOTTOM}v4\"/><text class=x x={0} y={1}>{2}</text>\n",
                px(x),
                BOTTOM + 16.0,
                escape(&(self.x.1)(tick)),
            ));
        }
        out.push_str(&format!(
            "<text class=across x={} y={}>{}</text>\n",
            px((LEFT + RIGHT) / 2.0),
            HEIGHT - 5.0,
            escape(&self.across),
        ));
        out
    }

    /// A line with its band and marks.
    pub(super) fn line(&self, line: &Line) -> String {
        let at = |x: f64, y: f64| (self.x.0.at(x), self.y.0.at(y));
        let path = |points: &mut dyn Iterator<Item = (f64, f64)>| {
            let steps: Vec<String> = points.map(|(x, y)| format!("{} {}", px(x), px(y))).collect();
            steps.join("L")
        };
        let mut out = format!("<g data-s={} class=\"s c{}\">", line.series, line.colour);
        if line.points.iter().any(|[_, _, low, high]| high > low) {
            let upper = line.points.iter().map(|&[x, _, _, high]| at(x, high));
            let lower = line.points.iter().rev().map(|&[x, _, low, _]| at(x, low));
            let edge = path(&mut upper.chain(lower));
            out.push_str(&format!("<path class=band d=\"M{edge}Z\"/>"));
        }
        let course = path(&mut line.points.iter().map(|&[x, y, ..]| at(x, y)));
        out.push_str(&format!("<path class=line d=\"M{course}\"/>"));
        if line.marks {
            for &[x, y, ..] in &line.points {
                let (x, y) = at(x, y);
                out.push_str(&mark(line.colour, x, y));
            }
        }
        out.push_str("</g>\n");
        out
    }
}

/// A series' mark; shapes differ where colours may not be distinguished.
pub(super) fn mark(colour: usize, x: f64, y: f64) -> String {
    let shape = match colour % 5 {
        0 => return format!("<circle class=mark cx={} cy={} r=3.6 />", px(x), px(y)),
        1 => "m-3.4-3.4h6.8v6.8h-6.8z",
        2 => "m0-4.4 4.2 7.6h-8.4z",
        3 => "m0-4.8 4.6 4.8-4.6 4.8-4.6-4.8z",
        _ => "m0 4.4 4.2-7.6h-8.4z",
    };
    format!("<path class=mark d=\"M{} {}{shape}\"/>", px(x), px(y))
}
