//! What geometries are made of.

use inia_base::datatype::GeometryKind;

/// A place in the plane, or longitude and latitude in degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coord {
    /// East.
    pub x: f64,
    /// North.
    pub y: f64,
}

/// A path of two points or more; a ring is one that ends where it starts.
pub(crate) type Path = Vec<Coord>;
/// The outer ring and the holes.
pub(crate) type Rings = Vec<Path>;

/// A geometry without its reference system.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// POINT.
    Point(Coord),
    /// LINESTRING.
    LineString(Path),
    /// POLYGON.
    Polygon(Rings),
    /// MULTIPOINT.
    MultiPoint(Vec<Coord>),
    /// MULTILINESTRING.
    MultiLineString(Vec<Path>),
    /// MULTIPOLYGON.
    MultiPolygon(Vec<Rings>),
    /// GEOMETRYCOLLECTION, which may be empty.
    Collection(Vec<Shape>),
}

/// A geometry.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// Its reference system; 0 is a plane without units.
    pub srid: u32,
    /// What it is made of.
    pub shape: Shape,
}

/// The smallest box around a geometry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower left corner.
    pub min: Coord,
    /// Upper right corner.
    pub max: Coord,
}

impl Bounds {
    /// The box of no points.
    const NOTHING: Bounds = Bounds {
        min: Coord { x: f64::INFINITY, y: f64::INFINITY },
        max: Coord { x: f64::NEG_INFINITY, y: f64::NEG_INFINITY },
    };

    /// Makes the box hold a point.
    pub(crate) fn add(&mut self, at: Coord) {
        self.min.x = self.min.x.min(at.x);
        self.min.y = self.min.y.min(at.y);
        self.max.x = self.max.x.max(at.x);
        self.max.y = self.max.y.max(at.y);
    }

    /// Its dimension: 0 for a point, 1 for a line.
    fn dimension(&self) -> u8 {
        u8::from(self.min.x < self.max.x) + u8::from(self.min.y < self.max.y)
    }

    /// The box as a geometry: a point, a line or a polygon that runs against the clock.
    pub fn shape(&self) -> Shape {
        let Bounds { min, max } = *self;
        match self.dimension() {
            0 => Shape::Point(min),
            1 => Shape::LineString(vec![min, max]),
            _ => {
                let (right, left) = (Coord { x: max.x, y: min.y }, Coord { x: min.x, y: max.y });
                Shape::Polygon(vec![vec![min, right, max, left, min]])
            }
        }
    }

    /// Whether the boxes share a point.
    pub fn intersects(&self, other: &Bounds) -> bool {
        self.min.x <= other.max.x
            && other.min.x <= self.max.x
            && self.min.y <= other.max.y
            && other.min.y <= self.max.y
    }
}

impl Shape {
    /// Which sort of geometry it is.
    pub fn kind(&self) -> GeometryKind {
        match self {
            Shape::Point(_) => GeometryKind::Point,
            Shape::LineString(_) => GeometryKind::LineString,
            Shape::Polygon(_) => GeometryKind::Polygon,
            Shape::MultiPoint(_) => GeometryKind::MultiPoint,
            Shape::MultiLineString(_) => GeometryKind::MultiLineString,
            Shape::MultiPolygon(_) => GeometryKind::MultiPolygon,
            Shape::Collection(_) => GeometryKind::Collection,
        }
    }

    /// Calls `visit` with each point.
    pub fn for_each(&self, visit: &mut dyn FnMut(Coord)) {
        match self {
            Shape::Point(at) => visit(*at),
            Shape::LineString(path) | Shape::MultiPoint(path) => {
                path.iter().for_each(|at| visit(*at));
            }
            Shape::Polygon(paths) | Shape::MultiLineString(paths) => {
                paths.iter().flatten().for_each(|at| visit(*at));
            }
            Shape::MultiPolygon(all) => all.iter().flatten().flatten().for_each(|at| visit(*at)),
            Shape::Collection(members) => members.iter().for_each(|member| member.for_each(visit)),
        }
    }

    /// Changes each point.
    pub fn change(&mut self, change: &mut dyn FnMut(&mut Coord)) {
        match self {
            Shape::Point(at) => change(at),
            Shape::LineString(path) | Shape::MultiPoint(path) => path.iter_mut().for_each(change),
            Shape::Polygon(paths) | Shape::MultiLineString(paths) => {
                paths.iter_mut().flatten().for_each(change);
            }
            Shape::MultiPolygon(all) => all.iter_mut().flatten().flatten().for_each(change),
            Shape::Collection(members) => members.iter_mut().for_each(|each| each.change(change)),
        }
    }

    /// How many points it has.
    pub fn points(&self) -> usize {
        let mut count = 0;
        self.for_each(&mut |_| count += 1);
        count
    }

    /// Whether it has no points: a collection of nothing, or of such collections.
    pub fn is_empty(&self) -> bool {
        match self {
            Shape::Collection(members) => members.iter().all(Shape::is_empty),
            _ => false,
        }
    }

    /// The greatest dimension of its parts; `None` where it is empty.
    pub fn dimension(&self) -> Option<u8> {
        match self {
            Shape::Point(_) | Shape::MultiPoint(_) => Some(0),
            Shape::LineString(_) | Shape::MultiLineString(_) => Some(1),
            Shape::Polygon(_) | Shape::MultiPolygon(_) => Some(2),
            Shape::Collection(members) => members.iter().filter_map(Shape::dimension).max(),
        }
    }

    /// The smallest box around it; `None` where it is empty.
    pub fn bounds(&self) -> Option<Bounds> {
        let mut bounds = Bounds::NOTHING;
        self.for_each(&mut |at| bounds.add(at));
        (bounds.min.x <= bounds.max.x).then_some(bounds)
    }

    /// Its points, lines and polygons, without what holds them together.
    pub fn parts(&self) -> Parts {
        let mut parts = Parts::default();
        self.put_parts(&mut parts);
        parts
    }

    fn put_parts(&self, parts: &mut Parts) {
        match self {
            Shape::Point(at) => parts.points.push(*at),
            Shape::LineString(path) => parts.lines.push(path.clone()),
            Shape::Polygon(rings) => parts.polygons.push(rings.clone()),
            Shape::MultiPoint(points) => parts.points.extend_from_slice(points),
            Shape::MultiLineString(paths) => parts.lines.extend_from_slice(paths),
            Shape::MultiPolygon(all) => parts.polygons.extend_from_slice(all),
            Shape::Collection(members) => members.iter().for_each(|each| each.put_parts(parts)),
        }
    }
}

/// The parts of a geometry by dimension.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Points.
    pub points: Vec<Coord>,
    /// Lines.
    pub lines: Vec<Path>,
    /// Polygons.
    pub polygons: Vec<Rings>,
}

impl Parts {
    /// The simplest geometry of these parts.
    pub fn into_shape(mut self) -> Shape {
        let mut members = Vec::new();
        match self.points.len() {
            0 => {}
            1 => members.push(Shape::Point(self.points[0])),
            _ => members.push(Shape::MultiPoint(self.points)),
        }
        match self.lines.len() {
            0 => {}
            1 => members.push(Shape::LineString(self.lines.swap_remove(0))),
            _ => members.push(Shape::MultiLineString(self.lines)),
        }
        match self.polygons.len() {
            0 => {}
            1 => members.push(Shape::Polygon(self.polygons.swap_remove(0))),
            _ => members.push(Shape::MultiPolygon(self.polygons)),
        }
        match members.len() {
            1 => members.swap_remove(0),
            _ => Shape::Collection(members),
        }
    }
}
