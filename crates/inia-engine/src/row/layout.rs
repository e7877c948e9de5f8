//! How a row is laid out in bytes.

use inia_base::datatype::DataType;

/// Where each column of a row is.
pub struct RowLayout {
    columns: usize,
}

impl RowLayout {
    /// The layout of a row of these (type, nullable) columns.
    pub fn new<'t>(columns: impl Iterator<Item = (&'t DataType, bool)>) -> RowLayout {
        RowLayout { columns: columns.count() }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.columns
    }
}
