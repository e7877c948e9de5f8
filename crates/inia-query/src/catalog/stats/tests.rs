//! Statistics of tables whose contents are known.

use crate::catalog::stats::value_codec;
use crate::catalog::{Table, make_trees, mdl::MdlManager};
use crate::row::Cell;
use crate::table_def::{ColumnDef, IndexDef, IndexKind, IndexPart, TableDef, TableId};
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::ids::TreeId;
use inia_base::io::MemDisk;
use inia_storage::{Engine, EngineOptions, Isolation};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const INT: DataType = DataType::Int { width: IntWidth::Int, unsigned: false };

fn column(name: &str, nullable: bool) -> ColumnDef {
    ColumnDef::new(name, INT, nullable)
}

fn index(name: &str, kind: IndexKind, columns: &[usize]) -> IndexDef {
    let part = |column: &usize| IndexPart { column: *column, prefix: None, descending: false };
    IndexDef {
        name: name.into(),
        kind,
        parts: columns.iter().map(part).collect(),
        comment: String::new(),
        visible: true,
        using: None,
        for_foreign_key: false,
        ngrams: false,
        element: None,
        clustered: kind == IndexKind::Primary,
        tree: TreeId(0),
    }
}

/// A table of `id INT PRIMARY KEY, a INT, b INT, KEY (a, b)`.
struct Fixture {
    engine: Arc<Engine>,
    table: Table,
}

impl Fixture {
    fn new() -> Fixture {
        let options = EngineOptions { buffer_pool_size: 64 << 20, background: false };
        let engine = Engine::open(Arc::new(MemDisk::new()), options).unwrap();
        let mut def = TableDef {
            id: TableId(1),
            schema: "test".into(),
            name: "t".into(),
            columns: vec![column("id", false), column("a", true), column("b", true)],
            indexes: vec![
                index("PRIMARY", IndexKind::Primary, &[0]),
                index("ab", IndexKind::Plain, &[1, 2]),
            ],
            foreign_keys: vec![],
            checks: vec![],
            clustered: TreeId(0),
            engine: "InnoDB".into(),
            collation: Collation::DEFAULT,
            comment: String::new(),
            auto_increment: 0,
            options: vec![],
            created: 0,
            temporary: false,
            histograms: vec![],
            partitioning: None,
            union: None,
        };
        let mut txn = engine.attach();
        txn.begin(Isolation::RepeatableRead);
        make_trees(&engine, &mut txn, &mut def).unwrap();
        txn.commit().unwrap();
        let mdl = Arc::new(MdlManager::default()).name("test", "t");
        let table = Table::new(Arc::new(def), &engine, mdl, Arc::default());
        Fixture { engine, table }
    }

    /// Puts rows in; `None` is NULL.
    fn insert(&self, rows: impl Iterator<Item = (i64, Option<i64>, Option<i64>)>) {
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        let mut count = 0;
        for (id, a, b) in rows {
            let number = |value: Option<i64>| value.map_or(Cell::Null, Cell::Int);
            let cells = [Cell::Int(id), number(a), number(b)];
            let cell = |column: usize| Ok(cells[column]);
            let (mut primary, mut row) = (Vec::new(), Vec::new());
            let (mut key, mut value) = (Vec::new(), Vec::new());
            let indexes = &self.table.indexes;
            indexes[0].codec.put_clustered_key(cell, &mut primary).unwrap();
            self.table.layout.encode(cell, &mut row).unwrap();
            indexes[1].codec.put_entry(cell, &primary, &mut key, &mut value).unwrap();
            txn.insert(&self.table.clustered, &primary, &row).unwrap();
            txn.insert(&indexes[1].tree, &key, &value).unwrap();
            count += 1;
        }
        txn.commit().unwrap();
        self.table.shared.row_estimate.fetch_add(count, Ordering::Relaxed);
    }

    fn rows_per_key(&self, index: usize, parts: usize) -> f64 {
        self.table.stats().rows_per_key(index, parts).unwrap()
    }
}

#[test]
fn keys_of_a_small_table_are_counted() {
    let fixture = Fixture::new();
    // 60 rows: each a twenty times, each (a, b) five times.
    fixture.insert((0..60).map(|i| (i, Some(i % 3), Some(i % 12))));
    assert_eq!(fixture.rows_per_key(1, 1), 20.0);
    assert_eq!(fixture.rows_per_key(1, 2), 5.0);
    assert_eq!(fixture.rows_per_key(0, 1), 1.0, "a whole unique key has one row");
}

#[test]
fn nulls_are_no_keys() {
    let fixture = Fixture::new();
    fixture.insert((0..100).map(|i| (i, (i < 10).then_some(i % 2), Some(1))));
    assert_eq!(fixture.rows_per_key(1, 1), 5.0);
    assert_eq!(fixture.table.stats().distinct(1), Some(2.0));
    assert_eq!(fixture.table.stats().null_share(1), Some(0.9));
}

#[test]
fn an_empty_table_has_keys_of_one_row() {
    assert_eq!(Fixture::new().rows_per_key(1, 1), 1.0);
}

