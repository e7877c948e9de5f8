//! The catalog: databases and tables, kept in the storage engine's catalog tree and cached whole.
//!
//! Readers take a snapshot ([`Catalog::current`]) and see one version; DDL writes records in its
//! own storage transaction and publishes the next version after the commit.
//!
//! Records of the catalog tree, by key:
//!
//! ```text
//! 'd' name                 a database
//! 't' schema 0 name        a table
//! 'v' schema 0 name        a view
//! 's' schema 0 name        a sequence, see `sequence`
//! 'r' kind schema 0 name   a stored program, see `program`
//! 'p' name                 a variable of SET PERSIST
//! 'f' name                 a foreign server, see `foreign_server`
//! 'g' srid                 a spatial reference system, see `reference_system`
//! 'i'                      the UUID of the data directory, see `identity`
//! 'k' name                 a resource group, see `resource_group`
//! 'w' name                 a tablespace, see `tablespace`
//! 'x' id                   a session's temporary table
//! 'n' tree                 how many rows a table without transactions has, see `row_count`
//! 'u' …                    accounts, see `account::store`
//! ```

mod account_name;
pub mod codec;
pub mod event;
mod foreign_server;
pub(crate) mod heap;
mod identity;
pub mod mdl;
mod names;
pub mod partitions;
pub(crate) mod persisted;
pub mod program;
mod reference_system;
mod resource_group;
pub mod row_count;
pub(crate) mod row_ids;
pub mod sequence;
mod show_create;
pub(crate) mod stats;
mod stopwords;
mod table;
mod table_io;
mod tablespace;
pub(crate) mod temporary;
pub mod triggers;
mod types;
pub mod view;
pub mod width;

pub use crate::table_def::{
    CheckDef, ColumnDef, ColumnDefault, ForeignKeyDef, Generated, Histogram, HistogramBucket,
    IndexDef, IndexKind, IndexPart, ReferentialAction, TableDef, TableId, same_name,
};
pub use crate::table_def::{ColumnFormat, ColumnStorage, Placement};
pub use crate::table_def::{
    DISCARDING, HIDDEN, IMPLIED_FORMAT, STOPWORDS, Stopwords, TRANSACTIONAL,
};
pub use crate::table_def::{
    Division, DivisionMethod, LeafDef, PartitionBounds, PartitionDef, Partitioning,
};
pub use crate::table_def::{MERGED, MergeInsert, MergeUnion};
pub use account_name::AccountName;
pub use foreign_server::ForeignServerDef;
pub use names::{MAX_NAME, check_name};
pub use program::{ProgramDef, ProgramKind, StoredProgram, program_key, program_lock};
pub use reference_system::{ReferenceRow, ReferenceSystem};
pub use resource_group::{DEFAULT_GROUPS, ResourceGroup};
pub use sequence::{Sequence, SequenceDef, SequenceRange};
pub use show_create::{
    foreign_key_text, quoted, show_create_schema, show_create_table, stored_text, value_text,
};
pub use stats::HistogramRequest;
pub(crate) use stopwords::each_row;
pub use stopwords::words_listed;
pub(crate) use table::{SMALL_TABLE, TableShared};
pub use table::{Table, TableIndex};
pub use table_io::{IndexIo, TableIo};
pub use tablespace::{
    DICTIONARY_SPACE, FILE_PER_TABLE, SYSTEM_SPACE, TABLESPACE, TEMPORARY_SPACE, TablespaceDef,
    tablespace_of,
};
use triggers::TableTriggers;
pub(crate) use view::View;
pub use view::{ViewAlgorithm, ViewCheck, ViewDef};

use crate::error::OpenError;
use crate::error::StorageResult;
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_storage::{Direction, Engine, Isolation, KeyBound, ReadMode, StorageError, Tree, Txn};
use mdl::MdlManager;
use parking_lot::{Mutex, RwLock};
use partitions::MergeView;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

