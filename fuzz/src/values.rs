//! Dates, times, decimals, doubles and documents: what is read from a text comes back the same
//! after it was printed.

use inia_base::decimal::Decimal;
use inia_base::number;
use inia_base::temporal::{DateRules, DateTime, Interval, IntervalUnit, Time, TimeZone};
use inia_expr::json;

pub fn run(data: &[u8]) {
    decimal(data);
    double(data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    moments(text);
    if let Ok(document) = json::parse(text) {
        let printed = document.to_string();
        let again = json::parse(&printed).expect("a printed document is one");
        assert_eq!(again.to_string(), printed);
        let _ = (document.pretty(), document.depth(), document.length());
    }
    let _ = json::unquote(text);
}

fn decimal(data: &[u8]) {
    let parsed = Decimal::parse_prefix(data);
    assert!(parsed.consumed <= data.len());
    let mut printed = Vec::new();
    parsed.value.write_text(&mut printed);
    assert_eq!(Decimal::parse_prefix(&printed).value, parsed.value);
    for places in [-70, -3, 0, 2, 29, 40] {
        let _ = (parsed.value.round(places), parsed.value.truncate(places));
    }
}

fn double(data: &[u8]) {
    let read = number::double_prefix(data);
    assert!(read.consumed <= data.len() && read.value.is_finite());
    let mut printed = Vec::new();
    number::write_double(read.value, &mut printed);
    assert_eq!(number::double_prefix(&printed).value, read.value);
    let _ = (number::rounded_integer(data), number::integer_prefix(data).value);
}

fn moments(text: &str) {
    for rules in [DateRules::STRICT, DateRules::ZEROS] {
        let Ok(parsed) = DateTime::parse(text, rules) else { continue };
        let again = DateTime::parse(&parsed.value.text(6), rules).map(|again| again.value);
        assert_eq!(again, Ok(parsed.value));
        assert_eq!(DateTime::unpack(parsed.value.pack()), Some(parsed.value));
        for unit in [IntervalUnit::DayMicrosecond, IntervalUnit::YearMonth, IntervalUnit::Week] {
            if let Some(interval) = Interval::parse(unit, text) {
                let _ = parsed.value.add_interval(interval);
            }
        }
    }
    if let Ok(parsed) = Time::parse(text) {
        let again = Time::parse(&parsed.value.text(6)).map(|again| again.value);
        assert_eq!(again, Ok(parsed.value));
    }
    let _ = TimeZone::parse(text);
}
