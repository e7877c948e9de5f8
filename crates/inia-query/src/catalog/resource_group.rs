//! Resource groups: which processors and which priority threads of sessions are to have.
//!
//! Groups are kept and shown; threads run where the operating system lets them. Each group that a
//! statement has made is a record of the catalog tree, `'k' name`. Names do not distinguish case.

use super::codec::{RecordReader, Writer};
use super::{Catalog, RESOURCE_GROUP};
use crate::error::StorageResult;
use inia_base::collation::Collation;
use inia_base::error::SqlError;
use inia_storage::Isolation;
use std::sync::Arc;

const FORMAT: u64 = 1;

/// The groups that every server has: of sessions' threads and of its own.
pub const DEFAULT_GROUPS: [(&str, bool); 2] = [("USR_default", false), ("SYS_default", true)];

/// A resource group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceGroup {
    /// Its place among all.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// TYPE = SYSTEM.
    pub system: bool,
    /// ENABLE.
    pub enabled: bool,
    /// VCPU: the processors' numbers in ascending order; all where there are none.
    pub processors: Vec<u64>,
    /// THREAD_PRIORITY.
    pub priority: i64,
}

impl ResourceGroup {
    /// A group with all processors.
    pub fn new(name: &str, system: bool) -> ResourceGroup {
        let (id, enabled, processors, priority) = (0, true, Vec::new(), 0);
        ResourceGroup { id, name: name.to_owned(), system, enabled, processors, priority }
    }

    /// Whether it is one of [`DEFAULT_GROUPS`].
    pub fn is_default(&self) -> bool {
        DEFAULT_GROUPS.iter().any(|(name, _)| self.is_named(name))
    }

    /// Whether a name means it.
    pub fn is_named(&self, name: &str) -> bool {
        Collation::SYSTEM.equals(self.name.as_bytes(), name.as_bytes())
    }
}

fn put_group(group: &ResourceGroup) -> Vec<u8> {
    let mut w = Writer::default();
    w.int(FORMAT);
    w.int(group.id);
    w.text(&group.name);
    w.bool(group.system);
    w.bool(group.enabled);
    w.list(&group.processors, |w, number| w.int(*number));
    w.int(group.priority as u64);
    w.0
}

/// Reads [`put_group`]'s record.
pub(super) fn group(bytes: &[u8]) -> Option<ResourceGroup> {
    let mut r = RecordReader(bytes);
    if r.int()? != FORMAT {
        return None;
    }
    Some(ResourceGroup {
        id: r.int()?,
        name: r.text()?,
        system: r.bool()?,
        enabled: r.bool()?,
        processors: r.list(RecordReader::int)?,
        priority: r.int()? as i64,
    })
}

fn key(name: &str) -> Vec<u8> {
    let mut key = vec![RESOURCE_GROUP];
    key.extend_from_slice(name.as_bytes());
    key
}

impl Catalog {
    /// All groups in the order in which they were made.
    pub fn resource_groups(&self) -> Vec<Arc<ResourceGroup>> {
        let default = |(name, system)| Arc::new(ResourceGroup::new(name, system));
        let mut all: Vec<_> = DEFAULT_GROUPS.into_iter().map(default).collect();
        all.extend(self.server.groups.lock().values().cloned());
        all
    }

    /// A group by its name.
    pub fn resource_group(&self, name: &str) -> Option<Arc<ResourceGroup>> {
        self.resource_groups().into_iter().find(|group| group.is_named(name))
    }

    /// Makes or changes a group.
    pub fn put_resource_group(&self, mut group: ResourceGroup) -> Result<(), SqlError> {
        let mut groups = self.server.groups.lock();
        if group.id == 0 {
            group.id = groups.keys().next_back().map_or(1, |last| last + 1);
        }
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        self.put(&mut txn, &key(&group.name), &put_group(&group)).sql()?;
        txn.commit().sql()?;
        groups.insert(group.id, Arc::new(group));
        Ok(())
    }

    /// Drops a group.
    pub fn drop_resource_group(&self, group: &ResourceGroup) -> Result<(), SqlError> {
        let mut groups = self.server.groups.lock();
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        txn.delete(&self.tree, &key(&group.name)).sql()?;
        txn.commit().sql()?;
        groups.remove(&group.id);
        Ok(())
    }
}
