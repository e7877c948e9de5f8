//! Transactions, variables, SHOW, accounts and the other administrative statements.

use super::{Expr, ObjectName, Statement, SysVar, VarScope};

/// BEGIN and START TRANSACTION.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BeginTransaction {
    /// WITH CONSISTENT SNAPSHOT.
    pub consistent_snapshot: bool,
    /// READ ONLY (true), READ WRITE (false).
    pub read_only: Option<bool>,
}

/// What COMMIT and ROLLBACK do next; absent parts follow `completion_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Completion {
    /// AND [NO] CHAIN.
    pub chain: Option<bool>,
    /// [NO] RELEASE.
    pub release: Option<bool>,
}

/// Isolation levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// SET [scope] TRANSACTION. Without a scope it is for the next transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetTransaction {
    /// GLOBAL or SESSION.
    pub scope: Option<VarScope>,
    /// ISOLATION LEVEL.
    pub isolation: Option<IsolationLevel>,
    /// READ ONLY (true), READ WRITE (false).
    pub read_only: Option<bool>,
}

/// One table of LOCK TABLES.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableLock {
    /// The table.
    pub table: ObjectName,
    /// AS.
    pub alias: Option<String>,
    /// READ [LOCAL] (false), [LOW_PRIORITY] WRITE (true).
    pub write: bool,
    /// READ LOCAL.
    pub local: bool,
}

/// A transaction id of XA.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Xid {
    /// Global part.
    pub gtrid: Vec<u8>,
    /// Branch qualifier.
    pub bqual: Vec<u8>,
    /// Format id, 1 by default.
    pub format_id: u64,
}

/// XA statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Xa {
    /// XA START | BEGIN xid [JOIN | RESUME].
    Start {
        /// The transaction.
        xid: Xid,
        /// JOIN.
        join: bool,
        /// RESUME.
        resume: bool,
    },
    /// XA END xid [SUSPEND [FOR MIGRATE]].
    End {
        /// The transaction.
        xid: Xid,
        /// SUSPEND.
        suspend: bool,
    },
    /// XA PREPARE.
    Prepare(Xid),
    /// XA COMMIT xid [ONE PHASE].
    Commit {
        /// The transaction.
        xid: Xid,
        /// ONE PHASE.
        one_phase: bool,
    },
    /// XA ROLLBACK.
    Rollback(Xid),
    /// XA RECOVER [CONVERT XID].
    Recover {
        /// CONVERT XID.
        convert: bool,
    },
}

/// One member of SET.
#[derive(Debug, Clone, PartialEq)]
pub enum SetItem {
    /// `@name = expr`.
    UserVar {
        /// Without the `@`.
        name: String,
        /// The new value.
        value: Expr,
    },
    /// `[scope] name = value`. Bare words as values (`ON`, `utf8mb4`) come as string literals.
    SysVar {
        /// The variable; `scope` as written before it or in `@@scope.`.
        var: SysVar,
        /// True where written with `@@` or a scope word.
        explicit: bool,
        /// The new value, absent for DEFAULT.
        value: Option<Expr>,
    },
    /// NAMES charset [COLLATE c]; no charset for DEFAULT.
    Names {
        /// The character set.
        charset: Option<String>,
        /// The collation.
        collation: Option<String>,
    },
    /// CHARACTER SET charset; absent for DEFAULT.
    Charset(Option<String>),
}

/// An account or role, `'user'@'host'`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Account {
    /// A written name.
    Name {
        /// User part.
        user: String,
        /// Host part, in lower case; absent means `%`.
        host: Option<String>,
    },
    /// CURRENT_USER, USER().
    Current,
}

/// SET PASSWORD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetPassword {
    /// FOR account; absent means the current one.
    pub account: Option<Account>,
    /// The password; absent for TO RANDOM.
    pub password: Option<String>,
    /// REPLACE 'old'.
    pub replace: Option<String>,
    /// RETAIN CURRENT PASSWORD.
    pub retain: bool,
}

