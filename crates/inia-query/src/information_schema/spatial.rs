//! Geometry columns, reference systems and units of length.

use super::tables::visible;
use super::{Rows, or_null, row};
use crate::information::Information;
use inia_base::datatype::DataType;
use inia_geometry::srs;

pub(super) fn geometry_columns(info: &Information<'_>, rows: &mut Rows) {
    for table in visible(info) {
        let def = &table.def;
        for column in &def.columns {
            let DataType::Geometry { kind, srid } = column.data_type else { continue };
            let own = (def.schema.as_str(), def.name.as_str());
            if def.temporary || !info.access.sees_column(own.0, own.1, &column.name) {
                continue;
            }
            let name = srid.and_then(|srid| info.db.catalog().reference_name(srid));
            rows.push(row![
                "def",
                own.0,
                own.1,
                column.name.as_str(),
                or_null(name),
                or_null(srid.map(u64::from)),
                kind.name().to_lowercase(),
            ]);
        }
    }
}

pub(super) fn reference_systems(info: &Information<'_>, rows: &mut Rows) {
    let text = |text: Option<&str>| or_null(text.map(str::to_owned));
    rows.extend(info.db.catalog().reference_rows().iter().map(|system| {
        let organization = system.organization.as_ref();
        row![
            system.name.as_ref(),
            u64::from(system.srid),
            text(organization.map(|(name, _)| name.as_ref())),
            or_null(organization.map(|(_, number)| u64::from(*number))),
            system.definition.as_ref(),
            text(system.description.as_deref()),
        ]
    }));
}

pub(super) fn units(_: &Information<'_>, rows: &mut Rows) {
    rows.extend(srs::UNITS.iter().map(|(name, factor)| row![*name, "LINEAR", *factor, ""]));
}
