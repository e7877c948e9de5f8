//! Spatial reference systems: the plane of SRID 0 and those of the EPSG dataset.
//!
//! `data/reference_systems.tsv.gz` holds a line for each: SRID, name, organization, its number
//! there, definition as WKT, description (`scripts/reference-systems` makes it). It is unpacked
//! when a system is asked for that is not one of the two that nearly all data is in.

mod definition;
mod methods;
mod units;
mod wkt;

pub use definition::{Axes, Srs, SrsKind, WrongDefinition};
pub use units::UNITS;
pub use wkt::Direction;

use flate2::read::GzDecoder;
use std::collections::HashMap;
use std::io::Read;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// WGS 84: latitude and longitude as GPS gives them.
pub const WGS84: u32 = 4326;

static PACKED: &[u8] = include_bytes!("../data/reference_systems.tsv.gz");

/// A row of the table of reference systems.
#[derive(Clone, Copy, Debug)]
pub struct SrsRow {
    /// SRID.
    pub srid: u32,
    /// SRS_NAME.
    pub name: &'static str,
    /// ORGANIZATION, and the number there.
    pub organization: Option<(&'static str, u32)>,
    /// DEFINITION.
    pub definition: &'static str,
    /// DESCRIPTION.
    pub description: Option<&'static str>,
}

/// All reference systems, by their SRIDs.
pub fn all() -> &'static [SrsRow] {
    static ROWS: OnceLock<Vec<SrsRow>> = OnceLock::new();
    ROWS.get_or_init(|| {
        static TEXT: OnceLock<String> = OnceLock::new();
        let text = TEXT.get_or_init(|| {
            let mut text = String::new();
            let read = GzDecoder::new(PACKED).read_to_string(&mut text);
            read.expect("the table is part of the program");
            text
        });
        text.lines().filter_map(row).collect()
    })
}

fn row(line: &'static str) -> Option<SrsRow> {
    let mut fields = line.split('\t');
    let srid = fields.next()?.parse().ok()?;
    let name = fields.next()?;
    let (organization, number) = (fields.next()?, fields.next()?);
    Some(SrsRow {
        srid,
        name,
        organization: number.parse().ok().map(|number| (organization, number)),
        definition: fields.next()?,
        description: fields.next().filter(|text| !text.is_empty()),
    })
}

/// The row of an SRID.
pub fn row_of(srid: u32) -> Option<&'static SrsRow> {
    let rows = all();
    rows.binary_search_by_key(&srid, |row| row.srid).ok().map(|at| &rows[at])
}

/// The reference system of an SRID; `None` where there is no such system. SRID 0 has one, too.
pub fn find(srid: u32) -> Option<Arc<Srs>> {
    static WGS: OnceLock<Option<Arc<Srs>>> = OnceLock::new();
    static PLANE: OnceLock<Arc<Srs>> = OnceLock::new();
    match srid {
        0 => Some(PLANE.get_or_init(|| Arc::new(Srs::plane())).clone()),
        WGS84 => WGS.get_or_init(|| Some(Arc::new(Srs::wgs84()))).clone(),
        _ => other(srid),
    }
}

fn other(srid: u32) -> Option<Arc<Srs>> {
    static KNOWN: OnceLock<Mutex<HashMap<u32, Option<Arc<Srs>>>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Default::default);
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    // Wrong numbers are not remembered: there are too many of them.
    if let Some(found) = known.get(&srid) {
        return found.clone();
    }
    let found = Arc::new(Srs::parse(srid, row_of(srid)?.definition).ok()?);
    known.insert(srid, Some(found.clone()));
    Some(found)
}

/// Whether the system's coordinates are longitudes and latitudes.
pub fn is_geographic(srid: u32) -> bool {
    match srid {
        0 => false,
        WGS84 => true,
        _ => find(srid).is_some_and(|srs| srs.is_geographic()),
    }
}

#[cfg(test)]
mod tests;
