//! The real program as a child process on a free port.

use crate::support::TempDir;
use inia_wire::client::{Client, LoginOptions};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The program under test: the one just built, or that which `INIA_SERVER` names.
pub(crate) fn program() -> String {
    std::env::var("INIA_SERVER").unwrap_or_else(|_| env!("CARGO_BIN_EXE_inia").to_owned())
}

/// A running `inia serve`; killed when dropped.
pub(crate) struct Process {
    child: Child,
    port: u16,
}

impl Process {
    /// Starts the server on `data` and waits for its ready line.
    pub(crate) fn start(data: &Path, options: &[&str]) -> Process {
        Process::start_by(Command::new(program()), data, options)
    }

    /// As [`Process::start`], where no file may become larger than so many blocks of 512 bytes.
    pub(crate) fn start_limited(blocks: u64, data: &Path, options: &[&str]) -> Process {
        let mut shell = Command::new("sh");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        shell.args(["-c", &script, &program()]);
        Process::start_by(shell, data, options)
    }

    /// As [`Process::start`], where a command starts the program with the arguments it is given.
    pub(crate) fn start_by(mut command: Command, data: &Path, options: &[&str]) -> Process {
        let mut child = command
            .args(["serve", "--port", "0", "--socket"])
            .arg(data.join("socket"))
            .arg("--data")
            .arg(data)
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let port = ready
            .split("127.0.0.1:")
            .nth(1)
            .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next())
            .and_then(|digits| digits.parse().ok())
            .unwrap_or_else(|| panic!("no port in the ready line {ready:?}"));
        Process { child, port }
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn client(&self) -> Client<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        Client::connect(stream, &LoginOptions::default()).unwrap()
    }

    /// The most memory that the program ever had in use, in KiB.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Waits until the program ends by itself; its exit code.
    pub(crate) fn wait(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// SIGKILL, and waits for the end.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A data directory for one test.
pub(crate) struct DataDir {
    folder: TempDir,
}

impl DataDir {
    pub(crate) fn new() -> DataDir {
        DataDir { folder: TempDir::new() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("data")
    }
}

/// Runs the program to its end: its exit code, and what it wrote.
pub(crate) fn run(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(program()).args(arguments).output().unwrap();
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap_or(-1), text)
}
