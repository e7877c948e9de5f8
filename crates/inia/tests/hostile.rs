//! Clients that break the rules: each gets MySQL's error, and nobody else notices.

use crate::support::{TestServer, cell};
use inia_testkit::random::Random;
use inia_wire::caps::Capabilities;
use inia_wire::client::{Client, ClientError, LoginOptions};
use inia_wire::handshake::Login;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

fn end_of(client: &mut Client<TcpStream>) {
    assert!(matches!(client.read_payload(), Err(ClientError::Io(_))));
}

/// Reads until the server closes.
fn drain(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    bytes
}

#[test]
fn wrong_packets_have_mysql_s_errors() {
    let server = TestServer::start();
    let mut client = server.client();
    let statement = client.prepare("PARAMS ?").unwrap();
    let id = statement.id.to_le_bytes();
    let execute = |tail: &[u8]| [&[0x17][..], &id, &[0, 1, 0, 0, 0], tail].concat();
    let cases = [
        (vec![0x55], 1047),
        (vec![], 1047),
        (vec![0x17, 1], 1835),
        (vec![0x17, 99, 0, 0, 0, 0, 1, 0, 0, 0], 1243),
        (execute(&[]), 1835),
        (execute(&[0, 0]), 1835),
        (execute(&[0, 1, 8, 0, 1, 2]), 1835),
        (vec![0x1c, 9, 0, 0, 0, 1, 0, 0, 0], 1243),
        (vec![0x1a, 9, 0, 0, 0], 1243),
        (b"\x02nosuch".to_vec(), 1049),
    ];
    for (payload, code) in cases {
        client.send_payload(&payload).unwrap();
        let error = client.read_ok().unwrap_err();
        assert_eq!(error.code(), Some(code), "{payload:?}: {error}");
    }
    client.ping().unwrap();
}

#[test]
fn packets_out_of_order_end_the_connection() {
    let server = TestServer::start();
    let mut client = server.client();
    client.stream().write_all(b"\x01\0\0\x05\x0e").unwrap();
    let reply = drain(client.stream());
    assert_eq!(&reply[4..], b"\xff\x84\x04#08S01Got packets out of order");
}

#[test]
fn too_big_packets_end_the_connection_and_say_so() {
    let server = TestServer::start_with(|config| config.max_allowed_packet = 1 << 20);
    let mut client = server.client();
    let fits = format!("LENGTH {}", "x".repeat((1 << 20) - 8));
    assert_eq!(cell(&client.rows(&fits).unwrap()), ((1 << 20) - 1).to_string());
    let error = client.query(&format!("{fits}x")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "ERROR 1153 (08S01): Got a packet bigger than 'max_allowed_packet' bytes"
    );
    end_of(&mut client);
    server.client().ping().unwrap();
}

