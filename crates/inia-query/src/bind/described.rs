//! The metadata that clients get of columns of tables, temporary ones included.

use crate::plan::{Origin, OutputColumn};
use inia_base::column::{ResultColumn, flags};
use inia_base::datatype::DataType;
use inia_expr::{ExprType, TypeClass};

/// What a column loses on its way through a temporary table.
const OF_THE_TABLE: u16 = flags::PRI_KEY
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
