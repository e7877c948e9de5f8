//! A server without room on its disk: writers get MySQL's errors, readers go on, and nothing that
//! was acknowledged is missing afterwards. The limit on the size of files stands for the full disk.

use crate::process::{DataDir, Process, run};
use crate::support::cell;
use inia_wire::client::{Client, ClientError};
use std::net::TcpStream;

/// Blocks of 512 bytes that a file may have.
const LIMIT: u64 = 6 << 11;

fn rows(client: &mut Client<TcpStream>, table: &str) -> usize {
    let counted = client.rows(&format!("SELECT COUNT(*) FROM {table}")).unwrap();
    cell(&counted).parse().unwrap()
}

/// The number of a server's error about missing room.
#[track_caller]
fn full(error: ClientError) -> u16 {
    let (number, message) = (error.code().unwrap_or(0), error.to_string());
    let known = match number {
        1114 => message.ends_with("is full"),
        1030 | 1180 => message.contains("error 28 "),
        _ => false,
    };
    assert!(known, "{number}: {message}");
    number
}

/// Inserts until there is no room; the number of rows acknowledged.
fn fill(client: &mut Client<TcpStream>) -> usize {
    for first in (0..).step_by(50) {
        let row = |i: usize| format!("({i}, {}, REPEAT('x', 2000))", i % 7);
        let values: Vec<String> = (first..first + 50).map(row).collect();
        let sql = format!("INSERT INTO d.t VALUES {}", values.join(","));
        if let Err(error) = client.query(&sql) {
            full(error);
            return first;
        }
        assert!(first < 100_000, "the limit is never met");
    }
    unreachable!("the loop has no end of its own")
}

#[test]
fn writers_get_an_error_readers_go_on_and_a_restart_with_room_finds_everything() {
    let folder = DataDir::new();
    let server = Process::start_limited(LIMIT, &folder.path(), &[]);
    let (mut writer, mut reader) = (server.client(), server.client());
    writer.query("CREATE DATABASE d").unwrap();
    writer.query("CREATE TABLE d.t (id INT PRIMARY KEY, k INT, c TEXT, KEY (k))").unwrap();
    let acknowledged = fill(&mut writer);
    assert!(acknowledged > 100);
    assert_eq!(rows(&mut reader, "d.t"), acknowledged);

    // Neither a table's copy nor a second one has room; the first stays as it is.
    let copy = "CREATE TABLE d.copy SELECT * FROM d.t";
    full(writer.query(copy).unwrap_err());
    full(writer.query("ALTER TABLE d.t ADD KEY (k, c(700))").unwrap_err());
    assert_eq!(rows(&mut reader, "d.t"), acknowledged);
    assert_eq!(rows(&mut server.client(), "d.t"), acknowledged);

    server.kill();
    let server = Process::start(&folder.path(), &[]);
    let mut client = server.client();
    assert_eq!(rows(&mut client, "d.t"), acknowledged);
    client.query(copy).unwrap();
    assert_eq!(rows(&mut client, "d.copy"), acknowledged);
    server.kill();
    let (code, text) = run(&["check", folder.path().to_str().unwrap()]);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn a_start_without_room_is_refused_and_succeeds_once_there_is_some() {
    let folder = DataDir::new();
    let data = folder.path();
    let script = "trap '' XFSZ; ulimit -f 100; exec \"$0\" serve --port 0 --data \"$1\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_inia")]).arg(&data);
    let output = shell.output().unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("no space left on device"), "{text}");
    assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    Process::start(&data, &[]).client().query("CREATE DATABASE d").unwrap();
}
