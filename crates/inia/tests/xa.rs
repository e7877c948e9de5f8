//! Prepared branches of the real program: they outlive SIGKILL, shutdowns and the sessions that
//! prepared them, with their changes, their row locks and what keeps their tables as they are.

use crate::process::{DataDir, Process, run};
use inia_base::value::Value;
use inia_wire::client::Client;
use std::net::TcpStream;

const LOCK_NOT_AVAILABLE: u16 = 3572;
const LOCK_WAIT_TIMEOUT: u16 = 1205;
const DUPLICATE_XID: u16 = 1440;

fn all(client: &mut Client<TcpStream>, statements: &[&str]) {
    for sql in statements {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn rows(client: &mut Client<TcpStream>, sql: &str) -> Vec<String> {
    let cell = |value: &Value| match value {
        Value::Text(text) => text.to_string(),
        Value::Null => "NULL".to_owned(),
        other => format!("{other:?}"),
    };
    let rows = client.rows(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("|")).collect()
}

fn code(client: &mut Client<TcpStream>, sql: &str) -> Option<u16> {
    client.query(sql).err().and_then(|error| error.code())
}

/// Three branches: `keep` and `drop` are prepared, `open` is not.
fn prepare(server: &Process) {
    let mut client = server.client();
    all(
        &mut client,
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT, KEY (v))",
            "CREATE TABLE parent (id INT PRIMARY KEY)",
            "CREATE TABLE child (id INT PRIMARY KEY, p INT, \
             FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE)",
            "INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, 40)",
            "INSERT INTO parent VALUES (1), (2)",
            "INSERT INTO child VALUES (1, 1), (2, 2)",
            "XA START 'keep', 'b', 7",
            "UPDATE t SET v = 11 WHERE id = 1",
            "DELETE FROM t WHERE id = 2",
            "INSERT INTO t VALUES (NULL, 50)",
            "DELETE FROM parent WHERE id = 1",
            "XA END 'keep', 'b', 7",
            "XA PREPARE 'keep', 'b', 7",
            "XA START 'drop'",
            "UPDATE t SET v = 33 WHERE id = 3",
            "INSERT INTO t VALUES (100, 100)",
            "XA END 'drop'",
            "XA PREPARE 'drop'",
        ],
    );
    let mut other = server.client();
    all(&mut other, &["USE d", "XA START 'open'", "UPDATE t SET v = 44 WHERE id = 4"]);
    all(&mut other, &["XA END 'open'"]);
    // Their sessions are there until the server is gone.
    std::mem::forget((client, other));
}

fn check_prepared(server: &Process) {
    let mut client = server.client();
    all(&mut client, &["USE d", "SET lock_wait_timeout = 1"]);
    assert_eq!(rows(&mut client, "XA RECOVER"), ["1|4|0|drop", "7|4|1|keepb"]);
    assert_eq!(code(&mut client, "XA START 'drop'"), Some(DUPLICATE_XID));
    let before = ["1|10", "2|20", "3|30", "4|40"];
    assert_eq!(rows(&mut client, "SELECT * FROM t ORDER BY id"), before);
    assert_eq!(rows(&mut client, "SELECT COUNT(*) FROM child"), ["2"]);
    for id in [1, 2, 3, 100] {
        let sql = format!("SELECT * FROM t WHERE id = {id} FOR SHARE NOWAIT");
        assert_eq!(code(&mut client, &sql), Some(LOCK_NOT_AVAILABLE), "row {id}");
    }
    let child = "SELECT * FROM child WHERE id = 1 FOR UPDATE NOWAIT";
    assert_eq!(code(&mut client, child), Some(LOCK_NOT_AVAILABLE));
    // The branch that was not prepared is gone.
    all(&mut client, &["SELECT * FROM t WHERE id = 4 FOR UPDATE"]);
    for ddl in ["DROP TABLE t", "ALTER TABLE child ADD c INT", "TRUNCATE TABLE parent"] {
        let code = code(&mut client, ddl);
        assert!(code == Some(LOCK_WAIT_TIMEOUT) || code == Some(1701), "{ddl}: {code:?}");
    }
}

