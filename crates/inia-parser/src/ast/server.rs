//! Statements about the server as a whole: foreign servers, replication, libraries and copies.

use super::{ObjectName, PartitionNames};

/// A statement about the server as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerStatement {
    /// CREATE SERVER name FOREIGN DATA WRAPPER wrapper OPTIONS (…).
    CreateServer {
        /// Its name.
        name: String,
        /// FOREIGN DATA WRAPPER.
        wrapper: String,
        /// OPTIONS.
        options: ForeignServerOptions,
    },
    /// ALTER SERVER name OPTIONS (…).
    AlterServer {
        /// Its name.
        name: String,
        /// OPTIONS.
        options: ForeignServerOptions,
    },
    /// DROP SERVER [IF EXISTS] name.
    DropServer {
        /// IF EXISTS.
        if_exists: bool,
        /// Its name.
        name: String,
    },
    /// CREATE SPATIAL REFERENCE SYSTEM.
    CreateSpatialReference {
        /// OR REPLACE.
        or_replace: bool,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// The system.
        system: SpatialReference,
    },
    /// DROP SPATIAL REFERENCE SYSTEM.
    DropSpatialReference {
        /// IF EXISTS.
        if_exists: bool,
        /// Its SRID.
        srid: u32,
    },
    /// CREATE, ALTER and DROP of TABLESPACE and UNDO TABLESPACE.
    Tablespace(TablespaceStatement),
    /// ALTER INSTANCE, but RELOAD TLS.
    AlterInstance(InstanceAction),
    /// CREATE, ALTER, DROP and SET RESOURCE GROUP.
    ResourceGroup(ResourceGroupStatement),
    /// CREATE, ALTER and DROP LOGFILE GROUP, with ENGINE.
    LogfileGroup {
        /// ENGINE.
        engine: Option<String>,
    },
    /// CHANGE REPLICATION SOURCE.
    ReplicationSource(ReplicationSource),
    /// CHANGE REPLICATION FILTER.
    ReplicationFilter {
        /// FOR CHANNEL.
        channel: Option<String>,
    },
    /// START REPLICA.
    StartReplica {
        /// FOR CHANNEL.
        channel: Option<String>,
    },
    /// STOP REPLICA.
    StopReplica {
        /// FOR CHANNEL.
        channel: Option<String>,
    },
    /// START and STOP GROUP_REPLICATION.
    GroupReplication,
    /// CLONE.
    Clone {
        /// LOCAL DATA DIRECTORY.
        local: bool,
    },
    /// IMPORT TABLE FROM 'file', ….
    ImportTable(Vec<String>),
    /// CACHE INDEX t, … IN cache and LOAD INDEX INTO CACHE t, ….
    KeyCache(KeyCacheStatement),
}

/// A spatial reference system, as CREATE defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpatialReference {
    /// SRID.
    pub srid: u32,
    /// NAME.
    pub name: String,
    /// DEFINITION.
    pub definition: String,
    /// ORGANIZATION and IDENTIFIED BY.
    pub organization: Option<(String, u32)>,
    /// DESCRIPTION.
    pub description: Option<String>,
}

/// CREATE, ALTER and DROP of a tablespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablespaceStatement {
    /// UNDO.
    pub undo: bool,
    /// Its name.
    pub name: String,
    /// What to do.
    pub action: TablespaceAction,
    /// Options.
    pub options: TablespaceOptions,
}

/// What to do with a tablespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TablespaceAction {
    /// CREATE.
    Create {
        /// ADD DATAFILE.
        file: Option<String>,
    },
    /// DROP.
    Drop,
    /// ALTER … RENAME TO.
    Rename(String),
    /// ALTER … ADD DATAFILE.
    AddFile,
    /// ALTER … DROP DATAFILE.
    DropFile(String),
    /// ALTER with options only.
    Options,
    /// ALTER UNDO TABLESPACE … SET ACTIVE or INACTIVE.
    SetActive(bool),
}

/// Options of tablespaces that InnoDB looks at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TablespaceOptions {
    /// ENGINE.
    pub engine: Option<String>,
    /// ENCRYPTION.
    pub encryption: Option<String>,
    /// ENGINE_ATTRIBUTE.
    pub engine_attribute: Option<String>,
    /// FILE_BLOCK_SIZE.
    pub block_size: Option<u64>,
    /// AUTOEXTEND_SIZE.
    pub autoextend: Option<u64>,
}

impl TablespaceStatement {
    /// Its first words, as messages have them.
    pub fn words(&self) -> &'static str {
        match (&self.action, self.undo) {
            (TablespaceAction::Create { .. }, false) => "CREATE TABLESPACE",
            (TablespaceAction::Create { .. }, true) => "CREATE UNDO TABLESPACE",
            (TablespaceAction::Drop, false) => "DROP TABLESPACE",
            (TablespaceAction::Drop, true) => "DROP UNDO TABLESPACE",
            (_, false) => "ALTER TABLESPACE",
            (_, true) => "ALTER UNDO TABLESPACE",
        }
    }
}

/// What CHANGE REPLICATION SOURCE says that can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplicationSource {
    /// SOURCE_HOST is empty.
    pub empty_host: bool,
    /// SOURCE_AUTO_POSITION is not 0.
    pub auto_position: bool,
    /// FOR CHANNEL.
    pub channel: Option<String>,
}

