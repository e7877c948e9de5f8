//! Changes of definitions beside everything that a definition may hold.
//!
//! Worked example: a round makes `p` and `t` (which may refer to `p` and to itself), and perhaps
//! `r` (which refers to `t`), puts rows in, and alters `t` several times. After each change the
//! definition and the rows are shown.

use super::{Step, Steps};
use inia_testkit::Random;

/// Types of columns, with literals that may be their defaults.
const TYPES: &[(&str, &[&str])] = &[
    ("INT", &["5", "'7'", "NULL", "-1", "1.5", "'x'", "(1 + 2)"]),
    ("BIGINT UNSIGNED", &["5", "18446744073709551615", "-1", "(UUID_SHORT())"]),
    ("TINYINT", &["1", "127", "128", "TRUE", "b'1'"]),
    ("TINYINT(1)", &["1", "FALSE"]),
    ("SMALLINT(4) UNSIGNED ZEROFILL", &["7", "'12'"]),
    ("DECIMAL(6,2)", &["1", "1.005", "'2.5'", "99999", "1e2"]),
    ("FLOAT", &["1.5", "1e10", "'3'"]),
    ("DOUBLE", &["0.1", "1e300", "-0.0"]),
    ("DOUBLE(8,3)", &["1.23456", "5"]),
    ("VARCHAR(10)", &["'x'", "''", "5", "NULL", "'12345678901'", "(CONCAT('a', 'b'))", "x'41'"]),
    ("VARCHAR(30) CHARACTER SET latin1", &["'é'", "'q'", "_utf8mb4'z'"]),
    ("VARCHAR(20) COLLATE utf8mb4_bin", &["'Q'", "'ü'"]),
    ("CHAR(4)", &["'a '", "'abc'", "1"]),
    ("TEXT", &["'x'", "('x')", "NULL"]),
    ("BLOB", &["('x')", "''", "NULL"]),
    ("BINARY(3)", &["'a'", "x'00ff'", "'abcd'"]),
    ("VARBINARY(8)", &["'a'", "x'ff'", "0x4142"]),
    ("DATE", &["'2020-01-01'", "'2020-02-30'", "20200101", "(CURRENT_DATE)", "'x'", "0"]),
    ("TIME", &["'10:00:00'", "'25:00'", "101010", "'x'"]),
    ("TIME(3)", &["'10:00:00.1239'", "1.5"]),
    ("DATETIME", &["'2020-01-01'", "CURRENT_TIMESTAMP", "NOW()", "'0000-00-00'", "NULL"]),
    ("DATETIME(3)", &["CURRENT_TIMESTAMP(3)", "CURRENT_TIMESTAMP", "'2020-01-01 00:00:00.12345'"]),
    ("TIMESTAMP NULL", &["CURRENT_TIMESTAMP", "NULL", "'2020-01-01 10:00:00'"]),
    ("TIMESTAMP", &["CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP", "'2020-01-01'", "NULL"]),
    ("YEAR", &["2020", "'99'", "70", "1"]),
    ("BIT(4)", &["b'101'", "5", "16", "'1'"]),
    ("ENUM('a','b','c')", &["'a'", "'d'", "1", "NULL", "''"]),
    ("SET('x','y')", &["'x'", "'x,y'", "'z'", "3", "''"]),
    ("JSON", &["('[]')", "(JSON_ARRAY(1))", "NULL", "'[]'"]),
];

/// Expressions over columns, for generated columns, defaults, conditions and parts of keys.
const EXPRESSIONS: &[&str] = &[
    "a + 1",
    "a * 2",
    "CONCAT(b, 'x')",
    "a",
    "b",
    "COALESCE(c, a)",
    "UPPER(b)",
    "LENGTH(c)",
    "IF(a > 1, b, c)",
    "a IS NULL",
    "JSON_OBJECT('k', a)",
    "CAST(a AS CHAR(10))",
    "CAST(b AS DECIMAL(10,2))",
    "YEAR(c)",
    "id + 1",
    "NOW()",
    "RAND()",
    "1",
    "'lit'",
    "a + b",
    "a / 3",
    "c -> '$.a'",
    "LEFT(b, 2)",
    "(SELECT 1)",
    "@x",
    "DATE(c)",
    "MD5(b)",
    "nosuch",
];

const CONDITIONS: &[&str] = &[
    "a > 0",
    "a < 100 OR a IS NULL",
    "b <> 'zz'",
    "a + id > 1",
    "LENGTH(b) < 20",
    "c IS NOT NULL",
    "a",
    "b LIKE '%x%' OR TRUE",
    "id IN (1, 2, 3, 4, 5)",
    "nosuch > 1",
    "NOW() > '2020-01-01'",
    "a BETWEEN -1000 AND 1000",
    "JSON_VALID(b) OR 1",
    "g > 1",
];

const NAMES: &[&str] = &["a", "b", "c", "id", "n", "g", "A", "nosuch"];

