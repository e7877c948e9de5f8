//! `IN (SELECT …)` by a hash table, where the subquery reads no row around it.
//!
//! NULLs decide as in a comparison with each row: `x IN (…)` is true where `x` is among the values,
//! else unknown where `x` or one of the values is NULL, else false; over no rows it is false even
//! for NULL. Rows of several columns with a NULL somewhere are left to the comparison.

use super::keys::encode_equal;
use super::{Result, Runner};
use crate::spill::KeySet;
use crate::stack::on_more_stack;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_expr::compare::CmpClass;
use inia_expr::tree::{Subquery, SubqueryKind};
use std::rc::Rc;

/// A subquery's rows as a set.
pub(super) struct Members<'w> {
    keys: KeySet<'w>,
    rows: u64,
    with_null: bool,
}

impl<'s> Runner<'s> {
    /// Whether the subquery has the row `values`; `None` where the hash table cannot decide it: a
    /// NULL is in one of several columns.
    pub(super) fn member(
        &self,
        sub: &Subquery,
        values: &[Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<Option<Option<bool>>> {
        let SubqueryKind::Quantified { classes, .. } = &sub.kind else { return Ok(None) };
        let kept = self.subplans.members.borrow().get(&sub.id).cloned();
        let members = match kept {
            Some(members) => members,
            None => {
                let members = Rc::new(self.members(sub.id, classes, ctx)?);
                self.subplans.members.borrow_mut().insert(sub.id, members.clone());
                members
            }
        };
        if members.rows == 0 {
            return Ok(Some(Some(false)));
        }
        let Some(key) = encode(values, classes) else {
            return Ok((classes.len() == 1).then_some(None));
        };
        if members.keys.contains(&key)? {
            return Ok(Some(Some(true)));
        }
        Ok(match (members.with_null, classes.len()) {
            (false, _) => Some(Some(false)),
            (true, 1) => Some(None),
            (true, _) => None,
        })
    }

    fn members(
        &self,
        id: usize,
        classes: &[CmpClass],
        ctx: &mut EvalContext<'_>,
    ) -> Result<Members<'s>> {
        let keys = KeySet::new(self.exec.workspace);
        let mut members = Members { keys, rows: 0, with_null: false };
        ctx.outer.push(Vec::new());
        let query = &self.plan.subplans[id].query;
        let mut visit = |_: &mut EvalContext<'_>, tuple: &[Value]| {
            self.check_killed()?;
            members.rows += 1;
            match encode(tuple, classes) {
                Some(key) => {
                    members.keys.insert(&key)?;
                }
                None => members.with_null = true,
            }
            Ok(true)
        };
        let outcome = on_more_stack(|| self.query(query, ctx, &mut visit));
        ctx.outer.pop();
        outcome?;
        Ok(members)
    }
}

/// The row as bytes; `None` where it has a NULL.
fn encode(values: &[Value], classes: &[CmpClass]) -> Option<Vec<u8>> {
    let mut key = Vec::with_capacity(16 * values.len());
    for (value, class) in values.iter().zip(classes) {
        if *value == Value::Null {
            return None;
        }
        encode_equal(class, value, &mut key);
    }
    Some(key)
}
