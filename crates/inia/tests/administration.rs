//! Statements and commands about the server itself. The answers are those of MySQL 8.0.31.

use crate::process::{DataDir, Process};
use inia_base::value::Value;
use inia_wire::client::{Client, LoginOptions};
use inia_wire::command::Command;
use std::net::TcpStream;

fn server(folder: &DataDir) -> (Process, Client<TcpStream>) {
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    root.query("CREATE USER plain").unwrap();
    (server, root)
}

fn plain(server: &Process) -> Client<TcpStream> {
    let stream = TcpStream::connect(server.address()).unwrap();
    Client::connect(stream, &LoginOptions { user: "plain".into(), ..LoginOptions::default() })
        .unwrap()
}

fn said(client: &mut Client<TcpStream>, sql: &str) -> String {
    client.query(sql).map_or_else(|error| error.to_string(), |_| "OK".to_owned())
}

fn lacks(privilege: &str) -> String {
    format!(
        "ERROR 1227 (42000): Access denied; you need (at least one of) the {privilege} \
         privilege(s) for this operation"
    )
}

#[test]
fn shutdown_answers_and_ends_the_server_in_order() {
    let folder = DataDir::new();
    let (server, mut root) = server(&folder);
    let mut other = plain(&server);
    assert_eq!(said(&mut other, "SHUTDOWN"), lacks("SHUTDOWN"));
    root.query("CREATE DATABASE d").unwrap();
    root.query("CREATE TABLE d.t (a INT)").unwrap();
    root.query("INSERT INTO d.t VALUES (1)").unwrap();
    assert_eq!(said(&mut root, "SHUTDOWN"), "OK");
    assert_eq!(server.wait(), Some(0));
    assert!(other.query("DO 1").is_err());
    let server = Process::start(&folder.path(), &[]);
    assert_eq!(server.client().rows("SELECT a FROM d.t").unwrap().len(), 1);
}

#[test]
fn restart_needs_a_supervisor() {
    let folder = DataDir::new();
    let (server, mut root) = server(&folder);
    assert_eq!(
        said(&mut root, "RESTART"),
        "ERROR 3707 (HY000): Restart server failed (mysqld is not managed by supervisor process)."
    );
    assert_eq!(said(&mut plain(&server), "RESTART"), lacks("SHUTDOWN"));
    assert_eq!(said(&mut root, "DO 1"), "OK");
}

#[test]
fn a_certificate_is_read_anew_or_stays() {
    let folder = DataDir::new();
    let (server, mut root) = server(&folder);
    for sql in [
        "ALTER INSTANCE RELOAD TLS",
        "ALTER INSTANCE RELOAD TLS NO ROLLBACK ON ERROR",
        "ALTER INSTANCE RELOAD TLS FOR CHANNEL mysql_main",
    ] {
        assert_eq!(said(&mut root, sql), "OK", "{sql}");
    }
    assert_eq!(said(&mut plain(&server), "ALTER INSTANCE RELOAD TLS"), lacks("CONNECTION_ADMIN"));
    let wrong = said(&mut root, "ALTER INSTANCE RELOAD TLS FOR CHANNEL x");
    assert!(wrong.starts_with("ERROR 1149 (42000): You have an error"), "{wrong}");
    let certificate = folder.path().join("server-cert.pem");
    std::fs::write(certificate, "no certificate").unwrap();
    let wrong = said(&mut root, "ALTER INSTANCE RELOAD TLS");
    assert!(wrong.starts_with("ERROR 3888 (HY000): Failed to set up SSL because"), "{wrong}");
}

#[test]
fn the_commands_refresh_and_shutdown() {
    let folder = DataDir::new();
    let (server, mut root) = server(&folder);
    root.send_command(&Command::Refresh(1)).unwrap();
    assert_eq!(root.read_ok().unwrap().warnings, 1);
    let warnings = root.rows("SHOW WARNINGS").unwrap();
    assert_eq!(
        format!("{:?}", warnings[0][2]),
        "Text(\"'COM_REFRESH' is deprecated and will be removed in a future release. Please use \
         FLUSH statement instead\")"
    );
    let mut client = plain(&server);
    client.send_command(&Command::Refresh(4)).unwrap();
    assert_eq!(client.read_ok().unwrap_err().to_string(), lacks("RELOAD"));
    let (refresh, shutdown) = ([7], [8, 0]);
    for (payload, code) in [(&refresh[..], 1835), (&shutdown[..], 1047)] {
        root.send_payload(payload).unwrap();
        assert_eq!(root.read_ok().unwrap_err().code(), Some(code), "{payload:?}");
    }
    root.ping().unwrap();
}

