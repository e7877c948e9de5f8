//! Passwords on the wire: the authentication plugins' scrambles and stored forms.
//!
//! `mysql_native_password` stores SHA1(SHA1(password)); the client proves that it knows
//! SHA1(password). `caching_sha2_password` stores a slow salted hash (SHA-256 crypt) and the server
//! keeps SHA256(SHA256(password)) in memory after the first full login, against which a fast login
//! is checked. The first login sends the password itself, over TLS or under the server's RSA key.
//! `sha256_password` has no fast login: each one sends the password in these ways.

use crate::error::WireError;
pub use inia_base::password::{
    CACHING_SHA2, NATIVE, SHA256, native_digest, native_from_stored, native_stored, same_bytes,
    sha2_check_stored, sha2_stored, sha256_check_stored,
};
use inia_base::password::{sha1, sha256};
use rsa::pkcs8::{
    DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, LineEnding,
};
use rsa::{Oaep, RsaPrivateKey, RsaPublicKey};
use sha1::Sha1;

/// Length of the handshake's nonce.
pub const NONCE: usize = 20;
/// First byte of an AuthMoreData: the fast login was accepted.
pub const FAST_AUTH_OK: u8 = 3;
/// First byte of an AuthMoreData: send the password itself.
pub const FULL_AUTH: u8 = 4;
/// What a client sends to ask for the public key.
pub const REQUEST_PUBLIC_KEY: u8 = 2;
/// What a client of [`SHA256`] sends to ask for the public key.
pub const SHA256_REQUEST_PUBLIC_KEY: u8 = 1;

fn xor<const N: usize>(mut a: [u8; N], b: &[u8; N]) -> [u8; N] {
    a.iter_mut().zip(b).for_each(|(a, b)| *a ^= b);
    a
}

/// The native plugin's reply to the nonce; empty for an empty password.
pub fn native_scramble(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let stage1 = sha1(&[password]);
    xor(stage1, &sha1(&[nonce, &sha1(&[&stage1])])).to_vec()
}

/// Checks a native reply against the stored digest.
pub fn native_verify(digest: &[u8; 20], nonce: &[u8], reply: &[u8]) -> bool {
    let Ok(reply) = <[u8; 20]>::try_from(reply) else { return false };
    let stage1 = xor(reply, &sha1(&[nonce, digest]));
    same_bytes(&sha1(&[&stage1]), digest)
}

/// What the server caches after a full login: SHA256(SHA256(password)).
pub fn sha2_digest(password: &[u8]) -> [u8; 32] {
    sha256(&[&sha256(&[password])])
}

/// The fast login's reply to the nonce; empty for an empty password.
pub fn sha2_scramble(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let stage1 = sha256(&[password]);
    xor(stage1, &sha256(&[&sha256(&[&stage1]), nonce])).to_vec()
}

/// Checks a fast login's reply against the cached digest.
pub fn sha2_verify(digest: &[u8; 32], nonce: &[u8], reply: &[u8]) -> bool {
    let Ok(reply) = <[u8; 32]>::try_from(reply) else { return false };
    let stage1 = xor(reply, &sha256(&[digest, nonce]));
    same_bytes(&sha256(&[&stage1]), digest)
}

/// The server's key pair for full logins without TLS.
pub struct KeyPair {
    private: RsaPrivateKey,
    public_pem: String,
}

impl KeyPair {
    /// Makes a new pair; takes from a tenth of a second to seconds.
    pub fn generate() -> Result<KeyPair, String> {
        let mut random = rsa::rand_core::OsRng;
        let private = RsaPrivateKey::new(&mut random, 2048).map_err(|e| e.to_string())?;
        KeyPair::from_private(private)
    }

    /// Reads a private key in PEM form.
    pub fn from_pem(pem: &str) -> Result<KeyPair, String> {
        KeyPair::from_private(RsaPrivateKey::from_pkcs8_pem(pem).map_err(|e| e.to_string())?)
    }

    fn from_private(private: RsaPrivateKey) -> Result<KeyPair, String> {
        let public_pem = private
            .to_public_key()
            .to_public_key_pem(LineEnding::LF)
            .map_err(|error| error.to_string())?;
        Ok(KeyPair { private, public_pem })
    }

    /// The private key in PEM form.
    pub fn to_pem(&self) -> Result<String, String> {
        let pem = self.private.to_pkcs8_pem(LineEnding::LF).map_err(|e| e.to_string())?;
        Ok(pem.to_string())
    }

    /// The public key in PEM form, as clients are sent it.
    pub fn public_pem(&self) -> &str {
        &self.public_pem
    }

    /// Opens what [`encrypt_password`] closed; the password without its final zero byte.
    pub fn decrypt_password(&self, sealed: &[u8], nonce: &[u8]) -> Option<Vec<u8>> {
        let mut random = rsa::rand_core::OsRng;
        let plain = self.private.decrypt_blinded(&mut random, Oaep::new::<Sha1>(), sealed).ok()?;
        let mut password = mask(&plain, nonce);
        (password.pop() == Some(0)).then_some(password)
    }
}

/// Closes a password for the server with the given public key.
pub fn encrypt_password(pem: &str, password: &[u8], nonce: &[u8]) -> Result<Vec<u8>, WireError> {
    let bad = |_| WireError::Malformed("the server's public key");
    let key = RsaPublicKey::from_public_key_pem(pem.trim()).map_err(|_| bad(()))?;
    let mut plain = password.to_vec();
    plain.push(0);
    let mut random = rsa::rand_core::OsRng;
    key.encrypt(&mut random, Oaep::new::<Sha1>(), &mask(&plain, nonce)).map_err(|_| bad(()))
}

fn mask(bytes: &[u8], nonce: &[u8]) -> Vec<u8> {
    if nonce.is_empty() {
        return bytes.to_vec();
    }
    bytes.iter().zip(nonce.iter().cycle()).map(|(a, b)| a ^ b).collect()
}

#[cfg(test)]
mod tests;