const SCHEMA: u8 = b'd';
const TABLE: u8 = b't';
const VIEW: u8 = b'v';
const SEQUENCE: u8 = b's';
const TEMPORARY: u8 = b'x';
const PROGRAM: u8 = b'r';
const PERSISTED: u8 = b'p';
const FOREIGN_SERVER: u8 = b'f';
const REFERENCE_SYSTEM: u8 = b'g';
const IDENTITY: u8 = b'i';
const RESOURCE_GROUP: u8 = b'k';
const TABLESPACE_RECORD: u8 = b'w';
/// First byte of the records that accounts are kept in.
pub(crate) const ACCOUNT: u8 = b'u';

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
    /// Views by name; no table has the same.
    pub views: BTreeMap<String, Arc<View>>,
    /// Sequences by name; no table and no view has the same.
    pub sequences: BTreeMap<String, Arc<Sequence>>,
    /// Stored programs by [`program_key`].
    pub programs: BTreeMap<(ProgramKind, String), Arc<StoredProgram>>,
}

impl Schema {
    /// A database without anything in it.
    fn empty(def: SchemaDef) -> Schema {
        let (tables, views) = (BTreeMap::new(), BTreeMap::new());
        Schema { def, tables, views, sequences: BTreeMap::new(), programs: BTreeMap::new() }
    }

    /// A stored program.
    pub fn program(&self, kind: ProgramKind, name: &str) -> Option<&Arc<StoredProgram>> {
        self.programs.get(&program_key(kind, name))
    }

    /// Whether a table, view or sequence has that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tables.contains_key(name)
            || self.views.contains_key(name)
            || self.sequences.contains_key(name)
    }
}

/// One version of the whole catalog.
#[derive(Clone, Default)]
pub struct CatalogVersion {
    /// Counts publications.
    pub number: u64,
    /// Databases by name.
    pub schemas: BTreeMap<String, Arc<Schema>>,
    /// For each table that foreign keys refer to, the tables that have them; both as database and
    /// name.
    pub references: Arc<BTreeMap<FullName, Vec<FullName>>>,
    /// Merged tables.
    pub(crate) merged: Arc<[FullName]>,
}

impl CatalogVersion {
    /// Puts handles into the place of merged tables that read the children which the version has;
    /// those that were there.
    fn open_merged(&mut self, view: MergeView) -> Vec<Arc<Table>> {
        let table = |(schema, name): &FullName| self.schemas.get(schema)?.tables.get(name).cloned();
        let merged = self.merged.iter().filter_map(table);
        let opened: Vec<_> = merged.filter_map(|table| table.opened(self, view)).collect();
        let mut replaced = Vec::new();
        for table in opened {
            let Some(schema) = self.schemas.get_mut(&table.def.schema) else { continue };
            let name = table.def.name.clone();
            replaced.extend(Arc::make_mut(schema).tables.insert(name, table));
        }
        replaced
    }
}

/// A table's database and name.
pub type FullName = (String, String);

/// One change of the published catalog.
pub enum Change {
    /// A database is there with this definition; its tables stay.
    PutSchema(SchemaDef),
    /// A database and its tables are gone.
    DropSchema(String),
    /// A table is there with this definition.
    PutTable(TableDef),
    /// A table is gone.
    DropTable {
        /// Its database.
        schema: String,
        /// Its name.
        name: String,
    },
    /// A view is there with this definition.
    PutView(Box<ViewDef>),
    /// A view is gone.
    DropView {
        /// Its database.
        schema: String,
        /// Its name.
        name: String,
    },
    /// A sequence is there with this definition.
    PutSequence(Box<SequenceDef>),
    /// A sequence is gone.
    DropSequence {
        /// Its database.
        schema: String,
        /// Its name.
        name: String,
    },
    /// A stored program is there with this definition.
    PutProgram(Box<ProgramDef>),
    /// A stored program is gone.
    DropProgram {
        /// What it was.
        kind: ProgramKind,
        /// Its database.
        schema: String,
        /// Its name.
        name: String,
    },
    /// A session's temporary table is gone.
    DropTemporary {
        /// Its database.
        schema: String,
        /// Its name.
        name: String,
        /// Its number.
        id: TableId,
    },
}