const ACTIONS: &[&str] = &[
    "ADD COLUMN n [column]",
    "ADD COLUMN n [column] FIRST",
    "ADD COLUMN n [column] AFTER [name]",
    "ADD COLUMN (n [column], m [column])",
    "ADD COLUMN g [type] AS ([expression]) VIRTUAL",
    "ADD COLUMN g [type] AS ([expression]) STORED",
    "ADD COLUMN n [type] DEFAULT ([expression])",
    "ADD COLUMN n [column] UNIQUE",
    "DROP COLUMN [name]",
    "DROP COLUMN [name], ADD COLUMN n [column]",
    "RENAME COLUMN [name] TO n",
    "RENAME COLUMN n TO [name]",
    "RENAME COLUMN a TO b, RENAME COLUMN b TO a",
    "CHANGE [name] [name] [column]",
    "CHANGE [name] n [column]",
    "MODIFY [name] [column]",
    "MODIFY [name] [column]",
    "MODIFY [name] [column]",
    "MODIFY [name] [column] FIRST",
    "MODIFY [name] [column] AFTER [name]",
    "MODIFY g [type] AS ([expression]) STORED",
    "MODIFY g [type] AS ([expression]) VIRTUAL",
    "MODIFY id INT AUTO_INCREMENT",
    "MODIFY id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'key'",
    "ALTER [name] SET DEFAULT [default]",
    "ALTER [name] SET DEFAULT ([expression])",
    "ALTER [name] DROP DEFAULT",
    "ALTER [name] SET INVISIBLE",
    "ALTER [name] SET VISIBLE",
    "ADD CONSTRAINT k2 CHECK ([condition])",
    "ADD CHECK ([condition]) NOT ENFORCED",
    "DROP CHECK k",
    "DROP CONSTRAINT k",
    "DROP CONSTRAINT t_chk_1",
    "ALTER CHECK k NOT ENFORCED",
    "ALTER CONSTRAINT k ENFORCED",
    "ADD KEY ([name])",
    "ADD KEY n1 ([name], [name])",
    "ADD KEY n1 ([name](3))",
    "ADD KEY n1 ([name] DESC) COMMENT 'k'",
    "ADD KEY n1 (([expression]))",
    "ADD UNIQUE KEY n2 ([name])",
    "ADD UNIQUE ([name](2), id)",
    "ADD PRIMARY KEY ([name])",
    "ADD FULLTEXT KEY ft ([name])",
    "DROP KEY ka",
    "DROP KEY a",
    "DROP KEY kf",
    "DROP INDEX f",
    "RENAME KEY ka TO kc",
    "ALTER INDEX ka INVISIBLE",
    "DROP PRIMARY KEY",
    "DROP PRIMARY KEY, ADD PRIMARY KEY (id, [name])",
    "ADD CONSTRAINT f2 FOREIGN KEY ([name]) REFERENCES p (id)",
    "ADD FOREIGN KEY ([name]) REFERENCES p (u) ON UPDATE CASCADE ON DELETE SET NULL",
    "ADD CONSTRAINT f2 FOREIGN KEY ([name]) REFERENCES t (id) ON DELETE CASCADE",
    "ADD CONSTRAINT f2 FOREIGN KEY ([name]) REFERENCES p (id) ON DELETE SET DEFAULT",
    "DROP FOREIGN KEY f",
    "DROP FOREIGN KEY t_ibfk_1",
    "DROP FOREIGN KEY f, DROP COLUMN a",
    "CONVERT TO CHARACTER SET latin1",
    "CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "DEFAULT CHARACTER SET latin1",
    "ORDER BY [name]",
    "AUTO_INCREMENT = 100",
    "COMMENT = 'altered'",
    "ROW_FORMAT = DYNAMIC",
    "ENGINE = MyISAM",
    "ENGINE = InnoDB",
    "FORCE",
    "RENAME TO t",
    "DISABLE KEYS",
    "[action], ALGORITHM = INPLACE",
    "[action], ALGORITHM = INSTANT",
    "[action], LOCK = NONE",
];

/// What a table may have beside columns.
const PARTS: &[&str] = &[
    "g [type] AS ([expression]) VIRTUAL",
    "g [type] AS ([expression]) STORED",
    "g INT AS (a * 2) STORED, KEY kg (g)",
    "CONSTRAINT k CHECK ([condition])",
    "CHECK ([condition])",
    "KEY kf (([expression]))",
    "KEY ka ([name])",
    "KEY ka ([name], [name])",
    "KEY (b(3), a)",
    "UNIQUE KEY ub (b, id)",
    "UNIQUE KEY (a)",
    "CONSTRAINT f FOREIGN KEY (a) REFERENCES p (id)",
    "CONSTRAINT f FOREIGN KEY (a) REFERENCES p (u) ON UPDATE CASCADE ON DELETE SET NULL",
    "FOREIGN KEY (b) REFERENCES p (v) ON DELETE CASCADE",
    "CONSTRAINT f FOREIGN KEY (a) REFERENCES t (id)",
];

