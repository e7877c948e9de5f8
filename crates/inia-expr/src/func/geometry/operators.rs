//! Geometries made of geometries.

use super::{any, error, made};
use crate::eval::{Args, FnResult, Stop};
use crate::func::{Function, f, ft};
use crate::ty::ExprType;
use inia_base::error::ErrorCode;
use inia_base::value::Value;
use inia_geometry::buffer::{Join, Strategy, buffer};
use inia_geometry::geodesic::{Ellipsoid, transform};
use inia_geometry::lines::{Straight, Walk, point_at, points_every};
use inia_geometry::overlay::{Operation, overlay};
use inia_geometry::{Coord, Shape, Srs, measure, simplify, valid};

/// Points of a whole turn at most.
const MAX_POINTS: f64 = 65_536.0;

pub(in crate::func) const TABLE: &[Function] = &[
    ft("st_intersection", 2, 2, any, combine, 0),
    ft("st_union", 2, 2, any, combine, 1),
    ft("st_difference", 2, 2, any, combine, 2),
    ft("st_symdifference", 2, 2, any, combine, 3),
    f("st_buffer", 2, 5, any, make_buffer),
    f("st_buffer_strategy", 1, 2, |_, _| Ok(ExprType::binary(16, true)), strategy),
    f("st_convexhull", 1, 1, any, |a| {
        let geometry = a.geometry(0)?;
        a.only_cartesian(&*a.system(geometry.srid)?, &[&geometry.shape])?;
        made(geometry.srid, measure::convex_hull(&geometry.shape).ok_or(Stop::Null)?)
    }),
    f("st_simplify", 2, 2, any, |a| {
        let geometry = a.geometry(0)?;
        let limit = a.real(1)?;
        if limit <= 0.0 || !limit.is_finite() {
            return Err(a.wrong_arguments());
        }
        if a.system(geometry.srid)?.is_geographic() {
            let kind = format!("{}, ...", geometry.shape.kind().name());
            let args: [&dyn std::fmt::Display; 2] = [&a.call.name, &kind];
            return Err(error(ErrorCode::NotImplementedForGeographicSrs, &args));
        }
        made(geometry.srid, simplify::simplify(&geometry.shape, limit).ok_or(Stop::Null)?)
    }),
    f("st_validate", 1, 1, any, |a| {
        let geometry = a.geometry(0)?;
        a.check_shape(&*a.system(geometry.srid)?, &geometry.shape)?;
        match valid::is_valid(&geometry.shape) {
            true => made(geometry.srid, geometry.shape),
            false => Err(Stop::Null),
        }
    }),
    f("st_swapxy", 1, 1, any, |a| {
        let mut geometry = a.geometry(0)?;
        geometry.shape.change(&mut |at| (at.x, at.y) = (at.y, at.x));
        made(geometry.srid, geometry.shape)
    }),
    f("st_transform", 2, 2, any, transformed),
    ft("st_lineinterpolatepoint", 2, 2, any, along, FRACTION),
    ft("st_lineinterpolatepoints", 2, 2, any, along, EACH),
    ft("st_pointatdistance", 2, 2, any, along, DISTANCE),
];

fn combine(a: &mut Args<'_, '_>) -> FnResult {
    let (first, second) = a.pair()?;
    let system = a.system(first.srid)?;
    a.check_shape(&system, &first.shape)?;
    a.check_shape(&system, &second.shape)?;
    let operation = match a.call.tag {
        0 => Operation::Intersection,
        1 => Operation::Union,
        2 => Operation::Difference,
        _ => Operation::SymDifference,
    };
    let shape = overlay(operation, &first.shape, &second.shape).map_err(|_| a.failed())?;
    made(first.srid, shape)
}

/// The numbers of strategies in the bytes that ST_Buffer_Strategy gives.
const END_ROUND: u32 = 1;
const END_FLAT: u32 = 2;
const JOIN_ROUND: u32 = 3;
const JOIN_MITER: u32 = 4;
const POINT_CIRCLE: u32 = 5;
const POINT_SQUARE: u32 = 6;

fn strategy(a: &mut Args<'_, '_>) -> FnResult {
    let name = a.text(0)?.to_ascii_lowercase();
    let (number, takes) = match name.as_str() {
        "end_round" => (END_ROUND, true),
        "end_flat" => (END_FLAT, false),
        "join_round" => (JOIN_ROUND, true),
        "join_miter" => (JOIN_MITER, true),
        "point_circle" => (POINT_CIRCLE, true),
        "point_square" => (POINT_SQUARE, false),
        _ => return Err(a.wrong_arguments()),
    };
    if takes != (a.len() == 2) {
        return Err(a.wrong_arguments());
    }
    let value = if takes { a.real(1)? } else { 0.0 };
    if takes && value <= 0.0 {
        return Err(a.wrong_arguments());
    }
    if takes && value > MAX_POINTS && number != JOIN_MITER {
        return Err(too_many(a, "points_per_circle"));
    }
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.extend_from_slice(&value.to_le_bytes());
    Ok(Value::Bytes(bytes))
}

/// Error 3134.
fn too_many(a: &Args<'_, '_>, parameter: &str) -> Stop {
    let args: [&dyn std::fmt::Display; 3] = [&parameter, &MAX_POINTS, &a.call.name];
    error(ErrorCode::GisMaxPointsInGeometryOverflowed, &args)
}

