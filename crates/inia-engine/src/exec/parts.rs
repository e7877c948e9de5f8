//! Subqueries, derived tables and common table expressions.
//!
//! A part that reads no row of an enclosing query is run once and its tuples are kept for the rest
//! of the statement; a correlated part is run anew each time. A recursive common table expression
//! is run in rounds: each round sees, under the part's own number, the rows the last one added.

use super::keys::TupleKey;
use super::{Result, Runner, Tuple, TupleVisitor};
use crate::expr::EvalContext;
use crate::plan::{PartPlan, RecursivePlan};
use inia_base::error::{ErrorCode, SqlError};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// `cte_max_recursion_depth`'s default.
const MAX_RECURSION: u64 = 1000;

/// The kept results of parts, by number.
#[derive(Default)]
pub(super) struct PartCache {
    tuples: RefCell<HashMap<usize, Rc<Vec<Tuple>>>>,
}

impl Runner<'_> {
    /// Gives the tuples of part `id` to `visit`. The enclosing row is on the context already.
    pub(super) fn part(
        &self,
        id: usize,
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        let part = &self.plan.parts[id];
        let kept = self.parts.tuples.borrow().get(&id).cloned();
        let tuples = match kept {
            Some(tuples) => tuples,
            None if part.recursive.is_none() && part.correlated => {
                return self.query(&part.query, ctx, visit);
            }
            None => {
                let tuples = Rc::new(self.materialise(id, part, ctx)?);
                if !part.correlated {
                    self.parts.tuples.borrow_mut().insert(id, tuples.clone());
                }
                tuples
            }
        };
        for tuple in tuples.iter() {
            if !visit(ctx, tuple)? {
                break;
            }
        }
        Ok(())
    }

    fn materialise(
        &self,
        id: usize,
        part: &PartPlan,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Vec<Tuple>> {
        let mut tuples = Vec::new();
        self.query(&part.query, ctx, &mut |_, tuple| {
            self.check_killed()?;
            tuples.push(tuple.to_vec());
            Ok(true)
        })?;
        match &part.recursive {
            Some(recursive) => self.recurse(id, part, recursive, tuples, ctx),
            None => Ok(tuples),
        }
    }

    /// Runs the recursive operand until a round adds nothing.
    fn recurse(
        &self,
        id: usize,
        part: &PartPlan,
        recursive: &RecursivePlan,
        seed: Vec<Tuple>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Vec<Tuple>> {
        let types: Vec<_> = part.query.columns.iter().map(|c| c.ty.clone()).collect();
        let mut seen = HashSet::new();
        let mut fresh = |tuple: &Tuple| {
            !recursive.distinct || seen.insert(TupleKey::new(tuple, &types).into_bytes())
        };
        let mut delta: Vec<Tuple> = seed.into_iter().filter(&mut fresh).collect();
        let mut all = delta.clone();
        let mut rounds = 0;
        while !delta.is_empty() {
            rounds += 1;
            if rounds > MAX_RECURSION {
                self.parts.tuples.borrow_mut().remove(&id);
                return Err(SqlError::new(ErrorCode::CteMaxRecursionDepth, &[&rounds]));
            }
            self.parts.tuples.borrow_mut().insert(id, Rc::new(delta));
            let mut added = Vec::new();
            let outcome = self.query(&recursive.step, ctx, &mut |_, tuple| {
                self.check_killed()?;
                added.push(tuple.to_vec());
                Ok(true)
            });
            self.parts.tuples.borrow_mut().remove(&id);
            outcome?;
            delta = added.into_iter().filter(&mut fresh).collect();
            all.extend(delta.iter().cloned());
        }
        Ok(all)
    }
}
