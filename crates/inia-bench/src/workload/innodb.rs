//! The tests of InnoDB's page: mass inserts, joins, the Perl programs, TPC-A-like transactions,
//! and updates and deletes of whole tables.
//!
//! Most are one statement or one program, whose time is the figure. What must be in place before
//! is put there by [`Script::before`], outside the measurement.

use super::{DataSet, Figure, Parameters, Rows, Script, Setting, Stage, Table, Tally, Workload};
use crate::random::Rng;
use crate::session::{Session, Statement};
use crate::target::{Class, Dialect, Failure, Result};
use std::fmt::Write;
use std::sync::Arc;

pub(super) const WORKLOADS: &[&dyn Workload] = &[
    &test("innodb_mass_insert", "insert all rows, 1,000 a statement, one transaction", Job::Mass),
    &test("innodb_insert_copy", "INSERT INTO T2 SELECT * FROM T1", Job::Copy),
    &test("innodb_join_sum", "SELECT SUM(T1.B) FROM T1, T2 WHERE T1.A = T2.B", Job::JoinSum),
    &test("innodb_perl_insert", "a program of single inserts, one transaction", Job::Inserts),
    &test("innodb_perl_primary", "a program of selects by primary key", Job::ByPrimary),
    &test("innodb_perl_secondary", "a program of selects by secondary key", Job::BySecondary),
    &test("innodb_concurrent", "inserts and selects of all clients on one table", Job::Concurrent),
    &test("innodb_star_count", "SELECT COUNT(*) FROM T, S WHERE C = SA", Job::StarCount),
    &test("innodb_star_data", "the star join with data of S, no row fits", Job::StarData),
    &test("innodb_tpca_commits", "TPC-A-like transactions, each committed", Job::Commits),
    &test("innodb_tpca_no_commits", "TPC-A-like operations, one commit", Job::NoCommits),
    &test("innodb_update_all", "UPDATE S SET SB = ... (all rows)", Job::UpdateAll),
    &test("innodb_delete_all", "DELETE FROM S, and how long purge then takes", Job::DeleteAll),
];

/// Values of `C`: a tenth of the report's 100,000 rows.
const SPREAD: u64 = 10_000;
/// Rows of each statement of the mass insert.
const BATCH: u64 = 1_000;
/// The TPC-A-like updates with commits stay on this many rows, those without on half of all.
const BUFFERED: u64 = 1_000;

const fn test(name: &'static str, about: &'static str, job: Job) -> Test {
    Test { name, about, job }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Job {
    Mass,
    Copy,
    JoinSum,
    Inserts,
    ByPrimary,
    BySecondary,
    Concurrent,
    StarCount,
    StarData,
    Commits,
    NoCommits,
    UpdateAll,
    DeleteAll,
}

struct Test {
    name: &'static str,
    about: &'static str,
    job: Job,
}

impl Workload for Test {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn family(&self) -> &'static str {
        "InnoDB's page"
    }

    /// `rows` is the report's 100,000.
    fn defaults(&self) -> Parameters {
        Parameters { rows: 100_000, prepared: false, ..Parameters::default() }
    }

    fn kinds(&self) -> &'static [&'static str] {
        match self.job {
            Job::DeleteAll => &["delete", "purge"],
            Job::Concurrent | Job::Commits => &["transaction"],
            Job::Inserts | Job::ByPrimary | Job::BySecondary | Job::NoCommits => &["program"],
            _ => &["statement"],
        }
    }

    fn figure(&self) -> Figure {
        match self.job {
            Job::Concurrent | Job::Commits => Figure::Rate,
            _ => Figure::Time,
        }
    }

    /// Statements five times, programs once, unless `runs` says otherwise.
    fn length(&self, parameters: &Parameters) -> Option<u64> {
        if self.figure() == Figure::Rate {
            return None;
        }
        let given = parameters.options.get("runs").and_then(|text| text.parse().ok());
        let program = self.kinds() == ["program"];
        Some(given.unwrap_or(if program { 1 } else { 6 }))
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[("runs", "how often the statement or program runs")]
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        let (rows, seed) = (parameters.rows, parameters.seed);
        let (name, tables) = match self.job {
            Job::Mass | Job::Copy | Job::JoinSum => {
                ("innodb_copy", vec![pairs("T1", rows, dialect), pairs("T2", rows, dialect)])
            }
            Job::Inserts | Job::Concurrent | Job::ByPrimary | Job::BySecondary => {
                ("innodb_speed", vec![speed(rows, dialect)])
            }
            _ => {
                let (t, s) = (["T", "A", "B", "C"], ["S", "SA", "SB", "SC"]);
                ("innodb_star", vec![triples(t, rows, dialect), triples(s, rows, dialect)])
            }
        };
        Ok(DataSet::new(name, seed, tables))
    }

    fn keeps_data(&self) -> bool {
        !matches!(self.job, Job::Concurrent | Job::Commits | Job::NoCommits | Job::UpdateAll)
    }

    fn stage(&self, setting: &Setting, session: &mut Session) -> Result<Arc<dyn Stage>> {
        let many = setting.clients > 1 && self.figure() == Figure::Time;
        if many && !matches!(self.job, Job::JoinSum | Job::StarCount | Job::StarData) {
            let message = format!("{} is one client's work: choose --clients 1", self.name);
            return Err(Failure::new(Class::Usage, message));
        }
        if self.job == Job::Concurrent {
            empty(session, "speed1")?;
        }
        let rows = setting.parameters.rows;
        let joined = (0..rows)
            .map(|row| color(&mut Rng::stream(setting.parameters.seed, row)))
            .filter(|&c| c >= 1 && c <= rows as i64)
            .count();
        let joined = joined as i64;
        Ok(Arc::new(Shared { job: self.job, rows, joined, clients: setting.clients.max(1) as u64 }))
    }
}

