//! Finding rows by SPATIAL indexes.
//!
//! A relation of the column and another geometry bounds the path where it needs a point that both
//! share: only rows whose boxes meet the other's box are read. The interval's lower end is that
//! geometry.

use super::bounds::KeyRange;
use super::choose::{Candidate, is_stable};
use super::{AccessPath, End, KeyInterval, Request};
use crate::catalog::Table;
use crate::row::prefix_successor;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr, ExprKind, SlotSet, slots_of};

/// Functions that are true only of geometries whose boxes meet.
const MEETING: &[&str] = &[
    "mbrcontains",
    "mbrcoveredby",
    "mbrcovers",
    "mbrequals",
    "mbrintersects",
    "mbroverlaps",
    "mbrtouches",
    "mbrwithin",
    "st_contains",
    "st_crosses",
    "st_equals",
    "st_intersects",
    "st_overlaps",
    "st_touches",
    "st_within",
];

/// The part of the rows that a window is taken to have.
pub(super) const WINDOW_SHARE: f64 = 0.05;

/// Whether the index can find rows: all values are in one reference system.
pub(super) fn is_usable(table: &Table, position: usize) -> bool {
    let column = table.def.indexes[position].parts[0].column;
    matches!(table.def.columns[column].data_type, DataType::Geometry { srid: Some(_), .. })
}

/// A path over the rows that meet what a condition relates the column with.
pub(super) fn path(
    request: &Request<'_>,
    position: usize,
    conditions: &[Expr],
    filled: &SlotSet,
) -> Candidate {
    let column = request.table.def.indexes[position].parts[0].column;
    let slot = request.base + column;
    let is_column = |expr: &Expr| match expr.kind {
        ExprKind::Column { index, .. } => index == slot,
        _ => false,
    };
    let is_known = |expr: &Expr| {
        let needs = slots_of(expr);
        !needs.whole_row && needs.slots.is_subset(filled) && is_stable(expr)
    };
    let other = |condition: &Expr| {
        let ExprKind::Call(call) = &condition.kind else { return None };
        let [first, second] = call.args.as_slice() else { return None };
        if !MEETING.contains(&call.name) {
            return None;
        }
        match (is_column(first), is_column(second)) {
            (true, false) if is_known(second) => Some(second.clone()),
            (false, true) if is_known(first) => Some(first.clone()),
            _ => None,
        }
    };
    let mut path = AccessPath::all(true);
    path.index = Some(position);
    if let Some(value) = conditions.iter().find_map(other) {
        let lower = Some(End { value, inclusive: true });
        path.intervals.push(KeyInterval { lower, ..KeyInterval::default() });
    }
    Candidate { path, covered: Vec::new() }
}

/// The key ranges of a path's window; errors 1416 and 3643 where the other geometry is none, or is
/// in another system.
pub(super) fn ranges(
    table: &Table,
    path: &AccessPath,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Vec<KeyRange>, SqlError> {
    let all = || vec![KeyRange::all()];
    let Some(index) = path.index else { return Ok(all()) };
    let Some(window) = path.intervals.first().and_then(|interval| interval.lower.as_ref()) else {
        return Ok(all());
    };
    let value = window.value.eval_ref(ctx, row)?;
    let bytes = match &*value {
        Value::Null => return Ok(Vec::new()),
        Value::Bytes(bytes) => bytes.as_slice(),
        _ => &[],
    };
    let column = table.def.indexes[index].parts[0].column;
    let DataType::Geometry { srid, .. } = table.def.columns[column].data_type else {
        return Ok(all());
    };
    let Some((found, bounds)) = inia_geometry::internal_bounds(bytes) else {
        return Err(SqlError::new(ErrorCode::CantCreateGeometryObject, &[]));
    };
    if let Some(wanted) = srid.filter(|srid| *srid != found) {
        let name = &table.def.columns[column].name;
        let args: [&dyn std::fmt::Display; 3] = [name, &found, &wanted];
        return Err(SqlError::new(ErrorCode::WrongSridForColumn, &args));
    }
    let (Some(bounds), Some(grid)) = (bounds, table.indexes[index].codec.grid()) else {
        return Ok(Vec::new());
    };
    let range = |(from, to): &([u8; 9], [u8; 9])| {
        let mut end = to.to_vec();
        let bounded = prefix_successor(&mut end);
        KeyRange { start: from.to_vec(), end: bounded.then_some(end), last: None }
    };
    Ok(grid.ranges(&bounds).iter().map(range).collect())
}
