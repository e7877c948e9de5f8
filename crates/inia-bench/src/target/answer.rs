//! Parameters, and what a statement answered. An answer's buffers are used again and again.

/// A parameter of a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Param<'a> {
    /// NULL.
    Null,
    /// An integer.
    Int(i64),
    /// A double.
    Double(f64),
    /// A string; also dates and decimals.
    Text(&'a str),
}

impl From<i64> for Param<'_> {
    fn from(value: i64) -> Self {
        Param::Int(value)
    }
}

impl From<i32> for Param<'_> {
    fn from(value: i32) -> Self {
        Param::Int(i64::from(value))
    }
}

impl From<f64> for Param<'_> {
    fn from(value: f64) -> Self {
        Param::Double(value)
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(value: &'a str) -> Self {
        Param::Text(value)
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(value: &'a String) -> Self {
        Param::Text(value)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Cell {
    Null,
    Int(i64),
    Double(f64),
    Text { start: u32, end: u32 },
}

/// The rows and counts of the last statement.
///
/// Drivers call [`Answer::clear`], [`Answer::set_columns`], one `push_` per cell, and
/// [`Answer::set_affected`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    columns: usize,
    cells: Vec<Cell>,
    bytes: Vec<u8>,
    affected: u64,
    last_id: u64,
}

impl Answer {
    /// An empty answer.
    pub fn new() -> Answer {
        Answer::default()
    }

    /// Forgets the last statement.
    #[inline]
    pub fn clear(&mut self) {
        self.columns = 0;
        self.cells.clear();
        self.bytes.clear();
        self.affected = 0;
        self.last_id = 0;
    }

    /// Announces rows of so many cells.
    pub fn set_columns(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// Sets the number of rows changed, and the key that the server counted.
    pub fn set_affected(&mut self, affected: u64, last_id: u64) {
        self.affected = affected;
        self.last_id = last_id;
    }

    /// NULL.
    #[inline]
    pub fn push_null(&mut self) {
        self.cells.push(Cell::Null);
    }

    /// An integer.
    #[inline]
    pub fn push_int(&mut self, value: i64) {
        self.cells.push(Cell::Int(value));
    }

    /// A double.
    #[inline]
    pub fn push_double(&mut self, value: f64) {
        self.cells.push(Cell::Double(value));
    }

    /// A string, or any other value as text.
    #[inline]
    pub fn push_text(&mut self, text: &[u8]) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        self.cells.push(Cell::Text { start, end: self.bytes.len() as u32 });
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.cells.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Rows that the statement changed. An UPDATE counts the rows it found.
    pub fn affected(&self) -> u64 {
        self.affected
    }

    /// The key that an INSERT counted, or 0 where the target does not report it.
    pub fn last_id(&self) -> u64 {
        self.last_id
    }

    fn cell(&self, row: usize, column: usize) -> Option<Cell> {
        if column >= self.columns {
            return None;
        }
        self.cells.get(row * self.columns + column).copied()
    }

    /// Whether the cell is NULL (or not there).
    pub fn is_null(&self, row: usize, column: usize) -> bool {
        matches!(self.cell(row, column), None | Some(Cell::Null))
    }

    /// The cell if it came as a double.
    pub fn double(&self, row: usize, column: usize) -> Option<f64> {
        match self.cell(row, column)? {
            Cell::Double(value) => Some(value),
            _ => None,
        }
    }

    /// The cell's bytes if it came as text.
    pub fn bytes(&self, row: usize, column: usize) -> Option<&[u8]> {
        match self.cell(row, column)? {
            Cell::Text { start, end } => self.bytes.get(start as usize..end as usize),
            _ => None,
        }
    }

    /// The cell as text, whatever it came as.
    pub fn text(&self, row: usize, column: usize) -> Option<String> {
        match self.cell(row, column)? {
            Cell::Null => None,
            Cell::Int(value) => Some(value.to_string()),
            Cell::Double(value) => Some(value.to_string()),
            Cell::Text { .. } => {
                self.bytes(row, column).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            }
        }
    }

    /// The cell as an integer; text is read, and a fraction of zeros is allowed.
    pub fn int(&self, row: usize, column: usize) -> Option<i64> {
        match self.cell(row, column)? {
            Cell::Null => None,
            Cell::Int(value) => Some(value),
            Cell::Double(value) => (value.fract() == 0.0).then_some(value as i64),
            Cell::Text { .. } => {
                let text = std::str::from_utf8(self.bytes(row, column)?).ok()?;
                let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
                fraction.bytes().all(|digit| digit == b'0').then_some(())?;
                whole.parse().ok()
            }
        }
    }

    /// The cell as a number.
    pub fn number(&self, row: usize, column: usize) -> Option<f64> {
        match self.cell(row, column)? {
            Cell::Null => None,
            Cell::Int(value) => Some(value as f64),
            Cell::Double(value) => Some(value),
            Cell::Text { .. } => std::str::from_utf8(self.bytes(row, column)?).ok()?.parse().ok(),
        }
    }
}
