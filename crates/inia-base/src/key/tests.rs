//! Keys sort as their values do, and come back where they can.

use super::*;
use crate::collation::Collation;
use crate::datatype::LobSize;
use std::sync::Arc;

fn encode(value: &Value, part: &KeyPart) -> Vec<u8> {
    let mut key = KeyWriter::new();
    key.encode(value, part).unwrap();
    key.into_vec()
}

/// Checks that ascending `values` have ascending keys (descending ones for DESC), nullable or not,
/// that each can be skipped, and that reversible ones come back.
fn check_order(data_type: DataType, values: &[Value]) {
    for (nullable, descending) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut part = KeyPart::new(data_type.clone(), nullable);
        part.descending = descending;
        let mut keys: Vec<Vec<u8>> = values.iter().map(|value| encode(value, &part)).collect();
        if nullable {
            keys.insert(0, encode(&Value::Null, &part));
        }
        for pair in keys.windows(2) {
            let order = if descending { pair[1].cmp(&pair[0]) } else { pair[0].cmp(&pair[1]) };
            assert_eq!(order, std::cmp::Ordering::Less, "{data_type:?} {pair:?}");
        }
        for (value, key) in values.iter().rev().zip(keys.iter().rev()) {
            let mut long = key.clone();
            long.extend_from_slice(&[7, 0, 0xFF]);
            let mut reader = KeyReader::new(&long);
            assert_eq!(reader.skip(&part), Some(&key[..]));
            assert_eq!(reader.rest(), [7, 0, 0xFF]);
            if part.is_reversible() {
                assert_eq!(KeyReader::new(&long).value(&part).as_ref(), Some(value));
            }
        }
    }
}

fn date(year: u16, month: u8, day: u8) -> Date {
    Date::new(year, month, day)
}

#[test]
fn integers_of_every_width() {
    for (width, min, max) in [
        (IntWidth::Tiny, -128, 127),
        (IntWidth::Small, -32_768, 32_767),
        (IntWidth::Medium, -8_388_608, 8_388_607),
        (IntWidth::Int, i64::from(i32::MIN), i64::from(i32::MAX)),
        (IntWidth::Big, i64::MIN, i64::MAX),
    ] {
        let signed = [min, min + 1, -1, 0, 1, max - 1, max].map(Value::Int);
        check_order(DataType::Int { width, unsigned: false }, &signed);
        let top = (max as u64) * 2 + 1;
        let unsigned = [0, 1, max as u64, top - 1, top].map(Value::UInt);
        check_order(DataType::Int { width, unsigned: true }, &unsigned);
    }
}

#[test]
fn the_fast_entries_write_the_same_bytes() {
    let int = |width, unsigned| KeyPart::new(DataType::Int { width, unsigned }, false);
    let mut key = KeyWriter::new();
    key.i32(-5);
    assert_eq!(key.as_slice(), encode(&Value::Int(-5), &int(IntWidth::Int, false)));
    key.clear();
    key.i64(-5);
    assert_eq!(key.as_slice(), encode(&Value::Int(-5), &int(IntWidth::Big, false)));
    key.clear();
    key.u32(5);
    assert_eq!(key.as_slice(), encode(&Value::UInt(5), &int(IntWidth::Int, true)));
    key.clear();
    key.u64(5);
    assert_eq!(key.as_slice(), encode(&Value::UInt(5), &int(IntWidth::Big, true)));
}

#[test]
fn other_numbers() {
    let doubles = [f64::MIN, -1.5, -f64::MIN_POSITIVE, 0.0, 1e-300, 1.0, f64::MAX];
    let double = DataType::Double { decimals: None, unsigned: false };
    check_order(double.clone(), &doubles.map(Value::Double));
    let part = KeyPart::new(double, false);
    assert_eq!(encode(&Value::Double(-0.0), &part), encode(&Value::Double(0.0), &part));
    let floats = [f64::from(f32::MIN), -1.5, 0.0, 0.25, f64::from(f32::MAX)];
    check_order(DataType::Float { decimals: None, unsigned: false }, &floats.map(Value::Double));
    let decimals = ["-99.99", "-1.50", "0.00", "0.01", "99.99"];
    check_order(
        DataType::Decimal { precision: 4, scale: 2, unsigned: false },
        &decimals.map(|text| Value::Decimal(text.parse().unwrap())),
    );
    check_order(DataType::Bit(12), &[0, 1, 255, 256, 4095].map(Value::UInt));
    check_order(DataType::Year, &[0, 1901, 2024, 2155].map(Value::UInt));
}

#[test]
fn dates_and_times() {
    let dates = [Date::ZERO, date(1000, 1, 1), date(2024, 1, 31), date(2024, 2, 1), Date::MAX];
    check_order(DataType::Date, &dates.map(Value::Date));
    for fsp in [0, 3, 6] {
        let moments = dates.map(|date| Value::DateTime(date.at_midnight()));
        check_order(DataType::DateTime { fsp }, &moments);
        let times = [Time::MIN, Time { micros: -1_000_000 }, Time::ZERO, Time::MAX];
        check_order(DataType::Time { fsp }, &times.map(Value::Time));
        let stamps = [Date::ZERO, date(1971, 1, 1), date(2037, 1, 1)];
        let stamps = stamps.map(|date| Value::DateTime(date.at_midnight()));
        check_order(DataType::Timestamp { fsp }, &stamps);
    }
}

