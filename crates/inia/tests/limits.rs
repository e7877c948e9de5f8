//! How many may connect, how often and for how long they may do what, and how old their passwords
//! may be: limits that are set while the server runs. The answers are those of MySQL 8.0.31.

use super::process::{DataDir, Process};
use inia_base::column::status;
use inia_wire::caps::Capabilities;
use inia_wire::client::{Client, ClientError, LoginOptions};
use inia_wire::command::Command;
use inia_wire::command::execute_flags::CURSOR_READ_ONLY;
use std::io::Read;
use std::net::TcpStream;

type Connection = Client<TcpStream>;

fn options(user: &str) -> LoginOptions {
    LoginOptions { user: user.to_owned(), ..LoginOptions::default() }
}

fn connect(server: &Process, options: &LoginOptions) -> Result<Connection, ClientError> {
    Client::connect(TcpStream::connect(server.address()).unwrap(), options)
}

fn log_in(server: &Process, user: &str) -> Result<Connection, ClientError> {
    connect(server, &options(user))
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

#[test]
fn max_connections_per_hour_counts_what_got_in() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    root.query("CREATE USER one@localhost WITH MAX_CONNECTIONS_PER_HOUR 2").unwrap();
    let text = "User 'one' has exceeded the 'max_connections_per_hour' resource (current value: 2)";
    let full = (1226, text.to_owned());
    let wrong = LoginOptions { password: "x".to_owned(), ..options("one") };
    assert_eq!(connect(&server, &wrong).err().unwrap().code(), Some(1045));
    drop(log_in(&server, "one").unwrap());
    // A connection counts although its database is not there.
    let lost = LoginOptions { database: Some("nosuch".to_owned()), ..options("one") };
    assert_eq!(connect(&server, &lost).err().unwrap().code(), Some(1044));
    assert_eq!(refusal(&server, "one"), full);
    for sql in [
        "FLUSH USER_RESOURCES",
        "FLUSH PRIVILEGES",
        "ALTER USER one@localhost WITH MAX_CONNECTIONS_PER_HOUR 2",
    ] {
        root.query(sql).unwrap();
        drop((log_in(&server, "one").unwrap(), log_in(&server, "one").unwrap()));
        assert_eq!(refusal(&server, "one"), full, "{sql}");
    }
}

#[test]
fn limits_hold_for_sessions_that_logged_in_under_one() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    root.query("CREATE USER one@localhost").unwrap();
    let mut free = log_in(&server, "one").unwrap();
    root.query("ALTER USER one@localhost WITH MAX_QUERIES_PER_HOUR 2").unwrap();
    let mut held = log_in(&server, "one").unwrap();
    let ask = |connection: &mut Connection| connection.query("DO 1").err().and_then(|e| e.code());
    assert_eq!([ask(&mut held), ask(&mut held), ask(&mut held)], [None, None, Some(1226)]);
    assert_eq!([ask(&mut free), ask(&mut free), ask(&mut free)], [None; 3]);
    // A kept plan, a reset connection and another session are no ways round it.
    held.send_command(&Command::ResetConnection).unwrap();
    held.read_ok().unwrap();
    assert_eq!(ask(&mut held), Some(1226));
    assert_eq!(ask(&mut log_in(&server, "one").unwrap()), Some(1226));
    root.query("ALTER USER one@localhost WITH MAX_QUERIES_PER_HOUR 5").unwrap();
    let same = |at: i32| held.rows(&format!("SELECT {at} + 1")).err().and_then(|e| e.code());
    let answers: Vec<_> = (0..6).map(same).collect();
    assert_eq!(answers, [None, None, None, None, None, Some(1226)]);
    // Executions by the binary protocol do not count.
    root.query("FLUSH USER_RESOURCES").unwrap();
    let prepared = held.prepare("DO 1").unwrap();
    (0..9).for_each(|_| drop(held.execute(prepared.id, &[]).unwrap()));
    assert_eq!(ask(&mut held), None);
}

