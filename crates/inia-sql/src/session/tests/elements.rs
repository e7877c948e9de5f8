//! Multi-valued indexes: random changes of arrays, with rollbacks, against the same queries without
//! an index; and arrays beside other transactions and restarts.

use super::{TestDb, TestSession};
use crate::check::check_database;
use inia_testkit::Random;

const TABLE: &str = "CREATE TABLE t (id INT PRIMARY KEY, a INT, j JSON,
    KEY e ((CAST(j->'$.e' AS UNSIGNED ARRAY))),
    KEY ae (a, (CAST(j->'$.e' AS UNSIGNED ARRAY)), id),
    KEY s ((CAST(j->'$.s' AS CHAR(4) ARRAY))),
    UNIQUE KEY u ((CAST(j->'$.u' AS SIGNED ARRAY))))";
const WITHOUT: &str = "IGNORE INDEX (e, ae, s, u)";

fn array(random: &mut Random, most: i64, quote: &str) -> String {
    if random.chance(1, 5) {
        return format!("{quote}{}{quote}", random.range(0..most));
    }
    let items = (0..random.below(5)).map(|_| format!("{quote}{}{quote}", random.range(0..most)));
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn document(random: &mut Random) -> String {
    if random.chance(1, 12) {
        return "NULL".to_owned();
    }
    let mut members = Vec::new();
    for (name, most, quote) in [("e", 12, ""), ("s", 12, "\""), ("u", 200, "")] {
        if random.chance(4, 5) {
            members.push(format!("\"{name}\": {}", array(random, most, quote)));
        }
    }
    format!("'{{{}}}'", members.join(", "))
}

fn condition(random: &mut Random) -> String {
    let (name, quote) = *random.pick(&[("e", ""), ("s", "\""), ("u", "")]);
    let most = if name == "u" { 200 } else { 14 };
    let one = random.range(0..most);
    let member = if quote.is_empty() { one.to_string() } else { format!("'{one}'") };
    let other = array(random, most, quote);
    let condition = match random.below(4) {
        0 => format!("{member} MEMBER OF (j->'$.{name}')"),
        1 => format!("JSON_CONTAINS(j->'$.{name}', '{other}')"),
        2 => format!("JSON_OVERLAPS(j->'$.{name}', '{other}')"),
        _ => format!("JSON_OVERLAPS('{other}', j->'$.{name}')"),
    };
    match random.below(4) {
        0 => format!("{condition} AND a = {}", random.range(0..4)),
        1 => format!("{condition} AND a IN (1, 3)"),
        _ => condition,
    }
}

fn change(random: &mut Random, s: &mut TestSession) {
    let id = random.range(0..60);
    let (a, document) = (random.range(0..4), document(random));
    let statement = match random.below(9) {
        0..=2 => format!("INSERT INTO t VALUES ({id}, {a}, {document})"),
        3 => format!("REPLACE INTO t VALUES ({id}, {a}, {document})"),
        4 => format!(
            "INSERT INTO t VALUES ({id}, {a}, {document}) AS n
            ON DUPLICATE KEY UPDATE a = n.a, j = n.j"
        ),
        5 => format!("UPDATE t SET a = {a}, id = id + 100 WHERE {}", condition(random)),
        6 => format!("UPDATE IGNORE t SET j = {document} WHERE {}", condition(random)),
        7 => format!("DELETE FROM t WHERE {} LIMIT 2", condition(random)),
        _ => format!("UPDATE IGNORE t SET j = {document} WHERE id = {id}"),
    };
    let answer = s.run(&statement);
    let expected = !answer.contains("ERROR ") || answer.contains("ERROR 1062");
    assert!(expected, "{statement}: {answer}");
}

#[test]
fn queries_by_an_index_find_what_others_find() {
    let mut random = Random::new(3903);
    let db = TestDb::new();
    let mut s = db.session();
    s.ok(TABLE);
    for step in 0..400 {
        if random.chance(1, 10) {
            s.ok("BEGIN");
            (0..random.below(8)).for_each(|_| change(&mut random, &mut s));
            s.ok(["ROLLBACK", "COMMIT"][random.index(2)]);
        }
        change(&mut random, &mut s);
        let condition = condition(&mut random);
        let lock = *random.pick(&["", "", " FOR UPDATE"]);
        let query =
            |hint: &str| format!("SELECT id, j FROM t {hint} WHERE {condition} ORDER BY id");
        let by_index = s.ok(&format!("{}{lock}", query("")));
        assert_eq!(by_index, s.ok(&query(WITHOUT)), "step {step}: {condition}");
        let count = format!("SELECT COUNT(*) FROM t WHERE {condition}");
        assert_eq!(s.ok(&count).trim(), by_index.lines().count().to_string(), "{condition}");
    }
    let check = s.ok("CHECK TABLE t");
    assert!(check.contains("OK"), "{check}");
    // Indexes that are made at once are those that were kept.
    s.ok("ALTER TABLE t DROP KEY e, ADD KEY e2 ((CAST(j->'$.e' AS UNSIGNED ARRAY)))");
    s.ok("ALTER TABLE t FORCE");
    drop(s);
    assert_eq!(check_database(&db.db).unwrap(), Vec::<String>::new());
    let db = db.restart();
    let query = |hint: &str| format!("SELECT id FROM t {hint} WHERE 3 MEMBER OF (j->'$.e')");
    let mut s = db.session();
    assert_eq!(s.ok(&query("")), s.ok(&query("IGNORE INDEX (e2, ae)")));
    assert!(s.ok(&format!("EXPLAIN {}", query(""))).contains("e2"), "an index finds the rows");
}

#[test]
fn many_rows_are_read_once_each() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, j JSON)");
    s.ok("INSERT INTO t (j) VALUES ('[1, 2, 3]'), ('[2, 3, 4]'), ('[5]'), ('[]')");
    for _ in 0..9 {
        s.ok("INSERT INTO t (j) SELECT j FROM t");
    }
    s.ok("ALTER TABLE t ADD KEY k ((CAST(j AS UNSIGNED ARRAY)))");
    s.ok("ANALYZE TABLE t");
    for (other, rows) in [("[2, 3]", 1024), ("[1, 4]", 1024), ("[1, 2, 3, 4, 5]", 1536)] {
        for lock in ["", " FOR SHARE"] {
            let query = format!(
                "SELECT COUNT(*), SUM(id) FROM (SELECT id FROM t FORCE INDEX (k)
                 WHERE JSON_OVERLAPS(j, '{other}'){lock}) x"
            );
            let other = query.replace("FORCE", "IGNORE");
            assert_eq!(s.ok(&query), s.ok(&other), "{query}");
            assert!(s.ok(&query).starts_with(&format!("{rows}|")), "{query}: {}", s.ok(&query));
        }
    }
    s.ok("DELETE FROM t WHERE JSON_OVERLAPS(j, '[2, 3]')");
    assert_eq!(s.ok("SELECT COUNT(*) FROM t"), "1024\n");
    drop(s);
    assert_eq!(check_database(&db.db).unwrap(), Vec::<String>::new());
}

#[test]
fn a_unique_element_waits_for_the_transaction_that_has_it() {
    let db = TestDb::new();
    let (mut one, mut other) = (db.session(), db.session());
    one.ok("CREATE TABLE t (id INT PRIMARY KEY, j JSON, UNIQUE KEY u ((CAST(j AS SIGNED ARRAY))))");
    other.ok("SET innodb_lock_wait_timeout = 1");
    one.ok("BEGIN");
    one.ok("INSERT INTO t VALUES (1, '[1, 2]')");
    let answer = other.run("INSERT INTO t VALUES (2, '[2, 3]')");
    assert!(answer.contains("ERROR 1205"), "{answer}");
    other.ok("INSERT INTO t VALUES (3, '[3]')");
    one.ok("ROLLBACK");
    other.ok("INSERT INTO t VALUES (2, '[1, 2]')");
    let answer = one.run("UPDATE t SET j = '[4, 2]' WHERE id = 3");
    assert!(answer.contains("ERROR 1062: Duplicate entry '[2, 4]' for key 't.u'"), "{answer}");
    assert_eq!(one.ok("SELECT id FROM t WHERE 3 MEMBER OF (j)"), "3\n");
}
