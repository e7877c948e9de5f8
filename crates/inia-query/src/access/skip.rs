//! Reading an index group by group: rows with the same first parts are a group, and the tree is
//! descended anew for each one, past the entries that are not wanted.
//!
//! ```text
//!   key (a, b)                              1,1  1,4  1,7   2,2  2,5   3,1  3,9
//!
//!   SELECT DISTINCT a                       1,1             2,2        3,1
//!   SELECT a, MIN(b), MAX(b) … GROUP BY a   1,1       1,7   2,2  2,5   3,1  3,9
//!   SELECT a, b … WHERE b > 4                         1,7        2,5        3,9
//! ```
//!
//! What the parts behind the group equal, and what the part behind those lies in, bounds the
//! entries of each group. Where not all of these are given, the reader cannot check conditions on
//! them again: each condition has to be made true by bounds, or be about the group alone.

use super::choose::{
    Candidate, Finder, Request, dived_rows, expected_rows, is_stable, key_parts, rows_of_key,
};
use super::{
    AccessPath, Choice, End, EqualPart, FoundBy, HintedIndexes, KeyInterval, exprs_of, kept_by_all,
};
use crate::catalog::{IndexDef, IndexPart};
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet, slots_of};

/// Combinations of values of the parts behind a group.
const MAX_COMBINATIONS: usize = 64;

/// The rows of a group, where nothing is known of the keys.
const UNKNOWN_ROWS_PER_KEY: f64 = 10.0;
/// The share of the rows that MySQL expects in a range with one end.
const HALF_OPEN_SHARE: f64 = 0.3333;
/// What quotients of whole numbers may be too great by.
const EPSILON: f64 = 1e-6;

/// An index that is read group by group.
#[derive(Clone, Debug)]
pub(crate) struct SkipPath {
    /// So many first parts of the key make a group.
    pub(crate) parts: usize,
    /// Which groups are read.
    pub(crate) groups: AccessPath,
    /// What the parts behind the group equal.
    pub(crate) equal: Vec<EqualPart>,
    /// What the next part lies in, one of these; none means anything.
    pub(crate) intervals: Vec<KeyInterval>,
    /// What is given of each group.
    pub(crate) given: Given,
    /// The least value of each group is wanted, and NULL comes before it.
    pub(crate) passes_null: bool,
    /// Entries of a group are passed one by one, as MySQL does where they are few.
    pub(crate) scans: bool,
    /// The groups expected.
    pub(crate) expected: f64,
}

/// Which of a group's entries are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// All within the bounds.
    All,
    /// The first one within the bounds.
    First,
    /// Those with the least and the greatest key of the part behind the equal ones, where that is
    /// not NULL; else one with NULL.
    Ends {
        /// The least key is wanted.
        least: bool,
        /// The greatest key is wanted.
        greatest: bool,
    },
}

impl SkipPath {
    /// Every expression that bounds it.
    pub(super) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let groups = exprs_of(&self.groups.equal, &self.groups.intervals);
        groups.chain(exprs_of(&self.equal, &self.intervals))
    }

    /// How many parts of the key it uses; as in MySQL without that of values at ends of groups.
    pub(crate) fn used(&self) -> usize {
        let ends = self.passes_null || !self.intervals.is_empty();
        self.parts + self.equal.len() + usize::from(ends)
    }

    /// How often the tree is descended for each group.
    pub(crate) fn descents(&self) -> f64 {
        let bounded = !self.equal.is_empty() || !self.intervals.is_empty();
        let ends = match self.given {
            Given::Ends { least: true, greatest: true } => 2.0,
            _ => 1.0,
        };
        if bounded { 1.0 + ends } else { ends }
    }

    /// Whether rows are given that make no difference: one of each group at least.
    pub(crate) fn leaves_rows_out(&self) -> bool {
        self.given != Given::All
    }
}

/// What a query wants to know of a table.
#[derive(Clone, Copy)]
pub(crate) enum GroupWish<'w> {
    /// Which combinations of values columns have.
    Values {
        /// The first ones, in the order of the key.
        group: &'w [usize],
        /// The other ones, in any order.
        others: &'w [usize],
    },
    /// The least or the greatest values, or both, of a column for each group.
    Ends {
        /// The columns whose values make groups, in the order of the key.
        group: &'w [usize],
        /// The column.
        column: usize,
        /// Whether the least value is wanted, and whether the greatest one is.
        ends: (bool, bool),
        /// Columns that are read of a group beside that.
        shown: &'w [usize],
    },
    /// All rows.
    Rows,
}

