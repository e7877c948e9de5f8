//! Where the rows of a program's statements go.

use inia_base::column::{CellRun, Completion, ResultColumn, RowSink, TakeBytes};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::{Date, DateTime, Time};

/// Sends result sets of a procedure's statements, each with another to follow. Statements without
/// rows send nothing.
pub(super) struct ProgramSink<'s> {
    pub(super) inner: &'s mut dyn RowSink,
    /// A result set has begun.
    open: bool,
}

impl<'s> ProgramSink<'s> {
    pub(super) fn new(inner: &'s mut dyn RowSink) -> ProgramSink<'s> {
        ProgramSink { inner, open: false }
    }
}

impl RowSink for ProgramSink<'_> {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), SqlError> {
        self.open = true;
        self.inner.columns(columns)
    }

    fn begin_row(&mut self) {
        self.inner.begin_row();
    }

    fn null(&mut self) {
        self.inner.null();
    }

    fn int(&mut self, value: i64) {
        self.inner.int(value);
    }

    fn uint(&mut self, value: u64) {
        self.inner.uint(value);
    }

    fn float(&mut self, value: f32) {
        self.inner.float(value);
    }

    fn double(&mut self, value: f64) {
        self.inner.double(value);
    }

    fn bytes(&mut self, value: &[u8]) {
        self.inner.bytes(value);
    }

    fn date(&mut self, value: Date) {
        self.inner.date(value);
    }

    fn time(&mut self, value: Time, fsp: u8) {
        self.inner.time(value, fsp);
    }

    fn datetime(&mut self, value: DateTime, fsp: u8) {
        self.inner.datetime(value, fsp);
    }

    fn end_row(&mut self) -> Result<(), SqlError> {
        self.inner.end_row()
    }

    fn rows(&mut self, count: usize, columns: &[CellRun<'_>]) -> Result<(), SqlError> {
        self.inner.rows(count, columns)
    }

    fn local_file(&mut self, path: &[u8], take: &mut TakeBytes<'_>) -> Result<(), SqlError> {
        self.inner.local_file(path, take)
    }

    fn complete(&mut self, completion: &Completion, _more: bool) -> Result<(), SqlError> {
        if std::mem::take(&mut self.open) {
            return self.inner.complete(completion, true);
        }
        Ok(())
    }
}

/// For programs inside a statement, which send no rows: error 1415.
pub(super) struct NoRows(pub(super) &'static str);

impl RowSink for NoRows {
    fn columns(&mut self, _columns: &[ResultColumn]) -> Result<(), SqlError> {
        Err(SqlError::new(ErrorCode::SpNoRetset, &[&self.0]))
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
        Ok(())
    }

    fn complete(&mut self, _completion: &Completion, _more: bool) -> Result<(), SqlError> {
        Ok(())
    }
}

/// Where rows go that nobody wants.
pub(super) struct DroppedRows;

impl RowSink for DroppedRows {
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
        Ok(())
    }

    fn complete(&mut self, _completion: &Completion, _more: bool) -> Result<(), SqlError> {
        Ok(())
    }
}
