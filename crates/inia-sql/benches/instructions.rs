//! Counts the instructions of each fast path, and holds them to a ratchet:
//! `cargo bench -p inia-sql`.
//!
//! A path is a statement as a connection runs it, from the session to the packets of its reply, on
//! a table of 10,000 rows in memory and without background threads. Valgrind counts two runs that
//! differ in the number of statements alone, so that the difference holds nothing but statements:
//!
//! ```text
//! instructions a statement = (count of 4,200 - count of 200) / 4,000
//! ```
//!
//! Counts repeat to within half a percent where times do not: hash tables have another seed in each
//! run. A path that costs too much is counted again, and the least of its counts stands.
//! `instructions.txt` beside this file holds the count of each path. A path that costs over 1 %
//! more fails; one that costs over 1 % less is named, so that the file can follow:
//! `UPDATE_GOLDEN=1` writes it.

use inia_base::io::MemDisk;
use inia_base::value::Value;
use inia_sql::{ClientInfo, Database, DatabaseOptions, Session};
use inia_testkit::RowCounter;
use inia_wire::binary::{BinaryLayout, BinaryRows};
use inia_wire::caps::Capabilities;
use inia_wire::packet::{Flush, PacketWriter};
use inia_wire::rows::Reply;
use inia_wire::text::{TextLayout, TextRows};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

/// Rows of the table before the first statement.
const ROWS: u32 = 10_000;
/// Statements of the shorter run, which warm every cache.
const SHORT_RUN: u32 = 200;
/// Statements of the longer run.
const LONG_RUN: u32 = 4_200;

/// What a path may cost more than its entry, in thousandths.
const TOLERANCE: u64 = 10;

/// How often a path is counted, at most.
const COUNTS: usize = 4;

/// A fast path: its name, its statement with `?` for each value, and its values for the `n`th run.
struct FastPath {
    name: &'static str,
    sql: &'static str,
    values: fn(n: u32) -> Vec<i64>,
}

const PATHS: [FastPath; 4] = [
    FastPath {
        name: "point_select",
        sql: "SELECT c FROM sbtest WHERE id = ?",
        values: |n| vec![some_id(n)],
    },
    FastPath {
        name: "update_by_key",
        sql: "UPDATE sbtest SET k = ? WHERE id = ?",
        values: |n| vec![i64::from(n) + 1_000_000, some_id(n)],
    },
    FastPath {
        name: "insert",
        sql: "INSERT INTO sbtest (id, k, c, pad) VALUES (?, ?, 'some text', 'more')",
        values: |n| vec![i64::from(ROWS + 1 + n), i64::from(n)],
    },
    FastPath {
        name: "range_of_100",
        sql: "SELECT c FROM sbtest WHERE id BETWEEN ? AND ?",
        values: |n| {
            let low = some_id(n).min(i64::from(ROWS) - 99);
            vec![low, low + 99]
        },
    },
];

/// A row's id, anywhere in the table: the multiplier shares no factor with the number of rows.
fn some_id(n: u32) -> i64 {
    i64::from((n * 7_919 + 17) % ROWS + 1)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if let [_, run, name, form, statements] = args.as_slice()
        && run == "run"
    {
        let path = PATHS.iter().find(|path| path.name == name).expect("a path of this program");
        run_path(path, form == "prepared", statements.parse().expect("a number"));
        return ExitCode::SUCCESS;
    }
    let allowed = read_ratchet();
    compare(&count_all(&allowed))
}

/// Keeps the reply in memory, as the connection's buffer does until it is sent.
struct Unsent;

impl Flush for Unsent {
    fn flush(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.clear();
        Ok(())
    }
}

fn run_path(path: &FastPath, prepared: bool, statements: u32) {
    let mut session = session_with_table();
    let mut out = PacketWriter::default();
    let (mut text_layout, mut binary_layout) = (TextLayout::default(), BinaryLayout::default());
    let id = session.prepare(path.sql).expect("a valid statement").id;
    for n in 0..statements {
        out.clear();
        let mut flush = Unsent;
        let reply =
            Reply::new(&mut out, &mut flush, Capabilities::CLIENT, 255, session.status_flags());
        let values = (path.values)(n);
        let result = if prepared {
            let values: Vec<Value> = values.into_iter().map(Value::Int).collect();
            let mut rows = BinaryRows::new(reply, &mut binary_layout);
            session.execute_prepared(id, &values, &mut rows)
        } else {
            let mut rows = TextRows::new(reply, &mut text_layout);
            session.execute(&with_values(path.sql, &values), &mut rows)
        };
        result.expect("the statement succeeds");
    }
}

