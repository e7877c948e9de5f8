//! IF, IFNULL, NULLIF, COALESCE.

use super::{Function, MANY, f, r};
use crate::bind::{beside_years, case_node, scalar_comparison};
use crate::cast::padded;
use crate::collate;
use crate::context::Environment;
use crate::eval::{Args, FnResult, Stop, unify};
use crate::merge::merge;
use crate::tree::{CmpOp, Expr};
use crate::ty::{ExprType, TypeClass};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

pub(super) const TABLE: &[Function] = &[
    f(
        "if",
        3,
        3,
        |args, _| merge(&[&args[1].ty, &args[2].ty], "if"),
        |a| {
            let branch = if a.truth(0)? == Some(true) { 1 } else { 2 };
            Ok(unify(a.expr(branch), a.ty, a.ctx, a.row)?)
        },
    ),
    f("ifnull", 2, 2, first_known_type, first_known),
    f("coalesce", 1, MANY, first_known_type, first_known),
    r("nullif", 2, 2, nullif),
];

/// NULL only where the last argument can be NULL and all before it too.
fn first_known_type(args: &mut [Expr], _: &Environment) -> Result<ExprType, SqlError> {
    let types: Vec<&ExprType> = args.iter().map(|arg| &arg.ty).collect();
    let nullable = types.iter().all(|ty| ty.nullable);
    Ok(merge(&types, "coalesce")?.with_nullable(nullable))
}

fn first_known(a: &mut Args<'_, '_>) -> FnResult {
    for i in 0..a.len() {
        let value = unify(a.expr(i), a.ty, a.ctx, a.row)?;
        if value != Value::Null {
            return Ok(if a.ctx.keeps_scale { value } else { padded(value, a.ty) });
        }
    }
    Err(Stop::Null)
}

/// The first argument's type; dates and years become strings.
fn nullif_type(first: &ExprType) -> ExprType {
    let ty = first.clone().with_nullable(true).into_computed();
    match (&ty.data_type, ty.class()) {
        (DataType::Year, _) => {
            let data_type = DataType::VarBinary(4);
            ExprType { length: 4, ..ExprType::computed(data_type, true) }
        }
        (_, TypeClass::Dated | TypeClass::Time) => {
            ExprType::text(u64::from(ty.length), Collation::DEFAULT, true)
        }
        _ => ty,
    }
}

/// `CASE WHEN a = b THEN NULL ELSE a END`.
fn nullif(args: Vec<Expr>, _: &Environment) -> Result<Expr, SqlError> {
    let [left, right]: [Expr; 2] = args
        .try_into()
        .map_err(|_| SqlError::new(ErrorCode::WrongParamcountToNativeFct, &[&"nullif"]))?;
    collate::check_strings(&[&left, &right], "nullif")?;
    let ty = nullif_type(&left.ty);
    let (beside, right) = beside_years(left.clone(), right);
    let equal = scalar_comparison(CmpOp::Eq, beside, right)?;
    let mut node = case_node(vec![(equal, Expr::null())], Some(left))?;
    node.ty = ty;
    Ok(node)
}
