//! The stock dump client copies a database with its views, whatever locks it takes.

use crate::process::{DataDir, Process};
use inia_base::value::Value;
use std::io::Write;
use std::process::{Command, Stdio};

const SETUP: [&str; 8] = [
    "CREATE DATABASE shop",
    "CREATE TABLE shop.customer (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50), KEY (name))",
    "CREATE TABLE shop.sale (id INT PRIMARY KEY, customer INT NOT NULL, price DECIMAL(10,2), note \
     BLOB, FOREIGN KEY (customer) REFERENCES shop.customer (id) ON DELETE CASCADE)",
    "INSERT INTO shop.customer (name) VALUES ('Ada'), ('Grace'), ('it''s')",
    "INSERT INTO shop.sale VALUES (1, 1, 10.50, NULL), (2, 1, 3, 'a\\0b'), (3, 2, 0.99, '')",
    "CREATE VIEW shop.a_total AS SELECT customer, SUM(price) AS total FROM shop.sale \
     GROUP BY customer",
    "CREATE VIEW shop.b_named AS SELECT name, total FROM shop.customer \
     JOIN shop.a_total ON id = customer",
    "CREATE VIEW shop.customer_names AS SELECT name FROM shop.customer",
];

fn client(program: &str, server: &Process) -> Command {
    let mut command = Command::new(program);
    command.args(["--protocol=tcp", "--host=127.0.0.1", "--user=root"]);
    command.arg(format!("--port={}", server.port()));
    command
}

/// Dumps `shop` by the client with these options, loads it as `copy`, and compares.
fn copies(options: &[&str]) {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut session = server.client();
    for sql in SETUP {
        session.query(sql).unwrap();
    }
    let dump = client("mariadb-dump", &server).args(options).arg("shop").output().unwrap();
    let errors = String::from_utf8_lossy(&dump.stderr);
    assert!(dump.status.success() && errors.is_empty(), "{options:?}: {errors}");
    session.query("CREATE DATABASE copy").unwrap();
    let text = String::from_utf8_lossy(&dump.stdout).replace("`shop`.", "`copy`.");
    let mut load = client("mariadb", &server)
        .args(["--binary-mode", "copy"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    load.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let loaded = load.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&loaded.stderr);
    assert!(loaded.status.success(), "{options:?}: {errors}");
    for table in ["customer", "sale", "a_total", "b_named", "customer_names"] {
        let mut rows = |database: &str| -> Vec<Vec<Value>> {
            session.rows(&format!("SELECT * FROM {database}.{table} ORDER BY 1")).unwrap()
        };
        let (original, copy) = (rows("shop"), rows("copy"));
        assert!(!original.is_empty(), "{table}");
        assert_eq!(original, copy, "{table} by {options:?}");
    }
}

#[test]
fn a_dump_that_locks_all_tables() {
    copies(&["--lock-tables"]);
}

#[test]
fn a_dump_that_locks_everything() {
    copies(&["--lock-all-tables", "--routines", "--events", "--triggers"]);
}

#[test]
fn a_dump_in_one_transaction() {
    copies(&["--single-transaction", "--add-drop-table", "--hex-blob"]);
}

/// The definition of a merged table is loaded before those of its children.
#[test]
fn a_dump_of_a_merged_table_and_its_children() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut session = server.client();
    for sql in [
        "CREATE DATABASE shop",
        "CREATE DATABASE copy",
        "CREATE TABLE shop.visit1 (day DATE, KEY (day)) ENGINE=MyISAM",
        "CREATE TABLE shop.visit2 LIKE shop.visit1",
        "CREATE TABLE shop.all_visits (day DATE, KEY (day)) ENGINE=MERGE \
         UNION=(shop.visit1, shop.visit2) INSERT_METHOD=LAST",
        "INSERT INTO shop.visit1 VALUES ('2024-02-29'), ('2024-03-01')",
        "INSERT INTO shop.all_visits VALUES ('2024-03-02')",
    ] {
        session.query(sql).unwrap();
    }
    let rows = session.rows("SELECT * FROM shop.all_visits ORDER BY 1").unwrap();
    // The rows are those of the children.
    let dump = client("mariadb-dump", &server)
        .args(["--ignore-table-data=shop.all_visits", "shop"])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&dump.stderr);
    assert!(dump.status.success() && errors.is_empty(), "{errors}");
    let loaded = fed("mariadb", &server, &["copy"], &dump.stdout);
    assert!(loaded.is_some_and(|(loaded, _)| loaded));
    assert_eq!(session.rows("SELECT * FROM copy.all_visits ORDER BY 1").unwrap(), rows);
    assert_eq!(rows.len(), 3);
    let [original, copy] = ["shop", "copy"]
        .map(|database| session.rows(&format!("SHOW CREATE TABLE {database}.all_visits")).unwrap());
    assert_eq!(original, copy);
}

