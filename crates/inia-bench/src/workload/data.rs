//! Data sets: tables, and a function per table that makes its rows.
//!
//! Each row comes from a generator of its own (the data set's seed and the row's number), so rows
//! can be made in any order and by many threads, and are the same on every target.

use crate::random::Rng;
use crate::session::write_literal;
use crate::target::{BulkFormat, Dialect, Param};
use std::fmt::{Display, Write};
use std::sync::Arc;

/// Makes the row (or rows) of one number, from 0.
pub type Fill = Arc<dyn Fn(u64, &mut Rng, &mut Rows) + Send + Sync>;

/// Tables that belong together.
#[derive(Clone)]
pub struct DataSet {
    /// Its name: data sets of different names never share a table.
    pub name: &'static str,
    /// Statements that each connection which makes or loads tables runs first.
    pub prelude: Vec<String>,
    /// The tables, in the order they are made and loaded.
    pub tables: Vec<Table>,
    /// Statements to run when all rows are there.
    pub finish: Vec<String>,
    /// Other data sets that have tables of the same names: loading this one removes them.
    pub displaces: &'static [&'static str],
    /// Of the rows' generators.
    pub seed: u64,
}

impl DataSet {
    /// These tables and nothing else.
    pub fn new(name: &'static str, seed: u64, tables: Vec<Table>) -> DataSet {
        DataSet { name, prelude: Vec::new(), tables, finish: Vec::new(), displaces: &[], seed }
    }
}

/// One table.
#[derive(Clone)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// CREATE TABLE in the target's dialect.
    pub create: String,
    /// The columns that `fill` gives, as they stand between parentheses.
    pub columns: &'static str,
    /// How often `fill` is called.
    pub rows: u64,
    /// Rows that a call of `fill` makes, about.
    pub rows_per_call: u64,
    /// Makes the rows; each call ends every row with [`Rows::end`].
    pub fill: Fill,
    /// CREATE INDEX statements, run when the rows are in.
    pub indexes: Vec<String>,
}

impl Table {
    /// A table that starts empty.
    pub fn empty(name: impl Into<String>, create: impl Into<String>) -> Table {
        Table {
            name: name.into(),
            create: create.into(),
            columns: "",
            rows: 0,
            rows_per_call: 1,
            fill: Arc::new(|_, _, _| {}),
            indexes: Vec::new(),
        }
    }

    /// A table of these columns, with `rows` rows that give values to `given`.
    pub fn filled(
        name: &str,
        columns: &str,
        given: &'static str,
        rows: u64,
        fill: impl Fn(u64, &mut Rng, &mut Rows) + Send + Sync + 'static,
    ) -> Table {
        Table {
            name: name.to_owned(),
            create: format!("CREATE TABLE {name} ({columns})"),
            columns: given,
            rows,
            rows_per_call: 1,
            fill: Arc::new(fill),
            indexes: Vec::new(),
        }
    }
}

/// Rows on their way into a table, cell by cell.
pub struct Rows {
    out: String,
    dialect: Dialect,
    format: BulkFormat,
    in_row: bool,
    rows: u64,
    /// For [`Rows::show`].
    scratch: String,
}

impl Rows {
    /// No rows yet.
    pub fn new(dialect: Dialect, format: BulkFormat) -> Rows {
        let (out, scratch) = (String::new(), String::new());
        Rows { out, dialect, format, in_row: false, rows: 0, scratch }
    }

    /// Adds a cell to the row.
    pub fn put<'a>(&mut self, value: impl Into<Param<'a>>) -> &mut Rows {
        self.separate();
        match (self.format, value.into()) {
            (BulkFormat::Values, value) => write_literal(&mut self.out, value, self.dialect),
            (BulkFormat::Copy, Param::Null) => self.out.push_str("\\N"),
            (BulkFormat::Copy, Param::Text(text)) => copy_text(&mut self.out, text),
            (BulkFormat::Copy, value) => write_literal(&mut self.out, value, self.dialect),
        }
        self
    }

    /// Adds a value that is written as text, such as a decimal or a date.
    pub fn show(&mut self, value: impl Display) -> &mut Rows {
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        // Writing to a string cannot fail.
        let _ = write!(text, "{value}");
        self.put(&text);
        self.scratch = text;
        self
    }

    /// Adds NULL to the row.
    pub fn null(&mut self) -> &mut Rows {
        self.put(Param::Null)
    }

    fn separate(&mut self) {
        let first = !std::mem::replace(&mut self.in_row, true);
        match (self.format, first) {
            (BulkFormat::Values, true) if self.rows > 0 => self.out.push_str(",("),
            (BulkFormat::Values, true) => self.out.push('('),
            (BulkFormat::Values, false) => self.out.push(','),
            (BulkFormat::Copy, true) => {}
            (BulkFormat::Copy, false) => self.out.push('\t'),
        }
    }

    /// Ends the row.
    pub fn end(&mut self) {
        self.in_row = false;
        self.rows += 1;
        self.out.push(if self.format == BulkFormat::Copy { '\n' } else { ')' });
    }

    /// Number of rows collected.
    pub fn count(&self) -> u64 {
        self.rows
    }

    /// What was collected.
    pub fn text(&self) -> &str {
        &self.out
    }

    /// Starts anew.
    pub fn clear(&mut self) {
        self.out.clear();
        self.rows = 0;
    }
}

fn copy_text(out: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests;
