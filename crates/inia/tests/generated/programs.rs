//! Stored procedures, functions and triggers of nested blocks, loops, cursors, conditions and
//! handlers, called and fired beside a table of partitions.
//!
//! Worked example: a round makes `t`, `u` and `log`, a function, two procedures and triggers on `t`
//! and `u`. Their bodies write what they see to `log`. Then the procedures are called and rows are
//! changed, and after each step all three tables are shown.

use super::{Step, Steps};
use inia_testkit::Random;

/// What a body may do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    Procedure,
    Function,
    /// A trigger, and whether it has an old and a new row and may assign the new one.
    Trigger {
        old: bool,
        new: bool,
        assigns: bool,
    },
}

const NUMBERS: &[&str] = &[
    "a",
    "b",
    "a + 1",
    "b - a",
    "a * b",
    "a DIV b",
    "0",
    "1",
    "2",
    "5",
    "NULL",
    "-1",
    "300",
    "IFNULL(b, 7)",
    "LENGTH(s)",
    "@u",
    "(SELECT COUNT(*) FROM u)",
    "(SELECT MAX(v) FROM u WHERE id <= a)",
    "ROW_COUNT()",
];

const TEXTS: &[&str] = &[
    "s",
    "'x'",
    "''",
    "CONCAT(s, a)",
    "UPPER(s)",
    "NULL",
    "LEFT(s, 2)",
    "'too long for it'",
    "CAST(b AS CHAR)",
    "(SELECT MIN(c) FROM u)",
];

const TESTS: &[&str] = &[
    "a > b",
    "a = 1",
    "b IS NULL",
    "s = 'x'",
    "s LIKE 'X%'",
    "NOT a",
    "a IN (1, 2, NULL)",
    "EXISTS (SELECT 1 FROM u WHERE id = a)",
    "b BETWEEN 0 AND 5",
    "NULL",
    "@u < 3",
];

const CONDITIONS: &[&str] = &[
    "SQLEXCEPTION",
    "SQLWARNING",
    "NOT FOUND",
    "1062",
    "SQLSTATE '45000'",
    "SQLSTATE '23000'",
    "SQLSTATE '01000'",
    "mine",
    "SQLEXCEPTION, SQLWARNING",
    "1365",
    "1406, 1264",
];

const SIGNALS: &[&str] = &[
    "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'made', MYSQL_ERRNO = 5000",
    "SIGNAL SQLSTATE '45000'",
    "SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'beware'",
    "SIGNAL SQLSTATE '02000'",
    "SIGNAL SQLSTATE '23000' SET MESSAGE_TEXT = 'again'",
];

const CHANGES: &[&str] = &[
    "INSERT INTO u VALUES ([n], [n], [s])",
    "INSERT INTO u (id, v) VALUES ([n], [n]), (a + 3, b)",
    "INSERT IGNORE INTO u VALUES ([n], [n], [s])",
    "REPLACE INTO u VALUES ([n], [n], [s])",
    "INSERT INTO u VALUES ([n], [n], [s]) ON DUPLICATE KEY UPDATE v = v + 1, c = [s]",
    "INSERT INTO u SELECT id + 10, v, c FROM u WHERE id < 5 ORDER BY id",
    "UPDATE u SET v = [n] WHERE id = [n] ORDER BY id",
    "UPDATE u SET c = [s], v = v + 1 WHERE id > [n] ORDER BY id LIMIT 2",
    "UPDATE u SET id = id + 1 WHERE id = [n]",
    "DELETE FROM u WHERE id = [n]",
    "DELETE FROM u WHERE v > [n] ORDER BY id LIMIT 1",
];

