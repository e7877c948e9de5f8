//! Queries: SELECT and what can stand in its place.

use super::{Expr, HintedBlock, JsonOnResponse, ObjectName, OrderItem, TypeSpec, WindowSpec};

/// A query expression: a body with WITH before it and ORDER BY, LIMIT, locks and INTO after it.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// WITH.
    pub with: Option<With>,
    /// SELECT, VALUES, TABLE, a parenthesised query or set operations.
    pub body: QueryBody,
    /// ORDER BY of the whole.
    pub order_by: Vec<OrderItem>,
    /// LIMIT of the whole.
    pub limit: Option<Limit>,
    /// FOR UPDATE and the like.
    pub locking: Vec<Locking>,
    /// INTO, in either of its places.
    pub into: Option<SelectInto>,
}

impl Query {
    /// A body and nothing around it.
    pub fn new(body: QueryBody) -> Query {
        Query { with: None, body, order_by: vec![], limit: None, locking: vec![], into: None }
    }
}

/// The body of a query.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryBody {
    /// SELECT.
    Select(Box<Select>),
    /// VALUES ROW(…), …
    Values(Vec<Vec<Expr>>),
    /// TABLE t.
    Table(ObjectName),
    /// (query).
    Nested(Box<Query>),
    /// `first op a op b …`, applied from left to right. INTERSECT binds tighter than the others,
    /// so it appears as an operand of its own where both are mixed.
    SetOperation {
        /// The leftmost operand: Select, Values, Table, Nested or (INTERSECT) SetOperation.
        first: Box<QueryBody>,
        /// The others.
        rest: Vec<SetTerm>,
    },
}

/// One operator of a set operation and its right operand.
#[derive(Debug, Clone, PartialEq)]
pub struct SetTerm {
    /// Which.
    pub op: SetOp,
    /// ALL; the default is DISTINCT.
    pub all: bool,
    /// The right operand.
    pub body: QueryBody,
}

/// Set operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetOp {
    /// UNION.
    Union,
    /// INTERSECT.
    Intersect,
    /// EXCEPT.
    Except,
}

/// WITH.
#[derive(Debug, Clone, PartialEq)]
pub struct With {
    /// RECURSIVE.
    pub recursive: bool,
    /// The common table expressions.
    pub ctes: Vec<Cte>,
}

/// One common table expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Cte {
    /// Its name.
    pub name: String,
    /// Its column names; empty where not written.
    pub columns: Vec<String>,
    /// Its query.
    pub query: Query,
}

/// LIMIT; each part is an integer literal, a parameter or a routine's variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Rows to skip.
    pub offset: Option<Expr>,
    /// Rows to return.
    pub count: Expr,
}

/// A locking clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locking {
    /// FOR UPDATE or FOR SHARE (LOCK IN SHARE MODE).
    pub strength: LockStrength,
    /// OF tables; empty means all.
    pub of: Vec<ObjectName>,
    /// What to do with rows that others have locked.
    pub wait: LockWait,
}

/// How strongly a query locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockStrength {
    /// FOR UPDATE.
    Update,
    /// FOR SHARE, LOCK IN SHARE MODE.
    Share,
}

/// What to do with rows that others have locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockWait {
    /// Wait.
    Wait,
    /// NOWAIT.
    NoWait,
    /// SKIP LOCKED.
    SkipLocked,
}

/// SELECT … INTO.
#[derive(Debug, Clone, PartialEq)]
pub enum SelectInto {
    /// Variables.
    Vars(Vec<IntoTarget>),
    /// OUTFILE.
    Outfile {
        /// The file.
        path: String,
        /// CHARACTER SET.
        charset: Option<String>,
        /// FIELDS and LINES.
        format: FileFormat,
    },
    /// DUMPFILE.
    Dumpfile(String),
}

/// A variable that receives a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntoTarget {
    /// `@name`, without the `@`.
    UserVar(String),
    /// A bare word outside of a stored program.
    Local(String),
    /// A stored program's local variable.
    Slot(usize),
}

/// FIELDS and LINES of LOAD DATA and SELECT … INTO OUTFILE; absent parts have MySQL's defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileFormat {
    /// FIELDS TERMINATED BY.
    pub fields_terminated: Option<String>,
    /// FIELDS [OPTIONALLY] ENCLOSED BY.
    pub fields_enclosed: Option<String>,
    /// OPTIONALLY.
    pub optionally_enclosed: bool,
    /// FIELDS ESCAPED BY.
    pub fields_escaped: Option<String>,
    /// LINES STARTING BY.
    pub lines_starting: Option<String>,
    /// LINES TERMINATED BY.
    pub lines_terminated: Option<String>,
}

/// SELECT without what surrounds it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Select {
    /// DISTINCT and the other words after SELECT.
    pub options: SelectOptions,
    /// The select list.
    pub items: Vec<SelectItem>,
    /// FROM, the operands of its commas; empty also for FROM DUAL.
    pub from: Vec<TableRef>,
    /// WHERE.
    pub where_: Option<Expr>,
    /// GROUP BY.
    pub group_by: Vec<Expr>,
    /// WITH ROLLUP.
    pub rollup: bool,
    /// HAVING.
    pub having: Option<Expr>,
    /// WINDOW name AS (…), …
    pub windows: Vec<(String, WindowSpec)>,
    /// Optimizer hints.
    pub hints: Option<HintedBlock>,
    /// Its number in the text that EXPLAIN shows, from 1; 0 elsewhere.
    pub number: usize,
}

