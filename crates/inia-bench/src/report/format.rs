//! Figures as people read them.

/// Text that is safe in HTML, in attributes too.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// Three significant digits, or all of a greater or whole number, with commas.
pub(crate) fn number(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 99.95 || v.fract() == 0.0 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.1 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    let (whole, fraction) =
        text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// A number of an axis: 1, 20, 5k, 2M.
pub(crate) fn short(value: f64) -> String {
    let (scaled, suffix) = match value.abs() {
        v if v >= 1e6 => (value / 1e6, "M"),
        v if v >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let text = format!("{scaled:.2}");
    format!("{}{suffix}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A time given in microseconds, with its unit.
pub(crate) fn time(micros: f64) -> String {
    let (value, unit) = scaled(micros);
    format!("{} {unit}", number(value))
}

/// A round time of an axis: 10 µs, 2 ms, 1 s.
pub(crate) fn short_time(micros: f64) -> String {
    let (value, unit) = scaled(micros);
    format!("{} {unit}", short(value))
}

fn scaled(micros: f64) -> (f64, &'static str) {
    match micros {
        v if v >= 999_500.0 => (v / 1e6, "s"),
        v if v >= 999.5 => (v / 1e3, "ms"),
        v => (v, "µs"),
    }
}

/// A share of 1 in per cent, as a deviation.
pub(crate) fn deviation(share: f64) -> String {
    format!("±{:.1} %", share * 100.0)
}

/// A coordinate, in tenths.
pub(crate) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// A count with its noun.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", number(n as f64), if n == 1 { "" } else { "s" })
}
