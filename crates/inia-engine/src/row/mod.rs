//! Row and index-entry codecs.

mod index;
mod layout;

pub use index::IndexCodec;
pub use layout::RowLayout;
