//! Shapes as the types of the geometry library, and back.

use crate::shape::{Coord, Path, Rings, Shape};
use geo::{Geometry, GeometryCollection, LineString, MultiLineString, MultiPoint, MultiPolygon};
use geo::{Point, Polygon};

fn coord(at: &Coord) -> geo::Coord {
    geo::Coord { x: at.x, y: at.y }
}

pub(super) fn line(path: &Path) -> LineString {
    LineString(path.iter().map(coord).collect())
}

pub(super) fn polygon(rings: &Rings) -> Polygon {
    let mut rings = rings.iter().map(line);
    let outer = rings.next().unwrap_or_else(|| LineString(Vec::new()));
    Polygon::new(outer, rings.collect())
}

pub(super) fn polygons(all: &[Rings]) -> MultiPolygon {
    MultiPolygon(all.iter().map(polygon).collect())
}

pub(super) fn geometry(shape: &Shape) -> Geometry {
    match shape {
        Shape::Point(at) => Geometry::Point(Point(coord(at))),
        Shape::LineString(path) => Geometry::LineString(line(path)),
        Shape::Polygon(rings) => Geometry::Polygon(polygon(rings)),
        Shape::MultiPoint(points) => {
            let points = points.iter().map(|at| Point(coord(at)));
            Geometry::MultiPoint(MultiPoint(points.collect()))
        }
        Shape::MultiLineString(paths) => {
            Geometry::MultiLineString(MultiLineString(paths.iter().map(line).collect()))
        }
        Shape::MultiPolygon(all) => Geometry::MultiPolygon(polygons(all)),
        Shape::Collection(members) => {
            let members = members.iter().map(geometry);
            Geometry::GeometryCollection(GeometryCollection(members.collect()))
        }
    }
}

fn path(line: &LineString) -> Path {
    line.0.iter().map(|at| Coord { x: at.x, y: at.y }).collect()
}

/// The polygons, without those that have no points.
pub(super) fn rings(all: &MultiPolygon) -> Vec<Rings> {
    let rings = |polygon: &Polygon| -> Rings {
        let holes = polygon.interiors().iter().map(path);
        std::iter::once(path(polygon.exterior())).chain(holes).collect()
    };
    all.0.iter().map(rings).filter(|rings| rings[0].len() >= 4).collect()
}
