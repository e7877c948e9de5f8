//! `inia bench`: list, run, compare, sweep, seeds, report, floor.

/// Prints a line.
macro_rules! say {
    ($($part:tt)*) => { $crate::cli::put(&(format!($($part)*) + "\n")) };
}

mod choice;
mod seeds;

use crate::compare::{Plan, overall_warnings, run_id};
use crate::floor::Floor;
use crate::machine::{self, parse_cpus};
use crate::progress::Progress;
use crate::record::Record;
use crate::report::html;
use crate::round::Pace;
use crate::target::url::{Url, split_label};
use crate::target::{self, Target};
use crate::terminal::{factors, table};
use crate::workload;
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Opens the embedded database in a directory, under a label, with pages in so much memory.
pub type OpenEmbedded =
    fn(label: &str, dir: &str, pool: Option<&str>) -> target::Result<Arc<dyn Target>>;

type Outcome<T> = Result<T, String>;

/// Limits of what can be asked for, so that no figure overflows: seconds of a round, rows of a
/// table, and tables.
const LONGEST: u64 = 10_000_000;
const MAX_ROWS: u64 = 1_000_000_000_000;
const MAX_TABLES: u64 = 100_000;
/// Each is a thread of this process, which a system grants some ten thousand.
const MAX_CLIENTS: usize = 10_000;

const CHOICE: &str = "Workloads, separated by commas; all, or patterns such as 'oltp_*'";

/// The sub-command.
pub fn command() -> Command {
    let report = Command::new("report")
        .about("Show results that were kept")
        .arg(option("html", "FILE", "Write a page with charts instead"))
        .arg(Arg::new("files").value_name("FILE").num_args(1..).required(true));
    Command::new("bench")
        .about("Measure Inia and its rivals")
        .arg_required_else_help(true)
        .subcommand(Command::new("list").about("Name the workloads"))
        .subcommand(measuring("run", "Run one workload on one target").arg(
            Arg::new("workload").value_name("WORKLOAD").required(true).help("See inia bench list"),
        ))
        .subcommand(
            measuring("compare", "Run workloads on several targets, side by side")
                .arg(list("workload", "WORKLOAD,…", CHOICE).required(true)),
        )
        .subcommand(
            measuring("sweep", "Raise the number of clients, or of the server's processors")
                .arg(list("workload", "WORKLOAD,…", CHOICE).required(true))
                .arg(list("cpus", "N,…", "Numbers of processors for the server")),
        )
        .subcommand(seeds::command())
        .subcommand(report)
        .subcommand(
            Command::new("floor")
                .about("Serve canned replies to sysbench: the floor for any server")
                .arg(option("port", "PORT", "TCP port").default_value("3306")),
        )
}

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).allow_negative_numbers(true).help(help)
}

fn list(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    option(name, value, help).value_delimiter(',').action(ArgAction::Append)
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn buffer_pool() -> Arg {
    let help = "Memory for the pages of inia:DIRECTORY [default: a quarter of all memory]";
    option("buffer-pool-size", "N[K|M|G]", help)
}

fn pool_size(matches: &ArgMatches) -> Option<&str> {
    matches.get_one::<String>("buffer-pool-size").map(String::as_str)
}

/// The options that everything which measures has.
fn measuring(name: &'static str, about: &'static str) -> Command {
    Command::new(name).about(about).args([
        list("target", "[LABEL=]URL,…", "mysql://…, postgres://…, sqlite:FILE or inia:DIRECTORY")
            .visible_alias("targets")
            .required(true),
        list("clients", "N,…", "Numbers of clients").default_value("8"),
        option("rounds", "N", "Rounds of each, interleaved").default_value("1"),
        option("seconds", "S", "Measured time of a round").default_value("10"),
        option("warm-up", "S", "Time before it").default_value("2"),
        option("rate", "N", "Open loop: transactions started per second"),
        option("rows", "N", "Rows of the main table"),
        option("scale", "N", "Tables, warehouses or branches"),
        option("distribution", "NAME", "uniform, special[:PCT:RES] or zipfian[:THETA]"),
        option("seed", "N", "Seed of data and choices"),
        switch("text", "Send texts rather than prepared statements"),
        switch("prepared", "Prepare statements, where the workload's report did not")
            .conflicts_with("text"),
        Arg::new("option")
            .long("option")
            .value_name("NAME=VALUE")
            .action(ArgAction::Append)
            .help("One of the workload's own options"),
        option("server-cpus", "LIST", "Processors for the servers, such as 0-3,6"),
        option("client-cpus", "LIST", "Processors for the clients"),
        buffer_pool(),
        switch("floor", "Measure the null server too"),
        option("json", "FILE", "Append each round to this file as a line of JSON"),
    ])
}

/// Runs a sub-command.
pub fn run(matches: &ArgMatches, embedded: OpenEmbedded) -> Outcome<()> {
    match matches.subcommand() {
        Some(("list", _)) => {
            print_list();
            Ok(())
        }
        Some(("run" | "compare", matches)) => compare(matches, embedded),
        Some(("sweep", matches)) => sweep(matches, embedded),
        Some(("seeds", matches)) => seeds::run(matches, embedded),
        Some(("report", matches)) => report(matches),
        Some(("floor", matches)) => floor(matches),
        _ => Err("choose what to measure; see inia bench --help".to_owned()),
    }
}

/// Prints a text. A reader that has seen enough and is gone is no error.
fn put(text: &str) {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => eprintln!("inia: {error}"),
        _ => {}
    }
}

