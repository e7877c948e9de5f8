//! RETURNING of INSERT, REPLACE, UPDATE and DELETE, which MySQL does not have.
//!
//! The answers for INSERT, REPLACE and DELETE are those of MariaDB 10.11, compared by hand; those
//! for UPDATE follow PostgreSQL: the new values of every row that matches. Errors are MySQL's.

use super::{TestDb, TestSession};
use inia_base::value::Value;
use inia_query::database::ClientInfo;

fn filled(db: &TestDb) -> TestSession {
    let mut s = db.session();
    s.ok("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT UNIQUE, \
          b VARCHAR(10) DEFAULT 'dflt', g INT AS (a * 2))");
    s.ok("INSERT INTO t (a) VALUES (1), (2), (3)");
    s
}

#[test]
fn insert_gives_numbers_defaults_and_generated_columns() {
    let db = TestDb::new();
    let mut s = filled(&db);
    s.check(&[
        ("INSERT INTO t (a) VALUES (4), (5) RETURNING id, a, b, g", "4|4|dflt|8\n5|5|dflt|10"),
        ("SELECT ROW_COUNT(), LAST_INSERT_ID()", "-1|4"),
        ("INSERT INTO t (a) VALUES (6) RETURNING *", "6|6|dflt|12"),
        ("INSERT INTO t SET a = 7 RETURNING t.id AS i, CONCAT(b, 'x')", "7|dfltx"),
        ("INSERT INTO t (a) SELECT a + 100 FROM t WHERE a < 3 RETURNING t.*, 1", {
            "8|101|dflt|202|1\n9|102|dflt|204|1"
        }),
        ("INSERT INTO t (a) VALUES (3) ON DUPLICATE KEY UPDATE b = 'dup' RETURNING id, b", "3|dup"),
        ("INSERT INTO t (a) VALUES (3) ON DUPLICATE KEY UPDATE b = 'dup' RETURNING id, b", "3|dup"),
        ("INSERT IGNORE INTO t (a) VALUES (3), (11) RETURNING a", "11"),
        ("REPLACE INTO t (id, a) VALUES (1, 1) RETURNING id, b", "1|dflt"),
        ("REPLACE INTO t (a, b) VALUES (2, 'new') RETURNING a, b", "2|new"),
    ]);
}

#[test]
fn update_gives_new_values_and_delete_the_old_ones() {
    let db = TestDb::new();
    let mut s = filled(&db);
    s.check(&[
        ("UPDATE t SET a = a + 10 WHERE id < 3 RETURNING id, a, g", "1|11|22\n2|12|24"),
        ("UPDATE t SET b = 'dflt' WHERE id = 3 RETURNING *", "3|3|dflt|6"),
        ("UPDATE t AS x SET x.b = 'q' ORDER BY id DESC LIMIT 1 RETURNING x.id, UPPER(b)", "3|Q"),
        ("UPDATE IGNORE t SET a = 11 WHERE id = 3 RETURNING id", ""),
        ("UPDATE t SET b = 1 WHERE a = 999 RETURNING id", ""),
        ("DELETE FROM t WHERE a > 100 RETURNING *", ""),
        ("DELETE FROM t ORDER BY a DESC LIMIT 1 RETURNING a, g + 1", "12|25"),
        ("DELETE FROM t AS x WHERE x.id = 1 RETURNING x.a", "11"),
        ("SELECT id FROM t", "3"),
    ]);
}

#[test]
fn triggers_have_set_what_is_given_back() {
    let db = TestDb::new();
    let mut s = filled(&db);
    s.ok("CREATE TRIGGER i BEFORE INSERT ON t FOR EACH ROW SET NEW.b = 'made'");
    s.ok("CREATE TRIGGER u BEFORE UPDATE ON t FOR EACH ROW SET NEW.b = CONCAT(OLD.b, '!')");
    s.check(&[
        ("INSERT INTO t (a) VALUES (9) RETURNING b", "made"),
        ("UPDATE t SET a = 10 WHERE a = 9 RETURNING a, b", "10|made!"),
    ]);
}

