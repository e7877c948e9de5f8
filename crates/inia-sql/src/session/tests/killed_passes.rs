//! Statements that are ended while they work on what did not fit into memory.
//!
//! The disk here counts the calls on scratch files and kills the statement in the one that a test
//! names. Each file holds blocks of rows, so a statement that makes no call after it was killed has
//! looked at no more rows than a block has.

use super::TestSession;
use crate::session::KillHandle;
use crate::session::Session;
use inia_base::io::{Disk, DiskFile};
use inia_query::database::{ClientInfo, Database, DatabaseOptions};
use inia_testkit::SimDisk;
use std::io;
use std::sync::{Arc, Mutex};

/// Calls on scratch files.
#[derive(Default)]
struct Calls {
    count: u64,
    /// The session to be killed in the call of this number.
    kill: Option<(u64, KillHandle)>,
}

type Shared = Arc<Mutex<Calls>>;

fn count(calls: &Shared) {
    let mut calls = calls.lock().unwrap();
    calls.count += 1;
    let number = calls.count;
    if let Some((_, handle)) = calls.kill.as_ref().filter(|(at, _)| *at == number) {
        handle.kill_query();
    }
}

struct Watched(SimDisk, Shared);

struct WatchedFile(Arc<dyn DiskFile>, Shared);

impl Disk for Watched {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        self.0.open(name, create)
    }
    fn list(&self) -> io::Result<Vec<String>> {
        self.0.list()
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }
    fn sync_names(&self) -> io::Result<()> {
        self.0.sync_names()
    }
    fn scratch(&self) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(WatchedFile(self.0.scratch()?, self.1.clone())))
    }
}

impl DiskFile for WatchedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        count(&self.1);
        self.0.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        count(&self.1);
        self.0.write_at(buf, offset)
    }
    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
}

/// Two tables of 2,400 rows, of which no operator can hold many.
fn filled() -> (Arc<Database>, TestSession, Shared, SimDisk) {
    let (disk, calls) = (SimDisk::new(), Shared::default());
    let options = DatabaseOptions { buffer_pool_size: 16 << 20, background: false };
    let watched = Watched(disk.clone(), calls.clone());
    let db = Database::open(Arc::new(watched), options).unwrap();
    let mut session = TestSession(Session::new(&db, ClientInfo::default()));
    for sql in [
        "CREATE DATABASE test",
        "USE test",
        "CREATE TABLE t (id INT PRIMARY KEY, few INT, many INT, name VARCHAR(200))",
        "SET cte_max_recursion_depth = 10000",
        "INSERT INTO t WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r \
         WHERE n < 2400) SELECT n, n % 7, n * 31 % 1200, RPAD(n % 900, 80, 'x') FROM r",
        "CREATE TABLE u AS SELECT * FROM t",
        "SET tmp_table_size = 1024",
        // Rows come in the same batches each time, and files are used as often.
        "SET inia_column_cache = OFF",
    ] {
        session.ok(sql);
    }
    (db, session, calls, disk)
}

const QUERIES: &[&str] = &[
    "SELECT many, name, COUNT(*) FROM t GROUP BY many, name",
    "SELECT name, COUNT(DISTINCT many, id) FROM t GROUP BY name",
    "SELECT few, many, COUNT(*) FROM t GROUP BY few, many WITH ROLLUP",
    "SELECT many, JSON_ARRAYAGG(name) FROM t GROUP BY many",
    "SELECT DISTINCT name, id + few FROM t",
    "SELECT COUNT(DISTINCT name, id) FROM t",
    "SELECT few, SUM(DISTINCT id), COUNT(DISTINCT name) FROM t GROUP BY few",
    "SELECT name, id FROM t UNION SELECT name, -id FROM u",
    "SELECT name, id FROM t INTERSECT SELECT name, id FROM u",
    "SELECT name, id FROM t EXCEPT ALL SELECT name, id FROM u WHERE few = 2",
    "SELECT COUNT(*) FROM t JOIN u ON t.name = u.name AND t.id = u.id",
    "SELECT COUNT(*) FROM t LEFT JOIN u ON t.few = u.few AND t.name < u.name",
    "SELECT t.id, u.many FROM t LEFT JOIN u ON t.name = u.name AND u.few > 3",
    "SELECT u.name, COUNT(*), SUM(t.many) FROM t JOIN u ON t.many = u.many GROUP BY u.name",
    "SELECT name FROM t ORDER BY name, id DESC",
    "SELECT id FROM t WHERE name NOT IN (SELECT CONCAT(name, 'y') FROM u)",
    "WITH c AS (SELECT name, id FROM t) SELECT x.id FROM c x JOIN c y ON x.id = y.id + 1",
    "SELECT SUM(id) OVER (PARTITION BY few ORDER BY name) FROM t",
    "SELECT MIN(name) OVER (ORDER BY id ROWS BETWEEN 40 PRECEDING AND 40 FOLLOWING), \
     LAG(id, 500) OVER (ORDER BY name) FROM t",
];

