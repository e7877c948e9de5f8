//! AES_ENCRYPT and AES_DECRYPT.
//!
//! `block_encryption_mode` names the key's length and how blocks follow each other, as
//! `aes-128-ecb`. A key of another length is folded: its bytes are XORed round and round onto
//! zeros, if it is not made anew by a method that the arguments name. ECB and CBC fill the last
//! block up (PKCS#7), the others need no whole blocks.

mod keys;

use super::{Function, v};
use crate::context::VarScope;
use crate::convert;
use crate::eval::{Args, FnResult, Stop};
use crate::ty::ExprType;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;

pub(super) const TABLE: &[Function] = &[
    v(
        "aes_encrypt",
        2,
        6,
        |args, _| {
            let bytes = widest(&args[0].ty);
            Ok(ExprType::binary((bytes / BLOCK as u64 + 1) * BLOCK as u64, true))
        },
        |a| coded(a, true),
    ),
    v(
        "aes_decrypt",
        2,
        6,
        |args, _| Ok(ExprType::binary(args[0].ty.length.into(), true)),
        |a| coded(a, false),
    ),
];

const BLOCK: usize = 16;

type Block = [u8; BLOCK];

/// The most bytes of a string of this type.
fn widest(ty: &ExprType) -> u64 {
    u64::from(ty.length) * if ty.is_text() { 4 } else { 1 }
}

fn coded(a: &mut Args<'_, '_>, encrypt: bool) -> FnResult {
    let (mode, ty) = a.ctx.host.sysvar(VarScope::Session, "block_encryption_mode")?;
    let mode = convert::to_text(&mode, &ty);
    let (bits, chaining) = parts(&mode);
    let data = a.bytes(0)?.into_owned();
    let key = a.bytes(1)?.into_owned();
    let start = start_of(a, chaining)?;
    let size = bits / 8;
    let key = match keys::derived(a, &key, size)? {
        Some(key) => key,
        None => {
            if key.len() > size {
                a.warn(ErrorCode::WarnAesKeySize, &[&size])?;
            }
            folded(&key, size)
        }
    };
    let cipher = Cipher::new(&key);
    let done = match (chaining, encrypt) {
        ("ecb" | "cbc", true) => {
            Some(cipher.encrypt_blocks(&data, (chaining == "cbc").then_some(start)))
        }
        ("ecb" | "cbc", false) => {
            cipher.decrypt_blocks(&data, (chaining == "cbc").then_some(start))
        }
        ("ofb", _) => Some(cipher.key_stream(&data, start)),
        ("cfb8", _) => Some(cipher.feedback_bytes(&data, start, encrypt)),
        ("cfb1", _) => Some(cipher.feedback_bits(&data, start, encrypt)),
        _ => Some(cipher.feedback_blocks(&data, start, encrypt)),
    };
    done.map(Value::Bytes).ok_or(Stop::Null)
}

/// Key bits and chaining of a mode, `aes-128-ecb`.
fn parts(mode: &str) -> (usize, &str) {
    let mut parts = mode.split('-').skip(1);
    let bits = parts.next().and_then(|bits| bits.parse().ok()).unwrap_or(128);
    (bits, parts.next().unwrap_or("ecb"))
}

/// The initialization vector; ECB has none.
fn start_of(a: &mut Args<'_, '_>, chaining: &str) -> Result<Block, Stop> {
    let name = a.call.name;
    if chaining == "ecb" {
        if a.len() == 3 {
            a.warn(ErrorCode::WarnOptionIgnored, &[&"IV"])?;
        }
        return Ok([0; BLOCK]);
    }
    if a.len() < 3 {
        return Err(SqlError::new(ErrorCode::WrongParamcountToNativeFct, &[&name]).into());
    }
    let start = match a.bytes(2) {
        Ok(bytes) => bytes.get(..BLOCK).and_then(|bytes| Block::try_from(bytes).ok()),
        Err(Stop::Null) => None,
        Err(error) => return Err(error),
    };
    let short = || SqlError::new(ErrorCode::AesInvalidIv, &[&name, &BLOCK]);
    start.ok_or_else(|| short().into())
}

fn folded(key: &[u8], size: usize) -> Vec<u8> {
    let mut folded = vec![0; size];
    for (at, byte) in key.iter().enumerate() {
        folded[at % size] ^= byte;
    }
    folded
}

fn xor(left: &mut Block, right: &[u8]) {
    left.iter_mut().zip(right).for_each(|(left, right)| *left ^= right);
}

