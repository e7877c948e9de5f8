//! COM_FIELD_LIST: the columns of a table whose names are like a pattern.

use super::{Outcome, Worker};
use inia_base::column::{Completion, ResultColumn, RowSink};
use inia_base::error::SqlError;
use inia_base::temporal::{Date, DateTime, Time};
use inia_wire::WireError;
use inia_wire::column::put_column;
use inia_wire::error::ServerError;

impl Worker {
    /// The columns of a table, each with its default value (always NULL here).
    pub(super) fn field_list(&mut self, table: &[u8], pattern: &[u8]) -> Outcome {
        let (table, pattern) = (text(table)?, text(pattern)?);
        if table.is_empty() {
            return Err(ServerError::new(1103, "42000", "Incorrect table name ''"));
        }
        if table.chars().count() > 64 {
            let text = format!("Identifier name '{table:.100}' is too long");
            return Err(ServerError::new(1059, "42000", text));
        }
        let sql = format!("SELECT * FROM `{}` LIMIT 0", table.replace('`', "``"));
        let mut columns = ColumnsOnly::default();
        let result = self.session.execute(sql.as_bytes(), &mut columns);
        result.map_err(|error| ServerError::from(&error))?;
        let collation = self.session.result_collation();
        for column in &columns.columns {
            if pattern.is_empty() || like(&column.name, pattern) {
                let out = self.out.begin();
                put_column(out, column, collation);
                out.push(0xfb);
                self.out.end();
            }
        }
        self.put_end(&Completion::default());
        Ok(())
    }
}

/// A request's text, which must be UTF-8.
fn text(bytes: &[u8]) -> Result<&str, ServerError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let bad = &bytes[error.valid_up_to()..];
        let mut part = String::new();
        for &byte in bad.iter().take(6) {
            match byte {
                0x20..=0x7e => part.push(char::from(byte)),
                _ => part.push_str(&format!("\\x{byte:02X}")),
            }
        }
        WireError::InvalidText(part).server_error()
    })
}

/// SQL's LIKE without an escape character, ignoring ASCII case.
fn like(name: &str, pattern: &str) -> bool {
    fn matches(name: &[u8], pattern: &[u8]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some((b'%', rest)) => (0..=name.len()).any(|skip| matches(&name[skip..], rest)),
            Some((&wanted, rest)) => match name.split_first() {
                Some((&got, tail)) => {
                    (wanted == b'_' || wanted.eq_ignore_ascii_case(&got)) && matches(tail, rest)
                }
                None => false,
            },
        }
    }
    // Names have at most 64 characters; a longer pattern of wildcards would only cost time.
    let simple = pattern.bytes().filter(|&b| b == b'%').count() <= 4;
    simple && matches(name.as_bytes(), pattern.as_bytes())
}

/// Keeps a result's columns and drops its rows.
#[derive(Default)]
struct ColumnsOnly {
    columns: Vec<ResultColumn>,
}

impl RowSink for ColumnsOnly {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), SqlError> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn begin_row(&mut self) {}
    fn null(&mut self) {}
    fn int(&mut self, _: i64) {}
    fn uint(&mut self, _: u64) {}
    fn float(&mut self, _: f32) {}
    fn double(&mut self, _: f64) {}
    fn bytes(&mut self, _: &[u8]) {}
    fn date(&mut self, _: Date) {}
    fn time(&mut self, _: Time, _: u8) {}
    fn datetime(&mut self, _: DateTime, _: u8) {}

    fn end_row(&mut self) -> Result<(), SqlError> {
        Ok(())
    }

    fn complete(&mut self, _: &Completion, _: bool) -> Result<(), SqlError> {
        Ok(())
    }
}
