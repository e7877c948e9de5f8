//! Constructors: POINT, LINESTRING and the others.

use super::{any, made, point, polygon};
use crate::context::Environment;
use crate::eval::{Args, FnResult, Stop};
use crate::func::{Function, MANY, f, ft};
use crate::print;
use crate::tree::Expr;
use crate::ty::{ExprType, TypeClass};
use inia_base::datatype::GeometryKind as Kind;
use inia_base::error::{ErrorCode, SqlError};
use inia_geometry::{Coord, Shape};

pub(in crate::func) const TABLE: &[Function] = &[
    f("point", 2, 2, point, make_point),
    ft("linestring", 1, MANY, parts, make, Kind::LineString as i64),
    ft("polygon", 1, MANY, parts, make, Kind::Polygon as i64),
    ft("multipoint", 1, MANY, parts, make, Kind::MultiPoint as i64),
    ft("multilinestring", 1, MANY, parts, make, Kind::MultiLineString as i64),
    ft("multipolygon", 1, MANY, parts, make, Kind::MultiPolygon as i64),
    ft("geometrycollection", 0, MANY, parts, make, Kind::Collection as i64),
    ft("geomcollection", 0, MANY, parts, make, Kind::Collection as i64),
    f("st_makeenvelope", 2, 2, polygon, envelope),
];

/// Any geometry; error 1367 of arguments that can be none.
fn parts(args: &mut [Expr], env: &Environment) -> Result<ExprType, SqlError> {
    for arg in args.iter() {
        if !matches!(arg.ty.class(), TypeClass::String) {
            let shown = print::print(arg);
            let args: [&dyn std::fmt::Display; 2] = [&"non geometric", &shown];
            return Err(SqlError::new(ErrorCode::IllegalValueForType, &args));
        }
    }
    any(args, env)
}

fn make_point(a: &mut Args<'_, '_>) -> FnResult {
    let at = Coord { x: a.real(0)?, y: a.real(1)? };
    made(0, Shape::Point(at))
}

/// A geometry of the sort that the call's tag names, in the plane; errors 3037 and 1210.
fn make(a: &mut Args<'_, '_>) -> FnResult {
    let mut members = Vec::with_capacity(a.len());
    for i in 0..a.len() {
        members.push(a.raw_geometry(i)?.shape);
    }
    let wrong = a.wrong_arguments();
    let invalid = a.invalid();
    let kind = u32::try_from(a.call.tag).ok().and_then(Kind::of_wkb);
    let shape = assemble(kind.unwrap_or(Kind::Collection), members).ok_or(wrong)?;
    let sound = match &shape {
        Shape::LineString(path) => path.len() >= 2,
        Shape::Polygon(rings) => {
            rings.iter().all(|ring| ring.len() >= 4 && ring.first() == ring.last())
        }
        _ => true,
    };
    if sound { made(0, shape) } else { Err(invalid) }
}

/// `None` where a member is of the wrong sort.
fn assemble(kind: Kind, members: Vec<Shape>) -> Option<Shape> {
    fn each<T>(members: Vec<Shape>, part: fn(Shape) -> Option<T>) -> Option<Vec<T>> {
        members.into_iter().map(part).collect()
    }
    let point = |shape| if let Shape::Point(at) = shape { Some(at) } else { None };
    let path = |shape| if let Shape::LineString(path) = shape { Some(path) } else { None };
    let rings = |shape| if let Shape::Polygon(rings) = shape { Some(rings) } else { None };
    Some(match kind {
        Kind::LineString => Shape::LineString(each(members, point)?),
        Kind::Polygon => Shape::Polygon(each(members, path)?),
        Kind::MultiPoint => Shape::MultiPoint(each(members, point)?),
        Kind::MultiLineString => Shape::MultiLineString(each(members, path)?),
        Kind::MultiPolygon => Shape::MultiPolygon(each(members, rings)?),
        _ => Shape::Collection(members),
    })
}

fn envelope(a: &mut Args<'_, '_>) -> FnResult {
    let (first, second) = a.pair()?;
    let (Shape::Point(from), Shape::Point(to)) = (&first.shape, &second.shape) else {
        return Err(a.wrong_arguments());
    };
    let system = a.system(first.srid)?;
    a.only_cartesian(&system, &[&first.shape, &second.shape])?;
    let line = Shape::LineString(vec![*from, *to]);
    let bounds = line.bounds().ok_or(Stop::Null)?;
    made(first.srid, bounds.shape())
}
