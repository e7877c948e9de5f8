//! What nobody needs goes; what somebody needs stays.

use super::*;

fn settle(engine: &Engine) {
    while engine.background_step().unwrap() {}
}

#[test]
fn deleted_records_and_undo_go_when_no_snapshot_needs_them() {
    let engine = open();
    let tree = tree_with(&engine, &[]);
    let mut txn = rr(&engine);
    for n in 0..3000u32 {
        txn.insert(&tree, &n.to_be_bytes(), &[1; 100]).unwrap();
    }
    txn.commit().unwrap();
    let full = engine.core.store.used_pages();
    let mut old = rr(&engine);
    let records = |txn: &mut Txn, tree: &Tree| {
        let open = KeyBound::Unbounded;
        let mut cursor = txn.cursor(tree, open, open, Direction::Forward, ReadMode::Snapshot);
        let mut count = 0;
        while cursor.next(txn).unwrap().is_some() {
            count += 1;
        }
        count
    };
    assert_eq!(records(&mut old, &tree), 3000);
    txn.begin(Isolation::RepeatableRead);
    for n in 0..3000u32 {
        assert!(txn.delete(&tree, &n.to_be_bytes()).unwrap());
    }
    txn.commit().unwrap();
    settle(&engine);
    assert_eq!(records(&mut old, &tree), 3000, "an old snapshot keeps its versions");
    assert!(engine.stats().history_length >= 1);
    assert_eq!(
        engine.estimate_rows(&tree).unwrap().max(1000),
        engine.estimate_rows(&tree).unwrap()
    );
    old.commit().unwrap();
    settle(&engine);
    assert_eq!(engine.stats().history_length, 0);
    assert_eq!(engine.estimate_rows(&tree).unwrap(), 0);
    assert!(engine.core.store.used_pages() < full / 2, "leaves were merged and freed");
    assert!(engine.stats().undo_bytes <= 3 << 16, "{}", engine.stats().undo_bytes);
}

#[test]
fn a_long_snapshot_reads_its_version_through_any_number_of_updates() {
    let engine = open();
    let tree = tree_with(&engine, &[("hot", "0"), ("cold", "c")]);
    let mut old = rr(&engine);
    assert_eq!(get(&mut old, &tree, "hot").unwrap(), "0");
    let mut middle = None;
    let mut txn = engine.attach();
    for n in 1..=2000 {
        txn.begin(Isolation::RepeatableRead);
        set(&mut txn, &tree, "hot", &n.to_string());
        txn.commit().unwrap();
        if n == 1000 {
            let mut snapshot = rr(&engine);
            snapshot.take_snapshot();
            middle = Some(snapshot);
        }
    }
    settle(&engine);
    assert_eq!(get(&mut old, &tree, "hot").unwrap(), "0");
    assert_eq!(all(&mut old, &tree), "cold=c hot=0");
    assert_eq!(get(middle.as_mut().unwrap(), &tree, "hot").unwrap(), "1000");
    drop((old, middle));
    settle(&engine);
    assert_eq!(engine.stats().history_length, 0);
    assert_eq!(get(&mut rr(&engine), &tree, "hot").unwrap(), "2000");
}

#[test]
fn a_busy_session_purges_its_own_history_without_the_background() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "0")]);
    let mut txn = engine.attach();
    for n in 0..5000 {
        txn.begin(Isolation::RepeatableRead);
        set(&mut txn, &tree, "a", &format!("{n:0>500}"));
        txn.commit().unwrap();
    }
    let stats = engine.stats();
    assert!(stats.history_length < 200 && stats.undo_bytes < 1 << 19, "{stats:?}");
}

#[test]
fn a_reader_of_a_transaction_that_rolls_back_finds_the_version_before() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "0")]);
    let mut writer = rr(&engine);
    set(&mut writer, &tree, "a", "1");
    let mut reader = rr(&engine);
    let open = KeyBound::Unbounded;
    let mut cursor = reader.cursor(&tree, open, open, Direction::Forward, ReadMode::Snapshot);
    let mut first = rr(&engine);
    assert_eq!(get(&mut first, &tree, "a").unwrap(), "0");
    writer.rollback().unwrap();
    settle(&engine);
    let record = cursor.next(&mut reader).unwrap().unwrap();
    assert_eq!(record.value, b"0");
    assert_eq!(get(&mut first, &tree, "a").unwrap(), "0");
}

#[test]
fn purge_leaves_a_key_alone_that_was_inserted_again() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "0")]);
    let mut txn = rr(&engine);
    delete(&mut txn, &tree, "a");
    txn.commit_deferred().unwrap();
    txn.begin(Isolation::RepeatableRead);
    put(&mut txn, &tree, "a", "1");
    txn.commit().unwrap();
    settle(&engine);
    assert_eq!(all(&mut rr(&engine), &tree), "a=1");
}
