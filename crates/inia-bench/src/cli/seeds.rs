//! `inia bench seeds`: every workload at one scale, a table per report.

use super::{OpenEmbedded, Outcome, failed_rounds, list, measure, open_target, option, show};
use crate::compare::Plan;
use crate::round::Pace;
use crate::target::Target;
use crate::workload::{self, Parameters, Workload};
use clap::{Arg, ArgMatches, Command};
use std::sync::Arc;
use std::time::Duration;

/// Rows at most, seconds a round, rounds, numbers of clients.
const SCALES: [(&str, u64, u64, usize, &[usize]); 3] = [
    ("small", 20_000, 1, 1, &[4]),
    ("medium", 100_000, 5, 1, &[1, 8, 64]),
    ("full", u64::MAX, 10, 3, &[1, 8, 64, 256]),
];

pub(super) fn command() -> Command {
    Command::new("seeds").about("Run every workload and print a table per report").args([
        list("target", "[LABEL=]URL,…", "Targets; Inia in a temporary directory unless given")
            .visible_alias("targets"),
        Arg::new("scale")
            .long("scale")
            .value_parser(SCALES.map(|(name, ..)| name))
            .default_value("small")
            .help("Rows, time and clients"),
        option("json", "FILE", "Append each round to this file as a line of JSON"),
    ])
}

pub(super) fn run(matches: &ArgMatches, embedded: OpenEmbedded) -> Outcome<()> {
    let wanted = matches.get_one::<String>("scale").map_or("small", String::as_str);
    let scale = SCALES.iter().find(|(name, ..)| *name == wanted);
    let &(_, rows, seconds, rounds, clients) = scale.ok_or("unknown scale")?;
    let mut given = matches.get_many::<String>("target").into_iter().flatten().peekable();
    let temporary = std::env::temp_dir().join(format!("inia-lab-{}", std::process::id()));
    let own = given.peek().is_none();
    let targets: Vec<Arc<dyn Target>> = if own {
        vec![open_target(&format!("inia=inia:{}", temporary.display()), embedded)?]
    } else {
        given.map(|text| open_target(text, embedded)).collect::<Outcome<_>>()?
    };
    let workloads = workload::all().map(|workload| {
        let defaults = workload.defaults();
        let parameters = Parameters { rows: defaults.rows.min(rows), ..defaults };
        (workload, parameters)
    });
    let workloads: Vec<(&'static dyn Workload, Parameters)> = workloads.collect();
    let duration = Duration::from_secs(seconds);
    let plan = Plan {
        workloads,
        targets,
        clients: clients.to_vec(),
        rounds,
        pace: Pace { duration, warm_up: duration / 5, rate: None },
        server_cpus: Vec::new(),
        client_cpus: Vec::new(),
        command: std::env::args().map(|argument| super::without_password(&argument)).collect(),
    };
    let records = measure(&plan, matches);
    drop(plan);
    if own {
        // Left behind, it would only take room.
        let _ = std::fs::remove_dir_all(&temporary);
    }
    let records = records?;
    let mut rest = records.as_slice();
    while let Some(first) = rest.first() {
        let family = &first.workload.family;
        let end = rest.iter().position(|r| r.workload.family != *family).unwrap_or(rest.len());
        println!("\n{family}");
        show(&rest[..end]);
        rest = &rest[end..];
    }
    failed_rounds(&records)
}