/// What SET ROLE and SET DEFAULT ROLE choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleChoice {
    /// NONE.
    None,
    /// DEFAULT.
    Default,
    /// ALL.
    All,
    /// ALL EXCEPT roles.
    AllExcept(Vec<Account>),
    /// Roles.
    Roles(Vec<Account>),
}

/// LIKE or WHERE of SHOW.
#[derive(Debug, Clone, PartialEq)]
pub enum ShowFilter {
    /// LIKE 'pattern'.
    Like(String),
    /// WHERE condition.
    Where(Expr),
}

/// SHOW.
#[derive(Debug, Clone, PartialEq)]
pub struct Show {
    /// What to show.
    pub kind: ShowKind,
    /// LIKE or WHERE.
    pub filter: Option<ShowFilter>,
}

/// What SHOW shows.
#[derive(Debug, Clone, PartialEq)]
pub enum ShowKind {
    /// SHOW DATABASES.
    Databases,
    /// SHOW [EXTENDED] [FULL] TABLES [FROM db].
    Tables {
        /// FULL.
        full: bool,
        /// EXTENDED.
        extended: bool,
        /// FROM db.
        db: Option<String>,
    },
    /// SHOW [FULL] TRIGGERS [FROM db].
    Triggers(Option<String>),
    /// SHOW EVENTS [FROM db].
    Events(Option<String>),
    /// SHOW TABLE STATUS [FROM db].
    TableStatus(Option<String>),
    /// SHOW OPEN TABLES [FROM db].
    OpenTables(Option<String>),
    /// SHOW [EXTENDED] [FULL] COLUMNS | FIELDS FROM t [FROM db].
    Columns {
        /// FULL.
        full: bool,
        /// EXTENDED.
        extended: bool,
        /// The table.
        table: ObjectName,
    },
    /// SHOW [EXTENDED] INDEX | INDEXES | KEYS FROM t [FROM db].
    Index {
        /// EXTENDED.
        extended: bool,
        /// The table.
        table: ObjectName,
    },
    /// SHOW [GLOBAL | SESSION] VARIABLES.
    Variables {
        /// GLOBAL.
        global: bool,
    },
    /// SHOW [GLOBAL | SESSION] STATUS.
    Status {
        /// GLOBAL.
        global: bool,
    },
    /// SHOW [FULL] PROCESSLIST.
    Processlist {
        /// FULL.
        full: bool,
    },
    /// SHOW [STORAGE] ENGINES.
    Engines,
    /// SHOW ENGINE name STATUS | MUTEX | LOGS.
    Engine {
        /// The engine, or ALL.
        name: String,
        /// STATUS, MUTEX or LOGS.
        what: String,
    },
    /// SHOW CHARACTER SET, CHARSET.
    Charset,
    /// SHOW COLLATION.
    Collation,
    /// SHOW PLUGINS.
    Plugins,
    /// SHOW PRIVILEGES.
    Privileges,
    /// SHOW [COUNT(*)] WARNINGS [LIMIT].
    Warnings {
        /// COUNT(*).
        count: bool,
        /// LIMIT.
        limit: Option<super::Limit>,
    },
    /// SHOW [COUNT(*)] ERRORS [LIMIT].
    Errors {
        /// COUNT(*).
        count: bool,
        /// LIMIT.
        limit: Option<super::Limit>,
    },
    /// SHOW CREATE DATABASE [IF NOT EXISTS].
    CreateDatabase {
        /// The database.
        name: String,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// SHOW CREATE TABLE.
    CreateTable(ObjectName),
    /// SHOW CREATE VIEW.
    CreateView(ObjectName),
    /// SHOW CREATE SEQUENCE.
    CreateSequence(ObjectName),
    /// SHOW CREATE PROCEDURE, FUNCTION, TRIGGER, EVENT.
    CreateRoutine(super::RoutineKind, ObjectName),
    /// SHOW CREATE USER.
    CreateUser(Account),
    /// SHOW GRANTS [FOR account [USING roles]].
    Grants {
        /// FOR.
        account: Option<Account>,
        /// USING.
        using: Vec<Account>,
    },
    /// SHOW PROCEDURE STATUS, SHOW FUNCTION STATUS.
    RoutineStatus(super::RoutineKind),
    /// SHOW PROCEDURE CODE, SHOW FUNCTION CODE.
    RoutineCode(super::RoutineKind, ObjectName),
    /// SHOW BINARY LOGS, MASTER LOGS.
    BinaryLogs,
    /// SHOW MASTER STATUS.
    BinaryLogStatus,
    /// SHOW BINLOG | RELAYLOG EVENTS.
    BinlogEvents {
        /// RELAYLOG.
        relay: bool,
        /// IN 'name'.
        log: Option<String>,
        /// FROM position.
        from: Option<u64>,
        /// LIMIT.
        limit: Option<super::Limit>,
    },
    /// SHOW REPLICA STATUS, SLAVE STATUS.
    ReplicaStatus {
        /// Written as SLAVE: old column names.
        old: bool,
        /// FOR CHANNEL.
        channel: Option<String>,
    },
    /// SHOW REPLICAS, SLAVE HOSTS.
    Replicas {
        /// Written as SLAVE HOSTS: old column names.
        old: bool,
    },
    /// SHOW PROFILE.
    Profile(ShowProfile),
    /// SHOW PROFILES.
    Profiles,
}

/// DESCRIBE table [column | 'pattern'].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Describe {
    /// The table.
    pub table: ObjectName,
    /// A column name or a LIKE pattern.
    pub column: Option<String>,
}

