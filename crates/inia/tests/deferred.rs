//! Replies that another thread sends when their commits are durable: each client gets all of its
//! replies, in order, and what a reply says is seen by everybody.

use crate::process::{DataDir, Process};
use inia_base::value::Value;
use inia_wire::client::Client;
use inia_wire::command::Command;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

/// A server with `clients` counters in a table, and one that all share.
fn start(clients: usize) -> (Process, DataDir) {
    let folder = DataDir::new();
    let process = Process::start(&folder.path(), &[]);
    let mut client = process.client();
    client.query("CREATE DATABASE d").unwrap();
    client.query("CREATE TABLE d.t (id INT PRIMARY KEY, v INT NOT NULL)").unwrap();
    for id in 0..=clients {
        client.query(&format!("INSERT INTO d.t VALUES ({id}, 0)")).unwrap();
    }
    (process, folder)
}

fn number(client: &mut Client<TcpStream>, id: usize) -> i64 {
    match &client.rows(&format!("SELECT v FROM d.t WHERE id = {id}")).unwrap()[0][0] {
        Value::Text(text) => text.parse().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_acknowledged_change_is_seen_on_every_other_connection() {
    const CLIENTS: usize = 8;
    let (process, _folder) = start(CLIENTS);
    thread::scope(|scope| {
        for id in 1..=CLIENTS {
            let process = &process;
            scope.spawn(move || {
                let (mut writer, mut reader) = (process.client(), process.client());
                for count in 1..=100 {
                    for id in [id, 0] {
                        let sql = format!("UPDATE d.t SET v = v + 1 WHERE id = {id}");
                        writer.query(&sql).unwrap();
                    }
                    assert_eq!(number(&mut reader, id), count);
                }
            });
        }
    });
    assert_eq!(number(&mut process.client(), 0), 100 * CLIENTS as i64);
}

#[test]
fn a_client_that_sends_ahead_gets_its_replies_in_order() {
    const CLIENTS: usize = 4;
    let (process, _folder) = start(CLIENTS);
    thread::scope(|scope| {
        for id in 1..=CLIENTS {
            let process = &process;
            scope.spawn(move || {
                let mut client = process.client();
                let sql = format!("UPDATE d.t SET v = v + 1 WHERE id IN ({id}, 0)");
                let update = Command::Query { sql: sql.as_bytes(), attributes: Vec::new() };
                for _ in 0..50 {
                    for _ in 0..4 {
                        client.send_command(&update).unwrap();
                        client.send_command(&Command::Ping).unwrap();
                    }
                    for rows in [2, 0].repeat(4) {
                        client.expect_sequence(1);
                        assert_eq!(client.read_ok().unwrap().affected_rows, rows);
                    }
                }
                // One that leaves without waiting for its reply has had its change made.
                client.send_command(&update).unwrap();
                client.quit().unwrap();
                let mut gone = Vec::new();
                std::io::Read::read_to_end(client.stream(), &mut gone).unwrap();
            });
        }
    });
    let mut client = process.client();
    for id in 1..=CLIENTS {
        assert_eq!(number(&mut client, id), 201);
    }
    assert_eq!(number(&mut client, 0), 201 * CLIENTS as i64);
}

#[test]
fn an_answer_does_not_wait_for_the_next_statement_of_its_text() {
    let (process, _folder) = start(1);
    let mut client = process.client();
    client.stream().set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    for first in ["SELECT v FROM d.t WHERE id = 1", "UPDATE d.t SET v = v + 1 WHERE id = 1"] {
        client.start_query(&format!("{first}; SELECT SLEEP(60)")).unwrap();
        client.read_payload().unwrap();
        client = process.client();
        client.stream().set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    }
}
