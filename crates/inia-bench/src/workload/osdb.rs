//! OSDB, the Open Source Database Benchmark that the white paper names, after AS³AP: one client
//! asks a set of selections, joins, projections and aggregates; many clients look rows up, or
//! change them, while one of them may ask for more.
//!
//! `rows` is the number of rows of each of the four relations; `osdb/relations.rs` says what is in
//! them. The names of the queries are AS³AP's: `cl` goes by the clustered key and `ncl` by another
//! one.

mod mixes;
mod relations;
#[cfg(test)]
mod tests;

use super::query_set::{QuerySet, Round, SetQuery};
use super::{DataSet, Parameters, Setting, Workload};
use crate::record;
use crate::session::Session;
use crate::target::{Class, Dialect, Failure, Result};
use mixes::Mix;

pub(super) const WORKLOADS: &[&dyn Workload] =
    &[&SingleUser, &Mix::LOOKUPS, &Mix::UPDATES, &Mix::MIXED_LOOKUPS, &Mix::MIXED_UPDATES];

/// Fewer rows would leave ranges of a hundred keys no room.
const MIN_ROWS: u64 = 1_000;

/// Name and text of each query. `{key}` is a key in the middle of a relation, `{int}` a limit that
/// half of a tenth of the integers are below.
const QUERIES: [(&str, &str); 23] = [
    (
        "sel_1_cl",
        "SELECT col_key, col_int, col_signed, col_code, col_name FROM updates WHERE col_key \
         = {key}",
    ),
    (
        "sel_1_ncl",
        "SELECT col_key, col_int, col_signed, col_code, col_name FROM updates WHERE \
         col_code = 'BENCHMARKS'",
    ),
    (
        "sel_100_cl",
        "SELECT col_key, col_int, col_signed, col_code, col_name FROM updates WHERE col_key \
         <= 100",
    ),
    (
        "sel_100_ncl",
        "SELECT col_key, col_int, col_signed, col_code, col_name FROM updates WHERE col_int \
         <= 100",
    ),
    (
        "sel_10pct_ncl",
        "SELECT col_key, col_int, col_signed, col_code, col_name FROM tenpct WHERE col_name \
         = 'THE+ASAP+BENCHMARKS+'",
    ),
    (
        "sel_var_low",
        "SELECT col_key, col_int, col_signed, col_code, col_name FROM tenpct WHERE \
         col_signed < -500000000",
    ),
    (
        "sel_var_high",
        "SELECT col_key, col_int, col_signed, col_code, col_name FROM tenpct WHERE \
         col_signed < -250000000",
    ),
    ("table_scan", "SELECT * FROM uniques WHERE col_int = 1"),
    (
        "join_2",
        "SELECT u.col_signed, u.col_name, h.col_signed, h.col_name FROM uniques u, hundred \
         h WHERE u.col_address = h.col_address AND u.col_address = 'SILICON VALLEY'",
    ),
    (
        "join_2_cl",
        "SELECT u.col_signed, u.col_name, h.col_signed, h.col_name FROM uniques u, hundred \
         h WHERE u.col_key = h.col_key AND u.col_key = {key}",
    ),
    (
        "join_2_ncl",
        "SELECT u.col_signed, u.col_name, h.col_signed, h.col_name FROM uniques u, hundred \
         h WHERE u.col_code = h.col_code AND u.col_code = 'BENCHMARKS'",
    ),
    (
        "join_3_cl",
        "SELECT u.col_signed, u.col_date, h.col_signed, h.col_date, t.col_signed, \
         t.col_date FROM uniques u, hundred h, tenpct t WHERE u.col_key = h.col_key AND \
         u.col_key = t.col_key AND u.col_key = {key}",
    ),
    (
        "join_3_ncl",
        "SELECT u.col_signed, u.col_date, h.col_signed, h.col_date, t.col_signed, \
         t.col_date FROM uniques u, hundred h, tenpct t WHERE u.col_code = h.col_code AND \
         u.col_code = t.col_code AND u.col_code = 'BENCHMARKS'",
    ),
    (
        "join_4_cl",
        "SELECT u.col_date, h.col_date, t.col_date, p.col_date FROM uniques u, hundred h, \
         tenpct t, updates p WHERE u.col_key = h.col_key AND u.col_key = t.col_key AND \
         u.col_key = p.col_key AND u.col_key = {key}",
    ),
    (
        "join_4_ncl",
        "SELECT u.col_date, h.col_date, t.col_date, p.col_date FROM uniques u, hundred h, \
         tenpct t, updates p WHERE u.col_code = h.col_code AND u.col_code = t.col_code AND \
         u.col_code = p.col_code AND u.col_code = 'BENCHMARKS'",
    ),
    ("proj_100", "SELECT DISTINCT col_address, col_signed FROM hundred"),
    ("proj_10pct", "SELECT DISTINCT col_signed FROM tenpct"),
    ("agg_scal", "SELECT MIN(col_key) FROM uniques"),
    ("agg_func", "SELECT MIN(col_key) FROM hundred GROUP BY col_name"),
    (
        "agg_info_retrieval",
        "SELECT COUNT(col_key) FROM tenpct WHERE col_name = 'THE+ASAP+BENCHMARKS+' AND \
         col_int <= {int} AND col_signed BETWEEN 1 AND 499999999 AND NOT (col_float BETWEEN \
         -450000000 AND 450000000) AND col_double > 100000000 AND col_decim < -600000000",
    ),
    (
        "agg_simple_report",
        "SELECT AVG(p.col_decim) FROM updates p WHERE p.col_key IN (SELECT q.col_key FROM \
         updates q, hundred h WHERE h.col_key = q.col_key AND q.col_decim > 980000000)",
    ),
    (
        "agg_subtotal_report",
        "SELECT AVG(p.col_decim), MIN(p.col_signed), MAX(p.col_signed), MAX(p.col_date), \
         MIN(p.col_date), COUNT(DISTINCT h.col_name), COUNT(h.col_name), h.col_code, \
         h.col_int FROM updates p, hundred h WHERE p.col_key = h.col_key AND p.col_decim > \
         980000000 GROUP BY h.col_code, h.col_int",
    ),
    (
        "agg_total_report",
        "SELECT AVG(p.col_decim), MIN(p.col_signed), MAX(p.col_signed), MAX(p.col_date), \
         MIN(p.col_date), COUNT(DISTINCT h.col_name), COUNT(h.col_name), COUNT(h.col_code), \
         COUNT(h.col_int) FROM updates p, hundred h WHERE p.col_key = h.col_key AND \
         p.col_decim > 980000000",
    ),
];

