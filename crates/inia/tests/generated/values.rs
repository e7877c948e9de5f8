//! Values of every type, at the limits and beyond, as literals and as columns of one table.

use inia_testkit::Random;

/// A table with a column of every type.
pub(super) const TABLE: &[&str] = &[
    "SET sql_mode = ''",
    "CREATE TABLE v (id INT PRIMARY KEY, ti TINYINT, tu TINYINT UNSIGNED, si SMALLINT, \
     mi MEDIUMINT, it INT, iu INT UNSIGNED, bi BIGINT, bu BIGINT UNSIGNED, iz INT(6) ZEROFILL, \
     de DECIMAL(10,3), dm DECIMAL(65,30), du DECIMAL(20,0) UNSIGNED, fl FLOAT, db DOUBLE, \
     bt BIT(8), bl BIT(64), yr YEAR, da DATE, tm TIME, tf TIME(6), dt DATETIME, df DATETIME(6), \
     ts TIMESTAMP NULL, ch CHAR(6), vc VARCHAR(20), vl VARCHAR(20) CHARACTER SET latin1, \
     vb VARCHAR(20) COLLATE utf8mb4_bin, tx TEXT, bn BINARY(3), vn VARBINARY(10), bo BLOB, \
     en ENUM('red','green','','7') , st SET('a','b','c'), js JSON, \
     nn INT NOT NULL DEFAULT 1, sn VARCHAR(10) NOT NULL DEFAULT 'q', dn DATE NOT NULL)",
    "INSERT INTO v VALUES (1, 1, 200, -300, 42, 42, 4000000000, 9007199254740993, \
     18446744073709551615, 12, 123.456, 0.000000000000000000000000000001, \
     18446744073709551616, 1.5, 0.1, b'101', b'1', 2020, '2020-02-29', '10:11:12', \
     '01:02:03.456789', '2020-02-29 10:11:12', '1999-12-31 23:59:59.999999', \
     '2021-06-07 08:09:10', 'abc', 'Hello World', 'été', 'Hello', 'some text', 'xyz', 'bin', \
     x'00ff10', 'red', 'a,b', '{\"a\": 1, \"b\": [1, \"x\", null]}', 5, 'abc', '2020-02-29')",
    "INSERT INTO v VALUES (2, -128, 0, -32768, -8388608, -2147483648, 0, -9223372036854775808, \
     0, 0, -9999999.999, -99999999999999999999999999999999999.999999999999999999999999999999, 0, \
     -3.4e38, -1.7976931348623157e308, b'0', b'0', 1901, '0000-00-00', '-838:59:59', \
     '-00:00:00.000001', '1000-01-01 00:00:00', '0000-00-00 00:00:00', '1970-01-01 00:00:01', \
     '', '', '', '', '', '', '', '', 'green', '', '[]', 0, '', '0000-00-00')",
    "INSERT INTO v (id, dn) VALUES (3, '1000-01-01')",
    "INSERT INTO v VALUES (4, 127, 255, 32767, 8388607, 2147483647, 4294967295, \
     9223372036854775807, 18446744073709551615, 999999, 9999999.999, \
     99999999999999999999999999999999999.999999999999999999999999999999, 99999999999999999999, \
     3.4e38, 1.7976931348623157e308, x'ff', x'ffffffffffffffff', 2155, '9999-12-31', \
     '838:59:59', '838:59:59', '9999-12-31 23:59:59', '9999-12-31 23:59:59.999999', \
     '2038-01-19 03:14:07', '7', '7up', 'ÿ', '7', '7.5e1', '7', '7', '7', '7', 'a,b,c', '7', 7, \
     '7', '9999-12-31')",
    "INSERT INTO v VALUES (5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 2007, '2020-03-31', \
     '00:00:07', '00:00:07.7', '2007-07-07 07:07:07', '2007-07-07 07:07:07.7', \
     '2007-07-07 07:07:07', '😀', 'ünï 😀', 'A', 'ünï', '2007-07-07', x'ff', x'f09f98', \
     '2007-07-07', '', 'c', '\"2007-07-07\"', -7, '7', '2007-07-07')",
    "SET sql_mode = DEFAULT",
];

