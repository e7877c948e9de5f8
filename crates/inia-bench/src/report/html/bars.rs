//! Horizontal bars, for a figure that was measured at one place only.

use super::chart::{WIDTH, mark};
use super::scale::Scale;
use crate::report::format::{escape, px};

/// One series' bar.
pub(super) struct Bar {
    /// Place in the report's series.
    pub(super) series: usize,
    /// Place in the palette.
    pub(super) colour: usize,
    /// What stands above it.
    pub(super) name: String,
    /// The figure, and the least and the greatest round.
    pub(super) value: [f64; 3],
    /// Further figures on the same scale, to its right.
    pub(super) beyond: Vec<f64>,
    /// The figure as text.
    pub(super) text: String,
}

const ROW: f64 = 36.0;
const LEFT: f64 = 2.0;
const RIGHT: f64 = WIDTH - 8.0;

/// A figure of bars from zero; with `log`, of marks on a line instead.
pub(super) fn figure(
    title: &str,
    note: &str,
    bars: &[Bar],
    log: Option<fn(f64) -> String>,
) -> String {
    let all = || bars.iter().flat_map(|bar| bar.value.iter().chain(&bar.beyond).copied());
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let scale = match log {
        Some(_) => Scale::log(low, high, LEFT + 14.0, RIGHT - 16.0),
        None => Scale::from_zero(high, LEFT, RIGHT),
    };
    let height = ROW * bars.len() as f64 + if log.is_some() { 20.0 } else { 4.0 };
    let texts: Vec<String> = bars.iter().map(|bar| format!("{}: {}", bar.name, bar.text)).collect();
    let mut out = format!(
        "<figure class=chart><figcaption><b>{}</b> <span>{}</span></figcaption>\n\
         <svg viewBox=\"0 0 {WIDTH} {height}\" role=img aria-label=\"{}. {}\">\n",
        escape(title),
        escape(note),
        escape(title),
        escape(&texts.join("; ")),
    );
    if let Some(written) = log {
        for &tick in scale.ticks() {
            let (x, end) = (scale.at(tick), height - 18.0);
            out.push_str(&format!(
                "<path class=grid d=\"M{0} 4V{end}\"/><text class=x x={0} y={1}>{2}</text>\n",
                px(x),
                height - 5.0,
                written(tick),
            ));
        }
    }
    for (row, bar) in bars.iter().enumerate() {
        out.push_str(&drawn(bar, &scale, row as f64 * ROW, log.is_some()));
    }
    out.push_str("</svg></figure>\n");
    out
}

fn drawn(bar: &Bar, scale: &Scale, top: f64, marks: bool) -> String {
    let [value, low, high] = bar.value.map(|value| scale.at(value));
    let (y, middle) = (top + 20.0, top + 26.0);
    let base = top + 14.0;
    let mut out = format!(
        "<g data-s={} class=\"s c{}\"><text class=name x={LEFT} y={base}>{}</text>\
         <text class=value x={RIGHT} y={base}>{}</text>",
        bar.series,
        bar.colour,
        escape(&bar.name),
        escape(&bar.text),
    );
    if marks {
        let end = bar.beyond.iter().map(|&value| scale.at(value)).fold(value, f64::max);
        out.push_str(&format!("<path class=line d=\"M{} {middle}H{}\"/>", px(value), px(end)));
        out.push_str(&mark(bar.colour, value, middle));
        for &further in &bar.beyond {
            let x = px(scale.at(further));
            out.push_str(&format!("<path class=line d=\"M{x} {}v8\"/>", middle - 4.0));
        }
    } else {
        let (x, width) = (px(LEFT), px((value - LEFT).max(1.0)));
        out.push_str(&format!("<rect class=bar x={x} y={y} width={width} height=11 rx=1.5 />"));
        if high > low {
            out.push_str(&format!(
                "<path class=whisker d=\"M{} {middle}H{}m0-4v8M{0} {}v8\"/>",
                px(low),
                px(high),
                middle - 4.0
            ));
        }
    }
    out.push_str("</g>\n");
    out
}