/// `T1` and `T2`: two integers, the first is the key.
fn pairs(name: &str, rows: u64, dialect: Dialect) -> Table {
    let options = dialect.table_options();
    let fill = |row: u64, _: &mut Rng, out: &mut Rows| {
        out.put(row as i64).put(row as i64).end();
    };
    Table {
        name: name.to_owned(),
        create: format!("CREATE TABLE {name} (A INT NOT NULL, B INT, PRIMARY KEY(A)){options}"),
        columns: "A, B",
        rows,
        fill: Arc::new(fill),
        indexes: Vec::new(),
    }
}

/// The Perl programs' `speed1`.
fn speed(rows: u64, dialect: Dialect) -> Table {
    let (index, indexes) = match dialect {
        Dialect::MySql => (", index (b)", Vec::new()),
        _ => ("", vec!["create index speed1_b on speed1 (b)".to_owned()]),
    };
    let fill = |row: u64, _: &mut Rng, out: &mut Rows| {
        out.put(row as i64).put(row as i64).put(row as i64).end();
    };
    let options = dialect.table_options();
    Table {
        name: "speed1".to_owned(),
        create: format!(
            "create table speed1 (a int not null, b int, c int, primary key (a){index}){options}"
        ),
        columns: "a, b, c",
        rows,
        fill: Arc::new(fill),
        indexes,
    }
}

fn color(rng: &mut Rng) -> i64 {
    rng.below(SPREAD) as i64
}

/// `T` and `S`: a key from 1, ten characters, and an indexed random number.
fn triples([name, a, b, c]: [&'static str; 4], rows: u64, dialect: Dialect) -> Table {
    let fill = |row: u64, rng: &mut Rng, out: &mut Rows| {
        out.put(row as i64 + 1).put("1234567890").put(color(rng)).end();
    };
    Table {
        name: name.to_owned(),
        create: format!(
            "CREATE TABLE {name} ({a} INT NOT NULL, {b} CHAR(10), {c} INT, PRIMARY KEY ({a})){}",
            dialect.table_options()
        ),
        columns: if name == "T" { "A, B, C" } else { "SA, SB, SC" },
        rows,
        fill: Arc::new(fill),
        indexes: vec![format!("CREATE INDEX {name}_IND2 ON {name} ({c})")],
    }
}

struct Shared {
    job: Job,
    rows: u64,
    /// Rows of the star join.
    joined: i64,
    clients: u64,
}

impl Stage for Shared {
    fn script(&self, client: usize) -> Box<dyn Script> {
        Box::new(Client {
            job: self.job,
            rows: self.rows as i64,
            joined: self.joined,
            first: client as i64,
            clients: self.clients as i64,
            statements: Vec::new(),
            text: String::new(),
            done: 0,
            added: 0,
            emptied: false,
        })
    }

    fn check(&self, session: &mut Session, tally: &Tally) -> Result<()> {
        let rows = self.rows as i64;
        let sum = |name| tally.get(name).copied().unwrap_or(0);
        let (query, expected) = match self.job {
            Job::Mass => ("SELECT COUNT(*) FROM T1", rows),
            Job::Copy | Job::JoinSum => ("SELECT COUNT(*) FROM T2", rows),
            Job::Concurrent => ("SELECT COUNT(*) FROM speed1", sum("added")),
            Job::Inserts | Job::ByPrimary | Job::BySecondary => {
                ("SELECT COUNT(*) FROM speed1", rows)
            }
            Job::Commits | Job::NoCommits => ("SELECT COUNT(*) FROM T", rows + sum("added")),
            Job::DeleteAll if sum("runs") > 0 => ("SELECT COUNT(*) FROM S", 0),
            _ => ("SELECT COUNT(*) FROM S", rows),
        };
        let found = session.integer(query)?;
        if found != expected {
            return Err(Failure::wrong(format!("{query}: {found}, not {expected}")));
        }
        if self.job == Job::DeleteAll {
            session.query("INSERT INTO S SELECT * FROM T")?;
        }
        Ok(())
    }
}

struct Client {
    job: Job,
    rows: i64,
    joined: i64,
    /// Its number, and how many clients there are: they share out the keys they add.
    first: i64,
    clients: i64,
    statements: Vec<Statement>,
    text: String,
    done: i64,
    /// Rows it added.
    added: i64,
    /// All was deleted, and the deletes may not be purged yet.
    emptied: bool,
}

fn expect(what: &str, found: i64, expected: i64) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Failure::wrong(format!("{what}: {found}, not {expected}")))
}

