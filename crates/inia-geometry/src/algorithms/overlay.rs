//! Set operations of shapes in the plane.
//!
//! Each shape is taken apart into points, lines and polygons, and the result is put together of
//! what is computed for each pair of dimensions. Polygons are overlaid by the library, whose
//! results lie on a grid; their points are moved to the exact places where borders meet.

use super::convert::{polygons, rings};
use super::plane::{self, Side, place_on, same_place, segments, shared, side_of};
use super::{Failed, guarded, scale_of, scaled};
use crate::shape::{Coord, Parts, Path, Rings, Shape};
use geo::{BooleanOps, OpType};
use std::collections::HashMap;

/// A set operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// What is in both.
    Intersection,
    /// What is in one.
    Union,
    /// What is in the first only.
    Difference,
    /// What is in one only.
    SymDifference,
}

/// The result of a set operation; a collection of nothing where it is empty.
pub fn overlay(operation: Operation, first: &Shape, second: &Shape) -> Result<Shape, Failed> {
    let (factor, back) = scale_of(&[first, second]);
    let (first, second) = (scaled(first, factor), scaled(second, factor));
    let found = guarded(|| combined(operation, &first, &second))?;
    Ok(scaled(&found, back))
}

fn combined(operation: Operation, first: &Shape, second: &Shape) -> Shape {
    let (a, b) = (united(first.parts()), united(second.parts()));
    let parts = match operation {
        Operation::Intersection => intersection(&a, &b),
        Operation::Difference => difference(&a, &b),
        Operation::Union => union(a, b),
        Operation::SymDifference => {
            let (mut left, mut right) = (difference(&a, &b), difference(&b, &a));
            start_low(&mut left, &a, &b);
            start_low(&mut right, &a, &b);
            Parts {
                points: [left.points, right.points].concat(),
                lines: [left.lines, right.lines].concat(),
                polygons: [left.polygons, right.polygons].concat(),
            }
        }
    };
    collected(parts)
}

/// The parts as one geometry; those of different dimensions, polygons first, in a collection.
fn collected(parts: Parts) -> Shape {
    let Parts { points, lines, polygons } = &parts;
    let kinds = [points.is_empty(), lines.is_empty(), polygons.is_empty()];
    if kinds.iter().filter(|empty| !**empty).count() < 2 {
        return parts.into_shape();
    }
    let polygons = parts.polygons.into_iter().map(Shape::Polygon);
    let lines = parts.lines.into_iter().map(Shape::LineString);
    let points = parts.points.into_iter().map(Shape::Point);
    Shape::Collection(polygons.chain(lines).chain(points).collect())
}

/// Parts without what others of them cover: polygons that overlap become one.
fn united(parts: Parts) -> Parts {
    let Parts { points, lines, polygons: all } = parts;
    if points.is_empty() && all.is_empty() && lines.len() < 2 {
        return Parts { points, lines, polygons: all };
    }
    let mut known = Parts::default();
    for rings in all {
        known.polygons = match known.polygons.is_empty() {
            true => vec![rings],
            false => areas(OpType::Union, &known.polygons, &[rings]),
        };
    }
    if known.polygons.is_empty() {
        known.lines = lines;
    } else {
        known.lines = lines.iter().flat_map(|line| cut(line, &known, false)).collect();
    }
    for at in points {
        if !covers(&known, at) {
            known.points.push(at);
        }
    }
    known
}

fn union(a: Parts, b: Parts) -> Parts {
    let polygons = match (a.polygons.is_empty(), b.polygons.is_empty()) {
        (true, _) => b.polygons.clone(),
        (_, true) => a.polygons.clone(),
        _ => areas(OpType::Union, &a.polygons, &b.polygons),
    };
    let own = Parts { polygons: polygons.clone(), ..Parts::default() };
    let mut lines: Vec<Path> = match polygons.is_empty() {
        true => a.lines.clone(),
        false => a.lines.iter().flat_map(|line| cut(line, &own, false)).collect(),
    };
    let known = Parts { lines: a.lines.clone(), ..own };
    lines.extend(b.lines.iter().flat_map(|line| cut(line, &known, false)));
    let mut all = Parts { polygons, lines, points: Vec::new() };
    for at in a.points.into_iter().chain(b.points) {
        if !covers(&all, at) {
            all.points.push(at);
        }
    }
    all
}