#[test]
fn keys_of_a_large_table_are_estimated() {
    let fixture = Fixture::new();
    // 60,000 rows: 6,000 values of a with ten rows each, of which two have the same b.
    fixture.insert((0..60_000).map(|i| (i, Some(i % 6_000), Some(i / 12_000))));
    let keys = fixture.table.stats().keys(1).unwrap();
    assert!(!keys.tree.whole, "the tree is too large to be read whole");
    let (one, both) = (fixture.rows_per_key(1, 1), fixture.rows_per_key(1, 2));
    assert!((9.0..11.0).contains(&one), "{one} rows for each of 6,000 values");
    assert!((1.8..2.2).contains(&both), "{both} rows for each of 30,000 pairs");
}

#[test]
fn few_keys_of_a_large_table_are_counted() {
    let fixture = Fixture::new();
    // One value has nearly all rows: a sample of leaves hardly meets the others.
    let a = |i: i64| Some(if i < 7 { i } else { 7 });
    fixture.insert((0..60_000).map(|i| (i, a(i), Some(i))));
    let keys = fixture.table.stats().keys(1).unwrap();
    assert!(!keys.tree.whole, "the tree is too large to be read whole");
    assert_eq!(keys.prefixes[0].distinct, 8.0);
}

#[test]
fn statistics_follow_the_table() {
    let fixture = Fixture::new();
    fixture.insert((0..100).map(|i| (i, Some(i), None)));
    assert_eq!(fixture.rows_per_key(1, 1), 1.0);
    fixture.insert((100..110).map(|i| (i, Some(5), None)));
    assert_eq!(fixture.rows_per_key(1, 1), 1.0, "a tenth more rows is not much");
    fixture.insert((110..200).map(|i| (i, Some(5), None)));
    assert_eq!(fixture.rows_per_key(1, 1), 2.0);
}

/// The bytes of a number as statistics of column `a` keep it.
fn number(fixture: &Fixture, value: i64) -> Vec<u8> {
    let mut key = Vec::new();
    value_codec(&fixture.table, 1).unwrap().put(&Cell::Int(value), &mut key).unwrap();
    key
}

fn near(found: f64, wanted: f64) {
    assert!((found / wanted).max(wanted / found) < 1.2, "{found} in place of {wanted}");
}

#[test]
fn values_of_a_small_column_are_counted() {
    let fixture = Fixture::new();
    // 1,000 rows: 100 NULLs, 450 of 7, 450 different values.
    let a = |i: i64| match i % 20 {
        0 | 1 => None,
        n if n < 11 => Some(7),
        _ => Some(i),
    };
    fixture.insert((0..1_000).map(|i| (i, a(i), None)));
    let stats = fixture.table.stats().column(1).unwrap();
    assert!(stats.whole);
    assert_eq!((stats.null_share, stats.distinct), (0.1, 451.0));
    assert_eq!(stats.least, number(&fixture, 7));
    assert_eq!(stats.greatest, number(&fixture, 999));
    assert_eq!(stats.equal_share(&number(&fixture, 7)), 0.45);
    assert_eq!(stats.equal_share(&number(&fixture, 2_000)), 0.0, "no such value");
    near(stats.equal_share(&number(&fixture, 511)), 0.001);
    near(stats.below_share(&number(&fixture, 500), false), 0.45 + 0.225);
    let ends = (number(&fixture, 200), number(&fixture, 400));
    near(stats.range_share(Some((&ends.0, true)), Some((&ends.1, false))), 0.09);
}

#[test]
fn values_of_a_large_column_are_estimated() {
    let fixture = Fixture::new();
    // 60,000 rows: a has 20,000 values of three neighbours each, b 5,000 all over the table.
    fixture.insert((0..60_000).map(|i| (i, Some(i / 3), Some(i * 7_919 % 5_000))));
    let (a, b) = (fixture.table.stats().column(1).unwrap(), fixture.table.stats().column(2));
    assert!(!a.whole, "the table is too large to be read whole");
    near(a.distinct, 20_000.0);
    near(b.unwrap().distinct, 5_000.0);
    near(a.equal_share(&number(&fixture, 12_345)), 1.0 / 20_000.0);
    near(a.below_share(&number(&fixture, 15_000), false), 0.75);
    let outside = a.equal_share(&number(&fixture, 30_000));
    assert!(outside > 0.0 && outside < 0.001, "what a sample has not seen is rare: {outside}");
}

#[test]
fn frequent_values_are_listed() {
    let fixture = Fixture::new();
    // Half of all rows have 1, a quarter 2, an eighth 3, and so on.
    let a = |i: i64| Some(i64::from((i + 1).trailing_zeros()) + 1);
    fixture.insert((0..60_000).map(|i| (i, a(i), None)));
    let stats = fixture.table.stats().column(1).unwrap();
    for (value, share) in [(1, 0.5), (2, 0.25), (3, 0.125), (5, 1.0 / 32.0)] {
        near(stats.equal_share(&number(&fixture, value)), share);
    }
    near(stats.below_share(&number(&fixture, 3), true), 0.875);
}
