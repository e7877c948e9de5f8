//! What views mean: their queries with all names resolved, and what their definers may do.

mod resolve;
mod rights;
mod shape;

pub(crate) use resolve::{Resolver, UsedColumn};
pub(crate) use shape::{reads_itself, simple_select};
