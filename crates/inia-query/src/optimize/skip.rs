//! Which tables are read group by group: those of one table whose groups, different values or
//! ranges behind columns without a condition an index has one after the other ([`SkipPath`]).
//!
//! ```text
//!   key (a, b)     SELECT DISTINCT a          SELECT a, MAX(b) … GROUP BY a
//!                  SELECT COUNT(DISTINCT a)   SELECT b … WHERE b > 5
//! ```
//! A descent of the tree costs as much as some rows that are read in order, so groups have to be
//! few beside the rows.

use super::QueryBlock;
use super::cells::cell_checks;
use super::search::build::read_order;
use super::search::cost;
use super::search::relation::path_cost;
use crate::access::{
    Choice, EqualPart, FoundBy, GroupWish, HintedIndexes, MergeRules, Request, SkipPath,
    SkipRequest, is_switched_off, skip_paths,
};
use crate::plan::{Aggregation, GroupStrategy, RowSource, SelectPlan, TableSource};
use inia_expr::{Expr, ExprKind, SlotSet, slots_of};
use inia_parser::ast::AggregateFunc;

/// So many bytes of a page are taken to hold entries of an index, each with a reference to its row.
const HALF_PAGE: f64 = 8192.0;
const ROW_REFERENCE: f64 = 4.0;
/// Adding a row of an index to its group, or to the values that are there.
const GROUPED: f64 = 30.0;

/// Reads a table group by group where that costs less; true where its groups are made of that.
pub(super) fn skip_between_groups(select: &mut SelectPlan, block: &QueryBlock<'_>) -> bool {
    let RowSource::Table(source) = &select.source else { return false };
    let Some(wish) = Wish::of(select, source) else { return false };
    let Some(choice) = best(source, &wish, block) else { return false };
    let is_whole = matches!(wish, Wish::Rows);
    let RowSource::Table(source) = &mut select.source else { return false };
    read_by(source, choice);
    if is_whole {
        return false;
    }
    let index = source.access.index.unwrap_or_default();
    let in_order = HintedIndexes::groups_by(source.hinted.as_deref(), index);
    if let Some(aggregation) = &mut select.aggregation
        && !aggregation.group.is_empty()
        && in_order
    {
        aggregation.strategy = GroupStrategy::InOrder;
    }
    true
}

/// What a SELECT wants to know of its table.
enum Wish {
    Values { group: Vec<usize>, others: Vec<usize>, distinct: bool },
    Ends { group: Vec<usize>, column: usize, ends: (bool, bool), shown: Vec<usize> },
    Rows,
}

impl Wish {
    /// `None` where each row makes a difference.
    fn of(select: &SelectPlan, source: &TableSource) -> Option<Wish> {
        let plain = source.lock.is_none() && source.table.partitions.is_none();
        let found = source.access.point || source.access.found_by.is_some();
        if !plain || found || source.table.def.is_volatile() || !select.filter.is_empty() {
            return None;
        }
        let columns = |exprs: &[Expr]| -> Option<Vec<usize>> {
            exprs.iter().map(|expr| column_of(expr, source)).collect()
        };
        match &select.aggregation {
            None if select.distinct && select.windows.is_empty() => {
                let others = columns(&select.output)?;
                Some(Wish::Values { group: Vec::new(), others, distinct: false })
            }
            Some(groups) if !groups.group.is_empty() || has_distinct(groups) => {
                let mut group = columns(&groups.group)?;
                let plain = !groups.rollup && groups.shown.is_empty();
                let shown = shown_columns(select, source).filter(|_| plain)?;
                let mut known = Vec::new();
                group.retain(|column| {
                    let new = !known.contains(column);
                    known.push(*column);
                    new
                });
                match &groups.calls[..] {
                    [] => Some(Wish::Values { group, others: Vec::new(), distinct: false }),
                    _ if has_distinct(groups) => {
                        let others = distinct_of(groups, source)?;
                        Some(Wish::Values { group, others, distinct: true })
                    }
                    _ => ends_of(groups, source, (group, shown)),
                }
            }
            _ if source.filter.is_empty() || select.distinct => None,
            _ => Some(Wish::Rows),
        }
    }

