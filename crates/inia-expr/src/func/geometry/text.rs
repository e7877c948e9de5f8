//! Geometries from WKT and WKB, and as WKT and WKB.

use super::{any, error, made, number};
use crate::eval::{Args, FnResult, Stop};
use crate::func::{Function, f, ft};
use crate::ty::ExprType;
use inia_base::datatype::GeometryKind as Kind;
use inia_base::error::ErrorCode;
use inia_base::value::Value;
use inia_geometry::{Shape, from_wkb, from_wkt, put_wkb, to_internal, to_wkt};

/// Longest WKT that metadata names, in characters.
const MAX_TEXT: u64 = 16_777_216;
/// Longest WKB that metadata names, in bytes.
const LONGEST: u64 = u32::MAX as u64 - 1;

const fn wkt(name: &'static str, kind: Kind) -> Function {
    ft(name, 1, 3, any, from_text, kind as i64)
}

const fn wkb(name: &'static str, kind: Kind) -> Function {
    ft(name, 1, 3, any, from_binary, kind as i64)
}

pub(in crate::func) const TABLE: &[Function] = &[
    wkt("st_geomfromtext", Kind::Geometry),
    wkt("st_geometryfromtext", Kind::Geometry),
    wkt("st_pointfromtext", Kind::Point),
    wkt("st_linefromtext", Kind::LineString),
    wkt("st_linestringfromtext", Kind::LineString),
    wkt("st_polyfromtext", Kind::Polygon),
    wkt("st_polygonfromtext", Kind::Polygon),
    wkt("st_mpointfromtext", Kind::MultiPoint),
    wkt("st_multipointfromtext", Kind::MultiPoint),
    wkt("st_mlinefromtext", Kind::MultiLineString),
    wkt("st_multilinestringfromtext", Kind::MultiLineString),
    wkt("st_mpolyfromtext", Kind::MultiPolygon),
    wkt("st_multipolygonfromtext", Kind::MultiPolygon),
    wkt("st_geomcollfromtext", Kind::Collection),
    wkt("st_geomcollfromtxt", Kind::Collection),
    wkt("st_geometrycollectionfromtext", Kind::Collection),
    wkb("st_geomfromwkb", Kind::Geometry),
    wkb("st_geometryfromwkb", Kind::Geometry),
    wkb("st_pointfromwkb", Kind::Point),
    wkb("st_linefromwkb", Kind::LineString),
    wkb("st_linestringfromwkb", Kind::LineString),
    wkb("st_polyfromwkb", Kind::Polygon),
    wkb("st_polygonfromwkb", Kind::Polygon),
    wkb("st_mpointfromwkb", Kind::MultiPoint),
    wkb("st_multipointfromwkb", Kind::MultiPoint),
    wkb("st_mlinefromwkb", Kind::MultiLineString),
    wkb("st_multilinestringfromwkb", Kind::MultiLineString),
    wkb("st_mpolyfromwkb", Kind::MultiPolygon),
    wkb("st_multipolygonfromwkb", Kind::MultiPolygon),
    wkb("st_geomcollfromwkb", Kind::Collection),
    wkb("st_geometrycollectionfromwkb", Kind::Collection),
    f("st_astext", 1, 2, |_, env| Ok(ExprType::text(MAX_TEXT, env.collation, true)), as_text),
    f("st_aswkt", 1, 2, |_, env| Ok(ExprType::text(MAX_TEXT, env.collation, true)), as_text),
    f("st_asbinary", 1, 2, |_, _| Ok(ExprType::binary(LONGEST, true)), as_binary),
    f("st_aswkb", 1, 2, |_, _| Ok(ExprType::binary(LONGEST, true)), as_binary),
];

fn from_text(a: &mut Args<'_, '_>) -> FnResult {
    let text = a.bytes(0)?;
    finish(a, "WKT", &mut || from_wkt(&text))
}

fn from_binary(a: &mut Args<'_, '_>) -> FnResult {
    let bytes = a.bytes(0)?;
    finish(a, "WKB", &mut || from_wkb(&bytes))
}

/// What is read, checked and turned to the order of coordinates in memory.
fn finish(a: &mut Args<'_, '_>, what: &str, read: &mut dyn FnMut() -> Option<Shape>) -> FnResult {
    let srid = if a.len() > 1 { a.srid(1)? } else { 0 };
    if a.len() > 2 {
        a.value(2)?;
    }
    let system = a.system(srid)?;
    let swaps = a.swaps(&system, 2)?;
    let mut shape = read().ok_or_else(|| a.invalid())?;
    let wanted = a.call.tag;
    if wanted != Kind::Geometry as i64 && wanted != shape.kind() as i64 {
        return Err(a.unexpected(what, &shape));
    }
    if swaps {
        shape.change(&mut |at| (at.x, at.y) = (at.y, at.x));
    }
    let mut outcome = Ok(());
    shape.for_each(&mut |at| {
        if outcome.is_ok() {
            outcome = a.check_coord(&system, at);
        }
    });
    outcome?;
    made(srid, shape)
}

/// A geometry in the order of coordinates that it is written in.
fn turned(a: &mut Args<'_, '_>) -> Result<Shape, Stop> {
    let mut geometry = a.raw_geometry(0)?;
    let swaps = match a.known_system(geometry.srid) {
        Some(system) => a.swaps(&system, 1)?,
        None => {
            if a.len() > 1 {
                a.axis_order(1)?;
            }
            a.warn(ErrorCode::WarnSrsNotFoundAxisOrder, &[&geometry.srid])?;
            false
        }
    };
    if swaps {
        geometry.shape.change(&mut |at| (at.x, at.y) = (at.y, at.x));
    }
    Ok(geometry.shape)
}

