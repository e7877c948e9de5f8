//! Statements drawn from a seed run on Inia and on MySQL, and each difference is printed once.
//!
//! Four generators, each a test: every function with arguments of every type and at every limit
//! (`functions.rs`), changes of definitions beside everything that a definition may hold
//! (`alters.rs`), every clause of a query over columns of every type (`clauses.rs`), and stored
//! programs and triggers of nested blocks, loops and handlers (`programs.rs`):
//!
//! `INIA_ORACLE=host:port INIA_SEED=7 INIA_COUNT=5000 cargo test -p inia --test main generated:: --
//! --nocapture` draws so many statements of each from that seed. Without `INIA_ORACLE` nothing
//! runs. `INIA_SERVER` names another program than the one just built, and `INIA_SHOW=1` prints all
//! statements that led to each difference.
//!
//! Differences of one class, such as wrong rows of one function, are printed as one: how often it
//! was seen, the shortest statement, and the lines that differ, worst classes first.
//! `generated/known.txt` holds the classes that are known, each with its reason. What is mended
//! leaves a statement in a script of `tests/sql`, so that it is compared from then on.

mod alters;
mod classes;
mod clauses;
mod functions;
mod programs;
mod queries;
mod shapes;
mod values;

use crate::differential::{Connection, ask, connect};
use crate::process::{DataDir, Process};
use classes::{Classes, Known};
use inia_testkit::Random;

/// A statement, and what it is about: statements of one subject that differ in the same way are one
/// class.
struct Step {
    subject: String,
    sql: String,
}

/// Statements that belong together. A difference ends them, since what follows would differ for the
/// same reason.
type Steps = Vec<Step>;

/// Both servers.
struct Both {
    mysql: (Connection, String),
    inia: (Connection, String),
    database: String,
}

impl Both {
    fn open(oracle: &str, server: &str) -> Both {
        let database = format!("generated_{}", std::process::id());
        let open = |address: &str| {
            let mut connection = connect(address);
            enter(&mut connection, &database);
            (connection, address.to_owned())
        };
        Both { mysql: open(oracle), inia: open(server), database }
    }

    /// Both answers to a statement, MySQL's first.
    fn ask(&mut self, sql: &str) -> [String; 2] {
        let database = &self.database;
        [&mut self.mysql, &mut self.inia].map(|(connection, address)| {
            ask(connection, sql).unwrap_or_else(|lost| {
                *connection = connect(address);
                enter(connection, database);
                lost
            })
        })
    }

    fn close(mut self) {
        self.ask(&format!("DROP DATABASE {}", self.database));
    }
}

fn enter(connection: &mut Connection, database: &str) {
    for sql in [
        "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci",
        "SET time_zone = '+00:00'",
        &format!("CREATE DATABASE IF NOT EXISTS {database}"),
        &format!("USE {database}"),
    ] {
        connection.query(sql).unwrap();
    }
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// Runs what a generator draws, and prints the classes of differences that are not known.
fn compare(setup: &[&str], mut draw: impl FnMut(&mut Random) -> Steps) {
    let Ok(oracle) = std::env::var("INIA_ORACLE") else { return };
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut both = Both::open(&oracle, &server.address());
    for sql in setup {
        let [mysql, inia] = both.ask(sql);
        assert_eq!(mysql, inia, "{sql}");
    }
    let mut random = Random::new(setting("INIA_SEED", 1));
    let count = setting("INIA_COUNT", 1000) as usize;
    let mut classes = Classes::new(Known::read());
    let shows = setting("INIA_SHOW", 0) > 0;
    let mut ran = 0;
    while ran < count {
        let mut script = String::new();
        for step in draw(&mut random) {
            ran += 1;
            script = format!("{script}{};\n", step.sql);
            let [mysql, inia] = both.ask(&step.sql);
            if classes.differs(&step, &mysql, &inia) {
                if shows {
                    println!("{script}--- MySQL\n{mysql}--- Inia\n{inia}");
                }
                both.ask("SET sql_mode = DEFAULT");
                break;
            }
        }
    }
    both.close();
    println!("{ran} statements\n{classes}");
    assert!(classes.is_empty(), "answers differ");
}

#[test]
fn functions() {
    compare(values::TABLE, functions::draw);
}

#[test]
fn alters() {
    compare(&[], alters::draw);
}

#[test]
fn programs() {
    compare(&[], programs::draw);
}

#[test]
fn clauses() {
    compare(values::TABLE, clauses::draw);
}
