//! GREATEST, LEAST, INTERVAL, ISNULL, STRCMP, FIELD.

use super::types::{any_null, boolean, int};
use super::{Function, MANY, f, ft, r};
use crate::expr::collate;
use crate::expr::compare::{self, CmpClass};
use crate::expr::context::Environment;
use crate::expr::convert;
use crate::expr::eval::{Args, FnResult, Stop, unify};
use crate::expr::merge::merge;
use crate::expr::tree::{Expr, ExprKind};
use crate::expr::ty::{ExprType, TypeClass};
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::value::Value;
use std::cmp::Ordering;

pub(super) const TABLE: &[Function] = &[
    ft("greatest", 2, MANY, extreme_type, extreme, 1),
    ft("least", 2, MANY, extreme_type, extreme, -1),
    f("interval", 2, MANY, |_, _| Ok(ExprType::int(2, false)), interval),
    r("isnull", 1, 1, |args, _| {
        let arg = args.into_iter().next().unwrap_or_else(Expr::null);
        Ok(Expr { kind: ExprKind::IsNull(Box::new(arg), false), ty: ExprType::bool(false) })
    }),
    f("strcmp", 2, 2, int::<2>, strcmp),
    f("field", 2, MANY, |_, _| Ok(ExprType::int(3, false)), field),
    f("xor", 2, 2, boolean, |a| {
        let (left, right) = (a.truth(0)?, a.truth(1)?);
        let (left, right) = left.zip(right).ok_or(Stop::Null)?;
        Ok(Value::Int((left != right).into()))
    }),
];

fn extreme_type(args: &mut [Expr], _: &Environment) -> Result<ExprType, SqlError> {
    let types: Vec<&ExprType> = args.iter().map(|arg| &arg.ty).collect();
    Ok(merge(&types, "greatest")?.with_nullable(any_null(args)))
}

/// The class all arguments compare in: dates if any is one, else that of the common type.
fn common_class(a: &Args<'_, '_>) -> CmpClass {
    let dated = (0..a.len()).any(|i| a.arg_type(i).class() == TypeClass::Dated);
    if dated { CmpClass::Dates } else { compare::natural_class(a.ty) }
}

fn extreme(a: &mut Args<'_, '_>) -> FnResult {
    let wanted = if a.call.tag > 0 { Ordering::Greater } else { Ordering::Less };
    let class = common_class(a);
    let mut best: Option<(usize, Value)> = None;
    for i in 0..a.len() {
        let value = a.value(i)?.into_owned();
        let better = match &best {
            None => true,
            Some((at, so_far)) => {
                let sides = ((&value, a.arg_type(i)), (so_far, a.arg_type(*at)));
                compare::compare(&class, sides.0, sides.1, a.ctx)? == Some(wanted)
            }
        };
        if better {
            best = Some((i, value));
        }
    }
    let (at, value) = best.ok_or(Stop::Null)?;
    if class == CmpClass::Dates && a.ty.is_text() {
        let timed = |ty: &ExprType| {
            matches!(ty.data_type, DataType::DateTime { .. } | DataType::Timestamp { .. })
        };
        let fsp = (0..a.len()).map(|i| a.arg_type(i)).filter(|ty| timed(ty)).map(ExprType::fsp);
        if let Some(fsp) = fsp.max() {
            let moment = convert::to_datetime(&value, a.arg_type(at), a.ctx)?;
            return Ok(Value::Text(moment.ok_or(Stop::Null)?.text(fsp)));
        }
    }
    let chosen = unify(a.expr(at), a.ty, a.ctx, a.row)?;
    Ok(match chosen {
        Value::Decimal(v) if v.scale() < a.ty.decimals => {
            Value::Decimal(v.with_scale(a.ty.decimals).unwrap_or(v))
        }
        other => other,
    })
}

fn interval(a: &mut Args<'_, '_>) -> FnResult {
    let Ok(value) = a.decimal(0) else { return Ok(Value::Int(-1)) };
    let mut found = 0;
    for i in 1..a.len() {
        match a.decimal(i) {
            Ok(limit) if limit > value => break,
            Ok(_) | Err(Stop::Null) => found = i,
            Err(error) => return Err(error),
        }
    }
    Ok(Value::Int(found as i64))
}

fn strcmp(a: &mut Args<'_, '_>) -> FnResult {
    let types = [a.arg_type(0), a.arg_type(1)];
    let collation = collate::aggregate_for_comparison(&types, "strcmp")?;
    let order = match compare::text_class(collation) {
        CmpClass::Binary => a.bytes(0)?.cmp(&a.bytes(1)?),
        _ => {
            let (left, right) = (a.text(0)?, a.text(1)?);
            collate::compare(collation, &left, &right)
        }
    };
    Ok(Value::Int(order as i64))
}

/// Strings compare as strings where all are, integers where all are, else doubles.
fn field(a: &mut Args<'_, '_>) -> FnResult {
    let all = |class: TypeClass| (0..a.len()).all(|i| a.arg_type(i).class() == class);
    let strings = all(TypeClass::String);
    let ints = all(TypeClass::Int);
    let types: Vec<&ExprType> = (0..a.len()).map(|i| a.arg_type(i)).collect();
    let class = match (strings, ints) {
        (true, _) => compare::text_class(collate::aggregate_for_comparison(&types, "field")?),
        (_, true) => CmpClass::Int,
        _ => CmpClass::Real,
    };
    let value = match a.value(0) {
        Err(Stop::Null) => return Ok(Value::Int(0)),
        other => other?,
    };
    for i in 1..a.len() {
        let candidate = a.nullable(i)?;
        if *candidate == Value::Null {
            continue;
        }
        let sides = ((&*value, a.arg_type(0)), (&*candidate, a.arg_type(i)));
        if compare::compare(&class, sides.0, sides.1, a.ctx)? == Some(Ordering::Equal) {
            return Ok(Value::Int(i as i64));
        }
    }
    Ok(Value::Int(0))
}