#[test]
fn nothing_is_given_back_of_a_statement_that_fails() {
    let db = TestDb::new();
    let mut s = filled(&db);
    s.check(&[
        (
            "INSERT INTO t (a) VALUES (20), (1) RETURNING a",
            "ERROR 1062: Duplicate entry '1' for key 't.a'",
        ),
        ("UPDATE t SET a = 3 RETURNING a", "ERROR 1062: Duplicate entry '3' for key 't.a'"),
        ("SELECT COUNT(*) FROM t", "3"),
    ]);
}

#[test]
fn prepared_statements_describe_and_send_the_columns() {
    let db = TestDb::new();
    let mut s = filled(&db);
    let insert = s.prepare("INSERT INTO t (a) VALUES (?) RETURNING id, ? AS k");
    let text = |text: &str| Value::Text(text.to_owned());
    assert_eq!(s.execute(insert, &[Value::Int(30), text("one")]), "4|one");
    assert_eq!(s.execute(insert, &[Value::Int(31), text("two")]), "5|two");
    let delete = s.prepare("DELETE FROM t WHERE a = ? RETURNING id");
    assert_eq!(s.execute(delete, &[Value::Int(31)]), "5");
    assert_eq!(s.execute(delete, &[Value::Int(31)]), "");
}

#[test]
fn procedures_send_a_result_set_and_functions_may_not() {
    let db = TestDb::new();
    let mut s = filled(&db);
    s.ok("CREATE PROCEDURE p() BEGIN INSERT INTO t (a) VALUES (40) RETURNING id; \
          DELETE FROM t WHERE a = 40 RETURNING a; END");
    s.check(&[
        ("CALL p()", "4\n40\n0 affected"),
        (
            "CREATE FUNCTION f() RETURNS INT BEGIN DELETE FROM t RETURNING a; RETURN 1; END",
            "ERROR 1415: Not allowed to return a result set from a function",
        ),
    ]);
}

#[test]
fn views_give_back_their_own_columns() {
    let db = TestDb::new();
    let mut s = filled(&db);
    s.ok("CREATE VIEW v AS SELECT id, a AS aa, g + 1 AS more FROM t WHERE a < 100");
    s.ok("CREATE VIEW w AS SELECT id, a AS aa FROM t WHERE a < 100 WITH CHECK OPTION");
    s.ok("CREATE VIEW j AS SELECT x.a FROM t x JOIN t y ON x.id = y.a");
    s.check(&[
        ("INSERT INTO w (aa) VALUES (50) RETURNING *", "4|50"),
        ("UPDATE v SET aa = 51 WHERE id = 4 RETURNING aa + 1, v.id, more", "52|4|103"),
        ("DELETE FROM v WHERE aa = 51 RETURNING *", "4|51|103"),
        ("UPDATE v SET aa = 1 RETURNING g", "ERROR 1054: Unknown column 'g' in 'field list'"),
        ("UPDATE j SET a = a RETURNING a", {
            "ERROR 1235: This version of MySQL doesn't yet support \
             'RETURNING of a statement on several tables'"
        }),
    ]);
}

#[test]
fn items_that_have_no_meaning_are_errors() {
    let db = TestDb::new();
    let mut s = filled(&db);
    s.check(&[
        ("INSERT INTO t (a) VALUES (1) RETURNING no", {
            "ERROR 1054: Unknown column 'no' in 'field list'"
        }),
        ("DELETE FROM t RETURNING COUNT(*)", "ERROR 1111: Invalid use of group function"),
        ("INSERT INTO t (a) VALUES (60) RETURNING (SELECT MAX(a) FROM t)", {
            "ERROR 1093: You can't specify target table 't' for update in FROM clause"
        }),
        ("UPDATE t, t y SET t.b = 1 RETURNING t.b", {
            "ERROR 1235: This version of MySQL doesn't yet support \
             'RETURNING of a statement on several tables'"
        }),
        ("SELECT COUNT(*) FROM t", "3"),
    ]);
    assert!(s.run("DELETE t FROM t WHERE a = 1 RETURNING a").starts_with("ERROR 1064: "));
    assert!(s.run("INSERT INTO t (a) VALUES (1) RETURNING").starts_with("ERROR 1064: "));
}