/// The conditions on a table, and what is wanted of it.
pub(crate) struct SkipRequest<'r> {
    /// The table.
    pub(crate) request: &'r Request<'r>,
    /// The conditions.
    pub(crate) conditions: &'r [Expr],
    /// The slots that hold values before the table is read.
    pub(crate) filled: &'r SlotSet,
    /// What is wanted.
    pub(crate) wish: GroupWish<'r>,
}

/// A path for each index that can be read group by group for the wish. The rows of a choice are
/// those that the path gives.
pub(crate) fn skip_paths(request: &SkipRequest<'_>, usable: impl Fn(usize) -> bool) -> Vec<Choice> {
    let def = &request.request.table.def;
    let serves = |position: &usize| {
        let index = &def.indexes[*position];
        let hinted = request.request.hinted;
        let reads =
            HintedIndexes::shows(hinted, index) && HintedIndexes::reads_ranges(hinted, *position);
        reads && index.kind.has_keys() && def.array_part(index).is_none()
    };
    let positions = (0..def.indexes.len()).filter(serves).filter(|position| usable(*position));
    positions.filter_map(|position| Skipper::of(request, position)?.choice()).collect()
}

/// Makes the path by one index.
struct Skipper<'s> {
    request: &'s SkipRequest<'s>,
    position: usize,
    index: &'s IndexDef,
    parts: Vec<&'s IndexPart>,
    finder: Finder<'s>,
    covered: Vec<usize>,
}

