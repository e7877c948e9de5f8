//! Conversions that look like functions.

use super::{Function, r};
use crate::tree::{CastKind, Expr, ExprKind};
use crate::ty::{Coercibility, ExprType};

pub(super) const TABLE: &[Function] = &[r("binary", 1, 1, |args, _| {
    let arg = args.into_iter().next().unwrap_or_else(Expr::null);
    let bytes = if arg.ty.is_text() { 4 } else { 1 } * u64::from(arg.ty.length);
    let ty = ExprType::binary(bytes, true).with_coercibility(Coercibility::Implicit);
    Ok(Expr { kind: ExprKind::Cast(Box::new(arg), CastKind::Explicit), ty })
})];
