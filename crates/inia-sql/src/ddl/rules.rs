//! What the expressions of generated columns, defaults and CHECK constraints may not do, with the
//! errors that MySQL has for each.

use super::table_builder::TableBuilder;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::{Expr, ExprKind};
use inia_parser::ast;
use inia_query::catalog::{ColumnDefault, FILE_PER_TABLE, SYSTEM_SPACE, TABLESPACE};
use inia_query::dml::has_subquery;
use inia_query::referenced::columns_of_text;

/// Functions whose value depends on more than their arguments; defaults may use them.
const VOLATILE: [&str; 27] = [
    "rand",
    "uuid",
    "uuid_short",
    "now",
    "current_timestamp",
    "curdate",
    "current_date",
    "curtime",
    "current_time",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "sysdate",
    "localtime",
    "localtimestamp",
    "unix_timestamp",
    "connection_id",
    "user",
    "session_user",
    "system_user",
    "current_user",
    "database",
    "schema",
    "version",
    "last_insert_id",
    "row_count",
    "found_rows",
];

/// Those of them that defaults may not use either.
const OF_THE_SESSION: [&str; 8] = [
    "user",
    "session_user",
    "system_user",
    "current_user",
    "version",
    "last_insert_id",
    "row_count",
    "found_rows",
];

/// A function's name in errors.
fn shown_name(name: &str) -> &str {
    match name {
        "session_user" | "system_user" => "user",
        "schema" => "database",
        "version" => "version()",
        name => name,
    }
}

/// Functions that do something; nothing stored may call them.
const EFFECTS: [&str; 9] = [
    "sleep",
    "benchmark",
    "load_file",
    "get_lock",
    "release_lock",
    "release_all_locks",
    "is_free_lock",
    "is_used_lock",
    "values",
];