impl Change {
    /// The schema that is changed, or in which something is.
    fn schema(&self) -> Option<&str> {
        match self {
            Change::PutSchema(def) => Some(&def.name),
            Change::PutTable(def) => Some(&def.schema),
            Change::PutView(def) => Some(&def.schema),
            Change::PutProgram(def) => Some(&def.schema),
            Change::DropSchema(name) => Some(name),
            Change::DropView { schema, .. } | Change::DropProgram { schema, .. } => Some(schema),
            _ => None,
        }
    }

    /// Whether the database is there that a table or view is put into.
    fn has_schema(&self, version: &CatalogVersion) -> bool {
        match self {
            Change::PutTable(def) => version.schemas.contains_key(&def.schema),
            Change::PutView(def) => version.schemas.contains_key(&def.schema),
            Change::PutSequence(def) => version.schemas.contains_key(&def.schema),
            Change::PutProgram(def) => version.schemas.contains_key(&def.schema),
            _ => true,
        }
    }
}

impl Change {
    /// Whether only one session sees it.
    pub fn is_temporary(&self) -> bool {
        match self {
            Change::PutTable(def) => def.temporary,
            Change::DropTemporary { .. } => true,
            _ => false,
        }
    }
}

/// What the newest version has any of: statements ask before they look for their own.
#[derive(Default)]
struct Kinds {
    /// Foreign keys.
    references: AtomicBool,
    /// Schemas that ALTER DATABASE … READ ONLY protects.
    read_only_schemas: AtomicBool,
}

/// What the catalog tree keeps of the server as a whole.
#[derive(Default)]
struct ServerRecords {
    /// SET PERSIST.
    persisted: Mutex<BTreeMap<String, String>>,
    foreign: Mutex<BTreeMap<String, Arc<ForeignServerDef>>>,
    reference_systems: RwLock<reference_system::ReferenceSystems>,
    tablespaces: Mutex<tablespace::Tablespaces>,
    uuid: Mutex<Option<String>>,
    groups: Mutex<BTreeMap<u64, Arc<ResourceGroup>>>,
    /// Held while a statement looks at these and changes them.
    changes: Mutex<()>,
}

impl ServerRecords {
    /// Takes a record that is none of a database; false for others.
    fn take(&self, key: &[u8], value: &[u8]) -> Option<bool> {
        match key.split_first()? {
            (&PERSISTED, name) => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                self.persisted.lock().insert(text(name), text(value));
            }
            (&FOREIGN_SERVER, _) => {
                let def = foreign_server::server(value)?;
                self.foreign.lock().insert(def.name.clone(), Arc::new(def));
            }
            (&TABLESPACE_RECORD, _) => {
                let def = tablespace::tablespace(value)?;
                self.tablespaces.lock().insert(def.name.clone(), Arc::new(def));
            }
            (&RESOURCE_GROUP, _) => {
                let group = resource_group::group(value)?;
                self.groups.lock().insert(group.id, Arc::new(group));
            }
            (&IDENTITY, _) => {
                *self.uuid.lock() = Some(String::from_utf8(value.to_vec()).ok()?);
            }
            (&REFERENCE_SYSTEM, _) => {
                let (srid, system) = reference_system::system(value)?;
                self.reference_systems.write().insert(srid, system);
            }
            _ => return Some(false),
        }
        Some(true)
    }
}

