//! All metadata of all result columns of the corpus, on Inia and on MySQL.
//!
//! Only the scripts of `metadata/` are compared in full by the recorded answers. This run compares
//! everything that the protocol has of a column over all scripts, and prints which shares of the
//! columns and of the statements with columns agree, and how many columns differ in what:
//!
//! `INIA_ORACLE=host:port cargo test -p inia --test main differential::metadata -- --ignored
//! --nocapture`. `INIA_RESULTS='latin1'` is the result character set of both, `INIA_SCRIPTS` limits
//! which scripts run, and `columns.txt` in the target's temporary folder has every difference.

use super::script::{self, Statement};
use super::{name, run, scripts};
use crate::process::{DataDir, Process};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// How much was compared, and what differs.
#[derive(Default)]
struct Tally {
    statements: usize,
    agreeing_statements: usize,
    columns: usize,
    agreeing_columns: usize,
    /// How many columns differ in a part of their description, by its name.
    parts: BTreeMap<String, usize>,
    listing: String,
}

/// The column lines of an answer, without their first word.
fn columns(answer: &str) -> Vec<&str> {
    answer.lines().filter_map(|line| line.strip_prefix("column ")).collect()
}

/// The parts of a column's description in which two differ.
fn differing(mysql: &str, inia: &str) -> Vec<&'static str> {
    const PARTS: [&str; 6] = [" type ", " charset ", " length ", " flags ", " decimals ", " of "];
    let part = |line: &str, index: usize| {
        let (_, from) = line.rsplit_once(PARTS[index]).unwrap_or(("", line));
        let end = PARTS.get(index + 1).and_then(|next| from.rfind(next)).unwrap_or(from.len());
        from[..end].to_owned()
    };
    let mut names = Vec::new();
    if mysql.rsplit_once(PARTS[0]).map(|both| both.0) != inia.rsplit_once(PARTS[0]).map(|b| b.0) {
        names.push("name");
    }
    let differs = |index: &usize| part(mysql, *index) != part(inia, *index);
    names.extend((0..PARTS.len()).filter(differs).map(|index| PARTS[index].trim()));
    names
}

impl Tally {
    fn add(&mut self, place: &str, statement: &Statement, mysql: &str, inia: &str) {
        let (expected, found) = (columns(mysql), columns(inia));
        if expected.is_empty() || expected.len() != found.len() {
            return;
        }
        self.statements += 1;
        self.columns += expected.len();
        let mut text = String::new();
        for (mysql, inia) in expected.iter().zip(&found) {
            if mysql == inia {
                self.agreeing_columns += 1;
                continue;
            }
            let parts = differing(mysql, inia);
            writeln!(text, "  {}\n    MySQL {mysql}\n    Inia  {inia}", parts.join(" ")).unwrap();
            for part in parts {
                *self.parts.entry(part.to_owned()).or_default() += 1;
            }
        }
        if text.is_empty() {
            self.agreeing_statements += 1;
        } else {
            writeln!(self.listing, "{place}: {}\n{text}", statement.text).unwrap();
        }
    }
}

#[test]
#[ignore = "needs a MySQL server"]
fn columns_of_the_corpus() {
    let oracle = std::env::var("INIA_ORACLE").expect("INIA_ORACLE names a MySQL server");
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut tally = Tally::default();
    for path in scripts() {
        let mut statements = script::read(&path);
        statements.iter_mut().for_each(|statement| statement.in_full = true);
        if let Ok(charset) = std::env::var("INIA_RESULTS") {
            let text = format!("SET character_set_results = {charset}");
            statements.insert(0, Statement::whole(&text));
        }
        let mysql = run(&oracle, &statements);
        let inia = run(&server.address(), &statements);
        for (statement, (mysql, inia)) in statements.iter().zip(mysql.iter().zip(&inia)) {
            let place = format!("{}:{}", name(&path), statement.line);
            tally.add(&place, statement, mysql, inia);
        }
    }
    let listing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("columns.txt");
    std::fs::write(&listing, &tally.listing).unwrap();
    let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    println!(
        "{} of {} columns agree ({:.1} %), {} of {} statements ({:.1} %)",
        tally.agreeing_columns,
        tally.columns,
        share(tally.agreeing_columns, tally.columns),
        tally.agreeing_statements,
        tally.statements,
        share(tally.agreeing_statements, tally.statements),
    );
    for (part, count) in &tally.parts {
        println!("{count:6} differ in {part}");
    }
}