/// The columns, each with what kind of value it has.
pub(super) const COLUMNS: &[(&str, char)] = &[
    ("ti", 'n'),
    ("tu", 'n'),
    ("si", 'n'),
    ("mi", 'n'),
    ("it", 'n'),
    ("iu", 'n'),
    ("bi", 'n'),
    ("bu", 'n'),
    ("iz", 'n'),
    ("de", 'n'),
    ("dm", 'n'),
    ("du", 'n'),
    ("fl", 'n'),
    ("db", 'n'),
    ("bt", 'n'),
    ("bl", 'n'),
    ("yr", 'n'),
    ("nn", 'n'),
    ("da", 'd'),
    ("dt", 'd'),
    ("df", 'd'),
    ("ts", 'd'),
    ("dn", 'd'),
    ("tm", 't'),
    ("tf", 't'),
    ("ch", 's'),
    ("vc", 's'),
    ("vl", 's'),
    ("vb", 's'),
    ("tx", 's'),
    ("bn", 's'),
    ("vn", 's'),
    ("bo", 's'),
    ("en", 's'),
    ("st", 's'),
    ("sn", 's'),
    ("js", 'j'),
];

/// Literals of a kind.
pub(super) fn literals(kind: char) -> &'static [&'static str] {
    match kind {
        'n' => NUMBERS,
        'i' => &["0", "1", "2", "3", "-1", "5", "10", "NULL", "-2", "100", "2.5", "'1'"],
        's' => STRINGS,
        'd' => DATES,
        't' => TIMES,
        'j' => DOCUMENTS,
        'p' => &["'$'", "'$.a'", "'$[0]'", "'$.b[1]'", "'$.*'", "'$**.a'", "'$[last]'", "'x'"],
        _ => &["NULL"],
    }
}

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "10",
    "255",
    "1.5",
    "-0.5",
    "0.0",
    "1e0",
    "1e308",
    "-1e-300",
    "1e20",
    "NULL",
    "TRUE",
    "2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "123456789.123456789",
    "99999999999999999999999999999999999.999999999999999999999999999999",
    "-0.000000000000000000000000000001",
    "'7x'",
    "'1e3'",
    "''",
    "'xx'",
    "x'41'",
    "b'101'",
    "20200229",
    "CAST(3 AS UNSIGNED)",
    "CAST(7 AS JSON)",
];

const STRINGS: &[&str] = &[
    "'abc'",
    "''",
    "'A'",
    "' b '",
    "NULL",
    "'xx'",
    "'ünï'",
    "'😀'",
    "'%b_'",
    "'a,b,c'",
    "'1'",
    "x'4142'",
    "x'ff00'",
    "'2020-02-30'",
    "_latin1'abc'",
    "_utf8mb3'abc'",
    "_binary'abc'",
    "'abc' COLLATE utf8mb4_bin",
    "'0'",
    "5",
    "1.50",
    "1e10",
    "'1,2'",
    "CAST('abc' AS JSON)",
];

const DATES: &[&str] = &[
    "'2020-02-29'",
    "'2020-02-29 10:11:12'",
    "'2020-02-29 23:59:59.999999'",
    "DATE'2020-02-29'",
    "TIMESTAMP'2020-02-29 10:11:12'",
    "TIMESTAMP'9999-12-31 23:59:59.999999'",
    "DATE'1000-01-01'",
    "'0000-00-00'",
    "'2020-00-01'",
    "'2020-02-30'",
    "''",
    "'xx'",
    "NULL",
    "0",
    "20200229",
    "20200229101112",
    "200229",
    "-1",
    "20200229101112.5",
    "'20-2-9'",
    "'2020-02-29T10:11:12'",
    "1e10",
    "'9999-12-31'",
    "x'41'",
];