#[test]
fn connection_attributes_are_shown() {
    let folder = DataDir::new();
    let (server, mut root) = server(&folder);
    let stream = TcpStream::connect(server.address()).unwrap();
    let attributes = vec![("program_name".into(), "shop".into()), ("_os".into(), "any".into())];
    let user = "plain".into();
    let options = LoginOptions { user, attributes, ..LoginOptions::default() };
    let client = Client::connect(stream, &options).unwrap();
    let rows = root
        .rows(&format!(
            "SELECT CONCAT_WS(' ', ordinal_position, attr_name, attr_value) \
             FROM performance_schema.session_connect_attrs WHERE processlist_id = {} ORDER BY 1",
            client.greeting().connection_id
        ))
        .unwrap();
    let text = |text: &str| vec![Value::Text(text.into())];
    assert_eq!(rows, [text("0 program_name shop"), text("1 _os any")]);
    let own = "SELECT DISTINCT attr_name FROM performance_schema.session_account_connect_attrs";
    assert_eq!(root.rows(own).unwrap(), [text("_client_name")]);
}

#[test]
fn a_server_wide_collation_is_that_of_databases_made_by_later_sessions() {
    let folder = DataDir::new();
    let (server, mut root) = server(&folder);
    root.query("SET GLOBAL collation_server = 'latin1_swedish_ci'").unwrap();
    root.query("CREATE DATABASE early").unwrap();
    let mut later = server.client();
    later.query("CREATE DATABASE late").unwrap();
    let rows = later
        .rows(
            "SELECT schema_name, default_collation_name FROM information_schema.schemata \
             WHERE schema_name IN ('early', 'late') ORDER BY 1",
        )
        .unwrap();
    let text = |text: &str| Value::Text(text.into());
    assert_eq!(
        rows,
        [[text("early"), text("utf8mb4_0900_ai_ci")], [text("late"), text("latin1_swedish_ci")]]
    );
    // Also one that is not its character set's default.
    root.query("SET GLOBAL collation_server = 'utf8mb4_0900_bin'").unwrap();
    let pair = "SELECT @@character_set_server, @@collation_server";
    let rows = server.client().rows(pair).unwrap();
    assert_eq!(rows, [[text("utf8mb4"), text("utf8mb4_0900_bin")]]);
}

#[test]
fn statements_are_logged_in_files_that_can_be_rotated() {
    let folder = DataDir::new();
    let errors = folder.path().join("errors.log");
    let named = format!("--log-error={}", errors.display());
    let server = Process::start(&folder.path(), &[&named]);
    let mut root = server.client();
    for sql in ["general_log = ON", "slow_query_log = ON", "long_query_time = 0"] {
        let set = root.query(&format!("SET GLOBAL {sql}")).unwrap();
        assert_eq!(set[0].completion.warnings, 0, "{sql}");
    }
    let mut other = server.client();
    other.query("CREATE USER u IDENTIFIED BY 'hidden'").unwrap();
    other.query("SELECT 'first'").unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (general, slow) = (read("localhost.log"), read("localhost-slow.log"));
    for said in [", Version: 8.0.31", " Connect\troot@", " Query\tSELECT 'first'\n"] {
        assert!(general.contains(said), "{said:?} in {general}");
    }
    for said in ["# Query_time: 0.", "SET timestamp=", "\nSELECT 'first';\n", "BY <secret>;"] {
        assert!(slow.contains(said), "{said:?} in {slow}");
    }
    assert!(!general.contains("hidden") && !slow.contains("hidden"), "{general}{slow}");
    let logs = ["localhost.log", "localhost-slow.log", "errors.log"];
    for name in logs {
        let old = folder.path().join(format!("{name}.1"));
        std::fs::rename(folder.path().join(name), old).unwrap();
    }
    other.query("FLUSH LOGS").unwrap();
    other.query("SELECT 'second'").unwrap();
    for name in &logs[..2] {
        let (old, new) = (read(&format!("{name}.1")), read(name));
        assert!(!old.contains("second") && new.contains("SELECT 'second'"), "{old}{new}");
        assert!(!new.contains("first"), "{new}");
    }
    assert!(folder.path().join("errors.log").exists());
}

