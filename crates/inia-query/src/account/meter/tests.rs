//! Counts by the hour, with clocks of the tests' own.

use super::*;
use std::time::UNIX_EPOCH;

fn account(limits: &[(&str, u64)]) -> AccountDef {
    let mut def = AccountDef::new(AccountName::new("u", "%"));
    def.limits = limits.iter().map(|(word, most)| ((*word).to_owned(), *most)).collect();
    def
}

fn at(minutes: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(60 * minutes)
}

fn said(result: Result<(), SqlError>) -> String {
    result.map_or_else(|error| error.to_string(), |()| String::from("ok"))
}

fn ask(meter: &Meter, sql: &str, minutes: u64) -> String {
    let statement = inia_parser::parse(sql, inia_parser::SqlMode::empty()).unwrap();
    said(meter.statement(&statement, at(minutes)))
}

const NO_QUESTIONS: &str =
    "ERROR 1226 (42000): User 'u' has exceeded the 'max_questions' resource (current value: 2)";
const NO_UPDATES: &str =
    "ERROR 1226 (42000): User 'u' has exceeded the 'max_updates' resource (current value: 1)";

#[test]
fn questions_are_refused_until_the_hour_is_over() {
    let meters = Meters::default();
    let def = account(&[("MAX_QUERIES_PER_HOUR", 2)]);
    let meter = meters.of(&def, false, at(0)).unwrap();
    let other = meters.of(&def, false, at(30)).unwrap();
    assert_eq!(ask(&meter, "SELECT 1", 1), "ok");
    assert_eq!(ask(&other, "DO 1", 31), "ok");
    assert_eq!(ask(&meter, "SELECT 1", 59), NO_QUESTIONS);
    assert_eq!(ask(&meter, "SELECT 1", 60), "ok");
    // A clock that goes back begins no hour.
    assert_eq!(ask(&meter, "SELECT 1", 10), "ok");
    assert_eq!(ask(&meter, "SELECT 1", 11), NO_QUESTIONS);
}

#[test]
fn updates_count_beside_questions() {
    let meters = Meters::default();
    let meter = meters.of(&account(&[("MAX_UPDATES_PER_HOUR", 1)]), false, at(0)).unwrap();
    assert_eq!(ask(&meter, "SELECT 1", 0), "ok");
    assert_eq!(ask(&meter, "EXPLAIN DELETE FROM t", 0), "ok");
    for sql in ["INSERT INTO t VALUES (1)", "CREATE TABLE t (a INT)", "SET PASSWORD = ''"] {
        assert_eq!(ask(&meter, sql, 0), NO_UPDATES);
    }
    for sql in ["SELECT 1 FOR UPDATE", "BEGIN", "SET @a = 1", "ANALYZE TABLE t", "USE d"] {
        assert_eq!(ask(&meter, sql, 0), "ok");
    }
}

#[test]
fn new_limits_and_flushes_begin_the_counts_again() {
    let meters = Meters::default();
    let meter = meters.of(&account(&[("MAX_CONNECTIONS_PER_HOUR", 1)]), false, at(0)).unwrap();
    let refused = "ERROR 1226 (42000): User 'u' has exceeded the 'max_connections_per_hour' \
                   resource (current value: 1)";
    assert_eq!(said(meter.connection(at(0))), "ok");
    assert_eq!(said(meter.connection(at(0))), refused);
    meters.flush();
    assert_eq!(said(meter.connection(at(0))), "ok");
    meters.set(&account(&[("MAX_CONNECTIONS_PER_HOUR", 1), ("MAX_QUERIES_PER_HOUR", 2)]));
    assert_eq!(said(meter.connection(at(0))), "ok");
    assert_eq!(said(meter.connection(at(0))), refused);
    for expected in ["ok", "ok", NO_QUESTIONS] {
        assert_eq!(ask(&meter, "SELECT 1", 0), expected);
    }
}

#[test]
fn accounts_without_limits_have_no_meter() {
    let meters = Meters::default();
    assert!(meters.of(&account(&[]), false, at(0)).is_none());
    assert!(meters.of(&account(&[("MAX_QUERIES_PER_HOUR", 0)]), false, at(0)).is_none());
    assert!(meters.of(&account(&[]), true, at(0)).is_some());
}
