//! Relations of two shapes: those of DE-9IM, and those of their boxes.

use super::convert::geometry;
use super::plane::{Side, side_of};
use super::{Failed, guarded};
use crate::shape::{Bounds, Coord, Shape};
use geo::Relate;

/// A relation of two shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The second is in the first, and not only on its border.
    Contains,
    /// The first is in the second.
    Within,
    /// They share a point.
    Intersects,
    /// They share none.
    Disjoint,
    /// They share all.
    Equals,
    /// They share borders only.
    Touches,
    /// They share a part of the insides, of a lower dimension than the higher of theirs.
    Crosses,
    /// They share a part of the insides of their own dimension, and each has more.
    Overlaps,
}

/// Whether the relation holds; `None` where it is not defined for such shapes or one is empty.
pub fn holds(relation: Relation, first: &Shape, second: &Shape) -> Result<Option<bool>, Failed> {
    if let Some(known) = by_bounds(relation, first, second) {
        return Ok(known);
    }
    let matrix = guarded(|| geometry(first).relate(&geometry(second)))?;
    Ok(Some(match relation {
        Relation::Contains => matrix.is_contains(),
        Relation::Within => matrix.is_within(),
        Relation::Intersects => matrix.is_intersects(),
        Relation::Disjoint => matrix.is_disjoint(),
        Relation::Equals => matrix.is_equal_topo(),
        Relation::Touches => matrix.is_touches(),
        Relation::Crosses => matrix.is_crosses(),
        Relation::Overlaps => matrix.is_overlaps(),
    }))
}

/// What is known without a look at how the shapes lie: `Some(None)` where the relation is not
/// defined.
fn by_bounds(relation: Relation, first: &Shape, second: &Shape) -> Option<Option<bool>> {
    if relation == Relation::Equals && (first.is_empty() || second.is_empty()) {
        return Some(Some(first.is_empty() && second.is_empty()));
    }
    let (Some(a), Some(b)) = (first.dimension(), second.dimension()) else { return Some(None) };
    match relation {
        Relation::Overlaps if a != b => return Some(None),
        Relation::Crosses if a == 2 || b == 0 => return Some(None),
        Relation::Touches if a == 0 && b == 0 => return Some(None),
        _ => {}
    }
    let (Some(left), Some(right)) = (first.bounds(), second.bounds()) else { return Some(None) };
    if !left.intersects(&right) {
        return Some(Some(relation == Relation::Disjoint));
    }
    of_point(relation, first, second).map(Some)
}

/// A point and a polygon, the pair that maps are searched by.
fn of_point(relation: Relation, first: &Shape, second: &Shape) -> Option<bool> {
    let side = |at: Coord, shape: &Shape| match shape {
        Shape::Polygon(rings) => Some(side_of(at, rings)),
        _ => None,
    };
    let (side, inner_first) = match (first, second) {
        (Shape::Point(at), polygon) => (side(*at, polygon)?, true),
        (polygon, Shape::Point(at)) => (side(*at, polygon)?, false),
        _ => return None,
    };
    match relation {
        Relation::Contains => Some(side == Side::Inside && !inner_first),
        Relation::Within => Some(side == Side::Inside && inner_first),
        Relation::Intersects => Some(side != Side::Outside),
        Relation::Disjoint => Some(side == Side::Outside),
        Relation::Touches => Some(side == Side::Border),
        _ => None,
    }
}

/// A relation of two boxes, which are points, lines or rectangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxRelation {
    /// The second is in the first, and not only on its border.
    Contains,
    /// The first is in the second.
    Within,
    /// Every point of the second is one of the first.
    Covers,
    /// Every point of the first is one of the second.
    CoveredBy,
    /// They share no point.
    Disjoint,
    /// They are the same.
    Equals,
    /// They share a point.
    Intersects,
    /// They share a part of their own dimension, and each has more.
    Overlaps,
    /// They share borders only.
    Touches,
}

/// Whether the relation holds for the boxes.
pub fn boxes(relation: BoxRelation, first: &Bounds, second: &Bounds) -> bool {
    let covers = |outer: &Bounds, inner: &Bounds| {
        outer.min.x <= inner.min.x
            && outer.min.y <= inner.min.y
            && inner.max.x <= outer.max.x
            && inner.max.y <= outer.max.y
    };
    let meet = first.intersects(second);
    let of_shapes =
        |relation| meet && holds(relation, &first.shape(), &second.shape()) == Ok(Some(true));
    match relation {
        BoxRelation::Contains => of_shapes(Relation::Contains),
        BoxRelation::Within => of_shapes(Relation::Within),
        BoxRelation::Covers => covers(first, second),
        BoxRelation::CoveredBy => covers(second, first),
        BoxRelation::Disjoint => !meet,
        BoxRelation::Equals => first == second,
        BoxRelation::Intersects => meet,
        BoxRelation::Overlaps => of_shapes(Relation::Overlaps),
        BoxRelation::Touches => of_shapes(Relation::Touches),
    }
}