/// What ALTER INSTANCE does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstanceAction {
    /// ROTATE INNODB MASTER KEY.
    RotateInnodb,
    /// ROTATE BINLOG MASTER KEY.
    RotateBinlog,
    /// ENABLE and DISABLE INNODB REDO_LOG.
    RedoLog,
    /// RELOAD KEYRING.
    ReloadKeyring,
}

/// CREATE, ALTER, DROP and SET RESOURCE GROUP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceGroupStatement {
    /// Its name.
    pub name: String,
    /// What to do.
    pub action: ResourceGroupAction,
}

/// Attributes of a resource group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResourceGroupAttributes {
    /// VCPU: ranges of numbers.
    pub processors: Vec<(u64, u64)>,
    /// THREAD_PRIORITY.
    pub priority: Option<i64>,
    /// ENABLE or DISABLE.
    pub enable: Option<bool>,
}

/// What to do with a resource group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceGroupAction {
    /// CREATE.
    Create {
        /// TYPE = SYSTEM.
        system: bool,
        /// What follows.
        attributes: ResourceGroupAttributes,
    },
    /// ALTER.
    Alter {
        /// What changes.
        attributes: ResourceGroupAttributes,
        /// FORCE.
        force: bool,
    },
    /// DROP.
    Drop {
        /// FORCE.
        force: bool,
    },
    /// SET.
    Set {
        /// FOR.
        threads: Vec<u64>,
    },
}

impl ResourceGroupStatement {
    /// Its first words, as messages have them.
    pub fn words(&self) -> &'static str {
        match self.action {
            ResourceGroupAction::Create { .. } => "CREATE RESOURCE GROUP",
            ResourceGroupAction::Alter { .. } => "ALTER RESOURCE GROUP",
            ResourceGroupAction::Drop { .. } => "DROP RESOURCE GROUP",
            ResourceGroupAction::Set { .. } => "SET RESOURCE GROUP",
        }
    }
}

/// OPTIONS of CREATE SERVER and ALTER SERVER; of several that are the same the last one counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForeignServerOptions {
    /// HOST.
    pub host: Option<String>,
    /// DATABASE.
    pub database: Option<String>,
    /// USER.
    pub user: Option<String>,
    /// PASSWORD.
    pub password: Option<String>,
    /// SOCKET.
    pub socket: Option<String>,
    /// OWNER.
    pub owner: Option<String>,
    /// PORT.
    pub port: Option<u64>,
}

/// CACHE INDEX and LOAD INDEX INTO CACHE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyCacheStatement {
    /// The cache of CACHE INDEX; absent for LOAD INDEX.
    pub cache: Option<String>,
    /// The tables.
    pub tables: Vec<CachedKeys>,
}

/// A table of [`KeyCacheStatement`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedKeys {
    /// The table.
    pub table: ObjectName,
    /// PARTITION.
    pub partitions: Option<PartitionNames>,
    /// INDEX (…).
    pub keys: Vec<String>,
}

impl ServerStatement {
    /// Whether it creates, alters or drops what the server has as a whole.
    pub fn defines_server(&self) -> bool {
        if let ServerStatement::ResourceGroup(statement) = self {
            return !matches!(statement.action, ResourceGroupAction::Set { .. });
        }
        matches!(
            self,
            ServerStatement::Tablespace(_)
                | ServerStatement::CreateSpatialReference { .. }
                | ServerStatement::DropSpatialReference { .. }
                | ServerStatement::CreateServer { .. }
                | ServerStatement::AlterServer { .. }
                | ServerStatement::DropServer { .. }
        )
    }

    /// Its first words, as messages have them.
    pub fn words(&self) -> &'static str {
        match self {
            ServerStatement::CreateServer { .. } => "CREATE SERVER",
            ServerStatement::AlterServer { .. } => "ALTER SERVER",
            ServerStatement::DropServer { .. } => "DROP SERVER",
            ServerStatement::CreateSpatialReference { .. } => "CREATE SPATIAL REFERENCE SYSTEM",
            ServerStatement::DropSpatialReference { .. } => "DROP SPATIAL REFERENCE SYSTEM",
            ServerStatement::Tablespace(statement) => statement.words(),
            ServerStatement::AlterInstance(_) => "ALTER INSTANCE",
            ServerStatement::ResourceGroup(statement) => statement.words(),
            ServerStatement::LogfileGroup { .. } => "LOGFILE GROUP",
            ServerStatement::ReplicationSource(_) => "CHANGE REPLICATION SOURCE",
            ServerStatement::ReplicationFilter { .. } => "CHANGE REPLICATION FILTER",
            ServerStatement::StartReplica { .. } => "START REPLICA",
            ServerStatement::StopReplica { .. } => "STOP REPLICA",
            ServerStatement::GroupReplication => "GROUP_REPLICATION",
            ServerStatement::Clone { .. } => "CLONE",
            ServerStatement::ImportTable(_) => "IMPORT TABLE",
            ServerStatement::KeyCache(_) => "CACHE INDEX",
        }
    }
}
