//! A statement of a C program: its parameters, its results, and the values of its present row.

use crate::handles::LastCall;
use inia::{
    ColumnKind, Fetch, Result, Results, SharedConnection, SharedStatement, Value, ValueRef,
};
use parking_lot::Mutex;
use std::ffi::CString;
use std::sync::Arc;

/// What runs.
pub(crate) enum Work {
    Prepared(SharedStatement),
    Text(String),
}

/// A step's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Row,
    Done,
}

/// A statement.
pub(crate) struct StatementState {
    connection: SharedConnection,
    pub(crate) last: Arc<Mutex<LastCall>>,
    work: Work,
    params: Vec<Value>,
    streams: bool,
    /// None until it runs.
    results: Option<Results>,
    on_row: bool,
    names: Vec<CString>,
    /// Texts that were made of the present row's values that are no texts, by column.
    texts: Vec<Option<CString>>,
}

impl StatementState {
    pub(crate) fn new(
        connection: SharedConnection,
        last: Arc<Mutex<LastCall>>,
        work: Work,
    ) -> StatementState {
        let count = match &work {
            Work::Prepared(statement) => statement.param_count(),
            Work::Text(_) => 0,
        };
        StatementState {
            connection,
            last,
            work,
            params: vec![Value::Null; count],
            streams: false,
            results: None,
            on_row: false,
            names: Vec::new(),
            texts: Vec::new(),
        }
    }

    pub(crate) fn param_count(&self) -> usize {
        self.params.len()
    }

    /// Sets a parameter; false where there is none at this position.
    pub(crate) fn bind(&mut self, position: usize, value: Value) -> bool {
        match self.params.get_mut(position) {
            Some(param) => {
                *param = value;
                true
            }
            None => false,
        }
    }

    pub(crate) fn set_streaming(&mut self, on: bool) {
        self.streams = on;
    }

    pub(crate) fn reset(&mut self) {
        self.results = None;
        self.on_row = false;
    }

    pub(crate) fn step(&mut self) -> Result<Step> {
        self.on_row = false;
        self.texts.clear();
        if self.results.is_none() {
            self.run()?;
        }
        let Some(results) = &mut self.results else { return Ok(Step::Done) };
        self.on_row = results.next_row()?.is_some();
        if self.on_row {
            return Ok(Step::Row);
        }
        self.note_end();
        Ok(Step::Done)
    }

    fn run(&mut self) -> Result<()> {
        let fetch = if self.streams { Fetch::Streamed } else { Fetch::Held };
        let results = match &self.work {
            Work::Prepared(statement) => statement.run(&self.params, fetch)?,
            Work::Text(text) => self.connection.run(text, (), fetch)?,
        };
        self.results = Some(results);
        self.begin_result();
        Ok(())
    }

    /// Goes to the next result; false where there is none.
    pub(crate) fn next_result(&mut self) -> Result<bool> {
        self.on_row = false;
        if self.results.is_none() {
            self.run()?;
        }
        let Some(results) = &mut self.results else { return Ok(false) };
        if !results.next_result()? {
            return Ok(false);
        }
        self.begin_result();
        Ok(true)
    }

    fn begin_result(&mut self) {
        let columns = self.results.as_ref().map(Results::columns).unwrap_or_default();
        self.names.clear();
        self.names.extend(columns.iter().map(|column| c_string(column.name())));
        self.texts.clear();
        self.note_end();
    }

    /// Notes what the statement did, once it has ended.
    fn note_end(&self) {
        if let Some(outcome) = self.results.as_ref().and_then(Results::outcome) {
            let mut last = self.last.lock();
            last.affected_rows = outcome.affected_rows;
            last.last_insert_id = outcome.last_insert_id;
            last.warnings = outcome.warnings;
        }
    }

    pub(crate) fn column_count(&self) -> usize {
        self.results.as_ref().map_or(0, |results| results.columns().len())
    }

    pub(crate) fn column_name(&self, column: usize) -> Option<&CString> {
        self.names.get(column)
    }

    pub(crate) fn column_type(&self, column: usize) -> Option<i32> {
        let column = self.results.as_ref()?.columns().get(column)?;
        Some(match column.kind() {
            ColumnKind::Null => NULL,
            ColumnKind::Integer if column.is_unsigned() => UINT64,
            ColumnKind::Integer => INT64,
            ColumnKind::Bit => UINT64,
            ColumnKind::Decimal => DECIMAL,
            ColumnKind::Double => DOUBLE,
            ColumnKind::Bytes => BLOB,
            ColumnKind::Date => DATE,
            ColumnKind::Time => TIME,
            ColumnKind::DateTime => DATETIME,
            ColumnKind::Json => JSON,
            _ => TEXT,
        })
    }

