//! The expressions that the search makes, as shapes with holes.
//!
//! Worked example: `IF({p}, {i}, {i})` with a condition and two integers becomes
//! `IF(q1.s0 > 'a', q1.i0, (q2.i0 + 3))`. Holes:
//!
//! | hole | stands for |
//! |---|---|
//! | `{i} {n} {s} {d} {t} {j}` | an integer, number, text, date, time of day, document |
//! | `{x} {y}` | values of one kind that is drawn for the shape, `y` mostly of the same |
//! | `{X}` | a column of that kind, `{L}` a literal of it |
//! | `{p}` | a condition |
//! | `{c}` | a comparison |
//! | `{N}` | nothing, or NOT |
//! | `{Q}` | a SELECT of one column of the kind |
//! | `{1}` | one that gives at most one row |
//! | `{R}` | a SELECT of two columns: the kind, and an integer |
//! | `{E}` | any SELECT |

use super::values::ValueClass;

/// Expressions of a kind.
pub(super) fn shapes(kind: ValueClass) -> &'static [&'static str] {
    match kind {
        ValueClass::Int => INTEGERS,
        ValueClass::Number => NUMBERS,
        ValueClass::Text => TEXTS,
        ValueClass::Date => DATES,
        ValueClass::Clock => CLOCKS,
        ValueClass::Doc => DOCUMENTS,
    }
}

const INTEGERS: &[&str] = &[
    "({i} + {i})",
    "({i} - {i})",
    "({i} * {i})",
    "({i} DIV 2)",
    "({i} % 3)",
    "-{i}",
    "ABS({i})",
    "COALESCE({i}, {i})",
    "IFNULL({i}, {i})",
    "NULLIF({i}, {i})",
    "IF({p}, {i}, {i})",
    "CASE {x} WHEN {x} THEN {i} ELSE {i} END",
    "CASE WHEN {p} THEN {i} WHEN {p} THEN {i} END",
    "CHAR_LENGTH({s})",
    "({p})",
    "({p})",
    "GREATEST({i}, {i})",
    "LEAST({i}, {i})",
    "({i} & 3)",
    "({i} | 1)",
    "YEAR({d})",
    "MONTH({d})",
    "DATEDIFF({d}, {d})",
    "FIELD({s}, {s}, 'x')",
    "SIGN({n})",
    "STRCMP({s}, {s})",
    "INSTR({s}, 'a')",
    "CAST({n} AS SIGNED)",
    "HOUR({t})",
    "JSON_LENGTH({j})",
    "ISNULL({x})",
    "{1}",
];

const NUMBERS: &[&str] = &[
    "({n} + {n})",
    "({n} - {n})",
    "({n} * {i})",
    "({n} / 4)",
    "ROUND({n}, 1)",
    "ABS({n})",
    "COALESCE({n}, {n})",
    "IF({p}, {n}, {i})",
    "NULLIF({n}, {n})",
    "GREATEST({n}, {i})",
    "CASE {x} WHEN {x} THEN {n} ELSE {i} END",
    "CAST({i} AS DECIMAL(10,1))",
    "{1}",
];

const TEXTS: &[&str] = &[
    "CONCAT({s}, {s})",
    "CONCAT_WS('-', {s}, {i})",
    "UPPER({s})",
    "LOWER({s})",
    "LEFT({s}, 1)",
    "SUBSTRING({s}, 2)",
    "TRIM({s})",
    "REPLACE({s}, 'a', 'b')",
    "IFNULL({s}, {s})",
    "COALESCE({s}, {s})",
    "NULLIF({s}, {s})",
    "IF({p}, {s}, {s})",
    "CASE WHEN {p} THEN {s} ELSE {s} END",
    "CAST({i} AS CHAR)",
    "CAST({d} AS CHAR)",
    "LEAST({s}, {s})",
    "{1}",
];

const DATES: &[&str] = &[
    "DATE({d})",
    "LAST_DAY({d})",
    "COALESCE({d}, {d})",
    "IF({p}, {d}, {d})",
    "(DATE({d}) + INTERVAL 1 MONTH)",
    "(DATE({d}) - INTERVAL {i} DAY)",
    "CAST({d} AS DATETIME)",
    "{1}",
];

const CLOCKS: &[&str] = &[
    "TIME(CAST({d} AS DATETIME))",
    "COALESCE({t}, {t})",
    "IF({p}, {t}, {t})",
    "ADDTIME({t}, '01:00:00')",
    "{1}",
];

const DOCUMENTS: &[&str] = &[
    "JSON_ARRAY({i}, {s})",
    "JSON_OBJECT('a', {i})",
    "JSON_EXTRACT({j}, '$.a')",
    "COALESCE({j}, {j})",
];

