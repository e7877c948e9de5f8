//! A comparison: workloads, targets and numbers of clients, in interleaved rounds.
//!
//! Rounds go A B C A B C …, so that a slow minute of the machine falls on all targets alike.

use crate::record::{Method, Record, SCHEMA, TargetInfo, WorkloadInfo};
use crate::round::{self, Pace};
use crate::session::Session;
use crate::target::{Class, Durability, Facts, Failure, Product, Result, Target};
use crate::workload::{DataSet, Figure, Parameters, Setting, Workload};
use crate::{load, machine};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// More of the machine than this in other processes' hands is worth a warning.
const OTHERS: f64 = 0.10;
/// A machine with less idle time than this is saturated.
const IDLE: f64 = 0.05;

/// What to measure.
#[derive(Clone)]
pub struct Plan {
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

impl Plan {
    /// Measures everything, and returns what was measured until it was done or interrupted. A
    /// target that cannot be used at all ends the comparison before it has begun; a round that
    /// fails is recorded with its error.
    pub fn run(&self, stop: &AtomicBool, watcher: &dyn Watcher) -> Result<Vec<Record>> {
        let facts = self.facts()?;
        self.bind(&facts)?;
        let mut records = Vec::new();
        let steps = self.workloads.len() * self.clients.len() * self.rounds * self.targets.len();
        let run = format!("{:016x}", run_id());
        for (workload, parameters) in &self.workloads {
            let mut loaded = match self.load(*workload, parameters, &facts, stop, watcher) {
                Ok(loaded) => loaded,
                Err(failure) if self.workloads.len() == 1 => return Err(failure),
                // The other workloads are not to blame.
                Err(failure) => {
                    for (target, facts) in self.targets.iter().zip(&facts) {
                        let setting = Setting {
                            target: target.clone(),
                            facts: facts.clone(),
                            parameters: parameters.clone(),
                            clients: self.clients.first().copied().unwrap_or(1),
                        };
                        let mut record = self.record(*workload, &setting, 1, &run);
                        record.error = Some(failure.message.clone());
                        watcher.finished(&record);
                        records.push(record);
                    }
                    continue;
                }
            };
            for &clients in &self.clients {
                for round in 1..=self.rounds {
                    for (target, facts) in self.targets.iter().zip(&facts) {
                        if stop.load(Ordering::Relaxed) {
                            return Ok(records);
                        }
                        let setting = Setting {
                            target: target.clone(),
                            facts: facts.clone(),
                            parameters: parameters.clone(),
                            clients,
                        };
                        let done = records.len() as f64;
                        let tell = |share: f64| {
                            let what = format!(
                                "{} on {}, {clients} clients",
                                workload.name(),
                                target.label()
                            );
                            watcher.progress(&what, (done + share) / steps as f64);
                        };
                        let mut record = self.record(*workload, &setting, round, &run);
                        match self.round(*workload, &setting, stop, &tell) {
                            Ok(mut outcome) => {
                                let seconds = loaded.remove(target.label());
                                outcome.load_seconds = outcome.load_seconds.or(seconds);
                                record.outcome = Some(outcome);
                            }
                            Err(failure) => record.error = Some(failure.message),
                        }
                        record.warnings = self.warnings(&record);
                        watcher.finished(&record);
                        records.push(record);
                    }
                }
            }
        }
        Ok(records)
    }

    /// Asks all targets first: whoever is not there or cannot take the clients ends it here.
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

    fn bind(&self, facts: &[Facts]) -> Result<()> {
        let usage = |message: String| Failure::new(Class::Usage, message);
        let own = std::process::id();
        if !self.client_cpus.is_empty() {
            machine::bind_process(own, &self.client_cpus).map_err(usage)?;
        }
        for (facts, target) in facts.iter().zip(&self.targets) {
            if self.server_cpus.is_empty() {
                continue;
            }
            let pid = facts.pid.ok_or_else(|| {
                usage(format!("{}: its process is not on this machine", target.label()))
            })?;
            machine::bind_process(pid, &self.server_cpus).map_err(usage)?;
        }
        Ok(())
    }

    /// Loads every target; returns the seconds it took, by label, where it was needed.
    fn load(
        &self,
        workload: &dyn Workload,
        parameters: &Parameters,
        facts: &[Facts],
        stop: &AtomicBool,
        watcher: &dyn Watcher,
    ) -> Result<BTreeMap<String, f64>> {
        let mut seconds = BTreeMap::new();
        if !workload.keeps_data() {
            return Ok(seconds);
        }
        for (target, facts) in self.targets.iter().zip(facts) {
            let data = workload.data(parameters, target.dialect())?;
            let what = format!("loading {} into {}", data.name, target.label());
            let tell = |share: f64| watcher.progress(&what, share);
            let took = load::ensure(target, facts, &data, stop, &tell)
                .map_err(|failure| failure.during(target.label()))?;
            if let Some(took) = took {
                seconds.insert(target.label().to_owned(), took);
            }
        }
        Ok(seconds)
    }

    fn round(
        &self,
        workload: &dyn Workload,
        setting: &Setting,
        stop: &AtomicBool,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<crate::record::Outcome> {
        let mut took = None;
        if !workload.keeps_data() && setting.facts.product != Product::Floor {
            let data: DataSet = workload.data(&setting.parameters, setting.dialect())?;
            took = load::ensure(&setting.target, &setting.facts, &data, stop, &|_| {})?;
            let mut session = Session::new(setting.target.clone(), false);
            load::forget(&mut session, &data)?;
        }
        let mut outcome = round::run(workload, setting, self.pace, stop, progress)?;
        outcome.load_seconds = took;
        Ok(outcome)
    }

    fn record(
        &self,
        workload: &dyn Workload,
        setting: &Setting,
        round: usize,
        run: &str,
    ) -> Record {
        let (parameters, facts) = (&setting.parameters, &setting.facts);
        let durability = match facts.durability {
            Durability::Durable => "durable",
            Durability::Relaxed => "relaxed",
            Durability::Unknown => "unknown",
        };
        let mut record = Record {
            schema: SCHEMA,
            run: run.to_owned(),
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
                distribution: parameters.distribution.to_string(),
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

    fn warnings(&self, record: &Record) -> Vec<String> {
        let mut warnings = Vec::new();
        let Some(outcome) = &record.outcome else { return warnings };
        let cpu = &outcome.cpu;
        if cpu.others > OTHERS {
            let share = cpu.others * 100.0;
            warnings.push(format!("the machine is busy: others used {share:.0} % of it"));
        }
        if let (Some(client), Some(server)) = (cpu.client_seconds, cpu.server_seconds) {
            let own = self.client_cpus.len() as f64 * outcome.seconds;
            let bound = !self.client_cpus.is_empty() && client > 0.9 * own;
            if bound || (cpu.idle < IDLE && client > server) {
                warnings.push("the client is the bottleneck: it uses more than the server".into());
            }
        }
        if outcome.unserved > 0 {
            let unserved = outcome.unserved;
            warnings.push(format!("the rate was not reached: {unserved} were never begun"));
        }
        warnings
    }
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

fn run_id() -> u64 {
    let now = jiff::Timestamp::now().as_nanosecond() as u64;
    now ^ u64::from(std::process::id()).rotate_left(40)
}
