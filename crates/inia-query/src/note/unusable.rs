//! Indexes of texts that a condition names beside values of other kinds, which cannot use them.
//!
//! `t.c = 1` of a text column `c` compares numbers, so an index of `c` finds nothing: warnings 1739
//! say so, one for looking rows up and one for ranges.

use super::Rewriter;
use super::condition::is_constant;
use super::constant::ConstantTables;
use super::joins::table_of;
use super::types::{Kind, kind};
use inia_base::value::Value;
use inia_parser::ast::{BinaryOp, ColumnName, Expr};

/// A comparison of a text column with values of other kinds.
struct Converted<'c> {
    column: &'c ColumnName,
    /// It may look rows up.
    looks_up: bool,
    /// It may be a range.
    ranges: bool,
}

impl Rewriter<'_> {
    /// Notes the indexes that a condition cannot use; `looked_up` where rows may be looked up.
    pub(super) fn note_unusable(
        &mut self,
        condition: &Expr,
        constants: &ConstantTables,
        looked_up: bool,
    ) {
        let mut found = Vec::new();
        self.converted_in(condition, &mut found);
        let mut said: Vec<(&str, String, String)> = Vec::new();
        for one in found.iter().filter(|one| looked_up && one.looks_up) {
            for (index, _) in self.types.indexes(one.column).iter().filter(|(_, first)| *first) {
                said.push(("ref", (*index).to_owned(), one.column.name.clone()));
            }
        }
        for one in found.iter().filter(|one| one.ranges) {
            if !constants.reads(&table_of(one.column)) {
                for (index, _) in self.types.indexes(one.column) {
                    said.push(("range", index.to_owned(), one.column.name.clone()));
                }
            }
        }
        said.iter().for_each(|(access, index, column)| self.said.unusable(access, index, column));
    }

    fn converted_in<'c>(&self, condition: &'c Expr, found: &mut Vec<Converted<'c>>) {
        match condition {
            Expr::And(list) | Expr::Or(list) => {
                list.iter().for_each(|one| self.converted_in(one, found));
            }
            Expr::Binary { op, left, right } if op.is_comparison() => {
                let sides = [(&**left, &**right), (&**right, &**left)];
                for (column, other) in sides {
                    self.compared(*op, column, other, found);
                }
            }
            Expr::InList { expr, list, negated: false } => {
                self.in_range(expr, &list.iter().collect::<Vec<_>>(), found);
            }
            Expr::Between { expr, low, high, negated: false } => {
                self.in_range(expr, &[low, high], found);
            }
            Expr::Like { expr, pattern, negated: false, .. } => {
                self.in_range(expr, &[pattern], found);
            }
            _ => {}
        }
    }

    fn compared<'c>(
        &self,
        op: BinaryOp,
        column: &'c Expr,
        other: &'c Expr,
        found: &mut Vec<Converted<'c>>,
    ) {
        let Some(column) = self.text_column(column) else { return };
        let looks_up = matches!(op, BinaryOp::Eq | BinaryOp::NullSafeEq);
        if is_constant(other) {
            if self.is_of_another_kind(other) {
                found.push(Converted { column, looks_up, ranges: true });
            }
        } else if let Expr::Column(beside) = other
            && table_of(beside) != table_of(column)
            && self.types.of(other).is_some_and(|ty| kind(ty) != Kind::Text)
            && looks_up
        {
            found.push(Converted { column, looks_up, ranges: false });
        }
    }

    fn in_range<'c>(&self, column: &'c Expr, values: &[&Expr], found: &mut Vec<Converted<'c>>) {
        if let Some(column) = self.text_column(column)
            && values.iter().all(|value| is_constant(value) && self.is_of_another_kind(value))
        {
            found.push(Converted { column, looks_up: false, ranges: true });
        }
    }

    fn text_column<'c>(&self, expr: &'c Expr) -> Option<&'c ColumnName> {
        match expr {
            Expr::Column(name) if self.types.of(expr).is_some_and(|ty| kind(ty) == Kind::Text) => {
                Some(name)
            }
            _ => None,
        }
    }

    /// Whether a constant is neither text nor NULL.
    fn is_of_another_kind(&self, constant: &Expr) -> bool {
        let value = self.value(constant);
        value.is_some_and(|value| !matches!(value, Value::Text(_) | Value::Bytes(_) | Value::Null))
    }
}
