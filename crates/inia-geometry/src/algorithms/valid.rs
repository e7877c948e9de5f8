//! Whether shapes are simple and valid.

use super::convert::geometry;
use super::plane::{ring_area, same_place, segments, shared};
use super::{guarded, scale_of, scaled};
use crate::shape::{Coord, Path, Rings, Shape};
use geo::Validation;

/// Whether a path is a ring with an area.
pub(super) fn is_ring(path: &Path) -> bool {
    path.len() >= 4 && path.first() == path.last() && ring_area(path) != 0.0
}

/// Whether no line meets itself but at its ends, and no point is there twice.
pub fn is_simple(shape: &Shape) -> bool {
    match shape {
        Shape::Point(_) => true,
        Shape::MultiPoint(points) => {
            let mut sorted: Vec<[u64; 2]> =
                points.iter().map(|at| [at.x.to_bits(), at.y.to_bits()]).collect();
            sorted.sort_unstable();
            sorted.windows(2).all(|pair| pair[0] != pair[1])
        }
        Shape::LineString(path) => are_simple(std::slice::from_ref(path)),
        Shape::MultiLineString(paths) => are_simple(paths),
        Shape::Polygon(rings) => rings.iter().all(|ring| are_simple(std::slice::from_ref(ring))),
        Shape::MultiPolygon(all) => {
            all.iter().flatten().all(|ring| are_simple(std::slice::from_ref(ring)))
        }
        Shape::Collection(members) => members.iter().all(is_simple),
    }
}

fn are_simple(paths: &[Path]) -> bool {
    let all: Vec<(usize, usize, (Coord, Coord))> = (0..)
        .zip(paths)
        .flat_map(|(number, path)| {
            let segments = segments(path).filter(|(a, b)| a != b).enumerate();
            segments.map(move |(at, segment)| (number, at, segment))
        })
        .collect();
    for (i, (path, at, segment)) in all.iter().enumerate() {
        for (other_path, other_at, other) in &all[i + 1..] {
            let points = shared(*segment, *other);
            let fine = match points.as_slice() {
                [] => true,
                [point] if path == other_path => {
                    let ends = &paths[*path];
                    let joined = at + 1 == *other_at && same_place(*point, segment.1);
                    let closed = ends.first() == ends.last()
                        && ends.first().is_some_and(|end| same_place(*end, *point))
                        && *at == 0;
                    joined || closed
                }
                [point] => {
                    let is_end = |path: &Path| {
                        let open = path.first() != path.last();
                        let ends = [path.first(), path.last()];
                        open && ends.into_iter().flatten().any(|end| same_place(*end, *point))
                    };
                    is_end(&paths[*path]) && is_end(&paths[*other_path])
                }
                _ => false,
            };
            if !fine {
                return false;
            }
        }
    }
    true
}

/// Whether the shape is what OGC calls valid.
pub fn is_valid(shape: &Shape) -> bool {
    let two = |path: &Path| path.iter().any(|at| *at != path[0]);
    match shape {
        Shape::Point(_) | Shape::MultiPoint(_) => true,
        Shape::LineString(path) => two(path),
        Shape::MultiLineString(paths) => paths.iter().all(two),
        Shape::Collection(members) => members.iter().all(is_valid),
        Shape::Polygon(rings) => has_areas(rings) && library_says(shape),
        Shape::MultiPolygon(all) => all.iter().all(has_areas) && library_says(shape),
    }
}

fn library_says(shape: &Shape) -> bool {
    let (factor, _) = scale_of(&[shape]);
    let shape = scaled(shape, factor);
    guarded(|| geometry(&shape).is_valid()) == Ok(true)
}

fn has_areas(rings: &Rings) -> bool {
    rings.iter().all(is_ring)
}
