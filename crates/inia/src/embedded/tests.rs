//! The library as a program uses it, in memory and in directories.

use super::*;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that does not exist yet, and is removed at the end.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        Place(std::env::temp_dir().join(format!("inia-embedded-{}-{n}", std::process::id())))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn small() -> Options {
    Options::new().buffer_pool_size(8 << 20)
}

/// A connection to an empty schema in memory.
fn connection() -> Connection {
    let connection = small().in_memory().unwrap().connect().unwrap();
    connection.execute_batch("CREATE DATABASE shop; USE shop").unwrap();
    connection
}

#[test]
fn every_type_becomes_its_rust_type() {
    let c = connection();
    c.execute(
        "CREATE TABLE t (i INT, u BIGINT UNSIGNED, f FLOAT, d DOUBLE, n DECIMAL(10,3), s TEXT, \
         b VARBINARY(9), bit BIT(9), day DATE, time TIME(2), at DATETIME(3), y YEAR, j JSON, \
         e ENUM('x','y'))",
        (),
    )
    .unwrap();
    let values: [&dyn ToValue; 14] = [
        &-5,
        &u64::MAX,
        &1.5f32,
        &0.1,
        &"12.340",
        &"é",
        &[0u8, 255],
        &257,
        &Date::new(2024, 2, 29),
        &"-01:02:03.45",
        &"2024-02-29 01:02:03.456",
        &1999,
        &r#"{"a": [1, 2]}"#,
        &"y",
    ];
    let marks = vec!["?"; values.len()].join(",");
    c.execute(&format!("INSERT INTO t VALUES ({marks})"), &values[..]).unwrap();
    c.execute(&format!("INSERT INTO t VALUES ({marks})"), vec![None::<i64>; 14]).unwrap();

    let numbers: Vec<(Option<i32>, Option<u64>, Option<f32>, Option<f64>, Option<Decimal>)> =
        c.query("SELECT i, u, f, d, n FROM t", ()).unwrap();
    let decimal: Decimal = "12.340".parse().unwrap();
    assert_eq!(numbers[0], (Some(-5), Some(u64::MAX), Some(1.5), Some(0.1), Some(decimal)));
    assert_eq!(numbers[1], (None, None, None, None, None));

    let texts: (String, Vec<u8>, u16, String, String) =
        c.query_one("SELECT s, b, bit, n, e FROM t WHERE i = ?", (-5,)).unwrap();
    assert_eq!(texts, ("é".into(), vec![0, 255], 257, "12.340".into(), "y".into()));

    let times: (Date, String, String, DateTime, String, i16, String) =
        c.query_one("SELECT day, day, time, at, at, y, j FROM t WHERE i = -5", ()).unwrap();
    let (day, day_text, time, at, at_text, year, json) = times;
    assert_eq!((day.year, day.month, day.day), (2024, 2, 29));
    assert_eq!((day_text.as_str(), time.as_str(), year), ("2024-02-29", "-01:02:03.45", 1999));
    assert_eq!((at.micros, at_text.as_str()), (456_000, "2024-02-29 01:02:03.456"));
    assert_eq!(json, r#"{"a": [1, 2]}"#);

    let row: Vec<Value> = c.query_one("SELECT i, n, time, j FROM t", ()).unwrap();
    assert_eq!(row[0], Value::Int(-5));
    assert_eq!(row[1], Value::Decimal(decimal));
    assert_eq!(row[3], Value::Json(r#"{"a": [1, 2]}"#.into()));
    let sums: (i64, f64) = c.query_one("SELECT SUM(i), AVG(d) FROM t", ()).unwrap();
    assert_eq!(sums, (-5, 0.1));
}

#[test]
fn a_cell_that_does_not_fit_is_an_error_that_names_its_column() {
    let c = connection();
    let cases: [(&str, fn(&Connection, &str) -> String, &str); 6] = [
        ("NULL AS a", refusal::<i64>, "column 0 ('a'): it is NULL; use Option<i64>"),
        ("300 AS a", refusal::<u8>, "column 0 ('a'): 300 does not fit u8"),
        ("-1", refusal::<u64>, "column 0 ('-1'): -1 does not fit u64"),
        ("1.5", refusal::<i64>, "column 0 ('1.5'): 1.5 does not fit i64"),
        ("'x'", refusal::<i64>, "column 0 ('x'): a text does not fit i64"),
        ("1, 2", refusal::<i64>, "the row has 2 columns, 1 were asked for"),
    ];
    for (what, refuse, expected) in cases {
        assert_eq!(refuse(&c, &format!("SELECT {what}")), expected);
    }
    let missing = c.for_each("SELECT 1 AS a", (), |row| row.get::<i64>("b").map(drop));
    assert_eq!(missing.unwrap_err().message(), "the row has no column 'b'");
    assert_eq!(c.query_one::<i64>("SELECT 1", ()).unwrap(), 1, "the connection goes on");
}

fn refusal<T: FromValue>(c: &Connection, sql: &str) -> String {
    match c.query_one::<T>(sql, ()) {
        Ok(_) => String::from("a value"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Conversion);
            error.message().to_owned()
        }
    }
}

#[test]
fn errors_are_mysqls() {
    let c = connection();
    c.execute("CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(2))", ()).unwrap();
    c.execute("INSERT INTO t VALUES (?, ?)", (1, "a")).unwrap();
    let error = c.execute("INSERT INTO t VALUES (?, ?)", (1, "b")).unwrap_err();
    assert_eq!((error.code(), error.sqlstate()), (1062, "23000"));
    assert!(error.is_duplicate_key() && !error.is_retryable());
    assert_eq!(error.to_string(), "ERROR 1062 (23000): Duplicate entry '1' for key 't.PRIMARY'");
    assert_eq!(c.execute("SELEC 1", ()).unwrap_err().code(), 1064);
    assert_eq!(c.execute("SELECT ?", ()).unwrap_err().code(), 1064);
    assert_eq!(c.execute("SELECT ?", (1, 2)).unwrap_err().code(), 1210);
    assert_eq!(c.query::<i64>("SELECT x FROM gone", ()).unwrap_err().code(), 1146);
    let none = c.query_one::<i64>("SELECT id FROM t WHERE id = ?", (7,)).unwrap_err();
    assert_eq!((none.kind(), none.code()), (ErrorKind::NoRow, 0));
    assert_eq!(c.query_optional::<i64>("SELECT id FROM t WHERE id = ?", (7,)).unwrap(), None);
}

#[test]
fn what_a_statement_did_can_be_asked() {
    let c = connection();
    c.execute("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n TINYINT)", ()).unwrap();
    let done = c.execute("INSERT INTO t (n) VALUES (?), (?)", (1, 2)).unwrap();
    assert_eq!((done.affected_rows, done.last_insert_id), (2, 1));
    assert_eq!(done.info, "Records: 2  Duplicates: 0  Warnings: 0");
    assert_eq!((c.affected_rows(), c.last_insert_id()), (2, 1));
    let done = c.execute("UPDATE t SET n = 2", ()).unwrap();
    assert_eq!(done.affected_rows, 1);
    let done = c.execute("INSERT IGNORE INTO t (n) VALUES (1000)", ()).unwrap();
    assert_eq!(done.warnings, 1);
    let warnings = c.warnings();
    assert_eq!((warnings[0].level, warnings[0].code), ("Warning", 1264));
    assert_eq!(warnings[0].message, "Out of range value for column 'n' at row 1");
    let sums = c.prepare("SELECT SUM(n) FROM t WHERE id <= ?").unwrap();
    assert_eq!(sums.param_count(), 1);
    assert_eq!(sums.query_one::<Option<i64>>((2,)).unwrap(), Some(4));
    assert_eq!(sums.query::<Option<i64>>([0]).unwrap(), [None]);
}

#[test]
fn rows_are_taken_one_by_one_and_a_statement_can_be_left() {
    let c = connection();
    let numbers = "WITH RECURSIVE n AS (SELECT 1 a UNION ALL SELECT a + 1 FROM n WHERE a < ?) \
                   SELECT a FROM n";
    c.execute("SET cte_max_recursion_depth = 100000", ()).unwrap();
    let mut sum = 0;
    c.for_each(numbers, (1000,), |row| {
        sum += row.get::<i64>("a")?;
        Ok(())
    })
    .unwrap();
    assert_eq!(sum, 500_500);
    let mut seen = 0;
    c.try_for_each(numbers, (100_000,), |_| {
        seen += 1;
        Ok(if seen == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })
    .unwrap();
    assert_eq!(seen, 10);
    let own = c.for_each(numbers, (10,), |_| Err(Error::conversion("enough")));
    assert_eq!(own.unwrap_err().message(), "enough");
    let inner = c.for_each("SELECT 1", (), |_| c.execute("SELECT 2", ()).map(drop));
    assert_eq!(inner.unwrap_err().kind(), ErrorKind::Connection);
    assert_eq!(c.query_one::<i64>("SELECT 3", ()).unwrap(), 3);
}

#[test]
fn transactions_commit_and_roll_back() {
    let c = connection();
    c.execute("CREATE TABLE t (id INT PRIMARY KEY)", ()).unwrap();
    let count = || c.query_one::<i64>("SELECT COUNT(*) FROM t", ()).unwrap();
    let added: Result<u64> =
        c.transaction(|t| Ok(t.execute("INSERT INTO t VALUES (1)", ())?.affected_rows));
    assert_eq!((added.unwrap(), count()), (1, 1));
    let failed: Result<(), Box<dyn std::error::Error>> = c.transaction(|t| {
        t.execute("INSERT INTO t VALUES (2)", ())?;
        Err("no".into())
    });
    assert_eq!((failed.unwrap_err().to_string().as_str(), count()), ("no", 1));
    let guard = c.begin().unwrap();
    assert!(guard.in_transaction());
    assert!(c.begin().is_err(), "transactions do not nest");
    guard.execute("INSERT INTO t VALUES (3)", ()).unwrap();
    drop(guard);
    assert!(!c.in_transaction());
    assert_eq!(count(), 1);
    let read = c.begin_read_only().unwrap();
    assert_eq!(read.execute("DELETE FROM t", ()).unwrap_err().code(), 1792);
    read.rollback().unwrap();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        c.transaction(|t| -> Result<()> {
            t.execute("DELETE FROM t", ())?;
            panic!("a closure may")
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(count(), 1);
}

#[test]
fn kept_statements_follow_the_database_and_the_mode() {
    let c = connection();
    c.execute_batch("CREATE DATABASE other; CREATE TABLE t (n INT); CREATE TABLE other.t (n INT)")
        .unwrap();
    c.execute("INSERT INTO t VALUES (?)", (1,)).unwrap();
    c.use_database("other").unwrap();
    c.execute("INSERT INTO t VALUES (?)", (2,)).unwrap();
    assert_eq!(c.query_one::<i64>("SELECT n FROM t WHERE n > ?", (0,)).unwrap(), 2);
    c.execute("USE shop", ()).unwrap();
    assert_eq!(c.query_one::<i64>("SELECT n FROM t WHERE n > ?", (0,)).unwrap(), 1);
    let quoted = "SELECT \"n\" FROM t WHERE n = ?";
    assert_eq!(c.query_one::<String>(quoted, (1,)).unwrap(), "n");
    c.execute("SET sql_mode = 'ANSI_QUOTES'", ()).unwrap();
    assert_eq!(c.query_one::<i64>(quoted, (1,)).unwrap(), 1);
    for n in 0..100 {
        let sql = format!("SELECT {n} + ?");
        assert_eq!(c.query_one::<i64>(&sql, (1,)).unwrap(), n + 1);
    }
    let held: i64 = c
        .query_one(
            "SELECT VARIABLE_VALUE + 0 FROM performance_schema.global_status \
             WHERE VARIABLE_NAME = 'Prepared_stmt_count'",
            (),
        )
        .unwrap_or(32);
    assert!(held <= 32, "{held} statements stay prepared");
    c.execute("ALTER TABLE t ADD COLUMN m INT DEFAULT 5", ()).unwrap();
    assert_eq!(c.query_one::<(i64, i64)>("SELECT * FROM t WHERE n = ?", (1,)).unwrap(), (1, 5));
}

#[test]
fn a_directory_keeps_its_rows_and_belongs_to_one_process() {
    let place = Place::new();
    assert!(small().must_exist().open(&place.0).unwrap_err().message().contains("no database"));
    let database = small().open(&place.0).unwrap();
    assert_eq!(database.path(), Some(place.0.as_path()));
    let c = database.connect().unwrap();
    c.execute_batch("CREATE DATABASE a; USE a; CREATE TABLE t (n INT); INSERT INTO t VALUES (7)")
        .unwrap();
    let taken = Database::open(&place.0).err().unwrap();
    assert_eq!(taken.kind(), ErrorKind::Database);
    let owner = format!("in use by another Inia server (process {})", std::process::id());
    assert!(taken.message().contains(&owner), "{taken}");
    assert!(database.clone().close().is_err(), "a connection is open");
    drop(c);
    database.close().unwrap();
    let again = small().must_exist().open(&place.0).unwrap();
    let c = again.connect_to("a").unwrap();
    assert_eq!(c.current_database().as_deref(), Some("a"));
    drop(again);
    assert_eq!(c.query_one::<i64>("SELECT n FROM t", ()).unwrap(), 7, "it closes with the last");
    assert_eq!(small().work_memory(1).open(&place.0).unwrap_err().kind(), ErrorKind::Database);
}

#[test]
fn threads_have_connections_of_their_own() {
    let database = small().in_memory().unwrap();
    let c = database.connect().unwrap();
    c.execute_batch("CREATE DATABASE a; USE a; CREATE TABLE t (id INT PRIMARY KEY, n INT)")
        .unwrap();
    c.execute("INSERT INTO t VALUES (1, 0)", ()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let own = database.connect_to("a").unwrap();
            scope.spawn(move || {
                for _ in 0..50 {
                    own.execute("UPDATE t SET n = n + ? WHERE id = ?", (1, 1)).unwrap();
                }
            });
        }
    });
    assert_eq!(c.query_one::<i64>("SELECT n FROM t", ()).unwrap(), 200);
}

#[test]
fn a_statement_is_ended_from_another_thread() {
    let database = small().in_memory().unwrap();
    let c = database.connect().unwrap();
    let other = database.connect().unwrap();
    let id = u64::from(c.id());
    let sleeper = std::thread::spawn(move || {
        let error = c.query::<i64>("SELECT COUNT(*) FROM t", ()).err();
        assert_eq!(error.unwrap().code(), 1046);
        c.query_one::<i64>("SELECT SLEEP(1000)", ()).unwrap()
    });
    let mut shown = Vec::new();
    while shown.is_empty() {
        shown = other
            .query::<(u64, String)>(
                "SELECT id, info FROM information_schema.processlist \
                 WHERE info LIKE 'SELECT SLEEP%' AND id = ?",
                (id,),
            )
            .unwrap();
        std::thread::yield_now();
    }
    other.execute(&format!("KILL QUERY {id}"), ()).unwrap();
    assert_eq!(sleeper.join().unwrap(), 1);
    let missing = other.execute("KILL 77", ()).unwrap_err();
    assert_eq!(missing.code(), 1094);
}

#[cfg(feature = "server")]
#[test]
fn clients_reach_the_database_of_a_program() {
    use inia_wire::client::{Client, LoginOptions};
    let database = small().in_memory().unwrap();
    let c = database.connect().unwrap();
    c.execute_batch("CREATE DATABASE a; CREATE TABLE a.t (n INT); INSERT INTO a.t VALUES (7)")
        .unwrap();
    for _ in 0..2 {
        let server = database.serve("127.0.0.1:0").unwrap();
        assert!(database.serve("127.0.0.1:0").is_err(), "one server at a time");
        let stream = std::net::TcpStream::connect(server.address()).unwrap();
        let mut client = Client::connect(stream, &LoginOptions::default()).unwrap();
        let rows = client.query("SELECT n FROM a.t").unwrap();
        assert_eq!(rows[0].rows[0][0], Value::Text("7".into()));
        client.query("UPDATE a.t SET n = n").unwrap();
        // The scheduler of events is listed, too.
        let clients = "SELECT COUNT(*) FROM information_schema.processlist \
                       WHERE command <> 'Daemon'";
        assert_eq!(c.query_one::<i64>(clients, ()).unwrap(), 2);
        server.stop().unwrap();
        assert!(client.query("SELECT 1").is_err());
    }
    for wrong in ["localhost", ":0", "127.0.0.1:x"] {
        assert!(database.serve(wrong).is_err(), "{wrong}");
    }
    let open = database.serve("0.0.0.0:0").err().unwrap();
    assert!(open.message().contains("root has no password"), "{open}");
    assert_eq!(c.query_one::<i64>("SELECT n FROM a.t", ()).unwrap(), 7);
}

/// A result with columns, and the rows that are left in it.
fn rest(results: &mut Results) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    while let Some(row) = results.next_row().unwrap() {
        rows.push(row.decode().unwrap());
    }
    rows
}

#[test]
fn results_are_pulled_one_after_another() {
    let c = SharedConnection::new(connection());
    for fetch in [Fetch::Held, Fetch::Streamed] {
        let text = "SELECT 1 AS a; DO 1; SELECT 'b', NULL UNION ALL SELECT 'c', 2; SELECT 9";
        let mut results = c.run(text, (), fetch).unwrap();
        assert_eq!(results.columns()[0].name(), "a");
        assert!(results.outcome().is_none());
        assert_eq!(rest(&mut results), [[Value::Int(1)]]);
        assert!(results.outcome().is_some() && results.next_row().unwrap().is_none());
        assert!(results.next_result().unwrap() && !results.has_columns());
        assert!(results.next_result().unwrap() && results.has_columns());
        assert_eq!(results.next_row().unwrap().unwrap().get::<String>(0).unwrap(), "b");
        assert_eq!(results.row().unwrap().len(), 2);
        let left = results.next_rows().unwrap().unwrap();
        assert_eq!((left.len(), left.get(0).unwrap().get::<i64>(1).unwrap()), (1, 2));
        assert!(results.next_rows().unwrap().is_none());
        assert!(results.next_result().unwrap(), "rows that are left are dropped");
        assert!(!results.next_result().unwrap() && !results.next_result().unwrap());
        c.run("DO 1", (), Fetch::Held).unwrap();
    }
}

#[test]
fn an_error_comes_where_its_statement_stands() {
    let c = SharedConnection::new(connection());
    for fetch in [Fetch::Held, Fetch::Streamed] {
        assert_eq!(c.run("SELEC", (), fetch).unwrap_err().code(), 1064);
        assert_eq!(c.run("SELECT * FROM gone; SELECT 1", (), fetch).unwrap_err().code(), 1146);
        let mut results = c.run("SELECT 1; SELECT * FROM gone; SELECT 2", (), fetch).unwrap();
        assert_eq!(rest(&mut results).len(), 1);
        assert_eq!(results.next_result().unwrap_err().code(), 1146);
        assert!(!results.next_result().unwrap());
        c.query("DO 1").unwrap();
    }
}

#[test]
fn several_statements_in_a_text_can_be_forbidden() {
    let c = SharedConnection::new(connection());
    c.query("SELECT 1; SELECT 2").unwrap();
    c.with(|connection| connection.allow_several_statements(false)).unwrap();
    assert_eq!(c.query("SELECT 1; SELECT 2").unwrap_err().code(), 1064);
    c.query("SELECT ';';").unwrap();
}

#[test]
fn a_stream_holds_the_connection_until_its_end() {
    let c = SharedConnection::new(connection());
    c.query("CREATE TABLE t (n INT PRIMARY KEY, pad TEXT)").unwrap();
    let insert = c.prepare("INSERT INTO t VALUES (?, REPEAT('x', 5000))").unwrap();
    assert_eq!(insert.param_count(), 1);
    (0..300).for_each(|n| drop(insert.run(&[Value::Int(n)], Fetch::Held).unwrap()));
    let select = c.prepare("SELECT n, pad FROM t WHERE n >= ? ORDER BY n").unwrap();
    let mut results = select.run(&[Value::Int(0)], Fetch::Streamed).unwrap();
    assert!(results.next_row().unwrap().is_some());
    for refused in [c.query("DO 1").map(drop), c.close(), c.reset(), c.prepare("DO 1").map(drop)] {
        let text = "Commands out of sync; you can't run this command now";
        assert_eq!(refused.unwrap_err().message(), text);
    }
    drop(insert);
    assert_eq!(rest(&mut results).len(), 299);
    c.query("DO 1").unwrap();

    let mut early = select.run(&[Value::Int(5)], Fetch::Streamed).unwrap();
    assert_eq!(early.next_row().unwrap().unwrap().get::<i64>(0).unwrap(), 5);
    drop(early);
    assert_eq!(c.with(|c| c.query_one::<i64>("SELECT COUNT(*) FROM t", ())).unwrap(), 300);
    c.close().unwrap();
    assert_eq!(c.query("DO 1").unwrap_err().message(), "the connection is closed");
    assert!(select.run(&[Value::Null], Fetch::Held).is_err());
}

#[test]
fn a_template_is_where_tests_begin() {
    let database = small().in_memory().unwrap();
    let connection = database.connect().unwrap();
    connection.execute_batch("CREATE DATABASE a; CREATE TABLE a.t (n INT)").unwrap();
    connection.execute("INSERT INTO a.t VALUES (?)", (1,)).unwrap();
    assert!(database.clone().into_template().is_err(), "it is in use");
    drop(connection);
    let template = database.into_template().unwrap();
    let first = template.open().unwrap().connect_to("a").unwrap();
    first.execute("INSERT INTO t VALUES (2)", ()).unwrap();
    let second = template.open().unwrap().connect_to("a").unwrap();
    second.execute("DELETE FROM t", ()).unwrap();
    let third = template.open().unwrap().connect_to("a").unwrap();
    let counts = [&first, &second, &third]
        .map(|it| it.query_one::<i64>("SELECT COUNT(*) FROM t", ()).unwrap());
    assert_eq!(counts, [2, 0, 1]);
    let place = Place::new();
    let error = small().open(&place.0).unwrap().into_template().unwrap_err();
    assert_eq!(error.message(), "only a database in memory can be a template");
}
