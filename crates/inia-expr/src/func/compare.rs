//! GREATEST, LEAST, INTERVAL, ISNULL, STRCMP, FIELD.

use super::types::{any_null, boolean, int};
use super::{Function, MANY, f, ft, r};
use crate::bind::num_class;
use crate::collate;
use crate::compare::{self, CmpClass};
use crate::constant;
use crate::context::Environment;
use crate::convert;
use crate::eval::{Args, FnResult, Stop, unify};
use crate::merge::merge;
use crate::tree::{Expr, ExprKind, NumClass};
use crate::ty::{ExprType, TypeClass};
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::temporal::DateTime;
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
    let (best, class) = match class {
        CmpClass::Dates => match extreme_date(a, wanted)? {
            (at, date) if date != DateTime::ZERO || !a.ty.is_text() => (at, class),
            _ => {
                let class = compare::natural_class(a.ty);
                (extreme_at(a, &class, wanted)?, class)
            }
        },
        _ => (extreme_at(a, &class, wanted)?, class),
    };
    if class == CmpClass::Dates && a.ty.is_text() {
        let timed = |ty: &ExprType| {
            matches!(ty.data_type, DataType::DateTime { .. } | DataType::Timestamp { .. })
        };
        let fsp = (0..a.len()).map(|i| a.arg_type(i)).filter(|ty| timed(ty)).map(ExprType::fsp);
        if let Some(fsp) = fsp.max() {
            let value = a.value(best)?;
            let moment = convert::to_datetime(&value, a.arg_type(best), a.ctx)?;
            return Ok(Value::Text(moment.ok_or(Stop::Null)?.text(fsp)));
        }
    }
    let chosen = unify(a.expr(best), a.ty, a.ctx, a.row)?;
    Ok(match chosen {
        Value::Decimal(v) if v.scale() < a.ty.decimals => {
            Value::Decimal(v.with_scale(a.ty.decimals).unwrap_or(v))
        }
        other => other,
    })
}

/// The position of the extreme argument.
fn extreme_at(
    a: &mut Args<'_, '_>,
    class: &CmpClass,
    wanted: Ordering,
) -> std::result::Result<usize, Stop> {
    let mut best = (0, a.value(0)?.into_owned());
    for i in 1..a.len() {
        let value = a.value(i)?.into_owned();
        let sides = ((&value, a.arg_type(i)), (&best.1, a.arg_type(best.0)));
        let order = compare::compare(class, sides.0, sides.1, a.ctx)?;
        // Of texts that are equal GREATEST takes the last one.
        let last = order.is_eq() && wanted.is_gt() && matches!(class, CmpClass::Text(_));
        if order == wanted || last {
            best = (i, value);
        }
    }
    Ok(best.0)
}

/// As [`extreme_at`] among dates. What is no date counts as zero; where that wins, the arguments
/// compare as texts.
fn extreme_date(
    a: &mut Args<'_, '_>,
    wanted: Ordering,
) -> std::result::Result<(usize, DateTime), Stop> {
    let is_date = |i: &usize| a.arg_type(*i).class() == TypeClass::Dated;
    let timed = |i: &usize| is_date(i) && a.arg_type(*i).data_type != DataType::Date;
    let beside = (0..a.len()).find(timed).or_else(|| (0..a.len()).find(is_date)).unwrap_or(0);
    let beside = a.expr(beside);
    let mut best: Option<(usize, DateTime)> = None;
    for i in 0..a.len() {
        let value = a.value(i)?;
        let date = constant::date_beside(&value, a.arg_type(i), beside, a.ctx)?;
        if best.is_none_or(|(_, so_far)| date.cmp(&so_far) == wanted) {
            best = Some((i, date));
        }
    }
    best.ok_or(Stop::Null)
}

fn interval(a: &mut Args<'_, '_>) -> FnResult {
    let numbers = (0..a.len()).all(|i| num_class(a.arg_type(i)) != NumClass::Real);
    if !numbers {
        return interval_of_reals(a);
    }
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

fn interval_of_reals(a: &mut Args<'_, '_>) -> FnResult {
    let value = match a.real(0) {
        Err(Stop::Null) => return Ok(Value::Int(-1)),
        other => other?,
    };
    let mut found = 0;
    for i in 1..a.len() {
        match a.real(i) {
            Ok(limit) if limit > value => break,
            Ok(_) | Err(Stop::Null) => found = i,
            Err(error) => return Err(error),
        }
    }
    Ok(Value::Int(found as i64))
}

fn strcmp(a: &mut Args<'_, '_>) -> FnResult {
    let collation = collate::operands_collation(&[a.expr(0), a.expr(1)], "strcmp")?;
    let order = match compare::text_class(collation) {
        CmpClass::Binary => a.bytes(0)?.cmp(&a.bytes(1)?),
        _ => {
            let (left, right) = (a.text(0)?, a.text(1)?);
            collate::compare(collation, &left, &right)
        }
    };
    Ok(Value::Int(order as i64))
}

/// Strings, dates and times compare as strings where all are such, integers where all are, else
/// doubles.
fn field(a: &mut Args<'_, '_>) -> FnResult {
    let all = |class: TypeClass| (0..a.len()).all(|i| a.arg_type(i).class() == class);
    let string = |class| {
        use TypeClass::{Dated, Json, Null, String, Time};
        matches!(class, Null | String | Json | Dated | Time)
    };
    let strings = (0..a.len()).all(|i| string(a.arg_type(i).class()));
    let ints = all(TypeClass::Int);
    let types: Vec<&ExprType> = (0..a.len()).map(|i| a.arg_type(i)).collect();
    let class = match (strings, ints) {
        // Where the collations do not agree, MySQL takes the first without an error.
        (true, _) => compare::text_class(
            collate::aggregate_for_comparison(&types, "field")
                .unwrap_or_else(|_| types[0].collation()),
        ),
        (_, true) => CmpClass::Int,
        _ => CmpClass::Real,
    };
    let value = match a.value(0) {
        Err(Stop::Null) => return Ok(Value::Int(0)),
        other => other?,
    };
    let real = match class {
        CmpClass::Real => Some(convert::to_real(&value, a.arg_type(0), a.ctx)?),
        _ => None,
    };
    for i in 1..a.len() {
        let candidate = a.nullable(i)?;
        if *candidate == Value::Null {
            continue;
        }
        if let Some(real) = real {
            if convert::to_real(&candidate, a.arg_type(i), a.ctx)? == real {
                return Ok(Value::Int(i as i64));
            }
            continue;
        }
        let sides = ((&*value, a.arg_type(0)), (&*candidate, a.arg_type(i)));
        if compare::compare(&class, sides.0, sides.1, a.ctx)?.is_eq() {
            return Ok(Value::Int(i as i64));
        }
    }
    Ok(Value::Int(0))
}
