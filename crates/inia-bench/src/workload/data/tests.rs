//! The same rows, as the rest of an INSERT and as COPY wants them.

use super::Rows;
use crate::target::{BulkFormat, Dialect};

fn sample(dialect: Dialect, format: BulkFormat) -> String {
    let mut rows = Rows::new(dialect, format);
    rows.put(1).put("it's\ta \\").null().end();
    rows.put(2).put("b").put(0.5).end();
    assert_eq!(rows.count(), 2);
    rows.text().to_owned()
}

#[test]
fn rows_become_literals() {
    assert_eq!(sample(Dialect::MySql, BulkFormat::Values), "(1,'it''s\ta \\\\',NULL),(2,'b',0.5)");
}

#[test]
fn rows_become_lines_for_copy() {
    assert_eq!(sample(Dialect::Postgres, BulkFormat::Copy), "1\tit's\\ta \\\\\t\\N\n2\tb\t0.5\n");
}
