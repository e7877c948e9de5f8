//! Updates that overwrite columns in place, and those that cannot.

use super::TestDb;

#[test]
fn columns_of_fixed_size_are_overwritten_in_the_row() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("CREATE TABLE t (id INT PRIMARY KEY, a INT, s VARCHAR(9), b BIGINT NOT NULL, d DATE, \
          x DECIMAL(6,2), KEY (a), KEY (b, a))");
    s.ok("INSERT INTO t VALUES (1, 10, 'one', 100, '2024-01-01', 1.5), (2, NULL, NULL, 0, \
         NULL, NULL)");
    let changed = "1 affected (Rows matched: 1  Changed: 1  Warnings: 0)";
    s.check(&[
        ("UPDATE t SET a = NULL, x = -2.25 WHERE id = 1", changed),
        ("SELECT * FROM t WHERE id = 1", "1|NULL|one|100|2024-01-01|-2.25"),
        ("UPDATE t SET a = 5, d = '2025-12-31' WHERE id = 2", changed),
        ("SELECT * FROM t WHERE a = 5", "2|5|NULL|0|2025-12-31|NULL"),
        ("UPDATE t SET a = 6, s = 'two' WHERE id = 2", changed),
        ("SELECT * FROM t WHERE a = 6", "2|6|two|0|2025-12-31|NULL"),
        ("UPDATE t SET b = b + 1 WHERE id = 2", changed),
        ("SELECT id FROM t FORCE INDEX (b) WHERE b = 1 AND a = 6", "2"),
        ("UPDATE t SET id = 3 WHERE id = 2", changed),
        ("SELECT * FROM t WHERE id = 3", "3|6|two|1|2025-12-31|NULL"),
        (
            "UPDATE t SET a = 6 WHERE id = 3",
            "0 affected (Rows matched: 1  Changed: 0  Warnings: 0)",
        ),
    ]);
}
