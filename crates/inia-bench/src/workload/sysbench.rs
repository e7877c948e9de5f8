//! sysbench's OLTP scripts: its table, its statements, its counts.
//!
//! The tables are sysbench's own, byte for byte the same kind of rows, so that stock sysbench can
//! run on what was loaded here and the other way round.

use super::{DataSet, Parameters, Rows, Script, Setting, Stage, Table, Tally, Workload};
use crate::random::{Distribution, Picker, Rng};
use crate::session::{Session, Statement};
use crate::target::{Dialect, Failure, Result};
use std::sync::Arc;

pub(super) const WORKLOADS: &[&dyn Workload] = &[&POINT_SELECT, &READ_ONLY];

const C: &str = "###########-###########-###########-###########-###########-###########-\
                 ###########-###########-###########-###########";
const PAD: &str = "###########-###########-###########-###########-###########";
/// Rows of each range.
const RANGE: i64 = 100;
/// Point selects of each transaction.
const POINTS: usize = 10;

static POINT_SELECT: Oltp = Oltp {
    name: "oltp_point_select",
    about: "sysbench: one row by primary key",
    points: 1,
    ranges: false,
};

static READ_ONLY: Oltp = Oltp {
    name: "oltp_read_only",
    about: "sysbench: 10 rows by key and 4 ranges of 100 in a transaction",
    points: POINTS,
    ranges: true,
};

/// One of the scripts.
struct Oltp {
    name: &'static str,
    about: &'static str,
    points: usize,
    /// The four range queries, in a transaction.
    ranges: bool,
}

impl Workload for Oltp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn family(&self) -> &'static str {
        "sysbench OLTP"
    }

    fn defaults(&self) -> Parameters {
        Parameters { rows: 1_000_000, distribution: Distribution::SPECIAL, ..Parameters::default() }
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        let tables = (1..=parameters.scale).map(|n| table(n, parameters.rows, dialect)).collect();
        Ok(DataSet { name: "sbtest", tables, finish: Vec::new(), seed: parameters.seed })
    }

    fn stage(&self, setting: &Setting, _session: &mut Session) -> Result<Arc<dyn Stage>> {
        Ok(Arc::new(Shared {
            tables: setting.parameters.scale,
            picker: setting.parameters.distribution.picker(setting.parameters.rows),
            points: self.points,
            ranges: self.ranges,
        }))
    }
}

fn table(n: u64, rows: u64, dialect: Dialect) -> Table {
    let id = match dialect {
        Dialect::MySql => "id INTEGER NOT NULL AUTO_INCREMENT",
        Dialect::Postgres => "id SERIAL",
        Dialect::Sqlite => "id INTEGER",
    };
    let create = format!(
        "CREATE TABLE sbtest{n} ({id}, k INTEGER DEFAULT 0 NOT NULL, \
         c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)){}",
        dialect.table_options()
    );
    let fill = move |row: u64, rng: &mut Rng, out: &mut Rows| {
        let (mut c, mut pad) = (String::with_capacity(120), String::with_capacity(60));
        rng.fill(C, &mut c);
        rng.fill(PAD, &mut pad);
        let k = Distribution::SPECIAL.picker(rows).pick(rng);
        out.put(row as i64 + 1).put(k).put(&c).put(&pad).end();
    };
    Table {
        name: format!("sbtest{n}"),
        create,
        columns: "id, k, c, pad",
        rows,
        fill: Arc::new(fill),
        indexes: vec![format!("CREATE INDEX k_{n} ON sbtest{n}(k)")],
    }
}

struct Shared {
    tables: u64,
    picker: Picker,
    points: usize,
    ranges: bool,
}

impl Stage for Shared {
    fn script(&self, _client: usize) -> Box<dyn Script> {
        Box::new(Client {
            picker: self.picker.clone(),
            tables: self.tables,
            points: self.points,
            ranges: self.ranges,
            statements: Vec::new(),
        })
    }

    fn check(&self, session: &mut Session, _tally: &Tally) -> Result<()> {
        for n in 1..=self.tables {
            let rows = session.integer(&format!("SELECT COUNT(*) FROM sbtest{n}"))?;
            if rows as u64 != self.picker.rows() {
                let message = format!("sbtest{n} has {rows} rows, not {}", self.picker.rows());
                return Err(Failure::wrong(message));
            }
        }
        Ok(())
    }
}

/// The statements on one table.
struct OneTable {
    point: Statement,
    /// Plain, sum, ordered, distinct.
    ranges: Option<[Statement; 4]>,
}

struct Client {
    picker: Picker,
    tables: u64,
    points: usize,
    ranges: bool,
    statements: Vec<OneTable>,
}

impl Client {
    fn table(&self, rng: &mut Rng) -> &OneTable {
        &self.statements[rng.below(self.tables) as usize]
    }

    fn points(&self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let table = self.table(rng);
        for _ in 0..self.points {
            let id = self.picker.pick(rng);
            if session.run(table.point, &[id.into()])?.rows() != 1 {
                return Err(Failure::wrong(format!("row {id} is not found exactly once")));
            }
        }
        Ok(())
    }

    /// The range queries: each must find as many rows as the range has ids.
    fn ranges(&self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        for query in 0..4 {
            let Some(ranges) = self.table(rng).ranges else { return Ok(()) };
            let from = self.picker.pick(rng);
            let answer = session.run(ranges[query], &[from.into(), (from + RANGE - 1).into()])?;
            let held = RANGE.min(self.picker.rows() as i64 - from + 1);
            let right = match query {
                1 => answer.rows() == 1 && !answer.is_null(0, 0),
                _ => answer.rows() as i64 == held,
            };
            if !right {
                let message = format!("range {query} from {from}: {} rows", answer.rows());
                return Err(Failure::wrong(message));
            }
        }
        Ok(())
    }
}

impl Script for Client {
    fn start(&mut self, session: &mut Session) -> Result<()> {
        for n in 1..=self.tables {
            let range = "WHERE id BETWEEN ? AND ?";
            let point = session.statement(&format!("SELECT c FROM sbtest{n} WHERE id=?"))?;
            let ranges = match self.ranges {
                false => None,
                true => Some([
                    session.statement(&format!("SELECT c FROM sbtest{n} {range}"))?,
                    session.statement(&format!("SELECT SUM(k) FROM sbtest{n} {range}"))?,
                    session.statement(&format!("SELECT c FROM sbtest{n} {range} ORDER BY c"))?,
                    session.statement(&format!(
                        "SELECT DISTINCT c FROM sbtest{n} {range} ORDER BY c"
                    ))?,
                ]),
            };
            self.statements.push(OneTable { point, ranges });
        }
        Ok(())
    }

    fn transaction(&mut self, session: &mut Session, rng: &mut Rng) -> Result<usize> {
        if self.ranges {
            session.begin()?;
            self.points(session, rng)?;
            self.ranges(session, rng)?;
            session.commit()?;
        } else {
            self.points(session, rng)?;
        }
        Ok(0)
    }
}
