//! Starts that cannot succeed: one clear line, and an exit code that is not 0.

use crate::process::{DataDir, Process, run};
use crate::support::TempDir;
use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

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

/// Runs the program as somebody who may write nowhere and read what all may; None where this
/// process may not become somebody else, and is not.
fn run_as_nobody(arguments: &[&str]) -> Option<(i32, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inia"));
    if std::fs::metadata("/proc/self").ok()?.uid() == 0 {
        command.uid(65_534).gid(65_534);
    }
    let output = command.args(arguments).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    Some((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned()))
}

/// Both the server and the check refuse this directory, in one line that ends with these texts.
#[track_caller]
fn not_allowed(dir: &Path, serve: &str, check: &str) {
    let dir = dir.to_str().unwrap();
    let starts = ["serve", "--port", "0", "--data", dir];
    for (arguments, expected) in [(starts.as_slice(), serve), (&["check", dir], check)] {
        let Some((code, text)) = run_as_nobody(arguments) else { return };
        assert_eq!(code, 1, "{text}");
        let expected = format!("{expected}: Permission denied (os error 13)\n");
        assert!(text.ends_with(&expected), "{text:?} for {expected:?}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

fn allow(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn directories_that_may_not_be_read_or_written() {
    let folder = TempDir::new();
    allow(folder.path(), 0o755);
    let dir = folder.path().join("data");
    Process::start(&dir, &[]).kill();
    let named = |what: &str| format!("cannot {what} {}", dir.display());
    // A directory that may be read and not written, with and without what a start makes there.
    allow(&dir, 0o555);
    not_allowed(&dir, &named("write to data directory"), &named("write to data directory"));
    for file in ["inia.pid", "inia.lock", "inia.control", "inia.data", "wal-000000000001"] {
        allow(&dir.join(file), 0o444);
    }
    not_allowed(&dir, &named("write to data directory"), &named("write to data directory"));
    // One in which new files may be made, and the old ones not be written or not be read.
    allow(&dir, 0o777);
    std::fs::remove_file(dir.join("inia.pid")).unwrap();
    let open = named("open the database in");
    let locked = format!("{open}: inia.lock");
    not_allowed(&dir, &locked, &locked);
    std::fs::remove_file(dir.join("inia.lock")).unwrap();
    let control = format!("{open}: disk error: inia.control");
    not_allowed(&dir, &control, &control);
    allow(&dir.join("inia.control"), 0o666);
    allow(&dir.join("inia.data"), 0o000);
    let data = format!("{open}: disk error: inia.data");
    not_allowed(&dir, &data, &data);
    // One whose names may not be read, and one that may not be entered.
    allow(&dir, 0o733);
    not_allowed(&dir, &named("read data directory"), &named("read"));
    allow(&dir, 0o000);
    not_allowed(&dir, &named("read data directory"), &named("read"));
    let below = dir.join("below");
    if let Some((code, text)) =
        run_as_nobody(&["serve", "--port", "0", "--data", below.to_str().unwrap()])
    {
        assert_eq!(code, 1, "{text}");
        assert!(text.starts_with("inia: cannot create data directory"), "{text}");
    }
    // Nothing of this has done the database any harm.
    allow(&dir, 0o755);
    let (code, text) = run(&["check", dir.to_str().unwrap()]);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn directories_of_other_programs() {
    let foreign = |name: &str| format!("is not empty and holds no Inia database (there is {name})");
    for (name, expected) in [
        ("ibdata1", foreign("ibdata1")),
        ("PG_VERSION", foreign("PG_VERSION")),
        ("notes", foreign("notes")),
        ("wal-000000000001", "wal-000000000001".to_owned()),
    ] {
        let folder = TempDir::new();
        let dir = folder.path().to_str().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, "somebody's").unwrap();
        refused(&["--port", "0", "--data", dir], &expected);
        let (code, text) = run(&["check", dir]);
        assert_ne!(code, 0, "{text}");
        // The refused directory is as it was.
        assert_eq!(names(folder.path()), [name]);
        assert_eq!(std::fs::read(&file).unwrap(), b"somebody's");
    }
    // What a file system makes by itself, and what a system keeps out of sight, is no obstacle.
    let folder = TempDir::new();
    std::fs::create_dir(folder.path().join("lost+found")).unwrap();
    std::fs::write(folder.path().join(".keep"), "").unwrap();
    Process::start(folder.path(), &[]).kill();
    // Beside a database other files are left alone.
    let file = folder.path().join("wal-notes");
    std::fs::write(&file, "somebody's").unwrap();
    Process::start(folder.path(), &[]).kill();
    assert_eq!(std::fs::read(&file).unwrap(), b"somebody's");
}

/// The names in a directory, in order.
fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_refused_start_leaves_nothing_of_its_own() {
    let folder = DataDir::new();
    let data = folder.path();
    let place = ["--port", "0", "--data", data.to_str().unwrap()];
    refused(&[&place[..], &["--buffer-pool-size", "1k"]].concat(), "is too small");
    assert!(!data.exists());
    let variables = ["--general-log=ON", "--sql-mode=LAX"];
    refused(&[&place[..], &variables].concat(), "--sql-mode=LAX: ERROR 1231");
    assert!(!data.exists());
    Process::start(&data, &[]).kill();
    let control = data.join("inia.control");
    std::fs::write(&control, [7; 8192]).unwrap();
    refused(&place, "inia.control is damaged");
    let left = names(&data);
    assert!(!left.contains(&"inia.pid".to_owned()), "{left:?}");
    assert!(!left.contains(&"inia.lock".to_owned()), "{left:?}");
}

#[test]
fn directories_and_links_where_files_should_be() {
    let folder = DataDir::new();
    Process::start(&folder.path(), &[]).kill();
    let (dir, control) = (folder.path(), folder.path().join("inia.data"));
    std::fs::remove_file(&control).unwrap();
    std::fs::create_dir(&control).unwrap();
    let dir = dir.to_str().unwrap();
    refused(&["--port", "0", "--data", dir], "disk error: inia.data: Is a directory");
    std::fs::remove_dir(&control).unwrap();
    std::os::unix::fs::symlink("nowhere", &control).unwrap();
    refused(&["--port", "0", "--data", dir], "inia.data is missing");
    let dangling = folder.path().join("dangling");
    std::os::unix::fs::symlink("nowhere", &dangling).unwrap();
    let dangling = dangling.to_str().unwrap();
    refused(&["--port", "0", "--data", dangling], "cannot create data directory");
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
    assert!(!other.path().exists(), "no database of a refused start is left");
}

#[test]
fn places_where_nobody_can_listen_leave_no_database() {
    let folder = TempDir::new();
    let data = folder.path().join("new/inner/data");
    let start = |more: &[&str], why: &str| {
        refused(&[&["--port", "0", "--data", data.to_str().unwrap()], more].concat(), why);
        assert_eq!(names(folder.path()), [""; 0], "{why}");
    };
    start(&["--host", "192.0.2.1"], "the account root has no password");
    start(&["--host", "0.0.0.0"], "the account root has no password");
    start(&["--socket", "/nonexistent/socket"], "cannot listen on /nonexistent/socket");
    // What was there before stays.
    std::fs::create_dir_all(&data).unwrap();
    std::fs::set_permissions(&data, Permissions::from_mode(0o750)).unwrap();
    std::fs::write(data.join("private_key.pem"), "mine").unwrap();
    let socket = ["--socket", "/nonexistent/socket", "--port", "0", "--data"];
    refused(&[&socket[..], &[data.to_str().unwrap()]].concat(), "cannot listen on");
    assert_eq!(names(&data), ["private_key.pem"]);
}

#[test]
fn bad_options() {
    refused(&["--prot", "5"], "a similar argument exists: '--port'");
    refused(&["--port", "99999"], "'99999' is not a number from 0 to 65535 for option 'port'");
    refused(&["--buffer-pool-size", "12Q"], "'12Q' is not a size such as 512M");
    refused(&["--buffer-pool-size", "1k"], "a buffer pool of 1024 bytes is too small");
    refused(&["--max-allowed-packet", "3"], "max-allowed-packet is 3 bytes, but must be from");
    refused(&["--max-connections", "0"], "'0' is not a number from 1 to 100000");
    refused(&["--connect-timeout", "0"], "'0' is not a number from 1 to 31536000");
    for (dir, why) in [("/nonexistent", "No such file"), ("/etc/passwd", "Not a directory")] {
        let expected = format!("cannot use {dir} for secure-file-priv: {why}");
        refused(&["--secure-file-priv", dir], &expected);
    }
    refused(&["--config", "/nonexistent.conf"], "cannot read /nonexistent.conf");
    let folder = TempDir::new();
    let file = folder.path().join("inia.conf");
    std::fs::write(&file, "# comment\nbufer-pool-size = 1G\n").unwrap();
    let expected = "line 2: unknown option 'bufer-pool-size'; did you mean 'buffer-pool-size'?";
    refused(&["--config", file.to_str().unwrap()], expected);
    std::fs::write(&file, "[mysqld]\nsql_mode = LAX\n").unwrap();
    let expected =
        "line 2: ERROR 1231 (42000): Variable 'sql_mode' can't be set to the value of 'LAX'";
    refused(&["--in-memory", "--config", file.to_str().unwrap()], expected);
    refused(&["--in-memory", "--autocommit=maybe"], "--autocommit=maybe: ERROR 1231");
    std::fs::write(&file, "[mysqld\n").unwrap();
    refused(&["--config", file.to_str().unwrap()], "the group '[mysqld' has no end");
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
