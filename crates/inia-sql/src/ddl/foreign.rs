//! What foreign keys need of definitions, seen from both of their ends.

mod child;
mod copied;
mod parent;
mod rows;
mod types;

pub(super) use child::{check_bases, check_child, check_columns};
pub(super) use copied::check_copy;
pub(super) use parent::{Moved, check_adopted, check_children, follow_all, retarget};
pub(super) use rows::check_rows;

use inia_query::catalog::same_name;

/// Whether an index over `parts` finds the rows that have given values in `columns`.
fn starts_with(parts: &[&str], columns: &[&str]) -> bool {
    parts.len() >= columns.len() && parts.iter().zip(columns).all(|(a, b)| same_name(a, b))
}
