//! The connection phase's packets, byte for byte and there and back.

use super::*;
use crate::testing::Random;

fn greeting() -> Greeting {
    Greeting {
        version: "8.0.31-inia".to_owned(),
        connection_id: 7,
        nonce: *b"12345678abcdefghijkl",
        capabilities: Capabilities::SERVER,
        collation: 255,
        status: 2,
        plugin: "caching_sha2_password".to_owned(),
    }
}

#[test]
fn greeting_byte_for_byte() {
    let mut bytes = Vec::new();
    greeting().encode(&mut bytes);
    let caps = Capabilities::SERVER.0.to_le_bytes();
    let mut expected = b"\x0a8.0.31-inia\0\x07\0\0\x0012345678\0".to_vec();
    expected.extend_from_slice(&caps[..2]);
    expected.extend_from_slice(&[255, 2, 0]);
    expected.extend_from_slice(&caps[2..]);
    expected.push(21);
    expected.extend_from_slice(&[0; 10]);
    expected.extend_from_slice(b"abcdefghijkl\0caching_sha2_password\0");
    assert_eq!(bytes, expected);
    assert_eq!(Greeting::decode(&bytes), Ok(greeting()));
}

fn login() -> Login {
    Login {
        capabilities: Capabilities::CLIENT.with(Capabilities::CONNECT_WITH_DB),
        max_packet: 1 << 24,
        collation: 45,
        user: "root".to_owned(),
        auth: vec![9; 32],
        database: Some("test".to_owned()),
        plugin: Some("caching_sha2_password".to_owned()),
        attributes: vec![("_os".to_owned(), "Linux".to_owned())],
        zstd_level: 0,
    }
}

fn decode(bytes: &[u8]) -> Result<FirstPacket, WireError> {
    FirstPacket::decode(bytes, Capabilities::SERVER)
}

#[test]
fn login_there_and_back() {
    let mut bytes = Vec::new();
    login().encode(&mut bytes);
    assert_eq!(decode(&bytes), Ok(FirstPacket::Login(Box::new(login()))));
}

#[test]
fn login_without_plugins_or_attributes() {
    let mut plain = login();
    plain.capabilities = Capabilities::PROTOCOL_41.with(Capabilities::SECURE_CONNECTION);
    (plain.database, plain.plugin, plain.attributes) = (None, None, Vec::new());
    plain.auth = vec![1; 20];
    let mut bytes = Vec::new();
    plain.encode(&mut bytes);
    assert_eq!(decode(&bytes), Ok(FirstPacket::Login(Box::new(plain))));
}

#[test]
fn a_client_that_stops_after_the_user_is_understood() {
    let mut bytes = Vec::new();
    let mut short = login();
    short.database = None;
    short.capabilities = short.capabilities.without(Capabilities::CONNECT_WITH_DB);
    short.encode(&mut bytes);
    let end = bytes.len() - (1 + 4 + 6) - 22;
    assert!(
        matches!(decode(&bytes[..end]), Ok(FirstPacket::Login(login)) if login.plugin.is_none())
    );
}

#[test]
fn old_clients_are_refused_by_an_error() {
    assert_eq!(decode(b"\x05\xa4\0\0\0root\0pw\0"), Err(WireError::BadHandshake));
}

#[test]
fn tls_is_asked_for_by_a_short_login() {
    let mut asking = login();
    asking.capabilities = asking.capabilities.with(Capabilities::SSL);
    let mut bytes = Vec::new();
    asking.encode_ssl_request(&mut bytes);
    assert_eq!(bytes.len(), 32);
    let offered = Capabilities::SERVER.with(Capabilities::SSL);
    assert_eq!(FirstPacket::decode(&bytes, offered), Ok(FirstPacket::SslRequest));
    assert_eq!(decode(&bytes), Err(WireError::BadHandshake));
}

#[test]
fn auth_switch_there_and_back() {
    let mut bytes = Vec::new();
    put_auth_switch(&mut bytes, "mysql_native_password", b"12345678abcdefghijkl");
    assert_eq!(bytes, b"\xfemysql_native_password\x0012345678abcdefghijkl\0");
    let (plugin, nonce) = decode_auth_switch(&bytes[1..]).unwrap();
    assert_eq!((plugin.as_str(), nonce.as_slice()), ("mysql_native_password", &bytes[23..43]));
}

#[test]
fn any_bytes_give_a_result() {
    let mut random = Random::new(1);
    let mut good = Vec::new();
    login().encode(&mut good);
    let mut hello = Vec::new();
    greeting().encode(&mut hello);
    for _ in 0..20_000 {
        let noise = random.bytes(120);
        for bytes in [noise, random.damage(&good), random.damage(&hello)] {
            let _ = decode(&bytes);
            let _ = Greeting::decode(&bytes);
            let _ = decode_auth_switch(&bytes);
        }
    }
}
