//! OSDB's multi-user mixes: information retrieval (a row by its key) and OLTP (a row changed by
//! its key), alone or while the last client asks the queries of a cross section.

use super::relations;
use crate::random::{Picker, Rng};
use crate::session::{Session, Statement};
use crate::target::{Dialect, Failure, Result};
use crate::workload::query_set::FAMILY;
use crate::workload::{DataSet, Parameters, Script, Setting, Stage, Tally, Workload};
use std::sync::Arc;

/// What a transaction is.
const KINDS: [&str; 3] = ["lookup", "update", "query"];
const LOOKUP: usize = 0;
const UPDATE: usize = 1;
const QUERY: usize = 2;

/// One mix.
pub(super) struct Mix {
    name: &'static str,
    about: &'static str,
    /// Rows are changed and not only looked up.
    updates: bool,
    /// The last of several clients asks queries.
    queries: bool,
}

impl Mix {
    /// Information retrieval.
    pub(super) const LOOKUPS: Mix = Mix {
        name: "osdb_ir",
        about: "OSDB's information retrieval: rows by their key",
        updates: false,
        queries: false,
    };
    /// OLTP.
    pub(super) const UPDATES: Mix = Mix {
        name: "osdb_oltp",
        about: "OSDB's OLTP: rows changed by their key",
        updates: true,
        queries: false,
    };
    /// Information retrieval beside queries.
    pub(super) const MIXED_LOOKUPS: Mix = Mix {
        name: "osdb_mixed_ir",
        about: "the same retrieval beside a client that asks a cross section of queries",
        updates: false,
        queries: true,
    };
    /// OLTP beside queries.
    pub(super) const MIXED_UPDATES: Mix = Mix {
        name: "osdb_mixed_oltp",
        about: "the same changes beside a client that asks a cross section of queries",
        updates: true,
        queries: true,
    };
}

impl Workload for Mix {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn family(&self) -> &'static str {
        FAMILY
    }

    fn kinds(&self) -> &'static [&'static str] {
        &KINDS
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        super::data(parameters, dialect)
    }

    /// The queries' answers change with the rows.
    fn keeps_data(&self) -> bool {
        !self.updates
    }

    fn stage(&self, setting: &Setting, session: &mut Session) -> Result<Arc<dyn Stage>> {
        let rows = setting.parameters.rows;
        session.expect(&relations::counts(rows))?;
        let querying = usize::from(self.queries && setting.clients > 1);
        Ok(Arc::new(Shared {
            picker: setting.parameters.distribution.picker(rows),
            rows,
            updates: self.updates,
            points: setting.clients - querying,
            sum: session.integer(SUM)?,
        }))
    }
}

/// What every change raises by one.
const SUM: &str = "SELECT SUM(col_signed) FROM updates";

struct Shared {
    picker: Picker,
    rows: u64,
    updates: bool,
    /// Clients with a lower number look up or change, the others ask.
    points: usize,
    /// The sum before the run.
    sum: i64,
}

impl Stage for Shared {
    fn script(&self, client: usize) -> Box<dyn Script> {
        Box::new(Client {
            picker: self.picker.clone(),
            rows: self.rows,
            work: match client < self.points {
                true if self.updates => UPDATE,
                true => LOOKUP,
                false => QUERY,
            },
            statements: Vec::new(),
            next: 0,
            changed: 0,
        })
    }

    fn check(&self, session: &mut Session, tally: &Tally) -> Result<()> {
        let changed = tally.get("changed").copied().unwrap_or(0);
        session.expect(&[(SUM, self.sum + changed)])?;
        session.expect(&relations::counts(self.rows))
    }
}

/// Queries of the cross section.
const SECTION: [&str; 5] =
    ["sel_100_cl", "sel_1_ncl", "join_2_ncl", "agg_simple_report", "agg_subtotal_report"];

struct Client {
    picker: Picker,
    rows: u64,
    /// The kind of its transactions.
    work: usize,
    statements: Vec<Statement>,
    next: usize,
    changed: i64,
}

impl Client {
    fn ask(&mut self, session: &mut Session) -> Result<usize> {
        let number = self.next % SECTION.len();
        self.next += 1;
        let found = session.run(self.statements[number], &[])?.rows() as u64;
        match relations::expected_rows(SECTION[number], self.rows) {
            Some(wanted) if wanted != found => {
                Err(Failure::wrong(format!("{}: {found} rows, not {wanted}", SECTION[number])))
            }
            _ => Ok(QUERY),
        }
    }
}

impl Script for Client {
    fn start(&mut self, session: &mut Session) -> Result<()> {
        self.statements.clear();
        let texts: Vec<String> = match self.work {
            LOOKUP => vec![
                "SELECT col_key, col_code, col_date, col_signed, col_name FROM updates \
                 WHERE col_key = ?"
                    .to_owned(),
            ],
            UPDATE => {
                let raise = "UPDATE updates SET col_signed = col_signed + 1 WHERE col_key = ?";
                vec![raise.to_owned()]
            }
            _ => {
                let query = |name: &&str| super::QUERIES.iter().find(|(query, _)| query == name);
                let found = SECTION.iter().filter_map(query);
                found.map(|(_, query)| super::text(query, self.rows)).collect()
            }
        };
        for text in texts {
            self.statements.push(session.statement(&text)?);
        }
        Ok(())
    }

    fn transaction(&mut self, session: &mut Session, rng: &mut Rng) -> Result<usize> {
        if self.work == QUERY {
            return self.ask(session);
        }
        let key = self.picker.pick(rng);
        let answer = session.run(self.statements[0], &[key.into()])?;
        if self.work == LOOKUP {
            if answer.rows() != 1 || answer.int(0, 0) != Some(key) {
                return Err(Failure::wrong(format!("row {key} is not found, or another")));
            }
            return Ok(LOOKUP);
        }
        if answer.affected() != 1 {
            let changed = answer.affected();
            return Err(Failure::wrong(format!("{changed} rows changed by key {key}, not 1")));
        }
        self.changed += 1;
        Ok(UPDATE)
    }

    fn tally(&self, tally: &mut Tally) {
        *tally.entry("changed").or_default() += self.changed;
    }
}
