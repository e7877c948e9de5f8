//! The report as one page: HTML, styles, a little script and SVG, with nothing from elsewhere.
//!
//! Everything is drawn here; the script only shows values where somebody points, hides lines and
//! changes the theme. Without it, and on paper, the page says the same.

mod bars;
mod chart;
mod heat;
mod scale;
mod section;
mod table;

use super::format::{count, escape, number, time};
use super::{Point, Report, Section};
use crate::compare::overall_warnings;
use crate::record::Record;

/// The palette's last place, which no other target gets.
pub const FLOOR_COLOUR: usize = 9;

/// The page of these records.
pub fn page(records: &[Record]) -> String {
    let report = Report::new(records);
    let mut out = String::from("<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n");
    out.push_str("<meta name=viewport content=\"width=device-width, initial-scale=1\">\n");
    out.push_str(&format!("<title>{}</title>\n", escape(&title(&report))));
    out.push_str("<meta name=color-scheme content=\"light dark\">\n<style>\n");
    out.push_str(include_str!("html/page.css"));
    out.push_str("</style>\n</head>\n<body>\n");
    out.push_str(&header(&report));
    out.push_str("<main>\n");
    out.push_str(&warnings(&report));
    out.push_str(&overview(&report));
    for (at, section) in report.sections.iter().enumerate() {
        out.push_str(&section::html(&report, section, &id(at)));
    }
    out.push_str(&targets(&report));
    out.push_str(&runs(&report));
    out.push_str("</main>\n");
    out.push_str("<div id=tip role=status aria-live=polite hidden></div>\n<script>\n");
    out.push_str(include_str!("html/page.js"));
    out.push_str("</script>\n</body>\n</html>\n");
    out
}

fn id(section: usize) -> String {
    format!("w{}", section + 1)
}

fn title(report: &Report<'_>) -> String {
    match report.sections.as_slice() {
        [only] => format!("{} – Inia benchmark lab", only.workload.name),
        all => format!("{} – Inia benchmark lab", count(all.len(), "workload")),
    }
}

/// Date and time of a record to the minute.
fn minute(at: &str) -> String {
    at.get(..16).unwrap_or(at).replace('T', " ")
}

fn header(report: &Report<'_>) -> String {
    let (first, last) = (
        report.records.iter().map(|record| record.at.as_str()).min().unwrap_or_default(),
        report.records.iter().map(|record| record.at.as_str()).max().unwrap_or_default(),
    );
    let (from, to) = (minute(first), minute(last));
    let span = match (from.split_once(' '), to.split_once(' ')) {
        _ if from == to => from.clone(),
        (Some((a, _)), Some((b, clock))) if a == b => format!("{from}–{clock}"),
        _ => format!("{from} – {to}"),
    };
    let mut machines: Vec<String> = Vec::new();
    for record in report.records {
        let machine = &record.machine;
        let gib = (machine.memory as f64 / (1u64 << 30) as f64).round();
        let cores = count(machine.cores, "processor");
        let text = format!("{}, {cores}, {gib} GiB, {}", machine.cpu, machine.os);
        if !machines.contains(&text) {
            machines.push(text);
        }
    }
    let mut out = format!(
        "<header>\n<div class=top><h1>Inia benchmark lab</h1>\
         <button id=theme type=button hidden>Theme: system</button></div>\n\
         <p class=about>{} · {span} UTC · {}</p>\n</header>\n",
        count(report.records.len(), "round"),
        escape(&machines.join(" · ")),
    );
    out.push_str("<div class=legend role=group aria-label=\"Targets shown in charts\">\n");
    for (at, series) in report.series.iter().enumerate() {
        let (name, version) = (table::named(report, at), escape(&series.target.version));
        out.push_str(&format!(
            "<button type=button data-key={at} data-name=\"{}\" aria-pressed=true \
             title=\"{version}\">{name}</button>\n",
            escape(&series.name)
        ));
    }
    out.push_str("</div>\n");
    out
}

/// How many places of a warning are named before the rest is folded away.
const NAMED: usize = 3;

fn warnings(report: &Report<'_>) -> String {
    let mut items: Vec<String> =
        overall_warnings(report.records).iter().map(|text| escape(text)).collect();
    items.extend(report.mixed().map(|text| escape(&text)));
    for (text, places) in report.warnings() {
        let mut distinct = places.clone();
        distinct.dedup();
        let all = escape(&distinct.join("; "));
        let many = count(places.len(), "round");
        items.push(if distinct.len() <= NAMED {
            format!("{} <span>({all})</span>", escape(&text))
        } else {
            format!(
                "<details><summary>{} <span>({many})</span></summary><p>{all}</p></details>",
                escape(&text)
            )
        });
    }
    if items.is_empty() {
        return String::new();
    }
    let items: Vec<String> = items.into_iter().map(|item| format!("<li>{item}</li>")).collect();
    format!(
        "<aside class=warnings aria-labelledby=warned>\n<h2 id=warned>Before believing the \
         figures</h2>\n<ul>\n{}\n</ul>\n</aside>\n",
        items.join("\n")
    )
}

