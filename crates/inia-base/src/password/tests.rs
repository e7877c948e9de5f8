//! Stored forms against known answers.

use super::*;

#[test]
fn native_stored_form_is_mysql_s() {
    // SELECT of mysql.user for IDENTIFIED WITH mysql_native_password BY 'password'.
    assert_eq!(native_stored(b"password"), b"*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19");
    assert_eq!(native_from_stored(&native_stored(b"password")), Some(native_digest(b"password")));
    assert_eq!(native_from_stored(b"*12"), None);
    assert_eq!(native_from_stored(b"*zz70C0C06DEE42FD1618BB99005ADCA2EC9D1E19"), None);
}

#[test]
fn sha256_crypt_known_answers() {
    // From the specification's test vectors.
    assert_eq!(
        sha256_crypt(b"Hello world!", b"saltstring", 5000),
        b"5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"
    );
}

#[test]
fn sha2_stored_form_checks() {
    let stored = sha2_stored(b"secret", b"0123456789abcdef\0$\xff~");
    assert_eq!(stored.len(), 70);
    assert!(stored.starts_with(b"$A$005$0123456789abcdefaa\x7f~"));
    assert!(sha2_check_stored(&stored, b"secret"));
    assert!(!sha2_check_stored(&stored, b"secreT"));
    for cut in 0..stored.len() {
        assert!(!sha2_check_stored(&stored[..cut], b"secret"));
    }
}

/// A client may send as many bytes as it likes before it is logged in.
#[test]
fn a_password_beyond_the_longest_is_wrong_without_being_hashed() {
    let longest = vec![b'a'; MAX_SHA2_PASSWORD];
    let stored = sha2_stored(&longest, b"twenty bytes of salt");
    assert!(sha2_check_stored(&stored, &longest));
    let longer = vec![b'a'; MAX_SHA2_PASSWORD + 1];
    let stored = sha2_stored(&longer, b"twenty bytes of salt");
    assert!(!sha2_check_stored(&stored, &longer));
    assert!(!sha2_check_stored(&stored, &vec![b'a'; 16 << 20]));
}
