//! Shapes of the MySQL Benchmark Suite (sql-bench), which the white paper names: connections,
//! tables that are made and dropped, and changes of a table's definition.
//!
//! Its inserts and selects by primary and by secondary key are InnoDB's Perl programs
//! (`innodb_perl_insert` and its siblings).

use super::{DataSet, Figure, Parameters, Script, Setting, Stage, Table, Tally, Workload};
use crate::random::Rng;
use crate::session::Session;
use crate::target::{Dialect, Failure, Result};
use std::sync::Arc;

pub(super) const WORKLOADS: &[&dyn Workload] = &[&Shape::Connect, &Shape::Create, &Shape::Alter];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Connect,
    Create,
    Alter,
}

/// Changes of a definition, which together leave it as it was.
const CHANGES: [&str; 4] = ["add column", "add key", "drop key", "drop column"];

impl Workload for Shape {
    fn name(&self) -> &'static str {
        match self {
            Shape::Connect => "sqlbench_connect",
            Shape::Create => "sqlbench_create",
            Shape::Alter => "sqlbench_alter",
        }
    }

    fn about(&self) -> &'static str {
        match self {
            Shape::Connect => "connect, SELECT of one value, disconnect",
            Shape::Create => "CREATE TABLE, one row in and read, DROP TABLE",
            Shape::Alter => "add and drop a column and a key of a table of --rows rows",
        }
    }

    fn family(&self) -> &'static str {
        "sql-bench"
    }

    fn defaults(&self) -> Parameters {
        Parameters { rows: 100_000, prepared: false, ..Parameters::default() }
    }

    fn kinds(&self) -> &'static [&'static str] {
        if *self == Shape::Alter { &CHANGES } else { &["transaction"] }
    }

    fn figure(&self) -> Figure {
        if *self == Shape::Alter { Figure::Time } else { Figure::Rate }
    }

    fn unit(&self) -> &'static str {
        match self {
            Shape::Connect => "connections",
            Shape::Create => "tables",
            Shape::Alter => "statements",
        }
    }

    fn length(&self, parameters: &Parameters) -> Option<u64> {
        let runs = parameters.options.get("runs").and_then(|text| text.parse().ok()).unwrap_or(1);
        (*self == Shape::Alter).then_some(runs * CHANGES.len() as u64)
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Shape::Alter => &[("runs", "how often all four changes are made [default: 1]")],
            _ => &[],
        }
    }

    fn draws(&self) -> bool {
        false
    }

    fn alone(&self) -> bool {
        *self == Shape::Alter
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        let mut table = Table::filled(
            "sqlbench",
            "id INTEGER NOT NULL, n INTEGER NOT NULL, name VARCHAR(40) NOT NULL, PRIMARY KEY (id)",
            "id, n, name",
            parameters.rows,
            |row, rng, out| {
                out.put(row as i64 + 1).put(rng.below(1_000) as i64);
                out.show(format_args!("name {row}")).end();
            },
        );
        table.create += dialect.table_options();
        Ok(DataSet::new("sqlbench", parameters.seed, vec![table]))
    }

    /// A round that is stopped may leave a changed definition, which is then made anew.
    fn stage(&self, setting: &Setting, _session: &mut Session) -> Result<Arc<dyn Stage>> {
        Ok(Arc::new(Shared { shape: *self, rows: setting.parameters.rows as i64 }))
    }
}

struct Shared {
    shape: Shape,
    rows: i64,
}

impl Stage for Shared {
    fn script(&self, client: usize) -> Box<dyn Script> {
        Box::new(Client { shape: self.shape, table: format!("sqlbench_{client}"), done: 0 })
    }

    fn check(&self, session: &mut Session, _tally: &Tally) -> Result<()> {
        session.expect(&[
            ("SELECT COUNT(*) FROM sqlbench", self.rows),
            ("SELECT SUM(id) FROM sqlbench", self.rows * (self.rows + 1) / 2),
        ])
    }
}

struct Client {
    shape: Shape,
    /// The table that this client makes and drops.
    table: String,
    done: usize,
}

impl Client {
    fn create(&self, session: &mut Session) -> Result<usize> {
        let (name, options) = (&self.table, session.dialect().table_options());
        session.query(&format!(
            "CREATE TABLE {name} (i INTEGER NOT NULL, d DOUBLE PRECISION, f DECIMAL(10,2), \
             s CHAR(10), v VARCHAR(100), PRIMARY KEY (i)){options}"
        ))?;
        session.query(&format!("INSERT INTO {name} VALUES (1, 1.5, 2.25, 'a', 'b')"))?;
        let found = session.integer(&format!("SELECT i FROM {name}"))?;
        session.query(&format!("DROP TABLE {name}"))?;
        if found == 1 { Ok(0) } else { Err(Failure::wrong(format!("row {found}, not 1"))) }
    }

    fn alter(&self, session: &mut Session) -> Result<usize> {
        let change = self.done % CHANGES.len();
        let of = if session.dialect() == Dialect::MySql { " ON sqlbench" } else { "" };
        let text = match change {
            0 => "ALTER TABLE sqlbench ADD COLUMN extra INTEGER".to_owned(),
            1 => "CREATE INDEX sqlbench_n ON sqlbench (n)".to_owned(),
            2 => format!("DROP INDEX sqlbench_n{of}"),
            _ => "ALTER TABLE sqlbench DROP COLUMN extra".to_owned(),
        };
        session.query(&text)?;
        Ok(change)
    }
}

impl Script for Client {
    fn start(&mut self, session: &mut Session) -> Result<()> {
        if self.shape == Shape::Create {
            session.query(&format!("DROP TABLE IF EXISTS {}", self.table))?;
        }
        session.connect()
    }

    fn transaction(&mut self, session: &mut Session, _rng: &mut Rng) -> Result<usize> {
        let kind = match self.shape {
            Shape::Connect => {
                session.disconnect();
                let found = session.integer("SELECT 7")?;
                if found != 7 {
                    return Err(Failure::wrong(format!("{found}, not 7")));
                }
                0
            }
            Shape::Create => self.create(session)?,
            Shape::Alter => self.alter(session)?,
        };
        self.done += 1;
        Ok(kind)
    }
}
