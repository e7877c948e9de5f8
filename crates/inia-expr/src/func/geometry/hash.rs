//! Geohashes.

use super::{error, made};
use crate::context::Environment;
use crate::eval::{Args, FnResult, Stop};
use crate::func::types::any_null;
use crate::func::{Function, f, ft};
use crate::tree::Expr;
use crate::ty::ExprType;
use inia_base::datatype::GeometryKind;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_geometry::geohash::{decode, encode, shortest};
use inia_geometry::{Coord, Shape};

/// Letters of a hash at most.
const MAX_LETTERS: i64 = 100;

pub(in crate::func) const TABLE: &[Function] = &[
    f("st_geohash", 2, 3, hash_type, hash),
    ft("st_latfromgeohash", 1, 1, number_type, coordinate, 1),
    ft("st_longfromgeohash", 1, 1, number_type, coordinate, 0),
    f("st_pointfromgeohash", 2, 2, point_type, to_point),
];

fn hash_type(args: &mut [Expr], env: &Environment) -> Result<ExprType, SqlError> {
    let letters = MAX_LETTERS as u64;
    Ok(ExprType::text(letters, env.collation, any_null(args)))
}

fn number_type(args: &mut [Expr], _: &Environment) -> Result<ExprType, SqlError> {
    Ok(ExprType::double(any_null(args)))
}

fn point_type(args: &mut [Expr], _: &Environment) -> Result<ExprType, SqlError> {
    Ok(ExprType::geometry(GeometryKind::Point).with_nullable(any_null(args)))
}

fn hash(a: &mut Args<'_, '_>) -> FnResult {
    let (at, letters) = match a.len() {
        2 => {
            let geometry = a.raw_geometry(0)?;
            if geometry.srid != 0 && geometry.srid != 4326 {
                return Err(error(ErrorCode::OnlyImplementedForSrid0And4326, &[&a.call.name]));
            }
            let Shape::Point(at) = geometry.shape else {
                return Err(error(ErrorCode::IncorrectType, &[&"point", &a.call.name]));
            };
            (at, 1)
        }
        _ => (Coord { x: a.real(0)?, y: a.real(1)? }, 2),
    };
    let letters = a.clamped(letters)?;
    if !(-180.0..=180.0).contains(&at.x) {
        return Err(a.beyond("longitude"));
    }
    if !(-90.0..=90.0).contains(&at.y) {
        return Err(a.beyond("latitude"));
    }
    if !(1..=MAX_LETTERS).contains(&letters) {
        return Err(a.beyond("max geohash length"));
    }
    Ok(Value::Text(encode(at, letters as usize)))
}

/// The corners of the hash that an argument is; error 1411.
fn corners(a: &mut Args<'_, '_>) -> Result<(Coord, Coord), Stop> {
    let text = a.text(0)?;
    decode(&text).ok_or_else(|| {
        let name = a.call.name.to_ascii_uppercase();
        let args: [&dyn std::fmt::Display; 3] = [&"geohash", &text, &name];
        Stop::Error(SqlError::new(ErrorCode::WrongValueForType, &args))
    })
}

fn coordinate(a: &mut Args<'_, '_>) -> FnResult {
    let (low, high) = corners(a)?;
    Ok(Value::Double(match a.call.tag {
        1 => shortest(low.y, high.y),
        _ => shortest(low.x, high.x),
    }))
}

fn to_point(a: &mut Args<'_, '_>) -> FnResult {
    let (low, high) = corners(a)?;
    let srid = a.srid(1)?;
    a.system(srid)?;
    let at = Coord { x: shortest(low.x, high.x), y: shortest(low.y, high.y) };
    made(srid, Shape::Point(at))
}
