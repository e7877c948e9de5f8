//! The stock sysbench client prepares its tables and runs all its bundled OLTP scripts without an
//! error that it does not itself retry.

use crate::process::{DataDir, Process};
use std::process::{Command, Output};

const SCRIPTS: [&str; 11] = [
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_insert",
    "oltp_delete",
    "bulk_insert",
    "select_random_points",
    "select_random_ranges",
];

fn sysbench(server: &Process, script: &str, options: &[&str], command: &str) -> Output {
    Command::new("sysbench")
        .arg(script)
        .args(["--db-driver=mysql", "--mysql-host=127.0.0.1", "--mysql-user=root"])
        .arg(format!("--mysql-port={}", server.port()))
        .args(["--mysql-db=sbtest", "--threads=4", "--time=0", "--events=200"])
        .args(options)
        .arg(command)
        .output()
        .expect("sysbench is installed (scripts/test installs it)")
}

fn assert_clean(what: &str, output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {text}\n{errors}");
    assert!(!text.contains("FATAL") && !errors.contains("FATAL"), "{what}: {text}\n{errors}");
}

fn run_all(options: &[&str]) {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    server.client().query("CREATE DATABASE sbtest").unwrap();
    for script in SCRIPTS {
        let tables = if script.starts_with("select_random") { "--tables=1" } else { "--tables=2" };
        let size = [tables, "--table-size=2000"];
        let all: Vec<&str> = size.iter().chain(options).copied().collect();
        assert_clean(script, &sysbench(&server, script, &all, "prepare"));
        assert_clean(script, &sysbench(&server, script, &all, "run"));
        assert_clean(script, &sysbench(&server, script, &all, "cleanup"));
    }
}

#[test]
fn every_script_runs_with_prepared_statements() {
    run_all(&["--db-ps-mode=auto"]);
}

#[test]
fn every_script_runs_with_statements_as_text() {
    run_all(&["--db-ps-mode=disable", "--rand-type=uniform"]);
}