fn check_program(data: &DataDir) {
    let path = data.path().display().to_string();
    let (code, text) = run(&["check", &path]);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn prepared_branches_outlive_kills_and_shutdowns() {
    let data = DataDir::new();
    let server = Process::start(&data.path(), &[]);
    prepare(&server);
    server.kill();
    for round in 0..3 {
        let server = Process::start(&data.path(), &[]);
        check_prepared(&server);
        match round {
            1 => {
                server.client().query("SHUTDOWN").unwrap();
                assert_eq!(server.wait(), Some(0));
                check_program(&data);
            }
            _ => server.kill(),
        }
    }
    let server = Process::start(&data.path(), &[]);
    check_prepared(&server);
    let mut client = server.client();
    all(&mut client, &["USE d", "XA COMMIT 'keep', 'b', 7", "XA ROLLBACK 'drop'"]);
    server.kill();
    let server = Process::start(&data.path(), &[]);
    let mut client = server.client();
    all(&mut client, &["USE d"]);
    assert!(rows(&mut client, "XA RECOVER").is_empty());
    let after = ["1|11", "3|30", "4|40", "5|50"];
    assert_eq!(rows(&mut client, "SELECT * FROM t ORDER BY id"), after);
    assert_eq!(
        rows(&mut client, "SELECT v FROM t FORCE INDEX (v) ORDER BY v"),
        ["11", "30", "40", "50"]
    );
    assert_eq!(rows(&mut client, "SELECT * FROM child"), ["2|2"]);
    all(&mut client, &["INSERT INTO t VALUES (NULL, 60)", "TRUNCATE TABLE t", "DROP TABLE child"]);
    client.query("SHUTDOWN").unwrap();
    assert_eq!(server.wait(), Some(0));
    check_program(&data);
}

/// Many clients prepare branches while the server is killed: each acknowledged one is there.
#[test]
fn acknowledged_prepares_survive_a_kill_among_others() {
    const CLIENTS: usize = 6;
    const WANTED: usize = 60;
    let data = DataDir::new();
    let server = Process::start(&data.path(), &[]);
    let mut client = server.client();
    all(&mut client, &["CREATE DATABASE d", "USE d", "CREATE TABLE t (b INT, n INT, KEY (b))"]);
    let acknowledged = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for id in 0..CLIENTS {
            let (acknowledged, mut client) = (&acknowledged, server.client());
            scope.spawn(move || {
                client.query("USE d").unwrap();
                for n in (id..).step_by(CLIENTS) {
                    let work = [
                        format!("XA START 'b{n}'"),
                        format!("INSERT INTO t VALUES ({n}, 1), ({n}, 2)"),
                        format!("XA END 'b{n}'"),
                        format!("XA PREPARE 'b{n}'"),
                    ];
                    if work.iter().any(|sql| client.query(sql).is_err()) {
                        return;
                    }
                    acknowledged.lock().unwrap().push(n);
                }
            });
        }
        while acknowledged.lock().unwrap().len() < WANTED {
            std::thread::yield_now();
        }
        server.kill();
    });
    let server = Process::start(&data.path(), &[]);
    let mut client = server.client();
    client.query("USE d").unwrap();
    let found = rows(&mut client, "XA RECOVER");
    assert_eq!(rows(&mut client, "SELECT COUNT(*) FROM t"), ["0"]);
    let acknowledged = acknowledged.into_inner().unwrap();
    for n in &acknowledged {
        let name = format!("b{n}");
        let row = format!("1|{}|0|{name}", name.len());
        assert!(found.contains(&row), "{name} was acknowledged");
    }
    // At most one more of each client.
    assert!(found.len() <= acknowledged.len() + CLIENTS, "{} found", found.len());
    let mut committed = 0;
    for (at, row) in found.iter().enumerate() {
        let name = row.rsplit('|').next().unwrap();
        let verb = if at % 2 == 0 { "COMMIT" } else { "ROLLBACK" };
        client.query(&format!("XA {verb} '{name}'")).unwrap();
        committed += usize::from(at % 2 == 0);
    }
    assert_eq!(rows(&mut client, "SELECT COUNT(*) FROM t"), [(2 * committed).to_string()]);
    assert_eq!(
        rows(&mut client, "SELECT COUNT(*) FROM t GROUP BY b HAVING COUNT(*) <> 2").len(),
        0
    );
}
