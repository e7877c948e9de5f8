//! What is packed comes out as it was; the cache keeps to its limit and to the states of leaves.

use super::{
    CachedColumn, ColumnCache, MAX_COLUMNS, PackedNumbers, PackedTexts, Segment, TableColumns,
};
use inia_base::ids::{Lsn, PageId, TxnId};
use inia_expr::tree::CmpOp;
use inia_storage::{KnownLeaf, LeafState};
use std::sync::Arc;

#[test]
fn numbers_of_every_width_come_out_as_they_were() {
    for values in [
        vec![],
        vec![7],
        vec![5, 5, 5],
        vec![-3, 252, 0],
        vec![-3, 253, 0],
        vec![1 << 40, (1 << 40) + 65_535],
        vec![i64::from(i32::MIN), i64::from(i32::MAX)],
        vec![i64::from(i32::MIN), i64::from(i32::MAX) + 1],
        vec![i64::MIN, -1, 0, i64::MAX],
    ] {
        let packed = PackedNumbers::new(&values, &[]);
        let mut out = vec![11];
        packed.append_to(0..values.len(), &mut out);
        assert_eq!(out[1..], values);
        let part = values.len().min(1)..values.len();
        let CachedColumn::Numbers(sliced) = CachedColumn::Numbers(packed.clone()).slice(part)
        else {
            panic!("a part of numbers is numbers");
        };
        let each: Vec<i64> = (1..values.len()).map(|row| sliced.get(row - 1)).collect();
        assert_eq!(each, values[values.len().min(1)..]);
        let each: Vec<i64> = (0..values.len()).map(|row| packed.get(row)).collect();
        assert_eq!(each, values);
        let bounds = values.iter().min().copied().zip(values.iter().max().copied());
        assert_eq!(packed.bounds(), bounds.unwrap_or_default());
    }
    let packed = PackedNumbers::new(&[0, 9], &[true, false]);
    assert_eq!((packed.is_null(0), packed.is_null(1)), (true, false));
    assert_eq!(PackedNumbers::new(&[300; 100], &[]).bytes(), 0);
    assert_eq!(PackedNumbers::new(&[300, 301, 555], &[]).bytes(), 3);
}

#[test]
fn packed_numbers_compare_as_they_are() {
    let columns = [
        vec![7, 7],
        vec![-3, 252, 0],
        vec![1 << 40, (1 << 40) + 65_535, (1 << 40) + 300],
        vec![i64::from(i32::MIN), 5, i64::from(i32::MAX)],
        vec![i64::MIN, -1, 0, i64::MAX],
    ];
    let ops = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge];
    for values in &columns {
        let packed = PackedNumbers::new(values, &[]);
        let beside = values.iter().flat_map(|&value| [-1, 0, 1].map(|d| i128::from(value) + d));
        for constant in beside.chain([-300, 0, 8, 1 << 80, -(1 << 80)]) {
            for op in ops {
                let mut found = vec![true];
                packed.compare(0..values.len(), (op, constant), |holds| holds, &mut found);
                let each = values.iter().map(|&value| op.holds(i128::from(value).cmp(&constant)));
                assert_eq!(found[1..], each.collect::<Vec<_>>(), "{values:?} {op:?} {constant}");
            }
        }
    }
}

#[test]
fn texts_come_out_as_they_were_with_and_without_a_dictionary() {
    let few: Vec<Option<&[u8]>> = vec![Some(b"AIR"), None, Some(b"AIR"), Some(b""), Some(b"AIR")];
    let many: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    let many: Vec<Option<&[u8]>> = many.iter().map(|text| Some(text.as_bytes())).collect();
    let mut nulls = many.clone();
    nulls[7] = None;
    for texts in [few.clone(), many.clone(), nulls, vec![None, None], vec![]] {
        let packed = PackedTexts::new(&texts);
        let out: Vec<Option<&[u8]>> = (0..texts.len()).map(|row| packed.get(row)).collect();
        assert_eq!(out, texts);
    }
    assert_eq!(PackedTexts::new(&few).entries().count(), 2);
    assert!(PackedTexts::new(&many).codes().is_none());
}

fn column(rows: usize) -> CachedColumn {
    let values: Vec<i64> = (0..rows as i64).map(|n| n << 33).collect();
    CachedColumn::Numbers(PackedNumbers::new(&values, &[]))
}

fn state(page: u32, lsn: u64) -> LeafState {
    LeafState { page: PageId(page), lsn: Lsn(lsn), records: 100 }
}

/// A segment of leaves of 100 rows, and columns.
fn segment(leaves: &[LeafState], columns: &[usize]) -> Segment {
    let next = leaves.iter().skip(1).map(|leaf| Some(leaf.page)).chain([None]);
    let known = |(leaf, next): (&LeafState, _)| KnownLeaf::in_state(*leaf, next, TxnId(1));
    let rows = leaves.len() * 100;
    let columns = columns.iter().map(|&at| (at, Arc::new(column(rows)))).collect();
    Segment::new(leaves.iter().zip(next).map(known).collect(), columns)
}

fn find(table: &TableColumns, state: LeafState, columns: &[usize]) -> bool {
    table.find(state).is_some_and(|(segment, _)| segment.has(columns))
}

