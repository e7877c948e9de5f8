//! Spatial reference systems that CREATE and DROP SPATIAL REFERENCE SYSTEM have changed.
//!
//! Each is a record of the catalog tree, `'g' srid`: a definition, or none where a system of the
//! program's own table was dropped. All other systems are those of that table.

use super::codec::{RecordReader, Writer};
use super::{Catalog, REFERENCE_SYSTEM};
use crate::error::StorageResult;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_geometry::{Srs, srs};
use inia_storage::Isolation;
use parking_lot::MutexGuard;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

const FORMAT: u64 = 1;

/// A reference system that the program's table does not have, or not like this.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceSystem {
    /// SRID.
    pub srid: u32,
    /// NAME.
    pub name: String,
    /// ORGANIZATION and IDENTIFIED BY.
    pub organization: Option<(String, u32)>,
    /// DEFINITION.
    pub definition: String,
    /// DESCRIPTION.
    pub description: Option<String>,
    /// What the definition says.
    pub srs: Arc<Srs>,
}

/// Systems by SRID; `None` where one of the table was dropped.
pub(super) type ReferenceSystems = BTreeMap<u32, Option<Arc<ReferenceSystem>>>;

/// A row of ST_SPATIAL_REFERENCE_SYSTEMS.
pub struct ReferenceRow<'s> {
    /// SRID.
    pub srid: u32,
    /// NAME.
    pub name: Cow<'s, str>,
    /// ORGANIZATION and IDENTIFIED BY.
    pub organization: Option<(Cow<'s, str>, u32)>,
    /// DEFINITION.
    pub definition: Cow<'s, str>,
    /// DESCRIPTION.
    pub description: Option<Cow<'s, str>>,
}

fn put_system(srid: u32, system: Option<&ReferenceSystem>) -> Vec<u8> {
    let mut w = Writer::default();
    w.int(FORMAT);
    w.int(srid.into());
    w.option(system, |w, system| {
        w.text(&system.name);
        w.option(system.organization.as_ref(), |w, (name, number)| {
            w.text(name);
            w.int((*number).into());
        });
        w.text(&system.definition);
        w.option(system.description.as_ref(), |w, text| w.text(text));
    });
    w.0
}

/// Reads [`put_system`]'s record.
pub(super) fn system(bytes: &[u8]) -> Option<(u32, Option<Arc<ReferenceSystem>>)> {
    let mut r = RecordReader(bytes);
    if r.int()? != FORMAT {
        return None;
    }
    let srid = u32::try_from(r.int()?).ok()?;
    let system = r.option(|r| {
        let name = r.text()?;
        let number = |r: &mut RecordReader<'_>| Some((r.text()?, u32::try_from(r.int()?).ok()?));
        let organization = r.option(number)?;
        let definition = r.text()?;
        let description = r.option(RecordReader::text)?;
        let srs = Arc::new(Srs::parse(srid, &definition).ok()?);
        Some(Arc::new(ReferenceSystem { srid, name, organization, definition, description, srs }))
    })?;
    Some((srid, system))
}

fn key(srid: u32) -> Vec<u8> {
    let mut key = vec![REFERENCE_SYSTEM];
    key.extend_from_slice(&srid.to_be_bytes());
    key
}

fn built_in(row: &'static srs::SrsRow) -> ReferenceRow<'static> {
    ReferenceRow {
        srid: row.srid,
        name: row.name.into(),
        organization: row.organization.map(|(name, number)| (name.into(), number)),
        definition: row.definition.into(),
        description: row.description.map(Cow::from),
    }
}

impl ReferenceSystem {
    fn row(&self) -> ReferenceRow<'static> {
        let organization = self.organization.clone();
        ReferenceRow {
            srid: self.srid,
            name: self.name.clone().into(),
            organization: organization.map(|(name, number)| (name.into(), number)),
            definition: self.definition.clone().into(),
            description: self.description.clone().map(Cow::from),
        }
    }
}

impl Catalog {
    /// Keeps other sessions from changing definitions of the server as a whole.
    pub fn change_server(&self) -> MutexGuard<'_, ()> {
        self.server.changes.lock()
    }

    /// The reference system of an SRID, where there is one.
    pub fn reference_system(&self, srid: u32) -> Option<Arc<Srs>> {
        match self.server.reference_systems.read().get(&srid) {
            Some(changed) => changed.as_ref().map(|system| system.srs.clone()),
            None => srs::find(srid),
        }
    }

    /// Whether any system was defined or dropped.
    pub fn has_own_references(&self) -> bool {
        !self.server.reference_systems.read().is_empty()
    }

    /// The name of a reference system.
    pub fn reference_name(&self, srid: u32) -> Option<String> {
        match self.server.reference_systems.read().get(&srid) {
            Some(changed) => changed.as_ref().map(|system| system.name.clone()),
            None => srs::row_of(srid).map(|row| row.name.to_owned()),
        }
    }

    /// All reference systems, by their SRIDs.
    pub fn reference_rows(&self) -> Vec<ReferenceRow<'static>> {
        let changed = self.server.reference_systems.read();
        let kept = srs::all().iter().filter(|row| !changed.contains_key(&row.srid));
        let mut rows: Vec<_> = kept.map(built_in).collect();
        rows.extend(changed.values().flatten().map(|system| system.row()));
        rows.sort_by_key(|row| row.srid);
        rows
    }

    /// The key that a system would have twice, as error 1062 writes value and key.
    pub fn duplicate_reference(&self, system: &ReferenceSystem) -> Option<(String, &'static str)> {
        let same = |a: &str, b: &str| Collation::SYSTEM.equals(a.as_bytes(), b.as_bytes());
        let rows = self.reference_rows();
        let others = || rows.iter().filter(|row| row.srid != system.srid);
        if others().any(|row| same(&row.name, &system.name)) {
            return Some((format!("1-{}", system.name), "st_spatial_reference_systems.SRS_NAME"));
        }
        let (name, number) = system.organization.as_ref()?;
        let is_taken = |row: &ReferenceRow<'_>| {
            let own = row.organization.as_ref();
            own.is_some_and(|(own, at)| at == number && same(own, name))
        };
        others().any(is_taken).then(|| {
            let key = "st_spatial_reference_systems.ORGANIZATION_AND_ID";
            (format!("1-{name}-{number}"), key)
        })
    }

    /// Whether a column of a stored table has the SRID.
    pub fn uses_reference(&self, wanted: u32) -> bool {
        let current = self.current();
        let mut tables = current.schemas.values().flat_map(|schema| schema.tables.values());
        tables.any(|table| {
            let is_it = |data_type: &DataType| match data_type {
                DataType::Geometry { srid, .. } => *srid == Some(wanted),
                _ => false,
            };
            table.def.columns.iter().any(|column| is_it(&column.data_type))
        })
    }

    /// Defines a system, or drops it.
    pub fn put_reference(
        &self,
        srid: u32,
        system: Option<ReferenceSystem>,
    ) -> Result<(), SqlError> {
        let mut systems = self.server.reference_systems.write();
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        let forgets = system.is_none() && srs::row_of(srid).is_none();
        if forgets {
            txn.delete(&self.tree, &key(srid)).sql()?;
        } else {
            self.put(&mut txn, &key(srid), &put_system(srid, system.as_ref())).sql()?;
        }
        txn.commit().sql()?;
        if forgets {
            systems.remove(&srid);
        } else {
            systems.insert(srid, system.map(Arc::new));
        }
        Ok(())
    }
}
