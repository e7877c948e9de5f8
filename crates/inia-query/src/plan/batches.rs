//! How a SELECT's FROM is executed over batches of rows.
//!
//! A tree of [`BatchSource`] stands beside the tree of [`RowSource`](super::RowSource) and adds
//! what batches need: which slots go on, and the vector form of conditions and keys.
//!
//! ```text
//!   Hash on b.id = a.b_id          slots: a.x, b.name
//!   ├─ Table a, a.x > 3            slots: a.b_id, a.x
//!   └─ Table b                     slots: b.id, b.name
//! ```

use super::vector::{Program, VectorFilters, VectorForm};
use super::{RowSource, TableSource};
use inia_base::collation::Collation;

/// The whole FROM of a SELECT, with what is left of WHERE.
#[derive(Debug)]
pub struct BatchPlan {
    /// FROM.
    pub source: BatchSource,
    /// The SELECT's conditions.
    pub filters: VectorFilters,
}

/// A member of FROM that gives batches.
#[derive(Debug)]
pub struct BatchSource {
    /// How they are made.
    pub node: BatchNode,
    /// The slots that anything above reads, and what their vectors hold.
    pub slots: Vec<BatchSlot>,
    /// How many threads may make them, each of parts of the leftmost table; 1 for the statement's
    /// own alone.
    pub threads: usize,
}

impl BatchSource {
    /// How many threads read a table of the source, which this stands beside.
    pub(crate) fn threads_of(&self, source: &RowSource, table: &TableSource) -> usize {
        if leftmost(source).is_some_and(|leftmost| std::ptr::eq(leftmost, table)) {
            return self.threads;
        }
        let RowSource::Join(join) = source else { return 1 };
        match &self.node {
            BatchNode::Hash(hash) => {
                let left = hash.left.threads_of(&join.left, table);
                left.max(hash.right.threads_of(&join.right, table))
            }
            BatchNode::Loop(looped) => looped.left.threads_of(&join.left, table),
            BatchNode::Table(_) | BatchNode::Rows => 1,
        }
    }
}

/// The table whose rows come first into the rows of a source.
pub(crate) fn leftmost(source: &RowSource) -> Option<&TableSource> {
    match source {
        RowSource::Table(table) => Some(table),
        RowSource::Join(join) => leftmost(&join.left),
        _ => None,
    }
}

/// A slot of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchSlot {
    /// Its place in the row.
    pub slot: usize,
    /// What its vector holds.
    pub form: VectorForm,
}

/// How batches are made.
#[derive(Debug)]
pub enum BatchNode {
    /// From the rows of each leaf of a table that the conditions leave.
    Table(VectorFilters),
    /// From single rows.
    Rows,
    /// By a hash join.
    Hash(Box<HashBatches>),
    /// A nested loop: the right side is read for each row of the left one's batches.
    Loop(Box<LoopBatches>),
}

/// A hash join of batches.
#[derive(Debug)]
pub struct HashBatches {
    /// The side whose batches look rows up.
    pub left: BatchSource,
    /// The side that is read first.
    pub right: BatchSource,
    /// What keys read of the left side.
    pub left_program: Program,
    /// What keys read of the right side.
    pub right_program: Program,
    /// The keys, in the order of the join's.
    pub keys: Vec<BatchKey>,
    /// The join's other conditions.
    pub on: VectorFilters,
    /// The slots that they read.
    pub on_slots: Vec<BatchSlot>,
}

/// How the two sides of one equality are compared.
#[derive(Debug)]
pub enum BatchKey {
    /// As numbers with so many digits after the point.
    Numbers {
        /// The left program's step.
        left: usize,
        /// The right program's step.
        right: usize,
        /// Digits after the point.
        scale: u8,
    },
    /// As texts.
    Texts {
        /// The left slot.
        left: usize,
        /// The right slot.
        right: usize,
        /// How they compare.
        collation: Collation,
    },
    /// As values of the key's expressions.
    Values {
        /// The slots that the left one reads.
        left: Vec<usize>,
        /// The slots that the right one reads.
        right: Vec<usize>,
    },
}

/// A nested loop over batches.
#[derive(Debug)]
pub struct LoopBatches {
    /// The side whose rows the right side is read for.
    pub left: BatchSource,
    /// The slots of the left side that reading the right one takes.
    pub bound: Vec<usize>,
    /// How the right side is read.
    pub right: LoopRight,
    /// The slots of the right side that anything above or `on` reads.
    pub right_slots: Vec<BatchSlot>,
    /// The join's conditions, behind the right side's own where that is a table.
    pub on: VectorFilters,
    /// The slots of both sides that the conditions read.
    pub on_slots: Vec<BatchSlot>,
}

/// How the right side of a nested loop is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopRight {
    /// There is none: the join only checks conditions.
    Nothing,
    /// All rows that the table's access path finds go into the batch, and conditions are checked
    /// there.
    Table,
    /// Row by row, to the first match where one suffices.
    Rows,
}
