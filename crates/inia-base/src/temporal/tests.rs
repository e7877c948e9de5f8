//! Dates and times against answers recorded from MySQL 8.0.31.

use super::calendar::WeekMode;
use super::parse::Deprecated;
use super::*;

fn datetime(text: &str) -> Result<String, TemporalError> {
    let parsed = DateTime::parse(text, DateRules::ZEROS)?;
    Ok(parsed.value.text(if parsed.value.micros == 0 { 0 } else { 6 }))
}

fn moment(text: &str) -> DateTime {
    DateTime::parse(text, DateRules::ZEROS).unwrap().value
}

fn date(text: &str) -> Date {
    moment(text).date
}

#[test]
fn datetime_texts_come_packed_or_delimited() {
    for (text, expected) in [
        ("2024-1-3", "2024-01-03 00:00:00"),
        ("24-01-31 1:2:3", "2024-01-31 01:02:03"),
        ("240131", "2024-01-31 00:00:00"),
        ("20240131101010.1234567", "2024-01-31 10:10:10.123457"),
        ("2024-01-31T10:10:10.9999995", "2024-01-31 10:10:11"),
        ("20240131T101010", "2024-01-31 10:10:10"),
        ("2024/01/31 10.10.10", "2024-01-31 10:10:10"),
        ("2024-01-31 10", "2024-01-31 10:00:00"),
        ("10:11:12", "2010-11-12 00:00:00"),
        ("2024-00-10", "2024-00-10 00:00:00"),
        ("0000-00-00", "0000-00-00 00:00:00"),
        ("70-01-01", "1970-01-01 00:00:00"),
        ("69-12-31", "2069-12-31 00:00:00"),
    ] {
        assert_eq!(datetime(text), Ok(expected.into()), "{text}");
    }
    for text in [
        "20240131 ",
        "20240131 101010",
        "2024-02-30",
        "2024-01",
        "2024-01-31 25:00:00",
        "abc",
        "",
        "2024-13-01",
    ] {
        assert_eq!(datetime(text), Err(TemporalError::Invalid), "{text}");
    }
}

#[test]
fn rubbish_after_a_datetime_is_noticed() {
    let parsed = DateTime::parse("2024-01-31 10:10:10 x", DateRules::STRICT).unwrap();
    assert!(parsed.truncated);
    assert_eq!(parsed.deprecated.map(|it| (it.position, it.prefer)), Some((19, None)));
    let parsed = DateTime::parse("2024/01/31 10.10.10", DateRules::STRICT).unwrap();
    assert!(!parsed.truncated);
    let slash = Deprecated { delimiter: '/', position: 4, prefer: Some('-') };
    assert_eq!(parsed.deprecated, Some(slash));
}

#[test]
fn a_datetime_may_name_its_offset() {
    let offset = |text: &str| {
        let parsed = DateTime::parse(text, DateRules::STRICT).unwrap();
        (parsed.offset_minutes, parsed.truncated)
    };
    assert_eq!(offset("2024-01-31 10:10:10+05:30"), (Some(330), false));
    assert_eq!(offset("2024-01-31 10:10:10.5-01:00"), (Some(-60), false));
    assert_eq!(offset("2024-01-31 10:10:10 +05:30"), (None, true));
    assert_eq!(datetime("2024-01-31+05:30"), Ok("2024-01-31 05:30:00".into()));
}

#[test]
fn rules_decide_about_zeros() {
    let check = |text: &str, rules| DateTime::parse(text, rules).map(|_| ());
    assert_eq!(check("0000-00-00", DateRules::STRICT), Err(TemporalError::ZeroDate));
    assert_eq!(check("2024-00-10", DateRules::STRICT), Err(TemporalError::Invalid));
    assert_eq!(check("2024-02-30", DateRules::ZEROS), Err(TemporalError::Invalid));
    let lax = DateRules { allow_invalid_dates: true, ..DateRules::ZEROS };
    assert_eq!(check("2024-02-30", lax), Ok(()));
    assert_eq!(check("2024-02-32", lax), Err(TemporalError::Invalid));
}

