//! Keys made of other keys: HKDF (RFC 5869) and PBKDF2 (RFC 8018), both with HMAC-SHA-512.

use crate::eval::{Args, Stop};
use inia_base::error::{ErrorCode, SqlError};
use sha2::{Digest, Sha512};

/// Bytes of a SHA-512.
const HASH: usize = 64;
/// Bytes that SHA-512 takes at once.
const BLOCK: usize = 128;

/// The first of the arguments that say how the key is made.
const METHOD: usize = 3;

/// How many iterations are allowed, and how many there are where none are said.
const ITERATIONS: std::ops::RangeInclusive<i64> = 1000..=65535;

/// The key of `size` bytes that the arguments behind the initialization vector make of `key`,
/// `None` where there are none.
pub(super) fn derived(
    a: &mut Args<'_, '_>,
    key: &[u8],
    size: usize,
) -> Result<Option<Vec<u8>>, Stop> {
    if a.len() <= METHOD {
        return Ok(None);
    }
    const LONGEST: usize = 256;
    const LONGEST_NUMBER: usize = 6;
    let method = option(a, METHOD, LONGEST)?;
    let is_pbkdf2 = match &method[..] {
        b"hkdf" => false,
        b"pbkdf2_hmac" => true,
        _ => return Err(SqlError::new(ErrorCode::AesInvalidKdfName, &[]).into()),
    };
    let salt = option(a, METHOD + 1, LONGEST)?;
    if !is_pbkdf2 {
        let info = option(a, METHOD + 2, LONGEST)?;
        return Ok(Some(hkdf(key, &salt, &info, size)));
    }
    let mut iterations = *ITERATIONS.start();
    if a.len() > METHOD + 2 {
        let text = option(a, METHOD + 2, LONGEST_NUMBER)?;
        let text = String::from_utf8_lossy(&text);
        let text = text.trim_start();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        iterations = text[..digits].parse().unwrap_or(0);
    }
    if !ITERATIONS.contains(&iterations) {
        return Err(SqlError::new(ErrorCode::AesInvalidKdfIterations, &[]).into());
    }
    Ok(Some(pbkdf2(key, &salt, iterations, size)))
}

/// A string of less than `limit` bytes, empty where it is not given.
fn option(a: &mut Args<'_, '_>, at: usize, limit: usize) -> Result<Vec<u8>, Stop> {
    if at >= a.len() {
        return Ok(Vec::new());
    }
    let wrong = || SqlError::new(ErrorCode::AesInvalidKdfOptionSize, &[&limit]);
    match a.bytes(at) {
        Ok(bytes) if bytes.len() < limit => Ok(bytes.into_owned()),
        Ok(_) | Err(Stop::Null) => Err(wrong().into()),
        Err(error) => Err(error),
    }
}

/// HMAC with one key.
struct Hmac {
    inner: Sha512,
    outer: Sha512,
}

impl Hmac {
    fn new(key: &[u8]) -> Hmac {
        let mut block = [0; BLOCK];
        if key.len() > BLOCK {
            block[..HASH].copy_from_slice(&Sha512::digest(key));
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let start = |pad: u8| Sha512::new().chain_update(block.map(|byte| byte ^ pad));
        Hmac { inner: start(0x36), outer: start(0x5c) }
    }

    fn of(&self, parts: &[&[u8]]) -> [u8; HASH] {
        let mut inner = self.inner.clone();
        parts.iter().for_each(|part| inner.update(part));
        self.outer.clone().chain_update(inner.finalize()).finalize().into()
    }
}

fn hkdf(key: &[u8], salt: &[u8], info: &[u8], size: usize) -> Vec<u8> {
    let hmac = Hmac::new(&Hmac::new(salt).of(&[key]));
    let mut out = hmac.of(&[info, &[1]]).to_vec();
    out.truncate(size);
    out
}

fn pbkdf2(key: &[u8], salt: &[u8], iterations: i64, size: usize) -> Vec<u8> {
    let hmac = Hmac::new(key);
    let mut last = hmac.of(&[salt, &1u32.to_be_bytes()]);
    let mut out = last;
    for _ in 1..iterations {
        last = hmac.of(&[&last]);
        out.iter_mut().zip(last).for_each(|(out, last)| *out ^= last);
    }
    out[..size].to_vec()
}
