//! What is done once to a bound expression before rows flow: constants are computed, constant
//! operands become values of the class they compare in, IN lists become sets, LIKE patterns are
//! analysed.

use crate::compare::{CmpClass, InSet};
use crate::context::EvalContext;
use crate::convert;
use crate::eval;
use crate::like::Pattern;
use crate::number;
use crate::row_set::RowSet;
use crate::tree::{ArithOp, CastKind, Expr, ExprKind};
use crate::ty::{ExprType, TypeClass};
use inia_base::datatype::DataType;
use inia_base::decimal::MAX_SCALE;
use inia_base::temporal::{DateRules, DateTime, Time};
use inia_base::value::Value;
use std::sync::Arc;

/// Prepares a whole expression (a selected value, a condition, a key). What cannot be computed
/// without a warning or an error is left for evaluation, where it is reported.
pub fn prepare(expr: &mut Expr, ctx: &mut EvalContext<'_>) {
    round_division(expr);
    prepare_operand(expr, ctx);
}

/// As [`prepare`], for a value that goes into a column or from a subquery into an expression: a
/// quotient keeps the digits that its own type does not show.
pub fn prepare_operand(expr: &mut Expr, ctx: &mut EvalContext<'_>) {
    fold(expr, ctx);
    expr.walk_mut(&mut |node| {
        specialise(node);
        crate::narrow::note(node, ctx.host);
    });
}

/// Quotients, long products, averages and what subqueries give of them carry more digits than
/// their type shows; the outermost value drops them. What is assigned to a variable shows its own
/// digits ([`Expr::eval_for_variable`]), unless its type shows fewer.
fn round_division(expr: &mut Expr) {
    let DataType::Decimal { scale, .. } = expr.ty.data_type else { return };
    if scale == MAX_SCALE && matches!(expr.kind, ExprKind::AssignUserVar(..)) {
        return;
    }
    let mut divides = false;
    expr.walk(&mut |node| {
        divides |= match &node.kind {
            ExprKind::Arith(arith) => match arith.op {
                ArithOp::Div => true,
                ArithOp::Mul => {
                    let scales = (arith.left.ty.decimals, arith.right.ty.decimals);
                    scales.0.saturating_add(scales.1) > MAX_SCALE
                }
                _ => false,
            },
            ExprKind::Aggregate(_) | ExprKind::Subquery(_) => {
                matches!(node.ty.data_type, DataType::Decimal { scale: 1.., .. })
            }
            _ => false,
        };
    });
    if divides && !matches!(expr.kind, ExprKind::Cast(..)) {
        let ty = expr.ty.clone();
        let inner = std::mem::replace(expr, Expr::null());
        *expr = Expr { kind: ExprKind::Cast(Box::new(inner), CastKind::Implicit), ty };
    }
}

/// Computes the largest constant parts. Parts whose value warns or fails stay as they are.
fn fold(expr: &mut Expr, ctx: &mut EvalContext<'_>) {
    if matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Row(_)) {
        expr.children_mut(&mut |child| fold(child, ctx));
        return;
    }
    if expr.is_constant() && !matches!(expr.kind, ExprKind::HexLiteral(_)) {
        let mut scratch = EvalContext::new(ctx.env, ctx.host, &crate::context::NoSubqueries, &[]);
        if let Ok(value) = expr.eval(&mut scratch, &[])
            && scratch.warnings.count == 0
        {
            expr.kind = ExprKind::Literal(value);
        }
        return;
    }
    expr.children_mut(&mut |child| fold(child, ctx));
}

fn specialise(expr: &mut Expr) {
    match &mut expr.kind {
        ExprKind::Compare(node) => {
            // The integer class is tried first: `as_class` would make the constant a DOUBLE.
            if node.class == CmpClass::Real {
                if let Some(class) = integer_class(&node.left, &mut node.right) {
                    node.class = class;
                } else if let Some(class) = integer_class(&node.right, &mut node.left) {
                    node.class = class;
                }
            }
            as_class(&node.class, &mut node.left);
            as_class(&node.class, &mut node.right);
        }
        ExprKind::Between(node) => {
            // The comparisons become integer ones only where both bounds allow it.
            if node.classes == (CmpClass::Real, CmpClass::Real)
                && integer_class(&node.value, &mut node.low).is_some()
                && integer_class(&node.value, &mut node.high).is_some()
            {
                node.classes = (CmpClass::Int, CmpClass::Int);
            }
            as_class(&node.classes.0, &mut node.low);
            as_class(&node.classes.1, &mut node.high);
        }
        ExprKind::In(list) => {
            for (class, item) in &mut list.items {
                if *class == CmpClass::Real
                    && let Some(better) = integer_class(&list.value, item)
                {
                    *class = better;
                }
                as_class(class, item);
            }
            // The set is built last: it takes the final classes and constants.
            list.set = in_set(&list.items, &list.value).map(Arc::new);
            list.rows = RowSet::of(list).map(Arc::new);
        }
        ExprKind::Like(like) => {
            if let Some(value) = like.pattern.as_literal()
                && *value != Value::Null
            {
                let text = eval::like_text(value, &like.pattern.ty, like.collation);
                like.compiled = Some(Pattern::compile(&text, like.escape, like.collation));
            }
        }
        _ => {}
    }
}

