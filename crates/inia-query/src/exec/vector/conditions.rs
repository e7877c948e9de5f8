//! Truth values of conditions for all rows of a batch, NULL among them, and which rows they leave.

use super::batch::Rows;
use super::numbers::{self, Numbers};
use super::program::Execution;
use crate::exec::Result;
use crate::plan::vector::{NumberKind, VectorCondition, VectorFilters};
use inia_base::collation::Collation;
use inia_base::value::Value;
use inia_expr::like::Pattern;
use inia_expr::tree::CmpOp;
use inia_expr::{EvalContext, Expr};

/// Ordered so that AND is the least of its operands and OR the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Truth {
    False,
    Null,
    True,
}

impl Truth {
    fn not(self) -> Truth {
        match self {
            Truth::False => Truth::True,
            Truth::Null => Truth::Null,
            Truth::True => Truth::False,
        }
    }

    pub(super) fn of(holds: bool) -> Truth {
        if holds { Truth::True } else { Truth::False }
    }
}

/// The conditions of one place and what they read, in one execution.
pub(super) struct Filters<'p> {
    plan: &'p VectorFilters,
    exprs: Vec<&'p Expr>,
    /// `None` where a constant has no vector form: conditions are evaluated row by row then.
    execution: Option<Execution<'p>>,
}

impl<'p> Filters<'p> {
    /// The conditions `exprs`, of which `plan` was made.
    pub(super) fn new(
        plan: &'p VectorFilters,
        exprs: impl IntoIterator<Item = &'p Expr>,
        ctx: &mut EvalContext<'_>,
    ) -> Filters<'p> {
        let exprs: Vec<&Expr> = exprs.into_iter().collect();
        debug_assert_eq!(exprs.len(), plan.filters.len(), "each condition has its filter");
        Filters { plan, exprs, execution: Execution::new(&plan.program, ctx) }
    }

    /// Leaves the slots packed that the conditions only compare with constants, where rows are
    /// kept. `kind_of` says what the numbers of a slot are in its table.
    pub(super) fn leave_packed(&mut self, kind_of: &dyn Fn(usize) -> Option<NumberKind>) {
        if let Some(execution) = &mut self.execution {
            execution.leave_packed(execution.slots_compared_only(&self.plan.filters, kind_of));
        }
    }

    /// The slots that stay packed where rows are kept.
    pub(super) fn packed(&self) -> &[usize] {
        self.execution.as_ref().map_or(&[], Execution::packed)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.exprs.is_empty()
    }

    /// Whether no row fulfils the conditions where all numbers of each slot are in the bounds that
    /// `bounds` gives; false where that cannot be said. Bounds of a slot may be missing.
    pub(super) fn exclude(&self, bounds: &dyn Fn(usize) -> Option<(i64, i64)>) -> bool {
        let Some(execution) = &self.execution else { return false };
        let vectors = self.plan.filters.iter().map_while(|filter| filter.vector.as_ref());
        // What is evaluated row by row may warn, and is not to be left out.
        execution.is_silent() && vectors.into_iter().any(|one| is_false(one, execution, bounds))
    }

    /// Finds the rows for which all conditions are true; `None` for all rows.
    pub(super) fn choose<R: Rows>(
        &mut self,
        rows: &mut R,
        ctx: &mut EvalContext<'_>,
        values: &mut [Value],
    ) -> Result<Option<Vec<bool>>> {
        if self.is_empty() {
            return Ok(None);
        }
        let mut chosen = vec![true; rows.rows()];
        let computed = match &mut self.execution {
            Some(execution) => execution.run(rows, ctx, values)?,
            None => false,
        };
        for (filter, expr) in self.plan.filters.iter().zip(&self.exprs) {
            let truth = match (&self.execution, &filter.vector) {
                (Some(execution), Some(condition)) if computed => {
                    Conditions { rows, execution }.truth(condition, &chosen)?
                }
                _ => None,
            };
            match truth {
                Some(truth) => {
                    let chosen = chosen.iter_mut().zip(truth);
                    chosen.for_each(|(chosen, truth)| *chosen &= truth == Truth::True);
                }
                None => {
                    for (row, chosen) in chosen.iter_mut().enumerate().filter(|(_, c)| **c) {
                        rows.fill(row, &filter.slots, values)?;
                        *chosen = expr.eval_bool(ctx, values)? == Some(true);
                    }
                }
            }
        }
        Ok(Some(chosen))
    }
}

/// Whether a condition is true for no row whose numbers are in these bounds.
fn is_false(
    condition: &VectorCondition,
    execution: &Execution<'_>,
    bounds: &dyn Fn(usize) -> Option<(i64, i64)>,
) -> bool {
    match condition {
        VectorCondition::Compare(op, left, right) => {
            let range = |step| execution.bounds(step, bounds);
            let (Some(left), Some(right)) = (range(*left), range(*right)) else { return false };
            match op {
                CmpOp::Eq => left.1 < right.0 || right.1 < left.0,
                CmpOp::Lt => left.0 >= right.1,
                CmpOp::Le => left.0 > right.1,
                CmpOp::Gt => left.1 <= right.0,
                CmpOp::Ge => left.1 < right.0,
                _ => false,
            }
        }
        VectorCondition::And(all) => all.iter().any(|one| is_false(one, execution, bounds)),
        VectorCondition::Or(any) => any.iter().all(|one| is_false(one, execution, bounds)),
        _ => false,
    }
}

