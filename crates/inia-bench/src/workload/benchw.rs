//! BenchW, the warehouse that the white paper names: a star of one table of facts and three of
//! dimensions, which is loaded, indexed, and read by five kinds of queries.
//!
//! `rows` is the number of facts. A query chooses days, and in the later kinds attributes of the
//! other dimensions too, and counts the facts of each group. All answers follow from the generator.
//!
//! ```text
//! dim0 10,000 days ──┐
//! dim1 1,000 rows  ──┼── fact0
//! dim2 1,000 rows  ──┘
//! ```

mod star;

use super::query_set::{FAMILY, QuerySet, Round, SetQuery};
use super::{DataSet, Figure, Parameters, Rows, Script, Setting, Stage, Tally, Workload};
use crate::agreement;
use crate::random::Rng;
use crate::record;
use crate::session::Session;
use crate::target::{Class, Dialect, Failure, Result};
use std::sync::Arc;

pub(super) const WORKLOADS: &[&dyn Workload] = &[&Queries, &Program::Load, &Program::Index];

/// Name, text, and the columns that the answer is ordered by.
const QUERIES: [(&str, &str, &[(usize, bool)]); 5] = [
    (
        "days",
        "SELECT d0.dmth, COUNT(f.fval) FROM dim0 d0, fact0 f WHERE d0.d0key = f.d0key \
         AND d0.ddate BETWEEN '2010-01-01' AND '2010-12-28' GROUP BY d0.dmth ORDER BY d0.dmth",
        &[(0, false)],
    ),
    (
        "year",
        "SELECT d0.dmth, COUNT(f.fval) FROM dim0 d0, fact0 f WHERE d0.d0key = f.d0key \
         AND d0.dyr = 2010 GROUP BY d0.dmth ORDER BY d0.dmth",
        &[(0, false)],
    ),
    (
        "two_dims",
        "SELECT d0.dmth, d1.dattyp, COUNT(f.fval) FROM dim0 d0, dim1 d1, fact0 f \
         WHERE d0.d0key = f.d0key AND d1.d1key = f.d1key AND d0.dyr BETWEEN 2010 AND 2015 \
         AND d1.dattyp BETWEEN 'type 10' AND 'type 14' \
         GROUP BY d0.dmth, d1.dattyp ORDER BY d0.dmth, d1.dattyp",
        &[(0, false), (1, false)],
    ),
    (
        "three_dims",
        "SELECT d0.dmth, d1.dattyp, d2.dattyp, COUNT(f.fval) FROM dim0 d0, dim1 d1, dim2 d2, \
         fact0 f WHERE d0.d0key = f.d0key AND d1.d1key = f.d1key AND d2.d2key = f.d2key \
         AND d0.dyr BETWEEN 2010 AND 2015 AND d1.dattyp BETWEEN 'type 10' AND 'type 14' \
         AND d2.dattyp BETWEEN 'type 20' AND 'type 24' \
         GROUP BY d0.dmth, d1.dattyp, d2.dattyp ORDER BY d0.dmth, d1.dattyp, d2.dattyp",
        &[(0, false), (1, false), (2, false)],
    ),
    (
        "all_facts",
        "SELECT d0.dyr, COUNT(f.fval), SUM(f.fval) FROM dim0 d0, fact0 f \
         WHERE d0.d0key = f.d0key GROUP BY d0.dyr ORDER BY d0.dyr",
        &[(0, false)],
    ),
];

const KINDS: [&str; 6] = {
    let mut kinds = [record::UNANSWERED; 6];
    let mut at = 0;
    while at < QUERIES.len() {
        kinds[at] = QUERIES[at].0;
        at += 1;
    }
    kinds
};

/// Facts where the user names no number.
const FACTS: u64 = 1_000_000;

/// The queries.
struct Queries;

impl QuerySet for Queries {
    const KINDS: &'static [&'static str] = &KINDS;
    const NAME: &'static str = "benchw";
    const ABOUT: &'static str = "queries on a star of facts and three dimensions";
    const ROWS: u64 = FACTS;

    fn tables(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        Ok(star::data(parameters, dialect))
    }

    fn round(&self, setting: &Setting, session: &mut Session) -> Result<Round> {
        let (rows, seed) = (setting.parameters.rows, setting.parameters.seed);
        session.expect(&[("SELECT COUNT(*) FROM fact0", rows as i64)])?;
        let query =
            |&(name, text, order): &(_, &str, _)| SetQuery { name, text: text.to_owned(), order };
        let queries = QUERIES.iter().map(query).collect();
        let expected = star::answers(rows, seed);
        let check_answer = move |number: usize, lines: &agreement::Lines| {
            let found = agreement::difference(lines, expected.get(number)?, 0.0)?;
            Some(format!("{found} of the generator"))
        };
        let set = format!("benchw {rows} {seed}");
        Round::new(setting, set, queries, Box::new(check_answer))
    }
}

