//! The RFC's own example, with the user's name left empty as PostgreSQL's clients do.

use super::{Scram, from_base64, md5_answer, stretch, to_base64};

#[test]
fn passwords_are_stretched_as_the_rfc_says() {
    // RFC 7677: password "pencil", its salt, 4096 rounds.
    let salt = from_base64("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
    let salted = stretch(b"pencil", &salt, 4096);
    assert_eq!(to_base64(&salted), "xKSVEDI6tPlSysH6mUQZOeeOp01r6B3fcJbodRPcYV0=");
}

#[test]
fn a_server_that_changes_the_nonce_is_refused() {
    let mut scram = Scram::new("pencil", "abc".to_owned());
    assert_eq!(scram.first(), "n,,n=,r=abc");
    assert!(scram.answer("r=xyz,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096").is_none());
    assert!(scram.answer("r=abcdef,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096").is_some());
    assert!(!scram.accepts("v=AAAA"));
}

#[test]
fn base64_and_md5() {
    for text in ["", "a", "ab", "abc", "abcd"] {
        assert_eq!(from_base64(&to_base64(text.as_bytes())).unwrap(), text.as_bytes());
    }
    assert_eq!(to_base64(b"ab"), "YWI=");
    assert_eq!(md5_answer("user", "password", &[1, 2, 3, 4]).len(), 35);
}
