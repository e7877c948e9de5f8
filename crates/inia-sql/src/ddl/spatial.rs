//! SPATIAL indexes: which columns they are on, and how.

use super::table_builder::{Finished, IndexDraft, IndexPartDraft, TableBuilder};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_query::catalog::{ColumnDef, IndexKind, TableDef};
use std::fmt::Display;

/// What SHOW INDEX calls the prefix: the bytes of a box.
const BOX_BYTES: u32 = 32;

fn error<T>(code: ErrorCode, args: &[&dyn Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// A KEY on a geometry is a SPATIAL KEY; error 3728 where it is to be unique, 3729 of USING.
pub(super) fn turn_plain(builder: &mut TableBuilder) -> Result<(), SqlError> {
    for at in 0..builder.indexes.len() {
        let index = &builder.indexes[at];
        let is_geometry = |part: &IndexPartDraft| {
            let column = builder.column(&part.column);
            column.is_some_and(|column| {
                matches!(builder.columns[column].def.data_type, DataType::Geometry { .. })
            })
        };
        let auto = |part: &IndexPartDraft| {
            let column = builder.column(&part.column);
            column.is_some_and(|column| builder.columns[column].def.auto_increment)
        };
        if index.kind == IndexKind::Spatial
            || !index.parts.iter().any(is_geometry)
            || index.parts.iter().any(auto)
        {
            continue;
        }
        match index.kind {
            IndexKind::Plain => {}
            IndexKind::FullText | IndexKind::Spatial | IndexKind::MultiValued { .. } => continue,
            IndexKind::Primary | IndexKind::Unique => {
                return error(ErrorCode::SpatialUniqueIndex, &[]);
            }
        }
        if let Some(using) = &index.using {
            return error(ErrorCode::IndexTypeNotSupportedForSpatialIndex, &[using]);
        }
        builder.indexes[at].kind = IndexKind::Spatial;
    }
    Ok(())
}

/// Error 1070: a box has one column.
pub(super) fn check_parts(index: &IndexDraft) -> Result<(), SqlError> {
    match index.kind == IndexKind::Spatial && index.parts.len() > 1 {
        true => error(ErrorCode::TooManyKeyParts, &[&1]),
        false => Ok(()),
    }
}

/// The prefix of an index's only part; errors 1687, 1089, 1221 and 1252.
pub(super) fn prefix(part: &IndexPartDraft, def: &ColumnDef) -> Result<Option<u32>, SqlError> {
    if !matches!(def.data_type, DataType::Geometry { .. }) {
        return error(ErrorCode::SpatialMustHaveGeomCol, &[]);
    }
    if part.prefix.is_some_and(|bytes| bytes != BOX_BYTES) {
        return error(ErrorCode::WrongSubKey, &[]);
    }
    if part.descending {
        let order = [&"spatial/fulltext/hash index", &"explicit index order"];
        return Err(SqlError::new(ErrorCode::WrongUsage, &order.map(|x| x as _)));
    }
    if def.nullable {
        return error(ErrorCode::SpatialMustHaveNotNull, &[]);
    }
    Ok(Some(BOX_BYTES))
}

/// Error 3644: the reference system of an indexed column changes.
pub(super) fn check_change(old: &TableDef, new: &Finished) -> Result<(), SqlError> {
    for index in new.def.indexes.iter().filter(|index| index.kind == IndexKind::Spatial) {
        let column = index.parts[0].column;
        let Some(origin) = new.column_origins[column] else { continue };
        let srid = |def: &ColumnDef| match def.data_type {
            DataType::Geometry { srid, .. } => srid,
            _ => None,
        };
        let def = &new.def.columns[column];
        let indexed = old
            .indexes
            .iter()
            .any(|index| index.kind == IndexKind::Spatial && index.parts[0].column == origin);
        if indexed && srid(&old.columns[origin]) != srid(def) {
            return error(ErrorCode::CannotAlterSridDueToIndex, &[&def.name]);
        }
    }
    Ok(())
}

/// Warning 3674: the optimizer does not use an index on a column without an SRID attribute.
pub(super) fn warning(index: &IndexDraft, def: &ColumnDef) -> Option<SqlError> {
    let unused = matches!(def.data_type, DataType::Geometry { srid: None, .. });
    let new = index.kind == IndexKind::Spatial && index.origin.is_none();
    (new && unused).then(|| SqlError::new(ErrorCode::WarnUselessSpatialIndex, &[&def.name]))
}
