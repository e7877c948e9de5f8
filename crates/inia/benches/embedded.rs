//! Inia in a program beside SQLite in a program: `cargo bench -p inia --bench embedded`.
//!
//! One thread, one connection, a table of 100,000 rows, prepared statements, the interfaces that a
//! Rust program uses: [`inia`]'s and rusqlite's. Rounds of both are interleaved; the figures are
//! medians, in nanoseconds an operation. Both databases are in directories and durable, SQLite with
//! its write-ahead log and `synchronous=FULL`.
//!
//! `cargo bench -p inia --bench embedded -- instructions` counts instructions an operation instead,
//! by valgrind: they repeat on a busy machine. What fills the tables is not counted, as two runs of
//! different lengths are compared.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Rows of the table; of that whose instructions are counted.
const ROWS: u32 = 100_000;
const COUNTED_ROWS: u32 = 10_000;
/// Rounds of each operation on each engine.
const ROUNDS: usize = 7;
/// Operations of the two runs whose instructions are counted.
const COUNTED: [u32; 2] = [1_000, 5_000];

/// What is measured: its name, what it does once, and how often that is done in a round.
const OPERATIONS: [(&str, &str, u32); 5] = [
    ("point_select", "SELECT of one text by primary key", 100_000),
    ("insert", "INSERT of a row, in one transaction", 20_000),
    ("insert_durable", "INSERT of a row, committed and synced", 200),
    ("scan", "a row of SELECT id, k, c of the whole table", ROWS),
    ("range_sum", "SELECT SUM(k) of 100 rows by primary key", 5_000),
];

/// An engine under test.
trait Engine {
    /// Does an operation so many times; `from` is the first new key.
    fn run(&mut self, operation: &str, times: u32, from: u32);
}

fn text(n: u32) -> String {
    format!("a text of some length with the number {n:08}")
}

/// A key, anywhere in the table: the multiplier shares no factor with the number of rows.
fn some_id(n: u32, rows: u32) -> i64 {
    (i64::from(n) * 7_919 + 17) % i64::from(rows) + 1
}

const TABLE: &str = "CREATE TABLE t (id BIGINT PRIMARY KEY, k BIGINT NOT NULL, c VARCHAR(120))";
const POINT: &str = "SELECT c FROM t WHERE id = ?";
const INSERT: &str = "INSERT INTO t VALUES (?, ?, ?)";
const SCAN: &str = "SELECT id, k, c FROM t";
const RANGE: &str = "SELECT SUM(k) FROM t WHERE id BETWEEN ? AND ?";

/// A connection, and the rows of its table at first.
struct Inia(inia::Connection, u32);

impl Inia {
    fn open(dir: &Path, rows: u32) -> Inia {
        let database = inia::Options::new().buffer_pool_size(256 << 20).open(dir);
        let connection = database.and_then(|database| database.connect()).expect("a database");
        connection.execute_batch(&format!("CREATE DATABASE b; USE b; {TABLE}")).expect("a table");
        let engine = Inia(connection, rows);
        engine.insert(rows, 1);
        engine
    }

    fn insert(&self, times: u32, from: u32) {
        let inserted: inia::Result<()> = self.0.transaction(|transaction| {
            let insert = transaction.prepare(INSERT)?;
            (from..from + times).try_for_each(|n| insert.execute((n, n % 977, text(n))).map(drop))
        });
        inserted.expect("new rows");
    }
}

impl Engine for Inia {
    fn run(&mut self, operation: &str, times: u32, from: u32) {
        let Inia(connection, rows) = self;
        match operation {
            "point_select" => {
                let select = connection.prepare(POINT).expect("a statement");
                for n in 0..times {
                    black_box(select.query_one::<String>([some_id(n, *rows)]).expect("a row"));
                }
            }
            "insert" => self.insert(times, from),
            "insert_durable" => {
                let insert = connection.prepare(INSERT).expect("a statement");
                for n in from..from + times {
                    insert.execute((n, n % 977, text(n))).expect("a new row");
                }
            }
            "scan" => {
                let mut left = times;
                while left > 0 {
                    let scanned = connection.try_for_each(SCAN, (), |row| {
                        let row: (i64, i64, String) = row.decode()?;
                        black_box(row);
                        left -= 1;
                        Ok(match left {
                            0 => std::ops::ControlFlow::Break(()),
                            _ => std::ops::ControlFlow::Continue(()),
                        })
                    });
                    scanned.expect("rows");
                }
            }
            _ => {
                let sum = connection.prepare(RANGE).expect("a statement");
                for n in 0..times {
                    let low = some_id(n, *rows).min(i64::from(*rows) - 99);
                    black_box(sum.query_one::<i64>([low, low + 99]).expect("a sum"));
                }
            }
        }
    }
}

/// As [`Inia`].
struct Sqlite(rusqlite::Connection, u32);

impl Sqlite {
    fn open(dir: &Path, rows: u32) -> Sqlite {
        std::fs::create_dir_all(dir).expect("a directory");
        let connection = rusqlite::Connection::open(dir.join("db")).expect("a database");
        let settings = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; \
                        PRAGMA cache_size=-262144;";
        connection.execute_batch(&format!("{settings} {TABLE}")).expect("a table");
        let mut engine = Sqlite(connection, rows);
        engine.insert(rows, 1);
        engine
    }

