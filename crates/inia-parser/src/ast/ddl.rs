//! Statements that define databases, tables, views and routines.

use super::{Account, Expr, ObjectName, Query};
use inia_base::temporal::IntervalUnit;

/// CREATE DATABASE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateDatabase {
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Its name.
    pub name: String,
    /// CHARACTER SET and so on.
    pub options: DatabaseOptions,
}

/// ALTER DATABASE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterDatabase {
    /// Its name; absent means the current database.
    pub name: Option<String>,
    /// CHARACTER SET and so on.
    pub options: DatabaseOptions,
}

/// Options of a database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DatabaseOptions {
    /// CHARACTER SET.
    pub charset: Option<String>,
    /// COLLATE.
    pub collation: Option<String>,
    /// ENCRYPTION 'Y' | 'N'.
    pub encryption: Option<String>,
    /// READ ONLY = 0 | 1; `Some(None)` is DEFAULT.
    pub read_only: Option<Option<bool>>,
}

/// The name of a column type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TypeKind {
    Bit,
    /// BOOL, BOOLEAN: TINYINT(1).
    Bool,
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    /// DECIMAL, DEC, NUMERIC, FIXED.
    Decimal,
    Float,
    /// DOUBLE [PRECISION], REAL.
    Double,
    Char,
    VarChar,
    Binary,
    VarBinary,
    TinyText,
    /// TEXT[(n)].
    Text,
    MediumText,
    LongText,
    TinyBlob,
    /// BLOB[(n)].
    Blob,
    MediumBlob,
    LongBlob,
    Date,
    Time,
    DateTime,
    Timestamp,
    Year,
    Enum,
    Set,
    Json,
    /// SERIAL: BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
    Serial,
    Geometry,
    Point,
    LineString,
    Polygon,
    MultiPoint,
    MultiLineString,
    MultiPolygon,
    GeometryCollection,
}

/// A column type as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeSpec {
    /// Which type.
    pub kind: TypeKind,
    /// The first number in parentheses: length, display width, precision or fractional digits.
    pub length: Option<u64>,
    /// The second number in parentheses.
    pub decimals: Option<u64>,
    /// UNSIGNED (implied by ZEROFILL).
    pub unsigned: bool,
    /// ZEROFILL.
    pub zerofill: bool,
    /// CHARACTER SET; also from ASCII, UNICODE, BYTE and NATIONAL.
    pub charset: Option<String>,
    /// COLLATE.
    pub collation: Option<String>,
    /// The BINARY attribute: the charset's `_bin` collation.
    pub binary: bool,
    /// NATIONAL, NCHAR, NVARCHAR.
    pub national: bool,
    /// ASCII or UNICODE, where that named the charset.
    pub charset_word: Option<&'static str>,
    /// Members of ENUM and SET.
    pub values: Vec<String>,
}

impl TypeSpec {
    /// The type without any attribute.
    pub fn new(kind: TypeKind) -> TypeSpec {
        TypeSpec {
            kind,
            length: None,
            decimals: None,
            unsigned: false,
            zerofill: false,
            charset: None,
            collation: None,
            binary: false,
            national: false,
            charset_word: None,
            values: Vec::new(),
        }
    }
}

/// A column's default.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnDefault {
    /// A literal, possibly signed (NULL included).
    Literal(Expr),
    /// CURRENT_TIMESTAMP[(fsp)] and its synonyms.
    Now(u8),
    /// (expr).
    Expr(Expr),
}

/// GENERATED ALWAYS AS (expr).
#[derive(Debug, Clone, PartialEq)]
pub struct Generated {
    /// The expression.
    pub expr: Expr,
    /// STORED instead of VIRTUAL.
    pub stored: bool,
}

/// A column definition.
///
/// Wide: one field for each attribute that the grammar has.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDef {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeSpec,
    /// `Some(true)` for NULL, `Some(false)` for NOT NULL.
    pub nullable: Option<bool>,
    /// DEFAULT.
    pub default: Option<ColumnDefault>,
    /// ON UPDATE CURRENT_TIMESTAMP[(fsp)].
    pub on_update_now: Option<u8>,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// UNIQUE [KEY].
    pub unique: bool,
    /// [PRIMARY] KEY.
    pub primary_key: bool,
    /// COMMENT.
    pub comment: Option<String>,
    /// GENERATED ALWAYS AS.
    pub generated: Option<Generated>,
    /// CHECK constraints of the column.
    pub checks: Vec<CheckDef>,
    /// REFERENCES, which MySQL 8.0 parses and ignores on a column.
    pub references: Option<References>,
    /// INVISIBLE.
    pub invisible: bool,
    /// COLUMN_FORMAT, upper case.
    pub column_format: Option<String>,
    /// STORAGE, upper case.
    pub storage: Option<String>,
    /// SRID.
    pub srid: Option<u64>,
}