const TIMES: &[&str] = &[
    "'10:11:12'",
    "'-838:59:59'",
    "'839:00:00'",
    "'1 2:3:4'",
    "TIME'10:11:12.5'",
    "TIME'-00:00:01'",
    "101112",
    "-101112.5",
    "0",
    "NULL",
    "''",
    "'xx'",
    "'10:61:00'",
    "'2020-02-29 10:11:12'",
    "9999999",
    "1e10",
    "'00:00:00.0000005'",
];

const DOCUMENTS: &[&str] = &[
    "'{\"a\": 1, \"b\": [1, \"x\", null]}'",
    "'[1, 2, {\"a\": 3}]'",
    "'1'",
    "'\"x\"'",
    "'null'",
    "NULL",
    "'xx'",
    "''",
    "CAST('[1, \"a\", {\"a\": 2}]' AS JSON)",
    "CAST('1.5' AS JSON)",
    "CAST('\"2020-02-29\"' AS JSON)",
    "JSON_OBJECT('a', 1)",
    "JSON_ARRAY(1, NULL, 'x', TRUE, 1.5)",
    "CAST(DATE'2020-02-29' AS JSON)",
    "CAST(x'4142' AS JSON)",
    "5",
];

/// A value for a place that wants the kind; now and then one of another kind.
pub(super) fn value(random: &mut Random, kind: char) -> String {
    let any = kind == 'a' || (kind != 'p' && random.chance(1, 6));
    let kind = if any { *random.pick(&['n', 's', 'd', 't', 'j', 'n', 's']) } else { kind };
    if random.chance(1, 2) {
        let fitting: Vec<_> = COLUMNS.iter().filter(|column| column.1 == kind).collect();
        if !fitting.is_empty() {
            return random.pick(&fitting).0.to_owned();
        }
    }
    (*random.pick(literals(kind))).to_owned()
}

/// Fills the holes of a shape: `{n}` a number, `{i}` a small integer, `{s}` a text, `{d}` a date,
/// `{t}` a time of day, `{j}` a document, `{p}` a path, `{a}` any value, `{u}` a unit of time,
/// `{c}` a comparison, `{T}` a type of CAST, `{C}` a column.
pub(super) fn fill(random: &mut Random, shape: &str) -> String {
    let mut text = String::new();
    let mut rest = shape;
    while let Some((before, after)) = rest.split_once('{') {
        let (hole, after) = after.split_once('}').expect("holes are closed");
        text.push_str(before);
        match hole {
            "u" => text += *random.pick(UNITS),
            "c" => text += *random.pick(COMPARISONS),
            "T" => text += *random.pick(TYPES),
            "C" => text.push_str(random.pick(COLUMNS).0),
            _ => text.push_str(&value(random, hole.chars().next().expect("holes are named"))),
        }
        rest = after;
    }
    text + rest
}

const COMPARISONS: &[&str] = &["=", "<>", "<", "<=", ">", ">=", "<=>"];

const UNITS: &[&str] = &[
    "MICROSECOND",
    "SECOND",
    "MINUTE",
    "HOUR",
    "DAY",
    "WEEK",
    "MONTH",
    "QUARTER",
    "YEAR",
    "DAY_HOUR",
    "HOUR_SECOND",
    "YEAR_MONTH",
    "SECOND_MICROSECOND",
];

/// Types for CAST.
const TYPES: &[&str] = &[
    "SIGNED",
    "UNSIGNED",
    "CHAR",
    "CHAR(3)",
    "CHAR CHARACTER SET latin1",
    "DECIMAL",
    "DECIMAL(10,2)",
    "DECIMAL(65,30)",
    "DOUBLE",
    "FLOAT",
    "DATE",
    "TIME",
    "TIME(2)",
    "DATETIME",
    "DATETIME(6)",
    "BINARY",
    "BINARY(4)",
    "YEAR",
    "JSON",
];