/// The versioned, cached catalog.
pub struct Catalog {
    engine: Arc<Engine>,
    /// Where MEMORY tables are, once there is one.
    volatile_store: OnceLock<Arc<Engine>>,
    tree: Tree,
    current: RwLock<Arc<CatalogVersion>>,
    /// Counters of tables by table id; they outlive a table's runtime handle.
    shared: Mutex<HashMap<TableId, Arc<TableShared>>>,
    next_table_id: AtomicU64,
    kinds: Kinds,
    mdl: Arc<MdlManager>,
    server: ServerRecords,
    /// Held while a table's histograms change: two sessions that change them hold metadata locks
    /// that get on with each other.
    pub histogram_changes: Mutex<()>,
    /// The schema [`BUILTIN`] is the program's own: nothing of it is stored, and it changes only
    /// while it is made.
    builtin: AtomicBool,
    making_builtin: AtomicBool,
}

/// The schema that a server makes at its start.
pub const BUILTIN: &str = "sys";

/// The schema that has accounts' own tables beside those that the server computes. It is in every
/// catalog and has no record.
pub const SYSTEM_SCHEMA: &str = "mysql";

fn system_schema() -> Change {
    let (name, collation) = (SYSTEM_SCHEMA.to_owned(), Collation::DEFAULT);
    Change::PutSchema(SchemaDef { name, collation, read_only: false })
}

impl Catalog {
    /// The making of the schema [`BUILTIN`] begins or ends. From its begin on nothing of that
    /// schema is stored, and after its end nothing of it changes.
    pub fn make_builtin(&self, begins: bool) {
        self.making_builtin.store(begins, Ordering::Release);
        self.builtin.store(true, Ordering::Release);
    }

    /// Whether a schema is the program's own.
    pub fn is_builtin(&self, schema: &str) -> bool {
        schema == BUILTIN && self.builtin.load(Ordering::Acquire)
    }

    /// Reads the whole catalog tree.
    pub(crate) fn load(engine: &Arc<Engine>) -> Result<Catalog, OpenError> {
        let tree = engine.catalog_tree();
        let catalog = Catalog {
            engine: engine.clone(),
            volatile_store: OnceLock::new(),
            tree: tree.clone(),
            current: RwLock::default(),
            shared: Mutex::default(),
            next_table_id: AtomicU64::new(1),
            kinds: Kinds::default(),
            mdl: Arc::default(),
            server: ServerRecords::default(),
            histogram_changes: Mutex::default(),
            builtin: AtomicBool::new(false),
            making_builtin: AtomicBool::new(false),
        };
        let (mut changes, mut left_over) = (vec![system_schema()], Vec::new());
        let mut txn = engine.attach();
        txn.begin(Isolation::RepeatableRead);
        let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
        let mut cursor = txn.cursor(&tree, low, high, Direction::Forward, ReadMode::Snapshot);
        while let Some(record) = cursor.next(&mut txn)? {
            let change = match record.key.first() {
                Some(&SCHEMA) => codec::schema(record.value).map(Change::PutSchema),
                Some(&TABLE) => codec::table(record.value).map(Change::PutTable),
                Some(&VIEW) => view::view(record.value).map(|def| Change::PutView(Box::new(def))),
                Some(&SEQUENCE) => {
                    sequence::sequence(record.value).map(|def| Change::PutSequence(Box::new(def)))
                }
                Some(&PROGRAM) => {
                    program::program(record.value).map(|def| Change::PutProgram(Box::new(def)))
                }
                Some(&ACCOUNT | &row_count::ROW_COUNT) => continue,
                Some(
                    &PERSISTED | &FOREIGN_SERVER | &REFERENCE_SYSTEM | &TABLESPACE_RECORD
                    | &RESOURCE_GROUP | &IDENTITY,
                ) => {
                    let taken = catalog.server.take(record.key, record.value);
                    taken.ok_or_else(|| OpenError::Catalog(name_of(record.key)))?;
                    continue;
                }
                Some(&TEMPORARY) => {
                    left_over.extend(codec::table(record.value));
                    continue;
                }
                _ => None,
            };
            changes.push(change.ok_or_else(|| OpenError::Catalog(name_of(record.key)))?);
        }
        txn.commit()?;
        for change in &changes {
            if let Change::PutTable(def) = change {
                catalog.next_table_id.fetch_max(def.id.0 + 1, Ordering::Relaxed);
            }
        }
        for change in &mut changes {
            if let Change::PutTable(def) = change
                && def.is_volatile()
            {
                catalog.begin_anew(def)?;
            }
        }
        catalog.publish(changes);
        catalog.clear_away(&left_over)?;
        Ok(catalog)
    }

