//! Conditions that stored cells answer, for all rows of a run at once.
//!
//! The plan lists them ([`CellCheck`]). A check that the data does not allow is left to the general
//! way with all conditions behind it: its constant is NULL, or a run has values of its column on
//! pages of their own.

use super::Result;
use crate::access::FoundRun;
use crate::plan::{CellCheck, CellKind, TableSource};
use inia_base::value::Value;
use inia_expr::EvalContext;

/// One condition with its constant's value.
struct Check<'p> {
    plan: &'p CellCheck,
    value: Constant,
}

/// What a column's cells are compared with.
enum Constant {
    Int(i128),
    Text(String),
}

/// The conditions on one table that are checked here.
pub(super) struct Checks<'p> {
    checks: Vec<Check<'p>>,
    /// There are no others.
    all: bool,
    passes: Vec<bool>,
    /// The rows of the last run that passed.
    pub(super) chosen: Vec<usize>,
}

impl<'p> Checks<'p> {
    /// The conditions of a table that are checked here.
    pub(super) fn of(source: &'p TableSource, ctx: &mut EvalContext<'_>) -> Checks<'p> {
        let checks = source.checks.iter().map_while(|plan| Check::of(plan, ctx));
        let checks: Vec<Check<'p>> = checks.collect();
        let all = checks.len() == source.filter.len();
        Checks { checks, all, passes: Vec::new(), chosen: Vec::new() }
    }

    /// Puts the rows that may fulfil all conditions in `chosen`. True where they do, and no
    /// condition is left to be evaluated for them.
    pub(super) fn choose(&mut self, run: &FoundRun<'_>, source: &TableSource) -> Result<bool> {
        self.chosen.clear();
        if self.checks.is_empty() {
            self.chosen.extend(0..run.len());
            return Ok(self.all);
        }
        self.passes.clear();
        self.passes.resize(run.len(), true);
        let mut all = self.all;
        for check in &self.checks {
            if !check.apply(run, source, &mut self.passes)? {
                // The conditions behind it wait for it.
                all = false;
                break;
            }
        }
        let passed = self.passes.iter().enumerate().filter(|(_, passes)| **passes);
        self.chosen.extend(passed.map(|(row, _)| row));
        Ok(all)
    }
}

impl<'p> Check<'p> {
    /// `None` where the constant's value is not of the column's kind.
    fn of(plan: &'p CellCheck, ctx: &mut EvalContext<'_>) -> Option<Check<'p>> {
        let value = match (plan.kind, &*plan.constant.eval_ref(ctx, &[]).ok()?) {
            (CellKind::Int { .. }, Value::Int(value)) => Constant::Int(i128::from(*value)),
            (CellKind::Int { .. }, Value::UInt(value)) => Constant::Int(i128::from(*value)),
            (CellKind::Text(_), Value::Text(value)) => Constant::Text(value.clone()),
            _ => return None,
        };
        Some(Check { plan, value })
    }

    /// Clears `passes` for rows that do not fulfil the condition; false, with nothing cleared,
    /// where the column cannot be read here.
    fn apply(&self, run: &FoundRun<'_>, source: &TableSource, passes: &mut [bool]) -> Result<bool> {
        let (table, all) = (&source.table, 0..run.len());
        let CellCheck { column, op, kind, .. } = self.plan;
        let mut passes = passes.iter_mut();
        match (kind, &self.value) {
            (CellKind::Int { unsigned }, Constant::Int(value)) => {
                run.numbers(table, *column, all, |bits| {
                    let number = bits.map(|bits| match unsigned {
                        true => i128::from(bits),
                        false => i128::from(bits as i64),
                    });
                    let holds = number.is_some_and(|number| op.holds(number.cmp(value)));
                    if let Some(passes) = passes.next() {
                        *passes &= holds;
                    }
                })
            }
            (CellKind::Text(collation), Constant::Text(value)) => {
                run.bytes(table, *column, all, |text| {
                    let Some(passes) = passes.next().filter(|passes| **passes) else { return };
                    *passes = text
                        .is_some_and(|text| op.holds(collation.compare(text, value.as_bytes())));
                })
            }
            _ => Ok(false),
        }
    }
}