#[test]
fn members_by_number() {
    let names = |count: usize| -> Arc<[String]> { (0..count).map(|n| format!("m{n}")).collect() };
    let collation = Collation::DEFAULT;
    check_order(DataType::Enum { members: names(3), collation }, &[0, 1, 3].map(Value::UInt));
    check_order(DataType::Enum { members: names(300), collation }, &[1, 256, 300].map(Value::UInt));
    check_order(DataType::Set { members: names(64), collation }, &[0, 1, 1 << 63].map(Value::UInt));
    check_order(DataType::Set { members: names(17), collation }, &[0, 1, 1 << 16].map(Value::UInt));
}

#[test]
fn binary_strings() {
    let strings: [&[u8]; 8] = [b"", b"\0", b"\0\0", b"\0\x01", b"\x01", b"a", b"a\0", b"a\xFF\xFF"];
    let values = strings.map(|bytes| Value::Bytes(bytes.to_vec()));
    check_order(DataType::VarBinary(10), &values);
    check_order(DataType::Blob(LobSize::Normal), &values);
    let fixed = [b"a\0\0", b"a\0b", b"abc"].map(|bytes| Value::Bytes(bytes.to_vec()));
    check_order(DataType::Binary(3), &fixed);
}

#[test]
fn texts_by_their_collation() {
    let texts = ["", "a", "ab", "b", "é€", "日本"].map(|text| Value::Text(text.into()));
    for id in [46, 309, 278] {
        let collation = Collation(id);
        check_order(DataType::VarChar { chars: 10, collation }, &texts);
    }
    let part = KeyPart::new(DataType::VarChar { chars: 10, collation: Collation::DEFAULT }, false);
    let key = |text: &str| encode(&Value::Text(text.into()), &part);
    assert_eq!(key("Résumé"), key("resume"));
    assert!(KeyReader::new(&key("a")).value(&part).is_none());
}

#[test]
fn a_text_that_starts_another_sorts_first_whatever_follows() {
    let text = KeyPart::new(DataType::VarChar { chars: 10, collation: Collation::DEFAULT }, false);
    let binary = KeyPart::new(DataType::VarBinary(10), false);
    let int = KeyPart::new(DataType::Int { width: IntWidth::Int, unsigned: false }, false);
    let key = |first: &str, second: i64| {
        let mut key = KeyWriter::new();
        key.encode(&Value::Text(first.into()), &text).unwrap();
        key.encode(&Value::Bytes(first.into()), &binary).unwrap();
        key.encode(&Value::Int(second), &int).unwrap();
        key.into_vec()
    };
    assert!(key("ab", i64::from(i32::MAX)) < key("abc", i64::from(i32::MIN)));
    assert!(key("ab", 1) < key("ab", 2));
}

#[test]
fn prefixes_count_characters_or_bytes() {
    let prefixed = |data_type, prefix| {
        let mut part = KeyPart::new(data_type, true);
        part.prefix = Some(prefix);
        part
    };
    let text = prefixed(DataType::Text { size: LobSize::Normal, collation: Collation::DEFAULT }, 2);
    let key = |text_value: &str| encode(&Value::Text(text_value.into()), &text);
    assert_eq!(key("éàx"), key("éà"));
    assert_ne!(key("éàx"), key("é"));
    let blob = prefixed(DataType::Blob(LobSize::Normal), 2);
    let key = |bytes: &[u8]| encode(&Value::Bytes(bytes.to_vec()), &blob);
    assert_eq!(key(b"abc"), key(b"ab"));
    assert!(!blob.is_reversible());
}

#[test]
fn damaged_keys_are_refused() {
    let nullable = KeyPart::new(DataType::VarBinary(10), true);
    for key in [&b""[..], b"\x02", b"\x01abc", b"\x01abc\0", b"\x01abc\0\xFF"] {
        assert_eq!(KeyReader::new(key).value(&nullable), None, "{key:?}");
        assert_eq!(KeyReader::new(key).skip(&nullable), None, "{key:?}");
    }
    let date = KeyPart::new(DataType::Date, false);
    assert_eq!(KeyReader::new(&[0xFF; 3]).value(&date), None);
    assert_eq!(KeyReader::new(&[0xFF; 2]).value(&date), None);
}

#[test]
fn a_value_of_another_kind_leaves_the_key_as_it_was() {
    let mut key = KeyWriter::new();
    key.i32(7);
    let date = KeyPart::new(DataType::Date, true);
    assert_eq!(key.encode(&Value::Int(1), &date), Err(WrongKind));
    assert_eq!(key.len(), 4);
    assert_eq!(key.encode(&Value::Null, &KeyPart::new(DataType::Date, false)), Err(WrongKind));
}

#[test]
fn the_worked_examples() {
    let int = DataType::Int { width: IntWidth::Int, unsigned: false };
    let mut key = KeyWriter::new();
    key.encode(&Value::Int(-1), &KeyPart::new(int.clone(), true)).unwrap();
    let text = DataType::VarChar { chars: 10, collation: Collation::UTF8MB4_BIN };
    key.encode(&Value::Text("ab".into()), &KeyPart::new(text, false)).unwrap();
    assert_eq!(key.as_slice(), [1, 0x7F, 0xFF, 0xFF, 0xFF, 0x65, 0x66, 0x23, 0]);
    key.clear();
    let descending = KeyPart { descending: true, ..KeyPart::new(int, true) };
    key.encode(&Value::Int(-1), &descending).unwrap();
    assert_eq!(key.as_slice(), [0xFE, 0x80, 0, 0, 0]);
}
