//! What accounts may do, from outside. The answers are those of MySQL 8.0.31.

use super::process::{DataDir, Process};
use inia_wire::auth::CACHING_SHA2;
use inia_wire::client::{Client, ClientError, LoginOptions};
use inia_wire::command::{ChangeUser, Command};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

type Connection = Client<TcpStream>;

fn log_in(server: &Process, user: &str) -> Result<Connection, ClientError> {
    let stream = TcpStream::connect(server.address()).unwrap();
    Client::connect(stream, &LoginOptions { user: user.to_owned(), ..LoginOptions::default() })
}

/// A server, with what root ran on it.
fn server(folder: &DataDir, sql: &[&str]) -> (Process, Connection) {
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    for sql in sql {
        root.query(sql).unwrap();
    }
    (server, root)
}

fn code(client: &mut Connection, sql: &str) -> Option<u16> {
    client.query(sql).err().and_then(|error| error.code())
}

#[test]
fn database_patterns_have_case_and_the_most_specific_one_counts_only() {
    let folder = DataDir::new();
    let (server, mut root) = server(
        &folder,
        &[
            "CREATE DATABASE d_x",
            "CREATE DATABASE D_X",
            "CREATE DATABASE `d_é`",
            "CREATE DATABASE d_e",
            "CREATE TABLE d_x.t (a INT)",
            "CREATE TABLE D_X.t (a INT)",
            "CREATE TABLE `d_é`.t (a INT)",
            "CREATE TABLE d_e.t (a INT)",
            "CREATE USER a, b, c",
            r"GRANT SELECT ON `d\_x`.* TO a",
            r"GRANT SELECT ON `d\_e`.* TO a",
            "GRANT SELECT ON `d%`.* TO b",
            r"GRANT INSERT ON `d\_x`.* TO b",
            "CREATE ROLE r",
            "GRANT r TO b",
        ],
    );
    let mut a = log_in(&server, "a").unwrap();
    assert_eq!(code(&mut a, "SELECT * FROM d_x.t"), None);
    assert_eq!(code(&mut a, "SELECT * FROM D_X.t"), Some(1142));
    assert_eq!(code(&mut a, "SELECT * FROM `d_é`.t"), Some(1142));
    assert_eq!(code(&mut a, "USE D_X"), Some(1044));
    let mut b = log_in(&server, "b").unwrap();
    assert_eq!(code(&mut b, "SELECT * FROM d_e.t"), None);
    assert_eq!(code(&mut b, "SELECT * FROM d_x.t"), Some(1142));
    assert_eq!(code(&mut b, "INSERT INTO d_x.t VALUES (1)"), None);
    root.query("REVOKE INSERT ON `d\\_x`.* FROM b").unwrap();
    assert_eq!(code(&mut b, "SELECT * FROM d_x.t"), None);
}

#[test]
fn rename_user_goes_pair_by_pair_and_loses_nobody() {
    let folder = DataDir::new();
    let (_server, mut root) = server(&folder, &["CREATE USER a, b", "CREATE ROLE r, unused"]);
    let users = |root: &mut Connection| {
        let rows = root.rows("SELECT user FROM mysql.user WHERE user <> 'root' ORDER BY 1");
        rows.unwrap().iter().map(|row| format!("{:?}", row[0])).collect::<Vec<_>>().join(" ")
    };
    let before = users(&mut root);
    assert_eq!(code(&mut root, "RENAME USER a TO c, b TO c"), Some(1396));
    assert_eq!(users(&mut root), before);
    assert_eq!(code(&mut root, "RENAME USER a TO c, b TO a, c TO b"), None);
    assert_eq!(users(&mut root), before);
    root.query("GRANT r TO a").unwrap();
    assert_eq!(code(&mut root, "RENAME USER r TO q"), Some(3532));
    assert_eq!(code(&mut root, "RENAME USER unused TO q"), None);
    assert_eq!(code(&mut root, "DROP USER a, a"), Some(1396));
}

#[test]
fn com_process_kill_may_what_kill_may() {
    let folder = DataDir::new();
    let (server, mut root) = server(&folder, &["CREATE USER a, b"]);
    let (mut a, mut b) = (log_in(&server, "a").unwrap(), log_in(&server, "b").unwrap());
    let mut other = log_in(&server, "a").unwrap();
    let kill = |client: &mut Connection, id| {
        client.send_command(&Command::ProcessKill(id)).unwrap();
        client.read_ok().err().and_then(|error| error.code())
    };
    assert_eq!(kill(&mut a, b.greeting().connection_id), Some(1095));
    assert_eq!(kill(&mut a, root.greeting().connection_id), Some(1095));
    b.ping().unwrap();
    root.ping().unwrap();
    assert_eq!(kill(&mut a, other.greeting().connection_id), None);
    assert!(other.read_payload().is_err());
}

