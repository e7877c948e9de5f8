//! What can be read from a text comes back the same after it was printed, and nothing panics.

use inia_base::decimal::Decimal;
use inia_base::number;
use inia_base::temporal::{Date, DateRules, DateTime, Interval, IntervalUnit, Time, TimeZone};
use inia_testkit::{Random, mutate};

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1.50",
    "12345678901234567890123456789012345.678901234567890123456789012345",
    "1e10",
    "-2.5E-7",
    "1.7976931348623157e308",
    "5e-324",
    "18446744073709551615",
    "-9223372036854775808",
    "0.000000000000000000000000000001",
    "  42abc",
    "+.5",
    "99999999999.",
];

const TIMES: &[&str] = &[
    "2024-02-29",
    "0000-00-00 00:00:00",
    "9999-12-31 23:59:59.999999",
    "20240131",
    "240131",
    "20240131235959",
    "2024-1-2T3:4:5.67",
    "2024-01-31 10:00:00+05:30",
    "838:59:59",
    "-12:34:56.5",
    "1 02:03",
    "112233",
    "70-01-01",
    "2024.01.31 1",
    "2024-02-30",
    "-1 00:00:00.000001",
];

const RULES: [DateRules; 3] = [
    DateRules::STRICT,
    DateRules::ZEROS,
    DateRules { no_zero_date: false, no_zero_in_date: false, allow_invalid_dates: true },
];

/// Calls `check` with damaged forms of the texts.
fn each(seed: u64, texts: &[&str], mut check: impl FnMut(&str)) {
    let mut random = Random::new(seed);
    texts.iter().for_each(|text| check(text));
    for _ in 0..mutate::rounds(30_000) {
        let (text, other) = (*random.pick(texts), *random.pick(texts));
        check(&mutate::text(&mut random, text, other));
    }
}

#[test]
fn decimals_come_back_from_their_text_and_their_stored_form() {
    each(1, NUMBERS, |text| {
        let parsed = Decimal::parse_prefix(text.as_bytes());
        assert!(parsed.consumed <= text.len());
        let mut printed = Vec::new();
        parsed.value.write_text(&mut printed);
        let again = Decimal::parse_prefix(&printed);
        assert_eq!(again.value, parsed.value, "{text:?}");
        assert_eq!((again.consumed, again.overflow), (printed.len(), false), "{text:?}");
        let (precision, scale) = (parsed.value.precision(), parsed.value.scale());
        let precision = precision.max(scale).max(1);
        let mut stored = Vec::new();
        parsed.value.encode(precision, scale, &mut stored);
        assert_eq!(Decimal::decode(&stored, precision, scale), Some(parsed.value), "{text:?}");
        for places in [-70, -3, 0, 2, 29, 40] {
            let _ = parsed.value.round(places);
            let _ = parsed.value.truncate(places);
        }
        let _ = (parsed.value.to_i64(), parsed.value.to_u64(), parsed.value.to_f64());
    });
}

#[test]
fn doubles_come_back_from_their_text() {
    each(2, NUMBERS, |text| {
        let read = number::double_prefix(text.as_bytes());
        assert!(read.consumed <= text.len() && read.value.is_finite(), "{text:?}");
        let mut printed = Vec::new();
        number::write_double(read.value, &mut printed);
        let again = number::double_prefix(&printed);
        assert_eq!(again.value, read.value, "{text:?}");
        assert_eq!(again.consumed, printed.len(), "{text:?}");
        number::write_float(read.value as f32, &mut printed);
        for decimals in [0, 2, 30] {
            number::write_fixed(read.value, decimals, &mut printed);
        }
        let _ = Decimal::from_f64(read.value);
        let whole = number::integer_prefix(text.as_bytes()).value;
        assert_eq!(number::integer_prefix(whole.to_string().as_bytes()).value, whole);
        let _ = number::rounded_integer(text.as_bytes());
    });
}

#[test]
fn moments_come_back_from_their_text_and_their_stored_form() {
    let zone = TimeZone::parse("Europe/Berlin").unwrap();
    each(3, TIMES, |text| {
        for rules in RULES {
            let Ok(parsed) = DateTime::parse(text, rules) else { continue };
            let value = parsed.value;
            let printed = value.text(6);
            let again = DateTime::parse(&printed, rules).map(|again| again.value);
            assert_eq!(again, Ok(value), "{text:?}");
            assert_eq!(DateTime::unpack(value.pack()), Some(value), "{text:?}");
            assert_eq!(Date::unpack(value.date.pack()), Some(value.date));
            let mut stored = Vec::new();
            value.encode(6, &mut stored);
            assert_eq!(DateTime::decode(&stored, 6), Some(value));
            let _ = (value.date.to_days(), value.date.weekday(), value.date.last_day());
            let _ = (zone.to_utc(value), zone.from_utc(value), value.round_to(3));
            let _ = (value.to_unix(), value.time(), value.add_micros(i64::MAX));
        }
    });
}

#[test]
fn times_come_back_from_their_text_and_their_stored_form() {
    each(4, TIMES, |text| {
        let Ok(parsed) = Time::parse(text) else { return };
        let printed = parsed.value.text(6);
        let again = Time::parse(&printed).map(|again| again.value);
        assert_eq!(again, Ok(parsed.value), "{text:?}");
        for fsp in 0..=6 {
            let rounded = parsed.value.round_to(fsp);
            let mut stored = Vec::new();
            rounded.encode(fsp, &mut stored);
            assert_eq!(Time::decode(&stored, fsp), Some(rounded), "{text:?} {fsp}");
        }
    });
}

#[test]
fn numbers_are_dates_and_times_or_not() {
    let mut random = Random::new(5);
    for _ in 0..mutate::rounds(30_000) {
        let number = (random.next_u64() >> random.below(64)) as i64;
        for number in [number, number.wrapping_neg()] {
            for rules in RULES {
                if let Ok((moment, _)) = DateTime::from_number(number, rules) {
                    assert_eq!(DateTime::parse(&moment.text(0), rules).unwrap().value, moment);
                }
            }
            if let Ok(time) = Time::from_number(number) {
                assert_eq!(Time::parse(&time.text(0)).unwrap().value, time);
            }
        }
    }
}

#[test]
fn intervals_of_any_text_can_be_added_to_any_moment() {
    let units = [
        IntervalUnit::Microsecond,
        IntervalUnit::Second,
        IntervalUnit::Week,
        IntervalUnit::Month,
        IntervalUnit::Quarter,
        IntervalUnit::Year,
        IntervalUnit::DaySecond,
        IntervalUnit::DayMicrosecond,
        IntervalUnit::YearMonth,
    ];
    let texts: Vec<&str> = NUMBERS.iter().chain(TIMES).copied().collect();
    let moments = ["0000-00-00", "2024-02-29 23:59:59.999999", "9999-12-31 23:59:59.999999"]
        .map(|text| DateTime::parse(text, DateRules::ZEROS).unwrap().value);
    each(6, &texts, |text| {
        for unit in units {
            let Some(interval) = Interval::parse(unit, text) else { continue };
            for interval in [interval, interval.neg()] {
                for moment in moments {
                    if let Some(sum) = moment.add_interval(interval) {
                        assert!(sum.date.year <= 9999 && sum.date.month <= 12, "{text:?} {unit:?}");
                    }
                    let _ = moment.date.add_interval(interval);
                }
                let _ = Time { micros: -1 }.add_interval(interval);
            }
        }
        let _ = TimeZone::parse(text);
    });
}
