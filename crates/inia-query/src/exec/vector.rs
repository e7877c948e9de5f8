//! Execution over batches of rows, each column of them a vector ([`crate::plan::vector`]).
//!
//! Batches come from leaves of tables ([`scan`]), pass conditions ([`conditions`]) and joins
//! ([`hash`], [`loops`]), and end as single rows ([`source`]) or in groups ([`grouping`]):
//!
//! ```text
//!   leaf ─► conditions ─► columns of 2,048 rows ─► hash join ─► groups
//! ```
//!
//! Several threads may do so at a time, each with other parts of a table ([`parallel`]).
//!
//! What has no vector form is evaluated row by row, in its place. Where numbers outgrow 128 bits,
//! nothing has been given yet: the rows are executed one by one then. Joins and groups that outgrow
//! memory go to files ([`grace`], [`grouping`]).

mod batch;
mod column;
mod conditions;
mod distinct;
mod grace;
mod grouping;
mod hash;
mod index;
mod join_keys;
mod keeper;
mod kept;
mod key_reader;
mod keys;
mod leaf;
mod loops;
mod numbers;
mod operators;
mod packed;
mod pairs;
mod parallel;
mod program;
mod records;
mod scan;
mod sideways;
mod source;
#[cfg(test)]
mod tests;
mod texts;
mod totals;
