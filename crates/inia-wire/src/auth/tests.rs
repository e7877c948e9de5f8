//! Scrambles against known answers, and each proof against its check.

use super::*;

const NONCE_BYTES: [u8; NONCE] = *b"abcdefghijklmnopqrst";

#[test]
fn native_stored_form_is_mysql_s() {
    // SELECT of mysql.user for IDENTIFIED WITH mysql_native_password BY 'password'.
    assert_eq!(native_stored(b"password"), b"*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19");
    assert_eq!(native_from_stored(&native_stored(b"password")), Some(native_digest(b"password")));
    assert_eq!(native_from_stored(b"*12"), None);
    assert_eq!(native_from_stored(b"*zz70C0C06DEE42FD1618BB99005ADCA2EC9D1E19"), None);
}

#[test]
fn native_reply_proves_the_password() {
    let reply = native_scramble(b"secret", &NONCE_BYTES);
    assert!(native_verify(&native_digest(b"secret"), &NONCE_BYTES, &reply));
    assert!(!native_verify(&native_digest(b"Secret"), &NONCE_BYTES, &reply));
    assert!(!native_verify(&native_digest(b"secret"), b"other nonce of 20 by", &reply));
    assert!(!native_verify(&native_digest(b"secret"), &NONCE_BYTES, b""));
    assert!(native_scramble(b"", &NONCE_BYTES).is_empty());
}

#[test]
fn sha2_reply_proves_the_password() {
    let reply = sha2_scramble(b"secret", &NONCE_BYTES);
    assert_eq!(reply.len(), 32);
    assert!(sha2_verify(&sha2_digest(b"secret"), &NONCE_BYTES, &reply));
    assert!(!sha2_verify(&sha2_digest(b"secre"), &NONCE_BYTES, &reply));
    assert!(!sha2_verify(&sha2_digest(b"secret"), &NONCE_BYTES, &reply[1..]));
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

#[test]
fn a_password_travels_under_the_public_key() {
    let pair = KeyPair::generate().unwrap();
    let sealed = encrypt_password(pair.public_pem(), b"secret", &NONCE_BYTES).unwrap();
    assert_eq!(pair.decrypt_password(&sealed, &NONCE_BYTES), Some(b"secret".to_vec()));
    assert_eq!(pair.decrypt_password(&sealed[1..], &NONCE_BYTES), None);
    assert!(encrypt_password("no key", b"secret", &NONCE_BYTES).is_err());
    let again = KeyPair::from_pem(&pair.to_pem().unwrap()).unwrap();
    assert_eq!(again.public_pem(), pair.public_pem());
}
