//! KILL QUERY and KILL CONNECTION of everything that takes long, as MySQL 8.0.31 does it.
//!
//! KILL QUERY ends the statement and leaves the connection; SLEEP and BENCHMARK give their value
//! early. KILL CONNECTION closes the connection at once: the client gets no error.

use crate::process::{DataDir, Process};
use inia_base::value::Value;
use inia_wire::client::{Client, ClientError, LoginOptions};
use std::net::TcpStream;

/// A server with a few tables.
struct Server {
    process: Process,
    _folder: DataDir,
}

impl Server {
    fn start() -> Server {
        let folder = DataDir::new();
        let process = Process::start(&folder.path(), &[]);
        let mut client = process.client();
        for sql in [
            "CREATE DATABASE d",
            "CREATE TABLE d.two (a INT PRIMARY KEY, b INT)",
            "INSERT INTO d.two VALUES (1, 1), (2, 2)",
            "CREATE TABLE d.many (a INT PRIMARY KEY, b VARCHAR(20))",
            "SET cte_max_recursion_depth = 5000",
            "INSERT INTO d.many WITH RECURSIVE n AS (SELECT 1 a UNION ALL SELECT a + 1 FROM n \
             WHERE a < 3000) SELECT a, CONCAT('row ', a) FROM n",
        ] {
            client.query(sql).unwrap();
        }
        Server { process, _folder: folder }
    }

    fn client(&self) -> Client<TcpStream> {
        let mut client = self.process.client();
        client.query("USE d").unwrap();
        client
    }

    fn log_in(&self, user: &str) -> Client<TcpStream> {
        let stream = TcpStream::connect(self.process.address()).unwrap();
        let options = LoginOptions { user: user.into(), ..LoginOptions::default() };
        Client::connect(stream, &options).unwrap()
    }
}

/// Waits until the connection works on its statement, in a lock wait where `state` names one.
fn wait_for(admin: &mut Client<TcpStream>, id: u32, state: &str) {
    let sql = format!(
        "SELECT COUNT(*) FROM information_schema.processlist \
         WHERE id = {id} AND command = 'Query' AND state LIKE '{state}'"
    );
    while admin.rows(&sql).unwrap()[0][0] != Value::Text("1".into()) {
        std::thread::yield_now();
    }
}

/// Starts `sql` on a new connection, kills it, and returns the answer with the connection.
fn killed(
    server: &Server,
    kind: &str,
    sql: &str,
    state: &str,
) -> (Result<Vec<Vec<Value>>, ClientError>, Client<TcpStream>) {
    let (mut admin, mut victim) = (server.client(), server.client());
    let id = victim.greeting().connection_id;
    victim.start_query(sql).unwrap();
    wait_for(&mut admin, id, state);
    admin.query(&format!("KILL {kind} {id}")).unwrap();
    let answer = victim.next_result().map(|result| result.map_or(Vec::new(), |set| set.rows));
    (answer, victim)
}

/// Statements that take long: how the process list shows them, and what KILL QUERY makes of them;
/// no value is error 1317.
const LONG: &[(&str, &str, Option<&str>)] = &[
    ("SELECT SLEEP(1000)", "%", Some("1")),
    ("SELECT a, SLEEP(1000) FROM two", "%", None),
    ("DO SLEEP(1000)", "%", Some("")),
    ("SET @a = SLEEP(1000)", "%", Some("")),
    ("UPDATE two SET b = SLEEP(1000)", "%", None),
    ("SELECT BENCHMARK(1000000000000, SHA2(RAND(), 512))", "%", Some("0")),
    ("SELECT COUNT(*) FROM many x, many y, many z WHERE x.b <> y.b AND y.b <> z.b", "%", None),
    ("SELECT x.b FROM many x, many y, many z ORDER BY CONCAT(x.b, y.b, z.b)", "%", None),
    ("SELECT MAX(x.b) FROM many x, many y, many z GROUP BY CONCAT(x.b, y.b, z.b)", "%", None),
    ("INSERT INTO many SELECT x.a + 10000 * y.a, z.b FROM many x, many y, many z", "%", None),
];

fn text(rows: &[Vec<Value>]) -> String {
    match rows.first() {
        Some(row) => match &row[0] {
            Value::Text(text) => text.clone(),
            other => format!("{other:?}"),
        },
        None => String::new(),
    }
}

