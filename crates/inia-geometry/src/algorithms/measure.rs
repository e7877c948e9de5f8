//! Lengths, areas, centres and hulls in the plane.

use super::plane::{cross, length, ring_area, segments};
use super::{scale_of, scaled};
use crate::shape::{Coord, Path, Rings, Shape};

/// The length of a path.
pub fn path_length(path: &Path, measure: &dyn Fn(Coord, Coord) -> f64) -> f64 {
    segments(path).map(|(a, b)| measure(a, b)).sum()
}

/// The distance of two points.
pub fn straight(a: Coord, b: Coord) -> f64 {
    length(a, b)
}

/// Whether a ring runs with the clock.
pub fn runs_clockwise(path: &Path) -> bool {
    ring_area(path) < 0.0
}

/// The area of polygons: a ring against the clock counts up.
pub fn area(polygons: &[Rings]) -> f64 {
    let of = |rings: &Rings| {
        let mut rings = rings.iter().map(|ring| (ring_area(ring) / 2.0).abs());
        rings.next().unwrap_or(0.0) - rings.sum::<f64>()
    };
    polygons.iter().map(of).sum()
}

/// The centre of the parts of the highest dimension; `None` where there is nothing.
pub fn centroid(shape: &Shape) -> Option<Coord> {
    let parts = shape.parts();
    if !parts.polygons.is_empty()
        && let Some(at) = of_polygons(&parts.polygons)
    {
        return Some(at);
    }
    let rings = parts.polygons.iter().flatten();
    let lines: Vec<&Path> = parts.lines.iter().chain(rings).collect();
    let all: f64 = lines.iter().map(|path| path_length(path, &straight)).sum();
    if all > 0.0 {
        let (mut x, mut y) = (0.0, 0.0);
        for (a, b) in lines.iter().flat_map(|path| segments(path)) {
            let long = length(a, b);
            x += long * (a.x + b.x) / 2.0;
            y += long * (a.y + b.y) / 2.0;
        }
        return Some(Coord { x: x / all, y: y / all });
    }
    let points: Vec<Coord> = match parts.points.is_empty() {
        false => parts.points,
        true => lines.iter().filter_map(|path| path.first().copied()).collect(),
    };
    let count = points.len() as f64;
    let sum = |of: fn(&Coord) -> f64| points.iter().map(of).sum::<f64>() / count;
    (count > 0.0).then(|| Coord { x: sum(|at| at.x), y: sum(|at| at.y) })
}

fn of_polygons(polygons: &[Rings]) -> Option<Coord> {
    let origin = polygons.first()?.first()?.first().copied()?;
    let (mut area, mut x, mut y) = (0.0, 0.0, 0.0);
    for rings in polygons {
        for (at, ring) in rings.iter().enumerate() {
            // Holes count down, whatever way they run.
            let positive = (ring_area(ring) >= 0.0) == (at == 0);
            let sign = if positive { 1.0 } else { -1.0 };
            for (a, b) in segments(ring) {
                let (a, b) = (minus(a, origin), minus(b, origin));
                let part = sign * (a.x * b.y - b.x * a.y);
                area += part;
                x += part * (a.x + b.x);
                y += part * (a.y + b.y);
            }
        }
    }
    (area != 0.0).then(|| Coord { x: origin.x + x / (3.0 * area), y: origin.y + y / (3.0 * area) })
}

fn minus(at: Coord, origin: Coord) -> Coord {
    Coord { x: at.x - origin.x, y: at.y - origin.y }
}

/// The smallest convex shape around all points: a polygon that runs against the clock from its
/// leftmost point, a line or a point. `None` where there are no points.
pub fn convex_hull(shape: &Shape) -> Option<Shape> {
    let (factor, back) = scale_of(&[shape]);
    hull_of(&scaled(shape, factor)).map(|hull| scaled(&hull, back))
}

fn hull_of(shape: &Shape) -> Option<Shape> {
    let mut points = Vec::new();
    shape.for_each(&mut |at| points.push(at));
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    points.dedup();
    if points.len() < 2 {
        return points.first().map(|at| Shape::Point(*at));
    }
    let half = |points: &mut dyn Iterator<Item = Coord>| {
        let mut hull: Path = Vec::new();
        for at in points {
            while let [.., a, b] = hull.as_slice()
                && cross(*a, *b, at) <= 0.0
            {
                hull.pop();
            }
            hull.push(at);
        }
        hull
    };
    let mut ring = half(&mut points.iter().copied());
    if ring.len() == 2 && half(&mut points.iter().rev().copied()).len() == 2 {
        return Some(Shape::LineString(ring));
    }
    ring.pop();
    ring.extend(half(&mut points.iter().rev().copied()));
    Some(Shape::Polygon(vec![ring]))
}
