//! Reading a table by several of its indexes at once.
//!
//! Each branch of an OR is bounded by an index of its own, and the keys of the rows that the
//! branches find are united; where conditions joined by AND each bound an index, the keys that all
//! of them find are intersected. Rows are looked up in the order of their keys, and the reader
//! checks all conditions again, since a path promises no more than a superset.
//!
//! ```text
//!   WHERE (a = 1 OR b < 7) AND c = 3        keys (a), (b), (b, c)
//!
//!   a = 1            key (a)   entries of one value: their rows' keys ascend
//!   b < 7 and c = 3  key (b)   entries of many values: their rows' keys are sorted
//! ```
//!
//! As in MySQL, a union whose branches all ascend is a `union`, any other a `sort_union`, which
//! reads a range of the primary key behind all other rows.

mod cost;
mod rules;

pub(crate) use rules::{MergeRules, MergeScope, is_switched_off, is_switched_on};

use super::choose::{Candidate, Request, dived_rows, expected_rows, is_covering, path_for};
use super::selectivity::kept_by_all;
use super::tuples::index_path;
use super::{AccessPath, FoundBy};
use cost::Costs;
use inia_base::value::Value;
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet};
use rules::Allowed;

/// More branches than this are not looked at one by one.
const MAX_BRANCHES: usize = 1024;
/// Entries of more branches than this are estimated, and not counted in the index.
const MAX_MEASURED: usize = 32;

/// How keys are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MergeKind {
    /// The keys of each part ascend; all of them are wanted.
    Union,
    /// All keys are wanted; those of a part may have to be sorted, and the primary key comes last.
    SortUnion,
    /// The keys of each part ascend; those that all parts have are wanted.
    Intersect,
}

impl MergeKind {
    /// What EXPLAIN calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            MergeKind::Union => "union",
            MergeKind::SortUnion => "sort_union",
            MergeKind::Intersect => "intersect",
        }
    }
}

/// Several indexes of a table whose keys are merged.
#[derive(Clone, Debug)]
pub(crate) struct MergePath {
    /// How.
    pub(crate) kind: MergeKind,
    /// How each index is read, at least two.
    pub(crate) parts: Vec<AccessPath>,
    /// The entries that each part is expected to read.
    pub(crate) entries: Vec<f64>,
    /// The rows expected.
    pub(crate) rows: f64,
}

/// How an index is read for a branch.
struct MergePart {
    path: AccessPath,
    rows: f64,
    /// The keys of its rows ascend.
    ascends: bool,
    cost: f64,
}

/// A path, the rows expected of it, and what it costs.
struct Weighed {
    path: AccessPath,
    rows: f64,
    cost: f64,
    /// What is done before the first row is given.
    begun: f64,
}

/// What the path that was found best costs otherwise.
#[derive(Clone, Copy)]
struct Rival<'c> {
    path: &'c AccessPath,
    rows: f64,
    cost: f64,
}

/// A merge of indexes, or else the best of the other paths, of which so many rows are expected and
/// that costs so much.
pub(super) fn or_merged(
    request: &Request<'_>,
    (conditions, filled): (&[Expr], &SlotSet),
    (best, rows): (Candidate, f64),
    cost: f64,
) -> (Candidate, f64) {
    let rival = Rival { path: &best.path, rows, cost };
    let merged = match may_merge(request, conditions, rival) {
        true => merge_path(request, conditions, filled, rival),
        false => None,
    };
    merged.unwrap_or((best, rows))
}

/// Whether the conditions or hints give a reason to look for a merge.
fn may_merge(request: &Request<'_>, conditions: &[Expr], rival: Rival<'_>) -> bool {
    let found = rival.path.point || rival.path.found_by.is_some();
    let reason = || {
        let is_or = |condition: &Expr| matches!(condition.kind, ExprKind::Or(_));
        conditions.iter().any(is_or)
            || request.merging.is_demanded()
            || conditions.len() > 1 && looks_rows_up(request, rival)
    };
    !found && request.merging.settings.is_some() && request.table.partitions.is_none() && reason()
}

