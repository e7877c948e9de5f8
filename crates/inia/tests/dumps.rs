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
