//! `table_io_waits_summary_by_…`: rows read and written, by table and by index. No times are taken.

use crate::catalog::{IndexIo, Table};
use crate::information_schema::tables::visible;
use crate::information_schema::{Information, Rows, or_null};
use crate::observe::SUMS;
use inia_base::value::Value;

/// Tables whose counts are shown.
fn counted<'i>(info: &'i Information<'_>) -> impl Iterator<Item = &'i Table> {
    let sums = info.db.observer.wants() & SUMS != 0;
    visible(info).filter(move |table| sums && !table.def.temporary).map(|table| &**table)
}

fn push(rows: &mut Rows, table: &Table, index: Option<Value>, io: IndexIo) {
    let text = |text: &str| Value::from(text);
    let mut row = vec![text("TABLE"), text(&table.def.schema), text(&table.def.name)];
    row.extend(index);
    let written = io.inserted + io.updated + io.deleted;
    let counts = [
        io.fetched + written,
        io.fetched,
        written,
        io.fetched,
        io.inserted,
        io.updated,
        io.deleted,
    ];
    for count in counts {
        row.push(Value::UInt(count));
        row.extend([0, 0, 0, 0].map(Value::UInt));
    }
    rows.push(row);
}

pub(in super::super) fn by_table(info: &Information<'_>, rows: &mut Rows) {
    for table in counted(info) {
        push(rows, table, None, table.shared.io.whole());
    }
}

pub(in super::super) fn by_index(info: &Information<'_>, rows: &mut Rows) {
    for table in counted(info) {
        for index in &table.def.indexes {
            let name = Value::from(index.name.as_str());
            push(rows, table, Some(name), table.shared.io.of_index(Some(&index.name)));
        }
        let whole = table.shared.io.of_index(None);
        if whole != IndexIo::default() {
            push(rows, table, Some(or_null(None::<&str>)), whole);
        }
    }
}
