//! What holds for access paths.

use crate::access::{AccessPath, EqualPart};
use crate::catalog::{IndexKind, Table};

/// Checks a path to a table of whose rows the `needed` columns are read.
pub(super) fn check(path: &AccessPath, table: &Table, needed: &[bool]) {
    let def = &table.def;
    let found = path.found_by.is_some();
    debug_assert!(!found || path.equal.is_empty() && path.intervals.is_empty(), "one way is taken");
    if let Some(merge) = path.merge() {
        debug_assert!(merge.parts.len() > 1, "several indexes are merged");
        debug_assert_eq!(merge.parts.len(), merge.entries.len(), "each part has its entries");
        debug_assert!(!path.covering && !path.backward, "rows are looked up in their order");
        merge.parts.iter().for_each(|part| check_part(part, table));
    }
    path.ranges().into_iter().flatten().for_each(|part| check_part(part, table));
    let Some(at) = path.index else {
        let unbounded = path.is_unbounded() || path.found_by.is_some();
        debug_assert!(unbounded, "bounds are those of an index");
        debug_assert!(def.clustered_index().is_none(), "rows are clustered by an index");
        debug_assert!(!path.point && !path.covering, "only an index finds one row, or covers");
        return;
    };
    debug_assert!(at < def.indexes.len(), "a path names an index of its table");
    let index = &def.indexes[at];
    let is_read = index.kind != IndexKind::FullText;
    debug_assert!(is_read, "a path reads an index that has entries");
    let has = |at: usize| def.key_part(index, at).is_some();
    let bounded = path.equal.len();
    debug_assert!(bounded == 0 || has(bounded - 1), "a path bounds parts that there are");
    let has_next = has(bounded);
    debug_assert!(path.intervals.is_empty() || has_next, "a part has intervals");
    for interval in &path.intervals {
        let ends = interval.lower.is_some() || interval.upper.is_some();
        debug_assert!(!interval.null || !ends, "NULL has no ends");
    }
    for equal in &path.equal {
        let values = !matches!(equal, EqualPart::AnyOf(values) if values.is_empty());
        debug_assert!(values, "a list has values");
    }
    if path.covering {
        debug_assert!(!index.clustered, "a clustered record is the row itself");
        let codec = &table.indexes[at].codec;
        let mut read = needed.iter().enumerate().filter(|(_, needed)| **needed);
        debug_assert!(read.all(|(column, _)| codec.covers(column)), "it has the columns read");
    }
    if path.point {
        debug_assert!(index.unique(), "one row is found by a unique key");
        debug_assert_eq!(path.equal.len(), index.parts.len(), "one row is found by a whole key");
        let single = path.equal.iter().all(|part| matches!(part, EqualPart::Value(_)));
        debug_assert!(single, "one row is found by one value for each part");
        let whole = index.parts.iter().all(|part| part.prefix.is_none());
        debug_assert!(whole, "a prefix does not identify a row");
    }
}

/// Checks one of several paths that find rows together.
fn check_part(path: &AccessPath, table: &Table) {
    debug_assert!(path.index.is_some() && !path.is_unbounded(), "a part is bounded");
    debug_assert!(path.merge().is_none() && path.search().is_none(), "a part is of one index");
    debug_assert!(path.partitions.is_none(), "a part has no partitions of its own");
    check(&AccessPath { covering: false, ..path.clone() }, table, &[]);
}
