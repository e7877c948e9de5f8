//! SHOW STATUS: what tools read of it.

use crate::process::{DataDir, Process};
use crate::support::connect_tls;
use inia_base::value::Value;
use inia_wire::caps::Capabilities;
use inia_wire::client::{Client, LoginOptions};
use std::io::{Read, Write};
use std::net::TcpStream;

/// A counter's value.
fn status<S: Read + Write>(client: &mut Client<S>, scope: &str, name: &str) -> String {
    let rows = client.rows(&format!("SHOW {scope} STATUS LIKE '{name}'")).unwrap();
    match rows.as_slice() {
        [row] => match &row[1] {
            Value::Text(text) => text.clone(),
            other => panic!("{name} is {other:?}"),
        },
        rows => panic!("{name}: {rows:?}"),
    }
}

fn number<S: Read + Write>(client: &mut Client<S>, scope: &str, name: &str) -> u64 {
    status(client, scope, name).parse().unwrap()
}

#[test]
fn a_session_shows_how_its_packets_are_compressed() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut plain = server.client();
    assert_eq!(status(&mut plain, "SESSION", "Compression"), "OFF");
    assert_eq!(status(&mut plain, "SESSION", "Compression_algorithm"), "");
    let stream = TcpStream::connect(server.address()).unwrap();
    let capabilities = Capabilities::CLIENT.with(Capabilities::ZSTD_COMPRESSION);
    let compressed = LoginOptions { capabilities, ..LoginOptions::default() };
    let mut client = Client::connect(stream, &compressed).unwrap();
    assert_eq!(status(&mut client, "SESSION", "Compression"), "ON");
    assert_eq!(status(&mut client, "SESSION", "Compression_algorithm"), "zstd");
    assert_eq!(number(&mut client, "SESSION", "Compression_level"), 3);
    assert!(client.rows("SHOW GLOBAL STATUS LIKE 'Compression%'").unwrap().is_empty());
}

#[test]
fn a_session_under_tls_shows_its_cipher() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut plain = server.client();
    assert_eq!(status(&mut plain, "SESSION", "Ssl_cipher"), "");
    assert_eq!(number(&mut plain, "GLOBAL", "Ssl_accepts"), 0);
    let stream = TcpStream::connect(server.address()).unwrap();
    let (mut secure, _) = connect_tls(stream, &folder.path(), &LoginOptions::default());
    assert_eq!(status(&mut secure, "SESSION", "Ssl_version"), "TLSv1.3");
    assert!(status(&mut secure, "SESSION", "Ssl_cipher").starts_with("TLS_"));
    assert_eq!(status(&mut plain, "SESSION", "Ssl_version"), "");
    assert_eq!(number(&mut plain, "GLOBAL", "Ssl_accepts"), 1);
}

#[test]
fn prepared_statements_are_counted_with_what_is_done_with_them() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut client = server.client();
    let id = client.prepare("SELECT 1").unwrap().id;
    assert_eq!(number(&mut client, "GLOBAL", "Prepared_stmt_count"), 1);
    client.execute(id, &[]).unwrap();
    client.execute(id, &[]).unwrap();
    client.close_statement(id).unwrap();
    client.query("PREPARE s FROM 'SELECT 2'").unwrap();
    client.query("EXECUTE s").unwrap();
    let counts = [
        ("Com_stmt_prepare", 2),
        ("Com_stmt_execute", 3),
        ("Com_stmt_close", 1),
        ("Com_stmt_fetch", 0),
        ("Com_prepare_sql", 1),
        ("Com_execute_sql", 1),
        ("Com_select", 3),
        ("Com_show_tables", 0),
        ("Prepared_stmt_count", 1),
    ];
    for (name, count) in counts {
        assert_eq!(number(&mut client, "SESSION", name), count, "{name}");
    }
    assert!(number(&mut client, "SESSION", "Com_show_status") >= counts.len() as u64);
}

#[test]
fn connections_and_their_bytes_are_counted() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut client = server.client();
    let others: Vec<_> = (0..3).map(|_| server.client()).collect();
    assert_eq!(number(&mut client, "GLOBAL", "Threads_connected"), 4);
    assert_eq!(number(&mut client, "GLOBAL", "Max_used_connections"), 4);
    for mut other in others {
        other.quit().unwrap();
    }
    let options = LoginOptions { user: "nobody".into(), ..LoginOptions::default() };
    let stream = TcpStream::connect(server.address()).unwrap();
    assert!(Client::connect(stream, &options).is_err());
    drop(server.client());
    while number(&mut client, "GLOBAL", "Aborted_clients") < 1
        || number(&mut client, "GLOBAL", "Aborted_connects") < 1
        || number(&mut client, "GLOBAL", "Threads_connected") > 1
    {
        std::thread::yield_now();
    }
    assert_eq!(number(&mut client, "GLOBAL", "Aborted_clients"), 1, "who says goodbye is no such");
    assert!((4..=5).contains(&number(&mut client, "GLOBAL", "Max_used_connections")));
    assert_eq!(number(&mut client, "GLOBAL", "Threads_created"), 6);
    let (sent, received) = (
        number(&mut client, "SESSION", "Bytes_sent"),
        number(&mut client, "SESSION", "Bytes_received"),
    );
    client.rows(&format!("SELECT REPEAT('x', 10000), '{}'", "y".repeat(500))).unwrap();
    assert!(number(&mut client, "SESSION", "Bytes_sent") > sent + 10_500);
    assert!(number(&mut client, "SESSION", "Bytes_received") > received + 500);
    assert!(number(&mut client, "GLOBAL", "Bytes_sent") > sent + 10_500);
}

