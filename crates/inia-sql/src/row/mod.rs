//! Row and index-entry codecs: between SQL values and the storage engine's byte keys and values.
//!
//! Everything here reads stored bytes with checks and answers [`Damaged`] where they do not fit.

mod cell;
mod fixed;
mod index;
mod layout;
mod many;
mod part;

pub(crate) use cell::Cell;
pub(crate) use cell::emit_uint;
pub(crate) use fixed::{pack_date, unpack_date};
pub(crate) use index::{IndexCodec, prefix_successor};
pub(crate) use layout::RowLayout;
pub(crate) use many::{Entry, is_number};

#[cfg(test)]
mod tests;
