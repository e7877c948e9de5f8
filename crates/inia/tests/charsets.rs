//! Statements and results in the character set of the client, and strings that are in none.
//!
//! The expected bytes are what MySQL 8.0.31 sends for the same bytes.

use crate::process::{DataDir, Process};
use inia_base::value::Value;
use inia_wire::client::{Client, ClientError};
use std::net::TcpStream;

/// Sends a statement of any bytes; the rows of its last result.
fn rows(client: &mut Client<TcpStream>, sql: &[u8]) -> Result<Vec<Vec<Value>>, ClientError> {
    client.start_query_bytes(sql)?;
    let mut last = Vec::new();
    while let Some(result) = client.next_result()? {
        last = result.rows;
    }
    Ok(last)
}

/// The only cell of the only row, as bytes.
fn cell(client: &mut Client<TcpStream>, sql: &[u8]) -> Vec<u8> {
    match &rows(client, sql).unwrap()[0][0] {
        Value::Text(text) => text.as_bytes().to_vec(),
        Value::Bytes(bytes) => bytes.clone(),
        other => panic!("{other:?}"),
    }
}

fn connect(setup: &str) -> (DataDir, Process, Client<TcpStream>) {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut client = server.client();
    client.query("CREATE DATABASE d").unwrap();
    client.query("USE d").unwrap();
    for sql in setup.split_terminator(';') {
        client.query(sql).unwrap();
    }
    (folder, server, client)
}

/// Programs put binary data between quotes; dumps without `--hex-blob` do, too.
#[test]
fn a_string_that_is_no_utf8_stays_as_it_is_and_warns() {
    let (_folder, _server, mut client) = connect("CREATE TABLE t (b VARBINARY(20), v VARCHAR(20))");
    rows(&mut client, b"INSERT INTO t (b) VALUES ('\xff\0\\'\\\\x')").unwrap();
    let warnings = rows(&mut client, b"SHOW WARNINGS").unwrap();
    assert_eq!(warnings[0][1], Value::Text("1300".into()));
    let message = "Invalid utf8mb4 character string: 'FF0027'";
    assert_eq!(warnings[0][2], Value::Text(message.into()));
    assert_eq!(cell(&mut client, b"SELECT b FROM t"), b"\xff\0'\\x");
    assert_eq!(
        cell(&mut client, b"SELECT HEX(b) FROM t WHERE b = '\xff\0\\'\\\\x'"),
        b"FF00275C78"
    );
    assert_eq!(cell(&mut client, b"SELECT LENGTH('ab\xffcd')"), b"5");

    rows(&mut client, b"INSERT INTO t (b) VALUES (_binary'\xfe')").unwrap();
    assert!(rows(&mut client, b"SHOW WARNINGS").unwrap().is_empty());

    let refused = rows(&mut client, b"INSERT INTO t (v) VALUES ('\xff')").unwrap_err();
    assert_eq!(refused.code(), Some(1366));
    assert_eq!(cell(&mut client, b"SELECT COUNT(*) FROM t"), b"2");
}

#[test]
fn several_statements_may_hold_such_strings() {
    let (_folder, server, _) = connect("CREATE TABLE t (b VARBINARY(20))");
    let mut client = server.client();
    client.use_database("d").unwrap();
    let sql =
        b"INSERT INTO t VALUES ('\xff'); INSERT INTO t VALUES ('\xfe');SELECT HEX(MIN(b)) FROM t";
    assert_eq!(cell(&mut client, sql), b"FE");
}

#[test]
fn a_latin1_client_sends_and_gets_latin1() {
    let columns = "u VARCHAR(20), l VARCHAR(20) CHARACTER SET latin1, b VARBINARY(20)";
    let (_folder, _server, mut client) = connect(&format!("CREATE TABLE t ({columns})"));
    client.query("SET NAMES latin1").unwrap();
    rows(&mut client, b"INSERT INTO t VALUES ('\xe9\x80', '\xe9', '\xe9')").unwrap();
    // In the table the text has the column's characters, and the bytes are the client's.
    let stored = cell(&mut client, b"SELECT CONCAT_WS(' ', HEX(u), HEX(l), HEX(b)) FROM t");
    assert_eq!(stored, b"C3A9E282AC E9 E9");
    assert_eq!(cell(&mut client, b"SELECT u FROM t WHERE u = '\xe9\x80'"), b"\xe9\x80");
    assert_eq!(cell(&mut client, b"SELECT HEX(_utf8mb4'\xc3\xa9')"), b"C3A9");
    assert_eq!(cell(&mut client, b"SELECT HEX(_binary'\xe9')"), b"E9");
    // What the client cannot show becomes a question mark.
    assert_eq!(cell(&mut client, b"SELECT _utf8mb4 X'F09F9880'"), b"?");

    // These parameters are the UTF-8 of an é, which latin1 reads as two characters.
    rows(&mut client, b"INSERT INTO t (l) VALUES ('\xc3\xa9')").unwrap();
    let prepared = client.prepare("SELECT HEX(?) FROM t WHERE l = ?").unwrap();
    let e = || Value::Text("é".into());
    let got = client.execute(prepared.id, &[e(), e()]).unwrap().rows;
    assert_eq!(got, [[Value::Text("C3A9".into())]]);

    let unknown = rows(&mut client, b"SELECT nosuch\xe9").unwrap_err();
    assert_eq!(unknown.code(), Some(1054));
}

#[test]
fn an_introducer_says_what_the_clients_bytes_mean() {
    let (_folder, _server, mut client) = connect("");
    assert_eq!(cell(&mut client, "SELECT HEX(_latin1'é')".as_bytes()), b"C3A9");
    assert_eq!(cell(&mut client, "SELECT CHAR_LENGTH(_latin1'é')".as_bytes()), b"2");
    assert_eq!(cell(&mut client, "SELECT _latin1'é'".as_bytes()), "Ã©".as_bytes());
    assert_eq!(cell(&mut client, "SELECT HEX(_binary'é')".as_bytes()), b"C3A9");
}

#[test]
fn results_come_in_the_character_set_that_was_asked_for() {
    let (_folder, _server, mut client) = connect(
        "CREATE TABLE t (u VARCHAR(20), l VARCHAR(20) CHARACTER SET latin1);\
         INSERT INTO t VALUES ('é😀', 'é')",
    );
    let mut both = |set: &str| {
        client.query(set).unwrap();
        let cells = [b"SELECT u FROM t".as_slice(), b"SELECT l FROM t"];
        cells.map(|sql| cell(&mut client, sql))
    };
    assert_eq!(both("SET NAMES utf8mb4"), ["é😀".as_bytes(), "é".as_bytes()]);
    assert_eq!(both("SET NAMES utf8mb3"), ["é?".as_bytes(), "é".as_bytes()]);
    assert_eq!(both("SET NAMES latin1"), [b"\xe9?".as_slice(), b"\xe9"]);
    assert_eq!(both("SET NAMES ascii"), [b"??".as_slice(), b"?"]);
    // Without a conversion each column keeps its own.
    assert_eq!(both("SET NAMES binary"), ["é😀".as_bytes(), b"\xe9"]);
    assert_eq!(both("SET character_set_results = NULL"), ["é😀".as_bytes(), b"\xe9"]);
}
