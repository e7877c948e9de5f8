//! Tablespaces: names under which CREATE TABLESPACE puts tables.
//!
//! All tables are in one file, whatever tablespace they name: what MySQL keeps of a tablespace is
//! kept here and shown. Each is a record of the catalog tree, `'w' name`. Names distinguish case.
//! A table keeps the name of its tablespace as the option [`TABLESPACE`].

use super::codec::{RecordReader, Writer};
use super::{Catalog, TABLESPACE_RECORD, Table, TableDef};
use inia_storage::{StorageError, Txn};
use std::collections::BTreeMap;
use std::sync::Arc;

const FORMAT: u64 = 1;

/// The option of a table that names its tablespace.
pub const TABLESPACE: &str = "TABLESPACE";
/// The tablespaces that every server has, and what stands for a file of each table.
pub const SYSTEM_SPACE: &str = "innodb_system";
/// See [`SYSTEM_SPACE`].
pub const TEMPORARY_SPACE: &str = "innodb_temporary";
/// See [`SYSTEM_SPACE`].
pub const FILE_PER_TABLE: &str = "innodb_file_per_table";
/// See [`SYSTEM_SPACE`].
pub const DICTIONARY_SPACE: &str = "mysql";

/// The undo tablespaces that MySQL makes: names, numbers, files.
const UNDO_SPACES: [(&str, u32, &str); 2] = [
    ("innodb_undo_001", 4_294_967_279, "./undo_001"),
    ("innodb_undo_002", 4_294_967_278, "./undo_002"),
];
/// The number of the first tablespace that a statement makes.
const FIRST: u32 = 2;

/// A tablespace's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablespaceDef {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// DATAFILE.
    pub file: String,
    /// It is an undo tablespace.
    pub undo: bool,
    /// SET ACTIVE of an undo tablespace.
    pub active: bool,
    /// FILE_BLOCK_SIZE; 0 is the size of pages.
    pub block_size: u64,
    /// AUTOEXTEND_SIZE.
    pub autoextend: u64,
    /// ENGINE_ATTRIBUTE.
    pub engine_attribute: Option<String>,
}

impl TablespaceDef {
    /// One without options.
    pub fn new(name: &str, file: &str, undo: bool) -> TablespaceDef {
        TablespaceDef {
            id: 0,
            name: name.to_owned(),
            file: file.to_owned(),
            undo,
            active: true,
            block_size: 0,
            autoextend: 0,
            engine_attribute: None,
        }
    }
}

/// Tablespaces by name.
pub(super) type Tablespaces = BTreeMap<String, Arc<TablespaceDef>>;

fn put_tablespace(def: &TablespaceDef) -> Vec<u8> {
    let mut w = Writer::default();
    w.int(FORMAT);
    w.int(def.id.into());
    w.text(&def.name);
    w.text(&def.file);
    w.bool(def.undo);
    w.bool(def.active);
    w.int(def.block_size);
    w.int(def.autoextend);
    w.option(def.engine_attribute.as_ref(), |w, text| w.text(text));
    w.0
}

/// Reads [`put_tablespace`]'s record.
pub(super) fn tablespace(bytes: &[u8]) -> Option<TablespaceDef> {
    let mut r = RecordReader(bytes);
    if r.int()? != FORMAT {
        return None;
    }
    Some(TablespaceDef {
        id: u32::try_from(r.int()?).ok()?,
        name: r.text()?,
        file: r.text()?,
        undo: r.bool()?,
        active: r.bool()?,
        block_size: r.int()?,
        autoextend: r.int()?,
        engine_attribute: r.option(RecordReader::text)?,
    })
}

fn key(name: &str) -> Vec<u8> {
    let mut key = vec![TABLESPACE_RECORD];
    key.extend_from_slice(name.as_bytes());
    key
}

/// The tablespace that a table names.
pub fn tablespace_of(def: &TableDef) -> Option<&str> {
    def.option(TABLESPACE)
}

impl Catalog {
    /// All tablespaces that have a definition, by their numbers.
    pub fn tablespaces(&self) -> Vec<Arc<TablespaceDef>> {
        let mut all = self.server.tablespaces.lock().clone();
        for (name, id, file) in UNDO_SPACES {
            let made = || Arc::new(TablespaceDef { id, ..TablespaceDef::new(name, file, true) });
            all.entry(name.to_owned()).or_insert_with(made);
        }
        let mut all: Vec<_> = all.into_values().collect();
        // The numbers of undo tablespaces go down.
        let number = |def: &TablespaceDef| if def.undo { !def.id } else { def.id };
        all.sort_by_key(|def| (!def.undo, number(def)));
        all
    }

    /// A tablespace by its name.
    pub fn tablespace(&self, name: &str) -> Option<Arc<TablespaceDef>> {
        self.tablespaces().into_iter().find(|def| def.name == name)
    }

    /// A number that no tablespace has. Those of undo tablespaces go down.
    pub fn new_tablespace_id(&self, undo: bool) -> u32 {
        let all = self.tablespaces();
        let numbers = all.iter().filter(|def| def.undo == undo).map(|def| def.id);
        match undo {
            true => numbers.min().map_or(u32::MAX, |id| id - 1),
            false => numbers.max().map_or(FIRST, |id| id + 1),
        }
    }

    /// The tables of a tablespace.
    pub fn tables_in(&self, name: &str) -> Vec<Arc<Table>> {
        let current = self.current();
        let tables = current.schemas.values().flat_map(|schema| schema.tables.values());
        tables.filter(|table| tablespace_of(&table.def) == Some(name)).cloned().collect()
    }

    /// Writes a change of tablespaces: one that is gone, one that is there.
    pub fn write_tablespace(
        &self,
        txn: &mut Txn,
        gone: Option<&str>,
        put: Option<&TablespaceDef>,
    ) -> Result<(), StorageError> {
        if let Some(name) = gone {
            txn.delete(&self.tree, &key(name))?;
        }
        match put {
            Some(def) => self.put(txn, &key(&def.name), &put_tablespace(def)),
            None => Ok(()),
        }
    }

    /// Shows what [`Catalog::write_tablespace`] has written.
    pub fn publish_tablespace(&self, gone: Option<&str>, put: Option<TablespaceDef>) {
        let mut all = self.server.tablespaces.lock();
        if let Some(name) = gone {
            all.remove(name);
        }
        if let Some(def) = put {
            all.insert(def.name.clone(), Arc::new(def));
        }
    }
}
