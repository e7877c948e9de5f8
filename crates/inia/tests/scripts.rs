//! The scripts' verdicts, with programs that only pretend: what is lost must be reported.

use crate::support::TempDir;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(name)
}

fn program(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/bash\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// All rows, and a ledger of as many as were noted.
const WHOLE: &str = r"100000\t5000050000\t7\t1\t100000";
const INDEX: &str = r"100000\t7";
const LEDGER: &str = r"5\t5";

/// One round of the kill loop: what the servers report after the load of the table, of its index
/// and of the ledger, and what `inia check` returns. Its exit code, and all that it said.
fn kill_loop(table: &str, index: &str, ledger: &str, load: &str, check: i32) -> (i32, String) {
    let folder = TempDir::new();
    let programs = folder.path();
    let loaded = programs.join("loaded").display().to_string();
    let server =
        "serve) mkdir -p $3; trap 'exit 0' TERM; echo listens; while :; do sleep 0.1; done;;";
    program(programs, "inia", &format!("case $1 in {server} check) exit {check};; esac"));
    program(
        programs,
        "mariadb",
        &format!(
            "table='{WHOLE}' index='{INDEX}'\n\
             [ ! -e {loaded} ] || table='{table}' index='{index}'\n\
             case \"$*\" in *client*=*) [ -n '{ledger}' ] && printf '{ledger}\\n';; \
             *FORCE*) printf \"$index\\n\";; *sbtest1*) printf \"$table\\n\";; \
             *--unbuffered) printf '4\\n5\\n';; esac"
        ),
    );
    let run = format!("touch {loaded}; echo '[ 1s ] thds: 64 tps: {load} qps: 1'; exec sleep 1");
    program(programs, "sysbench", &format!("case \"$*\" in *run) {run};; esac"));
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let output = Command::new(script("kill-loop"))
        .arg(programs.join("inia"))
        .arg("1")
        .arg(programs.join("data"))
        .env("PATH", path)
        .env("KILL_AFTER", "0")
        .stdin(Stdio::piped())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_kill_loop_that_finds_everything_is_good() {
    let (code, said) = kill_loop(WHOLE, INDEX, LEDGER, "10.00", 0);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("1 of 1 rounds good; the shutdown after them good"), "{said}");
}

#[test]
fn a_kill_loop_reports_whatever_is_lost() {
    let bad = |what: &str, (code, said): (i32, String), report: &str| {
        assert_eq!(code, 1, "{what}: {said}");
        assert!(said.contains(report), "{what}: {said}");
    };
    let nothing = r"0\tNULL\tNULL\tNULL\tNULL";
    bad("all", kill_loop(nothing, r"0\tNULL", LEDGER, "10.00", 0), "not the 100000 rows");
    bad("index", kill_loop(WHOLE, r"99999\t7", LEDGER, "10.00", 0), "not the 100000 rows");
    bad("query", kill_loop(WHOLE, INDEX, "", "10.00", 0), "cannot be asked for");
    bad("ledger", kill_loop(WHOLE, INDEX, r"4\t4", "10.00", 0), "had an answer for 5, found 4");
    bad("hole", kill_loop(WHOLE, INDEX, r"4\t5", "10.00", 0), "has holes: 4 rows up to 5");
    bad("check", kill_loop(WHOLE, INDEX, LEDGER, "10.00", 1), "check after the shutdown");
}

/// A number that was noted long ago may be another process's by now.
#[test]
fn rivals_ends_no_process_that_it_did_not_start() {
    let folder = TempDir::new();
    let mut other = Command::new("sleep").arg("600").spawn().unwrap();
    for noted in [format!("{}\n", other.id()), format!("{} 1\n", other.id())] {
        fs::write(folder.path().join("mariadb.pid"), noted).unwrap();
        let stop = Command::new(script("rivals"))
            .args(["stop", "mariadb"])
            .env("RIVALS_DIR", folder.path())
            .output()
            .unwrap();
        assert!(stop.status.success(), "{}", String::from_utf8_lossy(&stop.stderr));
        assert!(other.try_wait().unwrap().is_none(), "a process of somebody else was ended");
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

/// A page made of rounds that were kept when the program, and the files, lay elsewhere.
#[test]
fn the_official_page_shows_no_path_of_the_machine() {
    let folder = TempDir::new();
    let at = |name: &str| folder.path().join(name).display().to_string();
    program(
        folder.path(),
        "program",
        "trap 'exit 0' TERM; echo listens; while :; do sleep 0.1; done",
    );
    let kept = include_str!("../../inia-bench/tests/sample.jsonl");
    let line = kept.lines().next().unwrap();
    let elsewhere = line
        .replace("target/debug/inia", "/else/where/other-inia")
        .replace("sqlite:/tmp/lab.db", "sqlite:/else/where/lab.db,inia:../else/where/data");
    assert!(elsewhere.matches("/else/where").count() >= 3, "{elsewhere}");
    fs::write(at("A.jsonl"), elsewhere).unwrap();
    let output = Command::new(script("official-tables"))
        .args([&at("program"), "--sections", "", "--work", &at(""), "--out", &at("page.md")])
        .args(["--target", "away=mysql://root@127.0.0.1:1/"])
        .output()
        .unwrap();
    let page = fs::read_to_string(at("page.md")).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    });
    assert_eq!(output.status.code(), Some(1), "a rival was not measured");
    assert!(
        page.contains("away was not measured") && page.contains("inia bench compare"),
        "{page}"
    );
    assert!(page.contains("sqlite:lab.db") && page.contains("mysql://root@127.0.0.1:"), "{page}");
    let own = folder.path().display().to_string();
    assert!(!page.contains("/else/where") && !page.contains(&own), "{page}");
}
