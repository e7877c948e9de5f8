//! A comparison: workloads, targets and numbers of clients, in interleaved rounds.
//!
//! Rounds go A B C A B C …, so that a slow minute of the machine falls on all targets alike.

use crate::agreement::Agreement;
use crate::machine::Bound;
use crate::record::{Method, Outcome, Record, SCHEMA, TargetInfo, WorkloadInfo};
use crate::round::{self, Pace};
use crate::session::Session;
use crate::target::{Class, Durability, Facts, Failure, Product, Result, Target};
use crate::workload::{DataSet, Figure, Parameters, Setting, Workload};
use crate::{load, machine};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// More of the machine than this in other processes' hands is worth a warning.
const OTHERS: f64 = 0.10;
/// A machine with less idle time than this is saturated.
const IDLE: f64 = 0.05;
/// Seconds below which the system's clocks, which tick in hundredths, say nothing about others.
const SHORT: f64 = 0.25;

/// The distribution of workloads that follow a rule of their own.
const OWN: &str = "own";

/// What to measure.
#[derive(Clone)]
pub struct Plan {
    /// The command that all its records share: one [`run_id`].
    pub run: String,
    /// Workloads with what they are run with.
    pub workloads: Vec<(&'static dyn Workload, Parameters)>,
    /// On what.
    pub targets: Vec<Arc<dyn Target>>,
    /// Numbers of clients, one after the other.
    pub clients: Vec<usize>,
    /// Rounds of each.
    pub rounds: usize,
    /// How long and how fast.
    pub pace: Pace,
    /// Processors for the servers; empty for all.
    pub server_cpus: Vec<usize>,
    /// Processors for the clients; empty for all.
    pub client_cpus: Vec<usize>,
    /// A workload that cannot be loaded is recorded as failed and the next one run; else the
    /// first such failure ends everything.
    pub patient: bool,
    /// The command line.
    pub command: Vec<String>,
}

/// Hears how a comparison goes.
pub trait Watcher: Sync {
    /// What is being done, and which share of the whole is behind us.
    fn progress(&self, what: &str, share: f64);
    /// A round is over.
    fn finished(&self, record: &Record);
}

/// A plan on its way.
struct Comparison<'a> {
    plan: &'a Plan,
    answers: Arc<Agreement>,
    facts: Vec<Facts>,
    stop: &'a AtomicBool,
    watcher: &'a dyn Watcher,
    records: Vec<Record>,
}

impl Plan {
    /// Measures everything, and returns what was measured until it was done or interrupted. A
    /// target that cannot be used at all ends the comparison before it has begun; a round that
    /// fails is recorded with its error.
    pub fn run(&self, stop: &AtomicBool, watcher: &dyn Watcher) -> Result<Vec<Record>> {
        let facts = self.facts()?;
        // Asked for the first time before this process may lose some of its processors.
        machine::describe();
        let _bound = self.bind(&facts)?;
        let (answers, records) = (Arc::default(), Vec::new());
        let mut work = Comparison { plan: self, answers, facts, stop, watcher, records };
        for (workload, parameters) in &self.workloads {
            let done = work.workload(*workload, parameters);
            if stop.load(Ordering::Relaxed) {
                break;
            }
            match done {
                Err(failure) if !self.patient => return Err(failure),
                Err(failure) => work.failed(*workload, parameters, &failure),
                Ok(()) => {}
            }
        }
        Ok(work.records)
    }

    /// The numbers of clients of one workload: among several, what is one client's work is run
    /// with one.
    fn clients_of(&self, workload: &dyn Workload) -> &[usize] {
        if workload.alone() && self.workloads.len() > 1 { &[1] } else { &self.clients }
    }

    /// Whether every target is there and takes the clients.
    pub fn check(&self) -> Result<()> {
        self.facts().map(drop)
    }

