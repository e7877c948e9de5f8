//! Evaluation: a walk over the bound tree.
//!
//! [`Expr::eval_ref`] lends columns and constants instead of cloning them, so that a filter over
//! a string column allocates nothing. [`Expr::eval_bool`] is three-valued: `None` is UNKNOWN.

use crate::arith;
use crate::cast;
use crate::compare::{self, CmpClass};
use crate::constant;
use crate::context::{EvalContext, UserVar};
use crate::convert;
use crate::interval;
use crate::json;
use crate::like::Pattern;
use crate::rows;
use crate::tree::{
    Between, Call, CastKind, CmpOp, Compare, Expr, ExprKind, InList, Like, Match, StoredCall,
    Subquery, SubqueryKind,
};
use crate::ty::{ExprType, TypeClass};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::decimal::MAX_SCALE;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use std::borrow::Cow;

/// Calls a stored function.
#[cold]
fn call_stored(
    call: &StoredCall,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Value, SqlError> {
    let value = |arg: &Expr, ctx: &mut EvalContext<'_>| Ok((arg.eval(ctx, row)?, arg.ty.clone()));
    let args: Result<Vec<(Value, ExprType)>, SqlError> =
        call.args.iter().map(|arg| value(arg, ctx)).collect();
    ctx.host.call_function(call, args?, &mut ctx.warnings)
}

/// Why a function has no value.
#[derive(Debug)]
pub enum Stop {
    /// Its value is NULL.
    Null,
    /// It failed.
    Error(SqlError),
}

impl From<SqlError> for Stop {
    fn from(error: SqlError) -> Stop {
        Stop::Error(error)
    }
}

/// What a function's code returns; `?` on a NULL argument makes the result NULL.
pub type FnResult = Result<Value, Stop>;

/// A function's code.
pub type EvalFn = for<'a, 's> fn(&mut Args<'a, 's>) -> FnResult;

/// A call under evaluation: lazily evaluated, converted arguments.
pub struct Args<'a, 's> {
    /// The call.
    pub call: &'a Call,
    /// The result's type.
    pub ty: &'a ExprType,
    /// The statement.
    pub ctx: &'a mut EvalContext<'s>,
    /// The current row.
    pub row: &'a [Value],
}

impl Expr {
    /// The value for `row`.
    #[inline]
    pub fn eval(&self, ctx: &mut EvalContext<'_>, row: &[Value]) -> Result<Value, SqlError> {
        match self.eval_ref(ctx, row)? {
            Cow::Borrowed(value) => Ok(value.clone()),
            Cow::Owned(value) => Ok(value),
        }
    }

    /// The value that a user variable gets. A decimal that is computed from other variables shows
    /// as many digits after the point as there can be, but has its own: `@n := @n + 1.50` makes
    /// 3.00 of 1.50.
    pub fn eval_for_variable(
        &self,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<Value, SqlError> {
        let widest = matches!(self.ty.data_type, DataType::Decimal { scale: MAX_SCALE.., .. });
        let before = std::mem::replace(&mut ctx.keeps_scale, widest);
        let value = self.eval(ctx, row);
        ctx.keeps_scale = before;
        value
    }

    /// The value for `row`, lent where it is a column, a constant or a parameter.
    pub fn eval_ref<'r, 's: 'r>(
        &'r self,
        ctx: &mut EvalContext<'s>,
        row: &'r [Value],
    ) -> Result<Cow<'r, Value>, SqlError> {
        match &self.kind {
            ExprKind::Column { index, .. } => Ok(Cow::Borrowed(&row[*index])),
            ExprKind::Literal(value) => Ok(Cow::Borrowed(value)),
            ExprKind::Param(index) => {
                let value: &'s Value = ctx
                    .params
                    .get(*index)
                    .ok_or_else(|| SqlError::new(ErrorCode::WrongArguments, &[&"EXECUTE"]))?;
                Ok(Cow::Borrowed(value))
            }
            ExprKind::Collate(inner) => inner.eval_ref(ctx, row),
            _ => self.compute(ctx, row).map(Cow::Owned),
        }
    }

    /// The truth value for `row`.
    pub fn eval_bool(
        &self,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<Option<bool>, SqlError> {
        match &self.kind {
            ExprKind::Compare(node) => eval_compare(node, ctx, row),
            ExprKind::CompareRows(op, parts) => rows::eval_compare_rows(*op, parts, ctx, row),
            ExprKind::And(items) => {
                let mut result = Some(true);
                for item in items {
                    match constant::truth(item, ctx, row)? {
                        Some(false) => return Ok(Some(false)),
                        // NULL does not end the conjunction: a later FALSE still decides.
                        None => result = None,
                        Some(true) => {}
                    }
                }
                Ok(result)
            }
            ExprKind::Or(items) => {
                let mut result = Some(false);
                for item in items {
                    match constant::truth(item, ctx, row)? {
                        Some(true) => return Ok(Some(true)),
                        None => result = None,
                        Some(false) => {}
                    }
                }
                Ok(result)
            }
            ExprKind::Not(inner) => Ok(inner.eval_bool(ctx, row)?.map(|truth| !truth)),
            ExprKind::Xor(left, right) => {
                let left = left.eval_bool(ctx, row)?;
                let right = right.eval_bool(ctx, row)?;
                Ok(left.zip(right).map(|(l, r)| l != r))
            }
            ExprKind::IsNull(inner, negated) => {
                Ok(Some((*inner.eval_ref(ctx, row)? == Value::Null) != *negated))
            }
            ExprKind::IsTruth(inner, wanted, negated) => {
                let truth = constant::truth(inner, ctx, row)?;
                Ok(Some((truth == Some(*wanted)) != *negated))
            }
            ExprKind::In(list) => eval_in(list, ctx, row),
            ExprKind::Between(between) => eval_between(between, ctx, row),
            ExprKind::Like(like) => eval_like(like, ctx, row),
            ExprKind::Subquery(sub) if !matches!(sub.kind, SubqueryKind::Scalar) => {
                eval_predicate(sub, ctx, row)
            }
            _ => match &*self.eval_ref(ctx, row)? {
                // A document is true unless it is a zero; `eval_choice` has another rule.
                Value::Json(document) => Ok(Some(!json::is_zero(document))),
                value => convert::to_bool(value, &self.ty, ctx),
            },
        }
    }

    /// Truth as IF and CASE see it: a document counts by its number, `"a"` as 0.
    pub(crate) fn eval_choice(
        &self,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<Option<bool>, SqlError> {
        match self.ty.class() {
            TypeClass::Json => convert::to_bool(&*self.eval_ref(ctx, row)?, &self.ty, ctx),
            _ => self.eval_bool(ctx, row),
        }
    }

    fn compute(&self, ctx: &mut EvalContext<'_>, row: &[Value]) -> Result<Value, SqlError> {
        match &self.kind {
            ExprKind::Arith(node) => arith::eval(self, node, ctx, row),
            ExprKind::Neg(inner, class) => arith::negate(self, inner, *class, ctx, row),
            ExprKind::Call(call) => run_call(call, &self.ty, ctx, row),
            ExprKind::Cast(inner, kind) => {
                let value = inner.eval_ref(ctx, row)?;
                cast::cast(self, inner, kind, &value, ctx)
            }
            ExprKind::Case(case) => {
                let mut operand = CaseOperand::default();
                for (condition, result) in &case.whens {
                    let holds = match &condition.kind {
                        ExprKind::Compare(when) if case.simple => operand.is(when, ctx, row)?,
                        _ => condition.eval_choice(ctx, row)?,
                    };
                    if holds == Some(true) {
                        return self.unify(result, ctx, row);
                    }
                }
                match &case.otherwise {
                    Some(result) => self.unify(result, ctx, row),
                    None => Ok(Value::Null),
                }
            }
            ExprKind::DateArith(node) => interval::eval(self, node, ctx, row),
            ExprKind::HexLiteral(bytes) => Ok(Value::Bytes(bytes.clone())),
            // Depth 1 is the innermost of the outer rows.
            ExprKind::OuterColumn { depth, index, .. } => {
                let row = ctx.outer.len().checked_sub(*depth).map(|at| &ctx.outer[at]);
                let value = row.and_then(|row| row.get(*index)).cloned();
                value.ok_or_else(|| SqlError::new(ErrorCode::UnknownError, &[&"no outer row"]))
            }
            ExprKind::UserVar(name) => {
                Ok(ctx.host.user_var(name).map_or(Value::Null, |var| var.value))
            }
            ExprKind::AssignUserVar(name, value) => {
                let result = value.eval_for_variable(ctx, row)?;
                let var = UserVar { value: result.clone(), ty: value.ty.clone() };
                ctx.host.set_user_var(name, var)?;
                Ok(result)
            }
            ExprKind::SysVar(scope, name) => Ok(ctx.host.sysvar(*scope, name)?.0),
            ExprKind::Aggregate(index) => {
                Ok(ctx.aggregates.get(*index).cloned().unwrap_or(Value::Null))
            }
            ExprKind::Window(index) => Ok(ctx.windows.get(*index).cloned().unwrap_or(Value::Null)),
            ExprKind::InsertValue(index) => {
                Ok(ctx.inserting.get(*index).cloned().unwrap_or(Value::Null))
            }
            ExprKind::Subquery(sub) if matches!(sub.kind, SubqueryKind::Scalar) => {
                let first = first_row(sub, ctx, row)?;
                Ok(first.and_then(|row| row.into_iter().next()).unwrap_or(Value::Null))
            }
            ExprKind::Stored(call) => call_stored(call, ctx, row),
            ExprKind::Match(search) => relevance(search, ctx, row),
            ExprKind::Row(_) => Err(SqlError::new(ErrorCode::OperandColumns, &[&1])),
            // `eval_ref` answers these without coming back here.
            ExprKind::Column { .. }
            | ExprKind::Literal(_)
            | ExprKind::Param(_)
            | ExprKind::Collate(_) => self.eval(ctx, row),
            // All other kinds are conditions, whose value is 0, 1 or NULL.
            _ => Ok(self.eval_bool(ctx, row)?.map_or(Value::Null, |t| Value::Int(i64::from(t)))),
        }
    }

    /// The value of `branch` as a value of this node's type, as CASE, IF and COALESCE need.
    pub(crate) fn unify(
        &self,
        branch: &Expr,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<Value, SqlError> {
        unify(branch, &self.ty, ctx, row)
    }
}

/// The value of `branch` as a value of type `ty`.
pub(crate) fn unify(
    branch: &Expr,
    ty: &ExprType,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Value, SqlError> {
    let value = branch.eval(ctx, row)?;
    if value == Value::Null || branch.ty.data_type == ty.data_type {
        return Ok(value);
    }
    cast::unify(value, &branch.ty, ty, ctx)
}

impl Match {
    /// What is searched for; `None` for NULL.
    pub fn words(
        &self,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<Option<String>, SqlError> {
        let value = self.against.eval(ctx, row)?;
        let text = || convert::to_text(&value, &self.against.ty).into_owned();
        Ok((value != Value::Null).then(text))
    }
}

/// How relevant a row is to a search.
fn relevance(search: &Match, ctx: &mut EvalContext<'_>, row: &[Value]) -> Result<Value, SqlError> {
    let against = search.words(ctx, row)?;
    let mut texts = Vec::with_capacity(search.columns.len());
    for column in &search.columns {
        texts.push(column.eval(ctx, row)?);
    }
    let runner = ctx.subqueries;
    runner.relevance(search.id, against.as_deref(), &texts, ctx).map(Value::Double)
}

fn run_call(
    call: &Call,
    ty: &ExprType,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Value, SqlError> {
    let mut args = Args { call, ty, ctx, row };
    match (call.eval)(&mut args) {
        Ok(value) => Ok(value),
        Err(Stop::Null) => Ok(Value::Null),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// The operand of a CASE, computed for its first condition: `CASE RAND() < 0.5 WHEN TRUE THEN …
/// WHEN FALSE THEN … END` finds one of them.
#[derive(Default)]
struct CaseOperand<'r> {
    value: Option<Cow<'r, Value>>,
    /// The same as a DOUBLE: a text that is no number warns once.
    real: Option<f64>,
}

impl<'r> CaseOperand<'r> {
    /// Whether it is what WHEN says. Each value there is converted for each row.
    fn is<'s: 'r>(
        &mut self,
        when: &'r Compare,
        ctx: &mut EvalContext<'s>,
        row: &'r [Value],
    ) -> Result<Option<bool>, SqlError> {
        let value = match &self.value {
            Some(value) => value,
            None => self.value.insert(when.left.eval_ref(ctx, row)?),
        };
        if let ExprKind::Cast(wrong, CastKind::Implicit) = &when.right.kind
            && when.class == CmpClass::Dates
            && constant::is_no_date(wrong)
        {
            // Beside a date this counts as NULL, and is warned of where there is a date.
            if **value != Value::Null {
                let text = wrong.eval_ref(ctx, row)?;
                constant::date_beside(&text, &wrong.ty, &when.left, ctx)?;
            }
            return Ok(None);
        }
        let wanted = when.right.eval_ref(ctx, row)?;
        if when.class != CmpClass::Real || **value == Value::Null || *wanted == Value::Null {
            return compare_values(when, value, &wanted, ctx);
        }
        let real = match self.real {
            Some(real) => real,
            None => *self.real.insert(convert::to_real(value, &when.left.ty, ctx)?),
        };
        Ok(Some(convert::to_real(&wanted, &when.right.ty, ctx)? == real))
    }
}

fn eval_compare(
    node: &Compare,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Option<bool>, SqlError> {
    let left = node.left.eval_ref(ctx, row)?;
    let right = node.right.eval_ref(ctx, row)?;
    compare_values(node, &left, &right, ctx)
}

#[inline]
fn compare_values(
    node: &Compare,
    left: &Value,
    right: &Value,
    ctx: &mut EvalContext<'_>,
) -> Result<Option<bool>, SqlError> {
    if node.class == CmpClass::Int
        && let (Value::Int(l), Value::Int(r)) = (left, right)
    {
        return Ok(Some(node.op.holds(l.cmp(r))));
    }
    let null = (*left == Value::Null, *right == Value::Null);
    if null.0 || null.1 {
        let equal = node.op == CmpOp::NullSafeEq;
        return Ok(equal.then_some(null.0 && null.1));
    }
    let sides = ((&node.left, left), (&node.right, right));
    let ordering = constant::compare_operands(&node.class, sides.0, sides.1, ctx)?;
    Ok(Some(node.op.holds(ordering)))
}

fn eval_in(
    list: &InList,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Option<bool>, SqlError> {
    if matches!(list.value.kind, ExprKind::Row(_)) || list.value.row_subquery().is_some() {
        return rows::eval_row_in(list, ctx, row);
    }
    let value = list.value.eval_ref(ctx, row)?;
    if *value == Value::Null {
        return Ok(None);
    }
    if let Some(set) = &list.set
        && let Some(found) = set.contains(&value)
    {
        return Ok(match (found, set.has_null) {
            (true, _) => Some(!list.negated),
            (false, true) => None,
            (false, false) => Some(list.negated),
        });
    }
    let (mut unknown, mut real) = (false, None);
    for (class, item) in &list.items {
        let candidate = item.eval_ref(ctx, row)?;
        if *candidate == Value::Null {
            unknown = true;
            continue;
        }
        if *class == CmpClass::Real && list.items.len() > 1 {
            // The value becomes a number once: a text that is none warns once.
            let value = match real {
                Some(value) => value,
                None => *real.insert(constant::real(&list.value, &value, ctx)?),
            };
            let candidate = match list.sorted {
                true => constant::real(item, &candidate, ctx)?,
                false => convert::to_real(&candidate, &item.ty, ctx)?,
            };
            if candidate == value {
                return Ok(Some(!list.negated));
            }
            continue;
        }
        let sides = ((&list.value, &*value), (item, &*candidate));
        // One item is an `=`.
        let ordering = match list.items.len() {
            1 => constant::compare_operands(class, sides.0, sides.1, ctx)?,
            _ => constant::compare_listed(class, sides.0, sides.1, ctx)?,
        };
        if ordering.is_eq() {
            return Ok(Some(!list.negated));
        }
    }
    Ok(if unknown { None } else { Some(list.negated) })
}

fn eval_between(
    node: &Between,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Option<bool>, SqlError> {
    let value = node.value.eval_ref(ctx, row)?;
    if *value == Value::Null {
        return Ok(None);
    }
    let low = node.low.eval_ref(ctx, row)?;
    let high = node.high.eval_ref(ctx, row)?;
    let (above, below) = if node.classes == (CmpClass::Real, CmpClass::Real) {
        let middle = convert::to_real(&value, &node.value.ty, ctx)?;
        let mut side = |bound: &Expr, limit: &Value, op: CmpOp| {
            if *limit == Value::Null {
                return Ok::<Option<bool>, SqlError>(None);
            }
            let limit = convert::to_real(limit, &bound.ty, ctx)?;
            Ok(middle.partial_cmp(&limit).map(|ordering| op.holds(ordering)))
        };
        (side(&node.low, &low, CmpOp::Ge)?, side(&node.high, &high, CmpOp::Le)?)
    } else {
        let mut side = |bound: &Expr, limit: &Value, class: &CmpClass, op: CmpOp| {
            if *limit == Value::Null {
                return Ok::<Option<bool>, SqlError>(None);
            }
            if *class == CmpClass::Dates && constant::is_no_date(bound) {
                let limit = constant::date_beside(limit, &bound.ty, &node.value, ctx)?;
                let value = convert::to_datetime_for_compare(&value, &node.value.ty, ctx)?;
                return Ok(Some(op.holds(value.cmp(&limit))));
            }
            let sides = ((&*value, &node.value.ty), (limit, &bound.ty));
            Ok(Some(op.holds(compare::compare(class, sides.0, sides.1, ctx)?)))
        };
        let above = side(&node.low, &low, &node.classes.0, CmpOp::Ge)?;
        (above, side(&node.high, &high, &node.classes.1, CmpOp::Le)?)
    };
    let inside = match (above, below) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    };
    Ok(inside.map(|inside| inside != node.negated))
}

fn eval_like(
    node: &Like,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Option<bool>, SqlError> {
    let value = node.value.eval_ref(ctx, row)?;
    if *value == Value::Null {
        return Ok(None);
    }
    let text = like_text(&value, &node.value.ty, node.collation);
    if let Some(pattern) = &node.compiled {
        return Ok(Some(pattern.matches(&text) != node.negated));
    }
    let pattern = node.pattern.eval_ref(ctx, row)?;
    if *pattern == Value::Null {
        return Ok(None);
    }
    let pattern = like_text(&pattern, &node.pattern.ty, node.collation);
    let pattern = Pattern::compile(&pattern, node.escape, node.collation);
    Ok(Some(pattern.matches(&text) != node.negated))
}

/// A string as LIKE looks at it: where bytes are compared, each counts as one character.
pub(crate) fn like_text<'v>(value: &'v Value, ty: &ExprType, collation: Collation) -> Cow<'v, str> {
    if collation != Collation::BINARY {
        return convert::to_text_of(value, ty, collation);
    }
    convert::to_bytes(value, ty).iter().map(|&byte| char::from(byte)).collect()
}

/// Runs a subquery with this row as the next enclosing one.
pub(super) fn with_outer<T>(
    sub: &Subquery,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
    run: impl FnOnce(&mut EvalContext<'_>) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    ctx.outer.push(if sub.correlated { row.to_vec() } else { Vec::new() });
    let result = run(ctx);
    ctx.outer.pop();
    result
}

/// The only row of a subquery, `None` where it is empty. Of several rows none counts where the
/// statement says IGNORE.
pub(crate) fn first_row(
    sub: &Subquery,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Option<Vec<Value>>, SqlError> {
    let runner = ctx.subqueries;
    let mut first: Option<Vec<Value>> = None;
    with_outer(sub, ctx, row, |ctx| {
        runner.rows(sub.id, ctx, &mut |ctx, found| {
            if first.is_some() {
                let error = SqlError::new(ErrorCode::SubqueryNo1Row, &[]);
                if !ctx.forgives(sub, &error, sub.correlated) {
                    return Err(error);
                }
                first = None;
                return Ok(false);
            }
            first = Some(found.to_vec());
            Ok(true)
        })
    })?;
    Ok(first)
}

fn eval_predicate(
    sub: &Subquery,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Option<bool>, SqlError> {
    let runner = ctx.subqueries;
    match &sub.kind {
        SubqueryKind::Scalar | SubqueryKind::Row(_) => {
            Err(SqlError::new(ErrorCode::OperandColumns, &[&1]))
        }
        SubqueryKind::Exists { negated } => {
            let mut found = false;
            with_outer(sub, ctx, row, |ctx| {
                runner.rows(sub.id, ctx, &mut |_, _| {
                    found = true;
                    Ok(false)
                })
            })?;
            Ok(Some(found != *negated))
        }
        SubqueryKind::Quantified { .. } => rows::eval_quantified(sub, ctx, row),
    }
}