#[test]
fn a_statement_can_be_killed_after_a_reset_and_a_change_of_user() {
    let folder = DataDir::new();
    let (server, mut root) = server(&folder, &["CREATE USER a"]);
    let mut client = server.client();
    let id = client.greeting().connection_id;
    client.reset().unwrap();
    for _ in 0..2 {
        client.start_query("SELECT SLEEP(600)").unwrap();
        // A kill that comes before the statement has begun is forgotten.
        let runs = format!(
            "SELECT 1 FROM information_schema.processlist WHERE id = {id} AND info IS NOT NULL"
        );
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                while let Ok(Some(_)) = client.next_result() {}
                ended.store(true, Ordering::SeqCst);
            });
            while !ended.load(Ordering::SeqCst) {
                if !root.rows(&runs).unwrap().is_empty() {
                    root.query(&format!("KILL QUERY {id}")).unwrap();
                }
            }
            reader.join().unwrap();
        });
        let login = ChangeUser {
            user: "a".to_owned(),
            plugin: Some(CACHING_SHA2.to_owned()),
            ..ChangeUser::default()
        };
        client.send_command(&Command::ChangeUser(Box::new(login))).unwrap();
        client.read_ok().unwrap();
    }
}

#[test]
fn require_and_require_secure_transport_keep_plain_connections_out() {
    let folder = DataDir::new();
    let (server, mut root) = server(
        &folder,
        &["CREATE USER tls REQUIRE SSL", "CREATE USER x509 REQUIRE X509", "CREATE USER plain"],
    );
    let refused = |user: &str| log_in(&server, user).err().and_then(|error| error.code());
    assert_eq!(refused("tls"), Some(1045));
    assert_eq!(refused("x509"), Some(1045));
    assert_eq!(refused("plain"), None);
    root.query("SET GLOBAL require_secure_transport = ON").unwrap();
    assert_eq!(refused("plain"), Some(3159));
}

#[test]
fn max_prepared_stmt_count_is_a_limit_over_all_sessions() {
    let folder = DataDir::new();
    let (server, mut root) = server(&folder, &["SET GLOBAL max_prepared_stmt_count = 3"]);
    let mut other = server.client();
    let first = root.prepare("SELECT 1").unwrap();
    root.prepare("SELECT 2").unwrap();
    other.query("PREPARE s FROM 'SELECT 3'").unwrap();
    assert_eq!(other.prepare("SELECT 4").unwrap_err().code(), Some(1461));
    assert_eq!(code(&mut other, "PREPARE t FROM 'SELECT 4'"), Some(1461));
    root.close_statement(first.id).unwrap();
    root.ping().unwrap();
    other.prepare("SELECT 4").unwrap();
    assert_eq!(root.prepare("SELECT 5").unwrap_err().code(), Some(1461));
    other.reset().unwrap();
    root.prepare("SELECT 5").unwrap();
    root.query("SET GLOBAL max_prepared_stmt_count = 0").unwrap();
    assert_eq!(code(&mut root, "PREPARE t FROM 'SELECT 4'"), Some(1461));
}

#[test]
fn a_prepared_statement_has_at_most_65_535_parameters() {
    let folder = DataDir::new();
    let (_server, mut root) = server(&folder, &[]);
    let marks = |n: usize| format!("DO 0 IN ({})", vec!["?"; n].join(","));
    assert_eq!(root.prepare(&marks(65_535)).unwrap().params, 65_535);
    assert_eq!(root.prepare(&marks(65_536)).unwrap_err().code(), Some(1390));
}

#[test]
fn a_text_may_change_the_sql_mode_any_number_of_times() {
    let folder = DataDir::new();
    let (_server, mut root) = server(&folder, &[]);
    let text = "SET sql_mode = 'ANSI_QUOTES'; SET sql_mode = ''; ".repeat(5000);
    assert_eq!(root.query(&text).unwrap().len(), 10_000);
    // A text that is no statement has only its own error.
    assert_eq!(code(&mut root, "SELECT * FROM nowhere.nothing"), Some(1049));
    assert_eq!(code(&mut root, "SELEC 1"), Some(1064));
    assert_eq!(root.rows("SHOW WARNINGS").unwrap().len(), 1);
}

