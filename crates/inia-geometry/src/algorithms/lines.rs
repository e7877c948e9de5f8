//! Places along lines.

use crate::shape::{Coord, Path};

/// How a way from one point to another is measured and walked.
pub trait Walk {
    /// The distance of two points.
    fn distance(&self, from: Coord, to: Coord) -> f64;
    /// The point at a part of the way, from 0 to 1.
    fn between(&self, from: Coord, to: Coord, part: f64) -> Coord;
}

/// Straight ways in the plane.
pub struct Straight;

impl Walk for Straight {
    fn distance(&self, from: Coord, to: Coord) -> f64 {
        super::measure::straight(from, to)
    }

    fn between(&self, from: Coord, to: Coord, part: f64) -> Coord {
        Coord { x: from.x + part * (to.x - from.x), y: from.y + part * (to.y - from.y) }
    }
}

/// The point at a distance from a line's start; its end where the line is shorter.
pub fn point_at(path: &Path, distance: f64, walk: &dyn Walk) -> Option<Coord> {
    let mut rest = distance;
    for pair in path.windows(2) {
        let long = walk.distance(pair[0], pair[1]);
        if rest <= long && long > 0.0 {
            return Some(walk.between(pair[0], pair[1], (rest / long).max(0.0)));
        }
        rest -= long;
    }
    path.last().copied()
}

/// The points at each multiple of a distance along a line.
pub fn points_every(path: &Path, distance: f64, walk: &dyn Walk) -> Vec<Coord> {
    let mut found = Vec::new();
    let (mut next, mut passed) = (distance, 0.0);
    for pair in path.windows(2) {
        let long = walk.distance(pair[0], pair[1]);
        while long > 0.0 && next <= passed + long {
            found.push(walk.between(pair[0], pair[1], (next - passed) / long));
            next += distance;
        }
        passed += long;
    }
    found
}
