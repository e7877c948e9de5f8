//! What Inia takes from the WKT definition of a reference system.

use super::methods;
use super::wkt::{self, Authority, Direction, Geographic, Parameter, Projection};

const WGS84_SEMI_MAJOR: f64 = 6_378_137.0;
const WGS84_INVERSE_FLATTENING: f64 = 298.257_223_563;

/// The order in which texts and bytes have the coordinates of a geographic system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// Latitude first.
    LatLong,
    /// Longitude first, as in memory.
    LongLat,
}

/// Sorts of reference system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SrsKind {
    /// SRID 0: no units.
    Plane,
    /// Longitude and latitude on an ellipsoid.
    Geographic,
    /// Popular Visualisation Pseudo Mercator, the projection of maps on the web.
    PseudoMercator,
    /// Another projection: a plane with a unit.
    Projected,
}

/// A reference system.
#[derive(Clone, Debug, PartialEq)]
pub struct Srs {
    /// SRID.
    pub srid: u32,
    /// What sort it is.
    pub kind: SrsKind,
    /// The order of the axes, of a geographic system.
    pub axes: Axes,
    /// The unit: radians of a geographic system, metres of a projected one.
    pub unit: f64,
    /// Half of the longer axis of the ellipsoid, in metres.
    pub semi_major: f64,
    /// 1 / flattening; 0 for a sphere.
    pub inverse_flattening: f64,
    /// The prime meridian's longitude from Greenwich, in angular units.
    pub prime_meridian: f64,
    /// The seven parameters of the change to WGS 84.
    pub to_wgs84: Option<[f64; 7]>,
    /// What the axes point to.
    pub directions: [Direction; 2],
    /// EPSG's number of the projection.
    pub method: Option<u32>,
    /// The projection's parameters, by EPSG's numbers.
    pub parameters: Vec<(u32, f64)>,
}

/// What is wrong with a definition.
#[derive(Clone, Debug, PartialEq)]
pub enum WrongDefinition {
    /// It is no WKT of a geographic or projected system.
    Syntax,
    /// The longer half axis is not positive.
    SemiMajorAxis,
    /// The inverse flattening is neither 0 nor more than 1.
    InverseFlattening,
    /// The angular unit is not positive.
    AngularUnit,
    /// The prime meridian is no longitude.
    PrimeMeridian,
    /// The axes are not one north or south and one east or west.
    Axes(Direction, Direction),
    /// A parameter that the projection does not have.
    UnusedParameter(String),
    /// A parameter that the projection needs: its name and EPSG's number.
    MissingParameter(&'static str, u32),
}

/// EPSG's number in an authority.
fn epsg(authority: Authority<'_>) -> Option<u32> {
    let (name, code) = authority?;
    let number: u32 = code.parse().ok()?;
    (name.eq_ignore_ascii_case("EPSG") && number.to_string() == code).then_some(number)
}

/// A parameter's number among those of a method.
fn known_as(parameter: &Parameter<'_>, wanted: &[u32]) -> Option<u32> {
    let number = epsg(parameter.authority).filter(|number| wanted.contains(number));
    let is_named = |number: &&u32| methods::name(**number).eq_ignore_ascii_case(parameter.name);
    number.or_else(|| wanted.iter().find(is_named).copied())
}

/// What a method takes of the parameters, by their numbers.
fn taken(method: u32, projection: &Projection<'_>) -> Result<Vec<(u32, f64)>, WrongDefinition> {
    let Some(wanted) = methods::parameters(method) else { return Ok(Vec::new()) };
    let mut taken = Vec::new();
    for parameter in &projection.parameters {
        match known_as(parameter, wanted) {
            Some(number) => taken.push((number, parameter.value)),
            None => return Err(WrongDefinition::UnusedParameter(parameter.name.to_owned())),
        }
    }
    let missing = |number: &&u32| !taken.iter().any(|(known, _)| known == *number);
    match wanted.iter().find(missing) {
        Some(&number) => Err(WrongDefinition::MissingParameter(methods::name(number), number)),
        None => Ok(taken),
    }
}

/// What is wrong with the numbers of a geographic system.
fn check(system: &Geographic<'_>) -> Result<(), WrongDefinition> {
    use Direction::{East, North, South, West};
    let half = std::f64::consts::PI / system.unit;
    // A prime meridian of just half a turn is one, although the units are rounded.
    let limit = half * (1.0 + 1e-12);
    if system.semi_major <= 0.0 {
        return Err(WrongDefinition::SemiMajorAxis);
    }
    if system.inverse_flattening != 0.0 && system.inverse_flattening <= 1.0 {
        return Err(WrongDefinition::InverseFlattening);
    }
    if system.unit <= 0.0 {
        return Err(WrongDefinition::AngularUnit);
    }
    if system.prime_meridian.abs() > limit {
        return Err(WrongDefinition::PrimeMeridian);
    }
    match system.axes {
        [North | South, East | West] | [East | West, North | South] => Ok(()),
        [first, second] => Err(WrongDefinition::Axes(first, second)),
    }
}

impl Srs {
    /// SRID 0.
    pub(super) fn plane() -> Srs {
        Srs { srid: 0, kind: SrsKind::Plane, axes: Axes::LongLat, unit: 1.0, ..Srs::wgs84() }
    }

