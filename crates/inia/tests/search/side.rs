//! One of the two sides of a comparison: a connection, and what it answers.

use crate::differential::{Connection, cell, connect};
use inia_base::value::Value;
use inia_wire::client::{ClientError, ResultSet};
use std::collections::BTreeSet;
use std::fmt;

/// What a statement did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Cells as texts, without what does not count: see [`plain`].
    Rows(Vec<Vec<String>>),
    Changed(u64),
    Failed(u16),
    /// The connection broke: a panic, or no answer in time.
    Lost,
}

/// Errors that depend on which rows are looked at first, on how often a constant is looked at, or
/// on how fast the machine is: too much time, numbers out of range, too many rows of a subquery,
/// texts that are no dates. And what MySQL does not do at all.
const UNSTABLE: &[u16] = &[3024, 1690, 1242, 1317, 3636, 1525, 1292, 1235, 1443];

impl Outcome {
    /// Whether two outcomes are the same, or nothing can be said about it.
    pub(super) fn agrees(&self, other: &Outcome, ordered: bool) -> bool {
        match (self, other) {
            (Outcome::Failed(code), _) | (_, Outcome::Failed(code)) if UNSTABLE.contains(code) => {
                true
            }
            // Which of two errors comes first is nobody's promise.
            (Outcome::Failed(_), Outcome::Failed(_)) => true,
            (Outcome::Rows(one), Outcome::Rows(other)) if !ordered => {
                one.len() == other.len() && sorted(one) == sorted(other)
            }
            _ => self == other,
        }
    }

    /// The kind of outcome, to distinguish kinds of differences.
    pub(super) fn class(&self) -> String {
        match self {
            Outcome::Rows(_) => "rows".to_owned(),
            Outcome::Changed(_) => "changes".to_owned(),
            Outcome::Failed(code) => format!("error {code}"),
            Outcome::Lost => "lost".to_owned(),
        }
    }
}

pub(super) fn sorted(rows: &[Vec<String>]) -> Vec<&Vec<String>> {
    let mut rows: Vec<_> = rows.iter().collect();
    rows.sort();
    rows
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Rows(rows) => {
                writeln!(f, "{} rows", rows.len())?;
                rows.iter().take(12).try_for_each(|row| writeln!(f, "  {}", row.join(" | ")))
            }
            Outcome::Changed(rows) => writeln!(f, "{rows} rows changed"),
            Outcome::Failed(code) => writeln!(f, "error {code}"),
            Outcome::Lost => writeln!(f, "connection lost"),
        }
    }
}

/// A cell as it is compared. Zeros after the point, the sign of zero, letters that a collation may
/// hold for equal and spaces at the end do not count: which one of two equal values comes first
/// is nobody's promise.
fn plain(value: &Value) -> String {
    let text = match value {
        Value::Null | Value::Text(_) | Value::Bytes(_) => cell(value),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Double(number) => format!("{number}"),
        Value::Decimal(number) => number.to_string(),
        Value::Date(date) => date.to_string(),
        Value::Time(time) => time.to_string(),
        Value::DateTime(moment) => moment.to_string(),
        Value::Json(text) => text.clone(),
    };
    if text.contains('e') && text.parse::<f64>().is_ok() {
        return text.parse::<f64>().map_or(text, |number| format!("{number}"));
    }
    let number =
        text.contains('.') && !text.contains(|c: char| !c.is_ascii_digit() && !".-: ".contains(c));
    let cut = match number && text.ends_with(|c: char| c.is_ascii_digit()) {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    match cut {
        "-0" => "0".to_owned(),
        cut => cut.trim_end().to_lowercase().replace('é', "e"),
    }
}

fn outcome(result: Result<ResultSet, ClientError>) -> Outcome {
    match result {
        Ok(result) if result.columns.is_empty() => {
            Outcome::Changed(result.completion.affected_rows)
        }
        Ok(result) => {
            let rows = result.rows.iter();
            Outcome::Rows(rows.map(|row| row.iter().map(plain).collect()).collect())
        }
        Err(ClientError::Server(error)) => Outcome::Failed(error.code),
        Err(_) => Outcome::Lost,
    }
}

/// A connection that uses a database of its own.
pub(super) struct Side {
    connection: Connection,
    address: String,
    database: String,
}

impl Side {
    /// Connects; the database is made if there is none.
    pub(super) fn open(address: &str, database: &str) -> Side {
        let mut connection = connect(address);
        let (address, database) = (address.to_owned(), database.to_owned());
        connection.query(&format!("CREATE DATABASE IF NOT EXISTS {database}")).unwrap();
        prepare(&mut connection, &database);
        Side { connection, address, database }
    }

    /// An empty database again.
    pub(super) fn clear(&mut self) {
        let name = self.database.clone();
        self.must("SET max_execution_time = 0");
        for sql in [
            format!("DROP DATABASE IF EXISTS {name}"),
            format!("CREATE DATABASE {name}"),
            format!("USE {name}"),
            "SET max_execution_time = 400".to_owned(),
        ] {
            self.must(&sql);
        }
    }

    pub(super) fn drop_database(mut self) {
        let name = self.database.clone();
        self.must(&format!("DROP DATABASE {name}"));
    }

    fn must(&mut self, sql: &str) {
        if let Err(error) = self.connection.query(sql) {
            panic!("{sql}: {error}");
        }
    }

    pub(super) fn ask(&mut self, sql: &str) -> Outcome {
        let result = self.connection.query(sql).map(|results| results.into_iter().next());
        self.looked_at(outcome(result.map(Option::unwrap_or_default)))
    }

    /// The same by the binary protocol, with parameters.
    pub(super) fn ask_prepared(&mut self, sql: &str, parameters: &[Value]) -> Outcome {
        let result = self.connection.prepare(sql).and_then(|prepared| {
            let result = self.connection.execute(prepared.id, parameters);
            self.connection.close_statement(prepared.id).and(result)
        });
        self.looked_at(outcome(result))
    }

    fn looked_at(&mut self, outcome: Outcome) -> Outcome {
        if outcome == Outcome::Lost {
            self.connection = connect(&self.address);
            prepare(&mut self.connection, &self.database);
        }
        outcome
    }

    /// Codes of the last statement's warnings. How often a constant is looked at decides whether it
    /// is warned of (1292).
    pub(super) fn warnings(&mut self) -> BTreeSet<String> {
        match self.ask("SHOW WARNINGS") {
            Outcome::Rows(rows) => rows
                .into_iter()
                .map(|row| row[1].clone())
                .filter(|code| code != "1292" && code != "1235")
                .collect(),
            other => BTreeSet::from([other.class()]),
        }
    }
}

fn prepare(connection: &mut Connection, database: &str) {
    for sql in [
        "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci",
        "SET time_zone = '+00:00'",
        "SET sql_mode = CONCAT(@@sql_mode, ',NO_UNSIGNED_SUBTRACTION')",
        "SET max_execution_time = 400",
        &format!("USE {database}"),
    ] {
        connection.query(sql).unwrap();
    }
}