#[test]
fn changed_rows_and_pages_are_counted() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &["--buffer-pool-size", "8M"]);
    let mut client = server.client();
    client.query("CREATE DATABASE d").unwrap();
    client.query("CREATE TABLE d.t (a INT PRIMARY KEY)").unwrap();
    client.query("INSERT INTO d.t VALUES (1), (2), (3)").unwrap();
    client.query("UPDATE d.t SET a = a + 10").unwrap();
    client.query("DELETE FROM d.t WHERE a > 11").unwrap();
    for (name, count) in
        [("Innodb_rows_inserted", 3), ("Innodb_rows_updated", 3), ("Innodb_rows_deleted", 2)]
    {
        assert_eq!(number(&mut client, "GLOBAL", name), count, "{name}");
    }
    assert_eq!(number(&mut server.client(), "SESSION", "Handler_write"), 0);
    assert_eq!(number(&mut client, "SESSION", "Handler_write"), 3);
    let total = number(&mut client, "GLOBAL", "Innodb_buffer_pool_pages_total");
    let data = number(&mut client, "GLOBAL", "Innodb_buffer_pool_pages_data");
    let free = number(&mut client, "GLOBAL", "Innodb_buffer_pool_pages_free");
    assert_eq!(total, (8 << 20) / (16 << 10));
    assert!(data > 0 && data + free == total, "{data} + {free} = {total}");
    assert!(number(&mut client, "GLOBAL", "Innodb_buffer_pool_pages_dirty") <= data);
    let counts = |client: &mut _| {
        let names = ["Innodb_log_writes", "Innodb_os_log_fsyncs", "Innodb_os_log_written"];
        names.map(|name| number(client, "GLOBAL", name))
    };
    let before = counts(&mut client);
    client.query("INSERT INTO d.t VALUES (100)").unwrap();
    let after = counts(&mut client);
    assert!(
        before.iter().zip(&after).all(|(before, after)| before < after),
        "{before:?} {after:?}"
    );
    assert!(number(&mut client, "GLOBAL", "Innodb_data_writes") >= after[0]);
}

#[test]
fn the_public_key_for_passwords_and_the_socket_are_shown() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut client = server.client();
    // A thread of its own makes the key.
    let key = loop {
        let key = status(&mut client, "GLOBAL", "Caching_sha2_password_rsa_public_key");
        if !key.is_empty() {
            break key;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert!(key.starts_with("-----BEGIN PUBLIC KEY-----"), "{key}");
    assert_eq!(status(&mut client, "SESSION", "Rsa_public_key"), key);
    let rows = client.rows("SELECT @@socket, @@performance_schema_session_connect_attrs_size");
    let socket = folder.path().join("socket").display().to_string();
    assert_eq!(rows.unwrap(), [vec![Value::Text(socket), Value::Text("512".into())]]);
}

#[test]
fn requests_to_files_are_counted() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &["--general-log=ON"]);
    let mut client = server.client();
    client.query("CREATE DATABASE d").unwrap();
    client.query("CREATE TABLE d.t (a INT)").unwrap();
    client.query("INSERT INTO d.t VALUES (1)").unwrap();
    let files = "SELECT SUM(count_write), SUM(count_misc), SUM(sum_timer_misc) > 0 \
                 FROM performance_schema.file_summary_by_instance WHERE event_name LIKE";
    let mut sums = |pattern: &str| {
        let rows = client.rows(&format!("{files} '{pattern}'")).unwrap();
        rows[0].iter().map(|value| format!("{value:?}")).collect::<Vec<_>>()
    };
    let log = sums("%innodb_log_file");
    assert!(log.iter().all(|sum| !sum.contains("Null") && !sum.contains("(0)")), "{log:?}");
    assert_ne!(sums("%query_log")[0], "Null");
    let mut text = |query: &str| format!("{:?}", client.rows(query).unwrap());
    let instances = text("SELECT file_name, event_name FROM performance_schema.file_instances");
    for part in ["inia.data", "innodb_data_file", "wal-0", "localhost.log", "innodb_dblwr_file"] {
        assert!(instances.contains(part), "{part}: {instances}");
    }
    let by_bytes = text("SELECT file FROM sys.io_global_by_file_by_bytes");
    assert!(by_bytes.contains("@@datadir/inia.data"), "{by_bytes}");
    let waits = text("SELECT event_name, total_written FROM sys.io_global_by_wait_by_bytes");
    assert!(waits.contains("innodb/innodb_log_file"), "{waits}");
    let hosts = text("SELECT host, ios > 0 FROM sys.host_summary_by_file_io");
    assert!(hosts.contains("background"), "{hosts}");
    client.query("TRUNCATE performance_schema.file_summary_by_instance").unwrap();
    let rows =
        client.rows("SELECT SUM(count_read) FROM performance_schema.file_summary_by_instance");
    assert_eq!(format!("{:?}", rows.unwrap()[0][0]), "Text(\"0\")");
    assert!(number(&mut client, "GLOBAL", "Innodb_num_open_files") >= 4);
}