#[test]
fn time_texts() {
    for (text, expected) in [
        ("10:11:12", "10:11:12"),
        ("101112", "10:11:12"),
        ("1112", "00:11:12"),
        ("12", "00:00:12"),
        ("1 10", "34:00:00"),
        ("1 10:11", "34:11:00"),
        ("10:11", "10:11:00"),
        ("-10:11:12.5", "-10:11:12.500000"),
        ("839:00:00", "838:59:59"),
        ("2024-01-31 10:11:12", "10:11:12"),
        ("34 22:59:59.9999999", "838:59:59"),
        ("10:11:12abc", "10:11:12"),
        ("20240131101112", "10:11:12"),
        ("  10:11", "10:11:00"),
    ] {
        let parsed = Time::parse(text).map(|parsed| parsed.value.to_string());
        assert_eq!(parsed, Ok(expected.into()), "{text}");
    }
    assert!(Time::parse("839:00:00").unwrap().out_of_range);
    assert!(Time::parse("10:11:12abc").unwrap().truncated);
    assert!(Time::parse("2024-01-31 10:11:12").unwrap().from_datetime);
    assert_eq!(Time::parse("10:60:00"), Err(TemporalError::OutOfRange));
    for text in ["abc", "1e3", "", "2024-13-31 10:11:12", "2024-01-31 25:11:12"] {
        assert_eq!(Time::parse(text), Err(TemporalError::Invalid), "{text}");
    }
    // With `T` between them, date and time are no moment: the year is a time.
    assert_eq!(Time::parse("2024-01-31T10:11:12").unwrap().value.to_string(), "00:20:24");
}

#[test]
fn spans_are_taken_away_from_the_last_day_too() {
    let last = moment("9999-12-31 23:59:59");
    let second = Interval { months: 0, days: 0, micros: 1_000_000 };
    let earlier = last.add_interval(second.neg()).map(|moment| moment.text(0));
    assert_eq!(earlier.as_deref(), Some("9999-12-31 23:59:58"));
    assert_eq!(last.add_interval(second), None);
}

#[test]
fn numbers_are_read_by_their_length() {
    for (number, expected) in [
        (20240131, "2024-01-31 00:00:00"),
        (240131, "2024-01-31 00:00:00"),
        (20240131101112, "2024-01-31 10:11:12"),
        (240131101112, "2024-01-31 10:11:12"),
        (700101, "1970-01-01 00:00:00"),
        (691231, "2069-12-31 00:00:00"),
        (101, "2000-01-01 00:00:00"),
        (0, "0000-00-00 00:00:00"),
    ] {
        let value = DateTime::from_number(number, DateRules::ZEROS).unwrap().0;
        assert_eq!(value.text(0), expected, "{number}");
    }
    assert!(DateTime::from_number(100, DateRules::ZEROS).is_err());
    assert!(DateTime::from_number(-1, DateRules::ZEROS).is_err());
    assert!(DateTime::from_number(i64::MAX, DateRules::ZEROS).is_err());
    assert_eq!(Time::from_number(101112).unwrap().text(0), "10:11:12");
    assert_eq!(Time::from_number(-8385959), Ok(Time::MIN));
    assert_eq!(Time::from_number(8390000), Err(TemporalError::OutOfRange));
    assert_eq!(Time::from_number(9999), Err(TemporalError::Invalid));
    assert_eq!(Time::from_number(20240131101112).unwrap().text(0), "10:11:12");
}

#[test]
fn values_turn_into_numbers() {
    assert_eq!(moment("2024-01-31 10:11:12.9").to_number(), 20240131101112);
    assert_eq!(date("2024-01-31").to_number(), 20240131);
    assert_eq!(Time::parse("-10:11:12").unwrap().value.to_number(), -101112);
}

#[test]
fn rounding_to_fewer_digits_carries() {
    let near = moment("2024-01-31 23:59:59.9");
    assert_eq!(near.round_to(0).unwrap().text(0), "2024-02-01 00:00:00");
    assert_eq!(near.round_to(1), Some(near));
    assert_eq!(near.truncate_to(0).text(0), "2024-01-31 23:59:59");
    assert_eq!(moment("9999-12-31 23:59:59.9").round_to(0), None);
    assert_eq!(
        moment("2024-01-31 10:10:10.994").round_to(2).unwrap().text(2),
        "2024-01-31 10:10:10.99"
    );
    let time = |text: &str| Time::parse(text).unwrap().value;
    assert_eq!(time("23:59:59.9").round_to(0).text(0), "24:00:00");
    assert_eq!(time("-10:11:12.5").round_to(0).text(0), "-10:11:13");
    assert_eq!(time("838:59:59.9").round_to(0), Time::MAX);
    assert_eq!(time("-10:11:12.5").truncate_to(0).text(0), "-10:11:12");
}

