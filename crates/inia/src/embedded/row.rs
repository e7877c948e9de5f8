//! Rows as they leave the engine, cell by cell, without an allocation for each.
//!
//! A connection has one [`RowBuffer`], which holds one row. Texts lie one after another in one
//! vector, and a cell says where:
//!
//! ```text
//! (7, 'tea', NULL, 'black')     cells  Int(7) Bytes(0..3) Null Bytes(3..8)
//!                               bytes  t e a b l a c k
//! ```

use super::error::{Error, Result};
use super::{FromRow, FromValue};
use inia_base::column::{ResultColumn, flags};
use inia_base::datatype::DataType;
use inia_base::decimal::Decimal;
use inia_base::temporal::{Date, DateTime, Time};
use inia_base::value::Value;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnKind {
    /// Nothing but NULL.
    Null,
    /// TINYINT to BIGINT, and YEAR.
    Integer,
    /// BIT, as a number.
    Bit,
    /// DECIMAL.
    Decimal,
    /// FLOAT and DOUBLE.
    Double,
    /// CHAR, VARCHAR, TEXT, ENUM and SET.
    Text,
    /// BINARY, VARBINARY and BLOB.
    Bytes,
    /// DATE.
    Date,
    /// TIME.
    Time,
    /// DATETIME and TIMESTAMP.
    DateTime,
    /// JSON, as text.
    Json,
}

impl ColumnKind {
    fn of(data_type: &DataType) -> ColumnKind {
        match data_type {
            DataType::Null => ColumnKind::Null,
            DataType::Int { .. } | DataType::Year => ColumnKind::Integer,
            DataType::Bit(_) => ColumnKind::Bit,
            DataType::Decimal { .. } => ColumnKind::Decimal,
            DataType::Float { .. } | DataType::Double { .. } => ColumnKind::Double,
            DataType::Binary(_) | DataType::VarBinary(_) | DataType::Blob(_) => ColumnKind::Bytes,
            DataType::Date => ColumnKind::Date,
            DataType::Time { .. } => ColumnKind::Time,
            DataType::DateTime { .. } | DataType::Timestamp { .. } => ColumnKind::DateTime,
            DataType::Json => ColumnKind::Json,
            _ => ColumnKind::Text,
        }
    }
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    name: String,
    kind: ColumnKind,
    flags: u32,
}

impl From<&ResultColumn> for Column {
    fn from(from: &ResultColumn) -> Column {
        let kind = ColumnKind::of(&from.data_type);
        Column { name: from.name.clone(), kind, flags: from.flags }
    }
}

impl Column {
    fn set(&mut self, from: &ResultColumn) {
        self.name.clear();
        self.name.push_str(&from.name);
        self.kind = ColumnKind::of(&from.data_type);
        self.flags = from.flags;
    }

    /// Its name, or alias.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it holds.
    pub fn kind(&self) -> ColumnKind {
        self.kind
    }

    /// Whether it is a number that is never negative.
    pub fn is_unsigned(&self) -> bool {
        self.flags & flags::UNSIGNED != 0
    }

    /// Whether it may hold NULL.
    pub fn is_nullable(&self) -> bool {
        self.flags & flags::NOT_NULL == 0
    }
}

/// A cell, with the place of its bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Int(i64),
    UInt(u64),
    Double(f64),
    Bytes { from: usize, to: usize },
    Date(Date),
    Time(Time, u8),
    DateTime(DateTime, u8),
}

/// One row, and the columns of its result.
#[derive(Debug, Default)]
pub(super) struct RowBuffer {
    columns: Vec<Column>,
    cells: Vec<Cell>,
    bytes: Vec<u8>,
}

/// A row's bytes are kept for the next one up to this size.
const KEPT_BYTES: usize = 64 << 10;

