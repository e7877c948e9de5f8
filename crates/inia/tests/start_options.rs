//! Options that a server starts with: MySQL's names, and system variables, in a `my.cnf` and among
//! the arguments.

use crate::process::{DataDir, Process};
use crate::support::TempDir;
use inia_base::value::Value;
use inia_wire::client::Client;
use std::net::TcpStream;

/// The values of variables, as texts.
fn values(client: &mut Client<TcpStream>, names: &str) -> Vec<String> {
    let rows = client.rows(&format!("SELECT CONCAT_WS('|', {names})")).unwrap();
    let Value::Text(text) = &rows[0][0] else { panic!("a text: {rows:?}") };
    text.split('|').map(str::to_owned).collect()
}

#[test]
fn system_variables_of_a_my_cnf_are_those_of_sessions() {
    let (folder, files) = (DataDir::new(), TempDir::new());
    let config = files.path().join("my.cnf");
    let text = "[client]\nport = 1\n[mysqld]\nuser = mysql\nsql-mode = ANSI\n\
                collation_server = latin1_german1_ci\ncharacter-set-server = latin1\n\
                default-time-zone = '+02:00'\nlong_query_time = 0.25\nslow-query-log\n\
                max_allowed_packet = 16M\ntmp_table_size = 8M\nmax_connections = 77\n\
                skip-networking = 0\nlower_case_table_names = 0\ninnodb_log_file_size = 1G\n\
                skip-autocommit\ntransaction-isolation = READ-COMMITTED\n\
                [inia]\ninia_statement_sums = ON\n";
    std::fs::write(&config, text).unwrap();
    let errors = files.path().join("errors.log");
    let log = format!("--log-error={}", errors.display());
    let options = ["--config", config.to_str().unwrap(), &log, "--sort_buffer_size=1M"];
    let server = Process::start(&folder.path(), &options);
    let mut client = server.client();
    let names = "@@character_set_server, @@collation_server, @@time_zone, @@long_query_time, \
                 @@slow_query_log, @@max_allowed_packet, @@tmp_table_size, @@max_connections, \
                 @@autocommit, @@transaction_isolation, @@inia_statement_sums, @@sort_buffer_size";
    let expected = [
        "latin1",
        "latin1_german1_ci",
        "+02:00",
        "0.250000",
        "1",
        "16777216",
        "8388608",
        "77",
        "0",
        "READ-COMMITTED",
        "1",
        "1048576",
    ];
    assert_eq!(values(&mut client, names), expected);
    let quoted = client.rows("SELECT @@sql_mode AS \"quoted\"").unwrap();
    assert!(matches!(&quoted[0][0], Value::Text(mode) if mode.contains("ANSI_QUOTES")));
    let said = std::fs::read_to_string(&errors).unwrap();
    assert!(said.contains("cannot be changed keep their values: innodb-log-file-size"), "{said}");
}

#[test]
fn a_variable_that_was_persisted_stands_above_the_option() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &["--lock-wait-timeout=7"]);
    let mut client = server.client();
    assert_eq!(values(&mut client, "@@lock_wait_timeout"), ["7"]);
    client.query("SET PERSIST lock_wait_timeout = 9").unwrap();
    drop(server);
    let server = Process::start(&folder.path(), &["--lock-wait-timeout=7"]);
    assert_eq!(values(&mut server.client(), "@@lock_wait_timeout"), ["9"]);
}

#[test]
fn mysqls_names_of_options_are_taken_as_arguments() {
    let folder = DataDir::new();
    let options = ["--innodb-buffer-pool-size=16M", "--bind-address=127.0.0.1"];
    let server = Process::start(&folder.path(), &options);
    let names = "@@innodb_buffer_pool_size, @@bind_address, @@port, @@pid_file";
    let pid = folder.path().join("inia.pid").display().to_string();
    let expected = ["16777216", "127.0.0.1", &server.port().to_string(), &pid];
    assert_eq!(values(&mut server.client(), names), expected);
}

#[test]
fn the_longest_packet_can_be_changed_for_later_connections() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &["--max-allowed-packet", "64K"]);
    let mut client = server.client();
    let long = format!("SELECT LENGTH('{}')", "x".repeat(100_000));
    client.query("SET GLOBAL max_allowed_packet = 1048576").unwrap();
    assert_eq!(server.client().rows(&long).unwrap(), [[Value::Text("100000".into())]]);
    let error = client.query(&long).unwrap_err().to_string();
    assert!(error.contains("1153") || error.contains("packet"), "{error}");
}
