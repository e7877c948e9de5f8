//! Built-in functions: one table, one file per family.
//!
//! A function is a name, the number of arguments it takes, a rule for its result's type, and its
//! code. Code takes its arguments already converted: `a.int(0)?` is the first argument as an
//! integer, and where that is NULL the `?` makes the whole result NULL.

mod aes;
mod args;
mod bits;
mod cast;
mod cast_array;
mod compare;
mod control;
mod datefmt;
mod datetime;
mod digest;
mod full_length;
pub(crate) mod geometry;
mod gtid;
mod info;
mod internal;
mod json;
mod json_schema;
mod json_value;
mod locks;
mod misc;
mod numeric;
mod packed;
mod regexp;
mod string;
mod string_codes;
mod string_lists;
mod timefn;
mod types;
mod xml;

use crate::context::Environment;
use crate::eval::EvalFn;
use crate::tree::{Call, Expr, ExprKind};
use crate::ty::ExprType;
use inia_base::error::{ErrorCode, SqlError};
use std::collections::HashMap;
use std::sync::OnceLock;

pub(crate) use cast_array::{NOT_HERE, cast_as_array};
pub use datetime::{DateField, date_field};
pub(crate) use datetime::{extract, timestamp_diff};
pub(crate) use full_length::FULL_LENGTH;
pub use full_length::full_length;
pub use json_schema::schema_failures;
pub(crate) use json_value::json_value;
pub use misc::new_uuid;
pub use numeric::crc32;

/// A rule for a result's type. It may also change the arguments.
pub(crate) type TypeFn = fn(&mut [Expr], &Environment) -> Result<ExprType, SqlError>;
/// A function that becomes something other than a call.
pub(crate) type BindFn = fn(Vec<Expr>, &Environment) -> Result<Expr, SqlError>;

/// How a function is bound.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// A call of code with a result of a type.
    Code(TypeFn, EvalFn),
    /// A call whose result depends on more than its arguments.
    Volatile(TypeFn, EvalFn),
    /// Rewritten into other nodes.
    Rewrite(BindFn),
    /// The name is taken, and nobody may call it: error 3566.
    Refused,
}

/// One row of the function table.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    /// Lower-case name.
    pub(crate) name: &'static str,
    /// Fewest arguments.
    pub(crate) min: usize,
    /// Most arguments.
    pub(crate) max: usize,
    /// How it is bound.
    pub(crate) body: Body,
    /// A constant for the code, see [`Call::tag`].
    pub(crate) tag: i64,
}

/// Any number of arguments.
pub(crate) const MANY: usize = usize::MAX;

/// A row for a function whose result depends only on its arguments.
pub(crate) const fn f(
    name: &'static str,
    min: usize,
    max: usize,
    ty: TypeFn,
    eval: EvalFn,
) -> Function {
    Function { name, min, max, body: Body::Code(ty, eval), tag: 0 }
}

/// As [`f`], with a constant for the code.
pub(crate) const fn ft(
    name: &'static str,
    min: usize,
    max: usize,
    ty: TypeFn,
    eval: EvalFn,
    tag: i64,
) -> Function {
    Function { name, min, max, body: Body::Code(ty, eval), tag }
}

/// A row for a function that depends on the session or on time.
pub(crate) const fn v(
    name: &'static str,
    min: usize,
    max: usize,
    ty: TypeFn,
    eval: EvalFn,
) -> Function {
    Function { name, min, max, body: Body::Volatile(ty, eval), tag: 0 }
}

/// A row for a function that is rewritten.
pub(crate) const fn r(name: &'static str, min: usize, max: usize, bind: BindFn) -> Function {
    Function { name, min, max, body: Body::Rewrite(bind), tag: 0 }
}

