//! Which share of rows a condition keeps.
//!
//! Where nothing is known of a column the shares are MySQL's defaults: a tenth for an equality, a
//! third for a range, a ninth for BETWEEN.

use crate::catalog::Table;
use inia_base::value::Value;
use inia_expr::tree::{Between, CastKind, Compare, InList};
use inia_expr::{CmpOp, Expr, ExprKind};

/// The share that `=` keeps of a column of which nothing is known.
const EQUAL: f64 = 0.1;
/// The share that `<`, `<=`, `>`, `>=` keep.
const RANGE: f64 = 1.0 / 3.0;
/// The share that BETWEEN keeps.
const BETWEEN: f64 = 1.0 / 9.0;
/// The share that LIKE keeps.
const LIKE: f64 = 1.0 / 9.0;
/// The share of NULLs in a column that may have some.
const NULLS: f64 = 0.1;
/// The share that any other condition keeps.
const OTHER: f64 = 1.0 / 3.0;
/// The most that a list of values keeps of a column of which nothing is known.
const MAX_LIST: f64 = 0.5;

/// The tables whose columns a condition may read, by their slots.
pub(crate) trait Columns {
    /// The table that holds a slot's column, and which column of it that is.
    fn column(&self, slot: usize) -> Option<(&Table, usize)>;
}

/// One table, whose first column is in slot `base`.
pub(crate) struct OneTable<'t> {
    /// The table.
    pub(crate) table: &'t Table,
    /// Its first slot.
    pub(crate) base: usize,
}

impl Columns for OneTable<'_> {
    fn column(&self, slot: usize) -> Option<(&Table, usize)> {
        let column = slot.checked_sub(self.base)?;
        (column < self.table.def.columns.len()).then_some((self.table, column))
    }
}

/// The share of a table's rows that a condition keeps; columns of other tables are taken for values
/// that are there, but not known.
pub(crate) fn kept_share(condition: &Expr, table: &Table, base: usize) -> f64 {
    share_of(condition, &OneTable { table, base })
}

/// The share of a table's rows that all conditions together keep.
pub(crate) fn kept_by_all<'e>(
    conditions: impl IntoIterator<Item = &'e Expr>,
    table: &Table,
    base: usize,
) -> f64 {
    conditions.into_iter().map(|condition| kept_share(condition, table, base)).product()
}

/// The share of the combinations of rows of `tables` that a condition keeps: for an equality
/// between columns of two tables, one over the larger number of their values.
pub(crate) fn share_of(condition: &Expr, tables: &dyn Columns) -> f64 {
    let share = match &condition.kind {
        ExprKind::Literal(value) => truth(value),
        ExprKind::And(items) => items.iter().map(|item| share_of(item, tables)).product(),
        ExprKind::Or(items) => {
            1.0 - items.iter().map(|item| 1.0 - share_of(item, tables)).product::<f64>()
        }
        ExprKind::Not(inner) => 1.0 - share_of(inner, tables),
        ExprKind::IsNull(inner, negated) => {
            let nulls = nulls(inner, tables);
            if *negated { 1.0 - nulls } else { nulls }
        }
        ExprKind::IsTruth(inner, wanted, negated) => {
            let share = share_of(inner, tables);
            if wanted != negated { share } else { 1.0 - share }
        }
        ExprKind::Compare(compare) => compared(compare, tables),
        ExprKind::CompareRows(CmpOp::Eq, parts) => {
            parts.iter().map(|part| compared(part, tables)).product()
        }
        ExprKind::Between(between) => within(between, tables),
        ExprKind::In(list) => listed(list, tables),
        ExprKind::Like(like) => {
            let share = match &like.compiled {
                Some(pattern) if pattern.is_exact() => equal(&like.value, tables),
                _ => LIKE,
            };
            if like.negated { 1.0 - share } else { share }
        }
        _ => OTHER,
    };
    debug_assert!(!share.is_nan(), "a share is a number");
    share.clamp(0.0, 1.0)
}

fn truth(value: &Value) -> f64 {
    match value {
        Value::Null | Value::Int(0) | Value::UInt(0) => 0.0,
        Value::Double(number) if *number == 0.0 => 0.0,
        _ => 1.0,
    }
}

/// The column that an operand is, by whatever type it is compared.
fn column_of<'t>(operand: &Expr, tables: &'t dyn Columns) -> Option<(&'t Table, usize)> {
    match &operand.kind {
        ExprKind::Column { index, .. } => tables.column(*index),
        ExprKind::Cast(inner, CastKind::Implicit) | ExprKind::Collate(inner) => {
            column_of(inner, tables)
        }
        _ => None,
    }
}

fn distinct(operand: &Expr, tables: &dyn Columns) -> Option<f64> {
    let (table, column) = column_of(operand, tables)?;
    table.stats().distinct(column)
}

fn nulls(operand: &Expr, tables: &dyn Columns) -> f64 {
    match column_of(operand, tables) {
        Some((table, column)) => table
            .stats()
            .null_share(column)
            .unwrap_or_else(|| if table.def.columns[column].nullable { NULLS } else { 0.0 }),
        None if operand.ty.nullable => NULLS,
        None => 0.0,
    }
}

/// The share of an equality between an operand and a value that is not known.
fn equal(operand: &Expr, tables: &dyn Columns) -> f64 {
    match distinct(operand, tables) {
        Some(distinct) => (1.0 - nulls(operand, tables)) / distinct.max(1.0),
        None => EQUAL,
    }
}

fn compared(compare: &Compare, tables: &dyn Columns) -> f64 {
    let both = || {
        let (left, right) = (distinct(&compare.left, tables), distinct(&compare.right, tables));
        match (left, right) {
            (None, None) => EQUAL,
            (left, right) => {
                let present = |operand: &Expr| 1.0 - nulls(operand, tables);
                let most = left.unwrap_or(1.0).max(right.unwrap_or(1.0)).max(1.0);
                present(&compare.left) * present(&compare.right) / most
            }
        }
    };
    match compare.op {
        CmpOp::Eq | CmpOp::NullSafeEq => both(),
        CmpOp::Ne => 1.0 - both(),
        CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge => RANGE,
    }
}

fn within(between: &Between, _tables: &dyn Columns) -> f64 {
    if between.negated { 1.0 - BETWEEN } else { BETWEEN }
}

fn listed(list: &InList, tables: &dyn Columns) -> f64 {
    let items = list.items.len() as f64;
    let share = match distinct(&list.value, tables) {
        Some(_) => (equal(&list.value, tables) * items).min(1.0),
        None => (EQUAL * items).min(MAX_LIST),
    };
    if list.negated { 1.0 - share } else { share }
}
