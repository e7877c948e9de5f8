//! Access paths: how the rows of one table that a condition wants are found.
//!
//! [`choose`] looks at the conjuncts of a condition and picks an index and the parts of its key
//! that they bound; [`TableScan`] computes the bounds at run time and reads. A path promises a
//! *superset* of the wanted rows, and the reader checks the conditions again. A bound whose value
//! does not convert to the column's type without loss is therefore left out.
//!
//! Example: `WHERE a = 1 AND b > ? AND c < 5` with an index on `(a, b, c)`: equal part `a = 1`, one
//! interval `b > ?`; `c < 5` is left to the reader.

mod bounds;
mod choose;
mod elements;
mod guess;
mod hinted;
mod lookups;
mod merge;
mod morsels;
pub(crate) mod partitions;
mod planned;
mod rejected;
mod run;
mod scan;
mod search;
mod selectivity;
mod skip;
mod small;
mod spatial;
mod tuples;

pub(crate) use choose::{Choice, EvalSettings, Request, choose, is_covering, is_stable};
pub(crate) use guess::Guess;
pub(crate) use hinted::{HintedIndexes, IndexScope};
pub(crate) use lookups::Lookups;
pub(crate) use merge::{
    MergeKind, MergePath, MergeRules, MergeScope, branch_indexes, is_switched_off, is_switched_on,
};
pub(crate) use morsels::MorselScan;
pub(crate) use planned::{ByIndex, Planned, by_indexes, choose_as, count_rows};
pub(crate) use rejected::{RejectedIndex, rejected_indexes};
pub(crate) use run::{FoundRun, RunColumn};
pub(crate) use scan::{FoundLeaf, FoundRow, RowData, TableScan};
pub(crate) use selectivity::{Columns, kept_by_all, share_of};
pub(crate) use skip::{Given, GroupWish, SkipPath, SkipRequest, skip_paths};
pub(crate) use small::{entries, pages, range_of_small};

use crate::catalog::IndexDef;
use inia_expr::Expr;
use inia_expr::tree::Match;

/// How rows of a table are found.
#[derive(Clone, Debug)]
pub struct AccessPath {
    /// Position in the definition's indexes; `None` reads the clustered tree of a table without a
    /// primary key.
    pub(crate) index: Option<usize>,
    /// Leading parts that must equal something.
    pub(crate) equal: Vec<EqualPart>,
    /// What the next part must lie in (one of these); none means anything.
    pub(crate) intervals: Vec<KeyInterval>,
    /// The index has every needed column.
    pub(crate) covering: bool,
    /// At most one row: all parts of a unique key equal single values that are not NULL.
    pub(crate) point: bool,
    /// Keys are read in descending order.
    pub(crate) backward: bool,
    /// How the keys of the rows are found, where they are not read by ranges of one index; the
    /// index is that of the rows then.
    pub(crate) found_by: Option<Box<FoundBy>>,
    /// Which partitions are read, of a table that has some.
    pub(crate) partitions: Option<Box<partitions::PartitionPaths>>,
}

/// Where the keys of rows come from that are looked up one by one.
#[derive(Clone, Debug)]
pub(crate) enum FoundBy {
    /// MATCH … AGAINST, the most relevant row first.
    Search(SearchPath),
    /// Several indexes, in the order of the keys.
    Merge(MergePath),
    /// Ranges of these paths over the index, in its order.
    Ranges(Vec<AccessPath>),
    /// Entries of the index, group by group.
    Skip(SkipPath),
}

/// A search whose rows are read.
#[derive(Clone, Debug)]
pub(crate) struct SearchPath {
    /// The FULLTEXT index, as a position in the definition's indexes.
    pub(crate) index: usize,
    /// The search.
    pub(crate) search: Match,
}

impl AccessPath {
    /// Whether it reads the whole table.
    pub(crate) fn is_unbounded(&self) -> bool {
        self.equal.is_empty() && self.intervals.is_empty() && self.found_by.is_none()
    }

    /// Whether every part of its index equals one whole value: the keys of the rows of its entries
    /// ascend.
    pub(crate) fn reads_one_key(&self, index: &IndexDef) -> bool {
        self.found_by.is_none()
            && self.intervals.is_empty()
            && self.equal.len() >= index.parts.len()
            && self.equal.iter().all(EqualPart::is_single)
            && index.parts.iter().all(|part| part.prefix.is_none())
    }

    /// The search whose rows it reads.
    pub(crate) fn search(&self) -> Option<&SearchPath> {
        match self.found_by.as_deref()? {
            FoundBy::Search(search) => Some(search),
            FoundBy::Merge(_) | FoundBy::Ranges(_) | FoundBy::Skip(_) => None,
        }
    }

