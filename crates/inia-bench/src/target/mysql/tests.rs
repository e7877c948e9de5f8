//! What is sent with a prepared statement: no byte more than the usual client libraries send.

use super::{Param, encode};

fn body(params: &[Param<'_>], known: &mut Vec<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&mut out, params, known);
    out
}

#[test]
fn types_are_sent_once() {
    let mut known = Vec::new();
    let first = body(&[7.into()], &mut known);
    assert_eq!(first, [0, 1, 8, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(body(&[9.into()], &mut known), [0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn a_type_that_changes_is_sent_again_but_null_is_not_a_change() {
    let mut known = Vec::new();
    body(&[7.into(), "a".into()], &mut known);
    assert_eq!(body(&[Param::Null, "b".into()], &mut known), [1, 0, 1, b'b']);
    assert_eq!(body(&["c".into(), "d".into()], &mut known)[..2], [0, 1]);
    assert_eq!(body(&["e".into(), "f".into()], &mut known)[..2], [0, 0]);
}

#[test]
fn without_parameters_there_is_no_body() {
    assert!(body(&[], &mut Vec::new()).is_empty());
}

/// A program that listens and says nothing, as a server of another protocol does.
#[test]
fn a_server_that_says_nothing_is_given_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = silent.local_addr().expect("it is bound").port();
    let Ok(crate::target::url::Url::MySql(place)) =
        crate::target::url::Url::parse(&format!("mysql://root@127.0.0.1:{port}/"))
    else {
        panic!("not a place");
    };
    let target = super::MySqlTarget::new("it".to_owned(), place);
    let refused = target.client(None, std::time::Duration::from_millis(200)).err();
    assert_eq!(
        refused.map(|failure| failure.message).as_deref(),
        Some("it: cannot connect: no answer in 0.2 s: is it a server of MySQL's protocol?")
    );
}
