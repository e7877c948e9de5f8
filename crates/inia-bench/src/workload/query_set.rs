//! Sets of queries, each with a limit on its time: what the warehouse workloads run.
//!
//! A transaction is one query; its kind is the query's place in the workload's list, and the kind
//! behind the last is that of queries which did not end in time or failed. A client runs all of
//! them `runs` times; each client begins at another one. Answers are compared after the round: with
//! the order of the query, with what is published, and with what other targets said.

use super::{DataSet, Figure, Parameters, Script, Setting, Stage, Tally, Workload};
use crate::agreement::{Agreement, Lines, lines, ordered};
use crate::limit::{Ending, Watch};
use crate::random::Rng;
use crate::record::{FAILED, Outcome, QUERIES, STOPPED, UNANSWERED};
use crate::report::geometric_mean;
use crate::session::{Session, Statement};
use crate::target::{Answer, Class, Dialect, Failure, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A workload that runs a set of queries.
pub(super) trait QuerySet: Sync {
    /// Names of the queries, and behind them [`UNANSWERED`].
    const KINDS: &'static [&'static str];
    /// Its name on the command line.
    const NAME: &'static str;
    /// One line about it.
    const ABOUT: &'static str;
    /// Rows that it is run with where the user names no number.
    const ROWS: u64;

    /// The tables and rows it needs.
    fn tables(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet>;

    /// Looks at the loaded data and makes the round that the clients share.
    fn round(&self, setting: &Setting, session: &mut Session) -> Result<Round>;
}

/// The report that workloads of this kind belong to.
pub(super) const FAMILY: &str = "Warehouse";

impl<S: QuerySet> Workload for S {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn about(&self) -> &'static str {
        S::ABOUT
    }

    fn family(&self) -> &'static str {
        FAMILY
    }

    fn defaults(&self) -> Parameters {
        Parameters { rows: S::ROWS, prepared: false, ..Parameters::default() }
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        OPTIONS
    }

    fn kinds(&self) -> &'static [&'static str] {
        S::KINDS
    }

    /// How many queries a second, those that were stopped included.
    fn figure(&self) -> Figure {
        Figure::Rate
    }

    fn unit(&self) -> &'static str {
        QUERIES
    }

    fn length(&self, parameters: &Parameters) -> Option<u64> {
        Some(length(parameters, S::KINDS.len() - 1))
    }

    fn draws(&self) -> bool {
        false
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        self.tables(parameters, dialect)
    }

    fn stage(&self, setting: &Setting, session: &mut Session) -> Result<Arc<dyn Stage>> {
        Ok(Arc::new(self.round(setting, session)?))
    }
}

/// Options of every workload that runs a set of queries.
const OPTIONS: &[(&str, &str)] = &[
    ("limit", "seconds after which a query is stopped [default: 60]"),
    ("queries", "numbers of the queries to run, such as 1+6+14 [default: all]"),
    ("runs", "how often each client runs all of them in a round [default: 1]"),
];

/// One query.
pub(super) struct SetQuery {
    /// Its name in tables, which is its kind's.
    pub name: &'static str,
    /// In the target's dialect.
    pub text: String,
    /// The columns that its answer is ordered by, and whether each descends.
    pub order: &'static [(usize, bool)],
}

/// Says what is wrong with the answer to the query of this number.
pub(super) type AnswerCheck = dyn Fn(usize, &Lines) -> Option<String> + Send + Sync;

/// Numbers of the queries that are run, from 0.
pub(super) fn chosen(parameters: &Parameters, all: usize) -> Result<Vec<usize>> {
    let Some(text) = parameters.options.get("queries") else { return Ok((0..all).collect()) };
    let usage = |part: &str| {
        let message = format!("option queries: '{part}' is not a number from 1 to {all}");
        Failure::new(Class::Usage, message)
    };
    let number = |part: &str| {
        let number: usize = part.trim().parse().map_err(|_| usage(part))?;
        if (1..=all).contains(&number) { Ok(number - 1) } else { Err(usage(part)) }
    };
    text.split('+').map(number).collect()
}

