//! Hashes: MD5, SHA-1, SHA-2, and digests of statements.

use super::types::text_null;
use super::{Function, f, v};
use crate::context::VarScope;
use crate::convert;
use crate::eval::{Args, FnResult, Stop};
use crate::func::types::constant_int;
use crate::ty::ExprType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::StatementDigest;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

pub(super) const TABLE: &[Function] = &[
    f("md5", 1, 1, text_null::<32>, |a| Ok(hex(Md5::digest(a.bytes(0)?).as_slice()))),
    f("sha", 1, 1, text_null::<40>, |a| Ok(hex(Sha1::digest(a.bytes(0)?).as_slice()))),
    f("sha1", 1, 1, text_null::<40>, |a| Ok(hex(Sha1::digest(a.bytes(0)?).as_slice()))),
    f(
        "sha2",
        2,
        2,
        |args, env| {
            let chars = match constant_int(&args[1]) {
                Some(224) => 56,
                Some(384) => 96,
                Some(512) => 128,
                _ => 64,
            };
            Ok(ExprType::text(chars, env.collation, true))
        },
        sha2,
    ),
    v("statement_digest", 1, 1, text_null::<64>, |a| Ok(Value::Text(of_statement(a)?.hex()))),
    v("statement_digest_text", 1, 1, text_null::<MAX_TEXT>, |a| {
        Ok(Value::Text(of_statement(a)?.text))
    }),
];

/// Characters that the type of a digest's text has room for.
const MAX_TEXT: u64 = 16_777_216;

/// The digest of the statement in the first argument; error 3676 where it is none.
fn of_statement(a: &mut Args<'_, '_>) -> Result<StatementDigest, Stop> {
    let text = a.text(0)?;
    let mode = a.ctx.mode();
    inia_parser::parse(&text, mode)
        .map_err(|error| SqlError::new(ErrorCode::ParseErrorInDigestFn, &[&error.message()]))?;
    let (limit, ty) = a.ctx.host.sysvar(VarScope::Global, "max_digest_length")?;
    let limit = convert::to_int(&limit, &ty, a.ctx)?;
    Ok(inia_parser::statement_digest(&text, mode, limit.max(0) as usize))
}

fn hex(bytes: &[u8]) -> Value {
    Value::Text(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

fn sha2(a: &mut Args<'_, '_>) -> FnResult {
    let bytes = a.bytes(0)?;
    Ok(match a.clamped(1)? {
        224 => hex(Sha224::digest(&bytes).as_slice()),
        0 | 256 => hex(Sha256::digest(&bytes).as_slice()),
        384 => hex(Sha384::digest(&bytes).as_slice()),
        512 => hex(Sha512::digest(&bytes).as_slice()),
        _ => {
            a.raise(SqlError::new(ErrorCode::WrongParametersToNativeFct, &[&"sha2"]))?;
            return Err(Stop::Null);
        }
    })
}
