//! Distances, areas and ways on the ellipsoid of a geographic system.
//!
//! Distances are Andoyer's, which MySQL's are too; ways and areas are exact.

use crate::algorithms::distance;
use crate::algorithms::lines::Walk;
use crate::shape::{Coord, Parts, Path, Rings, Shape};
use crate::srs::Srs;
use geographiclib_rs::{DirectGeodesic, Geodesic, InverseGeodesic, PolygonArea, Winding};

/// The ellipsoid of a reference system.
pub struct Ellipsoid {
    semi_major: f64,
    flattening: f64,
    unit: f64,
    exact: Geodesic,
}

impl Ellipsoid {
    /// The ellipsoid that a geographic system is on.
    pub fn of(srs: &Srs) -> Ellipsoid {
        let (semi_major, flattening) = (srs.semi_major, srs.flattening());
        let exact = Geodesic::new(semi_major, flattening);
        Ellipsoid { semi_major, flattening, unit: srs.unit, exact }
    }

    fn degrees(&self, at: Coord) -> Coord {
        let factor = self.unit.to_degrees();
        // The units of the table are rounded.
        if (factor - 1.0).abs() < 1e-12 {
            return at;
        }
        Coord { x: at.x * factor, y: at.y * factor }
    }

    fn in_own_unit(&self, at: Coord) -> Coord {
        let factor = self.unit.to_degrees();
        if (factor - 1.0).abs() < 1e-12 {
            return at;
        }
        Coord { x: at.x / factor, y: at.y / factor }
    }

    /// The distance of two points in metres, by the formula of Andoyer (1932) in Lambert's form.
    pub fn meters(&self, from: Coord, to: Coord) -> f64 {
        if from == to {
            return 0.0;
        }
        let (from, to) = (self.degrees(from), self.degrees(to));
        let (lat1, lat2) = (from.y.to_radians(), to.y.to_radians());
        let (sin1, cos1) = lat1.sin_cos();
        let (sin2, cos2) = lat2.sin_cos();
        let along = (to.x - from.x).to_radians();
        let cos_d = (sin1 * sin2 + cos1 * cos2 * along.cos()).clamp(-1.0, 1.0);
        let d = cos_d.acos();
        let sin_d = d.sin();
        let (k, l) = ((sin1 - sin2).powi(2), (sin1 + sin2).powi(2));
        let part = |above: f64, below: f64| if below == 0.0 { 0.0 } else { above / below };
        let h = part(d + 3.0 * sin_d, 1.0 - cos_d);
        let g = part(d - 3.0 * sin_d, 1.0 + cos_d);
        let correction = -(self.flattening / 4.0) * (h * k + g * l);
        self.semi_major * (d + correction)
    }

    /// The area of polygons in square metres.
    pub fn area(&self, polygons: &[Rings]) -> f64 {
        let ring_area = |ring: &Path| {
            let mut sum = PolygonArea::new(&self.exact, Winding::CounterClockwise);
            for at in &ring[..ring.len().saturating_sub(1)] {
                let at = self.degrees(*at);
                sum.add_point(at.y, at.x);
            }
            sum.compute(true).1.abs()
        };
        let of = |rings: &Rings| {
            let mut areas = rings.iter().map(ring_area);
            areas.next().unwrap_or(0.0) - areas.sum::<f64>()
        };
        polygons.iter().map(of).sum()
    }

    /// The distance from a point to the next point of a way.
    fn to_segment(&self, at: Coord, (a, b): (Coord, Coord)) -> f64 {
        // The way is short enough to be unimodal: the least is found by golden section.
        const RATIO: f64 = 0.618_033_988_749_894_9;
        let ends = self.meters(at, a).min(self.meters(at, b));
        let line = |part: f64| self.meters(at, self.between(a, b, part));
        let (mut low, mut high) = (0.0, 1.0);
        let (mut x, mut y) = (1.0 - RATIO, RATIO);
        let (mut fx, mut fy) = (line(x), line(y));
        for _ in 0..80 {
            if fx < fy {
                (high, y, fy) = (y, x, fx);
                x = high - RATIO * (high - low);
                fx = line(x);
            } else {
                (low, x, fx) = (x, y, fy);
                y = low + RATIO * (high - low);
                fy = line(y);
            }
        }
        ends.min(fx).min(fy)
    }