fn print_list() {
    let mut family = "";
    for workload in workload::all() {
        if workload.family() != family {
            family = workload.family();
            say!("{family}");
        }
        say!("  {:<24} {}", workload.name(), workload.about());
        for (name, about) in workload.options() {
            say!("  {:<24}   --option {name}=…: {about}", "");
        }
    }
}

fn floor(matches: &ArgMatches) -> Outcome<()> {
    let port: u16 = parse(matches, "port")?.unwrap_or(3306);
    let floor = Floor::bind(("127.0.0.1", port))
        .map_err(|error| format!("cannot listen on port {port}: {error}"))?;
    say!("The floor listens on {}", floor.address());
    floor.run().map_err(|error| error.to_string())
}

fn report(matches: &ArgMatches) -> Outcome<()> {
    let mut records = Vec::new();
    for file in matches.get_many::<String>("files").into_iter().flatten() {
        records.extend(read_records(file)?);
    }
    let Some(page) = matches.get_one::<String>("html") else {
        show(&records);
        return Ok(());
    };
    let written = fs::write(page, html::page(&records));
    written.map_err(|error| format!("cannot write {page}: {error}"))
}

/// Reads a file of results.
fn read_records(file: &str) -> Outcome<Vec<Record>> {
    let text = fs::read_to_string(file).map_err(|error| format!("cannot read {file}: {error}"))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let records = lines.map(|(number, line)| {
        Record::parse(line).map_err(|error| format!("{file}, line {}: {error}", number + 1))
    });
    records.collect()
}

fn show(records: &[Record]) {
    put(&table(records));
    warn(records);
}

/// Each warning once, however many rounds have it.
fn warn(records: &[Record]) {
    let mut shown: Vec<String> = Vec::new();
    for record in records {
        let place = format!(
            "{} on {}, {} clients",
            record.workload.name, record.target.label, record.method.clients
        );
        for warning in &record.warnings {
            let line = format!("warning: {place}: {warning}");
            // The same warning with other figures in it is the same warning.
            let head = line.split(": others used").next().unwrap_or(&line).to_owned();
            if !shown.contains(&head) {
                say!("{line}");
                shown.push(head);
            }
        }
    }
    overall_warnings(records).iter().for_each(|warning| say!("warning: {warning}"));
}

fn compare(matches: &ArgMatches, embedded: OpenEmbedded) -> Outcome<()> {
    let mut floor = None;
    let plan = plan(matches, embedded, &mut floor)?;
    let keeper = Keeper::new(matches)?;
    let records = keeper.run(&plan)?;
    show(&records);
    keeper.end()?;
    failed_rounds(&records)
}

fn sweep(matches: &ArgMatches, embedded: OpenEmbedded) -> Outcome<()> {
    let mut floor = None;
    let plan = plan(matches, embedded, &mut floor)?;
    let counts = matches.get_many::<String>("cpus").into_iter().flatten();
    let counts: Vec<usize> = counts.map(|text| number(text, "cpus")).collect::<Outcome<_>>()?;
    let available = machine::processors();
    if let Some(wrong) = counts.iter().find(|&&count| count == 0 || count > available.len()) {
        return Err(format!(
            "--cpus: this machine has {} processors, not {wrong}",
            available.len()
        ));
    }
    let keeper = Keeper::new(matches)?;
    if counts.is_empty() {
        let records = keeper.run(&plan)?;
        show(&records);
        keeper.end()?;
        return failed_rounds(&records);
    }
    let mut records = Vec::new();
    for count in counts {
        if keeper.stopped() {
            break;
        }
        let plan = Plan { server_cpus: available[..count].to_vec(), ..plan.clone() };
        let measured = keeper.run(&plan)?;
        say!("server on {count} of {} processors", available.len());
        show(&measured);
        records.extend(measured);
    }
    put(&factors(&records));
    keeper.end()?;
    failed_rounds(&records)
}

