//! Numbers in texts, against answers recorded from MySQL 8.0.31.

use super::*;

#[test]
fn a_cast_stops_at_the_first_other_character() {
    for (text, value, truncated) in [
        ("1e3", 1, true),
        ("1.9", 1, true),
        (" -12abc", -12, true),
        ("+5", 5, false),
        ("7 ", 7, false),
        ("", 0, true),
        ("-", 0, true),
        ("18446744073709551615", u64::MAX.into(), false),
    ] {
        let read = integer_prefix(text.as_bytes());
        assert_eq!((read.value, read.truncated), (value, truncated), "{text}");
    }
    let large = integer_prefix(b"9999999999999999999999");
    assert_eq!((large.value as i64, large.overflow), (-1, true));
    let small = integer_prefix(b"-9999999999999999999999");
    assert_eq!((small.value, small.overflow), (i64::MIN.into(), true));
    assert!(integer_prefix("9".repeat(100).as_bytes()).overflow);
}

#[test]
fn storing_rounds() {
    for (text, value, truncated) in [
        ("1.9", 2, false),
        ("1e3", 1000, false),
        ("1.5x", 2, true),
        (" 7 ", 7, false),
        ("abc", 0, true),
    ] {
        let read = rounded_integer(text.as_bytes());
        assert_eq!((read.value, read.truncated), (value, truncated), "{text}");
    }
    assert!(rounded_integer(b"99999999999999999999").overflow);
}

#[test]
fn other_contexts_read_floating_point() {
    for (text, value, truncated) in [
        ("1e3", 1000.0, false),
        ("1.9.1", 1.9, true),
        (".5", 0.5, false),
        ("5.", 5.0, false),
        ("-", 0.0, true),
        (".", 0.0, true),
        ("0x10", 0.0, true),
        ("inf", 0.0, true),
        ("nan", 0.0, true),
        ("1e", 1.0, true),
        (" -2.5e-1 ", -0.25, false),
    ] {
        let read = double_prefix(text.as_bytes());
        assert_eq!((read.value, read.truncated), (value, truncated), "{text}");
    }
    let large = double_prefix(b"-1e400");
    assert_eq!((large.value, large.overflow), (f64::MIN, true));
}

#[test]
fn doubles_print_their_shortest_digits() {
    for (value, printed) in [
        (1e14, "100000000000000"),
        (1e15, "1e15"),
        (123456789012345680000.0, "1.2345678901234568e20"),
        (0.000001, "0.000001"),
        (1e-15, "0.000000000000001"),
        (1e-16, "1e-16"),
        (-0.0, "-0"),
        (1.5e300, "1.5e300"),
        (0.1 + 0.2, "0.30000000000000004"),
        (100.0, "100"),
        (12345678901234567.0, "1.2345678901234568e16"),
        (123456789012345.0, "123456789012345"),
        (-1.25, "-1.25"),
        // Halfway between two shortest forms the even one is printed.
        (1e15 + 0.25, "1000000000000000.2"),
        (1e15 + 0.375, "1000000000000000.4"),
        (-2e15 - 0.25, "-2000000000000000.2"),
        (2e15 + 0.75, "2000000000000000.8"),
    ] {
        let mut out = Vec::new();
        write_double(value, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), printed);
    }
}

#[test]
fn floats_print_six_digits() {
    for (value, printed) in [
        (16777216.0, "16777200"),
        (0.1, "0.1"),
        (1e20, "1e20"),
        (1.175_494_4e-38, "1.17549e-38"),
        (123456.79, "123457"),
        (1234567.0, "1234570"),
        (0.00001, "0.00001"),
        (1.0 / 3.0, "0.333333"),
        (999999.5, "1000000"),
    ] {
        let mut out = Vec::new();
        write_float(value, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), printed);
    }
}

fn printed(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn integers_print_all_digits() {
    for n in [0, 1, 9, 10, 99, 100, 101, 12345, 999_999, u64::MAX] {
        assert_eq!(printed(|out| write_u64(n, out)), n.to_string());
    }
    for n in [0, -1, -10, i64::MIN, i64::MAX] {
        assert_eq!(printed(|out| write_i64(n, out)), n.to_string());
    }
}

#[test]
fn declared_decimals_are_always_printed() {
    assert_eq!(printed(|out| write_fixed(1234567.1234, 3, out)), "1234567.123");
    assert_eq!(printed(|out| write_fixed(-0.0001, 3, out)), "0.000");
    assert_eq!(printed(|out| write_fixed(16777.0, 2, out)), "16777.00");
    assert_eq!(printed(|out| write_fixed(f64::MAX, 30, out)).len(), 340);
}
