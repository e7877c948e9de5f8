//! Who waits for whom over the names of tables.

use super::*;
use std::thread;

const LONG: Duration = Duration::from_secs(30);
const NONE: Duration = Duration::ZERO;

fn session(manager: &Arc<MdlManager>) -> MdlSession {
    manager.session(Arc::default())
}

/// Lets others run until so many sessions wait.
fn until_waiting(manager: &MdlManager, count: usize) {
    while manager.waiting() != count {
        thread::yield_now();
    }
}

#[test]
fn readers_share_and_ddl_times_out_behind_them() {
    let manager = Arc::new(MdlManager::default());
    let (a, b, ddl) = (
        manager.session(Arc::default()),
        manager.session(Arc::default()),
        manager.session(Arc::default()),
    );
    let t = manager.name("test", "t");
    a.lock_shared(&t, NONE).unwrap();
    b.lock_shared(&t, NONE).unwrap();
    let error = ddl.lock_exclusive(vec![t.clone()], NONE).err().unwrap();
    assert_eq!(error.code, ErrorCode::LockWaitTimeout);
    a.release_all();
    b.release_all();
    let granted = ddl.lock_exclusive(vec![t.clone()], NONE).unwrap();
    assert_eq!(a.lock_shared(&t, NONE).unwrap_err().code, ErrorCode::LockWaitTimeout);
    drop(granted);
    a.lock_shared(&t, NONE).unwrap();
}

#[test]
fn ddl_goes_on_when_the_last_reader_ends() {
    let manager = Arc::new(MdlManager::default());
    let (reader, ddl) = (manager.session(Arc::default()), manager.session(Arc::default()));
    let t = manager.name("test", "t");
    reader.lock_shared(&t, NONE).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| ddl.lock_exclusive(vec![t.clone()], LONG).is_ok());
        until_waiting(&manager, 1);
        reader.release_all();
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn a_table_locked_for_reading_lets_readers_in_and_keeps_writers_out() {
    let manager = Arc::new(MdlManager::default());
    let [holder, reader, writer] = [0; 3].map(|_| session(&manager));
    let t = manager.name("test", "t");
    writer.lock_write(&t, NONE).unwrap();
    let timeout = holder.lock_strong(&t, MdlKind::ReadOnly, NONE).err().unwrap();
    assert_eq!(timeout.code, ErrorCode::LockWaitTimeout, "behind a running writer");
    writer.release_all();
    let lock = holder.lock_strong(&t, MdlKind::ReadOnly, NONE).unwrap();
    holder.release_all();
    reader.lock_shared(&t, NONE).unwrap();
    writer.lock_shared(&t, NONE).unwrap();
    assert_eq!(writer.lock_write(&t, NONE).unwrap_err().code, ErrorCode::LockWaitTimeout);
    reader.release_all();
    writer.release_all();
    let ddl = reader.lock_exclusive(vec![t.clone()], NONE);
    assert!(ddl.is_err(), "the lock outlives its session's transactions");
    let again = holder.lock_strong(&t, MdlKind::ReadOnly, NONE).unwrap();
    drop(again);
    assert!(writer.lock_write(&t, NONE).is_err(), "the first lock stays when a second one goes");
    drop(lock);
    writer.lock_write(&t, NONE).unwrap();
}

#[test]
fn kinds_get_on_as_the_tables_say() {
    for held in MdlKind::ALL {
        for wanted in MdlKind::ALL {
            let manager = Arc::new(MdlManager::default());
            let (holder, asker) = (session(&manager), session(&manager));
            let t = manager.name("test", "t");
            let take = |session: &MdlSession, kind: MdlKind| match kind.is_strong() {
                true => session.lock_strong(&t, kind, NONE).map(Some),
                false => session.lock_weak(&t, kind, NONE).map(|()| None),
            };
            let lock = take(&holder, held).unwrap();
            let there = take(&asker, wanted).is_ok();
            asker.release_all();
            let here = take(&holder, wanted).is_ok();
            assert_eq!(there, wanted.goes_with(held), "{wanted:?} beside {held:?}");
            assert_eq!(wanted.goes_with(held), held.goes_with(wanted), "{wanted:?}, {held:?}");
            assert!(here, "{wanted:?} over one's own {held:?}");
            drop(lock);
            holder.release_all();
            asker.lock_exclusive(vec![t.clone()], NONE).unwrap();
        }
    }
}

#[test]
fn no_two_waiting_requests_wait_behind_each_other() {
    for a in MdlKind::ALL {
        for b in MdlKind::ALL {
            assert!(a.goes_with(b) || a.passes(b) || b.passes(a), "{a:?}, {b:?}");
            let starved = a.passes_starved(b) || b.passes_starved(a);
            assert!(a.goes_with(b) || starved, "{a:?}, {b:?}");
        }
    }
}

#[test]
fn a_writer_goes_past_a_waiting_read_lock_but_not_for_ever() {
    let manager = Arc::new(MdlManager::default());
    let [reader, first, second] = [0; 3].map(|_| session(&manager));
    let t = manager.name("test", "t");
    first.lock_write(&t, NONE).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| reader.lock_strong(&t, MdlKind::ReadOnly, LONG).is_ok());
        until_waiting(&manager, 1);
        let mut passed = 0;
        while second.lock_write(&t, NONE).is_ok() {
            second.release_all();
            passed += 1;
        }
        assert!(passed > 10, "{passed}");
        first.lock_write(&t, NONE).unwrap();
        first.release_all();
        assert!(waiter.join().unwrap());
    });
    second.lock_write(&t, NONE).unwrap();
}

