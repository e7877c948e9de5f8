//! TPC-C's random values: names from ten syllables, skewed numbers, strings of letters.

use crate::random::Rng;

/// The constants of the skewed numbers; any will do as long as all clients share them.
const C_LAST: i64 = 123;
const C_CUSTOMER: i64 = 511;
const C_ITEM: i64 = 4_095;

const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// The last name of a number of three digits.
pub(super) fn last_name(number: u64) -> String {
    [number / 100 % 10, number / 10 % 10, number % 10].map(|i| SYLLABLES[i as usize]).concat()
}

/// NURand(a, low, high): numbers with some bits set are likelier.
pub(super) fn skewed(rng: &mut Rng, a: i64, c: i64, low: i64, high: i64) -> i64 {
    ((rng.between(0, a) | rng.between(low, high)) + c) % (high - low + 1) + low
}

/// A customer's number.
pub(super) fn customer(rng: &mut Rng, customers: u64) -> i64 {
    skewed(rng, 1_023, C_CUSTOMER, 1, customers as i64)
}

/// An item's number.
pub(super) fn item(rng: &mut Rng, items: u64) -> i64 {
    skewed(rng, 8_191, C_ITEM, 1, items as i64)
}

/// A last name that some customer of the district has.
pub(super) fn known_last_name(rng: &mut Rng, customers: u64) -> String {
    last_name(skewed(rng, 255, C_LAST, 0, customers.min(1_000) as i64 - 1) as u64)
}

/// Letters, as many as a number from the range says.
pub(super) fn letters(rng: &mut Rng, low: i64, high: i64) -> String {
    let mut out = String::new();
    let count = rng.between(low, high) as usize;
    rng.letters(count, &mut out);
    out
}

/// The template with its `#` made digits and its `@` letters.
pub(super) fn filled(rng: &mut Rng, template: &str) -> String {
    let mut out = String::with_capacity(template.len());
    rng.fill(template, &mut out);
    out
}

/// Text in which every tenth has the word ORIGINAL.
pub(super) fn data(rng: &mut Rng) -> String {
    let mut text = letters(rng, 26, 50);
    if rng.chance(0.1) {
        let at = rng.below(text.len() as u64 - 7) as usize;
        text.replace_range(at..at + 8, "ORIGINAL");
    }
    text
}
