//! Reads scripts and recorded answers.

use std::path::Path;

/// The account that scripts begin with.
pub(super) const ROOT: &str = "root";

/// One statement of a script.
pub(super) struct Statement {
    /// The statement without its semicolon.
    pub(super) text: String,
    /// Line of its first word, from 1.
    pub(super) line: usize,
    /// Why Inia's answer differs on purpose.
    pub(super) differs: Option<String>,
    /// The account whose connection it is for.
    pub(super) account: String,
    /// Whether all metadata of its columns is compared.
    pub(super) in_full: bool,
    /// Whether its rows are compared.
    pub(super) rows: bool,
}

impl Statement {
    /// A statement of root that is no part of a script.
    pub(super) fn whole(text: &str) -> Statement {
        let (text, account) = (text.to_owned(), ROOT.to_owned());
        Statement { text, line: 0, differs: None, account, in_full: false, rows: true }
    }

    /// Whether the order of rows is part of the answer.
    pub(super) fn ordered(&self) -> bool {
        let upper = self.text.to_uppercase();
        !upper.starts_with("SELECT") && !upper.starts_with('(') && !upper.starts_with("WITH")
            || upper.contains("ORDER BY")
    }

    /// Whether the statement itself is about warnings, so that asking for them would disturb.
    pub(super) fn shows_warnings(&self) -> bool {
        let upper = self.text.to_uppercase();
        upper.starts_with("SHOW WARNINGS") || upper.starts_with("SHOW ERRORS")
    }
}

/// Reads a script.
pub(super) fn read(path: &Path) -> Vec<Statement> {
    let text = std::fs::read_to_string(path).unwrap();
    let in_full = path.parent().is_some_and(|folder| folder.ends_with("metadata"));
    let mut statements = Vec::new();
    let mut differs = None;
    let mut account = String::from(ROOT);
    let mut current = String::new();
    let mut end = ";";
    let mut first_line = 0;
    let mut rows = true;
    for (number, line) in text.lines().enumerate() {
        if current.is_empty() {
            if let Some(reason) = line.strip_prefix("-- differs: ") {
                differs = Some(reason.trim().to_owned());
                continue;
            }
            if let Some(name) = line.strip_prefix("-- as: ") {
                name.trim().clone_into(&mut account);
                continue;
            }
            if let "-- rows: compared" | "-- rows: not compared" = line {
                rows = line == "-- rows: compared";
                continue;
            }
            if line == "-- body" {
                end = ";;";
                continue;
            }
            if line.trim().is_empty() || line.starts_with("-- ") {
                continue;
            }
            first_line = number + 1;
        } else {
            current.push('\n');
        }
        current.push_str(line);
        if let Some(statement) = current.trim_end().strip_suffix(end) {
            end = ";";
            statements.push(Statement {
                text: statement.to_owned(),
                line: first_line,
                differs: differs.take(),
                account: account.clone(),
                in_full,
                rows,
            });
            current.clear();
        }
    }
    assert!(current.is_empty(), "{}: the last statement has no semicolon", path.display());
    statements
}

/// The recorded (statement, answer) pairs.
pub(super) fn answers(text: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if let Some(statement) = line.strip_prefix("> ") {
            pairs.push((statement.to_owned(), String::new()));
        } else if let Some((_, answer)) = pairs.last_mut() {
            answer.push_str(line);
            answer.push('\n');
        }
    }
    pairs
}
