//! Parameters of executions.

use super::*;
use crate::testing::Random;

const PLAIN: Capabilities = Capabilities::CLIENT;
const UTF8: Charset = Charset::Utf8mb4;

fn decode(params: &mut Params, body: &[u8]) -> Result<Vec<Value>, WireError> {
    let mut values = Vec::new();
    params.decode(body, 0, PLAIN, UTF8, &mut values)?;
    Ok(values)
}

fn date(year: u16, month: u8, day: u8) -> Date {
    Date { year, month, day }
}

fn samples() -> Vec<Value> {
    let noon = DateTime { date: date(2024, 2, 29), hour: 12, minute: 0, second: 1, micros: 5 };
    vec![
        Value::Null,
        Value::Int(-5),
        Value::UInt(u64::MAX),
        Value::Double(1.5),
        Value::Decimal("-12.340".parse().unwrap()),
        Value::Text("naïve".to_owned()),
        Value::Bytes(vec![0, 255]),
        Value::Date(date(2024, 2, 29)),
        Value::DateTime(noon),
        Value::Time(Time { micros: -(34 * 86_400 + 22 * 3600 + 59 * 60 + 59) * 1_000_000 }),
        Value::Time(Time { micros: 1 }),
        Value::Time(Time { micros: 0 }),
        Value::Null,
    ]
}

#[test]
fn every_kind_there_and_back() {
    let mut body = Vec::new();
    encode_execute(&mut body, &samples(), PLAIN);
    assert_eq!(decode(&mut Params::new(samples().len()), &body), Ok(samples()));

    let caps = PLAIN.with(Capabilities::QUERY_ATTRIBUTES);
    body.clear();
    encode_execute(&mut body, &samples(), caps);
    let mut values = Vec::new();
    Params::new(samples().len()).decode(&body, 0, caps, UTF8, &mut values).unwrap();
    assert_eq!(values, samples());
}

#[test]
fn types_are_remembered_between_executions() {
    let mut params = Params::new(2);
    let first = b"\0\x01\x03\0\x02\x80\x07\0\0\0\xff\xff";
    assert_eq!(decode(&mut params, first), Ok(vec![Value::Int(7), Value::UInt(65535)]));
    let later = b"\x02\0\x08\0\0\0";
    assert_eq!(decode(&mut params, later), Ok(vec![Value::Int(8), Value::Null]));
}

#[test]
fn an_execution_before_any_types_is_refused() {
    let error = decode(&mut Params::new(1), b"\0\0\x01").unwrap_err();
    assert_eq!(error.server_error().code, 1835);
    // NULL needs no type.
    assert_eq!(decode(&mut Params::new(1), b"\x01\0"), Ok(vec![Value::Null]));
}

#[test]
fn nulls_and_long_data_need_no_types_in_any_character_set() {
    let mut values = Vec::new();
    let mut decode = |params: &mut Params| {
        params.decode(b"\x01\0", 0, PLAIN, Charset::Latin1, &mut values).map(|()| values.clone())
    };
    assert_eq!(decode(&mut Params::new(1)), Ok(vec![Value::Null]));
    let mut long = Params::new(1);
    long.add_long_data(0, b"na\xefve", 99, 1 << 20);
    assert_eq!(decode(&mut long), Ok(vec![Value::Text("naïve".to_owned())]));
}

#[test]
fn types_that_parameters_cannot_have_are_refused() {
    for kind in [13, 14, 16, 17, 99, 247, 248] {
        let body = [0, 1, kind, 0, 1, b'a'];
        let error = decode(&mut Params::new(1), &body).unwrap_err();
        assert_eq!(error.server_error().code, 1210, "{kind}");
    }
}

#[test]
fn numbers_are_finite() {
    for bits in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let body = [&b"\0\x01\x05\0"[..], &bits.to_le_bytes()].concat();
        assert_eq!(decode(&mut Params::new(1), &body), Ok(vec![Value::Double(0.0)]));
    }
}

#[test]
fn long_data_takes_the_place_of_a_value() {
    let mut params = Params::new(2);
    params.add_long_data(0, b"ab", 1 << 20, 1 << 20);
    params.add_long_data(0, b"cd", 1 << 20, 1 << 20);
    let body = b"\0\x01\xfc\0\x01\0\x09";
    let expected = vec![Value::Bytes(b"abcd".to_vec()), Value::Int(9)];
    assert_eq!(decode(&mut params, body), Ok(expected));
    // It is used once.
    assert!(decode(&mut params, body).is_err());
}