    /// SRID 4326.
    pub(super) fn wgs84() -> Srs {
        Srs {
            srid: super::WGS84,
            kind: SrsKind::Geographic,
            axes: Axes::LatLong,
            unit: 0.017453292519943278,
            semi_major: WGS84_SEMI_MAJOR,
            inverse_flattening: WGS84_INVERSE_FLATTENING,
            prime_meridian: 0.0,
            to_wgs84: Some([0.0; 7]),
            directions: [Direction::North, Direction::East],
            method: None,
            parameters: Vec::new(),
        }
    }

    /// Reads a definition.
    pub fn parse(srid: u32, text: &str) -> Result<Srs, WrongDefinition> {
        let (geographic, projection) = wkt::read(text).ok_or(WrongDefinition::Syntax)?;
        check(&geographic)?;
        let is_wgs84 = epsg(geographic.authority) == Some(super::WGS84)
            && geographic.semi_major == WGS84_SEMI_MAJOR
            && geographic.inverse_flattening == WGS84_INVERSE_FLATTENING;
        let shift = geographic.to_wgs84.or(is_wgs84.then_some([0.0; 7]));
        let mut srs = Srs {
            srid,
            kind: SrsKind::Geographic,
            axes: Axes::LatLong,
            directions: geographic.axes,
            unit: geographic.unit,
            semi_major: geographic.semi_major,
            inverse_flattening: geographic.inverse_flattening,
            prime_meridian: geographic.prime_meridian,
            to_wgs84: shift,
            method: None,
            parameters: Vec::new(),
        };
        if matches!(geographic.axes[0], Direction::East | Direction::West) {
            srs.axes = Axes::LongLat;
        }
        let Some(projection) = projection else { return Ok(srs) };
        srs.method = epsg(projection.authority);
        if let Some(method) = srs.method {
            srs.parameters = taken(method, &projection)?;
        }
        srs.kind = match srs.method {
            Some(methods::PSEUDO_MERCATOR) => SrsKind::PseudoMercator,
            _ => SrsKind::Projected,
        };
        srs.unit = projection.unit;
        srs.directions = projection.axes.unwrap_or([Direction::East, Direction::North]);
        Ok(srs)
    }

    /// A parameter of the projection by its number; 0 where there is none.
    pub(crate) fn parameter(&self, number: u32) -> f64 {
        let found = self.parameters.iter().find(|(known, _)| *known == number);
        found.map_or(0.0, |(_, value)| *value)
    }

    /// Whether longitudes grow to the east and latitudes to the north: the factors that make them
    /// do so.
    pub(crate) fn signs(&self) -> (f64, f64) {
        let sign = |against| if self.directions.contains(&against) { -1.0 } else { 1.0 };
        match self.is_geographic() {
            true => (sign(Direction::West), sign(Direction::South)),
            false => (1.0, 1.0),
        }
    }

    /// Whether coordinates are longitudes and latitudes.
    pub fn is_geographic(&self) -> bool {
        self.kind == SrsKind::Geographic
    }

    /// The flattening of the ellipsoid.
    pub fn flattening(&self) -> f64 {
        match self.inverse_flattening {
            0.0 => 0.0,
            inverse => 1.0 / inverse,
        }
    }

    /// Whether texts and bytes have latitude first.
    pub fn swaps(&self) -> bool {
        self.is_geographic() && self.axes == Axes::LatLong
    }

    /// The largest longitude, in the system's unit: 180 of degrees.
    pub fn half_turn(&self) -> f64 {
        let turn = std::f64::consts::PI / self.unit;
        // The units of the table are rounded.
        if (turn - turn.round()).abs() < 1e-9 { turn.round() } else { turn }
    }
}
