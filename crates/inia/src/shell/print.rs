//! Rows as text while they are received: a drawn table, tab-separated lines, or one column a line.
//!
//! A table's columns are as wide as its first rows need; a later cell that is wider moves the
//! rest of its line. Widths are those of a terminal: 表 takes two places, a combining accent none.

use inia_base::value::Value;
use inia_wire::column::ColumnDef;
use std::borrow::Cow;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// How rows are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Boxes of ASCII lines.
    Table,
    /// Tabs between cells, for other programs.
    Tabs,
    /// One column a line.
    Vertical,
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) layout: Layout,
    /// With the columns' names.
    pub(super) names: bool,
    /// Tabs and line ends are printed as they are between tabs, too.
    pub(super) raw: bool,
    /// Binary strings are printed as hexadecimal digits.
    pub(super) hex: bool,
    /// A table that is wider than this becomes vertical.
    pub(super) most_columns: Option<usize>,
}

impl Style {
    pub(super) fn new(layout: Layout) -> Style {
        Style { layout, names: true, raw: false, hex: false, most_columns: None }
    }
}

/// A table's widths are decided by so many rows, or by so many bytes of them.
pub(super) const FIRST_ROWS: usize = 1000;
const FIRST_BYTES: usize = 1 << 20;
/// The collation of bytes.
const BINARY: u16 = 63;

/// Prints one result.
pub(super) struct Printer<'a> {
    out: &'a mut dyn Write,
    style: Style,
    columns: &'a [ColumnDef],
    /// Rows so far, and those that are printed.
    rows: u64,
    printed: u64,
    /// A table's first rows, and their bytes.
    first: Vec<Vec<Vec<u8>>>,
    first_bytes: usize,
    /// Widths of columns; none before they are decided.
    widths: Vec<usize>,
}

