//! Where rows come from, and one row of it.

use super::table::TableName;

/// A file of rows.
pub(super) trait Source {
    /// The names of its columns.
    fn columns(&self) -> &[String];

    /// CREATE TABLE for its rows; `key` are the columns of the primary key.
    fn definition(&mut self, name: &TableName, key: Option<&str>) -> Result<String, String>;

    /// Reads the next row into `row`; false after the last one.
    fn read(&mut self, row: &mut Row) -> Result<bool, String>;

    /// The share of the file that has been read, from 0 to 1.
    fn progress(&self) -> f64;

    /// What a rows' number counts: "line" or "row".
    fn unit(&self) -> &'static str;

    /// What a file of rejected rows begins with.
    fn head(&self) -> Vec<u8>;
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellKind {
    /// NULL.
    Null,
    /// Nothing, where the file does not say whether that is NULL or an empty text.
    Empty,
    /// Bytes.
    Bytes,
}

/// One row. Its buffers are used again for the next.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// Its line in a text file, or its number in another, from 1.
    pub(super) number: u64,
    /// What keeps it from being stored, whatever the table is.
    pub(super) fault: Option<String>,
    /// The row as it stands in the file, line end included.
    pub(super) raw: Vec<u8>,
    bytes: Vec<u8>,
    /// Kinds, and ends in `bytes`.
    cells: Vec<(CellKind, usize)>,
}

impl Row {
    /// Forgets the cells.
    pub(super) fn clear(&mut self) {
        self.fault = None;
        self.raw.clear();
        self.bytes.clear();
        self.cells.clear();
    }

    /// Adds a cell.
    pub(super) fn push(&mut self, kind: CellKind, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.cells.push((kind, self.bytes.len()));
    }

    /// The cell of this column.
    pub(super) fn cell(&self, at: usize) -> (CellKind, &[u8]) {
        let (kind, end) = self.cells[at];
        let start = at.checked_sub(1).map_or(0, |before| self.cells[before].1);
        (kind, &self.bytes[start..end])
    }
}