/// Conditions; the first ones are what indexes answer.
///
/// There is none that orders rows or says NOT IN of them: MySQL holds them for false as soon as an
/// outer join has made a part NULL.
pub(super) const CONDITIONS: &[&str] = &[
    "{X} = {L}",
    "{X} = {L}",
    "{X} {c} {L}",
    "{X} {c} {L}",
    "{L} {c} {X}",
    "{X} {c} {X}",
    "{X} IS {N}NULL",
    "{X} IN ({L}, {L}, {L})",
    "{X} {N}IN ({L}, {L})",
    "{X} {N}BETWEEN {L} AND {L}",
    "({X} > {L} AND {X} <= {L})",
    "({X} < {L} OR {X} > {L})",
    "({X} = {L} AND {p})",
    "({X} = {L} OR {p})",
    "({X} {c} {L} OR {X} IS NULL)",
    "{x} {c} {y}",
    "{x} {c} {y}",
    "{x} IS {N}NULL",
    "{x} {N}IN ({y}, {L})",
    "{x} {N}BETWEEN {y} AND {y}",
    "({p} AND {p})",
    "({p} AND {p})",
    "({p} OR {p})",
    "({p} OR {p})",
    "NOT ({p})",
    "({p} XOR {p})",
    "({p}) IS {N}TRUE",
    "({p}) IS {N}FALSE",
    "({x}, {i}) = ({y}, {i})",
    "({i}, {i}) IN ((2, 1), (1, 2))",
    "{s} {N}LIKE 'a%'",
    "{s} LIKE '%b%'",
    "{s} {N}LIKE CONCAT({s}, '%')",
    "{i}",
    "{n}",
];

/// Conditions with subqueries.
pub(super) const NESTED: &[&str] = &[
    "{N}EXISTS ({E})",
    "{N}EXISTS ({E})",
    "{x} {N}IN ({Q})",
    "{X} {N}IN ({Q})",
    "{X} IN ({Q})",
    "{x} {c} ALL ({Q})",
    "{X} {c} ANY ({Q})",
    "({X}, {i}) {N}IN ({R})",
    "({X}, {i}) IN ({R})",
    "{x} {c} {1}",
    "({x} IN ({Q})) IS {N}TRUE",
];

/// Aggregates of a kind; `None` has what fits every kind.
pub(super) fn aggregates(kind: ValueClass) -> &'static [&'static str] {
    match kind {
        ValueClass::Int => &[
            "COUNT(*)",
            "COUNT({x})",
            "COUNT(DISTINCT {x})",
            "COUNT(DISTINCT {x}, {i})",
            "MIN({i})",
            "MAX({i})",
            "MIN({X})",
            "SUM({i})",
            "SUM(DISTINCT {i})",
            "BIT_OR({i})",
            "BIT_XOR({i})",
        ],
        ValueClass::Number => {
            &["SUM({n})", "AVG({n})", "AVG({i})", "MIN({n})", "MAX({n})", "SUM(DISTINCT {n})"]
        }
        ValueClass::Text => &[
            "MIN({s})",
            "MAX({s})",
            "GROUP_CONCAT({i} ORDER BY 1)",
            "GROUP_CONCAT(DISTINCT {i} ORDER BY 1 DESC)",
        ],
        ValueClass::Date => &["MIN({d})", "MAX({d})"],
        ValueClass::Clock => &["MIN({t})", "MAX({t})"],
        ValueClass::Doc => &["JSON_ARRAY(COUNT(*))"],
    }
}

/// Window functions whose results do not depend on the order of peers; `{w}` is the window.
pub(super) const WINDOWS: &[&str] = &[
    "RANK() OVER ({w})",
    "DENSE_RANK() OVER ({w})",
    "COUNT(*) OVER ({w})",
    "SUM({i}) OVER ({w})",
    "MIN({i}) OVER ({w})",
    "MAX({i}) OVER ({w})",
    "COUNT({x}) OVER ({w})",
];

/// Window functions for windows whose order distinguishes all rows.
pub(super) const ROW_WINDOWS: &[&str] = &[
    "ROW_NUMBER() OVER ({w})",
    "LAG({i}) OVER ({w})",
    "LEAD({i}, 2, 0) OVER ({w})",
    "FIRST_VALUE({i}) OVER ({w})",
    "NTILE(3) OVER ({w})",
    "SUM({i}) OVER ({w} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "MAX({i}) OVER ({w} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)",
    "LAST_VALUE({i}) OVER ({w} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "NTH_VALUE({i}, 2) OVER ({w})",
];