/// Changes of the table that has triggers, and partitions sometimes.
const FIRING: &[&str] = &[
    "INSERT INTO t VALUES ([k], [k], 'x')",
    "INSERT INTO t VALUES ([k], [k], 'x'), ([k], 2, 'yy')",
    "INSERT IGNORE INTO t VALUES ([k], [k], 'x'), ([k], 3, NULL)",
    "INSERT INTO t VALUES ([k], [k], 'x') ON DUPLICATE KEY UPDATE v = v + 1, c = 'dup'",
    "REPLACE INTO t VALUES ([k], [k], 'r')",
    "INSERT INTO t SELECT id + 20, v, c FROM u ORDER BY id",
    "UPDATE t SET v = v + [k] ORDER BY id",
    "UPDATE t SET c = 'q' WHERE id = [k]",
    "UPDATE t SET id = id + 1 WHERE id > [k] ORDER BY id DESC",
    "UPDATE IGNORE t SET id = [k] WHERE id > [k] ORDER BY id LIMIT 1",
    "UPDATE t SET v = 1 WHERE v <=> NULL OR v > [k] ORDER BY id LIMIT 2",
    "DELETE FROM t WHERE id = [k]",
    "DELETE FROM t WHERE v > [k] ORDER BY id",
    "DELETE FROM t ORDER BY id DESC LIMIT 1",
    "CALL p([k], @u)",
    "CALL p([k], @u)",
    "CALL q()",
    "SELECT f([k])",
    "SELECT id, f(id) FROM t ORDER BY id",
    "SET @u = [k]",
    "UPDATE u SET v = f(id) ORDER BY id LIMIT 2",
];

const PARTITIONS: &[&str] = &[
    "",
    "",
    "",
    " PARTITION BY HASH (id) PARTITIONS 3",
    " PARTITION BY KEY (id) PARTITIONS 2",
    " PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (3), \
     PARTITION p1 VALUES LESS THAN (25))",
    " PARTITION BY LIST (id % 4) (PARTITION p0 VALUES IN (0, 1), PARTITION p1 VALUES IN (2, NULL))",
    " PARTITION BY RANGE COLUMNS (id) SUBPARTITION BY HASH (id) SUBPARTITIONS 2 \
     (PARTITION p0 VALUES LESS THAN (4), PARTITION p1 VALUES LESS THAN (MAXVALUE))",
];

/// Writes one body.
struct Writer<'r> {
    random: &'r mut Random,
    body: Body,
    /// Labels of the loops and blocks around, and whether each is a loop.
    labels: Vec<(String, bool)>,
    names: usize,
    points: usize,
    in_handler: bool,
    /// So many more statements may be written.
    left: usize,
}

