//! The process list, KILL, starting and stopping.

use crate::support::{TempDir, TestServer, cell, start};
use inia::config::Config;
use inia_base::process::{KillTarget, Processes};
use inia_wire::client::{Client, ClientError};
use std::net::TcpStream;
use std::process;
use std::sync::atomic::Ordering;

/// Starts WAIT on a connection and returns once the server runs it.
fn waiting(server: &TestServer) -> (Client<TcpStream>, u64) {
    let mut client = server.client();
    let id = u64::from(client.greeting().connection_id);
    client.start_query("WAIT").unwrap();
    let runs = || {
        let list = server.server().registry().list();
        list.iter().any(|p| p.id == id && p.info.as_deref() == Some("WAIT"))
    };
    while !runs() {
        std::thread::yield_now();
    }
    (client, id)
}

#[test]
fn the_process_list_shows_who_does_what() {
    let server = TestServer::start();
    let mut client = server.client();
    client.use_database("shop").unwrap();
    let line = "root Some(\"shop\") Query Some(\"PROCESSES\")";
    assert_eq!(cell(&client.rows("PROCESSES").unwrap()), line);
    let statement = client.prepare("PROCESSES").unwrap();
    let rows = client.execute(statement.id, &[]).unwrap().rows;
    assert_eq!(cell(&rows), "root Some(\"shop\") Execute Some(\"PROCESSES\")");
    let list = server.server().registry().list();
    assert_eq!(list.len(), 1);
    assert!(list[0].host.starts_with("localhost:"));
}

#[test]
fn kill_query_ends_only_the_statement() {
    let server = TestServer::start();
    let (mut client, id) = waiting(&server);
    assert!(server.server().registry().kill(id, KillTarget::Query));
    assert!(client.next_result().is_err());
    client.ping().unwrap();
}

#[test]
fn kill_connection_ends_a_running_and_an_idle_connection() {
    let server = TestServer::start();
    let (mut busy, busy_id) = waiting(&server);
    let mut idle = server.client();
    for id in [busy_id, u64::from(idle.greeting().connection_id)] {
        assert!(server.server().registry().kill(id, KillTarget::Connection));
    }
    // Neither gets an error, as in MySQL: clients make error 2013 of the closed connection.
    assert!(matches!(busy.next_result(), Err(ClientError::Io(_))));
    assert!(matches!(idle.read_payload(), Err(ClientError::Io(_))));
    assert!(!server.server().registry().kill(busy_id + 1000, KillTarget::Query));
}

#[test]
fn shutdown_ends_all_connections_and_closes_the_database() {
    let mut server = TestServer::start();
    let (mut busy, _) = waiting(&server);
    let mut idle = server.client();
    server.shutdown();
    assert!(server.closed.load(Ordering::SeqCst));
    assert!(matches!(busy.next_result(), Err(ClientError::Server(_))));
    let goodbye = idle.read_payload().err().or_else(|| Some(ClientError::Unsupported("".into())));
    assert!(goodbye.is_some());
    assert!(idle.ping().is_err());
}

#[test]
fn one_server_at_a_time_owns_a_data_directory() {
    let mut server = TestServer::start();
    let config = server.config.clone();
    let error = start(&config, Default::default()).err().unwrap();
    assert!(error.contains("is in use by another Inia server (process"), "{error}");
    server.shutdown();
    start(&config, Default::default()).unwrap().shutdown().unwrap();
}

#[test]
fn other_hosts_are_not_served_while_root_has_no_password() {
    let dir = TempDir::new();
    let config = Config {
        data: dir.path().join("data"),
        host: "0.0.0.0".to_owned(),
        port: 0,
        ..Config::default()
    };
    let error = start(&config, Default::default()).err().unwrap();
    assert!(error.contains("root has no password"), "{error}");
}

#[test]
fn a_port_in_use_is_named() {
    let server = TestServer::start();
    let dir = TempDir::new();
    let data = dir.path().join("data");
    let config = Config { data, port: server.port(), ..Config::default() };
    let error = start(&config, Default::default()).err().unwrap();
    assert!(error.contains("in use; choose another by --port"), "{error}");
}

#[test]
fn the_mariadb_client_can_connect() {
    let server = TestServer::start();
    let run = |extra: &[&str]| {
        let port = server.port().to_string();
        let output = process::Command::new("mariadb")
            .args(["--no-defaults", "-h127.0.0.1", "-P", &port, "-N", "-e", "ROWS 2; DO 1; ROWS 1"])
            .args(extra)
            .output()
            .ok()?;
        Some((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
    };
    for extra in [
        &["-uroot"][..],
        &["-uroot", "--ssl"],
        &["-unative", "-psecret"],
        &["-usha2", "-psecret"],
        &["-usha2", "-psecret", "--ssl"],
        &["-uroot", "--compress"],
        &["-uroot", "--compress", "--ssl"],
    ] {
        // Where the client is not installed there is nothing to try.
        let Some((success, output)) = run(extra) else { return };
        assert!(success, "{extra:?}");
        assert_eq!(output, "0\tNULL\n1\todd\n0\tNULL\n", "{extra:?}");
    }
}