#[test]
fn a_killed_statement_makes_no_more_use_of_its_files() {
    let (_db, mut session, calls, disk) = filled();
    let killed = "ERROR 1317: Query execution was interrupted";
    for sql in QUERIES {
        let before = calls.lock().unwrap().count;
        session.ok(sql);
        let all = calls.lock().unwrap().count - before;
        assert!(all > 3, "{sql}: {all}");
        let step = (all / 8).max(1);
        for at in (1..all).step_by(step as usize) {
            let first = {
                let mut calls = calls.lock().unwrap();
                calls.kill = Some((calls.count + at, session.0.kill_handle()));
                calls.count
            };
            let answer = session.run(sql);
            let used = calls.lock().unwrap().count - first;
            assert_eq!(answer.lines().last(), Some(killed), "{sql}, killed in call {at} of {all}");
            assert!(used <= at, "{sql}: killed in call {at}, went on to {used} of {all}");
            assert_eq!(disk.scratch_files(), 0, "{sql}");
        }
        calls.lock().unwrap().kill = None;
    }
}

#[test]
fn a_query_ends_when_its_time_is_up() {
    let (_db, mut session, _, disk) = filled();
    let late = "ERROR 3024: Query execution was interrupted, maximum statement execution time \
                exceeded";
    session.ok("SET max_execution_time = 1");
    for sql in [
        "SELECT COUNT(*) FROM t a, t b, t c",
        "SELECT a.id FROM t a, t b, t c ORDER BY a.name",
        "SELECT COUNT(*) FROM t a JOIN t b ON a.few = b.few JOIN t c ON c.few = b.few \
         AND c.id < a.id - b.id",
        "SELECT MIN(id) OVER (ORDER BY id DESC ROWS BETWEEN 2000 PRECEDING AND CURRENT ROW) \
         FROM (SELECT a.id FROM t a JOIN t b ON a.few = b.few) d",
    ] {
        assert_eq!(session.run(sql).lines().last(), Some(late), "{sql}");
        assert_eq!(disk.scratch_files(), 0, "{sql}");
    }
    // Only queries have a limit.
    session.ok("UPDATE t SET many = many + 1");
    session.ok("SET max_execution_time = 0");
    assert_eq!(session.ok("SELECT COUNT(*) FROM t"), "2400\n");
}

#[test]
fn a_frame_that_slides_takes_back_what_leaves_it() {
    let (_db, mut session, ..) = filled();
    // Read anew for each row the frames would have 2,400 × 2,000 rows.
    let (rows, frame) = (2400, "ROWS BETWEEN 2000 PRECEDING AND CURRENT ROW");
    session.ok("SET tmp_table_size = DEFAULT");
    let answer = session.ok(&format!(
        "SELECT SUM(s), SUM(c), SUM(a), SUM(m) FROM (SELECT SUM(id) OVER w AS s, \
         COUNT(IF(few = 0, NULL, few)) OVER w AS c, AVG(many / 2) OVER w AS a, \
         MAX(id) OVER w AS m FROM t WINDOW w AS (ORDER BY id {frame})) d"
    ));
    let (mut sum, mut present, mut average, mut greatest) = (0u64, 0u64, 0.0, 0u64);
    for at in 1..=rows {
        let from = if at > 2000 { at - 2000 } else { 1 };
        let frame = from..=at;
        sum += frame.clone().sum::<u64>();
        present += frame.clone().filter(|id| id % 7 != 0).count() as u64;
        let many: u64 = frame.clone().map(|id| id * 31 % 1200).sum();
        average += many as f64 / 2.0 / frame.count() as f64;
        greatest += at;
    }
    let parts: Vec<&str> = answer.trim_end().split('|').collect();
    assert_eq!(parts[..2], [sum.to_string(), present.to_string()]);
    assert_eq!(parts[3], greatest.to_string());
    let found: f64 = parts[2].parse().unwrap();
    assert!((found - average).abs() < 0.01, "{found} {average}");
}
