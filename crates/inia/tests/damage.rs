//! `inia check` on sound and on damaged directories: what is wrong is named or the directory is
//! refused, in one line, and nothing damaged passes for sound.

use crate::process::{DataDir, Process, run};
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const ROWS: usize = 3000;
const PAGE: u64 = 16 << 10;

/// A directory whose server was killed after its last commit.
fn killed() -> DataDir {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut client = server.client();
    let values: Vec<String> =
        (0..ROWS).map(|i| format!("({i}, {}, repeat('x', 200))", i % 97)).collect();
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, k INT, c VARCHAR(300), KEY (k), KEY (c, k))",
        &format!("INSERT INTO d.t VALUES {}", values.join(",")),
        "DELETE FROM d.t WHERE id % 10 = 0",
        "UPDATE d.t SET k = k + 1 WHERE id % 7 = 0",
    ] {
        client.query(sql).unwrap();
    }
    server.kill();
    folder
}

/// A directory that was recovered and closed, so that its pages are in their places.
fn closed() -> DataDir {
    let folder = killed();
    assert_eq!(check(&folder.path()).0, 0);
    folder
}

fn check(dir: &Path) -> (i32, String) {
    run(&["check", dir.to_str().unwrap()])
}

fn flip(file: &Path, at: u64) {
    let file = OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[!byte[0]], at).unwrap();
}

fn cut(file: &Path, len: u64) {
    OpenOptions::new().write(true).open(file).unwrap().set_len(len).unwrap();
}

/// The log's files, oldest first.
fn log(dir: &Path) -> Vec<PathBuf> {
    let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<PathBuf> =
        names.filter(|p| p.file_name().unwrap().to_string_lossy().starts_with("wal-")).collect();
    names.sort();
    names
}

/// Damages a directory and expects exit code 1 and a line with this text.
#[track_caller]
fn damaged(folder: DataDir, expected: &str, damage: impl FnOnce(&Path)) {
    damage(&folder.path());
    let (code, text) = check(&folder.path());
    assert_eq!(code, 1, "{text}");
    assert!(text.contains(expected), "{text}");
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn a_sound_directory_has_no_problems_after_sigkill_and_after_a_clean_end() {
    let folder = killed();
    for _ in 0..2 {
        let (code, text) = check(&folder.path());
        assert_eq!(code, 0, "{text}");
        assert!(text.ends_with(": no problems\n"), "{text}");
    }
}

#[test]
fn a_directory_without_database_is_not_called_sound() {
    let folder = DataDir::new();
    damaged(folder, "is not a directory", |_| {});
    let folder = DataDir::new();
    damaged(folder, "holds no database", |dir| std::fs::create_dir(dir).unwrap());
}

#[test]
fn a_directory_in_use_is_not_checked() {
    let folder = DataDir::new();
    let _server = Process::start(&folder.path(), &[]);
    damaged(folder, "is in use by another Inia server", |_| {});
}

#[test]
fn every_flipped_page_of_a_table_is_named() {
    let folder = closed();
    let file = folder.path().join("inia.data");
    let pages = std::fs::metadata(&file).unwrap().len() / PAGE;
    // The doublewrite file would restore what it still has.
    std::fs::write(folder.path().join("inia.doublewrite"), vec![0; 2 << 20]).unwrap();
    let mut reported = 0;
    for page in (5..pages).step_by(11) {
        flip(&file, page * PAGE + 999);
        let (code, text) = check(&folder.path());
        // Pages that are free, or that the log rebuilds, do no harm.
        if code == 0 {
            continue;
        }
        assert!(text.contains(&format!("page {page} is damaged: wrong checksum")), "{text}");
        reported += 1;
        flip(&file, page * PAGE + 999);
    }
    assert!(reported > 3, "{reported} of {pages} pages");
}

#[test]
fn a_damaged_header_page_is_refused() {
    damaged(closed(), "page 0 is damaged", |dir| {
        std::fs::write(dir.join("inia.doublewrite"), vec![0; 2 << 20]).unwrap();
        flip(&dir.join("inia.data"), 100);
    });
}

#[test]
fn a_cut_or_missing_data_file_is_refused() {
    damaged(closed(), "past the end of the file", |dir| cut(&dir.join("inia.data"), 5 * PAGE));
    damaged(closed(), "damaged", |dir| cut(&dir.join("inia.data"), 0));
    damaged(killed(), "damaged", |dir| cut(&dir.join("inia.data"), 0));
    damaged(closed(), "inia.data is missing", |dir| {
        std::fs::remove_file(dir.join("inia.data")).unwrap();
    });
}

#[test]
fn a_lost_control_file_is_refused_even_where_all_data_is_in_the_log() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    server.client().query("CREATE DATABASE little").unwrap();
    server.kill();
    std::fs::remove_file(folder.path().join("inia.control")).unwrap();
    let before = std::fs::read(&log(&folder.path())[0]).unwrap();
    damaged(folder, "holds data, but inia.control is missing", |dir| {
        assert!(std::fs::read(&log(dir)[0]).unwrap() == before);
    });
}

#[test]
fn missing_other_files_are_refused() {
    damaged(closed(), "inia.doublewrite is missing", |dir| {
        std::fs::remove_file(dir.join("inia.doublewrite")).unwrap();
    });
    damaged(closed(), "inia.control is missing", |dir| {
        std::fs::remove_file(dir.join("inia.control")).unwrap();
    });
    damaged(closed(), "the log lacks position", |dir| {
        log(dir).iter().for_each(|file| std::fs::remove_file(file).unwrap());
    });
}

#[test]
fn a_damaged_middle_of_the_log_is_refused() {
    damaged(killed(), "the log is damaged at position", |dir| {
        flip(&log(dir)[0], 20 * 4096 + 77);
    });
    damaged(killed(), "the log", |dir| flip(&log(dir)[0], 50));
}

#[test]
fn a_missing_or_shortened_part_of_the_log_is_refused() {
    damaged(killed(), "a part of the log was cut short: wal-", |dir| cut(&log(dir)[0], 40_960));
    damaged(killed(), "a part of the log was cut short: wal-", |dir| cut(&log(dir)[0], 0));
    damaged(killed(), "a part of the log is missing: wal-", |dir| {
        let files = log(dir);
        assert!(files.len() > 2, "{files:?}");
        std::fs::remove_file(&files[1]).unwrap();
    });
}

#[test]
fn one_damaged_checkpoint_block_does_no_harm_and_two_are_refused() {
    let folder = closed();
    flip(&folder.path().join("inia.control"), 30);
    assert_eq!(check(&folder.path()).0, 0);
    damaged(folder, "inia.control is damaged", |dir| {
        flip(&dir.join("inia.control"), 30);
        flip(&dir.join("inia.control"), 4096 + 30);
    });
}

#[test]
fn an_unknown_format_is_named() {
    damaged(closed(), "the files have format 77; this version reads format 5", |dir| {
        let path = dir.join("inia.control");
        let mut bytes = std::fs::read(&path).unwrap();
        for block in bytes.chunks_mut(4096) {
            block[4..8].copy_from_slice(&77_u32.to_le_bytes());
            let crc = crc32c::crc32c(&block[4..]);
            block[..4].copy_from_slice(&crc.to_le_bytes());
        }
        std::fs::write(&path, bytes).unwrap();
    });
}
