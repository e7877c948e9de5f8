//! Readers on other threads see what their transaction sees: its snapshot and its own changes.

use super::*;
use Isolation::{ReadCommitted, ReadUncommitted, RepeatableRead};

fn many_rows(engine: &Arc<Engine>) -> Tree {
    let rows: Vec<(String, String)> =
        (0..2000).map(|number| (format!("{number:05}"), "old".to_owned())).collect();
    let rows: Vec<(&str, &str)> = rows.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    tree_with(engine, &rows)
}

#[test]
fn a_reader_has_the_snapshot_and_sees_changes_of_its_own_transaction() {
    for level in [ReadCommitted, RepeatableRead] {
        let engine = open();
        let tree = many_rows(&engine);
        let mut txn = session(&engine, level);
        assert_eq!(get(&mut txn, &tree, "00001").unwrap(), "old");
        set(&mut txn, &tree, "00002", "mine");
        let mut other = session(&engine, level);
        set(&mut other, &tree, "00001", "theirs");
        other.commit().unwrap();
        let expected = all(&mut txn, &tree);
        assert!(expected.contains("00001=old") && expected.contains("00002=mine"));
        let readers = [txn.reader().unwrap(), txn.reader().unwrap()];
        let seen = readers.map(|mut reader| {
            let tree = tree.clone();
            std::thread::spawn(move || all(&mut reader, &tree))
        });
        for thread in seen {
            assert_eq!(thread.join().unwrap(), expected, "{level:?}");
        }
    }
}

#[test]
fn a_reader_of_uncommitted_changes_sees_them() {
    let engine = open();
    let tree = many_rows(&engine);
    let mut other = session(&engine, RepeatableRead);
    set(&mut other, &tree, "00001", "theirs");
    let mut txn = session(&engine, ReadUncommitted);
    let mut reader = txn.reader().unwrap();
    assert_eq!(get(&mut reader, &tree, "00001").unwrap(), "theirs");
}

#[test]
fn versions_that_a_reader_needs_are_not_purged() {
    let engine = open();
    let tree = many_rows(&engine);
    let mut txn = session(&engine, RepeatableRead);
    let mut reader = txn.reader().unwrap();
    for round in 0..3 {
        let mut other = session(&engine, RepeatableRead);
        set(&mut other, &tree, "00001", &format!("round {round}"));
        other.commit().unwrap();
        run_background(&engine);
    }
    assert_eq!(get(&mut reader, &tree, "00001").unwrap(), "old");
    drop(reader);
    assert_eq!(get(&mut txn, &tree, "00001").unwrap(), "old");
    txn.commit().unwrap();
}

#[test]
fn an_interrupt_of_the_transaction_ends_its_readers() {
    let engine = open();
    let tree = many_rows(&engine);
    let mut txn = session(&engine, RepeatableRead);
    let mut reader = txn.reader().unwrap();
    txn.interrupter().interrupt();
    let read = range(
        &mut reader,
        &tree,
        (KeyBound::Unbounded, KeyBound::Unbounded),
        Direction::Forward,
        ReadMode::Snapshot,
    );
    assert!(matches!(read, Err(StorageError::Interrupted)));
    drop(reader);
    txn.clear_interrupt();
}

#[test]
fn separators_cut_a_range_into_parts_that_have_all_of_it() {
    let engine = open();
    let tree = many_rows(&engine);
    for (lower, upper) in [("", None), ("00100", Some("01500")), ("00100", Some("00101"))] {
        let upper = upper.map(str::as_bytes);
        for wanted in [1, 4, 1000] {
            let range = (lower.as_bytes(), upper);
            let keys = engine.separators(&tree, range, wanted).unwrap();
            assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
            let inside =
                |key: &Vec<u8>| &key[..] > range.0 && upper.is_none_or(|upper| &key[..] < upper);
            assert!(keys.iter().all(inside));
            assert!(keys.len() <= 2 * wanted, "{} of {wanted}", keys.len());
        }
    }
    assert!(engine.separators(&tree, (b"", None), 4).unwrap().len() >= 4);
    // A tree of one leaf is cut at its records, one of no records not at all.
    let small = tree_with(&engine, &[("1", ""), ("2", ""), ("3", "")]);
    assert_eq!(engine.separators(&small, (b"1", None), 9).unwrap(), [b"2", b"3"]);
    let empty = tree_with(&engine, &[]);
    assert!(engine.separators(&empty, (b"", None), 9).unwrap().is_empty());
}
