//! Geometries as text: WKT.

use crate::shape::{Coord, Path, Rings, Shape};
use inia_base::datatype::GeometryKind;
use inia_base::number::double_prefix;
use std::fmt::Write;

/// Collections in collections; deeper ones are refused.
const MAX_DEPTH: usize = 100;

/// Appends a shape as WKT; `number` prints a coordinate.
pub fn to_wkt(shape: &Shape, number: &dyn Fn(f64) -> String) -> String {
    let mut out = String::new();
    put(shape, number, &mut out);
    out
}

fn put(shape: &Shape, number: &dyn Fn(f64) -> String, out: &mut String) {
    let name = match shape.kind() {
        GeometryKind::Collection => "GEOMETRYCOLLECTION",
        kind => kind.name(),
    };
    out.push_str(name);
    match shape {
        Shape::Collection(members) if members.is_empty() => out.push_str(" EMPTY"),
        Shape::Point(at) => list(std::slice::from_ref(at), out, |at, out| coord(*at, number, out)),
        Shape::LineString(path) => put_path(path, number, out),
        Shape::MultiPoint(points) => list(points, out, |at, out| {
            list(std::slice::from_ref(at), out, |at, out| coord(*at, number, out));
        }),
        Shape::Polygon(paths) | Shape::MultiLineString(paths) => put_paths(paths, number, out),
        Shape::MultiPolygon(all) => list(all, out, |rings, out| put_paths(rings, number, out)),
        Shape::Collection(members) => list(members, out, |member, out| put(member, number, out)),
    }
}

fn list<T>(items: &[T], out: &mut String, put: impl Fn(&T, &mut String)) {
    out.push('(');
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        put(item, out);
    }
    out.push(')');
}

fn coord(at: Coord, number: &dyn Fn(f64) -> String, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{} {}", number(at.x), number(at.y));
}

fn put_path(path: &Path, number: &dyn Fn(f64) -> String, out: &mut String) {
    list(path, out, |at, out| coord(*at, number, out));
}

fn put_paths(paths: &[Path], number: &dyn Fn(f64) -> String, out: &mut String) {
    list(paths, out, |path, out| put_path(path, number, out));
}

/// Reads WKT, all of it; `None` where it is no geometry.
pub fn from_wkt(text: &[u8]) -> Option<Shape> {
    let mut parser = Parser { text };
    let shape = parser.shape(0)?;
    parser.skip_space();
    parser.text.is_empty().then_some(shape)
}

struct Parser<'t> {
    text: &'t [u8],
}

impl<'t> Parser<'t> {
    fn skip_space(&mut self) {
        let spaces = self.text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.text = &self.text[spaces..];
    }

    fn accept(&mut self, wanted: u8) -> bool {
        self.skip_space();
        let found = self.text.first() == Some(&wanted);
        if found {
            self.text = &self.text[1..];
        }
        found
    }

    fn expect(&mut self, wanted: u8) -> Option<()> {
        self.accept(wanted).then_some(())
    }

    fn word(&mut self) -> &'t [u8] {
        self.skip_space();
        let letters = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let (word, rest) = self.text.split_at(self.text.iter().take_while(letters).count());
        self.text = rest;
        word
    }

    fn number(&mut self) -> Option<f64> {
        self.skip_space();
        let found = double_prefix(self.text);
        let first = self.text.first()?;
        if found.consumed == 0 || !(first.is_ascii_digit() || b"+-.".contains(first)) {
            return None;
        }
        self.text = &self.text[found.consumed..];
        found.value.is_finite().then_some(found.value)
    }

    fn coord(&mut self) -> Option<Coord> {
        let x = self.number()?;
        // Something stands between the numbers.
        if !self.text.first()?.is_ascii_whitespace() {
            return None;
        }
        Some(Coord { x, y: self.number()? })
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.expect(b'(')?;
        let mut items = vec![item(self)?];
        while self.accept(b',') {
            items.push(item(self)?);
        }
        self.expect(b')')?;
        Some(items)
    }

    fn path(&mut self) -> Option<Path> {
        self.list(Self::coord).filter(|path| path.len() >= 2)
    }

    fn rings(&mut self) -> Option<Rings> {
        let closed = |ring: &Path| ring.len() >= 4 && ring.first() == ring.last();
        self.list(|parser| parser.list(Self::coord).filter(closed))
    }

    /// The points of a MULTIPOINT: all in parentheses, or none.
    fn points(&mut self) -> Option<Vec<Coord>> {
        let mut wrapped = None;
        self.list(|parser| {
            let inner = parser.accept(b'(');
            if *wrapped.get_or_insert(inner) != inner {
                return None;
            }
            let at = parser.coord()?;
            if inner {
                parser.expect(b')')?;
            }
            Some(at)
        })
    }

    fn shape(&mut self, depth: usize) -> Option<Shape> {
        if depth > MAX_DEPTH {
            return None;
        }
        let word = self.word().to_ascii_uppercase();
        Some(match word.as_slice() {
            b"POINT" => {
                self.expect(b'(')?;
                let at = self.coord()?;
                self.expect(b')')?;
                Shape::Point(at)
            }
            b"LINESTRING" => Shape::LineString(self.path()?),
            b"POLYGON" => Shape::Polygon(self.rings()?),
            b"MULTIPOINT" => Shape::MultiPoint(self.points()?),
            b"MULTILINESTRING" => Shape::MultiLineString(self.list(Self::path)?),
            b"MULTIPOLYGON" => Shape::MultiPolygon(self.list(Self::rings)?),
            b"GEOMETRYCOLLECTION" => Shape::Collection(self.members(depth)?),
            _ => return None,
        })
    }

    fn members(&mut self, depth: usize) -> Option<Vec<Shape>> {
        if !self.accept(b'(') {
            return self.word().eq_ignore_ascii_case(b"EMPTY").then(Vec::new);
        }
        let mut members = Vec::new();
        if self.accept(b')') {
            return Some(members);
        }
        loop {
            members.push(self.shape(depth + 1)?);
            if !self.accept(b',') {
                self.expect(b')')?;
                return Some(members);
            }
        }
    }
}
