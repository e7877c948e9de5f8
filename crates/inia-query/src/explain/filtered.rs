//! The share of a table's rows that EXPLAIN says its conditions keep (`filtered`).
//!
//! MySQL takes it from an index's statistics where one begins with the column, else it guesses: an
//! equality keeps a tenth of the rows, a comparison a third, BETWEEN and LIKE a ninth, a list as
//! many times an equality as it has items, half of the rows at most. What is computed from columns
//! keeps all. Of a table of three rows no equality keeps less than one row
//! ([`condition filtering`](https://dev.mysql.com/doc/refman/8.0/en/condition-filtering.html)).

use super::line::used;
use crate::plan::{JoinMethod, JoinPlan, TableSource};
use inia_expr::{CmpOp, Expr, ExprKind, slots_of};

/// What an equality keeps of a column that begins no index.
const EQUAL: f64 = 0.1;
/// What `<`, `<=`, `>` and `>=` keep.
const COMPARED: f64 = 0.3333;
/// What BETWEEN and LIKE keep.
const BETWEEN: f64 = 0.1111;
/// What a list keeps at most.
const MAX_LIST_SHARE: f64 = 0.5;

/// The share of the table's rows, in percent, that are left by conditions which its path does not
/// stand for; `join` is how it is joined to the tables before it.
pub(super) fn filtered(source: &TableSource, join: Option<&JoinPlan>) -> f64 {
    let columns = Columns { source };
    let own = source.filter.iter().filter(|condition| !columns.are_sought(condition));
    let mut share: f64 = own.map(|condition| columns.kept(condition)).product();
    if let Some(JoinPlan { method: JoinMethod::Hash(keys), on, .. }) = join {
        share *= on.iter().map(|condition| columns.kept(condition)).product::<f64>();
        for key in keys {
            let sides = [&key.left, &key.right].map(|side| columns.column(side));
            share *= sides.into_iter().flatten().next().map_or(1.0, |at| columns.equal(at));
        }
    }
    share.max(columns.least()).min(1.0) * 100.0
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

struct Columns<'p> {
    source: &'p TableSource,
}

impl Columns<'_> {
    /// The share of one row.
    fn least(&self) -> f64 {
        1.0 / self.source.table.rows().max(1) as f64
    }

    fn column(&self, expr: &Expr) -> Option<usize> {
        let ExprKind::Column { index, .. } = expr.kind else { return None };
        let column = index.checked_sub(self.source.base)?;
        // What the parts of a merge have sought is not looked at again.
        let sought = merged_columns(self.source).any(|sought| sought == column);
        (column < self.source.table.def.columns.len() && !sought).then_some(column)
    }

    /// Whether a condition reads only columns by which the path finds its rows.
    fn are_sought(&self, condition: &Expr) -> bool {
        let access = &self.source.access;
        let Some(index) = access.index.map(|at| &self.source.table.def.indexes[at]) else {
            return false;
        };
        let used = if access.is_unbounded() { 0 } else { used(access, index) };
        let sought = |slot: usize| {
            let column = slot.checked_sub(self.source.base);
            let def = &self.source.table.def;
            let mut parts = (0..used).map_while(|at| def.key_part(index, at));
            parts.any(|part| Some(part.column) == column)
        };
        let slots = slots_of(condition).slots;
        used > 0 && slots.iter().all(sought)
    }

    /// The share of the rows that equal one value of a column.
    fn equal(&self, column: usize) -> f64 {
        let table = &self.source.table;
        let begins = |position: usize| {
            let index = &table.def.indexes[position];
            index.kind.has_keys() && index.parts[0].column == column
        };
        let known = (0..table.def.indexes.len()).filter(|position| begins(*position));
        let mut known = known.filter_map(|position| table.stats().rows_per_key(position, 1));
        let share = known.next().map_or(EQUAL, |rows| rows / table.rows() as f64);
        share.max(self.least()).min(1.0)
    }

    /// The share of the rows that a condition keeps.
    fn kept(&self, condition: &Expr) -> f64 {
        let of = |column: Option<usize>, share: f64| column.map_or(1.0, |_| share);
        match &condition.kind {
            ExprKind::And(items) => items.iter().map(|item| self.kept(item)).product(),
            ExprKind::Or(items) => {
                let either = |a: f64, b: f64| a + b - a * b;
                items.iter().map(|item| self.kept(item)).fold(0.0, either)
            }
            ExprKind::Not(inner) => match self.kept(inner) {
                1.0 => 1.0,
                kept => 1.0 - kept,
            },
            ExprKind::Compare(compare) => {
                let column = self.column(&compare.left).or_else(|| self.column(&compare.right));
                let equal = || column.map_or(1.0, |at| self.equal(at));
                match compare.op {
                    CmpOp::Eq | CmpOp::NullSafeEq => equal(),
                    CmpOp::Ne => of(column, 1.0 - equal()),
                    _ => of(column, COMPARED),
                }
            }
            ExprKind::CompareRows(CmpOp::Eq, parts) => {
                let columns = parts.iter().filter_map(|part| self.column(&part.left));
                columns.map(|column| self.equal(column)).product()
            }
            ExprKind::In(list) => match self.column(&list.value) {
                None => 1.0,
                Some(column) => {
                    let listed = (list.items.len() as f64 * self.equal(column)).min(MAX_LIST_SHARE);
                    if list.negated { 1.0 - listed } else { listed }
                }
            },
            ExprKind::Between(between) => {
                let share = if between.negated { 1.0 - BETWEEN } else { BETWEEN };
                of(self.column(&between.value), share)
            }
            ExprKind::Like(like) => {
                let share = if like.negated { 1.0 - BETWEEN } else { BETWEEN };
                of(self.column(&like.value), share)
            }
            ExprKind::IsNull(inner, negated) => match self.column(inner) {
                Some(column) if self.source.table.def.columns[column].nullable => match negated {
                    true => 1.0 - EQUAL,
                    false => EQUAL,
                },
                _ => 1.0,
            },
            ExprKind::Column { .. } => of(self.column(condition), 1.0 - EQUAL),
            _ => 1.0,
        }
    }
}
