//! What Inia takes from the WKT definition of a reference system.

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
}

/// A bracketed word of WKT: `WORD["name", 1, MEMBER[…]]`.
#[derive(Debug)]
struct Node<'t> {
    word: &'t str,
    texts: Vec<&'t str>,
    members: Vec<Node<'t>>,
}

impl<'t> Node<'t> {
    fn member(&self, word: &str) -> Option<&Node<'t>> {
        self.members.iter().find(|member| member.word == word)
    }

    fn number(&self, at: usize) -> Option<f64> {
        self.texts.get(at)?.parse().ok()
    }
}

/// Reads a node at the start of the text.
fn node<'t>(text: &mut &'t str) -> Option<Node<'t>> {
    let (word, mut rest) = text.split_once('[')?;
    let (mut texts, mut members) = (Vec::new(), Vec::new());
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (name, after) = quoted.split_once('"')?;
            texts.push(name);
            rest = after;
        } else {
            let end = rest.find(['[', ',', ']'])?;
            if rest.as_bytes()[end] == b'[' {
                members.push(node(&mut rest)?);
            } else {
                texts.push(&rest[..end]);
                rest = &rest[end..];
            }
        }
        match rest.as_bytes().first()? {
            b',' => rest = &rest[1..],
            b']' => break,
            _ => return None,
        }
    }
    *text = &rest[1..];
    Some(Node { word, texts, members })
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
            semi_major: 6_378_137.0,
            inverse_flattening: 298.257_223_563,
            prime_meridian: 0.0,
            to_wgs84: None,
        }
    }

    /// Reads a definition.
    pub(super) fn parse(srid: u32, mut text: &str) -> Option<Srs> {
        let whole = node(&mut text)?;
        let projected = whole.word == "PROJCS";
        let geographic = if projected { whole.member("GEOGCS")? } else { &whole };
        let datum = geographic.member("DATUM")?;
        let spheroid = datum.member("SPHEROID")?;
        let projection = whole.member("PROJECTION").and_then(|node| node.texts.first().copied());
        let kind = match projection {
            None => SrsKind::Geographic,
            Some("Popular Visualisation Pseudo Mercator") => SrsKind::PseudoMercator,
            Some(_) => SrsKind::Projected,
        };
        let first = geographic.member("AXIS").and_then(|axis| axis.texts.get(1).copied());
        let axes = match first {
            Some("EAST" | "WEST") => Axes::LongLat,
            _ => Axes::LatLong,
        };
        let to_wgs84 = datum.member("TOWGS84").and_then(|shift| {
            let mut numbers = [0.0; 7];
            for (at, number) in numbers.iter_mut().enumerate() {
                *number = shift.number(at)?;
            }
            Some(numbers)
        });
        Some(Srs {
            srid,
            kind,
            axes,
            unit: whole.member("UNIT")?.number(1)?,
            semi_major: spheroid.number(1)?,
            inverse_flattening: spheroid.number(2)?,
            prime_meridian: geographic.member("PRIMEM")?.number(1)?,
            to_wgs84,
        })
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
