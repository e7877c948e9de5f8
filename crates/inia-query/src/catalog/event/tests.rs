//! The next runs of events, with the moments that MySQL's rules give.

use super::*;

fn zone(name: &str) -> TimeZone {
    TimeZone::parse(name).unwrap()
}

fn at(name: &str, text: &str) -> i64 {
    let rules = inia_base::temporal::DateRules::STRICT;
    let parsed = DateTime::parse(text, rules).unwrap();
    moment(&zone(name), parsed.value).unwrap()
}

fn every(
    name: &str,
    amount: i64,
    unit: IntervalUnit,
    starts: &str,
    ends: Option<&str>,
) -> EventHead {
    let (starts, ends) = (at(name, starts), ends.map(|text| at(name, text)));
    EventHead {
        schedule: EventSchedule::Every { amount, unit, starts, ends },
        status: EventStatus::Enabled,
        preserve: false,
        time_zone: name.to_owned(),
        last_executed: None,
    }
}

fn next(head: &EventHead, now: &str) -> Option<String> {
    let now = at(&head.time_zone, now);
    head.next_run(now).map(|next| head.local(next).text(0))
}

const UTC: &str = "+00:00";

#[test]
fn a_run_at_a_moment_is_made_once_also_when_it_is_late() {
    let schedule = EventSchedule::At(1000);
    let mut head = EventHead { schedule, ..every(UTC, 1, IntervalUnit::Day, "2030-01-01", None) };
    assert_eq!(head.next_run(500), Some(1000));
    assert_eq!(head.next_run(5000), Some(1000));
    head.last_executed = Some(5000);
    assert_eq!(head.next_run(5001), None);
}

#[test]
fn intervals_are_counted_from_the_start() {
    use IntervalUnit as U;
    let hours = every(UTC, 2, U::Hour, "2030-01-01 10:00:00", None);
    for (now, expected) in [
        ("2029-12-31 00:00:00", "2030-01-01 10:00:00"),
        ("2030-01-01 10:00:00", "2030-01-01 10:00:00"),
        ("2030-01-01 10:00:01", "2030-01-01 12:00:00"),
        ("2030-01-01 12:00:00", "2030-01-01 14:00:00"),
        ("2030-01-03 13:20:00", "2030-01-03 14:00:00"),
    ] {
        assert_eq!(next(&hours, now).as_deref(), Some(expected), "{now}");
    }
    let mut started = hours.clone();
    started.last_executed = Some(at(UTC, "2030-01-01 10:00:00"));
    assert_eq!(next(&started, "2030-01-01 10:00:00").unwrap(), "2030-01-01 12:00:00");
    for (unit, amount, expected) in [
        (U::Second, 90, "2030-01-15 00:01:30"),
        (U::Minute, 90, "2030-01-15 01:30:00"),
        (U::Day, 1, "2030-01-16 00:00:00"),
        (U::Week, 1, "2030-01-15 00:00:00"),
        (U::Month, 1, "2030-02-01 00:00:00"),
        (U::Quarter, 1, "2030-04-01 00:00:00"),
        (U::Year, 1, "2031-01-01 00:00:00"),
        (U::YearMonth, 30, "2032-07-01 00:00:00"),
        (U::DayHour, 58, "2030-01-15 12:00:00"),
        (U::HourSecond, 43_200, "2030-01-15 12:00:00"),
    ] {
        let head = every(UTC, amount, unit, "2030-01-01", None);
        let now = if unit == U::Week { "2030-01-14 00:00:00" } else { "2030-01-15 00:00:00" };
        assert_eq!(next(&head, now).as_deref(), Some(expected), "{unit:?}");
    }
}

#[test]
fn months_end_on_their_last_day() {
    let head = every(UTC, 1, IntervalUnit::Month, "2030-01-31 12:00:00", None);
    assert_eq!(next(&head, "2030-02-01").unwrap(), "2030-02-28 12:00:00");
    assert_eq!(next(&head, "2030-03-01").unwrap(), "2030-03-31 12:00:00");
    assert_eq!(next(&head, "2030-04-30 13:00:00").unwrap(), "2030-05-30 12:00:00");
    let leap = every(UTC, 1, IntervalUnit::Year, "2028-02-29", None);
    assert_eq!(next(&leap, "2028-03-01").unwrap(), "2029-02-28 00:00:00");
}

#[test]
fn after_the_end_there_is_no_run() {
    let day = IntervalUnit::Day;
    let head = every(UTC, 1, day, "2030-01-01", Some("2030-01-03 12:00:00"));
    assert_eq!(next(&head, "2030-01-02 12:00:00").unwrap(), "2030-01-03 00:00:00");
    assert_eq!(next(&head, "2030-01-03 00:00:00"), None);
    assert_eq!(next(&head, "2031-01-01"), None);
    let on_it = every(UTC, 1, day, "2030-01-01", Some("2030-01-03"));
    assert_eq!(next(&on_it, "2030-01-02 12:00:00").unwrap(), "2030-01-03 00:00:00");
}

/// Clocks of Berlin went from 02:00 to 03:00 on 2026-03-29 and from 03:00 to 02:00 on 2026-10-25.
#[test]
fn intervals_follow_the_local_clock() {
    let berlin = "Europe/Berlin";
    let daily = every(berlin, 1, IntervalUnit::Day, "2026-03-01 12:00:00", None);
    for now in ["2026-03-28 13:00:00", "2026-03-29 13:00:00", "2026-10-25 13:00:00"] {
        assert!(next(&daily, now).unwrap().ends_with("12:00:00"), "{now}");
    }
    // The hour that there is not: the run comes where that hour ends.
    let night = every(berlin, 1, IntervalUnit::Day, "2026-03-01 02:30:00", None);
    assert_eq!(next(&night, "2026-03-28 03:00:00").unwrap(), "2026-03-29 03:00:00");
    assert_eq!(next(&night, "2026-03-29 04:00:00").unwrap(), "2026-03-30 02:30:00");
    // In the hour that there is twice, each next run is later than now.
    let minutes = every(berlin, 20, IntervalUnit::Minute, "2026-10-25 00:00:00", None);
    let mut now = at(berlin, "2026-10-25 01:50:00");
    for _ in 0..12 {
        let next = minutes.next_run(now).unwrap();
        assert!(next > now && next - now <= 2 * 3600, "{now} {next}");
        now = next;
    }
}

#[test]
fn intervals_are_printed_in_their_parts() {
    use IntervalUnit as U;
    for (amount, unit, text) in [
        (30, U::YearMonth, "'2-6'"),
        (58, U::DayHour, "'2 10'"),
        (3510, U::DayMinute, "'2 10:30'"),
        (210_605, U::DaySecond, "'2 10:30:5'"),
        (90, U::HourMinute, "'1:30'"),
        (37_805, U::HourSecond, "'10:30:5'"),
        (1805, U::MinuteSecond, "'30:5'"),
        (2, U::Quarter, "2"),
    ] {
        assert_eq!(EventHead::interval_text(amount, unit), text);
    }
}

#[test]
fn heads_are_read_back() {
    let mut head =
        every("Europe/Berlin", 7, IntervalUnit::DayHour, "2030-01-01", Some("2031-01-01"));
    head.last_executed = Some(5);
    for status in [EventStatus::Enabled, EventStatus::Disabled, EventStatus::DisabledOnReplica] {
        head.status = status;
        let mut w = Writer::default();
        put_head(&mut w, &head);
        assert_eq!(super::head(&mut RecordReader(&w.0)), Some(head.clone()));
    }
}