fn failed_rounds(records: &[Record]) -> Outcome<()> {
    match records.iter().find_map(|record| record.error.as_deref()) {
        Some(error) => Err(error.to_owned()),
        None if records.is_empty() => Err("nothing was measured".to_owned()),
        None => Ok(()),
    }
}

/// Keeps what is measured, and hears Ctrl-C.
struct Keeper {
    stop: Arc<AtomicBool>,
    progress: Progress,
    json: Option<String>,
}

impl Keeper {
    fn new(matches: &ArgMatches) -> Outcome<Keeper> {
        let json = matches.get_one::<String>("json").cloned();
        let file = match &json {
            None => None,
            Some(path) => {
                let opened = OpenOptions::new().create(true).append(true).open(path);
                Some(opened.map_err(|error| format!("cannot write {path}: {error}"))?)
            }
        };
        Ok(Keeper { stop: stop_on_interrupt()?, progress: Progress::new(file), json })
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn run(&self, plan: &Plan) -> Outcome<Vec<Record>> {
        let records = plan.run(&self.stop, &self.progress);
        self.progress.erase();
        records.map_err(|failure| failure.explained())
    }

    /// An error if not everything was measured, or not everything kept.
    fn end(&self) -> Outcome<()> {
        self.progress.end()?;
        match (self.stopped(), &self.json) {
            (false, _) => Ok(()),
            (true, None) => Err("interrupted: what was measured until then is above".to_owned()),
            (true, Some(file)) => {
                Err(format!("interrupted: what was measured until then is above and in {file}"))
            }
        }
    }
}

/// The first Ctrl-C ends the round and keeps what was measured; the second ends the program.
fn stop_on_interrupt() -> Outcome<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let signal = signal_hook::consts::SIGINT;
    let register = || {
        signal_hook::flag::register_conditional_shutdown(signal, 130, stop.clone())?;
        signal_hook::flag::register(signal, stop.clone())
    };
    register().map_err(|error| format!("no signals: {error}"))?;
    Ok(stop)
}

fn plan(
    matches: &ArgMatches,
    embedded: OpenEmbedded,
    floor: &mut Option<FloorProcess>,
) -> Outcome<Plan> {
    let workloads = choice::workloads(matches)?;
    let given = matches.get_many::<String>("target").into_iter().flatten();
    let mut targets = open_targets(given, pool_size(matches), embedded)?;
    if matches.get_flag("floor") {
        let process = floor.insert(FloorProcess::start()?);
        targets.push(open_target(&process.url, None, embedded)?);
    }
    let clients = matches.get_many::<String>("clients").into_iter().flatten();
    let clients: Vec<usize> =
        clients.map(|text| number(text, "clients")).collect::<Outcome<_>>()?;
    let seconds = |name: &str, default: f64| -> Outcome<Duration> {
        let seconds: f64 = parse(matches, name)?.unwrap_or(default);
        let time = Duration::try_from_secs_f64(seconds).ok();
        let time = time.filter(|time| time.as_secs() <= LONGEST);
        time.ok_or_else(|| format!("--{name}: not a time from 0 to {LONGEST} s"))
    };
    let cpus = |name: &str| match matches.get_one::<String>(name) {
        Some(text) => parse_cpus(text).map_err(|error| format!("--{name}: {error}")),
        None => Ok(Vec::new()),
    };
    let rate: Option<f64> = parse(matches, "rate")?;
    let rounds: usize = parse(matches, "rounds")?.unwrap_or(1);
    let pace =
        Pace { duration: seconds("seconds", 10.0)?, warm_up: seconds("warm-up", 2.0)?, rate };
    if clients.iter().any(|&clients| clients == 0 || clients > MAX_CLIENTS) {
        return Err(format!("--clients must be from 1 to {MAX_CLIENTS}"));
    }
    if rounds == 0 || pace.duration.is_zero() {
        return Err("--rounds and --seconds must be more than 0".to_owned());
    }
    if rate.is_some_and(|rate| rate <= 0.0 || !rate.is_finite()) {
        return Err("--rate must be greater than 0".to_owned());
    }
    Ok(Plan {
        run: run_id(),
        patient: workloads.len() > 1,
        workloads,
        targets,
        clients,
        rounds,
        pace,
        server_cpus: cpus("server-cpus")?,
        client_cpus: cpus("client-cpus")?,
        command: command_line(),
    })
}

