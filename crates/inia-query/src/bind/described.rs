//! The metadata that clients get of columns of tables, temporary ones and groups included.

use crate::plan::{Origin, OutputColumn};
use inia_base::column::{ResultColumn, flags};
use inia_base::datatype::{DataType, IntWidth, LobSize};
use inia_expr::bind::converted;
use inia_expr::{Aggregate, Expr, ExprKind, ExprType, TypeClass};

/// What a column loses on its way through a temporary table.
pub(super) const OF_THE_TABLE: u32 = flags::PRI_KEY
    | flags::UNIQUE_KEY
    | flags::MULTIPLE_KEY
    | flags::PART_KEY
    | flags::AUTO_INCREMENT
    | flags::TIMESTAMP
    | flags::ON_UPDATE_NOW;

/// Describes values that come from a table: numbers and times are not called binary, texts have no
/// decimals.
pub(super) fn as_stored(result: &mut ResultColumn, ty: &ExprType) {
    match ty.class() {
        TypeClass::String => result.decimals = 0,
        TypeClass::Json => {}
        _ if matches!(ty.data_type, DataType::Timestamp { .. }) => {}
        _ => result.flags &= !flags::BINARY,
    }
}

/// Describes a value that was put into a temporary table: a column stays what it was, but for its
/// keys, and a computed value becomes a column.
pub(super) fn as_kept(column: &mut OutputColumn) {
    let OutputColumn { result, ty, .. } = column;
    if result.org_name.is_empty() {
        as_stored(result, ty);
        if ty.data_type == DataType::Json {
            result.decimals = 0;
        }
        result.org_name.clone_from(&result.name);
        if ty.data_type == DataType::Year {
            result.flags |= flags::UNSIGNED | flags::ZEROFILL;
        }
    }
    result.flags &= !OF_THE_TABLE;
}

/// Describes a column of a derived table's rows: one that must be written stays such a column.
pub(super) fn as_derived(column: &mut ResultColumn, inner: &ResultColumn) {
    if column.flags & flags::NOT_NULL != 0 && !inner.org_name.is_empty() {
        column.flags |= inner.flags & flags::NO_DEFAULT_VALUE;
    }
}

/// Describes a value of a query that makes one group of all rows: where there is no row, columns of
/// the first one are NULL, and what is computed from them.
pub(super) fn of_one_group(column: &mut OutputColumn, expr: &Expr) {
    if !is_null_with_columns(expr) {
        return;
    }
    column.ty.nullable = true;
    if matches!(expr.kind, ExprKind::Column { .. }) {
        column.result.flags &= !flags::NOT_NULL;
    }
}

fn is_null_with_columns(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column { .. } => true,
        ExprKind::Cast(inner, _) | ExprKind::Neg(inner, _) => is_null_with_columns(inner),
        ExprKind::Arith(arith) => {
            is_null_with_columns(&arith.left) || is_null_with_columns(&arith.right)
        }
        _ => false,
    }
}

/// Describes a key of groups, or of rows that are compared as wholes: JSON that is computed becomes
/// a column on the way.
pub(super) fn of_groups(column: &mut OutputColumn, expr: &Expr) {
    let mut computed = column.result.org_name.is_empty() && !expr.is_constant_in_statement();
    expr.walk(&mut |node| computed &= !matches!(node.kind, ExprKind::Aggregate(_)));
    if computed && column.ty.data_type == DataType::Json {
        column.result.decimals = 0;
    }
}

/// Longest integer, in characters, that a temporary table keeps as INT.
const MAX_INT_LENGTH: u32 = 9;

/// Describes what groups, DISTINCT and windows take from a temporary table: a computed integer of
/// few digits is an INT there, another one a BIGINT. So is a computed YEAR or BIT, which is then a
/// number.
pub(super) fn as_materialized(column: &mut OutputColumn, expr: &Expr) {
    column.result.flags &= !flags::AUTO_INCREMENT;
    let mut computed = column.result.org_name.is_empty() && !expr.is_constant_in_statement();
    expr.walk(&mut |node| {
        computed &= !matches!(
            node.kind,
            ExprKind::Aggregate(_) | ExprKind::Window(_) | ExprKind::Subquery(_)
        );
    });
    if computed {
        as_number(column);
    }
}

/// Describes a BIT that DISTINCT sorts by: the temporary table has its number.
pub(super) fn as_sorted(column: &mut OutputColumn, expr: &mut Expr) {
    let is_column = matches!(expr.kind, ExprKind::Column { .. });
    if is_column && matches!(column.ty.data_type, DataType::Bit(_)) {
        as_number(column);
        *expr = converted(std::mem::replace(expr, Expr::null()), &column.ty);
    }
}

fn as_number(column: &mut OutputColumn) {
    let unsigned = match column.ty.data_type {
        DataType::Int { unsigned, .. } => unsigned,
        DataType::Bit(_) | DataType::Year => true,
        _ => return,
    };
    let small = column.result.length <= MAX_INT_LENGTH;
    let width = if small { IntWidth::Int } else { IntWidth::Big };
    let data_type = DataType::Int { width, unsigned };
    column.result.flags &= !flags::BINARY;
    column.result.data_type = data_type.clone();
    if !matches!(column.ty.data_type, DataType::Int { .. }) {
        column.ty.data_type = data_type;
    }
}

