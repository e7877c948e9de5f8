//! `inia sql` as its users meet it: long results, closed pipes, Ctrl-C.

use crate::process::{DataDir, Process, program};
use crate::support::TempDir;
use inia_base::value::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

/// Address space of a shell in KiB; its threads reserve most of it.
const ADDRESS_SPACE: u64 = 400_000;
/// 400 MB of rows, as a table is drawn of them.
const MUCH: &str = "WITH RECURSIVE n AS (SELECT 1 a UNION ALL SELECT a + 1 FROM n WHERE a < 200) \
                    SELECT x.a, REPEAT('x', 10000) FROM n x, n y";

fn server() -> (DataDir, Process) {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    (folder, server)
}

fn url(server: &Process) -> String {
    format!("mysql://root@{}/", server.address())
}

/// A shell that runs statements and may not have more memory than it needs.
fn shell(server: &Process, arguments: &[&str]) -> Child {
    let script = format!("ulimit -v {ADDRESS_SPACE}; exec \"$0\" \"$@\"");
    Command::new("sh")
        .args(["-c", &script, &program(), "sql", &url(server)])
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn end(mut child: Child) -> (ExitStatus, String) {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap(), said)
}

/// Waits until some connection runs a statement with this text.
fn wait_until_running(server: &Process, text: &str) {
    let mut admin = server.client();
    let sql = format!(
        "SELECT COUNT(*) FROM information_schema.processlist \
         WHERE info LIKE '{text}%' AND id <> CONNECTION_ID()"
    );
    while admin.rows(&sql).unwrap()[0][0] != Value::Text("1".into()) {
        std::thread::yield_now();
    }
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_result_larger_than_memory_goes_through() {
    let (_folder, server) = server();
    for layout in [&[][..], &["-t"][..]] {
        let mut child = shell(&server, &[layout, &["-e", MUCH]].concat());
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let rows = lines.filter(|line| line.as_ref().unwrap().contains("xxx")).count();
        let (status, said) = end(child);
        assert!(status.success(), "{layout:?}: {said}");
        assert_eq!(rows, 40_000, "{layout:?}");
    }
}

#[test]
fn a_closed_pipe_ends_the_shell_quietly() {
    let (_folder, server) = server();
    let mut child = shell(&server, &["-e", MUCH]);
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("a\tREPEAT"), "{first}");
    let (status, said) = end(child);
    assert!(status.success());
    assert_eq!(said, "");
}

#[test]
fn ctrl_c_ends_a_batch_and_its_statement_in_the_server() {
    let (_folder, server) = server();
    let mut child = shell(&server, &["-e", "SELECT SLEEP(1000); SELECT 'next'"]);
    wait_until_running(&server, "SELECT SLEEP");
    interrupt(&child);
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    let (status, said) = end(child);
    assert_eq!(status.code(), Some(1));
    assert_eq!(out, "SLEEP(1000)\n1\n", "SLEEP returns 1 when it was interrupted; nothing follows");
    assert!(said.contains("KILL QUERY") && said.ends_with("inia: interrupted\n"), "{said}");
}

#[test]
fn ctrl_c_stops_a_long_result() {
    let (_folder, server) = server();
    let mut child = shell(&server, &["-e", MUCH]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    interrupt(&child);
    let rows = out.lines().count();
    let (status, said) = end(child);
    assert_eq!(status.code(), Some(1));
    assert!(rows < 40_000, "{rows} rows");
    assert!(said.contains("Query execution was interrupted"), "{said}");
}

/// A shell on a terminal.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: BufReader<std::process::ChildStdout>,
    _home: TempDir,
}

impl Terminal {
    /// `None` where the program that makes terminals is not installed.
    fn open(server: &Process) -> Option<Terminal> {
        let home = TempDir::new();
        let mut child = Command::new("script")
            .args(["-q", "-c", &format!("{} sql {}", program(), url(server)), "/dev/null"])
            .env("HOME", home.path())
            .env("TERM", "dumb")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let keys = child.stdin.take().unwrap();
        let screen = BufReader::new(child.stdout.take().unwrap());
        Some(Terminal { child, keys, screen, _home: home })
    }

    fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
        self.keys.flush().unwrap();
    }

    /// Reads the screen until it shows a line that begins so; what was there before it.
    fn wait_for(&mut self, line: &str) -> String {
        let mut seen = Vec::new();
        loop {
            let from = seen.len();
            let read = self.screen.read_until(b'\n', &mut seen).unwrap();
            assert_ne!(read, 0, "no {line:?} in {}", String::from_utf8_lossy(&seen));
            if seen[from..].starts_with(line.as_bytes()) {
                return String::from_utf8_lossy(&seen).into_owned();
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn ctrl_c_on_a_terminal_ends_the_statement_and_clears_the_line() {
    const CTRL_C: &[u8] = &[3];
    let (_folder, server) = server();
    let Some(mut terminal) = Terminal::open(&server) else { return };
    terminal.wait_for("Connected to");
    terminal.press(b"SELECT SLEEP(1000) AS slept;\n");
    wait_until_running(&server, "SELECT SLEEP");
    terminal.press(CTRL_C);
    terminal.wait_for("| slept |");
    terminal.wait_for("1 row in set");
    terminal.press(
        b"SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, \
                     information_schema.columns c WHERE a.column_name <> b.column_name;\n",
    );
    wait_until_running(&server, "SELECT COUNT");
    terminal.press(CTRL_C);
    terminal.wait_for("ERROR 1317 (70100): Query execution was interrupted");
    terminal.press(b"SELECT 'given up");
    terminal.press(CTRL_C);
    terminal.press(b"SELECT 'fresh' AS 'column';\n");
    let seen = terminal.wait_for("| fresh");
    assert!(!seen.contains("ERROR"), "{seen}");
    terminal.press(b"quit\n");
    assert!(terminal.child.wait().unwrap().success());
}

#[test]
fn statements_are_passed_on_in_any_character_set() {
    let (folder, server) = server();
    let script = folder.path().with_file_name("latin1.sql");
    // An e with an acute accent, as latin1 writes it: no UTF-8.
    let text = b"SET NAMES latin1;\nSELECT HEX(CONVERT('caf\xe9;' USING utf8mb4));\n";
    std::fs::write(&script, text).unwrap();
    let done = Command::new(program())
        .args(["sql", &url(&server)])
        .stdin(std::fs::File::open(&script).unwrap())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(done.stdout.ends_with(b"\n636166C3A93B\n"), "{:?}", done.stdout);
}

/// Runs the shell to its end: exit code, output, and what it said.
fn asked(server: &Process, arguments: &[&str]) -> (i32, String, String) {
    let mut child = shell(server, arguments);
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    let (status, said) = end(child);
    (status.code().unwrap(), out, said)
}

#[test]
fn results_are_written_as_csv_and_json() {
    let (_folder, server) = server();
    let query = "SELECT 1 a, 'x, \"y\"' b, NULL c, '' d, 0.50 e, DATE '2024-02-29' f";
    let (code, out, said) = asked(&server, &["--format", "csv", "-e", query]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert_eq!(out, "a,b,c,d,e,f\r\n1,\"x, \"\"y\"\"\",,\"\",0.50,2024-02-29\r\n");
    let (_, out, _) = asked(&server, &["--format", "json", "-e", query]);
    assert_eq!(
        out,
        "[\n{\"a\":1,\"b\":\"x, \\\"y\\\"\",\"c\":null,\"d\":\"\",\"e\":0.50,\
         \"f\":\"2024-02-29\"}\n]\n"
    );
    let (_, out, _) = asked(&server, &["--format", "table", "-e", "SELECT 1"]);
    assert_eq!(out, "+---+\n| 1 |\n+---+\n| 1 |\n+---+\n");
}

#[test]
fn a_file_takes_one_whole_result() {
    let (folder, server) = server();
    let file = folder.path().with_file_name("out.csv").display().to_string();
    let write = |sql: &str| asked(&server, &["--format", "csv", "--out", &file, "-e", sql]);
    let (code, out, said) = write("SET @n = 1; SELECT @n AS n; DO 0");
    assert_eq!((code, out.as_str(), said.as_str()), (0, "", ""));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "n\r\n1\r\n");
    let refused = [
        ("SELECT 1; SELECT 2", "a file takes the rows of one statement"),
        (
            "SELECT a.n, IF(a.n < 3, 1, (SELECT 1 UNION SELECT 2)) FROM \
          (WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 3) \
          SELECT n FROM r) a",
            "ERROR 1242",
        ),
        ("DO 1", "no statement has rows"),
    ];
    for (sql, why) in refused {
        let (code, _, said) = write(sql);
        assert_eq!(code, 1, "{sql}");
        assert!(said.contains(why), "{sql}: {said}");
        assert!(!std::path::Path::new(&file).exists(), "{sql}: no part of a result stays");
    }
    let (code, _, said) = asked(&server, &["--format", "parquet", "-e", "SELECT 1"]);
    assert_eq!(code, 1);
    assert!(said.contains("--out FILE"), "{said}");
}
