//! Geometries: what they are made of, their texts and bytes, and what is computed of them.
//!
//! A [`Geometry`] is a [`Shape`] in a reference system. Coordinates of a geographic system are in
//! memory and on disk longitude first, whatever order the system writes them in; [`Axes`] turns
//! them where texts and bytes come in and go out. Nothing here knows SQL.

mod algorithms;
pub mod cells;
pub mod geodesic;
pub mod geohash;
mod shape;
pub mod srs;
mod wkb;
mod wkt;

pub use algorithms::{Failed, buffer, distance, lines, measure, overlay, relate, simplify, valid};
pub use shape::{Bounds, Coord, Geometry, Shape};
pub use srs::{Axes, Srs};
pub use wkb::{from_internal, from_wkb, internal_bounds, put_wkb, to_internal};
pub use wkt::{from_wkt, to_wkt};