impl Writer<'_> {
    fn pick(&mut self, from: &[&str]) -> String {
        let shape = (*self.random.pick(from)).to_owned();
        self.fill(shape)
    }

    fn fill(&mut self, mut shape: String) -> String {
        while let Some(at) = shape.find('[') {
            let filling = match &shape[at..at + 3] {
                "[n]" => self.number(),
                "[s]" => self.text(),
                _ => self.random.index(9).to_string(),
            };
            shape.replace_range(at..at + 3, &filling);
        }
        shape
    }

    /// A column of the row that a trigger sees.
    fn row(&mut self, column: &str) -> Option<String> {
        let Body::Trigger { old, new, .. } = self.body else { return None };
        if !self.random.chance(1, 2) {
            return None;
        }
        let side = if new && (!old || self.random.chance(1, 2)) { "NEW" } else { "OLD" };
        Some(format!("{side}.{column}"))
    }

    fn number(&mut self) -> String {
        let column = *self.random.pick(&["id", "v"]);
        self.row(column).unwrap_or_else(|| (*self.random.pick(NUMBERS)).to_owned())
    }

    fn text(&mut self) -> String {
        self.row("c").unwrap_or_else(|| (*self.random.pick(TEXTS)).to_owned())
    }

    fn name(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    fn note(&mut self) -> String {
        self.points += 1;
        let point = self.points;
        format!("INSERT INTO log (m) VALUES (CONCAT_WS(':', {point}, a, IFNULL(b, 'N'), s, @u))")
    }

    fn statements(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.random.index(3) {
            text += &self.statement(depth);
            text += "; ";
        }
        text
    }

    fn statement(&mut self, depth: usize) -> String {
        if self.left == 0 {
            return self.note();
        }
        self.left -= 1;
        if depth > 0 && self.random.chance(2, 5) {
            return self.compound(depth - 1);
        }
        match self.random.index(16) {
            0..=2 => self.note(),
            3 => format!("SET a = {}", self.number()),
            4 => format!("SET b = {}", self.number()),
            5 => format!("SET s = {}", self.text()),
            6 => format!("SET @u = {}", self.number()),
            7 => format!("SET a = {}, s = {}", self.number(), self.text()),
            8 | 9 => self.pick(CHANGES),
            10 => format!("SELECT v, c INTO b, s FROM u WHERE id = {} LIMIT 1", self.number()),
            11 => self.jump(),
            12 => self.pick(SIGNALS),
            13 if self.in_handler => self.of_handler(),
            14 => self.of_body(),
            _ => format!("SET a = a + 1, b = {}", self.number()),
        }
    }

    /// What only handlers do.
    fn of_handler(&mut self) -> String {
        self.pick(&[
            "RESIGNAL",
            "RESIGNAL SET MESSAGE_TEXT = 'once more'",
            "RESIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 6000",
            "GET DIAGNOSTICS CONDITION 1 b = MYSQL_ERRNO",
            "GET STACKED DIAGNOSTICS CONDITION 1 s = RETURNED_SQLSTATE, b = MYSQL_ERRNO",
            "GET DIAGNOSTICS b = NUMBER, a = ROW_COUNT",
        ])
    }

    /// What bodies of one kind do.
    fn of_body(&mut self) -> String {
        match self.body {
            Body::Procedure => self.pick(&[
                "SELECT a, b, s",
                "SELECT id, v FROM u WHERE id > a ORDER BY id",
                "START TRANSACTION",
                "COMMIT",
                "ROLLBACK",
                "SAVEPOINT sp",
                "ROLLBACK TO sp",
                "INSERT INTO t VALUES ([n], [n], [s])",
                "UPDATE t SET v = [n] WHERE id = [n]",
                "DELETE FROM t WHERE id = [n]",
                "SET b = f([k])",
                "SHOW WARNINGS",
            ]),
            Body::Function => format!("RETURN {}", self.number()),
            Body::Trigger { assigns: true, .. } => {
                let (column, value) = match self.random.chance(2, 3) {
                    true => ("v", self.number()),
                    false => ("c", self.text()),
                };
                format!("SET NEW.{column} = {value}")
            }
            Body::Trigger { .. } => self.pick(&["SET b = f([k])", "CALL q()"]),
        }
    }

    fn jump(&mut self) -> String {
        if self.labels.is_empty() {
            return self.note();
        }
        let (label, is_loop) = self.random.pick(&self.labels).clone();
        let word = if is_loop && self.random.chance(1, 2) { "ITERATE" } else { "LEAVE" };
        format!("IF {} THEN {word} {label}; END IF", self.pick(TESTS))
    }

    fn compound(&mut self, depth: usize) -> String {
        match self.random.index(8) {
            0 | 1 => self.block(depth, ""),
            2 => {
                let (test, other) = (self.pick(TESTS), self.pick(TESTS));
                let (then, elseif) = (self.statements(depth), self.statements(depth));
                let otherwise = self.statements(depth);
                format!("IF {test} THEN {then}ELSEIF {other} THEN {elseif}ELSE {otherwise}END IF")
            }
            3 => {
                let (value, one) = (self.number(), self.statements(depth));
                let two = self.statements(depth);
                let otherwise = match self.random.chance(2, 3) {
                    true => format!("ELSE {}", self.statements(depth)),
                    false => String::new(),
                };
                format!("CASE {value} WHEN 1 THEN {one}WHEN b THEN {two}{otherwise}END CASE")
            }
            4 => {
                let (test, one, two) =
                    (self.pick(TESTS), self.statements(depth), self.statements(depth));
                format!("CASE WHEN {test} THEN {one}ELSE {two}END CASE")
            }
            5 => self.cursor(depth),
            _ => self.counted(depth),
        }
    }

    /// A loop that ends by a counter of its own.
    fn counted(&mut self, depth: usize) -> String {
        let (counter, label) = (self.name('k'), self.name('l'));
        self.labels.push((label.clone(), true));
        let inside = self.statements(depth);
        self.labels.pop();
        let (times, step) = (1 + self.random.index(3), format!("SET {counter} = {counter} + 1; "));
        let text = match self.random.index(3) {
            0 => format!("{label}: WHILE {counter} < {times} DO {step}{inside}END WHILE {label}"),
            1 => format!(
                "{label}: REPEAT {step}{inside}UNTIL {counter} >= {times} END REPEAT {label}"
            ),
            _ => format!(
                "{label}: LOOP {step}IF {counter} > {times} THEN LEAVE {label}; END IF; \
                 {inside}END LOOP {label}"
            ),
        };
        format!("BEGIN DECLARE {counter} INT DEFAULT 0; {text}; END")
    }

    /// A loop over the rows of a cursor, with an end of its own.
    fn cursor(&mut self, depth: usize) -> String {
        let (cursor, counter, label) = (self.name('c'), self.name('k'), self.name('l'));
        self.labels.push((label.clone(), true));
        let inside = self.statements(depth);
        self.labels.pop();
        let query = self.pick(&[
            "SELECT id, c FROM u ORDER BY id",
            "SELECT v, c FROM u WHERE id > a ORDER BY id DESC",
            "SELECT DISTINCT v, 'd' FROM u ORDER BY v LIMIT 2",
        ]);
        let close =
            if self.random.chance(3, 4) { format!("CLOSE {cursor}; ") } else { String::new() };
        format!(
            "BEGIN DECLARE {counter} INT DEFAULT 0; DECLARE {cursor} CURSOR FOR {query}; \
             DECLARE CONTINUE HANDLER FOR NOT FOUND SET {counter} = 9; OPEN {cursor}; \
             {label}: LOOP FETCH {cursor} INTO a, s; SET {counter} = {counter} + 1; \
             IF {counter} > 4 THEN LEAVE {label}; END IF; {inside}END LOOP {label}; {close}END"
        )
    }

    /// A block with variables, conditions and handlers.
    fn block(&mut self, depth: usize, outermost: &str) -> String {
        let mut text = String::from(outermost);
        if outermost.is_empty() {
            for declared in ["DECLARE a INT DEFAULT 2; ", "DECLARE s VARCHAR(4) DEFAULT 'in'; "] {
                text += if self.random.chance(1, 5) { declared } else { "" };
            }
        }
        text += "DECLARE mine CONDITION FOR SQLSTATE '45000'; ";
        let mut used: Vec<&str> = Vec::new();
        for _ in 0..self.random.index(3) {
            let condition = *self.random.pick(CONDITIONS);
            // No condition may have two handlers in a block.
            if !used.is_empty() && (used.contains(&condition) || condition.contains("SQL")) {
                continue;
            }
            used.push(condition);
            let word = *self.random.pick(&["CONTINUE", "EXIT"]);
            let before = std::mem::replace(&mut self.in_handler, true);
            // A handler may not leave the loops around it.
            let labels = std::mem::take(&mut self.labels);
            let (note, inside) = (self.note(), self.statements(depth.min(1)));
            (self.labels, self.in_handler) = (labels, before);
            text += &format!("DECLARE {word} HANDLER FOR {condition} BEGIN {note}; {inside}END; ");
        }
        let label = self.name('b');
        self.labels.push((label.clone(), false));
        let inside = self.statements(depth);
        self.labels.pop();
        format!("{label}: BEGIN {text}{inside}END {label}")
    }
}