#[test]
fn refused_logins_and_locked_accounts_are_counted() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut client = server.client();
    client.query("CREATE USER locked@localhost ACCOUNT LOCK").unwrap();
    for user in ["locked", "nobody"] {
        let stream = TcpStream::connect(server.address()).unwrap();
        let login = LoginOptions { user: user.to_owned(), ..LoginOptions::default() };
        assert!(Client::connect(stream, &login).is_err());
    }
    assert_eq!(number(&mut client, "GLOBAL", "Locked_connects"), 1);
    let rows = client.rows(
        "SELECT error_number, sum_error_raised, user IS NULL AND host IS NULL \
         FROM performance_schema.events_errors_summary_by_account_by_error \
         WHERE error_number IN (1045, 3118) ORDER BY 1",
    );
    let rows: Vec<String> = rows.unwrap().iter().map(|row| format!("{row:?}")).collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows[0].contains("1045") && rows[1].contains("3118"), "{rows:?}");
}

#[test]
fn what_sessions_did_counts_for_their_accounts_when_they_are_gone() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &["--inia-statement-sums=ON"]);
    let mut client = server.client();
    client.query("CREATE USER u@localhost").unwrap();
    let login = LoginOptions { user: String::from("u"), ..LoginOptions::default() };
    let stream = TcpStream::connect(server.address()).unwrap();
    let mut guest = Client::connect(stream, &login).unwrap();
    guest.rows("SELECT 1").unwrap();
    guest.query("BEGIN").unwrap();
    guest.query("SELECT nosuch").unwrap_err();
    drop(guest);
    let mut rows = |query: &str| format!("{:?}", client.rows(query).unwrap());
    let live = "SELECT current_connections FROM performance_schema.users WHERE user = 'u'";
    while !rows(live).contains("\"0\"") {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let counts = [
        "SELECT sum_error_raised FROM performance_schema.events_errors_summary_by_user_by_error \
         WHERE user = 'u' AND error_number = 1054",
        "SELECT count_star FROM \
         performance_schema.events_transactions_summary_by_user_by_event_name WHERE user = 'u'",
        "SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_user_by_event_name \
         WHERE user = 'u' AND event_name = 'statement/sql/begin' AND count_star = 1",
        "SELECT statements = 3 FROM sys.user_summary WHERE user = 'u'",
    ];
    for query in counts {
        assert_eq!(rows(query), "[[Text(\"1\")]]", "{query}");
    }
}

#[test]
fn waits_for_rows_are_counted_while_they_last_and_by_the_longest() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut client = server.client();
    client.query("CREATE DATABASE d").unwrap();
    client.query("CREATE TABLE d.t (a INT PRIMARY KEY)").unwrap();
    client.query("INSERT INTO d.t VALUES (1)").unwrap();
    assert_eq!(number(&mut client, "GLOBAL", "Innodb_row_lock_current_waits"), 0);
    client.query("BEGIN").unwrap();
    client.query("DELETE FROM d.t").unwrap();
    let mut other = server.client();
    let waiter = std::thread::spawn(move || other.query("SELECT a FROM d.t FOR UPDATE").is_ok());
    while number(&mut client, "GLOBAL", "Innodb_row_lock_current_waits") == 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_millis(20));
    client.query("COMMIT").unwrap();
    assert!(waiter.join().unwrap());
    assert_eq!(number(&mut client, "GLOBAL", "Innodb_row_lock_current_waits"), 0);
    let longest = number(&mut client, "GLOBAL", "Innodb_row_lock_time_max");
    assert!(longest >= 20, "{longest}");
    assert_eq!(number(&mut client, "GLOBAL", "Innodb_row_lock_time"), longest);
}

#[test]
fn queries_that_their_limit_of_time_ends_are_counted() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut client = server.client();
    client.query("SET cte_max_recursion_depth = 4294967295, max_execution_time = 50").unwrap();
    let endless = "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) \
                   SELECT COUNT(*) FROM r WHERE n = 0";
    let error = client.query(endless).unwrap_err();
    assert!(format!("{error:?}").contains("3024"), "{error:?}");
    client.query("SET max_execution_time = 0").unwrap();
    assert_eq!(number(&mut client, "SESSION", "Max_execution_time_exceeded"), 1);
    assert_eq!(number(&mut client, "GLOBAL", "Key_blocks_unused"), 6698);
}
