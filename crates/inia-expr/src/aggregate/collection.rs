//! ST_Collect: the geometries of a group as one.

use crate::context::SessionHost;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_geometry::{Geometry, Shape, from_internal, to_internal};

/// The geometries of a group, which are in one reference system.
#[derive(Clone, Debug)]
pub(super) struct Collection {
    srid: u32,
    members: Vec<Shape>,
}

impl Collection {
    /// Takes in one value; errors 3037, 3548 and 4034.
    pub(super) fn add(
        found: &mut Option<Collection>,
        value: &Value,
        host: &dyn SessionHost,
    ) -> Result<(), SqlError> {
        let name = "st_collect";
        let geometry = value.as_bytes().and_then(from_internal);
        let Some(Geometry { srid, shape }) = geometry else {
            return Err(SqlError::new(ErrorCode::GisInvalidData, &[&name]));
        };
        if srid != 0 && host.reference_system(srid).is_none() {
            return Err(SqlError::new(ErrorCode::SrsNotFound, &[&srid]));
        }
        let own = found.get_or_insert_with(|| Collection { srid, members: Vec::new() });
        if own.srid != srid {
            let args: [&dyn std::fmt::Display; 3] = [&name, &own.srid, &srid];
            return Err(SqlError::new(ErrorCode::GisDifferentSridsAggregation, &args));
        }
        own.members.push(shape);
        Ok(())
    }

    /// Points, lines or polygons as a geometry of several of them, others as a collection.
    pub(super) fn into_value(self) -> Value {
        let members = self.members;
        let all = |wanted: fn(&Shape) -> bool| members.iter().all(wanted);
        let shape = if all(|shape| matches!(shape, Shape::Point(_))) {
            Shape::MultiPoint(parts(members, |shape| match shape {
                Shape::Point(at) => Some(at),
                _ => None,
            }))
        } else if all(|shape| matches!(shape, Shape::LineString(_))) {
            Shape::MultiLineString(parts(members, |shape| match shape {
                Shape::LineString(path) => Some(path),
                _ => None,
            }))
        } else if all(|shape| matches!(shape, Shape::Polygon(_))) {
            Shape::MultiPolygon(parts(members, |shape| match shape {
                Shape::Polygon(rings) => Some(rings),
                _ => None,
            }))
        } else {
            Shape::Collection(members)
        };
        Value::Bytes(to_internal(&Geometry { srid: self.srid, shape }))
    }
}

fn parts<T>(members: Vec<Shape>, part: fn(Shape) -> Option<T>) -> Vec<T> {
    members.into_iter().filter_map(part).collect()
}
