//! A result's receiver for tests that ask for no more of the rows than that they can be shown.

use inia_base::column::{Completion, ResultColumn, RowSink};
use inia_base::error::SqlError;
use inia_base::temporal::{Date, DateTime, Time};

/// Counts the rows of all results it is given, and prints each value that has a form of its own.
#[derive(Default)]
pub struct RowCounter {
    rows: u64,
    /// The row under way, printed.
    text: Vec<u8>,
}

impl RowCounter {
    /// How many rows came.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

impl RowSink for RowCounter {
    fn columns(&mut self, _columns: &[ResultColumn]) -> Result<(), SqlError> {
        Ok(())
    }
    fn begin_row(&mut self) {
        self.text.clear();
    }
    fn null(&mut self) {}
    fn int(&mut self, _value: i64) {}
    fn uint(&mut self, _value: u64) {}
    fn float(&mut self, _value: f32) {}
    fn double(&mut self, _value: f64) {}
    fn bytes(&mut self, value: &[u8]) {
        self.text.extend_from_slice(value);
    }
    fn date(&mut self, value: Date) {
        value.write_text(&mut self.text);
    }
    fn time(&mut self, value: Time, fsp: u8) {
        value.write_text(fsp, &mut self.text);
    }
    fn datetime(&mut self, value: DateTime, fsp: u8) {
        value.write_text(fsp, &mut self.text);
    }
    fn end_row(&mut self) -> Result<(), SqlError> {
        self.rows += 1;
        Ok(())
    }
    fn complete(&mut self, _completion: &Completion, _more: bool) -> Result<(), SqlError> {
        Ok(())
    }
}
