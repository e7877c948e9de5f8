//! The same statements on Inia and on MySQL 8.0.31 give the same rows, types, warnings, errors and
//! affected rows.
//!
//! A script is a file `crates/inia/tests/sql/<feature>/<name>.sql`; MySQL's answers stand beside it
//! in `<name>.answers`. Each script runs in a database of its own. Statements end with `;` at the
//! end of a line, or with `;;` behind a line `-- body`; a line `-- differs: reason` before a
//! statement says that Inia answers differently on purpose: the statement runs, its answer is not
//! compared, and `docs/COMPAT.md` lists the reason. Between the lines `-- rows: not compared` and
//! `-- rows: compared` rows are no part of answers: EXPLAIN is compared by its columns and notes.
//! Rows of a SELECT without ORDER BY are compared as a set. Columns are compared by name, type,
//! character set and the flags that no plan changes, in the scripts of `metadata/` by all that the
//! protocol has of them. A line `-- as: account` gives all that follows to that account's
//! connection, which logs in without a password when it is first named and stays open; scripts
//! begin as `root`, and drop the accounts that they make.
//!
//! With `INIA_ORACLE=host:port` set, the scripts of `generated/` are written anew and all answers
//! are recorded from that server (user root, no password); `INIA_SCRIPTS=part-of-a-path` limits
//! which scripts run, `INIA_DIFFERENCES=n` how many differences are printed (40).
//! `INIA_SETTINGS='SET GLOBAL …'` is said to the server first, to compare another way of execution.
//!
//! Statements that do not agree yet are listed in `tests/sql/known-differences.txt`, one
//! `script:line` a line. The list is a ratchet: a listed statement must differ, and one that agrees
//! must leave the list. `INIA_KNOWN=write` writes the list as it stands; what differs, with both
//! answers, is written to `differences.txt` in the target's temporary folder.

mod generate;
mod known;
mod metadata;
mod script;

use crate::process::{DataDir, Process};
use inia_base::value::Value;
use inia_wire::caps::Capabilities;
use inia_wire::client::{Client, ClientError, LoginOptions, ResultSet};
use inia_wire::column::ColumnDef;
use known::Known;
use script::{ROOT, Statement};
use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) type Connection = Client<TcpStream>;

/// How long one statement may take before its connection counts as lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// Noon of 2026-11-21, in Unix time.
const RECORDED: u32 = 1_795_262_400;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sql")
}

/// A script's name below the root, with forward slashes.
fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/")
}

fn scripts() -> Vec<PathBuf> {
    let wanted = std::env::var("INIA_SCRIPTS").unwrap_or_default();
    let mut found = Vec::new();
    let mut folders = vec![root()];
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

/// The statements of every script.
pub(crate) fn corpus() -> Vec<Vec<String>> {
    let texts = |path: &PathBuf| script::read(path).into_iter().map(|s| s.text).collect();
    scripts().iter().map(texts).collect()
}

/// Logs in as root, on the day on which the answers were recorded: a TIME becomes a DATETIME of the
/// present day.
pub(crate) fn connect(address: &str) -> Connection {
    let mut connection = log_in(address, ROOT).unwrap();
    connection.query(&format!("SET timestamp = {RECORDED}")).unwrap();
    connection
}

/// Logs in without a password; an account's name may be followed by the one it is given.
fn log_in(address: &str, account: &str) -> Result<Connection, ClientError> {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (user, password) = account.split_once(' ').unwrap_or((account, ""));
    let (user, password) = (user.to_owned(), password.to_owned());
    let capabilities = Capabilities::CLIENT.with(Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS);
    let options = LoginOptions { user, password, capabilities, ..LoginOptions::default() };
    Client::connect(stream, &options)
}

/// Runs a script in a fresh database and returns the answer to each statement. A statement that
/// costs the connection is answered by that; the script goes on with a new one.
fn run(address: &str, statements: &[Statement]) -> Vec<String> {
    let mut connection = connect(address);
    for sql in ["DROP DATABASE IF EXISTS diff", "CREATE DATABASE diff", "USE diff"] {
        connection.query(sql).unwrap();
    }
    let mut connections = HashMap::from([(ROOT, connection)]);
    let mut answers = Vec::new();
    for statement in statements {
        let account = statement.account.as_str();
        let connection = match connections.entry(account) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => match log_in(address, account) {
                Ok(connection) => entry.insert(connection),
                Err(error) => {
                    answers.push(format!("no login: {error}\n"));
                    continue;
                }
            },
        };
        let found = answer(connection, statement).unwrap_or_else(|lost| {
            connections.remove(account);
            if account == ROOT {
                let mut again = connect(address);
                again.query("USE diff").unwrap();
                connections.insert(ROOT, again);
            }
            lost
        });
        answers.push(found);
    }
    answers
}

