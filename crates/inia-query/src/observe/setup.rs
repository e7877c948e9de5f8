//! The tables `setup_…` of `performance_schema`, once a statement has changed them.
//!
//! A table is computed until then. The changed rows are kept in memory, as MySQL keeps them.

use super::SUMS;
use inia_base::value::Value;
use parking_lot::Mutex;
use std::collections::HashMap;

/// The consumers that are on or off with the sums over statements.
const OF_STATEMENTS: [&str; 5] = [
    "events_statements_current",
    "events_statements_history",
    "events_transactions_current",
    "events_transactions_history",
    "statements_digest",
];

/// What the enumeration of `ENABLED` has for YES and NO.
const YES: Value = Value::UInt(1);
const NO: Value = Value::UInt(2);

/// Rows of changed tables, by the tables' names.
#[derive(Default)]
pub struct SetupTables {
    changed: Mutex<HashMap<String, Vec<Vec<Value>>>>,
}

impl SetupTables {
    /// The rows of a table; `None` where it has not been changed.
    pub(crate) fn rows(&self, table: &str, wants: u8) -> Option<Vec<Vec<Value>>> {
        let mut rows = self.changed.lock().get(table)?.clone();
        if table == "setup_consumers" {
            let mut own: Vec<&mut Vec<Value>> =
                rows.iter_mut().filter(|row| is_of_statements(row)).collect();
            let noted = wants & SUMS != 0;
            let none = own.iter().all(|row| row[1] != YES);
            // SET GLOBAL turns all of them on or off.
            if !noted || none {
                own.iter_mut().for_each(|row| row[1] = if noted { YES } else { NO });
            }
        }
        Some(rows)
    }

    /// Puts other rows in a table's place.
    pub fn replace(&self, table: &str, rows: Vec<Vec<Value>>) {
        self.changed.lock().insert(table.to_owned(), rows);
    }
}

/// Whether the row is that of a consumer which is on with the sums over statements.
fn is_of_statements(row: &[Value]) -> bool {
    row[0].as_text().is_some_and(|name| OF_STATEMENTS.contains(&name))
}

/// Whether rows of `setup_consumers` have one on that needs the sums over statements.
pub fn want_sums(rows: &[Vec<Value>]) -> bool {
    rows.iter().any(|row| is_of_statements(row) && row[1] == YES)
}
