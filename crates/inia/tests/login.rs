//! Who gets in, how, and the errors of the others.

use crate::support::{TestServer, cell};
use inia_wire::auth::{CACHING_SHA2, NATIVE, SHA256};
use inia_wire::caps::Capabilities;
use inia_wire::client::{Client, LoginOptions};
use inia_wire::command::{ChangeUser, Command};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

fn options(user: &str, password: &str) -> LoginOptions {
    LoginOptions { user: user.to_owned(), password: password.to_owned(), ..LoginOptions::default() }
}

fn refusal(server: &TestServer, options: &LoginOptions) -> String {
    server.log_in(options).err().expect("the login is refused").to_string()
}

#[test]
fn root_needs_no_password_at_first() {
    let server = TestServer::start();
    let mut client = server.client();
    client.ping().unwrap();
    let id = client.greeting().connection_id;
    assert_eq!(cell(&client.rows("WHO").unwrap()), format!("root@localhost {id}"));
    assert!(client.greeting().version.starts_with("8.0.31-inia-"));
}

#[test]
fn every_plugin_logs_in_with_the_right_password_only() {
    let server = TestServer::start();
    let none = Some("dummy_fallback_auth".to_owned());
    server.log_in(&LoginOptions { plugin: none, ..options("root", "") }).unwrap().ping().unwrap();
    for user in ["native", "sha2", "sha256"] {
        for first in [NATIVE, CACHING_SHA2, SHA256] {
            let plugin = Some(first.to_owned());
            let right = LoginOptions { plugin: plugin.clone(), ..options(user, "secret") };
            // The second login of sha2 takes the fast way.
            for _ in 0..2 {
                server.log_in(&right).unwrap().ping().unwrap();
            }
            for wrong in ["Secret", ""] {
                let wrong_options = LoginOptions { plugin: plugin.clone(), ..options(user, wrong) };
                let using = if wrong.is_empty() { "NO" } else { "YES" };
                assert_eq!(
                    refusal(&server, &wrong_options),
                    format!(
                        "ERROR 1045 (28000): Access denied for user '{user}'@'localhost' \
                         (using password: {using})"
                    )
                );
            }
        }
    }
}

#[test]
fn unknown_accounts_are_refused_like_known_ones() {
    let server = TestServer::start();
    for password in ["guess", ""] {
        let unknown = refusal(&server, &options("nobody", password));
        let known = refusal(&server, &options("sha2", &format!("{password}x")[..password.len()]));
        assert_eq!(unknown, known.replace("sha2", "nobody"));
    }
}

#[test]
fn a_password_where_none_is_set_is_wrong() {
    let server = TestServer::start();
    assert!(refusal(&server, &options("root", "guess")).starts_with("ERROR 1045"));
}

#[test]
fn locked_and_expired_accounts_get_their_error_after_the_right_password() {
    let server = TestServer::start();
    assert!(refusal(&server, &options("locked", "secret")).starts_with("ERROR 3118"));
    assert!(refusal(&server, &options("expired", "secret")).starts_with("ERROR 1862"));
    assert!(refusal(&server, &options("locked", "wrong")).starts_with("ERROR 1045"));
}

#[test]
fn the_login_may_name_a_database() {
    let server = TestServer::start();
    let with =
        |name: &str| LoginOptions { database: Some(name.to_owned()), ..LoginOptions::default() };
    let mut client = server.log_in(&with("shop")).unwrap();
    assert!(cell(&client.rows("PROCESSES").unwrap()).contains("Some(\"shop\")"));
    let error = refusal(&server, &with("nosuch"));
    assert_eq!(error, "ERROR 1049 (42000): Unknown database 'nosuch'");
}

#[test]
fn clients_without_plugins_can_log_in_where_that_is_safe() {
    let server = TestServer::start();
    let capabilities = Capabilities::CLIENT
        .without(Capabilities::PLUGIN_AUTH)
        .without(Capabilities::PLUGIN_AUTH_LENENC);
    let old = |user: &str, password: &str| LoginOptions {
        capabilities,
        plugin: Some(NATIVE.to_owned()),
        ..options(user, password)
    };
    server.log_in(&old("root", "")).unwrap().ping().unwrap();
    server.log_in(&old("native", "secret")).unwrap().ping().unwrap();
    assert!(refusal(&server, &old("sha2", "secret")).starts_with("ERROR 1251"));
}

