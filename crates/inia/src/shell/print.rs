//! Rows as text while they are received: a drawn table, tab-separated lines, or one column a line.
//!
//! A table's columns are as wide as its first rows need; a later cell that is wider moves the
//! rest of its line.

use inia_base::value::Value;
use inia_wire::column::ColumnDef;
use std::io::{self, Write};

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

/// A table's widths are decided by so many rows, or by so many bytes of them.
pub(super) const FIRST_ROWS: usize = 1000;
const FIRST_BYTES: usize = 1 << 20;

/// Prints one result.
pub(super) struct Printer<'a> {
    out: &'a mut dyn Write,
    layout: Layout,
    columns: &'a [ColumnDef],
    /// Rows so far.
    rows: u64,
    /// A table's first rows, and their bytes.
    first: Vec<Vec<String>>,
    first_bytes: usize,
    /// Widths of columns; none before they are decided.
    widths: Vec<usize>,
}

impl<'a> Printer<'a> {
    /// Begins a result.
    pub(super) fn new(
        out: &'a mut dyn Write,
        layout: Layout,
        columns: &'a [ColumnDef],
    ) -> io::Result<Printer<'a>> {
        if layout == Layout::Tabs {
            put_tabs(out, columns.iter().map(|column| escape(&column.name)))?;
        }
        let (first, widths) = (Vec::new(), Vec::new());
        Ok(Printer { out, layout, columns, rows: 0, first, first_bytes: 0, widths })
    }

    /// Prints a row, now or with others.
    pub(super) fn row(&mut self, row: &[Value]) -> io::Result<()> {
        self.rows += 1;
        match self.layout {
            Layout::Tabs => put_tabs(self.out, row.iter().map(|value| escape(&text(value)))),
            Layout::Vertical => self.vertical(row),
            Layout::Table => {
                let cells: Vec<String> = row.iter().map(text).collect();
                if !self.widths.is_empty() {
                    return self.line(&cells);
                }
                self.first_bytes += cells.iter().map(String::len).sum::<usize>();
                self.first.push(cells);
                if self.first.len() == FIRST_ROWS || self.first_bytes > FIRST_BYTES {
                    self.open_table()?;
                }
                Ok(())
            }
        }
    }

    /// Ends the result; returns the number of rows.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        if self.layout == Layout::Table && self.rows > 0 {
            if self.widths.is_empty() {
                self.open_table()?;
            }
            self.rule()?;
        }
        Ok(self.rows)
    }

    /// Decides the widths and prints what has waited for them.
    fn open_table(&mut self) -> io::Result<()> {
        let width = |i: usize| {
            let cells = self.first.iter().filter_map(|row| row.get(i));
            let longest = cells.map(|cell| cell.chars().count()).max();
            longest.unwrap_or(0).max(self.columns[i].name.chars().count())
        };
        self.widths = (0..self.columns.len()).map(width).collect();
        self.rule()?;
        let names = self.columns.iter().map(|column| column.name.as_str());
        put_row(self.out, names, &self.widths, |_| false)?;
        self.rule()?;
        for cells in std::mem::take(&mut self.first) {
            self.line(&cells)?;
        }
        Ok(())
    }

    fn rule(&mut self) -> io::Result<()> {
        let dashes = self.widths.iter().map(|width| "-".repeat(width + 2) + "+");
        writeln!(self.out, "+{}", dashes.collect::<String>())
    }

    fn line(&mut self, cells: &[String]) -> io::Result<()> {
        put_row(self.out, cells.iter().map(String::as_str), &self.widths, |i| {
            is_number(self.columns[i].type_code)
        })
    }

    fn vertical(&mut self, row: &[Value]) -> io::Result<()> {
        let names = || self.columns.iter().map(|column| column.name.as_str());
        let width = names().map(|name| name.chars().count()).max().unwrap_or(0);
        let stars = "*".repeat(27);
        writeln!(self.out, "{stars} {}. row {stars}", self.rows)?;
        for (name, value) in names().zip(row) {
            writeln!(self.out, "{name:>width$}: {}", text(value))?;
        }
        Ok(())
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

fn put_row<'a>(
    out: &mut dyn Write,
    cells: impl Iterator<Item = &'a str>,
    widths: &[usize],
    right: impl Fn(usize) -> bool,
) -> io::Result<()> {
    out.write_all(b"|")?;
    for (i, (cell, width)) in cells.zip(widths).enumerate() {
        let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
        let (before, after) =
            if right(i) { (padding.as_str(), "") } else { ("", padding.as_str()) };
        write!(out, " {before}{cell}{after} |")?;
    }
    out.write_all(b"\n")
}

fn put_tabs(out: &mut dyn Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.write_all(b"\t")?;
        }
        out.write_all(cell.as_bytes())?;
    }
    out.write_all(b"\n")
}

fn escape(cell: &str) -> String {
    cell.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\0', "\\0")
}
