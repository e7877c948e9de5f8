//! A scan cut into morsels: parts of about equal size, each read by whichever thread is free.
//!
//! The keys that separate nodes of the tree cut the scan's ranges, so that a morsel is some whole
//! subtrees of it, and morsels are in the order of the scan:
//!
//! ```text
//!   ranges          10..40        60..90
//!   separators           25   50      70
//!   morsels         10..25 │ 25..40 │ 60..70 │ 70..90
//! ```

use super::AccessPath;
use super::bounds::KeyRange;
use super::scan::{Path, TableScan};
use crate::catalog::Table;
use crate::error::StorageResult;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::ReadMode;
use std::sync::Arc;

/// A consistent read of a table in parts.
pub(crate) struct MorselScan {
    table: Arc<Table>,
    path: Path,
    /// Each morsel's ranges, at least one.
    morsels: Vec<Vec<KeyRange>>,
}

impl MorselScan {
    /// Cuts what an access path finds into about `wanted` parts; `None` where it is not read by
    /// ranges in ascending order, or has one part only.
    pub(crate) fn of(
        table: &Arc<Table>,
        path: &AccessPath,
        wanted: usize,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<Option<MorselScan>, SqlError> {
        let scan = TableScan::open(table, path, ReadMode::Snapshot, ctx, row)?;
        let tree = scan.tree().clone();
        let Some((path, ranges)) = scan.into_ranges() else { return Ok(None) };
        let (Some(first), Some(last), false) = (ranges.first(), ranges.last(), path.is_backward())
        else {
            return Ok(None);
        };
        let whole = (&first.start[..], last.end.as_deref());
        let keys = table.store.separators(&tree, whole, wanted).sql()?;
        let morsels = cut(ranges, keys);
        let scan = MorselScan { table: table.clone(), path, morsels };
        Ok((scan.len() > 1).then_some(scan))
    }

    /// How many parts there are.
    pub(crate) fn len(&self) -> usize {
        self.morsels.len()
    }

    /// Begins to read one part.
    pub(crate) fn open(&self, morsel: usize) -> TableScan {
        TableScan::of_ranges(&self.table, self.path, self.morsels[morsel].clone())
    }
}

/// Cuts ranges at keys, both ascending.
fn cut(ranges: Vec<KeyRange>, keys: Vec<Vec<u8>>) -> Vec<Vec<KeyRange>> {
    let mut morsels = Vec::with_capacity(keys.len() + 1);
    let mut morsel = Vec::new();
    let mut keys = keys.into_iter().peekable();
    for mut rest in ranges {
        while let Some(key) = keys.next_if(|key| rest.end.as_ref().is_none_or(|end| *key < *end)) {
            if key > rest.start {
                let start = std::mem::replace(&mut rest.start, key.clone());
                morsel.push(KeyRange { start, end: Some(key), last: None });
            }
            if !morsel.is_empty() {
                morsels.push(std::mem::take(&mut morsel));
            }
        }
        morsel.push(rest);
    }
    morsels.push(morsel);
    morsels
}

#[cfg(test)]
mod tests {
    //! Morsels have every key of the ranges once, in order.

    use super::{KeyRange, cut};

    fn range(start: u8, end: Option<u8>) -> KeyRange {
        KeyRange { start: vec![start], end: end.map(|end| vec![end]), last: None }
    }

    fn text(morsels: &[Vec<KeyRange>]) -> String {
        let one = |range: &KeyRange| {
            let end = range.end.as_ref().map_or(String::new(), |end| end[0].to_string());
            format!("{}..{end}", range.start[0])
        };
        let all = |ranges: &Vec<KeyRange>| ranges.iter().map(one).collect::<Vec<_>>().join(" ");
        morsels.iter().map(all).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn ranges_are_cut_at_keys_inside_and_between_them() {
        let ranges = || vec![range(10, Some(40)), range(60, Some(90))];
        let keys = |keys: &[u8]| keys.iter().map(|key| vec![*key]).collect::<Vec<_>>();
        let cases: [(&[u8], &str); 5] = [
            (&[], "10..40 60..90"),
            (&[25, 50, 70], "10..25 | 25..40 | 60..70 | 70..90"),
            (&[40], "10..40 | 60..90"),
            (&[60], "10..40 | 60..90"),
            (&[41, 45, 50], "10..40 | 60..90"),
        ];
        for (at, expected) in cases {
            assert_eq!(text(&cut(ranges(), keys(at))), expected, "{at:?}");
        }
        assert_eq!(text(&cut(vec![range(1, None)], keys(&[5, 9]))), "1..5 | 5..9 | 9..");
    }
}
