//! The tests of InnoDB's page: mass inserts, joins, the Perl programs, TPC-A-like transactions,
//! and updates and deletes of whole tables.
//!
//! Most are one statement or one program, whose time is the figure. What must be in place before
//! is put there by [`Script::before`], outside the measurement.

mod purge;
mod tables;

use super::written::{Notes, Written};
use super::{DataSet, Figure, Parameters, Script, Setting, Stage, Tally, Workload};
use crate::random::{Distribution, Picker, Rng};
use crate::session::{Session, Statement};
use crate::target::{Class, Dialect, Failure, Result};
use purge::Purge;
use std::fmt::Write;
use std::sync::Arc;
use tables::{Colors, FIRST, pairs, speed, triples};

pub(super) const WORKLOADS: &[&dyn Workload] = &[
    &test("innodb_mass_insert", "insert all rows, 1,000 a statement, one transaction", Job::Mass),
    &test("innodb_insert_copy", "INSERT INTO T2 SELECT * FROM T1", Job::Copy),
    &test("innodb_join_sum", "SELECT SUM(T1.B) FROM T1, T2 WHERE T1.A = T2.B", Job::JoinSum),
    &test("innodb_perl_insert", "a program of single inserts, one transaction", Job::Inserts),
    &test("innodb_perl_primary", "a program of selects by primary key", Job::ByPrimary),
    &test("innodb_perl_secondary", "a program of selects by secondary key", Job::BySecondary),
    &test("innodb_concurrent", "inserts and selects of all clients on one table", Job::Concurrent),
    &test("innodb_insert_index", "INSERT INTO S SELECT * FROM T, a second index", Job::CopyIndexed),
    &test("innodb_group", GROUP, Job::Group),
    &test("innodb_star_count", "SELECT COUNT(*) FROM T, S WHERE C = SA", Job::StarCount),
    &test("innodb_star_data", "the star join with data of S, no row fits", Job::StarData),
    &test("innodb_tpca_commits", "TPC-A-like transactions, each committed", Job::Commits),
    &test("innodb_tpca_no_commits", "TPC-A-like operations, one commit", Job::NoCommits),
    &test("innodb_update_all", "UPDATE S SET SB = ... (all rows)", Job::UpdateAll),
    &test("innodb_delete_all", "DELETE FROM S, and how long purge then takes", Job::DeleteAll),
];

const GROUP: &str = "SELECT C, COUNT(*) FROM T GROUP BY C ORDER BY 2 DESC LIMIT 5";
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
    CopyIndexed,
    Group,
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

    /// Statements six times (a delete and its purge three times each), programs once, unless
    /// `runs` says otherwise.
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

    fn alone(&self) -> bool {
        let reads = [Job::JoinSum, Job::StarCount, Job::StarData, Job::Group];
        self.figure() == Figure::Time && !reads.contains(&self.job)
    }

    fn draws(&self) -> bool {
        matches!(self.job, Job::Commits | Job::NoCommits)
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
        if setting.clients > 1 && self.alone() {
            let message = format!("{} is one client's work: choose --clients 1", self.name);
            return Err(Failure::new(Class::Usage, message));
        }
        if self.job == Job::Concurrent {
            empty(session, "speed1")?;
        }
        let rows = setting.parameters.rows;
        let colors = Colors::of(rows, setting.parameters.seed);
        if self.job == Job::StarData {
            // The report's query finds nothing. This one, on the same rows, must find them all.
            let query = format!("SELECT COUNT(*) FROM T, S WHERE C = SA AND SB = '{FIRST}'");
            session.expect(&[(&query, colors.joined)])?;
        }
        let purge = match self.job {
            Job::DeleteAll => Purge::of(setting.facts.product, session),
            _ => Purge::Untold,
        };
        Ok(Arc::new(Shared {
            job: self.job,
            rows,
            distribution: setting.parameters.distribution,
            colors: Arc::new(colors),
            clients: setting.clients.max(1) as u64,
            purge,
            written: Written::new(rows),
        }))
    }
}