/// The answer to a statement of no script: a connection that is lost is the error.
pub(crate) fn ask(connection: &mut Connection, sql: &str) -> Result<String, String> {
    answer(connection, &Statement::whole(sql))
}

fn answer(connection: &mut Connection, statement: &Statement) -> Result<String, String> {
    match connection.query(&statement.text) {
        Ok(results) => {
            let mut text = String::new();
            let mut warnings = 0;
            for result in &results {
                describe(result, statement, &mut text);
                warnings = warnings.max(result.completion.warnings);
            }
            if warnings > 0 && !statement.shows_warnings() {
                let rows = connection.rows("SHOW WARNINGS");
                for row in rows.map_err(|error| format!("no warnings: {error}\n"))? {
                    let cells: Vec<String> = row.iter().map(cell).collect();
                    writeln!(text, "warning {}", cells.join(" ")).unwrap();
                }
            }
            Ok(text)
        }
        Err(ClientError::Server(error)) => {
            Ok(format!("error {} ({}): {}\n", error.code, error.state, error.message))
        }
        Err(other) => Err(format!("connection failed: {other}\n")),
    }
}

fn describe(result: &ResultSet, statement: &Statement, text: &mut String) {
    let done = &result.completion;
    if result.columns.is_empty() {
        write!(text, "affected {} id {}", done.affected_rows, done.last_insert_id).unwrap();
        writeln!(text, " warnings {} info {:?}", done.warnings, done.info).unwrap();
        return;
    }
    for column in &result.columns {
        let line = if statement.in_full { in_full(column) } else { in_short(column) };
        writeln!(text, "column {line}").unwrap();
    }
    let mut rows: Vec<String> = result
        .rows
        .iter()
        .map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" | "))
        .collect();
    if !statement.ordered() {
        rows.sort();
    }
    let compared = rows.iter().filter(|_| statement.rows);
    compared.for_each(|row| writeln!(text, "row {row}").unwrap());
}

/// All that the protocol has of a column.
fn in_full(column: &ColumnDef) -> String {
    let ColumnDef { name, type_code, collation, length, flags, decimals, .. } = column;
    let ColumnDef { schema, table, org_table, org_name, .. } = column;
    format!(
        "{name} type {type_code} charset {collation} length {length} flags {flags:#06x} \
         decimals {decimals} of {schema}.{table}, {org_table}.{org_name}"
    )
}

/// What does not depend on MySQL's plan.
fn in_short(column: &ColumnDef) -> String {
    let ColumnDef { name, type_code, collation, .. } = column;
    let flags = column.flags & COMPARED_FLAGS;
    let decimals = if STRINGS.contains(type_code) { 0 } else { column.decimals };
    format!("{name} type {type_code} charset {collation} flags {flags} decimals {decimals}")
}

/// NOT_NULL, UNSIGNED, ZEROFILL, ENUM, AUTO_INCREMENT and SET. The key flags, BINARY and the
/// decimals of strings depend on whether MySQL's plan goes through a temporary table.
const COMPARED_FLAGS: u32 = 1 | 32 | 64 | 256 | 512 | 2048;

