//! Nothing acknowledged is lost when the server is killed in the middle of its work.
//!
//! Clients move money between accounts and note each transfer in a table; a ledger outside the
//! server notes what was acknowledged. After each SIGKILL the server recovers, and then: every
//! acknowledged transfer is there, at most one more per client is, and no money came or went.

use crate::process::{DataDir, Process};
use inia_base::value::Value;
use inia_wire::client::{Client, ClientError};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const CLIENTS: usize = 8;
const ACCOUNTS: u64 = 50;
const START: u64 = 1000;
const ROUNDS: u64 = 3;
/// Transfers between two kills.
const TRANSFERS: u64 = 400;

fn number(client: &mut Client<TcpStream>, sql: &str) -> u64 {
    let rows = client.rows(sql).unwrap();
    match &rows[0][0] {
        Value::Text(text) => text.parse().unwrap(),
        Value::Null => 0,
        other => panic!("{sql}: {other:?}"),
    }
}

/// One transfer in one transaction; retried while it loses deadlocks.
fn transfer(client: &mut Client<TcpStream>, id: usize, number: u64) -> Result<(), ClientError> {
    let from = (number * 7 + id as u64) % ACCOUNTS;
    let to = (number * 13 + id as u64 * 3 + 1) % ACCOUNTS;
    loop {
        let done = [
            "BEGIN".to_owned(),
            format!("UPDATE accounts SET balance = balance - 1 WHERE id = {from}"),
            format!("UPDATE accounts SET balance = balance + 1 WHERE id = {to}"),
            format!("INSERT INTO transfers VALUES ({id}, {number})"),
            "COMMIT".to_owned(),
        ]
        .iter()
        .try_for_each(|sql| client.query(sql).map(drop));
        match done {
            Err(error) if error.code() == Some(1213) => {}
            other => return other,
        }
    }
}

/// Runs clients until they have made `TRANSFERS` transfers together, then kills the server.
fn run_and_kill(server: Process, acknowledged: &[AtomicU64]) {
    let done = AtomicU64::new(0);
    let port = server.port();
    thread::scope(|scope| {
        for (id, ledger) in acknowledged.iter().enumerate() {
            let (done, mut client) = (&done, server.client());
            scope.spawn(move || {
                client.query("USE bank").unwrap();
                loop {
                    let number = ledger.load(Ordering::SeqCst);
                    if transfer(&mut client, id, number).is_err() {
                        return;
                    }
                    ledger.store(number + 1, Ordering::SeqCst);
                    done.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        while done.load(Ordering::SeqCst) < TRANSFERS {
            thread::yield_now();
        }
        server.kill();
    });
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "the killed server still listens");
}

fn verify(client: &mut Client<TcpStream>, acknowledged: &[AtomicU64]) {
    client.query("USE bank").unwrap();
    let sum = number(client, "SELECT SUM(balance) FROM accounts");
    assert_eq!(sum, ACCOUNTS * START, "money came or went");
    for (id, ledger) in acknowledged.iter().enumerate() {
        let promised = ledger.load(Ordering::SeqCst);
        let count = number(client, &format!("SELECT COUNT(*) FROM transfers WHERE client = {id}"));
        let last = number(client, &format!("SELECT MAX(n) + 1 FROM transfers WHERE client = {id}"));
        assert_eq!(count, last, "client {id} has a gap");
        assert!(count >= promised, "client {id}: {promised} acknowledged, {count} found");
        assert!(count <= promised + 1, "client {id}: {promised} acknowledged, {count} found");
        ledger.store(count, Ordering::SeqCst);
    }
}

#[test]
fn acknowledged_commits_survive_sigkill() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut client = server.client();
    for sql in [
        "CREATE DATABASE bank",
        "USE bank",
        "CREATE TABLE accounts (id INT PRIMARY KEY, balance BIGINT NOT NULL)",
        "CREATE TABLE transfers (client INT, n BIGINT, PRIMARY KEY (client, n), KEY (n))",
    ] {
        client.query(sql).unwrap();
    }
    for id in 0..ACCOUNTS {
        client.query(&format!("INSERT INTO accounts VALUES ({id}, {START})")).unwrap();
    }
    drop(client);
    let acknowledged: Vec<AtomicU64> = (0..CLIENTS).map(|_| AtomicU64::new(0)).collect();
    run_and_kill(server, &acknowledged);
    for _ in 1..ROUNDS {
        let server = Process::start(&folder.path(), &[]);
        verify(&mut server.client(), &acknowledged);
        run_and_kill(server, &acknowledged);
    }
    let server = Process::start(&folder.path(), &[]);
    verify(&mut server.client(), &acknowledged);
    server.kill();
    let check =
        Command::new(env!("CARGO_BIN_EXE_inia")).arg("check").arg(folder.path()).output().unwrap();
    assert!(check.status.success(), "inia check: {}", String::from_utf8_lossy(&check.stdout));
}
