//! Expressions as steps over column vectors.
//!
//! An expression becomes steps where MySQL's result follows from its type alone: integers,
//! decimals and dates, compared and computed with each other, and texts compared with constants.

use crate::plan::vector::{
    NumberKind, NumberOp, NumberStep, Program, VectorCondition, VectorFilter, VectorFilters,
    VectorForm,
};
use crate::row::BELOW_DATE;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::decimal::MAX_SCALE;
use inia_base::value::Value;
use inia_expr::compare::CmpClass;
use inia_expr::tree::{Arith, ArithOp, Call, Case, CmpOp, Compare, Like, NumClass};
use inia_expr::{DateField, Expr, ExprKind, SlotSet, date_field, slots_of};

/// Items of an IN list that are compared one after the other.
const MAX_ITEMS: usize = 16;

/// The slot of a column.
pub(super) fn slot_of(expr: &Expr) -> Option<usize> {
    match expr.kind {
        ExprKind::Column { index, .. } => Some(index),
        _ => None,
    }
}

/// The slot of a column whose vector holds texts.
pub(super) fn text_slot(expr: &Expr) -> Option<usize> {
    slot_of(expr).filter(|_| VectorForm::of(&expr.ty.data_type) == VectorForm::Texts)
}

/// Whether an expression has one value in a run of the statement: a subquery that reads no row
/// around it is run once.
pub(super) fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Param(_) => true,
        ExprKind::Subquery(sub) => sub.is_run_once_value(),
        _ => false,
    }
}

/// Conditions with the vector forms of those that have one. `readable` are the slots that a
/// condition may read of a row that is not filled yet.
pub(super) fn filters<'p>(
    conditions: impl IntoIterator<Item = &'p Expr>,
    readable: &SlotSet,
) -> VectorFilters {
    let mut builder = ProgramBuilder::default();
    let filters = conditions.into_iter().map(|condition| {
        let needs = slots_of(condition);
        let read = if needs.whole_row { readable } else { &needs.slots.intersection(readable) };
        VectorFilter { vector: builder.condition(condition), slots: read.iter().collect() }
    });
    let filters = filters.collect();
    VectorFilters { filters, program: builder.finish() }
}

/// Steps, and the expressions that they compute: an expression that comes again is computed once.
#[derive(Default)]
pub(super) struct ProgramBuilder<'p> {
    program: Program,
    exprs: Vec<&'p Expr>,
}

impl<'p> ProgramBuilder<'p> {
    pub(super) fn finish(self) -> Program {
        self.program
    }

    /// What the numbers of a step are.
    pub(super) fn kind(&self, step: usize) -> NumberKind {
        self.program.steps[step].kind
    }

    /// As [`ProgramBuilder::step`]; what has no vector form is evaluated row by row. For
    /// expressions that each row of a batch is evaluated for anyway.
    pub(super) fn step_or_rows(&mut self, expr: &'p Expr) -> Option<usize> {
        if let Some(step) = self.step(expr) {
            return Some(step);
        }
        let (kind, needs) = (NumberKind::of(&expr.ty.data_type)?, slots_of(expr));
        if needs.whole_row {
            return None;
        }
        let slots = needs.slots.iter().collect();
        Some(self.push(NumberOp::Evaluated { expr: expr.clone(), slots }, kind, expr))
    }

    /// The step that computes the expression.
    pub(super) fn step(&mut self, expr: &'p Expr) -> Option<usize> {
        if let Some(known) = self.exprs.iter().position(|known| known.same(expr)) {
            return Some(known);
        }
        let (op, kind) = match &expr.kind {
            ExprKind::Column { index, .. } => {
                (NumberOp::Slot(*index), NumberKind::of(&expr.ty.data_type)?)
            }
            ExprKind::Literal(value) if *value == Value::Null => return None,
            _ if is_constant(expr) => {
                (NumberOp::Constant(expr.clone()), NumberKind::of(&expr.ty.data_type)?)
            }
            ExprKind::Arith(arith) => self.arith(arith, expr)?,
            ExprKind::Neg(inner, class) => {
                let inner = self.step(inner)?;
                let kind = match (class, self.kind(inner)) {
                    (NumClass::Int, NumberKind::Int { .. }) => {
                        NumberKind::Int { unsigned: expr.ty.is_unsigned() }
                    }
                    (NumClass::Decimal, kind @ NumberKind::Decimal(_)) => kind,
                    _ => return None,
                };
                (NumberOp::Negate(inner), kind)
            }
            ExprKind::Case(case) => self.case(case, expr)?,
            ExprKind::Call(call) => match date_field(expr) {
                Some((operand, field)) => self.field(operand, field, expr)?,
                None => self.call(call, expr)?,
            },
            _ => return None,
        };
        Some(self.push(op, kind, expr))
    }

    fn push(&mut self, op: NumberOp, kind: NumberKind, expr: &'p Expr) -> usize {
        self.program.steps.push(NumberStep { op, kind });
        self.exprs.push(expr);
        debug_assert_eq!(self.program.steps.len(), self.exprs.len(), "a step is an expression's");
        self.exprs.len() - 1
    }

