//! Which share of rows a condition keeps.
//!
//! Where nothing is known of a column the shares are MySQL's defaults: a tenth for an equality, a
//! third for a range, a ninth for BETWEEN. Conditions on different columns are taken to be
//! independent; the ends of a range of one column, which two conditions may name, are not:
//!
//! ```text
//!   d >= '1994-01-01' AND d < '1995-01-01' AND q < 24     share of d in 1994, times share of q
//! ```

mod constant;

use crate::catalog::Table;
use crate::catalog::stats::ColumnStats;
use constant::constant_key;
use inia_base::value::Value;
use inia_expr::tree::{Between, CastKind, Compare, InList, Like};
use inia_expr::{CmpOp, Expr, ExprKind};
use std::sync::Arc;

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

/// The share of a table's rows that all conditions together keep; columns of other tables are taken
/// for values that are there, but not known.
pub(crate) fn kept_by_all<'e>(
    conditions: impl IntoIterator<Item = &'e Expr>,
    table: &Table,
    base: usize,
) -> f64 {
    share_of_all(conditions, &OneTable { table, base })
}

/// The share of the combinations of rows of `tables` that all conditions together keep.
pub(crate) fn share_of_all<'e>(
    conditions: impl IntoIterator<Item = &'e Expr>,
    tables: &dyn Columns,
) -> f64 {
    let mut ranges: Vec<ColumnRange<'_>> = Vec::new();
    let mut share = 1.0;
    for condition in conditions {
        let Some(range) = range_of(condition, tables) else {
            share *= share_of(condition, tables);
            continue;
        };
        match ranges.iter_mut().find(|known| known.is_of_same(&range)) {
            Some(known) => known.narrow(range),
            None => ranges.push(range),
        }
    }
    ranges.iter().fold(share, |share, range| share * range.share())
}

/// The share of the combinations of rows of `tables` that a condition keeps: for an equality
/// between columns of two tables, one over the larger number of their values.
pub(crate) fn share_of(condition: &Expr, tables: &dyn Columns) -> f64 {
    let share = match &condition.kind {
        ExprKind::Literal(value) => truth(value),
        ExprKind::And(items) => share_of_all(items, tables),
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
        ExprKind::Compare(compare) => compared(condition, compare, tables),
        ExprKind::CompareRows(CmpOp::Eq, parts) => {
            parts.iter().map(|part| equal_operands(part, tables)).product()
        }
        ExprKind::Between(between) => within(condition, between, tables),
        ExprKind::In(list) => listed(list, tables),
        ExprKind::Like(like) => alike(like, tables),
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

/// The share of an equality between a column and a constant, where the column's values are known.
fn equal_constant(operand: &Expr, value: &Expr, tables: &dyn Columns) -> Option<f64> {
    let value = value.as_literal()?;
    let (table, column) = column_of(operand, tables)?;
    if matches!(value, Value::Null) {
        return Some(0.0);
    }
    let key = constant_key(value, table, column)?;
    Some(table.stats().column(column)?.equal_share(&key))
}

/// The share of an equality, whatever its operands are.
fn equal_operands(compare: &Compare, tables: &dyn Columns) -> f64 {
    let (left, right) = (&compare.left, &compare.right);
    let constant = equal_constant(left, right, tables);
    if let Some(share) = constant.or_else(|| equal_constant(right, left, tables)) {
        return share;
    }
    let present = |operand: &Expr| 1.0 - nulls(operand, tables);
    match (distinct(left, tables), distinct(right, tables)) {
        (None, None) => EQUAL,
        (Some(most), None) => present(left) / most,
        (None, Some(most)) => present(right) / most,
        (Some(a), Some(b)) => present(left) * present(right) / a.max(b),
    }
}

fn compared(condition: &Expr, compare: &Compare, tables: &dyn Columns) -> f64 {
    let is_null = |operand: &Expr| matches!(operand.as_literal(), Some(Value::Null));
    match compare.op {
        CmpOp::NullSafeEq if is_null(&compare.right) => nulls(&compare.left, tables),
        CmpOp::NullSafeEq if is_null(&compare.left) => nulls(&compare.right, tables),
        _ if is_null(&compare.left) || is_null(&compare.right) => 0.0,
        CmpOp::Eq | CmpOp::NullSafeEq => equal_operands(compare, tables),
        CmpOp::Ne => {
            let nulls = nulls(&compare.left, tables).max(nulls(&compare.right, tables));
            1.0 - nulls - equal_operands(compare, tables)
        }
        CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge => {
            range_of(condition, tables).map_or(RANGE, |range| range.share())
        }
    }
}

fn within(condition: &Expr, between: &Between, tables: &dyn Columns) -> f64 {
    if between.negated {
        let Some(range) = range_between(between, tables) else { return 1.0 - BETWEEN };
        return 1.0 - range.share() - nulls(&between.value, tables);
    }
    range_of(condition, tables).map_or(BETWEEN, |range| range.share())
}

fn listed(list: &InList, tables: &dyn Columns) -> f64 {
    let known = distinct(&list.value, tables).is_some();
    let each = |(_, item): &(_, Expr)| {
        let share = equal_constant(&list.value, item, tables);
        share.unwrap_or_else(|| equal(&list.value, tables))
    };
    let share = list.items.iter().map(each).sum::<f64>().min(if known { 1.0 } else { MAX_LIST });
    if list.negated { 1.0 - share - nulls(&list.value, tables) } else { share }
}

fn alike(like: &Like, tables: &dyn Columns) -> f64 {
    let share = matched(like, tables).unwrap_or(LIKE);
    if like.negated { 1.0 - share - nulls(&like.value, tables) } else { share }
}

/// The share of texts that match a pattern, by those that the statistics keep.
fn matched(like: &Like, tables: &dyn Columns) -> Option<f64> {
    let pattern = like.compiled.as_ref()?;
    if pattern.is_exact() {
        return Some(equal(&like.value, tables));
    }
    let (table, column) = column_of(&like.value, tables)?;
    let stats = table.stats().sample(column)?;
    if stats.texts.is_empty() {
        return None;
    }
    let matching = stats.texts.iter().filter(|text| pattern.matches(text)).count() as f64;
    // A text that is too rare for the sample is not taken to be nowhere.
    let share = (matching + 0.25) / (stats.texts.len() as f64 + 0.5);
    Some(share * (1.0 - stats.null_share))
}

/// A column's values between constants.
struct ColumnRange<'t> {
    table: &'t Table,
    column: usize,
    stats: Arc<ColumnStats>,
    lower: Option<(Vec<u8>, bool)>,
    upper: Option<(Vec<u8>, bool)>,
}

impl ColumnRange<'_> {
    fn is_of_same(&self, other: &ColumnRange<'_>) -> bool {
        std::ptr::eq(self.table, other.table) && self.column == other.column
    }

    /// Takes the values that are in `other` as well.
    fn narrow(&mut self, other: ColumnRange<'_>) {
        if other.lower > self.lower {
            self.lower = other.lower;
        }
        if other.upper.is_some() && (self.upper.is_none() || other.upper < self.upper) {
            self.upper = other.upper;
        }
    }

    fn share(&self) -> f64 {
        fn end(end: &Option<(Vec<u8>, bool)>) -> Option<(&[u8], bool)> {
            end.as_ref().map(|(key, inside)| (&key[..], *inside))
        }
        self.stats.range_share(end(&self.lower), end(&self.upper))
    }
}

