//! A statement fails, and undoing it fails as well: nothing of it may stand, so the transaction
//! goes as a whole.

use super::TestSession;
use crate::session::Session;
use inia_query::database::{ClientInfo, Database, DatabaseOptions};
use inia_storage::EngineSizes;
use inia_testkit::{Fault, SimDisk, When};
use std::sync::Arc;

/// A disk with 200 rows, which are more than the pool has page frames for.
fn filled() -> SimDisk {
    let disk = SimDisk::new();
    let (db, mut session) = open(&disk);
    session.ok("CREATE DATABASE test");
    session.ok("USE test");
    session.ok("CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE, v VARCHAR(7000))");
    let rows: Vec<String> = (1..=200).map(|i| format!("({i}, {i}, REPEAT('x', 3000))")).collect();
    rows.chunks(20).for_each(|some| {
        session.ok(&format!("INSERT INTO t VALUES {}", some.join(",")));
    });
    drop(session);
    db.close().unwrap();
    disk
}

fn open(disk: &SimDisk) -> (Arc<Database>, TestSession) {
    let options = DatabaseOptions { buffer_pool_size: 40 * (16 << 10), background: false };
    let sizes = EngineSizes { log_capacity: 4 << 20, segment_size: 1 << 20, undo_memory: 8 << 10 };
    let db = Database::open_sized(Arc::new(disk.clone()), options, sizes).unwrap();
    let mut session = TestSession(Session::new(&db, ClientInfo::default()));
    session.run("USE test");
    (db, session)
}

/// One row is changed, then a statement changes many and meets a duplicate at its end. A read fails
/// somewhere. Returns whether the statement failed by it, and whether the transaction is gone.
fn play(filled: &SimDisk, statement: &str, read: u64) -> (bool, bool) {
    let disk = filled.kill();
    let (db, mut session) = open(&disk);
    let sums = "SELECT COUNT(*), SUM(id), SUM(u), SUM(LENGTH(v)) FROM t";
    let before = session.ok(sums);
    session.ok("BEGIN");
    session.ok("UPDATE t SET v = '' WHERE id = 100");
    let changed = session.ok(sums);
    if statement.starts_with("ROLLBACK TO") {
        session.ok("SAVEPOINT s");
        session.ok("UPDATE t SET v = REPEAT('y', 3500), u = u + 1000");
    }
    disk.inject(When::Read(read), Fault::Io);
    let answer = session.run(statement);
    disk.clear_faults();
    while db.engine.stats().unfinished > 0 {
        db.engine.background_step().unwrap();
    }
    let gone = !session.is_in_transaction();
    session.ok("COMMIT");
    let left = session.ok(sums);
    assert_eq!(left, if gone { before } else { changed }, "{statement}, read {read}: {answer}");
    (answer.contains("ERROR 1030"), gone)
}

#[test]
fn a_statement_that_cannot_be_undone_takes_its_transaction_with_it() {
    let filled = filled();
    let update = "UPDATE t SET v = CONCAT(v, v), u = IF(id = 200, 1001, u + 1000) ORDER BY id";
    for statement in [update, "ROLLBACK TO s"] {
        let (mut failed, mut gone) = (0, 0);
        for read in (1..400).step_by(23) {
            let (by_read, whole) = play(&filled, statement, read);
            failed += u64::from(by_read);
            gone += u64::from(whole);
            assert!(by_read || !whole, "{statement}, read {read}");
        }
        assert!(gone > 0 && failed >= gone, "{statement}: {failed} failed, {gone} gone");
    }
}