    fn insert(&mut self, times: u32, from: u32) {
        let transaction = self.0.transaction().expect("a transaction");
        let mut insert = transaction.prepare(INSERT).expect("a statement");
        for n in from..from + times {
            insert.execute((n, n % 977, text(n))).expect("a new row");
        }
        drop(insert);
        transaction.commit().expect("a commit");
    }
}

impl Engine for Sqlite {
    fn run(&mut self, operation: &str, times: u32, from: u32) {
        let Sqlite(connection, rows) = &*self;
        let statement = |sql| connection.prepare(sql).expect("a statement");
        match operation {
            "point_select" => {
                let mut select = statement(POINT);
                for n in 0..times {
                    let found =
                        select.query_row([some_id(n, *rows)], |row| row.get::<_, String>(0));
                    black_box(found.expect("a row"));
                }
            }
            "insert" => self.insert(times, from),
            "insert_durable" => {
                let mut insert = statement(INSERT);
                for n in from..from + times {
                    insert.execute((n, n % 977, text(n))).expect("a new row");
                }
            }
            "scan" => {
                let mut left = times;
                while left > 0 {
                    let mut scan = statement(SCAN);
                    let mut rows = scan.query([]).expect("a result");
                    while let Some(row) = rows.next().expect("a row") {
                        let row: (i64, i64, String) = row.try_into().expect("three columns");
                        black_box(row);
                        left -= 1;
                        if left == 0 {
                            break;
                        }
                    }
                }
            }
            _ => {
                let mut sum = statement(RANGE);
                for n in 0..times {
                    let low = some_id(n, *rows).min(i64::from(*rows) - 99);
                    let found = sum.query_row([low, low + 99], |row| row.get::<_, i64>(0));
                    black_box(found.expect("a sum"));
                }
            }
        }
    }
}

fn open(engine: &str, dir: &Path, rows: u32) -> Box<dyn Engine> {
    let dir = dir.join(engine);
    match engine {
        "inia" => Box::new(Inia::open(&dir, rows)),
        _ => Box::new(Sqlite::open(&dir, rows)),
    }
}

/// A directory for the databases; removed at the end.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        let name = format!("inia-embedded-bench-{}", std::process::id());
        Place(std::env::temp_dir().join(name))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["instructions"] => count_all(),
        ["run", engine, operation, times] => {
            let place = Place::new();
            let times = times.parse().expect("a number");
            let rows = COUNTED_ROWS;
            open(engine, &place.0, rows).run(operation, times, rows + 1);
        }
        _ => time_all(),
    }
}

fn time_all() {
    let place = Place::new();
    let mut engines = [open("inia", &place.0, ROWS), open("sqlite", &place.0, ROWS)];
    println!("ns an operation, medians of {ROUNDS} rounds   Inia   SQLite   SQLite / Inia");
    let mut next_key = ROWS + 1;
    for (name, what, times) in OPERATIONS {
        let mut rounds = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (engine, rounds) in engines.iter_mut().zip(&mut rounds) {
                let started = Instant::now();
                engine.run(name, times, next_key);
                rounds.push(started.elapsed());
            }
            next_key += times;
        }
        let [inia, sqlite] = rounds.map(|rounds| nanoseconds(rounds, times));
        println!("{what:44} {inia:9.0} {sqlite:9.0} {:9.2}", sqlite / inia);
    }
}

fn nanoseconds(mut rounds: Vec<Duration>, times: u32) -> f64 {
    rounds.sort_unstable();
    rounds[rounds.len() / 2].as_nanos() as f64 / f64::from(times)
}

fn count_all() {
    println!("instructions an operation                     Inia   SQLite   SQLite / Inia");
    for (name, what, _) in OPERATIONS.into_iter().filter(|(name, ..)| *name != "insert_durable") {
        let [inia, sqlite] = ["inia", "sqlite"].map(|engine| counted(engine, name));
        println!("{what:44} {inia:9.0} {sqlite:9.0} {:9.2}", sqlite / inia);
    }
}

/// Instructions of an operation: the difference of two runs.
fn counted(engine: &str, operation: &str) -> f64 {
    let [short, long] = COUNTED.map(|times| instructions(engine, operation, times));
    (long - short) / f64::from(COUNTED[1] - COUNTED[0])
}

/// The instructions of a whole run of this program, counted by valgrind.
fn instructions(engine: &str, operation: &str, times: u32) -> f64 {
    let program = std::env::current_exe().expect("a running program has a path");
    let valgrind = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(["run", engine, operation, &times.to_string()])
        .output()
        .expect("valgrind is installed");
    let report = String::from_utf8_lossy(&valgrind.stderr);
    assert!(valgrind.status.success(), "{engine} {operation} failed: {report}");
    let line = report.lines().find(|line| line.contains("I ") && line.contains("refs:"));
    let digits = line.and_then(|line| line.rsplit(' ').next()).expect("valgrind prints the count");
    digits.replace(',', "").parse().expect("a number")
}