/// What comes before the queries: a transaction is the whole of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    /// All facts into a table without keys.
    Load,
    /// The keys of the facts, one after the other.
    Index,
}

impl Workload for Program {
    fn name(&self) -> &'static str {
        match self {
            Program::Load => "benchw_load",
            Program::Index => "benchw_index",
        }
    }

    fn about(&self) -> &'static str {
        match self {
            Program::Load => "load the facts of the star, without keys",
            Program::Index => "CREATE INDEX, three keys of the facts",
        }
    }

    fn family(&self) -> &'static str {
        FAMILY
    }

    fn defaults(&self) -> Parameters {
        Parameters { rows: FACTS, prepared: false, ..Parameters::default() }
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[("runs", "how often it is done [default: 1, keys: once each]")]
    }

    fn kinds(&self) -> &'static [&'static str] {
        match self {
            Program::Load => &["program"],
            Program::Index => &["statement"],
        }
    }

    fn figure(&self) -> Figure {
        Figure::Time
    }

    fn length(&self, parameters: &Parameters) -> Option<u64> {
        let runs = parameters.options.get("runs").and_then(|text| text.parse().ok()).unwrap_or(1);
        Some(match self {
            Program::Load => runs,
            Program::Index => runs * star::KEYS.len() as u64,
        })
    }

    fn draws(&self) -> bool {
        false
    }

    fn alone(&self) -> bool {
        true
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        Ok(star::data(parameters, dialect))
    }

    fn keeps_data(&self) -> bool {
        // The facts stand without keys after it, and with none if it is stopped.
        *self == Program::Index
    }

    fn stage(&self, setting: &Setting, _session: &mut Session) -> Result<Arc<dyn Stage>> {
        if setting.clients > 1 {
            let message = format!("{} is one client's work: choose --clients 1", self.name());
            return Err(Failure::new(Class::Usage, message));
        }
        let Parameters { rows, seed, .. } = setting.parameters;
        Ok(Arc::new(Shared { program: *self, rows, seed }))
    }
}

struct Shared {
    program: Program,
    rows: u64,
    seed: u64,
}

impl Stage for Shared {
    fn script(&self, _client: usize) -> Box<dyn Script> {
        let (program, rows, seed) = (self.program, self.rows, self.seed);
        Box::new(Client { program, rows, seed, done: 0 })
    }

    fn check(&self, session: &mut Session, _tally: &Tally) -> Result<()> {
        let sums = star::sums(self.rows, self.seed);
        session.expect(&[
            ("SELECT COUNT(*) FROM fact0", self.rows as i64),
            ("SELECT SUM(d0key) FROM fact0", sums[0]),
            ("SELECT SUM(d1key) FROM fact0", sums[1]),
            ("SELECT SUM(d2key) FROM fact0", sums[2]),
        ])
    }
}

struct Client {
    program: Program,
    rows: u64,
    seed: u64,
    done: usize,
}

/// Text of one statement of the load.
const BATCH: usize = 256 << 10;
/// Facts of one transaction.
const CHUNK: u64 = 20_000;

impl Client {
    fn load(&self, session: &mut Session) -> Result<()> {
        let dialect = session.dialect();
        let (connection, answer) = session.raw()?;
        let mut rows = Rows::new(dialect, connection.bulk_format());
        for first in (0..self.rows).step_by(CHUNK as usize) {
            connection.begin(answer)?;
            let end = self.rows.min(first + CHUNK);
            for row in first..end {
                star::fact(row, &mut Rng::stream(self.seed, row), &mut rows);
                if rows.text().len() >= BATCH || row + 1 == end {
                    connection.bulk("fact0", star::FACT_COLUMNS, rows.text(), answer)?;
                    rows.clear();
                }
            }
            connection.commit(answer)?;
        }
        Ok(())
    }

    fn key(&self) -> (&'static str, &'static str) {
        star::KEYS[self.done % star::KEYS.len()]
    }
}

impl Script for Client {
    fn start(&mut self, _session: &mut Session) -> Result<()> {
        Ok(())
    }

    fn prepares(&self) -> bool {
        true
    }

    fn before(&mut self, session: &mut Session) -> Result<()> {
        if self.program == Program::Load {
            for statement in star::anew(session.dialect()) {
                session.query(&statement)?;
            }
            return Ok(());
        }
        let (name, _) = self.key();
        let table = if session.dialect() == Dialect::MySql { " ON fact0" } else { "" };
        session.query(&format!("DROP INDEX {name}{table}")).map(drop)
    }

    fn transaction(&mut self, session: &mut Session, _rng: &mut Rng) -> Result<usize> {
        match self.program {
            Program::Load => self.load(session)?,
            Program::Index => {
                let (name, columns) = self.key();
                session.query(&star::index(name, columns))?;
            }
        }
        self.done += 1;
        Ok(0)
    }
}

#[cfg(test)]
mod tests;
