//! Strings: elements of lists and sets.

use super::types::{any_null, int, string_of};
use super::{Function, MANY, f};
use crate::collate;
use crate::eval::{Args, FnResult, Stop};
use crate::tree::{Expr, ExprKind};
use crate::ty::ExprType;
use inia_base::datatype::DataType;
use inia_base::value::Value;

pub(super) const TABLE: &[Function] = &[
    f(
        "elt",
        2,
        MANY,
        |args, env| {
            let length = longest(&args[1..]);
            let ty = string_of(&args[1..], length, true, env, "elt")?;
            Ok(match ty.is_text() {
                true => ty,
                false => ExprType::binary(length, true).with_coercibility(ty.coercibility),
            })
        },
        |a| {
            let at = a.clamped(0)?;
            let at = usize::try_from(at).ok().filter(|at| (1..a.len()).contains(at));
            let text = a.units(at.ok_or(Stop::Null)?)?.into_owned();
            a.string(text)
        },
    ),
    f("find_in_set", 2, 2, int::<3>, find_in_set),
    f(
        "make_set",
        2,
        MANY,
        |args, env| {
            let total: u64 = args[1..].iter().map(|arg| u64::from(arg.ty.length)).sum();
            let length = total + args.len() as u64 - 2;
            let nullable = any_null(args);
            string_of(&args[1..], length, nullable, env, "make_set")
        },
        make_set,
    ),
    f(
        "export_set",
        3,
        5,
        |args, env| {
            let unit = longest(&args[1..3]);
            let gap = args.get(3).map_or(1, |arg| u64::from(arg.ty.length));
            let end = args.len().min(4);
            string_of(&args[1..end], 64 * unit + 63 * gap, true, env, "export_set")
        },
        export_set,
    ),
];

fn longest(args: &[Expr]) -> u64 {
    args.iter().map(|arg| u64::from(arg.ty.length)).max().unwrap_or(0)
}

fn find_in_set(a: &mut Args<'_, '_>) -> FnResult {
    let collation = collate::operands_collation(&[a.expr(0), a.expr(1)], "find_in_set")?;
    let (wanted, list) = (a.text(0)?, a.text(1)?);
    if list.is_empty() || wanted.contains(',') {
        return Ok(Value::Int(0));
    }
    // Items compare as parts of a longer text: blanks at their end count.
    let same = |item: &str| match collation.pads_space() {
        true => collate::compare(collation, &format!("{item}|"), &format!("{wanted}|")).is_eq(),
        false => collate::compare(collation, item, &wanted).is_eq(),
    };
    // Of a SET column it is the member's number, where the value has it.
    if let (DataType::Set { members, .. }, ExprKind::Column { .. } | ExprKind::OuterColumn { .. }) =
        (&a.expr(1).ty.data_type, &a.expr(1).kind)
    {
        let at = members.iter().position(|member| same(member));
        let at = at.filter(|at| list.split(',').any(|item| item == members[*at]));
        return Ok(Value::Int(at.map_or(0, |at| at as i64 + 1)));
    }
    let at = list.split(',').position(same);
    Ok(Value::Int(at.map_or(0, |at| at as i64 + 1)))
}

fn make_set(a: &mut Args<'_, '_>) -> FnResult {
    let bits = a.bits(0)?;
    let mut parts = Vec::new();
    for i in 1..a.len().min(65) {
        if bits >> (i - 1) & 1 == 0 {
            continue;
        }
        match a.units(i) {
            Ok(part) => parts.push(part),
            Err(Stop::Null) => {}
            Err(error) => return Err(error),
        }
    }
    a.string(parts.join(","))
}

fn export_set(a: &mut Args<'_, '_>) -> FnResult {
    let (bits, on, off) = (a.bits(0)?, a.units(1)?, a.units(2)?);
    let gap = if a.len() > 3 { a.units(3)? } else { ",".into() };
    let count = if a.len() > 4 { a.clamped(4)? } else { 64 };
    let count = usize::try_from(count).unwrap_or(64).min(64);
    let parts = (0..count).map(|i| if bits >> i & 1 == 1 { on.as_ref() } else { off.as_ref() });
    let joined = parts.collect::<Vec<&str>>().join(gap.as_ref());
    a.string(joined)
}
