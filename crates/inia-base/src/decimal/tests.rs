//! Decimals against answers recorded from MySQL 8.0.31.

use super::{Decimal, DecimalError};

fn dec(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn text(value: Result<Decimal, DecimalError>) -> String {
    value.unwrap().to_string()
}

/// The largest number of a DECIMAL column.
const NINES: &str = "99999999999999999999999999999999999999999999999999999999999999999";
/// The largest number of all.
const MORE_NINES: &str = "999999999999999999999999999999999999999999999999999999999999999999999999";

#[test]
fn text_keeps_the_scale_it_was_written_with() {
    for (input, printed) in [
        ("1.10", "1.10"),
        ("-0.0", "0.0"),
        ("00012.50", "12.50"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1e3", "1000"),
        ("-1.5e-3", "-0.0015"),
        (
            "12345678901234567890123456789012345.123456",
            "12345678901234567890123456789012345.123456",
        ),
        (
            "0.1234567890123456789012345678901234567890",
            "0.1234567890123456789012345678901234567890",
        ),
        (
            "123456789012345678901234567890123456789012345678901234567890.1234567890123",
            "123456789012345678901234567890123456789012345678901234567890.123456789012",
        ),
    ] {
        assert_eq!(dec(input).to_string(), printed, "{input}");
    }
}

#[test]
fn a_prefix_is_read_as_far_as_it_is_a_number() {
    let parse = |text: &str| Decimal::parse_prefix(text.as_bytes());
    assert_eq!((parse("12abc").value.to_string(), parse("12abc").consumed), ("12".into(), 2));
    assert_eq!(parse("abc").consumed, 0);
    assert_eq!(parse("-").consumed, 0);
    assert_eq!(parse(".").consumed, 0);
    assert_eq!(parse("1e").consumed, 1);
    assert_eq!(parse("  7 ").consumed, 3);
    assert!(parse("1e100").overflow);
    assert_eq!(parse("-1e100").value.to_string(), format!("-{NINES}"));
    assert_eq!(parse("1e-100").value.to_string(), format!("0.{}", "0".repeat(72)));
    assert_eq!(parse("1e99999999999").value.to_string(), NINES);
    assert!(parse(&format!("{}e65", "1".repeat(100))).overflow);
}

#[test]
fn sums_and_differences_take_the_larger_scale() {
    assert_eq!(text(dec("1.5").add(dec("2.25"))), "3.75");
    assert_eq!(text(dec("1.5").sub(dec("2.25"))), "-0.75");
    assert_eq!(text(dec("-1.50").add(dec("1.5"))), "0.00");
    assert_eq!(text(dec(NINES).add(Decimal::ONE)), format!("1{}", "0".repeat(65)));
    assert_eq!(dec(MORE_NINES).add(Decimal::ONE), Err(DecimalError::Overflow));
    let big = "123456789012345678901234567890123456789012345678901234567890.5";
    assert_eq!(text(dec(big).sub(dec(big))), "0.0");
}

#[test]
fn products_add_their_scales_up_to_four_groups() {
    assert_eq!(text(dec("-1.5").mul(dec("0.05"))), "-0.075");
    assert_eq!(text(dec("-0.00").mul(dec("1"))), "0.00");
    let long = dec("1.123456789012345678901");
    assert_eq!(text(long.mul(long)), "1.262155156777930194552437433565526596");
    assert_eq!(dec("1e40").mul(dec("1e35")), Err(DecimalError::Overflow));
}

#[test]
fn products_without_room_take_groups_from_the_longer_factor() {
    let wide = dec("12345678901234567890123456789012345678901234.123456789");
    let product = wide.mul(dec("12345678901234567890123456.1"));
    assert_eq!(
        text(product),
        "152415787532388367504953505884773750588477369572016497297378578261850.691"
    );
    let finest = dec("0.123456789012345678901234567890");
    assert_eq!(text(finest.mul(finest)), "0.015241578753238836750495351562536198");
}

#[test]
fn quotients_are_cut_after_whole_groups() {
    for (a, b, result) in [
        ("2", "3", "0.666666666"),
        ("-2", "3", "-0.666666666"),
        ("0.00001", "3", "0.000003333"),
        ("1.5", "0.7", "2.142857142857142857"),
        ("1.000000000000000000000000000000", "7", "0.142857142857142857142857142857142857"),
        (
            "12345678901234567890123456789012345678901234567890123456789012345",
            "12345678901234567890123456789012345678901234567890123456789012345",
            "1.000000000",
        ),
        (
            "1",
            "0.000000000000000000000000000000000000003",
            "333333333333333333333333333333333333333.333333333333333333333333333333333",
        ),
    ] {
        assert_eq!(text(dec(a).div(dec(b), 4)), result, "{a} / {b}");
    }
    let (tiny, huge) = (dec("1e-72"), dec(MORE_NINES));
    assert_eq!(huge.div(tiny, 4), Err(DecimalError::Overflow));
    assert_eq!(text(tiny.div(huge, 4)), format!("0.{}", "0".repeat(72)));
    assert_eq!(dec("1").div(dec("0.00"), 4), Err(DecimalError::DivideByZero));
}

#[test]
fn remainders_have_the_dividends_sign() {
    for (a, b, result) in [
        ("7.5", "2", "1.5"),
        ("-7.5", "2", "-1.5"),
        ("7", "-2.25", "0.25"),
        ("12345678901234567890.5", "0.7", "0.1"),
    ] {
        assert_eq!(text(dec(a).rem(dec(b))), result, "{a} % {b}");
    }
    assert_eq!(text(dec("5.9").div_integer(dec("2"))), "2");
    assert_eq!(text(dec("-5").div_integer(dec("2"))), "-2");
}

#[test]
fn rounding_goes_half_away_from_zero() {
    for (value, places, rounded, truncated) in [
        ("1.5", 3, "1.5", "1.5"),
        ("-1.25", 1, "-1.3", "-1.2"),
        ("12345.678", -2, "12300", "12300"),
        ("-1.999", 1, "-2.0", "-1.9"),
        ("1999.9", -2, "2000", "1900"),
        ("2.5", 0, "3", "2"),
        ("-2.5", 0, "-3", "-2"),
        ("5", -1, "10", "0"),
        ("5", -2, "0", "0"),
        ("5", i32::MIN, "0", "0"),
        ("5", i32::MAX, "5", "5"),
    ] {
        assert_eq!(text(dec(value).round(places)), rounded, "{value} to {places}");
        assert_eq!(dec(value).truncate(places).to_string(), truncated, "{value} to {places}");
    }
    assert_eq!(text(dec("-1.5").ceil()), "-1");
    assert_eq!(text(dec("-1.5").floor()), "-2");
    assert_eq!(text(dec("1.0001").ceil()), "2");
    assert_eq!(text(dec("3.0").floor()), "3");
}

#[test]
fn fitting_into_a_column_rounds_and_clamps() {
    let fit = |value: &str, precision, scale| {
        let fitted = dec(value).rescale(precision, scale);
        (fitted.value.to_string(), fitted.rounded, fitted.overflow)
    };
    assert_eq!(fit("1.005", 5, 2), ("1.01".into(), true, false));
    assert_eq!(fit("1.5", 5, 2), ("1.50".into(), false, false));
    assert_eq!(fit("1.500", 5, 2), ("1.50".into(), false, false));
    assert_eq!(fit("999.995", 5, 2), ("999.99".into(), false, true));
    assert_eq!(fit("-1000", 5, 2), ("-999.99".into(), false, true));
    assert_eq!(fit(NINES, 65, 30), (Decimal::bound(65, 30, false).to_string(), false, true));
}

#[test]
fn floating_point_goes_by_its_shortest_text() {
    let from = |value: f64| Decimal::from_f64(value).unwrap().to_string();
    assert_eq!(from(0.1), "0.1");
    assert_eq!(from(1e20), "100000000000000000000");
    assert_eq!(from(123456789.12345679), "123456789.12345679");
    assert_eq!(from(1e-7), "0.0000001");
    assert_eq!(Decimal::from_f64(f64::MAX), Err(DecimalError::Overflow));
    assert_eq!(Decimal::from_f64(f64::NAN), Err(DecimalError::Overflow));
    assert_eq!(dec("12345678901234567890123456789.5").to_f64(), 1.2345678901234568e28);
    assert_eq!(dec("-0.3").to_f64(), -0.3);
}

#[test]
fn integers_round_and_clamp() {
    assert_eq!(dec("2.5").to_i64(), Ok(3));
    assert_eq!(dec("-2.5").to_i64(), Ok(-3));
    assert_eq!(dec("-9223372036854775808").to_i64(), Ok(i64::MIN));
    assert_eq!(dec("9223372036854775807.5").to_i64(), Err(i64::MAX));
    assert_eq!(dec("18446744073709551615.4").to_u64(), Ok(u64::MAX));
    assert_eq!(dec("18446744073709551615.5").to_u64(), Err(u64::MAX));
    assert_eq!(dec("-0.4").to_u64(), Ok(0));
    assert_eq!(dec("-1").to_u64(), Err(0));
    assert_eq!(Decimal::from(i64::MIN).to_string(), "-9223372036854775808");
    assert_eq!(Decimal::from_i128(-1250, 2).to_string(), "-12.50");
}

#[test]
fn equality_and_hash_ignore_the_scale() {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let hash = |value: Decimal| {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        hasher.finish()
    };
    assert_eq!(dec("1.0"), dec("1.000"));
    assert_eq!(hash(dec("1.0")), hash(dec("1.000")));
    assert_eq!(hash(dec("0")), hash(dec("-0.000")));
    assert!(dec("-1.5") < dec("-1.25"));
    assert!(dec("1e60") > dec("1e-30"));
}

#[test]
fn precision_counts_digits() {
    for (value, digits) in [("0", 1), ("0.00", 2), ("0.05", 2), ("12.5", 3), (NINES, 65)] {
        assert_eq!(dec(value).precision(), digits, "{value}");
    }
}

#[test]
fn stored_bytes_sort_as_the_numbers_do() {
    let values = [
        "-99999.99",
        "-1000",
        "-1.5",
        "-1.49",
        "-0.01",
        "0",
        "0.01",
        "1",
        "1.01",
        "255",
        "256",
        "65535.5",
        "99999.99",
    ];
    let mut last: Vec<u8> = Vec::new();
    for value in values {
        let mut bytes = Vec::new();
        dec(value).encode(7, 2, &mut bytes);
        assert_eq!(bytes.len(), Decimal::storage_size(7));
        assert!(last.is_empty() || last < bytes, "{value}");
        assert_eq!(Decimal::decode(&bytes, 7, 2), Some(dec(value)));
        last = bytes;
    }
    for negative in [false, true] {
        let bound = Decimal::bound(65, 30, negative);
        let mut bytes = Vec::new();
        bound.encode(65, 30, &mut bytes);
        assert_eq!(Decimal::decode(&bytes, 65, 30), Some(bound));
    }
    assert_eq!(Decimal::decode(&[1, 2], 7, 2), None);
}

#[test]
fn every_precision_has_room_for_its_bounds() {
    for precision in 1..=65 {
        let mut low = Vec::new();
        let mut high = Vec::new();
        Decimal::bound(precision, 0, true).encode(precision, 0, &mut low);
        Decimal::bound(precision, 0, false).encode(precision, 0, &mut high);
        assert!(low < high, "{precision}");
        let back = Decimal::decode(&low, precision, 0);
        assert_eq!(back, Some(Decimal::bound(precision, 0, true)), "{precision}");
    }
    assert_eq!(Decimal::storage_size(10), 5);
    assert_eq!(Decimal::storage_size(18), 8);
}
