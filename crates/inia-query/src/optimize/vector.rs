//! Which aggregations of one table run over column vectors, and by which programs.
//!
//! An expression becomes steps where MySQL's result follows from its type alone: integers,
//! decimals and dates, compared and computed with each other. What has no steps is evaluated row
//! by row where it is a condition, and keeps the whole SELECT from running over vectors where it is
//! an aggregate's argument or a key.

use crate::plan::vector::{
    NumberKind, NumberOp, NumberStep, VectorCondition, VectorFilter, VectorGroups, VectorKey,
    VectorTotal,
};
use crate::plan::{Aggregation, RowSource, SelectPlan, TableSource};
use inia_base::datatype::DataType;
use inia_base::decimal::MAX_SCALE;
use inia_base::value::Value;
use inia_expr::compare::CmpClass;
use inia_expr::tree::{Arith, ArithOp, CmpOp, Compare, NumClass};
use inia_expr::{Aggregate, Expr, ExprKind, SlotSet, slots_of};
use inia_parser::ast::AggregateFunc;

/// Digits of a coefficient that always fits 128 bits.
const MAX_DIGITS: u8 = 38;
/// Items of an IN list that are compared one after the other.
const MAX_ITEMS: usize = 16;

/// The programs of a SELECT of one table; `None` where it does not run over vectors.
pub(super) fn vector_groups(
    select: &SelectPlan,
    aggregation: &Aggregation,
) -> Option<VectorGroups> {
    let RowSource::Table(source) = &select.source else { return None };
    let plain = !aggregation.rollup && aggregation.shown.is_empty() && select.filter.is_empty();
    if !plain || source.lock.is_some() || source.access.point || source.access.covering {
        return None;
    }
    let mut computed = Program { source, steps: Vec::new(), exprs: Vec::new() };
    let keys = aggregation.group.iter().map(|key| group_key(key, source));
    let keys = keys.collect::<Option<Vec<_>>>()?;
    let totals = aggregation.calls.iter().map(|call| computed.total(call));
    let totals = totals.collect::<Option<Vec<_>>>()?;
    let mut tested = Program { source, steps: Vec::new(), exprs: Vec::new() };
    let conditions = source.filter.iter().enumerate();
    let conditions = conditions.map(|(place, condition)| match tested.condition(condition) {
        Some(condition) => VectorFilter::Vector(condition),
        None => VectorFilter::Row(place),
    });
    let conditions = conditions.collect();
    let kept = kept_slots(select, source);
    let (tested, computed) = (tested.steps, computed.steps);
    Some(VectorGroups { tested, conditions, keys, kept, computed, totals })
}

/// The table's slots that are read behind the grouping.
fn kept_slots(select: &SelectPlan, source: &TableSource) -> Vec<usize> {
    let mut whole = !select.windows.is_empty();
    let mut slots = SlotSet::default();
    for expr in select.output.iter().chain(&select.having) {
        let needs = slots_of(expr);
        whole |= needs.whole_row;
        slots = slots.union(&needs.slots);
    }
    let needed = source.needed.iter().enumerate().filter(|(_, needed)| **needed);
    let needed = needed.map(|(column, _)| source.base + column);
    needed.filter(|slot| whole || slots.contains(*slot)).collect()
}

/// A column that groups, where equal stored numbers or bytes are equal keys.
fn group_key(key: &Expr, source: &TableSource) -> Option<VectorKey> {
    let column = column_of(key, source)?;
    let bytes = match source.table.def.columns[column].data_type {
        DataType::Int { .. } | DataType::Date => false,
        DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. } => true,
        _ => return None,
    };
    Some(VectorKey { column, bytes })
}

fn column_of(expr: &Expr, source: &TableSource) -> Option<usize> {
    let ExprKind::Column { index, .. } = expr.kind else { return None };
    let column = index.checked_sub(source.base)?;
    (column < source.table.def.columns.len()).then_some(column)
}

/// Steps, and the expressions that they compute: an expression that comes again is computed once.
struct Program<'p> {
    source: &'p TableSource,
    steps: Vec<NumberStep>,
    exprs: Vec<&'p Expr>,
}

impl<'p> Program<'p> {
    fn total(&mut self, call: &'p Aggregate) -> Option<VectorTotal> {
        if call.func == AggregateFunc::CountStar {
            return Some(VectorTotal::Rows);
        }
        let [arg] = call.args.as_slice() else { return None };
        if call.distinct {
            return None;
        }
        Some(match call.func {
            AggregateFunc::Count if column_of(arg, self.source).is_some() && !arg.ty.nullable => {
                VectorTotal::Rows
            }
            AggregateFunc::Count => VectorTotal::Count(self.step(arg)?),
            AggregateFunc::Sum | AggregateFunc::Avg => {
                let step = self.step(arg)?;
                let adds = self.steps[step].kind != NumberKind::Date;
                return adds.then_some(VectorTotal::Sum(step));
            }
            AggregateFunc::Min | AggregateFunc::Max => {
                let greatest = call.func == AggregateFunc::Max;
                VectorTotal::MinMax { step: self.step(arg)?, greatest }
            }
            _ => return None,
        })
    }

