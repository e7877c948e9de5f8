//! Lengths, areas and distances.

use super::error;
use crate::eval::{Args, FnResult, Stop};
use crate::func::types::double_null;
use crate::func::{Function, f};
use inia_base::error::ErrorCode;
use inia_geometry::geodesic::{Ellipsoid, SPHERE_RADIUS, on_sphere};
use inia_geometry::srs::SrsKind;
use inia_geometry::{Coord, Geometry, Shape, Srs, distance, measure, srs};

pub(in crate::func) const TABLE: &[Function] = &[
    f("st_length", 1, 2, double_null, length),
    f("st_area", 1, 1, double_null, area),
    f("st_distance", 2, 3, double_null, least_distance),
    f("st_distance_sphere", 2, 3, double_null, sphere),
    f("st_hausdorffdistance", 2, 3, double_null, hausdorff),
    f("st_frechetdistance", 2, 3, double_null, frechet),
];

impl Args<'_, '_> {
    /// A length in the unit that an argument names; errors 3882 and 3902.
    fn in_unit(&mut self, length: f64, system: &Srs, unit: usize) -> FnResult {
        let own = match system.kind {
            // Lengths on the ellipsoid are in metres.
            SrsKind::Geographic => 1.0,
            _ => system.unit,
        };
        if self.len() <= unit {
            return self.finite(length);
        }
        let name = self.text(unit)?;
        if system.kind == SrsKind::Plane {
            let args: [&dyn std::fmt::Display; 2] = [&self.call.name, &name];
            return Err(error(ErrorCode::GeometryInUnknownLengthUnit, &args));
        }
        let found = srs::UNITS.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name));
        let (_, factor) = found.ok_or_else(|| error(ErrorCode::UnitNotFound, &[&name]))?;
        self.finite(length * own / factor)
    }

    /// Makes NULL of a unit NULL before anything is computed.
    fn look_at_unit(&mut self, unit: usize) -> Result<(), Stop> {
        if self.len() > unit {
            self.value(unit)?;
        }
        Ok(())
    }
}

/// Measures two points as the system does.
fn with_measure<T>(system: &Srs, use_it: impl FnOnce(&dyn Fn(Coord, Coord) -> f64) -> T) -> T {
    if !system.is_geographic() {
        return use_it(&measure::straight);
    }
    let ellipsoid = Ellipsoid::of(system);
    use_it(&|from, to| ellipsoid.meters(from, to))
}

fn length(a: &mut Args<'_, '_>) -> FnResult {
    let geometry = a.geometry(0)?;
    a.look_at_unit(1)?;
    let system = a.system(geometry.srid)?;
    let paths = match &geometry.shape {
        Shape::LineString(path) => std::slice::from_ref(path),
        Shape::MultiLineString(paths) => paths.as_slice(),
        _ => return Err(Stop::Null),
    };
    a.check_shape(&system, &geometry.shape)?;
    let total = with_measure(&system, |measure| -> f64 {
        paths.iter().map(|path| measure::path_length(path, measure)).sum()
    });
    a.in_unit(total, &system, 1)
}

fn area(a: &mut Args<'_, '_>) -> FnResult {
    let geometry = a.geometry(0)?;
    let system = a.system(geometry.srid)?;
    let polygons = match &geometry.shape {
        Shape::Polygon(rings) => std::slice::from_ref(rings),
        Shape::MultiPolygon(all) => all.as_slice(),
        _ => return Err(a.unexpected("POLYGON/MULTIPOLYGON", &geometry.shape)),
    };
    a.check_shape(&system, &geometry.shape)?;
    if system.is_geographic() {
        return a.finite(Ellipsoid::of(&system).area(polygons));
    }
    a.finite(measure::area(polygons))
}

fn least_distance(a: &mut Args<'_, '_>) -> FnResult {
    let (first, second) = a.pair()?;
    a.look_at_unit(2)?;
    let system = a.system(first.srid)?;
    a.check_shape(&system, &first.shape)?;
    a.check_shape(&system, &second.shape)?;
    let found = match system.is_geographic() {
        true => Ellipsoid::of(&system).least(&first.shape, &second.shape),
        false => distance::least(&first.shape, &second.shape),
    };
    a.in_unit(found.ok_or(Stop::Null)?, &system, 2)
}

