//! Who waits for whom over the names of tables.

use super::*;
use std::thread;

const LONG: Duration = Duration::from_secs(30);
const NONE: Duration = Duration::ZERO;

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
        while manager.sleepers.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        reader.release_all();
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn a_table_locked_for_reading_lets_readers_in_and_keeps_writers_out() {
    let manager = Arc::new(MdlManager::default());
    let [holder, reader, writer] = [0; 3].map(|_| manager.session(Arc::default()));
    let t = manager.name("test", "t");
    writer.lock_shared(&t, NONE).unwrap();
    writer.lock_write(&t, NONE).unwrap();
    let timeout = holder.lock_read(&t, NONE).err().unwrap();
    assert_eq!(timeout.code, ErrorCode::LockWaitTimeout, "behind a running writer");
    writer.release_all();
    let lock = holder.lock_read(&t, NONE).unwrap();
    holder.release_all();
    reader.lock_shared(&t, NONE).unwrap();
    writer.lock_shared(&t, NONE).unwrap();
    assert_eq!(writer.lock_write(&t, NONE).unwrap_err().code, ErrorCode::LockWaitTimeout);
    reader.release_all();
    writer.release_all();
    let ddl = reader.lock_exclusive(vec![t.clone()], NONE);
    assert!(ddl.is_err(), "the lock outlives its session's transactions");
    drop(lock);
    writer.lock_shared(&t, NONE).unwrap();
    writer.lock_write(&t, NONE).unwrap();
}

#[test]
fn a_circle_of_reader_and_ddl_is_a_deadlock() {
    let manager = Arc::new(MdlManager::default());
    let (reader, ddl) = (manager.session(Arc::default()), manager.session(Arc::default()));
    let mut names = [manager.name("test", "t"), manager.name("test", "u")];
    names.sort_by_key(|name| Arc::as_ptr(name) as usize);
    let [first, second] = names;
    reader.lock_shared(&second, NONE).unwrap();
    thread::scope(|scope| {
        let both = vec![first.clone(), second.clone()];
        let waiter = scope.spawn(|| ddl.lock_exclusive(both, LONG).is_ok());
        while manager.sleepers.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        let error = reader.lock_shared(&first, LONG).unwrap_err();
        assert_eq!(error.code, ErrorCode::Deadlock);
        reader.release_all();
        assert!(waiter.join().unwrap());
    });
}
