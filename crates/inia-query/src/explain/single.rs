//! Lines of EXPLAIN's table for tables that are read in ways of their own, and what is shown of a
//! SELECT as a whole.

use super::filtered::filtered;
use super::line::{Line, add_strategy, join_extra, partitions_read, request_of, take_strategy};
use crate::access::{AccessPath, EvalSettings, Guess, SearchPath, by_indexes};
use crate::plan::json_table::JsonTableSource;
use crate::plan::{JoinMethod, JoinPlan, JoinType, QueryPlan, RowSource, SelectPlan, TableSource};
use inia_expr::{Aggregate, Expr, SlotSet, slots_of};
use inia_parser::ast::AggregateFunc;

/// Whether a path reads ranges whose ends are columns of other tables, and nothing else.
pub(super) fn seeks_columns(path: &AccessPath) -> bool {
    let mut ends = path.intervals.iter().flat_map(|one| one.lower.iter().chain(&one.upper));
    path.equal.is_empty()
        && path.found_by.is_none()
        && ends.any(|end| slots_of(&end.value).slots != SlotSet::default())
}

/// The line of a table for which ranges are looked for with each row of those before it.
pub(super) fn checked_line(
    source: &TableSource,
    blank: &Line,
    join: Option<&JoinPlan>,
    settings: Option<EvalSettings<'_>>,
) -> Line {
    let conditions: Vec<Expr> = source.bound_filter.iter().chain(&source.filter).cloned().collect();
    let (request, filled) = request_of(source, &conditions, settings);
    let by_columns = by_indexes(&request, &conditions, &filled);
    let map = by_columns.iter().fold(0_u64, |map, by| map | 1 << by.index.min(63));
    let indexes = &source.table.def.indexes;
    let names: Vec<&str> = by_columns.iter().map(|by| indexes[by.index].name.as_str()).collect();
    let guess = Guess { table: &source.table, base: source.base, sought: Vec::new() };
    let kept = conditions.iter().map(|condition| guess.kept(condition)).product::<f64>();
    let outer = join.is_some_and(|join| join.kind.keeps_unmatched());
    let filtered = if outer { 1.0 } else { kept.max(guess.least()).min(1.0) };
    Line {
        table: Some(source.alias.clone()),
        partitions: settings.and_then(|settings| partitions_read(source, settings)),
        access: Some("ALL"),
        possible_keys: Some(names.join(",")),
        rows: Some(source.table.rows().max(1)),
        filtered: Some(filtered * 100.0),
        checked: Some(format!("index map: 0x{map:X}")),
        ..blank.clone()
    }
}

/// The line of a table whose rows MATCH … AGAINST finds.
pub(super) fn search_line(
    source: &TableSource,
    path: &SearchPath,
    blank: &Line,
    join: Option<&JoinPlan>,
    settings: Option<EvalSettings<'_>>,
) -> Line {
    let name = &source.table.def.indexes[path.index].name;
    let mut extra = vec!["Using where"];
    join_extra(join, &mut extra);
    extra.push("Ft_hints: sorted");
    Line {
        table: Some(source.alias.clone()),
        access: Some("fulltext"),
        possible_keys: Some(name.clone()),
        key: Some(name.clone()),
        key_len: Some("0".to_owned()),
        reference: Some("const".to_owned()),
        rows: Some(source.rows.max(1.0) as u64),
        filtered: Some(filtered(source, join, settings)),
        extra,
        ..blank.clone()
    }
}

/// The line of JSON_TABLE.
pub(super) fn json_table_line(table: &JsonTableSource, blank: &Line) -> Line {
    let mut extra = vec!["Table function: json_table", "Using temporary"];
    if !table.filter.is_empty() {
        extra.push("Using where");
    }
    Line {
        table: Some(table.alias.clone()),
        access: Some("ALL"),
        rows: Some(2),
        filtered: Some(100.0),
        extra,
        ..blank.clone()
    }
}

/// Whether a SELECT is the number of all combinations of rows, which MySQL counts table by table.
pub(super) fn counts_all(select: &SelectPlan) -> bool {
    let all = |source: &RowSource| match source {
        RowSource::Table(table) => table.filter.is_empty() && table.access.is_unbounded(),
        RowSource::Join(join) => {
            let no_keys = match &join.method {
                JoinMethod::Hash(keys) => keys.is_empty(),
                JoinMethod::NestedLoop => false,
            };
            no_keys && join.on.is_empty() && join.kind == JoinType::Inner
        }
        _ => false,
    };
    let mut whole = select.filter.is_empty() && select.having.is_none();
    select.source.each(&mut |source| whole &= all(source));
    let counts = |call: &Aggregate| call.func == AggregateFunc::CountStar;
    let groups = select.aggregation.as_ref();
    whole && groups.is_some_and(|groups| groups.group.is_empty() && groups.calls.iter().all(counts))
}

/// Whether rows are sorted once they are joined: not where the first table alone can be sorted.
pub(super) fn sorts_joined(select: &SelectPlan, query: Option<&QueryPlan>) -> bool {
    let mut tables = Vec::new();
    let mut repeats = false;
    let mut buffered = false;
    select.source.each(&mut |source| match source {
        RowSource::Table(table) => tables.push(table.base..table.base + table.needed.len()),
        RowSource::Subplan { base, width, .. } => tables.push(*base..base + width),
        RowSource::Dedup(_) => repeats = true,
        RowSource::Join(join) if !join.keeps_rows() => {
            buffered |= !join.keyed && matches!(join.method, JoinMethod::Hash(_));
        }
        _ => {}
    });
    if tables.len() < 2 {
        return false;
    }
    let ordered = query.into_iter().flat_map(|query| &query.order);
    let mut read = ordered.filter_map(|key| select.output.get(key.index)).map(slots_of);
    let single = select.source.single_slots();
    let Some(first) = tables.iter().find(|slots| !single.contains(slots.start)) else {
        return false;
    };
    let of_first = |slot: usize| first.contains(&slot) || single.contains(slot);
    repeats || buffered || !read.all(|read| read.slots.iter().all(of_first))
}

/// Notes the last tables of which SELECT DISTINCT reads nothing.
pub(super) fn show_distinct(select: &SelectPlan, lines: &mut [Line]) {
    let mut read = SlotSet::default();
    select.output.iter().for_each(|expr| read = read.union(&slots_of(expr).slots));
    let mut names = Vec::new();
    select.source.each(&mut |source| {
        if let RowSource::Table(table) = source {
            let slots = SlotSet::of_range(table.base..table.base + table.needed.len());
            if slots.intersects(&read) {
                names.push(table.alias.clone());
            }
        }
    });
    let selected = |line: &Line| line.table.as_ref().is_some_and(|table| names.contains(table));
    let unread = lines.iter().rposition(selected).map_or(0, |last| last + 1).max(1);
    let number = lines.first().and_then(|line| line.id);
    for line in lines.iter_mut().skip(unread).filter(|line| line.id == number) {
        let strategy = take_strategy(line);
        add_strategy(line, "Distinct");
        strategy.into_iter().for_each(|one| add_strategy(line, one));
    }
}