/// A line per workload: the best figure of each target.
fn overview(report: &Report<'_>) -> String {
    let compared = report.sections.iter().any(|section| report.advantage(section).is_some());
    let mut out = String::from(
        "<section>\n<h2>Best figures</h2>\n<p class=about>The best rate over all numbers of \
         clients, per second; the least median latency where a workload is a single statement.\
         </p>\n<div class=scroll tabindex=0 role=region aria-label=\"Best figures\"><table \
         class=best>\n<thead><tr><th scope=col class=l>workload</th>",
    );
    for at in 0..report.series.len() {
        out.push_str(&format!("<th scope=col>{}</th>", table::named(report, at)));
    }
    if compared {
        let own = report.own().map_or("", |own| &report.series[own].name);
        out.push_str(&format!("<th scope=col>{} to best rival</th>", escape(own)));
    }
    out.push_str("</tr></thead>\n");
    let mut family = "";
    for (at, section) in report.sections.iter().enumerate() {
        if section.workload.family != family {
            family = &section.workload.family;
            let columns = report.series.len() + 1 + usize::from(compared);
            out.push_str(&format!(
                "<tbody><tr><th scope=rowgroup class=\"l family\" colspan={columns}>{}</th></tr>\n",
                escape(family)
            ));
        }
        out.push_str(&format!(
            "<tr><th scope=row class=l><a href=\"#{}\">{}</a>{}</th>",
            id(at),
            escape(&section.workload.name),
            distinction(report, section)
        ));
        out.push_str(&best(report, section));
        if compared {
            let ratio = report.advantage(section);
            let text = ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}×"));
            out.push_str(&format!("<td>{text}</td>"));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n</section>\n");
    out
}

/// What distinguishes a section from others of the same workload.
fn distinction(report: &Report<'_>, section: &Section<'_>) -> String {
    let same = report.sections.iter().filter(|s| s.workload.name == section.workload.name);
    if same.count() < 2 {
        return String::new();
    }
    format!(" <small>{}</small>", escape(&section.parameters()))
}

fn best(report: &Report<'_>, section: &Section<'_>) -> String {
    let bests: Vec<Option<(f64, &Point<'_>)>> =
        (0..report.series.len()).map(|series| section.best(series)).collect();
    let figures = || bests.iter().flatten().map(|(figure, _)| *figure);
    let most = figures().fold(0.0, f64::max);
    let least = figures().fold(f64::INFINITY, f64::min);
    let champion = if section.by_time() { least } else { most_but_floor(report, &bests) };
    let mut out = String::new();
    for (best, series) in bests.iter().zip(&report.series) {
        let Some((figure, point)) = best else {
            out.push_str("<td>–</td>");
            continue;
        };
        let text = if section.by_time() { time(*figure) } else { number(*figure) };
        let share = if most > 0.0 { figure / most * 100.0 } else { 0.0 };
        let text = if *figure == champion { format!("<b>{text}</b>") } else { text };
        out.push_str(&format!(
            "<td>{text} <small>at {}</small><i class=\"share c{}\" style=\"width:{share:.1}%\">\
             </i></td>",
            number(point.clients as f64),
            series.colour
        ));
    }
    out
}

/// The best rate of those that do the work.
fn most_but_floor(report: &Report<'_>, bests: &[Option<(f64, &Point<'_>)>]) -> f64 {
    let all = bests.iter().zip(&report.series);
    let real = all.filter(|(_, series)| series.target.product != "floor");
    real.filter_map(|(best, _)| Some(best.as_ref()?.0)).fold(0.0, f64::max)
}

fn targets(report: &Report<'_>) -> String {
    let mut out = String::from("<section>\n<h2>Targets</h2>\n<div class=facts>\n");
    for (at, series) in report.series.iter().enumerate() {
        let target = series.target;
        out.push_str(&format!("<article><h3>{}</h3>\n<dl>", table::named(report, at)));
        let mut facts = vec![
            ("label", target.label.clone()),
            ("product", target.product.clone()),
            ("version", target.version.clone()),
            ("durability", target.durability.clone()),
        ];
        facts.extend(target.settings.iter().map(|(name, value)| (name.as_str(), value.clone())));
        for (name, value) in facts {
            let (name, value) = (escape(name), escape(&value));
            out.push_str(&format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"));
        }
        out.push_str("</dl></article>\n");
    }
    out.push_str("</div>\n</section>\n");
    out
}

fn runs(report: &Report<'_>) -> String {
    let mut out = String::from(
        "<section>\n<h2>Commands</h2>\n<p class=about>A configuration's number is equal for \
         rounds that may be compared as repetitions: workload, parameters, method, machine, the \
         target's version and settings.</p>\n",
    );
    let mut shown: Vec<&str> = Vec::new();
    for record in report.records {
        if shown.contains(&record.run.as_str()) {
            continue;
        }
        shown.push(&record.run);
        let rounds = report.records.iter().filter(|other| other.run == record.run).count();
        let method = &record.method;
        out.push_str(&format!(
            "<p class=about>{} UTC, lab {}, run {}: {}, {} s each after {} s of warm-up</p>\n\
             <pre tabindex=0>{}</pre>\n",
            escape(&minute(&record.at)),
            escape(&record.machine.lab),
            escape(&record.run),
            count(rounds, "round"),
            number(method.seconds),
            number(method.warm_up),
            escape(&command(&record.command)),
        ));
    }
    out.push_str("</section>\n");
    out
}

/// The command line as a shell takes it.
fn command(words: &[String]) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=:/.,@%+".contains(letter);
    let quoted = words.iter().map(|word| match word.chars().all(plain) && !word.is_empty() {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