/// The range that a comparison of a column with constants names, where its values are known.
fn range_of<'t>(condition: &Expr, tables: &'t dyn Columns) -> Option<ColumnRange<'t>> {
    match &condition.kind {
        ExprKind::Compare(compare) => {
            let (op, operand, value) = match compare.right.as_literal() {
                Some(value) => (compare.op, &compare.left, value),
                None => (compare.op.swapped(), &compare.right, compare.left.as_literal()?),
            };
            let (table, column) = column_of(operand, tables)?;
            let key = constant_key(value, table, column)?;
            let (lower, upper) = match op {
                CmpOp::Gt | CmpOp::Ge => (Some((key, op == CmpOp::Ge)), None),
                CmpOp::Lt | CmpOp::Le => (None, Some((key, op == CmpOp::Le))),
                _ => return None,
            };
            let stats = table.stats().column(column)?;
            Some(ColumnRange { table, column, stats, lower, upper })
        }
        ExprKind::Between(between) if !between.negated => range_between(between, tables),
        _ => None,
    }
}

fn range_between<'t>(between: &Between, tables: &'t dyn Columns) -> Option<ColumnRange<'t>> {
    let (table, column) = column_of(&between.value, tables)?;
    let key = |end: &Expr| Some((constant_key(end.as_literal()?, table, column)?, true));
    let (lower, upper) = (Some(key(&between.low)?), Some(key(&between.high)?));
    let stats = table.stats().column(column)?;
    Some(ColumnRange { table, column, stats, lower, upper })
}

/// The share of a table's rows whose column is in an interval of constants; `None` where its values
/// are not known.
pub(super) fn interval_share(
    table: &Table,
    column: usize,
    lower: Option<(&Expr, bool)>,
    upper: Option<(&Expr, bool)>,
) -> Option<f64> {
    type End<'e> = Option<(&'e Expr, bool)>;
    let key = |end: End<'_>| match end {
        None => Some(None),
        Some((value, inside)) => {
            Some(Some((constant_key(value.as_literal()?, table, column)?, inside)))
        }
    };
    let (lower, upper) = (key(lower)?, key(upper)?);
    let stats = table.stats().column(column)?;
    Some(ColumnRange { table, column, stats, lower, upper }.share())
}
