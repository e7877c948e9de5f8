//! Conditions that stored cells answer, for all rows of a run at once.
//!
//! Of a list of conditions these are the first ones of the form `column op constant`, both of them
//! integers, or both strings of one collation. What comes after the first other condition is left
//! to the general way, so that no condition is evaluated for a row which one before it refuses:
//!
//! ```text
//!   WHERE a > 3 AND b = 'x' AND f(c) = 1 AND d < 5      here: a > 3 AND b = 'x'
//! ```

use super::Result;
use crate::access::FoundRun;
use crate::plan::TableSource;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::value::Value;
use inia_expr::compare::CmpClass;
use inia_expr::tree::{CmpOp, Compare};
use inia_expr::{EvalContext, Expr, ExprKind};

/// One condition on one column.
enum Check {
    Int { column: usize, op: CmpOp, unsigned: bool, value: i128 },
    Text { column: usize, op: CmpOp, collation: Collation, value: String },
}

/// The conditions on one table that are checked here.
pub(super) struct Checks {
    checks: Vec<Check>,
    /// There are no others.
    all: bool,
    passes: Vec<bool>,
    /// The rows of the last run that passed.
    pub(super) chosen: Vec<usize>,
}

impl Checks {
    /// The conditions of `filter` that can be checked here.
    pub(super) fn of(filter: &[Expr], source: &TableSource, ctx: &mut EvalContext<'_>) -> Checks {
        let mut checks = Vec::new();
        for condition in filter {
            match Check::of(condition, source, ctx) {
                Some(check) => checks.push(check),
                None => break,
            }
        }
        let all = checks.len() == filter.len();
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

impl Check {
    fn of(condition: &Expr, source: &TableSource, ctx: &mut EvalContext<'_>) -> Option<Check> {
        let ExprKind::Compare(compare) = &condition.kind else { return None };
        let Compare { op, class, left, right } = &**compare;
        let (column, op, constant) = match (column_of(left, source), column_of(right, source)) {
            (Some(column), None) => (column, *op, right),
            (None, Some(column)) => (column, mirrored(*op), left),
            _ => return None,
        };
        let constant_kind = matches!(constant.kind, ExprKind::Literal(_) | ExprKind::Param(_));
        if !constant_kind || op == CmpOp::NullSafeEq {
            return None;
        }
        let value = constant.eval_ref(ctx, &[]).ok()?;
        match (&source.table.def.columns[column].data_type, class, &*value) {
            (DataType::Int { unsigned, .. }, CmpClass::Int, Value::Int(value)) => {
                let (unsigned, value) = (*unsigned, i128::from(*value));
                Some(Check::Int { column, op, unsigned, value })
            }
            (DataType::Int { unsigned, .. }, CmpClass::Int, Value::UInt(value)) => {
                let (unsigned, value) = (*unsigned, i128::from(*value));
                Some(Check::Int { column, op, unsigned, value })
            }
            (
                DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. },
                CmpClass::Text(collation),
                Value::Text(value),
            ) => Some(Check::Text { column, op, collation: *collation, value: value.clone() }),
            _ => None,
        }
    }

    /// Clears `passes` for rows that do not fulfil the condition; false, with nothing cleared,
    /// where the column cannot be read here.
    fn apply(&self, run: &FoundRun<'_>, source: &TableSource, passes: &mut [bool]) -> Result<bool> {
        let (table, all) = (&source.table, 0..run.len());
        let mut passes = passes.iter_mut();
        match self {
            Check::Int { column, op, unsigned, value } => {
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
            Check::Text { column, op, collation, value } => {
                run.bytes(table, *column, all, |text| {
                    let Some(passes) = passes.next().filter(|passes| **passes) else { return };
                    *passes = text
                        .is_some_and(|text| op.holds(collation.compare(text, value.as_bytes())));
                })
            }
        }
    }
}

fn column_of(expr: &Expr, source: &TableSource) -> Option<usize> {
    let ExprKind::Column { index, .. } = expr.kind else { return None };
    let column = index.checked_sub(source.base)?;
    (column < source.table.def.columns.len()).then_some(column)
}

/// The operator with its sides changed.
fn mirrored(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Lt => CmpOp::Gt,
        CmpOp::Le => CmpOp::Ge,
        CmpOp::Gt => CmpOp::Lt,
        CmpOp::Ge => CmpOp::Le,
        same => same,
    }
}