    /// The least distance of two shapes in metres; `None` where one is empty.
    pub fn least(&self, first: &Shape, second: &Shape) -> Option<f64> {
        if distance::least(first, second)? == 0.0 {
            return Some(0.0);
        }
        let (a, b) = (paths(&first.parts()), paths(&second.parts()));
        let mut least = f64::INFINITY;
        for path in &a {
            for other in &b {
                least = least.min(self.between_paths(path, other));
            }
        }
        Some(least)
    }

    fn between_paths(&self, a: &Path, b: &Path) -> f64 {
        let one_way = |from: &Path, to: &Path| {
            let mut least = f64::INFINITY;
            for at in from {
                for pair in to.windows(2) {
                    least = least.min(self.to_segment(*at, (pair[0], pair[1])));
                }
            }
            least
        };
        match (a.as_slice(), b.as_slice()) {
            ([from], [to]) => self.meters(*from, *to),
            _ => one_way(a, b).min(one_way(b, a)),
        }
    }
}

fn paths(parts: &Parts) -> Vec<Path> {
    let points = parts.points.iter().map(|at| vec![*at]);
    points
        .chain(parts.lines.iter().cloned())
        .chain(parts.polygons.iter().flatten().cloned())
        .collect()
}

impl Walk for Ellipsoid {
    fn distance(&self, from: Coord, to: Coord) -> f64 {
        self.meters(from, to)
    }

    fn between(&self, from: Coord, to: Coord, part: f64) -> Coord {
        let (from, to) = (self.degrees(from), self.degrees(to));
        let (long, azimuth, _, _): (f64, f64, f64, f64) =
            self.exact.inverse(from.y, from.x, to.y, to.x);
        let (y, x): (f64, f64) = self.exact.direct(from.y, from.x, azimuth, long * part);
        self.in_own_unit(Coord { x, y })
    }
}

/// The radius of the sphere that ST_Distance_Sphere measures on, in metres.
pub const SPHERE_RADIUS: f64 = 6_370_986.0;

/// The distance of two points, in degrees, on a sphere.
pub fn on_sphere(from: Coord, to: Coord, radius: f64) -> f64 {
    let half = |a: f64, b: f64| ((b - a).to_radians() / 2.0).sin().powi(2);
    let cosines = from.y.to_radians().cos() * to.y.to_radians().cos();
    let square = half(from.y, to.y) + cosines * half(from.x, to.x);
    2.0 * square.sqrt().min(1.0).asin() * radius
}

/// A point of one system in another; `None` where that is not possible.
pub fn transform(at: Coord, from: &Srs, to: &Srs) -> Option<Coord> {
    use crate::srs::SrsKind;
    let geographic = match from.kind {
        SrsKind::Geographic => {
            let (east, north) = from.signs();
            let x = at.x * east + from.prime_meridian;
            Coord { x: x * from.unit, y: at.y * north * from.unit }
        }
        SrsKind::PseudoMercator => from_mercator(at, from),
        SrsKind::Plane | SrsKind::Projected => return None,
    };
    let shifted = shift(geographic, from, to);
    Some(match to.kind {
        SrsKind::Geographic => {
            let (east, north) = to.signs();
            let x = shifted.x / to.unit - to.prime_meridian;
            Coord { x: x * east, y: shifted.y / to.unit * north }
        }
        SrsKind::PseudoMercator => to_mercator(shifted, to),
        SrsKind::Plane | SrsKind::Projected => return None,
    })
}