/// The words between SELECT and the select list.
///
/// Wide: one flag for each word of the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools)]
pub struct SelectOptions {
    /// DISTINCT, DISTINCTROW.
    pub distinct: bool,
    /// HIGH_PRIORITY.
    pub high_priority: bool,
    /// STRAIGHT_JOIN.
    pub straight_join: bool,
    /// SQL_SMALL_RESULT.
    pub small_result: bool,
    /// SQL_BIG_RESULT.
    pub big_result: bool,
    /// SQL_BUFFER_RESULT.
    pub buffer_result: bool,
    /// SQL_NO_CACHE.
    pub no_cache: bool,
    /// SQL_CALC_FOUND_ROWS.
    pub calc_found_rows: bool,
}

/// One item of a select list.
#[derive(Debug, Clone, PartialEq)]
pub enum SelectItem {
    /// `*`.
    Wildcard,
    /// `[db.]table.*`.
    TableWildcard(ObjectName),
    /// An expression.
    Expr {
        /// The expression.
        expr: Expr,
        /// AS.
        alias: Option<String>,
        /// The expression's source text, by which MySQL names the result column where there is
        /// no alias (a plain column is named by its last part); empty where there is one.
        text: String,
    },
}

/// A member of FROM.
#[derive(Debug, Clone, PartialEq)]
pub enum TableRef {
    /// A named table, view or common table expression.
    Table(Box<TableFactor>),
    /// [LATERAL] (query) AS alias (columns).
    Derived(Box<DerivedTable>),
    /// A join.
    Join(Box<Join>),
    /// (a, b, …): a parenthesised list, equal to cross joins.
    List(Vec<TableRef>),
    /// JSON_TABLE.
    JsonTable(Box<JsonTable>),
}

/// The expressions of a select list.
pub fn item_exprs(items: &[SelectItem]) -> impl Iterator<Item = &Expr> + Clone {
    items.iter().filter_map(|item| match item {
        SelectItem::Expr { expr, .. } => Some(expr),
        _ => None,
    })
}

/// A named table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableFactor {
    /// Its name.
    pub name: ObjectName,
    /// PARTITION (p, …); empty means all.
    pub partitions: Vec<String>,
    /// AS.
    pub alias: Option<String>,
    /// USE, FORCE and IGNORE INDEX.
    pub hints: Vec<IndexHint>,
}

/// An index hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexHint {
    /// USE, FORCE or IGNORE.
    pub kind: IndexHintKind,
    /// FOR JOIN, ORDER BY or GROUP BY.
    pub scope: Option<IndexHintScope>,
    /// Index names, `PRIMARY` for the primary key; may be empty for USE.
    pub indexes: Vec<String>,
}

/// The kinds of index hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IndexHintKind {
    Use,
    Force,
    Ignore,
}

/// What an index hint is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IndexHintScope {
    Join,
    OrderBy,
    GroupBy,
}

/// A subquery in FROM.
#[derive(Debug, Clone, PartialEq)]
pub struct DerivedTable {
    /// LATERAL.
    pub lateral: bool,
    /// The query.
    pub query: Query,
    /// Its name.
    pub alias: String,
    /// Its column names; empty where not written.
    pub columns: Vec<String>,
    /// The common table expression that it stands for, in the text that EXPLAIN shows.
    pub common: Option<String>,
}

/// A join of two members of FROM.
#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    /// Which join.
    pub kind: JoinKind,
    /// NATURAL.
    pub natural: bool,
    /// Left operand.
    pub left: TableRef,
    /// Right operand.
    pub right: TableRef,
    /// ON or USING.
    pub constraint: JoinConstraint,
}

/// Join kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// JOIN, INNER JOIN, CROSS JOIN.
    Inner,
    /// STRAIGHT_JOIN.
    Straight,
    /// LEFT [OUTER] JOIN.
    Left,
    /// RIGHT [OUTER] JOIN.
    Right,
    /// What IN and EXISTS become, in the text that EXPLAIN shows.
    Semi,
    /// What NOT IN and NOT EXISTS become, in the text that EXPLAIN shows.
    Anti,
}

/// How a join matches.
#[derive(Debug, Clone, PartialEq)]
pub enum JoinConstraint {
    /// Nothing written.
    None,
    /// ON condition.
    On(Expr),
    /// USING (columns).
    Using(Vec<String>),
}

/// JSON_TABLE(doc, path COLUMNS (…)) AS alias.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonTable {
    /// The document.
    pub doc: Expr,
    /// The row path.
    pub path: String,
    /// Its columns.
    pub columns: Vec<JsonTableColumn>,
    /// Its name.
    pub alias: String,
}

/// One column of JSON_TABLE.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)]
pub enum JsonTableColumn {
    /// name FOR ORDINALITY.
    Ordinality(String),
    /// name type PATH 'p' …
    Path {
        /// Its name.
        name: String,
        /// Its type.
        ty: TypeSpec,
        /// EXISTS PATH.
        exists: bool,
        /// The path.
        path: String,
        /// ON EMPTY.
        on_empty: Option<JsonOnResponse>,
        /// ON ERROR.
        on_error: Option<JsonOnResponse>,
    },
    /// NESTED [PATH] 'p' COLUMNS (…).
    Nested {
        /// The path.
        path: String,
        /// Its columns.
        columns: Vec<JsonTableColumn>,
    },
}

impl JsonTable {
    /// Calls `visit` with the name of each column, in the order in which they are written.
    pub fn for_each_name(&self, visit: &mut dyn FnMut(&str)) {
        fn each(columns: &[JsonTableColumn], visit: &mut dyn FnMut(&str)) {
            for column in columns {
                match column {
                    JsonTableColumn::Ordinality(name) | JsonTableColumn::Path { name, .. } => {
                        visit(name);
                    }
                    JsonTableColumn::Nested { columns, .. } => each(columns, visit),
                }
            }
        }
        each(&self.columns, visit);
    }
}