fn difference(a: &Parts, b: &Parts) -> Parts {
    let polygons = match b.polygons.is_empty() || a.polygons.is_empty() {
        true => a.polygons.clone(),
        false => areas(OpType::Difference, &a.polygons, &b.polygons),
    };
    let lines = a.lines.iter().flat_map(|line| cut(line, b, false)).collect();
    let points = a.points.iter().copied().filter(|at| !covers(b, *at)).collect();
    Parts { points, lines, polygons }
}

fn intersection(a: &Parts, b: &Parts) -> Parts {
    let mut found = Parts::default();
    if !a.polygons.is_empty() && !b.polygons.is_empty() {
        found.polygons = areas(OpType::Intersection, &a.polygons, &b.polygons);
    }
    let borders =
        |parts: &Parts| -> Vec<Path> { parts.polygons.iter().flatten().cloned().collect() };
    let (left, right) = (borders(a), borders(b));
    // Lines of one in the other, and borders that lie on one another.
    let on_border = Parts { lines: right.clone(), ..Parts::default() };
    let mut lines: Vec<Path> = a.lines.iter().flat_map(|line| cut(line, b, true)).collect();
    lines.extend(b.lines.iter().flat_map(|line| {
        let own = Parts { polygons: a.polygons.clone(), ..Parts::default() };
        cut(line, &own, true)
    }));
    lines.extend(left.iter().flat_map(|ring| cut(ring, &on_border, true)));
    found.lines = lines.iter().flat_map(|line| cut(line, &found, false)).collect();
    // Points of one in the other, and those where lines and borders meet.
    let mut points: Vec<Coord> = Vec::new();
    points.extend(a.points.iter().filter(|at| covers(b, **at)));
    points.extend(b.points.iter().filter(|at| covers(a, **at)));
    for one in a.lines.iter().chain(&left).flat_map(segments) {
        for other in b.lines.iter().chain(&right).flat_map(segments) {
            points.extend(shared(one, other));
        }
    }
    for at in points {
        if !covers(&found, at) {
            found.points.push(at);
        }
    }
    found
}

/// Whether a point is one of the parts' points.
fn covers(parts: &Parts, at: Coord) -> bool {
    parts.polygons.iter().any(|rings| side_of(at, rings) != Side::Outside)
        || parts.lines.iter().flat_map(segments).any(|segment| plane::on_segment(at, segment))
        || parts.points.iter().any(|other| same_place(*other, at))
}

/// The pieces of a line that the parts' lines and polygons cover, or those they do not.
fn cut(line: &Path, parts: &Parts, covered: bool) -> Vec<Path> {
    let others: Vec<(Coord, Coord)> =
        parts.lines.iter().chain(parts.polygons.iter().flatten()).flat_map(segments).collect();
    let solid = Parts { points: Vec::new(), ..parts.clone() };
    let mut pieces: Vec<Path> = Vec::new();
    let mut joined = false;
    for segment in segments(line) {
        let mut places = vec![segment.0, segment.1];
        for other in &others {
            places.extend(shared(segment, *other));
        }
        places.sort_by(|a, b| place_on(*a, segment).total_cmp(&place_on(*b, segment)));
        places.dedup_by(|a, b| same_place(*a, *b));
        for pair in places.windows(2) {
            let middle =
                Coord { x: (pair[0].x + pair[1].x) / 2.0, y: (pair[0].y + pair[1].y) / 2.0 };
            if covers(&solid, middle) != covered {
                joined = false;
                continue;
            }
            match pieces.last_mut() {
                Some(piece) if joined => {
                    // A place on the way that is no point of the line is left out.
                    if pair[0] != segment.0 && piece.len() > 1 {
                        piece.pop();
                    }
                    piece.push(pair[1]);
                }
                _ => pieces.push(vec![pair[0], pair[1]]),
            }
            joined = true;
        }
    }
    pieces
}

