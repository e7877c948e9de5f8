//! How EXPLAIN shows GROUP BY, DISTINCT and ORDER BY that an index serves.

use super::line::Line;
use crate::access::AccessPath;
use crate::optimize::keeps_together;
use crate::plan::{JoinMethod, RowSource, SelectPlan, TableSource};
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

    /// Whether an index of the table that is read first has the groups one after the other.
    pub(super) fn come_in_order(&self, select: &SelectPlan) -> bool {
        let mut first = &select.source;
        while let RowSource::Join(join) = first
            && matches!(join.method, JoinMethod::NestedLoop)
        {
            first = &join.left;
        }
        let leads = matches!(first, RowSource::Table(table) if std::ptr::eq(&**table, self.table));
        leads && keeps_together(&self.table.access, &self.table.table.def, &self.columns)
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
            index.kind.has_keys() && self.columns.iter().all(has)
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
        (index.visible && serves(*position)) || known.contains(&index.name.as_str())
    });
    let names: Vec<&str> = named.map(|(_, index)| index.name.as_str()).collect();
    line.possible_keys = Some(names.join(",")).filter(|names| !names.is_empty());
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

/// Shows the scan of a whole table by its primary key that ORDER BY asks for.
pub(super) fn show_order(select: &SelectPlan, line: &mut Line) {
    let mut first = &select.source;
    while let RowSource::Join(join) = first {
        first = &join.left;
    }
    let RowSource::Table(table) = first else { return };
    let AccessPath { index: Some(at), .. } = &table.access else { return };
    let def = &table.table.def;
    if select.ordered && table.access.is_unbounded() && line.key.is_none() {
        let index = &def.indexes[*at];
        line.access = Some("index");
        line.key = Some(index.name.clone());
        line.key_len = Some(def.key_length(index, index.parts.len()).to_string());
    }
}