#[test]
fn columns_are_found_for_their_state_of_the_leaf_only() {
    let cache = Arc::new(ColumnCache::new(1 << 20));
    let table = Arc::new(TableColumns::default());
    assert!(cache.keep(&table, segment(&[state(5, 9)], &[2])));
    assert!(find(&table, state(5, 9), &[2]));
    assert!(!find(&table, state(5, 9), &[1, 2]), "column 1 is not kept");
    assert!(!find(&table, state(5, 10), &[2]), "the page has changed");
    assert!(!find(&table, state(6, 9), &[2]));
    assert!(cache.keep(&table, segment(&[state(5, 10)], &[1])));
    assert!(!find(&table, state(5, 10), &[2]), "those of an older state are gone");
    let bytes = cache.counts().bytes;
    assert!((1000..2000).contains(&bytes), "{bytes}");
    assert_eq!((table.kept_rows(&[1]), table.kept_rows(&[2]), table.kept_rows(&[9])), (100, 0, 0));
    assert!(cache.keep(&table, segment(&[state(7, 10)], &[1, 2])));
    assert_eq!((table.kept_rows(&[1]), table.kept_rows(&[1, 2])), (200, 100));
    drop(table);
    assert_eq!(cache.counts().bytes, 0);
}

#[test]
fn a_segment_goes_with_the_last_of_its_leaves() {
    let cache = Arc::new(ColumnCache::new(1 << 20));
    let table = Arc::new(TableColumns::default());
    let leaves = [state(5, 9), state(9, 9), state(6, 9)];
    assert!(cache.keep(&table, segment(&leaves, &[1])));
    let bytes = cache.counts().bytes;
    let places = leaves.map(|leaf| table.find(leaf).map(|(_, at)| at));
    assert_eq!(places, [Some(0), Some(1), Some(2)]);
    let (whole, _) = table.find(leaves[0]).expect("it is kept");
    assert_eq!(whole.rows_of(1..3), 100..300);
    // Two of its leaves are kept elsewhere: the third one still needs it.
    assert!(cache.keep(&table, segment(&[state(5, 10)], &[1])));
    assert!(cache.keep(&table, segment(&[state(6, 10)], &[1])));
    assert!(find(&table, leaves[1], &[1]) && !find(&table, leaves[0], &[1]));
    assert!(cache.counts().bytes > bytes);
    let one = (cache.counts().bytes - bytes) / 2;
    assert!(cache.keep(&table, segment(&[state(9, 10)], &[1])));
    assert_eq!(cache.counts().bytes, 3 * one);
    assert_eq!(table.kept_rows(&[1]), 300);
    cache.clear();
    assert_eq!((cache.counts().bytes, table.kept_rows(&[1])), (0, 0));
}

#[test]
fn parts_of_a_segment_have_its_rows() {
    let leaves = [state(5, 9), state(6, 9), state(7, 9)];
    let whole = segment(&leaves, &[4, 0]);
    for (leaves, rows) in [(0..3, 0..300), (1..2, 100..200), (1..3, 100..300)] {
        let parts: Vec<_> = whole.columns_of(leaves).collect();
        assert_eq!(parts.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 4]);
        for (at, part) in parts {
            let (Some(CachedColumn::Numbers(all)), CachedColumn::Numbers(part)) =
                (whole.column(at), &*part)
            else {
                panic!("a part of numbers is numbers");
            };
            assert!(rows.clone().enumerate().all(|(i, row)| part.get(i) == all.get(row)));
        }
    }
}

#[test]
fn columns_of_wide_tables_are_kept_up_to_the_last_bit() {
    let last = MAX_COLUMNS - 1;
    let leaf = segment(&[state(5, 9)], &[last, 0]);
    assert!(leaf.has(&[0, last]));
    assert!(leaf.column(1).is_none() && leaf.column(MAX_COLUMNS).is_none());
}

#[test]
fn a_full_cache_takes_room_from_the_table_that_waited_longest() {
    let cache = Arc::new(ColumnCache::new(8_000));
    let keep = |table, page| cache.keep(table, segment(&[state(page, 1)], &[0]));
    let tables = [(); 3].map(|()| Arc::new(TableColumns::default()));
    for (table, page) in tables.iter().zip(1..) {
        cache.begin_scan(table);
        for at in 0..3 {
            assert!(keep(table, page + 10 * at));
        }
    }
    // The first one was scanned longest ago; the second one has given nothing.
    let kept = tables.each_ref().map(|table| find(table, state(1, 1), &[0]));
    assert_eq!(kept, [false; 3]);
    assert!(find(&tables[1], state(2, 1), &[0]));
    assert!(cache.counts().bytes <= 8_000);
    // A table larger than the cache keeps what it has, once the others are gone.
    cache.begin_scan(&tables[2]);
    let kept = (0..50).filter(|at| keep(&tables[2], 1000 + at)).count();
    assert!((3..12).contains(&kept), "{kept}");
    assert!(find(&tables[2], state(3, 1), &[0]));
    cache.clear();
    assert_eq!(cache.counts().bytes, 0);
}
