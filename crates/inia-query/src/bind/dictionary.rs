//! How columns of views of `information_schema` are described.
//!
//! MySQL makes these views over the tables of its data dictionary. A client sees of a column which
//! table that is, and of the result of a function that it comes from no table. Where a temporary
//! table keeps the rows, functions' results have become columns.

use super::described::OF_THE_TABLE;
use super::namespace::FromColumn;
use crate::computed::views::{Description, SentType, Shown, column, type_code};
use crate::plan::OutputColumn;
use inia_base::collation::Collation;
use inia_base::column::{ResultColumn, flags};
use inia_base::datatype::{DataType, IntWidth, LobSize};
use inia_expr::{ExprType, TypeClass};

const SCHEMA: &str = "information_schema";
/// Decimals of a text that is no column.
const NOT_FIXED: u8 = 31;
/// Bytes of a character in which lengths of the dictionary are counted.
const LONGEST: u32 = 4;

/// Describes a column of a computed table as a query reads it.
pub(super) fn as_of_view(view: &str, from: &mut FromColumn) {
    let FromColumn { result, ty, .. } = from;
    result.org_table = view.to_owned();
    if result.schema.eq_ignore_ascii_case(SCHEMA) {
        SCHEMA.clone_into(&mut result.schema);
    }
    let Some(declared) = column(view, &result.name) else { return };
    match declared.shown {
        Shown::Column { .. } => {
            result.flags = declared.read.flags;
            if matches!(ty.data_type, DataType::Timestamp { .. }) {
                as_value_of_time(result);
            }
        }
        Shown::Function | Shown::Constant => {
            result.schema.clear();
            as_described(result, ty, &declared.read);
            match ty.class() {
                _ if result.data_type == DataType::Null => result.decimals = 0,
                TypeClass::String => result.decimals = NOT_FIXED,
                TypeClass::Dated | TypeClass::Time => as_value_of_time(result),
                _ => {}
            }
        }
    }
}

/// Describes a column of a view that a temporary table has kept.
pub(super) fn as_kept_of_view(output: &mut OutputColumn) {
    let OutputColumn { result, ty, .. } = output;
    let Some(declared) = column(&result.org_table, &result.org_name) else { return };
    result.org_name.clone_from(&result.name);
    match &declared.shown {
        Shown::Column { table } => {
            result.org_table.clone_from(table);
            result.flags = declared.kept.flags & !OF_THE_TABLE;
            result.data_type = ty.data_type.clone();
            if matches!(ty.data_type, DataType::Timestamp { .. }) {
                result.length = ty.length;
            }
        }
        Shown::Function => {
            SCHEMA.clone_into(&mut result.schema);
            result.org_table.clear();
            as_described(result, ty, &declared.kept);
            result.decimals = if ty.is_text() { 0 } else { ty.decimals };
        }
        Shown::Constant => {}
    }
}

/// Length of an INT UNSIGNED.
const INT_LENGTH: u32 = 10;

/// The type that a set operation takes from a column: a number that a view's function has from an
/// INT is one, although the view's rows are of BIGINTs.
pub(super) fn type_in_set(output: &OutputColumn) -> ExprType {
    let OutputColumn { result, ty, .. } = output;
    let of_view = column(&result.org_table, &result.org_name).filter(|one| {
        result.schema.is_empty()
            && matches!(one.shown, Shown::Function)
            && one.read.flags & flags::UNSIGNED != 0
    });
    match of_view.and_then(|one| one.read.sent) {
        Some(SentType { code: type_code::LONG, length: INT_LENGTH }) => {
            let data_type = DataType::Int { width: IntWidth::Int, unsigned: true };
            ExprType { data_type, length: INT_LENGTH, ..ty.clone() }
        }
        _ => ty.clone(),
    }
}

/// Describes a column of a derived table over a computed table, as SHOW statements read them.
pub(super) fn as_derived(from: &mut FromColumn, inner: &ResultColumn) {
    let FromColumn { result, ty, .. } = from;
    if inner.data_type == DataType::Null {
        result.table.clear();
        result.org_name.clear();
    }
    if inner.schema == "performance_schema" {
        result.schema.clone_from(&inner.schema);
        result.org_table.clone_from(&inner.org_table);
        if !ty.nullable {
            result.flags |= flags::NO_DEFAULT_VALUE;
        }
    }
    let Some(declared) = column(&inner.org_table, &inner.org_name) else { return };
    match &declared.shown {
        Shown::Column { table } => {
            result.flags = declared.kept.flags;
            result.org_table.clone_from(table);
            if *table == inner.org_table {
                SCHEMA.clone_into(&mut result.schema);
            }
        }
        Shown::Function => as_described(result, ty, &declared.kept),
        Shown::Constant => {}
    }
}

/// Gives a column the type and the flags of a description.
fn as_described(result: &mut ResultColumn, ty: &ExprType, description: &Description) {
    result.flags = description.flags;
    result.data_type = ty.data_type.clone();
    result.length = ty.length;
    let Some(SentType { code, length }) = description.sent else { return };
    match code {
        type_code::NULL => {
            result.data_type = DataType::Null;
            result.length = 0;
        }
        type_code::LONG | type_code::LONGLONG => {
            let width = if code == type_code::LONG { IntWidth::Int } else { IntWidth::Big };
            let unsigned = description.flags & flags::UNSIGNED != 0;
            result.data_type = DataType::Int { width, unsigned };
            result.length = length;
        }
        type_code::LONG_BLOB | type_code::BLOB => {
            let long = code == type_code::LONG_BLOB;
            let size = if long { LobSize::Long } else { LobSize::Normal };
            result.data_type = DataType::Text { size, collation: Collation::SYSTEM };
            // The longest text counts no characters.
            result.length = if length == u32::MAX { length } else { length / LONGEST };
        }
        type_code::VAR_STRING if matches!(ty.data_type, DataType::VarBinary(_)) => {
            result.data_type = DataType::VarBinary(length);
            result.length = length;
        }
        type_code::VAR_STRING => {
            let chars = length / LONGEST;
            result.data_type = DataType::VarChar { chars, collation: Collation::SYSTEM };
            result.length = chars * 3;
        }
        _ => {}
    }
}

/// Describes a date or time as functions return them: in the client's character set.
fn as_value_of_time(result: &mut ResultColumn) {
    result.flags |= flags::CHOSEN;
    result.length *= LONGEST;
}