/// What an expression belongs to.
#[derive(Clone, Copy)]
pub(super) enum Owner<'n> {
    /// A generated column, and its position.
    Generated(&'n str, usize),
    /// A column's default, and the column's position.
    Default(&'n str, usize),
    /// A CHECK constraint.
    Check(&'n str),
    /// A part of an index.
    Index(&'n str),
}

/// What is wrong with an expression; its owner words the error.
enum Fault {
    Subquery,
    Function(String),
    Variable,
}

impl Owner<'_> {
    fn error(self, fault: &Fault) -> SqlError {
        use ErrorCode as E;
        let (name, codes) = match self {
            Owner::Index(name) => {
                return SqlError::new(E::FunctionalIndexFunctionIsNotAllowed, &[&name]);
            }
            Owner::Generated(name, _) => (
                name,
                [
                    E::GeneratedColumnFunctionIsNotAllowed,
                    E::GeneratedColumnNamedFunctionIsNotAllowed,
                    E::DefaultValGeneratedVariables,
                ],
            ),
            Owner::Default(name, _) => (
                name,
                [
                    E::DefaultValGeneratedFunctionIsNotAllowed,
                    E::DefaultValGeneratedNamedFunctionIsNotAllowed,
                    E::DefaultValGeneratedVariables,
                ],
            ),
            Owner::Check(name) => (
                name,
                [
                    E::CheckConstraintFunctionIsNotAllowed,
                    E::CheckConstraintNamedFunctionIsNotAllowed,
                    E::CheckConstraintVariables,
                ],
            ),
        };
        match fault {
            Fault::Subquery => SqlError::new(codes[0], &[&name]),
            Fault::Function(function) => SqlError::new(codes[1], &[&name, function]),
            Fault::Variable => SqlError::new(codes[2], &[&name]),
        }
    }
}

/// Errors 3812, 3102, 3769 and 3815, before the expression is bound.
pub(super) fn check_written(owner: Owner<'_>, expr: &ast::Expr) -> Result<(), SqlError> {
    if let Owner::Check(name) = owner
        && !is_boolean(expr)
    {
        return Err(SqlError::new(ErrorCode::NonBooleanExprForCheckConstraint, &[&name]));
    }
    if has_subquery(expr) {
        return Err(owner.error(&Fault::Subquery));
    }
    Ok(())
}

/// Makes the checks that need the bound expression.
pub(super) fn check_bound(
    owner: Owner<'_>,
    expr: &Expr,
    builder: &TableBuilder,
) -> Result<(), SqlError> {
    let mut fault = None;
    let mut columns = Vec::new();
    expr.walk(&mut |node| match &node.kind {
        ExprKind::Call(call) => {
            let refused = match owner {
                Owner::Default(..) => OF_THE_SESSION.contains(&call.name),
                _ => VOLATILE.contains(&call.name),
            };
            if refused || EFFECTS.contains(&call.name) {
                fault.get_or_insert(Fault::Function(shown_name(call.name).to_owned()));
            }
        }
        // A sequence gives a default, as in MariaDB.
        ExprKind::Stored(call) if call.schema.is_empty() && matches!(owner, Owner::Default(..)) => {
        }
        ExprKind::Stored(call) => {
            let name = inia_parser::quote_name(&call.name);
            fault.get_or_insert(Fault::Function(name));
        }
        ExprKind::UserVar(_) | ExprKind::AssignUserVar(..) | ExprKind::SysVar(..) => {
            fault.get_or_insert(Fault::Variable);
        }
        ExprKind::Column { index, .. } => columns.push(*index),
        _ => {}
    });
    if let Some(fault) = fault {
        return Err(owner.error(&fault));
    }
    match owner {
        Owner::Generated(name, at) => check_generated(name, at, &columns, builder),
        Owner::Default(name, at) => check_default(name, at, &columns, builder),
        Owner::Check(_) => Ok(()),
        Owner::Index(name) => {
            match columns.iter().any(|c| builder.columns[*c].def.auto_increment) {
                true => Err(SqlError::new(ErrorCode::FunctionalIndexRefAutoIncrement, &[&name])),
                false => Ok(()),
            }
        }
    }
}

/// Checks that stored expressions stand where they can be computed, and read no AUTO_INCREMENT
/// column, after columns have moved or changed.
pub(super) fn check_places(builder: &TableBuilder) -> Result<(), SqlError> {
    let positions = |text: &str| -> Vec<usize> {
        columns_of_text(text).iter().filter_map(|name| builder.column(name)).collect()
    };
    for (at, column) in builder.columns.iter().enumerate() {
        let def = &column.def;
        if let Some(generated) = def.generated.as_ref().filter(|_| !def.is_hidden()) {
            check_generated(&def.name, at, &positions(&generated.expression), builder)?;
        }
        if let ColumnDefault::Expression(text) = &def.default {
            check_default(&def.name, at, &positions(text), builder)?;
        }
    }
    for check in &builder.checks {
        let read = positions(&check.expression);
        if read.iter().any(|column| builder.columns[*column].def.auto_increment) {
            let code = ErrorCode::CheckConstraintRefersAutoIncrementColumn;
            return Err(SqlError::new(code, &[&check.name]));
        }
    }
    Ok(())
}

/// Errors 3109 and 3107.
fn check_generated(
    name: &str,
    at: usize,
    columns: &[usize],
    builder: &TableBuilder,
) -> Result<(), SqlError> {
    let auto_increment = SqlError::new(ErrorCode::GeneratedColumnRefAutoInc, &[&name]);
    let later = SqlError::new(ErrorCode::GeneratedColumnNonPrior, &[]);
    check_reads(at, columns, builder, [auto_increment, later])
}

/// Errors 3768 and 3767.
fn check_default(
    name: &str,
    at: usize,
    columns: &[usize],
    builder: &TableBuilder,
) -> Result<(), SqlError> {
    let auto_increment = SqlError::new(ErrorCode::DefaultValGeneratedRefAutoInc, &[&name]);
    let later = SqlError::new(ErrorCode::DefaultValGeneratedNonPrior, &[&name]);
    check_reads(at, columns, builder, [auto_increment, later])
}

/// Checks which columns the expression of column `at` reads: no AUTO_INCREMENT column, or the first
/// error; not itself and no computed column behind it, or the second.
fn check_reads(
    at: usize,
    columns: &[usize],
    builder: &TableBuilder,
    [auto_increment, later]: [SqlError; 2],
) -> Result<(), SqlError> {
    for &column in columns {
        let def = &builder.columns[column].def;
        if def.auto_increment {
            return Err(auto_increment);
        }
        let computed =
            def.generated.is_some() || matches!(def.default, ColumnDefault::Expression(_));
        if column == at || (column > at && computed) {
            return Err(later);
        }
    }
    Ok(())
}

/// Functions that say yes or no; a constraint may be one of them, but no other function.
const PREDICATES: [&str; 33] = [
    "gtid_subset",
    "is_ipv4",
    "is_ipv4_compat",
    "is_ipv4_mapped",
    "is_ipv6",
    "is_uuid",
    "isnull",
    "json_contains",
    "json_contains_path",
    "json_overlaps",
    "json_schema_valid",
    "json_valid",
    "mbrcontains",
    "mbrcoveredby",
    "mbrcovers",
    "mbrdisjoint",
    "mbrequals",
    "mbrintersects",
    "mbroverlaps",
    "mbrtouches",
    "mbrwithin",
    "regexp_like",
    "st_contains",
    "st_crosses",
    "st_disjoint",
    "st_equals",
    "st_intersects",
    "st_isempty",
    "st_isvalid",
    "st_overlaps",
    "st_touches",
    "st_within",
    "strcmp",
];

/// Whether an expression is true or false by its form, as MySQL wants a constraint.
fn is_boolean(expr: &ast::Expr) -> bool {
    use ast::{BinaryOp as Op, Expr as E, UnaryOp};
    match expr {
        E::Literal(literal) => matches!(literal, ast::Literal::Bool(_)),
        E::Unary { op: UnaryOp::Not, .. } => true,
        E::Unary { op: UnaryOp::Plus, expr } => is_boolean(expr),
        E::Binary { op, .. } => matches!(
            op,
            Op::Eq | Op::NullSafeEq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Xor
        ),
        E::Function(call) => call.db.is_none() && PREDICATES.contains(&call.name.as_str()),
        E::And(_)
        | E::Or(_)
        | E::IsNull { .. }
        | E::IsTruth { .. }
        | E::InList { .. }
        | E::InSubquery { .. }
        | E::Exists(_)
        | E::Quantified { .. }
        | E::Between { .. }
        | E::Like { .. }
        | E::Regexp { .. }
        | E::SoundsLike { .. }
        | E::MemberOf { .. } => true,
        _ => false,
    }
}

/// The error of DISCARD and IMPORT TABLESPACE: all tables are in one file, as those of MySQL are
/// that lie in its system tablespace.
pub(super) fn no_own_tablespace(table: &TableBuilder, import: bool) -> SqlError {
    let TableBuilder { schema, name, engine, options, .. } = table;
    if engine != "InnoDB" {
        return SqlError::new(ErrorCode::IllegalHa, &[name]);
    }
    let space = options.iter().find(|(option, _)| option == TABLESPACE);
    let shared = |name: &str| name != SYSTEM_SPACE && name != FILE_PER_TABLE;
    if space.is_some_and(|(_, name)| shared(name)) {
        let verb = if import { "import" } else { "discard" };
        let message = format!(
            "InnoDB: Cannot {verb} table `{schema}/{name}` because it is in a general tablespace. \
             It must be file-per-table."
        );
        return SqlError::with_message(ErrorCode::NotAllowedCommand, message);
    }
    SqlError::new(ErrorCode::TableInSystemTablespace, &[&format!("{schema}/{name}")])
}
