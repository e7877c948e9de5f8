//! Requests, byte for byte and there and back.

use super::*;
use crate::testing::Random;
use inia_base::value::Value;

const PLAIN: Capabilities = Capabilities::CLIENT;

fn decode(bytes: &[u8]) -> Result<Command<'_>, WireError> {
    Command::decode(bytes, PLAIN)
}

#[test]
fn every_command_there_and_back() {
    let commands = [
        Command::Quit,
        Command::InitDb(b"test"),
        Command::Query { sql: b"SELECT 1", attributes: Vec::new() },
        Command::FieldList { table: b"t", pattern: b"%" },
        Command::Statistics,
        Command::ProcessInfo,
        Command::ProcessKill(77),
        Command::Debug,
        Command::Ping,
        Command::ChangeUser(Box::new(ChangeUser {
            user: "u".to_owned(),
            auth: vec![3; 20],
            database: Some("d".to_owned()),
            collation: Some(45),
            plugin: Some("mysql_native_password".to_owned()),
            attributes: Vec::new(),
        })),
        Command::ResetConnection,
        Command::SetOption(true),
        Command::SetOption(false),
        Command::Prepare(b"SELECT ?"),
        Command::Execute { id: 3, flags: 1, body: b"\0\x01\x08\0abcdefgh" },
        Command::SendLongData { id: 3, param: 2, data: b"long" },
        Command::CloseStatement(3),
        Command::ResetStatement(3),
        Command::Fetch { id: 3, rows: 100 },
    ];
    for command in commands {
        let mut bytes = Vec::new();
        command.encode(&mut bytes);
        assert_eq!(decode(&bytes).as_ref(), Ok(&command));
        assert_ne!(name_of(bytes[0]), "Error");
    }
}

#[test]
fn texts_lose_a_final_zero_byte() {
    let sql = Command::Query { sql: b"DO 1", attributes: Vec::new() };
    assert_eq!(decode(b"\x03DO 1\0"), Ok(sql));
}

#[test]
fn query_attributes_come_before_the_text() {
    let caps = PLAIN.with(Capabilities::QUERY_ATTRIBUTES);
    let none = Command::Query { sql: b"DO 1", attributes: Vec::new() };
    assert_eq!(Command::decode(b"\x03\0\x01DO 1", caps), Ok(none));

    let bytes = b"\x03\x02\x01\x02\x01\xfd\0\x05trace\x08\0\x01n\x02abDO 1";
    let attributes = vec![
        Attribute { name: "trace".to_owned(), value: Value::Text("ab".to_owned()) },
        Attribute { name: "n".to_owned(), value: Value::Null },
    ];
    assert_eq!(Command::decode(bytes, caps), Ok(Command::Query { sql: b"DO 1", attributes }));
}

#[test]
fn unknown_and_short_commands_have_mysql_s_errors() {
    assert_eq!(decode(b"\x55"), Err(WireError::UnknownCommand));
    assert_eq!(decode(b"\x1b\x09\0"), Err(WireError::UnknownCommand));
    assert_eq!(decode(b""), Err(WireError::UnknownCommand));
    for short in [&b"\x17\x01\0\0\0"[..], b"\x0c\x01", b"\x1c\x01\0\0\0\x01"] {
        let error = decode(short).unwrap_err();
        assert_eq!(error.server_error().code, 1835, "{short:?}");
    }
}

#[test]
fn any_bytes_give_a_result() {
    let mut random = Random::new(2);
    let caps = PLAIN.with(Capabilities::QUERY_ATTRIBUTES);
    for _ in 0..50_000 {
        let mut bytes = random.bytes(60);
        if let Some(first) = bytes.first_mut() {
            *first = random.below(33) as u8;
        }
        let _ = Command::decode(&bytes, PLAIN);
        let _ = Command::decode(&bytes, caps);
    }
}