#[test]
fn passwords_expire_after_their_days() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    for sql in [
        "CREATE DATABASE d",
        "SET timestamp = UNIX_TIMESTAMP() - 3 * 86400 - 60",
        "CREATE USER late@localhost PASSWORD EXPIRE INTERVAL 3 DAY",
        "CREATE USER never@localhost PASSWORD EXPIRE NEVER",
        "CREATE USER usual@localhost",
        "SET timestamp = UNIX_TIMESTAMP() + 120",
        "CREATE USER soon@localhost PASSWORD EXPIRE INTERVAL 3 DAY",
        "GRANT ALL ON d.* TO late@localhost",
    ] {
        root.query(sql).unwrap();
    }
    let text = "Your password has expired. To log in you must change it using a client that \
                supports expired passwords.";
    assert_eq!(refusal(&server, "late"), (1862, text.to_owned()));
    ["never", "soon", "usual"].iter().for_each(|user| drop(log_in(&server, user).unwrap()));
    root.query("SET GLOBAL default_password_lifetime = 3").unwrap();
    assert_eq!(refusal(&server, "usual").0, 1862);
    ["never", "soon", "root"].iter().for_each(|user| drop(log_in(&server, user).unwrap()));

    let capabilities = Capabilities::CLIENT.with(Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS);
    let database = Some("d".to_owned());
    let able = LoginOptions { capabilities, database, ..options("late") };
    let mut late = connect(&server, &able).unwrap();
    late.ping().unwrap();
    for command in [Command::ResetConnection, Command::Statistics, Command::InitDb(b"d")] {
        late.send_command(&command).unwrap();
        assert_eq!(late.read_ok().unwrap_err().code(), Some(1820), "{command:?}");
    }
    let select = late.prepare("SELECT 1").unwrap();
    assert_eq!(late.execute(select.id, &[]).unwrap_err().code(), Some(1820));
    assert_eq!(late.query("SELECT 1").unwrap_err().code(), Some(1820));
    late.query("SET PASSWORD = ''").unwrap();
    late.execute(select.id, &[]).unwrap();
    late.query("SELECT 1").unwrap();
    log_in(&server, "late").unwrap();
}

#[test]
fn old_passwords_outlive_the_server() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    let native = "IDENTIFIED WITH mysql_native_password BY";
    root.query(&format!("CREATE USER one {native} 'p0' PASSWORD HISTORY 300")).unwrap();
    for n in 1..300 {
        root.query(&format!("ALTER USER one IDENTIFIED BY 'p{n}'")).unwrap();
    }
    server.kill();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    for n in [0, 150, 299] {
        let error = root.query(&format!("ALTER USER one IDENTIFIED BY 'p{n}'")).unwrap_err();
        assert_eq!(error.code(), Some(3638));
    }
    root.query("ALTER USER one IDENTIFIED BY 'p300'").unwrap();
    root.query("ALTER USER one IDENTIFIED BY 'p0'").unwrap();
}

#[test]
fn cursors_give_the_rows_that_went_to_a_file() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    root.query("SET cte_max_recursion_depth = 100000").unwrap();
    let sql = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20000) \
               SELECT n, CONCAT('n', n, REPEAT('x', 100 + n % 50)) FROM c";
    let wanted = root.rows(sql).unwrap();
    for size in [1024, 1 << 30] {
        root.query(&format!("SET tmp_table_size = {size}")).unwrap();
        let prepared = root.prepare(sql).unwrap();
        let opened = root.execute_with_flags(prepared.id, &[], CURSOR_READ_ONLY).unwrap();
        let mut rows = Vec::new();
        let mut end = opened.completion;
        while end.status & status::LAST_ROW_SENT == 0 {
            let (more, next) = root.fetch(prepared.id, 3333, &opened.columns).unwrap();
            rows.extend(more);
            end = next;
        }
        let texts: Vec<_> = rows.iter().map(|row| &row[1]).collect();
        assert!(texts == wanted.iter().map(|row| &row[1]).collect::<Vec<_>>());
        // Another execution ends the cursor; so does one that fails.
        root.execute_with_flags(prepared.id, &[], CURSOR_READ_ONLY).unwrap();
        root.fetch(prepared.id, 1, &opened.columns).unwrap();
        root.execute(prepared.id, &[]).unwrap();
        let error = root.fetch(prepared.id, 1, &opened.columns).unwrap_err();
        assert_eq!(error.code(), Some(1421));
    }
}