impl ColumnDef {
    /// A nullable column without attributes.
    pub fn new(name: impl Into<String>, ty: TypeSpec) -> ColumnDef {
        ColumnDef {
            name: name.into(),
            ty,
            nullable: None,
            default: None,
            on_update_now: None,
            auto_increment: false,
            unique: false,
            primary_key: false,
            comment: None,
            generated: None,
            checks: Vec::new(),
            references: None,
            invisible: false,
            column_format: None,
            storage: None,
            srid: None,
        }
    }
}

/// A CHECK constraint.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckDef {
    /// CONSTRAINT name.
    pub name: Option<String>,
    /// The condition.
    pub expr: Expr,
    /// False for NOT ENFORCED.
    pub enforced: bool,
}

/// REFERENCES.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct References {
    /// The parent table.
    pub table: ObjectName,
    /// Its columns.
    pub columns: Vec<String>,
    /// ON DELETE.
    pub on_delete: Option<ReferenceAction>,
    /// ON UPDATE.
    pub on_update: Option<ReferenceAction>,
}

/// What a foreign key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ReferenceAction {
    Restrict,
    Cascade,
    SetNull,
    NoAction,
    SetDefault,
}

/// FOREIGN KEY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKeyDef {
    /// CONSTRAINT name.
    pub constraint: Option<String>,
    /// The index name after FOREIGN KEY.
    pub index_name: Option<String>,
    /// The child columns.
    pub columns: Vec<String>,
    /// The parent.
    pub references: References,
}

/// Index kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IndexKind {
    Primary,
    Unique,
    Plain,
    FullText,
    Spatial,
}

/// An index definition.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexDef {
    /// Which kind.
    pub kind: IndexKind,
    /// CONSTRAINT name (the index name where no other is written); `Some("")` never occurs.
    pub constraint: Option<String>,
    /// The index name.
    pub name: Option<String>,
    /// Its parts.
    pub parts: Vec<KeyPart>,
    /// USING and so on.
    pub options: IndexOptions,
}

/// One part of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyPart {
    /// Column or expression.
    pub key: KeyPartKey,
    /// DESC.
    pub desc: bool,
    /// ASC or DESC is written.
    pub ordered: bool,
}

/// What an index part is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyPartKey {
    /// A column, with the prefix length where written.
    Column {
        /// Its name.
        name: String,
        /// Prefix length in characters (bytes for binary types).
        prefix: Option<u64>,
    },
    /// ((expr)).
    Expr(Expr),
}

/// Options of an index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexOptions {
    /// USING BTREE | HASH | RTREE, upper case.
    pub using: Option<String>,
    /// KEY_BLOCK_SIZE.
    pub key_block_size: Option<u64>,
    /// COMMENT.
    pub comment: Option<String>,
    /// INVISIBLE.
    pub invisible: bool,
    /// WITH PARSER.
    pub parser: Option<String>,
}

/// CREATE TABLE.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    /// TEMPORARY.
    pub temporary: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// LIKE other; then everything below is empty.
    pub like: Option<ObjectName>,
    /// Columns, keys and constraints in the order of the text.
    pub elements: Vec<TableElement>,
    /// ENGINE and so on.
    pub options: Vec<TableOption>,
    /// PARTITION BY ….
    pub partition: Option<Box<super::PartitionBy>>,
    /// [IGNORE | REPLACE] [AS] query.
    pub select: Option<CreateSelect>,
}

/// The query of CREATE TABLE … SELECT.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSelect {
    /// What to do with duplicates.
    pub on_duplicate: super::LoadDuplicate,
    /// The query.
    pub query: Box<Query>,
}

/// One member of a table definition.
#[derive(Debug, Clone, PartialEq)]
pub enum TableElement {
    /// A column.
    Column(Box<ColumnDef>),
    /// An index, a primary key or a unique constraint.
    Index(IndexDef),
    /// FOREIGN KEY.
    ForeignKey(ForeignKeyDef),
    /// CHECK.
    Check(CheckDef),
}

/// A table option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableOption {
    /// ENGINE.
    Engine(String),
    /// AUTO_INCREMENT.
    AutoIncrement(u64),
    /// [DEFAULT] CHARACTER SET; absent for the word DEFAULT.
    Charset(Option<String>),
    /// [DEFAULT] COLLATE.
    Collate(String),
    /// COMMENT.
    Comment(String),
    /// ROW_FORMAT, upper case.
    RowFormat(String),
    /// UNION: the tables that a merged table unites.
    Union(Vec<ObjectName>),
    /// Any other option (KEY_BLOCK_SIZE, MAX_ROWS, STATS_PERSISTENT, …): name in upper case, its
    /// value as text.
    Other {
        /// Its name in upper case.
        name: String,
        /// Its value.
        value: String,
    },
}