/// Queries that each client runs in a round.
fn length(parameters: &Parameters, all: usize) -> u64 {
    let count = chosen(parameters, all).map_or(all, |chosen| chosen.len());
    let runs = parameters.options.get("runs").and_then(|text| text.parse().ok());
    count as u64 * runs.unwrap_or(1)
}

/// Why a query has no answer.
#[derive(Clone, Debug, PartialEq)]
enum Unanswered {
    Stopped(Ending),
    Failed(String),
}

/// What all clients of a round have heard, by the number of the query.
#[derive(Default)]
struct Heard {
    answers: BTreeMap<usize, Vec<Answer>>,
    unanswered: BTreeMap<usize, Unanswered>,
}

/// A set of queries on its way.
pub(super) struct Round {
    queries: Arc<Vec<SetQuery>>,
    numbers: Vec<usize>,
    limit: Duration,
    /// What answers are known by: workload and parameters that decide them.
    set: String,
    label: String,
    dialect: Dialect,
    known: Arc<Agreement>,
    check_answer: Box<AnswerCheck>,
    heard: Arc<Mutex<Heard>>,
}

impl Round {
    /// Runs these queries on the setting's target; `set` names data and parameters, and equal
    /// names have equal answers.
    pub(super) fn new(
        setting: &Setting,
        set: String,
        queries: Vec<SetQuery>,
        check_answer: Box<AnswerCheck>,
    ) -> Result<Round> {
        let parameters = &setting.parameters;
        let seconds = parameters.number("limit", 60.0)?;
        let limit = Duration::try_from_secs_f64(seconds).map_err(|_| {
            Failure::new(Class::Usage, format!("option limit: {seconds} is not a time"))
        })?;
        Ok(Round {
            numbers: chosen(parameters, queries.len())?,
            queries: Arc::new(queries),
            limit,
            set,
            label: setting.target.label().to_owned(),
            dialect: setting.dialect(),
            known: setting.answers.clone(),
            check_answer,
            heard: Arc::default(),
        })
    }

    /// What is wrong with an answer.
    fn verdict(&self, number: usize, answer: &Answer) -> Option<String> {
        let (query, rows) = (&self.queries[number], lines(answer));
        // PostgreSQL orders texts by the collation of its database.
        let texts_differ = self.dialect == Dialect::Postgres;
        if !texts_differ && let Err(row) = ordered(&rows, query.order) {
            return Some(format!("row {} is out of order", row + 1));
        }
        let key = format!("{} {}", self.set, query.name);
        (self.check_answer)(number, &rows).or_else(|| self.known.differs(&key, &self.label, &rows))
    }
}

impl Stage for Round {
    fn script(&self, client: usize) -> Box<dyn Script> {
        Box::new(Client {
            queries: self.queries.clone(),
            numbers: self.numbers.clone(),
            limit: self.limit,
            next: client,
            statements: BTreeMap::new(),
            watch: None,
            heard: self.heard.clone(),
        })
    }

    fn check(&self, _session: &mut Session, _tally: &Tally) -> Result<()> {
        let heard = self.heard.lock().expect("no client panics");
        let mut wrong = Vec::new();
        for (&number, answers) in &heard.answers {
            let found = answers.iter().find_map(|answer| self.verdict(number, answer));
            wrong.extend(found.map(|what| format!("{}: {what}", self.queries[number].name)));
        }
        if wrong.is_empty() { Ok(()) } else { Err(Failure::wrong(wrong.join("; "))) }
    }