/// The strategies that a call names; error 1210 where two are of one sort.
fn strategies(a: &mut Args<'_, '_>) -> Result<Strategy, Stop> {
    let mut strategy = Strategy::default();
    let mut seen = [false; 3];
    for i in 2..a.len() {
        let bytes = a.bytes(i)?;
        let wrong = a.wrong_arguments();
        let Some((number, value)) = bytes.split_first_chunk::<4>() else { return Err(wrong) };
        let Ok(value) = <[u8; 8]>::try_from(value) else { return Err(wrong) };
        let (number, value) = (u32::from_le_bytes(*number), f64::from_le_bytes(value));
        let sort = match number {
            END_ROUND | END_FLAT => 0,
            JOIN_ROUND | JOIN_MITER => 1,
            POINT_CIRCLE | POINT_SQUARE => 2,
            _ => return Err(wrong),
        };
        if std::mem::replace(&mut seen[sort], true) {
            return Err(wrong);
        }
        let points = value as u32;
        match number {
            END_ROUND => strategy.end = Some(points),
            END_FLAT => strategy.end = None,
            JOIN_ROUND => strategy.join = Join::Round(points),
            JOIN_MITER => strategy.join = Join::Miter(value),
            POINT_CIRCLE => strategy.point = Some(points),
            _ => strategy.point = None,
        }
    }
    Ok(strategy)
}

fn make_buffer(a: &mut Args<'_, '_>) -> FnResult {
    let geometry = a.geometry(0)?;
    let distance = a.real(1)?;
    let strategy = strategies(a)?;
    let system = a.system(geometry.srid)?;
    // A point's buffer on the ellipsoid is the only one that there is.
    a.only_cartesian(&system, &[&geometry.shape])?;
    let flat = geometry.shape.dimension().is_some_and(|dimension| dimension < 2);
    if distance < 0.0 && flat {
        return Err(a.wrong_arguments());
    }
    if distance == 0.0 || geometry.shape.is_empty() {
        return made(geometry.srid, geometry.shape);
    }
    let found = buffer(&geometry.shape, distance, &strategy);
    let mut found = found.map_err(|_| a.failed())?;
    let shape = match found.len() {
        0 => Shape::Collection(Vec::new()),
        1 => Shape::Polygon(found.swap_remove(0)),
        _ => Shape::MultiPolygon(found),
    };
    made(geometry.srid, shape)
}

fn transformed(a: &mut Args<'_, '_>) -> FnResult {
    let mut geometry = a.raw_geometry(0)?;
    let from_srid = geometry.srid;
    let to_srid = a.srid(1)?;
    let from = a.system(from_srid)?;
    let to = a.system(to_srid)?;
    if from_srid == to_srid {
        return made(to_srid, geometry.shape);
    }
    use inia_geometry::srs::SrsKind::{Geographic, PseudoMercator};
    let possible = |system: &Srs| matches!(system.kind, Geographic | PseudoMercator);
    if !possible(&from) {
        return Err(error(ErrorCode::TransformSourceSrsNotSupported, &[&from_srid]));
    }
    if !possible(&to) {
        return Err(error(ErrorCode::TransformTargetSrsNotSupported, &[&to_srid]));
    }
    if from.to_wgs84.is_none() {
        return Err(error(ErrorCode::TransformSourceSrsMissingTowgs84, &[&from_srid]));
    }
    if to.to_wgs84.is_none() {
        return Err(error(ErrorCode::TransformTargetSrsMissingTowgs84, &[&to_srid]));
    }
    a.check_shape(&from, &geometry.shape)?;
    let mut lost = false;
    geometry.shape.change(&mut |at| match transform(*at, &from, &to) {
        Some(there) => *at = there,
        None => lost = true,
    });
    if lost { Err(a.invalid()) } else { made(to_srid, geometry.shape) }
}

/// What the second argument of a function along a line is.
const FRACTION: i64 = 0;
const EACH: i64 = 1;
const DISTANCE: i64 = 2;

fn along(a: &mut Args<'_, '_>) -> FnResult {
    let geometry = a.geometry(0)?;
    let value = a.real(1)?;
    let system = a.system(geometry.srid)?;
    let Shape::LineString(path) = &geometry.shape else {
        return Err(a.unexpected("LINESTRING", &geometry.shape));
    };
    let ellipsoid = system.is_geographic().then(|| Ellipsoid::of(&system));
    let walk: &dyn Walk = match &ellipsoid {
        Some(ellipsoid) => ellipsoid,
        None => &Straight,
    };
    let total = measure::path_length(path, &|from: Coord, to: Coord| walk.distance(from, to));
    let beyond = match a.call.tag {
        DISTANCE => !(0.0..=total).contains(&value),
        EACH => !(value > 0.0 && value <= 1.0),
        _ => !(0.0..=1.0).contains(&value),
    };
    if beyond {
        return Err(a.beyond("Distance"));
    }
    // Each point takes 21 bytes of the result.
    if a.call.tag == EACH && 21.0 / value > a.ctx.env.max_allowed_packet as f64 {
        return Err(too_many(a, "Distance"));
    }
    let shape = match a.call.tag {
        EACH if total == 0.0 => Shape::MultiPoint(path[..1].to_vec()),
        EACH => Shape::MultiPoint(points_every(path, total * value, walk)),
        tag => {
            let distance = if tag == DISTANCE { value } else { value * total };
            Shape::Point(point_at(path, distance, walk).ok_or(Stop::Null)?)
        }
    };
    made(geometry.srid, shape)
}
