//! Indexes built in little memory: sorted through scratch files, from the bottom up, by one thread
//! and by several.

use super::TestSession;
use crate::check::check_database;
use crate::session::Session;
use inia_query::database::{ClientInfo, Database, DatabaseOptions};
use inia_testkit::{Fault, Random, SimDisk, When};
use std::sync::Arc;

/// How many threads build an index.
const THREADS: [u64; 2] = [1, 4];

/// A pool so small that building may hold 64 KB, and a table of twenty times as much.
fn filled(disk: &SimDisk, threads: u64) -> (Arc<Database>, TestSession) {
    let options = DatabaseOptions { buffer_pool_size: 512 << 10, background: false };
    let db = Database::open(Arc::new(disk.clone()), options).unwrap();
    let mut session = TestSession(Session::new(&db, ClientInfo::default()));
    session.ok(&format!("SET GLOBAL inia_parallel_workers = {threads}"));
    session.ok(&format!("SET inia_parallel_workers = {threads}, inia_parallel_rows = 0"));
    session.ok("CREATE DATABASE test");
    session.ok("USE test");
    session.ok("CREATE TABLE t (id INT PRIMARY KEY, n INT, u INT, s VARCHAR(400))");
    let mut random = Random::new(7);
    let mut numbers: Vec<u32> = (0..6000).collect();
    random.shuffle(&mut numbers);
    for chunk in numbers.chunks(500) {
        let rows: Vec<String> = chunk
            .iter()
            .map(|id| {
                let (n, s) = (random.below(100), random.letters(4));
                format!("({id}, {n}, {}, REPEAT('{s}', {}))", id * 7919 % 6007, random.below(90))
            })
            .collect();
        session.ok(&format!("INSERT INTO t VALUES {}", rows.join(",")));
    }
    (db, session)
}

fn sound(db: &Database, disk: &SimDisk) {
    assert_eq!(disk.scratch_files(), 0);
    while db.engine.background_step().unwrap() {}
    assert_eq!(check_database(db).unwrap(), Vec::<String>::new());
}

#[test]
fn indexes_and_copies_of_more_than_memory_holds() {
    for threads in THREADS {
        let disk = SimDisk::new();
        let (db, mut session) = filled(&disk, threads);
        let sum = session.ok("SELECT SUM(id), SUM(n), SUM(LENGTH(s)) FROM t");
        session.ok("CREATE INDEX s ON t (s)");
        session.ok("ALTER TABLE t ADD INDEX n (n, s), ADD UNIQUE INDEX u (u)");
        sound(&db, &disk);
        session.ok("ALTER TABLE t MODIFY n BIGINT, ADD COLUMN c INT DEFAULT 5 FIRST");
        // The rows come in another order now.
        session.ok("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (s, id)");
        sound(&db, &disk);
        assert_eq!(session.ok("SELECT SUM(id), SUM(n), SUM(LENGTH(s)) FROM t"), sum);
        assert_eq!(session.ok("SELECT COUNT(*) FROM t FORCE INDEX (u) WHERE u < 3000"), "2996\n");
    }
}

#[test]
fn a_duplicate_is_found_wherever_it_is() {
    for threads in THREADS {
        let disk = SimDisk::new();
        let (db, mut session) = filled(&disk, threads);
        session.ok("UPDATE t SET u = 4321 WHERE id IN (17, 5400)");
        let answer = session.run("CREATE UNIQUE INDEX u ON t (u)");
        assert_eq!(answer, "ERROR 1062: Duplicate entry '4321' for key 't.u'\n");
        sound(&db, &disk);
        session.ok("DELETE FROM t WHERE id = 17");
        session.run("DELETE FROM t WHERE u = 4321 AND id <> 5400");
        session.ok("CREATE UNIQUE INDEX u ON t (u)");
        sound(&db, &disk);
    }
}

#[test]
fn a_failed_scratch_file_leaves_nothing_behind() {
    THREADS.into_iter().for_each(fail_scratch_files);
}

fn fail_scratch_files(threads: u64) {
    let disk = SimDisk::new();
    let (db, mut session) = filled(&disk, threads);
    let mut failures = 0;
    for n in 1..40 {
        disk.inject(When::Change(n), Fault::NoSpace);
        let answer = session.run("ALTER TABLE t ADD INDEX s (s), ADD INDEX n (n)");
        disk.clear_faults();
        if db.engine.failure().is_some() {
            return assert!(failures > 0, "{answer}");
        }
        if answer.contains("ERROR 1878: Temporary file write failure.") {
            failures += 1;
        } else if !answer.contains("ERROR") {
            session.ok("ALTER TABLE t DROP INDEX s, DROP INDEX n");
        }
        sound(&db, &disk);
    }
    assert!(failures > 3, "{failures}");
}

#[test]
fn building_an_index_can_be_killed() {
    for threads in THREADS {
        let disk = SimDisk::new();
        let (db, mut session) = filled(&disk, threads);
        let handle = session.0.kill_handle();
        // From another thread, at the statement's first use of a scratch file.
        let seen = disk.clone();
        let killer = std::thread::spawn(move || {
            while seen.scratch_files() == 0 {
                std::thread::yield_now();
            }
            handle.kill_query();
        });
        let answer = session.run("CREATE INDEX s ON t (s, n)");
        killer.join().unwrap();
        assert_eq!(answer, "ERROR 1317: Query execution was interrupted\n");
        sound(&db, &disk);
        session.ok("CREATE INDEX s ON t (s, n)");
        sound(&db, &disk);
    }
}

#[test]
fn rows_are_numbered_on_after_a_primary_key_has_come_and_gone() {
    let db = super::TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (id INT, u INT, UNIQUE KEY u (u))");
    session.ok("INSERT INTO t VALUES (1, NULL)");
    session.ok("ALTER TABLE t ADD PRIMARY KEY (id)");
    session.ok("INSERT INTO t VALUES (2, NULL), (3, NULL), (4, NULL)");
    session.ok("ALTER TABLE t DROP PRIMARY KEY");
    session.ok("INSERT INTO t VALUES (5, NULL), (6, NULL)");
    assert_eq!(session.ok("SELECT COUNT(*) FROM t"), "6\n");
}