impl<'a> Printer<'a> {
    /// Begins a result.
    pub(super) fn new(
        out: &'a mut dyn Write,
        style: Style,
        columns: &'a [ColumnDef],
    ) -> io::Result<Printer<'a>> {
        let (first, widths) = (Vec::new(), Vec::new());
        Ok(Printer { out, style, columns, rows: 0, printed: 0, first, first_bytes: 0, widths })
    }

    /// Prints a row, now or with others.
    pub(super) fn row(&mut self, row: &[Value]) -> io::Result<()> {
        self.rows += 1;
        match self.style.layout {
            Layout::Tabs => self.tabs(row),
            Layout::Vertical => {
                let cells = self.cells(row);
                self.vertical(&cells)
            }
            Layout::Table => {
                let cells = self.cells(row);
                if !self.widths.is_empty() {
                    return self.line(&cells);
                }
                self.first_bytes += cells.iter().map(Vec::len).sum::<usize>();
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
        if self.style.layout == Layout::Table && self.rows > 0 {
            if self.widths.is_empty() {
                self.open_table()?;
            }
            if self.style.layout == Layout::Table {
                self.rule()?;
            }
        }
        Ok(self.rows)
    }

    fn cells(&self, row: &[Value]) -> Vec<Vec<u8>> {
        let cell = |(at, value)| self.text(at, value).into_owned();
        row.iter().enumerate().map(cell).collect()
    }

    /// A cell as it is printed.
    fn text<'v>(&self, at: usize, value: &'v Value) -> Cow<'v, [u8]> {
        let Some(bytes) = value.as_bytes() else { return Cow::Borrowed(b"NULL") };
        if !self.style.hex || !self.is_binary(at) {
            return Cow::Borrowed(bytes);
        }
        let mut digits = b"0x".to_vec();
        bytes.iter().for_each(|byte| digits.extend(format!("{byte:02X}").bytes()));
        Cow::Owned(digits)
    }

    fn is_binary(&self, at: usize) -> bool {
        let Some(column) = self.columns.get(at) else { return false };
        // BIT, texts and BLOBs; the server gives numbers and dates the collation, too.
        let is_text = matches!(column.type_code, 15 | 16 | 249..=254);
        is_text && (column.collation == BINARY || column.type_code == 16)
    }

    /// Decides the widths and prints what has waited for them.
    fn open_table(&mut self) -> io::Result<()> {
        let column_width = |i: usize| {
            let cells = self.first.iter().filter_map(|row| row.get(i));
            let longest = cells.map(|cell| width(cell)).max().unwrap_or(0);
            let name = if self.style.names { self.columns[i].name.width() } else { 0 };
            longest.max(name)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(column_width).collect();
        let whole = widths.iter().map(|width| width + 3).sum::<usize>() + 1;
        if self.style.most_columns.is_some_and(|most| whole > most) {
            self.style.layout = Layout::Vertical;
            let first = std::mem::take(&mut self.first);
            return first.iter().try_for_each(|cells| self.vertical(cells));
        }
        self.widths = widths;
        self.rule()?;
        if self.style.names {
            let names = self.columns.iter().map(|column| column.name.as_bytes());
            put_row(self.out, names, &self.widths, |_| false)?;
            self.rule()?;
        }
        for cells in std::mem::take(&mut self.first) {
            self.line(&cells)?;
        }
        Ok(())
    }

    fn rule(&mut self) -> io::Result<()> {
        let dashes = self.widths.iter().map(|width| "-".repeat(width + 2) + "+");
        writeln!(self.out, "+{}", dashes.collect::<String>())
    }

    fn line(&mut self, cells: &[Vec<u8>]) -> io::Result<()> {
        put_row(self.out, cells.iter().map(Vec::as_slice), &self.widths, |i| {
            is_number(self.columns[i].type_code)
        })
    }

    fn vertical(&mut self, cells: &[Vec<u8>]) -> io::Result<()> {
        self.printed += 1;
        let names = || self.columns.iter().map(|column| column.name.as_str());
        let widest = names().map(UnicodeWidthStr::width).max().unwrap_or(0);
        let stars = "*".repeat(27);
        writeln!(self.out, "{stars} {}. row {stars}", self.printed)?;
        for (name, cell) in names().zip(cells) {
            if self.style.names {
                write!(self.out, "{}{name}: ", " ".repeat(widest - name.width()))?;
            }
            self.out.write_all(cell)?;
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn tabs(&mut self, row: &[Value]) -> io::Result<()> {
        // As `mysql` does: a result without rows has no line of names.
        if self.rows == 1 && self.style.names {
            let names = self.columns.iter().map(|column| column.name.as_bytes());
            put_tabs(self.out, names, self.style.raw)?;
        }
        let cells: Vec<_> =
            row.iter().enumerate().map(|(at, value)| self.text(at, value)).collect();
        put_tabs(self.out, cells.iter().map(|cell| &**cell), self.style.raw)
    }
}

/// Places that a text takes on a terminal.
fn width(text: &[u8]) -> usize {
    match std::str::from_utf8(text) {
        Ok(text) => text.width(),
        Err(_) => String::from_utf8_lossy(text).width(),
    }
}

/// MySQL's numeric type codes, whose cells stand on the right.
fn is_number(type_code: u8) -> bool {
    matches!(type_code, 0..=5 | 8 | 9 | 13 | 246)
}

fn put_row<'a>(
    out: &mut dyn Write,
    cells: impl Iterator<Item = &'a [u8]>,
    widths: &[usize],
    right: impl Fn(usize) -> bool,
) -> io::Result<()> {
    out.write_all(b"|")?;
    for (i, (cell, most)) in cells.zip(widths).enumerate() {
        let padding = " ".repeat(most.saturating_sub(width(cell)));
        let (before, after) =
            if right(i) { (padding.as_str(), "") } else { ("", padding.as_str()) };
        write!(out, " {before}")?;
        out.write_all(cell)?;
        write!(out, "{after} |")?;
    }
    out.write_all(b"\n")
}

fn put_tabs<'a>(
    out: &mut dyn Write,
    cells: impl Iterator<Item = &'a [u8]>,
    raw: bool,
) -> io::Result<()> {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.write_all(b"\t")?;
        }
        if raw { out.write_all(cell)? } else { put_escaped(out, cell)? }
    }
    out.write_all(b"\n")
}

fn put_escaped(out: &mut dyn Write, cell: &[u8]) -> io::Result<()> {
    let mut from = 0;
    for (at, byte) in cell.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'\\' => b"\\\\",
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            0 => b"\\0",
            _ => continue,
        };
        out.write_all(&cell[from..at])?;
        out.write_all(escape)?;
        from = at + 1;
    }
    out.write_all(&cell[from..])
}
