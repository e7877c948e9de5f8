//! UNION, INTERSECT and EXCEPT.
//!
//! Operands are applied from left to right. A chain of UNION ALL streams; anything else works on
//! counted sets: each distinct tuple with how often the left side has it.
//!
//! When memory is used up, tuples that are not in the set are put aside with the number of their
//! operand; a further pass repeats all operands for the tuples of one partition ([`super::spill`]).

use super::keys::TupleKey;
use super::{Result, Runner, Tuple, TupleVisitor, damaged_row};
use crate::plan::{Body, SetPlan, SetStep, ValuesPlan};
use crate::spill::{
    ENTRY, Grant, Partitions, Purpose, Stream, Workspace, held, keyed, split_keyed,
};
use crate::spill::{decode_tuple, encode_tuple};
use inia_base::datatype::DataType;
use inia_base::value::Value;
use inia_expr::cast::unify;
use inia_expr::{EvalContext, ExprType, TypeClass};
use inia_parser::ast::SetOp;
use std::collections::HashMap;

impl Runner<'_> {
    pub(super) fn set_operation(
        &self,
        set: &SetPlan,
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        let mut wanted = true;
        // A chain of UNION ALL compares no tuples, so it streams from its first operand on.
        if set.counted == 0 {
            self.operand(&set.first, &set.types, ctx, &mut |ctx, tuple| {
                wanted = visit(ctx, tuple)?;
                Ok(wanted)
            })?;
        } else {
            // Up to the last operator that compares tuples, all operands are combined in one table
            // before any tuple comes out.
            let steps = &set.rest[..set.counted];
            let mut bag = Bag::new(steps, self.exec.workspace, 0);
            let operands = std::iter::once(&set.first).chain(steps.iter().map(|step| &step.body));
            for (number, body) in operands.enumerate() {
                bag.advance(number);
                self.operand(body, &set.types, ctx, &mut |_, tuple| {
                    let key = TupleKey::new(tuple, &set.types).into_bytes();
                    bag.add(&key, tuple)?;
                    Ok(true)
                })?;
            }
            bag.each(&mut |tuple| {
                self.check_killed()?;
                wanted = visit(ctx, tuple)?;
                Ok(wanted)
            })?;
        }
        // The operands behind that table stream. A visitor that has enough ends them all.
        for step in &set.rest[set.counted..] {
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
        let mut from = body.types();
        from.iter_mut().zip(types).for_each(|(from, ty)| beside_texts(from, ty));
        self.body(body, ctx, &mut |ctx, tuple| {
            self.check_killed()?;
            let mut converted: Tuple = Vec::with_capacity(types.len());
            debug_assert_eq!(tuple.len(), types.len(), "an operand has the columns of the whole");
            for ((value, from), ty) in tuple.iter().zip(&from).zip(types) {
                converted.push(as_common(unify(value.clone(), from, ty, ctx)?, ty));
            }
            visit(ctx, &converted)
        })
    }
}

/// The rows of VALUES, their values converted to the common types.
pub(super) fn values(
    values: &ValuesPlan,
    ctx: &mut EvalContext<'_>,
    visit: &mut TupleVisitor<'_>,
) -> Result<()> {
    for row in &values.rows {
        let mut tuple = Tuple::with_capacity(row.len());
        for (expr, ty) in row.iter().zip(&values.types) {
            let value = expr.eval(ctx, &[])?;
            tuple.push(match values.as_written && ty.class() != TypeClass::String {
                true => value,
                false => as_common(unify(value, &expr.ty, ty, ctx)?, ty),
            });
        }
        if !visit(ctx, &tuple)? {
            break;
        }
    }
    Ok(())
}

