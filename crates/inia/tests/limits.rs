//! How many may connect, and for how long they may be idle: limits that are set while the server
//! runs. The answers are those of MySQL 8.0.31.

use super::process::{DataDir, Process};
use inia_wire::caps::Capabilities;
use inia_wire::client::{Client, ClientError, LoginOptions};
use std::io::Read;
use std::net::TcpStream;

type Connection = Client<TcpStream>;

fn log_in(server: &Process, user: &str) -> Result<Connection, ClientError> {
    let stream = TcpStream::connect(server.address()).unwrap();
    Client::connect(stream, &LoginOptions { user: user.to_owned(), ..LoginOptions::default() })
}

fn refusal(server: &Process, user: &str) -> (u16, String) {
    match log_in(server, user).err().unwrap() {
        ClientError::Server(error) => (error.code, error.message),
        other => panic!("{other:?}"),
    }
}

/// Logs in as soon as the server has seen others leave.
fn log_in_soon(server: &Process, user: &str) -> Connection {
    loop {
        match log_in(server, user) {
            Ok(connection) => return connection,
            Err(error) => assert!([Some(1040), Some(1203), Some(1226)].contains(&error.code())),
        }
    }
}

fn number(connection: &mut Connection, sql: &str) -> String {
    format!("{:?}", connection.rows(sql).unwrap()[0][0])
}

#[test]
fn max_connections_keeps_a_place_for_administrators() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    for sql in [
        "CREATE USER guest@localhost",
        "CREATE USER admin@localhost",
        "GRANT CONNECTION_ADMIN ON *.* TO admin@localhost",
        "SET GLOBAL max_connections = 2",
    ] {
        root.query(sql).unwrap();
    }
    let guest = log_in(&server, "guest").unwrap();
    let full = (1040, String::from("Too many connections"));
    assert_eq!(refusal(&server, "guest"), full);
    // Its place is free as soon as the server has seen it leave.
    let other = std::iter::repeat_with(|| refusal(&server, "nobody").0).find(|code| *code != 1040);
    assert_eq!(other, Some(1045));
    let admin = log_in_soon(&server, "admin");
    // The place for administrators is taken, too: nobody is asked who he is.
    assert_eq!(refusal(&server, "admin"), full);
    assert_eq!(refusal(&server, "nobody"), full);
    drop((guest, admin));
    let _guest = log_in_soon(&server, "guest");
    root.query("SET GLOBAL max_connections = 100").unwrap();
    let _more: Vec<Connection> = (0..5).map(|_| log_in(&server, "guest").unwrap()).collect();
}

#[test]
fn max_user_connections_counts_an_account_s_connections() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    for sql in [
        "CREATE USER one@localhost",
        "CREATE USER two@localhost WITH MAX_USER_CONNECTIONS 2",
        "SET GLOBAL max_user_connections = 1",
    ] {
        root.query(sql).unwrap();
    }
    let mut one = log_in(&server, "one").unwrap();
    let text = "User one already has more than 'max_user_connections' active connections";
    assert_eq!(refusal(&server, "one"), (1203, text.to_owned()));
    assert_eq!(refusal(&server, "root").0, 1203);
    let mut two = log_in(&server, "two").unwrap();
    let second = log_in(&server, "two").unwrap();
    let text = "User 'two' has exceeded the 'max_user_connections' resource (current value: 2)";
    assert_eq!(refusal(&server, "two"), (1226, text.to_owned()));
    assert_eq!(number(&mut one, "SELECT @@max_user_connections"), "Text(\"1\")");
    assert_eq!(number(&mut two, "SELECT @@max_user_connections"), "Text(\"2\")");
    let text = "SESSION variable 'max_user_connections' is read-only. Use SET GLOBAL to assign \
                the value";
    let error = two.query("SET max_user_connections = 9").unwrap_err();
    assert!(error.to_string().contains(text), "{error}");
    drop(second);
    let _second = log_in_soon(&server, "two");
    root.query("SET GLOBAL max_user_connections = 0").unwrap();
    let _one = log_in(&server, "one").unwrap();
}

#[test]
fn wait_timeout_is_the_session_s_own() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    root.query("SET GLOBAL wait_timeout = 77, GLOBAL interactive_timeout = 1").unwrap();
    assert_eq!(number(&mut root, "SELECT @@wait_timeout"), "Text(\"28800\")");
    assert_eq!(number(&mut server.client(), "SELECT @@wait_timeout"), "Text(\"77\")");
    let mut soon = server.client();
    soon.query("SET wait_timeout = 1").unwrap();
    let stream = TcpStream::connect(server.address()).unwrap();
    let capabilities = Capabilities::CLIENT.with(Capabilities::INTERACTIVE);
    let options = LoginOptions { capabilities, ..LoginOptions::default() };
    let mut interactive = Client::connect(stream, &options).unwrap();
    assert_eq!(number(&mut interactive, "SELECT @@wait_timeout"), "Text(\"1\")");
    for mut late in [soon, interactive] {
        let mut bytes = Vec::new();
        late.stream().read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("disconnected by the server because of inactivity"), "{text}");
    }
    root.query("SELECT 1").unwrap();
}
