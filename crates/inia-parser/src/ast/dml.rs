//! Statements that change rows.

use super::{
    ColumnName, Expr, FileFormat, IntoTarget, Limit, ObjectName, OrderItem, Query, SelectItem,
    TableRef, ValueRows, With,
};
use std::sync::Arc;

/// The priority words of INSERT, REPLACE, UPDATE, DELETE and LOAD DATA; accepted, without effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Priority {
    /// None written.
    #[default]
    Normal,
    /// LOW_PRIORITY.
    Low,
    /// HIGH_PRIORITY.
    High,
    /// DELAYED.
    Delayed,
    /// CONCURRENT (LOAD DATA).
    Concurrent,
}

/// INSERT and REPLACE.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// REPLACE instead of INSERT.
    pub replace: bool,
    /// Priority word.
    pub priority: Priority,
    /// IGNORE.
    pub ignore: bool,
    /// The table.
    pub table: ObjectName,
    /// PARTITION (p, …); empty means all.
    pub partitions: Vec<String>,
    /// The written column list; empty where none is written (or it is `()`).
    pub columns: Vec<ColumnName>,
    /// The rows.
    pub source: InsertSource,
    /// AS alias [(columns)] after VALUES or SET.
    pub row_alias: Option<RowAlias>,
    /// ON DUPLICATE KEY UPDATE.
    pub on_duplicate: Vec<Assignment>,
    /// RETURNING; empty where it is not written.
    pub returning: Vec<SelectItem>,
}

/// Where inserted rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// VALUES (…), …; [`Expr::Default`] stands for DEFAULT. `SET a = 1` gives one row, its columns
    /// in `columns`.
    Values(Vec<Vec<Expr>>),
    /// Several rows of VALUES, all of one width, most of whose values are literals.
    Rows(Arc<ValueRows>),
    /// A query (SELECT, TABLE, VALUES ROW).
    Query(Box<Query>),
}

impl InsertSource {
    /// The expressions of VALUES; where there are many rows of literals, those that are none.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let (lists, exprs) = match self {
            InsertSource::Values(lists) => (lists.as_slice(), &[][..]),
            InsertSource::Rows(rows) => (&[][..], rows.exprs()),
            InsertSource::Query(_) => (&[][..], &[][..]),
        };
        lists.iter().flatten().chain(exprs)
    }
}

/// The alias of the new row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowAlias {
    /// The row's name.
    pub name: String,
    /// Names for its columns; empty where not written.
    pub columns: Vec<String>,
}

/// `column = value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// The column.
    pub column: ColumnName,
    /// The value, [`Expr::Default`] for DEFAULT.
    pub value: Expr,
}

/// UPDATE.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// WITH.
    pub with: Option<With>,
    /// LOW_PRIORITY.
    pub priority: Priority,
    /// IGNORE.
    pub ignore: bool,
    /// The tables; the single-table form has one [`TableRef::Table`].
    pub tables: Vec<TableRef>,
    /// SET.
    pub assignments: Vec<Assignment>,
    /// WHERE.
    pub where_: Option<Expr>,
    /// ORDER BY (single table only).
    pub order_by: Vec<OrderItem>,
    /// LIMIT (single table only; no offset).
    pub limit: Option<Limit>,
    /// RETURNING; empty where it is not written.
    pub returning: Vec<SelectItem>,
    /// Optimizer hints.
    pub hints: Option<super::HintedBlock>,
}

/// DELETE.
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    /// WITH.
    pub with: Option<With>,
    /// LOW_PRIORITY.
    pub priority: Priority,
    /// QUICK.
    pub quick: bool,
    /// IGNORE.
    pub ignore: bool,
    /// What is deleted from.
    pub target: DeleteTarget,
    /// WHERE.
    pub where_: Option<Expr>,
    /// ORDER BY (single table only).
    pub order_by: Vec<OrderItem>,
    /// LIMIT (single table only; no offset).
    pub limit: Option<Limit>,
    /// RETURNING (single table only); empty where it is not written.
    pub returning: Vec<SelectItem>,
    /// Optimizer hints.
    pub hints: Option<super::HintedBlock>,
}