    fn as_group_wish(&self) -> GroupWish<'_> {
        match self {
            Wish::Values { group, others, .. } => GroupWish::Values { group, others },
            Wish::Ends { group, column, ends, shown } => {
                GroupWish::Ends { group, column: *column, ends: *ends, shown }
            }
            Wish::Rows => GroupWish::Rows,
        }
    }
}

/// The column of the table that an expression is.
fn column_of(expr: &Expr, source: &TableSource) -> Option<usize> {
    let ExprKind::Column { index, .. } = expr.kind else { return None };
    let column = index.checked_sub(source.base)?;
    source.table.def.columns.get(column).filter(|column| !column.is_hidden())?;
    Some(column)
}

/// Whether an aggregate, but not MIN or MAX, is one of different values.
fn has_distinct(groups: &Aggregation) -> bool {
    let ends = |func| matches!(func, AggregateFunc::Min | AggregateFunc::Max);
    groups.calls.iter().any(|call| call.distinct && !ends(call.func))
}

/// The columns that are read of groups beside their aggregates; `None` where that is not known.
fn shown_columns(select: &SelectPlan, source: &TableSource) -> Option<Vec<usize>> {
    let (mut slots, mut whole_row) = (SlotSet::default(), false);
    let mut add = |expr: &Expr| {
        let needs = slots_of(expr);
        slots = slots.union(&needs.slots);
        whole_row |= needs.whole_row;
    };
    select.output.iter().chain(&select.having).for_each(&mut add);
    select.windows.iter().for_each(|window| window.for_each_expr(&mut add));
    let columns = slots.iter().map(|slot| slot.checked_sub(source.base));
    columns.collect::<Option<Vec<usize>>>().filter(|_| !whole_row)
}

/// MIN and MAX of one column, where all aggregates are that.
fn ends_of(
    groups: &Aggregation,
    source: &TableSource,
    (group, shown): (Vec<usize>, Vec<usize>),
) -> Option<Wish> {
    use inia_base::datatype::DataType::{Enum, Json, Set};
    let (mut ends, mut of) = ((false, false), None);
    for call in &groups.calls {
        match call.func {
            AggregateFunc::Min => ends.0 = true,
            AggregateFunc::Max => ends.1 = true,
            _ => return None,
        }
        let column = column_of(call.args.first()?, source)?;
        if *of.get_or_insert(column) != column {
            return None;
        }
    }
    let column = of?;
    // Their values are compared as texts.
    let data_type = &source.table.def.columns[column].data_type;
    let by_text = matches!(data_type, Enum { .. } | Set { .. } | Json);
    (!by_text).then_some(Wish::Ends { group, column, ends, shown })
}

/// The columns of COUNT, SUM and AVG of different values, where all aggregates are those, of the
/// same columns.
fn distinct_of(groups: &Aggregation, source: &TableSource) -> Option<Vec<usize>> {
    use AggregateFunc::{Avg, Count, Sum};
    let mut all: Option<Vec<usize>> = None;
    for call in &groups.calls {
        if !call.distinct || !matches!(call.func, Count | Sum | Avg) {
            return None;
        }
        let columns = call.args.iter().map(|arg| column_of(arg, source));
        let mut columns = columns.collect::<Option<Vec<usize>>>()?;
        columns.sort_unstable();
        columns.dedup();
        if *all.get_or_insert_with(|| columns.clone()) != columns {
            return None;
        }
    }
    all
}