/// An operation on polygons.
fn areas(operation: OpType, a: &[Rings], b: &[Rings]) -> Vec<Rings> {
    let mut found = rings(&polygons(a).boolean_op(&polygons(b), operation));
    let exact = Places::of(a, b);
    for polygon in &mut found {
        for ring in polygon.iter_mut() {
            exact.straighten(ring);
        }
        polygon.retain(|ring| ring.len() >= 4);
        for (at, ring) in polygon.iter_mut().enumerate() {
            exact.start(ring, at == 0, false);
        }
    }
    found.retain(|polygon| !polygon.is_empty());
    found
}

/// Lets rings start at the lowest place where borders meet.
fn start_low(parts: &mut Parts, a: &Parts, b: &Parts) {
    let places = Places::of(&a.polygons, &b.polygons);
    for (at, ring) in parts.polygons.iter_mut().flat_map(|rings| rings.iter_mut().enumerate()) {
        places.start(ring, at == 0, true);
    }
}

/// More pairs of segments than this are not searched for where they meet.
const MAX_PAIRS: usize = 1_000_000;

/// The points that borders have and where they meet.
struct Places {
    /// By the cell of a grid that is much finer than what the points are apart.
    cells: HashMap<(i64, i64), Coord>,
    size: f64,
    meetings: Vec<Coord>,
}

impl Places {
    fn of(a: &[Rings], b: &[Rings]) -> Places {
        let left: Vec<(Coord, Coord)> = a.iter().flatten().flat_map(segments).collect();
        let right: Vec<(Coord, Coord)> = b.iter().flatten().flat_map(segments).collect();
        let mut meetings = Vec::new();
        if left.len().saturating_mul(right.len()) <= MAX_PAIRS {
            for one in &left {
                for other in &right {
                    meetings.extend(shared(*one, *other));
                }
            }
        }
        let far = |at: &Coord| at.x.abs().max(at.y.abs());
        let corners: Vec<Coord> = left.iter().chain(&right).map(|(from, _)| *from).collect();
        let scale = corners.iter().map(far).fold(1e-300, f64::max);
        let size = scale * 4e-9;
        let mut places = Places { cells: HashMap::new(), size, meetings };
        for at in places.meetings.clone().into_iter().chain(corners) {
            let cell = places.cell(at);
            places.cells.insert(cell, at);
        }
        places
    }

    fn cell(&self, at: Coord) -> (i64, i64) {
        ((at.x / self.size).round() as i64, (at.y / self.size).round() as i64)
    }

    /// Moves a ring's points to the places that they stand for.
    fn straighten(&self, ring: &mut Path) {
        for at in ring.iter_mut() {
            let (x, y) = self.cell(*at);
            let near = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (x + dx, y + dy)));
            if let Some(exact) = near.filter_map(|cell| self.cells.get(&cell)).next() {
                *at = *exact;
            }
        }
        ring.dedup();
    }

    /// Lets a ring start where borders meet, at the leftmost or lowest such place; the outer one
    /// runs against the clock.
    fn start(&self, ring: &mut Path, outer: bool, low: bool) {
        if (plane::ring_area(ring) > 0.0) != outer {
            ring.reverse();
        }
        ring.pop();
        let meets = |at: &Coord| self.meetings.contains(at);
        let leftmost = |(_, a): &(usize, &Coord), (_, b): &(usize, &Coord)| {
            let (first, second) = (a.x.total_cmp(&b.x), a.y.total_cmp(&b.y));
            if low { second.then(first) } else { first.then(second) }
        };
        let met = ring.iter().enumerate().filter(|(_, at)| meets(at)).min_by(leftmost);
        let first = met.or_else(|| ring.iter().enumerate().min_by(leftmost));
        if let Some((first, _)) = first {
            ring.rotate_left(first);
        }
        if let Some(first) = ring.first().copied() {
            ring.push(first);
        }
    }
}