#[test]
fn places_that_are_no_logs_are_refused() {
    let folder = DataDir::new();
    let (_server, mut root) = server(&folder);
    for path in ["inia.data", "server-key.pem", "../outside.log", "/etc/passwd", "my.cnf"] {
        let error = said(&mut root, &format!("SET GLOBAL general_log_file = '{path}'"));
        let text = format!("Variable 'general_log_file' can't be set to the value of '{path}'");
        assert_eq!(error, format!("ERROR 1231 (42000): {text}"));
    }
    assert_eq!(said(&mut root, "SET GLOBAL general_log_file = 'mine.log'"), "OK");
}

#[test]
fn the_schema_sys_stays_as_it_is() {
    let folder = DataDir::new();
    let (_server, mut root) = server(&folder);
    let views = "SELECT COUNT(*) FROM information_schema.views WHERE table_schema = 'sys'";
    let before = root.query(views).unwrap()[0].rows.clone();
    root.query("CREATE DATABASE own; ").unwrap();
    root.query("CREATE TABLE own.t(a INT)").unwrap();
    for sql in [
        "DROP DATABASE sys",
        "ALTER DATABASE sys READ ONLY = 0",
        "CREATE TABLE sys.t(a INT)",
        "RENAME TABLE own.t TO sys.t",
    ] {
        let refused = "ERROR 3989 (HY000): Schema 'sys' is in read only mode.";
        assert_eq!(said(&mut root, sql), refused, "{sql}");
    }
    for sql in ["DROP VIEW sys.version", "CREATE VIEW sys.own AS SELECT 1"] {
        assert_eq!(root.query(sql).unwrap()[0].completion.warnings, 1, "{sql}");
    }
    assert_eq!(root.query(views).unwrap()[0].rows, before);
}

#[test]
fn a_database_without_a_name_is_none() {
    let folder = DataDir::new();
    let (_server, mut root) = server(&folder);
    assert_eq!(said(&mut root, "USE ``"), "ERROR 1046 (3D000): No database selected");
}

#[test]
fn a_wait_for_a_record_is_shown_with_its_key_and_its_holder() {
    let folder = DataDir::new();
    let (server, mut root) = server(&folder);
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (a INT, b VARCHAR(5), c INT, PRIMARY KEY (a), KEY by_c (c))",
        "INSERT INTO d.t VALUES (-7, 'x', 40), (8, 'y', 41)",
    ] {
        root.query(sql).unwrap();
    }
    let (mut holder, mut waiter) = (server.client(), server.client());
    holder.query("BEGIN").unwrap();
    holder.query("UPDATE d.t SET b = 'z' WHERE a = -7").unwrap();
    waiter.start_query("UPDATE d.t SET b = 'w' WHERE a = -7").unwrap();
    let rows = "SELECT lock_mode, lock_status, index_name, lock_data \
                FROM performance_schema.data_locks WHERE lock_type = 'RECORD' ORDER BY lock_status";
    let found = loop {
        let found = root.rows(rows).unwrap();
        if found.len() == 2 {
            break found;
        }
        std::thread::yield_now();
    };
    let expected = |status: &str| {
        ["X,REC_NOT_GAP", status, "PRIMARY", "-7"].map(|text| Value::Text(text.into())).to_vec()
    };
    assert_eq!(found, [expected("GRANTED"), expected("WAITING")]);
    let waits = "SELECT COUNT(*) FROM sys.innodb_lock_waits WHERE locked_table = '`d`.`t`'";
    assert_eq!(root.rows(waits).unwrap(), [[Value::Text("1".into())]]);
    holder.query("COMMIT").unwrap();
    waiter.next_result().unwrap();
    assert!(root.rows(rows).unwrap().is_empty());
}