/// All databases, those with the accounts and the application's; by name the system's come first,
/// and cannot be written, so loading goes on after errors.
fn copies_all(options: &[&str]) {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut session = server.client();
    for sql in SETUP.iter().chain(&["CREATE USER clerk", "GRANT SELECT ON shop.sale TO clerk"]) {
        session.query(sql).unwrap();
    }
    let dump = client("mariadb-dump", &server)
        .args(options)
        .args(["--all-databases", "--skip-extended-insert"])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&dump.stderr);
    assert!(dump.status.success() && errors.is_empty(), "{options:?}: {errors}");
    let text = String::from_utf8_lossy(&dump.stdout);
    for part in [
        "CREATE TABLE `user` (",
        "PRIMARY KEY (`Host`,`User`)",
        "INSERT INTO `user` VALUES ('%','clerk',",
        "INSERT INTO `tables_priv` VALUES ('%','shop','clerk','sale',",
        "INSERT INTO `sale` VALUES (1,1,10.50,NULL)",
    ] {
        assert!(text.contains(part), "{part} by {options:?}");
    }
    session.query("DROP DATABASE shop").unwrap();
    let mut load = client("mariadb", &server)
        .args(["--binary-mode", "--force"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    load.stdin.take().unwrap().write_all(&dump.stdout).unwrap();
    load.wait().unwrap();
    let totals = session.rows("SELECT name, total FROM shop.b_named ORDER BY name").unwrap();
    assert_eq!(totals.len(), 2, "{options:?}");
    let clerk = session.rows("SELECT user FROM mysql.user WHERE user = 'clerk'").unwrap();
    assert_eq!(clerk.len(), 1);
}

#[test]
fn a_dump_of_all_databases_that_locks_tables() {
    copies_all(&["--lock-tables"]);
}

#[test]
fn a_dump_of_all_databases_in_one_transaction() {
    copies_all(&["--single-transaction", "--routines", "--events", "--flush-privileges"]);
}

/// The lines that a client printed on its error output, where it is installed.
fn fed(program: &str, server: &Process, arguments: &[&str], text: &[u8]) -> Option<(bool, String)> {
    let mut child = client(program, server)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take().unwrap().write_all(text).unwrap();
    let ended = child.wait_with_output().unwrap();
    let mut said = String::from_utf8_lossy(&ended.stdout).into_owned();
    said.push_str(&String::from_utf8_lossy(&ended.stderr));
    Some((ended.status.success(), said))
}

#[test]
fn a_dump_of_all_databases_restores_them_and_keeps_the_system_tables() {
    let (first, second) = (DataDir::new(), DataDir::new());
    let server = Process::start(&first.path(), &[]);
    let mut session = server.client();
    for sql in SETUP {
        session.query(sql).unwrap();
    }
    session.query("CREATE TABLE mysql.own (a INT PRIMARY KEY, b VARCHAR(9))").unwrap();
    session.query("INSERT INTO mysql.own VALUES (1, 'x'), (2, NULL)").unwrap();
    session.query("CREATE USER ada IDENTIFIED BY 'secret'").unwrap();
    session.query("GRANT SELECT ON shop.* TO ada").unwrap();
    let copy = Process::start(&second.path(), &[]);
    for options in [&["--all-databases"][..], &["--all-databases", "--flush-privileges"][..]] {
        let dump = client("mariadb-dump", &server).args(options).output().unwrap();
        assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
        let (restored, said) = fed("mariadb", &copy, &["--binary-mode"], &dump.stdout).unwrap();
        assert!(restored && said.is_empty(), "{options:?}: {said}");
        let mut other = copy.client();
        let tables = ["customer", "sale", "a_total", "b_named", "customer_names"];
        let tables = tables.map(|table| format!("shop.{table}"));
        for table in tables.iter().map(String::as_str).chain(["mysql.own"]) {
            let sql = format!("SELECT * FROM {table} ORDER BY 1");
            assert_eq!(session.rows(&sql).unwrap(), other.rows(&sql).unwrap(), "{table}");
        }
        let accounts = other.rows("SELECT user FROM mysql.user WHERE user = 'ada'").unwrap();
        assert!(accounts.is_empty(), "accounts are no part of what is restored");
    }
}

#[test]
fn a_dump_of_a_mysql_server_restores_past_the_table_of_its_schema_sys() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    // As the client writes it: databases in their order, `users` behind `sys`.
    let dump = "USE `sys`;
DROP TABLE IF EXISTS `sys_config`;
CREATE TABLE `sys_config` (
  `variable` varchar(128) NOT NULL,
  `value` varchar(128) DEFAULT NULL,
  PRIMARY KEY (`variable`)
);
LOCK TABLES `sys_config` WRITE;
/*!40000 ALTER TABLE `sys_config` DISABLE KEYS */;
INSERT INTO `sys_config` VALUES ('statement_truncate_len','64');
/*!40000 ALTER TABLE `sys_config` ENABLE KEYS */;
UNLOCK TABLES;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`mysql.sys`@`localhost`*/
/*!50003 TRIGGER `sys_config_insert_set_user` BEFORE INSERT ON `sys_config` FOR EACH ROW BEGIN
    SET NEW.value = USER();
END */;;
DELIMITER ;
CREATE DATABASE users;
CREATE TABLE users.t (a INT PRIMARY KEY);
";
    let (restored, said) = fed("mariadb", &server, &[], dump.as_bytes()).unwrap();
    assert!(restored, "{said}");
    let mut session = server.client();
    assert!(session.rows("SELECT * FROM users.t").unwrap().is_empty());
    let lines = session.rows("SELECT * FROM sys.sys_config").unwrap();
    assert_eq!(lines.len(), 6, "the settings stay as they are");
    let error = session.query("CREATE TABLE sys.other (a INT)").unwrap_err();
    assert!(error.to_string().contains("3989"), "{error}");
}

