//! Numbers as MySQL 8.0.31 prints them; the right-hand sides were read from it.

use super::*;

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn integers() {
    for n in [0, 1, 9, 10, 99, 100, 101, 12345, 999_999, u64::MAX] {
        assert_eq!(text(|out| put_u64(out, n)), n.to_string());
    }
    for n in [0, -1, -10, i64::MIN, i64::MAX] {
        assert_eq!(text(|out| put_i64(out, n)), n.to_string());
    }
}

#[test]
fn doubles() {
    let cases = [
        (1e14, "100000000000000"),
        (1e15, "1e15"),
        (1e16, "1e16"),
        (1.2345678901234568e17, "1.2345678901234568e17"),
        (0.0001, "0.0001"),
        (1e-14, "0.00000000000001"),
        (1e-15, "0.000000000000001"),
        (1e-16, "1e-16"),
        (1.5e-16, "1.5e-16"),
        (1.5e300, "1.5e300"),
        (-1e100, "-1e100"),
        (123456789012345.0, "123456789012345"),
        (1234567890123456.0, "1.234567890123456e15"),
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0 / 3.0, "0.3333333333333333"),
        (f64::MAX, "1.7976931348623157e308"),
        (5e-324, "5e-324"),
        (999999999999999.0, "999999999999999"),
        (123456.789, "123456.789"),
        (1.25e-14, "0.0000000000000125"),
    ];
    for (x, expected) in cases {
        assert_eq!(text(|out| put_f64(out, x, NOT_FIXED)), expected);
    }
}

#[test]
fn floats_have_six_digits() {
    let cases = [
        (1.1, "1.1"),
        (16777216.0, "16777200"),
        (123456789.0, "123457000"),
        (1e10, "10000000000"),
        (1e15, "1e15"),
        (1234567.0, "1234570"),
        (0.000012345678, "0.0000123457"),
        (3.402_823_5e38, "3.40282e38"),
        (1e-20, "1e-20"),
        (99999.95, "100000"),
        (999999.5, "1000000"),
        (0.333_333_34, "0.333333"),
        (1.5e-15, "0.0000000000000015"),
        (1.5e-16, "1.5e-16"),
    ];
    for (x, expected) in cases {
        assert_eq!(text(|out| put_f32(out, x, NOT_FIXED)), expected);
    }
}

#[test]
fn fixed_decimals() {
    assert_eq!(text(|out| put_f64(out, 1234567.1234, 3)), "1234567.123");
    assert_eq!(text(|out| put_f64(out, -0.0001, 3)), "0.000");
    assert_eq!(text(|out| put_f32(out, 16777.0, 2)), "16777.00");
    assert_eq!(text(|out| put_f64(out, f64::MAX, 30)).len(), 340);
}

#[test]
fn dates_and_times() {
    let date = Date { year: 2024, month: 2, day: 9 };
    assert_eq!(text(|out| put_date(out, date)), "2024-02-09");
    let value = DateTime { date, hour: 1, minute: 2, second: 3, micros: 45_000 };
    assert_eq!(text(|out| put_datetime(out, &value, 0)), "2024-02-09 01:02:03");
    assert_eq!(text(|out| put_datetime(out, &value, 3)), "2024-02-09 01:02:03.045");
    assert_eq!(text(|out| put_datetime(out, &value, 6)), "2024-02-09 01:02:03.045000");
    let time = |micros| text(|out| put_time(out, Time { micros }, 0));
    assert_eq!(time(0), "00:00:00");
    assert_eq!(time(-(838 * 3600 + 59 * 60 + 59) * 1_000_000), "-838:59:59");
}
