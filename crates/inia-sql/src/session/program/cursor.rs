//! Cursors: OPEN keeps the query's rows, FETCH gives one after another.

use inia_base::value::Value;
use inia_expr::ExprType;

/// An open cursor.
pub(super) struct OpenCursor {
    /// Types of its columns.
    pub(super) types: Vec<ExprType>,
    rows: std::vec::IntoIter<Vec<Value>>,
}

impl OpenCursor {
    pub(super) fn new(types: Vec<ExprType>, rows: Vec<Vec<Value>>) -> OpenCursor {
        OpenCursor { types, rows: rows.into_iter() }
    }

    /// The next row.
    pub(super) fn next(&mut self) -> Option<Vec<Value>> {
        self.rows.next()
    }
}
