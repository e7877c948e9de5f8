//! The program as users start it.

use crate::support::TempDir;
use inia_wire::client::{Client, LoginOptions};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// `inia serve` as a child that has said where it listens.
struct Serving {
    child: Child,
    line: String,
}

impl Serving {
    fn start(data: &Path) -> Serving {
        let mut child = inia(&["serve", "--port", "0", "--data"])
            .arg(data)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Serving { child, line }
    }

    /// The URL at the end of the ready line.
    fn url(&self) -> &str {
        self.line.trim().rsplit(' ').next().unwrap()
    }

    fn connect(&self) -> Client<TcpStream> {
        let address = self.url().strip_prefix("mysql://root@").unwrap().trim_end_matches('/');
        let stream = TcpStream::connect(address).unwrap();
        Client::connect(stream, &LoginOptions::default()).unwrap()
    }

    fn signal(&mut self, name: &str) -> bool {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn inia(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inia"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> (Output, String) {
    let output = inia(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, errors)
}

#[test]
fn serve_announces_itself_serves_and_stops_on_either_signal() {
    let dir = TempDir::new();
    let data = dir.path().join("data");
    for signal in ["-TERM", "-INT", "-KILL"] {
        let mut serving = Serving::start(&data);
        assert!(serving.line.starts_with("Inia "), "{}", serving.line);
        serving.connect().ping().unwrap();
        let mut open = serving.connect();
        assert_eq!(serving.signal(signal), signal != "-KILL");
        assert!(open.ping().is_err());
    }
    // After the kill the next start recovers.
    Serving::start(&data).connect().ping().unwrap();
}

#[test]
fn ping_asks_whether_a_server_answers() {
    let dir = TempDir::new();
    let mut serving = Serving::start(&dir.path().join("data"));
    serving.connect().query("ALTER USER root@localhost IDENTIFIED BY 'secret'").unwrap();
    let url = serving.url().to_owned();
    let (output, errors) = run(&["ping", &url]);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("8.0.31-inia-") && text.ends_with(" is alive\n"), "{text}");
    assert!(serving.signal("-TERM"));
    let (output, errors) = run(&["ping", &url]);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors.contains("ERROR 2003"), "{errors}");
}

#[test]
fn a_directory_in_use_is_refused_by_serve_and_check() {
    let dir = TempDir::new();
    let data = dir.path().join("data");
    let path = data.to_str().unwrap();
    let mut serving = Serving::start(&data);
    for arguments in [&["serve", "--port", "0", "--data", path][..], &["check", path]] {
        let (output, errors) = run(arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(errors.contains("is in use by another Inia server"), "{errors}");
    }
    assert!(serving.signal("-TERM"));
    let (output, errors) = run(&["check", path]);
    assert!(output.status.success(), "{errors}");
}

#[test]
fn mistakes_on_the_command_line_are_explained() {
    let dir = TempDir::new();
    let file = dir.path().join("inia.conf");
    std::fs::write(&file, "prot = 3306\n").unwrap();
    let file = file.to_str().unwrap();
    let cases = [
        (&["serve", "--prot", "1"][..], 2, "'--port'"),
        (&["serve", "--config", file], 1, "did you mean 'port'?"),
        (&["serve", "--config", "/nosuch/file"], 1, "cannot read /nosuch/file"),
        (&["serve", "--port", "x"], 1, "'x' is not a number"),
        (&["check", "/nosuch/dir"], 1, "/nosuch/dir is not a directory"),
        (
            &["sql", "mysql://root@127.0.0.1:1/", "-e", "DO 1"],
            1,
            "ERROR 2003 (HY000): Can't connect to MySQL server on '127.0.0.1:1' (111)",
        ),
    ];
    for (arguments, code, expected) in cases {
        let (output, errors) = run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(errors.contains(expected), "{errors}");
    }
}

#[test]
fn completions_and_the_manual_name_every_command() {
    let commands = ["serve", "sql", "load", "ping", "check", "bench"];
    for arguments in [&["completions", "bash"][..], &["completions", "zsh"], &["man"]] {
        let (output, _) = run(arguments);
        assert!(output.status.success(), "{arguments:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        for name in commands {
            assert!(text.contains(name), "{arguments:?} lacks {name}");
        }
        assert!(text.contains("in-memory") || text.contains("in\\-memory"), "{arguments:?}");
    }
    assert_eq!(run(&["completions", "nosuch"]).0.status.code(), Some(2));
}