/// EXPLAIN.
#[derive(Debug, Clone, PartialEq)]
pub struct Explain {
    /// ANALYZE.
    pub analyze: bool,
    /// FORMAT.
    pub format: ExplainFormat,
    /// What is explained.
    pub target: ExplainTarget,
}

/// What EXPLAIN explains.
#[derive(Debug, Clone, PartialEq)]
pub enum ExplainTarget {
    /// SELECT, INSERT, REPLACE, UPDATE, DELETE.
    Statement(Box<Statement>),
    /// FOR CONNECTION id.
    Connection(u64),
}

/// FORMAT of EXPLAIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExplainFormat {
    /// Nothing written.
    Default,
    /// TRADITIONAL.
    Traditional,
    /// JSON.
    Json,
    /// TREE.
    Tree,
}

/// The text of PREPARE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrepareSource {
    /// 'text'.
    Text(String),
    /// `@name`, without the `@`.
    UserVar(String),
}

/// FLUSH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flush {
    /// LOCAL, NO_WRITE_TO_BINLOG.
    pub local: bool,
    /// What to flush.
    pub targets: Vec<FlushTarget>,
}

/// What FLUSH flushes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlushTarget {
    /// TABLES [t, …] [WITH READ LOCK | FOR EXPORT].
    Tables {
        /// The tables; empty means all.
        names: Vec<ObjectName>,
        /// WITH READ LOCK.
        read_lock: bool,
        /// FOR EXPORT.
        export: bool,
    },
    /// PRIVILEGES.
    Privileges,
    /// STATUS.
    Status,
    /// LOGS, or one kind of log (BINARY, ENGINE, ERROR, GENERAL, RELAY, SLOW), upper case.
    Logs(Option<String>),
    /// RELAY LOGS FOR CHANNEL.
    RelayLogs(String),
    /// HOSTS.
    Hosts,
    /// USER_RESOURCES.
    UserResources,
    /// OPTIMIZER_COSTS.
    OptimizerCosts,
}

/// SHOW PROFILE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowProfile {
    /// The types, each by its place in [`ShowProfile::TYPES`].
    pub types: Vec<usize>,
    /// FOR QUERY; 0 is the last one.
    pub query: u64,
    /// LIMIT.
    pub limit: ProfileLimit,
}