/// MySQL takes the word for a name in all of these.
#[test]
fn the_word_stays_a_name_where_mysql_has_it() {
    let db = TestDb::new();
    let mut s = db.session();
    s.check(&[
        ("CREATE TABLE returning (returning INT)", "0 affected"),
        ("INSERT INTO returning SELECT 1 returning", {
            "1 affected (Records: 1  Duplicates: 0  Warnings: 0)"
        }),
        (
            "INSERT INTO returning SELECT returning + 1 returning FROM returning returning \
             WHERE returning < 5",
            "1 affected (Records: 1  Duplicates: 0  Warnings: 0)",
        ),
        ("UPDATE returning returning SET returning = 3 WHERE returning = 2", {
            "1 affected (Rows matched: 1  Changed: 1  Warnings: 0)"
        }),
        ("DELETE FROM returning returning WHERE returning = 1", "1 affected"),
        ("INSERT INTO returning SELECT 5 FROM returning AS returning RETURNING returning", "5"),
        ("DELETE FROM returning RETURNING returning + 1", "4\n6"),
        ("SELECT JSON_VALUE('{\"a\": 1}', '$.a' RETURNING SIGNED)", "1"),
    ]);
}

#[test]
fn many_rows_are_held_in_a_file_until_they_are_sent() {
    let db = TestDb::new();
    let mut s = filled(&db);
    s.ok("SET cte_max_recursion_depth = 100000, tmp_table_size = 1024");
    let numbers = "WITH RECURSIVE i (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM i WHERE \
                   i < 5099) SELECT i FROM i";
    let given = s.ok(&format!("INSERT INTO t (a) {numbers} RETURNING a, REPEAT('x', 100)"));
    assert_eq!(given.lines().count(), 5000);
    let given = s.ok("DELETE FROM t WHERE a >= 100 RETURNING a");
    let first_and_last = (given.lines().next(), given.lines().next_back());
    assert_eq!(first_and_last, (Some("100"), Some("5099")));
}

#[test]
fn what_is_given_back_must_be_readable() {
    let db = TestDb::new();
    let mut root = filled(&db);
    root.ok("CREATE USER u");
    root.ok("GRANT INSERT, UPDATE, DELETE, SELECT (id) ON test.t TO u");
    let client = ClientInfo { user: "u".into(), account_user: "u".into(), ..ClientInfo::default() };
    let mut s = db.session_of(ClientInfo { account_host: "%".into(), ..client });
    s.ok("USE test");
    assert_eq!(s.ok("INSERT INTO t (a) VALUES (70) RETURNING id"), "4\n");
    assert_eq!(s.ok("UPDATE t SET a = 71 WHERE id = 4 RETURNING id + 1"), "5\n");
    for unread in ["a", "*", "id, (SELECT MAX(x.a) FROM t x)"] {
        for change in ["INSERT INTO t (a) VALUES (72)", "UPDATE t SET a = 1", "DELETE FROM t"] {
            let answer = s.run(&format!("{change} RETURNING {unread}"));
            assert!(answer.contains("SELECT command denied to user 'u'@"), "{unread}: {answer}");
        }
    }
    assert_eq!(s.ok("DELETE FROM t WHERE id = 4 RETURNING id"), "4\n");
    assert_eq!(root.ok("SELECT COUNT(*) FROM t"), "3\n");
}