#[test]
fn a_deadlock_and_a_wait_that_timed_out_are_kept_with_both_statements() {
    let folder = DataDir::new();
    let (server, mut root) = server(&folder);
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (a INT PRIMARY KEY, b INT)",
        "INSERT INTO d.t VALUES (1, 0), (2, 0)",
    ] {
        root.query(sql).unwrap();
    }
    let (mut one, mut other) = (server.client(), server.client());
    let update = |session: &str, a: u8| format!("UPDATE d.t SET b = '{session}' + 0 WHERE a = {a}");
    for (client, name, key) in [(&mut one, "1", 1), (&mut other, "2", 2)] {
        client.query("BEGIN").unwrap();
        client.query(&update(name, key)).unwrap();
    }
    one.start_query(&update("1", 2)).unwrap();
    let waits = "SELECT COUNT(*) FROM performance_schema.data_lock_waits";
    while root.rows(waits).unwrap() != [[Value::Text("1".into())]] {
        std::thread::yield_now();
    }
    // Both have changed one row, so the one that closes the circle is the victim.
    let victim = other.query(&update("2", 1)).unwrap_err();
    assert_eq!(victim.code(), Some(1213));
    one.next_result().unwrap();
    other.query("SET innodb_lock_wait_timeout = 1").unwrap();
    assert_eq!(other.query(&update("2", 1)).unwrap_err().code(), Some(1205));
    let text = |text: String| Value::Text(text);
    let id = |client: &Client<TcpStream>| client.greeting().connection_id.to_string();
    let history = "SELECT event_name, object_name, index_name, lock_mode, lock_data, \
                   requesting_processlist_id, requesting_statement, blocking_processlist_id, \
                   blocking_statement FROM performance_schema.inia_lock_history ORDER BY event_id";
    let row = |event: &str, blocking: Value| {
        let mut row: Vec<Value> =
            [event, "t", "PRIMARY", "X", "1"].map(|known| text(known.to_owned())).to_vec();
        row.extend([text(id(&other)), text(update("2", 1)), text(id(&one)), blocking]);
        row
    };
    let mut expected = vec![row("DEADLOCK", text(update("1", 2))), row("TIMEOUT", Value::Null)];
    assert_eq!(root.rows(history).unwrap(), expected);
    // A program's handler may take the error: the wait is the program's all the same.
    let sets = "UPDATE d.t SET b = 3 WHERE a = 1";
    let handles = "DECLARE CONTINUE HANDLER FOR 1205 DO 0";
    root.query(&format!("CREATE PROCEDURE d.p() BEGIN {handles}; {sets}; END")).unwrap();
    other.query("CALL d.p()").unwrap();
    expected.push(expected[1].clone());
    expected[2][6] = text("CALL d.p()".to_owned());
    assert_eq!(root.rows(history).unwrap(), expected);
    // A wait that KILL has ended has not failed, and is not taken for the next one: that is for the
    // table's definition here, which is no record.
    other.query("SET innodb_lock_wait_timeout = 1000, lock_wait_timeout = 1").unwrap();
    other.start_query(sets).unwrap();
    while root.rows(waits).unwrap() != [[Value::Text("1".into())]] {
        std::thread::yield_now();
    }
    root.query(&format!("KILL QUERY {}", id(&other))).unwrap();
    assert_eq!(other.next_result().unwrap_err().code(), Some(1317));
    assert_eq!(other.query("ALTER TABLE d.t ADD c INT").unwrap_err().code(), Some(1205));
    assert_eq!(root.rows(history).unwrap(), expected);
    let mut shown = root.rows("SHOW ENGINE INNODB STATUS").unwrap();
    let Some(Value::Text(status)) = shown[0].pop() else { panic!("{shown:?}") };
    for line in [
        "LATEST DETECTED DEADLOCK\n------------------------\n",
        &format!("MySQL thread id {}\n{}\n", id(&one), update("1", 2)),
        &format!("MySQL thread id {}\n{}\n", id(&other), update("2", 1)),
        "*** WE ROLL BACK TRANSACTION (2)\n",
    ] {
        assert!(status.contains(line), "{line} in {status}");
    }
}

/// The error's number of a login, or 0.
fn login(server: &Process, user: &str, password: &str) -> u16 {
    let stream = TcpStream::connect(server.address()).unwrap();
    let (user, password) = (user.to_owned(), password.to_owned());
    let options = LoginOptions { user, password, ..LoginOptions::default() };
    Client::connect(stream, &options).map_or_else(|error| error.code().unwrap_or(1), |_| 0)
}

