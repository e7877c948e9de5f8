//! What EXPLAIN shows of a table because of the tables that it is joined with.
//!
//! An equality with a column of another table makes an index a possible key, whichever table is
//! read first. Where a later table is looked up by a column that may be NULL, MySQL passes over the
//! rows with NULL: it checks a condition then.

use super::grouped::add_possible;
use super::line::Line;
use crate::access::EqualPart;
use crate::plan::{JoinMethod, JoinPlan, JoinType, RowSource, TableSource};
use inia_expr::{CmpOp, Expr, ExprKind, slots_of};

/// Adds to the lines of a SELECT's tables what follows from its joins.
pub(super) fn show_joins(source: &RowSource, lines: &mut [Line]) {
    let mut joined = Joined::default();
    joined.collect(source, None);
    for table in &joined.tables {
        let columns = joined.equal_columns(table);
        let starts = |position: usize| {
            let index = &table.table.def.indexes[position];
            index.kind.has_keys() && columns.contains(&index.parts[0].column)
        };
        let Some(line) = lines.iter_mut().find(|line| line.table.as_ref() == Some(&table.alias))
        else {
            continue;
        };
        if !columns.is_empty() {
            add_possible(line, table, &starts);
        }
        if joined.skips_nulls(table) && !line.extra.contains(&"Using where") {
            line.extra.insert(0, "Using where");
        }
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
    /// What later tables are looked up by.
    sought: Vec<&'p Expr>,
}

impl<'p> Joined<'p> {
    fn collect(&mut self, source: &'p RowSource, join: Option<&'p JoinPlan>) {
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
            RowSource::Join(join) => {
                self.collect(&join.left, None);
                self.collect(&join.right, Some(join));
                if join.kind == JoinType::Anti {
                    return;
                }
                self.compare(&join.on);
                if let JoinMethod::Hash(keys) = &join.method {
                    let members = matches!(join.right, RowSource::Subplan { unnested: true, .. });
                    if join.kind == JoinType::Semi || members {
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
