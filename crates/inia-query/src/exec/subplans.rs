//! Subqueries, derived tables and common table expressions.
//!
//! A subplan that reads no row of an enclosing query is run once and its tuples are kept for the
//! rest of the statement; a correlated subplan is run anew each time. A recursive common table
//! expression is run in rounds: each round sees, under the subplan's own number, the rows the last
//! one added.

use super::keys::TupleKey;
use super::member::Members;
use super::{Result, Runner, Tuple, TupleVisitor, window};
use crate::plan::{RecursivePlan, Subplan};
use crate::spill::{KeySet, TupleList};
use crate::stack::on_more_stack;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::cast::unify;
use inia_expr::{EvalContext, ExprType, VarScope};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// `cte_max_recursion_depth`'s default.
const MAX_RECURSION: u64 = 1000;

/// How many rounds a recursive common table expression may take.
fn max_recursion(ctx: &EvalContext<'_>) -> u64 {
    match ctx.host.sysvar(VarScope::Session, "cte_max_recursion_depth") {
        Ok((Value::UInt(depth), _)) => depth,
        Ok((Value::Int(depth), _)) => u64::try_from(depth).unwrap_or(MAX_RECURSION),
        _ => MAX_RECURSION,
    }
}

/// Converts a recursive round's tuple to the columns that the seed declares, as if they were
/// stored in a table of these.
fn as_declared(
    tuple: &[Value],
    subplan: &Subplan,
    step: &RecursivePlan,
    ctx: &mut EvalContext<'_>,
) -> Result<Tuple> {
    let mut converted = Vec::with_capacity(tuple.len());
    let columns = subplan.query.columns.iter().zip(&step.step.columns).zip(&step.names);
    for (value, ((column, from), name)) in tuple.iter().zip(columns) {
        let value = match from.ty.data_type == column.ty.data_type {
            true => value.clone(),
            false => unify(value.clone(), &from.ty, &column.ty, ctx)?,
        };
        converted.push(cut(value, &column.ty, name, ctx)?);
    }
    Ok(converted)
}

/// A string cut to the length of its column; error 1406 in strict mode.
fn cut(value: Value, ty: &ExprType, name: &str, ctx: &EvalContext<'_>) -> Result<Value> {
    let cut = match (&value, &ty.data_type) {
        (Value::Text(text), DataType::VarChar { chars, .. }) => {
            let end = text.char_indices().nth(*chars as usize);
            end.map(|(end, _)| Value::Text(text[..end].to_owned()))
        }
        (Value::Bytes(bytes), DataType::Binary(length) | DataType::VarBinary(length)) => {
            let head = bytes.get(..*length as usize).filter(|head| head.len() < bytes.len());
            head.map(|head| Value::Bytes(head.to_vec()))
        }
        _ => None,
    };
    match cut {
        Some(_) if ctx.mode().is_strict() => {
            Err(SqlError::new(ErrorCode::DataTooLong, &[&name, &1]))
        }
        Some(cut) => Ok(cut),
        None => Ok(value),
    }
}

/// The kept results of subplans, by number.
#[derive(Default)]
pub(super) struct SubplanCache<'w> {
    tuples: RefCell<HashMap<usize, Rc<TupleList<'w>>>>,
    pub(super) members: RefCell<HashMap<usize, Rc<Members<'w>>>>,
}