/// The forms of DELETE.
#[derive(Debug, Clone, PartialEq)]
pub enum DeleteTarget {
    /// DELETE FROM t [AS a] [PARTITION (…)].
    Single(Box<super::TableFactor>),
    /// DELETE a, b FROM refs, and DELETE FROM a, b USING refs.
    Multi {
        /// Whose rows go: names or aliases from `from`.
        targets: Vec<ObjectName>,
        /// The joined tables.
        from: Vec<TableRef>,
    },
}

/// CALL proc(args).
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The procedure.
    pub name: ObjectName,
    /// Its arguments.
    pub args: Vec<Expr>,
}

/// LOAD DATA.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadData {
    /// LOW_PRIORITY, CONCURRENT.
    pub priority: Priority,
    /// LOCAL.
    pub local: bool,
    /// INFILE.
    pub path: String,
    /// REPLACE or IGNORE.
    pub on_duplicate: LoadDuplicate,
    /// The table.
    pub table: ObjectName,
    /// PARTITION (p, …).
    pub partitions: Vec<String>,
    /// CHARACTER SET.
    pub charset: Option<String>,
    /// LOAD XML: ROWS IDENTIFIED BY, `<row>` where it is not written.
    pub xml_rows: Option<String>,
    /// FIELDS and LINES.
    pub format: FileFormat,
    /// IGNORE n LINES.
    pub ignore_lines: u64,
    /// Columns and variables in the order of the file's fields; empty means all columns.
    pub targets: Vec<LoadTarget>,
    /// SET.
    pub assignments: Vec<Assignment>,
}

/// What LOAD DATA does with duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoadDuplicate {
    /// Nothing written: an error (LOCAL: ignored).
    Default,
    /// REPLACE.
    Replace,
    /// IGNORE.
    Ignore,
}

/// Where LOAD DATA puts a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadTarget {
    /// A column.
    Column(ColumnName),
    /// `@name`, without the `@`.
    UserVar(String),
}

/// HANDLER.
#[derive(Debug, Clone, PartialEq)]
pub struct Handler {
    /// The table or open handler.
    pub table: ObjectName,
    /// What to do.
    pub action: HandlerAction,
}

/// What HANDLER does.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)]
pub enum HandlerAction {
    /// OPEN [AS alias].
    Open(Option<String>),
    /// CLOSE.
    Close,
    /// READ.
    Read {
        /// The index, or the table's own order.
        index: Option<String>,
        /// Where to read.
        position: HandlerPosition,
        /// WHERE.
        where_: Option<Expr>,
        /// LIMIT.
        limit: Option<Limit>,
    },
}

/// Where HANDLER reads.
#[derive(Debug, Clone, PartialEq)]
pub enum HandlerPosition {
    /// FIRST.
    First,
    /// NEXT.
    Next,
    /// PREV.
    Prev,
    /// LAST.
    Last,
    /// `= | <= | < | >= | > (values)`.
    Key(super::BinaryOp, Vec<Expr>),
}

/// SIGNAL and RESIGNAL.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    /// SQLSTATE value or condition name; absent only for RESIGNAL.
    pub condition: Option<SignalCondition>,
    /// SET item = value, items in upper case.
    pub items: Vec<(String, Expr)>,
}

/// What SIGNAL raises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignalCondition {
    /// SQLSTATE 'xxxxx'.
    SqlState(String),
    /// A declared condition.
    Name(String),
}

/// GET DIAGNOSTICS.
#[derive(Debug, Clone, PartialEq)]
pub struct GetDiagnostics {
    /// STACKED instead of CURRENT.
    pub stacked: bool,
    /// CONDITION n; absent for statement information.
    pub condition: Option<Expr>,
    /// target = ITEM, items in upper case.
    pub items: Vec<(IntoTarget, String)>,
}
