//! The page, as text and as a browser shows it.

use super::page;
use super::scale::{Scale, ScaleKind};
use crate::report::fixture;
use crate::report::format::{number, short, short_time, time};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn figures_have_three_digits_and_units() {
    let shown = [0.0, 0.0123, 1.234, 12.34, 123.4, 78238.4, 1e6].map(number);
    assert_eq!(shown, ["0", "0.012", "1.23", "12.3", "123", "78,238", "1,000,000"]);
    assert_eq!([5.0, 2500.0, 20_000.0, 2e6].map(short), ["5", "2.5k", "20k", "2M"]);
    assert_eq!([8.7, 1234.0, 2.5e6].map(time), ["8.70 µs", "1.23 ms", "2.50 s"]);
    assert_eq!([10.0, 2000.0].map(short_time), ["10 µs", "2 ms"]);
}

#[test]
fn axes_end_at_round_numbers() {
    let scale = Scale::from_zero(78_238.0, 100.0, 0.0);
    assert_eq!(scale.ticks(), [0.0, 20_000.0, 40_000.0, 60_000.0, 80_000.0]);
    assert_eq!((scale.at(0.0), scale.at(80_000.0)), (100.0, 0.0));
    let scale = Scale::log(30.0, 4500.0, 0.0, 300.0);
    assert_eq!(scale.ticks(), [10.0, 100.0, 1000.0, 10_000.0]);
    assert!((scale.at(100.0) - 100.0).abs() < 1e-9);
    // The labels of 1 and 2 would touch.
    let scale = Scale::of_values(ScaleKind::Log, &[1.0, 2.0, 64.0, 1024.0], 15.0, 0.0, 100.0);
    assert_eq!(scale.ticks(), [1.0, 64.0, 1024.0]);
}

#[test]
fn the_page_refers_to_nothing_outside_and_its_texts_are_escaped() {
    let html = page(&fixture::records());
    for outside in ["http:", "https:", "//cdn", "@import", "url(", "src=", "<link"] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.contains("&lt;b&gt;no&lt;/b&gt; &quot;answer&quot; &amp; no end"));
    assert!(!html.contains("<b>no</b>") && !html.contains("NaN") && !html.contains("inf "));
    assert!(
        html.contains("&#39;it&#39;\\&#39;&#39;s&#39;"),
        "the command can be pasted into a shell"
    );
}

#[test]
fn nothing_measured_is_a_page_too() {
    assert!(page(&[]).contains("0 rounds"));
}

/// Opens the page in Chromium at two widths and in both themes: no script error, every chart
/// drawn, labels inside and apart, nothing wider than the window, values on pointing and keys.
#[test]
fn a_browser_draws_every_chart_at_every_width_in_both_themes() {
    let html = page(&fixture::records());
    let found = in_browser(&html);
    let problems = found["problems"].as_array().expect("a list of problems");
    assert!(problems.is_empty(), "{problems:#?}");
    let figures = html.matches("<figure").count() as u64;
    assert_eq!(found["charts"].as_u64(), Some(4 * figures), "two widths, two themes");
    assert!(figures > 40, "{figures}");
}

/// A picture for people, `target/tmp/picture/report.png`: the page's top as a desktop and a
/// telephone show it, by day and by night.
#[test]
fn a_browser_takes_a_picture_of_the_page() {
    let folder = folder("picture");
    let shots = include_str!("shots.html")
        .replace("\"THE PAGE\"", &script_text(&page(&fixture::records())));
    std::fs::write(folder.join("shots.html"), shots).expect("the page is written");
    let picture = folder.join("report.png");
    // One of an earlier run proves nothing.
    let _ = std::fs::remove_file(&picture);
    let output = chromium(&folder, "shots.html")
        .args(["--window-size=3400,1700", &format!("--screenshot={}", picture.display())])
        .output()
        .expect("timeout of coreutils");
    let bytes = std::fs::read(&picture).unwrap_or_else(|error| {
        panic!("no picture: {error}: {}", String::from_utf8_lossy(&output.stderr))
    });
    let number = |at: usize| bytes[at..at + 4].iter().fold(0, |n, &byte| n << 8 | u32::from(byte));
    assert_eq!((number(16), number(20)), (3400, 1700), "width and height of a PNG");
    assert!(bytes.len() > 200_000, "{} bytes are an empty page", bytes.len());
}

/// As a literal in a script, where `<` could end it.
fn script_text(html: &str) -> String {
    serde_json::to_string(html).expect("a string").replace('<', "\\u003c")
}

/// A directory for the browser, below `target/tmp`.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp").join(name);
    std::fs::create_dir_all(&folder).expect("a directory for the page");
    folder.canonicalize().expect("it exists")
}

/// Chromium without a window, on a file of the folder, with virtual time for scripts.
fn chromium(folder: &Path, file: &str) -> Command {
    let mut command = Command::new("timeout");
    command
        .args(["--kill-after=5", "240", "chromium", "--headless=new", "--no-sandbox"])
        .args(["--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run"])
        .args(["--disable-background-networking", "--virtual-time-budget=20000"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", folder.join(file).display()));
    command
}

/// Runs the probe on the page in a frame of each width, and returns what it found.
fn in_browser(html: &str) -> Value {
    let folder = folder("report");
    std::fs::write(folder.join("report.html"), html).expect("the page is written");
    let probe = include_str!("probe.html").replace("\"THE PAGE\"", &script_text(html));
    std::fs::write(folder.join("probe.html"), probe).expect("the probe is written");
    let output =
        chromium(&folder, "probe.html").arg("--dump-dom").output().expect("timeout of coreutils");
    let (dom, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let found =
        dom.split_once("<pre id=\"found\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (found, _) = found.unwrap_or_else(|| {
        panic!("the page was not shown; is chromium installed (scripts/test does it)? {errors}")
    });
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&found).unwrap_or_else(|error| panic!("{error}: {found}"))
}
