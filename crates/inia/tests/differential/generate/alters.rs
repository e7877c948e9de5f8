//! ALTER TABLE beside all that a definition may hold: defaults, conditions, computed columns, keys
//! of every kind, and foreign keys at either end, with rows in the table.
//!
//! Worked example: a round makes `t` (and `r`, which refers to it), puts rows in, alters `t` four
//! times, of which some are refused, and shows what has come of the definition and the rows.

use super::Dice;
use std::fmt::Write;

const ROUNDS: usize = 110;

/// What `a`, which most things are about, may be.
const A: &[&str] =
    &["a INT", "a INT DEFAULT 5", "a INT NOT NULL", "a INT DEFAULT NULL", "a BIGINT"];

const B: &[&str] = &[
    "b INT",
    "b INT DEFAULT (a + 1)",
    "b INT DEFAULT 7",
    "b INT NOT NULL DEFAULT 3",
    "b INT DEFAULT (id * 2)",
];

const C: &[&str] = &[
    "c VARCHAR(10)",
    "c VARCHAR(10) DEFAULT 'x'",
    "c VARCHAR(10) DEFAULT (CONCAT('y', b))",
    "c TEXT",
    "c VARCHAR(10) NOT NULL DEFAULT ''",
];

/// What else the definition may hold.
const PARTS: &[&str] = &[
    "g INT AS (a * 2) VIRTUAL",
    "g INT AS (a * 2) STORED",
    "g INT AS (b + 1) VIRTUAL, KEY kg (g)",
    "CONSTRAINT k CHECK (a < 100)",
    "CONSTRAINT k CHECK (a < b)",
    "CONSTRAINT k CHECK (b <> 0) NOT ENFORCED",
    "KEY kf ((a + 1))",
    "KEY kf ((b * 2), a)",
    "UNIQUE KEY ub (b, id)",
    "KEY ka (a)",
    "KEY ka (a, b)",
    "CONSTRAINT f FOREIGN KEY (a) REFERENCES p (id)",
    "CONSTRAINT f FOREIGN KEY (a) REFERENCES p (id) ON UPDATE CASCADE",
    "CONSTRAINT f FOREIGN KEY (a) REFERENCES p (id) ON DELETE SET NULL",
    "CONSTRAINT f FOREIGN KEY (b) REFERENCES p (u) ON DELETE CASCADE",
    "CONSTRAINT f FOREIGN KEY (b) REFERENCES t (id)",
];

/// Tables that refer to `t`.
const CHILDREN: &[&str] = &[
    "",
    "",
    "CREATE TABLE r (x INT, CONSTRAINT fr FOREIGN KEY (x) REFERENCES t (id));\n",
    "CREATE TABLE r (x INT, CONSTRAINT fr FOREIGN KEY (x) REFERENCES t (a) ON UPDATE CASCADE);\n",
    "CREATE TABLE r (x INT, CONSTRAINT fr FOREIGN KEY (x) REFERENCES t (b) ON DELETE CASCADE);\n",
];

