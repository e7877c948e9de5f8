//! The relations: equal columns, and different numbers of values in them.
//!
//! | relation | values of a column |
//! |---|---|
//! | uniques, updates | as many as there are rows |
//! | hundred | 100 |
//! | tenpct | a tenth of the rows; 10 names |
//!
//! `col_key` and `col_code` identify a row of each. Numbers are spread over their ranges: a tenth
//! of a range holds a tenth of the rows. OSDB's single-precision column has double precision here,
//! since servers print single precision differently.

use crate::random::Rng;
use crate::target::Dialect;
use crate::workload::{DataSet, Rows, Table};

const COLUMNS: &str = "col_key INTEGER NOT NULL, col_int INTEGER NOT NULL, \
    col_signed INTEGER NOT NULL, col_float {double} NOT NULL, col_double {double} NOT NULL, \
    col_decim DECIMAL(18,2) NOT NULL, col_date DATE NOT NULL, col_code CHAR(10) NOT NULL, \
    col_name CHAR(20) NOT NULL, col_address VARCHAR(80) NOT NULL, PRIMARY KEY (col_key)";

const GIVEN: &str = "col_key, col_int, col_signed, col_float, col_double, col_decim, col_date, \
                     col_code, col_name, col_address";

/// Keys beside the primary ones: relation and column.
const KEYS: [(&str, &str); 13] = [
    ("uniques", "col_code"),
    ("hundred", "col_code"),
    ("tenpct", "col_int"),
    ("tenpct", "col_signed"),
    ("tenpct", "col_float"),
    ("tenpct", "col_double"),
    ("tenpct", "col_decim"),
    ("tenpct", "col_code"),
    ("tenpct", "col_name"),
    ("updates", "col_int"),
    ("updates", "col_double"),
    ("updates", "col_decim"),
    ("updates", "col_code"),
];

/// Primes above any number of rows: multiplied by one, rows change their order.
const MIXERS: [u64; 8] = [
    2_147_483_647,
    2_147_483_629,
    2_147_483_587,
    2_147_483_579,
    2_147_483_563,
    2_147_483_549,
    2_147_483_543,
    2_147_483_497,
];

/// How many values the columns of a relation have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spread {
    Unique,
    Hundred,
    Tenth,
}

const RELATIONS: [(&str, Spread); 4] = [
    ("uniques", Spread::Unique),
    ("hundred", Spread::Hundred),
    ("tenpct", Spread::Tenth),
    ("updates", Spread::Unique),
];

impl Spread {
    fn values(self, rows: u64) -> u64 {
        match self {
            Spread::Unique => rows,
            Spread::Hundred => 100,
            Spread::Tenth => rows / 10,
        }
    }
}

/// The relations with so many rows each.
pub(super) fn data(rows: u64, seed: u64, dialect: Dialect) -> DataSet {
    let columns = COLUMNS.replace("{double}", dialect.double());
    let relation = |&(name, spread): &(&str, Spread)| {
        let fill = move |row, rng: &mut Rng, out: &mut Rows| fill(row, rng, out, (rows, spread));
        let mut table = Table::filled(name, &columns, GIVEN, rows, fill);
        table.create += dialect.table_options();
        let keys = KEYS.iter().filter(|(of, _)| *of == name);
        let index =
            |(of, column): &(&str, &str)| format!("CREATE INDEX {of}_{column} ON {of} ({column})");
        table.indexes = keys.map(index).collect();
        table
    };
    let tables = RELATIONS.iter().map(relation).collect();
    let finish = dialect.analyze(&RELATIONS.map(|(name, _)| name));
    DataSet { finish, ..DataSet::new("osdb", seed, tables) }
}

/// A row's place in another order, from 0; each column has an order of its own.
fn mixed(row: u64, column: usize, rows: u64) -> u64 {
    let product = u128::from(row) * u128::from(MIXERS[column]) + column as u128;
    (product % u128::from(rows)) as u64
}

fn fill(row: u64, rng: &mut Rng, out: &mut Rows, (rows, spread): (u64, Spread)) {
    let values = spread.values(rows);
    let mut value = |column: usize, values: u64| match spread {
        Spread::Unique => mixed(row, column, rows),
        _ => rng.below(values),
    };
    let spread_over = |value: u64, least: i64, width: i64| {
        least + (u128::from(value) * width as u128 / u128::from(values)) as i64
    };
    out.put(row as i64 + 1).put(value(0, values) as i64 + 1);
    for column in 1..=3 {
        out.put(spread_over(value(column, values), -500_000_000, 1_000_000_000));
    }
    let decimal = spread_over(value(4, values), -1_000_000_000, 2_000_000_000);
    out.show(format_args!("{decimal}.{:02}", row % 100));
    let day = value(5, values);
    let (year, month, day) = (1900 + day / 336 % 100, day / 28 % 12 + 1, day % 28 + 1);
    out.show(format_args!("{year}-{month:02}-{day:02}"));
    let mut text = String::new();
    letters(mixed(row, 6, rows), "BENCHMARKS", &mut text);
    out.put(&text);
    let names = if spread == Spread::Tenth { 10 } else { values };
    letters(value(7, names), "THE+ASAP+BENCHMARKS+", &mut text);
    out.put(&text);
    let address = match spread {
        Spread::Unique => row,
        _ => rng.below(values),
    };
    letters(address, "SILICON VALLEY", &mut text);
    for _ in 0..address % 20 {
        text.push_str("ADR");
    }
    out.put(&text).end();
}

/// A text of a number: the first one is `first`, the others have its length.
fn letters(number: u64, first: &str, out: &mut String) {
    out.clear();
    if number == 0 {
        out.push_str(first);
        return;
    }
    let mut rest = number;
    for _ in 0..first.len() {
        out.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
}

/// Counts of the relations' rows.
pub(super) fn counts(rows: u64) -> [(&'static str, i64); 4] {
    [
        ("SELECT COUNT(*) FROM uniques", rows as i64),
        ("SELECT COUNT(*) FROM hundred", rows as i64),
        ("SELECT COUNT(*) FROM tenpct", rows as i64),
        ("SELECT COUNT(*) FROM updates", rows as i64),
    ]
}

/// The rows that a query's answer must have, where the relations' definition says so.
pub(super) fn expected_rows(query: &str, rows: u64) -> Option<u64> {
    Some(match query {
        "sel_1_cl" | "sel_1_ncl" | "table_scan" | "join_2_cl" | "join_2_ncl" | "join_3_cl"
        | "join_3_ncl" | "join_4_cl" | "join_4_ncl" | "agg_scal" | "agg_info_retrieval"
        | "agg_simple_report" | "agg_total_report" => 1,
        "sel_100_cl" | "sel_100_ncl" => 100,
        "sel_var_low" => 0,
        "agg_subtotal_report" => rows / 100,
        _ => return None,
    })
}