/// VARCHAR, the four BLOBs and CHAR, by their protocol numbers.
const STRINGS: std::ops::RangeInclusive<u8> = 249..=254;

pub(crate) fn cell(value: &Value) -> String {
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

/// Differences between a script's recorded answers and Inia's: both answers, by `script:line`.
fn compare(path: &Path, statements: &[Statement], server: &str) -> BTreeMap<Place, String> {
    let recorded = std::fs::read_to_string(path.with_extension("answers"))
        .unwrap_or_else(|error| panic!("{}: no recorded answers: {error}", path.display()));
    let recorded = script::answers(&recorded);
    assert_eq!(
        recorded.len(),
        statements.len(),
        "{}: the answers are of another script; record them anew",
        path.display()
    );
    let mut differences = BTreeMap::new();
    let answers = run(server, statements);
    for ((statement, expected), found) in statements.iter().zip(&recorded).zip(&answers) {
        assert_eq!(expected.0, escape(&statement.text), "{}", path.display());
        let wanted = with_altered_name(&expected.1, &statement.text);
        if statement.differs.is_none() && wanted != *found {
            differences.insert(
                (name(path), statement.line),
                format!("{}\n--- MySQL\n{wanted}--- Inia\n{found}", statement.text),
            );
        }
    }
    differences
}

/// An answer of MySQL in which the table that ALTER TABLE builds has the name of the altered one.
fn with_altered_name<'a>(answer: &'a str, statement: &str) -> Cow<'a, str> {
    let mut words = statement.split_whitespace();
    let (Some(before), Some(table)) = (answer.find("`#sql-"), words.nth(2)) else {
        return answer.into();
    };
    let after = answer[before + 1..].find('`').map_or(answer.len(), |end| before + 1 + end);
    format!("{}`{table}{}", &answer[..before], &answer[after..]).into()
}

/// A script below the root, and a line in it.
type Place = (String, usize);

fn listing(differences: &BTreeMap<Place, String>) -> String {
    let mut text = String::new();
    for ((script, line), both) in differences {
        writeln!(text, "{script}:{line}: {both}").unwrap();
    }
    text
}

#[test]
fn statements_answer_as_mysql_does() {
    if let Ok(oracle) = std::env::var("INIA_ORACLE") {
        generate::write(&root().join("generated"));
        for path in scripts() {
            record(&path, &script::read(&path), &oracle);
        }
        return;
    }
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    if let Ok(settings) = std::env::var("INIA_SETTINGS") {
        server.client().query(&settings).unwrap();
    }
    let mut found = BTreeMap::new();
    let mut compared = 0;
    let mut ran = Vec::new();
    for path in scripts() {
        let statements = script::read(&path);
        compared += statements.len();
        found.extend(compare(&path, &statements, &server.address()));
        ran.push(name(&path));
    }
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("differences.txt");
    std::fs::write(&all, listing(&found)).unwrap();
    let mut known = Known::read(&root(), &ran);
    if std::env::var("INIA_KNOWN").is_ok_and(|wish| wish == "write") {
        known.replace(found.keys().cloned());
        known.write(&root());
        return;
    }
    let agreeing: Vec<_> = known.listed().filter(|place| !found.contains_key(*place)).collect();
    let number = found.len();
    found.retain(|place, _| !known.contains(place));
    let limit = std::env::var("INIA_DIFFERENCES").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let shown: BTreeMap<_, _> = found.into_iter().take(limit).collect();
    assert!(
        shown.is_empty(),
        "{number} of {compared} statements answer differently ({} has all); not listed:\n{}",
        all.display(),
        listing(&shown)
    );
    assert!(agreeing.is_empty(), "listed as different, but these agree now: {agreeing:?}");
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