/// A body of nested blocks.
fn body(random: &mut Random, kind: Body, depth: usize, parameter: Option<&str>) -> String {
    let mut writer = Writer {
        random,
        body: kind,
        labels: Vec::new(),
        names: 0,
        points: 0,
        in_handler: false,
        left: 14,
    };
    let start = parameter.unwrap_or("1");
    let declared = format!(
        "DECLARE a INT DEFAULT {start}; DECLARE b TINYINT DEFAULT 3; \
         DECLARE s VARCHAR(8) DEFAULT 'x'; "
    );
    let mut text = writer.block(depth, &declared);
    if kind == Body::Function {
        // A function that comes to its end without RETURN fails; some do.
        let end = text.rfind("END ").unwrap_or(text.len());
        if writer.random.chance(9, 10) {
            text.insert_str(end, "RETURN a; ");
        }
    }
    text
}

fn step(subject: &str, sql: impl Into<String>) -> Step {
    Step { subject: subject.to_owned(), sql: sql.into() }
}

fn tables(random: &mut Random) -> Steps {
    let division = *random.pick(PARTITIONS);
    let unique = if division.is_empty() { *random.pick(&["", ", UNIQUE (v)"]) } else { "" };
    let columns = "id INT PRIMARY KEY, v INT, c VARCHAR(8)";
    vec![
        step("DROP", "DROP TABLE IF EXISTS t, u, log"),
        step("DROP", "DROP FUNCTION IF EXISTS f"),
        step("DROP", "DROP PROCEDURE IF EXISTS p"),
        step("DROP", "DROP PROCEDURE IF EXISTS q"),
        step("SET", "SET @u = 1"),
        step("CREATE TABLE", format!("CREATE TABLE t ({columns}{unique}){division}")),
        step("CREATE TABLE", format!("CREATE TABLE u ({columns}, KEY (v))")),
        step("CREATE TABLE", "CREATE TABLE log (n INT PRIMARY KEY AUTO_INCREMENT, m TEXT)"),
        step(
            "INSERT",
            "INSERT INTO u VALUES (1, 1, 'x'), (2, NULL, 'y'), (4, 5, NULL), (8, 1, 'z')",
        ),
        step("INSERT", "INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (5, 3, NULL)"),
    ]
}

