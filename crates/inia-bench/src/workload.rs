//! Workloads: which tables they need, what a client does, and what must hold afterwards.
//!
//! The life of a run: [`Workload::data`] is loaded if it is not there; [`Workload::stage`] looks
//! at it and makes what all clients share; each client gets a [`Script`] of [`Stage::script`] and a
//! [`Session`], and runs transactions until the time is up; the scripts' tallies are summed; and
//! [`Stage::check`] compares them with what the tables hold. A workload adds itself in
//! [`all`].

mod benchw;
mod data;
mod htap;
mod innodb;
mod nile;
mod order;
mod osdb;
mod php;
mod query_set;
mod smack;
mod sqlbench;
mod sysbench;
mod tpcb;
mod tpcc;
mod tpch;
mod written;

pub use data::{DataSet, Fill, Rows, Table};

use crate::agreement::Agreement;
use crate::random::{Distribution, Rng};
use crate::record::Outcome;
use crate::session::Session;
use crate::target::{Dialect, Facts, Failure, Result, Target};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Every workload, in the order of the list.
pub fn all() -> impl Iterator<Item = &'static dyn Workload> {
    let families: &[&[&'static dyn Workload]] = &[
        sysbench::WORKLOADS,
        smack::WORKLOADS,
        php::WORKLOADS,
        innodb::WORKLOADS,
        nile::WORKLOADS,
        order::WORKLOADS,
        tpcb::WORKLOADS,
        tpcc::WORKLOADS,
        tpch::WORKLOADS,
        benchw::WORKLOADS,
        htap::WORKLOADS,
        osdb::WORKLOADS,
        sqlbench::WORKLOADS,
    ];
    families.iter().copied().flatten().copied()
}

/// The workload of this name.
pub fn find(name: &str) -> Option<&'static dyn Workload> {
    all().find(|workload| workload.name() == name)
}

/// Sums that clients' scripts leave behind, by name.
pub type Tally = BTreeMap<&'static str, i64>;

/// What a workload is run with. The scale's meaning is the workload's.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Rows of the main table.
    pub rows: u64,
    /// Number of tables, warehouses or branches.
    pub scale: u64,
    /// How rows are chosen.
    pub distribution: Distribution,
    /// Prepared statements rather than texts.
    pub prepared: bool,
    /// Of data and choices.
    pub seed: u64,
    /// The workload's own options, by name (see [`Workload::options`]).
    pub options: BTreeMap<String, String>,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            rows: 100_000,
            scale: 1,
            distribution: Distribution::Uniform,
            prepared: true,
            seed: 1,
            options: BTreeMap::new(),
        }
    }
}

impl Parameters {
    /// An option's value as a number, or its default.
    pub fn number(&self, name: &str, default: f64) -> Result<f64> {
        let Some(text) = self.options.get(name) else { return Ok(default) };
        text.parse().map_err(|_| {
            let message = format!("option {name}: '{text}' is not a number");
            Failure::new(crate::target::Class::Usage, message)
        })
    }
}

/// Everything a workload may ask about its run.
#[derive(Clone)]
pub struct Setting {
    /// What it runs on.
    pub target: Arc<dyn Target>,
    /// What the target says about itself.
    pub facts: Facts,
    /// What it is run with.
    pub parameters: Parameters,
    /// Number of clients.
    pub clients: usize,
    /// The seed of what clients write: equal for all targets of a round, and another one in the
    /// next. A row that gets the value which an earlier round has left in it does not change, and
    /// that costs some servers nothing.
    pub values: u64,
    /// What other targets of the same comparison answered.
    pub answers: Arc<Agreement>,
}

impl Setting {
    /// The generator of the values that a client writes; its other choices follow the seed.
    pub fn values_of(&self, client: usize) -> Rng {
        Rng::stream(self.values, client as u64 + 1)
    }

    /// The target's SQL.
    pub fn dialect(&self) -> Dialect {
        self.target.dialect()
    }

    /// A new session on the target.
    pub fn session(&self) -> Session {
        Session::new(self.target.clone(), self.parameters.prepared)
    }
}

/// The figure by which runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Transactions per second.
    Rate,
    /// Milliseconds of the median transaction: for single statements.
    Time,
}

/// A workload.
pub trait Workload: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// One line about it.
    fn about(&self) -> &'static str;

    /// The report it comes from, for grouping.
    fn family(&self) -> &'static str;

    /// Its parameters where the user names no others.
    fn defaults(&self) -> Parameters {
        Parameters::default()
    }

    /// Names and meanings of its own options.
    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Names of what [`Script::transaction`] returns the index of.
    fn kinds(&self) -> &'static [&'static str] {
        &["transaction"]
    }

    /// The figure by which runs are compared.
    fn figure(&self) -> Figure {
        Figure::Rate
    }

    /// What a transaction is called in tables: "transactions", "pages", "operations".
    fn unit(&self) -> &'static str {
        "transactions"
    }

    /// Transactions after which a client is done, whatever the time: for programs of fixed length.
    fn length(&self, _parameters: &Parameters) -> Option<u64> {
        None
    }

    /// Whether [`Parameters::distribution`] decides which rows it takes; the others take all of
    /// them, or follow a rule of their own.
    fn draws(&self) -> bool {
        true
    }

    /// Whether it is one client's work.
    fn alone(&self) -> bool {
        false
    }

    /// The tables and rows it needs. Workloads may share a data set by giving equal ones.
    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet>;

    /// Whether the data can be used again after a run.
    fn keeps_data(&self) -> bool {
        true
    }

    /// Looks at the loaded data and makes what the clients share. `session` is not a client's.
    fn stage(&self, setting: &Setting, session: &mut Session) -> Result<Arc<dyn Stage>>;
}

/// What all clients of one run share.
pub trait Stage: Send + Sync {
    /// The script of client number `client`, from 0.
    fn script(&self, client: usize) -> Box<dyn Script>;

    /// Compares what the scripts did with what the tables hold now. An error voids the run.
    fn check(&self, session: &mut Session, tally: &Tally) -> Result<()>;

    /// Further figures of the run: name, unit and value.
    fn extras(&self, _outcome: &Outcome) -> Vec<(String, &'static str, f64)> {
        Vec::new()
    }

    /// What cannot be measured on this target, and why.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// One client's work.
pub trait Script: Send {
    /// Prepares statements; not measured.
    fn start(&mut self, session: &mut Session) -> Result<()>;

    /// Whether [`Script::before`] has something to do now. Only scripts of which one alone runs
    /// may say so: what the others do meanwhile would not be measured either.
    fn prepares(&self) -> bool {
        false
    }

    /// What must be done before a transaction and is not measured: neither its time nor the
    /// processor time of client and server.
    fn before(&mut self, _session: &mut Session) -> Result<()> {
        Ok(())
    }

    /// Runs one transaction and returns its kind. After a failure of class
    /// [`Retry`](crate::target::Class::Retry) it is rolled back and called again with the same
    /// random numbers, to run the same transaction again.
    fn transaction(&mut self, session: &mut Session, rng: &mut Rng) -> Result<usize>;

    /// How often the last transaction was run again without this caller's doing.
    fn repeated(&self) -> u64 {
        0
    }

    /// Adds what it did to the sums.
    fn tally(&self, _tally: &mut Tally) {}
}
