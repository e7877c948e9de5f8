//! Rows that an UPDATE or DELETE has found and changes only when it has found them all: they wait
//! in the order in which they were found, or in that of ORDER BY, in a temporary file where they
//! are many. MySQL sorts all rows for a DELETE, and knows of the LIMIT when it sorts for an UPDATE.

use crate::error::Damaged;
use crate::exec::{SortSize, Sorter, encode_key};
use crate::spill::{TupleList, Workspace};
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr};

type Result<T> = std::result::Result<T, SqlError>;

/// Clustered keys and rows.
pub(super) enum Gathered<'w> {
    Found(TupleList<'w>),
    Sorted(Sorter<'w>),
}

impl<'w> Gathered<'w> {
    /// No rows yet; the first `limit` of them are changed, in the order of ORDER BY where there is
    /// one. So many rows are expected where that matters.
    pub(super) fn new(
        workspace: Workspace<'w>,
        order: &[(Expr, bool)],
        limit: u64,
        expected: Option<f64>,
    ) -> Gathered<'w> {
        if order.is_empty() {
            return Gathered::Found(TupleList::new(workspace));
        }
        let size = SortSize::by(order.iter().map(|(expr, _)| &expr.ty));
        let size = expected.map_or(size, |expected| size.limited(expected));
        let needed = usize::try_from(limit).unwrap_or(usize::MAX);
        Gathered::Sorted(Sorter::with_ties(needed, Some(size), workspace))
    }

    /// How many rows are kept in the order in which they were found.
    pub(super) fn found(&self) -> u64 {
        match self {
            Gathered::Found(list) => list.len(),
            Gathered::Sorted(_) => 0,
        }
    }

    /// Takes a row that wants no order.
    pub(super) fn push(&mut self, key: &[u8], bytes: &[u8]) -> Result<()> {
        match self {
            Gathered::Found(list) => {
                list.push(&[Value::Bytes(key.to_vec()), Value::Bytes(bytes.to_vec())])
            }
            Gathered::Sorted(sorter) => sorter.push_bytes(&[], &packed(key, bytes)),
        }
    }

    /// Takes a row, whose values are `row`, to its place in ORDER BY.
    pub(super) fn push_ordered(
        &mut self,
        ctx: &mut EvalContext<'_>,
        order: &[(Expr, bool)],
        row: &[Value],
        (key, bytes): (&[u8], &[u8]),
    ) -> Result<()> {
        let Gathered::Sorted(sorter) = self else { return self.push(key, bytes) };
        debug_assert!(!order.is_empty(), "rows are sorted by something");
        let mut place = Vec::new();
        for (expr, descending) in order {
            encode_key(&expr.eval(ctx, row)?, &expr.ty, *descending, &mut place);
        }
        sorter.push_bytes(&place, &packed(key, bytes))
    }

    /// Gives the first `count` rows to `visit`.
    pub(super) fn each(
        self,
        count: u64,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut left = count;
        match self {
            Gathered::Found(list) => list.each(|row| {
                let [Value::Bytes(key), Value::Bytes(bytes)] = row else {
                    return Err(Damaged.into());
                };
                if left > 0 {
                    visit(key, bytes)?;
                }
                left = left.saturating_sub(1);
                Ok(left > 0)
            }),
            Gathered::Sorted(sorter) => sorter.finish(false, |row| {
                let (key, bytes) = unpacked(row).ok_or(Damaged)?;
                if left > 0 {
                    visit(key, bytes)?;
                }
                left = left.saturating_sub(1);
                Ok(left > 0)
            }),
        }
    }
}

fn packed(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(4 + key.len() + bytes.len());
    out.extend_from_slice(&(key.len() as u32).to_le_bytes());
    out.extend_from_slice(key);
    out.extend_from_slice(bytes);
    out
}

fn unpacked(row: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = row.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}