#[test]
fn who_holds_a_table_goes_past_ddl_that_waits_for_it() {
    let manager = Arc::new(MdlManager::default());
    let [holder, newcomer, ddl] = [0; 3].map(|_| session(&manager));
    let t = manager.name("test", "t");
    holder.lock_shared(&t, NONE).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| ddl.lock_exclusive(vec![t.clone()], LONG).is_ok());
        until_waiting(&manager, 1);
        holder.lock_write(&t, NONE).unwrap();
        assert!(newcomer.lock_shared(&t, NONE).is_err());
        holder.release_all();
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn a_cycle_that_ddl_closes_ends_with_the_transaction() {
    let manager = Arc::new(MdlManager::default());
    let [other, reader, ddl] = [0; 3].map(|_| session(&manager));
    let (t, u) = (manager.name("test", "t"), manager.name("test", "u"));
    other.lock_shared(&t, NONE).unwrap();
    reader.lock_shared(&u, NONE).unwrap();
    thread::scope(|scope| {
        let names = vec![u.clone(), t.clone()];
        let waiter = scope.spawn(|| ddl.lock_exclusive(names, LONG).is_ok());
        until_waiting(&manager, 1);
        let victim = scope.spawn(|| {
            let error = reader.lock_shared(&t, LONG).unwrap_err();
            reader.release_all();
            error.code
        });
        until_waiting(&manager, 2);
        other.release_all();
        assert_eq!(victim.join().unwrap(), ErrorCode::Deadlock);
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn two_ddl_statements_in_a_cycle_cannot_both_wait() {
    let manager = Arc::new(MdlManager::default());
    let (a, b) = (session(&manager), session(&manager));
    let (t, u) = (manager.name("test", "t"), manager.name("test", "u"));
    let first = a.lock_exclusive(vec![t.clone()], NONE).unwrap();
    let second = b.lock_exclusive(vec![u.clone()], NONE).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| a.lock_exclusive(vec![u.clone()], LONG).is_ok());
        until_waiting(&manager, 1);
        let error = b.lock_exclusive(vec![t.clone()], LONG).err().unwrap();
        assert_eq!(error.code, ErrorCode::Deadlock);
        drop(second);
        assert!(waiter.join().unwrap());
    });
    drop(first);
}

#[test]
fn freezing_everything_lets_commits_go_on_until_changes_have_ended() {
    let manager = Arc::new(MdlManager::default());
    let [statement, commit, freezer] = [0; 3].map(|_| session(&manager));
    statement.begin_change(NONE).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| freezer.read_everything(LONG).unwrap());
        until_waiting(&manager, 1);
        assert!(commit.begin_change(NONE).is_err());
        commit.begin_commit(NONE).unwrap();
        commit.end_commit();
        statement.begin_commit(NONE).unwrap();
        statement.end_commit();
        statement.end_change();
        let frozen = waiter.join().unwrap();
        assert!(freezer.reads_everything() && !commit.reads_everything());
        assert!(commit.begin_commit(NONE).is_err());
        assert_eq!(freezer.begin_change(NONE).unwrap_err().code, ErrorCode::CantUpdateWithReadlock);
        assert!(statement.hold_changes(NONE).is_err());
        drop(frozen);
    });
    commit.begin_commit(NONE).unwrap();
    let held = statement.hold_changes(NONE).unwrap();
    statement.begin_change(NONE).unwrap();
    statement.end_change();
    commit.end_commit();
    assert!(freezer.read_everything(NONE).is_err(), "held beyond the statement");
    drop(held);
    assert!(freezer.read_everything(NONE).is_ok());
}

#[test]
fn a_killed_session_waits_no_longer_and_leaves_no_trace() {
    let manager = Arc::new(MdlManager::default());
    let killed = Arc::new(AtomicU8::new(0));
    let (holder, ddl) = (session(&manager), manager.session(killed.clone()));
    let t = manager.name("test", "t");
    holder.lock_shared(&t, NONE).unwrap();
    thread::scope(|scope| {
        let watch = ddl.watch();
        let waiter = scope.spawn(|| ddl.lock_exclusive(vec![t.clone()], LONG).err().unwrap());
        until_waiting(&manager, 1);
        assert_eq!(watch.waits_for(), Some("Waiting for table metadata lock"));
        killed.store(1, Ordering::SeqCst);
        watch.wake();
        assert_eq!(waiter.join().unwrap().code, ErrorCode::QueryInterrupted);
        assert_eq!(watch.waits_for(), None);
    });
    assert_eq!(t.guarded.load(Ordering::SeqCst), 0);
}

#[test]
fn a_cycle_of_reader_and_ddl_is_a_deadlock() {
    let manager = Arc::new(MdlManager::default());
    let (reader, ddl) = (manager.session(Arc::default()), manager.session(Arc::default()));
    let (first, second) = (manager.name("test", "t"), manager.name("test", "u"));
    reader.lock_shared(&second, NONE).unwrap();
    thread::scope(|scope| {
        let both = vec![first.clone(), second.clone()];
        let waiter = scope.spawn(|| ddl.lock_exclusive(both, LONG).is_ok());
        until_waiting(&manager, 1);
        let error = reader.lock_shared(&first, LONG).unwrap_err();
        assert_eq!(error.code, ErrorCode::Deadlock);
        reader.release_all();
        assert!(waiter.join().unwrap());
    });
}
