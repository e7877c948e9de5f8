//! Expressions.

use super::Query;
use inia_base::temporal::IntervalUnit;

/// A column name of one to three parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnName {
    /// The database, where written.
    pub db: Option<String>,
    /// The table or alias, where written.
    pub table: Option<String>,
    /// The column.
    pub name: String,
}

impl ColumnName {
    /// A name without qualifiers.
    pub fn bare(name: impl Into<String>) -> ColumnName {
        ColumnName { db: None, table: None, name: name.into() }
    }
}

/// A literal.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// NULL.
    Null,
    /// TRUE, FALSE.
    Bool(bool),
    /// An unsigned integer up to 2^64 - 1; the sign is a unary operator.
    Int(u64),
    /// A number with a decimal point, or an integer beyond 64 bits: its digits as written.
    Decimal(String),
    /// A number with an exponent.
    Float(f64),
    /// A character string, escapes undone, adjacent strings joined.
    String {
        /// The introducer without `_`; `N'…'` gives `utf8mb3`.
        charset: Option<String>,
        /// The characters.
        value: String,
    },
    /// A string whose bytes are not UTF-8 (binary data sent raw between quotes).
    RawBytes {
        /// The introducer without `_`.
        charset: Option<String>,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// `x'…'` or `0x…`.
    Hex {
        /// The introducer without `_`.
        charset: Option<String>,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// `b'…'` or `0b…`, most significant byte first.
    Bit {
        /// The introducer without `_`.
        charset: Option<String>,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// `DATE 'text'`.
    Date(String),
    /// `TIME 'text'`.
    Time(String),
    /// `TIMESTAMP 'text'`.
    Timestamp(String),
}

/// Where a system variable is read or set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VarScope {
    /// SESSION, LOCAL.
    Session,
    /// GLOBAL.
    Global,
    /// PERSIST (SET only).
    Persist,
    /// PERSIST_ONLY (SET only).
    PersistOnly,
}

/// A system variable, `@@[scope.][component.]name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SysVar {
    /// The written scope.
    pub scope: Option<VarScope>,
    /// A component or key cache name before the point.
    pub component: Option<String>,
    /// The variable, lower-cased.
    pub name: String,
    /// The name as written (MySQL names the result column by it).
    pub text: String,
}

/// Unary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `NOT x`, and `!x`.
    Not,
    /// `-x`.
    Neg,
    /// `+x`.
    Plus,
    /// `~x`.
    BitNot,
    /// `BINARY x`.
    Binary,
}

/// Binary operators other than AND and OR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`.
    Div,
    /// `DIV`.
    IntDiv,
    /// `%`, `MOD`.
    Mod,
    /// `|`.
    BitOr,
    /// `&`.
    BitAnd,
    /// `^`.
    BitXor,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `=`.
    Eq,
    /// `<=>`.
    NullSafeEq,
    /// `<>`, `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `XOR`.
    Xor,
}

impl BinaryOp {
    /// The comparison that is true where this one is false.
    pub fn opposite(self) -> Option<BinaryOp> {
        use BinaryOp::*;
        Some(match self {
            Eq => Ne,
            Ne => Eq,
            Lt => Ge,
            Ge => Lt,
            Gt => Le,
            Le => Gt,
            _ => return None,
        })
    }

    /// True for the seven comparison operators.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Eq | NullSafeEq | Ne | Lt | Le | Gt | Ge)
    }
}

/// What IS tests for, besides NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Truth {
    /// IS TRUE.
    True,
    /// IS FALSE.
    False,
    /// IS UNKNOWN.
    Unknown,
}

/// ANY (SOME) or ALL before a subquery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// ANY, SOME.
    Any,
    /// ALL.
    All,
}

