//! Joins: nested loops, whose right side may look rows up by the left row, and hash joins.
//!
//! A hash join reads its right side once, keyed by the encoded values of its equalities, and then
//! streams the left side. NULL keys match nothing. Where the right side does not fit into memory
//! both sides go to a file first ([`grace`]).
//!
//! A semi join gives a left row once it has a match, an anti join where it has none. Both keep of
//! the right side what their conditions read, and look no further than the first match.

mod grace;
mod table;

use super::keys::encode_equal;
use super::select::holds;
use super::source::clear;
use super::{Result, RowVisitor, Runner};
use crate::plan::trace::{Node, Stage};
use crate::plan::{HashKey, JoinMethod, JoinPlan, JoinType, RowSource};
use crate::spill::Grant;
use grace::Spilled;
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr, slots_of};
use table::JoinTable;

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
            if !join.kind.gives_right() {
                // The first match decides; the right side's answer only says that it was left.
                self.source(&join.right, ctx, row, &mut |ctx, row| {
                    matched = holds(&join.on, ctx, row)?;
                    Ok(!matched)
                })?;
                let comes_out = matched == (join.kind == JoinType::Semi);
                return if comes_out { visit(ctx, row) } else { Ok(true) };
            }
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
        let mut right = Vec::new();
        self.filled(&join.right, &mut right);
        if !join.kind.gives_right() {
            let read = join.on.iter().map(slots_of).collect::<Vec<_>>();
            let is_read = |slot| read.iter().any(|r| r.whole_row || r.slots.contains(slot));
            right.retain(|slot| is_read(*slot));
        }
        debug_assert!(
            right.iter().all(|slot| join.right_slots.contains(slot) || is_row_id(join, *slot)),
            "the right side fills its own slots"
        );
        let (mut table, mut bytes) = (JoinTable::new(right.len()), Vec::new());
        let mut memory = Grant::new(self.exec.workspace);
        let mut spilled: Option<Spilled<'_, 's>> = None;
        let building = Stage::new(self.trace, Node::Build(join));
        self.source(&join.right, ctx, row, &mut |ctx, row| {
            if !encode(keys, |key| &key.right, ctx, row, &mut bytes)? {
                return Ok(true);
            }
            let values = right.iter().map(|&slot| row[slot].clone());
            match &mut spilled {
                Some(spilled) => spilled.push_right(&bytes, &values.collect::<Vec<Value>>())?,
                None => table.add(&bytes, values),
            }
            if !memory.allows(table.used) || table.is_full() {
                let table = std::mem::take(&mut table);
                spilled = Some(Spilled::of(self, join, table, &right)?);
            }
            Ok(true)
        })?;
        drop(building);
        if let Some(spilled) = spilled {
            return self.spilled_join(spilled, keys, ctx, row, visit);
        }
        if table.is_empty() && !join.kind.keeps_unmatched() {
            return Ok(true);
        }
        table.seal();
        // Slots that the right side does not fill are NULL already.
        self.source(&join.left, ctx, row, &mut |ctx, row| {
            let found = encode(keys, |key| &key.left, ctx, row, &mut bytes)?;
            let key = found.then_some(&bytes[..]);
            let (matched, wanted) = probe(join, (&table, &right), key, ctx, row, visit)?;
            if wanted && !matched && join.kind.keeps_unmatched() {
                clear(&mut row[join.right_slots.clone()]);
                return visit(ctx, row);
            }
            Ok(wanted)
        })
    }
}

/// Whether a slot takes the ids of rows of the right side.
fn is_row_id(join: &JoinPlan, slot: usize) -> bool {
    let mut found = false;
    join.right.each(&mut |source| {
        found |= matches!(source, RowSource::Table(table) if table.row_id == Some(slot));
    });
    found
}

/// Gives the left row in `row` with each right row that matches to `visit`, in a semi join once and
/// in an anti join never; `slots` are those of the table's values. Returns whether one matched and
/// whether more are wanted.
fn probe(
    join: &JoinPlan,
    (table, slots): (&JoinTable, &[usize]),
    key: Option<&[u8]>,
    ctx: &mut EvalContext<'_>,
    row: &mut Vec<Value>,
    visit: &mut RowVisitor<'_>,
) -> Result<(bool, bool)> {
    let mut matched = false;
    for values in key.into_iter().flat_map(|key| table.matches(key)) {
        debug_assert_eq!(values.len(), slots.len(), "each value of the right side has a slot");
        for (value, &slot) in values.iter().zip(slots) {
            row[slot].clone_from(value);
        }
        if holds(&join.on, ctx, row)? {
            matched = true;
            match join.kind {
                JoinType::Anti => return Ok((true, true)),
                JoinType::Semi => return Ok((true, visit(ctx, row)?)),
                JoinType::Inner | JoinType::Left if visit(ctx, row)? => {}
                JoinType::Inner | JoinType::Left => return Ok((true, false)),
            }
        }
    }
    Ok((matched, true))
}

/// Puts one side's key in `bytes`; false where a part is NULL.
fn encode<'k>(
    keys: &'k [HashKey],
    side: impl Fn(&'k HashKey) -> &'k Expr,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
    bytes: &mut Vec<u8>,
) -> Result<bool> {
    bytes.clear();
    for key in keys {
        let value = side(key).eval_ref(ctx, row)?;
        if *value == Value::Null {
            return Ok(false);
        }
        encode_equal(&key.class, &value, bytes);
    }
    Ok(true)
}
