//! What the session and the server say of themselves.

use super::types::any_null;
use super::{Function, f, v};
use crate::collate;
use crate::eval::{Args, FnResult, Stop};
use crate::ty::{Coercibility, ExprType, TypeClass};
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

pub(super) const TABLE: &[Function] = &[
    v("database", 0, 0, |_, _| Ok(system(34, true)), database),
    v("schema", 0, 0, |_, _| Ok(system(34, true)), database),
    v("user", 0, 0, |_, _| Ok(system(288, true)), user),
    v("session_user", 0, 0, |_, _| Ok(system(288, true)), user),
    v("system_user", 0, 0, |_, _| Ok(system(288, true)), user),
    v(
        "current_user",
        0,
        0,
        |_, _| Ok(system(288, true)),
        |a| Ok(Value::Text(a.ctx.env.current_user.clone())),
    ),
    v("current_role", 0, 0, |_, _| Ok(system(16_777_216, true)), current_role),
    v(
        "roles_graphml",
        0,
        0,
        |_, _| Ok(system(3 << 24, true)),
        |a| Ok(Value::Text(a.ctx.host.roles_graph())),
    ),
    v(
        "ps_current_thread_id",
        0,
        0,
        |_, _| Ok(ExprType::uint(21, true)),
        |a| Ok(Value::UInt(a.ctx.env.connection_id)),
    ),
    v("ps_thread_id", 1, 1, |_, _| Ok(ExprType::uint(21, true)), ps_thread_id),
    v(
        "version",
        0,
        0,
        |_, env| Ok(system(env.version.len() as u64, false)),
        |a| Ok(Value::Text(a.ctx.env.version.clone())),
    ),
    v(
        "connection_id",
        0,
        0,
        |_, _| Ok(ExprType::uint(21, false)),
        |a| Ok(Value::UInt(a.ctx.env.connection_id)),
    ),
    v(
        "last_insert_id",
        0,
        1,
        |args, _| Ok(ExprType::uint(21, any_null(args))),
        |a| {
            if a.len() == 0 {
                let said = a.ctx.host.said_insert_id();
                return Ok(Value::UInt(said.unwrap_or(a.ctx.env.last_insert_id)));
            }
            let id = match a.bits(0) {
                Err(Stop::Null) => {
                    a.ctx.host.set_last_insert_id(0);
                    return Err(Stop::Null);
                }
                other => other?,
            };
            a.ctx.host.set_last_insert_id(id);
            Ok(Value::UInt(id))
        },
    ),
    v(
        "row_count",
        0,
        0,
        |_, _| Ok(ExprType::int(21, false)),
        |a| Ok(Value::Int(a.ctx.env.row_count)),
    ),
    v(
        "found_rows",
        0,
        0,
        |_, _| Ok(ExprType::int(21, false)),
        |a| {
            let text = "FOUND_ROWS() is deprecated and will be removed in a future release. \
                    Consider using COUNT(*) instead.";
            a.raise(SqlError::with_message(ErrorCode::WarnDeprecatedSyntax, text))?;
            Ok(Value::Int(a.ctx.env.found_rows as i64))
        },
    ),
    f(
        "charset",
        1,
        1,
        |_, _| Ok(system(64, true)),
        |a| Ok(Value::Text(collate::charset_name(shown_collation(a)).to_owned())),
    ),
    f(
        "collation",
        1,
        1,
        |_, _| Ok(system(64, true)),
        |a| Ok(Value::Text(collate::name(shown_collation(a)).to_owned())),
    ),
    f(
        "coercibility",
        1,
        1,
        |_, _| Ok(ExprType::int(10, false)),
        |a| Ok(Value::Int(a.arg_type(0).coercibility as i64)),
    ),
    v(
        "benchmark",
        2,
        2,
        |_, _| Ok(ExprType::int(1, true)),
        |a| {
            let count = a.clamped(0)?;
            if count < 0 {
                a.warn(ErrorCode::WrongValueForType, &[&"count", &count, &"benchmark"])?;
                return Err(Stop::Null);
            }
            for _ in 0..count {
                if a.ctx.host.is_killed() {
                    break;
                }
                a.nullable(1)?;
            }
            Ok(Value::Int(0))
        },
    ),
    v("sleep", 1, 1, |_, _| Ok(ExprType::int(21, false)), sleep),
    f(
        "name_const",
        2,
        2,
        |args, _| Ok(args[1].ty.clone().with_nullable(true)),
        |a| Ok(a.value(1)?.into_owned()),
    ),
    f(
        "any_value",
        1,
        1,
        |args, _| Ok(args[0].ty.clone().into_computed()),
        |a| Ok(a.value(0)?.into_owned()),
    ),
    f("icu_version", 0, 0, |_, _| Ok(system(5, false)), |_| Ok(Value::Text("69.1".into()))),
];

/// System text: utf8mb3, stronger than a literal, weaker than a column.
fn system(chars: u64, nullable: bool) -> ExprType {
    let ty = ExprType::text(chars, Collation::SYSTEM, nullable);
    ty.with_coercibility(Coercibility::SysConst)
}

fn database(a: &mut Args<'_, '_>) -> FnResult {
    Ok(Value::Text(a.ctx.env.database.clone().ok_or(Stop::Null)?))
}

/// CURRENT_ROLE(): the roles in force, or NONE.
fn current_role(a: &mut Args<'_, '_>) -> FnResult {
    let roles = a.ctx.host.active_roles();
    Ok(Value::Text(if roles.is_empty() { String::from("NONE") } else { roles.join(",") }))
}

/// A connection and its thread have the same number.
fn ps_thread_id(a: &mut Args<'_, '_>) -> FnResult {
    let id = a.bits(0)?;
    match a.ctx.host.has_connection(id) {
        true => Ok(Value::UInt(id)),
        false => Err(Stop::Null),
    }
}

fn user(a: &mut Args<'_, '_>) -> FnResult {
    Ok(Value::Text(a.ctx.env.user.clone()))
}

fn shown_collation(a: &Args<'_, '_>) -> Collation {
    let ty = a.arg_type(0);
    match ty.class() {
        TypeClass::Json if ty.stored => Collation::BINARY,
        TypeClass::String | TypeClass::Json => ty.collation(),
        _ => Collation::BINARY,
    }
}

fn sleep(a: &mut Args<'_, '_>) -> FnResult {
    let wrong = SqlError::new(ErrorCode::WrongArguments, &[&"sleep."]);
    let seconds = match a.real(0) {
        Ok(seconds) if seconds >= 0.0 => seconds,
        Err(Stop::Error(error)) => return Err(Stop::Error(error)),
        _ if a.ctx.mode().is_strict() => return Err(Stop::Error(wrong)),
        _ => {
            a.raise(wrong)?;
            return Ok(Value::Int(0));
        }
    };
    let micros = (seconds * 1e6).min(9e18) as u64;
    Ok(Value::Int(a.ctx.host.sleep(micros)?.into()))
}
