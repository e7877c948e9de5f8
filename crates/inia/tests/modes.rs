//! Who else on the machine can read what the server keeps: nobody, whatever the umask.

use crate::process::{DataDir, Process, program};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// Every file of the directory with its mode.
fn modes(dir: &Path) -> Vec<(String, u32)> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let mut modes: Vec<(String, u32)> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), mode(&entry.path())))
        .collect();
    modes.sort();
    modes
}

#[track_caller]
fn closed_to_others(dir: &Path) {
    // A file gets its rights before anything is written into it, and its name after that.
    let done = modes(dir).into_iter().filter(|(name, _)| !name.ends_with(".new"));
    for (name, found) in done {
        let expected = match name.as_str() {
            "server-key.pem" | "private_key.pem" => 0o600,
            "socket" => 0o777,
            _ => 0o640,
        };
        assert_eq!(found, expected, "{name} has mode {found:o}");
    }
}

/// The server, started where the umask takes this away.
fn start_with_umask(umask: &str, data: &Path, options: &[&str]) -> Process {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\""), &program()]);
    Process::start_by(shell, data, options)
}

#[test]
fn no_file_can_be_read_by_others() {
    for umask in ["000", "022", "077"] {
        let folder = DataDir::new();
        let data = folder.path();
        let server = start_with_umask(umask, &data, &[]);
        let mut client = server.client();
        client.query("CREATE DATABASE d").unwrap();
        client.query("CREATE TABLE d.t (a VARCHAR(9000))").unwrap();
        client.query("INSERT INTO d.t VALUES (REPEAT('x', 9000))").unwrap();
        assert_eq!(mode(&data), 0o750, "umask {umask}");
        closed_to_others(&data);
        UnixStream::connect(data.join("socket")).unwrap();
    }
}

#[test]
fn exported_files_cannot_be_read_by_others() {
    let folder = DataDir::new();
    let data = folder.path();
    let files = data.parent().unwrap().to_str().unwrap();
    let server = start_with_umask("000", &data, &["--secure-file-priv", files]);
    let mut client = server.client();
    client.query(&format!("SELECT 1 INTO OUTFILE '{files}/rows'")).unwrap();
    client.query(&format!("SELECT 1 INTO DUMPFILE '{files}/dump'")).unwrap();
    for name in ["rows", "dump"] {
        assert_eq!(mode(&data.parent().unwrap().join(name)), 0o640, "{name}");
    }
}

#[test]
fn files_of_an_older_directory_are_closed_at_the_start() {
    let folder = DataDir::new();
    let data = folder.path();
    Process::start(&data, &[]).kill();
    std::fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    for (name, _) in modes(&data) {
        let open = Permissions::from_mode(if name.ends_with(".pem") { 0o604 } else { 0o644 });
        std::fs::set_permissions(data.join(name), open).unwrap();
    }
    let _server = Process::start(&data, &[]);
    assert_eq!(mode(&data), 0o755, "the directory is its owner's choice; a warning is logged");
    for (name, found) in modes(&data) {
        assert!(name == "socket" || found & 0o007 == 0, "{name} has mode {found:o}");
    }
}
