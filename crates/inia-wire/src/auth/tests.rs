//! Scrambles against known answers, and each proof against its check.

use super::*;

const NONCE_BYTES: [u8; NONCE] = *b"abcdefghijklmnopqrst";

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
fn a_password_travels_under_the_public_key() {
    let pair = KeyPair::generate().unwrap();
    let sealed = encrypt_password(pair.public_pem(), b"secret", &NONCE_BYTES).unwrap();
    assert_eq!(pair.decrypt_password(&sealed, &NONCE_BYTES), Some(b"secret".to_vec()));
    assert_eq!(pair.decrypt_password(&sealed[1..], &NONCE_BYTES), None);
    assert!(encrypt_password("no key", b"secret", &NONCE_BYTES).is_err());
    let again = KeyPair::from_pem(&pair.to_pem().unwrap()).unwrap();
    assert_eq!(again.public_pem(), pair.public_pem());
}
