//! Passwords at rest: the names of the authentication plugins and the forms in which an account
//! keeps its password.
//!
//! `mysql_native_password` stores SHA1(SHA1(password)) in hexadecimal, `caching_sha2_password` and
//! `sha256_password` a slow salted hash (SHA-256 crypt).

use sha1::{Digest, Sha1};
use sha2::Sha256;

/// Name of the SHA-1 plugin.
pub const NATIVE: &str = "mysql_native_password";
/// Name of the SHA-256 plugin, the default.
pub const CACHING_SHA2: &str = "caching_sha2_password";
/// Name of the older SHA-256 plugin, each of whose logins sends the password itself.
pub const SHA256: &str = "sha256_password";

/// The SHA-256 of some bytes in hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::with_capacity(64), |text, byte| format!("{text}{byte:02x}"))
}

/// SHA-1 of the parts, one after the other.
pub fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    let mut hash = Sha1::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

/// SHA-256 of the parts, one after the other.
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

/// Compares in a time that does not depend on where the difference is.
pub fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |acc, (a, b)| acc | (a ^ b)) == 0
}

/// What the native plugin stores: SHA1(SHA1(password)).
pub fn native_digest(password: &[u8]) -> [u8; 20] {
    sha1(&[&sha1(&[password])])
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

/// Bytes of the longest password of [`CACHING_SHA2`] and [`SHA256`].
pub const MAX_SHA2_PASSWORD: usize = 256;

const CRYPT_SALT: usize = 20;
const CRYPT_ROUNDS: usize = 5000;

/// The form in which mysql.user keeps a caching_sha2 password: `$A$005$`, 20 bytes of salt and 43
/// characters of SHA-256 crypt with 5,000 rounds. The salt's bytes are made printable.
pub fn sha2_stored(password: &[u8], random: &[u8; CRYPT_SALT]) -> Vec<u8> {
    let salt = printable(random);
    let mut stored = b"$A$005$".to_vec();
    stored.extend_from_slice(&salt);
    stored.extend_from_slice(&sha256_crypt(password, &salt, CRYPT_ROUNDS));
    stored
}

/// The form in which mysql.user keeps a sha256 password: `$5$`, 20 bytes of salt, `$` and 43
/// characters of SHA-256 crypt with 5,000 rounds.
pub fn sha256_stored(password: &[u8], random: &[u8; CRYPT_SALT]) -> Vec<u8> {
    let salt = printable(random);
    let hash = sha256_crypt(password, &salt, CRYPT_ROUNDS);
    [b"$5$", &salt[..], b"$", &hash].concat()
}

/// Checks a password against the form that [`sha256_stored`] writes.
pub fn sha256_check_stored(stored: &[u8], password: &[u8]) -> bool {
    let Some(rest) = stored.strip_prefix(b"$5$") else { return false };
    let Some((salt, rest)) = rest.split_at_checked(CRYPT_SALT) else { return false };
    let Some(hash) = rest.strip_prefix(b"$") else { return false };
    password.len() <= MAX_SHA2_PASSWORD
        && same_bytes(&sha256_crypt(password, salt, CRYPT_ROUNDS), hash)
}

fn printable(random: &[u8; CRYPT_SALT]) -> [u8; CRYPT_SALT] {
    random.map(|byte| match byte & 0x7f {
        0 | b'$' => b'a',
        printable => printable,
    })
}

/// Checks a password against the form that [`sha2_stored`] writes. One that is too long is wrong:
/// the hash takes time with the square of its length.
pub fn sha2_check_stored(stored: &[u8], password: &[u8]) -> bool {
    if password.len() > MAX_SHA2_PASSWORD {
        return false;
    }
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
    // The specification adds one of both for each bit of the length, the lowest bit first.
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

    // The rounds hash these two, which are as long as password and salt, instead of the originals.
    let mut dp = Sha256::new();
    (0..password.len()).for_each(|_| dp.update(password));
    let p = repeated(&dp.finalize().into(), password.len());
    let mut ds = Sha256::new();
    (0..16 + usize::from(a[0])).for_each(|_| ds.update(salt));
    let s = repeated(&ds.finalize().into(), salt.len());

    let mut c = a;
    // The order of the parts depends on the round, so that successive rounds differ.
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

#[cfg(test)]
mod tests;
