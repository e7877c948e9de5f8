//! Clients at their worst against the real program: what one of them does may cost it its
//! connection, and nobody else anything.

use crate::process::{DataDir, Process};
use crate::support::cell;
use inia_testkit::random::Random;
use inia_wire::client::{Client, ClientError, LoginOptions};
use inia_wire::handshake::Login;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

type Connection = Client<TcpStream>;

fn run(client: &mut Connection, statements: &[&str]) {
    for sql in statements {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// A server with a table of three rows.
fn server(options: &[&str]) -> (DataDir, Process) {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), options);
    let statements = [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, c LONGTEXT)",
        "INSERT INTO d.t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')",
    ];
    run(&mut server.client(), &statements);
    (folder, server)
}

/// The sum of all rows, as a new client sees it.
fn sum(server: &Process) -> String {
    cell(&server.client().rows("SELECT SUM(n) FROM d.t").unwrap())
}

/// A client that holds the lock of row 1 and has changed it, without a commit.
fn holder(server: &Process) -> Connection {
    let mut client = server.client();
    run(&mut client, &["USE d", "BEGIN", "UPDATE t SET n = n + 1000 WHERE id = 1"]);
    client
}

/// The row is free again, with its old value: the update waits only until the server notices.
fn row_is_free(server: &Process) {
    let mut client = server.client();
    let update = "UPDATE d.t SET n = n + 1 WHERE id = 1";
    run(&mut client, &["SET innodb_lock_wait_timeout = 20", update]);
    assert_eq!(cell(&client.rows("SELECT n FROM d.t WHERE id = 1").unwrap()), "11");
}

#[test]
fn a_client_that_vanishes_in_a_transaction_leaves_no_locks() {
    let (_folder, server) = server(&[]);
    drop(holder(&server));
    row_is_free(&server);
}

#[test]
fn a_client_that_vanishes_in_the_middle_of_a_packet_leaves_no_locks() {
    let (_folder, server) = server(&[]);
    let mut client = holder(&server);
    client.stream().write_all(b"\x40\0\0\0\x03COMMIT").unwrap();
    drop(client);
    row_is_free(&server);
}

#[test]
fn a_client_that_vanishes_in_the_middle_of_a_result_leaves_no_locks() {
    let (_folder, server) = server(&[]);
    let mut client = holder(&server);
    // Far more than the sockets' buffers hold, and nobody reads it.
    let sql = "SELECT REPEAT('x', 10000000) FROM t, t AS u";
    client.send_payload(&[b"\x03", sql.as_bytes()].concat()).unwrap();
    let mut some = [0; 1000];
    client.stream().read_exact(&mut some).unwrap();
    drop(client);
    row_is_free(&server);
}

#[test]
fn a_client_that_breaks_the_protocol_leaves_no_locks() {
    let (_folder, server) = server(&[]);
    let mut client = holder(&server);
    client.stream().write_all(b"\x01\0\0\x09\x0e").unwrap();
    row_is_free(&server);
}

#[test]
fn clients_that_never_log_in_do_not_use_up_the_connections() {
    let (_folder, server) = server(&["--max-connections", "20", "--connect-timeout", "1"]);
    let mut silent: Vec<TcpStream> =
        (0..20).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    // One of them has begun to speak.
    silent[0].write_all(b"\x40\0\0\x01half a login").unwrap();
    for stream in &mut silent {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
    }
    assert_eq!(sum(&server), "60");
}

#[test]
fn hundreds_of_failed_logins_shut_nobody_out() {
    let (_folder, server) = server(&[]);
    for i in 0..300 {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        if i % 2 == 0 {
            let wrong = LoginOptions { password: "wrong".to_owned(), ..LoginOptions::default() };
            let error = Client::connect(stream, &wrong).err().unwrap();
            assert_eq!(error.code(), Some(1045));
        } else {
            stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
        }
    }
    assert_eq!(sum(&server), "60");
}

/// A payload that is a login, and payloads that are requests, as clients send them.
fn good_packets() -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut login = Vec::new();
    let fields = Login {
        capabilities: inia_wire::caps::Capabilities::CLIENT,
        max_packet: 1 << 24,
        collation: 255,
        user: "root".to_owned(),
        plugin: Some(inia_wire::auth::CACHING_SHA2.to_owned()),
        ..Login::default()
    };
    fields.encode(&mut login);
    let requests: [&[u8]; 16] = [
        b"\x03SELECT * FROM d.t WHERE id = 2 ORDER BY n",
        b"\x03SELECT id, COUNT(*), MAX(c) FROM d.t GROUP BY id HAVING COUNT(*) > 0",
        b"\x03SELECT JSON_EXTRACT('{\"a\": [1, 2]}', '$.a[1]'), 1e3, DATE '2024-02-29'",
        b"\x03SET NAMES utf8mb4",
        b"\x02d",
        b"\x04t\0%",
        b"\x16SELECT ?, ? FROM d.t WHERE id = ?",
        b"\x17\x01\0\0\0\0\x01\0\0\0\0\x01\x08\0\xfd\0\x0c\0\
          \x01\0\0\0\0\0\0\0\x03abc\x07\xe8\x07\x02\x1d\x0c\0\0",
        b"\x17\x01\0\0\0\x01\x01\0\0\0\0\x01\x01\0\xf6\0\x0b\0\
          \x01\x031.5\x08\0\0\0\0\0\x01\x02\x03",
        b"\x18\x01\0\0\0\x01\0some data",
        b"\x1c\x01\0\0\0\x02\0\0\0",
        b"\x1a\x01\0\0\0",
        b"\x11root\0\0d\0\xff\0caching_sha2_password\0\0",
        b"\x1f",
        b"\x1b\0\0",
        b"\x0e",
    ];
    (login, requests.iter().map(|request| request.to_vec()).collect())
}

