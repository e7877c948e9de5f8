//! `inia bench seeds`: the reports' workloads at one scale, and their tables.

use super::{Keeper, OpenEmbedded, Outcome, failed_rounds, list, open_target, option, parse, warn};
use crate::compare::{Plan, Watcher, run_id};
use crate::machine;
use crate::record::Record;
use crate::round::Pace;
use crate::seeds::{self, Need, REPORTS, Report, Results, Scale};
use crate::target::Target;
use clap::{ArgMatches, Command};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn command() -> Command {
    Command::new("seeds").about("Run the reports' workloads and make their tables again").args([
        list("target", "[LABEL=]URL,…", "Targets; Inia in a temporary directory unless given")
            .visible_alias("targets"),
        list("report", "NAME,…", "rdbms, smack, engines, whitepaper, innodb; all unless given"),
        option("scale", "SCALE", "tiny, small, medium or full: rows, time and clients")
            .default_value("small"),
        option("rounds", "N", "Rounds of each run, interleaved"),
        list("price", "LABEL=AMOUNT,…", "What a target's system costs, for the price tables"),
        super::buffer_pool(),
        option("json", "FILE", "Append each round to this file as a line of JSON"),
    ])
}

/// A directory for Inia's data that goes when it is not needed any more.
struct Temporary(PathBuf);

