//! What a workload's client holds: a connection, its statements, and the last answer.
//!
//! A statement is written once, with `?` for its parameters, and runs prepared or as text with
//! the parameters written into it, as the run demands.

use crate::target::{
    Answer, Connection, Dialect, Failure, Param, Prepared, Result, Stopper, Target,
};
use std::fmt::Write;
use std::sync::Arc;

/// A statement of one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement(usize);

enum Form {
    Prepared(Prepared),
    /// The text around the parameters.
    Text(Vec<String>),
}

/// One client's end. It connects at its first statement.
pub struct Session {
    target: Arc<dyn Target>,
    connection: Option<Box<dyn Connection>>,
    prepared: bool,
    statements: Vec<Form>,
    answer: Answer,
    text: String,
    requests: u64,
}

impl Session {
    /// A session that has not connected yet.
    pub fn new(target: Arc<dyn Target>, prepared: bool) -> Session {
        Session {
            target,
            connection: None,
            prepared,
            statements: Vec::new(),
            answer: Answer::new(),
            text: String::new(),
            requests: 0,
        }
    }

    /// The SQL its target speaks.
    pub fn dialect(&self) -> Dialect {
        self.target.dialect()
    }

    /// Requests sent so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// What the last statement answered.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Makes sure that the session is connected.
    pub fn connect(&mut self) -> Result<()> {
        if self.connection.is_none() {
            self.connection = Some(self.target.connect()?);
        }
        Ok(())
    }

    /// What stops its statements from another thread, where that can be done.
    pub fn stopper(&mut self) -> Result<Option<Box<dyn Stopper>>> {
        self.connect()?;
        connected(&mut self.connection)?.stopper()
    }

    /// Gives up its connection and all statements; the next statement connects again.
    pub fn disconnect(&mut self) {
        self.connection = None;
        self.statements.clear();
    }

    /// Makes a statement with `?` for its parameters, whatever the dialect.
    pub fn statement(&mut self, sql: &str) -> Result<Statement> {
        let pieces = split_parameters(sql);
        let form = if self.prepared {
            let text = match self.target.dialect() {
                Dialect::Postgres => number_parameters(&pieces),
                Dialect::MySql | Dialect::Sqlite | Dialect::DuckDb => sql.to_owned(),
            };
            self.connect()?;
            let connection = connected(&mut self.connection)?;
            Form::Prepared(connection.prepare(&text).map_err(|failure| failure.during(sql))?)
        } else {
            Form::Text(pieces)
        };
        self.statements.push(form);
        Ok(Statement(self.statements.len() - 1))
    }

    /// Runs a statement with these parameters.
    pub fn run(&mut self, statement: Statement, params: &[Param<'_>]) -> Result<&Answer> {
        self.requests += 1;
        let form = self.statements.get(statement.0);
        let form = form.ok_or_else(|| Failure::wrong("a statement of another session"))?;
        let answer = &mut self.answer;
        match form {
            Form::Prepared(prepared) => {
                connected(&mut self.connection)?.execute(*prepared, params, answer)?;
            }
            Form::Text(pieces) => {
                self.text.clear();
                write_statement(&mut self.text, pieces, params, self.target.dialect());
                self.connect()?;
                connected(&mut self.connection)?.query(&self.text, &mut self.answer)?;
            }
        }
        Ok(&self.answer)
    }

    /// Runs a text without parameters.
    pub fn query(&mut self, sql: &str) -> Result<&Answer> {
        self.requests += 1;
        self.connect()?;
        connected(&mut self.connection)?.query(sql, &mut self.answer)?;
        Ok(&self.answer)
    }

    /// Runs a query whose answer is one integer.
    pub fn integer(&mut self, sql: &str) -> Result<i64> {
        let answer = self.query(sql)?;
        let value = if answer.rows() == 1 { answer.int(0, 0) } else { None };
        value.ok_or_else(|| Failure::wrong(format!("{sql}: not one integer")))
    }

    /// Runs queries whose answers are integers, and must be these.
    pub fn expect(&mut self, answers: &[(&str, i64)]) -> Result<()> {
        for &(query, expected) in answers {
            let found = self.integer(query)?;
            if found != expected {
                return Err(Failure::wrong(format!("{query}: {found}, not {expected}")));
            }
        }
        Ok(())
    }

    /// Starts a transaction.
    pub fn begin(&mut self) -> Result<()> {
        self.requests += 1;
        self.connect()?;
        connected(&mut self.connection)?.begin(&mut self.answer)
    }

    /// Commits.
    pub fn commit(&mut self) -> Result<()> {
        self.requests += 1;
        connected(&mut self.connection)?.commit(&mut self.answer)
    }

    /// Rolls back; without a connection there is nothing to do.
    pub fn rollback(&mut self) -> Result<()> {
        match &mut self.connection {
            Some(connection) => connection.rollback(&mut self.answer),
            None => Ok(()),
        }
    }

    /// The connection itself, for loading.
    pub fn raw(&mut self) -> Result<(&mut dyn Connection, &mut Answer)> {
        self.connect()?;
        Ok((connected(&mut self.connection)?, &mut self.answer))
    }
}

fn connected(connection: &mut Option<Box<dyn Connection>>) -> Result<&mut dyn Connection> {
    match connection {
        Some(connection) => Ok(connection.as_mut()),
        None => Err(Failure::wrong("a statement before the connection")),
    }
}

/// The text before, between and after the `?` outside quotes.
fn split_parameters(sql: &str) -> Vec<String> {
    let (mut pieces, mut piece, mut quote) = (Vec::new(), String::new(), None);
    for letter in sql.chars() {
        match (quote, letter) {
            (None, '?') => {
                pieces.push(std::mem::take(&mut piece));
                continue;
            }
            (None, '\'' | '"' | '`') => quote = Some(letter),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
        piece.push(letter);
    }
    pieces.push(piece);
    pieces
}

fn number_parameters(pieces: &[String]) -> String {
    let mut out = String::new();
    for (i, piece) in pieces.iter().enumerate() {
        if i > 0 {
            let _ = write!(out, "${i}");
        }
        out.push_str(piece);
    }
    out
}

fn write_statement(out: &mut String, pieces: &[String], params: &[Param<'_>], dialect: Dialect) {
    for (i, piece) in pieces.iter().enumerate() {
        if let Some(param) = i.checked_sub(1).and_then(|i| params.get(i)) {
            write_literal(out, *param, dialect);
        }
        out.push_str(piece);
    }
}

/// Appends a value as SQL.
pub fn write_literal(out: &mut String, param: Param<'_>, dialect: Dialect) {
    match param {
        Param::Null => out.push_str("NULL"),
        Param::Int(value) => write_int(out, value),
        Param::Double(value) => {
            let _ = write!(out, "{value:?}");
        }
        Param::Text(text) => {
            out.push('\'');
            for piece in text.split_inclusive(['\'', '\\']) {
                let (head, last) = piece.split_at(piece.len() - usize::from(ends_special(piece)));
                out.push_str(head);
                match last {
                    "'" => out.push_str("''"),
                    "\\" if dialect == Dialect::MySql => out.push_str("\\\\"),
                    other => out.push_str(other),
                }
            }
            out.push('\'');
        }
    }
}

fn ends_special(piece: &str) -> bool {
    piece.ends_with(['\'', '\\'])
}

/// Appends a decimal number, without the formatting machinery.
fn write_int(out: &mut String, value: i64) {
    let (mut digits, mut at, mut rest) = ([0u8; 20], 20, value.unsigned_abs());
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push('-');
    }
    out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

#[cfg(test)]
mod tests;
