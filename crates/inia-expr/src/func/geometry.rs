//! Functions of geometries, and how they read their arguments.

mod construct;
mod geojson;
mod hash;
mod measure;
mod operators;
mod options;
mod properties;
mod relations;
mod text;

use crate::context::Environment;
use crate::eval::{Args, FnResult, Stop};
use crate::number;
use crate::tree::Expr;
use crate::ty::ExprType;
use inia_base::datatype::GeometryKind;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_geometry::{Coord, Geometry, Shape, Srs, from_internal, srs, to_internal};
use std::sync::Arc;

pub(super) use construct::TABLE as CONSTRUCTORS;
pub(super) use geojson::TABLE as GEOJSON;
pub(crate) use geojson::to_json;
pub(super) use hash::TABLE as HASHES;
pub(super) use measure::TABLE as MEASURES;
pub(super) use operators::TABLE as OPERATORS;
pub(super) use properties::TABLE as PROPERTIES;
pub(super) use relations::TABLE as RELATIONS;
pub(super) use text::TABLE as TEXTS;
pub(crate) use text::cast;

/// Whether the function takes no geometries: those of numbers, dates and the greatest value.
pub(super) fn is_refused(function: &super::Function) -> bool {
    let is = |other: &super::Function| other.name == function.name;
    super::numeric::TABLE.iter().any(is)
        || super::datetime::TABLE.iter().any(is)
        || super::timefn::TABLE.iter().any(is)
        || matches!(function.name, "greatest" | "least")
}

/// The type of results that may be any geometry.
fn any(_: &mut [Expr], _: &Environment) -> Result<ExprType, SqlError> {
    Ok(ExprType::geometry(GeometryKind::Geometry))
}

/// POINT.
fn point(_: &mut [Expr], _: &Environment) -> Result<ExprType, SqlError> {
    Ok(ExprType::geometry(GeometryKind::Point))
}

/// POLYGON.
fn polygon(_: &mut [Expr], _: &Environment) -> Result<ExprType, SqlError> {
    Ok(ExprType::geometry(GeometryKind::Polygon))
}

/// A finished geometry.
fn made(srid: u32, shape: Shape) -> FnResult {
    Ok(Value::Bytes(to_internal(&Geometry { srid, shape })))
}

