//! Completion of keywords and of the names that the server has.

use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use std::collections::BTreeSet;

/// What the shell knows to begin with; the server adds its own keywords.
const WORDS: &str = "ADD ALL ALTER ANALYZE AND AS ASC BEGIN BETWEEN BY CALL CASCADE CASE CHECK \
    COLLATE COLUMN COMMIT CONSTRAINT CREATE CROSS DATABASE DECLARE DEFAULT DELETE DESC DESCRIBE \
    DISTINCT DROP ELSE END EXISTS EXPLAIN FALSE FOR FOREIGN FROM FUNCTION GRANT GROUP HAVING IF \
    IN INDEX INNER INSERT INTO IS JOIN KEY LEFT LIKE LIMIT NOT NULL OFFSET ON OR ORDER OUTER \
    PRIMARY PROCEDURE REFERENCES REPLACE RETURNING REVOKE RIGHT ROLLBACK SAVEPOINT SELECT SET \
    SHOW START TABLE THEN TO TRANSACTION TRIGGER TRUE TRUNCATE UNION UNIQUE UPDATE USE USING \
    VALUES VIEW WHEN WHERE WITH";

/// Names for completion, each as it is typed.
#[derive(Default)]
pub(super) struct Names {
    pub(super) keywords: BTreeSet<String>,
    pub(super) schemas: BTreeSet<String>,
    /// Tables of the default database, and `table.column` of their columns.
    pub(super) tables: BTreeSet<String>,
    pub(super) columns: BTreeSet<String>,
}

impl Names {
    /// Those that need no server.
    pub(super) fn usual() -> Names {
        let keywords = WORDS.split_whitespace().map(str::to_owned).collect();
        Names { keywords, ..Names::default() }
    }

    /// What a word can become: where it begins in the line, and the candidates.
    pub(super) fn candidates(&self, line: &str) -> (usize, Vec<String>) {
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.');
        let start = line.rfind(|letter| !is_part(letter));
        let start = start.map_or(0, |at| at + line[at..].chars().next().map_or(1, char::len_utf8));
        let word = &line[start..];
        let quoted = line[..start].ends_with('`');
        let lower = word.to_lowercase();
        let begins = |name: &&String| name.to_lowercase().starts_with(&lower);
        let mut found: Vec<String> = match word.contains('.') {
            true => self.columns.iter().filter(begins).cloned().collect(),
            false => {
                let plain = self.columns.iter().filter_map(|name| name.split_once('.'));
                let columns: BTreeSet<String> = plain.map(|(_, name)| name.to_owned()).collect();
                let names = self.schemas.iter().chain(&self.tables).chain(&columns);
                names.filter(begins).cloned().collect()
            }
        };
        if !quoted && !word.is_empty() && !word.contains('.') {
            let small = word.chars().all(|letter| !letter.is_uppercase());
            let keywords = self.keywords.iter().filter(begins);
            found.extend(
                keywords.map(|word| if small { word.to_lowercase() } else { word.clone() }),
            );
        }
        found.sort();
        found.dedup();
        (start, found)
    }
}

/// Completes by the names that it holds.
pub(super) struct Helping {
    pub(super) names: Names,
}

impl Completer for Helping {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.names.candidates(&line[..pos]))
    }
}

impl Hinter for Helping {
    type Hint = String;
}

impl Highlighter for Helping {}
impl Validator for Helping {}
impl Helper for Helping {}
