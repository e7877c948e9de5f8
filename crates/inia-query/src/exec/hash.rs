//! Hashing of keys for tables that live as long as a statement.
//!
//! Much faster for short keys than the standard hasher. The seed is random for each process, so
//! that no client can choose keys that collide.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

/// An odd number with its bits well spread.
pub(super) const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| RandomState::new().hash_one(MULTIPLIER))
}

#[inline]
fn mix(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word) * u128::from(MULTIPLIER ^ word.rotate_left(32));
    (product as u64) ^ ((product >> 64) as u64) ^ state.rotate_left(23)
}

/// The hash of a key of some words.
#[inline]
pub(super) fn word_hash(words: impl Iterator<Item = i64>) -> u64 {
    mix(words.fold(seed(), |state, word| mix(state, word as u64)), MULTIPLIER)
}

/// Makes hashers of [`KeyHasher`].
#[derive(Clone, Copy)]
pub struct KeyHash {
    seed: u64,
}

impl Default for KeyHash {
    fn default() -> KeyHash {
        KeyHash { seed: seed() }
    }
}

impl KeyHash {
    /// A key's hash.
    #[inline]
    pub(crate) fn of(self, key: &[u8]) -> u64 {
        let mut hasher = KeyHasher(self.seed);
        hasher.write(key);
        hasher.finish()
    }
}

impl BuildHasher for KeyHash {
    type Hasher = KeyHasher;

    #[inline]
    fn build_hasher(&self) -> KeyHasher {
        KeyHasher(self.seed)
    }
}

/// Hashes one key.
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut state = mix(self.0, bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            state = mix(state, u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.0 = mix(state, u64::from_le_bytes(last));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0, word);
    }

    #[inline]
    fn write_usize(&mut self, length: usize) {
        self.0 = mix(self.0, length as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        mix(self.0, MULTIPLIER)
    }
}
