//! Key caches by their names: `SET GLOBAL hot.key_buffer_size = 4194304` makes one. Inia keeps what
//! they are to be and caches all trees in its buffer pool.

use super::find;
use parking_lot::RwLock;
use std::collections::HashMap;

/// The variables that each key cache has.
const VARIABLES: [&str; 4] = [
    "key_buffer_size",
    "key_cache_age_threshold",
    "key_cache_block_size",
    "key_cache_division_limit",
];

/// The values of one cache, in the order of [`VARIABLES`].
type Cache = [u64; VARIABLES.len()];

/// The key caches that have a name; the default one is in variables without a component.
#[derive(Default)]
pub struct KeyCaches(RwLock<HashMap<String, Cache>>);

/// The cache and the variable that `cache.variable` names; `None` for other names.
pub(super) fn split(name: &str) -> Option<(&str, &'static str)> {
    let (cache, variable) = name.rsplit_once('.')?;
    let at = VARIABLES.iter().position(|known| known.eq_ignore_ascii_case(variable))?;
    Some((cache, VARIABLES[at]))
}

fn position(variable: &str) -> usize {
    VARIABLES.iter().position(|known| *known == variable).unwrap_or(0)
}

impl KeyCaches {
    /// A variable of a cache; 0 where there is no such cache.
    pub(super) fn read(&self, cache: &str, variable: &str) -> u64 {
        self.0.read().get(cache).map_or(0, |values| values[position(variable)])
    }

    /// Whether the cache was made.
    pub fn contains(&self, cache: &str) -> bool {
        self.0.read().contains_key(cache)
    }

    /// Gives a variable of a cache a value, and makes the cache where it is not there.
    pub fn set(&self, cache: &str, variable: &str, value: u64) {
        let of_default = |name: &str| find(name).ok().and_then(|def| def.default.parse().ok());
        let fresh = || {
            let mut fresh = VARIABLES.map(|name| of_default(name).unwrap_or(0));
            fresh[0] = 0;
            fresh
        };
        let mut caches = self.0.write();
        caches.entry(cache.to_owned()).or_insert_with(fresh)[position(variable)] = value;
    }
}

#[cfg(test)]
mod tests;