    /// Asks all targets first: one that is not there or cannot take the clients ends it here.
    fn facts(&self) -> Result<Vec<Facts>> {
        let most = self.clients.iter().max().copied().unwrap_or(1) as u64;
        let ask = |target: &Arc<dyn Target>| {
            let facts = target.facts()?;
            match facts.max_clients {
                // One more for the check.
                Some(limit) if limit < most + 1 => Err(Failure::new(
                    Class::Usage,
                    format!(
                        "{}: takes {limit} connections, too few for {most} clients and one \
                             to watch them",
                        target.label()
                    ),
                )),
                _ => Ok(facts),
            }
        };
        self.targets.iter().map(ask).collect()
    }

    /// Gives each process its processors until the end.
    fn bind(&self, facts: &[Facts]) -> Result<Vec<Bound>> {
        let usage = |message: String| Failure::new(Class::Usage, message);
        let mut sets: BTreeMap<u32, &[usize]> = BTreeMap::new();
        if !self.client_cpus.is_empty() {
            sets.insert(std::process::id(), &self.client_cpus);
        }
        for (facts, target) in facts.iter().zip(&self.targets) {
            if self.server_cpus.is_empty() {
                continue;
            }
            let label = target.label();
            let pid = facts
                .pid
                .ok_or_else(|| usage(format!("{label}: its process is not on this machine")))?;
            match sets.insert(pid, &self.server_cpus) {
                Some(other) if other != self.server_cpus => {
                    let message = format!(
                        "{label} runs in the lab's own process: --server-cpus and --client-cpus \
                         must be equal"
                    );
                    return Err(usage(message));
                }
                _ => {}
            }
        }
        let bound = sets.into_iter().map(|(pid, cpus)| machine::bind(pid, cpus).map_err(usage));
        bound.collect()
    }

    fn record(&self, workload: &dyn Workload, setting: &Setting, round: usize) -> Record {
        let (parameters, facts) = (&setting.parameters, &setting.facts);
        let durability = match facts.durability {
            Durability::Durable => "durable",
            Durability::Relaxed => "relaxed",
            Durability::Unknown => "unknown",
        };
        let mut record = Record {
            schema: SCHEMA,
            run: self.run.clone(),
            at: jiff::Timestamp::now().to_string(),
            command: self.command.clone(),
            machine: machine::describe(),
            workload: WorkloadInfo {
                name: workload.name().to_owned(),
                family: workload.family().to_owned(),
                unit: workload.unit().to_owned(),
                figure: if workload.figure() == Figure::Rate { "rate" } else { "time" }.to_owned(),
                rows: parameters.rows,
                scale: parameters.scale,
                distribution: match workload.draws() {
                    true => parameters.distribution.to_string(),
                    false => OWN.to_owned(),
                },
                prepared: parameters.prepared,
                seed: parameters.seed,
                options: parameters.options.clone(),
            },
            target: TargetInfo {
                label: setting.target.label().to_owned(),
                product: facts.product.name().to_owned(),
                version: facts.version.clone(),
                durability: durability.to_owned(),
                settings: facts.settings.clone(),
            },
            method: Method {
                clients: setting.clients,
                seconds: self.pace.duration.as_secs_f64(),
                warm_up: self.pace.warm_up.as_secs_f64(),
                round,
                rounds: self.rounds,
                rate: self.pace.rate,
                server_cpus: self.server_cpus.clone(),
                client_cpus: self.client_cpus.clone(),
            },
            ..Record::default()
        };
        record.seal();
        record
    }
}