/// A BIT that becomes a text is its number, where functions take it for bytes.
fn beside_texts(from: &mut ExprType, ty: &ExprType) {
    if matches!(from.data_type, DataType::Bit(_)) && ty.class() == TypeClass::String {
        *from = from.clone().into_number();
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

/// A tuple and how often it is there.
struct Entry {
    tuple: Tuple,
    /// In what the operands so far make.
    left: u64,
    /// In the present operand, where that is not merged at once.
    right: u64,
}

/// A multiset of tuples in order of first arrival, made by one operand after another.
struct Bag<'p, 'w> {
    steps: &'p [SetStep],
    workspace: Workspace<'w>,
    level: u32,
    /// The present operand: 0 is the first, n the one of `steps[n - 1]`.
    operand: usize,
    positions: HashMap<Box<[u8]>, usize>,
    entries: Vec<Entry>,
    used: usize,
    memory: Grant<'w>,
    aside: Option<Partitions<'w>>,
}

impl<'p, 'w> Bag<'p, 'w> {
    fn new(steps: &'p [SetStep], workspace: Workspace<'w>, level: u32) -> Bag<'p, 'w> {
        Bag {
            steps,
            workspace,
            level,
            operand: 0,
            positions: HashMap::new(),
            entries: Vec::new(),
            used: 0,
            memory: Grant::new(workspace),
            aside: None,
        }
    }

    /// The operator that joins the present operand to those before; none for the first.
    fn step(&self) -> Option<&'p SetStep> {
        self.operand.checked_sub(1).map(|index| &self.steps[index])
    }

    /// Takes a tuple of the present operand.
    fn add(&mut self, key: &[u8], tuple: &[Value]) -> Result<()> {
        let merges = self.step().is_none_or(|step| step.op == SetOp::Union);
        if let Some(&position) = self.positions.get(key) {
            let entry = &mut self.entries[position];
            *(if merges { &mut entry.left } else { &mut entry.right }) += 1;
            return Ok(());
        }
        let full = !self.memory.allows(self.used) && !self.entries.is_empty();
        if self.aside.is_some() || (merges && full) {
            let (workspace, level, operand) = (self.workspace, self.level, self.operand);
            let table = || Partitions::new(workspace, Purpose::Table, level);
            return self.aside.get_or_insert_with(table).push(key, |out| {
                keyed(key, out);
                encode_tuple(&[Value::UInt(operand as u64)], out);
                encode_tuple(tuple, out);
            });
        }
        // What the left side lacks neither INTERSECT nor EXCEPT can give.
        if merges {
            let tuple = tuple.to_vec();
            self.used += key.len() + held(&tuple) + ENTRY;
            self.positions.insert(key.into(), self.entries.len());
            self.entries.push(Entry { tuple, left: 1, right: 0 });
        }
        Ok(())
    }

    /// Ends the operands before this one.
    fn advance(&mut self, operand: usize) {
        debug_assert!(operand >= self.operand, "operands are applied from left to right");
        debug_assert!(operand <= self.steps.len(), "an operand belongs to a step");
        while self.operand < operand {
            self.end_operand();
            self.operand += 1;
        }
    }

    /// Applies the present operand's operator.
    fn end_operand(&mut self) {
        debug_assert_eq!(self.positions.len(), self.entries.len(), "each tuple has one entry");
        let Some(step) = self.step() else { return };
        for entry in &mut self.entries {
            if !step.all {
                entry.left = entry.left.min(1);
                entry.right = entry.right.min(1);
            }
            entry.left = match step.op {
                SetOp::Union => entry.left,
                SetOp::Intersect => entry.left.min(entry.right),
                SetOp::Except => entry.left.saturating_sub(entry.right),
            };
            entry.right = 0;
        }
    }

    /// Gives each tuple as often as it is there to `visit`, until that wants no more.
    fn each(self, visit: &mut dyn FnMut(&[Value]) -> Result<bool>) -> Result<()> {
        let (steps, workspace) = (self.steps, self.workspace);
        let mut queue: Vec<(Stream<'w>, u32)> = Vec::new();
        let mut pass = self;
        loop {
            pass.advance(steps.len());
            pass.end_operand();
            for entry in &pass.entries {
                workspace.check()?;
                for _ in 0..entry.left {
                    if !visit(&entry.tuple)? {
                        return Ok(());
                    }
                }
            }
            if let Some(aside) = pass.aside.take() {
                let (streams, level) = aside.into_streams()?;
                queue.extend(streams.into_iter().map(|stream| (stream, level + 1)));
            }
            let Some((stream, level)) = queue.pop() else { return Ok(()) };
            pass = Bag::new(steps, workspace, level);
            pass.take_in(&stream)?;
        }
    }

    /// Repeats the operands for the tuples of a stream.
    fn take_in(&mut self, stream: &Stream<'w>) -> Result<()> {
        let (mut reader, mut tuple) = (stream.reader(), Tuple::new());
        while let Some(record) = reader.next()? {
            let (key, payload) = split_keyed(record)?;
            decode_tuple(payload, &mut tuple).ok_or_else(damaged_row)?;
            let Some(Value::UInt(operand)) = tuple.first() else { return Err(damaged_row()) };
            self.advance((*operand as usize).min(self.steps.len()));
            self.add(key, &tuple[1..])?;
        }
        Ok(())
    }
}