    /// A value of the present row; `None` where there is no such value.
    #[inline]
    pub(crate) fn value(&self, column: usize) -> Option<ValueRef<'_>> {
        let results = self.results.as_ref().filter(|_| self.on_row)?;
        results.row()?.value(column).ok()
    }

    /// The bytes of a value as a text with a zero behind it; `None` for NULL.
    pub(crate) fn text(&mut self, column: usize) -> Option<&[u8]> {
        let made = match self.value(column)? {
            ValueRef::Null => return None,
            value => plain_text(value),
        };
        let Some(text) = made else {
            return self.results.as_ref()?.row()?.terminated(column);
        };
        if self.texts.len() <= column {
            self.texts.resize(column + 1, None);
        }
        let text = self.texts[column].get_or_insert_with(|| c_string(&text));
        Some(text.as_bytes_with_nul())
    }
}

pub(crate) const NULL: i32 = 0;
pub(crate) const INT64: i32 = 1;
pub(crate) const UINT64: i32 = 2;
pub(crate) const DOUBLE: i32 = 3;
pub(crate) const DECIMAL: i32 = 4;
pub(crate) const TEXT: i32 = 5;
pub(crate) const BLOB: i32 = 6;
pub(crate) const JSON: i32 = 7;
pub(crate) const DATE: i32 = 8;
pub(crate) const TIME: i32 = 9;
pub(crate) const DATETIME: i32 = 10;

/// The type of a value.
pub(crate) fn type_of(value: ValueRef<'_>) -> i32 {
    match value {
        ValueRef::Null => NULL,
        ValueRef::Int(_) => INT64,
        ValueRef::UInt(_) => UINT64,
        ValueRef::Double(_) => DOUBLE,
        ValueRef::Decimal(_) => DECIMAL,
        ValueRef::Bytes(_) => BLOB,
        ValueRef::Json(_) => JSON,
        ValueRef::Date(_) => DATE,
        ValueRef::Time(..) => TIME,
        ValueRef::DateTime(..) => DATETIME,
        _ => TEXT,
    }
}

/// The text of a value that is not stored as one.
fn plain_text(value: ValueRef<'_>) -> Option<String> {
    Some(match value {
        ValueRef::Int(number) => number.to_string(),
        ValueRef::UInt(number) => number.to_string(),
        ValueRef::Double(number) => number.to_string(),
        ValueRef::Time(time, digits) => time.text(digits),
        ValueRef::DateTime(moment, digits) => moment.text(digits),
        ValueRef::Date(date) => format!("{:04}-{:02}-{:02}", date.year, date.month, date.day),
        _ => return None,
    })
}

/// The number that a value is, or that a text begins with.
pub(crate) fn double(value: ValueRef<'_>) -> f64 {
    match value {
        ValueRef::Int(number) => number as f64,
        ValueRef::UInt(number) => number as f64,
        ValueRef::Double(number) => number,
        ValueRef::Decimal(text) | ValueRef::Text(text) => number_prefix(text),
        _ => 0.0,
    }
}

/// As [`double`], as an integer from `i64::MIN` to `u64::MAX`.
pub(crate) fn integer(value: ValueRef<'_>) -> i128 {
    match value {
        ValueRef::Int(number) => i128::from(number),
        ValueRef::UInt(number) => i128::from(number),
        ValueRef::Double(number) => number as i128,
        ValueRef::Decimal(text) | ValueRef::Text(text) => {
            let text = text.trim_start();
            let signs = usize::from(text.starts_with(['-', '+']));
            let digits = text[signs..].bytes().take_while(u8::is_ascii_digit).count();
            let is_whole = !text[signs + digits..].starts_with(['.', 'e', 'E']);
            match text[..signs + digits].parse() {
                Ok(number) if is_whole => number,
                _ => number_prefix(text) as i128,
            }
        }
        _ => 0,
    }
}

/// The longest beginning of a text that is a number; 0 where there is none.
fn number_prefix(text: &str) -> f64 {
    let text = text.trim_start();
    let fits = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let mut end = text.bytes().take_while(|byte| fits(*byte)).count();
    while end > 0 {
        if let Ok(number) = text[..end].parse() {
            return number;
        }
        end -= 1;
    }
    0.0
}

/// A text for C, up to a zero byte in it.
pub(crate) fn c_string(text: &str) -> CString {
    let end = text.bytes().position(|byte| byte == 0).unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_numbers_convert_within_limits() {
        assert_eq!(integer(ValueRef::Text(" 12abc")), 12);
        assert_eq!(integer(ValueRef::Text("-1.9")), -1);
        assert_eq!(integer(ValueRef::Decimal("18446744073709551615")), u64::MAX.into());
        assert_eq!(integer(ValueRef::Text("1e3x")), 1000);
        assert_eq!(integer(ValueRef::Text("abc")), 0);
        assert_eq!(double(ValueRef::Text("1.5e1e")), 15.0);
        assert_eq!(double(ValueRef::Text("-")), 0.0);
        assert_eq!(integer(ValueRef::Double(f64::INFINITY)), i128::MAX);
    }
}
