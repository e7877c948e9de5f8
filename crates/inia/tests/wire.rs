//! Clients that send what no client should: byte by byte the answers of MySQL 8.0.31.
//!
//! A script is a file `crates/inia/tests/wire/<name>.packets` of cases; each case is a connection:
//!
//! ```text
//! case a command that nobody knows
//! login
//! send 55
//! < ERR 1047 08S01 Unknown command
//! alive?
//! < open
//! ```
//!
//! | line | what it does |
//! |---|---|
//! | `greet` | reads the greeting |
//! | `login [drop:CAPS] [add:CAPS] [user:NAME] [db:NAME]` | logs in without a password |
//! | `send BYTES` | one packet with sequence number 0 |
//! | `next BYTES` | one packet with the sequence number after the last packet received |
//! | `frame N BYTES` | one packet with sequence number N |
//! | `raw BYTES` | the bytes alone, without a header |
//! | `shut` | says that nothing more will be sent |
//! | `alive?` | asks something harmless: is the connection `open` or `closed`? |
//! | `< …` | MySQL's answers to the line before, one packet a line |
//! | `! …` | Inia's answers in their place, where Inia differs on purpose; a comment says why |
//!
//! BYTES are hexadecimal digits, `"text"` with `\xNN`, `u16:N`, `u32:N`, `u64:N`, each with `*N` to
//! repeat it. With `INIA_ORACLE=host:port` set the answers are recorded anew from that server; with
//! `INIA_KNOWN=write` the answers that differ now are written down as Inia's.
//!
//! All the while a second client works; whatever the first one does, it must not notice.

mod script;
mod talk;

use crate::process::{DataDir, Process};
use inia_wire::client::{Client, Prepared};
use script::{Item, Script, Step};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use talk::Talk;

/// How long an answer that must come may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// When recording, silence for so long means that there is no (further) answer.
const SILENCE: Duration = Duration::from_millis(300);

fn scripts() -> Vec<PathBuf> {
    let wanted = std::env::var("INIA_SCRIPTS").unwrap_or_default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "packets"))
        .filter(|path| path.to_string_lossy().contains(&wanted))
        .collect();
    found.sort();
    found
}

/// The client that behaves: a session with a prepared statement, a variable and an open
/// transaction, which all must outlast whatever others do.
struct Witness {
    client: Client<TcpStream>,
    insert: Prepared,
    rows: i64,
}

impl Witness {
    fn start(server: &Process) -> Witness {
        let mut client = server.client();
        for sql in [
            "CREATE DATABASE IF NOT EXISTS witness",
            "USE witness",
            "CREATE TABLE IF NOT EXISTS t (id INT AUTO_INCREMENT PRIMARY KEY, n INT)",
            "DELETE FROM t",
            "SET @mine = 'still here'",
            "BEGIN",
        ] {
            client.query(sql).unwrap();
        }
        let insert = client.prepare("INSERT INTO t (n) VALUES (?)").unwrap();
        Witness { client, insert, rows: 0 }
    }

    #[track_caller]
    fn check(&mut self, case: &str) {
        use inia_base::value::Value;
        self.rows += 1;
        self.client.execute(self.insert.id, &[Value::Int(self.rows)]).unwrap();
        let found = self.client.rows("SELECT COUNT(*), SUM(n), @mine, DATABASE() FROM t").unwrap();
        let sum = self.rows * (self.rows + 1) / 2;
        let expected = [&self.rows.to_string(), &sum.to_string(), "still here", "witness"];
        let expected = expected.map(|text| Value::Text(text.to_owned()));
        assert_eq!(found, [expected], "after {case}");
    }

    /// What was written stays written, and others see it.
    fn finish(mut self, server: &Process) {
        self.client.query("COMMIT").unwrap();
        let rows = server.client().rows("SELECT COUNT(*) FROM witness.t").unwrap();
        assert_eq!(crate::support::cell(&rows), self.rows.to_string());
    }
}

/// Runs all cases against a server, and calls `after` with each item's answers.
fn play(
    address: &str,
    script: &Script,
    recording: bool,
    mut after: impl FnMut(usize, &Item, Vec<String>),
) {
    let mut talk: Option<Talk> = None;
    for (i, item) in script.items.iter().enumerate() {
        let Some(step) = &item.step else { continue };
        if let Step::Case(_) = step {
            // The case before ends here, and its connection with it.
            talk = Some(Talk::connect(address));
            after(i, item, Vec::new());
            continue;
        }
        let talk = talk.as_mut().unwrap_or_else(|| panic!("a script starts with a case"));
        talk.perform(step);
        let mut answers = if recording {
            talk.answers_until_silence(SILENCE)
        } else {
            talk.answers(item.expected().len(), PATIENCE)
        };
        if !recording && answers != item.expected() {
            // The rest of the answer must not pass for that to the next step.
            answers.retain(|answer| answer != "nothing");
            if !answers.ends_with(&["closed".to_owned()]) {
                answers.extend(talk.answers_until_silence(SILENCE));
            }
        }
        after(i, item, answers);
    }
}

#[test]
fn packets_are_answered_as_by_mysql() {
    if let Ok(oracle) = std::env::var("INIA_ORACLE") {
        scripts().iter().for_each(|path| record(&oracle, path));
        return;
    }
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut client = server.client();
    for sql in ["CREATE DATABASE wire", "CREATE TABLE wire.t (id INT PRIMARY KEY, name TEXT)"] {
        client.query(sql).unwrap();
    }
    let mut differences = String::new();
    for path in scripts() {
        compare(&server, &path, &mut differences);
    }
    assert!(differences.is_empty(), "{differences}");
}

fn compare(server: &Process, path: &Path, differences: &mut String) {
    use std::fmt::Write;
    let mut witness = Witness::start(server);
    let mut script = Script::read(path);
    let mut differ = Vec::new();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let mut case = String::new();
    play(&server.address(), &script, false, |i, item, answers| {
        if let Some(Step::Case(title)) = &item.step {
            witness.check(&case);
            case.clone_from(title);
        } else if answers != item.expected() {
            differ.push((i, answers.clone()));
            let (line, expected) = (&item.line, item.expected().join(" | "));
            let got = answers.join(" | ");
            let title = format!("{name}: item {i}: {case}: {line}");
            writeln!(differences, "{title}\n  expected {expected}\n       got {got}").unwrap();
        }
    });
    witness.check(&case);
    witness.finish(server);
    if std::env::var("INIA_KNOWN").is_ok_and(|value| value == "write") {
        differ.into_iter().for_each(|(i, answers)| script.items[i].ours = answers);
        script.write(path);
    }
}

fn record(oracle: &str, path: &Path) {
    let mut client = Client::connect(TcpStream::connect(oracle).unwrap(), &Default::default());
    let client = client.as_mut().unwrap();
    for sql in [
        "DROP DATABASE IF EXISTS wire",
        "CREATE DATABASE wire",
        "CREATE TABLE wire.t (id INT PRIMARY KEY, name TEXT)",
    ] {
        client.query(sql).unwrap();
    }
    let mut script = Script::read(path);
    let mut recorded = vec![Vec::new(); script.items.len()];
    play(oracle, &script, true, |i, _, answers| recorded[i] = answers);
    for (item, answers) in script.items.iter_mut().zip(recorded) {
        item.answers = answers;
    }
    script.write(path);
    client.query("DROP DATABASE wire").unwrap();
}
