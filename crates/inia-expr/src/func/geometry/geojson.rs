//! GeoJSON: longitude first, in WGS 84 where nothing else is said.

use super::{any, error, made};
use crate::eval::{Args, FnResult, Stop};
use crate::func::{Function, f};
use crate::json::{self, Json};
use crate::ty::ExprType;
use inia_base::error::ErrorCode;
use inia_geometry::{Coord, Shape, srs};

/// The numbers of ST_AsGeoJSON's options.
const WITH_BOX: i64 = 1;
const SHORT_CRS: i64 = 2;
const LONG_CRS: i64 = 4;
/// Digits after the point where none are asked for.
const ALL_DIGITS: i64 = i32::MAX as i64;

pub(in crate::func) const TABLE: &[Function] = &[
    f("st_asgeojson", 1, 3, |_, _| Ok(ExprType::json(true)), write),
    f("st_geomfromgeojson", 1, 3, any, read),
];

fn write(a: &mut Args<'_, '_>) -> FnResult {
    let geometry = a.geometry(0)?;
    let digits = if a.len() > 1 { a.clamped(1)? } else { ALL_DIGITS };
    if !(0..=ALL_DIGITS).contains(&digits) {
        return Err(wrong_value(a, "max decimal digits", digits));
    }
    let options = if a.len() > 2 { a.clamped(2)? } else { 0 };
    if !(0..=7).contains(&options) {
        return Err(wrong_value(a, "options", options));
    }
    let mut json = to_json(&geometry.shape, digits);
    if let Json::Object(members) = &mut json {
        if options & WITH_BOX != 0
            && let Some(bounds) = geometry.shape.bounds()
        {
            let corners = [bounds.min.x, bounds.min.y, bounds.max.x, bounds.max.y];
            let corners = corners.map(|number| Json::Double(rounded(number, digits)));
            Json::insert(members, "bbox".to_owned(), Json::Array(corners.into()));
        }
        if options & (SHORT_CRS | LONG_CRS) != 0 && geometry.srid != 0 {
            let number = geometry.srid;
            let name = match options & LONG_CRS {
                0 => format!("EPSG:{number}"),
                _ => format!("urn:ogc:def:crs:EPSG::{number}"),
            };
            let name = object(vec![("name", Json::String(name))]);
            let crs = object(vec![("type", Json::String("name".into())), ("properties", name)]);
            Json::insert(members, "crs".to_owned(), crs);
        }
    }
    Ok(json::value(json.carried())?)
}

/// Error 1411.
fn wrong_value(a: &Args<'_, '_>, what: &str, value: i64) -> Stop {
    error(ErrorCode::WrongValueForType, &[&what, &value, &a.call.name])
}

fn object(members: Vec<(&str, Json)>) -> Json {
    let mut found = Vec::new();
    for (key, value) in members {
        Json::insert(&mut found, key.to_owned(), value);
    }
    Json::Object(found)
}

fn rounded(number: f64, digits: i64) -> f64 {
    if digits >= 17 {
        return number;
    }
    let unit = 10f64.powi(i32::try_from(digits).unwrap_or(0));
    (number * unit).round() / unit
}

/// A shape as a GeoJSON object.
pub(crate) fn to_json(shape: &Shape, digits: i64) -> Json {
    let coord = |at: &Coord| {
        Json::Array([at.x, at.y].map(|number| Json::Double(rounded(number, digits))).into())
    };
    let path = |path: &Vec<Coord>| Json::Array(path.iter().map(coord).collect());
    let paths = |paths: &Vec<Vec<Coord>>| Json::Array(paths.iter().map(path).collect());
    let (name, coordinates) = match shape {
        Shape::Point(at) => ("Point", coord(at)),
        Shape::LineString(points) => ("LineString", path(points)),
        Shape::Polygon(rings) => ("Polygon", paths(rings)),
        Shape::MultiPoint(points) => ("MultiPoint", path(points)),
        Shape::MultiLineString(lines) => ("MultiLineString", paths(lines)),
        Shape::MultiPolygon(all) => ("MultiPolygon", Json::Array(all.iter().map(paths).collect())),
        Shape::Collection(members) => {
            let members = members.iter().map(|member| to_json(member, digits)).collect();
            let kind = Json::String("GeometryCollection".into());
            return object(vec![("type", kind), ("geometries", Json::Array(members))]);
        }
    };
    object(vec![("type", Json::String(name.into())), ("coordinates", coordinates)])
}