    /// Drops temporary tables that an earlier process left.
    fn clear_away(&self, left_over: &[TableDef]) -> Result<(), OpenError> {
        if left_over.is_empty() {
            return Ok(());
        }
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        for def in left_over {
            self.next_table_id.fetch_max(def.id.0 + 1, Ordering::Relaxed);
            if def.clustered.0 != 0 {
                drop_trees(&self.engine, &mut txn, def)?;
            }
            txn.delete(&self.tree, &temporary_key(def.id))?;
        }
        Ok(txn.commit()?)
    }

    /// A MEMORY table gets empty trees after a start. Rows that an older program has logged are
    /// dropped; where lack of space or damage prevents that, the next start tries again.
    fn begin_anew(&self, def: &mut TableDef) -> Result<(), StorageError> {
        let mut old = def.trees();
        old.retain(|tree| tree.0 != 0);
        def.auto_increment = 0;
        let store = self.open_store(def)?;
        let mut txn = store.attach();
        txn.begin(Isolation::RepeatableRead);
        make_trees(store, &mut txn, def)?;
        txn.commit()?;
        if old.is_empty() {
            return Ok(());
        }
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        let dropped = old.iter().try_for_each(|tree| txn.drop_tree(&self.engine.tree(*tree)));
        let counted = row_count::forget(&self.engine, &mut txn, old[0]);
        let key = named_key(TABLE, &def.schema, &def.name);
        let written = self.put(&mut txn, &key, &codec::put_table(def));
        if dropped.and(counted).and(written).and_then(|()| txn.commit()).is_err() && txn.is_open() {
            txn.rollback()?;
        }
        Ok(())
    }

    /// Where a table's trees are made.
    pub fn open_store(&self, def: &TableDef) -> Result<&Arc<Engine>, StorageError> {
        if def.is_volatile() && self.volatile_store.get().is_none() {
            let opened = self.engine.open_volatile()?;
            // Another session may have set it first.
            let _ = self.volatile_store.set(opened);
        }
        Ok(self.store(def))
    }

    /// Where the trees of a table are.
    pub fn store(&self, def: &TableDef) -> &Arc<Engine> {
        match def.is_volatile() {
            true => self.volatile_store.get().expect("invariant: the table's trees have been made"),
            false => &self.engine,
        }
    }

