//! Runs the steps of a program over the rows of a batch.

use super::batch::Rows;
use super::column::number_of;
use super::conditions::{Conditions, Truth};
use super::numbers::{self, Numbers, Values};
use crate::exec::Result;
use crate::plan::vector::{NumberKind, NumberOp, NumberStep, Program, VectorCondition};
use crate::row::{BELOW_DATE, pack_date, pack_datetime};
use inia_base::temporal::{DateTime, Time};
use inia_base::value::Value;
use inia_expr::tree::ArithOp;
use inia_expr::{EvalContext, Expr, date_constant};
use std::borrow::Cow;
use std::sync::Arc;

/// The digits after the point that bounds are compared with.
const DIGITS: u8 = 10;

/// A program with the values of its constants, and the vectors of the present batch.
pub(super) struct Execution<'p> {
    pub(super) program: &'p Program,
    pub(super) constants: Vec<Option<Arc<Numbers>>>,
    /// The constants that texts are compared with; `None` for NULL.
    texts: Vec<Option<String>>,
    scales: Vec<BoundScale>,
    /// Slots that stay packed where rows are kept: their vectors are not looked at.
    packed: Vec<usize>,
    /// Stands for the vector of such a slot.
    unread: Arc<Numbers>,
    vectors: Vec<Arc<Numbers>>,
}

/// How the numbers of a step become bounds with [`DIGITS`] digits after the point: each leaf asks.
#[derive(Clone, Copy)]
struct BoundScale {
    /// `None` where the numbers have more digits.
    factor: Option<i128>,
    /// The bounds of a constant that is not NULL.
    constant: Option<(i128, i128)>,
}

impl BoundScale {
    fn of(kind: NumberKind, constant: Option<&Numbers>) -> BoundScale {
        let factor = DIGITS.checked_sub(kind.scale()).map(|digits| 10i128.pow(digits.into()));
        let bounds = constant.filter(|constant| constant.nulls.is_empty()).and_then(|constant| {
            Some((constant.low.checked_mul(factor?)?, constant.high.checked_mul(factor?)?))
        });
        BoundScale { factor, constant: bounds }
    }
}