const CHANGES: &[&str] = &[
    "INSERT INTO t (id) VALUES (50)",
    "INSERT INTO t (id, a) VALUES (51, 2)",
    "INSERT INTO t (id, a, b) VALUES (52, 1, 'q')",
    "INSERT INTO t () VALUES ()",
    "INSERT INTO t (a) VALUES (DEFAULT)",
    "UPDATE t SET a = 3 WHERE id = 1",
    "UPDATE t SET b = DEFAULT WHERE id = 2",
    "UPDATE t SET id = id + 100 ORDER BY id DESC",
    "UPDATE p SET id = id + 10 WHERE id = 3",
    "DELETE FROM p WHERE id = 2",
    "DELETE FROM t WHERE id = 2",
    "REPLACE INTO t (id, a) VALUES (1, 1)",
    "SELECT DEFAULT(a), DEFAULT(b) FROM t LIMIT 1",
];

/// A column's type and attributes.
fn column(random: &mut Random) -> String {
    let (name, defaults) = *random.pick(TYPES);
    let mut text = name.to_owned();
    if random.chance(1, 4) && !name.contains("NULL") {
        text += " NOT NULL";
    }
    if random.chance(1, 2) {
        text = format!("{text} DEFAULT {}", random.pick(defaults));
    }
    if random.chance(1, 12) {
        text += *random.pick(&[" COMMENT 'c'", " INVISIBLE", " UNIQUE", " CHECK (a > 0)"]);
    }
    text
}

/// Fills the holes of a shape.
fn fill(random: &mut Random, shape: &str) -> String {
    let mut text = shape.to_owned();
    while let Some((before, rest)) = text.split_once('[') {
        let Some((hole, after)) = rest.split_once(']') else { break };
        let filling = match hole {
            "column" => column(random).replace('[', "\u{1}"),
            "type" => random.pick(TYPES).0.to_owned(),
            "default" => {
                let (_, defaults) = *random.pick(TYPES);
                random.pick(defaults).replace('[', "\u{1}")
            }
            "expression" => (*random.pick(EXPRESSIONS)).to_owned(),
            "condition" => (*random.pick(CONDITIONS)).to_owned(),
            "name" => (*random.pick(NAMES)).to_owned(),
            _ => (*random.pick(ACTIONS)).to_owned(),
        };
        text = format!("{before}{filling}{after}");
    }
    text.replace('\u{1}', "[")
}

fn step(subject: &str, sql: impl Into<String>) -> Step {
    Step { subject: subject.to_owned(), sql: sql.into() }
}

/// A table, rows, and changes of both.
pub(super) fn draw(random: &mut Random) -> Steps {
    let mut parts = vec!["id INT PRIMARY KEY".to_owned()];
    let simple = random.chance(1, 2);
    for name in ["a", "b", "c"] {
        let usual = if name == "a" { "INT" } else { "VARCHAR(10)" };
        let column = if simple && name != "c" { usual.to_owned() } else { column(random) };
        parts.push(format!("{name} {column}"));
    }
    for _ in 0..random.index(3) {
        let shape = *random.pick(PARTS);
        parts.push(fill(random, shape));
    }
    let parent = "CREATE TABLE p (id INT PRIMARY KEY, u INT, v VARCHAR(10), UNIQUE (u), KEY (v))";
    let mut steps = vec![
        step("DROP", "DROP TABLE IF EXISTS r, t, p"),
        step("CREATE", parent),
        step("INSERT", "INSERT INTO p VALUES (1, 1, 'q'), (2, 2, 'w'), (3, 3, NULL)"),
        step("CREATE TABLE", format!("CREATE TABLE t ({})", parts.join(", "))),
        step("SHOW", "SHOW CREATE TABLE t"),
        step("INSERT", "INSERT INTO t (id, a, b) VALUES (1, 1, 'q')"),
        step("INSERT", "INSERT INTO t (id) VALUES (2)"),
        step("INSERT", "INSERT INTO t (id, a, b, c) VALUES (3, 2, 'w', '2020-01-01')"),
    ];
    if random.chance(1, 4) {
        let column = random.pick(&["id", "a", "b"]);
        let action = random.pick(&["", " ON DELETE CASCADE", " ON UPDATE SET NULL"]);
        let sql =
            format!("CREATE TABLE r (x INT, FOREIGN KEY (x) REFERENCES t ({column}){action})");
        steps.push(step("CREATE TABLE r", sql));
    }
    for _ in 0..3 {
        if random.chance(1, 2) {
            let change = *random.pick(CHANGES);
            steps.push(step(change, change));
        }
        let mut shapes = vec![*random.pick(ACTIONS)];
        if random.chance(1, 5) {
            shapes.push(*random.pick(ACTIONS));
        }
        let subject = shapes.join(", ");
        let action = fill(random, &subject);
        steps.push(step(&subject, format!("ALTER TABLE t {action}")));
        steps.push(step(&format!("definition after {subject}"), "SHOW CREATE TABLE t"));
        steps.push(step(&format!("rows after {subject}"), "SELECT * FROM t ORDER BY id"));
    }
    steps
}