fn command_line() -> Vec<String> {
    std::env::args().map(|argument| without_password(&argument)).collect()
}

/// Results are shown around; passwords in them are not.
fn without_password(argument: &str) -> String {
    let hide = |part: &str| {
        let found = part.split_once("://").and_then(|(scheme, rest)| {
            let (login, place) = rest.rsplit_once('@')?;
            let (user, _) = login.split_once(':')?;
            Some(format!("{scheme}://{user}:***@{place}"))
        });
        found.unwrap_or_else(|| part.to_owned())
    };
    argument.split(',').map(hide).collect::<Vec<_>>().join(",")
}

fn parse<T: FromStr>(matches: &ArgMatches, name: &str) -> Outcome<Option<T>> {
    matches.get_one::<String>(name).map(|text| number(text, name)).transpose()
}

fn number<T: FromStr>(text: &str, name: &str) -> Outcome<T> {
    text.trim().parse().map_err(|_| format!("--{name}: '{text}' is not a number"))
}

/// Opens targets, whose labels distinguish the results.
fn open_targets<'a>(
    given: impl Iterator<Item = &'a String>,
    pool: Option<&str>,
    embedded: OpenEmbedded,
) -> Outcome<Vec<Arc<dyn Target>>> {
    let mut targets: Vec<Arc<dyn Target>> = Vec::new();
    for text in given {
        let target = open_target(text, pool, embedded)?;
        if targets.iter().any(|other| other.label() == target.label()) {
            let label = target.label();
            return Err(format!("two targets are called '{label}': give labels, LABEL=URL"));
        }
        targets.push(target);
    }
    Ok(targets)
}

/// Opens the target of `[LABEL=]URL`.
pub fn open_target(
    text: &str,
    pool: Option<&str>,
    embedded: OpenEmbedded,
) -> Outcome<Arc<dyn Target>> {
    let (label, url) = split_label(text);
    let label = label.map_or_else(|| without_password(url), str::to_owned);
    let opened = match Url::parse(url) {
        Ok(Url::MySql(place)) => Ok(Arc::new(target::mysql::MySqlTarget::new(label, place)) as _),
        Ok(Url::Sqlite(path)) => sqlite(label, path),
        Ok(Url::DuckDb(path)) => duckdb(label, path),
        Ok(Url::Embedded(dir)) => embedded(&label, &dir, pool),
        Ok(Url::Postgres(place)) => {
            Ok(Arc::new(target::postgres::PostgresTarget::new(label, place)) as _)
        }
        Err(failure) => Err(failure),
    };
    opened.map_err(|failure| failure.explained())
}

#[cfg(feature = "sqlite")]
fn sqlite(label: String, path: String) -> target::Result<Arc<dyn Target>> {
    Ok(Arc::new(target::sqlite::SqliteTarget::new(label, path)))
}

#[cfg(not(feature = "sqlite"))]
fn sqlite(_label: String, _path: String) -> target::Result<Arc<dyn Target>> {
    let message = "this program was built without SQLite";
    Err(target::Failure::new(target::Class::Unsupported, message))
}

#[cfg(feature = "duckdb")]
fn duckdb(label: String, path: String) -> target::Result<Arc<dyn Target>> {
    Ok(Arc::new(target::duckdb::DuckDbTarget::new(label, path)))
}

#[cfg(not(feature = "duckdb"))]
fn duckdb(_label: String, _path: String) -> target::Result<Arc<dyn Target>> {
    let message = "this program was built without DuckDB (cargo feature `duckdb`)";
    Err(target::Failure::new(target::Class::Unsupported, message))
}

/// A null server in a process of its own, so that its processor time is measured apart.
struct FloorProcess {
    child: Child,
    url: String,
}

impl FloorProcess {
    fn start() -> Outcome<FloorProcess> {
        let fail = |error: std::io::Error| format!("cannot start the null server: {error}");
        let program = std::env::current_exe().unwrap_or_else(|_| Path::new("inia").to_owned());
        let mut child = std::process::Command::new(program)
            .args(["bench", "floor", "--port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(fail)?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line)
                .map_err(fail)?;
        }
        let address = line.trim().rsplit(' ').next().unwrap_or_default();
        let url = format!("floor=mysql://root@{address}/");
        Ok(FloorProcess { child, url })
    }
}

impl Drop for FloorProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests;