/// EPSG's numbers of the parameters of Popular Visualisation Pseudo Mercator.
const CENTRAL_MERIDIAN: u32 = 8802;
const FALSE_EASTING: u32 = 8806;
const FALSE_NORTHING: u32 = 8807;

/// Metres, whatever the system's unit is, as in MySQL.
fn to_mercator(at: Coord, srs: &Srs) -> Coord {
    let x = at.x - srs.parameter(CENTRAL_MERIDIAN).to_radians();
    let y = (std::f64::consts::FRAC_PI_4 + at.y / 2.0).tan().ln();
    Coord {
        x: x * srs.semi_major + srs.parameter(FALSE_EASTING),
        y: y * srs.semi_major + srs.parameter(FALSE_NORTHING),
    }
}

fn from_mercator(at: Coord, srs: &Srs) -> Coord {
    let x = (at.x - srs.parameter(FALSE_EASTING)) / srs.semi_major;
    let y = (at.y - srs.parameter(FALSE_NORTHING)) / srs.semi_major;
    Coord {
        x: x + srs.parameter(CENTRAL_MERIDIAN).to_radians(),
        y: y.exp().atan() * 2.0 - std::f64::consts::FRAC_PI_2,
    }
}

/// Longitude and latitude in radians on another ellipsoid, by way of places in space.
fn shift(at: Coord, from: &Srs, to: &Srs) -> Coord {
    let none = [0.0; 7];
    let (first, second) = (from.to_wgs84.unwrap_or(none), to.to_wgs84.unwrap_or(none));
    let square = |srs: &Srs| srs.flattening() * (2.0 - srs.flattening());
    // GRS 80 and WGS 84 count as one ellipsoid.
    let same = first == second
        && from.semi_major == to.semi_major
        && (square(from) - square(to)).abs() < 5e-11;
    if same {
        return at;
    }
    let place = turned(in_space(at, from), &first, 1.0);
    on_ellipsoid(turned(place, &second, -1.0), to)
}

fn in_space(at: Coord, srs: &Srs) -> [f64; 3] {
    let f = srs.flattening();
    let eccentric = f * (2.0 - f);
    let (sin, cos) = at.y.sin_cos();
    let n = srs.semi_major / (1.0 - eccentric * sin * sin).sqrt();
    [n * cos * at.x.cos(), n * cos * at.x.sin(), n * (1.0 - eccentric) * sin]
}

fn on_ellipsoid([x, y, z]: [f64; 3], srs: &Srs) -> Coord {
    let f = srs.flattening();
    let eccentric = f * (2.0 - f);
    let p = x.hypot(y);
    let mut latitude = (z / (p * (1.0 - eccentric))).atan();
    for _ in 0..20 {
        let sin = latitude.sin();
        let n = srs.semi_major / (1.0 - eccentric * sin * sin).sqrt();
        latitude = ((z + eccentric * n * sin) / p).atan();
    }
    Coord { x: y.atan2(x), y: latitude }
}

/// The change between a datum and WGS 84: three shifts, three turns in arc seconds, one scale in
/// parts of a million.
fn turned([x, y, z]: [f64; 3], by: &[f64; 7], direction: f64) -> [f64; 3] {
    let turn = |at: usize| (by[at] / 3600.0).to_radians();
    let (rx, ry, rz) = (turn(3), turn(4), turn(5));
    let scale = 1.0 + by[6] * 1e-6;
    if direction > 0.0 {
        return [
            scale * (x - rz * y + ry * z) + by[0],
            scale * (rz * x + y - rx * z) + by[1],
            scale * (-ry * x + rx * y + z) + by[2],
        ];
    }
    let (x, y, z) = ((x - by[0]) / scale, (y - by[1]) / scale, (z - by[2]) / scale);
    [x + rz * y - ry * z, -rz * x + y + rx * z, ry * x - rx * y + z]
}
