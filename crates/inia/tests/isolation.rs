//! Transactions see, lock and wait as in MySQL 8.0.31.
//!
//! A script in `scripts/` plays several sessions, one step after another, and holds what MySQL did:
//!
//! ```text
//! # Why the outcome is right.
//!
//! a> UPDATE t SET v = 1 WHERE id = 1
//!    1 row changed
//! b> SELECT * FROM t WHERE id = 1 FOR UPDATE
//!    waits
//! a> COMMIT
//!    b: 1 | 1
//! until b
//! ```
//!
//! Below a step stand its rows, its error, `waits`, or nothing when it just succeeds; then the
//! answers of sessions whose wait it has ended. `until b` lets a wait of `b` end by itself (a
//! timeout). In a statement `{b}` is the connection id of `b`. A script ends with nobody waiting.
//!
//! With `INIA_ORACLE=host:port` set, outcomes are recorded from that server (user root, no
//! password); `INIA_SCRIPTS=part-of-a-name` limits which scripts are played. A script whose outcome
//! differs has a line `# differs: reason`, which `docs/COMPAT.md` repeats; Inia's outcome stands
//! beside it in a file that ends in `.inia`, which `INIA_KNOWN=write` rewrites.

mod play;
mod script;

use crate::process::{DataDir, Process};
use play::Stage;
use script::Script;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/isolation/scripts")
}

/// All scripts that are wanted, by name.
fn scripts() -> Vec<PathBuf> {
    let wanted = std::env::var("INIA_SCRIPTS").unwrap_or_default();
    let entries = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|ext| ext == "steps"))
        .filter(|path| path.to_string_lossy().contains(&wanted))
        .collect();
    found.sort();
    found
}

fn read(path: &Path) -> (String, Script) {
    let text = std::fs::read_to_string(path).unwrap();
    let script = Script::parse(&text);
    (text, script.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

#[test]
fn transactions_see_and_wait_as_in_mysql() {
    if let Ok(address) = std::env::var("INIA_ORACLE") {
        let stage = Stage { address, kept: Some(Duration::from_millis(130)) };
        for path in scripts() {
            let (_, script) = read(&path);
            std::fs::write(&path, stage.play(&script).print()).unwrap();
        }
        return;
    }
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let stage = Stage { address: server.address(), kept: None };
    let write = std::env::var("INIA_KNOWN").is_ok_and(|wish| wish == "write");
    let mut wrong = String::new();
    let mut number = 0;
    for path in scripts() {
        let (recorded, script) = read(&path);
        let own = path.with_extension("inia");
        let found = stage.play(&script).print();
        if own.exists() && write {
            std::fs::write(&own, &found).unwrap();
        }
        let expected = std::fs::read_to_string(own).unwrap_or(recorded);
        if found != expected {
            number += 1;
            writeln!(wrong, "{}:", path.file_stem().unwrap().to_string_lossy()).unwrap();
            writeln!(wrong, "{}", script::differences(&expected, &found)).unwrap();
        }
    }
    assert_eq!(number, 0, "scripts with another outcome (- recorded, + Inia):\n{wrong}");
}

#[test]
fn every_outcome_that_differs_on_purpose_is_documented() {
    let compat = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/COMPAT.md");
    let compat = std::fs::read_to_string(compat).unwrap();
    for path in scripts() {
        let (text, _) = read(&path);
        let reason = text.lines().find_map(|line| line.strip_prefix("# differs: "));
        let name = path.display();
        assert_eq!(reason.is_some(), path.with_extension("inia").exists(), "{name}");
        assert!(reason.is_none_or(|reason| compat.contains(reason)), "{name}: {reason:?}");
    }
}
