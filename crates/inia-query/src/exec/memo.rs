//! Correlated subqueries whose rows depend on few values are not run again for the same ones.
//!
//! A subquery that a SELECT has run [`TRIED`] times keeps what it gives, by the values that it
//! reads of the rows around it ([`crate::plan::outer_reads`]). Where few of these come again,
//! nothing is kept any more. This is the subquery cache of MariaDB, and the Memoize node of
//! PostgreSQL.
//!
//! ```text
//!   part.id = 7, 7, 7, 8, 8   the subquery runs for the first 7 and the first 8
//! ```
//!
//! Invariants: a result is kept where the subquery ran to its end, gave one row at most and did not
//! warn; nothing that the statement reads changes while it runs.

use super::{Result, Runner, Tuple, TupleVisitor};
use crate::plan::outer_reads::OuterCell;
use crate::spill::{ENTRY, Grant, encode_tuple, held};
use inia_base::value::Value;
use inia_expr::EvalContext;
use std::collections::HashMap;

/// So often a subquery is run before anything of it is kept.
const TRIED: u32 = 64;
/// So many lookups show whether values come again.
const JUDGED: u32 = 1024;
/// Of so many lookups one at least must find something.
const RARE: u32 = 8;

/// The kept results of a statement's subqueries. A list costs a statement without them nothing.
pub(super) type Memos<'w> = Vec<(usize, Memo<'w>)>;

/// What is kept of one subquery.
pub(super) enum Memo<'w> {
    /// Nothing yet: it has been run so often.
    Counting(u32),
    /// What it gave.
    Keeping(Box<Kept<'w>>),
    /// Nothing.
    Never,
}

/// Results by the values that they depend on.
pub(super) struct Kept<'w> {
    cells: Vec<OuterCell>,
    results: HashMap<Box<[u8]>, Option<Tuple>>,
    memory: Grant<'w>,
    used: usize,
    lookups: u32,
    found: u32,
}

impl Kept<'_> {
    /// The values around, as a key.
    fn key(&self, outer: &[Vec<Value>]) -> Option<Box<[u8]>> {
        let mut key = Vec::new();
        for cell in &self.cells {
            let row = outer.len().checked_sub(cell.depth).and_then(|at| outer.get(at))?;
            encode_tuple(std::slice::from_ref(row.get(cell.slot)?), &mut key);
        }
        Some(key.into_boxed_slice())
    }

    /// Whether values come again often enough.
    fn helps(&self) -> bool {
        self.lookups < JUDGED || self.found >= self.lookups / RARE
    }

    fn keep(&mut self, key: Box<[u8]>, result: Option<Tuple>) {
        let used = self.used + key.len() + held(result.as_deref().unwrap_or_default()) + ENTRY;
        if self.memory.allows(used) {
            self.used = used;
            self.results.insert(key, result);
        }
    }
}

impl<'s> Runner<'s> {
    /// Gives a subquery's rows to `visit`, from what is kept where that is there.
    pub(super) fn memoized(
        &self,
        id: usize,
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        let Some(key) = self.memo_key(id, &ctx.outer) else { return self.subplan(id, ctx, visit) };
        if let Some(result) = self.kept(id, &key) {
            return match result {
                Some(tuple) => visit(ctx, &tuple).map(drop),
                None => Ok(()),
            };
        }
        let warnings = ctx.warnings.count;
        let (mut rows, mut ended, mut result) = (0u64, true, None);
        self.subplan(id, ctx, &mut |ctx, tuple| {
            rows += 1;
            if rows == 1 {
                result = Some(tuple.to_vec());
            }
            let more = visit(ctx, tuple)?;
            ended &= more;
            Ok(more)
        })?;
        if ended && rows <= 1 && ctx.warnings.count == warnings {
            self.with_kept(id, |kept| kept.keep(key, result));
        }
        Ok(())
    }

    /// The key of a subquery's rows; `None` where none are kept.
    fn memo_key(&self, id: usize, outer: &[Vec<Value>]) -> Option<Box<[u8]>> {
        if !self.plan.subplans[id].correlated {
            return None;
        }
        let mut memos = self.memos.borrow_mut();
        let memos = memos.get_or_insert_default();
        let at = memos.iter().position(|(known, _)| *known == id).unwrap_or_else(|| {
            memos.push((id, Memo::Counting(0)));
            memos.len() - 1
        });
        let memo = &mut memos[at].1;
        match memo {
            Memo::Never => return None,
            Memo::Counting(runs) if *runs < TRIED => {
                *runs += 1;
                return None;
            }
            Memo::Counting(_) => *memo = self.new_memo(id),
            Memo::Keeping(kept) if !kept.helps() => *memo = Memo::Never,
            Memo::Keeping(_) => {}
        }
        match memo {
            Memo::Keeping(kept) => kept.key(outer),
            Memo::Counting(_) | Memo::Never => None,
        }
    }

    fn new_memo(&self, id: usize) -> Memo<'s> {
        let cells = match self.plan.calls_functions() {
            true => None,
            false => self.plan.outer_reads(id),
        };
        match cells {
            None => Memo::Never,
            Some(cells) => Memo::Keeping(Box::new(Kept {
                cells,
                results: HashMap::new(),
                memory: Grant::new(self.exec.workspace),
                used: 0,
                lookups: 0,
                found: 0,
            })),
        }
    }

    /// The result for a key, if it is kept.
    fn kept(&self, id: usize, key: &[u8]) -> Option<Option<Tuple>> {
        self.with_kept(id, |kept| {
            let found = kept.results.get(key).cloned();
            kept.lookups += 1;
            kept.found += u32::from(found.is_some());
            found
        })?
    }

    fn with_kept<T>(&self, id: usize, work: impl FnOnce(&mut Kept<'s>) -> T) -> Option<T> {
        let mut memos = self.memos.borrow_mut();
        let memo = memos.as_mut()?.iter_mut().find(|(known, _)| *known == id);
        match memo {
            Some((_, Memo::Keeping(kept))) => Some(work(kept)),
            _ => None,
        }
    }
}
