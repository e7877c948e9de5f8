//! Damaged files: every kind of page, log block and file, damaged in every way, case by case.
//!
//! One database's files are kept as they were at four moments:
//!
//! ```text
//!   rows made, closed     rows changed               closed
//!   ───────●──────────────────────●─────────●──────────●──
//!         old                   killed    half      closed
//! ```
//!
//! `killed` has all changes in the log only, `half` has some pages written back. Each case damages
//! a copy of one of them, opens it, asks it questions, checks it and writes to it. Then one of
//! three things must be true:
//!
//! - *refused*: it does not open;
//! - *reported*: the check names a problem, and each question got its right answer or an error;
//! - *harmless*: the check finds nothing, and each question got its right answer.
//!
//! Never may anything panic. Only a page from earlier, whole and with a right checksum, may answer
//! wrongly until the check names it. The check cannot name it where nothing else depends on what
//! it holds: of a table without secondary indexes. A log whose last file is from earlier, or whose
//! last block is damaged, looks like one that ended there.

mod files;
mod pages;

use crate::check::check_database;
use crate::session::Session;
use crate::session::tests::TestSession;
use inia_base::io::{Disk, MemDisk};
use inia_query::database::{ClientInfo, Database, DatabaseOptions};
use inia_query::error::OpenError;
use inia_storage::EngineSizes;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// Bytes of a page.
const PAGE: usize = 16 << 10;
/// Bytes of a log block.
const BLOCK: usize = 4 << 10;

/// All files of a disk.
type Image = BTreeMap<String, Vec<u8>>;

/// Questions whose answers need every table, by every index.
const QUESTIONS: [&str; 8] = [
    "SELECT COUNT(*), SUM(id), SUM(k), SUM(CRC32(c)), SUM(LENGTH(pad)) FROM a",
    "SELECT COUNT(*), SUM(k) FROM a FORCE INDEX (k) WHERE k >= 0",
    "SELECT COUNT(c), SUM(CRC32(c)) FROM a FORCE INDEX (c) WHERE c > ''",
    "SELECT id, k, c FROM a WHERE id IN (3, 300, 499, 560)",
    "SELECT id, k FROM a FORCE INDEX (k) WHERE k BETWEEN 40 AND 44 ORDER BY k DESC, id",
    "SELECT id, LENGTH(t), CRC32(t) FROM b ORDER BY id",
    "SELECT COUNT(*), SUM(x), SUM(CRC32(y)) FROM n",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'test' ORDER BY 1",
];

/// Statements that write to every table.
const WRITES: [&str; 7] = [
    "UPDATE a SET k = k + 1 WHERE id % 5 = 0",
    "INSERT INTO a SELECT id + 5000, k, CONCAT(c, '+'), pad FROM a WHERE id % 3 = 0",
    "DELETE FROM a WHERE id % 2 = 0",
    "UPDATE b SET t = REPEAT('new', 20000)",
    "DELETE FROM n",
    "CREATE TABLE made (id INT PRIMARY KEY, c VARCHAR(100), KEY (c))",
    "DROP TABLE b",
];

fn options(disk: &MemDisk) -> Result<Arc<Database>, OpenError> {
    let options = DatabaseOptions { buffer_pool_size: 64 * PAGE as u64, background: false };
    let sizes =
        EngineSizes { log_capacity: 2 << 20, segment_size: 256 << 10, undo_memory: 64 << 10 };
    Database::open_sized(Arc::new(disk.clone()), options, sizes)
}

fn session(db: &Arc<Database>) -> TestSession {
    let mut session = TestSession(Session::new(db, ClientInfo::default()));
    session.run("USE test");
    session
}

fn image_of(disk: &MemDisk) -> Image {
    let bytes = |name: &String| {
        let file = disk.open(name, false).unwrap();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_at(&mut bytes, 0).unwrap();
        bytes
    };
    disk.list().unwrap().into_iter().map(|name| (name.clone(), bytes(&name))).collect()
}

fn disk_of(image: &Image) -> MemDisk {
    let disk = MemDisk::new();
    for (name, bytes) in image {
        disk.open(name, true).unwrap().write_at(bytes, 0).unwrap();
    }
    disk
}

/// The files at the four moments, and what the questions are answered from the second on.
struct World {
    old: Image,
    killed: Image,
    half: Image,
    closed: Image,
    answers: Vec<String>,
}

/// The world, made once.
fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(make_world)
}