/// Whether rows of a large table are looked up by an index, several of them and without locks: an
/// intersection may leave fewer. It would lock more.
fn looks_rows_up(request: &Request<'_>, rival: Rival<'_>) -> bool {
    let (path, indexes) = (rival.path, &request.table.def.indexes);
    let secondary = path.index.is_some_and(|index| !indexes[index].clustered);
    let looks_up = secondary && !path.equal.is_empty() && !path.covering;
    looks_up && rival.rows > 1.0 && !request.merging.locks
}

/// A merge of indexes, where that costs less than `rival`, and the rows expected.
fn merge_path(
    request: &Request<'_>,
    conditions: &[Expr],
    filled: &SlotSet,
    rival: Rival<'_>,
) -> Option<(Candidate, f64)> {
    let allowed = Allowed::of(request)?;
    let costs = Costs::of(request);
    let finder = Finder { request, conditions, filled, costs: &costs, allowed: &allowed };
    let unions = (0..conditions.len()).filter_map(|at| finder.union(at));
    let hinted = request.merging.is_demanded();
    let intersects = hinted || looks_rows_up(request, rival);
    let intersection = if intersects { finder.intersection() } else { None };
    let share = |rows: f64| share_read(request, conditions, rows);
    let cost = |path: &Weighed| path.begun + (path.cost - path.begun) * share(path.rows);
    let best = unions.chain(intersection).min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
    let scans = rival.path.is_unbounded();
    let forced = request.allowed.is_some_and(|allowed| allowed.forced) && scans;
    let few = !scans || best.rows < request.table.rows() as f64;
    let cheaper = few && cost(&best) < costs.of_rival(request, rival) * share(best.rows);
    let chosen = Candidate { path: best.path, covered: Vec::new() };
    (hinted || forced || cheaper).then_some((chosen, best.rows))
}

/// The share of so many rows that are read until a LIMIT is reached.
fn share_read(request: &Request<'_>, conditions: &[Expr], rows: f64) -> f64 {
    let Some(limit) = request.merging.limit else { return 1.0 };
    let others = conditions.iter().filter(|condition| !matches!(condition.kind, ExprKind::Or(_)));
    let given = rows * kept_by_all(others, request.table, request.base);
    (limit / given.max(1.0)).min(1.0)
}

/// The indexes that branches of an OR could be read by, as EXPLAIN lists them.
pub(crate) fn branch_indexes(
    request: &Request<'_>,
    conditions: &[Expr],
    filled: &SlotSet,
) -> Vec<usize> {
    let mut branches = Vec::new();
    let unions = conditions.iter().filter(|condition| matches!(condition.kind, ExprKind::Or(_)));
    unions.for_each(|condition| add_branches(condition, &mut branches));
    let serves = |position: &usize| {
        let mut bounds = branches.iter().take(MAX_BRANCHES).map(|branch| {
            let own = conjuncts_of(branch);
            index_path(request, *position, &own, filled).path
        });
        rules::is_mergeable(request, *position) && bounds.any(|path| !path.is_unbounded())
    };
    (0..request.table.def.indexes.len()).filter(serves).collect()
}

/// The conditions that a branch joins by AND.
fn conjuncts_of(branch: &Expr) -> Vec<Expr> {
    match &branch.kind {
        ExprKind::And(items) => items.clone(),
        _ => vec![branch.clone()],
    }
}

/// Looks for merges.
struct Finder<'f> {
    request: &'f Request<'f>,
    conditions: &'f [Expr],
    filled: &'f SlotSet,
    costs: &'f Costs,
    allowed: &'f Allowed,
}

