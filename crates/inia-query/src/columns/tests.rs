//! What is packed comes out as it was; the cache keeps to its limit and to the states of leaves.

use super::{
    CachedColumn, ColumnCache, MAX_COLUMNS, NearLeaves, PackedNumbers, PackedTexts, TableColumns,
};
use inia_base::ids::{Lsn, PageId};
use inia_expr::tree::CmpOp;
use inia_storage::LeafState;
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
        packed.append_to(&mut out);
        assert_eq!(out[1..], values);
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
                packed.compare(op, constant, |holds| holds, &mut found);
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

fn find(table: &TableColumns, state: LeafState, columns: &[usize]) -> bool {
    table.find(&mut NearLeaves::default(), state, columns).is_some()
}

#[test]
fn columns_are_found_for_their_state_of_the_leaf_only() {
    let cache = Arc::new(ColumnCache::new(1 << 20));
    let table = Arc::new(TableColumns::default());
    assert!(cache.keep(&table, state(5, 9), [(2, column(100))]));
    assert!(find(&table, state(5, 9), &[2]));
    assert!(!find(&table, state(5, 9), &[1, 2]), "column 1 is not kept");
    assert!(!find(&table, state(5, 10), &[2]), "the page has changed");
    assert!(!find(&table, state(6, 9), &[2]));
    assert!(cache.keep(&table, state(5, 9), [(1, column(100))]));
    assert!(find(&table, state(5, 9), &[1, 2]), "columns of one state add up");
    assert!(cache.keep(&table, state(5, 10), [(1, column(100))]));
    assert!(!find(&table, state(5, 10), &[2]), "those of an older state are gone");
    let bytes = cache.counts().bytes;
    assert!((1000..2000).contains(&bytes), "{bytes}");
    assert_eq!((table.kept_rows(&[1]), table.kept_rows(&[2]), table.kept_rows(&[9])), (100, 0, 0));
    assert!(cache.keep(&table, state(7, 10), [(1, column(100)), (2, column(100))]));
    assert_eq!((table.kept_rows(&[1]), table.kept_rows(&[1, 2])), (200, 100));
    drop(table);
    assert_eq!(cache.counts().bytes, 0);
}

#[test]
fn leaves_are_found_one_after_the_other_in_any_order() {
    let cache = Arc::new(ColumnCache::new(1 << 20));
    let table = Arc::new(TableColumns::default());
    let pages = [3, 4, 5, 15, 16, 17, 40_000, 6, 18];
    for (at, page) in pages.into_iter().enumerate() {
        assert!(cache.keep(&table, state(page, 1), [(at % 3, column(at + 1))]));
    }
    let mut near = NearLeaves::default();
    for (at, page) in pages.into_iter().enumerate().chain(pages.into_iter().enumerate().rev()) {
        let leaf = table.find(&mut near, state(page, 1), &[at % 3]).expect("it is kept");
        assert_eq!(leaf.column(at % 3).map(CachedColumn::bytes), Some(column(at + 1).bytes()));
        assert!(leaf.column((at + 1) % 3).is_none());
        assert!(table.find(&mut near, state(page + 1000, 1), &[]).is_none());
    }
}

#[test]
fn columns_of_wide_tables_are_kept_up_to_the_last_bit() {
    let cache = Arc::new(ColumnCache::new(1 << 20));
    let table = Arc::new(TableColumns::default());
    let last = MAX_COLUMNS - 1;
    assert!(cache.keep(&table, state(5, 9), [(last, column(7)), (0, column(8))]));
    let leaf = table.find(&mut NearLeaves::default(), state(5, 9), &[0, last]).expect("kept");
    let bytes = |at| leaf.column(at).map(CachedColumn::bytes);
    assert_eq!((bytes(0), bytes(last)), (Some(column(8).bytes()), Some(column(7).bytes())));
    assert!(leaf.column(1).is_none() && leaf.column(MAX_COLUMNS).is_none());
    assert_eq!((table.kept_rows(&[last]), table.kept_rows(&[1])), (100, 0));
}

#[test]
fn a_full_cache_takes_room_from_the_table_that_waited_longest() {
    let cache = Arc::new(ColumnCache::new(8_000));
    let tables = [(); 3].map(|()| Arc::new(TableColumns::default()));
    for (table, page) in tables.iter().zip(1..) {
        cache.begin_scan(table);
        for at in 0..3 {
            assert!(cache.keep(table, state(page + 10 * at, 1), [(0, column(100))]));
        }
    }
    // The first one was scanned longest ago; the second one has given nothing.
    let kept = tables.each_ref().map(|table| find(table, state(1, 1), &[0]));
    assert_eq!(kept, [false; 3]);
    assert!(find(&tables[1], state(2, 1), &[0]));
    assert!(cache.counts().bytes <= 8_000);
    // A table larger than the cache keeps what it has, once the others are gone.
    cache.begin_scan(&tables[2]);
    let kept = (0..50).filter(|at| cache.keep(&tables[2], state(1000 + at, 1), [(0, column(100))]));
    let kept = kept.count();
    assert!((3..12).contains(&kept), "{kept}");
    assert!(find(&tables[2], state(3, 1), &[0]));
    cache.clear();
    assert_eq!(cache.counts().bytes, 0);
}
