//! The tables of InnoDB's page, and the numbers that their generator makes known.

use crate::random::Rng;
use crate::target::Dialect;
use crate::workload::{Rows, Table};
use std::sync::Arc;

/// Values of `C`: a tenth of the report's 100,000 rows.
pub(super) const SPREAD: u64 = 10_000;

/// `T1` and `T2`: two integers, the first is the key.
pub(super) fn pairs(name: &str, rows: u64, dialect: Dialect) -> Table {
    let options = dialect.table_options();
    let fill = |row: u64, _: &mut Rng, out: &mut Rows| {
        out.put(row as i64).put(row as i64).end();
    };
    Table {
        name: name.to_owned(),
        create: format!("CREATE TABLE {name} (A INT NOT NULL, B INT, PRIMARY KEY(A)){options}"),
        columns: "A, B",
        rows,
        rows_per_call: 1,
        fill: Arc::new(fill),
        indexes: Vec::new(),
    }
}

/// The Perl programs' `speed1`.
pub(super) fn speed(rows: u64, dialect: Dialect) -> Table {
    let (index, indexes) = match dialect {
        Dialect::MySql => (", index (b)", Vec::new()),
        _ => ("", vec!["create index speed1_b on speed1 (b)".to_owned()]),
    };
    let fill = |row: u64, _: &mut Rng, out: &mut Rows| {
        out.put(row as i64).put(row as i64).put(row as i64).end();
    };
    let options = dialect.table_options();
    Table {
        name: "speed1".to_owned(),
        create: format!(
            "create table speed1 (a int not null, b int, c int, primary key (a){index}){options}"
        ),
        columns: "a, b, c",
        rows,
        rows_per_call: 1,
        fill: Arc::new(fill),
        indexes,
    }
}

fn color(rng: &mut Rng) -> i64 {
    rng.below(SPREAD) as i64
}

/// `T` and `S`: a key from 1, ten characters, and an indexed random number, the same in both.
pub(super) fn triples([name, a, b, c]: [&'static str; 4], rows: u64, dialect: Dialect) -> Table {
    let fill = |row: u64, rng: &mut Rng, out: &mut Rows| {
        out.put(row as i64 + 1).put(FIRST).put(color(rng)).end();
    };
    Table {
        name: name.to_owned(),
        create: format!(
            "CREATE TABLE {name} ({a} INT NOT NULL, {b} CHAR(10), {c} INT, PRIMARY KEY ({a})){}",
            dialect.table_options()
        ),
        columns: if name == "T" { "A, B, C" } else { "SA, SB, SC" },
        rows,
        rows_per_call: 1,
        fill: Arc::new(fill),
        indexes: vec![format!("CREATE INDEX {name}_IND2 ON {name} ({c})")],
    }
}

/// What `B` and `SB` hold at first.
pub(super) const FIRST: &str = "1234567890";

/// What is known of `T` and `S`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Colors {
    /// How often each `C` is there.
    pub counts: Vec<i64>,
    /// The sum of all `C`.
    pub sum: i64,
    /// Rows of the star join.
    pub joined: i64,
    /// The five greatest counts.
    pub top: Vec<i64>,
}

impl Colors {
    pub(super) fn of(rows: u64, seed: u64) -> Colors {
        let mut counts = vec![0; SPREAD as usize];
        (0..rows).for_each(|row| counts[color(&mut Rng::stream(seed, row)) as usize] += 1);
        let there = counts.iter().enumerate().filter(|(c, _)| (1..=rows as usize).contains(c));
        let joined = there.map(|(_, count)| count).sum();
        let sum = counts.iter().enumerate().map(|(c, count)| c as i64 * count).sum();
        let mut top: Vec<i64> = counts.iter().copied().filter(|&count| count > 0).collect();
        top.sort_unstable_by(|a, b| b.cmp(a));
        top.truncate(5);
        Colors { counts, sum, joined, top }
    }
}