fn empty(session: &mut Session, table: &str) -> Result<()> {
    let verb = if session.dialect() == Dialect::Sqlite { "DELETE FROM" } else { "TRUNCATE TABLE" };
    session.query(&format!("{verb} {table}")).map(drop)
}

impl Client {
    fn mass(&mut self, session: &mut Session) -> Result<()> {
        session.begin()?;
        let mut next = 0;
        while next < self.rows {
            let end = (next + BATCH as i64).min(self.rows);
            self.text.clear();
            self.text.push_str("INSERT INTO T1 VALUES ");
            for row in next..end {
                let comma = if row == next { "" } else { "," };
                let _ = write!(self.text, "{comma}({row},{row})");
            }
            let added = session.query(&self.text)?.affected() as i64;
            expect("rows of a batch", added, end - next)?;
            next = end;
        }
        session.commit()
    }

    fn inserts(&mut self, session: &mut Session) -> Result<()> {
        session.begin()?;
        for j in 0..self.rows {
            let params = [j.into(), j.into(), j.into()];
            expect("insert", session.run(self.statements[0], &params)?.affected() as i64, 1)?;
        }
        session.commit()
    }

    fn selects(&mut self, session: &mut Session) -> Result<()> {
        session.begin()?;
        for j in 0..self.rows {
            let answer = session.run(self.statements[0], &[j.into()])?;
            if answer.rows() != 1 || answer.int(0, 2) != Some(j) {
                return Err(Failure::wrong(format!("row {j} is not found once, or is not itself")));
            }
        }
        session.commit()
    }

    /// Inserts a row, and reads the row that this client inserted two turns ago.
    fn concurrent(&mut self, session: &mut Session) -> Result<()> {
        let j = (self.added * self.clients + self.first) * 50;
        session.run(self.statements[0], &[j.into(), j.into(), j.into()])?;
        self.added += 1;
        let back = j - 100 * self.clients;
        let found = session.run(self.statements[1], &[back.into()])?.rows() as i64;
        expect("select of an earlier insert", found, i64::from(self.added > 2))
    }

    fn star(&mut self, session: &mut Session) -> Result<()> {
        if self.job == Job::StarCount {
            let found = session.integer("SELECT COUNT(*) FROM T, S WHERE C = SA")?;
            return expect("rows of the join", found, self.joined);
        }
        let query = "SELECT * FROM T, S WHERE C = SA AND SB = 'a234567890'";
        expect("rows of the join", session.query(query)?.rows() as i64, 0)
    }

    /// Three updates and an insert.
    fn bank(&mut self, session: &mut Session, rng: &mut Rng, span: i64, ahead: i64) -> Result<()> {
        let id = self.rows + 1 + (self.added + ahead) * self.clients + self.first;
        for _ in 0..3 {
            let row = rng.between(1, span.max(1));
            let found = session.run(self.statements[0], &[row.into()])?.affected() as i64;
            expect("update", found, 1)?;
        }
        expect("insert", session.run(self.statements[1], &[id.into()])?.affected() as i64, 1)
    }

    fn commits(&mut self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        session.begin()?;
        self.bank(session, rng, self.rows.min(BUFFERED as i64), 0)?;
        session.commit()?;
        self.added += 1;
        Ok(())
    }

