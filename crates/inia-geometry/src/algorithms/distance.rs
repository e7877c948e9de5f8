//! Distances in the plane.

use super::plane::{Side, length, place_on, segments, shared, side_of};
use crate::shape::{Coord, Parts, Path, Shape};

/// The least distance of two shapes; `None` where one is empty.
pub fn least(first: &Shape, second: &Shape) -> Option<f64> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let (a, b) = (first.parts(), second.parts());
    if inside(&a, &b) || inside(&b, &a) {
        return Some(0.0);
    }
    let (left, right) = (paths(&a), paths(&b));
    let mut least = f64::INFINITY;
    for path in &left {
        for other in &right {
            least = least.min(between_paths(path, other));
        }
    }
    Some(least)
}

/// Whether a part of the first begins in a polygon of the second.
fn inside(a: &Parts, b: &Parts) -> bool {
    let starts = a.points.iter().copied();
    let starts = starts.chain(a.lines.iter().filter_map(|path| path.first().copied()));
    let rings = a.polygons.iter().filter_map(|rings| rings.first()?.first().copied());
    starts.chain(rings).any(|at| b.polygons.iter().any(|p| side_of(at, p) != Side::Outside))
}

/// Points as paths of one point, lines and rings.
fn paths(parts: &Parts) -> Vec<Path> {
    let points = parts.points.iter().map(|at| vec![*at]);
    let lines = parts.lines.iter().cloned();
    points.chain(lines).chain(parts.polygons.iter().flatten().cloned()).collect()
}

fn between_paths(a: &Path, b: &Path) -> f64 {
    match (a.as_slice(), b.as_slice()) {
        ([from], [to]) => length(*from, *to),
        ([at], _) => segments(b).map(|s| to_segment(*at, s)).fold(f64::INFINITY, f64::min),
        (_, [at]) => segments(a).map(|s| to_segment(*at, s)).fold(f64::INFINITY, f64::min),
        _ => {
            let mut least = f64::INFINITY;
            for one in segments(a) {
                for other in segments(b) {
                    if !shared(one, other).is_empty() {
                        return 0.0;
                    }
                    let ends = [
                        to_segment(one.0, other),
                        to_segment(one.1, other),
                        to_segment(other.0, one),
                        to_segment(other.1, one),
                    ];
                    least = ends.into_iter().fold(least, f64::min);
                }
            }
            least
        }
    }
}

/// The point of a segment that is next to a point.
pub fn nearest(at: Coord, (a, b): (Coord, Coord)) -> Coord {
    let along = place_on(at, (a, b));
    if along <= 0.0 {
        return a;
    }
    if along >= 1.0 {
        return b;
    }
    Coord { x: a.x + along * (b.x - a.x), y: a.y + along * (b.y - a.y) }
}

pub(super) fn to_segment(at: Coord, segment: (Coord, Coord)) -> f64 {
    length(at, nearest(at, segment))
}

/// How points are measured from one another.
pub type Measure<'m> = &'m dyn Fn(Coord, Coord) -> f64;

/// The greatest of the distances from a point of one shape to the next point of the other.
pub fn hausdorff(first: &[Coord], second: &[Coord], measure: Measure<'_>) -> f64 {
    let next = |at: &Coord| second.iter().map(|to| measure(*at, *to)).fold(f64::INFINITY, f64::min);
    first.iter().map(next).fold(0.0, f64::max)
}

/// The shortest leash for two walks along the points of two lines.
pub fn frechet(first: &Path, second: &Path, measure: Measure<'_>) -> f64 {
    let mut row: Vec<f64> = Vec::with_capacity(second.len());
    for (i, from) in first.iter().enumerate() {
        let mut diagonal = f64::INFINITY;
        for (j, to) in second.iter().enumerate() {
            let here = measure(*from, *to);
            let above = if i > 0 { row[j] } else { f64::INFINITY };
            let left = if j > 0 { row[j - 1] } else { f64::INFINITY };
            let before = if i == 0 && j == 0 { 0.0 } else { above.min(left).min(diagonal) };
            diagonal = above;
            let value = here.max(before);
            if i > 0 { row[j] = value } else { row.push(value) }
        }
    }
    row.last().copied().unwrap_or(0.0)
}
