//! Every character set and collation against sums that `scripts/collation-tables` recorded from
//! MySQL 8.0.31.
//!
//! A sum is that of the CRC-32 of `key:HEX`, where the key is the code point, or is made of the
//! code points of a text of two or three. A character set's line has the sums of the bytes of its
//! characters, of their upper and of their lower case in UTF-8; a collation's those of the weights
//! of some characters, of all, of texts of two and of texts of three.

use super::super::{Charset, Collation};
use std::fmt::Write;

const DIGESTS: &str = include_str!("../digests.txt");

/// The characters that texts of two and three are made of.
fn sample() -> Vec<char> {
    let ranges: [std::ops::RangeInclusive<u32>; 3] = [0x41..=0x5A, 0x61..=0x7A, 0x300..=0x30C];
    let others = [
        0x20, 0x17D, 0x17E, 0xDF, 0xE4, 0x438, 0x30AB, 0x3042, 0x30FC, 0x30FD, 0x309D, 0x3099,
        0xFF76, 0x4E2D, 0xE40, 0xE01, 0xE48,
    ];
    let all = ranges.into_iter().flatten().chain(others);
    all.filter_map(char::from_u32).collect()
}

const CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 == 1 { rest >> 1 ^ 0xEDB8_8320 } else { rest >> 1 };
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
};

fn crc32(text: &str) -> u32 {
    !text.bytes().fold(!0, |rest, byte| CRC[(rest as u8 ^ byte) as usize] ^ rest >> 8)
}

/// Adds up what many texts give.
#[derive(Default)]
struct Sum {
    total: u64,
    text: String,
}

impl Sum {
    fn add(&mut self, key: u64, bytes: &[u8]) {
        self.text.clear();
        write!(self.text, "{key}:").unwrap();
        for byte in bytes {
            write!(self.text, "{byte:02X}").unwrap();
        }
        self.total += u64::from(crc32(&self.text));
    }
}

fn chars_of(charset: Charset) -> impl Iterator<Item = char> {
    (0..=0x10_FFFF).filter_map(char::from_u32).filter(move |&char| charset.has(char))
}

fn weights(collation: Collation, texts: impl Iterator<Item = (u64, String)>) -> u64 {
    let mut sum = Sum::default();
    let mut weights = Vec::new();
    for (key, text) in texts {
        weights.clear();
        collation.weight_string(text.as_bytes(), &mut weights);
        sum.add(key, &weights);
    }
    sum.total
}

fn some(char: &char) -> bool {
    let code = u32::from(*char);
    code < 0x600 || code.is_multiple_of(97)
}

fn one(char: char) -> (u64, String) {
    (u32::from(char).into(), char.to_string())
}

/// Marks that prolong or repeat kana. In `ja_0900` MySQL takes the last character of a text that
/// begins with one for the character before it, at all levels but the first.
const MARKS: [char; 3] = ['ー', 'ヽ', 'ゝ'];

/// Texts of two characters or three, that do not begin with one of [`MARKS`].
fn texts(charset: Charset, length: u32) -> impl Iterator<Item = (u64, String)> {
    let sample: Vec<char> = sample().into_iter().filter(|&char| charset.has(char)).collect();
    let all = (0..sample.len().pow(length)).map(move |number| {
        let place = |power: u32| sample[number / sample.len().pow(power) % sample.len()];
        let text: String = (0..length).rev().map(place).collect();
        (text.chars().fold(0, |key, char| key * 1000 + u64::from(u32::from(char))), text)
    });
    all.filter(|(_, text)| !text.starts_with(MARKS))
}

/// The lines of the file: names, and their sums.
fn lines() -> impl Iterator<Item = (&'static str, Vec<u64>)> {
    DIGESTS.lines().map(|line| {
        let mut cells = line.split('\t');
        let name = cells.next().unwrap();
        (name, cells.map(|cell| cell.parse().unwrap()).collect())
    })
}

fn check_collations(sums: impl Fn(Collation) -> [(usize, u64); 2]) {
    let mut wrong = Vec::new();
    for (name, expected) in lines() {
        if expected.len() != 4 {
            continue;
        }
        let collation = Collation::from_name(name).unwrap();
        for (place, sum) in sums(collation) {
            if sum != expected[place] {
                wrong.push(format!("{name} {place}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} sums differ: {wrong:?}", wrong.len());
}

#[test]
fn some_characters_and_pairs_weigh_what_mysql_says() {
    check_collations(|collation| {
        let charset = collation.charset();
        let some = chars_of(charset).filter(some).map(one);
        [(0, weights(collation, some)), (2, weights(collation, texts(charset, 2)))]
    });
}

#[test]
#[ignore = "takes minutes; run it with --release when tables change"]
fn all_characters_and_texts_of_three_weigh_what_mysql_says() {
    check_collations(|collation| {
        let charset = collation.charset();
        let all = chars_of(charset).map(one);
        [(1, weights(collation, all)), (3, weights(collation, texts(charset, 3)))]
    });
}

#[test]
fn character_sets_have_mysqls_bytes_and_cases() {
    let mut wrong = Vec::new();
    for (name, expected) in lines() {
        if expected.len() != 3 {
            continue;
        }
        let charset = Charset::from_name(name).unwrap();
        let collation = charset.default_collation();
        let mut sums: [Sum; 3] = Default::default();
        for char in chars_of(charset) {
            let text = char.to_string();
            let cases = [collation.upper(&text), collation.lower(&text)];
            let cases = cases.map(|form| form.trim_end_matches(' ').to_string());
            let [upper, lower] = cases;
            let key = u32::from(char).into();
            match (charset, char) {
                // MySQL converts the backslash to the code of two bytes that sjis has of it, too.
                (Charset::Sjis, '\\') => sums[0].add(key, b"\x81\x5F"),
                _ => sums[0].add(key, &charset.encode(&text)),
            }
            sums[1].add(key, upper.as_bytes());
            sums[2].add(key, lower.as_bytes());
        }
        let sums = sums.map(|sum| sum.total);
        if sums[..] != expected {
            wrong.push((name, sums));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
