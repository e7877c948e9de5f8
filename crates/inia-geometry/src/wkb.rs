//! Geometries as bytes: WKB, and what a column holds, which is the SRID before it.
//!
//! ```text
//! column     SRID (u32, little endian), WKB in little endian
//! WKB        byte order (0 big, 1 little), type (u32), content
//! point      x (f64), y (f64)
//! path       count (u32), points          polygon    count (u32), rings
//! others     count (u32), each member as WKB
//! ```

use crate::shape::{Bounds, Coord, Geometry, Path, Rings, Shape};
use inia_base::datatype::GeometryKind;

/// Collections in collections; deeper ones are refused.
const MAX_DEPTH: usize = 100;

/// What a column holds of a geometry.
pub fn to_internal(geometry: &Geometry) -> Vec<u8> {
    let mut out = geometry.srid.to_le_bytes().to_vec();
    put_wkb(&geometry.shape, &mut out);
    out
}

/// Reads [`to_internal`]'s bytes; `None` where they are no geometry.
pub fn from_internal(bytes: &[u8]) -> Option<Geometry> {
    let (srid, wkb) = bytes.split_first_chunk::<4>()?;
    // Columns hold little endian only.
    if wkb.first() != Some(&1) {
        return None;
    }
    Some(Geometry { srid: u32::from_le_bytes(*srid), shape: from_wkb(wkb)? })
}

/// SRID and bounds of [`to_internal`]'s bytes; those of a point are read without memory.
pub fn internal_bounds(bytes: &[u8]) -> Option<(u32, Option<Bounds>)> {
    const POINT: [u8; 5] = [1, 1, 0, 0, 0];
    if bytes.len() == 25 && bytes[4..9] == POINT {
        let number = |at: usize| Some(f64::from_le_bytes(bytes[at..at + 8].try_into().ok()?));
        let at = Coord { x: number(9)?, y: number(17)? };
        let srid = u32::from_le_bytes(bytes[..4].try_into().ok()?);
        return Some((srid, Some(Bounds { min: at, max: at })));
    }
    let geometry = from_internal(bytes)?;
    Some((geometry.srid, geometry.shape.bounds()))
}

/// Appends a shape as WKB in little endian.
pub fn put_wkb(shape: &Shape, out: &mut Vec<u8>) {
    out.push(1);
    out.extend_from_slice(&u32::from(shape.kind() as u8).to_le_bytes());
    match shape {
        Shape::Point(at) => put_coord(*at, out),
        Shape::LineString(path) => put_path(path, out),
        Shape::Polygon(rings) => {
            put_count(rings.len(), out);
            rings.iter().for_each(|ring| put_path(ring, out));
        }
        Shape::MultiPoint(points) => {
            put_count(points.len(), out);
            points.iter().for_each(|at| put_wkb(&Shape::Point(*at), out));
        }
        Shape::MultiLineString(paths) => {
            put_count(paths.len(), out);
            paths.iter().for_each(|path| put_wkb(&Shape::LineString(path.clone()), out));
        }
        Shape::MultiPolygon(all) => {
            put_count(all.len(), out);
            all.iter().for_each(|rings| put_wkb(&Shape::Polygon(rings.clone()), out));
        }
        Shape::Collection(members) => {
            put_count(members.len(), out);
            members.iter().for_each(|member| put_wkb(member, out));
        }
    }
}

fn put_count(count: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_coord(at: Coord, out: &mut Vec<u8>) {
    out.extend_from_slice(&at.x.to_le_bytes());
    out.extend_from_slice(&at.y.to_le_bytes());
}

fn put_path(path: &Path, out: &mut Vec<u8>) {
    put_count(path.len(), out);
    path.iter().for_each(|at| put_coord(*at, out));
}

/// Reads WKB of either byte order, all of it; `None` where it is no geometry.
pub fn from_wkb(bytes: &[u8]) -> Option<Shape> {
    let mut reader = Reader { bytes };
    let shape = reader.shape(None, 0)?;
    reader.bytes.is_empty().then_some(shape)
}

struct Reader<'b> {
    bytes: &'b [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (chunk, rest) = self.bytes.split_first_chunk::<N>()?;
        self.bytes = rest;
        Some(*chunk)
    }

    fn word(&mut self, big: bool) -> Option<u32> {
        let bytes = self.take::<4>()?;
        Some(if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// A count of members that take `size` bytes at least.
    fn count(&mut self, big: bool, size: usize, least: usize) -> Option<usize> {
        let count = usize::try_from(self.word(big)?).ok()?;
        (count >= least && count.checked_mul(size)? <= self.bytes.len()).then_some(count)
    }

    fn coord(&mut self, big: bool) -> Option<Coord> {
        let mut number = || {
            let bytes = self.take::<8>()?;
            let number = if big { f64::from_be_bytes(bytes) } else { f64::from_le_bytes(bytes) };
            number.is_finite().then_some(number)
        };
        Some(Coord { x: number()?, y: number()? })
    }

    fn path(&mut self, big: bool, least: usize) -> Option<Path> {
        let count = self.count(big, 16, least)?;
        (0..count).map(|_| self.coord(big)).collect()
    }

    fn ring(&mut self, big: bool) -> Option<Path> {
        self.path(big, 4).filter(|ring| ring.first() == ring.last())
    }

    fn rings(&mut self, big: bool) -> Option<Rings> {
        let count = self.count(big, 4, 1)?;
        (0..count).map(|_| self.ring(big)).collect()
    }

    /// A geometry with its byte order and type, which must be `wanted` where that is given.
    fn shape(&mut self, wanted: Option<GeometryKind>, depth: usize) -> Option<Shape> {
        if depth > MAX_DEPTH {
            return None;
        }
        let big = match self.take::<1>()? {
            [0] => true,
            [1] => false,
            _ => return None,
        };
        let kind = GeometryKind::of_wkb(self.word(big)?)?;
        if wanted.is_some_and(|wanted| wanted != kind) {
            return None;
        }
        use GeometryKind as K;
        Some(match kind {
            K::Geometry => return None,
            K::Point => Shape::Point(self.coord(big)?),
            K::LineString => Shape::LineString(self.path(big, 2)?),
            K::Polygon => Shape::Polygon(self.rings(big)?),
            K::MultiPoint => {
                let points = self.members(big, 1, K::Point, depth)?.into_iter();
                let point = |shape| if let Shape::Point(at) = shape { Some(at) } else { None };
                Shape::MultiPoint(points.map(point).collect::<Option<_>>()?)
            }
            K::MultiLineString => {
                let paths = self.members(big, 1, K::LineString, depth)?.into_iter();
                let path =
                    |each| if let Shape::LineString(path) = each { Some(path) } else { None };
                Shape::MultiLineString(paths.map(path).collect::<Option<_>>()?)
            }
            K::MultiPolygon => {
                let all = self.members(big, 1, K::Polygon, depth)?.into_iter();
                let rings =
                    |each| if let Shape::Polygon(rings) = each { Some(rings) } else { None };
                Shape::MultiPolygon(all.map(rings).collect::<Option<_>>()?)
            }
            K::Collection => {
                let count = self.count(big, 9, 0)?;
                let members = (0..count).map(|_| self.shape(None, depth + 1));
                Shape::Collection(members.collect::<Option<_>>()?)
            }
        })
    }

    fn members(
        &mut self,
        big: bool,
        least: usize,
        kind: GeometryKind,
        depth: usize,
    ) -> Option<Vec<Shape>> {
        let count = self.count(big, 9, least)?;
        (0..count).map(|_| self.shape(Some(kind), depth + 1)).collect()
    }
}
