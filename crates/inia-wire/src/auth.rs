//! Passwords on the wire: the two authentication plugins' scrambles and stored forms.
//!
//! `mysql_native_password` stores SHA1(SHA1(password)); the client proves that it knows
//! SHA1(password). `caching_sha2_password` stores a slow salted hash (SHA-256 crypt) and the server
//! keeps SHA256(SHA256(password)) in memory after the first full login, against which a fast login
//! is checked. The first login sends the password itself, over TLS or under the server's RSA key.

use crate::error::WireError;
use rsa::pkcs8::{
    DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, LineEnding,
};
use rsa::{Oaep, RsaPrivateKey, RsaPublicKey};
use sha1::{Digest, Sha1};
use sha2::Sha256;

/// Length of the handshake's nonce.
pub const NONCE: usize = 20;
/// Name of the SHA-1 plugin.
pub const NATIVE: &str = "mysql_native_password";
/// Name of the SHA-256 plugin, the default.
pub const CACHING_SHA2: &str = "caching_sha2_password";

/// First byte of an AuthMoreData: the fast login was accepted.
pub const FAST_AUTH_OK: u8 = 3;
/// First byte of an AuthMoreData: send the password itself.
pub const FULL_AUTH: u8 = 4;
/// What a client sends to ask for the public key.
pub const REQUEST_PUBLIC_KEY: u8 = 2;

fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    let mut hash = Sha1::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

fn xor<const N: usize>(mut a: [u8; N], b: &[u8; N]) -> [u8; N] {
    a.iter_mut().zip(b).for_each(|(a, b)| *a ^= b);
    a
}

/// Compares in a time that does not depend on where the difference is.
pub fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |acc, (a, b)| acc | (a ^ b)) == 0
}

/// What the native plugin stores: SHA1(SHA1(password)).
pub fn native_digest(password: &[u8]) -> [u8; 20] {
    sha1(&[&sha1(&[password])])
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

/// The form in which mysql.user keeps a native digest: `*` and 40 hexadecimal digits.
pub fn native_stored(password: &[u8]) -> Vec<u8> {
    let mut text = vec![b'*'];
    for byte in native_digest(password) {
        text.push(b"0123456789ABCDEF"[usize::from(byte >> 4)]);
        text.push(b"0123456789ABCDEF"[usize::from(byte & 15)]);
    }
    text
}

/// Reads the form that [`native_stored`] writes.
pub fn native_from_stored(stored: &[u8]) -> Option<[u8; 20]> {
    let hex = stored.strip_prefix(b"*")?;
    if hex.len() != 40 {
        return None;
    }
    let mut digest = [0; 20];
    for (byte, pair) in digest.iter_mut().zip(hex.chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = (high << 4 | low) as u8;
    }
    Some(digest)
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

const CRYPT_SALT: usize = 20;
const CRYPT_ROUNDS: usize = 5000;

/// The form in which mysql.user keeps a caching_sha2 password: `$A$005$`, 20 bytes of salt and 43
/// characters of SHA-256 crypt with 5,000 rounds. The salt's bytes are made printable.
pub fn sha2_stored(password: &[u8], random: &[u8; CRYPT_SALT]) -> Vec<u8> {
    let salt = random.map(|byte| match byte & 0x7f {
        0 | b'$' => b'a',
        printable => printable,
    });
    let mut stored = b"$A$005$".to_vec();
    stored.extend_from_slice(&salt);
    stored.extend_from_slice(&sha256_crypt(password, &salt, CRYPT_ROUNDS));
    stored
}

/// Checks a password against the form that [`sha2_stored`] writes.
pub fn sha2_check_stored(stored: &[u8], password: &[u8]) -> bool {
    let Some(rest) = stored.strip_prefix(b"$A$") else { return false };
    let Some((rounds, rest)) = rest.split_at_checked(4) else { return false };
    let Some((salt, hash)) = rest.split_at_checked(CRYPT_SALT) else { return false };
    let Ok(thousands) = std::str::from_utf8(&rounds[..3]).unwrap_or_default().parse::<usize>()
    else {
        return false;
    };
    rounds[3] == b'$' && same_bytes(&sha256_crypt(password, salt, thousands * 1000), hash)
}

/// SHA-256 crypt as Ulrich Drepper specified it: 43 characters.
fn sha256_crypt(password: &[u8], salt: &[u8], rounds: usize) -> Vec<u8> {
    let b = sha256(&[password, salt, password]);
    let mut a = Sha256::new();
    a.update(password);
    a.update(salt);
    a.update(repeated(&b, password.len()));
    let mut bits = password.len();
    while bits > 0 {
        if bits & 1 == 1 {
            a.update(b)
        } else {
            a.update(password)
        }
        bits >>= 1;
    }
    let a: [u8; 32] = a.finalize().into();

    let mut dp = Sha256::new();
    (0..password.len()).for_each(|_| dp.update(password));
    let p = repeated(&dp.finalize().into(), password.len());
    let mut ds = Sha256::new();
    (0..16 + usize::from(a[0])).for_each(|_| ds.update(salt));
    let s = repeated(&ds.finalize().into(), salt.len());

    let mut c = a;
    for round in 0..rounds {
        let odd = round % 2 == 1;
        let mut hash = Sha256::new();
        hash.update(if odd { p.as_slice() } else { c.as_slice() });
        if round % 3 != 0 {
            hash.update(&s);
        }
        if round % 7 != 0 {
            hash.update(&p);
        }
        hash.update(if odd { c.as_slice() } else { p.as_slice() });
        c = hash.finalize().into();
    }
    crypt_base64(&c)
}

fn repeated(digest: &[u8; 32], len: usize) -> Vec<u8> {
    digest.iter().copied().cycle().take(len).collect()
}

fn crypt_base64(digest: &[u8; 32]) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut out = Vec::with_capacity(43);
    let mut group = |bytes: u32, chars: usize| {
        for i in 0..chars {
            out.push(ALPHABET[(bytes >> (6 * i) & 63) as usize]);
        }
    };
    let byte = |i: usize| u32::from(digest[i]);
    // The order of the specification: (0,10,20) (21,1,11) (12,22,2) (3,13,23) …
    for i in 0..10 {
        let triple = [i, i + 10, i + 20];
        let first = (3 - i % 3) % 3;
        let [x, y, z] = [0, 1, 2].map(|k| triple[(first + k) % 3]);
        group(byte(x) << 16 | byte(y) << 8 | byte(z), 4);
    }
    group(byte(31) << 8 | byte(30), 3);
    out
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
