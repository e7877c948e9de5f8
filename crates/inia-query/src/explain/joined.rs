//! What EXPLAIN shows of a table because of the tables that it is joined with.
//!
//! An equality with a column of another table makes an index a possible key, whichever table is
//! read first. Where a later table is looked up by a column that may be NULL, MySQL passes over the
//! rows with NULL: it checks a condition then.

use super::filtered::left_behind;
use super::grouped::add_possible;
use super::line::Line;
use crate::access::EqualPart;
use crate::plan::dedup::DedupStrategy;
use crate::plan::{JoinMethod, JoinPlan, JoinType, RowSource, SelectPlan, TableSource};
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet, slots_of};

/// Shows conditions that are checked behind joins on the last table that they read.
pub(super) fn show_behind<'p>(
    source: &'p RowSource,
    conditions: impl IntoIterator<Item = &'p Expr>,
    lines: &mut [Line],
) {
    let mut tables = Vec::new();
    source.each(&mut |source| {
        if let RowSource::Table(table) = source {
            tables.push(table);
        }
    });
    for condition in conditions {
        let read = slots_of(condition).slots;
        let reads = |line: &Line| {
            tables.iter().find(|table| {
                let slots = SlotSet::of_range(table.base..table.base + table.needed.len());
                line.table.as_ref() == Some(&table.alias) && slots.intersects(&read)
            })
        };
        let last = (0..lines.len()).rev().find_map(|at| Some((at, reads(&lines[at])?)));
        let (at, table) = match last {
            Some((at, table)) => (at, Some(table)),
            None => (0, None),
        };
        let Some(line) = lines.get_mut(at) else { return };
        if !line.extra.contains(&"Using where") {
            line.extra.insert(0, "Using where");
        }
        if let (Some(filtered), Some(table)) = (&mut line.filtered, table) {
            *filtered *= left_behind(table, condition);
        }
    }
}

/// Adds the indexes that joins make possible to the lines of a materialized subquery's tables.
pub(super) fn show_possible(source: &RowSource, lines: &mut [Line]) {
    let mut joined = Joined { whole: true, ..Joined::default() };
    joined.collect(source, None);
    joined.add_possible(lines);
}

/// Adds the indexes by which values of a subquery could be looked for to the lines of its tables.
pub(super) fn show_sought(select: &SelectPlan, lines: &mut [Line]) {
    let mut joined = Joined::default();
    joined.collect(&select.source, None);
    for table in joined.tables {
        let range = table.base..table.base + table.needed.len();
        let column = |expr: &Expr| match expr.kind {
            ExprKind::Column { index, .. } if range.contains(&index) => Some(index - table.base),
            _ => None,
        };
        let columns: Vec<usize> =
            select.output[..select.visible].iter().filter_map(column).collect();
        add_beginning(lines, table, &columns);
    }
}

/// Adds to a table's line the indexes that begin with one of these columns.
fn add_beginning(lines: &mut [Line], table: &TableSource, columns: &[usize]) {
    let starts = |position: usize| {
        let index = &table.table.def.indexes[position];
        index.kind.has_keys() && columns.contains(&index.parts[0].column)
    };
    let line = lines.iter_mut().find(|line| line.table.as_ref() == Some(&table.alias));
    if let Some(line) = line.filter(|_| !columns.is_empty()) {
        add_possible(line, table, &starts);
    }
}

/// Adds to the lines of a SELECT's tables what follows from its joins.
pub(super) fn show_joins(source: &RowSource, lines: &mut [Line]) {
    let mut joined = Joined::default();
    joined.collect(source, None);
    joined.add_possible(lines);
    for table in &joined.tables {
        let Some(line) = lines.iter_mut().find(|line| line.table.as_ref() == Some(&table.alias))
        else {
            continue;
        };
        if joined.skips_nulls(table) && !line.extra.contains(&"Using where") {
            line.extra.insert(0, "Using where");
        }
    }
    let mut subqueries =
        lines.iter_mut().filter(|line| line.table.as_ref().is_some_and(|t| t.starts_with("<subq")));
    let nullable = |value: &&Expr| match value.kind {
        ExprKind::Column { index, .. } => {
            joined.scanned.iter().any(|slots| slots.contains(&index)) && value.ty.nullable
        }
        _ => false,
    };
    if let Some(line) = subqueries.find(|line| line.access == Some("ALL"))
        && joined.sought.iter().any(nullable)
        && !line.extra.contains(&"Using where")
    {
        line.extra.insert(0, "Using where");
    }
    for (name, slots) in &joined.members {
        let nullable = |value: &&Expr| match value.kind {
            ExprKind::Column { index, .. } => slots.contains(&index) && value.ty.nullable,
            _ => false,
        };
        let line = lines.iter_mut().find(|line| line.table.as_ref() == Some(name));
        if let Some(line) = line.filter(|line| line.access == Some("ALL"))
            && joined.sought.iter().any(nullable)
        {
            line.extra.insert(0, "Using where");
        }
    }
}

