//! Databases that programs open, or start a server for. The examples are tests, too.

use crate::process::{DataDir, program};
use crate::support::TempDir;
use inia_base::value::Value;
use inia_wire::client::{Client, LoginOptions};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

#[test]
fn a_server_in_memory_names_its_url_and_ends_with_its_input() {
    let place = TempDir::new();
    let mut child = Command::new(program())
        .args(["serve", "--in-memory", "--until-eof", "--port", "0"])
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let address = url.strip_prefix("mysql://root@").unwrap().trim_end().trim_end_matches('/');
    let stream = std::net::TcpStream::connect(address).unwrap();
    let mut client = Client::connect(stream, &LoginOptions::default()).unwrap();
    // The first session finds all views of `sys`, which were made while the server began to listen.
    let views = "SELECT COUNT(*) > 90 FROM information_schema.views WHERE table_schema = 'sys'";
    assert_eq!(client.rows(views).unwrap(), [[Value::Text("1".into())]]);
    client.query("CREATE DATABASE d").unwrap();
    drop(child.stdin.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(said.contains("end of standard input: shutting down"), "{said}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "nothing is written");
}

#[test]
fn another_process_is_refused_until_the_database_is_closed() {
    let place = DataDir::new();
    let dir = place.path().display().to_string();
    let database = inia::Options::new().buffer_pool_size(8 << 20).open(&dir).unwrap();
    let shell = || {
        let run = ["sql", &dir, "--no-defaults", "-N", "-e", "SELECT 40 + 2; SELECT DATABASE()"];
        let output = Command::new(program()).args(run).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, _, said) = shell();
    assert_eq!(code, Some(1));
    let owner = format!("in use by another Inia server (process {})", std::process::id());
    assert!(said.contains(&owner), "{said}");
    database.close().unwrap();
    assert_eq!(shell(), (Some(0), "42\nNULL\n".to_owned(), String::new()));
}