struct Shared {
    job: Job,
    rows: u64,
    distribution: Distribution,
    colors: Arc<Colors>,
    clients: u64,
    purge: Purge,
    written: Arc<Written>,
}

impl Stage for Shared {
    fn script(&self, client: usize) -> Box<dyn Script> {
        Box::new(Client {
            job: self.job,
            rows: self.rows as i64,
            updated: self.distribution.picker(match self.job {
                Job::Commits => self.rows.min(BUFFERED),
                _ => self.rows / 2,
            }),
            notes: self.written.notes(),
            colors: self.colors.clone(),
            purge: self.purge,
            first: client as i64,
            clients: self.clients as i64,
            statements: Vec::new(),
            text: String::new(),
            done: 0,
            added: 0,
            keys: 0,
            emptied: None,
            mark: 0,
        })
    }

    fn check(&self, session: &mut Session, tally: &Tally) -> Result<()> {
        session.expect(&self.left(tally))?;
        self.written.check(session, |_, keys| format!("SELECT A, B FROM T WHERE A IN ({keys})"))?;
        if self.job == Job::DeleteAll {
            self.purge.end(session);
            if tally.get("runs").is_some_and(|&runs| runs > 0) {
                session.query("INSERT INTO S SELECT * FROM T")?;
            }
            session.expect(&self.loaded("S"))?;
        }
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        if self.job == Job::DeleteAll { Vec::from_iter(self.purge.note()) } else { Vec::new() }
    }
}

impl Shared {
    /// What a table holds that was just loaded: numbers of rows, and sums of every column.
    fn loaded(&self, table: &str) -> Vec<(&'static str, i64)> {
        let rows = self.rows as i64;
        let from_none = rows * (rows - 1) / 2;
        let from_one = rows * (rows + 1) / 2;
        match table {
            "T1" => vec![
                ("SELECT COUNT(*) FROM T1", rows),
                ("SELECT SUM(A) FROM T1", from_none),
                ("SELECT SUM(B) FROM T1", from_none),
            ],
            "T2" => vec![
                ("SELECT COUNT(*) FROM T2", rows),
                ("SELECT SUM(A) FROM T2", from_none),
                ("SELECT SUM(B) FROM T2", from_none),
            ],
            "speed1" => vec![
                ("SELECT COUNT(*) FROM speed1", rows),
                ("SELECT SUM(a) FROM speed1", from_none),
                ("SELECT SUM(b) FROM speed1", from_none),
                ("SELECT SUM(c) FROM speed1", from_none),
            ],
            _ => vec![
                ("SELECT COUNT(*) FROM S", rows),
                ("SELECT SUM(SA) FROM S", from_one),
                ("SELECT COUNT(*) FROM S WHERE SB = '1234567890'", rows),
                ("SELECT SUM(SC) FROM S", self.colors.sum),
                ("SELECT COUNT(*) FROM T, S WHERE A = SA AND C = SC", rows),
            ],
        }
    }