/// Tables, programs, and what calls and fires them.
pub(super) fn draw(random: &mut Random) -> Steps {
    let mut steps = tables(random);
    let function = body(random, Body::Function, 2, Some("z"));
    steps.push(step(
        "CREATE FUNCTION",
        format!(
            "CREATE FUNCTION f(z INT) RETURNS INT NOT DETERMINISTIC MODIFIES SQL DATA {function}"
        ),
    ));
    let inner = body(random, Body::Function, 1, None).replace("RETURN ", "SET b = ");
    steps.push(step("CREATE PROCEDURE", format!("CREATE PROCEDURE q() {inner}")));
    let outer = body(random, Body::Procedure, 3, Some("z"));
    steps.push(step("CREATE PROCEDURE", format!("CREATE PROCEDURE p(z INT, INOUT o INT) {outer}")));
    for number in 0..random.index(4) {
        let (time, event) =
            (*random.pick(&["BEFORE", "AFTER"]), *random.pick(&["INSERT", "UPDATE", "DELETE"]));
        let (old, new) = (event != "INSERT", event != "DELETE");
        let kind = Body::Trigger { old, new, assigns: time == "BEFORE" && new };
        let text = body(random, kind, 1, None);
        let table = if random.chance(1, 4) { "u" } else { "t" };
        steps.push(step(
            "CREATE TRIGGER",
            format!("CREATE TRIGGER r{number} {time} {event} ON {table} FOR EACH ROW {text}"),
        ));
    }
    for _ in 0..6 {
        let subject = *random.pick(FIRING);
        let mut sql = subject.to_owned();
        while sql.contains("[k]") {
            sql = sql.replacen("[k]", &random.index(9).to_string(), 1);
        }
        steps.push(step(subject, sql));
        steps.push(step(&format!("t after {subject}"), "SELECT * FROM t ORDER BY id"));
        steps.push(step(&format!("u after {subject}"), "SELECT * FROM u ORDER BY id"));
        steps.push(step(&format!("log after {subject}"), "SELECT m, @u FROM log ORDER BY n"));
    }
    steps.push(step("ROLLBACK", "ROLLBACK"));
    steps
}
