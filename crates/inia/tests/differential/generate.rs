//! Writes the scripts of `tests/sql/generated`: expressions over one table that has a column of
//! every type, and changes of definitions (`alters`), drawn from a seeded generator, so that the
//! same statements come out every time.
//!
//! Worked example: the shape `{n} + {n}` with the numeric operands `c_int` and `'7x'` gives
//! `SELECT id, c_int + '7x' FROM t ORDER BY id`. Shapes are grouped by what they are about, one
//! script a group.

mod alters;

use std::fmt::Write;
use std::path::Path;

const TABLE: &str = include_str!("generate_table.sql");

/// Operands by the letter that stands for them in a shape.
const OPERANDS: &[(char, &[&str])] = &[
    ('n', NUMBERS),
    ('s', STRINGS),
    ('d', TIMES),
    ('i', &["0", "1", "2", "3", "-1", "5", "100", "NULL", "c_tiny", "'2'"]),
    ('u', &["DAY", "HOUR", "MONTH", "YEAR", "MINUTE", "SECOND", "WEEK", "QUARTER", "MICROSECOND"]),
    ('x', EXTREMES),
    (
        'a',
        &[
            "c_int",
            "c_big",
            "c_ubig",
            "c_dec",
            "c_double",
            "c_char",
            "c_varchar",
            "c_date",
            "c_time",
            "c_datetime",
            "c_enum",
            "c_set",
            "c_bin",
            "c_year",
            "c_bit + 0",
            "NULL",
        ],
    ),
    ('c', &["=", "<>", "<", "<=", ">", ">=", "<=>"]),
    ('o', &["+", "-", "*", "/", "DIV", "%", "&", "|", "^", "<<", ">>"]),
    (
        't',
        &[
            "SIGNED",
            "UNSIGNED",
            "CHAR",
            "CHAR(3)",
            "DECIMAL(10,2)",
            "DOUBLE",
            "DATE",
            "TIME",
            "DATETIME",
            "DATETIME(3)",
            "BINARY",
            "BINARY(4)",
            "YEAR",
            "FLOAT",
            "TIME(2)",
        ],
    ),
    (
        'g',
        &[
            "COUNT",
            "SUM",
            "AVG",
            "MIN",
            "MAX",
            "COUNT(DISTINCT",
            "SUM(DISTINCT",
            "BIT_OR",
            "BIT_AND",
            "BIT_XOR",
            "STD",
            "VARIANCE",
            "VAR_SAMP",
            "STDDEV_SAMP",
        ],
    ),
];

const NUMBERS: &[&str] = &[
    "c_tiny",
    "c_utiny",
    "c_small",
    "c_int",
    "c_uint",
    "c_big",
    "c_ubig",
    "c_dec",
    "c_udec",
    "c_float",
    "c_double",
    "c_year",
    "c_bit",
    "0",
    "1",
    "-1",
    "2",
    "2.5",
    "-0.5",
    "1e2",
    "'7x'",
    "'12'",
    "NULL",
    "TRUE",
    "100",
    "c_varchar",
];

const STRINGS: &[&str] = &[
    "c_char",
    "c_varchar",
    "c_text",
    "c_enum",
    "c_set",
    "c_bin",
    "c_varbin",
    "'abc'",
    "''",
    "'A'",
    "' b '",
    "NULL",
    "'ünï'",
    "'%b_'",
    "c_int",
    "c_dec",
    "c_date",
    "x'4142'",
    "'2020-02-30'",
];

const TIMES: &[&str] = &[
    "c_date",
    "c_time",
    "c_datetime",
    "c_datetime6",
    "c_timestamp",
    "c_time3",
    "'2024-02-29'",
    "'2020-01-31 23:59:59.5'",
    "'11:22:33'",
    "20200102",
    "NULL",
    "'0000-00-00'",
    "'bad'",
    "DATE'2019-12-31'",
    "TIMESTAMP'2000-01-01 00:00:00'",
    "TIME'-10:00:00'",
    "c_int",
];