    fn arith(&mut self, arith: &'p Arith, whole: &Expr) -> Option<(NumberOp, NumberKind)> {
        if !matches!(arith.op, ArithOp::Add | ArithOp::Sub | ArithOp::Mul) {
            return None;
        }
        let (left, right) = (self.step(&arith.left)?, self.step(&arith.right)?);
        let (l, r) = (self.kind(left), self.kind(right));
        if l.is_dated() || r.is_dated() {
            return None;
        }
        let kind = match arith.class {
            NumClass::Int => NumberKind::Int { unsigned: whole.ty.is_unsigned() },
            NumClass::Decimal => {
                let scale = match arith.op {
                    ArithOp::Mul => l.scale() + r.scale(),
                    _ => l.scale().max(r.scale()),
                };
                // Digits that a result has beyond its type's are computed the general way.
                match whole.ty.data_type {
                    DataType::Decimal { scale: shown, .. } if scale <= MAX_SCALE => {
                        (shown == scale).then_some(NumberKind::Decimal(scale))?
                    }
                    _ => return None,
                }
            }
            NumClass::Real => return None,
        };
        Some((NumberOp::Arith(arith.op, left, right), kind))
    }

    /// CASE, where its results are numbers with no more digits than its type.
    fn case(&mut self, case: &'p Case, whole: &'p Expr) -> Option<(NumberOp, NumberKind)> {
        let mut choices = Vec::with_capacity(case.whens.len());
        for (condition, result) in &case.whens {
            choices.push((self.condition(condition)?, self.result(result)?));
        }
        let otherwise = match &case.otherwise {
            None => None,
            Some(otherwise) => self.result(otherwise)?,
        };
        self.choice(choices, otherwise, whole)
    }

    /// The step of a result; `None` inside for NULL.
    fn result(&mut self, result: &'p Expr) -> Option<Option<usize>> {
        match result.kind {
            ExprKind::Literal(Value::Null) => Some(None),
            _ => self.step(result).map(Some),
        }
    }

    /// The result of the first condition that is true, where results are numbers with no more
    /// digits than the type of the whole.
    fn choice(
        &self,
        whens: Vec<(VectorCondition, Option<usize>)>,
        otherwise: Option<usize>,
        whole: &Expr,
    ) -> Option<(NumberOp, NumberKind)> {
        let kind = NumberKind::of(&whole.ty.data_type)?;
        let fits = |result: NumberKind| match (kind, result) {
            (NumberKind::Decimal(scale), NumberKind::Decimal(_) | NumberKind::Int { .. }) => {
                result.scale() <= scale
            }
            (kind, result) => kind == result,
        };
        let mut results = whens.iter().filter_map(|(_, result)| *result).chain(otherwise);
        results.all(|result| fits(self.kind(result))).then_some(())?;
        Some((NumberOp::Case { whens, otherwise }, kind))
    }

    /// IF, IFNULL, COALESCE, and the date of a moment.
    fn call(&mut self, call: &'p Call, whole: &'p Expr) -> Option<(NumberOp, NumberKind)> {
        match (call.name, call.args.as_slice()) {
            ("if", [condition, one, other]) => {
                let when = (self.condition(condition)?, self.result(one)?);
                let otherwise = self.result(other)?;
                self.choice(vec![when], otherwise, whole)
            }
            ("ifnull" | "coalesce", [first @ .., last]) => {
                let mut whens = Vec::with_capacity(first.len());
                for arg in first {
                    let step = self.step(arg)?;
                    whens.push((VectorCondition::IsNull(step, true), Some(step)));
                }
                let otherwise = self.result(last)?;
                self.choice(whens, otherwise, whole)
            }
            _ => None,
        }
    }

    /// A field of a date.
    fn field(
        &mut self,
        operand: &'p Expr,
        field: DateField,
        whole: &Expr,
    ) -> Option<(NumberOp, NumberKind)> {
        let of = self.step(operand)?;
        let below = match self.kind(of) {
            NumberKind::Date => 0,
            NumberKind::Moment => BELOW_DATE,
            NumberKind::Int { .. } | NumberKind::Decimal(_) => return None,
        };
        let (shift, mask) = match field {
            DateField::Year => (below + 9, i64::MAX),
            DateField::Month => (below + 5, 15),
            DateField::Day => (below, 31),
            _ if below == 0 => return None,
            DateField::Hour => (32, 31),
            DateField::Minute => (26, 63),
            DateField::Second => (20, 63),
        };
        let kind = NumberKind::Int { unsigned: whole.ty.is_unsigned() };
        Some((NumberOp::Field { of, shift, mask }, kind))
    }

