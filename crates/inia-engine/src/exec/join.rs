//! Joins: nested loops, whose right side may look rows up by the left row, and hash joins.
//!
//! A hash join reads its right side once, keyed by the encoded values of its equalities, and then
//! streams the left side. NULL keys match nothing.

use super::keys::encode_equal;
use super::select::holds;
use super::source::clear;
use super::{Result, RowVisitor, Runner};
use crate::expr::{EvalContext, Expr};
use crate::plan::{HashKey, JoinMethod, JoinPlan, JoinType};
use inia_base::value::Value;
use std::collections::HashMap;

impl Runner<'_> {
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
        let mut table: HashMap<Vec<u8>, Vec<Box<[Value]>>> = HashMap::new();
        self.source(&join.right, ctx, row, &mut |ctx, row| {
            self.check_killed()?;
            if let Some(key) = encode(keys, |key| &key.right, ctx, row)? {
                table.entry(key).or_default().push(row[slots.clone()].into());
            }
            Ok(true)
        })?;
        if table.is_empty() && join.kind == JoinType::Inner {
            return Ok(true);
        }
        self.source(&join.left, ctx, row, &mut |ctx, row| {
            let found = encode(keys, |key| &key.left, ctx, row)?;
            let mut matched = false;
            for values in found.and_then(|key| table.get(&key)).into_iter().flatten() {
                row[slots.clone()].clone_from_slice(values);
                if holds(&join.on, ctx, row)? {
                    matched = true;
                    if !visit(ctx, row)? {
                        return Ok(false);
                    }
                }
            }
            if !matched && join.kind == JoinType::Left {
                clear(&mut row[slots.clone()]);
                return visit(ctx, row);
            }
            Ok(true)
        })
    }
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