    /// Where MEMORY tables are, if there are any.
    pub fn volatile_store(&self) -> Option<&Arc<Engine>> {
        self.volatile_store.get()
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

    /// The newest version of a view.
    pub fn view(&self, schema: &str, name: &str) -> Option<Arc<View>> {
        self.current.read().schemas.get(schema)?.views.get(name).cloned()
    }

    /// The newest version of a stored program.
    pub fn program(
        &self,
        kind: ProgramKind,
        schema: &str,
        name: &str,
    ) -> Option<Arc<StoredProgram>> {
        self.current.read().schemas.get(schema)?.program(kind, name).cloned()
    }

    /// Whether a table or view has that name.
    pub fn has(&self, schema: &str, name: &str) -> bool {
        self.current.read().schemas.get(schema).is_some_and(|schema| schema.has(name))
    }

    /// Whether any table has a foreign key.
    pub(crate) fn has_references(&self) -> bool {
        self.kinds.references.load(Ordering::Acquire)
    }

    /// Whether ALTER DATABASE … READ ONLY protects any schema.
    pub(crate) fn has_read_only_schemas(&self) -> bool {
        self.kinds.read_only_schemas.load(Ordering::Acquire)
    }

    /// The metadata locks.
    pub fn mdl(&self) -> &Arc<MdlManager> {
        &self.mdl
    }

    /// The id of the next table that is created.
    pub fn new_table_id(&self) -> TableId {
        TableId(self.next_table_id.fetch_add(1, Ordering::Relaxed))
    }

    /// Writes a change into the catalog tree, in the caller's transaction.
    pub fn write(&self, txn: &mut Txn, change: &Change) -> Result<(), SqlError> {
        if let Change::PutTable(def) = change {
            def.debug_check();
        }
        if let Some(schema) = change.schema().filter(|schema| self.is_builtin(schema))
            && !change.is_temporary()
        {
            return match self.making_builtin.load(Ordering::Acquire) {
                true => Ok(()),
                false => Err(SqlError::new(ErrorCode::SchemaReadOnly, &[&schema])),
            };
        }
        match change {
            Change::PutSchema(def) => {
                self.put(txn, &schema_key(&def.name), &codec::put_schema(def)).sql()
            }
            Change::DropSchema(name) => txn.delete(&self.tree, &schema_key(name)).sql().map(drop),
            Change::PutTable(def) if def.temporary => {
                self.put(txn, &temporary_key(def.id), &codec::put_table(def)).sql()
            }
            Change::DropTemporary { id, .. } => {
                txn.delete(&self.tree, &temporary_key(*id)).sql().map(drop)
            }
            Change::PutTable(def) => {
                let key = named_key(TABLE, &def.schema, &def.name);
                self.put(txn, &key, &codec::put_table(def)).sql()
            }
            Change::DropTable { schema, name } => {
                txn.delete(&self.tree, &named_key(TABLE, schema, name)).sql().map(drop)
            }
            Change::PutView(def) => {
                let key = named_key(VIEW, &def.schema, &def.name);
                self.put(txn, &key, &view::put_view(def)).sql()
            }
            Change::DropView { schema, name } => {
                txn.delete(&self.tree, &named_key(VIEW, schema, name)).sql().map(drop)
            }
            Change::PutSequence(def) => {
                let key = named_key(SEQUENCE, &def.schema, &def.name);
                self.put(txn, &key, &sequence::put_sequence(def)).sql()
            }
            Change::DropSequence { schema, name } => {
                txn.delete(&self.tree, &named_key(SEQUENCE, schema, name)).sql().map(drop)
            }
            Change::PutProgram(def) => {
                let key = program_record(def.kind, &def.schema, &def.name);
                self.put(txn, &key, &program::put_program(def)).sql()
            }
            Change::DropProgram { kind, schema, name } => {
                txn.delete(&self.tree, &program_record(*kind, schema, name)).sql().map(drop)
            }
        }
    }

    fn put(&self, txn: &mut Txn, key: &[u8], value: &[u8]) -> Result<(), StorageError> {
        if txn.update(&self.tree, key, value)? {
            return Ok(());
        }
        txn.insert(&self.tree, key, value)
    }

    /// Makes committed changes visible to all sessions.
    pub fn publish(&self, changes: Vec<Change>) {
        let mut current = self.current.write();
        let mut next = CatalogVersion::clone(&current);
        next.number += 1;
        for change in changes {
            debug_assert!(change.has_schema(&next), "a table or view is put into a schema");
            self.apply(&mut next, change);
        }
        self.open_merged(&mut next);
        next.references = Arc::new(references(&next));
        self.kinds.references.store(!next.references.is_empty(), Ordering::Release);
        let read_only = next.schemas.values().any(|schema| schema.def.read_only);
        self.kinds.read_only_schemas.store(read_only, Ordering::Release);
        *current = Arc::new(next);
    }

    /// Gives merged tables handles that read their children as they are in the version.
    fn open_merged(&self, version: &mut CatalogVersion) {
        let all = version.schemas.values().flat_map(|schema| schema.tables.values());
        let merged = all.filter(|table| table.def.union.is_some());
        version.merged =
            merged.map(|table| (table.def.schema.clone(), table.def.name.clone())).collect();
        for old in version.open_merged(MergeView::Shared) {
            if old.partitions.is_some() {
                self.retire(&old, false);
            }
        }
    }

    fn apply(&self, version: &mut CatalogVersion, change: Change) {
        // A handle that is replaced or dropped becomes stale: a session that has found it, and
        // waited for its metadata lock, looks the name up again.
        match change {
            Change::PutSchema(def) => {
                let name = def.name.clone();
                let schema = match version.schemas.get(&name) {
                    Some(old) => Schema { def, ..Schema::clone(old) },
                    None => Schema::empty(def),
                };
                version.schemas.insert(name, Arc::new(schema));
            }
            Change::DropSchema(name) => {
                if let Some(schema) = version.schemas.remove(&name) {
                    schema.tables.values().for_each(|table| self.retire(table, true));
                    schema.views.values().for_each(|view| view.make_stale());
                    schema.programs.values().for_each(|program| program.make_stale());
                }
            }
            Change::PutProgram(def) => {
                let Some(schema) = version.schemas.get_mut(&def.schema) else { return };
                let key = program_key(def.kind, &def.name);
                let program = Arc::new(StoredProgram::new(*def, &self.mdl));
                let schema = Arc::make_mut(schema);
                let old = schema.programs.insert(key, program.clone());
                old.iter().for_each(|program| program.make_stale());
                self.renew_triggers(schema, old.iter().chain([&program]));
            }
            Change::DropProgram { kind, schema, name } => {
                let Some(schema) = version.schemas.get_mut(&schema) else { return };
                let schema = Arc::make_mut(schema);
                let old = schema.programs.remove(&program_key(kind, &name));
                old.iter().for_each(|program| program.make_stale());
                self.renew_triggers(schema, old.iter());
            }
            Change::PutTable(def) => {
                let Some(schema) = version.schemas.get_mut(&def.schema) else { return };
                let shared = self.shared(def.id);
                let mdl = self.mdl.name(&def.schema, &def.name);
                let name = def.name.clone();
                let store = self.store(&def).clone();
                let triggers = TableTriggers::of(schema, &name);
                let table = Table::new(Arc::new(def), &store, mdl, shared).with_triggers(triggers);
                let old = Arc::make_mut(schema).tables.insert(name, Arc::new(table));
                old.iter().for_each(|table| self.retire(table, false));
            }
            Change::DropTable { schema, name } => {
                let Some(schema) = version.schemas.get_mut(&schema) else { return };
                // RENAME drops a name only, so the counters of the table's id stay here.
                let old = Arc::make_mut(schema).tables.remove(&name);
                old.iter().for_each(|table| self.retire(table, false));
            }
            Change::PutView(def) => {
                let Some(schema) = version.schemas.get_mut(&def.schema) else { return };
                let mdl = self.mdl.name(&def.schema, &def.name);
                let view = Arc::new(View::new(*def, mdl));
                let old = Arc::make_mut(schema).views.insert(view.def.name.clone(), view);
                old.iter().for_each(|view| view.make_stale());
            }
            Change::DropView { schema, name } => {
                let Some(schema) = version.schemas.get_mut(&schema) else { return };
                let old = Arc::make_mut(schema).views.remove(&name);
                old.iter().for_each(|view| view.make_stale());
            }
            Change::PutSequence(def) => version.put_sequence(*def),
            Change::DropSequence { schema, name } => version.drop_sequence(&schema, &name),
            // Temporary tables are kept by their session, see `TemporaryTables::apply`.
            Change::DropTemporary { .. } => {}
        }
    }

    /// Gives the tables of triggers that came or went a new handle, which knows those that are
    /// there.
    fn renew_triggers<'p>(
        &self,
        schema: &mut Schema,
        programs: impl Iterator<Item = &'p Arc<StoredProgram>>,
    ) {
        for head in programs.filter_map(|program| program.def.trigger.as_ref()) {
            let Some(old) = schema.tables.get(&head.table).cloned() else { continue };
            let triggers = TableTriggers::of(schema, &head.table);
            let (mdl, shared) = (old.mdl.clone(), old.shared.clone());
            let table = Table::new(old.def.clone(), &old.store, mdl, shared);
            schema.tables.insert(head.table.clone(), Arc::new(table.with_triggers(triggers)));
            self.retire(&old, false);
        }
    }

