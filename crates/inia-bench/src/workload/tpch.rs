//! TPC-H: 22 queries of a wholesale supplier's warehouse, with their validation parameters.
//!
//! `rows` is the number of orders; 1,500,000 are scale factor 1, whose answers are published. The
//! texts stand in `tpch/queries/` in MySQL's dialect, which PostgreSQL shares as far as they use
//! it. Query 15 has its view as a common table expression, which the specification allows.

mod published;
mod tables;

use super::query_set::{QuerySet, Round, SetQuery};
use super::{DataSet, Parameters, Setting, Workload};
use crate::record;
use crate::session::Session;
use crate::target::{Class, Dialect, Failure, Result};

pub(super) const WORKLOADS: &[&dyn Workload] = &[&TpcH];

/// Orders at scale factor 1.
const ORDERS: f64 = 1_500_000.0;
/// Fewer would leave too few suppliers for a part.
const LEAST: u64 = 1_500;

struct TpcH;

/// Name, text, and the columns that the answer is ordered by.
type Entry = (&'static str, &'static str, &'static [(usize, bool)]);

macro_rules! query {
    ($name:literal, $($by:expr),*) => {
        ($name, include_str!(concat!("tpch/queries/", $name, ".sql")), &[$($by),*])
    };
}

const UP: bool = false;
const DOWN: bool = true;

const QUERIES: [Entry; 22] = [
    query!("q01", (0, UP), (1, UP)),
    query!("q02", (0, DOWN), (2, UP), (1, UP), (3, UP)),
    query!("q03", (1, DOWN), (2, UP)),
    query!("q04", (0, UP)),
    query!("q05", (1, DOWN)),
    query!("q06",),
    query!("q07", (0, UP), (1, UP), (2, UP)),
    query!("q08", (0, UP)),
    query!("q09", (0, UP), (1, DOWN)),
    query!("q10", (2, DOWN)),
    query!("q11", (1, DOWN)),
    query!("q12", (0, UP)),
    query!("q13", (1, DOWN), (0, DOWN)),
    query!("q14",),
    query!("q15", (0, UP)),
    query!("q16", (3, DOWN), (0, UP), (1, UP), (2, UP)),
    query!("q17",),
    query!("q18", (4, DOWN), (3, UP)),
    query!("q19",),
    query!("q20", (0, UP)),
    query!("q21", (1, DOWN), (0, UP)),
    query!("q22", (0, UP)),
];

const KINDS: [&str; 23] = {
    let mut kinds = [record::UNANSWERED; 23];
    let mut at = 0;
    while at < QUERIES.len() {
        kinds[at] = QUERIES[at].0;
        at += 1;
    }
    kinds
};

/// The factor that multiplies all tables but nations and regions.
fn scale_factor(parameters: &Parameters) -> f64 {
    parameters.rows as f64 / ORDERS
}

/// A query's text in a dialect, with the share of query 11 that belongs to the scale.
fn text(query: &str, scale: f64, dialect: Dialect) -> String {
    let share = format!("{:.10}", 0.0001 / scale);
    let text = query.trim_end().replace("0.0001000000", &share);
    if dialect == Dialect::Sqlite { sqlite(&text) } else { text }
}

/// The same in SQLite's words: dates are texts, and decimals are floating-point numbers.
fn sqlite(text: &str) -> String {
    let mut out = text.replace("0.06 - 0.01", "0.05").replace("0.06 + 0.01", "0.07");
    for (sign, word) in [("-", " - INTERVAL '"), ("+", " + INTERVAL '")] {
        while let Some(at) = out.find(word) {
            let begin = out[..at].rfind("DATE '").unwrap_or(at);
            let date = out[begin..at].trim_start_matches("DATE ").to_owned();
            let rest = &out[at + word.len()..];
            let (count, rest) = rest.split_once("' ").unwrap_or((rest, ""));
            let unit = rest.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(rest.len());
            let (unit, rest) = rest.split_at(unit);
            let unit = unit.to_ascii_lowercase();
            out = format!("{}date({date}, '{sign}{count} {unit}'){rest}", &out[..begin]);
        }
    }
    for column in ["l_shipdate", "o_orderdate"] {
        let year = format!("EXTRACT(YEAR FROM {column})");
        out = out.replace(&year, &format!("CAST(strftime('%Y', {column}) AS INTEGER)"));
    }
    out.replace("DATE '", "'").replace("SUBSTRING(c_phone FROM 1 FOR 2)", "SUBSTR(c_phone, 1, 2)")
}

impl QuerySet for TpcH {
    const KINDS: &'static [&'static str] = &KINDS;
    const NAME: &'static str = "tpch";
    const ABOUT: &'static str =
        "TPC-H's 22 queries; --rows are orders, 1,500,000 at scale factor 1";
    const ROWS: u64 = 150_000;

    /// The generator has a seed of its own.
    fn tables(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        if parameters.rows < LEAST {
            let message = format!("tpch needs at least {LEAST} orders: raise --rows");
            return Err(Failure::new(Class::Usage, message));
        }
        let set = DataSet::new("tpch", 0, tables::all(scale_factor(parameters), dialect));
        Ok(DataSet { finish: tables::statistics(dialect), displaces: &["tpcc"], ..set })
    }

    fn round(&self, setting: &Setting, session: &mut Session) -> Result<Round> {
        let scale = scale_factor(&setting.parameters);
        session.expect(&tables::counts(scale))?;
        let query = |&(name, query, order): &Entry| SetQuery {
            name,
            text: text(query, scale, setting.dialect()),
            order,
        };
        let queries = QUERIES.iter().map(query).collect();
        let check_answer = move |number: usize, rows: &_| {
            if scale == 1.0 { published::difference(number + 1, rows) } else { None }
        };
        let set = format!("tpch {scale}");
        Round::new(setting, set, queries, Box::new(check_answer))
    }
}

#[cfg(test)]
mod tests;