    /// The step that computes the expression.
    fn step(&mut self, expr: &'p Expr) -> Option<usize> {
        if let Some(known) = self.exprs.iter().position(|known| known.same(expr)) {
            return Some(known);
        }
        let (op, kind) = match &expr.kind {
            ExprKind::Column { .. } => {
                let column = column_of(expr, self.source)?;
                let data_type = &self.source.table.def.columns[column].data_type;
                (NumberOp::Column(column), column_kind(data_type)?)
            }
            ExprKind::Literal(value) if *value == Value::Null => return None,
            ExprKind::Literal(_) | ExprKind::Param(_) => {
                (NumberOp::Constant(expr.clone()), column_kind(&expr.ty.data_type)?)
            }
            ExprKind::Arith(arith) => self.arith(arith, expr)?,
            ExprKind::Neg(inner, class) => {
                let inner = self.step(inner)?;
                let kind = match (class, self.steps[inner].kind) {
                    (NumClass::Int, NumberKind::Int { .. }) => {
                        NumberKind::Int { unsigned: expr.ty.is_unsigned() }
                    }
                    (NumClass::Decimal, kind @ NumberKind::Decimal(_)) => kind,
                    _ => return None,
                };
                (NumberOp::Negate(inner), kind)
            }
            _ => return None,
        };
        self.steps.push(NumberStep { op, kind });
        self.exprs.push(expr);
        debug_assert_eq!(self.steps.len(), self.exprs.len(), "a step computes an expression");
        Some(self.steps.len() - 1)
    }

    fn arith(&mut self, arith: &'p Arith, whole: &Expr) -> Option<(NumberOp, NumberKind)> {
        if !matches!(arith.op, ArithOp::Add | ArithOp::Sub | ArithOp::Mul) {
            return None;
        }
        let (left, right) = (self.step(&arith.left)?, self.step(&arith.right)?);
        let (l, r) = (self.steps[left].kind, self.steps[right].kind);
        if l == NumberKind::Date || r == NumberKind::Date {
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

    fn condition(&mut self, condition: &'p Expr) -> Option<VectorCondition> {
        match &condition.kind {
            ExprKind::Compare(compare) => self.compare(compare),
            ExprKind::Between(between) => {
                let (low, high) = &between.classes;
                let from = self.ordered(CmpOp::Ge, low, &between.value, &between.low)?;
                let to = self.ordered(CmpOp::Le, high, &between.value, &between.high)?;
                let both = VectorCondition::And(vec![from, to]);
                Some(if between.negated { VectorCondition::Not(Box::new(both)) } else { both })
            }
            ExprKind::In(list) if list.items.len() <= MAX_ITEMS => {
                let items = list.items.iter();
                let equal =
                    items.map(|(class, item)| self.ordered(CmpOp::Eq, class, &list.value, item));
                let any = VectorCondition::Or(equal.collect::<Option<_>>()?);
                Some(if list.negated { VectorCondition::Not(Box::new(any)) } else { any })
            }
            ExprKind::And(items) => {
                let all = items.iter().map(|item| self.condition(item));
                all.collect::<Option<_>>().map(VectorCondition::And)
            }
            ExprKind::Or(items) => {
                let any = items.iter().map(|item| self.condition(item));
                any.collect::<Option<_>>().map(VectorCondition::Or)
            }
            ExprKind::Not(inner) => {
                self.condition(inner).map(|inner| VectorCondition::Not(Box::new(inner)))
            }
            ExprKind::IsNull(inner, negated) => {
                self.step(inner).map(|step| VectorCondition::IsNull(step, *negated))
            }
            _ => None,
        }
    }

    fn compare(&mut self, compare: &'p Compare) -> Option<VectorCondition> {
        let Compare { op, class, left, right } = compare;
        match (op, class) {
            (CmpOp::NullSafeEq, _) => None,
            (_, CmpClass::Text(_)) if column_of(left, self.source).is_none() => {
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
            let column = column_of(left, self.source)?;
            let constant = matches!(right.kind, ExprKind::Literal(_) | ExprKind::Param(_));
            let text = matches!(
                self.source.table.def.columns[column].data_type,
                DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. }
            );
            let (constant, collation) = (constant && text).then(|| (right.clone(), *collation))?;
            return Some(VectorCondition::Text { column, op, constant, collation });
        }
        let (left, right) = (self.step(left)?, self.step(right)?);
        let (l, r) = (self.steps[left].kind, self.steps[right].kind);
        let dates = (l == NumberKind::Date, r == NumberKind::Date);
        let fits = match class {
            CmpClass::Int | CmpClass::Decimal => dates == (false, false),
            CmpClass::Dates => dates == (true, true),
            _ => false,
        };
        fits.then_some(VectorCondition::Compare(op, left, right))
    }
}

/// What numbers a column or constant of the type has.
fn column_kind(data_type: &DataType) -> Option<NumberKind> {
    match data_type {
        DataType::Int { unsigned, .. } => Some(NumberKind::Int { unsigned: *unsigned }),
        DataType::Decimal { precision, scale, .. } if *precision <= MAX_DIGITS => {
            Some(NumberKind::Decimal(*scale))
        }
        DataType::Date => Some(NumberKind::Date),
        _ => None,
    }
}
