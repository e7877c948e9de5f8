//! What the conditions of a SELECT say of its columns: which are constant, which are equal, and
//! which are never NULL.

use inia_expr::tree::{Compare, Quantifier, SubqueryKind};
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet};

/// What holds in the rows of which some conditions are true.
#[derive(Clone, Default)]
pub(super) struct Facts {
    equal: Vec<(usize, usize)>,
    constant: SlotSet,
    /// Expressions of more than a column that are constant.
    pub(super) constant_exprs: Vec<Expr>,
    pub(super) never_null: SlotSet,
}

impl Facts {
    /// What follows from conditions that are all true. `is_constant` says which expressions have
    /// one value while the SELECT runs.
    pub(super) fn of(conditions: &[Expr], is_constant: &dyn Fn(&Expr) -> bool) -> Facts {
        let mut facts = Facts::default();
        conditions.iter().for_each(|condition| facts.add(condition, false, is_constant));
        facts
    }

    /// Adds what these say.
    pub(super) fn extend(&mut self, other: Facts) {
        self.equal.extend(other.equal);
        self.constant = self.constant.union(&other.constant);
        self.constant_exprs.extend(other.constant_exprs);
        self.never_null = self.never_null.union(&other.never_null);
    }

    /// Adds the constant columns, and of equal ones those whose partner is fixed.
    pub(super) fn spread(&self, fixed: &mut SlotSet) {
        *fixed = fixed.union(&self.constant);
        for &(a, b) in &self.equal {
            if fixed.contains(a) || fixed.contains(b) {
                fixed.insert(a);
                fixed.insert(b);
            }
        }
    }

    /// `negated`: the condition is false.
    fn add(&mut self, condition: &Expr, negated: bool, is_constant: &dyn Fn(&Expr) -> bool) {
        match &condition.kind {
            ExprKind::Not(inner) => self.add(inner, !negated, is_constant),
            ExprKind::And(items) if !negated => {
                items.iter().for_each(|item| self.add(item, false, is_constant));
            }
            ExprKind::Or(items) if negated => {
                items.iter().for_each(|item| self.add(item, true, is_constant));
            }
            ExprKind::Compare(compare) => self.compared(compare, negated, is_constant),
            ExprKind::CompareRows(CmpOp::Eq, pairs) if !negated => {
                pairs.iter().for_each(|pair| self.compared(pair, false, is_constant));
            }
            ExprKind::In(list) => {
                self.reads([&list.value]);
                if let [(_, item)] = &list.items[..]
                    && list.negated == negated
                {
                    self.equals((&list.value, item), is_constant);
                }
            }
            ExprKind::Between(between) => {
                self.reads([&between.value, &between.low, &between.high]);
                if between.negated == negated && between.low.same(&between.high) {
                    self.equals((&between.value, &between.low), is_constant);
                }
            }
            ExprKind::Like(like) => self.reads([&like.value, &like.pattern]),
            ExprKind::IsNull(inner, not) if *not != negated => self.reads([&**inner]),
            ExprKind::IsTruth(inner, _, not) if *not == negated => self.reads([&**inner]),
            ExprKind::Column { .. } => self.reads([condition]),
            ExprKind::Call(call) if matches!(call.name, "regexp_like" | "strcmp") => {
                self.reads(&call.args);
            }
            ExprKind::Subquery(subquery) if !negated => {
                if let SubqueryKind::Quantified { op, quantifier, left, .. } = &subquery.kind
                    && (*op, *quantifier) == (CmpOp::Eq, Quantifier::Any)
                {
                    self.asked(left, condition, is_constant);
                }
            }
            _ => {}
        }
    }

    fn compared(&mut self, compare: &Compare, negated: bool, is_constant: &dyn Fn(&Expr) -> bool) {
        if compare.op == CmpOp::NullSafeEq {
            return;
        }
        let sides = (&compare.left, &compare.right);
        self.reads([sides.0, sides.1]);
        let equal = if negated { CmpOp::Ne } else { CmpOp::Eq };
        if compare.op == equal {
            self.equals(sides, is_constant);
        }
    }

    /// `IN (SELECT …)` and `= ANY` find no NULL, and of a constant query one value.
    fn asked(&mut self, left: &[Expr], condition: &Expr, is_constant: &dyn Fn(&Expr) -> bool) {
        self.reads(left);
        if is_constant(condition) {
            left.iter().filter_map(column).for_each(|slot| self.constant.insert(slot));
        }
    }

    fn equals(&mut self, (left, right): (&Expr, &Expr), is_constant: &dyn Fn(&Expr) -> bool) {
        match (column(left), column(right)) {
            (Some(a), Some(b)) => self.equal.push((a, b)),
            (Some(a), None) if is_constant(right) => self.constant.insert(a),
            (None, Some(b)) if is_constant(left) => self.constant.insert(b),
            (None, None) if is_constant(right) => self.constant_exprs.push(left.clone()),
            (None, None) if is_constant(left) => self.constant_exprs.push(right.clone()),
            _ => {}
        }
    }

    /// A NULL of one of these makes the condition NULL; MySQL looks at plain columns only.
    fn reads<'e>(&mut self, operands: impl IntoIterator<Item = &'e Expr>) {
        let columns = operands.into_iter().filter_map(column);
        columns.for_each(|slot| self.never_null.insert(slot));
    }
}

fn column(expr: &Expr) -> Option<usize> {
    match expr.kind {
        ExprKind::Column { index, .. } => Some(index),
        _ => None,
    }
}
