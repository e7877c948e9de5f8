//! EXPLAIN of tables that are read group by group.

use super::filtered::filtered;
use super::grouped::add_possible;
use super::line::{Line, join_extra, possible_keys, request_of, used_parts};
use crate::access::{
    EvalSettings, Given, GroupWish, HintedIndexes, SkipPath, SkipRequest, is_switched_off,
    skip_paths,
};
use crate::plan::{JoinPlan, TableSource};
use inia_expr::Expr;

/// The line of a table whose index is read group by group.
pub(super) fn skip_line(
    source: &TableSource,
    skip: &SkipPath,
    blank: &Line,
    join: Option<&JoinPlan>,
    settings: Option<EvalSettings<'_>>,
) -> Line {
    let def = &source.table.def;
    let Some(index) = source.access.index.map(|at| &def.indexes[at]) else { return blank.clone() };
    let mut extra = Vec::new();
    if !source.filter.is_empty() || !source.bound_filter.is_empty() {
        extra.push("Using where");
    }
    extra.push(match skip.leaves_rows_out() {
        true if skip.scans => "Using index for group-by (scanning)",
        true => "Using index for group-by",
        false => "Using index for skip scan",
    });
    join_extra(join, &mut extra);
    let mut line = Line {
        table: Some(source.alias.clone()),
        access: Some("range"),
        possible_keys: possible_keys(source, Some(index), settings),
        key: Some(index.name.clone()),
        key_parts: used_parts(&source.access, index, def),
        key_len: Some(def.key_length(index, skip.used()).to_string()),
        rows: Some(source.rows.max(1.0) as u64),
        filtered: Some(filtered(source, join, settings)),
        extra,
        ..blank.clone()
    };
    if !skip.leaves_rows_out() {
        add_skipping(&mut line, source, settings);
    }
    line
}

/// Adds the indexes to the possible keys that could be read by ranges behind columns without a
/// condition.
pub(super) fn add_skipping(
    line: &mut Line,
    source: &TableSource,
    settings: Option<EvalSettings<'_>>,
) {
    let off = |settings| is_switched_off(settings, "skip_scan");
    if !settings.is_some_and(off) {
        add_possible(line, source, &others(source, settings));
    }
}

/// The indexes by which rows could be found so.
fn others<'s>(
    source: &'s TableSource,
    settings: Option<EvalSettings<'s>>,
) -> impl Fn(usize) -> bool {
    let conditions: Vec<Expr> = source.bound_filter.iter().chain(&source.filter).cloned().collect();
    let (request, filled) = request_of(source, &conditions, settings);
    let (request, filled, wish) = (&request, &filled, GroupWish::Rows);
    let asked = SkipRequest { request, conditions: &conditions, filled, wish };
    let hinted = source.hinted.as_deref();
    let scope = hinted.and_then(|hinted| hinted.skip.as_ref());
    let allows = |position| {
        let skips = scope.is_none_or(|scope| scope.usable.contains(&position));
        let index = &source.table.def.indexes[position];
        let has = |column: usize| index.parts.iter().any(|part| part.column == column);
        let mut needed = source.needed.iter().enumerate();
        let whole = needed.all(|(column, needed)| !needed || has(column));
        skips && (whole || !index.clustered) && HintedIndexes::finds_by(hinted, position)
    };
    let paths = skip_paths(&asked, allows);
    let found: Vec<usize> = paths.iter().filter_map(|choice| choice.path.index).collect();
    move |position| found.contains(&position)
}

/// What EXPLAIN FORMAT=TREE calls it.
pub(super) fn skip_text(source: &TableSource, skip: &SkipPath, key: &str) -> String {
    let what = match skip.given {
        Given::All => "",
        Given::First => " for deduplication",
        Given::Ends { .. } => " for grouping",
    };
    format!("Covering index skip scan{what} on {} using {key}", source.alias)
}