#[test]
fn a_retained_password_opens_the_account_after_a_restart_too() {
    const DENIED: u16 = 1045;
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    for (user, plugin) in [("native", "mysql_native_password"), ("sha2", "caching_sha2_password")] {
        for sql in [
            format!("CREATE USER {user} IDENTIFIED WITH {plugin} BY 'old'"),
            format!("ALTER USER {user} IDENTIFIED BY 'new' RETAIN CURRENT PASSWORD"),
        ] {
            root.query(&sql).unwrap();
        }
        // The second time `caching_sha2_password` knows the passwords.
        for _ in 0..2 {
            assert_eq!(
                ["old", "new", "none"].map(|word| login(&server, user, word)),
                [0, 0, DENIED]
            );
        }
    }
    root.query("GRANT PROXY ON native TO sha2 WITH GRANT OPTION").unwrap();
    root.query("CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'h', PORT 7)").unwrap();
    root.query("CREATE TABLE mysql.own (a INT PRIMARY KEY)").unwrap();
    root.query("INSERT INTO mysql.own VALUES (5)").unwrap();
    root.query("CREATE FUNCTION mysql.six() RETURNS INT DETERMINISTIC RETURN 6").unwrap();
    server.kill();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    let kept = root.rows("SELECT CONCAT_WS(' ', Host, Port, Wrapper) FROM mysql.servers").unwrap();
    assert_eq!(kept[0][0].as_text(), Some("h 7 mysql"));
    let kept =
        root.rows("SELECT Proxied_user FROM mysql.proxies_priv WHERE User = 'sha2'").unwrap();
    assert_eq!(kept[0][0].as_text(), Some("native"));
    let kept = root.rows("SELECT CONCAT(a, ' ', mysql.six()) FROM mysql.own").unwrap();
    assert_eq!(kept[0][0].as_text(), Some("5 6"));
    for user in ["native", "sha2"] {
        assert_eq!(["old", "new"].map(|word| login(&server, user, word)), [0, 0], "{user}");
        root.query(&format!("ALTER USER {user} DISCARD OLD PASSWORD")).unwrap();
        assert_eq!(["old", "new"].map(|word| login(&server, user, word)), [DENIED, 0], "{user}");
    }
}

/// The first value of a query's first row.
fn first(client: &mut Client<TcpStream>, sql: &str) -> String {
    let rows = client.rows(sql).unwrap();
    rows[0][0].as_text().unwrap_or_default().to_owned()
}

#[test]
fn definitions_of_the_whole_server_outlive_it() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    for sql in [
        "CREATE SPATIAL REFERENCE SYSTEM 1000001 NAME 'own' DEFINITION 'GEOGCS[\"W\",DATUM[\"D\",\
         SPHEROID[\"S\",1000,0]],PRIMEM[\"G\",0],UNIT[\"radian\",1],AXIS[\"X\",EAST],\
         AXIS[\"Y\",NORTH]]' ORGANIZATION 'us' IDENTIFIED BY 7",
        "DROP SPATIAL REFERENCE SYSTEM 4001",
        "CREATE TABLESPACE own ADD DATAFILE 'own.ibd'",
        "CREATE DATABASE kept",
        "CREATE RESOURCE GROUP kept TYPE = USER VCPU = 0 THREAD_PRIORITY = 3 DISABLE",
        "CREATE TABLE kept.t (a INT) TABLESPACE own",
        "ALTER TABLESPACE own RENAME TO ours",
    ] {
        root.query(sql).unwrap();
    }
    let uuid = first(&mut root, "SELECT @@server_uuid");
    assert_eq!(first(&mut root, "SELECT IS_UUID(@@server_uuid)"), "1");
    server.kill();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    assert_eq!(first(&mut root, "SELECT @@server_uuid"), uuid);
    let systems = "SELECT GROUP_CONCAT(CONCAT_WS(' ', SRS_ID, SRS_NAME, ORGANIZATION)) FROM \
                   information_schema.ST_SPATIAL_REFERENCE_SYSTEMS WHERE SRS_ID IN (1000001, 4001)";
    assert_eq!(first(&mut root, systems), "1000001 own us");
    let groups = "SELECT GROUP_CONCAT(CONCAT_WS(' ', RESOURCE_GROUP_NAME, RESOURCE_GROUP_ENABLED, \
                  VCPU_IDS, THREAD_PRIORITY)) FROM information_schema.RESOURCE_GROUPS \
                  WHERE RESOURCE_GROUP_NAME = 'KEPT'";
    assert_eq!(first(&mut root, groups), "kept 0 0 3");
    let refused = said(&mut root, "DROP TABLESPACE ours");
    assert!(refused.contains("`ours` is not empty"), "{refused}");
    root.query("DROP TABLE kept.t").unwrap();
    root.query("DROP TABLESPACE ours").unwrap();
    let reads = "SELECT ST_AsText(ST_GeomFromText('POINT(3 1)', 1000001))";
    assert_eq!(first(&mut root, reads), "POINT(3 1)");
    let unknown = "SELECT ST_GeomFromText('POINT(3 1)', 4001)";
    assert!(said(&mut root, unknown).contains("3548"), "{}", said(&mut root, unknown));
}
