//! What a geometry is and has.

use super::{any, error, made, point};
use crate::eval::{Args, FnResult, Stop};
use crate::func::types::{double, int, int_null, text_null};
use crate::func::{Function, f, ft, r};
use crate::tree::Expr;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_geometry::{Coord, Shape, Srs, measure, valid};

/// Which coordinate a getter or setter is about.
const FIRST: i64 = 0;
const SECOND: i64 = 1;
const LATITUDE: i64 = 2;
const LONGITUDE: i64 = 3;

pub(in crate::func) const TABLE: &[Function] = &[
    f("st_dimension", 1, 1, int_null::<10>, |a| {
        let geometry = a.geometry(0)?;
        Ok(Value::Int(geometry.shape.dimension().ok_or(Stop::Null)?.into()))
    }),
    f("st_geometrytype", 1, 1, text_null::<15>, |a| {
        Ok(Value::Text(a.geometry(0)?.shape.kind().name().to_owned()))
    }),
    f("st_isempty", 1, 1, int_null::<1>, |a| {
        Ok(Value::Int(a.geometry(0)?.shape.is_empty().into()))
    }),
    f("st_issimple", 1, 1, int_null::<1>, |a| {
        Ok(Value::Int(valid::is_simple(&a.geometry(0)?.shape).into()))
    }),
    f("st_isvalid", 1, 1, int_null::<1>, |a| {
        let geometry = a.geometry(0)?;
        a.check_shape(&*a.system(geometry.srid)?, &geometry.shape)?;
        Ok(Value::Int(valid::is_valid(&geometry.shape).into()))
    }),
    r("st_srid", 1, 2, |args, env| {
        let function = if args.len() == 1 { &SRID } else { &WITH_SRID };
        super::super::bind_call(function, args, env)
    }),
    r("st_x", 1, 2, |args, env| coordinate(args, env, &[&X, &WITH_X])),
    r("st_y", 1, 2, |args, env| coordinate(args, env, &[&Y, &WITH_Y])),
    r("st_latitude", 1, 2, |args, env| coordinate(args, env, &[&LAT, &WITH_LAT])),
    r("st_longitude", 1, 2, |args, env| coordinate(args, env, &[&LONG, &WITH_LONG])),
    ft("st_startpoint", 1, 1, any, point_of_line, 1),
    ft("st_endpoint", 1, 1, any, point_of_line, -1),
    ft("st_pointn", 2, 2, any, point_of_line, 0),
    f("st_numpoints", 1, 1, int_null::<10>, |a| match a.geometry(0)?.shape {
        Shape::LineString(path) => Ok(Value::Int(path.len() as i64)),
        _ => Err(Stop::Null),
    }),
    f("st_isclosed", 1, 1, int_null::<1>, |a| {
        let closed = |path: &Vec<Coord>| path.first() == path.last();
        match a.geometry(0)?.shape {
            Shape::LineString(path) => Ok(Value::Int(closed(&path).into())),
            Shape::MultiLineString(paths) => Ok(Value::Int(paths.iter().all(closed).into())),
            _ => Err(Stop::Null),
        }
    }),
    ft("st_exteriorring", 1, 1, any, ring, 1),
    ft("st_interiorringn", 2, 2, any, ring, 0),
    f("st_numinteriorrings", 1, 1, int_null::<10>, interior_rings),
    f("st_numinteriorring", 1, 1, int_null::<10>, interior_rings),
    f("st_geometryn", 2, 2, any, member),
    f("st_numgeometries", 1, 1, int_null::<10>, |a| {
        Ok(Value::Int(members(a.geometry(0)?.shape).ok_or(Stop::Null)?.len() as i64))
    }),
    f("st_envelope", 1, 1, any, |a| {
        let geometry = a.geometry(0)?;
        a.only_cartesian(&*a.system(geometry.srid)?, &[&geometry.shape])?;
        let bounds = geometry.shape.bounds();
        made(geometry.srid, bounds.map_or(Shape::Collection(Vec::new()), |b| b.shape()))
    }),
    f("st_centroid", 1, 1, point, |a| {
        let geometry = a.geometry(0)?;
        a.only_cartesian(&*a.system(geometry.srid)?, &[&geometry.shape])?;
        let at = measure::centroid(&geometry.shape).ok_or(Stop::Null)?;
        made(geometry.srid, Shape::Point(at))
    }),
];