/// Takes a subplan's tuple beside the row that it is joined to; returns whether it wants more.
type SubplanVisitor<'v> =
    dyn FnMut(&mut EvalContext<'_>, &mut Vec<Value>, &[Value]) -> Result<bool> + 'v;

impl<'s> Runner<'s> {
    /// Whether a subplan in FROM must be run anew for each row around it.
    pub(super) fn subplan_depends_on_rows(&self, id: usize) -> bool {
        self.plan.subplans[id].correlated && !self.subplans.tuples.borrow().contains_key(&id)
    }

    /// All tuples of a subplan in FROM that depends on no row. `level` is how many enclosing rows
    /// it was bound under.
    pub(super) fn kept_subplan(
        &self,
        id: usize,
        level: usize,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Rc<TupleList<'s>>> {
        if let Some(tuples) = self.subplans.tuples.borrow().get(&id) {
            return Ok(tuples.clone());
        }
        let own = ctx.outer.len();
        let hidden = ctx.outer.split_off(level.min(own));
        ctx.outer.resize(level, Vec::new());
        let tuples = on_more_stack(|| self.materialise(id, &self.plan.subplans[id], ctx));
        ctx.outer.truncate(level.min(own));
        ctx.outer.extend(hidden);
        let tuples = Rc::new(tuples?);
        self.subplans.tuples.borrow_mut().insert(id, tuples.clone());
        Ok(tuples)
    }

    /// Runs a subplan in FROM that reads enclosing rows: the first `level` of them, of which the
    /// last may be `row` itself (LATERAL).
    pub(super) fn dependent_subplan(
        &self,
        id: usize,
        level: usize,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut SubplanVisitor<'_>,
    ) -> Result<()> {
        let own = ctx.outer.len();
        let mut hidden = ctx.outer.split_off(level.min(own));
        if level > own {
            ctx.outer.push(row.clone());
        }
        let outcome = self.subplan(id, ctx, &mut |ctx, tuple| {
            let inner = ctx.outer.split_off(level.min(own));
            ctx.outer.append(&mut hidden);
            let wanted = visit(ctx, row, tuple)?;
            hidden = ctx.outer.split_off(level.min(own));
            ctx.outer.extend(inner);
            Ok(wanted)
        });
        ctx.outer.truncate(level.min(own));
        ctx.outer.extend(hidden);
        outcome
    }

    /// Gives the tuples of subplan `id` to `visit`. The enclosing row is on the context already.
    pub(super) fn subplan(
        &self,
        id: usize,
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        let subplan = &self.plan.subplans[id];
        let kept = self.subplans.tuples.borrow().get(&id).cloned();
        let tuples = match kept {
            Some(tuples) => tuples,
            None if subplan.recursive.is_none() && subplan.correlated => {
                return on_more_stack(|| self.query(&subplan.query, ctx, visit));
            }
            None => {
                let tuples = Rc::new(on_more_stack(|| self.materialise(id, subplan, ctx))?);
                if !subplan.correlated {
                    self.subplans.tuples.borrow_mut().insert(id, tuples.clone());
                }
                tuples
            }
        };
        tuples.each(|tuple| visit(ctx, tuple))
    }

    fn materialise(
        &self,
        id: usize,
        subplan: &Subplan,
        ctx: &mut EvalContext<'_>,
    ) -> Result<TupleList<'s>> {
        let mut tuples = TupleList::new(self.exec.workspace);
        self.query(&subplan.query, ctx, &mut |_, tuple| {
            self.check_killed()?;
            tuples.push(tuple)?;
            Ok(true)
        })?;
        match &subplan.recursive {
            Some(recursive) => self.recurse(id, subplan, recursive, tuples, ctx),
            None => Ok(tuples),
        }
    }

    /// Runs the recursive operand until a round adds nothing.
    fn recurse(
        &self,
        id: usize,
        subplan: &Subplan,
        recursive: &RecursivePlan,
        seed: TupleList<'s>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<TupleList<'s>> {
        let types: Vec<_> = subplan.query.columns.iter().map(|c| c.ty.clone()).collect();
        // UNION DISTINCT compares a row with those of all rounds and with the seed.
        let mut seen = KeySet::new(self.exec.workspace);
        let mut fresh = |tuple: &[Value]| match recursive.distinct {
            true => seen.insert(&TupleKey::new(tuple, &types).into_bytes()),
            false => Ok(true),
        };
        let (skip, take) = window(recursive.limit.as_ref(), ctx)?;
        let enough = skip.saturating_add(take);
        let mut all = Gathered { list: TupleList::new(self.exec.workspace), seen: 0, skip, enough };
        let mut delta = TupleList::new(self.exec.workspace);
        seed.each(|tuple| {
            if fresh(tuple)? {
                delta.push(tuple)?;
                all.push(tuple)?;
            }
            Ok(true)
        })?;
        drop(seed);
        // LIMIT counts the rows of all rounds: once there are enough, no further round runs.
        let mut rounds = 0;
        while delta.len() > 0 && all.seen < enough {
            rounds += 1;
            if rounds > max_recursion(ctx) {
                self.subplans.tuples.borrow_mut().remove(&id);
                return Err(SqlError::new(ErrorCode::CteMaxRecursionDepth, &[&rounds]));
            }
            // The step finds the last round's rows under the subplan's own number. They are removed
            // before an error is returned, so that no reader takes them for the result.
            self.subplans.tuples.borrow_mut().insert(id, Rc::new(delta));
            let mut added = TupleList::new(self.exec.workspace);
            let outcome = self.query(&recursive.step, ctx, &mut |ctx, tuple| {
                self.check_killed()?;
                let tuple = as_declared(tuple, subplan, recursive, ctx)?;
                if fresh(&tuple)? {
                    added.push(&tuple)?;
                    all.push(&tuple)?;
                }
                Ok(true)
            });
            self.subplans.tuples.borrow_mut().remove(&id);
            outcome?;
            delta = added;
        }
        Ok(all.list)
    }
}

/// The rows of all rounds that LIMIT lets through.
struct Gathered<'w> {
    list: TupleList<'w>,
    seen: u64,
    skip: u64,
    enough: u64,
}

impl Gathered<'_> {
    fn push(&mut self, tuple: &[Value]) -> Result<()> {
        self.seen += 1;
        if self.seen > self.skip && self.seen <= self.enough {
            self.list.push(tuple)?;
        }
        Ok(())
    }
}