/// The statement with its values in the places of the question marks.
fn with_values(sql: &str, values: &[i64]) -> String {
    let mut text = String::with_capacity(sql.len() + 16);
    for (at, piece) in sql.split('?').enumerate() {
        if at > 0 {
            write!(text, "{}", values[at - 1]).expect("a String takes everything");
        }
        text.push_str(piece);
    }
    text
}

fn session_with_table() -> Session {
    let options = DatabaseOptions { buffer_pool_size: 64 << 20, background: false };
    let disk = Arc::new(MemDisk::default());
    let database = Database::open(disk, options).expect("an empty disk");
    let mut session = Session::new(&database, ClientInfo::default());
    let mut setup = vec![
        String::from("CREATE DATABASE bench"),
        String::from("USE bench"),
        String::from(
            "CREATE TABLE sbtest (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, \
             k INT NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', \
             pad CHAR(60) NOT NULL DEFAULT '')",
        ),
    ];
    // A function of SQL would be looked up by its name, in as many steps as the table's seed wants.
    let text = "c".repeat(119);
    let ids: Vec<u32> = (1..=ROWS).collect();
    for batch in ids.chunks(500) {
        let rows: Vec<String> =
            batch.iter().map(|id| format!("({id}, {id}, '{text}', 'p')")).collect();
        setup.push(format!("INSERT INTO sbtest VALUES {}", rows.join(", ")));
    }
    for sql in setup {
        session.execute(&sql, &mut RowCounter::default()).expect("the table is made");
    }
    session
}

/// The instructions of one statement of each path, by name and form.
fn count_all(allowed: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for path in &PATHS {
        for form in ["prepared", "text"] {
            let name = format!("{} {form}", path.name);
            let limit = allowed.get(&name).copied().unwrap_or(0);
            let mut least = u64::MAX;
            for _ in 0..COUNTS {
                least = least.min(count_each(path.name, form));
                if is_within(least, limit) {
                    break;
                }
            }
            found.insert(name, least);
        }
    }
    found
}

/// Whether a path costs no more than its entry allows.
fn is_within(count: u64, limit: u64) -> bool {
    count * 1_000 <= limit * (1_000 + TOLERANCE)
}

/// The instructions of one statement.
fn count_each(name: &str, form: &str) -> u64 {
    let [short, long] = [SHORT_RUN, LONG_RUN].map(|statements| count(name, form, statements));
    (long - short) / u64::from(LONG_RUN - SHORT_RUN)
}

/// The instructions of a whole run of this program, counted by valgrind.
fn count(name: &str, form: &str, statements: u32) -> u64 {
    let program = std::env::current_exe().expect("a running program has a path");
    let valgrind = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(["run", name, form, &statements.to_string()])
        .output()
        .expect("valgrind is installed");
    let report = String::from_utf8_lossy(&valgrind.stderr);
    assert!(valgrind.status.success(), "{name} {form} failed: {report}");
    let line = report.lines().find(|line| line.contains("I ") && line.contains("refs:"));
    let digits = line.and_then(|line| line.rsplit(' ').next()).expect("valgrind prints the count");
    digits.replace(',', "").parse().expect("a number")
}

fn ratchet_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions.txt")
}

/// The ratchet's entries: `path form count` a line.
fn read_ratchet() -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(ratchet_file()).unwrap_or_default();
    let entry = |line: &str| {
        let (name, count) = line.rsplit_once(' ')?;
        Some((name.to_owned(), count.parse().ok()?))
    };
    text.lines().filter(|line| !line.starts_with('#')).filter_map(entry).collect()
}

fn compare(found: &BTreeMap<String, u64>) -> ExitCode {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let mut text = String::from(
            "# Instructions of one statement on each path, counted by benches/instructions.rs.\n",
        );
        for (name, count) in found {
            writeln!(text, "{name} {count}").expect("a String takes everything");
        }
        std::fs::write(ratchet_file(), text).expect("the ratchet can be written");
    }
    let allowed = read_ratchet();
    let mut passed = 0;
    for (name, &count) in found {
        let limit = allowed.get(name).copied().unwrap_or(0);
        let verdict = if !is_within(count, limit) {
            "FAILED: costs more than its entry"
        } else {
            passed += 1;
            let less = count * 1_000 < limit * (1_000 - TOLERANCE);
            if less { "ok: costs less, UPDATE_GOLDEN=1 lowers its entry" } else { "ok" }
        };
        println!("instructions of {name:<24} {count:>8} of {limit:>8}  {verdict}");
    }
    let failed = found.len() - passed;
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