/// LIMIT of SHOW PROFILE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileLimit {
    /// Rows that are left out.
    pub offset: usize,
    /// Rows that are shown.
    pub count: usize,
}

impl ShowProfile {
    /// The types of a profile in the order of their columns, and these.
    pub const TYPES: [(&str, &[&str]); 8] = [
        ("CPU", &["CPU_user", "CPU_system"]),
        ("CONTEXT SWITCHES", &["Context_voluntary", "Context_involuntary"]),
        ("BLOCK IO", &["Block_ops_in", "Block_ops_out"]),
        ("IPC", &["Messages_sent", "Messages_received"]),
        ("PAGE FAULTS", &["Page_faults_major", "Page_faults_minor"]),
        ("SWAPS", &["Swaps"]),
        ("SOURCE", &["Source_function", "Source_file", "Source_line"]),
        ("MEMORY", &[]),
    ];

    /// The columns behind Status and Duration.
    pub fn columns(&self) -> Vec<&'static str> {
        let all = ShowProfile::TYPES.iter().enumerate();
        let wanted = all.filter(|(at, _)| self.types.contains(at));
        wanted.flat_map(|(_, (_, columns))| columns.iter().copied()).collect()
    }
}

/// What RESET resets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ResetTarget {
    Master,
    Replica {
        /// FOR CHANNEL.
        channel: Option<String>,
    },
}

/// PURGE BINARY LOGS.
#[derive(Debug, Clone, PartialEq)]
pub enum PurgeLogs {
    /// TO 'name'.
    To(String),
    /// BEFORE expr.
    Before(Expr),
}

/// ANALYZE, CHECK, OPTIMIZE, REPAIR, CHECKSUM TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableMaintenance {
    /// Which.
    pub kind: MaintenanceKind,
    /// LOCAL, NO_WRITE_TO_BINLOG.
    pub local: bool,
    /// The tables.
    pub tables: Vec<ObjectName>,
    /// QUICK, FAST, MEDIUM, EXTENDED, CHANGED, FOR UPGRADE, USE_FRM; upper case.
    pub options: Vec<String>,
    /// UPDATE | DROP HISTOGRAM ON columns.
    pub histogram: Option<Histogram>,
}

/// The kinds of table maintenance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MaintenanceKind {
    Analyze,
    Check,
    Optimize,
    Repair,
    Checksum,
}

/// The histogram clauses of ANALYZE TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    /// DROP instead of UPDATE.
    pub drop: bool,
    /// The columns.
    pub columns: Vec<String>,
    /// WITH n BUCKETS.
    pub buckets: Option<u64>,
}

/// How an account proves itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthOption {
    /// IDENTIFIED [WITH plugin] BY 'password'.
    Password {
        /// The plugin.
        plugin: Option<String>,
        /// The password.
        password: String,
    },
    /// IDENTIFIED [WITH plugin] BY RANDOM PASSWORD.
    RandomPassword {
        /// The plugin.
        plugin: Option<String>,
    },
    /// IDENTIFIED WITH plugin [AS 'hash'].
    Plugin {
        /// The plugin.
        plugin: String,
        /// The stored value.
        hash: Option<Vec<u8>>,
    },
}

/// An account with its authentication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSpec {
    /// The account.
    pub account: Account,
    /// IDENTIFIED.
    pub auth: Option<AuthOption>,
    /// REPLACE 'old password'.
    pub replace: Option<String>,
    /// RETAIN CURRENT PASSWORD.
    pub retain: bool,
    /// DISCARD OLD PASSWORD.
    pub discard_old: bool,
}

/// REQUIRE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsRequirement {
    /// NONE.
    None,
    /// SSL.
    Ssl,
    /// X509.
    X509,
    /// SUBJECT, ISSUER, CIPHER: (keyword in upper case, value).
    Specific(Vec<(String, String)>),
}

