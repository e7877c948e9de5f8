//! Places of log files, formats of their lines, and sums over statements.

use super::files::{self, PathRefused};
use super::{Command, Done, Ended, History, Observer, Sums, Who, lines};
use inia_base::io::{Disk, MemDisk};
use inia_parser::StatementDigest;
use std::sync::Arc;

const ROOT: Who<'_> =
    Who { account: "root", user: "root", host: "localhost", address: "127.0.0.1", id: 8 };

#[test]
fn only_plain_files_of_the_data_directory_may_be_logs() {
    let place = std::env::temp_dir().join(format!("inia-observe-{}", std::process::id()));
    std::fs::create_dir_all(place.join("inner")).unwrap();
    let place_text = place.display().to_string();
    let outside = std::env::temp_dir().join("x.log").display().to_string();
    std::os::unix::fs::symlink(&outside, place.join("link.log")).unwrap();
    let check = |path: &str| files::check(&place_text, "NULL", path);
    for allowed in ["", "x.log", "host-slow.log", &format!("{place_text}/y.log")] {
        assert_eq!(check(allowed), Ok(()), "{allowed}");
    }
    let refused = [
        "inia.data",
        "inia.pid",
        "server-key.pem",
        "my.cnf",
        ".hidden",
        "inner",
        "link.log",
        "../x.log",
        "nowhere/x.log",
        "a\nb.log",
        "/etc/passwd",
        &outside,
    ];
    for path in refused {
        assert_eq!(check(path), Err(PathRefused), "{path}");
    }
    std::fs::remove_dir_all(&place).unwrap();
}

#[test]
fn lines_are_those_of_mysql() {
    let command = Command { name: "Query", argument: "select 1", at: 1_795_478_059_061_652 };
    let line = lines::command_line(&ROOT, &command, false);
    let expected = "2026-11-23T23:54:19.061652Z\t    8 Query\tselect 1\n";
    assert_eq!(String::from_utf8(line).unwrap(), expected);
    let ended = Ended {
        text: "select sleep(0.01)",
        database: "d",
        at: 1_795_478_059_061_652,
        timestamp: 1000,
        micros: 15_071,
        rows_sent: 1,
        rows_examined: 1,
        ..Ended::default()
    };
    let entry = lines::statement_entry(&ROOT, &ended, true, (false, false));
    let expected = "# Time: 2026-11-23T23:54:19.061652Z\n\
        # User@Host: root[root] @ localhost [127.0.0.1]  Id:     8\n\
        # Query_time: 0.015071  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1\n\
        use d;\nSET timestamp=1000;\nselect sleep(0.01);\n";
    assert_eq!(String::from_utf8(entry).unwrap(), expected);
    let entry = lines::statement_entry(&ROOT, &ended, false, (false, true));
    let entry = String::from_utf8(entry).unwrap();
    let extra = " Thread_id: 8 Errno: 0 Killed: 0 Bytes_received: 0 Bytes_sent: 0 Read_first: 0 \
        Read_last: 0 Read_key: 0 Read_next: 0 Read_prev: 0 Read_rnd: 0 Read_rnd_next: 0 \
        Sort_merge_passes: 0 Sort_range_count: 0 Sort_rows: 0 Sort_scan_count: 0 \
        Created_tmp_disk_tables: 0 Created_tmp_tables: 0 Start: 2026-11-23T23:54:19.046581Z \
        End: 2026-11-23T23:54:19.061652Z\n";
    assert!(entry.contains(extra), "{entry}");
}

#[test]
fn logged_rows_survive_and_damage_ends_them() {
    let disk: Arc<dyn Disk> = Arc::new(MemDisk::new());
    let table = super::tables::LogTable::new(&disk, "inia.test_log");
    assert!(table.rows().is_empty());
    table.push(&[b"one".to_vec(), Vec::new()]);
    table.push(&[b"two".to_vec()]);
    let rows = vec![vec![b"one".to_vec(), Vec::new()], vec![b"two".to_vec()]];
    assert_eq!(table.rows(), rows);
    let file = disk.open("inia.test_log", false).unwrap();
    file.write_at(&[7, 0, 0, 0, 255, 255], file.len().unwrap()).unwrap();
    let again = super::tables::LogTable::new(&disk, "inia.test_log");
    assert_eq!(again.rows(), rows);
    again.push(&[b"three".to_vec()]);
    assert_eq!(again.rows().len(), 3);
    again.clear().unwrap();
    assert!(again.rows().is_empty());
}

fn digest(text: &str) -> StatementDigest {
    StatementDigest { text: text.to_owned(), hash: [7; 32] }
}

fn done(form: &str, wait: u64) -> Done {
    Done {
        kind: "select",
        database: None,
        form: Some(digest(form)),
        text: form.to_owned(),
        at: 1,
        sums: Sums { count: 1, wait, min: wait, max: wait, ..Sums::default() },
        error: None,
    }
}

#[test]
fn statements_are_summed_up_over_sessions() {
    let disk: Arc<dyn Disk> = Arc::new(MemDisk::new());
    let observer = Observer::new(&disk);
    let (first, second) = (History::default(), History::default());
    for wait in [100, 300] {
        observer.statements.note(&first, done("SELECT ?", wait));
    }
    observer.statements.note(&second, done("SELECT ?", 200));
    observer.statements.note(&second, done("SELECT * FROM `t`", 5));
    observer.statements.end(None, &second);
    let groups = observer.statements.groups([&first].into_iter());
    assert_eq!(groups.len(), 2);
    let group = groups.iter().find(|group| group.form == Some(digest("SELECT ?"))).unwrap();
    let Sums { count, wait, min, max, .. } = group.sums;
    assert_eq!((count, wait, min, max), (3, 600, 100, 300));
    assert_eq!(group.sample.2, 300);
    assert!((300..=315).contains(&group.quantile(950)), "{}", group.quantile(950));
    assert!((100..=105).contains(&group.quantile(300)), "{}", group.quantile(300));
    let kinds = observer.statements.kinds.global([(None, first.kinds())].into_iter());
    assert_eq!(kinds["select"].count, 4);
    observer.statements.clear_groups([&first].into_iter());
    assert!(observer.statements.groups([&first].into_iter()).is_empty());
}

#[test]
fn forms_beyond_the_limit_are_counted_together() {
    let disk: Arc<dyn Disk> = Arc::new(MemDisk::new());
    let observer = Observer::new(&disk);
    let session = History::default();
    for number in 0..10_500 {
        observer.statements.note(&session, done(&format!("SELECT `c{number}`"), 1));
    }
    observer.statements.end(None, &session);
    let groups = observer.statements.groups(std::iter::empty());
    assert_eq!(groups.len(), 10_001);
    let rest = groups.iter().find(|group| group.form.is_none()).unwrap();
    assert_eq!(rest.sums.count, 500);
}