impl<'s> Skipper<'s> {
    /// `None` where the entries have not all that is read.
    fn of(request: &'s SkipRequest<'s>, position: usize) -> Option<Skipper<'s>> {
        let Request { table, needed, .. } = request.request;
        let index = &table.def.indexes[position];
        // Entries of the clustered index are rows.
        let covering = index.clustered || super::is_covering(table, needed, position);
        let SkipRequest { request: own, conditions, filled, .. } = *request;
        let finder = Finder { request: own, conditions, filled };
        let (parts, covered) = (key_parts(own, index).collect(), Vec::new());
        covering.then_some(Skipper { request, position, index, parts, finder, covered })
    }

    fn part(&self, at: usize) -> Option<&'s IndexPart> {
        self.parts.get(at).copied().filter(|part| part.prefix.is_none())
    }

    /// Whether the part of a column is in descending order.
    fn descends(&self, column: usize) -> Option<bool> {
        self.parts.iter().find(|part| part.column == column).map(|part| part.descending)
    }

    /// Whether least values are wanted of a column that may be NULL.
    fn passes_null(&self) -> bool {
        let GroupWish::Ends { column, ends: (true, _), .. } = self.request.wish else {
            return false;
        };
        self.request.request.table.def.columns[column].nullable
    }

    fn choice(mut self) -> Option<Choice> {
        let (parts, given) = match self.request.wish {
            GroupWish::Rows => (self.parts_before_range()?, Given::All),
            GroupWish::Values { group, others } => (self.parts_of(group, others)?, Given::First),
            GroupWish::Ends { group, column, ends: (least, greatest), .. } => {
                let (least, greatest) = match self.descends(column)? {
                    true => (greatest, least),
                    false => (least, greatest),
                };
                (self.parts_of(group, &[])?, Given::Ends { least, greatest })
            }
        };
        let groups = self.groups(parts);
        let equal = self.equal_behind(parts)?;
        let intervals = self.intervals_behind(parts + equal.len(), given)?;
        if given != Given::All && !self.is_decided(parts + equal.len()) {
            return None;
        }
        let keys = combinations(&equal);
        let expected = self.expected(&groups, parts) * keys;
        let passes_null = self.passes_null();
        let skip = SkipPath {
            parts,
            groups,
            equal,
            intervals,
            given,
            passes_null,
            scans: false,
            expected,
        };
        let rows = self.rows(&skip);
        let mut path = AccessPath::all(true);
        path.index = Some(self.position);
        path.covering = !self.index.clustered;
        path.found_by = Some(Box::new(FoundBy::Skip(skip)));
        let candidate = Candidate { path, covered: self.covered };
        Some(Choice::of((candidate, rows), self.request.conditions))
    }

    /// How many first parts of the key are these columns: the first ones in their order, then the
    /// others.
    fn parts_of(&self, group: &[usize], others: &[usize]) -> Option<usize> {
        let mut left = others.to_vec();
        left.retain(|column| !group.contains(column));
        let mut parts = 0;
        while parts < group.len() || !left.is_empty() {
            let column = self.part(parts)?.column;
            match group.get(parts) {
                Some(wanted) if *wanted != column => return None,
                Some(_) => {}
                None if !left.contains(&column) => return None,
                None => left.retain(|wanted| *wanted != column),
            }
            parts += 1;
        }
        (parts > 0).then_some(parts)
    }

    /// How many parts are before the first one with a range, where some of them have no value.
    fn parts_before_range(&self) -> Option<usize> {
        let has_value = |at: &usize| {
            let part = &self.index.parts[*at];
            part.prefix.is_none() && self.finder.equal(part.column).is_some()
        };
        let fixed = (0..self.index.parts.len()).take_while(has_value).count();
        let bounded = |at: &usize| {
            let column = self.index.parts[*at].column;
            has_value(at) || !self.finder.intervals(column, false).0.is_empty()
        };
        let at = (fixed..self.index.parts.len()).find(bounded)?;
        let whole = self.index.parts[..=at].iter().all(|part| part.prefix.is_none());
        (at > fixed && whole).then_some(at)
    }

    /// The path to the groups of so many parts.
    fn groups(&mut self, parts: usize) -> AccessPath {
        let mut path = AccessPath::all(true);
        path.index = Some(self.position);
        for at in 0..parts {
            let Some(part) = self.part(at) else { break };
            if let Some((condition, equal)) = self.finder.equal(part.column) {
                self.covered.extend(condition);
                path.equal.push(equal);
                continue;
            }
            let (intervals, used) = self.finder.intervals(part.column, false);
            path.intervals = intervals;
            self.covered.extend(used);
            break;
        }
        path
    }

    /// What the parts behind the group equal, up to the column whose ends are wanted.
    fn equal_behind(&mut self, parts: usize) -> Option<Vec<EqualPart>> {
        let (mut equal, mut combinations) = (Vec::new(), 1);
        loop {
            let part = self.part(parts + equal.len());
            let ends = match self.request.wish {
                GroupWish::Ends { column, .. } => Some(column),
                GroupWish::Values { .. } | GroupWish::Rows => None,
            };
            let Some(part) = part.filter(|part| ends != Some(part.column)) else { break };
            let Some((Some(condition), value)) = self.finder.equal(part.column) else {
                // The ends are those of another part.
                return ends.is_none().then_some(equal);
            };
            if let EqualPart::AnyOf(values) = &value {
                combinations *= values.len();
            }
            if combinations > MAX_COMBINATIONS {
                return None;
            }
            self.covered.push(condition);
            equal.push(value);
        }
        Some(equal)
    }

    /// What the part behind the equal ones lies in.
    fn intervals_behind(&mut self, at: usize, given: Given) -> Option<Vec<KeyInterval>> {
        let ends = matches!(given, Given::Ends { .. });
        let Some(part) = self.part(at) else { return (!ends).then(Vec::new) };
        if !ends && given != Given::All {
            return Some(Vec::new());
        }
        if let Some((condition, equal)) = self.finder.equal(part.column) {
            self.covered.extend(condition);
            return match &equal {
                EqualPart::Value(value) => Some(vec![KeyInterval::point(value)]),
                EqualPart::AnyOf(_) => None,
                EqualPart::NullSafe(value) => {
                    // Without a literal it is not known whether NULL is meant.
                    value.as_literal().filter(|value| value.is_null())?;
                    Some(vec![KeyInterval { null: true, ..KeyInterval::default() }])
                }
            };
        }
        let (mut intervals, used) = self.finder.intervals(part.column, false);
        self.covered.extend(used);
        if intervals.is_empty() && ends {
            intervals = self.intervals_but(part.column);
        }
        Some(intervals)
    }

    /// All values of a column but NULL, or one, where a condition says so.
    fn intervals_but(&mut self, column: usize) -> Vec<KeyInterval> {
        for (number, condition) in self.request.conditions.iter().enumerate() {
            let intervals = match &condition.kind {
                ExprKind::IsNull(value, true) if self.finder.is_column(value, column) => {
                    vec![KeyInterval::default()]
                }
                ExprKind::Compare(compare) => match self.finder.compared(compare, column) {
                    Some((CmpOp::Ne, value)) => {
                        let end = || Some(End { value: value.clone(), inclusive: false });
                        let below = KeyInterval { upper: end(), ..KeyInterval::default() };
                        vec![below, KeyInterval { lower: end(), ..KeyInterval::default() }]
                    }
                    _ => continue,
                },
                _ => continue,
            };
            self.covered.push(number);
            return intervals;
        }
        Vec::new()
    }

    /// Whether each condition is made true by bounds, or is about the first parts, which all
    /// entries that are looked at in a group have in common; as is what else is read of them.
    fn is_decided(&self, parts: usize) -> bool {
        let common = (0..parts).filter_map(|at| self.part(at)).map(|part| part.column);
        let common: Vec<usize> = common.collect();
        if let GroupWish::Ends { shown, .. } = self.request.wish
            && !shown.iter().all(|column| common.contains(column))
        {
            return false;
        }
        let mut numbered = self.request.conditions.iter().enumerate();
        numbered.all(|(number, condition)| {
            self.covered.contains(&number) || self.is_about(&common, condition)
        })
    }

    /// Whether a condition reads these columns only, of which equal keys are equal values.
    fn is_about(&self, columns: &[usize], condition: &Expr) -> bool {
        let Request { table, base, .. } = self.request.request;
        let needs = slots_of(condition);
        let mut simple = !needs.whole_row && is_stable(condition);
        condition.walk(&mut |node| {
            simple &= !matches!(node.kind, ExprKind::Subquery(_) | ExprKind::Stored(_));
        });
        let codec = &table.indexes[self.position].codec;
        simple
            && needs.slots.iter().all(|slot| {
                let column = slot.checked_sub(*base);
                column.is_some_and(|column| {
                    columns.contains(&column) && codec.is_read_from_key(column)
                })
            })
    }

    /// The groups that are expected, as MySQL counts them: one more than there are.
    fn expected(&self, groups: &AccessPath, parts: usize) -> f64 {
        let request = self.request.request;
        let (table, total) = (request.table, request.table.rows() as f64);
        let rows = match groups.is_unbounded() {
            true => total,
            false => {
                let dived = request
                    .measure
                    .and_then(|settings| dived_rows(groups, request, self.position, settings));
                dived.unwrap_or_else(|| expected_rows(groups, table, self.position, total))
            }
        };
        let groups = (total / self.rows_per_key(parts) - EPSILON).ceil() + 1.0;
        if rows >= total { groups } else { (groups * rows / total).round().max(1.0) }
    }

    /// The rows that agree in so many first parts.
    fn rows_per_key(&self, parts: usize) -> f64 {
        let table = self.request.request.table;
        let known = rows_of_key(table, self.position, parts);
        known.unwrap_or(UNKNOWN_ROWS_PER_KEY).max(1.0)
    }

    /// The rows that a path is expected to give.
    fn rows(&self, skip: &SkipPath) -> f64 {
        let request = self.request.request;
        match skip.given {
            Given::All if request.table.is_small() => self.rows_as_mysql(skip),
            Given::All => {
                let bounds = self.covered.iter().map(|number| &self.request.conditions[*number]);
                let total = request.table.rows() as f64;
                (total * kept_by_all(bounds, request.table, request.base)).max(1.0)
            }
            Given::First | Given::Ends { .. } => skip.expected,
        }
    }
    /// The rows of ranges that MySQL expects: a third for a range with one end, else as many as
    /// have one value, if all values had as many.
    fn rows_as_mysql(&self, skip: &SkipPath) -> f64 {
        let table = self.request.request.table;
        let all = match skip.groups.is_unbounded() {
            true => table.rows() as f64,
            false => {
                expected_rows(&skip.groups, table, self.position, table.rows() as f64).max(1.0)
            }
        };
        let each = [skip.parts, skip.parts + 1].map(|parts| self.rows_per_key(parts).trunc());
        let one = all / (each[0] / each[1]).trunc().max(1.0);
        let ends = |interval: &KeyInterval| (interval.lower.is_some(), interval.upper.is_some());
        let open =
            skip.intervals.iter().any(|own| matches!(ends(own), (true, false) | (false, true)));
        let third = if open && skip.equal.is_empty() { all * HALF_OPEN_SHARE } else { 0.0 };
        one.max(third).trunc().max(1.0)
    }
}

/// How many keys values of parts make.
fn combinations(equal: &[EqualPart]) -> f64 {
    let values = equal.iter().map(|part| match part {
        EqualPart::AnyOf(values) => values.len(),
        EqualPart::Value(_) | EqualPart::NullSafe(_) => 1,
    });
    values.product::<usize>() as f64
}
