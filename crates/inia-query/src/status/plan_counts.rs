//! What a run of a plan adds to `Select_…` and `Sort_…`.

/// What one run of a plan counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanCounts {
    /// SELECTs whose first table is read whole.
    pub scan: u64,
    /// SELECTs whose first table is read by ranges of an index.
    pub range: u64,
    /// Joined tables that are read whole.
    pub full_join: u64,
    /// Joined tables that are read by ranges.
    pub full_range_join: u64,
    /// The outermost query sorts its rows: which it has read by ranges, or otherwise.
    pub sorts: Option<SortInput>,
}

/// What rows are read by that a query sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortInput {
    /// Ranges of an index.
    Range,
    /// Whole tables.
    Scan,
}