const KINDS: [&str; QUERIES.len() + 1] = {
    let mut kinds = [record::UNANSWERED; QUERIES.len() + 1];
    let mut at = 0;
    while at < QUERIES.len() {
        kinds[at] = QUERIES[at].0;
        at += 1;
    }
    kinds
};

/// The queries of one client.
struct SingleUser;

/// A query's text for relations of so many rows.
fn text(query: &str, rows: u64) -> String {
    query.replace("{key}", &(rows / 2).to_string()).replace("{int}", &(rows / 20).to_string())
}

fn data(parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
    if parameters.rows < MIN_ROWS {
        let message = format!("osdb needs at least {MIN_ROWS} rows: raise --rows");
        return Err(Failure::new(Class::Usage, message));
    }
    Ok(relations::data(parameters.rows, parameters.seed, dialect))
}

impl QuerySet for SingleUser {
    const KINDS: &'static [&'static str] = &KINDS;
    const NAME: &'static str = "osdb";
    const ABOUT: &'static str = "OSDB's single-user queries, after AS3AP, on four relations";
    const ROWS: u64 = 100_000;

    fn tables(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        data(parameters, dialect)
    }

    fn round(&self, setting: &Setting, session: &mut Session) -> Result<Round> {
        let (rows, seed) = (setting.parameters.rows, setting.parameters.seed);
        session.expect(&relations::counts(rows))?;
        let query = |&(name, query): &(&'static str, &str)| SetQuery {
            name,
            text: text(query, rows),
            order: &[],
        };
        let queries = QUERIES.iter().map(query).collect();
        let check_answer = move |number: usize, lines: &crate::agreement::Lines| {
            let wanted = relations::expected_rows(QUERIES[number].0, rows)?;
            let found = lines.len() as u64;
            (found != wanted).then(|| format!("{found} rows, not {wanted}"))
        };
        Round::new(setting, format!("osdb {rows} {seed}"), queries, Box::new(check_answer))
    }
}
