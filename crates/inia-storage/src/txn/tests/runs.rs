//! Reads of many records at a time give what reads of single records give.

use super::known_leaves::{Known, by_unknown_runs};
use super::*;

/// Records of many leaves; some values are long, some of those are in overflow pages.
pub(super) fn table(engine: &Arc<Engine>) -> Tree {
    let mut txn = rr(engine);
    let tree = txn.create_tree().unwrap();
    for i in 0..3000 {
        txn.insert(&tree, key(i).as_bytes(), value(i).as_bytes()).unwrap();
    }
    txn.commit().unwrap();
    tree
}

pub(super) fn key(i: usize) -> String {
    format!("key {i:05}")
}

pub(super) fn value(i: usize) -> String {
    let length = if (1000..1010).contains(&i) { 9000 } else { 40 + i % 30 };
    format!("{i:08} {}", "x".repeat(length))
}

pub(super) type Bounds<'b> = (KeyBound<'b>, KeyBound<'b>);

/// The values that runs give, and those of the records between them, cut to `bytes`.
fn by_runs(
    txn: &mut Txn,
    tree: &Tree,
    (lower, upper): Bounds<'_>,
    direction: Direction,
    bytes: Option<usize>,
) -> Vec<String> {
    let cut = |value: &[u8]| text(&value[..bytes.unwrap_or(usize::MAX).min(value.len())]);
    let mut cursor = txn.snapshot_cursor(tree, lower, upper, direction);
    if let Some(bytes) = bytes {
        cursor.narrow(bytes);
    }
    let mut out = Vec::new();
    loop {
        while let Some(run) = cursor.run(txn).unwrap() {
            for i in 0..run.len() {
                out.push(cut(run.value(i)));
                if bytes.is_none() {
                    let key = [run.key_prefix(), run.key_suffix(i)].concat();
                    assert_eq!(text(&key)[4..], text(run.value(i))[3..8]);
                }
            }
        }
        if !cursor.advance(txn).unwrap() {
            return out;
        }
        let record = cursor.current().unwrap();
        out.push(cut(record.value));
    }
}

pub(super) fn singly(
    txn: &mut Txn,
    tree: &Tree,
    bounds: Bounds<'_>,
    direction: Direction,
) -> Vec<String> {
    let mut cursor = txn.cursor(tree, bounds.0, bounds.1, direction, ReadMode::Snapshot);
    let mut out = Vec::new();
    while let Some(record) = cursor.next(txn).unwrap() {
        out.push(text(record.value));
    }
    out
}

/// The values that a scan of parts of records gives, moved record by record, cut to `bytes`.
fn by_moves(
    txn: &mut Txn,
    tree: &Tree,
    (lower, upper): Bounds<'_>,
    direction: Direction,
    bytes: usize,
) -> Vec<String> {
    let mut cursor = txn.snapshot_cursor(tree, lower, upper, direction);
    cursor.narrow(bytes);
    let mut out = Vec::new();
    while cursor.advance(txn).unwrap() {
        let value = cursor.current().unwrap().value;
        out.push(text(&value[..bytes.min(value.len())]));
    }
    out
}

fn check_ranges(txn: &mut Txn, tree: &Tree) {
    let mut known = [Some(8), None].map(|bytes| (bytes, Known::default()));
    let keys = ["key 00000", "key 00700", "key 01004", "key 01500", "key 02999", "key 03"];
    let mut bounds = vec![KeyBound::Unbounded];
    bounds.extend(keys.iter().map(|key| KeyBound::Included(key.as_bytes())));
    bounds.extend(keys.iter().map(|key| KeyBound::Excluded(key.as_bytes())));
    for lower in bounds.iter().copied() {
        for upper in bounds.iter().copied() {
            let expected = singly(txn, tree, (lower, upper), Direction::Forward);
            for (bytes, known) in &mut known {
                let cut = expected.iter().map(|value| value[..bytes.unwrap_or(13)].to_owned());
                for _ in 0..2 {
                    let read = by_unknown_runs(txn, tree, (lower, upper), *bytes, known);
                    assert!(read.iter().cloned().eq(cut.clone()), "{lower:?} {upper:?} {bytes:?}");
                }
            }
            for direction in [Direction::Forward, Direction::Backward] {
                let expected = singly(txn, tree, (lower, upper), direction);
                let whole = by_runs(txn, tree, (lower, upper), direction, None);
                assert!(whole == expected, "{lower:?} {upper:?} {direction:?}");
                for bytes in [0, 1, 8, 13] {
                    let cut = by_runs(txn, tree, (lower, upper), direction, Some(bytes));
                    let moved = by_moves(txn, tree, (lower, upper), direction, bytes);
                    let expected = expected.iter().map(|value| &value[..bytes]);
                    let case = format!("{lower:?} {upper:?} {direction:?} {bytes}");
                    assert!(cut.iter().eq(expected.clone()), "{case}");
                    assert!(moved.iter().eq(expected), "{case}");
                }
            }
        }
    }
}

