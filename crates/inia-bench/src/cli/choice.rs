//! Which workloads are run, and with what.

use super::{MAX_ROWS, MAX_TABLES, Outcome, parse};
use crate::workload::{self, Parameters, Workload};
use clap::ArgMatches;

/// The workloads that a command names, each once, with what each is run with.
pub(super) fn workloads(matches: &ArgMatches) -> Outcome<Vec<(&'static dyn Workload, Parameters)>> {
    let mut chosen: Vec<&'static dyn Workload> = Vec::new();
    for name in matches.get_many::<String>("workload").into_iter().flatten() {
        for workload in named(name)? {
            if !chosen.iter().any(|other| other.name() == workload.name()) {
                chosen.push(workload);
            }
        }
    }
    options(matches, &chosen)?;
    let alone = chosen.len() == 1;
    let with = |workload| Ok((workload, parameters(matches, workload, alone)?));
    chosen.into_iter().map(with).collect()
}

/// The workloads of `all`, of a pattern with stars, or of one name.
fn named(name: &str) -> Outcome<Vec<&'static dyn Workload>> {
    let pattern = if name == "all" { "*" } else { name };
    if !pattern.contains('*') {
        return find(name).map(|workload| vec![workload]);
    }
    let found: Vec<_> = workload::all().filter(|one| fits(pattern, one.name())).collect();
    if found.is_empty() {
        return Err(format!("no workload is called like '{name}'; see inia bench list"));
    }
    Ok(found)
}

/// Whether a name is of a pattern in which a star stands for any letters.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(tail) = name.strip_prefix(head) else { return false };
    let mut ends = tail.char_indices().map(|(at, _)| at).chain([tail.len()]);
    ends.any(|at| fits(rest, &tail[at..]))
}

/// The workload of this name, or what was perhaps meant.
fn find(name: &str) -> Outcome<&'static dyn Workload> {
    workload::find(name).ok_or_else(|| {
        let nearest = workload::all().map(|w| (distance(name, w.name()), w.name())).min();
        match nearest {
            Some((far, near)) if far <= name.len() / 2 => {
                format!("unknown workload '{name}'; did you mean {near}?")
            }
            _ => format!("unknown workload '{name}'; see inia bench list"),
        }
    })
}

/// Letters to change, add or drop to make one word of the other.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Each option must be one of some workload's own.
fn options(matches: &ArgMatches, chosen: &[&'static dyn Workload]) -> Outcome<()> {
    for (name, _) in given(matches)? {
        if !chosen.iter().any(|workload| takes(*workload, name)) {
            let names: Vec<&str> = chosen.iter().map(|workload| workload.name()).collect();
            return match names[..] {
                [workload] => Err(format!("{workload} has no option '{name}'")),
                _ => Err(format!("none of these workloads has an option '{name}'")),
            };
        }
    }
    Ok(())
}

fn takes(workload: &dyn Workload, option: &str) -> bool {
    workload.options().iter().any(|(known, _)| *known == option)
}

/// The options as they were given, in pairs.
fn given(matches: &ArgMatches) -> Outcome<Vec<(&str, &str)>> {
    let texts = matches.get_many::<String>("option").into_iter().flatten();
    texts
        .map(|text| {
            text.split_once('=').ok_or_else(|| format!("--option {text}: NAME=VALUE is missing"))
        })
        .collect()
}

/// What a workload is run with: its own defaults, and what the command says. Of several workloads
/// each takes what is for it.
fn parameters(matches: &ArgMatches, workload: &dyn Workload, alone: bool) -> Outcome<Parameters> {
    let mut parameters = workload.defaults();
    if let Some(rows) = parse(matches, "rows")? {
        parameters.rows = rows;
    }
    if let Some(scale) = parse(matches, "scale")? {
        parameters.scale = scale;
    }
    if let Some(seed) = parse(matches, "seed")? {
        parameters.seed = seed;
    }
    if let Some(name) = matches.get_one::<String>("distribution") {
        let distribution = name.parse()?;
        match workload.draws() {
            true => parameters.distribution = distribution,
            false if alone => {
                let name = workload.name();
                return Err(format!("{name} takes rows by its own rule: no --distribution"));
            }
            false => {}
        }
    }
    let sizes = [("rows", parameters.rows, MAX_ROWS), ("scale", parameters.scale, MAX_TABLES)];
    for (name, given, most) in sizes {
        if given == 0 || given > most {
            return Err(format!("--{name} must be from 1 to {most}"));
        }
    }
    parameters.prepared =
        matches.get_flag("prepared") || parameters.prepared && !matches.get_flag("text");
    for (name, value) in given(matches)?.into_iter().filter(|(name, _)| takes(workload, name)) {
        parameters.options.insert(name.to_owned(), value.to_owned());
    }
    Ok(parameters)
}
