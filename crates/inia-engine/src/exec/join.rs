//! Joins: nested loops, whose right side may look rows up by the left row, and hash joins.
//!
//! A hash join reads its right side once, keyed by the encoded values of its equalities, and then
//! streams the left side. NULL keys match nothing. Where the right side does not fit into memory
//! both sides go to a file first ([`grace`]).

mod grace;

use super::keys::encode_equal;
use super::select::holds;
use super::source::clear;
use super::spill::{ENTRY, held};
use super::{Result, RowVisitor, Runner};
use crate::expr::{EvalContext, Expr};
use crate::plan::{HashKey, JoinMethod, JoinPlan, JoinType};
use grace::Spilled;
use inia_base::value::Value;
use std::collections::HashMap;

/// Right rows by their key: the values of the right side's slots.
#[derive(Default)]
struct Table {
    rows: HashMap<Vec<u8>, Vec<Box<[Value]>>>,
    used: usize,
}

impl Table {
    fn add(&mut self, key: Vec<u8>, values: Box<[Value]>) {
        self.used += key.len() + held(&values) + ENTRY;
        self.rows.entry(key).or_default().push(values);
    }
}

impl<'s> Runner<'s> {
    pub(super) fn join(
        &self,
        join: &JoinPlan,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        match &join.method {
            JoinMethod::NestedLoop => self.nested_loop(join, ctx, row, visit),
            JoinMethod::Hash(keys) => self.hash_join(join, keys, ctx, row, visit),
        }
    }

    fn nested_loop(
        &self,
        join: &JoinPlan,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        self.source(&join.left, ctx, row, &mut |ctx, row| {
            let mut matched = false;
            let wanted = self.source(&join.right, ctx, row, &mut |ctx, row| {
                if !holds(&join.on, ctx, row)? {
                    return Ok(true);
                }
                matched = true;
                visit(ctx, row)
            })?;
            if wanted && !matched && join.kind == JoinType::Left {
                clear(&mut row[join.right_slots.clone()]);
                return visit(ctx, row);
            }
            Ok(wanted)
        })
    }

    fn hash_join(
        &self,
        join: &JoinPlan,
        keys: &[HashKey],
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        let slots = join.right_slots.clone();
        let mut table = Table::default();
        let mut spilled: Option<Spilled<'_, 's>> = None;
        self.source(&join.right, ctx, row, &mut |ctx, row| {
            self.check_killed()?;
            let Some(key) = encode(keys, |key| &key.right, ctx, row)? else { return Ok(true) };
            match &mut spilled {
                Some(spilled) => spilled.push_right(&key, &row[slots.clone()])?,
                None => table.add(key, row[slots.clone()].into()),
            }
            if table.used > self.workspace.budget {
                let table = std::mem::take(&mut table);
                spilled = Some(Spilled::of(self, join, table)?);
            }
            Ok(true)
        })?;
        if let Some(spilled) = spilled {
            return self.spilled_join(spilled, keys, ctx, row, visit);
        }
        if table.rows.is_empty() && join.kind == JoinType::Inner {
            return Ok(true);
        }
        self.source(&join.left, ctx, row, &mut |ctx, row| {
            let found = encode(keys, |key| &key.left, ctx, row)?;
            let (matched, wanted) = probe(join, &table, found.as_deref(), ctx, row, visit)?;
            if wanted && !matched && join.kind == JoinType::Left {
                clear(&mut row[slots.clone()]);
                return visit(ctx, row);
            }
            Ok(wanted)
        })
    }
}

/// Gives the left row in `row` with each right row that matches to `visit`. Returns whether one
/// matched and whether more are wanted.
fn probe(
    join: &JoinPlan,
    table: &Table,
    key: Option<&[u8]>,
    ctx: &mut EvalContext<'_>,
    row: &mut Vec<Value>,
    visit: &mut RowVisitor<'_>,
) -> Result<(bool, bool)> {
    let mut matched = false;
    for values in key.and_then(|key| table.rows.get(key)).into_iter().flatten() {
        row[join.right_slots.clone()].clone_from_slice(values);
        if holds(&join.on, ctx, row)? {
            matched = true;
            if !visit(ctx, row)? {
                return Ok((true, false));
            }
        }
    }
    Ok((matched, true))
}

/// One side's key; `None` where a part is NULL.
fn encode<'k>(
    keys: &'k [HashKey],
    side: impl Fn(&'k HashKey) -> &'k Expr,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(16 * keys.len());
    for key in keys {
        let value = side(key).eval(ctx, row)?;
        if value == Value::Null {
            return Ok(None);
        }
        encode_equal(&key.class, &value, &mut bytes);
    }
    Ok(Some(bytes))
}