impl Comparison<'_> {
    fn setting(&self, at: usize, parameters: &Parameters, clients: usize, values: u64) -> Setting {
        Setting {
            target: self.plan.targets[at].clone(),
            facts: self.facts[at].clone(),
            parameters: parameters.clone(),
            clients,
            values,
            answers: self.answers.clone(),
        }
    }

    fn keep(&mut self, record: Record) {
        self.watcher.finished(&record);
        self.records.push(record);
    }

    /// All numbers of clients, all rounds, all targets.
    fn workload(&mut self, workload: &dyn Workload, parameters: &Parameters) -> Result<()> {
        let mut loaded = self.load(workload, parameters)?;
        for &clients in self.plan.clients_of(workload) {
            for round in 1..=self.plan.rounds {
                // Tables are used again by later commands, too.
                let values = jiff::Timestamp::now().as_nanosecond() as u64;
                for at in 0..self.plan.targets.len() {
                    if self.stop.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    let setting = self.setting(at, parameters, clients, values);
                    let took = loaded.remove(setting.target.label());
                    if let Some(record) = self.one(workload, &setting, round, took) {
                        self.keep(record);
                    }
                }
            }
        }
        Ok(())
    }

    /// Number of rounds of the whole plan.
    fn rounds(&self) -> f64 {
        let plan = self.plan;
        let of = |(workload, _): &(&dyn Workload, _)| plan.clients_of(*workload).len();
        let runs: usize = plan.workloads.iter().map(of).sum();
        (runs * plan.rounds * plan.targets.len()) as f64
    }

    /// The share of them that is behind us.
    fn done(&self) -> f64 {
        self.records.len() as f64 / self.rounds()
    }

    /// One round; none if it was interrupted before anything was measured.
    fn one(
        &self,
        workload: &dyn Workload,
        setting: &Setting,
        round: usize,
        loaded: Option<f64>,
    ) -> Option<Record> {
        let plan = self.plan;
        let (done, each) = (self.done(), 1.0 / self.rounds());
        let (clients, label) = (setting.clients, setting.target.label());
        let what = format!("{} on {label}, {clients} clients", workload.name());
        let report = |share: f64| self.watcher.progress(&what, done + share * each);
        let mut record = plan.record(workload, setting, round);
        let outcome = self.round(workload, setting, &report);
        let interrupted = self.stop.load(Ordering::Relaxed);
        match outcome {
            Ok(outcome) if outcome.interrupted && outcome.transactions == 0 => return None,
            Err(_) if interrupted => return None,
            Ok(mut outcome) => {
                outcome.load_seconds = outcome.load_seconds.or(loaded);
                record.warnings = warnings(&record, &outcome);
                if outcome.interrupted {
                    let seconds = outcome.seconds;
                    record.warnings.push(format!("interrupted after {seconds:.1} s"));
                }
                record.outcome = Some(outcome);
            }
            Err(failure) => record.error = Some(failure.explained()),
        }
        Some(record)
    }

    /// Records that nothing of a workload could be measured.
    fn failed(&mut self, workload: &dyn Workload, parameters: &Parameters, failure: &Failure) {
        let clients = self.plan.clients_of(workload).first().copied().unwrap_or(1);
        for at in 0..self.plan.targets.len() {
            let setting = self.setting(at, parameters, clients, 0);
            let mut record = self.plan.record(workload, &setting, 1);
            record.error = Some(failure.explained());
            self.keep(record);
        }
    }

    /// Loads every target; returns the seconds it took, by label, where it was needed.
    fn load(
        &self,
        workload: &dyn Workload,
        parameters: &Parameters,
    ) -> Result<BTreeMap<String, f64>> {
        let mut seconds = BTreeMap::new();
        if !workload.keeps_data() {
            return Ok(seconds);
        }
        for (target, facts) in self.plan.targets.iter().zip(&self.facts) {
            let data = workload.data(parameters, target.dialect())?;
            let what = format!("loading {} into {}", data.name, target.label());
            let done = self.done();
            let report = |share: f64| {
                self.watcher.progress(&format!("{what}, {:.0} %", share * 100.0), done);
            };
            let took = self
                .ensure(target, facts, &data, &report)
                .map_err(|failure| failure.during(target.label()))?;
            if let Some(took) = took {
                seconds.insert(target.label().to_owned(), took);
            }
        }
        Ok(seconds)
    }

    fn ensure(
        &self,
        target: &Arc<dyn Target>,
        facts: &Facts,
        data: &DataSet,
        report: &(dyn Fn(f64) + Sync),
    ) -> Result<Option<f64>> {
        let took = load::ensure(target, facts, data, self.stop, report)?;
        if took.is_none() && facts.product == Product::Embedded {
            load::read_once(target, data)?;
        }
        Ok(took)
    }

    /// What a round leaves that did not end well may not be what was loaded.
    fn forget(&self, workload: &dyn Workload, setting: &Setting) {
        if setting.facts.product == Product::Floor {
            return;
        }
        if let Ok(data) = workload.data(&setting.parameters, setting.dialect()) {
            // A target that does not answer any more has lost more than this mark.
            let _ = load::forget(&mut Session::new(setting.target.clone(), false), &data);
        }
    }

    fn round(
        &self,
        workload: &dyn Workload,
        setting: &Setting,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Outcome> {
        let mut took = None;
        if !workload.keeps_data() && setting.facts.product != Product::Floor {
            let data: DataSet = workload.data(&setting.parameters, setting.dialect())?;
            took = self.ensure(&setting.target, &setting.facts, &data, &|_| {})?;
            let mut session = Session::new(setting.target.clone(), false);
            load::forget(&mut session, &data)?;
        }
        let done = round::run(workload, setting, self.plan.pace, self.stop, progress);
        if !done.as_ref().is_ok_and(|outcome| !outcome.interrupted) {
            self.forget(workload, setting);
        }
        done.map(|outcome| Outcome { load_seconds: took, ..outcome })
    }
}

