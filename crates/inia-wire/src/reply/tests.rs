//! OK, EOF and ERR packets.

use super::*;
use crate::testing::Random;

const OLD: Capabilities = Capabilities::PROTOCOL_41;
const TRACKING: Capabilities = Capabilities::PROTOCOL_41.with(Capabilities::SESSION_TRACK);

fn ok(completion: &Completion, caps: Capabilities) -> Vec<u8> {
    let mut out = Vec::new();
    put_ok(&mut out, OK, completion, false, caps);
    out
}

#[test]
fn ok_byte_for_byte() {
    let completion = Completion {
        affected_rows: 300,
        last_insert_id: 5,
        warnings: 1,
        status: status::AUTOCOMMIT,
        ..Completion::default()
    };
    assert_eq!(ok(&completion, TRACKING), b"\0\xfc\x2c\x01\x05\x02\0\x01\0");
    let with_info = Completion { info: "Records: 3".to_owned(), ..completion };
    assert_eq!(ok(&with_info, OLD), b"\0\xfc\x2c\x01\x05\x02\0\x01\0\x0aRecords: 3");
    assert_eq!(decode_ok(&ok(&with_info, OLD), OLD), Ok(with_info));
}

#[test]
fn session_changes_go_only_to_clients_that_track_them() {
    let completion = Completion {
        status: status::AUTOCOMMIT,
        changes: vec![
            SessionChange::Schema("test".to_owned()),
            SessionChange::Variable { name: "autocommit".to_owned(), value: "OFF".to_owned() },
            SessionChange::State,
            SessionChange::TransactionState("T_______".to_owned()),
        ],
        ..Completion::default()
    };
    assert_eq!(ok(&completion, OLD), b"\0\0\0\x02\0\0\0");
    let bytes = ok(&completion, TRACKING);
    assert!(
        bytes.starts_with(b"\0\0\0\x02\x40\0\0\0\x27\x01\x05\x04test\0\x0f\x0aautocommit\x03OFF")
    );
    assert_eq!(decode_ok(&bytes, TRACKING).unwrap().changes, completion.changes);
}

#[test]
fn eof_announces_more_results() {
    let mut out = Vec::new();
    let completion = Completion { warnings: 2, status: 3, ..Completion::default() };
    put_eof(&mut out, &completion, true);
    assert_eq!(out, b"\xfe\x02\0\x0b\0");
    assert_eq!(decode_eof(&out).unwrap().status, 3 | status::MORE_RESULTS_EXISTS);
}

#[test]
fn errors_byte_for_byte_and_cut_at_512_bytes() {
    let mut out = Vec::new();
    put_err(&mut out, &ServerError::new(1046, "3D000", "No database selected"), OLD);
    assert_eq!(out, b"\xff\x16\x04#3D000No database selected");
    assert_eq!(decode_err(&out).unwrap().code, 1046);
    out.clear();
    put_err(&mut out, &ServerError::new(1064, "42000", "é".repeat(400)), OLD);
    assert_eq!(decode_err(&out).unwrap().message, "é".repeat(255));
}

#[test]
fn any_bytes_give_a_result() {
    let mut random = Random::new(5);
    for _ in 0..20_000 {
        let bytes = random.bytes(60);
        let _ = decode_ok(&bytes, TRACKING);
        let _ = decode_eof(&bytes);
        let _ = decode_err(&bytes);
    }
}
