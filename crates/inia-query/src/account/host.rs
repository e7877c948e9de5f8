//! Host patterns of accounts, and which of several matching accounts a client gets.
//!
//! MySQL sorts accounts from the most to the least specific host, then named users before the
//! anonymous one, and takes the first that matches both name and host.

use crate::catalog::AccountName;
use inia_base::collation::Collation;
use std::cmp::Ordering;
use std::net::Ipv4Addr;

/// Whether a client from `host` matches the pattern.
pub(crate) fn matches(pattern: &str, host: &str) -> bool {
    if pattern.is_empty() || pattern == "%" {
        return true;
    }
    if let Some((network, mask)) = network(pattern) {
        let address: Option<Ipv4Addr> = host.parse().ok();
        return address.is_some_and(|address| address.to_bits() & mask == network & mask);
    }
    like(pattern, host)
}

/// LIKE without case, for host patterns.
fn like(pattern: &str, text: &str) -> bool {
    Collation::SYSTEM.like(text.as_bytes(), pattern.as_bytes(), Some('\\'))
}

/// Whether a database matches a pattern, byte by byte: names of databases have case.
pub(crate) fn is_database(pattern: &str, name: &str) -> bool {
    Collation::BINARY.like(name.as_bytes(), pattern.as_bytes(), Some('\\'))
}

/// How specific a database pattern is, greater is more: what stands before the first wildcard.
pub(crate) fn database_specificity(pattern: &str) -> usize {
    const NO_WILDCARD: usize = 128;
    let mut escaped = false;
    for (at, byte) in pattern.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'%' | b'_' => return (at + 1).min(NO_WILDCARD - 1),
            _ => {}
        }
    }
    NO_WILDCARD
}

/// `network/mask`, the mask as address or as number of bits.
fn network(pattern: &str) -> Option<(u32, u32)> {
    let (network, mask) = pattern.split_once('/')?;
    let mask = match mask.parse::<u32>() {
        Ok(bits) if bits <= 32 => u32::MAX.checked_shl(32 - bits).unwrap_or(0),
        _ => mask.parse::<Ipv4Addr>().ok()?.to_bits(),
    };
    Some((network.parse::<Ipv4Addr>().ok()?.to_bits(), mask))
}

/// How specific a pattern is; greater is more specific. Networks by the length of their mask,
/// patterns by what stands before the first wildcard.
fn specificity(pattern: &str) -> (u8, usize) {
    if pattern.is_empty() {
        return (0, 0);
    }
    if let Some((_, mask)) = network(pattern) {
        return (2, mask.count_ones() as usize);
    }
    match pattern.find(['%', '_']) {
        None => (3, 0),
        Some(at) => (1, at),
    }
}

/// The order in which accounts are tried.
pub(crate) fn order(a: &AccountName, b: &AccountName) -> Ordering {
    specificity(&b.host)
        .cmp(&specificity(&a.host))
        .then_with(|| a.user.is_empty().cmp(&b.user.is_empty()))
        .then_with(|| a.cmp(b))
}
