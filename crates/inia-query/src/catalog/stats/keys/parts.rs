//! Statistics of a partitioned table: sums over some of its partitions.

use super::{KeyStats, sample, sample_rows};
use crate::catalog::Table;

/// Partitions that a sample looks at.
const PARTITIONS: usize = 24;

/// The handles that a sample reads, and for how many each of them stands.
pub(in super::super) fn sampled_leaves(table: &Table) -> (Vec<&Table>, f64) {
    let all = table.stored();
    let step = all.len().div_ceil(PARTITIONS).max(1);
    let some: Vec<&Table> = all.iter().step_by(step).copied().collect();
    let share = all.len() as f64 / some.len().max(1) as f64;
    (some, share)
}

/// The statistics of an index, or of the rows, over all partitions. Values of the columns that
/// divide are in one partition each; others may be in all of them.
pub(super) fn sample_all(table: &Table, index: Option<usize>) -> Option<KeyStats> {
    let (leaves, share) = sampled_leaves(table);
    let divides = |parts: usize| {
        // Children of a merged table mostly have values of their own: other days, other numbers.
        let Some(by) = &table.def.partitioning else { return true };
        let mut columns = by.by.columns.iter();
        let index = index.map(|index| &table.def.indexes[index].parts[..parts]);
        columns.all(|name| {
            let column = table.def.column(name);
            index.is_some_and(|parts| parts.iter().any(|part| Some(part.column) == column))
        })
    };
    let mut all: Option<KeyStats> = None;
    for leaf in leaves {
        let own = match index {
            Some(index) => sample(leaf, index)?,
            None => sample_rows(leaf)?,
        };
        let Some(sum) = &mut all else {
            all = Some(own);
            continue;
        };
        sum.entries += own.entries;
        sum.sampled += own.sampled;
        sum.tree.leaves += own.tree.leaves;
        sum.tree.inner += own.tree.inner;
        sum.tree.whole &= own.tree.whole;
        for (at, (sum, own)) in sum.prefixes.iter_mut().zip(&own.prefixes).enumerate() {
            sum.nulls += own.nulls;
            match divides(at + 1) {
                true => {
                    sum.distinct += own.distinct;
                    sum.distinct_nulls += own.distinct_nulls;
                }
                false => {
                    sum.distinct = sum.distinct.max(own.distinct);
                    sum.distinct_nulls = sum.distinct_nulls.max(own.distinct_nulls);
                }
            }
        }
    }
    let mut all = all?;
    all.entries *= share;
    all.tree.leaves *= share;
    all.tree.inner *= share;
    for (at, prefix) in all.prefixes.iter_mut().enumerate() {
        prefix.nulls *= share;
        if divides(at + 1) {
            prefix.distinct *= share;
            prefix.distinct_nulls *= share;
        }
    }
    Some(all)
}
