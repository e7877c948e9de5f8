//! Tables that stand first in a join and of which constants find one row: MySQL reads them while it
//! plans, so that their columns are constants for the tables behind them.
//!
//! ```text
//!   posts   const   PRIMARY   const
//!   users   const   PRIMARY   const      by posts.user_id, which is known
//! ```

use super::line::{Line, request_of};
use crate::access::{EqualPart, EvalSettings, count_rows};
use crate::plan::{Body, RowSource, StatementPlan, TableSource};
use inia_base::value::Value;
use inia_expr::{Environment, Expr, ExprKind, SessionHost, SlotSet, TypeClass, slots_of};

/// Shows what is compared with columns of such tables as constants in the lines of a SELECT's
/// tables; returns how many such tables there are.
pub(super) fn show_constants(source: &RowSource, lines: &mut [Line]) -> usize {
    let (mut count, mut at, mut single) = (0, 0, SlotSet::default());
    source.each(&mut |member| {
        let (table, slots) = match member {
            RowSource::Table(table) => {
                let slots = table.base..table.base + table.needed.len();
                let known = |value: &Expr| {
                    let read = slots_of(value).slots;
                    let columns = read != SlotSet::default() && read.is_subset(&single);
                    columns || value.is_constant_in_statement()
                };
                let is_single = table.access.point && table.access.own_exprs().all(known);
                (Some(table), Some(slots).filter(|_| is_single))
            }
            RowSource::Subplan { base, width, .. } => {
                let is_single = lines.get(at).is_some_and(|line| line.access == Some("system"));
                (None, Some(*base..base + width).filter(|_| is_single))
            }
            _ => return,
        };
        let first = count == at;
        at += 1;
        if let Some(slots) = slots.filter(|_| first) {
            single = single.union(&SlotSet::of_range(slots));
            count += 1;
        }
        let Some(table) = table else { return };
        let line = lines.iter_mut().find(|line| line.table.as_ref() == Some(&table.alias));
        let Some(line) = line else { return };
        if single.contains(table.base) && line.access == Some("eq_ref") {
            line.access = Some("const");
        }
        show_values((source, table), line, &single);
    });
    count.min(lines.len())
}

/// Takes off the lines of such tables that conditions are checked, which was done with their rows.
pub(super) fn hide_conditions(lines: &mut [Line]) {
    for line in lines {
        line.filtered = Some(100.0);
        line.extra.retain(|part| *part != "Using where");
    }
}

/// Shows the parts of a key that equal columns: those of such tables as constants, those of tables
/// in merged derived tables by their own names.
fn show_values((source, table): (&RowSource, &TableSource), line: &mut Line, single: &SlotSet) {
    let Some(reference) = &line.reference else { return };
    let parts: Vec<&str> = reference.split(',').collect();
    if parts.len() != table.access.equal.len() {
        return;
    }
    let shown = table.access.equal.iter().zip(parts).map(|(part, shown)| match part {
        EqualPart::Value(value) | EqualPart::NullSafe(value) => {
            let read = slots_of(value).slots;
            if read != SlotSet::default() && read.is_subset(single) {
                return "const".to_owned();
            }
            own_name(source, value, shown).unwrap_or_else(|| shown.to_owned())
        }
        EqualPart::AnyOf(_) => shown.to_owned(),
    });
    let shown: Vec<String> = shown.collect();
    line.reference = Some(shown.join(","));
}

/// The name of a column by the table that fills its slot.
fn own_name(source: &RowSource, value: &Expr, shown: &str) -> Option<String> {
    let ExprKind::Column { index, .. } = value.kind else { return None };
    let found = column_of(source, index);
    let (alias, column) = found?;
    let mut names = shown.split('.');
    let (db, _, _) = (names.next()?, names.next()?, names.next()?);
    names.next().is_none().then(|| format!("{db}.{alias}.{column}"))
}

/// Counts the rows that keys find by values of rows which were read while the statement was
/// explained, for the lines of its outermost SELECT.
pub fn count_found<'f>(
    plan: &StatementPlan,
    lines: &mut [Line],
    found: &dyn Fn(&str, &str) -> Option<&'f Option<String>>,
    (env, host): (&Environment, &dyn SessionHost),
) {
    let Body::Select(select) = &plan.root.body else { return };
    let settings = EvalSettings { env, host };
    select.source.each(&mut |member| {
        let RowSource::Table(table) = member else { return };
        let line = lines.iter_mut().find(|line| line.table.as_ref() == Some(&table.alias));
        let Some(line) = line.filter(|line| line.access == Some("ref")) else { return };
        let mut path = table.access.clone();
        for part in &mut path.equal {
            let EqualPart::Value(value) = part else { return };
            let ExprKind::Column { index, .. } = value.kind else { continue };
            let value_of = column_of(&select.source, index);
            let value_of = value_of.and_then(|(alias, column)| found(alias, column));
            let Some(Some(text)) = value_of else { return };
            let known = match text.parse::<i64>() {
                Ok(number) if value.ty.class() == TypeClass::Int => Value::Int(number),
                _ => Value::Text(text.clone()),
            };
            *value = Expr::literal(known, value.ty.clone());
        }
        let (request, _) = request_of(table, &[], Some(settings));
        if let Some(rows) = count_rows(&request, &path) {
            line.rows = Some(rows as u64);
        }
    });
}

/// The table that fills a slot, and the name of the column.
fn column_of(source: &RowSource, slot: usize) -> Option<(&str, &str)> {
    let mut found = None;
    source.each(&mut |member| {
        if let RowSource::Table(table) = member
            && (table.base..table.base + table.needed.len()).contains(&slot)
        {
            let column = table.table.def.columns.get(slot - table.base);
            found = column.map(|column| (table.alias.as_str(), column.shown_name()));
        }
    });
    found
}