impl<'p> Execution<'p> {
    /// `None` where a constant has no value of its step's kind.
    pub(super) fn new(program: &'p Program, ctx: &mut EvalContext<'_>) -> Option<Execution<'p>> {
        let constants = program.steps.iter().map(|step| match &step.op {
            NumberOp::Constant(expr) => {
                let value = expr.eval(ctx, &[]).ok()?;
                let number = match (&value, step.kind.is_dated()) {
                    (Value::Text(_), true) => {
                        let moment = date_constant(expr, &value, ctx)?;
                        date_number(moment, step.kind)?
                    }
                    _ => number_of(&value, step.kind)?,
                };
                Some(Some(Arc::new(Numbers::one(number))))
            }
            _ => Some(None),
        });
        let constants: Vec<Option<Arc<Numbers>>> = constants.collect::<Option<_>>()?;
        let steps = program.steps.iter().zip(&constants);
        let scales = steps.map(|(step, constant)| BoundScale::of(step.kind, constant.as_deref()));
        let scales = scales.collect();
        let texts = program.texts.iter().map(|expr| match &*expr.eval_ref(ctx, &[]).ok()? {
            Value::Text(text) => Some(Some(text.clone())),
            Value::Null => Some(None),
            _ => None,
        });
        let texts = texts.collect::<Option<_>>()?;
        let unread = Arc::new(Numbers::small(Vec::new(), Vec::new()));
        let (packed, vectors) = (Vec::new(), Vec::new());
        Some(Execution { program, constants, texts, scales, packed, unread, vectors })
    }

    /// Leaves these slots packed where rows are kept.
    pub(super) fn leave_packed(&mut self, slots: Vec<usize>) {
        self.packed = slots;
    }

    /// The slots that stay packed where rows are kept.
    pub(super) fn packed(&self) -> &[usize] {
        &self.packed
    }

    /// Computes all vectors of some rows. False where a number cannot be computed here.
    pub(super) fn run<R: Rows>(
        &mut self,
        rows: &mut R,
        ctx: &mut EvalContext<'_>,
        values: &mut [Value],
    ) -> Result<bool> {
        self.vectors.clear();
        for (step, constant) in self.program.steps.iter().zip(&self.constants) {
            let computed = match (&step.op, constant) {
                (_, Some(constant)) => {
                    self.vectors.push(constant.clone());
                    continue;
                }
                (NumberOp::Slot(slot), _) => {
                    let vector = match rows.numbers(*slot, step.kind) {
                        Some(vector) => vector.clone(),
                        // What a leaf of rows cannot give as numbers is evaluated row by row.
                        None if rows.is_packed() && self.packed.contains(slot) => {
                            self.unread.clone()
                        }
                        None => return Ok(false),
                    };
                    self.vectors.push(vector);
                    continue;
                }
                (NumberOp::Arith(op, left, right), _) => self.arith(*op, step, *left, *right),
                (NumberOp::Negate(inner), _) => {
                    let zero = Numbers::one(0);
                    let vector = numbers::arith(ArithOp::Sub, &zero, self.vector(*inner));
                    vector.filter(|vector| in_range(vector, step.kind))
                }
                (NumberOp::Field { of, shift, mask }, _) => {
                    Some(self.vector(*of).field(*shift, *mask))
                }
                (NumberOp::Midnight(date), _) => {
                    let factor = Numbers::one(1 << BELOW_DATE);
                    numbers::arith(ArithOp::Mul, self.vector(*date), &factor)
                }
                (NumberOp::Case { whens, otherwise }, _) => {
                    self.case(rows, whens, *otherwise, step.kind)?
                }
                (NumberOp::Evaluated { expr, slots }, _) => {
                    evaluated(rows, (expr, slots), step.kind, ctx, values)?
                }
                (NumberOp::Constant(_), None) => None,
            };
            let Some(vector) = computed else { return Ok(false) };
            self.vectors.push(Arc::new(vector));
        }
        Ok(true)
    }

    /// The vector of a step that has been run.
    pub(super) fn vector(&self, step: usize) -> &Numbers {
        &self.vectors[step]
    }

    /// As [`Execution::vector`], with a number for each of so many rows.
    pub(super) fn shared_vector(&self, step: usize, rows: usize) -> Arc<Numbers> {
        let vector = &self.vectors[step];
        match vector.values {
            Values::One(value) => {
                let all = Numbers::wide(vec![value; rows], vector.nulls.clone());
                Arc::new(all)
            }
            Values::Small(_) | Values::Wide(_) => vector.clone(),
        }
    }

    /// What the numbers of a step are.
    pub(super) fn kind(&self, step: usize) -> NumberKind {
        self.program.steps[step].kind
    }

    /// A constant that texts are compared with; `None` for NULL.
    pub(super) fn text(&self, constant: usize) -> Option<&str> {
        self.texts[constant].as_deref()
    }

    /// Whether nothing is evaluated row by row.
    pub(super) fn is_silent(&self) -> bool {
        !self.program.steps.iter().any(|step| matches!(step.op, NumberOp::Evaluated { .. }))
    }

    /// Least and greatest number of a step that is a constant or a slot with these bounds, with
    /// [`DIGITS`] digits after the point.
    pub(super) fn bounds(
        &self,
        step: usize,
        of_slot: &dyn Fn(usize) -> Option<(i64, i64)>,
    ) -> Option<(i128, i128)> {
        if let NumberOp::Midnight(date) = self.program.steps[step].op {
            let (low, high) = self.bounds(date, of_slot)?;
            let factor = 1 << BELOW_DATE;
            return Some((low.checked_mul(factor)?, high.checked_mul(factor)?));
        }
        let scale = self.scales[step];
        if scale.constant.is_some() {
            return scale.constant;
        }
        let NumberOp::Slot(slot) = self.program.steps[step].op else { return None };
        let ((low, high), factor) = (of_slot(slot)?, scale.factor?);
        Some((i128::from(low).checked_mul(factor)?, i128::from(high).checked_mul(factor)?))
    }

    /// The vectors of two steps with as many digits after the point.
    pub(super) fn aligned(
        &self,
        left: usize,
        right: usize,
    ) -> Option<(Cow<'_, Numbers>, Cow<'_, Numbers>)> {
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

    /// For each row the result of the first condition that is true.
    fn case<R: Rows>(
        &self,
        rows: &R,
        whens: &[(VectorCondition, Option<usize>)],
        otherwise: Option<usize>,
        kind: NumberKind,
    ) -> Result<Option<Numbers>> {
        const NONE: usize = usize::MAX;
        let results: Vec<Option<usize>> =
            whens.iter().map(|(_, result)| *result).chain(otherwise.map(Some)).collect();
        let last = otherwise.map_or(NONE, |_| whens.len());
        let mut choices = vec![last; rows.rows()];
        let mut open = vec![true; rows.rows()];
        for (at, (condition, _)) in whens.iter().enumerate() {
            let conditions = Conditions { rows, execution: self };
            let Some(truth) = conditions.truth(condition, &open)? else { return Ok(None) };
            for ((choice, open), truth) in choices.iter_mut().zip(&mut open).zip(truth) {
                if *open && truth == Truth::True {
                    (*choice, *open) = (at, false);
                }
            }
        }
        // NULL has a vector that is not looked at.
        let scaled = results.iter().map(|&step| {
            let Some(step) = step else { return Some(None) };
            let digits = kind.scale().checked_sub(self.kind(step).scale())?;
            self.vector(step).scaled(digits).map(Some)
        });
        let Some(scaled) = scaled.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let number = |(row, choice): (usize, usize)| {
            let vector = scaled.get(choice)?.as_ref().filter(|vector| !vector.is_null(row))?;
            Some(vector.get(row))
        };
        Ok(Some(Numbers::of_each(choices.into_iter().enumerate().map(number))))
    }
}

/// The number of a moment; `None` for a date where it is no midnight.
fn date_number(moment: DateTime, kind: NumberKind) -> Option<i128> {
    match kind {
        NumberKind::Moment => Some(pack_datetime(moment).into()),
        _ => (moment.time() == Time::ZERO).then(|| pack_date(moment.date).into()),
    }
}

/// An expression's numbers, row by row.
fn evaluated<R: Rows>(
    rows: &mut R,
    (expr, slots): (&Expr, &[usize]),
    kind: NumberKind,
    ctx: &mut EvalContext<'_>,
    values: &mut [Value],
) -> Result<Option<Numbers>> {
    let mut numbers = Vec::with_capacity(rows.rows());
    for row in 0..rows.rows() {
        rows.fill(row, slots, values)?;
        numbers.push(match &*expr.eval_ref(ctx, values)? {
            Value::Null => None,
            value => match number_of(value, kind) {
                None => return Ok(None),
                number => number,
            },
        });
    }
    Ok(Some(Numbers::of_each(numbers.into_iter())))
}

/// Whether the numbers are results that MySQL has, too: integers of their type.
fn in_range(vector: &Numbers, kind: NumberKind) -> bool {
    match kind {
        NumberKind::Int { unsigned: true } => vector.fits(0, u64::MAX.into()),
        NumberKind::Int { unsigned: false } => vector.fits(i64::MIN.into(), i64::MAX.into()),
        NumberKind::Decimal(_) | NumberKind::Date | NumberKind::Moment => true,
    }
}
