//! Buffers: all points within a distance of a shape.

use super::convert::{geometry, rings};
use super::{Failed, guarded, scale_of, scaled};
use crate::shape::{Coord, Parts, Rings, Shape};
use geo::{
    BooleanOps, Buffer, MultiPolygon, buffer::BufferStyle, buffer::LineCap, buffer::LineJoin,
};
use std::f64::consts::PI;

/// How the ends, corners and points of shapes are buffered.
#[derive(Clone, Copy, Debug)]
pub struct Strategy {
    /// Points around a point; `None` for a square.
    pub point: Option<u32>,
    /// Points of a whole turn around a line's end; `None` for a flat end.
    pub end: Option<u32>,
    /// A corner.
    pub join: Join,
}

/// How a corner is buffered.
#[derive(Clone, Copy, Debug)]
pub enum Join {
    /// By an arc, so many points of which make a whole turn.
    Round(u32),
    /// By the continued sides, no farther than so many distances.
    Miter(f64),
}

/// Points of a whole turn where nothing is said of it.
const POINTS: u32 = 32;

impl Default for Strategy {
    fn default() -> Strategy {
        Strategy { point: Some(POINTS), end: Some(POINTS), join: Join::Round(POINTS) }
    }
}

/// The buffer of a shape: polygons, perhaps none.
pub fn buffer(shape: &Shape, distance: f64, strategy: &Strategy) -> Result<Vec<Rings>, Failed> {
    if let Shape::Point(at) = shape {
        return Ok(vec![around(*at, distance, strategy)]);
    }
    let reach = Shape::Point(Coord { x: distance, y: distance });
    let (factor, back) = scale_of(&[shape, &reach]);
    let shape = scaled(shape, factor);
    let mut found = guarded(|| of_parts(&shape, distance * factor, strategy))?;
    for at in found.iter_mut().flatten().flatten() {
        (at.x, at.y) = (at.x * back, at.y * back);
    }
    Ok(found)
}

fn of_parts(shape: &Shape, distance: f64, strategy: &Strategy) -> Vec<Rings> {
    let Parts { points, lines, polygons } = shape.parts();
    let rounds: Vec<Rings> = points.iter().map(|at| around(*at, distance, strategy)).collect();
    if lines.is_empty() && polygons.is_empty() && rounds.len() == 1 {
        return rounds;
    }
    let angle = |points: u32| 2.0 * PI / f64::from(points.max(4));
    let join = match strategy.join {
        Join::Round(points) => LineJoin::Round(angle(points)),
        Join::Miter(limit) => LineJoin::Miter((1.0 / limit.max(1.0)).asin().min(PI) * 2.0),
    };
    let cap = strategy.end.map_or(LineCap::Butt, |points| LineCap::Round(angle(points)));
    let style = || BufferStyle::new(distance).line_join(join.clone()).line_cap(cap.clone());
    let rest = Parts { points: Vec::new(), lines, polygons };
    let others = match rest.lines.is_empty() && rest.polygons.is_empty() {
        true => MultiPolygon(Vec::new()),
        false => geometry(&rest.into_shape()).buffer_with_style(style()),
    };
    let mut all = others;
    for round in &rounds {
        all = all.union(&super::convert::polygon(round));
    }
    rings(&all)
}

/// What is around a point: an arc or a square; it starts in the east.
fn around(at: Coord, distance: f64, strategy: &Strategy) -> Rings {
    let Some(points) = strategy.point else {
        let corner = |x: f64, y: f64| Coord { x: at.x + x * distance, y: at.y + y * distance };
        let first = corner(-1.0, -1.0);
        return vec![vec![first, corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0), first]];
    };
    // The angles sum up from the end of the turn, and its points run against the clock.
    let step = 2.0 * PI / f64::from(points);
    let mut angle = 0.0;
    let mut ring: Vec<Coord> = (0..points)
        .map(|_| {
            let place = Coord {
                x: at.x + distance * f64::cos(angle),
                y: at.y + distance * f64::sin(angle),
            };
            angle -= step;
            place
        })
        .collect();
    ring.push(ring[0]);
    ring.reverse();
    vec![ring]
}