#[derive(Default)]
struct Joined<'p> {
    tables: Vec<&'p TableSource>,
    /// Both sides of the equalities between tables.
    equal: Vec<[&'p Expr; 2]>,
    /// Subqueries whose rows are joined: what stands for their names, and their slots.
    members: Vec<(String, std::ops::Range<usize>)>,
    /// The slots of materialized subqueries that are read first.
    scanned: Vec<std::ops::Range<usize>>,
    /// What later tables are looked up by.
    sought: Vec<&'p Expr>,
    /// Tables of materialized subqueries are looked at, too.
    whole: bool,
}

impl<'p> Joined<'p> {
    fn collect(&mut self, source: &'p RowSource, join: Option<&'p JoinPlan>) {
        let join_of_left =
            join.filter(|join| matches!(join.kind, JoinType::Inner | JoinType::Semi));
        match source {
            RowSource::Table(table) => {
                self.tables.push(table);
                // What an anti join compares finds no rows of its left side.
                if join.is_none_or(|join| join.kind != JoinType::Anti) {
                    self.compare(table.filter.iter().chain(&table.bound_filter));
                }
                let inner = |kind| matches!(kind, JoinType::Inner | JoinType::Semi);
                if join.is_some_and(|join| inner(join.kind)) {
                    self.sought.extend(table.access.equal.iter().filter_map(|part| match part {
                        EqualPart::Value(value) => Some(value),
                        EqualPart::NullSafe(_) | EqualPart::AnyOf(_) => None,
                    }));
                }
            }
            RowSource::Dedup(dedup) => {
                let DedupStrategy::Materialize(_) = dedup.strategy else {
                    return self.collect(&dedup.source, join);
                };
                if self.whole {
                    self.collect(&dedup.source, None);
                }
                for (_, value) in dedup.values() {
                    if let ExprKind::Column { index, .. } = value.kind {
                        self.scanned.push(index..index + 1);
                    }
                }
            }
            RowSource::Join(join) => {
                // The first table of what is joined as a whole is joined as that is.
                self.collect(&join.left, join_of_left);
                if join.keeps_rows() {
                    let JoinMethod::Hash(keys) = &join.method else { return };
                    if join.kind == JoinType::Semi {
                        self.sought.extend(keys.iter().map(|key| &key.left));
                    }
                    if join.kind == JoinType::Semi || self.whole {
                        self.equal.extend(keys.iter().map(|key| [&key.left, &key.right]));
                    }
                    if self.whole {
                        self.collect(&join.right, None);
                    }
                    return;
                }
                self.collect(&join.right, Some(join));
                if join.kind == JoinType::Anti {
                    return;
                }
                self.compare(&join.on);
                if let JoinMethod::Hash(keys) = &join.method {
                    let members = matches!(join.right, RowSource::Subplan { unnested: true, .. });
                    if members {
                        self.sought.extend(keys.iter().map(|key| &key.left));
                    }
                    self.equal.extend(keys.iter().map(|key| [&key.left, &key.right]));
                }
            }
            RowSource::Subplan { id, base, width, unnested: true, .. } => {
                self.members.push((format!("<subplan{id}>"), *base..base + width));
            }
            _ => {}
        }
    }

    fn compare(&mut self, conditions: impl IntoIterator<Item = &'p Expr>) {
        for condition in conditions {
            if let ExprKind::Compare(compare) = &condition.kind
                && compare.op == CmpOp::Eq
            {
                self.equal.push([&compare.left, &compare.right]);
            }
        }
    }

    fn add_possible(&self, lines: &mut [Line]) {
        for table in &self.tables {
            add_beginning(lines, table, &self.equal_columns(table));
        }
    }

    /// The columns of a table that equal something of another one.
    fn equal_columns(&self, table: &TableSource) -> Vec<usize> {
        let range = table.base..table.base + table.needed.len();
        let own = |expr: &Expr| match expr.kind {
            ExprKind::Column { index, .. } if range.contains(&index) => Some(index - table.base),
            _ => None,
        };
        let foreign = |expr: &Expr| {
            let slots = slots_of(expr).slots;
            let mut read = slots.iter().peekable();
            read.peek().is_some() && read.all(|slot| !range.contains(&slot))
        };
        let pairs = self.equal.iter().flat_map(|[left, right]| [(left, right), (right, left)]);
        pairs.filter(|(_, other)| foreign(other)).filter_map(|(column, _)| own(column)).collect()
    }

    /// Whether a later table is looked up by one of its columns that may be NULL.
    fn skips_nulls(&self, table: &TableSource) -> bool {
        let nullable = |slot: usize| {
            let column = slot.checked_sub(table.base);
            let column = column.and_then(|column| table.table.def.columns.get(column));
            column.is_some_and(|column| column.nullable)
        };
        self.sought
            .iter()
            .any(|value| matches!(value.kind, ExprKind::Column { index, .. } if nullable(index)))
    }
}
