//! How EXPLAIN shows GROUP BY, DISTINCT and ORDER BY that an index serves.

use super::filtered::filtered;
use super::line::{Line, request_of};
use crate::access::{AccessPath, EvalSettings, HintedIndexes, rejected_indexes};
use crate::optimize::{keeps_together, of_source};
use crate::plan::window::WindowPlan;
use crate::plan::{JoinMethod, LimitPlan, RowSource, SelectPlan, TableSource};
use inia_base::value::Value;
use inia_expr::{Expr, ExprKind};

/// The columns of one table that make groups, or rows that differ from one another.
pub(super) struct GroupedColumns<'p> {
    table: &'p TableSource,
    columns: Vec<usize>,
}

impl<'p> GroupedColumns<'p> {
    /// Those of a SELECT; `None` where they are computed, or of several tables.
    pub(super) fn of(select: &'p SelectPlan) -> Option<GroupedColumns<'p>> {
        let keys: Vec<&Expr> = match &select.aggregation {
            // Different values of the whole table are read as groups.
            Some(groups) if groups.group.is_empty() && is_skipped(&select.source) => {
                groups.calls.iter().flat_map(|call| &call.args).collect()
            }
            Some(groups) => groups.group.iter().collect(),
            None if select.distinct => select.output[..select.visible].iter().collect(),
            None => return None,
        };
        let slot = |key: &&Expr| match key.kind {
            ExprKind::Column { index, .. } => Some(index),
            _ => None,
        };
        let slots: Vec<usize> = keys.iter().map(slot).collect::<Option<_>>()?;
        let table = table_of(&select.source, *slots.first()?)?;
        let column = |slot: &usize| {
            let column = slot.checked_sub(table.base)?;
            (column < table.table.def.columns.len()).then_some(column)
        };
        let columns = slots.iter().map(column).collect::<Option<_>>()?;
        Some(GroupedColumns { table, columns })
    }

    /// Whether they are of the table that is read first, for each row of which others are.
    pub(super) fn are_of_first(&self, select: &SelectPlan) -> bool {
        let mut first = &select.source;
        while let RowSource::Join(join) = first
            && matches!(join.method, JoinMethod::NestedLoop)
        {
            first = &join.left;
        }
        matches!(first, RowSource::Table(table) if std::ptr::eq(&**table, self.table))
    }

    /// Whether an index of the table that is read first has the groups one after the other.
    pub(super) fn come_in_order(&self, select: &SelectPlan) -> bool {
        let leads = self.are_of_first(select);
        if self.table.access.skip().is_some() {
            return leads && self.begin_the_key();
        }
        let together = || keeps_together(&self.table.access, &self.table.table.def, &self.columns);
        leads && self.are_in_the_keys_order() && together()
    }

    /// Whether the columns stand in the order of the index that is read, those that equal one value
    /// aside. MySQL takes no other order for that of groups.
    fn are_in_the_keys_order(&self) -> bool {
        let TableSource { table, access, .. } = self.table;
        let Some(index) = access.index.map(|at| &table.def.indexes[at]) else { return true };
        let place = |column: &usize| {
            let mut parts = (0..).map_while(|at| table.def.key_part(index, at));
            parts.position(|part| part.column == *column)
        };
        let free = self.columns.iter().filter_map(place).filter(|at| *at >= access.equal.len());
        free.is_sorted()
    }

    /// Whether the index that is read begins with the columns, in their order, and hints let groups
    /// be read in it.
    pub(super) fn begin_the_key(&self) -> bool {
        let TableSource { table, access, hinted, .. } = self.table;
        let Some(at) = access.index else { return false };
        let parts = table.def.indexes[at].parts.iter().map(|part| part.column);
        let begins = parts.take(self.columns.len()).eq(self.columns.iter().copied());
        begins && HintedIndexes::groups_by(hinted.as_deref(), at)
    }

    /// Adds to the possible keys of the table's line the indexes that have all of the columns.
    pub(super) fn add_keys(&self, lines: &mut [Line]) {
        let Some(line) =
            lines.iter_mut().find(|line| line.table.as_ref() == Some(&self.table.alias))
        else {
            return;
        };
        let table = &self.table.table;
        let serves = |position: usize| {
            let index = &table.def.indexes[position];
            let has = |column: &usize| match index.clustered {
                true => index.parts.iter().any(|part| part.column == *column),
                false => table.indexes[position].codec.covers(*column),
            };
            let allowed = HintedIndexes::finds_by(self.table.hinted.as_deref(), position);
            allowed && index.kind.has_keys() && self.columns.iter().all(has)
        };
        add_possible(line, self.table, &serves);
    }
}

/// Adds the visible indexes that serve to a line's possible keys, which stand in the order of their
/// definition.
pub(super) fn add_possible(line: &mut Line, table: &TableSource, serves: &dyn Fn(usize) -> bool) {
    let known = line.possible_keys.take().unwrap_or_default();
    let known: Vec<&str> = known.split(',').filter(|name| !name.is_empty()).collect();
    let indexes = table.table.def.indexes.iter().enumerate();
    let named = indexes.filter(|(position, index)| {
        (HintedIndexes::shows(table.hinted.as_deref(), index) && serves(*position))
            || known.contains(&index.name.as_str())
    });
    let names: Vec<&str> = named.map(|(_, index)| index.name.as_str()).collect();
    line.possible_keys = Some(names.join(",")).filter(|names| !names.is_empty());
}

/// Whether one table is read, group by group.
pub(super) fn is_skipped(source: &RowSource) -> bool {
    matches!(source, RowSource::Table(table) if table.access.skip().is_some())
}

/// The stored table that fills a slot.
fn table_of(source: &RowSource, slot: usize) -> Option<&TableSource> {
    match source {
        RowSource::Table(table) => {
            (table.base..table.base + table.needed.len()).contains(&slot).then_some(table)
        }
        RowSource::Join(join) => table_of(&join.left, slot).or_else(|| table_of(&join.right, slot)),
        _ => None,
    }
}

/// Shows that a table that is read in the order of ORDER BY is read until there are as many rows as
/// LIMIT asks for, by what indexes show of the conditions that constants bound.
pub(super) fn show_limit(
    select: &SelectPlan,
    limit: Option<&LimitPlan>,
    line: &mut Line,
    settings: EvalSettings<'_>,
) {
    let mut first = &select.source;
    while let RowSource::Join(join) = first {
        first = &join.left;
    }
    let (RowSource::Table(table), Some(limit)) = (first, limit) else { return };
    let Some(wanted) = wanted_rows(limit).filter(|_| table.access.is_unbounded()) else { return };
    let conditions: Vec<Expr> = table.bound_filter.iter().chain(&table.filter).cloned().collect();
    let (request, filled) = request_of(table, &conditions, Some(settings));
    let others = rejected_indexes(&request, &conditions, &filled, &table.access);
    let bounded = |(path, rows): (AccessPath, f64)| {
        let constant = path.own_exprs().all(Expr::is_constant_in_statement);
        (!path.is_unbounded() && constant).then_some(rows)
    };
    let found = others.into_iter().filter_map(|other| other.path).filter_map(bounded);
    let total = table.table.rows() as f64;
    let share = found.fold(total, f64::min) / total.max(1.0);
    let wanted =
        (wanted as f64 / fanout(&select.source, settings).max(f64::MIN_POSITIVE)).floor().max(1.0);
    let read = (wanted / share.max(f64::MIN_POSITIVE)).min(total).max(1.0);
    line.rows = Some(read as u64);
}

/// How many rows each row of the first table becomes.
fn fanout(source: &RowSource, settings: EvalSettings<'_>) -> f64 {
    match source {
        RowSource::Join(join) if !join.kind.gives_right() => fanout(&join.left, settings),
        RowSource::Join(join) => {
            let rows = match &join.right {
                RowSource::Table(table) => {
                    table.rows * filtered(table, Some(join), Some(settings)) / 100.0
                }
                RowSource::One => 1.0,
                RowSource::Join(_) => of_source(&join.right),
                _ => 1.0,
            };
            fanout(&join.left, settings) * rows
        }
        _ => 1.0,
    }
}

/// How many rows a LIMIT of constants asks for, with those that are passed over.
pub(super) fn wanted_rows(limit: &LimitPlan) -> Option<u64> {
    let number = |expr: &Expr| match expr.as_literal() {
        Some(Value::Int(n)) => u64::try_from(*n).ok(),
        Some(Value::UInt(n)) => Some(*n),
        _ => None,
    };
    let passed = limit.offset.as_ref().map_or(Some(0), number)?;
    number(&limit.count).map(|count| count.saturating_add(passed))
}

/// Shows that rows are sorted for windows, and kept in a table where they are joined or grouped.
pub(super) fn show_windows(select: &SelectPlan, line: &mut Line) {
    let kept = select.aggregation.is_some() || !matches!(select.source, RowSource::Table(_));
    line.extra.retain(|extra| *extra != "Using temporary");
    if kept {
        line.extra.push("Using temporary");
    }
    let sorts = |window: &WindowPlan| !window.partition.is_empty() || !window.order.is_empty();
    if select.windows.iter().any(sorts) {
        line.extra.push("Using filesort");
    }
}

/// Shows the scan of a whole table by its primary key that ORDER BY or GROUP BY (`grouped`) asks
/// for.
pub(super) fn show_order(select: &SelectPlan, line: &mut Line, grouped: bool) {
    let mut first = &select.source;
    while let RowSource::Join(join) = first {
        first = &join.left;
    }
    let RowSource::Table(table) = first else { return };
    let AccessPath { index: Some(at), .. } = &table.access else { return };
    let def = &table.table.def;
    let asked = select.ordered || grouped;
    if asked && table.access.is_unbounded() && line.key.is_none() {
        let index = &def.indexes[*at];
        line.access = Some("index");
        line.key = Some(index.name.clone());
        line.key_len = Some(def.key_length(index, index.parts.len()).to_string());
    }
}