fn make_world() -> World {
    let disk = MemDisk::new();
    let db = options(&disk).unwrap();
    let mut client = session(&db);
    let rows = |ids: std::ops::Range<i32>| {
        let row = |i: i32| format!("({i}, {}, 'c{:05}', REPEAT('x', 300))", i % 97, i * 7 % 9973);
        ids.map(row).collect::<Vec<String>>().join(",")
    };
    for sql in [
        "CREATE DATABASE test",
        "USE test",
        "CREATE TABLE a (id INT PRIMARY KEY, k INT, c VARCHAR(60), pad TEXT, KEY k (k))",
        "CREATE UNIQUE INDEX c ON a (c)",
        &format!("INSERT INTO a VALUES {}", rows(0..500)),
        "CREATE TABLE b (id INT PRIMARY KEY, t LONGTEXT)",
        "INSERT INTO b VALUES (1, REPEAT('a', 50000)), (2, REPEAT('bc', 30000)), (3, 'short')",
        "CREATE TABLE n (x INT, y VARCHAR(50))",
        "INSERT INTO n SELECT id, c FROM a WHERE id < 150",
        "CREATE TABLE gone (id INT PRIMARY KEY, c VARCHAR(300))",
        "INSERT INTO gone SELECT id, c FROM a",
    ] {
        client.ok(sql);
    }
    drop(client);
    while db.engine.background_step().unwrap() {}
    db.close().unwrap();
    drop(db);
    let old = image_of(&disk);

    let db = options(&disk).unwrap();
    let mut client = session(&db);
    for sql in [
        &format!("INSERT INTO a VALUES {}", rows(500..600)),
        "DELETE FROM a WHERE id % 10 = 0",
        "UPDATE a SET k = k + 1, c = CONCAT(c, 'u') WHERE id % 7 = 0",
        "UPDATE b SET t = REPEAT('z', 70000) WHERE id = 2",
        "DELETE FROM n WHERE x % 2 = 0",
        "DROP TABLE gone",
        "CREATE TABLE later (id INT PRIMARY KEY)",
    ] {
        client.ok(sql);
    }
    let answers = QUESTIONS.iter().map(|sql| client.ok(sql)).collect();
    let killed = image_of(&disk);
    drop(client);
    for _ in 0..4 {
        db.engine.background_step().unwrap();
    }
    let half = image_of(&disk);
    while db.engine.background_step().unwrap() {}
    db.close().unwrap();
    World { old, killed, half, closed: image_of(&disk), answers }
}

/// How much of a damage can be seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Damage {
    /// Checksums find it.
    Visible,
    /// A page from earlier, which does not fit the others.
    OldPage,
    /// The log's end from earlier.
    OldFile,
}

/// How often which of the three was the end.
#[derive(Debug, Default)]
struct Tally {
    refused: usize,
    reported: usize,
    harmless: usize,
}

impl Tally {
    fn total(&self) -> usize {
        self.refused + self.reported + self.harmless
    }

    /// Goes through a case.
    fn case(&mut self, image: &Image, damage: Damage, label: &str) {
        let outcome = catch_unwind(AssertUnwindSafe(|| examine(image)));
        let Ok(outcome) = outcome else { panic!("{label}: panicked") };
        let (problems, mut wrong) = match outcome {
            Outcome::Refused => {
                self.refused += 1;
                return;
            }
            Outcome::Opened { problems, wrong } => (problems, wrong),
        };
        match problems.is_empty() {
            true => self.harmless += 1,
            false => self.reported += 1,
        }
        match damage {
            Damage::Visible => {}
            Damage::OldPage => wrong.retain(|answer| !answer.contains("FROM n")),
            Damage::OldFile => return,
        }
        let silent = |wrong: &&String| !wrong.contains("ERROR");
        let excused = damage == Damage::OldPage && !problems.is_empty();
        if let Some(answer) = wrong.iter().find(silent).filter(|_| !excused) {
            panic!("{label}: {problems:?}, but {answer}");
        }
        assert!(wrong.is_empty() || !problems.is_empty(), "{label}: no problem, but {wrong:?}");
    }
}

/// What became of a damaged image.
enum Outcome {
    Refused,
    /// What the check said, and the answers that were not the right ones.
    Opened {
        problems: Vec<String>,
        wrong: Vec<String>,
    },
}

/// Opens an image, asks, checks, writes, closes.
fn examine(image: &Image) -> Outcome {
    let Ok(db) = options(&disk_of(image)) else { return Outcome::Refused };
    let mut client = session(&db);
    let answers = QUESTIONS.iter().map(|sql| (sql, client.run(sql)));
    let differing = answers.zip(&world().answers).filter(|((_, found), right)| found != *right);
    let wrong = differing.map(|((sql, found), right)| format!("{sql}: {found}, not {right}"));
    let wrong: Vec<String> = wrong.collect();
    drop(client);
    let problems = check_database(&db).unwrap_or_else(|error| vec![error.to_string()]);
    let mut client = session(&db);
    WRITES.iter().for_each(|sql| drop(client.run(sql)));
    drop(client);
    // What fails here has been reported.
    let _ = db.close();
    Outcome::Opened { problems, wrong }
}

#[test]
fn the_undamaged_files_are_sound() {
    let mut tally = Tally::default();
    for (name, image) in moments() {
        tally.case(image, Damage::Visible, name);
    }
    assert_eq!(tally.harmless, 3, "{tally:?}");
}

/// The images with the same answers.
fn moments() -> [(&'static str, &'static Image); 3] {
    let World { killed, half, closed, .. } = world();
    [("killed", killed), ("half", half), ("closed", closed)]
}

fn page(image: &Image, number: usize) -> &[u8] {
    &image["inia.data"][number * PAGE..(number + 1) * PAGE]
}

/// A copy of an image with another page in a place.
fn with_page(image: &Image, number: usize, bytes: &[u8]) -> Image {
    let mut image = image.clone();
    let data = image.get_mut("inia.data").unwrap();
    data[number * PAGE..(number + 1) * PAGE].copy_from_slice(bytes);
    image
}

/// The pages that hold something.
fn used_pages(image: &Image) -> Vec<usize> {
    let pages = image["inia.data"].len() / PAGE;
    (0..pages).filter(|&number| page(image, number).iter().any(|byte| *byte != 0)).collect()
}
