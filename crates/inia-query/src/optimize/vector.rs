//! Which SELECTs are executed over batches, and by which programs.
//!
//! [`batches`] decides for FROM and WHERE, [`vector_groups`] for the grouping above: it takes
//! batches where each key and each aggregate has a form for them, and rows otherwise.

mod batches;
mod in_order;
mod parallel;
mod program;

pub(crate) use batches::batch_plan;
pub(crate) use parallel::ParallelSettings;

use crate::plan::vector::{
    GroupCheck, NumberKind, VectorForm, VectorGroups, VectorKey, VectorTotal,
};
use crate::plan::{Aggregation, SelectPlan};
use batches::is_orderless;
use in_order::is_in_order;
use inia_base::datatype::DataType;
use inia_expr::compare::CmpClass;
use inia_expr::tree::{CmpOp, Compare};
use inia_expr::{Aggregate, Expr, ExprKind, SlotSet, slots_of};
use inia_parser::ast::AggregateFunc;
use program::{ProgramBuilder, is_constant, slot_of, text_slot};

/// Digits of a coefficient that always fits 64 bits.
const WORD_DIGITS: u8 = 18;
/// Keys of which one word says which are NULL.
const MAX_KEYS: usize = 64;

/// How the groups of a SELECT are made of batches; `None` where they are made of rows.
pub(super) fn vector_groups(
    select: &SelectPlan,
    aggregation: &Aggregation,
) -> Option<VectorGroups> {
    let batches = select.batches.as_ref()?;
    let plain = !aggregation.rollup && aggregation.shown.is_empty();
    if !plain || aggregation.group.len() > MAX_KEYS || !is_orderless_above(aggregation) {
        return None;
    }
    let mut program = ProgramBuilder::default();
    let keys = aggregation.group.iter().map(|key| group_key(key, &mut program));
    let keys = keys.collect::<Option<Vec<_>>>()?;
    let totals = aggregation.calls.iter().map(|call| total(call, &mut program));
    let totals = totals.collect::<Option<Vec<_>>>()?;
    let given = batches.source.slots.iter().map(|slot| slot.slot);
    let read = slots_behind(select);
    let kept = given.filter(|slot| read.as_ref().is_none_or(|read| read.contains(*slot)));
    let (kept, program) = (kept.collect(), program.finish());
    let checks = group_checks(select, aggregation, &totals);
    let in_order = is_in_order(select, &aggregation.group, (&keys, &totals, &program));
    let mergeable = !in_order && parallel::is_mergeable(aggregation, &totals);
    Some(VectorGroups { keys, kept, totals, checks, program, in_order, mergeable })
}

/// Whether nobody sees in which order keys and arguments are evaluated: those of a batch are, one
/// key or aggregate after the other.
fn is_orderless_above(aggregation: &Aggregation) -> bool {
    let args = aggregation.calls.iter().flat_map(|call| &call.args);
    aggregation.group.iter().chain(args).all(is_orderless)
}

/// The slots that are read behind the grouping; `None` for all.
fn slots_behind(select: &SelectPlan) -> Option<SlotSet> {
    if !select.windows.is_empty() {
        return None;
    }
    let mut slots = SlotSet::default();
    for expr in select.output.iter().chain(&select.having) {
        let needs = slots_of(expr);
        slots = (!needs.whole_row).then(|| slots.union(&needs.slots))?;
    }
    Some(slots)
}

fn group_key<'p>(key: &'p Expr, program: &mut ProgramBuilder<'p>) -> Option<VectorKey> {
    if let Some(slot) = text_slot(key) {
        return Some(VectorKey::Text(slot));
    }
    let narrow = match key.ty.data_type {
        DataType::Decimal { precision, .. } => precision <= WORD_DIGITS,
        _ => true,
    };
    if let Some(step) = program.step_or_rows(key).filter(|_| narrow) {
        return Some(VectorKey::Number(step));
    }
    let needs = slots_of(key);
    (!needs.whole_row).then(|| VectorKey::Value(needs.slots.iter().collect()))
}

