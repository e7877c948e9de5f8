//! Result sets as text: a drawn table, tab-separated lines, or one column a line.

use inia_base::value::Value;
use inia_wire::client::ResultSet;

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Boxes of ASCII lines.
    Table,
    /// Tabs between cells, for other programs.
    Tabs,
    /// One column a line.
    Vertical,
}

/// Appends a result's rows.
pub(super) fn rows(out: &mut Vec<u8>, result: &ResultSet, layout: Layout) {
    match layout {
        Layout::Table if result.rows.is_empty() => {}
        Layout::Table => table(out, result),
        Layout::Tabs => tabs(out, result),
        Layout::Vertical => vertical(out, result),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Text(text) | Value::Json(text) => text.clone(),
        Value::Bytes(bytes) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            format!("0x{hex}")
        }
        other => format!("{other:?}"),
    }
}

/// MySQL's numeric type codes, whose cells stand on the right.
fn is_number(type_code: u8) -> bool {
    matches!(type_code, 0..=5 | 8 | 9 | 13 | 246)
}

fn table(out: &mut Vec<u8>, result: &ResultSet) {
    let cells: Vec<Vec<String>> =
        result.rows.iter().map(|row| row.iter().map(text).collect()).collect();
    let width = |i: usize| {
        let longest = cells.iter().filter_map(|row| row.get(i)).map(|c| c.chars().count()).max();
        longest.unwrap_or(0).max(result.columns[i].name.chars().count())
    };
    let widths: Vec<usize> = (0..result.columns.len()).map(width).collect();
    let mut rule = String::from("+");
    for width in &widths {
        rule.push_str(&"-".repeat(width + 2));
        rule.push('+');
    }
    rule.push('\n');
    out.extend_from_slice(rule.as_bytes());
    let names = result.columns.iter().map(|column| column.name.as_str());
    put_row(out, names, &widths, |_| false);
    out.extend_from_slice(rule.as_bytes());
    for row in &cells {
        put_row(out, row.iter().map(String::as_str), &widths, |i| {
            is_number(result.columns[i].type_code)
        });
    }
    out.extend_from_slice(rule.as_bytes());
}

fn put_row<'a>(
    out: &mut Vec<u8>,
    cells: impl Iterator<Item = &'a str>,
    widths: &[usize],
    right: impl Fn(usize) -> bool,
) {
    out.push(b'|');
    for (i, (cell, width)) in cells.zip(widths).enumerate() {
        let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
        let (before, after) =
            if right(i) { (padding.as_str(), "") } else { ("", padding.as_str()) };
        for part in [" ", before, cell, after, " |"] {
            out.extend_from_slice(part.as_bytes());
        }
    }
    out.push(b'\n');
}

fn tabs(out: &mut Vec<u8>, result: &ResultSet) {
    let escape = |cell: &str| {
        cell.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\0', "\\0")
    };
    let mut line = |cells: Vec<String>| {
        out.extend_from_slice(cells.join("\t").as_bytes());
        out.push(b'\n');
    };
    line(result.columns.iter().map(|column| escape(&column.name)).collect());
    for row in &result.rows {
        line(row.iter().map(|value| escape(&text(value))).collect());
    }
}

fn vertical(out: &mut Vec<u8>, result: &ResultSet) {
    let names: Vec<&str> = result.columns.iter().map(|column| column.name.as_str()).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (i, row) in result.rows.iter().enumerate() {
        let stars = "*".repeat(27);
        out.extend_from_slice(format!("{stars} {}. row {stars}\n", i + 1).as_bytes());
        for (name, value) in names.iter().zip(row) {
            out.extend_from_slice(format!("{name:>width$}: {}\n", text(value)).as_bytes());
        }
    }
}
