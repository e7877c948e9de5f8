//! Directories of disk format 3, the oldest that is opened.
//!
//! `format3/closed` and `format3/killed` are what the last program of that format left after
//! `closed.sql`, and after `killed.sql` on top of it; each file is packed by zstd, and keys of TLS
//! are left out. Nothing can make them again: they stay as they are.
//!
//! What a log of format 3 has and a newer one lacks are deletions whose before-images repeat the
//! value. The killed directory has such ones of every kind: of a transaction that must be taken
//! back, of committed ones whose records must be purged, and of a row in overflow pages.

use crate::process::{DataDir, Process, run};
use inia_base::value::Value;
use inia_wire::client::{Client, LoginOptions};
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::path::{Path, PathBuf};

const BLOCK: usize = 4096;

/// What the table `t` holds: `k` and `c` by `id`.
type Rows = BTreeMap<i64, (i64, String)>;

fn unpack(name: &str) -> DataDir {
    let folder = DataDir::new();
    std::fs::create_dir(folder.path()).unwrap();
    let packed = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/format3").join(name);
    for file in std::fs::read_dir(packed).unwrap() {
        let file = file.unwrap().path();
        let bytes = zstd::decode_all(std::fs::File::open(&file).unwrap()).unwrap();
        std::fs::write(folder.path().join(file.file_stem().unwrap()), bytes).unwrap();
    }
    folder
}

/// The formats of the two blocks of the control file, the one that counts first.
fn formats(dir: &Path) -> [u32; 2] {
    let file = std::fs::read(dir.join("inia.control")).unwrap();
    let mut blocks: Vec<(u64, u32)> = file
        .chunks_exact(BLOCK)
        .map(|block| {
            let sequence = u64::from_le_bytes(block[16..24].try_into().unwrap());
            (sequence, u32::from_le_bytes(block[4..8].try_into().unwrap()))
        })
        .collect();
    blocks.sort_unstable();
    [blocks[1].1, blocks[0].1]
}

fn rows_when_closed() -> Rows {
    let mut rows: Rows = (1..=500)
        .filter(|id| id % 10 != 0)
        .map(|id| (id, (id % 97, format!("row {id}{}", ".".repeat(60)))))
        .collect();
    for (_, row) in rows.iter_mut().filter(|(id, _)| *id % 7 == 0) {
        row.0 += 1000;
    }
    rows
}

fn rows_when_killed() -> Rows {
    let mut rows = rows_when_closed();
    rows.retain(|id, _| !(461..=490).contains(id));
    for (id, row) in rows.iter_mut().filter(|(id, _)| *id % 100 == 1) {
        row.1 = format!("new {id}");
    }
    rows
}

