//! The columns that each row of an INSERT gives.

use crate::catalog::Table;
use std::ops::Deref;

/// Columns in the order of a row's values. Rows are made for every column of the table, so
/// [`Targets::contains`] does not search.
pub(super) struct Targets {
    columns: Vec<usize>,
    /// For each column of the table whether it is among them.
    given: Vec<bool>,
}

impl Targets {
    /// `columns` of a table.
    pub(super) fn new(columns: Vec<usize>, table: &Table) -> Targets {
        let mut given = vec![false; table.def.columns.len()];
        columns.iter().for_each(|column| given[*column] = true);
        Targets { columns, given }
    }

    /// Whether rows give the column.
    #[inline]
    pub(super) fn contains(&self, column: usize) -> bool {
        self.given[column]
    }
}

impl Deref for Targets {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.columns
    }
}
