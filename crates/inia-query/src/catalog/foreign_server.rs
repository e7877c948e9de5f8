//! Foreign servers: names for the connections of FEDERATED tables, as CREATE SERVER defines them.
//!
//! Each is a record of the catalog tree, `'f' name`. Names do not distinguish case.

use super::codec::{RecordReader, Writer};
use super::{Catalog, FOREIGN_SERVER};
use crate::error::StorageResult;
use inia_base::collation::Collation;
use inia_base::error::SqlError;
use inia_storage::Isolation;
use std::sync::Arc;

const FORMAT: u64 = 1;

/// A foreign server's definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignServerDef {
    /// Its name.
    pub name: String,
    /// HOST.
    pub host: String,
    /// DATABASE.
    pub database: String,
    /// USER.
    pub user: String,
    /// PASSWORD.
    pub password: String,
    /// PORT.
    pub port: u64,
    /// SOCKET.
    pub socket: String,
    /// FOREIGN DATA WRAPPER.
    pub wrapper: String,
    /// OWNER.
    pub owner: String,
}

fn put_server(def: &ForeignServerDef) -> Vec<u8> {
    let mut w = Writer::default();
    w.int(FORMAT);
    for text in [&def.name, &def.host, &def.database, &def.user, &def.password] {
        w.text(text);
    }
    w.int(def.port);
    for text in [&def.socket, &def.wrapper, &def.owner] {
        w.text(text);
    }
    w.0
}

/// Reads [`put_server`]'s record.
pub(super) fn server(bytes: &[u8]) -> Option<ForeignServerDef> {
    let mut r = RecordReader(bytes);
    if r.int()? != FORMAT {
        return None;
    }
    Some(ForeignServerDef {
        name: r.text()?,
        host: r.text()?,
        database: r.text()?,
        user: r.text()?,
        password: r.text()?,
        port: r.int()?,
        socket: r.text()?,
        wrapper: r.text()?,
        owner: r.text()?,
    })
}

fn key(name: &str) -> Vec<u8> {
    let mut key = vec![FOREIGN_SERVER];
    key.extend_from_slice(name.as_bytes());
    key
}

fn is_named(def: &ForeignServerDef, name: &str) -> bool {
    Collation::SYSTEM.equals(def.name.as_bytes(), name.as_bytes())
}

impl Catalog {
    /// All foreign servers, in the order of their names.
    pub fn foreign_servers(&self) -> Vec<Arc<ForeignServerDef>> {
        self.server.foreign.lock().values().cloned().collect()
    }

    /// Stores a new foreign server; whether its name was free.
    pub fn create_foreign_server(&self, def: ForeignServerDef) -> Result<bool, SqlError> {
        let mut servers = self.server.foreign.lock();
        if servers.values().any(|known| is_named(known, &def.name)) {
            return Ok(false);
        }
        self.store_server(&def)?;
        servers.insert(def.name.clone(), Arc::new(def));
        Ok(true)
    }

    /// Changes a foreign server; whether there is one of the name.
    pub fn alter_foreign_server(
        &self,
        name: &str,
        change: impl FnOnce(&mut ForeignServerDef),
    ) -> Result<bool, SqlError> {
        let mut servers = self.server.foreign.lock();
        let Some(known) = servers.values_mut().find(|known| is_named(known, name)) else {
            return Ok(false);
        };
        let mut def = ForeignServerDef::clone(known);
        change(&mut def);
        self.store_server(&def)?;
        *known = Arc::new(def);
        Ok(true)
    }

    /// Drops a foreign server; whether there was one of the name.
    pub fn drop_foreign_server(&self, name: &str) -> Result<bool, SqlError> {
        let mut servers = self.server.foreign.lock();
        let Some(known) = servers.values().find(|known| is_named(known, name)).cloned() else {
            return Ok(false);
        };
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        txn.delete(&self.tree, &key(&known.name)).sql()?;
        txn.commit().sql()?;
        servers.remove(&known.name);
        Ok(true)
    }

    fn store_server(&self, def: &ForeignServerDef) -> Result<(), SqlError> {
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        self.put(&mut txn, &key(&def.name), &put_server(def)).sql()?;
        txn.commit().sql()
    }
}