const FAMILIES: &[&[Function]] = &[
    aes::TABLE,
    bits::TABLE,
    cast::TABLE,
    compare::TABLE,
    control::TABLE,
    datefmt::TABLE,
    datetime::TABLE,
    digest::TABLE,
    geometry::CONSTRUCTORS,
    geometry::GEOJSON,
    geometry::HASHES,
    geometry::MEASURES,
    geometry::OPERATORS,
    geometry::PROPERTIES,
    geometry::RELATIONS,
    geometry::TEXTS,
    gtid::TABLE,
    info::TABLE,
    internal::TABLE,
    json::TABLE,
    json_schema::TABLE,
    locks::TABLE,
    misc::TABLE,
    numeric::TABLE,
    packed::TABLE,
    regexp::TABLE,
    string::TABLE,
    string_codes::TABLE,
    string_lists::TABLE,
    timefn::TABLE,
    xml::TABLE,
];

/// Whether a built-in function has that name.
pub fn is_native_function(name: &str) -> bool {
    lookup(&name.to_lowercase()).is_some()
}

/// The function of a (lower-case) name.
pub(crate) fn lookup(name: &str) -> Option<&'static Function> {
    static INDEX: OnceLock<HashMap<&'static str, &'static Function>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let rows = FAMILIES.iter().flat_map(|family| family.iter());
        rows.map(|function| (function.name, function)).collect()
    });
    index.get(name).copied()
}

/// Binds a call; error 1582 for a wrong number of arguments.
pub(crate) fn bind_call(
    function: &'static Function,
    mut args: Vec<Expr>,
    env: &Environment,
) -> Result<Expr, SqlError> {
    if args.len() < function.min || args.len() > function.max {
        let name = function.name;
        return Err(SqlError::new(ErrorCode::WrongParamcountToNativeFct, &[&name]));
    }
    if args.iter().any(|arg| arg.ty.is_geometry()) && geometry::is_refused(function) {
        return Err(SqlError::new(ErrorCode::WrongArguments, &[&function.name]));
    }
    let (ty, eval, deterministic) = match function.body {
        Body::Rewrite(bind) => return bind(args, env),
        Body::Refused => {
            return Err(SqlError::new(ErrorCode::NoAccessToNativeFct, &[&function.name]));
        }
        Body::Code(ty, eval) => (ty, eval, true),
        Body::Volatile(ty, eval) => (ty, eval, false),
    };
    let mut ty = ty(&mut args, env)?;
    if ty.nullable && !env.sql_mode.is_strict() && TEXTS.contains(&function.name) {
        ty.nullable = args.iter().any(|arg| arg.ty.nullable);
    }
    let call = Call { name: function.name, eval, args, tag: function.tag, deterministic };
    Ok(Expr { kind: ExprKind::Call(Box::new(call)), ty })
}

/// Functions that give NULL for NULL alone. MySQL calls their texts nullable in strict mode, where
/// it has NULL for what no character is, and goes by their arguments otherwise.
const TEXTS: [&str; 44] = [
    "aes_encrypt",
    "char",
    "charset",
    "collation",
    "compress",
    "concat",
    "concat_ws",
    "current_user",
    "export_set",
    "format",
    "format_bytes",
    "hex",
    "insert",
    "lcase",
    "left",
    "lower",
    "lpad",
    "ltrim",
    "md5",
    "mid",
    "quote",
    "random_bytes",
    "repeat",
    "replace",
    "reverse",
    "right",
    "rpad",
    "rtrim",
    "session_user",
    "sha",
    "sha1",
    "soundex",
    "space",
    "statement_digest",
    "substr",
    "substring",
    "substring_index",
    "system_user",
    "to_base64",
    "trim",
    "ucase",
    "upper",
    "user",
    "uuid",
];

/// A call node for code outside the table.
pub(crate) fn node(
    name: &'static str,
    ty: ExprType,
    eval: EvalFn,
    args: Vec<Expr>,
    tag: i64,
) -> Expr {
    let call = Call { name, eval, args, tag, deterministic: true };
    Expr { kind: ExprKind::Call(Box::new(call)), ty }
}
