//! Rows as operands: `(a, b) = (c, d)`, `(a, b) IN (SELECT …)`, `(SELECT a, b) = (c, d)`.

use crate::compare::{self, CmpClass};
use crate::constant;
use crate::context::EvalContext;
use crate::eval::{first_row, with_outer};
use crate::tree::{CmpOp, Compare, Expr, ExprKind, InList, Quantifier, RowLookup};
use crate::tree::{Subquery, SubqueryKind};
use crate::ty::ExprType;
use inia_base::error::SqlError;
use inia_base::value::Value;
use std::cmp::Ordering;

type Truth = Option<bool>;

/// A comparison of two rows, column by column: the first pair that differs decides, an UNKNOWN
/// before it makes the whole UNKNOWN.
struct Pairs {
    op: CmpOp,
    unknown: bool,
}

impl Pairs {
    fn new(op: CmpOp) -> Pairs {
        Pairs { op, unknown: false }
    }

    /// Takes in the next pair; returns the comparison's truth once that is settled.
    fn pair(
        &mut self,
        (left, right): (&Value, &Value),
        compare: impl FnOnce() -> Result<Ordering, SqlError>,
    ) -> Result<Option<Truth>, SqlError> {
        let null = (*left == Value::Null, *right == Value::Null);
        if null.0 || null.1 {
            return Ok(match self.op {
                CmpOp::NullSafeEq if null.0 && null.1 => None,
                CmpOp::NullSafeEq => Some(Some(false)),
                CmpOp::Eq | CmpOp::Ne => {
                    self.unknown = true;
                    None
                }
                _ => Some(None),
            });
        }
        let ordering = compare()?;
        Ok((ordering != Ordering::Equal).then_some(Some(self.op.holds(ordering))))
    }

    /// The truth where no pair has settled it.
    fn end(self) -> Truth {
        if self.unknown { None } else { Some(self.op.holds(Ordering::Equal)) }
    }
}

/// `(a, b) op (c, d)`.
pub(super) fn eval_compare_rows(
    op: CmpOp,
    parts: &[Compare],
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Truth, SqlError> {
    let mut pairs = Pairs::new(op);
    for part in parts {
        let left = part.left.eval(ctx, row)?;
        let right = part.right.eval(ctx, row)?;
        let sides = ((&part.left, &left), (&part.right, &right));
        let compare = || constant::compare_operands(&part.class, sides.0, sides.1, ctx);
        if let Some(truth) = pairs.pair((&left, &right), compare)? {
            return Ok(truth);
        }
    }
    Ok(pairs.end())
}

/// `(a, b) IN ((1, 2), …)`: each item is an already bound row comparison.
pub(super) fn eval_row_in(
    list: &InList,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Truth, SqlError> {
    let found = match &list.rows {
        Some(rows) => rows.contains(list, ctx, row)?.zip(Some(rows)),
        None => None,
    };
    let compared: &mut dyn Iterator<Item = usize> = match found {
        Some((true, _)) => return Ok(Some(!list.negated)),
        Some((false, rows)) => &mut rows.with_null.iter().copied(),
        None => &mut (0..list.items.len()),
    };
    let mut unknown = false;
    for number in compared {
        match list.items[number].1.eval_bool(ctx, row)? {
            Some(true) => return Ok(Some(!list.negated)),
            None => unknown = true,
            Some(false) => {}
        }
    }
    Ok(if unknown { None } else { Some(list.negated) })
}

impl Expr {
    /// The types of the columns, where this is a subquery of more than one.
    pub(crate) fn row_subquery(&self) -> Option<(&Subquery, &[ExprType])> {
        let ExprKind::Subquery(sub) = &self.kind else { return None };
        match &sub.kind {
            SubqueryKind::Row(types) => Some((sub, types)),
            _ => None,
        }
    }
}

/// The types of a left operand's columns.
pub fn column_types(left: &[Expr]) -> Vec<&ExprType> {
    let mut types = Vec::with_capacity(left.len());
    for operand in left {
        match operand.row_subquery() {
            Some((_, columns)) => types.extend(columns),
            None => types.push(&operand.ty),
        }
    }
    types
}

/// The values of a left operand's columns; those of a subquery without rows are NULL.
fn column_values(
    left: &[Expr],
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Vec<Value>, SqlError> {
    let mut values = Vec::with_capacity(left.len());
    for operand in left {
        match operand.row_subquery() {
            Some((sub, types)) => match first_row(sub, ctx, row)? {
                Some(found) => values.extend(found),
                None => values.extend(types.iter().map(|_| Value::Null)),
            },
            None => values.push(operand.eval(ctx, row)?),
        }
    }
    Ok(values)
}

/// What a left operand's values are compared with.
struct Against<'s> {
    op: CmpOp,
    values: &'s [Value],
    own: &'s [&'s ExprType],
    classes: &'s [CmpClass],
    types: &'s [ExprType],
}

impl Against<'_> {
    /// The truth of the comparison with one row of the subquery.
    fn truth(&self, found: &[Value], ctx: &mut EvalContext<'_>) -> Result<Truth, SqlError> {
        let mut pairs = Pairs::new(self.op);
        for (at, (left, right)) in self.values.iter().zip(found).enumerate() {
            let sides = ((left, self.own[at]), (right, &self.types[at]));
            let compare = || compare::compare(&self.classes[at], sides.0, sides.1, ctx);
            if let Some(truth) = pairs.pair((left, right), compare)? {
                return Ok(truth);
            }
        }
        Ok(pairs.end())
    }
}

/// `left op ANY/ALL (subquery)`, and `left op (subquery)` of rows.
pub(super) fn eval_quantified(
    sub: &Subquery,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Truth, SqlError> {
    let SubqueryKind::Quantified { op, quantifier, left, classes, types, lookup } = &sub.kind
    else {
        return Ok(None);
    };
    let runner = ctx.subqueries;
    let values = column_values(left, ctx, row)?;
    let all = *quantifier == Quantifier::All;
    if *lookup == RowLookup::HashTable
        && let Some(inside) = runner.contains(sub, &values, ctx)?
    {
        return Ok(inside.map(|inside| inside != all));
    }
    let own = column_types(left);
    let against = Against { op: *op, values: &values, own: &own, classes, types };
    if *quantifier == Quantifier::Only {
        return match first_row(sub, ctx, row)? {
            Some(found) => against.truth(&found, ctx),
            None => Ok((*op == CmpOp::NullSafeEq).then_some(false)),
        };
    }
    // ANY is decided by a true comparison, ALL by a false one.
    let mut result = Some(all);
    with_outer(sub, ctx, row, |ctx| {
        runner.rows(sub.id, ctx, &mut |ctx, found| {
            match against.truth(found, ctx)? {
                Some(truth) if truth != all => {
                    result = Some(truth);
                    return Ok(false);
                }
                None => result = None,
                Some(_) => {}
            }
            Ok(true)
        })
    })?;
    Ok(result)
}
