//! A measured round as one line of JSON. docs/LAB.md describes every field.

use crate::histogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The number that changes with the meaning of a field.
pub const SCHEMA: u32 = 1;

/// What a query of a set is called in tables, which are made for such sets of their own.
pub const QUERIES: &str = "queries";
/// The kind of queries of a set that were stopped or failed.
pub const UNANSWERED: &str = "unanswered";
/// Behind a query's name in the further figures: it was stopped after so many seconds.
pub const STOPPED: &str = " stopped";
/// Behind a query's name in the further figures: it failed.
pub const FAILED: &str = " failed";

/// One round of one workload on one target with one number of clients.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The command that all its records share.
    pub run: String,
    /// When the round began, as an RFC 3339 time in UTC.
    pub at: String,
    /// The command line.
    pub command: Vec<String>,
    /// Equal for rounds that may be compared as repetitions: workload, parameters, method and
    /// the target's version and settings.
    pub hash: String,
    /// Where it ran.
    pub machine: Machine,
    /// What was run.
    pub workload: WorkloadInfo,
    /// On what.
    pub target: TargetInfo,
    /// How.
    pub method: Method,
    /// What was measured; absent if the round failed.
    pub outcome: Option<Outcome>,
    /// What a reader should know before believing the figures.
    pub warnings: Vec<String>,
    /// Why the round failed.
    pub error: Option<String>,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system and kernel.
    pub os: String,
    /// Processor's model.
    pub cpu: String,
    /// Processors that this process may use.
    pub cores: usize,
    /// Bytes of memory.
    pub memory: u64,
    /// The lab's version.
    pub lab: String,
}

/// A workload and its parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkloadInfo {
    /// Name on the command line.
    pub name: String,
    /// Report it comes from.
    pub family: String,
    /// What a transaction is called.
    pub unit: String,
    /// `rate` or `time`: the figure that counts.
    pub figure: String,
    /// Rows of the main table.
    pub rows: u64,
    /// Tables, warehouses or branches.
    pub scale: u64,
    /// How rows are chosen.
    pub distribution: String,
    /// Prepared statements rather than texts.
    pub prepared: bool,
    /// Seed.
    pub seed: u64,
    /// The workload's own options.
    pub options: BTreeMap<String, String>,
}

/// A target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetInfo {
    /// Its name in the comparison.
    pub label: String,
    /// `inia`, `inia-embedded`, `mysql`, `mariadb`, `postgres`, `sqlite` or `floor`.
    pub product: String,
    /// Its version.
    pub version: String,
    /// `durable`, `relaxed` or `unknown`.
    pub durability: String,
    /// Settings that matter.
    pub settings: BTreeMap<String, String>,
}

/// How a round was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// Number of clients.
    pub clients: usize,
    /// Seconds measured, as asked for.
    pub seconds: f64,
    /// Seconds before.
    pub warm_up: f64,
    /// Number of this round, from 1.
    pub round: usize,
    /// Number of rounds.
    pub rounds: usize,
    /// Transactions per second at which an open loop starts them; absent for a closed loop.
    pub rate: Option<f64>,
    /// Processors that the server was bound to; empty for all.
    pub server_cpus: Vec<usize>,
    /// Processors that the clients were bound to; empty for all.
    pub client_cpus: Vec<usize>,
}

/// What was measured.
///
/// Wide: one field for each measure of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Transactions that ended in the measured time.
    pub transactions: u64,
    /// Seconds measured.
    pub seconds: f64,
    /// Transactions per second.
    pub rate: f64,
    /// Requests (statements) sent.
    pub requests: u64,
    /// Transactions that were rolled back and run again.
    pub retries: u64,
    /// Open loop: transactions that were due but not begun when the time was up.
    pub unserved: u64,
    /// Of all transactions; from the intended start in an open loop.
    pub latency: Latency,
    /// Buckets that hold something: greatest latency in microseconds, count.
    pub histogram: Vec<(f64, u32)>,
    /// By kind of transaction, where a workload has several.
    pub kinds: Vec<TransactionKind>,
    /// By second.
    pub series: Vec<Second>,
    /// Processor time.
    pub cpu: Cpu,
    /// The server's resident memory at the end in bytes, children included.
    pub rss: Option<u64>,
    /// Seconds that loading took; absent if the data was there.
    pub load_seconds: Option<f64>,
    /// The user ended the round before its time: it does not count where a whole one does.
    #[serde(default)]
    pub interrupted: bool,
    /// What the workload could not measure on this target, and why.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Further figures of the workload.
    pub extras: Vec<Extra>,
}

impl Outcome {
    /// A latency in microseconds; none where nothing ended.
    pub fn took(&self, of: impl Fn(&Latency) -> f64) -> Option<f64> {
        (self.transactions > 0).then(|| of(&self.latency))
    }
}

/// Latencies in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90 % are at most this.
    pub p90: f64,
    /// 95 %.
    pub p95: f64,
    /// 99 %.
    pub p99: f64,
    /// 99.9 %.
    pub p999: f64,
    /// The greatest.
    pub max: f64,
}

impl Latency {
    /// The latencies of a histogram.
    pub fn of(histogram: &Histogram) -> Latency {
        let micros = |nanos: u64| nanos as f64 / 1000.0;
        let quantile = |share| micros(histogram.quantile(share));
        Latency {
            mean: micros(histogram.mean()),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: micros(histogram.max()),
        }
    }
}

/// One kind of transaction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TransactionKind {
    /// Its name.
    pub name: String,
    /// How many.
    pub transactions: u64,
    /// Their latencies.
    pub latency: Latency,
}

/// One second of a round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// From the measurement's begin: 0, 1, 2 …
    pub second: u64,
    /// Transactions that ended in it.
    pub transactions: u64,
    /// Median latency in microseconds.
    pub p50: f64,
    /// 95 % are at most this.
    pub p95: f64,
    /// 99 %.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
    /// As [`Outcome::histogram`], in buckets an eighth of a power of two wide. Lines that older
    /// labs wrote have none.
    #[serde(default)]
    pub histogram: Vec<(f64, u32)>,
}

/// Processor time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Whether server and clients are one process: then all of it is `server`.
    pub in_process: bool,
    /// The server's, in microseconds per transaction.
    pub server: Option<f64>,
    /// The clients', in microseconds per transaction.
    pub client: Option<f64>,
    /// The server's seconds.
    pub server_seconds: Option<f64>,
    /// The clients' seconds.
    pub client_seconds: Option<f64>,
    /// Share of the machine that other processes used, 0 to 1.
    pub others: f64,
    /// Share of the machine that was idle.
    pub idle: f64,
}

/// A further figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Extra {
    /// What.
    pub name: String,
    /// In what.
    pub unit: String,
    /// How much.
    pub value: f64,
}

impl Record {
    /// The record as one line.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a line.
    pub fn parse(line: &str) -> Result<Record, String> {
        let record: Record = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if record.schema != SCHEMA {
            return Err(format!("schema {} instead of {SCHEMA}", record.schema));
        }
        Ok(record)
    }

    /// Computes [`Record::hash`] from the fields that must be equal.
    pub fn seal(&mut self) {
        let method = Method { round: 0, rounds: 0, ..self.method.clone() };
        let parts = (&self.workload, &self.target, &method, &self.machine);
        let text = serde_json::to_string(&parts).unwrap_or_default();
        self.hash = format!("{:016x}", fingerprint(text.as_bytes()));
    }
}

/// FNV-1a of 64 bits: short names for configurations, not a defence against anybody.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