impl Temporary {
    /// Not where files live in memory, if there is a choice: commits must reach a disk.
    fn new() -> Temporary {
        let lasting = Path::new("/var/tmp");
        let parent = if lasting.is_dir() { lasting.to_owned() } else { std::env::temp_dir() };
        Temporary(parent.join(format!("inia-lab-{}", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Left behind, it would only take room.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A part of the whole, for the progress.
struct PartialProgress<'a> {
    whole: &'a dyn Watcher,
    done: f64,
    share: f64,
}

impl Watcher for PartialProgress<'_> {
    fn progress(&self, what: &str, share: f64) {
        self.whole.progress(what, self.done + share * self.share);
    }

    fn finished(&self, record: &Record) {
        self.whole.finished(record);
    }
}

pub(super) fn run(matches: &ArgMatches, embedded: OpenEmbedded) -> Outcome<()> {
    let scale: Scale = parse_scale(matches)?;
    let reports = reports(matches)?;
    // Before the targets, so that it goes after them.
    let mut temporary = None;
    let targets = targets(matches, embedded, &mut temporary)?;
    let prices = prices(matches, &targets)?;
    let available = machine::processors();
    let needs = seeds::needs(&reports, scale, available.len());
    let (duration, warm_up) = scale.seconds();
    let plan = Plan {
        run: run_id(),
        workloads: Vec::new(),
        targets,
        clients: needs.iter().filter_map(|need| need.clients.last().copied()).collect(),
        rounds: parse(matches, "rounds")?.unwrap_or_else(|| scale.rounds()).max(1),
        pace: Pace {
            duration: Duration::from_secs_f64(duration),
            warm_up: Duration::from_secs_f64(warm_up),
            rate: None,
        },
        server_cpus: Vec::new(),
        client_cpus: Vec::new(),
        patient: true,
        command: super::command_line(),
    };
    plan.check().map_err(|failure| failure.explained())?;
    announce(&plan, &needs);
    let keeper = Keeper::new(matches)?;
    let records = measure(&plan, &needs, &available, &keeper)?;
    let results = Results {
        records: &records,
        scale,
        processors: available.len(),
        labels: plan.targets.iter().map(|target| target.label().to_owned()).collect(),
        prices,
    };
    print(&reports, &results);
    keeper.end()?;
    failed_rounds(&records)
}

/// The number of runs, and how long they take beside loading.
fn announce(plan: &Plan, needs: &[Need]) {
    let each = (plan.pace.duration + plan.pace.warm_up).as_secs_f64();
    let runs: usize = needs.iter().map(|need| need.clients.len()).sum();
    let runs = runs * plan.rounds * plan.targets.len();
    let minutes = (runs as f64 * each / 60.0).ceil();
    say!("{runs} runs, about {minutes} min and the time for loading");
}

/// Runs every need; the processors are for servers and clients together, as a machine of that
/// size has them.
fn measure(
    plan: &Plan,
    needs: &[Need],
    available: &[usize],
    keeper: &Keeper,
) -> Outcome<Vec<Record>> {
    let mut records = Vec::new();
    let runs = needs.iter().map(|need| need.clients.len()).sum::<usize>().max(1) as f64;
    let mut done = 0.0;
    for need in needs {
        if keeper.stopped() {
            break;
        }
        let all = need.processors >= available.len();
        let cpus = if all { Vec::new() } else { available[..need.processors].to_vec() };
        let plan = Plan {
            workloads: vec![(need.workload, need.parameters.clone())],
            clients: need.clients.clone(),
            server_cpus: cpus.clone(),
            client_cpus: cpus,
            ..plan.clone()
        };
        let share = need.clients.len() as f64 / runs;
        let part = PartialProgress { whole: &keeper.progress, done, share };
        done += share;
        match plan.run(&keeper.stop, &part) {
            Ok(measured) => records.extend(measured),
            // Some processes may not be bound by us: the tables of fewer processors stay empty.
            Err(failure) if !all => keeper.progress.note(&failure.message),
            Err(failure) => return Err(failure.explained()),
        }
    }
    Ok(records)
}

fn print(reports: &[&Report], results: &Results<'_>) {
    for report in reports {
        say!("\n{}\n{}", report.title, "=".repeat(report.title.chars().count()));
        for table in report.tables {
            say!("\n{}", seeds::render(table, results).trim_end());
        }
    }
    say!("");
    for record in results.records {
        if let Some(error) = &record.error {
            let (name, label) = (&record.workload.name, &record.target.label);
            say!("failed: {name} on {label}, {} clients: {error}", record.method.clients);
        }
    }
    warn(results.records);
}

fn parse_scale(matches: &ArgMatches) -> Outcome<Scale> {
    matches.get_one::<String>("scale").map_or("small", String::as_str).parse()
}

fn reports(matches: &ArgMatches) -> Outcome<Vec<&'static Report>> {
    let Some(names) = matches.get_many::<String>("report") else {
        return Ok(REPORTS.iter().collect());
    };
    let find = |name: &String| {
        let known: Vec<&str> = REPORTS.iter().map(|report| report.name).collect();
        seeds::report(name)
            .ok_or_else(|| format!("unknown report '{name}': choose {}", known.join(", ")))
    };
    names.map(find).collect()
}

fn targets(
    matches: &ArgMatches,
    embedded: OpenEmbedded,
    temporary: &mut Option<Temporary>,
) -> Outcome<Vec<Arc<dyn Target>>> {
    let pool = super::pool_size(matches);
    match matches.get_many::<String>("target") {
        Some(given) => super::open_targets(given, pool, embedded),
        None => {
            let directory = temporary.insert(Temporary::new());
            let own = format!("inia=inia:{}", directory.0.display());
            Ok(vec![open_target(&own, pool, embedded)?])
        }
    }
}

fn prices(matches: &ArgMatches, targets: &[Arc<dyn Target>]) -> Outcome<BTreeMap<String, f64>> {
    let one = |text: &String| {
        let (label, amount) = text
            .split_once('=')
            .ok_or_else(|| format!("--price {text}: LABEL=AMOUNT is missing"))?;
        if !targets.iter().any(|target| target.label() == label) {
            let known: Vec<&str> = targets.iter().map(|target| target.label()).collect();
            return Err(format!(
                "--price {text}: no target is called so, but {}",
                known.join(", ")
            ));
        }
        let amount: f64 = super::number(amount, "price")?;
        Ok((label.to_owned(), amount))
    };
    matches.get_many::<String>("price").into_iter().flatten().map(one).collect()
}
