//! Lines with fewer points: the algorithm of Douglas and Peucker.

use super::distance::to_segment;
use super::valid::is_ring;
use crate::shape::{Path, Rings, Shape};

/// The shape without points that are nearer than `limit` to the lines without them; `None` where
/// nothing is left.
pub fn simplify(shape: &Shape, limit: f64) -> Option<Shape> {
    let polygon = |rings: &Rings| -> Option<Rings> {
        let mut rings = rings.iter().map(|ring| line(ring, limit)).filter(is_ring);
        let first = rings.next()?;
        Some(std::iter::once(first).chain(rings).collect())
    };
    Some(match shape {
        Shape::Point(_) | Shape::MultiPoint(_) => shape.clone(),
        Shape::LineString(path) => Shape::LineString(line(path, limit)),
        Shape::MultiLineString(paths) => {
            Shape::MultiLineString(paths.iter().map(|path| line(path, limit)).collect())
        }
        Shape::Polygon(rings) => Shape::Polygon(polygon(rings)?),
        Shape::MultiPolygon(all) => {
            let all: Vec<Rings> = all.iter().filter_map(polygon).collect();
            if all.is_empty() {
                return None;
            }
            Shape::MultiPolygon(all)
        }
        Shape::Collection(members) => {
            let members: Vec<Shape> = members.iter().filter_map(|m| simplify(m, limit)).collect();
            if members.is_empty() {
                return None;
            }
            Shape::Collection(members)
        }
    })
}

fn line(path: &Path, limit: f64) -> Path {
    if path.len() < 3 {
        return path.clone();
    }
    let mut kept = vec![false; path.len()];
    let last = path.len() - 1;
    (kept[0], kept[last]) = (true, true);
    let mut open = vec![(0, last)];
    while let Some((from, to)) = open.pop() {
        let mut farthest = (0, -1.0);
        for at in from + 1..to {
            let apart = to_segment(path[at], (path[from], path[to]));
            if apart > farthest.1 {
                farthest = (at, apart);
            }
        }
        if farthest.1 > limit {
            kept[farthest.0] = true;
            open.extend([(from, farthest.0), (farthest.0, to)]);
        }
    }
    path.iter().zip(kept).filter(|(_, kept)| *kept).map(|(at, _)| *at).collect()
}