/// The rows' first column.
fn column(client: &mut Client<TcpStream>, sql: &str) -> Vec<String> {
    let rows = client.rows(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let texts = rows.into_iter().map(|mut row| match row.swap_remove(0) {
        Value::Text(text) => text,
        other => panic!("{sql}: {other:?}"),
    });
    texts.collect()
}

/// The table by its rows and by each of its indexes.
fn expect_rows(client: &mut Client<TcpStream>, rows: &Rows) {
    let expected: Vec<String> = rows.iter().map(|(id, (k, c))| format!("{id}|{k}|{c}")).collect();
    let whole = "SELECT CONCAT_WS('|', id, k, c) FROM d.t";
    assert_eq!(column(client, &format!("{whole} ORDER BY id")), expected);
    for (index, all) in [("k", "k >= 0"), ("c", "c >= ''")] {
        let sql = format!("{whole} FORCE INDEX ({index}) WHERE {all}");
        let mut by_index = column(client, &sql);
        by_index.sort_unstable();
        let mut sorted = expected.clone();
        sorted.sort_unstable();
        assert_eq!(by_index, sorted, "by {index}");
    }
}

/// What both directories hold beside `t`.
fn expect_the_rest(server: &Process) {
    let mut client = server.client();
    let mut is = |sql: &str, expected: &[&str]| assert_eq!(column(&mut client, sql), expected);
    is(
        "SELECT CONCAT_WS('|', COALESCE(v, 'NULL'), d) FROM d.no_key ORDER BY d",
        &["NULL", "-7.25|1999-12-31 23:59:59", "1.50|2026-01-02 03:04:05"],
    );
    is("SELECT CONCAT_WS('|', id, v) FROM d.own_way", &["1|one", "2|two"]);
    is("SELECT CONCAT(COUNT(*), ' to ', MAX(k)) FROM d.sevens WHERE id <= 70", &["9 to 1063"]);
    // The number of the deleted row is not given again.
    client.query("INSERT INTO d.counted (v) VALUES (4)").unwrap();
    let counted = "SELECT CONCAT_WS('|', id, v) FROM d.counted";
    assert_eq!(column(&mut client, counted), ["1|1", "2|2", "4|4"]);

    let options = LoginOptions {
        user: "reader".to_owned(),
        password: "secret".to_owned(),
        ..LoginOptions::default()
    };
    let stream = TcpStream::connect(server.address()).unwrap();
    let mut reader = Client::connect(stream, &options).unwrap();
    assert_eq!(column(&mut reader, "SELECT k FROM d.t WHERE id = 98"), ["1001"]);
    assert!(reader.rows("SELECT * FROM d.counted").is_err(), "it may read `t` alone");
}

/// Changes of every kind in what was opened, a transaction that does not end, and a sudden end:
/// from then on the log has records of the present format.
fn change_and_kill(server: Process, rows: &mut Rows) {
    let (mut client, mut open) = (server.client(), server.client());
    for sql in ["BEGIN", "DELETE FROM d.t WHERE id BETWEEN 120 AND 180"] {
        open.query(sql).unwrap();
    }
    for sql in [
        "DELETE FROM d.t WHERE id <= 50",
        "UPDATE d.t SET k = 7, c = CONCAT('again ', id) WHERE id BETWEEN 200 AND 250",
        "INSERT INTO d.t (id, k, c) VALUES (9000, 1, 'last')",
    ] {
        client.query(sql).unwrap();
    }
    server.kill();
    rows.retain(|id, _| *id > 50);
    for (id, row) in rows.range_mut(200..=250) {
        *row = (7, format!("again {id}"));
    }
    rows.insert(9000, (1, "last".to_owned()));
}

fn expect_no_problems(dir: &Path) {
    let (code, text) = run(&["check", dir.to_str().unwrap()]);
    assert_eq!(code, 0, "{text}");
    assert!(text.ends_with(": no problems\n"), "{text}");
}

/// Opens a directory, looks at all of it, changes it, and opens it again.
fn opened_and_raised(name: &str, mut rows: Rows, more: impl Fn(&mut Client<TcpStream>)) {
    let folder = unpack(name);
    let dir = folder.path();
    assert_eq!(formats(&dir), [3, 3]);
    let server = Process::start(&dir, &[]);
    assert_eq!(formats(&dir), [5, 5], "a program of format 3 would refuse it now");
    expect_rows(&mut server.client(), &rows);
    more(&mut server.client());
    expect_the_rest(&server);
    change_and_kill(server, &mut rows);

    expect_no_problems(&dir);
    let server = Process::start(&dir, &[]);
    expect_rows(&mut server.client(), &rows);
    more(&mut server.client());
    drop(server);
    expect_no_problems(&dir);
}

const LARGE: &str = "SELECT CONCAT_WS(' ', name, LENGTH(body), MD5(body)) FROM d.large";

#[test]
fn a_directory_that_was_closed_is_opened_and_raised() {
    opened_and_raised("closed", rows_when_closed(), |client| {
        let large = column(client, LARGE);
        let expected = [
            "a 60000 3d6876be4d95d0814ba448047b3bba1f",
            "b 5 4f09daa9d95bcb166a302407a0e0babe",
            "c 5000 a6bb7bde3251ca2d810d32dadd9e8ae7",
        ];
        assert_eq!(large, expected);
    });
}

#[test]
fn one_whose_program_was_killed_is_recovered_and_raised() {
    opened_and_raised("killed", rows_when_killed(), |client| {
        let large = column(client, LARGE);
        let expected = [
            "a 60000 3d6876be4d95d0814ba448047b3bba1f",
            "b 5 4f09daa9d95bcb166a302407a0e0babe",
            "d 24000 1072056b03db1d8495eff125b7d3e1b8",
        ];
        assert_eq!(large, expected);
        let late = "SELECT CONCAT_WS('|', id, v) FROM d.late FORCE INDEX (v) WHERE v >= 0";
        assert_eq!(column(client, late), ["1|10", "2|20"]);
    });
}

#[test]
fn both_are_without_problems_where_the_check_is_the_first_to_open_them() {
    for name in ["closed", "killed"] {
        let folder = unpack(name);
        expect_no_problems(&folder.path());
        assert_eq!(formats(&folder.path()), [5, 5]);
    }
}