impl RowBuffer {
    /// Takes the columns of a result; a connection's results are often alike.
    pub(super) fn set_columns(&mut self, columns: &[ResultColumn]) {
        self.columns.truncate(columns.len());
        let known = self.columns.len();
        self.columns.iter_mut().zip(columns).for_each(|(own, column)| own.set(column));
        self.columns.extend(columns[known..].iter().map(Column::from));
        self.begin();
    }

    #[inline]
    pub(super) fn begin(&mut self) {
        self.cells.clear();
        self.bytes.clear();
    }

    /// Gives back what a long row took.
    pub(super) fn shrink(&mut self) {
        if self.bytes.capacity() > KEPT_BYTES {
            self.begin();
            self.bytes.shrink_to(KEPT_BYTES);
        }
    }

    #[inline]
    pub(super) fn push(&mut self, cell: Cell) {
        self.cells.push(cell);
    }

    #[inline]
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.cells.push(Cell::Bytes { from, to: self.bytes.len() });
    }

    pub(super) fn row(&self) -> Row<'_> {
        Row { columns: &self.columns, cells: &self.cells, bytes: &self.bytes }
    }
}

/// A cell of a row, borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ValueRef<'r> {
    /// NULL.
    Null,
    /// A signed integer.
    Int(i64),
    /// An unsigned integer, a YEAR or the number that BIT is.
    UInt(u64),
    /// FLOAT and DOUBLE.
    Double(f64),
    /// The digits of a DECIMAL.
    Decimal(&'r str),
    /// A character string, or what ENUM and SET show.
    Text(&'r str),
    /// A binary string.
    Bytes(&'r [u8]),
    /// A JSON document.
    Json(&'r str),
    /// A date.
    Date(Date),
    /// A time, and how many digits its fraction shows.
    Time(Time, u8),
    /// A date with a time, and how many digits its fraction shows.
    DateTime(DateTime, u8),
}

impl ValueRef<'_> {
    /// What it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            ValueRef::Null => "NULL",
            ValueRef::Int(_) | ValueRef::UInt(_) => "an integer",
            ValueRef::Double(_) => "a DOUBLE",
            ValueRef::Decimal(_) => "a DECIMAL",
            ValueRef::Text(_) => "a text",
            ValueRef::Bytes(_) => "a binary string",
            ValueRef::Json(_) => "a JSON document",
            ValueRef::Date(_) => "a DATE",
            ValueRef::Time(..) => "a TIME",
            ValueRef::DateTime(..) => "a DATETIME",
        }
    }

    /// The value, owned.
    pub fn to_value(&self) -> Value {
        match *self {
            ValueRef::Null => Value::Null,
            ValueRef::Int(value) => Value::Int(value),
            ValueRef::UInt(value) => Value::UInt(value),
            ValueRef::Double(value) => Value::Double(value),
            ValueRef::Decimal(text) => Value::Decimal(Decimal::parse_prefix(text.as_bytes()).value),
            ValueRef::Text(text) => Value::Text(text.to_owned()),
            ValueRef::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            ValueRef::Json(text) => Value::Json(text.to_owned()),
            ValueRef::Date(date) => Value::Date(date),
            ValueRef::Time(time, _) => Value::Time(time),
            ValueRef::DateTime(moment, _) => Value::DateTime(moment),
        }
    }
}

/// A row of a result, until the next one is read.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    columns: &'r [Column],
    cells: &'r [Cell],
    /// What the cells refer to.
    bytes: &'r [u8],
}

impl<'r> Row<'r> {
    pub(super) fn new(columns: &'r [Column], cells: &'r [Cell], bytes: &'r [u8]) -> Row<'r> {
        Row { columns, cells, bytes }
    }

    /// The columns of the result.
    pub fn columns(&self) -> &'r [Column] {
        self.columns
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there is no cell: never in a result's row.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The cell in a column, by its number from 0 or by its name in any case. Error where there is
    /// no such column, or where a text is not UTF-8.
    pub fn value(&self, column: impl ColumnIndex) -> Result<ValueRef<'r>> {
        self.at(column.position(self)?)
    }