#[test]
fn day_numbers() {
    assert_eq!(date("2024-01-31").to_days(), 739281);
    assert_eq!(date("0000-01-01").to_days(), 1);
    assert_eq!(date("1970-01-01").to_days(), calendar::UNIX_EPOCH_DAYS);
    assert_eq!(Date::MAX.to_days(), calendar::MAX_DAYS);
    assert_eq!(Date::from_days(366), Some(Date::new(1, 1, 1)));
    assert_eq!(Date::from_days(365), Some(Date::ZERO));
    assert_eq!(Date::from_days(calendar::MAX_DAYS + 1), None);
    for days in 366..=calendar::MAX_DAYS {
        assert_eq!(Date::from_days(days).unwrap().to_days(), days);
    }
    assert_eq!(date("2024-01-31").weekday(), 2);
    assert_eq!(date("2024-12-31").day_of_year(), 366);
    assert_eq!(date("2024-02-01").last_day(), Some(Date::new(2024, 2, 29)));
    assert_eq!(date("2024-00-01").last_day(), None);
}

#[test]
fn weeks_in_all_eight_modes() {
    for (day, weeks) in [
        ("2024-01-01", [0, 1, 53, 1, 1, 1, 1, 1]),
        ("2022-01-01", [0, 0, 52, 52, 0, 0, 52, 52]),
        ("2019-12-31", [52, 53, 52, 1, 53, 52, 1, 52]),
    ] {
        for (mode, week) in weeks.into_iter().enumerate() {
            let mode = WeekMode::from_number(mode as i64);
            assert_eq!(date(day).week(mode).1, week, "{day} {mode:?}");
        }
    }
    let yearweek = |day: &str, mode| date(day).week(WeekMode::from_number(mode).with_year());
    assert_eq!(yearweek("2019-12-31", 0), (2019, 52));
    assert_eq!(yearweek("2019-12-31", 1), (2020, 1));
    assert_eq!(yearweek("2022-01-01", 0), (2021, 52));
    assert_eq!(yearweek("2022-01-01", 1), (2021, 52));
}

#[test]
fn intervals_add_to_dates() {
    let add = |start: &str, text: &str, unit: &str| {
        let unit = IntervalUnit::from_name(unit).unwrap();
        let interval = match unit {
            _ if unit.is_composite() => Interval::parse(unit, text)?,
            IntervalUnit::Second => Interval::of_seconds(text.parse().unwrap()),
            _ => Interval::of(unit, text.parse().unwrap()),
        };
        moment(start).add_interval(interval).map(|moment| moment.to_string())
    };
    for (start, text, unit, expected) in [
        ("2024-01-31", "1", "month", "2024-02-29 00:00:00"),
        ("2024-02-29", "1", "year", "2025-02-28 00:00:00"),
        ("2024-01-31", "-1-1", "year_month", "2022-12-31 00:00:00"),
        ("2024-01-31", "1 1:1:1", "day_second", "2024-02-01 01:01:01"),
        ("2024-01-31", "1", "day_second", "2024-01-31 00:00:01"),
        ("2024-01-31", "1.5", "second", "2024-01-31 00:00:01.500000"),
        ("2024-01-31", "-1:30", "hour_minute", "2024-01-30 22:30:00"),
        ("2024-01-31", "1.5", "second_microsecond", "2024-01-31 00:00:01.500000"),
        ("2024-01-31", "1 1:1:1.000001", "day_microsecond", "2024-02-01 01:01:01.000001"),
        ("2024-01-31", "-1", "quarter", "2023-10-31 00:00:00"),
        ("2024-01-31", "2", "week", "2024-02-14 00:00:00"),
        ("0000-01-01", "-1", "day", "0000-00-00 00:00:00"),
        ("2024-01-31", "1500000", "microsecond", "2024-01-31 00:00:01.500000"),
        ("2024-01-31", "1 10", "day_hour", "2024-02-01 10:00:00"),
        ("2024-01-31", "10:5", "minute_second", "2024-01-31 00:10:05"),
    ] {
        assert_eq!(add(start, text, unit).as_deref(), Some(expected), "{start} + {text} {unit}");
    }
    assert_eq!(add("9999-12-31", "1", "day"), None);
    assert_eq!(add("2024-01-31", "1:5:6", "minute_second"), None);
    assert_eq!(add("2024-01-31", "9223372036854775807", "year"), None);
    assert_eq!(add("2024-01-31", "-9223372036854775808", "hour"), None);
}