const ACTIONS: &[&str] = &[
    "ADD COLUMN n INT",
    "ADD COLUMN n INT DEFAULT 4 FIRST",
    "ADD COLUMN n INT DEFAULT (a + 10) AFTER id",
    "ADD COLUMN n INT DEFAULT (b)",
    "ADD COLUMN n INT AS (a + b) STORED",
    "ADD COLUMN n INT AS (a - b) VIRTUAL FIRST",
    "ADD COLUMN n VARCHAR(20) NOT NULL DEFAULT (CONCAT(c, id)) AFTER a",
    "ADD COLUMN n INT NOT NULL",
    "DROP COLUMN a",
    "DROP COLUMN b",
    "DROP COLUMN c",
    "DROP COLUMN g",
    "DROP COLUMN n",
    "RENAME COLUMN a TO aa",
    "RENAME COLUMN aa TO a",
    "RENAME COLUMN b TO bb",
    "RENAME COLUMN id TO ident",
    "RENAME COLUMN a TO b, RENAME COLUMN b TO a",
    "CHANGE a a2 INT",
    "CHANGE b b2 BIGINT DEFAULT 9",
    "CHANGE c c2 VARCHAR(30) DEFAULT 'z'",
    "MODIFY a INT",
    "MODIFY a BIGINT",
    "MODIFY a INT NOT NULL",
    "MODIFY a INT DEFAULT 8 FIRST",
    "MODIFY b INT DEFAULT (a + 2)",
    "MODIFY b INT AFTER c",
    "MODIFY b VARCHAR(20)",
    "MODIFY c VARCHAR(40)",
    "MODIFY c TEXT",
    "MODIFY id BIGINT",
    "MODIFY id INT AFTER b",
    "MODIFY id INT AUTO_INCREMENT",
    "ALTER a SET DEFAULT 6",
    "ALTER a DROP DEFAULT",
    "ALTER b SET DEFAULT (a * 3)",
    "ALTER b DROP DEFAULT",
    "ALTER c SET DEFAULT 'w'",
    "ALTER c SET DEFAULT NULL",
    "ADD CONSTRAINT k2 CHECK (a > 0)",
    "ADD CONSTRAINT k2 CHECK (b > a) NOT ENFORCED",
    "ADD CONSTRAINT k2 CHECK (id < 2)",
    "DROP CHECK k",
    "ALTER CHECK k NOT ENFORCED",
    "ALTER CHECK k ENFORCED",
    "ADD KEY n1 (a)",
    "ADD KEY n1 (b, a)",
    "ADD KEY n1 ((a + b))",
    "ADD UNIQUE KEY n2 (a)",
    "ADD UNIQUE KEY n2 (c(3), id)",
    "DROP KEY ka",
    "DROP KEY kf",
    "DROP KEY ub",
    "DROP KEY f",
    "DROP KEY ka, ADD KEY kb (a, id)",
    "RENAME KEY ka TO kc",
    "ALTER INDEX ka INVISIBLE",
    "DROP PRIMARY KEY",
    "DROP PRIMARY KEY, ADD PRIMARY KEY (id, b)",
    "ADD CONSTRAINT f2 FOREIGN KEY (b) REFERENCES p (id)",
    "ADD CONSTRAINT f2 FOREIGN KEY (a) REFERENCES p (u) ON UPDATE CASCADE",
    "ADD CONSTRAINT f2 FOREIGN KEY (b) REFERENCES p (id) ON DELETE SET NULL",
    "DROP FOREIGN KEY f",
    "DROP FOREIGN KEY f, DROP COLUMN a",
    "DROP FOREIGN KEY f, RENAME COLUMN a TO a3",
    "DROP CHECK k, DROP COLUMN b",
    "ENGINE = InnoDB",
    "COMMENT = 'altered'",
    "FORCE",
];

/// The script.
pub(super) fn script() -> String {
    let mut dice = Dice(9);
    let mut text = String::from(
        "-- Generated: ALTER TABLE beside everything.\n\
         CREATE TABLE p (id INT PRIMARY KEY, u INT, UNIQUE KEY (u));\n\
         INSERT INTO p VALUES (1, 1), (2, 2), (3, 3);\n",
    );
    for _ in 0..ROUNDS {
        round(&mut dice, &mut text);
    }
    text
}

fn round(dice: &mut Dice, text: &mut String) {
    let (a, b, c) = (dice.pick(A), dice.pick(B), dice.pick(C));
    let mut parts = Vec::new();
    let named = |part: &str| part.trim_start_matches("CONSTRAINT ").chars().next();
    for _ in 0..1 + dice.next() % 4 {
        let part = dice.pick(PARTS);
        let alike = |other: &&str| named(other) == named(part) && other[..4] == part[..4];
        if !parts.iter().any(alike) {
            parts.push(part);
        }
    }
    let list = parts.join(", ");
    writeln!(text, "CREATE TABLE t (id INT PRIMARY KEY, {a}, {b}, {c}, {list});").unwrap();
    text.push_str("INSERT INTO t (id, a, b, c) VALUES (1, 1, 2, 'q'), (2, 2, 3, 'w');\n");
    text.push_str("INSERT INTO t (id, a) VALUES (3, 3);\n");
    text.push_str(dice.pick(CHILDREN));
    for _ in 0..4 {
        let mut action = dice.pick(ACTIONS).to_owned();
        if dice.next().is_multiple_of(5) {
            action = format!("{action}, {}", dice.pick(ACTIONS));
        }
        writeln!(text, "ALTER TABLE t {action};").unwrap();
    }
    text.push_str("SHOW CREATE TABLE t;\nSELECT * FROM t;\nSHOW CREATE TABLE r;\n");
    text.push_str("UPDATE p SET id = id + 10 WHERE id = 3;\nSELECT * FROM t;\n");
    text.push_str("UPDATE p SET id = 3 WHERE id = 13;\nDROP TABLE IF EXISTS r, t;\n");
}
