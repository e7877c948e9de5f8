//! The lab from outside: a measured round, and wrong use that is told in one line.

use crate::support::TempDir;
use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_inia")).arg("bench").args(arguments).output().unwrap()
}

#[test]
fn a_workload_runs_on_the_embedded_database_and_is_kept() {
    let folder = TempDir::new();
    let target = format!("inia:{}", folder.path().join("data").display());
    let kept = folder.path().join("results.jsonl");
    let kept = kept.display().to_string();
    let output = bench(&[
        "run",
        "oltp_read_only",
        "--target",
        &target,
        "--rows",
        "1000",
        "--clients",
        "2",
        "--seconds",
        "0.3",
        "--warm-up",
        "0",
        "--json",
        &kept,
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = bench(&["report", &kept]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("oltp_read_only"));
}

#[test]
fn wrong_use_is_one_line_and_an_exit_code() {
    for (arguments, says) in [
        (["oltp_pint_select", "sqlite:x"], "did you mean oltp_point_select?"),
        (["oltp_point_select", "mysql://root@127.0.0.1:1/"], "cannot connect"),
    ] {
        let output = bench(&["run", arguments[0], "--target", arguments[1]]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success());
        assert_eq!(error.trim().lines().count(), 1, "{error}");
        assert!(error.contains(says), "{error}");
    }
}