/// An integer column against a constant string that is exactly an integer compares as integers.
fn integer_class(column: &Expr, constant: &mut Expr) -> Option<CmpClass> {
    if column.ty.class() != TypeClass::Int || !matches!(column.kind, ExprKind::Column { .. }) {
        return None;
    }
    if let Some(Value::Int(_) | Value::UInt(_)) = constant.as_literal() {
        return Some(CmpClass::Int);
    }
    let Some(Value::Text(text)) = constant.as_literal() else { return None };
    let parsed = number::parse_int(text.as_bytes());
    let value = i64::try_from(parsed.value).ok().filter(|_| !parsed.truncated)?;
    *constant = Expr::literal(Value::Int(value), ExprType::int(20, false));
    Some(CmpClass::Int)
}

/// Turns a constant into a value of its comparison's class, where the conversion loses nothing.
pub(crate) fn as_class(class: &CmpClass, expr: &mut Expr) {
    let ExprKind::Literal(value) = &expr.kind else { return };
    // A text that is not wholly a value of the class stays as it is: evaluation warns of it. A
    // text with an offset stays, too, as its value depends on the session's time zone.
    let changed = match (class, value) {
        (CmpClass::Real, Value::Text(text)) => {
            let parsed = number::parse_real(text.as_bytes());
            (!parsed.truncated)
                .then(|| Expr::literal(Value::Double(parsed.value), ExprType::double(false)))
        }
        (CmpClass::Dates, Value::Text(text)) => match DateTime::parse(text, DateRules::ZEROS) {
            Ok(parsed) if !parsed.truncated && parsed.offset_minutes.is_none() => {
                let fsp = parsed.fraction_digits;
                let ty = ExprType::computed(DataType::DateTime { fsp }, false);
                Some(Expr::literal(Value::DateTime(parsed.value), ty))
            }
            _ => None,
        },
        (CmpClass::Dates, Value::Int(number)) => {
            let parsed = DateTime::from_number(*number, DateRules::ZEROS).ok();
            parsed.map(|(moment, _)| {
                let ty = ExprType::computed(DataType::DateTime { fsp: 0 }, false);
                Expr::literal(Value::DateTime(moment), ty)
            })
        }
        (CmpClass::Times, Value::Text(text)) => match Time::parse(text) {
            Ok(parsed) if !parsed.truncated && !parsed.out_of_range => {
                let ty = ExprType::computed(DataType::Time { fsp: parsed.fraction_digits }, false);
                Some(Expr::literal(Value::Time(parsed.value), ty))
            }
            _ => None,
        },
        (CmpClass::Text(_), Value::Int(_) | Value::Double(_) | Value::Decimal(_)) => {
            let text = convert::to_text(value, &expr.ty).into_owned();
            let ty = ExprType::text(text.len() as u64, expr.ty.collation(), false);
            Some(Expr::literal(Value::Text(text), ty))
        }
        _ => None,
    };
    if let Some(changed) = changed {
        *expr = changed;
    }
}

/// A set pays from a few items on.
fn in_set(items: &[(CmpClass, Expr)], value: &Expr) -> Option<InSet> {
    let (class, _) = items.first().filter(|_| items.len() > 3)?;
    let plain = match class {
        CmpClass::Text(_) => value.ty.is_text(),
        CmpClass::Int => value.ty.class() == TypeClass::Int,
        CmpClass::Binary => true,
        _ => false,
    };
    if !plain || items.iter().any(|(other, _)| other != class) {
        return None;
    }
    let values: Option<Vec<&Value>> = items.iter().map(|(_, item)| item.as_literal()).collect();
    InSet::build(class, &values?)
}

/// What rows are sorted by for an expression of ORDER BY, as MySQL does: members of ENUM and SET
/// are in their order where they come from a column, a group's MIN or MAX, or a window. As results
/// of other expressions they are texts.
pub fn sort_key(expr: Expr) -> Expr {
    let listed = matches!(expr.ty.data_type, DataType::Enum { .. } | DataType::Set { .. });
    let in_members_order = matches!(
        expr.kind,
        ExprKind::Column { .. }
            | ExprKind::OuterColumn { .. }
            | ExprKind::Aggregate(_)
            | ExprKind::Window(_)
    );
    if !listed || in_members_order {
        return expr;
    }
    let text = ExprType::text(expr.ty.length.into(), expr.ty.collation(), expr.ty.nullable);
    converted(expr, &text)
}

/// The conversion that a boundary of types needs, as a node: `expr` as values of `ty`.
pub fn converted(expr: Expr, ty: &ExprType) -> Expr {
    if expr.ty.data_type == ty.data_type {
        return expr;
    }
    Expr { kind: ExprKind::Cast(Box::new(expr), CastKind::Implicit), ty: ty.clone() }
}
