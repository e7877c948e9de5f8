//! UNION, INTERSECT and EXCEPT.
//!
//! Operands are applied from left to right. A chain of UNION ALL streams; anything else works on
//! counted sets: each distinct tuple with how often the left side has it.

use super::keys::TupleKey;
use super::{Result, Runner, Tuple, TupleVisitor};
use crate::expr::cast::unify;
use crate::expr::{EvalContext, ExprType};
use crate::plan::{Body, SetPlan, SetStep};
use inia_base::datatype::DataType;
use inia_base::value::Value;
use inia_parser::ast::SetOp;
use std::collections::HashMap;

impl Runner<'_> {
    pub(super) fn set_operation(
        &self,
        set: &SetPlan,
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        let streaming = set.rest.iter().rposition(|step| !(step.op == SetOp::Union && step.all));
        let streamed_from = streaming.map_or(0, |last| last + 1);
        let mut wanted = true;
        if streamed_from == 0 {
            self.operand(&set.first, &set.types, ctx, &mut |ctx, tuple| {
                wanted = visit(ctx, tuple)?;
                Ok(wanted)
            })?;
        } else {
            let mut bag = Bag::default();
            self.operand(&set.first, &set.types, ctx, &mut |_, tuple| {
                bag.add(tuple, &set.types);
                Ok(true)
            })?;
            for step in &set.rest[..streamed_from] {
                self.combine(&mut bag, step, &set.types, ctx)?;
            }
            for (tuple, count) in bag.into_tuples() {
                for _ in 0..count {
                    if wanted {
                        wanted = visit(ctx, &tuple)?;
                    }
                }
            }
        }
        for step in &set.rest[streamed_from..] {
            if wanted {
                self.operand(&step.body, &set.types, ctx, &mut |ctx, tuple| {
                    wanted = visit(ctx, tuple)?;
                    Ok(wanted)
                })?;
            }
        }
        Ok(())
    }

    /// Runs an operand, its values converted to the common types.
    fn operand(
        &self,
        body: &Body,
        types: &[ExprType],
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        let from = body.types();
        self.body(body, ctx, &mut |ctx, tuple| {
            self.check_killed()?;
            let mut converted: Tuple = Vec::with_capacity(types.len());
            for ((value, from), ty) in tuple.iter().zip(&from).zip(types) {
                converted.push(as_common(unify(value.clone(), from, ty, ctx)?, ty));
            }
            visit(ctx, &converted)
        })
    }

    fn combine(
        &self,
        bag: &mut Bag,
        step: &SetStep,
        types: &[ExprType],
        ctx: &mut EvalContext<'_>,
    ) -> Result<()> {
        let mut right = Bag::default();
        let merged = step.op == SetOp::Union;
        let target = if merged { &mut *bag } else { &mut right };
        self.operand(&step.body, types, ctx, &mut |_, tuple| {
            target.add(tuple, types);
            Ok(true)
        })?;
        if !step.all {
            bag.make_distinct();
            right.make_distinct();
        }
        if !merged {
            bag.retain_by(&right, step.op == SetOp::Intersect);
        }
        Ok(())
    }
}

/// Gives a DECIMAL the digits after the point that its column declares.
fn as_common(value: Value, ty: &ExprType) -> Value {
    match (value, &ty.data_type) {
        (Value::Decimal(value), DataType::Decimal { precision, scale, .. }) => {
            Value::Decimal(value.rescale(*precision, *scale).value)
        }
        (value, _) => value,
    }
}

/// A multiset of tuples in order of first arrival.
#[derive(Default)]
struct Bag {
    positions: HashMap<Vec<u8>, usize>,
    tuples: Vec<(Tuple, u64)>,
}

impl Bag {
    fn add(&mut self, tuple: &[Value], types: &[ExprType]) {
        let key = TupleKey::new(tuple, types).into_bytes();
        let position = *self.positions.entry(key).or_insert_with(|| {
            self.tuples.push((tuple.to_vec(), 0));
            self.tuples.len() - 1
        });
        self.tuples[position].1 += 1;
    }

    /// Keeps min(left, right) of each tuple for INTERSECT, left - right for EXCEPT.
    fn retain_by(&mut self, right: &Bag, intersect: bool) {
        for (key, &position) in &self.positions {
            let other = right.positions.get(key).map_or(0, |&p| right.tuples[p].1);
            let count = &mut self.tuples[position].1;
            *count = if intersect { (*count).min(other) } else { count.saturating_sub(other) };
        }
    }

    fn make_distinct(&mut self) {
        for (_, count) in &mut self.tuples {
            *count = (*count).min(1);
        }
    }

    fn into_tuples(self) -> impl Iterator<Item = (Tuple, u64)> {
        self.tuples.into_iter()
    }
}