#[test]
fn stored_forms_come_back_and_sort() {
    let moments =
        ["0000-00-00", "1000-01-01", "2024-01-31 10:11:12", "2024-01-31 10:11:12.5", "9999-12-31"];
    for fsp in [1, 2, 3, 6] {
        let mut last = Vec::new();
        for text in moments {
            let value = moment(text);
            let mut bytes = Vec::new();
            value.encode(fsp, &mut bytes);
            assert_eq!(bytes.len(), datetime_storage_size(fsp));
            assert_eq!(DateTime::decode(&bytes, fsp), Some(value));
            assert_eq!(DateTime::unpack(value.pack()), Some(value));
            assert!(last < bytes, "{text}");
            last = bytes;
        }
    }
    for fsp in 0..=6 {
        let mut last = Vec::new();
        for time in [Time::MIN, Time { micros: -SECOND }, Time::ZERO, Time::MAX] {
            let mut bytes = Vec::new();
            time.encode(fsp, &mut bytes);
            assert_eq!(bytes.len(), time_storage_size(fsp));
            assert_eq!(Time::decode(&bytes, fsp), Some(time));
            assert!(last < bytes);
            last = bytes;
        }
    }
    let mut bytes = Vec::new();
    Date::MAX.encode(&mut bytes);
    assert_eq!(Date::decode(&bytes), Some(Date::MAX));
    assert_eq!(Date::decode(&[0xFF, 0xFF, 0xFF]), None);
}

#[test]
fn timestamps_are_seconds_of_1970() {
    let last = moment("2038-01-19 03:14:07.25");
    assert_eq!(last.to_unix(), 2147483647);
    assert!(last.is_timestamp());
    assert!(!moment("2038-01-19 03:14:08").is_timestamp());
    assert!(!moment("1970-01-01 00:00:00").is_timestamp());
    assert_eq!(DateTime::from_unix(2147483647, 250_000), Some(last));
}

#[test]
fn time_zones_by_offset() {
    let zone = TimeZone::parse("+5:30").unwrap();
    assert_eq!(zone.name(), "+05:30");
    let utc = moment("2024-01-31 20:00:00.5");
    let local = zone.from_utc(utc).unwrap();
    assert_eq!(local.text(1), "2024-02-01 01:30:00.5");
    assert_eq!(zone.to_utc(local), Some(utc));
    assert!(TimeZone::parse("+14:00").is_some() && TimeZone::parse("-13:59").is_some());
    for name in ["+14:01", "-14:00", "+1", "+01:60", "Nowhere/Land", ""] {
        assert!(TimeZone::parse(name).is_none(), "{name}");
    }
}

#[test]
fn time_zones_by_name() {
    let zone = TimeZone::parse("europe/berlin").unwrap();
    assert_eq!(zone.name(), "Europe/Berlin");
    let to_utc = |text: &str| zone.to_utc(moment(text)).unwrap().text(0);
    assert_eq!(to_utc("2024-07-01 12:00:00"), "2024-07-01 10:00:00");
    assert_eq!(to_utc("2024-01-01 12:00:00"), "2024-01-01 11:00:00");
    // Clocks went from 02:00 to 03:00, and in autumn from 03:00 back to 02:00.
    assert_eq!(to_utc("2024-03-31 02:30:00"), "2024-03-31 01:00:00");
    assert!(zone.in_gap(moment("2024-03-31 02:30:00")));
    assert_eq!(to_utc("2024-10-27 02:30:00"), "2024-10-27 00:30:00");
    let local = zone.from_utc(moment("2024-07-01 10:00:00")).unwrap();
    assert_eq!(local.text(0), "2024-07-01 12:00:00");
}