    /// The cell in a column as a value of a type.
    ///
    /// ```
    /// # fn main() -> inia::Result<()> {
    /// let connection = inia::Database::in_memory()?.connect()?;
    /// connection.for_each("SELECT 7 AS n, NULL AS none", (), |row| {
    ///     assert_eq!(row.get::<i64>("n")?, 7);
    ///     assert_eq!(row.get::<Option<String>>(1)?, None);
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn get<T: FromValue>(&self, column: impl ColumnIndex) -> Result<T> {
        let position = column.position(self)?;
        T::from_value(self.at(position)?).map_err(|error| self.named(position, &error))
    }

    /// The bytes of a cell that is a text or a binary string, with a zero byte behind them, as C
    /// wants them. `None` for another cell, and for a row that is not of [`Rows`](super::Rows).
    pub fn terminated(&self, column: usize) -> Option<&'r [u8]> {
        match *self.cells.get(column)? {
            Cell::Bytes { from, to } => self.bytes.get(from..=to).filter(|it| it.ends_with(&[0])),
            _ => None,
        }
    }

    /// The whole row as a value of a type.
    pub fn decode<T: FromRow>(&self) -> Result<T> {
        T::from_row(self)
    }

    fn at(&self, position: usize) -> Result<ValueRef<'r>> {
        let Some(cell) = self.cells.get(position) else {
            let count = self.len();
            return Err(Error::conversion(format!("no column {position}: the row has {count}")));
        };
        Ok(match *cell {
            Cell::Null => ValueRef::Null,
            Cell::Int(value) => ValueRef::Int(value),
            Cell::UInt(value) => ValueRef::UInt(value),
            Cell::Double(value) => ValueRef::Double(value),
            Cell::Date(date) => ValueRef::Date(date),
            Cell::Time(time, digits) => ValueRef::Time(time, digits),
            Cell::DateTime(moment, digits) => ValueRef::DateTime(moment, digits),
            Cell::Bytes { from, to } => {
                return self.bytes(position, &self.bytes[from..to]);
            }
        })
    }

    /// What the bytes of a cell are, by its column.
    fn bytes(&self, position: usize, bytes: &'r [u8]) -> Result<ValueRef<'r>> {
        let kind = self.columns.get(position).map_or(ColumnKind::Bytes, |column| column.kind);
        let text = || {
            let text = std::str::from_utf8(bytes);
            text.map_err(|_| self.named(position, &Error::conversion("the text is not UTF-8")))
        };
        Ok(match kind {
            ColumnKind::Bit => {
                let number = bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
                ValueRef::UInt(number)
            }
            ColumnKind::Bytes => ValueRef::Bytes(bytes),
            ColumnKind::Decimal => ValueRef::Decimal(text()?),
            ColumnKind::Json => ValueRef::Json(text()?),
            _ => ValueRef::Text(text()?),
        })
    }

    /// The error, with the column that it is about.
    fn named(&self, position: usize, error: &Error) -> Error {
        let name = self.columns.get(position).map_or("", Column::name);
        Error::conversion(format!("column {position} ('{name}'): {}", error.message()))
    }
}

/// Names a column of a row: a number from 0, or a name.
pub trait ColumnIndex {
    /// The column's number.
    fn position(&self, row: &Row<'_>) -> Result<usize>;
}

impl ColumnIndex for usize {
    fn position(&self, _row: &Row<'_>) -> Result<usize> {
        Ok(*self)
    }
}

impl ColumnIndex for &str {
    fn position(&self, row: &Row<'_>) -> Result<usize> {
        let mut columns = row.columns().iter();
        let found = columns.position(|column| column.name.eq_ignore_ascii_case(self));
        found.ok_or_else(|| Error::conversion(format!("the row has no column '{self}'")))
    }
}
