//! `inia sql` as its users meet it: long results, closed pipes, Ctrl-C.

use crate::process::{DataDir, Process, program};
use crate::support::TempDir;
use aes::Aes128;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockEncrypt, KeyInit};
use inia_base::value::Value;
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
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

    /// Reads the screen until it shows a line with this part; what was there before it.
    fn wait_for(&mut self, line: &str) -> String {
        let mut seen = Vec::new();
        loop {
            let from = seen.len();
            let read = self.screen.read_until(b'\n', &mut seen).unwrap();
            assert_ne!(read, 0, "no {line:?} in {}", String::from_utf8_lossy(&seen));
            if String::from_utf8_lossy(&seen[from..]).contains(line) {
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

/// Runs `inia sql` with an environment of its own; exit code, output and errors.
fn batch(arguments: &[&str], input: &str, home: &std::path::Path) -> (i32, String, String) {
    let mut child = Command::new(program())
        .arg("sql")
        .args(arguments)
        .env("HOME", home)
        .env_remove("MYSQL_PWD")
        .env_remove("INIA_PASSWORD")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A shell that needs no input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_batch_ends_at_its_first_error_unless_forced() {
    let (_folder, server) = server();
    let home = TempDir::new();
    let port = server.port().to_string();
    let script = "SELECT 1;\n\nSELEC 2\n;SELECT 3;\nUSE nowhere;\nSELECT 4";
    let login = ["-h127.0.0.1", "-P", &port, "-u", "root"];
    let (code, out, said) = batch(&login, script, home.path());
    assert_eq!((code, out.as_str()), (1, "1\n1\n"));
    let syntax = "ERROR 1064 (42000) at line 3: You have an error in your SQL syntax; check the \
                  manual that corresponds to your MySQL server version for the right syntax to \
                  use near 'SELEC 2' at line 1\n";
    assert_eq!(said, syntax);
    let forced = [&login[..], &["-f", "-N"]].concat();
    let (code, out, said) = batch(&forced, script, home.path());
    assert_eq!((code, out.as_str()), (0, "1\n3\n4\n"));
    assert_eq!(said, format!("{syntax}ERROR 1049 (42000) at line 5: Unknown database 'nowhere'\n"));
    let none = [&login[..2], &["1", "-e", "DO 1"]].concat();
    let (code, _, said) = batch(&none, "", home.path());
    assert_eq!(code, 1);
    assert!(said.starts_with("ERROR 2003 (HY000): Can't connect to MySQL server on"), "{said}");
    let wrong = [&login[..], &["-pwrong", "-e", "DO 1"]].concat();
    let (code, _, said) = batch(&wrong, "", home.path());
    assert_eq!(code, 1);
    let denied =
        "ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)";
    assert!(said.contains("[Warning]") && said.ends_with(&format!("{denied}\n")), "{said}");
}

#[test]
fn options_choose_how_rows_are_written() {
    let (_folder, server) = server();
    let home = TempDir::new();
    let url = url(&server);
    let query = "SELECT 1 a, NULL b, 'x\\ty' c, X'00FF41' d; SELECT 1 WHERE 0; DO 0";
    let with = |options: &[&str]| {
        let arguments = [&[url.as_str(), "-e", query], options].concat();
        let output = Command::new(program())
            .arg("sql")
            .args(arguments)
            .env("HOME", home.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    assert_eq!(with(&[]), b"a\tb\tc\td\n1\tNULL\tx\\ty\t\\0\xffA\n");
    assert_eq!(with(&["-r"]), b"a\tb\tc\td\n1\tNULL\tx\ty\t\0\xffA\n");
    assert_eq!(with(&["-ss"]), with(&["-N"]));
    assert_eq!(with(&["-N", "--binary-as-hex"]), b"1\tNULL\tx\\ty\t0x00FF41\n");
    assert_eq!(
        with(&["-E", "--binary-as-hex"]),
        b"*************************** 1. row ***************************\n\
          a: 1\nb: NULL\nc: x\ty\nd: 0x00FF41\n"
    );
    assert!(with(&["-vv"]).ends_with(b"DO 0\n--------------\n\nQuery OK, 0 rows affected\n\n"));
    assert!(
        with(&["-X"]).starts_with(b"<?xml version=\"1.0\"?>\n\n<resultset statement=\"SELECT 1")
    );
    assert!(with(&["-H"]).starts_with(b"<TABLE BORDER=1><TR><TH>a</TH>"));
    let markdown = with(&["--format", "markdown", "--binary-as-hex"]);
    assert!(markdown.starts_with(b"| a | b | c | d |\n| ---: | --- | --- | --- |\n| 1 | NULL |"));
    assert!(with(&["-t", "--auto-vertical-output"]).starts_with(b"+---+------+"));
}

#[test]
fn files_and_the_environment_say_who_connects() {
    let (folder, server) = server();
    let home = TempDir::new();
    let mut root = server.client();
    root.query("CREATE USER ada IDENTIFIED BY 'se cret'; GRANT ALL ON *.* TO ada").unwrap();
    root.query("CREATE DATABASE shop").unwrap();
    let port = server.port();
    let file = home.path().join(".my.cnf");
    let text = format!(
        "[client]\nport={port}\nuser=ada\npassword=\"se cret\"\n[mysql]\ndatabase=shop\n\
         skip-column-names\nnonsense=1\n[mysqld]\nport=1\n"
    );
    std::fs::write(&file, text).unwrap();
    let who = ["-e", "SELECT CURRENT_USER(), DATABASE()"];
    let (code, out, said) = batch(&who, "", home.path());
    assert_eq!((code, out.as_str()), (0, "ada@%\tshop\n"), "{said}");
    assert!(said.contains("unknown options are left out: nonsense ("), "{said}");
    let (code, out, _) =
        batch(&[&["-u", "root", "--no-defaults"], &who[..]].concat(), "", home.path());
    assert_ne!((code, out.as_str()), (0, "ada@%\tshop\n"));
    let secret = folder.path().with_file_name("secret");
    std::fs::write(&secret, "se cret\n").unwrap();
    let secret = secret.display().to_string();
    let port = port.to_string();
    let by_file = ["--no-defaults", "-N", "-P", &port, "-uada", "--password-file", &secret, "shop"];
    let (code, out, said) = batch(&[&by_file, &who[..]].concat(), "", home.path());
    assert_eq!((code, out.as_str(), said.as_str()), (0, "ada@%\tshop\n", ""));
    let output = Command::new(program())
        .args(["sql", "--no-defaults", "-N", "-P", &port, "-uada"])
        .args(who)
        .env("INIA_PASSWORD", "se cret")
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"ada@%\tNULL\n");
}

/// A file of login paths with these lines, as `mysql_config_editor` writes it.
fn login_paths(lines: &[String]) -> Vec<u8> {
    let key: [u8; 20] =
        *b"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14";
    let mut folded = [0; 16];
    key.iter().enumerate().for_each(|(at, byte)| folded[at % 16] ^= byte);
    let cipher = Aes128::new(&GenericArray::from(folded));
    let mut file = [[0; 4].as_slice(), &key].concat();
    for line in lines {
        let mut line = format!("{line}\n").into_bytes();
        let filled = 16 - line.len() % 16;
        line.resize(line.len() + filled, filled as u8);
        line.chunks_exact_mut(16)
            .for_each(|block| cipher.encrypt_block(GenericArray::from_mut_slice(block)));
        file.extend((line.len() as u32).to_le_bytes());
        file.extend(line);
    }
    file
}

#[test]
fn login_paths_say_who_connects() {
    let (_folder, server) = server();
    let home = TempDir::new();
    let accounts = "CREATE USER ada IDENTIFIED BY 'se cret#1', bob IDENTIFIED BY 'x'; \
                    GRANT ALL ON *.* TO ada, bob; CREATE DATABASE shop";
    server.client().query(accounts).unwrap();
    let port = format!("port = {}", server.port());
    let lines = ["[client]", &port, "user = \"bob\"", "password = \"x\""];
    let lines = [&lines[..], &["[Remote]", "user = ada", "password = \"se cret#1\""]].concat();
    let file = home.path().join(".mylogin.cnf");
    let lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
    std::fs::write(&file, login_paths(&lines)).unwrap();
    let mode = |mode| std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    mode(0o600);
    // The options file is read before, and the command line after.
    std::fs::write(
        home.path().join(".my.cnf"),
        "[client]\nuser=carl\n[mysql]\nskip-column-names\n[remote]\ndatabase=shop\n",
    )
    .unwrap();
    let who = |options: &[&str]| {
        let ask = ["-e", "SELECT CURRENT_USER(), DATABASE()"];
        let (_, out, said) = batch(&[options, &ask].concat(), "", home.path());
        (out, said)
    };
    let as_user = |name: &str| (format!("{name}\n"), String::new());
    assert_eq!(who(&[]), as_user("bob@%\tNULL"));
    assert_eq!(who(&["--login-path=remote"]), as_user("ada@%\tshop"));
    assert_eq!(who(&["-N", "--no-defaults", "--login-path", "REMOTE"]), as_user("ada@%\tNULL"));
    let (out, said) = who(&["--login-path=remote", "-u", "bob"]);
    assert!(out.is_empty() && said.contains("Access denied for user 'bob'"), "{out}{said}");
    let port = server.port().to_string();
    let url = |user: &str| format!("mysql://{user}@{}/shop", server.address());
    assert_eq!(who(&[&url("ada:se cret%231")]), as_user("ada@%\tshop"));
    assert_eq!(who(&[&url("bob")]), as_user("bob@%\tshop"));
    let none = ["--no-login-paths", "--no-defaults", "-N", "-P", &port];
    assert_eq!(who(&none), as_user("root@localhost\tNULL"));
    mode(0o644);
    let (out, said) = who(&["-P", &port, "-u", "root"]);
    assert_eq!(out, "root@localhost\tNULL\n");
    assert!(said.contains(".mylogin.cnf should be readable/writable only by current user."));
}

#[test]
fn commands_work_in_scripts() {
    let (folder, server) = server();
    let home = TempDir::new();
    let inner = folder.path().with_file_name("inner.sql");
    std::fs::write(&inner, "delimiter //\nSELECT 'inner'//\n\\u mysql\n").unwrap();
    let inner = inner.display();
    let script = format!(
        "source {inner}\nSELECT DATABASE()//\ndelimiter ;\n\\! echo system\nstatus\nhelp\n\
         warnings\nSELECT 1/0;\nSELECT 2\\G\n\\q\nSELECT 'not reached';\n"
    );
    let (code, out, said) = batch(&[&url(&server), "-N"], &script, home.path());
    assert_eq!((code, said.as_str()), (0, ""), "{out}");
    assert!(out.starts_with("inner\nmysql\nsystem\n--------------\ninia "), "{out}");
    for part in [
        "Current database:\tmysql\n",
        "Current user:\t\troot@localhost\n",
        "Using delimiter:\t;\n",
        "Connection:\t\t127.0.0.1 via TCP/IP\n",
        "Threads: ",
        "List of all commands:\n",
        "Warning (Code 1365): Division by 0\n",
    ] {
        assert!(out.contains(part), "{part} in {out}");
    }
    assert!(out.ends_with("1. row ***************************\n2\n"), "{out}");
    let (code, _, said) = batch(&[&url(&server)], "source /nowhere\n", home.path());
    assert_eq!((code, said.as_str()), (1, "inia: Failed to open file '/nowhere', error: 2\n"));
}

#[test]
fn a_terminal_pages_tees_and_reconnects() {
    let (folder, server) = server();
    let Some(mut terminal) = Terminal::open(&server) else { return };
    let tee = folder.path().with_file_name("tee.txt");
    terminal.wait_for("Connected to");
    terminal.press(format!("tee {}\n", tee.display()).as_bytes());
    terminal.wait_for("Logging to file");
    terminal.press(b"use mysql\n");
    terminal.wait_for("Database changed");
    terminal.press(b"pager tr a-z A-Z\n");
    terminal.wait_for("PAGER set to 'tr a-z A-Z'");
    terminal.press(b"SELECT 'paged' AS 'column';\n");
    terminal.wait_for("| PAGED");
    terminal.press(b"pager head -n 1\n");
    terminal.wait_for("PAGER set to 'head -n 1'");
    terminal.press(
        b"SELECT a.word FROM information_schema.keywords a, information_schema.keywords b;\n",
    );
    terminal.wait_for("+-");
    terminal.press(b"nopager\nprompt \\u:\\d>\n");
    terminal.wait_for("PROMPT set to");
    terminal.press(b"SELECT 'done' AS 'column';\n");
    terminal.wait_for("| done");
    terminal.press(b"notee\nKILL CONNECTION_ID();\n");
    terminal.wait_for("ERROR 1317");
    terminal.press(b"SELECT 'lost' AS 'column';\n");
    terminal.wait_for("ERROR 2013 (HY000): Lost connection");
    terminal.press(b"SELECT 'again' AS 'column';\n");
    terminal.wait_for("No connection. Trying to reconnect...");
    terminal.wait_for("Current database: mysql");
    terminal.press(b"\\q\n");
    assert!(terminal.child.wait().unwrap().success());
    let copied = std::fs::read_to_string(&tee).unwrap();
    assert!(copied.contains("| paged") && copied.contains("| done"), "{copied}");
}

/// Against MySQL or MariaDB, where `INIA_ORACLE` names one (`host:port`, root without password).
#[test]
fn other_servers_are_talked_to() {
    let Ok(place) = std::env::var("INIA_ORACLE") else { return };
    let home = TempDir::new();
    let (host, port) = place.rsplit_once(':').unwrap();
    let login = ["-h", host, "-P", port, "-uroot", "-N"];
    let script = "SELECT 6 * 7;\nstatus\nSELECT * FROM nowhere.t;\n";
    let (code, out, said) = batch(&login, script, home.path());
    assert_eq!(code, 1);
    assert!(out.starts_with("42\n--------------\ninia ") && out.contains("Threads: "), "{out}");
    assert!(said.starts_with("ERROR 1049 (42000) at line 3: Unknown database"), "{said}");
    let (code, _, said) = batch(&["-h", host, "-P", port, "-uroot", "-pno"], "DO 1", home.path());
    assert_eq!(code, 1);
    assert!(said.contains("ERROR 1045 (28000): Access denied for user 'root'@"), "{said}");
}

/// What a shell with these options prints of its connection, or its error.
fn cipher(server: &Process, options: &[&str]) -> Result<String, String> {
    let mut shell = Command::new(program());
    shell.arg("sql").arg(url(server)).args(options).args(["-B", "-N", "-e"]);
    let output = shell.arg("SHOW STATUS LIKE 'Ssl_version'").output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(said(&output.stdout)),
        false => Err(said(&output.stderr)),
    }
}

#[test]
fn tls_is_used_and_verified_as_the_mode_says() {
    let (folder, server) = server();
    let (_other_folder, other) = self::server();
    let own = folder.path().join("server-cert.pem");
    let own = own.to_str().unwrap();
    let tls = Ok("Ssl_version\tTLSv1.3".to_owned());
    assert_eq!(cipher(&server, &[]), Ok("Ssl_version".to_owned()), "this machine needs none");
    assert_eq!(cipher(&server, &["--ssl-mode=DISABLED"]), Ok("Ssl_version".to_owned()));
    assert_eq!(cipher(&server, &["--ssl-mode", "required"]), tls);
    assert_eq!(cipher(&server, &["--ssl-ca", own]), tls);
    assert_eq!(cipher(&server, &["--ssl-mode=VERIFY_IDENTITY", "--ssl-ca", own]), tls);
    let refused = cipher(&other, &["--ssl-mode=VERIFY_CA", "--ssl-ca", own]).unwrap_err();
    assert!(refused.contains("ERROR 2026 (HY000): SSL connection error"), "{refused}");
    let none = cipher(&server, &["--ssl-mode=VERIFY_CA"]).unwrap_err();
    assert!(none.contains("--ssl-ca is needed"), "{none}");
    assert!(cipher(&server, &["--ssl-mode=MAYBE"]).is_err());
}

/// What a shell that may send files prints, or its error.
fn load(server: &Process, options: &[&str], sql: &str) -> Result<String, String> {
    let mut shell = Command::new(program());
    shell.arg("sql").arg(url(server)).args(options).args(["-B", "-N", "-e", sql]);
    let output = shell.output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(said(&output.stdout)) } else { Err(said(&output.stderr)) }
}

#[test]
fn load_data_local_sends_the_file_that_the_statement_names() {
    let (_folder, server) = server();
    let place = TempDir::new();
    let file = place.path().join("rows.tsv");
    let lines: String = (0..100_000).map(|n| format!("{n}\tname {n}\n")).collect();
    std::fs::write(&file, lines).unwrap();
    let made = "CREATE DATABASE a; CREATE TABLE a.t (n INT PRIMARY KEY, s TEXT)";
    load(&server, &[], made).unwrap();
    let name = file.display();
    let sql = format!("LOAD DATA LOCAL INFILE '{name}' INTO TABLE a.t; SELECT COUNT(*) FROM a.t");
    let refused = load(&server, &["--local-infile"], &sql).unwrap_err();
    assert!(refused.contains("3948"), "the server does not allow it: {refused}");
    load(&server, &[], "SET GLOBAL local_infile = ON").unwrap();
    let refused = load(&server, &[], &sql).unwrap_err();
    assert!(refused.contains("ERROR"), "the shell does not allow it: {refused}");
    assert_eq!(load(&server, &["--local-infile"], &sql), Ok("100000".to_owned()));
    let sql = "LOAD DATA LOCAL INFILE '/nosuch/file' INTO TABLE a.t";
    let refused = load(&server, &["--local-infile"], sql).unwrap_err();
    assert!(refused.contains("cannot send the file '/nosuch/file'"), "{refused}");
}