/// ALTER TABLE.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    /// The table.
    pub name: ObjectName,
    /// What to do, in order.
    pub actions: Vec<AlterAction>,
}

/// Where a column goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnPosition {
    /// FIRST.
    First,
    /// AFTER column.
    After(String),
}

/// One action of ALTER TABLE.
#[derive(Debug, Clone, PartialEq)]
pub enum AlterAction {
    /// ADD [COLUMN] def [position]; a parenthesised list gives one action each.
    AddColumn {
        /// The column.
        def: Box<ColumnDef>,
        /// Where.
        position: Option<ColumnPosition>,
    },
    /// ADD INDEX, PRIMARY KEY, UNIQUE, FULLTEXT, SPATIAL.
    AddIndex(IndexDef),
    /// ADD FOREIGN KEY.
    AddForeignKey(ForeignKeyDef),
    /// ADD CHECK.
    AddCheck(CheckDef),
    /// DROP [COLUMN].
    DropColumn(String),
    /// DROP INDEX | KEY.
    DropIndex(String),
    /// DROP PRIMARY KEY.
    DropPrimaryKey,
    /// DROP FOREIGN KEY.
    DropForeignKey(String),
    /// DROP CHECK.
    DropCheck(String),
    /// DROP CONSTRAINT: whatever has that name.
    DropConstraint(String),
    /// MODIFY [COLUMN].
    ModifyColumn {
        /// The new definition.
        def: Box<ColumnDef>,
        /// Where.
        position: Option<ColumnPosition>,
    },
    /// CHANGE [COLUMN] old def.
    ChangeColumn {
        /// The old name.
        old: String,
        /// The new definition.
        def: Box<ColumnDef>,
        /// Where.
        position: Option<ColumnPosition>,
    },
    /// ALTER [COLUMN] c SET DEFAULT.
    SetDefault {
        /// The column.
        column: String,
        /// Its default.
        default: ColumnDefault,
    },
    /// ALTER [COLUMN] c DROP DEFAULT.
    DropDefault(String),
    /// ALTER [COLUMN] c SET VISIBLE | INVISIBLE.
    SetColumnVisibility {
        /// The column.
        column: String,
        /// VISIBLE.
        visible: bool,
    },
    /// ALTER INDEX i VISIBLE | INVISIBLE.
    SetIndexVisibility {
        /// The index.
        index: String,
        /// VISIBLE.
        visible: bool,
    },
    /// ALTER CHECK | CONSTRAINT c [NOT] ENFORCED.
    SetEnforced {
        /// The constraint.
        name: String,
        /// ENFORCED.
        enforced: bool,
    },
    /// RENAME COLUMN a TO b.
    RenameColumn {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// RENAME INDEX | KEY a TO b.
    RenameIndex {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// RENAME [TO | AS] name.
    RenameTo(ObjectName),
    /// CONVERT TO CHARACTER SET cs [COLLATE c]; no charset for the word DEFAULT.
    ConvertCharset {
        /// The character set.
        charset: Option<String>,
        /// The collation.
        collation: Option<String>,
    },
    /// ORDER BY.
    OrderBy(Vec<super::OrderItem>),
    /// DISABLE KEYS, ENABLE KEYS.
    EnableKeys(bool),
    /// FORCE.
    Force,
    /// A table option.
    Option(TableOption),
    /// ALGORITHM, as written.
    Algorithm(String),
    /// LOCK, as written.
    Lock(String),
    /// WITH or WITHOUT VALIDATION.
    Validation(bool),
    /// DISCARD TABLESPACE, IMPORT TABLESPACE.
    Tablespace {
        /// IMPORT.
        import: bool,
    },
    /// A partition action or PARTITION BY.
    Partition(super::PartitionAction),
}

/// DROP TABLE and DROP VIEW.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropTables {
    /// TEMPORARY.
    pub temporary: bool,
    /// IF EXISTS.
    pub if_exists: bool,
    /// The tables or views.
    pub names: Vec<ObjectName>,
}

/// CREATE INDEX.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateIndex {
    /// The index (its name is always present).
    pub index: IndexDef,
    /// The table.
    pub table: ObjectName,
    /// ALGORITHM, upper case.
    pub algorithm: Option<String>,
    /// LOCK, upper case.
    pub lock: Option<String>,
}

/// DROP INDEX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropIndex {
    /// The index, `PRIMARY` for the primary key.
    pub name: String,
    /// The table.
    pub table: ObjectName,
    /// ALGORITHM, upper case.
    pub algorithm: Option<String>,
    /// LOCK, upper case.
    pub lock: Option<String>,
}

