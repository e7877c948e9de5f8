//! The star: its tables, their rows, and what the queries must answer.

use super::Parameters;
use crate::agreement::{Cell, Lines};
use crate::random::Rng;
use crate::target::Dialect;
use crate::workload::{DataSet, Rows, Table};
use std::collections::BTreeMap;

/// Days of `dim0`, from the first one on.
const DAYS: u64 = 10_000;
const FIRST_DAY: (i64, u32, u32) = (1990, 1, 1);
/// Rows of `dim1` and `dim2`; each has one of the types.
const ATTRIBUTES: u64 = 1_000;
const TYPES: u64 = 100;
/// Values of the facts.
const VALUES: u64 = 1_000;
/// What fills a row to the width that facts have in practice.
const FILL: &str = "twenty letters to fill";

pub(super) const FACT_COLUMNS: &str = "d0key, d1key, d2key, fval, ffill";

const FACTS: &str = "CREATE TABLE fact0 (d0key INTEGER NOT NULL, d1key INTEGER NOT NULL, \
                     d2key INTEGER NOT NULL, fval INTEGER NOT NULL, ffill VARCHAR(100) NOT NULL)";

/// Keys of the facts: names and columns.
pub(super) const KEYS: [(&str, &str); 3] =
    [("fact0_d0key", "d0key"), ("fact0_d1key", "d1key"), ("fact0_d2key", "d2key")];

pub(super) fn index(name: &str, columns: &str) -> String {
    format!("CREATE INDEX {name} ON fact0 ({columns})")
}

/// Statements that give an empty table of facts without keys.
pub(super) fn anew(dialect: Dialect) -> [String; 2] {
    ["DROP TABLE fact0".to_owned(), format!("{FACTS}{}", dialect.table_options())]
}

pub(super) fn data(parameters: &Parameters, dialect: Dialect) -> DataSet {
    let days = Table::filled(
        "dim0",
        "d0key INTEGER NOT NULL, ddate DATE NOT NULL, dyr INTEGER NOT NULL, \
         dmth INTEGER NOT NULL, dday INTEGER NOT NULL, PRIMARY KEY (d0key)",
        "d0key, ddate, dyr, dmth, dday",
        DAYS,
        day,
    );
    let [first, second] = ["d1key", "d2key"].map(|key| {
        format!(
            "{key} INTEGER NOT NULL, dat VARCHAR(100) NOT NULL, dattyp VARCHAR(20) NOT NULL, \
             dfill VARCHAR(100) NOT NULL, PRIMARY KEY ({key})"
        )
    });
    let mut facts = Table::filled("fact0", "", FACT_COLUMNS, parameters.rows, fact);
    facts.create = FACTS.to_owned();
    facts.indexes = KEYS.iter().map(|(name, columns)| index(name, columns)).collect();
    let mut tables = vec![
        days,
        Table::filled("dim1", &first, "d1key, dat, dattyp, dfill", ATTRIBUTES, attribute),
        Table::filled("dim2", &second, "d2key, dat, dattyp, dfill", ATTRIBUTES, attribute),
        facts,
    ];
    for table in &mut tables {
        table.create += dialect.table_options();
    }
    tables[0].indexes = vec!["CREATE INDEX dim0_ddate ON dim0 (ddate)".to_owned()];
    let finish = dialect.analyze(&["dim0", "dim1", "dim2", "fact0"]);
    DataSet { finish, ..DataSet::new("benchw", parameters.seed, tables) }
}

/// Year, month and day of so many days after the first.
fn date(number: u64) -> (i64, u32, u32) {
    let (mut year, mut month, mut day) = FIRST_DAY;
    let mut left = number as u32;
    loop {
        let length = match month {
            2 if year % 4 == 0 => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        if left < length {
            day += left;
            return (year, month, day);
        }
        left -= length;
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    }
}

fn day(row: u64, _: &mut Rng, out: &mut Rows) {
    let (year, month, day) = date(row);
    out.put(row as i64 + 1).show(format_args!("{year}-{month:02}-{day:02}"));
    out.put(year).put(i64::from(month)).put(i64::from(day)).end();
}

/// The type of an attribute, by its key.
fn kind(key: i64) -> u64 {
    key as u64 % TYPES
}

fn attribute(row: u64, _: &mut Rng, out: &mut Rows) {
    let key = row as i64 + 1;
    out.put(key).show(format_args!("attribute {key}")).show(format_args!("type {:02}", kind(key)));
    out.put(FILL).end();
}

/// The keys of a fact, and its value.
fn keys(rng: &mut Rng) -> [i64; 4] {
    [DAYS, ATTRIBUTES, ATTRIBUTES, VALUES].map(|most| rng.below(most) as i64 + 1)
}

pub(super) fn fact(_: u64, rng: &mut Rng, out: &mut Rows) {
    let [day, first, second, value] = keys(rng);
    out.put(day).put(first).put(second).put(value).put(FILL).end();
}

fn facts(rows: u64, seed: u64) -> impl Iterator<Item = [i64; 4]> {
    (0..rows).map(move |row| keys(&mut Rng::stream(seed, row)))
}

/// The sums of the facts' three keys.
pub(super) fn sums(rows: u64, seed: u64) -> [i64; 3] {
    facts(rows, seed).fold([0; 3], |sums, keys| [0, 1, 2].map(|at| sums[at] + keys[at]))
}

/// Groups of one query: their cells, and the sums behind them.
type Groups = BTreeMap<Vec<String>, [i64; 2]>;

/// What the queries must answer, in their order.
pub(super) fn answers(rows: u64, seed: u64) -> [Lines; 5] {
    let dates: Vec<(i64, u32, u32)> = (0..DAYS).map(date).collect();
    let mut groups: [Groups; 5] = Default::default();
    for [day, first, second, value] in facts(rows, seed) {
        let (year, month, date) = dates[day as usize - 1];
        let (first, second) = (kind(first), kind(second));
        let mut count = |query: usize, group: &[String]| {
            let [number, sum] = groups[query].entry(group.to_vec()).or_default();
            (*number, *sum) = (*number + 1, *sum + value);
        };
        let type_of = |number: u64| format!("type {number:02}");
        if year == 2010 {
            count(1, &[month.to_string()]);
            if (month, date) <= (12, 28) {
                count(0, &[month.to_string()]);
            }
        }
        if (2010..=2015).contains(&year) && (10..=14).contains(&first) {
            count(2, &[month.to_string(), type_of(first)]);
            if (20..=24).contains(&second) {
                count(3, &[month.to_string(), type_of(first), type_of(second)]);
            }
        }
        count(4, &[year.to_string()]);
    }
    let with_sum = [false, false, false, false, true];
    let mut with_sum = with_sum.into_iter();
    groups.map(|groups| {
        let with_sum = with_sum.next().unwrap_or(false);
        let line = |(group, [count, sum]): (Vec<String>, [i64; 2])| {
            let mut cells: Vec<Cell> = group.iter().map(|cell| Cell::of(cell)).collect();
            cells.push(Cell::of(&count.to_string()));
            cells.extend(with_sum.then(|| Cell::of(&sum.to_string())));
            cells
        };
        groups.into_iter().map(line).collect()
    })
}

#[cfg(test)]
mod tests;
