//! Runs the steps of a program over the rows of a batch.

use super::numbers::{self, Numbers};
use crate::access::FoundRun;
use crate::exec::Result;
use crate::plan::TableSource;
use crate::plan::vector::{NumberKind, NumberOp, NumberStep};
use crate::row::pack_date;
use inia_base::value::Value;
use inia_expr::tree::ArithOp;
use inia_expr::{EvalContext, Expr};

/// A program with the values of its constants.
pub(super) struct Program<'p> {
    steps: &'p [NumberStep],
    constants: Vec<Option<Numbers>>,
    /// The vectors of the present batch, as far as they are computed.
    vectors: Vec<Option<Numbers>>,
}

impl<'p> Program<'p> {
    /// `None` where a constant has no value of its step's kind.
    pub(super) fn new(steps: &'p [NumberStep], ctx: &mut EvalContext<'_>) -> Option<Program<'p>> {
        let constants = steps.iter().map(|step| match &step.op {
            NumberOp::Constant(expr) => Some(Some(constant(expr, step.kind, ctx)?)),
            _ => Some(None),
        });
        let constants = constants.collect::<Option<_>>()?;
        Some(Program { steps, constants, vectors: Vec::new() })
    }

    /// Computes all vectors of a batch: of the `chosen` rows, or of all. False where a number
    /// cannot be computed or read here.
    pub(super) fn run(
        &mut self,
        run: &FoundRun<'_>,
        source: &TableSource,
        chosen: Option<&[bool]>,
    ) -> Result<bool> {
        self.vectors.clear();
        for (step, constant) in self.steps.iter().zip(&self.constants) {
            let vector = match (&step.op, constant) {
                (_, Some(constant)) => Some(constant.clone()),
                (NumberOp::Column(column), _) => load(run, source, *column, step.kind, chosen)?,
                (NumberOp::Arith(op, left, right), _) => self.arith(*op, step, *left, *right),
                (NumberOp::Negate(inner), _) => {
                    let zero = Numbers::one(0);
                    let vector = numbers::arith(ArithOp::Sub, &zero, self.vector(*inner));
                    vector.filter(|vector| in_range(vector, step.kind))
                }
                (NumberOp::Constant(_), None) => None,
            };
            if vector.is_none() {
                return Ok(false);
            }
            self.vectors.push(vector);
        }
        Ok(true)
    }

    /// The vector of a step that has been run.
    pub(super) fn vector(&self, step: usize) -> &Numbers {
        self.vectors[step].as_ref().expect("earlier steps have vectors")
    }

    /// What the numbers of a step are.
    pub(super) fn kind(&self, step: usize) -> NumberKind {
        self.steps[step].kind
    }

    /// The vectors of two steps with as many digits after the point.
    pub(super) fn aligned(&self, left: usize, right: usize) -> Option<(Numbers, Numbers)> {
        let (l, r) = (self.kind(left).scale(), self.kind(right).scale());
        let most = l.max(r);
        let left = self.vector(left).scaled(most - l)?;
        Some((left, self.vector(right).scaled(most - r)?))
    }

    fn arith(&self, op: ArithOp, step: &NumberStep, left: usize, right: usize) -> Option<Numbers> {
        let vector = match op {
            ArithOp::Mul => numbers::arith(op, self.vector(left), self.vector(right))?,
            _ => {
                let (left, right) = self.aligned(left, right)?;
                numbers::arith(op, &left, &right)?
            }
        };
        in_range(&vector, step.kind).then_some(vector)
    }
}

/// Whether the numbers are results that MySQL has, too: integers of their type.
fn in_range(vector: &Numbers, kind: NumberKind) -> bool {
    match kind {
        NumberKind::Int { unsigned: true } => vector.fits(0, u64::MAX.into()),
        NumberKind::Int { unsigned: false } => vector.fits(i64::MIN.into(), i64::MAX.into()),
        NumberKind::Decimal(_) | NumberKind::Date => true,
    }
}

/// A constant's number; `None` where its value is NULL or of another kind.
fn constant(expr: &Expr, kind: NumberKind, ctx: &mut EvalContext<'_>) -> Option<Numbers> {
    let number = match (&*expr.eval_ref(ctx, &[]).ok()?, kind) {
        (Value::Int(value), NumberKind::Int { .. }) => i128::from(*value),
        (Value::UInt(value), NumberKind::Int { .. }) => i128::from(*value),
        (Value::Date(value), NumberKind::Date) => pack_date(*value).into(),
        (Value::Decimal(value), NumberKind::Decimal(scale)) => {
            let (coefficient, digits) = (value.to_coefficient()?, value.scale());
            let more = scale.checked_sub(digits)?;
            coefficient.checked_mul(10i128.checked_pow(more.into())?)?
        }
        _ => return None,
    };
    Some(Numbers::one(number))
}

/// A column of the chosen rows; `None` where it cannot be read as numbers.
pub(super) fn load(
    run: &FoundRun<'_>,
    source: &TableSource,
    column: usize,
    kind: NumberKind,
    chosen: Option<&[bool]>,
) -> Result<Option<Numbers>> {
    let rows = 0..run.len();
    if let NumberKind::Decimal(_) = kind {
        let mut all = Collected::new(chosen, run.len());
        let given = run.decimals(&source.table, column, rows, |value| all.take(value))?;
        return Ok(given.then(|| Numbers::wide(all.values, all.nulls)));
    }
    let large = |bits: u64| matches!(kind, NumberKind::Int { unsigned: true }) && bits >> 63 == 1;
    let mut all = Collected::new(chosen, run.len());
    let mut any_large = false;
    let given = run.numbers(&source.table, column, rows.clone(), |bits| {
        any_large |= bits.is_some_and(large);
        all.take(bits.map(|bits| bits as i64));
    })?;
    if !given || !any_large {
        return Ok(given.then(|| Numbers::small(all.values, all.nulls)));
    }
    let mut all = Collected::new(chosen, run.len());
    let given = run.numbers(&source.table, column, rows, |bits| all.take(bits.map(i128::from)))?;
    Ok(given.then(|| Numbers::wide(all.values, all.nulls)))
}

/// The numbers of chosen rows.
struct Collected<'c, T> {
    chosen: Option<&'c [bool]>,
    row: usize,
    values: Vec<T>,
    nulls: Vec<bool>,
}

impl<T: Copy + Default> Collected<'_, T> {
    fn new(chosen: Option<&[bool]>, rows: usize) -> Collected<'_, T> {
        Collected { chosen, row: 0, values: Vec::with_capacity(rows), nulls: Vec::new() }
    }

    #[inline]
    fn take(&mut self, value: Option<T>) {
        let row = self.row;
        self.row += 1;
        if self.chosen.is_some_and(|chosen| !chosen[row]) {
            return;
        }
        if value.is_none() && self.nulls.is_empty() {
            self.nulls.resize(self.values.len(), false);
        }
        if value.is_none() || !self.nulls.is_empty() {
            self.nulls.push(value.is_none());
        }
        self.values.push(value.unwrap_or_default());
    }
}
