//! The columns of stored and derived tables as members of FROM.

use crate::bind::described::as_stored;
use crate::bind::namespace::FromColumn;
use crate::catalog::{ColumnDefault, IndexDef, IndexKind, IndexPart, TableDef};
use crate::plan::{Body, OutputColumn, QueryPlan};
use inia_base::column::flags;
use inia_base::datatype::{DataType, IntWidth};
use inia_expr::{ExprType, lob_bytes};

/// A stored table's column as a member of FROM sees it.
pub(crate) fn table_column(def: &TableDef, index: usize, alias: &str, slot: usize) -> FromColumn {
    let column = &def.columns[index];
    let mut ty = ExprType::of_column(column.data_type.clone(), column.nullable);
    ty.zerofill = column.zerofill;
    if let Some(width) = column.display_width {
        ty.length = u32::from(width);
    }
    let mut result = ty.result_column(&column.name);
    result.schema = def.schema.clone();
    result.table = alias.to_owned();
    result.org_table = def.name.clone();
    result.org_name = column.name.clone();
    as_stored(&mut result, &ty);
    match &ty.data_type {
        DataType::Json => result.decimals = 0,
        DataType::Text { size, .. } => result.length = lob_bytes(*size),
        _ => {}
    }
    let stamped = matches!(ty.data_type, DataType::Timestamp { .. });
    let now = column.on_update_now || column.default == ColumnDefault::CurrentTimestamp;
    if stamped && !now {
        result.flags &= !flags::TIMESTAMP;
    }
    result.flags |= key_flags(def, index);
    if column.auto_increment {
        result.flags |= flags::AUTO_INCREMENT;
    }
    if column.on_update_now && stamped {
        result.flags |= flags::ON_UPDATE_NOW;
    }
    let demanded = match column.default {
        ColumnDefault::None => !column.nullable && !column.auto_increment,
        ColumnDefault::Absent => true,
        _ => false,
    };
    if demanded {
        result.flags |= flags::NO_DEFAULT_VALUE;
    }
    FromColumn { slot, ty, result, hidden: column.invisible, merged: None }
}

/// The name of the column that shows a row's clustered key, where a table without a primary key is
/// locked by its name; no client can write it.
pub(crate) const ROW_ID: &str = "\u{0}row";

pub(super) fn row_id_column(alias: &str, slot: usize) -> FromColumn {
    let ty = ExprType::of_column(DataType::VarBinary(8), true);
    let mut result = ty.result_column(ROW_ID);
    result.table = alias.to_owned();
    FromColumn { slot, ty, result, hidden: true, merged: None }
}

/// Computed integers of fewer digits are INT in a temporary table.
const INT_DIGITS: u32 = 10;

/// The type of a query's computed column as a column of a derived table. The common type of a set
/// operation's operands or of the rows of VALUES stays as it is.
pub(super) fn derived_type(query: &QueryPlan, column: &OutputColumn) -> ExprType {
    let mut ty = column.ty.clone().fitted_to_column();
    if !matches!(query.body, Body::Values(_) | Body::SetOperation(_))
        && ty.length < INT_DIGITS
        && column.result.org_name.is_empty()
        && let DataType::Int { width: width @ IntWidth::Big, .. } = &mut ty.data_type
    {
        *width = IntWidth::Int;
    }
    ty
}

/// The key flags of a column. Without a PRIMARY KEY the first unique index over whole columns that
/// are never NULL takes its place.
fn key_flags(def: &TableDef, column: usize) -> u32 {
    let never_null = |part: &IndexPart| part.prefix.is_none() && !def.columns[part.column].nullable;
    let replaces =
        |index: &&IndexDef| index.kind == IndexKind::Unique && index.parts.iter().all(never_null);
    let primary = def.indexes.iter().find(|index| index.kind == IndexKind::Primary);
    let primary = primary.or_else(|| def.indexes.iter().find(replaces));
    let mut bits = 0;
    for index in &def.indexes {
        let Some(place) = index.parts.iter().position(|part| part.column == column) else {
            continue;
        };
        bits |= flags::PART_KEY;
        bits |= match (place, index.kind) {
            _ if primary.is_some_and(|primary| std::ptr::eq(primary, index)) => flags::PRI_KEY,
            (0, IndexKind::Unique) if index.parts.len() == 1 => flags::UNIQUE_KEY,
            (0, _) => flags::MULTIPLE_KEY,
            _ => 0,
        };
    }
    bits
}