fn error(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Stop {
    Stop::Error(SqlError::new(code, args))
}

/// A coordinate as texts have it.
fn number(value: f64) -> String {
    number::double_in(value, 30)
}

impl Args<'_, '_> {
    /// Error 3037.
    fn invalid(&self) -> Stop {
        error(ErrorCode::GisInvalidData, &[&self.call.name])
    }

    /// Error 3036: the geometries are too unusual to be computed with.
    fn failed(&self) -> Stop {
        error(ErrorCode::GisUnknownException, &[&self.call.name])
    }

    /// Error 1690 of an argument that has a name.
    fn beyond(&self, what: &str) -> Stop {
        error(ErrorCode::DataOutOfRange, &[&what, &self.call.name])
    }

    /// Error 1210.
    fn wrong_arguments(&self) -> Stop {
        error(ErrorCode::WrongArguments, &[&self.call.name])
    }

    /// Error 3516: `what` is not the sort of geometry that the function takes.
    fn unexpected(&self, what: &str, shape: &Shape) -> Stop {
        let kind = shape.kind().name();
        error(ErrorCode::UnexpectedGeometryType, &[&what, &kind, &self.call.name])
    }

    /// A geometry, whose reference system may be unknown; error 3037.
    fn raw_geometry(&mut self, i: usize) -> Result<Geometry, Stop> {
        let bytes = self.bytes(i)?;
        from_internal(&bytes).ok_or_else(|| self.invalid())
    }

    /// A geometry; errors 3037 and 3548.
    fn geometry(&mut self, i: usize) -> Result<Geometry, Stop> {
        let geometry = self.raw_geometry(i)?;
        if geometry.srid != 0 {
            self.system(geometry.srid)?;
        }
        Ok(geometry)
    }

    /// Two geometries of one reference system; errors 3037, 3033 and 3548.
    fn pair(&mut self) -> Result<(Geometry, Geometry), Stop> {
        let (first, second) = (self.bytes(0)?, self.bytes(1)?);
        let invalid = || self.invalid();
        let first = from_internal(&first).ok_or_else(invalid)?;
        let second = from_internal(&second).ok_or_else(invalid)?;
        if first.srid != second.srid {
            let args: [&dyn std::fmt::Display; 3] = [&self.call.name, &first.srid, &second.srid];
            return Err(error(ErrorCode::GisDifferentSrids, &args));
        }
        if first.srid != 0 {
            self.system(first.srid)?;
        }
        Ok((first, second))
    }

    /// A reference system; error 3548.
    fn system(&self, srid: u32) -> Result<Arc<Srs>, Stop> {
        self.known_system(srid).ok_or_else(|| error(ErrorCode::SrsNotFound, &[&srid]))
    }

    /// A reference system, where there is one.
    fn known_system(&self, srid: u32) -> Option<Arc<Srs>> {
        match srid {
            0 => srs::find(srid),
            _ => self.ctx.host.reference_system(srid),
        }
    }

    /// An SRID argument; error 1690.
    fn srid(&mut self, i: usize) -> Result<u32, Stop> {
        let wide = self.wide(i)?;
        u32::try_from(wide).map_err(|_| self.beyond("SRID"))
    }

    /// Error 3618 where the system is geographic: `shapes` names the arguments' sorts.
    fn only_cartesian(&self, system: &Srs, shapes: &[&Shape]) -> Result<(), Stop> {
        if system.is_geographic() {
            return Err(self.not_implemented(ErrorCode::NotImplementedForGeographicSrs, shapes));
        }
        Ok(())
    }

    /// Errors 3618, 3704 and 3705.
    fn not_implemented(&self, code: ErrorCode, shapes: &[&Shape]) -> Stop {
        let kinds: Vec<&str> = shapes.iter().map(|shape| shape.kind().name()).collect();
        error(code, &[&self.call.name, &kinds.join(", ")])
    }

    /// Errors 3616 and 3617: a written coordinate is none of a geographic system.
    fn check_coord(&self, system: &Srs, at: Coord) -> Result<(), Stop> {
        let codes = (ErrorCode::LongitudeOutOfRange, ErrorCode::LatitudeOutOfRange);
        self.check_range(system, at, codes)
    }

    fn check_range(
        &self,
        system: &Srs,
        at: Coord,
        (longitude, latitude): (ErrorCode, ErrorCode),
    ) -> Result<(), Stop> {
        if !system.is_geographic() {
            return Ok(());
        }
        let half = system.half_turn();
        let name = self.call.name;
        let shown = |value: f64| format!("{value:.6}");
        // MySQL shows the value before the function's name in 3616, after it in 3731.
        let fail = |code: ErrorCode, value: f64, limit: f64| {
            let (value, low, high) = (shown(value), shown(-limit), shown(limit));
            let first = [ErrorCode::LongitudeOutOfRange, ErrorCode::LatitudeOutOfRange];
            match first.contains(&code) {
                true => error(code, &[&value, &name, &low, &high]),
                false => error(code, &[&name, &value, &low, &high]),
            }
        };
        if at.x < -half || at.x > half {
            return Err(fail(longitude, at.x, half));
        }
        if !(-half / 2.0..=half / 2.0).contains(&at.y) {
            return Err(fail(latitude, at.y, half / 2.0));
        }
        Ok(())
    }

    /// Errors 3731 and 3732: a geometry has coordinates that its geographic system has not.
    fn check_shape(&self, system: &Srs, shape: &Shape) -> Result<(), Stop> {
        if !system.is_geographic() {
            return Ok(());
        }
        let codes = (
            ErrorCode::GeometryParamLongitudeOutOfRange,
            ErrorCode::GeometryParamLatitudeOutOfRange,
        );
        let mut outcome = Ok(());
        shape.for_each(&mut |at| {
            if outcome.is_ok() {
                outcome = self.check_range(system, at, codes);
            }
        });
        outcome
    }
}
