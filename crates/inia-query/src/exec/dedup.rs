//! Rows without repetitions, for semi joins that are executed as joins.

use super::keys::encode_equal;
use super::{Result, RowVisitor, Runner};
use crate::plan::dedup::{DedupKey, DedupSource, DedupStrategy};
use crate::spill::KeySet;
use inia_base::value::Value;
use inia_expr::EvalContext;

impl Runner<'_> {
    /// Gives each row of a source that repeats none before it to `visit`.
    pub(super) fn dedup(
        &self,
        dedup: &DedupSource,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        let strategies = [DedupStrategy::LooseScan, DedupStrategy::FirstMatch];
        let sorted = strategies.contains(&dedup.strategy);
        let (mut known, mut last) = (KeySet::new(self.exec.workspace), None);
        let mut key = Vec::new();
        self.source(&dedup.source, ctx, row, &mut |ctx, row| {
            if !encode(&dedup.by, ctx, row, &mut key)? {
                return Ok(true);
            }
            let is_new = match sorted {
                true => last.as_ref() != Some(&key),
                false => known.insert(&key)?,
            };
            if !is_new {
                return Ok(true);
            }
            if sorted {
                last = Some(key.clone());
            }
            visit(ctx, row)
        })
    }
}

/// Puts what a row is compared by in `bytes`; false where a value is NULL.
fn encode(
    by: &DedupKey,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
    bytes: &mut Vec<u8>,
) -> Result<bool> {
    bytes.clear();
    match by {
        DedupKey::RowIds(slots) => {
            for &slot in slots {
                let id: &[u8] = match &row[slot] {
                    Value::Bytes(id) => id,
                    _ => &[],
                };
                bytes.extend_from_slice(&(id.len() as u32).to_le_bytes());
                bytes.extend_from_slice(id);
            }
        }
        DedupKey::Values(values) => {
            for (class, expr) in values {
                let value = expr.eval_ref(ctx, row)?;
                if *value == Value::Null {
                    return Ok(false);
                }
                encode_equal(class, &value, bytes);
            }
        }
    }
    Ok(true)
}
