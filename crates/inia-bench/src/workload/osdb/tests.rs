//! The relations hold what the queries count on.

use super::*;
use crate::random::Rng;
use crate::target::BulkFormat;
use crate::workload::Rows;
use std::collections::BTreeSet;

const ROWS: u64 = 2_000;

/// The rows of a relation, cell by cell.
fn rows(name: &str) -> Vec<Vec<String>> {
    let data = relations::data(ROWS, 3, Dialect::Postgres);
    let table = data.tables.iter().find(|table| table.name == name).unwrap();
    let mut out = Rows::new(Dialect::Postgres, BulkFormat::Copy);
    (0..ROWS).for_each(|row| (table.fill)(row, &mut Rng::stream(3, row), &mut out));
    let lines = out.text().lines();
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

fn values(rows: &[Vec<String>], column: usize) -> usize {
    rows.iter().map(|row| &row[column]).collect::<BTreeSet<_>>().len()
}

#[test]
fn a_relation_is_named_for_the_values_of_its_columns() {
    for name in ["uniques", "updates"] {
        let rows = rows(name);
        for column in [0, 1, 2, 3, 4, 5, 7, 8, 9] {
            assert_eq!(values(&rows, column), ROWS as usize, "{name}, column {column}");
        }
    }
    let (hundred, tenth) = (rows("hundred"), rows("tenpct"));
    for column in [1, 2, 3, 4] {
        assert_eq!(values(&hundred, column), 100, "column {column}");
        assert!((160..=200).contains(&values(&tenth, column)), "column {column}");
    }
    assert_eq!((values(&hundred, 8), values(&tenth, 8)), (100, 10));
    for rows in [hundred, tenth] {
        assert_eq!((values(&rows, 0), values(&rows, 7)), (ROWS as usize, ROWS as usize));
    }
}

#[test]
fn the_constants_of_the_queries_are_there() {
    for name in ["uniques", "hundred", "tenpct", "updates"] {
        let rows = rows(name);
        let with =
            |column: usize, text: &str| rows.iter().filter(|row| row[column] == text).count();
        assert_eq!(with(7, "BENCHMARKS"), 1, "{name}");
        assert!(with(8, "THE+ASAP+BENCHMARKS+") > 0, "{name}");
        assert!(with(9, "SILICON VALLEY") > 0, "{name}");
    }
}

#[test]
fn a_hundredth_of_the_updates_has_great_decimals() {
    let great = |row: &&Vec<String>| row[5].parse::<f64>().unwrap() > 980_000_000.0;
    assert_eq!(rows("updates").iter().filter(great).count() as u64, ROWS / 100);
}

#[test]
fn texts_are_of_the_scale() {
    let texts: Vec<String> = QUERIES.iter().map(|(_, query)| text(query, ROWS)).collect();
    assert!(texts.iter().all(|text| !text.contains('{')));
    assert!(texts[0].ends_with("WHERE col_key = 1000"));
    assert!(data(&Parameters { rows: 10, ..Parameters::default() }, Dialect::MySql).is_err());
}