    /// What the tables must hold after the run.
    fn left(&self, tally: &Tally) -> Vec<(&'static str, i64)> {
        let rows = self.rows as i64;
        let sum = |name| tally.get(name).copied().unwrap_or(0);
        match self.job {
            Job::Mass => self.loaded("T1"),
            Job::Copy | Job::JoinSum => [self.loaded("T1"), self.loaded("T2")].concat(),
            Job::Inserts | Job::ByPrimary | Job::BySecondary => self.loaded("speed1"),
            Job::CopyIndexed | Job::Group | Job::StarCount | Job::StarData => self.loaded("S"),
            Job::Concurrent => vec![
                ("SELECT COUNT(*) FROM speed1", sum("added")),
                ("SELECT COALESCE(SUM(a), 0) FROM speed1", sum("keys")),
                ("SELECT COUNT(*) FROM speed1 WHERE a <> b OR b <> c", 0),
            ],
            Job::Commits | Job::NoCommits => vec![
                ("SELECT COUNT(*) FROM T", rows + sum("added")),
                ("SELECT SUM(A) FROM T", rows * (rows + 1) / 2 + sum("keys")),
                // Each value identifies the row it was drawn for.
                (
                    "SELECT COUNT(*) FROM T WHERE B <> '1234567890' \
                     AND CAST(SUBSTR(B, 2, 3) AS DECIMAL) <> A % 1000",
                    0,
                ),
                (
                    "SELECT COALESCE(MAX(1), 0) FROM T WHERE B <> '1234567890'",
                    i64::from(sum("added") > 0),
                ),
            ],
            Job::UpdateAll => {
                let [first, a, b] = match sum("runs") {
                    0 => [rows, 0, 0],
                    n if n % 2 == 1 => [0, rows, 0],
                    _ => [0, 0, rows],
                };
                vec![
                    ("SELECT COUNT(*) FROM S WHERE SB = '1234567890'", first),
                    ("SELECT COUNT(*) FROM S WHERE SB = 'a234567890'", a),
                    ("SELECT COUNT(*) FROM S WHERE SB = 'b234567890'", b),
                    ("SELECT COUNT(*) FROM S", rows),
                ]
            }
            Job::DeleteAll => {
                let left = if sum("runs") > 0 { 0 } else { rows };
                vec![("SELECT COUNT(*) FROM S", left)]
            }
        }
    }
}

