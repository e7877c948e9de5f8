//! A result's receiver for tests that want to know how many rows came, and no more.

use inia_base::column::{Completion, ResultColumn, RowSink};
use inia_base::error::SqlError;
use inia_base::temporal::{Date, DateTime, Time};

/// Counts the rows of all results it is given.
#[derive(Default)]
pub struct RowCounter(pub u64);

impl RowSink for RowCounter {
    fn columns(&mut self, _columns: &[ResultColumn]) -> Result<(), SqlError> {
        Ok(())
    }
    fn begin_row(&mut self) {}
    fn null(&mut self) {}
    fn int(&mut self, _value: i64) {}
    fn uint(&mut self, _value: u64) {}
    fn float(&mut self, _value: f32) {}
    fn double(&mut self, _value: f64) {}
    fn bytes(&mut self, _value: &[u8]) {}
    fn date(&mut self, _value: Date) {}
    fn time(&mut self, _value: Time, _fsp: u8) {}
    fn datetime(&mut self, _value: DateTime, _fsp: u8) {}
    fn end_row(&mut self) -> Result<(), SqlError> {
        self.0 += 1;
        Ok(())
    }
    fn complete(&mut self, _completion: &Completion, _more: bool) -> Result<(), SqlError> {
        Ok(())
    }
}