/// The target of CAST and CONVERT.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CastType {
    /// BINARY[(n)].
    Binary(Option<u64>),
    /// CHAR[(n)] [CHARACTER SET cs]; NCHAR gives utf8mb3.
    Char {
        /// Length in characters.
        length: Option<u64>,
        /// Character set.
        charset: Option<String>,
    },
    /// SIGNED [INTEGER].
    Signed,
    /// UNSIGNED [INTEGER].
    Unsigned,
    /// DATE.
    Date,
    /// TIME[(fsp)].
    Time(Option<u64>),
    /// DATETIME[(fsp)].
    DateTime(Option<u64>),
    /// YEAR.
    Year,
    /// DECIMAL[(p[,s])].
    Decimal {
        /// Digits in all.
        precision: Option<u64>,
        /// Digits after the point.
        scale: Option<u64>,
    },
    /// FLOAT[(p)].
    Float(Option<u64>),
    /// DOUBLE.
    Double,
    /// REAL.
    Real,
    /// JSON.
    Json,
    /// POINT, GEOMETRY and the other spatial types, by name in lower case.
    Geometry(String),
}

/// Which ends TRIM cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrimSide {
    /// BOTH, and no word.
    Both,
    /// LEADING.
    Leading,
    /// TRAILING.
    Trailing,
}

/// The search mode of MATCH … AGAINST.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchMode {
    /// IN NATURAL LANGUAGE MODE, the default.
    Natural,
    /// IN NATURAL LANGUAGE MODE WITH QUERY EXPANSION.
    NaturalExpanded,
    /// IN BOOLEAN MODE.
    Boolean,
    /// WITH QUERY EXPANSION.
    Expanded,
}

/// A call in plain `name(args)` form; special syntaxes are brought to this form where they have
/// one: `SUBSTRING(a FROM b)` is `substr(a, b)`, `POSITION(a IN b)` is `locate(a, b)`,
/// `CURRENT_TIMESTAMP(3)` is `now(3)`, `||` as concatenation is one `concat` of all operands.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    /// The database, where written (then it is a stored function).
    pub db: Option<String>,
    /// The name, lower-cased where `db` is absent.
    pub name: String,
    /// The arguments.
    pub args: Vec<Expr>,
    /// How it was written.
    pub written: Written,
}

impl FunctionCall {
    /// A call of a built-in function by its lower-case name.
    pub fn native(name: &str, args: Vec<Expr>) -> FunctionCall {
        FunctionCall { db: None, name: name.to_string(), args, written: Written::default() }
    }

    /// The name as it was written.
    pub fn text(&self) -> &str {
        self.written.text.as_deref().unwrap_or(&self.name)
    }
}

/// How a call was written.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// The name, where it is not the lower-case one.
    pub text: Option<Box<str>>,
    /// The name is one of the grammar's, but quoted, or there was a space before the parenthesis
    /// where that allows none.
    pub apart: bool,
}

impl PartialEq for Written {
    fn eq(&self, _: &Written) -> bool {
        true
    }
}

/// Aggregate functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AggregateFunc {
    /// COUNT(*): no arguments.
    CountStar,
    /// COUNT(expr), COUNT(DISTINCT a, b).
    Count,
    /// SUM.
    Sum,
    /// AVG.
    Avg,
    /// MIN.
    Min,
    /// MAX.
    Max,
    /// BIT_AND.
    BitAnd,
    /// BIT_OR.
    BitOr,
    /// BIT_XOR.
    BitXor,
    /// STD, STDDEV, STDDEV_POP.
    StddevPop,
    /// STDDEV_SAMP.
    StddevSamp,
    /// VARIANCE, VAR_POP.
    VarPop,
    /// VAR_SAMP.
    VarSamp,
    /// GROUP_CONCAT.
    GroupConcat,
    /// JSON_ARRAYAGG.
    JsonArrayAgg,
    /// ST_COLLECT.
    Collect,
    /// JSON_OBJECTAGG.
    JsonObjectAgg,
}