/// The ends of types, and what is no value of any.
const EXTREMES: &[&str] = &[
    "-128",
    "4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "0",
    "-1",
    "3",
    "99999999999999999999999999999999999999999999999999999999999999999",
    "0.000000000000000000000000000001",
    "-99999999999999999999.99999",
    "1e300",
    "1e-300",
    "'838:59:59'",
    "'-838:59:59'",
    "'9999-12-31 23:59:59.999999'",
    "TIME'838:59:59'",
    "TIMESTAMP'9999-12-31 23:59:59'",
    "NULL",
    "c_bit",
    "c_enum",
    "c_set",
    "c_year",
    "c_time",
    "c_datetime6",
    "c_ubig",
    "c_big",
    "c_double",
];

const GROUPS: &[(&str, u64, usize, &[&str])] = &[
    (
        "arithmetic",
        1,
        110,
        &[
            "{n} {o} {n}",
            "{n} {o} {n}",
            "-{n}",
            "~{n}",
            "{n} {o} {n} {o} {n}",
            "ABS({n})",
            "MOD({n}, {n})",
            "SIGN({n})",
            "ROUND({n}, {i})",
            "ROUND({n})",
            "TRUNCATE({n}, {i})",
            "CEIL({n})",
            "FLOOR({n})",
            "{s} {o} {n}",
            "{d} {o} {i}",
        ],
    ),
    (
        "comparison",
        2,
        120,
        &[
            "{n} {c} {n}",
            "{s} {c} {s}",
            "{d} {c} {d}",
            "{a} {c} {a}",
            "{a} IN ({a}, {a}, {a})",
            "{a} NOT IN ({n}, {n})",
            "{n} BETWEEN {n} AND {n}",
            "{s} BETWEEN {s} AND {s}",
            "{d} NOT BETWEEN {d} AND {d}",
            "{s} LIKE {s}",
            "{s} NOT LIKE {s}",
            "{n} IS NULL",
            "{n} IS TRUE",
            "{s} IS NOT FALSE",
            "NOT {n}",
            "{n} AND {n}",
            "{n} OR {s}",
            "{n} XOR {n}",
            "({n}, {s}) {c} ({n}, {s})",
            "INTERVAL({n}, {n}, {n}, {n})",
            "STRCMP({s}, {s})",
        ],
    ),
    (
        "choice",
        3,
        110,
        &[
            "IF({n}, {a}, {a})",
            "IFNULL({a}, {a})",
            "NULLIF({a}, {a})",
            "COALESCE({a}, {a}, {a})",
            "CASE WHEN {n} THEN {a} ELSE {a} END",
            "CASE {a} WHEN {a} THEN {n} END",
            "GREATEST({n}, {n})",
            "LEAST({n}, {n}, {n})",
            "GREATEST({s}, {s})",
            "LEAST({d}, {d})",
            "ELT({i}, {a}, {a})",
            "FIELD({a}, {a}, {a})",
            "CASE WHEN {n} THEN {n} WHEN {n} THEN {n} END",
        ],
    ),
    (
        "text",
        4,
        150,
        &[
            "CONCAT({s}, {s})",
            "CONCAT_WS({s}, {s}, {s})",
            "LENGTH({s})",
            "CHAR_LENGTH({s})",
            "UPPER({s})",
            "LOWER({s})",
            "LEFT({s}, {i})",
            "RIGHT({s}, {i})",
            "SUBSTRING({s}, {i})",
            "SUBSTRING({s}, {i}, {i})",
            "TRIM({s})",
            "LTRIM({s})",
            "RTRIM({s})",
            "TRIM({s} FROM {s})",
            "REPLACE({s}, {s}, {s})",
            "REVERSE({s})",
            "REPEAT({s}, {i})",
            "LPAD({s}, {i}, {s})",
            "RPAD({s}, {i}, {s})",
            "INSTR({s}, {s})",
            "LOCATE({s}, {s}, {i})",
            "INSERT({s}, {i}, {i}, {s})",
            "ASCII({s})",
            "ORD({s})",
            "HEX({s})",
            "HEX({n})",
            "SUBSTRING_INDEX({s}, {s}, {i})",
            "FIND_IN_SET({s}, {s})",
            "QUOTE({s})",
            "SPACE({i})",
            "BIN({n})",
            "OCT({n})",
            "FORMAT({n}, {i})",
            "CONV({n}, 10, 16)",
            "MD5({s})",
            "CRC32({s})",
            "TO_BASE64({s})",
            "BIT_LENGTH({s})",
            "CHAR({i}, {n})",
            "MAKE_SET({n}, {s}, {s})",
            "SOUNDEX({s})",
        ],
    ),
    (
        "time",
        5,
        150,
        &[
            "YEAR({d})",
            "MONTH({d})",
            "DAY({d})",
            "HOUR({d})",
            "MINUTE({d})",
            "SECOND({d})",
            "MICROSECOND({d})",
            "DAYOFWEEK({d})",
            "WEEKDAY({d})",
            "DAYOFYEAR({d})",
            "WEEK({d})",
            "WEEK({d}, {i})",
            "YEARWEEK({d})",
            "QUARTER({d})",
            "LAST_DAY({d})",
            "DATE({d})",
            "TIME({d})",
            "DATE_ADD({d}, INTERVAL {i} {u})",
            "DATE_SUB({d}, INTERVAL {n} {u})",
            "{d} + INTERVAL {i} {u}",
            "DATEDIFF({d}, {d})",
            "TIMEDIFF({d}, {d})",
            "TIMESTAMPDIFF({u}, {d}, {d})",
            "TIMESTAMPADD({u}, {i}, {d})",
            "ADDTIME({d}, {d})",
            "SUBTIME({d}, {d})",
            "TO_DAYS({d})",
            "FROM_DAYS({n})",
            "TIME_TO_SEC({d})",
            "SEC_TO_TIME({n})",
            "DATE_FORMAT({d}, '%Y-%m-%d %H:%i:%s.%f')",
            "DATE_FORMAT({d}, '%a %b %c %D %e %j %k %l %p %r %T %u %v %W %w %x %y %%')",
            "MAKEDATE({i}, {n})",
            "MAKETIME({i}, {i}, {n})",
            "TIMESTAMP({d})",
            "TIMESTAMP({d}, {d})",
            "DAYNAME({d})",
            "MONTHNAME({d})",
            "TO_SECONDS({d})",
            "EXTRACT({u} FROM {d})",
            "PERIOD_ADD({n}, {i})",
            "TIME_FORMAT({d}, '%H %i %s')",
            "{d} {c} {s}",
            "UNIX_TIMESTAMP({d})",
        ],
    ),
    (
        "casts",
        6,
        90,
        &[
            "CAST({n} AS {t})",
            "CAST({s} AS {t})",
            "CAST({d} AS {t})",
            "CAST({a} AS {t})",
            "CONVERT({a}, {t})",
            "CAST({n} {o} {n} AS {t})",
        ],
    ),
    (
        "extremes",
        9,
        150,
        &[
            "{x} {o} {x}",
            "{x} {c} {x}",
            "CAST({x} AS {t})",
            "ADDTIME({d}, {x})",
            "SUBTIME({d}, {x})",
            "TIMEDIFF({d}, {d})",
            "SEC_TO_TIME({x})",
            "MAKETIME({x}, {i}, {i})",
            "MAKEDATE({i}, {x})",
            "FROM_DAYS({x})",
            "FROM_UNIXTIME({x})",
            "DATE_ADD({d}, INTERVAL {x} {u})",
            "TIMESTAMPADD({u}, {x}, {d})",
            "EXTRACT({u} FROM {d})",
            "PERIOD_ADD(202001, {x})",
            "ROUND({n}, {x})",
            "TRUNCATE({n}, {x})",
            "CONV({n}, {x}, 10)",
            "FORMAT({x}, {i})",
            "SUBSTRING({s}, {x}, {i})",
            "INSERT({s}, {x}, {i}, {s})",
            "LOCATE({s}, {s}, {x})",
            "LEFT({s}, {x})",
            "SUBSTRING_INDEX({s}, {s}, {x})",
            "ELT({x}, {s}, {s})",
            "GREATEST({x}, {x})",
            "JSON_ARRAY({x}, {x})",
            "REGEXP_INSTR('axx', 'x+', {x}, {x})",
            "INET_NTOA({x})",
            "CHAR({i}, {x})",
        ],
    ),
];

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[(self.next() % from.len() as u64) as usize]
    }

    /// A shape with its letters replaced.
    fn fill(&mut self, shape: &str) -> String {
        let mut text = String::new();
        let mut rest = shape;
        while let Some(at) = rest.find('{') {
            let letter = rest[at + 1..].chars().next().unwrap();
            let operands = OPERANDS.iter().find(|(name, _)| *name == letter).unwrap().1;
            text.push_str(&rest[..at]);
            text.push_str(self.pick(operands));
            rest = &rest[at + 3..];
        }
        text + rest
    }
}

