//! EXPLAIN FOR CONNECTION of what another connection runs.

use crate::process::{DataDir, Process};
use inia_base::value::Value;

/// The connection that runs a statement whose text begins so, once there is one.
fn running(server: &Process, text: &str) -> String {
    let sql = format!("SELECT id FROM information_schema.processlist WHERE info LIKE '{text}%'");
    let mut client = server.client();
    loop {
        if let Some(row) = client.rows(&sql).unwrap().first() {
            return match &row[0] {
                Value::Text(id) => id.to_string(),
                other => panic!("{other:?}"),
            };
        }
        std::thread::yield_now();
    }
}

#[test]
fn what_a_connection_runs_is_explained() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut client = server.client();
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (a INT PRIMARY KEY, b INT, KEY (b))",
        "INSERT INTO d.t VALUES (1, 3), (2, 4)",
        // What is explained waits for this lock.
        "SELECT GET_LOCK('held', 0)",
    ] {
        client.query(sql).unwrap();
    }
    let mut other = server.client();
    other.query("USE d").unwrap();
    let query = "SELECT a, GET_LOCK('held', 600), RELEASE_LOCK('held') FROM t WHERE b = 3";
    let runs = std::thread::spawn(move || other.query(query));
    let id = running(&server, "SELECT a, GET_LOCK");
    let lines = client.rows(&format!("EXPLAIN FOR CONNECTION {id}")).unwrap();
    assert_eq!(lines[0][2], Value::Text("t".into()));
    assert_eq!(lines[0][6], Value::Text("b".into()));
    let json = client.rows(&format!("EXPLAIN FORMAT=JSON FOR CONNECTION {id}")).unwrap();
    assert!(matches!(&json[0][0], Value::Text(text) if text.contains("\"table_name\": \"t\"")));
    assert!(client.rows("SHOW WARNINGS").unwrap().is_empty());
    let refused = client.query("EXPLAIN FOR CONNECTION 4000000000").unwrap_err();
    assert!(refused.to_string().contains("1094"), "{refused}");
    let mut other = server.client();
    let waits = std::thread::spawn(move || other.query("DO GET_LOCK('held', 600)"));
    let id = running(&server, "DO GET_LOCK");
    let refused = client.query(&format!("EXPLAIN FOR CONNECTION {id}")).unwrap_err();
    assert!(refused.to_string().contains("3012"), "{refused}");
    client.query("DO RELEASE_LOCK('held')").unwrap();
    runs.join().unwrap().unwrap();
    waits.join().unwrap().unwrap();
}
