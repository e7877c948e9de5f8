//! Clients that are asked for a file: LOAD DATA LOCAL, packet by packet.

use crate::process::{DataDir, Process};
use crate::support::cell;
use inia_wire::caps::Capabilities;
use inia_wire::client::{Client, LoginOptions};
use std::io::Write;
use std::net::TcpStream;

type Connection = Client<TcpStream>;

const LOAD: &[u8] = b"\x03LOAD DATA LOCAL INFILE 'file' INTO TABLE d.t";

fn server(options: &[&str]) -> (DataDir, Process) {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), options);
    let mut client = server.client();
    for sql in
        ["SET GLOBAL local_infile = 1", "CREATE DATABASE d", "CREATE TABLE d.t (a INT, b LONGTEXT)"]
    {
        client.query(sql).unwrap();
    }
    (folder, server)
}

/// A client that gives its files.
fn options(collation: u8) -> LoginOptions {
    let capabilities = Capabilities::CLIENT.with(Capabilities::LOCAL_FILES);
    LoginOptions { capabilities, collation, ..LoginOptions::default() }
}

fn giver(server: &Process) -> Connection {
    let stream = TcpStream::connect(server.address()).unwrap();
    Client::connect(stream, &options(255)).unwrap()
}

/// Sends a packet of the file.
fn send(client: &mut Connection, sequence: u8, bytes: &[u8]) -> std::io::Result<()> {
    let header = (bytes.len() as u32 | u32::from(sequence) << 24).to_le_bytes();
    client.stream().write_all(&[&header, bytes].concat())
}

/// Sends the statement; the name of the file that the server wants.
fn ask(client: &mut Connection, statement: &[u8]) -> Vec<u8> {
    client.send_payload(statement).unwrap();
    let request = client.read_payload().unwrap();
    assert_eq!(request[0], 0xfb, "{}", String::from_utf8_lossy(&request));
    request[1..].to_vec()
}

fn rows(server: &Process) -> String {
    cell(&server.client().rows("SELECT COUNT(*) FROM d.t").unwrap())
}

#[test]
fn a_file_s_name_is_in_the_client_s_own_characters() {
    let (_folder, server) = server(&[]);
    let stream = TcpStream::connect(server.address()).unwrap();
    let mut client = Client::connect(stream, &options(8)).unwrap();
    let name = ask(&mut client, b"\x03LOAD DATA LOCAL INFILE 'caf\xe9' INTO TABLE d.t");
    assert_eq!(name, b"caf\xe9");
    send(&mut client, 2, b"1\tone\n2\ttwo").unwrap();
    send(&mut client, 3, b"\n3\n").unwrap();
    send(&mut client, 4, b"").unwrap();
    client.expect_sequence(5);
    assert_eq!(client.read_ok().unwrap().affected_rows, 3);
    assert_eq!(rows(&server), "3");
}

#[test]
fn a_packet_of_a_file_has_the_limit_of_every_packet() {
    let (_folder, server) = server(&["--max-allowed-packet", "1M"]);
    let mut client = giver(&server);
    ask(&mut client, LOAD);
    send(&mut client, 2, &b"1\tx\n".repeat(200_000)).unwrap();
    send(&mut client, 3, b"").unwrap();
    client.expect_sequence(4);
    assert_eq!(client.read_ok().unwrap().affected_rows, 200_000);
    ask(&mut client, LOAD);
    // The server stops reading, so that not all of it may go out.
    let _ = send(&mut client, 2, &vec![b'x'; (1 << 20) + 1]);
    client.expect_sequence(3);
    match client.read_ok().unwrap_err().code() {
        Some(code) => assert_eq!(code, 1153),
        // What it had said was lost with the connection.
        None => assert!(client.ping().is_err()),
    }
    assert_eq!(rows(&server), "200000");
}

#[test]
fn a_killed_load_takes_no_more_rows() {
    let (_folder, server) = server(&[]);
    let mut client = giver(&server);
    ask(&mut client, LOAD);
    let id = client.greeting().connection_id;
    server.client().query(&format!("KILL QUERY {id}")).unwrap();
    send(&mut client, 2, b"1\tone\n").unwrap();
    send(&mut client, 3, b"").unwrap();
    client.expect_sequence(4);
    assert_eq!(client.read_ok().unwrap_err().code(), Some(1317));
    client.ping().unwrap();
    assert_eq!(rows(&server), "0");
}