/// Options that follow the accounts in CREATE USER and ALTER USER.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserOptions {
    /// REQUIRE.
    pub tls: Option<TlsRequirement>,
    /// WITH MAX_…: (keyword in upper case, value).
    pub limits: Vec<(String, u64)>,
    /// ACCOUNT LOCK (true), UNLOCK (false).
    pub lock: Option<bool>,
    /// PASSWORD EXPIRE.
    pub expire: Option<PasswordExpire>,
    /// PASSWORD HISTORY n; `Some(None)` is DEFAULT.
    pub history: Option<Option<u64>>,
    /// PASSWORD REUSE INTERVAL n DAY; `Some(None)` is DEFAULT.
    pub reuse_interval: Option<Option<u64>>,
    /// PASSWORD REQUIRE CURRENT: true, OPTIONAL: false; `Some(None)` is DEFAULT.
    pub require_current: Option<Option<bool>>,
    /// FAILED_LOGIN_ATTEMPTS.
    pub failed_login_attempts: Option<u64>,
    /// PASSWORD_LOCK_TIME; `Some(None)` is UNBOUNDED.
    pub lock_time: Option<Option<u64>>,
    /// COMMENT 'text'.
    pub comment: Option<String>,
    /// ATTRIBUTE 'json'.
    pub attribute: Option<String>,
}

/// PASSWORD EXPIRE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PasswordExpire {
    /// At once.
    Now,
    /// DEFAULT.
    Default,
    /// NEVER.
    Never,
    /// INTERVAL n DAY.
    Days(u64),
}

/// CREATE USER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateUser {
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The accounts.
    pub users: Vec<UserSpec>,
    /// DEFAULT ROLE.
    pub default_roles: Vec<Account>,
    /// The options.
    pub options: UserOptions,
}

/// ALTER USER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterUser {
    /// IF EXISTS.
    pub if_exists: bool,
    /// The accounts.
    pub users: Vec<UserSpec>,
    /// DEFAULT ROLE.
    pub default_roles: Option<RoleChoice>,
    /// The options.
    pub options: UserOptions,
}

/// One privilege, perhaps on columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Privilege {
    /// Its name in upper case (`CREATE TEMPORARY TABLES`, `SYSTEM_VARIABLES_ADMIN`, …).
    pub name: String,
    /// Columns; empty means the whole object.
    pub columns: Vec<String>,
}

/// What a GRANT or REVOKE of privileges is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrivilegeLevel {
    /// `*.*`.
    Global,
    /// `*`: the current database.
    CurrentDatabase,
    /// `db.*`.
    Database(String),
    /// `[db.]table`, with TABLE, FUNCTION or PROCEDURE before it.
    Object(ObjectKind, ObjectName),
}

/// The kinds of objects that privileges are granted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ObjectKind {
    Table,
    Function,
    Procedure,
}

/// What is granted or revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantWhat {
    /// Privileges on something; no privileges means ALL [PRIVILEGES].
    Privileges {
        /// The privileges; empty means ALL.
        privileges: Vec<Privilege>,
        /// On what.
        level: PrivilegeLevel,
    },
    /// Roles.
    Roles(Vec<Account>),
    /// PROXY ON account.
    Proxy(Account),
    /// REVOKE ALL PRIVILEGES, GRANT OPTION.
    Everything,
}

/// GRANT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// What.
    pub what: GrantWhat,
    /// TO.
    pub to: Vec<Account>,
    /// WITH GRANT OPTION, WITH ADMIN OPTION.
    pub with_option: bool,
}

/// REVOKE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revoke {
    /// IF EXISTS.
    pub if_exists: bool,
    /// What; the pseudo-privilege GRANT OPTION is named `GRANT OPTION`.
    pub what: GrantWhat,
    /// FROM.
    pub from: Vec<Account>,
    /// IGNORE UNKNOWN USER.
    pub ignore_unknown: bool,
}
