//! Row and index-entry codecs: between SQL values and the storage engine's byte keys and values.
//!
//! Everything here reads stored bytes with checks and answers [`Damaged`] where they do not fit.

mod cell;
mod column_values;
mod elements;
mod fixed;
mod index;
mod layout;
mod part;
mod several;
mod words;

pub use cell::Cell;
pub(crate) use cell::emit_uint;
pub(crate) use column_values::{IndexEntries, is_number};
pub(crate) use fixed::{BELOW_DATE, pack_date, pack_datetime, unpack_date, unpack_datetime};
pub use index::IndexCodec;
pub(crate) use index::prefix_successor;
pub use layout::RowLayout;
pub(crate) use part::PartCodec;
pub use several::SeveralCodec;
pub use words::WordsCodec;

#[cfg(test)]
mod tests;