const SRID: Function = f("st_srid", 1, 1, int::<10>, |a| {
    let srid = a.raw_geometry(0)?.srid;
    if a.known_system(srid).is_none() {
        a.warn(ErrorCode::WarnSrsNotFound, &[&srid])?;
    }
    Ok(Value::Int(srid.into()))
});
const WITH_SRID: Function = f("st_srid", 2, 2, any, |a| {
    let geometry = a.raw_geometry(0)?;
    let srid = a.srid(1)?;
    let system = a.system(srid)?;
    a.check_shape(&system, &geometry.shape)?;
    made(srid, geometry.shape)
});
const X: Function = ft("st_x", 1, 1, double, get, FIRST);
const Y: Function = ft("st_y", 1, 1, double, get, SECOND);
const LAT: Function = ft("st_latitude", 1, 1, double, get, LATITUDE);
const LONG: Function = ft("st_longitude", 1, 1, double, get, LONGITUDE);
const WITH_X: Function = ft("st_x", 2, 2, any, set, FIRST);
const WITH_Y: Function = ft("st_y", 2, 2, any, set, SECOND);
const WITH_LAT: Function = ft("st_latitude", 2, 2, any, set, LATITUDE);
const WITH_LONG: Function = ft("st_longitude", 2, 2, any, set, LONGITUDE);

/// The getter of one argument, or the setter of two.
fn coordinate(
    args: Vec<Expr>,
    env: &crate::context::Environment,
    functions: &[&'static Function; 2],
) -> Result<Expr, SqlError> {
    super::super::bind_call(functions[args.len() - 1], args, env)
}

/// The point, its SRID and system, and whether the coordinate meant is `y` in memory.
fn one_point(a: &mut Args<'_, '_>) -> Result<(Coord, std::sync::Arc<Srs>, bool), Stop> {
    let geometry = a.geometry(0)?;
    let Shape::Point(at) = geometry.shape else {
        return Err(a.unexpected("POINT", &geometry.shape));
    };
    let system = a.system(geometry.srid)?;
    let second = match a.call.tag {
        LATITUDE | LONGITUDE => {
            if !system.is_geographic() {
                let args: [&dyn std::fmt::Display; 2] = [&a.call.name, &geometry.srid];
                return Err(error(ErrorCode::SrsNotGeographic, &args));
            }
            a.call.tag == LATITUDE
        }
        which => (which == SECOND) != system.swaps(),
    };
    Ok((at, system, second))
}

fn get(a: &mut Args<'_, '_>) -> FnResult {
    let (at, _, second) = one_point(a)?;
    Ok(Value::Double(if second { at.y } else { at.x }))
}

fn set(a: &mut Args<'_, '_>) -> FnResult {
    let (mut at, system, second) = one_point(a)?;
    let value = a.real(1)?;
    if second {
        at.y = value
    } else {
        at.x = value
    }
    a.check_coord(&system, at)?;
    made(system.srid, Shape::Point(at))
}

/// ST_StartPoint, ST_EndPoint and ST_PointN, by the call's tag.
fn point_of_line(a: &mut Args<'_, '_>) -> FnResult {
    let geometry = a.geometry(0)?;
    let Shape::LineString(path) = geometry.shape else { return Err(Stop::Null) };
    let at = match a.call.tag {
        1 => path.first(),
        -1 => path.last(),
        _ => {
            let number = usize::try_from(a.clamped(1)?).map_err(|_| Stop::Null)?;
            number.checked_sub(1).and_then(|at| path.get(at))
        }
    };
    made(geometry.srid, Shape::Point(*at.ok_or(Stop::Null)?))
}

/// ST_ExteriorRing and ST_InteriorRingN, by the call's tag.
fn ring(a: &mut Args<'_, '_>) -> FnResult {
    let geometry = a.geometry(0)?;
    let Shape::Polygon(rings) = geometry.shape else { return Err(Stop::Null) };
    let at = match a.call.tag {
        1 => 0,
        _ => usize::try_from(a.clamped(1)?).ok().filter(|at| *at > 0).ok_or(Stop::Null)?,
    };
    let path = rings.get(at).cloned().ok_or(Stop::Null)?;
    made(geometry.srid, Shape::LineString(path))
}

fn interior_rings(a: &mut Args<'_, '_>) -> FnResult {
    match a.geometry(0)?.shape {
        Shape::Polygon(rings) => Ok(Value::Int(rings.len() as i64 - 1)),
        _ => Err(Stop::Null),
    }
}

/// The members of a geometry that has some.
fn members(shape: Shape) -> Option<Vec<Shape>> {
    Some(match shape {
        Shape::MultiPoint(points) => points.into_iter().map(Shape::Point).collect(),
        Shape::MultiLineString(paths) => paths.into_iter().map(Shape::LineString).collect(),
        Shape::MultiPolygon(all) => all.into_iter().map(Shape::Polygon).collect(),
        Shape::Collection(members) => members,
        _ => return None,
    })
}

fn member(a: &mut Args<'_, '_>) -> FnResult {
    let geometry = a.geometry(0)?;
    let members = members(geometry.shape).ok_or(Stop::Null)?;
    let number = usize::try_from(a.clamped(1)?).map_err(|_| Stop::Null)?;
    let found = number.checked_sub(1).and_then(|at| members.get(at)).cloned();
    made(geometry.srid, found.ok_or(Stop::Null)?)
}