#[test]
fn connections_may_end_anywhere() {
    let server = TestServer::start();
    drop(server.stream());
    for bytes in [&b"\x10"[..], b"\xff\xff\xff\x01abc", b"\x05\0\0\x01ab"] {
        let mut stream = server.stream();
        stream.write_all(bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        drain(&mut stream);
    }
    let mut client = server.client();
    client.stream().write_all(b"\x20\0\0\0\x03ROWS").unwrap();
    client.stream().shutdown(Shutdown::Write).unwrap();
    drain(client.stream());
    server.client().ping().unwrap();
}

#[test]
fn noise_instead_of_a_login_is_refused() {
    let server = TestServer::start();
    let cases = [
        (&b"\x04\0\0\x01GET "[..], "#08S01Bad handshake"),
        (b"\x03\0\0\x01abc", "#08S01Bad handshake"),
        (b"\x01\0\0\x02a", "#08S01Got packets out of order"),
        (b"\xff\xff\xff\x01abc", "#08S01Got a packet bigger"),
    ];
    for (bytes, expected) in cases {
        let mut stream = server.stream();
        stream.write_all(bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let reply = String::from_utf8_lossy(&drain(&mut stream)).into_owned();
        assert!(reply.contains(expected), "{bytes:?}: {reply}");
    }
}

/// What no record of TLS is, or none that can be understood: noise, records of every type whose
/// bytes are noise, one longer than any may be, and records that end early.
fn bad_records() -> Vec<Vec<u8>> {
    let mut random = Random::new(7);
    let mut noise = |length: usize| (0..length).map(|_| random.next_u64() as u8).collect();
    let mut bad: Vec<Vec<u8>> = vec![noise(1), noise(5), noise(100), noise(100_000)];
    for kind in 20..=24 {
        let head = [kind, 3, 3, 0, 64];
        bad.push([&head[..], &noise(64)].concat());
        bad.push([&head[..], &noise(30)].concat());
        bad.push(head.to_vec());
    }
    bad.push([&[23, 3, 3, 0xff, 0xff][..], &noise(0xffff)].concat());
    bad.push(b"\x01\0\0\0\x0e".to_vec());
    bad.push(b"GET / HTTP/1.0\r\n\r\n".to_vec());
    bad
}

#[test]
fn bytes_that_are_no_tls_end_one_connection() {
    let server = TestServer::start();
    let (mut witness, _) = server.log_in_tls(&LoginOptions::default());
    let login = Login {
        capabilities: Capabilities::CLIENT.with(Capabilities::SSL),
        max_packet: 1 << 24,
        collation: 255,
        ..Login::default()
    };
    let mut request = vec![32, 0, 0, 1];
    login.encode_ssl_request(&mut request);
    for bytes in bad_records() {
        // In place of a ClientHello, together with the request for TLS or after it.
        for together in [true, false] {
            let mut stream = server.stream();
            let mut greeting = [0; 4];
            stream.read_exact(&mut greeting).unwrap();
            let sent = if together {
                stream.write_all(&[&request, &bytes[..]].concat())
            } else {
                stream.write_all(&request).and_then(|()| stream.write_all(&bytes))
            };
            // The server may close before it has taken everything.
            let _ = sent.and_then(|()| stream.shutdown(Shutdown::Write));
            drain(&mut stream);
        }
        // After a login, before and within a request.
        for begun in [false, true] {
            let (mut client, mut below) = server.log_in_tls(&LoginOptions::default());
            client.ping().unwrap();
            if begun {
                client.stream().write_all(b"\x20\0\0\0\x03ROWS").unwrap();
                client.stream().flush().unwrap();
            }
            let _ = below.write_all(&bytes).and_then(|()| below.shutdown(Shutdown::Write));
            drain(&mut below);
        }
        witness.ping().unwrap();
    }
    assert_eq!(cell(&witness.rows("BIG 100000").unwrap()).len(), 100_000);
    server.client().ping().unwrap();
}

#[test]
fn a_client_that_never_logs_in_is_dropped() {
    let server = TestServer::start_with(|config| config.connect_timeout = 1);
    let mut silent = server.stream();
    let greeting = drain(&mut silent);
    assert_eq!(greeting[4], 10);
}

#[test]
fn an_idle_client_gets_the_reason_before_it_is_dropped() {
    let server = TestServer::start_with(|config| config.wait_timeout = 1);
    let mut client = server.client();
    let reply = String::from_utf8_lossy(&drain(client.stream())).into_owned();
    assert!(reply.contains("disconnected by the server because of inactivity"), "{reply}");
}

#[test]
fn too_many_connections_are_refused() {
    let server = TestServer::start_with(|config| config.max_connections = 2);
    let (first, _second) = (server.client(), server.client());
    let refused = server.log_in(&LoginOptions::default()).err().unwrap();
    assert_eq!(refused.code(), Some(1040));
    drop(first);
    // The place is free as soon as the server has seen the client leave.
    while let Err(error) = server.log_in(&LoginOptions::default()) {
        assert_eq!(error.code(), Some(1040));
    }
}

#[test]
fn a_panic_ends_one_connection() {
    let server = TestServer::start();
    let (mut victim, mut other) = (server.client(), server.client());
    assert_eq!(victim.query("PANIC").unwrap_err().code(), Some(1105));
    end_of(&mut victim);
    other.ping().unwrap();
}
