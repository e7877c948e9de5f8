//! Starts that cannot succeed: one clear line, and an exit code that is not 0.

use crate::process::{DataDir, Process, run};
use crate::support::TempDir;
use std::net::TcpListener;

/// `inia serve` with these arguments fails with this text, in one line.
#[track_caller]
fn refused(arguments: &[&str], expected: &str) {
    let all: Vec<&str> = ["serve"].iter().chain(arguments).copied().collect();
    let (code, text) = run(&all);
    assert_ne!(code, 0, "{text}");
    assert!(text.contains(expected), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    // The command line's own complaints come with a usage text.
    assert!(text.starts_with("error:") || text.trim_end().lines().count() == 1, "{text}");
}

#[test]
fn bad_directories() {
    let folder = TempDir::new();
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    refused(&["--port", "0", "--data", file.to_str().unwrap()], "is not a directory");
    let below = file.join("below");
    refused(&["--port", "0", "--data", below.to_str().unwrap()], "cannot create data directory");
    // Nobody can write there, not even root.
    refused(&["--port", "0", "--data", "/proc/inia"], "cannot create data directory /proc/inia");
    refused(&["--port", "0", "--data", "/sys/kernel"], "data directory /sys/kernel");
}

#[test]
fn a_directory_and_a_port_in_use() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let data = folder.path();
    refused(&["--port", "0", "--data", data.to_str().unwrap()], "is in use by another Inia server");
    let (other, port) = (DataDir::new(), server.port().to_string());
    let arguments = ["--port", &port, "--data", other.path().to_str().unwrap()].map(str::to_owned);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    refused(&arguments, "is in use; choose another by --port");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    refused(&["--port", &port, "--data", other.path().to_str().unwrap()], "is in use");
}

#[test]
fn bad_options() {
    refused(&["--prot", "5"], "a similar argument exists: '--port'");
    refused(&["--port", "99999"], "'99999' is not a number from 0 to 65535 for option 'port'");
    refused(&["--buffer-pool-size", "12Q"], "'12Q' is not a size such as 512M");
    refused(&["--config", "/nonexistent.conf"], "cannot read /nonexistent.conf");
    let folder = TempDir::new();
    let file = folder.path().join("inia.conf");
    std::fs::write(&file, "# comment\nbufer-pool-size = 1G\n").unwrap();
    let expected = "line 2: unknown option 'bufer-pool-size'; did you mean 'buffer-pool-size'?";
    refused(&["--config", file.to_str().unwrap()], expected);
    std::fs::write(&file, "[mysqld]\n").unwrap();
    refused(&["--config", file.to_str().unwrap()], "is not of the form name = value");
}

#[test]
fn a_place_that_cannot_be_listened_on() {
    let folder = DataDir::new();
    let data = folder.path();
    let data = data.to_str().unwrap();
    let place = ["--port", "0", "--data", data];
    let with = |more: [&'static str; 2]| [place.as_slice(), &more].concat();
    refused(&with(["--socket", "/nonexistent/socket"]), "cannot listen on /nonexistent/socket");
    refused(&with(["--host", "0.0.0.0"]), "root has no password");
    refused(&with(["--host", "no such host"]), "cannot resolve host 'no such host'");
}