    /// A tenth as many operations as there are rows.
    fn no_commits(&mut self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let operations = (self.rows / 10).max(1);
        session.begin()?;
        for n in 0..operations {
            self.bank(session, rng, self.rows / 2, n)?;
        }
        session.commit()?;
        self.added += operations;
        Ok(())
    }

    fn update_all(&mut self, session: &mut Session) -> Result<()> {
        let letter = if self.done % 2 == 0 { 'a' } else { 'b' };
        let text = format!("UPDATE S SET SB = '{letter}234567890'");
        expect("rows updated", session.query(&text)?.affected() as i64, self.rows)
    }

    fn delete_all(&mut self, session: &mut Session) -> Result<usize> {
        if self.emptied {
            self.emptied = false;
            return purged(session).map(|()| 1);
        }
        let gone = session.query("DELETE FROM S")?.affected() as i64;
        expect("rows deleted", gone, self.rows)?;
        self.emptied = true;
        Ok(0)
    }
}

/// Waits until the server has removed what was deleted.
fn purged(session: &mut Session) -> Result<()> {
    match session.dialect() {
        Dialect::Sqlite => return Ok(()),
        Dialect::Postgres => return session.query("VACUUM S").map(drop),
        Dialect::MySql => {}
    }
    // Other sessions' views hold some history back, and some servers never purge the last of it.
    const LEFT: u64 = 200;
    for _ in 0..60_000 {
        let status = session.query("SHOW ENGINE INNODB STATUS")?.text(0, 2).unwrap_or_default();
        let length = status
            .split_once("History list length ")
            .and_then(|(_, rest)| rest.split_whitespace().next())
            .and_then(|digits| digits.parse::<u64>().ok());
        match length {
            Some(length) if length > LEFT => {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            _ => return Ok(()),
        }
    }
    Err(Failure::wrong("deleted rows are not purged within a minute"))
}

impl Script for Client {
    fn start(&mut self, session: &mut Session) -> Result<()> {
        let texts: &[&str] = match self.job {
            Job::Inserts => &["insert into speed1 values (?, ?, ?)"],
            Job::ByPrimary => &["select * from speed1 where a = ?"],
            Job::BySecondary => &["select * from speed1 where b = ?"],
            Job::Concurrent => {
                &["insert into speed1 values (?, ?, ?)", "select * from speed1 where a = ?"]
            }
            Job::Commits | Job::NoCommits => &[
                "UPDATE T SET B = 'a234567890' WHERE A = ?",
                "INSERT INTO T VALUES (?, '1234567890', 5)",
            ],
            _ => &[],
        };
        for text in texts {
            self.statements.push(session.statement(text)?);
        }
        Ok(())
    }

    fn before(&mut self, session: &mut Session) -> Result<()> {
        match self.job {
            Job::Mass => empty(session, "T1"),
            Job::Copy => empty(session, "T2"),
            Job::Inserts => empty(session, "speed1"),
            Job::DeleteAll if !self.emptied && self.done > 0 => {
                session.query("INSERT INTO S SELECT * FROM T").map(drop)
            }
            _ => Ok(()),
        }
    }

    fn transaction(&mut self, session: &mut Session, rng: &mut Rng) -> Result<usize> {
        let mut kind = 0;
        match self.job {
            Job::Mass => self.mass(session)?,
            Job::Copy => {
                let added = session.query("INSERT INTO T2 SELECT * FROM T1")?.affected() as i64;
                expect("rows copied", added, self.rows)?;
            }
            Job::JoinSum => {
                let query = "SELECT SUM(T1.B) FROM T1, T2 WHERE T1.A = T2.B";
                expect("sum", session.integer(query)?, self.rows * (self.rows - 1) / 2)?;
            }
            Job::Inserts => self.inserts(session)?,
            Job::ByPrimary | Job::BySecondary => self.selects(session)?,
            Job::Concurrent => self.concurrent(session)?,
            Job::StarCount | Job::StarData => self.star(session)?,
            Job::Commits => self.commits(session, rng)?,
            Job::NoCommits => self.no_commits(session, rng)?,
            Job::UpdateAll => self.update_all(session)?,
            Job::DeleteAll => kind = self.delete_all(session)?,
        }
        self.done += 1;
        Ok(kind)
    }

    fn tally(&self, tally: &mut Tally) {
        *tally.entry("runs").or_default() += self.done;
        *tally.entry("added").or_default() += self.added;
    }
}