/// Wide: one prepared statement for each query of the workload.
struct Client {
    job: Job,
    rows: i64,
    /// Chooses the rows that the TPC-A-like transactions update.
    updated: Picker,
    notes: Notes,
    colors: Arc<Colors>,
    purge: Purge,
    /// Its number, and how many clients there are: they share out the keys they add.
    first: i64,
    clients: i64,
    statements: Vec<Statement>,
    text: String,
    done: i64,
    /// Rows it added.
    added: i64,
    /// The sum of their keys.
    keys: i64,
    /// All was deleted and may not be purged yet; what the server had counted before.
    emptied: Option<i64>,
    /// What the server had counted before the next delete.
    mark: i64,
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
        let added = session.run(self.statements[0], &[j.into(), j.into(), j.into()])?.affected();
        expect("insert", added as i64, 1)?;
        self.added += 1;
        self.keys += j;
        let back = j - 100 * self.clients;
        let answer = session.run(self.statements[1], &[back.into()])?;
        let there = self.added > 2;
        expect("select of an earlier insert", answer.rows() as i64, i64::from(there))?;
        if there && answer.int(0, 2) != Some(back) {
            return Err(Failure::wrong(format!("row {back} is not itself")));
        }
        Ok(())
    }

    /// The five most frequent colours: any of those that are there equally often.
    fn group(&self, session: &mut Session) -> Result<()> {
        let answer = session.query(GROUP)?;
        expect("groups", answer.rows() as i64, self.colors.top.len() as i64)?;
        for (row, &top) in self.colors.top.iter().enumerate() {
            let (color, count) = (answer.int(row, 0), answer.int(row, 1));
            let held = color.and_then(|color| self.colors.counts.get(color as usize).copied());
            if count != Some(top) || held != count {
                let message = format!("group {row}: {color:?} is there {count:?} times, not {top}");
                return Err(Failure::wrong(message));
            }
        }
        Ok(())
    }

    fn star(&mut self, session: &mut Session) -> Result<()> {
        if self.job == Job::StarCount {
            let found = session.integer("SELECT COUNT(*) FROM T, S WHERE C = SA")?;
            return expect("rows of the join", found, self.colors.joined);
        }
        let query = "SELECT * FROM T, S WHERE C = SA AND SB = 'a234567890'";
        expect("rows of the join", session.query(query)?.rows() as i64, 0)
    }

    /// Three updates and an insert.
    fn bank(&mut self, session: &mut Session, rng: &mut Rng, ahead: i64) -> Result<()> {
        let id = self.key(ahead);
        for _ in 0..3 {
            let row = self.updated.pick(rng);
            // The row has another value before, but for one time in a million.
            self.text.clear();
            let _ = write!(self.text, "a{:03}{:06}", row % 1000, rng.below(1_000_000));
            let params = [self.text.as_str().into(), row.into()];
            let found = session.run(self.statements[0], &params)?.affected() as i64;
            expect("update", found, 1)?;
            self.notes.write(0, row, &self.text);
        }
        expect("insert", session.run(self.statements[1], &[id.into()])?.affected() as i64, 1)
    }

    /// The key of its insert after so many more.
    fn key(&self, ahead: i64) -> i64 {
        self.rows + 1 + (self.added + ahead) * self.clients + self.first
    }

    fn commits(&mut self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        self.notes.begin();
        session.begin()?;
        self.bank(session, rng, 0)?;
        session.commit()?;
        self.notes.commit();
        self.keys += self.key(0);
        self.added += 1;
        Ok(())
    }

    /// A tenth as many operations as there are rows.
    fn no_commits(&mut self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let operations = (self.rows / 10).max(1);
        self.notes.begin();
        session.begin()?;
        for n in 0..operations {
            self.bank(session, rng, n)?;
        }
        session.commit()?;
        self.notes.commit();
        self.keys += (0..operations).map(|n| self.key(n)).sum::<i64>();
        self.added += operations;
        Ok(())
    }

    fn update_all(&mut self, session: &mut Session) -> Result<()> {
        let letter = if self.done % 2 == 0 { 'a' } else { 'b' };
        let text = format!("UPDATE S SET SB = '{letter}234567890'");
        expect("rows updated", session.query(&text)?.affected() as i64, self.rows)
    }

    fn delete_all(&mut self, session: &mut Session) -> Result<usize> {
        if let Some(mark) = self.emptied.take() {
            return self.purge.wait(session, "S", mark, self.rows).map(|()| 1);
        }
        let gone = session.query("DELETE FROM S")?.affected() as i64;
        expect("rows deleted", gone, self.rows)?;
        if self.purge.measurable() {
            self.emptied = Some(self.mark);
        }
        Ok(0)
    }

    /// Whether all rows are there and the next transaction deletes them.
    fn is_full(&self) -> bool {
        self.emptied.is_none()
    }
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
            Job::Commits | Job::NoCommits => {
                &["UPDATE T SET B = ? WHERE A = ?", "INSERT INTO T VALUES (?, '1234567890', 5)"]
            }
            _ => &[],
        };
        for text in texts {
            self.statements.push(session.statement(text)?);
        }
        Ok(())
    }

    fn prepares(&self) -> bool {
        match self.job {
            Job::Mass | Job::Copy | Job::Inserts | Job::CopyIndexed => true,
            Job::DeleteAll => self.is_full(),
            _ => false,
        }
    }

    fn before(&mut self, session: &mut Session) -> Result<()> {
        match self.job {
            Job::Mass => empty(session, "T1"),
            Job::Copy => empty(session, "T2"),
            Job::Inserts => empty(session, "speed1"),
            Job::CopyIndexed => empty(session, "S"),
            Job::DeleteAll => {
                if self.done > 0 {
                    session.query("INSERT INTO S SELECT * FROM T")?;
                }
                self.mark = self.purge.mark(session)?;
                Ok(())
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
            Job::CopyIndexed => {
                let added = session.query("INSERT INTO S SELECT * FROM T")?.affected() as i64;
                expect("rows copied", added, self.rows)?;
            }
            Job::Group => self.group(session)?,
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
        self.notes.hand_over();
        *tally.entry("runs").or_default() += self.done;
        *tally.entry("added").or_default() += self.added;
        *tally.entry("keys").or_default() += self.keys;
    }
}
