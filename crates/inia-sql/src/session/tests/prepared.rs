//! Prepared statements, by the protocol and by SQL.

use super::{TestDb, TextSink};
use inia_base::temporal::{Date, Time};
use inia_base::value::Value;

#[test]
fn the_benchmarks_statements() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("CREATE TABLE sbtest1(\n  id INTEGER NOT NULL AUTO_INCREMENT,\n  \
          k INTEGER DEFAULT '0' NOT NULL,\n  c CHAR(120) DEFAULT '' NOT NULL,\n  \
          pad CHAR(60) DEFAULT '' NOT NULL,\n  PRIMARY KEY (id)\n) \
          /*! ENGINE = innodb */ ");
    s.ok("INSERT INTO sbtest1(k, c, pad) VALUES(26, 'c1', 'p1'),(26, 'c3', 'p2'),(24, \
         'c2', 'p3'),(25, 'c2', 'p4')");
    s.ok("CREATE INDEX k_1 ON sbtest1(k)");
    let int = Value::Int;
    let text = |text: &str| Value::Text(text.into());
    let point = s.prepare("SELECT c FROM sbtest1 WHERE id=?");
    assert_eq!(s.execute(point, &[int(2)]), "c3");
    assert_eq!(s.execute(point, &[int(99)]), "");
    let range = s.prepare("SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?");
    assert_eq!(s.execute(range, &[int(2), int(4)]), "c3\nc2\nc2");
    let sum = s.prepare("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?");
    assert_eq!(s.execute(sum, &[int(1), int(3)]), "76");
    let ordered = s.prepare("SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c");
    assert_eq!(s.execute(ordered, &[int(1), int(4)]), "c1\nc2\nc2\nc3");
    let distinct = s.prepare("SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c");
    assert_eq!(s.execute(distinct, &[int(1), int(4)]), "c1\nc2\nc3");
    let index = s.prepare("UPDATE sbtest1 SET k=k+1 WHERE id=?");
    let changed = "1 affected (Rows matched: 1  Changed: 1  Warnings: 0)";
    assert_eq!(s.execute(index, &[int(1)]), changed);
    let other = s.prepare("UPDATE sbtest1 SET c=? WHERE id=?");
    assert_eq!(s.execute(other, &[text("new"), int(1)]), changed);
    let delete = s.prepare("DELETE FROM sbtest1 WHERE id=?");
    assert_eq!(s.execute(delete, &[int(3)]), "1 affected");
    let insert = s.prepare("INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)");
    assert_eq!(s.execute(insert, &[int(3), int(7), text("c9"), text("p9")]), "1 affected");
    let points = s.prepare("SELECT id, k, c, pad FROM sbtest1 WHERE k IN (?, ?, ?) ORDER BY k");
    assert_eq!(s.execute(points, &[int(27), int(7), int(1)]), "3|7|c9|p9\n1|27|new|p1");
    let ranges =
        s.prepare("SELECT count(k) FROM sbtest1 WHERE k BETWEEN ? AND ? OR k BETWEEN ? AND ?");
    assert_eq!(s.execute(ranges, &[int(1), int(10), int(25), int(26)]), "3");
}

#[test]
fn a_kept_plan_does_not_leave_out_the_locks_of_serializable() {
    let db = TestDb::new();
    let (mut reader, mut writer) = (db.session(), db.session());
    reader.ok("create table t (id int primary key)");
    reader.ok("insert into t values (1)");
    let all = reader.prepare("select * from t");
    assert_eq!(reader.execute(all, &[]), "1");
    reader.ok("set transaction isolation level serializable");
    reader.ok("begin");
    assert_eq!(reader.execute(all, &[]), "1");
    let refused = writer.run("select * from t where id = 1 for update nowait");
    assert!(refused.starts_with("ERROR 3572"), "{refused}");
    reader.ok("commit");
    assert_eq!(reader.execute(all, &[]), "1");
    assert_eq!(writer.run("select * from t where id = 1 for update nowait").trim_end(), "1");
}

