//! What counts as true.

use super::TestDb;

/// MySQL compares a document that stands as a condition with the number 0: all others are true,
/// even `null` and `false`. IF and CASE take its number instead, which is 0 for `"a"`.
#[test]
fn documents_are_true_unless_they_are_zero() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (id INT PRIMARY KEY, j JSON)");
    session.ok("INSERT INTO t VALUES (1, '\"a\"'), (2, '0'), (3, 'null'), (4, '[]'), (5, 'false')");
    session.ok("INSERT INTO t VALUES (6, NULL), (7, '0.0'), (8, '1')");
    assert_eq!(session.ok("SELECT id FROM t WHERE j"), "1\n3\n4\n5\n8\n");
    assert_eq!(session.ok("SELECT id FROM t WHERE NOT j"), "2\n7\n");
    assert_eq!(session.ok("SELECT id FROM t WHERE j->'$' AND id > 3"), "4\n5\n8\n");
    assert_eq!(session.ok("SELECT id FROM t WHERE j IS FALSE OR j XOR TRUE"), "2\n7\n");
    assert_eq!(session.ok("SELECT COUNT(*) FROM t x JOIN t y ON x.j"), "40\n");
    assert_eq!(
        session.ok("SELECT IF(j, 1, 0), CASE WHEN j THEN 1 END FROM t WHERE id = 1"),
        "0|NULL\n"
    );
    session.ok("DELETE FROM t WHERE j");
    assert_eq!(session.ok("SELECT id FROM t"), "2\n6\n7\n");
}

/// A document that is no number is one in a SELECT, with a warning, and no value for a change in
/// strict mode.
#[test]
fn documents_that_are_no_numbers_change_nothing() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (id INT PRIMARY KEY, j JSON)");
    session.ok("INSERT INTO t VALUES (1, '[1]'), (2, '1e100')");
    assert_eq!(session.ok("SELECT j + 1 FROM t WHERE id = 1"), "1\n");
    assert!(session.run("UPDATE t SET id = j + 5 WHERE id = 1").contains("ERROR 3156"));
    assert!(session.run("DELETE FROM t WHERE j + 1 = 1").contains("ERROR 3156"));
    assert_eq!(session.ok("SELECT CAST(j AS DECIMAL(5, 2)) FROM t WHERE id = 2"), "999.99\n");
    assert_eq!(session.ok("SELECT COUNT(*) FROM t"), "2\n");
}