    fn retire(&self, table: &Table, for_good: bool) {
        table.make_stale();
        if for_good {
            self.forget(table.def.id);
        }
    }

    /// The counters of a table.
    pub fn shared(&self, id: TableId) -> Arc<TableShared> {
        self.shared.lock().entry(id).or_default().clone()
    }

    /// Forgets the counters of a table that is gone.
    pub fn forget(&self, id: TableId) {
        self.shared.lock().remove(&id);
    }
}

/// Makes the trees of a definition and writes their numbers into it; none has a row.
pub fn make_trees(
    store: &Arc<Engine>,
    txn: &mut Txn,
    def: &mut TableDef,
) -> Result<(), StorageError> {
    let temporary = def.temporary;
    let mut make = || {
        let tree = txn.create_tree()?;
        // Whatever the session's snapshot is, it reads its own table as it is now.
        if temporary {
            tree.show_newest();
        }
        Ok::<_, StorageError>(tree.id())
    };
    let own = def.trees().len();
    let trees = (0..own).map(|_| make()).collect::<Result<Vec<_>, _>>()?;
    def.take_trees(&trees);
    for leaf in def.partitioning.iter_mut().flat_map(|by| by.leaves_mut()) {
        leaf.trees = (0..own).map(|_| make()).collect::<Result<_, _>>()?;
    }
    match def.is_transactional() {
        true => Ok(()),
        false => row_count::set(store, txn, def.clustered, 0),
    }
}

