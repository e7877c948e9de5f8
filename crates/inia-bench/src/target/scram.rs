//! PostgreSQL's passwords: SCRAM-SHA-256 (RFC 5802, 7677) and MD5, the client's side.
//!
//! ```text
//! client  n,,n=,r=NONCE
//! server  r=NONCE+MORE,s=SALT,i=4096
//! client  c=biws,r=NONCE+MORE,p=PROOF
//! server  v=SIGNATURE
//! ```

use md5::Md5;
use sha2::{Digest, Sha256};

const BLOCK: usize = 64;

fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut padded = [0u8; BLOCK];
    if key.len() > BLOCK {
        padded[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        padded[..key.len()].copy_from_slice(key);
    }
    let inner = Sha256::new().chain_update(padded.map(|b| b ^ 0x36)).chain_update(message);
    let outer = Sha256::new().chain_update(padded.map(|b| b ^ 0x5c));
    outer.chain_update(inner.finalize()).finalize().into()
}

/// PBKDF2 of one block.
fn stretch(password: &[u8], salt: &[u8], rounds: u32) -> [u8; 32] {
    let mut last = hmac(password, &[salt, &[0, 0, 0, 1]].concat());
    let mut sum = last;
    for _ in 1..rounds {
        last = hmac(password, &last);
        sum.iter_mut().zip(last).for_each(|(sum, byte)| *sum ^= byte);
    }
    sum
}

/// One login by SCRAM.
pub(super) struct Scram {
    password: String,
    nonce: String,
    /// What the server must sign with.
    signature: String,
}

impl Scram {
    /// A login with a fresh nonce of letters.
    pub(super) fn new(password: &str, nonce: String) -> Scram {
        Scram { password: password.to_owned(), nonce, signature: String::new() }
    }

    /// The client's first message.
    pub(super) fn first(&self) -> String {
        format!("n,,n=,r={}", self.nonce)
    }

    /// The answer to the server's first message.
    pub(super) fn answer(&mut self, server: &str) -> Option<String> {
        let field = |name: &str| server.split(',').find_map(|part| part.strip_prefix(name));
        let (nonce, salt) = (field("r=")?, from_base64(field("s=")?)?);
        let rounds: u32 = field("i=")?.parse().ok()?;
        if !nonce.starts_with(&self.nonce) || rounds == 0 || rounds > 10_000_000 {
            return None;
        }
        let salted = stretch(self.password.as_bytes(), &salt, rounds);
        let bare = format!("c=biws,r={nonce}");
        let signed = format!("n=,r={},{server},{bare}", self.nonce);
        let key = hmac(&salted, b"Client Key");
        let mut proof = hmac(&Sha256::digest(key), signed.as_bytes());
        proof.iter_mut().zip(key).for_each(|(proof, byte)| *proof ^= byte);
        let server_key = hmac(&salted, b"Server Key");
        self.signature = to_base64(&hmac(&server_key, signed.as_bytes()));
        Some(format!("{bare},p={}", to_base64(&proof)))
    }

    /// Whether the server knows the password too.
    pub(super) fn accepts(&self, server: &str) -> bool {
        server.strip_prefix("v=").is_some_and(|v| v == self.signature)
    }
}

/// The answer to a demand for MD5.
pub(super) fn md5_answer(user: &str, password: &str, salt: &[u8]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let inner = hex(&Md5::digest(format!("{password}{user}")));
    format!("md5{}", hex(&Md5::digest([inner.as_bytes(), salt].concat())))
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 with padding.
pub(super) fn to_base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let mut group = [0u8; 4];
        group[1..=chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes(group);
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i)) as usize & 63];
            out.push(if i <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for letter in text.trim_end_matches('=').bytes() {
        let value = LETTERS.iter().position(|&known| known == letter)? as u32;
        bits = bits << 6 | value;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests;
