//! The abstract syntax tree: what a statement says, before any name or type is resolved.
//!
//! All nodes are plain owned data. Names keep the spelling of the text (only names of built-in
//! functions and of system variables are lower-cased); nothing here knows a catalog.
//! Trees are shallow by construction: AND, OR and set operations are lists, everything else nests
//! at most as deep as the parser's limit, so recursion over a tree is safe on a small stack.

mod admin;
mod ddl;
mod dml;
mod expr;
mod hint;
mod partition;
mod program;
mod query;
mod rows;
mod sequence;
mod server;
mod walk;

pub use admin::*;
pub use ddl::*;
pub use dml::*;
pub use expr::*;
pub use hint::*;
pub use partition::*;
pub use program::*;
pub use query::*;
pub use rows::*;
pub use sequence::*;
pub use server::*;

/// A possibly qualified name of a table, view, routine or other object: `[db.]name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectName {
    /// The database, where written.
    pub db: Option<String>,
    /// The object.
    pub name: String,
}

impl ObjectName {
    /// A name without a database.
    pub fn bare(name: impl Into<String>) -> ObjectName {
        ObjectName { db: None, name: name.into() }
    }
}

/// One statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// Nothing but comments: succeeds and does nothing.
    Empty,
    /// SELECT, VALUES, TABLE, WITH … SELECT and set operations.
    Select(Box<Query>),
    /// INSERT and REPLACE.
    Insert(Box<Insert>),
    /// UPDATE of one or more tables.
    Update(Box<Update>),
    /// DELETE from one or more tables.
    Delete(Box<Delete>),
    /// LOAD DATA.
    LoadData(Box<LoadData>),
    /// CALL.
    Call(Call),
    /// DO expr, …
    Do(Vec<SelectItem>),
    /// HANDLER t OPEN | READ | CLOSE.
    Handler(Box<Handler>),
    /// TRUNCATE [TABLE] t.
    Truncate(ObjectName),

    /// CREATE DATABASE.
    CreateDatabase(CreateDatabase),
    /// ALTER DATABASE.
    AlterDatabase(AlterDatabase),
    /// DROP DATABASE.
    DropDatabase {
        /// IF EXISTS.
        if_exists: bool,
        /// The database.
        name: String,
    },
    /// CREATE TABLE in all forms.
    CreateTable(Box<CreateTable>),
    /// ALTER TABLE.
    AlterTable(Box<AlterTable>),
    /// DROP TABLE.
    DropTable(DropTables),
    /// RENAME TABLE a TO b, …
    RenameTable(Vec<(ObjectName, ObjectName)>),
    /// CREATE INDEX.
    CreateIndex(Box<CreateIndex>),
    /// DROP INDEX.
    DropIndex(DropIndex),
    /// CREATE [OR REPLACE] VIEW and ALTER VIEW.
    CreateView(Box<CreateView>),
    /// DROP VIEW.
    DropView(DropTables),
    /// CREATE, ALTER and DROP SEQUENCE.
    Sequence(Box<SequenceStatement>),
    /// CREATE PROCEDURE, FUNCTION, TRIGGER or EVENT.
    CreateRoutine(Box<CreateRoutine>),
    /// ALTER PROCEDURE, FUNCTION or EVENT.
    AlterRoutine(Box<AlterRoutine>),
    /// DROP PROCEDURE, FUNCTION, TRIGGER or EVENT.
    DropRoutine(DropRoutine),
    /// Foreign servers, replication, key caches and other statements about the whole server.
    Server(Box<ServerStatement>),
    /// Statements that name objects this product does not have (tablespaces, resource groups, …):
    /// checked only by their first words.
    Unsupported(UnsupportedStatement),

    /// BEGIN, START TRANSACTION.
    Begin(BeginTransaction),
    /// COMMIT.
    Commit(Completion),
    /// ROLLBACK.
    Rollback(Completion),
    /// SAVEPOINT name.
    Savepoint(String),
    /// ROLLBACK TO [SAVEPOINT] name.
    RollbackTo(String),
    /// RELEASE SAVEPOINT name.
    ReleaseSavepoint(String),
    /// SET [scope] TRANSACTION.
    SetTransaction(SetTransaction),
    /// LOCK TABLES.
    LockTables(Vec<TableLock>),
    /// UNLOCK TABLES.
    UnlockTables,
    /// LOCK INSTANCE FOR BACKUP.
    LockInstance,
    /// UNLOCK INSTANCE.
    UnlockInstance,
    /// XA.
    Xa(Xa),

    /// SET of variables, NAMES, CHARACTER SET.
    Set(Vec<SetItem>),
    /// SET PASSWORD.
    SetPassword(SetPassword),
    /// SET ROLE.
    SetRole(RoleChoice),
    /// SET DEFAULT ROLE.
    SetDefaultRole {
        /// What becomes the default.
        roles: RoleChoice,
        /// For whom.
        users: Vec<Account>,
    },
    /// USE db.
    Use(String),
    /// SHOW.
    Show(Box<Show>),
    /// DESCRIBE table [column].
    Describe(Describe),
    /// EXPLAIN of a statement.
    Explain(Explain),
    /// HELP 'topic'.
    Help(String),
    /// PREPARE.
    Prepare {
        /// The handle.
        name: String,
        /// Where the text comes from.
        source: PrepareSource,
    },
    /// EXECUTE name [USING @a, …].
    Execute {
        /// The handle.
        name: String,
        /// User variables, without the `@`.
        using: Vec<String>,
    },
    /// DEALLOCATE | DROP PREPARE name.
    Deallocate(String),
    /// KILL [CONNECTION | QUERY] id.
    Kill {
        /// True for KILL QUERY.
        query: bool,
        /// The connection id, any expression.
        id: Expr,
    },
    /// FLUSH.
    Flush(Flush),
    /// RESET.
    Reset(Vec<ResetTarget>),
    /// RESET PERSIST [[IF EXISTS] variable].
    ResetPersist {
        /// IF EXISTS.
        if_exists: bool,
        /// One variable, or all.
        name: Option<String>,
    },
    /// PURGE BINARY LOGS TO 'name' | BEFORE expr.
    PurgeLogs(PurgeLogs),
    /// ANALYZE, CHECK, OPTIMIZE, REPAIR, CHECKSUM TABLE.
    TableMaintenance(TableMaintenance),
    /// CREATE USER.
    CreateUser(Box<CreateUser>),
    /// ALTER USER.
    AlterUser(Box<AlterUser>),
    /// DROP USER.
    DropUser {
        /// IF EXISTS.
        if_exists: bool,
        /// The accounts.
        users: Vec<Account>,
    },
    /// RENAME USER a TO b, …
    RenameUser(Vec<(Account, Account)>),
    /// CREATE ROLE.
    CreateRole {
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// The roles.
        roles: Vec<Account>,
    },
    /// DROP ROLE.
    DropRole {
        /// IF EXISTS.
        if_exists: bool,
        /// The roles.
        roles: Vec<Account>,
    },
    /// GRANT privileges, roles or PROXY.
    Grant(Box<Grant>),
    /// REVOKE.
    Revoke(Box<Revoke>),
    /// INSTALL PLUGIN name SONAME 'file'.
    InstallPlugin {
        /// The plugin.
        name: String,
        /// The library file.
        soname: String,
    },
    /// UNINSTALL PLUGIN name.
    UninstallPlugin(String),
    /// INSTALL COMPONENT 'urn', …
    InstallComponent(Vec<String>),
    /// UNINSTALL COMPONENT 'urn', …
    UninstallComponent(Vec<String>),
    /// SIGNAL.
    Signal(Signal),
    /// RESIGNAL.
    Resignal(Signal),
    /// GET DIAGNOSTICS.
    GetDiagnostics(GetDiagnostics),
    /// BINLOG 'base64'.
    Binlog(String),
    /// ALTER INSTANCE RELOAD TLS.
    ReloadTls,
    /// SHUTDOWN.
    Shutdown,
    /// RESTART.
    Restart,
}
