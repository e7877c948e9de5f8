//! Index keys and entries.

use crate::catalog::TableDef;

/// Builds and takes apart the keys and values of one index.
pub struct IndexCodec {
    parts: usize,
}

impl IndexCodec {
    /// The codec of `def.indexes[index]`.
    pub fn new(def: &TableDef, index: usize) -> IndexCodec {
        IndexCodec { parts: def.indexes[index].parts.len() }
    }

    /// Number of declared parts.
    pub fn parts(&self) -> usize {
        self.parts
    }
}
