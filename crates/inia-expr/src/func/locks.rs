//! User-level locks.

use super::types::int_null;
use super::{Function, v};
use crate::eval::{Args, FnResult, Stop};
use crate::ty::ExprType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

pub(super) const TABLE: &[Function] = &[
    v("get_lock", 2, 2, int_null::<1>, |a| {
        let name = lock_name(a)?;
        let timeout = match a.real(1) {
            Err(Stop::Null) => None,
            other => Some(other?).filter(|seconds| *seconds >= 0.0),
        };
        let timeout = timeout.map(|seconds| (seconds * 1e6).min(9e18) as u64);
        flag(a.ctx.host.get_lock(&name, timeout)?)
    }),
    v("release_lock", 1, 1, int_null::<1>, |a| {
        let name = lock_name(a)?;
        flag(a.ctx.host.release_lock(&name)?)
    }),
    v(
        "release_all_locks",
        0,
        0,
        |_, _| Ok(ExprType::uint(21, false)),
        |a| Ok(Value::UInt(a.ctx.host.release_all_locks())),
    ),
    v("is_free_lock", 1, 1, int_null::<1>, |a| {
        let name = lock_name(a)?;
        Ok(Value::Int(a.ctx.host.lock_holder(&name).is_none().into()))
    }),
    v(
        "is_used_lock",
        1,
        1,
        |_, _| Ok(ExprType::uint(21, true)),
        |a| {
            let name = lock_name(a)?;
            Ok(Value::UInt(a.ctx.host.lock_holder(&name).ok_or(Stop::Null)?))
        },
    ),
];

fn flag(result: Option<bool>) -> FnResult {
    Ok(Value::Int(result.ok_or(Stop::Null)?.into()))
}

/// A name of 1 to 64 characters in lower case; error 3057 otherwise.
fn lock_name(a: &mut Args<'_, '_>) -> Result<String, Stop> {
    let wrong = |name: &str| SqlError::new(ErrorCode::UserLockWrongName, &[&name]);
    let name = match a.text(0) {
        Err(Stop::Null) => return Err(wrong("NULL").into()),
        other => other?,
    };
    if name.is_empty() || name.chars().count() > 64 {
        return Err(wrong(&name).into());
    }
    Ok(name.to_lowercase())
}
