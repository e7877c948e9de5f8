//! What executing parts of a plan costs, in nanoseconds on a machine of 2020. Data are in memory,
//! but for those of tables that are larger than the buffer pool. Only the relations between the
//! numbers matter.

/// Opening an access path and descending to its first entry.
pub(in crate::optimize) const LOOKUP: f64 = 250.0;
/// Descending to the next group of an index, whose entries are read by themselves.
pub(in crate::optimize) const DESCENT: f64 = 1_000.0;
/// A row that is read in the order of the tree, with its values decoded.
const ROW: f64 = 70.0;
/// An entry of an index that holds all that is read.
const ENTRY: f64 = 60.0;
/// A row that is found by an entry of a secondary index.
const FETCH: f64 = 600.0;
/// Reading a page from the disk for one row.
const PAGE_APART: f64 = 80_000.0;
/// A row's part of a page that is read ahead.
const PAGE_IN_ORDER: f64 = 150.0;
/// So many rows of an access path are read one by one, and cost so much more; those of longer ones
/// become vectors.
const SINGLE_ROWS: f64 = 16.0;
const SINGLE: f64 = 110.0;
/// A row that is in memory already: of a derived or a computed table.
const COMPUTED_ROW: f64 = 60.0;
/// Setting a hash table up.
pub(in crate::optimize) const HASH_SETUP: f64 = 15_000.0;
/// Putting a row into a hash table.
pub(in crate::optimize) const BUILD: f64 = 60.0;
/// Looking a key of a batch up in a hash table that the processor's cache holds.
const PROBE_NEAR: f64 = 8.0;
/// The same in a table that is much larger.
const PROBE_FAR: f64 = 60.0;
/// Checking a condition for a pair of rows that no key brought together.
pub(in crate::optimize) const PAIR: f64 = 60.0;
/// Handing a row on.
pub(in crate::optimize) const OUTPUT: f64 = 15.0;
/// Sorting a row, for each doubling of their number.
const SORT: f64 = 40.0;
/// Rows of a hash table that are taken to fit into memory.
const IN_MEMORY: f64 = 2_000_000.0;
/// What a row costs besides once it goes to a file and comes back.
pub(super) const SPILL: f64 = 400.0;

/// So many rows of an access path.
pub(in crate::optimize) fn read(rows: f64, clustered: bool, covering: bool) -> f64 {
    let singly = rows.min(SINGLE_ROWS) * SINGLE;
    match (clustered, covering) {
        (true, _) => singly + rows * ROW,
        (false, true) => singly + rows * ENTRY,
        (false, false) => rows * FETCH,
    }
}

/// What rows of a table cost besides, of whose pages such a share is on the disk: those that are
/// found here and there, and those that are read in the order of the tree.
pub(in crate::optimize) fn from_disk(share: f64, apart: f64, in_order: f64) -> f64 {
    share * (apart * PAGE_APART + in_order * PAGE_IN_ORDER)
}

/// Reading rows that are in memory.
pub(in crate::optimize) fn computed(rows: f64) -> f64 {
    rows * COMPUTED_ROW
}

/// Sorting so many rows.
pub(in crate::optimize) fn sort(rows: f64) -> f64 {
    rows * SORT * rows.max(2.0).log2()
}

/// Looking a key up in a hash table of so many rows.
pub(in crate::optimize) fn probe(built: f64) -> f64 {
    PROBE_NEAR + (PROBE_FAR - PROBE_NEAR) * (built / IN_MEMORY).min(1.0)
}

/// Whether a hash table of so many rows goes to files.
pub(super) fn spills(right: f64) -> bool {
    right > IN_MEMORY
}