#[test]
fn change_user_logs_in_anew() {
    let server = TestServer::start();
    let mut client = server.client();
    client.prepare("DO 1").unwrap();
    let nonce = client.greeting().nonce;
    let change = |user: &str, password: &str| {
        Command::ChangeUser(Box::new(ChangeUser {
            user: user.to_owned(),
            auth: inia_wire::auth::native_scramble(password.as_bytes(), &nonce),
            database: Some("shop".to_owned()),
            collation: Some(45),
            plugin: Some(NATIVE.to_owned()),
            attributes: Vec::new(),
        }))
    };
    client.send_command(&change("native", "secret")).unwrap();
    client.read_ok().unwrap();
    assert!(cell(&client.rows("WHO").unwrap()).starts_with("native@localhost"));
    assert_eq!(client.execute(1, &[]).unwrap_err().code(), Some(1243));

    client.send_command(&change("native", "wrong")).unwrap();
    assert_eq!(client.read_ok().unwrap_err().code(), Some(1045));
    assert!(client.ping().is_err());
}

#[test]
fn tls_with_the_server_s_own_certificate() {
    let server = TestServer::start();
    for user in ["sha2", "sha256", "native"] {
        let (mut client, _) = server.log_in_tls(&options(user, "secret"));
        assert_eq!(cell(&client.rows("BIG 3000000").unwrap()).len(), 3_000_000);
        client.ping().unwrap();
    }
}

#[test]
fn the_unix_socket_takes_logins_and_goes_away_with_the_server() {
    let dir = crate::support::TempDir::new();
    let path = dir.path().join("sock");
    let server = TestServer::start_with(|config| config.socket = Some(path.clone()));
    let login = options("sha2", "secret");
    let stream = UnixStream::connect(&path).unwrap();
    Client::connect(stream, &login).unwrap().ping().unwrap();
    let stream = UnixStream::connect(&path).unwrap();
    Client::connect(stream, &options("native", "secret")).unwrap().ping().unwrap();
    drop(server);
    assert!(!path.exists());
}

/// Logs in as root by hand: the first bytes of the answer, after its header.
fn answer_to_login(server: &TestServer, collation: u8, auth: &[u8]) -> Vec<u8> {
    let mut stream = server.stream();
    read_packet(&mut stream);
    // Long password, protocol 4.1, secure connection, plugins.
    let mut login = 0x0008_8201_u32.to_le_bytes().to_vec();
    login.extend_from_slice(&(1_u32 << 24).to_le_bytes());
    login.push(collation);
    login.extend_from_slice(&[0; 23]);
    login.extend_from_slice(b"root\0");
    login.push(auth.len() as u8);
    login.extend_from_slice(auth);
    login.extend_from_slice(b"caching_sha2_password\0");
    stream.write_all(&[login.len() as u8, 0, 0, 1]).unwrap();
    stream.write_all(&login).unwrap();
    read_packet(&mut stream)
}

fn read_packet(stream: &mut impl Read) -> Vec<u8> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).unwrap();
    let mut payload = vec![0; usize::from(header[0]) | usize::from(header[1]) << 8];
    stream.read_exact(&mut payload).unwrap();
    payload
}

#[test]
fn a_zero_byte_stands_for_no_password() {
    let server = TestServer::start();
    // Connector/J sends it; other bytes are a password.
    for (auth, first) in [(&b""[..], 0), (b"\0", 0), (b"\x01", 0xff), (b"\0\0", 0xff)] {
        assert_eq!(answer_to_login(&server, 255, auth)[0], first, "{auth:?}");
    }
}

#[test]
fn a_client_must_speak_a_character_set_that_is_there() {
    let server = TestServer::start();
    // Ids that MySQL does not know either mean the server's own set.
    for known in [0, 8, 33, 45, 46, 63, 100, 255] {
        assert_eq!(answer_to_login(&server, known, b"")[0], 0, "{known}");
    }
    for (id, set) in [(35, "ucs2"), (54, "utf16"), (60, "utf32"), (90, "ucs2"), (101, "utf16")] {
        let answer = answer_to_login(&server, id, b"");
        let expected =
            format!("Variable 'character_set_client' can't be set to the value of '{set}'");
        assert!(answer.ends_with(expected.as_bytes()), "{id}");
        assert_eq!(answer[..3], [0xff, 0xcf, 4]);
    }
}