impl Finder<'_> {
    /// The union of the branches of the condition at this place; `None` where a branch has no
    /// index. Where all have the same, its ranges are read together.
    fn union(&self, at: usize) -> Option<Weighed> {
        let mut branches = Vec::new();
        add_branches(&self.conditions[at], &mut branches);
        if branches.len() < 2 || branches.len() > MAX_BRANCHES {
            return None;
        }
        let mut parts: Vec<(usize, Vec<MergePart>)> = Vec::new();
        let measures = branches.len() <= MAX_MEASURED;
        for branch in branches {
            let Some(part) = self.part(branch, at, measures) else {
                // A branch that is never true needs no index.
                if is_never(branch) {
                    continue;
                }
                return None;
            };
            let index = part.path.index?;
            match parts.iter_mut().find(|(known, _)| *known == index) {
                Some((_, same)) => same.push(part),
                None => parts.push((index, vec![part])),
            }
        }
        if parts.len() < 2 {
            let (index, same) = parts.pop()?;
            return self.ranges(index, same);
        }
        let mut parts: Vec<MergePart> =
            parts.into_iter().map(|(index, same)| self.together(index, same)).collect();
        let ascend = parts.iter().all(|part| part.ascends);
        let kind = self.allowed.union(ascend)?;
        if kind == MergeKind::SortUnion {
            // The sort is stable: the order of the others stays.
            parts.sort_by_key(|part| self.is_clustered(&part.path));
        }
        let total = self.request.table.rows() as f64;
        let rows = parts.iter().map(|part| part.rows).sum::<f64>().min(total).max(1.0);
        let keys: f64 = parts.iter().map(|part| part.cost).sum();
        let merging = match kind {
            MergeKind::SortUnion => self.costs.of_sorting(rows),
            _ => self.costs.of_comparing(rows, parts.len()),
        };
        let cost = keys + merging + self.costs.of_looking_up(rows);
        Some(self.merge_of(kind, parts, rows, (cost, keys + merging)))
    }

    /// The parts of one index as one.
    fn together(&self, index: usize, mut same: Vec<MergePart>) -> MergePart {
        if same.len() == 1
            && let Some(part) = same.pop()
        {
            return part;
        }
        let mut path = AccessPath::all(true);
        path.index = Some(index);
        let (rows, cost) = (same.iter().map(|p| p.rows).sum(), same.iter().map(|p| p.cost).sum());
        let ascends = self.is_clustered(&same[0].path);
        let paths = same.into_iter().map(|part| part.path).collect();
        path.found_by = Some(Box::new(FoundBy::Ranges(paths)));
        MergePart { path, rows, ascends, cost }
    }

    fn is_clustered(&self, path: &AccessPath) -> bool {
        let indexes = &self.request.table.def.indexes;
        path.index.is_some_and(|index| indexes[index].clustered)
    }

    /// The cheapest way to the rows of one branch of the condition at a place. The index is bounded
    /// by the branch; the other conditions may bound it further.
    fn part(&self, branch: &Expr, at: usize, measures: bool) -> Option<MergePart> {
        let own = conjuncts_of(branch);
        let simple = |(number, condition): &(usize, &Expr)| {
            *number != at && !matches!(condition.kind, ExprKind::Or(_))
        };
        let others = self.conditions.iter().enumerate().filter(simple);
        let mut all = own.clone();
        all.extend(others.map(|(_, condition)| condition.clone()));
        let parts = self.allowed.positions.iter().filter_map(|position| {
            let path = index_path(self.request, *position, &own, self.filled).path;
            let bounded = !path.is_unbounded();
            let further = bounded && all.len() > own.len();
            let path = match further {
                true => index_path(self.request, *position, &all, self.filled).path,
                false => path,
            };
            bounded.then(|| self.weighed(path, measures))
        });
        let cost = |part: &MergePart| match part.ascends {
            true => part.cost,
            false => part.cost + self.costs.of_sorting(part.rows),
        };
        let place = |part: &MergePart| (!part.ascends, part.path.equal.len());
        parts.min_by(|a, b| cost(a).total_cmp(&cost(b)).then_with(|| place(a).cmp(&place(b))))
    }

    fn weighed(&self, path: AccessPath, measures: bool) -> MergePart {
        let table = self.request.table;
        let position = path.index.unwrap_or_default();
        let guess = || expected_rows(&path, table, position, table.rows() as f64);
        let settings = self.request.merging.settings.filter(|_| measures);
        let rows =
            settings.and_then(|settings| dived_rows(&path, self.request, position, settings));
        let rows = rows.unwrap_or_else(guess);
        let clustered = self.is_clustered(&path);
        let ascends = clustered || path.reads_one_key(&table.def.indexes[position]);
        MergePart { cost: self.costs.of_part(rows, clustered), path, rows, ascends }
    }

    /// The intersection of indexes that are bounded by one value each, as far as each further one
    /// lowers the cost.
    fn intersection(&self) -> Option<Weighed> {
        if !self.allowed.intersects {
            return None;
        }
        let table = self.request.table;
        let mut parts: Vec<MergePart> = Vec::new();
        for position in &self.allowed.positions {
            let path = path_for(self.request, *position, self.conditions, self.filled).path;
            let index = &table.def.indexes[*position];
            let usable = !index.clustered && path.reads_one_key(index);
            if usable && !path.point {
                parts.push(self.weighed(path, true));
            }
        }
        parts.sort_by(|a, b| a.rows.total_cmp(&b.rows));
        let total = (table.rows() as f64).max(1.0);
        let mut chosen: Vec<MergePart> = Vec::new();
        let (mut rows, mut read, mut cost) = (total, 0.0, f64::INFINITY);
        for part in parts {
            let columns = |part: &MergePart| {
                let index = part.path.index.map(|at| &table.def.indexes[at]);
                index.into_iter().flat_map(|index| &index.parts).map(|part| part.column)
            };
            let known = |other: &MergePart| {
                columns(&part).all(|own| columns(other).any(|known| known == own))
            };
            let less = rows * (part.rows / total).min(1.0);
            let now = read + part.cost + self.costs.of_looking_up(less.max(1.0));
            // A hint asks for two at least.
            let wanted = now < cost || self.request.merging.is_demanded() && chosen.len() < 2;
            if chosen.iter().any(known) || !wanted {
                continue;
            }
            (rows, read, cost) = (less, read + part.cost, now);
            chosen.push(part);
        }
        let several = chosen.len() > 1;
        several.then(|| self.merge_of(MergeKind::Intersect, chosen, rows.max(1.0), (cost, 0.0)))
    }

    /// A merge that costs so much, of which reading keys is the second part.
    fn merge_of(
        &self,
        kind: MergeKind,
        parts: Vec<MergePart>,
        rows: f64,
        (cost, keys): (f64, f64),
    ) -> Weighed {
        let (parts, entries) = parts.into_iter().map(|part| (part.path, part.rows)).unzip();
        let mut path = AccessPath::all(self.request.table.def.clustered_index().is_some());
        path.found_by = Some(Box::new(FoundBy::Merge(MergePath { kind, parts, entries, rows })));
        // Keys that ascend are read as they are wanted.
        let begun = if kind == MergeKind::SortUnion { keys } else { 0.0 };
        Weighed { path, rows, cost, begun }
    }

    /// The ranges that several branches have in one index. Those of one column are read without a
    /// list of branches.
    fn ranges(&self, index: usize, same: Vec<MergePart>) -> Option<Weighed> {
        let parts = |path: &AccessPath| path.equal.len() + usize::from(!path.intervals.is_empty());
        let narrow = same.iter().all(|part| part.path.found_by.is_none() && parts(&part.path) < 2);
        if same.len() < 2 || narrow || self.request.merging.is_demanded() {
            return None;
        }
        let MergePart { mut path, rows, .. } = self.together(index, same);
        path.covering = is_covering(self.request.table, &self.request.needed, index);
        let cost = self.costs.of_range(rows, self.is_clustered(&path), path.covering);
        Some(Weighed { path, rows, cost, begun: 0.0 })
    }
}

/// Whether a condition is true for no row, since it is not or compares with NULL.
fn is_never(condition: &Expr) -> bool {
    let is_null = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(Value::Null));
    match &condition.kind {
        ExprKind::Literal(value) => matches!(value, Value::Null | Value::Int(0)),
        ExprKind::And(items) => items.iter().any(is_never),
        ExprKind::Compare(compare) => {
            compare.op != CmpOp::NullSafeEq && (is_null(&compare.left) || is_null(&compare.right))
        }
        _ => false,
    }
}

/// The branches of an OR, those of an OR inside it among them.
fn add_branches<'e>(condition: &'e Expr, branches: &mut Vec<&'e Expr>) {
    match &condition.kind {
        ExprKind::Or(items) => items.iter().for_each(|item| add_branches(item, branches)),
        _ => branches.push(condition),
    }
}
