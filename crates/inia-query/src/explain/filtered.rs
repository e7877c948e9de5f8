//! The share of a table's rows that EXPLAIN says its conditions keep (`filtered`).

use super::line::{request_of, used};
use crate::access::{EvalSettings, Guess, by_indexes};
use crate::plan::{JoinMethod, JoinPlan, TableSource};
use inia_expr::{Expr, SlotSet, slots_of};

/// The share of the table's rows, in percent, that are left by conditions which its path does not
/// stand for; `join` is how it is joined to the tables before it.
pub(super) fn filtered(
    source: &TableSource,
    join: Option<&JoinPlan>,
    settings: Option<EvalSettings<'_>>,
) -> f64 {
    let (sought, counted) = match settings.filter(|_| source.table.is_small()) {
        Some(settings) => counted(source, settings),
        None => (merged_columns(source).collect(), 1.0),
    };
    let columns = Guess { table: &source.table, base: source.base, sought };
    if join.is_some_and(|join| join.kind.keeps_unmatched()) {
        // What ON says leaves all rows to MySQL.
        return 100.0;
    }
    let own = source.filter.iter().filter(|condition| !are_sought(source, condition));
    let mut share: f64 = own.map(|condition| columns.kept(condition)).product();
    share *= counted;
    if let Some(JoinPlan { method: JoinMethod::Hash(keys), on, .. }) = join {
        share *= on.iter().map(|condition| columns.kept(condition)).product::<f64>();
        for key in keys {
            let sides = [&key.left, &key.right].map(|side| columns.column(side));
            share *= sides.into_iter().flatten().next().map_or(1.0, |at| columns.equal(at));
        }
    }
    share.max(columns.least()).min(1.0) * 100.0
}

/// The share of the rows that constants were counted to leave in indexes which the table is not
/// read by, with the columns that need no look any more.
fn counted(source: &TableSource, settings: EvalSettings<'_>) -> (Vec<usize>, f64) {
    let def = &source.table.def;
    let (mut sought, mut share): (Vec<usize>, f64) = (merged_columns(source).collect(), 1.0);
    let merged = sought.len();
    let access = &source.access;
    if let Some(index) = access.index.filter(|_| !access.is_unbounded()) {
        let used = used(access, &def.indexes[index]);
        let parts = (0..used).map_while(|at| def.key_part(&def.indexes[index], at));
        sought.extend(parts.map(|part| part.column));
    }
    let by_path = sought.len();
    let conditions: Vec<Expr> = source.bound_filter.iter().chain(&source.filter).cloned().collect();
    let (request, _) = request_of(source, &conditions, Some(settings));
    let total = source.table.rows().max(1) as f64;
    for by in by_indexes(&request, &conditions, &SlotSet::default()) {
        let parts = by.path.equal.len() + usize::from(!by.path.intervals.is_empty());
        let parts = (0..parts).map_while(|at| def.key_part(&def.indexes[by.index], at));
        let columns: Vec<usize> = parts.map(|part| part.column).collect();
        if by.counted
            && !columns.is_empty()
            && !columns.iter().any(|column| sought.contains(column))
        {
            share *= (by.rows / total).min(1.0);
            sought.extend(columns);
        }
    }
    // Conditions on what the path seeks are looked at one by one.
    sought.drain(merged..by_path);
    (sought, share)
}

/// The columns by which the parts of a merge find their rows.
fn merged_columns(source: &TableSource) -> impl Iterator<Item = usize> + '_ {
    let parts = source.access.merge().into_iter().flat_map(|merge| &merge.parts);
    parts.flat_map(|part| {
        let index = part.index.map(|at| &source.table.def.indexes[at]);
        let columns = index.into_iter().map(|index| index.parts.iter().take(used(part, index)));
        columns.flatten().map(|part| part.column)
    })
}

/// Whether a condition reads only columns by which the path finds its rows.
fn are_sought(source: &TableSource, condition: &Expr) -> bool {
    let access = &source.access;
    let Some(index) = access.index.map(|at| &source.table.def.indexes[at]) else {
        return false;
    };
    let used = if access.is_unbounded() { 0 } else { used(access, index) };
    let sought = |slot: usize| {
        let column = slot.checked_sub(source.base);
        let def = &source.table.def;
        let mut parts = (0..used).map_while(|at| def.key_part(index, at));
        parts.any(|part| Some(part.column) == column)
    };
    let slots = slots_of(condition).slots;
    used > 0 && slots.iter().all(sought)
}

/// The share of a table's rows, between 0 and 1, that a condition behind its joins leaves.
pub(super) fn left_behind(source: &TableSource, condition: &Expr) -> f64 {
    let guess = Guess { table: &source.table, base: source.base, sought: Vec::new() };
    guess.kept(condition).max(guess.least())
}
