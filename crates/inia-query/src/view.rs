//! What views mean: their queries with all names resolved, and what their definers may do.

mod resolve;
mod rights;
mod shape;

pub use resolve::{Resolver, UsedColumn};
pub use shape::{
    ReadTable, base_tables, conditions_read, has_outer_join, list_reads_itself, reads_itself,
    simple_select,
};
