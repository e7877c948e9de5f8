//! What a client was shown must not be lost again: whatever a statement has met of a commit that is
//! on its way to disk, [`Txn::settle`] waits for.
//!
//! Example: A commits, and its locks are free before its log is on disk. B locks the row and reads
//! A's value. If the machine died now, A's commit would never have been; so B settles before its
//! client hears of the value.

use super::*;
use inia_base::ids::Lsn;

/// An engine with a=1 b=2, and a commit of a=9 that is not durable yet.
fn with_pending_commit() -> (Arc<Engine>, Tree, Lsn) {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2")]);
    let mut writer = rr(&engine);
    set(&mut writer, &tree, "a", "9");
    delete(&mut writer, &tree, "b");
    let end = writer.commit_deferred().unwrap();
    assert!(engine.stats().durable_lsn < end);
    (engine, tree, end)
}

/// Whether work in a transaction, once settled, has waited for the pending commit.
fn waits_for_it(work: impl FnOnce(&mut Txn, &Tree)) -> bool {
    let (engine, tree, end) = with_pending_commit();
    let mut txn = rr(&engine);
    work(&mut txn, &tree);
    txn.settle().unwrap();
    engine.stats().durable_lsn >= end
}

#[test]
fn locking_reads_wait_for_the_commits_they_show() {
    assert!(waits_for_it(|txn, tree| {
        assert_eq!(lock_get(txn, tree, "a", S), Some("9".into()));
    }));
    assert!(waits_for_it(|txn, tree| {
        assert_eq!(lock_get(txn, tree, "b", X), None, "that it is gone is news too");
    }));
    assert!(waits_for_it(|txn, tree| {
        assert_eq!(scan(txn, tree, ReadMode::Lock(S)), "a=9");
    }));
}

#[test]
fn writes_wait_for_the_commits_that_their_outcome_depends_on() {
    assert!(waits_for_it(|txn, tree| {
        assert!(matches!(txn.insert(tree, b"a", b"0"), Err(StorageError::DuplicateKey)));
    }));
    assert!(waits_for_it(|txn, tree| put(txn, tree, "b", "3")));
    assert!(waits_for_it(|txn, tree| set(txn, tree, "a", "3")));
    assert!(waits_for_it(|txn, tree| {
        assert!(!txn.update(tree, b"b", b"3").unwrap(), "it is deleted");
    }));
}

#[test]
fn a_rollback_does_not_forget_what_was_met() {
    assert!(waits_for_it(|txn, tree| {
        assert!(txn.insert(tree, b"a", b"0").is_err());
        txn.rollback().unwrap();
    }));
}

#[test]
fn snapshots_show_durable_commits_only_and_do_not_wait() {
    assert!(!waits_for_it(|txn, tree| {
        assert_eq!(all(txn, tree), "a=1 b=2");
        assert_eq!(get(txn, tree, "a"), Some("1".into()));
    }));
    assert!(!waits_for_it(|txn, tree| put(txn, tree, "c", "3")));
}