/// Drops a table's trees at commit, and the row count of a table without transactions.
pub fn drop_trees(store: &Arc<Engine>, txn: &mut Txn, def: &TableDef) -> Result<(), StorageError> {
    if !def.is_transactional() {
        row_count::forget(store, txn, def.clustered)?;
    }
    def.all_trees().into_iter().try_for_each(|tree| txn.drop_tree(&store.tree(tree)))
}

/// The tables that foreign keys refer to, each with the tables that have the keys.
fn references(version: &CatalogVersion) -> BTreeMap<FullName, Vec<FullName>> {
    let mut out: BTreeMap<FullName, Vec<FullName>> = BTreeMap::new();
    for table in version.schemas.values().flat_map(|schema| schema.tables.values()) {
        let child = || (table.def.schema.clone(), table.def.name.clone());
        for key in &table.def.foreign_keys {
            let children = out.entry((key.ref_schema.clone(), key.ref_table.clone())).or_default();
            if !children.contains(&child()) {
                children.push(child());
            }
        }
    }
    out
}

/// A record's key, for messages.
fn name_of(key: &[u8]) -> String {
    String::from_utf8_lossy(key).into_owned()
}

fn schema_key(name: &str) -> Vec<u8> {
    let mut key = vec![SCHEMA];
    key.extend_from_slice(name.as_bytes());
    key
}

fn temporary_key(id: TableId) -> Vec<u8> {
    let mut key = vec![TEMPORARY];
    key.extend_from_slice(&id.0.to_be_bytes());
    key
}

fn program_record(kind: ProgramKind, schema: &str, name: &str) -> Vec<u8> {
    let (kind, name) = program_key(kind, name);
    let mut key = vec![PROGRAM, kind as u8];
    key.extend_from_slice(schema.as_bytes());
    key.push(0);
    key.extend_from_slice(name.as_bytes());
    key
}

fn named_key(kind: u8, schema: &str, name: &str) -> Vec<u8> {
    let mut key = vec![kind];
    key.extend_from_slice(schema.as_bytes());
    key.push(0);
    key.extend_from_slice(name.as_bytes());
    key
}