/// What makes a round's figures doubtful.
fn warnings(record: &Record, outcome: &Outcome) -> Vec<String> {
    let mut warnings = outcome.notes.clone();
    if outcome.cpu.others > OTHERS && outcome.seconds >= SHORT {
        let share = outcome.cpu.others * 100.0;
        warnings.push(format!("the machine is busy: others used {share:.0} % of it"));
    }
    if client_is_the_bottleneck(record, outcome) {
        warnings.push("the client is the bottleneck: it uses more than the server".into());
    }
    if outcome.unserved > 0 {
        let unserved = outcome.unserved;
        warnings.push(format!("the rate was not reached: {unserved} were never begun"));
    }
    warnings
}

/// Where no time is left over, and the clients take most of it; or they have used up the
/// processors that are theirs alone.
fn client_is_the_bottleneck(record: &Record, outcome: &Outcome) -> bool {
    let cpu = &outcome.cpu;
    let (Some(client), Some(server)) = (cpu.client_seconds, cpu.server_seconds) else {
        return false;
    };
    let of = |cpus: usize, share: f64| cpus as f64 * outcome.seconds * share;
    let Method { server_cpus, client_cpus, .. } = &record.method;
    if !client_cpus.is_empty() && client > of(client_cpus.len(), 1.0 - IDLE) {
        return client > server || server_cpus != client_cpus;
    }
    let both: BTreeSet<_> = server_cpus.iter().chain(client_cpus).collect();
    let saturated = if server_cpus.is_empty() || client_cpus.is_empty() {
        cpu.idle < IDLE
    } else {
        client + server > of(both.len(), 1.0 - IDLE)
    };
    saturated && client > server
}

/// What a reader should know about the comparison as a whole.
pub fn overall_warnings(records: &[Record]) -> Vec<String> {
    let mut by_durability: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for record in records.iter().filter(|record| record.target.product != "floor") {
        let labels = by_durability.entry(&record.target.durability).or_default();
        if !labels.contains(&record.target.label.as_str()) {
            labels.push(&record.target.label);
        }
    }
    if by_durability.len() < 2 {
        return Vec::new();
    }
    let parts = by_durability.iter().map(|(what, labels)| format!("{what}: {}", labels.join(", ")));
    let parts: Vec<String> = parts.collect();
    vec![format!("durability differs ({})", parts.join("; "))]
}

/// A name for a command and all its records.
pub fn run_id() -> String {
    let now = jiff::Timestamp::now().as_nanosecond() as u64;
    format!("{:016x}", now ^ u64::from(std::process::id()).rotate_left(40))
}

#[cfg(test)]
mod tests;