/// Some rows whose conditions are asked, their vectors being computed.
pub(super) struct Conditions<'b, 'p, R> {
    pub(super) rows: &'b R,
    pub(super) execution: &'b Execution<'p>,
}

impl<R: Rows> Conditions<'_, '_, R> {
    /// A condition's truth for each row that is wanted, and anything for the others; `None` where
    /// it cannot be said here.
    pub(super) fn truth(
        &self,
        condition: &VectorCondition,
        wanted: &[bool],
    ) -> Result<Option<Vec<Truth>>> {
        Ok(match condition {
            VectorCondition::Compare(op, left, right) => {
                let comparison = self.execution.slot_comparison(*op, *left, *right);
                if let Some(comparison) = comparison
                    && let Some(truth) = self.rows.compare(comparison)?
                {
                    return Ok(Some(truth));
                }
                let Some((left, right)) = self.execution.aligned(*left, *right) else {
                    return Ok(None);
                };
                Some(self.compare(*op, &left, &right))
            }
            VectorCondition::Text { slot, op, constant, collation } => {
                match self.execution.text(*constant) {
                    Some(text) => self.compare_text(*slot, (*op, *collation, text), wanted)?,
                    None => Some(vec![Truth::Null; self.rows.rows()]),
                }
            }
            VectorCondition::Like(slot, pattern) => self.like(*slot, pattern, wanted)?,
            VectorCondition::IsNull(step, negated) => {
                let vector = self.execution.vector(*step);
                let rows = 0..self.rows.rows();
                Some(rows.map(|i| Truth::of(vector.is_null(i) != *negated)).collect())
            }
            VectorCondition::NoText(slot, negated) => {
                let mut truth = self.rows.test_texts(*slot, wanted, &mut |_| Truth::True)?;
                let flags = truth.iter_mut().flatten();
                flags.for_each(|flag| *flag = Truth::of((*flag == Truth::Null) != *negated));
                truth
            }
            VectorCondition::And(all) => {
                self.fold(all, (Truth::True, Truth::False), Truth::min, wanted)?
            }
            VectorCondition::Or(any) => {
                self.fold(any, (Truth::False, Truth::True), Truth::max, wanted)?
            }
            VectorCondition::Not(inner) => {
                let mut truth = self.truth(inner, wanted)?;
                truth.iter_mut().flatten().for_each(|truth| *truth = truth.not());
                truth
            }
        })
    }

    /// Joins the truth of operands. A row whose truth is `decided` is not asked about any more.
    fn fold(
        &self,
        operands: &[VectorCondition],
        (neutral, decided): (Truth, Truth),
        join: impl Fn(Truth, Truth) -> Truth,
        wanted: &[bool],
    ) -> Result<Option<Vec<Truth>>> {
        let mut all = vec![neutral; self.rows.rows()];
        let mut open = wanted.to_vec();
        for operand in operands {
            let Some(truth) = self.truth(operand, &open)? else { return Ok(None) };
            // What is decided stays so, whatever it is joined with: no choice for each row.
            for ((all, open), truth) in all.iter_mut().zip(&mut open).zip(truth) {
                *all = join(*all, truth);
                *open &= *all != decided;
            }
        }
        Ok(Some(all))
    }

    fn compare(&self, op: CmpOp, left: &Numbers, right: &Numbers) -> Vec<Truth> {
        let rows = self.rows.rows();
        let mut truth = numbers::compare(op, left, right, rows, Truth::of);
        for nulls in [&left.nulls, &right.nulls] {
            let null = truth.iter_mut().zip(nulls).filter(|(_, null)| **null);
            null.for_each(|(truth, _)| *truth = Truth::Null);
        }
        debug_assert_eq!(truth.len(), rows, "each row has a truth");
        truth
    }

    fn compare_text(
        &self,
        slot: usize,
        (op, collation, constant): (CmpOp, Collation, &str),
        wanted: &[bool],
    ) -> Result<Option<Vec<Truth>>> {
        let constant = constant.as_bytes();
        let holds = |text: &[u8]| Truth::of(op.holds(collation.compare(text, constant)));
        self.rows.test_texts(slot, wanted, &mut { holds })
    }

    fn like(&self, slot: usize, pattern: &Pattern, wanted: &[bool]) -> Result<Option<Vec<Truth>>> {
        let mut valid = true;
        let truth =
            self.rows.test_texts(slot, wanted, &mut |text| match std::str::from_utf8(text) {
                Ok(text) => Truth::of(pattern.matches(text)),
                Err(_) => {
                    valid = false;
                    Truth::False
                }
            })?;
        Ok(truth.filter(|_| valid))
    }
}