#[test]
fn long_data_for_no_parameter_fails_executions_until_a_reset() {
    let mut params = Params::new(1);
    params.add_long_data(5, b"ab", 1 << 20, 1 << 20);
    let body = b"\0\x01\x01\0\x09";
    for _ in 0..2 {
        assert_eq!(decode(&mut params, body).unwrap_err().server_error().code, 1210);
    }
    params.reset();
    assert_eq!(decode(&mut params, body), Ok(vec![Value::Int(9)]));
}

#[test]
fn long_data_beyond_its_limit_fails_executions() {
    let mut params = Params::new(1);
    for _ in 0..3 {
        params.add_long_data(0, b"four", 10, 1 << 20);
    }
    let error = decode(&mut params, b"\0\x01\xfc\0").unwrap_err();
    assert_eq!(error.server_error().code, 1105);
}

#[test]
fn long_data_has_a_limit_for_all_parameters_together() {
    let mut params = Params::new(3);
    let room = 10;
    params.add_long_data(0, b"four", 8, room);
    params.add_long_data(1, b"four", 8, room - params.long_data());
    assert_eq!(params.long_data(), 8);
    params.add_long_data(2, b"four", 8, room - params.long_data());
    assert_eq!(params.long_data(), 8, "what does not fit is not kept");
    let error = decode(&mut params, b"\0\x01\xfc\0\xfc\0\xfc\0").unwrap_err();
    assert_eq!(error.server_error().code, 1105);
}

#[test]
fn decimals_are_clamped_to_what_there_is() {
    let decimal = |digits: &str| {
        let mut body = b"\0\x01\xf6\0".to_vec();
        put_lenenc_bytes(&mut body, digits.as_bytes());
        decode(&mut Params::new(1), &body).map(|mut values| values.remove(0))
    };
    let nines = "9".repeat(65);
    for (sent, taken) in [
        ("9".repeat(90), nines.clone()),
        (format!("-{}.5", "1".repeat(66)), format!("-{nines}")),
        (format!("{}.5", "1".repeat(64)), format!("{}.5", "1".repeat(64))),
        ("1.5e3 ".to_owned(), "1500".to_owned()),
        (format!("0.{}", "1".repeat(90)), format!("0.{}", "1".repeat(30))),
    ] {
        assert_eq!(decimal(&sent), Ok(Value::Decimal(taken.parse().unwrap())), "{sent}");
    }
    for sent in ["", "abc", "1x", "1e400x"] {
        assert_eq!(decimal(sent).unwrap_err().server_error().code, 1210, "{sent}");
    }
}

#[test]
fn query_attributes_follow_the_parameters() {
    let caps = PLAIN.with(Capabilities::QUERY_ATTRIBUTES);
    let body = b"\x02\0\x01\x01\0\0\xfd\0\x05trace\x09\x02ab";
    let mut values = Vec::new();
    Params::new(1).decode(body, PARAMETER_COUNT_AVAILABLE, caps, UTF8, &mut values).unwrap();
    assert_eq!(values, [Value::Int(9)]);
}

#[test]
fn impossible_times_are_refused() {
    for body in [
        &b"\0\x01\x0c\0\x04\xe8\x07\x0d\x01"[..],
        b"\0\x01\x0c\0\x05\xe8\x07\x0c\x01\0",
        b"\0\x01\x0b\0\x08\0\xff\xff\xff\xff\0\0\0",
    ] {
        assert!(decode(&mut Params::new(1), body).is_err());
    }
}

#[test]
fn any_bytes_give_a_result() {
    let mut random = Random::new(3);
    let mut good = Vec::new();
    encode_execute(&mut good, &samples(), PLAIN);
    let caps = PLAIN.with(Capabilities::QUERY_ATTRIBUTES);
    for round in 0..50_000 {
        let body = if round % 2 == 0 { random.bytes(80) } else { random.damage(&good) };
        let mut params = Params::new(random.below(13));
        let mut values = Vec::new();
        let flags = random.next() as u8;
        let _ = params.decode(&body, flags, caps, UTF8, &mut values);
        let _ = params.decode(&body, 0, PLAIN, UTF8, &mut values);
        let _ = decode_query_attributes(&mut Reader::new(&body));
    }
}
