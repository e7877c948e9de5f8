//! Truth values of conditions for all rows of a batch, NULL among them.

use super::numbers::{self, Numbers};
use super::program::Program;
use crate::access::FoundRun;
use crate::exec::Result;
use crate::plan::TableSource;
use crate::plan::vector::VectorCondition;
use inia_base::collation::Collation;
use inia_base::value::Value;
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

    fn of(holds: bool) -> Truth {
        if holds { Truth::True } else { Truth::False }
    }
}

/// The texts that conditions compare columns with, in the order of the conditions.
pub(super) struct TextConstants(Vec<String>);

impl TextConstants {
    /// `None` where one is not a text.
    pub(super) fn of(
        condition: &VectorCondition,
        ctx: &mut EvalContext<'_>,
    ) -> Option<TextConstants> {
        let mut texts = Vec::new();
        collect(condition, &mut |constant: &Expr| {
            let value = constant.eval_ref(ctx, &[]).ok()?;
            let Value::Text(text) = &*value else { return None };
            texts.push(text.clone());
            Some(())
        })?;
        Some(TextConstants(texts))
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, String> {
        self.0.iter()
    }
}

/// Gives the constants of a condition's texts to `take`.
fn collect(condition: &VectorCondition, take: &mut dyn FnMut(&Expr) -> Option<()>) -> Option<()> {
    match condition {
        VectorCondition::Text { constant, .. } => take(constant),
        VectorCondition::And(all) | VectorCondition::Or(all) => {
            all.iter().try_for_each(|condition| collect(condition, take))
        }
        VectorCondition::Not(inner) => collect(inner, take),
        VectorCondition::Compare(..) | VectorCondition::IsNull(..) => Some(()),
    }
}

/// A batch whose conditions are asked.
pub(super) struct Batch<'b, 's> {
    pub(super) run: &'b FoundRun<'s>,
    pub(super) source: &'b TableSource,
    pub(super) program: &'b Program<'b>,
}

impl Batch<'_, '_> {
    /// A condition's truth for each row; `None` where it cannot be said here.
    pub(super) fn truth(
        &self,
        condition: &VectorCondition,
        texts: &mut std::slice::Iter<'_, String>,
    ) -> Result<Option<Vec<Truth>>> {
        Ok(match condition {
            VectorCondition::Compare(op, left, right) => {
                let Some((left, right)) = self.program.aligned(*left, *right) else {
                    return Ok(None);
                };
                Some(self.compare(*op, &left, &right))
            }
            VectorCondition::Text { column, op, collation, .. } => {
                let text = texts.next().expect("each text has its constant");
                self.compare_text(*column, *op, *collation, text)?
            }
            VectorCondition::IsNull(step, negated) => {
                let vector = self.program.vector(*step);
                let rows = 0..self.run.len();
                Some(rows.map(|i| Truth::of(vector.is_null(i) != *negated)).collect())
            }
            VectorCondition::And(all) => self.fold(all, texts, Truth::True, Truth::min)?,
            VectorCondition::Or(any) => self.fold(any, texts, Truth::False, Truth::max)?,
            VectorCondition::Not(inner) => {
                let mut truth = self.truth(inner, texts)?;
                truth.iter_mut().flatten().for_each(|truth| *truth = truth.not());
                truth
            }
        })
    }

    fn fold(
        &self,
        operands: &[VectorCondition],
        texts: &mut std::slice::Iter<'_, String>,
        neutral: Truth,
        join: impl Fn(Truth, Truth) -> Truth,
    ) -> Result<Option<Vec<Truth>>> {
        let mut all = vec![neutral; self.run.len()];
        for operand in operands {
            let Some(truth) = self.truth(operand, texts)? else { return Ok(None) };
            all.iter_mut().zip(truth).for_each(|(all, truth)| *all = join(*all, truth));
        }
        Ok(Some(all))
    }

    fn compare(&self, op: CmpOp, left: &Numbers, right: &Numbers) -> Vec<Truth> {
        let rows = self.run.len();
        let mut truth = Vec::with_capacity(rows);
        numbers::compare(op, left, right, rows, |holds| truth.push(Truth::of(holds)));
        for nulls in [&left.nulls, &right.nulls] {
            let null = truth.iter_mut().zip(nulls).filter(|(_, null)| **null);
            null.for_each(|(truth, _)| *truth = Truth::Null);
        }
        debug_assert_eq!(truth.len(), rows, "each row has a truth");
        truth
    }

    fn compare_text(
        &self,
        column: usize,
        op: CmpOp,
        collation: Collation,
        constant: &str,
    ) -> Result<Option<Vec<Truth>>> {
        let rows = self.run.len();
        let mut truth = Vec::with_capacity(rows);
        let given = self.run.bytes(&self.source.table, column, 0..rows, |text| {
            truth.push(match text {
                None => Truth::Null,
                Some(text) => Truth::of(op.holds(collation.compare(text, constant.as_bytes()))),
            });
        })?;
        Ok(given.then_some(truth))
    }
}
