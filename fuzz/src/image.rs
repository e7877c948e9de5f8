//! Pages, log blocks and the other files of a database, damaged: it is refused, or opens and
//! answers. The input is a list of changes of eight bytes: a file, a place in it, and a byte; the
//! checksum of the page or block is made right again for half of the changes.

use crate::session::{open, run as execute};
use inia_base::io::{Disk, MemDisk};
use inia_sql::{ClientInfo, Session};
use std::collections::BTreeMap;
use std::sync::OnceLock;

type Image = BTreeMap<String, Vec<u8>>;

const MADE: [&str; 7] = [
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(200), c TEXT, KEY (b))",
    "INSERT INTO t WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 400) \
     SELECT i, REPEAT(i % 7, 100), REPEAT('x', i * 10) FROM n",
    "DELETE FROM t WHERE a % 5 = 0",
    "UPDATE t SET b = 'new' WHERE a % 3 = 0",
    "CREATE VIEW v AS SELECT a FROM t",
];

/// A transaction whose end is lost by the damage keeps its locks until it is rolled back, which
/// nobody does here: the wait for one is a short one.
const ASKED: [&str; 7] = [
    "SET innodb_lock_wait_timeout = 1",
    "SELECT COUNT(*), SUM(LENGTH(c)) FROM d.t",
    "SELECT COUNT(*) FROM d.t FORCE INDEX (b) WHERE b > ''",
    "UPDATE d.t SET b = CONCAT(b, 'z') WHERE a < 50",
    "DELETE FROM d.t WHERE a > 300",
    "INSERT INTO d.t VALUES (1000, 'x', 'y')",
    "DROP TABLE d.t",
];

/// The files of a database that was closed, and of one that was not.
fn images() -> &'static [Image; 2] {
    static IMAGES: OnceLock<[Image; 2]> = OnceLock::new();
    IMAGES.get_or_init(|| {
        let disk = MemDisk::new();
        let database = open(&disk).expect("an empty disk holds a new database");
        let mut session = Session::new(&database, ClientInfo::default());
        for sql in MADE {
            execute(&mut session, sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        }
        let killed = image(&disk);
        drop(session);
        database.close().expect("a sound database closes");
        [killed, image(&disk)]
    })
}

fn image(disk: &MemDisk) -> Image {
    let bytes = |name: &String| {
        let file = disk.open(name, false).expect("it was listed");
        let mut bytes = vec![0; file.len().expect("memory has a length") as usize];
        file.read_at(&mut bytes, 0).expect("memory can be read");
        bytes
    };
    let names = disk.list().expect("memory can be listed");
    names.into_iter().map(|name| (name.clone(), bytes(&name))).collect()
}

/// Pages keep their checksum in their first four bytes, and so do the blocks of the other files.
fn seal(bytes: &mut [u8], at: usize, unit: usize) {
    let start = at / unit * unit;
    let Some(block) = bytes.get_mut(start..start + unit) else { return };
    let crc = crc32c::crc32c(&block[4..]);
    block[..4].copy_from_slice(&crc.to_le_bytes());
}

pub fn run(data: &[u8]) {
    let Some((which, changes)) = data.split_first() else { return };
    let mut files = images()[usize::from(which & 1)].clone();
    let names: Vec<String> = files.keys().cloned().collect();
    for change in changes.chunks_exact(8) {
        let name = &names[usize::from(change[0]) % names.len()];
        let bytes = files.get_mut(name).expect("one of them");
        let place = u32::from_le_bytes([change[1], change[2], change[3], change[4]]) as usize;
        if bytes.is_empty() {
            continue;
        }
        let at = place % bytes.len();
        match change[5] % 8 {
            0 => bytes.truncate(at),
            1 => bytes[at..].fill(0),
            _ => bytes[at] = change[6],
        }
        if change[7] & 1 == 1 {
            seal(bytes, at, if name == "inia.data" { 16 << 10 } else { 4 << 10 });
        }
    }
    let disk = MemDisk::new();
    for (name, bytes) in &files {
        let file = disk.open(name, true).expect("memory has room");
        file.write_at(bytes, 0).expect("memory has room");
    }
    let Ok(database) = open(&disk) else { return };
    let mut session = Session::new(&database, ClientInfo::default());
    for sql in ASKED {
        let _ = execute(&mut session, sql);
    }
    let _ = inia_sql::check_database(&database);
    drop(session);
    let _ = database.close();
}