/// The cipher of one key.
enum Cipher {
    Short(Aes128),
    Middle(Aes192),
    Long(Aes256),
}

impl Cipher {
    fn new(key: &[u8]) -> Cipher {
        match key.len() {
            16 => Cipher::Short(Aes128::new(GenericArray::from_slice(key))),
            24 => Cipher::Middle(Aes192::new(GenericArray::from_slice(key))),
            _ => Cipher::Long(Aes256::new(GenericArray::from_slice(key))),
        }
    }

    fn encrypt(&self, block: &mut Block) {
        let block = GenericArray::from_mut_slice(block);
        match self {
            Cipher::Short(cipher) => cipher.encrypt_block(block),
            Cipher::Middle(cipher) => cipher.encrypt_block(block),
            Cipher::Long(cipher) => cipher.encrypt_block(block),
        }
    }

    fn decrypt(&self, block: &mut Block) {
        let block = GenericArray::from_mut_slice(block);
        match self {
            Cipher::Short(cipher) => cipher.decrypt_block(block),
            Cipher::Middle(cipher) => cipher.decrypt_block(block),
            Cipher::Long(cipher) => cipher.decrypt_block(block),
        }
    }

    fn encrypt_blocks(&self, data: &[u8], mut chain: Option<Block>) -> Vec<u8> {
        let mut data = data.to_vec();
        let filler = BLOCK - data.len() % BLOCK;
        data.resize(data.len() + filler, filler as u8);
        let mut out = Vec::with_capacity(data.len());
        for chunk in data.chunks_exact(BLOCK) {
            let mut block = chain.unwrap_or_default();
            xor(&mut block, chunk);
            self.encrypt(&mut block);
            chain = chain.map(|_| block);
            out.extend_from_slice(&block);
        }
        out
    }

    /// `None` where that is no text that was encrypted with the key.
    fn decrypt_blocks(&self, data: &[u8], mut chain: Option<Block>) -> Option<Vec<u8>> {
        let (chunks, rest) = data.as_chunks::<BLOCK>();
        if !rest.is_empty() {
            return None;
        }
        let mut out = Vec::with_capacity(data.len());
        for chunk in chunks {
            let mut block = *chunk;
            self.decrypt(&mut block);
            xor(&mut block, &chain.unwrap_or_default());
            chain = chain.map(|_| *chunk);
            out.extend_from_slice(&block);
        }
        let filler = usize::from(*out.last()?);
        let length = out.len().checked_sub(filler).filter(|_| (1..=BLOCK).contains(&filler))?;
        let filled = out[length..].iter().all(|byte| usize::from(*byte) == filler);
        out.truncate(length);
        filled.then_some(out)
    }

    fn key_stream(&self, data: &[u8], mut register: Block) -> Vec<u8> {
        let mut out = Vec::with_capacity(data.len());
        for chunk in data.chunks(BLOCK) {
            self.encrypt(&mut register);
            out.extend(chunk.iter().zip(register).map(|(byte, key)| byte ^ key));
        }
        out
    }

    fn feedback_blocks(&self, data: &[u8], mut register: Block, encrypt: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(data.len());
        for chunk in data.chunks(BLOCK) {
            self.encrypt(&mut register);
            let at = out.len();
            out.extend(chunk.iter().zip(register).map(|(byte, key)| byte ^ key));
            let coded = if encrypt { &out[at..] } else { chunk };
            register[..coded.len()].copy_from_slice(coded);
        }
        out
    }

    fn feedback_bytes(&self, data: &[u8], mut register: Block, encrypt: bool) -> Vec<u8> {
        let code = |byte: &u8| {
            let mut key = register;
            self.encrypt(&mut key);
            let coded = byte ^ key[0];
            register.rotate_left(1);
            register[BLOCK - 1] = if encrypt { coded } else { *byte };
            coded
        };
        data.iter().map(code).collect()
    }

    fn feedback_bits(&self, data: &[u8], register: Block, encrypt: bool) -> Vec<u8> {
        let mut register = u128::from_be_bytes(register);
        let mut bit = |bit: u8| {
            let mut key = register.to_be_bytes();
            self.encrypt(&mut key);
            let coded = bit ^ key[0] >> 7;
            register = register << 1 | u128::from(if encrypt { coded } else { bit });
            coded
        };
        let byte = |byte: &u8| (0..8).rev().fold(0, |coded, at| coded << 1 | bit(byte >> at & 1));
        data.iter().map(byte).collect()
    }
}
