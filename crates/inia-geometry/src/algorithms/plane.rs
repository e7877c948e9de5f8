//! Points and segments of the plane.

use crate::shape::{Bounds, Coord, Path, Rings};

/// Twice the signed area of a triangle: positive where `c` lies left of the way from `a` to `b`.
pub(super) fn cross(a: Coord, b: Coord, c: Coord) -> f64 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

pub(super) fn length(a: Coord, b: Coord) -> f64 {
    ((b.x - a.x).powi(2) + (b.y - a.y).powi(2)).sqrt()
}

/// Whether the numbers are the same but for rounding.
fn near(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= scale * 1e-12
}

pub(super) fn same_place(a: Coord, b: Coord) -> bool {
    let scale = a.x.abs().max(a.y.abs()).max(b.x.abs()).max(b.y.abs()).max(1.0);
    near(a.x, b.x, scale) && near(a.y, b.y, scale)
}

/// Whether a point is on a segment, but for rounding.
pub(super) fn on_segment(at: Coord, (a, b): (Coord, Coord)) -> bool {
    let long = length(a, b);
    let scale = long.max(at.x.abs()).max(at.y.abs()).max(1e-300);
    if long == 0.0 {
        return same_place(at, a);
    }
    let apart = cross(a, b, at).abs() / long;
    let along = ((at.x - a.x) * (b.x - a.x) + (at.y - a.y) * (b.y - a.y)) / long;
    let slack = scale * 1e-12;
    apart <= slack && along >= -slack && along <= long + slack
}

/// How far along a segment a point is, from 0 to 1.
pub(super) fn place_on(at: Coord, (a, b): (Coord, Coord)) -> f64 {
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    let square = dx * dx + dy * dy;
    if square == 0.0 { 0.0 } else { ((at.x - a.x) * dx + (at.y - a.y) * dy) / square }
}

/// The segments of a path.
pub(super) fn segments(path: &Path) -> impl Iterator<Item = (Coord, Coord)> {
    path.windows(2).map(|pair| (pair[0], pair[1]))
}

/// The points that two segments share: none, one, or the ends of the piece they share.
pub(super) fn shared(first: (Coord, Coord), second: (Coord, Coord)) -> Vec<Coord> {
    if !bounds(first).intersects(&bounds(second)) {
        return Vec::new();
    }
    let mut found: Vec<Coord> = Vec::new();
    let mut add = |at: Coord| {
        if !found.iter().any(|other| same_place(*other, at)) {
            found.push(at);
        }
    };
    for at in [second.0, second.1] {
        if on_segment(at, first) {
            add(at);
        }
    }
    for at in [first.0, first.1] {
        if on_segment(at, second) {
            add(at);
        }
    }
    if found.is_empty()
        && let Some(at) = crossing(first, second)
    {
        found.push(at);
    }
    found.truncate(2);
    found
}

/// The point where two segments cross.
fn crossing(first: (Coord, Coord), second: (Coord, Coord)) -> Option<Coord> {
    let (a, b) = first;
    let (c, d) = second;
    let (r, s) = ((b.x - a.x, b.y - a.y), (d.x - c.x, d.y - c.y));
    let slope = r.0 * s.1 - r.1 * s.0;
    if slope == 0.0 {
        return None;
    }
    let along = ((c.x - a.x) * s.1 - (c.y - a.y) * s.0) / slope;
    let other = ((c.x - a.x) * r.1 - (c.y - a.y) * r.0) / slope;
    let inside = (0.0..=1.0).contains(&along) && (0.0..=1.0).contains(&other);
    // A coordinate that all points of a segment have is exact.
    let of = |same: [(f64, f64); 2], computed: f64| {
        same.into_iter().find(|(from, to)| from == to).map_or(computed, |(from, _)| from)
    };
    inside.then(|| Coord {
        x: of([(a.x, b.x), (c.x, d.x)], a.x + along * r.0),
        y: of([(a.y, b.y), (c.y, d.y)], a.y + along * r.1),
    })
}

fn bounds((a, b): (Coord, Coord)) -> Bounds {
    let slack = 1e-12 * a.x.abs().max(a.y.abs()).max(b.x.abs()).max(b.y.abs());
    Bounds {
        min: Coord { x: a.x.min(b.x) - slack, y: a.y.min(b.y) - slack },
        max: Coord { x: a.x.max(b.x) + slack, y: a.y.max(b.y) + slack },
    }
}

/// Where a point is to a ring or a polygon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Inside,
    Border,
    Outside,
}

fn side_of_ring(at: Coord, ring: &Path) -> Side {
    let mut inside = false;
    for (a, b) in segments(ring) {
        if on_segment(at, (a, b)) {
            return Side::Border;
        }
        if (a.y > at.y) != (b.y > at.y) {
            let crosses = a.x + (at.y - a.y) / (b.y - a.y) * (b.x - a.x);
            if at.x < crosses {
                inside = !inside;
            }
        }
    }
    if inside { Side::Inside } else { Side::Outside }
}

pub(crate) fn side_of(at: Coord, rings: &Rings) -> Side {
    let mut rings = rings.iter();
    let outer = rings.next().map_or(Side::Outside, |ring| side_of_ring(at, ring));
    if outer != Side::Inside {
        return outer;
    }
    for hole in rings {
        match side_of_ring(at, hole) {
            Side::Outside => {}
            Side::Border => return Side::Border,
            Side::Inside => return Side::Outside,
        }
    }
    Side::Inside
}

/// Twice the signed area of a ring: positive against the clock.
pub(super) fn ring_area(ring: &Path) -> f64 {
    segments(ring).map(|(a, b)| a.x * b.y - b.x * a.y).sum()
}