/// CREATE VIEW, ALTER VIEW.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    /// ALTER VIEW.
    pub alter: bool,
    /// OR REPLACE.
    pub or_replace: bool,
    /// ALGORITHM, upper case.
    pub algorithm: Option<String>,
    /// DEFINER.
    pub definer: Option<Account>,
    /// SQL SECURITY; true for INVOKER.
    pub security_invoker: Option<bool>,
    /// Its name.
    pub name: ObjectName,
    /// Its column names; empty where not written.
    pub columns: Vec<String>,
    /// The query.
    pub query: Box<Query>,
    /// The query's text.
    pub text: String,
    /// WITH CHECK OPTION.
    pub check_option: Option<CheckOption>,
}

/// WITH … CHECK OPTION.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CheckOption {
    Cascaded,
    Local,
}

/// The kinds of stored programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RoutineKind {
    Procedure,
    Function,
    Trigger,
    Event,
}

/// CREATE PROCEDURE, FUNCTION, TRIGGER, EVENT.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateRoutine {
    /// DEFINER.
    pub definer: Option<Account>,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// What differs between the kinds.
    pub detail: RoutineDetail,
    /// The text between the parentheses of the parameters.
    pub params_text: String,
    /// The text of the body.
    pub body: String,
    /// The body.
    pub program: Option<Box<super::Program>>,
}

/// What differs between the kinds of stored programs.
#[derive(Debug, Clone, PartialEq)]
pub enum RoutineDetail {
    /// CREATE PROCEDURE.
    Procedure {
        /// Parameters.
        params: Vec<RoutineParam>,
        /// DETERMINISTIC and so on.
        characteristics: Characteristics,
    },
    /// CREATE FUNCTION.
    Function {
        /// Parameters.
        params: Vec<RoutineParam>,
        /// RETURNS.
        returns: TypeSpec,
        /// DETERMINISTIC and so on.
        characteristics: Characteristics,
    },
    /// CREATE TRIGGER.
    Trigger {
        /// BEFORE instead of AFTER.
        before: bool,
        /// INSERT, UPDATE or DELETE.
        event: TriggerEvent,
        /// The table.
        table: ObjectName,
        /// FOLLOWS (true) or PRECEDES (false) another trigger.
        order: Option<(bool, String)>,
    },
    /// CREATE EVENT.
    Event {
        /// ON SCHEDULE.
        schedule: Schedule,
        /// ON COMPLETION PRESERVE.
        preserve: Option<bool>,
        /// ENABLE, DISABLE, DISABLE ON SLAVE.
        status: Option<EventStatus>,
        /// COMMENT.
        comment: Option<String>,
    },
}

/// What a trigger fires on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TriggerEvent {
    Insert,
    Update,
    Delete,
}

/// When an event runs.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)]
pub enum Schedule {
    /// AT expr.
    At(Expr),
    /// EVERY n unit [STARTS expr] [ENDS expr].
    Every {
        /// The amount.
        interval: Expr,
        /// Its unit.
        unit: IntervalUnit,
        /// STARTS.
        starts: Option<Expr>,
        /// ENDS.
        ends: Option<Expr>,
    },
}

/// Whether an event runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum EventStatus {
    Enabled,
    Disabled,
    DisabledOnReplica,
}

/// A parameter of a routine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutineParam {
    /// IN, OUT or INOUT.
    pub mode: ParamMode,
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeSpec,
}

/// The direction of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ParamMode {
    In,
    Out,
    InOut,
}

/// Characteristics of a routine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Characteristics {
    /// COMMENT.
    pub comment: Option<String>,
    /// DETERMINISTIC, NOT DETERMINISTIC.
    pub deterministic: Option<bool>,
    /// CONTAINS SQL, NO SQL, READS SQL DATA, MODIFIES SQL DATA; upper case.
    pub data_access: Option<String>,
    /// SQL SECURITY INVOKER (true) or DEFINER (false).
    pub security_invoker: Option<bool>,
}

/// ALTER PROCEDURE, FUNCTION, EVENT.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterRoutine {
    /// Which kind.
    pub kind: RoutineKind,
    /// DEFINER (events).
    pub definer: Option<Account>,
    /// Its name.
    pub name: ObjectName,
    /// Characteristics (procedures, functions).
    pub characteristics: Characteristics,
    /// ON SCHEDULE (events).
    pub schedule: Option<Schedule>,
    /// ON COMPLETION (events).
    pub preserve: Option<bool>,
    /// RENAME TO (events).
    pub rename: Option<ObjectName>,
    /// ENABLE and so on (events).
    pub status: Option<EventStatus>,
    /// DO body (events).
    pub body: Option<String>,
}

/// DROP PROCEDURE, FUNCTION, TRIGGER, EVENT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropRoutine {
    /// Which kind.
    pub kind: RoutineKind,
    /// IF EXISTS.
    pub if_exists: bool,
    /// Its name.
    pub name: ObjectName,
}

/// A statement about something this product does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedStatement {
    /// What it is, for the message of error 1235: `CREATE TABLESPACE` and the like.
    pub what: String,
}