#[test]
fn runs_of_a_quiet_table_are_its_records() {
    let engine = open();
    let tree = table(&engine);
    let mut filler = rr(&engine);
    put(&mut filler, &tree, "other", "");
    filler.rollback().unwrap();
    check_ranges(&mut rr(&engine), &tree);
}

#[test]
fn runs_show_the_snapshot_while_others_write() {
    let engine = open();
    let tree = table(&engine);
    let mut reader = rr(&engine);
    let before = all(&mut reader, &tree);
    let mut writer = rr(&engine);
    for i in (0..3000).step_by(71) {
        match i % 2 {
            0 => assert!(writer.delete(&tree, key(i).as_bytes()).unwrap()),
            _ => set(&mut writer, &tree, &key(i), &format!("{i:08} changed")),
        }
    }
    put(&mut writer, &tree, "key 00700+", "00000700 new");
    check_ranges(&mut reader, &tree);
    writer.commit().unwrap();
    check_ranges(&mut reader, &tree);
    assert!(before == all(&mut reader, &tree));
}

/// A scan that shows no record at a leaf's end steps right into the next leaf, of which it may have
/// copied a part only.
#[test]
fn a_scan_of_parts_steps_from_leaves_without_a_visible_end_into_quiet_ones() {
    let engine = open();
    let tree = table(&engine);
    let mut writer = rr(&engine);
    for i in (0..500).chain(1400..1800) {
        assert!(writer.delete(&tree, key(i).as_bytes()).unwrap());
    }
    check_ranges(&mut writer, &tree);
    writer.commit().unwrap();
    check_ranges(&mut rr(&engine), &tree);
    run_background(&engine);
    check_ranges(&mut rr(&engine), &tree);
    // A reader that came first sees none of the new records.
    let mut reader = rr(&engine);
    let before = all(&mut reader, &tree);
    let mut writer = rr(&engine);
    for i in (0..500).chain(2200..2300) {
        put(&mut writer, &tree, &format!("{} new", key(i)), &value(i));
    }
    writer.commit().unwrap();
    check_ranges(&mut reader, &tree);
    assert!(before == all(&mut reader, &tree));
}

#[test]
fn a_batch_of_lookups_gives_what_single_ones_give() {
    let engine = open();
    let tree = table(&engine);
    let mut reader = rr(&engine);
    get(&mut reader, &tree, "none");
    let mut writer = rr(&engine);
    set(&mut writer, &tree, &key(5), "changed");
    delete(&mut writer, &tree, &key(2990));
    writer.commit().unwrap();
    for reader in [&mut reader, &mut rr(&engine), &mut session(&engine, Isolation::ReadUncommitted)]
    {
        let mut keys: Vec<String> = (0..3010).map(|i| key(i * 1237 % 3010)).collect();
        keys.push(String::new());
        let bytes: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
        let (mut out, mut places) = (b"before".to_vec(), Vec::new());
        let found = |i: usize, place| places.push((i, place));
        reader.get_batch(&tree, &bytes, &mut out, found).unwrap();
        assert_eq!(places.len(), keys.len());
        for (at, (i, place)) in places.into_iter().enumerate() {
            assert_eq!(at, i);
            let found = place.map(|place| text(&out[place]));
            assert!(found == get(reader, &tree, &keys[i]), "{}", keys[i]);
        }
    }
}

#[test]
fn a_batch_in_a_tree_of_one_leaf() {
    let engine = open();
    let tree = tree_with(&engine, &[("a", "1"), ("b", "2")]);
    let (mut out, mut found) = (Vec::new(), Vec::new());
    let keys: [&[u8]; 3] = [b"b", b"c", b"a"];
    let note = |_, place| found.push(place);
    rr(&engine).get_batch(&tree, &keys, &mut out, note).unwrap();
    assert_eq!(found, [Some(0..1), None, Some(1..2)]);
}
