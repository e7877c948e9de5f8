//! Differences by class.
//!
//! Worked example: MySQL answers `SELECT ABS('x')` with a warning and Inia with none. The class is
//! `ABS: warnings 1292 / none`, whatever other arguments ABS warns of as often.

use super::Step;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// What differs, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum DifferenceKind {
    Lost,
    Rows,
    Error,
    Columns,
    Shown,
    Affected,
    Text,
    Warnings,
}

struct Seen {
    count: usize,
    sql: String,
    mysql: String,
    inia: String,
}

/// The classes seen so far.
pub(super) struct Classes {
    known: Known,
    expected: usize,
    seen: BTreeMap<(DifferenceKind, String), Seen>,
}

/// Lines of an answer that start with a word, without it.
fn lines<'a>(answer: &'a str, word: &str) -> Vec<&'a str> {
    answer.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' ')).collect()
}

/// The number of the error, if the answer is one.
fn error(answer: &str) -> &str {
    let number = lines(answer, "error").first().and_then(|line| line.split(' ').next());
    number.unwrap_or("none")
}

/// How often each warning is given.
fn warnings(answer: &str) -> String {
    let mut counts = BTreeMap::new();
    for line in lines(answer, "warning") {
        let words = line.split(' ').collect::<Vec<_>>();
        *counts.entry(words.get(1).copied().unwrap_or_default()).or_insert(0) += 1;
    }
    let texts = counts.iter().map(|(code, count)| format!("{code}×{count}"));
    let text = texts.collect::<Vec<_>>().join(" ");
    if text.is_empty() { "none".to_owned() } else { text }
}

/// What the first column that differs is in both.
fn columns(mysql: &[&str], inia: &[&str]) -> String {
    let pair = mysql.iter().zip(inia).find(|(one, other)| one != other);
    let Some((one, other)) = pair else {
        return "number of columns".to_owned();
    };
    let words = |line: &str| -> Vec<String> {
        let described = line.rfind(" type ").map_or(line, |at| &line[at..]);
        described.split_whitespace().map(str::to_owned).collect()
    };
    let (one, other) = (words(one), words(other));
    let mut text = String::new();
    for (pair, others) in one.chunks(2).zip(other.chunks(2)) {
        if pair != others {
            text += &format!(" {} {} / {}", pair[0], pair[1], others[1]);
        }
    }
    if text.is_empty() { "names".to_owned() } else { text.trim().to_owned() }
}

/// What differs between two answers, and how.
fn difference(sql: &str, mysql: &str, inia: &str) -> (DifferenceKind, String) {
    let differs = |word: &str| lines(mysql, word) != lines(inia, word);
    if inia.contains("connection failed") {
        (DifferenceKind::Lost, "connection lost".to_owned())
    } else if error(mysql) != error(inia) {
        (DifferenceKind::Error, format!("error {} / {}", error(mysql), error(inia)))
    } else if differs("row") {
        let kind =
            if sql.starts_with("SHOW") { DifferenceKind::Shown } else { DifferenceKind::Rows };
        (kind, "rows".to_owned())
    } else if differs("column") {
        (DifferenceKind::Columns, columns(&lines(mysql, "column"), &lines(inia, "column")))
    } else if warnings(mysql) != warnings(inia) {
        (DifferenceKind::Warnings, format!("warnings {} / {}", warnings(mysql), warnings(inia)))
    } else if differs("warning") {
        (DifferenceKind::Text, format!("text of warning {}", warnings(mysql)))
    } else if differs("affected") {
        (DifferenceKind::Affected, "affected rows".to_owned())
    } else {
        (DifferenceKind::Text, format!("text of error {}", error(mysql)))
    }
}

impl Classes {
    pub(super) fn new(known: Known) -> Classes {
        Classes { known, expected: 0, seen: BTreeMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Whether the answers to a statement differ; keeps the difference where it is not known.
    pub(super) fn differs(&mut self, step: &Step, mysql: &str, inia: &str) -> bool {
        if mysql == inia {
            return false;
        }
        let (kind, how) = difference(&step.sql, mysql, inia);
        let class = format!("{}: {how}", step.subject);
        if self.known.has(&class, &step.sql) {
            self.expected += 1;
            return true;
        }
        let fresh =
            || Seen { count: 0, sql: String::new(), mysql: String::new(), inia: String::new() };
        let seen = self.seen.entry((kind, class)).or_insert_with(fresh);
        seen.count += 1;
        if seen.sql.is_empty() || step.sql.len() < seen.sql.len() {
            seen.sql.clone_from(&step.sql);
            (seen.mysql, seen.inia) = (mysql.to_owned(), inia.to_owned());
        }
        true
    }
}

impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut classes: Vec<_> = self.seen.iter().collect();
        classes.sort_by_key(|((kind, _), seen)| (*kind, usize::MAX - seen.count));
        for ((_, class), seen) in classes {
            writeln!(f, "== {class} (seen {} times)\n{};", seen.count, seen.sql)?;
            for (name, answer, other) in
                [("MySQL", &seen.mysql, &seen.inia), ("Inia ", &seen.inia, &seen.mysql)]
            {
                let others: Vec<_> = other.lines().collect();
                let own = answer.lines().filter(|line| !others.contains(line));
                own.take(8).try_for_each(|line| writeln!(f, "   {name} {line}"))?;
            }
        }
        writeln!(f, "{} classes, {} statements of known ones", self.seen.len(), self.expected)
    }
}

/// Classes that are known: a line `pattern | reason` each, where the pattern is a part of the class
/// or, after `sql:`, of the statement. `*` stands for any text.
pub(super) struct Known(Vec<String>);

impl Known {
    pub(super) fn read() -> Known {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated/known.txt");
        let text = std::fs::read_to_string(path).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Known(lines.map(|line| line.rsplit_once(" | ").unwrap().0.to_owned()).collect())
    }

    fn has(&self, class: &str, sql: &str) -> bool {
        self.0.iter().any(|pattern| match pattern.strip_prefix("sql:") {
            Some(pattern) => holds(sql, pattern),
            None => holds(class, pattern),
        })
    }
}

/// Whether the text has the pattern's pieces in their order.
fn holds(text: &str, pattern: &str) -> bool {
    let mut rest = text;
    pattern.split('*').all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}