#[test]
fn kill_query_ends_the_statement_and_leaves_the_connection() {
    let server = Server::start();
    for (sql, state, expected) in LONG {
        let (answer, mut victim) = killed(&server, "QUERY", sql, state);
        match (answer, expected) {
            (Ok(rows), Some(value)) => assert_eq!(text(&rows), *value, "{sql}"),
            (Err(error), None) => assert_eq!(error.code(), Some(1317), "{sql}: {error}"),
            (answer, _) => panic!("{sql}: {answer:?}"),
        }
        assert_eq!(text(&victim.rows("SELECT 'after'").unwrap()), "after", "{sql}");
    }
}

#[test]
fn kill_connection_closes_the_connection_without_an_answer() {
    let server = Server::start();
    for (sql, state, _) in LONG {
        let (answer, _) = killed(&server, "", sql, state);
        assert!(matches!(answer, Err(ClientError::Io(_))), "{sql}: {answer:?}");
    }
}

#[test]
fn waits_for_locks_end() {
    let server = Server::start();
    let mut holder = server.client();
    holder.query("CREATE TABLE held (a INT PRIMARY KEY, b INT)").unwrap();
    holder.query("INSERT INTO held VALUES (1, 1)").unwrap();
    holder.query("SELECT GET_LOCK('interrupts', 1)").unwrap();
    holder.query("BEGIN").unwrap();
    holder.query("UPDATE held SET b = 2").unwrap();
    for (sql, state) in [
        ("UPDATE held SET b = 3", "%"),
        ("SELECT GET_LOCK('interrupts', 1000)", "%"),
        ("ALTER TABLE held ADD c INT", "Waiting for table metadata lock"),
    ] {
        let (answer, mut victim) = killed(&server, "QUERY", sql, state);
        assert_eq!(answer.unwrap_err().code(), Some(1317), "{sql}");
        victim.query("DO 1").unwrap();
        let (answer, _) = killed(&server, "CONNECTION", sql, state);
        assert!(matches!(answer, Err(ClientError::Io(_))), "{sql}: {answer:?}");
    }
    holder.query("COMMIT").unwrap();
    assert_eq!(text(&holder.rows("SELECT b FROM held").unwrap()), "2", "nobody else changed it");
}

#[test]
fn an_open_transaction_of_a_killed_connection_rolls_back() {
    let server = Server::start();
    let mut victim = server.client();
    victim.query("CREATE TABLE open (a INT PRIMARY KEY)").unwrap();
    victim.query("BEGIN").unwrap();
    victim.query("INSERT INTO open VALUES (1)").unwrap();
    let mut admin = server.client();
    admin.query(&format!("KILL {}", victim.greeting().connection_id)).unwrap();
    assert!(matches!(victim.query("COMMIT"), Err(ClientError::Io(_))));
    // The lock on the row goes with the transaction.
    admin.query("INSERT INTO open VALUES (1)").unwrap();
}

#[test]
fn a_session_may_end_itself() {
    let server = Server::start();
    let mut own = server.client();
    let error = own.query("KILL CONNECTION_ID()").unwrap_err();
    assert_eq!(error.code(), Some(1317));
    assert!(matches!(own.query("DO 1"), Err(ClientError::Io(_))));
    let mut own = server.client();
    assert_eq!(own.query("KILL QUERY CONNECTION_ID()").unwrap_err().code(), Some(1317));
    own.query("DO 1").unwrap();
    own.query("COMMIT RELEASE").unwrap();
    assert!(matches!(own.query("DO 1"), Err(ClientError::Io(_))));
}

#[test]
fn only_system_users_end_the_sessions_of_system_users() {
    let server = Server::start();
    let mut root = server.client();
    for sql in [
        "CREATE USER killer, plain, guarded, by_role",
        "CREATE ROLE r",
        "GRANT CONNECTION_ADMIN ON *.* TO killer",
        "GRANT SYSTEM_USER ON *.* TO guarded, r",
        "GRANT r TO by_role",
        "SET DEFAULT ROLE r TO by_role",
    ] {
        root.query(sql).unwrap();
    }
    let mut killer = server.log_in("killer");
    let mut plain = server.log_in("plain");
    for user in ["guarded", "by_role"] {
        let mut system = server.log_in(user);
        let id = system.greeting().connection_id;
        for (kind, by) in [("QUERY", &mut killer), ("CONNECTION", &mut plain)] {
            let error = by.query(&format!("KILL {kind} {id}")).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("ERROR 1095 (HY000): You are not owner of thread {id}")
            );
        }
        system.query("DO 1").unwrap();
        root.query(&format!("KILL {id}")).unwrap();
        assert!(matches!(system.query("DO 1"), Err(ClientError::Io(_))));
    }
    killer.query(&format!("KILL {}", plain.greeting().connection_id)).unwrap();
    assert!(matches!(plain.query("DO 1"), Err(ClientError::Io(_))));
}
