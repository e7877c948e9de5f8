//! Every system of the table can be read.

use super::{Axes, Srs, SrsKind, WrongDefinition, all, find, row_of};

#[test]
fn every_definition_is_understood() {
    let rows = all();
    assert!(rows.len() > 5_000 && rows.is_sorted_by_key(|row| row.srid));
    for row in rows.iter().filter(|row| row.srid != 0) {
        assert!(Srs::parse(row.srid, row.definition).is_ok(), "{} {}", row.srid, row.definition);
    }
}

#[test]
fn the_system_that_is_built_in_is_that_of_the_table() {
    let row = row_of(4326).expect("WGS 84 is in the table");
    assert_eq!(Srs::parse(4326, row.definition), Ok(Srs::wgs84()));
    assert_eq!(find(4326).map(|srs| srs.axes), Some(Axes::LatLong));
}

#[test]
fn sorts_of_systems() {
    let kind = |srid| find(srid).map(|srs| srs.kind);
    assert_eq!(kind(0), Some(SrsKind::Plane));
    assert_eq!(kind(4326), Some(SrsKind::Geographic));
    assert_eq!(kind(3857), Some(SrsKind::PseudoMercator));
    assert_eq!(kind(32632), Some(SrsKind::Projected));
    assert_eq!(kind(1), None);
}

#[test]
fn nodes_nest_as_deep_as_a_projected_system_does() {
    let row = row_of(32632).expect("UTM zone 32N is in the table");
    let deeper = format!("PROJCS[\"x\", {}]", row.definition);
    let endless = "GEOGCS[".repeat(1 << 20);
    for definition in [deeper, endless] {
        assert_eq!(Srs::parse(1, &definition), Err(WrongDefinition::Syntax));
    }
}
