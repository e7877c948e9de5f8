//! What EXPLAIN shows of a table because of the tables that it is joined with.
//!
//! An equality with a column of another table makes an index a possible key, whichever table is
//! read first. Where a later table is looked up by a column that may be NULL, MySQL passes over the
//! rows with NULL: it checks a condition then.

use super::filtered::left_behind;
use super::grouped::add_possible;
use super::line::Line;
use crate::access::{EqualPart, HintedIndexes};
use crate::plan::dedup::DedupStrategy;
use crate::plan::{HashKey, JoinMethod, JoinPlan, JoinType, RowSource, SelectPlan, TableSource};
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
        add_where(line);
        let (Some(filtered), Some(table)) = (&mut line.filtered, table) else { continue };
        if at > 0 && is_missing(table, condition) {
            *filtered *= NULLS;
            if !line.extra.contains(&NOT_EXISTS) {
                let place = line.extra.iter().position(|part| *part == "Using where");
                line.extra.insert(place.map_or(0, |at| at + 1), NOT_EXISTS);
            }
            continue;
        }
        *filtered *= left_behind(table, condition);
    }
}

/// Notes that conditions are checked, behind those on entries of the index.
fn add_where(line: &mut Line) {
    if !line.extra.contains(&"Using where") {
        let first = line.extra.first() == Some(&"Using index condition");
        line.extra.insert(usize::from(first), "Using where");
    }
}

/// Rows of the other side are wanted that have no match.
const NOT_EXISTS: &str = "Not exists";
/// The share of the rows that have no match.
const NULLS: f64 = 0.1;

/// Whether a condition behind an outer join wants a column to be NULL that never is.
fn is_missing(table: &TableSource, condition: &Expr) -> bool {
    let ExprKind::IsNull(inner, false) = &condition.kind else { return false };
    let ExprKind::Column { index, .. } = inner.kind else { return false };
    let column = index.checked_sub(table.base);
    column.and_then(|at| table.table.def.columns.get(at)).is_some_and(|column| !column.nullable)
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
        let allowed = HintedIndexes::finds_by(table.hinted.as_deref(), position);
        allowed && index.kind.has_keys() && columns.contains(&index.parts[0].column)
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
        if joined.skips_nulls(table) {
            add_where(line);
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
            && !line.extra.contains(&"Using where")
        {
            line.extra.insert(0, "Using where");
        }
    }
}

/// An equality between tables.
struct Equality<'p> {
    sides: [&'p Expr; 2],
    /// The slots of the tables that it finds rows of: what ON of an outer join says finds none of
    /// its left side.
    inside: Option<std::ops::Range<usize>>,
}

#[derive(Default)]
struct Joined<'p> {
    tables: Vec<&'p TableSource>,
    /// Both sides of the equalities between tables.
    equal: Vec<Equality<'p>>,
    /// The slots of the right side of an outer join that is looked at.
    inside: Option<std::ops::Range<usize>>,
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
                if self.inside.is_none() && join_of_left.is_some() {
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
                        self.equate(keys);
                    }
                    if self.whole {
                        self.collect(&join.right, None);
                    }
                    return;
                }
                let around = self.inside.clone();
                if join.kind == JoinType::Left {
                    self.inside = Some(join.right_slots.clone());
                }
                self.collect(&join.right, Some(join));
                if join.kind == JoinType::Anti {
                    return;
                }
                self.compare(&join.on);
                if let JoinMethod::Hash(keys) = &join.method {
                    let keyed = join.keyed && around.is_none() && join.kind == JoinType::Inner;
                    if keyed || matches!(join.right, RowSource::Subplan { unnested: true, .. }) {
                        self.sought.extend(keys.iter().map(|key| &key.left));
                    }
                    self.equate(keys);
                }
                self.inside = around;
            }
            RowSource::Subplan { id, base, width, .. } => {
                self.members.push((format!("<subplan{id}>"), *base..base + width));
            }
            _ => {}
        }
    }

    fn compare(&mut self, conditions: impl IntoIterator<Item = &'p Expr>) {
        for condition in conditions {
            match &condition.kind {
                ExprKind::Compare(compare) if compare.op != CmpOp::Ne => {
                    let (sides, inside) = ([&compare.left, &compare.right], self.inside.clone());
                    self.equal.push(Equality { sides, inside });
                }
                ExprKind::Or(items) | ExprKind::And(items) => self.compare(items),
                _ => {}
            }
        }
    }

    fn equate(&mut self, keys: &'p [HashKey]) {
        let inside = self.inside.clone();
        let equality =
            |key: &'p HashKey| Equality { sides: [&key.left, &key.right], inside: inside.clone() };
        self.equal.extend(keys.iter().map(equality));
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
        let finds = |equality: &&Equality<'_>| {
            equality.inside.as_ref().is_none_or(|inside| inside.contains(&table.base))
        };
        let sides = self.equal.iter().filter(finds).map(|equality| equality.sides);
        let pairs = sides.flat_map(|[left, right]| [(left, right), (right, left)]);
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
