//! The share of a table's rows that MySQL says conditions keep.
//!
//! MySQL takes it from an index's statistics where one begins with the column, else it guesses: an
//! equality keeps a tenth of the rows, a comparison a third, BETWEEN and LIKE a ninth, a list as
//! many times an equality as it has items, half of the rows at most. What is computed from columns
//! keeps all. Of a table of three rows no equality keeps less than one row
//! ([`condition filtering`](https://dev.mysql.com/doc/refman/8.0/en/condition-filtering.html)).

use crate::catalog::Table;
use inia_expr::tree::SubqueryKind;
use inia_expr::{CmpOp, Expr, ExprKind};

/// What an equality keeps of a column that begins no index.
const EQUAL: f64 = 0.1;
/// What `<`, `<=`, `>` and `>=` keep.
const COMPARED: f64 = 0.3333;
/// What BETWEEN and LIKE keep.
const BETWEEN: f64 = 0.1111;
/// What a list keeps at most.
const MAX_LIST_SHARE: f64 = 0.5;

/// Guesses about one table, whose columns begin at a slot.
pub(crate) struct Guess<'t> {
    pub(crate) table: &'t Table,
    pub(crate) base: usize,
    /// Columns that are not looked at again, since the parts of a merge have sought them.
    pub(crate) sought: Vec<usize>,
}

impl Guess<'_> {
    /// The share of one row.
    pub(crate) fn least(&self) -> f64 {
        1.0 / self.table.rows().max(1) as f64
    }

    /// The column of the table that an expression is.
    pub(crate) fn column(&self, expr: &Expr) -> Option<usize> {
        let ExprKind::Column { index, .. } = expr.kind else { return None };
        let column = index.checked_sub(self.base)?;
        let known = column < self.table.def.columns.len();
        (known && !self.sought.contains(&column)).then_some(column)
    }

    /// The share of the rows that equal one value of a column.
    pub(crate) fn equal(&self, column: usize) -> f64 {
        let table = self.table;
        let begins = |position: usize| {
            let index = &table.def.indexes[position];
            index.kind.has_keys() && index.parts[0].column == column
        };
        let known = (0..table.def.indexes.len()).filter(|position| begins(*position));
        let mut known = known.filter_map(|position| table.stats().rows_per_group(position, 1));
        let share = known.next().map_or(EQUAL, |rows| rows / table.rows() as f64);
        share.max(self.least()).min(1.0)
    }

    /// The share of the rows that a condition keeps.
    pub(crate) fn kept(&self, condition: &Expr) -> f64 {
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
                    CmpOp::Ne => of(column, 1.0 - EQUAL.max(self.least())),
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
                Some(column) if self.table.def.columns[column].nullable => {
                    let null = EQUAL.max(self.least());
                    if *negated { 1.0 - null } else { null }
                }
                _ => 1.0,
            },
            ExprKind::Column { .. } => of(self.column(condition), 1.0 - EQUAL),
            // What is greater or less than all or some is not compared with the least or greatest.
            ExprKind::Subquery(sub) if !sub.correlated => match &sub.kind {
                SubqueryKind::Quantified { left, op, .. }
                    if !matches!(op, CmpOp::Eq | CmpOp::Ne) && left.len() == 1 =>
                {
                    of(self.column(&left[0]), 1.0 - COMPARED)
                }
                _ => 1.0,
            },
            _ => 1.0,
        }
    }
}