/// A few bytes changed, cut out, doubled or added.
fn damage(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..=random.below(3) {
        let at = random.index(bytes.len() + 1);
        match random.below(5) {
            0 | 1 if at < bytes.len() => bytes[at] = random.next_u64() as u8,
            2 => bytes.truncate(at),
            3 => bytes.insert(at, [0, 0xff, 0xfb, 0xfe, b'\''][random.index(5)]),
            _ => {
                let piece = bytes[at..].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
}

fn framed(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let header = (payload.len() as u32 | u32::from(sequence) << 24).to_le_bytes();
    [&header, payload].concat()
}

/// Sends a damaged conversation, all at once, and takes whatever comes until the server closes.
fn talk_nonsense(server: &Process, random: &mut Random) {
    let (mut login, mut requests) = good_packets();
    random.shuffle(&mut requests[7..]);
    if random.chance(1, 4) {
        damage(random, &mut login);
    }
    let mut bytes = framed(1, &login);
    for request in &mut requests {
        if random.chance(1, 3) {
            damage(random, request);
        }
        // A table that grows without end would only cost time.
        bytes.extend(framed(0, request));
    }
    if random.chance(1, 4) {
        damage(random, &mut bytes);
    }
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // The server may close before it has taken everything.
    let _ = stream.write_all(&bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut replies = Vec::new();
    match stream.read_to_end(&mut replies) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            panic!("the server neither answers nor closes: {bytes:?}")
        }
        _ => assert!(!String::from_utf8_lossy(&replies).contains("Internal error"), "{bytes:?}"),
    }
}

#[test]
fn damaged_conversations_harm_nobody() {
    let (_folder, server) = server(&[]);
    let seed = std::env::var("INIA_SEED").map_or(1, |seed| seed.parse().unwrap());
    let rounds = std::env::var("INIA_ROUNDS").map_or(300, |rounds| rounds.parse().unwrap());
    let mut random = Random::new(seed);
    let mut witness = server.client();
    run(&mut witness, &["USE d", "SET @mine = 7", "BEGIN", "INSERT INTO t VALUES (9, 1, NULL)"]);
    for _ in 0..rounds {
        talk_nonsense(&server, &mut random);
    }
    assert_eq!(cell(&witness.rows("SELECT @mine + SUM(n) FROM t").unwrap()), "68");
    run(&mut witness, &["ROLLBACK"]);
    assert_eq!(sum(&server), "60");
}

/// The answer to a statement: a result or an error that is none of the server's own, and the
/// connection stays.
fn survives(client: &mut Connection, what: &str, sql: &str) {
    const INTERNAL_ERROR: u16 = 1815;
    match client.query(sql) {
        Ok(_) => {}
        Err(ClientError::Server(error)) => {
            let own = error.message.to_lowercase().contains("internal error");
            assert!(!own && error.code != INTERNAL_ERROR, "{what}: {error}");
        }
        Err(error) => panic!("{what}: {error}"),
    }
    client.ping().unwrap_or_else(|error| panic!("after {what}: {error}"));
}

/// `open` n times, `inner`, `close` n times.
fn nested(open: &str, inner: &str, close: &str, n: usize) -> String {
    format!("{}{inner}{}", open.repeat(n), close.repeat(n))
}

#[test]
fn deep_nesting_is_answered_or_refused() {
    let (_folder, server) = server(&[]);
    let mut client = server.client();
    run(&mut client, &["USE d"]);
    let shapes: [(&str, &str, &str); 22] = [
        ("(", "1", ")"),
        ("-", "1", ""),
        ("NOT ", "1", ""),
        ("!", "1", ""),
        ("~", "1", ""),
        ("1+(", "1", ")"),
        ("1 + ", "1", ""),
        ("1 AND (", "1", ")"),
        ("1 OR ", "1", ""),
        ("1 = ", "1", ""),
        ("CASE WHEN ", "1", " THEN 1 END"),
        ("CONCAT(", "'a'", ")"),
        ("IF(1, ", "1", ", 2)"),
        ("(SELECT ", "1", ")"),
        ("EXISTS (SELECT 1 FROM t WHERE ", "1", ")"),
        ("1 IN (", "1", ")"),
        ("JSON_ARRAY(", "1", ")"),
        ("CAST(", "1", " AS CHAR)"),
        ("(1, ", "1", ")"),
        ("'2020-01-01' + INTERVAL (", "1", ") DAY"),
        ("'a' LIKE ", "'a'", ""),
        ("'a' COLLATE utf8mb4_bin = ", "'a'", ""),
    ];
    for (open, inner, close) in shapes {
        for n in [50, 500, 5_000, 50_000] {
            let expression = nested(open, inner, close, n);
            let what = format!("{n} times {open}");
            survives(&mut client, &what, &format!("SELECT {expression}"));
            survives(&mut client, &what, &format!("SELECT id FROM t WHERE {expression}"));
        }
    }
    assert_eq!(sum(&server), "60");
}

#[test]
fn deep_and_long_statements_are_answered_or_refused() {
    let (_folder, server) = server(&[]);
    let mut client = server.client();
    run(&mut client, &["USE d"]);
    let list = |n: usize, item: &dyn Fn(usize) -> String, between: &str| {
        (0..n).map(item).collect::<Vec<String>>().join(between)
    };
    let ctes = |i: usize| format!(", c{} AS (SELECT x FROM c{i})", i + 1);
    for n in [50, 500, 5_000] {
        let number = |i: usize| i.to_string();
        let select = |i: usize| format!("SELECT {i}");
        let statements = [
            nested("SELECT * FROM (", "SELECT 1", ") AS x", n),
            nested("(", "SELECT 1", ")", n),
            list(n, &select, " UNION ALL "),
            format!("WITH {} SELECT 1", list(n, &|i| format!("c{i} AS (SELECT {i})"), ", ")),
            nested("WITH c AS (", "SELECT 1", ") SELECT * FROM c", n),
            format!("SELECT * FROM {} LIMIT 1", list(n, &|i| format!("t AS t{i}"), ", ")),
            format!("SELECT * FROM t {} LIMIT 1", list(n, &|i| format!("JOIN t AS t{i}"), " ")),
            format!("SELECT * FROM {} LIMIT 1", nested("(", "t", ")", n)),
            format!("SELECT id FROM t WHERE id IN ({})", list(20 * n, &number, ",")),
            format!("SELECT id FROM t WHERE {}", list(20 * n, &|i| format!("id <> {i}"), " AND ")),
            format!("SELECT id FROM t WHERE {}", list(20 * n, &|i| format!("n = {i}"), " OR ")),
            format!("SELECT {}", list(n, &number, ",")),
            format!("SELECT {}", list(20 * n, &number, "+")),
            format!("SELECT COALESCE({})", list(20 * n, &|_| "NULL".to_owned(), ",")),
            format!("SELECT 1 ORDER BY {}", list(n, &|_| "1".to_owned(), ",")),
            format!("SELECT JSON_VALID('{}')", nested("[", "", "]", 20 * n)),
            format!("SELECT JSON_EXTRACT('{}', '$')", nested("{\"a\":", "1", "}", 20 * n)),
            format!("SELECT JSON_EXTRACT('[]', '${}')", "[0]".repeat(20 * n)),
            format!("SELECT 'a' REGEXP '{}'", nested("(", "a", ")", n)),
            format!("SELECT REPEAT('a', 200) LIKE '{}b'", "%a".repeat(n)),
            format!("SELECT 'a' REGEXP '{}'", "(a{1,1000})".repeat(n.min(500))),
            format!("INSERT INTO t VALUES {}", list(n, &|_| "(1, 1, '')".to_owned(), ",")),
            format!("UPDATE t SET {}", list(n, &|_| "n = n".to_owned(), ",")),
            format!("CREATE VIEW v AS SELECT {} AS a", nested("(", "1", ")", n)),
            format!("CREATE TABLE x (a INT DEFAULT ({}))", nested("-(", "1", ")", n)),
            format!("CREATE TABLE y (a INT, CHECK ({}))", nested("NOT (", "a", ")", n)),
            format!("EXPLAIN SELECT {}", nested("(SELECT ", "1", ")", n)),
            format!("PREPARE p FROM 'SELECT {}'", nested("(", "1", ")", n)),
            format!("SET @a = {}", nested("(", "1", ")", n)),
            format!("{}SELECT 1", "/*!80000 ".repeat(n)),
            format!("SELECT 1{}", ";".repeat(n)),
            format!("SELECT {}1", "@a := ".repeat(n)),
            format!("WITH c0 AS (SELECT 1 AS x){} SELECT * FROM c{n}", list(n, &ctes, "")),
            format!("SELECT JSON_DEPTH({})", nested("JSON_ARRAY(", "1", ")", n)),
            format!("SELECT LENGTH('{}')", "x".repeat(3_300 * n)),
        ];
        for sql in statements {
            let what = format!("{n} times in {}", &sql[..60.min(sql.len())]);
            survives(&mut client, &what, &sql);
            run(&mut client, &["DROP TABLE IF EXISTS x, y"]);
        }
    }
    assert_eq!(sum(&server), "60");
}