fn total<'p>(call: &'p Aggregate, program: &mut ProgramBuilder<'p>) -> Option<VectorTotal> {
    let extreme = matches!(call.func, AggregateFunc::Min | AggregateFunc::Max);
    if call.distinct && !extreme {
        return distinct_total(call, program);
    }
    let simple = match call.args.as_slice() {
        [] if call.func == AggregateFunc::CountStar => Some(VectorTotal::Rows),
        [arg] => total_of(call.func, arg, program),
        _ => None,
    };
    if simple.is_some() || call.grows() {
        return simple;
    }
    let mut slots = SlotSet::default();
    for expr in call.args.iter().chain(call.order_by.iter().map(|(expr, _)| expr)) {
        let needs = slots_of(expr);
        slots = (!needs.whole_row).then(|| slots.union(&needs.slots))?;
    }
    Some(VectorTotal::Each(slots.iter().collect()))
}

/// COUNT, SUM or AVG of different values.
fn distinct_total<'p>(
    call: &'p Aggregate,
    program: &mut ProgramBuilder<'p>,
) -> Option<VectorTotal> {
    let total = match (call.func, call.args.as_slice()) {
        (AggregateFunc::Count, _) => VectorTotal::Rows,
        (AggregateFunc::Sum | AggregateFunc::Avg, [arg]) => {
            let step = program.step_or_rows(arg)?;
            (!program.kind(step).is_dated()).then_some(VectorTotal::Sum(step))?
        }
        _ => return None,
    };
    if call.args.len() >= MAX_KEYS {
        return None;
    }
    let keys = call.args.iter().map(|arg| group_key(arg, program)).collect::<Option<_>>()?;
    Some(VectorTotal::Distinct { keys, total: Box::new(total) })
}

/// The conditions of HAVING that compare an aggregate, which is a number, with a constant.
fn group_checks(
    select: &SelectPlan,
    aggregation: &Aggregation,
    totals: &[VectorTotal],
) -> Vec<GroupCheck> {
    let mut checks = Vec::new();
    let conditions = match select.having.as_ref().map(|having| &having.kind) {
        Some(ExprKind::And(all)) => &all[..],
        _ => select.having.as_slice(),
    };
    for condition in conditions {
        let ExprKind::Compare(compare) = &condition.kind else { continue };
        let Compare { op, class, left, right } = &**compare;
        let (total, op, constant) = match (&left.kind, &right.kind) {
            (ExprKind::Aggregate(total), _) => (*total, *op, right),
            (_, ExprKind::Aggregate(total)) => (*total, op.swapped(), left),
            _ => continue,
        };
        let numbers = matches!(class, CmpClass::Int | CmpClass::Decimal) && op != CmpOp::NullSafeEq;
        let call = aggregation.calls.get(total).filter(|call| call.func != AggregateFunc::Avg);
        let counted = call.and_then(|_| totals.get(total)).is_some_and(|total| {
            !matches!(total, VectorTotal::Each(_) | VectorTotal::Distinct { .. })
        });
        if numbers && is_constant(constant) && counted {
            checks.push(GroupCheck { total, op, constant: constant.clone() });
        }
    }
    checks
}

/// An aggregate of one argument over vectors.
fn total_of<'p>(
    func: AggregateFunc,
    arg: &'p Expr,
    program: &mut ProgramBuilder<'p>,
) -> Option<VectorTotal> {
    let number = |program: &mut ProgramBuilder<'p>| {
        let step = program.step_or_rows(arg)?;
        Some((step, program.kind(step)))
    };
    Some(match func {
        AggregateFunc::Count if slot_of(arg).is_some() && !arg.ty.nullable => VectorTotal::Rows,
        AggregateFunc::Count if matches!(arg.kind, ExprKind::Literal(_)) => return None,
        AggregateFunc::Count => match (slot_of(arg), VectorForm::of(&arg.ty.data_type)) {
            (Some(slot), VectorForm::Texts | VectorForm::Values) => VectorTotal::Present(slot),
            _ => VectorTotal::Count(number(program)?.0),
        },
        AggregateFunc::Sum | AggregateFunc::Avg => match number(program)? {
            (step, NumberKind::Int { .. } | NumberKind::Decimal(_)) => VectorTotal::Sum(step),
            (_, NumberKind::Date | NumberKind::Moment) => return None,
        },
        AggregateFunc::Min => VectorTotal::MinMax { step: number(program)?.0, greatest: false },
        AggregateFunc::Max => VectorTotal::MinMax { step: number(program)?.0, greatest: true },
        _ => return None,
    })
}