/// What is done with coordinates beyond the second: error 3073, or they are left out.
const REFUSE_DIMENSIONS: i64 = 1;

struct Reader<'n> {
    function: &'n str,
    refuse: bool,
    srid: Option<u32>,
}

fn read(a: &mut Args<'_, '_>) -> FnResult {
    let document = a.json(0)?;
    let handling = if a.len() > 1 { a.clamped(1)? } else { REFUSE_DIMENSIONS };
    let given = if a.len() > 2 { Some(a.srid(2)?) } else { None };
    if !(1..=4).contains(&handling) {
        return Err(wrong_value(a, "option", handling));
    }
    if document == Json::Null {
        return Err(Stop::Null);
    }
    let function = a.call.name;
    let mut reader = Reader { function, refuse: handling == REFUSE_DIMENSIONS, srid: None };
    if !matches!(document, Json::Object(_)) {
        return Err(reader.invalid());
    }
    reader.find_crs(&document)?;
    let shape = reader.object(&document)?;
    let srid = given.or(reader.srid).unwrap_or(srs::WGS84);
    let system = a.system(srid)?;
    let shape = shape.ok_or(Stop::Null)?;
    let mut outcome = Ok(());
    shape.for_each(&mut |at| {
        if outcome.is_ok() {
            outcome = a.check_coord(&system, at);
        }
    });
    outcome?;
    made(srid, shape)
}

