//! The catalog: databases and tables, kept in the storage engine's catalog tree and cached whole.
//!
//! Readers take a snapshot ([`Catalog::current`]) and see one version; DDL writes records in its
//! own storage transaction and publishes the next version after the commit.

pub mod mdl;
mod table;

pub use table::{
    CheckDef, ColumnDef, ColumnDefault, ForeignKeyDef, Generated, IndexDef, IndexKind, IndexPart,
    ReferentialAction, Table, TableDef, TableId, TableIndex, TableShared, same_name,
};

use crate::database::OpenError;
use inia_base::collation::Collation;
use inia_storage::Engine;
use mdl::MdlManager;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A database's durable definition.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaDef {
    /// Name.
    pub name: String,
    /// Default collation of new tables.
    pub collation: Collation,
    /// READ ONLY = 1.
    pub read_only: bool,
}

/// A database and its tables in one catalog version.
#[derive(Clone)]
pub struct Schema {
    /// Definition.
    pub def: SchemaDef,
    /// Tables by name.
    pub tables: BTreeMap<String, Arc<Table>>,
}

/// One version of the whole catalog.
#[derive(Clone, Default)]
pub struct CatalogVersion {
    /// Counts publications.
    pub number: u64,
    /// Databases by name.
    pub schemas: BTreeMap<String, Arc<Schema>>,
}

/// The versioned, cached catalog.
pub struct Catalog {
    current: RwLock<Arc<CatalogVersion>>,
    mdl: Arc<MdlManager>,
}

impl Catalog {
    pub(crate) fn load(_engine: &Arc<Engine>) -> Result<Catalog, OpenError> {
        Ok(Catalog { current: RwLock::default(), mdl: Arc::default() })
    }

    /// The newest version.
    pub fn current(&self) -> Arc<CatalogVersion> {
        self.current.read().clone()
    }

    /// The newest version of a database.
    pub fn schema(&self, name: &str) -> Option<Arc<Schema>> {
        self.current.read().schemas.get(name).cloned()
    }

    /// The newest version of a table.
    pub fn table(&self, schema: &str, name: &str) -> Option<Arc<Table>> {
        self.current.read().schemas.get(schema)?.tables.get(name).cloned()
    }

    /// The metadata locks.
    pub fn mdl(&self) -> &Arc<MdlManager> {
        &self.mdl
    }
}