fn sphere(a: &mut Args<'_, '_>) -> FnResult {
    let (first, second) = a.pair()?;
    let system = a.system(first.srid)?;
    let radius = match a.len() {
        3 => a.real(2)?,
        _ if system.is_geographic() => mean_radius(&system),
        _ => SPHERE_RADIUS,
    };
    if radius <= 0.0 {
        return Err(error(ErrorCode::NonpositiveRadius, &[&a.call.name]));
    }
    if !matches!(system.kind, SrsKind::Plane | SrsKind::Geographic) {
        let shapes = [&first.shape, &second.shape];
        return Err(a.not_implemented(ErrorCode::NotImplementedForProjectedSrs, &shapes));
    }
    let code = match system.kind {
        SrsKind::Plane => ErrorCode::NotImplementedForCartesianSrs,
        _ => ErrorCode::NotImplementedForGeographicSrs,
    };
    let points = |shape: &Shape| match shape {
        Shape::Point(at) => Some(vec![*at]),
        Shape::MultiPoint(points) => Some(points.clone()),
        _ => None,
    };
    let (Some(left), Some(right)) = (points(&first.shape), points(&second.shape)) else {
        return Err(a.not_implemented(code, &[&first.shape, &second.shape]));
    };
    // Coordinates of the plane are degrees.
    let degrees = srs::find(srs::WGS84).unwrap_or_else(|| system.clone());
    for at in left.iter().chain(&right) {
        a.check_coord(if system.is_geographic() { &system } else { &degrees }, *at)?;
    }
    // `on_sphere` takes degrees.
    let scale = if system.is_geographic() { 180.0 / system.half_turn() } else { 1.0 };
    let degrees = |at: &Coord| Coord { x: at.x * scale, y: at.y * scale };
    let left: Vec<Coord> = left.iter().map(degrees).collect();
    let right: Vec<Coord> = right.iter().map(degrees).collect();
    let pairs = left.iter().flat_map(|from| right.iter().map(move |to| (*from, *to)));
    a.finite(pairs.map(|(from, to)| on_sphere(from, to, radius)).fold(f64::INFINITY, f64::min))
}

/// The mean of the ellipsoid's three half axes.
fn mean_radius(system: &Srs) -> f64 {
    let minor = system.semi_major * (1.0 - system.flattening());
    (2.0 * system.semi_major + minor) / 3.0
}

/// The points of each line, or of a set of points.
fn paths_of(shape: &Shape) -> Vec<Vec<Coord>> {
    if let Shape::MultiLineString(paths) = shape {
        return paths.clone();
    }
    let mut points = Vec::new();
    shape.for_each(&mut |at| points.push(at));
    vec![points]
}

/// Error 3704 or 3618 where the function is not defined for the sorts of geometry.
fn undefined(a: &Args<'_, '_>, system: &Srs, first: &Geometry, second: &Geometry) -> Stop {
    let code = match system.is_geographic() {
        true => ErrorCode::NotImplementedForGeographicSrs,
        false => ErrorCode::NotImplementedForCartesianSrs,
    };
    a.not_implemented(code, &[&first.shape, &second.shape])
}

fn hausdorff(a: &mut Args<'_, '_>) -> FnResult {
    use Shape::{LineString, MultiLineString, MultiPoint, Point};
    let (first, second) = a.pair()?;
    a.look_at_unit(2)?;
    let system = a.system(first.srid)?;
    let defined = matches!(
        (&first.shape, &second.shape),
        (Point(_) | MultiPoint(_), MultiPoint(_))
            | (MultiPoint(_), Point(_))
            | (LineString(_), LineString(_) | MultiLineString(_))
            | (MultiLineString(_), LineString(_) | MultiLineString(_))
    );
    if !defined {
        return Err(undefined(a, &system, &first, &second));
    }
    let (left, right) = (paths_of(&first.shape), paths_of(&second.shape));
    let found = with_measure(&system, |measure| {
        let pairs = left.iter().flat_map(|one| right.iter().map(move |other| (one, other)));
        pairs.map(|(one, other)| distance::hausdorff(one, other, measure)).fold(0.0, f64::max)
    });
    a.in_unit(found, &system, 2)
}

fn frechet(a: &mut Args<'_, '_>) -> FnResult {
    let (first, second) = a.pair()?;
    a.look_at_unit(2)?;
    let system = a.system(first.srid)?;
    let (Shape::LineString(left), Shape::LineString(right)) = (&first.shape, &second.shape) else {
        return Err(undefined(a, &system, &first, &second));
    };
    let found = with_measure(&system, |measure| distance::frechet(left, right, measure));
    a.in_unit(found, &system, 2)
}