/// Describes a number that a function takes from its BIT arguments as one of them.
pub(super) fn as_bits(column: &mut OutputColumn, expr: &Expr) {
    const NUMBERS: [&str; 5] = ["any_value", "coalesce", "greatest", "ifnull", "least"];
    let ExprKind::Call(call) = &expr.kind else { return };
    if !NUMBERS.contains(&call.name) {
        return;
    }
    let known = call.args.iter().filter(|arg| arg.ty.data_type != DataType::Null);
    let bits = known.map(|arg| match arg.ty.data_type {
        DataType::Bit(bits) => Some(bits),
        _ => None,
    });
    if let Some(bits) = bits.collect::<Option<Vec<u8>>>().and_then(|all| all.into_iter().max()) {
        column.result.data_type = DataType::Bit(bits);
        column.ty = column.ty.clone().into_number();
    }
}

/// Functions whose value is that of an argument.
const CHOOSING: [&str; 5] = ["coalesce", "ifnull", "if", "greatest", "least"];

/// The size of text that a chosen value is described with: that of the largest computed text, for
/// columns are TEXT whatever their size.
fn chosen_size(expr: &Expr, aggregates: &[Aggregate]) -> LobSize {
    let largest = |exprs: &mut dyn Iterator<Item = &Expr>| {
        exprs.map(|one| chosen_size(one, aggregates)).max().unwrap_or(LobSize::Normal)
    };
    match &expr.kind {
        ExprKind::Column { .. } => LobSize::Normal,
        ExprKind::Case(case) => {
            let results = case.whens.iter().map(|(_, result)| result);
            largest(&mut results.chain(&case.otherwise))
        }
        ExprKind::Call(call) if CHOOSING.contains(&call.name) => {
            let conditions = usize::from(call.name == "if");
            largest(&mut call.args.iter().skip(conditions))
        }
        ExprKind::Aggregate(at) if aggregates.get(*at).is_some_and(Aggregate::is_extremum) => {
            largest(&mut aggregates[*at].args.iter())
        }
        _ => match expr.ty.data_type {
            DataType::Text { size, .. } | DataType::Blob(size) => size.max(LobSize::Normal),
            _ => LobSize::Normal,
        },
    }
}

/// Describes what an expression chooses among values of its arguments' type: a long text stays that
/// of a column, and a date or time is text where no temporary table has kept it.
pub(super) fn as_chosen(
    column: &mut OutputColumn,
    expr: &Expr,
    aggregates: &[Aggregate],
    materialized: bool,
) {
    let chosen = match &expr.kind {
        ExprKind::Case(_) | ExprKind::Subquery(_) | ExprKind::Stored(_) => true,
        ExprKind::Call(call) => CHOOSING.contains(&call.name),
        ExprKind::Aggregate(at) => aggregates.get(*at).is_some_and(Aggregate::is_extremum),
        _ => false,
    };
    if !chosen {
        return;
    }
    match column.result.data_type {
        DataType::Date | DataType::Time { .. } | DataType::DateTime { .. } => {
            if !materialized && !matches!(expr.kind, ExprKind::Stored(_)) {
                column.result.flags = (column.result.flags & !flags::BINARY) | flags::CHOSEN;
                column.result.length *= 4;
            }
        }
        DataType::Text { collation, .. } => {
            column.result.flags |= flags::CHOSEN;
            if !matches!(expr.kind, ExprKind::Aggregate(_)) {
                let size = chosen_size(expr, aggregates);
                column.result.data_type = DataType::Text { size, collation };
            }
        }
        DataType::Blob(_) => column.result.flags |= flags::CHOSEN,
        DataType::Json if matches!(expr.kind, ExprKind::Stored(_)) => {
            column.result.decimals = 0;
            column.result.flags |= flags::CHOSEN;
        }
        _ => {}
    }
}

/// Describes numbers that are binary strings in the protocol: BIT_OR and the like over strings, and
/// what NULLIF leaves of a YEAR, are unsigned.
pub(super) fn as_unsigned(column: &mut OutputColumn, expr: &Expr, aggregates: &[Aggregate]) {
    let unsigned = match &expr.kind {
        ExprKind::Aggregate(at) => aggregates.get(*at).is_some_and(Aggregate::is_bitwise),
        ExprKind::Case(case) if case.is_nullif() => {
            let left = case.otherwise.as_ref();
            left.is_some_and(|left| left.ty.data_type == DataType::Year)
        }
        _ => false,
    };
    if unsigned {
        column.result.flags |= flags::UNSIGNED;
    }
}

/// Describes a column of a set operation's result.
pub(super) fn of_set_operation(name: &str, ty: ExprType) -> OutputColumn {
    let result = ty.result_column(name);
    let mut column = OutputColumn { result, ty, origin: Origin::Column };
    as_kept(&mut column);
    // MySQL finds no default for a moment that is never NULL.
    if column.ty.class() == TypeClass::Dated && !column.ty.nullable {
        column.result.flags |= flags::NO_DEFAULT_VALUE;
    }
    column
}