/// A call of an aggregate function, possibly over a window.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregateCall {
    /// Which function.
    pub func: AggregateFunc,
    /// DISTINCT.
    pub distinct: bool,
    /// Arguments; empty for COUNT(*).
    pub args: Vec<Expr>,
    /// ORDER BY inside GROUP_CONCAT.
    pub order_by: Vec<OrderItem>,
    /// SEPARATOR of GROUP_CONCAT; absent means a comma.
    pub separator: Option<String>,
    /// OVER.
    pub over: Option<Over>,
}

/// Functions that exist only over windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum WindowFunc {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile,
    Lead,
    Lag,
    FirstValue,
    LastValue,
    NthValue,
}

impl WindowFunc {
    /// The name, as texts made by the server spell it.
    pub fn name(self) -> &'static str {
        match self {
            WindowFunc::RowNumber => "row_number",
            WindowFunc::Rank => "rank",
            WindowFunc::DenseRank => "dense_rank",
            WindowFunc::PercentRank => "percent_rank",
            WindowFunc::CumeDist => "cume_dist",
            WindowFunc::Ntile => "ntile",
            WindowFunc::Lead => "lead",
            WindowFunc::Lag => "lag",
            WindowFunc::FirstValue => "first_value",
            WindowFunc::LastValue => "last_value",
            WindowFunc::NthValue => "nth_value",
        }
    }
}

/// A call of a window function.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowCall {
    /// Which function.
    pub func: WindowFunc,
    /// Arguments (LEAD and LAG: value, offset, default).
    pub args: Vec<Expr>,
    /// FROM LAST of NTH_VALUE (which 8.0 then refuses).
    pub from_last: bool,
    /// IGNORE NULLS (which 8.0 then refuses).
    pub ignore_nulls: bool,
    /// The window.
    pub over: Over,
}

/// The window of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Over {
    /// OVER name.
    Name(String),
    /// OVER (…).
    Spec(WindowSpec),
}

/// A window specification.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WindowSpec {
    /// The named window it extends.
    pub base: Option<String>,
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// The frame.
    pub frame: Option<WindowFrame>,
}

/// ROWS or RANGE between two bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowFrame {
    /// What the bounds count.
    pub unit: FrameUnit,
    /// First bound.
    pub start: FrameBound,
    /// Second bound, CURRENT ROW where only one is written.
    pub end: FrameBound,
    /// Whether EXCLUDE follows (which 8.0 then refuses).
    pub excludes: bool,
}

/// What a frame's bounds count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameUnit {
    /// ROWS.
    Rows,
    /// RANGE.
    Range,
    /// GROUPS (which 8.0 then refuses).
    Groups,
}

/// One bound of a frame.
#[derive(Debug, Clone, PartialEq)]
pub enum FrameBound {
    /// UNBOUNDED PRECEDING.
    UnboundedPreceding,
    /// n PRECEDING.
    Preceding(FrameOffset),
    /// CURRENT ROW.
    CurrentRow,
    /// n FOLLOWING.
    Following(FrameOffset),
    /// UNBOUNDED FOLLOWING.
    UnboundedFollowing,
}

/// The distance in a frame bound.
#[derive(Debug, Clone, PartialEq)]
pub enum FrameOffset {
    /// A number.
    Expr(Box<Expr>),
    /// INTERVAL expr unit.
    Interval(Box<Expr>, IntervalUnit),
}

/// One item of ORDER BY (and of GROUP BY's order where that is allowed).
#[derive(Debug, Clone, PartialEq)]
pub struct OrderItem {
    /// What to order by; an integer literal is a position.
    pub expr: Expr,
    /// DESC.
    pub desc: bool,
}