    /// A condition's vector form.
    pub(super) fn condition(&mut self, condition: &'p Expr) -> Option<VectorCondition> {
        match &condition.kind {
            ExprKind::Compare(compare) => self.compare(compare),
            ExprKind::Between(between) => {
                let (low, high) = &between.classes;
                let from = self.ordered(CmpOp::Ge, low, &between.value, &between.low)?;
                let to = self.ordered(CmpOp::Le, high, &between.value, &between.high)?;
                Some(negated(VectorCondition::And(vec![from, to]), between.negated))
            }
            ExprKind::In(list) if list.items.len() <= MAX_ITEMS => {
                let items = list.items.iter();
                let equal =
                    items.map(|(class, item)| self.ordered(CmpOp::Eq, class, &list.value, item));
                let any = VectorCondition::Or(equal.collect::<Option<_>>()?);
                Some(negated(any, list.negated))
            }
            ExprKind::Like(like) => like_condition(like),
            ExprKind::And(items) => {
                let all = items.iter().map(|item| self.condition(item));
                all.collect::<Option<_>>().map(VectorCondition::And)
            }
            ExprKind::Or(items) => {
                let any = items.iter().map(|item| self.condition(item));
                any.collect::<Option<_>>().map(VectorCondition::Or)
            }
            ExprKind::Not(inner) => self.condition(inner).map(|inner| negated(inner, true)),
            ExprKind::IsNull(inner, negated) => match text_slot(inner) {
                Some(slot) => Some(VectorCondition::NoText(slot, *negated)),
                None => self.step(inner).map(|step| VectorCondition::IsNull(step, *negated)),
            },
            _ => None,
        }
    }

    fn compare(&mut self, compare: &'p Compare) -> Option<VectorCondition> {
        let Compare { op, class, left, right } = compare;
        match (op, class) {
            (CmpOp::NullSafeEq, _) => None,
            (_, CmpClass::Text(_)) if slot_of(left).is_none() => {
                self.ordered(op.swapped(), class, right, left)
            }
            _ => self.ordered(*op, class, left, right),
        }
    }

    /// A comparison of two numbers of one class, or of a column's text with a constant.
    fn ordered(
        &mut self,
        op: CmpOp,
        class: &CmpClass,
        left: &'p Expr,
        right: &'p Expr,
    ) -> Option<VectorCondition> {
        if let CmpClass::Text(collation) = class {
            let slot = text_slot(left)?;
            is_constant(right).then(|| self.program.texts.push(right.clone()))?;
            let constant = self.program.texts.len() - 1;
            return Some(VectorCondition::Text { slot, op, constant, collation: *collation });
        }
        let (left, right) = match class {
            CmpClass::Dates => self.dates(left, right)?,
            _ => (self.step(left)?, self.step(right)?),
        };
        comparable(class, self.kind(left), self.kind(right))
            .then_some(VectorCondition::Compare(op, left, right))
    }

    /// Both sides of a comparison of dates as numbers of one kind. A constant text becomes one of
    /// the other side's, a date beside a moment its midnight.
    fn dates(&mut self, left: &'p Expr, right: &'p Expr) -> Option<(usize, usize)> {
        let is_text = |expr: &Expr| {
            let constant = matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_));
            constant && VectorForm::of(&expr.ty.data_type) == VectorForm::Texts
        };
        let (l, r) = match (is_text(left), is_text(right)) {
            (false, false) => (self.step(left)?, self.step(right)?),
            (false, true) => {
                let step = self.step(left)?;
                (step, self.date_text(right, self.kind(step))?)
            }
            (true, false) => {
                let step = self.step(right)?;
                (self.date_text(left, self.kind(step))?, step)
            }
            (true, true) => return None,
        };
        Some(match (self.kind(l), self.kind(r)) {
            (NumberKind::Date, NumberKind::Moment) => (self.midnight(l, left), r),
            (NumberKind::Moment, NumberKind::Date) => (l, self.midnight(r, right)),
            _ => (l, r),
        })
    }

    /// A constant text as a date or a moment. It is never found as another expression's step: texts
    /// have no other.
    fn date_text(&mut self, text: &'p Expr, kind: NumberKind) -> Option<usize> {
        let known = self.exprs.iter().position(|known| known.same(text));
        match known {
            Some(known) => (self.kind(known) == kind).then_some(known),
            None => {
                let op = NumberOp::Constant(text.clone());
                kind.is_dated().then(|| self.push(op, kind, text))
            }
        }
    }

    /// The beginning of a day as a moment. Its expression is that of the day, which is found before
    /// it.
    fn midnight(&mut self, day: usize, expr: &'p Expr) -> usize {
        self.push(NumberOp::Midnight(day), NumberKind::Moment, expr)
    }
}

/// Whether numbers of two kinds compare as numbers where their values compare in a class.
pub(super) fn comparable(class: &CmpClass, left: NumberKind, right: NumberKind) -> bool {
    match class {
        CmpClass::Int | CmpClass::Decimal => !left.is_dated() && !right.is_dated(),
        CmpClass::Dates => left.is_dated() && left == right,
        _ => false,
    }
}

fn like_condition(like: &Like) -> Option<VectorCondition> {
    let (slot, pattern) = (text_slot(&like.value)?, like.compiled.as_ref()?);
    let by_characters = like.collation != Collation::BINARY;
    let matches = VectorCondition::Like(slot, Box::new(pattern.clone()));
    by_characters.then(|| negated(matches, like.negated))
}

fn negated(condition: VectorCondition, negate: bool) -> VectorCondition {
    if negate { VectorCondition::Not(Box::new(condition)) } else { condition }
}
