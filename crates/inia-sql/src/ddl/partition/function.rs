//! The functions that may divide a table.

use super::super::columns::BuilderScope;
use super::super::table_builder::TableBuilder;
use super::error;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::{Expr, ExprKind, TypeClass, charset};
use inia_parser::ast::{self, BinaryOp, UnaryOp};
use inia_query::context::SessionContext;

/// Functions of a date.
const OF_DATE: [&str; 12] = [
    "day",
    "dayofmonth",
    "dayofweek",
    "dayofyear",
    "month",
    "quarter",
    "to_days",
    "to_seconds",
    "weekday",
    "year",
    "yearweek",
    "datediff",
];
/// Functions of a time of day.
const OF_TIME: [&str; 5] = ["hour", "microsecond", "minute", "second", "time_to_sec"];
/// Functions of numbers.
const OF_NUMBERS: [&str; 5] = ["abs", "ceil", "ceiling", "floor", "mod"];

/// The function's text as it is stored, and the columns that it reads; errors 1564, 1486, 1491
/// and 1659.
pub(super) fn normalised(
    session: &SessionContext,
    builder: &TableBuilder,
    expr: &ast::Expr,
) -> Result<(String, Vec<String>), SqlError> {
    if !is_allowed(expr) {
        return error(ErrorCode::PartitionFunctionIsNotAllowed, &[]);
    }
    let mut scope = BuilderScope::of(builder, "partition function");
    let bound = inia_expr::bind(expr, &mut scope, &session.env, session)?;
    let mut columns = Vec::new();
    bound.walk(&mut |node| {
        if let ExprKind::Column { index, .. } = &node.kind
            && !columns.contains(index)
        {
            columns.push(*index);
        }
    });
    if columns.is_empty() || !fits(expr, builder) {
        return error(ErrorCode::WrongExprInPartitionFuncError, &[]);
    }
    check_type(&bound, builder)?;
    let mut stored = expr.clone();
    stored.walk_mut(&mut |node| builder.spell_columns(node));
    let text = inia_parser::unparse(&stored, charset::charset_name(session.env.collation));
    let text = text.ok_or_else(|| SqlError::new(ErrorCode::PartitionFunctionIsNotAllowed, &[]))?;
    let names = columns.iter().map(|column| builder.columns[*column].def.name.clone());
    Ok((text, names.collect()))
}

/// Errors 1659 of a column, and 1491 of a function, that is no integer.
fn check_type(bound: &Expr, builder: &TableBuilder) -> Result<(), SqlError> {
    if let ExprKind::Column { index, .. } = &bound.kind {
        let def = &builder.columns[*index].def;
        return match def.data_type {
            DataType::Int { .. } | DataType::Year | DataType::Bit(_) => Ok(()),
            DataType::Text { .. } | DataType::Blob(_) | DataType::Json => {
                error(ErrorCode::BlobFieldInPartFuncError, &[])
            }
            _ => error(ErrorCode::FieldTypeNotAllowedAsPartitionField, &[&def.name]),
        };
    }
    match bound.ty.class() {
        TypeClass::Int => Ok(()),
        _ => error(ErrorCode::PartitionFuncNotAllowedError, &[&"PARTITION"]),
    }
}

/// Whether there are only functions and operators that MySQL allows.
fn is_allowed(expr: &ast::Expr) -> bool {
    match expr {
        ast::Expr::Literal(_) | ast::Expr::Column(_) => true,
        ast::Expr::Unary { op: UnaryOp::Neg | UnaryOp::Plus, expr } => is_allowed(expr),
        ast::Expr::Binary { op, left, right } => {
            let known = matches!(
                op,
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::IntDiv | BinaryOp::Mod
            );
            known && is_allowed(left) && is_allowed(right)
        }
        ast::Expr::Extract { expr, .. } => is_allowed(expr),
        ast::Expr::Function(call) => {
            let name = call.name.as_str();
            let known = OF_DATE.contains(&name)
                || OF_TIME.contains(&name)
                || OF_NUMBERS.contains(&name)
                || name == "unix_timestamp";
            known && call.args.iter().all(is_allowed)
        }
        _ => false,
    }
}

/// Whether functions of dates and times read columns of such types, and nothing depends on the
/// time zone.
fn fits(expr: &ast::Expr, builder: &TableBuilder) -> bool {
    use DataType as T;
    let type_of = |expr: &ast::Expr| match expr {
        ast::Expr::Column(name) => {
            builder.column(&name.name).map(|at| builder.columns[at].def.data_type.clone())
        }
        _ => None,
    };
    match expr {
        ast::Expr::Column(_) => !matches!(type_of(expr), Some(T::Timestamp { .. })),
        ast::Expr::Unary { expr, .. } => fits(expr, builder),
        ast::Expr::Binary { left, right, .. } => fits(left, builder) && fits(right, builder),
        ast::Expr::Extract { unit, expr } => {
            let date = !unit.has_time();
            match type_of(expr) {
                Some(T::DateTime { .. }) => true,
                Some(T::Date) => date,
                Some(T::Time { .. }) => !date,
                _ => false,
            }
        }
        ast::Expr::Function(call) => {
            let name = call.name.as_str();
            let all = |test: &dyn Fn(Option<DataType>) -> bool| {
                call.args.iter().all(|arg| test(type_of(arg)))
            };
            if name == "unix_timestamp" {
                return all(&|ty| matches!(ty, Some(T::Timestamp { .. })));
            }
            if OF_DATE.contains(&name) {
                return all(&|ty| matches!(ty, Some(T::Date | T::DateTime { .. })));
            }
            if OF_TIME.contains(&name) {
                return all(&|ty| matches!(ty, Some(T::Time { .. } | T::DateTime { .. })));
            }
            call.args.iter().all(|arg| fits(arg, builder))
        }
        _ => true,
    }
}