    /// The indexes whose keys it merges.
    pub(crate) fn merge(&self) -> Option<&MergePath> {
        match self.found_by.as_deref()? {
            FoundBy::Merge(merge) => Some(merge),
            FoundBy::Search(_) | FoundBy::Ranges(_) | FoundBy::Skip(_) => None,
        }
    }

    /// The paths over the index whose ranges it reads together.
    pub(crate) fn ranges(&self) -> Option<&[AccessPath]> {
        match self.found_by.as_deref()? {
            FoundBy::Ranges(paths) => Some(paths),
            FoundBy::Search(_) | FoundBy::Merge(_) | FoundBy::Skip(_) => None,
        }
    }

    /// How it goes from group to group of its index.
    pub(crate) fn skip(&self) -> Option<&SkipPath> {
        match self.found_by.as_deref()? {
            FoundBy::Skip(skip) => Some(skip),
            FoundBy::Search(_) | FoundBy::Merge(_) | FoundBy::Ranges(_) => None,
        }
    }
}

/// What one leading part of the key equals.
#[derive(Clone, Debug)]
pub(crate) enum EqualPart {
    /// This value; NULL matches nothing.
    Value(Expr),
    /// This value, and NULL matches NULL (`<=>`, IS NULL).
    NullSafe(Expr),
    /// One of these values (IN).
    AnyOf(Vec<Expr>),
}

impl EqualPart {
    /// Whether it is one value at most.
    pub(crate) fn is_single(&self) -> bool {
        match self {
            EqualPart::Value(_) | EqualPart::NullSafe(_) => true,
            EqualPart::AnyOf(values) => values.len() < 2,
        }
    }
}

/// A range of one part's values; NULL is in none but its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyInterval {
    /// Lower end.
    pub(crate) lower: Option<End>,
    /// Upper end.
    pub(crate) upper: Option<End>,
    /// NULL alone; there are no ends then.
    pub(crate) null: bool,
}

impl KeyInterval {
    /// One value.
    pub(crate) fn point(value: &Expr) -> KeyInterval {
        let end = End { value: value.clone(), inclusive: true };
        KeyInterval { lower: Some(end.clone()), upper: Some(end), null: false }
    }

    /// Whether it holds one value at most.
    pub(crate) fn is_point(&self) -> bool {
        self.null
            || match (&self.lower, &self.upper) {
                (Some(lower), Some(upper)) => lower.value.same(&upper.value),
                _ => false,
            }
    }
}

/// One end of an interval.
#[derive(Clone, Debug)]
pub(crate) struct End {
    /// Its value.
    pub(crate) value: Expr,
    /// The value itself is inside.
    pub(crate) inclusive: bool,
}

impl AccessPath {
    /// Reads all rows in the order of the clustered tree.
    pub(crate) fn all(has_primary: bool) -> AccessPath {
        AccessPath {
            index: has_primary.then_some(0),
            equal: Vec::new(),
            intervals: Vec::new(),
            covering: false,
            point: false,
            backward: false,
            found_by: None,
            partitions: None,
        }
    }

    /// Every expression whose value bounds the path, or leaves partitions out.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let partitions = self.partitions.iter().flat_map(|paths| paths.exprs());
        self.own_exprs().chain(partitions)
    }

    /// Every expression whose value bounds the path.
    pub(crate) fn own_exprs(&self) -> impl Iterator<Item = &Expr> + '_ {
        let found = self.found_by.iter().flat_map(|found| found.exprs());
        exprs_of(&self.equal, &self.intervals).chain(found)
    }
}

/// The values of equal parts and the ends of intervals.
fn exprs_of<'p>(
    equal: &'p [EqualPart],
    intervals: &'p [KeyInterval],
) -> impl Iterator<Item = &'p Expr> {
    let equal = equal.iter().flat_map(|part| match part {
        EqualPart::Value(expr) | EqualPart::NullSafe(expr) => std::slice::from_ref(expr),
        EqualPart::AnyOf(exprs) => exprs,
    });
    let ends = intervals.iter().flat_map(|i| i.lower.iter().chain(&i.upper));
    equal.chain(ends.map(|end| &end.value))
}

impl FoundBy {
    /// Every expression that decides which rows are found.
    fn exprs(&self) -> Box<dyn Iterator<Item = &Expr> + '_> {
        match self {
            FoundBy::Search(path) => Box::new(std::iter::once(&path.search.against)),
            FoundBy::Merge(merge) => Box::new(merge.parts.iter().flat_map(AccessPath::own_exprs)),
            FoundBy::Ranges(paths) => Box::new(paths.iter().flat_map(AccessPath::own_exprs)),
            FoundBy::Skip(skip) => Box::new(skip.exprs()),
        }
    }
}