impl Reader<'_> {
    fn invalid(&self) -> Stop {
        error(ErrorCode::InvalidGeojsonUnspecified, &[&self.function])
    }

    fn member<'j>(&self, json: &'j Json, name: &str) -> Result<&'j Json, Stop> {
        json.member(name)
            .ok_or_else(|| error(ErrorCode::InvalidGeojsonMissingMember, &[&self.function, &name]))
    }

    fn wrong_type(&self, name: &str, wanted: &str) -> Stop {
        error(ErrorCode::InvalidGeojsonWrongType, &[&self.function, &name, &wanted])
    }

    fn text<'j>(&self, json: &'j Json, name: &str) -> Result<&'j str, Stop> {
        match self.member(json, name)? {
            Json::String(text) => Ok(text),
            _ => Err(self.wrong_type(name, "string")),
        }
    }

    fn array<'j>(&self, json: &'j Json, name: &str) -> Result<&'j [Json], Stop> {
        match self.member(json, name)? {
            Json::Array(items) => Ok(items),
            _ => Err(self.wrong_type(name, "array")),
        }
    }

    /// The reference system that a `crs` member names.
    fn find_crs(&mut self, document: &Json) -> Result<(), Stop> {
        let crs = match document.member("crs") {
            None | Some(Json::Null) => return Ok(()),
            Some(crs @ Json::Object(_)) => crs,
            Some(_) => return Err(self.wrong_type("crs", "object")),
        };
        if !self.text(crs, "type")?.eq_ignore_ascii_case("name") {
            return Err(self.invalid());
        }
        let properties = self.member(crs, "properties")?;
        let Json::Object(_) = properties else {
            return Err(self.wrong_type("properties", "object"));
        };
        let name = self.text(properties, "name")?;
        let after = |start: &str| {
            let (head, number) = name.split_at_checked(start.len())?;
            if head.eq_ignore_ascii_case(start) { number.parse().ok() } else { None }
        };
        let number = ["EPSG:", "urn:ogc:def:crs:EPSG::"].into_iter().find_map(after);
        self.srid = match number {
            Some(number) => Some(number),
            None if name.eq_ignore_ascii_case("urn:ogc:def:crs:OGC:1.3:CRS84") => Some(srs::WGS84),
            None => return Err(self.invalid()),
        };
        Ok(())
    }

    /// The geometry of an object; `None` for a feature without one.
    fn object(&self, json: &Json) -> Result<Option<Shape>, Stop> {
        let Json::Object(_) = json else { return Err(self.invalid()) };
        let kind = self.text(json, "type")?;
        let is = |name: &str| kind.eq_ignore_ascii_case(name);
        if is("Feature") {
            let geometry = self.member(json, "geometry")?;
            self.member(json, "properties")?;
            return match geometry {
                Json::Null => Ok(None),
                Json::Object(_) => self.object(geometry),
                _ => Err(self.wrong_type("geometry", "object")),
            };
        }
        let several = match () {
            () if is("FeatureCollection") => Some("features"),
            () if is("GeometryCollection") => Some("geometries"),
            () => None,
        };
        if let Some(name) = several {
            let mut members = Vec::new();
            for member in self.array(json, name)? {
                members.extend(self.object(member)?);
            }
            return Ok(Some(Shape::Collection(members)));
        }
        let known = ["Point", "LineString", "Polygon", "MultiPoint", "MultiLineString"];
        if !known.into_iter().any(is) && !is("MultiPolygon") {
            return Err(self.invalid());
        }
        let items = self.array(json, "coordinates")?;
        Ok(Some(match () {
            () if is("Point") => Shape::Point(self.coord(items)?),
            () if is("LineString") => Shape::LineString(self.path(items, 2)?),
            () if is("Polygon") => Shape::Polygon(self.rings(items)?),
            () if is("MultiPoint") => Shape::MultiPoint(self.path(items, 1)?),
            () if is("MultiLineString") => {
                Shape::MultiLineString(self.each(items, |items| self.path(items, 2))?)
            }
            () => Shape::MultiPolygon(self.each(items, |items| self.rings(items))?),
        }))
    }

    fn coord(&self, items: &[Json]) -> Result<Coord, Stop> {
        let found = items.len();
        if found > 2 && self.refuse {
            let args: [&dyn std::fmt::Display; 3] = [&self.function, &found, &2];
            return Err(error(ErrorCode::DimensionUnsupported, &args));
        }
        let number = |at: usize| match items.get(at) {
            Some(Json::Int(number)) => Ok(*number as f64),
            Some(Json::UInt(number)) => Ok(*number as f64),
            Some(Json::Double(number)) => Ok(*number),
            Some(Json::Decimal(number)) => Ok(number.to_f64()),
            Some(_) => Err(self.wrong_type("coordinates", "array of numbers")),
            None => Err(self.invalid()),
        };
        Ok(Coord { x: number(0)?, y: number(1)? })
    }

    fn each<T>(
        &self,
        items: &[Json],
        read: impl Fn(&[Json]) -> Result<T, Stop>,
    ) -> Result<Vec<T>, Stop> {
        let inner = |item: &Json| match item {
            Json::Array(items) => read(items),
            _ => Err(self.wrong_type("coordinates", "array")),
        };
        if items.is_empty() {
            return Err(self.invalid());
        }
        items.iter().map(inner).collect()
    }

    fn path(&self, items: &[Json], least: usize) -> Result<Vec<Coord>, Stop> {
        let path = self.each(items, |items| self.coord(items))?;
        if path.len() < least { Err(self.invalid()) } else { Ok(path) }
    }

    fn rings(&self, items: &[Json]) -> Result<Vec<Vec<Coord>>, Stop> {
        self.each(items, |items| {
            let ring = self.path(items, 4)?;
            if ring.first() == ring.last() { Ok(ring) } else { Err(self.invalid()) }
        })
    }
}