#[test]
fn privileges_on_columns() {
    let folder = DataDir::new();
    let (server, mut root) = server(
        &folder,
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (a INT PRIMARY KEY, b INT, secret INT)",
            "CREATE TABLE d.u (a INT PRIMARY KEY, b INT, secret INT)",
            "INSERT INTO d.t VALUES (1, 2, 3)",
            "INSERT INTO d.u VALUES (1, 2, 3)",
            "CREATE VIEW d.v AS SELECT a, b, secret FROM d.t",
            "CREATE USER a, b",
            "GRANT SELECT (a, b), INSERT (a, b), UPDATE (b), DELETE ON d.t TO a",
            "GRANT SELECT (a) ON d.u TO a",
            "GRANT SELECT (a) ON d.v TO a",
        ],
    );
    for (sql, expected) in [
        ("GRANT SELECT (nope) ON d.t TO a", 1054),
        ("GRANT SELECT (a) ON d.nope TO a", 1146),
        ("GRANT SELECT (a) ON d.* TO a", 1144),
        ("REVOKE SELECT (secret) ON d.t FROM a", 1147),
    ] {
        assert_eq!(code(&mut root, sql), Some(expected), "{sql}");
    }
    let mut a = log_in(&server, "a").unwrap();
    a.query("USE d").unwrap();
    let allowed = [
        "SELECT a, B FROM t x ORDER BY x.b",
        "SELECT COUNT(*) FROM t",
        "SELECT EXISTS (SELECT * FROM t)",
        "SELECT a FROM v",
        "UPDATE t SET b = a WHERE a = 1",
        "UPDATE t JOIN u USING (a) SET t.b = 7",
        "INSERT INTO t (a, b) VALUES (1, 1) ON DUPLICATE KEY UPDATE b = t.b + VALUES(a)",
        "INSERT INTO t (a) SELECT a + 10 FROM u",
        "DELETE FROM t WHERE b = 100",
    ];
    for sql in allowed {
        assert_eq!(code(&mut a, sql), None, "{sql}");
    }
    for (sql, expected) in [
        ("SELECT * FROM t", 1142),
        ("TABLE t", 1142),
        ("SELECT secret FROM t", 1143),
        ("SELECT a FROM t WHERE secret = 1", 1143),
        ("SELECT a FROM t ORDER BY secret", 1143),
        ("SELECT a FROM t GROUP BY secret", 1143),
        ("SELECT GROUP_CONCAT(a ORDER BY secret) FROM t", 1143),
        ("SELECT ROW_NUMBER() OVER (PARTITION BY secret) FROM t", 1143),
        ("SELECT ROW_NUMBER() OVER w FROM t WINDOW w AS (ORDER BY secret)", 1143),
        ("SELECT DEFAULT(secret) FROM t", 1143),
        ("SELECT (SELECT secret FROM t LIMIT 1)", 1143),
        ("SELECT (SELECT x.a FROM u x WHERE x.a = t.secret) FROM t", 1143),
        ("SELECT 1 FROM (SELECT secret FROM t) x", 1143),
        ("WITH x AS (SELECT secret FROM t) SELECT * FROM x", 1143),
        ("(SELECT a FROM t) UNION (SELECT a FROM t) ORDER BY (SELECT secret FROM u)", 1143),
        ("SELECT x.a FROM t x JOIN u y USING (secret)", 1143),
        ("SELECT x.a FROM t x JOIN u y ON x.a = y.b", 1143),
        ("SET @x = (SELECT secret FROM t)", 1143),
        ("DO (SELECT secret FROM t)", 1143),
        ("SHOW COLUMNS FROM t WHERE field = (SELECT secret FROM t)", 1143),
        ("SELECT b FROM v", 1143),
        ("INSERT INTO t VALUES (5, 5, 5)", 1142),
        ("INSERT INTO t (a, secret) VALUES (5, 5)", 1143),
        ("INSERT INTO t (a) SELECT secret FROM u", 1143),
        ("INSERT INTO t (a) SELECT a FROM u ON DUPLICATE KEY UPDATE b = u.secret", 1143),
        ("INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE b = secret", 1143),
        ("INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 2", 1143),
        ("UPDATE t SET secret = 1", 1143),
        ("UPDATE t SET b = secret", 1143),
        ("UPDATE t SET b = 1 ORDER BY secret", 1143),
        ("UPDATE t JOIN u ON t.a = u.secret SET t.b = 1", 1143),
        ("UPDATE t JOIN u USING (a) SET u.a = 1", 1143),
        ("UPDATE u SET a = 1", 1142),
        ("DELETE FROM t WHERE secret = 1", 1143),
        ("DELETE FROM u", 1142),
        ("SHOW CREATE TABLE u", 1142),
        ("GRANT SELECT (a) ON d.t TO b", 1142),
    ] {
        assert_eq!(code(&mut a, sql), Some(expected), "{sql}");
    }
    assert_eq!(a.rows("DESC t").unwrap().len(), 2);
    // A statement that was prepared before loses its rights with its account.
    let prepared = a.prepare("SELECT b FROM t").unwrap();
    root.query("REVOKE SELECT (b) ON d.t FROM a").unwrap();
    assert_eq!(a.execute(prepared.id, &[]).unwrap_err().code(), Some(1143));
    let line = format!("{:?}", root.rows("SHOW GRANTS FOR a").unwrap()[1]);
    let grant = "GRANT SELECT (`a`), INSERT (`a`, `b`), UPDATE (`b`), DELETE ON `d`.`t` TO `a`@`%`";
    assert!(line.contains(grant), "{line}");
    root.query("REVOKE SELECT, INSERT ON d.t FROM a").unwrap();
    let line = format!("{:?}", root.rows("SHOW GRANTS FOR a").unwrap()[1]);
    assert!(line.contains("GRANT UPDATE (`b`), DELETE ON `d`.`t` TO"), "{line}");
}