    /// Which queries have no answer, and for which reason.
    fn extras(&self, outcome: &Outcome) -> Vec<(String, &'static str, f64)> {
        let heard = self.heard.lock().expect("no client panics");
        let mut extras: Vec<_> = heard
            .unanswered
            .iter()
            .map(|(&number, why)| {
                let name = self.queries[number].name;
                match why {
                    Unanswered::Stopped(_) => {
                        (format!("{name}{STOPPED}"), "s", self.limit.as_secs_f64())
                    }
                    Unanswered::Failed(_) => (format!("{name}{FAILED}"), "", 1.0),
                }
            })
            .collect();
        extras.extend(mean(outcome).map(|mean| ("geometric mean".to_owned(), "ms", mean)));
        extras
    }

    fn notes(&self) -> Vec<String> {
        let heard = self.heard.lock().expect("no client panics");
        let seconds = self.limit.as_secs_f64();
        let note = |(&number, why): (&usize, &Unanswered)| {
            let name = self.queries[number].name;
            match why {
                Unanswered::Stopped(Ending::Severed) => {
                    format!("{name} took more than {seconds} s and could not be stopped")
                }
                Unanswered::Stopped(_) => format!("{name} was stopped after {seconds} s"),
                Unanswered::Failed(error) => format!("{name} failed: {error}"),
            }
        };
        heard.unanswered.iter().map(note).collect()
    }
}

/// The geometric mean of the queries' median times in milliseconds, if all were answered.
fn mean(outcome: &Outcome) -> Option<f64> {
    let run = outcome.kinds.iter().filter(|kind| kind.transactions > 0);
    let times: Option<Vec<f64>> =
        run.map(|kind| (kind.name != UNANSWERED).then_some(kind.latency.p50 / 1000.0)).collect();
    geometric_mean(&times?)
}

struct Client {
    queries: Arc<Vec<SetQuery>>,
    numbers: Vec<usize>,
    limit: Duration,
    /// Counts the queries that were run, from the one it begins at.
    next: usize,
    statements: BTreeMap<usize, Statement>,
    /// None where the target's statements cannot be stopped.
    watch: Option<Watch>,
    heard: Arc<Mutex<Heard>>,
}

impl Client {
    fn execute(&mut self, session: &mut Session, number: usize) -> (Result<()>, Ending) {
        let statement = self.statements.get(&number).copied();
        let text = &self.queries[number].text;
        let mut work = || match statement {
            Some(statement) => session.run(statement, &[]).map(drop),
            None => session.query(text).map(drop),
        };
        match &self.watch {
            Some(watch) => watch.run(self.limit, work),
            None => (work(), Ending::InTime),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.heard.lock().expect("no client panics")
    }
}

impl Script for Client {
    fn start(&mut self, session: &mut Session) -> Result<()> {
        self.watch = session.stopper()?.map(Watch::new);
        self.statements.clear();
        for &number in &self.numbers {
            // What cannot be prepared fails when it is run.
            if let Ok(statement) = session.statement(&self.queries[number].text) {
                self.statements.insert(number, statement);
            }
        }
        Ok(())
    }

    fn transaction(&mut self, session: &mut Session, _rng: &mut Rng) -> Result<usize> {
        let number = self.numbers[self.next % self.numbers.len()];
        self.next += 1;
        let (done, ending) = self.execute(session, number);
        let why = match (done, ending) {
            (Ok(()), _) => {
                let answer = session.answer().clone();
                let mut heard = self.lock();
                let answers = heard.answers.entry(number).or_default();
                // What is heard again is compared at once, and need not be kept.
                if !answers.contains(&answer) {
                    answers.push(answer);
                }
                return Ok(number);
            }
            (Err(_), Ending::Stopped) => Unanswered::Stopped(ending),
            (Err(_), Ending::Severed) => {
                session.disconnect();
                self.start(session)?;
                Unanswered::Stopped(ending)
            }
            (Err(failure), Ending::InTime) if failure.class == Class::Statement => {
                Unanswered::Failed(failure.message)
            }
            (Err(failure), Ending::InTime) => return Err(failure),
        };
        self.lock().unanswered.insert(number, why);
        Ok(self.queries.len())
    }
}

#[cfg(test)]
mod tests;