/// A kept plan checks each value, and the plan that texts of one digest share does.
#[test]
fn texts_beyond_a_columns_character_set_are_refused() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (id int primary key, l varchar(9) character set latin1, key (l))");
    s.ok("insert into t values (1, 'a'), (2, '?')");
    let text = |text: &str| Value::Text(text.into());
    let find = s.prepare("select id from t where l = ?");
    assert_eq!(s.execute(find, &[text("a")]), "1");
    assert!(s.execute(find, &[text("م")]).starts_with("ERROR 3988"));
    assert_eq!(s.execute(find, &[text("a")]), "1");
    let change = s.prepare("update t set id = id + 10 where l = ?");
    assert!(s.execute(change, &[text("م")]).starts_with("ERROR 3988"));
    for _ in 0..3 {
        s.ok("delete from t where l = 'x'");
    }
    assert!(s.run("delete from t where l = 'م'").starts_with("ERROR 1267"));
    assert_eq!(s.run("select id from t order by id").trim_end(), "1\n2");
}

#[test]
fn plans_follow_ddl() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (a int)");
    s.ok("insert into t values (1)");
    let all = s.prepare("select * from t");
    assert_eq!(s.execute(all, &[]), "1");
    s.ok("alter table t add column b int default 7 first");
    assert_eq!(s.execute(all, &[]), "7|1");
    s.ok("drop table t");
    assert_eq!(s.execute(all, &[]), "ERROR 1146: Table 'test.t' doesn't exist");
}

#[test]
fn prepare_and_execute_as_statements() {
    let db = TestDb::new();
    let mut s = db.session();
    s.check(&[
        ("prepare p from 'select ? + 1'", "0 affected (Statement prepared)"),
        ("set @a = 41", "0 affected"),
        ("execute p using @a", "42"),
        ("execute q", "ERROR 1243: Unknown prepared statement handler (q) given to EXECUTE"),
        ("deallocate prepare p", "0 affected"),
        (
            "execute p using @a",
            "ERROR 1243: Unknown prepared statement handler (p) given to EXECUTE",
        ),
    ]);
}

/// A statement's only column follows what its parameter is bound to, from one execution to the
/// next: MySQL's lengths and decimals of `SELECT ?`.
#[test]
fn a_parameter_has_the_type_of_what_it_is_bound_to() {
    let db = TestDb::new();
    let mut s = db.session();
    let id = s.prepare("SELECT ?");
    let date = Date { year: 2020, month: 1, day: 2 };
    let cases = [
        (Value::Text("abc".into()), "VarChar", 65_532, 31, "abc"),
        (Value::Int(-5), "Int", 21, 0, "-5"),
        (Value::UInt(u64::MAX), "Int", 21, 0, "18446744073709551615"),
        (Value::Decimal("12.340".parse().unwrap()), "Decimal", 67, 30, "12.340"),
        (Value::Double(1.5), "Double", 23, 31, "1.5"),
        (Value::Date(date), "Date", 10, 0, "2020-01-02"),
        (Value::Time(Time { micros: 1 }), "Time", 17, 6, "00:00:00.000001"),
        (Value::Bytes(vec![b'x', 0]), "VarBinary", 65_535, 31, "x\0"),
        (Value::Null, "VarBinary", 65_535, 31, "NULL"),
        (Value::Int(7), "Int", 21, 0, "7"),
        (Value::Null, "Int", 21, 0, "NULL"),
    ];
    for (value, kind, length, decimals, text) in cases {
        let mut sink = TextSink::default();
        s.0.execute_prepared(id, std::slice::from_ref(&value), &mut sink).unwrap();
        let column = &sink.columns[0];
        let shown = format!("{:?}", column.data_type);
        assert!(shown.starts_with(kind), "{value:?}: {shown}");
        assert_eq!((column.length, column.decimals), (length, decimals), "{value:?}");
        assert_eq!(sink.text.trim_end(), text, "{value:?}");
    }
}
