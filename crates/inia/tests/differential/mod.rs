//! The same statements on Inia and on MySQL 8.0.31 give the same rows, types, warnings, errors and
//! affected rows.
//!
//! A script is a file `crates/inia/tests/sql/<feature>/<name>.sql`; MySQL's answers stand beside it
//! in `<name>.answers`. Each script runs in a database of its own. Statements end with `;` at the
//! end of a line; a line `-- differs: reason` before a statement says that Inia answers differently
//! on purpose: the statement runs, its answer is not compared, and `docs/COMPAT.md` lists the reason.
//! Rows of a SELECT without ORDER BY are compared as a set.
//!
//! With `INIA_ORACLE=host:port` set, the answers are recorded anew from that server (user root, no
//! password); `INIA_SCRIPTS=part-of-a-path` limits which scripts run, `INIA_DIFFERENCES=n` how many
//! differences are printed (40).

mod script;

use crate::process::{DataDir, Process};
use inia_base::value::Value;
use inia_wire::client::{Client, ClientError, LoginOptions, ResultSet};
use script::Statement;
use std::fmt::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};

type Connection = Client<TcpStream>;

fn scripts() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sql");
    let wanted = std::env::var("INIA_SCRIPTS").unwrap_or_default();
    let mut found = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "sql")
                && path.to_string_lossy().contains(&wanted)
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn connect(address: &str) -> Connection {
    let stream = TcpStream::connect(address).unwrap();
    Client::connect(stream, &LoginOptions::default()).unwrap()
}

/// Runs a script in a fresh database and returns the answer to each statement.
fn run(address: &str, statements: &[Statement]) -> Vec<String> {
    let mut connection = connect(address);
    for sql in ["DROP DATABASE IF EXISTS diff", "CREATE DATABASE diff", "USE diff"] {
        connection.query(sql).unwrap();
    }
    statements.iter().map(|statement| answer(&mut connection, statement)).collect()
}

fn answer(connection: &mut Connection, statement: &Statement) -> String {
    match connection.query(&statement.text) {
        Ok(results) => {
            let mut text = String::new();
            let mut warnings = 0;
            for result in &results {
                describe(result, statement.ordered(), &mut text);
                warnings = warnings.max(result.completion.warnings);
            }
            if warnings > 0 && !statement.shows_warnings() {
                for row in connection.rows("SHOW WARNINGS").unwrap() {
                    let cells: Vec<String> = row.iter().map(cell).collect();
                    writeln!(text, "warning {}", cells.join(" ")).unwrap();
                }
            }
            text
        }
        Err(ClientError::Server(error)) => {
            format!("error {} ({}): {}\n", error.code, error.state, error.message)
        }
        Err(other) => format!("connection failed: {other}\n"),
    }
}

fn describe(result: &ResultSet, ordered: bool, text: &mut String) {
    let done = &result.completion;
    if result.columns.is_empty() {
        write!(text, "affected {} id {}", done.affected_rows, done.last_insert_id).unwrap();
        writeln!(text, " warnings {} info {:?}", done.warnings, done.info).unwrap();
        return;
    }
    for column in &result.columns {
        writeln!(
            text,
            "column {} type {} charset {} flags {} decimals {}",
            column.name,
            column.type_code,
            column.collation,
            column.flags & COMPARED_FLAGS,
            if STRINGS.contains(&column.type_code) { 0 } else { column.decimals }
        )
        .unwrap();
    }
    let mut rows: Vec<String> = result
        .rows
        .iter()
        .map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" | "))
        .collect();
    if !ordered {
        rows.sort();
    }
    rows.iter().for_each(|row| writeln!(text, "row {row}").unwrap());
}

/// NOT_NULL, UNSIGNED, ZEROFILL, ENUM, AUTO_INCREMENT and SET. The key flags, BINARY and the
/// decimals of strings depend on whether MySQL's plan goes through a temporary table.
const COMPARED_FLAGS: u16 = 1 | 32 | 64 | 256 | 512 | 2048;

/// VARCHAR, the four BLOBs and CHAR, by their protocol numbers.
const STRINGS: std::ops::RangeInclusive<u8> = 249..=254;

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Text(text) => escape(text),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => escape(text),
            Err(_) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        },
        other => format!("{other:?}"),
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\0', "\\0")
}

fn record(path: &Path, statements: &[Statement], oracle: &str) {
    let answers = run(oracle, statements);
    let mut text = String::new();
    for (statement, answer) in statements.iter().zip(answers) {
        writeln!(text, "> {}", escape(&statement.text)).unwrap();
        text.push_str(&answer);
    }
    std::fs::write(path.with_extension("answers"), text).unwrap();
}

/// Differences between a script's recorded answers and Inia's, as text.
fn compare(path: &Path, statements: &[Statement], server: &str) -> Vec<String> {
    let recorded = std::fs::read_to_string(path.with_extension("answers"))
        .unwrap_or_else(|error| panic!("{}: no recorded answers: {error}", path.display()));
    let recorded = script::answers(&recorded);
    assert_eq!(
        recorded.len(),
        statements.len(),
        "{}: the answers are of another script; record them anew",
        path.display()
    );
    let mut differences = Vec::new();
    let answers = run(server, statements);
    for ((statement, expected), found) in statements.iter().zip(&recorded).zip(&answers) {
        assert_eq!(expected.0, escape(&statement.text), "{}", path.display());
        if statement.differs.is_none() && expected.1 != *found {
            differences.push(format!(
                "{}:{}: {}\n--- MySQL\n{}--- Inia\n{found}",
                path.display(),
                statement.line,
                statement.text,
                expected.1
            ));
        }
    }
    differences
}

#[test]
fn statements_answer_as_mysql_does() {
    if let Ok(oracle) = std::env::var("INIA_ORACLE") {
        for path in scripts() {
            record(&path, &script::read(&path), &oracle);
        }
        return;
    }
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut differences = Vec::new();
    let mut compared = 0;
    for path in scripts() {
        let statements = script::read(&path);
        compared += statements.len();
        differences.extend(compare(&path, &statements, &server.address()));
    }
    let limit = std::env::var("INIA_DIFFERENCES").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let shown = differences.iter().take(limit).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(
        differences.is_empty(),
        "{} of {compared} statements answer differently:\n{shown}",
        differences.len()
    );
}

#[test]
fn every_difference_on_purpose_is_documented() {
    let compat = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/COMPAT.md");
    let compat = std::fs::read_to_string(compat).unwrap();
    for path in scripts() {
        for statement in script::read(&path) {
            if let Some(reason) = &statement.differs {
                assert!(
                    compat.contains(reason.as_str()),
                    "{}:{}: docs/COMPAT.md does not say: {reason}",
                    path.display(),
                    statement.line
                );
            }
        }
    }
}