/// Writes all generated scripts into `folder`.
pub(super) fn write(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    for (name, seed, number, shapes) in GROUPS {
        let mut dice = Dice(*seed);
        let mut text = format!("-- Generated: {name}.\n{TABLE}");
        for index in 0..*number {
            let shape = shapes[index % shapes.len()];
            writeln!(text, "SELECT id, {} FROM t ORDER BY id;", dice.fill(shape)).unwrap();
        }
        std::fs::write(folder.join(format!("{name}.sql")), text).unwrap();
    }
    std::fs::write(folder.join("filters.sql"), filters()).unwrap();
    std::fs::write(folder.join("aggregates.sql"), aggregates()).unwrap();
    std::fs::write(folder.join("alters.sql"), alters::script()).unwrap();
}

/// Conditions, which may be answered by other means than values are: ranges, folding, indexes.
fn filters() -> String {
    let mut dice = Dice(7);
    let mut text = format!("-- Generated: conditions.\n{TABLE}");
    text.push_str(
        "ALTER TABLE t ADD KEY (c_int), ADD KEY (c_varchar, c_dec), ADD KEY (c_datetime);\n",
    );
    let shapes = [
        "{a} {c} {a}",
        "c_int {c} {n} AND c_varchar {c} {s}",
        "c_datetime {c} {d} OR id = {i}",
        "c_varchar LIKE {s}",
        "NOT ({n} {c} {n})",
        "c_int IN ({n}, {n}) AND c_dec {c} {n}",
        "c_datetime BETWEEN {d} AND {d}",
        "c_date {c} {d}",
        "id > {i} AND id <= {i} OR {s} IS NULL",
        "c_enum {c} {s}",
        "c_int {c} {s}",
        "c_time {c} {d}",
    ];
    for index in 0..80 {
        let shape = shapes[index % shapes.len()];
        writeln!(text, "SELECT id FROM t WHERE {} ORDER BY id;", dice.fill(shape)).unwrap();
    }
    text
}

fn aggregates() -> String {
    let mut dice = Dice(8);
    let mut text = format!("-- Generated: aggregates.\n{TABLE}");
    for index in 0..80 {
        let function = dice.fill("{g}");
        let close = if function.contains('(') { "))" } else { ")" };
        let call =
            format!("{function}({}{close}", dice.fill(if index % 3 == 0 { "{n}" } else { "{a}" }));
        let tail = [
            "",
            " GROUP BY c_tiny ORDER BY c_tiny",
            " WHERE id > 100",
            " GROUP BY c_enum ORDER BY c_enum",
        ];
        let key = ["", "c_tiny, ", "", "c_enum, "][index % 4];
        writeln!(text, "SELECT {key}{call} FROM t{};", tail[index % 4]).unwrap();
    }
    text
}