/// An expression. Parentheses leave no trace.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A literal.
    Literal(Literal),
    /// A column name (or, in a routine, a local variable).
    Column(ColumnName),
    /// `?`, numbered from 0 in the order of the text.
    Param(u32),
    /// `@name`, without the `@`.
    UserVar(String),
    /// `@name := value`.
    AssignVar {
        /// Without the `@`.
        name: String,
        /// The new value.
        value: Box<Expr>,
    },
    /// `@@name`.
    SysVar(Box<SysVar>),
    /// A unary operator.
    Unary {
        /// Which.
        op: UnaryOp,
        /// Its operand.
        expr: Box<Expr>,
    },
    /// A binary operator other than AND and OR.
    Binary {
        /// Which.
        op: BinaryOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `a AND b AND …`, at least two operands.
    And(Vec<Expr>),
    /// `a OR b OR …`, at least two operands.
    Or(Vec<Expr>),
    /// IS [NOT] NULL.
    IsNull {
        /// The operand.
        expr: Box<Expr>,
        /// IS NOT NULL.
        negated: bool,
    },
    /// IS [NOT] TRUE | FALSE | UNKNOWN.
    IsTruth {
        /// The operand.
        expr: Box<Expr>,
        /// What is tested for.
        truth: Truth,
        /// IS NOT.
        negated: bool,
    },
    /// `x [NOT] IN (a, b, …)`.
    InList {
        /// Left operand.
        expr: Box<Expr>,
        /// The list.
        list: Vec<Expr>,
        /// NOT IN.
        negated: bool,
    },
    /// `x [NOT] IN (SELECT …)`.
    InSubquery {
        /// Left operand.
        expr: Box<Expr>,
        /// The subquery.
        query: Box<Query>,
        /// NOT IN.
        negated: bool,
    },
    /// `x [NOT] BETWEEN a AND b`.
    Between {
        /// Left operand.
        expr: Box<Expr>,
        /// Lower bound.
        low: Box<Expr>,
        /// Upper bound.
        high: Box<Expr>,
        /// NOT BETWEEN.
        negated: bool,
    },
    /// `x [NOT] LIKE p [ESCAPE e]`.
    Like {
        /// Left operand.
        expr: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// The escape character.
        escape: Option<Box<Expr>>,
        /// NOT LIKE.
        negated: bool,
    },
    /// `x [NOT] REGEXP p`, RLIKE.
    Regexp {
        /// Left operand.
        expr: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// NOT REGEXP.
        negated: bool,
    },
    /// `a SOUNDS LIKE b`.
    SoundsLike {
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `x MEMBER OF (array)`.
    MemberOf {
        /// The value.
        expr: Box<Expr>,
        /// The JSON array.
        array: Box<Expr>,
    },
    /// CASE.
    Case {
        /// The operand of the simple form.
        operand: Option<Box<Expr>>,
        /// WHEN … THEN …
        whens: Vec<(Expr, Expr)>,
        /// ELSE.
        else_: Option<Box<Expr>>,
    },
    /// CAST(x AS t), CONVERT(x, t).
    Cast {
        /// The operand.
        expr: Box<Expr>,
        /// The target.
        ty: CastType,
        /// CAST(… AS t ARRAY), for multi-valued indexes.
        array: bool,
    },
    /// CAST(x AT TIME ZONE 'tz' AS DATETIME[(fsp)]).
    CastAtTimeZone {
        /// The operand.
        expr: Box<Expr>,
        /// The zone.
        zone: String,
        /// Fractional digits.
        fsp: Option<u64>,
    },
    /// CONVERT(x USING charset).
    ConvertUsing {
        /// The operand.
        expr: Box<Expr>,
        /// The character set.
        charset: String,
    },
    /// A function.
    Function(FunctionCall),
    /// An aggregate function.
    Aggregate(Box<AggregateCall>),
    /// A window function.
    Window(Box<WindowCall>),
    /// TRIM.
    Trim {
        /// Which ends.
        side: TrimSide,
        /// What to cut; a space by default.
        what: Option<Box<Expr>>,
        /// From what.
        expr: Box<Expr>,
    },
    /// EXTRACT(unit FROM x).
    Extract {
        /// The unit.
        unit: IntervalUnit,
        /// The time value.
        expr: Box<Expr>,
    },
    /// `d + INTERVAL n unit`, DATE_ADD, DATE_SUB, ADDDATE, SUBDATE, TIMESTAMPADD.
    DateArith {
        /// The time value.
        expr: Box<Expr>,
        /// The amount.
        interval: Box<Expr>,
        /// Its unit.
        unit: IntervalUnit,
        /// Subtract instead of add.
        subtract: bool,
    },
    /// TIMESTAMPDIFF(unit, from, to).
    TimestampDiff {
        /// The unit of the result.
        unit: IntervalUnit,
        /// Earlier value.
        from: Box<Expr>,
        /// Later value.
        to: Box<Expr>,
    },
    /// CHAR(n, … [USING charset]).
    Char {
        /// Code values.
        args: Vec<Expr>,
        /// Character set of the result, binary by default.
        charset: Option<String>,
    },
    /// WEIGHT_STRING(x [AS CHAR(n) | AS BINARY(n)]).
    WeightString {
        /// The string.
        expr: Box<Expr>,
        /// CHAR(n) or BINARY(n).
        cast: Option<CastType>,
    },
    /// VALUES(col) in ON DUPLICATE KEY UPDATE.
    InsertValue(ColumnName),
    /// DEFAULT(col).
    DefaultOf(ColumnName),
    /// The word DEFAULT as a value of INSERT or UPDATE.
    Default,
    /// MATCH (cols) AGAINST (x mode).
    Match {
        /// The columns.
        columns: Vec<ColumnName>,
        /// The search string.
        against: Box<Expr>,
        /// The mode.
        mode: MatchMode,
    },
    /// `col->'$.path'` and `col->>'$.path'`.
    JsonExtract {
        /// The column.
        column: ColumnName,
        /// The path.
        path: String,
        /// `->>`.
        unquote: bool,
    },
    /// JSON_VALUE(doc, path [RETURNING t] [on empty] [on error]).
    JsonValue(Box<JsonValue>),
    /// ROW(a, b, …) or (a, b, …): at least two.
    Row(Vec<Expr>),
    /// A subquery as a value or row.
    Subquery(Box<Query>),
    /// EXISTS (SELECT …).
    Exists(Box<Query>),
    /// `x op ANY|ALL (SELECT …)`.
    Quantified {
        /// Left operand.
        left: Box<Expr>,
        /// A comparison.
        op: BinaryOp,
        /// ANY or ALL.
        quantifier: Quantifier,
        /// The subquery.
        query: Box<Query>,
    },
    /// `x COLLATE name`.
    Collate {
        /// The operand.
        expr: Box<Expr>,
        /// The collation as written.
        collation: String,
    },
}

impl Expr {
    /// An unqualified column.
    pub fn column(name: impl Into<String>) -> Expr {
        Expr::Column(ColumnName::bare(name))
    }

    /// An integer literal.
    pub fn int(value: u64) -> Expr {
        Expr::Literal(Literal::Int(value))
    }

    /// A string literal without introducer.
    pub fn string(value: impl Into<String>) -> Expr {
        Expr::Literal(Literal::String { charset: None, value: value.into() })
    }

    /// NULL.
    pub fn null() -> Expr {
        Expr::Literal(Literal::Null)
    }
}

/// JSON_VALUE with its clauses.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonValue {
    /// The document.
    pub doc: Expr,
    /// The path.
    pub path: Expr,
    /// RETURNING.
    pub returning: Option<CastType>,
    /// ON EMPTY.
    pub on_empty: Option<JsonOnResponse>,
    /// ON ERROR.
    pub on_error: Option<JsonOnResponse>,
}

/// What JSON_VALUE and JSON_TABLE do where there is nothing or an error.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonOnResponse {
    /// NULL.
    Null,
    /// ERROR.
    Error,
    /// DEFAULT literal.
    Default(Literal),
}
