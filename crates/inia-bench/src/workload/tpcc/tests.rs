//! Names, skewed numbers and first rows.
#![allow(clippy::unwrap_used)]

use super::{Size, draw, tables};
use crate::random::Rng;
use crate::target::{BulkFormat, Dialect};
use crate::workload::Rows;

#[test]
fn last_names_are_three_syllables() {
    assert_eq!(draw::last_name(371), "PRICALLYOUGHT");
    assert_eq!(draw::last_name(40), "BARPRESBAR");
}

#[test]
fn skewed_numbers_stay_in_their_range() {
    let mut rng = Rng::new(1);
    for _ in 0..10_000 {
        assert!((1..=3_000).contains(&draw::customer(&mut rng, 3_000)));
        assert!((1..=100).contains(&draw::item(&mut rng, 100)));
    }
}

#[test]
fn an_order_has_as_many_lines_as_its_count() {
    let size = Size { warehouses: 1, customers: 10, items: 20 };
    let all = tables::all(size, Dialect::Postgres);
    let rows_of = |name: &str, row: u64| {
        let table = all.iter().find(|table| table.name == name).unwrap();
        let mut rows = Rows::new(Dialect::Postgres, BulkFormat::Copy);
        (table.fill)(row, &mut Rng::stream(1, row), &mut rows);
        rows
    };
    for row in 0..100 {
        let order = rows_of("orders", row);
        let counted: u64 = order.text().split('\t').nth(6).unwrap().parse().unwrap();
        assert_eq!(rows_of("order_line", row).count(), counted);
    }
}