/// The cheapest path from group to group, where it costs less than the present one.
fn best(source: &TableSource, wish: &Wish, block: &QueryBlock<'_>) -> Option<Chosen> {
    let is_distinct = matches!(wish, Wish::Values { distinct: true, .. });
    let hinted = source.hinted.as_deref();
    let request = Request {
        table: &source.table,
        base: source.base,
        needed: source.needed.clone(),
        allowed: hinted.and_then(|hinted| hinted.lookup.as_ref()),
        hinted,
        measure: Some(block.settings),
        scan_cost: 1.0,
        extremes: false,
        merging: MergeRules::default(),
    };
    let conditions: Vec<Expr> = source.bound_filter.iter().chain(&source.filter).cloned().collect();
    let filled = SlotSet::default();
    let (request, wish) = (&request, wish.as_group_wish());
    let asked = SkipRequest { request, conditions: &conditions, filled: &filled, wish };
    let is_whole = matches!(wish, GroupWish::Rows);
    let scope = hinted.and_then(|hinted| hinted.skip.as_ref()).filter(|_| is_whole);
    if is_whole && scope.is_none() && is_switched_off(block.settings, "skip_scan") {
        return None;
    }
    let usable = |position| {
        let allowed = scope.is_none_or(|scope| scope.usable.contains(&position));
        // As in MySQL, IGNORE INDEX FOR GROUP BY is about the order of groups.
        let named = hinted.and_then(|hinted| hinted.group.as_ref()).filter(|scope| scope.forced);
        let groups = is_whole || named.is_none_or(|scope| scope.usable.contains(&position));
        HintedIndexes::finds_by(hinted, position) && allowed && groups
    };
    let paths = skip_paths(&asked, usable).into_iter();
    let priced = paths.map(|choice| (path_cost(&source.table, &choice.path, choice.rows), choice));
    let (price, mut choice) = priced.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let demanded = match is_whole {
        true => scope.is_some_and(|scope| scope.on),
        false => hinted.is_some_and(|hinted| hinted.grouped),
    };
    let cheaper = match source.table.is_small() {
        true if is_distinct => scans_groups(source, &mut choice)?,
        true => is_chosen_by_mysql(source, &choice)?,
        false => {
            let present = path_cost(&source.table, &source.access, source.rows);
            price < present + if is_whole { 0.0 } else { source.rows * GROUPED }
        }
    };
    (demanded || cheaper).then_some(Chosen { choice, conditions })
}

/// Makes the path of aggregates of different values pass entries one by one where MySQL does; it
/// always reads a small table by groups for them, but not by the clustered index.
fn scans_groups(source: &TableSource, choice: &mut Choice) -> Option<bool> {
    let seeks = is_chosen_by_mysql(source, choice)?;
    let clustered = source.table.def.indexes[choice.path.index?].clustered;
    if let Some(FoundBy::Skip(skip)) = choice.path.found_by.as_deref_mut() {
        skip.scans = !seeks && skip.equal.is_empty();
        return Some((seeks || skip.scans) && !clustered);
    }
    None
}

/// Whether MySQL reads a table of so few rows group by group: the costs are those that it shows.
fn is_chosen_by_mysql(source: &TableSource, choice: &Choice) -> Option<bool> {
    let skip = choice.path.skip()?;
    let rows = if source.access.is_unbounded() { source.table.rows() as f64 } else { source.rows };
    if skip.leaves_rows_out() {
        // A tree of one level takes three quarters of the time of one of two.
        let index = &source.table.def.indexes[choice.path.index?];
        let length = source.table.def.key_length(index, index.parts.len()) as f64;
        let shallow = rows <= HALF_PAGE / (length + ROW_REFERENCE) + 1.0;
        let (each, spare) = if shallow { (1.5, 1.0 / 150.0) } else { (2.0, 1.0 / 1400.0) };
        return Some(skip.expected * each <= rows * (1.0 + spare));
    }
    let descent = 0.1 * rows.max(2.0).log2().ceil();
    let groups = (skip.expected - 1.0).max(1.0);
    let cost = groups * descent + 0.25 * choice.rows + 1.0;
    // Several ranges are not read so.
    let single = skip.equal.iter().all(EqualPart::is_single);
    let one = single && skip.intervals.len() <= 1;
    Some(one && cost <= 0.1265 * rows + 0.35)
}

/// A path with the conditions on its table.
struct Chosen {
    choice: Choice,
    conditions: Vec<Expr>,
}

/// What going through the groups of an index costs that gives so many rows.
pub(super) fn price(skip: &SkipPath, rows: f64) -> f64 {
    let read = if skip.leaves_rows_out() { 0.0 } else { cost::read(rows, false, true) };
    skip.expected * skip.descents() * cost::DESCENT + read
}

/// Makes a table be read by a path.
fn read_by(source: &mut TableSource, Chosen { choice, conditions }: Chosen) {
    let mut covered = choice.covered.iter();
    let (bounds, filter) = conditions.into_iter().partition(|_| covered.next() == Some(&true));
    (source.bound_filter, source.filter) = (bounds, filter);
    source.checks = cell_checks(&source.filter, &source.table.def, source.base);
    source.read_order = read_order(&source.filter, &source.needed, source.base, false);
    (source.access, source.rows) = (choice.path, choice.rows);
}