/// What the administrator's client can ask for, but replicas and other passwords.
const ADMINISTRATION: [&str; 24] = [
    "create made",
    "-f drop made",
    "debug",
    "extended-status",
    "flush-binary-log",
    "flush-engine-log",
    "flush-error-log",
    "flush-general-log",
    "flush-hosts",
    "flush-logs",
    "flush-privileges",
    "flush-slow-log",
    "flush-status",
    "flush-tables",
    "flush-threads",
    "flush-user-resources",
    "ping",
    "processlist",
    "reload",
    "refresh",
    "status",
    "variables",
    "version",
    "shutdown",
];

#[test]
fn the_client_of_administrators_is_answered() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    for command in ADMINISTRATION {
        let words: Vec<&str> = command.split(' ').collect();
        let ended = client("mariadb-admin", &server).args(&words).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        // MySQL 8 knows no command of the protocol for it: SHUTDOWN is a statement.
        let refused = command == "shutdown";
        assert_eq!(ended.status.success(), !refused, "{command}: {said}");
    }
}

#[test]
fn the_check_client_finds_all_tables_in_order() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut session = server.client();
    SETUP.iter().for_each(|sql| drop(session.query(sql).unwrap()));
    let (sound, said) = fed("mariadb-check", &server, &["-A"], b"").unwrap();
    assert!(sound, "{said}");
    assert!(said.contains("mysql.user") && said.contains("shop.sale"), "{said}");
    assert!(said.lines().all(|line| line.ends_with("OK")), "{said}");
}

#[test]
fn system_tables_are_passed_over_only_for_who_may_change_everything() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut root = server.client();
    root.query("CREATE USER few").unwrap();
    root.query("GRANT SELECT, INSERT ON *.* TO few").unwrap();
    let insert = "INSERT INTO mysql.user VALUES ('a')";
    assert_eq!(root.query(insert).unwrap()[0].completion.warnings, 1);
    let warnings = root.rows("SHOW WARNINGS").unwrap();
    assert_eq!(warnings[0][2], Value::Text("System table 'mysql.user' is kept as it is.".into()));
    for sql in [
        "UPDATE mysql.user SET user = 'x'",
        "DELETE FROM mysql.user",
        "TRUNCATE mysql.user",
        "DROP TABLE mysql.user",
        "RENAME TABLE mysql.user TO mysql.user2",
    ] {
        let code = root.query(sql).unwrap_err().code();
        assert!(matches!(code, Some(1142)), "{sql}: {code:?}");
    }
    for sql in [
        "CREATE TEMPORARY TABLE mysql.own (a INT)",
        "INSERT INTO mysql.own VALUES (1)",
        "UPDATE mysql.own SET a = 2",
        "DROP TABLE mysql.own",
    ] {
        root.query(sql).unwrap();
    }
    let stream = std::net::TcpStream::connect(server.address()).unwrap();
    let options = inia_wire::client::LoginOptions { user: "few".into(), ..Default::default() };
    let mut few = inia_wire::client::Client::connect(stream, &options).unwrap();
    assert_eq!(few.query(insert).unwrap_err().code(), Some(1142));
}