fn as_text(a: &mut Args<'_, '_>) -> FnResult {
    Ok(Value::Text(to_wkt(&turned(a)?, &number)))
}

fn as_binary(a: &mut Args<'_, '_>) -> FnResult {
    let mut out = Vec::new();
    put_wkb(&turned(a)?, &mut out);
    Ok(Value::Bytes(out))
}

/// CAST to a sort of geometry; errors 3037, 4032 and 4033.
pub(crate) fn cast(bytes: &[u8], kind: Kind) -> FnResult {
    let lower = kind.name().to_lowercase();
    let name = format!("cast_as_{lower}");
    let Some(geometry) = inia_geometry::from_internal(bytes) else {
        return Err(error(ErrorCode::GisInvalidData, &[&name]));
    };
    let from = geometry.shape.kind().name();
    let clockwise = match (&geometry.shape, kind) {
        (Shape::LineString(path), Kind::Polygon) if path.first() == path.last() => {
            inia_geometry::measure::runs_clockwise(path)
        }
        _ => false,
    };
    if clockwise {
        let args: [&dyn std::fmt::Display; 2] = [&from, &kind.name()];
        return Err(error(ErrorCode::InvalidCastPolygonRingDirection, &args));
    }
    let Some(shape) = recast(geometry.shape, kind) else {
        return Err(error(ErrorCode::InvalidCastToGeometry, &[&from, &kind.name()]));
    };
    Ok(Value::Bytes(to_internal(&inia_geometry::Geometry { srid: geometry.srid, shape })))
}

/// The shape as one of another sort, where it has the parts of one.
fn recast(shape: Shape, kind: Kind) -> Option<Shape> {
    use Shape as S;
    if shape.kind() == kind {
        return Some(shape);
    }
    let closed = |path: &Vec<inia_geometry::Coord>| path.len() >= 4 && path.first() == path.last();
    let members = |shape: Shape| match shape {
        S::MultiPoint(points) => points.into_iter().map(S::Point).collect(),
        S::MultiLineString(paths) => paths.into_iter().map(S::LineString).collect(),
        S::MultiPolygon(all) => all.into_iter().map(S::Polygon).collect(),
        S::Collection(members) => members,
        single => vec![single],
    };
    Some(match (kind, shape) {
        (Kind::Collection, shape) => S::Collection(members(shape)),
        (Kind::Point | Kind::LineString | Kind::Polygon, shape)
            if matches!(
                shape,
                S::MultiPoint(_) | S::MultiLineString(_) | S::MultiPolygon(_) | S::Collection(_)
            ) =>
        {
            let mut members = members(shape.clone());
            match members.len() {
                1 => return recast(members.swap_remove(0), kind),
                _ => return several(shape, kind),
            }
        }
        (Kind::LineString, S::Polygon(mut rings)) if rings.len() == 1 => {
            S::LineString(rings.swap_remove(0))
        }
        (Kind::Polygon, S::LineString(path)) if closed(&path) => S::Polygon(vec![path]),
        (Kind::MultiPoint, S::Point(at)) => S::MultiPoint(vec![at]),
        (Kind::MultiPoint, S::LineString(path)) => S::MultiPoint(path),
        (Kind::MultiLineString, S::LineString(path)) => S::MultiLineString(vec![path]),
        (Kind::MultiLineString, S::Polygon(rings)) => S::MultiLineString(rings),
        (Kind::MultiPolygon, S::Polygon(rings)) => S::MultiPolygon(vec![rings]),
        (Kind::MultiPolygon, S::MultiLineString(paths)) if paths.iter().all(closed) => {
            S::MultiPolygon(paths.into_iter().map(|path| vec![path]).collect())
        }
        (Kind::MultiPoint | Kind::MultiLineString | Kind::MultiPolygon, S::Collection(all)) => {
            return gathered(all, kind);
        }
        _ => return None,
    })
}

/// A line of points, a polygon of rings.
fn several(shape: Shape, kind: Kind) -> Option<Shape> {
    let closed = |path: &Vec<inia_geometry::Coord>| path.len() >= 4 && path.first() == path.last();
    match (kind, shape) {
        (Kind::LineString, Shape::MultiPoint(points)) => Some(Shape::LineString(points)),
        (Kind::Polygon, Shape::MultiLineString(paths)) if paths.iter().all(closed) => {
            Some(Shape::Polygon(paths))
        }
        _ => None,
    }
}

/// The members of a collection as one geometry, where they are all of its sort.
fn gathered(members: Vec<Shape>, kind: Kind) -> Option<Shape> {
    if members.is_empty() {
        return None;
    }
    let (mut points, mut paths, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for member in members {
        match (kind, member) {
            (Kind::MultiPoint, Shape::Point(at)) => points.push(at),
            (Kind::MultiLineString, Shape::LineString(path)) => paths.push(path),
            (Kind::MultiPolygon, Shape::Polygon(rings)) => all.push(rings),
            _ => return None,
        }
    }
    Some(match kind {
        Kind::MultiPoint => Shape::MultiPoint(points),
        Kind::MultiLineString => Shape::MultiLineString(paths),
        _ => Shape::MultiPolygon(all),
    })
}
